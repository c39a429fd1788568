/* One tile op becomes instructions. */
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_OP_INSNS 4096u

static unsigned code_bytes(const struct lower *lw, enum opclass cls, const struct matrix_row *mx)
{
	bool gfx9 = lw->lanes == 64;

	if (target_is_ptx(lw->t))
		return 16;
	switch (cls) {
	case OPC_MATRIX:
		return mx && (mx->kind == MK_MFMA_SCALE || mx->kind == MK_WMMA_SCALE) ? 16 : 8;
	case OPC_PACKED:
	case OPC_SMEM:
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE:
		return 8;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
		return gfx9 ? 8 : 12;
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		return 12;
	case OPC_MODE:
	case OPC_VALU:
	case OPC_TRANS:
	case OPC_SALU:
	case OPC_BRANCH:
	case OPC_WAIT:
	case OPC_BARRIER:
	case OPC_SIGNAL:
	case OPC_AWAIT:
	case OPC_SETPRIO:
	case OPC_NOP:
	case OPC_SLEEP:
	case OPC_END:
	case OPC_COUNT:
		break;
	}
	return 4;
}

struct insn *emit(struct lower *lw, enum opclass cls, const char *op, uint8_t groups, struct loc loc)
{
	struct program *p = lw->p;
	struct insn *in = &lw->spare;

	if (p->ninsns >= PROG_MAX_INSNS) {
		if (!lw->over)
			diag_add(lw->d, loc, DIAG_LIMIT, "the program has more than %u instructions", PROG_MAX_INSNS);
		lw->over = true;
	} else {
		p->insns = xgrow(p->insns, p->ninsns, &lw->cap_insns, sizeof(*p->insns));
		lw->mark = xgrow(lw->mark, p->ninsns, &lw->cap_mark, sizeof(*lw->mark));
		lw->mark[p->ninsns] = 0;
		in = &p->insns[p->ninsns++];
	}
	memset(in, 0, sizeof(*in));
	in->cls = cls;
	in->op = op;
	in->groups = groups;
	in->waves = lw->op_waves && lw->op_waves != waves_of_groups(lw, groups) ? lw->op_waves : 0;
	in->flags = lw->extra_flags;
	in->size = (uint8_t)code_bytes(lw, cls, cls == OPC_MATRIX ? lw->mx : NULL);
	in->counter = (int8_t)lw->t->classes[cls].counter;
	in->repeat = 1;
	in->access = -1;
	in->stage = lw->stage;
	in->loop = -1;
	in->loc = loc;
	return in;
}

void add_span(struct insn *in, enum span_role role, unsigned first, unsigned n)
{
	if (n == 0 || in->nspans >= PROG_MAX_SPANS)
		return;
	in->span[in->nspans] = (struct span){ (uint16_t)first, (uint16_t)n };
	in->role[in->nspans++] = (uint8_t)role;
}

/* Addresses come from the reserve; addr_plan says which register it is when all code is there. */
static void add_addr(struct lower *lw, struct insn *in)
{
	if (lw->reserve_n || (lw->s->gemm && !target_is_ptx(lw->t)))
		add_span(in, ROLE_ADDR, lw->reserve_first + (lw->reserve_n ? lw->next_addr++ % lw->reserve_n : 0), 1);
}

/* Instructions of one op: the normal count and, when an edge count is written, which ones differ. */
struct counted {
	unsigned normal, total;
};

static struct counted op_count(struct lower *lw, const struct sched_op *op, uint64_t derived)
{
	struct counted c;

	if (op->count)
		derived = op->count;
	if (derived > MAX_OP_INSNS) {
		if (!lw->over)
			diag_add(lw->d, op->loc, DIAG_LIMIT, "<%s> stands for %llu instructions; at most %u are accepted",
				 op_kind_name(op->kind), (unsigned long long)derived, MAX_OP_INSNS);
		lw->over = true;
		derived = 0;
	}
	c.normal = c.total = (unsigned)derived;
	if (op->edge_count > (int)c.total && op->edge_count <= (int)MAX_OP_INSNS)
		c.total = (unsigned)op->edge_count;
	return c;
}

static uint8_t edge_flags(const struct sched_op *op, struct counted c, unsigned j)
{
	if (j >= c.normal)
		return INSN_EDGE_ONLY;
	return op->edge_count >= 0 && j >= (unsigned)op->edge_count ? INSN_EDGE_ABSENT : 0;
}

