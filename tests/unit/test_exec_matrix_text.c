/*
 * Matrix instructions from their text on: a kernel of one such instruction, its registers loaded from memory and
 * its result stored, is read as a listing and executed; modifiers and constants are those of the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MATRIX_REF_REAL_CORE
#include "matrix_ref.h"

#include "exec.h"

#define MAX_LOADS 160

struct test_kernel {
	struct strbuf text;
	uint32_t *input; /* one row of lanes a load */
	unsigned loads, lanes;
	bool gfx9;
};

static void load(struct test_kernel *k, char file, unsigned reg, unsigned n)
{
	for (unsigned r = reg; r < reg + n; r++) {
		assert_true(k->loads < MAX_LOADS);
		memcpy(k->input + (size_t)k->loads++ * k->lanes, regs + (size_t)r * k->lanes, k->lanes * sizeof(*regs));
		strbuf_add(&k->text, k->gfx9 ? "\tglobal_load_dword %c%u, v250, s[4:5]\n\tv_add_u32_e32 v250, %#x, v250\n"
					     : "\tglobal_load_b32 %c%u, v250, s[4:5]\n\tv_add_nc_u32_e32 v250, %#x, v250\n",
			   file, r, k->lanes * 4);
	}
}

static const char *tuple(char out[24], char file, unsigned reg, unsigned n)
{
	if (n == 1)
		snprintf(out, 24, "%c%u", file, reg);
	else
		snprintf(out, 24, "%c[%u:%u]", file, reg, reg + n - 1);
	return out;
}

static void begin(struct test_kernel *k)
{
	strbuf_add(&k->text, "\t.text\n\t.globl k\n\t.type k,@function\nk:\n\tv_lshlrev_b32_e32 v251, 2, v0\n");
	strbuf_add(&k->text, k->gfx9 ? "\ts_load_dwordx4 s[4:7], s[0:1], 0x0\n\tv_mov_b32_e32 v250, v251\n\ts_waitcnt lgkmcnt(0)\n"
				     : "\ts_load_b128 s[4:7], s[0:1], 0x0\n\tv_mov_b32_e32 v250, v251\n\ts_wait_kmcnt 0x0\n");
}

static void end(struct test_kernel *k, char file, unsigned n)
{
	strbuf_add(&k->text, "\tv_mov_b32_e32 v250, v251\n"); /* D lies where the lane's number was */
	for (unsigned r = 0; r < n; r++)
		strbuf_add(&k->text, k->gfx9 ? "\tglobal_store_dword v250, %c%u, s[6:7]\n\tv_add_u32_e32 v250, %#x, v250\n"
					     : "\tglobal_store_b32 v250, %c%u, s[6:7]\n\tv_add_nc_u32_e32 v250, %#x, v250\n",
			   file, R_D + r, k->lanes * 4);
	strbuf_add(&k->text, "\ts_endpgm\n\t.rodata\n\t.amdhsa_kernel k\n\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n");
	strbuf_add(&k->text, "\t\t.amdhsa_kernarg_size 16\n\t\t.amdhsa_next_free_vgpr %u\n", k->gfx9 ? 512 : 256);
	strbuf_add(&k->text, "\t\t.amdhsa_next_free_sgpr 16\n%s\t.end_amdhsa_kernel\n",
		   k->gfx9 ? "\t\t.amdhsa_accum_offset 256\n" : "");
}

/* Run it; the result's registers come back into regs. */
static void execute(struct test_kernel *k, const struct spec *s, unsigned result_regs)
{
	uint64_t args[2] = { 0 };
	struct exec_buffer buffers[2] = {
		{ .data = k->input, .bytes = (uint64_t)k->loads * k->lanes * 4, .initialised = true },
		{ .data = regs, .bytes = (uint64_t)result_regs * k->lanes * 4, .writable = true },
	};
	struct exec_launch l = { .grid = { 1, 1, 1 }, .block = { k->lanes, 1, 1 }, .buffers = buffers, .nbuffers = 2, .kernarg = args,
				 .kernarg_bytes = sizeof(args), .npatches = 2 };
	struct listing_options lo = { .keep_operands = true };
	struct exec_options eo = { .threads = 1 };
	struct listing_info info;
	struct exec_result result;
	struct program *p;
	struct target *t;
	struct src *src;
	struct diag d;

	diag_init(&d);
	t = target_load(machine.name, NULL, (struct loc){ 0 }, &d);
	assert_non_null(t);
	src = src_from_text(s->desc->name, k->text.s, k->text.len);
	p = listing_parse(src, t, &lo, &info, &d);
	diag_print(&d, stderr, false);
	assert_non_null(p);
	l.patch[1].offset = 8;
	l.patch[1].buffer = 1;
	if (exec_run(p, &info, &l, &eo, &result, &d) < 0) {
		diag_print(&d, stderr, false);
		fail_msg("%s", s->desc->name);
	}
	assert_int_equal(d.errors, 0);
	exec_result_free(&result);
	program_free(p);
	src_free(src);
	target_free(t);
	diag_free(&d);
}

