/*
 * AMD kernels without a GEMM: the calibration kernels. What the data are does not matter there, so registers hold
 * finite numbers, addresses are simple, and only the loop's time counts. The loop is the program, instruction by
 * instruction, but for what is said in docs/hardware.md.
 *
 * Scalar registers: s[0:1] arguments, s2 workgroup, s3 wave, s[4:7] two globals, s[8:11] buffer resource of the first,
 * s[12:13] clock in front of the loop, s[14:15] behind it and temporary until then. The schedule reserves them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "address.h"
#include "emit.h"

#define RESERVED_SGPRS 16
#define MAX_GLOBALS 2
#define MAX_FORMS 16
#define MAX_OFFSET 65535u

struct form { /* an address register: base + lane * lane_step + wave * wave_step */
	bool global, cold;
	uint32_t base, lane_step, wave_step;
	unsigned reg;
};

struct plain {
	const struct program *p;
	struct kernel_text *k;
	struct diag *d;
	struct strbuf setup, body;
	struct form form[MAX_FORMS];
	size_t nforms;
	unsigned lanes, lane_bits, v_temp, v_next, labels, arg_stamps, idle;
	bool gfx9, failed, needs_vcc;
	uint32_t cold_step; /* bytes from one cold access to the next */
	uint32_t *at;       /* [waves * lanes] */
	int loop;           /* being printed, -1 */
};

static void fail(struct plain *x, struct loc loc, enum diag_code code, const char *text, const char *op)
{
	if (!x->failed)
		diag_add(x->d, loc, code, text, op);
	x->failed = true;
}

static void put(struct strbuf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void put(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	strbuf_add(b, "\t");
	va_start(ap, fmt);
	strbuf_addv(b, fmt, ap);
	va_end(ap);
	strbuf_add(b, "\n");
}

/* ---- operands ---- */

static const char *registers(char buf[32], struct span s)
{
	char kind = s.first >= REG_SGPR ? 's' : s.first >= REG_AGPR ? 'a' : 'v';
	unsigned r = s.first - (kind == 's' ? REG_SGPR : kind == 'a' ? REG_AGPR : 0);

	if (s.n > 1)
		snprintf(buf, 32, "%c[%u:%u]", kind, r, r + s.n - 1);
	else
		snprintf(buf, 32, "%c%u", kind, r);
	return buf;
}

static const struct span *span_of(const struct insn *in, enum span_role role)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == (uint8_t)role)
			return &in->span[i];
	return NULL;
}

/* Sources of the vector mnemonics that a schedule may name. */
static const struct { const char *op; unsigned sources, regs; } arithmetic[] = {
	{ "v_add_f32", 2, 1 }, { "v_sub_f32", 2, 1 }, { "v_mul_f32", 2, 1 }, { "v_max_f32", 2, 1 }, { "v_min_f32", 2, 1 },
	{ "v_fma_f32", 3, 1 }, { "v_xor_b32", 2, 1 }, { "v_and_b32", 2, 1 }, { "v_or_b32", 2, 1 },
	{ "v_exp_f32", 1, 1 }, { "v_rcp_f32", 1, 1 }, { "v_rsq_f32", 1, 1 }, { "v_sqrt_f32", 1, 1 }, { "v_log_f32", 1, 1 },
	{ "v_sin_f32", 1, 1 }, { "v_cos_f32", 1, 1 }, { "v_pk_fma_f32", 3, 2 }, { "v_pk_mul_f32", 2, 2 }, { "v_pk_add_f32", 2, 2 },
};

static void vector(struct plain *x, const struct insn *in)
{
	const struct span *d = span_of(in, ROLE_DST), *s = span_of(in, ROLE_SRC);
	char dst[32], src[32];

	for (size_t i = 0; i < ARRAY_LEN(arithmetic); i++) {
		struct span scratch = { (uint16_t)x->v_temp, (uint16_t)arithmetic[i].regs };

		if (strcmp(arithmetic[i].op, in->op) != 0)
			continue;
		registers(dst, d ? *d : scratch);
		registers(src, s ? *s : d ? *d : scratch);
		strbuf_add(&x->body, "\t%s %s", in->op, dst);
		for (unsigned k = 0; k < arithmetic[i].sources; k++)
			strbuf_add(&x->body, ", %s", src);
		strbuf_add(&x->body, "\n");
		return;
	}
	fail(x, in->loc, DIAG_TARGET, "'%s' is not among the instructions that a kernel without a GEMM can have", in->op);
}

