/*
 * Number formats against a definition of their own: the values of all codes are written down from the format's
 * exponent and mantissa fields, and rounding is a search for the nearest of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numfmt.h"

/* What the manuals' tables say of each: fields, bias, which codes are no numbers. */
struct shape {
	enum numfmt f;
	int exp_bits, man_bits, bias;
	enum { IEEE, OCP_E4M3, FNUZ, FINITE } kind;
	double largest, smallest; /* written in the tables: a check on this table itself */
};
static const struct shape shapes[] = {
	{ NF_F16, 5, 10, 15, IEEE, 65504.0, 0x1p-24 },
	{ NF_BF16, 8, 7, 127, IEEE, 0x1.fep127, 0x1p-133 },
	{ NF_FP8, 4, 3, 7, OCP_E4M3, 448.0, 0x1p-9 },
	{ NF_BF8, 5, 2, 15, IEEE, 57344.0, 0x1p-16 },
	{ NF_FP8_FNUZ, 4, 3, 8, FNUZ, 240.0, 0x1p-10 },
	{ NF_BF8_FNUZ, 5, 2, 16, FNUZ, 57344.0, 0x1p-17 },
	{ NF_FP6, 2, 3, 1, FINITE, 7.5, 0.125 },
	{ NF_BF6, 3, 2, 3, FINITE, 28.0, 0.0625 },
	{ NF_FP4, 2, 1, 1, FINITE, 6.0, 0.5 },
};

static double value_of(const struct shape *s, unsigned code)
{
	unsigned total = 1u + (unsigned)s->exp_bits + (unsigned)s->man_bits;
	unsigned e = code >> s->man_bits & ((1u << s->exp_bits) - 1), m = code & ((1u << s->man_bits) - 1);
	unsigned all = (1u << s->exp_bits) - 1, neg = code >> (total - 1) & 1;
	double v = 0;

	if (s->kind == FNUZ && neg && !e && !m)
		return NAN;
	if (s->kind == IEEE && e == all)
		return m ? NAN : neg ? -INFINITY : INFINITY;
	if (s->kind == OCP_E4M3 && e == all && m == (1u << s->man_bits) - 1)
		return NAN;
	v = e ? 1.0 + (double)m / (1 << s->man_bits) : (double)m / (1 << s->man_bits);
	v *= pow(2.0, (e ? (int)e : 1) - s->bias);
	return neg ? -v : v;
}

static unsigned codes_of(const struct shape *s)
{
	return 1u << (1 + s->exp_bits + s->man_bits);
}

static bool same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];
		double most = 0, least = INFINITY;

		assert_int_equal(1u << numfmt_bits(s->f), codes_of(s));
		for (unsigned c = 0; c < codes_of(s); c++) {
			double v = value_of(s, c), got = numfmt_get(s->f, c);

			if (!same(v, got))
				fail_msg("%s %#x: %g, want %g", numfmt_name(s->f), c, got, v);
			if (isfinite(v) && v > most)
				most = v;
			if (isfinite(v) && v > 0 && v < least)
				least = v;
		}
		assert_true(most == s->largest);
		assert_true(least == s->smallest);
	}
}

static double values[65536]; /* of the shape that is looked at */

static void remember(const struct shape *s)
{
	for (unsigned c = 0; c < codes_of(s); c++)
		values[c] = value_of(s, c);
}

/* Code of the nearest number to v, found by looking at all of them. */
static unsigned nearest(const struct shape *s, double v)
{
	unsigned best = 0, half = codes_of(s) / 2;
	double distance = INFINITY, a = fabs(v), most = 0;
	bool neg = signbit(v);

	a = fmin(a, 4 * s->largest); /* farther away, all differences would round to the same double */
	for (unsigned c = 0; c < half; c++) {
		double x = values[c], d = fabs(x - a);

		if (!isfinite(x))
			continue;
		if (x > most)
			most = x;
		if (d < distance || (d == distance && !(c & 1))) {
			distance = d;
			best = c;
		}
	}
	/* Behind the largest number: half a step further is an infinity, where the type has one by rounding. */
	if ((s->f == NF_F16 || s->f == NF_BF16) && values[best] == most &&
	    a >= most + (most - values[best - 1]) / 2)
		best++;
	if (s->kind == FNUZ && best == 0)
		return 0;
	return neg ? best | half : best;
}

