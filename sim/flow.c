/* Control-flow graph of a program, for the analyses that hold on every path. */
#include "flow_internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t flow_branch_target(const struct program *p, uint32_t insn)
{
	const struct insn *in = &p->insns[insn];

	if (in->cls != OPC_BRANCH)
		return FLOW_NONE;
	if (in->target <= 0 && in->loop >= 0 && (size_t)in->loop < p->nloops)
		return p->loops[in->loop].begin;
	return in->target >= 0 && (size_t)in->target < p->ninsns ? (uint32_t)in->target : FLOW_NONE;
}

bool flow_falls_through(const struct program *p, uint32_t insn)
{
	const struct insn *in = &p->insns[insn];

	if (in->cls == OPC_END)
		return false;
	return in->cls != OPC_BRANCH || in->flags & INSN_CONDITIONAL ||
	       (in->target <= 0 && in->loop >= 0);
}

/* Number the blocks: block_of[i] counts the leaders up to i. */
static uint32_t number_blocks(const struct program *p, uint32_t *block_of)
{
	bool *leader = xcalloc(p->ninsns + 1, sizeof(*leader));
	uint32_t n = 0;

	leader[0] = true;
	for (unsigned k = 0; k < PROG_MAX_GROUPS; k++)
		if (p->entry[k] < p->ninsns)
			leader[p->entry[k]] = true;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		uint32_t target = flow_branch_target(p, i);

		if (target != FLOW_NONE)
			leader[target] = true;
		if (p->insns[i].cls == OPC_BRANCH || p->insns[i].cls == OPC_END)
			leader[i + 1] = true;
	}
	for (uint32_t i = 0; i < p->ninsns; i++) {
		n += leader[i];
		block_of[i] = n - 1;
	}
	free(leader);
	return n;
}

static void link_blocks(const struct program *p, struct flow_graph *g)
{
	for (uint32_t b = 0; b < g->nblocks; b++) {
		struct flow_block *k = &g->blocks[b];
		uint32_t target = flow_branch_target(p, k->end - 1);

		k->succ[0] =
			flow_falls_through(p, k->end - 1) && b + 1 < g->nblocks ? b + 1 : FLOW_NONE;
		k->succ[1] = target == FLOW_NONE ? FLOW_NONE : g->block_of[target];
		if (k->succ[1] == k->succ[0])
			k->succ[1] = FLOW_NONE;
	}
}

static void count_pred(struct flow_graph *g, uint32_t to)
{
	if (to != FLOW_NONE)
		g->blocks[to].npreds++;
}

static void add_pred(struct flow_graph *g, uint32_t to, uint32_t from)
{
	if (to != FLOW_NONE)
		g->preds[g->blocks[to].first_pred + g->blocks[to].npreds++] = from;
}

static void list_preds(struct flow_graph *g)
{
	uint32_t at = 0;

	for (uint32_t b = 0; b < g->nblocks; b++)
		for (int s = 0; s < 2; s++)
			count_pred(g, g->blocks[b].succ[s]);
	for (size_t i = 0; i < g->ndead; i++)
		count_pred(g, g->dead_edges[i].to);
	for (uint32_t b = 0; b < g->nblocks; b++) {
		g->blocks[b].first_pred = at;
		at += g->blocks[b].npreds;
		g->blocks[b].npreds = 0;
	}
	g->preds = xcalloc(at + 1u, sizeof(*g->preds));
	for (uint32_t b = 0; b < g->nblocks; b++)
		for (int s = 0; s < 2; s++)
			add_pred(g, g->blocks[b].succ[s], b);
	for (size_t i = 0; i < g->ndead; i++)
		add_pred(g, g->dead_edges[i].to, g->dead_edges[i].from);
}

void flow_graph_build(const struct program *p, struct flow_graph *g)
{
	memset(g, 0, sizeof(*g));
	g->block_of = xcalloc(p->ninsns + 1, sizeof(*g->block_of));
	if (p->ninsns)
		g->nblocks = number_blocks(p, g->block_of);
	g->blocks = xcalloc(g->nblocks + 1u, sizeof(*g->blocks));
	for (uint32_t i = 0; i < p->ninsns; i++) {
		struct flow_block *k = &g->blocks[g->block_of[i]];

		if (k->end == 0)
			k->begin = i;
		k->end = i + 1;
	}
	link_blocks(p, g);
	flow_thread(p, g);
	list_preds(g);
}

void flow_graph_free(struct flow_graph *g)
{
	free(g->blocks);
	free(g->preds);
	free(g->block_of);
	free(g->dead_edges);
	memset(g, 0, sizeof(*g));
}

struct flow_need *flow_need_add(struct flow_result *r, size_t *cap)
{
	r->needs = xgrow(r->needs, r->n, cap, sizeof(*r->needs));
	memset(&r->needs[r->n], 0, sizeof(*r->needs));
	return &r->needs[r->n++];
}

void flow_result_free(struct flow_result *r)
{
	free(r->needs);
	memset(r, 0, sizeof(*r));
}
