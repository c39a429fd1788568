/* The program's instructions as text, in their order; runs that only some waves execute are branched around. */
#include "emit_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct opnd span_op(const struct insn *in, enum span_role role, unsigned nth)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role && nth-- == 0)
			return op_v(in->span[i].first, in->span[i].n);
	return op_t("?");
}

/* ---- matrix ---- */

static unsigned gfx9_format(enum dtype d)
{
	return d == DT_BF8 ? 1 : d == DT_FP6 ? 2 : d == DT_BF6 ? 3 : d == DT_FP4 ? 4 : 0;
}

static void add_formats(const struct emit *e, const struct insn *in, struct strbuf *tail)
{
	static const char *const names[] = { "FP8", "BF8", "FP6", "BF6", "FP4" };
	const struct gemm_shape *g = e->p->gemm;
	unsigned a = gfx9_format(g->type_a), b = gfx9_format(g->type_b);

	if (!strstr(in->op, "f8f6f4"))
		return;
	if (e->gfx9) {
		if (a)
			strbuf_add(tail, " cbsz:%u", a);
		if (b)
			strbuf_add(tail, " blgp:%u", b);
		return;
	}
	if (a)
		strbuf_add(tail, " matrix_a_fmt:MATRIX_FMT_%s", names[a]);
	if (b)
		strbuf_add(tail, " matrix_b_fmt:MATRIX_FMT_%s", names[b]);
}

static void matrix(struct emit *e, const struct insn *in)
{
	struct opnd o[6] = { span_op(in, ROLE_DST, 0), span_op(in, ROLE_A, 0), span_op(in, ROLE_B, 0), span_op(in, ROLE_C, 0) };
	struct strbuf tail = { 0 };
	size_t n = 4;

	if (in->matrix->kind == MK_SMFMAC || in->matrix->kind == MK_SWMMAC) {
		emit_fail(e, DIAG_TARGET, in->loc, "sparse matrix ops such as '%s' can't be emitted", in->op);
		return;
	}
	if (in->matrix->kind == MK_MFMA_SCALE || in->matrix->kind == MK_WMMA_SCALE) {
		if (!scale_operands(e, in, o + 4, &tail))
			return;
		n = 6;
	}
	add_formats(e, in, &tail);
	put_op(e, in->op, o, n, tail.s ? tail.s + (tail.s[0] == ' ') : NULL);
	strbuf_free(&tail);
}

/* ---- memory ---- */

/* The mnemonic alone: rows of copies are named "buffer_load_dwordx4 lds". */
static void mnemonic(char buf[64], const char *op)
{
	snprintf(buf, 64, "%.*s", (int)strcspn(op, " "), op);
}

static void lds_access(struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];
	unsigned reg;
	uint32_t offset;
	char tail[32] = "";
	struct opnd addr;

	if (strstr(in->op, "read2") || strstr(in->op, "write2") || strstr(in->op, "2addr") || strstr(in->op, "permute")) {
		emit_fail(e, DIAG_TARGET, in->loc, "'%s' can't be emitted: its two addresses are not modelled", in->op);
		return;
	}
	if (!address_of(e, i, &reg, &offset)) {
		emit_fail(e, DIAG_SHAPE, in->loc, "the LDS addresses of '%s' are not known", in->op);
		return;
	}
	if (offset)
		snprintf(tail, sizeof(tail), "offset:%u", offset);
	addr = op_v(reg, 1);
	if (in->cls == OPC_LDS_READ)
		put_op(e, in->op, (struct opnd[]){ span_op(in, ROLE_DST, 0), addr }, 2, tail);
	else
		put_op(e, in->op, (struct opnd[]){ { 0 }, addr, span_op(in, ROLE_DATA, 0) }, 3, tail);
}

