/* Waits: values of "n copy groups may remain", waits for register dependences, and spacing nops. */
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

#define NONE 0xff
#define MAX_TRIPS_BACK 64u
#define MAX_ROUNDS 12

/* ---- copy groups ---- */

struct walk {
	const struct lower *lw;
	uint32_t at;      /* next instruction to look at, going backwards, is at - 1 */
	uint64_t left[64]; /* trips still in front of the current one, of each loop */
};

static int loop_that_begins(const struct lower *lw, uint32_t at)
{
	for (size_t l = 0; l < lw->p->nloops; l++)
		if (lw->p->loops[l].begin == at)
			return (int)l;
	return -1;
}

/* Step to the instruction executed before; false at the program's start. */
static bool walk_back(struct walk *w)
{
	int l = loop_that_begins(w->lw, w->at);

	if (l >= 0 && l < 64 && w->left[l]) {
		w->left[l]--;
		w->at = w->lw->p->loops[l].end;
	}
	if (w->at == 0)
		return false;
	w->at--;
	return true;
}

/*
 * Operations on counter c that are younger than the newest keep copy groups' elder neighbour, as seen
 * after trips back edges of the loop around the wait. -1: fewer groups were ever issued.
 */
static int groups_value(const struct lower *lw, const struct group_wait *gw, unsigned group, int c, uint64_t trips)
{
	const struct program *p = lw->p;
	struct walk w = { .lw = lw, .at = gw->insn };
	unsigned seen = 0, ops = 0;
	size_t steps = 0;

	for (size_t l = 0; l < p->nloops && l < 64; l++) {
		const struct loop *lp = &p->loops[l];
		bool inside = gw->insn >= lp->begin && gw->insn < lp->end;

		w.left[l] = inside ? trips : lp->trips - 1 < MAX_TRIPS_BACK ? lp->trips - 1 : MAX_TRIPS_BACK;
	}
	while (walk_back(&w) && steps++ < 4u * PROG_MAX_INSNS) {
		const struct insn *in = &p->insns[w.at];

		if (!(in->groups >> group & 1) || (in->flags & INSN_EDGE_ONLY))
			continue;
		if (lw->mark[w.at] & MARK_COMMIT)
			seen++;
		if (seen > gw->keep && (lw->mark[w.at] & MARK_COPY))
			return (int)ops;
		if (in->counter == c)
			ops += in->repeat;
		if (ops > lw->t->counters[c].max)
			return (int)lw->t->counters[c].max;
	}
	return -1;
}

static unsigned groups_wait_value(const struct lower *lw, const struct group_wait *gw)
{
	const struct insn *in = &lw->p->insns[gw->insn];
	int c = in->wait[0].counter, best = (int)lw->t->counters[c].max;

	for (unsigned g = 0; g < lw->s->groups; g++) {
		if (!(in->groups >> g & 1))
			continue;
		for (uint64_t trips = 0; trips <= MAX_TRIPS_BACK; trips++) {
			const struct loop *lp = NULL;
			int v;

			for (size_t l = 0; l < lw->p->nloops; l++)
				if (gw->insn >= lw->p->loops[l].begin && gw->insn < lw->p->loops[l].end)
					lp = &lw->p->loops[l];
			if (trips && (!lp || trips >= lp->trips))
				break;
			v = groups_value(lw, gw, g, c, trips);
			if (v >= 0 && v < best)
				best = v;
			if (v >= 0 && trips > 2 && lp && lp->trips > 8 && trips > gw->keep + 2)
				break; /* every older trip looks the same */
		}
	}
	return (unsigned)best;
}

