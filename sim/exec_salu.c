/*
 * Scalar arithmetic. Program flow, waits, hardware registers and the like are the core's (exec_control.c).
 * What a row writes to SCC stands in its macro: Z the result is not 0, C an expression, N nothing.
 */
#include "exec_alu.h"

static inline int32_t s32(uint32_t a) { return (int32_t)a; }
static inline int64_t s64(uint32_t a) { return (int32_t)a; }
static inline int32_t s16(uint32_t a) { return (int16_t)a; }

#define OP32(fn, sources, result, scc)                                                             \
	static int fn(struct xwave *w, const struct xinsn *in)                                     \
	{                                                                                          \
		sources;                                                                           \
		const uint32_t r = (uint32_t)(result);                                             \
	\
		scc;                                                                               \
		x_scalar_put32(w, in, 0, r);                                                       \
		return 0;                                                                          \
	}
#define OP64(fn, sources, result, scc)                                                             \
	static int fn(struct xwave *w, const struct xinsn *in)                                     \
	{                                                                                          \
		sources;                                                                           \
		const uint64_t r = (uint64_t)(result);                                             \
	\
		scc;                                                                               \
		x_scalar_put64(w, in, 0, r);                                                       \
		return 0;                                                                          \
	}
#define A32 const uint32_t a = x_scalar32(w, in, 1)
#define AB32 A32, b = x_scalar32(w, in, 2)
#define A64 const uint64_t a = x_scalar64(w, in, 1)
#define AB64 A64, b = x_scalar64(w, in, 2)
#define A64B32 A64; const uint32_t b = x_scalar32(w, in, 2)
#define Z x_set_scc(w, r != 0)
#define C(e) x_set_scc(w, e)
#define N (void)0

/* ---- 32 and 64 bits ---- */

OP32(s_add_u32, AB32, a + b, C(r < a))
OP32(s_sub_u32, AB32, a - b, C(b > a))
OP32(s_add_i32, AB32, a + b, C((~(a ^ b) & (a ^ r)) >> 31))
OP32(s_sub_i32, AB32, a - b, C(((a ^ b) & (a ^ r)) >> 31))
OP32(s_addc, AB32; const uint64_t sum = (uint64_t)a + b + x_scc(w), sum, C(sum >> 32))
OP32(s_subb, AB32; const uint64_t take = (uint64_t)b + x_scc(w), a - take, C(take > a))
OP32(s_absdiff, AB32; const uint32_t d = a - b, s32(d) < 0 ? 0 - d : d, Z)
OP32(s_min_i32, AB32, s32(a) < s32(b) ? a : b, C(s32(a) < s32(b)))
OP32(s_max_i32, AB32, s32(a) >= s32(b) ? a : b, C(s32(a) >= s32(b)))
OP32(s_min_u32, AB32, a < b ? a : b, C(a < b))
OP32(s_max_u32, AB32, a >= b ? a : b, C(a >= b))
OP32(s_mul_i32, AB32, a * b, N)
OP32(s_mul_hi_u32, AB32, (uint64_t)a * b >> 32, N)
OP32(s_mul_hi_i32, AB32, (uint64_t)(s64(a) * s64(b)) >> 32, N)
/* arg: places that a is shifted by. */
OP32(s_lshl_add, AB32; const uint64_t sum = ((uint64_t)a << in->arg) + b, sum, C(sum >> 32 != 0))
OP64(s_add_u64, AB64, a + b, N)
OP64(s_sub_u64, AB64, a - b, N)
OP64(s_mul_u64, AB64, a * b, N)
OP32(s_lshl_b32, AB32, a << (b & 31), Z)
OP32(s_lshr_b32, AB32, a >> (b & 31), Z)
OP32(s_ashr_i32, AB32, s32(a) >> (b & 31), Z)
OP64(s_lshl_b64, A64B32, a << (b & 63), Z)
OP64(s_lshr_b64, A64B32, a >> (b & 63), Z)
OP64(s_ashr_i64, A64B32, (int64_t)a >> (b & 63), Z)

