/* Atomics on global memory, with and without the old value: sums, minima, bits, exchange by comparison, 64 bits. */
// launch: grid=2 block=128 args=in:u32:256:0..1000 io:u32:4:500..500 io:u64:2:0..0 io:u32:256:0..0 out:u32:256
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *word = arg[1], *slot = arg[3], *was = arg[4];
	u64 *large = arg[2];

	for (u32 i = 0; i < groups * 128; i++) {
		word[0] += in[i];
		word[1] = in[i] < word[1] ? in[i] : word[1];
		word[2] |= 1u << (in[i] & 31);
		word[3] = in[i] > word[3] ? in[i] : word[3];
		large[0] += (u64)in[i] << 24;
		large[1] ^= (u64)in[i] * 0x100000001ull;
		slot[i] = in[i] & 1 ? 0 : in[i];
		was[i] = in[i] & 1 ? in[i] : 0;
	}
}
#else
KERNEL(128) void atomics(const GLOBAL u32 *in, GLOBAL u32 *word, GLOBAL u64 *large, GLOBAL u32 *slot, GLOBAL u32 *was)
{
	u32 i = group() * 128 + lane(), v = in[i], zero = 0;

	__atomic_fetch_add(&word[0], v, __ATOMIC_RELAXED);
	__atomic_fetch_min(&word[1], v, __ATOMIC_RELAXED);
	__atomic_fetch_or(&word[2], 1u << (v & 31), __ATOMIC_RELAXED);
	__atomic_fetch_max(&word[3], v, __ATOMIC_RELAXED);
	__atomic_fetch_add(&large[0], (u64)v << 24, __ATOMIC_RELAXED);
	__atomic_fetch_xor(&large[1], (u64)v * 0x100000001ull, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&slot[i], &zero, v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	was[i] = v & 1 ? __atomic_exchange_n(&slot[i], 0, __ATOMIC_RELAXED) : zero;
}
#endif
