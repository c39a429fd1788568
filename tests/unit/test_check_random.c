/* sim/check.c against the exhaustive explorer: random programs, and mutants of right ones. */
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
#include "check.h"
#include "lower.h"

#define DEFAULT_COUNT 6000
#define MAX_SHOWN 5
#define MAX_SHRINK 150 /* instructions; taking larger programs apart would last too long */

struct tally {
	size_t programs, fault, ok, too_large, wrong;
	size_t kind[FAULT_DEADLOCK + 1];
	size_t missed, alarms; /* faults the checker does not see; right programs it complains about */
};

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

/* Straight to stderr: CMocka cuts long texts. */
static void show(const struct program *p, const struct explore_result *x, int rc, const struct diag *d, const char *what)
{
	struct strbuf b = { 0 };

	tiny_print(p, &b);
	fprintf(stderr, "%s: explorer: %s: %s\n%s", what, explore_fault_name(x->fault), x->text ? x->text : "right",
		x->trace ? x->trace : "");
	fprintf(stderr, "checker: returned %d, %zu errors\n", rc, d->errors);
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].severity == SEV_ERROR)
			fprintf(stderr, "\t%s at insn %u: %s\n", diag_code_name(d->list[i].code),
				loc_line(d->list[i].loc) - 1, d->list[i].message);
	fprintf(stderr, "%s\n", b.s);
	strbuf_free(&b);
}

/* The kind of fault that the checker misses, -1: it complains about a right program, 0: both agree or
 * nobody knows. */
static int disagree(const struct program *p)
{
	struct check_result c = { 0 };
	struct explore_result x;
	struct diag d;
	int rc, r = 0;

	explore(p, NULL, &x);
	if (x.verdict != EXPLORE_TOO_LARGE) {
		diag_init(&d);
		rc = check_program(p, &c, &d);
		if (rc != 0 || (d.errors > 0) != (x.verdict == EXPLORE_FAULT))
			r = x.verdict == EXPLORE_FAULT ? (int)x.fault : -1;
		check_result_free(&c);
		diag_free(&d);
	}
	explore_result_free(&x);
	return r;
}

/* Take instructions and trips away while both still disagree in the same way, then show what is left. */
static void shrink_and_show(const struct program *p, const char *what)
{
	int way = disagree(p);
	struct program q = *p;
	struct check_result c = { 0 };
	struct explore_result x;
	struct diag d;
	bool again = true;

	q.insns = xcalloc(p->ninsns, sizeof(*q.insns));
	q.loops = xcalloc(p->nloops + 1, sizeof(*q.loops));
	memcpy(q.insns, p->insns, p->ninsns * sizeof(*q.insns));
	memcpy(q.loops, p->loops, p->nloops * sizeof(*q.loops));
	while (again) {
		again = false;
		for (size_t i = 0; i < q.ninsns; i++) {
			struct insn was = q.insns[i];

			if (was.cls == OPC_NOP || was.cls == OPC_BRANCH || was.cls == OPC_END)
				continue;
			mutate_nop(&q.insns[i]);
			if (disagree(&q) == way)
				again = true;
			else
				q.insns[i] = was;
		}
		for (size_t l = 0; l < q.nloops; l++)
			while (q.loops[l].trips > 1) {
				q.loops[l].trips--;
				q.ksteps -= q.loops[l].steps;
				if (disagree(&q) == way)
					continue;
				q.loops[l].trips++;
				q.ksteps += q.loops[l].steps;
				break;
			}
	}
	explore(&q, NULL, &x);
	diag_init(&d);
	show(&q, &x, check_program(&q, &c, &d), &d, what);
	check_result_free(&c);
	diag_free(&d);
	explore_result_free(&x);
	free(q.insns);
	free(q.loops);
}

/* Both verdicts on p. Returns the explorer's. */
static enum explore_verdict compare(const struct program *p, struct tally *t, const char *what)
{
	struct explore_result x;
	enum explore_verdict v;
	int way;

