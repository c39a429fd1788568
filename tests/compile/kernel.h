/*
 * What the kernels of this folder share: plain C for amdgcn, no headers of a compiler or a runtime.
 *
 * Each NAME.c holds KERNEL(threads) void NAME(...) and, under HOST, the same computation as plain C:
 * host(a, groups) with a[i] the data of argument i (a buffer's, or the scalar's). One line says how to run it:
 *     launch: grid=X[,Y[,Z]] block=X[,Y[,Z]] args=ARG ARG ...
 * ARG is in:TYPE:COUNT[:FILL], out:TYPE:COUNT[:TOLERANCE], io:TYPE:COUNT[:FILL] or TYPE:VALUE. FILL: LO..HI are
 * whole numbers, or eighths when LO ends with "/8"; without it integers are any bits, and floats lie between -2
 * and 2. Results are the same bit by bit, but where TOLERANCE allows an error relative to max(1, |value|).
 */
#ifndef KERNEL_H
#define KERNEL_H

typedef unsigned u32;
typedef unsigned long long u64;
typedef unsigned short u16;
typedef unsigned char u8;
typedef signed char i8;
typedef int i32;
typedef long long i64;

#if defined(__gfx1250__)
#define WAVE 32u
#else
#define WAVE 64u
#endif

#ifdef HOST

#include <math.h>
#include <string.h>

static inline float bits_float(u32 u)
{
	float f;

	memcpy(&f, &u, 4);
	return f;
}

static inline u32 float_bits(float f)
{
	u32 u;

	memcpy(&u, &f, 4);
	return u;
}

/* A number of exponent and mantissa bits to a double; no infinities. */
static inline double small_float(u32 v, int exponent, int mantissa, int bias)
{
	u32 e = v >> mantissa & ((1u << exponent) - 1), m = v & ((1u << mantissa) - 1);
	double x = e ? ldexp((double)(m | 1u << mantissa), (int)e - bias - mantissa) : ldexp((double)m, 1 - bias - mantissa);

	return v >> (exponent + mantissa) & 1 ? -x : x;
}

static inline double half_value(u16 h)
{
	return small_float(h, 5, 10, 15);
}

/* Round to half, nearest and even; finite results only. */
static inline u16 half_of(double x)
{
	double a = fabs(x), unit;
	int e;
	u32 m;

	if (a == 0)
		return signbit(x) ? 0x8000 : 0;
	frexp(a, &e);
	e = e < -13 ? -13 : e;
	unit = ldexp(1, e - 11);
	m = (u32)nearbyint(a / unit);
	if (m == 2048) {
		m = 1024;
		e++;
	}
	return (u16)((signbit(x) ? 0x8000 : 0) | (m < 1024 ? m : (u32)(e + 14) << 10 | (m & 1023)));
}

static inline float bfloat_value(u16 b)
{
	return bits_float((u32)b << 16);
}

static inline u16 bfloat_of(float f)
{
	u32 u = float_bits(f);

	return (u16)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* E4M3: with a bias of 8 on gfx942, as OCP has it later. */
static inline double fp8_value(u8 v)
{
#if defined(__gfx942__)
	return small_float(v, 4, 3, 8);
#else
	return small_float(v, 4, 3, 7);
#endif
}

#else

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define KERNEL(threads) __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(threads, threads)))
#define SHARED static LDS __attribute__((loader_uninitialized))

typedef _Float16 half;
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef __bf16 b8 __attribute__((ext_vector_type(8)));
typedef __bf16 b16 __attribute__((ext_vector_type(16)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));
typedef u32 u4 __attribute__((ext_vector_type(4)));

static inline u32 lane(void)
{
	return __builtin_amdgcn_workitem_id_x();
}

static inline u32 group(void)
{
	return __builtin_amdgcn_workgroup_id_x();
}

static inline void barrier(void)
{
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
#if defined(__gfx1250__)
	__builtin_amdgcn_s_barrier_signal(-1);
	__builtin_amdgcn_s_barrier_wait(-1);
#else
	__builtin_amdgcn_s_barrier();
#endif
	__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* The value of another lane of the wave. */
static inline float lane_float(float v, u32 from)
{
	return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((int)(from * 4), __builtin_bit_cast(int, v)));
}

#endif
#endif
