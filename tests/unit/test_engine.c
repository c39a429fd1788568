/* The engine's accounts, findings and time lines. Timing rules: test_edges*.c and test_ref.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../handprog.h"

static struct hand *gemm(unsigned waves, unsigned groups, uint64_t trips)
{
	struct hand *h = hand_new("gfx942", waves, groups);
	uint32_t begin = 0;

	hand_gemm_step(h, 12, 24);
	hand_loop(h, begin, trips, true);
	h->stage = 2;
	hand_add(h, OPC_END);
	return h;
}

static void run_clean(struct hand *h, struct stats *s)
{
	struct diag d;

	assert_int_equal(hand_run(h, s, &d), 0);
	assert_int_equal(d.n, 0);
	diag_free(&d);
}

static uint64_t sum_of(const uint64_t *clk)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < ST_COUNT; r++)
		sum += clk[r];
	return sum;
}

static void test_sums(void **state)
{
	(void)state;
	for (uint64_t trips = 1; trips < 60; trips += 7) {
		struct hand *h = gemm(8, 2, trips);
		struct stats s;
		uint64_t stage_clk[2] = { 0 };

		run_clean(h, &s);
		for (unsigned w = 0; w < 8; w++)
			assert_int_equal(sum_of(s.wave_clk[w]), s.wave_end[w]);
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(s.simd_matrix_clk[i] + sum_of(s.simd_lost[i]), s.window_clk);
		for (size_t k = 0; k < s.nstages; k++) {
			for (unsigned g = 0; g < 2; g++) {
				const struct stage_stats *st = &s.stages[k * 2 + g];

				stage_clk[g] += sum_of(st->clk);
				assert_int_equal(st->issue_clk, st->clk[ST_ISSUE]);
			}
		}
		if (trips > 40) {
			assert_true(s.steady);
			/* One wave of each group on the column, all its time in some stage. */
			assert_int_equal(stage_clk[0], s.window_clk);
			assert_int_equal(stage_clk[1], s.window_clk);
			assert_int_equal(s.stages[2].matrix_clk,
					 s.window_trips * 24 * h->t->matrix[0].occupancy_clk);
		}
		assert_int_equal(s.wave_window_clk, 8 * s.window_clk);
		assert_true(s.estimate_clk <= s.wave_window_clk);
		stats_free(&s);
		hand_free(h);
	}
}

/* Wave 4 sleeps; wave 0 waits for it at a barrier, then issues a matrix op: the sleep is to blame. */
static void test_lost_follows_barrier(void **state)
{
	struct hand *h = hand_new("gfx942", 8, 2);
	struct stats s;
	uint64_t sleep, release;

	(void)state;
	h->t->v.icache_miss_ns = 0;
	sleep = 100 * (uint64_t)h->t->v.sleep_unit;
	release = (uint64_t)h->t->v.barrier_release;
	h->groups = 2;
	hand_add(h, OPC_SLEEP)->imm = 100;
	h->groups = 3;
	hand_barrier(h);
	hand_matrix(h, 256, 0, 4);
	hand_add(h, OPC_END);
	run_clean(h, &s);
	assert_in_range(s.wave_clk[0][ST_BARRIER], sleep - 8, sleep + 8);
	assert_in_range(s.wave_clk[0][ST_RELEASE], release, release);
	assert_int_equal(s.wave_clk[0][ST_NOP], 0);
	assert_int_equal(s.simd_lost[0][ST_BARRIER], 0);
	assert_in_range(s.simd_lost[0][ST_NOP], sleep - 8, sleep);
	assert_in_range(s.simd_lost[0][ST_RELEASE], release - 4, release);
	stats_free(&s);
	hand_free(h);
}

/* The stage whose wave came last is charged with the waiting of the other group. */
static void test_late(void **state)
{
	struct hand *h = hand_new("gfx942", 8, 2);
	struct stats s;

	(void)state;
	h->t->v.icache_miss_ns = 0;
	h->groups = 2;
	h->stage = 1;
	hand_add(h, OPC_SLEEP)->imm = 50;
	h->groups = 3;
	h->stage = 0;
	hand_barrier(h);
	hand_add(h, OPC_END);
	run_clean(h, &s);
	assert_int_equal(s.stages[1 * 2 + 1].late_clk, s.wave_clk[0][ST_BARRIER]);
	assert_true(s.stages[1 * 2 + 1].late_clk > 0);
	assert_int_equal(s.stages[0].late_clk + s.stages[1].late_clk + s.stages[2].late_clk, 0);
	stats_free(&s);
	hand_free(h);
}

