/*
 * The window: every instruction that a wave of each group executes when each loop runs only so often
 * that every pair of accesses which could conflict, and every completion, is still seen (the bound is
 * derived in docs/checker.md), with the wait that completes each memory operation.
 */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

static unsigned gcd(unsigned a, unsigned b)
{
	while (b) {
		unsigned t = a % b;

		a = b;
		b = t;
	}
	return a;
}

bool check_stream_ordered(const struct program *p, const struct insn *in)
{
	return in->cls != OPC_SMEM && in->counter >= 0 && p->target->counters[in->counter].in_order;
}

/* Trips until everything issued in a trip is known complete, by the loosest reading of the loop's waits. */
static unsigned completion_trips(const struct program *p, const struct loop *l)
{
	unsigned ops[CTR_COUNT] = { 0 }, least[CTR_COUNT], worst = 1;

	memset(least, 0xff, sizeof(least));
	for (uint32_t i = l->begin; i < l->end; i++) {
		const struct insn *in = &p->insns[i];

		if (in->counter >= 0)
			ops[in->counter] += in->repeat ? in->repeat : 1u;
		for (unsigned w = 0; w < in->nwait; w++)
			if (in->wait[w].value < least[(unsigned)in->wait[w].counter])
				least[(unsigned)in->wait[w].counter] = in->wait[w].value;
	}
	for (unsigned k = 0; k < CTR_COUNT; k++) {
		unsigned trips;

		if (!ops[k] || least[k] == UINT32_MAX)
			continue;
		trips = (least[k] + ops[k] - 1) / ops[k] + 1;
		if (trips > worst)
			worst = trips;
	}
	return worst;
}

/* See docs/checker.md, "How many trips": 2 * reach + one round of slots, same slots at the end. */
static uint64_t window_trips(const struct program *p, const struct loop *l)
{
	unsigned steps = l->steps ? l->steps : 1, far = 0, slots = 1, round = 1;
	uint64_t reach, need, cut;

	for (uint32_t i = l->begin; i < l->end; i++) {
		const struct access *a;
		unsigned off;

		if (p->insns[i].access < 0)
			continue;
		a = &p->access[p->insns[i].access];
		off = (unsigned)(a->tile < 0 ? -a->tile : a->tile);
		if (off > far)
			far = off;
		if (a->buffer >= 0) {
			unsigned s = p->buffers[a->buffer].slots, r = s / gcd(s, steps);

			if (s > slots)
				slots = s;
			if (round / gcd(round, r) * r <= 64)
				round = round / gcd(round, r) * r;
		}
	}
	reach = completion_trips(p, l) + 2 + (far + slots + steps - 1) / steps;
	need = 2 * reach + round;
	if (l->trips <= need)
		return l->trips;
	cut = (l->trips - need) / round * round; /* whole rounds: the last trips keep their slots */
	return l->trips - cut;
}

static int push(struct checker *c, struct track *t, uint32_t insn, uint32_t trip, int64_t step)
{
	if (t->n >= CHECK_MAX_INSTANCES) {
		diag_add(c->d, c->p->insns[insn].loc, DIAG_LIMIT,
			 "the loops are too long to check: more than %u instructions would have to be followed; loops of different "
			 "groups that have equally many trips and barriers are followed in part only",
			 CHECK_MAX_INSTANCES);
		return -1;
	}
	t->inst = xgrow(t->inst, t->n, &t->cap, sizeof(*t->inst));
	t->inst[t->n++] = (struct instance){ insn, trip, (int32_t)step, 0, NO_POS, -1 };
	return 0;
}