#define LOGIC(name, e) OP32(name##32, AB32, e, Z) OP64(name##64, AB64, e, Z)

LOGIC(s_and, a & b)
LOGIC(s_or, a | b)
LOGIC(s_xor, a ^ b)
LOGIC(s_nand, ~(a & b))
LOGIC(s_nor, ~(a | b))
LOGIC(s_xnor, ~(a ^ b))
LOGIC(s_andn2, a & ~b)
LOGIC(s_orn2, a | ~b)

/* ---- moves, selection ---- */

OP32(s_mov32, A32, a, N)
OP64(s_mov64, A64, a, N)
OP32(s_movk, A32, s16(a), N)
OP32(s_cselect32, AB32, x_scc(w) ? a : b, N)
OP64(s_cselect64, AB64, x_scc(w) ? a : b, N)
OP32(s_not32, A32, ~a, Z)
OP64(s_not64, A64, ~a, Z)
OP32(s_abs, A32, s32(a) < 0 ? 0 - a : a, Z)
OP32(s_sext8, A32, (int8_t)a, N)
OP32(s_sext16, A32, s16(a), N)
OP32(s_addk, A32; const uint32_t d = x_scalar32(w, in, 0); const uint32_t k = (uint32_t)s16(a), d + k,
     C((~(d ^ k) & (d ^ r)) >> 31))
OP32(s_mulk, A32, x_scalar32(w, in, 0) * (uint32_t)s16(a), N)
OP32(s_pack_ll, AB32, (a & 0xffff) | b << 16, N)
OP32(s_pack_lh, AB32, (a & 0xffff) | (b & 0xffff0000), N)
OP32(s_pack_hh, AB32, a >> 16 | (b & 0xffff0000), N)
OP32(s_pack_hl, AB32, a >> 16 | b << 16, N)

/* arg: 1 the value is an immediate of 16 bits. */
static int s_cmov32(struct xwave *w, const struct xinsn *in)
{
	uint32_t a = x_scalar32(w, in, 1);

	if (x_scc(w))
		x_scalar_put32(w, in, 0, in->arg ? (uint32_t)s16(a) : a);
	return 0;
}

static int s_cmov64(struct xwave *w, const struct xinsn *in)
{
	if (x_scc(w))
		x_scalar_put64(w, in, 0, x_scalar64(w, in, 1));
	return 0;
}

/* ---- bits ---- */

static uint64_t bit_reverse(uint64_t v, unsigned n)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < n; i++)
		r |= (v >> i & 1) << (n - 1 - i);
	return r;
}

/* Leading bits like the sign of the n bits of v; -1 when all are. */
static uint32_t sign_bits(uint64_t v, unsigned n)
{
	uint64_t up = v << (64 - n), differ = up ^ (uint64_t)((int64_t)up >> 63);
	unsigned same = differ ? (unsigned)__builtin_clzll(differ) : n;

	return same < n ? same : UINT32_MAX;
}

static uint64_t quad_bits(uint64_t v) /* bit i: some bit of the i-th four */
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 16; i++)
		r |= (uint64_t)((v >> 4 * i & 15) != 0) << i;
	return r;
}

static uint64_t whole_quads(uint64_t v)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 64; i += 4)
		r |= (v >> i & 15 ? UINT64_C(15) : 0) << i;
	return r;
}

static uint64_t twice_each_bit(uint32_t v)
{
	uint64_t r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (v >> i & 1 ? UINT64_C(3) : 0) << 2 * i;
	return r;
}

/* Bits first .. first + width - 1 of v with the sign extended; v has 64 bits and its sign already spread over them. */
static uint64_t field(uint64_t v, uint32_t first, uint32_t width, bool is_signed)
{
	v = is_signed ? (uint64_t)((int64_t)v >> first) : v >> first;
	if (!width)
		return 0;
	if (width >= 64)
		return v;
	v <<= 64 - width;
	return is_signed ? (uint64_t)((int64_t)v >> (64 - width)) : v >> (64 - width);
}

#define WIDTH (b >> 16 & 127)

