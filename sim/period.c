#include "period.h"

#include "engine_head.h"

#include <stdlib.h>
#include <string.h>

/*
 * One walk over the state serves three ends: keeping it, comparing it with a kept one, and moving it
 * in time. Three kinds of values are met:
 *   walk_int    a number that must be equal;
 *   walk_clk    a clock that later accounting may look back at: equally far from now, or untouched
 *               since the kept state and already over then;
 *   walk_limit  a clock that only matters while it is ahead of now.
 */
#define FOREIGN_EDGES 256u /* edges of other waves before one of them is taken up */

enum walk_mode { WALK_KEEP, WALK_COMPARE, WALK_SHIFT };

struct walk {
	enum walk_mode mode;
	uint64_t *buf;
	size_t n, cap;
	uint64_t now, then; /* then: clk of the kept state */
	uint64_t shift;
	bool differs;
	bool stalls; /* remembered stalls are state too */
};

struct kept { /* a state to compare with */
	uint64_t *buf;
	size_t n, cap;
	uint64_t clk;
	uint64_t *rem, *exits; /* [wave * nloops + loop] */
	uint64_t (*waited)[NAMED_COUNT], (*phases)[NAMED_COUNT]; /* by wave, by workgroup */
	uint64_t *acc;         /* raw */
	uint64_t *edge_acc;    /* as of clk */
	uint64_t edges, keep_at;
	uint64_t mark; /* main loop branches seen before */
	bool valid;
};

struct period {
	struct engine *e;
	bool skip;
	uint64_t limit;
	struct kept main, other; /* edges of the main wave's main loop; of other loops */
	unsigned other_wave, foreign; /* whose loop the other edges are; edges of others since its last */
	bool found;
	struct window win;
	uint64_t *first_acc, *last_acc; /* first and last main edge; ends of the window once found */
	uint64_t first_clk, last_clk, first_mark, last_mark;
	uint64_t taken, since_main; /* main edges; main edges of other waves since the last one */
	bool have_first, have_last;
};

static void walk_push(struct walk *k, uint64_t v)
{
	k->buf = xgrow(k->buf, k->n, &k->cap, sizeof(*k->buf));
	k->buf[k->n++] = v;
}

/* Next kept value; past the end the states differ. */
static uint64_t walk_next(struct walk *k)
{
	if (k->n >= k->cap) {
		k->differs = true;
		return 0;
	}
	return k->buf[k->n++];
}

static inline void walk_int(struct walk *k, uint64_t v)
{
	if (k->mode == WALK_KEEP)
		walk_push(k, v);
	else if (walk_next(k) != v && k->mode == WALK_COMPARE)
		k->differs = true;
}

static inline void walk_any_clk(struct walk *k, uint64_t *x, bool may_pass)
{
	uint64_t v = *x, v0;
	bool moved;

	if (k->mode == WALK_KEEP) {
		walk_push(k, v);
		return;
	}
	v0 = walk_next(k);
	moved = v != NEVER && v0 != NEVER && v - k->now == v0 - k->then;
	if (k->mode == WALK_SHIFT) {
		if (moved || (v > k->now && v != NEVER))
			*x += k->shift;
	} else if (!moved && v != v0) {
		k->differs |= !(may_pass && v <= k->now && v0 <= k->then);
	} else if (!moved) { /* the same clock: it must be over, or never to come */
		k->differs |= v != NEVER && v > k->then;
	}
}

static inline void walk_clk(struct walk *k, uint64_t *x)
{
	walk_any_clk(k, x, false);
}

static inline void walk_limit(struct walk *k, uint64_t *x)
{
	walk_any_clk(k, x, true);
}

/* Is a wave of this SIMD (or pair, or any, by mask) ready but kept back by a unit of this kind? Then
 * accounting will look at clocks of the unit that are already over. */
