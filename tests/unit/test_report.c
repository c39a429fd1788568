/* The report of a prediction made by hand: 8 waves in two groups, a memory and a matrix stage. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"
#include "report_internal.h"

#define STEP 1200 /* clk of one K-step; four stages of 300 */

static const char source[] = "<schedule>\n  <stage name=\"mem.0\"/>\n  <stage name=\"mfma.0\"/>\n"
			     "  <stage name=\"mem.1\"/>\n  <stage name=\"mfma.1\"/>\n</schedule>\n";

struct fixture {
	struct target target;
	struct clock_row clock;
	struct stage stages[5];
	struct loop loop;
	struct insn insns[4];
	struct program program;
	struct prediction pr;
	struct src *src;
};

static struct loc stage_loc(const struct fixture *f, const char *name)
{
	const char *at = strstr(f->src->text, name);

	return (struct loc){ f->src, (uint32_t)(at - f->src->text), (uint32_t)(at - f->src->text) + 5 };
}

static void stage_clk(struct fixture *f, size_t stage, unsigned group, uint64_t issue, uint64_t wait,
		      uint64_t barrier)
{
	struct stage_stats *s = &f->pr.stats.stages[stage * 2 + group];

	s->clk[ST_ISSUE] = s->issue_clk = issue;
	s->clk[ST_WAIT_LDS] = wait;
	s->clk[ST_BARRIER] = barrier;
}

/* Stage spans of one wave, 300 clk each, starting with stage first. */
static void spans(struct fixture *f, uint8_t wave, unsigned first)
{
	for (unsigned i = 0; i < 4; i++)
		f->pr.stats.segments[f->pr.stats.nsegments++] = (struct segment){
			.begin = 5000 + i * 300, .end = 5300 + i * 300, .stage = (uint16_t)((first + i) % 4),
			.what = ST_ISSUE, .wave = wave,
		};
}

static void fill_program(struct fixture *f)
{
	static const char *const names[] = { "mem.0", "mfma.0", "mem.1", "mfma.1", "after" };

	f->target = (struct target){ .name = "toy", .product = "none", .clocks = &f->clock, .nclocks = 1 };
	f->target.v.simds = 4;
	f->target.v.cus = 4;
	f->target.v.issue_period = 4;
	f->target.v.lds_bytes = 65536;
	f->target.pair_of_simd[1] = f->target.pair_of_simd[3] = 1;
	f->clock = (struct clock_row){ .name = "nominal", .mhz = 1000 };
	for (size_t i = 0; i < 5; i++) {
		f->stages[i].name = names[i];
		f->stages[i].kind = i == 4 ? STAGE_EPILOGUE : i % 2 ? STAGE_MATRIX : STAGE_MEMORY;
		if (i < 4)
			f->stages[i].loc = stage_loc(f, names[i]);
	}
	f->loop = (struct loop){ .begin = 0, .end = 4, .trips = 10, .steps = 1, .groups = 3, .parent = -1 };
	for (size_t i = 0; i < 4; i++)
		f->insns[i] = (struct insn){ .cls = OPC_VALU, .op = "v_mov_b32", .groups = 3, .counter = -1,
					     .repeat = 1, .access = -1, .loop = -1 };
	f->program = (struct program){
		.target = &f->target, .name = "hand-made", .insns = f->insns, .ninsns = 4,
		.stages = f->stages, .nstages = 5, .loops = &f->loop, .nloops = 1, .waves = 8, .groups = 2,
		.gap = 1, .workgroups = 4, .vgpr = 240, .agpr = 0, .sgpr = 40, .lds_bytes = 4096,
		.ideal_clk = 1000, .ksteps = 10,
	};
}

