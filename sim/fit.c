#include "fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define MAX_ITERATIONS 60
#define ROBUST_ROUNDS 6
/* Huber's constant: 95 % of the efficiency of least squares when nothing is wrong. */
#define HUBER 1.345
/* A direction in which a step moves no residual by this much of its error is not identified. */
#define LEAST_EFFECT 0.05
/* Rise of the sum of squares at the end of a 95 % interval of one parameter. */
#define RISE_95 3.841458820694124
/* Residuals closer than this, in standard errors, are the same. */
#define SAME_RESIDUAL 0.1
/* A residual of at most this needs no search. */
#define WELL_EXPLAINED 1
/* A residual is left out when it is this many times the usual one. */
#define FAR_OFF 40

struct fitter {
	struct fit_problem *p;
	size_t evaluations;
	size_t n;              /* free parameters */
	size_t free[FIT_MAX_PARAMS]; /* their indices */
	double *at, *r0, *jac; /* the last point a tangent was made at, its residuals and difference quotients */
	bool at_valid;
	bool failed;
	bool *left_out;        /* [nresiduals]: the model is too far off; counts as 0 */
};

static double clamp(const struct fit_param *q, double v)
{
	v = fmin(fmax(v, q->lo), q->hi);
	return q->whole ? fmin(fmax(round(v), ceil(q->lo)), floor(q->hi)) : v;
}

static int residuals(struct fitter *f, const double *x, double *r)
{
	f->evaluations++;
	if (f->p->residuals(f->p->ctx, x, r) != 0)
		return -1;
	for (size_t i = 0; i < f->p->nresiduals; i++) {
		if (!isfinite(r[i]))
			return -1;
		if (f->left_out[i])
			r[i] = 0;
	}
	return 0;
}

static double step_of(const struct fit_param *q)
{
	return q->whole ? fmax(round(q->step), 1) : q->step;
}

/* Difference quotient of all residuals by parameter k at x, x unchanged afterwards. */
static int difference(struct fitter *f, double *x, size_t k, double *column)
{
	const struct fit_param *q = &f->p->param[k];
	size_t m = f->p->nresiduals;
	double here = x[k], up = clamp(q, here + step_of(q)), down = clamp(q, here - step_of(q));
	double *r = xcalloc(m, sizeof(*r));
	int rc = -1;

	x[k] = up;
	if (up > down && residuals(f, x, column) == 0) {
		x[k] = down;
		rc = residuals(f, x, r);
	}
	x[k] = here;
	for (size_t i = 0; i < m; i++)
		column[i] = rc == 0 ? (column[i] - r[i]) / (up - down) : 0;
	free(r);
	return rc;
}

/* All values: the free ones from v, rounded where whole; the others as they are. */
static void expand(const struct fitter *f, const gsl_vector *v, double *x)
{
	for (size_t k = 0; k < f->p->nparams; k++)
		x[k] = f->p->param[k].value;
	for (size_t j = 0; j < f->n; j++)
		x[f->free[j]] = clamp(&f->p->param[f->free[j]], gsl_vector_get(v, j));
}

/* Residuals and tangent at the rounded point of v. */
static int tangent(struct fitter *f, const gsl_vector *v)
{
	size_t np = f->p->nparams, m = f->p->nresiduals;
	double *x = xcalloc(np + 1, sizeof(*x));
	int rc = 0;

	expand(f, v, x);
	if (!f->at_valid || memcmp(x, f->at, np * sizeof(*x)) != 0) {
		rc = residuals(f, x, f->r0);
		for (size_t j = 0; j < f->n && rc == 0; j++)
			if (difference(f, x, f->free[j], f->jac + j * m) != 0)
				memset(f->jac + j * m, 0, m * sizeof(double));
		memcpy(f->at, x, np * sizeof(*x));
		f->at_valid = rc == 0;
	}
	free(x);
	return rc;
}

