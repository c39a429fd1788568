/*
 * Tensor copies: one descriptor for each buffer, in scalar registers; two buffers that different waves fill in
 * the same K-steps share the registers. From copy to copy a descriptor's global address moves on by a K-step and
 * its LDS address changes slot: in the loop by scalar instructions that the schedule has for this (<salu>),
 * elsewhere by the emitter's own in front of the copy.
 */
#include "emit_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBAL_MOVE, LDS_MOVE };

static const char uneven[] = "the K-steps of this buffer's tensor copies are not evenly spaced";

struct tdm_use { /* one tensor copy for each variant */
	uint32_t at[2];   /* instruction of each variant */
	int64_t tile;     /* K-step; in the loop: of trip 0 */
	int slot;
	bool in_loop;
	uint32_t bound[2]; /* loop: scalar instruction that makes each of the moves to this use; UINT32_MAX: not needed */
};

struct tdm_desc {
	int32_t buffer[2];
	uint32_t waves[2];  /* 0: no second variant */
	struct tdm_use *use;
	size_t nuse, cap;
	unsigned g0, g1, step; /* registers; step: a pair, bytes of a K-step */
	unsigned lds;          /* first of one register a slot */
	int64_t tile;          /* where the descriptor is, outside the loop */
	int slot;
};

#define MAX_DESCS 8
struct tdm {
	struct tdm_desc d[MAX_DESCS];
	size_t n;
};

static const struct access *access_of(const struct emit *e, uint32_t i)
{
	return &e->p->access[e->p->insns[i].access];
}

static const struct loop *loop_of(const struct emit *e, uint32_t i)
{
	for (size_t l = 0; l < e->p->nloops; l++)
		if (i >= e->p->loops[l].begin && i < e->p->loops[l].end)
			return &e->p->loops[l];
	return NULL;
}

static uint32_t first_at(const struct tdm_use *u)
{
	return u->at[1] < u->at[0] ? u->at[1] : u->at[0];
}

static uint32_t last_at(const struct tdm_use *u)
{
	return u->at[1] != UINT32_MAX && u->at[1] > u->at[0] ? u->at[1] : u->at[0];
}

/* ---- which copies there are ---- */

static struct tdm_desc *desc_for(struct emit *e, const struct insn *in, int32_t buffer)
{
	struct tdm *t = e->tdm;
	uint32_t waves = address_waves(e->p, in);

	for (size_t i = 0; i < t->n; i++)
		if (t->d[i].buffer[0] == buffer && t->d[i].waves[0] == waves)
			return &t->d[i];
	if (t->n == MAX_DESCS) {
		emit_fail(e, DIAG_SHAPE, in->loc, "more than %d different tensor copies", MAX_DESCS);
		return NULL;
	}
	t->d[t->n] = (struct tdm_desc){ .buffer = { buffer, -1 }, .waves = { waves, 0 } };
	return &t->d[t->n++];
}

static void note_use(struct emit *e, uint32_t i)
{
	const struct insn *in = &e->p->insns[i];
	const struct access *ac = in->access >= 0 ? access_of(e, i) : NULL;
	struct tdm_desc *d;
	bool in_loop = loop_of(e, i) != NULL;

	if (!ac || address_operand(e->p, ac) < 0 || !ac->src_lane || ac->slot < 0) {
		emit_fail(e, DIAG_SHAPE, in->loc, "%s",
			  ac && ac->slot < 0 ? "the slot of a tensor copy changes from trip to trip: make the loop's unroll a "
					       "multiple of the buffer's slots"
					     : "only tensor copies of the operands can be emitted");
		return;
	}
	if (in_loop == (ac->absolute || ac->from_end)) {
		emit_fail(e, DIAG_SHAPE, in->loc,
			  "a K-step relative to the loop outside of it, or an absolute one inside, can't be emitted");
		return;
	}
	d = desc_for(e, in, ac->buffer);
	if (!d)
		return;
	d->use = xgrow(d->use, d->nuse, &d->cap, sizeof(*d->use));
	d->use[d->nuse++] = (struct tdm_use){ { i, UINT32_MAX },
					      ac->from_end ? (int64_t)e->p->ksteps - 1 - ac->tile : ac->tile, ac->slot, in_loop,
					      { UINT32_MAX, UINT32_MAX } };
}

