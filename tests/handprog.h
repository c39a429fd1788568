/* Programs put together by hand for the engine's own tests. */
#ifndef WPSIM_HANDPROG_H
#define WPSIM_HANDPROG_H

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "minitarget.h"

#define HAND_MAX_INSNS 2048

struct hand {
	struct minitarget *m;
	struct target *t;
	struct program p;
	struct engine_config cfg;
	struct insn insns[HAND_MAX_INSNS];
	struct loop loops[8];
	struct stage stages[4];
	uint8_t groups; /* of the instructions to come */
	int stage;
};

static inline struct hand *hand_new(const char *machine, unsigned waves, unsigned groups)
{
	struct hand *h = xcalloc(1, sizeof(*h));

	h->m = minitarget_build(machine);
	h->t = &h->m->t;
	h->groups = 0xff;
	h->cfg = (struct engine_config){ .clock_mhz = 2000, .resident = 1 };
	h->p = (struct program){ .target = h->t, .name = "hand", .insns = h->insns,
				 .loops = h->loops, .stages = h->stages, .nstages = 4,
				 .main_loop = { -1, -1, -1, -1 }, .waves = waves,
				 .groups = groups, .workgroups = 1, .cluster_workgroups = 1 };
	return h;
}

static inline void hand_free(struct hand *h)
{
	minitarget_free(h->m);
	free(h);
}

static inline struct insn *hand_add(struct hand *h, enum opclass cls)
{
	struct insn *in = &h->insns[h->p.ninsns++];

	*in = (struct insn){ .cls = cls, .op = opclass_name(cls), .groups = h->groups, .size = 4,
			     .repeat = 1, .access = -1, .loop = -1, .stage = h->stage,
			     .counter = (int8_t)h->t->classes[cls].counter };
	return in;
}

static inline struct insn *hand_many(struct hand *h, enum opclass cls, unsigned n)
{
	struct insn *in = NULL;

	while (n--)
		in = hand_add(h, cls);
	return in;
}

static inline struct insn *hand_span(struct insn *in, enum span_role role, unsigned first, unsigned n)
{
	in->span[in->nspans] = (struct span){ (uint16_t)first, (uint16_t)n };
	in->role[in->nspans++] = (uint8_t)role;
	return in;
}

static inline struct insn *hand_matrix(struct hand *h, unsigned acc, unsigned a, unsigned b)
{
	struct insn *in = hand_add(h, OPC_MATRIX);

	in->matrix = &h->t->matrix[0];
	hand_span(in, ROLE_DST, acc, 4);
	hand_span(in, ROLE_A, a, 2);
	hand_span(in, ROLE_B, b, 2);
	return hand_span(in, ROLE_C, acc, 4);
}

static inline struct insn *hand_read(struct hand *h, unsigned dst, unsigned array_clk)
{
	struct insn *in = hand_add(h, OPC_LDS_READ);

	for (size_t i = 0; i < h->t->nlds; i++)
		if (!h->t->lds[i].write && !minitarget_is_permute(&h->t->lds[i]))
			in->lds = &h->t->lds[i];
	in->bytes = 1024;
	in->lds_clk_free = 8;
	in->lds_clk = (uint16_t)array_clk;
	return hand_span(in, ROLE_DST, dst, 4);
}

static inline struct insn *hand_copy(struct hand *h, uint32_t bytes)
{
	struct insn *in = hand_add(h, OPC_VMEM_LDS);

	for (size_t i = 0; i < h->t->nvmem; i++)
		if (h->t->vmem[i].kind == VM_LDS)
			in->vmem = &h->t->vmem[i];
	in->bytes = bytes;
	return in;
}

static inline void hand_wait(struct hand *h, enum opclass of, unsigned value)
{
	struct insn *in = hand_add(h, OPC_WAIT);

	in->nwait = 1;
	in->wait[0].counter = (int8_t)h->t->classes[of].counter;
	in->wait[0].value = (uint8_t)value;
}

static inline void hand_barrier(struct hand *h)
{
	hand_add(h, OPC_BARRIER)->barrier = BAR_WORKGROUP;
}

/* Close loop l, begun at instruction begin; main: it is the K loop of the current groups. */
static inline struct loop *hand_loop(struct hand *h, uint32_t begin, uint64_t trips, bool main)
{
	int l = (int)h->p.nloops++;
	struct insn *in = hand_add(h, OPC_BRANCH);

	in->loop = l;
	h->loops[l] = (struct loop){ begin, (uint32_t)h->p.ninsns, trips, 1, h->groups, -1 };
	for (unsigned g = 0; main && g < PROG_MAX_GROUPS; g++)
		if (h->groups >> g & 1)
			h->p.main_loop[g] = l;
	return &h->loops[l];
}

/* A K-step in the manner of a GEMM: copies and reads, a wait and a barrier, matrix ops, the same. */
static inline void hand_gemm_step(struct hand *h, unsigned reads, unsigned ops)
{
	h->stage = 0;
	for (unsigned i = 0; i < reads; i++) {
		if (i % 3 == 0)
			hand_copy(h, 1024);
		hand_read(h, i * 4 % 96, i % 5 == 4 ? 16 : 8);
	}
	hand_wait(h, OPC_LDS_READ, 0);
	hand_barrier(h);
	h->stage = 1;
	for (unsigned i = 0; i < ops; i++) {
		hand_matrix(h, 256 + i % 16 * 4, i * 4 % 48, 48 + i * 4 % 48);
		if (i % 6 == 5)
			hand_span(hand_add(h, OPC_VALU), ROLE_DST, 200 + i % 4, 1);
	}
	hand_wait(h, OPC_VMEM_LDS, 2);
	hand_barrier(h);
}

static inline int hand_run(struct hand *h, struct stats *out, struct diag *d)
{
	diag_init(d);
	return engine_run(&h->p, &h->cfg, out, d);
}

#endif
