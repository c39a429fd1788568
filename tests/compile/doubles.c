/* Double precision: a polynomial, divisions, a root, minimum and maximum, comparisons. */
// launch: grid=1 block=128 args=in:f64:128 in:f64:128:1..999/8 out:f64:128 out:f64:128 out:f64:128
#include "kernel.h"

#ifdef HOST
#define FMA fma
#define MIN fmin
#define MAX fmax
#define ROOT sqrt
#else
#define FMA __builtin_fma
#define MIN __builtin_fmin
#define MAX __builtin_fmax
#define ROOT __builtin_sqrt
#endif

static inline double doubles_poly(double x)
{
	double p = 1.0 / 5040;

	p = FMA(p, x, 1.0 / 720);
	p = FMA(p, x, 1.0 / 120);
	p = p * x + 1.0 / 24;
	p = p * x - 1.0 / 6;
	return FMA(p, x * x, 0.5);
}

static inline double doubles_other(double x, double y)
{
	return x > y ? x / y : MAX(MIN(x, 0.25), -y) - y;
}

static inline double doubles_root(double x, double y)
{
	return ROOT(y) * (x < 0 ? -1 : 1) / (x * x + 1.5);
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const double *x = arg[0], *y = arg[1];

	(void)groups;
	for (u32 t = 0; t < 128; t++) {
		((double *)arg[2])[t] = doubles_poly(x[t]);
		((double *)arg[3])[t] = doubles_other(x[t] * 40, y[t]);
		((double *)arg[4])[t] = doubles_root(x[t], y[t]);
	}
}
#else
KERNEL(128) void doubles(const GLOBAL double *x, const GLOBAL double *y, GLOBAL double *poly, GLOBAL double *other, GLOBAL double *root)
{
	u32 t = lane();

	poly[t] = doubles_poly(x[t]);
	other[t] = doubles_other(x[t] * 40, y[t]);
	root[t] = doubles_root(x[t], y[t]);
}
#endif
