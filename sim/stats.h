/* What the engine counts. All times in clk; every sum is exact. */
#ifndef WPSIM_STATS_H
#define WPSIM_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

enum stall {
#define STALL(tail, name, text) ST_##tail,
#include "stall.def"
#undef STALL
	ST_COUNT
};
const char *stall_name(enum stall s);
const char *stall_text(enum stall s);

/* Per stage and group, summed over the group's waves of one SIMD column in the steady window. */
struct stage_stats {
	uint64_t clk[ST_COUNT];  /* wave clk by reason; sums to the waves' time in the stage */
	uint64_t insns;
	uint64_t issue_clk;      /* clk of ST_ISSUE */
	uint64_t matrix_clk;     /* matrix unit time of the stage's ops */
	uint64_t lds_clk;        /* port time of its LDS ops */
	uint64_t lds_conflict_clk; /* array time beyond conflict-free */
	uint64_t vmem_clk;       /* address-stage time of its memory ops */
	uint64_t late_clk;       /* clk other waves waited at a barrier for a wave in this stage */
};

/* One segment of a wave's time line; kept for the last whole steady window. */
struct segment {
	uint64_t begin, end;
	uint16_t stage;
	uint8_t what; /* enum stall */
	uint8_t wave;
};

struct stats {
	/* whole workgroup batch on one CU */
	uint64_t total_clk;              /* start of the first wave to the end of the last */
	uint64_t prologue_clk, loop_clk, epilogue_clk; /* of the slowest wave by loop edges; sum = total_clk */
	uint64_t wave_clk[PROG_MAX_WAVES][ST_COUNT]; /* whole life; sum = lifetime, asserted */
	uint64_t wave_start[PROG_MAX_WAVES], wave_end[PROG_MAX_WAVES];
	uint64_t insns;                  /* issued, all waves, fast-forwarded ones included */
	uint64_t insns_stepped;          /* issued by the engine itself */
	/* steady window: whole periods of the K loop of group 0 */
	bool steady;                     /* a repeating state was found */
	uint64_t window_clk;             /* length of the window */
	uint64_t window_trips;           /* loop trips in it */
	uint64_t window_steps;           /* K-steps in it (trips * unroll) */
	double clk_per_step;             /* window_clk / window_steps */
	uint64_t simd_matrix_clk[8];     /* matrix unit busy in the window */
	uint64_t simd_lost[8][ST_COUNT]; /* matrix unit idle, by root reason; busy + sum(lost) = window_clk */
	struct stage_stats *stages;      /* [nstages * groups]: index stage * groups + group */
	size_t nstages;
	unsigned groups;
	uint64_t estimate_clk;           /* window wave clk whose length rests on an estimate, of all wave clk */
	uint64_t wave_window_clk;        /* all wave clk of the window (waves * window_clk) */
	struct segment *segments;        /* of waves on SIMD 0 in the last window; NULL unless asked for */
	size_t nsegments;
	struct { uint64_t begin, end; uint8_t wave; uint16_t stage; } *busy; /* matrix unit of SIMD 0 in that window */
	size_t nbusy;
	uint64_t window_begin;
};

void stats_free(struct stats *s);

#endif
