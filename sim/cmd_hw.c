/* wpsim run: emit, load, launch, verify, measure. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw_job.h"
#include "src.h"

/* ---- what was measured, as text ---- */

static double error_percent(double predicted, double measured)
{
	return measured > 0 ? 100 * (predicted / measured - 1) : 0;
}

static void print_loop(const struct sample *s, const struct prediction *pr, double predicted, FILE *f)
{
	double measured = s->steady_clk > 0 ? s->steady_clk : s->clk_per_step;

	if (s->clk_per_step <= 0)
		return;
	fprintf(f, "  loop       %.2f clk a K-step over the whole loop of %llu", s->clk_per_step,
		(unsigned long long)(s->trips * s->steps));
	if (s->steady_clk > 0)
		fprintf(f, ", %.2f once it is steady", s->steady_clk);
	fputc('\n', f);
	if (!pr || predicted <= 0)
		return;
	fprintf(f, "  predicted  %.2f clk (%+.2f %%)", predicted, error_percent(predicted, measured));
	if (pr->ideal_clk_per_step > 0)
		fprintf(f, "; ideal %.2f: efficiency %.2f %% measured, %.2f %% predicted", pr->ideal_clk_per_step,
			100 * pr->ideal_clk_per_step / measured, 100 * pr->ideal_clk_per_step / predicted);
	fputc('\n', f);
}

static void print_measured(const struct hw_job *j, const struct hw_session *h, const struct prediction *pr, double predicted,
			   FILE *f)
{
	const struct sample *s = &j->sample;
	const struct verify_result *v = &j->m.verify;

	fprintf(f, "%s on %s (%s, %s, %u units", s->kernel, s->device, h->b->name, s->driver, h->device.units);
	if (h->device.clock_mhz)
		fprintf(f, ", up to %u MHz", h->device.clock_mhz);
	fputs(")\n", f);
	if (j->m.verdict == VERDICT_RIGHT)
		fprintf(f, "  result     right: %llu elements compared, largest relative error %.3g (allowed: %.3g)\n",
			(unsigned long long)v->checked, v->max_rel, v->tolerance);
	else
		fprintf(f, "  result     not checked: %s\n",
			h->b->timing_only ? "this backend computes nothing" : "there is no reference for this kernel");
	fprintf(f, "  time       %.3f us, median of %u launches, %.3f to %.3f\n", s->time_us, s->repeats, j->m.ms_min * 1000,
		j->m.ms_max * 1000);
	print_loop(s, pr, predicted, f);
	if (s->clock_mhz > 0)
		fprintf(f, "  clock      %.0f MHz, from loops of two lengths\n", s->clock_mhz);
	if (s->registers)
		fprintf(f, "  registers  %u a thread, %u bytes spilled\n", s->registers, s->spill_bytes);
	for (size_t i = 0; i < s->nstages; i++) {
		double stage = pr ? predict_stage_clk(pr, s->stages[i].name, s->stages[i].group) : 0;

		fprintf(f, "  stage      %-16s %c %9.1f clk", s->stages[i].name, 'A' + (char)s->stages[i].group, s->stages[i].clk);
		if (stage > 0)
			fprintf(f, ", predicted %9.1f", stage);
		fputc('\n', f);
	}
	for (size_t i = 0; i < s->nwarnings; i++)
		fprintf(f, "  warning    %s\n", s->warnings[i]);
}

/* ---- one file ---- */

static void print_dry(const struct hw_job *j, FILE *f)
{
	const struct kernel_text *t = &j->text;

	fprintf(f, "// %s for %s: grid %u %u %u, block %u %u %u, %u bytes of dynamic LDS, %zu arguments, %u stamps, hash %s\n",
		t->kernel, t->target, t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1], t->block[2], t->lds_bytes,
		t->nargs, t->stamps, j->hash);
	if (j->image)
		fprintf(f, "// assembled: %zu bytes of code object\n", j->image_bytes);
	fwrite(t->text, 1, t->len, f);
}