static void matrix(struct plain *x, const struct insn *in)
{
	const struct span *d = span_of(in, ROLE_DST), *a = span_of(in, ROLE_A), *b = span_of(in, ROLE_B), *c = span_of(in, ROLE_C);
	char t[4][32];

	if (!d || !a || !b || in->matrix->kind == MK_MFMA_SCALE || in->matrix->kind == MK_WMMA_SCALE ||
	    in->matrix->kind == MK_SMFMAC || in->matrix->kind == MK_SWMMAC) {
		fail(x, in->loc, DIAG_TARGET, "'%s' can't be emitted in a kernel without a GEMM", in->op);
		return;
	}
	put(&x->body, "%s %s, %s, %s, %s", in->op, registers(t[0], *d), registers(t[1], *a), registers(t[2], *b),
	    registers(t[3], c ? *c : *d));
}

/* ---- addresses ---- */

static unsigned form_reg(struct plain *x, struct form f, uint32_t *offset, uint32_t most)
{
	for (size_t i = 0; i < x->nforms; i++) {
		struct form *o = &x->form[i];

		if (o->global != f.global || o->cold != f.cold || o->lane_step != f.lane_step || o->wave_step != f.wave_step ||
		    f.base < o->base || f.base - o->base > most)
			continue;
		*offset = f.base - o->base;
		return o->reg;
	}
	if (x->nforms == MAX_FORMS)
		return UINT32_MAX;
	f.reg = x->v_next++;
	x->form[x->nforms++] = f;
	*offset = 0;
	return f.reg;
}

/* The register and offset of an LDS access whose lanes and waves lie at equal distances. */
static bool lds_address(struct plain *x, const struct insn *in, unsigned *reg, uint32_t *offset)
{
	uint32_t waves = address_waves(x->p, in), most, first = UINT32_MAX, second = UINT32_MAX;
	struct form f = { 0 };

	if (!address_table(x->p, in, x->at, &most))
		return false;
	for (uint32_t w = 0; w < x->p->waves; w++)
		if (waves >> w & 1) {
			second = first != UINT32_MAX && second == UINT32_MAX ? w : second;
			first = first == UINT32_MAX ? w : first;
		}
	if (first == UINT32_MAX)
		return false;
	f.lane_step = x->at[first * x->lanes + 1] - x->at[first * x->lanes];
	f.wave_step = second != UINT32_MAX ? (x->at[second * x->lanes] - x->at[first * x->lanes]) / (second - first) : 0;
	f.base = x->at[first * x->lanes] - first * f.wave_step;
	for (uint32_t w = 0; w < x->p->waves; w++)
		for (uint32_t l = 0; l < x->lanes && waves >> w & 1; l++)
			if (x->at[w * x->lanes + l] != f.base + w * f.wave_step + l * f.lane_step)
				return false;
	*reg = form_reg(x, f, offset, MAX_OFFSET);
	return *reg != UINT32_MAX;
}

static void lds(struct plain *x, const struct insn *in)
{
	const struct span *v = span_of(in, in->lds->write ? ROLE_DATA : ROLE_DST);
	uint32_t offset;
	unsigned reg;
	char t[32];

	if (!v || !lds_address(x, in, &reg, &offset)) {
		fail(x, in->loc, DIAG_TARGET, "the addresses of this '%s' are not in equal steps of lanes and waves", in->op);
		return;
	}
	if (in->lds->write)
		put(&x->body, "%s v%u, %s offset:%u", in->op, reg, registers(t, *v), offset);
	else
		put(&x->body, "%s %s, v%u offset:%u", in->op, registers(t, *v), reg, offset);
}

static int global_of(const struct plain *x, const struct insn *in)
{
	int g = in->access >= 0 ? x->p->access[in->access].global : -1;

	return g >= 0 && g < MAX_GLOBALS ? g : 0;
}