/* Groups of an op, and in lw->op_waves its waves. */
static uint8_t op_groups(struct lower *lw, const struct sched_op *op)
{
	uint8_t g = op->groups & lw->sect_groups & ALL_GROUPS(lw), some = 0;
	unsigned per = lw->s->waves / lw->s->groups;

	lw->op_waves = waves_of_groups(lw, g);
	if (op->wave_lo < 0 || op->wave_hi < 0)
		return g;
	for (unsigned w = 0; w < lw->s->waves; w++) {
		if (w < (unsigned)op->wave_lo || w > (unsigned)op->wave_hi)
			lw->op_waves &= ~(1u << w);
		if (lw->op_waves >> w & 1)
			some |= (uint8_t)(1u << (w / per));
	}
	return some;
}

static unsigned op_nwaves(const struct lower *lw)
{
	return (unsigned)__builtin_popcount(lw->op_waves);
}

static void ask_l2(struct lower *lw, const struct sched_op *op, const struct insn *in)
{
	if (lw->section == SECTION_LOOP && !(in->flags & INSN_EDGE_ONLY))
		lw->loop_request += (double)in->bytes * op_nwaves(lw) / (op->multicast > 1 ? op->multicast : 1);
}

static const struct vmem_row *pick_vmem(struct lower *lw, const struct sched_op *op, enum vmem_kind kind)
{
	const struct vmem_row *row = op->op ? target_vmem(lw->t, op->op) : target_vmem_widest(lw->t, kind);

	if (row && row->kind == kind)
		return row;
	if (op->op)
		diag_add(lw->d, op->op_loc, DIAG_TARGET, "%s has no '%s' for <%s>", lw->t->name, op->op, op_kind_name(op->kind));
	else
		diag_add(lw->d, op->loc, DIAG_TARGET, "%s has no instruction for <%s>", lw->t->name, op_kind_name(op->kind));
	return NULL;
}

static const struct lds_row *pick_lds(struct lower *lw, const struct sched_op *op, const struct lds_row *fallback, bool write)
{
	const struct lds_row *row = op->op ? target_lds(lw->t, op->op) : fallback;

	if (row && row->write == write)
		return row;
	if (op->op)
		diag_add(lw->d, op->op_loc, DIAG_TARGET, "%s has no '%s' for <%s>", lw->t->name, op->op, op_kind_name(op->kind));
	else
		diag_add(lw->d, op->loc, DIAG_TARGET, "%s has no LDS instruction that fits <%s>", lw->t->name, op_kind_name(op->kind));
	return NULL;
}

/* A global-only access: which matrix, which K-step. */
static int32_t global_access(struct lower *lw, const struct sched_op *op, int global, bool write, unsigned width)
{
	struct access_spec q = { .op = op, .buf = -1, .width = width, .write = write };
	struct sched_op plain = *op;
	int32_t i;

	if (global < 0)
		return -1;
	q.op = &plain;
	plain.part = (struct part){ 0, 1 };
	i = access_note(lw, &q);
	if (i >= 0)
		lw->p->access[i].global = global;
	return i;
}

static int global_of_operand(const struct lower *lw, enum operand_id id)
{
	if (!lw->s->gemm)
		return -1;
	switch (id) {
	case OPERAND_A: return 0;
	case OPERAND_B: return 1;
	case OPERAND_SA: return lw->s->scaled ? 3 : -1;
	case OPERAND_SB: return lw->s->scaled ? 4 : -1;
	case OPERAND_NONE: break;
	}
	return -1;
}

