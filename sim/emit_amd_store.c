/*
 * The result: which rows and columns an accumulator's registers hold, and code that converts them and stores
 * them, element by element, in place of the program's own result part.
 */
#include "emit_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- tiles ---- */

/* The read that filled register reg, as seen so far; -1: none. */
static void note_read(const struct insn *in, int32_t *filled)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == ROLE_DST)
			for (unsigned r = 0; r < in->span[i].n; r++)
				filled[in->span[i].first + r] = in->cls == OPC_LDS_READ ? in->access : -1;
}

static const struct span *span_of(const struct insn *in, enum span_role role)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role)
			return &in->span[i];
	return NULL;
}

static uint32_t row_at(const struct access *ac, unsigned wave, unsigned lane)
{
	return (ac->src_lane[lane] + ac->src_wave[wave]) / ac->src_row_bytes;
}

static bool same_rows(const struct emit *e, const struct access *x, const struct access *y, unsigned rows)
{
	if (!x || !y)
		return x == y;
	for (unsigned w = 0; w < e->p->waves; w++)
		for (unsigned l = 0; l < rows; l++)
			if (row_at(x, w, l) != row_at(y, w, l))
				return false;
	return true;
}

/* A and B must hold the same elements of a K-step, lane for lane. Which K-step is the checker's. */
static bool same_k(const struct emit *e, const struct access *a, const struct access *b, const struct matrix_row *mx)
{
	const struct gemm_shape *g = e->p->gemm;
	unsigned bits_a = dtype_bits(g->type_a), bits_b = dtype_bits(g->type_b);

	if (mx->m != mx->n)
		return true;
	for (unsigned l = 0; l < e->lanes; l++)
		if ((uint64_t)((a->src_lane[l] + a->src_wave[0]) % a->src_row_bytes) * 8 / bits_a !=
		    (uint64_t)((b->src_lane[l] + b->src_wave[0]) % b->src_row_bytes) * 8 / bits_b)
			return false;
	return true;
}

static void note_tile(struct emit *e, const struct insn *in, const int32_t *filled)
{
	const struct span *c = span_of(in, ROLE_DST), *sa = span_of(in, ROLE_A), *sb = span_of(in, ROLE_B);
	const struct access *a[2] = { NULL, NULL }, *b;
	struct c_tile *t;
	unsigned sets = !e->gfx9 && in->matrix->m == 32 ? 2 : 1, rows = in->matrix->m / sets;

	if (!c || !sa || !sb || filled[sa->first] < 0 || filled[sb->first] < 0) {
		emit_fail(e, DIAG_SHAPE, in->loc, "'%s' multiplies registers that no LDS read of A and B filled", in->op);
		return;
	}
	for (unsigned i = 0; i < sets && filled[sa->first + i * (sa->n / sets)] >= 0; i++)
		a[i] = &e->p->access[filled[sa->first + i * (sa->n / sets)]];
	b = &e->p->access[filled[sb->first]];
	if (!a[sets - 1] || !a[0]->src_lane || !a[sets - 1]->src_lane || !b->src_lane || !same_k(e, a[0], b, in->matrix)) {
		emit_fail(e, DIAG_SHAPE, in->loc, "the fragments of '%s' do not hold the same elements of K", in->op);
		return;
	}
	for (size_t i = 0; i < e->ntiles; i++) {
		t = &e->tile[i];
		if (t->reg != c->first)
			continue;
		if (t->n != c->n || t->mx->m != in->matrix->m || !same_rows(e, t->a[0], a[0], rows) ||
		    !same_rows(e, t->a[1], a[1], rows) ||
		    !same_rows(e, t->b, b, in->matrix->n))
			emit_fail(e, DIAG_SHAPE, in->loc, "'%s' adds products of other rows to an accumulator", in->op);
		return;
	}
	e->tile = xgrow(e->tile, e->ntiles, &e->cap_tiles, sizeof(*e->tile));
	e->tile[e->ntiles++] = (struct c_tile){ c->first, c->n, in->matrix, { a[0], a[1] }, b, in->loc };
}

bool tiles_collect(struct emit *e)
{
	int32_t *filled = xreallocarray(NULL, REG_COUNT, sizeof(*filled));

	for (unsigned r = 0; r < REG_COUNT; r++)
		filled[r] = -1;
	for (uint32_t i = 0; i <= e->last_matrix && !e->failed; i++) {
		const struct insn *in = &e->p->insns[i];

		if (in->flags & INSN_EDGE_ONLY)
			continue;
		if (in->cls == OPC_MATRIX)
			note_tile(e, in, filled);
		else
			note_read(in, filled);
	}
	free(filled);
	return !e->failed;
}

