/* C = A * B^T in fp8 (E4M3), 16 x 16 a wave. */
// launch: grid=2 block=64 args=in:u8:4096:0..95 in:u8:4096:0..95 out:f32:1024:1e-6 u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u8 *a = arg[0], *b = arg[1];
	float *c = arg[2];
	u32 k = *(const u32 *)arg[3];

	for (u32 i = 0; i < groups * 16; i++)
		for (u32 j = 0; j < 32; j++) {
			double sum = 0;

			for (u32 x = 0; x < k; x++)
				sum += fp8_value(a[i * k + x]) * fp8_value(b[j * k + x]);
			c[i * 32 + j] = (float)sum;
		}
}
#else
KERNEL(64) void gemm_fp8(const GLOBAL u8 *a, const GLOBAL u8 *b, GLOBAL float *c, u32 k)
{
	u32 l = lane() % WAVE, r = l % 16, m0 = group() * 16;

	for (u32 n0 = lane() / WAVE * 16; n0 < 32; n0 += 64 / WAVE * 16) {
#if defined(__gfx1250__)
		f8 acc = 0;

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
			acc = __builtin_amdgcn_wmma_f32_16x16x64_fp8_fp8(va, vb, (short)0, acc, 0, 0);
		}
		for (u32 i = 0; i < 8; i++)
			c[(m0 + l / 16 * 8 + i) * 32 + n0 + r] = acc[i];
#else
		f4 acc = 0;

		for (u32 x = 0; x < k; x += 32)
			acc = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(*(const GLOBAL long *)(a + (m0 + r) * k + x + l / 16 * 8),
									 *(const GLOBAL long *)(b + (n0 + r) * k + x + l / 16 * 8), acc, 0, 0, 0);
		for (u32 i = 0; i < 4; i++)
			c[(m0 + l / 16 * 4 + i) * 32 + n0 + r] = acc[i];
#endif
	}
}
#endif
