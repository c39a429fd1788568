/*
 * The checker: proves or refutes, for every interleaving that barriers and waits allow, that each LDS
 * access sees the tile it names. Independent of the engine. How it decides: docs/checker.md.
 */
#ifndef WPSIM_CHECK_H
#define WPSIM_CHECK_H

#include "diag.h"
#include "program.h"

/* One wait on one counter, over all its executions. */
struct check_wait {
	uint32_t insn;          /* index into program.insns */
	uint8_t counter;
	unsigned written;
	unsigned required;      /* loosest value that keeps every order it alone guarantees */
	bool needed;            /* false: every order also holds without it; required is then the counter's max */
	uint32_t for_insn;      /* the oldest instruction whose completion it guarantees, UINT32_MAX: none */
	uint32_t before_insn;   /* what must not come earlier: the barrier or the consumer */
	uint32_t latest;        /* instructions from it to the first that any of its orders holds back, UINT32_MAX: none */
	bool cross_wave;        /* the order is between waves */
	bool short_of;          /* written > what an order needs */
};

struct check_result {
	struct check_wait *waits; /* program order; one entry a counter named by a wait */
	size_t nwaits;
	uint64_t barriers[PROG_MAX_GROUPS]; /* workgroup barrier arrivals of a wave of each group, whole kernel */
	uint32_t *spare;          /* barriers (insn index) that no order needs */
	size_t nspare;
	unsigned window_trips;    /* loop trips that were examined one by one */
	uint64_t pairs;           /* access pairs decided */
	size_t accesses;          /* tile accesses in the window */
};

/* What each group's waves execute, when it was found by following the program (paths.h) instead of its loops. */
struct check_access { /* one LDS instruction as executed */
	const uint32_t *addr; /* [waves of the group][lanes] first byte, UINT32_MAX: the lane makes no access */
	uint16_t lanes, width_bytes;
	bool write, atomic;
	bool copy;            /* the data come from or go to another memory: not in LDS order */
};
struct check_step {
	uint32_t insn;
	int32_t access;       /* index into access, -1: touches no LDS, or nobody knows where */
};
struct check_paths {
	unsigned groups;
	struct check_step *step[PROG_MAX_GROUPS];
	size_t n[PROG_MAX_GROUPS];
	struct check_access *access;
	size_t naccess;
	uint64_t unknown;     /* LDS accesses at addresses that are not known */
};

/* Findings go to d. Returns 0 also when there are findings; -1 only when p can't be examined (E_LIMIT). */
int check_program(const struct program *p, struct check_result *out, struct diag *d);
/*
 * The same for a program whose groups take the given paths. LDS is judged by bytes: any two accesses of different
 * waves that touch the same ones, one of them a write, need an order. p->groups and p->waves are set.
 */
int check_followed(const struct program *p, const struct check_paths *paths, struct check_result *out, struct diag *d);
void check_result_free(struct check_result *r);

/* Fill out->spare: barriers without which every order still holds and no wave hangs (one examination a
 * barrier; none when p has a fault). Returns their number. */
size_t check_spare_barriers(const struct program *p, struct check_result *out);

#endif
