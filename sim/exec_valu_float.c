/* Vector floating point of 32 and 64 bits: arithmetic, order, rounding, division helpers. */
#include "exec_alu_loops.h"

/* ---- f32 ---- */

F2(xv_add_f32, a + b)
F2(xv_sub_f32, a - b)
F2(xv_subrev_f32, b - a)
F2(xv_mul_f32, a * b)
F2(xv_mul_legacy_f32, a == 0 || b == 0 ? 0.0f : a * b)
F3(xv_fma_f32, fmaf(a, b, c))
F3(xv_fma_legacy_f32, a == 0 || b == 0 ? 0.0f + c : fmaf(a, b, c))
FB2(xv_min_f32, xf_minmax32(a, b, false, old))
FB2(xv_max_f32, xf_minmax32(a, b, true, old))
FB2(xv_minimum_f32, xf_limit32(a, b, false))
FB2(xv_maximum_f32, xf_limit32(a, b, true))
FB3(xv_min3_f32, xf_minmax32(xf_minmax32(a, b, false, old), c, false, old))
FB3(xv_max3_f32, xf_minmax32(xf_minmax32(a, b, true, old), c, true, old))
FB3(xv_med3_f32, xf_med32(a, b, c, old))
FB3(xv_minimum3_f32, xf_limit32(xf_limit32(a, b, false), c, false))
FB3(xv_maximum3_f32, xf_limit32(xf_limit32(a, b, true), c, true))
FB3(xv_maxmin_f32, xf_minmax32(xf_minmax32(a, b, true, old), c, false, old))
FB3(xv_minmax_f32, xf_minmax32(xf_minmax32(a, b, false, old), c, true, old))
FB3(xv_maximumminimum_f32, xf_limit32(xf_limit32(a, b, true), c, false))
FB3(xv_minimummaximum_f32, xf_limit32(xf_limit32(a, b, false), c, true))
F1(xv_ceil_f32, ceilf(a))
F1(xv_floor_f32, floorf(a))
F1(xv_trunc_f32, truncf(a))
F1(xv_rndne_f32, rintf(a))

/* The fraction stays below 1: the difference rounds up to 1 for tiny negative numbers. */
static inline float fract32(float a)
{
	float r = a - floorf(a);

	return r >= 1.0f ? 0x1.fffffep-1f : r;
}

F1(xv_fract_f32, fract32(a))

static inline float mantissa32(float a)
{
	int e;

	return isfinite(a) ? frexpf(a, &e) : a;
}

F1(xv_frexp_mant_f32, mantissa32(a))

int xv_frexp_exp_i32_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba);

	LANES(w) {
		int e = 0;

		if (isfinite(xf_f32(pa[l])))
			frexpf(xf_f32(pa[l]), &e);
		r[l] = (uint32_t)e;
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* Larger exponents than these give 0 or infinity anyway. */
static inline int ldexp_range(int32_t e) { return e < -5000 ? -5000 : e > 5000 ? 5000 : e; }

int xv_ldexp_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = x_lanes(w, in, 2, 0, bb);

	LANES(w)
		r[l] = xf_bits32(ldexpf(xf_f32(pa[l]), ldexp_range((int32_t)pb[l])));
	alu_put_f32(w, in, r);
	return 0;
}

int xv_fmac_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb), *pd = alu_old(w, in, 0);

	LANES(w)
		r[l] = xf_bits32(fmaf(xf_f32(pa[l]), xf_f32(pb[l]), xf_f32(pd[l])));
	alu_put_f32(w, in, r);
	return 0;
}

/* Each source is f32, or a half of a register: op_sel_hi says that, op_sel which one. A constant is written in f32. */
static void mix_source(struct xwave *w, const struct xinsn *in, unsigned i, bool bf16, float out[64])
{
	const struct xopnd *o = &in->o[i];
	uint32_t buf[64];
	const uint32_t *p = x_lanes(w, in, i, 0, buf);
	bool half = o->op_sel_hi && o->kind == OPERAND_REG;
	unsigned shift = o->op_sel || o->high ? 16 : 0;
	bool abs = o->abs || o->neg_hi, neg = o->neg || o->neg_lo;

	LANES(w) {
		uint32_t h = p[l] >> shift & 0xffff;
		float f = !half ? xf_f32(p[l]) : bf16 ? xf_from_bf16(h) : xf_from_f16(h);

		f = abs ? fabsf(f) : f;
		out[l] = neg ? -f : f;
	}
}

