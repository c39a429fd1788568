/* From a program for sm_90 to the PTX of a complete kernel. What it looks like and why: docs/sm_90.md. */
#include "emit_ptx.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ptx_fail(struct ptx *x, struct loc loc, enum diag_code code, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!x->failed)
		diag_add(x->d, loc, code, "%s", text);
	x->failed = true;
}

/* ---- what can be emitted ---- */

static struct loc origin(const struct program *p)
{
	return p->insns[0].loc;
}

static bool check_shape(struct ptx *x)
{
	const struct program *p = x->p;
	const struct gemm_shape *g = p->gemm;

	if (g && (g->m % g->tile_m || g->n % g->tile_n)) {
		ptx_fail(x, origin(p), DIAG_SHAPE, "a product of %" PRId64 " x %" PRId64 " is no whole number of tiles of %u x %u", g->m, g->n,
			 g->tile_m, g->tile_n);
		return false;
	}
	if (g && g->scaled) {
		ptx_fail(x, origin(p), DIAG_TARGET, "block scales can't be emitted for %s", p->target->name);
		return false;
	}
	if (p->workgroups > INT32_MAX || p->nglobals > PTX_MAX_STREAMS || p->nglobals + 1 > EMIT_MAX_ARGS) {
		ptx_fail(x, origin(p), DIAG_LIMIT, "%" PRIu64 " workgroups and %zu globals: at most %d and %d can be emitted", p->workgroups,
			 p->nglobals, INT32_MAX, EMIT_MAX_ARGS - 1);
		return false;
	}
	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].parent >= 0 || p->loops[l].trips > UINT32_MAX) {
			ptx_fail(x, origin(p), DIAG_LIMIT, "loops in loops, or of more than %u trips, can't be emitted", UINT32_MAX);
			return false;
		}
	return true;
}

static bool find_registers(struct ptx *x)
{
	for (size_t i = 0; i < x->p->ninsns; i++) {
		const struct insn *in = &x->p->insns[i];

		for (unsigned k = 0; k < in->nspans; k++) {
			if (in->role[k] == ROLE_ADDR || in->span[k].first >= REG_SGPR)
				continue;
			if (in->span[k].first + (unsigned)in->span[k].n > 256) {
				ptx_fail(x, in->loc, DIAG_REG_CAP, "'%s' names a register that no thread has", in->op);
				return false;
			}
			for (unsigned r = in->span[k].first; r < in->span[k].first + (unsigned)in->span[k].n; r++)
				x->used[r] = true;
		}
	}
	return true;
}

/* ---- arguments ---- */

static int add_arg(struct ptx *x, enum emit_arg_kind kind, const char *name, uint64_t bytes, bool output, int global)
{
	struct kernel_text *k = x->out;

	k->arg[k->nargs] = (struct emit_arg){ .kind = kind, .name = name, .bytes = bytes, .output = output, .global = global };
	return (int)k->nargs++;
}

static void gemm_layout(struct ptx *x)
{
	const struct gemm_shape *g = x->p->gemm;
	const struct target *t = x->p->target;

	x->out->layout = (struct verify_layout){
		.m = g->m, .n = g->n, .k = g->k, .a = numfmt_of(t, g->type_a), .b = numfmt_of(t, g->type_b), .c = numfmt_of(t, g->type_out),
		.lda_bytes = (size_t)g->k * dtype_bits(g->type_a) / 8, .ldb_bytes = (size_t)g->k * dtype_bits(g->type_b) / 8,
		.ldc_bytes = (size_t)g->n * dtype_bits(g->type_out) / 8,
	};
}

static void list_args(struct ptx *x)
{
	static const enum emit_arg_kind kind[3] = { EARG_A, EARG_B, EARG_C };
	const struct program *p = x->p;
	uint64_t stamps = x->o->stamps ? 2 : 0;

	for (size_t g = 0; g < p->nglobals; g++) {
		bool operand = p->gemm && g < 3;

		x->arg_global[g] = add_arg(x, operand ? kind[g] : EARG_GLOBAL, p->globals[g].name, p->globals[g].bytes, p->globals[g].output,
					   operand ? -1 : (int)g);
	}
	x->arg_c = 2;
	x->arg_stamps = -1;
	if (stamps || !p->nglobals) /* a kernel needs one address at least */
		x->arg_stamps = add_arg(x, EARG_STAMPS, "stamps", stamps ? p->workgroups * p->waves * stamps * 8 : 256, true, -1);
	x->out->stamps = (unsigned)stamps;
	if (stamps) {
		x->out->stamp_stage = xcalloc(2, sizeof(*x->out->stamp_stage));
		x->out->stamp_stage[0] = "loop-begin";
		x->out->stamp_stage[1] = "loop-end";
	}
}

