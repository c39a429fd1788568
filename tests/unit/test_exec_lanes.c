/*
 * Arithmetic of the executor beyond one lane and one instruction: EXEC, data between lanes, divisions as compilers
 * write them, conversions of many elements, stochastic rounding.
 */
#include "exec_alu_machine.h"
#include "exec_float.h"

/* ---- EXEC ---- */

static void exec_masks(void **state)
{
	static const char text[] = "s_and_saveexec_b64 s[20:21], s[4:5]\n"
				   "s_or_saveexec_b64 s[20:21], s[4:5]\n"
				   "s_andn2_saveexec_b64 s[20:21], s[4:5]\n"
				   "s_andn1_wrexec_b64 s[20:21], s[4:5]\n"
				   "v_cmpx_lt_u32_e32 vcc, v1, v2\n";
	struct machine *x = machine_new(targets[1], text);
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		uint64_t exec = two(random32(), random32()), a = two(random32(), random32()), want = 0;
		uint64_t results[4];

		if (i == 7)
			a = ~exec;
		results[0] = a & exec;
		results[1] = a | exec;
		results[2] = a & ~exec;
		results[3] = ~a & exec;
		x_sput(w, REG_SGPR + 4, (uint32_t)a);
		x_sput(w, REG_SGPR + 5, (uint32_t)(a >> 32));
		x_set_exec(w, exec);
		step(x, i % 4);
		assert_true(w->exec == results[i % 4]);
		assert_true(two(x_sget(w, REG_SGPR + 20), x_sget(w, REG_SGPR + 21)) == (i % 4 == 3 ? results[3] : exec));
		assert_int_equal(x_scc(w), results[i % 4] != 0);
		fill(x, 1000 + i);
		exec = w->exec;
		for (unsigned l = 0; l < 64; l++)
			want |= (uint64_t)(exec >> l & 1 && x_vreg(w, 1)[l] < x_vreg(w, 2)[l]) << l;
		step(x, 4);
		assert_true(w->exec == want);
		assert_true(x_vcc(w) == want);
	}
	machine_free(x);
}

/* gfx1250's v_cmpx has no destination. */
static void exec_masks_of_gfx1250(void **state)
{
	struct machine *x = machine_new(targets[2], "v_cmpx_gt_f64_e32 1.0, v[6:7]\nv_cmpx_eq_u16_e64 v1, v2\n"
						    "s_and_saveexec_b32 s20, s1\nv_cmp_lt_f16_e64 s20, v1, -v2\n");
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		uint64_t exec, want = 0, vcc;

		for (unsigned k = 0; k < 2; k++) {
			want = 0;
			fill(x, 1000 + i);
			exec = w->exec;
			vcc = x_vcc(w);
			for (unsigned l = 0; l < 32; l++)
				want |= (uint64_t)(exec >> l & 1 && (k ? (uint16_t)x_vreg(w, 1)[l] == (uint16_t)x_vreg(w, 2)[l] :
									 isless(d(reg64(x, 6, l)), 1.0)))
					<< l;
			step(x, k);
			assert_true(w->exec == want && x_vcc(w) == vcc);
		}
		fill(x, 1000 + i);
		exec = w->exec;
		step(x, 2);
		assert_int_equal(w->exec, exec & x_sget(w, REG_SGPR + 1));
		assert_int_equal(x_sget(w, REG_SGPR + 20), exec);
		fill(x, 1000 + i);
		want = 0;
		for (unsigned l = 0; l < 32; l++)
			want |= (uint64_t)(w->exec >> l & 1 && isless(h(x_vreg(w, 1)[l]), -h(x_vreg(w, 2)[l]))) << l;
		step(x, 3);
		assert_int_equal(x_sget(w, REG_SGPR + 20), want);
	}
	machine_free(x);
	x = machine_new(targets[2], "v_cmpx_lt_u32_e64 s1, v2\n"); /* the first source is no destination */
	fill(x, 0);
	x_sput(&x->w, REG_SGPR + 1, 77);
	step(x, 0);
	assert_int_equal(x_sget(&x->w, REG_SGPR + 1), 77);
	machine_free(x);
}

/* ---- between lanes ---- */

