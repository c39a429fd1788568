/* The SARIF document: its frame, the rules, places in characters, escapes. The whole is read as
 * JSON in tests/cli/check.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sarif.h"

static char *text_of(const struct diag *d, const char *file)
{
	struct sarif s;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	sarif_begin(&s, "1.2", f);
	if (d)
		sarif_add(&s, d, file);
	sarif_end(&s);
	fclose(f);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no %s in %s", part, text);
}

/* Brackets and braces outside strings close in the order they open. */
static void balanced(const char *s)
{
	char open[64];
	size_t depth = 0;

	for (bool quoted = false; *s; s++) {
		if (quoted && *s == '\\')
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (!quoted && strchr("{[", *s))
			open[depth++] = *s;
		else if (!quoted && strchr("}]", *s)) {
			assert_true(depth > 0);
			assert_int_equal(open[--depth], *s == '}' ? '{' : '[');
		}
		assert_true(depth < sizeof(open));
	}
	assert_int_equal(depth, 0);
}

static void test_empty(void **state)
{
	char *text = text_of(NULL, "x"), rule[64];

	(void)state;
	balanced(text);
	has(text, "\"version\": \"2.1.0\"");
	has(text, "\"name\": \"wpsim\"");
	has(text, "\"version\": \"1.2\"");
	has(text, "\"results\": []");
	for (int c = 0; c < DIAG_COUNT; c++) {
		snprintf(rule, sizeof(rule), "{\"id\": \"%s\", \"shortDescription\"",
			 diag_code_name((enum diag_code)c));
		has(text, rule);
	}
	free(text);
}

static void test_finding(void **state)
{
	static const char xml[] = "<a>\n  <!-- \xc3\xa9\xc3\xa9 --><wait vm=\"0\"/>\n</a>\n";
	struct src *s = src_from_text("dir a/x:y.xml", xml, sizeof(xml) - 1);
	uint32_t at = (uint32_t)(strstr(xml, "wait") - xml);
	struct finding *f;
	struct diag d;
	char *text;

	(void)state;
	diag_init(&d);
	f = diag_add(&d, (struct loc){s, at, at + 4}, DIAG_WAIT_STRONG, "say \"%s\"", "x");
	f->required = 4;
	f->present = 0;
	f->counter = "vm";
	f->price_clk = 12.5;
	diag_note(f, (struct loc){s, 1, 2}, "here");
	diag_fix(f, "write 4");
	diag_add(&d, (struct loc){0}, DIAG_ESTIMATE, "no place");
	text = text_of(&d, "given.xml");
	balanced(text);
	has(text, "\"ruleId\": \"W-WAIT-STRONG\"");
	has(text, "\"level\": \"warning\"");
	has(text, "\"message\": {\"text\": \"say \\\"x\\\"; fix: write 4\"}");
	has(text, "{\"uri\": \"dir%20a/x%3Ay.xml\"}");
	/* two characters of two bytes stand in front of it */
	has(text,
	    "\"region\": {\"startLine\": 2, \"startColumn\": 15, \"endLine\": 2, \"endColumn\": 19}");
	has(text, "\"relatedLocations\": [\n            {\"id\": 1, ");
	has(text,
	    "\"properties\": {\"required\": 4, \"present\": 0, \"counter\": \"vm\", \"priceCyclesPerStep\": 12.500}");
	has(text, "\"level\": \"note\"");
	has(text, "[{\"physicalLocation\": {\"artifactLocation\": {\"uri\": \"given.xml\"}}}]");
	free(text);
	diag_free(&d);
	src_free(s);
}

static void test_negative_price(void **state)
{
	struct finding *f;
	struct diag d;
	char *text;

	(void)state;
	diag_init(&d);
	f = diag_add(&d, (struct loc){0}, DIAG_BARRIER_SPARE, "x");
	f->price_clk = -0.25;
	text = text_of(&d, "x");
	balanced(text);
	has(text, "\"priceCyclesPerStep\": -0.250");
	free(text);
	diag_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_finding),
		cmocka_unit_test(test_negative_price),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
