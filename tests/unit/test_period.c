/* Fast-forward: on and off agree bit for bit, the period found is the true one, counts may be huge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../handprog.h"

#define SAME(a, b, field) assert_memory_equal(&(a)->field, &(b)->field, sizeof((a)->field))

static void assert_same(const struct stats *a, const struct stats *b)
{
	SAME(a, b, total_clk);
	SAME(a, b, prologue_clk);
	SAME(a, b, loop_clk);
	SAME(a, b, epilogue_clk);
	SAME(a, b, wave_clk);
	SAME(a, b, wave_end);
	SAME(a, b, insns);
	SAME(a, b, steady);
	SAME(a, b, window_begin);
	SAME(a, b, window_clk);
	SAME(a, b, window_trips);
	SAME(a, b, window_steps);
	SAME(a, b, simd_matrix_clk);
	SAME(a, b, simd_lost);
	SAME(a, b, estimate_clk);
	SAME(a, b, wave_window_clk);
	assert_int_equal(a->nstages * a->groups, b->nstages * b->groups);
	assert_memory_equal(a->stages, b->stages, a->nstages * a->groups * sizeof(*a->stages));
}

/* Run with and without; true when something was skipped. */
static bool run_both(struct hand *h, struct stats *on)
{
	struct stats off;
	struct diag d;
	bool skipped;

	h->cfg.no_fast_forward = false;
	assert_int_equal(hand_run(h, on, &d), 0);
	diag_free(&d);
	h->cfg.no_fast_forward = true;
	assert_int_equal(hand_run(h, &off, &d), 0);
	diag_free(&d);
	assert_int_equal(off.insns_stepped, off.insns);
	assert_same(on, &off);
	skipped = on->insns_stepped < on->insns;
	stats_free(&off);
	return skipped;
}

/* Two waves on two SIMDs, one trip takes a clk of the one and b of the other (in visits). */
static struct hand *two_clocks(unsigned a, unsigned b, uint64_t trips_a, uint64_t trips_b)
{
	struct hand *h = hand_new("gfx942", 2, 2);
	const unsigned visits[2] = { a, b };
	const uint64_t trips[2] = { trips_a, trips_b };

	h->t->v.icache_miss_ns = 0;
	h->t->classes[OPC_SALU].busy_clk = h->t->classes[OPC_SALU].hold_clk = 4;
	h->t->classes[OPC_BRANCH].hold_clk = 4;
	for (unsigned g = 0; g < 2; g++) {
		uint32_t begin = (uint32_t)h->p.ninsns;

		h->groups = (uint8_t)(1u << g);
		hand_many(h, OPC_SALU, visits[g] - 1);
		hand_loop(h, begin, trips[g], true);
	}
	h->groups = 0xff;
	hand_add(h, OPC_END);
	return h;
}

static unsigned gcd(unsigned a, unsigned b)
{
	return b ? gcd(b, a % b) : a;
}

static void test_periods(void **state)
{
	static const unsigned pairs[][2] = { { 4, 4 }, { 3, 6 }, { 2, 3 }, { 2, 5 }, { 5, 7 },
					     { 8, 2 }, { 4, 6 }, { 3, 11 }, { 2, 31 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		unsigned a = pairs[i][0], b = pairs[i][1], period = b / gcd(a, b);
		struct hand *h = two_clocks(a, b, 400, 400 * a / b + 1);
		struct stats on;

		assert_true(run_both(h, &on));
		assert_true(on.steady);
		assert_int_equal(on.window_trips, period);
		assert_int_equal(on.window_clk, (uint64_t)period * a * 4);
		stats_free(&on);
		hand_free(h);
	}
}

/* The groups' loops end far apart: what the longer one does alone is skipped too. */
static void test_uneven(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < 2; k++) {
		struct hand *h = two_clocks(3, 4, k ? 100000 : 50, k ? 50 : 100000);
		struct stats on;

		assert_true(run_both(h, &on));
		assert_true(on.insns_stepped < 3000);
		stats_free(&on);
		hand_free(h);
	}
}

static struct hand *gemm(const char *machine, unsigned waves, unsigned resident, uint64_t trips)
{
	struct hand *h = hand_new(machine, waves, 1);
	uint32_t begin;

	h->cfg.resident = resident;
	hand_gemm_step(h, 6, 4);
	begin = (uint32_t)h->p.ninsns;
	hand_gemm_step(h, 12, 24);
	hand_loop(h, begin, trips, true);
	h->stage = 2;
	hand_gemm_step(h, 4, 8);
	hand_add(h, OPC_END);
	return h;
}

static void test_gemm(void **state)
{
	static const uint64_t trips[] = { 1, 2, 3, 4, 5, 7, 8, 9, 30, 200 };
	unsigned skipped = 0;

	(void)state;
	for (unsigned m = 0; m < 2; m++) {
		for (unsigned shape = 0; shape < 5; shape++) {
			static const unsigned waves[] = { 1, 4, 8, 16, 4 }, resident[] = { 1, 1, 1, 1, 3 };

			for (size_t i = 0; i < ARRAY_LEN(trips); i++) {
				struct hand *h = gemm(minitarget_names[m], waves[shape],
						      resident[shape], trips[i]);
				struct stats on;

				skipped += run_both(h, &on);
				assert_int_equal(on.prologue_clk + on.loop_clk + on.epilogue_clk,
						 on.total_clk);
				stats_free(&on);
				hand_free(h);
			}
		}
	}
	assert_true(skipped > 10);
}

