/*
 * Barriers: the workgroup's, named ones, the cluster's. A barrier counts signals; when all members have
 * signalled its phase is over, and waves that wait for it go on.
 */
#include "exec_core.h"

#include <stdlib.h>

#define CLOCKS ARRAY_LEN(((struct xbarrier *)0)->clock)

static struct xclock *clock_of(struct xbarrier *b, uint64_t phase)
{
	struct xclock **c = &b->clock[phase % CLOCKS];

	if (!*c)
		*c = xcalloc(1, sizeof(**c));
	return *c;
}

/* What the next phase's waves see begins with what this one's have seen: late waves lose nothing. */
static void next_phase(struct xbarrier *b)
{
	*clock_of(b, b->phase + 1) = *clock_of(b, b->phase);
	b->phase++;
	b->signals = 0;
}

void barriers_init(struct xgroup *g)
{
	for (unsigned i = 0; i < X_NAMED; i++)
		g->bar[i].members = 0;
	g->cluster_signalled = 0;
}

void barrier_free(struct xbarrier *b)
{
	for (unsigned i = 0; i < CLOCKS; i++)
		free(b->clock[i]);
	*b = (struct xbarrier){ 0 };
}

void barriers_free(struct xgroup *g)
{
	for (unsigned i = 0; i < X_NAMED; i++)
		barrier_free(&g->bar[i]);
}

static unsigned live_waves(const struct xgroup *g)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->nwaves; i++)
		n += g->wave[i].core->state != XW_DONE;
	return n;
}

static unsigned live_groups(const struct xcluster *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++)
		n += live_waves(&c->group[i]) != 0;
	return n;
}

static unsigned needed(const struct xwave *w, const struct xbarrier *b)
{
	if (b == &w->wg->cluster->bar)
		return live_groups(w->wg->cluster);
	return b->members ? b->members : live_waves(w->wg);
}

static void signal_barrier(struct xwave *w, struct xbarrier *b, uint32_t at)
{
	x_race_arrive(w, clock_of(b, b->phase));
	b->signals++;
	b->signalled_at = at;
	if (b->signals >= needed(w, b))
		next_phase(b);
}

static void block(struct xwave *w, const struct xinsn *in, struct xbarrier *b, uint64_t phase)
{
	w->core->state = XW_BARRIER;
	w->core->barrier = b;
	w->core->phase = phase;
	w->core->waits_at = in->index;
}

/*
 * A wave keeps one bit for a barrier: it was complete since the wave's last wait. Of several completions in between it
 * notices one, or each when it is quick; what it may rely on is one for each of its signals.
 */
bool sync_released(struct xwave *w)
{
	struct xcore *c = w->core;
	struct xbarrier *b = c->barrier;

	if (b->phase <= c->phase)
		return false;
	x_race_release(w, clock_of(b, b->phase - c->phase >= CLOCKS ? b->phase - CLOCKS + 1 : c->phase));
	if (b != &w->wg->cluster->bar)
		c->seen[b - w->wg->bar] = c->by_signal ? c->phase + 1 : b->phase;
	c->state = XW_RUN;
	return true;
}

/*
 * A wave that ends no longer counts. When another one comes to the workgroup's barrier once more, and the one that
 * ended has taken part before, their counts differ: the hardware goes on, but stages have shifted against each other.
 * Waves that leave before their first barrier are none of this.
 */
static void unequal(struct xwave *w, const struct xinsn *in)
{
	const struct xgroup *g = w->wg;

	for (unsigned i = 0; i < g->nwaves; i++) {
		const struct xwave *other = &g->wave[i];

		if (other->core->state != XW_DONE || !other->core->barriers || other->core->barriers >= w->core->barriers)
			continue;
		core_report(w, in->index, DIAG_BARRIER, -1, other->core->waits_at, "the other wave ends here",
			    "the wave comes to its barrier number %llu, but wave %u has ended after %llu",
			    (unsigned long long)w->core->barriers, i, (unsigned long long)other->core->barriers);
		return;
	}
}

/* ---- the instructions ---- */

int barrier_op_whole(struct xwave *w, const struct xinsn *in)
{
	struct xbarrier *b = &w->wg->bar[0];
	uint64_t phase = b->phase;

	w->core->by_signal = true;
	w->core->barriers++;
	unequal(w, in);
	signal_barrier(w, b, in->index);
	block(w, in, b, phase);
	return 0;
}