static void lanes_of_gfx9(void **state)
{
	static const char text[] = "v_readfirstlane_b32 s20, v1\n"
				   "v_readlane_b32 s20, v1, s1\n"
				   "v_writelane_b32 v20, s2, 37\n"
				   "v_permlane32_swap_b32 v1, v2\n"
				   "v_permlane16_swap_b32 v1, v2\n"
				   "v_swap_b32 v1, v2\n"
				   "v_mov_b32_dpp v20, v1 row_shr:3 row_mask:0xf bank_mask:0xf\n"
				   "v_add_u32_dpp v20, v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n"
				   "v_add_f32_dpp v20, -v1, v2 row_newbcast:5 row_mask:0xf bank_mask:0xf\n";
	struct machine *x = machine_new(targets[1], text);
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		uint32_t a[64], b[64], o[64], first = 0;

		for (uint32_t at = 0; at < 9; at++) {
			fill(x, 900 + i);
			memcpy(a, x_vreg(w, 1), sizeof(a));
			memcpy(b, x_vreg(w, 2), sizeof(b));
			memcpy(o, x_vreg(w, 20), sizeof(o));
			if (at > 2)
				x_set_exec(w, w->all);
			for (first = 0; !(w->exec >> first & 1); first++)
				;
			step(x, at);
			if (at == 0)
				assert_int_equal(x_sget(w, REG_SGPR + 20), a[first]);
			if (at == 1)
				assert_int_equal(x_sget(w, REG_SGPR + 20), a[x_sget(w, REG_SGPR + 1) % 64]);
			for (unsigned l = 0; l < 64 && at > 1; l++) {
				unsigned row = l / 16;
				uint32_t r = x_vreg(w, 20)[l], r1 = x_vreg(w, 1)[l], r2 = x_vreg(w, 2)[l];

				switch (at) {
				case 2: assert_int_equal(r, l == 37 ? x_sget(w, REG_SGPR + 2) : o[l]); break;
				case 3:
					assert_int_equal(r1, l < 32 ? a[l] : b[l - 32]);
					assert_int_equal(r2, l < 32 ? a[l + 32] : b[l]);
					break;
				case 4:
					assert_int_equal(r1, row % 2 ? b[l - 16] : a[l]);
					assert_int_equal(r2, row % 2 ? b[l] : a[l + 16]);
					break;
				case 5: assert_true(r1 == b[l] && r2 == a[l]); break;
				case 6: assert_int_equal(r, l % 16 < 3 ? o[l] : a[l - 3]); break;
				case 7: assert_int_equal(r, a[l ^ 1] + b[l]); break;
				default: assert_true(same(K_F, r, fb(-f(a[row * 16 + 5]) + f(b[l]))));
				}
			}
		}
	}
	machine_free(x);
}

static void lanes_of_gfx1250(void **state)
{
	static const char text[] = "v_permlane16_b32 v20, v1, s1, s2 op_sel:[1,0]\n"
				   "v_permlanex16_b32 v20, v1, s1, s2 op_sel:[1,0]\n"
				   "v_permlane_bcast_b32 v20, v1, 3, 8\n"
				   "v_permlane_up_b32 v20, v1, 2, 8\n"
				   "v_permlane_down_b32 v20, v1, 3, 16\n"
				   "v_permlane_xor_b32 v20, v1, 5, 8\n"
				   "v_dual_add_f32 v20, v1, v2 :: v_dual_mul_f32 v21, v2, v3\n"
				   "v_permlane16_swap_b32 v1, v2\n"
				   "v_dual_mov_b32 v21, v1 :: v_dual_bitop2_b32 v20, v1, v2 bitop3:0x14\n";
	struct machine *x = machine_new(targets[2], text);
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 60; i++)
		for (uint32_t at = 0; at < 9; at++) {
			uint32_t a[32], b[32];
			uint64_t select;

			fill(x, 5000 + i);
			x_set_exec(w, w->all);
			memcpy(a, x_vreg(w, 1), sizeof(a));
			memcpy(b, x_vreg(w, 2), sizeof(b));
			select = two(x_sget(w, REG_SGPR + 1), x_sget(w, REG_SGPR + 2));
			step(x, at);
			for (unsigned l = 0; l < 32; l++) {
				uint32_t r = x_vreg(w, 20)[l];
				unsigned s = select >> l % 16 * 4 & 15, j = l % 8;

				switch (at) {
				case 0: assert_int_equal(r, a[l / 16 * 16 + s]); break;
				case 1: assert_int_equal(r, a[(1 - l / 16) * 16 + s]); break;
				case 2: assert_int_equal(r, a[l - j + 3]); break;
				case 3: assert_int_equal(r, j < 2 ? a[l] : a[l - 2]); break;
				case 4: assert_int_equal(r, l % 16 + 3 < 16 ? a[l + 3] : a[l]); break;
				case 5: assert_int_equal(r, a[l ^ 5]); break;
				case 6:
					assert_true(same(K_F, r, fb(f(a[l]) + f(b[l]))));
					assert_true(same(K_F, x_vreg(w, 21)[l], fb(f(b[l]) * f(x_vreg(w, 3)[l]))));
					break;
				case 7:
					assert_int_equal(x_vreg(w, 1)[l], l < 16 ? a[l] : b[l - 16]);
					assert_int_equal(x_vreg(w, 2)[l], l < 16 ? a[l + 16] : b[l]);
					break;
				default: assert_true(r == (a[l] ^ b[l]) && x_vreg(w, 21)[l] == a[l]);
				}
			}
		}
	machine_free(x);
}

