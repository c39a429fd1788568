/* The plain search: every issue, action and report is a step of its own, over all bytes at once. */
#include "explorer_internal.h"

#include <stdlib.h>
#include <string.h>

#define F_WAVES 4
#define F_WINDOW 32
#define F_PIECES 256

enum status { ISSUED, BEGUN, ACTED, REPORTED }; /* two bits each */
enum event_kind { EV_ISSUE, EV_BEGIN, EV_ACT, EV_REPORT, EV_BARRIER };

struct fstate {
	uint64_t status[F_WAVES]; /* of ops base .. base + 31 of the wave; not issued ones are ISSUED */
	uint16_t pos[F_WAVES], base[F_WAVES];
	uint16_t arrived[X_MAX_IDS], phase[X_MAX_IDS];
	uint32_t tag[F_PIECES];
};

struct full {
	struct x_prog *x;
	struct x_set set;
	uint32_t first[F_WAVES + 1]; /* the wave's operations are ops[first[w] .. first[w + 1]) */
	struct fstate s;
	uint32_t at;
};

static enum status status_of(const struct full *f, const struct fstate *s, uint32_t op)
{
	unsigned w = f->x->ops[op].wave, i = op - f->first[w];

	if (i < s->base[w])
		return REPORTED;
	return (enum status)(s->status[w] >> (2 * (i - s->base[w])) & 3);
}

static void set_status(const struct full *f, struct fstate *s, uint32_t op, enum status to)
{
	unsigned w = f->x->ops[op].wave, i = op - f->first[w] - s->base[w];

	s->status[w] = (s->status[w] & ~(UINT64_C(3) << (2 * i))) | (uint64_t)to << (2 * i);
	while ((s->status[w] & 3) == REPORTED) {
		s->status[w] >>= 2;
		s->base[w]++;
	}
}

/* Operations of wave w that are issued. */
static uint32_t issued_end(const struct full *f, const struct fstate *s, unsigned w)
{
	uint32_t i = f->first[w] + s->base[w];

	while (i < f->first[w + 1] && f->x->ops[i].step < s->pos[w])
		i++;
	return i;
}

static unsigned outstanding(const struct full *f, unsigned w, int counter)
{
	unsigned n = 0;

	for (uint32_t i = f->first[w] + f->s.base[w]; i < issued_end(f, &f->s, w); i++)
		n += f->x->ops[i].counter == counter && status_of(f, &f->s, i) != REPORTED;
	return n;
}

static const struct insn *insn_at(const struct full *f, unsigned w, uint32_t step)
{
	return &f->x->p->insns[f->x->line[w].step[step].insn];
}

static bool inert(const struct full *f, unsigned w, uint32_t step)
{
	const struct x_step *st = &f->x->line[w].step[step];

	switch ((int)insn_at(f, w, step)->cls) {
	case OPC_WAIT:
	case OPC_BARRIER:
	case OPC_END:
		return false;
	case OPC_SIGNAL:
	case OPC_AWAIT:
		return insn_at(f, w, step)->barrier == BAR_NULL;
	default:
		return st->op < 0 && st->nuse == 0;
	}
}

static void skip_inert(const struct full *f, struct fstate *s)
{
	for (unsigned w = 0; w < f->x->p->waves; w++)
		while (s->pos[w] < f->x->line[w].n && inert(f, w, s->pos[w]))
			s->pos[w]++;
}

static uint32_t how(enum event_kind k, unsigned w, uint32_t op)
{
	return (uint32_t)k << 28 | w << 24 | op;
}

static void add_line(const struct full *f, struct strbuf *b, uint32_t h)
{
	static const char *const word[] = { "issues", "begins", "acts", "is reported" };
	enum event_kind k = (enum event_kind)(h >> 28);
	unsigned w = h >> 24 & 15;
	uint32_t n = h & 0xffffff;

	if (k == EV_BARRIER)
		strbuf_add(b, "\tall waves pass a barrier\n");
	else if (k != EV_ISSUE || n < f->x->line[w].n)
		strbuf_add(b, "\t%s %s\n", x_step_name(f->x, w, k == EV_ISSUE ? n : f->x->ops[n].step), word[k]);
}

static void trace_full(struct full *f, uint32_t last)
{
	struct strbuf b = { 0 };
	size_t n = 0;
	uint32_t *path = xcalloc(f->set.n + 1, sizeof(*path));

	for (uint32_t i = f->at; i != 0; i = f->set.parent[i])
		path[n++] = f->set.how[i];
	while (n)
		add_line(f, &b, path[--n]);
	add_line(f, &b, last);
	free(path);
	f->x->r->trace = b.s;
}