/* Group B is one stage behind A when gap is 1. mem.0 takes 40 clk more than a matrix stage. */
static void setup(struct fixture *f, unsigned gap)
{
	memset(f, 0, sizeof(*f));
	f->src = src_from_text("hand.xml", source, sizeof(source) - 1);
	fill_program(f);
	f->program.gap = gap;
	f->pr = (struct prediction){
		.program = &f->program, .clock_mhz = 1000, .clock_source = "nominal 1000 MHz [-, estimate]",
		.resident = 1, .resident_limit = "workgroups", .rounds = 1, .kernel_clk = 20000,
		.ideal_clk_per_step = 1000, .matrix_efficiency = 1000.0 / STEP, .time_us = 20, .tflops = 1.5,
		.bytes_per_clk = 64,
	};
	struct stats *s = &f->pr.stats;
	*s = (struct stats){
		.total_clk = 15000, .prologue_clk = 1000, .loop_clk = 12000, .epilogue_clk = 2000,
		.steady = true, .window_clk = STEP, .window_trips = 1, .window_steps = 1,
		.clk_per_step = STEP, .nstages = 5, .groups = 2, .estimate_clk = 960,
		.wave_window_clk = 8 * STEP, .window_begin = 5000,
	};
	s->stages = calloc(10, sizeof(*s->stages));
	s->segments = calloc(8, sizeof(*s->segments));
	for (unsigned g = 0; g < 2; g++) {
		stage_clk(f, 0, g, 100, 190, 10);
		stage_clk(f, 1, g, 250, 0, 50);
		stage_clk(f, 2, g, 100, 20, 180);
		stage_clk(f, 3, g, 250, 0, 50);
		s->stages[2 + g].matrix_clk = s->stages[6 + g].matrix_clk = 250;
		s->stages[g].lds_clk = 64;
		s->stages[g].vmem_clk = 16;
	}
	spans(f, 0, 0);
	spans(f, 4, gap ? 3 : 0);
	for (unsigned simd = 0; simd < 4; simd++) {
		s->simd_matrix_clk[simd] = 1000;
		s->simd_lost[simd][ST_WAIT_LDS] = 150 + simd;
		s->simd_lost[simd][ST_RELEASE] = 50 - simd;
	}
}

static void teardown(struct fixture *f)
{
	free(f->pr.stats.stages);
	free(f->pr.stats.segments);
	src_free(f->src);
}

static char *json(const struct prediction *pr, const char *file, const struct diag *d, bool one_line)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	report_json(pr, file, d, one_line, out);
	fclose(out);
	return text;
}

static void expect(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void test_rows(void **state)
{
	struct fixture f;
	struct report_derived r;

	(void)state;
	setup(&f, 1);
	report_derive(&f.pr, &r);
	assert_int_equal(r.nrows, 10);
	assert_true(r.rows[0].runs);
	assert_false(r.rows[8].runs); /* the epilogue's stage is not in the window */
	assert_float_equal(r.rows[0].elapsed, 300, 1e-9);
	assert_float_equal(r.rows[0].own, 290, 1e-9);
	assert_float_equal(r.rows[0].waits, 190, 1e-9);
	assert_float_equal(r.rows[0].lds, 128, 1e-9); /* two SIMDs share a port */
	assert_float_equal(r.rows[0].vmem, 64, 1e-9); /* four share the memory path */
	assert_string_equal(r.rows[0].limit, "wait-lds");
	assert_string_equal(r.rows[2].limit, "matrix");
	/* A's mem.0 runs with B's mfma.1, B's mem.0 with A's mfma.0. */
	assert_int_equal(r.rows[0].partner, 3);
	assert_int_equal(r.rows[1].partner, 1);
	assert_float_equal(r.rows[0].slack, -40, 1e-9);
	assert_float_equal(r.rows[4].slack, 130, 1e-9);
	assert_float_equal(r.same_stage, 0, 0);
	assert_float_equal(r.estimate_share, 0.1, 1e-12);
	report_derived_free(&r);
	teardown(&f);
}

static void test_unrolled_window(void **state)
{
	struct fixture f;
	struct report_derived r;

	(void)state;
	setup(&f, 1);
	f.loop.steps = 2; /* three trips of two K-steps in the window */
	f.pr.stats.window_steps = 6;
	report_derive(&f.pr, &r);
	assert_float_equal(r.rows[0].elapsed, 100, 1e-9);
	assert_float_equal(r.step_clk, 200, 1e-9);
	report_derived_free(&r);
	teardown(&f);
}

static void test_lost_sums(void **state)
{
	struct fixture f;
	struct report_derived r;
	double sum = 0;

	(void)state;
	setup(&f, 1);
	f.pr.stats.window_steps = 7; /* nothing divides evenly */
	f.pr.stats.window_trips = 7;
	f.program.ideal_clk = f.pr.ideal_clk_per_step = 128;
	report_derive(&f.pr, &r);
	for (size_t i = 0; i < r.nlost; i++)
		sum += r.lost[i].clk;
	assert_float_equal(sum, r.step_clk - r.ideal_clk, 1e-9);
	assert_int_equal(r.nlost, 3);
	assert_string_equal(r.lost[0].reason, "wait-lds");
	assert_string_equal(r.lost[1].reason, "matrix-other"); /* 1000 busy, 7 * 128 = 896 ideal */
	assert_float_equal(r.lost[1].clk, 104.0 / 7, 1e-9);
	report_derived_free(&r);
	teardown(&f);
}

static void test_few_waves(void **state)
{
	struct fixture f;
	struct report_derived r;

	(void)state;
	setup(&f, 1);
	f.program.waves = 2; /* SIMDs 2 and 3 host no wave and are left out of the mean */
	report_derive(&f.pr, &r);
	assert_string_equal(r.lost[0].reason, "wait-lds");
	assert_float_equal(r.lost[0].clk, 150.5, 1e-9);
	report_derived_free(&r);
	teardown(&f);
}

static const struct finding *find(const struct diag *d, enum diag_code code)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].code == code)
			return &d->list[i];
	return NULL;
}

