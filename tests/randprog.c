#include "randprog.h"

#include <stdlib.h>
#include <string.h>

/* splitmix64: small, and the same everywhere */
uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned rng_below(struct rng *r, unsigned n)
{
	return (unsigned)((rng_next(r) >> 32) * n >> 32);
}

unsigned rng_range(struct rng *r, unsigned lo, unsigned hi)
{
	return lo + rng_below(r, hi - lo + 1);
}

bool rng_chance(struct rng *r, unsigned percent)
{
	return rng_below(r, 100) < percent;
}

/* Machines */

static void change(struct rng *r, double *v, unsigned percent, unsigned lo, unsigned hi)
{
	if (rng_chance(r, percent))
		*v = rng_range(r, lo, hi);
}

static void perturb_values(struct target_values *v, struct rng *r)
{
	static const unsigned periods[] = {1, 2, 4, 4, 3};
	if (rng_chance(r, 25)) {
		v->issue_period = periods[rng_below(r, ARRAY_LEN(periods))];
		v->issue_stagger = rng_below(r, 3);
	}
	change(r, &v->matrix_ahead, 60, 0, 3);
	change(r, &v->packed_before, 50, 0, 20);
	change(r, &v->packed_after, 50, 0, 20);
	change(r, &v->nop_unit, 30, 1, 5);
	change(r, &v->sleep_unit, 50, 1, 70);
	change(r, &v->straddle, 40, 0, 8);
	if (rng_chance(r, 30))
		v->icache_line = 32u << rng_below(r, 3);
	change(r, &v->icache_miss_ns, 60, 0, 120);
	change(r, &v->icache_ahead, 50, 0, 6);
	change(r, &v->lds_queue, 50, 1, 8);
	change(r, &v->lds_latency, 50, 1, 120);
	change(r, &v->lds_conflict_latency, 50, 0, 200);
	if (rng_chance(r, 30)) {
		v->lds_partitions = 1u << rng_below(r, 3);
		v->lds_bytes = 65536;
	}
	change(r, &v->lds_dma_write, 50, 16, 200);
	change(r, &v->vmem_queue, 50, 1, 8);
	change(r, &v->vmem_inflight, 50, 64, 8192);
	change(r, &v->vmem_l2_ns, 60, 1, 300);
	change(r, &v->vmem_hbm_ns, 60, 1, 500);
	change(r, &v->vmem_store_ns, 60, 1, 200);
	change(r, &v->vmem_cold_ns, 50, 0, 200);
	change(r, &v->vmem_cold_window_ns, 50, 0, 400);
	change(r, &v->smem_ns, 60, 1, 150);
	change(r, &v->barrier_release, 60, 0, 40);
	change(r, &v->barrier_cluster, 60, 0, 120);
	change(r, &v->wmma_hold, 30, 0, 1);
	change(r, &v->issue_width, 20, 1, 3);
	change(r, &v->issue_order, 20, 1, 2);
	change(r, &v->wait_interlock, 20, 0, 1);
	change(r, &v->lds_write_free, 20, 0, 1);
	change(r, &v->hold_unit, 20, 0, 1);
	change(r, &v->vmem_through_lds, 20, 0, 1);
	change(r, &v->barrier_recover, 20, 0, 6);
	change(r, &v->barrier_blocked, 20, 1, 30);
	change(r, &v->barrier_patience, 20, 0, 60);
	change(r, &v->vmem_copy_ns, 20, 0, 100);
	if (v->tdm_engines > 0) {
		change(r, &v->tdm_engines, 30, 1, 3);
		change(r, &v->tdm_queue_wave, 50, 1, 4);
		change(r, &v->tdm_queue, 50, 1, 5);
		change(r, &v->tdm_start_ns, 50, 0, 300);
		change(r, &v->tdm_bytes_clk, 50, 8, 256);
	}
}