/* Between whole numbers the residuals are continued along the tangent, so that the fit has a slope to follow. */
static int gsl_f(const gsl_vector *v, void *ctx, gsl_vector *out)
{
	struct fitter *f = ctx;
	size_t m = f->p->nresiduals;

	if (tangent(f, v) != 0) {
		f->failed = true;
		return GSL_EFAILED;
	}
	for (size_t i = 0; i < m; i++) {
		double r = f->r0[i];

		for (size_t j = 0; j < f->n; j++)
			r += f->jac[j * m + i] * (gsl_vector_get(v, j) - f->at[f->free[j]]);
		gsl_vector_set(out, i, r);
	}
	return GSL_SUCCESS;
}

static int gsl_df(const gsl_vector *v, void *ctx, gsl_matrix *out)
{
	struct fitter *f = ctx;
	size_t m = f->p->nresiduals;

	if (tangent(f, v) != 0) {
		f->failed = true;
		return GSL_EFAILED;
	}
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < f->n; j++)
			gsl_matrix_set(out, i, j, f->jac[j * m + i]);
	return GSL_SUCCESS;
}

/* ---- the start: each parameter from the one residual that it moves ---- */

static double own_residual(struct fitter *f, double *x, size_t k, double value, double *r)
{
	x[k] = clamp(&f->p->param[k], value);
	return residuals(f, x, r) == 0 ? r[f->p->param[k].own] : NAN;
}

/* Where the residual changes its sign, or is least; the value in hand when it does not move. */
static void start_one(struct fitter *f, double *x, size_t k, double *r)
{
	struct fit_param *q = &f->p->param[k];
	double a = x[k], fa = own_residual(f, x, k, a, r), b = a, fb = fa, least = a, fleast = fa;
	double span = fmax(step_of(q), fabs(a) / 16);

	x[k] = a;
	if (isnan(fa) || fabs(fa) <= WELL_EXPLAINED)
		return;
	for (int i = 0; i < 40 && fa * fb > 0; i++, span *= 2) { /* outwards, on both sides */
		for (int side = -1; side <= 1 && fa * fb > 0; side += 2) {
			double c = clamp(q, a + side * span), fc = own_residual(f, x, k, c, r);

			if (!isnan(fc) && fabs(fc) < fabs(fleast)) {
				least = c;
				fleast = fc;
			}
			if (!isnan(fc) && fa * fc <= 0) {
				b = c;
				fb = fc;
			}
		}
		if (a - span < q->lo && a + span > q->hi)
			break;
	}
	for (int i = 0; i < 60 && fa * fb < 0 && fabs(b - a) > step_of(q) * 1.0001; i++) {
		double c = clamp(q, a + (b - a) * (i % 3 == 2 ? 0.5 : fa / (fa - fb))), fc;

		if (c == clamp(q, a) || c == clamp(q, b))
			c = clamp(q, (a + b) / 2);
		if (c == a || c == b)
			break;
		fc = own_residual(f, x, k, c, r);
		if (isnan(fc))
			break;
		if (fa * fc <= 0) {
			b = c;
			fb = fc;
		} else {
			a = c;
			fa = fc;
		}
	}
	if (fa * fb <= 0)
		least = fabs(fa) <= fabs(fb) ? a : b;
	x[k] = clamp(q, least);
	if (q->prefer > 1 && fmod(x[k], q->prefer) != 0) { /* the same residual at a multiple nearby: begin there */
		double here = x[k], best = own_residual(f, x, k, here, r);

		for (int side = 0; side <= 1; side++) {
			double c = (floor(here / q->prefer) + side) * q->prefer, fc = own_residual(f, x, k, c, r);

			if (fabs(fc - best) < SAME_RESIDUAL) {
				x[k] = clamp(q, c);
				return;
			}
		}
		x[k] = here;
	}
}

