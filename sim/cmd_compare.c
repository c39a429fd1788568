/* wpsim compare: predictions beside samples, published measurements, or a profiler's trace. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate.h"
#include "compare.h"
#include "evidence.h"
#include "hw_job.h"
#include "report_internal.h"
#include "rocprof.h"
#include "src.h"

#define MAX_SHAPE_ITEMS 8

struct source {
	const struct cmd_options *o;
	struct compare c;
	struct arena *arena; /* texts of rows */
	struct diag diag;    /* files; each schedule has its own */
	int status;
};

static void worse(struct source *s, int status)
{
	s->status = status > s->status ? status : s->status;
}

/* Nothing beside anything else: every group's time on every unit, scaled to the ideal by the matrix time. */
static double serial_clk(const struct prediction *pr)
{
	struct report_derived d;
	unsigned groups = pr->stats.groups;
	double own = 0, matrix = 0, out;

	report_derive(pr, &d);
	for (size_t i = 0; groups && i + groups <= d.nrows; i += groups) {
		double issue = 0, m = 0, rest = 0;
		unsigned n = 0;

		for (unsigned g = 0; g < groups; g++) {
			const struct report_row *r = &d.rows[i + g];

			if (!r->runs)
				continue;
			n++;
			issue += r->issue;
			m += r->matrix;
			rest += r->lds + r->vmem;
		}
		if (!n)
			continue;
		own += fmax(issue, m + rest) / n;
		matrix += m / n;
	}
	out = matrix > 0 ? pr->ideal_clk_per_step * own / matrix : own;
	report_derived_free(&d);
	return out;
}

/* Parse and lower; on a failure the findings are printed. */
static bool open_schedule(struct source *s, struct run *r, const char *path)
{
	struct src *text;

	*r = (struct run){ .path = path };
	diag_init(&r->diag);
	text = src_load(path, &r->diag);
	if (text)
		run_lower_source(r, s->o, text);
	if (r->program)
		return true;
	diag_print(&r->diag, stderr, s->o->colour_err);
	worse(s, cmd_status_of(&r->diag));
	return false;
}

/* ---- samples ---- */

/* Kernels of one shape, or with the same matrix work, are variants of each other. */
static const char *siblings_of(struct source *s, const struct program *p, double ideal)
{
	const struct gemm_shape *g = p->gemm;

	if (g)
		return arena_printf(s->arena, "%s %lldx%lldx%lld %s", p->target->name, (long long)g->m, (long long)g->n,
				    (long long)g->k, dtype_name(g->type_a));
	if (ideal <= 0)
		return NULL;
	return arena_printf(s->arena, "%s %.6g clk x %llu, %llu workgroups", p->target->name, ideal,
			    (unsigned long long)p->ksteps, (unsigned long long)p->workgroups);
}

static void add_stages(struct source *s, struct compare_row *row, const struct sample *x, const struct prediction *pr)
{
	struct compare_stage *stage = arena_alloc(s->arena, x->nstages + 1, sizeof(*stage));

	for (size_t i = 0; i < x->nstages; i++) {
		const struct sample_stage *m = &x->stages[i];

		stage[i] = (struct compare_stage){ arena_strdup(s->arena, m->name), m->group, m->clk,
						   predict_stage_clk(pr, m->name, m->group) };
	}
	row->stages = stage;
	row->nstages = x->nstages;
}

static void warn_other_text(const struct run *r, const struct sample *x)
{
	char hash[17];

	if (hw_job_hash(r->program, strcmp(x->backend, "sim") == 0, hash) && strcmp(hash, x->hash) != 0)
		cmd_error("%s: the sample of %s is of another version of this kernel (its text differs); measure it again", r->path,
			  x->date);
}

static void compare_sample(struct source *s, struct run *r, const struct sample *x)
{
	struct schedule *text = NULL;
	struct program *shorter = lower_shorter(r->schedule, r->program, r->target, &text);
	struct prediction pr;
	struct compare_row row = { 0 };
	double clk, us;

	if (predict_sample(r->program, shorter, x, &clk, &us, &pr, &r->diag) == 0) {
		row.id = arena_strdup(s->arena, x->kernel);
		row.kernel = row.id;
		row.target = arena_strdup(s->arena, x->target);
		row.where = arena_strdup(s->arena, x->device);
		row.measured = x->steady_clk > 0 ? x->steady_clk : x->clk_per_step;
		row.predicted = clk;
		row.ideal = pr.ideal_clk_per_step;
		row.serial = row.ideal > 0 ? serial_clk(&pr) : 0;
		row.siblings = siblings_of(s, r->program, row.ideal);
		row.measured_us = x->time_us;
		row.predicted_us = us;
		row.clock_mhz = x->clock_mhz;
		row.spread = x->spread;
		add_stages(s, &row, x, &pr);
		if (row.measured > 0 && row.predicted > 0) {
			warn_other_text(r, x);
			compare_add(&s->c, &row);
		} else {
			s->c.skipped++;
		}
		prediction_free(&pr);
	} else {
		diag_print(&r->diag, stderr, s->o->colour_err);
		worse(s, cmd_status_of(&r->diag));
	}
	program_free(shorter);
	schedule_free(text);
}

