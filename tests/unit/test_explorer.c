/* The explorer itself: verdicts that are known by hand, and its short search against its plain one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../explorer.h"
#include "../minitarget.h"
#include "../mutate.h"
#include "../tinyrand.h"

static const struct tiny_range whole = { 0, 64, 0, 0 }, half = { 0, 32, 32, 0 };
static const struct tiny_tile k0 = { TINY_LOOP, 0 }, k1 = { TINY_LOOP, 1 }, k2 = { TINY_LOOP, 2 };

static struct tiny_tile tile(int at)
{
	return (struct tiny_tile){ TINY_FIRST, at };
}

struct fixture {
	struct minitarget *m9, *m12;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->m9 = minitarget_build("gfx942");
	f->m12 = minitarget_build("gfx1250");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	minitarget_free(f->m9);
	minitarget_free(f->m12);
	free(f);
	return 0;
}

/* The plain search finds other ways to the same fault: bytes of another tile, or bytes half written. */
static bool same_fault(enum explore_fault a, enum explore_fault b, bool full)
{
	bool lds_a = a == FAULT_TILE || a == FAULT_READ || a == FAULT_REFILL;
	bool lds_b = b == FAULT_TILE || b == FAULT_READ || b == FAULT_REFILL;

	return a == b || (full && lds_a && lds_b);
}

/* Both searches must give this verdict. Frees t. */
static void expect(struct tiny *t, uint64_t ksteps, enum explore_fault fault)
{
	struct program *p = tiny_finish(t, ksteps);

	for (unsigned full = 0; full < 2; full++) {
		struct explore_options o = { .full = full };
		struct explore_result r;

		explore(p, &o, &r);
		if (!same_fault(r.fault, fault, full) || r.verdict != (fault ? EXPLORE_FAULT : EXPLORE_OK)) {
			struct strbuf b = { 0 };

			tiny_print(p, &b);
			fprintf(stderr, "%s search: %s, not %s: %s\n%s%s\n", full ? "plain" : "short",
				explore_fault_name(r.fault), explore_fault_name(fault), r.text ? r.text : "",
				r.trace ? r.trace : "", b.s);
			strbuf_free(&b);
			explore_result_free(&r);
			tiny_free(t);
			fail();
		}
		explore_result_free(&r);
	}
	tiny_free(t);
}

static struct tiny *gfx9(void **state)
{
	return tiny_new(&((struct fixture *)*state)->m9->t, 2, 2);
}

static struct tiny *gfx12(void **state)
{
	return tiny_new(&((struct fixture *)*state)->m12->t, 2, 2);
}

/* Copies by both waves, wait, barrier, read: right only in this order. */
static struct tiny *copy_then_read(void **state, unsigned wait, bool wait_first, bool bar)
{
	struct tiny *t = gfx9(state);
	int32_t b = tiny_buffer(t, 'A', 64, 1);

	tiny_copy(t, TINY_ALL, b, tile(0), half);
	if (wait_first)
		tiny_wait(t, TINY_ALL, CTR_VM, wait);
	if (bar)
		tiny_barrier(t, TINY_ALL);
	if (!wait_first)
		tiny_wait(t, TINY_ALL, CTR_VM, wait);
	tiny_read(t, TINY_ALL, b, tile(0), whole, 0);
	return t;
}

static void copies(void **state)
{
	expect(copy_then_read(state, 0, true, true), 0, FAULT_NONE);
	expect(copy_then_read(state, 1, true, true), 0, FAULT_READ);
}

static void wait_behind_the_barrier(void **state)
{
	struct tiny *t = copy_then_read(state, 0, false, true);
	struct explore_result r;

	explore(tiny_finish(t, 0), NULL, &r);
	assert_int_equal(r.verdict, EXPLORE_FAULT);
	assert_non_null(r.trace);
	explore_result_free(&r);
	tiny_free(t);
}

static void no_barrier(void **state)
{
	struct tiny *t = copy_then_read(state, 0, true, false);
	struct explore_result r;

	explore(tiny_finish(t, 0), NULL, &r);
	assert_int_equal(r.verdict, EXPLORE_FAULT);
	explore_result_free(&r);
	tiny_free(t);
}

