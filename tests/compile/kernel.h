/* What the kernels of this folder share: plain C for amdgcn, no headers of a compiler or a runtime. */
#ifndef KERNEL_H
#define KERNEL_H

#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define KERNEL(threads) __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(threads, threads)))
#define SHARED static LDS __attribute__((loader_uninitialized))

typedef unsigned u32;
typedef unsigned long long u64;
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f8 __attribute__((ext_vector_type(8)));
typedef int i4 __attribute__((ext_vector_type(4)));

static inline u32 lane(void)
{
	return __builtin_amdgcn_workitem_id_x();
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

#endif
