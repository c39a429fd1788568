/* Single precision division and roots, exact to the last bit, and whole numbers of 32 bits divided. */
// launch: grid=1 block=256 args=in:f32:256 in:f32:256 in:u32:256 in:u32:256:1..70000 out:f32:256 out:f32:256 out:u32:256 out:i32:256
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *x = arg[0], *y = arg[1];
	const u32 *n = arg[2], *d = arg[3];

	(void)groups;
	for (u32 t = 0; t < 256; t++) {
		((float *)arg[4])[t] = x[t] / y[t];
		((float *)arg[5])[t] = sqrtf(fabsf(x[t]));
		((u32 *)arg[6])[t] = n[t] / d[t] + n[t] % d[t] * 3;
		((i32 *)arg[7])[t] = (i32)n[t] / (i32)d[t] - (i32)n[t] % 10;
	}
}
#else
KERNEL(256) void divide(const GLOBAL float *x, const GLOBAL float *y, const GLOBAL u32 *n, const GLOBAL u32 *d, GLOBAL float *quotient,
			GLOBAL float *root, GLOBAL u32 *whole, GLOBAL int *with_sign)
{
	u32 t = lane();

	quotient[t] = x[t] / y[t];
	root[t] = __builtin_sqrtf(__builtin_fabsf(x[t]));
	whole[t] = n[t] / d[t] + n[t] % d[t] * 3;
	with_sign[t] = (int)n[t] / (int)d[t] - (int)n[t] % 10;
}
#endif
