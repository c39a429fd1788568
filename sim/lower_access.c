/* Real addresses: which LDS bytes each lane of each wave touches, and what that costs. */
#include "lds.h"
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

#define ADDR_FAR (1u << 26)

uint32_t waves_of_groups(const struct lower *lw, uint8_t groups)
{
	unsigned per = lw->s->waves / lw->s->groups;
	uint32_t mask = 0;

	for (unsigned w = 0; w < lw->s->waves; w++)
		if (groups >> (w / per) & 1)
			mask |= 1u << w;
	return mask;
}

/* Number of wave w among the waves that execute, -1 when it doesn't. */
static int exec_index(uint32_t waves, unsigned w)
{
	return waves >> w & 1 ? __builtin_popcount(waves & ((1u << w) - 1)) : -1;
}

static void access_tile_ref(struct lower *lw, struct access *ac, const struct sched_op *op)
{
	const struct tile_ref *r = &op->tile;
	enum tile_base base = r->base;
	int off = r->offset;
	unsigned slots = ac->buffer >= 0 ? lw->p->buffers[ac->buffer].slots : 1;

	if (base == TILE_NONE) {
		base = lw->section == SECTION_PROLOGUE ? TILE_ABSOLUTE : lw->section == SECTION_LOOP ? TILE_LOOP : TILE_LAST;
		off = 0;
	}
	ac->slot = slots == 1 ? 0 : -1;
	switch (base) {
	case TILE_NONE:
	case TILE_ABSOLUTE:
		ac->absolute = true;
		ac->tile = off;
		if (off >= 0)
			ac->slot = off % (int)slots;
		break;
	case TILE_LOOP:
		ac->tile = off + lw->step;
		if (lw->loop_steps % slots == 0)
			ac->slot = ((ac->tile % (int)slots) + (int)slots) % (int)slots;
		break;
	case TILE_LAST:
		ac->from_end = true;
		ac->tile = off < 0 ? -off : off;
		if (lw->p->ksteps > (uint64_t)ac->tile)
			ac->slot = (int32_t)((lw->p->ksteps - 1 - (uint64_t)ac->tile) % slots);
		break;
	}
}

static struct access *access_new(struct lower *lw, const struct access_spec *q, int32_t *index)
{
	struct program *p = lw->p;
	struct access *ac;

	*index = -1;
	if (p->naccess >= LOWER_MAX_ACCESS) {
		if (!lw->over)
			diag_add(lw->d, q->op->loc, DIAG_LIMIT, "more than %u memory instructions in one program",
				 LOWER_MAX_ACCESS);
		lw->over = true;
		return NULL;
	}
	p->access = xgrow(p->access, p->naccess, &lw->cap_access, sizeof(*p->access));
	ac = &p->access[p->naccess];
	memset(ac, 0, sizeof(*ac));
	ac->buffer = q->buf;
	ac->global = -1;
	ac->write = q->write;
	ac->width = q->width;
	access_tile_ref(lw, ac, q->op);
	*index = (int32_t)p->naccess++;
	return ac;
}

/*
 * Lane and wave offsets from full addresses addr[wave][lane]: every wave must see the lanes of the
 * first executing one, moved by a constant.
 */
static int access_split(struct lower *lw, struct access *ac, const struct access_spec *q, uint32_t *const *addr)
{
	unsigned n = lw->s->waves, lanes = ac->nlanes;
	uint32_t *lane = arena_alloc(lw->a, lanes, sizeof(*lane)), *base = arena_alloc(lw->a, n, sizeof(*base));
	int first = -1;
	uint32_t origin = 0;

	for (unsigned w = 0; w < n; w++) {
		if (exec_index(q->waves, w) < 0)
			continue;
		if (first < 0) {
			first = (int)w;
			memcpy(lane, addr[w], lanes * sizeof(*lane));
			origin = addr[w][0];
		}
		base[w] = addr[w][0] - origin;
		for (unsigned l = 0; l < lanes; l++)
			if (addr[w][l] - base[w] != lane[l]) {
				diag_add(lw->d, q->op->loc, DIAG_SHAPE,
					 "wave %u's rows of '%s' are swizzled or padded differently from wave %d's: the "
					 "pattern must repeat at each wave's first row", w,
					 lw->s->lds[q->buf].name, first);
				return -1;
			}
	}
	ac->lane = lane;
	ac->wave_base = base;
	return 0;
}