/* Neighbouring lanes and waves side by side; a cold access moves on to memory that nothing touched. */
static bool global_address(struct plain *x, const struct insn *in, unsigned *reg)
{
	uint32_t width = in->vmem->width_bytes, unused;
	struct form f = { .global = true, .cold = in->flags & INSN_COLD, .lane_step = width, .wave_step = width * x->lanes };

	if (x->p->nglobals == 0) {
		fail(x, in->loc, DIAG_SHAPE, "'%s' needs a <global>: a kernel without a GEMM has no other memory", in->op);
		return false;
	}
	*reg = form_reg(x, f, &unused, 0);
	if (f.cold && x->cold_step && *reg != UINT32_MAX)
		put(&x->body, x->gfx9 ? "v_add_u32 v%u, 0x%x, v%u" : "v_add_nc_u32 v%u, 0x%x, v%u", *reg, x->cold_step, *reg);
	if (*reg == UINT32_MAX)
		fail(x, in->loc, DIAG_LIMIT, "'%s': too many kinds of addresses in one kernel", in->op);
	return *reg != UINT32_MAX;
}

static void vmem(struct plain *x, const struct insn *in)
{
	bool store = in->vmem->kind == VM_STORE, buffer = strncmp(in->op, "buffer_", 7) == 0;
	const struct span *v = span_of(in, store ? ROLE_DATA : ROLE_DST);
	const char *scope = store ? "" : x->gfx9 ? " sc1" : " scope:SCOPE_DEV"; /* past the first cache: L2 is meant */
	unsigned reg, base = 4 + 2 * (unsigned)global_of(x, in);
	char t[32], address[64];

	if (!global_address(x, in, &reg))
		return;
	if (in->vmem->kind == VM_LDS) {
		if (buffer)
			put(&x->body, "%.*s v%u, s[8:11], 0 offen%s lds", (int)strcspn(in->op, " "), in->op, reg, scope);
		else if (x->gfx9)
			put(&x->body, "%s v%u, s[%u:%u]%s", in->op, reg, base, base + 1, scope);
		else /* the data land where their offset in memory says, in the first 16 KiB */
			put(&x->body, "%s v%u, v%u, s[%u:%u]%s", in->op, reg, reg, base, base + 1, scope);
		return;
	}
	if (!v) {
		fail(x, in->loc, DIAG_SHAPE, "'%s' names no registers", in->op);
		return;
	}
	if (buffer)
		snprintf(address, sizeof(address), "v%u, s[8:11], %s offen", reg, x->gfx9 ? "0" : "null");
	else if (store)
		snprintf(address, sizeof(address), "v%u, %s, s[%u:%u]", reg, registers(t, *v), base, base + 1);
	else
		snprintf(address, sizeof(address), "v%u, s[%u:%u]", reg, base, base + 1);
	if (store && !buffer)
		put(&x->body, "%s %s%s", in->op, address, scope);
	else
		put(&x->body, "%s %s, %s%s", in->op, registers(t, *v), address, scope);
}

/* ---- the other instructions ---- */

static void waits(struct plain *x, const struct insn *in)
{
	if (!x->gfx9) {
		put(&x->body, "%s 0x%x", in->op, in->wait[0].value);
		return;
	}
	strbuf_add(&x->body, "\ts_waitcnt");
	for (unsigned i = 0; i < in->nwait; i++)
		strbuf_add(&x->body, " %scnt(%u)", counter_name((enum counter)in->wait[i].counter), in->wait[i].value);
	strbuf_add(&x->body, "\n");
}

static void barrier(struct plain *x, const struct insn *in)
{
	if (in->barrier != BAR_WORKGROUP)
		fail(x, in->loc, DIAG_TARGET, "'%s': only barriers of the workgroup can be emitted here", in->op);
	else if (x->gfx9)
		put(&x->body, "s_barrier");
	else if (in->cls == OPC_BARRIER)
		put(&x->body, "s_barrier_signal -1\n\ts_barrier_wait -1");
	else
		put(&x->body, "%s -1", in->cls == OPC_SIGNAL ? "s_barrier_signal" : "s_barrier_wait");
}

