/* Private to the engine: what a head instruction waits for, in line for the loop. */
#ifndef WPSIM_ENGINE_HEAD_H
#define WPSIM_ENGINE_HEAD_H

#include "engine_internal.h"

/* C spans of a matrix op: from the end of the op that wrote just these registers on, or as others. */
static inline uint64_t chain_ready(const struct engine *e, const struct wave *w, const struct op *op)
{
	const struct range *r = &e->ranges[op->ranges + op->nneed];
	uint64_t t = 0;

	for (const struct range *end = r + op->nc; r < end; r++) {
		bool chained = true;

		for (unsigned a = r->first; a < r->end; a++)
			chained &= w->writer[a] == r->key;
		if (chained)
			t = max_u64(t, w->chain[r->first]);
		for (unsigned a = r->first; a < r->end && !chained; a++)
			t = max_u64(t, w->ready[a]);
	}
	return t;
}

static inline uint64_t operands_ready(const struct engine *e, const struct wave *w, const struct op *op)
{
	uint64_t t = 0;

	if (op->natoms <= OP_ATOMS) {
		for (unsigned i = 0; i < op->natoms; i++)
			t = max_u64(t, w->ready[op->atom[i]]);
	} else {
		const struct range *r = &e->ranges[op->ranges];

		for (const struct range *end = r + op->nneed; r < end; r++)
			for (unsigned a = r->first; a < r->end; a++)
				t = max_u64(t, w->ready[a]);
	}
	if (op->c_single)
		return max_u64(t, w->writer[op->c_atom] == op->c_key ? w->chain[op->c_atom]
								     : w->ready[op->c_atom]);
	return op->nc ? max_u64(t, chain_ready(e, w, op)) : t;
}

/* Compute w->dep for the head: all that depends on the wave alone. */
static inline void wave_eval(struct engine *e, struct wave *w)
{
	const struct op *op = w->op;
	uint64_t t;

	w->dep = w->free;
	if (w->free == NEVER)
		return;
	t = e->line_present[op->line];
	if (t > w->dep) {
		w->dep = t;
		w->dep_why = ST_FETCH;
	}
	if (e->hold_unit && w->unit_free[op->unit] > w->dep) {
		w->dep = w->unit_free[op->unit];
		w->dep_why = ST_HELD;
	}
	if (w->rep == 0) {
		t = operands_ready(e, w, op);
		if (t > w->dep) {
			w->dep = t;
			w->dep_why = ST_OPERAND;
		}
	}
	if (op->special)
		eval_counters(e, w, op);
}

/* First visit at or after floor at which the head could issue as things are: they only get later. */
static inline uint64_t wave_candidate(const struct engine *e, const struct simd *s,
				      const struct wave *w, uint64_t floor)
{
	const struct op *op = w->op;
	uint64_t t = max_u64(max_u64(w->dep, floor), s->at[op->unit]), u;

	if (t == NEVER)
		return NEVER; /* whoever learns the clk comes back: the counter, the barrier, the LDS queue */
	t = visit_round(e, s, t);
	if (s->block_end > t && (op->unit == UN_VALU || op->unit == UN_PACKED))
		for (u = reads_pass(s, t, op->busy); u != t; u = reads_pass(s, t, op->busy))
			t = visit_round(e, s, u);
	return t;
}

static inline void simd_choose(struct engine *e, unsigned s, uint64_t floor)
{
	struct simd *x = &e->simds[s];
	uint64_t best = NEVER;

	for (unsigned i = 0; i < x->n; i++) {
		const struct wave *w = x->order[i];

		if (w->dep < best)
			best = min_u64(best, wave_candidate(e, x, w, floor));
	}
	e->next[s] = best;
}

/* The SIMD with the smallest next visit, the first of equal ones. */
static inline unsigned earliest_simd(const struct engine *e)
{
	unsigned s = 0;

	if (e->nsimds == 4) { /* by pairs: no loop for what most machines have */
		unsigned a = e->next[1] < e->next[0], b = 2 + (e->next[3] < e->next[2]);

		return e->next[b] < e->next[a] ? b : a;
	}
	for (unsigned k = 1; k < e->nsimds; k++)
		if (e->next[k] < e->next[s])
			s = k;
	return s;
}

/*
 * Remember and count [begin, end) of w in its stage's accumulators; returns end, or begin when there is
 * nothing in between.
 */
static inline uint64_t stall_add(struct wave *w, uint64_t begin, uint64_t end, uint32_t acc,
				 uint8_t why)
{
	struct idle *s;
	uint64_t clk;

	if (end <= begin)
		return begin;
	clk = end - begin;
	w->acc[acc + why] += clk;
	s = &w->stall[w->nstall++ & (STALL_RING - 1)];
	s->end = end;
	s->clk = clk < UINT32_MAX ? (uint32_t)clk : UINT32_MAX;
	s->why = why;
	s->who = w->blame;
	return end;
}

#endif