/*
 * What the lanes cover of the operand's tile, src[wave][lane] = row of the buffer * bytes of a row + byte, kept when
 * a lane's and a wave's share add up.
 */
static void access_source(struct lower *lw, struct access *ac, const struct lds_buf *b, uint32_t waves, unsigned lanes,
			  uint32_t *const *src)
{
	unsigned n = lw->s->waves, first = waves ? (unsigned)__builtin_ctz(waves) : 0;
	uint32_t above = b->l->part.n > 1 ? b->l->part.i * b->rows * b->row_bytes : 0;
	uint32_t *lane, *wave;

	for (unsigned w = 0; w < n; w++)
		for (unsigned l = 0; (waves >> w & 1) && l < lanes; l++)
			if (src[w][l] - src[w][0] != src[first][l] - src[first][0])
				return;
	lane = arena_alloc(lw->a, lanes, sizeof(*lane));
	wave = arena_alloc(lw->a, n, sizeof(*wave));
	for (unsigned l = 0; l < lanes; l++)
		lane[l] = src[first][l] + above;
	for (unsigned w = 0; w < n; w++)
		wave[w] = waves >> w & 1 ? src[w][0] - src[first][0] : 0;
	ac->src_lane = lane;
	ac->src_wave = wave;
	ac->src_row_bytes = b->row_bytes;
}

/* Element box of wave 0: rows of the tile and K. */
struct box {
	uint32_t r0, r1, b0, b1;
};

static void box_add(struct box *b, uint32_t row, uint32_t byte, uint32_t width)
{
	if (b->r1 == 0)
		*b = (struct box){ row, row + 1, byte, byte + width };
	if (row < b->r0)
		b->r0 = row;
	if (row + 1 > b->r1)
		b->r1 = row + 1;
	if (byte < b->b0)
		b->b0 = byte;
	if (byte + width > b->b1)
		b->b1 = byte + width;
}

static void box_store(struct access *ac, const struct box *b, const struct lds_buf *buf, unsigned bits)
{
	uint32_t at = buf->l->part.n > 1 ? buf->l->part.i * buf->rows : 0;

	ac->rows_lo = at + b->r0;
	ac->rows_hi = at + b->r1;
	ac->k_lo = b->b0 * 8 / bits;
	ac->k_hi = b->b1 * 8 / bits;
}

static uint32_t **addr_table(struct lower *lw, unsigned lanes)
{
	uint32_t **a = xcalloc(lw->s->waves, sizeof(*a)), *flat = xcalloc((size_t)lw->s->waves * lanes, sizeof(*flat));

	for (unsigned w = 0; w < lw->s->waves; w++)
		a[w] = flat + (size_t)w * lanes;
	return a;
}

static void addr_free(uint32_t **a)
{
	free(a[0]);
	free(a);
}

/* Row and byte (inside the fragment) that lane l of read j of count covers. */
static void fragment_item(const struct lower *lw, const struct reg_block *r, const struct access_spec *q, unsigned l,
			  uint32_t *row, uint32_t *byte)
{
	const struct lower_operand *o = layout_operand(lw, (enum operand_id)r->operand);
	unsigned m = o->m ? operand_lane_rows(lw, o) : lw->lanes, chunks = r->bytes / q->width, tiles = r->rows / m, across, per_tile;
	struct ptx_unit unit;

	if (target_is_ptx(lw->t) && r->read && ptx_unit(lw, r, r->read, &unit)) {
		ptx_lane(r, &unit, q->j, l, row, byte);
		return;
	}
	if (r->operand == OPERAND_SA || r->operand == OPERAND_SB || !chunks || !tiles || r->rows % m ||
	    lw->lanes % m || chunks % (lw->lanes / m)) {
		/* linear: scales, and fragments smaller than one instruction */
		uint32_t lin = (q->j * lw->lanes + l) * q->width % (r->rows * r->bytes);

		*row = lin / r->bytes;
		*byte = lin % r->bytes;
		return;
	}
	across = lw->lanes / m; /* chunks of one row that one read covers */
	per_tile = chunks / across;
	*row = q->j % tiles * m + l % m;
	{
		unsigned jk = q->j / tiles, lane_bytes = lw->mx ? m * lw->mx->k * o->bits / 8 / lw->lanes : q->width;
		/* With block scales a lane's K bytes of one MFMA must be one run, so that one scale fits them;
		 * otherwise any order of K that A and B share will do. */
		unsigned pair = lw->s->scaled && lane_bytes > q->width && lw->lanes == 64 ? lane_bytes / q->width : 1;

		if (pair > per_tile || per_tile % pair)
			pair = 1;
		*byte = ((l / m) * pair + jk % pair + across * pair * (jk / pair)) * q->width;
	}
}

