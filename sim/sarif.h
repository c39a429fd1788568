/* Findings as a SARIF 2.1.0 document: one run, all codes as its rules. */
#ifndef WPSIM_SARIF_H
#define WPSIM_SARIF_H

#include <stdio.h>

#include "diag.h"

struct sarif {
	FILE *out;
	size_t results;
};

void sarif_begin(struct sarif *s, const char *version, FILE *out);
/* The findings of one input; file names it where a finding has no place. */
void sarif_add(struct sarif *s, const struct diag *d, const char *file);
void sarif_end(struct sarif *s);

#endif
