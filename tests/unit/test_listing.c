/* The listing reader: stored listings good and bad, the instruction table against the target files. */
#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "listing_internal.h"

static struct target *load(const char *name)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	diag_print(&d, stderr, false);
	assert_non_null(t);
	diag_free(&d);
	return t;
}

static struct target *targets[3];
static const char *const names[3] = { "gfx942", "gfx950", "gfx1250" };

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		targets[i] = load(names[i]);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		target_free(targets[i]);
	return 0;
}

static const struct target *target_named(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n && !memcmp(names[i], name, n))
			return targets[i];
	return NULL;
}

/* ---- one program from a text ---- */

struct parsed {
	struct src *s;
	struct diag d;
	struct program *p;
	struct listing_info info;
};

static void parse(struct parsed *x, const char *target, const char *text, const struct listing_options *o)
{
	x->s = src_from_text("t.s", text, strlen(text));
	diag_init(&x->d);
	x->info = (struct listing_info){ 0 };
	x->p = listing_parse(x->s, target_named(target, strlen(target)), o, &x->info, &x->d);
}

static void done(struct parsed *x)
{
	program_free(x->p);
	diag_free(&x->d);
	src_free(x->s);
}

/* Parse text that must be good. */
static void good(struct parsed *x, const char *target, const char *text)
{
	parse(x, target, text, NULL);
	diag_print(&x->d, stderr, false);
	assert_non_null(x->p);
	assert_int_equal(x->d.n, 0);
	assert_int_equal(program_validate(x->p, &x->d), 0);
}

/* Parse text that must give one finding of this code at this line and column. */
static void bad(const char *target, const char *text, enum diag_code code, unsigned line, unsigned col)
{
	struct parsed x;
	unsigned l, c;

	parse(&x, target, text, NULL);
	assert_null(x.p);
	assert_true(x.d.n >= 1);
	src_line_col(x.s, x.d.list[0].loc.begin, &l, &c);
	if (x.d.list[0].code != code || l != line || c != col)
		diag_print(&x.d, stderr, false);
	assert_int_equal(x.d.list[0].code, code);
	assert_int_equal(l, line);
	assert_int_equal(c, col);
	done(&x);
}

/* ---- stored listings ---- */

static void print_insn(struct strbuf *b, const struct insn *in)
{
	static const char *const roles[] = { "dst", "src", "a", "b", "c", "index", "addr", "data" };

	strbuf_add(b, "%s %s size=%u", opclass_name(in->cls), in->op, in->size);
	for (unsigned i = 0; i < in->nspans; i++)
		strbuf_add(b, " %s=%u:%u", roles[in->role[i]], in->span[i].first, in->span[i].n);
	if (in->counter >= 0)
		strbuf_add(b, " counter=%s", counter_name((enum counter)in->counter));
	if (in->also)
		strbuf_add(b, " also=%s", counter_name((enum counter)(in->also - 1)));
	for (unsigned i = 0; i < in->nwait; i++)
		strbuf_add(b, " wait=%s:%u", counter_name((enum counter)in->wait[i].counter), in->wait[i].value);
	if (in->cls == OPC_BRANCH)
		strbuf_add(b, " to=%d%s", in->target, in->flags & INSN_CONDITIONAL ? "?" : "");
	if (in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT || in->cls == OPC_BARRIER)
		strbuf_add(b, " barrier=%d", in->barrier);
	if (in->imm)
		strbuf_add(b, " imm=%u", in->imm);
	if (in->matrix)
		strbuf_add(b, " matrix=%ux%ux%u/%u", in->matrix->m, in->matrix->n, in->matrix->k, in->matrix->passes);
	if (in->bytes)
		strbuf_add(b, " bytes=%" PRIu32, in->bytes);
	if (in->lds_clk)
		strbuf_add(b, " lds=%u", in->lds_clk);
	strbuf_add(b, "%s%s%s%s\n", in->flags & INSN_TAIL_SPLIT ? " tail-split" : "", in->flags & INSN_IMPLIED ? " implied" : "",
		   in->mods ? " | " : "", in->mods ? in->mods : "");
}