static bool unit_awaited(const struct engine *e, uint32_t simds, unsigned first, unsigned last,
			 uint64_t now)
{
	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];

		if (!w->ended && (simds >> w->simd & 1) && w->dep <= now && w->op->unit >= first &&
		    w->op->unit <= last)
			return true;
	}
	return false;
}

static void walk_ring(struct walk *k, uint64_t *ring, uint32_t n, uint32_t mask, uint32_t entries,
		      bool exact)
{
	walk_int(k, exact);
	for (uint32_t i = n - entries; i != n && !k->differs; i++)
		walk_any_clk(k, &ring[i & mask], !exact);
}

static void walk_counter(struct walk *k, struct ctr *c)
{
	uint32_t first = c->n - (c->mask + 1);

	if (!c->in_order) {
		for (uint32_t i = 0; i <= c->mask; i++)
			walk_limit(k, &c->val[i]);
		return;
	}
	while (first != c->n && (int32_t)(c->nres - first) > 0 && c->val[first & c->mask] <= k->now)
		first++;
	walk_int(k, c->n - first);
	walk_int(k, c->n - c->nres);
	for (uint32_t i = first; i != c->n && !k->differs; i++)
		walk_limit(k, &c->val[i & c->mask]);
	walk_limit(k, &c->last);
}

static void walk_stalls(struct walk *k, struct wave *w)
{
	for (uint32_t i = w->nstall - STALL_RING; i != w->nstall && !k->differs; i++) {
		struct idle *s = &w->stall[i & (STALL_RING - 1)];

		walk_clk(k, &s->end);
		walk_int(k, (uint64_t)s->clk << 32 | (uint64_t)s->why << 8 | s->who);
	}
	walk_int(k, w->nstall < STALL_RING ? w->nstall : STALL_RING);
}

static void walk_wave(struct walk *k, struct engine *e, struct wave *w)
{
	walk_clk(k, &w->pos);
	walk_clk(k, &w->dep);
	walk_clk(k, &w->free);
	for (unsigned u = 0; e->hold_unit && u < UN_COUNT; u++)
		walk_limit(k, &w->unit_free[u]);
	walk_clk(k, &w->split);
	walk_limit(k, &w->hold_end);
	if (e->barrier_blocked)
		walk_clk(k, &w->arrival);
	walk_limit(k, &w->sent);
	for (size_t a = 0; a < e->natoms && !k->differs; a++) {
		walk_int(k, w->ready[a] > k->now || w->chain[a] > k->now ? w->writer[a] : 0);
		walk_limit(k, &w->ready[a]);
		walk_limit(k, &w->chain[a]);
	}
	for (unsigned c = 0; c < e->nctr && !k->differs; c++)
		walk_counter(k, &w->ctr[c]);
	walk_ring(k, w->copy_start, w->ncopies, e->copiers[0].mask, e->copy_queue_wave,
		  unit_awaited(e, 1u << w->simd, UN_TDM, UN_TDM, k->now));
	if (k->stalls)
		walk_stalls(k, w);
}

/* What is cheap to compare and differs first. */
static void walk_heads(struct walk *k, struct engine *e)
{
	for (unsigned i = 0; i < e->nwaves && !k->differs; i++) {
		struct wave *w = &e->waves[i];

		walk_int(k, (uint64_t)(w->op - w->ops) << 32 | w->rep);
		walk_int(k, (uint64_t)w->ended << 48 | (uint64_t)w->at_barrier << 40 |
				    (uint64_t)w->prio << 32 | (uint64_t)w->dep_why << 24 |
				    (uint64_t)w->free_why << 16 | (uint64_t)w->blame << 8);
		walk_int(k, w->last_stage);
	}
	walk_int(k, e->icache_requests);
}

