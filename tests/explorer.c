#include "explorer_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *explore_fault_name(enum explore_fault f)
{
	static const char *const name[] = {
		"none", "tile", "read", "refill", "register", "unloaded", "operand", "accumulator", "barrier", "deadlock",
	};
	return name[f];
}

/* ---- verdicts ---- */

void explorer_fault(struct x_prog *x, enum explore_fault f, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	if (x->stop)
		return;
	va_start(ap, fmt);
	strbuf_addv(&b, fmt, ap);
	va_end(ap);
	x->stop = true;
	x->r->verdict = EXPLORE_FAULT;
	x->r->fault = f;
	x->r->text = b.s;
}

void x_too_large(struct x_prog *x, const char *why)
{
	if (x->stop)
		return;
	x->stop = true;
	x->r->verdict = EXPLORE_TOO_LARGE;
	x->r->text = xstrdup(why);
}

const char *x_step_name(const struct x_prog *x, unsigned wave, uint32_t step)
{
	static char buf[4][160];
	static unsigned turn;
	char *s = buf[turn++ % 4];
	const struct x_step *st = &x->line[wave].step[step];
	const struct insn *in = &x->p->insns[st->insn];
	int n = snprintf(s, sizeof(buf[0]), "wave %u insn %u (%s)", wave, st->insn, opclass_name(in->cls));

	if (st->trip >= 0)
		n += snprintf(s + n, sizeof(buf[0]) - (size_t)n, " trip %" PRId64, st->trip);
	if (st->op >= 0 && in->access >= 0)
		snprintf(s + n, sizeof(buf[0]) - (size_t)n, " tile %" PRId64, x->ops[st->op].tile);
	return s;
}

unsigned x_group(const struct program *p, unsigned wave)
{
	return wave / (p->waves / p->groups);
}

/* ---- barriers ---- */

int x_id(const struct x_prog *x, int barrier)
{
	for (unsigned i = 0; i < x->nids; i++)
		if (x->id[i] == barrier)
			return (int)i;
	return -1;
}

unsigned x_members(const struct x_prog *x, const struct insn *in, unsigned live)
{
	(void)x;
	if (in->members)
		return in->members;
	return in->barrier == BAR_CLUSTER ? 1 : live;
}

static bool is_split(const struct insn *in)
{
	return (in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT) && in->barrier != BAR_NULL;
}

static void find_ids(struct x_prog *x)
{
	for (size_t i = 0; i < x->p->ninsns; i++) {
		const struct insn *in = &x->p->insns[i];

		if (!is_split(in) || x_id(x, in->barrier) >= 0)
			continue;
		if (x->nids == X_MAX_IDS) {
			x_too_large(x, "split barriers");
			return;
		}
		x->id[x->nids++] = in->barrier;
	}
}

static unsigned count_barriers(const struct x_prog *x, unsigned w, enum opclass c, int id)
{
	unsigned n = 0;

	for (size_t i = 0; i < x->line[w].n; i++) {
		const struct insn *in = &x->p->insns[x->line[w].step[i].insn];

		n += in->cls == c && (c == OPC_BARRIER || in->barrier == id);
	}
	return n;
}

/* Whether a barrier takes every wave that has not ended. */
static bool counts_live(const struct x_prog *x, int id)
{
	for (size_t i = 0; i < x->p->ninsns; i++)
		if (x->p->insns[i].cls == OPC_SIGNAL && x->p->insns[i].barrier == id && x->p->insns[i].members == 0)
			return id != BAR_CLUSTER;
	return false;
}

/*
 * A wave that ends leaves the barrier, so unequal numbers need not hang; they still mean that the
 * groups do not meet where they were meant to.
 */
static void check_barrier_counts(struct x_prog *x)
{
	for (unsigned w = 0; w < x->p->waves; w++) {
		unsigned n = count_barriers(x, w, OPC_BARRIER, 0), n0 = count_barriers(x, 0, OPC_BARRIER, 0);

		if (n != n0)
			explorer_fault(x, FAULT_BARRIER, "wave %u passes %u barriers, wave 0 %u", w, n, n0);
		for (unsigned i = 0; i < x->nids; i++) {
			if (!counts_live(x, x->id[i]))
				continue;
			n = count_barriers(x, w, OPC_SIGNAL, x->id[i]);
			n0 = count_barriers(x, 0, OPC_SIGNAL, x->id[i]);
			if (n != n0)
				explorer_fault(x, FAULT_BARRIER, "wave %u signals %u times, wave 0 %u", w, n, n0);
			n0 = count_barriers(x, w, OPC_AWAIT, x->id[i]);
			if (n != n0)
				explorer_fault(x, FAULT_BARRIER, "wave %u signals %u times and waits %u times", w, n, n0);
		}
	}
}