static void start(struct fitter *f)
{
	double *x = xcalloc(f->p->nparams + 1, sizeof(*x)), *r = xcalloc(f->p->nresiduals + 1, sizeof(*r));

	for (size_t k = 0; k < f->p->nparams; k++)
		x[k] = f->p->param[k].value = clamp(&f->p->param[k], f->p->param[k].value);
	/* Twice: a row that one kernel isolates may rest on another row, found later in the first round. */
	for (int round = 0; round < 2; round++)
		for (size_t j = 0; j < f->n; j++) {
			size_t k = f->free[j];

			if (f->p->param[k].own >= 0 && (size_t)f->p->param[k].own < f->p->nresiduals)
				start_one(f, x, k, r);
			f->p->param[k].value = x[k];
		}
	free(x);
	free(r);
}

static double robust_scale(const double *r, size_t m, size_t n);

/*
 * A residual that is far off even after its own parameter was searched is of something that the model does not know:
 * a kernel that was compiled into another one, say. It would drag the others along, so it is left out, and what it
 * alone tells stays as it was. Taking one back may bring another to light, hence the rounds.
 */
static void leave_out(struct fitter *f, const double *given)
{
	size_t m = f->p->nresiduals, np = f->p->nparams;
	double *x = xcalloc(np + 1, sizeof(*x)), *r = xcalloc(m + 1, sizeof(*r)), limit;
	bool more = true;

	for (int round = 0; round < 4 && more; round++) {
		more = false;
		for (size_t k = 0; k < np; k++)
			x[k] = f->p->param[k].value;
		if (residuals(f, x, r) != 0)
			break;
		limit = FAR_OFF * robust_scale(r, m, 0);
		for (size_t i = 0; i < m; i++)
			if (fabs(r[i]) > limit)
				f->left_out[i] = more = true;
		for (size_t k = 0; k < np; k++) {
			struct fit_param *q = &f->p->param[k];

			if (q->own >= 0 && (size_t)q->own < m && f->left_out[q->own])
				q->value = given[k];
		}
	}
	f->at_valid = false;
	free(x);
	free(r);
}

/* ---- what the residuals can tell ---- */

/* Drop free parameters that, alone or together with others, move nothing. True when one was dropped. */
static bool drop_unidentified(struct fitter *f)
{
	size_t m = f->p->nresiduals, n = f->n, rows = m > n ? m : n, kept = 0;
	gsl_matrix *a, *v;
	gsl_vector *s, *work, *x;
	bool drop[FIT_MAX_PARAMS] = { false }, any = false;

	if (n == 0)
		return false;
	x = gsl_vector_alloc(n);
	for (size_t j = 0; j < n; j++)
		gsl_vector_set(x, j, f->p->param[f->free[j]].value);
	if (tangent(f, x) != 0) {
		gsl_vector_free(x);
		return false;
	}
	a = gsl_matrix_calloc(rows, n); /* padded with zero rows: the decomposition wants rows >= columns */
	v = gsl_matrix_alloc(n, n);
	s = gsl_vector_alloc(n);
	work = gsl_vector_alloc(n);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			gsl_matrix_set(a, i, j, f->jac[j * m + i] * step_of(&f->p->param[f->free[j]]));
	gsl_linalg_SV_decomp(a, v, s, work);
	for (size_t c = n; c-- > 0;) { /* the least first */
		double most = 0;

		if (gsl_vector_get(s, c) > LEAST_EFFECT)
			continue;
		/* Those that make up the direction; one that only leans on it may be known without them. */
		for (size_t j = 0; j < n; j++)
			most = fmax(most, fabs(gsl_matrix_get(v, j, c)));
		for (size_t j = 0; j < n; j++)
			if (fabs(gsl_matrix_get(v, j, c)) > most / 2)
				drop[j] = any = true;
		break;
	}
	for (size_t j = 0; j < n; j++)
		if (!drop[j])
			f->free[kept++] = f->free[j];
	f->n = kept;
	f->at_valid = false;
	gsl_matrix_free(a);
	gsl_matrix_free(v);
	gsl_vector_free(s);
	gsl_vector_free(work);
	gsl_vector_free(x);
	return any;
}

