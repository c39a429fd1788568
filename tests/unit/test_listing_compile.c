/*
 * What clang prints for the kernels of tests/compile: read without a finding on every target, its disassembly
 * gives the same instructions, the checks of wait states and waits are silent; and when a wait or nop that the
 * compiler put in is taken out or loosened, they speak, or the executor finds nothing wrong in the registers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "flow.h"
#include "kernels.h"
#include "paths.h"

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

struct parsed {
	struct src *s;
	struct program *p;
	struct listing_info info;
	struct diag d;
};

static void parse(struct parsed *x, const struct target *t, struct src *s, const char *kernel, bool operands)
{
	struct listing_options o = { .kernel = kernel, .keep_operands = operands };

	diag_init(&x->d);
	x->s = s;
	x->p = listing_parse(x->s, t, &o, &x->info, &x->d);
	diag_print(&x->d, stdout, false);
	assert_non_null(x->p);
	assert_int_equal(x->d.n, 0);
	assert_int_equal(program_validate(x->p, &x->d), 0);
}

static void done(struct parsed *x)
{
	program_free(x->p);
	diag_free(&x->d);
	src_free(x->s);
}

static struct src *load(const char *name, const char *ending)
{
	char *file = xasprintf("%s.%s", name, ending);
	struct src *s = kernels_load(file);

	free(file);
	return s;
}

/* ---- text and disassembly ---- */

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

static void check_object(const struct target *t, const char *name, const struct parsed *text)
{
	struct parsed object;

	parse(&object, t, load(name, "txt"), name, false);
	assert_string_equal(text->info.kernel, name);
	assert_string_equal(object.info.kernel, name);
	assert_true(text->info.vgpr > 0 && text->info.sgpr > 0 && text->info.workgroup_threads >= 64);
	assert_int_equal(text->p->waves, text->info.workgroup_threads / (unsigned)t->v.wave_size);
	if (text->p->ninsns != object.p->ninsns)
		print_message("# %s\n", name);
	assert_int_equal(text->p->ninsns, object.p->ninsns);
	for (size_t i = 0; i < text->p->ninsns; i++)
		same_insn(&text->p->insns[i], &object.p->insns[i]);
	done(&object);
}

/* ---- findings ---- */

static size_t needs(const struct program *p)
{
	struct flow_result spacing = { 0 }, waits = { 0 };
	size_t n;

	assert_int_equal(flow_spacing(p, &spacing), 0);
	assert_int_equal(flow_waits(p, &waits), 0);
	n = spacing.n + waits.n;
	flow_result_free(&spacing);
	flow_result_free(&waits);
	return n;
}

static void silent(const struct target *t, const char *name, const struct parsed *x)
{
	struct flow_result r = { 0 };
	struct diag d;

	if (!needs(x->p))
		return;
	print_message("# %s on %s: false findings\n", name, t->name);
	diag_init(&d);
	flow_spacing(x->p, &r);
	flow_report(x->p, &r, &d);
	flow_result_free(&r);
	flow_waits(x->p, &r);
	flow_report(x->p, &r, &d);
	flow_result_free(&r);
	diag_print(&d, stdout, false);
	diag_free(&d);
	fail();
}

/* ---- mutants: one wait or nop gone or looser ---- */

struct counts {
	unsigned nops, waits;           /* mutants */
	unsigned waves, other, missed;  /* waits that no register needs: data of other waves does; nothing seen does; found by running only */
	unsigned waves_found, alarms;   /* of these: the followed check finds it; of the others: it complains */
	unsigned replay, nops_missed;   /* replay: between two memory operations, for replay after failed translations */
};

/* Copy of the text with [begin, end) as blanks, or with the number that ends at end one higher. */
static struct src *mutant(const struct src *s, uint32_t begin, uint32_t end, bool gone)
{
	struct strbuf b = { 0 };
	struct src *m;
	uint32_t at = end;
	int base;

	if (gone) {
		strbuf_addn(&b, s->text, begin);
		strbuf_add(&b, "%*s", (int)(end - begin), "");
	} else {
		while (at > begin && strchr("0123456789abcdefx", s->text[at - 1]))
			at--;
		base = s->text[at + 1] == 'x' ? 16 : 10;
		strbuf_addn(&b, s->text, at);
		strbuf_add(&b, base == 16 ? "0x%lx" : "%ld", strtol(s->text + at, NULL, base) + 1);
	}
	strbuf_addn(&b, s->text + end, s->len - end);
	m = src_from_text(s->path, b.s, b.len);
	strbuf_free(&b);
	return m;
}

/* What running the mutant shows. */
enum shown { CLEAN, REGISTERS, WAVES };

/* Does following the waves, arguments unknown, show a fault? */
static bool followed(const struct parsed *x, const char *name)
{
	struct check_result r = { 0 };
	struct kernel_run k;
	struct paths paths;
	struct diag d;
	bool found = false;

	diag_init(&d);
	kernel_prepare(&k, name);
	paths_follow(x->p, &x->info, k.block, 0, NULL, NULL, &paths);
	if (!paths.gave_up && check_followed(&paths.program, &paths.check, &r, &d) == 0)
		found = d.errors > 0;
	check_result_free(&r);
	paths_free(&paths);
	kernel_free(&k);
	diag_free(&d);
	return found;
}