static void walk_simd(struct walk *k, struct engine *e, unsigned i)
{
	struct simd *s = &e->simds[i];
	bool exact = unit_awaited(e, 1u << i, UN_VALU, UN_MATRIX, k->now);

	walk_clk(k, &s->valu_free);
	walk_clk(k, &s->unit_free);
	walk_clk(k, &s->salu_free);
	walk_limit(k, &s->packed_bar);
	walk_any_clk(k, &s->old_end, !exact);
	walk_limit(k, &s->block_end);
	walk_int(k, s->nmatrix < MATRIX_RING ? s->nmatrix : MATRIX_RING);
	walk_int(k, exact);
	for (unsigned w = 0; e->issue_order && w < s->n; w++)
		walk_int(k, s->order[w]->id);
	for (uint64_t n = s->nmatrix - MATRIX_RING; n != s->nmatrix && !k->differs; n++) {
		walk_any_clk(k, &s->start[n & (MATRIX_RING - 1)], !exact);
		walk_any_clk(k, &s->reads_end[n & (MATRIX_RING - 1)], !exact);
	}
}

static void walk_pair(struct walk *k, struct engine *e, unsigned i)
{
	struct pair *p = &e->pairs[i];
	uint32_t simds = 0, waiting = p->n - p->served;
	bool exact;

	for (unsigned s = 0; s < e->nsimds; s++)
		if (e->simds[s].pair == i)
			simds |= 1u << s;
	exact = unit_awaited(e, simds, UN_LDS, UN_LDS, k->now);
	walk_int(k, waiting);
	walk_int(k, exact);
	walk_limit(k, &p->port_free);
	for (uint32_t n = p->n - e->lds_queue; n != p->n - waiting && !k->differs; n++)
		walk_any_clk(k, &p->q[n & p->mask].end, !exact);
	for (uint32_t n = p->n - waiting; n != p->n && !k->differs; n++) {
		struct lds_entry *q = &p->q[n & p->mask];
		const struct wave *w = &e->waves[q->wave];

		walk_int(k, (uint64_t)(q->op - w->ops) << 8 | q->wave);
		walk_int(k, q->op->ctr < 0 ? 0
			    : w->ctr[q->op->ctr].in_order ? w->ctr[q->op->ctr].n - q->idx
							  : q->idx);
		walk_limit(k, &q->arrive);
		walk_limit(k, &q->at_least);
		walk_limit(k, &q->free);
	}
}

static void walk_landings(struct walk *k, struct engine *e, struct landing_queue *l)
{
	walk_int(k, l->n);
	for (uint32_t i = 0; i < l->n && !k->differs; i++) {
		struct landing *x = &l->q[(l->head + i) & l->mask];
		const struct wave *w = &e->waves[x->wave];

		walk_int(k, (uint64_t)(x->op - w->ops) << 8 | x->wave);
		walk_int(k, x->op->ctr < 0 ? 0
			    : w->ctr[x->op->ctr].in_order ? w->ctr[x->op->ctr].n - x->idx
							  : x->idx);
		walk_int(k, e->seq - x->seq);
		walk_int(k, x->done);
		walk_limit(k, &x->due);
		walk_clk(k, &x->base);
	}
}

static void walk_memory(struct walk *k, struct engine *e)
{
	struct vmem *v = &e->vmem;

	while (v->nq && v->q[v->head & v->qmask].ret <= k->now) {
		v->bytes -= v->q[v->head++ & v->qmask].bytes;
		v->nq--;
	}
	walk_limit(k, &v->addr_free);
	walk_limit(k, &v->ret_free);
	walk_limit(k, &v->store_free);
	walk_ring(k, v->start, v->n, v->mask, e->vmem_queue,
		  unit_awaited(e, ~0u, UN_VMEM, UN_VMEM, k->now));
	walk_int(k, v->nq);
	for (uint32_t i = 0; i < v->nq && !k->differs; i++) {
		struct inflight *f = &v->q[(v->head + i) & v->qmask];

		walk_int(k, f->bytes);
		walk_limit(k, &f->ret);
	}
	for (unsigned i = 0; i < e->ncopiers && !k->differs; i++) {
		struct copier *c = &e->copiers[i];

		walk_limit(k, &c->free);
		walk_ring(k, c->start, c->n, c->mask, e->copy_queue,
			  unit_awaited(e, ~0u, UN_TDM, UN_TDM, k->now));
	}
	for (unsigned i = 0; i <= e->ncopiers && !k->differs; i++)
		walk_landings(k, e, &e->landings[i]);
}