/* ---- the joint fit ---- */

static double robust_scale(const double *r, size_t m, size_t n)
{
	double *a = xcalloc(m + 1, sizeof(*a)), s;

	for (size_t i = 0; i < m; i++)
		a[i] = fabs(r[i]);
	s = fit_median(a, m) * 1.4826;
	free(a);
	/* Few residuals over: their own size says little, the errors that were given more. */
	return m > n + 3 ? fmax(s, 1) : 1;
}

static void weigh(const double *r, size_t m, double scale, double *w)
{
	for (size_t i = 0; i < m; i++) {
		double z = fabs(r[i]) / (HUBER * 2 * scale);

		w[i] = z <= 1 ? 1 : 1 / z;
	}
}

static double loss(struct fitter *f, const double *x, const double *w, double *r)
{
	double sum = 0;

	if (residuals(f, x, r) != 0)
		return INFINITY;
	for (size_t i = 0; i < f->p->nresiduals; i++)
		sum += w[i] * r[i] * r[i];
	return sum;
}

/* One weighted fit; the free parameters' real values go to v. */
static bool solve(struct fitter *f, gsl_vector *v, const double *w, double *r)
{
	size_t m = f->p->nresiduals, n = f->n;
	gsl_multifit_nlinear_parameters params = gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_fdf fdf = { .f = gsl_f, .df = gsl_df, .n = m, .p = n, .params = f };
	gsl_multifit_nlinear_workspace *ws;
	gsl_vector_const_view wv = gsl_vector_const_view_array(w, m);
	gsl_vector *res;
	int info = 0, rc;

	params.trs = gsl_multifit_nlinear_trs_lm;
	params.solver = gsl_multifit_nlinear_solver_svd;
	ws = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &params, m, n);
	if (!ws)
		return false;
	f->failed = false;
	rc = gsl_multifit_nlinear_winit(v, &wv.vector, &fdf, ws);
	if (rc == GSL_SUCCESS)
		rc = gsl_multifit_nlinear_driver(MAX_ITERATIONS, 1e-6, 1e-8, 1e-8, NULL, NULL, &info, ws);
	if (!f->failed) {
		gsl_vector_memcpy(v, gsl_multifit_nlinear_position(ws));
		res = gsl_multifit_nlinear_residual(ws);
		for (size_t i = 0; i < m; i++)
			r[i] = gsl_vector_get(res, i) / (w[i] > 0 ? sqrt(w[i]) : 1);
	}
	gsl_multifit_nlinear_free(ws);
	return rc == GSL_SUCCESS && !f->failed;
}

/* Whole neighbours, and small moves of the others, as long as the loss falls. */
static void polish(struct fitter *f, double *x, const double *w, double *r)
{
	double best = loss(f, x, w, r);
	bool moved = true;

	for (int round = 0; round < 20 && moved; round++) {
		moved = false;
		for (size_t j = 0; j < f->n; j++) {
			size_t k = f->free[j];
			const struct fit_param *q = &f->p->param[k];

			for (int side = -2; side <= 2; side++) {
				double here = x[k], l, small = q->whole ? 1 : q->step / 4;

				x[k] = clamp(q, here + (side < 0 ? -1 : 1) * (side % 2 ? small : step_of(q)));
				l = x[k] != here ? loss(f, x, w, r) : INFINITY;
				if (l < best - 1e-9) {
					best = l;
					moved = true;
				} else {
					x[k] = here;
				}
			}
		}
	}
}

/* Rise of the loss below which two values fit equally well. */
#define SAME_LOSS 0.01

static double reach(struct fitter *f, double *x, size_t k, int side, double limit, const double *w, double *r);

