/* When a head instruction is ready: the second section of docs/model.md, condition by condition. */
#include "ref_internal.h"

/* Counters */

static unsigned counter_value(struct ref *r, struct wave *w, int c, uint64_t t)
{
	struct list *l = &w->outstanding[c];
	bool in_order = r->t->counters[c].in_order;
	uint64_t before = 0;
	unsigned value = 0;
	for (size_t i = 0; i < l->n; i++) {
		uint64_t reported = r->ops[l->v[i]].done;
		if (in_order)
			before = reported = max64(reported, before);
		if (reported > t)
			value++;
	}
	/* What was reported plays no part any more: it is at or before t, so no later maximum sees
	 * it. */
	for (size_t i = 0; i < l->n;) {
		if (r->ops[l->v[i]].done <= t)
			list_remove(l, i);
		else if (in_order)
			break;
		else
			i++;
	}
	return value;
}

/* Readiness */

static bool exact_chain(const struct wave *w, const struct insn *in, struct span s, uint64_t *start)
{
	const struct reg *first = &w->regs[s.first];
	if (in->cls != OPC_MATRIX || !first->writer || first->in->cls != OPC_MATRIX || s.n == 0)
		return false;
	for (unsigned i = 1; i < s.n; i++)
		if (w->regs[s.first + i].writer != first->writer)
			return false;
	for (unsigned i = 0; i < first->in->nspans; i++) {
		struct span d = first->in->span[i];
		if (first->in->role[i] == ROLE_DST && d.first == s.first && d.n == s.n) {
			*start = first->start + first->in->matrix->chain_clk;
			return true;
		}
	}
	return false;
}

static bool span_ready(const struct wave *w, const struct insn *in, unsigned k, uint64_t t)
{
	struct span s = in->span[k];
	uint64_t from = 0;
	bool chained = false;
	if (in->role[k] == ROLE_C)
		chained = exact_chain(w, in, s, &from);
	if (in->role[k] == ROLE_DST)
		for (unsigned i = 0; i < in->nspans && !chained; i++)
			if (in->role[i] == ROLE_C && in->span[i].first == s.first &&
			    in->span[i].n == s.n)
				chained = exact_chain(w, in, s, &from);
	if (chained)
		return t >= from;
	for (unsigned i = 0; i < s.n; i++)
		if (t < w->regs[s.first + i].ready)
			return false;
	return true;
}

static bool operands_ready(const struct wave *w, const struct insn *in, uint64_t t)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (!span_ready(w, in, k, t))
			return false;
	return true;
}

uint64_t ref_vector_clk(const struct ref *r, const struct insn *in)
{
	uint64_t busy = r->t->classes[in->cls].busy_clk;
	if (in->size == 8 && r->address[in - r->p->insns] % 8 != 0)
		busy += whole(r->t->v.straddle);
	return busy;
}

static bool vector_ready(struct ref *r, const struct insn *in, struct simd *s, uint64_t t)
{
	if (t < s->valu_free)
		return false;
	uint64_t end = t + ref_vector_clk(r, in);
	for (size_t i = 0; i < s->nreads; i++)
		if (t < s->reads[i].end && s->reads[i].begin < end)
			return false;
	if (in->cls == OPC_PACKED && s->nstarts && t < s->unit_free + whole(r->t->v.packed_after))
		return false;
	return true;
}

static bool matrix_ready(const struct ref *r, const struct simd *s, uint64_t t)
{
	size_t ahead = (size_t)whole(r->t->v.matrix_ahead);
	if (t < s->valu_free)
		return false;
	if (ahead == 0)
		return t >= s->unit_free;
	return s->nstarts < ahead || t >= s->starts[s->nstarts - ahead];
}

/* Entries of l whose start is still to come. */
static size_t waiting(struct ref *r, struct list *l, uint64_t t)
{
	for (size_t i = 0; i < l->n;) {
		if (r->ops[l->v[i]].start <= t)
			list_remove(l, i);
		else
			i++;
	}
	return l->n;
}