/* Follow one group from its entry to its end, loops shortened. */
static int follow(struct checker *c, unsigned g)
{
	const struct program *p = c->p;
	struct track *t = &c->track[g];
	uint64_t left[64] = { 0 };
	uint32_t trip[64] = { 0 };
	uint32_t pc = p->entry[g];

	while (pc < p->ninsns) {
		const struct insn *in = &p->insns[pc];
		int inner = -1;

		if (!(in->groups & (1u << g)) || check_skips(c, in) || check_masked(c, pc)) {
			pc++;
			continue;
		}
		for (size_t l = 0; l < p->nloops; l++)
			if (pc >= p->loops[l].begin && pc < p->loops[l].end &&
			    (inner < 0 || p->loops[l].begin >= p->loops[inner].begin))
				inner = (int)l;
		int main_loop = p->main_loop[g];
		int64_t step = 0;

		if (main_loop >= 0 && pc >= p->loops[main_loop].begin && pc < p->loops[main_loop].end)
			step = (int64_t)trip[main_loop] * p->loops[main_loop].steps;
		if (push(c, t, pc, inner >= 0 ? trip[inner] : 0, step) < 0)
			return -1;
		if (in->cls == OPC_END)
			return 0;
		if (in->cls == OPC_BRANCH && in->loop >= 0) {
			unsigned l = (unsigned)in->loop;

			if (!left[l])
				left[l] = c->loop_trips[l];
			if (--left[l]) {
				trip[l]++;
				pc = p->loops[l].begin;
				continue;
			}
			trip[l] = 0;
		}
		pc++;
	}
	return 0;
}

/* Pending operations of one counter, oldest first, per completion stream. */
struct pending {
	struct positions q;
	size_t head;
	uint32_t issued;
};

static void add_pos(struct positions *s, uint32_t pos)
{
	s->pos = xgrow(s->pos, s->n, &s->cap, sizeof(*s->pos));
	s->pos[s->n++] = pos;
}

static void complete_down_to(struct track *t, struct pending *s, uint32_t value, uint32_t at)
{
	while (s->q.n - s->head > value)
		t->inst[s->q.pos[s->head++]].done = at;
}

static void at_wait(struct track *t, struct pending s[CTR_COUNT][2], unsigned ctr, uint32_t value, uint32_t pos)
{
	struct wait_at w = { pos, value, { s[ctr][0].issued, s[ctr][1].issued } };

	t->waits[ctr] = xgrow(t->waits[ctr], t->nwaits[ctr], &t->capwaits[ctr], sizeof(w));
	t->waits[ctr][t->nwaits[ctr]++] = w;
	complete_down_to(t, &s[ctr][0], value, pos);
	if (value == 0)
		complete_down_to(t, &s[ctr][1], 0, pos);
}

/* Which wait completes what; and where barriers are signalled and passed. */
static void complete(struct checker *c, struct track *t)
{
	struct pending s[CTR_COUNT][2];

	memset(s, 0, sizeof(s));
	for (uint32_t i = 0; i < t->n; i++) {
		const struct insn *in = &c->p->insns[t->inst[i].insn];
		int id;

		for (unsigned w = 0; w < in->nwait; w++)
			at_wait(t, s, (unsigned)in->wait[w].counter, in->wait[w].value, i);
		if (c->p->target->v.barrier_orders >= 1 && (in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL)) {
			int ctr = c->p->target->classes[OPC_LDS_READ].counter, also = c->p->target->classes[OPC_LDS_WRITE].counter;

			if (ctr >= 0)
				at_wait(t, s, (unsigned)ctr, 0, i);
			if (also >= 0 && also != ctr)
				at_wait(t, s, (unsigned)also, 0, i);
		}
		if (in->counter >= 0) {
			unsigned max = c->p->target->counters[in->counter].max;
			unsigned kind = check_stream_ordered(c->p, in) ? 0 : 1, n = in->repeat ? in->repeat : 1;
			struct pending *q = &s[in->counter][kind];

			for (unsigned r = 0; r < n; r++) {
				/* a full counter holds the wave until the oldest is reported */
				if (max && kind == 0 && s[in->counter][1].q.n == s[in->counter][1].head)
					complete_down_to(t, q, max - 1, i);
				add_pos(&q->q, i);
				q->issued++;
			}
			t->inst[i].ord = q->issued - 1;
		}
		id = check_id_index(in->barrier);
		if (id >= 0 && (in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL))
			add_pos(&t->signal[id], i);
		if (id >= 0 && (in->cls == OPC_BARRIER || in->cls == OPC_AWAIT))
			add_pos(&t->await[id], i);
	}
	for (unsigned k = 0; k < CTR_COUNT; k++) {
		free(s[k][0].q.pos);
		free(s[k][1].q.pos);
	}
}

