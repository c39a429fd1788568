/* Each rule of docs/model.md at its edge: issue, fetch, operands, vector ALU, matrix unit, SALU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../edge.h"

static struct class_row *class_of(struct edge *e, enum opclass c)
{
	return &e->t->classes[c];
}

static unsigned visible(const struct edge *e) /* longer than the distance of two visits */
{
	return 2 * e->period + 1;
}

/* Issue */

static void edge_phase(struct edge *e)
{
	unsigned simds = (unsigned)e->t->v.simds;
	edge_reset(e, simds, 1);
	edge_add(e, OPC_VALU);
	edge_run(e);
	for (unsigned w = 0; w < simds; w++)
		EXPECT_AT(e, w, 0, 0);
}

static void edge_hold(struct edge *e)
{
	static const enum opclass cls[] = {OPC_VALU, OPC_TRANS,	  OPC_PACKED, OPC_SALU,
					   OPC_SMEM, OPC_SETPRIO, OPC_WAIT,   OPC_MODE};
	for (unsigned i = 0; i < ARRAY_LEN(cls); i++) {
		unsigned hold = edge_value(e->base->classes[cls[i]].hold_clk, visible(e));
		edge_reset(e, 1, 1);
		class_of(e, cls[i])->hold_clk = hold;
		edge_add(e, cls[i]);
		edge_imm(e, OPC_SETPRIO, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, hold);
		class_of(e, cls[i])->hold_clk = 0; /* counts as 1 */
		edge_reset(e, 1, 1);
		edge_add(e, cls[i]);
		edge_imm(e, OPC_SETPRIO, 0);
		edge_run(e);
		EXPECT_AT(e, 0, 1, 1);
	}
}

/* Two waves of SIMD 0: one slot each class, different slots in one visit. */
static void edge_slots(struct edge *e)
{
	unsigned other = (unsigned)e->t->v.simds;
	edge_reset(e, other + 1, 1);
	edge_add(e, OPC_VALU);
	edge_add(e, OPC_SALU);
	edge_run(e);
	EXPECT_AT(e, 0, 0, 0);
	EXPECT_AT(e, other, 0, 1); /* the older wave had the slot */
	EXPECT_AT(e, 0, 1, 1);	   /* SALU beside the other's VALU */
	EXPECT_AT(e, other, 1, 1 + e->period);
}

static void edge_internal_slot(struct edge *e)
{
	unsigned other = (unsigned)e->t->v.simds;
	edge_reset(e, other + 1, 1);
	edge_imm(e, OPC_SETPRIO, 1);
	edge_wait(e, CTR_DS, 0);
	edge_run(e);
	EXPECT_AT(e, 0, 0, 0);
	EXPECT_AT(e, other, 0, 0);
	EXPECT_AT(e, other, 1, 1);
}

/* A raised priority beats age from the next visit on. */
static void edge_priority(struct edge *e)
{
	unsigned other = (unsigned)e->t->v.simds, p = e->period;
	edge_reset(e, 2 * other, 2); /* wave 0: group 0, wave other: group 1 */
	struct insn *raise = edge_imm(e, OPC_SETPRIO, 3);
	raise->groups = 2;
	edge_add(e, OPC_VALU);
	edge_add(e, OPC_VALU);
	edge_add(e, OPC_VALU)->groups = 1;
	edge_run(e);
	EXPECT_AT(e, 0, 0, 0); /* VALU, while the younger wave raises itself */
	EXPECT_AT(e, other, 0, 0);
	EXPECT_AT(e, other, 1, p); /* the younger wave wins twice */
	EXPECT_AT(e, other, 2, 2 * p);
	EXPECT_AT(e, 0, 1, 3 * p); /* equal priority or none left: age */
}

/* The order of a visit stands when it begins: lowering does not help an older wave in the same
 * visit. */
static void edge_priority_next_visit(struct edge *e)
{
	unsigned other = (unsigned)e->t->v.simds, p = e->period;
	edge_reset(e, 2 * other, 2);
	edge_imm(e, OPC_SETPRIO, 0)->groups = 1;
	edge_imm(e, OPC_SETPRIO, 2)->groups = 2;
	edge_imm(e, OPC_SETPRIO, 3)->groups =
		1; /* at p, in the visit in which group 1 still leads */
	edge_add(e, OPC_VALU)->groups = 2;
	edge_add(e, OPC_VALU)->groups = 1;
	edge_add(e, OPC_VALU)->groups = 2;
	edge_run(e);
	EXPECT_AT(e, other, 1, p);
	EXPECT_AT(e, 0, 2, 2 * p); /* priority 3 by now */
	EXPECT_AT(e, other, 2, 3 * p);
}