	explore(p, NULL, &x);
	v = x.verdict;
	t->programs++;
	t->kind[x.fault]++;
	explore_result_free(&x);
	if (v == EXPLORE_TOO_LARGE) {
		t->too_large++;
		return v;
	}
	if (v == EXPLORE_FAULT)
		t->fault++;
	else
		t->ok++;
	way = disagree(p);
	if (way) {
		if (way > 0)
			t->missed++;
		else
			t->alarms++;
		if (++t->wrong > env_number("WPSIM_RANDOM_SHOW", MAX_SHOWN))
			return v;
		if (p->ninsns <= MAX_SHRINK)
			shrink_and_show(p, what);
		else
			fprintf(stderr, "%s: the checker %s\n", what, way > 0 ? "misses a fault" : "raises a false alarm");
	}
	return v;
}

static void report(const struct tally *t, const char *name)
{
	print_message("%s: %zu programs, %zu right, %zu wrong (", name, t->programs, t->ok, t->fault);
	for (unsigned i = 1; i < ARRAY_LEN(t->kind); i++)
		print_message("%s%s %zu", i > 1 ? ", " : "", explore_fault_name((enum explore_fault)i), t->kind[i]);
	print_message("), %zu too large; the checker missed %zu and raised %zu false alarms\n", t->too_large, t->missed,
		      t->alarms);
}

/* The machines of the random programs: two families, with long and with short counters. */
#define MACHINES 4

static void build_machines(struct minitarget *m[MACHINES])
{
	for (unsigned i = 0; i < MACHINES; i++) {
		m[i] = minitarget_build(i % 2 ? "gfx1250" : "gfx942");
		if (i < 2)
			continue;
		for (unsigned c = 0; c < CTR_COUNT; c++)
			m[i]->t.counters[c].max = 4;
	}
}

/* One random program, and small faults put into it one behind the other. */
static void one_seed(uint64_t seed, struct minitarget *const m[MACHINES], struct tally *t)
{
	struct tinyrand_options o = { .seed = seed, .max_ksteps = 8, .max_long = 60, .max_slots = 4,
				      .max_buffers = 3, .edges = true };
	const struct target *target = &m[seed % 3 == 2 ? 1 + 2 * (seed / 3 % 4 == 0) : 2 * (seed / 3 % 4 == 0)]->t;
	struct tiny *tiny = tinyrand_build(target, &o);
	struct mutant mutant[3];
	const struct program *p = tiny->p;
	unsigned n = 0;
	char what[64];

	snprintf(what, sizeof(what), "seed %" PRIu64, seed);
	while (compare(p, t, what) == EXPLORE_OK && n < ARRAY_LEN(mutant)) {
		size_t count = 0, i;

		while (mutate(p, count, &mutant[n])) {
			mutant_free(&mutant[n]);
			count++;
		}
		i = count ? (size_t)(seed * 2654435761u >> 7) % count : 0;
		if (!mutate(p, i, &mutant[n]))
			break;
		p = &mutant[n++].p;
		snprintf(what, sizeof(what), "seed %" PRIu64 " fault %u: %s at %u", seed, n,
			 mutate_kind_name(mutant[n - 1].kind), mutant[n - 1].at);
	}
	while (n)
		mutant_free(&mutant[--n]);
	tiny_free(tiny);
}

static void random_programs(void **state)
{
	uint64_t n = env_number("WPSIM_RANDOM_COUNT", DEFAULT_COUNT), seed = env_number("WPSIM_RANDOM_SEED", 1);
	struct minitarget *m[MACHINES];
	struct tally t = { 0 };

	(void)state;
	build_machines(m);
	while (t.programs < n)
		one_seed(seed++, m, &t);
	report(&t, "random");
	for (unsigned i = 0; i < MACHINES; i++)
		minitarget_free(m[i]);
	assert_int_equal(t.wrong, 0);
	if (n >= DEFAULT_COUNT) {
		assert_true(t.ok > n / 5);
		assert_true(t.fault > n / 5);
		assert_true(t.too_large < n / 100 + 1);
	}
}