static bool alike(const struct emit *e, const struct tdm_desc *a, const struct tdm_desc *b)
{
	if (a->nuse != b->nuse || (a->waves[0] & b->waves[0]) || a->waves[1] || b->waves[1] ||
	    e->p->buffers[a->buffer[0]].slots != e->p->buffers[b->buffer[0]].slots)
		return false;
	for (size_t i = 0; i < a->nuse; i++) {
		const struct tdm_use *x = &a->use[i], *y = &b->use[i];

		if (x->tile != y->tile || x->slot != y->slot || x->in_loop != y->in_loop)
			return false;
		/* in turn: no use of one between two of the other */
		if (i + 1 < a->nuse && (y->at[0] > a->use[i + 1].at[0] || x->at[0] > b->use[i + 1].at[0]))
			return false;
	}
	return true;
}

static void pair_up(struct emit *e)
{
	struct tdm *t = e->tdm;

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = i + 1; k < t->n; k++) {
			if (!alike(e, &t->d[i], &t->d[k]))
				continue;
			t->d[i].buffer[1] = t->d[k].buffer[0];
			t->d[i].waves[1] = t->d[k].waves[0];
			for (size_t u = 0; u < t->d[i].nuse; u++)
				t->d[i].use[u].at[1] = t->d[k].use[u].at[0];
			free(t->d[k].use);
			memmove(&t->d[k], &t->d[k + 1], (t->n - k - 1) * sizeof(t->d[k]));
			t->n--;
			break;
		}
}

/* ---- moves inside the loop ---- */

/* Does scalar instruction s lie behind use a and in front of use b, the way around the loop? */
static bool between(uint32_t s, const struct tdm_use *a, const struct tdm_use *b)
{
	if (last_at(a) < first_at(b))
		return s > last_at(a) && s < first_at(b);
	return s > last_at(a) || s < first_at(b);
}

static bool idle(const struct insn *in)
{
	return in->cls == OPC_SALU && in->nspans == 0;
}

static bool bound(const struct emit *e, uint32_t s)
{
	for (size_t i = 0; i < e->tdm->n; i++)
		for (size_t u = 0; u < e->tdm->d[i].nuse; u++)
			if (e->tdm->d[i].use[u].bound[0] == s || e->tdm->d[i].use[u].bound[1] == s)
				return true;
	return false;
}

static bool bind_move(struct emit *e, const struct loop *l, const struct tdm_use *from, struct tdm_use *to, int kind)
{
	uint32_t n = l->end - l->begin, at = first_at(to) - l->begin;

	/* the nearest one in front of the copy, the way around the loop */
	for (uint32_t i = 1; i < n; i++) {
		uint32_t s = l->begin + (at + n - i) % n;

		if (idle(&e->p->insns[s]) && between(s, from, to) && !bound(e, s)) {
			to->bound[kind] = s;
			return true;
		}
	}
	emit_fail(e, DIAG_SHAPE, e->p->insns[to->at[0]].loc,
		  "this tensor copy's address must move on in the loop: two scalar instructions in front of it are needed for each "
		  "copy, write <salu count=\"...\"/>");
	return false;
}

/* First and last use inside the loop; false: none. */
static bool loop_uses(const struct tdm_desc *d, size_t *first, size_t *last)
{
	bool any = false;

	for (size_t u = 0; u < d->nuse; u++) {
		if (!d->use[u].in_loop)
			continue;
		if (!any)
			*first = u;
		*last = u;
		any = true;
	}
	return any;
}

static int64_t tile_step(const struct tdm_desc *d, const struct loop *l, size_t first, size_t last, size_t u)
{
	return u == first ? d->use[first].tile + l->steps - d->use[last].tile : d->use[u].tile - d->use[u - 1].tile;
}