int32_t access_fragment(struct lower *lw, const struct access_spec *q)
{
	const struct reg_block *r = q->reg;
	const struct lds_buf *b = &lw->buf[q->buf];
	const struct lower_operand *o = layout_operand(lw, (enum operand_id)r->operand);
	unsigned per_part = b->rows / (r->r->part.n ? r->r->part.n : 1);
	unsigned ksub = r->r->kpart.n > 1 ? r->r->kpart.n : 1;
	struct box box = { 0 };
	int32_t index;
	struct access *ac = access_new(lw, q, &index);
	uint32_t **addr, **src;

	if (!ac)
		return -1;
	ac->nlanes = q->nlanes ? q->nlanes : lw->lanes;
	addr = addr_table(lw, lw->lanes);
	src = addr_table(lw, lw->lanes);
	for (unsigned w = 0; w < lw->s->waves; w++) {
		unsigned share = o == &lw->opnd[0] || o == &lw->opnd[2] ? w / lw->s->cols : w % lw->s->cols;
		uint32_t row0 = r->r->part.i * per_part * (r->r->part.n > 1) + share * r->rows;

		for (unsigned l = 0; l < ac->nlanes; l++) {
			uint32_t row, byte;

			fragment_item(lw, r, q, l, &row, &byte);
			if (ksub > 1)
				byte += r->r->kpart.i * (b->row_bytes / ksub);
			addr[w][l] = lds_place(lw, b, row0 + row, byte);
			src[w][l] = (row0 + row) * b->row_bytes + byte;
			if (w == 0)
				box_add(&box, row0 + row, byte, q->width);
		}
	}
	if (access_split(lw, ac, q, addr) < 0)
		index = -1;
	else
		box_store(ac, &box, b, o->bits);
	access_source(lw, ac, b, q->waves, ac->nlanes, src);
	addr_free(addr);
	addr_free(src);
	return index;
}

/* Byte of the buffer, without padding, that lane l of executing wave e covers with instruction j of a linear op. */
static uint32_t tile_byte(const struct lower *lw, const struct access_spec *q, const struct lds_buf *b, unsigned e, unsigned l)
{
	const struct part *part = q->reg ? &q->reg->r->part : &q->op->part;
	unsigned nw = (unsigned)__builtin_popcount(q->waves);
	uint32_t part_bytes = b->raw_bytes / (part->n > 1 ? part->n : 1), per;

	/* PTX: a wave's instructions side by side, so that its first rows are a multiple of many */
	per = target_is_ptx(lw->t) ? part_bytes / (nw * lw->lanes * q->width) : 0;
	if (per)
		return (part->n > 1 ? part->i * part_bytes : 0) + (((e * per + q->j % per) * lw->lanes + l) * q->width) % part_bytes;
	return (part->n > 1 ? part->i * part_bytes : 0) + (((q->j * nw + e) * lw->lanes + l) * q->width) % part_bytes;
}

void access_load(struct lower *lw, const struct access_spec *q, int32_t index)
{
	const struct lds_buf *b = &lw->buf[q->buf];
	uint32_t **src = addr_table(lw, lw->lanes);

	for (unsigned w = 0; w < lw->s->waves; w++)
		for (unsigned l = 0; exec_index(q->waves, w) >= 0 && l < lw->lanes; l++)
			src[w][l] = tile_byte(lw, q, b, (unsigned)exec_index(q->waves, w), l);
	access_source(lw, &lw->p->access[index], b, q->waves, lw->lanes, src);
	addr_free(src);
}