/* arg: 0 f32 result, 1 low half, 2 high half; + 4: halves are bf16. */
int xv_fma_mix(struct xwave *w, const struct xinsn *in)
{
	float a[64], b[64], c[64];
	uint32_t r[64];
	const uint32_t *old = alu_old(w, in, 0);
	bool bf16 = in->arg & 4;
	unsigned to = in->arg & 3;

	mix_source(w, in, 1, bf16, a);
	mix_source(w, in, 2, bf16, b);
	mix_source(w, in, 3, bf16, c);
	LANES(w) {
		float f = fmaf(a[l], b[l], c[l]);
		uint32_t h;

		if (in->clamp)
			f = alu_clamp_f32(f);
		h = bf16 ? xf_to_bf16(f) : xf_to_f16(f);
		r[l] = to == 0 ? xf_bits32(f) : to == 1 ? (old[l] & 0xffff0000) | h : (old[l] & 0xffff) | h << 16;
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* ---- division ---- */

static inline int exponent32(uint32_t a) { return a >> 23 & 255; }
static inline int exponent64(uint64_t a) { return (int)(a >> 52 & 2047); }
static inline bool denormal64(double d) { return d != 0 && fabs(d) < 0x1p-1022; }
static inline bool denormal32(double d) { return d != 0 && fabs(d) < 0x1p-126; }

/*
 * What must hold for the whole sequence to give the right quotient decides where the manuals' pseudocode is short of
 * words: with the flag set the quotient of the scaled numbers is 2^64 too large or too small, and v_div_fmas knows
 * which one from its own size.
 */
static float div_scale32(uint32_t ua, uint32_t ud, uint32_t un, bool *flag)
{
	float a = xf_f32(ua), d = xf_f32(ud), n = xf_f32(un);
	float q = n / d; /* to f32: whether the quotient is denormal decides */
	double inverse = 1.0 / (double)d;

	*flag = false;
	if (n == 0 || d == 0)
		return NAN;
	if (exponent32(un) - exponent32(ud) >= 96) {
		*flag = true;
		return ua == ud ? ldexpf(a, 64) : a;
	}
	if (denormal32((double)d))
		return ldexpf(a, 64);
	if (denormal32(inverse) && denormal32((double)q)) {
		*flag = true;
		return ua == ud ? ldexpf(a, -64) : a;
	}
	if (denormal32(inverse))
		return ldexpf(a, -64);
	if (denormal32((double)q)) {
		*flag = true;
		return ua == un ? ldexpf(a, 64) : a;
	}
	return exponent32(un) <= 23 ? ldexpf(a, 64) : a;
}

static double div_scale64(uint64_t ua, uint64_t ud, uint64_t un, bool *flag)
{
	double a = xf_f64(ua), d = xf_f64(ud), n = xf_f64(un), inverse = 1.0 / d, q = n / d;

	*flag = false;
	if (n == 0 || d == 0)
		return (double)NAN;
	if (exponent64(un) - exponent64(ud) >= 768) {
		*flag = true;
		return ua == ud ? ldexp(a, 128) : a;
	}
	if (denormal64(d))
		return ldexp(a, 128);
	if (denormal64(inverse) && denormal64(q)) {
		*flag = true;
		return ua == ud ? ldexp(a, -128) : a;
	}
	if (denormal64(inverse))
		return ldexp(a, -128);
	if (denormal64(q)) {
		*flag = true;
		return ua == un ? ldexp(a, 128) : a;
	}
	return exponent64(un) <= 53 ? ldexp(a, 128) : a;
}

int xv_div_scale_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 2, ba), *pb = alu_f32(w, in, 3, bb), *pc = alu_f32(w, in, 4, bc);
	uint64_t mask = 0;

	LANES(w) {
		bool flag;

		r[l] = xf_bits32(div_scale32(pa[l], pb[l], pc[l], &flag));
		mask |= (uint64_t)flag << l;
	}
	x_lanes_put(w, in, 0, 0, r);
	x_mask_put(w, in, 1, mask);
	return 0;
}

