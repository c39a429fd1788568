/* Matrix instructions: every one of every target, every format, against the definitions in matrix_ref.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "matrix_ref.h"

/* ---- one in A, one in B, one in D ---- */

static void one_product(const struct spec *s, unsigned b, unsigned i, unsigned j, unsigned k)
{
	unsigned bits = numfmt_bits(s->fd);
	struct at a, d = place_cd(s, s->fd, b, i, j);

	if (s->sparse && k % 4 > 1)
		return;
	a = place_a(s, b, i, s->sparse ? k / 4 * 2 + k % 2 : k);
	clear(s);
	poke(R_A, a, numfmt_bits(s->fa), numfmt_put(s->fa, 1));
	poke(R_B, place_b(s, b, j, k), numfmt_bits(s->fb), numfmt_put(s->fb, 1));
	assert_int_equal(insn.fn(&wave, &insn), 0);
	if (peek(R_D, d, bits) != numfmt_put(s->fd, 1))
		fail_msg("%s: block %u, row %u, column %u, K %u: no one in lane %u, bit %u", s->desc->name, b, i, j, k, d.lane, d.bit);
	poke(R_D, d, bits, 0);
	for (unsigned r = 0; r < 32 * s->lanes; r++)
		if (regs[r])
			fail_msg("%s: block %u, row %u, column %u, K %u: v%u of lane %u is not 0", s->desc->name, b, i, j, k,
				 r / s->lanes, r % s->lanes);
}

static void ones(const struct spec *s)
{
	set_up(s);
	for (unsigned k = 0; k < s->k; k++)
		one_product(s, rnd() % s->b, rnd() % s->m, rnd() % s->n, k);
	for (unsigned b = 0; b < s->b; b++) {
		for (unsigned i = 0; i < s->m; i++)
			one_product(s, b, i, rnd() % s->n, rnd() % s->k & ~2u);
		for (unsigned j = 0; j < s->n; j++)
			one_product(s, b, rnd() % s->m, j, rnd() % s->k & ~2u);
	}
	assert_int_equal(faults, 0);
}

static void whole(const struct spec *s)
{
	set_up(s);
	fill(s, 0);
	for (unsigned i = 0; i < 2 && s->scale; i++)
		fill_scales(s, i ? R_SB : R_SA, i ? s->n : s->m, 0, 0, i ? ref.sb : ref.sa);
	assert_int_equal(insn.fn(&wave, &insn), 0);
	compare(s);
	assert_int_equal(faults, 0);
}

/*
 * The K of each element by itself: when A and B are spread alike, no product shows it, but with other types on
 * the other side it would matter.
 */
static void loaded(const struct spec *s)
{
	static double x[MX_MAX_INPUT];

	if (s->sparse)
		return;
	set_up(s);
	fill(s, 0);
	for (unsigned op = 0; op < 2; op++) {
		struct mx_row row = mx_rows[insn.arg];
		struct mx_job j = { .row = &row, .lanes = s->lanes, .fmt = { s->fa, s->fb },
				    .in = { regs + R_A * s->lanes, regs + R_B * s->lanes } };
		unsigned rows = op ? s->n : s->m;

		row.scale = 0;
		assert_int_equal(mx_input_regs(&row, op, j.fmt[op], s->lanes), insn.o[1 + op].n);
		mx_load(&j, op, x);
		for (unsigned b = 0; b < s->b; b++)
			for (unsigned k = 0; k < s->k; k++)
				for (unsigned i = 0; i < rows; i++)
					if (x[(b * s->k + k) * rows + i] != (op ? ref.b[b][k][i] : ref.a[b][i][k]))
						fail_msg("%s: %c, row %u, K %u", s->desc->name, "AB"[op], i, k);
	}
}

static void test_ones(void **state)
{
	(void)state;
	each(ones, NULL);
}

static void test_products(void **state)
{
	(void)state;
	each(whole, NULL);
}

static void test_places(void **state)
{
	(void)state;
	each(loaded, NULL);
}

static const enum numfmt any_formats[] = { NF_FP8, NF_BF8, NF_FP6, NF_BF6, NF_FP4 };

/* All pairs of formats of one f8f6f4 instruction, with scales in every byte or half of the lanes. */
static void formats(const struct spec *s)
{
	struct spec x = *s;

	for (unsigned a = 0; a < 5; a++)
		for (unsigned b = 0; b < 5; b++) {
			x.fa = any_formats[a];
			x.fb = any_formats[b];
			for (unsigned turn = 0; turn < 4; turn++) {
				unsigned sel_a = rnd() % (s->mfma ? 4 : 2), sel_b = rnd() % (s->mfma ? 4 : 2);

				set_up(&x);
				insn.mx.fmt_a = (uint8_t)a;
				insn.mx.fmt_b = (uint8_t)b;
				if (s->mfma) { /* the same fields broadcast in other instructions */
					insn.mx.cbsz = (uint8_t)a;
					insn.mx.blgp = (uint8_t)b;
				}
				fill(&x, 0);
				if (s->scale) {
					insn.mx.op_sel_a = insn.mx.scale_row_a = (uint8_t)sel_a;
					insn.mx.op_sel_b = insn.mx.scale_row_b = (uint8_t)sel_b;
					if (s->wmma) {
						insn.mx.scale_fmt_a = (uint8_t)(turn % 3);
						insn.mx.scale_fmt_b = (uint8_t)(rnd() % 3);
					}
					fill_scales(&x, R_SA, x.m, insn.mx.scale_fmt_a, sel_a, ref.sa);
					fill_scales(&x, R_SB, x.n, insn.mx.scale_fmt_b, sel_b, ref.sb);
				}
				assert_int_equal(insn.fn(&wave, &insn), 0);
				compare(&x);
				if (!s->scale)
					break;
			}
		}
}

