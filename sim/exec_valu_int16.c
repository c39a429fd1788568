/* Vector integers of 16 bits, single and packed. */
#include "exec_alu_loops.h"

static inline int32_t s16(uint32_t a) { return (int16_t)a; }
static inline uint32_t satu(int64_t v, bool clamp) { return alu_saturate(v, 0, 0xffff, clamp) & 0xffff; }
static inline uint32_t sati(int64_t v, bool clamp) { return alu_saturate(v, INT16_MIN, INT16_MAX, clamp) & 0xffff; }
static inline uint32_t minu(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t maxu(uint32_t a, uint32_t b) { return a < b ? b : a; }
static inline uint32_t mini(uint32_t a, uint32_t b) { return s16(a) < s16(b) ? a : b; }
static inline uint32_t maxi(uint32_t a, uint32_t b) { return s16(a) < s16(b) ? b : a; }
static inline uint32_t relu(uint32_t v, bool clamp) { return clamp && v & 0x8000 ? 0 : v; }

/* gfx9's first 16-bit instructions clear the upper half, the later ones keep it. */
W2(xv_add_u16, false, satu((int64_t)a + b, in->clamp))
W2(xv_sub_u16, false, satu((int64_t)a - b, in->clamp))
W2(xv_subrev_u16, false, satu((int64_t)b - a, in->clamp))
W2(xv_mul_lo_u16, false, satu((int64_t)((uint64_t)a * b), in->clamp))
W2(xv_lshlrev_b16, false, b << (a & 15))
W2(xv_lshrrev_b16, false, b >> (a & 15))
W2(xv_ashrrev_i16, false, s16(b) >> (a & 15))
W2(xv_max_u16, false, maxu(a, b))
W2(xv_min_u16, false, minu(a, b))
W2(xv_max_i16, false, maxi(a, b))
W2(xv_min_i16, false, mini(a, b))
W2(xv_add_i16, true, sati((int64_t)s16(a) + s16(b), in->clamp))
W2(xv_sub_i16, true, sati((int64_t)s16(a) - s16(b), in->clamp))
W2(xv_and_b16, true, a & b)
W2(xv_or_b16, true, a | b)
W2(xv_xor_b16, true, a ^ b)
W1(xv_not_b16, true, ~a)
W3(xv_mad_u16, true, satu((int64_t)((uint64_t)a * b + c), in->clamp))
W3(xv_mad_i16, true, sati((int64_t)s16(a) * s16(b) + s16(c), in->clamp))
W3(xv_mad_legacy_u16, false, satu((int64_t)((uint64_t)a * b + c), in->clamp))
W3(xv_mad_legacy_i16, false, sati((int64_t)s16(a) * s16(b) + s16(c), in->clamp))
W3(xv_min3_u16, true, minu(minu(a, b), c))
W3(xv_max3_u16, true, maxu(maxu(a, b), c))
W3(xv_med3_u16, true, maxu(minu(a, b), minu(maxu(a, b), c)))
W3(xv_min3_i16, true, mini(mini(a, b), c))
W3(xv_max3_i16, true, maxi(maxi(a, b), c))
W3(xv_med3_i16, true, maxi(mini(a, b), mini(maxi(a, b), c)))

/* 16-bit factors, 32-bit addend. arg: 1 signed. */
int xv_mad_32_16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb), *pc = x_lanes(w, in, 3, 0, bc);

	LANES(w) {
		int64_t v;

		if (in->arg)
			v = (int64_t)s16(pa[l]) * s16(pb[l]) + (int32_t)pc[l];
		else
			v = (int64_t)((uint64_t)pa[l] * pb[l] + pc[l]);
		r[l] = alu_saturate(v, in->arg ? INT32_MIN : 0, in->arg ? INT32_MAX : UINT32_MAX, in->clamp);
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* ---- packed ---- */

#define PK2(fn, e)                                                                                 \
	static inline uint32_t fn##_half(const uint32_t a, const uint32_t b, bool clamp)           \
	{                                                                                          \
		(void)clamp;                                                                       \
		return (uint32_t)(e) & 0xffff;                                                     \
	}                                                                                          \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t alo[64], ahi[64], blo[64], bhi[64], r[64];                                \
	\
		alu_pk16(w, in, 1, alo, ahi);                                                      \
		alu_pk16(w, in, 2, blo, bhi);                                                      \
		LANES(w)                                                                           \
			r[l] = fn##_half(alo[l], blo[l], in->clamp) | fn##_half(ahi[l], bhi[l], in->clamp) << 16; \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}
#define PK3(fn, e)                                                                                 \
	static inline uint32_t fn##_half(const uint32_t a, const uint32_t b, const uint32_t c, bool clamp) \
	{                                                                                          \
		(void)clamp;                                                                       \
		return (uint32_t)(e) & 0xffff;                                                     \
	}                                                                                          \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t alo[64], ahi[64], blo[64], bhi[64], clo[64], chi[64], r[64];              \
	\
		alu_pk16(w, in, 1, alo, ahi);                                                      \
		alu_pk16(w, in, 2, blo, bhi);                                                      \
		alu_pk16(w, in, 3, clo, chi);                                                      \
		LANES(w)                                                                           \
			r[l] = fn##_half(alo[l], blo[l], clo[l], in->clamp) |                      \
			       fn##_half(ahi[l], bhi[l], chi[l], in->clamp) << 16;                 \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}

PK2(xv_pk_add_u16, satu((int64_t)a + b, clamp))
PK2(xv_pk_sub_u16, satu((int64_t)a - b, clamp))
PK2(xv_pk_mul_lo_u16, satu((int64_t)((uint64_t)a * b), clamp))
PK2(xv_pk_add_i16, sati((int64_t)s16(a) + s16(b), clamp))
PK2(xv_pk_sub_i16, sati((int64_t)s16(a) - s16(b), clamp))
PK2(xv_pk_lshlrev_b16, b << (a & 15))
PK2(xv_pk_lshrrev_b16, b >> (a & 15))
PK2(xv_pk_ashrrev_i16, s16(b) >> (a & 15))
PK2(xv_pk_max_u16, maxu(a, b))
PK2(xv_pk_min_u16, minu(a, b))
PK2(xv_pk_max_i16, maxi(a, b))
PK2(xv_pk_min_i16, mini(a, b))
PK3(xv_pk_mad_u16, satu((int64_t)((uint64_t)a * b + c), clamp))
PK3(xv_pk_mad_i16, sati((int64_t)s16(a) * s16(b) + s16(c), clamp))
PK3(xv_pk_min3_u16, minu(minu(a, b), c))
PK3(xv_pk_max3_u16, maxu(maxu(a, b), c))
PK3(xv_pk_min3_i16, mini(mini(a, b), c))
PK3(xv_pk_max3_i16, maxi(maxi(a, b), c))
PK3(xv_pk_add_max_u16, maxu(satu((int64_t)a + b, true), c))
PK3(xv_pk_add_min_u16, minu(satu((int64_t)a + b, true), c))
PK3(xv_pk_add_max_i16, relu(maxi(sati((int64_t)s16(a) + s16(b), true), c), clamp))
PK3(xv_pk_add_min_i16, relu(mini(sati((int64_t)s16(a) + s16(b), true), c), clamp))

int xv_pack_b32_f16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb);

	LANES(w)
		r[l] = pa[l] | pb[l] << 16;
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/*
 * Two products of 16-bit integers and an addend; op_sel chooses halves as for packed sources. arg: 1 signed, 2: adds to
 * the destination.
 */
int xv_dot2_int16(struct xwave *w, const struct xinsn *in)
{
	uint32_t alo[64], ahi[64], blo[64], bhi[64], bc[64], r[64];
	const uint32_t *pc = in->arg & 2 ? alu_old(w, in, 0) : x_lanes(w, in, 3, 0, bc);
	bool is_signed = in->arg & 1;

	alu_pk16(w, in, 1, alo, ahi);
	alu_pk16(w, in, 2, blo, bhi);
	LANES(w) {
		int64_t v;

		if (is_signed)
			v = (int64_t)s16(alo[l]) * s16(blo[l]) + (int64_t)s16(ahi[l]) * s16(bhi[l]) + (int32_t)pc[l];
		else
			v = (int64_t)((uint64_t)alo[l] * blo[l] + (uint64_t)ahi[l] * bhi[l] + pc[l]);
		r[l] = alu_saturate(v, is_signed ? INT32_MIN : 0, is_signed ? INT32_MAX : UINT32_MAX, in->clamp);
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}
