/* Vector floating point of 16 bits: f16 and bf16, single and packed, and their dot products. */
#include "exec_alu_loops.h"

/* ---- f16 ---- */

H2(xv_add_f16, false, xf_to_f16(a + b))
H2(xv_sub_f16, false, xf_to_f16(a - b))
H2(xv_subrev_f16, false, xf_to_f16(b - a))
H2(xv_mul_f16, false, xf_to_f16(a * b))
H3(xv_fma_f16, true, xf_fma_f16(a, b, c))
H3(xv_fma_legacy_f16, false, xf_fma_f16(a, b, c))

/* Rounded after the product and after the sum. */
static inline uint32_t mad16(float a, float b, float c)
{
	float product = xf_from_f16(xf_to_f16(a * b));

	return xf_to_f16(product + c);
}

H3(xv_mad_f16, true, mad16(a, b, c))
H3(xv_mad_legacy_f16, false, mad16(a, b, c))
H1(xv_ceil_f16, false, xf_to_f16(ceilf(a)))
H1(xv_floor_f16, false, xf_to_f16(floorf(a)))
H1(xv_trunc_f16, false, xf_to_f16(truncf(a)))
H1(xv_rndne_f16, false, xf_to_f16(rintf(a)))

static inline uint32_t fract16(float a)
{
	uint32_t r = xf_to_f16(a - floorf(a));

	return r == 0x3c00 ? 0x3bff : r;
}

static inline uint32_t mantissa16(float a)
{
	int e;

	return xf_to_f16(isfinite(a) ? frexpf(a, &e) : a);
}

H1(xv_fract_f16, false, fract16(a))
H1(xv_frexp_mant_f16, false, mantissa16(a))

int xv_frexp_exp_i16_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);

	LANES(w) {
		float a = xf_from_f16(pa[l]);
		int e = 0;

		if (isfinite(a))
			frexpf(a, &e);
		r[l] = (uint32_t)e & 0xffff;
	}
	alu_put_16(w, in, r, false);
	return 0;
}

int xv_ldexp_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb);

	LANES(w) {
		int e = (int16_t)pb[l];

		r[l] = xf_f64_to_f16(ldexp((double)xf_from_f16(pa[l]), e < -200 ? -200 : e > 200 ? 200 : e));
	}
	alu_put_f16(w, in, r, false);
	return 0;
}

/* arg: 0 fused, 1 rounded after the product. */
int xv_fmac_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb), *pd = alu_old(w, in, 0);
	unsigned shift = alu_high(&in->o[0]) ? 16 : 0;

	LANES(w) {
		float a = xf_from_f16(pa[l]), b = xf_from_f16(pb[l]), d = xf_from_f16(pd[l] >> shift & 0xffff);

		r[l] = in->arg ? mad16(a, b, d) : xf_fma_f16(a, b, d);
	}
	alu_put_f16(w, in, r, false);
	return 0;
}

/* ---- order: f16 in f32 keeps its order, NaNs and signs ---- */

static inline uint32_t up(float a) { return xf_bits32(a); }
static inline uint32_t down(uint32_t bits) { return xf_to_f16(xf_f32(bits)); }

H2(xv_min_f16, false, down(xf_minmax32(up(a), up(b), false, old)))
H2(xv_max_f16, false, down(xf_minmax32(up(a), up(b), true, old)))
H2(xv_minimum_f16, true, down(xf_limit32(up(a), up(b), false)))
H2(xv_maximum_f16, true, down(xf_limit32(up(a), up(b), true)))
H3(xv_min3_f16, true, down(xf_minmax32(xf_minmax32(up(a), up(b), false, old), up(c), false, old)))
H3(xv_max3_f16, true, down(xf_minmax32(xf_minmax32(up(a), up(b), true, old), up(c), true, old)))
H3(xv_med3_f16, true, down(xf_med32(up(a), up(b), up(c), old)))
H3(xv_minimum3_f16, true, down(xf_limit32(xf_limit32(up(a), up(b), false), up(c), false)))
H3(xv_maximum3_f16, true, down(xf_limit32(xf_limit32(up(a), up(b), true), up(c), true)))
H3(xv_maxmin_f16, true, down(xf_minmax32(xf_minmax32(up(a), up(b), true, old), up(c), false, old)))
H3(xv_minmax_f16, true, down(xf_minmax32(xf_minmax32(up(a), up(b), false, old), up(c), true, old)))
H3(xv_maximumminimum_f16, true, down(xf_limit32(xf_limit32(up(a), up(b), true), up(c), false)))
H3(xv_minimummaximum_f16, true, down(xf_limit32(xf_limit32(up(a), up(b), false), up(c), true)))

