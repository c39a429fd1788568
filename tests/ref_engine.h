/*
 * A second implementation of docs/model.md, clock by clock and without any cleverness: the witness
 * that sim/engine.c is compared with.
 */
#ifndef WPSIM_REF_ENGINE_H
#define WPSIM_REF_ENGINE_H

#include "engine.h"

struct ref_issue {
	uint64_t clk;
	uint64_t start; /* matrix unit, LDS port, address stage or copy engine; clk for others */
	uint32_t wave, insn;
};

struct ref_result {
	struct ref_issue *issues; /* by clk, then in the order in which the waves were looked at */
	size_t n, cap;
	uint64_t total_clk;
	uint64_t wave_end[PROG_MAX_WAVES]; /* UINT64_MAX: never ended */
	bool deadlock;
};

/* Run p to its end, or until nothing was issued for idle_clk (0: 2^21) clocks: deadlock. */
void ref_run(const struct program *p, const struct engine_config *cfg, uint64_t idle_clk,
	     struct ref_result *out);
void ref_result_free(struct ref_result *r);

#endif
