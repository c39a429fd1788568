/* Vector compares: the result is a bit for each lane. */
#include "exec_alu_loops.h"

/*
 * arg: a bit for each relation that makes the result true: 1 less, 2 equal, 4 greater, 8 unordered; as the opcode
 * counts them. + 16: EXEC becomes the result too.
 */
static void put_result(struct xwave *w, const struct xinsn *in, uint64_t mask)
{
	mask &= w->exec;
	if (in->n > 2)
		x_mask_put(w, in, 0, mask);
	if (in->arg & 16)
		x_set_exec(w, mask);
}

/* gfx1250's v_cmpx has no destination: its sources come first. */
static unsigned first_source(const struct xinsn *in)
{
	return in->n > 2 ? 1 : 0;
}

#define COMPARE(fn, ctype, read, get)                                                              \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint32_t ba[64], bb[64];                                                           \
		unsigned first = first_source(in), lt = in->arg & 1, eq = in->arg >> 1 & 1,        \
			 gt = in->arg >> 2 & 1, un = in->arg >> 3 & 1;                             \
		const uint32_t *pa = read(w, in, first, ba), *pb = read(w, in, first + 1, bb);     \
		uint64_t mask = 0;                                                                 \
	\
		LANES(w) {                                                                         \
			ctype a = get(pa[l]), b = get(pb[l]);                                      \
			unsigned hit = a < b ? lt : a > b ? gt : a == b ? eq : un;                 \
	\
			mask |= (uint64_t)hit << l;                                                \
		}                                                                                  \
		put_result(w, in, mask);                                                           \
		return 0;                                                                          \
	}
#define COMPARE64(fn, ctype, read, get)                                                            \
	int fn(struct xwave *w, const struct xinsn *in)                                            \
	{                                                                                          \
		uint64_t pa[64], pb[64], mask = 0;                                                 \
		unsigned first = first_source(in), lt = in->arg & 1, eq = in->arg >> 1 & 1,        \
			 gt = in->arg >> 2 & 1, un = in->arg >> 3 & 1;                             \
	\
		read(w, in, first, pa);                                                            \
		read(w, in, first + 1, pb);                                                        \
		LANES(w) {                                                                         \
			ctype a = get(pa[l]), b = get(pb[l]);                                      \
			unsigned hit = a < b ? lt : a > b ? gt : a == b ? eq : un;                 \
	\
			mask |= (uint64_t)hit << l;                                                \
		}                                                                                  \
		put_result(w, in, mask);                                                           \
		return 0;                                                                          \
	}

static const uint32_t *read32(struct xwave *w, const struct xinsn *in, unsigned i, uint32_t buf[64])
{
	return x_lanes(w, in, i, 0, buf);
}

COMPARE(xv_cmp_i32, int32_t, read32, (int32_t))
COMPARE(xv_cmp_u32, uint32_t, read32, (uint32_t))
COMPARE(xv_cmp_i16, int16_t, alu_h16, (int16_t))
COMPARE(xv_cmp_u16, uint16_t, alu_h16, (uint16_t))
COMPARE(xv_cmp_f32, float, alu_f32, xf_f32)
COMPARE(xv_cmp_f16, float, alu_h16, xf_from_f16)
COMPARE64(xv_cmp_i64, int64_t, alu_u64, (int64_t))
COMPARE64(xv_cmp_u64, uint64_t, alu_u64, (uint64_t))
COMPARE64(xv_cmp_f64, double, alu_f64, xf_f64)

/* Index into the class mask from the parts of a number: the same for all widths. */
static unsigned class_bit(bool negative, uint64_t exponent, uint64_t all_ones, uint64_t fraction, uint64_t quiet)
{
	if (exponent == all_ones && fraction)
		return fraction & quiet ? 1 : 0;
	if (exponent == all_ones)
		return negative ? 2 : 9;
	if (exponent)
		return negative ? 3 : 8;
	if (fraction)
		return negative ? 4 : 7;
	return negative ? 5 : 6;
}

int xv_cmp_class_f32(struct xwave *w, const struct xinsn *in)
{
	unsigned first = first_source(in);
	uint32_t ba[64], bb[64];
	const uint32_t *pa = alu_f32(w, in, first, ba), *pb = x_lanes(w, in, first + 1, 0, bb);
	uint64_t mask = 0;

	LANES(w)
		mask |= (uint64_t)(pb[l] >> class_bit(pa[l] >> 31, pa[l] >> 23 & 255, 255, pa[l] & 0x7fffff, 0x400000) & 1) << l;
	put_result(w, in, mask);
	return 0;
}

int xv_cmp_class_f16(struct xwave *w, const struct xinsn *in)
{
	unsigned first = first_source(in);
	uint32_t ba[64], bb[64];
	const uint32_t *pa = alu_h16(w, in, first, ba), *pb = x_lanes(w, in, first + 1, 0, bb);
	uint64_t mask = 0;

	LANES(w)
		mask |= (uint64_t)(pb[l] >> class_bit(pa[l] >> 15 & 1, pa[l] >> 10 & 31, 31, pa[l] & 0x3ff, 0x200) & 1) << l;
	put_result(w, in, mask);
	return 0;
}

int xv_cmp_class_f64(struct xwave *w, const struct xinsn *in)
{
	unsigned first = first_source(in);
	const uint64_t fraction = 0xfffffffffffff, quiet = 0x8000000000000;
	uint64_t a[64], mask = 0;
	uint32_t bb[64];
	const uint32_t *pb = x_lanes(w, in, first + 1, 0, bb);

	alu_f64(w, in, first, a);
	LANES(w)
		mask |= (uint64_t)(pb[l] >> class_bit(a[l] >> 63, a[l] >> 52 & 2047, 2047, a[l] & fraction, quiet) & 1) << l;
	put_result(w, in, mask);
	return 0;
}
