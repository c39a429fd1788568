/* Modifiers of matrix instructions: broadcast, signs, constants, overflow, index sets, sources of scales. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "matrix_ref.h"

static void broadcast(const struct spec *s)
{
	if (!s->mfma || s->b == 1 || s->fa == NF_F64)
		return;
	for (unsigned cbsz = 1; 1u << cbsz <= s->b; cbsz++)
		for (unsigned abid = 0; abid < 1u << cbsz; abid++) {
			struct ref was;

			set_up(s);
			fill(s, 0);
			was = ref;
			insn.mx.cbsz = (uint8_t)cbsz;
			insn.mx.abid = (uint8_t)abid;
			/* Within each set of 2^cbsz blocks, the one numbered abid serves all. */
			for (unsigned b = 0; b < s->b; b++)
				memcpy(ref.a[b], was.a[b / (1u << cbsz) * (1u << cbsz) + abid], sizeof(ref.a[b]));
			assert_int_equal(insn.fn(&wave, &insn), 0);
			compare(s);
		}
}

static void lane_groups(const struct spec *s)
{
	if (!s->mfma || s->fa == NF_F64 || s->any)
		return;
	for (unsigned blgp = 1; blgp < 8; blgp++) {
		set_up(s);
		fill(s, 0);
		insn.mx.blgp = (uint8_t)blgp;
		for (unsigned b = 0; b < s->b; b++)
			for (unsigned k = 0; k < s->k; k++)
				for (unsigned j = 0; j < s->n; j++) {
					struct at a = place_b(s, b, j, k);
					const unsigned from[8] = { a.lane, a.lane % 32, a.lane % 32 + 32, (a.lane + 16) % 64, a.lane % 16,
								   a.lane % 16 + 16, a.lane % 16 + 32, a.lane % 16 + 48 };

					a.lane = from[blgp];
					ref.b[b][k][j] = value(s, s->fb, peek(R_B, a, numfmt_bits(s->fb)), 1);
				}
		assert_int_equal(insn.fn(&wave, &insn), 0);
		compare(s);
	}
}

static void test_broadcast(void **state)
{
	(void)state;
	each(broadcast, "mfma");
	each(lane_groups, "mfma");
}

static void test_signs(void **state)
{
	static const char *const f64[] = { "v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64" };
	static const char *const wmma[] = { "v_wmma_f32_16x16x32_f16", "v_wmma_bf16_16x16x32_bf16", "v_wmma_f32_16x16x64_fp8_bf8",
					    "v_wmma_f16_16x16x32_f16", "v_wmma_f32_16x16x128_f8f6f4" };

	(void)state;
	for (unsigned n = 0; n < 2; n++)
		for (unsigned neg = 0; neg < 8; neg++) {
			struct spec s = named("gfx942", f64[n]);

			set_up(&s);
			fill(&s, 0);
			insn.mx.blgp = (uint8_t)neg;
			insn.mx.cbsz = 1; /* ignored */
			for (unsigned b = 0; b < s.b; b++)
				for (unsigned x = 0; x < s.m; x++)
					for (unsigned y = 0; y < s.n; y++) {
						ref.c[b][x][y] *= neg & 4 ? -1 : 1;
						if (y < s.k)
							ref.a[b][x][y] *= neg & 1 ? -1 : 1;
						if (x < s.k)
							ref.b[b][x][y] *= neg & 2 ? -1 : 1;
					}
			assert_int_equal(insn.fn(&wave, &insn), 0);
			compare(&s);
		}
	for (unsigned n = 0; n < 5; n++)
		for (unsigned bits = 0; bits < 4; bits++) {
			struct spec s = named("gfx1250", wmma[n]);

			set_up(&s);
			fill(&s, 0);
			insn.mx.neg_lo = bits & 1 ? 4 : 0;
			insn.mx.neg_hi = bits & 2 ? 4 : 0;
			for (unsigned i = 0; i < 16; i++)
				for (unsigned j = 0; j < 16; j++) {
					double *c = &ref.c[0][i][j];

					*c = bits & 2 ? fabs(*c) : *c;
					*c = bits & 1 ? -*c : *c;
				}
			assert_int_equal(insn.fn(&wave, &insn), 0);
			compare(&s);
		}
	/* Halves of the registers of A and B. */
	for (unsigned bits = 0; bits < 16; bits++) {
		struct spec s = named("gfx1250", "v_wmma_f32_16x16x32_f16");

		set_up(&s);
		fill(&s, 0);
		insn.mx.neg_lo = bits & 3;
		insn.mx.neg_hi = bits >> 2;
		for (unsigned i = 0; i < 16; i++)
			for (unsigned k = 0; k < 32; k++) {
				unsigned set = k % 2 ? bits >> 2 : bits & 3;

				ref.a[0][i][k] *= set & 1 ? -1 : 1;
				ref.b[0][k][i] *= set & 2 ? -1 : 1;
			}
		assert_int_equal(insn.fn(&wave, &insn), 0);
		compare(&s);
	}
}