static int global_named(const struct lower *lw, const char *name)
{
	for (size_t i = 0; name && i < lw->p->nglobals; i++)
		if (strcmp(lw->p->globals[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void emit_load(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	const struct vmem_row *row = pick_vmem(lw, op, VM_LOAD);
	const struct reg_block *b = reg_find(lw, op->into);
	int from = b ? lds_index(lw, b->r->from) : -1, global;
	unsigned regs, parts = op->part.n > 1 ? op->part.n : 1;
	uint64_t derived;
	struct counted c;

	if (!row || !b)
		return;
	regs = (row->width_bytes + 3) / 4;
	derived = op->bytes ? (op->bytes + (uint64_t)row->width_bytes * lw->lanes - 1) / ((uint64_t)row->width_bytes * lw->lanes)
			    : b->n / regs / parts;
	if (!op->count && !op->bytes && derived * regs * parts != b->n) {
		diag_add(lw->d, op->loc, DIAG_SHAPE, "%u registers of '%s' are no whole number of %u-byte loads in %u parts",
			 b->n, b->r->name, row->width_bytes, parts);
		return;
	}
	if (from >= 0 && lw->buf[from].row_bytes && !op->count && op_nwaves(lw) != lw->s->waves) {
		diag_add(lw->d, op->loc, DIAG_SHAPE, "the staging '%s' is laid out for all %u waves, but %u execute this load",
			 b->r->name, lw->s->waves, op_nwaves(lw));
		return;
	}
	global = op->from ? global_named(lw, op->from) : -1;
	if (global < 0)
		global = global_of_operand(lw, from >= 0 && lw->s->lds[from].operand ? lw->s->lds[from].operand : op->operand);
	c = op_count(lw, op, derived);
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		unsigned at = (op->part.n > 1 ? op->part.i * (b->n / parts) : 0) + j * regs;
		int32_t access = global_access(lw, op, global, false, row->width_bytes);
		struct access_spec q = { op, b, from, at / regs, c.total, row->width_bytes, false, false, 0, lw->op_waves, 0, NULL };
		struct insn *in = emit(lw, OPC_VMEM_LOAD, row->op, groups, op->loc);

		if (access >= 0 && from >= 0 && lw->buf[from].row_bytes && b->r->kind == SREG_STAGING)
			access_load(lw, &q, access);
		in->flags |= edge_flags(op, c, j) | (op->cold ? INSN_COLD : 0);
		in->vmem = row;
		in->bytes = row->width_bytes * lw->lanes;
		in->access = access;
		add_span(in, ROLE_DST, b->first + at % b->n, regs > b->n ? b->n : regs);
		add_addr(lw, in);
		ask_l2(lw, op, in);
	}
}

static void emit_store(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	const struct vmem_row *row = pick_vmem(lw, op, VM_STORE);
	const struct reg_block *b = reg_find(lw, op->from);
	unsigned regs, parts = op->part.n > 1 ? op->part.n : 1, out;
	uint64_t derived;
	struct counted c;
	int global;

	if (!row || !b)
		return;
	regs = (row->width_bytes + 3) / 4;
	out = b->n / parts;
	if (lw->s->gemm && b->r->kind == SREG_ACCUMULATOR) /* converted in place before */
		out = out * dtype_bits(lw->s->type_out) / dtype_bits(lw->s->type_acc);
	derived = op->bytes ? (op->bytes + (uint64_t)row->width_bytes * lw->lanes - 1) / ((uint64_t)row->width_bytes * lw->lanes)
			    : (out + regs - 1) / regs;
	c = op_count(lw, op, derived);
	global = op->publishes ? global_named(lw, op->publishes) : op->to ? global_named(lw, op->to) : lw->s->gemm ? 2 : -1;
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		unsigned at = (op->part.n > 1 ? op->part.i * (b->n / parts) : 0) + j * regs;
		int32_t access = global_access(lw, op, global, true, row->width_bytes);
		struct insn *in = emit(lw, OPC_VMEM_STORE, row->op, groups, op->loc);

		in->flags |= edge_flags(op, c, j) | (op->publishes ? INSN_PUBLISHES : 0);
		in->vmem = row;
		in->bytes = row->width_bytes * lw->lanes;
		in->access = access;
		at %= b->n;
		add_span(in, ROLE_DATA, b->first + at, regs > b->n - at ? b->n - at : regs);
		add_addr(lw, in);
	}
}

static void emit_write(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	const struct lds_row *row = pick_lds(lw, op, target_lds_widest(lw->t, true), true);
	const struct reg_block *b = reg_find(lw, op->from);
	int buf = lds_index(lw, op->to ? op->to : b ? b->r->from : NULL);
	unsigned regs, parts = op->part.n > 1 ? op->part.n : 1;
	struct counted c;

	if (!row || !b || buf < 0)
		return;
	regs = (row->width_bytes + 3) / 4;
	c = op_count(lw, op, b->n / regs / parts);
	if (!op->count && (uint64_t)c.normal * regs * parts != b->n) {
		diag_add(lw->d, op->loc, DIAG_SHAPE, "%u registers of '%s' are no whole number of %u-byte writes in %u parts",
			 b->n, b->r->name, row->width_bytes, parts);
		return;
	}
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		unsigned n = b->n / regs ? b->n / regs : 1, jj = (op->part.n > 1 ? op->part.i * (n / parts) : 0) + j;
		struct access_spec q = { op, b, buf, jj, c.total, row->width_bytes, true, false, 0, lw->op_waves, 0, NULL };
		bool tile = lw->buf[buf].row_bytes && b->r->kind == SREG_STAGING;
		int32_t access = tile ? access_tile(lw, &q) : access_explicit(lw, &q);
		struct insn *in;

		if (access < 0)
			return;
		in = emit(lw, OPC_LDS_WRITE, row->op, groups, op->loc);
		in->flags |= edge_flags(op, c, j);
		in->lds = row;
		in->bytes = row->width_bytes * lw->lanes;
		in->access = access;
		add_span(in, ROLE_DATA, b->first + jj * regs % b->n, regs > b->n ? b->n : regs);
		add_addr(lw, in);
		access_cost(lw, in);
	}
}

static void op_commit(struct lower *lw, uint8_t groups, struct loc loc)
{
	for (size_t i = lw->p->ninsns; i-- > 0; )
		if (lw->mark[i] & MARK_COPY) {
			lw->mark[i] |= MARK_COMMIT;
			break;
		}
	if (target_is_ptx(lw->t))
		ptx_commit(lw, groups, loc);
}

static void emit_copy(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	const struct vmem_row *row = pick_vmem(lw, op, VM_LDS);
	int buf = lds_index(lw, op->to), global;
	unsigned parts = op->part.n > 1 ? op->part.n : 1, nw = op_nwaves(lw);
	uint64_t each, want;
	struct counted c;
	bool m0 = lw->t->counters[CTR_LGKM].present; /* gfx9 takes the LDS address from M0 */

	if (!row || buf < 0 || nw == 0)
		return;
	each = (uint64_t)row->width_bytes * lw->lanes * nw;
	want = lw->buf[buf].raw_bytes / parts;
	if (!op->count && want % each) {
		diag_add(lw->d, op->loc, DIAG_SHAPE,
			 "%llu bytes of '%s' are no whole number of copies of %u bytes by %u waves",
			 (unsigned long long)want, lw->s->lds[buf].name, row->width_bytes * lw->lanes, nw);
		return;
	}
	global = op->from ? global_named(lw, op->from) : -1;
	if (global < 0)
		global = global_of_operand(lw, lw->s->lds[buf].operand);
	c = op_count(lw, op, want / each);
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		struct access_spec q = { op, NULL, buf, j, c.total, row->width_bytes, true, false, 0, lw->op_waves, 0, NULL };
		int32_t access = lw->buf[buf].row_bytes ? access_tile(lw, &q) : access_explicit(lw, &q);
		struct insn *in;

		if (access < 0)
			return;
		lw->p->access[access].global = global;
		if (m0) {
			in = emit(lw, OPC_SALU, "s_mov_b32", groups, op->loc);
			in->flags |= INSN_IMPLIED | edge_flags(op, c, j);
			add_span(in, ROLE_DST, REG_M0, 1);
		}
		in = emit(lw, OPC_VMEM_LDS, row->op, groups, op->loc);
		in->flags |= edge_flags(op, c, j) | (op->cold ? INSN_COLD : 0);
		in->vmem = row;
		in->bytes = row->width_bytes * lw->lanes;
		in->access = access;
		if (m0)
			add_span(in, ROLE_SRC, REG_M0, 1);
		add_addr(lw, in);
		access_cost_copy(lw, in);
		ask_l2(lw, op, in);
		lw->mark[lw->p->ninsns - 1] = MARK_COPY;
	}
	if (c.total && !op->no_commit && lw->p->ninsns)
		op_commit(lw, groups, op->loc);
}

