/* What the commands that read schedules share: everything made from one file. */
#ifndef WPSIM_CMD_RUN_H
#define WPSIM_CMD_RUN_H

#include "check.h"
#include "cmd.h"
#include "lower.h"
#include "predict.h"
#include "schedule.h"
#include "target.h"

/* Each pointer is NULL until its step succeeded. */
struct run {
	const char *path;
	struct diag diag;
	struct schedule *schedule;
	struct target *target;
	struct program *program;
	struct prediction *prediction;
	bool checked; /* check holds the checker's result */
	struct check_result check;
};

/* Read and lower the file at r->path. */
void run_lower(struct run *r, const struct cmd_options *o);
/* The same from a source, which is taken over. */
void run_lower_source(struct run *r, const struct cmd_options *o, struct src *s);
/* run_lower, the checker, the prediction, and the findings of both. */
void run_predict(struct run *r, const struct cmd_options *o);
void run_free(struct run *r);
void run_print_findings(const struct run *r, const struct cmd_options *o, FILE *result);

/*
 * Run write for every file. A text result with bad input among its files is not complete, so a
 * named output file is left as it was; a JSON document says itself what went wrong and is always
 * written.
 */
int run_each_file(const struct cmd_options *o,
		  void (*write)(struct run *, const struct cmd_options *, FILE *));

/* cmd_check.c: the checker on r->program; its findings go to r->diag. */
void run_check(struct run *r);
/* Findings that need both the checker's result and the prediction. */
void run_prices(struct run *r, bool thorough);

#endif
