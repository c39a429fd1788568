/* Text and JSON of a prediction and its findings. */
#ifndef WPSIM_REPORT_H
#define WPSIM_REPORT_H

#include <stdio.h>

#include "check.h"
#include "predict.h"

struct report_options {
	bool colour;
	bool timeline;  /* the two-group strip of one K-step */
	bool formulas;  /* constants and formula behind every percentage */
	unsigned width; /* columns of the text, 0: 100 */
};
void report_text(const struct prediction *pr, const struct diag *d, const struct report_options *o, FILE *out);
/* One wpsim.report.v1 document, ended by a newline; pretty on several lines, or on one. pr may be NULL
 * when only findings are reported. */
void report_json(const struct prediction *pr, const char *file, const struct diag *d, bool one_line, FILE *out);
/* The same with the audit of waits that the checker made of p; both may be NULL. */
void report_json_checked(const struct prediction *pr, const char *file, const struct diag *d, const struct program *p,
			 const struct check_result *check, bool one_line, FILE *out);
/* Add W_UNHIDDEN, N_NOT_APPLIED, W_BANK findings that follow from the prediction. */
void report_findings(const struct prediction *pr, struct diag *d);

#endif