/* ---- the program ---- */

static int loop_at(const struct program *p, uint32_t i)
{
	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].begin == i)
			return (int)l;
	return -1;
}

static bool is_main(const struct program *p, int loop)
{
	for (unsigned g = 0; g < p->groups; g++)
		if (p->main_loop[g] == loop)
			return true;
	return false;
}

static void stamp(struct ptx *x, unsigned i)
{
	if (x->out->stamps)
		strbuf_add(&x->body, "\tmov.u64 %%clk%u, %%clock64;\n", i);
}

/*
 * Jumps to every label of the loop stand in front of it. They are never taken, but the assembler can't know that:
 * each label begins a basic block, over whose borders it moves no instruction.
 */
static void loop_begin(struct ptx *x, int loop)
{
	const struct loop *l = &x->p->loops[loop];
	uint32_t waves = 0;
	unsigned n = x->labels[loop];
	char text[24];

	for (unsigned w = 0; w < x->p->waves; w++)
		if (l->groups >> (w / (x->p->waves / x->p->groups)) & 1)
			waves |= UINT32_C(1) << w;
	if (ptx_guard(x, waves, text, sizeof(text))[0])
		strbuf_add(&x->body, "\t@!%s bra E%d;\n", text + 1, loop);
	if (x->p->gemm && x->pos)
		ptx_pointers_move(x, -x->pos);
	x->pos = 0;
	x->loop = loop;
	x->nlabels = 0;
	x->matrix = x->memory = false;
	x->moved = false;
	ptx_slots_begin(x, l);
	strbuf_add(&x->body, "\tmov.u32 %%i, 0;\n");
	if (is_main(x->p, loop))
		stamp(x, 0);
	if (n) {
		strbuf_add(&x->body, "T%d: .branchtargets L%d_0", loop, loop);
		for (unsigned i = 1; i <= n; i++)
			strbuf_add(&x->body, ", L%d_%u", loop, i);
		strbuf_add(&x->body, ";\n\tbrx.idx %%opaque, T%d;\n", loop);
	}
	strbuf_add(&x->body, "L%d_0:\n\t.pragma \"nounroll\";\n", loop);
}

static void loop_end(struct ptx *x, int loop)
{
	const struct loop *l = &x->p->loops[loop];

	ptx_slots_turn(x, l);
	strbuf_add(&x->body, "\t@%%pl bra L%d_0;\n", loop);
	if (is_main(x->p, loop))
		stamp(x, 1);
	strbuf_add(&x->body, "E%d:\n", loop);
	x->pos = (int64_t)l->trips * l->steps;
	if (!x->moved)
		x->pos = 0;
	x->labels[loop] = x->nlabels;
	x->loop = -1;
	x->nslots = 0;
}

static void write_body(struct ptx *x)
{
	const struct program *p = x->p;
	int32_t stage = -1;

	x->pos = 0;
	x->stored = false;
	x->loop = -1;
	x->scratch = 0;
	x->chain = -1;
	x->region = x->nregions = 0;
	for (size_t g = 0; g < PTX_MAX_STREAMS; g++)
		x->stream[g].used = 0;
	if (!p->nloops)
		stamp(x, 0);
	for (uint32_t i = 0; i < p->ninsns && !x->failed; i++) {
		const struct insn *in = &p->insns[i];
		int l = loop_at(p, i);

		if (l >= 0)
			loop_begin(x, l);
		if (in->stage != stage && in->stage >= 0)
			strbuf_add(&x->body, "\t// %s\n", p->stages[in->stage].name);
		stage = in->stage;
		ptx_region(x, i);
		ptx_insn(x, in);
		if (!p->gemm && (in->cls == OPC_LDS_READ || in->cls == OPC_VMEM_LOAD))
			ptx_use(x, i);
		if (in->cls == OPC_BRANCH && in->loop >= 0)
			loop_end(x, in->loop);
	}
	if (!p->nloops)
		stamp(x, 1);
}

