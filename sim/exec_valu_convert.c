/* Vector conversions between integers and floating point of 16, 32 and 64 bits, and packing with saturation. */
#include "exec_alu_loops.h"

static inline int32_t s32(uint32_t a) { return (int32_t)a; }
static inline int32_t s16(uint32_t a) { return (int16_t)a; }

/* ---- to f32 ---- */

#define TO_F32(fn, source, e)                                                                      \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], r[64];                                                            \
		const uint32_t *pa = source;                                                       \
	\
		LANES(w) {                                                                         \
			const uint32_t a = pa[l];                                                  \
	\
			r[l] = xf_bits32(e);                                                       \
		}                                                                                  \
		alu_put_f32(w, in, r);                                                             \
		return 0;                                                                          \
	}

TO_F32(xv_cvt_f32_i32, x_lanes(w, in, 1, 0, ba), (float)s32(a))
TO_F32(xv_cvt_f32_u32, x_lanes(w, in, 1, 0, ba), (float)a)
TO_F32(xv_cvt_f32_ubyte, x_lanes(w, in, 1, 0, ba), (float)(a >> 8 * in->arg & 0xff))
TO_F32(xv_cvt_off_f32_i4, x_lanes(w, in, 1, 0, ba), (float)(s32(a << 28) >> 28) * 0.0625f)
TO_F32(xv_cvt_f32_f16, alu_h16(w, in, 1, ba), xf_from_f16(a))
TO_F32(xv_cvt_f32_bf16, alu_h16(w, in, 1, ba), xf_from_bf16(a))

int xv_cvt_f32_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64];
	uint32_t r[64];

	alu_f64(w, in, 1, a);
	LANES(w)
		r[l] = xf_bits32((float)xf_f64(a[l]));
	alu_put_f32(w, in, r);
	return 0;
}

/* ---- f32 to integers ---- */

#define FROM_F32(fn, e)                                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], r[64];                                                            \
		const uint32_t *pa = alu_f32(w, in, 1, ba);                                        \
	\
		LANES(w) {                                                                         \
			const double a = (double)xf_f32(pa[l]);                                    \
	\
			r[l] = (uint32_t)(e);                                                      \
		}                                                                                  \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}

FROM_F32(xv_cvt_i32_f32, xf_to_i32(a))
FROM_F32(xv_cvt_u32_f32, xf_to_u32(a))
FROM_F32(xv_cvt_floor_i32_f32, xf_to_i32(floor(a)))
FROM_F32(xv_cvt_nearest_i32_f32, xf_to_i32(floor(a + 0.5)))

/* ---- f16 ---- */

static inline bool overflows(const struct xwave *w, float f) { return alu_saturates(w) && isfinite(f); }

/* FP16_OVFL keeps finite sources finite. */
static inline uint32_t to_f16(const struct xwave *w, float f)
{
	uint32_t h = xf_to_f16(f);

	return (h & 0x7fff) == 0x7c00 && overflows(w, f) ? h - 1 : h;
}

static inline uint32_t to_bf16(const struct xwave *w, float f)
{
	uint32_t h = xf_to_bf16(f);

	return (h & 0x7fff) == 0x7f80 && overflows(w, f) ? h - 1 : h;
}

int xv_cvt_f16_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba);

	LANES(w)
		r[l] = to_f16(w, xf_f32(pa[l]));
	alu_put_f16(w, in, r, false);
	return 0;
}

/* arg: 1 signed. */
int xv_cvt_f16_int16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);

	LANES(w)
		r[l] = xf_to_f16(in->arg ? (float)s16(pa[l]) : (float)pa[l]);
	alu_put_f16(w, in, r, false);
	return 0;
}

static inline int32_t snorm(double v)
{
	return v != v ? 0 : (int32_t)rint((v < -1 ? -1 : v > 1 ? 1 : v) * 32767);
}

static inline int32_t unorm(double v)
{
	return !(v > 0) ? 0 : (int32_t)rint((v > 1 ? 1 : v) * 65535);
}

H1(xv_cvt_u16_f16, false, xf_to_range((double)a, 0, 0xffff))
H1(xv_cvt_i16_f16, false, xf_to_range((double)a, INT16_MIN, INT16_MAX))
W1(xv_cvt_norm_i16_f16, false, snorm((double)xf_from_f16(a)))
W1(xv_cvt_norm_u16_f16, false, unorm((double)xf_from_f16(a)))

/* arg: 1 signed. */
int xv_cvt_32_16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba);

	LANES(w)
		r[l] = in->arg ? (uint32_t)s16(pa[l]) : pa[l];
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* ---- f64 ---- */

/* arg: 0 i32, 1 u32, 2 f32. */
int xv_cvt_f64(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64];
	uint64_t r[64];
	const uint32_t *pa = in->arg == 2 ? alu_f32(w, in, 1, ba) : x_lanes(w, in, 1, 0, ba);

	LANES(w)
		r[l] = xf_bits64(in->arg == 0 ? (double)s32(pa[l]) : in->arg == 1 ? (double)pa[l] : (double)xf_f32(pa[l]));
	alu_put_f64(w, in, r);
	return 0;
}

