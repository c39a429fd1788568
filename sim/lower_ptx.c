/*
 * What differs where the program is PTX: fragments as mma wants them, copy groups, pointers, and what the
 * assembler puts around barriers. How: docs/sm_90.md.
 */
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * An operand's fragment is a set of 8 x 16-byte pieces; a lane holds one register of each. An mma takes four of
 * A (two of rows, two of K) and two of B (of K). ldmatrix fills one register for each piece; a plain read gives a
 * lane neighbouring bytes of one row, which is another order of K, the same for A and B.
 */
bool ptx_unit(const struct lower *lw, const struct reg_block *b, const struct lds_row *row, struct ptx_unit *u)
{
	const struct lower_operand *o = layout_operand(lw, (enum operand_id)b->operand);
	unsigned n = row->width_bytes / 4;
	bool a = b->operand == OPERAND_A;

	if (!o || b->operand == OPERAND_SA || b->operand == OPERAND_SB || n == 0 || n == 3 || n > 4 || row->transpose)
		return false;
	u->n = n;
	u->matrix = ptx_matrix_lanes(row) != 0;
	u->rows = u->matrix && ((a && n >= 2) || (n == 4 && b->rows % 16 == 0)) ? 16 : 8;
	u->bytes = 128 * n / u->rows;
	return b->rows % u->rows == 0 && b->bytes % u->bytes == 0 && b->bytes % (a ? 32 : 16) == 0 && (!a || b->rows % 16 == 0);
}

unsigned ptx_matrix_lanes(const struct lds_row *row)
{
	return strncmp(row->op, "ldmatrix", 8) ? 0 : 8 * (row->width_bytes / 4);
}

/* Row and byte of the fragment at which lane l of read j begins. */
void ptx_lane(const struct reg_block *b, const struct ptx_unit *u, unsigned j, unsigned l, uint32_t *row, uint32_t *byte)
{
	unsigned across = b->rows / u->rows, r0 = j % across * u->rows, b0 = j / across * u->bytes, piece = l / 8 % u->n;

	if (!u->matrix) {
		*row = r0 + l / 4;
		*byte = b0 + l % 4 * u->n * 4;
	} else if (b->operand == OPERAND_A) { /* rows first, then K */
		*row = r0 + (u->n > 1 ? piece % 2 * 8 : 0) + l % 8;
		*byte = b0 + piece / 2 * 16;
	} else {
		unsigned deep = u->bytes / 16;

		*row = r0 + piece / deep * 8 + l % 8;
		*byte = b0 + piece % deep * 16;
	}
}

/*
 * Registers that read j of the fragment fills, counted in the block: n from *first on, and as many from *other on when
 * that is not 0. Plain reads of A fill every other one of a span.
 */
void ptx_span(const struct lower *lw, const struct reg_block *b, const struct ptx_unit *u, unsigned j, unsigned *first, unsigned *n,
	      unsigned *other)
{
	const struct lower_operand *o = layout_operand(lw, (enum operand_id)b->operand);
	unsigned across = b->rows / u->rows, r0 = j % across * u->rows, b0 = j / across * u->bytes;

	*other = 0;
	if (b->operand == OPERAND_A) {
		*first = r0 / o->m * b->tile_regs + b0 / 32 * 4;
		*n = u->n;
		if (u->matrix)
			*first += b0 / 16 % 2 * 2 + (u->n == 1 ? r0 / 8 % 2 : 0);
		else if (u->n == 1)
			*first += b0 / 16 % 2 * 2 + r0 / 8 % 2;
		else
			*n = u->n * 2;
	} else {
		*first = r0 / 8 * b->tile_regs + b0 / 16;
		*n = u->n * 8 / u->rows;
		if (u->rows > 8)
			*other = *first + b->tile_regs;
	}
}

static unsigned k_order(const struct lds_row *row)
{
	return !row || ptx_matrix_lanes(row) || row->width_bytes <= 4 ? 0 : row->width_bytes;
}

/* Do reads leave the K of both fragments in the same order? */
bool ptx_same_order(const struct reg_block *a, const struct reg_block *b)
{
	return k_order(a->read) == k_order(b->read);
}

