/* The largest value of each wave and where it stands: pairs through ds_bpermute, ties to the first. */
// launch: grid=2 block=128 args=in:f32:1024:-20..20/8 out:f32:8 out:u32:8 u32:512
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *in = arg[0];
	float *best = arg[1];
	u32 *where = arg[2], n = *(const u32 *)arg[3], waves = 128 / WAVE;

	for (u32 g = 0; g < groups; g++)
		for (u32 w = 0; w < waves; w++) {
			u32 at = w * WAVE;

			for (u32 i = 0; i < n; i++)
				if (i % 128 / WAVE == w &&
				    (in[g * n + i] > in[g * n + at] || (in[g * n + i] == in[g * n + at] && i < at)))
					at = i;
			best[g * waves + w] = in[g * n + at];
			where[g * waves + w] = at;
		}
}
#else
KERNEL(128) void argmax(const GLOBAL float *in, GLOBAL float *best, GLOBAL u32 *where, u32 n)
{
	u32 t = lane(), at = t, row = group() * n;
	float v = in[row + t];

	for (u32 i = t + 128; i < n; i += 128) {
		float x = in[row + i];

		if (x > v) {
			v = x;
			at = i;
		}
	}
	for (u32 m = 1; m < WAVE; m *= 2) {
		float x = lane_float(v, t ^ m);
		u32 i = (u32)__builtin_amdgcn_ds_bpermute((int)((t ^ m) * 4), (int)at);

		if (x > v || (x == v && i < at)) {
			v = x;
			at = i;
		}
	}
	if (t % WAVE == 0) {
		best[(row / n * 128 + t) / WAVE] = v;
		where[(row / n * 128 + t) / WAVE] = at;
	}
}
#endif