/*
 * Hardware that looks at a wave every few clk only makes whole runs of values equal. Of such a run the value that
 * was there stays, else the nearest multiple of what the parameter prefers, else the fit's own.
 */
static void settle(struct fitter *f, double *x, const double *given, const double *w, double *r)
{
	for (size_t j = 0; j < f->n; j++) {
		size_t k = f->free[j];
		const struct fit_param *q = &f->p->param[k];
		double limit = loss(f, x, w, r) + SAME_LOSS, low, high, multiple;

		if (!q->whole)
			continue;
		low = reach(f, x, k, -1, limit, w, r);
		high = reach(f, x, k, 1, limit, w, r);
		if (given[k] >= low && given[k] <= high) {
			x[k] = given[k];
		} else if (q->prefer > 1) {
			multiple = round(x[k] / q->prefer) * q->prefer;
			for (int side = -1; side <= 1 && !(multiple >= low && multiple <= high); side += 2)
				multiple = round(x[k] / q->prefer + side) * q->prefer;
			if (multiple >= low && multiple <= high)
				x[k] = multiple;
		}
	}
}

/* How far one parameter can go, the others as they are, before the loss has risen too far. */
static double reach(struct fitter *f, double *x, size_t k, int side, double limit, const double *w, double *r)
{
	const struct fit_param *q = &f->p->param[k];
	double here = x[k], good = here, bad = here, step = q->whole ? 1 : q->step / 4;
	unsigned misses = 0;

	/*
	 * Outwards in growing steps. Loops whose waves drift give curves with small steps up and down: bad points are
	 * not the end before half the value was looked at.
	 */
	while (misses < 3 || step <= fabs(here) / 2) {
		double c = clamp(q, good + side * step);

		if (c == good || c == bad)
			break;
		x[k] = c;
		step *= 2;
		if (loss(f, x, w, r) > limit) {
			bad = misses++ == 0 ? c : bad;
			continue;
		}
		good = c;
		misses = 0;
	}
	if (misses == 0)
		bad = good;
	for (int i = 0; i < 30 && fabs(bad - good) > (q->whole ? 1.5 : q->step / 64); i++) {
		double c = clamp(q, (good + bad) / 2);

		if (c == good || c == bad)
			break;
		x[k] = c;
		if (loss(f, x, w, r) > limit)
			bad = c;
		else
			good = c;
	}
	x[k] = here;
	return good;
}

/* Half widths of the tangent's intervals; *cov by free parameter. */
static void half_widths(struct fitter *f, const gsl_vector *v, const double *w, double scale, double *half)
{
	size_t m = f->p->nresiduals, n = f->n;
	gsl_matrix *j = gsl_matrix_alloc(m, n), *cov = gsl_matrix_alloc(n, n);
	double t = m > n ? gsl_cdf_tdist_Pinv(0.975, (double)(m - n)) : 1.96;

	/* Two or three residuals over would give absurd quantiles; the errors themselves are known. */
	t = fmin(t, 3);
	for (size_t c = 0; c < n; c++)
		half[c] = INFINITY;
	if (m >= n && gsl_df(v, f, j) == GSL_SUCCESS) {
		for (size_t i = 0; i < m; i++)
			for (size_t c = 0; c < n; c++)
				gsl_matrix_set(j, i, c, gsl_matrix_get(j, i, c) * sqrt(w[i]));
		if (gsl_multifit_nlinear_covar(j, 0, cov) == GSL_SUCCESS)
			for (size_t c = 0; c < n; c++)
				half[c] = t * scale * sqrt(fmax(gsl_matrix_get(cov, c, c), 0));
	}
	gsl_matrix_free(j);
	gsl_matrix_free(cov);
}

