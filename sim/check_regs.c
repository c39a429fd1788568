/*
 * Registers: a loaded register is used only behind the wait for its load; matrix ops multiply the same
 * K-step of A and B; each accumulator gets every K index exactly once.
 */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

struct content { /* what a register holds, by its last load */
	uint32_t pos;   /* the load's position, NO_POS: not from a load */
	bool set;       /* something wrote it */
	bool used;      /* its wait was already demanded */
	int32_t access; /* -1: unknown */
	int64_t tile;
	uint32_t row;   /* first row of the operand's tile in it, as far as the access says */
};

struct piece { /* one matrix op's share of the sum: K-step, and first K index inside it */
	int64_t tile;
	uint32_t k;
};

struct sum { /* what was added to one accumulator */
	struct piece *piece;
	size_t n, cap;
	uint32_t insn; /* first matrix op on it */
	uint32_t row, col; /* first row of A and column of B that it is a product of; UINT32_MAX: not known */
	uint16_t reg;
};

static bool is_load(enum opclass c)
{
	return c == OPC_LDS_READ || c == OPC_VMEM_LOAD || c == OPC_SMEM || c == OPC_LDS_PERMUTE;
}

static int64_t tile_of(const struct checker *c, const struct access *a, int32_t step)
{
	return a->absolute ? check_tile(c, a->tile) : a->from_end ? c->ksteps - 1 - a->tile : (int64_t)step + a->tile;
}

/* One order serves all registers of a load. */
static void mark_used(const struct checker *c, unsigned g, struct content *reg, uint32_t pos)
{
	const struct insn *in = &c->p->insns[c->track[g].inst[pos].insn];

	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++)
			if (reg[r].pos == pos)
				reg[r].used = true;
}

/* Registers this instruction touches that an open load will write: their loads must be complete. */
static void demand(struct checker *c, unsigned g, uint32_t pos, struct content *reg, const struct insn *in)
{
	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++) {
			struct content *x = &reg[r];

			if (x->pos == NO_POS || x->used)
				continue;
			/* loads of one in-order stream write in order: no wait between them */
			if (in->role[k] == ROLE_DST && is_load(in->cls) && check_stream_ordered(c->p, in) && in->counter == c->p->insns[c->track[g].inst[x->pos].insn].counter)
				continue;
			check_require(c, (struct order){ (uint8_t)g, ORDER_REGISTER, (uint8_t)g, x->pos, pos, pos });
			mark_used(c, g, reg, x->pos);
		}
}

/* The K-step of the whole loop that one of the shortened loop stands for. */
static long long real_step(const struct checker *c, int64_t tile)
{
	return c->cut && tile > c->ksteps / 2 ? tile + c->cut : tile;
}

static void mismatch(struct checker *c, unsigned g, uint32_t pos, const struct content *a, const struct content *b, const char *fmt)
{
	const struct track *t = &c->track[g];
	const struct insn *in = &c->p->insns[t->inst[pos].insn];
	char when[96];
	struct finding *f;

	c->faults++;
	if (c->quiet || !check_once(c, DIAG_TILE, (uint32_t)in->loc.begin, (uint32_t)c->p->insns[t->inst[a->pos].insn].loc.begin))
		return;
	f = diag_add(c->d, in->loc, DIAG_TILE, fmt, real_step(c, a->tile), real_step(c, b->tile), check_group_letter(g),
		     check_when(c, g, pos, when, sizeof(when)));
	diag_note(f, c->p->insns[t->inst[a->pos].insn].loc, "loaded here");
	if (b->pos != NO_POS)
		diag_note(f, c->p->insns[t->inst[b->pos].insn].loc, "and here");
}

static const struct content *span_content(const struct content *reg, const struct insn *in, enum span_role role)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == role && in->span[k].n && in->span[k].first < REG_COUNT)
			return &reg[in->span[k].first];
	return NULL;
}

static bool operand_buffer(const struct program *p, int32_t b)
{
	return b >= 0 && (p->buffers[b].operand == 'A' || p->buffers[b].operand == 'B');
}

