/* Shared by exec*.c: decoded instructions, waves, memory, and the tables of operations. */
#ifndef WPSIM_EXEC_INTERNAL_H
#define WPSIM_EXEC_INTERNAL_H

#include <string.h>

#include "exec.h"
#include "listing_internal.h"

/* ---- decoded instructions (exec_prepare.c) ---- */

enum xtype { /* how an operand's bits are read; decides what an inline constant such as 1.0 or -1 becomes */
	XT_NONE, XT_B16, XT_I16, XT_U16, XT_F16, XT_BF16, XT_B32, XT_I32, XT_U32, XT_F32, XT_PK16, XT_PKF16, XT_PKBF16, XT_PKF32,
	XT_B64, XT_I64, XT_U64, XT_F64, XT_MASK, /* a bit per lane */
	XT_WIDE, /* more registers, read by the operation itself */
};

struct xwave;
struct xinsn;
/* Execute one instruction of one wave. 0; -1 after x_fault. The core has checked poison and moves pc on. */
typedef int (*xfn)(struct xwave *w, const struct xinsn *in);

/*
 * One row of an operation table. types: one word an operand in the order of the text, e.g. "f32 f32 f32";
 * words are those of xtype in lower case without XT_ ("b32", "pkf16", "mask", "wide", "none"). The first
 * destination comes first. names as in insn.def: one mnemonic without encoding suffix or one {a,b} family.
 */
struct xop {
	const char *names;
	const char *types;
	xfn fn;
	intptr_t arg; /* for fn: lets one function serve several mnemonics */
};
extern const struct xop xops_salu[], xops_valu[], xops_memory[], xops_matrix[], xops_lds[];
extern const size_t nxops_salu, nxops_valu, nxops_memory, nxops_matrix, nxops_lds;

struct xopnd {
	enum operand_kind kind; /* REG, VALUE (resolved to bits by type), OFF, NONE; SYMBOL: special */
	enum xtype type;
	bool vector;            /* REG in the vector files */
	bool neg, abs, sext, high;
	uint8_t sel;            /* SDWA: enum xsel; XSEL_DWORD otherwise */
	bool op_sel, op_sel_hi, neg_lo, neg_hi; /* VOP3P and 16-bit halves */
	uint16_t reg, n;
	uint64_t bits;          /* VALUE; 16-bit types: low half (PK types: both halves as the hardware fills them) */
	const char *special;
};
enum xsel { XSEL_DWORD, XSEL_BYTE_0, XSEL_BYTE_1, XSEL_BYTE_2, XSEL_BYTE_3, XSEL_WORD_0, XSEL_WORD_1 };

struct xmem { /* modifiers of memory instructions */
	int32_t offset, offset0, offset1;
	bool offen, idxen, lds, glc, tfe, gds, has_offset1;
	int32_t cpol; /* as far as numbers go; not acted on */
};
struct xdpp {
	bool on, bound_ctrl, fi;
	uint8_t kind;             /* enum xdpp_kind */
	uint8_t arg;              /* shift, mask or lane */
	uint8_t quad[4], lane8[8];
	uint8_t row_mask, bank_mask;
};
enum xdpp_kind { XDPP_QUAD, XDPP_ROW_SHL, XDPP_ROW_SHR, XDPP_ROW_ROR, XDPP_WAVE_SHL, XDPP_WAVE_SHR, XDPP_WAVE_ROL, XDPP_WAVE_ROR,
	XDPP_MIRROR, XDPP_HALF_MIRROR, XDPP_BCAST15, XDPP_BCAST31, XDPP_NEWBCAST, XDPP_SHARE, XDPP_XMASK, XDPP_DPP8 };
