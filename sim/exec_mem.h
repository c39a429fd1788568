/* Shared by the memory files of the executor: regions, workgroup memory, lane accesses, atomics. */
#ifndef WPSIM_EXEC_MEM_H
#define WPSIM_EXEC_MEM_H

#include <pthread.h>

#include "exec_internal.h"

/* ---- global memory (exec_memory.c) ---- */

struct xregion {
	const char *name;
	uint64_t base, bytes;
	uint8_t *data;        /* NULL: contents unknown */
	bool writable;
	uint64_t *written;    /* a bit per byte; NULL: all of it has been written */
	uint64_t *unknown;    /* a bit per byte; NULL: none */
};

#define X_ATOMIC_LOCKS 64 /* atomics of different workgroups on one address exclude each other */

struct race;
struct xmemory {
	const struct program *p;
	bool analysis;
	struct xregion *region; /* by base */
	size_t n, cap;
	uint64_t next;
	pthread_mutex_t lock[X_ATOMIC_LOCKS];
	pthread_mutex_t race_lock;
	struct race *race;
	size_t nrace, caprace;
};

/* ---- memory of a workgroup ---- */

enum xaccess { XA_READ, XA_WRITE, XA_ATOMIC, XA_ARRIVE };

struct race_node { /* operation that touched bytes of a granule of 16 */
	uint32_t next, op;
	uint16_t mask, who;   /* who: clock of the wave */
	uint8_t type, kind;   /* enum xaccess; enum xlds_kind or KIND_GLOBAL */
};
#define KIND_GLOBAL 3

struct race_pool {
	struct race_node *node;
	uint32_t n, cap, free;
};

struct race_op {
	uint32_t insn;
	uint32_t issued, retired; /* clock of its wave; retired 0: in flight */
};

struct race_wave {
	struct race_op *op;   /* ring: op[number % cap] */
	uint32_t base, n, cap; /* operations base .. n - 1 are there; older ones are ordered before all that comes */
	uint32_t current;     /* of the instruction being executed, 0: none */
	uint32_t *clock;      /* [nclocks] */
};

#define X_MAX_CLUSTER 16

struct site_memo { /* LDS time of the last address pattern of an instruction */
	uint64_t key;
	unsigned clk, free_clk;
};

#define X_MAX_PIECES 1024 /* of the LDS bytes that one tensor copy touches */

struct xlocal {
	struct xmemory *m;
	uint64_t workgroup;
	unsigned waves, lanes;
	uint8_t *lds, *lds_defined; /* lds_defined: a byte per byte */
	uint32_t lds_bytes;
	uint8_t *scratch, *scratch_defined; /* [wave][lane][scratch_bytes]; allocated at the first access */
	uint32_t scratch_bytes;
	struct exec_site *site;
	struct site_memo *memo;     /* [program.ninsns], allocated at the first LDS access */
	size_t hint;                /* region found last */
	/* LDS access of the last instruction */
	bool accessed;
	struct exec_lds access;
	uint32_t access_addr[X_MAX_PIECES];
	/* races */
	struct xlocal *member[X_MAX_CLUSTER];
	unsigned nmembers, rank, nclocks;
	struct race_wave *wave;     /* [waves] */
	struct race_pool pool;
	uint32_t *lds_head;         /* [granule] first node, 0: none */
	struct granule { uint64_t key; uint32_t head; } *global; /* hash by address / 16 */
	size_t nglobal, capglobal;
	struct race *race;
	size_t nrace, caprace;
	struct lds_barrier *barrier; /* barrier objects in LDS */
	size_t nbarriers, capbarriers;
};

/* ---- races (exec_race.c) ---- */

