/* Whole-kernel arithmetic around a tiny program: residency, rounds, bandwidth, clocks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "predict.h"

static struct clock_row clocks[] = {
	{ .name = "nominal", .mhz = 2000, .from = { Q_DOCUMENTED, "BOOK", "", { 0 } } },
	{ .name = "gemm-f16", .mhz = 1000, .from = { Q_MEASURED, "RUN", "", { 0 } } },
};

static struct insn insns[] = {
	{ .cls = OPC_VALU, .op = "v_mov_b32", .groups = 1, .size = 4, .counter = -1, .repeat = 1,
	  .access = -1, .loop = -1 },
	{ .cls = OPC_END, .op = "s_endpgm", .groups = 1, .size = 4, .counter = -1, .repeat = 1,
	  .access = -1, .loop = -1 },
};
static struct stage stages[] = { { .name = "all", .kind = STAGE_PLAIN } };

/* A CU with round numbers: 4 SIMDs of 8 waves and 512 registers, 64 KiB of LDS, 100 CUs. */
static struct target machine(void)
{
	struct target t = { .name = "toy", .product = "none", .clocks = clocks, .nclocks = 2 };

	t.v = (struct target_values){
		.cus = 100, .xcds = 1, .simds = 4, .wave_size = 64, .waves_per_simd = 8,
		.workgroup_waves = 16, .issue_period = 4, .issue_stagger = 1, .nop_unit = 4,
		.sleep_unit = 64, .icache_line = 64, .icache_bytes = 65536, .lds_bytes = 65536,
		.lds_granule = 512, .lds_queue = 8, .lds_latency = 40, .lds_partitions = 1,
		.lds_dma_write = 128, .vmem_queue = 12, .vmem_inflight = 32768, .vmem_l2_ns = 200,
		.vmem_hbm_ns = 400, .vmem_store_ns = 200, .smem_ns = 100, .l2_bytes_clk = 6400,
		.hbm_gbs = 4000, .barrier_release = 20, .vgpr_pool = 512, .vgpr_max = 256,
		.agpr_max = 256, .vgpr_granule = 8, .sgpr_max = 102, .launch_ns = 500,
		.launch_kernel_ns = 3000,
	};
	for (int c = 0; c < OPC_COUNT; c++) {
		t.classes[c].counter = -1;
		t.classes[c].hold_clk = 4;
	}
	t.classes[OPC_VALU].busy_clk = t.classes[OPC_VALU].latency_clk = 4;
	t.pair_of_simd[2] = t.pair_of_simd[3] = 1;
	return t;
}

static struct program tiny(const struct target *t)
{
	return (struct program){
		.target = t, .name = "tiny", .insns = insns, .ninsns = 2, .stages = stages, .nstages = 1,
		.main_loop = { -1, -1, -1, -1 }, .waves = 4, .groups = 1, .workgroups = 100,
		.cluster_workgroups = 1, .vgpr = 128, .sgpr = 32, .lds_bytes = 1024,
	};
}

static struct prediction run(const struct program *p, const char *clock)
{
	struct prediction pr;
	struct diag d;

	diag_init(&d);
	assert_int_equal(predict(p, clock, false, &pr, &d), 0);
	assert_int_equal(d.n, 0);
	diag_free(&d);
	return pr;
}

/* Code of the only finding of a prediction that is refused. */
static enum diag_code refuse(const struct program *p, const char *clock, char fix[64])
{
	struct prediction pr;
	struct diag d;
	enum diag_code code;

	diag_init(&d);
	assert_int_equal(predict(p, clock, false, &pr, &d), -1);
	assert_int_equal(d.n, 1);
	code = d.list[0].code;
	if (fix)
		snprintf(fix, 64, "%s", d.list[0].fix ? d.list[0].fix : "");
	diag_free(&d);
	prediction_free(&pr);
	return code;
}

static void expect_resident(struct program *p, unsigned resident, const char *limit)
{
	struct prediction pr = run(p, NULL);

	assert_int_equal(pr.resident, resident);
	assert_string_equal(pr.resident_limit, limit);
	prediction_free(&pr);
}

static void test_resident(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);

	(void)state;
	expect_resident(&p, 1, "workgroups"); /* 100 workgroups on 100 CUs */
	p.workgroups = 101;
	expect_resident(&p, 2, "workgroups");
	p.workgroups = 100000;
	expect_resident(&p, 4, "vgpr"); /* 512 / 128 waves a SIMD, one of each workgroup */
	p.vgpr = 129;
	expect_resident(&p, 3, "vgpr"); /* 136 with the granule */
	p.agpr = 4; /* align4(129) + 4 = 136 */
	expect_resident(&p, 3, "vgpr");
	p.agpr = 5; /* 137 -> 144 */
	expect_resident(&p, 3, "vgpr");
	p.vgpr = 256;
	p.agpr = 256;
	expect_resident(&p, 1, "vgpr");
	p.vgpr = 8;
	p.agpr = 0;
	expect_resident(&p, 8, "waves");
	p.lds_bytes = 32768;
	expect_resident(&p, 2, "lds");
	p.lds_bytes = 32769; /* 33280 with the granule */
	expect_resident(&p, 1, "lds");
	p.lds_bytes = 0;
	p.waves = 1;
	expect_resident(&p, PROG_MAX_WAVES, "waves");
}

