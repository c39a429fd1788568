/* Global memory straight to LDS, transposed out of it; two kernels in one file. */
#include "kernel.h"

SHARED i4 block[1024];

KERNEL(256) void copy(const GLOBAL i4 *in, GLOBAL i4 *out, u32 steps)
{
	u32 t = lane();

	for (u32 i = 0; i < steps; i++) {
#if defined(__gfx1250__)
		__builtin_amdgcn_global_load_async_to_lds_b128((GLOBAL i4 *)(in + i * 256 + t), (LDS i4 *)(block + t), 0, 0);
		__builtin_amdgcn_s_wait_asynccnt(0);
#else
		__builtin_amdgcn_global_load_lds((GLOBAL void *)(in + i * 256 + t), (LDS void *)block, 4, 0, 0);
#endif
		barrier();
		out[i * 256 + t] = block[(t & 15) * 16 + t / 16];
		barrier();
	}
}

KERNEL(256) void fill(GLOBAL i4 *out, int v)
{
	out[__builtin_amdgcn_workgroup_id_x() * 256 + lane()] = (i4){ v, v, v, v };
}
