#include "tinyrand.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BUFFERS 3
#define SLOT_BYTES 64u

enum fill { FILL_COPY, FILL_TDM, FILL_WRITE };

struct ring {
	int32_t buffer;
	char operand;
	enum fill fill;
	unsigned fill_groups;
	unsigned slots, distance; /* tile k is read while tile k + distance is filled */
	unsigned fill_stage, read_stage, load_stage;
	bool load_ahead;          /* a load is written to LDS one trip later */
	bool fill_first;          /* in a stage that does both */
	bool two_reads;
	struct tiny_range to, from;
	unsigned reg, staging;
};

struct gen {
	uint64_t rng;
	struct tiny *t;
	const struct target *target;
	bool gfx9, split;
	unsigned groups_all;
	struct ring ring[MAX_BUFFERS];
	unsigned nrings, stages, mma_stage, gap, unroll, trips, peel, waves;
	bool read_ahead;      /* the fragments of tile k + 1 are read behind the matrix ops of tile k */
	unsigned weaken, drop_barrier; /* per cent */
	bool scalar, alias, roomy, edge;
	int id;               /* of split barriers */
	unsigned members;
	bool signal_early;    /* a split barrier's signal stands in front of the stage's last operation */
};

static unsigned rnd(struct gen *g, unsigned n)
{
	g->rng ^= g->rng << 13;
	g->rng ^= g->rng >> 7;
	g->rng ^= g->rng << 17;
	return n ? (unsigned)((g->rng * 0x2545f4914f6cdd1du) >> 40) % n : 0;
}

static bool chance(struct gen *g, unsigned percent)
{
	return rnd(g, 100) < percent;
}

static enum counter counter_of(const struct gen *g, enum opclass c)
{
	return (enum counter)g->target->classes[c].counter;
}

/* A wait for everything, or what became of it. */
static void weak_wait(struct gen *g, enum counter c)
{
	unsigned value = 0;

	if (chance(g, g->weaken)) {
		if (chance(g, 40))
			return;
		value = 1 + rnd(g, 4);
	}
	tiny_wait(g->t, g->groups_all, c, value);
}

static void wait_all(struct gen *g)
{
	bool used[CTR_COUNT] = { false };
	unsigned from = rnd(g, CTR_COUNT);

	used[counter_of(g, OPC_LDS_READ)] = true;
	for (unsigned i = 0; i < g->nrings; i++)
		used[counter_of(g, g->ring[i].fill == FILL_COPY ? OPC_VMEM_LDS : g->ring[i].fill == FILL_TDM ? OPC_TDM_LOAD
					   : OPC_VMEM_LOAD)] = true;
	for (unsigned c = 0; c < CTR_COUNT; c++)
		if (used[(c + from) % CTR_COUNT])
			weak_wait(g, (enum counter)((c + from) % CTR_COUNT));
}

static void barrier(struct gen *g, unsigned groups)
{
	if (chance(g, g->drop_barrier))
		return;
	if (!g->split) {
		tiny_barrier(g->t, groups);
		return;
	}
	tiny_signal(g->t, groups, g->id)->members = (uint16_t)g->members;
	tiny_await(g->t, groups, g->id);
}

static void fill(struct gen *g, const struct ring *r, struct tiny_tile k, bool load)
{
	if (r->fill == FILL_COPY) {
		struct insn *in = tiny_copy(g->t, r->fill_groups, r->buffer, k, r->to);

		if (g->edge && chance(g, 40))
			in->flags |= INSN_EDGE_ABSENT;
	} else if (r->fill == FILL_TDM) {
		tiny_tdm(g->t, r->fill_groups, r->buffer, k, r->to);
	} else {
		if (load) {
			tiny_load(g->t, r->fill_groups, r->operand, k, r->staging);
			tiny_wait(g->t, r->fill_groups, counter_of(g, OPC_VMEM_LOAD), 0);
		}
		tiny_write(g->t, r->fill_groups, r->buffer, k, r->to, r->staging);
	}
}

static void multiply(struct gen *g)
{
	if (chance(g, 3))
		weak_wait(g, counter_of(g, OPC_LDS_READ));
	else
		tiny_wait(g->t, g->groups_all, counter_of(g, OPC_LDS_READ), 0);
	for (unsigned i = 0; i + 1 < g->nrings || i == 0; i++) {
		const struct ring *b = &g->ring[i + 1 < g->nrings ? i + 1 : 0];

		tiny_mma(g->t, g->groups_all, 32 + 4 * i, g->ring[0].reg, b->reg);
	}
}

static struct tiny_tile loop_tile(int at)
{
	return (struct tiny_tile){ TINY_LOOP, at };
}

