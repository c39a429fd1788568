/* A matrix product through LDS, with the matrix instruction of each target, and an in-phase loop of two buffers. */
#include "kernel.h"

SHARED h8 tile[2][1024];

KERNEL(256) void gemm(const GLOBAL h8 *a, const GLOBAL h8 *b, GLOBAL float *c, int steps)
{
	u32 t = lane(), g = __builtin_amdgcn_workgroup_id_x();
	LDS h8 *to = tile[0], *from = tile[1];
#if defined(__gfx1250__)
	f8 acc[4] = { 0 };
#else
	f4 acc[4] = { 0 };
#endif

	to[t] = a[g * 4096 + t];
	to[t + 256] = b[g * 4096 + t];
	barrier();
	for (int i = 1; i < steps; i++) {
		LDS h8 *swap = to;
		h8 na = a[g * 4096 + (u32)i * 256 + t], nb = b[g * 4096 + (u32)i * 256 + t];

		to = from;
		from = swap;
		__builtin_amdgcn_s_setprio(1);
		for (int j = 0; j < 4; j++) {
			h8 x = from[(t + (u32)j * 16) & 255], y = from[256 + ((t ^ (u32)j) & 255)];
#if defined(__gfx950__)
			acc[j] = __builtin_amdgcn_mfma_f32_16x16x32_f16(x, y, acc[j], 0, 0, 0);
#elif defined(__gfx1250__)
			h16 xx = __builtin_shufflevector(x, y, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

			acc[j] = __builtin_amdgcn_wmma_f32_16x16x32_f16(0, xx, 0, xx, (short)0, acc[j], 0, 0);
#else
			acc[j] = __builtin_amdgcn_mfma_f32_16x16x16f16(x.lo, y.lo, acc[j], 0, 0, 0);
			acc[j] = __builtin_amdgcn_mfma_f32_16x16x16f16(x.hi, y.hi, acc[j], 0, 0, 0);
#endif
		}
		__builtin_amdgcn_s_setprio(0);
		to[t] = na;
		to[t + 256] = nb;
		barrier();
	}
	for (int j = 0; j < 4; j++)
		for (int k = 0; k < 4; k++)
			c[g * 4096 + (u32)(j * 4 + k) * 256 + t] = acc[j][k];
}