/* Each reason that an instruction can wait for by itself shows up under its own name. */
static void test_reasons(void **state)
{
	struct hand *h = hand_new("gfx942", 1, 1);
	struct stats s;

	(void)state;
	hand_read(h, 0, 8);
	hand_wait(h, OPC_LDS_READ, 0);
	hand_copy(h, 1024);
	hand_wait(h, OPC_VMEM_LDS, 0);
	hand_matrix(h, 256, 0, 4);
	hand_matrix(h, 260, 0, 4);
	hand_matrix(h, 264, 0, 4);
	hand_span(hand_add(h, OPC_VALU), ROLE_SRC, 264, 1);
	hand_add(h, OPC_NOP)->imm = 9;
	hand_add(h, OPC_END);
	run_clean(h, &s);
	assert_true(s.wave_clk[0][ST_FETCH] > 0);
	assert_true(s.wave_clk[0][ST_WAIT_LDS] >= (uint64_t)h->t->v.lds_latency);
	assert_true(s.wave_clk[0][ST_WAIT_VMEM] > 0);
	assert_true(s.wave_clk[0][ST_MATRIX] > 0);
	assert_true(s.wave_clk[0][ST_OPERAND] > 0);
	assert_true(s.wave_clk[0][ST_NOP] > 0);
	assert_int_equal(s.wave_clk[0][ST_BARRIER] + s.wave_clk[0][ST_ARBITRATION], 0);
	assert_int_equal(s.prologue_clk, s.total_clk);
	assert_int_equal(s.window_clk, s.total_clk);
	assert_false(s.steady);
	stats_free(&s);
	hand_free(h);
}

static void test_segments(void **state)
{
	struct hand *h = gemm(8, 1, 50);
	struct stats s;
	uint64_t at[8], busy = 0;

	(void)state;
	h->cfg.keep_segments = true;
	run_clean(h, &s);
	assert_true(s.steady);
	for (unsigned w = 0; w < 8; w++)
		at[w] = s.window_begin;
	for (size_t i = 0; i < s.nsegments; i++) {
		const struct segment *g = &s.segments[i];

		assert_true(g->wave % 4 == 0);
		assert_int_equal(g->begin, at[g->wave]);
		assert_true(g->end > g->begin);
		at[g->wave] = g->end;
	}
	assert_int_equal(at[0], s.window_begin + s.window_clk);
	assert_int_equal(at[4], s.window_begin + s.window_clk);
	for (size_t i = 0; i < s.nbusy; i++)
		busy += s.busy[i].end - s.busy[i].begin;
	assert_int_equal(busy, s.simd_matrix_clk[0]);
	stats_free(&s);
	hand_free(h);
}

struct count {
	uint64_t n, last;
};

static void count_event(void *ctx, const struct engine_event *e)
{
	struct count *c = ctx;

	assert_true(e->clk >= c->last);
	assert_true(e->start >= e->clk);
	assert_true(e->stall == 0 || e->reason != ST_ISSUE);
	c->last = e->clk;
	c->n++;
}

static void test_events(void **state)
{
	struct hand *h = gemm(8, 1, 30);
	struct count c = { 0, 0 };
	struct stats plain, traced;

	(void)state;
	run_clean(h, &plain);
	h->cfg.event = count_event;
	h->cfg.ctx = &c;
	run_clean(h, &traced);
	assert_int_equal(c.n, plain.insns);
	assert_int_equal(plain.total_clk, traced.total_clk);
	assert_int_equal(traced.insns, traced.insns_stepped);
	assert_memory_equal(plain.simd_lost, traced.simd_lost, sizeof(plain.simd_lost));
	stats_free(&plain);
	stats_free(&traced);
	hand_free(h);
}

