/* Shared by explorer*.c: the program written out as one straight line a wave. */
#ifndef WPSIM_EXPLORER_INTERNAL_H
#define WPSIM_EXPLORER_INTERNAL_H

#include "explorer.h"

#define X_MAX_STEPS 20000u /* of one wave */
#define X_MAX_IDS 6        /* split barriers in use */
#define X_NEVER UINT32_MAX
#define X_TAG_TILE_BITS 20 /* of a tag; the buffer stands above */
#define X_TAG_TILE_BIAS (1 << (X_TAG_TILE_BITS - 1))

enum x_act { X_NONE, X_SAMPLE, X_STORE }; /* what an operation does to LDS */

struct x_op { /* one memory operation of one wave */
	uint32_t insn, step;  /* step: index into the wave's line */
	unsigned wave;
	enum x_act act;
	bool stream;          /* LDS operation: acts in order with its wave's others */
	bool gone;            /* not issued on an edge tile, whose data nobody needs: counts as complete */
	bool unordered;       /* its counter may report it before older ones */
	int counter;          /* -1: nothing ever waits for it */
	uint32_t done;        /* step that needs it complete, X_NEVER */
	int64_t tile;
	uint32_t tag;         /* buffer and tile, never 0; 0 for X_NONE */
	const uint32_t *piece; /* LDS pieces it touches */
	size_t npieces;
};

struct x_step {
	uint32_t insn;
	int32_t op;             /* index into ops, -1 */
	uint32_t use, nuse;     /* operations whose registers it needs: uses[use .. use + nuse) */
	int64_t trip;           /* of the innermost loop, -1 outside */
};

struct x_line {
	struct x_step *step;
	size_t n, cap;
};

struct x_key { /* the bytes of one access as one wave makes it in one slot */
	int32_t access;
	unsigned wave, slot;
	uint32_t *piece;
	size_t npieces;
};

struct x_prog {
	const struct program *p;
	bool edge;
	struct x_line line[PROG_MAX_WAVES];
	struct x_op *ops;
	size_t nops, capops;
	uint32_t *uses;
	size_t nuses, capuses;
	struct x_key *keys;
	size_t nkeys, capkeys;
	size_t npieces;
	int id[X_MAX_IDS]; /* split barriers in use */
	unsigned nids;
	struct explore_result *r;
	bool stop;         /* r holds a verdict */
};

/* Visited states: fixed-size keys, each with the state it was reached from and by what. */
struct x_set {
	size_t size; /* of a key */
	unsigned char *key;
	uint32_t *parent, *how;
	size_t n, cap, max;
	uint32_t *slot;
	size_t nslots;
};
void x_set_init(struct x_set *s, size_t size, size_t max);
void x_set_free(struct x_set *s);
/* False when the set is full. */
bool x_set_add(struct x_set *s, const void *key, uint32_t parent, uint32_t how);

/* Straight line of wave w, its operations; then, for all waves, the pieces they touch. */
void x_write_out(struct x_prog *x, unsigned w);
void x_find_pieces(struct x_prog *x);
/* When each operation of wave w is complete at the latest; faults of its registers. full: leave uses that
 * come too early to the search. */
void x_walk_wave(struct x_prog *x, unsigned w, bool full);

unsigned x_group(const struct program *p, unsigned wave);
int x_id(const struct x_prog *x, int barrier); /* index into id */
unsigned x_members(const struct x_prog *x, const struct insn *in, unsigned live);
void explorer_fault(struct x_prog *x, enum explore_fault f, const char *fmt, ...) PRINTF_LIKE(3, 4);
void x_too_large(struct x_prog *x, const char *why);
/* "wave 1 insn 12 (lds-read) trip 3 tile 4" in a static buffer, one of four in turn. */
const char *x_step_name(const struct x_prog *x, unsigned wave, uint32_t step);

/* The search in full: every event a step. Sets x->r. */
void x_search_full(struct x_prog *x, size_t max_states);

#endif
