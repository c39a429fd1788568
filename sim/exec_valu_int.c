/* Vector integer arithmetic and bit operations of 32 and 64 bits. */
#include "exec_alu_loops.h"

static inline int32_t s32(uint32_t a) { return (int32_t)a; }
static inline int64_t s64(uint32_t a) { return (int32_t)a; }
static inline int32_t s24(uint32_t a) { return (int32_t)(a << 8) >> 8; }
static inline uint32_t u24(uint32_t a) { return a & 0xffffff; }

/* ---- addition, multiplication ---- */

S2(xv_add_u32, 0, UINT32_MAX, (int64_t)a + b)
S2(xv_sub_u32, 0, UINT32_MAX, (int64_t)a - b)
S2(xv_subrev_u32, 0, UINT32_MAX, (int64_t)b - a)
S2(xv_add_i32, INT32_MIN, INT32_MAX, s64(a) + s64(b))
S2(xv_sub_i32, INT32_MIN, INT32_MAX, s64(a) - s64(b))
U2(xv_mul_lo_u32, a * b)
U2(xv_mul_hi_u32, (uint64_t)a * b >> 32)
U2(xv_mul_hi_i32, (uint64_t)(s64(a) * s64(b)) >> 32)
U2(xv_mul_u24, u24(a) * u24(b))
U2(xv_mul_i24, (uint32_t)s24(a) * (uint32_t)s24(b))
U2(xv_mul_hi_u24, (uint64_t)u24(a) * u24(b) >> 32)
U2(xv_mul_hi_i24, (uint64_t)((int64_t)s24(a) * s24(b)) >> 32)
S3(xv_mad_u24, 0, UINT32_MAX, (int64_t)((uint64_t)u24(a) * u24(b) + c))
S3(xv_mad_i24, INT32_MIN, INT32_MAX, (int64_t)s24(a) * s24(b) + s64(c))
U3(xv_mad_u32, a * b + c)
U3(xv_add3, a + b + c)
U3(xv_lshl_add, (a << (b & 31)) + c)
U3(xv_add_lshl, (a + b) << (c & 31))
U3(xv_xad, (a ^ b) + c)

/* The sum saturates whatever the clamp bit says; that bit keeps the final result from being negative. */
static inline uint32_t relu(const struct xinsn *in, uint32_t v) { return in->clamp && s32(v) < 0 ? 0 : v; }
static inline int32_t add_sat(uint32_t a, uint32_t b)
{
	return s32(alu_saturate(s64(a) + s64(b), INT32_MIN, INT32_MAX, true));
}
static inline uint32_t addu_sat(uint32_t a, uint32_t b) { return a + b < a ? UINT32_MAX : a + b; }

U3(xv_add_max_i32, relu(in, (uint32_t)(add_sat(a, b) > s32(c) ? add_sat(a, b) : s32(c))))
U3(xv_add_min_i32, relu(in, (uint32_t)(add_sat(a, b) < s32(c) ? add_sat(a, b) : s32(c))))
U3(xv_add_max_u32, addu_sat(a, b) > c ? addu_sat(a, b) : c)
U3(xv_add_min_u32, addu_sat(a, b) < c ? addu_sat(a, b) : c)

/* arg: 0 add, 1 sub, 2 reversed sub, 4: with a carry or borrow from operand 4. */
int xv_add_co(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = x_lanes(w, in, 2, 0, ba), *pb = x_lanes(w, in, 3, 0, bb);
	uint64_t carry_in = in->arg & 4 ? x_mask_get(w, in, 4) : 0, out = 0;
	unsigned what = in->arg & 3;

	LANES(w) {
		uint64_t a = what == 2 ? pb[l] : pa[l], b = what == 2 ? pa[l] : pb[l], ci = carry_in >> l & 1;
		uint64_t v = what ? a - b - ci : a + b + ci;
		bool over = v >> 32;

		out |= (uint64_t)over << l;
		r[l] = in->clamp && over ? (what ? 0 : UINT32_MAX) : (uint32_t)v;
	}
	x_lanes_put(w, in, 0, 0, r);
	x_mask_put(w, in, 1, out);
	return 0;
}

