/* Entry of the checker; barriers of all groups together; spare barriers. */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

char check_group_letter(unsigned g)
{
	return (char)('A' + (int)g);
}

bool check_once(struct checker *c, enum diag_code code, uint32_t insn_a, uint32_t insn_b)
{
	/* unrolled copies share their places: a place is reported once */
	uint32_t a = insn_a < c->p->ninsns ? c->p->insns[insn_a].loc.begin : insn_a;
	uint32_t b = insn_b < c->p->ninsns ? c->p->insns[insn_b].loc.begin : insn_b;
	uint64_t key = ((uint64_t)code << 56) ^ ((uint64_t)a << 28) ^ b;

	for (size_t i = 0; i < c->nreported; i++)
		if (c->reported[i] == key)
			return false;
	c->reported = xgrow(c->reported, c->nreported, &c->capreported, sizeof(key));
	c->reported[c->nreported++] = key;
	return true;
}

const char *check_when(const struct checker *c, unsigned group, uint32_t pos, char *buf, size_t size)
{
	const struct instance *in = &c->track[group].inst[pos];
	const struct insn *i = &c->p->insns[in->insn];
	int l = c->p->main_loop[group];
	const char *stage = i->stage >= 0 && (size_t)i->stage < c->p->nstages ? c->p->stages[i->stage].name : NULL;

	if (c->paths)
		snprintf(buf, size, in->trip ? "pass %u" : "first pass", in->trip + 1);
	else if (l < 0)
		snprintf(buf, size, "%s", stage ? stage : "no loop");
	else if (in->insn < c->p->loops[l].begin)
		snprintf(buf, size, "%s%sbefore the loop", stage ? stage : "", stage ? ", " : "");
	else if (in->insn >= c->p->loops[l].end)
		snprintf(buf, size, "%s%safter the loop", stage ? stage : "", stage ? ", " : "");
	else if (in->trip < 1)
		snprintf(buf, size, "%s%sfrom the first trip on", stage ? stage : "", stage ? ", " : "");
	else if (in->trip + 1 >= c->loop_trips[l])
		snprintf(buf, size, "%s%slast trip", stage ? stage : "", stage ? ", " : "");
	else
		snprintf(buf, size, "%s%strip %u", stage ? stage : "", stage ? ", " : "", in->trip + 1);
	return buf;
}

/* Workgroup barrier arrivals of one wave of each group over the whole kernel, loops at full length. */
static void count_arrivals(struct checker *c)
{
	const struct program *p = c->p;

	for (unsigned g = 0; g < c->ngroups; g++) {
		uint64_t n = 0;

		if (c->paths) {
			c->out->barriers[g] = c->track[g].signal[0].n;
			continue;
		}
		for (uint32_t i = p->entry[g]; i < p->ninsns; i++) {
			const struct insn *in = &p->insns[i];
			uint64_t times = 1;

			if (!(in->groups & (1u << g)) || check_skips(c, in))
				continue;
			if (in->cls == OPC_END)
				break;
			if (in->barrier != BAR_WORKGROUP || (in->cls != OPC_BARRIER && in->cls != OPC_SIGNAL))
				continue;
			for (size_t l = 0; l < p->nloops; l++)
				if (i >= p->loops[l].begin && i < p->loops[l].end)
					times *= p->loops[l].trips;
			n += times;
		}
		c->out->barriers[g] = n;
	}
}

/* A group stands at a barrier that the others never reach. */
struct walker {
	size_t pos;        /* next instance */
	bool ended;
	bool at_barrier;   /* arrived at a BARRIER, not released */
	uint32_t waited[CHECK_IDS];
};

struct meeting {
	struct walker w[PROG_MAX_GROUPS];
	uint32_t arrived[CHECK_IDS], phases[CHECK_IDS];
};

static unsigned group_waves(const struct checker *c)
{
	return c->p->waves / c->p->groups;
}

static uint32_t group_mask(const struct checker *c, unsigned g)
{
	return (uint32_t)(((1ull << group_waves(c)) - 1) << (g * group_waves(c)));
}