int race_init(struct xlocal *l);
void race_free(struct xlocal *l);
/* same: the bytes hold that value already. LDS of w's own workgroup. */
void race_lds(struct xwave *w, uint32_t addr, unsigned bytes, enum xaccess type, enum xlds_kind kind, bool same);
void race_global(struct xwave *w, uint64_t addr, unsigned bytes, enum xaccess type, bool same);
/* w arrives at the barrier object in LDS at addr; async: behind its copies. completes: that was the last arrival. */
void race_lds_arrive(struct xwave *w, uint32_t addr, bool async, bool completes);
/* w reads LDS bytes: does it look at a barrier object? Then it sees what all had done that completed it. */
bool race_lds_look(struct xwave *w, uint32_t addr, unsigned bytes);

/* ---- bytes (exec_memory.c) ---- */

/*
 * undef: out for reads, a bit per byte (up to 64) that was never written; in for writes. A read out of
 * bounds is a fault. bytes is 64 at most.
 */
int global_get(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, void *to, unsigned bytes, uint64_t *undef);
bool global_known(const struct xwave *w, uint64_t addr, unsigned bytes); /* analysis: the contents are */
int global_put(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, const void *from, unsigned bytes);
int lds_get(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, void *to, unsigned bytes,
	    enum xlds_kind kind, uint64_t *undef);
int lds_put(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, const void *from, unsigned bytes,
	    enum xlds_kind kind, uint64_t undef);
int scratch_get(struct xwave *w, const struct xinsn *in, unsigned lane, int64_t addr, void *to, unsigned bytes,
		uint64_t *undef);
int scratch_put(struct xwave *w, const struct xinsn *in, unsigned lane, int64_t addr, const void *from, unsigned bytes,
		uint64_t undef);

/* ---- atomics (exec_atomic.c) ---- */

enum xatomic {
	AT_SWAP, AT_CMPSWAP, AT_ADD, AT_SUB, AT_RSUB, AT_SMIN, AT_UMIN, AT_SMAX, AT_UMAX, AT_AND, AT_OR, AT_XOR, AT_INC, AT_DEC,
	AT_FADD, AT_FMIN, AT_FMAX, AT_FMIN_NUM, AT_FMAX_NUM, AT_FCMPSWAP, AT_PK_F16, AT_PK_BF16, AT_SUB_CLAMP, AT_COND_SUB, AT_MSKOR,
	AT_WRAP, AT_ARRIVE,
};
#define BARRIER_COUNT_BITS 29 /* pending count of a barrier object in LDS; a setting of the driver */
/* New value of old with operand a (and b: what cmpswap compares with, OR bits of mskor). flush: enum below. */
enum { FLUSH_IN = 1, FLUSH_OUT = 2 };
uint64_t atomic_apply(enum xatomic op, unsigned bytes, uint64_t old, uint64_t a, uint64_t b, unsigned flush);
/* Read, apply, write back; the old value in *old. */
int global_atomic(struct xwave *w, const struct xinsn *in, unsigned lane, uint64_t addr, enum xatomic op, unsigned bytes,
		  uint64_t a, uint64_t b, uint64_t *old, bool *undef);
int lds_atomic(struct xwave *w, const struct xinsn *in, int lane, uint64_t addr, enum xatomic op, unsigned bytes, uint64_t a,
	       uint64_t b, unsigned flush, enum xlds_kind kind, uint64_t *old, bool *undef);

/* ---- registers of memory instructions ---- */

/* Is operand i a vector (scalar) register, n of them at least? The reader lets other forms of addresses pass. */
static inline bool has_v(const struct xinsn *in, unsigned i, unsigned n)
{
	return i < in->n && in->o[i].kind == OPERAND_REG && in->o[i].vector && in->o[i].n >= n;
}
static inline bool has_s(const struct xinsn *in, unsigned i, unsigned n)
{
	return i < in->n && in->o[i].kind == OPERAND_REG && !in->o[i].vector && in->o[i].n >= n;
}
/* Nothing there: "off", "null". */
static inline bool has_none(const struct xinsn *in, unsigned i)
{
	return i >= in->n || in->o[i].kind == OPERAND_OFF || in->o[i].kind == OPERAND_ABSENT;
}
int bad_operand(struct xwave *w, const struct xinsn *in, unsigned i); /* the finding; -1 */