static void print_listing(struct strbuf *b, const struct program *p, const struct listing_info *i)
{
	strbuf_add(b, "kernel=%s vgpr=%u agpr=%u sgpr=%u lds=%u scratch=%u spills=%u,%u threads=%u waves=%u unknown=%zu\n", i->kernel,
		   i->vgpr, i->agpr, i->sgpr, i->lds_bytes, i->scratch_bytes, i->vgpr_spills, i->sgpr_spills, i->workgroup_threads,
		   p->waves, i->unknown);
	for (size_t k = 0; k < p->ninsns; k++)
		print_insn(b, &p->insns[k]);
}

static char *folder(const char *name)
{
	const char *top = getenv("top_srcdir");

	return xasprintf("%s/tests/golden/%s", top ? top : ".", name);
}

static char *slurp(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct strbuf b = { 0 };
	char buf[4096];
	size_t n;

	if (!f)
		return NULL;
	strbuf_addn(&b, "", 0);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_addn(&b, buf, n);
	fclose(f);
	return b.s ? b.s : xstrdup("");
}

static void spit(const char *path, const char *text)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Value of "; key: value" in the first lines of a stored listing. */
static bool header(const char *text, const char *key, char value[64])
{
	char want[32];
	const char *s;
	size_t n;

	snprintf(want, sizeof(want), "; %s: ", key);
	s = strstr(text, want);
	if (!s)
		return false;
	s += strlen(want);
	n = strcspn(s, "\n");
	snprintf(value, 64, "%.*s", (int)n, s);
	return true;
}

static void diag_text(const struct diag *d, struct strbuf *b)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	diag_print(d, f, false);
	fclose(f);
	strbuf_addn(b, text, n);
	free(text);
}

/* Parse dir/name and compare with the file whose name ends in ext. */
static void check_stored(const char *dir, const char *name, const char *ext)
{
	char *path = xasprintf("%s/%s", dir, name), *want_path, *text = slurp(path), *want;
	char target[64] = "gfx942", kernel[64], word[64];
	struct listing_options o = { .unknown_warns = header(text, "unknown", word) };
	struct listing_info info = { 0 };
	struct strbuf got = { 0 };
	struct program *p;
	struct src *s;
	struct diag d;

	header(text, "target", target);
	if (header(text, "kernel", kernel))
		o.kernel = kernel;
	diag_init(&d);
	s = src_from_text(name, text, strlen(text));
	p = listing_parse(s, target_named(target, strlen(target)), &o, &info, &d);
	diag_text(&d, &got);
	if (p) {
		print_listing(&got, p, &info);
		assert_int_equal(program_validate(p, &d), 0);
	}
	if ((p == NULL) != !strcmp(ext, ".err"))
		print_message("# %s\n", path);
	assert_true((p == NULL) == !strcmp(ext, ".err"));
	want_path = xasprintf("%.*s%s", (int)(strlen(path) - 2), path, ext);
	want = slurp(want_path);
	if (getenv("WPSIM_UPDATE_LISTINGS"))
		spit(want_path, got.s ? got.s : "");
	else if (!want || strcmp(want, got.s ? got.s : ""))
		fail_msg("%s is not as stored; seen:\n%s", path, got.s ? got.s : "");
	program_free(p);
	diag_free(&d);
	src_free(s);
	free(want);
	free(want_path);
	free(text);
	free(path);
	strbuf_free(&got);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_listing(const struct dirent *e)
{
	size_t n = strlen(e->d_name);

	return n > 2 && !strcmp(e->d_name + n - 2, ".s");
}

static void check_folder(const char *name, const char *ext, int least)
{
	char *dir = folder(name);
	struct dirent **list;
	int n = scandir(dir, &list, is_listing, by_name);

	assert_true(n >= least);
	for (int i = 0; i < n; i++) {
		check_stored(dir, list[i]->d_name, ext);
		free(list[i]);
	}
	free(list);
	free(dir);
}

static void stored_good(void **state)
{
	(void)state;
	check_folder("listing", ".out", 8);
}

static void stored_bad(void **state)
{
	(void)state;
	check_folder("bad-listing", ".err", 40);
}

/* ---- the table ---- */

static void table_is_whole(void **state)
{
	size_t per[3] = { 0 };

	(void)state;
	assert_true(insn_count() > 2100 && insn_count() < 4000); /* a full table would drop rows silently */
	for (size_t i = 0; i < insn_count(); i++) {
		const struct insn_desc *x = insn_at(i);

		assert_false(strchr(x->name, '{') || strchr(x->name, ',') || strchr(x->name, ' '));
		assert_true(x->isa && x->cls < OPC_COUNT);
		for (unsigned k = 0; k < x->nslots; k++)
			assert_non_null(strchr("dxmsn#abcikpwDW", x->slot[k].role));
		for (size_t k = 0; k < i; k++) /* one row a target */
			assert_false((insn_at(k)->isa & x->isa) && !strcmp(insn_at(k)->name, x->name));
		for (size_t k = 0; k < 3; k++)
			per[k] += x->isa >> k & 1;
	}
	assert_true(per[0] > 1100 && per[1] > per[0] && per[2] > 1500);
}

/* Every matrix, LDS and memory row of the target files can be written in a listing. */
static void table_has_target_rows(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(targets); k++) {
		const struct target *t = targets[k];
		enum isa isa = isa_of_target(t);
		enum suffix sfx;

		for (size_t i = 0; i < t->nmatrix; i++)
			assert_non_null(insn_find(t->matrix[i].op, strlen(t->matrix[i].op), isa, &sfx));
		for (size_t i = 0; i < t->nlds; i++)
			assert_non_null(insn_find(t->lds[i].op, strlen(t->lds[i].op), isa, &sfx));
		for (size_t i = 0; i < t->nvmem; i++)
			assert_non_null(insn_find(t->vmem[i].op, strcspn(t->vmem[i].op, " "), isa, &sfx));
	}
}

