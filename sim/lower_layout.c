/* Where an operand's bytes lie in LDS: rows, padding, swizzles and the bases of the buffers. */
#include "lower_internal.h"

#include <inttypes.h>
#include <string.h>

const struct lower_operand *layout_operand(const struct lower *lw, enum operand_id id)
{
	switch (id) {
	case OPERAND_A: return &lw->opnd[0];
	case OPERAND_B: return &lw->opnd[1];
	case OPERAND_SA: return &lw->opnd[2];
	case OPERAND_SB: return &lw->opnd[3];
	case OPERAND_NONE: break;
	}
	return NULL;
}

unsigned operand_lane_rows(const struct lower *lw, const struct lower_operand *o)
{
	return !target_is_ptx(lw->t) && lw->lanes == 32 && o->m == 32 ? 16 : o->m;
}

int lds_index(const struct lower *lw, const char *name)
{
	for (size_t i = 0; name && i < lw->s->nlds; i++)
		if (strcmp(lw->s->lds[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* One operand (or its block scales: one byte for 32 elements of K) over the waves. */
static int operand_fill(struct lower *lw, struct lower_operand *o, bool a, bool scale)
{
	const struct schedule *s = lw->s;
	uint64_t bits;

	o->bits = scale ? 8 : dtype_bits(a ? s->type_a : s->type_b);
	o->rows = a ? s->tile_m : s->tile_n;
	o->split = a ? s->rows : s->cols;
	o->m = lw->mx ? (a ? lw->mx->m : lw->mx->n) : 0;
	bits = (uint64_t)(scale ? s->tile_k / 32 : s->tile_k) * o->bits;
	if (bits == 0 || bits % 8) {
		diag_add(lw->d, s->tile_loc, DIAG_SHAPE, "a K-step of %u elements of %u bits is no whole number of bytes",
			 s->tile_k, o->bits);
		return -1;
	}
	o->row_bytes = (unsigned)(bits / 8);
	return 0;
}

int layout_operands(struct lower *lw)
{
	const struct schedule *s = lw->s;

	if (!s->gemm)
		return 0;
	if (operand_fill(lw, &lw->opnd[0], true, false) < 0 || operand_fill(lw, &lw->opnd[1], false, false) < 0)
		return -1;
	if (s->scaled && (operand_fill(lw, &lw->opnd[2], true, true) < 0 ||
			  operand_fill(lw, &lw->opnd[3], false, true) < 0))
		return -1;
	return 0;
}

uint32_t lds_pad(const struct sched_lds *l, uint32_t off)
{
	return l->pad_every ? off + off / l->pad_every * l->pad_by : off;
}

/*
 * When a pad block holds several rows, neighbouring rows go to neighbouring blocks: rows of one matrix
 * tile are then a block and its padding apart, which is what the padding is for.
 */
static uint32_t spread_row(const struct lds_buf *b, uint32_t row)
{
	uint32_t per, blocks;

	if (!b->l->pad_every || b->l->pad_every <= b->row_bytes || b->l->pad_every % b->row_bytes)
		return row;
	per = b->l->pad_every / b->row_bytes;
	if (b->rows % per)
		return row;
	blocks = b->rows / per;
	return row % blocks * per + row / blocks;
}

uint32_t lds_place(const struct lower *lw, const struct lds_buf *b, uint32_t row, uint32_t byte)
{
	const struct sched_lds *l = b->l;
	const struct lower_operand *o = layout_operand(lw, l->operand);

	if (l->swz_max_phase > 1 && o) {
		uint32_t vec = l->swz_vec * o->bits / 8, phase = row / l->swz_per_phase % l->swz_max_phase;

		byte = (byte / vec ^ phase) * vec + byte % vec;
	}
	return lds_pad(l, spread_row(b, row) * b->row_bytes + byte);
}

void lds_unplace(const struct lower *lw, const struct lds_buf *b, uint32_t off, uint32_t *row, uint32_t *byte)
{
	const struct sched_lds *l = b->l;
	const struct lower_operand *o = layout_operand(lw, l->operand);
	uint32_t at = off / b->row_bytes, blocks = b->rows;

	*byte = off % b->row_bytes;
	if (l->pad_every > b->row_bytes && l->pad_every % b->row_bytes == 0 && b->rows % (l->pad_every / b->row_bytes) == 0)
		blocks = b->rows / (l->pad_every / b->row_bytes);
	*row = at % (b->rows / blocks) * blocks + at / (b->rows / blocks);
	if (l->swz_max_phase > 1 && o) {
		uint32_t vec = l->swz_vec * o->bits / 8, phase = *row / l->swz_per_phase % l->swz_max_phase;

		*byte = (*byte / vec ^ phase) * vec + *byte % vec;
	}
}

static bool lds_rearranged(const struct lower *lw, const struct lds_buf *b)
{
	if (!layout_operand(lw, b->l->operand))
		return false;
	for (uint32_t row = 0; row < b->rows; row++)
		if (spread_row(b, row) != row)
			return true;
	return b->l->swz_max_phase > 1;
}

static int swizzle_check(struct lower *lw, const struct lds_buf *b)
{
	const struct sched_lds *l = b->l;
	const struct lower_operand *o = layout_operand(lw, l->operand);
	uint64_t vec;

	if (l->swz_max_phase <= 1)
		return 0;
	vec = o ? (uint64_t)l->swz_vec * o->bits : 0;
	if (!o || vec == 0 || vec % 8 || l->swz_per_phase == 0 || (l->swz_max_phase & (l->swz_max_phase - 1)) ||
	    b->row_bytes % (vec / 8 * l->swz_max_phase)) {
		diag_add(lw->d, l->loc, DIAG_SHAPE,
			 "the swizzle of '%s' does not fit: max-phase must be a power of two, and a row of %u bytes "
			 "a multiple of max-phase * vec elements", l->name, b->row_bytes);
		return -1;
	}
	return 0;
}

static int buffer_fill(struct lower *lw, struct lds_buf *b)
{
	const struct sched_lds *l = b->l;
	const struct lower_operand *o = layout_operand(lw, l->operand);
	uint64_t raw = l->bytes, padded;

	if (l->operand != OPERAND_NONE && (!o || !o->row_bytes)) {
		diag_add(lw->d, l->loc, DIAG_SHAPE, "'%s' holds an operand that this schedule does not have", l->name);
		return -1;
	}
	if (o) {
		if (l->part.n > 1 && o->rows % l->part.n) {
			diag_add(lw->d, l->loc, DIAG_SHAPE, "%u rows of the tile can't be cut into %u equal parts",
				 o->rows, l->part.n);
			return -1;
		}
		b->rows = o->rows / (l->part.n ? l->part.n : 1);
		b->row_bytes = o->row_bytes;
		raw = (uint64_t)b->rows * b->row_bytes;
		if (swizzle_check(lw, b) < 0)
			return -1;
	}
	padded = raw;
	if (l->pad_every)
		padded += (raw - 1) / l->pad_every * l->pad_by;
	if (raw == 0 || padded > UINT32_MAX / 4) {
		diag_add(lw->d, l->loc, DIAG_LDS_CAP, "a slot of '%s' takes %" PRIu64 " bytes", l->name, padded);
		return -1;
	}
	b->raw_bytes = (uint32_t)raw;
	b->slot_bytes = (uint32_t)((padded + 15) / 16 * 16);
	return 0;
}

/* Base address of buffer i; *end is the first free byte behind those placed so far. */
static int buffer_place(struct lower *lw, size_t i, uint64_t *end)
{
	const struct sched_lds *l = &lw->s->lds[i];
	struct buffer *b = &lw->p->buffers[i];
	uint64_t base = (*end + 127) / 128 * 128, last;
	unsigned slots = l->slots ? l->slots : 1;

	b->alias_of = -1;
	if (l->alias) {
		int of = lds_index(lw, l->alias);

		if (of < 0 || (size_t)of >= i) {
			diag_add(lw->d, l->loc, DIAG_NAME, "'%s' shares the memory of '%s', which must be declared before it",
				 l->name, l->alias);
			return -1;
		}
		b->alias_of = of;
		base = lw->p->buffers[of].base;
	} else if (l->base >= 0) {
		base = (uint64_t)l->base;
	}
	last = base + (uint64_t)lw->buf[i].slot_bytes * slots;
	if (last > UINT32_MAX / 2) {
		diag_add(lw->d, l->loc, DIAG_LDS_CAP, "'%s' would end at byte %" PRIu64 " of LDS", l->name, last);
		return -1;
	}
	*b = (struct buffer){ arena_strdup(lw->a, l->name), (uint32_t)base, lw->buf[i].slot_bytes, slots, b->alias_of,
			      (int32_t)l->operand, l->loc, l->pad_every, l->pad_by, lds_rearranged(lw, &lw->buf[i]) };
	if (last > *end)
		*end = last;
	return 0;
}

/* The sum spelled out, at the largest buffer. */
static void lds_too_much(struct lower *lw, uint64_t end)
{
	struct strbuf sum = { 0 };
	struct loc where = lw->s->loc;
	uint64_t total = 0, largest = 0;
	struct finding *f;

	for (size_t i = 0; i < lw->s->nlds; i++) {
		const struct buffer *b = &lw->p->buffers[i];
		uint64_t bytes = (uint64_t)b->slots * b->slot_bytes;

		if (b->alias_of >= 0)
			continue;
		strbuf_add(&sum, "%s%s %u x %u", sum.len ? " + " : "", b->name, b->slots, b->slot_bytes);
		total += bytes;
		if (bytes > largest) {
			largest = bytes;
			where = lw->s->lds[i].loc;
		}
	}
	if (end > total)
		strbuf_add(&sum, " + %" PRIu64 " between them", end - total);
	f = diag_add(lw->d, where, DIAG_LDS_CAP, "the workgroup needs %" PRIu64 " bytes of LDS, %s has %.0f: %s", end,
		     lw->t->name, lw->t->v.lds_bytes, sum.s ? sum.s : "");
	diag_fix(f, "use fewer slots, a smaller K-step, or let buffers that live at different times share memory (alias)");
	strbuf_free(&sum);
}

int layout_lds(struct lower *lw)
{
	size_t n = lw->s->nlds;
	uint64_t end = 0;
	unsigned granule = (unsigned)lw->t->v.lds_granule;

	lw->buf = arena_alloc(lw->a, n + 1, sizeof(*lw->buf));
	lw->p->buffers = arena_alloc(lw->a, n + 1, sizeof(*lw->p->buffers));
	lw->p->nbuffers = n;
	for (size_t i = 0; i < n; i++) {
		lw->buf[i].l = &lw->s->lds[i];
		if (buffer_fill(lw, &lw->buf[i]) < 0 || buffer_place(lw, i, &end) < 0)
			return -1;
	}
	if ((double)end > lw->t->v.lds_bytes) {
		lds_too_much(lw, end);
		return -1;
	}
	lw->p->lds_bytes = (uint32_t)((end + granule - 1) / granule * granule);
	return 0;
}
