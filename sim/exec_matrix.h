/* Parts of the matrix instructions: what each multiplies, where its elements lie, and the multiplication. */
#ifndef WPSIM_EXEC_MATRIX_H
#define WPSIM_EXEC_MATRIX_H

#include "exec_internal.h"
#include "numfmt.h"

enum mx_kind { MX_MFMA, MX_SMFMAC, MX_WMMA, MX_SWMMAC };
enum mx_format { /* of an operand, before target and modifiers have their say */
	MXF_F64, MXF_F32, MXF_XF32, MXF_F16, MXF_BF16, MXF_F8, MXF_B8, MXF_FP4, MXF_I8, MXF_I32, MXF_IU8, MXF_ANY,
};

struct mx_row { /* one instruction; columns of exec_matrix.def */
	enum mx_kind kind;
	uint8_t m, n, k, blocks;
	enum mx_format a, b, c, d;
	uint8_t scale;
};
extern const struct mx_row mx_rows[];
extern const size_t nmx_rows;

/* One instruction with everything resolved: registers are rows of `lanes` words. */
struct mx_scale {
	const uint32_t *reg; /* NULL: one value for all elements */
	uint64_t bits;
	unsigned format;     /* 0 e8m0, 1 e5m3, 2 e4m3 */
	unsigned select;     /* MFMA: byte; WMMA: half of the lanes */
};
struct mx_job {
	const struct mx_row *row;
	unsigned lanes;
	enum numfmt fmt[2], fmt_c, fmt_d; /* of A, B, C and D */
	const uint32_t *in[2];            /* A, B */
	bool neg[2][2];                   /* of A and B: elements in even and in odd places */
	const uint32_t *c;                /* NULL: c_bits everywhere */
	uint64_t c_bits;
	bool neg_c, abs_c;
	const uint32_t *index;            /* sparse A */
	unsigned index_bit;               /* where the lane's first index stands in its word */
	unsigned cbsz, abid, blgp;        /* broadcast: 0 where the instruction has none or uses the fields otherwise */
	struct mx_scale scale[2];
	bool saturate;                    /* integers and overflowing floats stop at the largest number */
	uint32_t *d;
};

#define MX_MAX_INPUT 4096  /* elements of A or B, zeros of a sparse A included: 32 x 128 */
#define MX_MAX_OUTPUT 2048 /* 2 blocks of 32 x 32 */

/* n is a multiple of 16, or 4. */
static inline void mx_copy(double *to, const double *from, unsigned n)
{
	if (n == 4)
		memcpy(to, from, 4 * sizeof(*to));
	for (unsigned i = 0; i + 16 <= n; i += 16)
		memcpy(to + i, from + i, 16 * sizeof(*to));
}

/* Registers of one lane that operand op (0 A, 1 B) takes. */
unsigned mx_input_regs(const struct mx_row *row, unsigned op, enum numfmt f, unsigned lanes);
/* Operand op in x[(block * K + k) * rows + row], row the row of A or the column of B; negated and scaled. */
void mx_load(const struct mx_job *j, unsigned op, double *x);
/* D = A * B + C of the whole wave; every input is read before anything is written. */
void mx_execute(const struct mx_job *j);

/*
 * d[i * n + j] += sum over kk of a[kk * m + i] * b[kk * n + j]. m is even, n a multiple of 4. The products of all
 * formats up to 32 bits are exact in double; in _fma each step is one fused operation, whatever the host has.
 */
void mx_multiply(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k);
void mx_multiply_fma(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k);

#endif
