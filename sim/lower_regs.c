/* Physical registers of fragments, staging, accumulators and plain blocks. */
#include "lower_internal.h"

#include <string.h>

int reg_index(const struct lower *lw, const char *name)
{
	for (size_t i = 0; name && i < lw->s->nregs; i++)
		if (strcmp(lw->s->regs[i].name, name) == 0)
			return (int)i;
	return -1;
}

struct reg_block *reg_find(const struct lower *lw, const char *name)
{
	int i = reg_index(lw, name);

	return i < 0 ? NULL : &lw->reg[i];
}

/* Does a read of w bytes a lane cover whole matrix rows of the fragment? */
static bool read_fits(const struct lower *lw, const struct reg_block *b, const struct lower_operand *o, unsigned w)
{
	if (b->operand == OPERAND_SA || b->operand == OPERAND_SB || !o->m)
		return (uint64_t)b->rows * b->bytes % ((uint64_t)lw->lanes * w) == 0;
	return b->rows % o->m == 0 && lw->lanes % o->m == 0 && b->bytes % w == 0 &&
	       b->bytes / w % (lw->lanes / operand_lane_rows(lw, o)) == 0;
}

static int pick_read(struct lower *lw, struct reg_block *b, const struct lower_operand *o)
{
	const struct sched_reg *r = b->r;
	const struct lds_row *best = NULL;
	struct ptx_unit unit;

	if (r->read_op) {
		b->read = target_lds(lw->t, r->read_op);
		if (!b->read || b->read->write) {
			diag_add(lw->d, r->loc, DIAG_TARGET, "%s has no LDS read '%s'", lw->t->name, r->read_op);
			return -1;
		}
		return 0;
	}
	for (size_t i = 0; i < lw->t->nlds; i++) {
		const struct lds_row *row = &lw->t->lds[i];

		if (row->write || row->transpose || !row->width_bytes || (row->width_bytes & (row->width_bytes - 1)))
			continue;
		if (o && target_is_ptx(lw->t) ? !ptx_unit(lw, b, row, &unit) : o ? !read_fits(lw, b, o, row->width_bytes) : row->width_bytes > b->n * 4)
			continue;
		if (!best || row->width_bytes > best->width_bytes)
			best = row;
	}
	b->read = best;
	return 0;
}

/* Equal cut that must come out whole. */
static bool cut(struct lower *lw, struct loc loc, const char *what, unsigned *value, unsigned by, const char *into)
{
	if (by <= 1)
		return true;
	if (*value % by) {
		diag_add(lw->d, loc, DIAG_SHAPE, "%s: %u can't be cut into %u equal %s", what, *value, by, into);
		return false;
	}
	*value /= by;
	return true;
}

static int fragment_fill(struct lower *lw, struct reg_block *b)
{
	const struct sched_reg *r = b->r;
	int from = lds_index(lw, r->from);
	const struct lower_operand *o = from >= 0 ? layout_operand(lw, lw->s->lds[from].operand) : NULL;
	uint64_t bytes;

	if (r->count)
		b->n = r->count;
	if (!o) {
		if (!r->count) {
			diag_add(lw->d, r->loc, DIAG_SHAPE, "'%s' needs a register count (vgpr): it is not read from an operand's buffer",
				 r->name);
			return -1;
		}
		return pick_read(lw, b, NULL);
	}
	b->operand = (int)lw->s->lds[from].operand;
	b->rows = lw->buf[from].rows;
	b->bytes = lw->buf[from].row_bytes;
	if (!cut(lw, r->loc, "rows of the buffer", &b->rows, r->part.n, "parts") ||
	    !cut(lw, r->loc, "rows of the part", &b->rows, o->split, "wave shares") ||
	    !cut(lw, r->loc, "bytes of a row", &b->bytes, r->kpart.n, "slices of K"))
		return -1;
	bytes = (uint64_t)b->rows * b->bytes;
	if (!r->count)
		b->n = (unsigned)((bytes + lw->lanes * 4u - 1) / (lw->lanes * 4u));
	if (o->m && b->operand != OPERAND_SA && b->operand != OPERAND_SB) {
		if (b->rows % o->m) {
			diag_add(lw->d, r->loc, DIAG_SHAPE, "a wave's %u rows of '%s' are no multiple of the matrix op's %u",
				 b->rows, r->name, o->m);
			return -1;
		}
		b->tile_regs = b->n / (b->rows / o->m);
	}
	if (pick_read(lw, b, o) < 0)
		return -1;
	if (!b->read && !r->count) {
		diag_add(lw->d, r->loc, DIAG_SHAPE, "no LDS read of %s covers a wave's %u rows of %u bytes of '%s' evenly",
			 lw->t->name, b->rows, b->bytes, r->name);
		return -1;
	}
	return 0;
}

