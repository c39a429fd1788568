/* Instructions of a listing decoded for the executor: operation, typed operands, registers read and written. */
#include "exec_core.h"

#include <math.h>
#include <stdlib.h>
#include <threads.h>

#include "exec_float.h"

/* ---- the operations by mnemonic ---- */

#define MAX_OPS 8192
#define OP_BUCKETS 8192

struct op_name {
	const char *part[3]; /* a family's name is written out in parts */
	uint8_t len[3];
	const struct xop *op;
	struct op_name *next;
};

static struct op_name op_names[MAX_OPS];
static struct op_name *op_bucket[OP_BUCKETS];
static size_t nop_names;
static once_flag op_filled = ONCE_FLAG_INIT;

static uint32_t hash_add(uint32_t h, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h;
}

static void add_name(const struct xop *op, const char *const part[3], const size_t len[3])
{
	struct op_name *x = &op_names[nop_names];
	uint32_t h = 2166136261u;

	if (nop_names == MAX_OPS)
		return; /* the unit test counts them */
	nop_names++;
	for (unsigned i = 0; i < 3; i++) {
		x->part[i] = part[i];
		x->len[i] = (uint8_t)len[i];
		h = hash_add(h, part[i], len[i]);
	}
	x->op = op;
	x->next = op_bucket[h % OP_BUCKETS];
	op_bucket[h % OP_BUCKETS] = x;
}

static void add_op(const struct xop *op)
{
	const char *open = strchr(op->names, '{'), *close = open ? strchr(open, '}') : NULL;
	const char *part[3] = { op->names, "", "" };
	size_t len[3] = { strlen(op->names), 0, 0 };

	if (!close) {
		add_name(op, part, len);
		return;
	}
	len[0] = (size_t)(open - op->names);
	part[2] = close + 1;
	len[2] = strlen(part[2]);
	for (const char *s = open + 1; s < close; s += len[1] + 1) {
		part[1] = s;
		len[1] = strcspn(s, ",}");
		add_name(op, part, len);
	}
}

/* The core's own operations are added last: they are found first. */
static void fill_ops(void)
{
	const struct { const struct xop *list; size_t n; } tables[] = {
		{ xops_lds, nxops_lds }, { xops_matrix, nxops_matrix }, { xops_memory, nxops_memory }, { xops_valu, nxops_valu },
		{ xops_salu, nxops_salu }, { xops_index, nxops_index }, { xops_core, nxops_core },
	};

	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t].n; i++)
			add_op(&tables[t].list[i]);
}

static bool name_is(const struct op_name *x, const char *s, size_t n)
{
	size_t at = 0;

	if ((size_t)x->len[0] + x->len[1] + x->len[2] != n)
		return false;
	for (unsigned i = 0; i < 3; at += x->len[i], i++)
		if (memcmp(s + at, x->part[i], x->len[i]) != 0)
			return false;
	return true;
}

static const struct xop *find_op(const char *name)
{
	size_t n = strlen(name);
	uint32_t h = hash_add(2166136261u, name, n);

	call_once(&op_filled, fill_ops);
	for (const struct op_name *x = op_bucket[h % OP_BUCKETS]; x; x = x->next)
		if (name_is(x, name, n))
			return x->op;
	return NULL;
}

/* By the name of the text, the name it stands for, and for a half of a dual instruction the plain one. */
static const struct xop *op_of(const struct insn_desc *desc)
{
	const struct xop *op = find_op(desc->name);
	char plain[72];

	if (!op && desc->canonical != desc->name)
		op = find_op(desc->canonical);
	if (!op && !strncmp(desc->name, "v_dual_", 7)) {
		snprintf(plain, sizeof(plain), "v_%.60s", desc->name + 7);
		op = find_op(plain);
	}
	return op;
}

/* ---- types and constants ---- */

