/*
 * Inputs and reference product for an emitted kernel.
 *
 * What a result may differ by is derived, not chosen. A kernel adds K products into a float of p bits (24, or 53
 * when C is f64) in an order that is not known:
 *
 *   - When every partial sum fits into p bits, whatever the order, nothing is lost. That is so when the sum of
 *     |a b|, at most |A_i| |B_j| (Cauchy and Schwarz), is at most 2^p units, a unit being the product of the lowest
 *     bits that occur in the row of A and in the column of B. verify_fill makes inputs for which it holds where the
 *     formats allow it.
 *   - Otherwise each of the K additions loses at most 2^-p of its result. Products of random sign make partial sums
 *     like a random walk with s^2 = sum of (a b)^2; they stay below 8 s but for one case in 10^14. The bound is
 *     K 2^-p 8 s.
 *
 * On top comes half a step of C's format at the exact value. Integers must be equal.
 */
#include "verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define POISON_BYTE 0xfe /* in f16 no number, in the wider formats far from every result */
#define WALK_BOUND 8.0

/* ---- layout ---- */

static bool is_b(char which)
{
	return which == 'B' || which == 'T';
}

static size_t scale_at(const struct verify_layout *l, char which, int64_t row, int64_t block)
{
	size_t step = is_b(which) ? l->scale_step_b_bytes : l->scale_step_a_bytes, per = l->scale_blocks ? l->scale_blocks : 1;
	const uint32_t *map = is_b(which) ? l->scale_map_b : l->scale_map_a;
	size_t rows = is_b(which) ? l->scale_rows_b : l->scale_rows_a, i = (size_t)row, q = (size_t)block;

	if (map && rows)
		return i / rows * (rows * (size_t)(l->k / 32)) + q / per * (rows * per) + map[i % rows * per + q % per];
	if (step)
		return q / per * step + i * per + q % per;
	return i * l->lds_bytes + q;
}

static int64_t scale_blocks(const struct verify_layout *l)
{
	return (l->k + 31) / 32;
}

/* ---- inputs ---- */

static uint64_t mix(uint64_t x) /* a different start for every row */
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) | 1;
}

static uint32_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((uint64_t)next_random(state) * n >> 32);
}

/* Largest magnitude of the inputs with which sums stay far inside C's range: 8 s at most. */
static double input_limit(const struct verify_layout *l)
{
	double most = numfmt_get(l->c, l->c == NF_F16 ? 0x7bff : l->c == NF_F64 ? 0x7fefffffffffffff : 0x7f7fffff), scale = 1;

	if (l->c != NF_F16 && l->c != NF_F32 && l->c != NF_F64)
		return INFINITY;
	if (l->scaled) { /* mean square of 2^-3 .. 2^3, of both operands */
		scale = 0;
		for (int e = -3; e <= 3; e++)
			scale += ldexp(1, 2 * e) / 7;
	}
	return sqrt(most / (WALK_BOUND * sqrt((double)l->k) * scale));
}

#define STEPS 16 /* wide formats: multiples of a sixteenth of the row's largest value */

/* Rows of wide formats: a few bits of mantissa, so that sums are exact; a power of two of its own for each row. */
static void fill_wide(enum numfmt f, double limit, void *row, int64_t k, uint64_t *state)
{
	int shift = (int)below(state, 4) - 2;
	uint64_t code[2 * STEPS + 1];

	while (ldexp(1, shift) > limit)
		shift--;
	for (int i = 0; i <= 2 * STEPS; i++)
		code[i] = numfmt_put(f, ldexp(i - STEPS, shift) / STEPS);
	for (int64_t i = 0; i < k; i++)
		numfmt_store_bits(f, row, (size_t)i, code[below(state, 2 * STEPS + 1)]);
}

/* All codes that are numbers within the limit. */
static unsigned allowed_codes(enum numfmt f, double limit, uint8_t list[256])
{
	unsigned n = 0;

	for (unsigned c = 0; c < 1u << numfmt_bits(f); c++) {
		double v = numfmt_get(f, c);

		if (isfinite(v) && fabs(v) <= limit)
			list[n++] = (uint8_t)c;
	}
	return n;
}

static void fill_scales(const struct verify_layout *l, char which, uint64_t seed, unsigned char *data)
{
	int64_t rows = which == 'T' ? l->n : l->m;

	for (int64_t i = 0; i < rows; i++) {
		uint64_t state = mix(mix(seed ^ (uint64_t)which << 56) + (uint64_t)i);

		for (int64_t q = 0; q < scale_blocks(l); q++)
			data[scale_at(l, which, i, q)] = (unsigned char)(127 - 3 + below(&state, 7));
	}
}

