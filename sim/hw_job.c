#include "hw_job.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "assemble.h"
#include "hw_sim.h"
#include "report_internal.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

#define DEFAULT_REPEAT 20
#define DEFAULT_WARMUP 3
#define DEFAULT_TIMEOUT_S 10
#define INPUT_SEED 20
/* A loop shorter than this has no second length. */
#define LEAST_TRIPS 4

static const struct loc no_place;

uint64_t program_trips(const struct program *p)
{
	int l = p->groups ? p->main_loop[0] : -1;

	return l >= 0 && (size_t)l < p->nloops ? p->loops[l].trips : 0;
}

unsigned program_trip_steps(const struct program *p)
{
	int l = p->groups ? p->main_loop[0] : -1;

	return l >= 0 && (size_t)l < p->nloops && p->loops[l].steps ? p->loops[l].steps : 1;
}

/* ---- session ---- */

void hw_session_init(struct hw_session *s, const struct cmd_options *o)
{
	const char *noise = getenv("WPSIM_SIM_NOISE");

	*s = (struct hw_session){
		.warmup = DEFAULT_WARMUP,
		.repeat = o->repeat ? o->repeat : DEFAULT_REPEAT,
		.timeout_s = o->timeout_s ? o->timeout_s : DEFAULT_TIMEOUT_S,
		.hidden = getenv("WPSIM_SIM_TARGET"),
	};
	if (noise && (parse_double(noise, &s->noise) != 0 || !(s->noise >= 0 && s->noise < 1)))
		s->noise = 0;
	hw_backend_register(&hw_sim);
}

static int no_such_backend(const char *name)
{
	struct strbuf b = { 0 };
	int status;

	for (size_t i = 0; hw_backend_name(i); i++)
		strbuf_add(&b, "%s%s", i ? ", " : "", hw_backend_name(i));
	status = cmd_error("there is no backend '%s'; there are: %s", name, b.s);
	strbuf_free(&b);
	return status;
}

int hw_session_open(struct hw_session *s, const struct cmd_options *o, const struct target *t)
{
	struct hw_error e = { "" };

	if (s->b)
		return 0;
	if (o->backend) {
		s->b = hw_backend_find(o->backend);
		if (!s->b)
			return no_such_backend(o->backend);
	} else {
		s->b = hw_backend_probe(t->name, &e);
		if (!s->b) {
			cmd_error("%s", e.text);
			return STATUS_NO_BACKEND;
		}
	}
	if (s->b->open(&s->c, o->device, &e) == 0)
		return 0;
	cmd_error("backend %s: %s", s->b->name, e.text);
	s->b = NULL;
	return STATUS_NO_BACKEND;
}

void hw_session_close(struct hw_session *s)
{
	if (s->b)
		s->b->close(s->c);
	s->b = NULL;
}

static int check_device(struct hw_session *s, const struct target *t)
{
	struct hw_error e;

	if (s->b->describe(s->c, &s->device, &e) != 0) {
		cmd_error("backend %s: %s", s->b->name, e.text);
		return STATUS_NO_BACKEND;
	}
	if (s->b->any_arch || strcmp(s->device.arch, t->name) == 0)
		return 0;
	cmd_error("backend %s: the device is a %s (%s), and the schedule is for %s", s->b->name, s->device.name,
		  s->device.arch, t->name);
	return STATUS_NO_BACKEND;
}

static void on_interrupt(int sig)
{
	(void)sig;
	hw_interrupt();
}

void hw_catch_interrupt(void)
{
	struct sigaction a = { .sa_handler = on_interrupt, .sa_flags = SA_RESETHAND };

	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
}

/* ---- emission ---- */

/* For a backend that runs no text: the launch, and room for the two stamps of the loop. */
static void stand_in(struct hw_job *j, const struct program *p)
{
	struct kernel_text *t = &j->text;
	static const char *stages[] = { "loop-begin", "loop-end" };

	*t = (struct kernel_text){
		.kernel = xstrdup(p->name), .target = p->target->name, .grid = { 1, 1, 1 }, .cluster = { 1, 1, 1 },
		.block = { p->waves * (unsigned)p->target->v.wave_size, 1, 1 }, .stamps = 2, .stamp_stage = stages,
	};
	t->arg[0] = (struct emit_arg){ .kind = EARG_STAMPS, .name = "stamps", .bytes = p->waves * 2 * 8, .output = true };
	t->nargs = 1;
}