static void test_signed_bytes(void **state)
{
	static const char *const names[] = { "v_wmma_i32_16x16x64_iu8", "v_swmmac_i32_16x16x128_iu8" };

	(void)state;
	for (unsigned n = 0; n < 2; n++)
		for (unsigned bits = 0; bits < 4; bits++) {
			struct spec s = named("gfx1250", names[n]);

			iu8_signed[0] = bits & 1;
			iu8_signed[1] = bits >> 1;
			set_up(&s);
			insn.mx.neg_lo = (uint8_t)bits;
			fill(&s, 0);
			assert_int_equal(insn.fn(&wave, &insn), 0);
			compare(&s);
		}
	iu8_signed[0] = iu8_signed[1] = false;
}

static void constant_c(const struct spec *s)
{
	static const double values[] = { 1.0, -4.0, 0.5, 0 };

	if (s->sparse)
		return;
	for (unsigned v = 0; v < 4; v++) {
		double c = s->fc == NF_I32 ? (int)(values[v] * 2) : values[v];

		set_up(s);
		fill(s, 0);
		insn.o[3] = (struct xopnd){ .kind = OPERAND_VALUE, .bits = numfmt_put(s->fc, c) };
		for (unsigned i = 0; i < 2 && s->scale; i++)
			fill_scales(s, i ? R_SB : R_SA, i ? s->n : s->m, 0, 0, i ? ref.sb : ref.sa);
		for (unsigned b = 0; b < s->b; b++)
			for (unsigned i = 0; i < s->m; i++)
				for (unsigned j = 0; j < s->n; j++)
					ref.c[b][i][j] = c;
		assert_int_equal(insn.fn(&wave, &insn), 0);
		compare(s);
	}
}

static void test_constant_c(void **state)
{
	(void)state;
	each(constant_c, NULL);
	assert_true(has(op_named("v_wmma_f16_16x16x32_f16")->types, "wide wide wide f16"));
	assert_true(has(op_named("v_wmma_bf16_16x16x32_bf16")->types, "wide wide wide bf16"));
	assert_true(has(op_named("v_mfma_f32_16x16x16_f16")->types, "wide wide wide f32"));
	assert_true(has(op_named("v_mfma_i32_16x16x32_i8")->types, "wide wide wide i32"));
	assert_true(has(op_named("v_mfma_f64_16x16x4_f64")->types, "wide wide wide f64"));
}

/* C at the edge of 32 bits and one product on top. */
static void test_integer_overflow(void **state)
{
	static const struct { const char *target, *name; } ops[] = { { "gfx942", "v_mfma_i32_16x16x32_i8" },
								     { "gfx1250", "v_wmma_i32_16x16x64_iu8" } };

	(void)state;
	for (unsigned n = 0; n < 2; n++)
		for (unsigned how = 0; how < 4; how++) {
			struct spec s = named(ops[n].target, ops[n].name);
			struct at d = place_cd(&s, NF_I32, 0, 3, 5);

			set_up(&s);
			clear(&s);
			poke(R_A, place_a(&s, 0, 3, 7), 8, 100);
			poke(R_B, place_b(&s, 0, 5, 7), 8, how & 1 ? 0x9c : 100); /* -100 */
			poke(R_C, d, 32, how & 1 ? 0x80000005 : 0x7ffffff0);
			insn.mx.neg_lo = n ? 3 : 0;
			insn.mx.clamp = how & 2;
			assert_int_equal(insn.fn(&wave, &insn), 0);
			if (how & 2)
				assert_int_equal(peek(R_D, d, 32), how & 1 ? 0x80000000 : 0x7fffffff);
			else
				assert_int_equal(peek(R_D, d, 32), how & 1 ? 0x80000005u - 10000u : 0x7ffffff0u + 10000u);
		}
}