static const char *const type_words[] = {
	[XT_NONE] = "none", [XT_B16] = "b16", [XT_I16] = "i16", [XT_U16] = "u16", [XT_F16] = "f16", [XT_BF16] = "bf16",
	[XT_B32] = "b32", [XT_I32] = "i32", [XT_U32] = "u32", [XT_F32] = "f32", [XT_PK16] = "pk16", [XT_PKF16] = "pkf16",
	[XT_PKBF16] = "pkbf16", [XT_PKF32] = "pkf32", [XT_B64] = "b64", [XT_I64] = "i64", [XT_U64] = "u64", [XT_F64] = "f64",
	[XT_MASK] = "mask", [XT_WIDE] = "wide",
};

static enum xtype type_at(const char *types, unsigned i)
{
	size_t n;

	for (; i && *types; i--) {
		types += strcspn(types, " ");
		types += *types == ' ';
	}
	n = strcspn(types, " ");
	for (size_t k = 0; k < ARRAY_LEN(type_words) && n; k++)
		if (strlen(type_words[k]) == n && !memcmp(types, type_words[k], n))
			return (enum xtype)k;
	return XT_WIDE;
}

static bool near_tau(double v) /* 1 / (2 pi): written with few digits it still means the constant */
{
	return fabs(fabs(v) - 0.15915494309189535) < 1e-4;
}

static uint64_t real_bits(enum xtype t, double v)
{
	bool minus = v < 0;
	float f = (float)v;

	switch (t) {
	case XT_F64:
		return near_tau(v) ? 0x3fc45f306dc9c882 | (uint64_t)minus << 63 : xf_bits64(v);
	case XT_F16: case XT_B16: case XT_I16: case XT_U16: case XT_PKF16: case XT_PK16:
		return near_tau(v) ? 0x3118u | (uint64_t)minus << 15 : xf_to_f16(f);
	case XT_BF16: case XT_PKBF16:
		return near_tau(v) ? 0x3e22u | (uint64_t)minus << 15 : xf_to_bf16(f);
	case XT_PKF32: {
		uint64_t x = near_tau(v) ? 0x3e22f983u | (uint64_t)minus << 31 : xf_bits32(f);

		return x | x << 32;
	}
	default:
		return near_tau(v) ? 0x3e22f983u | (uint64_t)minus << 31 : xf_bits32(f);
	}
}

static uint64_t value_bits(enum xtype t, const struct operand *o)
{
	int64_t v = o->value;

	if (o->real) {
		double d = o->abs ? fabs(o->number) : o->number;

		return real_bits(t, o->neg ? -d : d);
	}
	if (o->neg)
		v = (int64_t)(0 - (uint64_t)v);
	switch (t) {
	case XT_F64: /* a literal is the upper half; small whole numbers and lit64() are all of it */
		return o->wide || !o->literal || (uint64_t)v > UINT32_MAX ? (uint64_t)v : (uint64_t)v << 32;
	case XT_B16: case XT_I16: case XT_U16: case XT_F16: case XT_BF16:
		return (uint64_t)v & 0xffff;
	case XT_B64: case XT_I64: case XT_U64: case XT_NONE: case XT_WIDE: case XT_MASK:
		return (uint64_t)v;
	case XT_PKF32:
		return ((uint64_t)v & UINT32_MAX) | (uint64_t)v << 32;
	default:
		return (uint64_t)v & UINT32_MAX;
	}
}

/* ---- operands ---- */

/* "hwreg(...)", "sendmsg(...)": their places in the source. 0; -1: it has another form. */
static int read_call(const struct insn *base, const struct operand *o, struct xopnd *x)
{
	const char *s = base->loc.src->text + o->begin;
	size_t n = o->end - o->begin;

	x->kind = OPERAND_VALUE;
	if (n > 6 && !memcmp(s, "hwreg(", 6))
		return xmods_hwreg(s, n, &x->bits);
	if (index_words(s, n, &x->bits))
		return 0;
	x->bits = 0;
	return n > 8 && !memcmp(s, "sendmsg(", 8) ? 0 : -1;
}

