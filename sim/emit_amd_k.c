/*
 * How global addresses move on along K in kernels whose copies and loads are buffer instructions: one scalar
 * counter is the byte offset of all instructions of an operand, one buffer resource holds the distance of a
 * K-step inside the trip, and where that fits, the immediate offset the distance of a slot.
 */
#include "emit_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool moves(const struct insn *in)
{
	return in->cls == OPC_VMEM_LDS || in->cls == OPC_VMEM_LOAD;
}

static const struct access *operand_access(const struct emit *e, uint32_t i, int *which)
{
	const struct insn *in = &e->p->insns[i];
	const struct access *ac = moves(in) && in->access >= 0 ? &e->p->access[in->access] : NULL;

	*which = ac ? address_operand(e->p, ac) : -1;
	return *which >= 0 ? ac : NULL;
}

/* K-steps that the immediate offset of a copy carries. M0 is so much lower. */
static unsigned slot_steps(const struct emit *e, const struct insn *in, const struct access *ac, int which)
{
	unsigned slots = ac->buffer >= 0 ? e->p->buffers[ac->buffer].slots : 1;

	if (in->cls != OPC_VMEM_LDS || slots < 2 || ac->slot <= 0 ||
	    (uint64_t)(slots - 1) * address_step_bytes(e->p, which) > 4095)
		return 0;
	return (unsigned)ac->slot;
}

/* K-steps from the trip's first one (loop), or from 0, to what the resource and the counter must reach. */
static int64_t steps_left(const struct emit *e, uint32_t i, const struct access *ac, int which)
{
	int64_t t = ac->tile;

	if (ac->from_end)
		t = (int64_t)e->p->ksteps - 1 - ac->tile;
	return t - (int64_t)slot_steps(e, &e->p->insns[i], ac, which);
}

static const struct loop *loop_of(const struct emit *e, uint32_t i)
{
	for (size_t l = 0; l < e->p->nloops; l++)
		if (i >= e->p->loops[l].begin && i < e->p->loops[l].end)
			return &e->p->loops[l];
	return NULL;
}

static bool relative(const struct access *ac)
{
	return !ac->absolute && !ac->from_end;
}

static void note_counter(struct emit *e, int which, int least)
{
	uint32_t step = address_step_bytes(e->p, which);
	unsigned i = 0;

	while (i < e->ncounters && e->counter_step[i] != step)
		i++;
	if (i == e->ncounters) {
		e->counter_step[e->ncounters] = step;
		e->kmin[e->ncounters++] = least;
	}
	if (least < e->kmin[i])
		e->kmin[i] = least;
	e->counters[which] = i;
}

bool k_collect(struct emit *e)
{
	bool used[4] = { false };
	int64_t least[4] = { 0 };

	for (int w = 0; w < 4; w++)
		e->counters[w] = UINT32_MAX;
	for (uint32_t i = 0; i <= e->last_matrix; i++) {
		int which;
		const struct access *ac = operand_access(e, i, &which);
		int64_t left;

		if (!ac)
			continue;
		if (relative(ac) != (loop_of(e, i) != NULL)) {
			emit_fail(e, DIAG_SHAPE, e->p->insns[i].loc, "a K-step relative to the loop outside of it can't be emitted");
			return false;
		}
		if (!relative(ac))
			continue;
		left = steps_left(e, i, ac, which);
		if (left < 0) {
			emit_fail(e, DIAG_SHAPE, e->p->insns[i].loc, "the loop copies K-steps that lie behind it");
			return false;
		}
		if (!used[which] || left < least[which])
			least[which] = left;
		used[which] = true;
	}
	for (int w = 0; w < 4; w++)
		if (used[w])
			note_counter(e, w, (int)least[w]);
	if (!e->ncounters)
		e->counter_step[e->ncounters++] = 1;
	return true;
}

static int kmin_of(const struct emit *e, int which)
{
	return e->counters[which] == UINT32_MAX ? 0 : e->kmin[e->counters[which]];
}

