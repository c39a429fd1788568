/* Reads and writes at computed places: a gather with bounds, a scatter by a bijection, bytes and shorts. */
// launch: grid=2 block=128 args=in:u32:300 in:u32:256:0..400 out:u32:256 out:u16:256 in:u8:300 u32:300
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0], *index = arg[1];
	u32 *out = arg[2], n = *(const u32 *)arg[5];
	u16 *small = arg[3];
	const u8 *bytes = arg[4];

	for (u32 i = 0; i < groups * 128; i++) {
		u32 at = index[i];

		out[(i * 37 + 11) & 255] = at < n ? in[at] : i;
		small[i ^ 85] = (u16)(at < n ? bytes[n - 1 - at] * 257 : 7);
	}
}
#else
KERNEL(128) void gather(const GLOBAL u32 *in, const GLOBAL u32 *index, GLOBAL u32 *out, GLOBAL u16 *small, const GLOBAL u8 *bytes, u32 n)
{
	u32 i = group() * 128 + lane(), at = index[i];

	out[(i * 37 + 11) & 255] = at < n ? in[at] : i;
	small[i ^ 85] = (u16)(at < n ? bytes[n - 1 - at] * 257 : 7);
}
#endif