void verify_fill(const struct verify_layout *l, char which, uint64_t seed, void *data)
{
	enum numfmt f = which == 'B' ? l->b : l->a;
	size_t stride = which == 'B' ? l->ldb_bytes : l->lda_bytes;
	int64_t rows = which == 'B' ? l->n : l->m;
	double limit = input_limit(l);
	uint8_t list[256];
	unsigned n;

	if (which == 'S' || which == 'T') {
		fill_scales(l, which, seed, data);
		return;
	}
	n = numfmt_bits(f) <= 8 ? allowed_codes(f, limit, list) : 0;
	for (int64_t i = 0; i < rows; i++) {
		unsigned char *row = (unsigned char *)data + (size_t)i * stride;
		uint64_t state = mix(mix(seed ^ (uint64_t)which << 56) + (uint64_t)i);

		if (!n)
			fill_wide(f, limit, row, l->k, &state);
		for (int64_t k = 0; n && k < l->k; k++)
			numfmt_store_bits(f, row, (size_t)k, list[below(&state, n)]);
	}
}

void verify_poison(void *data, size_t bytes)
{
	memset(data, POISON_BYTE, bytes);
}

static bool poisoned(enum numfmt f, uint64_t code)
{
	uint64_t all = UINT64_C(0x0101010101010101) * POISON_BYTE;

	return numfmt_bits(f) >= 16 && code == all >> (64 - numfmt_bits(f));
}

/* ---- the product ---- */

#define PANEL 16    /* rows or columns whose values lie side by side */
#define K_BLOCK 256 /* steps of K that stay in the nearest cache */

struct line { /* a row of A or a column of B */
	int64_t at;
	double norm; /* square root of the sum of squares */
	int lowest;  /* exponent of the lowest bit that occurs */
};

struct side { /* the rows of A or columns of B that are looked at */
	const struct verify_layout *l;
	char which, scale_which;
	enum numfmt f;
	const unsigned char *data, *scales;
	size_t stride;
	struct line *line;
	size_t n;
};

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

#define ALWAYS static inline __attribute__((always_inline))

/* d[i][j] += sum of a[k][i] * b[k][j], and in sq the sum of the squares of the products. */
ALWAYS void panel(double *d, double *sq, const double *a, const double *b, int64_t k, bool squares)
{
	for (unsigned i = 0; i < PANEL; i++) {
		quad *to = (quad *)(d + i * PANEL), *to2 = (quad *)(sq + i * PANEL);
		quad s0 = to[0], s1 = to[1], s2 = to[2], s3 = to[3], t0 = { 0 }, t1 = t0, t2 = t0, t3 = t0;

		for (int64_t kk = 0; kk < k; kk++) {
			const quad *v = (const quad *)(b + kk * PANEL);
			quad p0 = a[kk * PANEL + i] * v[0], p1 = a[kk * PANEL + i] * v[1];
			quad p2 = a[kk * PANEL + i] * v[2], p3 = a[kk * PANEL + i] * v[3];

			s0 += p0, s1 += p1, s2 += p2, s3 += p3;
			if (squares)
				t0 += p0 * p0, t1 += p1 * p1, t2 += p2 * p2, t3 += p3 * p3;
		}
		to[0] = s0, to[1] = s1, to[2] = s2, to[3] = s3;
		if (squares)
			to2[0] += t0, to2[1] += t1, to2[2] += t2, to2[3] += t3;
	}
}

static void panel_plain(double *d, double *sq, const double *a, const double *b, int64_t k, bool squares)
{
	if (squares)
		panel(d, sq, a, b, k, true);
	else
		panel(d, sq, a, b, k, false);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma")))
static void panel_avx2(double *d, double *sq, const double *a, const double *b, int64_t k, bool squares)
{
	if (squares)
		panel(d, sq, a, b, k, true);
	else
		panel(d, sq, a, b, k, false);
}
#endif

static void panel_any(double *d, double *sq, const double *a, const double *b, int64_t k, bool squares)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
		panel_avx2(d, sq, a, b, k, squares);
		return;
	}
#endif
	panel_plain(d, sq, a, b, k, squares);
}