#define FOR_LANES(mask, lane) \
	for (uint64_t left_ = (mask); left_ && ((lane) = (unsigned)__builtin_ctzll(left_), 1); left_ &= left_ - 1)

/* Bytes of a register in the lane that were never written: 4 bits. */
static inline unsigned undef_word(const struct xwave *w, unsigned reg, unsigned lane)
{
	return w->v_taint[reg].undef >> lane & 1 ? 15u : 0;
}
/* One or two registers of a lane. */
static inline uint64_t reg_value(const struct xwave *w, unsigned reg, unsigned lane, unsigned bytes)
{
	uint64_t v = x_vreg(w, reg)[lane];

	return bytes == 8 ? v | (uint64_t)x_vreg(w, reg + 1)[lane] << 32 : v;
}
/* Write one loaded word and its taint. */
static inline void load_word(struct xwave *w, unsigned reg, unsigned lane, uint32_t v, bool undef)
{
	x_vreg(w, reg)[lane] = v;
	if (undef)
		x_taint(w, reg, 1ull << lane, XS_UNDEF);
}
/* Transposing loads (exec_lds.c): move elements between the lanes' words. */
void transpose_lanes(bool gfx9, unsigned element_bits, unsigned lanes, unsigned words, const uint32_t in[64][4],
		     uint32_t out[64][4]);
/* Lanes that give elements to lane l, as a mask. */
uint64_t transpose_givers(bool gfx9, unsigned element_bits, unsigned words, unsigned lane);

/* One arrival at the barrier object at addr, behind the copies of w (exec_lds.c). */
int lds_barrier_arrive(struct xwave *w, const struct xinsn *in, uint32_t addr);

/* ---- operations ---- */

/* arg of loads and stores */
#define M_BYTES(arg) ((unsigned)((arg) & 0xff))
enum { M_SIGNED = 1 << 8, M_D16 = 1 << 9, M_HI = 1 << 10, M_BUFFER = 1 << 12 /* scalar loads: by resource */ };
/* arg of atomics */
#define M_ATOMIC(op, bytes) ((op) << 8 | (bytes))

int op_buffer_load(struct xwave *w, const struct xinsn *in);
int op_buffer_store(struct xwave *w, const struct xinsn *in);
int op_buffer_atomic(struct xwave *w, const struct xinsn *in);
int op_global_load(struct xwave *w, const struct xinsn *in);
int op_global_store(struct xwave *w, const struct xinsn *in);
int op_global_atomic(struct xwave *w, const struct xinsn *in);
int op_global_addtid(struct xwave *w, const struct xinsn *in);
int op_global_lds(struct xwave *w, const struct xinsn *in);
int op_global_tr(struct xwave *w, const struct xinsn *in);
int op_flat_load(struct xwave *w, const struct xinsn *in);
int op_flat_store(struct xwave *w, const struct xinsn *in);
int op_flat_atomic(struct xwave *w, const struct xinsn *in);
int op_scratch_load(struct xwave *w, const struct xinsn *in);
int op_scratch_store(struct xwave *w, const struct xinsn *in);
int op_scratch_lds(struct xwave *w, const struct xinsn *in);
int op_block(struct xwave *w, const struct xinsn *in);
int op_async_load(struct xwave *w, const struct xinsn *in);
int op_async_store(struct xwave *w, const struct xinsn *in);
int op_smem_load(struct xwave *w, const struct xinsn *in);
int op_smem_store(struct xwave *w, const struct xinsn *in);
int op_tensor_load(struct xwave *w, const struct xinsn *in);
int op_tensor_store(struct xwave *w, const struct xinsn *in);
int op_nothing(struct xwave *w, const struct xinsn *in);

#endif