struct xmatrix { /* modifiers of matrix instructions */
	uint8_t cbsz, abid, blgp;
	uint8_t fmt_a, fmt_b;      /* f8f6f4: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4 */
	uint8_t scale_fmt_a, scale_fmt_b, scale_row_a, scale_row_b; /* gfx1250 */
	uint8_t op_sel_a, op_sel_b; /* gfx950 scale byte: op_sel + 2 * op_sel_hi */
	uint8_t neg_lo, neg_hi;
	bool clamp, reuse_a, reuse_b;
};

#define X_MAX_OPNDS 8
struct xinsn {
	const struct insn *base;
	const struct xop *op;
	xfn fn;
	intptr_t arg;
	uint32_t index;        /* in program.insns */
	uint8_t n;             /* operands */
	struct xopnd o[X_MAX_OPNDS];
	bool clamp;
	uint8_t omod;          /* 0, 1: *2, 2: *4, 3: /2 */
	uint8_t dst_sel, dst_unused; /* SDWA: enum xsel; 0 pad, 1 sext, 2 preserve */
	struct xdpp dpp;
	struct xmem mem;
	struct xmatrix mx;
	uint64_t simm;         /* immediate of SOPP, SOPK, s_setreg and the like */
	const struct xinsn *dual; /* second half of a v_dual */
	uint8_t src0;          /* operand that DPP moves between lanes */
	uint8_t nread, nwrite; /* registers read and written, hidden ones too; of this half of a v_dual */
	struct span read[12], write[6];
	uint8_t read_role[12]; /* enum span_role */
	uint32_t flags;        /* enum xflags, exec_core.h */
};

/* ---- waves ---- */

#define X_SCALARS (REG_COUNT - REG_SGPR)
#define X_MAX_FLIGHT 256

enum { XS_UNDEF = 1, XS_UNKNOWN = 2 }; /* taints of a value: never written; depends on unknown arguments */

struct xlanes { uint64_t undef, unknown; }; /* taint of a vector register, a bit per lane */

struct xgroup; /* a workgroup being executed (exec.c) */

struct xflight { /* an operation in flight */
	uint32_t insn;
	uint32_t ticket;    /* of x_race_issue, 0: none */
	uint8_t counter, also; /* 1 + enum counter; 0: none, or complete as far as that one goes */
	uint8_t order;      /* operations of one order and counter complete in order; 0: in any order */
	uint8_t n;
	struct span dst[2];
};

struct xwave {
	struct xgroup *wg;
	unsigned id, lanes;        /* wave of the workgroup; 64 or 32 */
	uint64_t all;              /* mask of the lanes there are */
	uint32_t pc;               /* index into program.insns */
	uint32_t next_pc;          /* set by branches; pc + 1 otherwise */
	uint64_t exec;             /* cached from the scalar file: use x_set_exec */
	uint32_t s[X_SCALARS];     /* index: register number - REG_SGPR; VCC, EXEC, M0, SCC among them */
	uint8_t s_taint[X_SCALARS];
	uint8_t s_pending[X_SCALARS];
	uint32_t *v;               /* [register * lanes + lane]; registers as numbered in program.h, below REG_SGPR */
	struct xlanes *v_taint;    /* [register] */
	uint8_t *v_pending;        /* [register] */
	uint32_t mode;             /* MODE register: rounding and denormals, as s_setreg leaves it */
	bool places_only;          /* analysis: of a copy from or to unknown memory only the LDS side is noted */
	struct xlocal *local;      /* LDS, scratch and races of the workgroup (x_local_new) */
	/* Per-bit taints of scalar registers, where s_taint[i] is set. Lane masks have a bit per lane. */
	uint32_t s_undef[X_SCALARS], s_unknown[X_SCALARS];
	uint64_t write_mask;       /* lanes that x_lanes_put writes: EXEC, less those that DPP leaves out */
	struct xflight flight[X_MAX_FLIGHT]; /* operations in flight, in order of issue */
	unsigned nflight;
	struct xcore *core;        /* what only the core's files look at */
};

struct xmemory; /* global memory (exec_memory.c) */