static int read_operand(const struct insn *base, const struct operand *o, enum xtype t, struct xopnd *x)
{
	*x = (struct xopnd){ .kind = o->kind, .type = t, .vector = o->vector, .neg = o->neg, .abs = o->abs, .sext = o->sext,
			     .high = o->high, .reg = o->reg, .n = o->n, .special = o->special };
	switch (o->kind) {
	case OPERAND_VALUE:
		x->bits = value_bits(t, o);
		x->neg = x->abs = false;
		return 0;
	case OPERAND_REG:
		if (o->special)
			x->kind = OPERAND_SYMBOL;
		return o->special && strstr(o->special, "lds_direct") ? -1 : 0;
	case OPERAND_OFF:
		if (o->special && strcmp(o->special, "null") != 0)
			x->kind = OPERAND_SYMBOL;
		return 0;
	case OPERAND_CALL:
		return read_call(base, o, x);
	case OPERAND_SYMBOL:
		return -1; /* a symbol whose value is not in the text */
	case OPERAND_ABSENT:
		break;
	}
	return 0;
}

/* The first source: what DPP and SDWA begin with. */
static uint8_t first_source(const struct insn_desc *d)
{
	for (unsigned i = 0; i < d->nslots; i++)
		if (strchr("sanb", d->slot[i].role))
			return (uint8_t)i;
	return d->nslots ? (uint8_t)(d->nslots - 1) : 0;
}

static void add_span(struct xinsn *in, struct span s, enum span_role role)
{
	if (role == ROLE_DST) {
		if (in->nwrite < ARRAY_LEN(in->write))
			in->write[in->nwrite++] = s;
	} else if (in->nread < ARRAY_LEN(in->read)) {
		in->read_role[in->nread] = (uint8_t)role;
		in->read[in->nread++] = s;
	}
}

/* Registers of a half of a dual instruction: the spans of struct insn hold both. */
static void half_spans(struct xinsn *in, const struct insn_desc *d, const struct operand_list *ops, unsigned mask_regs)
{
	for (unsigned i = 0; i < ops->n && i < d->nslots; i++) {
		const struct operand *o = &ops->o[i];
		struct span s = { o->reg, o->n };

		if (o->kind != OPERAND_REG)
			continue;
		if (strchr("dmx", d->slot[i].role))
			add_span(in, s, ROLE_DST);
		if (d->slot[i].role != 'd' && d->slot[i].role != 'm')
			add_span(in, s, ROLE_SRC);
	}
	if ((ops->n < d->nslots && d->slot[ops->n].role == 'n') || (d->rest & READS_VCC))
		add_span(in, (struct span){ REG_VCC, (uint16_t)mask_regs }, ROLE_SRC);
}

static bool overlap(const struct span *a, const struct span *b)
{
	return a->first < b->first + b->n && b->first < a->first + a->n;
}

static bool reads_what_writes(const struct xinsn *reader, const struct xinsn *writer)
{
	for (unsigned i = 0; i < reader->nread; i++)
		for (unsigned k = 0; k < writer->nwrite; k++)
			if (overlap(&reader->read[i], &writer->write[k]))
				return true;
	return false;
}

/* ---- flags ---- */