static bool id_in_m0(const struct xinsn *in)
{
	for (unsigned i = 0; i < in->base->nspans; i++)
		if (in->base->span[i].first == REG_M0 && in->base->barrier == BAR_NULL)
			return true;
	return in->n && in->o[0].kind == OPERAND_REG;
}

/* Id of the instruction, and of M0 the members. */
static int barrier_id(const struct xwave *w, const struct xinsn *in)
{
	if (id_in_m0(in))
		return (int)(x_sget(w, REG_M0) & 31);
	return in->n ? (int)(int16_t)in->o[0].bits : in->base->barrier;
}

static unsigned m0_members(const struct xwave *w)
{
	return x_sget(w, REG_M0) >> 16 & 63;
}

static struct xbarrier *barrier_of(struct xwave *w, const struct xinsn *in, int id)
{
	if (id == BAR_WORKGROUP)
		return &w->wg->bar[0];
	if (id == BAR_CLUSTER)
		return &w->wg->cluster->bar;
	if (id >= 1 && id < X_NAMED)
		return &w->wg->bar[id];
	x_fault(w, in, DIAG_BARRIER, -1, "there is no barrier %d here: -1 is the workgroup's, -3 the cluster's, 1 to 16 are named", id);
	return NULL;
}

static uint64_t *arrival(struct xwave *w, const struct xbarrier *b)
{
	return b == &w->wg->cluster->bar ? NULL : &w->core->arrived[b - w->wg->bar];
}

/* The cluster's barrier counts workgroups, and does not look which. */
static int cluster_twice(struct xwave *w, const struct xinsn *in, const struct xbarrier *b)
{
	if (w->wg->cluster->n > 1 && w->wg->cluster_signalled == b->phase + 1)
		return x_fault(w, in, DIAG_BARRIER, -1,
			       "the workgroup signals the cluster's barrier a second time before all others have signalled once: it opens early");
	w->wg->cluster_signalled = b->phase + 1;
	return 0;
}

int barrier_op_signal(struct xwave *w, const struct xinsn *in)
{
	int id = barrier_id(w, in);
	struct xbarrier *b = barrier_of(w, in, id);
	uint64_t *arrived;
	bool first;

	if (!b)
		return -1;
	if (id_in_m0(in) && m0_members(w))
		b->members = m0_members(w);
	arrived = arrival(w, b);
	if (arrived) {
		*arrived = b->phase + 1;
		w->core->unwaited[b - w->wg->bar]++;
	} else if (cluster_twice(w, in, b) < 0) {
		return -1;
	}
	if (b == &w->wg->bar[0]) {
		w->core->barriers++;
		unequal(w, in);
	}
	first = b->signals == 0;
	signal_barrier(w, b, in->index);
	if (in->arg)
		x_set_scc(w, first);
	return 0;
}

/* The wave waits for barrier id: for all of its signals since its last wait. -1: for one that may have gone by unnoticed. */
static int use_signals(struct xwave *w, ptrdiff_t id)
{
	struct xcore *c = w->core;
	uint32_t n = c->unwaited[id];

	c->by_signal = n > 0;
	c->unwaited[id] = 0;
	if (n)
		c->lost[id] += n - 1;
	else if (c->lost[id])
		return -1;
	return 0;
}

int barrier_op_wait(struct xwave *w, const struct xinsn *in)
{
	int id = barrier_id(w, in);
	struct xbarrier *b;
	uint64_t *arrived, phase;

	if (id >= 1 && w->core->joined) /* whatever the id: the one that the wave has joined */
		id = (int)w->core->joined;
	if (id == BAR_NULL)
		return 0;
	b = barrier_of(w, in, id);
	if (!b)
		return -1;
	arrived = arrival(w, b);
	if (!arrived) {
		block(w, in, b, w->core->cluster_waits++);
		return 0;
	}
	if (use_signals(w, b - w->wg->bar) < 0)
		return x_fault(w, in, DIAG_BARRIER, -1,
			       "the wave waits for barrier %d more often than it may notice: it had signalled it more than once before "
			       "an earlier wait, and of several completions it notices one", id);
	phase = w->core->seen[b - w->wg->bar];
	if (id >= 1 && !w->core->joined && *arrived) /* it has no such bit for a barrier that it has not joined */
		phase = *arrived - 1;
	block(w, in, b, phase);
	*arrived = 0;
	return 0;
}

