/* Whole numbers of 64 bits, division, carries, a switch and a data-dependent loop. */
// launch: grid=2 block=128 args=in:u64:256:1..4000000 out:u64:256 in:u8:256:0..5 u32:200 u64:1000003
#include "kernel.h"

static inline u64 integer_one(u64 v, u32 kind, u32 i, u64 modulus)
{
	u64 steps = 0;

	switch (kind) {
	case 0:
		v = v * v + 12345678901234ull;
		break;
	case 1:
		v %= modulus;
		break;
	case 2:
		v = (v << (i & 63)) | (v >> (63 - (i & 63)));
		break;
	case 3:
		v = (u64)__builtin_popcountll(v) * (u64)__builtin_clzll(v | 1);
		break;
	default:
		v -= modulus;
		break;
	}
	while (v > 1 && steps < 100) {
		v = v & 1 ? 3 * v + 1 : v / 2;
		steps++;
	}
	return v ^ steps;
}

#ifdef HOST
void host(void *const *a, u32 groups)
{
	const u64 *in = a[0];
	u64 *out = a[1];
	const u8 *kind = a[2];
	u32 n = *(const u32 *)a[3];

	for (u32 i = 0; i < groups * 128 && i < n; i++)
		out[i] = integer_one(in[i], kind[i], i, *(const u64 *)a[4]);
}
#else
KERNEL(128) void integer(const GLOBAL u64 *in, GLOBAL u64 *out, const GLOBAL unsigned char *kind, u32 n, u64 modulus)
{
	u32 i = __builtin_amdgcn_workgroup_id_x() * 128 + lane();

	if (i < n)
		out[i] = integer_one(in[i], kind[i], i, modulus);
}
#endif
