/* The audit of waits as a table: one row for each wait as written, its unrolled copies merged. */
#ifndef WPSIM_CHECK_REPORT_H
#define WPSIM_CHECK_REPORT_H

#include <stdio.h>

#include "check.h"

struct check_row {
	struct loc loc;
	uint8_t counter;
	uint8_t groups; /* that execute it */
	bool implied;	/* part of a draining barrier or boundary */
	bool needed;	/* by at least one copy */
	bool cross_wave;
	unsigned written;
	unsigned required;    /* of the copy with the least slack; meaningless unless needed */
	uint32_t for_insn;    /* whose completion that copy guarantees, UINT32_MAX: none */
	uint32_t before_insn; /* what must not come earlier, UINT32_MAX: none */
	unsigned copies;
};

/* Rows in program order, waits for register dependences left out. Returns their number; free *out.
 */
size_t check_rows(const struct program *p, const struct check_result *r, struct check_row **out);

/* required - written; 0 when the wait is not needed. */
int check_row_slack(const struct check_row *row);

/* The table, "" when there are no written waits. */
void check_print_waits(const struct program *p, const struct check_result *r, FILE *out);

#endif