/* ---- right pipelines, small, and every small fault in them ---- */

static const struct tiny_range whole = { 0, 64, 0, 0 }, half = { 0, 32, 32, 0 };

static struct tiny_tile k(int at)
{
	return (struct tiny_tile){ TINY_LOOP, at };
}

static struct tiny_tile first(int at)
{
	return (struct tiny_tile){ TINY_FIRST, at };
}

static struct tiny_tile last(int at)
{
	return (struct tiny_tile){ TINY_LAST, at };
}

/* Copies past the registers, one stage of memory work and one of matrix work, the groups a stage apart. */
static struct tiny *direct_copies(const struct target *target, unsigned unroll)
{
	struct tiny *t = tiny_new(target, 2, 2);
	int32_t a = tiny_buffer(t, 'A', 64, 4), b = tiny_buffer(t, 'B', 64, 4);

	for (int i = 0; i < 2; i++) {
		tiny_copy(t, TINY_ALL, a, first(i), half);
		tiny_copy(t, TINY_ALL, b, first(i), half);
	}
	tiny_wait(t, TINY_ALL, CTR_VM, 2);
	tiny_barrier(t, TINY_ALL);
	tiny_barrier(t, 2);
	tiny_loop(t, 6 / unroll, unroll);
	for (int i = 0; i < (int)unroll; i++) {
		tiny_barrier(t, TINY_ALL);
		tiny_read(t, TINY_ALL, a, k(i), whole, 0);
		tiny_read(t, TINY_ALL, b, k(i), whole, 2);
		tiny_copy(t, TINY_ALL, a, k(i + 2), half);
		tiny_copy(t, TINY_ALL, b, k(i + 2), half);
		tiny_wait(t, TINY_ALL, CTR_VM, 2);
		tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
		tiny_barrier(t, TINY_ALL);
		tiny_mma(t, TINY_ALL, 32, 0, 2);
	}
	tiny_loop_end(t);
	tiny_barrier(t, 1);
	tiny_finish(t, 6);
	return t;
}

/* Global loads a trip ahead, LDS writes, one slot more than is read. The last tile is peeled off. */
static struct tiny *load_and_write(const struct target *target, unsigned unroll)
{
	struct tiny *t = tiny_new(target, 2, 2);
	int32_t a = tiny_buffer(t, 'A', 64, 2), b = tiny_buffer(t, 'B', 64, 2);

	tiny_load(t, TINY_ALL, 'A', first(0), 8);
	tiny_load(t, TINY_ALL, 'B', first(0), 10);
	tiny_wait(t, TINY_ALL, CTR_VM, 0);
	tiny_write(t, TINY_ALL, a, first(0), half, 8);
	tiny_write(t, TINY_ALL, b, first(0), half, 10);
	tiny_load(t, TINY_ALL, 'A', first(1), 8);
	tiny_load(t, TINY_ALL, 'B', first(1), 10);
	tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
	tiny_barrier(t, TINY_ALL);
	tiny_barrier(t, 2);
	tiny_loop(t, 4 / unroll, unroll);
	for (int i = 0; i < (int)unroll; i++) {
		tiny_barrier(t, TINY_ALL);
		tiny_read(t, TINY_ALL, a, k(i), whole, 0);
		tiny_read(t, TINY_ALL, b, k(i), whole, 2);
		tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
		tiny_barrier(t, TINY_ALL);
		tiny_mma(t, TINY_ALL, 32, 0, 2);
		tiny_barrier(t, TINY_ALL);
		tiny_wait(t, TINY_ALL, CTR_VM, 1);
		tiny_write(t, TINY_ALL, a, k(i + 1), half, 8);
		tiny_load(t, TINY_ALL, 'A', k(i + 2), 8);
		tiny_wait(t, TINY_ALL, CTR_VM, 1);
		tiny_write(t, TINY_ALL, b, k(i + 1), half, 10);
		tiny_load(t, TINY_ALL, 'B', k(i + 2), 10);
		tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
		tiny_barrier(t, TINY_ALL);
	}
	tiny_loop_end(t);
	tiny_barrier(t, 1);
	tiny_barrier(t, TINY_ALL);
	tiny_read(t, TINY_ALL, a, last(0), whole, 0);
	tiny_read(t, TINY_ALL, b, last(0), whole, 2);
	tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
	tiny_mma(t, TINY_ALL, 32, 0, 2);
	tiny_finish(t, 5);
	return t;
}