/* Row and column inside a matrix tile of register r of lane l; false: the layout is not known. */
static bool element(const struct emit *e, const struct c_tile *t, unsigned r, unsigned l, unsigned *i, unsigned *j)
{
	const struct matrix_row *mx = t->mx;

	*j = l % mx->n;
	if (e->gfx9 && mx->m == mx->n && (mx->m == 16 || mx->m == 32)) {
		/* four rows, then the next block of lanes */
		*i = r / 4 * (4 * e->lanes / mx->n) + l / mx->n * 4 + r % 4;
		return *i < mx->m;
	}
	if (!e->gfx9 && mx->n == 16 && (mx->m == 16 || mx->m == 32)) {
		/* eight rows in the lower half of the wave, eight in the upper one */
		*i = r / 8 * 16 + l / 16 * 8 + r % 8;
		return *i < mx->m;
	}
	return false;
}

/* ---- code ---- */

static unsigned out_bytes(const struct emit *e)
{
	return dtype_bits(e->p->gemm->type_out) / 8;
}

static uint64_t c_row_bytes(const struct emit *e)
{
	return (uint64_t)e->p->gemm->n * out_bytes(e);
}

/* e->table: byte of C, from the tile's first element, that register r of tile t goes to. */
static bool c_table(struct emit *e, const struct c_tile *t, unsigned r)
{
	for (unsigned w = 0; w < e->p->waves; w++)
		for (unsigned l = 0; l < e->lanes; l++) {
			unsigned i, j;
			uint32_t row;

			if (!element(e, t, r, l, &i, &j)) {
				emit_fail(e, DIAG_TARGET, t->loc, "the result layout of '%s' is not known", t->mx->op);
				return false;
			}
			row = t->a[1] && i >= 16 ? row_at(t->a[1], w, i - 16) : row_at(t->a[0], w, i);
			e->table[w * e->lanes + l] = (uint32_t)(row * c_row_bytes(e) + row_at(t->b, w, j) * out_bytes(e));
		}
	return true;
}

/* Is e->table e->other plus a constant? */
static bool moved_by(const struct emit *e, uint32_t *by)
{
	*by = e->table[0] - e->other[0];
	for (size_t i = 1; i < (size_t)e->p->waves * e->lanes; i++)
		if (e->table[i] - e->other[i] != *by)
			return false;
	return true;
}

static bool is_accumulator(const struct emit *e, unsigned reg)
{
	for (size_t i = 0; i < e->ntiles; i++)
		if (reg >= e->tile[i].reg && reg < e->tile[i].reg + e->tile[i].n)
			return true;
	return false;
}

/* Vector registers that hold no result, from first on. */
static unsigned free_vector(struct emit *e, unsigned first)
{
	unsigned r = first;

	while (r < e->p->vgpr && is_accumulator(e, r))
		r++;
	if (r >= e->p->vgpr)
		emit_fail(e, DIAG_REG_CAP, e->where, "no vector register is left for the addresses of the result");
	return r;
}

/* bf16 from f32 on targets without the conversion: round to nearest even, NaN stays NaN. */
static void round_bf16(struct emit *e, unsigned reg)
{
	char k[24], v[24], t[24];

	reg_name(v, reg, 1);
	reg_name(t, e->v_temp, 1);
	reg_name(k, REG_SGPR + e->s_temp + 7, 1);
	put_insn(e, "v_cmp_u_f32 vcc, %s, %s", v, v);
	put_insn(e, "v_bfe_u32 %s, %s, 16, 1", t, v);
	put_insn(e, "v_add3_u32 %s, %s, %s, %s", t, v, t, k);
	put_insn(e, "v_or_b32 %s, 0x400000, %s", v, v);
	put_insn(e, "v_cndmask_b32 %s, %s, %s, vcc", v, t, v);
	put_insn(e, "v_lshrrev_b32 %s, 16, %s", v, v);
}

static void convert(struct emit *e, unsigned reg)
{
	struct opnd o[3] = { op_v(reg, 1), op_v(reg, 1), op_v(reg, 1) };

	switch (e->p->gemm->type_out) {
	case DT_F16: put_op(e, "v_cvt_f16_f32", o, 2, NULL); return;
	case DT_BF16:
		if (strcmp(e->p->target->name, "gfx942") == 0)
			round_bf16(e, reg);
		else
			put_op(e, "v_cvt_pk_bf16_f32", o, 3, NULL);
		return;
	case DT_F32:
	case DT_I32: return;
	default: break;
	}
	emit_fail(e, DIAG_SHAPE, e->where, "results of type %s can't be stored: use f32, f16, bf16 or i32",
		  dtype_name(e->p->gemm->type_out));
}