static void test_unhidden(void **state)
{
	struct fixture f;
	struct diag d;
	const struct finding *found;

	(void)state;
	setup(&f, 1);
	diag_init(&d);
	report_findings(&f.pr, &d);
	assert_int_equal(d.n, 1);
	found = find(&d, DIAG_UNHIDDEN);
	assert_non_null(found);
	assert_string_equal(found->message, "stage mem.0 needs 290 clk, its partner mfma.1 250: 40 clk are "
					    "not hidden (mostly wait-lds)");
	assert_string_equal(found->fix, "move 40 clk of work to mem.1, which has 130 clk to spare");
	assert_int_equal(loc_line(found->loc), 2);
	assert_int_equal(loc_line(found->notes[0].loc), 5);
	assert_float_equal(found->price_clk, 80, 1e-9); /* both groups */
	diag_free(&d);
	/* As long as its partner, and one issue opportunity more: nothing to say. */
	diag_init(&d);
	for (unsigned g = 0; g < 2; g++)
		stage_clk(&f, 0, g, 100, 154, 46);
	report_findings(&f.pr, &d);
	assert_int_equal(d.n, 0);
	for (unsigned g = 0; g < 2; g++)
		stage_clk(&f, 0, g, 100, 155, 45);
	report_findings(&f.pr, &d);
	assert_int_equal(d.n, 1);
	diag_free(&d);
	teardown(&f);
}

static void test_in_phase(void **state)
{
	struct fixture f;
	struct diag d;
	const struct finding *found;

	(void)state;
	setup(&f, 0);
	diag_init(&d);
	report_findings(&f.pr, &d);
	assert_int_equal(d.n, 1);
	found = find(&d, DIAG_NOT_APPLIED);
	assert_non_null(found);
	assert_int_equal(found->severity, SEV_NOTE);
	expect(found->message, "100 % of the time in which both work");
	expect(found->message, "200 of 1200 clk per K-step are lost");
	diag_free(&d);
	teardown(&f);
}

static void test_estimates(void **state)
{
	struct fixture f;
	struct diag d;

	(void)state;
	setup(&f, 1);
	diag_init(&d);
	f.pr.stats.estimate_clk = 2 * STEP; /* exactly the limit */
	report_findings(&f.pr, &d);
	assert_null(find(&d, DIAG_ESTIMATE));
	f.pr.stats.estimate_clk++;
	report_findings(&f.pr, &d);
	assert_non_null(find(&d, DIAG_ESTIMATE));
	diag_free(&d);
	teardown(&f);
}