/* Advance one group until it blocks; true when it moved. */
static bool advance(struct checker *c, struct meeting *m, unsigned g)
{
	struct walker *w = &m->w[g];
	const struct track *t = &c->track[g];
	bool moved = false;

	while (!w->ended && !w->at_barrier) {
		const struct insn *in;
		int id;

		if (w->pos >= t->n) {
			w->ended = true;
			return true;
		}
		in = &c->p->insns[t->inst[w->pos].insn];
		id = check_id_index(in->barrier);
		if (in->cls == OPC_BARRIER && id == 0) {
			w->at_barrier = true;
			return true;
		}
		if (in->cls == OPC_SIGNAL && id >= 0) {
			uint32_t members = in->members ? in->members : id == 1 ? 1 : c->p->waves;

			m->arrived[id] += (uint32_t)__builtin_popcount(check_waves_of(c->p, in) & group_mask(c, g));
			while (m->arrived[id] >= members) {
				m->arrived[id] -= members;
				m->phases[id]++;
			}
		}
		if (in->cls == OPC_AWAIT && id >= 0) {
			if (m->phases[id] <= w->waited[id])
				return moved;
			w->waited[id]++;
		}
		w->pos++;
		moved = true;
	}
	return moved;
}

static void report_stuck(struct checker *c, const struct meeting *m)
{
	struct finding *f = NULL;
	bool workgroup = true;

	for (unsigned g = 0; g < c->ngroups; g++)
		if (!m->w[g].ended && c->p->insns[c->track[g].inst[m->w[g].pos].insn].barrier != BAR_WORKGROUP)
			workgroup = false;
	for (unsigned g = 0; g < c->ngroups; g++) {
		const struct insn *in;

		if (m->w[g].ended)
			continue;
		in = &c->p->insns[c->track[g].inst[m->w[g].pos].insn];
		if (f) {
			diag_note(f, in->loc, "group %c stands here", check_group_letter(g));
			continue;
		}
		c->faults++;
		if (workgroup)
			f = diag_add(c->d, in->loc, DIAG_BARRIER,
				     "group %c waits here for ever: its waves arrive %llu times at the workgroup barrier over the "
				     "whole kernel, group %c's %llu times",
				     check_group_letter(g), (unsigned long long)c->out->barriers[g], check_group_letter(g ? 0 : c->ngroups - 1),
				     (unsigned long long)c->out->barriers[g ? 0 : c->ngroups - 1]);
		else
			f = diag_add(c->d, in->loc, DIAG_BARRIER, "group %c waits here for ever: too few signals ever arrive",
				     check_group_letter(g));
	}
	for (unsigned g = 0; f && g < c->ngroups; g++)
		if (m->w[g].ended && c->track[g].n)
			diag_note(f, c->p->insns[c->track[g].inst[c->track[g].n - 1].insn].loc, "group %c has ended", check_group_letter(g));
	if (f)
		diag_fix(f, "make the counts of all groups equal on every path");
}

static void check_meetings(struct checker *c)
{
	struct meeting m;
	bool moved = true;
	size_t from;

	memset(&m, 0, sizeof(m));
	while (moved) {
		bool all = true, any = false;

		moved = false;
		for (unsigned g = 0; g < c->ngroups; g++) {
			from = m.w[g].pos;
			moved |= advance(c, &m, g);
			if (c->bytes)
				check_bytes_visit(c, g, from, m.w[g].pos);
		}
		for (unsigned g = 0; g < c->ngroups; g++) {
			all &= m.w[g].ended || m.w[g].at_barrier;
			any |= m.w[g].at_barrier;
		}
		/* an ended group no longer takes part, as on the hardware; but the counts then differ */
		for (unsigned g = 0; all && any && g < c->ngroups; g++)
			all &= !m.w[g].ended;
		if (all && any) {
			for (unsigned g = 0; g < c->ngroups; g++) {
				m.w[g].at_barrier = false;
				m.w[g].pos++;
			}
			moved = true;
		}
	}
	for (unsigned g = 0; g < c->ngroups; g++)
		if (!m.w[g].ended) {
			if (!c->quiet)
				report_stuck(c, &m);
			else
				c->faults++;
			return;
		}
}

