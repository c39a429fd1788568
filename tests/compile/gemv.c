/* Matrix times vector: a wave takes rows, lanes take columns, a butterfly adds them up. */
// launch: grid=2 block=128 args=in:f32:4096:-64..64/8 in:f32:128:-64..64/8 out:f32:32 u32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *a = arg[0], *x = arg[1];
	float *y = arg[2];
	u32 n = *(const u32 *)arg[3];

	for (u32 r = 0; r < groups * 16; r++) {
		y[r] = 0;
		for (u32 i = 0; i < n; i++)
			y[r] += a[r * n + i] * x[i];
	}
}
#else
KERNEL(128) void gemv(const GLOBAL float *a, const GLOBAL float *x, GLOBAL float *y, u32 n)
{
	u32 t = lane(), l = t % WAVE;

	for (u32 r = group() * 16 + t / WAVE; r < group() * 16 + 16; r += 128 / WAVE) {
		float sum = 0;

		for (u32 i = l * 4; i < n; i += WAVE * 4) {
			f4 p = *(const GLOBAL f4 *)(a + r * n + i), q = *(const GLOBAL f4 *)(x + i);

			sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
		}
		for (u32 m = WAVE / 2; m; m /= 2)
			sum += lane_float(sum, l ^ m);
		if (l == 0)
			y[r] = sum;
	}
}
#endif
