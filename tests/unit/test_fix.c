/* Edits of the schedule's text, and whole repairs judged by the checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fix.h"

/* ---- edits ---- */

struct doc {
	struct src *s;
	struct arena *a;
	struct xml_node *root;
};

static struct doc parse(const char *text)
{
	struct doc d = {.s = src_from_text("t.xml", text, strlen(text)), .a = arena_new()};
	struct diag diag;

	diag_init(&diag);
	d.root = xml_parse(d.s, d.a, &diag);
	assert_non_null(d.root);
	diag_free(&diag);
	return d;
}

static void finish(struct doc *d, struct edit_list *l, const char *want)
{
	char *text = edit_apply(d->s->text, l);

	assert_string_equal(text, want);
	free(text);
	edit_free(l);
	arena_free(d->a);
	src_free(d->s);
}

static struct xml_node *nth(struct doc *d, unsigned n)
{
	struct xml_node *c = d->root->first;

	while (n--)
		c = c->next;
	return c;
}

static void test_set_replaces_only_the_value(void **state)
{
	struct doc d = parse("<a>\n  <wait  vm = '4'\tlgkm=\"0\" /> <!-- > -->\n</a>\n");
	struct edit_list l = {0};

	(void)state;
	assert_true(edit_set(&l, d.s, nth(&d, 0), "vm", "12"));
	assert_false(edit_set(&l, d.s, nth(&d, 0), "lgkm", "0"));
	finish(&d, &l, "<a>\n  <wait  vm = '12'\tlgkm=\"0\" /> <!-- > -->\n</a>\n");
}

static void test_set_adds_an_attribute(void **state)
{
	struct doc d = parse("<a><wait vm=\"4\"/><barrier/></a>");
	struct edit_list l = {0};

	(void)state;
	assert_true(edit_set(&l, d.s, nth(&d, 0), "lgkm", "0"));
	assert_true(edit_set(&l, d.s, nth(&d, 1), "kind", "drain"));
	finish(&d, &l, "<a><wait vm=\"4\" lgkm=\"0\"/><barrier kind=\"drain\"/></a>");
}

static void test_drop_attr(void **state)
{
	struct doc d = parse("<a><wait vm=\"4\"\n lgkm=\"0\"/></a>");
	struct edit_list l = {0};

	(void)state;
	assert_true(edit_drop_attr(&l, d.s, nth(&d, 0), "lgkm"));
	assert_false(edit_drop_attr(&l, d.s, nth(&d, 0), "ds"));
	finish(&d, &l, "<a><wait vm=\"4\"/></a>");
}

static void test_remove_takes_the_whole_line(void **state)
{
	struct doc d = parse("<a>\n  <x/>\n  <wait vm=\"4\"/>  \n  <y/></a>\n");
	struct edit_list l = {0};

	(void)state;
	assert_true(edit_remove(&l, d.s, nth(&d, 1)));
	finish(&d, &l, "<a>\n  <x/>\n  <y/></a>\n");
}

static void test_remove_inside_a_line(void **state)
{
	struct doc d = parse("<a><x t='>'/><wait vm=\"/>\"></wait ><y/></a>");
	struct edit_list l = {0};

	(void)state;
	assert_true(edit_remove(&l, d.s, nth(&d, 1)));
	finish(&d, &l, "<a><x t='>'/><y/></a>");
}

static void test_extent_spans_children_and_comments(void **state)
{
	const char *text = "<a><s><x/><!-- </s> --><y></y> </s><z/></a>";
	struct doc d = parse(text);
	struct edit_list l = {0};
	uint32_t begin, end;

	(void)state;
	edit_extent(d.s, nth(&d, 0), &begin, &end);
	assert_int_equal(begin, 3);
	assert_int_equal(end, strstr(text, "<z/>") - text);
	assert_ptr_equal(edit_previous(nth(&d, 1)), nth(&d, 0));
	assert_null(edit_previous(nth(&d, 0)));
	assert_ptr_equal(edit_find(d.root, nth(&d, 0)->first->next->loc.begin),
			 nth(&d, 0)->first->next);
	assert_null(edit_find(d.root, 0));
	finish(&d, &l, text);
}

static void test_insert_keeps_the_indentation(void **state)
{
	struct doc d = parse("<a>\n\t <x/><y/>\n</a>");
	struct edit_list l = {0};

	(void)state;
	assert_true(edit_insert_before(&l, d.s, nth(&d, 1), "<wait vm=\"2\"/>"));
	assert_true(edit_insert_before(&l, d.s, nth(&d, 0), "<wait vm=\"1\"/>"));
	finish(&d, &l, "<a>\n\t <wait vm=\"1\"/>\n\t <x/><wait vm=\"2\"/><y/>\n</a>");
}

