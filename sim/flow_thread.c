/*
 * Paths that the text rules out: a compiler joins two ways, each of which left a constant in a scalar register,
 * and branches on that register right behind. The joined block is taken apart, one copy for each way.
 */
#include "flow_internal.h"

#include <stdlib.h>
#include <string.h>

enum way { WAY_BOTH, WAY_FALL, WAY_TAKEN, NWAYS };

static bool op_is(const struct insn *in, const char *a, const char *b)
{
	return in->op && (!strcmp(in->op, a) || !strcmp(in->op, b));
}

static bool writes(const struct insn *in, unsigned first, unsigned n)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_DST && in->span[k].first < first + n && first < in->span[k].first + (unsigned)in->span[k].n)
			return true;
	return false;
}

/* A block that ends with "s_and(n2) vcc, exec, REG; s_cbranch_vcc(n)z": REG, and what -1 in it does. */
struct joined {
	unsigned reg, n;
	enum way of_ones, of_zero;
};

static bool joined_block(const struct program *p, const struct flow_block *k, struct joined *out)
{
	const struct insn *branch = &p->insns[k->end - 1], *cond = NULL;
	const struct span *reg = NULL;
	bool negated, not_zero = op_is(branch, "s_cbranch_vccnz", "s_cbranch_vccnz");
	uint32_t i = k->end - 1;
	unsigned sources = 0;

	if (!not_zero && !op_is(branch, "s_cbranch_vccz", "s_cbranch_vccz"))
		return false;
	while (i > k->begin && !cond)
		if (writes(&p->insns[--i], REG_VCC, 2))
			cond = &p->insns[i];
	negated = cond && (op_is(cond, "s_andn2_b64", "s_andn2_b32") || op_is(cond, "s_and_not1_b64", "s_and_not1_b32"));
	if (!cond || (!negated && !op_is(cond, "s_and_b64", "s_and_b32")))
		return false;
	for (unsigned s = 0; s < cond->nspans; s++) {
		if (cond->role[s] == ROLE_DST)
			continue;
		if (sources++ == 0 ? cond->span[s].first != REG_EXEC : cond->span[s].first < REG_SGPR || cond->span[s].first >= REG_VCC)
			return false;
		reg = &cond->span[s];
	}
	if (sources != 2)
		return false;
	while (i-- > k->begin)
		if (writes(&p->insns[i], reg->first, reg->n))
			return false;
	/* EXEC is not 0: nobody would be there. */
	*out = (struct joined){ .reg = reg->first, .n = reg->n, .of_ones = negated != not_zero ? WAY_TAKEN : WAY_FALL,
				.of_zero = negated != not_zero ? WAY_FALL : WAY_TAKEN };
	return true;
}

/* The way that control takes behind a block that ends with the register's value. */
static enum way way_from(const struct program *p, const struct flow_block *pred, const struct joined *j)
{
	for (uint32_t i = pred->end; i-- > pred->begin;) {
		const struct insn *in = &p->insns[i];
		const char *s, *end;

		if (!writes(in, j->reg, j->n))
			continue;
		if (!op_is(in, "s_mov_b64", "s_mov_b32") || !in->loc.src || in->loc.end > in->loc.src->len || in->span[0].n != j->n)
			return WAY_BOTH;
		s = in->loc.src->text + in->loc.begin;
		end = in->loc.src->text + in->loc.end;
		s = memchr(s, ',', (size_t)(end - s));
		while (s && ++s < end && *s == ' ')
			;
		if (s && end - s == 2 && !memcmp(s, "-1", 2))
			return j->of_ones;
		return s && end - s == 1 && *s == '0' ? j->of_zero : WAY_BOTH;
	}
	return WAY_BOTH;
}

static uint32_t copy_block(struct flow_graph *g, uint32_t b, enum way way)
{
	struct flow_block *c = &g->blocks[g->nblocks];

	*c = g->blocks[b];
	if (way == WAY_FALL)
		c->succ[1] = FLOW_NONE;
	if (way == WAY_TAKEN)
		c->succ[0] = FLOW_NONE;
	return g->nblocks++;
}

/* Lead the edges into b to copies of it. b itself keeps them too, and leads nowhere: see flow_graph. */
static void split(const struct program *p, struct flow_graph *g, uint32_t b, const struct joined *j)
{
	uint32_t copy[NWAYS] = { FLOW_NONE, FLOW_NONE, FLOW_NONE }, n = g->nblocks;

	for (uint32_t k = 0; k < n; k++)
		for (int s = 0; s < 2; s++) {
			enum way way;

			if (g->blocks[k].succ[s] != b)
				continue;
			way = way_from(p, &g->blocks[k], j);
			if (copy[way] == FLOW_NONE)
				copy[way] = copy_block(g, b, way);
			g->blocks[k].succ[s] = copy[way];
			g->dead_edges = xgrow(g->dead_edges, g->ndead, &g->capdead, sizeof(*g->dead_edges));
			g->dead_edges[g->ndead++] = (struct flow_edge){ k, b };
		}
	g->blocks[b].succ[0] = g->blocks[b].succ[1] = FLOW_NONE;
}

static bool worth_it(const struct program *p, const struct flow_graph *g, uint32_t b, const struct joined *j)
{
	bool known = false;

	for (unsigned k = 0; k < PROG_MAX_GROUPS; k++)
		if (p->entry[k] < p->ninsns && g->block_of[p->entry[k]] == b)
			return false;
	for (uint32_t k = 0; k < g->nblocks; k++)
		for (int s = 0; s < 2; s++)
			if (g->blocks[k].succ[s] == b) {
				if (g->blocks[k].begin == g->blocks[b].begin)
					return false;
				known = known || way_from(p, &g->blocks[k], j) != WAY_BOTH;
			}
	return known;
}

#define MAX_JOINED 200u /* each takes a look at all blocks */

void flow_thread(const struct program *p, struct flow_graph *g)
{
	uint32_t n = g->nblocks, found = 0;
	struct joined j;

	for (uint32_t b = 0; b < n; b++)
		found += joined_block(p, &g->blocks[b], &j);
	if (!found || found > MAX_JOINED)
		return;
	g->blocks = xreallocarray(g->blocks, (size_t)n + found * NWAYS + 1, sizeof(*g->blocks));
	for (uint32_t b = 0; b < n; b++)
		if (joined_block(p, &g->blocks[b], &j) && worth_it(p, g, b, &j))
			split(p, g, b, &j);
}