/* ---- division as compilers write it: right to the last bit ---- */

static void division(void **state)
{
	static const char text[] = "v_div_scale_f32 v10, s[20:21], v2, v2, v1\n"
				   "v_div_scale_f32 v11, vcc, v1, v2, v1\n"
				   "v_rcp_f32_e32 v12, v10\n"
				   "v_fma_f32 v13, -v10, v12, 1.0\n"
				   "v_fmac_f32_e32 v12, v13, v12\n"
				   "v_mul_f32_e32 v14, v11, v12\n"
				   "v_fma_f32 v15, -v10, v14, v11\n"
				   "v_fmac_f32_e32 v14, v15, v12\n"
				   "v_fma_f32 v15, -v10, v14, v11\n"
				   "v_div_fmas_f32 v15, v15, v12, v14\n"
				   "v_div_fixup_f32 v20, v15, v2, v1\n"
				   "v_div_scale_f64 v[30:31], s[20:21], v[6:7], v[6:7], v[4:5]\n"
				   "v_rcp_f64_e32 v[32:33], v[30:31]\n"
				   "v_fma_f64 v[34:35], -v[30:31], v[32:33], 1.0\n"
				   "v_fmac_f64_e32 v[32:33], v[32:33], v[34:35]\n"
				   "v_fma_f64 v[34:35], -v[30:31], v[32:33], 1.0\n"
				   "v_fmac_f64_e32 v[32:33], v[32:33], v[34:35]\n"
				   "v_div_scale_f64 v[34:35], vcc, v[4:5], v[6:7], v[4:5]\n"
				   "v_mul_f64 v[36:37], v[34:35], v[32:33]\n"
				   "v_fma_f64 v[30:31], -v[30:31], v[36:37], v[34:35]\n"
				   "v_div_fmas_f64 v[30:31], v[30:31], v[32:33], v[36:37]\n"
				   "v_div_fixup_f64 v[22:23], v[30:31], v[6:7], v[4:5]\n";
	struct machine *x = machine_new(targets[0], text);
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		fill(x, i);
		x_set_exec(w, w->all);
		for (unsigned l = 0; l < 64 && i > 80; l++) { /* all exponents */
			x_vreg(w, 1)[l] = random32();
			x_vreg(w, 2)[l] = random32();
			x_vreg(w, 5)[l] = random32();
			x_vreg(w, 7)[l] = random32();
		}
		for (uint32_t at = 0; at < x->p->ninsns && strncmp(x->p->insns[at].op, "s_endpgm", 8) != 0; at++)
			step(x, at);
		for (unsigned l = 0; l < 64; l++) {
			uint32_t n = x_vreg(w, 1)[l], den = x_vreg(w, 2)[l], got = x_vreg(w, 20)[l], want = fb(f(n) / f(den));
			uint64_t N = reg64(x, 4, l), D = reg64(x, 6, l), got64 = reg64(x, 22, l), want64 = db(d(N) / d(D));

			if (!same(K_F, got, want))
				fail_msg("%08x / %08x: got %08x, want %08x", n, den, got, want);
			/* A quotient that is denormal may be rounded twice. */
			if (!same(K_D, got64, want64) && !(fabs(d(want64)) < 0x1p-1021 && llabs((long long)(got64 - want64)) <= 1))
				fail_msg("%016llx / %016llx: got %016llx, want %016llx", (unsigned long long)N, (unsigned long long)D,
					 (unsigned long long)got64, (unsigned long long)want64);
		}
	}
	machine_free(x);
}

