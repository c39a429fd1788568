/* Arenas, text buffers, nearest words and numbers. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util.h"

static void arena_is_zeroed_and_aligned(void **state)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 4000, 16384, 16385, 70000, 1 << 20};
	struct arena *a = arena_new();
	unsigned char *p[ARRAY_LEN(sizes) * 20];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(p); i++) {
		size_t n = sizes[i % ARRAY_LEN(sizes)];

		p[i] = arena_alloc(a, n, 1);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(p[i][k], 0);
		if (n)
			memset(p[i], (int)(i % 255) + 1, n);
	}
	/* No allocation overlaps another one. */
	for (size_t i = 0; i < ARRAY_LEN(p); i++)
		for (size_t k = 0; k < sizes[i % ARRAY_LEN(sizes)]; k++)
			assert_int_equal(p[i][k], i % 255 + 1);
	arena_free(a);
	arena_free(NULL);
}

static void arena_texts(void **state)
{
	struct arena *a = arena_new();
	char *s;

	(void)state;
	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_strdup(a, "abc"), "abc");
	assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(a, "ab", 30), "ab");
	assert_string_equal(arena_printf(a, "%d-%s", 7, "x"), "7-x");
	s = arena_printf(a, "%0*d", 3000, 1);
	assert_int_equal(strlen(s), 3000);
	arena_free(a);
}

static void texts_of_any_length(void **state)
{
	char *s;

	(void)state;
	for (int n = 1; n < 1200; n += 51) {
		s = xasprintf("%0*d|", n, 0);
		assert_int_equal(strlen(s), n + 1);
		assert_int_equal(s[n], '|');
		free(s);
	}
	s = xstrdup("x");
	assert_string_equal(s, "x");
	free(s);
}

static void strbuf_grows(void **state)
{
	struct strbuf b = {0};

	(void)state;
	assert_null(b.s);
	strbuf_addn(&b, "", 0);
	assert_string_equal(b.s, "");
	for (int i = 0; i < 1000; i++)
		strbuf_add(&b, "%d,", i % 10);
	assert_int_equal(b.len, 2000);
	assert_int_equal(strlen(b.s), 2000);
	assert_memory_equal(b.s + 1990, "5,6,7,8,9,", 11);
	strbuf_addn(&b, "a\0b", 3);
	assert_int_equal(b.len, 2003);
	assert_memory_equal(b.s + 2000, "a\0b", 4);
	strbuf_free(&b);
	assert_null(b.s);
	assert_int_equal(b.len, 0);
}

static void xgrow_keeps_elements(void **state)
{
	size_t n = 0, cap = 0;
	int *v = NULL;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		v = xgrow(v, n, &cap, sizeof(*v));
		assert_true(cap > n);
		v[n++] = i;
	}
	for (int i = 0; i < 10000; i++)
		assert_int_equal(v[i], i);
	free(v);
}