/* arg: bit 0 signed, bit 1: the second operand receives the carry. */
int xv_mad_64(struct xwave *w, const struct xinsn *in)
{
	bool is_signed = in->arg & 1, with_carry = in->arg & 2;
	unsigned first = with_carry ? 2 : 1;
	uint32_t ba[64], bb[64];
	uint64_t c[64], r[64], out = 0;
	const uint32_t *pa = x_lanes(w, in, first, 0, ba), *pb = x_lanes(w, in, first + 1, 0, bb);

	alu_u64(w, in, first + 2, c);
	LANES(w) {
		uint64_t p = is_signed ? (uint64_t)(s64(pa[l]) * s64(pb[l])) : (uint64_t)pa[l] * pb[l];
		/* The carry is bit 64 of the sum of 65 bits: the extensions of product and addend count too. */
		unsigned extension = is_signed ? (unsigned)((p >> 63) + (c[l] >> 63)) : 0;

		r[l] = p + c[l];
		out |= (uint64_t)(((r[l] < p) + extension) & 1) << l;
	}
	alu_put_u64(w, in, r);
	if (with_carry)
		x_mask_put(w, in, 1, out);
	return 0;
}

Q2(xv_add_u64, a + b)
Q2(xv_sub_u64, a - b)
Q2(xv_mul_u64, a * b)
Q2(xv_max_u64, a >= b ? a : b)
Q2(xv_min_u64, a < b ? a : b)
Q2(xv_max_i64, (int64_t)a >= (int64_t)b ? a : b)
Q2(xv_min_i64, (int64_t)a < (int64_t)b ? a : b)
QSHIFT(xv_lshlrev_b64, b << a)
QSHIFT(xv_lshrrev_b64, b >> a)
QSHIFT(xv_ashrrev_i64, (int64_t)b >> a)

int xv_lshl_add_u64(struct xwave *w, const struct xinsn *in)
{
	uint32_t bs[64];
	uint64_t a[64], c[64], r[64];
	const uint32_t *shift = x_lanes(w, in, 2, 0, bs);

	alu_u64(w, in, 1, a);
	alu_u64(w, in, 3, c);
	LANES(w) {
		uint32_t s = shift[l] & 7;

		r[l] = (a[l] << (s > 4 ? 0 : s)) + c[l];
	}
	alu_put_u64(w, in, r);
	return 0;
}

/* ---- order ---- */

U2(xv_min_u32, a < b ? a : b)
U2(xv_max_u32, a >= b ? a : b)
U2(xv_min_i32, s32(a) < s32(b) ? a : b)
U2(xv_max_i32, s32(a) >= s32(b) ? a : b)

