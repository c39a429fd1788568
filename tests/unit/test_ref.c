/* sim/engine.c against tests/ref_engine.c on random programs, and with fast-forward against
 * without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../minitarget.h"
#include "../randprog.h"
#include "../ref_engine.h"

#define IDLE_CLK 400000 /* longer than any latency or sleep of a random machine */
#define DEFAULT_COUNT 2000

struct trace {
	struct ref_issue *v;
	size_t n, cap;
};

static void record(void *ctx, const struct engine_event *e)
{
	struct trace *t = ctx;
	t->v = xgrow(t->v, t->n, &t->cap, sizeof(*t->v));
	t->v[t->n++] = (struct ref_issue){
		.clk = e->clk, .start = e->start, .wave = e->wave, .insn = e->insn};
}

/* What the comparisons saw, so that none is empty. */
struct tally {
	size_t issues;
	unsigned deadlocks, steady;
};

/* A wave issues at most once a clk, so that (clk, wave) decides. */
static int by_clk_wave(const void *a, const void *b)
{
	const struct ref_issue *x = a, *y = b;
	if (x->clk != y->clk)
		return x->clk < y->clk ? -1 : 1;
	return x->wave < y->wave ? -1 : x->wave > y->wave;
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);
	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

/* Clk that the issues of a wave account for: a period each, or up to the next one. */
static uint64_t issue_clk(const struct program *p, const struct ref_result *ref, unsigned wave)
{
	uint64_t period = (uint64_t)p->target->v.issue_period, last = UINT64_MAX, sum = 0;
	for (size_t i = 0; i < ref->n; i++) {
		if (ref->issues[i].wave != wave)
			continue;
		uint64_t t = ref->issues[i].clk;
		if (last != UINT64_MAX)
			sum += t - last < period ? t - last : period;
		last = t;
	}
	return sum;
}

static uint64_t overlap(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t lo = a > c ? a : c, hi = b < d ? b : d;
	return lo < hi ? hi - lo : 0;
}

/* Clk that the matrix unit of a SIMD is busy in the steady window, from the reference's starts. */
static uint64_t matrix_clk(const struct program *p, const struct ref_result *ref,
			   const struct stats *st, unsigned simd)
{
	uint64_t sum = 0, end = st->window_begin + st->window_clk;
	for (size_t i = 0; i < ref->n; i++) {
		const struct ref_issue *x = &ref->issues[i];
		const struct matrix_row *row = p->insns[x->insn].matrix;
		if (p->insns[x->insn].cls == OPC_MATRIX &&
		    x->wave % (unsigned)p->target->v.simds == simd)
			sum += overlap(x->start - row->prefix_clk, x->start + row->occupancy_clk,
				       st->window_begin, end);
	}
	return sum;
}

/* The first difference between both runs as text, or NULL. The caller frees it. */
static char *differ(const struct program *p, const struct ref_result *ref, const struct trace *tr,
		    int rc, const struct stats *st, unsigned nwaves)
{
	size_t n = ref->n < tr->n ? ref->n : tr->n;
	for (size_t i = 0; i < n; i++) {
		const struct ref_issue *a = &ref->issues[i], *b = &tr->v[i];
		enum opclass cls = p->insns[a->insn].cls;
		if (a->clk != b->clk || a->wave != b->wave || a->insn != b->insn ||
		    a->start != b->start)
			return xasprintf(
				"issue %zu: reference clk %" PRIu64
				" wave %u insn %u (%s) start %" PRIu64 ", engine clk %" PRIu64
				" wave %u insn %u (%s) start %" PRIu64,
				i, a->clk, a->wave, a->insn, opclass_name(cls), a->start, b->clk,
				b->wave, b->insn, opclass_name(p->insns[b->insn].cls), b->start);
	}
	if (ref->n != tr->n)
		return xasprintf("%zu issues in the reference, %zu in the engine", ref->n, tr->n);
	if (ref->deadlock != (rc != 0))
		return xasprintf("deadlock: reference %d, engine %d", ref->deadlock, rc != 0);
	if (ref->deadlock)
		return NULL;
	if (ref->total_clk != st->total_clk)
		return xasprintf("total: reference %" PRIu64 ", engine %" PRIu64, ref->total_clk,
				 st->total_clk);
	for (unsigned w = 0; w < nwaves; w++) {
		uint64_t sum = 0;
		for (unsigned k = 0; k < ST_COUNT; k++)
			sum += st->wave_clk[w][k];
		if (st->wave_end[w] != ref->wave_end[w] ||
		    sum != st->wave_end[w] - st->wave_start[w])
			return xasprintf("wave %u: end in the reference %" PRIu64
					 ", in the engine %" PRIu64 ", sum of its reasons %" PRIu64,
					 w, ref->wave_end[w], st->wave_end[w], sum);
		if (st->wave_clk[w][ST_ISSUE] != issue_clk(p, ref, w))
			return xasprintf("wave %u: %" PRIu64 " clk of issue, expected %" PRIu64, w,
					 st->wave_clk[w][ST_ISSUE], issue_clk(p, ref, w));
	}
	for (unsigned s = 0; st->steady && s < (unsigned)p->target->v.simds; s++)
		if (st->simd_matrix_clk[s] != matrix_clk(p, ref, st, s))
			return xasprintf("SIMD %u: matrix unit busy for %" PRIu64
					 " clk of the window, expected %" PRIu64,
					 s, st->simd_matrix_clk[s], matrix_clk(p, ref, st, s));
	if (st->prologue_clk + st->loop_clk + st->epilogue_clk != st->total_clk)
		return xasprintf("the parts do not sum to the total");
	return NULL;
}

