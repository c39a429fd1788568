/*
 * The timing engine: one compute unit executing the workgroups resident on it, event by event. The
 * exact rules are docs/model.md; tests/ref_engine.c implements them a second time, clock by clock.
 */
#ifndef WPSIM_ENGINE_H
#define WPSIM_ENGINE_H

#include <stdio.h>

#include "diag.h"
#include "program.h"
#include "stats.h"

struct engine_event { /* one issued instruction, for traces and comparison */
	uint64_t clk;      /* issue */
	uint64_t start;    /* matrix unit or LDS port or memory path takes it; = clk for others */
	uint64_t stall;    /* clk since the wave could have issued after its previous instruction */
	uint32_t insn;     /* index into program.insns */
	uint8_t wave, reason; /* dominant stall */
};

struct engine_config {
	double clock_mhz;       /* turns the model's ns into clk; > 0 */
	unsigned resident;      /* workgroups on the CU at once, at least 1; waves * resident <= PROG_MAX_WAVES */
	bool no_fast_forward;
	bool keep_segments;     /* fill stats.segments and stats.busy */
	bool strict;            /* stop at a violated software spacing row (E_SPACING) */
	double bytes_per_clk;   /* what L2, MALL and HBM give this CU; 0: no limit beyond the CU's own path */
	uint64_t max_clk;       /* give up beyond; 0: 2^62 */
	void (*event)(void *ctx, const struct engine_event *e); /* every issue; switches fast-forward off */
	void *ctx;
};

/* Run p to its end. 0, or -1 after a finding (E_DEADLOCK naming each wave, where it waits and for whom;
 * E_SPACING; E_LIMIT). On -1 *out is still to be freed. */
int engine_run(const struct program *p, const struct engine_config *cfg, struct stats *out, struct diag *d);

#endif