static void next_state(struct full *f, struct fstate *n, uint32_t h)
{
	if (f->x->stop) {
		trace_full(f, h);
		return;
	}
	skip_inert(f, n);
	if (!x_set_add(&f->set, n, f->at, h))
		x_too_large(f->x, "states");
}

/* ---- what an operation in flight may do next ---- */

static bool stream_ready(const struct full *f, uint32_t op)
{
	const struct x_op *o = &f->x->ops[op];

	for (uint32_t i = f->first[o->wave] + f->s.base[o->wave]; o->stream && i < op; i++)
		if (f->x->ops[i].stream && f->x->ops[i].act != X_NONE && status_of(f, &f->s, i) < ACTED)
			return false;
	return true;
}

static bool report_ready(const struct full *f, uint32_t op)
{
	const struct x_op *o = &f->x->ops[op];

	for (uint32_t i = f->first[o->wave] + f->s.base[o->wave]; !o->unordered && i < op; i++)
		if (f->x->ops[i].counter == o->counter && !f->x->ops[i].unordered &&
		    status_of(f, &f->s, i) != REPORTED)
			return false;
	return true;
}

static bool has_piece(const struct x_op *o, uint32_t piece)
{
	for (size_t i = 0; i < o->npieces; i++)
		if (o->piece[i] == piece)
			return true;
	return false;
}

static void sample(struct full *f, uint32_t op)
{
	const struct x_op *o = &f->x->ops[op];

	for (size_t i = 0; i < o->npieces; i++) {
		uint32_t piece = o->piece[i];

		if (f->s.tag[piece] != o->tag)
			explorer_fault(f->x, FAULT_TILE, "%s finds other bytes", x_step_name(f->x, o->wave, o->step));
		for (unsigned w = 0; w < f->x->p->waves; w++)
			for (uint32_t j = f->first[w] + f->s.base[w]; j < issued_end(f, &f->s, w); j++)
				/* the same tile over itself changes no byte */
				if (status_of(f, &f->s, j) == BEGUN && has_piece(&f->x->ops[j], piece) &&
				    f->x->ops[j].tag != f->s.tag[piece])
					explorer_fault(f->x, FAULT_READ, "%s finds bytes that are being written",
						x_step_name(f->x, o->wave, o->step));
	}
}

static bool step_op(struct full *f, uint32_t op)
{
	const struct x_op *o = &f->x->ops[op];
	enum status st = status_of(f, &f->s, op);
	struct fstate n = f->s;

	if (st == REPORTED)
		return false;
	if (st == ACTED || o->act == X_NONE) {
		if (o->counter < 0 || !report_ready(f, op))
			return false;
		set_status(f, &n, op, REPORTED);
		next_state(f, &n, how(EV_REPORT, o->wave, op));
		return true;
	}
	if (!stream_ready(f, op))
		return false;
	if (o->act == X_SAMPLE) {
		sample(f, op);
		set_status(f, &n, op, ACTED);
		next_state(f, &n, how(EV_ACT, o->wave, op));
	} else if (st == ISSUED) {
		set_status(f, &n, op, BEGUN);
		next_state(f, &n, how(EV_BEGIN, o->wave, op));
	} else {
		for (size_t i = 0; i < o->npieces; i++)
			n.tag[o->piece[i]] = o->tag;
		set_status(f, &n, op, ACTED);
		next_state(f, &n, how(EV_ACT, o->wave, op));
	}
	return true;
}

/* ---- issue ---- */

static unsigned live(const struct full *f, const struct fstate *s)
{
	unsigned n = 0;

	for (unsigned w = 0; w < f->x->p->waves; w++)
		n += s->pos[w] < f->x->line[w].n;
	return n;
}

static void check_uses(struct full *f, unsigned w)
{
	const struct x_step *st = &f->x->line[w].step[f->s.pos[w]];

	for (uint32_t i = st->use; i < st->use + st->nuse; i++)
		if (status_of(f, &f->s, f->x->uses[i]) != REPORTED)
			explorer_fault(f->x, FAULT_REGISTER, "%s needs registers of %s",
				x_step_name(f->x, w, f->s.pos[w]),
				x_step_name(f->x, w, f->x->ops[f->x->uses[i]].step));
}

static void phase_full(struct full *f, const struct insn *in, struct fstate *n)
{
	int id = x_id(f->x, in->barrier);

	if (n->arrived[id] && n->arrived[id] >= x_members(f->x, in, live(f, n))) {
		n->arrived[id] = 0;
		n->phase[id]++;
	}
}

static unsigned awaited(const struct full *f, unsigned w, int barrier)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < f->s.pos[w]; i++)
		n += insn_at(f, w, i)->cls == OPC_AWAIT && insn_at(f, w, i)->barrier == barrier;
	return n;
}

