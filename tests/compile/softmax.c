/* Rows of an attention score: maximum, exponential, sum; lanes exchanged by DPP and permutes. */
// launch: grid=2 block=64 args=in:f32:1024 out:f32:1024:4e-6 f32:1.5 u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *a, u32 groups)
{
	const float *in = a[0];
	float *out = a[1], scale = *(const float *)a[2];
	u32 n = *(const u32 *)a[3] * 4;

	/* Lanes of a half that exchange with each other: 32, each with its own columns. */
	for (u32 row = 0; row < groups; row++)
		for (u32 half = 0; half < 2; half++) {
			double top = -1e30, sum = 0;

			for (u32 i = 0; i < n; i++)
				if (i / 4 % 64 / 32 == half)
					top = fmax(top, in[row * n + i] * scale);
			for (u32 i = 0; i < n; i++)
				if (i / 4 % 64 / 32 == half)
					sum += exp(in[row * n + i] * scale - top);
			for (u32 i = 0; i < n; i++)
				if (i / 4 % 64 / 32 == half)
					out[row * n + i] = (float)(exp(in[row * n + i] * scale - top) / sum);
		}
}
#else
static inline float across(float v, int mask)
{
	return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((int)((lane() ^ (u32)mask) * 4), __builtin_bit_cast(int, v)));
}

static inline float next_lane(float v)
{
	return __builtin_bit_cast(float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, v), 0xb1, 0xf, 0xf, 1));
}

KERNEL(64) void softmax(const GLOBAL f4 *in, GLOBAL f4 *out, float scale, u32 n)
{
	u32 row = __builtin_amdgcn_workgroup_id_x() * n;
	float top = -3.0e38f, sum = 0;

	for (u32 i = lane(); i < n; i += 64) {
		f4 v = in[row + i] * scale;

		top = __builtin_fmaxf(top, __builtin_fmaxf(__builtin_fmaxf(v.x, v.y), __builtin_fmaxf(v.z, v.w)));
	}
	top = __builtin_fmaxf(top, next_lane(top));
	for (int m = 2; m < 32; m *= 2)
		top = __builtin_fmaxf(top, across(top, m));
	for (u32 i = lane(); i < n; i += 64) {
		f4 v = in[row + i] * scale - top;

		for (int k = 0; k < 4; k++)
			v[k] = __builtin_amdgcn_exp2f(v[k] * 1.44269504f);
		sum += v.x + v.y + v.z + v.w;
		out[row + i] = v;
	}
	sum += next_lane(sum);
	for (int m = 2; m < 32; m *= 2)
		sum += across(sum, m);
	for (u32 i = lane(); i < n; i += 64)
		out[row + i] = out[row + i] * __builtin_amdgcn_rcpf(sum);
}
#endif
