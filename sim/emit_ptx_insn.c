/* One instruction of the program as PTX. */
#include "emit_ptx.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct span *span_of(const struct insn *in, enum span_role role, unsigned nth)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == role && nth-- == 0)
			return &in->span[k];
	return NULL;
}

static void add_list(struct strbuf *s, const unsigned *reg, unsigned n)
{
	strbuf_add(s, n > 1 ? "{" : "");
	for (unsigned i = 0; i < n; i++)
		strbuf_add(s, "%s%%v%u", i ? "," : "", reg[i]);
	strbuf_add(s, n > 1 ? "}" : "");
}

static void add_span_list(struct strbuf *s, const struct span *p, unsigned n)
{
	unsigned reg[8];

	for (unsigned i = 0; i < n && i < 8; i++)
		reg[i] = p->first + i % p->n;
	add_list(s, reg, n);
}

/* ---- matrix ---- */

static void matrix(struct ptx *x, const struct insn *in, const char *guard)
{
	const struct span *d = span_of(in, ROLE_DST, 0), *a = span_of(in, ROLE_A, 0), *b = span_of(in, ROLE_B, 0);
	const char *shape = strncmp(in->op, "mma.", 4) ? NULL : in->op + 4, *types = shape ? strchr(shape, '.') : NULL;

	if (!types || !d || !a || !b) {
		ptx_fail(x, in->loc, DIAG_SHAPE, "'%s' needs an accumulator and two fragments", in->op);
		return;
	}
	strbuf_add(&x->body, "\t%smma.sync.aligned.%.*s.row.col%s ", guard, (int)(types - shape), shape, types);
	add_span_list(&x->body, d, in->matrix->c_regs);
	strbuf_add(&x->body, ", ");
	add_span_list(&x->body, a, in->matrix->a_regs);
	strbuf_add(&x->body, ", ");
	add_span_list(&x->body, b, in->matrix->b_regs);
	strbuf_add(&x->body, ", ");
	add_span_list(&x->body, d, in->matrix->c_regs);
	strbuf_add(&x->body, ";\n");
}

/* ---- shared memory ---- */

/* Registers that a read fills, in its order; those that the block does not have are scratch (256 + i). */
static unsigned read_registers(const struct ptx *x, const struct insn *in, unsigned reg[4])
{
	const struct access *a = &x->p->access[in->access];
	const struct span *d = span_of(in, ROLE_DST, 0), *e = span_of(in, ROLE_DST, 1);
	unsigned n = in->lds->width_bytes / 4;

	for (unsigned i = 0; i < n && i < 4; i++)
		if (d && e) /* two tiles of B */
			reg[i] = i < d->n ? d->first + i : e->first + i - d->n;
		else if (d && d->n == 2 * n && a->src_lane) /* rows 0 to 7 or 8 to 15 of A: every other register */
			reg[i] = d->first + 2 * i + a->rows_lo / 8 % 2;
		else
			reg[i] = d && i < d->n ? d->first + i : 256 + i;
	return n;
}

static void add_registers(struct strbuf *s, const unsigned *reg, unsigned n)
{
	strbuf_add(s, n > 1 ? "{" : "");
	for (unsigned i = 0; i < n; i++)
		strbuf_add(s, reg[i] < 256 ? "%s%%v%u" : "%s%%x%u", i ? "," : "", reg[i] % 256);
	strbuf_add(s, n > 1 ? "}" : "");
}

static void shared_read(struct ptx *x, const struct insn *in, const char *guard)
{
	char at[64];
	unsigned reg[4], n;
	bool trans = in->lds->transpose, mat = strncmp(in->op, "ldmatrix", 8) == 0;

	if (!ptx_shared(x, in, at, sizeof(at)))
		return;
	n = read_registers(x, in, reg);
	if (mat)
		strbuf_add(&x->body, "\t%sldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 ", guard, n, trans ? ".trans" : "");
	else /* volatile: read also when nothing uses the result, and in this order */
		strbuf_add(&x->body, "\t%sld.volatile.shared%s.b32 ", guard, n == 4 ? ".v4" : n == 2 ? ".v2" : "");
	add_registers(&x->body, reg, n);
	strbuf_add(&x->body, ", %s;\n", at);
}