/* LDS operations of one wave are in order; the register still needs its wait. */
static void same_wave(void **state)
{
	for (unsigned wait = 0; wait < 2; wait++) {
		struct tiny *t = gfx9(state);
		int32_t b = tiny_buffer(t, 'A', 64, 1);

		tiny_load(t, TINY_ALL, 'A', tile(0), 8);
		tiny_wait(t, TINY_ALL, CTR_VM, 0);
		tiny_write(t, TINY_ALL, b, tile(0), half, 8);
		tiny_read(t, TINY_ALL, b, tile(0), half, 0);
		tiny_wait(t, TINY_ALL, CTR_LGKM, wait);
		tiny_valu(t, TINY_ALL, 20, 0);
		expect(t, 0, wait ? FAULT_REGISTER : FAULT_NONE);
	}
}

/* Another wave's LDS write needs a barrier with all writes complete before it. */
static void other_wave(void **state)
{
	for (unsigned drained = 0; drained < 2; drained++) {
		struct tiny *t = gfx9(state);
		int32_t b = tiny_buffer(t, 'A', 64, 1);

		tiny_valu(t, TINY_ALL, 8, 20);
		tiny_write(t, 1, b, tile(0), whole, 8);
		if (drained)
			tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
		tiny_barrier(t, TINY_ALL);
		tiny_read(t, 2, b, tile(0), whole, 0);
		expect(t, 0, drained ? FAULT_NONE : FAULT_READ);
	}
}

static void refill(void **state)
{
	for (unsigned drained = 0; drained < 2; drained++) {
		struct tiny *t = gfx9(state);
		int32_t b = tiny_buffer(t, 'A', 64, 1);

		tiny_copy(t, 1, b, tile(0), whole);
		tiny_wait(t, 1, CTR_VM, 0);
		tiny_barrier(t, TINY_ALL);
		tiny_read(t, 2, b, tile(0), whole, 0);
		tiny_wait(t, 2, CTR_LGKM, drained ? 0 : 1);
		tiny_barrier(t, TINY_ALL);
		tiny_copy(t, 1, b, tile(1), whole);
		expect(t, 0, drained ? FAULT_NONE : FAULT_REFILL);
	}
}

static void wrong_tile(void **state)
{
	struct tiny *t = gfx9(state);
	int32_t b = tiny_buffer(t, 'A', 64, 2);

	tiny_copy(t, 1, b, tile(0), whole);
	tiny_wait(t, 1, CTR_VM, 0);
	tiny_barrier(t, TINY_ALL);
	tiny_read(t, 2, b, tile(2), whole, 0);
	expect(t, 0, FAULT_TILE);
	t = gfx9(state);
	b = tiny_buffer(t, 'A', 64, 2);
	tiny_read(t, 2, b, tile(1), whole, 0);
	expect(t, 0, FAULT_TILE);
}

/* Buffers over the same bytes. */
static void aliases(void **state)
{
	for (unsigned off = 0; off < 2; off++) {
		struct tiny *t = gfx9(state);
		int32_t a = tiny_buffer(t, 'A', 64, 1), b = tiny_alias(t, 'B', a, 64, 1 + off);

		tiny_copy(t, 1, a, tile(0), whole);
		tiny_copy(t, 1, b, tile((int)off), whole);
		tiny_wait(t, 1, CTR_VM, 0);
		tiny_read(t, 1, a, tile(0), whole, 0);
		expect(t, 0, off ? FAULT_NONE : FAULT_TILE);
	}
}

static void scalar_loads(void **state)
{
	for (unsigned left = 0; left < 2; left++) {
		struct tiny *t = gfx9(state);

		tiny_smem(t, TINY_ALL, 4);
		tiny_smem(t, TINY_ALL, 5);
		tiny_wait(t, TINY_ALL, CTR_LGKM, left);
		tiny_salu(t, TINY_ALL, 8, 4);
		expect(t, 0, left ? FAULT_REGISTER : FAULT_NONE);
	}
	/* A scalar load may be reported before an older LDS read: it proves nothing about that. */
	for (unsigned lds = 0; lds < 2; lds++) {
		struct tiny *t = gfx9(state);
		int32_t b = tiny_buffer(t, 'A', 64, 1);

		tiny_copy(t, TINY_ALL, b, tile(0), half);
		tiny_wait(t, TINY_ALL, CTR_VM, 0);
		tiny_read(t, TINY_ALL, b, tile(0), half, 0);
		if (lds)
			tiny_read(t, TINY_ALL, b, tile(0), half, 2);
		else
			tiny_smem(t, TINY_ALL, 4);
		tiny_wait(t, TINY_ALL, CTR_LGKM, 1);
		tiny_valu(t, TINY_ALL, 20, 0);
		expect(t, 0, lds ? FAULT_NONE : FAULT_REGISTER);
	}
}

