/* The emitted PTX, executed by an interpreter of its own (tests/ptx_exec.c), computes the product. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>
#include <math.h>

#include "emit.h"
#include "lower.h"
#include "numfmt.h"
#include "src.h"
#include "../ptx_exec.h"

struct job {
	struct schedule *s;
	struct target *t;
	struct program *p;
	struct kernel_text k;
	struct diag d;
	int rc;
};

/* The value of the attribute that begins with text, behind from. */
static unsigned long number_behind(const char *from, const char *text)
{
	const char *at = strstr(from, text);

	assert_non_null(at);
	return strtoul(at + strlen(text), NULL, 10);
}

static void replace_number(struct strbuf *s, const char *attr, unsigned long value)
{
	char *from = strstr(s->s, attr) + strlen(attr), *rest = xstrdup(strchr(from, '"'));

	s->len = (size_t)(from - s->s);
	s->s[s->len] = '\0';
	strbuf_add(s, "%lu%s", value, rest);
	free(rest);
}

/* The same schedule for tiles_m x tiles_n tiles and two trips. */
static char *shrink(const char *text, unsigned tiles_m, unsigned tiles_n)
{
	const char *tile = strstr(text, "<tile"), *loop = strstr(text, "<loop");
	unsigned long m = number_behind(tile, " m=\""), n = number_behind(tile, " n=\""), k = number_behind(tile, " k=\"");
	unsigned long steps = number_behind(loop, "peel=\"") + 2 * number_behind(loop, "unroll=\"");
	struct strbuf s = { 0 };

	strbuf_add(&s, "%s", text);
	replace_number(&s, "<gemm m=\"", tiles_m * m);
	replace_number(&s, " n=\"", tiles_n * n);
	replace_number(&s, " k=\"", steps * k);
	return s.s;
}

static void job_run(struct job *j, const char *text, bool stamps)
{
	struct emit_options o = { .stamps = stamps };

	memset(j, 0, sizeof(*j));
	diag_init(&j->d);
	j->s = schedule_parse(src_from_text("test.xml", text, strlen(text)), &j->d);
	if (j->s)
		j->t = target_load(j->s->target_name, NULL, j->s->target_loc, &j->d);
	if (j->t)
		j->p = lower(j->s, j->t, &j->d);
	j->rc = j->p ? emit_kernel(j->p, &o, &j->k, &j->d) : -1;
}

static void job_free(struct job *j)
{
	if (j->rc == 0)
		kernel_text_free(&j->k);
	program_free(j->p);
	target_free(j->t);
	schedule_free(j->s);
	diag_free(&j->d);
}

static char *file_text(const char *path)
{
	struct diag d;
	struct src *s;
	char *text;

	diag_init(&d);
	s = src_load(path, &d);
	assert_non_null(s);
	text = xstrdup(s->text);
	src_free(s);
	diag_free(&d);
	return text;
}

/* ---- the product ---- */

struct product {
	struct ptx_run run;
	struct verify_layout l;
	uint8_t *a, *b, *c, *stamps;
};

/* Whole numbers from -2 to 2: every sum is exact. */
static int small(uint64_t seed)
{
	seed = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	seed ^= seed >> 29;
	seed *= UINT64_C(0xbf58476d1ce4e5b9);
	return (int)((seed >> 40) % 5) - 2;
}

static void product_begin(struct product *x, const struct kernel_text *k)
{
	size_t an, bn, cn;

	memset(x, 0, sizeof(*x));
	x->l = k->layout;
	an = (size_t)x->l.m * x->l.lda_bytes;
	bn = (size_t)x->l.n * x->l.ldb_bytes;
	cn = (size_t)x->l.m * x->l.ldc_bytes;
	x->a = xmalloc(an);
	x->b = xmalloc(bn);
	x->c = xmalloc(cn);
	memset(x->c, 0xff, cn);
	for (int64_t i = 0; i < x->l.m * x->l.k; i++)
		numfmt_store(x->l.a, x->a, (size_t)i, small((uint64_t)i));
	for (int64_t i = 0; i < x->l.n * x->l.k; i++)
		numfmt_store(x->l.b, x->b, (size_t)i, small((uint64_t)i + 1000003));
	x->run.text = k->text;
	x->run.threads = k->block[0];
	x->run.shared_bytes = k->lds_bytes;
	x->run.arg[0] = (struct ptx_memory){ x->a, an };
	x->run.arg[1] = (struct ptx_memory){ x->b, bn };
	x->run.arg[2] = (struct ptx_memory){ x->c, cn };
	x->run.nargs = k->nargs;
	if (k->nargs > 3) {
		x->stamps = xcalloc(k->arg[3].bytes, 1);
		x->run.arg[3] = (struct ptx_memory){ x->stamps, k->arg[3].bytes };
	}
}

