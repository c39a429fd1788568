/* Global memory straight to LDS, transposed out of it; two kernels in one file. */
// launch: grid=1 block=256 args=in:i32:3072 out:i32:3072 u32:3
#include "kernel.h"

#ifdef HOST
void host(void *const *a, u32 groups)
{
	const i32 *in = a[0];
	i32 *out = a[1];
	u32 steps = *(const u32 *)a[2];

	(void)groups;
	for (u32 i = 0; i < steps; i++)
		for (u32 t = 0; t < 256; t++)
			for (u32 k = 0; k < 4; k++) /* element k of vector t goes to element k of the transposed place */
				out[i * 1024 + t * 4 + k] = in[i * 1024 + ((t & 15) * 16 + t / 16) * 4 + k];
}
#else
#if defined(__gfx1250__)
SHARED i4 block[256];
#else
SHARED u32 lines[1024];
#endif

KERNEL(256) void copy(const GLOBAL i4 *in, GLOBAL i4 *out, u32 steps)
{
	u32 t = lane();

	for (u32 i = 0; i < steps; i++) {
#if defined(__gfx1250__)
		__builtin_amdgcn_global_load_async_to_lds_b128((GLOBAL i4 *)(in + i * 256 + t), (LDS i4 *)(block + t), 0, 0);
		__builtin_amdgcn_s_wait_asynccnt(0);
#else
		/* A wave's lanes fill neighbouring words behind the address, which is the same for all lanes. */
		u32 first = __builtin_amdgcn_readfirstlane(t);

		for (u32 k = 0; k < 4; k++)
			__builtin_amdgcn_global_load_lds((GLOBAL void *)((const GLOBAL u32 *)(in + i * 256) + k * 256 + t),
							 (LDS void *)(lines + k * 256 + first), 4, 0, 0);
		__builtin_amdgcn_s_waitcnt(0x0f70);
#endif
		barrier();
#if defined(__gfx1250__)
		out[i * 256 + t] = block[(t & 15) * 16 + t / 16];
#else
		out[i * 256 + t] = ((LDS i4 *)lines)[(t & 15) * 16 + t / 16];
#endif
		barrier();
	}
}

KERNEL(256) void fill(GLOBAL i4 *out, int v)
{
	out[__builtin_amdgcn_workgroup_id_x() * 256 + lane()] = (i4){ v, v, v, v };
}
#endif