static void perturb_classes(struct target *t, struct rng *r)
{
	for (unsigned c = 0; c < OPC_COUNT; c++) {
		struct class_row *row = &t->classes[c];
		if (rng_chance(r, 25))
			row->hold_clk = rng_below(r, 14);
		if (rng_chance(r, 25))
			row->busy_clk = rng_range(r, 1, 20);
		if (row->latency_clk && rng_chance(r, 40))
			row->latency_clk = rng_range(r, 1, 40);
	}
	for (unsigned c = 0; c < CTR_COUNT; c++) {
		if (rng_chance(r, 30))
			t->counters[c].max = rng_range(r, 1, 6);
		if (rng_chance(r, 10))
			t->counters[c].in_order = !t->counters[c].in_order;
	}
}

static void perturb_rows(struct target *t, struct rng *r)
{
	for (size_t i = 0; i < t->nmatrix; i++) {
		struct matrix_row *m = &t->matrix[i];
		if (rng_chance(r, 40))
			m->occupancy_clk = rng_range(r, 1, 40);
		if (rng_chance(r, 40))
			m->ready_clk = rng_range(r, 1, 60);
		if (rng_chance(r, 40))
			m->chain_clk = rng_range(r, 1, 60);
		if (rng_chance(r, 30))
			m->prefix_clk = rng_below(r, 9);
		if (rng_chance(r, 40))
			m->valu_block_clk = rng_below(r, 20);
	}
	for (size_t i = 0; i < t->nlds; i++)
		if (rng_chance(r, 40))
			t->lds[i].port_clk = rng_range(r, 1, 24);
	for (size_t i = 0; i < t->nvmem; i++) {
		if (rng_chance(r, 40))
			t->vmem[i].addr_clk = rng_range(r, 1, 20);
		if (rng_chance(r, 40))
			t->vmem[i].data_clk = rng_range(r, 1, 40);
	}
}

void randprog_perturb(struct target *t, struct rng *r)
{
	if (rng_chance(r, 15))
		return; /* the machine as it is */
	perturb_values(&t->v, r);
	perturb_classes(t, r);
	perturb_rows(t, r);
	if (rng_chance(r, 15))
		for (unsigned s = 0; s < 8; s++)
			t->pair_of_simd[s] = rng_below(r, 2);
}

/* Programs */

enum sync_mode { SYNC_NONE, SYNC_PLAIN, SYNC_GAP, SYNC_BODIES, SYNC_LEAVE };

struct gen {
	struct rng rng;
	struct randprog *out;
	const struct target *t;
	unsigned weight[OPC_COUNT], weight_sum;
	enum sync_mode mode;
	bool split;	      /* boundary barriers are signal and wait */
	unsigned all;	      /* mask of all groups */
	unsigned naccs, regs; /* accumulators, other vector registers */
	struct access access[8];
	uint32_t lanes[8][64], wave_base[8][PROG_MAX_WAVES];
	struct buffer buffers[3];
};

#define ACC_REGS 64 /* accumulators lie above this register */

static struct insn *append(struct gen *g, enum opclass cls, unsigned groups)
{
	struct randprog *o = g->out;
	o->insns = xgrow(o->insns, o->ninsns, &o->capinsns, sizeof(*o->insns));
	struct insn *in = &o->insns[o->ninsns];
	memset(in, 0, sizeof(*in));
	in->cls = cls;
	in->op = opclass_name(cls);
	in->groups = (uint8_t)groups;
	in->size = rng_chance(&g->rng, 70) ? 4 : (uint8_t)(4 * rng_range(&g->rng, 2, 4));
	in->counter = -1;
	in->repeat = 1;
	in->access = -1;
	in->loop = -1;
	in->stage = (int32_t)(o->ninsns / 8 % ARRAY_LEN(o->stages));
	o->ninsns++;
	return in;
}

static void add_span(struct insn *in, enum span_role role, unsigned first, unsigned n)
{
	in->span[in->nspans] = (struct span){(uint16_t)first, (uint16_t)n};
	in->role[in->nspans++] = (uint8_t)role;
}