static void test_banks(void **state)
{
	struct fixture f;
	struct report_bank banks[2];
	struct diag d;

	(void)state;
	setup(&f, 1);
	f.program.ninsns = 3;
	for (size_t i = 0; i < 3; i++) {
		f.insns[i].cls = OPC_LDS_READ;
		f.insns[i].op = "ds_read_b128";
		f.insns[i].lds_clk_free = 8;
		f.insns[i].lds_clk = i == 0 ? 8 : 32;
		f.insns[i].loc = stage_loc(&f, "mem.1");
	}
	f.program.main_loop[0] = f.program.main_loop[1] = -1; /* no run of the engine for the price */
	assert_int_equal(report_banks(&f.program, banks, 2), 1);
	assert_int_equal(banks[0].count, 3);
	assert_float_equal(banks[0].worst, 4, 0);
	assert_float_equal(banks[0].mean, 3, 1e-12);
	diag_init(&d);
	report_findings(&f.pr, &d);
	const struct finding *found = find(&d, DIAG_BANK); /* two instructions of one place: one finding */
	assert_non_null(found);
	assert_int_equal(loc_line(found->loc), 4);
	expect(found->message, "takes 32 clk, 4 times the 8 of a conflict-free access");
	diag_free(&d);
	teardown(&f);
}

static void test_json(void **state)
{
	struct fixture f;
	struct diag d;
	char *text;

	(void)state;
	setup(&f, 1);
	diag_init(&d);
	report_findings(&f.pr, &d);
	text = json(&f.pr, "hand.xml", &d, true);
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
	expect(text, "{\"schema\":\"wpsim.report.v1\",\"schedule\":\"hand-made\",\"target\":\"toy\","
		     "\"clock\":{\"mhz\":1000,\"source\":\"nominal 1000 MHz [-, estimate]\"},"
		     "\"steady\":{\"cycles_per_step\":1200,\"ideal_cycles_per_step\":1000,"
		     "\"matrix_efficiency\":0.833333333333333");
	expect(text, "\"kernel\":{\"cycles\":20000,\"prologue_cycles\":1000,\"loop_cycles\":12000,"
		     "\"epilogue_cycles\":2000,\"workgroups\":4,\"rounds\":1,\"time_us\":20,\"tflops\":1.5}");
	expect(text, "{\"name\":\"mem.0\",\"kind\":\"memory\",\"issue_cycles\":100,\"matrix_cycles\":0,"
		     "\"lds_cycles\":128,\"vmem_cycles\":64,\"wait_cycles\":190,\"barrier_wait_cycles\":10,"
		     "\"elapsed_cycles\":300,\"slack_cycles\":-40,\"partner\":\"mfma.1\"}");
	expect(text, "\"lost\":[{\"reason\":\"wait-lds\",\"cycles_per_step\":151.5},"
		     "{\"reason\":\"barrier-release\",\"cycles_per_step\":48.5}]");
	expect(text, "\"resources\":{\"vgpr\":240,\"agpr\":0,\"sgpr\":40,\"lds_bytes\":4096,"
		     "\"waves_per_simd\":2,\"workgroups_per_cu\":1,\"limited_by\":\"workgroups\"}");
	expect(text, "\"estimates\":{\"share\":0.1}");
	expect(text, "\"findings\":[{\"code\":\"W-UNHIDDEN\",\"severity\":\"warning\",\"file\":\"hand.xml\","
		     "\"line\":2,\"column\":16,");
	expect(text, "\"rule\":null,\"required\":null,\"present\":null,\"counter\":null,");
	expect(text, "\"price_cycles_per_step\":80,\"notes\":[{\"file\":\"hand.xml\",\"line\":5,\"column\":16,");
	free(text);
	diag_free(&d);
	teardown(&f);
}