static bool begins(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static bool cross_lane(const char *name)
{
	static const char *const prefixes[] = { "v_permlane", "ds_bpermute", "ds_permute", "ds_swizzle", "v_mov_b64_dpp" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (begins(name, prefixes[i]))
			return true;
	return strstr(name, "_tr_b") || strstr(name, "_tr4_") || strstr(name, "_tr6_") || strstr(name, "_tr8_") ||
	       strstr(name, "_tr16_");
}

static bool bitwise(const char *name)
{
	static const char *const prefixes[] = { "s_and_", "s_or_", "s_xor_", "s_andn", "s_orn", "s_nand_", "s_nor_", "s_xnor_",
						"s_not_", "s_mov_", "s_and_not", "s_or_not", "s_cselect", "s_cmov_" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (begins(name, prefixes[i]))
			return true;
	return false;
}

static bool memory_class(enum opclass c)
{
	switch (c) {
	case OPC_SMEM: case OPC_LDS_READ: case OPC_LDS_WRITE: case OPC_LDS_PERMUTE: case OPC_VMEM_LOAD: case OPC_VMEM_STORE:
	case OPC_VMEM_LDS: case OPC_TDM_LOAD: case OPC_TDM_STORE:
		return true;
	default:
		return false;
	}
}

/* Two equal sources whose difference is always nothing. */
static bool same_sources(const struct xinsn *in, const char *name)
{
	const struct xopnd *a = &in->o[1], *b = &in->o[2];

	return in->n == 3 && (strstr(name, "_xor_b") || begins(name, "v_sub_u") || begins(name, "s_sub_")) &&
	       a->kind == OPERAND_REG && b->kind == OPERAND_REG && a->reg == b->reg && a->n == b->n && !in->dpp.on;
}

/* Carries go upwards only. */
static bool low_alone(const char *name)
{
	static const char *const prefixes[] = { "v_mad_u64_", "v_mad_i64_", "v_mad_co_", "v_mad_nc_", "v_lshl_add_u64", "v_add_nc_u64",
						"v_sub_nc_u64", "v_mul_u64", "v_lshlrev_b64", "v_mov_b64", "s_lshl_b64", "s_add_nc_u64",
						"s_sub_nc_u64", "s_mul_u64" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (begins(name, prefixes[i]))
			return true;
	return false;
}

/* How taints pass through it. */
static uint32_t taint_flags(const char *name)
{
	uint32_t f = 0;

	if (begins(name, "v_readlane") || begins(name, "v_readfirstlane"))
		f |= XF_READLANE;
	if (begins(name, "v_writelane"))
		f |= XF_WRITELANE;
	if (begins(name, "v_cndmask_b") || begins(name, "v_dual_cndmask"))
		f |= XF_SELECT;
	if (bitwise(name))
		f |= XF_BITWISE;
	if (begins(name, "s_and_b") || begins(name, "s_and_saveexec"))
		f |= XF_AND;
	if (begins(name, "s_andn2_b") || begins(name, "s_andn2_saveexec") || begins(name, "s_and_not1_b") ||
	    begins(name, "s_and_not1_saveexec"))
		f |= XF_ANDN2;
	if (begins(name, "s_or_b") || begins(name, "s_or_saveexec"))
		f |= XF_OR;
	if (begins(name, "v_movrel"))
		f |= XF_INDEXED;
	if (begins(name, "s_barrier"))
		f |= XF_FREE;
	if (strstr(name, "saveexec"))
		f |= XF_SAVEEXEC;
	if (low_alone(name))
		f |= XF_LOW64;
	return f;
}

static uint32_t flags_of(const struct xprog *x, const struct xinsn *in, const char *name)
{
	const struct insn *b = in->base;
	enum opclass c = b->cls;
	uint32_t f = taint_flags(name);

	if (memory_class(c))
		f |= XF_MEMORY;
	if (b->counter >= 0)
		f |= XF_COUNTS;
	if (c == OPC_MATRIX)
		f |= XF_MATRIX;
	if (c == OPC_VALU || c == OPC_TRANS || c == OPC_PACKED)
		f |= begins(name, "v_s_") ? 0 : XF_VECTOR;
	if (c == OPC_PACKED)
		f |= XF_PACKED;
	if (cross_lane(name))
		f |= XF_CROSS;
	if (c == OPC_VMEM_LDS && x->gfx9)
		f |= XF_M0;
	if (c == OPC_LDS_READ || c == OPC_LDS_WRITE || c == OPC_LDS_PERMUTE)
		f |= XF_LDS;
	if (c == OPC_VMEM_STORE && !begins(name, "flat_") && !begins(name, "scratch_"))
		f |= XF_STORE_OUT;
	if (c == OPC_BRANCH || begins(name, "s_setpc") || begins(name, "s_swappc") || begins(name, "s_set_pc"))
		f |= XF_DECIDES;
	if (c == OPC_SMEM || begins(name, "s_sendmsg") || begins(name, "s_get_barrier") || (begins(name, "flat_") && x->gfx9) ||
	    (b->counter >= 0 && !x->p->target->counters[b->counter].in_order))
		f |= XF_ANY_ORDER;
	if (c == OPC_BARRIER || c == OPC_AWAIT)
		f |= XF_BARRIER;
	return f;
}

/* ---- one instruction ---- */

static int prepare_half(struct xprog *x, struct xinsn *in, const struct insn *base, const struct operand_list *ops)
{
	const struct insn_desc *d = ops->desc;

	in->base = base;
	in->op = op_of(d);
	if (!in->op)
		return -1;
	in->fn = in->op->fn;
	in->arg = in->op->arg;
	in->src0 = first_source(d);
	if (ops->n > X_MAX_OPNDS)
		return -1;
	in->n = ops->n;
	for (unsigned i = 0; i < ops->n; i++)
		if (read_operand(base, &ops->o[i], type_at(in->op->types, i), &in->o[i]) < 0)
			return -1;
	in->flags = flags_of(x, in, d->name);
	if (xmods_read(in, ops, base->ops->next != NULL) < 0)
		return -1;
	for (unsigned i = 0; i < in->n; i++) /* s_movk and the like: the immediate by itself */
		if (i < d->nslots && d->slot[i].role == '#' && in->o[i].kind == OPERAND_VALUE && !in->simm)
			in->simm = in->o[i].bits;
	if ((in->flags & XF_VECTOR) && d->nslots && d->slot[0].role == 'm')
		in->flags |= XF_SDST_VECTOR;
	if (same_sources(in, d->name))
		in->flags |= XF_FREE;
	return 0;
}

/* An s_endpgm that the reader put in, and what has no operands in the text. */
static int prepare_bare(struct xprog *x, struct xinsn *in, const struct insn *base)
{
	char name[72];
	size_t n = strcspn(base->op, " ");

	snprintf(name, sizeof(name), "%.*s", n > 64 ? 64 : (int)n, base->op);
	in->base = base;
	in->op = find_op(name);
	if (!in->op)
		return -1;
	in->fn = in->op->fn;
	in->arg = in->op->arg;
	in->flags = flags_of(x, in, name);
	return 0;
}

/* The old value shows in the half that is not written only. */
static bool keeps_half(const char *name)
{
	return begins(name, "v_cvt_") || begins(name, "v_fma_mixlo") || begins(name, "v_fma_mixhi");
}

/* Is span k of the instruction its destination, read? */
static bool same_span(const struct insn *base, unsigned k)
{
	const struct span *s = base->span;

	return k == 1 && base->role[0] == ROLE_DST && s[0].first == s[1].first && s[0].n == s[1].n;
}

static void note_span(struct xprog *x, const struct span *s)
{
	unsigned end = s->first + (unsigned)s->n;

	if (s->first < REG_AGPR)
		x->vgprs = end > x->vgprs ? end : x->vgprs;
	else if (s->first < REG_SGPR)
		x->agprs = end - REG_AGPR > x->agprs ? end - REG_AGPR : x->agprs;
}

static void note_registers(struct xprog *x, const struct xinsn *in)
{
	for (unsigned i = 0; i < in->nread; i++)
		note_span(x, &in->read[i]);
	for (unsigned i = 0; i < in->nwrite; i++)
		note_span(x, &in->write[i]);
}

static int prepare_insn(struct xprog *x, uint32_t i)
{
	const struct insn *base = &x->p->insns[i];
	const struct operand_list *ops = base->ops;
	unsigned mask_regs = x->gfx9 ? 2 : 1;
	struct xinsn *in = &x->insn[i], *half;

	in->index = i;
	if (!ops)
		return prepare_bare(x, in, base);
	if (prepare_half(x, in, base, ops) < 0)
		return -1;
	if (!ops->next) {
		for (unsigned k = 0; k < base->nspans; k++)
			if (!(k && base->role[k] == ROLE_SRC && keeps_half(ops->desc->name) && same_span(base, k)))
				add_span(in, base->span[k], base->role[k]);
	} else {
		half = arena_alloc(x->arena, 1, sizeof(*half));
		half->index = i;
		if (prepare_half(x, half, base, ops->next) < 0)
			return -1;
		half_spans(in, ops->desc, ops, mask_regs);
		half_spans(half, ops->next->desc, ops->next, mask_regs);
		if (reads_what_writes(half, in))
			in->flags |= XF_DUAL_SAVE;
		in->dual = half;
	}
	if ((in->flags & XF_MEMORY) && in->nwrite)
		in->flags |= XF_LOAD;
	note_registers(x, in);
	if (in->dual)
		note_registers(x, in->dual);
	return 0;
}

/* ---- the program ---- */

struct missing {
	const char *op;
	uint32_t first, count;
};

static size_t report_missing(const struct program *p, const uint32_t *bad, size_t n, struct diag *d)
{
	struct missing *list = xcalloc(n + 1, sizeof(*list));
	size_t kinds = 0, k;

	for (size_t i = 0; i < n; i++) {
		const char *op = p->insns[bad[i]].op;

		for (k = 0; k < kinds && strcmp(list[k].op, op) != 0; k++)
			;
		if (k == kinds)
			list[kinds++] = (struct missing){ op, bad[i], 0 };
		list[k].count++;
	}
	for (k = 0; k < kinds; k++) {
		const char *many = list[k].count > 1 ? xasprintf(", %u times in this kernel", list[k].count) : NULL;

		diag_fix(diag_add(d, p->insns[list[k].first].loc, DIAG_UNSUPPORTED, "the executor can't execute %s%s%s", list[k].op,
				  list[k].count > 1 ? " in this form" : " as it stands here", many ? many : ""),
			 "docs/exec.md lists what it executes");
		free((char *)many);
	}
	free(list);
	return kinds;
}

static size_t prepare_all(struct xprog *x, struct diag *d)
{
	uint32_t *bad = xcalloc(x->p->ninsns + 1, sizeof(*bad));
	size_t n = 0, kinds;

	for (uint32_t i = 0; i < x->p->ninsns; i++) {
		x->offset[i + 1] = x->offset[i] + x->p->insns[i].size;
		if (prepare_insn(x, i) < 0)
			bad[n++] = i;
	}
	kinds = n ? report_missing(x->p, bad, n, d) : 0;
	free(bad);
	return kinds;
}

static void begin(struct xprog *x, const struct program *p, const struct listing_info *info)
{
	*x = (struct xprog){ .p = p, .info = info, .arena = arena_new(), .vgprs = 1 };
	x->gfx9 = p->target->v.wave_size > 32;
	x->insn = arena_alloc(x->arena, p->ninsns + 1, sizeof(*x->insn));
	x->offset = arena_alloc(x->arena, p->ninsns + 1, sizeof(*x->offset));
}

int xprog_prepare(struct xprog *x, const struct program *p, const struct listing_info *info, struct diag *d)
{
	begin(x, p, info);
	return prepare_all(x, d) ? -1 : 0;
}

void xprog_free(struct xprog *x)
{
	arena_free(x->arena);
	x->arena = NULL;
}

size_t exec_unsupported(const struct program *p, struct diag *d)
{
	struct xprog x;
	size_t n;

	begin(&x, p, NULL);
	n = prepare_all(&x, d);
	xprog_free(&x);
	return n;
}
