/* C = A * B^T in bf16, the result rounded to bf16; 16 x 16 a wave, four waves side by side in N. */
// launch: grid=1 block=256 args=in:bf16:2048:-8..8/8 in:bf16:16384:-8..8/8 out:bf16:2048 u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u16 *a = arg[0], *b = arg[1];
	u16 *c = arg[2];
	u32 k = *(const u32 *)arg[3], n = 128;

	for (u32 i = 0; i < groups * 16; i++)
		for (u32 j = 0; j < n; j++) {
			float sum = 0;

			for (u32 x = 0; x < k; x++)
				sum += bfloat_value(a[i * k + x]) * bfloat_value(b[j * k + x]);
			c[i * n + j] = bfloat_of(sum);
		}
}
#else
/* Blocks of 256 threads: 4 waves with two tiles each, or 8 waves with one. */
KERNEL(256) void gemm_bf16(const GLOBAL __bf16 *a, const GLOBAL __bf16 *b, GLOBAL __bf16 *c, u32 k)
{
	u32 l = lane() % WAVE, r = l % 16, m0 = group() * 16, waves = 256 / WAVE;

	for (u32 n0 = lane() / WAVE * 16; n0 < 128; n0 += waves * 16) {
#if defined(__gfx1250__)
		f8 acc = 0;

		for (u32 x = 0; x < k; x += 32) {
			const GLOBAL __bf16 *pa = a + (m0 + r) * k + x + l / 16 * 8, *pb = b + (n0 + r) * k + x + l / 16 * 8;
			b16 va = __builtin_shufflevector(*(const GLOBAL b8 *)pa, *(const GLOBAL b8 *)(pa + 16), 0, 1, 2, 3, 4, 5, 6, 7, 8,
							 9, 10, 11, 12, 13, 14, 15);
			b16 vb = __builtin_shufflevector(*(const GLOBAL b8 *)pb, *(const GLOBAL b8 *)(pb + 16), 0, 1, 2, 3, 4, 5, 6, 7, 8,
							 9, 10, 11, 12, 13, 14, 15);

			acc = __builtin_amdgcn_wmma_f32_16x16x32_bf16(0, va, 0, vb, (short)0, acc, 0, 0);
		}
		for (u32 i = 0; i < 8; i++)
			c[(m0 + l / 16 * 8 + i) * 128 + n0 + r] = (__bf16)acc[i];
#else
		f4 acc = 0;

#if defined(__gfx950__)
		for (u32 x = 0; x < k; x += 32)
			acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(*(const GLOBAL b8 *)(a + (m0 + r) * k + x + l / 16 * 8),
								      *(const GLOBAL b8 *)(b + (n0 + r) * k + x + l / 16 * 8), acc, 0, 0, 0);
#else
		for (u32 x = 0; x < k; x += 16)
			acc = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(*(const GLOBAL s4 *)(a + (m0 + r) * k + x + l / 16 * 4),
									*(const GLOBAL s4 *)(b + (n0 + r) * k + x + l / 16 * 4), acc, 0, 0, 0);
#endif
		for (u32 i = 0; i < 4; i++)
			c[(m0 + l / 16 * 4 + i) * 128 + n0 + r] = (__bf16)acc[i];
#endif
	}
}
#endif