/* Registers of the table's matrix rows are those of the target files. */
static void matrix_registers(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(targets); k++)
		for (size_t i = 0; i < targets[k]->nmatrix; i++) {
			const struct matrix_row *m = &targets[k]->matrix[i];
			enum suffix sfx;
			const struct insn_desc *x = insn_find(m->op, strlen(m->op), isa_of_target(targets[k]), &sfx);
			bool accumulates = x->slot[0].role == 'k';

			assert_int_equal(x->cls, OPC_MATRIX);
			/* bf16f32: C is f32, the result bf16 */
			assert_int_equal(x->slot[0].regs, strstr(m->op, "wmma_bf16f32") ? m->c_regs / 2 : m->c_regs);
			assert_true(!x->slot[1].regs || x->slot[1].regs == m->a_regs);
			assert_true(!x->slot[2].regs || x->slot[2].regs == m->b_regs);
			assert_int_equal(x->slot[1].regs == 0, strstr(m->op, "f8f6f4") != NULL);
			assert_true(accumulates || x->slot[3].regs == m->c_regs);
			assert_int_equal(accumulates, m->kind == MK_SMFMAC || m->kind == MK_SWMMAC);
		}
}

/* ---- pieces ---- */

static void waits(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx942", "s_waitcnt vmcnt(3) lgkmcnt(1)\ns_waitcnt 0xc07f\ns_waitcnt vmcnt(0) & expcnt(2), lgkmcnt(0)\ns_waitcnt 0\n");
	assert_int_equal(x.p->insns[0].nwait, 2);
	assert_int_equal(x.p->insns[0].wait[0].counter, CTR_VM);
	assert_int_equal(x.p->insns[0].wait[0].value, 3);
	assert_int_equal(x.p->insns[1].nwait, 1); /* vmcnt and expcnt at their highest wait for nothing */
	assert_int_equal(x.p->insns[1].wait[0].counter, CTR_LGKM);
	assert_int_equal(x.p->insns[2].nwait, 3);
	assert_int_equal(x.p->insns[3].nwait, 3);
	done(&x);
	good(&x, "gfx1250", "s_wait_loadcnt_dscnt 0x203\ns_wait_tensorcnt 1\ns_wait_kmcnt 0x0\n");
	assert_int_equal(x.p->insns[0].wait[0].counter, CTR_LOAD);
	assert_int_equal(x.p->insns[0].wait[0].value, 2);
	assert_int_equal(x.p->insns[0].wait[1].counter, CTR_DS);
	assert_int_equal(x.p->insns[0].wait[1].value, 3);
	assert_int_equal(x.p->insns[1].wait[0].counter, CTR_TENSOR);
	done(&x);
}

