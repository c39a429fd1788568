/*
 * Emitted kernels: the loop is the lowered program instruction by instruction, and the text, read back and run by
 * the executor, computes the product that the reference computes in double precision. Schedules that no kernel
 * can be made of are refused with the reason.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit.h"
#include "exec.h"
#include "lower.h"
#include "schedule.h"
#include "src.h"

struct size {
	int64_t m, n, k;
};

static char *kernel_path(const char *name)
{
	const char *top = getenv("top_srcdir");

	return xasprintf("%s/kernels/%s/schedule.xml", top ? top : ".", name);
}

struct made { /* everything from one schedule */
	struct diag d;
	struct schedule *s;
	struct target *t;
	struct program *p;
	struct kernel_text k;
	bool emitted;
};

static void make_from(struct made *m, struct src *src, const struct size *size, const struct emit_options *o)
{
	memset(m, 0, sizeof(*m));
	diag_init(&m->d);
	assert_non_null(src);
	m->s = schedule_parse(src, &m->d);
	if (!m->s)
		return;
	if (size) {
		m->s->m = size->m;
		m->s->n = size->n;
		m->s->k = size->k;
	}
	m->t = target_load(m->s->target_name, m->s->variant, m->s->target_loc, &m->d);
	if (m->t)
		m->p = lower(m->s, m->t, &m->d);
	m->emitted = m->p && emit_kernel(m->p, o, &m->k, &m->d) == 0;
}

static void make(struct made *m, const char *name, const struct size *size, const struct emit_options *o)
{
	char *path = kernel_path(name);
	struct diag d;

	diag_init(&d);
	make_from(m, src_load(path, &d), size, o);
	diag_free(&d);
	free(path);
	if (!m->emitted)
		diag_print(&m->d, stderr, false);
}

/* The schedule with pieces of its text replaced: from, to, from, to, ..., NULL. */
static void make_changed(struct made *m, const char *name, const char *const *change, const struct size *size)
{
	struct emit_options o = { .stamps = false };
	char *path = kernel_path(name), *text;
	struct diag d;
	struct src *s;

	diag_init(&d);
	s = src_load(path, &d);
	assert_non_null(s);
	text = xstrdup(s->text);
	src_free(s);
	for (; *change; change += 2)
		for (char *at = strstr(text, change[0]); at; ) {
			size_t before = (size_t)(at - text) + strlen(change[1]);
			char *next = xasprintf("%.*s%s%s", (int)(at - text), text, change[1], at + strlen(change[0]));

			free(text);
			text = next;
			at = strstr(text + before, change[0]);
		}
	make_from(m, src_from_text(path, text, strlen(text)), size, &o);
	free(text);
	diag_free(&d);
	free(path);
}

static void unmake(struct made *m)
{
	if (m->emitted)
		kernel_text_free(&m->k);
	program_free(m->p);
	target_free(m->t);
	schedule_free(m->s);
	diag_free(&m->d);
}

/* ---- the loop is the program ---- */

/* Instructions of the text that are not the program's: branches around runs of some waves. */
static bool own(const char *op)
{
	return strncmp(op, "s_cbranch_vcc", 13) == 0 || strcmp(op, "s_cbranch_scc0") == 0 || strcmp(op, "s_bitcmp1_b32") == 0;
}

static bool same_mnemonic(const struct insn *want, const char *op)
{
	size_t n = strcspn(want->op, " "); /* copies: "... lds" */

	if (want->cls == OPC_SALU && want->nspans == 0) /* free scalar work: any scalar instruction */
		return strncmp(op, "s_", 2) == 0;
	return strlen(op) == n && strncmp(op, want->op, n) == 0;
}

static const struct span *has_span(const struct insn *in, const struct span *want)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->span[i].first == want->first && in->span[i].n == want->n)
			return &in->span[i];
	return NULL;
}