/* Staging registers: one wave's share of the buffer (or of the part), loaded and then written. */
static int staging_fill(struct lower *lw, struct reg_block *b)
{
	const struct sched_reg *r = b->r;
	int from = lds_index(lw, r->from);
	unsigned parts = r->part.n > 1 ? r->part.n : 1;
	uint64_t per_wave;

	if (r->count) {
		b->n = r->count;
		return 0;
	}
	if (from < 0 || !lw->buf[from].raw_bytes) {
		diag_add(lw->d, r->loc, DIAG_SHAPE, "'%s' needs a buffer or a register count", r->name);
		return -1;
	}
	per_wave = lw->buf[from].raw_bytes / parts / lw->s->waves;
	b->n = (unsigned)(per_wave / (lw->lanes * 4u));
	if (b->n == 0 || (uint64_t)b->n * lw->lanes * 4 * lw->s->waves * parts != lw->buf[from].raw_bytes) {
		diag_add(lw->d, r->loc, DIAG_SHAPE, "%u bytes of '%s' don't divide evenly over %u waves of %u lanes",
			 lw->buf[from].raw_bytes / parts, r->from, lw->s->waves, lw->lanes);
		return -1;
	}
	return 0;
}

static const struct sched_op *find_mma(const struct sched_op *op, const char *acc)
{
	for (; op; op = op->next) {
		const struct sched_op *in;

		if (op->kind == OP_MMA && op->a && op->b && strcmp(op->acc, acc) == 0)
			return op;
		if ((in = find_mma(op->children, acc)))
			return in;
	}
	return NULL;
}

static const struct sched_op *first_mma(const struct lower *lw, const char *acc)
{
	for (const struct sched_section *sec = lw->s->sections; sec; sec = sec->next)
		for (const struct sched_stage *st = sec->stages; st; st = st->next) {
			const struct sched_op *op = find_mma(st->ops, acc);

			if (op)
				return op;
		}
	return NULL;
}

static int accumulator_fill(struct lower *lw, struct reg_block *b)
{
	const struct sched_reg *r = b->r;
	const struct sched_op *op = r->a && r->b ? NULL : first_mma(lw, r->name);
	const struct reg_block *fa = reg_find(lw, r->a ? r->a : op ? op->a : NULL);
	const struct reg_block *fb = reg_find(lw, r->b ? r->b : op ? op->b : NULL);
	unsigned acc_bits = lw->s->gemm ? dtype_bits(lw->s->type_acc) : 32;

	if (r->count)
		b->n = r->count;
	if (lw->mx)
		b->tile_regs = lw->mx->m * lw->mx->n * (lw->mx->blocks ? lw->mx->blocks : 1) * acc_bits / 32 / lw->lanes;
	if (lw->mx && fa && fb && fa->operand && fb->operand) {
		b->tiles_m = fa->rows / lw->mx->m;
		b->tiles_n = fb->rows / lw->mx->n;
	}
	if (!b->n) {
		uint64_t n = (uint64_t)b->tiles_m * b->tiles_n * b->tile_regs;

		b->n = n > LOWER_MAX_REG ? LOWER_MAX_REG + 1u : (unsigned)n;
	}
	if (b->n == 0) {
		diag_add(lw->d, r->loc, DIAG_SHAPE, "the registers of '%s' can't be derived: name a matrix op and the fragments that it multiplies, or write vgpr",
			 r->name);
		return -1;
	}
	return 0;
}

