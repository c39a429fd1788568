/* Wait states that software must put between two instructions of one wave, by the target's spacing
 * rows. */
#ifndef WPSIM_SPACING_H
#define WPSIM_SPACING_H

#include "program.h"

/*
 * Wait states that must lie between first and a later second: the largest of the software rows that
 * match, 0 when none does. Whether other instructions in between supply them is the caller's count.
 */
unsigned spacing_needed(const struct target *t, const struct insn *first,
			const struct insn *second);
/* The row behind that number, NULL when it is 0. */
const struct spacing_row *spacing_row_of(const struct target *t, const struct insn *first,
					 const struct insn *second);
/* Wait states that the instruction itself supplies to a pair around it: gfx9 every instruction one
 * and s_nop N N + 1; gfx1250 vector ops and v_nop only. */
unsigned spacing_supplied(const struct target *t, const struct insn *between);
/* Farthest any software row of the target reaches. */
unsigned spacing_reach(const struct target *t);
/* The same by classes of the two instructions: no pair of these classes needs more. */
void spacing_class_reach(const struct target *t, unsigned reach[OPC_COUNT][OPC_COUNT]);

/*
 * For callers that ask about many pairs: the rows with their words as sets. Words of an instruction
 * are computed once and handed in.
 */
struct spacing_table;
struct spacing_table *spacing_table_new(const struct target *t);
void spacing_table_free(struct spacing_table *tab);
uint64_t spacing_words_of(const struct insn *in);
/* Most that any row asks of instructions with these words, the first one of so many passes; *any: a
 * row may match although the two share no register. */
unsigned spacing_table_reach(const struct spacing_table *tab, uint64_t first, unsigned passes,
			     uint64_t second, bool *any);
/* Spans of a later instruction (bit per span) that a younger op wrote, or read as C. Matrix ops of
 * gfx9 finish in order, so of those that write a register the nearest counts. */
struct spacing_hidden {
	uint8_t written, read;
};
/* gfx1250: class of a matrix op by how long its results take; UINT8_MAX for others. A younger op
 * hides older ones of higher classes from an instruction that depends on both. */
uint8_t spacing_class(const struct target *t, const struct insn *in);
struct spacing_hidden spacing_hides(const struct target *t, const struct insn *first,
				    const struct insn *second);
/* As spacing_row_of. dgemm_between: a f64 matrix op stands between the two. */
const struct spacing_row *spacing_table_row(const struct spacing_table *tab,
					    const struct insn *first, uint64_t a,
					    const struct insn *second, uint64_t b,
					    bool dgemm_between, struct spacing_hidden hide);
bool spacing_is_dgemm(uint64_t words);

#endif
