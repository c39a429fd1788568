/* A complete kernel for an AMD target: set-up, the program, the result, descriptor and metadata. */
#include "emit_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEMPS 10

/* ---- what is known beforehand ---- */

static bool known_target(struct emit *e)
{
	const char *name = e->p->target->name;

	if (strcmp(name, "gfx942") == 0 || strcmp(name, "gfx950") == 0 || strcmp(name, "gfx1250") == 0)
		return true;
	diag_add(e->d, e->where, DIAG_TARGET, "no kernel can be emitted for %s", name);
	return false;
}

static bool check_program(struct emit *e)
{
	const struct program *p = e->p;
	const struct gemm_shape *g = p->gemm;

	if (!known_target(e))
		return false;

	if (!g) {
		diag_add(e->d, e->where, DIAG_SHAPE, "'%s' is no GEMM", p->name);
		return false;
	}
	if (g->n / g->tile_n % (g->cluster_cols ? g->cluster_cols : 1) ||
	    g->m / g->tile_m % (g->cluster_rows ? g->cluster_rows : 1)) {
		diag_add(e->d, e->where, DIAG_SHAPE, "%" PRId64 " x %" PRId64 " tiles are no whole number of clusters of %u x %u",
			 g->m / g->tile_m, g->n / g->tile_n, g->cluster_rows, g->cluster_cols);
		return false;
	}
	if (g->m % g->tile_m || g->n % g->tile_n) {
		diag_add(e->d, e->where, DIAG_SHAPE, "%" PRId64 " x %" PRId64 " is no whole number of tiles of %u x %u", g->m, g->n,
			 g->tile_m, g->tile_n);
		return false;
	}
	e->last_matrix = UINT32_MAX;
	for (uint32_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].cls == OPC_MATRIX)
			e->last_matrix = i;
	if (e->last_matrix == UINT32_MAX || p->main_loop[0] < 0) {
		diag_add(e->d, e->where, DIAG_SHAPE, "'%s' has no loop or no matrix op", p->name);
		return false;
	}
	for (size_t l = 1; l < p->nloops; l++)
		if (p->loops[l].trips * p->loops[l].steps != p->loops[0].trips * p->loops[0].steps) {
			diag_add(e->d, e->where, DIAG_SHAPE, "loops of different lengths can't be emitted");
			return false;
		}
	return true;
}

static bool touches(const struct program *p, uint32_t last, unsigned reg)
{
	for (size_t i = 0; i <= last; i++)
		for (unsigned k = 0; k < p->insns[i].nspans; k++)
			if (reg >= p->insns[i].span[k].first &&
			    reg < p->insns[i].span[k].first + p->insns[i].span[k].n)
				return true;
	return false;
}

/* Registers of set-up code: not those it fills with addresses. */
static void pick_registers(struct emit *e)
{
	const struct program *p = e->p;
	unsigned n = 0;

	for (unsigned r = 1; r < p->vgpr && n < 2; r++)
		if (e->low_insn[r] == UINT32_MAX)
			*(n++ ? &e->v_temp : &e->v_tid) = r;
	if (n < 2)
		emit_fail(e, DIAG_REG_CAP, e->where, "no vector register is left for set-up code");
	e->v_scratch = UINT32_MAX;
	for (unsigned r = p->vgpr; r-- > 0 && e->v_scratch == UINT32_MAX; )
		if (!touches(p, e->last_matrix, r))
			e->v_scratch = r;
}

static void first_counter(struct emit *e)
{
	const struct insn *in = &e->p->insns[e->p->loops[0].begin];

	for (uint32_t i = e->p->loops[0].end; i-- > e->p->loops[0].begin; ) {
		in = &e->p->insns[i];
		if (in->cls == OPC_SALU && in->nspans == 2 && in->span[0].first == REG_SCC) {
			e->counter = in->span[1].first - REG_SGPR;
			return;
		}
	}
	emit_fail(e, DIAG_SHAPE, in->loc, "the loop has no counter");
}

/* ---- set-up ---- */

static void load_pointer(struct emit *e, unsigned to, unsigned arg)
{
	put_insn(e, "%s s[%u:%u], s[%u:%u], 0x%x", e->gfx9 ? "s_load_dwordx2" : "s_load_b64", to, to + 1, e->s_args,
		 e->s_args + 1, arg * 8);
	put_insn(e, e->gfx9 ? "s_waitcnt lgkmcnt(0)" : "s_wait_kmcnt 0x0");
}