/* arg: 1 the upper half survives on gfx9. */
int xv_div_fixup_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb), *pc = alu_h16(w, in, 3, bc);

	LANES(w) {
		uint32_t q = pa[l], d = pb[l], n = pc[l], sign = (d ^ n) & 0x8000, ad = d & 0x7fff, an = n & 0x7fff, v;

		if (an > 0x7c00)
			v = n | 0x200;
		else if (ad > 0x7c00)
			v = d | 0x200;
		else if ((!ad && !an) || (ad == 0x7c00 && an == 0x7c00))
			v = 0xfe00;
		else if (!ad || an == 0x7c00)
			v = sign | 0x7c00;
		else if (ad == 0x7c00 || !an)
			v = sign;
		else
			v = sign | (q & 0x7fff);
		r[l] = v;
	}
	alu_put_f16(w, in, r, in->arg);
	return 0;
}

/* ---- packed ---- */

static void pk_put(struct xwave *w, const struct xinsn *in, uint32_t lo[64], uint32_t hi[64])
{
	bool bf16 = in->o[0].type == XT_PKBF16;
	uint32_t r[64];

	if (in->clamp)
		LANES(w) {
			lo[l] = bf16 ? alu_clamp_bf16(lo[l]) : alu_clamp_f16(lo[l]);
			hi[l] = bf16 ? alu_clamp_bf16(hi[l]) : alu_clamp_f16(hi[l]);
		}
	LANES(w)
		r[l] = lo[l] | hi[l] << 16;
	x_lanes_put(w, in, 0, 0, r);
}

#define PKH2(fn, from, e)                                                                          \
	static inline uint32_t fn##_half(uint32_t ua, uint32_t ub, bool old)                       \
	{                                                                                          \
		const float a = from(ua), b = from(ub);                                            \
	\
		(void)old;                                                                         \
		return e;                                                                          \
	}                                                                                          \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t alo[64], ahi[64], blo[64], bhi[64];                                       \
		bool old = x_gfx9(w);                                                              \
	\
		alu_pk16(w, in, 1, alo, ahi);                                                      \
		alu_pk16(w, in, 2, blo, bhi);                                                      \
		LANES(w) {                                                                         \
			alo[l] = fn##_half(alo[l], blo[l], old);                                   \
			ahi[l] = fn##_half(ahi[l], bhi[l], old);                                   \
		}                                                                                  \
		pk_put(w, in, alo, ahi);                                                           \
		return 0;                                                                          \
	}
#define PKH3(fn, from, e)                                                                          \
	static inline uint32_t fn##_half(uint32_t ua, uint32_t ub, uint32_t uc, bool old)          \
	{                                                                                          \
		const float a = from(ua), b = from(ub), c = from(uc);                              \
	\
		(void)old;                                                                         \
		return e;                                                                          \
	}                                                                                          \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t alo[64], ahi[64], blo[64], bhi[64], clo[64], chi[64];                     \
		bool old = x_gfx9(w);                                                              \
	\
		alu_pk16(w, in, 1, alo, ahi);                                                      \
		alu_pk16(w, in, 2, blo, bhi);                                                      \
		alu_pk16(w, in, 3, clo, chi);                                                      \
		LANES(w) {                                                                         \
			alo[l] = fn##_half(alo[l], blo[l], clo[l], old);                           \
			ahi[l] = fn##_half(ahi[l], bhi[l], chi[l], old);                           \
		}                                                                                  \
		pk_put(w, in, alo, ahi);                                                           \
		return 0;                                                                          \
	}

