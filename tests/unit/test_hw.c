/* Measuring on a scripted device; drivers that are not there; numbers of a model written back into its file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dl.h"
#include "hw.h"
#include "measure.h"
#include "param.h"
#include "src.h"

static char script_path[] = "/tmp/wpsim-fake-XXXXXX";

static void script(const char *text)
{
	FILE *f = fopen(script_path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	setenv("WPSIM_FAKE", script_path, 1);
}

/* ---- a kernel: C = A * B of 16 x 16 x 32 in f16 and f32, two waves, three stages' stamps ---- */

static const char *stages[] = { "loop-begin", "mem", "mma", "loop-end" };

static struct kernel_text kernel(void)
{
	return (struct kernel_text){
		.text = (char *)(uintptr_t)"text", .len = 4, .kernel = (char *)(uintptr_t)"k", .target = "sm_90", .grid = { 2, 1, 1 },
		.block = { 64, 1, 1 }, .cluster = { 1, 1, 1 }, .nargs = 4,
		.arg = { { .kind = EARG_A, .name = "a", .bytes = 16 * 64 }, { .kind = EARG_B, .name = "b", .bytes = 16 * 64 },
			 { .kind = EARG_C, .name = "c", .bytes = 16 * 64, .output = true },
			 { .kind = EARG_STAMPS, .name = "stamps", .bytes = 2 * 2 * 4 * 8, .output = true } },
		.layout = { .m = 16, .n = 16, .k = 32, .a = NF_F16, .b = NF_F16, .c = NF_F32, .lda_bytes = 64, .ldb_bytes = 64,
			    .ldc_bytes = 64 },
		.verifiable = true, .stamps = 4, .stamp_stage = stages,
	};
}

static int run(const char *text, unsigned repeat, double timeout_s, struct measurement *m, struct hw_error *e)
{
	struct kernel_text t = kernel();
	struct measure_kernel k = { .text = &t, .image = "text", .image_bytes = 4, .trips = 100, .steps = 2, .waves = 2, .groups = 2 };
	struct measure_options o = { .warmup = 1, .repeat = repeat, .timeout_s = timeout_s, .seed = 1 };
	struct hw_context *c;
	int rc;

	script(text);
	memset(m, 0, sizeof(*m));
	if (hw_fake.open(&c, 0, e) != 0)
		return -1;
	rc = measure(&hw_fake, c, &k, &o, m, e);
	hw_fake.close(c);
	return rc;
}

static void test_measure(void **unused)
{
	struct measurement *m = malloc(sizeof(*m));
	struct hw_error e;

	(void)unused;
	/* The warm-up takes the first value; of the repeats' 500, 502, 504, 500 the median is 501. */
	assert_int_equal(run("clk 9999 500 502 504 500\nmhz 1000\noverhead 5\nstages 0.25 0.75\n", 4, 5, m, &e), 0);
	assert_int_equal(m->verdict, VERDICT_RIGHT);
	assert_int_equal(m->verify.checked, 256);
	assert_true(m->loop_clk_median == 50100 && m->loop_clk_min == 50000 && m->loop_clk_max == 50400);
	assert_true(fabs(m->clk_per_step - 250.5) < 1e-9);
	assert_true(fabs(m->ms_median - (0.0501 + 0.005)) < 1e-9);
	assert_int_equal(m->nstages, 4); /* two stages of two groups */
	assert_string_equal(m->stages[0].name, "mem");
	assert_true(fabs(m->stages[0].clk - 250) < 3 && fabs(m->stages[2].clk - 125) < 3);
	assert_int_equal(m->warnings & (WARN_NO_STAMPS | WARN_UNEVEN | WARN_SPREAD), 0);
	measurement_free(m);
	free(m);
}

static void test_results(void **unused)
{
	struct measurement *m = malloc(sizeof(*m));
	struct hw_error e;

	(void)unused;
	assert_int_equal(run("result wrong\n", 3, 5, m, &e), 0);
	assert_int_equal(m->verdict, VERDICT_WRONG);
	assert_int_equal(m->verify.wrong, 1);
	assert_true(m->verify.row == 8 && m->verify.col == 8);
	assert_int_equal(m->repeats, 0); /* nothing was timed */
	measurement_free(m);
	assert_int_equal(run("result missing\n", 3, 5, m, &e), 0);
	assert_int_equal(m->verdict, VERDICT_WRONG);
	assert_int_equal(m->verify.wrong, 256);
	measurement_free(m);
	free(m);
}

