/* Shared by annotate*.c. */
#ifndef WPSIM_ANNOTATE_INTERNAL_H
#define WPSIM_ANNOTATE_INTERNAL_H

#include "annotate.h"
#include "paths.h"

/* annotate_paths.c */
/* Give each group the instructions of its own way; false when the paths miss the hot loop, and nothing was changed. */
bool annotate_take_paths(struct annotation *a, const struct paths *paths);
/* LDS array times from the addresses found. Returns how many instructions have them. */
unsigned annotate_lds_times(struct annotation *a, const struct paths *paths);

/* annotate_stages.c: fills a->stages from the measured lines */
void annotate_find_stages(struct annotation *a);

#endif