bool ptx_refuses(struct lower *lw, const struct sched_op *op)
{
	if (!target_is_ptx(lw->t))
		return false;
	diag_add(lw->d, op->loc, DIAG_TARGET, "%s has no instruction for <%s>", lw->t->name, op_kind_name(op->kind));
	return true;
}

/* bar.sync of the workgroup is one instruction; a named one arrives and then waits, or only arrives. */
void ptx_barrier(struct lower *lw, int id, enum barrier_part part, unsigned members, uint8_t groups, uint8_t flags, struct loc loc)
{
	struct insn *in;

	if (id == BAR_CLUSTER || part == BARRIER_WAIT || (id == BAR_WORKGROUP && part != BARRIER_BOTH)) {
		diag_add(lw->d, loc, DIAG_TARGET, id == BAR_CLUSTER ? "%s has no cluster barrier here"
			 : "%s can arrive at a named barrier without waiting, nothing else in parts", lw->t->name);
		return;
	}
	if (id == BAR_WORKGROUP) {
		in = emit(lw, OPC_BARRIER, "bar.sync", groups, loc);
		in->flags |= flags;
		in->barrier = BAR_WORKGROUP;
		return;
	}
	for (int k = 0; k < (part == BARRIER_BOTH ? 2 : 1); k++) {
		in = emit(lw, k == 0 ? OPC_SIGNAL : OPC_AWAIT, part == BARRIER_BOTH ? "bar.sync" : "bar.arrive", groups, loc);
		in->flags |= flags;
		in->barrier = (int8_t)id;
		in->members = (uint16_t)members;
	}
}

void ptx_commit(struct lower *lw, uint8_t groups, struct loc loc)
{
	emit(lw, OPC_MODE, "cp.async.commit_group", groups, loc);
}

/* At a loop's end each pointer to an operand that the loop copies or loads moves on: 64 bits, two additions. */
void ptx_advance(struct lower *lw, struct loc loc)
{
	struct program *p = lw->p;
	uint64_t seen = 0;
	uint8_t groups[64] = { 0 };
	uint32_t begin = p->nloops ? p->loops[p->nloops - 1].begin : 0;

	for (size_t i = begin; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		int g = in->access >= 0 ? p->access[in->access].global : -1;

		if (g < 0 || g >= 64 || (in->cls != OPC_VMEM_LDS && in->cls != OPC_VMEM_LOAD))
			continue;
		seen |= UINT64_C(1) << g;
		groups[g] |= in->groups;
	}
	for (unsigned g = 0; g < 64; g++)
		if (seen >> g & 1) {
			struct insn *in = emit(lw, OPC_VALU, "add.u64", groups[g], loc);

			in->flags |= INSN_IMPLIED;
			in->repeat = 2;
		}
}

/* An instruction that the assembler adds in front of another. */
static struct insn filler(const struct insn *before, const char *op, uint8_t groups, unsigned clk, unsigned times)
{
	return (struct insn){ .cls = OPC_NOP, .op = op, .groups = groups, .waves = before->waves, .size = 16, .counter = -1,
			      .repeat = (uint16_t)times, .access = -1, .loop = -1, .stage = before->stage, .loc = before->loc,
			      .imm = (uint8_t)clk,
			      .flags = (uint8_t)(INSN_IMPLIED | (before->flags & (INSN_EDGE_ABSENT | INSN_EDGE_ONLY))) };
}

/* A wait behind matrix ops would be moved in front of them. */
static bool ends_block(const struct insn *in, bool matrix)
{
	return (in->cls == OPC_WAIT && matrix) || in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT || in->cls == OPC_BRANCH || in->cls == OPC_END;
}

static bool starts_loop(const struct program *p, uint32_t i)
{
	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].begin == i)
			return true;
	return false;
}

/* ---- chains ---- */

static const struct span *first_result(const struct insn *in)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_DST)
			return &in->span[k];
	return NULL;
}

static bool writes(const struct insn *in, unsigned reg)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_DST && reg >= in->span[k].first && reg < in->span[k].first + (unsigned)in->span[k].n)
			return true;
	return false;
}

