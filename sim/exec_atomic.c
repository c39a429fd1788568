/* Arithmetic of atomics, on LDS and on global memory. */
#include "exec_mem.h"

#include <math.h>

#include "numfmt.h"

static uint32_t bits_of_float(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

static float float_of_bits(uint32_t u)
{
	float f;

	memcpy(&f, &u, sizeof(f));
	return f;
}

static uint64_t bits_of_double(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

static double double_of_bits(uint64_t u)
{
	double d;

	memcpy(&d, &u, sizeof(d));
	return d;
}

static uint32_t flushed(uint32_t u, bool flush)
{
	return flush && !(u & 0x7f800000u) ? u & 0x80000000u : u;
}

/* -0 is less than +0. */
static bool less(double a, double b)
{
	return a < b || (a == b && signbit(a) && !signbit(b));
}

/*
 * Selection of minimum and maximum. gfx9 (ieee false): the operand wins only when it compares as less or
 * greater. The number forms of gfx1250: a NaN loses against a number.
 */
static bool operand_wins(enum xatomic op, double old, double a)
{
	switch (op) {
	case AT_FMIN:
		return a < old;
	case AT_FMAX:
		return a > old;
	case AT_FMIN_NUM:
		return isnan(old) || (!isnan(a) && less(a, old));
	default:
		return isnan(old) || (!isnan(a) && less(old, a));
	}
}

static uint32_t float_op(enum xatomic op, uint32_t old, uint32_t a, uint32_t b, unsigned flush)
{
	float x, y;

	old = flushed(old, flush & FLUSH_IN);
	a = flushed(a, flush & FLUSH_IN);
	b = flushed(b, flush & FLUSH_IN);
	x = float_of_bits(old);
	y = float_of_bits(a);
	if (op == AT_FCMPSWAP)
		return x == float_of_bits(b) ? a : old;
	if (op != AT_FADD)
		return operand_wins(op, x, y) ? a : old;
	if (isnan(x))
		return old | 0x00400000u;
	if (isnan(y))
		return a | 0x00400000u;
	if (isinf(x) && isinf(y) && signbit(x) != signbit(y))
		return 0xffc00000u;
	return flushed(bits_of_float(x + y), flush & FLUSH_OUT);
}

static uint64_t double_op(enum xatomic op, uint64_t old, uint64_t a, uint64_t b)
{
	double x = double_of_bits(old), y = double_of_bits(a);

	if (op == AT_FCMPSWAP)
		return x == double_of_bits(b) ? a : old;
	if (op != AT_FADD)
		return operand_wins(op, x, y) ? a : old;
	if (isnan(x))
		return old | 0x0008000000000000ull;
	if (isnan(y))
		return a | 0x0008000000000000ull;
	if (isinf(x) && isinf(y) && signbit(x) != signbit(y))
		return 0xfff8000000000000ull;
	return bits_of_double(x + y);
}

static uint32_t half_add(enum numfmt f, uint32_t old, uint32_t a, unsigned flush)
{
	uint32_t exponent = f == NF_F16 ? 0x7c00u : 0x7f80u, r;

	if (flush & FLUSH_IN) {
		old = old & exponent ? old : old & 0x8000u;
		a = a & exponent ? a : a & 0x8000u;
	}
	r = (uint32_t)numfmt_put(f, numfmt_get(f, old) + numfmt_get(f, a));
	return (flush & FLUSH_OUT) && !(r & exponent) ? r & 0x8000u : r;
}

static uint64_t packed_add(enum numfmt f, uint64_t old, uint64_t a, unsigned flush)
{
	return half_add(f, old & 0xffff, a & 0xffff, flush) | half_add(f, old >> 16 & 0xffff, a >> 16 & 0xffff, flush) << 16;
}

static int64_t sign_extended(uint64_t v, unsigned bytes)
{
	return bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v;
}

/*
 * LDS barrier object of gfx1250: pending count in bits 28 to 0, phase above it, initial count in bits 47 to 32.
 * A count that falls below 0 takes one from the phase and begins again.
 */
static uint64_t arrive(uint64_t old, uint64_t by)
{
	uint32_t count_mask = (1u << BARRIER_COUNT_BITS) - 1, was = (uint32_t)old & count_mask, state = (uint32_t)old - (uint32_t)by;

	if ((uint32_t)by > was)
		state = (state & ~count_mask) | ((uint32_t)(old >> 32) & 0xffff);
	return (old & 0xffffffff00000000ull) | state;
}

static uint64_t integer_op(enum xatomic op, unsigned bytes, uint64_t old, uint64_t a, uint64_t b)
{
	int64_t so = sign_extended(old, bytes), sa = sign_extended(a, bytes);

	switch (op) {
	case AT_SWAP:
		return a;
	case AT_CMPSWAP:
		return old == b ? a : old;
	case AT_ADD:
		return old + a;
	case AT_SUB:
		return old - a;
	case AT_RSUB:
		return a - old;
	case AT_SMIN:
		return sa < so ? a : old;
	case AT_UMIN:
		return a < old ? a : old;
	case AT_SMAX:
		return sa > so ? a : old;
	case AT_UMAX:
		return a > old ? a : old;
	case AT_AND:
		return old & a;
	case AT_OR:
		return old | a;
	case AT_XOR:
		return old ^ a;
	case AT_INC:
		return old >= a ? 0 : old + 1;
	case AT_DEC:
		return !old || old > a ? a : old - 1;
	case AT_SUB_CLAMP:
		return old < a ? 0 : old - a;
	case AT_COND_SUB:
		return old >= a ? old - a : old;
	case AT_MSKOR:
		return (old & ~a) | b;
	case AT_WRAP:
		return old >= a ? old - a : old + b;
	case AT_ARRIVE:
		return arrive(old, a);
	case AT_FADD: case AT_FMIN: case AT_FMAX: case AT_FMIN_NUM: case AT_FMAX_NUM: case AT_FCMPSWAP: case AT_PK_F16: case AT_PK_BF16:
		break;
	}
	return old;
}

uint64_t atomic_apply(enum xatomic op, unsigned bytes, uint64_t old, uint64_t a, uint64_t b, unsigned flush)
{
	uint64_t v;

	switch (op) {
	case AT_PK_F16:
		return packed_add(NF_F16, old, a, flush);
	case AT_PK_BF16:
		return packed_add(NF_BF16, old, a, flush);
	case AT_FADD: case AT_FMIN: case AT_FMAX: case AT_FMIN_NUM: case AT_FMAX_NUM: case AT_FCMPSWAP:
		return bytes == 4 ? float_op(op, (uint32_t)old, (uint32_t)a, (uint32_t)b, flush) : double_op(op, old, a, b);
	default:
		v = integer_op(op, bytes, old, a, b);
		return bytes == 4 ? (uint32_t)v : v;
	}
}
