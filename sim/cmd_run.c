#include "cmd_run.h"

#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "src.h"

void run_lower_source(struct run *r, const struct cmd_options *o, struct src *s)
{
	if (listing_given(s)) {
		run_listing_refuse(r, o, s);
		return;
	}
	r->schedule = schedule_parse(s, &r->diag);
	if (!r->schedule)
		return;
	const char *name = o->target ? o->target : r->schedule->target_name;
	const char *variant = o->variant ? o->variant : o->target ? NULL : r->schedule->variant;
	struct loc where = o->target ? (struct loc){0} : r->schedule->target_loc;
	r->target = target_load(name, variant, where, &r->diag);
	if (!r->target)
		return;
	if (o->size[0] && r->schedule->gemm) {
		r->schedule->m = o->size[0];
		r->schedule->n = o->size[1];
		r->schedule->k = o->size[2];
	}
	r->program = lower(r->schedule, r->target, &r->diag);
}

/* A program with faults is timed as well: the engine needs no right data, only an end. */
void run_predict(struct run *r, const struct cmd_options *o, struct src *s)
{
	run_lower_source(r, o, s);
	if (!r->program)
		return;
	run_check(r);
	r->prediction = xcalloc(1, sizeof(*r->prediction));
	if (predict(r->program, o->clock, true, r->prediction, &r->diag) != 0) {
		prediction_free(r->prediction);
		free(r->prediction);
		r->prediction = NULL;
		if (diag_has(&r->diag, DIAG_BARRIER)) /* the checker said it with the places */
			diag_drop(&r->diag, DIAG_DEADLOCK);
		return;
	}
	if (!r->unpriced)
		run_prices(r, o->price);
	report_findings(r->prediction, &r->diag);
}

void run_free(struct run *r)
{
	if (r->checked)
		check_result_free(&r->check);
	if (r->prediction) {
		prediction_free(r->prediction);
		free(r->prediction);
	}
	program_free(r->program);
	target_free(r->target);
	schedule_free(r->schedule);
	diag_free(&r->diag);
	free(r->gave_up);
}

void run_print_findings(const struct run *r, const struct cmd_options *o, FILE *result)
{
	fflush(result);
	diag_print(&r->diag, stderr, o->colour_err);
}

static void write_report(struct run *r, const struct cmd_options *o, FILE *f)
{
	struct report_options ro = {
		.colour = f == stdout && o->colour_out,
		.timeline = o->timeline,
		.formulas = o->formulas,
	};
	struct src *s = run_load(r, o);

	if (s)
		run_predict(r, o, s);
	if (o->format != FORMAT_TEXT) {
		report_json_checked(r->prediction, r->path, &r->diag, r->program,
				    r->checked ? &r->check : NULL, o->format == FORMAT_JSONL, f);
		return;
	}
	if (r->prediction)
		report_text(r->prediction, &r->diag, &ro, f);
	run_print_findings(r, o, f);
}

typedef void write_result(struct run *r, const struct cmd_options *o, FILE *f);
int run_each_file(const struct cmd_options *o, write_result *write)
{
	struct output out;
	int status = output_open(&out, o->output);

	if (status)
		return status;
	for (size_t i = 0; i < o->nwords; i++) {
		struct run r = {.path = o->words[i]};
		diag_init(&r.diag);
		if (i > 0 && o->format == FORMAT_TEXT && write == write_report)
			fputc('\n', out.f);
		write(&r, o, out.f);
		int s = run_status(&r, o);
		status = s > status ? s : status;
		run_free(&r);
	}
	if (status >= STATUS_BAD_INPUT && o->format == FORMAT_TEXT) {
		output_discard(&out);
		return status;
	}
	int s = output_commit(&out);
	return s > status ? s : status;
}

int cmd_predict(const struct cmd_options *o)
{
	if (o->format == FORMAT_SARIF)
		return cmd_error("--format sarif is for 'wpsim check'");
	return run_each_file(o, write_report);
}
