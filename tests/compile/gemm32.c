/* C = A * B^T in f16 with the 32 x 32 instruction, operands straight from global memory; one wave a tile. */
// launch: grid=3 block=64 args=in:f16:6144:-8..8/8 in:f16:2048:-8..8/8 out:f32:3072 u32:64
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u16 *a = arg[0], *b = arg[1];
	float *c = arg[2];
	u32 k = *(const u32 *)arg[3];

	for (u32 i = 0; i < groups * 32; i++)
		for (u32 j = 0; j < 32; j++) {
			float sum = 0;

			for (u32 x = 0; x < k; x++)
				sum += (float)(half_value(a[i * k + x]) * half_value(b[j * k + x]));
			c[i * 32 + j] = sum;
		}
}
#else
KERNEL(64) void gemm32(const GLOBAL half *a, const GLOBAL half *b, GLOBAL float *c, u32 k)
{
	u32 l = lane() % WAVE, m0 = group() * 32;

#if defined(__gfx1250__)
	/* Two waves: each has 16 rows and all 32 columns. */
	f8 acc[2] = { 0 };
	u32 r = l % 16, q = l / 16 * 8, mr = m0 + lane() / WAVE * 16;

	for (u32 x = 0; x < k; x += 32) {
		const GLOBAL half *pa = a + (mr + r) * k + x + q;
		h16 va = __builtin_shufflevector(*(const GLOBAL h8 *)pa, *(const GLOBAL h8 *)(pa + 16), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
						 11, 12, 13, 14, 15);

		for (u32 j = 0; j < 2; j++) {
			const GLOBAL half *pb = b + (j * 16 + r) * k + x + q;
			h16 vb = __builtin_shufflevector(*(const GLOBAL h8 *)pb, *(const GLOBAL h8 *)(pb + 16), 0, 1, 2, 3, 4, 5, 6, 7, 8,
							 9, 10, 11, 12, 13, 14, 15);

			acc[j] = __builtin_amdgcn_wmma_f32_16x16x32_f16(0, va, 0, vb, (short)0, acc[j], 0, 0);
		}
	}
	for (u32 j = 0; j < 2; j++)
		for (u32 i = 0; i < 8; i++)
			c[(mr + l / 16 * 8 + i) * 32 + j * 16 + r] = acc[j][i];
#else
	f16v acc = { 0 };
	u32 r = l % 32;

#if defined(__gfx950__)
	for (u32 x = 0; x < k; x += 16)
		acc = __builtin_amdgcn_mfma_f32_32x32x16_f16(*(const GLOBAL h8 *)(a + (m0 + r) * k + x + l / 32 * 8),
							     *(const GLOBAL h8 *)(b + r * k + x + l / 32 * 8), acc, 0, 0, 0);
#else
	for (u32 x = 0; x < k; x += 8)
		acc = __builtin_amdgcn_mfma_f32_32x32x8f16(*(const GLOBAL h4 *)(a + (m0 + r) * k + x + l / 32 * 4),
							   *(const GLOBAL h4 *)(b + r * k + x + l / 32 * 4), acc, 0, 0, 0);
#endif
	for (u32 i = 0; i < 16; i++)
		c[(m0 + i / 4 * 8 + l / 32 * 4 + i % 4) * 32 + r] = acc[i];
#endif
}
#endif
