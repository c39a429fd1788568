/*
 * Block scales of matrix ops: the order in memory that they need follows from what each op selects of which
 * register; it must be the same for all ops, and repeat from row group to row group.
 */
#include "emit_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct span *nth_span(const struct insn *in, enum span_role role, unsigned nth)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role && nth-- == 0)
			return &in->span[i];
	return NULL;
}

/* Byte of the K-step's scales that byte part of register reg of a lane holds; filled: read and register it began at. */
static uint32_t held(const struct access *ac, unsigned wave, unsigned lane, unsigned reg, unsigned byte)
{
	return ac->src_lane[lane] + ac->src_wave[wave] + reg * 4 + byte;
}

struct scales { /* of A or B */
	uint32_t *at; /* [rows * blocks] place of each scale in the tile of a K-step; UINT32_MAX: not used yet */
	unsigned rows, blocks, bits;
};

static bool note_scale(struct scales *s, uint32_t row, uint32_t block, uint32_t place)
{
	uint32_t *at;

	if (row >= s->rows || block >= s->blocks)
		return false;
	at = &s->at[row * s->blocks + block];
	if (*at != UINT32_MAX && *at != place)
		return false;
	*at = place;
	return true;
}

struct source { /* of a register: the read that filled it, and how many registers behind its first one */
	int32_t access;
	uint32_t behind;
};

/* One op, one side: data are rows x K of the fragment's lanes, scale the register of the scales. */
static bool note_side(struct emit *e, struct scales *s, const struct source *data, const struct source *scale, unsigned part,
		      unsigned rows)
{
	const struct access *d, *q;

	if (data->access < 0 || scale->access < 0)
		return false;
	d = &e->p->access[data->access];
	q = &e->p->access[scale->access];
	if (!d->src_lane || !q->src_lane)
		return false;
	for (unsigned w = 0; w < e->p->waves; w++)
		for (unsigned l = 0; l < (e->gfx9 ? e->lanes : rows); l++) {
			uint32_t src = d->src_lane[l] + d->src_wave[w], row = src / d->src_row_bytes;
			uint32_t block = (uint32_t)((uint64_t)(src % d->src_row_bytes + data->behind * 4) * 8 / s->bits / 32);

			if (e->gfx9) {
				if (!note_scale(s, row, block, held(q, w, l, scale->behind, part)))
					return false;
				continue;
			}
			/* lane 0's first register begins the op's K; the dword holds its four blocks */
			for (unsigned b = 0; b < 4; b++)
				if (!note_scale(s, row, block / 4 * 4 + b, held(q, w, l + 16 * part, scale->behind, b)))
					return false;
		}
	return true;
}

static void note_sources(const struct insn *in, struct source *of)
{
	for (unsigned i = 0; i < in->nspans; i++)
		for (unsigned r = 0; in->role[i] == ROLE_DST && r < in->span[i].n; r++)
			of[in->span[i].first + r] = (struct source){ in->cls == OPC_LDS_READ ? in->access : -1, r };
}

static bool note_op(struct emit *e, struct scales s[2], const struct insn *in, const struct source *of)
{
	const struct span *a = nth_span(in, ROLE_A, 0), *b = nth_span(in, ROLE_B, 0);
	const struct span *sa = nth_span(in, ROLE_INDEX, 0), *sb = nth_span(in, ROLE_INDEX, 1);

	if (!a || !b || !sa || !sb || !note_side(e, &s[1], &of[b->first], &of[sb->first], in->imm >> 2 & 3, in->matrix->n))
		return false;
	if (!e->gfx9 && in->matrix->m == 32) /* rows from 16 on: the upper half of A's registers, the upper lanes' scales */
		return note_side(e, &s[0], &of[a->first], &of[sa->first], 0, 16) &&
		       note_side(e, &s[0], &of[a->first + a->n / 2], &of[sa->first], 1, 16);
	return note_side(e, &s[0], &of[a->first], &of[sa->first], in->imm & 3, in->matrix->m);
}