/* One row's values to x[k * PANEL]; its norm and lowest bit. */
static void decode_line(const struct side *s, struct line *ln, double *x)
{
	const unsigned char *row = s->data + (size_t)ln->at * s->stride;
	double sum = 0;
	int lowest = INT32_MAX;

	for (int64_t k0 = 0; k0 < s->l->k; k0 += 32) {
		int64_t n = s->l->k - k0 < 32 ? s->l->k - k0 : 32;
		double v[32], scale = 1;
		uint32_t code[32];

		if (s->l->scaled)
			scale = numfmt_get(NF_E8M0, s->scales[scale_at(s->l, s->scale_which, ln->at, k0 / 32)]);
		if (numfmt_bits(s->f) <= 32) {
			for (int64_t i = 0; i < n; i++)
				code[i] = (uint32_t)numfmt_load_bits(s->f, row, (size_t)(k0 + i));
			numfmt_decode(s->f, code, (size_t)n, v);
		} else {
			for (int64_t i = 0; i < n; i++)
				v[i] = numfmt_load(s->f, row, (size_t)(k0 + i));
		}
		for (int64_t i = 0; i < n; i++) {
			double w = v[i] * scale;
			uint64_t u;
			int bit;

			memcpy(&u, &w, sizeof(u));
			x[(k0 + i) * PANEL] = w;
			sum += w * w;
			if (w == 0)
				continue;
			bit = (int)(u >> 52 & 0x7ff) - 1075 + __builtin_ctzll((u & 0xfffffffffffff) | (uint64_t)1 << 52);
			lowest = bit < lowest ? bit : lowest;
		}
	}
	ln->norm = sqrt(sum);
	ln->lowest = lowest;
}

/* Lines [from, from + PANEL) to x; those that are not there become 0. */
static void decode_panel(const struct side *s, size_t from, double *x)
{
	for (size_t p = 0; p < PANEL; p++) {
		if (from + p < s->n)
			decode_line(s, &s->line[from + p], x + p);
		else
			for (int64_t k = 0; k < s->l->k; k++)
				x[k * PANEL + (int64_t)p] = 0;
	}
}

/* ---- comparison ---- */

/* Half of the distance between neighbours of format f at v; nothing behind the largest number. */
static double half_step(enum numfmt f, double v)
{
	uint64_t code = numfmt_put(f, fabs(v));
	double here = numfmt_get(f, code), above = numfmt_get(f, code + 1), under = code ? numfmt_get(f, code - 1) : here;

	if (!isfinite(here))
		return 0;
	if (!isfinite(above))
		above = here;
	return fmax(above - here, here - under) / 2;
}

static bool integer(enum numfmt f)
{
	return f == NF_I8 || f == NF_U8 || f == NF_I32 || f == NF_U32;
}

/* A value that C can't hold is what it becomes there: an infinity or the largest number. */
static double representable(enum numfmt f, double v)
{
	double r = numfmt_get(f, numfmt_put(f, v));

	return isfinite(r) && fabs(v) - fabs(r) <= half_step(f, v) ? v : r;
}

/* What the sum may have lost before it became a C. */
static double sum_error(const struct verify_layout *l, const struct line *a, const struct line *b, double squares)
{
	int p = l->c == NF_F64 ? 53 : 24;

	if (integer(l->c) || a->norm == 0 || b->norm == 0)
		return 0;
	if (a->norm * b->norm <= ldexp(1, p + a->lowest + b->lowest))
		return 0;
	return (double)l->k * ldexp(1, -p) * WALK_BOUND * sqrt(squares);
}

static void compare(const struct verify_layout *l, const void *c, const struct line *a, const struct line *b, double want,
		    double squares, struct verify_result *out, double *worst)
{
	uint64_t code = numfmt_load_bits(l->c, (const unsigned char *)c + (size_t)a->at * l->ldc_bytes, (size_t)b->at);
	double got = numfmt_get(l->c, code), lost = sum_error(l, a, b, squares), scale = a->norm * b->norm;
	double tolerance, off, ratio;
	bool bad;

	want = representable(l->c, want);
	tolerance = integer(l->c) ? 0 : lost + half_step(l->c, fabs(want) + lost);
	off = got == want ? 0 : fabs(got - want);
	bad = poisoned(l->c, code) || !(off <= tolerance);
	ratio = isnan(off) ? INFINITY : tolerance > 0 ? off / tolerance : off > 0 ? INFINITY : 0;
	if (bad && !(ratio > 1))
		ratio = INFINITY;
	out->checked++;
	out->wrong += bad;
	if (off > out->max_abs || isnan(off))
		out->max_abs = isnan(off) ? INFINITY : off;
	if (ratio > *worst || out->checked == 1) {
		*worst = ratio;
		out->row = a->at;
		out->col = b->at;
		out->got = got;
		out->want = want;
		out->max_rel = isnan(off) ? INFINITY : scale > 0 ? off / scale : off > 0 ? INFINITY : 0;
		out->tolerance = scale > 0 ? tolerance / scale : 0;
	}
}

/* One line out of every group of them, at a place that varies. */
static void choose(struct side *s, int64_t from, int64_t to, unsigned group)
{
	uint64_t state = mix((uint64_t)s->which);
	size_t n = 0;

	s->line = xcalloc((size_t)(to - from) / group + 2, sizeof(*s->line));
	for (int64_t at = from; at < to; at += group) {
		int64_t left = to - at < group ? to - at : group;

		s->line[n++].at = at + below(&state, (uint32_t)left);
	}
	s->n = n;
}