/* Whether a loop's instructions use the resource of operand which moved on by steps. */
static bool loop_has(const struct emit *e, int which, int64_t steps)
{
	for (uint32_t i = 0; i <= e->last_matrix; i++) {
		int w;
		const struct access *ac = operand_access(e, i, &w);

		if (ac && w == which && relative(ac) && steps_left(e, i, ac, w) - kmin_of(e, w) == steps)
			return true;
	}
	return false;
}

/* The resource that needs the least of a scalar offset. */
static int64_t best_resource(const struct emit *e, int which, int64_t left)
{
	int64_t final = (int64_t)(e->p->nloops ? e->p->loops[0].trips * e->p->loops[0].steps : 0) + kmin_of(e, which);

	if (e->counters[which] != UINT32_MAX && left >= final && loop_has(e, which, left - final))
		return left - final;
	for (int64_t r = left; r > 0 && r > left - 64; r--)
		if (loop_has(e, which, r))
			return r;
	return 0;
}

static void scalar_offset(struct emit *e, struct k_place *out, uint64_t bytes)
{
	if (bytes > UINT32_MAX) {
		emit_fail(e, DIAG_SHAPE, e->where, "a row of the operand is longer than 4 GiB");
		return;
	}
	if (bytes <= 64)
		snprintf(out->soffset, sizeof(out->soffset), "%u", (unsigned)bytes);
	else
		snprintf(out->soffset, sizeof(out->soffset), "s%u", scalar_get(e, SC_CONST, 0, (uint32_t)bytes, 1));
}

bool k_place(struct emit *e, uint32_t insn, struct k_place *out)
{
	const struct insn *in = &e->p->insns[insn];
	int which;
	const struct access *ac = operand_access(e, insn, &which);
	int64_t left, r, final;
	uint32_t step;

	if (!ac)
		return false;
	step = address_step_bytes(e->p, which);
	left = steps_left(e, insn, ac, which);
	out->imm = slot_steps(e, in, ac, which) * step;
	if (relative(ac)) {
		r = left - kmin_of(e, which);
		snprintf(out->soffset, sizeof(out->soffset), "s%u", e->counter + e->counters[which]);
	} else {
		r = best_resource(e, which, left);
		final = (int64_t)(e->p->nloops ? e->p->loops[0].trips * e->p->loops[0].steps : 0) + kmin_of(e, which);
		if (ac->from_end && e->counters[which] != UINT32_MAX && left - r == final)
			snprintf(out->soffset, sizeof(out->soffset), "s%u", e->counter + e->counters[which]);
		else
			scalar_offset(e, out, (uint64_t)(left - r) * step);
	}
	out->resource = scalar_get(e, SC_RESOURCE, which, (uint32_t)r * step, 4);
	return !e->failed;
}

static int pattern_of(struct emit *e, const struct access *ac, uint32_t waves)
{
	for (size_t i = 0; i < e->npatterns; i++)
		if (e->pattern[i].waves == waves &&
		    memcmp(e->pattern[i].base, ac->wave_base, e->p->waves * sizeof(*ac->wave_base)) == 0)
			return (int)i;
	if (e->npatterns == EMIT_MAX_PATTERNS) {
		emit_fail(e, DIAG_SHAPE, e->where, "the waves' places in LDS follow more than %d patterns", EMIT_MAX_PATTERNS);
		return 0;
	}
	e->pattern[e->npatterns] = (struct wave_pattern){ ac->wave_base, waves };
	return (int)e->npatterns++;
}

unsigned m0_of(struct emit *e, uint32_t copy)
{
	const struct insn *in = &e->p->insns[copy];
	const struct access *ac = &e->p->access[in->access];
	const struct buffer *b = &e->p->buffers[ac->buffer];
	int which = address_operand(e->p, ac);
	uint32_t at = b->base + (ac->slot > 0 ? (uint32_t)ac->slot * b->slot_bytes : 0) + ac->lane[0];

	if (which >= 0)
		at -= slot_steps(e, in, ac, which) * address_step_bytes(e->p, which);
	return scalar_get(e, SC_M0, pattern_of(e, ac, address_waves(e->p, in)), at, 1);
}