/* Operand's rows, all waves that execute one after the other, lanes in a row side by side. */
int32_t access_tile(struct lower *lw, const struct access_spec *q)
{
	const struct lds_buf *b = &lw->buf[q->buf];
	bool copy = !q->reg && lw->t->v.copy_scatter < 1;
	struct box box = { 0 };
	int32_t index;
	struct access *ac = access_new(lw, q, &index);
	uint32_t **addr, **src;

	if (!ac)
		return -1;
	ac->nlanes = lw->lanes;
	addr = addr_table(lw, lw->lanes);
	src = addr_table(lw, lw->lanes);
	for (unsigned w = 0; w < lw->s->waves; w++) {
		int e = exec_index(q->waves, w);

		for (unsigned l = 0; e >= 0 && l < lw->lanes; l++) {
			uint32_t lin = tile_byte(lw, q, b, (unsigned)e, l), row = lin / b->row_bytes, byte = lin % b->row_bytes;

			/* a copy's lanes land side by side; its global addresses do the swizzle */
			addr[w][l] = copy ? lds_pad(b->l, lin) : lds_place(lw, b, row, byte);
			if (copy)
				lds_unplace(lw, b, lin, &row, &byte);
			src[w][l] = row * b->row_bytes + byte;
			if (w == 0 && !copy)
				box_add(&box, row, byte, q->width);
		}
	}
	if (copy)
		for (unsigned l = 1; l < lw->lanes && !lw->over; l++)
			if (addr[0][l] != addr[0][0] + l * q->width && exec_index(q->waves, 0) == 0) {
				diag_add(lw->d, q->op->loc, DIAG_SHAPE,
					 "a copy writes %u bytes in a row, but '%s' is padded after every %u",
					 lw->lanes * q->width, b->l->name, b->l->pad_every);
				index = -1;
				break;
			}
	if (index >= 0 && access_split(lw, ac, q, addr) < 0)
		index = -1;
	if (index >= 0 && box.r1)
		box_store(ac, &box, b, layout_operand(lw, b->l->operand)->bits);
	access_source(lw, ac, b, q->waves, lw->lanes, src);
	addr_free(addr);
	addr_free(src);
	return index;
}

int32_t access_tensor(struct lower *lw, const struct access_spec *q)
{
	const struct lds_buf *b = &lw->buf[q->buf];
	unsigned parts = q->op->part.n > 1 ? q->op->part.n : 1;
	uint32_t part_bytes = b->raw_bytes / parts, from = q->op->part.n > 1 ? q->op->part.i * part_bytes : 0;
	int32_t index;
	struct access *ac = access_new(lw, q, &index);
	uint32_t *lane, *base, **src;

	if (!ac)
		return -1;
	lane = arena_alloc(lw->a, 1, sizeof(*lane));
	base = arena_alloc(lw->a, lw->s->waves, sizeof(*base));
	*lane = lds_pad(b->l, from);
	src = addr_table(lw, 1);
	for (unsigned w = 0; w < lw->s->waves; w++) {
		int e = exec_index(q->waves, w);

		if (e > 0)
			base[w] = lds_pad(b->l, from + (uint32_t)e * q->bytes) - *lane;
		src[w][0] = e > 0 ? from + (uint32_t)e * q->bytes : from;
	}
	if (b->row_bytes)
		access_source(lw, ac, b, q->waves, 1, src);
	addr_free(src);
	ac->nlanes = 1;
	ac->lane = lane;
	ac->wave_base = base;
	ac->width = lds_pad(b->l, from + q->bytes - 1) + 1 - *lane;
	return index;
}

