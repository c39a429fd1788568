/* Robust least squares with intervals, and the statistics of a comparison. Only fit.c knows GSL. */
#ifndef WPSIM_FIT_H
#define WPSIM_FIT_H

#include <stdbool.h>
#include <stddef.h>

#define FIT_MAX_PARAMS 256

struct fit_param {
	double value;      /* in: where to start; out: the result */
	double lo, hi;     /* bounds, included */
	bool whole;        /* takes whole numbers only */
	double step;       /* of a difference quotient, > 0; of whole ones at least 1 */
	double prefer;     /* of whole numbers that fit equally well, the current one is kept, else a multiple of this; 0: none */
	int own;           /* residual that mostly this parameter moves; -1: none. It gives the start */
	/* out */
	bool identified;   /* the residuals tell its value; else value is as it came in */
	bool limited;      /* not identified, but low or high limits it */
	double fitted;     /* before rounding to a whole number */
	double low, high;  /* 95 % interval */
};

struct fit_problem {
	struct fit_param *param;
	size_t nparams;
	size_t nresiduals;
	/* r[i] = (prediction - measurement) / its standard error, at the values x. 0, or -1: x can't be evaluated. */
	int (*residuals)(void *ctx, const double *x, double *r);
	void *ctx;
};

struct fit_result {
	bool converged;
	double scale;        /* of the residuals left over: near 1 when the errors given explain them */
	double *weight;      /* [nresiduals] 1: counts in full; near 0: an outlier. To be freed */
	double *residual;    /* [nresiduals] at the result. To be freed */
	size_t evaluations;
};

/* 0, or -1 when not even the start can be evaluated. *out is to be freed in both cases. */
int fit_run(struct fit_problem *p, struct fit_result *out);
void fit_result_free(struct fit_result *r);

/* Kendall's tau-b of n pairs; NAN when it is not defined. */
double fit_kendall(const double *x, const double *y, size_t n);
double fit_mean(const double *v, size_t n); /* NAN for n = 0 */
double fit_median(const double *v, size_t n);

#endif
