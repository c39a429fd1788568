/* The report an engineer reads: what it costs, where it is lost, what to change. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

struct text {
	FILE *out;
	const struct prediction *pr;
	const struct report_derived *r;
	const struct report_options *o;
};

static void heading(const struct text *t, const char *title)
{
	if (t->o->colour)
		fprintf(t->out, "\n\033[1m%s\033[0m\n", title);
	else
		fprintf(t->out, "\n%s\n", title);
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* ---- head ---- */

static void print_step(const struct text *t)
{
	const struct prediction *pr = t->pr;

	if (!t->r->have_steady) {
		fputs("  K-step     no steady loop\n", t->out);
		return;
	}
	fprintf(t->out, "  K-step     %.1f clk", t->r->step_clk);
	if (pr->ideal_clk_per_step > 0)
		fprintf(t->out, ", ideal %.1f: matrix efficiency %.2f %%", pr->ideal_clk_per_step,
			100 * pr->matrix_efficiency);
	fprintf(t->out, "  (%s %llu K-step%s)\n",
		pr->stats.steady ? "exact, period of" : "no repeating state, mean of",
		(unsigned long long)pr->stats.window_steps, pr->stats.window_steps == 1 ? "" : "s");
}

static void print_head(const struct text *t)
{
	const struct prediction *pr = t->pr;
	const struct program *p = pr->program;
	const struct target *target = p->target;

	if (t->o->colour)
		fputs("\033[1m", t->out);
	fprintf(t->out, "%s on %s (%s)", p->name, target->name, target->product);
	if (target->choice.name)
		fprintf(t->out, ", %s=%s", target->choice.name, target->choice.option);
	fprintf(t->out, "%s\n", t->o->colour ? "\033[0m" : "");
	fprintf(t->out, "  clock      %s\n", pr->clock_source);
	print_step(t);
	fprintf(t->out, "  kernel     %llu clk, %.2f us", (unsigned long long)pr->kernel_clk, pr->time_us);
	if (p->flops > 0)
		fprintf(t->out, ", %.1f TFLOP/s", pr->tflops);
	fprintf(t->out, " at %g MHz%s\n", pr->clock_mhz,
		pr->memory_bound ? ": bound by HBM bandwidth" : "");
	fprintf(t->out, "  batch      %llu clk = prologue %llu + loop %llu + epilogue %llu",
		(unsigned long long)pr->stats.total_clk, (unsigned long long)pr->stats.prologue_clk,
		(unsigned long long)pr->stats.loop_clk, (unsigned long long)pr->stats.epilogue_clk);
	if (pr->ideal_clk_per_step > 0 && pr->stats.loop_clk > 0)
		fprintf(t->out, " (loop efficiency %.2f %%)", 100 * pr->loop_efficiency);
	fprintf(t->out, "\n  launch     %llu workgroup%s, %u per CU, %llu round%s on %.0f CUs; HBM alone would "
		"take %.0f clk\n", (unsigned long long)p->workgroups, p->workgroups == 1 ? "" : "s",
		pr->resident, (unsigned long long)pr->rounds, pr->rounds == 1 ? "" : "s", target->v.cus,
		pr->bandwidth_clk);
}

/* ---- stages ---- */

static void print_cell(FILE *out, int width, double clk)
{
	if (clk < 0.05 && clk > -0.05)
		fprintf(out, " %*s", width, "-");
	else if (fabs(clk) < 99999.5)
		fprintf(out, " %*.0f", width, clk);
	else
		fprintf(out, " %*.2g", width, clk);
}

static void print_row(const struct text *t, const struct report_row *row)
{
	const struct program *p = t->pr->program;

	fprintf(t->out, "  %-14.14s %c", p->stages[row->stage].name, (char)('A' + row->group));
	print_cell(t->out, 5, row->own);
	print_cell(t->out, 5, row->issue);
	print_cell(t->out, 6, row->matrix);
	print_cell(t->out, 5, row->lds);
	print_cell(t->out, 5, row->vmem);
	print_cell(t->out, 5, row->waits);
	print_cell(t->out, 5, row->barrier);
	print_cell(t->out, 7, row->elapsed);
	if (row->partner >= 0) {
		fprintf(t->out, " %-12.12s", p->stages[row->partner].name);
		fprintf(t->out, " %+5.0f", row->slack);
	} else {
		fprintf(t->out, " %-12s %5s", "-", "-");
	}
	fprintf(t->out, " %.11s\n", row->limit);
}

