/* One wave by itself: latest completions, registers, accumulators. */
#include "explorer_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct queue { /* operations of one counter that may still run at the latest, oldest first */
	int32_t *op;
	size_t first, n, cap;
};

struct reg {
	enum { R_UNSET, R_ANY, R_TILE } kind;
	int32_t op; /* load that fills it, -1 */
	int64_t tile;
};

struct acc {
	unsigned reg;
	uint32_t *count;
};

struct walk {
	struct x_prog *x;
	unsigned wave;
	struct queue q[CTR_COUNT];
	struct reg reg[REG_COUNT];
	struct acc *acc;
	size_t nacc, capacc;
	bool gemm;
	bool full; /* the full search finds uses that come too early by itself */
};

static void complete_oldest(struct walk *k, struct queue *q, uint32_t step)
{
	k->x->ops[q->op[q->first++]].done = step;
}

/*
 * Scalar loads may be reported before anything else, so at the latest only the others count. They
 * themselves are certain only when nothing remains.
 */
static void wait_for(struct walk *k, int counter, unsigned value, uint32_t step)
{
	struct queue *q = &k->q[counter];

	while (q->n - q->first > value)
		complete_oldest(k, q, step);
	if (value > 0)
		return;
	for (size_t i = 0; i < k->x->nops; i++) {
		struct x_op *o = &k->x->ops[i];

		if (o->wave == k->wave && o->counter == counter && o->unordered && o->step < step && o->done == X_NEVER)
			o->done = step;
	}
}

static void raise_counter(struct walk *k, const struct insn *in, int32_t op, uint32_t step)
{
	struct queue *q;
	unsigned max;

	if (k->x->ops[op].counter < 0 || k->x->ops[op].unordered)
		return;
	q = &k->q[in->counter];
	max = k->x->p->target->counters[in->counter].max;
	while (max && q->n - q->first >= max)
		complete_oldest(k, q, step);
	q->op = xgrow(q->op, q->n, &q->cap, sizeof(*q->op));
	q->op[q->n++] = op;
}

static bool pending(const struct walk *k, const struct reg *r)
{
	return r->op >= 0 && k->x->ops[r->op].done == X_NEVER;
}

static void note_use(struct walk *k, struct x_step *s, int32_t op)
{
	struct x_prog *x = k->x;

	for (uint32_t i = s->use; i < s->use + s->nuse; i++)
		if (x->uses[i] == (uint32_t)op)
			return;
	if (s->nuse == 0)
		s->use = (uint32_t)x->nuses;
	x->uses = xgrow(x->uses, x->nuses, &x->capuses, sizeof(*x->uses));
	x->uses[x->nuses++] = (uint32_t)op;
	s->nuse++;
}

/* Loads of one in-order counter and unit return in order: a later one may take the same register. */
static bool same_return(const struct walk *k, const struct insn *in, int32_t older)
{
	const struct x_op *o = &k->x->ops[older];
	enum opclass c = k->x->p->insns[o->insn].cls;

	return in->counter >= 0 && in->counter == o->counter && !o->unordered && c == in->cls;
}

static void check_registers(struct walk *k, struct x_step *s, uint32_t step)
{
	const struct insn *in = &k->x->p->insns[s->insn];

	for (unsigned i = 0; i < in->nspans; i++)
		for (unsigned r = in->span[i].first; r < (unsigned)in->span[i].first + in->span[i].n; r++) {
			struct reg *reg = &k->reg[r < REG_COUNT ? r : 0];

			if (reg->op < 0 || (in->role[i] == ROLE_DST && same_return(k, in, reg->op)))
				continue;
			note_use(k, s, reg->op);
			if (pending(k, reg) && !k->full)
				explorer_fault(k->x, FAULT_REGISTER, "%s needs register %u of %s, which may not be there yet",
					x_step_name(k->x, k->wave, step), r,
					x_step_name(k->x, k->wave, k->x->ops[reg->op].step));
		}
}

/* The one K-step that the registers of a role hold, -1 when they hold none in particular. */
static int64_t role_tile(struct walk *k, const struct insn *in, enum span_role role, uint32_t step)
{
	int64_t tile = INT64_MIN;

	for (unsigned i = 0; i < in->nspans; i++) {
		if (in->role[i] != role)
			continue;
		for (unsigned r = in->span[i].first; r < (unsigned)in->span[i].first + in->span[i].n; r++) {
			const struct reg *reg = &k->reg[r < REG_COUNT ? r : 0];

			if (reg->kind == R_UNSET && k->gemm)
				explorer_fault(k->x, FAULT_UNLOADED, "%s uses register %u, which nothing loaded",
					x_step_name(k->x, k->wave, step), r);
			if (reg->kind != R_TILE)
				continue;
			if (tile != INT64_MIN && tile != reg->tile)
				explorer_fault(k->x, FAULT_OPERAND, "%s uses registers of tiles %" PRId64 " and %" PRId64,
					x_step_name(k->x, k->wave, step), tile, reg->tile);
			tile = reg->tile;
		}
	}
	return tile;
}