/* Fetch */

static void edge_fetch(struct edge *e)
{
	unsigned line = (unsigned)e->t->v.icache_line,
		 miss = edge_value(e->base->v.icache_miss_ns, visible(e));
	unsigned n = line / 4;
	e->t->v.icache_miss_ns = miss;
	e->t->v.icache_ahead = 0;
	edge_reset(e, 1, 1);
	for (unsigned i = 0; i < n + 1; i++)
		edge_imm(e, OPC_SETPRIO, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 0, miss);
	EXPECT_AT(e, 0, n - 1, miss + (n - 1) * e->period);
	/* the next line was asked for when its first instruction became the head */
	EXPECT_BLOCKED(e, 0, n, edge_issue(e, 0, n - 1)->clk + miss);
}

static void edge_fetch_ahead(struct edge *e)
{
	unsigned line = (unsigned)e->t->v.icache_line, n = line / 4, miss = 2 * n * e->period;
	e->t->v.icache_miss_ns = miss;
	e->t->v.icache_ahead = 1;
	edge_reset(e, 1, 1);
	for (unsigned i = 0; i < 2 * n + 1; i++)
		edge_imm(e, OPC_SETPRIO, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 0, miss);
	EXPECT_AT(e, 0, n, edge_issue(e, 0, n - 1)->clk + 1); /* the second line came along */
	EXPECT_BLOCKED(e, 0, 2 * n, edge_issue(e, 0, 2 * n - 1)->clk + miss);
}

/* Lines serve every wave, stay present for a loop, and skipped instructions ask for nothing. */
static void edge_fetch_stays(struct edge *e)
{
	unsigned n = (unsigned)e->t->v.icache_line / 4, simds = (unsigned)e->t->v.simds;
	unsigned miss = 4 * n * e->period;
	e->t->v.icache_miss_ns = miss;
	e->t->v.icache_ahead = 0;
	edge_reset(e, 2 * simds, 2);
	edge_imm(e, OPC_NOP, 0);
	for (unsigned i = 1; i < n; i++)
		edge_imm(e, OPC_NOP, 0)->flags = INSN_EDGE_ONLY;
	for (unsigned i = 0; i < n; i++)
		edge_imm(e, OPC_NOP, 0)->groups = 2; /* group 1 only; group 0 passes over */
	edge_imm(e, OPC_NOP, 0);
	edge_loop(e, 0, 2);
	edge_run(e);
	uint64_t first = edge_visit(e, 0, miss);
	EXPECT_BLOCKED(e, 0, 0, miss);
	EXPECT_BLOCKED(e, 0, 1, first + miss);
	EXPECT_AT(e, 0, 3, edge_issue(e, 0, 2)->clk + 1); /* second trip */
	EXPECT_BLOCKED(e, simds, 1, first + miss);
	EXPECT_AT(e, simds, n + 1, edge_issue(e, simds, n)->clk + 1); /* group 0 had asked for it */
}

static void edge_edge_only(struct edge *e)
{
	edge_reset(e, 1, 1);
	edge_imm(e, OPC_NOP, 1);
	edge_imm(e, OPC_SLEEP, 100)->flags = INSN_EDGE_ONLY;
	edge_imm(e, OPC_NOP, 1)->flags = INSN_EDGE_ABSENT;
	edge_run(e);
	assert_int_equal(edge_issue(e, 0, 1)->insn, 2);
	assert_int_equal(e->res.n, 3);
}

/* Operands */

static void edge_latency(struct edge *e)
{
	static const enum opclass cls[] = {OPC_VALU, OPC_TRANS, OPC_PACKED, OPC_SALU};
	for (unsigned i = 0; i < ARRAY_LEN(cls); i++) {
		unsigned lat = edge_value(e->base->classes[cls[i]].latency_clk, visible(e));
		class_of(e, cls[i])->latency_clk = lat;
		edge_reset(e, 1, 1);
		edge_vector(e, cls[i], 1, 10);
		edge_vector(e, OPC_VALU, 20, 30); /* independent */
		edge_vector(e, OPC_VALU, 2, 1);	  /* reads */
		edge_run(e);
		EXPECT_AT(e, 0, 1, 1);
		EXPECT_BLOCKED(e, 0, 2, lat);
		edge_reset(e, 1, 1);
		edge_vector(e, cls[i], 1, 10);
		edge_vector(e, OPC_SALU, 1, 10); /* writes the same */
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, lat);
	}
}

