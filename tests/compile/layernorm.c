/* Rows to mean 0 and variance 1, scaled and shifted: two sums across a workgroup. */
// launch: grid=3 block=128 args=in:f32:1536 in:f32:512 in:f32:512 out:f32:1536:4e-6 f32:0.001
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *x = arg[0], *gain = arg[1], *shift = arg[2];
	float *out = arg[3], eps = *(const float *)arg[4];

	for (u32 g = 0; g < groups; g++) {
		double mean = 0, var = 0;

		for (u32 i = 0; i < 512; i++)
			mean += x[g * 512 + i] / 512;
		for (u32 i = 0; i < 512; i++)
			var += (x[g * 512 + i] - mean) * (x[g * 512 + i] - mean) / 512;
		for (u32 i = 0; i < 512; i++)
			out[g * 512 + i] = (float)((x[g * 512 + i] - mean) / sqrt(var + eps) * gain[i] + shift[i]);
	}
}
#else
SHARED float norm_part[128];

static inline float norm_sum(float v)
{
	u32 t = lane();

	norm_part[t] = v;
	for (u32 s = 64; s; s /= 2) {
		barrier();
		if (t < s)
			norm_part[t] += norm_part[t + s];
	}
	barrier();
	v = norm_part[0];
	barrier();
	return v;
}

KERNEL(128) void layernorm(const GLOBAL f4 *x, const GLOBAL f4 *gain, const GLOBAL f4 *shift, GLOBAL f4 *out, float eps)
{
	u32 t = lane(), at = group() * 128 + t;
	f4 v = x[at], c;
	float mean = norm_sum(v.x + v.y + v.z + v.w) * (1.0f / 512), var;

	c = v - mean;
	var = norm_sum(c.x * c.x + c.y * c.y + c.z * c.z + c.w * c.w) * (1.0f / 512);
	out[at] = c * (1.0f / __builtin_sqrtf(var + eps)) * gain[t] + shift[t];
}
#endif