/* ---- every f16 and every small number; roundings at and next to each middle between two of them ---- */

static void all_halves(void **state)
{
	(void)state;
	for (uint32_t code = 0; code < 0x10000; code++) {
		float v = xf_from_f16(code), next = (float)h(code + 1);

		assert_true(same(K_F, fb(v), fb((float)h(code))));
		assert_true(same(K_F, fb(xf_from_bf16(code)), fb((float)bf(code))));
		if (isnan(v))
			continue;
		assert_int_equal(xf_to_f16(v), code);
		if ((code & 0x7fff) >= 0x7c00)
			continue;
		if (isinf(next))
			next = copysignf(65536, v);
		for (int step = -1; step <= 1; step++) {
			float middle = (v + next) / 2, x = step ? nextafterf(middle, step > 0 ? INFINITY : -INFINITY) : middle;

			assert_int_equal(xf_to_f16(x), hq((quad)x));
			assert_int_equal(xf_to_f16_rtz(x), toward0(x));
			assert_int_equal(xf_f64_to_f16((double)x), hq((quad)x));
			assert_int_equal(xf_f64_to_f16(nextafter((double)middle, step)), hq((quad)nextafter((double)middle, step)));
			assert_int_equal(xf_small_put(XF_F16, (double)x, false), hq((quad)x));
		}
	}
}

static void all_small(void **state)
{
	static const struct { enum xsmall f; enum format format; } t[] = {
		{ XF_FP8, OCP8 }, { XF_BF8, OCPB8 }, { XF_FP8_FNUZ, FNUZ8 }, { XF_BF8_FNUZ, FNUZB8 }, { XF_FP4, FP4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++)
		for (uint32_t code = 0; code < 1u << formats[t[i].format].bits; code++) {
			double v = small(t[i].format, code), next = small(t[i].format, code + 1);

			assert_true(same(K_D, db(xf_small_get(t[i].f, code)), db(v)));
			if (isnan(v))
				continue;
			assert_int_equal(xf_small_put(t[i].f, v, false), code);
			for (int step = -1; step <= 1 && isfinite(v) && isfinite(next); step++) {
				double x = (v + next) / 2 * (1 + step * 0x1p-30);

				assert_int_equal(xf_small_put(t[i].f, x, false), sq(t[i].format, x));
			}
			if (isfinite(v)) { /* saturating, and at infinity */
				assert_int_equal(xf_small_put(t[i].f, copysign(1e30, v), true) & ((1u << (formats[t[i].format].bits - 1)) - 1),
						 formats[t[i].format].last);
				assert_int_equal(xf_small_put(t[i].f, copysign(INFINITY, v), false), sq(t[i].format, copysign(INFINITY, v)));
			}
		}
}

/* ---- many elements at once ---- */

static uint32_t six(const uint32_t *words, unsigned i) /* element i of 6 bits */
{
	uint64_t v = words[i * 6 / 32] | (uint64_t)(i * 6 / 32 < 5 ? words[i * 6 / 32 + 1] : 0) << 32;

	return v >> i * 6 % 32 & 63;
}

static double six_value(bool bf6, uint32_t code)
{
	unsigned man = bf6 ? 2 : 3, e = (code & 31) >> man, fraction = code & ((1u << man) - 1), bias = bf6 ? 3 : 1;
	double part = fraction / (double)(1u << man);
	double v = e ? scalbn(1 + part, (int)e - (int)bias) : scalbn(part, 1 - (int)bias);

	return code & 32 ? -v : v;
}

/* Nearest code by trying all: ties to the even code. */
static uint32_t six_code(bool bf6, double v)
{
	uint32_t best = 0;

	for (uint32_t c = 0; c < 32; c++) {
		double now = fabs(six_value(bf6, c) - fabs(v)), then = fabs(six_value(bf6, best) - fabs(v));

		if (now < then || (now == then && !(c & 1)))
			best = c;
	}
	return best | (signbit(v) ? 32 : 0);
}

static void packs_of_32(void **state)
{
	static const char text[] = "v_cvt_scalef32_pk32_f32_fp6 v[40:71], v[32:37], s1\n"
				   "v_cvt_scalef32_pk32_f16_bf6 v[40:55], v[32:37], s1\n"
				   "v_cvt_scalef32_2xpk16_fp6_f32 v[20:25], v[40:55], v[56:71], s1\n"
				   "v_cvt_scalef32_pk32_bf6_bf16 v[20:25], v[40:55], s1\n";
	struct machine *x = machine_new(targets[1], text);
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		double scale;

		fill(x, 2000 + i);
		x_set_exec(w, w->all);
		scale = pow2(x_sget(w, REG_SGPR + 1));
		for (unsigned r = 32; r < 38; r++)
			for (unsigned l = 0; l < 64; l++)
				x_vreg(w, r)[l] = random32();
		for (unsigned at = 0; at < 2; at++) {
			step(x, at);
			for (unsigned l = 0; l < 64; l++)
				for (unsigned k = 0; k < 32; k++) {
					uint32_t words[6], code, got;

					for (unsigned r = 0; r < 6; r++)
						words[r] = x_vreg(w, 32 + r)[l];
					code = six(words, k);
					got = at ? x_vreg(w, 40 + k / 2)[l] >> 16 * (k % 2) & 0xffff : x_vreg(w, 40 + k)[l];
					assert_int_equal(got, at ? hq((quad)(six_value(true, code) * scale)) :
								   fb((float)(six_value(false, code) * scale)));
				}
		}
		for (unsigned at = 2; at < 4; at++) {
			for (unsigned r = 40; r < 72; r++)
				for (unsigned l = 0; l < 64; l++)
					x_vreg(w, r)[l] = at == 2 ? fb((float)(i32(random32()) * 0x1p-28 * scale)) :
								    (random32() & 0x83ff83ff) + 0x3e003e00;
			step(x, at);
			for (unsigned l = 0; l < 64; l++)
				for (unsigned k = 0; k < 32; k++) {
					uint32_t words[6];
					double v = at == 2 ? (double)f(x_vreg(w, 40 + k / 2 + k % 2 * 16)[l]) :
							     bf(x_vreg(w, 40 + k / 2)[l] >> 16 * (k % 2));

					for (unsigned r = 0; r < 6; r++)
						words[r] = x_vreg(w, 20 + r)[l];
					assert_int_equal(six(words, k), six_code(at == 3, v / scale));
				}
		}
	}
	machine_free(x);
}