static void compare_insn(const struct insn *want, const struct insn *got)
{
	if (!same_mnemonic(want, got->op))
		fail_msg("line of '%s' holds '%s'", want->op, got->op);
	if (want->cls == OPC_WAIT) {
		assert_int_equal(got->nwait, want->nwait);
		for (unsigned i = 0; i < want->nwait; i++) {
			assert_int_equal(got->wait[i].counter, want->wait[i].counter);
			assert_int_equal(got->wait[i].value, want->wait[i].value);
		}
	}
	if (want->cls == OPC_SETPRIO || want->cls == OPC_NOP)
		assert_int_equal(got->imm, want->imm);
	if (want->cls != OPC_MATRIX && want->cls != OPC_LDS_READ && want->cls != OPC_LDS_WRITE && want->cls != OPC_VMEM_LDS &&
	    want->cls != OPC_VMEM_LOAD)
		return;
	for (unsigned i = 0; i < want->nspans; i++)
		if (want->span[i].first < REG_SGPR && !has_span(got, &want->span[i]))
			fail_msg("'%s' does not use register %u, %u of them", want->op, want->span[i].first, want->span[i].n);
}

/* First instruction of the listing whose text stands behind the label. */
static uint32_t insn_behind(const struct program *q, const struct src *text, const char *label)
{
	size_t at = (size_t)(strstr(text->text, label) - text->text);
	uint32_t i = 0;

	while (i < q->ninsns && q->insns[i].loc.begin < at)
		i++;
	return i;
}

static void compare_loops(const struct program *p, const struct program *q, const struct src *text)
{
	for (size_t l = 0; l < p->nloops; l++) {
		char *label = xasprintf("\n.Lloop%zu:", l);
		uint32_t at = insn_behind(q, text, label);

		free(label);
		for (uint32_t i = p->loops[l].begin; i < p->loops[l].end; i++) {
			while (at < q->ninsns && own(q->insns[at].op) && p->insns[i].cls != OPC_BRANCH)
				at++;
			assert_true(at < q->ninsns);
			compare_insn(&p->insns[i], &q->insns[at++]);
		}
	}
}

/* ---- the result ---- */

struct run {
	void *data[EMIT_MAX_ARGS];
	struct exec_buffer buffer[EMIT_MAX_ARGS];
	uint64_t kernarg[EMIT_MAX_ARGS];
	struct exec_launch launch;
};

static void prepare(struct run *r, const struct kernel_text *k)
{
	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < k->nargs; i++) {
		r->data[i] = xcalloc(1, k->arg[i].bytes);
		switch (k->arg[i].kind) {
		case EARG_A: verify_fill(&k->layout, 'A', 11, r->data[i]); break;
		case EARG_B: verify_fill(&k->layout, 'B', 12, r->data[i]); break;
		case EARG_SA: verify_fill(&k->layout, 'S', 13, r->data[i]); break;
		case EARG_SB: verify_fill(&k->layout, 'T', 14, r->data[i]); break;
		case EARG_C: verify_poison(r->data[i], k->arg[i].bytes); break;
		case EARG_GLOBAL:
		case EARG_STAMPS: break;
		}
		r->buffer[i] = (struct exec_buffer){ .data = r->data[i], .bytes = k->arg[i].bytes,
						     .initialised = !k->arg[i].output, .writable = k->arg[i].output };
		r->launch.patch[i].offset = 8 * (unsigned)i;
		r->launch.patch[i].buffer = (unsigned)i;
	}
	memcpy(r->launch.grid, k->grid, sizeof(r->launch.grid));
	memcpy(r->launch.block, k->block, sizeof(r->launch.block));
	memcpy(r->launch.cluster, k->cluster, sizeof(r->launch.cluster));
	r->launch.buffers = r->buffer;
	r->launch.nbuffers = k->nargs;
	r->launch.kernarg = r->kernarg;
	r->launch.kernarg_bytes = 8 * k->nargs;
	r->launch.npatches = k->nargs;
}

