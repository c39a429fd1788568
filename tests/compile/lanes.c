/* Lanes with each other: forward and backward permutes, swizzles, ballots, first and single lanes, counts of bits below. */
// launch: grid=1 block=128 args=in:u32:128 out:u32:128 out:u32:128 out:u32:128 out:u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *moved = arg[1], *packed = arg[2], *mixed = arg[3], *one = arg[4];

	(void)groups;
	for (u32 w = 0; w < 128; w += WAVE) {
		u32 n = 0, first = 0;

		for (u32 l = 0; l < WAVE; l++) {
			moved[w + ((l * 5 + 3) % WAVE)] = in[w + l];
			packed[w + l] = 0xffffffffu;
			mixed[w + l] = in[w + (l & ~31u) + ((l & 31) ^ 6)] + in[w + ((l & ~3u) | (3 - (l & 3)))];
		}
		for (u32 l = 0; l < WAVE; l++)
			if (in[w + l] & 1)
				packed[w + n++] = in[w + l];
		while (first < WAVE - 1 && !(in[w + first] & 2))
			first++;
		for (u32 l = 0; l < WAVE; l++)
			one[w + l] = in[w + l] & 2 ? in[w + first] + n : in[w + 7] ^ in[w + l];
	}
}
#else
KERNEL(128) void lanes(const GLOBAL u32 *in, GLOBAL u32 *moved, GLOBAL u32 *packed, GLOBAL u32 *mixed, GLOBAL u32 *one)
{
	u32 t = lane(), l = t % WAVE, v = in[t], seventh = (u32)__builtin_amdgcn_readlane((int)v, 7), at, n;

	moved[t] = (u32)__builtin_amdgcn_ds_permute((int)((l * 5 + 3) % WAVE * 4), (int)v);
	mixed[t] = (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x181f) + (u32)__builtin_amdgcn_mov_dpp((int)v, 0x1b, 0xf, 0xf, 1);
	packed[t] = 0xffffffffu;
#if defined(__gfx1250__)
	u32 odd = __builtin_amdgcn_ballot_w32(v & 1);

	n = (u32)__builtin_popcount(odd);
	at = __builtin_amdgcn_mbcnt_lo(odd, 0);
#else
	u64 odd = __builtin_amdgcn_ballot_w64(v & 1);

	n = (u32)__builtin_popcountll(odd);
	at = __builtin_amdgcn_mbcnt_hi((u32)(odd >> 32), __builtin_amdgcn_mbcnt_lo((u32)odd, 0));
#endif
	if (v & 1)
		packed[t - l + at] = v;
	if (v & 2)
		one[t] = (u32)__builtin_amdgcn_readfirstlane((int)v) + n;
	else
		one[t] = seventh ^ v;
}
#endif
