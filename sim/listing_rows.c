/* What the target's rows say about an instruction of a listing, and its code size. */
#include "listing_internal.h"

#include "lds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row_memo { /* one for each instruction of the table */
	bool known, known_lds_form;
	const struct matrix_row *matrix;
	const struct lds_row *lds;
	const struct vmem_row *vmem, *vmem_lds; /* with and without the lds modifier */
	const char *op[SUFFIX_COUNT];
};

void rows_free(struct reader *r)
{
	free(r->memo);
	r->memo = NULL;
}

static struct row_memo *memo_of(struct reader *r, const struct insn_desc *x)
{
	if (!r->memo)
		r->memo = xcalloc(insn_count(), sizeof(*r->memo));
	return &r->memo[insn_index(x)];
}

/* ---- operand types of matrix ops ---- */

static enum dtype format_type(int64_t code)
{
	static const enum dtype types[] = { DT_FP8, DT_BF8, DT_FP6, DT_BF6, DT_FP4 };

	return code >= 0 && code < (int64_t)ARRAY_LEN(types) ? types[code] : DT_COUNT;
}

static enum dtype format_word(const char *s, size_t n)
{
	static const char *const words[] = { "MATRIX_FMT_FP8", "MATRIX_FMT_BF8", "MATRIX_FMT_FP6", "MATRIX_FMT_BF6", "MATRIX_FMT_FP4" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i]) == n && !memcmp(s, words[i], n))
			return format_type((int64_t)i);
	return DT_COUNT;
}

/* One of A, B of an op that takes any small type: by name on gfx1250, by number on gfx950. */
static int operand_type(struct reader *r, const struct operands *ops, const char *name9, const char *name12, enum dtype *out)
{
	const char *word = NULL, *name = r->isa == ISA_1250 ? name12 : name9;
	size_t n = 0;
	int64_t v;

	*out = DT_FP8;
	if (!mods_value(ops->mods, ops->mods_len, name, &v, &word, &n))
		return 0;
	*out = v >= 0 ? format_type(v) : format_word(word, n);
	if (*out != DT_COUNT)
		return 0;
	build_error(r, DIAG_OPERAND, ops->o[0].begin, ops->o[0].end, "%s names no operand type", name);
	return -1;
}

/* Registers that an operand of so many elements of a type takes. */
static unsigned operand_regs(const struct reader *r, unsigned elements, enum dtype t)
{
	return elements * dtype_bits(t) / 32 / (unsigned)r->t->v.wave_size;
}

static int check_small_types(struct reader *r, const struct matrix_row *m, const struct operands *ops, enum dtype a, enum dtype b)
{
	const enum dtype type[2] = { a, b };
	const unsigned elements[2] = { m->m * m->k, m->n * m->k };

	for (unsigned i = 0; i < 2; i++) {
		const struct operand *o = &ops->o[1 + i];
		unsigned want = operand_regs(r, elements[i], type[i]);

		if (o->kind == OPERAND_REG && o->n != want) {
			build_error(r, DIAG_OPERAND, o->begin, o->end, "%c is %s here and takes %u registers, not %u",
				    i ? 'B' : 'A', dtype_name(type[i]), want, o->n);
			return -1;
		}
	}
	return 0;
}

static int fill_matrix(struct reader *r, const struct insn_desc *x, struct row_memo *memo, const struct operands *ops,
		       struct insn *in)
{
	bool small = strstr(x->canonical, "f8f6f4") != NULL;
	enum dtype a = DT_F16, b = DT_F16;

	if (strstr(x->canonical, "_f4"))
		a = b = DT_FP4;
	if (small && (operand_type(r, ops, "cbsz", "matrix_a_fmt", &a) < 0 || operand_type(r, ops, "blgp", "matrix_b_fmt", &b) < 0))
		return -1;
	if (small || !memo->known)
		memo->matrix = target_matrix(r->t, x->canonical, a, b);
	memo->known = true;
	in->matrix = memo->matrix;
	if (!in->matrix) {
		build_error(r, DIAG_TARGET, in->loc.begin, in->loc.end, "the model of %s has no row for %s", r->t->name, x->canonical);
		return -1;
	}
	return small ? check_small_types(r, in->matrix, ops, a, b) : 0;
}

/* ---- memory ---- */

