/* A little machine: a switch in a loop, each lane with a program of its own. */
// launch: grid=1 block=64 args=in:u8:2048 in:u32:64 out:u32:64 u32:32
#include "kernel.h"

struct machine_state {
	u32 a, b;
};

static inline void machine_step(struct machine_state *s, u32 op, u32 at)
{
	switch (op & 7) {
	case 0: s->a += s->b; break;
	case 1: s->b ^= s->a >> 3; break;
	case 2: s->a = s->a << 5 | s->a >> 27; break;
	case 3: s->b = s->b * 13 + at; break;
	case 4:
		if (s->a & 1)
			s->b += 7;
		/* fall through */
	case 5: s->a -= op; break;
	case 6: s->a = s->b, s->b = op; break;
	default: s->b = s->a > s->b ? s->a - s->b : s->b - s->a; break;
	}
}

#ifdef HOST
void host(void *const *arg, u32 groups)
{
	const u8 *code = arg[0];
	u32 n = *(const u32 *)arg[3];

	(void)groups;
	for (u32 t = 0; t < 64; t++) {
		struct machine_state s = { ((const u32 *)arg[1])[t], t };

		for (u32 i = 0; i < n; i++)
			machine_step(&s, code[t * n + i], i);
		((u32 *)arg[2])[t] = s.a ^ s.b;
	}
}
#else
KERNEL(64) void machine(const GLOBAL u8 *code, const GLOBAL u32 *start, GLOBAL u32 *out, u32 n)
{
	u32 t = lane();
	struct machine_state s = { start[t], t };

	for (u32 i = 0; i < n; i++)
		machine_step(&s, code[t * n + i], i);
	out[t] = s.a ^ s.b;
}
#endif