/* Report at the instruction that w executes, once per instruction and code; always returns -1. lane -1: none. */
int x_fault(struct xwave *w, const struct xinsn *in, enum diag_code code, int lane, const char *fmt, ...) PRINTF_LIKE(5, 6);
bool x_analysis(const struct xwave *w);
const struct target *x_target(const struct xwave *w);
bool x_gfx9(const struct xwave *w);
const struct exec_options *x_options(const struct xwave *w);
const struct listing_info *x_info(const struct xwave *w);
uint64_t x_workgroup(const struct xwave *w);                  /* linear number */
unsigned x_cluster_rank(const struct xwave *w);               /* of the workgroup in its cluster, x fastest */

/* ---- taints; the core moves them through everything but memory ---- */

/* Lanes of vector registers reg .. reg + n - 1 that have the taint XS_UNDEF or XS_UNKNOWN. */
uint64_t x_tainted(const struct xwave *w, unsigned reg, unsigned n, unsigned taint);
/*
 * The core clears the taints of all destinations (active lanes) before fn of a memory operation runs and
 * marks them unknown behind it in analysis mode, but those of scalar loads. Where loaded bytes were never written the operation adds
 * the taint itself: lanes is a mask of lanes; for a scalar register any lane means all of it.
 */
void x_taint(struct xwave *w, unsigned reg, uint64_t lanes, unsigned taint);
/*
 * Also done by the core before fn: poison of all operands; E_UNINIT of address operands (ROLE_ADDR; active
 * lanes) and of data stored to global memory by other than flat and scratch operations; and in analysis
 * mode, when an address is unknown in an active lane: fn does not run, the site counts unknown_addresses.
 */

/* ---- operands: i counts in text order, the destination of most instructions is 0 ---- */

static inline uint32_t x_sget(const struct xwave *w, unsigned reg) { return w->s[reg - REG_SGPR]; }
void x_sput(struct xwave *w, unsigned reg, uint32_t value);              /* keeps exec's copy right */
void x_set_exec(struct xwave *w, uint64_t mask);
static inline uint32_t *x_vreg(const struct xwave *w, unsigned reg) { return w->v + (size_t)reg * w->lanes; }
/* Scalar value of operand i (SGPR, constant, special source); 64: of two registers. */
uint32_t x_scalar32(const struct xwave *w, const struct xinsn *in, unsigned i);
uint64_t x_scalar64(const struct xwave *w, const struct xinsn *in, unsigned i);
void x_scalar_put32(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t v);
void x_scalar_put64(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t v);
void x_set_scc(struct xwave *w, bool v);
bool x_scc(const struct xwave *w);
uint64_t x_mask_get(const struct xwave *w, const struct xinsn *in, unsigned i); /* lane mask operand: 1 or 2 registers */
void x_mask_put(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t mask); /* bits of inactive lanes become 0 */
uint64_t x_vcc(const struct xwave *w);
void x_vcc_put(struct xwave *w, uint64_t mask);
/*
 * Word word (0 the lowest) of operand i for all lanes: points into the register file, or at buf filled with a
 * scalar or constant. After SDWA/DPP selection, before neg/abs (the operations apply these by type).
 */
const uint32_t *x_lanes(struct xwave *w, const struct xinsn *in, unsigned i, unsigned word, uint32_t buf[64]);
/* Write word of vector destination i for the active lanes (SDWA dst_sel, DPP masks, op_sel high halves obeyed). */
void x_lanes_put(struct xwave *w, const struct xinsn *in, unsigned i, unsigned word, const uint32_t value[64]);

/* ---- memory (exec_memory.c), LDS and races (exec_race.c) ---- */

struct xspan_access { /* bytes of one lane */
	uint64_t addr;
	uint32_t bytes;
};

