/* 64-bit integers: products, signed and unsigned division and remainder, shifts, comparisons, high halves. */
// launch: grid=1 block=64 args=in:i64:64 in:i64:64:1..100000 out:i64:512
#include "kernel.h"

static inline i64 wide_one(i64 a, i64 b, u32 which)
{
	u64 ua = (u64)a, ub = (u64)b;

	switch (which) {
	case 0: return (i64)(ua * ub);
	case 1: return a / b;
	case 2: return a % b;
	case 3: return (i64)(ua / ub) ^ (i64)(ua % (ub * 3 + 1));
	case 4: return a >> (b & 63);
	case 5: return (i64)(ua << (ub & 63)) | (a < b ? 1 : 0) | (ua < ub * 1000003 ? 2 : 0);
	case 6: return (i64)((u64)(u32)ua * (u32)ub) + (i64)(i32)a * (i32)b;
	default: return a < 0 ? -a - b : a - b * 77;
	}
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const i64 *a = arg[0], *b = arg[1];

	(void)groups;
	for (u32 t = 0; t < 64; t++)
		for (u32 k = 0; k < 8; k++)
			((i64 *)arg[2])[k * 64 + t] = wide_one(a[t], b[t], k);
}
#else
KERNEL(64) void wide(const GLOBAL i64 *a, const GLOBAL i64 *b, GLOBAL i64 *out)
{
	u32 t = lane();
	i64 x = a[t], y = b[t];

	for (u32 k = 0; k < 8; k++)
		out[k * 64 + t] = wide_one(x, y, k);
}
#endif