/*
 * In a loop a tensor copy's descriptor must move on to the next K-step and slot. Where the loop's text has no
 * scalar work for that, it stands in front of the copy. All waves do it: others may share the registers.
 */
static void tdm_moves(struct lower *lw, const struct sched_op *op, int buf)
{
	uint32_t waves = lw->op_waves;

	if (lw->section != SECTION_LOOP || lw->moves_written || !lw->s->gemm || !lw->buf[buf].row_bytes)
		return;
	lw->op_waves = 0;
	for (unsigned i = 0; i < (lw->p->buffers[buf].slots > 1 ? 2u : 1u); i++)
		emit(lw, OPC_SALU, "s_add_co_u32", lw->sect_groups, op->loc)->flags |= INSN_IMPLIED;
	lw->op_waves = waves;
}

static void emit_tdm(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	bool store = op->kind == OP_TDM_STORE;
	int buf = lds_index(lw, store ? op->from : op->to);
	unsigned parts = op->part.n > 1 ? op->part.n : 1, nw = op_nwaves(lw);
	uint64_t bytes;
	struct counted c;

	if (lw->t->v.tdm_engines < 1) {
		diag_add(lw->d, op->loc, DIAG_TARGET, "%s has no tensor copies", lw->t->name);
		return;
	}
	if (buf < 0 || nw == 0)
		return;
	bytes = op->bytes ? op->bytes : lw->buf[buf].raw_bytes / parts / nw;
	if (bytes == 0 || bytes > lw->buf[buf].raw_bytes) {
		diag_add(lw->d, op->loc, DIAG_SHAPE, "a tensor copy of %llu bytes does not fit '%s' of %u bytes",
			 (unsigned long long)bytes, lw->s->lds[buf].name, lw->buf[buf].raw_bytes);
		return;
	}
	c = op_count(lw, op, 1);
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		struct access_spec q = { op, NULL, buf, j, c.total, 0, !store, false, (uint32_t)bytes, lw->op_waves, 0, NULL };
		int32_t access = access_tensor(lw, &q);
		struct insn *in;
		int global;

		if (access < 0)
			return;
		global = store ? (op->to ? global_named(lw, op->to) : lw->s->gemm ? 2 : -1)
			       : op->from ? global_named(lw, op->from) : global_of_operand(lw, lw->s->lds[buf].operand);
		lw->p->access[access].global = global;
		if (!store)
			tdm_moves(lw, op, buf);
		in = emit(lw, store ? OPC_TDM_STORE : OPC_TDM_LOAD, store ? "tensor_store_from_lds" : "tensor_load_to_lds",
			  groups, op->loc);
		in->flags |= edge_flags(op, c, j) | (op->cold ? INSN_COLD : 0);
		in->bytes = (uint32_t)bytes;
		in->access = access;
		in->multicast = (uint8_t)op->multicast;
		if (!store)
			ask_l2(lw, op, in);
		lw->mark[lw->p->ninsns - 1] = MARK_COPY;
	}
	if (c.total && !op->no_commit && lw->p->ninsns)
		lw->mark[lw->p->ninsns - 1] |= MARK_COMMIT;
}