/* ---- set-up ---- */

static uint64_t rows_bytes(const struct emit *e, int which)
{
	const struct gemm_shape *g = e->p->gemm;

	return (which == 1 || which == 3 ? g->tile_n : g->tile_m) * address_row_bytes(e->p, which);
}

/* s_temp + 2, + 3: address of the workgroup's first row of operand which. */
static void first_row(struct emit *e, int which)
{
	static const unsigned arg[4] = { 0, 1, 3, 4 };
	uint64_t bytes = rows_bytes(e, which);
	unsigned t = e->s_temp + 2, tile = which == 1 || which == 3 ? e->s_tile_x : e->s_tile_y;

	if (bytes > UINT32_MAX) {
		emit_fail(e, DIAG_SHAPE, e->where, "the rows of one tile span more than 4 GiB");
		return;
	}
	put_insn(e, "s_load_dwordx2 s[%u:%u], s[%u:%u], 0x%x", t, t + 1, e->s_args, e->s_args + 1, arg[which] * 8);
	put_insn(e, "s_waitcnt lgkmcnt(0)");
	put_insn(e, "s_mul_i32 s%u, s%u, 0x%x", t + 2, tile, (uint32_t)bytes);
	put_insn(e, "s_mul_hi_u32 s%u, s%u, 0x%x", t + 3, tile, (uint32_t)bytes);
	put_insn(e, "s_add_u32 s%u, s%u, s%u", t, t, t + 2);
	put_insn(e, "s_addc_u32 s%u, s%u, s%u", t + 1, t + 1, t + 3);
}

static void resource_setup(struct emit *e, const struct scalar *s)
{
	unsigned t = e->s_temp + 2;

	put_insn(e, "s_add_u32 s%u, s%u, 0x%x", s->reg, t, s->value);
	put_insn(e, "s_addc_u32 s%u, s%u, 0", s->reg + 1, t + 1);
	put_insn(e, "s_and_b32 s%u, s%u, 0xffff", s->reg + 1, s->reg + 1);
	put_insn(e, "s_mov_b32 s%u, 0x%x", s->reg + 2, (uint32_t)(rows_bytes(e, s->which) - s->value));
	put_insn(e, "s_mov_b32 s%u, 0x20000", s->reg + 3);
}

void k_setup(struct emit *e)
{
	for (size_t i = 0; i < e->nscalars; i++)
		if (e->scalar[i].kind == SC_CONST)
			put_insn(e, "s_mov_b32 s%u, 0x%x", e->scalar[i].reg, e->scalar[i].value);
	for (int which = 0; which < 4; which++) {
		bool first = true;

		for (size_t i = 0; i < e->nscalars; i++) {
			if (e->scalar[i].kind != SC_RESOURCE || e->scalar[i].which != which)
				continue;
			if (first)
				first_row(e, which);
			first = false;
			resource_setup(e, &e->scalar[i]);
		}
	}
	for (size_t k = 0; k < e->npatterns && !e->failed; k++) {
		wave_form(e, e->s_temp + 1, e->pattern[k].base, e->pattern[k].waves, 0, e->where);
		for (size_t i = 0; i < e->nscalars; i++)
			if (e->scalar[i].kind == SC_M0 && e->scalar[i].which == (int)k)
				put_insn(e, "%s s%u, s%u, 0x%x", e->gfx9 ? "s_add_u32" : "s_add_co_u32", e->scalar[i].reg,
				    e->s_temp + 1, e->scalar[i].value);
	}
	for (unsigned i = 0; i < e->ncounters; i++)
		put_insn(e, "s_mov_b32 s%u, 0x%x", e->counter + i, (uint32_t)e->kmin[i] * e->counter_step[i]);
}
