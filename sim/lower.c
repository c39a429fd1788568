/* From a tile-level schedule to the per-wave program. How: docs/lowering.md. */
#include "lower.h"
#include "lower_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int check_waves(struct lower *lw)
{
	const struct schedule *s = lw->s;
	const struct target_values *v = &lw->t->v;

	if (!s->groups || s->groups > PROG_MAX_GROUPS || s->waves < s->groups || s->waves % s->groups ||
	    s->waves > PROG_MAX_WAVES || (double)s->waves > v->workgroup_waves) {
		diag_add(lw->d, s->waves_loc, DIAG_SHAPE, "%u waves in %u groups: %s takes at most %.0f waves a workgroup, wpsim %d",
			 s->waves, s->groups, lw->t->name, v->workgroup_waves, PROG_MAX_WAVES);
		return -1;
	}
	if (s->gemm && (!s->rows || !s->cols || s->rows * s->cols != s->waves)) {
		diag_add(lw->d, s->waves_loc, DIAG_SHAPE, "%u rows times %u columns are not %u waves", s->rows, s->cols, s->waves);
		return -1;
	}
	if ((s->cluster_rows > 1 || s->cluster_cols > 1) && v->barrier_cluster <= 0) {
		diag_add(lw->d, s->loc, DIAG_TARGET, "%s has no workgroup clusters", lw->t->name);
		return -1;
	}
	return 0;
}

static int pick_matrix(struct lower *lw)
{
	const struct schedule *s = lw->s;

	if (!s->matrix_op)
		return 0;
	lw->mx = target_matrix(lw->t, s->matrix_op, s->gemm ? s->type_a : DT_F16, s->gemm ? s->type_b : DT_F16);
	if (!lw->mx) {
		diag_add(lw->d, s->matrix_loc, DIAG_TARGET, "%s has no matrix op '%s' for %s and %s", lw->t->name, s->matrix_op,
			 s->gemm ? dtype_name(s->type_a) : "these", s->gemm ? dtype_name(s->type_b) : "operands");
		return -1;
	}
	if (s->gemm && lw->mx->blocks > 1) {
		diag_add(lw->d, s->matrix_loc, DIAG_SHAPE, "'%s' multiplies %u separate blocks: a GEMM needs an op of one block",
			 s->matrix_op, lw->mx->blocks);
		return -1;
	}
	return 0;
}

static int check_gemm(struct lower *lw)
{
	const struct schedule *s = lw->s;

	if (!s->gemm)
		return 0;
	if (!s->tile_m || !s->tile_n || !s->tile_k || s->m <= 0 || s->n <= 0 || s->k <= 0) {
		diag_add(lw->d, s->shape_loc, DIAG_SHAPE, "the GEMM or its tile has an empty side");
		return -1;
	}
	if (s->k % s->tile_k) {
		int64_t less = s->k / s->tile_k * s->tile_k;

		diag_fix(diag_add(lw->d, s->shape_loc, DIAG_SHAPE, "K = %lld is no whole number of K-steps of %u",
				  (long long)s->k, s->tile_k),
			 "use k=\"%lld\"", (long long)(less ? less : s->tile_k));
		return -1;
	}
	lw->p->ksteps = (uint64_t)(s->k / s->tile_k);
	lw->p->workgroups = (uint64_t)((s->m + s->tile_m - 1) / s->tile_m) * (uint64_t)((s->n + s->tile_n - 1) / s->tile_n);
	return 0;
}

static void add_global(struct lower *lw, const char *name, double bytes, bool output, struct loc loc)
{
	struct global *g = &lw->p->globals[lw->p->nglobals++];

	g->name = arena_strdup(lw->a, name);
	g->bytes = bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX;
	g->output = output;
	g->loc = loc;
}