/* What tells the program from all others, when there is no text: its listing. */
static void hash_program(const struct program *p, char out[17])
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f) {
		program_print(p, f);
		fclose(f);
	}
	samples_hash(text ? text : "", n, out);
	free(text);
}

static bool is_amd_name(const char *target)
{
	return strncmp(target, "gfx", 3) == 0;
}

static int assemble_text(struct hw_job *j, struct diag *d)
{
	char why[400];
	enum assemble_status s = assemble(j->text.target, j->text.text, j->text.len, &j->image, &j->image_bytes, why,
					  sizeof(why));

	if (s == ASSEMBLE_DONE)
		return 0;
	if (s == ASSEMBLE_NO_TOOL && !is_amd_name(j->text.target))
		return 0; /* the driver compiles the text itself */
	if (s == ASSEMBLE_REFUSED) {
		diag_add(d, no_place, DIAG_TARGET, "%s", why);
		return STATUS_BAD_INPUT;
	}
	cmd_error("%s", why);
	return s == ASSEMBLE_NO_TOOL ? STATUS_NO_BACKEND : STATUS_BAD_INPUT;
}

static int emit_program(struct hw_job *j, const struct program *p, bool timing_only, struct diag *d)
{
	struct emit_options eo = { .stamps = true };

	if (timing_only) {
		stand_in(j, p);
		hash_program(p, j->hash);
		return 0;
	}
	if (emit_kernel(p, &eo, &j->text, d) != 0)
		return cmd_status_of(d) ? cmd_status_of(d) : STATUS_BAD_INPUT;
	j->emitted = true;
	samples_hash(j->text.text, j->text.len, j->hash);
	return assemble_text(j, d);
}

int hw_job_emit(struct hw_job *j, const struct run *r, bool timing_only, struct diag *d)
{
	*j = (struct hw_job){ .arena = arena_new() };
	return emit_program(j, r->program, timing_only, d);
}

bool hw_job_hash(const struct program *p, bool timing_only, char out[17])
{
	struct hw_job j = { 0 };
	struct emit_options eo = { .stamps = true };
	struct diag quiet;
	bool ok = true;

	if (timing_only) {
		hash_program(p, out);
		return true;
	}
	diag_init(&quiet);
	ok = emit_kernel(p, &eo, &j.text, &quiet) == 0;
	if (ok) {
		samples_hash(j.text.text, j.text.len, out);
		kernel_text_free(&j.text);
	}
	diag_free(&quiet);
	return ok;
}

/* ---- prediction of what was measured ---- */

int predict_sample(const struct program *p, const struct program *shorter, const struct sample *s, double *clk, double *us,
		   struct prediction *pr, struct diag *d)
{
	double trips = (double)program_trips(p), less = 0, loop;
	char clock[32];
	const char *at = s->clock_mhz > 0 ? clock : NULL;

	snprintf(clock, sizeof(clock), "%.6f", s->clock_mhz);
	if (predict(p, at, false, pr, d) != 0)
		return -1;
	loop = (double)pr->stats.loop_clk;
	*us = pr->time_us;
	if (s->steady_clk > 0 && shorter) {
		struct prediction half;

		if (predict(shorter, at, false, &half, d) != 0) {
			prediction_free(pr);
			return -1;
		}
		loop -= (double)half.stats.loop_clk;
		less = (double)program_trips(shorter);
		prediction_free(&half);
	}
	*clk = trips > less ? loop / ((trips - less) * program_trip_steps(p)) : 0;
	return 0;
}

double predict_stage_clk(const struct prediction *pr, const char *stage, unsigned group)
{
	struct report_derived d;
	double clk = 0;

	report_derive(pr, &d);
	for (size_t i = 0; i < d.nrows; i++) {
		const struct report_row *r = &d.rows[i];

		if (r->runs && r->group == group && strcmp(pr->program->stages[r->stage].name, stage) == 0)
			clk = r->elapsed;
	}
	report_derived_free(&d);
	return clk;
}

/* ---- measuring ---- */

struct program *lower_shorter(const struct schedule *from, const struct program *p, const struct target *t,
			      struct schedule **schedule)
{
	uint64_t trips = program_trips(p), less = trips / 2;
	struct program *out = NULL;
	struct schedule *s;
	struct diag quiet;

