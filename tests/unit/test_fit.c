/* Fits against functions whose parameters are known, with outliers, plateaus and parameters that nothing tells. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fit.h"

#define MAX_POINTS 64

struct points {
	size_t n;
	double x[MAX_POINTS], y[MAX_POINTS], sigma;
	double (*model)(const double *p, double x);
};

static uint64_t state;

/* Nearly normal: the sum of twelve even deviates. */
static double deviate(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += (double)(state >> 11) * 0x1p-53;
	}
	return sum;
}

static int residuals(void *ctx, const double *p, double *r)
{
	const struct points *s = ctx;

	for (size_t i = 0; i < s->n; i++)
		r[i] = (s->model(p, s->x[i]) - s->y[i]) / s->sigma;
	return 0;
}

static void make(struct points *s, size_t n, double (*model)(const double *, double), const double *truth, double sigma)
{
	*s = (struct points){ .n = n, .model = model, .sigma = sigma };
	for (size_t i = 0; i < n; i++) {
		s->x[i] = (double)i + 1;
		s->y[i] = model(truth, s->x[i]) + sigma * deviate();
	}
}

static double line(const double *p, double x)
{
	return p[0] + p[1] * x;
}

static double pipe_model(const double *p, double x) /* as a pipeline: the slower of two, behind a latency */
{
	return p[0] + fmax(p[1] * x, p[2] * 4);
}

static double decay(const double *p, double x)
{
	return p[0] * exp(-p[1] * x);
}

static double stairs(const double *p, double x) /* feels p[0] in steps of 8 only */
{
	return 8 * floor(p[0] / 8) + x;
}

static struct fit_param whole(double value, double lo, double hi, int own)
{
	return (struct fit_param){ .value = value, .lo = lo, .hi = hi, .whole = true, .step = 1, .own = own };
}

static struct fit_param real(double value, double lo, double hi, double step)
{
	return (struct fit_param){ .value = value, .lo = lo, .hi = hi, .step = step, .own = -1 };
}

static int run(struct points *s, struct fit_param *p, size_t n, struct fit_result *out)
{
	struct fit_problem problem = { .param = p, .nparams = n, .nresiduals = s->n, .residuals = residuals, .ctx = s };

	return fit_run(&problem, out);
}

static void test_whole_line(void **unused)
{
	const double truth[] = { 52, 16 };
	struct fit_param p[] = { whole(10, 0, 1000, 0), whole(3, 0, 1000, 19) };
	struct fit_result out;
	struct points s;

	(void)unused;
	make(&s, 20, line, truth, 0.3);
	assert_int_equal(run(&s, p, 2, &out), 0);
	assert_true(p[0].identified && p[1].identified);
	assert_true(p[0].value == 52 && p[1].value == 16);
	assert_true(p[0].low <= 52 && p[0].high >= 52 && p[0].high - p[0].low < 2);
	fit_result_free(&out);
}

/* A twentieth of the points is far off: least squares alone would miss the whole number. */
static void test_outliers(void **unused)
{
	const double truth[] = { 200, 9 };
	struct fit_param p[] = { whole(150, 0, 1000, -1), whole(20, 0, 1000, -1) };
	struct fit_result out;
	struct points s;

	(void)unused;
	make(&s, 40, line, truth, 0.5);
	s.y[5] += 400;
	s.y[30] -= 300;
	assert_int_equal(run(&s, p, 2, &out), 0);
	assert_true(p[0].value == 200 && p[1].value == 9);
	assert_true(out.weight[5] < 0.05 && out.weight[30] < 0.05 && out.weight[10] == 1);
	fit_result_free(&out);
}

/* 95 % intervals hold the truth about 95 times in 100. */
static void test_coverage(void **unused)
{
	const double truth[] = { 30, 0.25 };
	unsigned hold0 = 0, hold1 = 0, n = 200;

	(void)unused;
	for (unsigned i = 0; i < n; i++) {
		struct fit_param p[] = { real(20, 0, 100, 0.1), real(0.5, 0.01, 3, 0.01) };
		struct fit_result out;
		struct points s;

		make(&s, 24, decay, truth, 0.4);
		assert_int_equal(run(&s, p, 2, &out), 0);
		hold0 += p[0].low <= 30 && p[0].high >= 30;
		hold1 += p[1].low <= 0.25 && p[1].high >= 0.25;
		fit_result_free(&out);
	}
	assert_in_range(hold0, 180, 200);
	assert_in_range(hold1, 180, 200);
}

