/* Several steps of a five-point stencil on a grid of 16 x 16 in LDS; a thread a point, two dimensions of threads. */
// launch: grid=2 block=16,16 args=in:f32:512 out:f32:512 u32:5
#include "kernel.h"

static inline float stencil_point(float c, float n, float s, float w, float e)
{
	return c * 0.5f + ((n + s) + (w + e)) * 0.125f;
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *in = arg[0];
	float *out = arg[1], v[2][256];
	u32 steps = *(const u32 *)arg[2];

	for (u32 g = 0; g < groups; g++) {
		memcpy(v[0], in + g * 256, sizeof(v[0]));
		for (u32 i = 0; i < steps; i++)
			for (u32 y = 0; y < 16; y++)
				for (u32 x = 0; x < 16; x++) {
					const float *c = v[i & 1] + y * 16 + x;

					v[(i + 1) & 1][y * 16 + x] = stencil_point(*c, y ? c[-16] : 0, y < 15 ? c[16] : 0, x ? c[-1] : 0,
										   x < 15 ? c[1] : 0);
				}
		memcpy(out + g * 256, v[steps & 1], sizeof(v[0]));
	}
}
#else
SHARED float field[2][256];

KERNEL(256) void stencil(const GLOBAL float *in, GLOBAL float *out, u32 steps)
{
	u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), at = y * 16 + x;
	float v = in[group() * 256 + at];

	for (u32 i = 0; i < steps; i++) {
		LDS float *f = field[i & 1];

		f[at] = v;
		barrier();
		v = stencil_point(v, y ? f[at - 16] : 0, y < 15 ? f[at + 16] : 0, x ? f[at - 1] : 0, x < 15 ? f[at + 1] : 0);
	}
	out[group() * 256 + at] = v;
}
#endif