static void flat_counts_twice(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx942", "flat_load_dword v0, v[2:3]\nglobal_load_dword v0, v[2:3], off\n");
	assert_int_equal(x.p->insns[0].counter, CTR_VM);
	assert_int_equal(x.p->insns[0].also, CTR_LGKM + 1);
	assert_int_equal(x.p->insns[1].also, 0);
	done(&x);
	good(&x, "gfx1250", "flat_store_b32 v[2:3], v0\nds_atomic_async_barrier_arrive_b64 v1\n");
	assert_int_equal(x.p->insns[0].counter, CTR_STORE);
	assert_int_equal(x.p->insns[0].also, CTR_DS + 1);
	assert_int_equal(x.p->insns[1].counter, CTR_ASYNC);
	done(&x);
}

static bool has_span(const struct insn *in, enum span_role role, unsigned first, unsigned n)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role && in->span[i].first == first && in->span[i].n == n)
			return true;
	return false;
}

/* Upper registers: which bits of s_set_vgpr_msb extend which operand. */
static void upper_registers(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx1250",
	     "s_set_vgpr_msb 0xd2\nv_fma_f32 v0 /*v768*/, v1, v2, v3\nds_store_2addr_b32 v0, v1, v2\nglobal_store_b32 v[2:3], v4, off\n"
	     "buffer_store_b32 v0, v1, s[4:7], null offen\nv_swap_b32 v0, v1\ns_set_vgpr_msb 0\nv_mov_b32_e32 v0, v1\n"
	     "global_load_async_to_lds_b32 v0, v[2:3], off\n");
	assert_true(has_span(&x.p->insns[1], ROLE_DST, 768, 1));
	assert_true(has_span(&x.p->insns[1], ROLE_SRC, 513, 1)); /* src0: 2 */
	assert_true(has_span(&x.p->insns[1], ROLE_SRC, 2, 1));   /* src1: 0 */
	assert_true(has_span(&x.p->insns[1], ROLE_SRC, 259, 1)); /* src2: 1 */
	assert_true(has_span(&x.p->insns[2], ROLE_ADDR, 512, 1));
	assert_true(has_span(&x.p->insns[2], ROLE_DATA, 1, 1));
	assert_true(has_span(&x.p->insns[2], ROLE_DATA, 258, 1));
	assert_true(has_span(&x.p->insns[3], ROLE_DATA, 4, 1));
	assert_true(has_span(&x.p->insns[4], ROLE_DATA, 768, 1));
	assert_true(has_span(&x.p->insns[5], ROLE_DST, 768, 1) && has_span(&x.p->insns[5], ROLE_SRC, 513, 1));
	assert_true(has_span(&x.p->insns[7], ROLE_DST, 0, 1));
	done(&x);
}

static void branches(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx950", "a: s_nop 0\n1: s_cbranch_scc1 b\n s_branch 1b\n s_cbranch_vccz 1f\n s_branch a\n1:\nb: s_branch 65533\ns_branch c\nc:\n");
	assert_int_equal(x.p->insns[1].target, 5);
	assert_true(x.p->insns[1].flags & INSN_CONDITIONAL);
	assert_true(has_span(&x.p->insns[1], ROLE_SRC, REG_SCC, 1));
	assert_int_equal(x.p->insns[2].target, 1);
	assert_int_equal(x.p->insns[3].target, 5);
	assert_int_equal(x.p->insns[4].target, 0);
	assert_int_equal(x.p->insns[5].target, 3); /* three words back from behind it */
	assert_int_equal(x.p->insns[6].target, 7); /* the end */
	assert_int_equal(x.p->insns[7].cls, OPC_END);
	assert_true(x.p->insns[7].flags & INSN_IMPLIED);
	done(&x);
}

/* Calls come back: they may go on behind themselves. */
static void calls(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx942", "s_call_b64 s[2:3], f\ns_swappc_b64 s[4:5], s[6:7]\ns_endpgm\nf: s_setpc_b64 s[2:3]\n");
	assert_int_equal(x.p->insns[0].target, 3);
	assert_true(x.p->insns[0].flags & INSN_CONDITIONAL && has_span(&x.p->insns[0], ROLE_DST, REG_SGPR + 2, 2));
	assert_int_equal(x.p->insns[1].target, -1);
	assert_true(x.p->insns[1].flags & INSN_CONDITIONAL);
	assert_false(x.p->insns[3].flags & INSN_CONDITIONAL);
	done(&x);
}