static bool may_issue(const struct full *f, unsigned w)
{
	const struct insn *in = insn_at(f, w, f->s.pos[w]);
	const struct x_step *st = &f->x->line[w].step[f->s.pos[w]];

	if (in->cls == OPC_BARRIER)
		return false;
	if (in->cls == OPC_AWAIT && in->barrier != BAR_NULL)
		return f->s.phase[x_id(f->x, in->barrier)] > awaited(f, w, in->barrier);
	for (unsigned i = 0; in->cls == OPC_WAIT && i < in->nwait; i++)
		if (outstanding(f, w, in->wait[i].counter) > in->wait[i].value)
			return false;
	if (st->op >= 0 && f->x->ops[st->op].counter >= 0) {
		unsigned max = f->x->p->target->counters[in->counter].max;

		return !max || outstanding(f, w, in->counter) < max;
	}
	return true;
}

static bool issue(struct full *f, unsigned w)
{
	const struct x_step *st = &f->x->line[w].step[f->s.pos[w]];
	struct fstate n = f->s;
	const struct insn *in;

	if (f->s.pos[w] >= f->x->line[w].n || !may_issue(f, w))
		return false;
	in = insn_at(f, w, f->s.pos[w]);
	if (st->op >= 0 && (uint32_t)st->op - f->first[w] - f->s.base[w] >= F_WINDOW) {
		x_too_large(f->x, "operations in flight");
		return true;
	}
	check_uses(f, w);
	n.pos[w]++;
	if (st->op >= 0 && f->x->ops[st->op].gone) {
		for (size_t i = 0; i < f->x->ops[st->op].npieces; i++)
			n.tag[f->x->ops[st->op].piece[i]] = f->x->ops[st->op].tag;
		set_status(f, &n, (uint32_t)st->op, REPORTED);
	}
	if (in->cls == OPC_SIGNAL && in->barrier != BAR_NULL) {
		n.arrived[x_id(f->x, in->barrier)]++;
		phase_full(f, in, &n);
	} else if (in->cls == OPC_END) {
		for (unsigned i = 0; i < f->x->nids; i++)
			for (size_t j = 0; j < f->x->p->ninsns; j++) {
				const struct insn *sig = &f->x->p->insns[j];

				if (sig->cls == OPC_SIGNAL && sig->barrier == f->x->id[i] && sig->members == 0)
					phase_full(f, sig, &n);
			}
	}
	next_state(f, &n, how(EV_ISSUE, w, f->s.pos[w]));
	return true;
}

static bool pass_barrier(struct full *f)
{
	struct fstate n = f->s;
	bool any = false;

	for (unsigned w = 0; w < f->x->p->waves; w++) {
		if (f->s.pos[w] >= f->x->line[w].n)
			continue;
		if (insn_at(f, w, f->s.pos[w])->cls != OPC_BARRIER)
			return false;
		n.pos[w]++;
		any = true;
	}
	if (any)
		next_state(f, &n, how(EV_BARRIER, 0, 0));
	return any;
}

static bool step_all(struct full *f)
{
	bool any = false;

	for (unsigned w = 0; w < f->x->p->waves; w++) {
		uint32_t end = issued_end(f, &f->s, w);

		for (uint32_t i = f->first[w] + f->s.base[w]; i < end && !f->x->stop; i++)
			any |= step_op(f, i);
		if (!f->x->stop)
			any |= issue(f, w);
	}
	if (!f->x->stop)
		any |= pass_barrier(f);
	return any;
}

void x_search_full(struct x_prog *x, size_t max_states)
{
	struct full *f = xcalloc(1, sizeof(*f));
	uint32_t op = 0;

	if (x->p->waves > F_WAVES || x->npieces > F_PIECES) {
		x_too_large(x, "waves or pieces");
		free(f);
		return;
	}
	f->x = x;
	for (unsigned w = 0; w < x->p->waves; w++) {
		f->first[w] = op;
		while (op < x->nops && x->ops[op].wave == w)
			op++;
		f->first[w + 1] = op;
	}
	x_set_init(&f->set, offsetof(struct fstate, tag) + x->npieces * sizeof(uint32_t), max_states);
	skip_inert(f, &f->s);
	x_set_add(&f->set, &f->s, 0, 0);
	for (uint32_t i = 0; i < f->set.n && !x->stop; i++) {
		f->at = i;
		memcpy(&f->s, f->set.key + (size_t)i * f->set.size, f->set.size);
		if (!step_all(f) && live(f, &f->s)) {
			explorer_fault(x, FAULT_DEADLOCK, "no wave can go on");
			trace_full(f, how(EV_ISSUE, 0, f->s.pos[0]));
		}
	}
	x->r->states += f->set.n;
	x_set_free(&f->set);
	free(f);
}
