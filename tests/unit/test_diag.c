/* Findings: counting, order, and the exact text that is printed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diag.h"

/* The place of the first occurrence of word in s. */
static struct loc place(const struct src *s, const char *word)
{
	const char *p = strstr(s->text, word);

	assert_non_null(p);
	return (struct loc){s, (uint32_t)(p - s->text),
			    (uint32_t)(p - s->text + (ptrdiff_t)strlen(word))};
}

static void expect_print(const struct diag *d, bool colour, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	diag_print(d, f, colour);
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

/* Print one E-VALUE at word of text and compare. */
static void expect_one(const char *text, const char *word, const char *want)
{
	struct src *s = src_from_text("f", text, strlen(text));
	struct diag d;

	diag_init(&d);
	diag_add(&d, place(s, word), DIAG_VALUE, "m");
	expect_print(&d, false, want);
	diag_free(&d);
	src_free(s);
}

static void codes_are_complete(void **state)
{
	(void)state;
	for (int i = 0; i < DIAG_COUNT; i++) {
		const char *name = diag_code_name((enum diag_code)i);
		const char first = "EWN"[diag_code_severity((enum diag_code)i)];

		assert_int_equal(name[0], first);
		assert_int_equal(name[1], '-');
		assert_true(strlen(diag_code_meaning((enum diag_code)i)) > 5);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(name, diag_code_name((enum diag_code)k));
	}
	assert_string_equal(diag_code_name(DIAG_VALUE), "E-VALUE");
	assert_int_equal(diag_code_severity(DIAG_BANK), SEV_WARNING);
}

static void whole_finding(void **state)
{
	const char *text = "<a>\n\t<b x=\"1\"/>\n</a>\n";
	struct src *s = src_from_text("dir/f.xml", text, strlen(text));
	struct finding *f;
	struct diag d;

	(void)state;
	diag_init(&d);
	f = diag_add(&d, place(s, "1"), DIAG_VALUE, "x is %d", 1);
	assert_true(isnan(f->price_clk));
	assert_true(f->required == DIAG_NONE_INT && f->present == DIAG_NONE_INT);
	diag_note(f, place(s, "a"), "see %s", "here");
	diag_note(f, (struct loc){0}, "and this");
	diag_fix(f, "write %d", 1);
	diag_fix(f, "write %d", 2);
	f->price_clk = 12.5;
	assert_int_equal(d.errors, 1);
	expect_print(&d, false,
		     "dir/f.xml:2:8: error[E-VALUE]: x is 1\n"
		     "\t<b x=\"1\"/>\n"
		     "\t      ^\n"
		     "dir/f.xml:1:2: note: see here\n"
		     "<a>\n"
		     " ^\n"
		     "wpsim: note: and this\n"
		     "  fix: write 2\n"
		     "  price: 12.5 clk per K-step\n");
	diag_free(&d);
	assert_null(d.list);
	src_free(s);
}

static void ranges(void **state)
{
	(void)state;
	expect_one("ab cde f", "cde", "f:1:4: error[E-VALUE]: m\nab cde f\n   ^~~\n");
	expect_one("x\n\ty\tzz\n", "zz", "f:2:4: error[E-VALUE]: m\n\ty\tzz\n\t \t^~\n");
	/* No end of line in the range, none shown; a carriage return before it is no text. */
	expect_one("ab\r\ncd", "b\r\nc", "f:1:2: error[E-VALUE]: m\nab\n ^\n");
	expect_one("\nx", "\n", "f:1:1: error[E-VALUE]: m\n\n^\n");
	expect_one("ab", "", "f:1:1: error[E-VALUE]: m\nab\n^\n");
	/* A character of two bytes is one column wide; the column number counts bytes. */
	expect_one("\xc3\xa9 x", "x", "f:1:4: error[E-VALUE]: m\n\xc3\xa9 x\n  ^\n");
}

static void end_of_text(void **state)
{
	struct src *s = src_from_text("f", "ab\ncd", 5);
	struct diag d;

	(void)state;
	diag_init(&d);
	diag_add(&d, (struct loc){s, 5, 5}, DIAG_XML, "m");
	diag_add(&d, (struct loc){s, 900, 1000}, DIAG_XML, "n");
	expect_print(&d, false,
		     "f:2:3: error[E-XML]: m\ncd\n  ^\nf:2:3: error[E-XML]: n\ncd\n  ^\n");
	diag_free(&d);
	src_free(s);
}

static void hostile_bytes_are_spelled_out(void **state)
{
	struct src *s = src_from_text("p\x1b[0m", "a\x1b[2J\xe9\xc2\x9b\xe2\x80\xae\x7fz", 13);
	struct finding *f;
	struct diag d;

	(void)state;
	diag_init(&d);
	f = diag_add(&d, place(s, "z"), DIAG_VALUE, "bad \x1b]0;x\x07 and\nnew\tline");
	diag_fix(f, "\xc3");
	expect_print(&d, false,
		     "p<1B>[0m:1:13: error[E-VALUE]: bad <1B>]0;x<07> and<0A>new<09>line\n"
		     "a<1B>[2J<E9><9B><U+202E><7F>z\n"
		     "                            ^\n"
		     "  fix: <C3>\n");
	diag_free(&d);
	/* A spelled out character under the caret is marked in full. */
	diag_init(&d);
	diag_add(&d, (struct loc){s, 1, 3}, DIAG_VALUE, "m");
	expect_print(&d, false,
		     "p<1B>[0m:1:2: error[E-VALUE]: m\n"
		     "a<1B>[2J<E9><9B><U+202E><7F>z\n"
		     " ^~~~~\n");
	diag_free(&d);
	src_free(s);
}

static void long_lines_are_cut(void **state)
{
	char text[1001], want[1200];
	struct src *s;
	struct diag d;

	(void)state;
	for (int i = 0; i < 1000; i++)
		text[i] = (char)('a' + i % 26);
	text[1000] = '\0';
	s = src_from_text("f", text, 1000);
	diag_init(&d);
	diag_add(&d, (struct loc){s, 500, 502}, DIAG_VALUE, "m");
	snprintf(want, sizeof(want), "f:1:501: error[E-VALUE]: m\n...%.*s...\n%*s^~\n", 200,
		 text + 420, 83, "");
	expect_print(&d, false, want);
	diag_free(&d);
	/* At the start and the end there is nothing to cut on one side. */
	diag_init(&d);
	diag_add(&d, (struct loc){s, 0, 1}, DIAG_VALUE, "m");
	snprintf(want, sizeof(want), "f:1:1: error[E-VALUE]: m\n%.*s...\n^\n", 200, text);
	expect_print(&d, false, want);
	diag_free(&d);
	diag_init(&d);
	diag_add(&d, (struct loc){s, 999, 1000}, DIAG_VALUE, "m");
	snprintf(want, sizeof(want), "f:1:1000: error[E-VALUE]: m\n...%.*s\n%*s^\n", 200,
		 text + 800, 202, "");
	expect_print(&d, false, want);
	diag_free(&d);
	src_free(s);
}

/* Characters of three bytes: whatever the place, no cut one (it would be spelled out). */
static void long_lines_keep_characters(void **state)
{
	char text[901];
	struct src *s;

	(void)state;
	for (size_t i = 0; i < 900; i += 3)
		memcpy(text + i, "\xe6\xbc\xa2", 3);
	s = src_from_text("f", text, 900);
	for (uint32_t at = 0; at < 900; at += 3) {
		char *out = NULL;
		size_t size = 0;
		FILE *f = open_memstream(&out, &size);
		struct diag d;

		diag_init(&d);
		diag_add(&d, (struct loc){s, at, at + 3}, DIAG_VALUE, "m");
		diag_print(&d, f, false);
		fclose(f);
		assert_null(strchr(out, '<'));
		assert_non_null(strchr(out, '^'));
		free(out);
		diag_free(&d);
	}
	src_free(s);
}

static void sorted_by_place(void **state)
{
	struct src *a = src_from_text("a", "xyz", 3), *b = src_from_text("b", "xyz", 3);
	struct diag d;

	(void)state;
	diag_init(&d);
	diag_add(&d, place(b, "x"), DIAG_NAME, "5");
	diag_add(&d, place(a, "z"), DIAG_BANK, "4");
	diag_add(&d, place(a, "y"), DIAG_VALUE, "2");
	diag_add(&d, place(a, "y"), DIAG_ESTIMATE, "3");
	diag_add(&d, (struct loc){0}, DIAG_IO, "1");
	expect_print(&d, false,
		     "wpsim: error[E-IO]: 1\n"
		     "a:1:2: error[E-VALUE]: 2\nxyz\n ^\n"
		     "a:1:2: note[N-ESTIMATE]: 3\nxyz\n ^\n"
		     "a:1:3: warning[W-BANK]: 4\nxyz\n  ^\n"
		     "b:1:1: error[E-NAME]: 5\nxyz\n^\n");
	assert_int_equal(d.errors, 3);
	assert_int_equal(d.warnings, 1);
	assert_int_equal(d.n, 5);
	diag_free(&d);
	src_free(a);
	src_free(b);
}

static void too_many_errors(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d);
	for (int i = 0; i < 100; i++) {
		struct finding *f = diag_add(&d, (struct loc){0}, DIAG_VALUE, "%d", i);

		assert_non_null(f);
		diag_note(f, (struct loc){0}, "n");
		diag_fix(f, "f");
	}
	assert_int_equal(d.n, 20);
	assert_int_equal(d.errors, 100);
	assert_int_equal(d.suppressed, 80);
	diag_add(&d, (struct loc){0}, DIAG_BANK, "a warning is kept");
	assert_int_equal(d.n, 21);
	assert_string_equal(d.list[19].message, "19");
	assert_string_equal(d.list[20].message, "a warning is kept");
	assert_int_equal(d.list[20].nnotes, 0);
	assert_null(d.list[20].fix);
	diag_free(&d);

	diag_init(&d);
	d.max_errors = 1;
	diag_add(&d, (struct loc){0}, DIAG_VALUE, "a");
	diag_add(&d, (struct loc){0}, DIAG_VALUE, "b");
	expect_print(&d, false, "wpsim: error[E-VALUE]: a\n1 error suppressed\n");
	diag_add(&d, (struct loc){0}, DIAG_VALUE, "c");
	expect_print(&d, false, "wpsim: error[E-VALUE]: a\n2 errors suppressed\n");
	diag_free(&d);
}

static void colours_only_when_asked(void **state)
{
	struct src *s = src_from_text("f", "x", 1);
	struct diag d;

	(void)state;
	diag_init(&d);
	diag_add(&d, place(s, "x"), DIAG_VALUE, "m");
	expect_print(&d, true,
		     "\033[1mf:1:1: \033[0m\033[1;31merror[E-VALUE]:\033[0m m\n"
		     "x\n\033[1;32m^\033[0m\n");
	diag_free(&d);
	expect_print(&d, true, "");
	src_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_complete),
		cmocka_unit_test(whole_finding),
		cmocka_unit_test(ranges),
		cmocka_unit_test(end_of_text),
		cmocka_unit_test(hostile_bytes_are_spelled_out),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(long_lines_keep_characters),
		cmocka_unit_test(sorted_by_place),
		cmocka_unit_test(too_many_errors),
		cmocka_unit_test(colours_only_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
