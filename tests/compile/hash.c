/* Hashes of 32 and 64 bits over rows of words: multiplies, rotations, xor. */
// launch: grid=2 block=64 args=in:u32:2048 out:u32:128 out:u64:128 u32:16
#include "kernel.h"

static inline u32 hash32(u32 h, u32 w)
{
	h ^= w * 0xcc9e2d51u;
	h = h << 13 | h >> 19;
	h = h * 5 + 0xe6546b64u;
	return h ^ h >> 16;
}

static inline u64 hash64(u64 h, u32 w)
{
	h = (h ^ w) * 0x9e3779b97f4a7c15ull;
	return (h << 27 | h >> 37) + 0x52dce729u;
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *small = arg[1], n = *(const u32 *)arg[3];
	u64 *large = arg[2];

	for (u32 i = 0; i < groups * 64; i++) {
		u32 h = i;
		u64 l = ~(u64)i;

		for (u32 k = 0; k < n; k++) {
			h = hash32(h, in[i * n + k]);
			l = hash64(l, in[i * n + k]);
		}
		small[i] = h;
		large[i] = l;
	}
}
#else
KERNEL(64) void hash(const GLOBAL u32 *in, GLOBAL u32 *small, GLOBAL u64 *large, u32 n)
{
	u32 i = group() * 64 + lane(), h = i;
	u64 l = ~(u64)i;

	for (u32 k = 0; k < n; k++) {
		u32 w = in[i * n + k];

		h = hash32(h, w);
		l = hash64(l, w);
	}
	small[i] = h;
	large[i] = l;
}
#endif
