/* Random small pipelines of two groups: buffers filled and read around a ring of slots, right or wrong. */
#ifndef WPSIM_TINYRAND_H
#define WPSIM_TINYRAND_H

#include "tiny.h"

struct tinyrand_options {
	uint64_t seed;
	unsigned max_ksteps; /* at least 2 */
	unsigned max_long;   /* in one program of seven */
	unsigned max_slots, max_buffers;
	bool two_waves;      /* never more */
	bool edges;          /* some copies are not issued on edge tiles */
};

/* t: a target with the counters of gfx9 or of gfx12. */
struct tiny *tinyrand_build(const struct target *t, const struct tinyrand_options *o);

#endif