static void nearest_words(void **state)
{
	static const char *const words[] = {"stage", "matrix", "priority", "m",
					    "n",     "k",      "waves",	   "read"};
	static const struct {
		const char *s, *nearest;
	} rows[] = {
		{"stage", "stage"},
		{"stgae", "stage"}, /* a swap is one edit */
		{"sage", "stage"},
		{"stagee", "stage"},
		{"sgate", NULL}, /* two edits in five */
		{"matirx", "matrix"},
		{"mtrixx", "matrix"}, /* two edits in six */
		{"motrux", "matrix"},
		{"potrux", NULL}, /* three */
		{"prioritie", "priority"},
		{"priorities", "priority"},
		{"wave", "waves"},
		{"x", NULL}, /* nothing in common */
		{"mm", "m"},
		{"raed", "read"},
		{"", NULL},
		{"utterly different", NULL},
		{"stageeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
		 "eeeeeeeeeeeeeeeeeee",
		 NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = word_nearest(rows[i].s, words, ARRAY_LEN(words));

		if (rows[i].nearest) {
			assert_non_null(got);
			assert_string_equal(got, rows[i].nearest);
		} else {
			assert_null(got);
		}
	}
	assert_null(word_nearest("stage", words, 0));
}

static void decodes_utf8(void **state)
{
	static const struct {
		const char *s;
		size_t len;
		uint32_t cp;
	} rows[] = {
		{"a", 1, 'a'},
		{"\x7f", 1, 0x7f},
		{"\xc2\x80", 2, 0x80},
		{"\xdf\xbf", 2, 0x7ff},
		{"\xe0\xa0\x80", 3, 0x800},
		{"\xed\x9f\xbf", 3, 0xd7ff},
		{"\xee\x80\x80", 3, 0xe000},
		{"\xef\xbf\xbf", 3, 0xffff},
		{"\xf0\x90\x80\x80", 4, 0x10000},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
		{"\x80", 0, 0},
		{"\xc1\xbf", 0, 0},	    /* overlong */
		{"\xe0\x9f\xbf", 0, 0},	    /* overlong */
		{"\xf0\x8f\xbf\xbf", 0, 0}, /* overlong */
		{"\xed\xa0\x80", 0, 0},	    /* a surrogate */
		{"\xf4\x90\x80\x80", 0, 0}, /* beyond the last one */
		{"\xf5\x80\x80\x80", 0, 0},
		{"\xe6\xbc", 0, 0}, /* cut */
		{"\xc3z", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t cp = 0;

		assert_int_equal(utf8_decode(rows[i].s, strlen(rows[i].s), &cp), rows[i].len);
		assert_int_equal(cp, rows[i].cp);
	}
}

static void cut_between_characters(void **state)
{
	const char *s = "a\xc3\xa9\xe6\xbc\xa2z"; /* 1, 2, 3 and 1 bytes */

	(void)state;
	assert_int_equal(utf8_cut(s, 7, 7), 7);
	assert_int_equal(utf8_cut(s, 7, 9), 7);
	assert_int_equal(utf8_cut(s, 7, 6), 6);
	assert_int_equal(utf8_cut(s, 7, 5), 3);
	assert_int_equal(utf8_cut(s, 7, 4), 3);
	assert_int_equal(utf8_cut(s, 7, 3), 3);
	assert_int_equal(utf8_cut(s, 7, 2), 1);
	assert_int_equal(utf8_cut(s, 7, 0), 0);
}

static void integers(void **state)
{
	static const struct {
		const char *s;
		int64_t lo, hi;
		int result;
		int64_t value;
	} rows[] = {
		{"0", 0, 10, 0, 0},
		{"10", 0, 10, 0, 10},
		{"11", 0, 10, -2, 0},
		{"-1", 0, 10, -2, 0},
		{"-1", -1, 10, 0, -1},
		{"+7", 0, 10, 0, 7},
		{"007", 0, 10, 0, 7},
		{"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
		{"9223372036854775808", INT64_MIN, INT64_MAX, -2, 0},
		{"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
		{"-9223372036854775809", INT64_MIN, INT64_MAX, -2, 0},
		{"99999999999999999999999999999999999999", INT64_MIN, INT64_MAX, -2, 0},
		{"99999999999999999999999999999999999999x", INT64_MIN, INT64_MAX, -1, 0},
		{"", 0, 10, -1, 0},
		{"-", 0, 10, -1, 0},
		{" 1", 0, 10, -1, 0},
		{"1 ", 0, 10, -1, 0},
		{"1.0", 0, 10, -1, 0},
		{"0x1", 0, 10, -1, 0},
		{"--1", -10, 10, -1, 0},
		{"1e1", 0, 10, -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 77;

		assert_int_equal(parse_int64(rows[i].s, rows[i].lo, rows[i].hi, &v),
				 rows[i].result);
		assert_true(v == (rows[i].result ? 77 : rows[i].value));
	}
}

static void doubles(void **state)
{
	static const char *const bad[] = {"",	   "-",	    ".",     "1,5",	  " 1", "1 ",
					  "0x1p3", "nan",   "inf",   "-infinity", "1e", "1e+",
					  "e5",	   "1.2.3", "1e999", "--1",	  "1f"};
	static const struct {
		const char *s;
		double v;
	} good[] = {{"0", 0},	   {"1.5", 1.5},   {"-2.25", -2.25}, {"+.5", .5}, {"5.", 5},
		    {"1e3", 1000}, {"1E-2", 0.01}, {"1e-999", 0},    {"0.1", 0.1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		double v = 77;

		assert_int_equal(parse_double(bad[i], &v), -1);
		assert_true(v == 77);
	}
	/* The same under a locale that writes a comma, where the system has one. */
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_LEN(good); i++) {
			double v = NAN;

			assert_int_equal(parse_double(good[i].s, &v), 0);
			assert_true(v == good[i].v);
		}
		if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
			break;
	}
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arena_is_zeroed_and_aligned),
		cmocka_unit_test(arena_texts),
		cmocka_unit_test(texts_of_any_length),
		cmocka_unit_test(strbuf_grows),
		cmocka_unit_test(xgrow_keeps_elements),
		cmocka_unit_test(nearest_words),
		cmocka_unit_test(decodes_utf8),
		cmocka_unit_test(cut_between_characters),
		cmocka_unit_test(integers),
		cmocka_unit_test(doubles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