static void write_stamps(struct ptx *x)
{
	struct strbuf *s = &x->body;

	if (!x->out->stamps)
		return;
	strbuf_add(s, "\tld.param.u64 %%l1, [arg%d];\n\tcvta.to.global.u64 %%l1, %%l1;\n\tmad.lo.u32 %%t1, %%wg, %u, %%warp;\n"
		   "\tmul.wide.u32 %%l2, %%t1, 16;\n\tadd.s64 %%l1, %%l1, %%l2;\n\tsetp.eq.u32 %%ps, %%lane, 0;\n"
		   "\t@%%ps st.global.u64 [%%l1], %%clk0;\n\t@%%ps st.global.u64 [%%l1+8], %%clk1;\n", x->arg_stamps, x->p->waves);
}

/* ---- declarations and set-up ---- */

static void write_tables(struct ptx *x)
{
	for (size_t i = 0; i < x->ntables; i++) {
		strbuf_add(&x->head, ".const .align 4 .u32 tab%zu[%u] = {", i, x->table[i].n);
		for (unsigned k = 0; k < x->table[i].n; k++)
			strbuf_add(&x->head, "%s%" PRIu32, k ? "," : "", x->table[i].word[k]);
		strbuf_add(&x->head, "};\n");
	}
}

static void write_head(struct ptx *x)
{
	struct strbuf *s = &x->head;

	strbuf_add(s, "// %s for %s\n.version 8.0\n.target sm_90\n.address_size 64\n\n", x->p->name, x->p->target->name);
	strbuf_add(s, ".extern .shared .align 128 .b8 shared_memory[];\n");
	write_tables(x);
	strbuf_add(s, "\n.visible .entry %s(", x->out->kernel);
	for (size_t i = 0; i < x->out->nargs; i++)
		strbuf_add(s, "%s\n\t.param .u64 arg%zu", i ? "," : "", i);
	strbuf_add(s, ")\n.maxntid %u, 1, 1\n.minnctapersm 1\n{\n\t.reg .b32 %%v<256>;\n\t.reg .b32 %%x<%u>;\n\t.reg .b32 %%t<4>;\n"
		   "\t.reg .b32 %%lane, %%warp, %%wg, %%tm, %%tn, %%opaque, %%i, %%at;\n\t.reg .b64 %%l<3>;\n\t.reg .b64 %%cp;\n"
		   "\t.reg .b64 %%clk<2>;\n\t.reg .pred %%pl, %%ps;\n", x->out->block[0], PTX_SCRATCH);
	strbuf_add(s, "\t.reg .b32 %%sa<%zu>;\n\t.reg .b64 %%gp<%zu>;\n\t.reg .b32 %%sl<%zu>;\n\t.reg .pred %%pgrp<%zu>;\n\n", x->naddresses + 1,
		   x->npointers + 1, x->max_slots + 1, x->nmasks + 1);
}

/* Values for the registers and shared memory of a kernel that multiplies nothing real: finite, and not known beforehand. */
static void write_generic_data(struct ptx *x)
{
	struct strbuf *s = &x->setup;
	unsigned threads = x->out->block[0];

	strbuf_add(s, "\tmov.u32 %%t1, %%tid.x;\n\tmad.lo.u32 %%t2, %%t1, 1664525, 1013904223;\n");
	for (unsigned r = 0; r < 256; r++)
		if (x->used[r])
			strbuf_add(s, "\tmad.lo.u32 %%t2, %%t2, 1664525, %u;\n\tand.b32 %%v%u, %%t2, 0x03ff03ff;\n\tor.b32 %%v%u, %%v%u, 0x38003800;\n",
				   2 * r + 1, r, r, r);
	for (unsigned r = 0; r < PTX_SCRATCH; r++)
		strbuf_add(s, "\tmad.lo.u32 %%x%u, %%t1, %u, %u;\n", r, 2 * r + 3, r);
	if (!x->p->lds_bytes)
		return;
	strbuf_add(s, "\tmov.u32 %%t3, shared_memory;\n\tshl.b32 %%t1, %%t1, 2;\nFILL:\n\tsetp.ge.u32 %%ps, %%t1, %" PRIu32 ";\n\t@%%ps bra FILLED;\n"
		   "\tadd.u32 %%at, %%t3, %%t1;\n\tand.b32 %%t2, %%t1, 0x03ff03ff;\n\tor.b32 %%t2, %%t2, 0x38003800;\n"
		   "\tst.shared.b32 [%%at], %%t2;\n\tadd.u32 %%t1, %%t1, %u;\n\tbra FILL;\nFILLED:\n\tbar.sync 0;\n", x->p->lds_bytes, 4 * threads);
}