static void scalar(struct plain *x, const struct insn *in)
{
	const struct span *d = span_of(in, ROLE_DST);
	bool counts = in->flags & INSN_IMPLIED && x->loop >= 0;
	unsigned counter = d && d->first >= REG_SGPR ? d->first - REG_SGPR : 0;

	if (counts && strncmp(in->op, "s_add", 5) == 0) {
		put(&x->body, "%s s%u, s%u, 1", in->op, counter, counter);
	} else if (counts && strncmp(in->op, "s_cmp", 5) == 0) {
		const struct span *s = span_of(in, ROLE_SRC);

		put(&x->body, "%s s%u, 0x%" PRIx64, in->op, s ? (unsigned)s->first - REG_SGPR : counter, x->p->loops[x->loop].trips);
	} else if (strcmp(in->op, "s_mov_b32") == 0 && d && d->first == REG_M0) {
		put(&x->body, "s_mov_b32 m0, s15");
	} else {
		/* Without operands of its own; SCC belongs to the loop. Two registers take turns: no one waits for a result. */
		unsigned r = 2 + x->idle++ % 2;

		put(&x->body, "s_mov_b32 s%u, s%u", r, r);
	}
}

static void one(struct plain *x, const struct insn *in)
{
	switch (in->cls) {
	case OPC_VALU: case OPC_TRANS: case OPC_PACKED: vector(x, in); break;
	case OPC_MATRIX: matrix(x, in); break;
	case OPC_SALU: scalar(x, in); break;
	case OPC_SMEM: put(&x->body, "%s s[14:15], s[0:1], 0x0", in->op); break;
	case OPC_LDS_READ: case OPC_LDS_WRITE: lds(x, in); break;
	case OPC_VMEM_LOAD: case OPC_VMEM_STORE: case OPC_VMEM_LDS: vmem(x, in); break;
	case OPC_BARRIER: case OPC_SIGNAL: case OPC_AWAIT: barrier(x, in); break;
	case OPC_WAIT: waits(x, in); break;
	case OPC_SETPRIO: put(&x->body, "s_setprio %u", in->imm); break;
	case OPC_SLEEP: put(&x->body, "s_sleep %u", in->imm); break;
	case OPC_NOP: put(&x->body, "%s%s", in->op, ""); break;
	case OPC_MODE: put(&x->body, "s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 0, 2), %u", in->imm); break;
	case OPC_BRANCH: case OPC_END: break;
	default: fail(x, in->loc, DIAG_TARGET, "'%s' can't be emitted in a kernel without a GEMM", in->op); break;
	}
}

static void nop(struct plain *x, const struct insn *in)
{
	/* imm counts wait states; an s_nop has 16 at most, gfx1250's v_nop one. */
	for (unsigned left = in->imm ? in->imm : 1; left > 0 && strcmp(in->op, "v_nop") != 0;) {
		unsigned n = left < 16 ? left : 16;

		put(&x->body, "s_nop %u", n - 1);
		left -= n;
	}
	if (strcmp(in->op, "v_nop") == 0)
		put(&x->body, "v_nop");
}

static void clock_to(struct plain *x, unsigned sgpr)
{
	put(&x->body, "%s s[%u:%u]", x->gfx9 ? "s_memtime" : "s_get_shader_cycles_u64", sgpr, sgpr + 1);
	put(&x->body, x->gfx9 ? "s_waitcnt lgkmcnt(0)" : "s_nop 0");
}

/* Runs of instructions for one group are jumped over by the other. */
static void body(struct plain *x)
{
	const struct program *p = x->p;
	unsigned all = (1u << p->groups) - 1, run = all, label = 0;

	for (uint32_t i = 0; i <= p->ninsns && !x->failed; i++) {
		const struct insn *in = i < p->ninsns ? &p->insns[i] : NULL;
		unsigned groups = in && in->cls != OPC_END && in->cls != OPC_BRANCH ? in->groups & all : all;

		if (groups != run && run != all)
			strbuf_add(&x->body, ".Lskip%u_%s:\n", label, x->k->kernel);
		for (size_t l = 0; in && l < p->nloops; l++)
			if (p->loops[l].begin == i) {
				clock_to(x, 12);
				x->loop = (int)l;
				put(&x->body, "s_mov_b32 s%u, 0", RESERVED_SGPRS);
				put(&x->body, ".p2align 6");
				strbuf_add(&x->body, ".Lloop%zu_%s:\n", l, x->k->kernel);
			}
		if (groups != run && groups != all) {
			x->needs_vcc = true; /* vcc: all ones in the waves of group B */
			label = ++x->labels;
			put(&x->body, "%s .Lskip%u_%s", groups == 1 ? "s_cbranch_vccnz" : "s_cbranch_vccz", label, x->k->kernel);
		}
		run = groups;
		if (!in || in->flags & INSN_EDGE_ONLY)
			continue;
		for (unsigned n = 0, times = in && in->repeat ? in->repeat : 1; n < times; n++) {
			if (in->cls == OPC_NOP)
				nop(x, in);
			else
				one(x, in);
		}
		if (in->cls == OPC_BRANCH) {
			put(&x->body, "s_cbranch_scc1 .Lloop%d_%s", in->loop, x->k->kernel);
			clock_to(x, 14);
			x->loop = -1;
		}
	}
}

