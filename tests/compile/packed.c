/* Packed arithmetic: pairs of singles and of halves, fused and not. */
// launch: grid=2 block=64 args=in:f32:256 in:f32:256 in:f16:256:-8..8/8 out:f32:256 out:f16:256 f32:0.75
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *x = arg[0], *y = arg[1];
	const u16 *h = arg[2];
	float s = *(const float *)arg[5];

	for (u32 i = 0; i < groups * 128; i++) {
		float v = x[i];
		double a = half_value(h[i]), b = half_value(h[i ^ 1]);

		for (u32 k = 0; k < 3; k++)
			v = fmaf(v, s, y[i]) * x[i] + y[i];
		((float *)arg[3])[i] = v;
		a = half_value(half_of(half_value(half_of(a * b)) + a)); /* a product and a sum, each rounded */
		((u16 *)arg[4])[i] = half_of(fmax(fma(a, b, a), -0.5)); /* exact before it is rounded */
	}
}
#else
KERNEL(64) void packed(const GLOBAL f2 *x, const GLOBAL f2 *y, const GLOBAL h2 *h, GLOBAL f2 *out, GLOBAL h2 *small, float s)
{
	u32 i = group() * 64 + lane();
	f2 v = x[i], w = y[i];
	h2 a = h[i], b = { a.y, a.x }, c;

	for (u32 k = 0; k < 3; k++)
		v = __builtin_elementwise_fma(v, (f2)s, w) * x[i] + w;
	out[i] = v;
	c = a * b + a;
	small[i] = __builtin_elementwise_maxnum(__builtin_elementwise_fma(c, b, c), (h2)(half)-0.5f);
}
#endif
