/* Running sums of a workgroup: LDS steps of doubled distance between barriers, two buffers in turn. */
// launch: grid=2 block=256 args=in:u32:512 out:u32:512
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *out = arg[1], sum = 0;

	for (u32 i = 0; i < groups * 256; i++) {
		sum = i % 256 ? sum + in[i] : in[i];
		out[i] = sum;
	}
}
#else
SHARED u32 running[2][256];

KERNEL(256) void scan(const GLOBAL u32 *in, GLOBAL u32 *out)
{
	u32 t = lane(), at = group() * 256 + t, v = in[at], from = 0;

	running[0][t] = v;
	for (u32 d = 1; d < 256; d *= 2) {
		barrier();
		if (t >= d)
			v += running[from][t - d];
		from ^= 1;
		running[from][t] = v;
	}
	out[at] = v;
}
#endif