/* Instruction that wrote reg last before i, round the back edge of the loop around i if need be; NULL: none. */
static const struct insn *last_writer(const struct program *p, uint32_t i, unsigned reg)
{
	uint32_t begin = 0, end = 0;

	for (size_t l = 0; l < p->nloops; l++)
		if (i >= p->loops[l].begin && i < p->loops[l].end) {
			begin = p->loops[l].begin;
			end = p->loops[l].end;
		}
	for (uint32_t k = i; k-- > begin; )
		if (writes(&p->insns[k], reg))
			return &p->insns[k];
	for (uint32_t k = end; end && k-- > i; )
		if (writes(&p->insns[k], reg))
			return &p->insns[k];
	return NULL;
}

/*
 * In a kernel, a load into a register that arithmetic wrote takes its address from that register too: so that
 * "load, add, load, add" is one chain, as it reads.
 */
static int make_chains(struct lower *lw)
{
	struct program *p = lw->p;
	struct insertion *list = NULL;
	size_t n = 0, cap = 0;
	unsigned reg = lw->reserve_n ? lw->reserve_first : p->vgpr;
	int rc;

	if (lw->s->gemm || reg >= (unsigned)lw->t->v.vgpr_max)
		return 0;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		struct insn *in = &p->insns[i], *c;
		const struct span *r = in->cls == OPC_LDS_READ || in->cls == OPC_VMEM_LOAD ? first_result(in) : NULL;
		const struct insn *w = r ? last_writer(p, i, r->first) : NULL;

		if (!w || (w->cls != OPC_VALU && w->cls != OPC_TRANS))
			continue;
		list = xgrow(list, n, &cap, sizeof(*list));
		list[n] = (struct insertion){ .before = i };
		c = &list[n++].insn;
		*c = (struct insn){ .cls = OPC_VALU, .op = "chain", .groups = in->groups, .waves = in->waves, .size = 16, .counter = -1,
				    .repeat = 1, .access = -1, .loop = -1, .stage = in->stage, .loc = in->loc,
				    .flags = (uint8_t)(INSN_IMPLIED | (in->flags & (INSN_EDGE_ONLY | INSN_EDGE_ABSENT))) };
		add_span(c, ROLE_SRC, r->first, 1);
		add_span(c, ROLE_DST, reg, 1);
		add_span(in, ROLE_ADDR, reg, 1);
	}
	if (n && reg >= p->vgpr)
		p->vgpr = reg + 1;
	rc = insert_insns(lw, list, n);
	free(list);
	return rc;
}

/* ---- what the assembler adds ---- */

struct block { /* since its first instruction, for one group */
	unsigned now;      /* clk at which the next instruction can issue, as far as holds say */
	unsigned next[3];  /* of matrix, memory, other units */
	unsigned last;     /* issue of the last matrix op */
	bool matrix;
	bool guarded;      /* a copy stands in it */
	bool plain;        /* plain shared reads stand in it, whose results the assembler waits for at its end */
	unsigned reads;    /* shared reads in it */
	uint32_t last_read;
	bool copies_first; /* copies stand in front of its first read */
};

/*
 * Scoreboards. Of six the assembler gives one to copy groups and one each to the first OWN_BOARDS reads of a block; all
 * other reads, and the address registers of everything that is under way, share the last.
 */
#define OWN_BOARDS 4

struct boards {
	bool shared[REG_COUNT];     /* what was read into the register last is on the shared one */
	uint16_t block[REG_COUNT];  /* that block's number */
	uint16_t now;               /* of blocks with reads so far */
	bool wide[REG_COUNT];       /* it came with its neighbours of one row */
};

static void board_reads(struct boards *s, struct block *b, const struct insn *in)
{
	s->now += b->reads == 0;
	for (unsigned n = 0; n < in->repeat; n++, b->reads++)
		for (unsigned k = 0; k < in->nspans; k++)
			for (unsigned r = in->span[k].first; in->role[k] == ROLE_DST &&
			     r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++) {
				s->shared[r] = b->reads >= OWN_BOARDS;
				s->block[r] = s->now;
				s->wide[r] = in->lds->width_bytes >= 8 && !ptx_matrix_lanes(in->lds);
			}
}

