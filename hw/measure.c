#include "measure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* Memory without a formula is filled with one pattern of this size again and again. */
#define PATTERN_BYTES (UINT64_C(16) << 20)
/* Products that one comparison with the reference computes at most. */
#define MAX_PRODUCTS (INT64_C(1) << 25)
#define MAX_STAMP_BYTES (UINT64_C(1) << 31)
/* A launch is an outlier when it takes that much longer than the median. */
#define OUTLIER 1.10
#define DRIFT 0.01
#define SHORT_MS 0.005

/* Buffers of a launch, here and on the device. */
struct buffers {
	const struct hw_backend *b;
	struct hw_context *c;
	const struct kernel_text *t;
	uint64_t address[EMIT_MAX_ARGS];
	void *host[EMIT_MAX_ARGS]; /* what was copied there */
	const void *args[EMIT_MAX_ARGS];
	unsigned arg_bytes[EMIT_MAX_ARGS];
};

static void buffers_free(struct buffers *u)
{
	for (size_t i = 0; i < u->t->nargs; i++) {
		if (u->address[i])
			u->b->release(u->c, u->address[i]);
		free(u->host[i]);
	}
}

/* Memory that no formula fills: numbers between 1/2 and 1, so that arithmetic on them stays ordinary. */
static void fill_plain(void *data, uint64_t bytes, uint64_t seed)
{
	uint32_t *w = data;

	for (uint64_t i = 0; i < bytes / 4; i++) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		w[i] = 0x3f000000u | (uint32_t)(seed >> 41);
	}
}

/* Of an argument's memory, what is kept here too. */
static uint64_t here_bytes(const struct emit_arg *a)
{
	return a->kind == EARG_GLOBAL && a->bytes > PATTERN_BYTES ? PATTERN_BYTES : a->bytes;
}

static void fill(struct buffers *u, size_t i, uint64_t seed)
{
	static const char which[] = { [EARG_A] = 'A', [EARG_B] = 'B', [EARG_SA] = 'S', [EARG_SB] = 'T' };
	const struct emit_arg *a = &u->t->arg[i];

	switch (a->kind) {
	case EARG_A: case EARG_B: case EARG_SA: case EARG_SB:
		if (u->t->verifiable)
			verify_fill(&u->t->layout, which[a->kind], seed, u->host[i]);
		else
			fill_plain(u->host[i], a->bytes, seed + i);
		break;
	case EARG_C:
		verify_poison(u->host[i], (size_t)a->bytes);
		break;
	case EARG_GLOBAL:
		fill_plain(u->host[i], here_bytes(a), seed + i);
		break;
	case EARG_STAMPS:
		memset(u->host[i], 0, (size_t)a->bytes);
		break;
	}
}

static int buffers_make(struct buffers *u, uint64_t seed, struct hw_error *e)
{
	for (size_t i = 0; i < u->t->nargs; i++) {
		const struct emit_arg *a = &u->t->arg[i];

		uint64_t bytes = here_bytes(a);

		u->host[i] = bytes < SIZE_MAX - 8 ? calloc((size_t)bytes + 8, 1) : NULL;
		if (!u->host[i])
			return hw_fail(e, "no memory for the kernel's argument %s of %llu bytes", a->name,
				       (unsigned long long)a->bytes);
		fill(u, i, seed);
		if (u->b->alloc(u->c, a->bytes ? a->bytes : 8, &u->address[i], e) != 0)
			return -1;
		for (uint64_t at = 0; at < a->bytes; at += bytes)
			if (u->b->copy_to(u->c, u->address[i] + at, u->host[i], bytes < a->bytes - at ? bytes : a->bytes - at,
					  e) != 0)
				return -1;
		u->args[i] = &u->address[i];
		u->arg_bytes[i] = sizeof(u->address[i]);
	}
	return 0;
}

static int find_arg(const struct kernel_text *t, enum emit_arg_kind kind)
{
	for (size_t i = 0; i < t->nargs; i++)
		if (t->arg[i].kind == kind)
			return (int)i;
	return -1;
}

static const void *host_of(const struct buffers *u, enum emit_arg_kind kind)
{
	int i = find_arg(u->t, kind);

	return i < 0 ? NULL : u->host[i];
}

