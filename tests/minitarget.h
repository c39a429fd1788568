/* Machine models for tests: plain values set in C, or a copy of a real model, free to be changed.
 */
#ifndef WPSIM_MINITARGET_H
#define WPSIM_MINITARGET_H

#include "target.h"

struct minitarget {
	struct target t;
	struct target *real; /* owner of the strings of a loaded model, NULL otherwise */
};

extern const char *const minitarget_names[];
#define MINITARGET_COUNT 3

/* A small model in the manner of the named part: round values, every kind of row at least once. */
struct minitarget *minitarget_build(const char *name);
/* The real model, or NULL when it can't be loaded. */
struct minitarget *minitarget_load(const char *name);
/* Own arrays, so that rows may be changed; strings stay with the original, which must live longer.
 */
struct minitarget *minitarget_copy(const struct minitarget *m);
void minitarget_free(struct minitarget *m); /* NULL is allowed */

/* LDS rows without banks: ds_permute and its like. */
bool minitarget_is_permute(const struct lds_row *row);

#endif