/* A, B, C (and the scales) of a GEMM in this order, then those that the schedule declares. */
static void list_globals(struct lower *lw)
{
	const struct schedule *s = lw->s;
	double m = (double)s->m, n = (double)s->n, k = (double)s->k;

	lw->p->globals = arena_alloc(lw->a, s->nglobals + 5, sizeof(*lw->p->globals));
	if (s->gemm) {
		add_global(lw, "A", m * k * dtype_bits(s->type_a) / 8, false, s->shape_loc);
		add_global(lw, "B", n * k * dtype_bits(s->type_b) / 8, false, s->shape_loc);
		add_global(lw, "C", m * n * dtype_bits(s->type_out) / 8, true, s->shape_loc);
		if (s->scaled) {
			add_global(lw, "A-scales", m * k / 32, false, s->shape_loc);
			add_global(lw, "B-scales", n * k / 32, false, s->shape_loc);
		}
	}
	for (size_t i = 0; i < s->nglobals; i++)
		add_global(lw, s->globals[i].name, (double)s->globals[i].bytes, s->globals[i].output, s->globals[i].loc);
}

static unsigned counters_of_ops(const struct lower *lw, const struct sched_op *op)
{
	unsigned mask = 0;

	for (; op; op = op->next) {
		int c = op->kind == OP_COPY ? lw->t->classes[OPC_VMEM_LDS].counter
			: op->kind == OP_TDM ? lw->t->classes[OPC_TDM_LOAD].counter : -1;

		if (c >= 0)
			mask |= 1u << c;
		mask |= counters_of_ops(lw, op->children);
	}
	return mask;
}

static void find_copy_counters(struct lower *lw)
{
	for (const struct sched_section *sec = lw->s->sections; sec; sec = sec->next)
		for (const struct sched_stage *st = sec->stages; st; st = st->next)
			lw->copy_counters |= counters_of_ops(lw, st->ops) | counters_of_ops(lw, st->edge_ops);
}

/* Matrix clk of one SIMD's waves in [lo, hi), occupancy only. */
static double matrix_clk(const struct program *p, unsigned simd, bool main_loop)
{
	unsigned simds = (unsigned)p->target->v.simds, per = p->waves / p->groups;
	double sum = 0;

	for (unsigned w = simd; w < p->waves; w += simds) {
		unsigned g = w / per;
		uint32_t lo = 0, hi = (uint32_t)p->ninsns;
		double mine = 0;

		if (main_loop) {
			if (p->main_loop[g] < 0)
				continue;
			lo = p->loops[p->main_loop[g]].begin;
			hi = p->loops[p->main_loop[g]].end;
		}
		for (uint32_t i = lo; i < hi; i++)
			if (p->insns[i].matrix && (p->insns[i].groups >> g & 1) && !(p->insns[i].flags & INSN_EDGE_ONLY))
				mine += (double)p->insns[i].matrix->occupancy_clk * p->insns[i].repeat;
		sum += main_loop ? mine / p->loops[p->main_loop[g]].steps : mine;
	}
	return sum;
}

/* Rows and columns of workgroup tiles that are at work at once, taken as a block close to a square. */
static void active_block(const struct schedule *s, double active, double *rows, double *cols)
{
	double tm = ceil((double)s->m / s->tile_m), tn = ceil((double)s->n / s->tile_n);

	if (active >= tm * tn) {
		*rows = tm;
		*cols = tn;
		return;
	}
	*rows = fmin(tm, ceil(sqrt(active)));
	*cols = fmin(tn, ceil(active / *rows));
	*rows = fmin(tm, ceil(active / *cols));
}

static const struct gemm_shape *gemm_shape(struct lower *lw)
{
	const struct schedule *s = lw->s;
	struct gemm_shape *g = arena_alloc(lw->a, 1, sizeof(*g));

	*g = (struct gemm_shape){
		.m = s->m, .n = s->n, .k = s->k, .tile_m = s->tile_m, .tile_n = s->tile_n, .tile_k = s->tile_k,
		.rows = s->rows, .cols = s->cols, .cluster_rows = s->cluster_rows, .cluster_cols = s->cluster_cols,
		.type_a = s->type_a, .type_b = s->type_b, .type_acc = s->type_acc, .type_out = s->type_out, .scaled = s->scaled,
	};
	g->scale_rows_a = scale_rows(lw, OPERAND_SA);
	g->scale_rows_b = scale_rows(lw, OPERAND_SB);
	return g;
}

