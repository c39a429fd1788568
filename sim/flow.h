/*
 * Control flow of a listing's program, and what holds on every path: missing wait states (spacing), and
 * counter values that register dependences need.
 */
#ifndef WPSIM_FLOW_H
#define WPSIM_FLOW_H

#include "program.h"

struct flow_need { /* what must stand in front of insn on some path */
	uint32_t insn;      /* needs it */
	uint32_t because;   /* the earlier instruction */
	int counter;        /* wait: enum counter; -1: wait states */
	unsigned required;  /* wait states, or the highest counter value allowed */
	unsigned missing;   /* wait states that are missing; waits: 1 */
	const struct spacing_row *row; /* NULL for waits */
};

struct flow_result {
	struct flow_need *needs;
	size_t n;
};

/* Needs that the program does not meet, in program order; each supposes that earlier ones are mended. 0, or -1
 * when the control flow is too tangled to be followed in reasonable time: *out holds what was found until then. */
int flow_spacing(const struct program *p, struct flow_result *out);
int flow_waits(const struct program *p, struct flow_result *out);
void flow_result_free(struct flow_result *r);
/* Turn needs into findings (E_SPACING, E_WAIT_SHORT) with the fix. */
void flow_report(const struct program *p, const struct flow_result *r, struct diag *d);
/* Find natural loops with one back edge: fills p->loops, insn.loop and trip counts known from the text (else trips 0). */
int flow_loops(struct program *p, struct diag *d);

#endif