static const void *arg_data(const struct run *r, const struct kernel_text *k, enum emit_arg_kind kind)
{
	for (size_t i = 0; i < k->nargs; i++)
		if (k->arg[i].kind == kind)
			return r->data[i];
	return NULL;
}

static void execute(const struct made *m, const struct program *q, const struct listing_info *info, struct diag *d,
		    bool random)
{
	const struct kernel_text *k = &m->k;
	struct exec_options xo = { .order = random ? EXEC_RANDOM : EXEC_ROUND_ROBIN, .seed = 5, .threads = 1 };
	struct exec_result result = { 0 };
	struct verify_result v = { 0 };
	struct run r;
	int rc;

	prepare(&r, k);
	rc = exec_run(q, info, &r.launch, &xo, &result, d);
	diag_print(d, stderr, false);
	assert_int_equal(rc, 0);
	assert_true(k->verifiable);
	verify_product(&k->layout, arg_data(&r, k, EARG_A), arg_data(&r, k, EARG_B), arg_data(&r, k, EARG_SA),
		       arg_data(&r, k, EARG_SB), arg_data(&r, k, EARG_C), 0, k->layout.m, 0, k->layout.n, 1, &v);
	assert_int_equal(v.checked, k->layout.m * k->layout.n);
	if (v.wrong)
		fail_msg("%s: %" PRIu64 " of %" PRIu64 " elements are wrong, the worst at %lld, %lld: %g, not %g", m->p->name, v.wrong,
			 v.checked, (long long)v.row, (long long)v.col, v.got, v.want);
	exec_result_free(&result);
	for (size_t i = 0; i < k->nargs; i++)
		free(r.data[i]);
}

static void check_made(struct made *m, const char *name, bool random)
{
	struct listing_options lo = { .keep_operands = true };
	struct listing_info info;
	struct src *text;
	struct program *q;
	struct diag d;

	if (!m->emitted)
		diag_print(&m->d, stderr, false);
	assert_true(m->emitted);
	diag_init(&d);
	memset(&info, 0, sizeof(info));
	text = src_from_text(name, m->k.text, m->k.len);
	q = listing_parse(text, m->t, &lo, &info, &d);
	diag_print(&d, stderr, false);
	assert_non_null(q);
	assert_string_equal(info.kernel, m->k.kernel);
	assert_int_equal(info.launch.nargs, m->k.nargs);
	compare_loops(m->p, q, text);
	execute(m, q, &info, &d, random);
	program_free(q);
	diag_free(&d);
	src_free(text);
	unmake(m);
}

static void check_kernel(const char *name, int64_t rows, int64_t cols, int64_t k, bool random)
{
	struct emit_options o = { .stamps = false };
	struct size size = { rows, cols, k };
	struct made m;

	make(&m, name, &size, &o);
	check_made(&m, name, random);
}

/* With stamps: the loop is the program still, and the product is right. */
static void check_stamped(const char *name, int64_t rows, int64_t cols, int64_t k)
{
	struct emit_options o = { .stamps = true };
	struct size size = { rows, cols, k };
	struct made m;

	make(&m, name, &size, &o);
	assert_true(m.k.stamps > 2);
	check_made(&m, name, false);
}

static void check_changed(const char *name, const char *const *change, int64_t rows, int64_t cols, int64_t k)
{
	struct size size = { rows, cols, k };
	struct made m;

	make_changed(&m, name, change, &size);
	check_made(&m, name, false);
}

static void test_gfx942(void **state)
{
	(void)state;
	check_kernel("mi300x-f16-8wave", 256, 512, 320, false);
	check_kernel("mi300x-f16-8wave-inphase", 256, 256, 192, true);
	check_kernel("mi300x-f16-blockpingpong", 512, 256, 256, false);
	check_kernel("mi300x-f16-blockpingpong-inphase", 256, 256, 192, true);
	check_kernel("mi300x-f16-4wave", 256, 512, 320, true);
	check_kernel("mi300x-f16-4wave-burst", 256, 256, 256, false);
	check_kernel("mi300x-f16-4wave-reads-woven", 256, 256, 256, false);
}

