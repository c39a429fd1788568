#include "calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hw_job.h"
#include "src.h"

#define MAX_ROWS FIT_MAX_PARAMS
#define MAX_KERNELS 512u
#define MAX_LINE_FIELDS 5
/* What no repeat shows: the rest of the loop, the first trip, how the engine rounds. Relative and in clk. */
#define SYSTEMATIC 0.002
#define LEAST_CLK 0.05

static const char *const quantity_words[] = { "clk", "mhz", "us" };

/* ---- files ---- */

char *calibration_table_path(void)
{
	return target_find_file("calibrate.tsv");
}

char *calibration_kernel_path(const char *name)
{
	char *table = calibration_table_path(), *slash = table ? strrchr(table, '/') : NULL, *path = NULL;

	if (slash) {
		*slash = '\0';
		path = xasprintf("%s/../kernels/%s/schedule.xml", table, name);
	} else {
		path = xasprintf("kernels/%s/schedule.xml", name);
	}
	free(table);
	return path;
}

/* ---- the table ---- */

struct table_reader {
	struct calibration *c;
	struct diag *d;
	const char *target;
	const char *const *only;
	size_t nonly;
	size_t caprows, capkernels;
};

static bool wanted(const struct table_reader *r, const char *kernel)
{
	if (!r->only)
		return true;
	for (size_t i = 0; i < r->nonly; i++)
		if (strcmp(r->only[i], kernel) == 0)
			return true;
	return false;
}

static size_t kernel_index(struct table_reader *r, const char *name)
{
	struct calibration *c = r->c;

	for (size_t i = 0; i < c->nkernels; i++)
		if (strcmp(c->kernels[i].name, name) == 0)
			return i;
	c->kernels = xgrow(c->kernels, c->nkernels, &r->capkernels, sizeof(*c->kernels));
	c->kernels[c->nkernels] = (struct cal_kernel){ .name = arena_strdup(c->arena, name) };
	return c->nkernels++;
}

static void read_kernels(struct table_reader *r, struct cal_row *row, char *names)
{
	row->kernel = arena_alloc(r->c->arena, strlen(names) / 2 + 1, sizeof(*row->kernel));
	for (char *save = NULL, *w = strtok_r(names, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (r->c->nkernels >= MAX_KERNELS) {
			diag_add(r->d, row->loc, DIAG_LIMIT, "more than %u calibration kernels", MAX_KERNELS);
			return;
		}
		if (wanted(r, w))
			row->kernel[row->nkernels++] = kernel_index(r, w);
	}
}

static int word_index(const char *const *words, size_t n, const char *w)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], w) == 0)
			return (int)i;
	return -1;
}

/* target, parameter, quantity, kernels, what */
static void read_line(struct table_reader *r, char *line, struct loc loc)
{
	struct calibration *c = r->c;
	char *field[MAX_LINE_FIELDS];
	size_t n = 0;
	int q;

	for (char *p = line; p && n < MAX_LINE_FIELDS; n++)
		field[n] = strsep(&p, "\t");
	if (n != MAX_LINE_FIELDS) {
		diag_add(r->d, loc, DIAG_SAMPLES, "a line of the calibration table has %zu fields; it needs target, parameter, "
			 "quantity, kernels and a description, with a tab between", n);
		return;
	}
	if (strcmp(field[0], "target") == 0 || strcmp(field[0], r->target) != 0)
		return;
	q = word_index(quantity_words, ARRAY_LEN(quantity_words), field[2]);
	if (q < 0) {
		diag_fix(diag_add(r->d, loc, DIAG_SAMPLES, "'%s' is no quantity", field[2]), "write clk, mhz or us");
		return;
	}
	if (c->nrows >= MAX_ROWS) {
		diag_add(r->d, loc, DIAG_LIMIT, "more than %d values to calibrate", MAX_ROWS);
		return;
	}
	c->rows = xgrow(c->rows, c->nrows, &r->caprows, sizeof(*c->rows));
	c->rows[c->nrows] = (struct cal_row){ .param = arena_strdup(c->arena, field[1]), .quantity = (enum cal_quantity)q,
					      .what = arena_strdup(c->arena, field[4]), .loc = loc };
	read_kernels(r, &c->rows[c->nrows], field[3]);
	if (c->rows[c->nrows].nkernels)
		c->nrows++;
}