static unsigned file_limit(const struct lower *lw, enum reg_file f)
{
	return (unsigned)(f == FILE_AGPR ? lw->t->v.agpr_max : lw->t->v.vgpr_max);
}

static size_t share_root(const struct lower *lw, size_t i)
{
	for (unsigned hops = 0; hops < 16 && lw->s->regs[i].shares; hops++) {
		int next = reg_index(lw, lw->s->regs[i].shares);

		if (next < 0)
			break;
		i = (size_t)next;
	}
	return i;
}

static void add_terms(const struct lower *lw, struct strbuf *sum, enum reg_file f, const unsigned *size)
{
	for (size_t i = 0; i < lw->s->nregs; i++)
		if (share_root(lw, i) == i && lw->s->regs[i].file == f)
			strbuf_add(sum, "%s%s %u", sum->len ? " + " : "", lw->s->regs[i].name, size[i]);
	if (f == FILE_VGPR && lw->s->reserve_vgpr)
		strbuf_add(sum, "%sreserve %u", sum->len ? " + " : "", lw->s->reserve_vgpr);
}

static void too_many(struct lower *lw, const char *what, unsigned need, unsigned have, const unsigned *size, int file)
{
	struct strbuf sum = { 0 };
	struct finding *f;
	struct loc where = lw->s->nregs ? lw->s->regs[lw->s->nregs - 1].loc : lw->s->loc;

	if (file != FILE_AGPR)
		add_terms(lw, &sum, FILE_VGPR, size);
	if (file != FILE_VGPR)
		add_terms(lw, &sum, FILE_AGPR, size);
	f = diag_add(lw->d, where, DIAG_REG_CAP, "a wave needs %u %s, %s has %u with %u waves: %s", need, what, lw->t->name, have,
		     lw->s->waves, sum.s ? sum.s : "");
	diag_fix(f, "let blocks that are not live together share registers, use fewer waves, or a smaller tile");
	strbuf_free(&sum);
}

static int budget(struct lower *lw, unsigned vgpr, unsigned agpr, const unsigned *size)
{
	unsigned simds = (unsigned)lw->t->v.simds, per_simd = (lw->s->waves + simds - 1) / simds;
	unsigned granule = (unsigned)lw->t->v.vgpr_granule, pool = (unsigned)lw->t->v.vgpr_pool / per_simd;
	unsigned arch = agpr ? (vgpr + 3) / 4 * 4 : vgpr, all = (arch + agpr + granule - 1) / granule * granule;

	if (vgpr > file_limit(lw, FILE_VGPR)) {
		too_many(lw, "vector registers", vgpr, file_limit(lw, FILE_VGPR), size, FILE_VGPR);
		return -1;
	}
	if (agpr > file_limit(lw, FILE_AGPR)) {
		too_many(lw, "accumulation registers", agpr, file_limit(lw, FILE_AGPR), size, FILE_AGPR);
		return -1;
	}
	if (all > pool) {
		too_many(lw, "vector registers in all", all, pool / granule * granule, size, -1);
		return -1;
	}
	lw->p->vgpr = agpr ? arch : all;
	lw->p->agpr = agpr;
	return 0;
}

bool regs_reserve(struct lower *lw, unsigned n)
{
	const struct target_values *v = &lw->t->v;
	unsigned simds = (unsigned)v->simds, per_simd = (lw->s->waves + simds - 1) / simds, granule = (unsigned)v->vgpr_granule;
	unsigned need = lw->reserve_first + n, agpr = lw->p->agpr, arch = agpr ? (need + 3) / 4 * 4 : need;
	unsigned all = (arch + agpr + granule - 1) / granule * granule;

	if (need > file_limit(lw, FILE_VGPR) || all > (unsigned)v->vgpr_pool / per_simd)
		return false;
	lw->reserve_n = n;
	if ((agpr ? arch : all) > lw->p->vgpr)
		lw->p->vgpr = agpr ? arch : all;
	return true;
}