static void print_stages(const struct text *t)
{
	size_t shown = 0;

	if (t->r->nrows == 0)
		return;
	heading(t, "Stages (clk for one passage)");
	fprintf(t->out, "  %-14s %c %5s %5s %6s %5s %5s %5s %5s %7s %-12s %5s %s\n", "stage", 'g', "own",
		"issue", "matrix", "lds", "vmem", "waits", "barr", "elapsed", "partner", "slack", "limit");
	for (size_t i = 0; i < t->r->nrows; i++) {
		if (!t->r->rows[i].runs)
			continue;
		print_row(t, &t->r->rows[i]);
		shown++;
	}
	if (shown == 0)
		fputs("  none in the steady window\n", t->out);
}

/* ---- lost cycles ---- */

static void print_lost(const struct text *t)
{
	double sum = 0;

	if (!t->r->have_steady || t->r->ideal_clk <= 0)
		return;
	heading(t, "Lost cycles per K-step (matrix unit, mean of the SIMDs)");
	for (size_t i = 0; i < t->r->nlost; i++) {
		const struct report_lost *l = &t->r->lost[i];

		sum += l->clk;
		fprintf(t->out, "  %-16s %9.2f  %5.2f %%  %s\n", l->reason, l->clk,
			percent(l->clk, t->r->step_clk), l->text);
	}
	fprintf(t->out, "  %-16s %9.2f  %5.2f %%  = %.2f elapsed - %.2f ideal\n", "sum", sum,
		percent(sum, t->r->step_clk), t->r->step_clk, t->r->ideal_clk);
}

/* ---- resources and conflicts ---- */

static void print_resources(const struct text *t)
{
	const struct program *p = t->pr->program;

	heading(t, "Resources");
	fprintf(t->out, "  per wave   %u VGPR, %u AGPR, %u SGPR\n", p->vgpr, p->agpr, p->sgpr);
	fprintf(t->out, "  workgroup  %u of %.0f bytes of LDS, %u wave%s\n", p->lds_bytes,
		p->target->v.lds_bytes, p->waves, p->waves == 1 ? "" : "s");
	fprintf(t->out, "  per CU     %u workgroup%s (limit: %s), %u wave%s a SIMD\n", t->pr->resident,
		t->pr->resident == 1 ? "" : "s", t->pr->resident_limit, t->r->waves_per_simd,
		t->r->waves_per_simd == 1 ? "" : "s");
	fprintf(t->out, "  bandwidth  %.1f bytes/clk for one CU (its share of L2 and HBM)\n",
		t->pr->bytes_per_clk);
}

static void print_banks(const struct text *t)
{
	struct report_bank banks[16];
	size_t n = report_banks(t->pr->program, banks, ARRAY_LEN(banks));

	if (n == 0)
		return;
	heading(t, "LDS bank conflicts (array time / conflict-free array time)");
	for (size_t i = 0; i < n; i++)
		fprintf(t->out, "  %-24s %-5s mean %.2f, worst %.2f over %llu instruction%s\n", banks[i].op,
			banks[i].write ? "write" : "read", banks[i].mean, banks[i].worst,
			(unsigned long long)banks[i].count, banks[i].count == 1 ? "" : "s");
}

/* ---- formulas ---- */

static void print_estimates(const struct text *t)
{
	heading(t, "How sure");
	if (isnan(t->r->estimate_share))
		fputs("  no steady loop: no share of estimates\n", t->out);
	else
		fprintf(t->out, "  %.1f %% of the wave time of the steady loop rests on estimated values\n",
			100 * t->r->estimate_share);
}

static void print_formulas_short(const struct text *t)
{
	const struct prediction *pr = t->pr;
	const struct stats *s = &pr->stats;

	heading(t, "Formulas");
	if (t->r->have_steady && t->r->ideal_clk > 0) {
		fprintf(t->out, "  matrix efficiency = ideal per K-step * K-steps / window = %g * %llu / %llu clk\n",
			pr->ideal_clk_per_step, (unsigned long long)s->window_steps,
			(unsigned long long)s->window_clk);
		fprintf(t->out, "  lost share        = mean over SIMDs of idle clk by reason / window clk\n");
	}
	if (t->r->ideal_clk > 0 && s->loop_clk > 0)
		fprintf(t->out, "  loop efficiency   = ideal per K-step * K-steps of the loop / loop "
			"(%llu clk)\n", (unsigned long long)s->loop_clk);
	if (!isnan(t->r->estimate_share))
		fprintf(t->out, "  estimate share    = wave time resting on estimates / wave time of the window "
			"= %llu / %llu\n", (unsigned long long)s->estimate_clk,
			(unsigned long long)s->wave_window_clk);
	if (pr->memory_bound)
		fprintf(t->out, "  kernel clk        = compulsory bytes / HBM bandwidth * clock = %.0f / "
			"%g GB/s * %g MHz\n", pr->program->total_hbm_bytes, pr->program->target->v.hbm_gbs,
			pr->clock_mhz);
	else
		fprintf(t->out, "  kernel clk        = launch %llu + %llu * (%g ns of dispatch + batch %llu)\n",
			(unsigned long long)pr->launch_clk, (unsigned long long)pr->rounds,
			pr->program->target->v.launch_ns, (unsigned long long)s->total_clk);
}

