/* Argument of xv_cvt_scaled: formats, number of elements and the form of the operands. */
#ifndef WPSIM_EXEC_SMALL_H
#define WPSIM_EXEC_SMALL_H

#include "exec_float.h"

enum {
	XS_RANDOM = 1 << 14, /* operand 2 is a random number */
	XS_PAIRED = 1 << 15, /* elements alternate between operands 1 and 2 */
	XS_HALVES = 1 << 16, /* two elements use one random number, half each */
};
#define XS(from, to, n) ((int)(from) | (int)(to) << 4 | (n) << 8)

#endif