/* Bytes a lane when the name says a part of a register. */
static unsigned narrow_bytes(const char *op)
{
	static const struct { const char *part; unsigned bytes; } words[] = {
		{ "byte", 1 }, { "_u8", 1 }, { "_i8", 1 }, { "_b8", 1 }, { "short", 2 }, { "_u16", 2 }, { "_i16", 2 }, { "_b16", 2 },
	};
	const char *transposed = strstr(op, "_tr"); /* ds_read_b64_tr_b16 moves 64 bits */

	for (size_t i = 0; i < ARRAY_LEN(words) && !transposed; i++)
		if (strstr(op, words[i].part))
			return words[i].bytes;
	return 0;
}

/* A row of the same kind, as wide or the next wider one: for ops that the model does not list. */
static const struct lds_row *lds_like(const struct target *t, bool write, unsigned bytes)
{
	const struct lds_row *best = NULL;

	for (size_t i = 0; i < t->nlds; i++) {
		const struct lds_row *l = &t->lds[i];

		if (l->write == write && !l->transpose && l->width_bytes >= bytes && (!best || l->width_bytes < best->width_bytes))
			best = l;
	}
	return best ? best : target_lds_widest(t, write);
}

static const struct vmem_row *vmem_like(const struct target *t, enum vmem_kind kind, unsigned bytes)
{
	const struct vmem_row *best = NULL;

	for (size_t i = 0; i < t->nvmem; i++) {
		const struct vmem_row *v = &t->vmem[i];

		if (v->kind == kind && v->width_bytes >= bytes && (!best || v->width_bytes < best->width_bytes))
			best = v;
	}
	return best ? best : target_vmem_widest(t, kind);
}

/* Registers of data that the operands move: destination or data. */
static unsigned data_regs(const struct insn_desc *x)
{
	unsigned n = 0, d = 0;

	for (unsigned i = 0; i < x->nslots; i++) {
		char role = x->slot[i].role;

		if (role == 'w' || role == 'W')
			n += x->slot[i].regs;
		else if (role == 'd')
			d += x->slot[i].regs;
	}
	return n ? n : d;
}

/* "global_load_lds_dwordx4", "scratch_load_lds_dword", "global_load_async_to_lds_b64" */
static unsigned copy_bytes(const char *op)
{
	static const struct { const char *part; unsigned bytes; } words[] = {
		{ "dwordx4", 16 }, { "b128", 16 }, { "dwordx3", 12 }, { "b96", 12 }, { "dwordx2", 8 }, { "b64", 8 },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(op, words[i].part))
			return words[i].bytes;
	return narrow_bytes(op) ? narrow_bytes(op) : 4;
}

static unsigned lane_bytes(const struct insn_desc *x, enum opclass cls)
{
	unsigned n = narrow_bytes(x->name), regs = data_regs(x);

	if (cls == OPC_VMEM_LDS || strstr(x->name, "_from_lds"))
		return copy_bytes(x->name);
	if (n)
		return n;
	return regs ? regs * 4 : 4;
}

static void fill_lds(struct reader *r, const struct insn_desc *x, struct row_memo *memo, struct insn *in)
{
	unsigned clk, bytes = lane_bytes(x, in->cls);
	bool write = in->cls == OPC_LDS_WRITE;

	if (!memo->known) {
		memo->lds = target_lds(r->t, x->canonical);
		if (!memo->lds)
			memo->lds = lds_like(r->t, write, bytes);
		memo->known = true;
	}
	in->lds = memo->lds;
	in->bytes = bytes * (unsigned)r->t->v.wave_size;
	if (!in->lds || in->cls == OPC_LDS_PERMUTE)
		return;
	clk = lds_array_clk_free(in->lds);
	if (bytes >= 2 * in->lds->width_bytes) /* two addresses */
		clk *= 2;
	in->lds_clk = in->lds_clk_free = (uint16_t)clk;
}

static const struct vmem_row *find_vmem(struct reader *r, const struct insn_desc *x, const struct insn *in, unsigned bytes)
{
	enum vmem_kind kind = in->cls == OPC_VMEM_LDS ? VM_LDS : in->cls == OPC_VMEM_STORE ? VM_STORE : VM_LOAD;
	const struct vmem_row *row = NULL;
	char name[96];

	snprintf(name, sizeof(name), "%s%s", x->canonical, kind == VM_LDS && !strncmp(x->canonical, "buffer_", 7) ? " lds" : "");
	row = target_vmem(r->t, name);
	if (!row && !strncmp(x->canonical, "scratch_", 8)) {
		snprintf(name, sizeof(name), "global_%s", x->canonical + 8);
		row = target_vmem(r->t, name);
	}
	return row && row->kind == kind ? row : vmem_like(r->t, kind, bytes);
}