/* For backends that do not execute: the product by the plain formula, with one wrong element when asked for. */
static void solve(void *ctx, bool right)
{
	struct buffers *u = ctx;
	const struct verify_layout *l = &u->t->layout;
	const char *a = host_of(u, EARG_A), *b = host_of(u, EARG_B);
	int ci = find_arg(u->t, EARG_C);
	struct hw_error e;

	if (ci < 0 || !a || !b || l->scaled)
		return;
	for (int64_t i = 0; i < l->m; i++)
		for (int64_t j = 0; j < l->n; j++) {
			double sum = 0;

			for (int64_t k = 0; k < l->k; k++)
				sum += numfmt_load(l->a, a + (size_t)i * l->lda_bytes, (size_t)k) *
				       numfmt_load(l->b, b + (size_t)j * l->ldb_bytes, (size_t)k);
			if (!right && i == l->m / 2 && j == l->n / 2)
				sum += 1000;
			numfmt_store(l->c, (char *)u->host[ci] + (size_t)i * l->ldc_bytes, (size_t)j, sum);
		}
	u->b->copy_to(u->c, u->address[ci], u->host[ci], u->t->arg[ci].bytes, &e);
}

static int check_result(struct buffers *u, struct measurement *m, struct hw_error *e)
{
	const struct verify_layout *l = &u->t->layout;
	int ci = find_arg(u->t, EARG_C);
	double products = (double)l->m * (double)l->n * (double)l->k;
	unsigned every = products > (double)MAX_PRODUCTS ? (unsigned)fmin(ceil(products / (double)MAX_PRODUCTS), 1e9) : 1;

	m->verdict = VERDICT_NONE;
	if (!u->t->verifiable || ci < 0 || u->b->timing_only)
		return 0;
	if (u->b->copy_from(u->c, u->host[ci], u->address[ci], u->t->arg[ci].bytes, e) != 0)
		return -1;
	verify_product(l, host_of(u, EARG_A), host_of(u, EARG_B), host_of(u, EARG_SA), host_of(u, EARG_SB), u->host[ci],
		       0, l->m, 0, l->n, every, &m->verify);
	m->verdict = m->verify.wrong ? VERDICT_WRONG : VERDICT_RIGHT;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double measure_median(double *v, size_t n)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* What is collected from the stamps while the launches go on. */
struct collected {
	const struct measure_kernel *k;
	uint64_t waves;        /* of the whole launch */
	unsigned nstamps;
	double *scratch;       /* [waves] */
	double *slowest;       /* [repeat] */
	double *stage;         /* [(nstamps - 2) * groups][repeat] medians */
	unsigned repeat;
};

static unsigned group_of(const struct measure_kernel *k, uint64_t wave)
{
	unsigned per = k->waves / (k->groups ? k->groups : 1);

	return per ? (unsigned)(wave % k->waves) / per : 0;
}

/* Median over the waves of a group of stamp b - stamp a; waves without both are passed over. */
static double median_between(struct collected *s, const uint64_t *stamps, unsigned group, unsigned a, unsigned b)
{
	size_t n = 0;

	for (uint64_t w = 0; w < s->waves; w++) {
		const uint64_t *t = stamps + w * s->nstamps;

		if (group_of(s->k, w) == group && t[a] && t[b] >= t[a])
			s->scratch[n++] = (double)(t[b] - t[a]);
	}
	return measure_median(s->scratch, n);
}

/*
 * The main loop of a workgroup lasts from its first wave's begin to its last wave's end: waves that no barrier
 * holds together drift apart, and the one served first tells only half. All waves of a workgroup share a clock.
 */
static double loop_median(struct collected *s, const uint64_t *stamps, double *max)
{
	unsigned last = s->nstamps - 1;
	size_t n = 0;

	*max = 0;
	for (uint64_t w = 0; w + s->k->waves <= s->waves; w += s->k->waves) {
		uint64_t begin = UINT64_MAX, end = 0;

		for (uint64_t i = w; i < w + s->k->waves; i++) {
			const uint64_t *t = stamps + i * s->nstamps;

			if (!t[0] || t[last] < t[0])
				continue; /* this wave runs no main loop */
			begin = t[0] < begin ? t[0] : begin;
			end = t[last] > end ? t[last] : end;
		}
		if (end <= begin)
			continue;
		s->scratch[n] = (double)(end - begin);
		*max = fmax(*max, s->scratch[n++]);
	}
	return measure_median(s->scratch, n);
}

static void read_stamps(struct collected *s, const uint64_t *stamps, unsigned launch, struct measurement *m)
{
	unsigned last = s->nstamps - 1, groups = s->k->groups ? s->k->groups : 1;

	m->loop_clk[launch] = loop_median(s, stamps, &s->slowest[launch]);
	for (unsigned i = 1; i < last; i++)
		for (unsigned g = 0; g < groups; g++)
			s->stage[((i - 1) * groups + g) * s->repeat + launch] = median_between(s, stamps, g, i, i + 1);
}

static void finish_stages(struct collected *s, struct measurement *m)
{
	unsigned groups = s->k->groups ? s->k->groups : 1, stages = s->nstamps - 2;

	m->stages = xcalloc((size_t)stages * groups + 1, sizeof(*m->stages));
	for (unsigned i = 0; i < stages; i++)
		for (unsigned g = 0; g < groups; g++) {
			double clk = measure_median(s->stage + (size_t)(i * groups + g) * s->repeat, m->repeats);

			if (clk > 0)
				m->stages[m->nstages++] = (struct measure_stage){
					xstrdup(s->k->text->stamp_stage ? s->k->text->stamp_stage[i + 1] : "?"), g, clk };
		}
}

static void summarise(const double *v, unsigned n, double *median, double *min, double *max, double *spread)
{
	double sorted[MEASURE_MAX_REPEAT];

	memcpy(sorted, v, n * sizeof(*v));
	*median = measure_median(sorted, n);
	*min = sorted[0];
	*max = sorted[n - 1];
	*spread = *median > 0 ? (sorted[n - 1 - n / 4] - sorted[n / 4]) / 2 / *median : 0;
}

static void judge(struct measurement *m)
{
	const double *v = m->loop_clk_median > 0 ? m->loop_clk : m->ms;
	double first[MEASURE_MAX_REPEAT], second[MEASURE_MAX_REPEAT];
	unsigned n = m->repeats, half = n / 2, far = 0;

	if (m->spread > MEASURE_SPREAD)
		m->warnings |= WARN_SPREAD;
	for (unsigned i = 0; i < n; i++)
		far += m->ms[i] > m->ms_median * OUTLIER;
	if (far)
		m->warnings |= WARN_OUTLIERS;
	memcpy(first, v, half * sizeof(*v));
	memcpy(second, v + (n - half), half * sizeof(*v));
	if (half >= 3) {
		double a = measure_median(first, half), b = measure_median(second, half);

		if (fabs(a - b) > DRIFT * fmin(a, b))
			m->warnings |= WARN_DRIFT;
	}
	if (m->function.spill_bytes > 0)
		m->warnings |= WARN_SPILLS;
	if (m->loop_clk_median > 0 && m->slowest_clk > m->loop_clk_median * (1 + MEASURE_SPREAD))
		m->warnings |= WARN_UNEVEN;
	if (m->loop_clk_median <= 0)
		m->warnings |= WARN_NO_STAMPS;
	if (m->ms_median < SHORT_MS)
		m->warnings |= WARN_SHORT;
}

static int launches(struct buffers *u, void *function, struct collected *s, const struct hw_launch *l,
		    const struct measure_options *o, struct measurement *m, struct hw_error *e)
{
	int stamps = s->nstamps >= 2 ? find_arg(u->t, EARG_STAMPS) : -1;

	for (unsigned i = 0; i < o->warmup + o->repeat; i++) {
		double ms = 0;

		if (hw_interrupted())
			return hw_fail(e, "interrupted between launches");
		if (u->b->run(u->c, function, l, &ms, e) != 0)
			return -1;
		/* The first launch is the one that is judged: a wrong kernel is not worth timing. */
		if (i == 0 && check_result(u, m, e) != 0)
			return -1;
		if (i == 0 && m->verdict == VERDICT_WRONG)
			return 0;
		if (i < o->warmup)
			continue;
		m->ms[m->repeats] = ms;
		if (stamps >= 0) {
			if (u->b->copy_from(u->c, u->host[stamps], u->address[stamps], u->t->arg[stamps].bytes, e) != 0)
				return -1;
			read_stamps(s, u->host[stamps], m->repeats, m);
		}
		m->repeats++;
	}
	return 0;
}

static void finish(struct collected *s, struct measurement *m)
{
	double ms_spread;

	if (m->repeats == 0)
		return;
	summarise(m->ms, m->repeats, &m->ms_median, &m->ms_min, &m->ms_max, &ms_spread);
	m->spread = ms_spread;
	if (s->nstamps >= 2) {
		summarise(m->loop_clk, m->repeats, &m->loop_clk_median, &m->loop_clk_min, &m->loop_clk_max, &m->spread);
		m->slowest_clk = measure_median(s->slowest, m->repeats);
		finish_stages(s, m);
	}
	if (m->loop_clk_median > 0 && s->k->trips > 0)
		m->clk_per_step = m->loop_clk_median / ((double)s->k->trips * (s->k->steps ? s->k->steps : 1));
	judge(m);
}

/* Are stamps there, and do they fit their buffer? */
static int prepare_stamps(struct collected *s, const struct kernel_text *t, struct hw_error *e)
{
	int i = find_arg(t, EARG_STAMPS);
	unsigned groups = s->k->groups ? s->k->groups : 1;
	uint64_t bytes;

	if (i < 0 || t->stamps < 2)
		return 0;
	if (__builtin_mul_overflow(s->waves, (uint64_t)t->stamps * 8, &bytes) || bytes > MAX_STAMP_BYTES ||
	    bytes > t->arg[i].bytes)
		return hw_fail(e, "the kernel's stamps do not fit their buffer of %llu bytes",
			       (unsigned long long)t->arg[i].bytes);
	s->nstamps = t->stamps;
	s->scratch = xcalloc((size_t)s->waves, sizeof(double));
	s->slowest = xcalloc(s->repeat, sizeof(double));
	s->stage = xcalloc((size_t)(t->stamps - 2) * groups * s->repeat + 1, sizeof(double));
	return 0;
}

int measure(const struct hw_backend *b, struct hw_context *c, const struct measure_kernel *k,
	    const struct measure_options *o, struct measurement *out, struct hw_error *e)
{
	const struct kernel_text *t = k->text;
	struct buffers u = { .b = b, .c = c, .t = t };
	struct collected s = { .k = k, .repeat = o->repeat };
	struct hw_hint hint = { .trips = k->trips, .ctx = &u };
	struct hw_launch l = { .hint = &hint, .timeout_s = o->timeout_s, .shared_bytes = t->lds_bytes, .nargs = t->nargs,
			       .args = u.args, .arg_bytes = u.arg_bytes };
	void *function = NULL;
	int rc, i;

	memset(out, 0, sizeof(*out));
	if (o->repeat < 1 || o->repeat > MEASURE_MAX_REPEAT)
		return hw_fail(e, "between 1 and %d launches can be measured, not %u", MEASURE_MAX_REPEAT, o->repeat);
	memcpy(l.grid, t->grid, sizeof(l.grid));
	memcpy(l.block, t->block, sizeof(l.block));
	memcpy(l.cluster, t->cluster, sizeof(l.cluster));
	s.waves = (uint64_t)t->grid[0] * t->grid[1] * t->grid[2] * k->waves;
	rc = b->load(c, k->image, k->image_bytes, t->kernel, &function, e);
	if (rc == 0)
		rc = b->inspect(c, function, &out->function, e);
	if (rc == 0)
		rc = prepare_stamps(&s, t, e);
	if (rc == 0)
		rc = buffers_make(&u, o->seed, e);
	if (rc == 0) {
		i = find_arg(t, EARG_STAMPS);
		hint.stamps = i >= 0 && s.nstamps ? u.address[i] : 0;
		hint.nstamps = s.nstamps;
		hint.waves = s.waves;
		hint.solve = t->verifiable ? solve : NULL;
		rc = launches(&u, function, &s, &l, o, out, e);
	}
	if (rc == 0)
		finish(&s, out);
	buffers_free(&u);
	if (function)
		b->unload(c, function);
	free(s.scratch);
	free(s.slowest);
	free(s.stage);
	return rc;
}

void measurement_free(struct measurement *m)
{
	for (size_t i = 0; i < m->nstages; i++)
		free((char *)(uintptr_t)m->stages[i].name);
	free(m->stages);
	memset(m, 0, sizeof(*m));
}

const char *measure_warning_text(enum measure_warning w)
{
	switch (w) {
	case WARN_SPREAD:
		return "the launches differ by more than 2 %: something else uses the device, or its clock moves; repeat more often";
	case WARN_OUTLIERS:
		return "some launches took over 10 % longer than the median: the median stands, but look at the device's load";
	case WARN_DRIFT:
		return "the later launches differ from the earlier ones by more than 1 %: warm up longer";
	case WARN_SPILLS:
		return "the driver's compiler keeps registers of this kernel in memory: it is not the program that was predicted";
	case WARN_NO_STAMPS:
		return "the kernel wrote no stamps: there are times, but no clk";
	case WARN_UNEVEN:
		return "some workgroups' loops took over 2 % longer than the median one's: the workgroups do not share the device evenly";
	case WARN_SHORT:
		return "a launch takes less than 5 us: its time is mostly that of launching; the clk are not touched by this";
	}
	return NULL;
}
