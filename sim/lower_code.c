/* Sections, stages, boundary barriers, the group offset, loops and interleaves. */
#include "address.h"
#include "lower_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRIO_UNKNOWN (-2)

static bool has_kind(const struct sched_op *op, enum op_kind k)
{
	for (; op; op = op->next)
		if (op->kind == k || has_kind(op->children, k))
			return true;
	return false;
}

static int32_t new_stage(struct lower *lw, const struct sched_stage *st, const struct sched_section *sec)
{
	struct program *p = lw->p;
	static const char *const unnamed[] = { "prologue", "loop", "epilogue" };
	struct stage *s;

	p->stages = xgrow(p->stages, p->nstages, &lw->cap_stages, sizeof(*p->stages));
	s = &p->stages[p->nstages];
	s->name = arena_strdup(lw->a, st && st->name ? st->name : unnamed[sec->kind]);
	s->loc = st ? st->loc : sec->loc;
	if (sec->kind != SECTION_LOOP)
		s->kind = sec->kind == SECTION_PROLOGUE ? STAGE_PROLOGUE : STAGE_EPILOGUE;
	else if (!st || !st->name)
		s->kind = STAGE_PLAIN;
	else if (has_kind(st->ops, OP_MMA))
		s->kind = has_kind(st->ops, OP_READ) || has_kind(st->ops, OP_COPY) ? STAGE_PLAIN : STAGE_MATRIX;
	else
		s->kind = STAGE_MEMORY;
	return (int32_t)p->nstages++;
}

/* Priority instruction for the groups whose priority in force differs. */
static void set_priority(struct lower *lw, int level, uint8_t groups, struct loc loc)
{
	uint8_t need = 0;

	if (target_is_ptx(lw->t))
		return; /* there are no priorities */
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		if ((groups >> g & 1) && lw->prio[g] != level) {
			need |= (uint8_t)(1u << g);
			lw->prio[g] = level;
		}
	if (need) {
		struct insn *in = emit(lw, OPC_SETPRIO, "s_setprio", need, loc);

		in->imm = (uint8_t)level;
		in->flags |= INSN_IMPLIED;
	}
}

static void emit_boundary(struct lower *lw, const struct sched_stage *st, uint8_t groups)
{
	if (st->priority >= 0)
		set_priority(lw, st->priority, groups, st->loc);
	if (st->boundary == BOUNDARY_NONE || lw->section != SECTION_LOOP)
		return;
	if (st->boundary == BOUNDARY_DRAIN)
		emit_drain(lw, groups, INSN_IMPLIED, st->loc);
	emit_barrier(lw, BAR_WORKGROUP, BARRIER_BOTH, 0, groups, INSN_IMPLIED, st->loc);
}

static void emit_stage(struct lower *lw, const struct sched_section *sec, const struct sched_stage *st, int32_t index)
{
	uint8_t groups = lw->sect_groups;

	if (!st->name) { /* what stands between stages belongs to the one before */
		if (lw->skip_boundary)
			return;
		if (lw->stage < 0 || sec->kind != SECTION_LOOP)
			lw->stage = index;
	} else {
		/* The boundary ends the stage before: what it waits for is that stage's work, and the time at its
		 * barrier is that stage's slack. */
		if (lw->stage < 0)
			lw->stage = index;
		if (!lw->skip_boundary)
			emit_boundary(lw, st, groups);
		lw->skip_boundary = false;
		lw->stage = index;
	}
	if (!st->edge_ops) {
		emit_ops(lw, st->ops);
		return;
	}
	lw->extra_flags = INSN_EDGE_ABSENT;
	emit_ops(lw, st->ops);
	lw->extra_flags = INSN_EDGE_ONLY;
	emit_ops(lw, st->edge_ops);
	lw->extra_flags = 0;
}

/* Stage numbers of a section's stages: one entry each, shared by the copies of an unrolled body. */
static int32_t *number_stages(struct lower *lw, const struct sched_section *sec)
{
	size_t n = 0;
	int32_t *index, unnamed = -1;

	for (const struct sched_stage *st = sec->stages; st; st = st->next)
		n++;
	index = xcalloc(n + 1, sizeof(*index));
	n = 0;
	for (const struct sched_stage *st = sec->stages; st; st = st->next) {
		if (!st->name && unnamed < 0)
			unnamed = new_stage(lw, NULL, sec);
		index[n++] = st->name ? new_stage(lw, st, sec) : unnamed;
	}
	return index;
}

