/* Inputs and reference products against plain loops that index the arrays on their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

static uint64_t seed = 0x2545f4914f6cdd1du;
static uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32);
}

struct problem {
	struct verify_layout l;
	unsigned char *a, *b, *sa, *sb, *c;
	size_t abytes, bbytes, sbytes_a, sbytes_b, cbytes;
};

enum order { ROWS, STEPS, MAPPED }; /* of the scales */

/* Orders of the scales of 8 rows and 16 rows by 4 blocks: any permutations will do. */
static uint32_t map_a[32], map_b[64];

static void shuffle(uint32_t *map, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		map[i] = i;
	for (unsigned i = n; i-- > 1;) {
		unsigned j = rnd() % (i + 1);
		uint32_t t = map[i];

		map[i] = map[j];
		map[j] = t;
	}
}

#define PAD 48 /* bytes behind each row that nobody may touch */

static struct problem make(int64_t m, int64_t n, int64_t k, enum numfmt a, enum numfmt b, enum numfmt c, bool scaled,
			   enum order order)
{
	struct problem p = { .l = { .m = m, .n = n, .k = k, .a = a, .b = b, .c = c, .scaled = scaled } };

	p.l.lda_bytes = (size_t)k * numfmt_bits(a) / 8 + PAD;
	p.l.ldb_bytes = (size_t)k * numfmt_bits(b) / 8 + PAD;
	p.l.ldc_bytes = (size_t)n * numfmt_bits(c) / 8 + PAD;
	p.abytes = p.l.lda_bytes * (size_t)m;
	p.bbytes = p.l.ldb_bytes * (size_t)n;
	p.cbytes = p.l.ldc_bytes * (size_t)m;
	p.l.lds_bytes = (size_t)k / 32 + 3;
	p.sbytes_a = p.l.lds_bytes * (size_t)m;
	p.sbytes_b = p.l.lds_bytes * (size_t)n;
	if (order == MAPPED) {
		shuffle(map_a, 32);
		shuffle(map_b, 64);
		p.l.scale_blocks = 4;
		p.l.scale_rows_a = 8;
		p.l.scale_rows_b = 16;
		p.l.scale_map_a = map_a;
		p.l.scale_map_b = map_b;
		p.sbytes_a = (size_t)((m + 7) / 8 * 8 * k / 32);
		p.sbytes_b = (size_t)((n + 15) / 16 * 16 * k / 32);
	}
	if (order == STEPS) { /* K steps of 128: four blocks of a row side by side, then the next row */
		p.l.scale_blocks = 4;
		p.l.scale_step_a_bytes = (size_t)m * 4 + 5;
		p.l.scale_step_b_bytes = (size_t)n * 4 + 9;
		p.sbytes_a = p.l.scale_step_a_bytes * ((size_t)k / 128);
		p.sbytes_b = p.l.scale_step_b_bytes * ((size_t)k / 128);
	}
	p.a = malloc(p.abytes);
	p.b = malloc(p.bbytes);
	p.c = malloc(p.cbytes);
	p.sa = malloc(p.sbytes_a);
	p.sb = malloc(p.sbytes_b);
	memset(p.a, 0x5a, p.abytes);
	memset(p.b, 0x5a, p.bbytes);
	memset(p.sa, 0x11, p.sbytes_a);
	memset(p.sb, 0x11, p.sbytes_b);
	verify_fill(&p.l, 'A', 1, p.a);
	verify_fill(&p.l, 'B', 1, p.b);
	if (scaled) {
		verify_fill(&p.l, 'S', 1, p.sa);
		verify_fill(&p.l, 'T', 1, p.sb);
	}
	verify_poison(p.c, p.cbytes);
	return p;
}

static void drop(struct problem *p)
{
	free(p->a);
	free(p->b);
	free(p->c);
	free(p->sa);
	free(p->sb);
}