/* Both engines on one program: NULL when they agree. */
static char *compare(const struct program *p, const struct engine_config *given, struct tally *sum)
{
	struct ref_result ref;
	struct trace tr = {0};
	struct stats st;
	struct diag d;
	struct engine_config cfg = *given;
	cfg.event = record;
	cfg.ctx = &tr;
	cfg.max_clk = (uint64_t)1 << 40;
	diag_init(&d);
	ref_run(p, &cfg, IDLE_CLK, &ref);
	int rc = engine_run(p, &cfg, &st, &d);
	if (ref.n)
		qsort(ref.issues, ref.n, sizeof(*ref.issues), by_clk_wave);
	if (tr.n)
		qsort(tr.v, tr.n, sizeof(*tr.v), by_clk_wave);
	char *text = differ(p, &ref, &tr, rc, &st, p->waves * cfg.resident);
	sum->issues += ref.n;
	sum->deadlocks += ref.deadlock;
	sum->steady += rc == 0 && st.steady;
	ref_result_free(&ref);
	free(tr.v);
	stats_free(&st);
	diag_free(&d);
	return text;
}

static bool control(const struct insn *in)
{
	return in->cls == OPC_BRANCH || in->cls == OPC_END || in->cls == OPC_BARRIER ||
	       in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT;
}

static bool still_differs(struct randprog *rp)
{
	struct tally ignored = {0};
	char *text = compare(&rp->p, &rp->cfg, &ignored);
	bool yes = text != NULL;
	free(text);
	return yes;
}

/* Leave out what the difference does not need: trips, repeats, whole instructions. */
static void shrink(struct randprog *rp)
{
	for (size_t i = 0; i < rp->p.nloops; i++) {
		uint64_t old = rp->p.loops[i].trips;
		rp->p.loops[i].trips = 1;
		if (!still_differs(rp))
			rp->p.loops[i].trips = old;
	}
	for (size_t i = rp->p.ninsns; i-- > 0;) {
		struct insn *in = &rp->p.insns[i], old = *in;
		if (control(in))
			continue;
		in->flags |= INSN_EDGE_ONLY;
		if (still_differs(rp))
			continue;
		*in = old;
		in->repeat = 1;
		if (!still_differs(rp))
			in->repeat = old.repeat;
	}
}

static void print_difference(const struct randprog *rp, const struct minitarget *base)
{
	const struct target_values *a = &base->t.v, *b = &rp->target->t.v;
#define VALUE(field, key, unit, lo, hi)                 \
	if (a->field < b->field || a->field > b->field) \
		print_error("  %s = %g (was %g)\n", key, b->field, a->field);
#include "target.def"
#undef VALUE
	print_error("  clock %g MHz, resident %u, bytes/clk %g, waves %u, groups %u\n",
		    rp->cfg.clock_mhz, rp->cfg.resident, rp->cfg.bytes_per_clk, rp->p.waves,
		    rp->p.groups);
	for (unsigned c = 0; c < CTR_COUNT; c++) {
		const struct counter_row *row = &rp->target->t.counters[c];
		if (row->present)
			print_error("  counter %s: max %u%s\n", counter_name(c), row->max,
				    row->in_order ? ", in order" : "");
	}
	for (size_t i = 0; i < rp->p.ninsns; i++) {
		const struct insn *in = &rp->p.insns[i];
		if (in->flags & INSN_EDGE_ONLY)
			continue;
		const struct class_row *row = &rp->target->t.classes[in->cls];
		print_error(
			"  %zu: %s groups %u repeat %u imm %u barrier %d loop %d (busy %u latency %u hold %u)\n",
			i, opclass_name(in->cls), in->groups, in->repeat, in->imm, in->barrier,
			in->loop, row->busy_clk, row->latency_clk, row->hold_clk);
	}
	program_print(&rp->p, stderr);
}