static void fill_in_loop(struct gen *g, const struct ring *r, unsigned stage, unsigned copy)
{
	int at = (int)(copy + r->distance);

	if (stage == r->fill_stage) {
		if (r->fill == FILL_WRITE && !r->load_ahead && r->load_stage == stage)
			tiny_load(g->t, r->fill_groups, r->operand, loop_tile(at), r->staging);
		if (r->fill == FILL_WRITE && chance(g, 5))
			weak_wait(g, counter_of(g, OPC_VMEM_LOAD));
		else if (r->fill == FILL_WRITE)
			tiny_wait(g->t, g->groups_all, counter_of(g, OPC_VMEM_LOAD), 0);
		fill(g, r, loop_tile(at), false);
		if (r->load_ahead)
			tiny_load(g->t, r->fill_groups, r->operand, loop_tile(at + 1), r->staging);
	} else if (r->fill == FILL_WRITE && !r->load_ahead && stage == r->load_stage) {
		tiny_load(g->t, r->fill_groups, r->operand, loop_tile(at), r->staging);
	}
}

/* One read, or two that fill a register each. */
static void read_tile(struct gen *g, const struct ring *r, struct tiny_tile k)
{
	struct tiny_range part = r->from;

	if (!r->two_reads) {
		tiny_read(g->t, g->groups_all, r->buffer, k, part, r->reg);
		return;
	}
	part.bytes /= 2;
	for (unsigned i = 0; i < 2; i++) {
		tiny_read(g->t, g->groups_all, r->buffer, k, part, r->reg + i)->span[0].n = 1;
		part.from += part.bytes;
	}
}

static void read_in_loop(struct gen *g, const struct ring *r, unsigned stage, unsigned copy)
{
	if (stage == r->read_stage)
		read_tile(g, r, loop_tile((int)copy + g->read_ahead));
}

static void stage(struct gen *g, unsigned s, unsigned copy)
{
	unsigned first = rnd(g, g->nrings);

	barrier(g, g->groups_all);
	if (chance(g, 15))
		wait_all(g);
	if (g->scalar && chance(g, 50)) {
		tiny_smem(g->t, g->groups_all, 4);
		if (chance(g, 80))
			tiny_wait(g->t, g->groups_all, counter_of(g, OPC_SMEM), chance(g, g->weaken));
		if (chance(g, 30))
			tiny_salu(g->t, g->groups_all, 5, 4);
	}
	if (g->read_ahead && s == g->mma_stage)
		multiply(g);
	for (unsigned j = 0; j < g->nrings; j++) {
		const struct ring *r = &g->ring[(j + first) % g->nrings];

		if (r->fill_first)
			fill_in_loop(g, r, s, copy);
		read_in_loop(g, r, s, copy);
		if (!r->fill_first)
			fill_in_loop(g, r, s, copy);
	}
	if (!g->read_ahead && s == g->mma_stage)
		multiply(g);
	wait_all(g);
}

static void prologue(struct gen *g)
{
	for (unsigned i = 0; i < g->nrings; i++) {
		const struct ring *r = &g->ring[i];

		for (unsigned k = 0; k < r->distance; k++)
			fill(g, r, (struct tiny_tile){ TINY_FIRST, (int)k }, true);
		if (r->load_ahead)
			tiny_load(g->t, r->fill_groups, r->operand, (struct tiny_tile){ TINY_FIRST, (int)r->distance },
				  r->staging);
	}
	if (!chance(g, g->weaken / 2))
		wait_all(g);
	barrier(g, g->groups_all);
	if (!g->read_ahead)
		return;
	for (unsigned i = 0; i < g->nrings; i++)
		read_tile(g, &g->ring[i], (struct tiny_tile){ TINY_FIRST, 0 });
	if (!chance(g, g->weaken / 2))
		wait_all(g);
	barrier(g, g->groups_all);
}

static void epilogue(struct gen *g)
{
	for (unsigned n = g->peel; n-- > 0;) {
		wait_all(g);
		if (chance(g, 80))
			barrier(g, g->groups_all);
		if (g->read_ahead)
			multiply(g);
		for (unsigned i = 0; i < g->nrings && (!g->read_ahead || n > 0); i++)
			read_tile(g, &g->ring[i], (struct tiny_tile){ TINY_LAST, (int)n - (int)g->read_ahead });
		if (!g->read_ahead)
			multiply(g);
	}
}