static void store(struct emit *e, unsigned data, uint32_t offset)
{
	char tail[64], rsrc[24];
	uint32_t high = offset & ~0xfffu;

	if (e->gfx9) {
		const char *op = out_bytes(e) == 4 ? "buffer_store_dword" : "buffer_store_short";

		if (high != e->store_high)
			put_insn(e, "s_mov_b32 s%u, 0x%x", e->s_temp + 6, high);
		e->store_high = high;
		snprintf(tail, sizeof(tail), "s%u offen offset:%u", e->s_temp + 6, offset & 0xfffu);
		put_op(e, op, (struct opnd[]){ { 0 }, op_v(data, 1), op_v(e->v_addr, 1),
					       op_t(reg_name(rsrc, REG_SGPR + e->s_result, 4)), op_t(tail) }, 5, NULL);
		return;
	}
	snprintf(tail, sizeof(tail), "offset:%u", offset);
	put_op(e, out_bytes(e) == 4 ? "global_store_b32" : "global_store_b16",
	       (struct opnd[]){ { 0 }, op_v(e->v_addr, 1), op_v(data, 1), op_t(reg_name(rsrc, REG_SGPR + e->s_result, 2)) }, 4,
	       tail);
}

static void store_tile(struct emit *e, const struct c_tile *t, bool *based)
{
	for (unsigned r = 0; r < t->n && !e->failed; r++) {
		unsigned data = t->reg + r;
		uint32_t by;

		if (!c_table(e, t, r))
			return;
		if (!*based || !moved_by(e, &by) || by > (e->gfx9 ? 0x7fffffffu : 8388607u)) {
			address_form(e, e->v_addr, e->table, UINT32_MAX >> (32 - e->p->waves), t->loc);
			memcpy(e->other, e->table, (size_t)e->p->waves * e->lanes * sizeof(*e->other));
			*based = true;
			by = 0;
		}
		if (data >= REG_AGPR) {
			put_op(e, "v_accvgpr_read_b32", (struct opnd[]){ op_v(e->v_data, 1), op_v(data, 1) }, 2, NULL);
			data = e->v_data;
		}
		convert(e, data);
		store(e, data, by);
	}
}

static int by_register(const void *x, const void *y)
{
	const struct c_tile *a = x, *b = y;

	return (int)a->reg - (int)b->reg;
}

void result_print(struct emit *e)
{
	bool based = false;
	char lanes[24];

	strbuf_add(e->out, "\t; the emitter's own code from here on: the result, element by element\n");
	put_insn(e, e->gfx9 ? "s_nop 15" : "v_nop"); /* results of the last matrix ops */
	put_insn(e, e->gfx9 ? "s_nop 7" : "v_nop");
	for (unsigned i = 0; !e->gfx9 && i < 10; i++)
		put_insn(e, "v_nop");
	e->v_tid = free_vector(e, 0);
	e->v_temp = free_vector(e, e->v_tid + 1);
	e->v_addr = free_vector(e, e->v_temp + 1);
	e->v_data = free_vector(e, e->v_addr + 1);
	e->store_high = UINT32_MAX;
	if (e->failed)
		return;
	put_op(e, "v_mbcnt_lo_u32_b32", (struct opnd[]){ op_v(e->v_tid, 1), op_t("-1"), op_t("0") }, 3, NULL);
	if (e->gfx9)
		put_op(e, "v_mbcnt_hi_u32_b32", (struct opnd[]){ op_v(e->v_tid, 1), op_t("-1"), op_v(e->v_tid, 1) }, 3, NULL);
	put_insn(e, "s_lshl_b32 s%u, s%u, %u", e->s_temp, e->s_wave, e->lane_bits);
	snprintf(lanes, sizeof(lanes), "s%u", e->s_temp);
	put_op(e, "v_or_b32", (struct opnd[]){ op_v(e->v_tid, 1), op_t(lanes), op_v(e->v_tid, 1) }, 3, NULL);
	if (e->p->gemm->type_out == DT_BF16 && e->gfx9)
		put_insn(e, "s_movk_i32 s%u, 0x7fff", e->s_temp + 7);
	qsort(e->tile, e->ntiles, sizeof(*e->tile), by_register);
	for (size_t i = 0; i < e->ntiles && !e->failed; i++)
		store_tile(e, &e->tile[i], &based);
}
