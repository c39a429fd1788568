/* Values of a model from measurements of kernels that isolate them. The table models/calibrate.tsv says which. */
#ifndef WPSIM_CALIBRATE_H
#define WPSIM_CALIBRATE_H

#include "cmd_run.h"
#include "fit.h"
#include "param.h"
#include "samples.h"

enum cal_quantity { CAL_CLK, CAL_MHZ, CAL_US }; /* of a kernel: clk a K-step, engine clock, time of a launch */

struct cal_row { /* one line of the table */
	const char *param;
	enum cal_quantity quantity;
	size_t *kernel;       /* indices; the first one isolates the value */
	size_t nkernels;
	const char *what;
	struct loc loc;
};

struct cal_kernel {
	const char *name;
	char *path;
	struct run run;       /* lowered for the target that is fitted */
	bool lowered;
	struct program *shorter;   /* with half the trips; NULL: none */
	struct schedule *shorter_schedule;
	double *lowered_at;        /* values of the rows when it was lowered */
	const struct sample *sample; /* NULL: not measured */
	bool stale;                /* the sample is of another text than the schedule gives today */
	/* what the model says with the values in hand */
	double clk, us;
};

struct calibration {
	struct arena *arena;
	struct src *table;
	struct target *target; /* changed by the fit */
	struct cal_row *rows;
	size_t nrows;
	struct cal_kernel *kernels;
	size_t nkernels;
	/* results, by row */
	struct param *param;
	struct fit_param *fit;
	double *before;
	/* by residual */
	struct cal_residual { size_t kernel; enum cal_quantity quantity; double measured, sigma, before, after, weight; } *residual;
	size_t nresiduals;
	double scale;
	bool converged;
};

/*
 * The table's rows for a target, and the schedules of its kernels, lowered. only: names of the kernels to use (NULL: all
 * of the target's). 0, or -1 after findings.
 */
int calibration_open(struct calibration *c, const char *table_path, const char *target, const char *const *only, size_t nonly,
		     const struct cmd_options *o, struct diag *d);
/* Find each kernel's sample. device NULL: any. Returns how many kernels have one. */
size_t calibration_samples(struct calibration *c, const struct samples *s);
/* Fit. 0, or -1 after a finding: nothing was measured, or the engine can't run a kernel. */
int calibration_fit(struct calibration *c, struct diag *d);
void calibration_free(struct calibration *c);

/* The table and the kernels beside it: models/calibrate.tsv, kernels/NAME/schedule.xml. New strings or NULL. */
char *calibration_table_path(void);
char *calibration_kernel_path(const char *name);

#endif