static void product_free(struct product *x)
{
	free(x->a);
	free(x->b);
	free(x->c);
	free(x->stamps);
}

/* Elements of C that are not what they should be. */
static size_t product_wrong(const struct product *x)
{
	size_t wrong = 0;

	for (int64_t i = 0; i < x->l.m; i++)
		for (int64_t j = 0; j < x->l.n; j++) {
			int sum = 0;

			for (int64_t k = 0; k < x->l.k; k++)
				sum += small((uint64_t)(i * x->l.k + k)) * small((uint64_t)(j * x->l.k + k) + 1000003);
			wrong += numfmt_load(x->l.c, x->c + (size_t)i * x->l.ldc_bytes, (size_t)j) != sum;
		}
	return wrong;
}

static void run_all(struct product *x, const struct kernel_text *k, int early, unsigned order)
{
	x->run.early = early;
	x->run.order = order;
	for (unsigned g = 0; g < k->grid[0] && !x->run.error[0]; g++) {
		x->run.workgroup = g;
		ptx_execute(&x->run);
	}
}

static void check_file(const char *path, unsigned tiles_m, unsigned tiles_n, unsigned order)
{
	char *whole = file_text(path), *text = shrink(whole, tiles_m, tiles_n);
	struct job j;

	job_run(&j, text, true);
	diag_print(&j.d, stderr, false);
	assert_int_equal(j.rc, 0);
	assert_true(j.k.verifiable);
	assert_int_equal(j.k.grid[0], tiles_m * tiles_n);
	for (int early = 0; early < 2; early++) {
		struct product x;

		product_begin(&x, &j.k);
		run_all(&x, &j.k, early, order + (unsigned)early);
		if (x.run.error[0])
			fail_msg("%s: %s", path, x.run.error);
		if (product_wrong(&x))
			fail_msg("%s: %zu of %lld elements are wrong (%s)", path, product_wrong(&x), (long long)(x.l.m * x.l.n),
				 early ? "copies land early" : "copies land late");
		assert_true(x.run.mma > 0);
		product_free(&x);
	}
	job_free(&j);
	free(text);
	free(whole);
}

static const char *top(void)
{
	return getenv("top_srcdir") ? getenv("top_srcdir") : ".";
}

static int is_xml(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 4 && !strcmp(e->d_name + n - 4, ".xml");
}

/* Every variant of kernels/h200-set computes its product, whichever warp goes first and whenever copies land. */
static void every_variant(void **state)
{
	char *folder = xasprintf("%s/kernels/h200-set", top());
	struct dirent **list;
	int n = scandir(folder, &list, is_xml, alphasort);

	(void)state;
	assert_true(n >= 60);
	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", folder, list[i]->d_name);

		check_file(path, 1, 1, (unsigned)i % 16);
		free(path);
		free(list[i]);
	}
	free(list);
	free(folder);
}

static void reference_kernels(void **state)
{
	static const char *const names[] = { "h200-f16-8warp", "h200-f16-8warp-inphase", "h200-f16-4warp" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *path = xasprintf("%s/kernels/%s/schedule.xml", top(), names[i]);

		check_file(path, i ? 1 : 2, i ? 1 : 2, (unsigned)i);
		free(path);
	}
}

/* ---- variants of one small schedule ---- */