static void emit_body(struct lower *lw, const struct sched_section *sec, const int32_t *index)
{
	size_t n = 0;

	for (const struct sched_stage *st = sec->stages; st && !lw->over; st = st->next)
		emit_stage(lw, sec, st, index[n++]);
}

static const struct sched_stage *first_named(const struct sched_section *sec)
{
	const struct sched_stage *st = sec->stages;

	while (st && !st->name)
		st = st->next;
	return st;
}

static bool only_waits(const struct sched_op *op)
{
	for (; op; op = op->next)
		if (op->kind != OP_WAIT && op->kind != OP_FENCE && op->kind != OP_PRIORITY && op->kind != OP_NOP)
			return false;
	return true;
}

/*
 * The boundary of a loop's first stage, with the waits in front of it, is executed once a trip. Compilers
 * put it at the loop's bottom, in front of the branch, and the code before the loop has its own; so the
 * branch costs the first stage and not the last one.
 */
static bool turns(const struct sched_section *sec)
{
	const struct sched_stage *first = first_named(sec);

	if (!first || first->boundary == BOUNDARY_NONE)
		return false;
	for (const struct sched_stage *st = sec->stages; st != first; st = st->next)
		if (!only_waits(st->ops) || st->edge_ops)
			return false;
	return true;
}

static void emit_head(struct lower *lw, const struct sched_section *sec)
{
	for (const struct sched_stage *st = sec->stages; st && !st->name; st = st->next)
		emit_ops(lw, st->ops);
}

static bool has_boundaries(const struct sched_section *sec)
{
	for (const struct sched_stage *st = sec->stages; st; st = st->next)
		if (st->name && st->boundary != BOUNDARY_NONE)
			return true;
	return false;
}

static void emit_offset(struct lower *lw, const struct sched_section *sec, bool open)
{
	const struct schedule *s = lw->s;
	uint8_t mask = (uint8_t)((open ? 1u << 1 : 1u << 0) & lw->sect_groups);

	if (s->gap_written || s->gap == 0 || s->groups < 2 || !has_boundaries(sec))
		return;
	if (open) {
		emit_drain(lw, lw->sect_groups, INSN_IMPLIED, sec->loc);
		emit_barrier(lw, BAR_WORKGROUP, BARRIER_BOTH, 0, lw->sect_groups, INSN_IMPLIED, sec->loc);
	} else {
		bool raised = false;

		for (const struct sched_stage *st = sec->stages; st; st = st->next)
			raised |= st->priority > 0;
		if (raised)
			set_priority(lw, 0, lw->sect_groups, sec->loc);
	}
	for (unsigned i = 0; mask && i < s->gap; i++)
		emit_barrier(lw, BAR_WORKGROUP, BARRIER_BOTH, 0, mask, INSN_IMPLIED, sec->loc);
}

/*
 * The loop's counter is the byte offset of K in the loop's copies and loads. Operands whose K-steps have
 * other sizes (scales) need one of their own.
 */
static unsigned loop_counters(const struct lower *lw, size_t begin)
{
	const struct program *p = lw->p;
	uint32_t step[4];
	unsigned n = 0;

	for (int which = 0; which < 4; which++) {
		bool used = false;
		unsigned k = 0;

		for (size_t i = begin; i < p->ninsns && !used; i++)
			used = (p->insns[i].cls == OPC_VMEM_LDS || p->insns[i].cls == OPC_VMEM_LOAD) && p->insns[i].access >= 0 &&
			       address_operand(p, &p->access[p->insns[i].access]) == which;
		if (!used)
			continue;
		step[n] = address_step_bytes(p, which);
		while (step[k] != step[n])
			k++;
		n += k == n;
	}
	return n ? n : 1;
}

/* The last instruction goes in front of the one at. */
static void move_last(struct lower *lw, size_t at)
{
	struct program *p = lw->p;
	struct insn in = p->insns[p->ninsns - 1];
	uint8_t mark = lw->mark[p->ninsns - 1];

	in.stage = p->insns[at].stage;
	memmove(&p->insns[at + 1], &p->insns[at], (p->ninsns - 1 - at) * sizeof(*p->insns));
	memmove(&lw->mark[at + 1], &lw->mark[at], p->ninsns - 1 - at);
	p->insns[at] = in;
	lw->mark[at] = mark;
	for (size_t i = 0; i < lw->ngw; i++)
		if (lw->gw[i].insn >= at)
			lw->gw[i].insn++;
}

/*
 * The counter's add and compare, behind everything of the body. Where the last stage multiplies they go
 * in front of its last matrix op, as compilers schedule them: there the scalar unit is idle.
 */