/* The third parameter is hidden behind the second on every point: it must be left alone. */
static void test_unidentified(void **unused)
{
	const double truth[] = { 40, 16, 1 };
	struct fit_param p[] = { whole(20, 0, 500, 0), whole(30, 1, 500, 11), whole(2, 0, 3, -1) };
	struct fit_result out;
	struct points s;

	(void)unused;
	make(&s, 12, pipe_model, truth, 0.2);
	assert_int_equal(run(&s, p, 3, &out), 0);
	assert_true(p[0].value == 40 && p[1].value == 16);
	assert_false(p[2].identified);
	assert_true(p[2].value == 2);
	fit_result_free(&out);
}

static double sum_only(const double *p, double x)
{
	return (p[0] + p[1]) * x;
}

/* Only the sum shows: neither of the two is known. */
static void test_coupled(void **unused)
{
	const double truth[] = { 7, 5 };
	struct fit_param p[] = { whole(6, 0, 100, -1), whole(6, 0, 100, -1) };
	struct fit_result out;
	struct points s;

	(void)unused;
	make(&s, 10, sum_only, truth, 0.2);
	assert_int_equal(run(&s, p, 2, &out), 0);
	assert_false(p[0].identified);
	assert_false(p[1].identified);
	fit_result_free(&out);
}

/* Values that cannot be told apart are all in the interval. */
static void test_plateau(void **unused)
{
	const double truth[] = { 44 };
	struct fit_param p[] = { whole(39, 0, 400, 0) };
	struct fit_result out;
	struct points s;

	(void)unused;
	make(&s, 8, stairs, truth, 0.2);
	assert_int_equal(run(&s, p, 1, &out), 0);
	assert_true(p[0].value >= 40 && p[0].value <= 47);
	assert_true(p[0].low <= 40 && p[0].high >= 47);
	fit_result_free(&out);
}

static double line_and_limit(const double *p, double x)
{
	return p[0] + p[1] * x + (x == 8 ? fmin(p[2], 50) : 0);
}

/* A point that not even its own parameter explains is left out, and that parameter stays as it was. */
static void test_left_out(void **unused)
{
	const double truth[] = { 30, 7, 10 };
	struct fit_param p[] = { whole(12, 0, 1000, 0), whole(3, 0, 1000, 19), whole(11, 0, 60, 7) };
	struct fit_result out;
	struct points s;

	(void)unused;
	make(&s, 20, line_and_limit, truth, 0.2);
	s.y[7] = 100000;
	assert_int_equal(run(&s, p, 3, &out), 0);
	assert_true(p[0].value == 30 && p[1].value == 7);
	assert_true(out.weight[7] == 0 && out.weight[6] > 0);
	assert_true(fabs(out.residual[7]) > 1000); /* it is told, not hidden */
	assert_true(p[2].value == 11 && !p[2].identified);
	fit_result_free(&out);
}

static int broken(void *ctx, const double *p, double *r)
{
	(void)ctx;
	(void)p;
	(void)r;
	return -1;
}

static void test_broken(void **unused)
{
	struct fit_param p[] = { whole(3, 0, 9, 0) };
	struct fit_problem problem = { .param = p, .nparams = 1, .nresiduals = 2, .residuals = broken };
	struct fit_result out;

	(void)unused;
	assert_int_equal(fit_run(&problem, &out), -1);
	assert_true(p[0].value == 3 && !p[0].identified);
	fit_result_free(&out);
	problem.nresiduals = 0;
	assert_int_equal(fit_run(&problem, &out), -1);
	fit_result_free(&out);
}

static void test_statistics(void **unused)
{
	/* Worked by hand: pairs 6, concordant 4, discordant 1, one tie in y. */
	const double x[] = { 1, 2, 3, 4 }, y[] = { 1, 3, 3, 2 }, same[] = { 5, 5, 5, 5 }, v[] = { 9, 1, 4 };

	(void)unused;
	assert_true(fabs(fit_kendall(x, y, 4) - (3.0 - 2.0) / sqrt(6.0 * 5.0)) < 1e-12);
	assert_true(fit_kendall(x, x, 4) == 1);
	assert_true(isnan(fit_kendall(x, same, 4)));
	assert_true(isnan(fit_kendall(x, y, 1)));
	assert_true(fit_median(v, 3) == 4);
	assert_true(fabs(fit_mean(v, 3) - 14.0 / 3) < 1e-12);
	assert_true(isnan(fit_mean(v, 0)) && isnan(fit_median(v, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_line), cmocka_unit_test(test_outliers), cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_unidentified), cmocka_unit_test(test_coupled), cmocka_unit_test(test_plateau),
		cmocka_unit_test(test_left_out), cmocka_unit_test(test_broken), cmocka_unit_test(test_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