/* One register of a wider span is enough; loads leave ready times alone. */
static void edge_span_parts(struct edge *e)
{
	unsigned lat = visible(e);
	class_of(e, OPC_VALU)->latency_clk = lat;
	edge_reset(e, 1, 1);
	edge_span(edge_add(e, OPC_VALU), ROLE_DST, 4, 2);
	edge_span(edge_add(e, OPC_SALU), ROLE_DATA, 5, 3);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, lat);
	edge_reset(e, 1, 1);
	edge_span(edge_add(e, OPC_VALU), ROLE_DST, 4, 2);
	edge_span(edge_add(e, OPC_SALU), ROLE_DATA, 6, 3);
	edge_run(e);
	EXPECT_AT(e, 0, 1, 1);
	edge_reset(e, 1, 1);
	edge_span(edge_memory(e, OPC_VMEM_LOAD, 256), ROLE_DST, 4, 2);
	edge_vector(e, OPC_SALU, 9, 4);
	edge_run(e);
	EXPECT_AT(e, 0, 1, 1);
}

static void edge_repeat(struct edge *e)
{
	unsigned lat = visible(e) + e->period, busy = visible(e);
	class_of(e, OPC_VALU)->latency_clk = lat;
	class_of(e, OPC_VALU)->busy_clk = busy;
	edge_reset(e, 1, 1);
	edge_vector(e, OPC_VALU, 1, 1)->repeat = 3; /* depends on itself, but only from outside */
	edge_vector(e, OPC_SALU, 2, 1);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, busy);
	EXPECT_BLOCKED(e, 0, 2, edge_issue(e, 0, 1)->clk + busy);
	EXPECT_BLOCKED(e, 0, 3, edge_issue(e, 0, 2)->clk + lat);
}

/* Vector ALU */

static void edge_valu_busy(struct edge *e)
{
	static const enum opclass cls[] = {OPC_VALU, OPC_TRANS, OPC_PACKED, OPC_MATRIX};
	unsigned other = (unsigned)e->t->v.simds;
	for (unsigned i = 0; i < 4; i++) {
		unsigned busy = edge_value(e->base->classes[cls[i]].busy_clk, visible(e));
		class_of(e, cls[i])->busy_clk = busy;
		edge_matrix_row(e)->occupancy_clk = 1;
		for (unsigned k = 0; k < 4; k++) {
			edge_reset(e, 1, 1);
			if (cls[i] == OPC_MATRIX)
				edge_matrix(e, 0, 0);
			else
				edge_add(e, cls[i]);
			if (cls[k] == OPC_MATRIX)
				edge_matrix(e, 40, 40);
			else
				edge_add(e, cls[k]);
			edge_run(e);
			EXPECT_BLOCKED(e, 0, 1, busy);
		}
		edge_reset(e, other + 1, 1); /* another wave of the SIMD, and one of another SIMD */
		if (cls[i] == OPC_MATRIX)
			edge_matrix(e, 0, 0);
		else
			edge_add(e, cls[i]);
		edge_run(e);
		EXPECT_BLOCKED(e, other, 0, busy);
		EXPECT_AT(e, 1, 0, 0);
	}
}

static void edge_straddle(struct edge *e)
{
	unsigned extra = edge_value(e->base->v.straddle, visible(e));
	e->t->v.straddle = extra;
	for (unsigned shift = 0; shift < 2; shift++) {
		for (unsigned size = 4; size <= 8; size += 4) {
			edge_reset(e, 1, 1);
			edge_imm(e, OPC_NOP, 0)->size = shift ? 4 : 8;
			edge_add(e, OPC_VALU)->size = (uint8_t)size;
			edge_add(e, OPC_VALU);
			edge_run(e);
			uint64_t at = edge_issue(e, 0, 1)->clk;
			EXPECT_AT(e, 0, 2, at + 1 + (shift && size == 8 ? extra : 0));
		}
	}
}