/* ---- modifiers: to the text, and to the reference ---- */

struct text_mods {
	char text[256];
	const char *c; /* constant in the place of C, NULL: registers */
	unsigned set;  /* first index bit of a sparse A */
	unsigned fmt_a, fmt_b, sel_a, sel_b, scale_a, scale_b;
	unsigned cbsz, abid, blgp, neg;
};

/* Text is added behind the first n characters; the assembler wants the formats of WMMA in front, of MFMA behind. */
static size_t choose_any(const struct spec *s, struct text_mods *m, size_t n)
{
	static const char *const words[] = { "FP8", "BF8", "FP6", "BF6", "FP4" };

	if (s->mfma)
		return n + (size_t)snprintf(m->text + n, sizeof(m->text) - n, " cbsz:%u blgp:%u", m->fmt_a, m->fmt_b);
	return n + (size_t)snprintf(m->text + n, sizeof(m->text) - n, " matrix_a_fmt:MATRIX_FMT_%s matrix_b_fmt:MATRIX_FMT_%s",
				    words[m->fmt_a], words[m->fmt_b]);
}

static size_t choose_scales(const struct spec *s, struct text_mods *m, size_t n)
{
	static const char *const words[] = { "E8", "E5M3", "E4M3" };

	m->sel_a = rnd() % (s->mfma ? 4 : 2);
	m->sel_b = rnd() % (s->mfma ? 4 : 2);
	if (s->m == 32 && s->wmma)
		m->sel_a = 0;
	if (s->mfma)
		return n + (size_t)snprintf(m->text + n, sizeof(m->text) - n, " op_sel:[%u,%u,0] op_sel_hi:[%u,%u,0]", m->sel_a & 1,
					    m->sel_b & 1, m->sel_a >> 1, m->sel_b >> 1);
	m->scale_a = rnd() % 3;
	m->scale_b = rnd() % 3;
	return n + (size_t)snprintf(m->text + n, sizeof(m->text) - n,
				    "%s%s matrix_a_scale_fmt:MATRIX_SCALE_FMT_%s matrix_b_scale_fmt:MATRIX_SCALE_FMT_%s",
				    m->sel_a ? " matrix_a_scale:MATRIX_SCALE_ROW1" : "", m->sel_b ? " matrix_b_scale:MATRIX_SCALE_ROW1" : "",
				    words[m->scale_a], words[m->scale_b]);
}

static void choose_mods(const struct spec *s, struct text_mods *m)
{
	size_t n = s->any && s->wmma ? choose_any(s, m, 0) : 0;

	n = s->scale ? choose_scales(s, m, n) : n;
	if (s->any && s->mfma) {
		choose_any(s, m, n);
	} else if (s->any || s->scale) {
		; /* that is all there is */
	} else if (s->mfma && s->fa == NF_F64) {
		m->neg = rnd() % 8;
		snprintf(m->text, sizeof(m->text), " neg:[%u,%u,%u]", m->neg & 1, m->neg >> 1 & 1, m->neg >> 2);
	} else if (s->mfma && s->b > 1) {
		m->cbsz = 1;
		m->abid = rnd() % 2;
		snprintf(m->text, sizeof(m->text), " cbsz:1 abid:%u", m->abid);
	} else if (s->mfma) {
		m->blgp = rnd() % 8;
		snprintf(m->text, sizeof(m->text), " blgp:%u", m->blgp);
	} else if (s->smfmac) {
		unsigned bits = s->k * s->m / 64;

		m->abid = rnd() % (32 / bits);
		m->set = m->abid * bits;
		snprintf(m->text, sizeof(m->text), " abid:%u", m->abid);
	} else if (s->fa == NF_U8) {
		iu8_signed[0] = rnd() & 1;
		iu8_signed[1] = rnd() & 1;
		snprintf(m->text, sizeof(m->text), " neg_lo:[%d,%d,0]", iu8_signed[0], iu8_signed[1]);
	}
	if (!s->sparse && rnd() % 3 == 0)
		m->c = s->fc == NF_I32 ? "5" : "-4.0";
}

