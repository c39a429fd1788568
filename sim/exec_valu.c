/* The table of vector operations. */
#include "exec_alu.h"
#include "exec_small.h"

#define XOP(names, types, fn, arg) { names, types, fn, arg },
/* The bits of the argument: less, equal, greater, unordered. */
#define XOP_FLOAT(prefix, suffix, types, fn, more) \
	{ prefix "f" suffix, types, fn, (more) + 0 }, { prefix "lt" suffix, types, fn, (more) + 1 }, \
	{ prefix "eq" suffix, types, fn, (more) + 2 }, { prefix "le" suffix, types, fn, (more) + 3 }, \
	{ prefix "gt" suffix, types, fn, (more) + 4 }, { prefix "lg" suffix, types, fn, (more) + 5 }, \
	{ prefix "ge" suffix, types, fn, (more) + 6 }, { prefix "o" suffix, types, fn, (more) + 7 }, \
	{ prefix "u" suffix, types, fn, (more) + 8 }, { prefix "nge" suffix, types, fn, (more) + 9 }, \
	{ prefix "nlg" suffix, types, fn, (more) + 10 }, { prefix "ngt" suffix, types, fn, (more) + 11 }, \
	{ prefix "nle" suffix, types, fn, (more) + 12 }, { prefix "neq" suffix, types, fn, (more) + 13 }, \
	{ prefix "nlt" suffix, types, fn, (more) + 14 }, { prefix "tru" suffix, types, fn, (more) + 15 },
#define XOP_INT(prefix, suffix, types, fn, more) \
	{ prefix "f" suffix, types, fn, (more) + 0 }, { prefix "lt" suffix, types, fn, (more) + 1 }, \
	{ prefix "eq" suffix, types, fn, (more) + 2 }, { prefix "le" suffix, types, fn, (more) + 3 }, \
	{ prefix "gt" suffix, types, fn, (more) + 4 }, { prefix "ne" suffix, types, fn, (more) + 5 }, \
	{ prefix "ge" suffix, types, fn, (more) + 6 }, { prefix "t" suffix, types, fn, (more) + 7 },

const struct xop xops_valu[] = {
#include "exec_valu.def"
};
const size_t nxops_valu = ARRAY_LEN(xops_valu);
