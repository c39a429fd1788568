/* Registers as the middle stage of a pipeline: load two pieces ahead, store to LDS one ahead, three buffers. */
// launch: grid=1 block=256 args=in:f32:8192:-64..64/8 out:f32:1024 u32:8
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *in = arg[0];
	float *out = arg[1];
	u32 n = *(const u32 *)arg[2];

	(void)groups;
	for (u32 t = 0; t < 1024; t++) {
		out[t] = 0;
		for (u32 i = 0; i < n; i++)
			out[t] = out[t] * 0.5f + in[i * 1024 + (((t / 4) ^ 65) & 255) * 4 + (t & 3)];
	}
}
#else
SHARED f4 flow[3][256];

KERNEL(256) void pipeline(const GLOBAL f4 *in, GLOBAL f4 *out, u32 n)
{
	u32 t = lane(), slot = 0;
	f4 first = in[t], second = n > 1 ? in[256 + t] : 0, acc = 0;

	flow[0][t] = first;
	barrier();
	for (u32 i = 0; i < n; i++) {
		u32 next = slot == 2 ? 0 : slot + 1;

		first = second;
		if (i + 2 < n)
			second = in[(i + 2) * 256 + t];
		acc = acc * 0.5f + flow[slot][(t ^ 65) & 255];
		if (i + 1 < n)
			flow[next][t] = first;
		barrier();
		slot = next;
	}
	out[t] = acc;
}
#endif
