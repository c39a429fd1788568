/* Matrix ops of an accumulator: which tile, which slice of K, which registers. */
#include "lower_internal.h"

struct mma {
	const struct sched_op *op;
	const struct matrix_row *mx;
	const struct reg_block *acc, *a, *b, *sa, *sb, *index;
	unsigned a_regs, b_regs, nk, tiles; /* registers of one operand; steps of K; tiles of the accumulator */
	uint8_t groups;
};

static unsigned operand_regs(const struct lower *lw, unsigned rows, unsigned k, bool a)
{
	const struct lower_operand *o = a ? &lw->opnd[0] : &lw->opnd[1];
	unsigned bits = rows * k * o->bits, lane = lw->lanes * 32;

	return (bits + lane - 1) / lane;
}

/* Geometry of a derived op; false after a finding. */
static bool mma_shape(struct lower *lw, struct mma *m)
{
	unsigned ka = m->a->bytes * 8 / lw->opnd[0].bits, kb = m->b->bytes * 8 / lw->opnd[1].bits;
	unsigned tm = m->a->rows / m->mx->m, tn = m->b->rows / m->mx->n;

	if (m->a->operand != OPERAND_A || m->b->operand != OPERAND_B) {
		diag_add(lw->d, m->op->loc, DIAG_SHAPE, "the fragments of a matrix op must hold A ('%s') and B ('%s')",
			 m->a->r->name, m->b->r->name);
		return false;
	}
	if (ka != kb || ka % m->mx->k || ka < m->mx->k) {
		diag_add(lw->d, m->op->loc, DIAG_SHAPE,
			 "'%s' holds %u elements of K and '%s' %u: both must be the same multiple of %u", m->a->r->name, ka,
			 m->b->r->name, kb, m->mx->k);
		return false;
	}
	if (tm * tn != m->acc->tiles_m * m->acc->tiles_n) {
		diag_add(lw->d, m->op->loc, DIAG_SHAPE, "'%s' x '%s' is %u x %u matrix tiles, '%s' has %u x %u",
			 m->a->r->name, m->b->r->name, tm, tn, m->acc->r->name, m->acc->tiles_m, m->acc->tiles_n);
		return false;
	}
	if (target_is_ptx(lw->t) && !ptx_same_order(m->a, m->b)) {
		diag_add(lw->d, m->op->loc, DIAG_SHAPE,
			 "the reads of '%s' and '%s' leave K in different orders: read both with ldmatrix, or both with plain reads of one width",
			 m->a->r->name, m->b->r->name);
		return false;
	}
	m->nk = ka / m->mx->k;
	m->tiles = tm * tn;
	m->a_regs = operand_regs(lw, m->mx->m, m->mx->k, true);
	m->b_regs = operand_regs(lw, m->mx->n, m->mx->k, false);
	return true;
}

static struct insn *mma_insn(struct lower *lw, const struct mma *m, unsigned c)
{
	struct insn *in = emit(lw, OPC_MATRIX, m->mx->op, m->groups, m->op->loc);

	in->matrix = m->mx;
	in->size = m->mx->kind == MK_MFMA_SCALE || m->mx->kind == MK_WMMA_SCALE ? 16 : 8;
	if (lw->tail_split)
		in->flags |= INSN_TAIL_SPLIT;
	add_span(in, ROLE_DST, c, m->acc->tile_regs);
	add_span(in, ROLE_C, c, m->acc->tile_regs); /* also of sparse ops, which accumulate in D */
	return in;
}

/* One register of each scale block and of the index block goes with the op. */
static void mma_extra(struct insn *in, const struct mma *m, struct scale_place pa, struct scale_place pb)
{
	if (m->sa)
		add_span(in, ROLE_INDEX, m->sa->first + pa.reg % m->sa->n, 1);
	if (m->sb)
		add_span(in, ROLE_INDEX, m->sb->first + pb.reg % m->sb->n, 1);
	if (m->sa || m->sb)
		in->imm = (uint8_t)(pa.part | pb.part << 2);
	if (m->index)
		add_span(in, ROLE_INDEX, m->index->first, 1);
}

/* Op i of the derived list: K outermost, then rows, then columns. */
static void mma_derived(struct lower *lw, const struct mma *m, unsigned i)
{
	unsigned k = i / m->tiles, t = i % m->tiles, rt = t / m->acc->tiles_n, ct = t % m->acc->tiles_n;
	struct insn *in = mma_insn(lw, m, m->acc->first + t * m->acc->tile_regs);

	add_span(in, ROLE_A, m->a->first + rt * m->a->tile_regs + k * m->a_regs, m->a_regs);
	add_span(in, ROLE_B, m->b->first + ct * m->b->tile_regs + k * m->b_regs, m->b_regs);
	if (m->sa && m->sb && m->sa->operand && m->sb->operand) {
		unsigned ks = k + (m->a->r->kpart.n > 1 ? m->a->r->kpart.i * m->nk : 0);

		mma_extra(in, m, scale_place(lw, m->sa, rt, ks, m->mx->m), scale_place(lw, m->sb, ct, ks, m->mx->n));
	} else {
		mma_extra(in, m, (struct scale_place){ rt * m->nk + k, 0 }, (struct scale_place){ ct * m->nk + k, 0 });
	}
}

