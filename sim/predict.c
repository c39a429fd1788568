#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

#define CLOCK_MHZ_MIN 1.0
#define CLOCK_MHZ_MAX 20000.0

static const struct loc no_place = { 0 };

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static uint64_t ns_to_clk(double ns, double mhz)
{
	return (uint64_t)floor(ns * mhz / 1000.0 + 0.5);
}

static int set_number(struct prediction *pr, double mhz, const char *who, struct diag *d)
{
	if (!(mhz >= CLOCK_MHZ_MIN && mhz <= CLOCK_MHZ_MAX)) {
		diag_add(d, no_place, DIAG_VALUE, "the clock is %g MHz; it must lie between %g and %g MHz",
			 mhz, CLOCK_MHZ_MIN, CLOCK_MHZ_MAX);
		return -1;
	}
	pr->clock_mhz = mhz;
	pr->clock_quality = Q_DOCUMENTED;
	pr->clock_source = xasprintf("%g MHz, %s", mhz, who);
	return 0;
}

static int set_row(struct prediction *pr, const struct target *t, const char *name, struct diag *d)
{
	const struct clock_row *row = target_clock(t, name);
	const char **words;
	const char *near;
	struct finding *f;

	if (row) {
		pr->clock_mhz = row->mhz;
		pr->clock_quality = row->from.quality;
		pr->clock_source = xasprintf("%s %g MHz [%s, %s]", row->name, row->mhz,
					     row->from.source ? row->from.source : "-",
					     quality_name(row->from.quality));
		return 0;
	}
	words = xcalloc(t->nclocks, sizeof(*words));
	for (size_t i = 0; i < t->nclocks; i++)
		words[i] = t->clocks[i].name;
	near = word_nearest(name, words, t->nclocks);
	f = diag_add(d, no_place, DIAG_NAME, "target %s has no clock \"%s\"", t->name, name);
	if (near)
		diag_fix(f, "use \"%s\", or a number of MHz", near);
	else
		diag_fix(f, "use \"%s\", another clock of the target, or a number of MHz",
			 t->clocks[0].name);
	free(words);
	return -1;
}

/* The option wins over the schedule, the schedule over the target's default. */
static int choose_clock(const struct program *p, const char *clock, struct prediction *pr,
			struct diag *d)
{
	double mhz;

	if (clock) {
		if (parse_double(clock, &mhz) == 0)
			return set_number(pr, mhz, "given", d);
		return set_row(pr, p->target, clock, d);
	}
	if (p->clock)
		return set_row(pr, p->target, p->clock, d);
	if (p->clock_mhz != 0)
		return set_number(pr, p->clock_mhz, "given by the schedule", d);
	return set_row(pr, p->target, p->target->clocks[0].name, d);
}

struct limit {
	const char *name;
	uint64_t workgroups;
};

/* Waves that the register file of one SIMD holds. */
static uint64_t waves_by_vgpr(const struct program *p)
{
	const struct target_values *v = &p->target->v;
	uint64_t granule = (uint64_t)v->vgpr_granule, regs = p->vgpr;

	if (p->agpr > 0) /* accumulation registers start at a multiple of four */
		regs = div_up(regs, 4) * 4 + p->agpr;
	regs = div_up(regs, granule) * granule;
	return regs ? (uint64_t)v->vgpr_pool / regs : UINT64_MAX;
}

static uint64_t workgroups_of(uint64_t waves_per_simd, const struct program *p)
{
	uint64_t simds = (uint64_t)p->target->v.simds;

	return waves_per_simd > UINT64_MAX / simds ? UINT64_MAX : waves_per_simd * simds / p->waves;
}

static void choose_resident(const struct program *p, struct prediction *pr)
{
	const struct target_values *v = &p->target->v;
	uint64_t granule = (uint64_t)v->lds_granule;
	uint64_t lds = div_up(p->lds_bytes, granule) * granule;
	/* In order of what is named when two limits are equal. */
	const struct limit limits[] = {
		{ "lds", lds ? (uint64_t)v->lds_bytes / lds : UINT64_MAX },
		{ "vgpr", workgroups_of(waves_by_vgpr(p), p) },
		{ "waves", workgroups_of((uint64_t)v->waves_per_simd, p) },
		{ "workgroups", div_up(p->workgroups, (uint64_t)v->cus) },
		{ "model", PROG_MAX_WAVES / p->waves },
	};
	const struct limit *least = &limits[0];

	for (size_t i = 1; i < ARRAY_LEN(limits); i++)
		if (limits[i].workgroups < least->workgroups)
			least = &limits[i];
	pr->resident = (unsigned)least->workgroups;
	pr->resident_limit = least->name;
}