static void test_warnings(void **unused)
{
	struct measurement *m = malloc(sizeof(*m));
	struct hw_error e;

	(void)unused;
	assert_int_equal(run("clk 1000 1000 1100 900 1200 800\n", 12, 5, m, &e), 0);
	assert_true(m->warnings & WARN_SPREAD && m->warnings & WARN_OUTLIERS);
	measurement_free(m);
	assert_int_equal(run("clk 1 1000 1000 1000 1000 1030 1030 1030 1030\n", 8, 5, m, &e), 0);
	assert_true(m->warnings & WARN_DRIFT);
	measurement_free(m);
	assert_int_equal(run("clk 1000\nmhz 1000 1000 1000 700\n", 4, 5, m, &e), 0);
	assert_true(m->warnings & WARN_OUTLIERS);
	assert_int_equal(m->warnings & WARN_SPREAD, 0); /* the clk are the same */
	measurement_free(m);
	assert_int_equal(run("clk 0\noverhead 1\n", 4, 5, m, &e), 0);
	assert_true(m->warnings & WARN_NO_STAMPS && m->warnings & WARN_SHORT && m->clk_per_step == 0);
	measurement_free(m);
	for (unsigned bit = 0; bit < 7; bit++)
		assert_non_null(measure_warning_text((enum measure_warning)(1u << bit)));
	assert_null(measure_warning_text((enum measure_warning)(1u << 7)));
	free(m);
}

static void fault(const char *text, const char *says)
{
	struct measurement *m = malloc(sizeof(*m));
	struct hw_error e = { "" };

	assert_int_equal(run(text, 5, 0.05, m, &e), -1);
	if (!strstr(e.text, says))
		fail_msg("%s: '%s'", text, e.text);
	measurement_free(m);
	free(m);
}

static void test_faults(void **unused)
{
	(void)unused;
	fault("fault no-device\n", "no device");
	fault("fault no-library\n", "not on this machine");
	fault("fault compile\n", "refuses");
	fault("fault memory\n", "memory");
	fault("fault launch\n", "failed");
	fault("fault launch 4\n", "failed");
	fault("fault hang 3\n", "did not end");
	fault("clk\n", ":1:");
	fault("\n# x\nclk 1 2 x\n", ":3:");
	fault("speed 3\n", "'speed'");
	fault("fault nonsense\n", "fault");
	fault("mhz 0\n", "mhz");
	setenv("WPSIM_FAKE", "/nonexistent", 1);
	struct hw_context *c;
	struct hw_error e;
	assert_int_equal(hw_fake.open(&c, 0, &e), -1);
	assert_non_null(strstr(e.text, "/nonexistent"));
	unsetenv("WPSIM_FAKE");
	assert_int_equal(hw_fake.open(&c, 0, &e), -1);
	assert_non_null(strstr(e.text, "WPSIM_FAKE"));
}

static void test_limits(void **unused)
{
	struct measurement *m = malloc(sizeof(*m));
	struct hw_error e;

	(void)unused;
	assert_int_equal(run("", 0, 5, m, &e), -1);
	assert_int_equal(run("", MEASURE_MAX_REPEAT + 1, 5, m, &e), -1);
	assert_int_equal(run("", MEASURE_MAX_REPEAT, 5, m, &e), 0);
	assert_int_equal(m->repeats, MEASURE_MAX_REPEAT);
	measurement_free(m);
	free(m);
}

/* ---- backends ---- */

static void test_backends(void **unused)
{
	static const struct hw_backend other = { .name = "other" }, again = { .name = "other" };

	(void)unused;
	assert_ptr_equal(hw_backend_find("cuda"), &hw_cuda);
	assert_ptr_equal(hw_backend_find("hip"), &hw_hip);
	assert_ptr_equal(hw_backend_find("fake"), &hw_fake);
	assert_null(hw_backend_find("other"));
	hw_backend_register(&other);
	assert_ptr_equal(hw_backend_find("other"), &other);
	hw_backend_register(&again);
	assert_ptr_equal(hw_backend_find("other"), &again);
	assert_null(hw_backend_name(4));
	assert_string_equal(hw_backend_name(3), "other");
}

/* A driver that is not there, or has no device, is a sentence; one that has a device describes it. */
static void drives(const struct hw_backend *b)
{
	struct hw_error e = { "" };
	struct hw_context *c = NULL;
	struct hw_device d;

	if (b->open(&c, 0, &e) != 0) {
		assert_true(strlen(e.text) > 20);
		assert_null(c);
		return;
	}
	assert_int_equal(b->describe(c, &d, &e), 0);
	assert_true(d.name[0] && d.arch[0] && d.units > 0);
	b->close(c);
}

static void test_drivers(void **unused)
{
	static const char *const none[] = { "libwpsim-does-not-exist.so.9", NULL };
	struct hw_error e;

	(void)unused;
	drives(&hw_cuda);
	drives(&hw_hip);
	assert_null(dl_open(none, "the nothing runtime", &e));
	assert_non_null(strstr(e.text, "the nothing runtime is not on this machine"));
	assert_non_null(strstr(e.text, none[0]));
}

static void test_symbols(void **unused)
{
	static const char *const libc[] = { "libc.so.6", NULL };
	struct table { void *(*malloc_)(size_t); void *no; } table = { NULL, NULL };
	const struct dl_symbol good[] = { { "malloc", offsetof(struct table, malloc_), false },
					  { "no_such_symbol_here", offsetof(struct table, no), true } };
	const struct dl_symbol bad[] = { { "no_such_symbol_here", offsetof(struct table, no), false } };
	struct hw_error e;
	void *l = dl_open(libc, "the C library", &e);

	(void)unused;
	if (!l)
		skip();
	assert_int_equal(dl_symbols(l, "the C library", good, 2, &table, &e), 0);
	assert_non_null(table.malloc_);
	assert_null(table.no);
	assert_int_equal(dl_symbols(l, "the C library", bad, 1, &table, &e), -1);
	assert_non_null(strstr(e.text, "no_such_symbol_here"));
	dl_close(l);
	dl_close(NULL);
}

