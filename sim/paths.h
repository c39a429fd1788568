/*
 * The way that each wave of a listing takes, found by following the program with unknown arguments: which
 * instructions, and which LDS bytes they touch. What depends on lanes, waves and constants is known, the rest is not.
 */
#ifndef WPSIM_PATHS_H
#define WPSIM_PATHS_H

#include "check.h"
#include "listing.h"

struct paths {
	struct arena *arena;
	struct program program;     /* the listing's program with groups and waves set; shares all else with it */
	struct check_paths check;
	bool exact;                 /* executed, not followed with unknown arguments */
	unsigned waves;             /* of a workgroup */
	unsigned offset;            /* workgroup barriers that group B is behind A inside the loop; 0: in phase */
	bool two_bodies;            /* the groups run different loops */
	uint32_t landmark;          /* instruction at which the groups were compared, UINT32_MAX: none */
	const char *gave_up;        /* why there are no paths; NULL: there are */
	uint32_t gave_up_at;        /* instruction, UINT32_MAX: none */
};

/*
 * launch NULL: arguments are unknown. Else the launch is executed (its first workgroup), and what is found is exact: trips
 * and LDS addresses are those of this launch; findings of the execution go to d.
 *
 * block: threads of a workgroup, {0}: as the listing says; else waves, when not 0, in a row. The result always has to
 * be freed; p must outlive it.
 */
struct exec_launch;
void paths_follow(const struct program *p, const struct listing_info *info, const unsigned block[3], unsigned waves,
		  struct exec_launch *launch, struct diag *d, struct paths *out);
void paths_free(struct paths *paths);

#endif
