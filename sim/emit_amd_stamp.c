/*
 * Clock stamps: in front of the loop, at the stages of its last trip, and behind it. The last trip is written out
 * a second time for this, behind the loop, which has no stamps itself. Each wave stores its own at the end. As many
 * stages are stamped as scalar registers are left for.
 */
#include "emit_internal.h"

#include <stdlib.h>
#include <string.h>

static bool stage_begins(const struct emit *e, const struct loop *l, uint32_t i)
{
	return i == l->begin || e->p->insns[i].stage != e->p->insns[i - 1].stage;
}

static unsigned free_pairs(const struct emit *e)
{
	unsigned n = 0;

	for (unsigned r = 0; r + 1 < e->sgpr_end; r += 2)
		n += !e->sgpr_used[r] && !e->sgpr_used[r + 1];
	return n;
}

/* Registers of stamps, once all others have theirs. The body is printed again then. */
void stamps_plan(struct emit *e)
{
	struct kernel_text *k = e->k;
	const struct loop *l = &e->p->loops[0];
	unsigned stages = 0, all, room;

	if (!e->o->stamps)
		return;
	for (uint32_t i = l->begin; e->p->nloops == 1 && l->trips > 1 && i < l->end; i++)
		stages += stage_begins(e, l, i) && e->p->insns[i].stage >= 0;
	all = stages;
	room = free_pairs(e);
	room -= room > 0; /* for the loop's shorter end */
	if (room < 2) {
		emit_fail(e, DIAG_REG_CAP, e->where, "no scalar registers are left for clock stamps");
		return;
	}
	if (stages > room - 2)
		stages = room - 2;
	if (stages > EMIT_MAX_STAMPS - 2)
		stages = EMIT_MAX_STAMPS - 2;
	e->stamp_skip = all - stages; /* the last stages of the trip */
	k->stamps = stages + 2;
	for (unsigned i = 0; i < k->stamps; i++)
		e->s_stamp[i] = sgpr_take(e, 2, 2);
	k->stamp_stage = xcalloc(k->stamps, sizeof(*k->stamp_stage));
	k->stamp_stage[0] = "loop-begin";
	k->stamp_stage[k->stamps - 1] = "loop-end";
}

static void stamp(struct emit *e, unsigned i)
{
	put_insn(e, "%s s[%u:%u]", e->gfx9 ? "s_memtime" : "s_get_shader_cycles_u64", e->s_stamp[i], e->s_stamp[i] + 1);
	e->own_insns++;
}

void stamp_loop(struct emit *e, size_t loop, bool end)
{
	bool is_main = false;

	for (unsigned g = 0; g < e->p->groups; g++)
		is_main |= e->p->main_loop[g] == (int)loop;
	e->stamp_seen = 0;
	if (!e->k->stamps || !is_main)
		return;
	stamp(e, end ? e->k->stamps - 1 : 0);
	if (e->gfx9) { /* it counts with the LDS instructions, and may come out of order */
		put_insn(e, "s_waitcnt lgkmcnt(0)");
		e->own_insns++;
	}
}

bool stamps_peel(const struct emit *e)
{
	return e->k->stamps > 2;
}

void stamp_stage(struct emit *e, uint32_t i)
{
	const struct loop *l = &e->p->loops[0];
	unsigned n;

	if (!e->in_copy || i < l->begin || i >= l->end || e->p->insns[i].stage < 0)
		return;
	n = e->stamp_seen++;
	if (n < e->stamp_skip || n - e->stamp_skip + 2 >= e->k->stamps)
		return;
	e->k->stamp_stage[n - e->stamp_skip + 1] = e->p->stages[e->p->insns[i].stage].name;
	stamp(e, n - e->stamp_skip + 1);
}

/* Wave w of workgroup g writes at (g * waves + w) * stamps * 8. */
void stamps_store(struct emit *e)
{
	unsigned t = e->s_temp, arg = (unsigned)e->k->nargs - 1, v = e->v_tid & ~1u;
	char addr[24];

	if (!e->k->stamps)
		return;
	while (v + 2 >= e->p->vgpr)
		v -= 2;
	put_insn(e, "; clock stamps");
	put_insn(e, e->gfx9 ? "s_waitcnt lgkmcnt(0)" : "s_wait_kmcnt 0x0");
	put_insn(e, "%s s[%u:%u], s[%u:%u], 0x%x", e->gfx9 ? "s_load_dwordx2" : "s_load_b64", t, t + 1, e->s_args, e->s_args + 1,
		 arg * 8);
	put_insn(e, "s_mul_i32 s%u, s%u, %u", t + 2, e->s_tile_y, e->k->grid[0]);
	put_insn(e, e->gfx9 ? "s_add_u32 s%u, s%u, s%u" : "s_add_co_u32 s%u, s%u, s%u", t + 2, t + 2, e->s_tile_x);
	put_insn(e, "s_mul_i32 s%u, s%u, %u", t + 2, t + 2, e->p->waves);
	put_insn(e, e->gfx9 ? "s_add_u32 s%u, s%u, s%u" : "s_add_co_u32 s%u, s%u, s%u", t + 2, t + 2, e->s_wave);
	put_insn(e, "s_mul_i32 s%u, s%u, %u", t + 2, t + 2, e->k->stamps * 8);
	put_insn(e, e->gfx9 ? "s_waitcnt vmcnt(0) lgkmcnt(0)" : "s_wait_kmcnt 0x0");
	if (!e->gfx9)
		put_insn(e, "s_wait_storecnt 0x0");
	put_insn(e, e->gfx9 ? "s_mov_b64 exec, 1" : "s_mov_b32 exec_lo, 1");
	reg_name(addr, REG_SGPR + t, 2);
	for (unsigned i = 0; i < e->k->stamps; i++) {
		char lo[24], hi[24], tail[32];

		reg_name(lo, REG_SGPR + e->s_stamp[i], 1);
		reg_name(hi, REG_SGPR + e->s_stamp[i] + 1, 1);
		snprintf(tail, sizeof(tail), "offset:%u", i * 8);
		if (i == 0) {
			char at[24];

			reg_name(at, REG_SGPR + t + 2, 1);
			put_op(e, "v_mov_b32", (struct opnd[]){ op_v(v + 2, 1), op_t(at) }, 2, NULL);
		}
		put_op(e, "v_mov_b32", (struct opnd[]){ op_v(v, 1), op_t(lo) }, 2, NULL);
		put_op(e, "v_mov_b32", (struct opnd[]){ op_v(v + 1, 1), op_t(hi) }, 2, NULL);
		put_op(e, e->gfx9 ? "global_store_dwordx2" : "global_store_b64",
		       (struct opnd[]){ { 0 }, op_v(v + 2, 1), op_v(v, 2), op_t(addr) }, 4, tail);
		put_insn(e, e->gfx9 ? "s_nop 1" : "v_nop");
	}
}