int xv_div_scale_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], b[64], c[64], r[64], mask = 0;

	alu_f64(w, in, 2, a);
	alu_f64(w, in, 3, b);
	alu_f64(w, in, 4, c);
	LANES(w) {
		bool flag;

		r[l] = xf_bits64(div_scale64(a[l], b[l], c[l], &flag));
		mask |= (uint64_t)flag << l;
	}
	alu_put_u64(w, in, r);
	x_mask_put(w, in, 1, mask);
	return 0;
}

int xv_div_fmas_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb), *pc = alu_f32(w, in, 3, bc);
	uint64_t vcc = x_vcc(w);

	LANES(w) {
		double p = (double)xf_f32(pa[l]) * (double)xf_f32(pb[l]), sum = xf_sum_odd(p, (double)xf_f32(pc[l]));

		if (vcc >> l & 1)
			sum *= exponent32(pc[l]) > 127 ? 0x1p64 : 0x1p-64;
		r[l] = xf_bits32((float)sum);
	}
	alu_put_f32(w, in, r);
	return 0;
}

int xv_div_fmas_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], b[64], c[64], r[64], vcc = x_vcc(w);

	alu_f64(w, in, 1, a);
	alu_f64(w, in, 2, b);
	alu_f64(w, in, 3, c);
	LANES(w) {
		double d = fma(xf_f64(a[l]), xf_f64(b[l]), xf_f64(c[l]));

		if (vcc >> l & 1)
			d *= exponent64(c[l]) > 1023 ? 0x1p128 : 0x1p-128;
		r[l] = xf_bits64(d);
	}
	alu_put_f64(w, in, r);
	return 0;
}

/* q is about n / d; its sign and the special cases come from n and d. */
static uint32_t div_fixup32(uint32_t q, uint32_t d, uint32_t n)
{
	uint32_t sign = (d ^ n) & 0x80000000, ad = d & 0x7fffffff, an = n & 0x7fffffff;

	if (an > 0x7f800000)
		return n | 0x400000;
	if (ad > 0x7f800000)
		return d | 0x400000;
	if ((!ad && !an) || (ad == 0x7f800000 && an == 0x7f800000))
		return 0xffc00000;
	if (!ad || an == 0x7f800000)
		return sign | 0x7f800000;
	if (ad == 0x7f800000 || !an)
		return sign;
	if (exponent32(n) - exponent32(d) < -150)
		return sign;
	if (xf_nan32(q)) /* the steps before went beyond the range and met infinities */
		return sign | 0x7f800000;
	return sign | (q & 0x7fffffff);
}

static uint64_t div_fixup64(uint64_t q, uint64_t d, uint64_t n)
{
	const uint64_t magnitude = INT64_MAX, inf = 0x7ff0000000000000, quiet = 0x8000000000000;
	uint64_t sign = (d ^ n) & ~magnitude, ad = d & magnitude, an = n & magnitude;

	if (an > inf)
		return n | quiet;
	if (ad > inf)
		return d | quiet;
	if ((!ad && !an) || (ad == inf && an == inf))
		return 0xfff8000000000000;
	if (!ad || an == inf)
		return sign | inf;
	if (ad == inf || !an)
		return sign;
	if (exponent64(n) - exponent64(d) < -1075)
		return sign;
	if (xf_nan64(q))
		return sign | inf;
	return sign | (q & magnitude);
}

FB3(xv_div_fixup_f32, div_fixup32(a, b, c))

int xv_div_fixup_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], b[64], c[64], r[64];

	alu_f64(w, in, 1, a);
	alu_f64(w, in, 2, b);
	alu_f64(w, in, 3, c);
	LANES(w)
		r[l] = div_fixup64(a[l], b[l], c[l]);
	alu_put_f64(w, in, r);
	return 0;
}

/* ---- f64 ---- */

D2(xv_add_f64, a + b)
D2(xv_mul_f64, a * b)
D3(xv_fma_f64, fma(a, b, c))
D1(xv_ceil_f64, ceil(a))
D1(xv_floor_f64, floor(a))
D1(xv_trunc_f64, trunc(a))
D1(xv_rndne_f64, rint(a))

static inline double fract64(double a)
{
	double r = a - floor(a);

	return r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
}

static inline double mantissa64(double a)
{
	int e;

	return isfinite(a) ? frexp(a, &e) : a;
}

D1(xv_fract_f64, fract64(a))
D1(xv_frexp_mant_f64, mantissa64(a))