static void shared_write(struct ptx *x, const struct insn *in, const char *guard)
{
	const struct span *d = span_of(in, ROLE_DATA, 0);
	unsigned n = in->lds->width_bytes / 4;
	char at[64];

	if (!d || !ptx_shared(x, in, at, sizeof(at)))
		return;
	strbuf_add(&x->body, "\t%sst.volatile.shared%s.b32 %s, ", guard, n == 4 ? ".v4" : n == 2 ? ".v2" : "", at);
	add_span_list(&x->body, d, n);
	strbuf_add(&x->body, ";\n");
}

static void copy(struct ptx *x, const struct insn *in, const char *guard)
{
	char to[64], from[64];

	if (!ptx_shared(x, in, to, sizeof(to)) || !ptx_global(x, in, from, sizeof(from)))
		return;
	strbuf_add(&x->body, "\t%scp.async.%s.shared.global %s, %s, %u;\n", guard, in->vmem->width_bytes == 16 ? "cg" : "ca", to, from,
		   in->vmem->width_bytes);
}

/* ---- global memory ---- */

static void global_load(struct ptx *x, const struct insn *in, const char *guard)
{
	const struct span *d = span_of(in, ROLE_DST, 0);
	unsigned n = in->vmem->width_bytes / 4;
	char from[64];

	if (!d || !ptx_global(x, in, from, sizeof(from)))
		return;
	strbuf_add(&x->body, "\t%sld%s.global%s.b32 ", guard, x->p->gemm ? "" : ".volatile", n == 4 ? ".v4" : n == 2 ? ".v2" : "");
	add_span_list(&x->body, d, n);
	strbuf_add(&x->body, ", %s;\n", from);
}

static void global_store(struct ptx *x, const struct insn *in, const char *guard)
{
	const struct span *d = span_of(in, ROLE_DATA, 0);
	unsigned n = in->vmem->width_bytes / 4;
	char to[64];

	if (x->p->gemm) { /* one piece of code writes all of C */
		ptx_store_c(x, in->loc);
		return;
	}
	if (!d || !ptx_global(x, in, to, sizeof(to)))
		return;
	strbuf_add(&x->body, "\t%sst.volatile.global%s.b32 %s, ", guard, n == 4 ? ".v4" : n == 2 ? ".v2" : "", to);
	add_span_list(&x->body, d, n);
	strbuf_add(&x->body, ";\n");
}

/* ---- arithmetic ---- */

/*
 * Operands of the mnemonics that a schedule may name, one letter each: d the result, s the source, k a value that
 * the assembler does not know. Every result depends on the one before, or the assembler would leave it out.
 */
static const struct { const char *op, *operands; } arithmetic[] = {
	{ "add.f32", "dsd" }, { "mul.f32", "dsd" }, { "fma.rn.f32", "dskd" }, { "min.f32", "dsd" }, { "max.f32", "dsd" },
	{ "add.f16x2", "dsd" }, { "mul.f16x2", "dsd" }, { "fma.rn.f16x2", "dskd" },
	{ "add.u32", "dsd" }, { "sub.u32", "dsd" }, { "mad.lo.u32", "dskd" }, { "and.b32", "dsd" }, { "or.b32", "dsd" },
	{ "xor.b32", "dsd" }, { "shl.b32", "ddk" }, { "shr.u32", "ddk" }, { "prmt.b32", "dsdk" }, { "cvt.rn.f16x2.f32", "dsd" },
	{ "ex2.approx.ftz.f32", "dd" }, { "lg2.approx.ftz.f32", "dd" }, { "rcp.approx.ftz.f32", "dd" }, { "rsqrt.approx.ftz.f32", "dd" },
	{ "sqrt.approx.ftz.f32", "dd" }, { "sin.approx.ftz.f32", "dd" }, { "tanh.approx.f32", "dd" },
};