/*
 * Of several completions since its last wait a wave notices one: a wait behind two of its own signals may use up both,
 * and a further wait then has none left. The search counts phases, which lose nothing: that is why this is judged here.
 */
static void check_unwaited(struct x_prog *x, unsigned w)
{
	unsigned n[X_MAX_IDS] = { 0 }, gone[X_MAX_IDS] = { 0 };

	for (size_t i = 0; i < x->line[w].n && !x->stop; i++) {
		const struct insn *in = &x->p->insns[x->line[w].step[i].insn];
		int id = is_split(in) ? x_id(x, in->barrier) : -1;

		if (id < 0)
			continue;
		if (in->cls == OPC_SIGNAL) {
			n[id]++;
			continue;
		}
		if (!n[id] && gone[id])
			explorer_fault(x, FAULT_BARRIER, "%s may wait for ever: %u signals were used up at once",
				       x_step_name(x, w, (uint32_t)i), gone[id] + 1);
		gone[id] += n[id] ? n[id] - 1 : 0;
		n[id] = 0;
	}
}

/* ---- the search, one piece of LDS at a time ---- */

enum event_kind { E_OP, E_JOINT, E_SIGNAL, E_AWAIT, E_END }; /* JOINT: all waves pass it together */

struct event {
	enum event_kind kind;
	uint32_t step;
	int32_t op;          /* that touches the piece, -1 */
	uint32_t done;       /* first event that needs the op complete */
	uint16_t awaited;    /* AWAIT: waits of the same id by this wave before */
};

struct lane_events {
	struct event *e;
	size_t n, cap;
};

enum { S_MIXED = 1, S_SOLID = 2 }; /* not known which tile; the tile was complete once */

enum { HOW_JOINT = PROG_MAX_WAVES, HOW_READS };

struct search {
	struct x_prog *x;
	struct lane_events w[PROG_MAX_WAVES];
	struct x_set set;
	/* key: content, flags, arrivals and phases of each split barrier, position of each wave */
	struct state {
		uint32_t tag, flags;
		uint16_t arrived[X_MAX_IDS], phase[X_MAX_IDS];
		uint16_t pos[PROG_MAX_WAVES];
	} s;
	uint32_t at; /* index of s in the set */
	uint64_t *sort; /* pieces searched, see piece_sort */
	size_t nsorts, capsorts;
	bool aligned; /* see waves_aligned */
};

static bool touches(const struct x_op *o, uint32_t piece)
{
	for (size_t j = 0; o->act != X_NONE && j < o->npieces; j++)
		if (o->piece[j] == piece)
			return true;
	return false;
}

static void wave_events(struct search *q, unsigned w, uint32_t piece)
{
	struct x_prog *x = q->x;
	struct lane_events *l = &q->w[w];
	uint16_t awaited[X_MAX_IDS] = { 0 };

	l->n = 0;
	for (uint32_t i = 0; i < x->line[w].n; i++) {
		const struct x_step *s = &x->line[w].step[i];
		const struct insn *in = &x->p->insns[s->insn];
		struct event e = { .step = i, .op = -1 };

		if (s->op >= 0 && touches(&x->ops[s->op], piece)) {
			e.op = s->op;
		} else if (in->cls == OPC_BARRIER) {
			e.kind = E_JOINT;
		} else if (in->cls == OPC_END) {
			e.kind = E_END;
		} else if (is_split(in)) {
			e.kind = in->cls == OPC_SIGNAL ? E_SIGNAL : E_AWAIT;
			if (e.kind == E_AWAIT)
				e.awaited = awaited[x_id(x, in->barrier)]++;
		} else {
			continue;
		}
		l->e = xgrow(l->e, l->n, &l->cap, sizeof(*l->e));
		l->e[l->n++] = e;
	}
}

