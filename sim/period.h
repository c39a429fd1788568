/*
 * Repeating states of the engine: the steady window, and exact fast-forward over whole periods.
 * docs/engine.md says what a state is and why skipping changes no result.
 */
#ifndef WPSIM_PERIOD_H
#define WPSIM_PERIOD_H

#include "engine_internal.h"

struct period *period_new(struct engine *e, bool skip);
void period_free(struct period *p); /* NULL is allowed */

/* A wave took a loop's branch in the visit at t that has just ended (engine.edge, edge_wave). 0, or -1
 * after a finding. No whole period is skipped that would pass over limit: see period_limit. */
int period_edge(struct period *p, uint64_t t);
/* From now on skip only what ends before clk; 0: nothing at all. */
void period_limit(struct period *p, uint64_t clk);

/* The steady window after a run, or what stands for it: copies of the accumulators at its ends. */
struct window {
	uint64_t begin, end;
	uint64_t trips;
	const uint64_t *first, *last;
	bool steady;
};
void period_window(const struct period *p, struct window *w);

#endif
