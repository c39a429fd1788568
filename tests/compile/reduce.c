/* Sums through LDS and atomics of LDS and global memory. */
// launch: grid=2 block=256 args=in:f32:1000 out:f32:2 io:u32:1:0..0 io:u64:1:0..0 u32:1000
#include "kernel.h"

#ifdef HOST
void host(void *const *a, u32 groups)
{
	const float *in = a[0];
	float *sum = a[1], part[256];
	u32 n = *(const u32 *)a[4], hits = 0;

	for (u32 t = 0; t < 256; t++) {
		part[t] = 0;
		for (u32 i = t; i < n; i += 256) {
			part[t] += in[i];
			hits += in[i] > 0.5f;
		}
	}
	for (u32 s = 128; s; s /= 2)
		for (u32 t = 0; t < s; t++)
			part[t] += part[t + s];
	for (u32 g = 0; g < groups; g++) {
		sum[g] = part[0] / (float)n;
		*(u32 *)a[2] += hits;
	}
	*(u64 *)a[3] = (u64)(n - 1) * 3;
}
#else
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
#endif