static void build_events(struct search *q, uint32_t piece)
{
	for (unsigned w = 0; w < q->x->p->waves; w++)
		wave_events(q, w, piece);
	for (unsigned w = 0; w < q->x->p->waves; w++) {
		struct lane_events *l = &q->w[w];

		for (size_t i = 0; i < l->n; i++) {
			size_t j = i;

			if (l->e[i].op < 0)
				continue;
			while (j < l->n && l->e[j].step < q->x->ops[l->e[i].op].done)
				j++;
			/* nobody waits for a wave to end: it may stand in front of its last waits for ever */
			l->e[i].done = j == l->n || l->e[j].kind == E_END ? X_NEVER : (uint32_t)j;
		}
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 31;
}

/*
 * What happens to the piece, the same number for pieces that differ only in which waves of a group do
 * what: all waves of a group run the same instructions, so these need one search.
 */
static uint64_t piece_sort(const struct search *q)
{
	unsigned waves = q->x->p->waves, per = waves / q->x->p->groups;
	uint64_t hash[PROG_MAX_WAVES], all = 0;

	for (unsigned w = 0; w < waves; w++) {
		hash[w] = q->w[w].n;
		for (size_t i = 0; i < q->w[w].n; i++) {
			const struct event *e = &q->w[w].e[i];

			hash[w] = mix(hash[w], e->step);
			if (e->op >= 0)
				hash[w] = mix(mix(hash[w], q->x->ops[e->op].tag), e->done);
		}
	}
	for (unsigned g = 0; g < q->x->p->groups; g++)
		qsort(&hash[g * per], per, sizeof(*hash), by_value);
	for (unsigned w = 0; w < waves; w++)
		all = mix(all, hash[w]);
	return all;
}

static bool searched(struct search *q)
{
	uint64_t sort = piece_sort(q);

	for (size_t i = 0; i < q->nsorts; i++)
		if (q->sort[i] == sort)
			return true;
	q->sort = xgrow(q->sort, q->nsorts, &q->capsorts, sizeof(*q->sort));
	q->sort[q->nsorts++] = sort;
	return false;
}

static bool piece_is_read(const struct search *q)
{
	for (unsigned w = 0; w < q->x->p->waves; w++)
		for (size_t i = 0; i < q->w[w].n; i++)
			if (q->w[w].e[i].op >= 0 && q->x->ops[q->w[w].e[i].op].act == X_SAMPLE)
				return true;
	return false;
}

static void trace_search(struct search *q, unsigned last)
{
	struct strbuf b = { 0 };
	uint32_t path[4096];
	size_t n = 0;

	for (uint32_t i = q->at; i != 0 && n < ARRAY_LEN(path); i = q->set.parent[i])
		path[n++] = i;
	while (n) {
		uint32_t i = path[--n], w = q->set.how[i];
		const struct state *s = (const void *)(q->set.key + (size_t)q->set.parent[i] * q->set.size);

		if (w >= PROG_MAX_WAVES)
			strbuf_add(&b, w == HOW_JOINT ? "\tall waves pass a barrier\n" : "\tall waves read up to a barrier\n");
		else
			strbuf_add(&b, "\t%s\n", x_step_name(q->x, w, q->w[w].e[s->pos[w]].step));
	}
	if (last < PROG_MAX_WAVES)
		strbuf_add(&b, "\t%s\n", x_step_name(q->x, last, q->w[last].e[q->s.pos[last]].step));
	q->x->r->trace = b.s;
}

static void state_add(struct search *q, const struct state *s, unsigned how)
{
	if (!x_set_add(&q->set, s, q->at, how))
		x_too_large(q->x, "states");
}

static bool running(const struct search *q, unsigned v, uint32_t i, unsigned w, uint32_t now)
{
	const struct event *f = &q->w[v].e[i];

	return f->op >= 0 && (v == w ? f->done > now : f->done >= q->s.pos[v]);
}

/* The same tile written once more over itself changes no byte. */
static bool harmless(const struct search *q, const struct x_op *o, bool solid)
{
	return solid && o->act == X_STORE && o->tag == q->s.tag;
}

/*
 * The piece holds its tile for sure once the write that brought it first is complete; later writes of the
 * same tile change no byte. Which write that was stands in the upper bits of flags.
 */
static uint32_t first_write(unsigned w, uint32_t event)
{
	return (uint32_t)w << 2 | event << 8;
}

static bool is_solid(const struct search *q, unsigned w, uint32_t now)
{
	uint32_t f = q->s.flags;

	if (f & (S_SOLID | S_MIXED))
		return f & S_SOLID;
	return q->s.tag && !running(q, f >> 2 & 31, f >> 8, w, now);
}

static void content_fault(struct search *q, unsigned w, const struct event *e)
{
	if (q->s.tag == 0)
		explorer_fault(q->x, FAULT_TILE, "%s finds bytes that nothing has written", x_step_name(q->x, w, e->step));
	else
		explorer_fault(q->x, FAULT_TILE, "%s finds tile %d%s", x_step_name(q->x, w, e->step),
			(int)(q->s.tag & ((1u << X_TAG_TILE_BITS) - 1)) - X_TAG_TILE_BIAS,
			q->s.flags & S_MIXED ? " or another one: their writes are not ordered" : "");
}

/* The op of event e of wave w acts on the piece in state q->s: a fault, or the new content in n. */
static void act(struct search *q, unsigned w, const struct event *e, struct state *n)
{
	struct x_prog *x = q->x;
	const struct x_op *o = &x->ops[e->op];
	uint32_t now = (uint32_t)(e - q->w[w].e);
	bool mixed = false, solid = is_solid(q, w, now);

	for (unsigned v = 0; v < x->p->waves; v++)
		for (uint32_t i = 0; i < q->s.pos[v]; i++) {
			const struct x_op *y;

			if (!running(q, v, i, w, now))
				continue;
			y = &x->ops[q->w[v].e[i].op];
			if ((v == w && y->stream && o->stream) || (y->act == X_SAMPLE && o->act == X_SAMPLE) ||
			    (o->act == X_SAMPLE && harmless(q, y, solid)) ||
			    (y->act == X_SAMPLE && harmless(q, o, solid)))
				continue;
			if (y->act == X_STORE && o->act == X_STORE) {
				mixed |= y->tag != o->tag;
				continue;
			}
			explorer_fault(x, o->act == X_SAMPLE ? FAULT_READ : FAULT_REFILL, "%s while %s may still be running",
				x_step_name(x, w, e->step), x_step_name(x, v, q->w[v].e[i].step));
			return;
		}
	n->flags = solid ? S_SOLID : q->s.flags;
	if (o->act == X_STORE) {
		if (mixed)
			n->flags = S_MIXED;
		else if (o->tag != q->s.tag || (q->s.flags & S_MIXED))
			n->flags = first_write(w, now);
		n->tag = o->tag;
	} else if (q->s.tag != o->tag || (q->s.flags & S_MIXED)) {
		content_fault(q, w, e);
	}
}

static unsigned live_waves(const struct search *q, const struct state *s)
{
	unsigned n = 0;

	for (unsigned w = 0; w < q->x->p->waves; w++)
		n += s->pos[w] < q->w[w].n;
	return n;
}

static void signal_id(struct search *q, const struct insn *in, struct state *n)
{
	int id = x_id(q->x, in->barrier);

	if (++n->arrived[id] >= x_members(q->x, in, live_waves(q, n))) {
		n->arrived[id] = 0;
		n->phase[id]++;
	}
}

/* A wave has ended: barriers that count live waves may now be complete. */
static void leave(struct search *q, struct state *n)
{
	unsigned live = live_waves(q, n);

	for (unsigned i = 0; i < q->x->nids; i++)
		if (n->arrived[i] && n->arrived[i] >= live && counts_live(q->x, q->x->id[i])) {
			n->arrived[i] = 0;
			n->phase[i]++;
		}
}

static bool step_wave(struct search *q, unsigned w)
{
	const struct event *e = &q->w[w].e[q->s.pos[w]];
	const struct insn *in;
	struct state n = q->s;

	if (q->s.pos[w] >= q->w[w].n)
		return false;
	in = &q->x->p->insns[q->x->line[w].step[e->step].insn];
	n.pos[w]++;
	switch (e->kind) {
	case E_JOINT:
		return false;
	case E_AWAIT:
		if (q->s.phase[x_id(q->x, in->barrier)] <= e->awaited)
			return false;
		break;
	case E_OP:
		act(q, w, e, &n);
		break;
	case E_SIGNAL:
		signal_id(q, in, &n);
		break;
	case E_END:
		leave(q, &n);
		break;
	}
	if (q->x->stop)
		trace_search(q, w);
	else
		state_add(q, &n, w);
	return true;
}

/* All waves that have not ended stand at a barrier: they pass it together. */
static bool step_barrier(struct search *q)
{
	struct state n = q->s;
	bool any = false;

	for (unsigned w = 0; w < q->x->p->waves; w++) {
		if (q->s.pos[w] >= q->w[w].n)
			continue;
		if (q->w[w].e[q->s.pos[w]].kind != E_JOINT)
			return false;
		n.pos[w]++;
		any = true;
	}
	if (any)
		state_add(q, &n, HOW_JOINT);
	return any;
}

/*
 * Up to the next joint barrier every wave only reads the piece. Reads change nothing, so their order
 * matters only to what is still being written, and the worst order for a wave's reads is the one in
 * which no other wave has moved on. Judge each wave in that order, then take all to the barrier at once.
 */
static bool only_reads(const struct search *q, uint16_t *end)
{
	bool any = false;

	for (unsigned w = 0; w < q->x->p->waves; w++) {
		const struct lane_events *l = &q->w[w];
		uint32_t i = q->s.pos[w];

		end[w] = (uint16_t)i;
		if (i >= l->n)
			continue;
		for (; l->e[i].kind == E_OP; i++) {
			if (q->x->ops[l->e[i].op].act != X_SAMPLE)
				return false;
			any = true;
		}
		if (l->e[i].kind != E_JOINT)
			return false;
		end[w] = (uint16_t)i;
	}
	return any;
}

static bool step_reads(struct search *q)
{
	uint16_t end[PROG_MAX_WAVES];
	struct state n = q->s, scratch = q->s;

	if (!only_reads(q, end))
		return false;
	for (unsigned w = 0; w < q->x->p->waves && !q->x->stop; w++) {
		uint16_t from = q->s.pos[w];

		n.pos[w] = end[w];
		for (; q->s.pos[w] < end[w]; q->s.pos[w]++) {
			act(q, w, &q->w[w].e[q->s.pos[w]], &scratch);
			if (!q->x->stop)
				continue;
			trace_search(q, w);
			return true;
		}
		q->s.pos[w] = from;
	}
	state_add(q, &n, HOW_READS);
	return true;
}

/*
 * A signal, a wait that may pass, an end: when no operation of the wave on this piece is completed by
 * it, taking it first hinders nobody and changes nothing else, so no other order need be tried.
 */
static bool step_alone(struct search *q)
{
	for (unsigned w = 0; w < q->x->p->waves; w++) {
		uint32_t at = q->s.pos[w];
		enum event_kind k = at < q->w[w].n ? q->w[w].e[at].kind : E_OP;
		bool completes = false;

		if (k == E_OP || k == E_JOINT)
			continue;
		for (uint32_t i = 0; i < at; i++)
			completes |= q->w[w].e[i].op >= 0 && q->w[w].e[i].done == at;
		if (!completes && step_wave(q, w))
			return true;
	}
	return false;
}

/* No write of the piece is running, and none can begin before wave w and all others have moved on. */
static bool no_write_near(const struct search *q, unsigned w)
{
	const struct lane_events *l = &q->w[w];
	unsigned awaits = 0;

	for (uint32_t i = 0; i < q->s.pos[w]; i++)
		if (running(q, w, i, PROG_MAX_WAVES, 0) && q->x->ops[l->e[i].op].act == X_STORE)
			return false;
	/* A wave is at most two waits of a split barrier ahead of another one. */
	for (uint32_t i = q->s.pos[w]; i < l->n && l->e[i].kind != E_JOINT && awaits < 3; i++) {
		if (l->e[i].op >= 0 && q->x->ops[l->e[i].op].act == X_STORE)
			return false;
		awaits += l->e[i].kind == E_AWAIT;
	}
	return true;
}

/* Far from any write the order of reads does not matter: one wave's next read is all that need be tried. */
static bool step_quiet_read(struct search *q)
{
	unsigned reader = PROG_MAX_WAVES;

	if (!q->aligned)
		return false;
	for (unsigned w = 0; w < q->x->p->waves; w++) {
		if (!no_write_near(q, w))
			return false;
		if (q->s.pos[w] < q->w[w].n && q->w[w].e[q->s.pos[w]].kind == E_OP)
			reader = w;
	}
	return reader < PROG_MAX_WAVES && step_wave(q, reader);
}

/*
 * Whether every wave signals and waits for one and the same barrier of all waves in turn, and no other:
 * only then is a wave never more than two waits ahead.
 */
static bool waves_aligned(const struct x_prog *x)
{
	for (unsigned w = 0; w < x->p->waves; w++) {
		bool open = false;

		for (size_t i = 0; i < x->line[w].n; i++) {
			const struct insn *in = &x->p->insns[x->line[w].step[i].insn];

			if (!is_split(in))
				continue;
			if (in->barrier != BAR_WORKGROUP || in->members || open != (in->cls == OPC_AWAIT))
				return false;
			open = !open;
		}
	}
	return true;
}

static void search_piece(struct search *q, size_t max_states)
{
	struct x_prog *x = q->x;

	x_set_init(&q->set, sizeof(q->s), max_states);
	memset(&q->s, 0, sizeof(q->s));
	q->at = 0;
	state_add(q, &q->s, 0);
	for (uint32_t i = 0; i < q->set.n && !x->stop; i++) {
		bool any = false, ended;

		q->at = i;
		memcpy(&q->s, q->set.key + (size_t)i * q->set.size, sizeof(q->s));
		ended = live_waves(q, &q->s) == 0;
		if (step_alone(q) || step_reads(q) || step_quiet_read(q))
			continue;
		for (unsigned w = 0; w < x->p->waves && !x->stop; w++)
			any |= step_wave(q, w);
		any = any || x->stop || step_barrier(q);
		if (!any && !ended) {
			explorer_fault(x, FAULT_DEADLOCK, "no wave can go on");
			trace_search(q, PROG_MAX_WAVES);
		}
	}
	x->r->states += q->set.n;
	x_set_free(&q->set);
}

static void search_pieces(struct x_prog *x, size_t max_states)
{
	struct search *q = xcalloc(1, sizeof(*q));

	q->x = x;
	q->aligned = waves_aligned(x);
	/* One past the last piece: barriers alone. */
	for (uint32_t i = (uint32_t)x->npieces + 1; i-- > 0 && !x->stop;) {
		build_events(q, i);
		if ((i == x->npieces || piece_is_read(q)) && !searched(q))
			search_piece(q, max_states);
	}
	for (unsigned w = 0; w < PROG_MAX_WAVES; w++)
		free(q->w[w].e);
	free(q->sort);
	free(q);
}

/* ---- all of it ---- */

static void explore_variant(const struct program *p, const struct explore_options *o, bool edge,
			    struct explore_result *r)
{
	struct x_prog *x = xcalloc(1, sizeof(*x));
	size_t max = o->max_states ? o->max_states : 1000000;

	x->p = p;
	x->edge = edge;
	x->r = r;
	find_ids(x);
	for (unsigned w = 0; w < p->waves && !x->stop; w++)
		x_write_out(x, w);
	if (!x->stop)
		x_find_pieces(x);
	for (unsigned w = 0; w < p->waves && !x->stop; w++)
		x_walk_wave(x, w, o->full);
	if (!x->stop)
		check_barrier_counts(x);
	for (unsigned w = 0; w < p->waves && !x->stop; w++)
		check_unwaited(x, w);
	if (!x->stop && o->full)
		x_search_full(x, max);
	else if (!x->stop)
		search_pieces(x, max);
	for (size_t k = 0; k < x->nkeys; k++)
		free(x->keys[k].piece);
	for (unsigned w = 0; w < PROG_MAX_WAVES; w++)
		free(x->line[w].step);
	free(x->keys);
	free(x->ops);
	free(x->uses);
	free(x);
}

void explore(const struct program *p, const struct explore_options *o, struct explore_result *r)
{
	static const struct explore_options defaults;
	bool edge = false;

	*r = (struct explore_result){ 0 };
	if (!o)
		o = &defaults;
	for (size_t i = 0; i < p->ninsns; i++)
		edge |= (p->insns[i].flags & (INSN_EDGE_ABSENT | INSN_EDGE_ONLY)) != 0;
	explore_variant(p, o, false, r);
	if (edge && r->verdict == EXPLORE_OK)
		explore_variant(p, o, true, r);
}

void explore_result_free(struct explore_result *r)
{
	free(r->text);
	free(r->trace);
	*r = (struct explore_result){ 0 };
}
