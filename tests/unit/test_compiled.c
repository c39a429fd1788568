/*
 * The kernels of tests/compile as clang compiles them, run by the executor, give what the same computation in
 * plain C gives. The line "launch:" of each file says how it is run; tests/compile/kernel.h explains it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernels.h"

static int setup(void **state)
{
	(void)state;
	kernels_open();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kernels_close();
	return 0;
}

static struct program *read_kernel(const char *name, const struct target *t, struct src **s, struct listing_info *info, struct diag *d)
{
	struct listing_options o = { .kernel = name, .keep_operands = true };
	char *file = xasprintf("%s.s", name);

	*s = kernels_load(file);
	free(file);
	return listing_parse(*s, t, &o, info, d);
}

/* Waves in turn, and in an order by chance; 0 when everything agrees both times. */
static int check(const struct target *t, const char *name, kernel_host *host, uint64_t *insns)
{
	static const enum exec_order orders[] = { EXEC_ROUND_ROBIN, EXEC_RANDOM };
	struct kernel_run r;
	struct listing_info info;
	struct program *p;
	struct src *s;
	struct diag d;
	size_t bad = 0;
	int rc;

	diag_init(&d);
	kernel_prepare(&r, name);
	kernel_reference(&r, host);
	p = read_kernel(name, t, &s, &info, &d);
	rc = p ? 0 : -1;
	for (size_t k = 0; k < ARRAY_LEN(orders) && rc == 0 && !bad; k++) {
		struct exec_options o = { .order = orders[k], .seed = 7, .threads = 1 };

		rc = kernel_execute(&r, p, &info, &o, insns, &d);
		bad = rc == 0 ? kernel_compare(&r, false) : 0;
	}
	if (rc != 0 || bad) {
		print_message("# %s on %s: %zu wrong\n", name, t->name, bad);
		diag_print(&d, stdout, false);
	}
	kernel_free(&r);
	program_free(p);
	diag_free(&d);
	src_free(s);
	return rc != 0 || bad ? -1 : 0;
}

static void check_target(const char *name)
{
	struct kernels_host h;
	struct target *t;
	struct diag d;
	uint64_t insns = 0;
	size_t failed = 0;

	if (!kernels_have_clang())
		skip();
	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	assert_non_null(t);
	kernels_compile(name, "-O3");
	kernels_host_open(&h, name);
	for (size_t i = 0; i < nkernels; i++)
		failed += check(t, kernel_name[i], h.fn[i], &insns) != 0;
	print_message("# %s: %zu kernels, %zu failed, %llu wave instructions\n", name, nkernels, failed, (unsigned long long)insns);
	kernels_host_close(&h);
	target_free(t);
	diag_free(&d);
	assert_int_equal(failed, 0);
}

static void gfx942(void **state)
{
	(void)state;
	check_target("gfx942");
}

static void gfx950(void **state)
{
	(void)state;
	check_target("gfx950");
}

static void gfx1250(void **state)
{
	(void)state;
	check_target("gfx1250");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(gfx942), cmocka_unit_test(gfx950), cmocka_unit_test(gfx1250) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