static void walk_workgroup(struct walk *k, struct workgroup *g)
{
	walk_int(k, (uint64_t)g->live << 32 | g->arrived);
	walk_limit(k, &g->recovered);
	for (unsigned id = 0; id < NAMED_COUNT && !k->differs; id++) {
		struct named *b = &g->named[id];

		while (b->first < b->phases && b->due[b->first & b->mask] <= k->now)
			b->first++;
		walk_int(k, (uint64_t)b->arrivals << 32 | (uint64_t)b->blame << 8 | b->whole);
		walk_int(k, b->blame_stage);
		walk_int(k, b->phases - b->first);
		for (uint64_t i = b->first; i < b->phases; i++)
			walk_limit(k, &b->due[i & b->mask]);
	}
}

static void walk_state(struct walk *k, struct engine *e)
{
	walk_heads(k, e);
	for (unsigned i = 0; i < e->nwgs && !k->differs; i++)
		walk_workgroup(k, &e->wgs[i]);
	for (unsigned i = 0; i < e->nsimds && !k->differs; i++)
		walk_simd(k, e, i);
	for (unsigned i = 0; i < e->npairs && !k->differs; i++)
		walk_pair(k, e, i);
	for (unsigned i = 0; i < e->nparts && !k->differs; i++)
		walk_limit(k, &e->array_free[i]);
	if (!k->differs)
		walk_memory(k, e);
	for (unsigned i = 0; i < e->nwaves && !k->differs; i++)
		if (!e->waves[i].ended)
			walk_wave(k, e, &e->waves[i]);
}

/* ---- kept states ---- */

static void kept_init(struct kept *k, const struct engine *e)
{
	size_t n = (size_t)e->nwaves * e->p->nloops + 1;

	k->rem = xcalloc(n, sizeof(*k->rem));
	k->exits = xcalloc(n, sizeof(*k->exits));
	k->waited = xcalloc(e->nwaves, sizeof(*k->waited));
	k->phases = xcalloc(e->nwgs, sizeof(*k->phases));
	k->acc = xcalloc(e->nacc, sizeof(*k->acc));
	k->edge_acc = xcalloc(e->nacc, sizeof(*k->edge_acc));
	k->keep_at = 1;
}

static void kept_free(struct kept *k)
{
	free(k->buf);
	free(k->rem);
	free(k->exits);
	free(k->waited);
	free(k->phases);
	free(k->acc);
	free(k->edge_acc);
}

static void kept_restart(struct kept *k)
{
	k->valid = false;
	k->edges = 0;
	k->keep_at = 1;
}

static void kept_take(struct kept *k, struct engine *e, uint64_t now, bool stalls)
{
	struct walk walk = { .mode = WALK_KEEP, .buf = k->buf, .cap = k->cap, .now = now,
			     .stalls = stalls };

	walk_state(&walk, e);
	k->buf = walk.buf;
	k->cap = walk.cap;
	k->n = walk.n;
	k->clk = now;
	for (unsigned w = 0; w < e->nwaves; w++) {
		memcpy(k->rem + w * e->p->nloops, e->waves[w].rem, e->p->nloops * sizeof(*k->rem));
		memcpy(k->exits + w * e->p->nloops, e->waves[w].exits,
		       e->p->nloops * sizeof(*k->exits));
		memcpy(k->waited[w], e->waves[w].waited, sizeof(*k->waited));
	}
	for (unsigned g = 0; g < e->nwgs; g++)
		for (unsigned id = 0; id < NAMED_COUNT; id++)
			k->phases[g][id] = e->wgs[g].named[id].phases;
	memcpy(k->acc, e->acc, e->nacc * sizeof(*k->acc));
	k->valid = true;
}