static uint64_t arrivals_in(const struct program *p, const struct loop *l)
{
	uint64_t n = 0;

	for (uint32_t i = l->begin; i < l->end; i++)
		n += p->insns[i].barrier == BAR_WORKGROUP && (p->insns[i].cls == OPC_BARRIER || p->insns[i].cls == OPC_SIGNAL);
	return n;
}

/*
 * Two bodies of one K loop are cut alike when they meet at equally many barriers a trip. Others drift
 * against each other: what holds in one trip says nothing about the next, and they are followed whole.
 */
static void keep_in_step(struct checker *c, int a, int b)
{
	const struct program *p = c->p;

	if (a < 0 || b < 0 || a == b)
		return;
	if (p->loops[a].trips == p->loops[b].trips && arrivals_in(p, &p->loops[a]) == arrivals_in(p, &p->loops[b])) {
		uint64_t most = c->loop_trips[a] > c->loop_trips[b] ? c->loop_trips[a] : c->loop_trips[b];

		c->loop_trips[a] = c->loop_trips[b] = most;
		return;
	}
	c->loop_trips[a] = p->loops[a].trips;
	c->loop_trips[b] = p->loops[b].trips;
}

/* Where signals run ahead of waits, phases must be counted with care: see certain_signals. */
static void find_lead(struct checker *c)
{
	for (unsigned id = 0; id < CHECK_IDS; id++)
		for (unsigned g = 0; g < c->ngroups; g++) {
			const struct positions *sig = &c->track[g].signal[id], *wait = &c->track[g].await[id];
			size_t w = 0;

			for (size_t i = 0; wait->n && i < sig->n; i++) {
				while (w < wait->n && wait->pos[w] < sig->pos[i])
					w++;
				if (i > w && i - w > c->ahead[id])
					c->ahead[id] = (uint32_t)(i - w);
			}
		}
}

/* The paths as they were followed. A trip is a visit of the instruction. */
static int take_paths(struct checker *c)
{
	uint32_t *visits = xcalloc(c->p->ninsns + 1, sizeof(*visits));
	int r = 0;

	for (unsigned g = 0; g < c->ngroups && r == 0; g++) {
		memset(visits, 0, (c->p->ninsns + 1) * sizeof(*visits));
		for (size_t i = 0; i < c->paths->n[g] && r == 0; i++) {
			const struct check_step *s = &c->paths->step[g][i];

			if (check_masked(c, s->insn))
				continue;
			r = push(c, &c->track[g], s->insn, visits[s->insn]++, 0);
			if (r == 0)
				c->track[g].inst[c->track[g].n - 1].access = s->access;
		}
		complete(c, &c->track[g]);
	}
	free(visits);
	find_lead(c);
	return r;
}

int check_build_tracks(struct checker *c)
{
	const struct program *p = c->p;

	if (c->paths)
		return take_paths(c);

	if (p->nloops > ARRAY_LEN(c->loop_trips)) {
		diag_add(c->d, (struct loc){ 0 }, DIAG_LIMIT, "%zu loops are more than the checker follows", p->nloops);
		return -1;
	}
	for (size_t l = 0; l < p->nloops; l++)
		c->loop_trips[l] = window_trips(p, &p->loops[l]);
	for (unsigned g = 1; g < c->ngroups; g++)
		keep_in_step(c, p->main_loop[0], p->main_loop[g]);
	c->ksteps = (int64_t)p->ksteps;
	if (p->main_loop[0] >= 0) {
		const struct loop *l = &p->loops[p->main_loop[0]];

		c->cut = (int64_t)((l->trips - c->loop_trips[p->main_loop[0]]) * l->steps);
		c->ksteps -= c->cut;
		c->out->window_trips = (unsigned)c->loop_trips[p->main_loop[0]];
	}
	for (unsigned g = 0; g < c->ngroups; g++) {
		if (follow(c, g) < 0)
			return -1;
		complete(c, &c->track[g]);
	}
	find_lead(c);
	return 0;
}

