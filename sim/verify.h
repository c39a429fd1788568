/* Random inputs for an emitted kernel and a reference product in double precision. */
#ifndef WPSIM_VERIFY_H
#define WPSIM_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "numfmt.h"

/*
 * C[i][j] = sum over k of A[i][k] * 2^sa[i][k / 32] * B[j][k] * 2^sb[j][k / 32]. A is M rows of K elements,
 * B is N rows of K elements, C is M rows of N, all row-major with the given row strides in bytes. Scales:
 * byte of row i, block q at sa_index(i, q): row-major with stride, or K-step-major (see scale_ksteps).
 */
struct verify_layout {
	int64_t m, n, k;
	enum numfmt a, b, c;
	size_t lda_bytes, ldb_bytes, ldc_bytes;
	bool scaled;
	size_t lds_bytes;      /* row stride of the scales, or of one row inside a K-step when scale_step_bytes is set */
	size_t scale_step_a_bytes, scale_step_b_bytes; /* 0: row-major; else bytes from K-step to K-step: byte of row i,
				* block q is (q / per) * step + i * per + q % per with per = scale_blocks blocks a K-step */
	unsigned scale_blocks;
	/* Scales in the order in which matrix ops take them, when scale_map_x is set: byte of row i, block q is
	 * i / scale_rows_x * (scale_rows_x * k / 32) + q / per * (scale_rows_x * per) + scale_map_x[i % scale_rows_x * per + q % per]
	 * with per = scale_blocks. */
	unsigned scale_rows_a, scale_rows_b;
	const uint32_t *scale_map_a, *scale_map_b;
};

struct verify_result {
	uint64_t checked, wrong;
	double max_abs, max_rel;   /* worst |got - want| and that over the scale of the row's products */
	int64_t row, col;          /* of the worst one */
	double got, want;
	double tolerance;          /* what max_rel was compared with */
};

/* Fill input array which ('A', 'B', 'S' or 'T': scales of A, B) with seeded values that exercise the format without overflow. */
void verify_fill(const struct verify_layout *l, char which, uint64_t seed, void *data);
/* Compare rows [row0, row1) x columns [col0, col1) of C; every = 1 all elements, else about one of so many. Missing
 * outputs (still holding the poison pattern that verify_poison wrote) count as wrong. */
void verify_poison(void *data, size_t bytes);
void verify_product(const struct verify_layout *l, const void *a, const void *b, const void *sa, const void *sb,
		    const void *c, int64_t row0, int64_t row1, int64_t col0, int64_t col1, unsigned every, struct verify_result *out);

#endif