/*
 * Who waits for a read on the shared scoreboard waits for all of them, and until all addresses were taken; addresses have
 * one of their own where the reads of a block are for a later one that reads as well.
 */
static void board_wait(const struct lower *lw, const struct boards *s, struct insn *in)
{
	int c = lw->t->classes[OPC_LDS_READ].counter;
	bool shared = false, newest = true;

	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++)
			if (s->shared[r]) {
				shared = true;
				newest &= s->block[r] == s->now;
			}
	for (unsigned k = 0; shared && k < in->nwait; k++) {
		if (in->wait[k].counter != c)
			continue;
		in->wait[k].value = 0;
		for (unsigned i = 0; i < in->nwait; i++)
			if (in->wait[i].counter == CTR_X)
				return;
		if (newest && in->nwait < ARRAY_LEN(in->wait)) {
			in->wait[in->nwait].counter = CTR_X;
			in->wait[in->nwait++].value = 0;
		}
		return;
	}
}

static int unit_of(const struct insn *in)
{
	switch (opclass_slot(in->cls)) {
	case SLOT_VALU: return in->cls == OPC_MATRIX ? 0 : 2;
	case SLOT_LDS:
	case SLOT_VMEM: return 1;
	case SLOT_SALU: return 2;
	case SLOT_BRANCH:
	case SLOT_INTERNAL:
	case SLOT_COUNT: break;
	}
	return -1;
}

/* The instruction issues: holds are for the same unit, or for everything where the instruction has none. */
static void block_issue(const struct lower *lw, struct block *b, const struct insn *in)
{
	unsigned hold = lw->t->classes[in->cls].hold_clk;
	int u = unit_of(in);

	for (unsigned k = 0; k < in->repeat; k++) {
		if (u >= 0 && b->next[u] > b->now)
			b->now = b->next[u];
		if (in->cls == OPC_MATRIX) {
			b->matrix = true;
			b->last = b->now;
		}
		if (u >= 0)
			b->next[u] = b->now + hold;
		b->now += u >= 0 && lw->t->v.hold_unit >= 1 ? 1 : hold;
	}
	if (in->cls == OPC_LDS_READ && !ptx_matrix_lanes(in->lds))
		b->plain = true;
}

/* Wait states that the assembler puts in front of an instruction which ends a block. */
static unsigned drain_clk(const struct lower *lw, const struct block *b, const struct insn *in)
{
	unsigned need = (unsigned)lw->t->v.matrix_drain, hold = lw->t->classes[in->cls].hold_clk, since = b->now - b->last;

	if (in->cls == OPC_BRANCH) /* its own time counts: what it jumps to must find nothing outstanding */
		need -= hold < need ? hold : need;
	return b->matrix && since < need ? need - since : 0;
}

static void wait_reads(const struct lower *lw, struct insn *in)
{
	int c = lw->t->classes[OPC_LDS_READ].counter;

	for (unsigned k = 0; k < in->nwait; k++)
		if (in->wait[k].counter == c) {
			in->wait[k].value = 0;
			return;
		}
	if (c < 0 || in->nwait >= ARRAY_LEN(in->wait))
		return;
	in->wait[in->nwait].counter = (int8_t)c;
	in->wait[in->nwait++].value = 0;
}

struct fillers {
	struct insertion *list;
	size_t n, cap;
	unsigned scratch; /* first register behind those of the program: the assembler's own */
};

static void add_filler(struct fillers *f, uint32_t before, struct insn insn)
{
	/* one for all groups that need the same at the same place */
	for (size_t i = f->n; i-- > 0 && f->list[i].before == before; )
		if (f->list[i].insn.imm == insn.imm && f->list[i].insn.op == insn.op) {
			f->list[i].insn.groups |= insn.groups;
			return;
		}
	f->list = xgrow(f->list, f->n, &f->cap, sizeof(*f->list));
	f->list[f->n++] = (struct insertion){ before, insn };
}

/* An mma wants four registers of A side by side, two of each of two rows: wide plain reads leave them elsewhere. */
static bool scattered(const struct boards *s, const struct insn *in)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_A && in->span[k].first < REG_COUNT)
			return s->wide[in->span[k].first];
	return false;
}