/* Stochastic rounding: one of the two neighbours, the upper one as often as the value is near it. */
static void random_rounding(void **state)
{
	struct machine *x = machine_new(targets[1], "v_cvt_sr_fp8_f32 v20, v1, v2 op_sel:[0,0,1,1]\n"
						    "v_cvt_sr_bf16_f32 v20, v1, v2\n"
						    "v_cvt_scalef32_sr_bf8_f32 v20, v1, v2, 1.0\n");
	struct xwave *w = &x->w;
	static const struct { uint32_t at; enum format format; unsigned shift; float v; } t[] = {
		{ 0, OCP8, 24, 1.0f + 0.25f / 8 }, { 0, OCP8, 24, -3.0f - 0.75f / 4 }, { 0, OCP8, 24, 0x1p-9f * 0.5f },
		{ 1, BF16, 0, 1.0f + 0.625f / 128 }, { 2, OCPB8, 0, 100.0f },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		double sum = 0, lowest = INFINITY, highest = -INFINITY;
		unsigned bits = formats[t[i].format].bits;

		for (unsigned r = 0; r < 256; r++) {
			for (unsigned l = 0; l < 64; l++) {
				x_vreg(w, 1)[l] = fb(t[i].v);
				x_vreg(w, 2)[l] = (r * 64 + l) << 18 | (random32() & 0x3ffff); /* evenly spread */
			}
			step(x, t[i].at);
			for (unsigned l = 0; l < 64; l++) {
				double got = small(t[i].format, x_vreg(w, 20)[l] >> t[i].shift & ((1u << bits) - 1));

				sum += got;
				lowest = fmin(lowest, got);
				highest = fmax(highest, got);
			}
		}
		assert_true(lowest < (double)t[i].v && highest > (double)t[i].v);
		assert_true(fabs(sum / 16384 - (double)t[i].v) < (highest - lowest) / 1000);
	}
	machine_free(x);
}