static void write_setup(struct ptx *x)
{
	struct strbuf *s = &x->setup;
	const struct gemm_shape *g = x->p->gemm;

	strbuf_add(s, "\tmov.u32 %%t1, %%tid.x;\n\tand.b32 %%lane, %%t1, 31;\n\tshr.u32 %%t1, %%t1, 5;\n"
		   "\tshfl.sync.idx.b32 %%warp, %%t1, 0, 31, -1;\n\tmov.u32 %%wg, %%ctaid.x;\n");
	/* 0, as buffers begin at multiples of 256 bytes and addresses have fewer bits; the assembler knows neither */
	strbuf_add(s, "\tld.param.u64 %%l1, [arg0];\n\tshr.u64 %%l2, %%l1, 57;\n\tcvt.u32.u64 %%opaque, %%l2;\n\tshl.b32 %%opaque, %%opaque, 8;\n"
		   "\tcvt.u32.u64 %%t1, %%l1;\n\tand.b32 %%t1, %%t1, 255;\n\tor.b32 %%opaque, %%opaque, %%t1;\n");
	if (g)
		strbuf_add(s, "\trem.u32 %%tm, %%wg, %u;\n\tdiv.u32 %%tn, %%wg, %u;\n", (unsigned)(g->m / g->tile_m),
			   (unsigned)(g->m / g->tile_m));
	ptx_addresses(x);
	if (!g) {
		write_generic_data(x);
		return;
	}
	for (unsigned r = 0; r < 256; r++)
		if (x->used[r] && r < x->p->vgpr)
			strbuf_add(s, "\tmov.b32 %%v%u, 0;\n", r);
}

static char *symbol(const struct program *p, const struct emit_options *o)
{
	char *s = xstrdup(o->kernel ? o->kernel : p->name[0] ? p->name : "kernel");

	for (char *c = s; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			*c = '_';
	if (isdigit((unsigned char)s[0]))
		s[0] = '_';
	return s;
}

static void join(struct ptx *x)
{
	struct strbuf all = { 0 };

	strbuf_addn(&all, x->head.s, x->head.len);
	strbuf_addn(&all, x->setup.s, x->setup.len);
	strbuf_addn(&all, x->body.s, x->body.len);
	strbuf_add(&all, "\tret;\n}\n");
	x->out->text = all.s;
	x->out->len = all.len;
}

static int write_all(struct ptx *x)
{
	if (!check_shape(x) || !find_registers(x))
		return -1;
	list_args(x);
	ptx_streams(x);
	x->labels = arena_alloc(x->p->arena, x->p->nloops + 1, sizeof(*x->labels));
	write_body(x); /* once to learn which addresses and labels there are */
	x->body.len = 0;
	write_body(x);
	if (x->p->gemm && !x->stored)
		ptx_store_c(x, origin(x->p));
	if (!x->p->gemm)
		ptx_keep_results(x);
	write_stamps(x);
	if (x->failed)
		return -1;
	write_setup(x);
	write_head(x);
	join(x);
	return 0;
}

int emit_ptx(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d)
{
	struct ptx *x = xcalloc(1, sizeof(*x));
	int rc;

	memset(out, 0, sizeof(*out));
	x->p = p;
	x->o = o;
	x->out = out;
	x->d = d;
	out->kernel = symbol(p, o);
	out->target = "sm_90";
	out->grid[0] = (unsigned)p->workgroups;
	out->block[0] = p->waves * 32;
	out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
	out->cluster[0] = out->cluster[1] = out->cluster[2] = 1;
	out->lds_bytes = p->lds_bytes;
	out->verifiable = p->gemm != NULL;
	if (p->gemm)
		gemm_layout(x);
	rc = write_all(x);
	strbuf_free(&x->head);
	strbuf_free(&x->setup);
	strbuf_free(&x->body);
	free(x);
	if (rc < 0)
		kernel_text_free(out);
	return rc;
}