static int refuse_resident(const struct program *p, const struct prediction *pr, struct diag *d)
{
	const struct target_values *v = &p->target->v;

	if (strcmp(pr->resident_limit, "lds") == 0)
		diag_add(d, no_place, DIAG_LDS_CAP, "a workgroup needs %u bytes of LDS, a CU of %s has %.0f",
			 p->lds_bytes, p->target->name, v->lds_bytes);
	else if (strcmp(pr->resident_limit, "vgpr") == 0)
		diag_add(d, no_place, DIAG_REG_CAP,
			 "%u waves of %u VGPRs and %u AGPRs do not fit the register files of a CU of %s",
			 p->waves, p->vgpr, p->agpr, p->target->name);
	else if (p->workgroups == 0)
		diag_add(d, no_place, DIAG_SHAPE, "the launch has no workgroups");
	else
		diag_add(d, no_place, DIAG_LIMIT, "a workgroup of %u waves does not fit a CU of %s",
			 p->waves, p->target->name);
	return -1;
}

/* Bytes per clk that the memory system gives one CU: its share of L2 and of HBM, the smaller. */
static double cu_share(const struct program *p, double mhz)
{
	const struct target_values *v = &p->target->v;
	double active = fmin(v->cus, (double)p->workgroups);
	double share = v->l2_bytes_clk / active;

	if (p->unique_bytes > 0) {
		double reuse = fmax(p->request_bytes / p->unique_bytes, 1.0);

		share = fmin(share, v->hbm_gbs * 1e9 / (mhz * 1e6) * reuse / active);
	}
	return share;
}

static int whole_kernel(const struct program *p, struct prediction *pr, struct diag *d)
{
	const struct target_values *v = &p->target->v;
	uint64_t per_round = ns_to_clk(v->launch_ns, pr->clock_mhz), work;

	pr->rounds = div_up(p->workgroups, (uint64_t)v->cus * pr->resident);
	pr->launch_clk = ns_to_clk(v->launch_kernel_ns, pr->clock_mhz);
	if (__builtin_add_overflow(per_round, pr->stats.total_clk, &per_round) ||
	    __builtin_mul_overflow(per_round, pr->rounds, &work) ||
	    __builtin_add_overflow(work, pr->launch_clk, &pr->kernel_clk) ||
	    pr->kernel_clk > UINT64_MAX / 2) {
		struct finding *f = diag_add(d, p->ninsns ? p->insns[0].loc : no_place, DIAG_LIMIT,
					     "the kernel would take more clocks than 63 bits can count");

		diag_fix(f, "lower the sizes, the workgroups or the trips");
		return -1;
	}
	pr->bandwidth_clk = p->total_hbm_bytes / (v->hbm_gbs * 1e9) * (pr->clock_mhz * 1e6);
	pr->memory_bound = pr->bandwidth_clk > (double)pr->kernel_clk;
	if (pr->memory_bound && pr->bandwidth_clk < 9e18)
		pr->kernel_clk = (uint64_t)ceil(pr->bandwidth_clk);
	pr->time_us = (double)pr->kernel_clk / pr->clock_mhz;
	pr->tflops = pr->time_us > 0 ? p->flops / pr->time_us * 1e-6 : 0;
	return 0;
}

/* K-steps that the main loop of group 0 covers; 0 without one. */
static double loop_steps(const struct program *p)
{
	const struct loop *l;

	if (p->groups == 0 || p->main_loop[0] < 0 || (size_t)p->main_loop[0] >= p->nloops)
		return 0;
	l = &p->loops[p->main_loop[0]];
	return (double)l->trips * l->steps;
}

static void efficiencies(const struct program *p, struct prediction *pr)
{
	const struct stats *s = &pr->stats;

	pr->ideal_clk_per_step = p->ideal_clk * pr->resident;
	if (s->window_clk > 0 && s->window_steps > 0)
		pr->matrix_efficiency = pr->ideal_clk_per_step * (double)s->window_steps /
					(double)s->window_clk;
	if (s->loop_clk > 0)
		pr->loop_efficiency = pr->ideal_clk_per_step * loop_steps(p) / (double)s->loop_clk;
}

static int predict_into(const struct program *p, const char *clock, bool keep_segments, struct prediction *out,
			struct diag *d)
{
	struct engine_config cfg = { 0 };

	memset(out, 0, sizeof(*out));
	out->program = p;
	if (p->waves == 0 || p->target->nclocks == 0) {
		diag_add(d, no_place, DIAG_LIMIT, "the program has no waves, or its target no clock");
		return -1;
	}
	if (choose_clock(p, clock, out, d) != 0)
		return -1;
	choose_resident(p, out);
	if (out->resident == 0)
		return refuse_resident(p, out, d);
	out->bytes_per_clk = cu_share(p, out->clock_mhz);
	cfg.clock_mhz = out->clock_mhz;
	cfg.resident = out->resident;
	cfg.keep_segments = keep_segments;
	cfg.bytes_per_clk = out->bytes_per_clk;
	if (engine_run(p, &cfg, &out->stats, d) != 0)
		return -1;
	if (whole_kernel(p, out, d) != 0)
		return -1;
	efficiencies(p, out);
	return 0;
}

int predict(const struct program *p, const char *clock, bool keep_segments, struct prediction *out,
	    struct diag *d)
{
	int rc = predict_into(p, clock, keep_segments, out, d);

	if (rc != 0)
		prediction_free(out);
	return rc;
}

void prediction_free(struct prediction *pr)
{
	stats_free(&pr->stats);
	free((char *)(uintptr_t)pr->clock_source);
	memset(pr, 0, sizeof(*pr));
}
