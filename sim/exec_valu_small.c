/* Vector conversions from and to numbers of 4, 6 and 8 bits, with and without a scale. */
#include "exec_alu_loops.h"

#include "exec_small.h"

/*
 * fp8 and bf8 of gfx942 are the formats without infinity and negative zero; the clamp bit of gfx1250 makes fp8 the
 * scale format E5M3.
 */
static enum xsmall native(const struct xwave *w, const struct xinsn *in, enum xsmall f)
{
	if (f != XF_FP8 && f != XF_BF8)
		return f;
	if (isa_of_target(x_target(w)) == ISA_942)
		return f == XF_FP8 ? XF_FP8_FNUZ : XF_BF8_FNUZ;
	return in->clamp && f == XF_FP8 && !x_gfx9(w) ? XF_E5M3 : f;
}

/* ---- without a scale ---- */

/* Byte of a source: SDWA has moved it down already, byte_sel names it on gfx1250. arg: format. */
int xv_cvt_f32_f8(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64], shift = (uint32_t)alu_modifier(in, "byte_sel", 0) % 4 * 8;
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba);
	enum xsmall f = native(w, in, (enum xsmall)in->arg);

	LANES(w)
		r[l] = xf_bits32((float)xf_small_get(f, pa[l] >> shift & 0xff));
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_cvt_f16_f8(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64], shift = (uint32_t)alu_modifier(in, "byte_sel", 0) % 4 * 8;
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba);

	LANES(w)
		r[l] = xf_to_f16((float)xf_small_get((enum xsmall)in->arg, pa[l] >> shift & 0xff));
	alu_put_16(w, in, r, true);
	return 0;
}

/* Two bytes of one half to two registers. */
int xv_cvt_pk_f32_f8(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[2][64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);
	enum xsmall f = native(w, in, (enum xsmall)in->arg);

	for (unsigned i = 0; i < 2; i++)
		LANES(w)
			r[i][l] = xf_bits32((float)xf_small_get(f, pa[l] >> 8 * i & 0xff));
	x_lanes_put(w, in, 0, 0, r[0]);
	x_lanes_put(w, in, 0, 1, r[1]);
	return 0;
}

int xv_cvt_pk_f16_f8(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);
	enum xsmall f = (enum xsmall)in->arg;

	LANES(w)
		r[l] = xf_to_f16((float)xf_small_get(f, pa[l] & 0xff)) | xf_to_f16((float)xf_small_get(f, pa[l] >> 8)) << 16;
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_cvt_pk_f8_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb);
	enum xsmall f = native(w, in, (enum xsmall)in->arg);
	bool saturate = alu_saturates(w);

	LANES(w)
		r[l] = (xf_small_put(f, (double)xf_f32(pa[l]), saturate) & 0xff) |
		       (xf_small_put(f, (double)xf_f32(pb[l]), saturate) & 0xff) << 8;
	alu_put_16(w, in, r, true);
	return 0;
}

int xv_cvt_pk_f8_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t lo[64], hi[64], r[64];
	enum xsmall f = (enum xsmall)in->arg;
	bool saturate = alu_saturates(w);

	alu_pk16(w, in, 1, lo, hi);
	LANES(w)
		r[l] = xf_small_put(f, (double)xf_from_f16(lo[l]), saturate) |
		       xf_small_put(f, (double)xf_from_f16(hi[l]), saturate) << 8;
	alu_put_16(w, in, r, true);
	return 0;
}

/* Byte of the destination that a result of 8 bits goes to: byte_sel, or elements 2 and 3 of op_sel. */
static unsigned to_byte(const struct xinsn *in)
{
	return (unsigned)alu_modifier(in, "byte_sel", alu_op_sel(in) >> 2 & 3) & 3;
}

static void put_byte(struct xwave *w, const struct xinsn *in, uint32_t r[64])
{
	unsigned shift = to_byte(in) * 8;
	const uint32_t *old = alu_old(w, in, 0);

	LANES(w)
		r[l] = (old[l] & ~(0xffu << shift)) | (r[l] & 0xff) << shift;
	x_lanes_put(w, in, 0, 0, r);
}