static void test_gfx950(void **state)
{
	(void)state;
	check_kernel("mi355x-f16-8wave", 512, 256, 512, false);
	check_kernel("mi355x-f16-8wave", 256, 256, 256, true);
	check_kernel("mi355x-f16-8wave-inphase", 256, 256, 384, false);
	check_kernel("mi355x-f16-4wave", 256, 512, 384, false);
	check_kernel("mi355x-fp8-8wave", 256, 512, 768, true);
	check_kernel("mi355x-fp8-8wave-inphase", 256, 256, 768, false);
	check_kernel("mi355x-fp8-4wave", 512, 256, 768, false);
	check_kernel("mi355x-a8w8-8wave", 256, 256, 512, false);
}

static void test_gfx950_scaled(void **state)
{
	(void)state;
	check_kernel("mi355x-fp4-8wave", 256, 512, 4096, true);
	check_kernel("mi355x-fp4-8wave-inphase", 512, 256, 2560, false);
}

static void test_gfx1250(void **state)
{
	(void)state;
	check_kernel("mi450-bf16-8wave", 1024, 1024, 768, true);
	check_kernel("mi450-bf16-8wave-inphase", 1024, 1024, 512, false);
	check_kernel("mi450-mxfp8-8wave", 1024, 1024, 2560, false);
	check_kernel("mi450-mxfp4-8wave", 1024, 1024, 4096, false);
}

/* ---- other schedules than the bundled ones ---- */

#define CHANGE(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_variants(void **state)
{
	(void)state;
	/* registers for addresses beyond the reserve */
	check_changed("mi355x-f16-8wave", CHANGE("<reserve vgpr=\"18\"", "<reserve vgpr=\"0\""), 256, 256, 512);
	/* other output types */
	check_changed("mi355x-f16-8wave", CHANGE("out=\"f16\"", "out=\"f32\""), 256, 256, 256);
	check_changed("mi300x-f16-8wave", CHANGE("out=\"f16\"", "out=\"bf16\"", "v_cvt_f16_f32", "v_mov_b32"), 256, 256, 192);
	/* swizzled copies instead of padded ones */
	check_changed("mi355x-f16-8wave",
		      CHANGE("<pad every=\"1024\" by=\"32\"/>", "<swizzle vec=\"8\" per-phase=\"1\" max-phase=\"8\"/>"), 256, 256, 768);
	/* moves of tensor descriptors that the lowering puts in */
	check_changed("mi450-bf16-8wave", CHANGE("<salu count=\"8\"/>", ""), 1024, 1024, 768);
	/* no cluster, no multicast */
	check_changed("mi450-mxfp8-8wave",
		      CHANGE("<cluster rows=\"4\" cols=\"4\"/>", "", " multicast=\"4\"", "",
			     "<barrier scope=\"cluster\" part=\"signal\" waves=\"4\"/>", "",
			     "<barrier scope=\"cluster\" part=\"wait\"/>", ""), 512, 256, 2560);
}

/* ---- what is refused ---- */

static void expect_refusal(struct made *m, enum diag_code code, const char *words)
{
	bool said = false;

	assert_false(m->emitted);
	for (size_t i = 0; i < m->d.n; i++)
		said |= m->d.list[i].code == code && strstr(m->d.list[i].message, words);
	if (!said) {
		diag_print(&m->d, stderr, false);
		fail_msg("no finding %s with '%s'", diag_code_name(code), words);
	}
	unmake(m);
}