static void vector_span(struct gen *g, struct insn *in, enum span_role role, unsigned n)
{
	unsigned first = rng_below(&g->rng, g->regs);
	if (rng_chance(&g->rng, 10))
		first = ACC_REGS + rng_below(&g->rng, g->naccs * 4);
	add_span(in, role, first, n);
}

static void matrix_spans(struct gen *g, struct insn *in)
{
	struct rng *r = &g->rng;
	unsigned n = rng_chance(r, 80) ? 4 : rng_range(r, 1, 8);
	unsigned d = ACC_REGS + 4 * rng_below(r, g->naccs), c = d;
	if (rng_chance(r, 20))
		c = ACC_REGS + rng_below(r, 4 * g->naccs);
	add_span(in, ROLE_DST, d, n);
	vector_span(g, in, ROLE_A, rng_range(r, 1, 4));
	vector_span(g, in, ROLE_B, rng_range(r, 1, 4));
	if (rng_chance(r, 90))
		add_span(in, ROLE_C, c, rng_chance(r, 90) ? n : rng_range(r, 1, 8));
}

/* Any row of the kind; rows there are, or the class would have no weight. */
static const struct lds_row *pick_lds(struct gen *g, enum opclass cls)
{
	for (;;) {
		const struct lds_row *row = &g->t->lds[rng_below(&g->rng, (unsigned)g->t->nlds)];
		bool permute = minitarget_is_permute(row);
		if (cls == OPC_LDS_PERMUTE ? permute
					   : !permute && row->write == (cls == OPC_LDS_WRITE))
			return row;
	}
}

static const struct vmem_row *pick_vmem(struct gen *g, enum vmem_kind kind)
{
	for (;;) {
		const struct vmem_row *row = &g->t->vmem[rng_below(&g->rng, (unsigned)g->t->nvmem)];
		if (row->kind == kind)
			return row;
	}
}

static void fill_lds(struct gen *g, struct insn *in)
{
	struct rng *r = &g->rng;
	in->lds = pick_lds(g, in->cls);
	in->bytes = in->lds->width_bytes * 64;
	if (in->cls == OPC_LDS_PERMUTE)
		return;
	in->lds_clk_free = (uint16_t)rng_range(r, 1, 8);
	in->lds_clk = (uint16_t)(in->lds_clk_free + (rng_chance(r, 40) ? rng_below(r, 40) : 0));
	if (rng_chance(r, 80))
		in->access = (int32_t)rng_below(r, ARRAY_LEN(g->access));
}

static void fill_memory(struct gen *g, struct insn *in)
{
	struct rng *r = &g->rng;
	bool tdm = in->cls == OPC_TDM_LOAD || in->cls == OPC_TDM_STORE;
	in->bytes = tdm ? rng_range(r, 1, 9000) : 64u << rng_below(r, 5);
	if (!tdm)
		in->vmem = pick_vmem(g, in->cls == OPC_VMEM_LOAD  ? VM_LOAD
					: in->cls == OPC_VMEM_LDS ? VM_LDS
								  : VM_STORE);
	if (!tdm && rng_chance(r, 20))
		in->addr_extra = (uint8_t)rng_below(r, 6);
	if (in->cls == OPC_VMEM_LDS && rng_chance(r, 20)) {
		in->lds_clk_free = 4;
		in->lds_clk = (uint16_t)(4 + rng_below(r, 20));
	}
	if (rng_chance(r, 80))
		in->access = (int32_t)rng_below(r, ARRAY_LEN(g->access));
	if (rng_chance(r, 25))
		in->flags |= INSN_COLD;
}

static void fill_wait(struct gen *g, struct insn *in)
{
	struct rng *r = &g->rng;
	unsigned n = rng_chance(r, 80) ? 1 : 2;
	if (g->t->v.vmem_through_lds >= 1 && rng_chance(r, 30)) { /* all that the wave sent is served */
		in->wait[in->nwait].counter = CTR_X;
		in->wait[in->nwait++].value = 0;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned c;
		do
			c = rng_below(r, CTR_COUNT);
		while (!g->t->counters[c].present);
		in->wait[in->nwait].counter = (int8_t)c;
		in->wait[in->nwait++].value = (uint8_t)(rng_chance(r, 40) ? 0 : rng_below(r, 5));
	}
}