void waits_groups(struct lower *lw)
{
	for (size_t i = 0; i < lw->ngw; i++) {
		struct group_wait *gw = &lw->gw[i];
		struct insn *in = &lw->p->insns[gw->insn];
		unsigned value = groups_wait_value(lw, gw), more;

		/* the most groups that are no more than so many operations */
		while (gw->ops >= 0 && gw->keep < lw->t->counters[in->wait[0].counter].max) {
			gw->keep++;
			more = groups_wait_value(lw, gw);
			if (more > (unsigned)gw->ops || more <= value) {
				gw->keep--;
				break;
			}
			value = more;
		}
		in->wait[0].value = (uint8_t)value;
		if (target_is_ptx(lw->t))
			in->imm = (uint8_t)gw->keep;
	}
}

/* ---- register dependences ---- */

/* What is known before an instruction: for each counter and register, how many operations on the
 * counter were issued after the load that the register still waits for; NONE: nothing outstanding. */
struct pending {
	uint8_t age[CTR_COUNT][REG_COUNT];
	bool any[CTR_COUNT];       /* some register is outstanding */
	uint16_t lo[CTR_COUNT], hi[CTR_COUNT]; /* none outside [lo, hi) is */
	bool unordered[CTR_COUNT]; /* a scalar load may be outstanding: only 0 is safe */
};

struct needs {
	uint8_t v[CTR_COUNT]; /* NONE: no wait */
};

static void pending_clear(struct pending *s)
{
	memset(s, 0, sizeof(*s));
	memset(s->age, NONE, sizeof(s->age));
	for (int c = 0; c < CTR_COUNT; c++)
		s->lo[c] = REG_COUNT;
}

static void pending_merge(struct pending *into, const struct pending *from)
{
	for (int c = 0; c < CTR_COUNT; c++) {
		into->any[c] |= from->any[c];
		into->unordered[c] |= from->unordered[c];
		if (from->lo[c] < into->lo[c])
			into->lo[c] = from->lo[c];
		if (from->hi[c] > into->hi[c])
			into->hi[c] = from->hi[c];
		for (int r = from->lo[c]; r < from->hi[c]; r++)
			if (from->age[c][r] < into->age[c][r])
				into->age[c][r] = from->age[c][r];
	}
}

static void pending_wait(struct pending *s, int c, unsigned value)
{
	if (value == 0)
		s->unordered[c] = false;
	if (!s->any[c] || (s->unordered[c] && value))
		return;
	s->any[c] = false;
	for (int r = s->lo[c]; r < s->hi[c]; r++) {
		if (s->age[c][r] != NONE && s->age[c][r] >= value)
			s->age[c][r] = NONE;
		s->any[c] |= s->age[c][r] != NONE;
	}
	if (!s->any[c]) {
		s->lo[c] = REG_COUNT;
		s->hi[c] = 0;
	}
}

static void pending_issue(const struct target *t, struct pending *s, int c, unsigned times)
{
	unsigned max = t->counters[c].max < 254 ? t->counters[c].max : 254;

	if (!s->any[c])
		return;
	for (int r = s->lo[c]; r < s->hi[c]; r++)
		if (s->age[c][r] != NONE)
			s->age[c][r] = (uint8_t)(s->age[c][r] + times < max ? s->age[c][r] + times : max);
}

static bool is_load(enum opclass c)
{
	return c == OPC_LDS_READ || c == OPC_LDS_PERMUTE || c == OPC_VMEM_LOAD || c == OPC_SMEM;
}

static void find_needs(const struct target *t, const struct pending *s, const struct insn *in, struct needs *n)
{
	memset(n->v, NONE, sizeof(n->v));
	for (int c = 0; c < CTR_COUNT; c++) {
		if (!s->any[c])
			continue;
		for (unsigned k = 0; k < in->nspans; k++) {
			/* results of one kind come back in order: an older load to the same register is harmless */
			if (in->role[k] == ROLE_DST && is_load(in->cls) && in->counter == c && in->cls != OPC_SMEM &&
			    !s->unordered[c])
				continue;
			for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++)
				if (s->age[c][r] < n->v[c])
					n->v[c] = s->age[c][r];
		}
		if (n->v[c] != NONE && s->unordered[c])
			n->v[c] = 0;
		if (n->v[c] != NONE && n->v[c] > t->counters[c].max)
			n->v[c] = (uint8_t)t->counters[c].max;
	}
}

