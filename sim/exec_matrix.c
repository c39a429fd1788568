/*
 * Matrix instructions. A and B become matrices of doubles, in which every product of formats up to 32 bits is
 * exact; the sums are formed in double from C on, K ascending, and rounded once into D (docs/matrix.md).
 */
#include "exec_matrix.h"

#include <math.h>

const struct mx_row mx_rows[] = {
#define MX(names, kind, m, n, k, blocks, a, b, c, d, scale) \
	{ MX_##kind, m, n, k, blocks, MXF_##a, MXF_##b, MXF_##c, MXF_##d, scale },
#include "exec_matrix.def"
#undef MX
};
const size_t nmx_rows = ARRAY_LEN(mx_rows);

static enum numfmt resolve(enum mx_format f, bool fnuz, bool sign, unsigned chosen)
{
	static const enum numfmt any[] = { NF_FP8, NF_BF8, NF_FP6, NF_BF6, NF_FP4 };

	switch (f) {
	case MXF_F64:
		return NF_F64;
	case MXF_F32:
		return NF_F32;
	case MXF_XF32:
		return NF_XF32;
	case MXF_F16:
		return NF_F16;
	case MXF_BF16:
		return NF_BF16;
	case MXF_F8:
		return fnuz ? NF_FP8_FNUZ : NF_FP8;
	case MXF_B8:
		return fnuz ? NF_BF8_FNUZ : NF_BF8;
	case MXF_FP4:
		return NF_FP4;
	case MXF_I8:
		return NF_I8;
	case MXF_I32:
		return NF_I32;
	case MXF_IU8:
		return sign ? NF_I8 : NF_U8;
	case MXF_ANY:
		break;
	}
	return chosen < ARRAY_LEN(any) ? any[chosen] : NF_COUNT;
}

/* ---- C and D ---- */

struct result { /* how C and D are spread; the notation is that of the CDNA3 manual, 7.1.4.2 */
	unsigned height;  /* rows in neighbouring items */
	unsigned abreast; /* blocks side by side in the lanes */
	unsigned rows;    /* groups of rows side by side in the lanes */
	unsigned stacked; /* groups of rows one after the other in the items */
	unsigned items;
};

static struct result result_of(const struct mx_job *j)
{
	const struct mx_row *row = j->row;
	bool wave32 = row->kind == MX_WMMA || row->kind == MX_SWMMAC;
	struct result r = { .height = wave32 ? 8 : row->d == MXF_F64 ? 1 : 4 };
	unsigned block_lanes = row->m * row->n / r.height;

	r.abreast = block_lanes < j->lanes ? j->lanes / block_lanes : 1;
	r.rows = j->lanes / (r.abreast * row->n);
	r.stacked = row->m / (r.height * r.rows);
	r.items = row->m * row->n * row->blocks / j->lanes;
	return r;
}

/* Row of the result (all blocks one below the other) that stands in item t of the n lanes from strip * n on. */
static unsigned result_row(const struct mx_row *row, const struct result *r, unsigned t, unsigned strip)
{
	unsigned block = strip % r->abreast + t / r->height / r->stacked * r->abreast;
	unsigned i = t % r->height + r->height * (strip / r->abreast + r->rows * (t / r->height % r->stacked));

	return block * row->m + i;
}

static void load_item(const struct mx_job *j, unsigned t, double v[64])
{
	unsigned bits = numfmt_bits(j->fmt_c), lanes = j->lanes;
	const uint32_t *reg = j->c + (size_t)(t * bits / 32) * lanes;
	uint32_t code[64];

	if (bits == 64) {
		for (unsigned l = 0; l < lanes; l++)
			v[l] = numfmt_get(j->fmt_c, (uint64_t)reg[lanes + l] << 32 | reg[l]);
		return;
	}
	if (bits == 32) {
		numfmt_decode(j->fmt_c, reg, lanes, v);
		return;
	}
	for (unsigned l = 0; l < lanes; l++)
		code[l] = reg[l] >> t * bits % 32;
	numfmt_decode(j->fmt_c, code, lanes, v);
}

static void load_result(const struct mx_job *j, const struct result *r, double *d)
{
	const struct mx_row *row = j->row;
	unsigned total = row->m * row->n * row->blocks;

	if (!j->c) {
		double v = numfmt_get(j->fmt_c, j->c_bits);

		for (unsigned i = 0; i < total; i++)
			d[i] = v;
	} else {
		for (unsigned t = 0; t < r->items; t++) {
			double v[64];

			load_item(j, t, v);
			for (unsigned s = 0; s < j->lanes / row->n; s++)
				mx_copy(d + (size_t)result_row(row, r, t, s) * row->n, v + s * row->n, row->n);
		}
	}
	if (j->abs_c)
		for (unsigned i = 0; i < total; i++)
			d[i] = fabs(d[i]);
	if (j->neg_c)
		for (unsigned i = 0; i < total; i++)
			d[i] = -d[i];
}

static uint32_t encode_int(double v, bool saturate)
{
	if (saturate)
		return (uint32_t)numfmt_put(NF_I32, v);
	return (uint32_t)(int64_t)v; /* all sums are exact and far from 2^63 */
}

/* A float that overflowed: infinity, or the largest number when the mode asks for it. */
static uint32_t stop_overflow(enum numfmt f, double v, uint32_t code)
{
	if (!isfinite(v) || isfinite(numfmt_get(f, code)))
		return code;
	return code - 1;
}

static void store_item(const struct mx_job *j, unsigned t, const double v[64])
{
	unsigned bits = numfmt_bits(j->fmt_d), lanes = j->lanes, shift = t * bits % 32;
	uint32_t *reg = j->d + (size_t)(t * bits / 32) * lanes;

	if (bits == 64) {
		for (unsigned l = 0; l < lanes; l++) {
			uint64_t u = numfmt_put(NF_F64, v[l]);

			reg[l] = (uint32_t)u;
			reg[lanes + l] = (uint32_t)(u >> 32);
		}
	} else if (j->fmt_d == NF_I32) {
		for (unsigned l = 0; l < lanes; l++)
			reg[l] = encode_int(v[l], j->saturate);
	} else if (bits == 32) {
		float f[64];

		for (unsigned l = 0; l < lanes; l += 16)
			for (unsigned n = 0; n < 16; n++)
				f[l + n] = (float)v[l + n];
		memcpy(reg, f, lanes * sizeof(*f));
		for (unsigned l = 0; j->saturate && l < lanes; l++)
			reg[l] = stop_overflow(NF_F32, v[l], reg[l]);
	} else {
		for (unsigned l = 0; l < lanes; l++) {
			uint32_t code = (uint32_t)numfmt_put(j->fmt_d, v[l]);

			code = j->saturate ? stop_overflow(j->fmt_d, v[l], code) : code;
			reg[l] = shift ? reg[l] | code << 16 : code;
		}
	}
}

static void store_result(const struct mx_job *j, const struct result *r, const double *d)
{
	const struct mx_row *row = j->row;

	for (unsigned t = 0; t < r->items; t++) {
		double v[64];

		for (unsigned s = 0; s < j->lanes / row->n; s++)
			mx_copy(v + s * row->n, d + (size_t)result_row(row, r, t, s) * row->n, row->n);
		store_item(j, t, v);
	}
}

void mx_execute(const struct mx_job *j)
{
	const struct mx_row *row = j->row;
	struct result r = result_of(j);
	double a[MX_MAX_INPUT], b[MX_MAX_INPUT], d[MX_MAX_OUTPUT];

	mx_load(j, 0, a);
	mx_load(j, 1, b);
	load_result(j, &r, d);
	for (unsigned block = 0; block < row->blocks; block++) {
		double *to = d + (size_t)block * row->m * row->n;
		const double *pa = a + (size_t)block * row->k * row->m, *pb = b + (size_t)block * row->k * row->n;

		if (j->fmt_d == NF_F64)
			mx_multiply_fma(to, pa, pb, row->m, row->n, row->k);
		else
			mx_multiply(to, pa, pb, row->m, row->n, row->k);
	}
	store_result(j, &r, d);
}

/* ---- from the instruction ---- */

static bool is_sparse(const struct mx_row *row)
{
	return row->kind == MX_SMFMAC || row->kind == MX_SWMMAC;
}

#define MODE_FP16_OVFL (1u << 23)

static void set_c(struct mx_job *j, struct xwave *w, const struct xinsn *in)
{
	const struct xopnd *c = &in->o[is_sparse(j->row) ? 0 : 3];

	if (c->kind == OPERAND_REG && c->vector)
		j->c = x_vreg(w, c->reg);
	else
		j->c_bits = c->bits;
}

/* Signs: gfx9 has them for f64 in blgp, gfx1250 in neg_lo and neg_hi, where neg_hi of C means its absolute value. */
static void set_signs(struct mx_job *j, const struct xinsn *in)
{
	const struct xmatrix *x = &in->mx;

	if (j->row->kind == MX_WMMA || j->row->kind == MX_SWMMAC) {
		bool floats = j->row->a == MXF_F16 || j->row->a == MXF_BF16, wide = j->row->a == MXF_F32;

		for (unsigned op = 0; op < 2; op++) {
			j->neg[op][0] = (floats || wide) && x->neg_lo >> op & 1;
			j->neg[op][1] = (floats && x->neg_hi >> op & 1) || (wide && x->neg_lo >> op & 1);
		}
		if (j->row->kind == MX_WMMA && j->row->c != MXF_I32) {
			j->neg_c = x->neg_lo >> 2 & 1;
			j->abs_c = x->neg_hi >> 2 & 1;
		}
	} else if (j->row->a == MXF_F64) {
		j->neg[0][0] = j->neg[0][1] = x->blgp & 1;
		j->neg[1][0] = j->neg[1][1] = x->blgp >> 1 & 1;
		j->neg_c = x->blgp >> 2 & 1;
	}
}

/* Where the indices of a lane begin: on gfx9 a register holds those of several instructions. */
static unsigned index_bit(const struct mx_job *j, const struct xmatrix *x)
{
	unsigned bits = 2 * j->row->k * j->row->m / (2 * j->lanes);

	if (j->row->kind != MX_SMFMAC || (x->cbsz & 3) || bits >= 32)
		return 0;
	return x->abid % (32 / bits) * bits;
}

/* A scale that is no vector register scales everything alike. */
static struct mx_scale scale_of(const struct mx_job *j, struct xwave *w, const struct xopnd *o, unsigned format,
				unsigned select)
{
	struct mx_scale s = { .format = format, .select = select, .bits = o->bits };

	if (o->kind == OPERAND_REG && o->vector) {
		s.reg = x_vreg(w, o->reg);
	} else if (o->kind == OPERAND_REG) {
		s.bits = x_sget(w, o->reg);
	} else if (o->bits > 64 && o->bits < 0xfffffff0) {
		s.bits = o->bits >> 23; /* a float constant stands for its exponent */
	} else if (!o->bits && j->row->kind == MX_WMMA) {
		s.bits = 0x7f;
		s.format = 0;
	}
	return s;
}

static int check_regs(struct xwave *w, const struct xinsn *in, const struct mx_job *j)
{
	for (unsigned op = 0; op < 2; op++) {
		unsigned want;

		if (j->fmt[op] == NF_COUNT)
			return x_fault(w, in, DIAG_UNSUPPORTED, -1, "format %u of matrix %c does not exist",
				       op ? in->mx.fmt_b : in->mx.fmt_a, "AB"[op]);
		want = mx_input_regs(j->row, op, j->fmt[op], j->lanes);
		if (in->o[1 + op].n != want)
			return x_fault(w, in, DIAG_UNSUPPORTED, -1, "matrix %c has %u registers, its format takes %u", "AB"[op],
				       in->o[1 + op].n, want);
	}
	return 0;
}

static int mx_run(struct xwave *w, const struct xinsn *in)
{
	const struct mx_row *row = &mx_rows[in->arg];
	const struct xmatrix *x = &in->mx;
	bool fnuz = numfmt_of(x_target(w), DT_FP8) == NF_FP8_FNUZ, wave32 = row->kind == MX_WMMA || row->kind == MX_SWMMAC;
	struct mx_job j = { .row = row, .lanes = w->lanes };

	j.fmt[0] = resolve(row->a, fnuz, x->neg_lo & 1, x->fmt_a);
	j.fmt[1] = resolve(row->b, fnuz, x->neg_lo >> 1 & 1, x->fmt_b);
	j.fmt_c = resolve(row->c, fnuz, true, 0);
	j.fmt_d = resolve(row->d, fnuz, true, 0);
	if (w->lanes != (wave32 ? 32 : 64))
		return x_fault(w, in, DIAG_UNSUPPORTED, -1, "the instruction needs waves of %u lanes", wave32 ? 32 : 64);
	if (check_regs(w, in, &j) < 0)
		return -1;
	j.d = x_vreg(w, in->o[0].reg);
	j.in[0] = x_vreg(w, in->o[1].reg);
	j.in[1] = x_vreg(w, in->o[2].reg);
	set_c(&j, w, in);
	set_signs(&j, in);
	if (row->kind == MX_MFMA && row->a != MXF_F64 && row->a != MXF_ANY) {
		j.cbsz = x->cbsz;
		j.abid = x->abid;
		j.blgp = x->blgp;
	}
	if (is_sparse(row)) {
		j.index = x_vreg(w, in->o[3].reg);
		j.index_bit = index_bit(&j, x);
	}
	if (row->scale && row->kind == MX_MFMA) {
		j.scale[0] = scale_of(&j, w, &in->o[4], 0, x->op_sel_a);
		j.scale[1] = scale_of(&j, w, &in->o[5], 0, x->op_sel_b);
	} else if (row->scale) {
		j.scale[0] = scale_of(&j, w, &in->o[4], x->scale_fmt_a, x->scale_row_a);
		j.scale[1] = scale_of(&j, w, &in->o[5], x->scale_fmt_b, x->scale_row_b);
	}
	j.saturate = (w->mode & MODE_FP16_OVFL) && !(wave32 && row->d == MXF_F32);
	if (row->d == MXF_I32)
		j.saturate |= x->clamp || in->clamp;
	mx_execute(&j);
	return 0;
}

/* ---- the operations ---- */

enum { /* of the lines of exec_matrix.def, in their order: indices into mx_rows */
#define MX_LINE2(line) MX_AT_##line
#define MX_LINE(line) MX_LINE2(line)
#define MX(names, kind, m, n, k, blocks, a, b, c, d, scale) MX_LINE(__LINE__),
#include "exec_matrix.def"
#undef MX
};

/* Types matter for a constant C, which is one element of it, and for constant scales. */
#define MX_C_F64 "f64"
#define MX_C_F32 "f32"
#define MX_C_F16 "f16"
#define MX_C_BF16 "bf16"
#define MX_C_I32 "i32"
#define MX_TYPES_MFMA(c) "wide wide wide " c " b32 b32"
#define MX_TYPES_WMMA(c) "wide wide wide " c " b32 b32"
#define MX_TYPES_SMFMAC(c) "wide wide wide b32"
#define MX_TYPES_SWMMAC(c) "wide wide wide wide"

const struct xop xops_matrix[] = {
#define MX(names, kind, m, n, k, blocks, a, b, c, d, scale) \
	{ names, MX_TYPES_##kind(MX_C_##c), mx_run, MX_LINE(__LINE__) },
#include "exec_matrix.def"
#undef MX
};
const size_t nxops_matrix = ARRAY_LEN(xops_matrix);