static void expect_put(const struct shape *s, double v)
{
	unsigned want = nearest(s, v), got = (unsigned)numfmt_put(s->f, v);

	if (want != got)
		fail_msg("%s of %a: %#x, want %#x", numfmt_name(s->f), v, got, want);
}

static uint64_t seed = 88172645463325252u;
static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Every number, the middle of every two neighbours, and the doubles right beside these. */
static void test_rounding(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];
		unsigned n = codes_of(s), step = n > 4096 ? 97 : 1; /* the search is slow: a part of the long ones */

		remember(s);
		for (unsigned c = 0; c < n; c += step) {
			double v = value_of(s, c), w = c + 1 < n ? value_of(s, c + 1) : NAN;

			if (isfinite(v)) {
				double mid = (v + w) / 2;

				expect_put(s, v);
				if (isfinite(mid) && signbit(v) == signbit(w)) {
					expect_put(s, mid);
					expect_put(s, nextafter(mid, INFINITY));
					expect_put(s, nextafter(mid, -INFINITY));
				}
			}
		}
		for (unsigned c = n / 2 - 8; c < n / 2 + 8 && n > 4096; c++) /* around the infinities */
			if (isfinite(value_of(s, c)))
				expect_put(s, value_of(s, c));
		for (int r = 0; r < (n > 4096 ? 500 : 20000); r++) {
			double v = ldexp((double)(int64_t)next_random(), (int)(next_random() % 40) - 80);

			expect_put(s, v);
		}
		expect_put(s, s->largest * 1.0001);
		expect_put(s, -s->largest * 2);
		expect_put(s, 1e300);
		expect_put(s, -5e-324);
		expect_put(s, 0.0);
		expect_put(s, -0.0);
		assert_true(isnan(numfmt_get(s->f, numfmt_put(s->f, NAN))) || s->kind == FINITE);
	}
}

/* All codes of the 16-bit formats survive the way there and back. */
static void test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned c = 0; c < codes_of(&shapes[i]); c++) {
			double v = value_of(&shapes[i], c);

			if (!isnan(v) && numfmt_put(shapes[i].f, v) != c)
				fail_msg("%s %#x becomes %#x", numfmt_name(shapes[i].f), c, (unsigned)numfmt_put(shapes[i].f, v));
		}
	assert_int_equal(numfmt_put(NF_F16, 65520.0), 0x7c00); /* the middle between 65504 and 65536 */
	assert_int_equal(numfmt_put(NF_F16, 65519.99), 0x7bff);
	assert_int_equal(numfmt_put(NF_FP8, 1e9), 0x7e);
	assert_int_equal(numfmt_put(NF_FP8, -INFINITY), 0xfe);
	assert_int_equal(numfmt_put(NF_FP4, 5.0), 6); /* a tie between 4 and 6 */
	assert_int_equal(numfmt_put(NF_FP4, -2.5), 0xc);
}

static void test_scales(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 255; c++) {
		double v = pow(2.0, (int)c - 127);

		assert_true(numfmt_get(NF_E8M0, c) == v);
		assert_int_equal(numfmt_put(NF_E8M0, v), c);
		assert_int_equal(numfmt_put(NF_E8M0, v * 1.4999), c);
		assert_int_equal(numfmt_put(NF_E8M0, v * 1.5001), c == 254 ? 254 : c + 1);
		assert_int_equal(numfmt_put(NF_E8M0, v * 1.5), c == 254 ? 254 : c + (c & 1));
	}
	assert_true(isnan(numfmt_get(NF_E8M0, 255)));
	assert_int_equal(numfmt_put(NF_E8M0, NAN), 255);
	assert_int_equal(numfmt_put(NF_E8M0, 0.0), 0);
	assert_int_equal(numfmt_put(NF_E8M0, 1e-300), 0);
	assert_int_equal(numfmt_put(NF_E8M0, INFINITY), 254);
}