/* Waves that wait for each other for ever: each place is named, with who waits there for whom. */
static void test_deadlock(void **state)
{
	struct hand *h = hand_new("gfx942", 8, 2);
	struct src *src = src_from_text("k", "barrier\nawait\n", 14);
	struct stats s;
	struct diag d;
	struct insn *in;

	(void)state;
	h->groups = 1;
	hand_barrier(h);
	h->insns[0].loc = (struct loc){ src, 0, 7 };
	h->groups = 2;
	in = hand_add(h, OPC_AWAIT);
	in->barrier = 3;
	in->loc = (struct loc){ src, 8, 13 };
	h->groups = 3;
	hand_add(h, OPC_END);
	assert_int_equal(hand_run(h, &s, &d), -1);
	assert_int_equal(d.n, 2);
	assert_int_equal(d.list[0].code, DIAG_DEADLOCK);
	assert_int_equal(loc_line(d.list[0].loc), 1);
	assert_int_equal(loc_line(d.list[1].loc), 2);
	assert_string_equal(d.list[0].message, "waves 0-3 wait at the barrier at 1:1; waves 4-7 wait "
					       "for the barrier's signals at 2:1");
	stats_free(&s);
	diag_free(&d);

	h->insns[0].groups = 0; /* group 0 has nothing left to do but end */
	assert_int_equal(hand_run(h, &s, &d), -1);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.list[0].message, "waves 4-7 wait for the barrier's signals at 2:1; "
					       "waves 0-3 have ended");
	stats_free(&s);
	diag_free(&d);
	src_free(src);
	hand_free(h);
}

static void expect_limit(struct hand *h)
{
	struct stats s;
	struct diag d;

	assert_int_equal(hand_run(h, &s, &d), -1);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].code, DIAG_LIMIT);
	diag_free(&d);
	stats_free(&s);
	hand_free(h);
}

static void test_limits(void **state)
{
	struct hand *h = gemm(8, 1, 10);

	(void)state;
	h->cfg.resident = 5;
	expect_limit(h);
	h = gemm(8, 1, 1000);
	h->cfg.max_clk = 5000;
	expect_limit(h);
	h = gemm(8, 1, 1000);
	h->cfg.max_clk = 5000;
	h->cfg.no_fast_forward = true;
	expect_limit(h);
	h = gemm(6, 4, 10);
	expect_limit(h);
}

static void test_missing_row(void **state)
{
	struct hand *h = hand_new("gfx942", 1, 1);
	struct stats s;
	struct diag d;

	(void)state;
	hand_add(h, OPC_MATRIX);
	hand_add(h, OPC_END);
	assert_int_equal(hand_run(h, &s, &d), -1);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].code, DIAG_TARGET);
	diag_free(&d);
	stats_free(&s);
	hand_free(h);
}

/* A program without END, an empty one, and loops that run once. */
static void test_odd_programs(void **state)
{
	struct hand *h = hand_new("gfx942", 3, 1);
	struct stats s;

	(void)state;
	run_clean(h, &s);
	stats_free(&s);
	hand_many(h, OPC_SALU, 2);
	hand_loop(h, 0, 0, true);
	run_clean(h, &s);
	assert_int_equal(s.insns, 3 * (3 + 1));
	assert_int_equal(s.loop_clk > 0, 1);
	stats_free(&s);
	hand_free(h);
}

static void test_strict(void **state)
{
	struct hand *h = hand_new("gfx942", 1, 1);
	struct spacing_row row = { .first = "matrix", .second = "vector", .relation = SR_RAW,
				   .states = 3, .software = true };
	struct stats s;
	struct diag d;

	(void)state;
	h->t->spacing = &row;
	h->t->nspacing = 1;
	hand_matrix(h, 256, 0, 4);
	hand_many(h, OPC_SALU, 2);
	hand_span(hand_add(h, OPC_VALU), ROLE_SRC, 257, 1);
	hand_add(h, OPC_END);
	run_clean(h, &s);
	stats_free(&s);
	h->cfg.strict = true;
	assert_int_equal(hand_run(h, &s, &d), -1);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].code, DIAG_SPACING);
	assert_int_equal(d.list[0].required, 3);
	assert_int_equal(d.list[0].present, 2);
	diag_free(&d);
	stats_free(&s);
	row.states = 2;
	run_clean(h, &s);
	stats_free(&s);
	hand_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),	     cmocka_unit_test(test_lost_follows_barrier),
		cmocka_unit_test(test_late),	     cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_segments),     cmocka_unit_test(test_events),
		cmocka_unit_test(test_deadlock),     cmocka_unit_test(test_limits),
		cmocka_unit_test(test_missing_row),  cmocka_unit_test(test_odd_programs),
		cmocka_unit_test(test_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
