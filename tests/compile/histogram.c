/* Counts of bytes: LDS atomics in each workgroup, then global ones. */
// launch: grid=2 block=256 args=in:u8:4096 io:u32:256:0..0 u32:4096
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u8 *in = arg[0];
	u32 *count = arg[1], n = *(const u32 *)arg[2];

	(void)groups;
	for (u32 i = 0; i < n; i++)
		count[in[i]]++;
}
#else
SHARED u32 bin[256];

KERNEL(256) void histogram(const GLOBAL u32 *in, GLOBAL u32 *count, u32 n)
{
	u32 t = lane();

	bin[t] = 0;
	barrier();
	for (u32 i = group() * 256 + t; i < n / 4; i += 512) {
		u32 w = in[i];

		for (u32 k = 0; k < 4; k++)
			__atomic_fetch_add(&bin[w >> (8 * k) & 255], 1u, __ATOMIC_RELAXED);
	}
	barrier();
	if (bin[t])
		__atomic_fetch_add(&count[t], bin[t], __ATOMIC_RELAXED);
}
#endif