static void fill_vmem(struct reader *r, const struct insn_desc *x, struct row_memo *memo, struct insn *in)
{
	unsigned bytes = lane_bytes(x, in->cls);
	bool lds = in->cls == OPC_VMEM_LDS || (in->cls == OPC_VMEM_LOAD && strstr(x->name, "atomic"));
	bool *known = lds ? &memo->known_lds_form : &memo->known;
	const struct vmem_row **row = lds ? &memo->vmem_lds : &memo->vmem;

	if (!*known) {
		*row = find_vmem(r, x, in, bytes);
		*known = true;
	}
	in->vmem = *row;
	in->bytes = x->rest & CTR_IS_NONE || !x->nslots ? 0 : bytes * (unsigned)r->t->v.wave_size;
}

/* ---- counters ---- */

static int class_counter(const struct reader *r, enum opclass c)
{
	return r->t->classes[c].counter;
}

static void fill_counter(struct reader *r, const struct insn_desc *x, struct insn *in)
{
	in->counter = (int8_t)class_counter(r, in->cls);
	if (x->rest & CTR_IS_NONE)
		in->counter = -1;
	else if (x->rest & CTR_AS_SMEM)
		in->counter = (int8_t)class_counter(r, OPC_SMEM);
	else if (x->rest & CTR_IS_ASYNC)
		in->counter = r->t->counters[CTR_ASYNC].present ? CTR_ASYNC : in->counter;
	else if (x->rest & CTR_IS_EXP)
		in->counter = r->t->counters[CTR_EXP].present ? CTR_EXP : in->counter;
	if (x->rest & CTR_FLAT) {
		int lds = class_counter(r, OPC_LDS_READ);

		in->also = (uint8_t)(lds >= 0 && lds != in->counter ? lds + 1 : 0);
	}
}

/* ---- code size ---- */

static bool vector_class(enum opclass c)
{
	return c == OPC_VALU || c == OPC_TRANS || c == OPC_PACKED;
}

/* Does the assembler take the 4-byte form when the text does not say which? */
static bool takes_short(const struct insn_desc *x, const struct operands *ops)
{
	unsigned sources = 0;

	if (!(x->rest & ENC_SHORT) || ops->mods)
		return false;
	for (unsigned i = 0; i < ops->n && i < x->nslots; i++) {
		const struct operand *o = &ops->o[i];
		char role = x->slot[i].role;

		if ((role == 'm' || role == 'n') && (o->kind != OPERAND_REG || o->reg != REG_VCC))
			return false;
		if (role == 's' && ++sources > 1 && !(o->kind == OPERAND_REG && o->vector))
			return false;
	}
	return true;
}

static unsigned vector_size(const struct insn_desc *x, enum suffix sfx, const struct operands *ops)
{
	bool dual = !strncmp(x->name, "v_dual_", 7);

	switch (sfx) {
	case SUFFIX_E32: return 4;
	case SUFFIX_DPP: return x->rest & ENC_SHORT || !strncmp(x->name, "v_cmp", 5) ? 8 : 12;
	case SUFFIX_SDWA: return 8;
	case SUFFIX_E64_DPP: return 12;
	case SUFFIX_E64: return 8;
	case SUFFIX_NONE:
	case SUFFIX_COUNT: break;
	}
	if (dual)
		return 8; /* unless its halves say otherwise, see dual_size */
	if (strstr(x->name, "fmaak") || strstr(x->name, "fmamk") || strstr(x->name, "madak") || strstr(x->name, "madmk"))
		return 4; /* and its literal */
	return takes_short(x, ops) ? 4 : 8;
}

/* Only gfx1250 has literals of 8 bytes, and only behind 4-byte encodings. The sign is not extended. */
static bool long_literal(const struct insn_desc *x, unsigned i, const struct operand *o)
{
	bool pair = i < x->nslots && x->slot[i].regs == 2;

	if (o->kind == OPERAND_SYMBOL)
		return pair; /* an address: NAME@rel64 */
	if (o->kind != OPERAND_VALUE || !pair)
		return false;
	if (strstr(x->name, "f64"))
		return o->value < 0 || o->value > (int64_t)UINT32_MAX;
	return o->wide || o->value < 0 || o->value > INT32_MAX;
}

