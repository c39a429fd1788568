#include "numfmt.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum overflow { OVER_INF, OVER_MAX }; /* what stands behind the largest number: an infinity, or itself */

struct layout { /* sign, exponent, mantissa from the top bit on */
	const char *name;
	uint8_t bits, man, bias; /* man 0: not a small float of the general form */
	uint8_t over;
	uint16_t max;            /* code of the largest number without its sign */
	uint16_t nan;            /* code of a NaN; 0: there is none */
	uint8_t nan_from;        /* eight bits: codes from here on are NaN, 0: see nan */
};

static const struct layout layouts[NF_COUNT] = {
	[NF_F64] = { "f64", 64, 0, 0, OVER_INF, 0, 0, 0 },
	[NF_F32] = { "f32", 32, 0, 0, OVER_INF, 0, 0, 0 },
	[NF_XF32] = { "xf32", 32, 0, 0, OVER_INF, 0, 0, 0 },
	[NF_F16] = { "f16", 16, 10, 15, OVER_INF, 0x7bff, 0x7e00, 0 },
	[NF_BF16] = { "bf16", 16, 7, 127, OVER_INF, 0x7f7f, 0x7fc0, 0 },
	[NF_FP8_FNUZ] = { "fp8_fnuz", 8, 3, 8, OVER_MAX, 0x7f, 0x80, 0 },
	[NF_BF8_FNUZ] = { "bf8_fnuz", 8, 2, 16, OVER_MAX, 0x7f, 0x80, 0 },
	[NF_FP8] = { "fp8", 8, 3, 7, OVER_MAX, 0x7e, 0x7f, 0x7f },
	[NF_BF8] = { "bf8", 8, 2, 15, OVER_MAX, 0x7b, 0x7f, 0x7d },
	[NF_FP6] = { "fp6", 6, 3, 1, OVER_MAX, 0x1f, 0, 0 },
	[NF_BF6] = { "bf6", 6, 2, 3, OVER_MAX, 0x1f, 0, 0 },
	[NF_FP4] = { "fp4", 4, 1, 1, OVER_MAX, 0x7, 0, 0 },
	[NF_E8M0] = { "e8m0", 8, 0, 0, OVER_MAX, 0, 0, 0 },
	[NF_I8] = { "i8", 8, 0, 0, OVER_MAX, 0, 0, 0 },
	[NF_U8] = { "u8", 8, 0, 0, OVER_MAX, 0, 0, 0 },
	[NF_I32] = { "i32", 32, 0, 0, OVER_MAX, 0, 0, 0 },
	[NF_U32] = { "u32", 32, 0, 0, OVER_MAX, 0, 0, 0 },
};

const char *numfmt_name(enum numfmt f)
{
	return layouts[f].name;
}

unsigned numfmt_bits(enum numfmt f)
{
	return layouts[f].bits;
}

enum numfmt numfmt_of(const struct target *t, enum dtype d)
{
	/* Only gfx942 has the formats without negative zero and with one more in the bias. */
	bool fnuz = t && t->name && !strcmp(t->name, "gfx942");

	switch (d) {
	case DT_F64:
		return NF_F64;
	case DT_F32:
		return NF_F32;
	case DT_XF32:
		return NF_XF32;
	case DT_F16:
		return NF_F16;
	case DT_BF16:
		return NF_BF16;
	case DT_FP8:
		return fnuz ? NF_FP8_FNUZ : NF_FP8;
	case DT_BF8:
		return fnuz ? NF_BF8_FNUZ : NF_BF8;
	case DT_FP6:
		return NF_FP6;
	case DT_BF6:
		return NF_BF6;
	case DT_FP4:
		return NF_FP4;
	case DT_I8:
		return NF_I8;
	case DT_I32:
	case DT_COUNT:
		break;
	}
	return NF_I32;
}

static inline double bits_to_f32(uint32_t u)
{
	float v;

	memcpy(&v, &u, sizeof(v));
	return (double)v;
}

