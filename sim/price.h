/* What a wait or a barrier costs: the engine run again without it. */
#ifndef WPSIM_PRICE_H
#define WPSIM_PRICE_H

#include "check.h"
#include "predict.h"

/* Savings below this many clk per K-step are not reported. */
#define PRICE_LEAST_CLK 1.0

/* The instructions of p in an array of their own, to be changed, run and freed. */
struct insn *price_copy(const struct program *p);
/* Steady clk per K-step of pr's program with these instructions in place of its own; NAN when it does
 * not run to its end. */
double price_run(const struct prediction *pr, struct insn *insns);

/*
 * Add a W-BARRIER-SPARE finding for each barrier of r->spare that costs time, or that stands next
 * to another barrier. r must come from check_program() and check_spare_barriers() on pr->program.
 */
void price_spare_barriers(const struct prediction *pr, const struct check_result *r,
			  struct diag *d);

/* Add a W-WAIT-EARLY finding for each written wait of the main loop that can stand later in the
 * same trip, with every order still kept, and then costs at least PRICE_LEAST_CLK less. */
void price_early_waits(const struct prediction *pr, const struct check_result *r, struct diag *d);

/* Could an early wait cost anything? False when no wave of the steady loop is ever held by a wait.
 */
bool price_waits_cost(const struct prediction *pr);

#endif