/* Loop counts moved as they can again: no loop that got nearer to its end was left or entered. */
static bool loops_repeat(const struct kept *k, const struct engine *e, uint64_t *periods)
{
	uint64_t least = UINT64_MAX;

	for (unsigned w = 0; w < e->nwaves; w++) {
		for (size_t l = 0; l < e->p->nloops && !e->waves[w].ended; l++) {
			uint64_t rem = e->waves[w].rem[l], rem0 = k->rem[w * e->p->nloops + l];

			if (rem == rem0)
				continue;
			if (rem > rem0 || e->waves[w].exits[l] != k->exits[w * e->p->nloops + l])
				return false;
			/* In a skipped period every branch must be taken, as in this one. */
			least = min_u64(least, (rem - 1) / (rem0 - rem));
		}
	}
	*periods = least == UINT64_MAX ? 0 : least;
	return true;
}

/*
 * Phases that a wave may still pass: as many as then, or more of them while it met only phases long
 * over. With still more it meets older ones, so nothing changes.
 */
static bool phases_repeat(const struct kept *k, const struct engine *e)
{
	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];

		for (unsigned id = 0; id < NAMED_COUNT && !w->ended; id++) {
			uint64_t ahead = e->wgs[w->wg].named[id].phases - w->waited[id];
			uint64_t ahead0 = k->phases[w->wg][id] - k->waited[i][id];

			if (!(e->awaits[w->group] >> id & 1) || ahead == ahead0)
				continue;
			if (ahead < ahead0 || w->tight[id] > k->clk)
				return false;
		}
	}
	return true;
}

/* n more periods of signals and waits. */
static void skip_phases(const struct kept *k, struct engine *e, uint64_t n)
{
	for (unsigned i = 0; i < e->nwaves; i++)
		for (unsigned id = 0; id < NAMED_COUNT; id++)
			e->waves[i].waited[id] += n * (e->waves[i].waited[id] - k->waited[i][id]);
	for (unsigned g = 0; g < e->nwgs; g++) {
		for (unsigned id = 0; id < NAMED_COUNT; id++) {
			struct named *b = &e->wgs[g].named[id];
			uint64_t by = n * (b->phases - k->phases[g][id]), *due;

			if (by == 0)
				continue;
			due = xcalloc(b->mask + 1, sizeof(*due));
			for (uint64_t p = b->first; p < b->phases; p++)
				due[(p + by) & b->mask] = b->due[p & b->mask];
			free(b->due);
			b->due = due;
			b->phases += by;
			b->first += by;
		}
	}
}

static bool kept_equals(const struct kept *k, struct engine *e, uint64_t now, bool stalls)
{
	struct walk walk = { .mode = WALK_COMPARE, .buf = k->buf, .cap = k->n, .now = now,
			     .then = k->clk, .stalls = stalls };

	walk_state(&walk, e);
	return !walk.differs && walk.n == k->n && phases_repeat(k, e);
}

static int report_overflow(const struct engine *e)
{
	struct loc at = e->edge->insn < e->p->ninsns ? e->p->insns[e->edge->insn].loc : (struct loc){ 0 };

	diag_add(e->d, at, DIAG_LIMIT, "the loop runs for more than %llu clocks",
		 (unsigned long long)e->max_clk);
	return -1;
}