/* ---- in front of and behind the program ---- */

static void launch(struct plain *x, const struct emit_options *o)
{
	const struct program *p = x->p;
	struct kernel_text *k = x->k;

	k->kernel = xstrdup(o->kernel ? o->kernel : p->name);
	for (char *c = k->kernel; *c; c++)
		if (*c == '-' || *c == '.')
			*c = '_';
	k->target = p->target->name;
	k->grid[0] = (unsigned)p->workgroups;
	k->grid[1] = k->grid[2] = k->block[1] = k->block[2] = 1;
	k->block[0] = p->waves * x->lanes;
	k->cluster[0] = k->cluster[1] = k->cluster[2] = 1;
	for (size_t i = 0; i < p->nglobals; i++)
		k->arg[k->nargs++] = (struct emit_arg){ .kind = EARG_GLOBAL, .name = p->globals[i].name, .bytes = p->globals[i].bytes,
							.output = p->globals[i].output, .global = (int)i };
	x->arg_stamps = (unsigned)k->nargs;
	k->arg[k->nargs++] = (struct emit_arg){ .kind = EARG_STAMPS, .name = "stamps", .bytes = p->workgroups * p->waves * 16,
						.output = true, .global = -1 };
	if (o->stamps) {
		k->stamps = 2;
		k->stamp_stage = xcalloc(2, sizeof(*k->stamp_stage));
		k->stamp_stage[0] = "loop-begin";
		k->stamp_stage[1] = "loop-end";
	}
}

static void set_up(struct plain *x)
{
	const struct program *p = x->p;
	struct strbuf *s = &x->setup;
	const char *load = x->gfx9 ? "s_load_dwordx2" : "s_load_b64", *add = x->gfx9 ? "v_add_u32" : "v_add_nc_u32";
	unsigned tid = x->v_temp, wave = x->v_temp + 1;

	put(s, "v_and_b32 v%u, 0x3ff, v0", tid);
	put(s, "v_lshrrev_b32 v%u, %u, v%u", wave, x->lane_bits, tid);
	put(s, x->gfx9 ? "s_nop 3" : "v_nop");
	put(s, "v_readfirstlane_b32 s3, v%u", wave);
	put(s, "v_and_b32 v%u, %u, v%u", tid, x->lanes - 1, tid);
	if (!x->gfx9)
		put(s, "s_mov_b32 s2, ttmp9");
	for (size_t g = 0; g < p->nglobals; g++)
		put(s, "%s s[%zu:%zu], s[0:1], 0x%zx", load, 4 + 2 * g, 5 + 2 * g, 8 * g);
	put(s, x->gfx9 ? "s_waitcnt lgkmcnt(0)" : "s_wait_kmcnt 0x0");
	put(s, "s_mov_b32 s8, s4\n\ts_and_b32 s9, s5, 0xffff\n\ts_mov_b32 s10, -1\n\ts_mov_b32 s11, 0x27000");
	if (x->needs_vcc) {
		put(s, "s_cmp_ge_u32 s3, %u", p->waves / p->groups);
		put(s, x->gfx9 ? "s_cselect_b64 vcc, -1, 0" : "s_cselect_b32 vcc_lo, -1, 0");
	}
	put(s, "s_mul_i32 s15, s3, 0x%x", 16 * x->lanes); /* a copy's place in LDS */
	/* Finite in every format that is multiplied, and not all the same. */
	for (unsigned v = 0; v < p->vgpr; v++)
		put(s, "%s v%u, 0x%x, v%u", add, v, 0x38003800 + v * 0x00100010, tid);
	for (unsigned a = 0; a < p->agpr; a++)
		put(s, "v_accvgpr_write_b32 a%u, v%u", a, tid);
	for (size_t i = 0; i < x->nforms; i++) {
		const struct form *f = &x->form[i];

		put(s, "v_mul_u32_u24 v%u, 0x%x, v%u", f->reg, f->lane_step, tid);
		put(s, "s_mul_i32 s14, s3, 0x%x", f->wave_step);
		put(s, x->gfx9 ? "s_add_u32 s14, s14, 0x%x" : "s_add_co_u32 s14, s14, 0x%x", f->base);
		put(s, "%s v%u, s14, v%u", add, f->reg, f->reg);
	}
	put(s, x->gfx9 ? "s_nop 7" : "v_nop");
}

