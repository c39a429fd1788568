/*
 * A small interpreter of the PTX that emit_ptx writes, for tests: written from the PTX manual, it shares nothing with
 * the emitter. Warps run in a given order up to barriers; copies land as late as their waits allow, or at once.
 */
#ifndef PTX_EXEC_H
#define PTX_EXEC_H

#include <stddef.h>
#include <stdint.h>

struct ptx_memory { /* of one argument: pointer i is i + 1 shifted left by 40 bits */
	uint8_t *bytes;
	size_t size;
};

struct ptx_run {
	const char *text;
	struct ptx_memory arg[12];
	size_t nargs;
	unsigned threads, shared_bytes;
	unsigned workgroup;
	int early;      /* copies land when they are issued, not when they are waited for */
	unsigned order; /* which warp goes first, and whether they go up or down */
	uint64_t limit; /* warp instructions; 0: ten million */
	char error[200]; /* "" when all went well */
	uint64_t insns, mma, copies, barriers; /* executed */
};

void ptx_execute(struct ptx_run *r);

#endif
