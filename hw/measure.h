/* Measuring one emitted kernel: buffers, a verified result, warm-up, repeats, and what the stamps say. */
#ifndef WPSIM_MEASURE_H
#define WPSIM_MEASURE_H

#include "emit.h"
#include "hw.h"

#define MEASURE_MAX_REPEAT 1000

struct measure_kernel {
	const struct kernel_text *text; /* launch, arguments, stamps */
	const void *image;              /* what the backend loads: the text itself (PTX) or its code object */
	size_t image_bytes;
	uint64_t trips;                 /* of the main loop; 0: there is none */
	unsigned steps;                 /* K-steps in a trip */
	unsigned waves, groups;         /* of a workgroup */
};

struct measure_options {
	unsigned warmup, repeat;        /* launches; repeat at least 1 */
	double timeout_s;               /* of one launch */
	uint64_t seed;                  /* of the inputs */
};

enum measure_verdict { VERDICT_NONE, VERDICT_RIGHT, VERDICT_WRONG }; /* NONE: there is nothing to compare, or the backend computes nothing */

struct measure_stage { /* in the last trip of the loop */
	const char *name;
	unsigned group;
	double clk;      /* median over the group's waves and all repeats */
};

enum measure_warning {
	WARN_SPREAD = 1 << 0,   /* repeats differ by more than MEASURE_SPREAD */
	WARN_OUTLIERS = 1 << 1, /* some launches took far longer than the median */
	WARN_DRIFT = 1 << 2,    /* the later half of the launches is slower or faster than the first: the clock moves */
	WARN_SPILLS = 1 << 3,   /* the driver's compiler put registers into memory */
	WARN_NO_STAMPS = 1 << 4,/* no clk: the kernel wrote no usable stamps */
	WARN_UNEVEN = 1 << 5,   /* workgroups of one launch differ by more than MEASURE_SPREAD */
	WARN_SHORT = 1 << 6,    /* the launches are too short for their time to mean anything */
};
#define MEASURE_SPREAD 0.02

struct measurement {
	unsigned repeats;
	double ms[MEASURE_MAX_REPEAT];       /* device time of each launch */
	double loop_clk[MEASURE_MAX_REPEAT]; /* median over the workgroups; 0: not known */
	double ms_median, ms_min, ms_max;
	double loop_clk_median, loop_clk_min, loop_clk_max; /* whole main loop, clk; 0: not known */
	double slowest_clk;                  /* median over the launches of the slowest workgroup's loop */
	double clk_per_step;                 /* loop_clk_median / (trips * steps) */
	double spread;                       /* half the distance of the quartiles of loop_clk (or ms) / median */
	enum measure_verdict verdict;
	struct verify_result verify;
	struct hw_function function;
	struct measure_stage *stages;
	size_t nstages;
	unsigned warnings;                   /* enum measure_warning */
};

/* 0, or -1 and *e. *out is to be freed in both cases. A wrong result is no failure: see verdict. */
int measure(const struct hw_backend *b, struct hw_context *c, const struct measure_kernel *k,
	    const struct measure_options *o, struct measurement *out, struct hw_error *e);
void measurement_free(struct measurement *m);
/* The sentence of one warning, with what to do; NULL for an unknown bit. */
const char *measure_warning_text(enum measure_warning w);

double measure_median(double *v, size_t n); /* sorts v; 0 for n = 0 */

#endif
