/* A bitonic sort of 512 keys in LDS. */
// launch: grid=2 block=256 args=io:i32:1024
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	for (u32 g = 0; g < groups; g++) {
		i32 *k = (i32 *)arg[0] + g * 512;

		for (u32 i = 1; i < 512; i++)
			for (u32 j = i; j && k[j - 1] > k[j]; j--) {
				i32 x = k[j];

				k[j] = k[j - 1];
				k[j - 1] = x;
			}
	}
}
#else
SHARED int key[512];

KERNEL(256) void sort(GLOBAL int *keys)
{
	u32 t = lane(), at = group() * 512;

	key[t] = keys[at + t];
	key[t + 256] = keys[at + t + 256];
	for (u32 size = 2; size <= 512; size *= 2)
		for (u32 d = size / 2; d; d /= 2) {
			u32 i = (t & ~(d - 1)) * 2 + (t & (d - 1));
			int a, b;

			barrier();
			a = key[i];
			b = key[i + d];
			if ((a > b) == ((i & size) == 0)) {
				key[i] = b;
				key[i + d] = a;
			}
		}
	barrier();
	keys[at + t] = key[t];
	keys[at + t + 256] = key[t + 256];
}
#endif
