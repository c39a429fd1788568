/* 64 x 64 tiles of words turned through LDS with a pad; workgroups in two dimensions. */
// launch: grid=2,2 block=256 args=in:u32:16384 out:u32:16384 u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *out = arg[1], n = *(const u32 *)arg[2];

	(void)groups;
	for (u32 y = 0; y < n; y++)
		for (u32 x = 0; x < n; x++)
			out[x * n + y] = in[y * n + x];
}
#else
SHARED u32 turn[64 * 65];

KERNEL(256) void transpose(const GLOBAL u32 *in, GLOBAL u32 *out, u32 n)
{
	u32 t = lane(), x0 = group() * 64, y0 = __builtin_amdgcn_workgroup_id_y() * 64;

	for (u32 i = t / 16; i < 64; i += 16) {
		u4 v = *(const GLOBAL u4 *)(in + (y0 + i) * n + x0 + t % 16 * 4);

		for (u32 k = 0; k < 4; k++)
			turn[(t % 16 * 4 + k) * 65 + i] = v[k];
	}
	barrier();
	for (u32 i = t / 16; i < 64; i += 16) {
		u4 v;

		for (u32 k = 0; k < 4; k++)
			v[k] = turn[i * 65 + t % 16 * 4 + k];
		*(GLOBAL u4 *)(out + (x0 + i) * n + y0 + t % 16 * 4) = v;
	}
}
#endif
