/* Random valid programs on randomly changed machines: the same seed gives the same program
 * anywhere. */
#ifndef WPSIM_RANDPROG_H
#define WPSIM_RANDPROG_H

#include "engine.h"
#include "minitarget.h"

struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *r);
unsigned rng_below(struct rng *r, unsigned n);		     /* 0 .. n-1 */
unsigned rng_range(struct rng *r, unsigned lo, unsigned hi); /* lo .. hi */
bool rng_chance(struct rng *r, unsigned percent);

struct randprog {
	struct minitarget *target; /* base with some values changed */
	struct program p;
	struct engine_config cfg;
	struct insn *insns;
	size_t ninsns, capinsns;
	struct loop loops[16];
	struct stage stages[4];
};

/* nwaves * issues stay near a thousand in all. The result refers to the strings of base. */
struct randprog *randprog_new(const struct minitarget *base, uint64_t seed);
/* Give every K loop so many trips times its present count. */
void randprog_lengthen(struct randprog *r, unsigned factor);
void randprog_free(struct randprog *r);

/* Random changes to a machine, each value inside what target.def allows. */
void randprog_perturb(struct target *t, struct rng *r);

#endif
