/* Conversions between all types of numbers, by value. */
// launch: grid=1 block=128 args=in:f32:128:-2000..2000/8 in:i32:128 out:f16:128 out:bf16:128 out:i32:128 out:u32:128 out:f32:128 out:f64:128 out:u8:128 out:i16:128 out:f32:128
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const float *x = arg[0];
	const i32 *n = arg[1];

	(void)groups;
	for (u32 t = 0; t < 128; t++) {
		float f = x[t] * 1.001f;

		((u16 *)arg[2])[t] = half_of(f);
		((u16 *)arg[3])[t] = bfloat_of(f);
		((i32 *)arg[4])[t] = (i32)f;
		((u32 *)arg[5])[t] = (u32)fabsf(f);
		((float *)arg[6])[t] = (float)n[t];
		((double *)arg[7])[t] = (double)n[t] * 0.1 + f;
		((u8 *)arg[8])[t] = (u8)(i32)fabsf(f);
		((short *)arg[9])[t] = (short)(n[t] >> 7);
		((float *)arg[10])[t] = (float)(u32)n[t] + floorf(f) * ceilf(f) - truncf(f) + rintf(f);
	}
}
#else
KERNEL(128) void types(const GLOBAL float *x, const GLOBAL int *n, GLOBAL half *to_half, GLOBAL __bf16 *to_bfloat, GLOBAL int *to_int,
		       GLOBAL u32 *to_unsigned, GLOBAL float *to_float, GLOBAL double *to_double, GLOBAL u8 *to_byte, GLOBAL short *to_short,
		       GLOBAL float *rounded)
{
	u32 t = lane();
	float f = x[t] * 1.001f;

	to_half[t] = (half)f;
	to_bfloat[t] = (__bf16)f;
	to_int[t] = (int)f;
	to_unsigned[t] = (u32)__builtin_fabsf(f);
	to_float[t] = (float)n[t];
	to_double[t] = (double)n[t] * 0.1 + (double)f;
	to_byte[t] = (u8)(int)__builtin_fabsf(f);
	to_short[t] = (short)(n[t] >> 7);
	rounded[t] = (float)(u32)n[t] + __builtin_floorf(f) * __builtin_ceilf(f) - __builtin_truncf(f) + __builtin_rintf(f);
}
#endif