/* Matrix unit */

static void edge_occupancy(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned occ = row->occupancy_clk = edge_value(row->occupancy_clk, visible(e));
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 4, 4);
	edge_run(e);
	EXPECT_START(e, 0, 0, 0);
	EXPECT_BLOCKED(e, 0, 1, occ);
	EXPECT_START(e, 0, 1, edge_visit(e, 0, occ));
}

static void edge_ahead(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned occ = row->occupancy_clk = edge_value(row->occupancy_clk, 5 * e->period + 1);
	for (unsigned ahead = 1; ahead <= 2; ahead++) {
		e->t->v.matrix_ahead = ahead;
		edge_reset(e, 1, 1);
		for (unsigned i = 0; i < 5; i++)
			edge_matrix(e, 4 * i, 4 * i);
		edge_run(e);
		for (unsigned i = 0; i < 5; i++) {
			EXPECT_START(e, 0, i, i * occ);
			if (i <= ahead)
				EXPECT_AT(e, 0, i, i * e->period);
			else
				EXPECT_BLOCKED(e, 0, i, (i - ahead) * occ);
		}
	}
}

static void edge_prefix(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned occ = row->occupancy_clk = edge_value(row->occupancy_clk, visible(e));
	unsigned pre = row->prefix_clk = 3;
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 4, 4);
	edge_run(e);
	EXPECT_START(e, 0, 0, pre);
	EXPECT_BLOCKED(e, 0, 1, pre + occ);
	EXPECT_START(e, 0, 1, edge_visit(e, 0, pre + occ) + pre);
}

static void edge_valu_block(struct edge *e)
{
	static const enum opclass cls[] = {OPC_VALU, OPC_TRANS, OPC_PACKED};
	struct matrix_row *row = edge_matrix_row(e);
	unsigned block = row->valu_block_clk = visible(e);
	row->prefix_clk = 2;
	row->occupancy_clk = 1;
	for (unsigned i = 0; i < 3; i++) {
		edge_reset(e, 1, 1);
		edge_matrix(e, 0, 0);
		edge_add(e, OPC_SALU); /* is not blocked */
		edge_add(e, cls[i]);
		edge_run(e);
		EXPECT_AT(e, 0, 1, 1);
		EXPECT_BLOCKED(e, 0, 2, 2 + block);
	}
}

/* A vector op may end where an accepted op starts to read, and not one clk later. */
static void edge_valu_block_ahead(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned p = e->period, occ = row->occupancy_clk = 6 * p;
	unsigned block = row->valu_block_clk = 1;
	e->t->v.matrix_ahead = 1;
	for (unsigned late = 0; late < 2; late++) {
		class_of(e, OPC_TRANS)->busy_clk =
			occ - 2 * p + late; /* from 2p to occ, or beyond */
		edge_reset(e, 1, 1);
		edge_matrix(e, 0, 0);
		edge_matrix(e, 4, 4);
		edge_add(e, OPC_TRANS);
		edge_run(e);
		EXPECT_START(e, 0, 1, occ);
		if (late)
			EXPECT_BLOCKED(e, 0, 2, occ + block);
		else
			EXPECT_AT(e, 0, 2, 2 * p);
	}
}

/* The straddling clk count as well. */
static void edge_valu_block_straddle(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned p = e->period, occ = row->occupancy_clk = 6 * p;
	row->valu_block_clk = 1;
	e->t->v.matrix_ahead = 1;
	e->t->v.straddle = 1;
	class_of(e, OPC_VALU)->busy_clk = occ - 2 * p;
	for (unsigned shift = 0; shift < 2; shift++) {
		edge_reset(e, 1, 1);
		edge_matrix(e, 0, 0)->size = 8;
		edge_matrix(e, 4, 4)->size = shift ? 4 : 8;
		edge_add(e, OPC_VALU)->size = 8;
		edge_run(e);
		if (shift)
			EXPECT_BLOCKED(e, 0, 2, occ + 1);
		else
			EXPECT_AT(e, 0, 2, 2 * p);
	}
}

