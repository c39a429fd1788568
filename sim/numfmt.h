/* Number formats of matrix operands and of memory: to double exactly, from double with one rounding. */
#ifndef WPSIM_NUMFMT_H
#define WPSIM_NUMFMT_H

#include <stddef.h>
#include <stdint.h>

#include "target.h"

enum numfmt {
	NF_F64, NF_F32, NF_XF32, NF_F16, NF_BF16,
	NF_FP8_FNUZ, NF_BF8_FNUZ, /* gfx942: bias 8 and 16, 0x80 is the only NaN, no infinity */
	NF_FP8, NF_BF8,           /* gfx950, gfx1250: OCP e4m3, e5m2 */
	NF_FP6, NF_BF6, NF_FP4,   /* e2m3, e3m2, e2m1 */
	NF_E8M0,                  /* scales */
	NF_I8, NF_U8, NF_I32, NF_U32, NF_COUNT
};

const char *numfmt_name(enum numfmt f);
unsigned numfmt_bits(enum numfmt f);
/* Format of a schedule's element type on target t (fp8 differs between targets). */
enum numfmt numfmt_of(const struct target *t, enum dtype d);
double numfmt_get(enum numfmt f, uint64_t bits);          /* exact */
uint64_t numfmt_put(enum numfmt f, double v);             /* round to nearest even; fp8/6/4: saturate to the largest */
/* Element i of a packed array (fp6: 6-bit elements one after the other, low bits first). */
double numfmt_load(enum numfmt f, const void *array, size_t i);
void numfmt_store(enum numfmt f, void *array, size_t i, double v);
/* The same without conversion: codes. */
uint64_t numfmt_load_bits(enum numfmt f, const void *array, size_t i);
void numfmt_store_bits(enum numfmt f, void *array, size_t i, uint64_t code);
/* Values of all codes of a format of at most eight bits, NULL for wider ones. */
const double *numfmt_table(enum numfmt f);
/* Values of n codes of at most 32 bits, the same as numfmt_get of each; upper bits of a code are ignored. */
void numfmt_decode(enum numfmt f, const uint32_t *code, size_t n, double *out);

#endif
