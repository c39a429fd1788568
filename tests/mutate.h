/* Small faults put into a program, one at a time. */
#ifndef WPSIM_MUTATE_H
#define WPSIM_MUTATE_H

#include "program.h"

enum mutate_kind {
	MUTATE_WAIT_DROP,
	MUTATE_WAIT_LOOSEN,   /* each counter of it by one */
	MUTATE_WAIT_EARLIER,  /* one instruction */
	MUTATE_WAIT_LATER,
	MUTATE_BARRIER_DROP,  /* of every group that executes it; a signal goes with its wait */
	MUTATE_BARRIER_EARLIER,
	MUTATE_BARRIER_LATER,
	MUTATE_TILE_UP,
	MUTATE_TILE_DOWN,
	MUTATE_SLOT_LESS,     /* a buffer loses its last slot */
	MUTATE_KINDS
};
const char *mutate_kind_name(enum mutate_kind k);

struct mutant {
	struct program p; /* shares all but insns, access and buffers with the original, which must live longer */
	enum mutate_kind kind;
	uint32_t at;      /* instruction, or buffer */
};

/*
 * Mutant number i of p; false when there are no more. Numbers run from 0 without gaps. What lowering
 * placed for registers or implied (INSN_AUTO_WAIT) is left alone. The caller frees it.
 */
bool mutate(const struct program *p, size_t i, struct mutant *out);
void mutant_free(struct mutant *m);

/* Make it an s_nop of the same size and groups. */
void mutate_nop(struct insn *in);

#endif