static bool bind_desc(struct emit *e, struct tdm_desc *d)
{
	size_t first = 0, last = 0;
	const struct loop *l;

	if (!loop_uses(d, &first, &last))
		return true;
	l = loop_of(e, d->use[first].at[0]);
	for (size_t u = first; u <= last; u++) {
		const struct tdm_use *from = &d->use[u == first ? last : u - 1];

		if (tile_step(d, l, first, last, u) != tile_step(d, l, first, last, first)) {
			emit_fail(e, DIAG_SHAPE, e->p->insns[d->use[u].at[0]].loc, "%s", uneven);
			return false;
		}
		if (!bind_move(e, l, from, &d->use[u], GLOBAL_MOVE) ||
		    (from->slot != d->use[u].slot && !bind_move(e, l, from, &d->use[u], LDS_MOVE)))
			return false;
	}
	return true;
}

bool tdm_collect(struct emit *e)
{
	e->tdm = xcalloc(1, sizeof(*e->tdm));
	for (uint32_t i = 0; i <= e->last_matrix && !e->failed; i++)
		if (e->p->insns[i].cls == OPC_TDM_LOAD && !(e->p->insns[i].flags & INSN_EDGE_ONLY))
			note_use(e, i);
	if (e->failed)
		return false;
	pair_up(e);
	for (size_t i = 0; i < e->tdm->n; i++)
		if (!bind_desc(e, &e->tdm->d[i]))
			return false;
	return true;
}

void tdm_free(struct emit *e)
{
	for (size_t i = 0; e->tdm && i < e->tdm->n; i++)
		free(e->tdm->d[i].use);
	free(e->tdm);
}

/* Registers, and the state that set-up code leaves: ready for the first copy. */
void tdm_registers(struct emit *e)
{
	for (size_t i = 0; i < e->tdm->n; i++) {
		struct tdm_desc *d = &e->tdm->d[i];

		d->g1 = sgpr_take(e, 8, 4);
		d->g0 = sgpr_take(e, 4, 4);
		d->step = sgpr_take(e, 2, 2);
		d->lds = sgpr_take(e, e->p->buffers[d->buffer[0]].slots, 1);
	}
	tdm_reset(e);
}

void tdm_reset(struct emit *e)
{
	for (size_t i = 0; i < e->tdm->n; i++) {
		e->tdm->d[i].tile = e->tdm->d[i].use[0].tile;
		e->tdm->d[i].slot = e->tdm->d[i].use[0].slot;
	}
}

/* ---- printing ---- */

static uint64_t step_bytes(const struct emit *e, const struct tdm_desc *d, int variant)
{
	size_t first = 0, last = 0;
	int64_t steps = 1;

	if (loop_uses(d, &first, &last))
		steps = tile_step(d, loop_of(e, d->use[first].at[0]), first, last, first);
	return (uint64_t)steps * address_step_bytes(e->p, address_operand(e->p, access_of(e, d->use[0].at[variant])));
}

/* Outside the loop: bring descriptor d to a K-step and slot. Both variants have the same K-steps. */
static void move_to(struct emit *e, struct tdm_desc *d, int64_t tile, int slot)
{
	size_t first = 0, last = 0;
	int64_t per = 1, n;

	if (loop_uses(d, &first, &last))
		per = tile_step(d, loop_of(e, d->use[first].at[0]), first, last, first);
	if (per == 0 || (tile - d->tile) % per) {
		emit_fail(e, DIAG_SHAPE, e->p->insns[d->use[0].at[0]].loc, "%s", uneven);
		return;
	}
	n = (tile - d->tile) / per;
	if (n > 64 || n < -64) {
		emit_fail(e, DIAG_SHAPE, e->p->insns[d->use[0].at[0]].loc, "this buffer's tensor copies are too many K-steps apart");
		return;
	}
	for (; n; n += n < 0 ? 1 : -1, e->own_insns++)
		put_insn(e, "%s s[%u:%u], s[%u:%u], s[%u:%u]", n > 0 ? "s_add_nc_u64" : "s_sub_nc_u64", d->g0 + 2, d->g0 + 3,
			 d->g0 + 2, d->g0 + 3, d->step, d->step + 1);
	if (slot != d->slot) {
		put_insn(e, "s_mov_b32 s%u, s%u", d->g0 + 1, d->lds + (unsigned)slot);
		e->own_insns++;
	}
	d->tile = tile;
	d->slot = slot;
}