static void fill_spans(struct gen *g, struct insn *in)
{
	struct rng *r = &g->rng;
	switch (in->cls) {
	case OPC_MATRIX:
		matrix_spans(g, in);
		break;
	case OPC_SALU:
	case OPC_SMEM:
		add_span(in, ROLE_DST, REG_SGPR + rng_below(r, 12), rng_range(r, 1, 2));
		add_span(in, ROLE_SRC, REG_SGPR + rng_below(r, 12), 1);
		break;
	case OPC_LDS_WRITE:
	case OPC_VMEM_STORE:
		vector_span(g, in, ROLE_ADDR, 1);
		vector_span(g, in, ROLE_DATA, rng_range(r, 1, 4));
		break;
	default:
		vector_span(g, in, ROLE_DST, rng_range(r, 1, 4));
		for (unsigned n = rng_below(r, 3); n > 0; n--)
			vector_span(g, in, ROLE_SRC, rng_range(r, 1, 2));
		if (rng_chance(r, 10))
			add_span(in, ROLE_SRC, REG_SGPR + rng_below(r, 12), 1);
		break;
	}
}

/* The parts of a random instruction that are particular to its class. */
static void fill_class(struct gen *g, struct insn *in)
{
	struct rng *r = &g->rng;
	switch (in->cls) {
	case OPC_MATRIX:
		in->matrix = &g->t->matrix[rng_below(r, (unsigned)g->t->nmatrix)];
		if (rng_chance(r, 25))
			in->flags |= INSN_TAIL_SPLIT;
		break;
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE:
		fill_lds(g, in);
		break;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		fill_memory(g, in);
		break;
	case OPC_WAIT:
		fill_wait(g, in);
		break;
	case OPC_SETPRIO:
		in->imm = (uint8_t)rng_below(r, 4);
		break;
	case OPC_NOP:
		in->imm = (uint8_t)rng_below(r, 10);
		break;
	case OPC_SLEEP:
		in->imm = (uint8_t)rng_below(r, 4);
		break;
	default:
		break;
	}
}

static enum opclass pick_class(struct gen *g)
{
	unsigned k = rng_below(&g->rng, g->weight_sum);
	for (unsigned c = 0; c < OPC_COUNT; c++) {
		if (k < g->weight[c])
			return c;
		k -= g->weight[c];
	}
	return OPC_VALU;
}

static void random_insn(struct gen *g, unsigned mask)
{
	struct rng *r = &g->rng;
	enum opclass cls = pick_class(g);
	if (mask == g->all && mask > 1 && rng_chance(r, 15))
		mask = rng_range(r, 1, mask - 1);
	struct insn *in = append(g, cls, mask);

	/* barriers apart, an instruction may be for some waves only */
	if (rng_chance(&g->rng, 6))
		in->waves = 1 + rng_below(&g->rng, (1u << 16) - 1);
	fill_class(g, in);
	if (cls != OPC_WAIT && g->t->v.wait_interlock >= 1 && rng_chance(r, 20))
		fill_wait(g, in); /* an interlock */
	if (cls != OPC_WAIT && cls != OPC_SETPRIO && cls != OPC_NOP && cls != OPC_SLEEP &&
	    cls != OPC_MODE)
		fill_spans(g, in);
	in->counter = (int8_t)g->t->classes[cls].counter;
	if (rng_chance(r, 12))
		in->repeat = (uint16_t)rng_range(r, 2, 5);
	if (rng_chance(r, 3))
		in->flags |= rng_chance(r, 50) ? INSN_EDGE_ONLY : INSN_EDGE_ABSENT;
}

static void block(struct gen *g, unsigned n, unsigned mask)
{
	while (n-- > 0)
		random_insn(g, mask);
}

