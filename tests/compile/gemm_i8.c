/* C = A * B^T in signed bytes with 32-bit sums. */
// launch: grid=2 block=64 args=in:i8:4096 in:i8:4096 out:i32:1024 u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const i8 *a = arg[0], *b = arg[1];
	i32 *c = arg[2];
	u32 k = *(const u32 *)arg[3];

	for (u32 i = 0; i < groups * 16; i++)
		for (u32 j = 0; j < 32; j++) {
			i32 sum = 0;

			for (u32 x = 0; x < k; x++)
				sum += a[i * k + x] * b[j * k + x];
			c[i * 32 + j] = sum;
		}
}
#else
KERNEL(64) void gemm_i8(const GLOBAL i8 *a, const GLOBAL i8 *b, GLOBAL i32 *c, u32 k)
{
	u32 l = lane() % WAVE, r = l % 16, m0 = group() * 16;

	for (u32 n0 = lane() / WAVE * 16; n0 < 32; n0 += 64 / WAVE * 16) {
#if defined(__gfx1250__)
		i8v acc = 0;

		for (u32 x = 0; x < k; x += 64) {
			i8v va, vb;

			for (u32 s = 0; s < 4; s++) {
				i2 pa = *(const GLOBAL i2 *)(a + (m0 + r) * k + x + s * 16 + l / 16 * 8);
				i2 pb = *(const GLOBAL i2 *)(b + (n0 + r) * k + x + s * 16 + l / 16 * 8);

				va[s * 2] = pa.x;
				va[s * 2 + 1] = pa.y;
				vb[s * 2] = pb.x;
				vb[s * 2 + 1] = pb.y;
			}
			acc = __builtin_amdgcn_wmma_i32_16x16x64_iu8(1, va, 1, vb, acc, 0, 0);
		}
		for (u32 i = 0; i < 8; i++)
			c[(m0 + l / 16 * 8 + i) * 32 + n0 + r] = acc[i];
#else
		i4 acc = 0;

		for (u32 x = 0; x < k; x += 32)
			acc = __builtin_amdgcn_mfma_i32_16x16x32_i8(*(const GLOBAL long *)(a + (m0 + r) * k + x + l / 16 * 8),
								    *(const GLOBAL long *)(b + (n0 + r) * k + x + l / 16 * 8), acc, 0, 0, 0);
		for (u32 i = 0; i < 4; i++)
			c[(m0 + l / 16 * 4 + i) * 32 + n0 + r] = acc[i];
#endif
	}
}
#endif