static void read_table(struct table_reader *r)
{
	const struct src *s = r->c->table;

	for (size_t i = 0; i < s->nlines; i++) {
		uint32_t begin = s->line_start[i], end = i + 1 < s->nlines ? s->line_start[i + 1] : (uint32_t)s->len;
		char *line;

		while (end > begin && strchr(" \t\r\n", s->text[end - 1]))
			end--;
		if (end == begin || s->text[begin] == '#')
			continue;
		line = xasprintf("%.*s", (int)(end - begin), s->text + begin);
		read_line(r, line, (struct loc){ s, begin, end });
		free(line);
	}
}

static void lower_kernel(struct calibration *c, struct cal_kernel *k, struct diag *d)
{
	struct src *s;

	k->path = calibration_kernel_path(k->name);
	k->run.path = k->path;
	diag_init(&k->run.diag);
	s = src_load(k->path, d);
	if (!s)
		return;
	k->run.schedule = schedule_parse(s, d);
	if (!k->run.schedule)
		return;
	k->run.program = lower(k->run.schedule, c->target, d);
	k->lowered = k->run.program != NULL;
	if (k->lowered)
		k->shorter = lower_shorter(k->run.schedule, k->run.program, c->target, &k->shorter_schedule);
	k->lowered_at = arena_alloc(c->arena, c->nrows + 1, sizeof(double));
	for (size_t i = 0; i < c->nrows; i++)
		k->lowered_at[i] = c->before[i];
}

int calibration_open(struct calibration *c, const char *table_path, const char *target, const char *const *only, size_t nonly,
		     const struct cmd_options *o, struct diag *d)
{
	struct table_reader r = { .c = c, .d = d, .only = only, .nonly = nonly };
	size_t errors = d->errors;
	char why[160];

	*c = (struct calibration){ .arena = arena_new() };
	c->table = src_load(table_path, d);
	c->target = target_load(target, o->variant, (struct loc){ 0 }, d);
	if (!c->table || !c->target)
		return -1;
	r.target = c->target->name;
	read_table(&r);
	if (d->errors == errors && c->nrows == 0 && !only)
		diag_add(d, (struct loc){ 0 }, DIAG_SAMPLES, "no kernel calibrates %s: see models/calibrate.tsv", c->target->name);
	c->param = xcalloc(c->nrows + 1, sizeof(*c->param));
	c->fit = xcalloc(c->nrows + 1, sizeof(*c->fit));
	c->before = xcalloc(c->nrows + 1, sizeof(*c->before));
	for (size_t i = 0; i < c->nrows; i++) {
		if (param_find(c->target, c->rows[i].param, &c->param[i], why, sizeof(why)) != 0)
			diag_add(d, c->rows[i].loc, DIAG_TARGET, "%s", why);
		else
			c->before[i] = param_get(&c->param[i]);
	}
	for (size_t i = 0; i < c->nkernels; i++)
		lower_kernel(c, &c->kernels[i], d);
	return d->errors > errors ? -1 : 0;
}

/* The newest sample of the very text, else the newest of the kernel's name. */
static void find_sample(struct cal_kernel *k, const struct samples *s, const char *target)
{
	char text[17] = "", listing[17] = "";

	hw_job_hash(k->run.program, false, text);
	hw_job_hash(k->run.program, true, listing);
	for (size_t i = s->n; i-- > 0 && !k->sample;)
		if (strcmp(s->list[i].target, target) == 0 &&
		    (strcmp(s->list[i].hash, text) == 0 || strcmp(s->list[i].hash, listing) == 0))
			k->sample = &s->list[i];
	if (!k->sample) {
		k->sample = samples_find_kernel(s, k->run.program->name, target);
		k->stale = k->sample != NULL;
	}
}

size_t calibration_samples(struct calibration *c, const struct samples *s)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nkernels; i++) {
		struct cal_kernel *k = &c->kernels[i];

		k->sample = NULL;
		k->stale = false;
		if (k->run.program)
			find_sample(k, s, c->target->name);
		n += k->sample != NULL;
	}
	return n;
}

/* ---- prediction with the values in hand ---- */

/* One prediction of a kernel is kept for each of the last sets of the values that it feels. */
#define MEMO 64

struct memo {
	double *values; /* [MEMO][nrows], unfelt ones 0 */
	double clk[MEMO], us[MEMO];
	size_t n;
	bool *feels;    /* [nrows] */
};

struct fitter {
	struct calibration *c;
	struct memo *memo; /* by kernel */
	bool *lowers;      /* [nrows]: the value shapes the program itself, not only its time */
	struct diag *d;
	size_t runs;
};

