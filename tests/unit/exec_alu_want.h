/*
 * Plain C for what instructions should give: formats decoded from their fields, results searched for in exact
 * arithmetic. Nothing of the executor is used.
 */
#ifndef WPSIM_TEST_EXEC_ALU_WANT_H
#define WPSIM_TEST_EXEC_ALU_WANT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

typedef __int128 wide;
typedef __float128 quad;

#define CLIP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
#define ICLIP(v, lo, hi) ((int64_t)CLIP(v, lo, hi))

static inline float f(uint64_t bits)
{
	union { uint32_t u; float f; } x = { .u = (uint32_t)bits };

	return x.f;
}

static inline uint32_t fb(float v)
{
	union { uint32_t u; float f; } x = { .f = v };

	return x.u;
}

static inline double d(uint64_t bits)
{
	union { uint64_t u; double d; } x = { .u = bits };

	return x.d;
}

static inline uint64_t db(double v)
{
	union { uint64_t u; double d; } x = { .d = v };

	return x.u;
}

/* a * b + c rounded once; a and b have few bits, so that the product is exact, and what the sum loses breaks ties. */
static inline float fma1(double a, double b, double c)
{
	quad p = (quad)a * b, s = p + c, lost = (p < 0 ? -p : p) > (c < 0 ? -c : c) ? c - (s - p) : p - (s - c);
	float r = (float)s, next = nextafterf(r, s > r ? INFINITY : -INFINITY);

	if (!isfinite(r) || s == r || lost == 0 || s - r != next - s)
		return r;
	return (lost > 0) == (next > r) ? next : r;
}

static inline int32_t i32(uint32_t a) { return (int32_t)a; }
static inline uint64_t two(uint32_t lo, uint32_t hi) { return lo | (uint64_t)hi << 32; }

static inline int64_t sx(uint32_t a, unsigned bits) /* the lowest bits as a signed number */
{
	int64_t v = a % (UINT64_C(1) << bits);

	return v >= INT64_C(1) << (bits - 1) ? v - (INT64_C(1) << bits) : v;
}

static inline int64_t SORT3(int64_t x, int64_t y, int64_t z, unsigned place)
{
	int64_t v[3] = { x, y, z };

	for (unsigned i = 0; i < 2; i++)
		for (unsigned k = 0; k < 2; k++)
			if (v[k] > v[k + 1]) {
				int64_t t = v[k];

				v[k] = v[k + 1];
				v[k + 1] = t;
			}
	return v[place];
}

static inline int64_t lower(int64_t x, int64_t y) { return x < y ? x : y; }
static inline int64_t higher(int64_t x, int64_t y) { return x < y ? y : x; }

static inline uint32_t mirror(uint32_t a)
{
	uint32_t r = 0;

	for (unsigned i = 0; i < 32; i++)
		if (a & 1u << i)
			r |= 1u << (31 - i);
	return r;
}

static inline int32_t leading(uint32_t a, int32_t n) /* zeros above the first one; -1 without one */
{
	return n == 32 ? -1 : a & 0x80000000 ? n : leading(a << 1, n + 1);
}

static inline uint32_t ones(uint32_t a)
{
	uint32_t n = 0;

	for (; a; a &= a - 1)
		n++;
	return n;
}

static inline uint32_t bit3(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
	uint32_t r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1u) << i;
	return r;
}

static inline uint32_t perm_bytes(uint32_t a, uint32_t b, uint32_t c)
{
	uint8_t in[8], out[4];

	memcpy(in, &b, 4);
	memcpy(in + 4, &a, 4);
	for (unsigned i = 0; i < 4; i++) {
		unsigned s = c >> 8 * i & 255;

		out[i] = s < 8 ? in[s] : s < 12 ? (in[(s - 8) * 2 + 1] >= 128 ? 255 : 0) : s == 12 ? 0 : 255;
	}
	memcpy(&c, out, 4);
	return c;
}

static inline uint32_t sad(uint32_t a, uint32_t b, unsigned bits, bool masked)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < 32 / bits; i++) {
		int64_t x = sx(a >> i * bits, 32) & ((INT64_C(1) << bits) - 1), y = sx(b >> i * bits, 32) & ((INT64_C(1) << bits) - 1);

		sum += masked && !y ? 0 : llabs(x - y);
	}
	return (uint32_t)sum;
}

static inline uint32_t lerp(uint32_t a, uint32_t b, uint32_t c)
{
	uint8_t x[4], y[4], z[4];

	memcpy(x, &a, 4);
	memcpy(y, &b, 4);
	memcpy(z, &c, 4);
	for (unsigned i = 0; i < 4; i++)
		x[i] = (uint8_t)((x[i] + y[i] + z[i] % 2) / 2);
	memcpy(&a, x, 4);
	return a;
}

static inline int64_t dot(uint32_t a, uint32_t b, unsigned bits, bool signed_a, bool signed_b)
{
	int64_t sum = 0, span = INT64_C(1) << bits;

	for (unsigned i = 0; i < 32 / bits; i++) {
		int64_t x = (a >> i * bits) % span, y = (b >> i * bits) % span;

		x -= signed_a && x >= span / 2 ? span : 0;
		y -= signed_b && y >= span / 2 ? span : 0;
		sum += x * y;
	}
	return sum;
}

