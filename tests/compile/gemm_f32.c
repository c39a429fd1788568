/* C = A * B^T in single precision with the matrix unit. */
// launch: grid=1 block=64 args=in:f32:512:-64..64/8 in:f32:1024:-64..64/8 out:f32:512 u32:32
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *a = arg[0], *b = arg[1];
	float *c = arg[2];
	u32 k = *(const u32 *)arg[3];

	for (u32 i = 0; i < groups * 16; i++)
		for (u32 j = 0; j < 32; j++) {
			float sum = 0;

			for (u32 x = 0; x < k; x++)
				sum += a[i * k + x] * b[j * k + x];
			c[i * 32 + j] = sum;
		}
}
#else
KERNEL(64) void gemm_f32(const GLOBAL float *a, const GLOBAL float *b, GLOBAL float *c, u32 k)
{
	u32 l = lane() % WAVE, r = l % 16, m0 = group() * 16;

	for (u32 n0 = lane() / WAVE * 16; n0 < 32; n0 += 64 / WAVE * 16) {
#if defined(__gfx1250__)
		f8 acc = 0;

		for (u32 x = 0; x < k; x += 4)
			acc = __builtin_amdgcn_wmma_f32_16x16x4_f32(0, *(const GLOBAL f2 *)(a + (m0 + r) * k + x + l / 16 * 2), 0,
								    *(const GLOBAL f2 *)(b + (n0 + r) * k + x + l / 16 * 2), (short)0, acc,
								    0, 0);
		for (u32 i = 0; i < 8; i++)
			c[(m0 + l / 16 * 8 + i) * 32 + n0 + r] = acc[i];
#else
		f4 acc = 0;

		for (u32 x = 0; x < k; x += 4)
			acc = __builtin_amdgcn_mfma_f32_16x16x4f32(a[(m0 + r) * k + x + l / 16], b[(n0 + r) * k + x + l / 16], acc, 0, 0, 0);
		for (u32 i = 0; i < 4; i++)
			c[(m0 + l / 16 * 4 + i) * 32 + n0 + r] = acc[i];
#endif
	}
}
#endif