static double scale(const struct problem *p, bool b, int64_t i, int64_t k)
{
	const unsigned char *s = b ? p->sb : p->sa;
	int64_t q = k / 32;

	if (!p->l.scaled)
		return 1;
	if (p->l.scale_map_a) { /* groups of rows one after the other, in them K steps, in these the order of the map */
		int64_t rows = b ? 16 : 8;

		s += (size_t)(i / rows * rows * (p->l.k / 32) + q / 4 * rows * 4);
		s += (b ? map_b : map_a)[i % rows * 4 + q % 4];
	} else if (p->l.scale_blocks) {
		s += (size_t)(q / 4) * (b ? p->l.scale_step_b_bytes : p->l.scale_step_a_bytes) + (size_t)(i * 4 + q % 4);
	} else {
		s += (size_t)i * p->l.lds_bytes + (size_t)q;
	}
	return ldexp(1, *s - 127);
}

static double element(const struct problem *p, bool b, int64_t i, int64_t k)
{
	const unsigned char *row = b ? p->b + (size_t)i * p->l.ldb_bytes : p->a + (size_t)i * p->l.lda_bytes;

	return numfmt_load(b ? p->l.b : p->l.a, row, (size_t)k) * scale(p, b, i, k);
}

static void put(struct problem *p, int64_t i, int64_t j, double v)
{
	numfmt_store(p->l.c, p->c + (size_t)i * p->l.ldc_bytes, (size_t)j, v);
}

/* The product as a kernel might form it: f32 sums, in one of several orders; skip: one K that is forgotten. */
static void kernel(struct problem *p, unsigned order, int64_t skip)
{
	int64_t k = p->l.k;

	for (int64_t i = 0; i < p->l.m; i++)
		for (int64_t j = 0; j < p->l.n; j++) {
			float sum = 0;
			double wide = 0;

			for (int64_t x = 0; x < k; x++) {
				int64_t at = order == 0 ? x : order == 1 ? k - 1 - x : x * 5 % k;
				double v;

				if (order == 2 && k % 5 == 0)
					at = x;
				v = at == skip ? 0 : element(p, false, i, at) * element(p, true, j, at);
				sum += (float)v;
				wide += v;
			}
			put(p, i, j, p->l.c == NF_F64 || p->l.c == NF_I32 ? wide : (double)sum);
		}
}

static struct verify_result check(const struct problem *p, unsigned every)
{
	struct verify_result r;

	verify_product(&p->l, p->a, p->b, p->sa, p->sb, p->c, 0, p->l.m, 0, p->l.n, every, &r);
	return r;
}

static const struct { enum numfmt a, b, c; bool scaled, exact; } kinds[] = {
	{ NF_F16, NF_F16, NF_F32, false, true }, { NF_F16, NF_F16, NF_F16, false, true },
	{ NF_BF16, NF_BF16, NF_F32, false, true }, { NF_BF16, NF_BF16, NF_BF16, false, true },
	{ NF_F32, NF_F32, NF_F32, false, true }, { NF_XF32, NF_XF32, NF_F32, false, true },
	{ NF_F64, NF_F64, NF_F64, false, true }, { NF_I8, NF_I8, NF_I32, false, true },
	{ NF_FP8, NF_FP8, NF_F32, false, false }, { NF_FP8, NF_FP8, NF_BF16, false, false },
	{ NF_FP8, NF_FP8, NF_F16, false, false }, { NF_BF8, NF_FP8, NF_F32, false, false },
	{ NF_BF8, NF_BF8, NF_F16, false, false }, { NF_FP8_FNUZ, NF_BF8_FNUZ, NF_F16, false, false },
	{ NF_FP8_FNUZ, NF_FP8_FNUZ, NF_F32, false, false }, { NF_FP6, NF_FP6, NF_F32, false, true },
	{ NF_BF6, NF_FP4, NF_F32, false, true }, { NF_FP4, NF_FP4, NF_F32, false, true },
	{ NF_FP4, NF_FP4, NF_BF16, true, false }, { NF_FP4, NF_FP4, NF_F32, true, false },
	{ NF_FP8, NF_FP4, NF_F32, true, false }, { NF_FP8, NF_FP8, NF_F16, true, false },
	{ NF_FP6, NF_BF6, NF_BF16, true, false },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void test_correct(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++)
		for (unsigned order = 0; order < 3; order++) {
			struct problem p = make(19, 37, 384, kinds[i].a, kinds[i].b, kinds[i].c, kinds[i].scaled,
						kinds[i].scaled ? (enum order)order : ROWS);
			struct verify_result r;

			kernel(&p, order, -1);
			r = check(&p, 1);
			if (r.wrong || r.checked != 19 * 37)
				fail_msg("kind %zu, order %u: %d of %d wrong, [%d][%d] %.9g, want %.9g, off %g, tolerance %g", i, order,
					 (int)r.wrong, (int)r.checked, (int)r.row, (int)r.col, r.got, r.want, r.max_rel, r.tolerance);
			assert_true(r.max_rel <= r.tolerance);
			drop(&p);
		}
}