static void test_overlapping_edits_are_dropped(void **state)
{
	struct edit_list l = {0};
	char *text;

	(void)state;
	assert_true(edit_add(&l, 2, 4, xstrdup("xx")));
	assert_false(edit_add(&l, 3, 5, xstrdup("yy")));
	assert_false(edit_add(&l, 2, 4, xstrdup("xx")));
	assert_true(edit_add(&l, 4, 4, xstrdup("z")));
	text = edit_apply("abcdef", &l);
	assert_string_equal(text, "abxxzef");
	free(text);
	edit_free(&l);
}

/* ---- repairs ---- */

#define HEAD                                                                                                                          \
	"<schedule name=\"t\" target=\"gfx950\">\n"                                                                                   \
	"  <kernel workgroups=\"256\"><waves groups=\"2\" count=\"8\" gap=\"1\"/><matrix op=\"v_mfma_f32_32x32x16_f16\"/></kernel>\n" \
	"  <lds name=\"b\" bytes=\"16384\" slots=\"3\"/>\n"                                                                           \
	"  <registers name=\"f\" vgpr=\"64\"/>\n"                                                                                     \
	"  <accumulator name=\"o\" vgpr=\"16\"/>\n"                                                                                   \
	"  <prologue>\n"                                                                                                              \
	"    <copy to=\"b\" tile=\"0\" count=\"2\"/>\n"                                                                               \
	"    <copy to=\"b\" tile=\"1\" count=\"2\"/>\n"                                                                               \
	"    <wait vm=\"2\"/>\n"                                                                                                      \
	"  </prologue>\n"                                                                                                             \
	"  <loop trips=\"64\">\n"                                                                                                     \
	"    <stage name=\"S0\">\n"                                                                                                   \
	"      <read into=\"f\" from=\"b\" tile=\"k\" count=\"16\"/>\n"                                                               \
	"      <copy to=\"b\" tile=\"k+2\" count=\"2\"/>\n"
#define TAIL                                                                             \
	"    </stage>\n"                                                                 \
	"    <stage name=\"S1\"><mma acc=\"o\" a=\"f\" b=\"f\" count=\"32\"/></stage>\n" \
	"  </loop>\n"                                                                    \
	"</schedule>\n"

static char *repair(const char *text, bool place, struct fix_summary *sum)
{
	const struct cmd_options o = {0};
	char *log, *result;
	size_t len;
	FILE *f = open_memstream(&log, &len);

	result = fix_schedule("t.xml", text, &o, place, f, sum);
	fclose(f);
	free(log);
	return result;
}

static void expect_repair(const char *text, bool place, size_t before, const char *want)
{
	struct fix_summary sum;
	char *got = repair(text, place, &sum);

	assert_non_null(got);
	assert_string_equal(got, want);
	assert_int_equal(sum.errors_before > 0, before > 0);
	assert_int_equal(sum.errors_after, 0);
	assert_int_equal(sum.status, STATUS_CLEAN);
	free(got);
}

static const char right[] = HEAD "      <wait vm=\"2\" lgkm=\"0\"/>\n" TAIL;

static void test_right_stays_as_it_is(void **state)
{
	(void)state;
	expect_repair(right, false, 0, right);
}

static void test_loose_is_tightened(void **state)
{
	(void)state;
	expect_repair(HEAD "      <wait vm=\"3\" lgkm=\"0\"/>\n" TAIL, false, 1, right);
	/* group A refills its own half of the slot: of the 16 reads the first 8 must be complete */
	expect_repair(HEAD "      <wait vm=\"2\" lgkm=\"9\"/>\n" TAIL, false, 1,
		      HEAD "      <wait vm=\"2\" lgkm=\"8\"/>\n" TAIL);
}

static void test_strong_is_loosened(void **state)
{
	(void)state;
	expect_repair(HEAD "      <wait vm=\"0\" lgkm=\"0\"/>\n" TAIL, false, 0, right);
}

static void test_groups_are_counted(void **state)
{
	(void)state;
	expect_repair(HEAD "      <wait groups=\"0\" lgkm=\"0\"/>\n" TAIL, false, 0,
		      HEAD "      <wait groups=\"1\" lgkm=\"0\"/>\n" TAIL);
	expect_repair(HEAD "      <wait groups=\"2\" lgkm=\"0\"/>\n" TAIL, false, 1,
		      HEAD "      <wait groups=\"1\" lgkm=\"0\"/>\n" TAIL);
}