/* MODE.FP16_OVFL: the largest number in place of infinity or NaN; an f16 infinity stays what it was. */
static void overflow_mode(void **state)
{
	struct machine *x = machine_new(targets[1], "v_cvt_f16_f32_e32 v20, v1\nv_cvt_pk_bf16_f32 v20, v1, v1\n"
						    "v_cvt_pk_fp8_f32 v20, v1, v1\nv_cvt_pk_bf8_f32 v20, v1, v1\n"
						    "v_cvt_scalef32_pk_fp4_f32 v20, v1, v1, 1.0\n");
	static const float v[] = { 1e30f, -3.4028e38f, INFINITY, -INFINITY, 1.0f };
	static const uint32_t want[2][4][5] = {
		{ { 0x7c00, 0xfc00, 0x7c00, 0xfc00, 0x3c00 }, { 0x714a, 0xff80, 0x7f80, 0xff80, 0x3f80 },
		  { 0x7f, 0xff, 0x7f, 0xff, 0x38 }, { 0x7c, 0xfc, 0x7c, 0xfc, 0x3c } },
		{ { 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x3c00 }, { 0x714a, 0xff7f, 0x7f80, 0xff80, 0x3f80 },
		  { 0x7e, 0xfe, 0x7e, 0xfe, 0x38 }, { 0x7b, 0xfb, 0x7b, 0xfb, 0x3c } },
	};

	(void)state;
	for (unsigned mode = 0; mode < 2; mode++)
		for (unsigned k = 0; k < 5; k++) {
			x->w.mode = mode << 23;
			for (unsigned l = 0; l < 64; l++)
				x_vreg(&x->w, 1)[l] = fb(v[k]);
			for (uint32_t at = 0; at < 4; at++) {
				uint32_t mask = at < 2 ? 0xffff : 0xff;

				step(x, at);
				assert_int_equal(x_vreg(&x->w, 20)[k] & mask, want[mode][at][k]);
			}
			step(x, 4);
			assert_int_equal(x_vreg(&x->w, 20)[k] & 15, k == 4 ? 2 : signbit(v[k]) ? 15 : 7);
		}
	machine_free(x);
}

/* The random number's upper bits are added to the fraction, then the rest is cut off. */
static void random_bits(void **state)
{
	struct machine *x = machine_new(targets[2], "v_cvt_sr_fp8_f32 v20, v1, v2 byte_sel:2\nv_cvt_sr_bf8_f16 v20, v1, v2\n"
						    "v_cvt_sr_pk_f16_f32 v20, v1, v2, v3\n");
	struct xwave *w = &x->w;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		for (uint32_t at = 0; at < 3; at++) {
			fill(x, 3000);
			x_set_exec(w, w->all);
			for (unsigned l = 0; l < 32; l++) {
				bool half = at == 1;

				x_vreg(w, 1)[l] = half ? (random32() & 0x83ff) | (8 + random32() % 16) << 10 :
							 (random32() & 0x807fffff) | (124 + random32() % 8) << 23;
				x_vreg(w, 2)[l] = at == 2 ? x_vreg(w, 1)[l] ^ 0x80155555 : random32();
				x_vreg(w, 3)[l] = random32();
			}
			step(x, at);
			for (unsigned l = 0; l < 32; l++) {
				uint32_t a = x_vreg(w, 1)[l], b = x_vreg(w, 2)[l], c = x_vreg(w, 3)[l], got = x_vreg(w, 20)[l];

				if (at == 0)
					assert_int_equal(got >> 16 & 255, sq(OCP8, (double)f((a + (b >> 12)) & ~0xfffffu)));
				else if (at == 1)
					assert_int_equal(got & 255, sq(OCPB8, h((a + (b >> 24)) & 0xff00)));
				else
					assert_int_equal(got, hq((quad)f((a + ((c & 0xffff) >> 3)) & ~0x1fffu)) |
								      hq((quad)f((b + (c >> 19)) & ~0x1fffu)) << 16);
			}
		}
	machine_free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exec_masks),
		cmocka_unit_test(exec_masks_of_gfx1250),
		cmocka_unit_test(lanes_of_gfx9),
		cmocka_unit_test(lanes_of_gfx1250),
		cmocka_unit_test(division),
		cmocka_unit_test(all_halves),
		cmocka_unit_test(all_small),
		cmocka_unit_test(packs_of_32),
		cmocka_unit_test(random_rounding),
		cmocka_unit_test(random_bits),
		cmocka_unit_test(overflow_mode),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