static inline uint32_t minu(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t maxu(uint32_t a, uint32_t b) { return a < b ? b : a; }
static inline uint32_t mini(uint32_t a, uint32_t b) { return s32(a) < s32(b) ? a : b; }
static inline uint32_t maxi(uint32_t a, uint32_t b) { return s32(a) < s32(b) ? b : a; }

U3(xv_min3_u32, minu(minu(a, b), c))
U3(xv_max3_u32, maxu(maxu(a, b), c))
U3(xv_med3_u32, maxu(minu(a, b), minu(maxu(a, b), c)))
U3(xv_min3_i32, mini(mini(a, b), c))
U3(xv_max3_i32, maxi(maxi(a, b), c))
U3(xv_med3_i32, maxi(mini(a, b), mini(maxi(a, b), c)))
U3(xv_maxmin_u32, minu(maxu(a, b), c))
U3(xv_minmax_u32, maxu(minu(a, b), c))
U3(xv_maxmin_i32, relu(in, mini(maxi(a, b), c)))
U3(xv_minmax_i32, relu(in, maxi(mini(a, b), c)))

/* ---- bits ---- */

U1(xv_mov_b32, a)
U1(xv_not_b32, ~a)
U2(xv_and_b32, a & b)
U2(xv_or_b32, a | b)
U2(xv_xor_b32, a ^ b)
U2(xv_xnor_b32, ~(a ^ b))
U3(xv_or3_b32, a | b | c)
U3(xv_xor3_b32, a ^ b ^ c)
U3(xv_and_or_b32, (a & b) | c)
U3(xv_lshl_or_b32, a << (b & 31) | c)
U2(xv_lshlrev_b32, b << (a & 31))
U2(xv_lshrrev_b32, b >> (a & 31))
U2(xv_ashrrev_i32, s32(b) >> (a & 31))
U3(xv_bfe_u32, a >> (b & 31) & ((1u << (c & 31)) - 1))
U3(xv_bfe_i32, c & 31 ? s32(a >> (b & 31) << (32 - (c & 31))) >> (32 - (c & 31)) : 0)
U3(xv_bfi_b32, (a & b) | (~a & c))
U2(xv_bfm_b32, ((1u << (a & 31)) - 1) << (b & 31))
U3(xv_alignbit_b32, ((uint64_t)a << 32 | b) >> (c & 31))
U3(xv_alignbyte_b32, ((uint64_t)a << 32 | b) >> (c & 3) * 8)

static inline uint32_t bit_reverse(uint32_t a)
{
	a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
	a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
	a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(a);
}

static inline uint32_t sign_bits(uint32_t a) /* leading bits like the sign; all ones when all are */
{
	uint32_t differ = a ^ (uint32_t)(s32(a) >> 31);

	return differ ? (uint32_t)__builtin_clz(differ) : UINT32_MAX;
}

U1(xv_bfrev_b32, bit_reverse(a))
U1(xv_ffbh_u32, a ? (uint32_t)__builtin_clz(a) : UINT32_MAX)
U1(xv_ffbl_b32, a ? (uint32_t)__builtin_ctz(a) : UINT32_MAX)
U1(xv_ffbh_i32, sign_bits(a))
U2(xv_bcnt_u32, (uint32_t)__builtin_popcount(a) + b)
U2(xv_mbcnt_lo, (uint32_t)__builtin_popcount(l < 32 ? a & ((1u << l) - 1) : a) + b)
U2(xv_mbcnt_hi, (uint32_t)__builtin_popcount(l > 32 ? a & ((1u << (l - 32)) - 1) : 0) + b)
U1(xv_prng_b32, xf_prng(a))

static inline uint32_t perm_byte(uint64_t data, uint32_t sel)
{
	if (sel >= 13)
		return 0xff;
	if (sel == 12)
		return 0;
	if (sel >= 8)
		return data >> ((sel - 8) * 16 + 15) & 1 ? 0xff : 0;
	return data >> sel * 8 & 0xff;
}

static inline uint32_t perm(uint64_t data, uint32_t sel)
{
	return perm_byte(data, sel & 0xff) | perm_byte(data, sel >> 8 & 0xff) << 8 | perm_byte(data, sel >> 16 & 0xff) << 16 |
	       perm_byte(data, sel >> 24) << 24;
}

U3(xv_perm_b32, perm((uint64_t)a << 32 | b, c))

static inline uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
	uint32_t r = 0;

	for (unsigned i = 0; i < 8; i++)
		if (table >> i & 1)
			r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
	return r;
}

int xv_bitop3_b32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64], table = (uint32_t)in->simm;
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb), *pc = x_lanes(w, in, 3, 0, bc);

	LANES(w)
		r[l] = bitop3(pa[l], pb[l], pc[l], table);
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_bitop3_b16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], bc[64], r[64], table = (uint32_t)in->simm;
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb), *pc = alu_h16(w, in, 3, bc);

	LANES(w)
		r[l] = bitop3(pa[l], pb[l], pc[l], table) & 0xffff;
	alu_put_16(w, in, r, true);
	return 0;
}

/* Two sources and the same table: the third input is 0. */
int xv_bitop2_b32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64], table = (uint32_t)in->simm;
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb);

	LANES(w)
		r[l] = bitop3(pa[l], pb[l], 0, table);
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

/* ---- selection by a mask ---- */

int xv_cndmask_b32(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_f32(w, in, 1, ba), *pb = alu_f32(w, in, 2, bb);
	uint64_t mask = in->n > 3 ? x_mask_get(w, in, 3) : x_vcc(w);

	LANES(w)
		r[l] = mask >> l & 1 ? pb[l] : pa[l];
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}

int xv_cndmask_b16(struct xwave *w, const struct xinsn *in)
{
	uint32_t ba[64], bb[64], r[64];
	const uint32_t *pa = alu_h16(w, in, 1, ba), *pb = alu_h16(w, in, 2, bb);
	uint64_t mask = x_mask_get(w, in, 3);

	LANES(w)
		r[l] = mask >> l & 1 ? pb[l] : pa[l];
	alu_put_16(w, in, r, true);
	return 0;
}

/* ---- bytes ---- */

