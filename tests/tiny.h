/* Small programs built by hand, instruction by instruction, for the explorer and the checker. */
#ifndef WPSIM_TINY_H
#define WPSIM_TINY_H

#include "program.h"

struct tiny {
	struct program *p;
	struct src *src; /* a line an instruction; their places point here once tiny_finish was called */
	size_t capinsns, capaccess, capbuffers, caploops;
	int loop;        /* open one, -1 */
};

enum tiny_base { TINY_LOOP, TINY_FIRST, TINY_LAST };
struct tiny_tile { /* k + at inside the loop; tile number at; at places before the last tile */
	enum tiny_base base;
	int at;
};

/* Bytes [from + (wave - first) * step, + bytes) of a slot; step 0: the same bytes for every wave. */
struct tiny_range {
	uint32_t from, bytes, step, first;
};

#define TINY_ALL 0xff /* every group */

struct tiny *tiny_new(const struct target *t, unsigned waves, unsigned groups);
void tiny_free(struct tiny *t); /* NULL is allowed */
int32_t tiny_buffer(struct tiny *t, char operand, uint32_t slot_bytes, unsigned slots);
/* A buffer over the bytes of another one. */
int32_t tiny_alias(struct tiny *t, char operand, int32_t of, uint32_t slot_bytes, unsigned slots);

/* Each adds one instruction; the pointer is good until the next one is added. */
struct insn *tiny_read(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r,
		       unsigned reg);
struct insn *tiny_write(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r,
		       unsigned reg);
struct insn *tiny_copy(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r);
struct insn *tiny_tdm(struct tiny *t, unsigned groups, int32_t buffer, struct tiny_tile k, struct tiny_range r);
struct insn *tiny_load(struct tiny *t, unsigned groups, char operand, struct tiny_tile k, unsigned reg);
struct insn *tiny_smem(struct tiny *t, unsigned groups, unsigned sreg);
struct insn *tiny_valu(struct tiny *t, unsigned groups, unsigned dst, unsigned src);
struct insn *tiny_salu(struct tiny *t, unsigned groups, unsigned dst, unsigned src);
struct insn *tiny_mma(struct tiny *t, unsigned groups, unsigned acc, unsigned a, unsigned b);
struct insn *tiny_wait(struct tiny *t, unsigned groups, enum counter c, unsigned value);
struct insn *tiny_barrier(struct tiny *t, unsigned groups);
struct insn *tiny_signal(struct tiny *t, unsigned groups, int id);
struct insn *tiny_await(struct tiny *t, unsigned groups, int id);
void tiny_loop(struct tiny *t, uint64_t trips, unsigned steps);
void tiny_loop_end(struct tiny *t);
/* Ends the program: ksteps K-steps in all. Returns t->p. */
struct program *tiny_finish(struct tiny *t, uint64_t ksteps);

/* Operands of the builder's matrix ops are so many registers each. */
#define TINY_REGS 2

/* One line for each instruction, into b. */
void tiny_print(const struct program *p, struct strbuf *b);

#endif