OP32(s_bfe_u32, AB32, field(a, b & 31, WIDTH, false), Z)
OP32(s_bfe_i32, AB32, field((uint64_t)s64(a), b & 31, WIDTH, true), Z)
OP64(s_bfe_u64, A64B32, field(a, b & 63, WIDTH, false), Z)
OP64(s_bfe_i64, A64B32, field(a, b & 63, WIDTH, true), Z)
OP32(s_bfm32, AB32, ((1u << (a & 31)) - 1) << (b & 31), N)
OP64(s_bfm64, AB32, ((UINT64_C(1) << (a & 63)) - 1) << (b & 63), N)
OP32(s_brev32, A32, bit_reverse(a, 32), N)
OP64(s_brev64, A64, bit_reverse(a, 64), N)
OP32(s_bcnt0_32, A32, __builtin_popcount(~a), Z)
OP32(s_bcnt0_64, A64, __builtin_popcountll(~a), Z)
OP32(s_bcnt1_32, A32, __builtin_popcount(a), Z)
OP32(s_bcnt1_64, A64, __builtin_popcountll(a), Z)
OP32(s_ff0_32, A32, ~a ? __builtin_ctz(~a) : -1, N)
OP32(s_ff0_64, A64, ~a ? __builtin_ctzll(~a) : -1, N)
OP32(s_ff1_32, A32, a ? __builtin_ctz(a) : -1, N)
OP32(s_ff1_64, A64, a ? __builtin_ctzll(a) : -1, N)
OP32(s_flbit_32, A32, a ? __builtin_clz(a) : -1, N)
OP32(s_flbit_64, A64, a ? __builtin_clzll(a) : -1, N)
OP32(s_flbit_i32, A32, sign_bits(a, 32), N)
OP32(s_flbit_i64, A64, sign_bits(a, 64), N)
OP32(s_wqm32, A32, whole_quads(a), Z)
OP64(s_wqm64, A64, whole_quads(a), Z)
OP32(s_quadmask32, A32, quad_bits(a), Z)
OP64(s_quadmask64, A64, quad_bits(a), Z)
OP64(s_bitreplicate, A32, twice_each_bit(a), N)
OP32(s_bitset0_32, A32, x_scalar32(w, in, 0) & ~(1u << (a & 31)), N)
OP32(s_bitset1_32, A32, x_scalar32(w, in, 0) | 1u << (a & 31), N)
OP64(s_bitset0_64, A32, x_scalar64(w, in, 0) & ~(UINT64_C(1) << (a & 63)), N)
OP64(s_bitset1_64, A32, x_scalar64(w, in, 0) | UINT64_C(1) << (a & 63), N)

/* ---- compares: arg has a bit for each relation that is true: 1 less, 2 equal, 4 greater, 8 unordered ---- */

#define RELATION(a, b) ((a) < (b) ? 0 : (a) == (b) ? 1 : (a) > (b) ? 2 : 3)
#define COMPARE(fn, ctype, get)                                                                    \
	static int fn(struct xwave *w, const struct xinsn *in)                                     \
	{                                                                                          \
		ctype a = get(x_scalar32(w, in, 0)), b = get(x_scalar32(w, in, 1));                \
	\
		x_set_scc(w, in->arg >> RELATION(a, b) & 1);                                       \
		return 0;                                                                          \
	}

COMPARE(s_cmp_i32, int32_t, (int32_t))
COMPARE(s_cmp_u32, uint32_t, (uint32_t))
COMPARE(s_cmp_f32, float, xf_f32)
COMPARE(s_cmp_f16, float, xf_from_f16)

static int s_cmpk_i32(struct xwave *w, const struct xinsn *in)
{
	int32_t a = s32(x_scalar32(w, in, 0)), b = s16(x_scalar32(w, in, 1));

	x_set_scc(w, in->arg >> RELATION(a, b) & 1);
	return 0;
}

static int s_cmpk_u32(struct xwave *w, const struct xinsn *in)
{
	uint32_t a = x_scalar32(w, in, 0), b = x_scalar32(w, in, 1) & 0xffff;

	x_set_scc(w, in->arg >> RELATION(a, b) & 1);
	return 0;
}