static void test_refusals(void **state)
{
	struct emit_options o = { .stamps = false };
	struct size odd = { 384, 256, 512 }, cluster = { 256, 256, 768 };
	struct made m;

	(void)state;
	make(&m, "mi355x-f16-8wave", &odd, &o);
	expect_refusal(&m, DIAG_SHAPE, "no whole number of tiles");
	make(&m, "mi450-bf16-8wave", &cluster, &o);
	expect_refusal(&m, DIAG_SHAPE, "clusters");
	make_changed(&m, "mi355x-f16-8wave", CHANGE("<reserve vgpr=\"18\"", "<reserve vgpr=\"0\"",
						    "<registers name=\"out_1\" vgpr=\"32\" shares=\"a_top\"/>",
						    "<registers name=\"out_1\" vgpr=\"32\"/>"), NULL);
	expect_refusal(&m, DIAG_REG_CAP, "address register");
	make_changed(&m, "mi355x-f16-8wave", CHANGE("out=\"f16\"", "out=\"fp8\""), NULL);
	expect_refusal(&m, DIAG_SHAPE, "can't be stored");
	make_changed(&m, "mi450-bf16-8wave", CHANGE("<salu count=\"8\"/>", "<salu count=\"3\"/>"), NULL);
	expect_refusal(&m, DIAG_SHAPE, "scalar instructions");
	make_changed(&m, "mi355x-fp4-8wave", CHANGE("<loop unroll=\"6\"", "<loop unroll=\"2\""), NULL);
	expect_refusal(&m, DIAG_SHAPE, "slot");
	make_changed(&m, "mi450-bf16-8wave", CHANGE("<barrier scope=\"cluster\" part=\"wait\"/>", "<barrier id=\"2\"/>"), NULL);
	expect_refusal(&m, DIAG_TARGET, "named barriers");
	make_changed(&m, "mi355x-f16-8wave",
		     CHANGE("<wait groups=\"5\" lgkm=\"8\"/>", "<valu count=\"1\" writes=\"c_tl\"/>"), NULL);
	expect_refusal(&m, DIAG_SHAPE, "what it computes is not known");
}

/* ---- launch and stamps ---- */

static void test_launch(void **state)
{
	struct emit_options o = { .stamps = false, .kernel = "other" };
	struct made m;

	(void)state;
	make(&m, "mi450-mxfp8-8wave", NULL, &o);
	assert_true(m.emitted);
	assert_string_equal(m.k.kernel, "other");
	assert_string_equal(m.k.target, "gfx1250");
	assert_int_equal(m.k.grid[0], 16);
	assert_int_equal(m.k.grid[1], 16);
	assert_int_equal(m.k.block[0], 256);
	assert_int_equal(m.k.cluster[0], 4);
	assert_int_equal(m.k.nargs, 5);
	assert_int_equal(m.k.arg[3].kind, EARG_SA);
	assert_int_equal(m.k.arg[3].bytes, 4096 * 65536 / 32);
	assert_int_equal(m.k.stamps, 0);
	unmake(&m);
}

static void test_stamps(void **state)
{
	struct emit_options o = { .stamps = true };
	struct made m;

	(void)state;
	make(&m, "mi355x-f16-8wave", NULL, &o);
	assert_true(m.emitted);
	assert_int_equal(m.k.nargs, 4);
	assert_int_equal(m.k.arg[3].kind, EARG_STAMPS);
	assert_true(m.k.stamps >= 10); /* the eight stages of a K-step, and the loop's ends */
	assert_int_equal(m.k.arg[3].bytes, 256 * 8 * m.k.stamps * 8);
	assert_string_equal(m.k.stamp_stage[0], "loop-begin");
	assert_string_equal(m.k.stamp_stage[m.k.stamps - 2], "mem.4");
	assert_string_equal(m.k.stamp_stage[m.k.stamps - 1], "loop-end");
	unmake(&m);
	check_stamped("mi450-bf16-8wave", 1024, 1024, 768);
	check_stamped("mi450-mxfp8-8wave", 1024, 1024, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gfx942),        cmocka_unit_test(test_gfx950), cmocka_unit_test(test_gfx950_scaled),
		cmocka_unit_test(test_gfx1250),       cmocka_unit_test(test_variants), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_launch),        cmocka_unit_test(test_stamps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
