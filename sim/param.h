/* Single numbers of a model by name, to be moved by a fit and written back into the model's file. */
#ifndef WPSIM_PARAM_H
#define WPSIM_PARAM_H

#include "target.h"

/*
 * Names: value:KEY, class:NAME/busy|latency|hold, lds:OP/port, vmem:OP/addr|data, clock:NAME,
 * matrix:OP[@OPERANDS]/occupancy|ready|chain|prefix|valu-block. OPERANDS is needed where an op has several rows.
 */
struct param {
	const char *name;
	const char *attribute;     /* of the row's element: "busy" */
	double *real;              /* one of the two is not NULL */
	unsigned *whole_field;
	bool whole;                /* takes whole numbers only */
	double lo, hi;
	const struct origin *from;
};

/* 0, or -1: t has no such number; why then says in words what is not there. t is changed by param_set. */
int param_find(struct target *t, const char *name, struct param *out, char *why, size_t why_bytes);
double param_get(const struct param *p);
void param_set(const struct param *p, double v);

/* A changed number, to be written: the row gets quality measured, the source and the note. */
struct param_edit {
	struct param param;
	double value;
	const char *note;
};
/*
 * The text of t's file with the edits made, and a <source id=source title=title/>. Rows of a file that t is based on
 * are repeated in it. A new string, or NULL after a finding.
 */
char *param_rewrite(const struct target *t, const struct param_edit *edits, size_t n, const char *source, const char *title,
		    struct diag *d);

#endif