/* A small format: its value by code, counted from the fields; and the code of a value by search for the nearest. */
enum format { F16, BF16, OCP8, OCPB8, FNUZ8, FNUZB8, FP4, E5M3, NFORMATS };
static const struct { unsigned bits, man; int bias; unsigned last; uint32_t over, nan; } formats[NFORMATS] = {
	[F16] = { 16, 10, 15, 0x7bff, 0x7c00, 0x7e00 },    [BF16] = { 16, 7, 127, 0x7f7f, 0x7f80, 0x7fc0 },
	[OCP8] = { 8, 3, 7, 0x7e, 0x7f, 0x7f },            [OCPB8] = { 8, 2, 15, 0x7b, 0x7c, 0x7e },
	[FNUZ8] = { 8, 3, 8, 0x7f, 0x80, 0x80 },           [FNUZB8] = { 8, 2, 16, 0x7f, 0x80, 0x80 },
	[FP4] = { 4, 1, 1, 7, 7, 7 },                       [E5M3] = { 9, 3, 15, 0xfe, 0xff, 0xff }, /* a sign above */
};

static inline double magnitude(enum format x, uint32_t code)
{
	unsigned man = formats[x].man, e = code >> man, fraction = code & ((1u << man) - 1);

	return e ? scalbn(1 + (double)fraction / (1u << man), (int)e - formats[x].bias) :
		   scalbn((double)fraction / (1u << man), 1 - formats[x].bias);
}

static inline double small(enum format x, uint32_t code)
{
	uint32_t sign = code >> (formats[x].bits - 1) & 1, m = code & ((1u << (formats[x].bits - 1)) - 1);
	double v;

	if ((x == FNUZ8 || x == FNUZB8) && code == 0x80)
		return NAN;
	if (m > formats[x].last)
		v = x == OCP8 || x == E5M3 ? NAN : m == formats[x].over ? INFINITY : NAN;
	else
		v = magnitude(x, m);
	return sign ? -v : v;
}

static inline uint32_t nearest(enum format x, quad v)
{
	uint32_t lo = 0, hi = formats[x].last, sign;
	bool fnuz = x == FNUZ8 || x == FNUZB8, minus = v < 0 || (v == 0 && signbit((double)v));
	quad below, above;

	if (v != v)
		return formats[x].nan | ((x == OCP8 || x == OCPB8) && signbit((double)v) ? 0x80 : 0);
	sign = minus ? 1u << (formats[x].bits - 1) : 0;
	v = minus ? -v : v;
	above = (quad)magnitude(x, hi) + ((quad)magnitude(x, hi) - (quad)magnitude(x, hi - 1)) / 2;
	if (v > above || (v == above && (hi & 1))) /* behind half a step over the last one; an even one keeps the tie */
		return fnuz ? 0x80 : sign | formats[x].over;
	if (v >= (quad)magnitude(x, hi))
		return sign | hi;
	while (hi - lo > 1) {
		uint32_t mid = (lo + hi) / 2;

		if ((quad)magnitude(x, mid) <= v)
			lo = mid;
		else
			hi = mid;
	}
	below = v - (quad)magnitude(x, lo);
	above = (quad)magnitude(x, hi) - v;
	lo = below < above || (below == above && !(lo & 1)) ? lo : hi;
	return fnuz && !lo ? 0 : sign | lo;
}

static inline double h(uint64_t code) { return small(F16, code & 0xffff); }
static inline double bf(uint64_t code) { return small(BF16, code & 0xffff); }
static inline uint32_t hq(quad v) { return nearest(F16, v); }
static inline uint32_t bq(quad v) { return nearest(BF16, v); }
static inline uint32_t sq(enum format x, double v) { return nearest(x, v); }
static inline double pow2(uint32_t scale) { return scalbn(1.0, (int)(scale >> 23 & 255) - 127); }
static inline float nodenorm(float v) { return fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v; }

static inline uint32_t hclamp(double v) { return v > 0 ? hq(v > 1 ? 1 : (quad)v) : 0; }
static inline uint32_t bclamp(double v) { return v > 0 ? bq(v > 1 ? 1 : (quad)v) : 0; }

static inline uint32_t toward0(float v)
{
	uint32_t code = nearest(F16, fabsf(v));

	if (isnan(v))
		return 0x7e00;
	if (isinf(v))
		return signbit(v) ? 0xfc00 : 0x7c00;
	if (code == 0x7c00 || small(F16, code) > (double)fabsf(v))
		code--;
	return code | (signbit(v) ? 0x8000 : 0);
}

static inline uint32_t norm(float v, int low, int scale)
{
	double x = isnan(v) ? 0 : CLIP((double)v, low, 1);

	return (uint32_t)(int)nearbyint(x * scale) & 0xffff;
}

static inline bool snan(uint32_t a) { return isnan(f(a)) && !(a >> 22 & 1); }