	*schedule = NULL;
	if (trips < LEAST_TRIPS)
		return NULL;
	diag_init(&quiet);
	s = schedule_parse(src_from_text(from->src->path, from->src->text, from->src->len), &quiet);
	for (struct sched_section *x = s ? s->sections : NULL; x; x = x->next) {
		if (x->kind != SECTION_LOOP)
			continue;
		if (s->gemm && x->trips < 0)
			s->k = ((int64_t)less * x->unroll + x->peel) * s->tile_k;
		else if (x->trips >= 0 && (uint64_t)x->trips == trips)
			x->trips = (int64_t)less;
	}
	out = s ? lower(s, t, &quiet) : NULL;
	if (!out || program_trips(out) != less) {
		program_free(out);
		schedule_free(s);
		out = NULL;
	} else {
		*schedule = s;
	}
	diag_free(&quiet);
	return out;
}

static void one_kernel(struct measure_kernel *k, const struct hw_job *j, const struct program *p)
{
	*k = (struct measure_kernel){
		.text = &j->text, .image = j->image ? j->image : j->text.text,
		.image_bytes = j->image ? j->image_bytes : j->text.len,
		.trips = program_trips(p), .steps = program_trip_steps(p), .waves = p->waves, .groups = p->groups,
	};
}

static int run_one(const struct hw_job *j, struct hw_session *s, const struct program *p, struct measurement *m)
{
	struct measure_options mo = { s->warmup, s->repeat, s->timeout_s, INPUT_SEED };
	struct measure_kernel k;
	struct hw_error e = { "" };

	one_kernel(&k, j, p);
	if (measure(s->b, s->c, &k, &mo, m, &e) == 0)
		return 0;
	measurement_free(m);
	cmd_error("%s: backend %s: %s", p->name, s->b->name, e.text);
	return STATUS_NO_BACKEND;
}

/* With a loop of half the length what is not loop falls out of the difference. */
static void measure_shorter(struct hw_job *j, struct hw_session *s, const struct run *r, const struct program *shorter,
			    double rounds)
{
	struct hw_job half = { .arena = NULL };
	struct measurement *m = xcalloc(1, sizeof(*m));
	double trips = (double)program_trips(r->program) - (double)program_trips(shorter), clk, ms;
	struct diag quiet;

	diag_init(&quiet);
	if (emit_program(&half, shorter, s->b->timing_only, &quiet) == 0 && run_one(&half, s, shorter, m) == 0) {
		clk = j->m.loop_clk_median - m->loop_clk_median;
		ms = j->m.ms_median - m->ms_median;
		if (clk > 0 && m->loop_clk_median > 0 && m->verdict != VERDICT_WRONG) {
			j->sample.steady_clk = clk / (trips * program_trip_steps(r->program));
			/* The time difference must stand out of the launches' own spread. */
			if (ms > 10 * (j->m.ms_max - j->m.ms_min) || ms > 0.1 * j->m.ms_median)
				j->sample.clock_mhz = clk * rounds / ms * 1e-3;
		}
	}
	measurement_free(m);
	free(m);
	diag_free(&quiet);
	hw_job_free(&half);
}

static const char *now_text(struct arena *a)
{
	time_t t = time(NULL);
	struct tm tm;
	char text[32];

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return arena_strdup(a, text);
}

static void fill_sample(struct hw_job *j, const struct hw_session *s, const struct run *r)
{
	struct sample *x = &j->sample;
	const struct measurement *m = &j->m;
	const struct program *p = r->program;
	struct sample_stage *stages = arena_alloc(j->arena, m->nstages + 1, sizeof(*stages));
	const char **warnings = arena_alloc(j->arena, 33, sizeof(*warnings));

	x->kernel = p->name;
	x->schedule = r->path;
	x->hash = j->hash;
	x->target = p->target->name;
	x->backend = s->b->name;
	x->device = s->device.name;
	x->arch = s->device.arch;
	x->driver = s->device.driver;
	x->date = now_text(j->arena);
	x->version = PACKAGE_VERSION;
	x->workgroups = p->workgroups;
	x->trips = program_trips(p);
	x->steps = x->trips ? program_trip_steps(p) : 0;
	x->repeats = m->repeats;
	x->loop_clk = m->loop_clk_median;
	x->clk_per_step = m->clk_per_step;
	x->spread = m->spread;
	x->time_us = m->ms_median * 1000;
	x->result = m->verdict == VERDICT_RIGHT ? "right" : "unchecked";
	x->registers = m->function.registers;
	x->spill_bytes = m->function.spill_bytes;
	for (size_t i = 0; i < m->nstages; i++)
		stages[i] = (struct sample_stage){ m->stages[i].name, m->stages[i].group, m->stages[i].clk };
	x->stages = stages;
	x->nstages = m->nstages;
	for (unsigned bit = 0; bit < 32; bit++) {
		const char *text = m->warnings & 1u << bit ? measure_warning_text((enum measure_warning)(1u << bit)) : NULL;

		if (text)
			warnings[x->nwarnings++] = text;
	}
	x->warnings = warnings;
}