static void edge_packed(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned before = edge_value(e->base->v.packed_before, visible(e));
	unsigned after = edge_value(e->base->v.packed_after, visible(e));
	unsigned occ = row->occupancy_clk = edge_value(row->occupancy_clk, visible(e));
	unsigned busy = class_of(e, OPC_PACKED)->busy_clk =
		edge_value(e->base->classes[OPC_PACKED].busy_clk, 2);
	e->t->v.packed_before = before;
	e->t->v.packed_after = after;
	edge_reset(e, 1, 1);
	edge_add(e, OPC_PACKED); /* no matrix op yet: free */
	edge_matrix(e, 0, 0);
	edge_add(e, OPC_VALU); /* plain ops don't care */
	edge_add(e, OPC_PACKED);
	edge_run(e);
	EXPECT_AT(e, 0, 0, 0);
	EXPECT_AT(e, 0, 1, busy);
	EXPECT_START(e, 0, 1, busy + before);
	EXPECT_AT(e, 0, 2, edge_issue(e, 0, 1)->clk + 1);
	EXPECT_BLOCKED(e, 0, 3, busy + before + occ + after);
}

static void edge_matrix_ready(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned pre = row->prefix_clk = 1;
	row->occupancy_clk = 1;
	unsigned ready = row->ready_clk = edge_value(row->ready_clk, visible(e));
	row->chain_clk = 1;
	for (unsigned k = 0; k < 3; k++) {
		edge_reset(e, 1, 1);
		edge_matrix(e, 0, 0);
		if (k == 0) /* a vector reader */
			edge_vector(e, OPC_VALU, 9, 3);
		else if (k == 1) /* C overlaps, but is not the same span */
			edge_matrix(e, 20, 2);
		else /* as A */
			edge_matrix(e, 20, 20)->span[1].first = 0;
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, pre + ready);
	}
}

static void edge_chain(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned pre = row->prefix_clk = 1;
	row->occupancy_clk = 1;
	unsigned chain = row->chain_clk = edge_value(row->chain_clk, visible(e));
	unsigned ready = row->ready_clk = chain + 3 * e->period;
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 0, 0); /* in place */
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, pre + chain);
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 8, 0); /* to another accumulator */
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, pre + chain);
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 0, 8); /* C from elsewhere: the result is written over */
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, pre + ready);
}

/* A register written in between breaks the chain: then each register's own ready time holds. */
static void edge_chain_broken(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned p = e->period;
	row->occupancy_clk = 1;
	row->chain_clk = 20 * p;
	row->ready_clk = 2 * p;
	class_of(e, OPC_VALU)->latency_clk = 3 * p + 1;
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_vector(e, OPC_VALU, 2, 30);
	edge_matrix(e, 0, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, 2 * p);
	EXPECT_BLOCKED(e, 0, 2, edge_issue(e, 0, 1)->clk + 3 * p + 1);
	/* a load sets no ready time, yet it is the last writer */
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_span(edge_memory(e, OPC_VMEM_LOAD, 256), ROLE_DST, 2, 1);
	edge_matrix(e, 0, 0);
	edge_run(e);
	EXPECT_AT(e, 0, 2, edge_issue(e, 0, 1)->clk + 1);
	/* two ops in a row: the last one counts */
	edge_reset(e, 1, 1);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 0, 0);
	edge_matrix(e, 0, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 2, 40 * p);
}

static void edge_hold_wave(struct edge *e)
{
	struct matrix_row *row = edge_matrix_row(e);
	unsigned occ = row->occupancy_clk = edge_value(row->occupancy_clk, visible(e));
	unsigned pre = row->prefix_clk = 2, other = (unsigned)e->t->v.simds;
	e->t->v.wmma_hold = 1;
	for (unsigned split = 0; split < 2; split++) {
		edge_reset(e, 2 * other, 2);
		struct insn *in = edge_matrix(e, 0, 0);
		in->groups = 1;
		if (split)
			in->flags = INSN_TAIL_SPLIT;
		edge_add(e, OPC_SALU);
		edge_run(e);
		if (split)
			EXPECT_AT(e, 0, 1, 1);
		else
			EXPECT_BLOCKED(e, 0, 1, pre + occ);
		EXPECT_AT(e, other, 0, 0); /* another wave goes on */
	}
}

/* SALU and branches */

