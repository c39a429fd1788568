/*
 * Files of AMD's profiler: the thread trace's code.json ("ui_output_.../code.json") and stats_*.csv, with cycles and
 * stalls of each instruction, and the kernel trace's *_kernel_trace.csv, with times of each dispatch.
 */
#ifndef WPSIM_ROCPROF_H
#define WPSIM_ROCPROF_H

#include <stdbool.h>

#include "diag.h"
#include "util.h"

#define TRACE_MAX_ROWS 2000000u

struct trace_insn { /* summed over all hits */
	const char *text;  /* as disassembled; kernels' headings ("; name") are left out */
	uint64_t vaddr;
	double hits, latency_clk, stall_clk, idle_clk;
	struct loc loc;
};

struct trace_dispatch {
	const char *kernel; /* as written: perhaps demangled, with parameters */
	double ns;
	uint64_t grid[3], workgroup[3]; /* threads */
	struct loc loc;
};

enum trace_kind { TRACE_INSTRUCTIONS, TRACE_DISPATCHES };

struct trace {
	enum trace_kind kind;
	struct arena *arena;
	struct src *src;
	struct trace_insn *insn;
	size_t ninsns;
	struct trace_dispatch *dispatch;
	size_t ndispatches;
};

/* Takes s over. 0, or -1 after findings (E_SAMPLES, located). *out is to be freed in both cases. */
int trace_parse(struct trace *out, struct src *s, struct diag *d);
void trace_free(struct trace *t);

struct cmd_options;
/* wpsim compare --trace: a listing line by line, or a schedule's time. */
int rocprof_compare(const struct cmd_options *o);

#endif