/* One instruction's effect; *n gets the waits that must stand in front of it. */
static void step(const struct target *t, struct pending *s, const struct insn *in, struct needs *n)
{
	unsigned times = in->flags & (INSN_EDGE_ONLY | INSN_EDGE_ABSENT) ? 0 : in->repeat; /* hold on both kinds of tile */

	memset(n->v, NONE, sizeof(n->v));
	for (unsigned w = 0; w < in->nwait; w++)
		if (!(in->flags & (INSN_EDGE_ONLY | INSN_EDGE_ABSENT)))
			pending_wait(s, in->wait[w].counter, in->wait[w].value);
	find_needs(t, s, in, n);
	for (int c = 0; c < CTR_COUNT; c++)
		if (n->v[c] != NONE)
			pending_wait(s, c, n->v[c]);
	if (in->counter < 0)
		return;
	pending_issue(t, s, in->counter, times);
	if (!is_load(in->cls))
		return;
	if (in->cls == OPC_SMEM)
		s->unordered[(int)in->counter] = true;
	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first; in->role[k] == ROLE_DST && r < in->span[k].first + (unsigned)in->span[k].n &&
		     r < REG_COUNT; r++) {
			s->age[(int)in->counter][r] = 0;
			s->any[(int)in->counter] = true;
			if (r < s->lo[(int)in->counter])
				s->lo[(int)in->counter] = (uint16_t)r;
			if (r >= s->hi[(int)in->counter])
				s->hi[(int)in->counter] = (uint16_t)(r + 1);
		}
}

static void run_range(struct lower *lw, unsigned g, uint32_t lo, uint32_t hi, struct pending *s, struct needs *out)
{
	for (uint32_t i = lo; i < hi; i++) {
		const struct insn *in = &lw->p->insns[i];

		if (in->groups >> g & 1)
			step(lw->t, s, in, &out[i]);
	}
}

/* Until the state at the loop's head, entry and back edge together, is its own image. */
static void run_loop(struct lower *lw, unsigned g, const struct loop *l, struct pending *s, struct needs *out)
{
	struct pending *entry = xmalloc(sizeof(*entry)), *head = xmalloc(sizeof(*head)), *end = xmalloc(sizeof(*end));
	unsigned round = 0;

	*entry = *s;
	*head = *s;
	for (;;) {
		*end = *head;
		run_range(lw, g, l->begin, l->end, end, out);
		if (l->trips < 2)
			break;
		*s = round++ < MAX_ROUNDS ? *entry : *head; /* later rounds only ever add: that must end */
		pending_merge(s, end);
		if (memcmp(s, head, sizeof(*s)) == 0)
			break;
		*head = *s;
	}
	*s = *end;
	free(entry);
	free(head);
	free(end);
}

static void run_group(struct lower *lw, unsigned g, struct needs *out)
{
	struct pending *s = xmalloc(sizeof(*s));
	uint32_t at = 0;

	pending_clear(s);
	while (at < lw->p->ninsns) {
		uint32_t next = (uint32_t)lw->p->ninsns;
		const struct loop *l = NULL;

		for (size_t i = 0; i < lw->p->nloops; i++)
			if (lw->p->loops[i].begin >= at && lw->p->loops[i].begin < next) {
				l = &lw->p->loops[i];
				next = l->begin;
			}
		run_range(lw, g, at, next, s, out);
		at = next;
		if (!l)
			break;
		if (l->groups >> g & 1)
			run_loop(lw, g, l, s, out);
		at = l->end;
	}
	free(s);
}