/* The newest sample of each kernel, target and device. */
static bool superseded(const struct samples *all, size_t i)
{
	const struct sample *a = &all->list[i];

	for (size_t k = i + 1; k < all->n; k++) {
		const struct sample *b = &all->list[k];

		if (strcmp(a->kernel, b->kernel) == 0 && strcmp(a->target, b->target) == 0 && strcmp(a->device, b->device) == 0)
			return true;
	}
	return false;
}

/* The schedule as it was named when it was measured, or the kernel of that name. */
static char *schedule_of(const struct sample *x)
{
	char *path;

	if (*x->schedule && access(x->schedule, R_OK) == 0)
		return xstrdup(x->schedule);
	path = calibration_kernel_path(x->kernel);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static void all_samples(struct source *s, const struct samples *all)
{
	for (size_t i = 0; i < all->n; i++) {
		char *path = superseded(all, i) ? NULL : schedule_of(&all->list[i]);
		struct run r;

		if (!path) {
			s->c.skipped += !superseded(all, i);
			continue;
		}
		if (open_schedule(s, &r, path))
			compare_sample(s, &r, &all->list[i]);
		run_free(&r);
		free(path);
	}
}

static void named_samples(struct source *s, const struct samples *all)
{
	for (size_t i = 0; i < s->o->nwords; i++) {
		struct run r;
		size_t found = 0;

		if (open_schedule(s, &r, s->o->words[i])) {
			for (size_t k = 0; k < all->n; k++) {
				const struct sample *x = &all->list[k];

				if (superseded(all, k) || strcmp(x->kernel, r.program->name) != 0 ||
				    strcmp(x->target, r.target->name) != 0)
					continue;
				compare_sample(s, &r, x);
				found++;
			}
			if (!found) {
				worse(s, cmd_error("%s holds no sample of '%s' for %s; 'wpsim run --samples' makes one",
						   s->o->samples, r.program->name, r.target->name));
			}
		}
		run_free(&r);
	}
}

static void from_samples(struct source *s)
{
	struct samples all;

	if (samples_load(&all, s->o->samples, false, &s->diag) != 0)
		worse(s, cmd_status_of(&s->diag));
	else if (s->o->nwords)
		named_samples(s, &all);
	else
		all_samples(s, &all);
	diag_print(&s->diag, stderr, s->o->colour_err);
	samples_free(&all);
}

/* ---- published measurements ---- */

/* Set the m, n and k that a row names. False: the schedule has none, or the row another word. */
static bool set_shape(struct schedule *s, const char *shape)
{
	char *copy, *save = NULL;
	bool ok = true;

	if (strcmp(shape, "-") == 0)
		return true;
	copy = xstrdup(shape);
	for (char *w = strtok_r(copy, " ", &save); w && ok; w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');
		int64_t v;

		ok = s->gemm && eq == w + 1 && parse_int64(eq + 1, 1, INT64_C(1) << 31, &v) == 0;
		if (ok && *w == 'm')
			s->m = v;
		else if (ok && *w == 'n')
			s->n = v;
		else if (ok && *w == 'k')
			s->k = v;
		else
			ok = false;
	}
	/* The launch has one workgroup a tile. */
	if (ok)
		s->workgroups = (uint64_t)((s->m + s->tile_m - 1) / s->tile_m) * (uint64_t)((s->n + s->tile_n - 1) / s->tile_n);
	free(copy);
	return ok;
}

static bool is_loop_quantity(const char *q)
{
	return strcmp(q, "loop_cycles_per_step") == 0 || strcmp(q, "loop_efficiency") == 0 || strcmp(q, "cycles_per_iteration") == 0;
}

static bool compare_published(struct source *s, const struct evidence_row *e)
{
	char *path = calibration_kernel_path(e->schedule);
	struct run r = { .path = path };
	struct compare_row row = { .id = e->id, .kernel = e->schedule, .target = e->target, .where = e->source, .fitted = e->fitted };
	struct prediction pr;
	struct src *text;
	bool ok = false;

	diag_init(&r.diag);
	text = src_load(path, &r.diag);
	if (text)
		r.schedule = schedule_parse(text, &r.diag);
	if (r.schedule && set_shape(r.schedule, e->shape))
		r.target = target_load(s->o->target ? s->o->target : r.schedule->target_name, r.schedule->variant,
				       r.schedule->target_loc, &r.diag);
	if (r.target)
		r.program = lower(r.schedule, r.target, &r.diag);
	if (r.program && predict(r.program, s->o->clock, false, &pr, &r.diag) == 0) {
		double steps = (double)program_trips(r.program) * program_trip_steps(r.program);

		row.ideal = pr.ideal_clk_per_step;
		row.predicted = strstr(e->shape, "k=") && steps > 0 ? (double)pr.stats.loop_clk / steps : pr.stats.clk_per_step;
		row.measured = strcmp(e->quantity, "loop_efficiency") == 0 ? row.ideal * 100 / e->value : e->value;
		row.serial = serial_clk(&pr);
		row.siblings = strcmp(e->siblings, "-") ? e->siblings : NULL;
		ok = row.predicted > 0 && row.measured > 0;
		if (ok)
			compare_add(&s->c, &row);
		prediction_free(&pr);
	}
	if (r.diag.errors) {
		diag_print(&r.diag, stderr, s->o->colour_err);
		worse(s, cmd_status_of(&r.diag));
	}
	run_free(&r);
	free(path);
	return ok;
}

/* Texts of rows point into ev, which the caller keeps until they are printed. */
static void from_published(struct source *s, struct evidence *ev)
{
	char *folder = target_find_file("evidence/README.md"), *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash) {
		*slash = '\0';
	} else {
		worse(s, cmd_error("models/evidence, the published measurements, can't be found"));
		free(folder);
		return;
	}
	if (evidence_load(ev, folder, &s->diag) != 0)
		worse(s, cmd_status_of(&s->diag));
	diag_print(&s->diag, stderr, s->o->colour_err);
	for (size_t i = 0; i < ev->n; i++) {
		const struct evidence_row *e = &ev->row[i];
		char *path = calibration_kernel_path(e->schedule);
		bool there = strcmp(e->schedule, "-") && access(path, R_OK) == 0;

		free(path);
		if (!there || !is_loop_quantity(e->quantity) || !compare_published(s, e))
			s->c.skipped++;
	}
	free(folder);
}

