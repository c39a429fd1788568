/* Sums that stop at the ends, medians, minima of three, differences, averages. */
// launch: grid=1 block=256 args=in:i32:256 in:i32:256 in:f32:256 in:f32:256 out:i32:1536 out:f32:512
#include "kernel.h"

#ifdef HOST
static i32 clamp_to(i64 v, i64 lo, i64 hi)
{
	return (i32)(v < lo ? lo : v > hi ? hi : v);
}

void host(void *const *arg, u32 groups)
{
	const i32 *x = arg[0], *y = arg[1];
	const float *p = arg[2], *q = arg[3];
	i32 *out = arg[4];
	float *f = arg[5];

	(void)groups;
	for (u32 t = 0; t < 256; t++) {
		i32 a = x[t], b = y[t], lo = a < b ? a : b, hi = a < b ? b : a;
		i64 ua = (u32)a, ub = (u32)b;
		float c = fminf(fmaxf(p[t], 0), 1);

		out[t] = clamp_to((i64)a + b, -2147483648ll, 2147483647ll);
		out[256 + t] = clamp_to((i64)a - b, -2147483648ll, 2147483647ll);
		out[512 + t] = (i32)(u32)(ua + ub > 0xffffffffll ? 0xffffffffll : ua + ub);
		out[768 + t] = (i32)(u32)(ua > ub ? ua - ub : 0);
		out[1024 + t] = -1000 < lo ? lo : hi < -1000 ? hi : -1000;
		out[1280 + t] = lo < 77 ? (lo < -5 ? lo : -5) : (77 < -5 ? 77 : -5);
		f[t] = c * q[t];
		f[256 + t] = fmaxf(fmaxf(p[t], q[t]), 0.125f) - fabsf(p[t] - q[t]);
	}
}
#else
KERNEL(256) void clamp(const GLOBAL int *x, const GLOBAL int *y, const GLOBAL float *p, const GLOBAL float *q, GLOBAL int *out, GLOBAL float *f)
{
	u32 t = lane();
	int a = x[t], b = y[t], lo = a < b ? a : b, hi = a < b ? b : a, least = lo < 77 ? lo : 77;

	out[t] = __builtin_elementwise_add_sat(a, b);
	out[256 + t] = __builtin_elementwise_sub_sat(a, b);
	out[512 + t] = (int)__builtin_elementwise_add_sat((u32)a, (u32)b);
	out[768 + t] = (int)__builtin_elementwise_sub_sat((u32)a, (u32)b);
	out[1024 + t] = lo > -1000 ? lo : hi < -1000 ? hi : -1000;
	out[1280 + t] = least < -5 ? least : -5;
	f[t] = __builtin_fminf(__builtin_fmaxf(p[t], 0), 1) * q[t];
	f[256 + t] = __builtin_fmaxf(__builtin_fmaxf(p[t], q[t]), 0.125f) - __builtin_fabsf(p[t] - q[t]);
}
#endif
