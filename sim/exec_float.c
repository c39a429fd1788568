#include "exec_float.h"

enum tail { TAIL_IEEE, TAIL_NAN_ONLY, TAIL_FNUZ, TAIL_NONE }; /* what the largest encodings mean */

static const struct small {
	uint8_t bits, fraction, tail;
	int8_t min_exponent; /* of normal numbers */
} small[XF_NSMALL] = {
	[XF_F32] = { 32, 23, TAIL_IEEE, -126 },
	[XF_F16] = { 16, 10, TAIL_IEEE, -14 },
	[XF_BF16] = { 16, 7, TAIL_IEEE, -126 },
	[XF_FP8_FNUZ] = { 8, 3, TAIL_FNUZ, -7 },
	[XF_BF8_FNUZ] = { 8, 2, TAIL_FNUZ, -15 },
	[XF_FP8] = { 8, 3, TAIL_NAN_ONLY, -6 },
	[XF_BF8] = { 8, 2, TAIL_IEEE, -14 },
	[XF_FP6] = { 6, 3, TAIL_NONE, 0 },
	[XF_BF6] = { 6, 2, TAIL_NONE, -2 },
	[XF_FP4] = { 4, 1, TAIL_NONE, 0 },
	[XF_E5M3] = { 9, 3, TAIL_NAN_ONLY, -14 },
};

unsigned xf_small_bits(enum xsmall f)
{
	return small[f].bits;
}

/* Magnitude bits of infinity or, where there is none, of the first encoding that is no number. */
static uint32_t small_limit(const struct small *s)
{
	uint32_t all = (1u << (s->bits - 1)) - 1;

	switch ((enum tail)s->tail) {
	case TAIL_IEEE: return all ^ ((1u << s->fraction) - 1);
	case TAIL_NAN_ONLY: return all;
	case TAIL_FNUZ:
	case TAIL_NONE: break;
	}
	return all + 1;
}

static uint32_t small_nan(const struct small *s)
{
	switch ((enum tail)s->tail) {
	case TAIL_IEEE: return small_limit(s) | 1u << (s->fraction - 1);
	case TAIL_NAN_ONLY: return small_limit(s);
	case TAIL_FNUZ: return 1u << (s->bits - 1);
	case TAIL_NONE: break;
	}
	return small_limit(s) - 1;
}

double xf_small_get(enum xsmall f, uint32_t bits)
{
	const struct small *s = &small[f];
	uint32_t sign = bits >> (s->bits - 1) & 1, m = bits & ((1u << (s->bits - 1)) - 1), e = m >> s->fraction;
	double v;

	if (s->tail == TAIL_FNUZ && sign && !m)
		return (double)NAN;
	if (s->tail == TAIL_IEEE && m >= small_limit(s))
		v = m == small_limit(s) ? (double)INFINITY : (double)NAN;
	else if (s->tail == TAIL_NAN_ONLY && m == small_limit(s))
		v = (double)NAN;
	else if (e)
		v = ldexp((m & ((1u << s->fraction) - 1)) | 1u << s->fraction, (int)e - 1 + s->min_exponent - s->fraction);
	else
		v = ldexp(m, s->min_exponent - s->fraction);
	return sign ? -v : v;
}

/* Exponent of the last bit that a number near v keeps. v is finite and not 0. */
static int small_quantum(const struct small *s, double v, int *exponent)
{
	int e = ilogb(v);

	*exponent = e < s->min_exponent ? s->min_exponent : e;
	return *exponent - s->fraction;
}

/* steps quanta above 0 in the binade of exponent; a carry into the next binade comes out right by itself. */
static uint32_t small_finish(const struct small *s, bool negative, int exponent, double steps, bool saturate)
{
	uint32_t sign = negative ? 1u << (s->bits - 1) : 0, limit = small_limit(s), m;

	if (exponent - s->min_exponent > 300 ||
	    (double)((uint64_t)(exponent - s->min_exponent) << s->fraction) + steps >= limit) {
		if (saturate || s->tail == TAIL_NONE)
			return sign | (limit - 1);
		return s->tail == TAIL_FNUZ ? small_nan(s) : sign | limit;
	}
	m = ((uint32_t)(exponent - s->min_exponent) << s->fraction) + (uint32_t)steps;
	return s->tail == TAIL_FNUZ && !m ? 0 : sign | m;
}

static bool small_special(const struct small *s, double v, bool saturate, uint32_t *out)
{
	uint32_t sign = signbit(v) && s->tail != TAIL_FNUZ ? 1u << (s->bits - 1) : 0;

	if (v != v) {
		*out = s->tail == TAIL_NONE ? small_limit(s) - 1 : sign | small_nan(s);
		return true;
	}
	if (v == 0) {
		*out = sign;
		return true;
	}
	if (!isinf(v))
		return false;
	sign = signbit(v) ? 1u << (s->bits - 1) : 0;
	if (saturate || s->tail == TAIL_NONE)
		*out = sign | (small_limit(s) - 1);
	else
		*out = s->tail == TAIL_FNUZ ? small_nan(s) : sign | small_limit(s);
	return true;
}

uint32_t xf_small_put(enum xsmall f, double v, bool saturate)
{
	const struct small *s = &small[f];
	uint32_t special;
	int e, q;

	if (small_special(s, v, saturate, &special))
		return special;
	q = small_quantum(s, v, &e);
	return small_finish(s, v < 0, e, rint(ldexp(fabs(v), -q)), saturate);
}

uint32_t xf_small_put_random(enum xsmall f, double v, bool saturate, uint32_t random, unsigned from_bits)
{
	const struct small *s = &small[f];
	unsigned drop = from_bits > s->fraction ? from_bits - s->fraction : 0;
	uint32_t special;
	double steps;
	int e, q;

	if (small_special(s, v, saturate, &special))
		return special;
	q = small_quantum(s, v, &e);
	steps = floor(ldexp(fabs(v), (int)drop - q));
	if (drop)
		steps += random >> (32 - drop);
	return small_finish(s, v < 0, e, floor(ldexp(steps, -(int)drop)), saturate);
}

uint32_t xf_prng(uint32_t x)
{
	return x << 1 ^ (x >> 31 ? 197u : 0u);
}