static enum shown run_mutant(const struct parsed *x, const char *name, kernel_host *host)
{
	struct exec_options o = { .threads = 1 };
	struct kernel_run r;
	enum shown shown = CLEAN;
	uint64_t insns = 0;
	struct diag d;

	diag_init(&d);
	kernel_prepare(&r, name);
	kernel_reference(&r, host);
	if (kernel_execute(&r, x->p, &x->info, &o, &insns, &d) != 0)
		shown = diag_has(&d, DIAG_POISON) ? REGISTERS : WAVES;
	else if (kernel_compare(&r, true))
		shown = WAVES;
	kernel_free(&r);
	diag_free(&d);
	return shown;
}

static void judge(const struct target *t, const char *name, struct src *text, bool nop, kernel_host *host, uint32_t place,
		  struct counts *c)
{
	struct parsed x;
	enum shown shown;

	parse(&x, t, text, name, true);
	*(nop ? &c->nops : &c->waits) += 1;
	if (!needs(x.p)) {
		shown = nop ? REGISTERS : run_mutant(&x, name, host);
		c->nops_missed += nop;
		c->missed += !nop && shown == REGISTERS;
		c->waves += shown == WAVES;
		c->other += shown == CLEAN;
		c->waves_found += shown == WAVES && followed(&x, name);
		c->alarms += shown == CLEAN && !nop && followed(&x, name);
		if (shown == REGISTERS) {
			unsigned line, col;

			src_line_col(x.s, place, &line, &col);
			print_message("# %s on %s, line %u: not found: %.*s\n", name, t->name, line,
				      (int)strcspn(x.s->text + x.s->line_start[line - 1], "\n"), x.s->text + x.s->line_start[line - 1]);
		}
	}
	done(&x);
}

static bool digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

static bool is_memory(const struct insn *in)
{
	return in->cls == OPC_VMEM_LOAD || in->cls == OPC_VMEM_STORE || in->cls == OPC_SMEM;
}

static void mutate(const struct target *t, const char *name, const struct parsed *x, kernel_host *host, struct counts *c)
{
	const char *text = x->s->text;

	for (size_t i = 0; i < x->p->ninsns; i++) {
		const struct insn *in = &x->p->insns[i];
		bool nop = !strcmp(in->op, "s_nop") || !strcmp(in->op, "v_nop");

		if ((in->cls != OPC_WAIT && !nop) || in->flags & INSN_IMPLIED)
			continue;
		if (nop && i && i + 1 < x->p->ninsns && is_memory(in - 1) && is_memory(in + 1)) {
			c->replay++;
			continue;
		}
		judge(t, name, mutant(x->s, in->loc.begin, in->loc.end, true), nop, host, in->loc.begin, c);
		if (nop)
			continue;
		for (uint32_t k = in->loc.begin; k < in->loc.end; k++) {
			/* A number: of a counter in brackets, or the operand. */
			if (!digit(text[k]) || !strchr(" (", text[k - 1]))
				continue;
			uint32_t end = k;

			while (end < in->loc.end && strchr("0123456789abcdefx", text[end]))
				end++;
			judge(t, name, mutant(x->s, in->loc.begin, end, false), false, host, in->loc.begin, c);
			k = end;
		}
	}
}

/* ---- all of it for a target ---- */

static void disassemble(const char *target)
{
	assert_int_equal(kernels_run(xasprintf("cd %s && for f in *.s; do clang-22 -x assembler -target amdgcn-amd-amdhsa -mcpu=%s -c -o k.o $f && "
					       "llvm-objdump-22 -d k.o >${f%%.s}.txt || exit; done", kernels_dir(), target)), 0);
}

static void check_target(const char *name)
{
	bool objects = kernels_run(xstrdup("llvm-objdump-22 --version >/dev/null 2>&1")) == 0;
	struct kernels_host h;
	struct counts c = { 0 };
	struct target *t;
	struct parsed x;
	struct diag d;

	if (!kernels_have_clang())
		skip();
	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	assert_non_null(t);
	kernels_compile(name, "-O3");
	kernels_host_open(&h, name);
	for (size_t i = 0; i < nkernels; i++) {
		parse(&x, t, load(kernel_name[i], "s"), kernel_name[i], false);
		silent(t, kernel_name[i], &x);
		mutate(t, kernel_name[i], &x, h.fn[i], &c);
		done(&x);
	}
	kernels_host_close(&h);
	print_message("# %s: %u waits gone or looser, %u of them only order data between waves (%u found by following them), %u do nothing for "
		      "this launch (%u complained about), %u missed; %u nops gone, %u missed, %u others for replay\n",
		      name, c.waits, c.waves, c.waves_found, c.other, c.alarms, c.missed, c.nops, c.nops_missed, c.replay);
	kernels_compile(name, "-O2");
	if (objects)
		disassemble(name);
	for (size_t i = 0; i < nkernels; i++) {
		parse(&x, t, load(kernel_name[i], "s"), kernel_name[i], false);
		silent(t, kernel_name[i], &x);
		if (objects)
			check_object(t, kernel_name[i], &x);
		done(&x);
	}
	target_free(t);
	diag_free(&d);
	assert_int_equal(c.missed + c.nops_missed, 0);
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
