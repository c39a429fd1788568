/* <interleave>: the streams' instructions in the order that it spells out. */
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

struct unit { /* an instruction with what must stay in front of it (its M0 write) */
	uint32_t begin, end;
};

struct stream {
	const struct sched_op *head;
	struct unit *unit;
	size_t n, cap, next;
};

static bool same_id(const struct sched_op *a, const struct sched_op *b)
{
	const char *x = a->id ? a->id : op_kind_name(a->kind), *y = b->id ? b->id : op_kind_name(b->kind);

	return strcmp(x, y) == 0;
}

/* Several instructions that stand for one op as written. */
static bool whole_op(enum op_kind k)
{
	return k == OP_WAIT || k == OP_BARRIER || k == OP_NOP;
}

static void stream_units(struct lower *lw, struct stream *s, const struct sched_op *op)
{
	uint32_t begin = (uint32_t)lw->p->ninsns;

	emit_op(lw, op);
	for (uint32_t i = begin; i < lw->p->ninsns; i++) {
		const struct insn *in = &lw->p->insns[i];
		bool prefix = in->cls == OPC_SALU && (in->flags & INSN_IMPLIED);

		if (i + 1 < lw->p->ninsns && (prefix || whole_op(op->kind)))
			continue;
		s->unit = xgrow(s->unit, s->n, &s->cap, sizeof(*s->unit));
		s->unit[s->n++] = (struct unit){ begin, i + 1 };
		begin = i + 1;
	}
}

static void mismatch(struct lower *lw, const struct sched_op *op, const struct stream *s, size_t asked)
{
	diag_add(lw->d, op->order_loc, DIAG_INTERLEAVE, "the order uses '%s' %zu times, its ops are %zu instructions",
		 s->head->id ? s->head->id : op_kind_name(s->head->kind), asked, s->n);
}

/* Rearrange insns[base..) and what is kept beside them. */
static void rearrange(struct lower *lw, size_t base, const uint32_t *from, size_t n)
{
	struct insn *insn = xreallocarray(NULL, n + 1, sizeof(*insn));
	uint8_t *mark = xmalloc(n + 1);
	uint32_t *to = xreallocarray(NULL, n + 1, sizeof(*to));

	for (size_t i = 0; i < n; i++) {
		insn[i] = lw->p->insns[from[i]];
		mark[i] = lw->mark[from[i]];
		to[from[i] - base] = (uint32_t)(base + i);
	}
	memcpy(lw->p->insns + base, insn, n * sizeof(*insn));
	memcpy(lw->mark + base, mark, n);
	for (size_t i = 0; i < lw->ngw; i++)
		if (lw->gw[i].insn >= base)
			lw->gw[i].insn = to[lw->gw[i].insn - base];
	free(insn);
	free(mark);
	free(to);
}

static bool collect(struct lower *lw, const struct sched_op *op, const struct sched_op **order, size_t n,
		    struct stream *st, size_t nst, uint32_t *from)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		struct stream *s = st;

		while (s->head != order[i])
			s++;
		if (s->next < s->n)
			for (uint32_t k = s->unit[s->next].begin; k < s->unit[s->next].end; k++)
				from[out++] = k;
		s->next++;
	}
	for (size_t i = 0; i < nst; i++)
		if (st[i].next != st[i].n) {
			mismatch(lw, op, &st[i], st[i].next);
			return false;
		}
	return true;
}

void emit_weave(struct lower *lw, const struct sched_op *op)
{
	const struct sched_op **order = NULL;
	size_t n = schedule_weave(op, lw->a, &order, lw->d), nst = 0, base = lw->p->ninsns, errors = lw->d->errors;
	struct stream *st = xcalloc(n + 1, sizeof(*st));
	uint32_t *from;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < nst && st[k].head != order[i])
			k++;
		if (k < nst)
			continue;
		st[nst++].head = order[i];
		for (const struct sched_op *c = op->children; c && !lw->over; c = c->next)
			if (same_id(c, order[i]))
				stream_units(lw, &st[nst - 1], c);
	}
	from = xcalloc(lw->p->ninsns - base + 1, sizeof(*from));
	if (!lw->over && lw->d->errors == errors && n && collect(lw, op, order, n, st, nst, from))
		rearrange(lw, base, from, lw->p->ninsns - base);
	for (size_t i = 0; i < nst; i++)
		free(st[i].unit);
	free(st);
	free(from);
}
