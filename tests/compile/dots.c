/* Dot products of packed bytes and halves with the instructions for them. */
// launch: grid=1 block=64 args=in:i32:1024 in:i32:1024 in:f16:2048:-8..8/8 in:f16:2048:-8..8/8 out:i32:64 out:u32:64 out:f32:64
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const i8 *a = arg[0], *b = arg[1];
	const u8 *ua = arg[0], *ub = arg[1];
	const u16 *x = arg[2], *y = arg[3];

	(void)groups;
	for (u32 t = 0; t < 64; t++) {
		i32 s = 0;
		u32 u = 0;
		float f = 0;

		for (u32 k = 0; k < 64; k++) {
			s += a[t * 64 + k] * b[t * 64 + k];
			u += (u32)ua[t * 64 + k] * ub[t * 64 + k];
		}
		for (u32 k = 0; k < 32; k++)
			f += (float)(half_value(x[t * 32 + k]) * half_value(y[t * 32 + k]));
		((i32 *)arg[4])[t] = s;
		((u32 *)arg[5])[t] = u;
		((float *)arg[6])[t] = f;
	}
}
#else
KERNEL(64) void dots(const GLOBAL int *a, const GLOBAL int *b, const GLOBAL h2 *x, const GLOBAL h2 *y, GLOBAL int *with_sign,
		     GLOBAL u32 *without, GLOBAL float *halves)
{
	u32 t = lane(), u = 0;
	int s = 0;
	float f = 0;

	for (u32 k = 0; k < 16; k++) {
		int p = a[t * 16 + k], q = b[t * 16 + k];

#if defined(__gfx1250__)
		s = __builtin_amdgcn_sudot4(1, p, 1, q, s, 0);
#else
		s = __builtin_amdgcn_sdot4(p, q, s, 0);
#endif
		u = __builtin_amdgcn_udot4((u32)p, (u32)q, u, 0);
#if defined(__gfx1250__)
		f = __builtin_fmaf((float)x[t * 16 + k].x, (float)y[t * 16 + k].x, f);
		f = __builtin_fmaf((float)x[t * 16 + k].y, (float)y[t * 16 + k].y, f);
#else
		f = __builtin_amdgcn_fdot2(x[t * 16 + k], y[t * 16 + k], f, 0);
#endif
	}
	with_sign[t] = s;
	without[t] = u;
	halves[t] = f;
}
#endif