/* clk of the whole main loop, and time of the launch. Times in ns become clk at the clock that was measured. */
static int predict_loop(struct fitter *f, const struct program *p, double mhz, double *clk, double *us)
{
	struct prediction pr;
	char clock[32];

	snprintf(clock, sizeof(clock), "%.6f", mhz);
	f->runs++;
	if (predict(p, mhz > 0 ? clock : NULL, false, &pr, f->d) != 0)
		return -1;
	*clk = (double)pr.stats.loop_clk;
	*us = pr.time_us;
	prediction_free(&pr);
	return 0;
}

/* Some values decide what is lowered, as how many empty slots stand somewhere: then the program is made anew. */
static int lower_again(struct fitter *f, struct cal_kernel *k)
{
	struct calibration *c = f->c;
	bool same = true;

	for (size_t i = 0; i < c->nrows; i++)
		same &= !f->lowers[i] || k->lowered_at[i] == param_get(&c->param[i]);
	if (same)
		return 0;
	program_free(k->run.program);
	program_free(k->shorter);
	schedule_free(k->shorter_schedule);
	k->shorter = NULL;
	k->shorter_schedule = NULL;
	k->run.program = lower(k->run.schedule, c->target, f->d);
	if (!k->run.program)
		return -1;
	k->shorter = lower_shorter(k->run.schedule, k->run.program, c->target, &k->shorter_schedule);
	for (size_t i = 0; i < c->nrows; i++)
		k->lowered_at[i] = param_get(&c->param[i]);
	return 0;
}

/* As it was measured: from loops of two lengths where there were two. */
static int predict_kernel(struct fitter *f, struct cal_kernel *k)
{
	double trips, less = 0, clk = 0, unused, mhz = k->sample->clock_mhz;
	const struct program *p;

	if (lower_again(f, k) != 0)
		return -1;
	p = k->run.program;
	trips = (double)program_trips(p);
	if (predict_loop(f, p, mhz, &k->clk, &k->us) != 0)
		return -1;
	if (k->sample->steady_clk > 0 && k->shorter) {
		less = (double)program_trips(k->shorter);
		if (predict_loop(f, k->shorter, mhz, &clk, &unused) != 0)
			return -1;
	}
	k->clk = trips > less ? (k->clk - clk) / ((trips - less) * program_trip_steps(p)) : 0;
	return 0;
}

static void set_values(struct calibration *c, const double *x)
{
	for (size_t i = 0; i < c->nrows; i++)
		param_set(&c->param[i], x[i]);
}

static int predict_memo(struct fitter *f, size_t kernel, const double *x)
{
	struct calibration *c = f->c;
	struct cal_kernel *k = &c->kernels[kernel];
	struct memo *m = &f->memo[kernel];
	size_t slot;

	for (size_t i = 0; i < MEMO && i < m->n; i++) {
		bool same = true;

		for (size_t j = 0; j < c->nrows && same; j++)
			same = !m->feels[j] || m->values[i * c->nrows + j] == x[j];
		if (same) {
			k->clk = m->clk[i];
			k->us = m->us[i];
			return 0;
		}
	}
	if (predict_kernel(f, k) != 0)
		return -1;
	slot = m->n++ % MEMO;
	if (m->n >= 2 * MEMO)
		m->n = MEMO + m->n % MEMO;
	memcpy(m->values + slot * c->nrows, x, c->nrows * sizeof(*x));
	m->clk[slot] = k->clk;
	m->us[slot] = k->us;
	return 0;
}

static double predicted(const struct calibration *c, const struct cal_residual *r, const double *x)
{
	switch (r->quantity) {
	case CAL_CLK: return c->kernels[r->kernel].clk;
	case CAL_US: return c->kernels[r->kernel].us;
	case CAL_MHZ: break;
	}
	/* A clock is read directly: the value that names the kernel. */
	for (size_t i = 0; i < c->nrows; i++)
		for (size_t k = 0; c->rows[i].quantity == CAL_MHZ && k < c->rows[i].nkernels; k++)
			if (c->rows[i].kernel[k] == r->kernel)
				return x[i];
	return r->measured;
}

static int residuals(void *ctx, const double *x, double *out)
{
	struct fitter *f = ctx;
	struct calibration *c = f->c;

	set_values(c, x);
	for (size_t i = 0; i < c->nresiduals; i++)
		if (c->residual[i].quantity != CAL_MHZ && predict_memo(f, c->residual[i].kernel, x) != 0)
			return -1;
	for (size_t i = 0; i < c->nresiduals; i++)
		out[i] = (predicted(c, &c->residual[i], x) - c->residual[i].measured) / c->residual[i].sigma;
	return 0;
}