int barrier_op_init(struct xwave *w, const struct xinsn *in)
{
	int id = barrier_id(w, in);
	struct xbarrier *b = barrier_of(w, in, id);

	if (!b)
		return -1;
	if (id < 1)
		return x_fault(w, in, DIAG_BARRIER, -1, "only named barriers, 1 to 16, can be initialised");
	b->members = m0_members(w);
	b->signals = 0;
	return 0;
}

int barrier_op_join(struct xwave *w, const struct xinsn *in)
{
	int id = barrier_id(w, in);

	const struct xbarrier *b = id ? barrier_of(w, in, id) : NULL;

	if (id && !b)
		return -1;
	w->core->joined = id > 0 ? (unsigned)id : 0;
	if (w->core->joined)
		w->core->seen[id] = b->phase;
	return 0;
}

int barrier_op_leave(struct xwave *w, const struct xinsn *in)
{
	struct xbarrier *b = &w->wg->bar[w->core->joined];

	(void)in;
	x_set_scc(w, w->core->joined != 0);
	if (!w->core->joined)
		return 0;
	w->core->joined = 0;
	if (b->members > 1)
		b->members--;
	if (b->signals && b->signals >= needed(w, b))
		next_phase(b);
	return 0;
}

/* ---- ends and deadlocks ---- */

/* See unequal: here the others have come already. */
void barriers_leave(struct xwave *w, const struct xinsn *in)
{
	struct xbarrier *b = &w->wg->bar[0];
	struct xcluster *c = w->wg->cluster;

	w->core->state = XW_DONE;
	w->core->waits_at = in->index;
	if (b->signals && w->core->arrived[0] == b->phase + 1)
		b->signals--;
	if (b->signals && b->signals >= live_waves(w->wg)) {
		if (w->core->barriers)
			core_report(w, in->index, DIAG_BARRIER, -1, b->signalled_at, "it is left alone here",
				    "wave %u ends after %llu barriers of the workgroup, and another wave arrives once more", w->id,
				    (unsigned long long)w->core->barriers);
		next_phase(b);
	}
	if (c->bar.signals && c->bar.signals >= live_groups(c))
		next_phase(&c->bar);
}

static bool waits(const struct xwave *w)
{
	return w->core->state == XW_BARRIER;
}

static void list_waits(const struct xcluster *c, struct strbuf *b)
{
	unsigned shown = 0;

	for (unsigned g = 0; g < c->n; g++)
		for (unsigned i = 0; i < c->group[g].nwaves; i++) {
			const struct xwave *w = &c->group[g].wave[i];
			unsigned last = i;

			if (!waits(w))
				continue;
			while (last + 1 < c->group[g].nwaves && waits(&w[last + 1 - i]) && w[last + 1 - i].core->waits_at == w->core->waits_at)
				last++;
			if (shown++ < 8)
				strbuf_add(b, "%s%s %u", b->len ? ", " : "", last > i ? "waves" : "wave", i);
			if (shown <= 8 && last > i)
				strbuf_add(b, "-%u", last);
			if (shown <= 8 && c->n > 1)
				strbuf_add(b, " of workgroup %u", g);
			if (shown <= 8)
				strbuf_add(b, " in line %u", loc_line(c->run->prog->p->insns[w->core->waits_at].loc));
			i = last;
		}
}

void sync_deadlock(struct xcluster *c)
{
	struct xwave *first = NULL, *other = NULL;
	struct strbuf b = { 0 };

	for (unsigned g = 0; g < c->n; g++)
		for (unsigned i = 0; i < c->group[g].nwaves; i++) {
			struct xwave *w = &c->group[g].wave[i];

			if (!waits(w))
				continue;
			if (!first)
				first = w;
			else if (!other && w->core->waits_at != first->core->waits_at)
				other = w;
		}
	if (!first)
		return;
	list_waits(c, &b);
	core_report(first, first->core->waits_at, DIAG_DEADLOCK, -1, other ? other->core->waits_at : UINT32_MAX,
		    other ? "other waves wait here" : NULL, "no wave can go on: %s", b.s ? b.s : "all wait");
	strbuf_free(&b);
}