/* arg: format, + 64: from f16. */
int xv_cvt_sr_f8(struct xwave *w, const struct xinsn *in)
{
	bool half = in->arg & 64;
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = half ? alu_h16(w, in, 1, ba) : alu_f32(w, in, 1, ba), *pb = x_lanes(w, in, 2, 0, bb);
	enum xsmall f = native(w, in, (enum xsmall)(in->arg & 63));

	LANES(w) {
		double v = (double)(half ? xf_from_f16(pa[l]) : xf_f32(pa[l]));

		r[l] = xf_small_put_random(f, v, alu_saturates(w), pb[l], half ? 10 : 23);
	}
	put_byte(w, in, r);
	return 0;
}

/* ---- with a scale ---- */

struct scaled { /* what in->arg says, see exec_small.h */
	enum xsmall from, to;
	unsigned n;
	bool random, paired;
};

static struct scaled scaled_of(intptr_t arg)
{
	return (struct scaled){ .from = (enum xsmall)(arg & 15), .to = (enum xsmall)(arg >> 4 & 15),
				.n = (unsigned)(arg >> 8 & 63), .random = arg & XS_RANDOM, .paired = arg & XS_PAIRED };
}

/* Exponent of the scale of each lane: that of an f32, in the last operand. */
static void scales(struct xwave *w, const struct xinsn *in, int exponent[64], bool nan[64])
{
	uint32_t buf[64];
	const uint32_t *p = x_lanes(w, in, in->n - 1u, 0, buf);

	LANES(w) {
		uint32_t e = p[l] >> 23 & 0xff;

		exponent[l] = (int)e - 127;
		nan[l] = e == 255;
	}
}

/* Elements that fill less than a register: a half of it by the first bit of op_sel, or a byte by the first two. */
static unsigned source_shift(const struct xinsn *in, unsigned bits)
{
	unsigned sel = alu_op_sel(in);

	return bits == 16 ? (sel & 1) * 16 : bits == 8 ? (sel & 3) * 8 : 0;
}

#define MAX_ELEMENTS 32

/* Element i of the n of bits bits each that words holds one after the other. */
static uint32_t extract(const uint32_t *const words[MAX_ELEMENTS], unsigned lane, unsigned i, unsigned bits,
			unsigned shift)
{
	unsigned at = i * bits + shift, word = at / 32, off = at % 32;
	uint64_t two = words[word][lane];

	if (off + bits > 32)
		two |= (uint64_t)words[word + 1][lane] << 32;
	return (uint32_t)(two >> off & ((UINT64_C(1) << bits) - 1));
}

struct scaled_sources {
	uint32_t buf[2][MAX_ELEMENTS][64];
	const uint32_t *words[2][MAX_ELEMENTS];
};

static void load_sources(struct xwave *w, const struct xinsn *in, const struct scaled *s, struct scaled_sources *x)
{
	unsigned operands = s->paired ? 2 : 1, bits = s->n / operands * xf_small_bits(s->from), words = (bits + 31) / 32;

	for (unsigned k = 0; k < operands; k++)
		for (unsigned i = 0; i < words; i++)
			if (s->from == XF_F32 && words == 1) /* single numbers may be negated */
				x->words[k][i] = alu_f32(w, in, 1 + k, x->buf[k][i]);
			else
				x->words[k][i] = x_lanes(w, in, 1 + k, i, x->buf[k][i]);
}

/* Fraction bits of the numbers that a random number is added to. */
static unsigned fraction_bits(enum xsmall f)
{
	return f == XF_F32 ? 23 : f == XF_F16 ? 10 : 7;
}