/* One workgroup barrier of the program's kind. */
static void boundary(struct gen *g, unsigned mask)
{
	if (!g->split) {
		append(g, OPC_BARRIER, mask)->barrier = BAR_WORKGROUP;
		return;
	}
	append(g, OPC_SIGNAL, mask)->barrier = BAR_WORKGROUP;
	block(g, rng_below(&g->rng, 3), mask);
	append(g, OPC_AWAIT, mask)->barrier = BAR_WORKGROUP;
}

/* Signals of one group that the other waits for, a cluster barrier, or the null barrier. */
static void other_barrier(struct gen *g)
{
	struct rng *r = &g->rng;
	unsigned waves = g->out->p.waves / (g->all == 3 ? 2 : 1);
	int id = (int)rng_range(r, 1, 16);
	if (rng_chance(r, 20))
		id = BAR_NULL;
	if (rng_chance(r, 25))
		id = BAR_CLUSTER;
	struct insn *in = append(g, OPC_SIGNAL, id > 0 && g->all == 3 ? 1 : g->all);
	in->barrier = (int8_t)id;
	if (id > 0) /* the same for every signal of an id, or a phase might swallow another one's
		       arrivals */
		in->members = (uint16_t)(id % 3 ? waves : 1);
	block(g, rng_below(r, 3), g->all);
	append(g, OPC_AWAIT, rng_chance(r, 70) && g->all == 3 ? 2 : g->all)->barrier = (int8_t)id;
}

static void sync_point(struct gen *g, unsigned mask)
{
	if (g->mode == SYNC_NONE)
		return;
	bool named = g->t->v.barrier_split == 1 && (g->mode == SYNC_PLAIN || g->mode == SYNC_LEAVE);
	if (named && rng_chance(&g->rng, 40)) {
		other_barrier(g);
		return;
	}
	if (g->mode == SYNC_PLAIN && g->t->v.barrier_split == 1)
		g->split = rng_chance(&g->rng, 50);
	boundary(g, mask);
}

static int open_loop(struct gen *g, unsigned trips, unsigned mask, int parent)
{
	struct program *p = &g->out->p;
	int k = (int)p->nloops++;
	g->out->loops[k] = (struct loop){
		.begin = (uint32_t)g->out->ninsns,
		.trips = trips,
		.steps = rng_range(&g->rng, 1, 2),
		.groups = (uint8_t)mask,
		.parent = parent,
	};
	return k;
}

static void close_loop(struct gen *g, int k)
{
	struct insn *in = append(g, OPC_BRANCH, g->out->loops[k].groups);
	in->loop = k;
	if (rng_chance(&g->rng, 50))
		add_span(in, ROLE_SRC, REG_SGPR + rng_below(&g->rng, 12), 1);
	g->out->loops[k].end = (uint32_t)g->out->ninsns;
}

/* A loop of about n instructions with nsync barriers on the way. */
static int loop(struct gen *g, unsigned n, unsigned trips, unsigned nsync, unsigned mask)
{
	struct rng *r = &g->rng;
	int k = open_loop(g, trips, mask, -1);
	for (unsigned i = 0; i <= nsync; i++) {
		block(g, n / (nsync + 1) + 1, mask);
		if (i < nsync)
			sync_point(g, mask);
		if (rng_chance(r, 20) && g->out->p.nloops < 12) {
			int inner = open_loop(g, rng_range(r, 1, 3), mask, k);
			block(g, rng_range(r, 1, 4), mask);
			close_loop(g, inner);
		}
	}
	close_loop(g, k);
	return k;
}

