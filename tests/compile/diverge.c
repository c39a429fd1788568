/* Branches that differ from lane to lane, nested, with loops of different lengths inside. */
// launch: grid=2 block=64 args=in:i32:128:-500..500 out:i32:128
#include "kernel.h"

static inline int diverge_one(int v, int lane)
{
	int r = 0;

	if (v > 0) {
		if (v & 1) {
			for (int i = 0; i < (v & 15); i++)
				r += i * v;
		} else if (v > 200) {
			int w = v;

			while (w > 10) {
				w = w / 3 + (w & 1);
				r++;
			}
			r = r * 1000 + w;
		} else {
			r = -v;
		}
		r ^= 0x55;
	} else if (v < -100) {
		do {
			v += 37;
			r += v & lane;
		} while (v < 0);
	} else {
		r = v * lane;
		if (lane % 5 == 2)
			r++;
	}
	return r + lane;
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	for (u32 i = 0; i < groups * 64; i++)
		((i32 *)arg[1])[i] = diverge_one(((const i32 *)arg[0])[i], (int)(i % 64));
}
#else
KERNEL(64) void diverge(const GLOBAL int *in, GLOBAL int *out)
{
	u32 i = group() * 64 + lane();

	out[i] = diverge_one(in[i], (int)lane());
}
#endif