/* ones() sets the instruction up anew: give the formats along. */
static void formats_ones(const struct spec *s)
{
	struct spec x = *s;

	for (unsigned a = 0; a < 5; a++)
		for (unsigned b = 0; b < 5; b++) {
			x.fa = any_formats[a];
			x.fb = any_formats[b];
			set_up(&x);
			insn.mx.fmt_a = insn.mx.cbsz = (uint8_t)a;
			insn.mx.fmt_b = insn.mx.blgp = (uint8_t)b;
			for (unsigned k = 0; k < x.k; k++)
				one_product(&x, 0, rnd() % x.m, rnd() % x.n, k);
		}
}

static void test_formats(void **state)
{
	(void)state;
	each(formats_ones, "f8f6f4");
	each(formats, "f8f6f4");
}

/* 32 rows of A: all lanes hold scales of it; those of B stand in the chosen half. */
static void test_scales_of_f4(void **state)
{
	static const char *const names[] = { "v_wmma_scale_f32_32x16x128_f4", "v_wmma_scale16_f32_32x16x128_f4" };

	(void)state;
	for (unsigned n = 0; n < 2; n++)
		for (unsigned turn = 0; turn < 9; turn++) {
			struct spec s = named("gfx1250", names[n]);

			set_up(&s);
			fill(&s, 0);
			insn.mx.scale_fmt_a = (uint8_t)(turn % 3);
			insn.mx.scale_fmt_b = (uint8_t)(turn / 3);
			insn.mx.scale_row_a = turn >> 1 & 1; /* no choice: all lanes are taken */
			insn.mx.scale_row_b = turn & 1;
			fill_scales(&s, R_SA, 32, turn % 3, 0, ref.sa);
			fill_scales(&s, R_SB, 16, turn / 3, turn & 1, ref.sb);
			assert_int_equal(insn.fn(&wave, &insn), 0);
			compare(&s);
		}
}
/* ---- what others saw on a gfx950 ---- */

/* One-hot products of v_smfmac_f32_16x16x64_f16, indices 0 and 1: slots and lane groups that meet in D[0][0]. */
static void test_seen_sparse(void **state)
{
	struct spec s = named("gfx950", "v_smfmac_f32_16x16x64_f16");

	(void)state;
	set_up(&s);
	for (unsigned a = 0; a < 4; a++)
		for (unsigned g = 0; g < 4; g++)
			for (unsigned b = 0; b < 16; b++)
				for (unsigned h = 0; h < 4; h++) {
					bool meet = b == a / 2 * 4 + a % 2 + g / 2 * 8 && h == g % 2 * 2;

					clear(&s);
					poke(R_A, item(16 * g, a, NF_F16), 16, 0x3c00);
					poke(R_B, item(16 * h, b, NF_F16), 16, 0x3c00);
					assert_int_equal(insn.fn(&wave, &insn), 0);
					if ((regs[R_D * 64] != 0) != meet)
						fail_msg("A %u of group %u, B %u of group %u", a, g, b, h);
				}
}

/* v_mfma_scale_f32_16x16x128_f8f6f4 of fp8: the lane whose scale byte a value of A is multiplied by. */
static void test_seen_scales(void **state)
{
	struct spec s = named("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4");

	(void)state;
	set_up(&s);
	for (unsigned row = 0; row < 16; row += 3)
		for (unsigned g = 0; g < 4; g++)
			for (unsigned t = 0; t < 32; t++) {
				unsigned from = row + 16 * (g / 2) + 32 * (t / 16);

				clear(&s);
				for (unsigned l = 0; l < 64; l++) {
					regs[R_SA * 64 + l] = 127 + l;
					for (unsigned r = 0; r < 8; r++)
						regs[(R_B + r) * 64 + l] = 0x38383838;
				}
				poke(R_A, item(row + 16 * g, t, NF_FP8), 8, 0x38);
				assert_int_equal(insn.fn(&wave, &insn), 0);
				assert_true(numfmt_get(NF_F32, peek(R_D, place_cd(&s, NF_F32, 0, row, 5), 32)) == pow(2, from));
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ones), cmocka_unit_test(test_products), cmocka_unit_test(test_places),
		cmocka_unit_test(test_formats), cmocka_unit_test(test_scales_of_f4), cmocka_unit_test(test_seen_sparse),
		cmocka_unit_test(test_seen_scales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