static bool lds_ready(struct ref *r, struct list *l, uint64_t t)
{
	for (size_t i = 0; i < l->n;) {
		if (r->ops[l->v[i]].start != NEVER && r->ops[l->v[i]].end <= t)
			list_remove(l, i);
		else
			i++;
	}
	return l->n < (size_t)whole(r->t->v.lds_queue);
}

static bool phase_complete(const struct ref *r, const struct wave *w, int id, uint64_t t)
{
	const struct barrier *b = &r->barriers[w->wg][id + 4];
	size_t n = b->n;
	while (n > 0 && b->phases[n - 1] > t)
		n--;
	return n > w->waited[id + 4];
}

/* Has everything that the wave put in the LDS queue been served at t? */
static bool all_sent(const struct ref *r, const struct wave *w, uint64_t t)
{
	const struct list *l = &r->lds[pair_of(r, w)];

	for (size_t i = 0; i < l->n; i++) {
		const struct op *o = &r->ops[l->v[i]];

		if (&r->waves[o->wave] == w && (o->start == NEVER || o->end > t))
			return false;
	}
	return true;
}

static bool waits_hold(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	for (unsigned i = 0; i < in->nwait; i++)
		if (whole(r->t->v.vmem_through_lds) && in->wait[i].counter == CTR_X && in->wait[i].value == 0 &&
		    !all_sent(r, w, t))
			return false;
	for (unsigned i = 0; i < in->nwait; i++)
		if (counter_value(r, w, in->wait[i].counter, t) > in->wait[i].value)
			return false;
	return true;
}

static bool unit_ready(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	struct simd *s = &r->simd[w->simd];
	switch (in->cls) {
	case OPC_VALU:
	case OPC_TRANS:
	case OPC_PACKED:
		return vector_ready(r, in, s, t);
	case OPC_MATRIX:
		return matrix_ready(r, s, t);
	case OPC_SALU:
	case OPC_SMEM:
		return t >= s->salu_free;
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE:
		return lds_ready(r, &r->lds[pair_of(r, w)], t);
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
		if (whole(r->t->v.vmem_through_lds))
			return lds_ready(r, &r->lds[pair_of(r, w)], t);
		return waiting(r, &r->vmem_queue, t) < (size_t)whole(r->t->v.vmem_queue);
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		return waiting(r, &w->tdm, t) < (size_t)whole(r->t->v.tdm_queue_wave) &&
		       waiting(r, &r->tdm_queue[engine_of(r, w)], t) <
			       (size_t)whole(r->t->v.tdm_queue);
	case OPC_WAIT:
		return waits_hold(r, w, in, t);
	case OPC_AWAIT:
		return in->barrier == BAR_NULL || phase_complete(r, w, in->barrier, t);
	case OPC_BRANCH:
	case OPC_BARRIER:
	case OPC_SIGNAL:
	case OPC_SETPRIO:
	case OPC_NOP:
	case OPC_SLEEP:
	case OPC_MODE:
	case OPC_END:
	case OPC_COUNT:
		break;
	}
	return true;
}

bool ref_head_ready(struct ref *r, struct wave *w, uint64_t t)
{
	const struct insn *in = &r->p->insns[w->pc];
	if (w->ended || w->at_barrier || t < w->free || t < w->next_of[in->cls])
		return false;
	if (r->line[r->address[w->pc] / whole(r->t->v.icache_line)] > t)
		return false;
	if (w->repeated == 0 && !operands_ready(w, in, t))
		return false;
	if (in->counter >= 0 &&
	    counter_value(r, w, in->counter, t) >= r->t->counters[in->counter].max)
		return false;
	if (whole(r->t->v.wait_interlock) && !waits_hold(r, w, in, t))
		return false;
	return unit_ready(r, w, in, t);
}