struct work { /* a few panels of B at a time, all of A */
	double *a, *b, *d, *sq;
	size_t panels;
};

static struct work work_new(const struct verify_layout *l, size_t columns)
{
	size_t bytes = (size_t)l->k * PANEL * sizeof(double), most = ((size_t)64 << 20) / (bytes ? bytes : 1);
	struct work w = { .panels = (columns + PANEL - 1) / PANEL };

	if (w.panels > most)
		w.panels = most ? most : 1;
	w.a = xcalloc((size_t)l->k, PANEL * sizeof(double));
	w.b = xcalloc((size_t)l->k, PANEL * sizeof(double) * w.panels);
	w.d = xcalloc(w.panels, PANEL * PANEL * sizeof(double));
	w.sq = xcalloc(w.panels, PANEL * PANEL * sizeof(double));
	return w;
}

static void work_free(struct work *w)
{
	free(w->a);
	free(w->b);
	free(w->d);
	free(w->sq);
}

/* Are the squares needed: is any of these sums not exact by itself? */
static bool inexact(const struct side *a, size_t i0, const struct side *b, size_t j0, size_t nj)
{
	for (size_t i = i0; i < a->n && i < i0 + PANEL; i++)
		for (size_t j = j0; j < b->n && j < j0 + nj; j++)
			if (sum_error(a->l, &a->line[i], &b->line[j], 1) > 0)
				return true;
	return false;
}

static void multiply(struct work *w, int64_t k, size_t panels, bool squares)
{
	memset(w->d, 0, panels * PANEL * PANEL * sizeof(double));
	memset(w->sq, 0, panels * PANEL * PANEL * sizeof(double));
	for (int64_t k0 = 0; k0 < k; k0 += K_BLOCK) {
		int64_t n = k - k0 < K_BLOCK ? k - k0 : K_BLOCK;

		for (size_t p = 0; p < panels; p++)
			panel_any(w->d + p * PANEL * PANEL, w->sq + p * PANEL * PANEL, w->a + k0 * PANEL,
				  w->b + p * (size_t)k * PANEL + k0 * PANEL, n, squares);
	}
}

void verify_product(const struct verify_layout *l, const void *a, const void *b, const void *sa, const void *sb,
		    const void *c, int64_t row0, int64_t row1, int64_t col0, int64_t col1, unsigned every, struct verify_result *out)
{
	struct side s[2] = {
		{ .l = l, .which = 'A', .scale_which = 'S', .f = l->a, .data = a, .scales = sa, .stride = l->lda_bytes },
		{ .l = l, .which = 'B', .scale_which = 'T', .f = l->b, .data = b, .scales = sb, .stride = l->ldb_bytes },
	};
	unsigned rows = (unsigned)sqrt(every);
	double worst = 0;
	struct work w;

	memset(out, 0, sizeof(*out));
	row0 = row0 < 0 ? 0 : row0;
	col0 = col0 < 0 ? 0 : col0;
	row1 = row1 > l->m ? l->m : row1;
	col1 = col1 > l->n ? l->n : col1;
	if (row0 >= row1 || col0 >= col1 || l->k <= 0)
		return;
	rows = rows < 1 ? 1 : row1 - row0 < rows ? (unsigned)(row1 - row0) : rows;
	choose(&s[0], row0, row1, rows);
	choose(&s[1], col0, col1, every / rows < 1 ? 1 : every / rows);
	w = work_new(l, s[1].n);
	for (size_t j0 = 0; j0 < s[1].n; j0 += w.panels * PANEL) {
		size_t left = (s[1].n - j0 + PANEL - 1) / PANEL, panels = left < w.panels ? left : w.panels;

		for (size_t p = 0; p < panels; p++)
			decode_panel(&s[1], j0 + p * PANEL, w.b + p * (size_t)l->k * PANEL);
		for (size_t i0 = 0; i0 < s[0].n; i0 += PANEL) {
			decode_panel(&s[0], i0, w.a);
			multiply(&w, l->k, panels, inexact(&s[0], i0, &s[1], j0, panels * PANEL));
			for (size_t i = i0; i < s[0].n && i < i0 + PANEL; i++)
				for (size_t j = j0; j < s[1].n && j < j0 + panels * PANEL; j++) {
					size_t at = (j - j0) / PANEL * PANEL * PANEL + (i - i0) * PANEL + (j - j0) % PANEL;

					compare(l, c, &s[0].line[i], &s[1].line[j], w.d[at], w.sq[at], out, &worst);
				}
		}
	}
	work_free(&w);
	free(s[0].line);
	free(s[1].line);
}