/* The order of one group of rows; false when groups differ. */
static bool order_of(struct emit *e, const struct scales *s, unsigned group, uint32_t **map)
{
	uint32_t *m = xreallocarray(NULL, (size_t)group * s->blocks, sizeof(*m));

	*map = NULL;
	for (unsigned i = 0; i < s->rows * s->blocks; i++) {
		unsigned in_group = i % (group * s->blocks);
		uint32_t base = i / (group * s->blocks) * (group * s->blocks);

		if (i == in_group)
			m[i] = s->at[i];
		if (s->at[i] == UINT32_MAX || s->at[i] - base != m[in_group] || m[in_group] >= group * s->blocks) {
			free(m);
			emit_fail(e, DIAG_SHAPE, e->where, "the scales that the matrix ops select do not follow one order");
			return false;
		}
	}
	if (group > 1)
		*map = m;
	else
		free(m);
	return true;
}

bool scales_collect(struct emit *e)
{
	const struct gemm_shape *g = e->p->gemm;
	struct verify_layout *l = &e->k->layout;
	struct source *of;
	struct scales s[2] = {
		{ NULL, g->tile_m, g->tile_k / 32, dtype_bits(g->type_a) }, { NULL, g->tile_n, g->tile_k / 32, dtype_bits(g->type_b) },
	};
	bool ok = true;

	if (!g->scaled)
		return true;
	of = xreallocarray(NULL, REG_COUNT, sizeof(*of));
	for (unsigned r = 0; r < REG_COUNT; r++)
		of[r] = (struct source){ -1, 0 };
	for (int i = 0; i < 2; i++) {
		s[i].at = xreallocarray(NULL, (size_t)s[i].rows * s[i].blocks, sizeof(*s[i].at));
		memset(s[i].at, 0xff, (size_t)s[i].rows * s[i].blocks * sizeof(*s[i].at));
	}
	for (uint32_t i = 0; ok && i <= e->last_matrix; i++) {
		const struct insn *in = &e->p->insns[i];

		if (in->flags & INSN_EDGE_ONLY)
			continue;
		if (in->cls != OPC_MATRIX)
			note_sources(in, of);
		else if (!note_op(e, s, in, of)) {
			emit_fail(e, DIAG_SHAPE, in->loc, "the scales that '%s' selects are not those of its rows and K", in->op);
			ok = false;
		}
	}
	ok = ok && order_of(e, &s[0], g->scale_rows_a, &e->k->scale_map_a) &&
	     order_of(e, &s[1], g->scale_rows_b, &e->k->scale_map_b);
	l->scale_blocks = g->tile_k / 32;
	l->scale_rows_a = e->k->scale_map_a ? g->scale_rows_a : 0;
	l->scale_rows_b = e->k->scale_map_b ? g->scale_rows_b : 0;
	l->scale_map_a = e->k->scale_map_a;
	l->scale_map_b = e->k->scale_map_b;
	free(s[0].at);
	free(s[1].at);
	free(of);
	return ok;
}

bool scale_operands(struct emit *e, const struct insn *in, struct opnd o[2], struct strbuf *tail)
{
	const struct span *sa = nth_span(in, ROLE_INDEX, 0), *sb = nth_span(in, ROLE_INDEX, 1);
	unsigned pa = in->imm & 3, pb = in->imm >> 2 & 3;

	if (!sa || !sb) {
		emit_fail(e, DIAG_SHAPE, in->loc, "'%s' needs scales of A and of B", in->op);
		return false;
	}
	o[0] = op_v(sa->first, 1);
	o[1] = op_v(sb->first, 1);
	if (e->gfx9) {
		strbuf_add(tail, " op_sel:[%u,%u,0] op_sel_hi:[%u,%u,0]", pa & 1, pb & 1, pa >> 1, pb >> 1);
		return true;
	}
	if (pa)
		strbuf_add(tail, " matrix_a_scale:MATRIX_SCALE_ROW1");
	if (pb)
		strbuf_add(tail, " matrix_b_scale:MATRIX_SCALE_ROW1");
	return true;
}
