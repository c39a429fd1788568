/* Shared by emit_ptx*.c. What the text looks like and why: docs/sm_90.md. */
#ifndef WPSIM_EMIT_PTX_H
#define WPSIM_EMIT_PTX_H

#include "emit.h"

#define PTX_MAX_TABLES 96    /* of 32-bit words in constant memory */
#define PTX_MAX_POINTERS 64
#define PTX_MAX_MASKS 32
#define PTX_MAX_SLOTS 64
#define PTX_LOOP_LABELS 16000u
#define PTX_MAX_STREAMS 16

struct ptx_table { /* one word a lane or a warp */
	uint32_t *word;
	unsigned n;
};

struct ptx_address { /* shared memory: register %sa<i> = base + lane's word + warp's word */
	int lane, warp; /* tables, -1: all 0 */
};

struct ptx_pointer { /* global memory: register %gp<i> */
	int global;
	int lane, warp; /* tables of bytes in global memory, -1: all 0 */
};

struct ptx_slot { /* register %sl<i>: (K-step + tile) mod slots * bytes of a slot, in the loop being emitted */
	unsigned slots, bytes, tile;
};

struct ptx_stream { /* a kernel's global that is read or written in one piece after the other */
	uint64_t per_trip, used; /* bytes of a workgroup: of a trip, given out so far */
	uint64_t outside;        /* of accesses outside loops */
	bool advances;           /* every trip has bytes of its own */
	bool shared;             /* all workgroups use the same bytes */
	uint64_t trips;
};

struct ptx {
	const struct program *p;
	const struct emit_options *o;
	struct kernel_text *out;
	struct diag *d;
	struct strbuf head, setup, body; /* declarations, addresses, the program */
	struct ptx_table table[PTX_MAX_TABLES];
	size_t ntables;
	struct ptx_address address[PTX_MAX_POINTERS];
	size_t naddresses;
	struct ptx_pointer pointer[PTX_MAX_POINTERS];
	size_t npointers;
	uint32_t mask[PTX_MAX_MASKS]; /* bit w: warp w executes; predicate %pm<i> */
	size_t nmasks;
	struct ptx_slot slot[PTX_MAX_SLOTS]; /* of the loop being emitted */
	size_t nslots, max_slots;
	struct ptx_stream stream[PTX_MAX_STREAMS];
	bool used[256];   /* registers %v<i> that the program names */
	unsigned nregs;
	int loop;         /* being emitted, -1: none */
	unsigned nlabels; /* of that loop */
	unsigned *labels; /* of each loop, as counted when the program was written the first time */
	bool matrix, memory; /* a matrix op, an access to memory stands behind the last label */
	int64_t pos;      /* K-steps that the pointers have moved on */
	bool moved;       /* the pointers' additions of this loop are written */
	bool stored;      /* C is written */
	uint32_t region;  /* warps that execute the code being written, behind a branch of the others; 0: none */
	unsigned nregions;
	int chain;        /* register that the next load's address depends on, -1: none */
	unsigned scratch; /* next of the registers that take results nobody names */
	int arg_a, arg_b, arg_c, arg_stamps, arg_global[PTX_MAX_STREAMS];
	bool failed;
};

#define PTX_SCRATCH 8u /* registers %x<i> */

void ptx_fail(struct ptx *x, struct loc loc, enum diag_code code, const char *fmt, ...) PRINTF_LIKE(4, 5);
uint32_t ptx_waves(const struct ptx *x, const struct insn *in);

/* emit_ptx_addr.c */
int ptx_table_of(struct ptx *x, const uint32_t *word, unsigned n, struct loc loc);
/* Register and constant offset of an access to shared memory; writes an addition when the slot turns with the loop. */
bool ptx_shared(struct ptx *x, const struct insn *in, char *text, size_t size);
/* The same of the global memory that an access reads or writes. */
bool ptx_global(struct ptx *x, const struct insn *in, char *text, size_t size);
void ptx_streams(struct ptx *x);
void ptx_slots_begin(struct ptx *x, const struct loop *l);
void ptx_slots_turn(struct ptx *x, const struct loop *l);
void ptx_pointers_move(struct ptx *x, int64_t steps);
void ptx_addresses(struct ptx *x); /* set-up code for all of them */
/* Begin, go on with or end a piece of code that only some warps execute, in front of instruction i. */
void ptx_region(struct ptx *x, uint32_t i);
const char *ptx_guard(struct ptx *x, uint32_t waves, char *text, size_t size); /* "@%pm1 ", or "" when all warps execute */

/* emit_ptx_insn.c */
void ptx_insn(struct ptx *x, const struct insn *in);
/* Use what load i brought where the program itself does not before it is overwritten: the assembler keeps no idle load. */
void ptx_use(struct ptx *x, uint32_t i);

/* emit_ptx_store.c */
void ptx_store_c(struct ptx *x, struct loc loc);
void ptx_keep_results(struct ptx *x);

#endif