/* A full counter holds the wave back until the oldest is reported. */
static void full_counter(void **state)
{
	struct fixture *f = *state;

	for (unsigned loads = 3; loads < 5; loads++) {
		struct minitarget *m = minitarget_copy(f->m9);
		struct tiny *t;

		m->t.counters[CTR_VM].max = 3;
		t = tiny_new(&m->t, 1, 1);
		for (unsigned i = 0; i < loads; i++)
			tiny_load(t, TINY_ALL, 'A', tile((int)i), 2 * i);
		tiny_valu(t, TINY_ALL, 20, 0);
		expect(t, 0, loads > 3 ? FAULT_NONE : FAULT_REGISTER);
		minitarget_free(m);
	}
}

static void barriers(void **state)
{
	struct tiny *t = gfx9(state);

	tiny_barrier(t, 1);
	expect(t, 0, FAULT_BARRIER);
	t = gfx12(state);
	tiny_signal(t, 1, BAR_WORKGROUP);
	tiny_await(t, TINY_ALL, BAR_WORKGROUP);
	expect(t, 0, FAULT_BARRIER);
	t = gfx12(state);
	tiny_signal(t, TINY_ALL, 3)->members = 2;
	tiny_await(t, TINY_ALL, 3);
	expect(t, 0, FAULT_NONE);
	t = gfx12(state);
	tiny_signal(t, 1, 3)->members = 2;
	tiny_await(t, TINY_ALL, 3);
	expect(t, 0, FAULT_DEADLOCK);
	/* each waits for the other's signal first */
	t = gfx12(state);
	tiny_await(t, 1, 2);
	tiny_signal(t, 1, 1)->members = 1;
	tiny_await(t, 2, 1);
	tiny_signal(t, 2, 2)->members = 1;
	expect(t, 0, FAULT_DEADLOCK);
}

/* The signal is what must stand behind the wait for the copies, not the barrier's other half. */
static void split_barrier(void **state)
{
	for (unsigned late = 0; late < 2; late++) {
		struct tiny *t = gfx12(state);
		int32_t b = tiny_buffer(t, 'A', 64, 1);

		tiny_tdm(t, 1, b, tile(0), whole);
		if (!late)
			tiny_wait(t, 1, CTR_TENSOR, 0);
		tiny_signal(t, TINY_ALL, BAR_WORKGROUP);
		if (late)
			tiny_wait(t, 1, CTR_TENSOR, 0);
		tiny_await(t, TINY_ALL, BAR_WORKGROUP);
		tiny_read(t, 2, b, tile(0), whole, 0);
		expect(t, 0, late ? FAULT_READ : FAULT_NONE);
	}
}

enum { RIGHT, SKIP_LAST, WRONG_PAIR, UNLOADED };

/* Each wave by itself: A and B by load and LDS write, one matrix op a K-step. */
static struct tiny *accumulate(void **state, unsigned how)
{
	struct tiny *t = gfx9(state);
	int32_t a = tiny_buffer(t, 'A', 64, 2), b = tiny_buffer(t, 'B', 64, 2);

	tiny_load(t, TINY_ALL, 'A', tile(0), 8);
	tiny_load(t, TINY_ALL, 'B', tile(0), 10);
	tiny_loop(t, how == SKIP_LAST ? 2 : 3, 1);
	tiny_wait(t, TINY_ALL, CTR_VM, 0);
	tiny_write(t, TINY_ALL, a, k0, half, 8);
	tiny_write(t, TINY_ALL, b, k0, half, 10);
	tiny_load(t, TINY_ALL, 'A', k1, 8);
	tiny_load(t, TINY_ALL, 'B', k1, 10);
	if (how != WRONG_PAIR)
		tiny_read(t, TINY_ALL, b, k0, half, 2);
	tiny_read(t, TINY_ALL, a, k0, half, 0);
	tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
	tiny_mma(t, TINY_ALL, 32, 0, how == UNLOADED ? 6 : 2);
	if (how == WRONG_PAIR)
		tiny_read(t, TINY_ALL, b, k0, half, 2);
	tiny_loop_end(t);
	return t;
}

static void accumulators(void **state)
{
	expect(accumulate(state, RIGHT), 3, FAULT_NONE);
	expect(accumulate(state, SKIP_LAST), 3, FAULT_ACC);
	expect(accumulate(state, WRONG_PAIR), 3, FAULT_UNLOADED);
	expect(accumulate(state, UNLOADED), 3, FAULT_UNLOADED);
}