static int s_cmp_u64(struct xwave *w, const struct xinsn *in) /* arg: what equal gives */
{
	x_set_scc(w, (x_scalar64(w, in, 0) == x_scalar64(w, in, 1)) == (in->arg != 0));
	return 0;
}

static int s_bitcmp32(struct xwave *w, const struct xinsn *in) /* arg: the bit sought */
{
	x_set_scc(w, (x_scalar32(w, in, 0) >> (x_scalar32(w, in, 1) & 31) & 1) == (uint32_t)in->arg);
	return 0;
}

static int s_bitcmp64(struct xwave *w, const struct xinsn *in)
{
	x_set_scc(w, (x_scalar64(w, in, 0) >> (x_scalar32(w, in, 1) & 63) & 1) == (uint64_t)in->arg);
	return 0;
}

/* ---- EXEC ---- */

enum { E_AND, E_OR, E_XOR, E_NAND, E_NOR, E_XNOR, E_ANDN1, E_ANDN2, E_ORN1, E_ORN2, E_WRITES = 16 };

static uint64_t exec_logic(unsigned what, uint64_t a, uint64_t exec)
{
	switch (what) {
	case E_AND: return a & exec;
	case E_OR: return a | exec;
	case E_XOR: return a ^ exec;
	case E_NAND: return ~(a & exec);
	case E_NOR: return ~(a | exec);
	case E_XNOR: return ~(a ^ exec);
	case E_ANDN1: return ~a & exec;
	case E_ANDN2: return a & ~exec;
	case E_ORN1: return ~a | exec;
	default: return a | ~exec;
	}
}

/* The destination gets the old EXEC, with E_WRITES the new one. */
static int s_exec64(struct xwave *w, const struct xinsn *in)
{
	uint64_t exec = exec_logic(in->arg & 15, x_scalar64(w, in, 1), w->exec);

	x_scalar_put64(w, in, 0, in->arg & E_WRITES ? exec : w->exec);
	x_set_exec(w, exec);
	x_set_scc(w, exec != 0);
	return 0;
}

static int s_exec32(struct xwave *w, const struct xinsn *in)
{
	uint32_t exec = (uint32_t)exec_logic(in->arg & 15, x_scalar32(w, in, 1), w->exec);

	x_scalar_put32(w, in, 0, in->arg & E_WRITES ? exec : (uint32_t)w->exec);
	x_set_exec(w, exec);
	x_set_scc(w, exec != 0);
	return 0;
}

/* ---- floating point of gfx1250 ---- */

#define AF A32; const float fa = xf_f32(a)
#define ABF AB32; const float fa = xf_f32(a), fb = xf_f32(b)
#define AH A32; const float fa = xf_from_f16(a)
#define ABH AB32; const float fa = xf_from_f16(a), fb = xf_from_f16(b)
#define F(e) xf_bits32(e)
#define H(e) xf_to_f16(e)
#define D (x_scalar32(w, in, 0))

