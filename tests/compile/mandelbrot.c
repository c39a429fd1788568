/* Iterations until a point escapes: loops of different lengths in single precision. */
// launch: grid=2,4 block=32,4 args=out:u32:1024 f32:0.046875 u32:60
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	u32 *out = arg[0], most = *(const u32 *)arg[2];
	float step = *(const float *)arg[1];

	(void)groups;
	for (u32 y = 0; y < 16; y++)
		for (u32 x = 0; x < 64; x++) {
			float cr = (float)x * step - 2, ci = (float)y * step - 0.375f, r = 0, i = 0;
			u32 n = 0;

			while (n < most && r * r + i * i <= 4) {
				float next = (r * r - i * i) + cr;

				i = 2 * r * i + ci;
				r = next;
				n++;
			}
			out[y * 64 + x] = n;
		}
}
#else
KERNEL(128) void mandelbrot(GLOBAL u32 *out, float step, u32 most)
{
	u32 x = group() * 32 + __builtin_amdgcn_workitem_id_x();
	u32 y = __builtin_amdgcn_workgroup_id_y() * 4 + __builtin_amdgcn_workitem_id_y(), n = 0;
	float cr = (float)x * step - 2, ci = (float)y * step - 0.375f, r = 0, i = 0;

	while (n < most && r * r + i * i <= 4) {
		float next = (r * r - i * i) + cr;

		i = 2 * r * i + ci;
		r = next;
		n++;
	}
	out[y * 64 + x] = n;
}
#endif