static void choose_ring(struct gen *g, unsigned i, const struct tinyrand_options *o)
{
	struct ring *r = &g->ring[i];
	uint32_t share = SLOT_BYTES / g->waves;

	r->operand = i == 0 ? 'A' : 'B';
	r->slots = 1 + rnd(g, o->max_slots);
	r->distance = 1 + rnd(g, r->slots + (chance(g, 10) ? 1 : 0));
	if (g->read_ahead && r->distance < 2 && chance(g, 90))
		r->distance = 2;
	if (r->slots < r->distance + g->read_ahead && chance(g, 70))
		r->slots = r->distance;
	if (g->roomy && o->max_slots >= 4) { /* nothing is refilled in the trips that read it */
		r->distance = g->read_ahead || chance(g, 50) ? 2 : 1;
		r->slots = r->distance + (r->distance == 1 && chance(g, 50) ? 1 : 2);
	}
	r->fill = chance(g, 50) ? FILL_COPY : FILL_WRITE;
	if (!g->gfx9 && chance(g, 40))
		r->fill = FILL_TDM;
	r->fill_groups = g->groups_all;
	r->to = (struct tiny_range){ 0, share, share, 0 };
	if (chance(g, r->fill == FILL_TDM ? 60 : 15)) { /* one group alone fills the slot */
		r->fill_groups = 1u << rnd(g, 2);
		share = SLOT_BYTES / (g->waves / 2);
		r->to = (struct tiny_range){ 0, share, share, r->fill_groups == 2 ? g->waves / 2 : 0 };
	}
	r->from = (struct tiny_range){ 0, SLOT_BYTES, 0, 0 };
	if (chance(g, 15))
		r->from = (struct tiny_range){ 0, SLOT_BYTES / g->waves, SLOT_BYTES / g->waves, 0 };
	else if (chance(g, 15))
		r->from = (struct tiny_range){ SLOT_BYTES / 2, SLOT_BYTES / 2, 0, 0 };
	r->fill_stage = rnd(g, g->stages);
	r->read_stage = g->read_ahead ? g->mma_stage + rnd(g, g->stages - g->mma_stage) : rnd(g, g->mma_stage + 1);
	r->load_ahead = r->fill == FILL_WRITE && chance(g, 50);
	r->load_stage = rnd(g, r->fill_stage + 1);
	r->fill_first = chance(g, 50);
	r->reg = 2 * i;
	r->two_reads = chance(g, 30);
	r->staging = 16 + 2 * i;
	r->buffer = g->alias && i == 1 ? tiny_alias(g->t, r->operand, g->ring[0].buffer, SLOT_BYTES, r->slots)
				       : tiny_buffer(g->t, r->operand, SLOT_BYTES, r->slots);
}

static void choose(struct gen *g, const struct tinyrand_options *o)
{
	static const unsigned weak[] = { 0, 4, 10, 25, 60 };
	unsigned ksteps = 2 + rnd(g, chance(g, 15) ? o->max_long : o->max_ksteps - 1);

	g->waves = o->two_waves || chance(g, 85) ? 2 : 4;
	g->groups_all = 3;
	g->stages = 1 + rnd(g, 4);
	g->mma_stage = rnd(g, g->stages);
	g->gap = rnd(g, 3);
	g->read_ahead = chance(g, 25);
	g->peel = chance(g, 40) ? rnd(g, ksteps < 5 ? ksteps : 5) : 0;
	g->unroll = 1 + (chance(g, 50) ? rnd(g, 4) : 0);
	if ((ksteps - g->peel) % g->unroll)
		g->unroll = 1;
	g->trips = (ksteps - g->peel) / g->unroll;
	g->nrings = 1 + rnd(g, o->max_buffers < MAX_BUFFERS ? o->max_buffers : MAX_BUFFERS);
	g->weaken = weak[rnd(g, ARRAY_LEN(weak))];
	g->drop_barrier = chance(g, 15) ? 10 : 0;
	g->scalar = chance(g, 15);
	g->alias = chance(g, 4);
	g->roomy = chance(g, 60);
	g->split = !g->gfx9 && chance(g, 60);
	g->id = chance(g, 70) ? BAR_WORKGROUP : 1;
	g->members = g->id == 1 && chance(g, 50) ? g->waves : 0;
	g->edge = o->edges && chance(g, 15);
}

struct tiny *tinyrand_build(const struct target *target, const struct tinyrand_options *o)
{
	struct gen g = { .rng = (o->seed + 1) * 0x9e3779b97f4a7c15u, .target = target };
	struct tiny *t;

	g.gfx9 = target->counters[CTR_VM].present;
	for (unsigned i = 0; i < 8; i++)
		rnd(&g, 2);
	choose(&g, o);
	g.t = t = tiny_new(target, g.waves, 2);
	for (unsigned i = 0; i < g.nrings; i++)
		choose_ring(&g, i, o);
	prologue(&g);
	for (unsigned i = 0; i < g.gap; i++)
		barrier(&g, 2);
	tiny_loop(t, g.trips, g.unroll);
	for (unsigned c = 0; c < g.unroll; c++)
		for (unsigned s = 0; s < g.stages; s++)
			stage(&g, s, c);
	tiny_loop_end(t);
	for (unsigned i = 0; i < g.gap; i++)
		barrier(&g, 1);
	epilogue(&g);
	t->p->gap = g.gap;
	return tiny_finish(t, g.trips * g.unroll + g.peel) ? t : NULL;
}
