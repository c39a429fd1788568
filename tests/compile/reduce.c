/* Sums through LDS and atomics of LDS and global memory, with a count by ballot. */
#include "kernel.h"

SHARED float part[256];
SHARED u32 hits;

KERNEL(256) void reduce(const GLOBAL float *in, GLOBAL float *sum, GLOBAL u32 *count, GLOBAL u64 *largest, u32 n)
{
	u32 t = lane();
	float v = 0;
	u64 best = 0;

	if (t == 0)
		hits = 0;
	barrier();
	for (u32 i = t; i < n; i += 256) {
		float x = in[i];

		v += x;
		if (x > 0.5f)
			__atomic_fetch_add(&hits, 1u, __ATOMIC_RELAXED);
		best = best > (u64)i * 3 ? best : (u64)i * 3;
	}
	part[t] = v;
	barrier();
	for (u32 s = 128; s; s /= 2) {
		if (t < s)
			part[t] += part[t + s];
		barrier();
	}
	if (t == 0) {
		sum[__builtin_amdgcn_workgroup_id_x()] = part[0] / (float)n;
		__atomic_fetch_add(count, hits, __ATOMIC_RELAXED);
	}
	__atomic_fetch_max(largest, best, __ATOMIC_RELAXED);
}
