/* Predictions beside measurements: rows, the four figures, and how they are printed. */
#ifndef WPSIM_COMPARE_H
#define WPSIM_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct compare_stage { const char *name; unsigned group; double measured, predicted; };

struct compare_row { /* clk of a K-step; 0: not known. Texts belong to the caller */
	const char *id;        /* of a published row, or the kernel's name */
	const char *kernel, *target, *where; /* where: device or source */
	const char *siblings;  /* rows with the same word are variants of one kernel; NULL: none */
	double measured, predicted, ideal, serial; /* serial: nothing overlaps */
	double measured_us, predicted_us; /* of the launch */
	double clock_mhz;      /* at which it was measured */
	double spread;         /* of the measurement */
	bool fitted;           /* a value of the model was taken from it */
	const struct compare_stage *stages;
	size_t nstages;
};

struct compare {
	struct compare_row *row;
	size_t n, cap;
	size_t skipped;        /* measurements that no schedule models */
};

struct compare_figures { /* relative; NAN: not defined */
	size_t n;
	double mean_abs;       /* of clk */
	double lost, lost_pooled; /* error of lost clk: mean, and sums */
	double bias;
	size_t above, below;
};

void compare_add(struct compare *c, const struct compare_row *r);
void compare_free(struct compare *c);
double compare_error(const struct compare_row *r); /* predicted / measured - 1 */
double compare_lost_error(const struct compare_row *r); /* NAN where nothing measurable is lost */

enum compare_column { COMPARE_PREDICTED, COMPARE_IDEAL, COMPARE_SERIAL };
/* Over all rows, or only those that nothing was fitted on. */
void compare_figures(const struct compare *c, enum compare_column col, bool blind, struct compare_figures *out);

struct compare_set { /* siblings */
	const char *name;
	size_t n;
	double tau;            /* Kendall's tau-b; NAN */
	const char *best_measured, *best_predicted; /* ids */
};
/* Sets with at least two rows; a new array, *n long. */
struct compare_set *compare_sets(const struct compare *c, size_t *n);

/* Rows beyond the tolerance (relative); none when it is negative. */
size_t compare_beyond(const struct compare *c, double tolerance);

void compare_text(const struct compare *c, double tolerance, FILE *out);
void compare_json(const struct compare *c, double tolerance, bool one_line, FILE *out);
void compare_csv(const struct compare *c, FILE *out);
void compare_svg(const struct compare *c, double tolerance, FILE *out);

#endif