static void global_access(struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];
	struct k_place k;
	unsigned reg;
	uint32_t offset;
	char op[64], tail[64], rsrc[24];

	mnemonic(op, in->op);
	if (!e->gfx9 || strncmp(op, "buffer_load_", 12) != 0) {
		emit_fail(e, DIAG_TARGET, in->loc, "'%s' can't be emitted: on %s global data come by %s", op, e->p->target->name,
			  e->gfx9 ? "buffer_load_*" : "<tdm>");
		return;
	}
	if (!address_of(e, i, &reg, &offset) || !k_place(e, i, &k)) {
		emit_fail(e, DIAG_SHAPE, in->loc, "the global addresses of '%s' are not known: it needs a tile of an operand", op);
		return;
	}
	offset += k.imm;
	if (offset > 4095) {
		emit_fail(e, DIAG_SHAPE, in->loc, "the offset %u of '%s' does not fit", offset, op);
		return;
	}
	snprintf(tail, sizeof(tail), "%s offen%s", k.soffset, "");
	if (offset)
		snprintf(tail + strlen(tail), sizeof(tail) - strlen(tail), " offset:%u", offset);
	if (in->cls == OPC_VMEM_LDS)
		snprintf(tail + strlen(tail), sizeof(tail) - strlen(tail), " lds");
	put_op(e, op, (struct opnd[]){ in->cls == OPC_VMEM_LDS ? (struct opnd){ 0 } : span_op(in, ROLE_DST, 0), op_v(reg, 1),
				       op_t(reg_name(rsrc, REG_SGPR + k.resource, 4)), op_t(tail) }, 4, NULL);
}

/* ---- waits, barriers, scalar work ---- */

static void wait(struct emit *e, const struct insn *in)
{
	struct strbuf b = { 0 };

	if (!e->gfx9) {
		put_insn(e, "%s 0x%x", in->op, in->wait[0].value);
		return;
	}
	for (unsigned i = 0; i < in->nwait; i++)
		strbuf_add(&b, " %scnt(%u)", counter_name((enum counter)in->wait[i].counter), in->wait[i].value);
	put_insn(e, "s_waitcnt%s", b.s ? b.s : " 0");
	strbuf_free(&b);
}

static int m0_move(const struct insn *in)
{
	return in->cls == OPC_SALU && in->nspans && in->span[0].first == REG_M0;
}

static uint32_t copy_behind(const struct emit *e, uint32_t i)
{
	for (uint32_t k = i + 1; k < e->p->ninsns; k++)
		if (e->p->insns[k].cls == OPC_VMEM_LDS)
			return k;
	return UINT32_MAX;
}

static bool counts(const struct emit *e, const struct insn *in)
{
	return in->cls == OPC_SALU && in->nspans && in->span[0].first >= REG_SGPR + e->counter &&
	       in->span[0].first < REG_SGPR + e->counter + 4;
}

/* Does SCC hold the loop's verdict in front of instruction i? */
static bool scc_live(const struct emit *e, uint32_t i)
{
	for (; i < e->p->ninsns; i++) {
		const struct insn *in = &e->p->insns[i];

		if (in->cls == OPC_BRANCH)
			return true;
		if (in->cls == OPC_SALU && in->nspans && in->span[0].first == REG_SCC)
			return false;
	}
	return false;
}

/* What the loop's counter is compared with. */
static uint32_t loop_end_count(const struct emit *e, const struct loop *l)
{
	uint64_t trips = l->trips - (stamps_peel(e) ? 1 : 0);

	return (uint32_t)((trips * l->steps + (uint64_t)e->kmin[0]) * e->counter_step[0]);
}

static void scalar_work(struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];
	const struct loop *l = NULL;

	for (size_t k = 0; k < e->p->nloops; k++)
		if (i >= e->p->loops[k].begin && i < e->p->loops[k].end)
			l = &e->p->loops[k];
	if (m0_move(in)) {
		uint32_t copy = copy_behind(e, i);

		if (copy == UINT32_MAX || e->p->insns[copy].access < 0 || !e->p->access[e->p->insns[copy].access].lane)
			emit_fail(e, DIAG_SHAPE, in->loc, "the place in LDS of a copy is not known");
		else
			put_insn(e, "s_mov_b32 m0, s%u", m0_of(e, copy));
	} else if (counts(e, in) && l) {
		unsigned c = in->span[0].first - REG_SGPR - e->counter;

		put_insn(e, "%s s%u, s%u, s%u", in->op, e->counter + c, e->counter + c,
		    scalar_get(e, SC_CONST, 0, l->steps * e->counter_step[c], 1));
	} else if (in->nspans && in->span[0].first == REG_SCC && l) {
		put_insn(e, "%s s%u, s%u", in->op, e->counter,
			 scalar_get(e, SC_CONST, 0, loop_end_count(e, l), 1));
	} else if (in->nspans == 0) {
		tdm_or_idle(e, i, !scc_live(e, i));
	} else {
		emit_fail(e, DIAG_SHAPE, in->loc, "'%s' can't be emitted: what it computes is not known", in->op);
	}
}

