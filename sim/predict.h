/* One prediction: program, engine and whole-kernel arithmetic together. */
#ifndef WPSIM_PREDICT_H
#define WPSIM_PREDICT_H

#include "program.h"
#include "stats.h"

struct prediction {
	const struct program *program;
	double clock_mhz;
	const char *clock_source;  /* "nominal 2400 MHz [WP4, documented]" */
	enum quality clock_quality;
	struct stats stats;
	unsigned resident;         /* workgroups per CU at once */
	const char *resident_limit;/* "lds", "vgpr", "waves", "workgroups" */
	uint64_t rounds;
	uint64_t kernel_clk;       /* launch + rounds * batch, or the bandwidth bound when that is larger */
	uint64_t launch_clk;
	double bandwidth_clk;      /* whole launch at full HBM bandwidth */
	bool memory_bound;
	double ideal_clk_per_step, matrix_efficiency; /* efficiency of the steady loop, 0..1 */
	double loop_efficiency;    /* of the whole loop, first trips included */
	double bytes_per_clk;      /* share of a CU */
	double time_us, tflops;
};

/* 0, or -1 after a finding; *out then holds nothing. clock: NULL = the program's own or the target's default; a clock row's name, or a number in MHz. */
int predict(const struct program *p, const char *clock, bool keep_segments, struct prediction *out, struct diag *d);
void prediction_free(struct prediction *pr);

#endif
