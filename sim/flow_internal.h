/* What the files flow*.c share: the control-flow graph of a program. */
#ifndef WPSIM_FLOW_INTERNAL_H
#define WPSIM_FLOW_INTERNAL_H

#include "flow.h"

struct flow_block { /* insns [begin, end); control enters at begin only */
	uint32_t begin, end;
	uint32_t succ[2];    /* blocks, FLOW_NONE */
	uint32_t first_pred; /* in flow_graph.preds */
	uint32_t npreds;
};
#define FLOW_NONE UINT32_MAX

struct flow_edge { uint32_t from, to; };

/*
 * Copies of blocks (flow_thread.c) stand behind the others. The block that was copied keeps the ways in,
 * for those who look backwards from its instructions, and has no way out: the copies have.
 */
struct flow_graph {
	struct flow_block *blocks; /* in program order */
	uint32_t nblocks;
	uint32_t *preds;
	uint32_t *block_of; /* per instruction: never a copy */
	struct flow_edge *dead_edges; /* ways into copied blocks: in preds, not in succ */
	size_t ndead, capdead;
};

void flow_graph_build(const struct program *p, struct flow_graph *g);
void flow_graph_free(struct flow_graph *g);
/* Where the branch may go besides the next instruction; FLOW_NONE: nowhere in the program. */
uint32_t flow_branch_target(const struct program *p, uint32_t insn);
/* May control go on with the next instruction? */
bool flow_falls_through(const struct program *p, uint32_t insn);

/* Take blocks apart whose branch follows from the way that control came. */
void flow_thread(const struct program *p, struct flow_graph *g);

/* Append a need. */
struct flow_need *flow_need_add(struct flow_result *r, size_t *cap);

#endif