static void test_integers(void **state)
{
	static const struct { enum numfmt f; double v; uint64_t code; } rows[] = {
		{ NF_I8, -128, 0x80 }, { NF_I8, -129, 0x80 }, { NF_I8, 127, 0x7f }, { NF_I8, 300, 0x7f }, { NF_I8, -1, 0xff },
		{ NF_I8, 2.5, 2 }, { NF_I8, 3.5, 4 }, { NF_I8, -2.5, 0xfe }, { NF_U8, 255, 0xff }, { NF_U8, 256, 0xff },
		{ NF_U8, -3, 0 }, { NF_I32, -2147483648.0, 0x80000000 }, { NF_I32, 3e9, 0x7fffffff }, { NF_U32, 3e9, 3000000000u },
		{ NF_U32, 5e9, 0xffffffff }, { NF_I32, -1, 0xffffffff }, { NF_I32, NAN, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(numfmt_put(rows[i].f, rows[i].v), rows[i].code);
	for (unsigned c = 0; c < 256; c++) {
		assert_true(numfmt_get(NF_I8, c) == (c < 128 ? (int)c : (int)c - 256));
		assert_true(numfmt_get(NF_U8, c) == (int)c);
	}
	assert_true(numfmt_get(NF_I32, 0x80000000) == -2147483648.0);
	assert_true(numfmt_get(NF_U32, 0x80000000) == 2147483648.0);
}

static void test_wide(void **state)
{
	union { float f; uint32_t u; } x;
	union { double f; uint64_t u; } y = { .f = -1.0 / 3 };

	(void)state;
	assert_int_equal(numfmt_put(NF_F64, y.f), y.u);
	assert_true(numfmt_get(NF_F64, y.u) == y.f);
	for (int i = 0; i < 100000; i++) {
		x.u = (uint32_t)next_random();
		if (!isnan(x.f)) {
			assert_true(numfmt_get(NF_F32, x.u) == (double)x.f);
			assert_int_equal(numfmt_put(NF_F32, x.f), x.u);
		}
	}
	assert_true(isinf(numfmt_get(NF_F32, numfmt_put(NF_F32, 1e39))));
	/* xf32: multiples of 2^-10 in [1, 2), ties to even, looked for one by one. */
	for (int i = 0; i < 20000; i++) {
		double v = 1 + (double)(next_random() >> 11) / 0x1p53, best = 0, get;

		if (i < 3000)
			v = 1 + i % 2048 / 2048.0;
		if (i >= 3000 && i < 6000)
			v = nextafter(1 + i % 2048 / 2048.0, i & 1 ? 4.0 : 0.0);
		for (int k = -1; k <= 1025; k++) {
			double c = 1 + k / 1024.0;

			if (fabs(c - v) < fabs(best - v) || (fabs(c - v) == fabs(best - v) && !(k & 1)))
				best = c;
		}
		if (v < 1) /* the step is half as wide below one */
			continue;
		x.u = (uint32_t)numfmt_put(NF_XF32, v);
		assert_int_equal(x.u & 0x1fff, 0);
		assert_true((double)x.f == best);
		x.f = (float)v;
		if ((double)x.f == v) {
			get = numfmt_get(NF_XF32, x.u);
			assert_true(get == best);
		}
	}
	assert_true(isnan(numfmt_get(NF_XF32, 0x7fc00001)));
	assert_true(isinf(numfmt_get(NF_XF32, 0x7f800000)));
}

/* The position of element i in its array, bit by bit. */
static void test_arrays(void **state)
{
	static const enum numfmt all[] = { NF_F64, NF_F32, NF_F16, NF_BF16, NF_FP8, NF_BF8_FNUZ, NF_FP6, NF_BF6, NF_FP4, NF_E8M0,
					   NF_I8, NF_I32 };

	(void)state;
	for (size_t a = 0; a < sizeof(all) / sizeof(all[0]); a++) {
		unsigned bits = numfmt_bits(all[a]);
		size_t n = 64, bytes = n * bits / 8;
		unsigned char *data = malloc(bytes), *copy = malloc(bytes);

		assert_non_null(data);
		assert_non_null(copy);
		for (size_t i = 0; i < bytes; i++)
			data[i] = (unsigned char)next_random();
		for (size_t i = 0; i < n; i++) {
			uint64_t want = 0, code = next_random() & (bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX);

			for (unsigned b = 0; b < bits; b++)
				want |= (uint64_t)(data[(i * bits + b) / 8] >> (i * bits + b) % 8 & 1) << b;
			assert_true(numfmt_load_bits(all[a], data, i) == want);
			if (!isnan(numfmt_get(all[a], want)))
				assert_true(numfmt_load(all[a], data, i) == numfmt_get(all[a], want));
			memcpy(copy, data, bytes);
			numfmt_store_bits(all[a], copy, i, code);
			for (size_t b = 0; b < n * bits; b++) {
				unsigned got = copy[b / 8] >> b % 8 & 1, was = data[b / 8] >> b % 8 & 1;

				assert_int_equal(got, b / bits == i ? code >> b % bits & 1 : was);
			}
			numfmt_store(all[a], copy, i, 2.0);
			assert_true(numfmt_load(all[a], copy, i) == 2.0);
		}
		free(data);
		free(copy);
	}
}

static void test_many(void **state)
{
	(void)state;
	for (int f = 0; f < NF_COUNT; f++) {
		uint32_t code[4096];
		double out[4096];

		if (f == NF_F64)
			continue;
		for (unsigned base = 0; base < (numfmt_bits((enum numfmt)f) == 16 ? 65536 : 4096); base += 4096) {
			for (unsigned i = 0; i < 4096; i++)
				code[i] = numfmt_bits((enum numfmt)f) == 32 ? (uint32_t)next_random() : (base + i) | 0xabc00000;
			numfmt_decode((enum numfmt)f, code, 4096, out);
			for (unsigned i = 0; i < 4096; i++)
				if (!same(out[i], numfmt_get((enum numfmt)f, numfmt_bits((enum numfmt)f) == 32 ? code[i]
					: code[i] & ((1u << numfmt_bits((enum numfmt)f)) - 1))))
					fail_msg("%s %#x", numfmt_name((enum numfmt)f), code[i]);
		}
		if (numfmt_table((enum numfmt)f))
			assert_true(numfmt_bits((enum numfmt)f) <= 8);
	}
}

static void test_targets(void **state)
{
	struct target old = { .name = "gfx942" }, newer = { .name = "gfx950" };

	(void)state;
	assert_int_equal(numfmt_of(&old, DT_FP8), NF_FP8_FNUZ);
	assert_int_equal(numfmt_of(&old, DT_BF8), NF_BF8_FNUZ);
	assert_int_equal(numfmt_of(&newer, DT_FP8), NF_FP8);
	assert_int_equal(numfmt_of(&newer, DT_BF8), NF_BF8);
	for (int d = 0; d < DT_COUNT; d++)
		assert_int_equal(numfmt_bits(numfmt_of(&newer, (enum dtype)d)), dtype_bits((enum dtype)d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_rounding), cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_scales), cmocka_unit_test(test_integers), cmocka_unit_test(test_wide),
		cmocka_unit_test(test_arrays), cmocka_unit_test(test_many), cmocka_unit_test(test_targets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
