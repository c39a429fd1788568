/* Findings: collected, ordered, printed in the clang form or handed to the JSON report. */
#ifndef WPSIM_DIAG_H
#define WPSIM_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "src.h"
#include "util.h"

enum diag_code {
#define DIAG(tail, code, severity, meaning) DIAG_##tail,
#include "diag.def"
#undef DIAG
	DIAG_COUNT
};

enum severity { SEV_ERROR, SEV_WARNING, SEV_NOTE };

const char *diag_code_name(enum diag_code c);    /* "E-VALUE" */
const char *diag_code_meaning(enum diag_code c); /* one line */
enum severity diag_code_severity(enum diag_code c);

#define DIAG_NONE_INT INT64_MIN /* an integer field that does not apply */

struct diag_note {
	struct loc loc;
	char *text;
};

struct finding {
	enum diag_code code;
	enum severity severity;
	struct loc loc;
	char *message;
	char *fix;           /* NULL when there is none */
	char *rule;          /* NULL when it does not apply */
	const char *counter; /* static name or NULL */
	int64_t required, present; /* wait states or counter values; DIAG_NONE_INT */
	double price_clk;    /* clk per K-step; NAN when unknown */
	bool price_per_trip; /* of a listing's hot loop, which has no K-steps */
	struct loc insert;   /* a wait of counter for insert_value in front of this mends it; src NULL: none */
	int64_t insert_value;
	char insert_group;   /* letter of the one group that it is for, 0: all */
	struct diag_note *notes;
	size_t nnotes, capnotes;
};

struct diag {
	struct finding *list;
	size_t n, cap;
	size_t errors, warnings;
	size_t max_errors; /* errors beyond this many are counted, not kept; 0 means 20 */
	size_t suppressed;
	struct src **kept; /* sources that findings point into and that nobody else owns any more */
	size_t nkept, capkept;
};

void diag_init(struct diag *d);
void diag_free(struct diag *d);
/* Hand s over to d, which frees it in diag_free: a reader that fails must not free the text that its
 * findings point into. NULL is allowed. */
void diag_keep(struct diag *d, struct src *s);

/* Add a finding with the code's own severity. The result stays valid until the next diag_add. It is
 * never NULL: past the cap it is a scratch finding that is not kept. */
struct finding *diag_add(struct diag *d, struct loc loc, enum diag_code code, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
void diag_note(struct finding *f, struct loc loc, const char *fmt, ...) PRINTF_LIKE(3, 4);
void diag_fix(struct finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

bool diag_has(const struct diag *d, enum diag_code code);
/* Forget the findings of one code: another one says the same better. */
void diag_drop(struct diag *d, enum diag_code code);
/* Only those with a price below clk; findings without a price stay. */
void diag_drop_cheaper(struct diag *d, enum diag_code code, double clk);
void diag_drop_if(struct diag *d, bool (*drop)(const struct finding *f, void *ctx), void *ctx);

/*
 * Print all findings, ordered by file and place, as
 *   file:line:col: error[E-VALUE]: sentence
 * with the line, a caret, the notes and the fix. Ends with a count when errors were suppressed.
 */
void diag_print(const struct diag *d, FILE *out, bool colour);

#endif