static void apply_mods(const struct spec *s, const struct text_mods *m)
{
	static struct ref was;

	was = ref;
	for (unsigned b = 0; b < s->b; b++) {
		for (unsigned i = 0; i < s->m; i++)
			for (unsigned j = 0; j < s->n; j++) {
				if (m->c)
					ref.c[b][i][j] = s->fc == NF_I32 ? 5 : -4;
				if (m->neg & 4)
					ref.c[b][i][j] *= -1;
			}
		if (m->cbsz)
			memcpy(ref.a[b], was.a[b / 2 * 2 + m->abid], sizeof(ref.a[b]));
		for (unsigned k = 0; k < s->k; k++) {
			for (unsigned i = 0; i < s->m && (m->neg & 1); i++)
				ref.a[b][i][k] *= -1;
			for (unsigned j = 0; j < s->n; j++) {
				struct at a = place_b(s, b, j, k);
				const unsigned from[8] = { a.lane, a.lane % 32, a.lane % 32 + 32, (a.lane + 16) % 64, a.lane % 16,
							   a.lane % 16 + 16, a.lane % 16 + 32, a.lane % 16 + 48 };

				a.lane = from[m->blgp];
				if (m->blgp)
					ref.b[b][k][j] = value(s, s->fb, peek(R_B, a, numfmt_bits(s->fb)), 1);
				if (m->neg & 2)
					ref.b[b][k][j] *= -1;
			}
		}
	}
}

/* The instruction and the loads of what it reads. */
static void write_insn(struct test_kernel *k, const struct spec *s, const struct text_mods *m, char ab, char cd)
{
	char d[24], a[24], b[24], c[24], e[24];
	unsigned index_regs = insn.o[3].n;

	load(k, ab, R_A, insn.o[1].n);
	load(k, ab, R_B, insn.o[2].n);
	if (s->sparse) {
		load(k, 'v', R_I, index_regs);
		load(k, cd, R_D, insn.o[0].n);
	} else if (!m->c) {
		load(k, cd, R_C, insn.o[3].n);
	}
	for (unsigned i = 4; i < insn.n; i++)
		load(k, 'v', insn.o[i].reg, insn.o[i].n);
	strbuf_add(&k->text, k->gfx9 ? "\ts_waitcnt vmcnt(0)\n" : "\ts_wait_loadcnt 0x0\n");
	strbuf_add(&k->text, "\t%s %s, %s, %s, %s", s->desc->name, tuple(d, cd, R_D, insn.o[0].n), tuple(a, ab, R_A, insn.o[1].n),
		   tuple(b, ab, R_B, insn.o[2].n),
		   m->c ? m->c : s->sparse ? tuple(c, 'v', R_I, index_regs) : tuple(c, cd, R_C, insn.o[3].n));
	for (unsigned i = 4; i < insn.n; i++)
		strbuf_add(&k->text, ", %s", tuple(e, 'v', insn.o[i].reg, insn.o[i].n));
	strbuf_add(&k->text, "%s\n", m->text);
}

static void one(const struct spec *in)
{
	struct spec s = *in;
	struct text_mods m = { .fmt_a = rnd() % 5, .fmt_b = rnd() % 5 };
	struct test_kernel k = { .gfx9 = strcmp(machine.name, "gfx1250") != 0, .lanes = s.lanes };
	char ab = k.gfx9 && !s.sparse && !s.scale && rnd() & 1 ? 'a' : 'v', cd = k.gfx9 && !s.scale && rnd() & 1 ? 'a' : 'v';

	if (s.any) {
		static const enum numfmt formats[] = { NF_FP8, NF_BF8, NF_FP6, NF_BF6, NF_FP4 };

		s.fa = formats[m.fmt_a];
		s.fb = formats[m.fmt_b];
	}
	iu8_signed[0] = iu8_signed[1] = false;
	choose_mods(&s, &m);
	set_up(&s);
	fill(&s, m.set);
	if (s.scale) {
		fill_scales(&s, R_SA, s.m, m.scale_a, m.sel_a, ref.sa);
		fill_scales(&s, R_SB, s.n, m.scale_b, m.sel_b, ref.sb);
	}
	apply_mods(&s, &m);
	k.input = calloc((size_t)MAX_LOADS * k.lanes, sizeof(*k.input));
	assert_non_null(k.input);
	begin(&k);
	write_insn(&k, &s, &m, ab, cd);
	end(&k, cd, insn.o[0].n);
	execute(&k, &s, insn.o[0].n);
	compare(&s);
	strbuf_free(&k.text);
	free(k.input);
}

static void test_texts(void **state)
{
	(void)state;
	for (unsigned turn = 0; turn < 3; turn++)
		each(one, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