/* Global memory. 0, or -1 after a fault. Reads give defined = false when the bytes were never written. */
int x_global_read(struct xwave *w, const struct xinsn *in, unsigned lane, uint64_t addr, void *to, unsigned bytes, bool *defined);
int x_global_write(struct xwave *w, const struct xinsn *in, unsigned lane, uint64_t addr, const void *from, unsigned bytes);
/*
 * LDS. kind says which queue orders the access inside the wave: accesses of one kind of one wave are in order,
 * others only when waited for. The access is recorded for races and bank conflicts.
 */
enum xlds_kind { XLDS_DS, XLDS_COPY, XLDS_TENSOR };
int x_lds_read(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr, void *to, unsigned bytes, bool *defined);
int x_lds_write(struct xwave *w, const struct xinsn *in, unsigned lane, uint32_t addr, const void *from, unsigned bytes, enum xlds_kind kind);
/* Once per LDS instruction before its lanes: addresses for statistics and on_insn. */
void x_lds_begin(struct xwave *w, const struct xinsn *in, const uint32_t addr[64], unsigned width_bytes, bool write, bool unknown);
/* The same for an access of n equal pieces instead of lanes, at most X_MAX_PIECES; without bank conflicts. */
void x_lds_pieces(struct xwave *w, const uint32_t *addr, unsigned n, unsigned width_bytes, bool write);
uint32_t x_lds_bytes(const struct xwave *w);

/* ---- the memory system as exec.c sees it (exec_memory.c) ---- */

#define X_SHARED_BASE 0x0001000000000000ull  /* flat addresses of LDS and scratch: src_shared_base, src_private_base */
#define X_PRIVATE_BASE 0x0002000000000000ull
#define X_APERTURE_BYTES 0x100000000ull

struct xmemory *x_memory_new(const struct program *p, bool analysis);
void x_memory_free(struct xmemory *m);
/*
 * Make bytes of the host visible to the kernel; returns their address there. name is for messages and must
 * outlive m. Buffers, the kernel argument segment, tables of constants. data NULL (analysis): contents unknown.
 */
uint64_t x_memory_map(struct xmemory *m, const char *name, void *data, uint64_t bytes, bool writable, bool initialised);
/* Analysis: reads of these bytes give unknown values. */
void x_memory_unknown(struct xmemory *m, uint64_t address, uint64_t bytes);

/* Memory of one workgroup. site: counts of the caller's thread, [program.ninsns]. One a workgroup; set xwave.local. */
struct xlocal *x_local_new(struct xmemory *m, uint64_t workgroup, unsigned waves, unsigned lanes, uint32_t lds_bytes,
			   uint32_t scratch_bytes, struct exec_site *site);
void x_local_free(struct xlocal *l); /* hands its races over to m */
/* The workgroups of one cluster, run by one thread: multicast and cluster barriers. At most 16. */
void x_local_cluster(struct xlocal *const *member, unsigned n);
/* LDS access of the instruction that w executed last, NULL: none. For on_insn. x_race_issue forgets it. */
const struct exec_lds *x_local_access(const struct xwave *w);

/* ---- races (exec_race.c) as exec.c and exec_sync.c see them ---- */

#define X_MAX_CLOCKS 512 /* waves of a cluster */
struct xclock { uint32_t at[X_MAX_CLOCKS]; }; /* all 0 at first; a barrier has one for each phase under way */

/* Before each memory instruction (LDS, vector, flat, scalar, tensor) is executed: its operation. */
uint32_t x_race_issue(struct xwave *w, const struct xinsn *in);
/* A wait of w covers the operation (all of its counters). */
void x_race_retire(struct xwave *w, uint32_t op);
/* w arrives at a barrier (signals): its clock goes into the phase's. */
void x_race_arrive(struct xwave *w, struct xclock *phase);
/* w goes on behind the barrier (its wait is over): it sees what all that arrived had completed. */
void x_race_release(struct xwave *w, const struct xclock *phase);
/* After the launch, all x_local freed: findings E_RACE, the same whatever order the waves ran in. Their number. */
size_t x_race_report(struct xmemory *m, struct diag *d);

#endif