static char *small_schedule(const char *matrix, const char *types, const char *lds, const char *read, unsigned slots, unsigned unroll)
{
	return xasprintf(
		"<schedule name=\"s-1\" target=\"sm_90\"><gemm m=\"128\" n=\"64\" k=\"256\" %s><tile m=\"64\" n=\"64\" k=\"32\"/>"
		"<waves groups=\"2\" rows=\"2\" cols=\"2\" gap=\"1\"/><matrix op=\"%s\"/></gemm>"
		"<lds name=\"A\" operand=\"A\" slots=\"%u\">%s</lds><lds name=\"B\" operand=\"B\" slots=\"%u\">%s</lds>"
		"<fragment name=\"a\" from=\"A\" op=\"%s\"/><fragment name=\"b\" from=\"B\" op=\"%s\"/><accumulator name=\"c\" a=\"a\" b=\"b\"/>"
		"<prologue><copy to=\"A\" tile=\"0\" commit=\"false\"/><copy to=\"B\" tile=\"0\"/><copy to=\"A\" tile=\"1\" commit=\"false\"/>"
		"<copy to=\"B\" tile=\"1\"/><wait groups=\"1\"/><barrier/></prologue>"
		"<loop unroll=\"%u\" peel=\"2\"><stage name=\"mem\"><read into=\"a\" tile=\"k\"/><read into=\"b\" tile=\"k\"/>"
		"<copy to=\"A\" tile=\"k+2\" commit=\"false\"/><copy to=\"B\" tile=\"k+2\"/><wait groups=\"1\"/></stage>"
		"<stage name=\"mma\"><mma acc=\"c\"/></stage></loop>"
		"<epilogue><barrier/><read into=\"a\" tile=\"last-1\"/><read into=\"b\" tile=\"last-1\"/><mma acc=\"c\"/><wait groups=\"0\"/>"
		"<barrier/><read into=\"a\" tile=\"last\"/><read into=\"b\" tile=\"last\"/><mma acc=\"c\"/><store from=\"c\"/></epilogue></schedule>",
		types, matrix, slots, lds, slots, lds, read, read, unroll);
}

#define F16 "mma.m16n8k16.f32.f16.f16.f32", "a=\"f16\" b=\"f16\" acc=\"f32\" out=\"f16\""
#define SWIZZLE "<swizzle vec=\"8\" per-phase=\"2\" max-phase=\"4\"/>"

static size_t wrong_in(const char *ptx_edit, const char *with, const char *text, char error[200])
{
	struct job j;
	struct product x;
	size_t wrong;
	char *at;

	job_run(&j, text, false);
	diag_print(&j.d, stderr, false);
	assert_int_equal(j.rc, 0);
	while (ptx_edit && (at = strstr(j.k.text, ptx_edit)))
		memcpy(at, with, strlen(with));
	product_begin(&x, &j.k);
	run_all(&x, &j.k, 0, 3);
	wrong = product_wrong(&x);
	memcpy(error, x.run.error, 200);
	product_free(&x);
	job_free(&j);
	return wrong;
}

/* Slots that turn with the loop, result types, ways to read. */
static void small_variants(void **state)
{
	static const struct {
		const char *matrix, *types, *lds, *read;
		unsigned slots, unroll;
	} v[] = {
		{ F16, SWIZZLE, "ldmatrix.x4", 3, 3 }, { F16, SWIZZLE, "ldmatrix.x4", 3, 1 }, { F16, SWIZZLE, "ldmatrix.x4", 4, 2 },
		{ F16, "", "ldmatrix.x1", 3, 1 }, { F16, "<pad every=\"64\" by=\"16\"/>", "ldmatrix.x2", 5, 1 },
		{ F16, "<pad every=\"128\" by=\"32\"/>", "ld.shared.v4.b32", 3, 2 }, { F16, "", "ld.shared.b32", 3, 6 },
		{ "mma.m16n8k16.f32.f16.f16.f32", "a=\"f16\" b=\"f16\" acc=\"f32\" out=\"f32\"", SWIZZLE, "ld.shared.v2.b32", 3, 1 },
		{ "mma.m16n8k16.f32.bf16.bf16.f32", "a=\"bf16\" b=\"bf16\" acc=\"f32\" out=\"f32\"", SWIZZLE, "ldmatrix.x4", 3, 1 },
		{ "mma.m16n8k16.f16.f16.f16.f16", "a=\"f16\" b=\"f16\" acc=\"f16\" out=\"f16\"", SWIZZLE, "ldmatrix.x4", 3, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		char *text = small_schedule(v[i].matrix, v[i].types, v[i].lds, v[i].read, v[i].slots, v[i].unroll), error[200];
		size_t wrong = wrong_in(NULL, NULL, text, error);

		if (wrong || error[0])
			fail_msg("variant %zu: %zu wrong, '%s'", i, wrong, error);
		free(text);
	}
}

static char *replace_all(char *text, const char *what, const char *with)
{
	struct strbuf s = { 0 };
	const char *at = text, *next;

	while ((next = strstr(at, what))) {
		strbuf_addn(&s, at, (size_t)(next - at));
		strbuf_add(&s, "%s", with);
		at = next + strlen(what);
	}
	strbuf_add(&s, "%s", at);
	free(text);
	return s.s;
}

/* Copies by some warps only, and by single warps of both groups. */
static void some_warps_copy(void **state)
{
	static const char *const who[] = { "<copy group=\"A\" ", "<copy waves=\"1-2\" ", "<copy waves=\"3\" " };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(who); i++) {
		char *text = replace_all(small_schedule(F16, SWIZZLE, "ldmatrix.x4", 3, 3), "<copy ", who[i]), error[200];
		size_t wrong = wrong_in(NULL, NULL, text, error);

		if (wrong || error[0])
			fail_msg("%s: %zu wrong, '%s'", who[i], wrong, error);
		free(text);
	}
}