/* A large product of finite numbers; MODE.FP16_OVFL stops it at the largest one. */
static void test_float_overflow(void **state)
{
	static const struct { const char *target, *name; uint64_t plain, stopped; } ops[] = {
		{ "gfx942", "v_mfma_f32_16x16x4_f32", 0x7f800000, 0x7f7fffff },
		{ "gfx950", "v_mfma_f32_32x32x16_bf16", 0x7f800000, 0x7f7fffff },
		{ "gfx1250", "v_wmma_f32_16x16x32_bf16", 0x7f800000, 0x7f800000 },
		{ "gfx1250", "v_wmma_f16_16x16x32_f16", 0x7c00, 0x7bff },
		{ "gfx1250", "v_wmma_bf16_16x16x32_bf16", 0x7f80, 0x7f7f },
	};

	(void)state;
	for (unsigned n = 0; n < sizeof(ops) / sizeof(ops[0]); n++)
		for (unsigned mode = 0; mode < 2; mode++) {
			struct spec s = named(ops[n].target, ops[n].name);
			struct at d = place_cd(&s, s.fd, 0, 15, 2);
			double big = s.fa == NF_F16 ? 60000.0 : 0x1p120;

			set_up(&s);
			clear(&s);
			wave.mode = mode ? 1u << 23 : 0;
			poke(R_A, place_a(&s, 0, 15, 1), numfmt_bits(s.fa), numfmt_put(s.fa, big));
			poke(R_B, place_b(&s, 0, 2, 1), numfmt_bits(s.fb), numfmt_put(s.fb, big));
			assert_int_equal(insn.fn(&wave, &insn), 0);
			assert_int_equal(peek(R_D, d, numfmt_bits(s.fd)), mode ? ops[n].stopped : ops[n].plain);
			/* An infinity that comes in goes out. */
			poke(R_A, place_a(&s, 0, 15, 1), numfmt_bits(s.fa), numfmt_put(s.fa, INFINITY));
			assert_int_equal(insn.fn(&wave, &insn), 0);
			assert_int_equal(peek(R_D, d, numfmt_bits(s.fd)), ops[n].plain);
			/* And infinity times nothing is no number. */
			poke(R_B, place_b(&s, 0, 2, 1), numfmt_bits(s.fb), 0);
			assert_int_equal(insn.fn(&wave, &insn), 0);
			assert_true(isnan(numfmt_get(s.fd, peek(R_D, d, numfmt_bits(s.fd)))));
		}
}

/* One index register of gfx9 serves several instructions: abid says which part, unless cbsz is set. */
static void index_sets(const struct spec *s)
{
	unsigned bits = s->k * s->m / 64, sets = 32 / bits;

	if (!s->smfmac)
		return;
	for (unsigned abid = 0; abid < 4; abid++)
		for (unsigned cbsz = 0; cbsz < 2; cbsz++) {
			unsigned set = cbsz ? 0 : abid % sets;

			set_up(s);
			insn.mx.abid = (uint8_t)abid;
			insn.mx.cbsz = (uint8_t)cbsz;
			fill(s, set * bits);
			assert_int_equal(insn.fn(&wave, &insn), 0);
			compare(s);
		}
}

static void test_index_sets(void **state)
{
	(void)state;
	each(index_sets, "smfmac");
}