static void older_names(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx942", "v_mfma_f32_32x32x8f16 v[0:15], v[16:17], v[18:19], v[0:15]\nv_mov_b32 v0, v1 row_shl:1\n");
	assert_string_equal(x.p->insns[0].op, "v_mfma_f32_32x32x8_f16");
	assert_non_null(x.p->insns[0].matrix);
	assert_string_equal(x.p->insns[1].op, "v_mov_b32_dpp");
	done(&x);
}

static void operand_types(void **state)
{
	struct parsed x;

	(void)state;
	good(&x, "gfx950",
	     "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]\n"
	     "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:17], v[0:3] cbsz:4 blgp:2\n");
	assert_int_equal(x.p->insns[0].matrix->operands, MO_ANY_F8);
	assert_int_equal(x.p->insns[1].matrix->operands, MO_NO_F8);
	done(&x);
	good(&x, "gfx1250",
	     "v_wmma_f32_16x16x128_f8f6f4 v[0:7], v[8:15], v[24:31], v[0:7] matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4\n");
	done(&x);
	bad("gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3] cbsz:4\n", DIAG_OPERAND, 1, 37);
}

static void unknown_goes_on(void **state)
{
	struct listing_options o = { .unknown_warns = true };
	struct parsed x;

	(void)state;
	parse(&x, "gfx942", "v_foo v0\nv_mov_b32_e32 v0, v1\n", &o);
	assert_non_null(x.p);
	assert_int_equal(x.info.unknown, 1);
	assert_int_equal(x.d.errors, 0);
	assert_int_equal(x.d.warnings, 1);
	assert_int_equal(x.p->insns[0].nspans, 0);
	done(&x);
	bad("gfx942", "s_nop 0\nv_foo v0\n", DIAG_MNEMONIC, 2, 1);
	bad("gfx942", "  ds_load_b32 v0, v1\n", DIAG_MNEMONIC, 1, 3);
}

static void likely(void **state)
{
	static const struct { const char *text; bool listing; } cases[] = {
		{ "<schedule/>", false }, { " \n\t<x", false }, { "s_nop 0", true }, { "; c", true }, { "", false }, { " \n", false },
		{ "\xef\xbb\xbf<x", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct src *s = src_from_text("x", cases[i].text, strlen(cases[i].text));

		assert_int_equal(listing_likely(s), cases[i].listing);
		src_free(s);
	}
}

/* Time grows with the text, not with its square: long lines, many labels, deep brackets. */
static void hostile_sizes(void **state)
{
	static const struct { const char *piece, *tail; size_t n; } cases[] = {
		{ "abs(", "", 100000 }, { "a:", "", 300000 }, { "x: s_nop 0\n", "", 20000 }, { "-", "1\n", 100000 }, { "(", "", 100000 },
		{ ".amdgpu_metadata\n", "", 20000 }, { "/*", "", 200000 }, { "1: s_branch 1b\n", "", 50000 }, { "v_foo v0\n", "", 50000 },
		{ "[", "", 100000 }, { "s_branch nowhere\n", "", 20000 }, { "<a>:\n", "", 20000 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct strbuf b = { 0 };
		struct parsed x;

		strbuf_add(&b, "s_mov_b32 s0, ");
		for (size_t k = 0; k < cases[i].n; k++)
			strbuf_add(&b, "%s", cases[i].piece);
		strbuf_add(&b, "%s", cases[i].tail);
		parse(&x, names[i % 3], b.s, NULL);
		assert_true(x.p != NULL || x.d.errors > 0);
		done(&x);
		strbuf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored_good), cmocka_unit_test(stored_bad), cmocka_unit_test(table_is_whole),
		cmocka_unit_test(table_has_target_rows), cmocka_unit_test(matrix_registers), cmocka_unit_test(waits),
		cmocka_unit_test(flat_counts_twice), cmocka_unit_test(upper_registers), cmocka_unit_test(branches),
		cmocka_unit_test(calls), cmocka_unit_test(older_names), cmocka_unit_test(operand_types), cmocka_unit_test(unknown_goes_on),
		cmocka_unit_test(likely), cmocka_unit_test(hostile_sizes),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