/*
 * Kernels without a GEMM: tiles of the accumulator in turn, K outside. An operand block with one entry
 * for each step of K is shared by all tiles; a larger one is used up entry by entry.
 */
static void mma_explicit(struct lower *lw, const struct mma *m, unsigned i)
{
	unsigned tiles = m->acc->tile_regs ? m->acc->n / m->acc->tile_regs : 0, k = i / (tiles ? tiles : 1);
	unsigned nk = tiles ? (m->tiles + tiles - 1) / tiles : m->tiles;
	unsigned na = m->a ? m->a->n / m->a_regs : 0, nb = m->b ? m->b->n / m->b_regs : 0;
	struct insn *in = mma_insn(lw, m, m->acc->first + (tiles ? i % tiles * m->acc->tile_regs : 0));

	if (na)
		add_span(in, ROLE_A, m->a->first + (na > nk ? i : k) % na * m->a_regs, m->a_regs);
	if (nb)
		add_span(in, ROLE_B, m->b->first + (nb > nk ? i : k) % nb * m->b_regs, m->b_regs);
	mma_extra(in, m, (struct scale_place){ i, 0 }, (struct scale_place){ i, 0 });
}

static const struct matrix_row *mma_row(struct lower *lw, const struct sched_op *op)
{
	const struct matrix_row *mx = lw->mx;

	if (op->op) {
		mx = target_matrix(lw->t, op->op, lw->s->gemm ? lw->s->type_a : DT_F16, lw->s->gemm ? lw->s->type_b : DT_F16);
		if (!mx)
			diag_add(lw->d, op->op_loc, DIAG_TARGET, "%s has no matrix op '%s' for these operand types",
				 lw->t->name, op->op);
	} else if (!mx) {
		diag_add(lw->d, op->loc, DIAG_TARGET, "<mma> needs a matrix op: write <matrix op=\"...\"/> or op=");
	}
	return mx;
}

void emit_mma(struct lower *lw, const struct sched_op *op, uint8_t groups)
{
	struct mma m = { .op = op, .mx = mma_row(lw, op), .acc = reg_find(lw, op->acc), .groups = groups };
	unsigned lo = 0, hi;
	bool derived;

	if (!m.mx || !m.acc)
		return;
	m.a = reg_find(lw, op->a ? op->a : m.acc->r->a);
	m.b = reg_find(lw, op->b ? op->b : m.acc->r->b);
	m.sa = reg_find(lw, op->sa ? op->sa : m.acc->r->sa);
	m.sb = reg_find(lw, op->sb ? op->sb : m.acc->r->sb);
	m.index = reg_find(lw, op->index);
	derived = m.a && m.b && m.a->operand && m.b->operand && m.acc->tiles_m && m.acc->tiles_n;
	if (derived && !mma_shape(lw, &m))
		return;
	if (!derived) {
		if (!op->count) {
			diag_add(lw->d, op->loc, DIAG_SHAPE, "<mma> of '%s' needs a count: its fragments are not read from A and B",
				 m.acc->r->name);
			return;
		}
		m.a_regs = m.mx->a_regs ? m.mx->a_regs : 1;
		m.b_regs = m.mx->b_regs ? m.mx->b_regs : 1;
		m.nk = 1;
		m.tiles = op->count;
	}
	hi = m.nk * m.tiles;
	if (op->kpart.n > 1) {
		if (m.nk % op->kpart.n) {
			diag_add(lw->d, op->loc, DIAG_SHAPE, "%u steps of K can't be cut into %u equal slices", m.nk, op->kpart.n);
			return;
		}
		lo = m.nk / op->kpart.n * op->kpart.i * m.tiles;
		hi = lo + m.nk / op->kpart.n * m.tiles;
	}
	if (op->part.n > 1) {
		unsigned n = hi - lo;

		if (n % op->part.n) {
			diag_add(lw->d, op->loc, DIAG_SHAPE, "%u matrix ops can't be cut into %u equal parts", n, op->part.n);
			return;
		}
		hi = lo + n / op->part.n * (op->part.i + 1);
		lo = hi - n / op->part.n;
	}
	if (derived && op->count > hi - lo) {
		diag_add(lw->d, op->loc, DIAG_SHAPE, "count=\"%u\" is more than the %u matrix ops that '%s' takes here", op->count,
			 hi - lo, op->acc);
		return;
	}
	if (derived && op->count)
		hi = lo + op->count;
	for (unsigned i = lo; i < hi && !lw->over; i++) {
		size_t at = lw->p->ninsns;

		if (derived)
			mma_derived(lw, &m, i);
		else
			mma_explicit(lw, &m, i);
		if (op->edge_count >= 0 && i - lo >= (unsigned)op->edge_count && at < lw->p->ninsns)
			lw->p->insns[at].flags |= INSN_EDGE_ABSENT;
	}
}
