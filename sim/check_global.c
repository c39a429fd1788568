/*
 * Data handed on in global memory: a store that tells others "these data are complete" must come
 * behind the completion of every wave's stores to them. A barrier alone does not wait for stores.
 */
#include "check_internal.h"

static bool stores_to(const struct checker *c, const struct insn *in, int32_t global)
{
	return in->cls == OPC_VMEM_STORE && !(in->flags & INSN_PUBLISHES) && in->access >= 0 &&
	       c->p->access[in->access].write && c->p->access[in->access].global == global;
}

static bool in_loop(const struct checker *c, uint32_t insn)
{
	for (size_t l = 0; l < c->p->nloops; l++)
		if (insn >= c->p->loops[l].begin && insn < c->p->loops[l].end)
			return true;
	return false;
}

/* Does x of one group come before y of another in the text, K-steps in their order? */
static bool earlier(const struct checker *c, const struct instance *x, const struct instance *y)
{
	if (x->step != y->step && in_loop(c, x->insn) && in_loop(c, y->insn))
		return x->step < y->step;
	return x->insn < y->insn;
}

#define MAX_PLACES 64

/* The last store of each place in front of y must be complete: the ones before it then are. */
static void demand_stores(struct checker *c, unsigned gx, unsigned gy, uint32_t y)
{
	const struct track *t = &c->track[gx];
	const struct instance *iy = &c->track[gy].inst[y];
	int32_t global = c->p->access[c->p->insns[iy->insn].access].global;
	bool alone = c->p->waves == 1;
	uint32_t seen[MAX_PLACES];
	size_t nseen = 0;

	for (uint32_t x = t->n > UINT32_MAX ? UINT32_MAX : (uint32_t)t->n; x-- > 0;) {
		const struct insn *in = &c->p->insns[t->inst[x].insn];
		size_t k;

		if (!stores_to(c, in, global) || (gx == gy ? x > y : !earlier(c, &t->inst[x], iy)))
			continue;
		for (k = 0; k < nseen && seen[k] != in->loc.begin; k++)
			;
		if (k < nseen)
			continue;
		if (nseen < MAX_PLACES)
			seen[nseen++] = in->loc.begin;
		c->out->pairs++;
		check_require(c,
			      (struct order){(uint8_t)gx, alone ? ORDER_SAME_WAVE : ORDER_PUBLISH,
					     (uint8_t)gy, x,
					     alone ? y : check_deadline(c, gx, x, gy, y), y});
	}
}

void check_published(struct checker *c)
{
	for (unsigned g = 0; g < c->ngroups; g++)
		for (uint32_t i = 0; i < c->track[g].n; i++) {
			const struct insn *in = &c->p->insns[c->track[g].inst[i].insn];

			if ((in->flags & INSN_PUBLISHES) && in->access >= 0 &&
			    c->p->access[in->access].global >= 0)
				for (unsigned x = 0; x < c->ngroups; x++)
					demand_stores(c, x, g, i);
		}
}