static unsigned literal_size(const struct insn_desc *x, const struct operands *ops, bool may_be_long)
{
	bool always = strstr(x->name, "fmaak") || strstr(x->name, "fmamk") || strstr(x->name, "madak") || strstr(x->name, "madmk");

	if (always)
		return strstr(x->name, "f64") ? 8 : 4;
	for (unsigned i = 0; i < ops->n; i++)
		if (ops->o[i].literal && !(i < x->nslots && x->slot[i].role == '#'))
			return may_be_long && long_literal(x, i, &ops->o[i]) ? 8 : 4;
	return 0;
}

/* First halves of the 8-byte encoding; it has more second halves. */
static bool dual_short(const char *name, bool second)
{
	static const char *const words[] = {
		"add_f32", "cndmask_b32", "dot2acc_f32_f16", "fmaak_f32", "fmac_f32", "fmamk_f32", "max_num_f32",
		"min_num_f32", "mov_b32", "mul_f32", "mul_dx9_zero_f32", "subrev_f32", "sub_f32",
		/* second halves only */
		"add_nc_u32", "dot2acc_f32_bf16", "ashrrev_i32", "lshlrev_b32", "lshrrev_b32", "max_i32", "min_i32", "sub_nc_u32",
	};

	for (size_t i = 0; i < (second ? ARRAY_LEN(words) : 13); i++)
		if (!strcmp(name + strlen("v_dual_"), words[i]))
			return true;
	return false;
}

unsigned dual_size(const struct insn_desc *x, const struct insn_desc *y, const struct operands *xo, const struct operands *yo,
		   bool modified)
{
	unsigned literal = literal_size(x, xo, false) | literal_size(y, yo, false);
	const struct operand *a = &xo->o[0], *b = &yo->o[0];
	bool explicit_mask = (xo->n > 3 && x->slot[3].role == 'n' && xo->o[3].reg != REG_VCC) ||
			     (yo->n > 3 && y->slot[3].role == 'n' && yo->o[3].reg != REG_VCC);

	/* The short form wants one even and one odd destination, and has no sign bits. */
	if (modified || explicit_mask || a->reg % 2 == b->reg % 2 || !dual_short(x->name, false) || !dual_short(y->name, true))
		return 12;
	return 8 + literal;
}

static unsigned code_size(const struct reader *r, const struct insn_desc *x, enum suffix sfx, const struct operands *ops,
			  const struct insn *in)
{
	bool gfx12 = r->isa == ISA_1250;
	enum opclass c = in->cls;

	if (vector_class(c)) {
		unsigned size = vector_size(x, sfx, ops);

		return size + literal_size(x, ops, gfx12 && size == 4);
	}
	if (c == OPC_MATRIX)
		return in->matrix && (in->matrix->kind == MK_MFMA_SCALE || in->matrix->kind == MK_WMMA_SCALE) ? 16 : 8;
	if (opclass_slot(c) == SLOT_VMEM)
		return gfx12 ? 12 : 8;
	if (opclass_slot(c) == SLOT_LDS || c == OPC_SMEM)
		return strcmp(x->name, "s_icache_inv") ? 8 : 4;
	if (c == OPC_SALU)
		return 4 + literal_size(x, ops, gfx12);
	return strcmp(x->name, "s_setreg_imm32_b32") ? 4 : 8;
}

/* ---- all of it ---- */

int rows_fill(struct reader *r, const struct insn_desc *x, enum suffix sfx, const struct operands *ops, bool returns,
	      struct insn *in)
{
	struct row_memo *memo = memo_of(r, x);

	if (returns && in->cls == OPC_VMEM_STORE)
		in->cls = OPC_VMEM_LOAD;
	if (in->cls == OPC_VMEM_LOAD && !strncmp(x->name, "buffer_load", 11) && mods_has(ops->mods, ops->mods_len, "lds"))
		in->cls = OPC_VMEM_LDS;
	if (!memo->op[sfx])
		memo->op[sfx] = arena_printf(r->arena, "%s%s", x->canonical, suffix_text[sfx]);
	in->op = memo->op[sfx];
	if (in->cls == OPC_MATRIX && fill_matrix(r, x, memo, ops, in) < 0)
		return -1;
	if (opclass_slot(in->cls) == SLOT_LDS)
		fill_lds(r, x, memo, in);
	else if (in->cls == OPC_VMEM_LOAD || in->cls == OPC_VMEM_STORE || in->cls == OPC_VMEM_LDS)
		fill_vmem(r, x, memo, in);
	fill_counter(r, x, in);
	in->size = (uint8_t)code_size(r, x, sfx, ops, in);
	return 0;
}
