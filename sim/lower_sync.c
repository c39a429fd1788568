/* Waits, barriers, priorities, nops and modes: ops that move no data. */
#include "lower_internal.h"

#include <string.h>

const char *wait_name(const struct target *t, int counter)
{
	static const char *const split[CTR_COUNT] = {
		[CTR_LOAD] = "s_wait_loadcnt", [CTR_STORE] = "s_wait_storecnt", [CTR_DS] = "s_wait_dscnt",
		[CTR_KM] = "s_wait_kmcnt", [CTR_ASYNC] = "s_wait_asynccnt", [CTR_TENSOR] = "s_wait_tensorcnt",
		[CTR_X] = "s_wait_xcnt", [CTR_EXP] = "s_wait_expcnt",
	};

	if (target_is_ptx(t))
		return "cp.async.wait_group";
	if (t->counters[CTR_DS].present && counter >= 0 && counter < CTR_COUNT && split[counter])
		return split[counter];
	return "s_waitcnt";
}

void emit_wait(struct lower *lw, int counter, unsigned value, uint8_t groups, uint8_t flags, struct loc loc)
{
	struct insn *in = emit(lw, OPC_WAIT, wait_name(lw->t, counter), groups, loc);

	in->flags |= flags;
	in->nwait = 1;
	in->wait[0].counter = (int8_t)counter;
	in->wait[0].value = (uint8_t)value;
}

void emit_drain(struct lower *lw, uint8_t groups, uint8_t flags, struct loc loc)
{
	int c = lw->t->classes[OPC_LDS_READ].counter;

	if (lw->t->v.barrier_orders >= 1)
		return; /* the barrier itself waits */
	if (c >= 0)
		emit_wait(lw, c, 0, groups, flags, loc);
	if (lw->t->classes[OPC_LDS_WRITE].counter >= 0 && lw->t->classes[OPC_LDS_WRITE].counter != c)
		emit_wait(lw, lw->t->classes[OPC_LDS_WRITE].counter, 0, groups, flags, loc);
}

void emit_barrier(struct lower *lw, int id, enum barrier_part part, unsigned members, uint8_t groups, uint8_t flags,
		  struct loc loc)
{
	bool split = lw->t->v.barrier_split >= 1;

	if (target_is_ptx(lw->t)) {
		ptx_barrier(lw, id, part, members, groups, flags, loc);
		return;
	}
	if (!split) {
		struct insn *in;

		if (part != BARRIER_BOTH || id != BAR_WORKGROUP) {
			diag_add(lw->d, loc, DIAG_TARGET, "%s has only the plain workgroup barrier", lw->t->name);
			return;
		}
		in = emit(lw, OPC_BARRIER, "s_barrier", groups, loc);
		in->flags |= flags;
		in->barrier = BAR_WORKGROUP;
		return;
	}
	for (int k = 0; k < 2; k++) {
		struct insn *in;

		if (part != BARRIER_BOTH && (part == BARRIER_SIGNAL) != (k == 0))
			continue;
		in = emit(lw, k == 0 ? OPC_SIGNAL : OPC_AWAIT, k == 0 ? "s_barrier_signal" : "s_barrier_wait", groups, loc);
		in->flags |= flags;
		in->barrier = (int8_t)id;
		in->members = (uint16_t)members;
	}
}

/* A wait whose value is found when all code is there. */
static void wait_copies(struct lower *lw, int c, unsigned keep, int ops, uint8_t groups, struct loc loc)
{
	emit_wait(lw, c, 0, groups, 0, loc);
	if (lw->over)
		return;
	lw->gw = xgrow(lw->gw, lw->ngw, &lw->cap_gw, sizeof(*lw->gw));
	lw->gw[lw->ngw++] = (struct group_wait){ (uint32_t)(lw->p->ninsns - 1), keep, ops };
}

void op_wait(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	struct insn *in = NULL;
	bool split = lw->t->counters[CTR_DS].present;

	for (int c = 0; c < CTR_COUNT; c++) {
		if (op->wait[c] < 0)
			continue;
		if (target_is_ptx(lw->t) && c == lw->t->classes[OPC_VMEM_LDS].counter) {
			wait_copies(lw, c, 0, op->wait[c], groups, op->loc);
			continue;
		}
		if (target_is_ptx(lw->t)) {
			diag_fix(diag_add(lw->d, op->wait_loc[c], DIAG_TARGET, "%s can't wait for the counter '%s'", lw->t->name,
					  counter_name((enum counter)c)),
				 "what uses a register waits for it by itself; write groups= or async= for copies");
			continue;
		}
		if (!lw->t->counters[c].present) {
			diag_add(lw->d, op->wait_loc[c], DIAG_TARGET, "%s has no counter '%s'", lw->t->name,
				 counter_name((enum counter)c));
			continue;
		}
		if ((unsigned)op->wait[c] > lw->t->counters[c].max) {
			diag_add(lw->d, op->wait_loc[c], DIAG_VALUE, "the counter '%s' of %s counts to %u",
				 counter_name((enum counter)c), lw->t->name, lw->t->counters[c].max);
			continue;
		}
		if (!in || split || in->nwait == ARRAY_LEN(in->wait)) {
			emit_wait(lw, c, (unsigned)op->wait[c], groups, 0, op->loc);
			in = lw->over ? NULL : &lw->p->insns[lw->p->ninsns - 1];
			if (!in)
				return;
			continue;
		}
		in->wait[in->nwait].counter = (int8_t)c;
		in->wait[in->nwait++].value = (uint8_t)op->wait[c];
	}
	if (op->wait_groups >= 0)
		for (int c = 0; c < CTR_COUNT; c++) {
			if (c != lw->t->classes[OPC_VMEM_LDS].counter && c != lw->t->classes[OPC_TDM_LOAD].counter)
				continue;
			if (!(lw->copy_counters >> c & 1))
				continue;
			wait_copies(lw, c, (unsigned)op->wait_groups, -1, groups, op->loc);
			if (lw->over)
				return;
		}
}

void op_barrier(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	int id = op->scope == SCOPE_CLUSTER ? BAR_CLUSTER : op->scope == SCOPE_NAMED ? (int)op->barrier_id : BAR_WORKGROUP;

	if (op->scope == SCOPE_NAMED && (double)op->barrier_id > lw->t->v.barrier_named) {
		diag_add(lw->d, op->loc, DIAG_TARGET, "%s has %.0f named barriers", lw->t->name, lw->t->v.barrier_named);
		return;
	}
	if (op->drain)
		emit_drain(lw, groups, 0, op->loc);
	emit_barrier(lw, id, op->bpart, op->members, groups, 0, op->loc);
}

/* s_nop takes at most 8 wait states. */
void op_nop(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	if (ptx_refuses(lw, op))
		return;
	for (unsigned left = op->imm; left && !lw->over; ) {
		unsigned n = left > 8 ? 8 : left;

		emit(lw, OPC_NOP, "s_nop", groups, op->loc)->imm = (uint8_t)n;
		left -= n;
	}
}

void op_priority(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	if (target_is_ptx(lw->t))
		return; /* there are none */
	emit(lw, OPC_SETPRIO, "s_setprio", groups, op->loc)->imm = (uint8_t)op->imm;
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		if (groups >> g & 1)
			lw->prio[g] = (int)op->imm;
}

void op_mode(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	if (ptx_refuses(lw, op))
		return;
	emit(lw, OPC_MODE, "s_setreg_imm32_b32", groups, op->loc)->imm = (uint8_t)op->imm;
	lw->tail_split = (op->imm & 4) != 0; /* SCHED_MODE bit 2: matrix ops don't hold their wave */
}
