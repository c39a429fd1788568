/* Loops of vector operations: one macro for each shape of operands; a, b, c are the sources of a lane. */
#ifndef WPSIM_EXEC_ALU_LOOPS_H
#define WPSIM_EXEC_ALU_LOOPS_H

#include "exec_alu.h"

/* 32-bit integers and bits. */
#define U1(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], r[64];                                                            \
		const uint32_t *pa = x_lanes(w, in, 1, 0, ba);                                     \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l];                                                  \
	\
			r[l] = (uint32_t)(e);                                                      \
		}                                                                                  \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}
#define U2(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb);     \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l];                                       \
	\
			r[l] = (uint32_t)(e);                                                      \
		}                                                                                  \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}
#define U3(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], bc[64], r[64];                                            \
		const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb),     \
			       *pc = x_lanes(w, in, 3, 0, bc);                                     \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l], c = pc[l];                            \
	\
			r[l] = (uint32_t)(e);                                                      \
		}                                                                                  \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}
/* With the destination's old value o as the third source. */
#define U2ACC(fn, e)                                                                               \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb),     \
			       *pc = alu_old(w, in, 0);                                            \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l], c = pc[l];                            \
	\
			r[l] = (uint32_t)(e);                                                      \
		}                                                                                  \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}
/* The exact value in 64 bits; clamp saturates it to [lo, hi]. */
static inline uint32_t alu_saturate(int64_t v, int64_t lo, int64_t hi, bool clamp)
{
	if (clamp)
		v = v < lo ? lo : v > hi ? hi : v;
	return (uint32_t)v;
}
#define S2(fn, lo, hi, e) U2(fn, alu_saturate(e, lo, hi, in->clamp))
#define S3(fn, lo, hi, e) U3(fn, alu_saturate(e, lo, hi, in->clamp))

/* 16-bit integers: zero-extended sources; keep: the upper half survives on gfx9. */
#define W1(fn, keep, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], r[64];                                                            \
		const uint32_t *pa = alu_h16(w, in, 1, ba);                                        \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l];                                                  \
	\
			r[l] = (uint32_t)(e) & 0xffff;                                             \
		}                                                                                  \
		alu_put_16(w, in, r, keep);                                                        \
		return 0;                                                                          \
	}
#define W2(fn, keep, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb);           \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l];                                       \
	\
			r[l] = (uint32_t)(e) & 0xffff;                                             \
		}                                                                                  \
		alu_put_16(w, in, r, keep);                                                        \
		return 0;                                                                          \
	}
#define W3(fn, keep, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], bc[64], r[64];                                            \
		const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb),           \
			       *pc = alu_h16(w, in, 3, bc);                                        \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l], c = pc[l];                            \
	\
			r[l] = (uint32_t)(e) & 0xffff;                                             \
		}                                                                                  \
		alu_put_16(w, in, r, keep);                                                        \
		return 0;                                                                          \
	}

/* 64-bit integers. */
#define Q2(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint64_t pa[64], pb[64], r[64];                                                    \
	\
		alu_u64(w, in, 1, pa);                                                             \
		alu_u64(w, in, 2, pb);                                                             \
		LANES(w) {                                                                         \
			const uint64_t a = pa[l], b = pb[l];                                       \
	\
			r[l] = (uint64_t)(e);                                                      \
		}                                                                                  \
		alu_put_u64(w, in, r);                                                             \
		return 0;                                                                          \
	}
/* 32-bit a, 64-bit b. */
#define QSHIFT(fn, e)                                                                              \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64];                                                                   \
		uint64_t pb[64], r[64];                                                            \
		const uint32_t *pa = x_lanes(w, in, 1, 0, ba);                                     \
	\
		alu_u64(w, in, 2, pb);                                                             \
		LANES(w) {                                                                         \
			const uint32_t a = pa[l] & 63;                                             \
			const uint64_t b = pb[l];                                                  \
	\
			r[l] = (uint64_t)(e);                                                      \
		}                                                                                  \
		alu_put_u64(w, in, r);                                                             \
		return 0;                                                                          \
	}

/* f32: e gives a float. */
#define F1(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], r[64];                                                            \
		const uint32_t *pa = alu_f32(w, in, 1, ba);                                        \
	\
		LANES(w) {                                                                         \
			const float a = xf_f32(pa[l]);                                             \
	\
			r[l] = xf_bits32(e);                                                       \
		}                                                                                  \
		alu_put_f32(w, in, r);                                                             \
		return 0;                                                                          \
	}
#define F2(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb);           \
	\
		LANES(w) {                                                                         \
			const float a = xf_f32(pa[l]), b = xf_f32(pb[l]);                          \
	\
			r[l] = xf_bits32(e);                                                       \
		}                                                                                  \
		alu_put_f32(w, in, r);                                                             \
		return 0;                                                                          \
	}
