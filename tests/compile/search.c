/* Loops that end early: a binary search in a sorted table, and a walk until a sum is reached. */
// launch: grid=1 block=128 args=in:u32:100:1..50 in:u32:128:0..3000 out:u32:128 out:u32:128 u32:100
#include "kernel.h"

static inline u32 search_walk(u32 sum, u32 want)
{
	return sum >= want;
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *step = arg[0], *want = arg[1];
	u32 *walked = arg[2], *found = arg[3], n = *(const u32 *)arg[4];

	(void)groups;
	for (u32 t = 0; t < 128; t++) {
		u32 sum = 0, i;

		for (i = 0; i < n && !search_walk(sum, want[t]); i++)
			sum += step[i];
		walked[t] = i;
		/* The table of squares: the first whose square is not below what is looked for. */
		for (i = 0; i < 64 && i * i < want[t]; i++)
			;
		found[t] = i;
	}
}
#else
KERNEL(128) void search(const GLOBAL u32 *step, const GLOBAL u32 *want, GLOBAL u32 *walked, GLOBAL u32 *found, u32 n)
{
	u32 t = lane(), w = want[t], sum = 0, i, lo = 0, hi = 64;

	for (i = 0; i < n; i++) {
		if (search_walk(sum, w))
			break;
		sum += step[i];
	}
	walked[t] = i;
	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (mid * mid < w)
			lo = mid + 1;
		else
			hi = mid;
	}
	found[t] = lo;
}
#endif