static void test_scale_sources(void **state)
{
	struct spec s = named("gfx1250", "v_wmma_scale_f32_16x16x128_f8f6f4");
	double factor[4] = { 4, 1, 8, 0.25 };

	(void)state;
	for (unsigned how = 0; how < 4; how++) {
		if (how == 3)
			s = named("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4");
		set_up(&s);
		fill(&s, 0);
		fill_scales(&s, R_SB, 16, 0, 0, ref.sb);
		insn.o[4] = (struct xopnd){ .kind = OPERAND_VALUE, .bits = how == 3 ? 0x3e800000 : 0 };
		if (how == 0 || how == 2) {
			insn.o[4] = (struct xopnd){ .kind = OPERAND_REG, .reg = REG_SGPR + 7, .n = 1 };
			wave.s[7] = how ? 0xffffff82 : 129; /* the lowest byte alone */
		}
		for (unsigned i = 0; i < 16; i++)
			for (unsigned q = 0; q < 4; q++)
				ref.sa[i][q] = factor[how];
		assert_int_equal(insn.fn(&wave, &insn), 0);
		compare(&s);
	}
	/* 0xff is no number. */
	s = named("gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4");
	set_up(&s);
	clear(&s);
	regs[R_SA * 64 + 3] = 0xff;
	assert_int_equal(insn.fn(&wave, &insn), 0);
	for (unsigned i = 0; i < 16; i++)
		assert_int_equal(isnan(numfmt_get(NF_F32, peek(R_D, place_cd(&s, NF_F32, 0, i, 9), 32))), i == 3);
}

/* D on top of A, B or C, and operands in accumulation registers. */
static void test_overlap(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 4; how++) {
		struct spec s = named("gfx950", "v_mfma_f32_32x32x16_f16");
		uint32_t d[16 * 64];

		set_up(&s);
		fill(&s, 0);
		assert_int_equal(insn.fn(&wave, &insn), 0);
		memcpy(d, regs + R_D * 64, sizeof(d));
		insn.o[0].reg = how == 0 ? R_A : how == 1 ? R_B - 3 : how == 2 ? R_C : REG_AGPR + 40;
		if (how == 3) {
			memcpy(regs + (REG_AGPR + 8) * 64, regs + R_A * 64, 4 * 64 * sizeof(*regs));
			insn.o[1].reg = REG_AGPR + 8;
		}
		assert_int_equal(insn.fn(&wave, &insn), 0);
		assert_memory_equal(d, regs + insn.o[0].reg * 64, sizeof(d));
	}
}

static void test_refused(void **state)
{
	struct spec s = named("gfx950", "v_mfma_f32_16x16x128_f8f6f4");

	(void)state;
	set_up(&s);
	insn.mx.fmt_a = 5;
	assert_int_equal(insn.fn(&wave, &insn), -1);
	set_up(&s);
	insn.mx.fmt_b = 4; /* four registers, not eight */
	assert_int_equal(insn.fn(&wave, &insn), -1);
	set_up(&s);
	wave.lanes = 32;
	assert_int_equal(insn.fn(&wave, &insn), -1);
	assert_int_equal(faults, 3);
	faults = 0;
}

/* xf32: ten bits of the mantissa count. */
static void test_xf32(void **state)
{
	struct spec s = named("gfx942", "v_mfma_f32_16x16x8_xf32");
	struct at d = place_cd(&s, NF_F32, 0, 1, 2);

	(void)state;
	set_up(&s);
	clear(&s);
	poke(R_A, place_a(&s, 0, 1, 6), 32, numfmt_put(NF_F32, 1 + 0x1p-10 + 0x1p-12));
	poke(R_B, place_b(&s, 0, 2, 6), 32, numfmt_put(NF_F32, 3));
	assert_int_equal(insn.fn(&wave, &insn), 0);
	assert_true(numfmt_get(NF_F32, peek(R_D, d, 32)) == 3 * (1 + 0x1p-10));
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broadcast), cmocka_unit_test(test_signs), cmocka_unit_test(test_signed_bytes),
		cmocka_unit_test(test_constant_c), cmocka_unit_test(test_integer_overflow), cmocka_unit_test(test_float_overflow),
		cmocka_unit_test(test_index_sets), cmocka_unit_test(test_scale_sources), cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_xf32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