/* The union of the tangent's interval and of what the loss itself allows: plateaus are wide, tangents blind to them. */
static void intervals(struct fitter *f, gsl_vector *v, double *x, const double *given, const double *w, double scale,
		      double *r)
{
	double half[FIT_MAX_PARAMS], limit = loss(f, x, w, r) + RISE_95 * scale * scale;

	half_widths(f, v, w, scale, half);
	for (size_t j = 0; j < f->n; j++) {
		struct fit_param *q = &f->p->param[f->free[j]];
		double low = reach(f, x, f->free[j], -1, limit, w, r), high = reach(f, x, f->free[j], 1, limit, w, r);
		double tangent_half = isfinite(half[j]) ? half[j] : 0;

		q->low = fmax(fmin(low, q->fitted - tangent_half), q->lo);
		q->high = fmin(fmax(high, q->fitted + tangent_half), q->hi);
		/* A plateau up to a bound, or over more than a factor of two, gives limits and no value: what was given
		 * stays when it keeps them. */
		if ((low <= q->lo || high >= q->hi || high > 2 * low) && low < high && given[f->free[j]] >= low &&
		    given[f->free[j]] <= high) {
			q->identified = false;
			q->limited = !(low <= q->lo && high >= q->hi);
		}
	}
}

static void no_result(struct fit_problem *p)
{
	for (size_t k = 0; k < p->nparams; k++) {
		struct fit_param *q = &p->param[k];

		q->identified = q->limited = false;
		q->fitted = q->low = q->high = q->value;
	}
}

/* A fit that went astray is worth less than where it began. */
static void begin_better(struct fitter *f, double *x, const double *given, const double *w, double *r)
{
	size_t np = f->p->nparams;
	double best = loss(f, x, w, r), *other = xcalloc(np + 1, sizeof(*other));

	for (int which = 0; which < 2; which++) {
		double l;

		for (size_t k = 0; k < np; k++)
			other[k] = which ? given[k] : f->p->param[k].value;
		l = loss(f, other, w, r);
		if (l < best) {
			best = l;
			memcpy(x, other, np * sizeof(*x));
		}
	}
	free(other);
}

static void joint(struct fitter *f, const double *given, struct fit_result *out)
{
	size_t m = f->p->nresiduals, np = f->p->nparams;
	gsl_vector *v = gsl_vector_alloc(f->n);
	double *r = xcalloc(m + 1, sizeof(*r)), *x = xcalloc(np + 1, sizeof(*x));

	for (size_t j = 0; j < f->n; j++)
		gsl_vector_set(v, j, f->p->param[f->free[j]].value);
	for (int round = 0; round < ROBUST_ROUNDS; round++) {
		double before = out->scale;

		out->converged = solve(f, v, out->weight, r);
		if (f->failed)
			break;
		out->scale = robust_scale(r, m, f->n);
		weigh(r, m, out->scale, out->weight);
		if (round > 0 && fabs(out->scale - before) < 1e-6)
			break;
	}
	for (size_t j = 0; j < f->n; j++) {
		struct fit_param *q = &f->p->param[f->free[j]];

		q->fitted = fmin(fmax(gsl_vector_get(v, j), q->lo), q->hi);
	}
	expand(f, v, x);
	begin_better(f, x, given, out->weight, r);
	polish(f, x, out->weight, r);
	settle(f, x, given, out->weight, r);
	for (size_t j = 0; j < f->n; j++) {
		struct fit_param *q = &f->p->param[f->free[j]];

		q->identified = true;
		/* The fit before rounding lies near its whole number, or the polish knew better. */
		if (fabs(q->fitted - x[f->free[j]]) > (q->whole ? 1 : q->step))
			q->fitted = x[f->free[j]];
		gsl_vector_set(v, j, q->fitted);
	}
	intervals(f, v, x, given, out->weight, out->scale, r);
	for (size_t j = 0; j < f->n; j++)
		f->p->param[f->free[j]].value = x[f->free[j]];
	gsl_vector_free(v);
	free(r);
	free(x);
}