static void operands(void **state)
{
	struct tiny *t = gfx9(state);
	int32_t a = tiny_buffer(t, 'A', 64, 2);

	tiny_load(t, TINY_ALL, 'A', tile(0), 8);
	tiny_wait(t, TINY_ALL, CTR_VM, 0);
	tiny_write(t, TINY_ALL, a, tile(1), half, 8);
	expect(t, 0, FAULT_OPERAND);
	t = gfx9(state);
	tiny_load(t, TINY_ALL, 'A', tile(0), 0);
	tiny_load(t, TINY_ALL, 'B', tile(1), 2);
	tiny_wait(t, TINY_ALL, CTR_VM, 0);
	tiny_mma(t, TINY_ALL, 32, 0, 2);
	expect(t, 2, FAULT_OPERAND);
}

/*
 * Two groups, one stage apart: the wait of the copies must stand one stage before the read. Three slots,
 * tile k + 2 is copied in the stage that reads tile k.
 */
static struct tiny *pipeline(void **state, bool early, unsigned slots)
{
	struct tiny *t = gfx9(state);
	int32_t b = tiny_buffer(t, 'A', 64, slots);

	tiny_copy(t, TINY_ALL, b, tile(0), half);
	tiny_copy(t, TINY_ALL, b, tile(1), half);
	tiny_wait(t, TINY_ALL, CTR_VM, 1);
	tiny_barrier(t, TINY_ALL);
	tiny_barrier(t, 2);
	tiny_loop(t, 4, 1);
	tiny_barrier(t, TINY_ALL);
	tiny_read(t, TINY_ALL, b, k0, whole, 0);
	tiny_copy(t, TINY_ALL, b, k2, half);
	if (early)
		tiny_wait(t, TINY_ALL, CTR_VM, 1);
	tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
	tiny_barrier(t, TINY_ALL);
	tiny_mma(t, TINY_ALL, 32, 0, 0);
	if (!early)
		tiny_wait(t, TINY_ALL, CTR_VM, 1);
	tiny_loop_end(t);
	tiny_barrier(t, 1);
	return t;
}

static void offset_groups(void **state)
{
	expect(pipeline(state, true, 3), 4, FAULT_NONE);
	expect(pipeline(state, false, 3), 4, FAULT_READ);
}

/* ---- the short search against the plain one ---- */

static void both_searches(void **state)
{
	struct fixture *f = *state;
	const char *s = getenv("WPSIM_RANDOM_COUNT");
	uint64_t n = s && *s ? strtoull(s, NULL, 0) : 400;
	size_t ok = 0, fault = 0, large = 0, wrong = 0;

	for (uint64_t i = 0; i < n; i++) {
		struct tinyrand_options o = { .seed = i + 1000000, .max_ksteps = 3, .max_long = 2, .max_slots = 4,
					      .max_buffers = 1, .two_waves = true };
		struct explore_options full = { .full = true, .max_states = 60000 };
		struct tiny *t = tinyrand_build(i % 3 ? &f->m9->t : &f->m12->t, &o);
		struct explore_result a, b;

		explore(t->p, NULL, &a);
		explore(t->p, &full, &b);
		if (b.verdict == EXPLORE_TOO_LARGE) {
			large++;
		} else if (a.verdict != b.verdict) {
			struct strbuf text = { 0 };

			tiny_print(t->p, &text);
			if (!wrong++)
				fprintf(stderr, "seed %" PRIu64 ": short search: %s %s\n%splain search: %s %s\n%s%s\n", i,
					explore_fault_name(a.fault), a.text ? a.text : "", a.trace ? a.trace : "",
					explore_fault_name(b.fault), b.text ? b.text : "", b.trace ? b.trace : "", text.s);
			strbuf_free(&text);
		} else if (a.verdict == EXPLORE_OK) {
			ok++;
		} else {
			fault++;
		}
		explore_result_free(&a);
		explore_result_free(&b);
		tiny_free(t);
	}
	print_message("%zu right, %zu wrong, %zu too large for the plain search\n", ok, fault, large);
	assert_int_equal(wrong, 0);
	assert_true(ok > n / 20 && fault > n / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies),
		cmocka_unit_test(wait_behind_the_barrier),
		cmocka_unit_test(no_barrier),
		cmocka_unit_test(same_wave),
		cmocka_unit_test(other_wave),
		cmocka_unit_test(refill),
		cmocka_unit_test(wrong_tile),
		cmocka_unit_test(aliases),
		cmocka_unit_test(scalar_loads),
		cmocka_unit_test(full_counter),
		cmocka_unit_test(barriers),
		cmocka_unit_test(split_barrier),
		cmocka_unit_test(accumulators),
		cmocka_unit_test(operands),
		cmocka_unit_test(offset_groups),
		cmocka_unit_test(both_searches),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