/* ---- what is compared with what ---- */

static double measured_of(const struct sample *s, enum cal_quantity q)
{
	switch (q) {
	case CAL_CLK: return s->steady_clk > 0 ? s->steady_clk : s->clk_per_step;
	case CAL_MHZ: return s->clock_mhz;
	case CAL_US: return s->time_us;
	}
	return 0;
}

static int find_residual(const struct calibration *c, size_t kernel, enum cal_quantity q)
{
	for (size_t i = 0; i < c->nresiduals; i++)
		if (c->residual[i].kernel == kernel && c->residual[i].quantity == q)
			return (int)i;
	return -1;
}

static void add_residual(struct calibration *c, size_t *cap, size_t kernel, enum cal_quantity q)
{
	const struct sample *s = c->kernels[kernel].sample;
	double v = s ? measured_of(s, q) : 0;

	if (v <= 0 || find_residual(c, kernel, q) >= 0)
		return;
	c->residual = xgrow(c->residual, c->nresiduals, cap, sizeof(*c->residual));
	c->residual[c->nresiduals++] = (struct cal_residual){
		.kernel = kernel, .quantity = q, .measured = v,
		.sigma = hypot(hypot(s->spread * v, SYSTEMATIC * v), q == CAL_CLK ? LEAST_CLK : 0),
	};
}

static void choose_residuals(struct calibration *c)
{
	size_t cap = 0;

	for (size_t i = 0; i < c->nrows; i++)
		for (size_t k = 0; k < c->rows[i].nkernels; k++)
			add_residual(c, &cap, c->rows[i].kernel[k], c->rows[i].quantity);
}

static double step_of(const struct param *p, double v)
{
	return p->whole ? fmax(1, round(0.01 * v)) : fmax(0.02 * fabs(v), 1e-3 * (p->hi - p->lo > 1 ? 1 : p->hi - p->lo));
}

static void choose_params(struct calibration *c)
{
	for (size_t i = 0; i < c->nrows; i++) {
		const struct cal_row *r = &c->rows[i];
		const struct param *p = &c->param[i];

		c->fit[i] = (struct fit_param){
			.value = c->before[i], .lo = p->lo, .hi = p->hi, .whole = p->whole,
			.step = step_of(p, c->before[i]), .prefer = p->whole_field ? c->target->v.issue_period : 0,
			.own = find_residual(c, r->kernel[0], r->quantity),
		};
	}
}

static char *listing_of(const struct program *p)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (out) {
		program_print(p, out);
		fclose(out);
	}
	return text;
}

/* Does another value give another program of some kernel? */
static void find_lowering(struct fitter *f, size_t row)
{
	struct calibration *c = f->c;
	const struct param *p = &c->param[row];
	struct diag quiet;

	diag_init(&quiet);
	param_set(p, fmin(c->before[row] * 1.5 + 1, p->hi));
	for (size_t k = 0; k < c->nkernels && !f->lowers[row]; k++) {
		struct program *other = c->kernels[k].run.schedule ? lower(c->kernels[k].run.schedule, c->target, &quiet) : NULL;
		char *a, *b;

		if (!other || !c->kernels[k].sample) {
			program_free(other);
			continue;
		}
		a = listing_of(c->kernels[k].run.program);
		b = listing_of(other);
		f->lowers[row] = a && b && strcmp(a, b) != 0;
		free(a);
		free(b);
		program_free(other);
	}
	param_set(p, c->before[row]);
	for (size_t k = 0; k < c->nkernels && f->lowers[row]; k++)
		f->memo[k].feels[row] = true;
	diag_free(&quiet);
}