/* The interpreter sees what is not right: without waits, without barriers, with another number of arrivals. */
static void faults_show(void **state)
{
	char *text = small_schedule(F16, SWIZZLE, "ldmatrix.x4", 3, 3), error[200];

	(void)state;
	assert_true(wrong_in("cp.async.wait_group 1", "cp.async.wait_group 9", text, error) > 0);
	assert_string_equal(error, "");
	wrong_in("bar.sync 0;", "bar.sync 1;", text, error);
	assert_string_equal(error, "");
	wrong_in("\tbar.sync 0;\n", "\tmov.u32 %t1,0", text, error);
	assert_true(error[0] != '\0');
	free(text);
}

/* ---- what the text looks like ---- */

static unsigned times(const char *text, const char *what)
{
	unsigned n = 0;

	for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
		n++;
	return n;
}

static const char *loop_text(const char *text, char **copy)
{
	const char *begin = strstr(text, "nounroll"), *end = strstr(text, "@%pl bra");

	assert_non_null(begin);
	*copy = xcalloc((size_t)(end - begin) + 1, 1);
	memcpy(*copy, begin, (size_t)(end - begin));
	return *copy;
}

/* The loop holds the program's instructions, each as often. */
static void loop_is_the_program(void **state)
{
	char *text = small_schedule(F16, SWIZZLE, "ldmatrix.x4", 3, 3), *loop;
	unsigned mma = 0, reads = 0, copies = 0, barriers = 0;
	struct job j;

	(void)state;
	job_run(&j, text, true);
	assert_int_equal(j.rc, 0);
	for (uint32_t i = j.p->loops[0].begin; i < j.p->loops[0].end; i++) {
		const struct insn *in = &j.p->insns[i];

		mma += in->cls == OPC_MATRIX;
		reads += in->cls == OPC_LDS_READ;
		copies += in->cls == OPC_VMEM_LDS;
		barriers += in->cls == OPC_BARRIER;
	}
	loop_text(j.k.text, &loop);
	assert_int_equal(times(loop, "\tmma.sync"), mma);
	assert_int_equal(times(loop, "\tldmatrix"), reads);
	assert_int_equal(times(loop, "cp.async.cg"), copies);
	assert_int_equal(times(loop, "\tbar.sync"), barriers);
	assert_int_equal(mma, 3 * 2 * 4 * 2);
	/* the offset: one barrier of group B in front of the loop, one of group A behind it */
	assert_int_equal(times(j.k.text, "@%pgrp0 bar.sync 0;") + times(j.k.text, "@%pgrp1 bar.sync 0;"), 2);
	assert_int_equal(j.k.stamps, 2);
	assert_string_equal(j.k.stamp_stage[0], "loop-begin");
	assert_string_equal(j.k.stamp_stage[1], "loop-end");
	assert_int_equal(j.k.arg[3].bytes, 2 * 4 * 2 * 8);
	assert_string_equal(j.k.kernel, "s_1");
	free(loop);
	job_free(&j);
	free(text);
}

static void refuse(const char *text, enum diag_code code)
{
	struct job j;

	job_run(&j, text, false);
	assert_int_equal(j.rc, -1);
	assert_true(j.d.n >= 1);
	if (j.d.list[0].code != code)
		fail_msg("code %s: %s", diag_code_name(j.d.list[0].code), j.d.list[0].message);
	assert_non_null(j.d.list[0].loc.src);
	job_free(&j);
}

#define KERNEL(inside) "<schedule name=\"k\" target=\"sm_90\"><kernel workgroups=\"2\"><waves groups=\"1\" count=\"2\"/></kernel>" inside "</schedule>"