static void vector_work(struct emit *e, const struct insn *in)
{
	struct opnd v = op_v(e->v_scratch, 1);

	if (in->cls == OPC_VALU && strcmp(in->op, "v_nop") == 0) {
		put_insn(e, "v_nop");
		return;
	}
	if (in->nspans || e->v_scratch == UINT32_MAX) {
		emit_fail(e, DIAG_SHAPE, in->loc,
			  in->nspans ? "'%s' in front of the last matrix op can't be emitted: what it computes is not known"
				     : "'%s' needs a vector register of the reserve", in->op);
		return;
	}
	put_op(e, in->op, (struct opnd[]){ v, v, v }, 3, NULL);
}

static void barrier(struct emit *e, const struct insn *in)
{
	if (in->cls == OPC_BARRIER) {
		put_insn(e, "s_barrier");
		return;
	}
	if (in->barrier > 0) {
		emit_fail(e, DIAG_TARGET, in->loc, "named barriers can't be emitted: who joins them is not in the schedule");
		return;
	}
	put_insn(e, "%s %d", in->op, in->barrier);
}

static void mode(struct emit *e, const struct insn *in)
{
	if (strcmp(in->op, "s_set_vgpr_msb") == 0) {
		put_insn(e, "s_set_vgpr_msb 0x%x", in->imm);
		e->msb = in->imm;
	} else {
		put_insn(e, "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 0, 8), 0x%x", in->imm);
	}
}

static void print_one(struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];

	switch (in->cls) {
	case OPC_MATRIX: matrix(e, in); return;
	case OPC_LDS_READ:
	case OPC_LDS_WRITE: lds_access(e, i); return;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_LDS: global_access(e, i); return;
	case OPC_TDM_LOAD: tdm_load(e, i); return;
	case OPC_SALU: scalar_work(e, i); return;
	case OPC_VALU:
	case OPC_TRANS:
	case OPC_PACKED: vector_work(e, in); return;
	case OPC_WAIT: wait(e, in); return;
	case OPC_BARRIER:
	case OPC_SIGNAL:
	case OPC_AWAIT: barrier(e, in); return;
	case OPC_SETPRIO: put_insn(e, "s_setprio %u", in->imm); return;
	case OPC_NOP: put_insn(e, "s_nop %u", in->imm ? in->imm - 1u : 0); return;
	case OPC_SLEEP: put_insn(e, "s_sleep %u", in->imm); return;
	case OPC_MODE: mode(e, in); return;
	case OPC_BRANCH: put_insn(e, "%s .Lloop%d", in->op, in->loop); return;
	case OPC_END: put_insn(e, "s_endpgm"); return;
	case OPC_VMEM_STORE:
	case OPC_TDM_STORE:
	case OPC_SMEM:
	case OPC_LDS_PERMUTE:
	case OPC_COUNT: break;
	}
	emit_fail(e, DIAG_SHAPE, in->loc, "'%s' can't be emitted in front of the last matrix op of a GEMM", in->op);
}

/* ---- order and masks ---- */

static uint32_t group_waves(const struct emit *e, uint8_t groups)
{
	struct insn in = { .groups = groups };

	return address_waves(e->p, &in);
}

/* Branch to label for waves of within that are not in mask. */
static void skip_others(struct emit *e, uint32_t mask, uint32_t within, unsigned label, uint32_t at, struct loc loc)
{
	if (e->p->groups == 2 && within == group_waves(e, 3) && (mask == group_waves(e, 1) || mask == group_waves(e, 2))) {
		e->needs_vcc = true;
		put_insn(e, "s_cbranch_%s .Lskip%u", mask == group_waves(e, 1) ? "vccnz" : "vccz", label);
	} else if (!scc_live(e, at)) {
		put_insn(e, "s_bitcmp1_b32 s%u, s%u", scalar_get(e, SC_CONST, 0, mask, 1), e->s_wave);
		put_insn(e, "s_cbranch_scc0 .Lskip%u", label);
		e->own_insns++;
	} else {
		emit_fail(e, DIAG_SHAPE, loc, "an instruction for some waves only stands where the loop's end is being decided");
	}
	e->own_insns++;
}

static void name_stage(struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];

	e->stage = in->stage;
	if (in->stage >= 0)
		strbuf_add(e->out, "\t; stage %s\n", e->p->stages[in->stage].name);
	stamp_stage(e, i);
}