/* Does this register hold a piece of A or B of the GEMM? Scales and other buffers do not count. */
static bool operand_tile(const struct checker *c, const struct content *x)
{
	int32_t b;

	if (!x || x->pos == NO_POS || x->access < 0)
		return false;
	b = c->p->access[x->access].buffer;
	return operand_buffer(c->p, b);
}

/* An operand put together from pieces of different K-steps. */
static bool mixed_span(struct checker *c, unsigned g, uint32_t pos, const struct content *reg, const struct insn *in, enum span_role role)
{
	for (unsigned k = 0; k < in->nspans; k++) {
		unsigned first = in->span[k].first;

		for (unsigned r = first + 1; in->role[k] == role && r < first + (unsigned)in->span[k].n && r < REG_COUNT; r++) {
			if (!operand_tile(c, &reg[r]) || reg[r].tile == reg[first].tile)
				continue;
			mismatch(c, g, pos, &reg[first], &reg[r],
				 "one operand holds pieces of K-step %lld and of K-step %lld (group %c, %s)");
			return true;
		}
	}
	return false;
}

static void report_unset(struct checker *c, unsigned g, uint32_t pos, const char *what)
{
	const struct insn *in = &c->p->insns[c->track[g].inst[pos].insn];
	char when[96];
	struct finding *f;

	c->faults++;
	if (c->quiet || !check_once(c, DIAG_TILE, (uint32_t)in->loc.begin, UINT32_MAX))
		return;
	f = diag_add(c->d, in->loc, DIAG_TILE, "%s (group %c, %s)", what, check_group_letter(g),
		     check_when(c, g, pos, when, sizeof(when)));
	diag_fix(f, "load or read them first");
}

/* The product's block is that of the first op; it must not change. */
static void add_piece(struct checker *c, unsigned g, uint32_t pos, struct sum *s, const struct insn *in, int64_t tile,
		      const struct content *a, const struct content *b)
{
	const struct access *x = &c->p->access[a->access], *y = &c->p->access[b->access];
	bool known = x->rows_hi && y->rows_hi;

	if (!s->n) {
		s->insn = c->track[g].inst[pos].insn;
		s->row = known ? a->row : UINT32_MAX;
		s->col = known ? b->row : UINT32_MAX;
		s->reg = in->nspans ? in->span[0].first : 0;
	} else if (known && s->row != UINT32_MAX && (s->row != a->row || s->col != b->row)) {
		c->faults++;
		if (!c->quiet && check_once(c, DIAG_ACC, (uint32_t)in->loc.begin, 1))
			diag_add(c->d, in->loc, DIAG_ACC,
				 "the accumulator v%u of group %c sums up row %u x column %u and row %u x column %u of the tile: an operand "
				 "holds another part than at its first op",
				 s->reg, check_group_letter(g), s->row, s->col, a->row, b->row);
	}
	s->piece = xgrow(s->piece, s->n, &s->cap, sizeof(*s->piece));
	s->piece[s->n++] = (struct piece){ tile, x->k_hi ? x->k_lo : 0 };
}

/* One matrix op: same K-step and K piece of both operands; add the piece to the accumulator's sum. */
static void multiply(struct checker *c, unsigned g, uint32_t pos, struct content *reg, const struct insn *in, struct sum *sums)
{
	const struct content *a = span_content(reg, in, ROLE_A), *b = span_content(reg, in, ROLE_B);
	const struct access *x, *y;
	struct sum *s = NULL;

	if (c->gemm && ((a && !a->set) || (b && !b->set))) {
		report_unset(c, g, pos, "multiplies registers that nothing has loaded");
		return;
	}
	if (!operand_tile(c, a) || !operand_tile(c, b))
		return;
	if (mixed_span(c, g, pos, reg, in, ROLE_A) || mixed_span(c, g, pos, reg, in, ROLE_B))
		return;
	if (a->tile != b->tile) {
		mismatch(c, g, pos, a, b, "multiplies K-step %lld with K-step %lld of the other operand (group %c, %s)");
		return;
	}
	x = &c->p->access[a->access];
	y = &c->p->access[b->access];
	if (x->k_hi && y->k_hi && x->k_lo != y->k_lo) {
		struct content kx = *a, ky = *b;

		kx.tile = x->k_lo;
		ky.tile = y->k_lo;
		mismatch(c, g, pos, &kx, &ky, "multiplies K index %lld of a K-step with K index %lld of it (group %c, %s)");
		return;
	}
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_DST && in->span[k].first < REG_COUNT)
			s = &sums[in->span[k].first];
	if (s)
		add_piece(c, g, pos, s, in, a->tile, a, b);
}