static inline uint32_t f32_to_bits(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

/* The matrix unit looks at 10 bits of mantissa of an xf32; the value in a register is an ordinary f32. */
static uint32_t xf32_round(uint32_t u)
{
	if ((u & 0x7f800000) == 0x7f800000)
		return u;
	return (u + 0xfff + (u >> 13 & 1)) & ~(uint32_t)0x1fff;
}

static double small_get(const struct layout *l, enum numfmt f, uint32_t bits)
{
	uint32_t sign = 1u << (l->bits - 1u), mag = bits & (sign - 1), man = mag & ((1u << l->man) - 1), exp = mag >> l->man;
	double v;

	if (f == NF_FP8_FNUZ || f == NF_BF8_FNUZ) {
		if ((bits & (2 * sign - 1)) == l->nan)
			return NAN;
	} else if (l->nan_from ? mag >= l->nan_from : l->nan && mag > l->max + 1u) {
		return NAN;
	}
	if (f != NF_FP8_FNUZ && f != NF_BF8_FNUZ && f != NF_FP8 && l->nan && mag == l->max + 1u)
		v = INFINITY;
	else if (exp)
		v = ldexp((double)(man + (1u << l->man)), (int)exp - l->bias - l->man);
	else
		v = ldexp((double)man, 1 - l->bias - l->man);
	return bits & sign ? -v : v;
}

double numfmt_get(enum numfmt f, uint64_t bits)
{
	const struct layout *l = &layouts[f];
	double v;

	switch (f) {
	case NF_F64:
		memcpy(&v, &bits, sizeof(v));
		return v;
	case NF_F32:
		return bits_to_f32((uint32_t)bits);
	case NF_XF32:
		return bits_to_f32(xf32_round((uint32_t)bits));
	case NF_BF16:
		return bits_to_f32((uint32_t)bits << 16);
	case NF_E8M0:
		return (bits & 0xff) == 0xff ? NAN : ldexp(1.0, (int)(bits & 0xff) - 127);
	case NF_I8:
		return (double)(int8_t)bits;
	case NF_U8:
		return (double)(uint8_t)bits;
	case NF_I32:
		return (double)(int32_t)bits;
	case NF_U32:
		return (double)(uint32_t)bits;
	case NF_F16:
	case NF_FP8_FNUZ:
	case NF_BF8_FNUZ:
	case NF_FP8:
	case NF_BF8:
	case NF_FP6:
	case NF_BF6:
	case NF_FP4:
	case NF_COUNT:
		break;
	}
	return small_get(l, f, (uint32_t)bits);
}

static uint64_t small_put(const struct layout *l, enum numfmt f, double v)
{
	uint32_t sign = signbit(v) ? 1u << (l->bits - 1u) : 0, code;
	bool fnuz = f == NF_FP8_FNUZ || f == NF_BF8_FNUZ;
	double a = fabs(v), r;
	int e;

	if (isnan(v))
		return l->nan ? l->nan : l->max; /* the narrow formats have nothing to say it with */
	if (isinf(v)) {
		bool has = l->nan && !fnuz && f != NF_FP8;

		code = has ? l->max + 1u : l->max;
		return sign | code;
	}
	frexp(a, &e);
	e--; /* 2^e <= a < 2^(e + 1) */
	if (a == 0 || e < 1 - l->bias)
		e = 1 - l->bias;
	else if (e > 1024 - l->bias) /* far behind the largest number of any of them */
		return sign | (l->over == OVER_INF ? l->max + 1u : l->max);
	r = nearbyint(ldexp(a, l->man - e)); /* a carry moves on into the exponent by itself */
	code = ((uint32_t)(e + l->bias - 1) << l->man) + (uint32_t)r;
	if (code > l->max)
		code = l->over == OVER_INF ? l->max + 1u : l->max;
	if (fnuz && !code)
		return 0;
	return sign | code;
}

static uint64_t int_put(double v, double lo, double hi)
{
	v = isnan(v) ? 0 : nearbyint(v);
	return (uint64_t)(int64_t)(v < lo ? lo : v > hi ? hi : v);
}

static uint64_t e8m0_put(double v)
{
	int e;
	double m;

	if (isnan(v))
		return 0xff;
	if (!(v > 0))
		return 0;
	if (isinf(v))
		return 0xfe;
	m = frexp(v, &e); /* v = m * 2^e, 0.5 <= m < 1; the middle of two neighbours is 0.75 * 2^e */
	e += 126;
	if (m > 0.75 || (m == 0.75 && (e & 1)))
		e++;
	return (uint64_t)(e < 0 ? 0 : e > 0xfe ? 0xfe : e);
}

uint64_t numfmt_put(enum numfmt f, double v)
{
	uint64_t u;
	uint32_t w;

	switch (f) {
	case NF_F64:
		memcpy(&u, &v, sizeof(u));
		return u;
	case NF_F32:
		return f32_to_bits((float)v);
	case NF_XF32:
		/* One rounding: the bits of the f32 below the ten kept must not be rounded first. */
		w = f32_to_bits((float)v);
		if (isfinite(v) && (w & 0x1fff) == 0x1000 && bits_to_f32(w) != v)
			w += (fabs(bits_to_f32(w)) < fabs(v)) ? 1 : (uint32_t)-1;
		return xf32_round(w);
	case NF_E8M0:
		return e8m0_put(v);
	case NF_I8:
		return int_put(v, -128, 127) & 0xff;
	case NF_U8:
		return int_put(v, 0, 255);
	case NF_I32:
		return int_put(v, -2147483648.0, 2147483647.0) & 0xffffffff;
	case NF_U32:
		return int_put(v, 0, 4294967295.0);
	case NF_F16:
	case NF_BF16:
	case NF_FP8_FNUZ:
	case NF_BF8_FNUZ:
	case NF_FP8:
	case NF_BF8:
	case NF_FP6:
	case NF_BF6:
	case NF_FP4:
	case NF_COUNT:
		break;
	}
	return small_put(&layouts[f], f, v);
}

/* ---- arrays ---- */

uint64_t numfmt_load_bits(enum numfmt f, const void *array, size_t i)
{
	const unsigned char *p = array;
	unsigned bits = layouts[f].bits, shift;
	uint64_t u = 0;

	if (bits >= 8) {
		for (unsigned b = bits / 8; b-- > 0;) /* little-endian whatever the host is */
			u = u << 8 | p[i * (bits / 8) + b];
		return u;
	}
	p += i * bits / 8; /* no overflow: an array has fewer than SIZE_MAX / 6 elements */
	shift = (unsigned)(i * bits % 8);
	u = (uint64_t)p[0] >> shift;
	if (shift + bits > 8)
		u |= (uint64_t)p[1] << (8 - shift);
	return u & ((1u << bits) - 1);
}

void numfmt_store_bits(enum numfmt f, void *array, size_t i, uint64_t code)
{
	unsigned char *p = array;
	unsigned bits = layouts[f].bits, shift, mask, both;

	if (bits >= 8) {
		for (unsigned b = 0; b < bits / 8; b++)
			p[i * (bits / 8) + b] = (unsigned char)(code >> (8 * b));
		return;
	}
	p += i * bits / 8;
	shift = (unsigned)(i * bits % 8);
	mask = ((1u << bits) - 1) << shift;
	both = (unsigned)code << shift & mask;
	p[0] = (unsigned char)((p[0] & ~mask) | both);
	if (shift + bits > 8)
		p[1] = (unsigned char)((p[1] & ~(mask >> 8)) | both >> 8);
}

double numfmt_load(enum numfmt f, const void *array, size_t i)
{
	return numfmt_get(f, numfmt_load_bits(f, array, i));
}

void numfmt_store(enum numfmt f, void *array, size_t i, double v)
{
	numfmt_store_bits(f, array, i, numfmt_put(f, v));
}

/* ---- many at a time ---- */

static double tables[NF_COUNT][256]; /* of the formats of at most eight bits */
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void tables_fill(void)
{
	for (int f = 0; f < NF_COUNT; f++)
		if (layouts[f].bits <= 8)
			for (unsigned u = 0; u < 1u << layouts[f].bits; u++)
				tables[f][u] = numfmt_get((enum numfmt)f, u);
}

const double *numfmt_table(enum numfmt f)
{
	if (layouts[f].bits > 8)
		return NULL;
	pthread_once(&tables_once, tables_fill);
	return tables[f];
}

/* The loops below go in steps of a fixed size, so that the compiler can take several elements at once. */
#define DECODE_STEP 16
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void decode_f16(const uint32_t *code, size_t n, double *out)
{
	/* Shifted into place a code is the f32 with the same exponent field: 2^112 too small, denormals too. */
	for (size_t i = 0; i < n; i++) {
		uint32_t mag = (code[i] & 0x7fff) << 13, sign = (code[i] & 0x8000) << 16;
		uint32_t scaled = f32_to_bits((float)(bits_to_f32(mag) * 0x1p112));

		scaled = mag >= 0x0f800000 ? mag | 0x7f800000 : scaled;
		out[i] = bits_to_f32(scaled | sign);
	}
}

ALWAYS void decode_step(enum numfmt f, const double *table, const uint32_t *code, size_t n, double *out)
{
	if (table) {
		uint32_t mask = (1u << layouts[f].bits) - 1;

		for (size_t i = 0; i < n; i++)
			out[i] = table[code[i] & mask];
	} else if (f == NF_F16) {
		decode_f16(code, n, out);
	} else if (f == NF_BF16) {
		for (size_t i = 0; i < n; i++)
			out[i] = bits_to_f32(code[i] << 16);
	} else if (f == NF_F32) {
		for (size_t i = 0; i < n; i++)
			out[i] = bits_to_f32(code[i]);
	} else {
		for (size_t i = 0; i < n; i++)
			out[i] = numfmt_get(f, code[i]);
	}
}

void numfmt_decode(enum numfmt f, const uint32_t *code, size_t n, double *out)
{
	const double *table = numfmt_table(f);
	size_t i = 0;

	for (; i + DECODE_STEP <= n; i += DECODE_STEP)
		decode_step(f, table, code + i, DECODE_STEP, out + i);
	for (; i < n; i++)
		decode_step(f, table, code + i, 1, out + i);
}
