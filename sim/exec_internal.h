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
};

/* ---- waves ---- */

#define X_SCALARS (REG_COUNT - REG_SGPR)
#define X_MAX_FLIGHT 256

enum { XS_UNDEF = 1, XS_UNKNOWN = 2 }; /* taints of a value: never written; depends on unknown arguments */

struct xlanes { uint64_t undef, unknown; }; /* taint of a vector register, a bit per lane */

struct xgroup; /* a workgroup being executed (exec.c) */

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
};

struct xmemory; /* global memory (exec_memory.c) */

/* Report at the instruction that w executes, once per instruction and code; always returns -1. lane -1: none. */
int x_fault(struct xwave *w, const struct xinsn *in, enum diag_code code, int lane, const char *fmt, ...) PRINTF_LIKE(5, 6);
bool x_analysis(const struct xwave *w);
const struct target *x_target(const struct xwave *w);
bool x_gfx9(const struct xwave *w);

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
uint32_t x_lds_bytes(const struct xwave *w);

#endif