static void edge_salu_busy(struct edge *e)
{
	static const enum opclass cls[] = {OPC_SALU, OPC_SMEM};
	for (unsigned i = 0; i < 4; i++) {
		enum opclass first = cls[i / 2], second = cls[i % 2];
		unsigned busy = class_of(e, first)->busy_clk =
			edge_value(e->base->classes[first].busy_clk, visible(e));
		edge_reset(e, 1, 1);
		edge_add(e, first);
		edge_add(e, OPC_VALU); /* not concerned */
		edge_add(e, second);
		edge_run(e);
		EXPECT_AT(e, 0, 1, 1);
		EXPECT_AT(e, 0, 2, busy > e->period + 1 ? busy : e->period + 1);
	}
}

static void edge_branch(struct edge *e)
{
	unsigned hold = edge_value(e->base->classes[OPC_BRANCH].hold_clk, visible(e));
	class_of(e, OPC_BRANCH)->hold_clk = hold;
	edge_reset(e, 1, 1);
	edge_imm(e, OPC_NOP, 0);
	edge_loop(e, 0, 3);
	edge_imm(e, OPC_NOP, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 2, edge_issue(e, 0, 1)->clk + hold); /* taken */
	EXPECT_BLOCKED(e, 0, 4, edge_issue(e, 0, 3)->clk + hold);
	EXPECT_AT(e, 0, 6, edge_issue(e, 0, 5)->clk + 1); /* not taken */
	assert_int_equal(edge_issue(e, 0, 6)->insn, 2);
}

static void edge_nested(struct edge *e)
{
	edge_reset(e, 1, 1);
	edge_imm(e, OPC_NOP, 0);
	edge_imm(e, OPC_NOP, 0);
	edge_loop(e, 1, 2);
	edge_loop(e, 0, 3);
	e->loops[0].parent = 1;
	edge_run(e);
	assert_int_equal(e->res.n, 3 * (1 + 2 * 2 + 1) + 1); /* the inner count starts anew */
}

/* Nops and the end */

static void edge_nop(struct edge *e)
{
	unsigned unit = (unsigned)e->t->v.nop_unit, sleep = (unsigned)e->t->v.sleep_unit,
		 n = e->period + 2;
	edge_reset(e, 1, 1);
	edge_imm(e, OPC_NOP, n * 2);
	edge_imm(e, OPC_SLEEP, n);
	edge_imm(e, OPC_SLEEP, 0);
	edge_imm(e, OPC_NOP, 0);
	edge_run(e);
	uint64_t a = edge_visit(e, 0, 2 * n * unit);
	EXPECT_BLOCKED(e, 0, 1, 2 * n * unit);
	EXPECT_BLOCKED(e, 0, 2, a + n * sleep);
	EXPECT_AT(e, 0, 3, edge_issue(e, 0, 2)->clk + 1);
	class_of(e, OPC_NOP)->hold_clk = 2 * n * unit + 2 * e->period; /* the longer one counts */
	edge_reset(e, 1, 1);
	edge_imm(e, OPC_NOP, n);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, 2 * n * unit + 2 * e->period);
}

static void edge_total(struct edge *e)
{
	edge_reset(e, 2, 2);
	edge_imm(e, OPC_SLEEP, 3)->groups = 2;
	edge_memory(e, OPC_VMEM_LOAD, 1024); /* nobody waits for it */
	edge_run(e);
	for (unsigned w = 0; w < 2; w++)
		assert_int_equal(e->res.wave_end[w], edge_issue(e, w, 1 + w)->clk);
	assert_int_equal(e->res.total_clk, e->res.wave_end[1]);
}

#define EDGE(name)                            \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		edge_everywhere(edge_##name); \
	}
/* clang-format off */
#define EDGES(X) \
	X(phase) X(hold) X(slots) X(internal_slot) X(priority) X(priority_next_visit) \
	X(fetch) X(fetch_ahead) X(fetch_stays) X(edge_only) X(latency) X(span_parts) \
	X(repeat) X(valu_busy) X(straddle) X(occupancy) X(ahead) X(prefix) \
	X(valu_block) X(valu_block_ahead) X(valu_block_straddle) X(packed) \
	X(matrix_ready) X(chain) X(chain_broken) X(hold_wave) X(salu_busy) X(branch) \
	X(nested) X(nop) X(total)
/* clang-format on */
EDGES(EDGE)

int main(void)
{
#define ROW(name) cmocka_unit_test(test_##name),
	const struct CMUnitTest tests[] = {EDGES(ROW)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