/* Which of the fragment's reads an op with part or k names: reads go K chunk by K chunk, row tiles inside. */
static bool read_selected(const struct sched_op *op, unsigned j, unsigned total, unsigned tiles)
{
	if (op->part.n > 1) {
		unsigned t = j % tiles, n = op->part.n;

		if (t < op->part.i * tiles / n || t >= (op->part.i + 1) * tiles / n)
			return false;
	}
	if (op->kpart.n > 1) {
		unsigned n = op->kpart.n;

		if (j < op->kpart.i * total / n || j >= (op->kpart.i + 1) * total / n)
			return false;
	}
	return true;
}

/* Register that read j of a fragment fills first. */
static unsigned read_place(const struct lower *lw, const struct reg_block *b, const struct lower_operand *o, unsigned j,
			   unsigned regs)
{
	unsigned rows = operand_lane_rows(lw, o), tiles = b->rows / rows, t = j % tiles, jk = j / tiles, sets = o->m / rows;
	unsigned op_regs, per_op; /* registers of one op's rows in one set, and the reads that fill them */

	if (sets < 2 || !lw->mx)
		return t * b->tile_regs + jk * regs;
	op_regs = rows * lw->mx->k * o->bits / 32 / lw->lanes;
	per_op = op_regs >= regs ? op_regs / regs : 1;
	return t / sets * b->tile_regs + jk / per_op * (sets * op_regs) + t % sets * op_regs + jk % per_op * regs;
}

