/*
 * Floating point of the executor: conversions between formats with one rounding, minimum and maximum by the
 * rules of the instruction set, and rounding helpers. Denormal numbers are kept everywhere.
 */
#ifndef WPSIM_EXEC_FLOAT_H
#define WPSIM_EXEC_FLOAT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* One rounding an operation: a compiler must not fuse a multiplication and an addition that it sees apart. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined(__FP_FAST_FMAF)
#pragma GCC optimize("fp-contract=off")
#endif

static inline float xf_f32(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static inline uint32_t xf_bits32(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline double xf_f64(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static inline uint64_t xf_bits64(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static inline bool xf_nan32(uint32_t a) { return (a & 0x7fffffff) > 0x7f800000; }
static inline bool xf_snan32(uint32_t a) { return xf_nan32(a) && !(a & 0x400000); }
static inline bool xf_nan16(uint32_t a) { return (a & 0x7fff) > 0x7c00; }
static inline bool xf_nan64(uint64_t a) { return (a & INT64_MAX) > 0x7ff0000000000000; }
static inline bool xf_snan64(uint64_t a) { return xf_nan64(a) && !(a & 0x8000000000000); }

/* No denormal f32 comes up on the way: processors are slow with them. */
static inline float xf_from_f16(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16, magnitude = (h & 0x7fff) << 13, e = h & 0x7c00;
	uint32_t small = xf_bits32((float)(int32_t)(h & 0x3ff) * 0x1p-24f);
	uint32_t bits = e ? magnitude + 0x38000000 : small;

	return xf_f32(sign | (e == 0x7c00 ? magnitude | 0x7f800000 : bits));
}

static inline uint32_t xf_to_f16(float f) /* nearest even */
{
	uint32_t x = xf_bits32(f), sign = x >> 16 & 0x8000, a = x & 0x7fffffff;
	/* Adding 0.5 puts the last bit of f16's denormals at the last bit of f32: the sum rounds as wanted. */
	uint32_t denormal = xf_bits32(xf_f32(a < 0x33000000 ? 0 : a) + 0.5f) - 0x3f000000;
	uint32_t normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
	uint32_t r = a < 0x38800000 ? denormal : normal;

	r = a >= 0x477ff000 ? 0x7c00 : r;
	r = a > 0x7f800000 ? 0x7e00 | (a >> 13 & 0x3ff) : r;
	return sign | r;
}

static inline uint32_t xf_to_f16_rtz(float f)
{
	uint32_t x = xf_bits32(f), sign = x >> 16 & 0x8000, a = x & 0x7fffffff, e = a >> 23;

	if (a > 0x7f800000)
		return sign | 0x7e00 | (a >> 13 & 0x3ff);
	if (a == 0x7f800000)
		return sign | 0x7c00;
	if (a >= 0x47800000)
		return sign | 0x7bff;
	if (a >= 0x38800000)
		return sign | (a - 0x38000000) >> 13;
	return sign | (e < 102 ? 0 : ((a & 0x7fffff) | 0x800000) >> (126 - e));
}

static inline float xf_from_bf16(uint32_t h) { return xf_f32(h << 16); }

static inline uint32_t xf_to_bf16(float f) /* nearest even */
{
	uint32_t x = xf_bits32(f);

	return (x & 0x7fffffff) > 0x7f800000 ? x >> 16 | 0x40 : (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

/*
 * Rounding to odd keeps a sticky bit: a value rounded so to at least two more bits than the final format
 * has, then to nearest, is rounded as if at once.
 */
static inline float xf_odd32(double d)
{
	float f = (float)d;
	uint32_t bits = xf_bits32(f);
	double back = (double)f;
	bool even = back != d && d == d && !(bits & 1);
	uint32_t step = fabs(back) > fabs(d) ? UINT32_MAX : 1; /* down from infinity: the largest number is odd */

	return xf_f32(bits + (even ? step : 0));
}

static inline double xf_sum_odd(double a, double b)
{
	double s = a + b, bb = s - a, back = s - bb, lost = a - back, err = b - bb + lost;
	uint64_t bits = xf_bits64(s);
	bool even = err != 0 && err == err && !(bits & 1);
	uint64_t step = (err > 0) == (s > 0) ? 1 : UINT64_MAX;

	return xf_f64(bits + (even ? step : 0));
}

static inline uint32_t xf_f64_to_f16(double d) { return xf_to_f16(xf_odd32(d)); }
static inline uint32_t xf_f64_to_bf16(double d) { return xf_to_bf16(xf_odd32(d)); }

/* Products of f16 and bf16 are exact in double; the sum keeps its sticky bit. */
static inline uint32_t xf_fma_f16(float a, float b, float c) { return xf_f64_to_f16(xf_sum_odd((double)a * b, c)); }
static inline uint32_t xf_fma_bf16(float a, float b, float c) { return xf_f64_to_bf16(xf_sum_odd((double)a * b, c)); }

/*
 * Minimum and maximum on the bits. old: a signaling NaN wins (gfx9 in IEEE mode); otherwise a number wins
 * over any NaN. -0 is less than +0.
 */
static inline int32_t xf_order32(uint32_t a) { return (int32_t)(a ^ ((uint32_t)((int32_t)a >> 31) >> 1)); }
static inline int64_t xf_order64(uint64_t a) { return (int64_t)(a ^ ((uint64_t)((int64_t)a >> 63) >> 1)); }

static inline uint32_t xf_minmax32(uint32_t a, uint32_t b, bool max, bool old)
{
	bool less = xf_order32(a) < xf_order32(b);
	uint32_t r = less != max ? a : b;

	r = xf_nan32(b) ? a : r;
	r = xf_nan32(a) ? b : r;
	r = xf_nan32(a) && xf_nan32(b) ? a | 0x400000 : r;
	r = old && xf_snan32(b) ? b | 0x400000 : r;
	return old && xf_snan32(a) ? a | 0x400000 : r;
}

static inline uint32_t xf_limit32(uint32_t a, uint32_t b, bool max) /* IEEE minimum and maximum: a NaN wins */
{
	uint32_t r = (xf_order32(a) < xf_order32(b)) != max ? a : b;

	r = xf_nan32(b) && (xf_snan32(b) || !xf_snan32(a)) ? b | 0x400000 : r;
	return xf_nan32(a) && (xf_snan32(a) || !xf_snan32(b)) ? a | 0x400000 : r;
}

static inline uint64_t xf_minmax64(uint64_t a, uint64_t b, bool max, bool old)
{
	const uint64_t quiet = 0x8000000000000;
	uint64_t r = (xf_order64(a) < xf_order64(b)) != max ? a : b;

	r = xf_nan64(b) ? a : r;
	r = xf_nan64(a) ? b : r;
	r = xf_nan64(a) && xf_nan64(b) ? a | quiet : r;
	r = old && xf_snan64(b) ? b | quiet : r;
	return old && xf_snan64(a) ? a | quiet : r;
}

static inline uint64_t xf_limit64(uint64_t a, uint64_t b, bool max)
{
	const uint64_t quiet = 0x8000000000000;
	uint64_t r = (xf_order64(a) < xf_order64(b)) != max ? a : b;

	r = xf_nan64(b) && (xf_snan64(b) || !xf_snan64(a)) ? b | quiet : r;
	return xf_nan64(a) && (xf_snan64(a) || !xf_snan64(b)) ? a | quiet : r;
}

static inline uint32_t xf_med32(uint32_t a, uint32_t b, uint32_t c, bool old)
{
	uint32_t top;

	if (xf_nan32(a) || xf_nan32(b) || xf_nan32(c))
		return xf_minmax32(xf_minmax32(a, b, false, old), c, false, old);
	top = xf_minmax32(xf_minmax32(a, b, true, old), c, true, old);
	if (xf_f32(top) == xf_f32(a))
		return xf_minmax32(b, c, true, old);
	if (xf_f32(top) == xf_f32(b))
		return xf_minmax32(a, c, true, old);
	return xf_minmax32(a, b, true, old);
}

/* To integers: towards zero, saturating, NaN becomes 0. */
static inline int32_t xf_to_range(double d, int32_t lo, int32_t hi)
{
	return d != d ? 0 : d <= lo ? lo : d >= hi ? hi : (int32_t)d;
}
static inline int32_t xf_to_i32(double d) { return xf_to_range(d, INT32_MIN, INT32_MAX); }
static inline uint32_t xf_to_u32(double d) { return !(d > 0) ? 0 : d >= 0x1p32 - 1 ? UINT32_MAX : (uint32_t)d; }

/*
 * Formats of 8 bits and less, besides f16 and bf16 for the conversions with a scale. XF_E5M3 has no sign: here it
 * stands above the eight bits.
 */
enum xsmall {
	XF_F32, XF_F16, XF_BF16, XF_FP8_FNUZ, XF_BF8_FNUZ, XF_FP8, XF_BF8, XF_FP6, XF_BF6, XF_FP4, XF_E5M3, XF_NSMALL
};

unsigned xf_small_bits(enum xsmall f);
double xf_small_get(enum xsmall f, uint32_t bits);
/*
 * From double with one rounding, to nearest even. saturate: values out of range (infinity too) become the largest
 * number; formats without infinity and NaN always do so.
 */
uint32_t xf_small_put(enum xsmall f, double v, bool saturate);
/*
 * Stochastic rounding: the upper bits of random are added below the last bit that is kept, as many as a source of
 * from_bits fraction bits has there; then the value is truncated.
 */
uint32_t xf_small_put_random(enum xsmall f, double v, bool saturate, uint32_t random, unsigned from_bits);
uint32_t xf_prng(uint32_t x); /* next state of v_prng_b32 */

#endif
