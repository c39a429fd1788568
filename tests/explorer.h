/*
 * Exhaustive search over all interleavings of a small program: the witness that the checker's verdicts
 * are compared with. It knows only struct program and the rules of the machine, runs the program wave
 * by wave, and looks for one execution in which something goes wrong.
 *
 * What an execution is: waves issue in order, one instruction at a time, in any order between waves. A
 * memory operation acts at some time between its issue and its completion; LDS operations of one wave
 * act in order, everything else in any order. An in-order counter reports in order, scalar loads in any
 * order. A wait holds its wave until the counter is low enough, a counter at its maximum holds issue.
 */
#ifndef WPSIM_EXPLORER_H
#define WPSIM_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>

#include "program.h"

enum explore_verdict { EXPLORE_OK, EXPLORE_FAULT, EXPLORE_TOO_LARGE };

enum explore_fault {
	FAULT_NONE,
	FAULT_TILE,     /* a read can see another tile than it names, or bytes that nobody wrote */
	FAULT_READ,     /* a read can see bytes while they are written, before or in the middle of a write */
	FAULT_REFILL,   /* a write can hit bytes that an earlier read has not sampled yet */
	FAULT_REGISTER, /* a register is used or overwritten before its load completed */
	FAULT_UNLOADED, /* a matrix op or an LDS write of a program with K-steps takes registers that nothing loaded */
	FAULT_OPERAND,  /* a matrix op or an LDS write takes registers of another K-step */
	FAULT_ACC,      /* an accumulator does not get every K-step equally often */
	FAULT_BARRIER,  /* waves pass a barrier unequally often */
	FAULT_DEADLOCK,
};
const char *explore_fault_name(enum explore_fault f);

struct explore_options {
	size_t max_states; /* 0: a million */
	/*
	 * false: an operation completes when a wait of its wave (or a full counter) first needs it, and bytes
	 * are searched piece by piece. Completing late only lengthens the time in which an operation may
	 * act, so no fault is lost, and a late completion is an execution too, so none is invented.
	 * true: issue, begin and end of each action and each report are steps of their own, over all bytes at
	 * once. Slow; it is there to test the argument above.
	 */
	bool full;
};

struct explore_result {
	enum explore_verdict verdict;
	enum explore_fault fault;
	char *text;    /* what goes wrong, or why the program is too large; NULL for EXPLORE_OK */
	char *trace;   /* the execution that leads to it, a line a step; NULL when none is needed */
	size_t states; /* visited */
};

void explore(const struct program *p, const struct explore_options *o, struct explore_result *r);
void explore_result_free(struct explore_result *r);

#endif