/* A result one step off is found where sums are exact; elsewhere a product that is missing. */
static void test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		struct problem p = make(20, 33, 256, kinds[i].a, kinds[i].b, kinds[i].c, kinds[i].scaled, kinds[i].scaled ? STEPS : ROWS);
		int64_t row = rnd() % 20, col = rnd() % 33;
		unsigned char *at = p.c + (size_t)row * p.l.ldc_bytes;
		struct verify_result r;

		kernel(&p, 0, -1);
		if (kinds[i].exact) {
			numfmt_store_bits(p.l.c, at, (size_t)col, numfmt_load_bits(p.l.c, at, (size_t)col) ^ 1);
			r = check(&p, 1);
			if (r.wrong != 1)
				fail_msg("kind %zu: %d wrong", i, (int)r.wrong);
			assert_int_equal(r.row, row);
			assert_int_equal(r.col, col);
			assert_true(r.max_rel > r.tolerance);
		}
		kernel(&p, 0, 100);
		r = check(&p, 1);
		/* Products of small factors lie below what sums may lose, or below a step of a narrow C; not so many do. */
		if (r.wrong < (kinds[i].exact && numfmt_bits(p.l.c) > 16 ? 400 : 100))
			fail_msg("kind %zu without one product: %d of %d wrong", i, (int)r.wrong, (int)r.checked);
		drop(&p);
	}
}

static void test_holes(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		struct problem p = make(16, 16, 128, kinds[i].a, kinds[i].b, kinds[i].c, kinds[i].scaled, kinds[i].scaled ? STEPS : ROWS);
		struct verify_result r = check(&p, 1);
		unsigned char hole[8];

		assert_int_equal(r.wrong, 256);
		memcpy(hole, p.c, numfmt_bits(p.l.c) / 8);
		kernel(&p, 0, -1);
		memcpy(p.c + 3 * p.l.ldc_bytes + 5 * (numfmt_bits(p.l.c) / 8), hole, numfmt_bits(p.l.c) / 8);
		r = check(&p, 1);
		assert_int_equal(r.wrong, 1);
		assert_int_equal(r.row, 3);
		assert_int_equal(r.col, 5);
		put(&p, 3, 5, NAN);
		if (p.l.c != NF_I32) {
			r = check(&p, 1);
			assert_int_equal(r.wrong, 1);
			assert_true(isinf(r.max_rel));
		}
		drop(&p);
	}
}

/* Never written is wrong even if the right value happens to look so. */
static void test_lucky_hole(void **state)
{
	struct problem p = make(1, 1, 32, NF_F32, NF_F32, NF_F32, false, ROWS);

	(void)state;
	for (size_t k = 0; k < 32; k++) {
		numfmt_store(NF_F32, p.a, k, 0);
		numfmt_store(NF_F32, p.b, k, 1);
	}
	memcpy(p.a, p.c, 4);
	assert_int_equal(check(&p, 1).wrong, 1);
	put(&p, 0, 0, numfmt_load(NF_F32, p.a, 0) * 0.5);
	numfmt_store(NF_F32, p.a, 0, numfmt_load(NF_F32, p.c, 0));
	assert_int_equal(check(&p, 1).wrong, 0);
	drop(&p);
}

