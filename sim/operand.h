/* Operands of a listing's instruction as written: what the executor needs beside the registers' spans. */
#ifndef WPSIM_OPERAND_H
#define WPSIM_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

enum operand_kind { OPERAND_ABSENT, OPERAND_REG, OPERAND_VALUE, OPERAND_SYMBOL, OPERAND_OFF, OPERAND_CALL };

struct operand {
	enum operand_kind kind;
	uint16_t reg, n;        /* REG: program register numbers; n 0: a source that is no register (see special) */
	bool vector;            /* v or a register: upper bits apply */
	bool high;              /* .h half */
	bool neg, abs, sext;    /* -x, |x|, sext(x) */
	bool real;              /* VALUE written with a point: number holds it */
	bool literal;           /* VALUE that does not fit an inline constant */
	bool wide;              /* lit64(VALUE) */
	int64_t value;          /* VALUE */
	double number;          /* VALUE that is real */
	const char *special;    /* name of a source that is no numbered register ("src_shared_base", "null"), NULL */
	uint32_t begin, end;    /* place in the source */
};

#define MAX_OPERANDS 12

struct operand_list { /* of one instruction; a dual instruction has the second half in next */
	const struct insn_desc *desc; /* row of the instruction table, see listing_internal.h */
	uint8_t suffix;               /* enum suffix */
	bool returns;                 /* an atomic that gives the old value back */
	uint8_t n;
	const struct operand_list *next;
	struct operand o[];
};

#endif