#define F3(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], bc[64], r[64];                                            \
		const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb),           \
			       *pc = alu_f32(w, in, 3, bc);                                        \
	\
		LANES(w) {                                                                         \
			const float a = xf_f32(pa[l]), b = xf_f32(pb[l]), c = xf_f32(pc[l]);       \
	\
			r[l] = xf_bits32(e);                                                       \
		}                                                                                  \
		alu_put_f32(w, in, r);                                                             \
		return 0;                                                                          \
	}
/* f32 as bits, for selections; old tells the rule for signaling NaNs. */
#define FB2(fn, e)                                                                                 \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb);           \
		const bool old = x_gfx9(w);                                                        \
	\
		(void)old;                                                                         \
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l];                                       \
	\
			r[l] = e;                                                                  \
		}                                                                                  \
		alu_put_f32(w, in, r);                                                             \
		return 0;                                                                          \
	}
#define FB3(fn, e)                                                                                 \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], bc[64], r[64];                                            \
		const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb),           \
			       *pc = alu_f32(w, in, 3, bc);                                        \
		const bool old = x_gfx9(w);                                                        \
	\
		(void)old;                                                                         \
		LANES(w) {                                                                         \
			const uint32_t a = pa[l], b = pb[l], c = pc[l];                            \
	\
			r[l] = e;                                                                  \
		}                                                                                  \
		alu_put_f32(w, in, r);                                                             \
		return 0;                                                                          \
	}

/* f16: e gives the 16 result bits from a, b, c as floats; to bits by xf_to_f16 or the like. */
#define H1(fn, keep, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], r[64];                                                            \
		const uint32_t *pa = alu_h16(w, in, 1, ba);                                        \
	\
		LANES(w) {                                                                         \
			const float a = xf_from_f16(pa[l]);                                        \
	\
			r[l] = (uint32_t)(e) & 0xffff;                                             \
		}                                                                                  \
		alu_put_f16(w, in, r, keep);                                                       \
		return 0;                                                                          \
	}
#define H2(fn, keep, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb);           \
		const bool old = x_gfx9(w);                                                        \
	\
		(void)old;                                                                         \
		LANES(w) {                                                                         \
			const float a = xf_from_f16(pa[l]), b = xf_from_f16(pb[l]);                \
	\
			r[l] = e;                                                                  \
		}                                                                                  \
		alu_put_f16(w, in, r, keep);                                                       \
		return 0;                                                                          \
	}
#define H3(fn, keep, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], bc[64], r[64];                                            \
		const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb),           \
			       *pc = alu_h16(w, in, 3, bc);                                        \
		const bool old = x_gfx9(w);                                                        \
	\
		(void)old;                                                                         \
		LANES(w) {                                                                         \
			const float a = xf_from_f16(pa[l]), b = xf_from_f16(pb[l]),                \
				    c = xf_from_f16(pc[l]);                                        \
	\
			r[l] = e;                                                                  \
		}                                                                                  \
		alu_put_f16(w, in, r, keep);                                                       \
		return 0;                                                                          \
	}

/* f64: doubles a, b, c. */
#define D1(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint64_t pa[64], r[64];                                                            \
	\
		alu_f64(w, in, 1, pa);                                                             \
		LANES(w) {                                                                         \
			const double a = xf_f64(pa[l]);                                            \
	\
			r[l] = xf_bits64(e);                                                       \
		}                                                                                  \
		alu_put_f64(w, in, r);                                                             \
		return 0;                                                                          \
	}
#define D2(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint64_t pa[64], pb[64], r[64];                                                    \
	\
		alu_f64(w, in, 1, pa);                                                             \
		alu_f64(w, in, 2, pb);                                                             \
		LANES(w) {                                                                         \
			const double a = xf_f64(pa[l]), b = xf_f64(pb[l]);                         \
	\
			r[l] = xf_bits64(e);                                                       \
		}                                                                                  \
		alu_put_f64(w, in, r);                                                             \
		return 0;                                                                          \
	}
#define D3(fn, e)                                                                                  \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint64_t pa[64], pb[64], pc[64], r[64];                                            \
	\
		alu_f64(w, in, 1, pa);                                                             \
		alu_f64(w, in, 2, pb);                                                             \
		alu_f64(w, in, 3, pc);                                                             \
		LANES(w) {                                                                         \
			const double a = xf_f64(pa[l]), b = xf_f64(pb[l]), c = xf_f64(pc[l]);      \
	\
			r[l] = xf_bits64(e);                                                       \
		}                                                                                  \
		alu_put_f64(w, in, r);                                                             \
		return 0;                                                                          \
	}

#endif