static void store_stamps(struct plain *x)
{
	struct strbuf *s = &x->body;
	const char *add = x->gfx9 ? "s_add_u32" : "s_add_co_u32";
	unsigned v = x->v_temp;

	put(s, x->gfx9 ? "s_waitcnt vmcnt(0) lgkmcnt(0)" : "s_wait_kmcnt 0x0");
	put(s, "s_mul_i32 s2, s2, %u", x->p->waves);
	put(s, "%s s2, s2, s3", add);
	put(s, "s_lshl_b32 s2, s2, 4");
	put(s, "%s s[4:5], s[0:1], 0x%x", x->gfx9 ? "s_load_dwordx2" : "s_load_b64", 8 * x->arg_stamps);
	put(s, x->gfx9 ? "s_waitcnt lgkmcnt(0)" : "s_wait_kmcnt 0x0");
	put(s, x->gfx9 ? "s_mov_b64 exec, 1" : "s_mov_b32 exec_lo, 1");
	for (unsigned i = 0; i < 4; i++)
		put(s, "v_mov_b32 v%u, s%u", v + i, 12 + i);
	put(s, "v_mov_b32 v%u, s2", v + 4);
	put(s, "%s v%u, v[%u:%u], s[4:5]", x->gfx9 ? "global_store_dwordx4" : "global_store_b128", v + 4, v, v + 3);
}

static void print_text(struct plain *x)
{
	const struct program *p = x->p;
	const struct kernel_text *k = x->k;
	const char *n = k->kernel;
	unsigned vgpr = x->v_next, next = p->agpr ? (vgpr + 3) / 4 * 4 + p->agpr : vgpr, sgpr = (p->sgpr > 32 ? p->sgpr : 32) + 1;
	struct strbuf t = { 0 };

	strbuf_add(&t, "; %s for %s: no GEMM, for its time alone\n\t.amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n"
		   "\t.amdhsa_code_object_version 5\n\t.text\n\t.globl %s\n\t.p2align 8\n\t.type %s,@function\n%s:\n",
		   p->name, k->target, k->target, n, n, n);
	strbuf_addn(&t, x->setup.s, x->setup.len);
	strbuf_addn(&t, x->body.s, x->body.len);
	strbuf_add(&t, "\ts_endpgm\n.Lend_%s:\n\t.size %s, .Lend_%s-%s\n\n\t.section .rodata,\"a\",@progbits\n\t.p2align 6\n"
		   "\t.amdhsa_kernel %s\n\t\t.amdhsa_group_segment_fixed_size %u\n\t\t.amdhsa_private_segment_fixed_size 0\n"
		   "\t\t.amdhsa_kernarg_size %zu\n\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n\t\t.amdhsa_user_sgpr_count 2\n"
		   "\t\t.amdhsa_system_sgpr_workgroup_id_x 1\n\t\t.amdhsa_system_sgpr_workgroup_id_y 0\n"
		   "\t\t.amdhsa_system_sgpr_workgroup_id_z 0\n\t\t.amdhsa_system_vgpr_workitem_id 0\n\t\t.amdhsa_next_free_vgpr %u\n"
		   "\t\t.amdhsa_next_free_sgpr %u\n", n, n, n, n, n, p->lds_bytes, k->nargs * 8, next, sgpr);
	if (x->gfx9)
		strbuf_add(&t, "\t\t.amdhsa_accum_offset %u\n\t\t.amdhsa_reserve_vcc 1\n", (vgpr + 3) / 4 * 4);
	else
		strbuf_add(&t, "\t\t.amdhsa_wavefront_size32 1\n");
	strbuf_add(&t, "\t.end_amdhsa_kernel\n\n\t.amdgpu_metadata\n---\namdhsa.version:\n  - 1\n  - 2\n"
		   "amdhsa.target: amdgcn-amd-amdhsa--%s\namdhsa.kernels:\n  - .name: %s\n    .symbol: %s.kd\n    .args:\n", k->target, n, n);
	for (size_t i = 0; i < k->nargs; i++)
		strbuf_add(&t, "      - .name: %s\n        .offset: %zu\n        .size: 8\n        .value_kind: global_buffer\n"
			   "        .address_space: global\n", k->arg[i].name, i * 8);
	strbuf_add(&t, "    .kernarg_segment_size: %zu\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: %u\n"
		   "    .private_segment_fixed_size: 0\n    .max_flat_workgroup_size: %u\n    .reqd_workgroup_size:\n      - %u\n      - 1\n"
		   "      - 1\n    .wavefront_size: %u\n    .sgpr_count: %u\n    .vgpr_count: %u\n    .agpr_count: %u\n"
		   "    .sgpr_spill_count: 0\n    .vgpr_spill_count: 0\n...\n\t.end_amdgpu_metadata\n", k->nargs * 8, p->lds_bytes,
		   k->block[0], k->block[0], x->lanes, sgpr + (x->gfx9 ? 6 : 0), next, p->agpr);
	x->k->text = t.s;
	x->k->len = t.len;
}

