/*
 * Transcendental functions. The hardware is within one unit in the last place; here the result is the double
 * precision one rounded. As in the hardware f32 (but not sine and cosine) takes and gives no denormal numbers.
 */
#include "exec_alu_loops.h"


/* Sine of x turns: exact reduction, so that quarters of a turn come out exact too. */
static double sin_turns(double x, bool cosine)
{
	const double two_pi = 6.283185307179586476925;
	double r;

	if (!isfinite(x))
		return (double)NAN;
	r = fmod(x, 1.0);
	if (r == 0 && x != 0)
		r = 0;
	if (cosine)
		return fabs(r) == 0.25 || fabs(r) == 0.75 ? 0.0 : cos(r * two_pi);
	return fabs(r) == 0.5 ? 0.0 : sin(r * two_pi);
}

static double compute(unsigned what, double x)
{
	switch (what) {
	case T_EXP: return exp2(x);
	case T_LOG: return x < 0 ? (double)NAN : log2(x);
	case T_RCP: return 1.0 / x;
	case T_RSQ: return x < 0 ? (double)NAN : x == 0 ? 1.0 / x : 1.0 / sqrt(x);
	case T_SQRT: return sqrt(x);
	case T_SIN: return sin_turns(x, false);
	case T_COS: return sin_turns(x, true);
	default: return tanh(x);
	}
}

static float flush(float f)
{
	return fabsf(f) < 0x1p-126f ? copysignf(0.0f, f) : f;
}

static uint32_t trans32(unsigned what, uint32_t bits)
{
	bool keeps = what == T_SIN || what == T_COS || what == T_TANH;
	float x = xf_f32(bits);

	if (xf_nan32(bits))
		return bits | 0x400000;
	x = (float)compute(what, (double)(keeps ? x : flush(x)));
	return xf_bits32(keeps ? x : flush(x));
}

int xv_trans_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba);

	LANES(w)
		r[l] = w->exec >> l & 1 ? trans32((unsigned)in->arg, pa[l]) : 0;
	alu_put_f32(w, in, r);
	return 0;
}

int xv_trans_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);

	LANES(w)
		r[l] = w->exec >> l & 1 ? xf_f64_to_f16(compute((unsigned)in->arg, (double)xf_from_f16(pa[l]))) : 0;
	alu_put_f16(w, in, r, false);
	return 0;
}

int xv_trans_bf16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);

	LANES(w) {
		r[l] = w->exec >> l & 1 ? xf_f64_to_bf16(compute((unsigned)in->arg, (double)xf_from_bf16(pa[l]))) : 0;
		if (in->clamp)
			r[l] = alu_clamp_bf16(r[l]);
	}
	alu_put_16(w, in, r, false);
	return 0;
}

int xv_trans_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64], r[64];

	alu_f64(w, in, 1, a);
	LANES(w)
		r[l] = xf_bits64(compute((unsigned)in->arg, xf_f64(a[l])));
	alu_put_f64(w, in, r);
	return 0;
}

/* Scalar results of the same functions. */
int xv_s_trans_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t x = x_scalar32(w, in, 1);

	x &= in->o[1].abs ? 0x7fffffff : UINT32_MAX;
	x ^= in->o[1].neg ? 0x80000000 : 0;
	x = trans32((unsigned)in->arg, x);
	x_scalar_put32(w, in, 0, in->clamp ? xf_bits32(alu_clamp_f32(xf_f32(x))) : x);
	return 0;
}

int xv_s_trans_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t x = x_scalar32(w, in, 1) & 0xffff;

	x &= in->o[1].abs ? 0x7fff : 0xffff;
	x ^= in->o[1].neg ? 0x8000 : 0;
	x = xf_f64_to_f16(compute((unsigned)in->arg, (double)xf_from_f16(x)));
	x_scalar_put32(w, in, 0, in->clamp ? alu_clamp_f16(x) : x);
	return 0;
}