static inline uint32_t absdiff(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

static inline uint32_t sad_u8(uint32_t a, uint32_t b, bool masked)
{
	uint32_t sum = 0;

	for (unsigned s = 0; s < 32; s += 8)
		if (!masked || (b >> s & 0xff))
			sum += absdiff(a >> s & 0xff, b >> s & 0xff);
	return sum;
}

static inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t r = 0;

	for (unsigned s = 0; s < 32; s += 8)
		r |= ((a >> s & 0xff) + (b >> s & 0xff) + (c >> s & 1)) >> 1 << s;
	return r;
}

U3(xv_lerp_u8, lerp_u8(a, b, c))
U3(xv_sad_u8, sad_u8(a, b, false) + c)
U3(xv_sad_hi_u8, (sad_u8(a, b, false) << 16) + c)
U3(xv_msad_u8, sad_u8(a, b, true) + c)
U3(xv_sad_u16, absdiff(a & 0xffff, b & 0xffff) + absdiff(a >> 16, b >> 16) + c)
U3(xv_sad_u32, absdiff(a, b) + c)

/* arg: 1 the masked sum. Four sums over windows of the first source, 16 bits each. */
int xv_qsad_pk_u16(struct xwave *w, const struct xinsn *in)
{
	uint32_t bb[64];
	uint64_t a[64], c[64], r[64];
	const uint32_t *pb = x_lanes(w, in, 2, 0, bb);

	alu_u64(w, in, 1, a);
	alu_u64(w, in, 3, c);
	LANES(w) {
		r[l] = 0;
		for (unsigned i = 0; i < 4; i++) {
			uint32_t sum = sad_u8((uint32_t)(a[l] >> 8 * i), pb[l], in->arg) + (uint32_t)(c[l] >> 16 * i & 0xffff);

			r[l] |= (uint64_t)(in->clamp && sum > 0xffff ? 0xffff : sum & 0xffff) << 16 * i;
		}
	}
	alu_put_u64(w, in, r);
	return 0;
}

int xv_mqsad_u32(struct xwave *w, const struct xinsn *in)
{
	uint32_t bb[64], bc[4][64], r[4][64];
	uint64_t a[64];
	const uint32_t *pb = x_lanes(w, in, 2, 0, bb);

	alu_u64(w, in, 1, a);
	for (unsigned i = 0; i < 4; i++) {
		const uint32_t *pc = x_lanes(w, in, 3, i, bc[i]);

		LANES(w)
			r[i][l] = sad_u8((uint32_t)(a[l] >> 8 * i), pb[l], true) + pc[l];
	}
	for (unsigned i = 0; i < 4; i++)
		x_lanes_put(w, in, 0, i, r[i]);
	return 0;
}

/* ---- dot products of integers ---- */

/* Element i of bits bits each, sign-extended when is_signed. */
static inline int64_t element(uint32_t v, unsigned i, unsigned bits, bool is_signed)
{
	uint32_t up = v << (32 - bits * (i + 1));

	return is_signed ? (int64_t)((int32_t)up >> (32 - bits)) : (int64_t)(up >> (32 - bits));
}

/* arg: bits of an element, + 64 signed, + 128: signed as each source's neg says, + 256: adds to the destination. */
int xv_dot_int(struct xwave *w, const struct xinsn *in)
{
	unsigned bits = in->arg & 63;
	bool mixed = in->arg & 128, accumulate = in->arg & 256;
	bool sa = mixed ? in->o[1].neg_lo || in->o[1].neg : in->arg & 64;
	bool sb = mixed ? in->o[2].neg_lo || in->o[2].neg : in->arg & 64;
	bool sc = mixed || in->arg & 64;
	uint32_t ba[64], bb[64], bc[64], r[64];
	const uint32_t *pa = x_lanes(w, in, 1, 0, ba), *pb = x_lanes(w, in, 2, 0, bb);
	const uint32_t *pc = accumulate ? alu_old(w, in, 0) : x_lanes(w, in, 3, 0, bc);

	LANES(w) {
		int64_t sum = sc ? s64(pc[l]) : (int64_t)pc[l];

		for (unsigned i = 0; i < 32 / bits; i++)
			sum += element(pa[l], i, bits, sa) * element(pb[l], i, bits, sb);
		r[l] = alu_saturate(sum, sc ? INT32_MIN : 0, sc ? INT32_MAX : UINT32_MAX, in->clamp);
	}
	x_lanes_put(w, in, 0, 0, r);
	return 0;
}
