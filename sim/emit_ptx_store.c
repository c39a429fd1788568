/* The end of an emitted PTX kernel: C from the accumulators, or a use of every result. */
#include "emit_ptx.h"

#include <inttypes.h>
#include <string.h>

struct held { /* what a register holds: access of its last read, which destination of it */
	int32_t access;
	uint8_t part;
};

struct tile { /* of an accumulator */
	bool set;
	uint32_t row, col;      /* of warp 0 in the workgroup's tile */
	int row_warp, col_warp; /* tables: rows and columns further on of each warp */
};

static const struct span *span_of(const struct insn *in, enum span_role role)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == role)
			return &in->span[k];
	return NULL;
}

static void hold(struct held *reg, const struct insn *in)
{
	uint8_t part = 0;

	for (unsigned k = 0; k < in->nspans; k++) {
		if (in->role[k] != ROLE_DST)
			continue;
		for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n && r < 256; r++)
			/* of two reads of A that fill a span in turn, the first rows count */
			reg[r] = (struct held){ in->access, part };
		part++;
	}
}

/* First row of the operand's tile in what register r holds, for each warp. False when that is not known. */
static bool rows_of(const struct ptx *x, const struct held *h, unsigned m, uint32_t row[PROG_MAX_WAVES])
{
	const struct access *a = h->access >= 0 ? &x->p->access[h->access] : NULL;

	if (!a || !a->src_lane || !a->src_row_bytes)
		return false;
	for (unsigned w = 0; w < x->p->waves; w++)
		row[w] = (a->src_lane[0] + a->src_wave[w]) / a->src_row_bytes / (m > 8 ? m : 1) * (m > 8 ? m : 1) + 8 * h->part;
	return true;
}

static bool place(struct ptx *x, const struct insn *in, const struct held *reg, struct tile *t)
{
	const struct span *a = span_of(in, ROLE_A), *b = span_of(in, ROLE_B);
	uint32_t row[PROG_MAX_WAVES], col[PROG_MAX_WAVES];

	if (!a || !b || !rows_of(x, &reg[a->first], in->matrix->m, row) || !rows_of(x, &reg[b->first], in->matrix->n, col)) {
		ptx_fail(x, in->loc, DIAG_SHAPE, "which part of C '%s' adds to is not known: its fragments are not read from A and B", in->op);
		return false;
	}
	t->set = true;
	t->row = row[0];
	t->col = col[0];
	for (unsigned w = x->p->waves; w-- > 0; ) {
		row[w] -= row[0];
		col[w] -= col[0];
	}
	t->row_warp = ptx_table_of(x, row, x->p->waves, in->loc);
	t->col_warp = ptx_table_of(x, col, x->p->waves, in->loc);
	return t->row_warp >= -1 && t->col_warp >= -1;
}

static bool find_tiles(struct ptx *x, struct tile *tile)
{
	struct held reg[256];

	for (size_t r = 0; r < 256; r++)
		reg[r] = (struct held){ -1, 0 };
	for (size_t i = 0; i < x->p->ninsns; i++) {
		const struct insn *in = &x->p->insns[i];
		const struct span *d = span_of(in, ROLE_DST);

		if (in->cls == OPC_LDS_READ)
			hold(reg, in);
		if (in->cls == OPC_MATRIX && d && d->first < 256 && !tile[d->first].set && !place(x, in, reg, &tile[d->first]))
			return false;
	}
	return true;
}