static void emit_count(struct lower *lw, const struct sched_section *sec, size_t begin, int32_t last_stage)
{
	bool gfx9 = lw->lanes == 64, ptx = target_is_ptx(lw->t);
	struct program *p = lw->p;
	unsigned ncounters = gfx9 ? loop_counters(lw, begin) : 1, n = ncounters + 1;
	struct insn moved[5], *in;
	uint8_t marks[5];
	size_t at;

	for (unsigned i = 0; i < ncounters; i++) {
		in = emit(lw, OPC_SALU, ptx ? "add.u32" : gfx9 ? "s_add_u32" : "s_add_co_u32", lw->sect_groups, sec->loc);
		in->flags |= INSN_IMPLIED;
		add_span(in, ROLE_DST, REG_SGPR + lw->s->reserve_sgpr + i, 1);
		add_span(in, ROLE_SRC, REG_SGPR + lw->s->reserve_sgpr + i, 1);
	}
	if (p->sgpr < lw->s->reserve_sgpr + ncounters)
		p->sgpr = lw->s->reserve_sgpr + ncounters;
	if (ptx && !lw->over) /* the assembler puts both where they cost least */
		move_last(lw, begin);
	in = emit(lw, OPC_SALU, ptx ? "setp.lt.u32" : "s_cmp_lt_u32", lw->sect_groups, sec->loc);
	in->flags |= INSN_IMPLIED;
	add_span(in, ROLE_DST, REG_SCC, 1);
	add_span(in, ROLE_SRC, REG_SGPR + lw->s->reserve_sgpr, 1);
	if (lw->over)
		return;
	if (ptx) {
		move_last(lw, begin + 13 < p->ninsns ? begin + 13 : p->ninsns - 1);
		return;
	}
	for (at = p->ninsns - n; at > begin; at--)
		if (p->insns[at - 1].cls == OPC_MATRIX)
			break;
	if (at == begin || p->insns[at - 1].stage != last_stage)
		return;
	at--;
	memcpy(moved, &p->insns[p->ninsns - n], n * sizeof(*moved));
	memcpy(marks, &lw->mark[p->ninsns - n], n);
	memmove(&p->insns[at + n], &p->insns[at], (p->ninsns - n - at) * sizeof(*p->insns));
	memmove(&lw->mark[at + n], &lw->mark[at], p->ninsns - n - at);
	memcpy(&p->insns[at], moved, n * sizeof(*moved));
	memcpy(&lw->mark[at], marks, n);
	for (size_t i = 0; i < lw->ngw; i++)
		if (lw->gw[i].insn >= at)
			lw->gw[i].insn += n;
}

static void emit_branch(struct lower *lw, const struct sched_section *sec, int32_t loop)
{
	struct insn *in = emit(lw, OPC_BRANCH, target_is_ptx(lw->t) ? "bra" : "s_cbranch_scc1", lw->sect_groups, sec->loc);

	in->flags |= INSN_IMPLIED;
	add_span(in, ROLE_SRC, REG_SCC, 1);
	in->loop = loop;
}

/* What stands in front of the loop's first stage on the way in. */
static void emit_way_in(struct lower *lw, const struct sched_section *sec)
{
	const struct sched_stage *first = first_named(sec);
	size_t before;

	if (!turns(sec)) {
		emit_offset(lw, sec, true);
		return;
	}
	emit_head(lw, sec);
	before = lw->p->ninsns;
	emit_offset(lw, sec, true);
	if (lw->p->ninsns == before)
		emit_boundary(lw, first, lw->sect_groups);
	else if (first->priority >= 0)
		set_priority(lw, first->priority, lw->sect_groups, first->loc);
}

static void shape_k(struct lower *lw, const struct sched_section *sec, uint64_t unroll)
{
	const struct schedule *s = lw->s;
	uint64_t steps = lw->p->ksteps, rest = steps >= sec->peel ? (steps - sec->peel) % unroll : 0;
	struct finding *f;

	if (steps < sec->peel + unroll) {
		diag_add(lw->d, sec->loc, DIAG_SHAPE,
			 "K = %" PRId64 " is %" PRIu64 " K-steps of %u, the loop needs at least %" PRIu64, s->k, steps,
			 s->tile_k, sec->peel + unroll);
		return;
	}
	f = diag_add(lw->d, sec->loc, DIAG_SHAPE,
		     "%" PRIu64 " K-steps less %u peeled ones are no whole number of trips of %" PRIu64, steps, sec->peel, unroll);
	diag_fix(f, "use k=\"%" PRIu64 "\" or k=\"%" PRIu64 "\", or peel=\"%" PRIu64 "\"", (steps - rest) * s->tile_k,
		 (steps - rest + unroll) * s->tile_k, sec->peel + rest);
}