int32_t access_explicit(struct lower *lw, const struct access_spec *q)
{
	const struct lds_buf *b = &lw->buf[q->buf];
	unsigned nw = (unsigned)__builtin_popcount(q->waves), step = q->op->stride ? q->op->stride : q->width;
	unsigned lanes = q->nlanes ? q->nlanes : lw->lanes;
	int32_t index;
	struct access *ac = access_new(lw, q, &index);
	uint32_t *lane, *base, own;

	if (!ac)
		return -1;
	own = q->op->share == SHARE_ALL || nw == 0 ? 0 : b->raw_bytes / nw / 16 * 16;
	lane = arena_alloc(lw->a, lw->lanes, sizeof(*lane));
	base = arena_alloc(lw->a, lw->s->waves, sizeof(*base));
	for (unsigned w = 0; w < lw->s->waves; w++) {
		int e = exec_index(q->waves, w);

		base[w] = e > 0 ? lds_pad(b->l, (uint32_t)e * own) : 0;
	}
	for (unsigned l = 0; l < lanes; l++) {
		uint64_t at = (uint64_t)q->op->offset + ((uint64_t)q->j * lanes + l) * step;

		if (l == 0 && at >= b->raw_bytes) {
			diag_add(lw->d, q->op->loc, DIAG_SHAPE,
				 "instruction %u starts at byte %llu of '%s', which has %u bytes a slot", q->j + 1,
				 (unsigned long long)at, b->l->name, b->raw_bytes);
			return -1;
		}
		lane[l] = at < ADDR_FAR ? lds_pad(b->l, (uint32_t)at) : ADDR_FAR; /* far: beyond LDS, no access */
	}
	ac->nlanes = lanes;
	ac->lane = lane;
	ac->wave_base = base;
	return index;
}

int32_t access_note(struct lower *lw, const struct access_spec *q)
{
	int32_t index;

	access_new(lw, q, &index);
	return index;
}

/* Waves whose addresses differ by whole turns of the banks, and end below limit, conflict alike. */
static bool costed(const struct access *ac, unsigned wave, uint32_t turn, uint32_t slot0, uint32_t limit, uint32_t done)
{
	for (unsigned w = 0; w < wave; w++)
		if ((done >> w & 1) && ac->wave_base[w] % turn == ac->wave_base[wave] % turn) {
			uint32_t most = ac->wave_base[w] > ac->wave_base[wave] ? ac->wave_base[w] : ac->wave_base[wave], last = 0;

			for (unsigned l = 0; l < ac->nlanes; l++)
				if (ac->lane[l] > last)
					last = ac->lane[l];
			return (uint64_t)slot0 + most + last < limit;
		}
	return false;
}

static void cost_as(struct lower *lw, struct insn *in, const struct lds_row *as)
{
	const struct access *ac = in->access >= 0 ? &lw->p->access[in->access] : NULL;
	uint32_t at[64], slot0, limit = (uint32_t)lw->t->v.lds_bytes, done = 0;
	uint32_t turn = 4 * (as->banks ? as->banks : 64);
	struct lds_row row = *as;

	in->lds_clk_free = in->lds_clk = (uint16_t)lds_array_clk_free(as);
	if (!ac || !ac->lane || ac->nlanes > 64)
		return;
	slot0 = lw->p->buffers[ac->buffer].base;
	row.width_bytes = ac->width; /* ldmatrix: of an address, not of what a lane gets */
	for (unsigned w = 0; w < lw->s->waves; w++) {
		unsigned clk;

		if (!((in->waves ? in->waves : waves_of_groups(lw, in->groups)) >> w & 1) ||
		    costed(ac, w, turn, slot0, limit, done))
			continue;
		done |= 1u << w;
		for (unsigned l = 0; l < ac->nlanes; l++)
			at[l] = slot0 + ac->wave_base[w] + ac->lane[l];
		clk = lds_array_clk(&row, ac->nlanes, at, limit, (unsigned)lw->t->v.lds_unaligned);
		if (clk > UINT16_MAX)
			clk = UINT16_MAX;
		if (clk > in->lds_clk)
			in->lds_clk = (uint16_t)clk;
	}
}

void access_cost(struct lower *lw, struct insn *in)
{
	cost_as(lw, in, in->lds);
}

/* A copy whose lanes name their own addresses lands like a write of the same width. */
void access_cost_copy(struct lower *lw, struct insn *in)
{
	const struct target *t = lw->t;

	for (size_t i = 0; lw->t->v.copy_scatter >= 1 && i < t->nlds; i++)
		if (t->lds[i].write && t->lds[i].width_bytes == in->vmem->width_bytes) {
			cost_as(lw, in, &t->lds[i]);
			break;
		}
	if (in->access >= 0 && lw->p->access[in->access].buffer >= 0) {
		uint32_t row = lw->buf[lw->p->access[in->access].buffer].row_bytes;

		in->addr_extra = row && row < 128 ? (uint8_t)t->v.copy_split : 0;
	}
}