static int fill_all(struct lower *lw)
{
	static const enum sched_reg_kind order[] = { SREG_FRAGMENT, SREG_STAGING, SREG_BLOCK, SREG_ACCUMULATOR };

	for (size_t k = 0; k < ARRAY_LEN(order); k++)
		for (size_t i = 0; i < lw->s->nregs; i++) {
			struct reg_block *b = &lw->reg[i];
			int rc = 0;

			b->r = &lw->s->regs[i];
			if (b->r->kind != order[k])
				continue;
			switch (b->r->kind) {
			case SREG_FRAGMENT: rc = fragment_fill(lw, b); break;
			case SREG_STAGING: rc = staging_fill(lw, b); break;
			case SREG_ACCUMULATOR: rc = accumulator_fill(lw, b); break;
			case SREG_BLOCK:
				b->n = b->r->count;
				rc = pick_read(lw, b, NULL);
				break;
			}
			if (rc < 0)
				return -1;
			if (b->n == 0 || b->n > LOWER_MAX_REG) {
				diag_add(lw->d, b->r->loc, DIAG_REG_CAP, "'%s' takes %u registers; one block may have 1 to %u",
					 b->r->name, b->n, LOWER_MAX_REG);
				return -1;
			}
		}
	return 0;
}

int regs_layout(struct lower *lw)
{
	static const enum sched_reg_kind order[] = { SREG_ACCUMULATOR, SREG_FRAGMENT, SREG_STAGING, SREG_BLOCK };
	size_t n = lw->s->nregs;
	unsigned *size = arena_alloc(lw->a, n + 1, sizeof(*size)), next[2] = { 0, 0 };
	unsigned counted;
	bool scales_first = lw->lanes == 32 && lw->s->scaled;

	lw->reg = arena_alloc(lw->a, n + 1, sizeof(*lw->reg));
	if (fill_all(lw) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		size_t root = share_root(lw, i);

		if (lw->reg[i].n > size[root])
			size[root] = lw->reg[i].n;
	}
	/* Scale registers must be among the first 256. */
	for (size_t k = scales_first ? 0 : 1; k <= ARRAY_LEN(order); k++)
		for (size_t i = 0; i < n; i++) {
			enum reg_file f = lw->s->regs[i].file;
			bool scales = scales_first && (lw->reg[i].operand == OPERAND_SA || lw->reg[i].operand == OPERAND_SB);

			if ((k ? lw->s->regs[i].kind != order[k - 1] || scales : !scales) || share_root(lw, i) != i)
				continue;
			if (size[i] > 1)
				next[f] = (next[f] + 1) / 2 * 2; /* pairs start at an even register */
			lw->reg[i].first = next[f] + (f == FILE_AGPR ? REG_AGPR : 0u);
			next[f] += size[i];
			if (next[f] > 16 * LOWER_MAX_REG)
				break;
		}
	counted = next[FILE_VGPR] + lw->s->reserve_vgpr;
	if (budget(lw, counted, next[FILE_AGPR], size) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		lw->reg[i].first = lw->reg[share_root(lw, i)].first;
	lw->reserve_first = next[FILE_VGPR];
	lw->reserve_n = lw->s->reserve_vgpr;
	lw->p->sgpr = lw->s->reserve_sgpr + 1; /* the loop counter */
	if (lw->p->sgpr > (unsigned)lw->t->v.sgpr_max) {
		diag_add(lw->d, lw->s->loc, DIAG_REG_CAP, "a wave needs %u scalar registers, %s has %.0f", lw->p->sgpr,
			 lw->t->name, lw->t->v.sgpr_max);
		return -1;
	}
	return 0;
}