static int64_t loop_trips(struct lower *lw, const struct sched_section *sec)
{
	uint64_t unroll = sec->unroll ? sec->unroll : 1, steps = lw->p->ksteps;

	if (sec->trips >= 0)
		return sec->trips;
	if (!lw->s->gemm) {
		diag_add(lw->d, sec->loc, DIAG_SHAPE, "a loop outside a GEMM needs trips");
		return -1;
	}
	if (steps < sec->peel + unroll || (steps - sec->peel) % unroll) {
		shape_k(lw, sec, unroll);
		return -1;
	}
	return (int64_t)((steps - sec->peel) / unroll);
}

/* K-steps that the ops from op on multiply accumulator acc by, for group g. */
static double steps_of(const struct lower *lw, const struct sched_op *op, const char *acc, unsigned g)
{
	double sum = 0;

	for (; op; op = op->next) {
		const struct reg_block *c, *a;

		sum += steps_of(lw, op->children, acc, g);
		if (op->kind != OP_MMA || strcmp(op->acc, acc) || !(op->groups >> g & 1))
			continue;
		c = reg_find(lw, acc);
		a = reg_find(lw, op->a ? op->a : c ? c->r->a : NULL);
		sum += 1.0 / (op->part.n > 1 ? op->part.n : 1) / (op->kpart.n > 1 ? op->kpart.n : 1) /
		       (a && a->r->kpart.n > 1 ? a->r->kpart.n : 1);
	}
	return sum;
}

static const struct sched_op *any_mma(const struct sched_op *op)
{
	for (; op; op = op->next) {
		const struct sched_op *in = op->kind == OP_MMA ? op : any_mma(op->children);

		if (in)
			return in;
	}
	return NULL;
}

/*
 * How often the body's text is written out in one trip. A body is one K-step; that of a GEMM may hold
 * more, and then says itself how many: those that it multiplies an accumulator by. unroll, the K-steps
 * of a trip, must be a multiple of that. 0 after a finding.
 */
static unsigned loop_copies(struct lower *lw, const struct sched_section *sec)
{
	unsigned unroll = sec->unroll ? sec->unroll : 1, steps, g = (unsigned)__builtin_ctz(lw->sect_groups | 1u << 8);
	const struct sched_op *mma = NULL;
	double sum = 0;

	for (const struct sched_stage *st = sec->stages; st && !mma; st = st->next)
		mma = any_mma(st->ops);
	if (!lw->s->gemm || !mma)
		return unroll;
	for (const struct sched_stage *st = sec->stages; st; st = st->next)
		sum += steps_of(lw, st->ops, mma->acc, g);
	steps = (unsigned)(sum + 0.5);
	if (steps == 0 || fabs(sum - steps) > 1e-6 || unroll % steps) {
		diag_add(lw->d, sec->loc, DIAG_SHAPE,
			 "the loop's text multiplies '%s' by %g K-steps, which does not divide unroll=\"%u\"", mma->acc, sum,
			 unroll);
		return 0;
	}
	return unroll / steps;
}

struct mark_point {
	size_t ninsns, naccess, ngw;
	int prio[PROG_MAX_GROUPS];
	double request;
};

static void copies(struct lower *lw, const struct sched_section *sec, const int32_t *index, unsigned n, size_t begin)
{
	for (unsigned i = 0; i < n && !lw->over; i++) {
		lw->step = (int)(i * (lw->loop_steps / n));
		lw->skip_boundary = i == 0 && turns(sec);
		emit_body(lw, sec, index);
	}
	lw->step = 0;
	lw->skip_boundary = false;
	if (target_is_ptx(lw->t))
		ptx_advance(lw, sec->loc);
	emit_count(lw, sec, begin, lw->stage);
	if (turns(sec)) {
		emit_head(lw, sec);
		emit_boundary(lw, first_named(sec), lw->sect_groups);
	}
}

/*
 * The body may start with another priority than it ends with: the first trip and the back edge then
 * meet at the loop's head, where the priority is not known and must be set.
 */