/* Put n periods behind us: clocks move, counts are multiplied. */
static int skip_periods(struct period *p, struct kept *k, uint64_t now, uint64_t n, bool stalls)
{
	struct engine *e = p->e;
	uint64_t length = now - k->clk, shift, before = 0, after = 0;
	struct walk walk = { .mode = WALK_SHIFT, .buf = k->buf, .cap = k->n, .now = now,
			     .then = k->clk, .stalls = stalls };

	if (__builtin_mul_overflow(length, n, &shift) || shift > e->max_clk ||
	    now + shift > e->max_clk)
		return report_overflow(e);
	if (n == 0)
		return 0;
	walk.shift = shift;
	walk_state(&walk, e);
	skip_phases(k, e, n);
	for (unsigned w = 0; w < e->nwaves; w++) {
		for (size_t l = 0; l < e->p->nloops && !e->waves[w].ended; l++) {
			uint64_t *rem = &e->waves[w].rem[l], *exits = &e->waves[w].exits[l];

			*rem -= n * (k->rem[w * e->p->nloops + l] - *rem);
			*exits += n * (*exits - k->exits[w * e->p->nloops + l]);
		}
		for (unsigned s = 0; s < e->nstages; s++)
			before += e->waves[w].acc[(size_t)s * ACC_COUNT + ACC_INSNS];
	}
	for (size_t i = 0; i < e->nacc; i++)
		e->acc[i] += n * (e->acc[i] - k->acc[i]);
	for (unsigned w = 0; w < e->nwaves; w++)
		for (unsigned s = 0; s < e->nstages; s++)
			after += e->waves[w].acc[(size_t)s * ACC_COUNT + ACC_INSNS];
	e->skipped_insns += after - before;
	e->now += shift;
	if (e->loop_end > k->clk)
		e->loop_end += shift;
	units_refresh(e);
	engine_events_find(e);
	for (unsigned s = 0; s < e->nsimds; s++)
		simd_choose(e, s, visit_floor(e, s));
	return 0;
}

/* ---- edges ---- */

struct period *period_new(struct engine *e, bool skip)
{
	struct period *p = xcalloc(1, sizeof(*p));

	p->e = e;
	p->skip = skip;
	p->limit = NEVER;
	p->first_acc = xcalloc(e->nacc, sizeof(*p->first_acc));
	p->last_acc = xcalloc(e->nacc, sizeof(*p->last_acc));
	kept_init(&p->main, e);
	kept_init(&p->other, e);
	return p;
}

void period_free(struct period *p)
{
	if (!p)
		return;
	kept_free(&p->main);
	kept_free(&p->other);
	free(p->first_acc);
	free(p->last_acc);
	free(p);
}

void period_limit(struct period *p, uint64_t clk)
{
	p->limit = clk;
}

/* Nothing repeats while the memory is cold or code is on its way. */
static bool settled(const struct engine *e, uint64_t t)
{
	return (e->cold == 0 || t >= e->cold_window) && e->icache_last <= t;
}

static uint64_t main_rem(const struct period *p)
{
	const struct wave *w = &p->e->waves[p->e->main_wave];

	return w->rem[p->e->p->main_loop[w->group]];
}

/* Trips of the main loop that the main wave has completed, branches skipped over left out. */
static uint64_t main_trips(const struct period *p)
{
	const struct wave *w = &p->e->waves[p->e->main_wave];

	return p->taken + w->exits[p->e->p->main_loop[w->group]];
}

static void note_window(struct period *p, uint64_t t)
{
	const struct engine *e = p->e;

	p->found = true;
	p->win = (struct window){ .begin = p->main.clk, .end = t,
				  .trips = main_trips(p) - p->main.mark, .steady = true };
	memcpy(p->first_acc, p->main.edge_acc, e->nacc * sizeof(*p->first_acc));
	account_snapshot(e, t, p->last_acc);
}

/* First and last edge of the main loop: the window when no state repeats. */
static void note_edge(struct period *p, uint64_t t)
{
	uint64_t rem = main_rem(p);

	if (p->found)
		return;
	if (!p->have_first) {
		p->have_first = true;
		p->first_clk = t;
		p->first_mark = main_trips(p);
		account_snapshot(p->e, t, p->first_acc);
		return;
	}
	if (rem == 1) { /* the next branch leaves the loop */
		p->have_last = true;
		p->last_clk = t;
		p->last_mark = main_trips(p);
		account_snapshot(p->e, t, p->last_acc);
	}
}

