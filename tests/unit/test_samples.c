/* Files of samples: what is written is read back; what is not a sample is refused at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "samples.h"

static const struct sample_stage some_stages[] = { { "mem.0", 0, 512.25 }, { "mma \"x\"", 1, 1024 } };
static const char *const some_warnings[] = { "noisy \\ \t clocks" };
static const struct sample some = {
	.kernel = "k\xc3\xa9rnel", .schedule = "a/b.xml", .hash = "0123456789abcdef", .target = "gfx950", .backend = "hip",
	.device = "Device \"9\"", .arch = "gfx950", .driver = "HIP 6.4", .date = "2026-11-30T06:00:00Z", .version = "1",
	.workgroups = 256, .trips = 1000, .steps = 2, .repeats = 20, .loop_clk = 123456.5, .clk_per_step = 61.72825,
	.steady_clk = 61.7, .spread = 0.00125, .time_us = 88.1, .clock_mhz = 1401.25, .result = "right", .registers = 128,
	.spill_bytes = 0, .stages = some_stages, .nstages = 2, .warnings = some_warnings, .nwarnings = 1,
};

static char *line_of(const struct sample *s)
{
	struct strbuf b = { 0 };

	sample_print(&b, s);
	return b.s;
}

static int parse(struct samples *out, const char *text, struct diag *d)
{
	diag_init(d);
	return samples_parse(out, src_from_text("test.jsonl", text, strlen(text)), d);
}

static void test_round_trip(void **unused)
{
	char *line = line_of(&some);
	struct samples all;
	struct diag d;

	(void)unused;
	assert_int_equal(parse(&all, line, &d), 0);
	assert_int_equal(all.n, 1);
	const struct sample *s = &all.list[0];
	assert_string_equal(s->kernel, some.kernel);
	assert_string_equal(s->device, some.device);
	assert_string_equal(s->warnings[0], some_warnings[0]);
	assert_true(s->loop_clk == some.loop_clk && s->clk_per_step == some.clk_per_step && s->spread == some.spread);
	assert_true(s->trips == 1000 && s->steps == 2 && s->repeats == 20 && s->workgroups == 256);
	assert_int_equal(s->nstages, 2);
	assert_string_equal(s->stages[1].name, "mma \"x\"");
	assert_true(s->stages[0].clk == 512.25 && s->stages[1].group == 1);
	assert_ptr_equal(samples_find(&all, some.hash, some.device), s);
	assert_null(samples_find(&all, some.hash, "another"));
	assert_null(samples_find_kernel(&all, some.kernel, "gfx942"));
	samples_free(&all);
	diag_free(&d);
	free(line);
}

/* The text with one key's value replaced. */
static char *with(const char *key, const char *value)
{
	char *line = line_of(&some), *quoted = xasprintf("\"%s\": ", key), *at = strstr(line, quoted), *end, *out;

	assert_non_null(at);
	at += strlen(quoted);
	end = at;
	if (*end == '"') {
		for (end++; *end != '"'; end++)
			if (*end == '\\')
				end++;
		end++;
	} else if (*end == '[') {
		end = strchr(end, ']') + 1;
	} else {
		end += strcspn(end, ",}");
	}
	out = xasprintf("%.*s%s%s", (int)(at - line), line, value, end);
	free(quoted);
	free(line);
	return out;
}

static void refused(const char *text, unsigned line, unsigned column, const char *says)
{
	struct samples all;
	struct diag d;
	unsigned l, c;

	assert_int_equal(parse(&all, text, &d), -1);
	assert_true(d.errors >= 1);
	assert_int_equal(d.list[0].code, DIAG_SAMPLES);
	src_line_col(d.list[0].loc.src, d.list[0].loc.begin, &l, &c);
	if (l != line || (column && c != column) || !strstr(d.list[0].message, says))
		fail_msg("%u:%u: %s (expected %u:%u ... %s)", l, c, d.list[0].message, line, column, says);
	samples_free(&all);
	diag_free(&d);
}