static bool check(struct plain *x)
{
	const struct program *p = x->p;
	struct loc where = p->ninsns ? p->insns[0].loc : (struct loc){ 0 };
	uint64_t cold = 0;

	if (p->nloops != 1 || p->groups > 2)
		fail(x, where, DIAG_SHAPE, "'%s' is no GEMM: such a kernel is emitted when it has one loop and at most two groups", p->name);
	if (p->nglobals > MAX_GLOBALS || p->workgroups > INT32_MAX)
		fail(x, where, DIAG_LIMIT, "'%s': at most two globals and 2^31 workgroups can be emitted", p->name);
	for (uint32_t i = 0; i < p->ninsns; i++) {
		const struct span *d = span_of(&p->insns[i], ROLE_DST);

		cold += p->insns[i].flags & INSN_COLD ? p->insns[i].repeat + !p->insns[i].repeat : 0;
		if (d && p->insns[i].flags & INSN_IMPLIED && d->first >= REG_SGPR && d->first < REG_SGPR + RESERVED_SGPRS)
			fail(x, p->insns[i].loc, DIAG_REG_CAP, "'%s' is no GEMM: its kernel needs <reserve sgpr=\"16\"/>", p->name);
	}
	if (!x->failed && cold && p->nglobals) {
		uint64_t span = (uint64_t)p->waves * x->lanes * 16, bytes = p->globals[0].bytes;
		uint64_t loads = cold * p->loops[0].trips + 1, step = bytes > span ? (bytes - span) / loads / 256 * 256 : 0;

		x->cold_step = step <= UINT32_MAX / loads ? (uint32_t)step : UINT32_MAX / (uint32_t)loads / 256 * 256;
	}
	return !x->failed;
}

int emit_amd_plain(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d)
{
	struct plain x = { .p = p, .k = out, .d = d, .lanes = (unsigned)p->target->v.wave_size, .loop = -1 };

	memset(out, 0, sizeof(*out));
	x.gfx9 = x.lanes == 64;
	x.lane_bits = x.gfx9 ? 6 : 5;
	x.v_temp = (p->vgpr + 3) / 4 * 4; /* five: the stamps and their address */
	x.v_next = x.v_temp + 6;
	x.at = xcalloc((size_t)p->waves * x.lanes + 1, sizeof(*x.at));
	if (check(&x)) {
		launch(&x, o);
		body(&x);
		if (o->stamps)
			store_stamps(&x);
		set_up(&x);
	}
	if (!x.failed && x.v_next > 256)
		fail(&x, p->insns[0].loc, DIAG_REG_CAP, "'%s' has too many registers to be emitted without a GEMM", p->name);
	if (!x.failed)
		print_text(&x);
	else
		kernel_text_free(out);
	free(x.at);
	strbuf_free(&x.setup);
	strbuf_free(&x.body);
	return x.failed ? -1 : 0;
}
