/* Loading texts, and lines and columns in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "diag.h"
#include "src.h"

static void check_place(const struct src *s, uint32_t off, unsigned line, unsigned col)
{
	unsigned l = 0, c = 0;

	src_line_col(s, off, &l, &c);
	assert_int_equal(l, line);
	assert_int_equal(c, col);
}

static void lines_and_columns(void **state)
{
	struct src *s = src_from_text("t", "ab\n\ncd\r\ne", 9);

	(void)state;
	assert_int_equal(s->nlines, 4);
	check_place(s, 0, 1, 1);
	check_place(s, 1, 1, 2);
	check_place(s, 2, 1, 3); /* the line feed belongs to the line that it ends */
	check_place(s, 3, 2, 1);
	check_place(s, 4, 3, 1);
	check_place(s, 6, 3, 3);
	check_place(s, 8, 4, 1);
	check_place(s, 9, 4, 2);
	check_place(s, 10, 4, 2);
	check_place(s, UINT32_MAX, 4, 2);
	assert_int_equal(loc_line((struct loc){s, 4, 5}), 3);
	assert_int_equal(loc_line((struct loc){0}), 0);
	src_free(s);
	src_free(NULL);
}

static void empty_and_feed_only(void **state)
{
	struct src *s = src_from_text("t", "", 0);

	(void)state;
	assert_int_equal(s->nlines, 1);
	assert_int_equal(s->len, 0);
	assert_int_equal(s->text[0], 0);
	check_place(s, 0, 1, 1);
	check_place(s, 5, 1, 1);
	src_free(s);
	s = src_from_text("t", "\n", 1);
	check_place(s, 0, 1, 1);
	check_place(s, 1, 2, 1);
	src_free(s);
}

static void text_may_hold_nul(void **state)
{
	struct src *s = src_from_text("t", "a\0b\nc", 5);

	(void)state;
	assert_int_equal(s->len, 5);
	assert_memory_equal(s->text, "a\0b\nc", 6);
	check_place(s, 4, 2, 1);
	src_free(s);
}

/* A file with these bytes under a fresh name; the caller unlinks and frees it. */
static char *make_file(const void *bytes, size_t n)
{
	char *path = xasprintf("%s/wpsim-src-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
	return path;
}

static void loads_a_file(void **state)
{
	static char big[200000];
	struct diag d;
	struct src *s;
	char *path;

	(void)state;
	memset(big, 'x', sizeof(big));
	big[70000] = '\n';
	path = make_file(big, sizeof(big));
	diag_init(&d);
	s = src_load(path, &d);
	assert_non_null(s);
	assert_int_equal(d.n, 0);
	assert_string_equal(s->path, path);
	assert_int_equal(s->len, sizeof(big));
	assert_memory_equal(s->text, big, sizeof(big));
	assert_int_equal(s->text[s->len], 0);
	assert_int_equal(s->nlines, 2);
	src_free(s);
	unlink(path);
	free(path);
	diag_free(&d);
}

static void expect_io(const char *path, const char *part)
{
	struct diag d;

	diag_init(&d);
	assert_null(src_load(path, &d));
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].code, DIAG_IO);
	assert_null(d.list[0].loc.src);
	assert_non_null(strstr(d.list[0].message, path));
	assert_non_null(strstr(d.list[0].message, part));
	diag_free(&d);
}

static void refuses_what_it_cannot_read(void **state)
{
	char *path = make_file("ab\0c", 4);

	(void)state;
	expect_io("/nonexistent/wpsim", "No such file");
	expect_io("/", "directory");
	expect_io("", "No such file");
	expect_io(path, "NUL byte at offset 2");
	assert_int_equal(truncate(path, (off_t)SRC_MAX_BYTES + 1), 0);
	expect_io(path, "64 MiB");
	unlink(path);
	free(path);
}

static void loads_standard_input(void **state)
{
	char *path = make_file("in\nput", 6);
	struct diag d;
	struct src *s;

	(void)state;
	diag_init(&d);
	assert_non_null(freopen(path, "rb", stdin));
	s = src_load("-", &d);
	assert_non_null(s);
	assert_string_equal(s->path, "<stdin>");
	assert_string_equal(s->text, "in\nput");
	src_free(s);
	unlink(path);
	free(path);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_and_columns),
		cmocka_unit_test(empty_and_feed_only),
		cmocka_unit_test(text_may_hold_nul),
		cmocka_unit_test(loads_a_file),
		cmocka_unit_test(refuses_what_it_cannot_read),
		cmocka_unit_test(loads_standard_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