static void test_does_not_fit(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);

	(void)state;
	p.lds_bytes = 65537;
	assert_int_equal(refuse(&p, NULL, NULL), DIAG_LDS_CAP);
	p = tiny(&t);
	p.waves = 8;
	p.vgpr = 264; /* two waves a SIMD */
	assert_int_equal(refuse(&p, NULL, NULL), DIAG_REG_CAP);
	p = tiny(&t);
	p.workgroups = 0;
	assert_int_equal(refuse(&p, NULL, NULL), DIAG_SHAPE);
	p = tiny(&t);
	p.waves = 0;
	assert_int_equal(refuse(&p, NULL, NULL), DIAG_LIMIT);
}

static void test_clock(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);
	struct prediction pr;
	char fix[64];

	(void)state;
	pr = run(&p, NULL);
	assert_float_equal(pr.clock_mhz, 2000, 0);
	assert_string_equal(pr.clock_source, "nominal 2000 MHz [BOOK, documented]");
	prediction_free(&pr);
	p.clock_mhz = 1500;
	pr = run(&p, NULL);
	assert_float_equal(pr.clock_mhz, 1500, 0);
	prediction_free(&pr);
	p.clock = "gemm-f16";
	pr = run(&p, NULL);
	assert_float_equal(pr.clock_mhz, 1000, 0);
	assert_int_equal(pr.clock_quality, Q_MEASURED);
	prediction_free(&pr);
	pr = run(&p, "1234.5"); /* the option wins */
	assert_float_equal(pr.clock_mhz, 1234.5, 0);
	prediction_free(&pr);
	assert_int_equal(refuse(&p, "gemm-f61", fix), DIAG_NAME);
	assert_non_null(strstr(fix, "\"gemm-f16\""));
	assert_int_equal(refuse(&p, "quite-another-word", NULL), DIAG_NAME);
	assert_int_equal(refuse(&p, "0", NULL), DIAG_VALUE);
	assert_int_equal(refuse(&p, "-1000", NULL), DIAG_VALUE);
	assert_int_equal(refuse(&p, "1e9", NULL), DIAG_VALUE);
	assert_int_equal(refuse(&p, "nan", NULL), DIAG_NAME); /* not a number that is read */
}

static void test_rounds_and_time(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);
	struct prediction pr;

	(void)state;
	p.workgroups = 401;
	p.lds_bytes = 32768; /* two at once */
	p.flops = 1e9;
	pr = run(&p, "1000");
	assert_int_equal(pr.resident, 2);
	assert_int_equal(pr.rounds, 3);
	assert_int_equal(pr.launch_clk, 3000);
	assert_true(pr.stats.total_clk > 0);
	assert_int_equal(pr.kernel_clk, 3000 + 3 * (500 + pr.stats.total_clk));
	assert_float_equal(pr.time_us, (double)pr.kernel_clk / 1000, 1e-12);
	assert_float_equal(pr.tflops, 1e9 / (pr.time_us * 1e-6) / 1e12, 1e-9);
	assert_false(pr.memory_bound);
	prediction_free(&pr);
	pr = run(&p, "500"); /* the same ns are half as many clk */
	assert_int_equal(pr.launch_clk, 1500);
	prediction_free(&pr);
}

static void test_memory_bound(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);
	struct prediction pr;

	(void)state;
	p.total_hbm_bytes = 4e9; /* 1 ms at 4000 GB/s */
	pr = run(&p, "1000");
	assert_true(pr.memory_bound);
	assert_int_equal(pr.kernel_clk, 1000000);
	assert_float_equal(pr.time_us, 1000, 1e-9);
	prediction_free(&pr);
}

static void test_share(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);
	struct prediction pr;

	(void)state;
	pr = run(&p, "1000");
	assert_float_equal(pr.bytes_per_clk, 64, 1e-9); /* 6400 / 100 CUs */
	prediction_free(&pr);
	p.workgroups = 50;
	pr = run(&p, "1000");
	assert_float_equal(pr.bytes_per_clk, 128, 1e-9); /* half of the CUs are idle */
	prediction_free(&pr);
	p.workgroups = 100;
	p.unique_bytes = p.request_bytes = 1000;
	pr = run(&p, "1000"); /* 4000 bytes/clk of HBM / 100 */
	assert_float_equal(pr.bytes_per_clk, 40, 1e-9);
	prediction_free(&pr);
	p.request_bytes = 1500;
	pr = run(&p, "1000");
	assert_float_equal(pr.bytes_per_clk, 60, 1e-9);
	prediction_free(&pr);
	p.request_bytes = 8000; /* now L2 is the narrower one */
	pr = run(&p, "1000");
	assert_float_equal(pr.bytes_per_clk, 64, 1e-9);
	prediction_free(&pr);
}

static void test_too_long(void **state)
{
	struct target t = machine();
	struct program p = tiny(&t);

	(void)state;
	p.workgroups = UINT64_MAX;
	assert_int_equal(refuse(&p, NULL, NULL), DIAG_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resident),     cmocka_unit_test(test_does_not_fit),
		cmocka_unit_test(test_clock),        cmocka_unit_test(test_rounds_and_time),
		cmocka_unit_test(test_memory_bound), cmocka_unit_test(test_share),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