static void run_one(const struct minitarget *base, uint64_t seed, struct tally *sum)
{
	struct randprog *rp = randprog_new(base, seed);
	struct diag d;
	diag_init(&d);
	if (program_validate(&rp->p, &d)) {
		diag_print(&d, stderr, false);
		fail_msg("%s seed %" PRIu64 ": the random program is not valid", base->t.name,
			 seed);
	}
	diag_free(&d);
	if (seed % 8 == 0) /* long enough for a steady window */
		randprog_lengthen(rp, 6);
	char *text = compare(&rp->p, &rp->cfg, sum);
	if (text) {
		struct tally ignored = {0};
		print_error("%s seed %" PRIu64 ": %s\nshrunk:\n", base->t.name, seed, text);
		free(text);
		shrink(rp);
		text = compare(&rp->p, &rp->cfg, &ignored);
		print_difference(rp, base);
		fail_msg("%s", text ? text : "the difference vanished");
	}
	randprog_free(rp);
}

/* Each target has seeds of its own, or two alike targets would see the same programs. */
static uint64_t first_seed(unsigned target)
{
	return env_number("WPSIM_RANDOM_SEED", 1) + target * (uint64_t)1000000007;
}

static void agree_on(unsigned target)
{
	const char *name = minitarget_names[target];
	struct minitarget *plain = minitarget_build(name), *real = minitarget_load(name);
	uint64_t first = first_seed(target),
		 count = env_number("WPSIM_RANDOM_COUNT", DEFAULT_COUNT);
	struct tally sum = {0};
	for (uint64_t i = 0; i < count; i++)
		run_one(real && i % 2 == 0 ? real : plain, first + i, &sum);
	if (count >= 100)
		assert_true(sum.issues / count > 100 && sum.steady > count / 40);
	assert_int_equal(sum.deadlocks, 0);
	minitarget_free(plain);
	minitarget_free(real);
}

/* Programs with a barrier, signal or wait too few: mostly deadlocks, which both engines must see.
 */

static void break_one(struct randprog *rp, struct rng *r)
{
	size_t n = 0;
	for (size_t i = 0; i < rp->p.ninsns; i++) {
		enum opclass cls = rp->p.insns[i].cls;
		n += cls == OPC_BARRIER || cls == OPC_SIGNAL || cls == OPC_AWAIT;
	}
	for (size_t i = 0, k = n ? rng_below(r, (unsigned)n) : 0; n && i < rp->p.ninsns; i++) {
		struct insn *in = &rp->p.insns[i];
		if ((in->cls != OPC_BARRIER && in->cls != OPC_SIGNAL && in->cls != OPC_AWAIT) ||
		    k-- > 0)
			continue;
		if (in->groups == 3 && rng_chance(r, 60))
			in->groups = (uint8_t)rng_range(r, 1, 2);
		else
			in->flags |= INSN_EDGE_ONLY;
		return;
	}
}

static void broken_on(unsigned target)
{
	struct minitarget *plain = minitarget_build(minitarget_names[target]);
	uint64_t count = env_number("WPSIM_RANDOM_COUNT", DEFAULT_COUNT) / 20;
	struct tally sum = {0};
	for (uint64_t i = 0; i < count; i++) {
		uint64_t seed = first_seed(target) + i;
		struct randprog *rp = randprog_new(plain, seed);
		struct rng r = {.state = seed};
		break_one(rp, &r);
		char *text = compare(&rp->p, &rp->cfg, &sum);
		if (text) {
			shrink(rp);
			print_difference(rp, plain);
			fail_msg("%s seed %" PRIu64 ", broken: %s", plain->t.name, seed, text);
		}
		randprog_free(rp);
	}
	/* at plain barriers an END lets the others go, so that only signals can miss */
	if (count >= 50 && plain->t.v.barrier_split == 1)
		assert_true(sum.deadlocks > count / 20 && sum.deadlocks < count);
	minitarget_free(plain);
}