/* ---- the command ---- */

static void print_svg(struct source *s, double tolerance)
{
	struct output out;
	int status = output_open(&out, s->o->svg);

	if (status == 0) {
		compare_svg(&s->c, tolerance, out.f);
		status = output_commit(&out);
	}
	worse(s, status);
}

static void print(struct source *s)
{
	double tolerance = s->o->tolerance >= 0 ? s->o->tolerance / 100 : -1;
	struct output out;
	size_t beyond = compare_beyond(&s->c, tolerance);
	int status = output_open(&out, s->o->output);

	if (status) {
		worse(s, status);
		return;
	}
	if (s->o->format == FORMAT_CSV)
		compare_csv(&s->c, out.f);
	else if (s->o->format != FORMAT_TEXT)
		compare_json(&s->c, tolerance, s->o->format == FORMAT_JSONL, out.f);
	else
		compare_text(&s->c, tolerance, out.f);
	worse(s, output_commit(&out));
	if (s->o->svg)
		print_svg(s, tolerance);
	if (beyond && s->status == STATUS_CLEAN) {
		fflush(stdout);
		fprintf(stderr, "wpsim: %zu of %zu predictions are off by more than %g %%\n", beyond, s->c.n, s->o->tolerance);
		s->status = STATUS_TOLERANCE;
	}
}

static int refuse(const struct cmd_options *o)
{
	if (o->format == FORMAT_SARIF)
		return cmd_error("--format sarif is for 'wpsim check'");
	if (!!o->samples + o->published + !!o->trace != 1)
		return cmd_error("compare: say with what: --samples FILE, --published or --trace FILE, one of them");
	if (o->trace && o->nwords != 1)
		return cmd_error("compare --trace takes one listing");
	if (o->published && o->nwords)
		return cmd_error("compare --published takes no files");
	return 0;
}

int cmd_compare(const struct cmd_options *o)
{
	struct source s = { .o = o };
	struct evidence ev = { 0 };
	int status = refuse(o);

	if (status)
		return status;
	if (o->trace)
		return rocprof_compare(o);
	s.arena = arena_new();
	diag_init(&s.diag);
	if (o->samples)
		from_samples(&s);
	else
		from_published(&s, &ev);
	if (s.c.n)
		print(&s);
	else if (s.status == STATUS_CLEAN)
		s.status = cmd_error("there is nothing to compare");
	compare_free(&s.c);
	evidence_free(&ev);
	diag_free(&s.diag);
	arena_free(s.arena);
	return s.status;
}