static int wrong_result(struct hw_job *j, struct run *r)
{
	const struct verify_result *v = &j->m.verify;
	struct finding *f = diag_add(&r->diag, r->program->ninsns ? r->program->insns[0].loc : no_place, DIAG_WRONG,
				     "%llu of %llu results are wrong; the worst is C[%lld][%lld]: %.9g, and should be %.9g",
				     (unsigned long long)v->wrong, (unsigned long long)v->checked, (long long)v->row,
				     (long long)v->col, v->got, v->want);

	diag_fix(f, "'wpsim check' finds missing waits and barriers, 'wpsim exec' runs the kernel step by step");
	return STATUS_FINDINGS;
}

/* The sim backend runs the schedule as the hidden model would. */
static int lower_hidden(struct run *hidden, const struct hw_session *s, const struct run *r, const struct cmd_options *o)
{
	struct cmd_options ho = *o;
	const struct src *src = r->schedule->src;

	*hidden = (struct run){ .path = r->path };
	diag_init(&hidden->diag);
	if (s->hidden) {
		ho.target = s->hidden;
		ho.variant = NULL;
	}
	run_lower_source(hidden, &ho, src_from_text(src->path, src->text, src->len));
	if (hidden->program)
		return 0;
	diag_print(&hidden->diag, stderr, false);
	return STATUS_BAD_INPUT;
}

/* Workgroups one after the other on a compute unit. */
static double rounds_of(const struct program *p)
{
	struct prediction pr;
	struct diag quiet;
	double rounds = 1;

	diag_init(&quiet);
	if (predict(p, NULL, false, &pr, &quiet) == 0) {
		rounds = (double)pr.rounds;
		prediction_free(&pr);
	}
	diag_free(&quiet);
	return rounds;
}

static int measure_both(struct hw_job *j, struct hw_session *s, const struct run *r, const struct run *hidden)
{
	struct program *played = NULL;
	struct schedule *played_schedule = NULL;
	int rc;

	if (hidden)
		hw_sim_program(hidden->program, s->noise);
	rc = run_one(j, s, r->program, &j->m);
	if (rc != 0)
		return rc;
	j->measured = true;
	if (j->m.verdict == VERDICT_WRONG)
		return 0;
	fill_sample(j, s, r);
	j->shorter = lower_shorter(r->schedule, r->program, r->program->target, &j->shorter_schedule);
	if (j->shorter && j->m.loop_clk_median > 0) {
		if (hidden) {
			played = lower_shorter(r->schedule, r->program, hidden->target, &played_schedule);
			hw_sim_program(played ? played : j->shorter, s->noise);
		}
		measure_shorter(j, s, r, j->shorter, rounds_of(r->program));
	}
	program_free(played);
	schedule_free(played_schedule);
	return 0;
}

int hw_job_measure(struct hw_job *j, struct hw_session *s, struct run *r, const struct cmd_options *o)
{
	bool sim = s->b == &hw_sim;
	struct run hidden = { 0 };
	int rc = 0;

	if (sim) {
		rc = lower_hidden(&hidden, s, r, o);
		if (rc == 0)
			hw_sim_program(hidden.program, s->noise);
	}
	if (rc == 0)
		rc = check_device(s, r->target);
	if (rc == 0)
		rc = measure_both(j, s, r, sim ? &hidden : NULL);
	if (rc == 0 && j->m.verdict == VERDICT_WRONG)
		rc = wrong_result(j, r);
	if (sim) {
		hw_sim_program(NULL, 0);
		run_free(&hidden);
	}
	return rc;
}

void hw_job_free(struct hw_job *j)
{
	if (j->emitted)
		kernel_text_free(&j->text);
	else
		free(j->text.kernel);
	free(j->image);
	program_free(j->shorter);
	schedule_free(j->shorter_schedule);
	measurement_free(&j->m);
	arena_free(j->arena);
	memset(j, 0, sizeof(*j));
}