static const char *operands_of(const char *op)
{
	for (size_t i = 0; i < ARRAY_LEN(arithmetic); i++)
		if (!strcmp(arithmetic[i].op, op))
			return arithmetic[i].operands;
	return NULL;
}

static void vector(struct ptx *x, const struct insn *in, const char *guard)
{
	const struct span *d = span_of(in, ROLE_DST, 0), *s = span_of(in, ROLE_SRC, 0);
	const char *operands = operands_of(in->op), *sep = " ";
	char dst[16], src[16];

	if (!operands) {
		struct finding *f = diag_add(x->d, in->loc, DIAG_TARGET, "'%s' is not among the instructions that can be emitted", in->op);

		diag_fix(f, "docs/sm_90.md lists them");
		x->failed = true;
		return;
	}
	if (d)
		snprintf(dst, sizeof(dst), "%%v%u", d->first);
	else
		snprintf(dst, sizeof(dst), "%%x%u", x->scratch++ % PTX_SCRATCH);
	if (s && !(d && s->first == d->first))
		snprintf(src, sizeof(src), "%%v%u", s->first);
	else
		snprintf(src, sizeof(src), "%%opaque");
	strbuf_add(&x->body, "\t%s%s", guard, in->op);
	for (const char *o = operands; *o; o++, sep = ", ")
		strbuf_add(&x->body, "%s%s", sep, *o == 'd' ? dst : *o == 's' ? src : "%opaque");
	strbuf_add(&x->body, ";\n");
}

static void permute(struct ptx *x, const struct insn *in, const char *guard)
{
	const struct span *d = span_of(in, ROLE_DST, 0);
	unsigned reg[1] = { d ? d->first : 256 + x->scratch++ % PTX_SCRATCH };

	strbuf_add(&x->body, "\t%sshfl.sync.bfly.b32 ", guard);
	add_registers(&x->body, reg, 1);
	strbuf_add(&x->body, ", ");
	add_registers(&x->body, reg, 1);
	strbuf_add(&x->body, ", 1, 31, -1;\n");
}

/* ---- barriers ---- */

/* A place that the loop's head might jump to: the assembler moves nothing across it. */
static void label(struct ptx *x)
{
	if (x->loop < 0 || x->nlabels >= PTX_LOOP_LABELS)
		return;
	strbuf_add(&x->body, "L%d_%u:\n", x->loop, ++x->nlabels);
	x->matrix = x->memory = false;
}

static void barrier(struct ptx *x, const struct insn *in, const char *guard)
{
	unsigned threads = 32 * (in->members ? in->members : x->p->waves);

	if (in->cls == OPC_AWAIT)
		return; /* bar.sync waits by itself */
	label(x);
	if (in->barrier == BAR_WORKGROUP)
		strbuf_add(&x->body, "\t%sbar.sync 0;\n", guard);
	else
		strbuf_add(&x->body, "\t%s%s %d, %u;\n", guard, in->op, in->barrier, threads);
	label(x);
}

static void wait(struct ptx *x, const struct insn *in, const char *guard)
{
	if (x->matrix)
		label(x); /* or the assembler would wait first */
	if (in->nwait)
		strbuf_add(&x->body, "\t%scp.async.wait_group %u;\n", guard, in->imm);
}

/* Loop control: additions of the counter and of pointers, compare. */
static void implied_scalar(struct ptx *x, const struct insn *in)
{
	const struct loop *l = x->loop >= 0 ? &x->p->loops[x->loop] : NULL;

	if (!l)
		return;
	if (!strcmp(in->op, "add.u32"))
		strbuf_add(&x->body, "\tadd.u32 %%i, %%i, 1;\n");
	else
		strbuf_add(&x->body, "\tsetp.lt.u32 %%pl, %%i, %" PRIu64 ";\n", l->trips);
}

