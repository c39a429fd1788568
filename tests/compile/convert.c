/* Half, single and double precision; small types; an array in scratch memory. */
#include "kernel.h"

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
	out[t] = (double)local[pick % 24] / (double)(sum.x + (_Float16)3) + __builtin_sqrt((double)wide.x);
	small[t * 2] = (short)(int)wide.y;
	small[t * 2 + 1] = small[t * 2] > 7 ? (short)-1 : (short)sum.y;
	bytes[t] = (unsigned char)(wide.x > 0 ? (int)wide.x & 255 : 1);
}