static void emit_copies(struct lower *lw, const struct sched_section *sec, const int32_t *index, unsigned n, int32_t loop)
{
	int32_t first = lw->stage;
	struct mark_point m = { lw->p->ninsns, lw->p->naccess, lw->ngw, { 0 }, lw->loop_request };

	memcpy(m.prio, lw->prio, sizeof(m.prio));
	copies(lw, sec, index, n, lw->p->loops[loop].begin);
	if (lw->over || memcmp(m.prio, lw->prio, sizeof(m.prio)) == 0)
		return;
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		lw->prio[g] = lw->prio[g] == m.prio[g] ? m.prio[g] : PRIO_UNKNOWN;
	lw->p->ninsns = m.ninsns;
	lw->p->naccess = m.naccess;
	lw->ngw = m.ngw;
	lw->loop_request = m.request;
	lw->next_addr = 0;
	lw->stage = first;
	copies(lw, sec, index, n, lw->p->loops[loop].begin);
}

static void emit_loop(struct lower *lw, const struct sched_section *sec)
{
	struct program *p = lw->p;
	int64_t trips = loop_trips(lw, sec);
	unsigned ncopies = loop_copies(lw, sec);
	int32_t *index, loop = (int32_t)p->nloops;
	double before = lw->loop_request;

	if (trips <= 0 || !ncopies) {
		if (trips == 0)
			diag_add(lw->d, sec->loc, DIAG_SHAPE, "a loop of no trips");
		return;
	}
	if (!lw->s->gemm && p->ksteps < (uint64_t)trips * (sec->unroll ? sec->unroll : 1) + sec->peel)
		p->ksteps = (uint64_t)trips * (sec->unroll ? sec->unroll : 1) + sec->peel;
	p->loops = xgrow(p->loops, p->nloops, &lw->cap_loops, sizeof(*p->loops));
	p->nloops++;
	lw->loop_steps = sec->unroll ? sec->unroll : 1;
	index = number_stages(lw, sec);
	lw->stage = -1;
	for (const struct sched_stage *st = sec->stages; st; st = st->next)
		if (st->name) { /* control and leading ops of the loop belong to its first stage */
			size_t n = 0;

			for (const struct sched_stage *x = sec->stages; x != st; x = x->next)
				n++;
			lw->stage = index[n];
			break;
		}
	if (lw->stage < 0)
		lw->stage = new_stage(lw, NULL, sec);
	lw->moves_written = false;
	for (const struct sched_stage *st = sec->stages; st; st = st->next)
		lw->moves_written |= has_kind(st->ops, OP_SALU);
	emit_way_in(lw, sec);
	lw->loop_request = 0;
	p->loops[loop] = (struct loop){ .begin = (uint32_t)p->ninsns, .trips = (uint64_t)trips, .steps = lw->loop_steps,
					.groups = lw->sect_groups, .parent = -1 };
	emit_copies(lw, sec, index, ncopies, loop);
	emit_branch(lw, sec, loop);
	p->loops[loop].end = (uint32_t)p->ninsns;
	emit_offset(lw, sec, false);
	for (unsigned g = 0; g < lw->s->groups; g++) {
		const struct loop *old = p->main_loop[g] >= 0 ? &p->loops[p->main_loop[g]] : NULL;

		if ((lw->sect_groups >> g & 1) && (!old || old->trips * old->steps < (uint64_t)trips * lw->loop_steps))
			p->main_loop[g] = loop;
	}
	if (p->main_loop[0] != loop && p->main_loop[lw->s->groups - 1] != loop)
		lw->loop_request = before;
	else
		lw->request_steps = lw->loop_steps;
	free(index);
}

int code_sections(struct lower *lw)
{
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++) {
		lw->p->main_loop[g] = -1;
		lw->prio[g] = 0;
	}
	for (const struct sched_section *sec = lw->s->sections; sec && !lw->over; sec = sec->next) {
		int32_t *index;

		lw->section = sec->kind;
		lw->sect_groups = (sec->groups ? sec->groups : 0xff) & ALL_GROUPS(lw);
		if (sec->kind == SECTION_LOOP) {
			emit_loop(lw, sec);
			continue;
		}
		lw->loop_steps = 1;
		lw->stage = -1;
		index = number_stages(lw, sec);
		emit_body(lw, sec, index);
		free(index);
	}
	if (lw->stage < 0) {
		static const struct sched_section none = { .kind = SECTION_EPILOGUE };

		lw->stage = new_stage(lw, NULL, &none);
	}
	emit(lw, OPC_END, target_is_ptx(lw->t) ? "exit" : "s_endpgm", ALL_GROUPS(lw), lw->s->loc)->flags |= INSN_IMPLIED;
	return lw->over || lw->d->errors != lw->errors_before ? -1 : 0;
}
