/* Every code has a complete page, and pages differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain.h"

static void test_every_code_has_a_page(void **state)
{
	(void)state;
	for (int c = 0; c < DIAG_COUNT; c++) {
		const struct explanation *e = explain_code((enum diag_code)c);

		if (!e)
			fail_msg("%s has no page in explain.def",
				 diag_code_name((enum diag_code)c));
		assert_true(strlen(e->cause) > 20);
		assert_true(strlen(e->todo) > 20);
		assert_true(e->wrong[strlen(e->wrong) - 1] == '\n');
		assert_true(e->right[strlen(e->right) - 1] == '\n');
		assert_string_not_equal(e->wrong, e->right);
		for (int o = 0; o < c; o++)
			assert_string_not_equal(e->cause, explain_code((enum diag_code)o)->cause);
	}
}

static void test_page_names_its_code(void **state)
{
	char *text;
	size_t len;

	(void)state;
	for (int c = 0; c < DIAG_COUNT; c++) {
		FILE *f = open_memstream(&text, &len);

		explain_print((enum diag_code)c, 1, f);
		fclose(f);
		assert_int_equal(strncmp(text, diag_code_name((enum diag_code)c),
					 strlen(diag_code_name((enum diag_code)c))),
				 0);
		assert_non_null(strstr(text, diag_code_meaning((enum diag_code)c)));
		assert_non_null(strstr(text, "\nWrong:\n"));
		assert_non_null(strstr(text, "\nRight:\n"));
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(strlen(line) <= 140);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_has_a_page),
		cmocka_unit_test(test_page_names_its_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
