/* Sums inside waves by DPP: quads, rows and the rest by swizzle and readlane, one atomic add a wave. */
// launch: grid=2 block=256 args=in:i32:512 out:i32:512 io:u32:1:0..0
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *out = arg[1], *total = arg[2];

	for (u32 i = 0; i < groups * 256; i += WAVE) {
		u32 sum = 0;

		for (u32 k = 0; k < WAVE; k++)
			sum += in[i + k];
		for (u32 k = 0; k < WAVE; k++)
			out[i + k] = sum - in[i + k];
		*total += sum;
	}
}
#else
#define DPP(v, ctrl) ((u32)__builtin_amdgcn_update_dpp(0, (int)(v), ctrl, 0xf, 0xf, 1))

KERNEL(256) void wavesum(const GLOBAL u32 *in, GLOBAL u32 *out, GLOBAL u32 *total)
{
	u32 at = group() * 256 + lane(), mine = in[at], v = mine, sum;

	v += DPP(v, 0xb1);  /* quad_perm 1,0,3,2 */
	v += DPP(v, 0x4e);  /* quad_perm 2,3,0,1 */
	v += DPP(v, 0x141); /* row_half_mirror */
	v += DPP(v, 0x140); /* row_mirror */
	v += (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x401f); /* the other 16 of 32 lanes */
	sum = (u32)__builtin_amdgcn_readlane((int)v, 0);
#if !defined(__gfx1250__)
	sum += (u32)__builtin_amdgcn_readlane((int)v, 32);
#endif
	out[at] = sum - mine;
	if (lane() % WAVE == 0)
		__atomic_fetch_add(total, sum, __ATOMIC_RELAXED);
}
#endif