/* The assembler copies them in front of each mma, to registers behind all others. */
static void add_moves(struct lower *lw, struct fillers *f, unsigned g, uint32_t i)
{
	static const char mov[] = "mov";
	struct insn *mma = &lw->p->insns[i], in = filler(mma, mov, (uint8_t)(1u << g), 0, 4);
	bool seen = false;

	in.cls = OPC_VALU;
	in.nwait = mma->nwait;
	memcpy(in.wait, mma->wait, sizeof(in.wait));
	if (f->scratch + 4 <= (unsigned)lw->t->v.vgpr_max)
		add_span(&in, ROLE_DST, f->scratch, 4);
	else
		seen = true;
	add_filler(f, i, in);
	for (unsigned k = 0; k < mma->nspans; k++)
		seen |= mma->role[k] == ROLE_SRC && mma->span[k].first == f->scratch;
	if (!seen)
		add_span(mma, ROLE_SRC, f->scratch, 4);
}

/*
 * A read that ends a block with copies in front of its reads takes over the scoreboard of addresses: it issues when all
 * of the wave's were taken.
 */
static void read_waits(struct lower *lw, const struct block *b)
{
	struct insn *in = &lw->p->insns[b->last_read];

	if (!b->copies_first || b->reads <= OWN_BOARDS || in->nwait >= ARRAY_LEN(in->wait))
		return;
	for (unsigned k = 0; k < in->nwait; k++)
		if (in->wait[k].counter == CTR_X)
			return;
	in->wait[in->nwait].counter = CTR_X;
	in->wait[in->nwait++].value = 0;
}

/* Instruction i as group g meets it. */
static void fill_one(struct lower *lw, struct fillers *f, struct block *b, struct boards *s, unsigned g, uint32_t i)
{
	static const char drain[] = "drain", guard[] = "guard";
	struct insn *in = &lw->p->insns[i];

	if (ends_block(in, b->matrix)) {
		unsigned clk = drain_clk(lw, b, in);

		if (clk)
			add_filler(f, i, filler(in, drain, (uint8_t)(1u << g), clk, 1));
		if (b->plain)
			wait_reads(lw, in);
		read_waits(lw, b);
		*b = (struct block){ 0 };
	}
	if (in->cls == OPC_VMEM_LDS && !b->guarded && lw->t->v.copy_guard >= 1) {
		add_filler(f, i, filler(in, guard, (uint8_t)(1u << g), 1, (unsigned)lw->t->v.copy_guard));
		b->guarded = true;
		b->now += (unsigned)lw->t->v.copy_guard;
	}
	if (in->cls == OPC_LDS_READ) {
		b->copies_first |= b->reads == 0 && b->guarded;
		b->last_read = i;
		board_reads(s, b, in);
	}
	if (in->cls == OPC_MATRIX) {
		board_wait(lw, s, in);
		if (lw->s->gemm && scattered(s, in))
			add_moves(lw, f, g, i);
	}
	block_issue(lw, b, in);
}

/*
 * The assembler lets no matrix result be outstanding at the end of a basic block, and the emitter ends one at each
 * barrier to keep the order of the stages. In front of the first copy of a block it puts empty instructions.
 */
static int add_fillers(struct lower *lw)
{
	struct block b[PROG_MAX_GROUPS] = { 0 };
	struct boards *s = xcalloc(lw->s->groups, sizeof(*s));
	struct fillers f = { .scratch = lw->p->vgpr };
	int rc;

	for (uint32_t i = 0; i < lw->p->ninsns; i++)
		for (unsigned g = 0; g < lw->s->groups; g++) {
			if (starts_loop(lw->p, i))
				b[g] = (struct block){ 0 };
			if (lw->p->insns[i].groups >> g & 1)
				fill_one(lw, &f, &b[g], &s[g], g, i);
		}
	rc = insert_insns(lw, f.list, f.n);
	free(f.list);
	free(s);
	return rc;
}

int ptx_finish(struct lower *lw)
{
	return make_chains(lw) < 0 || add_fillers(lw) < 0 ? -1 : 0;
}
