/*
 * Listings followed wave by wave: emitted kernels are clean, show their schedule's offset and clk, and what becomes of
 * them when a wait or a barrier is left out is judged alike by the checker and by the executor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "check.h"
#include "emit.h"
#include "exec.h"
#include "flow.h"
#include "lower.h"
#include "paths.h"
#include "predict.h"
#include "src.h"

#define STEP 6 /* every so many mutants are tried */

struct kernel {
	struct diag d;
	struct schedule *s;
	struct target *t;
	struct program *p; /* as lowered */
	struct kernel_text text;
};

static void load(struct kernel *k, const char *name, unsigned ksteps)
{
	struct emit_options eo = { 0 };
	char path[512];

	memset(k, 0, sizeof(*k));
	diag_init(&k->d);
	snprintf(path, sizeof(path), "%s/kernels/%s/schedule.xml", getenv("top_srcdir") ? getenv("top_srcdir") : ".", name);
	k->s = schedule_parse(src_load(path, &k->d), &k->d);
	assert_non_null(k->s);
	if (ksteps) {
		k->s->m = k->s->tile_m;
		k->s->n = k->s->tile_n;
		k->s->k = (int64_t)k->s->tile_k * ksteps;
		k->s->workgroups = 1;
	}
	k->t = target_load(k->s->target_name, k->s->variant, (struct loc){ 0 }, &k->d);
	assert_non_null(k->t);
	k->p = lower(k->s, k->t, &k->d);
	if (!k->p)
		diag_print(&k->d, stderr, false);
	assert_non_null(k->p);
	assert_int_equal(emit_kernel(k->p, &eo, &k->text, &k->d), 0);
}

static void unload(struct kernel *k)
{
	kernel_text_free(&k->text);
	program_free(k->p);
	schedule_free(k->s);
	target_free(k->t);
	diag_free(&k->d);
}

/* The text without its line number line (from 1; 0: all of it). */
static struct src *without_line(const struct kernel *k, unsigned line)
{
	char *copy = malloc(k->text.len + 1), *at = copy;

	memcpy(copy, k->text.text, k->text.len + 1);
	for (unsigned i = 1; line && i < line; i++)
		at = strchr(at, '\n') + 1;
	while (line && *at != '\n')
		*at++ = ' ';
	struct src *s = src_from_text("kernel.s", copy, k->text.len);

	free(copy);
	return s;
}

struct verdict {
	bool checked, executed; /* a fault was found */
	char what[200];         /* first words of either */
};

static void first_words(struct verdict *v, const struct diag *d)
{
	if (d->n && !v->what[0])
		snprintf(v->what, sizeof(v->what), "%.190s", d->list[0].message);
}

static bool faulty(const struct diag *d)
{
	return d->errors > 0;
}

static void check_text(const struct program *p, const struct listing_info *info, struct verdict *v)
{
	struct flow_result needs = { 0 };
	struct check_result r = { 0 };
	struct paths paths;
	struct diag d;

	diag_init(&d);
	paths_follow(p, info, (unsigned[3]){ 0 }, 0, NULL, NULL, &paths);
	if (paths.gave_up) {
		v->checked = true; /* it can't go on, as a wave that waits for ever */
		snprintf(v->what, sizeof(v->what), "%.190s", paths.gave_up);
	} else {
		assert_int_equal(check_followed(&paths.program, &paths.check, &r, &d), 0);
		check_result_free(&r);
		v->checked = faulty(&d);
		assert_int_equal(flow_waits(p, &needs), 0);
		for (size_t i = 0; i < needs.n; i++) /* copies and reads at known places are the other check's */
			v->checked |= p->insns[needs.needs[i].because].cls != OPC_VMEM_LDS;
		flow_result_free(&needs);
	}
	first_words(v, &d);
	paths_free(&paths);
	diag_free(&d);
}

static void execute_text(const struct kernel *k, const struct program *p, const struct listing_info *info, struct verdict *v)
{
	struct exec_buffer buffers[EMIT_MAX_ARGS];
	uint64_t kernarg[EMIT_MAX_ARGS] = { 0 };
	struct exec_launch l = { .buffers = buffers, .nbuffers = k->text.nargs, .kernarg = kernarg };
	struct exec_options o = { .threads = 1, .max_insns = 20000000 };
	struct exec_result r = { 0 };
	struct diag d;

	diag_init(&d);
	memset(buffers, 0, sizeof(buffers));
	for (size_t i = 0; i < k->text.nargs; i++) {
		buffers[i] = (struct exec_buffer){ .data = calloc(1, k->text.arg[i].bytes), .bytes = k->text.arg[i].bytes,
						   .initialised = !k->text.arg[i].output, .writable = true };
		l.patch[i].offset = (unsigned)(8 * i);
		l.patch[i].buffer = (unsigned)i;
	}
	l.npatches = k->text.nargs;
	l.kernarg_bytes = 8 * k->text.nargs;
	memcpy(l.grid, k->text.grid, sizeof(l.grid));
	memcpy(l.block, k->text.block, sizeof(l.block));
	exec_run(p, info, &l, &o, &r, &d);
	v->executed = faulty(&d);
	first_words(v, &d);
	exec_result_free(&r);
	for (size_t i = 0; i < k->text.nargs; i++)
		free(buffers[i].data);
	diag_free(&d);
}