static void test_refused(void **unused)
{
	static const struct { const char *key, *value, *says; } bad[] = {
		{ "schema", "\"wpsim.sample.v9\"", "not known" }, { "kernel", "\"\"", "empty" }, { "kernel", "3", "a number" },
		{ "trips", "-1", "between" }, { "trips", "1.5", "whole" }, { "trips", "1e300", "between" }, { "loop_clk", "\"x\"", "a text" },
		{ "steps", "1e9", "between" }, { "repeats", "0", "between" }, { "clock_mhz", "1e99", "between" },
		{ "stages", "{}", "an object" }, { "stages", "[3]", "has no 'name'" },
		{ "stages", "[{\"name\": \"x\", \"group\": 9, \"clk\": 1}]", "between" }, { "warnings", "[1]", "no list" },
		{ "hash", "null", "null" }, { "date", "true", "true or false" },
	};
	char *good = line_of(&some);

	(void)unused;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *line = with(bad[i].key, bad[i].value), *text = xasprintf("%s\n  %s", good, line);

		refused(text, 3, 0, bad[i].says);
		free(text);
		free(line);
	}
	refused("{\"schema\": \"wpsim.sample.v1\"}\n", 1, 1, "has no 'kernel'");
	refused("[1, 2]\n", 1, 1, "a list");
	refused("\n\n{\"a\": 1,}\n", 3, 0, "no JSON object");
	refused("{\"schema\": 1, \"schema\": 2}", 1, 0, "no JSON object");
	refused("\"\\u0000\"", 1, 0, "no JSON object");
	refused("nonsense", 1, 0, "no JSON object");
	free(good);
}

/* Deeper than any sample: refused, not a crash. */
static void test_deep(void **unused)
{
	size_t n = 200000;
	char *text = malloc(n + 1);

	(void)unused;
	memset(text, '[', n);
	text[n] = '\0';
	refused(text, 1, 0, "no JSON object");
	free(text);
}

/* Every prefix of a file is refused or read, and never read as more than it holds. */
static void test_prefixes(void **unused)
{
	char *line = line_of(&some);

	(void)unused;
	for (size_t n = 0; n < strlen(line); n++) {
		char *text = xasprintf("%.*s", (int)n, line);
		struct samples all;
		struct diag d;
		int rc = parse(&all, text, &d);

		assert_int_equal(rc, n == 0 || n + 1 == strlen(line) ? 0 : -1);
		assert_int_equal(all.n, n + 1 == strlen(line));
		samples_free(&all);
		diag_free(&d);
		free(text);
	}
	free(line);
}

static void test_append(void **unused)
{
	char path[] = "/tmp/wpsim-samples-XXXXXX";
	int fd = mkstemp(path);
	struct sample other = some;
	struct samples all;
	struct diag d;
	FILE *f;

	(void)unused;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(samples_append(path, &some), 0);
	f = fopen(path, "a"); /* as an interrupted machine leaves it */
	fputs("{\"schema\": \"wpsim.sam", f);
	fclose(f);
	other.hash = "fedcba9876543210";
	other.clk_per_step = 99;
	assert_int_equal(samples_append(path, &other), 0);
	diag_init(&d);
	assert_int_equal(samples_load(&all, path, false, &d), 0);
	assert_int_equal(all.n, 2);
	assert_non_null(samples_find(&all, some.hash, NULL));
	assert_true(samples_find_kernel(&all, some.kernel, some.target)->clk_per_step == 99);
	samples_free(&all);
	unlink(path);
	assert_int_equal(samples_load(&all, path, true, &d), 0);
	assert_int_equal(all.n, 0);
	samples_free(&all);
	assert_int_equal(samples_load(&all, path, false, &d), -1);
	samples_free(&all);
	diag_free(&d);
	assert_int_not_equal(samples_append("/nonexistent/file", &some), 0);
}

/* Published vectors of FNV-1a. */
static void test_hash(void **unused)
{
	char h[17];

	(void)unused;
	samples_hash("", 0, h);
	assert_string_equal(h, "cbf29ce484222325");
	samples_hash("a", 1, h);
	assert_string_equal(h, "af63dc4c8601ec8c");
	samples_hash("foobar", 6, h);
	assert_string_equal(h, "85944171f73967e8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_prefixes), cmocka_unit_test(test_append), cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