static void what_is_refused(void **state)
{
	char *text;

	(void)state;
	text = small_schedule(F16, SWIZZLE, "ldmatrix.x4", 3, 3);
	memcpy(strstr(text, "m=\"128\""), "m=\"100\"", 7);
	refuse(text, DIAG_SHAPE);
	free(text);
	text = small_schedule(F16, SWIZZLE, "ldmatrix.x3", 3, 3);
	refuse(text, DIAG_TARGET);
	free(text);
	refuse(KERNEL("<epilogue><nop states=\"2\"/></epilogue>"), DIAG_TARGET);
	refuse(KERNEL("<epilogue><packed/></epilogue>"), DIAG_TARGET);
	refuse(KERNEL("<epilogue><valu op=\"v_add_f32\"/></epilogue>"), DIAG_TARGET);
	refuse(KERNEL("<epilogue><wait ds=\"0\"/></epilogue>"), DIAG_TARGET);
	refuse(KERNEL("<epilogue><barrier id=\"3\" part=\"wait\"/></epilogue>"), DIAG_TARGET);
	refuse(KERNEL("<registers name=\"r\" vgpr=\"4\"/><epilogue><load into=\"r\" count=\"1\"/></epilogue>"), DIAG_SHAPE);
	refuse(KERNEL("<global name=\"g\" bytes=\"64\"/><registers name=\"r\" vgpr=\"4\"/><epilogue><load into=\"r\" from=\"g\" count=\"1\"/></epilogue>"),
	       DIAG_SHAPE);
}

/* A kernel of all other instructions goes through the emitter and the interpreter. */
static void other_instructions(void **state)
{
	struct job j;
	struct ptx_run r = { .order = 1 };
	uint8_t *data = xcalloc(1 << 16, 1), *stamps;

	(void)state;
	job_run(&j, KERNEL("<lds name=\"s\" bytes=\"2048\"/><global name=\"g\" bytes=\"65536\" output=\"true\"/><registers name=\"r\" vgpr=\"8\"/>"
			   "<registers name=\"q\" vgpr=\"4\"/>"
			   "<loop trips=\"3\" boundary=\"none\"><stage name=\"all\"><load into=\"r\" from=\"g\" count=\"2\"/>"
			   "<write from=\"r\" to=\"s\" tile=\"0\" count=\"2\"/><barrier/>"
			   "<read into=\"q\" from=\"s\" tile=\"0\" count=\"2\" op=\"ld.shared.v4.b32\"/><valu count=\"4\" op=\"add.u32\" writes=\"q\" reads=\"r\"/>"
			   "<read into=\"q\" from=\"s\" tile=\"0\" count=\"1\" op=\"ld.shared.v2.b32\"/>"
			   "<barrier id=\"2\" members=\"2\"/><store from=\"q\" to=\"g\" count=\"1\"/></stage></loop>"), true);
	diag_print(&j.d, stderr, false);
	assert_int_equal(j.rc, 0);
	assert_false(j.k.verifiable);
	assert_int_equal(j.k.nargs, 2);
	assert_int_equal(j.k.arg[0].kind, EARG_GLOBAL);
	assert_int_equal(j.k.arg[1].kind, EARG_STAMPS);
	assert_int_equal(times(j.k.text, "mad.lo.u32 %at"), 1); /* the read behind the additions */
	stamps = xcalloc(j.k.arg[1].bytes, 1);
	r.text = j.k.text;
	r.threads = j.k.block[0];
	r.shared_bytes = j.k.lds_bytes;
	r.arg[0] = (struct ptx_memory){ data, 1 << 16 };
	r.arg[1] = (struct ptx_memory){ stamps, j.k.arg[1].bytes };
	r.nargs = 2;
	for (r.workgroup = 0; r.workgroup < 2; r.workgroup++) {
		ptx_execute(&r);
		assert_string_equal(r.error, "");
	}
	for (unsigned i = 0; i < 8; i++) { /* two workgroups, two warps, begin and end */
		uint64_t clk;

		memcpy(&clk, stamps + 8 * i, 8);
		assert_int_equal(clk, 12345);
	}
	job_free(&j);
	free(stamps);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_variants), cmocka_unit_test(some_warps_copy), cmocka_unit_test(faults_show), cmocka_unit_test(loop_is_the_program),
		cmocka_unit_test(what_is_refused), cmocka_unit_test(other_instructions), cmocka_unit_test(reference_kernels),
		cmocka_unit_test(every_variant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
