/* wpsim compare --trace: what the profiler saw beside what the model says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "cmd_run.h"
#include "fit.h"
#include "paths.h"
#include "rocprof.h"
#include "src.h"

#define WAVES_ASSUMED 4

/* ---- a listing, line by line ---- */

static bool same_mnemonic(const char *a, const char *b)
{
	size_t n = strcspn(a, " \t"), m = strcspn(b, " \t");
	static const char *const encodings[] = { "_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp", "_vi" };

	/* Disassemblers name the encoding, assembler text mostly does not. */
	for (size_t i = 0; i < ARRAY_LEN(encodings); i++) {
		size_t len = strlen(encodings[i]);

		if (n > len && strncmp(a + n - len, encodings[i], len) == 0)
			n -= len;
		if (m > len && strncmp(b + m - len, encodings[i], len) == 0)
			m -= len;
	}
	return n == m && strncmp(a, b, n) == 0;
}

/* Where the loop's instructions stand in the trace: of equal places the one hit most. -1: nowhere. */
static long find_loop(const struct trace *t, const struct annotation *a)
{
	double most = -1;
	long best = -1;

	for (size_t at = 0; at + a->nlines <= t->ninsns && a->nlines; at++) {
		double hits = 0;
		size_t i;

		for (i = 0; i < a->nlines; i++) {
			if (!same_mnemonic(t->insn[at + i].text, a->program->insns[a->lines[i].insn].op))
				break;
			hits += t->insn[at + i].hits;
		}
		if (i == a->nlines && hits > most) {
			most = hits;
			best = (long)at;
		}
	}
	return best;
}

struct line_sum { double measured, predicted, measured_stall, predicted_stall; };

static struct line_sum line_of(const struct trace_insn *m, const struct annotate_line *p)
{
	struct line_sum s = { 0 };

	if (m->hits > 0) {
		s.measured = m->latency_clk / m->hits;
		s.measured_stall = m->stall_clk / m->hits;
	}
	for (int r = 0; r < ST_COUNT && p->issues; r++) {
		s.predicted += (double)p->stall_clk[r] / (double)p->issues;
		if (r != ST_ISSUE)
			s.predicted_stall += (double)p->stall_clk[r] / (double)p->issues;
	}
	return s;
}

static void print_lines(const struct trace *t, const struct annotation *a, size_t at, struct line_sum *sum, FILE *f)
{
	double *m = xcalloc(a->nlines + 1, sizeof(*m)), *p = xcalloc(a->nlines + 1, sizeof(*p)), tau;

	fprintf(f, "%6s %10s %10s %10s %10s %10s  %s\n", "line", "hits", "clk", "predicted", "stall", "predicted", "instruction");
	for (size_t i = 0; i < a->nlines; i++) {
		const struct trace_insn *insn = &t->insn[at + i];
		struct line_sum s = line_of(insn, &a->lines[i]);

		m[i] = s.measured;
		p[i] = s.predicted;
		sum->measured += s.measured;
		sum->predicted += s.predicted;
		sum->measured_stall += s.measured_stall;
		sum->predicted_stall += s.predicted_stall;
		fprintf(f, "%6u %10.0f %10.2f %10.2f %10.2f %10.2f  %s\n", loc_line(a->program->insns[a->lines[i].insn].loc), insn->hits,
			s.measured, s.predicted, s.measured_stall, s.predicted_stall, insn->text);
	}
	tau = fit_kendall(m, p, a->nlines);
	fprintf(f, "%6s %10s %10.2f %10.2f %10.2f %10.2f  a trip of one wave", "", "", sum->measured, sum->predicted, sum->measured_stall,
		sum->predicted_stall);
	if (sum->measured > 0)
		fprintf(f, ": %+.2f %%", 100 * (sum->predicted / sum->measured - 1));
	fputc('\n', f);
	if (!isnan(tau))
		fprintf(f, "order of the lines by clk: Kendall tau %.2f\n", tau);
	free(m);
	free(p);
}

