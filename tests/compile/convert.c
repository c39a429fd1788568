/* Half, single and double precision; small types; an array in scratch memory. */
// launch: grid=1 block=64 args=in:f16:3072:-8..8/8 out:f64:64 out:i16:128 out:u8:64 u32:29
#include "kernel.h"

#ifdef HOST
void host(void *const *a, u32 groups)
{
	const u16 *in = a[0];
	double *out = a[1];
	short *small = a[2];
	u8 *bytes = a[3];
	u32 pick = *(const u32 *)a[4];

	(void)groups;
	for (u32 t = 0; t < 64; t++) {
		u16 sum[2] = { 0, 0 };
		float wide[2] = { 0, 0 }, local[24];

		for (u32 i = 0; i < 24; i++)
			for (u32 k = 0; k < 2; k++) {
				double v = half_value(in[(t * 24 + i) * 2 + k]);

				sum[k] = half_of(half_value(half_of(half_value(sum[k]) * v)) + v);
				wide[k] += (float)v;
				if (!k)
					local[i] = (float)v * 0.25f;
			}
		out[t] = (double)local[pick % 24] / half_value(half_of(half_value(sum[0]) + 3)) + sqrt(fabs((double)wide[0]));
		small[t * 2] = (short)(int)wide[1];
		small[t * 2 + 1] = small[t * 2] > 7 ? -1 : (short)half_value(sum[1]);
		bytes[t] = wide[0] > 0 ? (u8)((int)wide[0] & 255) : 1;
	}
}
#else
KERNEL(64) void convert(const GLOBAL h2 *in, GLOBAL double *out, GLOBAL short *small, GLOBAL unsigned char *bytes, u32 pick)
{
	volatile float local[24];
	u32 t = lane();
	h2 sum = 0;
	f2 wide = 0;

	for (u32 i = 0; i < 24; i++) {
		h2 v = in[t * 24 + i];

		sum = sum * v + v;
		wide += (f2){ (float)v.x, (float)v.y };
		local[i] = (float)v.x * 0.25f;
	}
	out[t] = (double)local[pick % 24] / (double)(sum.x + (_Float16)3) + __builtin_sqrt(__builtin_fabs((double)wide.x));
	small[t * 2] = (short)(int)wide.y;
	small[t * 2 + 1] = small[t * 2] > 7 ? (short)-1 : (short)sum.y;
	bytes[t] = (unsigned char)(wide.x > 0 ? (int)wide.x & 255 : 1);
}
#endif