/* A split, named or cluster barrier whose arrivals do not add up to its members. */
static void check_members(struct checker *c)
{
	const struct program *p = c->p;

	for (uint32_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		bool cluster = in->barrier == BAR_CLUSTER;
		unsigned arrivals = (unsigned)__builtin_popcount(check_waves_of(p, in)), want = in->members ? in->members : cluster ? 1 : 0;
		struct finding *f;

		if (in->cls != OPC_SIGNAL || in->barrier == BAR_WORKGROUP || in->barrier == BAR_NULL || !want || !arrivals)
			continue;
		if (cluster ? want == 1 && arrivals == 1 : want % arrivals == 0)
			continue;
		c->faults++;
		if (c->quiet || !check_once(c, DIAG_BARRIER, (uint32_t)in->loc.begin, (uint32_t)in->barrier))
			continue;
		if (cluster)
			f = diag_add(c->d, in->loc, DIAG_BARRIER,
				     "a cluster barrier counts one arrival a workgroup: with %u it is released early",
				     want > 1 ? want : arrivals);
		else
			f = diag_add(c->d, in->loc, DIAG_BARRIER, "%u arrivals complete this barrier, but %u waves signal it", want, arrivals);
		f->required = cluster ? 1 : arrivals;
		f->present = cluster && want == 1 ? arrivals : want;
	}
}

/*
 * A wave keeps one bit for a barrier that was complete since its last wait. When it signals twice before a wait, the
 * second completion may come before that wait too, and one more wait, without a signal, then lasts for ever.
 */
static void check_repeats(struct checker *c, unsigned g)
{
	const struct track *t = &c->track[g];
	uint32_t unwaited[PROG_MAX_WAVES][CHECK_IDS] = { { 0 } }, lost[PROG_MAX_WAVES][CHECK_IDS] = { { 0 } };

	for (uint32_t pos = 0; pos < t->n; pos++) {
		const struct insn *in = &c->p->insns[t->inst[pos].insn];
		int id = check_id_index(in->barrier);
		uint32_t waves = check_waves_of(c->p, in) & group_mask(c, g);
		struct finding *f;
		char when[96];
		bool short_of = false;

		if (id < 0 || (in->cls != OPC_SIGNAL && in->cls != OPC_AWAIT))
			continue;
		for (; waves; waves &= waves - 1) {
			unsigned w = (unsigned)__builtin_ctz(waves);
			uint32_t *n = &unwaited[w][id];

			if (in->cls == OPC_SIGNAL) {
				(*n)++;
				continue;
			}
			short_of |= !*n && lost[w][id];
			lost[w][id] += *n ? *n - 1 : 0;
			*n = 0;
		}
		if (!short_of)
			continue;
		c->faults++;
		if (c->quiet || !check_once(c, DIAG_BARRIER, t->inst[pos].insn, (uint32_t)in->barrier))
			continue;
		f = diag_add(c->d, in->loc, DIAG_BARRIER,
			     "may wait for ever: the wave has signalled this barrier more than once before an earlier wait, and of several "
			     "completions it notices one (group %c, %s)", check_group_letter(g), check_when(c, g, pos, when, sizeof(when)));
		diag_fix(f, "wait behind each signal before the next one");
	}
}

static int run_followed(struct checker *c)
{
	int r;

	c->arena = arena_new();
	r = check_build_tracks(c);
	if (r == 0) {
		count_arrivals(c);
		check_bytes_begin(c);
		check_meetings(c);
		check_bytes_end(c);
		for (unsigned g = 0; g < c->ngroups; g++)
			check_repeats(c, g);
		check_regs(c);
		check_judge_orders(c);
	}
	check_free_tracks(c);
	free(c->orders);
	free(c->reported);
	arena_free(c->arena);
	return r;
}

static int run(struct checker *c)
{
	int r;

	c->arena = arena_new();
	r = check_build_tracks(c);
	if (r == 0) {
		count_arrivals(c);
		check_meetings(c);
		check_members(c);
		for (unsigned g = 0; g < c->ngroups; g++)
			check_repeats(c, g);
		check_data(c);
		check_regs(c);
		check_published(c);
		check_judge_orders(c);
	}
	check_free_tracks(c);
	free(c->orders);
	free(c->reported);
	arena_free(c->arena);
	return r;
}