static void put_scaled(struct xwave *w, const struct xinsn *in, const struct scaled *s, uint32_t r[MAX_ELEMENTS][64])
{
	unsigned bits = s->n * xf_small_bits(s->to);
	const uint32_t *old = alu_old(w, in, 0);

	if (bits == 8) {
		put_byte(w, in, r[0]);
		return;
	}
	if (bits == 16) {
		unsigned shift = in->o[0].op_sel ? 16 : 0;

		LANES(w)
			r[0][l] = (old[l] & ~(0xffffu << shift)) | r[0][l] << shift;
	}
	for (unsigned i = 0; i < (bits + 31) / 32; i++)
		x_lanes_put(w, in, 0, i, r[i]);
}

/* Divided by the scale on the way to a smaller format, else multiplied. */
static uint32_t scale_one(const struct scaled *s, double v, int exponent, bool saturate, uint32_t random)
{
	bool shrink = xf_small_bits(s->to) < xf_small_bits(s->from);

	v = ldexp(v, shrink ? -exponent : exponent);
	if (s->random)
		return xf_small_put_random(s->to, v, saturate, random, fraction_bits(s->from));
	return xf_small_put(s->to, v, saturate && shrink);
}

/* The random number of each element follows from the one before; gfx1250 (XS_HALVES) uses the halves of each. */
int xv_cvt_scaled(struct xwave *w, const struct xinsn *in)
{
	const struct scaled s = scaled_of(in->arg);
	bool halves = in->arg & XS_HALVES, saturate = alu_saturates(w);
	unsigned from_bits = xf_small_bits(s.from), to_bits = xf_small_bits(s.to), per = s.paired ? 2 : 1;
	unsigned shift = s.n / per * from_bits < 32 ? source_shift(in, s.n / per * from_bits) : 0;
	struct scaled_sources src;
	uint32_t r[MAX_ELEMENTS + 1][64] = { 0 }, brandom[64];
	const uint32_t *prandom = s.random ? x_lanes(w, in, 2, 0, brandom) : NULL;
	int exponent[64];
	bool nan[64];

	load_sources(w, in, &s, &src);
	scales(w, in, exponent, nan);
	LANES(w) {
		uint32_t random = prandom ? prandom[l] : 0;

		for (unsigned i = 0; i < s.n; i++) {
			double v = xf_small_get(s.from, extract(src.words[i % per], l, i / per, from_bits, shift));
			uint32_t add = halves && !(i & 1) ? random << 16 : random;
			uint32_t e = scale_one(&s, nan[l] ? (double)NAN : v, exponent[l], saturate, add);
			unsigned at = i * to_bits;

			r[at / 32][l] |= e << at % 32;
			if (at % 32 + to_bits > 32)
				r[at / 32 + 1][l] |= e >> (32 - at % 32);
			if (!halves || i & 1)
				random = xf_prng(random);
		}
	}
	put_scaled(w, in, &s, r);
	return 0;
}

/* Sixteen results looked up by indices of 4 bits. arg: bits of a result; the table's upper part comes first. */
int xv_perm_pk16(struct xwave *w, const struct xinsn *in)
{
	unsigned bits = (unsigned)in->arg, low_words = bits == 4 ? 1 : 2, high_words = bits == 8 ? 2 : 1;
	uint32_t buf[6][64], r[5][64] = { 0 };
	const uint32_t *table[MAX_ELEMENTS], *index[2];

	for (unsigned i = 0; i < low_words; i++)
		table[i] = x_lanes(w, in, 2, i, buf[i]);
	for (unsigned i = 0; i < high_words; i++)
		table[low_words + i] = x_lanes(w, in, 1, i, buf[low_words + i]);
	for (unsigned i = 0; i < 2; i++)
		index[i] = x_lanes(w, in, 3, i, buf[4 + i]);
	LANES(w)
		for (unsigned i = 0; i < 16; i++) {
			uint32_t e = extract(table, l, index[i / 8][l] >> i % 8 * 4 & 15, bits, 0);
			unsigned at = i * bits;

			r[at / 32][l] |= e << at % 32;
			if (at % 32 + bits > 32)
				r[at / 32 + 1][l] |= e >> (32 - at % 32);
		}
	for (unsigned i = 0; i < bits / 2; i++)
		x_lanes_put(w, in, 0, i, r[i]);
	return 0;
}
