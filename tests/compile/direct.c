/* A pipeline of direct copies to LDS: the next piece is on its way while this one is summed. */
// launch: grid=2 block=256 args=in:u32:4096 out:u32:512 u32:8
#include "kernel.h"

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u32 *in = arg[0];
	u32 *out = arg[1], n = *(const u32 *)arg[2];

	for (u32 g = 0; g < groups; g++)
		for (u32 t = 0; t < 256; t++) {
			u32 sum = 0;

			for (u32 i = 0; i < n; i++)
				sum = sum * 3 + in[(g * n + i) * 256 + ((t + 1) & 255)] + in[(g * n + i) * 256 + (t ^ 128)];
			out[g * 256 + t] = sum;
		}
}
#else
SHARED u32 stage[2][256];

/* Each lane's word of the piece from global memory to LDS, not waited for. */
static inline void direct_copy(const GLOBAL u32 *from, LDS u32 *to, u32 t)
{
#if defined(__gfx1250__)
	__builtin_amdgcn_global_load_async_to_lds_b32((GLOBAL int *)(from + t), (LDS int *)(to + t), 0, 0);
#else
	__builtin_amdgcn_global_load_lds((GLOBAL void *)(from + t), (LDS void *)(to + __builtin_amdgcn_readfirstlane((int)(t / 64 * 64))), 4, 0, 0);
#endif
}

/* All but one of the copies in flight are there. */
static inline void direct_wait_one(void)
{
#if defined(__gfx1250__)
	__builtin_amdgcn_s_wait_asynccnt(1);
#else
	__builtin_amdgcn_s_waitcnt(0x0f71);
#endif
}

static inline void direct_wait_all(void)
{
#if defined(__gfx1250__)
	__builtin_amdgcn_s_wait_asynccnt(0);
#else
	__builtin_amdgcn_s_waitcnt(0x0f70);
#endif
}

static inline void direct_barrier(void)
{
	__builtin_amdgcn_sched_barrier(0);
#if defined(__gfx1250__)
	__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
	__builtin_amdgcn_s_barrier_signal(-1);
	__builtin_amdgcn_s_barrier_wait(-1);
#else
	__builtin_amdgcn_s_waitcnt(0xc07f);
	__builtin_amdgcn_s_barrier();
#endif
	__builtin_amdgcn_sched_barrier(0);
}

KERNEL(256) void direct(const GLOBAL u32 *in, GLOBAL u32 *out, u32 n)
{
	u32 t = lane(), sum = 0;
	const GLOBAL u32 *from = in + group() * n * 256;

	direct_copy(from, stage[0], t);
	for (u32 i = 0; i < n; i++) {
		if (i + 1 < n) {
			direct_copy(from + (i + 1) * 256, stage[(i + 1) & 1], t);
			direct_wait_one();
		} else {
			direct_wait_all();
		}
		direct_barrier();
		sum = sum * 3 + ((volatile LDS u32 *)stage[i & 1])[(t + 1) & 255] + ((volatile LDS u32 *)stage[i & 1])[t ^ 128];
		direct_barrier();
	}
	out[group() * 256 + t] = sum;
}
#endif