static bool has_edge_variant(const struct program *p)
{
	for (size_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].flags & (INSN_EDGE_ABSENT | INSN_EDGE_ONLY))
			return true;
	return false;
}

/* A wait must hold for edge tiles too: both variants list the same waits. */
static void merge_waits(struct check_result *out, const struct check_result *edge)
{
	for (size_t i = 0; i < out->nwaits && i < edge->nwaits; i++) {
		struct check_wait *w = &out->waits[i];
		const struct check_wait *e = &edge->waits[i];

		if (e->needed && (!w->needed || e->required < w->required))
			*w = *e;
	}
}

/* Only what the full tiles do not show already is reported for edge tiles. */
static int run_edge(const struct program *p, struct check_result *full, struct diag *d)
{
	struct check_result out;
	struct checker c = { .p = p, .d = d, .out = &out, .ngroups = p->groups, .masked = NO_POS, .edge = true };
	int r;

	memset(&out, 0, sizeof(out));
	r = run(&c);
	if (r == 0)
		merge_waits(full, &out);
	check_result_free(&out);
	return r;
}

int check_program(const struct program *p, struct check_result *out, struct diag *d)
{
	struct checker c = { .p = p, .d = d, .out = out, .ngroups = p->groups, .masked = NO_POS };

	memset(out, 0, sizeof(*out));
	if (run(&c) < 0)
		return -1;
	if (c.faults == 0 && has_edge_variant(p) && run_edge(p, out, d) < 0)
		return -1;
	check_report_strong(&c);
	return 0;
}

int check_followed(const struct program *p, const struct check_paths *paths, struct check_result *out, struct diag *d)
{
	struct checker c = { .p = p, .d = d, .out = out, .ngroups = paths->groups, .masked = NO_POS, .paths = paths };

	memset(out, 0, sizeof(*out));
	if (run_followed(&c) < 0)
		return -1;
	check_report_strong(&c);
	return 0;
}

void check_result_free(struct check_result *r)
{
	free(r->waits);
	free(r->spare);
	memset(r, 0, sizeof(*r));
}

/* Faults of p without the barrier at this place, or with all of them for NO_POS. */
static size_t faults_without(const struct program *p, uint32_t barrier)
{
	struct check_result out;
	struct diag d;
	struct checker c = { .p = p, .d = &d, .out = &out, .ngroups = p->groups, .masked = barrier, .quiet = true };
	int r;

	memset(&out, 0, sizeof(out));
	diag_init(&d);
	r = run(&c);
	check_result_free(&out);
	diag_free(&d);
	return r < 0 ? 1 : c.faults;
}

static bool in_loop(const struct program *p, uint32_t insn)
{
	for (size_t l = 0; l < p->nloops; l++)
		if (insn >= p->loops[l].begin && insn < p->loops[l].end)
			return true;
	return false;
}

#define SPARE_MAX_PLACES 128 /* written barriers looked at: each takes an examination of the program */

size_t check_spare_barriers(const struct program *p, struct check_result *out)
{
	uint32_t place[SPARE_MAX_PLACES];
	size_t cap = 0, nplaces = 0;

	if (faults_without(p, NO_POS))
		return 0;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		bool seen = false;

		if (in->barrier != BAR_WORKGROUP || (in->cls != OPC_BARRIER && in->cls != OPC_SIGNAL))
			continue;
		if ((in->flags & INSN_IMPLIED) && !in_loop(p, i))
			continue; /* the groups' offset */
		for (size_t k = 0; k < nplaces && !seen; k++)
			seen = place[k] == in->loc.begin;
		if (seen)
			continue;
		if (nplaces == SPARE_MAX_PLACES)
			break;
		place[nplaces++] = in->loc.begin;
		if (faults_without(p, i))
			continue;
		out->spare = xgrow(out->spare, out->nspare, &cap, sizeof(*out->spare));
		out->spare[out->nspare++] = i;
	}
	return out->nspare;
}