int xv_frexp_exp_i32_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64];
	uint32_t r[64];

	alu_f64(w, in, 1, a);
	LANES(w) {
		int e = 0;

		if (isfinite(xf_f64(a[l])))
			frexp(xf_f64(a[l]), &e);
		r[l] = (uint32_t)e;
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_ldexp_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], r[64];
	uint32_t bb[64];
	const uint32_t *pb = x_lanes(w, in, 2, 0, bb);

	alu_f64(w, in, 1, a);
	LANES(w)
		r[l] = xf_bits64(ldexp(xf_f64(a[l]), ldexp_range((int32_t)pb[l])));
	alu_put_f64(w, in, r);
	return 0;
}

int xv_fmac_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], b[64], r[64];
	const uint32_t *lo = alu_old(w, in, 0), *hi = alu_old(w, in, 1);

	alu_f64(w, in, 1, a);
	alu_f64(w, in, 2, b);
	LANES(w)
		r[l] = xf_bits64(fma(xf_f64(a[l]), xf_f64(b[l]), xf_f64((uint64_t)hi[l] << 32 | lo[l])));
	alu_put_f64(w, in, r);
	return 0;
}

/* arg: 1 maximum, + 2 the IEEE minimum and maximum that let a NaN through. */
int xv_minmax_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], b[64], r[64];
	bool old = x_gfx9(w), max = in->arg & 1;

	alu_f64(w, in, 1, a);
	alu_f64(w, in, 2, b);
	LANES(w)
		r[l] = in->arg & 2 ? xf_limit64(a[l], b[l], max) : xf_minmax64(a[l], b[l], max, old);
	alu_put_f64(w, in, r);
	return 0;
}

/* ---- packed f32 ---- */

/* Both results' sources: op_sel picks the word for the low result, op_sel_hi for the high one. */
static void pk32(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t lo[64], uint32_t hi[64])
{
	const struct xopnd *o = &in->o[i];
	uint32_t b0[64], b1[64];
	const uint32_t *p[2] = { x_lanes(w, in, i, 0, b0), x_lanes(w, in, i, 1, b1) };
	const uint32_t *from_lo = p[o->op_sel], *from_hi = p[o->op_sel_hi];
	uint32_t keep = o->abs ? 0x7fffffff : UINT32_MAX;
	uint32_t flip_lo = o->neg_lo != o->neg ? 0x80000000 : 0, flip_hi = o->neg_hi != o->neg ? 0x80000000 : 0;

	LANES(w) {
		lo[l] = (from_lo[l] & keep) ^ flip_lo;
		hi[l] = (from_hi[l] & keep) ^ flip_hi;
	}
}

/* arg: 0 add, 1 mul, 2 fma. */
int xv_pk_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t a[2][64], b[2][64], c[2][64], r[2][64];

	pk32(w, in, 1, a[0], a[1]);
	pk32(w, in, 2, b[0], b[1]);
	if (in->arg == 2)
		pk32(w, in, 3, c[0], c[1]);
	for (unsigned h = 0; h < 2; h++) {
		if (in->arg == 0)
			LANES(w)
				r[h][l] = xf_bits32(xf_f32(a[h][l]) + xf_f32(b[h][l]));
		else if (in->arg == 1)
			LANES(w)
				r[h][l] = xf_bits32(xf_f32(a[h][l]) * xf_f32(b[h][l]));
		else
			LANES(w)
				r[h][l] = xf_bits32(fmaf(xf_f32(a[h][l]), xf_f32(b[h][l]), xf_f32(c[h][l])));
		if (in->clamp)
			LANES(w)
				r[h][l] = xf_bits32(alu_clamp_f32(xf_f32(r[h][l])));
	}
	x_lanes_put(w, in, 0, 0, r[0]);
	x_lanes_put(w, in, 0, 1, r[1]);
	return 0;
}

int xv_pk_mov_b32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r0[64], r1[64];
	const uint32_t *pa = x_lanes(w, in, 1, in->o[1].op_sel, ba), *pb = x_lanes(w, in, 2, in->o[2].op_sel, bb);

	LANES(w) {
		r0[l] = pa[l];
		r1[l] = pb[l];
	}
	x_lanes_put(w, in, 0, 0, r0);
	x_lanes_put(w, in, 0, 1, r1);
	return 0;
}