static struct tdm_desc *desc_of(struct emit *e, uint32_t insn, struct tdm_use **use)
{
	for (size_t i = 0; i < e->tdm->n; i++)
		for (size_t u = 0; u < e->tdm->d[i].nuse; u++)
			if (e->tdm->d[i].use[u].at[0] == insn || e->tdm->d[i].use[u].at[1] == insn) {
				*use = &e->tdm->d[i].use[u];
				return &e->tdm->d[i];
			}
	return NULL;
}

/* In front of the run of waves that holds instruction insn, outside the loop. */
void tdm_before(struct emit *e, uint32_t insn)
{
	struct tdm_use *u = NULL;
	struct tdm_desc *d = e->p->insns[insn].cls == OPC_TDM_LOAD ? desc_of(e, insn, &u) : NULL;

	if (d && !u->in_loop && first_at(u) == insn)
		move_to(e, d, u->tile, u->slot);
}

bool tdm_moves(struct emit *e, uint32_t insn)
{
	struct tdm_use *u = NULL;
	struct tdm_desc *d = desc_of(e, insn, &u);

	return d && !u->in_loop && first_at(u) == insn && (d->tile != u->tile || d->slot != u->slot);
}

void tdm_load(struct emit *e, uint32_t insn)
{
	struct tdm_use *u;
	struct tdm_desc *d = desc_of(e, insn, &u);

	if (d)
		put_insn(e, "tensor_load_to_lds s[%u:%u], s[%u:%u]", d->g0, d->g0 + 3, d->g1, d->g1 + 7);
}

/* What the loop's own moves expect on the way in, and leave behind. */
void tdm_enter(struct emit *e, const struct loop *l)
{
	for (size_t i = 0; i < e->tdm->n && !e->failed; i++) {
		struct tdm_desc *d = &e->tdm->d[i];
		size_t first = 0, last = 0;
		int64_t step;
		bool head_g, head_l;

		if (!loop_uses(d, &first, &last) || loop_of(e, d->use[first].at[0]) != l)
			continue;
		step = tile_step(d, l, first, last, first);
		head_g = d->use[first].bound[GLOBAL_MOVE] < first_at(&d->use[first]);
		head_l = d->use[first].bound[LDS_MOVE] < first_at(&d->use[first]);
		move_to(e, d, d->use[first].tile - (head_g ? step : 0), head_l ? d->slot : d->use[first].slot);
		d->tile = d->use[last].tile + (int64_t)(l->trips - 1) * l->steps + (head_g ? 0 : step);
		d->slot = head_l || d->use[first].bound[LDS_MOVE] == UINT32_MAX ? d->use[last].slot : d->use[first].slot;
	}
}

void tdm_or_idle(struct emit *e, uint32_t i, bool scc_free)
{
	for (size_t k = 0; k < e->tdm->n; k++) {
		const struct tdm_desc *d = &e->tdm->d[k];

		for (size_t u = 0; u < d->nuse; u++) {
			if (d->use[u].bound[GLOBAL_MOVE] == i) {
				put_insn(e, "s_add_nc_u64 s[%u:%u], s[%u:%u], s[%u:%u]", d->g0 + 2, d->g0 + 3, d->g0 + 2, d->g0 + 3,
				    d->step, d->step + 1);
				return;
			}
			if (d->use[u].bound[LDS_MOVE] == i) {
				put_insn(e, "s_mov_b32 s%u, s%u", d->g0 + 1, d->lds + (unsigned)d->use[u].slot);
				return;
			}
		}
	}
	if (scc_free)
		put_insn(e, "%s s%u, s%u, 0", e->p->insns[i].op, e->s_idle, e->s_idle);
	else
		put_insn(e, "s_mov_b32 s%u, s%u", e->s_idle, e->s_idle);
}