static struct verdict judge(const struct kernel *k, unsigned without)
{
	struct listing_options lo = { .keep_operands = true };
	struct src *s = without_line(k, without);
	struct listing_info info;
	struct verdict v = { 0 };
	struct program *p;
	struct diag d;

	diag_init(&d);
	p = listing_parse(s, k->t, &lo, &info, &d);
	if (!p)
		diag_print(&d, stderr, false);
	assert_non_null(p);
	check_text(p, &info, &v);
	execute_text(k, p, &info, &v);
	program_free(p);
	diag_free(&d);
	src_free(s);
	return v;
}

/* Is this line of the text a wait or a barrier? */
static bool orders(const char *line)
{
	line += strspn(line, " \t");
	return !strncmp(line, "s_waitcnt", 9) || !strncmp(line, "s_barrier", 9) || !strncmp(line, "s_wait_", 7);
}

static void compare_mutants(const char *name, unsigned ksteps)
{
	unsigned line = 1, seen = 0, tried = 0, bad = 0, differ = 0;
	struct kernel k;
	struct verdict whole;

	load(&k, name, ksteps);
	whole = judge(&k, 0);
	if (whole.checked || whole.executed)
		print_error("%s: %s\n", name, whole.what);
	assert_false(whole.checked);
	assert_false(whole.executed);
	for (const char *at = k.text.text; *at; at = strchr(at, '\n') + 1, line++) {
		struct verdict v;

		if (!orders(at) || seen++ % STEP)
			continue;
		v = judge(&k, line);
		tried++;
		bad += v.checked;
		if (v.checked != v.executed) {
			differ++;
			print_error("%s without line %u: checker %s, executor %s: %s\n", name, line, v.checked ? "faulty" : "right",
				    v.executed ? "faulty" : "right", v.what);
		}
	}
	print_message("%s: %u of %u waits and barriers left out, %u faulty, %u judged differently\n", name, tried, seen, bad, differ);
	assert_true(tried > 5);
	assert_true(bad > 0);
	assert_int_equal(differ, 0);
	unload(&k);
}

static void test_gfx950(void **state)
{
	(void)state;
	compare_mutants("mi355x-f16-8wave", 8);
}

static void test_gfx942(void **state)
{
	(void)state;
	compare_mutants("mi300x-f16-8wave", 6);
}

static void test_written_offset(void **state)
{
	(void)state;
	compare_mutants("mi355x-fp8-8wave", 8);
}

/* The emitted text takes the clk that the schedule takes, with the offset found from the text alone. */
static void compare_clk(const char *name, unsigned offset)
{
	struct listing_options lo = { .keep_operands = true };
	struct annotate_options ao = { 0 };
	struct prediction pr;
	struct annotation a;
	struct listing_info info;
	struct paths paths;
	struct program *p;
	struct kernel k;
	struct src *s;

	load(&k, name, 0);
	s = without_line(&k, 0);
	p = listing_parse(s, k.t, &lo, &info, &k.d);
	assert_non_null(p);
	paths_follow(p, &info, (unsigned[3]){ 0 }, 0, NULL, NULL, &paths);
	assert_null(paths.gave_up);
	assert_int_equal(paths.offset, offset);
	ao.paths = &paths;
	assert_int_equal(annotate(p, &ao, &a, &k.d), 0);
	assert_int_equal(predict(k.p, NULL, false, &pr, &k.d), 0);
	assert_true(a.steady);
	assert_float_equal(a.trip_clk,
			   (double)pr.stats.window_clk / (double)pr.stats.window_steps * k.p->loops[k.p->main_loop[0]].steps, 0.005);
	prediction_free(&pr);
	annotation_free(&a);
	paths_free(&paths);
	program_free(p);
	src_free(s);
	unload(&k);
}

static void test_clk(void **state)
{
	(void)state;
	compare_clk("mi355x-f16-8wave", 1);
	compare_clk("mi300x-f16-8wave", 1);
	compare_clk("mi300x-f16-8wave-inphase", 0);
	compare_clk("mi355x-fp8-8wave", 1);
	compare_clk("mi300x-f16-4wave", 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx950),
		cmocka_unit_test(test_gfx942),
		cmocka_unit_test(test_written_offset),
		cmocka_unit_test(test_clk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
