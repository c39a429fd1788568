/* C = A * B^T in double precision: matrix unit on gfx9, fused multiply-adds elsewhere. */
// launch: grid=1 block=64 args=in:f64:256:-64..64/8 in:f64:256:-64..64/8 out:f64:256 u32:16
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const double *a = arg[0], *b = arg[1];
	double *c = arg[2];
	u32 k = *(const u32 *)arg[3];

	for (u32 i = 0; i < groups * 16; i++)
		for (u32 j = 0; j < 16; j++) {
			double sum = 0;

			for (u32 x = 0; x < k; x++)
				sum += a[i * k + x] * b[j * k + x];
			c[i * 16 + j] = sum;
		}
}
#else
KERNEL(64) void gemm_f64(const GLOBAL double *a, const GLOBAL double *b, GLOBAL double *c, u32 k)
{
	u32 m0 = group() * 16;

#if defined(__gfx1250__)
	for (u32 t = lane(); t < 256; t += 64) {
		double sum = 0;

		for (u32 x = 0; x < k; x++)
			sum = __builtin_fma(a[(m0 + t / 16) * k + x], b[t % 16 * k + x], sum);
		c[m0 * 16 + t] = sum;
	}
#else
	u32 l = lane(), r = l % 16;
	d4 acc = 0;

	for (u32 x = 0; x < k; x += 4)
		acc = __builtin_amdgcn_mfma_f64_16x16x4f64(a[(m0 + r) * k + x + l / 16], b[r * k + x + l / 16], acc, 0, 0, 0);
	for (u32 i = 0; i < 4; i++)
		c[(m0 + i * 4 + l / 16) * 16 + r] = acc[i];
#endif
}
#endif