/* Which values move which kernels: those that the table says, and those that are found to. */
static int find_influences(struct fitter *f)
{
	struct calibration *c = f->c;
	double *x = xcalloc(c->nrows + 1, sizeof(*x));
	int rc = 0;

	f->memo = xcalloc(c->nkernels + 1, sizeof(*f->memo));
	for (size_t k = 0; k < c->nkernels; k++) {
		f->memo[k].values = xcalloc(MEMO * (c->nrows + 1), sizeof(double));
		f->memo[k].feels = xcalloc(c->nrows + 1, sizeof(bool));
	}
	for (size_t i = 0; i < c->nrows; i++)
		for (size_t k = 0; k < c->rows[i].nkernels; k++)
			f->memo[c->rows[i].kernel[k]].feels[i] = true;
	memcpy(x, c->before, c->nrows * sizeof(*x));
	f->lowers = xcalloc(c->nrows + 1, sizeof(bool));
	set_values(c, x);
	for (size_t i = 0; i < c->nrows; i++)
		if (c->rows[i].quantity != CAL_MHZ && c->param[i].real) /* values only: rows of instructions are looked up */
			find_lowering(f, i);
	for (size_t k = 0; k < c->nkernels && rc == 0; k++) {
		struct cal_kernel *kernel = &c->kernels[k];
		const struct program *p = kernel->shorter ? kernel->shorter : kernel->run.program;
		double clk, us, clk2, us2, mhz = kernel->sample ? kernel->sample->clock_mhz : 0;

		if (find_residual(c, k, CAL_CLK) < 0 && find_residual(c, k, CAL_US) < 0)
			continue;
		set_values(c, x);
		rc = predict_loop(f, p, mhz, &clk, &us);
		for (size_t i = 0; i < c->nrows && rc == 0; i++) {
			const struct param *q = &c->param[i];
			double more = fmin(c->before[i] * 1.5 + 1, q->hi);

			if (f->memo[k].feels[i] || c->rows[i].quantity == CAL_MHZ)
				continue;
			param_set(q, more);
			rc = predict_loop(f, p, mhz, &clk2, &us2);
			param_set(q, c->before[i]);
			f->memo[k].feels[i] = clk2 != clk || us2 != us;
		}
	}
	free(x);
	return rc;
}

static void free_memo(struct fitter *f)
{
	for (size_t k = 0; f->memo && k < f->c->nkernels; k++) {
		free(f->memo[k].values);
		free(f->memo[k].feels);
	}
	free(f->memo);
	free(f->lowers);
}

static void keep_residuals(struct fitter *f, bool after, const double *weight)
{
	struct calibration *c = f->c;
	double *r = xcalloc(c->nresiduals + 1, sizeof(*r)), *x = xcalloc(c->nrows + 1, sizeof(*x));

	for (size_t i = 0; i < c->nrows; i++)
		x[i] = after ? c->fit[i].value : c->before[i];
	if (residuals(f, x, r) == 0)
		for (size_t i = 0; i < c->nresiduals; i++) {
			double v = predicted(c, &c->residual[i], x);

			if (after)
				c->residual[i].after = v;
			else
				c->residual[i].before = v;
			c->residual[i].weight = weight ? weight[i] : 1;
		}
	free(r);
	free(x);
}

int calibration_fit(struct calibration *c, struct diag *d)
{
	struct fitter f = { .c = c, .d = d };
	struct fit_problem p = { .nparams = c->nrows, .param = c->fit, .residuals = residuals, .ctx = &f };
	struct fit_result result = { 0 };
	int rc;

	choose_residuals(c);
	choose_params(c);
	if (c->nresiduals == 0) {
		diag_fix(diag_add(d, (struct loc){ 0 }, DIAG_SAMPLES, "none of the calibration kernels of %s was measured",
				  c->target->name),
			 "run 'wpsim calibrate' with a backend, or give --from a file that has them");
		return -1;
	}
	rc = find_influences(&f);
	if (rc == 0) {
		keep_residuals(&f, false, NULL);
		p.nresiduals = c->nresiduals;
		rc = fit_run(&p, &result);
	}
	if (rc == 0) {
		keep_residuals(&f, true, result.weight);
		c->scale = result.scale;
		c->converged = result.converged;
	}
	fit_result_free(&result);
	free_memo(&f);
	if (rc != 0 && d->errors == 0)
		diag_add(d, (struct loc){ 0 }, DIAG_SAMPLES, "the engine can't run the calibration kernels of %s", c->target->name);
	return rc;
}

void calibration_free(struct calibration *c)
{
	for (size_t i = 0; i < c->nkernels; i++) {
		program_free(c->kernels[i].shorter);
		schedule_free(c->kernels[i].shorter_schedule);
		run_free(&c->kernels[i].run);
		free(c->kernels[i].path);
	}
	free(c->kernels);
	free(c->rows);
	free(c->param);
	free(c->fit);
	free(c->before);
	free(c->residual);
	target_free(c->target);
	src_free(c->table);
	arena_free(c->arena);
	memset(c, 0, sizeof(*c));
}