static void report_sum(struct checker *c, unsigned g, const struct sum *s, int64_t tile, const char *what)
{
	const struct insn *in = &c->p->insns[s->insn];
	struct finding *f;

	c->faults++;
	if (c->quiet || !check_once(c, DIAG_ACC, (uint32_t)in->loc.begin, 0))
		return;
	f = diag_add(c->d, in->loc, DIAG_ACC, "the accumulator v%u of group %c gets K-step %lld %s",
		     in->nspans ? in->span[0].first : 0, check_group_letter(g), real_step(c, tile), what);
	diag_fix(f, "each of the %lld K-steps must be multiplied once: compare the loop's peel with what prologue and epilogue do",
		 (long long)(c->ksteps + c->cut));
}

static int by_k_and_tile(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->k != y->k)
		return x->k < y->k ? -1 : 1;
	return x->tile < y->tile ? -1 : x->tile > y->tile;
}

/* Pieces with one K index: each K-step as often as most of the others. */
static bool check_pieces(struct checker *c, unsigned g, const struct sum *s, const struct piece *p, size_t n)
{
	uint32_t *count = xcalloc((size_t)c->ksteps + 1, sizeof(*count));
	size_t best = 0, votes = 0;
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++) {
		ok = p[i].tile >= 0 && p[i].tile < c->ksteps;
		if (ok)
			count[p[i].tile]++;
		else
			report_sum(c, g, s, p[i].tile, "which is no K-step of this product");
	}
	for (int64_t k = 0; k < c->ksteps; k++) { /* the majority's count */
		if (votes == 0)
			best = count[k];
		votes += count[k] == best ? 1 : (size_t)-1;
	}
	if (best == 0)
		best = n / (size_t)c->ksteps ? n / (size_t)c->ksteps : 1;
	for (int64_t k = 0; k < c->ksteps && ok; k++)
		if (count[k] != best) {
			report_sum(c, g, s, k, count[k] == 0 ? "not at all" : count[k] < best ? "only in part" : "more than once");
			ok = false;
		}
	free(count);
	return ok;
}

static void check_sum(struct checker *c, unsigned g, const struct sum *s)
{
	size_t end;

	qsort(s->piece, s->n, sizeof(*s->piece), by_k_and_tile);
	for (size_t i = 0; i < s->n; i = end) {
		for (end = i; end < s->n && s->piece[end].k == s->piece[i].k; end++)
			;
		if (!check_pieces(c, g, s, s->piece + i, end - i))
			return;
	}
}

static int by_block(const void *a, const void *b)
{
	const struct sum *x = *(const struct sum *const *)a, *y = *(const struct sum *const *)b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->col != y->col)
		return x->col < y->col ? -1 : 1;
	return x->reg < y->reg ? -1 : x->reg > y->reg;
}

/* Two accumulators with the same rows and columns: one of them was meant for another part. */
static void check_blocks(struct checker *c, unsigned g, struct sum *sums)
{
	const struct sum *list[REG_COUNT];
	size_t n = 0;

	for (unsigned r = 0; r < REG_COUNT; r++)
		if (sums[r].n && sums[r].row != UINT32_MAX)
			list[n++] = &sums[r];
	if (n)
		qsort(list, n, sizeof(*list), by_block);
	for (size_t i = 1; i < n; i++) {
		const struct sum *s = list[i];
		struct finding *f;

		if (s->row != list[i - 1]->row || s->col != list[i - 1]->col)
			continue;
		c->faults++;
		if (c->quiet || !check_once(c, DIAG_ACC, (uint32_t)c->p->insns[s->insn].loc.begin, 2))
			continue;
		f = diag_add(c->d, c->p->insns[s->insn].loc, DIAG_ACC,
			     "the accumulators v%u and v%u of group %c both hold the product of row %u and column %u of the tile",
			     list[i - 1]->reg, s->reg, check_group_letter(g), s->row, s->col);
		diag_note(f, c->p->insns[list[i - 1]->insn].loc, "the other one");
		diag_fix(f, "read the fragment that one of them names before it is used");
	}
}