static void read_one(struct lower *lw, const struct sched_op *op, const struct reg_block *b, const struct access_spec *q,
		     const struct lds_row *row, uint8_t groups, uint8_t flags)
{
	const struct lower_operand *o = b->operand ? layout_operand(lw, (enum operand_id)b->operand) : NULL;
	unsigned regs = (row->width_bytes + 3) / 4, at = q->j * regs, other = 0;
	int32_t access = o ? access_fragment(lw, q) : access_explicit(lw, q);
	struct insn *in;

	if (access < 0)
		return;
	if (q->unit) {
		ptx_span(lw, b, q->unit, q->j, &at, &regs, &other);
	} else if (o && b->tile_regs && o->m) {
		at = read_place(lw, b, o, q->j, regs);
	}
	at %= b->n;
	in = emit(lw, OPC_LDS_READ, row->op, groups, op->loc);
	in->flags |= flags;
	in->lds = row;
	in->bytes = row->width_bytes * lw->lanes;
	in->access = access;
	add_span(in, ROLE_DST, b->first + at, regs > b->n - at ? b->n - at : regs);
	if (other)
		add_span(in, ROLE_DST, b->first + other, regs);
	add_addr(lw, in);
	access_cost(lw, in);
}

static void emit_read(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	const struct reg_block *b = reg_find(lw, op->into);
	int buf = lds_index(lw, op->from ? op->from : b ? b->r->from : NULL);
	const struct lds_row *row = b ? pick_lds(lw, op, b->read, false) : NULL;
	unsigned tiles = 1, done = 0, nlanes = 0, width;
	uint64_t total;
	struct counted c;
	struct ptx_unit unit;
	bool ptx = b && row && b->operand && target_is_ptx(lw->t);

	if (!row || !b || buf < 0)
		return;
	if (ptx && (row != b->read || !ptx_unit(lw, b, row, &unit))) {
		diag_add(lw->d, op->loc, DIAG_SHAPE, "'%s' can't read '%s': the fragment's own op= says how its registers lie",
			 row->op, b->r->name);
		return;
	}
	width = row->width_bytes;
	if (target_is_ptx(lw->t) && (nlanes = ptx_matrix_lanes(row)))
		width = 16;
	total = b->operand ? (uint64_t)b->rows * b->bytes / ((uint64_t)lw->lanes * row->width_bytes)
			   : (uint64_t)b->n * 4 / row->width_bytes;
	if (total == 0)
		total = 1;
	if (b->operand && layout_operand(lw, (enum operand_id)b->operand)->m && b->tile_regs)
		tiles = b->rows / (ptx ? unit.rows : operand_lane_rows(lw, layout_operand(lw, (enum operand_id)b->operand)));
	c = op_count(lw, op, total);
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		struct access_spec q = { op, b, buf, op->count && b->operand ? (unsigned)(j % total) : j, c.total,
					 width, false, row->transpose, 0, lw->op_waves, nlanes, ptx ? &unit : NULL };
		size_t before = lw->p->ninsns;

		if (!op->count && !read_selected(op, j, (unsigned)total, tiles))
			continue;
		read_one(lw, op, b, &q, row, groups, edge_flags(op, c, j));
		if (lw->p->ninsns == before)
			return;
		done++;
	}
	if (!done && c.total)
		diag_add(lw->d, op->loc, DIAG_SHAPE, "this part of '%s' holds no whole LDS read", b->r->name);
}

/* Register number i, counted through all blocks of a space-separated list; -1 when the list is empty. */
static int list_register(const struct lower *lw, const char *names, unsigned i)
{
	unsigned total = 0, seen = 0;

	for (int pass = 0; names && pass < 2; pass++) {
		const char *at = names;

		while (*at) {
			char word[80];
			size_t len = strcspn(at, " \t\n"), n = len < sizeof(word) ? len : sizeof(word) - 1;
			const struct reg_block *b;

			memcpy(word, at, n);
			word[n] = '\0';
			b = n ? reg_find(lw, word) : NULL;
			if (b && pass == 0)
				total += b->n;
			if (b && pass == 1) {
				if (i < seen + b->n)
					return (int)(b->first + i - seen);
				seen += b->n;
			}
			at += len + strspn(at + len, " \t\n");
		}
		if (pass == 0) {
			if (!total)
				return -1;
			i %= total;
		}
	}
	return -1;
}