/* ---- set-up ---- */

struct words { /* of a descriptor, one variant */
	uint32_t group1[8];
	uint64_t step;
	uint32_t rows, row_bytes;
};

static unsigned element_code(uint64_t a, uint64_t b)
{
	unsigned code = 3;

	while (code && (a % (1u << code) || b % (1u << code)))
		code--;
	return code;
}

static bool pad_fields(struct emit *e, const struct buffer *b, const struct access *ac, uint32_t waves, struct loc loc,
		       uint32_t *out)
{
	unsigned n = 0;

	if (b->rearranged) {
		emit_fail(e, DIAG_SHAPE, loc, "a tensor copy can't fill '%s': its rows are swizzled or spread over the padding", b->name);
		return false;
	}
	if (!b->pad_every)
		return true;
	while (n < 8 && 8u << n != b->pad_every)
		n++;
	if (n == 8 || b->pad_by % 4 || b->pad_by == 0 || b->pad_by > 512) {
		emit_fail(e, DIAG_SHAPE, loc, "a tensor copy can't pad by %u bytes after every %u", b->pad_by, b->pad_every);
		return false;
	}
	for (unsigned w = 0; w < e->p->waves; w++)
		if ((waves >> w & 1) && (ac->src_lane[0] + ac->src_wave[w]) % b->pad_every) {
			emit_fail(e, DIAG_SHAPE, loc, "a tensor copy begins inside a padded block of '%s'", b->name);
			return false;
		}
	*out |= 1u << 20 | n << 22 | (b->pad_by / 4 - 1) << 25;
	return true;
}

static bool fill_words(struct emit *e, const struct tdm_desc *d, int v, struct words *out)
{
	const struct insn *in = &e->p->insns[d->use[0].at[v]];
	const struct access *ac = &e->p->access[in->access];
	int which = address_operand(e->p, ac);
	uint32_t group = address_step_bytes(e->p, which), bytes = in->bytes;
	uint64_t stride = address_row_bytes(e->p, which) * (group / (address_row_bytes(e->p, which) / e->p->ksteps));
	unsigned code;

	memset(out, 0, sizeof(*out));
	out->step = step_bytes(e, d, v);
	out->row_bytes = bytes <= group ? bytes : group;
	out->rows = bytes / out->row_bytes;
	for (unsigned w = 0; w < e->p->waves; w++) {
		uint32_t at = d->waves[v] >> w & 1 ? (ac->src_lane[0] + ac->src_wave[w]) % group : 0;

		if ((out->rows > 1 && (at || bytes % group)) || at + out->row_bytes > group) {
			emit_fail(e, DIAG_SHAPE, in->loc, "a wave's share of the tensor copy is no whole number of rows");
			return false;
		}
	}
	code = element_code(out->row_bytes, stride);
	if (out->row_bytes >> code > 65535 || out->rows > 65535) {
		emit_fail(e, DIAG_SHAPE, in->loc, "a tensor copy of %u rows of %u bytes is too large", out->rows, out->row_bytes);
		return false;
	}
	out->group1[0] = code << 16;
	if (!pad_fields(e, &e->p->buffers[ac->buffer], ac, d->waves[v], in->loc, &out->group1[0]))
		return false;
	out->group1[1] = (out->row_bytes >> code) << 16;                  /* tensor_dim0, low half */
	out->group1[2] = out->rows << 16;                                 /* its upper half is 0; tensor_dim1, low half */
	out->group1[3] = (out->row_bytes >> code) << 16;                  /* tile_dim0 */
	out->group1[4] = out->rows;                                       /* tile_dim1, tile_dim2 0 */
	out->group1[5] = (uint32_t)(stride >> code);                      /* tensor_dim0_stride */
	out->group1[6] = (uint32_t)(stride >> code >> 32) & 0xffff;
	return true;
}