/* s_result: the workgroup's tile in C. */
static void result_setup(struct emit *e)
{
	const struct gemm_shape *g = e->p->gemm;
	unsigned out = dtype_bits(g->type_out) / 8, s = e->s_result, t = e->s_temp;
	uint64_t row = (uint64_t)g->n * out, down = row * g->tile_m;
	const char *add = e->gfx9 ? "s_add_u32" : "s_add_co_u32", *addc = e->gfx9 ? "s_addc_u32" : "s_add_co_ci_u32";

	if (down > UINT32_MAX) {
		emit_fail(e, DIAG_SHAPE, e->where, "the rows of one tile of C span more than 4 GiB");
		return;
	}
	load_pointer(e, s, 2);
	put_insn(e, "s_mul_i32 s%u, s%u, 0x%x", t, e->s_tile_y, (uint32_t)down);
	put_insn(e, "s_mul_hi_u32 s%u, s%u, 0x%x", t + 1, e->s_tile_y, (uint32_t)down);
	put_insn(e, "%s s%u, s%u, s%u", add, s, s, t);
	put_insn(e, "%s s%u, s%u, s%u", addc, s + 1, s + 1, t + 1);
	put_insn(e, "s_mul_i32 s%u, s%u, 0x%x", t, e->s_tile_x, g->tile_n * out);
	put_insn(e, "%s s%u, s%u, s%u", add, s, s, t);
	put_insn(e, "%s s%u, s%u, 0", addc, s + 1, s + 1);
	if (!e->gfx9)
		return;
	put_insn(e, "s_and_b32 s%u, s%u, 0xffff", s + 1, s + 1);
	put_insn(e, "s_mov_b32 s%u, 0x%x", s + 2, (uint32_t)(row * (g->tile_m - 1) + (uint64_t)g->tile_n * out));
	put_insn(e, "s_mov_b32 s%u, 0x20000", s + 3);
}

static void clear_accumulators(struct emit *e)
{
	for (size_t i = 0; i < e->ntiles; i++)
		for (unsigned r = e->tile[i].reg; r < e->tile[i].reg + e->tile[i].n; r++)
			put_op(e, r >= REG_AGPR ? "v_accvgpr_write_b32" : "v_mov_b32", (struct opnd[]){ op_v(r, 1), op_t("0") }, 2, NULL);
}

static void wave_number(struct emit *e)
{
	char bits[24];

	snprintf(bits, sizeof(bits), "%u", e->lane_bits);
	put_op(e, "v_and_b32", (struct opnd[]){ op_v(e->v_tid, 1), op_t("0x3ff"), op_v(0, 1) }, 3, NULL);
	if (!e->gfx9) {
		put_insn(e, "s_bfe_u32 s%u, ttmp8, 0x50019", e->s_wave);
		return;
	}
	put_op(e, "v_lshrrev_b32", (struct opnd[]){ op_v(e->v_temp, 1), op_t(bits), op_v(e->v_tid, 1) }, 3, NULL);
	if (e->gfx9)
		put_insn(e, "s_nop 3");
	put_op(e, "v_readfirstlane_b32", (struct opnd[]){ op_v(REG_SGPR + e->s_wave, 1), op_v(e->v_temp, 1) }, 2, NULL);
}

/* gfx1250: the workgroup's place comes in the trap handler's registers, in a cluster as the cluster's and that in it. */
static void tile_number(struct emit *e)
{
	const struct gemm_shape *g = e->p->gemm;
	unsigned cols = g->cluster_cols > 1 ? g->cluster_cols : 1, rows = g->cluster_rows > 1 ? g->cluster_rows : 1;

	put_insn(e, "s_mov_b32 s%u, ttmp9", e->s_tile_x);
	put_insn(e, "s_and_b32 s%u, ttmp7, 0xffff", e->s_tile_y);
	if (cols * rows == 1)
		return;
	put_insn(e, "s_mul_i32 s%u, s%u, %u", e->s_tile_x, e->s_tile_x, cols);
	put_insn(e, "s_and_b32 s%u, ttmp6, 15", e->s_temp);
	put_insn(e, "s_add_co_u32 s%u, s%u, s%u", e->s_tile_x, e->s_tile_x, e->s_temp);
	put_insn(e, "s_mul_i32 s%u, s%u, %u", e->s_tile_y, e->s_tile_y, rows);
	put_insn(e, "s_bfe_u32 s%u, ttmp6, 0x40004", e->s_temp);
	put_insn(e, "s_add_co_u32 s%u, s%u, s%u", e->s_tile_y, e->s_tile_y, e->s_temp);
}