PKH2(xv_pk_add_f16, xf_from_f16, xf_to_f16(a + b))
PKH2(xv_pk_mul_f16, xf_from_f16, xf_to_f16(a * b))
PKH2(xv_pk_min_f16, xf_from_f16, down(xf_minmax32(up(a), up(b), false, old)))
PKH2(xv_pk_max_f16, xf_from_f16, down(xf_minmax32(up(a), up(b), true, old)))
PKH2(xv_pk_minimum_f16, xf_from_f16, down(xf_limit32(up(a), up(b), false)))
PKH2(xv_pk_maximum_f16, xf_from_f16, down(xf_limit32(up(a), up(b), true)))
PKH3(xv_pk_fma_f16, xf_from_f16, xf_fma_f16(a, b, c))
PKH3(xv_pk_min3_f16, xf_from_f16, down(xf_minmax32(xf_minmax32(up(a), up(b), false, old), up(c), false, old)))
PKH3(xv_pk_max3_f16, xf_from_f16, down(xf_minmax32(xf_minmax32(up(a), up(b), true, old), up(c), true, old)))
PKH3(xv_pk_minimum3_f16, xf_from_f16, down(xf_limit32(xf_limit32(up(a), up(b), false), up(c), false)))
PKH3(xv_pk_maximum3_f16, xf_from_f16, down(xf_limit32(xf_limit32(up(a), up(b), true), up(c), true)))
/* Sums and products of bf16 in double are exact or keep a sticky bit: one rounding. */
PKH2(xv_pk_add_bf16, xf_from_bf16, xf_f64_to_bf16(xf_sum_odd((double)a, (double)b)))
PKH2(xv_pk_mul_bf16, xf_from_bf16, xf_f64_to_bf16((double)a * (double)b))
PKH2(xv_pk_min_bf16, xf_from_bf16, xf_to_bf16(xf_f32(xf_minmax32(up(a), up(b), false, old))))
PKH2(xv_pk_max_bf16, xf_from_bf16, xf_to_bf16(xf_f32(xf_minmax32(up(a), up(b), true, old))))
PKH3(xv_pk_fma_bf16, xf_from_bf16, xf_fma_bf16(a, b, c))

int xv_pk_fmac_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t alo[64], ahi[64], blo[64], bhi[64];
	const uint32_t *old = alu_old(w, in, 0);

	alu_pk16(w, in, 1, alo, ahi);
	alu_pk16(w, in, 2, blo, bhi);
	LANES(w) {
		alo[l] = xf_fma_f16(xf_from_f16(alo[l]), xf_from_f16(blo[l]), xf_from_f16(old[l] & 0xffff));
		ahi[l] = xf_fma_f16(xf_from_f16(ahi[l]), xf_from_f16(bhi[l]), xf_from_f16(old[l] >> 16));
	}
	pk_put(w, in, alo, ahi);
	return 0;
}

static inline float half(uint32_t bits, bool bf16) { return bf16 ? xf_from_bf16(bits) : xf_from_f16(bits); }

/*
 * Two products and an addend in f32, each sum rounded: products of f16 are exact. arg: 1 bf16, 2: adds to
 * the destination, 4: the addend comes last (gfx950's v_dot2_f32_bf16), not first.
 */
int xv_dot2_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t alo[64], ahi[64], blo[64], bhi[64], bc[64], r[64];
	const uint32_t *pc = in->arg & 2 ? alu_old(w, in, 0) : alu_f32(w, in, 3, bc);
	bool bf16 = in->arg & 1, last = in->arg & 4;

	alu_pk16(w, in, 1, alo, ahi);
	alu_pk16(w, in, 2, blo, bhi);
	LANES(w) {
		float p0 = half(alo[l], bf16) * half(blo[l], bf16), p1 = half(ahi[l], bf16) * half(bhi[l], bf16);
		float c = xf_f32(pc[l]), sum;

		if (last) {
			sum = p0 + p1;
			sum = sum + c;
		} else {
			sum = c + p0;
			sum = sum + p1;
		}
		r[l] = xf_bits32(sum);
	}
	alu_put_f32(w, in, r);
	return 0;
}