static void emit_arithmetic(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	bool gfx9 = lw->lanes == 64, ptx = target_is_ptx(lw->t);
	const struct { enum op_kind kind; enum opclass cls; const char *op; } as[] = {
		{ OP_VALU, OPC_VALU, ptx ? "add.f32" : "v_add_f32" },
		{ OP_TRANS, OPC_TRANS, ptx ? "ex2.approx.ftz.f32" : "v_exp_f32" },
		{ OP_PACKED, OPC_PACKED, "v_pk_mul_f32" },
		{ OP_SALU, OPC_SALU, ptx ? "add.u32" : gfx9 ? "s_add_u32" : "s_add_co_u32" },
		{ OP_SMEM, OPC_SMEM, gfx9 ? "s_load_dwordx2" : "s_load_b64" },
		{ OP_PERMUTE, OPC_LDS_PERMUTE, ptx ? "shfl.sync.bfly.b32" : "ds_bpermute_b32" },
	};
	size_t k = 0;
	struct counted c = op_count(lw, op, 1);

	if ((op->kind == OP_PACKED || op->kind == OP_SMEM) && ptx_refuses(lw, op))
		return;
	while (k + 1 < ARRAY_LEN(as) && as[k].kind != op->kind)
		k++;
	for (unsigned j = 0; j < c.total && !lw->over; j++) {
		unsigned n = as[k].cls == OPC_PACKED ? 2 : 1;
		int dst = list_register(lw, op->writes, j * n), src = list_register(lw, op->reads, j * n);
		struct insn *in = emit(lw, as[k].cls, op->op ? arena_strdup(lw->a, op->op) : as[k].op, groups, op->loc);

		in->flags |= edge_flags(op, c, j);
		if (as[k].cls == OPC_LDS_PERMUTE) {
			in->lds = target_lds(lw->t, in->op);
			in->bytes = 4 * lw->lanes;
		}
		if (dst >= 0)
			add_span(in, ROLE_DST, (unsigned)dst, n);
		if (src >= 0)
			add_span(in, ROLE_SRC, (unsigned)src, n);
		if (dst >= 0 && ptx) /* accumulates: a result that nobody reads would be left out by the assembler */
			add_span(in, ROLE_SRC, (unsigned)dst, n);
	}
}

void emit_op(struct lower *lw, const struct sched_op *op)
{
	uint8_t groups = op_groups(lw, op);

	if (!groups || lw->over)
		return;
	switch (op->kind) {
	case OP_LOAD: emit_load(lw, op, groups); break;
	case OP_WRITE: emit_write(lw, op, groups); break;
	case OP_COPY: emit_copy(lw, op, groups); break;
	case OP_TDM:
	case OP_TDM_STORE: emit_tdm(lw, op, groups); break;
	case OP_READ: emit_read(lw, op, groups); break;
	case OP_MMA: emit_mma(lw, op, groups); break;
	case OP_STORE: emit_store(lw, op, groups); break;
	case OP_VALU:
	case OP_TRANS:
	case OP_PACKED:
	case OP_SALU:
	case OP_SMEM:
	case OP_PERMUTE: emit_arithmetic(lw, op, groups); break;
	case OP_WAIT: op_wait(lw, op, groups); break;
	case OP_BARRIER: op_barrier(lw, op, groups); break;
	case OP_PRIORITY: op_priority(lw, op, groups); break;
	case OP_FENCE: break; /* holds the compiler, emits nothing */
	case OP_NOP: op_nop(lw, op, groups); break;
	case OP_SLEEP: if (!ptx_refuses(lw, op)) emit(lw, OPC_SLEEP, "s_sleep", groups, op->loc)->imm = (uint8_t)op->imm; break;
	case OP_MODE: op_mode(lw, op, groups); break;
	case OP_COMMIT: op_commit(lw, groups, op->loc); break;
	case OP_INTERLEAVE: emit_weave(lw, op); break;
	case OP_KIND_COUNT: break;
	}
	lw->op_waves = 0;
}

void emit_ops(struct lower *lw, const struct sched_op *ops)
{
	for (; ops && !lw->over; ops = ops->next)
		emit_op(lw, ops);
}
