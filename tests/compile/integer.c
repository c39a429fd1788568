/* Whole numbers of 64 bits, division, carries, a switch and a data-dependent loop. */
#include "kernel.h"

KERNEL(128) void integer(const GLOBAL u64 *in, GLOBAL u64 *out, const GLOBAL unsigned char *kind, u32 n, u64 modulus)
{
	u32 i = __builtin_amdgcn_workgroup_id_x() * 128 + lane();
	u64 v, steps = 0;

	if (i >= n)
		return;
	v = in[i];
	switch (kind[i]) {
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
	out[i] = v ^ steps;
}