static void main_loops(struct gen *g, unsigned n, unsigned trips)
{
	struct rng *r = &g->rng;
	struct program *p = &g->out->p;
	unsigned nsync = g->mode == SYNC_NONE ? 0 : rng_range(r, 1, 3);
	if (g->mode == SYNC_GAP)
		boundary(g, 2);
	p->main_loop[0] = loop(g, n, trips, nsync, g->mode == SYNC_BODIES ? 1 : g->all);
	for (unsigned i = 1; i < p->groups; i++)
		p->main_loop[i] = p->main_loop[0];
	if (g->mode == SYNC_BODIES) {
		if (rng_chance(r, 50)) { /* the second group has its own code from its entry on */
			block(g, rng_below(r, 6), 1);
			append(g, OPC_END, 1);
			p->entry[1] = (uint32_t)g->out->ninsns;
			block(g, rng_below(r, 6), 2);
		}
		if (nsync == 2 && rng_chance(r, 30))
			p->main_loop[1] = loop(g, n / 2, 2 * trips, 1, 2);
		else
			p->main_loop[1] = loop(g, n, trips, nsync, 2);
	}
	if (g->mode == SYNC_GAP)
		boundary(g, 1);
}

static void fill_accesses(struct gen *g)
{
	struct rng *r = &g->rng;
	uint64_t part = (uint64_t)(g->t->v.lds_bytes / g->t->v.lds_partitions);
	for (unsigned i = 0; i < ARRAY_LEN(g->buffers); i++)
		g->buffers[i] = (struct buffer){
			.name = "b",
			.base = (uint32_t)(rng_below(r, (unsigned)g->t->v.lds_partitions) * part),
			.slot_bytes = (uint32_t)(rng_chance(r, 50) ? part : part / 4),
			.slots = rng_range(r, 2, 3),
			.alias_of = -1,
		};
	for (unsigned i = 0; i < ARRAY_LEN(g->access); i++) {
		struct access *a = &g->access[i];
		for (unsigned k = 0; k < 64; k++)
			g->lanes[i][k] = rng_below(r, 4096);
		for (unsigned k = 0; k < PROG_MAX_WAVES; k++)
			g->wave_base[i][k] = rng_below(r, 4) * (uint32_t)(part / 2);
		*a = (struct access){
			.buffer = rng_chance(r, 10) ? -1
						    : (int32_t)rng_below(r, ARRAY_LEN(g->buffers)),
			.global = -1,
			.slot = (int32_t)rng_below(r, 3) - 1,
			.nlanes = (uint32_t)g->t->v.wave_size,
			.lane = g->lanes[i],
			.wave_base = g->wave_base[i],
			.width = 4,
		};
	}
}

/* Each program leans on a few classes, so that none hides the others. */
static void set_weights(struct gen *g)
{
	struct rng *r = &g->rng;
	for (unsigned c = 0; c < OPC_COUNT; c++)
		g->weight[c] = rng_chance(r, 45) ? rng_range(r, 1, 6) : 0;
	for (unsigned c = 0; c < 2; c++)
		g->weight[rng_below(r, OPC_BRANCH)] = 15;
	g->weight[OPC_WAIT] = rng_below(r, 4);
	g->weight[OPC_BRANCH] = g->weight[OPC_BARRIER] = g->weight[OPC_SIGNAL] = 0;
	g->weight[OPC_AWAIT] = g->weight[OPC_END] = 0;
	if (g->t->v.tdm_engines == 0)
		g->weight[OPC_TDM_LOAD] = g->weight[OPC_TDM_STORE] = 0;
	g->weight[OPC_SLEEP] = g->weight[OPC_SLEEP] > 4;
	g->weight[OPC_VALU]++;
	bool permute = false;
	for (size_t i = 0; i < g->t->nlds; i++)
		permute |= minitarget_is_permute(&g->t->lds[i]);
	if (!permute)
		g->weight[OPC_LDS_PERMUTE] = 0;
	for (unsigned c = 0; c < OPC_COUNT; c++)
		g->weight_sum += g->weight[c];
}