static void print_value(const struct text *t, const char *what, double value, const char *unit,
			enum value_id id)
{
	const struct origin *from = &t->pr->program->target->v_from[id];

	fprintf(t->out, "    %-24s %10g %-10s [%s, %s]\n", what, value, unit,
		from->source ? from->source : "-", quality_name(from->quality));
}

static void print_constants(const struct text *t)
{
	const struct target_values *v = &t->pr->program->target->v;

	fputs("  constants in force\n", t->out);
#define CONSTANT(field, key, unit) print_value(t, key, v->field, unit, TV_##field)
	CONSTANT(issue_period, "issue.period", "clk");
	CONSTANT(barrier_release, "barrier.release", "clk");
	CONSTANT(lds_latency, "lds.latency", "clk");
	CONSTANT(lds_queue, "lds.queue", "entries");
	CONSTANT(vmem_queue, "vmem.queue", "entries");
	CONSTANT(vmem_inflight, "vmem.inflight", "bytes");
	CONSTANT(vmem_l2_ns, "vmem.l2", "ns");
	CONSTANT(vmem_hbm_ns, "vmem.hbm", "ns");
	CONSTANT(l2_bytes_clk, "bandwidth.l2", "bytes/clk");
	CONSTANT(hbm_gbs, "bandwidth.hbm", "GB/s");
	CONSTANT(launch_ns, "launch.workgroup", "ns");
	CONSTANT(launch_kernel_ns, "launch.kernel", "ns");
#undef CONSTANT
}

static void print_matrix_rows(const struct text *t)
{
	const struct program *p = t->pr->program;
	const struct matrix_row *shown[16];
	size_t n = 0;

	for (size_t i = 0; i < p->ninsns && n < ARRAY_LEN(shown); i++) {
		const struct matrix_row *m = p->insns[i].matrix;
		size_t k;

		for (k = 0; m && k < n && shown[k] != m; k++)
			;
		if (!m || k < n)
			continue;
		shown[n++] = m;
		fprintf(t->out, "    %-24s occupancy %u, prefix %u, ready %u, chain %u clk [%s, %s]\n", m->op,
			m->occupancy_clk, m->prefix_clk, m->ready_clk, m->chain_clk,
			m->from.source ? m->from.source : "-", quality_name(m->from.quality));
	}
}

static void print_formulas_long(const struct text *t)
{
	fputs("  own               = elapsed - waits for other waves at barriers (release included)\n"
	      "  slack             = the partner's own - this stage's own; below 0: not hidden\n"
	      "  partner           = the other group's stage whose own time overlaps longest\n"
	      "  matrix, lds, vmem = unit time of the group's waves on one SIMD, on its pair, on the CU\n"
	      "  bandwidth         = min(L2, HBM * requested / unique bytes) / active CUs, in bytes/clk\n",
	      t->out);
	print_constants(t);
	print_matrix_rows(t);
}

void report_text(const struct prediction *pr, const struct diag *d, const struct report_options *o,
		 FILE *out)
{
	struct report_derived r;
	const struct text t = { .out = out, .pr = pr, .r = &r, .o = o };

	if (!pr)
		return;
	report_derive(pr, &r);
	print_head(&t);
	print_stages(&t);
	print_lost(&t);
	if (o->timeline)
		report_timeline(pr, o, out);
	print_resources(&t);
	print_banks(&t);
	print_estimates(&t);
	print_formulas_short(&t);
	if (o->formulas)
		print_formulas_long(&t);
	if (d && d->n > 0)
		fprintf(out, "\n%zu finding%s (%zu error%s, %zu warning%s)\n", d->n, d->n == 1 ? "" : "s",
			d->errors, d->errors == 1 ? "" : "s", d->warnings, d->warnings == 1 ? "" : "s");
	report_derived_free(&r);
}