static int compare_listing(struct run *r, const struct cmd_options *o, struct src *s, const struct trace *t, FILE *f)
{
	struct annotate_options ao = { .clock = o->clock };
	struct paths paths = { 0 };
	struct line_sum sum = { 0 };
	struct annotation a;
	long at;
	int status = 0;

	run_listing(r, o, s);
	if (!r->program)
		return cmd_status_of(&r->diag);
	if (!r->listing_info.workgroup_threads)
		r->program->waves = WAVES_ASSUMED;
	ao.waves_assumed = !r->listing_info.workgroup_threads;
	paths_follow(r->program, &r->listing_info, o->block, ao.waves_assumed ? r->program->waves : 0, NULL, NULL, &paths);
	ao.paths = &paths;
	if (annotate(r->program, &ao, &a, &r->diag) != 0) {
		paths_free(&paths);
		return cmd_status_of(&r->diag);
	}
	at = find_loop(t, &a);
	if (at < 0) {
		diag_fix(diag_add(&r->diag, (struct loc){ t->src, 0, 0 }, DIAG_SAMPLES,
				  "the trace does not hold the %zu instructions of the hot loop of %s one after the other", a.nlines, r->path),
			 "trace the very kernel that the listing shows: a compiler's text changes with its release");
		status = STATUS_BAD_INPUT;
	} else {
		print_lines(t, &a, (size_t)at, &sum, f);
		if (o->tolerance >= 0 && sum.measured > 0 &&
		    fabs(sum.predicted / sum.measured - 1) * 100 > o->tolerance)
			status = STATUS_TOLERANCE;
	}
	annotation_free(&a);
	paths_free(&paths);
	return status;
}

/* ---- a schedule's time ---- */

/* The kernel's symbol is the schedule's name with _ for each -; a trace may add parameters. */
static bool is_kernel(const char *traced, const char *name)
{
	size_t i = 0;

	for (; name[i]; i++) {
		char c = name[i] == '-' || name[i] == '.' ? '_' : name[i];

		if (traced[i] != c && traced[i] != name[i])
			return false;
	}
	return traced[i] == '\0' || traced[i] == '(' || traced[i] == ' ' || traced[i] == '.';
}

static int compare_times(struct run *r, const struct cmd_options *o, struct src *s, const struct trace *t, FILE *f)
{
	double *us = xcalloc(t->ndispatches + 1, sizeof(*us)), median;
	struct prediction pr;
	size_t n = 0;
	int status = 0;

	run_lower_source(r, o, s);
	if (!r->program || predict(r->program, o->clock, false, &pr, &r->diag) != 0) {
		free(us);
		return cmd_status_of(&r->diag);
	}
	for (size_t i = 0; i < t->ndispatches; i++)
		if (is_kernel(t->dispatch[i].kernel, r->program->name))
			us[n++] = t->dispatch[i].ns / 1000;
	median = fit_median(us, n);
	if (n == 0) {
		diag_add(&r->diag, (struct loc){ t->src, 0, 0 }, DIAG_SAMPLES, "no dispatch in the trace is of a kernel named like '%s'",
			 r->program->name);
		status = STATUS_BAD_INPUT;
	} else {
		fprintf(f, "%s: %zu dispatches, median %.3f us; predicted %.3f us at %s (%+.2f %%)\n", r->program->name, n, median,
			pr.time_us, pr.clock_source, 100 * (pr.time_us / median - 1));
		if (o->tolerance >= 0 && fabs(pr.time_us / median - 1) * 100 > o->tolerance)
			status = STATUS_TOLERANCE;
	}
	prediction_free(&pr);
	free(us);
	return status;
}

int rocprof_compare(const struct cmd_options *o)
{
	struct run r = { .path = o->words[0] };
	struct trace t = { 0 };
	struct output out;
	struct src *s;
	int status;

	diag_init(&r.diag);
	s = src_load(o->trace, &r.diag);
	status = !s || trace_parse(&t, s, &r.diag) != 0 ? cmd_status_of(&r.diag) : 0;
	s = status ? NULL : run_load(&r, o);
	if (!status && !s)
		status = run_status(&r, o);
	if (!status)
		status = output_open(&out, o->output);
	if (!status) {
		bool listing = listing_given(s);

		if (listing == (t.kind == TRACE_INSTRUCTIONS)) {
			status = listing ? compare_listing(&r, o, s, &t, out.f) : compare_times(&r, o, s, &t, out.f);
		} else {
			src_free(s);
			status = cmd_error(listing ? "%s is a trace of whole kernels; compare a schedule with it" :
					   "%s is a trace of instructions; compare a listing with it", o->trace);
		}
		if (status >= STATUS_BAD_INPUT && status != STATUS_TOLERANCE) {
			output_discard(&out);
		} else {
			int e = output_commit(&out);

			status = e > status ? e : status;
		}
	} else if (s) {
		src_free(s);
	}
	diag_print(&r.diag, stderr, o->colour_err);
	run_free(&r);
	trace_free(&t);
	return status;
}