/* %cp = address of this thread's first element for the rows and columns of one pair of tables. */
static void base_pointer(struct ptx *x, const struct tile *t)
{
	const struct gemm_shape *g = x->p->gemm;
	struct strbuf *s = &x->body;
	unsigned bytes = dtype_bits(g->type_out) / 8;

	strbuf_add(s, "\tshr.u32 %%t2, %%lane, 2;\n\tmad.lo.u32 %%t2, %%tm, %u, %%t2;\n", g->tile_m);
	strbuf_add(s, "\tand.b32 %%t3, %%lane, 3;\n\tshl.b32 %%t3, %%t3, 1;\n\tmad.lo.u32 %%t3, %%tn, %u, %%t3;\n", g->tile_n);
	for (int k = 0; k < 2; k++) {
		int table = k ? t->col_warp : t->row_warp;

		if (table >= 0)
			strbuf_add(s, "\tmov.u32 %%t1, tab%d;\n\tmad.lo.u32 %%t1, %%warp, 4, %%t1;\n\tld.const.b32 %%t1, [%%t1];\n"
				   "\tadd.u32 %%t%d, %%t%d, %%t1;\n", table, 2 + k, 2 + k);
	}
	strbuf_add(s, "\tld.param.u64 %%cp, [arg%d];\n\tcvta.to.global.u64 %%cp, %%cp;\n", x->arg_c);
	strbuf_add(s, "\tmul.wide.u32 %%l1, %%t2, %zu;\n\tadd.s64 %%cp, %%cp, %%l1;\n", x->out->layout.ldc_bytes);
	strbuf_add(s, "\tmul.wide.u32 %%l1, %%t3, %u;\n\tadd.s64 %%cp, %%cp, %%l1;\n", bytes);
}

/* Two neighbouring elements of one row: registers r and r + 1, or the halves of r. */
static void store_pair(struct ptx *x, unsigned r, uint64_t at)
{
	const struct gemm_shape *g = x->p->gemm;
	struct strbuf *s = &x->body;

	if (g->type_acc == DT_F16) {
		strbuf_add(s, "\tst.global.b32 [%%cp+%" PRIu64 "], %%v%u;\n", at, r);
	} else if (g->type_out == DT_F32) {
		strbuf_add(s, "\tst.global.v2.b32 [%%cp+%" PRIu64 "], {%%v%u,%%v%u};\n", at, r, r + 1);
	} else {
		strbuf_add(s, "\tcvt.rn.%s.f32 %%t1, %%v%u, %%v%u;\n\tst.global.b32 [%%cp+%" PRIu64 "], %%t1;\n",
			   g->type_out == DT_BF16 ? "bf16x2" : "f16x2", r + 1, r, at);
	}
}

void ptx_store_c(struct ptx *x, struct loc loc)
{
	const struct gemm_shape *g = x->p->gemm;
	struct tile tile[256] = { { 0 } };
	unsigned bytes = dtype_bits(g->type_out) / 8, half = g->type_acc == DT_F16 ? 1 : 2;
	int row_warp = -3, col_warp = -3;

	if (x->stored)
		return;
	x->stored = true;
	if (!find_tiles(x, tile))
		return;
	if ((g->type_out != DT_F16 && g->type_out != DT_BF16 && g->type_out != DT_F32) ||
	    (g->type_acc == DT_F16 && g->type_out != DT_F16)) {
		ptx_fail(x, loc, DIAG_TARGET, "a result of %s from %s accumulators can't be stored", dtype_name(g->type_out),
			 dtype_name(g->type_acc));
		return;
	}
	for (unsigned r = 0; r < 256; r++) {
		const struct tile *t = &tile[r];

		if (!t->set)
			continue;
		if (t->row_warp != row_warp || t->col_warp != col_warp)
			base_pointer(x, t);
		row_warp = t->row_warp;
		col_warp = t->col_warp;
		for (unsigned k = 0; k < 2; k++)
			store_pair(x, r + half * k, (uint64_t)(t->row + 8 * k) * x->out->layout.ldc_bytes + (uint64_t)t->col * bytes);
	}
}

/* Something that the assembler can't know to be false depends on every register, so that it leaves nothing out. */
void ptx_keep_results(struct ptx *x)
{
	struct strbuf *s = &x->body;

	strbuf_add(s, "\tmov.u32 %%t1, 0;\n");
	for (unsigned r = 0; r < 256; r++)
		if (x->used[r])
			strbuf_add(s, "\txor.b32 %%t1, %%t1, %%v%u;\n", r);
	for (unsigned r = 0; r < PTX_SCRATCH; r++)
		strbuf_add(s, "\txor.b32 %%t1, %%t1, %%x%u;\n", r);
	strbuf_add(s, "\tsetp.eq.u32 %%ps, %%opaque, 77;\n\tld.param.u64 %%l1, [arg0];\n\tcvta.to.global.u64 %%l1, %%l1;\n"
		   "\t@%%ps st.global.b32 [%%l1], %%t1;\n");
}
