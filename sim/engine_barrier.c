/* Barriers of both kinds, and the report of waves that wait for each other for ever. */
#include "engine_internal.h"

#include <stdlib.h>
#include <string.h>

/* Time that waves of their groups' columns lost while they waited for a wave in this stage. */
static void blame_stage(struct engine *e, uint32_t stage, unsigned group, uint64_t clk)
{
	e->late[(size_t)stage * e->p->groups + group] += clk;
}

/* All live waves of the workgroup stand at a barrier: the last came, or left, at t. */
static void barrier_release_all(struct engine *e, struct workgroup *g, const struct wave *last,
				uint64_t t)
{
	unsigned wg = last->wg, first = wg * e->p->waves;

	g->arrived = 0;
	t = max_u64(t, g->recovered);
	g->recovered = t + e->barrier_release + (uint64_t)e->barrier_recover * g->live;
	for (unsigned i = first; i < first + e->p->waves; i++) {
		struct wave *w = &e->waves[i];

		if (!w->at_barrier)
			continue;
		w->at_barrier = false;
		w->blame = last->id;
		w->split = t;
		w->free = max_u64(w->hold_end, t + e->barrier_release + (t - w->arrival > e->barrier_patience ? e->barrier_blocked : 0));
		w->free_why = ST_BARRIER;
		if (w->column && w->pos < t)
			blame_stage(e, last->last_stage, last->group, t - w->pos);
		if (w != last) /* the last one evaluates its head at the end of its issue */
			wave_reconsider(e, w);
	}
}

/* w issues a BARRIER at t: it is held until all have arrived. */
void barrier_arrive(struct engine *e, struct wave *w, uint64_t t)
{
	struct workgroup *g = &e->wgs[w->wg];

	w->at_barrier = true;
	w->barrier_op = w->op;
	w->hold_end = w->free;
	w->arrival = t;
	w->free = NEVER;
	w->free_why = ST_BARRIER;
	if (++g->arrived == g->live)
		barrier_release_all(e, g, w, t);
}

static void named_push(struct named *b, uint64_t due, uint64_t now)
{
	while (b->first < b->phases && b->due[b->first & b->mask] <= now)
		b->first++;
	if (!b->due || b->phases - b->first > b->mask) {
		uint32_t size = b->due ? (b->mask + 1) * 2 : 8;
		uint64_t *due_new = xcalloc(size, sizeof(*due_new));

		for (uint64_t i = b->first; i < b->phases; i++)
			due_new[i & (size - 1)] = b->due[i & b->mask];
		free(b->due);
		b->due = due_new;
		b->mask = size - 1;
	}
	b->due[b->phases++ & b->mask] = due;
}

static void complete_phase(struct engine *e, const struct wave *by, unsigned id, uint64_t t)
{
	struct named *b = &e->wgs[by->wg].named[id];
	unsigned first = by->wg * e->p->waves;

	b->arrivals = 0;
	b->blame = by->id;
	b->blame_stage = by->last_stage;
	named_push(b, t + (id == NAMED_INDEX(BAR_CLUSTER) ? e->barrier_cluster : e->barrier_release),
		   e->now);
	for (unsigned i = first; i < first + e->p->waves; i++) {
		struct wave *w = &e->waves[i];

		if (w != by && w->dep == NEVER && w->op->cls == OPC_AWAIT && w->op->named == id)
			wave_reconsider(e, w);
	}
}

void barrier_signal(struct engine *e, struct wave *w, const struct op *op, uint64_t t)
{
	struct workgroup *g = &e->wgs[w->wg];
	struct named *b = &g->named[op->named];
	bool cluster = op->named == NAMED_INDEX(BAR_CLUSTER);
	uint32_t members = op->members ? op->members : cluster ? 1 : g->live;

	if (op->named == NAMED_INDEX(BAR_NULL))
		return;
	b->arrivals++;
	b->whole = op->members == 0 && !cluster;
	if (b->arrivals >= members)
		complete_phase(e, w, op->named, t);
}

/* w ended at t: whoever waits for all live waves may have waited for it. */
void barrier_leave(struct engine *e, struct wave *w, uint64_t t)
{
	struct workgroup *g = &e->wgs[w->wg];

	g->live--;
	if (g->live && g->arrived == g->live)
		barrier_release_all(e, g, w, t);
	for (unsigned id = 0; id < NAMED_COUNT; id++) {
		const struct named *b = &g->named[id];

		if (b->whole && b->arrivals && b->arrivals >= g->live)
			complete_phase(e, w, id, t);
	}
}

