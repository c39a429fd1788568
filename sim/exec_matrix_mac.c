/* The multiplication of small matrices, four doubles at a time. */
#include "exec_matrix.h"

typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

#define ALWAYS static inline __attribute__((always_inline))

/* Rows i and i + 1, sixteen columns: eight sums in registers. */
ALWAYS void two_rows(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
	quad *lo = (quad *)d, *hi = (quad *)(d + n);
	quad s0 = lo[0], s1 = lo[1], s2 = lo[2], s3 = lo[3], t0 = hi[0], t1 = hi[1], t2 = hi[2], t3 = hi[3];

	for (unsigned kk = 0; kk < k; kk++, a += m, b += n) {
		const quad *v = (const quad *)b;

		s0 += a[0] * v[0];
		s1 += a[0] * v[1];
		s2 += a[0] * v[2];
		s3 += a[0] * v[3];
		t0 += a[1] * v[0];
		t1 += a[1] * v[1];
		t2 += a[1] * v[2];
		t3 += a[1] * v[3];
	}
	lo[0] = s0, lo[1] = s1, lo[2] = s2, lo[3] = s3;
	hi[0] = t0, hi[1] = t1, hi[2] = t2, hi[3] = t3;
}

ALWAYS void multiply(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
	for (unsigned i = 0; i < m; i += 2) {
		unsigned j = 0;

		for (; j + 16 <= n; j += 16)
			two_rows(d + (size_t)i * n + j, a + i, b + j, m, n, k);
		for (; j < n; j += 4) {
			quad *lo = (quad *)(d + (size_t)i * n + j), *hi = (quad *)(d + (size_t)(i + 1) * n + j);
			quad s = *lo, t = *hi;

			for (unsigned kk = 0; kk < k; kk++) {
				const quad v = *(const quad *)(b + (size_t)kk * n + j);

				s += a[(size_t)kk * m + i] * v;
				t += a[(size_t)kk * m + i + 1] * v;
			}
			*lo = s;
			*hi = t;
		}
	}
}

ALWAYS void multiply_fma(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
	for (unsigned i = 0; i < m; i++)
		for (unsigned kk = 0; kk < k; kk++)
			for (unsigned j = 0; j < n; j++)
				d[(size_t)i * n + j] = __builtin_fma(a[(size_t)kk * m + i], b[(size_t)kk * n + j], d[(size_t)i * n + j]);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma")))
static void multiply_avx2(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
	multiply(d, a, b, m, n, k);
}

__attribute__((target("avx2,fma")))
static void multiply_fma_avx2(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
	multiply_fma(d, a, b, m, n, k);
}

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

void mx_multiply(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
#if defined(__x86_64__)
	if (has_avx2()) {
		multiply_avx2(d, a, b, m, n, k);
		return;
	}
#endif
	multiply(d, a, b, m, n, k);
}

void mx_multiply_fma(double *d, const double *a, const double *b, unsigned m, unsigned n, unsigned k)
{
#if defined(__x86_64__)
	if (has_avx2()) {
		multiply_fma_avx2(d, a, b, m, n, k);
		return;
	}
#endif
	multiply_fma(d, a, b, m, n, k);
}