void check_free_tracks(struct checker *c)
{
	for (unsigned g = 0; g < c->ngroups; g++) {
		struct track *t = &c->track[g];

		free(t->inst);
		for (unsigned k = 0; k < CTR_COUNT; k++)
			free(t->waits[k]);
		for (unsigned k = 0; k < CHECK_IDS; k++) {
			free(t->signal[k].pos);
			free(t->await[k].pos);
		}
		memset(t, 0, sizeof(*t));
	}
}

static size_t count_before(const struct positions *s, uint32_t pos)
{
	size_t lo = 0, hi = s->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->pos[mid] < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Phase n needs n signals of each wave in all; waves that signal ahead can stand in for a slower one. So
 * many signals a wave of group gx has given for certain when phase n is complete.
 */
static size_t certain_signals(const struct checker *c, unsigned id, unsigned gx, size_t n)
{
	unsigned per_group = c->p->waves / c->p->groups;
	uint64_t need = 0, others = 0;

	for (unsigned g = 0; g < c->ngroups; g++) {
		const struct positions *sig = &c->track[g].signal[id], *wait = &c->track[g].await[id];
		/* before it passes phase n a wave can have given only these */
		size_t most = n <= wait->n ? count_before(sig, wait->pos[n - 1] + 1) : sig->n;

		if (!sig->n)
			continue;
		need += (uint64_t)per_group * n;
		others += (uint64_t)(g == gx ? per_group - 1 : per_group) * most;
	}
	if (need <= others)
		return 0;
	return need - others < n ? (size_t)(need - others) : n;
}

static uint32_t waves_at(const struct checker *c, unsigned g, uint32_t pos)
{
	unsigned per_group = c->p->waves / c->p->groups;
	uint32_t group = (uint32_t)(((1ull << per_group) - 1) << (g * per_group));

	return check_waves_of(c->p, &c->p->insns[c->track[g].inst[pos].insn]) & group;
}

/* The signal of gx behind phase number passed of barrier id; NO_POS when none is certain. */
static uint32_t signal_of(const struct checker *c, unsigned id, unsigned gx, size_t passed)
{
	const struct positions *sig = &c->track[gx].signal[id];

	if (!passed || !sig->n)
		return NO_POS;
	if (passed > sig->n)
		passed = sig->n;
	if (c->ahead[id])
		passed = certain_signals(c, id, gx, passed);
	return passed ? sig->pos[passed - 1] : NO_POS;
}

/* Where waves of group g, at the least, stand when one of them has come to pos: at the barriers that it has passed. */
static uint32_t others_arrived(const struct checker *c, unsigned g, uint32_t waves, uint32_t pos)
{
	uint32_t last = NO_POS;

	for (unsigned id = 0; id < CHECK_IDS; id++) {
		uint32_t at = signal_of(c, id, g, count_before(&c->track[g].await[id], pos));

		if (at != NO_POS && !(waves & ~waves_at(c, g, at)) && (last == NO_POS || at > last))
			last = at;
	}
	return last;
}

uint32_t check_deadline(const struct checker *c, unsigned gx, uint32_t x, unsigned gy, uint32_t y)
{
	uint32_t last = NO_POS, waves = waves_at(c, gx, x);

	for (unsigned id = 0; id < CHECK_IDS; id++) {
		uint32_t at = signal_of(c, id, gx, count_before(&c->track[gy].await[id], y));

		if (at != NO_POS && (waves & ~waves_at(c, gx, at))) /* one wave signals for its group */
			at = others_arrived(c, gx, waves, at);
		if (at != NO_POS && (last == NO_POS || at > last))
			last = at;
	}
	return last;
}

bool check_before(const struct checker *c, unsigned gx, uint32_t x, uint32_t xdone, unsigned gy, uint32_t y)
{
	uint32_t at = check_deadline(c, gx, x, gy, y);

	return xdone != NO_POS && at != NO_POS && xdone <= at;
}