OP32(s_add_f32, ABF, F(fa + fb), N)
OP32(s_sub_f32, ABF, F(fa - fb), N)
OP32(s_mul_f32, ABF, F(fa * fb), N)
OP32(s_fmac_f32, ABF, F(fmaf(fa, fb, xf_f32(D))), N)
OP32(s_fma_f32, ABF; const float fc = xf_f32(x_scalar32(w, in, 3)), F(fmaf(fa, fb, fc)), N)
OP32(s_min_f32, AB32, xf_minmax32(a, b, false, false), N)
OP32(s_max_f32, AB32, xf_minmax32(a, b, true, false), N)
OP32(s_minimum_f32, AB32, xf_limit32(a, b, false), N)
OP32(s_maximum_f32, AB32, xf_limit32(a, b, true), N)
OP32(s_ceil_f32, AF, F(ceilf(fa)), N)
OP32(s_floor_f32, AF, F(floorf(fa)), N)
OP32(s_trunc_f32, AF, F(truncf(fa)), N)
OP32(s_rndne_f32, AF, F(rintf(fa)), N)
OP32(s_add_f16, ABH, H(fa + fb), N)
OP32(s_sub_f16, ABH, H(fa - fb), N)
OP32(s_mul_f16, ABH, H(fa * fb), N)
OP32(s_fmac_f16, ABH, xf_fma_f16(fa, fb, xf_from_f16(D)), N)
OP32(s_min_f16, ABH, H(xf_f32(xf_minmax32(F(fa), F(fb), false, false))), N)
OP32(s_max_f16, ABH, H(xf_f32(xf_minmax32(F(fa), F(fb), true, false))), N)
OP32(s_minimum_f16, ABH, H(xf_f32(xf_limit32(F(fa), F(fb), false))), N)
OP32(s_maximum_f16, ABH, H(xf_f32(xf_limit32(F(fa), F(fb), true))), N)
OP32(s_ceil_f16, AH, H(ceilf(fa)), N)
OP32(s_floor_f16, AH, H(floorf(fa)), N)
OP32(s_trunc_f16, AH, H(truncf(fa)), N)
OP32(s_rndne_f16, AH, H(rintf(fa)), N)
OP32(s_cvt_f32_i32, A32, F((float)s32(a)), N)
OP32(s_cvt_f32_u32, A32, F((float)a), N)
OP32(s_cvt_i32_f32, AF, xf_to_i32((double)fa), N)
OP32(s_cvt_u32_f32, AF, xf_to_u32((double)fa), N)
OP32(s_cvt_f16_f32, AF, H(fa), N)
OP32(s_cvt_f32_f16, AH, F(fa), N)
OP32(s_cvt_hi_f32_f16, A32, F(xf_from_f16(a >> 16)), N)
OP32(s_cvt_pk_rtz, ABF, xf_to_f16_rtz(fa) | xf_to_f16_rtz(fb) << 16, N)

#undef D
#undef F
#undef H

/* ---- the table ---- */

#define BOTH(name, fn) { "s_" name "_b32", "b32 b32 b32", fn##32, 0 }, { "s_" name "_b64", "b64 b64 b64", fn##64, 0 }
#define EXECS(name, what)                                                                          \
	{ "s_" name "_saveexec_b32", "b32 b32", s_exec32, what }, { "s_" name "_saveexec_b64", "b64 b64", s_exec64, what }
#define WREXEC(name, what)                                                                         \
	{ "s_" name "_wrexec_b32", "b32 b32", s_exec32, (what) | E_WRITES },                       \
	{ "s_" name "_wrexec_b64", "b64 b64", s_exec64, (what) | E_WRITES }
#define RELATIONS(prefix, suffix, types, fn)                                                       \
	{ prefix "lt" suffix, types, fn, 1 }, { prefix "eq" suffix, types, fn, 2 },                \
	{ prefix "le" suffix, types, fn, 3 }, { prefix "gt" suffix, types, fn, 4 },                \
	{ prefix "lg" suffix, types, fn, 5 }, { prefix "ge" suffix, types, fn, 6 }
#define FLOAT_RELATIONS(suffix, types, fn)                                                         \
	RELATIONS("s_cmp_", suffix, types, fn), { "s_cmp_o" suffix, types, fn, 7 },                \
	{ "s_cmp_u" suffix, types, fn, 8 }, { "s_cmp_nge" suffix, types, fn, 9 },                  \
	{ "s_cmp_nlg" suffix, types, fn, 10 }, { "s_cmp_ngt" suffix, types, fn, 11 },              \
	{ "s_cmp_nle" suffix, types, fn, 12 }, { "s_cmp_neq" suffix, types, fn, 13 },              \
	{ "s_cmp_nlt" suffix, types, fn, 14 }