static void test_json_findings_only(void **state)
{
	struct diag d;
	struct finding *found;
	char *text;

	(void)state;
	diag_init(&d);
	found = diag_add(&d, (struct loc){ 0 }, DIAG_IO, "can't read \"a\\b\"\n\x01\xff\xc3\xa9\xed\xa0\x80\xf0\x9f\x98");
	found->required = 3;
	found->present = -2;
	found->counter = "vm";
	text = json(NULL, "in\tput.xml", &d, true);
	assert_string_equal(text,
		"{\"schema\":\"wpsim.report.v1\",\"schedule\":\"in\\tput.xml\",\"target\":null,\"clock\":null,"
		"\"steady\":null,\"kernel\":null,\"stages\":[],\"lost\":[],\"resources\":null,"
		"\"estimates\":{\"share\":null},\"findings\":[{\"code\":\"E-IO\",\"severity\":\"error\","
		"\"file\":\"in\\tput.xml\",\"line\":null,\"column\":null,"
		"\"message\":\"can't read \\\"a\\\\b\\\"\\n\\u0001\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\","
		"\"rule\":null,\"required\":3,\"present\":-2,\"counter\":\"vm\",\"fix\":null,"
		"\"price_cycles_per_step\":null,\"notes\":[]}],\"waits\":[]}\n");
	free(text);
	diag_free(&d);
}

static void test_json_numbers(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	setup(&f, 1);
	f.pr.time_us = 0.1 + 0.2; /* 17 digits are needed */
	f.pr.tflops = INFINITY;
	f.pr.clock_mhz = 1234.5;
	/* Whatever of these exists; the document must not change. */
	if (!setlocale(LC_NUMERIC, "de_DE.UTF-8"))
		setlocale(LC_NUMERIC, "fr_FR.UTF-8");
	text = json(&f.pr, NULL, NULL, true);
	setlocale(LC_NUMERIC, "C");
	expect(text, "\"time_us\":0.30000000000000004,\"tflops\":null");
	expect(text, "\"mhz\":1234.5,");
	free(text);
	teardown(&f);
}

static void test_json_without_loop(void **state)
{
	struct fixture f;
	char *text;

	(void)state;
	setup(&f, 1);
	free(f.pr.stats.stages);
	free(f.pr.stats.segments);
	f.pr.stats = (struct stats){ .total_clk = 10, .epilogue_clk = 10, .groups = 2 };
	f.pr.ideal_clk_per_step = 0;
	text = json(&f.pr, NULL, NULL, true);
	expect(text, "\"steady\":{\"cycles_per_step\":null,\"ideal_cycles_per_step\":0,"
		     "\"matrix_efficiency\":null,\"period_steps\":null}");
	expect(text, "\"stages\":[],\"lost\":[],");
	free(text);
	teardown(&f);
}

static void test_text(void **state)
{
	struct report_options o = { .timeline = true, .formulas = true };
	struct fixture f;
	char *text = NULL, *line;
	size_t len = 0;
	FILE *out;

	(void)state;
	setup(&f, 1);
	out = open_memstream(&text, &len);
	report_text(&f.pr, NULL, &o, out);
	fclose(out);
	expect(text, "hand-made on toy (none)\n");
	expect(text, "K-step     1200.0 clk, ideal 1000.0: matrix efficiency 83.33 %");
	expect(text, "= prologue 1000 + loop 12000 + epilogue 2000");
	expect(text, "  mem.0          A   290   100      -   128    64   190    10     300 mfma.1         -40 wait-lds");
	expect(text, "  wait-lds            151.50  12.62 %");
	expect(text, "  sum                 200.00  16.67 %  = 1200.00 elapsed - 1000.00 ideal");
	expect(text, "\n  group A   |mem.0                |mfma.0");
	expect(text, "\n  group B   |mfma.1               |mem.0");
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 101)
			fail_msg("too wide: %s", line);
	free(text);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_unrolled_window),
		cmocka_unit_test(test_lost_sums),
		cmocka_unit_test(test_few_waves),
		cmocka_unit_test(test_unhidden),
		cmocka_unit_test(test_in_phase),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_banks),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_findings_only),
		cmocka_unit_test(test_json_numbers),
		cmocka_unit_test(test_json_without_loop),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