/* Short inner loops are part of the state, long ones are skipped on their own. */
static void test_nested(void **state)
{
	static const uint64_t inner[] = { 1, 2, 5, 15, 16, 40, 3000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(inner); i++) {
		struct hand *h = hand_new("gfx950", 8, 1);
		struct stats on;
		uint32_t begin, deep;

		begin = (uint32_t)h->p.ninsns;
		hand_gemm_step(h, 6, 8);
		deep = (uint32_t)h->p.ninsns;
		hand_matrix(h, 256, 0, 4);
		hand_span(hand_add(h, OPC_VALU), ROLE_DST, 210, 1);
		hand_loop(h, deep, inner[i], false);
		hand_read(h, 0, 8);
		hand_loop(h, begin, 40, true);
		hand_add(h, OPC_END);
		assert_true(run_both(h, &on));
		stats_free(&on);
		hand_free(h);
	}
}

/* The main loop inside another one: its edges come in bursts. */
static void test_persistent(void **state)
{
	struct hand *h = hand_new("gfx942", 4, 1);
	struct stats on;
	uint32_t begin, outer = 0;

	(void)state;
	hand_many(h, OPC_SALU, 3);
	begin = (uint32_t)h->p.ninsns;
	hand_gemm_step(h, 6, 8);
	hand_loop(h, begin, 12, true);
	h->stage = 2;
	hand_add(h, OPC_SLEEP)->imm = 3;
	hand_loop(h, outer, 30, false);
	hand_add(h, OPC_END);
	assert_true(run_both(h, &on));
	assert_true(on.window_trips > 0);
	stats_free(&on);
	hand_free(h);
}

/* One group waits at a barrier until the other has left its long loop. */
static void test_waiting_group(void **state)
{
	struct hand *h = hand_new("gfx942", 8, 2);
	struct stats on;

	(void)state;
	for (unsigned g = 0; g < 2; g++) {
		uint32_t begin = (uint32_t)h->p.ninsns;

		h->groups = (uint8_t)(1u << g);
		hand_many(h, OPC_SALU, 5);
		hand_matrix(h, 256, 0, 4);
		hand_loop(h, begin, g ? 20000 : 30, true);
	}
	h->groups = 0xff;
	hand_barrier(h);
	hand_add(h, OPC_END);
	assert_true(run_both(h, &on));
	assert_true(on.insns_stepped < 20000);
	stats_free(&on);
	hand_free(h);
}

/* Far more trips than anyone could step: the total grows by whole periods, exactly. */
static void test_huge(void **state)
{
	struct hand *h = gemm("gfx942", 8, 1, 1000);
	struct stats few, many;
	struct diag d;
	uint64_t more;

	(void)state;
	assert_int_equal(hand_run(h, &few, &d), 0);
	diag_free(&d);
	assert_true(few.steady);
	more = ((((uint64_t)1 << 40) - 1000) / few.window_trips) * few.window_trips;
	h->loops[0].trips += more;
	assert_int_equal(hand_run(h, &many, &d), 0);
	diag_free(&d);
	assert_int_equal(many.total_clk, few.total_clk + more / few.window_trips * few.window_clk);
	assert_int_equal(many.loop_clk - few.loop_clk, many.total_clk - few.total_clk);
	assert_true(many.insns_stepped < 2 * few.insns);
	stats_free(&few);
	stats_free(&many);
	hand_free(h);
}

/* Counts whose product does not fit: a finding, neither a hang nor a wrong number. */
static void test_too_huge(void **state)
{
	struct hand *h = hand_new("gfx942", 4, 1);
	struct stats s;
	struct diag d;

	(void)state;
	hand_many(h, OPC_SALU, 2);
	hand_loop(h, 1, (uint64_t)1 << 40, false);
	hand_loop(h, 0, (uint64_t)1 << 40, true);
	hand_add(h, OPC_END);
	assert_int_equal(hand_run(h, &s, &d), -1);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].code, DIAG_LIMIT);
	diag_free(&d);
	stats_free(&s);
	hand_free(h);
}

/* Signals outrun the waits: each trip leaves more phases behind, which only a later wait can tell. */
static void test_surplus_phases(void **state)
{
	struct hand *h = hand_new("gfx1250", 4, 2);
	struct stats on;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		hand_add(h, OPC_SIGNAL)->barrier = BAR_CLUSTER;
	hand_add(h, OPC_AWAIT)->barrier = BAR_CLUSTER;
	hand_matrix(h, 256, 0, 4);
	hand_loop(h, 0, 50, true);
	/* 4 * (3 * 50 + 1) phases in all: the last of these waits needs the last wave's signal. */
	hand_add(h, OPC_AWAIT)->barrier = BAR_CLUSTER;
	h->insns[h->p.ninsns - 1].repeat = 480;
	hand_add(h, OPC_SIGNAL)->barrier = BAR_CLUSTER;
	hand_add(h, OPC_AWAIT)->barrier = BAR_CLUSTER;
	h->insns[h->p.ninsns - 1].repeat = 74;
	hand_add(h, OPC_END);
	assert_true(run_both(h, &on));
	assert_true(on.steady);
	stats_free(&on);
	hand_free(h);
}

/* Nothing may be skipped while the memory is cold: the first trips are slower. */
static void test_cold(void **state)
{
	struct hand *h = gemm("gfx942", 8, 1, 300);
	struct stats on;

	(void)state;
	h->t->v.vmem_cold_ns = 2000;
	h->t->v.vmem_cold_window_ns = 20000;
	assert_true(run_both(h, &on));
	assert_true(on.window_begin >= 40000);
	stats_free(&on);
	hand_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods),	    cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_gemm),	    cmocka_unit_test(test_nested),
		cmocka_unit_test(test_persistent),  cmocka_unit_test(test_waiting_group),
		cmocka_unit_test(test_huge),	    cmocka_unit_test(test_too_huge),
		cmocka_unit_test(test_cold),	    cmocka_unit_test(test_surplus_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