/* reg = a for waves of the first variant, b for those of the second. */
static void set_variant(struct emit *e, const struct tdm_desc *d, unsigned reg, uint32_t a, uint32_t b)
{
	if (!d->waves[1] || a == b) {
		put_insn(e, "s_mov_b32 s%u, 0x%x", reg, a);
		return;
	}
	put_insn(e, "s_mov_b32 s%u, 0x%x", reg, a);
	put_insn(e, "s_bitcmp1_b32 s%u, s%u", e->s_temp + 9, e->s_wave);
	put_insn(e, "s_cselect_b32 s%u, 0x%x, s%u", reg, b, reg);
}

/* Workgroups of the cluster that fetch the same rows. In to: their mask. */
static void multicast_mask(struct emit *e, unsigned to, int which)
{
	const struct gemm_shape *g = e->p->gemm;
	unsigned cols = g->cluster_cols > 1 ? g->cluster_cols : 1, rows = g->cluster_rows > 1 ? g->cluster_rows : 1;
	uint32_t mask = 0;

	if (which == 0 || which == 2) { /* A: those of one row */
		put_insn(e, "s_bfe_u32 s%u, ttmp6, 0x40004", to);
		put_insn(e, "s_mul_i32 s%u, s%u, %u", to, to, cols);
		put_insn(e, "s_lshl_b32 s%u, 0x%x, s%u", to, (1u << cols) - 1, to);
		return;
	}
	for (unsigned r = 0; r < rows; r++)
		mask |= 1u << r * cols;
	put_insn(e, "s_and_b32 s%u, ttmp6, 15", to);
	put_insn(e, "s_lshl_b32 s%u, 0x%x, s%u", to, mask, to);
}

/* s_temp + 2, + 3: global address of the wave's share of K-step d->use[0].tile, variant v. */
static void global_address(struct emit *e, const struct tdm_desc *d, int v)
{
	static const unsigned arg[4] = { 0, 1, 3, 4 };
	const struct gemm_shape *g = e->p->gemm;
	const struct access *ac = access_of(e, d->use[0].at[v]);
	int which = address_operand(e->p, ac);
	uint64_t down = (which == 1 || which == 3 ? g->tile_n : g->tile_m) * address_row_bytes(e->p, which);
	uint64_t ahead = (uint64_t)d->use[0].tile * address_step_bytes(e->p, which);
	unsigned t = e->s_temp + 2, tile = which == 1 || which == 3 ? e->s_tile_x : e->s_tile_y;
	uint32_t *offset = xcalloc(e->p->waves, sizeof(*offset));

	if (down > UINT32_MAX || ahead > UINT32_MAX)
		emit_fail(e, DIAG_SHAPE, e->where, "the rows of one tile span more than 4 GiB");
	for (unsigned w = 0; w < e->p->waves; w++)
		if (d->waves[v] >> w & 1)
			offset[w] = (uint32_t)address_of_byte(e->p, which, ac->src_lane[0] + ac->src_wave[w]);
	put_insn(e, "s_load_b64 s[%u:%u], s[%u:%u], 0x%x", t, t + 1, e->s_args, e->s_args + 1, arg[which] * 8);
	put_insn(e, "s_wait_kmcnt 0x0");
	put_insn(e, "s_mul_i32 s%u, s%u, 0x%x", t + 2, tile, (uint32_t)down);
	put_insn(e, "s_mul_hi_u32 s%u, s%u, 0x%x", t + 3, tile, (uint32_t)down);
	put_insn(e, "s_add_nc_u64 s[%u:%u], s[%u:%u], s[%u:%u]", t, t + 1, t, t + 1, t + 2, t + 3);
	wave_form(e, t + 2, offset, d->waves[v], (uint32_t)ahead, e->where);
	put_insn(e, "s_mov_b32 s%u, 0", t + 3);
	put_insn(e, "s_add_nc_u64 s[%u:%u], s[%u:%u], s[%u:%u]", t, t + 1, t, t + 1, t + 2, t + 3);
	free(offset);
}