static bool measured_before(const struct samples *old, const struct hw_job *j, const struct hw_session *h)
{
	return old && samples_find(old, j->hash, h->device.name) != NULL;
}

static int append(const struct cmd_options *o, const struct sample *s)
{
	int e = o->samples ? samples_append(o->samples, s) : 0;

	return e ? cmd_error("can't append to %s: %s", o->samples, strerror(e)) : 0;
}

static int run_measured(struct hw_job *j, struct hw_session *h, struct run *r, const struct cmd_options *o,
			const struct samples *old, FILE *f)
{
	struct prediction pr;
	struct diag quiet;
	struct hw_error e;
	double clk = 0, us;
	int rc = 0;
	bool predicted;

	if (h->b->describe(h->c, &h->device, &e) == 0 && measured_before(old, j, h)) {
		fprintf(f, "%s: measured before on %s, see %s\n", r->program->name, h->device.name, o->samples);
		return 0;
	}
	rc = hw_job_measure(j, h, r, o);
	if (rc != 0 || !j->measured)
		return rc;
	diag_init(&quiet);
	predicted = predict_sample(r->program, j->shorter, &j->sample, &clk, &us, &pr, &quiet) == 0;
	print_measured(j, h, predicted ? &pr : NULL, clk, f);
	if (predicted)
		prediction_free(&pr);
	diag_free(&quiet);
	fflush(f);
	return append(o, &j->sample);
}

static int run_file(struct run *r, struct hw_session *h, const struct cmd_options *o, const struct samples *old, FILE *f)
{
	struct src *s = src_load(r->path, &r->diag);
	struct hw_job j = { 0 };
	bool timing_only;
	int rc;

	if (s)
		run_lower_source(r, o, s);
	if (!r->program)
		return cmd_status_of(&r->diag);
	rc = o->dry ? 0 : hw_session_open(h, o, r->target);
	if (rc != 0)
		return rc;
	timing_only = !o->dry && h->b->timing_only;
	rc = hw_job_emit(&j, r, timing_only, &r->diag);
	if (rc == 0 && o->dry)
		print_dry(&j, f);
	else if (rc == 0)
		rc = run_measured(&j, h, r, o, old, f);
	hw_job_free(&j);
	return rc;
}

static int run_files(const struct cmd_options *o, const struct samples *old, FILE *f)
{
	struct hw_session h;
	int status = 0;

	hw_session_init(&h, o);
	hw_catch_interrupt();
	for (size_t i = 0; i < o->nwords; i++) {
		struct run r = { .path = o->words[i] };
		int rc;

		diag_init(&r.diag);
		rc = run_file(&r, &h, o, old, f);
		run_print_findings(&r, o, f);
		if (cmd_status_of(&r.diag) > rc)
			rc = cmd_status_of(&r.diag);
		run_free(&r);
		status = rc > status ? rc : status;
		/* Without a device nothing more can be had. */
		if (hw_interrupted() || (rc == STATUS_NO_BACKEND && !h.b))
			break;
	}
	hw_session_close(&h);
	return status;
}

int cmd_run(const struct cmd_options *o)
{
	struct samples old = { 0 };
	struct output out;
	struct diag d;
	int status = 0, s;

	diag_init(&d);
	if (o->samples && samples_load(&old, o->samples, true, &d) != 0) {
		diag_print(&d, stderr, o->colour_err);
		status = cmd_status_of(&d);
	}
	if (status == 0 && o->samples && !o->dry) {
		int e = samples_writable(o->samples);

		status = e ? cmd_error("can't append to %s: %s", o->samples, strerror(e)) : 0;
	}
	if (status == 0)
		status = output_open(&out, o->output);
	if (status == 0) {
		status = run_files(o, &old, out.f);
		s = output_commit(&out);
		status = s > status ? s : status;
	}
	samples_free(&old);
	diag_free(&d);
	return status;
}