/* A factor from another place of A or B, or a scale of another block. */
static void test_mixed_up(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		struct problem p = make(16, 48, 256, kinds[i].a, kinds[i].b, kinds[i].c, kinds[i].scaled, kinds[i].scaled ? STEPS : ROWS);
		struct verify_result r;

		kernel(&p, 0, -1);
		if (kinds[i].scaled) { /* the scales of two blocks of row 7 changed places */
			unsigned char x = p.sa[7 * 4];

			p.sa[7 * 4] = p.sa[7 * 4 + 2];
			p.sa[7 * 4 + 2] = x == p.sa[7 * 4] ? (unsigned char)(x + 1) : x;
		} else {
			unsigned bits = numfmt_bits(p.l.a);

			for (int64_t k = 0; k < 16; k++) /* K 0 to 15 and 16 to 31 of row 7 */
				for (unsigned b = 0; b < bits; b += 4) {
					size_t u = (size_t)(k * bits + b) / 4, v = u + 16 * bits / 4;
					unsigned char *row = p.a + 7 * p.l.lda_bytes;
					uint64_t cu = numfmt_load_bits(NF_FP4, row, u), cv = numfmt_load_bits(NF_FP4, row, v);

					if (bits % 4 == 0) {
						numfmt_store_bits(NF_FP4, row, u, cv);
						numfmt_store_bits(NF_FP4, row, v, cu);
					}
				}
			if (bits % 4)
				for (size_t k = 0; k < 16; k++) {
					unsigned char *row = p.a + 7 * p.l.lda_bytes;
					uint64_t cu = numfmt_load_bits(p.l.a, row, k), cv = numfmt_load_bits(p.l.a, row, k + 16);

					numfmt_store_bits(p.l.a, row, k, cv);
					numfmt_store_bits(p.l.a, row, k + 16, cu);
				}
		}
		r = check(&p, 1);
		if (r.wrong < 40 || r.wrong > 48)
			fail_msg("kind %zu: %d wrong", i, (int)r.wrong);
		assert_int_equal(r.row, 7);
		drop(&p);
	}
}

static void test_parts(void **state)
{
	struct problem p = make(64, 96, 64, NF_F16, NF_F16, NF_F32, false, ROWS);
	struct verify_result r;
	uint64_t seen = 0;

	(void)state;
	kernel(&p, 0, -1);
	for (unsigned every = 0; every < 300; every++) {
		r = check(&p, every);
		assert_int_equal(r.wrong, 0);
		if (every && every < 100) {
			assert_true((double)r.checked > 64.0 * 96 / every * 0.6 && (double)r.checked < 64.0 * 96 / every * 1.6);
		}
		seen += r.checked;
	}
	assert_true(seen > 64 * 96);
	/* The chosen places follow no grid: faults outside of rows and columns 0, 8, 16 .. are met too. */
	for (unsigned wrong = 0; wrong < 2; wrong++) {
		kernel(&p, 0, -1);
		for (int64_t i = 0; i < 64; i++)
			for (int64_t j = 0; j < 96; j++)
				if ((wrong ? j : i) % 8)
					put(&p, i, j, 1e9);
		r = check(&p, 64);
		assert_true(r.wrong > 0 && r.wrong < r.checked);
	}
	kernel(&p, 0, -1);
	put(&p, 40, 50, 1e9);
	verify_product(&p.l, p.a, p.b, NULL, NULL, p.c, 0, 40, 0, 96, 1, &r);
	assert_int_equal(r.wrong, 0);
	assert_int_equal(r.checked, 40 * 96);
	verify_product(&p.l, p.a, p.b, NULL, NULL, p.c, 40, 41, 50, 51, 1, &r);
	assert_int_equal(r.wrong, 1);
	assert_int_equal(r.checked, 1);
	verify_product(&p.l, p.a, p.b, NULL, NULL, p.c, 41, 64, 0, 96, 1, &r);
	assert_int_equal(r.wrong, 0);
	verify_product(&p.l, p.a, p.b, NULL, NULL, p.c, -5, 1000, -5, 1000, 1, &r);
	assert_int_equal(r.wrong, 1);
	assert_int_equal(r.checked, 64 * 96);
	verify_product(&p.l, p.a, p.b, NULL, NULL, p.c, 9, 9, 0, 96, 1, &r);
	assert_int_equal(r.checked, 0);
	drop(&p);
}