static inline uint32_t minmax(uint32_t a, uint32_t b, bool max, bool gfx9)
{
	if (gfx9 && (snan(a) || snan(b)))
		return 0x7fc00000;
	if (isnan(f(a)) || isnan(f(b)))
		return isnan(f(a)) ? b : a;
	if (f(a) == 0 && f(b) == 0)
		return max ? (a && b ? 0x80000000 : 0) : (a || b ? 0x80000000 : 0);
	return (f(a) < f(b)) == !max ? a : b;
}

static inline uint32_t med(uint32_t a, uint32_t b, uint32_t c) /* no NaNs */
{
	uint32_t low = minmax(a, b, 0, 0), high = minmax(a, b, 1, 0);

	/* The largest of all is taken out by value: of two zeros the first. */
	if (f(a) >= f(high) && f(a) >= f(c) && !(f(c) > f(a)))
		return minmax(b, c, 1, 0);
	(void)low;
	return f(b) >= f(c) ? minmax(a, c, 1, 0) : minmax(a, b, 1, 0);
}

static inline uint32_t hminmax(uint32_t a, uint32_t b, bool max, bool gfx9)
{
	a &= 0xffff;
	b &= 0xffff;
	if (gfx9 && ((isnan(h(a)) && !(a & 0x200)) || (isnan(h(b)) && !(b & 0x200))))
		return 0x7e00;
	if (isnan(h(a)) || isnan(h(b)))
		return isnan(h(a)) ? b : a;
	if (h(a) == 0 && h(b) == 0)
		return max ? (a && b ? 0x8000 : 0) : (a || b ? 0x8000 : 0);
	return (h(a) < h(b)) == !max ? a : b;
}

static inline uint32_t hmed(uint32_t a, uint32_t b, uint32_t c)
{
	if (isnan(h(a)) || isnan(h(b)) || isnan(h(c)))
		return hminmax(hminmax(a, b, 0, 1), c, 0, 1);
	if (h(a) >= h(b) && h(a) >= h(c))
		return hminmax(b, c, 1, 0);
	return h(b) >= h(c) ? hminmax(a, c, 1, 0) : hminmax(a, b, 1, 0);
}

static inline unsigned class_of(float v, uint32_t bits, uint32_t quiet)
{
	bool minus = signbit(v);

	switch (fpclassify(v)) {
	case FP_NAN: return bits & quiet ? 1 : 0;
	case FP_INFINITE: return minus ? 2 : 9;
	case FP_NORMAL: return minus ? 3 : 8;
	case FP_SUBNORMAL: return minus ? 4 : 7;
	default: return minus ? 5 : 6;
	}
}

static inline uint64_t dminmax(uint64_t a, uint64_t b, bool max, bool gfx9)
{
	const uint64_t minus = UINT64_C(1) << 63, quiet = UINT64_C(1) << 51;

	if (gfx9 && ((isnan(d(a)) && !(a & quiet)) || (isnan(d(b)) && !(b & quiet))))
		return 0x7ff8000000000000;
	if (isnan(d(a)) || isnan(d(b)))
		return isnan(d(a)) ? b : a;
	if (d(a) == 0 && d(b) == 0)
		return max ? (a && b ? minus : 0) : (a || b ? minus : 0);
	return (d(a) < d(b)) == !max ? a : b;
}

static inline unsigned dclass(double v, uint64_t bits)
{
	bool minus = signbit(v);

	switch (fpclassify(v)) {
	case FP_NAN: return bits >> 51 & 1;
	case FP_INFINITE: return minus ? 2 : 9;
	case FP_NORMAL: return minus ? 3 : 8;
	case FP_SUBNORMAL: return minus ? 4 : 7;
	default: return minus ? 5 : 6;
	}
}

/* The lowest 64 bits of entries of bits bits, looked up by indices of 4. */
static inline uint64_t lookup(unsigned __int128 table, uint64_t index, unsigned bits)
{
	unsigned __int128 r = 0;

	for (unsigned i = 0; i < 16 && i * bits < 64; i++)
		r |= (table >> (index >> 4 * i & 15) * bits & ((1u << bits) - 1)) << i * bits;
	return (uint64_t)r;
}

/* Sine of (v + shift) turns; halves of a turn give 0. */
static inline float turns(float v, double shift)
{
	long double whole = 2 * 3.14159265358979323846264338327950288L, x = remainderl((long double)v, 1) + (long double)shift;

	if (isnan(v) || isinf(v))
		return NAN;
	if (x == 0)
		return v == 0 ? v : 0;
	return x == 0.5L || x == -0.5L ? 0 : (float)sinl(x * whole);
}

static inline uint64_t doubled(uint32_t a)
{
	return a ? (doubled(a >> 1) << 2) | (a & 1 ? 3 : 0) : 0;
}

static inline uint64_t quads(uint64_t a)
{
	return a ? quads(a >> 4) << 1 | (a % 16 != 0) : 0;
}

static inline int32_t leading64(uint64_t a)
{
	int32_t n = 0;

	if (!a)
		return -1;
	for (; !(a >> 63); a *= 2)
		n++;
	return n;
}

#endif