static void check_sums(struct checker *c, unsigned g, struct sum *sums)
{
	check_blocks(c, g, sums);
	for (unsigned r = 0; r < REG_COUNT; r++) {
		if (sums[r].n && c->ksteps > 0)
			check_sum(c, g, &sums[r]);
		free(sums[r].piece);
	}
}

static void load(struct checker *c, unsigned g, uint32_t pos, struct content *reg, const struct insn *in)
{
	const struct track *t = &c->track[g];
	struct content x = { pos, true, false, in->access, 0, 0 };
	const struct access *a = in->access >= 0 ? &c->p->access[in->access] : NULL;
	unsigned n = 0, i = 0;

	for (unsigned k = 0; k < in->nspans; k++)
		n += in->role[k] == ROLE_DST;
	if (in->access >= 0)
		x.tile = tile_of(c, &c->p->access[in->access], t->inst[pos].step);
	for (unsigned k = 0; k < in->nspans; k++) {
		if (in->role[k] != ROLE_DST)
			continue;
		/* several destinations hold equal shares of the rows */
		x.row = a ? a->rows_lo + i++ * ((a->rows_hi - a->rows_lo) / n) : 0;
		for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++)
			reg[r] = x;
	}
}

/* An LDS write stores what a load brought: the tiles must agree. */
static void store(struct checker *c, unsigned g, uint32_t pos, const struct content *reg, const struct insn *in)
{
	const struct content *x = span_content(reg, in, ROLE_DATA);
	struct content w = { NO_POS, true, false, -1, 0, 0 };

	if (c->gemm && x && !x->set && in->access >= 0 && operand_buffer(c->p, c->p->access[in->access].buffer)) {
		report_unset(c, g, pos, "writes registers to LDS that nothing has loaded");
		return;
	}
	if (in->access < 0 || !x || x->pos == NO_POS || x->access < 0 || c->p->access[x->access].buffer >= 0)
		return;
	w.tile = tile_of(c, &c->p->access[in->access], c->track[g].inst[pos].step);
	if (w.tile != x->tile)
		mismatch(c, g, pos, x, &w, "the registers hold K-step %lld, and this writes it as K-step %lld (group %c, %s)");
}

/* A GEMM brings both operands through LDS buffers that name them. */
static bool is_gemm(const struct program *p)
{
	bool a = false, b = false;

	for (size_t i = 0; i < p->nbuffers; i++) {
		a |= p->buffers[i].operand == 'A';
		b |= p->buffers[i].operand == 'B';
	}
	return a && b && p->ksteps > 0;
}

int check_regs(struct checker *c)
{
	struct content *reg = xcalloc(REG_COUNT, sizeof(*reg));
	struct sum *sums = xcalloc(REG_COUNT, sizeof(*sums));

	c->gemm = is_gemm(c->p);

	for (unsigned g = 0; g < c->ngroups; g++) {
		const struct track *t = &c->track[g];

		memset(sums, 0, REG_COUNT * sizeof(*sums));
		for (unsigned r = 0; r < REG_COUNT; r++)
			reg[r] = (struct content){ NO_POS, false, false, -1, 0, 0 };
		for (uint32_t i = 0; i < t->n; i++) {
			const struct insn *in = &c->p->insns[t->inst[i].insn];

			demand(c, g, i, reg, in);
			if (in->cls == OPC_MATRIX)
				multiply(c, g, i, reg, in, sums);
			if (in->cls == OPC_LDS_WRITE)
				store(c, g, i, reg, in);
			if (is_load(in->cls)) {
				load(c, g, i, reg, in);
				continue;
			}
			for (unsigned k = 0; k < in->nspans; k++)
				for (unsigned r = in->span[k].first; in->role[k] == ROLE_DST && r < in->span[k].first + (unsigned)in->span[k].n && r < REG_COUNT; r++)
					reg[r] = (struct content){ NO_POS, true, false, -1, 0, 0 };
		}
		check_sums(c, g, sums);
	}
	free(sums);
	free(reg);
	return 0;
}