static void wait_insn(struct lower *lw, struct insertion *ins, uint32_t before, uint8_t groups, const struct needs *n,
		      int only)
{
	const struct insn *in = &lw->p->insns[before];
	struct insn *w = &ins->insn;

	memset(ins, 0, sizeof(*ins));
	ins->before = before;
	w->cls = OPC_WAIT;
	w->groups = groups;
	w->flags = (uint8_t)(INSN_AUTO_WAIT | (in->flags & (INSN_EDGE_ONLY | INSN_EDGE_ABSENT)));
	w->size = 4;
	w->counter = w->barrier = 0;
	w->counter = -1;
	w->repeat = 1;
	w->access = w->loop = -1;
	w->stage = in->stage;
	w->loc = in->loc;
	for (int c = 0; c < CTR_COUNT && w->nwait < ARRAY_LEN(w->wait); c++) {
		if (n->v[c] == NONE || (only >= 0 && c != only))
			continue;
		w->op = wait_name(lw->t, c);
		w->wait[w->nwait].counter = (int8_t)c;
		w->wait[w->nwait++].value = n->v[c];
	}
}

static bool no_needs(const struct needs *n)
{
	for (int c = 0; c < CTR_COUNT; c++)
		if (n->v[c] != NONE)
			return false;
	return true;
}

/* Waits in front of instruction i: one for all groups that need the same, split per counter on gfx12. */
static void list_waits(struct lower *lw, uint32_t i, struct needs *const *out, struct insertion **list, size_t *n, size_t *cap)
{
	uint8_t done = 0;

	for (unsigned g = 0; g < lw->s->groups; g++) {
		uint8_t same = 0;

		if ((done >> g & 1) || !(lw->p->insns[i].groups >> g & 1) || no_needs(&out[g][i]))
			continue;
		for (unsigned h = g; h < lw->s->groups; h++)
			if ((lw->p->insns[i].groups >> h & 1) && memcmp(&out[g][i], &out[h][i], sizeof(out[g][i])) == 0)
				same |= (uint8_t)(1u << h);
		done |= same;
		for (int c = 0; c < CTR_COUNT; c++) {
			bool split = lw->t->counters[CTR_DS].present;

			if (split ? out[g][i].v[c] == NONE : c > 0)
				continue;
			*list = xgrow(*list, *n, cap, sizeof(**list));
			wait_insn(lw, &(*list)[(*n)++], i, same, &out[g][i], split ? c : -1);
		}
	}
}

/* Where the hardware holds the instruction that needs a register, the wait is that instruction's own. */
static void carry_waits(struct lower *lw, uint32_t i, struct needs *const *out)
{
	struct insn *in = &lw->p->insns[i];

	for (int c = 0; c < CTR_COUNT && in->nwait < ARRAY_LEN(in->wait); c++) {
		uint8_t least = NONE;

		for (unsigned g = 0; g < lw->s->groups; g++)
			if ((in->groups >> g & 1) && out[g][i].v[c] < least)
				least = out[g][i].v[c];
		if (least == NONE)
			continue;
		in->wait[in->nwait].counter = (int8_t)c;
		in->wait[in->nwait++].value = least;
	}
}

int waits_auto(struct lower *lw)
{
	struct needs *out[PROG_MAX_GROUPS] = { NULL };
	struct insertion *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (!lw->s->auto_waits)
		return 0;
	for (unsigned g = 0; g < lw->s->groups; g++) {
		out[g] = xmalloc(lw->p->ninsns * sizeof(*out[g]));
		memset(out[g], NONE, lw->p->ninsns * sizeof(*out[g]));
		run_group(lw, g, out[g]);
	}
	for (uint32_t i = 0; i < lw->p->ninsns; i++)
		if (target_is_ptx(lw->t))
			carry_waits(lw, i, out);
		else
			list_waits(lw, i, out, &list, &n, &cap);
	rc = insert_insns(lw, list, n);
	for (unsigned g = 0; g < lw->s->groups; g++)
		free(out[g]);
	free(list);
	return rc;
}
