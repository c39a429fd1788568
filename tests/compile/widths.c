/* LDS reads and writes of every width and of two places at once. */
// launch: grid=1 block=128 args=in:u32:1024 out:u32:1024
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *out = arg[1];

	(void)groups;
	for (u32 t = 0; t < 128; t++) {
		const u8 *b = (const u8 *)in;
		u32 far = (t + 64) & 127;

		out[t * 8] = in[(127 - t) * 8];
		out[t * 8 + 1] = b[(far * 8 + 1) * 4 + 1] + 256u * (u32)(i8)b[(far * 8 + 1) * 4 + 2];
		out[t * 8 + 2] = (u32)b[(t * 8 + 2) * 4 + 2] | (u32)b[(t * 8 + 2) * 4 + 3] << 8;
		out[t * 8 + 3] = in[far * 8 + 3] ^ in[far * 8 + 2];
		for (u32 k = 4; k < 8; k++)
			out[t * 8 + k] = in[(t ^ 3) * 8 + (k ^ 1)];
	}
}
#else
SHARED u32 mem[1024];

KERNEL(128) void widths(const GLOBAL u4 *in, GLOBAL u4 *out)
{
	u32 t = lane(), far = (t + 64) & 127;
	u4 lo, hi;

	*(LDS u4 *)&mem[t * 8] = in[t * 2];
	*(LDS u4 *)&mem[t * 8 + 4] = in[t * 2 + 1];
	barrier();
	lo.x = mem[(127 - t) * 8];
	lo.y = ((LDS u8 *)&mem[far * 8 + 1])[1] + 256u * (u32)((LDS i8 *)&mem[far * 8 + 1])[2];
	lo.z = ((LDS u16 *)&mem[t * 8 + 2])[1];
	lo.w = mem[far * 8 + 3] ^ mem[far * 8 + 2];
	hi = *(LDS u4 *)&mem[(t ^ 3) * 8 + 4];
	barrier();
	*(LDS u64 *)&mem[t * 8] = (u64)lo.y << 32 | lo.x;
	mem[t * 8 + 2] = lo.z;
	mem[t * 8 + 3] = lo.w;
	*(LDS u16 *)&mem[t * 8 + 4] = (u16)hi.y;
	((LDS u16 *)&mem[t * 8 + 4])[1] = (u16)(hi.y >> 16);
	for (u32 k = 0; k < 4; k++)
		((LDS u8 *)&mem[t * 8 + 5])[k] = (u8)(hi.x >> (8 * k));
	mem[t * 8 + 6] = hi.w;
	mem[t * 8 + 7] = hi.z;
	barrier();
	out[t * 2] = *(LDS u4 *)&mem[t * 8];
	out[t * 2 + 1] = *(LDS u4 *)&mem[t * 8 + 4];
}
#endif