static void test_unneeded_is_taken_out(void **state)
{
	(void)state;
	/* of two that can hold an order the last one does */
	expect_repair(HEAD "      <wait lgkm=\"0\"/>\n      <wait vm=\"2\" lgkm=\"0\"/>\n" TAIL,
		      false, 0, right);
}

static void test_missing_is_put_in(void **state)
{
	struct fix_summary sum, again;
	char *got = repair(HEAD TAIL, false, &sum), *twice;

	(void)state;
	assert_true(sum.errors_before > 0);
	assert_int_equal(sum.errors_after, 0);
	assert_int_equal(sum.warnings_after, 0);
	twice = repair(got, false, &again);
	assert_string_equal(got, twice);
	assert_int_equal(again.changes, 0);
	free(got);
	free(twice);
}

static void test_placed_waits_are_exact(void **state)
{
	static const char strong[] = HEAD "      <wait vm=\"0\" lgkm=\"0\"/>\n" TAIL;
	struct fix_summary sum;
	char *got = repair(strong, true, &sum);
	bool one = strstr(got, "<wait lgkm=\"8\" vm=\"2\"/>\n    <stage name=\"S1\">") != NULL;
	bool other = strstr(got, "<wait vm=\"2\" lgkm=\"8\"/>\n    <stage name=\"S1\">") != NULL;

	(void)state;
	assert_true(one || other);
	assert_int_equal(sum.errors_after, 0);
	assert_int_equal(sum.warnings_after, 0);
	free(got);
}

static void test_what_has_no_repair_is_not_made_worse(void **state)
{
	/* two slots for copies that run two tiles ahead: no wait helps */
	static const char text[] =
		"<schedule name=\"t\" target=\"gfx950\">\n"
		"  <kernel workgroups=\"256\"><waves groups=\"1\" count=\"4\"/></kernel>\n"
		"  <lds name=\"b\" bytes=\"8192\" slots=\"2\"/>\n"
		"  <registers name=\"f\" vgpr=\"32\"/>\n"
		"  <prologue><copy to=\"b\" tile=\"0\" count=\"2\"/><copy to=\"b\" tile=\"1\" count=\"2\"/></prologue>\n"
		"  <loop trips=\"8\"><wait vm=\"2\"/><stage name=\"s\"><read into=\"f\" from=\"b\" tile=\"k\" count=\"8\"/>"
		"<copy to=\"b\" tile=\"k+2\" count=\"2\"/></stage></loop>\n"
		"</schedule>\n";
	struct fix_summary sum;
	char *got = repair(text, false, &sum);

	(void)state;
	assert_true(sum.errors_before > 0);
	assert_true(sum.errors_after > 0 && sum.errors_after <= sum.errors_before);
	assert_int_equal(sum.status, STATUS_FINDINGS);
	free(got);
}

static void test_bad_input_has_no_result(void **state)
{
	struct fix_summary sum;

	(void)state;
	assert_null(repair("<schedule", false, &sum));
	assert_int_equal(sum.status, STATUS_BAD_INPUT);
	assert_null(repair("", true, &sum));
	assert_null(repair("<schedule name=\"x\" target=\"gfx950\"/>", true, &sum));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_replaces_only_the_value),
		cmocka_unit_test(test_set_adds_an_attribute),
		cmocka_unit_test(test_drop_attr),
		cmocka_unit_test(test_remove_takes_the_whole_line),
		cmocka_unit_test(test_remove_inside_a_line),
		cmocka_unit_test(test_extent_spans_children_and_comments),
		cmocka_unit_test(test_insert_keeps_the_indentation),
		cmocka_unit_test(test_overlapping_edits_are_dropped),
		cmocka_unit_test(test_right_stays_as_it_is),
		cmocka_unit_test(test_loose_is_tightened),
		cmocka_unit_test(test_strong_is_loosened),
		cmocka_unit_test(test_groups_are_counted),
		cmocka_unit_test(test_unneeded_is_taken_out),
		cmocka_unit_test(test_missing_is_put_in),
		cmocka_unit_test(test_placed_waits_are_exact),
		cmocka_unit_test(test_what_has_no_repair_is_not_made_worse),
		cmocka_unit_test(test_bad_input_has_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