/* Tensor copies by group 0 for A and by group 1 for B, split barriers with work between the halves. */
static struct tiny *tensor_copies(const struct target *target, unsigned unroll)
{
	struct tiny *t = tiny_new(target, 2, 2);
	int32_t a = tiny_buffer(t, 'A', 64, 4), b = tiny_buffer(t, 'B', 64, 4);

	for (int i = 0; i < 2; i++) {
		tiny_tdm(t, 1, a, first(i), whole);
		tiny_tdm(t, 2, b, first(i), whole);
	}
	tiny_wait(t, TINY_ALL, CTR_TENSOR, 1);
	tiny_signal(t, TINY_ALL, BAR_WORKGROUP);
	tiny_await(t, TINY_ALL, BAR_WORKGROUP);
	tiny_signal(t, 2, BAR_WORKGROUP);
	tiny_await(t, 2, BAR_WORKGROUP);
	tiny_loop(t, 4 / unroll, unroll);
	for (int i = 0; i < (int)unroll; i++) {
		tiny_tdm(t, 1, a, k(i + 2), whole);
		tiny_tdm(t, 2, b, k(i + 2), whole);
		tiny_wait(t, TINY_ALL, CTR_TENSOR, 2);
		tiny_signal(t, TINY_ALL, BAR_WORKGROUP);
		tiny_await(t, TINY_ALL, BAR_WORKGROUP);
		tiny_read(t, TINY_ALL, a, k(i), whole, 0);
		tiny_read(t, TINY_ALL, b, k(i), whole, 2);
		tiny_wait(t, TINY_ALL, CTR_DS, 0);
		tiny_wait(t, TINY_ALL, CTR_TENSOR, 1);
		tiny_signal(t, TINY_ALL, BAR_WORKGROUP);
		tiny_mma(t, TINY_ALL, 32, 0, 2);
		tiny_await(t, TINY_ALL, BAR_WORKGROUP);
	}
	tiny_loop_end(t);
	tiny_signal(t, 1, BAR_WORKGROUP);
	tiny_await(t, 1, BAR_WORKGROUP);
	tiny_finish(t, 4);
	return t;
}

/* In phase, double buffered, fragments of the next tile read behind the matrix op of this one. */
static struct tiny *in_phase(const struct target *target, unsigned unroll)
{
	struct tiny *t = tiny_new(target, 2, 2);
	int32_t a = tiny_buffer(t, 'A', 64, 3);

	for (int i = 0; i < 2; i++)
		tiny_copy(t, TINY_ALL, a, first(i), half);
	tiny_wait(t, TINY_ALL, CTR_VM, 0);
	tiny_barrier(t, TINY_ALL);
	tiny_read(t, TINY_ALL, a, first(0), whole, 0);
	tiny_loop(t, 4 / unroll, unroll);
	for (int i = 0; i < (int)unroll; i++) {
		tiny_copy(t, TINY_ALL, a, k(i + 2), half);
		tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
		tiny_mma(t, TINY_ALL, 32, 0, 0);
		tiny_read(t, TINY_ALL, a, k(i + 1), whole, 0);
		tiny_wait(t, TINY_ALL, CTR_VM, 0);
		tiny_wait(t, TINY_ALL, CTR_LGKM, 0);
		tiny_barrier(t, TINY_ALL);
	}
	tiny_loop_end(t);
	tiny_mma(t, TINY_ALL, 32, 0, 0);
	tiny_finish(t, 5);
	return t;
}

