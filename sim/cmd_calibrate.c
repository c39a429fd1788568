/* wpsim calibrate: run the kernels that isolate a model's values, fit, write a model. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "calibrate.h"
#include "hw_job.h"
#include "src.h"

#define POOR_SCALE 3.0
#define OUTLIER_WEIGHT 0.5

/* ---- measuring ---- */

struct series {
	const struct cmd_options *o;
	struct calibration *c;
	struct hw_session h;
	struct samples *old;
	struct strbuf *lines; /* of the new samples */
	size_t done, failed;
	double start_s;
};

static void progress(const struct series *s, const char *name)
{
	double spent = hw_now_s() - s->start_s, left = s->done ? spent / (double)s->done * (double)(s->c->nkernels - s->done) : 0;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K[%zu/%zu] %s", s->done + 1, s->c->nkernels, name);
	if (s->done)
		fprintf(stderr, ", about %.0f s left", ceil(left));
	fflush(stderr);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

/* The stand-in for hardware has values of its own: its kernels are lowered from the schedule anew. */
static int measure_kernel(struct series *s, struct cal_kernel *k)
{
	struct hw_job j = { 0 };
	struct hw_error e;
	int rc = hw_job_emit(&j, &k->run, s->h.b->timing_only, &k->run.diag);

	if (rc == 0 && s->h.b->describe(s->h.c, &s->h.device, &e) == 0 &&
	    samples_find(s->old, j.hash, s->h.device.name)) {
		hw_job_free(&j);
		return 0;
	}
	k->run.target = s->c->target;
	if (rc == 0)
		rc = hw_job_measure(&j, &s->h, &k->run, s->o);
	k->run.target = NULL; /* owned by the calibration */
	if (rc == 0 && j.measured) {
		sample_print(s->lines, &j.sample);
		if (s->o->samples) {
			int err = samples_append(s->o->samples, &j.sample);

			if (err)
				rc = cmd_error("can't append to %s: %s", s->o->samples, strerror(err));
		}
	}
	hw_job_free(&j);
	return rc;
}

static int measure_all(struct series *s)
{
	int rc = hw_session_open(&s->h, s->o, s->c->target);

	s->start_s = hw_now_s();
	for (size_t i = 0; i < s->c->nkernels && rc == 0; i++) {
		struct cal_kernel *k = &s->c->kernels[i];
		int one;

		progress(s, k->name);
		one = measure_kernel(s, k);
		s->done++;
		if (one != 0) {
			end_progress();
			diag_print(&k->run.diag, stderr, s->o->colour_err);
			cmd_error("%s was not measured", k->name);
			s->failed++;
		}
		if (hw_interrupted())
			rc = cmd_error("interrupted; %s", s->o->samples ? "what was measured is in the samples file" :
				       "give --samples to keep what is measured");
	}
	end_progress();
	hw_session_close(&s->h);
	if (rc == 0 && s->failed == s->c->nkernels)
		rc = STATUS_NO_BACKEND;
	return rc;
}

/* ---- the report ---- */

static const char *device_of(const struct calibration *c)
{
	for (size_t i = 0; i < c->nkernels; i++)
		if (c->kernels[i].sample)
			return c->kernels[i].sample->device;
	return "?";
}

static void print_value(const struct calibration *c, size_t i, FILE *f)
{
	const struct fit_param *p = &c->fit[i];
	const struct param *q = &c->param[i];

	fprintf(f, "  %-52s %10.6g %10.6g   %.6g .. %.6g  (was %s)\n", q->name, c->before[i], p->value, p->low, p->high,
		quality_name(q->from->quality));
}

static void print_unchanged(const struct calibration *c, size_t i, FILE *f)
{
	const struct fit_param *p = &c->fit[i];
	bool measured = false;

	for (size_t k = 0; k < c->rows[i].nkernels; k++)
		measured |= c->kernels[c->rows[i].kernel[k]].sample != NULL;
	fprintf(f, "  %-52s %10.6g  %s: ", c->param[i].name, c->before[i], quality_name(c->param[i].from->quality));
	if (!measured)
		fputs("its kernels were not measured\n", f);
	else if (p->limited && p->low <= p->lo)
		fprintf(f, "the measurements tell only that it is at most %.6g\n", p->high);
	else if (p->limited && p->high >= p->hi)
		fprintf(f, "the measurements tell only that it is at least %.6g\n", p->low);
	else if (p->limited)
		fprintf(f, "the measurements tell only that it lies between %.6g and %.6g\n", p->low, p->high);
	else
		fputs("the measurements do not tell it\n", f);
}

static void print_report(const struct calibration *c, FILE *f)
{
	size_t told = 0;

	for (size_t i = 0; i < c->nrows; i++)
		told += c->fit[i].identified;
	fprintf(f, "%s, measured on %s: %zu of %zu values\n", c->target->name, device_of(c), told, c->nrows);
	fprintf(f, "  %-52s %10s %10s   %s\n", "value", "before", "now", "95 % interval");
	for (size_t i = 0; i < c->nrows; i++)
		if (c->fit[i].identified)
			print_value(c, i, f);
	if (told < c->nrows)
		fputs("unchanged:\n", f);
	for (size_t i = 0; i < c->nrows; i++)
		if (!c->fit[i].identified)
			print_unchanged(c, i, f);
	fprintf(f, "kernels:\n  %-44s %4s %12s %12s %12s %9s %7s\n", "name", "", "measured", "before", "now", "error", "weight");
	for (size_t i = 0; i < c->nresiduals; i++) {
		const struct cal_residual *r = &c->residual[i];
		static const char *const units[] = { "clk", "MHz", "us" };

		fprintf(f, "  %-44s %4s %12.3f %12.3f %12.3f %+8.2f%% %7.2f%s%s\n", c->kernels[r->kernel].name, units[r->quantity],
			r->measured, r->before, r->after, 100 * (r->after / r->measured - 1), r->weight,
			r->weight > 0 ? "" : "  left out: the model does not explain it",
			c->kernels[r->kernel].stale ? "  (another version of this kernel was measured)" : "");
	}
	if (c->scale > POOR_SCALE)
		fprintf(f, "what is left over is %.1f times what the measurements' own spread explains: "
			"the model misses something in these kernels\n", c->scale);
}

/* ---- the new model ---- */

static char *source_id(const struct target *t)
{
	for (unsigned i = 1;; i++) {
		char *id = i == 1 ? xstrdup("cal") : xasprintf("cal%u", i), *quoted = xasprintf("id=\"%s\"", id);
		bool there = strstr(t->src->text, quoted) != NULL;

		free(quoted);
		if (!there)
			return id;
		free(id);
	}
}

/*
 * A dependent matrix instruction never starts before an independent one could, and operands are read while the unit
 * is occupied. Where only the distance of independent ones was told, the other values of the row follow.
 */
static size_t keep_in_order(const struct calibration *c, struct param_edit *e, size_t n)
{
	size_t raised = n;

	for (size_t i = 0; i < c->target->nmatrix; i++) {
		struct matrix_row *r = &c->target->matrix[i];
		bool touched = false;

		for (size_t k = 0; k < n; k++)
			touched |= e[k].param.from == &r->from;
		if (!touched)
			continue;
		if (r->valu_block_clk > r->occupancy_clk)
			e[raised++] = (struct param_edit){
				.param = { .name = r->op, .attribute = "valu-block", .whole_field = &r->valu_block_clk, .whole = true,
					   .from = &r->from },
				.value = r->occupancy_clk, .note = "not above the occupancy",
			};
		if (r->chain_clk >= r->occupancy_clk)
			continue;
		e[raised++] = (struct param_edit){
			.param = { .name = r->op, .attribute = "chain", .whole_field = &r->chain_clk, .whole = true, .from = &r->from },
			.value = r->occupancy_clk, .note = "not below the distance of independent ones",
		};
	}
	return raised;
}

static char *new_model(const struct calibration *c, struct diag *d)
{
	struct param_edit *e = xcalloc(c->nrows + 2 * c->target->nmatrix + 1, sizeof(*e));
	char *id = source_id(c->target), *title, *text, day[16];
	time_t now = time(NULL);
	struct tm tm;
	size_t n = 0;

	for (size_t i = 0; i < c->nrows; i++) {
		const struct fit_param *p = &c->fit[i];

		if (!p->identified)
			continue;
		e[n].param = c->param[i];
		e[n].value = p->value;
		e[n++].note = arena_printf(c->arena, "95 %% interval %.6g to %.6g; was %.6g (%s)", p->low, p->high, c->before[i],
					   quality_name(c->param[i].from->quality));
	}
	n = keep_in_order(c, e, n);
	gmtime_r(&now, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	title = xasprintf("wpsim calibrate, %s, %s", device_of(c), day);
	text = param_rewrite(c->target, e, n, id, title, d);
	free(title);
	free(id);
	free(e);
	return text;
}

/* A model that its own reader refuses is written all the same, for the user to see, but not in silence. */
static int check_model(const char *text, const struct cmd_options *o)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_parse(src_from_text(o->output ? o->output : "new model", text, strlen(text)), o->variant, (struct loc){ 0 }, &d);
	diag_print(&d, stderr, o->colour_err);
	if (!t)
		cmd_error("the fitted values contradict each other: see above");
	target_free(t);
	diag_free(&d);
	return t ? 0 : STATUS_FINDINGS;
}

static int write_results(const struct calibration *c, const struct cmd_options *o, struct diag *d)
{
	bool to_file = o->output && strcmp(o->output, "-") != 0;
	struct output out;
	char *text = new_model(c, d);
	int status;

	if (!text)
		return cmd_status_of(d);
	print_report(c, to_file ? stdout : stderr);
	status = output_open(&out, o->output);
	if (status == 0) {
		fputs(text, out.f);
		status = output_commit(&out);
	}
	if (status == 0)
		status = check_model(text, o);
	free(text);
	return status;
}

/* ---- the command ---- */

/* A word is a kernel's folder, its schedule, or its name. */
static char *kernel_name(const char *word)
{
	char *copy = xstrdup(word), *slash;
	size_t n = strlen(copy);

	if (n > 4 && strcmp(copy + n - 4, ".xml") == 0 && (slash = strrchr(copy, '/')))
		*slash = '\0';
	for (n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		memmove(copy, slash + 1, strlen(slash + 1) + 1);
	return copy;
}

static int check_names(const struct calibration *c, char *const *only, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool there = false;

		for (size_t k = 0; k < c->nkernels; k++)
			there |= strcmp(c->kernels[k].name, only[i]) == 0;
		if (!there)
			return cmd_error("'%s' is no calibration kernel of %s: see models/calibrate.tsv", only[i], c->target->name);
	}
	return 0;
}

/* The samples there were and the new ones, as one. */
static int join(struct samples *all, const struct samples *old, const struct strbuf *lines, struct diag *d)
{
	struct strbuf b = { 0 };
	int rc;

	if (old->src)
		strbuf_addn(&b, old->src->text, old->src->len);
	if (b.len && b.s[b.len - 1] != '\n')
		strbuf_add(&b, "\n");
	if (lines->len)
		strbuf_addn(&b, lines->s, lines->len);
	rc = samples_parse(all, src_from_text(old->src ? old->src->path : "samples", b.s ? b.s : "", b.len), d);
	strbuf_free(&b);
	return rc;
}

static int calibrate(struct calibration *c, const struct cmd_options *o, struct samples *old, struct diag *d)
{
	struct strbuf lines = { 0 };
	struct series s = { .o = o, .c = c, .old = old, .lines = &lines };
	struct samples all = { 0 };
	int status = 0;

	hw_session_init(&s.h, o);
	if (!o->from) {
		hw_catch_interrupt();
		status = measure_all(&s);
	}
	if (status == 0 && join(&all, old, &lines, d) != 0)
		status = cmd_status_of(d);
	if (status == 0) {
		calibration_samples(c, &all);
		status = calibration_fit(c, d) == 0 ? write_results(c, o, d) : cmd_status_of(d);
	}
	for (size_t i = 0; i < c->nkernels; i++)
		c->kernels[i].sample = NULL;
	samples_free(&all);
	strbuf_free(&lines);
	return status;
}

int cmd_calibrate(const struct cmd_options *o)
{
	const char *samples_path = o->from ? o->from : o->samples, *target = o->target;
	char **only = xcalloc(o->nwords + 1, sizeof(*only)), *table = calibration_table_path();
	struct calibration c = { 0 };
	struct samples old = { 0 };
	struct diag d;
	int status = 0;

	diag_init(&d);
	for (size_t i = 0; i < o->nwords; i++)
		only[i] = kernel_name(o->words[i]);
	if (samples_path && samples_load(&old, samples_path, !o->from, &d) != 0)
		status = cmd_status_of(&d);
	if (status == 0 && !target && o->from && old.n)
		target = old.list[0].target;
	if (status == 0 && !target)
		status = cmd_error("calibrate: say which model with --target");
	if (status == 0 && !table)
		status = cmd_error("models/calibrate.tsv, the table of calibration kernels, can't be found");
	if (status == 0 && calibration_open(&c, table, target, o->nwords ? (const char *const *)only : NULL, o->nwords, o, &d) != 0)
		status = cmd_status_of(&d);
	if (status == 0)
		status = check_names(&c, only, o->nwords);
	if (status == 0)
		status = calibrate(&c, o, &old, &d);
	diag_print(&d, stderr, o->colour_err);
	calibration_free(&c);
	samples_free(&old);
	diag_free(&d);
	for (size_t i = 0; i < o->nwords; i++)
		free(only[i]);
	free(only);
	free(table);
	return status;
}