static void set_shape(struct gen *g)
{
	struct rng *r = &g->rng;
	struct program *p = &g->out->p;
	static const enum sync_mode two[] = {SYNC_NONE, SYNC_PLAIN,  SYNC_GAP,
					     SYNC_GAP,	SYNC_BODIES, SYNC_LEAVE};
	p->waves = rng_chance(r, 40) ? 8 : rng_range(r, 1, 16);
	p->groups = p->waves % 2 == 0 && rng_chance(r, 75) ? 2 : 1;
	if (p->waves % 4 == 0 && rng_chance(r, 8))
		p->groups = 4;
	g->all = (1u << p->groups) - 1;
	g->mode = p->groups == 2      ? two[rng_below(r, ARRAY_LEN(two))]
		  : rng_chance(r, 70) ? SYNC_PLAIN
				      : SYNC_NONE;
	g->split = g->t->v.barrier_split == 1 && rng_chance(r, 50);
	g->naccs = rng_range(r, 1, 6);
	g->regs = rng_range(r, 4, 56);
	g->out->cfg.resident = rng_chance(r, 25) ? 2 : 1;
	g->out->cfg.clock_mhz = rng_range(r, 400, 1200) + 0.5 * rng_below(r, 2);
	g->out->cfg.bytes_per_clk =
		rng_chance(r, 40) ? rng_range(r, 8, 128) + 0.25 * rng_below(r, 4) : 0;
}

static void generate(struct gen *g)
{
	struct rng *r = &g->rng;
	struct program *p = &g->out->p;
	unsigned trips = rng_range(r, 1, 6);
	unsigned issues = rng_range(r, 100, 1100) / (p->waves * g->out->cfg.resident);
	unsigned n = issues / trips < 3 ? 3 : issues / trips > 40 ? 40 : issues / trips;

	block(g, rng_below(r, 8), g->all);
	if (rng_chance(r, 30))
		sync_point(g, g->all);
	main_loops(g, n, trips);
	bool rejoined = p->entry[1] == 0;
	unsigned mask = rejoined ? g->all : 2;
	block(g, rng_below(r, 8), mask);
	if (g->mode == SYNC_LEAVE) {
		append(g, OPC_END, 2);
		sync_point(g, g->all);
	}
	if (rejoined && rng_chance(r, 20))
		loop(g, rng_range(r, 2, 6), rng_range(r, 1, 3), g->mode == SYNC_NONE ? 0 : 1,
		     g->all);
	append(g, OPC_END, mask);
}

struct randprog *randprog_new(const struct minitarget *base, uint64_t seed)
{
	struct randprog *o = xcalloc(1, sizeof(*o));
	struct arena *arena = arena_new();
	struct gen *g = arena_alloc(arena, 1, sizeof(*g));
	struct program *p = &o->p;
	g->rng.state = seed * 0x2545f4914f6cdd1du + 1;
	g->out = o;
	o->target = minitarget_copy(base);
	randprog_perturb(&o->target->t, &g->rng);
	g->t = &o->target->t;
	p->target = g->t;
	p->arena = arena;
	p->name = "random";
	p->loops = o->loops;
	p->stages = o->stages;
	p->nstages = ARRAY_LEN(o->stages);
	for (size_t i = 0; i < p->nstages; i++)
		o->stages[i].name = "s";
	for (unsigned i = 0; i < PROG_MAX_GROUPS; i++)
		p->main_loop[i] = -1;
	set_shape(g);
	set_weights(g);
	fill_accesses(g);
	generate(g);
	p->insns = o->insns;
	p->ninsns = o->ninsns;
	p->buffers = g->buffers;
	p->nbuffers = ARRAY_LEN(g->buffers);
	p->access = g->access;
	p->naccess = ARRAY_LEN(g->access);
	p->workgroups = 1;
	p->cluster_workgroups = 1;
	p->ksteps = o->loops[p->main_loop[0]].trips * o->loops[p->main_loop[0]].steps;
	p->gap = g->mode == SYNC_GAP;
	p->ideal_clk = 1;
	return o;
}

void randprog_lengthen(struct randprog *r, unsigned factor)
{
	struct program *p = &r->p;
	for (unsigned i = 0; i < p->groups; i++)
		if (i == 0 || p->main_loop[i] != p->main_loop[0])
			p->loops[p->main_loop[i]].trips *= factor;
}

void randprog_free(struct randprog *r)
{
	if (!r)
		return;
	arena_free(r->p.arena);
	minitarget_free(r->target);
	free(r->insns);
	free(r);
}