static void accumulate(struct walk *k, const struct insn *in, int64_t tile, uint32_t step)
{
	struct acc *a = NULL;
	unsigned reg = REG_COUNT;

	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == ROLE_DST)
			reg = in->span[i].first;
	if (tile == INT64_MIN || reg == REG_COUNT)
		return;
	if (tile < 0 || (uint64_t)tile >= k->x->p->ksteps) {
		explorer_fault(k->x, FAULT_ACC, "%s multiplies tile %" PRId64 ", which is no K-step",
			x_step_name(k->x, k->wave, step), tile);
		return;
	}
	for (size_t i = 0; i < k->nacc; i++)
		if (k->acc[i].reg == reg)
			a = &k->acc[i];
	if (!a) {
		k->acc = xgrow(k->acc, k->nacc, &k->capacc, sizeof(*k->acc));
		a = &k->acc[k->nacc++];
		*a = (struct acc){ reg, xcalloc(k->x->p->ksteps, sizeof(*a->count)) };
	}
	a->count[tile]++;
}

static void check_operands(struct walk *k, const struct insn *in, const struct x_step *s, uint32_t step)
{
	if (in->cls == OPC_MATRIX) {
		int64_t a = role_tile(k, in, ROLE_A, step), b = role_tile(k, in, ROLE_B, step);

		if (a != INT64_MIN && b != INT64_MIN && a != b)
			explorer_fault(k->x, FAULT_OPERAND, "%s multiplies tile %" PRId64 " of A by tile %" PRId64 " of B",
				x_step_name(k->x, k->wave, step), a, b);
		if (k->gemm)
			accumulate(k, in, a == INT64_MIN ? b : a, step);
	} else if (in->cls == OPC_LDS_WRITE && s->op >= 0 && in->access >= 0) {
		int64_t t = role_tile(k, in, ROLE_DATA, step);

		if (t != INT64_MIN && t != k->x->ops[s->op].tile)
			explorer_fault(k->x, FAULT_OPERAND, "%s writes registers that hold tile %" PRId64,
				x_step_name(k->x, k->wave, step), t);
	}
}

static void set_registers(struct walk *k, const struct insn *in, const struct x_step *s)
{
	for (unsigned i = 0; i < in->nspans; i++) {
		if (in->role[i] != ROLE_DST)
			continue;
		for (unsigned r = in->span[i].first; r < (unsigned)in->span[i].first + in->span[i].n; r++) {
			struct reg *reg = &k->reg[r < REG_COUNT ? r : 0];

			*reg = (struct reg){ R_ANY, s->op, 0 };
			if (s->op >= 0 && in->access >= 0) {
				reg->kind = R_TILE;
				reg->tile = k->x->ops[s->op].tile;
			}
		}
	}
}

static void check_accumulators(struct walk *k)
{
	for (size_t i = 0; i < k->nacc; i++)
		for (uint64_t t = 0; t < k->x->p->ksteps; t++)
			if (k->acc[i].count[t] == 0 || k->acc[i].count[t] != k->acc[i].count[0])
				explorer_fault(k->x, FAULT_ACC, "wave %u: the accumulator in register %u gets K-step %" PRIu64
					" %u times, K-step 0 %u times", k->wave, k->acc[i].reg, t,
					k->acc[i].count[t], k->acc[i].count[0]);
}

void x_walk_wave(struct x_prog *x, unsigned w, bool full)
{
	struct walk *k = xcalloc(1, sizeof(*k));

	k->x = x;
	k->wave = w;
	k->full = full;
	k->gemm = x->p->ksteps > 0;
	for (unsigned r = 0; r < REG_COUNT; r++)
		k->reg[r].op = -1;
	for (uint32_t i = 0; i < x->line[w].n && !x->stop; i++) {
		struct x_step *s = &x->line[w].step[i];
		const struct insn *in = &x->p->insns[s->insn];

		if (in->cls == OPC_WAIT)
			for (unsigned j = 0; j < in->nwait; j++)
				wait_for(k, in->wait[j].counter, in->wait[j].value, i);
		if (s->op >= 0)
			raise_counter(k, in, s->op, i);
		check_registers(k, s, i);
		check_operands(k, in, s, i);
		set_registers(k, in, s);
	}
	check_accumulators(k);
	for (size_t i = 0; i < k->nacc; i++)
		free(k->acc[i].count);
	for (unsigned c = 0; c < CTR_COUNT; c++)
		free(k->q[c].op);
	free(k->acc);
	free(k);
}