void ptx_insn(struct ptx *x, const struct insn *in)
{
	char text[24];
	const char *guard = ptx_guard(x, ptx_waves(x, in), text, sizeof(text));

	if (in->flags & INSN_EDGE_ONLY)
		return;
	x->memory |= in->access >= 0;
	switch (in->cls) {
	case OPC_MATRIX:
		if (x->memory && !x->matrix)
			label(x); /* what was written in front of the products stays there */
		matrix(x, in, guard);
		x->matrix = true;
		break;
	case OPC_LDS_READ: shared_read(x, in, guard); break;
	case OPC_LDS_WRITE: shared_write(x, in, guard); break;
	case OPC_LDS_PERMUTE: permute(x, in, guard); break;
	case OPC_VMEM_LDS: copy(x, in, guard); break;
	case OPC_VMEM_LOAD: global_load(x, in, guard); break;
	case OPC_VMEM_STORE: global_store(x, in, guard); break;
	case OPC_VALU:
		if (!strcmp(in->op, "chain")) {
			x->chain = span_of(in, ROLE_SRC, 0)->first;
			return;
		}
		if (!strcmp(in->op, "mov") && (in->flags & INSN_IMPLIED))
			return; /* the assembler's own */
		if (!(in->flags & INSN_IMPLIED)) {
			vector(x, in, guard);
		} else if (!x->moved && x->loop >= 0) {
			x->moved = true;
			ptx_pointers_move(x, x->p->loops[x->loop].steps);
		}
		break;
	case OPC_SALU:
		if (in->flags & INSN_IMPLIED)
			implied_scalar(x, in);
		else
			vector(x, in, guard);
		break;
	case OPC_TRANS: vector(x, in, guard); break;
	case OPC_BARRIER:
	case OPC_SIGNAL:
	case OPC_AWAIT: barrier(x, in, guard); break;
	case OPC_WAIT: wait(x, in, guard); break;
	case OPC_MODE: strbuf_add(&x->body, "\t%scp.async.commit_group;\n", guard); break;
	case OPC_NOP: break; /* what the assembler puts there by itself */
	case OPC_BRANCH:
	case OPC_END: break; /* the caller's */
	case OPC_PACKED:
	case OPC_SMEM:
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
	case OPC_SETPRIO:
	case OPC_SLEEP:
	case OPC_COUNT:
		ptx_fail(x, in->loc, DIAG_TARGET, "there is no PTX for '%s'", in->op);
		break;
	}
	x->chain = -1;
}

/* ---- results that nobody reads ---- */

/* What happens first to reg in [from, to): 1 it is read, -1 it is overwritten, 0 neither. */
static int next_use(const struct ptx *x, uint32_t from, uint32_t to, unsigned reg)
{
	for (uint32_t i = from; i < to; i++) {
		const struct insn *in = &x->p->insns[i];
		bool read = false, written = false;

		for (unsigned k = 0; k < in->nspans; k++)
			if (reg >= in->span[k].first && reg < in->span[k].first + (unsigned)in->span[k].n) {
				written |= in->role[k] == ROLE_DST;
				read |= in->role[k] != ROLE_DST;
			}
		if (read || written)
			return read ? 1 : -1;
	}
	return 0;
}

void ptx_use(struct ptx *x, uint32_t i)
{
	const struct insn *in = &x->p->insns[i];
	const struct loop *l = x->loop >= 0 ? &x->p->loops[x->loop] : NULL;
	char text[24];
	const char *guard = ptx_guard(x, ptx_waves(x, in), text, sizeof(text));

	if (!l || (in->flags & INSN_EDGE_ONLY))
		return;
	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first; in->role[k] == ROLE_DST && r < in->span[k].first + (unsigned)in->span[k].n && r < 256; r++) {
			int next = next_use(x, i + 1, l->end, r);

			if (next == 0)
				next = next_use(x, l->begin, i, r);
			if (next <= 0)
				strbuf_add(&x->body, "\t%sadd.u32 %%x%u, %%x%u, %%v%u;\n", guard, r % PTX_SCRATCH, r % PTX_SCRATCH, r);
		}
}