/* First clk at which the phase that w waits for next is complete; NEVER while unknown. */
uint64_t barrier_phase(const struct engine *e, const struct wave *w, const struct op *op)
{
	const struct named *b = &e->wgs[w->wg].named[op->named];
	uint64_t next = w->waited[op->named];

	if (op->named == NAMED_INDEX(BAR_NULL) || next < b->first)
		return 0;
	return next < b->phases ? b->due[next & b->mask] : NEVER;
}

/* ---- deadlock ---- */

static void add_waves(struct strbuf *s, const struct engine *e, const bool *set)
{
	unsigned n = 0;
	const char *sep = "";

	for (unsigned i = 0; i < e->nwaves; i++)
		n += set[i];
	strbuf_add(s, n == 1 ? "wave " : "waves ");
	for (unsigned i = 0; i < e->nwaves; i++) {
		unsigned last = i;

		if (!set[i])
			continue;
		while (last + 1 < e->nwaves && set[last + 1])
			last++;
		strbuf_add(s, last == i ? "%s%u" : "%s%u-%u", sep, i, last);
		sep = ", ";
		i = last;
	}
}

static void add_place(struct strbuf *s, struct loc at)
{
	unsigned line, col;

	if (!at.src)
		return;
	src_line_col(at.src, at.begin, &line, &col);
	strbuf_add(s, " at %u:%u", line, col);
}

/* The instruction that a wave stands at: the BARRIER it has issued, or its head. */
static const struct op *standing_at(const struct wave *w)
{
	return w->at_barrier ? w->barrier_op : w->op;
}

static void add_state(struct strbuf *s, const struct engine *e, const bool *set)
{
	const struct wave *w = NULL;
	const struct op *op;
	unsigned n = 0;

	add_waves(s, e, set);
	for (unsigned i = 0; i < e->nwaves; i++) {
		n += set[i];
		if (set[i])
			w = &e->waves[i];
	}
	if (!w)
		return;
	if (w->ended) {
		strbuf_add(s, n == 1 ? " has ended" : " have ended");
		return;
	}
	op = standing_at(w);
	if (w->at_barrier)
		strbuf_add(s, " wait%s at the barrier", n == 1 ? "s" : "");
	else if (op->cls == OPC_AWAIT)
		strbuf_add(s, " wait%s for the %sbarrier's signals", n == 1 ? "s" : "",
			   op->named == NAMED_INDEX(BAR_CLUSTER) ? "cluster " : "");
	else if (op->nwait)
		strbuf_add(s, " wait%s for a counter that never falls", n == 1 ? "s" : "");
	else
		strbuf_add(s, " can't issue");
	add_place(s, e->p->insns[op->insn].loc);
}

/* What the others do that the wave waits for: all live waves elsewhere, and those that have ended. */
static void add_others(struct strbuf *s, const struct engine *e, const struct wave *w)
{
	bool done[PROG_MAX_WAVES] = { false };
	const struct op *mine = standing_at(w);

	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *x = &e->waves[i];
		bool set[PROG_MAX_WAVES] = { false };

		if (done[i] || x->wg != w->wg || (!x->ended && standing_at(x)->insn == mine->insn))
			continue;
		for (unsigned k = i; k < e->nwaves; k++) {
			const struct wave *y = &e->waves[k];

			set[k] = y->wg == w->wg && y->ended == x->ended &&
				 (x->ended || standing_at(y)->insn == standing_at(x)->insn);
			done[k] |= set[k];
		}
		strbuf_add(s, "; ");
		add_state(s, e, set);
	}
}

void engine_report_deadlock(struct engine *e)
{
	bool done[PROG_MAX_WAVES] = { false };

	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];
		bool set[PROG_MAX_WAVES] = { false };
		struct strbuf s = { 0 };
		struct loc at;

		if (w->ended || done[i])
			continue;
		for (unsigned k = i; k < e->nwaves; k++) {
			const struct wave *x = &e->waves[k];

			set[k] = !x->ended && x->wg == w->wg &&
				 standing_at(x)->insn == standing_at(w)->insn;
			done[k] |= set[k];
		}
		at = e->p->insns[standing_at(w)->insn].loc;
		add_state(&s, e, set);
		add_others(&s, e, w);
		diag_add(e->d, at, DIAG_DEADLOCK, "%s", s.s);
		strbuf_free(&s);
	}
}