static uint64_t periods_within(const struct period *p, const struct kept *k, uint64_t now, uint64_t n)
{
	if (p->limit == NEVER)
		return n;
	return p->limit <= now ? 0 : min_u64(n, (p->limit - now) / (now - k->clk));
}

/* Brent: compare with the kept state, keep anew at edges 1, 2, 4, 8 and so on. */
static bool edge_matches(struct period *p, struct kept *k, uint64_t t, bool stalls,
			 uint64_t *periods)
{
	struct engine *e = p->e;

	if (k->valid && t > k->clk && loops_repeat(k, e, periods) && kept_equals(k, e, t, stalls))
		return true;
	if (++k->edges >= k->keep_at) {
		k->keep_at *= 2;
		kept_take(k, e, t, stalls);
		if (!stalls) {
			k->mark = main_trips(p);
			account_snapshot(e, t, k->edge_acc);
		}
	}
	return false;
}

static int main_edge(struct period *p, uint64_t t)
{
	struct engine *e = p->e;
	uint64_t periods;
	int rc = 0;

	p->taken++;
	p->since_main = 0;
	note_edge(p, t);
	if ((p->found && !p->skip) || !settled(e, t) ||
	    !edge_matches(p, &p->main, t, false, &periods))
		return 0;
	if (!p->found)
		note_window(p, t);
	if (p->skip) {
		rc = skip_periods(p, &p->main, t, periods_within(p, &p->main, t, periods), false);
		kept_restart(&p->other);
	}
	kept_restart(&p->main);
	return rc;
}

/* Long loops besides the main one, and of waves that outlive it: skipped, but no window. */
static int other_edge(struct period *p, uint64_t t)
{
	struct engine *e = p->e;
	struct kept *k = &p->other;
	uint64_t periods, main_before;
	int rc;

	if (e->edge_wave != p->other_wave) {
		if (!e->waves[p->other_wave].ended && ++p->foreign < FOREIGN_EDGES)
			return 0;
		p->other_wave = e->edge_wave;
		kept_restart(k);
	}
	p->foreign = 0;
	if (!settled(e, t) || !edge_matches(p, k, t, true, &periods))
		return 0;
	if (e->main_wave >= 0 && !e->waves[e->main_wave].ended) {
		const struct wave *w = &e->waves[e->main_wave];

		main_before = k->rem[(size_t)e->main_wave * e->p->nloops +
				     (size_t)e->p->main_loop[w->group]];
		if (main_before != main_rem(p)) /* main_edge() takes care of that */
			periods = 0;
	}
	rc = skip_periods(p, k, t, periods_within(p, k, t, periods), true);
	kept_restart(k);
	return rc;
}

int period_edge(struct period *p, uint64_t t)
{
	struct engine *e = p->e;

	if ((int)e->edge_wave == e->main_wave && (e->edge->flags & OP_MAIN_EDGE))
		return main_edge(p, t);
	if (!p->skip)
		return 0;
	/* The same loop of another wave says nothing new while the main wave is in it too. */
	if ((e->edge->flags & OP_MAIN_EDGE) && e->main_wave >= 0 &&
	    !e->waves[e->main_wave].ended && ++p->since_main < FOREIGN_EDGES)
		return 0;
	return other_edge(p, t);
}

void period_window(const struct period *p, struct window *w)
{
	*w = p->win;
	w->first = p->first_acc;
	w->last = p->last_acc;
	if (p->found)
		return;
	if (!p->have_first || !p->have_last) {
		w->begin = w->end = 0;
		return;
	}
	w->begin = p->first_clk;
	w->end = p->last_clk;
	w->trips = p->last_mark - p->first_mark;
}