const struct xop xops_salu[] = {
	{ "s_{add,add_co}_u32", "u32 u32 u32", s_add_u32, 0 },
	{ "s_{sub,sub_co}_u32", "u32 u32 u32", s_sub_u32, 0 },
	{ "s_{add,add_co}_i32", "i32 i32 i32", s_add_i32, 0 },
	{ "s_{sub,sub_co}_i32", "i32 i32 i32", s_sub_i32, 0 },
	{ "s_{addc,add_co_ci}_u32", "u32 u32 u32", s_addc, 0 },
	{ "s_{subb,sub_co_ci}_u32", "u32 u32 u32", s_subb, 0 },
	{ "s_absdiff_i32", "i32 i32 i32", s_absdiff, 0 },
	{ "s_min_i32", "i32 i32 i32", s_min_i32, 0 },
	{ "s_max_i32", "i32 i32 i32", s_max_i32, 0 },
	{ "s_min_u32", "u32 u32 u32", s_min_u32, 0 },
	{ "s_max_u32", "u32 u32 u32", s_max_u32, 0 },
	{ "s_mul_i32", "i32 i32 i32", s_mul_i32, 0 },
	{ "s_mul_hi_u32", "u32 u32 u32", s_mul_hi_u32, 0 },
	{ "s_mul_hi_i32", "i32 i32 i32", s_mul_hi_i32, 0 },
	{ "s_lshl1_add_u32", "u32 u32 u32", s_lshl_add, 1 },
	{ "s_lshl2_add_u32", "u32 u32 u32", s_lshl_add, 2 },
	{ "s_lshl3_add_u32", "u32 u32 u32", s_lshl_add, 3 },
	{ "s_lshl4_add_u32", "u32 u32 u32", s_lshl_add, 4 },
	{ "s_add_nc_u64", "u64 u64 u64", s_add_u64, 0 },
	{ "s_sub_nc_u64", "u64 u64 u64", s_sub_u64, 0 },
	{ "s_mul_u64", "u64 u64 u64", s_mul_u64, 0 },
	{ "s_lshl_b32", "b32 b32 u32", s_lshl_b32, 0 },
	{ "s_lshr_b32", "b32 b32 u32", s_lshr_b32, 0 },
	{ "s_ashr_i32", "i32 i32 u32", s_ashr_i32, 0 },
	{ "s_lshl_b64", "b64 b64 u32", s_lshl_b64, 0 },
	{ "s_lshr_b64", "b64 b64 u32", s_lshr_b64, 0 },
	{ "s_ashr_i64", "i64 i64 u32", s_ashr_i64, 0 },
	BOTH("and", s_and), BOTH("or", s_or), BOTH("xor", s_xor), BOTH("nand", s_nand), BOTH("nor", s_nor),
	BOTH("xnor", s_xnor),
	BOTH("andn2", s_andn2), BOTH("and_not1", s_andn2), BOTH("orn2", s_orn2), BOTH("or_not1", s_orn2),
	{ "s_mov_b32", "b32 b32", s_mov32, 0 },
	{ "s_mov_b64", "b64 b64", s_mov64, 0 },
	{ "s_movk_i32", "i32 i16", s_movk, 0 },
	{ "s_cmov_b32", "b32 b32", s_cmov32, 0 },
	{ "s_cmovk_i32", "i32 i16", s_cmov32, 1 },
	{ "s_cmov_b64", "b64 b64", s_cmov64, 0 },
	{ "s_cselect_b32", "b32 b32 b32", s_cselect32, 0 },
	{ "s_cselect_b64", "b64 b64 b64", s_cselect64, 0 },
	{ "s_not_b32", "b32 b32", s_not32, 0 },
	{ "s_not_b64", "b64 b64", s_not64, 0 },
	{ "s_abs_i32", "i32 i32", s_abs, 0 },
	{ "s_sext_i32_i8", "i32 b32", s_sext8, 0 },
	{ "s_sext_i32_i16", "i32 b32", s_sext16, 0 },
	{ "s_{addk,addk_co}_i32", "i32 i16", s_addk, 0 },
	{ "s_mulk_i32", "i32 i16", s_mulk, 0 },
	{ "s_pack_ll_b32_b16", "b32 b32 b32", s_pack_ll, 0 },
	{ "s_pack_lh_b32_b16", "b32 b32 b32", s_pack_lh, 0 },
	{ "s_pack_hh_b32_b16", "b32 b32 b32", s_pack_hh, 0 },
	{ "s_pack_hl_b32_b16", "b32 b32 b32", s_pack_hl, 0 },
	{ "s_bfe_u32", "u32 u32 u32", s_bfe_u32, 0 },
	{ "s_bfe_i32", "i32 i32 u32", s_bfe_i32, 0 },
	{ "s_bfe_u64", "u64 u64 u32", s_bfe_u64, 0 },
	{ "s_bfe_i64", "i64 i64 u32", s_bfe_i64, 0 },
	{ "s_bfm_b32", "b32 b32 b32", s_bfm32, 0 },
	{ "s_bfm_b64", "b64 b32 b32", s_bfm64, 0 },
	{ "s_brev_b32", "b32 b32", s_brev32, 0 },
	{ "s_brev_b64", "b64 b64", s_brev64, 0 },
	{ "s_bcnt0_i32_b32", "i32 b32", s_bcnt0_32, 0 },
	{ "s_bcnt0_i32_b64", "i32 b64", s_bcnt0_64, 0 },
	{ "s_bcnt1_i32_b32", "i32 b32", s_bcnt1_32, 0 },
	{ "s_bcnt1_i32_b64", "i32 b64", s_bcnt1_64, 0 },
	{ "s_ff0_i32_b32", "i32 b32", s_ff0_32, 0 },
	{ "s_ff0_i32_b64", "i32 b64", s_ff0_64, 0 },
	{ "s_{ff1,ctz}_i32_b32", "i32 b32", s_ff1_32, 0 },
	{ "s_{ff1,ctz}_i32_b64", "i32 b64", s_ff1_64, 0 },
	{ "s_{flbit_i32_b32,clz_i32_u32}", "i32 b32", s_flbit_32, 0 },
	{ "s_{flbit_i32_b64,clz_i32_u64}", "i32 b64", s_flbit_64, 0 },
	{ "s_{flbit,cls}_i32", "i32 i32", s_flbit_i32, 0 },
	{ "s_{flbit,cls}_i32_i64", "i32 i64", s_flbit_i64, 0 },
	{ "s_wqm_b32", "b32 b32", s_wqm32, 0 },
	{ "s_wqm_b64", "b64 b64", s_wqm64, 0 },
	{ "s_quadmask_b32", "b32 b32", s_quadmask32, 0 },
	{ "s_quadmask_b64", "b64 b64", s_quadmask64, 0 },
	{ "s_bitreplicate_b64_b32", "b64 b32", s_bitreplicate, 0 },
	{ "s_bitset0_b32", "b32 b32", s_bitset0_32, 0 },
	{ "s_bitset1_b32", "b32 b32", s_bitset1_32, 0 },
	{ "s_bitset0_b64", "b64 b32", s_bitset0_64, 0 },
	{ "s_bitset1_b64", "b64 b32", s_bitset1_64, 0 },
	RELATIONS("s_cmp_", "_i32", "i32 i32", s_cmp_i32), RELATIONS("s_cmp_", "_u32", "u32 u32", s_cmp_u32),
	RELATIONS("s_cmpk_", "_i32", "i32 i16", s_cmpk_i32), RELATIONS("s_cmpk_", "_u32", "u32 u16", s_cmpk_u32),
	FLOAT_RELATIONS("_f32", "f32 f32", s_cmp_f32), FLOAT_RELATIONS("_f16", "f16 f16", s_cmp_f16),
	{ "s_cmp_eq_u64", "u64 u64", s_cmp_u64, 1 },
	{ "s_cmp_lg_u64", "u64 u64", s_cmp_u64, 0 },
	{ "s_bitcmp0_b32", "b32 b32", s_bitcmp32, 0 },
	{ "s_bitcmp1_b32", "b32 b32", s_bitcmp32, 1 },
	{ "s_bitcmp0_b64", "b64 b32", s_bitcmp64, 0 },
	{ "s_bitcmp1_b64", "b64 b32", s_bitcmp64, 1 },
	EXECS("and", E_AND), EXECS("or", E_OR), EXECS("xor", E_XOR), EXECS("nand", E_NAND), EXECS("nor", E_NOR),
	EXECS("xnor", E_XNOR), EXECS("andn1", E_ANDN1), EXECS("andn2", E_ANDN2), EXECS("orn1", E_ORN1), EXECS("orn2", E_ORN2),
	EXECS("and_not0", E_ANDN1), EXECS("and_not1", E_ANDN2), EXECS("or_not0", E_ORN1), EXECS("or_not1", E_ORN2),
	WREXEC("andn1", E_ANDN1), WREXEC("andn2", E_ANDN2), WREXEC("and_not0", E_ANDN1), WREXEC("and_not1", E_ANDN2),
	{ "s_add_f32", "f32 f32 f32", s_add_f32, 0 },
	{ "s_sub_f32", "f32 f32 f32", s_sub_f32, 0 },
	{ "s_mul_f32", "f32 f32 f32", s_mul_f32, 0 },
	{ "s_fmac_f32", "f32 f32 f32", s_fmac_f32, 0 },
	{ "s_{fmamk,fmaak}_f32", "f32 f32 f32 f32", s_fma_f32, 0 },
	{ "s_{min,min_num}_f32", "f32 f32 f32", s_min_f32, 0 },
	{ "s_{max,max_num}_f32", "f32 f32 f32", s_max_f32, 0 },
	{ "s_minimum_f32", "f32 f32 f32", s_minimum_f32, 0 },
	{ "s_maximum_f32", "f32 f32 f32", s_maximum_f32, 0 },
	{ "s_ceil_f32", "f32 f32", s_ceil_f32, 0 },
	{ "s_floor_f32", "f32 f32", s_floor_f32, 0 },
	{ "s_trunc_f32", "f32 f32", s_trunc_f32, 0 },
	{ "s_rndne_f32", "f32 f32", s_rndne_f32, 0 },
	{ "s_add_f16", "f16 f16 f16", s_add_f16, 0 },
	{ "s_sub_f16", "f16 f16 f16", s_sub_f16, 0 },
	{ "s_mul_f16", "f16 f16 f16", s_mul_f16, 0 },
	{ "s_fmac_f16", "f16 f16 f16", s_fmac_f16, 0 },
	{ "s_{min,min_num}_f16", "f16 f16 f16", s_min_f16, 0 },
	{ "s_{max,max_num}_f16", "f16 f16 f16", s_max_f16, 0 },
	{ "s_minimum_f16", "f16 f16 f16", s_minimum_f16, 0 },
	{ "s_maximum_f16", "f16 f16 f16", s_maximum_f16, 0 },
	{ "s_ceil_f16", "f16 f16", s_ceil_f16, 0 },
	{ "s_floor_f16", "f16 f16", s_floor_f16, 0 },
	{ "s_trunc_f16", "f16 f16", s_trunc_f16, 0 },
	{ "s_rndne_f16", "f16 f16", s_rndne_f16, 0 },
	{ "s_cvt_f32_i32", "f32 i32", s_cvt_f32_i32, 0 },
	{ "s_cvt_f32_u32", "f32 u32", s_cvt_f32_u32, 0 },
	{ "s_cvt_i32_f32", "i32 f32", s_cvt_i32_f32, 0 },
	{ "s_cvt_u32_f32", "u32 f32", s_cvt_u32_f32, 0 },
	{ "s_cvt_f16_f32", "f16 f32", s_cvt_f16_f32, 0 },
	{ "s_cvt_f32_f16", "f32 f16", s_cvt_f32_f16, 0 },
	{ "s_cvt_hi_f32_f16", "f32 b32", s_cvt_hi_f32_f16, 0 },
	{ "s_cvt_pk_rtz_f16_f32", "pk16 f32 f32", s_cvt_pk_rtz, 0 },
};
const size_t nxops_salu = ARRAY_LEN(xops_salu);