/* Fast-forward */

static void run_engine(const struct randprog *rp, bool slow, struct stats *st)
{
	struct engine_config cfg = rp->cfg;
	struct diag d;
	diag_init(&d);
	cfg.no_fast_forward = slow;
	assert_int_equal(engine_run(&rp->p, &cfg, st, &d), 0);
	diag_free(&d);
}

/* The steady window: what the report is made of. */
static bool same_window(const struct stats *a, const struct stats *b)
{
	size_t n = a->nstages * a->groups;
	return a->steady == b->steady && a->window_clk == b->window_clk &&
	       a->window_trips == b->window_trips && a->window_steps == b->window_steps &&
	       a->estimate_clk == b->estimate_clk && a->wave_window_clk == b->wave_window_clk &&
	       a->nstages == b->nstages && a->groups == b->groups &&
	       !memcmp(a->simd_matrix_clk, b->simd_matrix_clk, sizeof(a->simd_matrix_clk)) &&
	       !memcmp(a->simd_lost, b->simd_lost, sizeof(a->simd_lost)) &&
	       (n == 0 || !memcmp(a->stages, b->stages, n * sizeof(*a->stages)));
}

/* Busy and lost clk of each matrix unit fill the window. */
static bool window_full(const struct stats *st, unsigned simds)
{
	for (unsigned s = 0; st->steady && s < simds; s++) {
		uint64_t sum = st->simd_matrix_clk[s];
		for (unsigned k = 0; k < ST_COUNT; k++)
			sum += st->simd_lost[s][k];
		if (sum != st->window_clk)
			return false;
	}
	return true;
}

static bool same_ends(const struct stats *a, const struct stats *b)
{
	return a->total_clk == b->total_clk && a->insns == b->insns &&
	       a->prologue_clk == b->prologue_clk && a->loop_clk == b->loop_clk &&
	       a->epilogue_clk == b->epilogue_clk &&
	       !memcmp(a->wave_end, b->wave_end, sizeof(a->wave_end)) &&
	       !memcmp(a->wave_clk, b->wave_clk, sizeof(a->wave_clk));
}

static void forward_on(unsigned target)
{
	const char *name = minitarget_names[target];
	struct minitarget *plain = minitarget_build(name), *real = minitarget_load(name);
	uint64_t first = first_seed(target),
		 count = env_number("WPSIM_RANDOM_COUNT", DEFAULT_COUNT);
	uint64_t skipped = 0;
	for (uint64_t i = 0; i < count / 4; i++) {
		struct randprog *rp = randprog_new(real && i % 2 == 0 ? real : plain, first + i);
		struct stats fast, slow;
		unsigned factor = i % 64 == 63 ? 700 : 5 + (unsigned)(i % 60);
		randprog_lengthen(rp, factor);
		run_engine(rp, false, &fast);
		run_engine(rp, true, &slow);
		if (!same_ends(&fast, &slow) || !same_window(&fast, &slow)) {
			print_difference(rp, real && i % 2 == 0 ? real : plain);
			fail_msg("%s seed %" PRIu64 " lengthened %u: %" PRIu64
				 " clk with fast-forward, %" PRIu64 " without",
				 name, first + i, factor, fast.total_clk, slow.total_clk);
		}
		assert_true(slow.insns_stepped == slow.insns);
		assert_true(window_full(&fast, (unsigned)rp->target->t.v.simds));
		skipped += fast.insns_stepped < fast.insns;
		stats_free(&fast);
		stats_free(&slow);
		randprog_free(rp);
	}
	if (count >= 400) /* else the test would say nothing */
		assert_true(skipped > count / 40);
	minitarget_free(plain);
	minitarget_free(real);
}

static void test_agree_gfx942(void **state)
{
	(void)state;
	agree_on(0);
}

static void test_agree_gfx950(void **state)
{
	(void)state;
	agree_on(1);
}

static void test_agree_gfx1250(void **state)
{
	(void)state;
	agree_on(2);
}

static void test_broken(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MINITARGET_COUNT; i++)
		broken_on(i);
}

static void test_forward(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MINITARGET_COUNT; i++)
		forward_on(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agree_gfx942),  cmocka_unit_test(test_agree_gfx950),
		cmocka_unit_test(test_agree_gfx1250), cmocka_unit_test(test_broken),
		cmocka_unit_test(test_forward),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
