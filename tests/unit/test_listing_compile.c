/*
 * What clang prints for the kernels of tests/compile is read without a finding on every target, and the
 * disassembly of its object file gives the same instructions, registers and code sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "listing.h"

static const char *const sources[] = { "gemm", "softmax", "reduce", "integer", "convert", "copy" };
static char dir[] = "/tmp/wpsim-compile-XXXXXX";

static const char *top(void)
{
	const char *s = getenv("top_srcdir");

	return s ? s : ".";
}

/* Run a shell command; its status is 0 when it did what it should. */
static int run(char *command)
{
	int rc = system(command);

	free(command);
	return rc;
}

static bool have_tools(void)
{
	return run(xstrdup("{ clang-22 --version && llvm-objdump-22 --version; } >/dev/null 2>&1")) == 0;
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return run(xasprintf("rm -rf %s", dir));
}

static int compile(const char *target, const char *name, const char *level)
{
	return run(xasprintf("clang-22 -x c -std=c17 -target amdgcn-amd-amdhsa -nogpulib -ffreestanding -mcpu=%s %s -S -o %s/k.s "
			     "%s/tests/compile/%s.c && clang-22 -x assembler -target amdgcn-amd-amdhsa -mcpu=%s -c -o %s/k.o %s/k.s && "
			     "llvm-objdump-22 -d %s/k.o >%s/k.txt",
			     target, level, dir, top(), name, target, dir, dir, dir, dir));
}

struct parsed {
	struct src *s;
	struct program *p;
	struct listing_info info;
	struct diag d;
};

static void read_listing(struct parsed *x, const struct target *t, const char *file, const char *kernel)
{
	struct listing_options o = { .kernel = kernel };
	char *path = xasprintf("%s/%s", dir, file);

	diag_init(&x->d);
	x->s = src_load(path, &x->d);
	assert_non_null(x->s);
	x->p = listing_parse(x->s, t, &o, &x->info, &x->d);
	diag_print(&x->d, stdout, false);
	assert_non_null(x->p);
	assert_int_equal(x->d.n, 0);
	assert_int_equal(program_validate(x->p, &x->d), 0);
	free(path);
}

static void done(struct parsed *x)
{
	program_free(x->p);
	diag_free(&x->d);
	src_free(x->s);
}

static void same_insn(const struct insn *a, const struct insn *b)
{
	assert_int_equal(a->cls, b->cls);
	assert_string_equal(a->op, b->op);
	assert_int_equal(a->size, b->size); /* the reader's own count against the encoded bytes */
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->counter, b->counter);
	assert_int_equal(a->nspans, b->nspans);
	assert_memory_equal(a->span, b->span, a->nspans * sizeof(a->span[0]));
	assert_memory_equal(a->role, b->role, a->nspans);
	assert_int_equal(a->nwait, b->nwait);
	for (unsigned i = 0; i < a->nwait; i++)
		assert_true(a->wait[i].counter == b->wait[i].counter && a->wait[i].value == b->wait[i].value);
	assert_ptr_equal(a->matrix, b->matrix);
	assert_int_equal(a->bytes, b->bytes);
}

static void check(const struct target *t, const char *name, const char *level)
{
	/* copy.c has two kernels: the second one is chosen by name. */
	const char *kernel = strcmp(name, "copy") ? NULL : "copy";
	struct parsed text, object;

	print_message("# %s %s %s\n", t->name, name, level);
	assert_int_equal(compile(t->name, name, level), 0);
	read_listing(&text, t, "k.s", kernel);
	read_listing(&object, t, "k.txt", kernel);
	assert_string_equal(text.info.kernel, name);
	assert_string_equal(object.info.kernel, name);
	assert_true(text.info.vgpr > 0 && text.info.sgpr > 0 && text.info.workgroup_threads >= 64);
	assert_int_equal(text.p->waves, text.info.workgroup_threads / (unsigned)t->v.wave_size);
	assert_int_equal(text.p->ninsns, object.p->ninsns);
	for (size_t i = 0; i < text.p->ninsns; i++)
		same_insn(&text.p->insns[i], &object.p->insns[i]);
	done(&text);
	done(&object);
}

static void check_target(const char *name)
{
	struct target *t;
	struct diag d;

	if (!have_tools()) {
		print_message("# clang-22 or llvm-objdump-22 is not there\n");
		skip();
	}
	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	assert_non_null(t);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		check(t, sources[i], i % 2 ? "-O2" : "-O3");
	target_free(t);
	diag_free(&d);
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