/* Parameters that are not free, or turned out not to be told, are given back as they came. */
static void give_back(struct fitter *f, const double *given, bool told)
{
	for (size_t k = 0; k < f->p->nparams; k++) {
		struct fit_param *q = &f->p->param[k];
		bool keep = told && q->identified;

		for (size_t j = 0; j < f->n && !told; j++)
			keep |= f->free[j] == k;
		if (keep)
			continue;
		q->value = given[k];
		if (!told)
			continue;
		q->fitted = given[k];
		if (!q->limited)
			q->low = q->high = given[k];
	}
}

static void run(struct fitter *f, const double *given, struct fit_result *out)
{
	size_t m = f->p->nresiduals;
	double x[FIT_MAX_PARAMS];

	start(f);
	leave_out(f, given);
	while (drop_unidentified(f))
		;
	give_back(f, given, false);
	f->at_valid = false;
	if (f->n > 0 && f->n <= m)
		joint(f, given, out);
	give_back(f, given, true);
	for (size_t i = 0; i < m; i++) {
		if (f->left_out[i])
			out->weight[i] = 0;
		f->left_out[i] = false;
	}
	for (size_t k = 0; k < f->p->nparams; k++)
		x[k] = f->p->param[k].value;
	residuals(f, x, out->residual);
}

int fit_run(struct fit_problem *p, struct fit_result *out)
{
	struct fitter f = { .p = p };
	double given[FIT_MAX_PARAMS];
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	int rc = -1;

	*out = (struct fit_result){ .scale = 1 };
	no_result(p);
	if (p->nparams > FIT_MAX_PARAMS || p->nresiduals == 0) {
		gsl_set_error_handler(handler);
		return -1;
	}
	out->weight = xcalloc(p->nresiduals, sizeof(double));
	out->residual = xcalloc(p->nresiduals, sizeof(double));
	f.at = xcalloc(p->nparams + 1, sizeof(double));
	f.r0 = xcalloc(p->nresiduals, sizeof(double));
	f.jac = xcalloc(p->nresiduals * (p->nparams + 1), sizeof(double));
	f.left_out = xcalloc(p->nresiduals, sizeof(bool));
	for (size_t i = 0; i < p->nresiduals; i++)
		out->weight[i] = 1;
	for (size_t k = 0; k < p->nparams; k++) {
		given[k] = p->param[k].value;
		f.free[f.n++] = k;
	}
	if (residuals(&f, given, out->residual) == 0) {
		rc = 0;
		run(&f, given, out);
	}
	out->evaluations = f.evaluations;
	free(f.at);
	free(f.r0);
	free(f.jac);
	free(f.left_out);
	gsl_set_error_handler(handler);
	return rc;
}

void fit_result_free(struct fit_result *r)
{
	free(r->weight);
	free(r->residual);
	*r = (struct fit_result){ 0 };
}

/* ---- statistics ---- */

static int sign(double x)
{
	return (x > 0) - (x < 0);
}

double fit_kendall(const double *x, const double *y, size_t n)
{
	double concordant = 0, pairs = 0, tied_x = 0, tied_y = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			pairs++;
			concordant += sign(x[i] - x[j]) * sign(y[i] - y[j]);
			tied_x += x[i] == x[j];
			tied_y += y[i] == y[j];
		}
	if (pairs == tied_x || pairs == tied_y)
		return NAN;
	return concordant / sqrt((pairs - tied_x) * (pairs - tied_y));
}

double fit_mean(const double *v, size_t n)
{
	return n ? gsl_stats_mean(v, 1, n) : NAN;
}

double fit_median(const double *v, size_t n)
{
	double *c, m;

	if (n == 0)
		return NAN;
	c = xcalloc(n, sizeof(*c));
	memcpy(c, v, n * sizeof(*c));
	gsl_sort(c, 1, n);
	m = gsl_stats_median_from_sorted_data(c, 1, n);
	free(c);
	return m;
}