/* Every number of the narrow formats occurs, nothing else does, and the gaps behind the rows stay. */
static void test_inputs(void **state)
{
	static const enum numfmt narrow[] = { NF_FP8, NF_BF8, NF_FP8_FNUZ, NF_BF8_FNUZ, NF_FP6, NF_BF6, NF_FP4, NF_I8 };

	(void)state;
	for (size_t f = 0; f < sizeof(narrow) / sizeof(narrow[0]); f++) {
		struct problem p = make(16, 32, 1024, narrow[f], narrow[f], narrow[f] == NF_I8 ? NF_I32 : NF_F32, true, ROWS);
		unsigned count[256] = { 0 };
		struct problem q = make(16, 32, 1024, narrow[f], narrow[f], p.l.c, true, ROWS);

		assert_memory_equal(p.a, q.a, p.abytes);
		verify_fill(&q.l, 'A', 2, q.a);
		assert_memory_not_equal(p.a, q.a, p.abytes);
		for (int64_t i = 0; i < 32; i++) {
			for (size_t k = 0; k < 1024; k++)
				count[numfmt_load_bits(narrow[f], p.b + (size_t)i * p.l.ldb_bytes, k)]++;
			for (size_t x = 0; x < PAD; x++)
				assert_int_equal(p.b[((size_t)i + 1) * p.l.ldb_bytes - 1 - x], 0x5a);
		}
		for (unsigned c = 0; c < 1u << numfmt_bits(narrow[f]); c++)
			if ((count[c] > 0) != isfinite(numfmt_get(narrow[f], c)))
				fail_msg("%s: code %#x %u times", numfmt_name(narrow[f]), c, count[c]);
		for (size_t i = 0; i < 16; i++)
			for (size_t x = 0; x < p.l.lds_bytes; x++)
				assert_true(x < 32 ? p.sa[i * p.l.lds_bytes + x] >= 124 && p.sa[i * p.l.lds_bytes + x] <= 130
						   : p.sa[i * p.l.lds_bytes + x] == 0x11);
		drop(&p);
		drop(&q);
	}
}

/* Long sums stay inside f16. */
static void test_range(void **state)
{
	static const struct { enum numfmt f; bool scaled; } wide[] = { { NF_BF8, false }, { NF_FP8, true }, { NF_F16, false },
								       { NF_FP4, true } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct problem p = make(8, 8, 16384, wide[i].f, wide[i].f, NF_F16, wide[i].scaled,
					wide[i].scaled ? STEPS : ROWS);
		double most = 0;

		kernel(&p, 0, -1);
		for (int64_t r = 0; r < 8; r++)
			for (size_t c = 0; c < 8; c++)
				most = fmax(most, fabs(numfmt_load(NF_F16, p.c + (size_t)r * p.l.ldc_bytes, c)));
		assert_true(most > 1 && most < 65504);
		assert_int_equal(check(&p, 1).wrong, 0);
		drop(&p);
	}
}

/* What C can't hold: infinity in f16, the largest number in fp8. */
static void test_beyond(void **state)
{
	struct problem p = make(1, 1, 32, NF_F32, NF_F32, NF_F16, false, ROWS);

	(void)state;
	for (size_t k = 0; k < 32; k++) {
		numfmt_store(NF_F32, p.a, k, 100);
		numfmt_store(NF_F32, p.b, k, 100);
	}
	put(&p, 0, 0, INFINITY);
	assert_int_equal(check(&p, 1).wrong, 0);
	put(&p, 0, 0, 65504);
	assert_int_equal(check(&p, 1).wrong, 1);
	put(&p, 0, 0, -INFINITY);
	assert_int_equal(check(&p, 1).wrong, 1);
	drop(&p);
	p = make(1, 1, 32, NF_F32, NF_F32, NF_FP8, false, ROWS);
	for (size_t k = 0; k < 32; k++) {
		numfmt_store(NF_F32, p.a, k, 100);
		numfmt_store(NF_F32, p.b, k, 100);
	}
	put(&p, 0, 0, 448);
	assert_int_equal(check(&p, 1).wrong, 0);
	put(&p, 0, 0, 416);
	assert_int_equal(check(&p, 1).wrong, 1);
	drop(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_correct), cmocka_unit_test(test_wrong), cmocka_unit_test(test_holes), cmocka_unit_test(test_lucky_hole),
		cmocka_unit_test(test_mixed_up),
		cmocka_unit_test(test_parts), cmocka_unit_test(test_inputs), cmocka_unit_test(test_range), cmocka_unit_test(test_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