static void figures(struct lower *lw)
{
	const struct schedule *s = lw->s;
	struct program *p = lw->p;
	bool loop = p->main_loop[0] >= 0;

	for (unsigned i = 0; i < (unsigned)p->target->v.simds; i++)
		p->ideal_clk = fmax(p->ideal_clk, matrix_clk(p, i, loop));
	p->request_bytes = lw->request_steps ? lw->loop_request / lw->request_steps : 0;
	if (s->gemm) {
		double active = fmin((double)p->workgroups, p->target->v.cus), rows, cols, k = s->tile_k;

		active_block(s, active, &rows, &cols);
		p->flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
		p->unique_bytes = k * (rows * s->tile_m * (dtype_bits(s->type_a) / 8.0 + (s->scaled ? 1 / 32.0 : 0)) +
				       cols * s->tile_n * (dtype_bits(s->type_b) / 8.0 + (s->scaled ? 1 / 32.0 : 0))) / active;
		for (size_t i = 0; i < p->nglobals; i++)
			p->total_hbm_bytes += i < (s->scaled ? 5u : 3u) ? (double)p->globals[i].bytes : 0;
	} else {
		p->flops = s->flops;
		p->total_hbm_bytes = s->bytes;
		p->unique_bytes = p->request_bytes / (s->reuse >= 1 ? s->reuse : 1);
	}
}

static void *settle(struct lower *lw, void *list, size_t n, size_t size)
{
	void *to = arena_alloc(lw->a, n + 1, size);

	if (n)
		memcpy(to, list, n * size);
	free(list);
	return to;
}

/* What grew while lowering moves to the program's arena. */
static void finish(struct lower *lw)
{
	struct program *p = lw->p;

	p->insns = settle(lw, p->insns, p->ninsns, sizeof(*p->insns));
	p->stages = settle(lw, p->stages, p->nstages, sizeof(*p->stages));
	p->loops = settle(lw, p->loops, p->nloops, sizeof(*p->loops));
	p->access = settle(lw, p->access, p->naccess, sizeof(*p->access));
	free(lw->mark);
	free(lw->gw);
}

static void describe(struct lower *lw)
{
	const struct schedule *s = lw->s;
	struct program *p = lw->p;

	p->arena = lw->a;
	p->target = lw->t;
	p->name = arena_strdup(lw->a, s->name ? s->name : "");
	p->waves = s->waves;
	p->groups = s->groups;
	p->gap = s->gap;
	p->gap_written = s->gap_written;
	p->workgroups = s->workgroups ? s->workgroups : 1;
	p->cluster_workgroups = (s->cluster_rows ? s->cluster_rows : 1) * (s->cluster_cols ? s->cluster_cols : 1);
	p->clock = s->clock ? arena_strdup(lw->a, s->clock) : NULL;
	p->clock_mhz = s->clock_mhz;
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		p->main_loop[g] = -1;
}

static int lower_all(struct lower *lw)
{
	describe(lw);
	if (check_waves(lw) < 0 || pick_matrix(lw) < 0 || check_gemm(lw) < 0)
		return -1;
	list_globals(lw);
	find_copy_counters(lw);
	if (layout_operands(lw) < 0 || layout_lds(lw) < 0 || regs_layout(lw) < 0)
		return -1;
	if (lw->s->gemm)
		lw->p->gemm = gemm_shape(lw);
	if (code_sections(lw) < 0)
		return -1;
	if (!target_is_ptx(lw->t)) {
		addr_plan(lw);
		if (msb_insert(lw) < 0)
			return -1;
	}
	waits_groups(lw);
	if (waits_auto(lw) < 0 || waits_spacing(lw) < 0 || (target_is_ptx(lw->t) && ptx_finish(lw) < 0))
		return -1;
	figures(lw);
	return 0;
}

struct program *lower(const struct schedule *s, const struct target *t, struct diag *d)
{
	struct lower lw = { .s = s, .t = t, .d = d };
	size_t before = d->errors;

	lw.a = arena_new();
	lw.p = arena_alloc(lw.a, 1, sizeof(*lw.p));
	lw.lanes = (unsigned)t->v.wave_size;
	lw.errors_before = before;
	lower_all(&lw);
	finish(&lw);
	if (d->errors == before && program_validate(lw.p, d) == 0)
		return lw.p;
	program_free(lw.p);
	return NULL;
}