/* arg: 1 signed. */
int xv_cvt_int_f64(struct xwave *w, const struct xinsn *in)
{
	uint64_t a[64];
	uint32_t r[64];

	alu_f64(w, in, 1, a);
	LANES(w)
		r[l] = in->arg ? (uint32_t)xf_to_i32(xf_f64(a[l])) : xf_to_u32(xf_f64(a[l]));
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* ---- pairs ---- */

#define PAIR(fn, source, e)                                                                        \
	static inline uint32_t fn##_half(const struct xwave *w, uint32_t a)                        \
	{                                                                                          \
		(void)w;                                                                           \
		return (uint32_t)(e) & 0xffff;                                                     \
	}                                                                                          \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64], r[64];                                                    \
		const uint32_t *pa = source(w, in, 1, ba), *pb = source(w, in, 2, bb);             \
	\
		LANES(w)                                                                           \
			r[l] = fn##_half(w, pa[l]) | fn##_half(w, pb[l]) << 16;                    \
		x_lanes_put(w, in, 0, 0, r);                                                       \
		return 0;                                                                          \
	}

static const uint32_t *raw(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t buf[64])
{
	return x_lanes(w, in, i, 0, buf);
}

PAIR(xv_cvt_pk_f16_f32, alu_f32, to_f16(w, xf_f32(a)))
PAIR(xv_cvt_pk_bf16_f32, alu_f32, to_bf16(w, xf_f32(a)))
PAIR(xv_cvt_pkrtz_f16_f32, alu_f32, xf_to_f16_rtz(xf_f32(a)))
PAIR(xv_cvt_pknorm_i16_f32, alu_f32, snorm((double)xf_f32(a)))
PAIR(xv_cvt_pknorm_u16_f32, alu_f32, unorm((double)xf_f32(a)))
PAIR(xv_cvt_pknorm_i16_f16, alu_h16, snorm((double)xf_from_f16(a)))
PAIR(xv_cvt_pknorm_u16_f16, alu_h16, unorm((double)xf_from_f16(a)))
PAIR(xv_cvt_pk_i16_f32, alu_f32, xf_to_range((double)xf_f32(a), INT16_MIN, INT16_MAX))
PAIR(xv_cvt_pk_u16_f32, alu_f32, xf_to_range((double)xf_f32(a), 0, 0xffff))
PAIR(xv_cvt_pk_i16_i32, raw, alu_saturate(s32(a), INT16_MIN, INT16_MAX, true))
PAIR(xv_cvt_pk_u16_u32, raw, alu_saturate(a, 0, 0xffff, true))

/* ---- bytes ---- */

/* One byte of the third source, or with arg of the destination, is replaced. */
int xv_cvt_pk_u8_f32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = x_lanes(w, in, 2, 0, bb);
	const uint32_t *pc = in->arg ? alu_old(w, in, 0) : x_lanes(w, in, 3, 0, bc);

	LANES(w) {
		unsigned shift = (pb[l] & 3) * 8;
		uint32_t byte = (uint32_t)xf_to_range((double)xf_f32(pa[l]), 0, 255);

		r[l] = (pc[l] & ~(0xffu << shift)) | byte << shift;
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_sat_pk_u8_i16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba);

	LANES(w)
		r[l] = alu_saturate(s16(pa[l]), 0, 255, true) | alu_saturate(s32(pa[l]) >> 16, 0, 255, true) << 8;
	alu_put_16(w, in, r, false);
	return 0;
}

/* Four bytes to four times 4 bits. arg: 1 signed. */
int xv_sat_pk4(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], r[64];
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba);

	LANES(w) {
		r[l] = 0;
		for (unsigned i = 0; i < 4; i++) {
			uint32_t byte = pa[l] >> 8 * i & 0xff;
			uint32_t v = in->arg ? alu_saturate((int8_t)byte, -8, 7, true) : alu_saturate(byte, 0, 15, true);

			r[l] |= (v & 15) << 4 * i;
		}
	}
	alu_put_16(w, in, r, true);
	return 0;
}

/* Two shifted integers as bytes in the low half. arg: 1 signed. */
int xv_ashr_pk(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb), *pc = x_lanes(w, in, 3, 0, bc);
	int64_t lo = in->arg ? INT8_MIN : 0, hi = in->arg ? INT8_MAX : UINT8_MAX;

	LANES(w) {
		uint32_t x = alu_saturate(s32(pa[l]) >> (pc[l] & 31), lo, hi, true);
		uint32_t y = alu_saturate(s32(pb[l]) >> (pc[l] & 31), lo, hi, true);

		r[l] = (x & 0xff) | (y & 0xff) << 8;
	}
	alu_put_16(w, in, r, true);
	return 0;
}

/* Stochastic rounding to two halves: each takes its half of the random number. arg: 1 bf16. */
int xv_cvt_sr_pk(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb), *pc = x_lanes(w, in, 3, 0, bc);
	enum xsmall to = in->arg ? XF_BF16 : XF_F16;

	LANES(w)
		r[l] = xf_small_put_random(to, (double)xf_f32(pa[l]), alu_saturates(w), pc[l] << 16, 23) |
		       xf_small_put_random(to, (double)xf_f32(pb[l]), alu_saturates(w), pc[l], 23) << 16;
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_cvt_sr_16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = x_lanes(w, in, 2, 0, bb);

	LANES(w)
		r[l] = xf_small_put_random(in->arg ? XF_BF16 : XF_F16, (double)xf_f32(pa[l]), alu_saturates(w), pb[l], 23);
	alu_put_16(w, in, r, true);
	return 0;
}