static void print_setup(struct emit *e)
{
	e->out = &e->setup;
	wave_number(e);
	if (!e->gfx9)
		tile_number(e);
	result_setup(e);
	k_setup(e);
	tdm_setup(e);
	addresses_setup(e);
	if (e->needs_vcc) {
		put_insn(e, "s_cmp_ge_u32 s%u, %u", e->s_wave, e->p->waves / e->p->groups);
		put_insn(e, e->gfx9 ? "s_cselect_b64 vcc, -1, 0" : "s_cselect_b32 vcc_lo, -1, 0");
	}
	put_insn(e, "s_mov_b32 s%u, 0", e->s_idle);
	if (e->v_scratch != UINT32_MAX)
		put_op(e, "v_mov_b32", (struct opnd[]){ op_v(e->v_scratch, 1), op_t("0") }, 2, NULL);
	clear_accumulators(e);
	put_insn(e, e->gfx9 ? "s_nop 7" : "v_nop");
}

/* ---- the whole text ---- */

static char *symbol(const struct emit *e)
{
	char *s = xstrdup(e->o->kernel ? e->o->kernel : e->p->name && *e->p->name ? e->p->name : "kernel");

	for (char *c = s; *c; c++)
		if (!(*c == '_' || (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')))
			*c = '_';
	if (*s >= '0' && *s <= '9')
		*s = '_';
	return s;
}

static void add_arg(struct kernel_text *k, enum emit_arg_kind kind, const char *name, uint64_t bytes, bool output)
{
	k->arg[k->nargs++] = (struct emit_arg){ .kind = kind, .name = name, .bytes = bytes, .output = output, .global = -1 };
}

static void describe_launch(struct emit *e)
{
	const struct gemm_shape *g = e->p->gemm;
	struct kernel_text *k = e->k;
	struct verify_layout *l = &k->layout;

	k->kernel = symbol(e);
	k->target = e->p->target->name;
	k->block[0] = e->p->waves * e->lanes;
	k->block[1] = k->block[2] = 1;
	k->grid[0] = (unsigned)(g->n / g->tile_n);
	k->grid[1] = (unsigned)(g->m / g->tile_m);
	k->grid[2] = 1;
	k->cluster[0] = g->cluster_cols > 1 ? g->cluster_cols : 1;
	k->cluster[1] = g->cluster_rows > 1 ? g->cluster_rows : 1;
	k->cluster[2] = 1;
	add_arg(k, EARG_A, "A", (uint64_t)g->m * address_row_bytes(e->p, 0), false);
	add_arg(k, EARG_B, "B", (uint64_t)g->n * address_row_bytes(e->p, 1), false);
	add_arg(k, EARG_C, "C", (uint64_t)g->m * (uint64_t)g->n * dtype_bits(g->type_out) / 8, true);
	if (g->scaled) {
		add_arg(k, EARG_SA, "SA", (uint64_t)g->m * address_row_bytes(e->p, 2), false);
		add_arg(k, EARG_SB, "SB", (uint64_t)g->n * address_row_bytes(e->p, 3), false);
	}
	*l = (struct verify_layout){
		.scale_blocks = l->scale_blocks, .scale_rows_a = l->scale_rows_a, .scale_rows_b = l->scale_rows_b,
		.scale_map_a = l->scale_map_a, .scale_map_b = l->scale_map_b,
		.m = g->m, .n = g->n, .k = g->k, .a = numfmt_of(e->p->target, g->type_a), .b = numfmt_of(e->p->target, g->type_b),
		.c = numfmt_of(e->p->target, g->type_out), .lda_bytes = address_row_bytes(e->p, 0),
		.ldb_bytes = address_row_bytes(e->p, 1), .ldc_bytes = (size_t)g->n * dtype_bits(g->type_out) / 8,
		.scaled = g->scaled, .lds_bytes = g->scaled ? address_row_bytes(e->p, 2) : 0,
	};
	k->verifiable = true;
}

static void print_descriptor(struct emit *e, struct strbuf *out)
{
	const struct program *p = e->p;
	const char *name = e->k->kernel;
	unsigned vgpr = p->vgpr, next = p->agpr ? (vgpr + 3) / 4 * 4 + p->agpr : vgpr;

	strbuf_add(out, "\n\t.section .rodata,\"a\",@progbits\n\t.p2align 6\n\t.amdhsa_kernel %s\n", name);
	strbuf_add(out, "\t\t.amdhsa_group_segment_fixed_size %u\n\t\t.amdhsa_private_segment_fixed_size 0\n", p->lds_bytes);
	strbuf_add(out, "\t\t.amdhsa_kernarg_size %zu\n\t\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n", e->k->nargs * 8);
	strbuf_add(out, "\t\t.amdhsa_user_sgpr_count 2\n");
	strbuf_add(out, "\t\t.amdhsa_system_sgpr_workgroup_id_x 1\n\t\t.amdhsa_system_sgpr_workgroup_id_y 1\n");
	strbuf_add(out, "\t\t.amdhsa_system_sgpr_workgroup_id_z 0\n\t\t.amdhsa_system_vgpr_workitem_id 0\n");
	strbuf_add(out, "\t\t.amdhsa_next_free_vgpr %u\n\t\t.amdhsa_next_free_sgpr %u\n", next, e->most_sgpr);
	if (e->gfx9)
		strbuf_add(out, "\t\t.amdhsa_accum_offset %u\n\t\t.amdhsa_reserve_vcc 1\n", (vgpr + 3) / 4 * 4);
	else
		strbuf_add(out, "\t\t.amdhsa_wavefront_size32 1\n");
	strbuf_add(out, "\t.end_amdhsa_kernel\n");
}

static void print_metadata(struct emit *e, struct strbuf *out)
{
	const struct program *p = e->p;
	const struct kernel_text *k = e->k;

	strbuf_add(out, "\n\t.amdgpu_metadata\n---\namdhsa.version:\n  - 1\n  - 2\n");
	strbuf_add(out, "amdhsa.target: amdgcn-amd-amdhsa--%s\n", k->target);
	strbuf_add(out, "amdhsa.kernels:\n  - .name: %s\n    .symbol: %s.kd\n    .args:\n", k->kernel, k->kernel);
	for (size_t i = 0; i < k->nargs; i++)
		strbuf_add(out, "      - .name: %s\n        .offset: %zu\n        .size: 8\n        .value_kind: global_buffer\n"
			   "        .address_space: global\n        .actual_access: %s\n", k->arg[i].name, i * 8,
			   k->arg[i].output ? "write_only" : "read_only");
	strbuf_add(out, "    .kernarg_segment_size: %zu\n    .kernarg_segment_align: 8\n", k->nargs * 8);
	strbuf_add(out, "    .group_segment_fixed_size: %u\n    .private_segment_fixed_size: 0\n", p->lds_bytes);
	strbuf_add(out, "    .max_flat_workgroup_size: %u\n    .reqd_workgroup_size:\n      - %u\n      - 1\n      - 1\n",
		   k->block[0], k->block[0]);
	if (k->cluster[0] * k->cluster[1] > 1)
		strbuf_add(out, "    .cluster_dims:\n      - %u\n      - %u\n      - 1\n", k->cluster[0], k->cluster[1]);
	strbuf_add(out, "    .wavefront_size: %u\n    .sgpr_count: %u\n    .vgpr_count: %u\n    .agpr_count: %u\n", e->lanes,
		   e->most_sgpr + (e->gfx9 ? 6 : 0), p->agpr ? (p->vgpr + 3) / 4 * 4 + p->agpr : p->vgpr, p->agpr);
	strbuf_add(out, "    .sgpr_spill_count: 0\n    .vgpr_spill_count: 0\n...\n\t.end_amdgpu_metadata\n");
}

static void print_product(struct emit *e, struct strbuf *t)
{
	const struct gemm_shape *g = e->p->gemm;

	strbuf_add(t, "; %s for %s: C[%" PRId64 "][%" PRId64 "] = A[%" PRId64 "][%" PRId64 "] B[%" PRId64 "][%" PRId64 "]^T\n",
		   e->p->name, e->k->target, g->m, g->n, g->m, g->k, g->n, g->k);
	strbuf_add(t, "; a = %s, b = %s, accumulated in %s, out = %s; launch %u x %u workgroups of %u threads\n",
		   dtype_name(g->type_a), dtype_name(g->type_b), dtype_name(g->type_acc), dtype_name(g->type_out),
		   e->k->grid[0], e->k->grid[1], e->k->block[0]);
}

static void print_text(struct emit *e)
{
	struct strbuf t = { 0 };
	const char *name = e->k->kernel;

	print_product(e, &t);
	strbuf_add(&t, "; The loop is the lowered program, instruction by instruction. Set-up code in front of it, branches\n"
		   "; around runs that only some waves execute, and the result's code behind the last matrix op are the\n"
		   "; emitter's.\n");
	strbuf_add(&t, "\t.amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n\t.amdhsa_code_object_version 5\n\t.text\n", e->k->target);
	strbuf_add(&t, "\t.globl %s\n\t.p2align 8\n\t.type %s,@function\n%s:\n\t; stage set-up\n", name, name, name);
	strbuf_addn(&t, e->setup.s, e->setup.len);
	strbuf_addn(&t, e->body.s, e->body.len);
	strbuf_add(&t, ".Lend_%s:\n\t.size %s, .Lend_%s-%s\n", name, name, name, name);
	print_descriptor(e, &t);
	print_metadata(e, &t);
	e->k->text = t.s;
	e->k->len = t.len;
}

/* Scalar registers that have a fixed place. */
static void fixed_scalars(struct emit *e)
{
	e->sgpr_end = e->gfx9 ? 102 : 106;
	for (unsigned i = 0; i < 4; i++)
		e->sgpr_used[i] = true;
	e->s_args = 0;
	e->s_tile_x = 2;
	e->s_tile_y = 3;
	for (unsigned i = 0; i < e->ncounters; i++)
		e->sgpr_used[e->counter + i] = true;
	e->most_sgpr = e->counter + e->ncounters;
	e->s_result = sgpr_take(e, 4, 4);
	e->s_temp = sgpr_take(e, e->gfx9 ? 8 : TEMPS, 2);
	e->s_wave = sgpr_take(e, 1, 1);
	e->s_idle = sgpr_take(e, 1, 1);
	tdm_registers(e);
}

/* Print the body once more, with the stamps, whose registers are known now. */
static bool again(struct emit *e)
{
	struct kernel_text *k = e->k;
	uint64_t workgroups = (uint64_t)k->grid[0] * k->grid[1];

	add_arg(k, EARG_STAMPS, "stamps", workgroups * e->p->waves * k->stamps * 8, true);
	strbuf_free(&e->body);
	e->body = (struct strbuf){ 0 };
	e->nlabels = 0;
	e->body_insns = e->own_insns = 0;
	e->msb = 0;
	tdm_reset(e);
	return body_print(e);
}

/* From the registers on. */
static bool print_all(struct emit *e)
{
	pick_registers(e);
	fixed_scalars(e);
	describe_launch(e);
	e->out = &e->body;
	if (e->failed || !body_print(e))
		return false;
	stamps_plan(e);
	if (e->k->stamps && !again(e))
		return false;
	pick_registers(e);
	e->msb = 0;
	print_setup(e);
	if (e->failed)
		return false;
	print_text(e);
	return true;
}

static bool build(struct emit *e)
{
	if (!check_program(e))
		return false;
	first_counter(e);
	if (e->failed || !k_collect(e) || !addresses_collect(e) || !tiles_collect(e) || !scales_collect(e) ||
	    !tdm_collect(e))
		return false;
	return print_all(e);
}

int emit_amd(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d)
{
	size_t cells = (size_t)p->waves * (size_t)p->target->v.wave_size;
	struct emit *e = xcalloc(1, sizeof(*e));
	int rc;

	memset(out, 0, sizeof(*out));
	e->p = p;
	e->o = o;
	e->k = out;
	e->d = d;
	e->lanes = (unsigned)p->target->v.wave_size;
	e->gfx9 = e->lanes == 64;
	e->lane_bits = e->gfx9 ? 6 : 5;
	e->where = p->nstages ? p->stages[0].loc : (struct loc){ 0 };
	e->table = xcalloc(cells, sizeof(*e->table));
	e->other = xcalloc(cells, sizeof(*e->other));
	e->low = xcalloc(REG_AGPR, sizeof(*e->low));
	e->low_insn = xcalloc(REG_AGPR, sizeof(*e->low_insn));
	rc = build(e) ? 0 : -1;
	if (rc < 0)
		kernel_text_free(out);
	strbuf_free(&e->setup);
	strbuf_free(&e->body);
	free(e->table);
	free(e->other);
	free(e->low);
	free(e->low_insn);
	free(e->tile);
	tdm_free(e);
	free(e);
	return rc;
}