static void mutants_of(const struct program *p, const char *name, struct tally *t)
{
	struct tally own = { 0 };
	struct mutant m, n;

	assert_int_equal(compare(p, &own, name), EXPLORE_OK);
	for (size_t i = 0; mutate(p, i, &m); i++) {
		char what[128];

		snprintf(what, sizeof(what), "mutant %zu of %s: %s at %u", i, name, mutate_kind_name(m.kind), m.at);
		compare(&m.p, t, what);
		/* and a second fault, a different one each time */
		if (mutate(&m.p, i * 7 % 50, &n)) {
			snprintf(what, sizeof(what), "mutant %zu of %s: %s at %u, then %s at %u", i, name,
				 mutate_kind_name(m.kind), m.at, mutate_kind_name(n.kind), n.at);
			compare(&n.p, t, what);
			mutant_free(&n);
		}
		mutant_free(&m);
	}
	assert_int_equal(own.wrong, 0);
}

static void mutants(void **state)
{
	static struct {
		const char *name;
		struct tiny *(*build)(const struct target *t, unsigned unroll);
		unsigned machine;
	} const list[] = {
		{ "direct copies", direct_copies, 0 },
		{ "load and write", load_and_write, 0 },
		{ "tensor copies", tensor_copies, 1 },
		{ "in phase", in_phase, 0 },
	};
	struct minitarget *m[2] = { minitarget_build("gfx942"), minitarget_build("gfx1250") };
	struct tally t = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		for (unsigned unroll = 1; unroll <= 2; unroll++) {
			struct tiny *tiny = list[i].build(&m[list[i].machine]->t, unroll);

			mutants_of(tiny->p, list[i].name, &t);
			tiny_free(tiny);
		}
	report(&t, "mutants");
	minitarget_free(m[0]);
	minitarget_free(m[1]);
	assert_int_equal(t.wrong, 0);
	assert_true(t.ok > 20 && t.fault > 200);
}

/* ---- the kernels of the tree, their loops cut to few trips ---- */

static struct program *load_kernel(const char *name, struct schedule **s, struct target **target, struct diag *d)
{
	const char *top = getenv("top_srcdir");
	char *path = xasprintf("%s/kernels/%s/schedule.xml", top && *top ? top : ".", name);
	struct src *src = src_load(path, d);

	free(path);
	*target = NULL;
	*s = src ? schedule_parse(src, d) : NULL;
	if (!*s)
		return NULL;
	for (struct sched_section *x = (*s)->sections; x; x = x->next)
		if (x->kind == SECTION_LOOP) {
			if (x->trips > 2)
				x->trips = 2;
			(*s)->k = (int64_t)(*s)->tile_k * (x->peel + 2 * x->unroll);
		}
	*target = target_load((*s)->target_name, (*s)->variant, (*s)->target_loc, d);
	return *target ? lower(*s, *target, d) : NULL;
}

static void kernels(void **state)
{
	static const char *const list[] = { "mi300x-f16-8wave", "mi300x-f16-blockpingpong", "mi355x-fp8-8wave",
					    "mi355x-f16-4wave", "vector-add" };
	struct tally t = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct schedule *s;
		struct target *target;
		struct mutant m;
		struct diag d;
		struct program *p;

		diag_init(&d);
		p = load_kernel(list[i], &s, &target, &d);
		if (!p)
			diag_print(&d, stderr, false);
		assert_non_null(p);
		assert_int_equal(compare(p, &t, list[i]), EXPLORE_OK);
		for (size_t j = i; mutate(p, j, &m); j += 3) {
			char what[128];

			snprintf(what, sizeof(what), "mutant %zu of %s: %s at %u", j, list[i], mutate_kind_name(m.kind), m.at);
			compare(&m.p, &t, what);
			mutant_free(&m);
		}
		program_free(p);
		target_free(target);
		schedule_free(s);
		diag_free(&d);
	}
	report(&t, "kernels");
	assert_int_equal(t.wrong, 0);
	assert_int_equal(t.too_large, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_programs),
		cmocka_unit_test(mutants),
		cmocka_unit_test(kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
