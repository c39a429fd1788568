/*
 * Arithmetic of the executor: reading typed operands for all lanes, writing results, and the declarations of
 * every operation of exec_valu.def. Operations compute all lanes; x_lanes_put writes the active ones.
 */
#ifndef WPSIM_EXEC_ALU_H
#define WPSIM_EXEC_ALU_H

#include "exec_float.h"
#include "exec_internal.h"

#define LANES(w) for (unsigned l = 0, lanes_ = (w)->lanes; l < lanes_; l++)

/* ---- sources ---- */

static inline bool alu_high(const struct xopnd *o) { return o->op_sel || o->high; }
/* f32 with its negation and absolute value. */
const uint32_t *alu_f32(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t buf[64]);
/* 16-bit source in the low half, the upper half 0; sign bits by neg and abs when its type is a float's. */
const uint32_t *alu_h16(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t buf[64]);
/* Both words of a 64-bit source. */
void alu_u64(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t out[64]);
void alu_f64(struct xwave *w, const struct xinsn *in, unsigned i, uint64_t out[64]);
/* The halves of a packed 16-bit source after op_sel and op_sel_hi; neg_lo and neg_hi flip the signs of floats. */
void alu_pk16(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t lo[64], uint32_t hi[64]);
/* What the destination holds before the instruction: word of operand 0. */
static inline const uint32_t *alu_old(const struct xwave *w, const struct xinsn *in, unsigned word)
{
	return x_vreg(w, in->o[0].reg + word);
}

/* ---- results ---- */

/* Output modifiers, then the write of destination 0. */
void alu_put_f32(struct xwave *w, const struct xinsn *in, uint32_t r[64]);
void alu_put_f64(struct xwave *w, const struct xinsn *in, uint64_t r[64]);
void alu_put_u64(struct xwave *w, const struct xinsn *in, const uint64_t r[64]);
/*
 * 16-bit results (upper halves 0). The half that is not written keeps its value on gfx1250; gfx9 writes zeros above a
 * low result unless keep.
 */
void alu_put_16(struct xwave *w, const struct xinsn *in, uint32_t r[64], bool keep);
void alu_put_f16(struct xwave *w, const struct xinsn *in, uint32_t r[64], bool keep);
float alu_clamp_f32(float f);
uint32_t alu_clamp_f16(uint32_t h);
uint32_t alu_clamp_bf16(uint32_t h);

/* The list of modifier op_sel as written (up to 4 bits, bit i: element i), 0 without. */
unsigned alu_op_sel(const struct xinsn *in);
/* Value of an integer modifier such as byte_sel, or none. */
int64_t alu_modifier(const struct xinsn *in, const char *name, int64_t none);
/* MODE.FP16_OVFL: results too large for a small format become its largest number. */
static inline bool alu_saturates(const struct xwave *w) { return w->mode >> 23 & 1; }

enum { T_EXP, T_LOG, T_RCP, T_RSQ, T_SQRT, T_SIN, T_COS, T_TANH }; /* arguments of the xv_trans_* */

#define XOP(names, types, fn, arg) int fn(struct xwave *w, const struct xinsn *in);
#define XOP_FLOAT(prefix, suffix, types, fn, arg) XOP(, , fn, )
#define XOP_INT(prefix, suffix, types, fn, arg) XOP(, , fn, )
#include "exec_valu.def"
#undef XOP
#undef XOP_FLOAT
#undef XOP_INT

#endif
