/* What each code means, why it comes up and what to do. */
#ifndef WPSIM_EXPLAIN_H
#define WPSIM_EXPLAIN_H

#include <stdio.h>

#include "diag.h"

struct explanation {
	const char *cause, *wrong, *right, *todo;
};

/* NULL when the code has no page. */
const struct explanation *explain_code(enum diag_code c);
/* One page as text for a terminal, lines of at most 100 columns. */
void explain_print(enum diag_code c, int exit_status, FILE *out);
/* All pages as the Markdown document docs/codes.md. exit_status gives that of one code. */
void explain_print_all(int (*exit_status)(enum diag_code), FILE *out);

#endif
