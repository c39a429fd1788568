/* Bits: counts, leading and trailing zeros, reversal, fields, byte permutations, alignments. */
// launch: grid=1 block=256 args=in:u32:256 in:u32:256 out:u32:2560
#include "kernel.h"

#ifdef HOST
static u32 bits_byte(u64 both, u32 sel)
{
	return (u32)(both >> (8 * (sel & 7))) & 255;
}

void host(void *const *arg, u32 groups)
{
	const u32 *x = arg[0], *y = arg[1];
	u32 *out = arg[2];

	(void)groups;
	for (u32 t = 0; t < 256; t++) {
		u32 a = x[t], b = y[t], r = 0, n = 0, *o = out + t * 10;

		for (u32 k = 0; k < 32; k++) {
			n += a >> k & 1;
			r |= (a >> k & 1) << (31 - k);
		}
		o[0] = n;
		o[1] = r;
		for (o[2] = 0; o[2] < 32 && !(a >> (31 - o[2]) & 1);)
			o[2]++;
		for (o[3] = 0; o[3] < 32 && !(a >> o[3] & 1);)
			o[3]++;
		o[4] = a >> 5 & 0x7ff;
		o[5] = (u32)((i32)(a << 11) >> 20);
		for (o[6] = 0, n = 0; n < 4; n++)
			o[6] |= bits_byte((u64)a << 32 | b, 0x06010703u >> (8 * n) & 255) << (8 * n);
		o[7] = (u32)(((u64)a << 32 | b) >> (t & 31));
		o[8] = (a & 0x0ff0f00f) | (b & ~0x0ff0f00fu);
		o[9] = (a & b) ^ (a | ~b) ^ (b << 3 | a >> 7);
	}
}
#else
KERNEL(256) void bits(const GLOBAL u32 *x, const GLOBAL u32 *y, GLOBAL u32 *out)
{
	u32 t = lane(), a = x[t], b = y[t];
	GLOBAL u32 *o = out + t * 10;

	o[0] = (u32)__builtin_popcount(a);
	o[1] = __builtin_bitreverse32(a);
	o[2] = a ? (u32)__builtin_clz(a) : 32;
	o[3] = a ? (u32)__builtin_ctz(a) : 32;
	o[4] = a >> 5 & 0x7ff;
	o[5] = (u32)((int)(a << 11) >> 20);
	o[6] = __builtin_amdgcn_perm(a, b, 0x06010703);
	o[7] = __builtin_amdgcn_alignbit(a, b, t & 31);
	o[8] = (a & 0x0ff0f00f) | (b & ~0x0ff0f00fu);
	o[9] = (a & b) ^ (a | ~b) ^ (b << 3 | a >> 7);
}
#endif