static void lds_address(struct emit *e, const struct tdm_desc *d, int v, unsigned slot, unsigned to)
{
	const struct access *ac = access_of(e, d->use[0].at[v]);
	const struct buffer *b = &e->p->buffers[d->buffer[v]];

	wave_form(e, to, ac->wave_base, d->waves[v], b->base + slot * b->slot_bytes + ac->lane[0], e->where);
}

static void addresses_of(struct emit *e, const struct tdm_desc *d)
{
	unsigned t = e->s_temp + 2, slots = e->p->buffers[d->buffer[0]].slots;

	global_address(e, d, 0);
	put_insn(e, "s_mov_b64 s[%u:%u], s[%u:%u]", d->g0 + 2, d->g0 + 3, t, t + 1);
	if (d->waves[1]) {
		global_address(e, d, 1);
		put_insn(e, "s_bitcmp1_b32 s%u, s%u", e->s_temp + 9, e->s_wave);
		put_insn(e, "s_cselect_b64 s[%u:%u], s[%u:%u], s[%u:%u]", d->g0 + 2, d->g0 + 3, t, t + 1, d->g0 + 2, d->g0 + 3);
	}
	put_insn(e, "s_bitset1_b32 s%u, 31", d->g0 + 3); /* the descriptor's type */
	put_insn(e, "s_mov_b32 s%u, 1", d->g0);
	for (unsigned s = 0; s < slots; s++) {
		lds_address(e, d, 0, s, d->lds + s);
		if (!d->waves[1])
			continue;
		lds_address(e, d, 1, s, e->s_temp + 8);
		put_insn(e, "s_bitcmp1_b32 s%u, s%u", e->s_temp + 9, e->s_wave);
		put_insn(e, "s_cselect_b32 s%u, s%u, s%u", d->lds + s, e->s_temp + 8, d->lds + s);
	}
	put_insn(e, "s_mov_b32 s%u, s%u", d->g0 + 1, d->lds + (unsigned)d->use[0].slot);
}

void tdm_setup(struct emit *e)
{
	for (size_t i = 0; e->tdm && i < e->tdm->n && !e->failed; i++) {
		const struct tdm_desc *d = &e->tdm->d[i];
		const struct insn *in = &e->p->insns[d->use[0].at[0]];
		int variants = d->waves[1] ? 2 : 1;
		struct words w[2];

		for (int v = 0; v < variants; v++)
			if (!fill_words(e, d, v, &w[v]))
				return;
		if (variants == 1)
			w[1] = w[0];
		put_insn(e, "s_mov_b32 s%u, 0x%x", e->s_temp + 9, d->waves[1]);
		addresses_of(e, d);
		for (unsigned k = 0; k < 8; k++)
			set_variant(e, d, d->g1 + k, w[0].group1[k], w[1].group1[k]);
		set_variant(e, d, d->step, (uint32_t)w[0].step, (uint32_t)w[1].step);
		put_insn(e, "s_mov_b32 s%u, 0", d->step + 1);
		if (in->multicast < 2 || e->p->cluster_workgroups < 2)
			continue;
		multicast_mask(e, e->s_temp, address_operand(e->p, access_of(e, d->use[0].at[0])));
		if (variants == 2) {
			multicast_mask(e, e->s_temp + 1, address_operand(e->p, access_of(e, d->use[0].at[1])));
			put_insn(e, "s_bitcmp1_b32 s%u, s%u", e->s_temp + 9, e->s_wave);
			put_insn(e, "s_cselect_b32 s%u, s%u, s%u", e->s_temp, e->s_temp + 1, e->s_temp);
		}
		put_insn(e, "s_or_b32 s%u, s%u, s%u", d->g1, d->g1, e->s_temp);
	}
}