/* ---- numbers of a model ---- */

static void set(struct target *t, struct param_edit *e, const char *name, double value)
{
	char why[160] = "";

	if (param_find(t, name, &e->param, why, sizeof(why)) != 0)
		fail_msg("%s: %s", name, why);
	e->value = value;
	e->note = "a <note> & \"more\"";
}

static double get(struct target *t, const char *name)
{
	struct param p;
	char why[160];

	assert_int_equal(param_find(t, name, &p, why, sizeof(why)), 0);
	return param_get(&p);
}

static struct target *reread(const char *text)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_parse(src_from_text("new.xml", text, strlen(text)), NULL, (struct loc){ 0 }, &d);
	diag_print(&d, stderr, false);
	diag_free(&d);
	assert_non_null(t);
	return t;
}

static struct target *load(const char *name)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	assert_non_null(t);
	diag_free(&d);
	return t;
}

static const char *const names[] = {
	"value:lds.latency", "value:vmem.l2", "class:trans/busy", "class:trans/latency", "matrix:v_mfma_f32_16x16x32_f16/occupancy",
	"matrix:v_mfma_scale_f32_16x16x128_f8f6f4@no-f8/prefix", "lds:ds_read_b128/port", "vmem:buffer_load_dwordx4 lds/addr",
	"clock:gemm",
};
static const double values[] = { 77, 123.5, 19, 23, 15, 9, 11, 13, 1234.5 };
#define NAMES (sizeof(names) / sizeof(names[0]))

static void check_rewritten(struct target *t)
{
	struct param_edit e[NAMES];
	struct target *back;
	struct diag d;
	char *text;

	for (size_t i = 0; i < NAMES; i++)
		set(t, &e[i], names[i], values[i]);
	diag_init(&d);
	text = param_rewrite(t, e, NAMES, "cal", "a title & <more>", &d);
	assert_non_null(text);
	back = reread(text);
	for (size_t i = 0; i < NAMES; i++)
		assert_true(get(back, names[i]) == values[i]);
	assert_true(get(back, "value:vmem.hbm") == get(t, "value:vmem.hbm")); /* the others are as they were */
	assert_true(get(back, "lds:ds_read_b64/port") == get(t, "lds:ds_read_b64/port"));
	assert_int_equal(back->classes[OPC_TRANS].from.quality, Q_MEASURED);
	assert_string_equal(back->classes[OPC_TRANS].from.source, "cal");
	assert_non_null(strstr(back->classes[OPC_TRANS].from.note, "a <note> & \"more\""));
	assert_int_not_equal(back->classes[OPC_VALU].from.quality, Q_MEASURED);
	target_free(back);
	diag_free(&d);
	free(text);
}

static void test_rewrite(void **unused)
{
	struct target *t = load("gfx950");

	(void)unused;
	check_rewritten(t);
	target_free(t);
	/* Rows of a base are repeated in the file that is based on it. */
	t = reread("<target name=\"lab\" product=\"x\" base=\"gfx950\">\n  <source id=\"lab\" title=\"t\"/>\n"
		   "  <value key=\"lds.latency\" value=\"60\" unit=\"clk\" quality=\"estimate\" source=\"lab\"/>\n</target>\n");
	check_rewritten(t);
	target_free(t);
}

static void test_names(void **unused)
{
	static const char *const bad[] = {
		"lds.latency", "value:no.such", "class:no/busy", "class:valu", "class:valu/speed", "matrix:none/ready",
		"matrix:v_mfma_f32_16x16x128_f8f6f4/ready", "lds:x/port", "vmem:x/addr", "clock:none", "kind:x/y", "", ":", "value:/",
	};
	struct target *t = load("gfx950");
	struct param p;
	char why[160];

	(void)unused;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		why[0] = '\0';
		assert_int_equal(param_find(t, bad[i], &p, why, sizeof(why)), -1);
		assert_true(strlen(why) > 5);
	}
	assert_int_equal(param_find(t, "class:valu/busy", &p, why, sizeof(why)), 0);
	param_set(&p, 6.6);
	assert_int_equal(t->classes[OPC_VALU].busy_clk, 7);
	target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measure), cmocka_unit_test(test_results), cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_faults), cmocka_unit_test(test_limits), cmocka_unit_test(test_backends),
		cmocka_unit_test(test_drivers), cmocka_unit_test(test_symbols), cmocka_unit_test(test_rewrite),
		cmocka_unit_test(test_names),
	};
	int fd = mkstemp(script_path), rc;

	if (fd < 0)
		return 99;
	close(fd);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(script_path);
	return rc;
}
