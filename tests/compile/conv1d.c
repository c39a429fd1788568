/* A filter of 9 taps over a row, the row's part and its edges in LDS. */
// launch: grid=4 block=128 args=in:f32:512 in:f32:9 out:f32:512 i32:512
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *in = arg[0], *tap = arg[1];
	float *out = arg[2];
	i32 n = *(const i32 *)arg[3];

	(void)groups;
	for (i32 i = 0; i < n; i++) {
		float sum = 0;

		for (i32 k = 0; k < 9; k++)
			sum = fmaf(i + k - 4 >= 0 && i + k - 4 < n ? in[i + k - 4] : 0, tap[k], sum);
		out[i] = sum;
	}
}
#else
SHARED float piece[136];

KERNEL(128) void conv1d(const GLOBAL float *in, const GLOBAL float *tap, GLOBAL float *out, int n)
{
	int t = (int)lane(), at = (int)group() * 128 + t;
	float sum = 0;

	piece[t] = at - 4 >= 0 && at - 4 < n ? in[at - 4] : 0;
	if (t < 8)
		piece[128 + t] = at + 124 < n ? in[at + 124] : 0;
	barrier();
	for (int k = 0; k < 9; k++)
		sum = __builtin_fmaf(piece[t + k], tap[k], sum);
	if (at < n)
		out[at] = sum;
}
#endif
