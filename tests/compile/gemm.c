/* C = A * B^T in f16, tiles of 64 x 64 by four waves, through two LDS buffers; in phase, with priorities. */
// launch: grid=2 block=256 args=in:f16:16384:-8..8/8 in:f16:8192:-8..8/8 out:f32:8192 i32:4
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u16 *a = arg[0], *b = arg[1];
	float *c = arg[2];
	u32 k = (u32)*(const i32 *)arg[3] * 32;

	for (u32 g = 0; g < groups; g++)
		for (u32 i = 0; i < 64; i++)
			for (u32 j = 0; j < 64; j++) {
				float sum = 0;

				for (u32 x = 0; x < k; x++)
					sum += (float)(half_value(a[(g * 64 + i) * k + x]) * half_value(b[j * k + x]));
				c[(g * 64 + i) * 64 + j] = sum;
			}
}
#else
#define ROW 40 /* halves of a row of a tile in LDS: 32 and a pad */

SHARED half gemm_a[2][64 * ROW], gemm_b[2][64 * ROW];

/* With blocks of 256 threads a thread brings 8 halves of a row of A, and of B. */
KERNEL(256) void gemm(const GLOBAL half *a, const GLOBAL half *b, GLOBAL float *c, int steps)
{
	u32 t = lane(), row = t / 4, col = t % 4 * 8, k = (u32)steps * 32;
	const GLOBAL half *pa = a + (group() * 64 + row) * k + col, *pb = b + row * k + col;
	u32 l = t % WAVE, wave = t / WAVE, r = l % 16;
#if defined(__gfx1250__)
	f8 acc[2] = { 0 };
	u32 m0 = wave / 2 * 16, n0 = wave % 2 * 32; /* eight waves of 16 x 32 */
#else
	f4 acc[4] = { 0 };
	u32 m0 = wave * 16;
#endif

	*(LDS h8 *)&gemm_a[0][row * ROW + col] = *(const GLOBAL h8 *)pa;
	*(LDS h8 *)&gemm_b[0][row * ROW + col] = *(const GLOBAL h8 *)pb;
	barrier();
	for (int i = 0; i < steps; i++) {
		const LDS half *fa = gemm_a[i & 1], *fb = gemm_b[i & 1];
		h8 na = 0, nb = 0;

		if (i + 1 < steps) {
			na = *(const GLOBAL h8 *)(pa + (i + 1) * 32);
			nb = *(const GLOBAL h8 *)(pb + (i + 1) * 32);
		}
		__builtin_amdgcn_s_setprio(1);
#if defined(__gfx1250__)
		u32 q = l / 16 * 8;
		h8 x0 = *(const LDS h8 *)(fa + (m0 + r) * ROW + q), x1 = *(const LDS h8 *)(fa + (m0 + r) * ROW + 16 + q);
		h16 x = __builtin_shufflevector(x0, x1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

		for (u32 j = 0; j < 2; j++) {
			u32 n = n0 + j * 16 + r;
			h8 y0 = *(const LDS h8 *)(fb + n * ROW + q), y1 = *(const LDS h8 *)(fb + n * ROW + 16 + q);
			h16 y = __builtin_shufflevector(y0, y1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

			acc[j] = __builtin_amdgcn_wmma_f32_16x16x32_f16(0, x, 0, y, (short)0, acc[j], 0, 0);
		}
#elif defined(__gfx950__)
		h8 x = *(const LDS h8 *)(fa + (m0 + r) * ROW + l / 16 * 8);

		for (u32 j = 0; j < 4; j++)
			acc[j] = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, *(const LDS h8 *)(fb + (j * 16 + r) * ROW + l / 16 * 8), acc[j], 0, 0, 0);
#else
		for (u32 s = 0; s < 32; s += 16) {
			h4 x = *(const LDS h4 *)(fa + (m0 + r) * ROW + s + l / 16 * 4);

			for (u32 j = 0; j < 4; j++)
				acc[j] = __builtin_amdgcn_mfma_f32_16x16x16f16(x, *(const LDS h4 *)(fb + (j * 16 + r) * ROW + s + l / 16 * 4),
									       acc[j], 0, 0, 0);
		}
#endif
		__builtin_amdgcn_s_setprio(0);
		if (i + 1 < steps) {
			*(LDS h8 *)&gemm_a[(i + 1) & 1][row * ROW + col] = na;
			*(LDS h8 *)&gemm_b[(i + 1) & 1][row * ROW + col] = nb;
		}
		barrier();
	}
#if defined(__gfx1250__)
	for (u32 j = 0; j < 2; j++)
		for (u32 i = 0; i < 8; i++)
			c[(group() * 64 + m0 + l / 16 * 8 + i) * 64 + n0 + j * 16 + r] = acc[j][i];
#else
	for (u32 j = 0; j < 4; j++)
		for (u32 i = 0; i < 4; i++)
			c[(group() * 64 + m0 + l / 16 * 4 + i) * 64 + j * 16 + r] = acc[j][i];
#endif
}
#endif