/* Behind the last matrix op: what the other waves wait for stays. */
static bool kept(const struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];

	if (in->flags & INSN_EDGE_ONLY)
		return false;
	if (i <= e->last_matrix)
		return true;
	return in->cls == OPC_WAIT || in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT ||
	       in->cls == OPC_SETPRIO || in->cls == OPC_BRANCH;
}

struct walk { /* where the printed text is */
	uint32_t within, mask; /* waves that get here, and those of the run that is open */
	unsigned label;
	bool open, in_loop;
	uint32_t loop_end;
	size_t loop;
	unsigned loop_label;
};

static void close_run(struct emit *e, struct walk *w)
{
	if (w->open)
		strbuf_add(e->out, ".Lskip%u:\n", w->label);
	w->open = false;
}

static void enter_loops(struct emit *e, struct walk *w, uint32_t i)
{
	for (size_t l = 0; l < e->p->nloops; l++) {
		const struct loop *lp = &e->p->loops[l];
		uint32_t waves = group_waves(e, lp->groups);

		if (lp->begin != i)
			continue;
		close_run(e, w);
		if (waves != w->within) {
			w->loop_label = emit_label(e);
			skip_others(e, waves, w->within, w->loop_label, i, e->p->insns[i].loc);
		} else {
			w->loop_label = UINT32_MAX;
		}
		tdm_enter(e, lp);
		stamp_loop(e, l, false);
		e->stage = -1; /* named again behind the label */
		w->within = waves;
		w->in_loop = true;
		w->loop_end = lp->end;
		w->loop = l;
		strbuf_add(e->out, ".Lloop%zu:\n", l);
	}
}

static void leave_loop(struct emit *e, struct walk *w, uint32_t i)
{
	if (!w->in_loop || i != w->loop_end)
		return;
	close_run(e, w);
	stamp_loop(e, w->loop, true);
	if (w->loop_label != UINT32_MAX)
		strbuf_add(e->out, ".Lskip%u:\n", w->loop_label);
	w->in_loop = false;
	w->within = group_waves(e, (uint8_t)((1u << e->p->groups) - 1));
}

/* Descriptors move on for all waves, so in front of the branch around a run of tensor copies. */
static void tdm_run(struct emit *e, struct walk *w, uint32_t i)
{
	if (!w->in_loop && w->open && tdm_moves(e, i))
		close_run(e, w);
	tdm_before(e, i);
}

static void print_step(struct emit *e, struct walk *w, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];
	uint32_t mask = address_waves(e->p, in);

	if (!kept(e, i))
		return;
	if (w->open && (mask != w->mask || in->stage != e->stage))
		close_run(e, w);
	if (in->stage != e->stage)
		name_stage(e, i);
	if (in->cls == OPC_TDM_LOAD)
		tdm_run(e, w, i);
	if (!w->open && (mask & w->within) != w->within) {
		w->label = emit_label(e);
		w->mask = mask;
		w->open = true;
		skip_others(e, mask, w->within, w->label, i, in->loc);
	}
	e->exact = true;
	for (unsigned k = 0; k < in->repeat; k++)
		print_one(e, i);
	e->exact = false;
	e->body_insns += in->repeat;
}

/* The last trip, written out behind the loop, so that the loop itself has no stamps. */
static void stamped_trip(struct emit *e, struct walk *w, const struct loop *l)
{
	close_run(e, w);
	strbuf_add(e->out, "\t; the last trip, with clock stamps\n");
	e->stage = -1;
	e->in_copy = true;
	for (uint32_t i = l->begin; i + 1 < l->end && !e->failed; i++)
		print_step(e, w, i);
	e->in_copy = false;
}

bool body_print(struct emit *e)
{
	const struct program *p = e->p;
	struct walk w = { .within = group_waves(e, (uint8_t)((1u << p->groups) - 1)) };

	e->stage = -1;
	for (uint32_t i = 0; i < p->ninsns && !e->failed; i++) {
		if (p->insns[i].cls == OPC_END) { /* the last instruction */
			close_run(e, &w);
			result_print(e);
			stamps_store(e);
			put_insn(e, "s_endpgm");
			break;
		}
		leave_loop(e, &w, i);
		enter_loops(e, &w, i);
		print_step(e, &w, i);
		if (p->insns[i].cls == OPC_BRANCH && stamps_peel(e))
			stamped_trip(e, &w, &p->loops[w.loop]);
	}
	return !e->failed;
}
