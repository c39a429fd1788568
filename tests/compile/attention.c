/* One wave: scores of 16 queries and 64 keys by the matrix unit, a softmax by rows through LDS, the values' sum. */
// launch: grid=2 block=64 args=in:f16:1024:-8..8/8 in:f16:2048:-8..8/8 in:f32:2048 out:f32:1024:6e-6 f32:0.25
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u16 *q = arg[0], *k = arg[1];
	const float *v = arg[2];
	float *out = arg[3], scale = *(const float *)arg[4];

	for (u32 i = 0; i < groups * 16; i++) {
		double s[64], top = -1e30, sum = 0;

		for (u32 j = 0; j < 64; j++) {
			s[j] = 0;
			for (u32 x = 0; x < 32; x++)
				s[j] += half_value(q[i * 32 + x]) * half_value(k[j * 32 + x]);
			s[j] *= scale;
			top = fmax(top, s[j]);
		}
		for (u32 j = 0; j < 64; j++)
			sum += s[j] = exp(s[j] - top);
		for (u32 d = 0; d < 32; d++) {
			double x = 0;

			for (u32 j = 0; j < 64; j++)
				x += s[j] / sum * v[j * 32 + d];
			out[i * 32 + d] = (float)x;
		}
	}
}
#else
SHARED float score[16 * 65];

KERNEL(64) void attention(const GLOBAL half *q, const GLOBAL half *k, const GLOBAL float *v, GLOBAL float *out, float scale)
{
	u32 t = lane(), l = t % WAVE, r = l % 16, g = group() * 16;

	for (u32 n0 = t / WAVE * 16; n0 < 64; n0 += 64 / WAVE * 16) {
		const GLOBAL half *pq = q + (g + r) * 32, *pk = k + (n0 + r) * 32;
#if defined(__gfx1250__)
		u32 o = l / 16 * 8;
		h16 x = __builtin_shufflevector(*(const GLOBAL h8 *)(pq + o), *(const GLOBAL h8 *)(pq + 16 + o), 0, 1, 2, 3, 4, 5, 6, 7, 8,
						9, 10, 11, 12, 13, 14, 15);
		h16 y = __builtin_shufflevector(*(const GLOBAL h8 *)(pk + o), *(const GLOBAL h8 *)(pk + 16 + o), 0, 1, 2, 3, 4, 5, 6, 7, 8,
						9, 10, 11, 12, 13, 14, 15);
		f8 acc = __builtin_amdgcn_wmma_f32_16x16x32_f16(0, x, 0, y, (short)0, (f8)0, 0, 0);

		for (u32 i = 0; i < 8; i++)
			score[(l / 16 * 8 + i) * 65 + n0 + r] = acc[i] * scale;
#else
		f4 acc = 0;

#if defined(__gfx950__)
		acc = __builtin_amdgcn_mfma_f32_16x16x32_f16(*(const GLOBAL h8 *)(pq + l / 16 * 8), *(const GLOBAL h8 *)(pk + l / 16 * 8),
							     acc, 0, 0, 0);
#else
		for (u32 x = 0; x < 32; x += 16)
			acc = __builtin_amdgcn_mfma_f32_16x16x16f16(*(const GLOBAL h4 *)(pq + x + l / 16 * 4),
								    *(const GLOBAL h4 *)(pk + x + l / 16 * 4), acc, 0, 0, 0);
#endif
		for (u32 i = 0; i < 4; i++)
			score[(l / 16 * 4 + i) * 65 + n0 + r] = acc[i] * scale;
#endif
	}
	barrier();
	if (t < 16) { /* a row a lane: the pad of one column keeps the banks apart */
		float top = -3e38f, sum = 0;

		for (u32 j = 0; j < 64; j++)
			top = __builtin_fmaxf(top, score[t * 65 + j]);
		for (u32 j = 0; j < 64; j++) {
			float e = __builtin_amdgcn_exp2f((score[t * 65 + j] - top) * 1.44269504f);

			score[t * 65 + j] = e;
			sum += e;
		}
		score[t * 65 + 64] = 1.0f / sum;
	}
	barrier();
	for (u32 o = t; o < 16 * 32; o += 64) {
		float x = 0;

		for (u32 j = 0; j < 64; j++)
			x = __builtin_fmaf(score[o / 32 * 65 + j], v[j * 32 + o % 32], x);
		out[g * 32 + o] = x * score[o / 32 * 65 + 64];
	}
}
#endif
