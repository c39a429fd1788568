/* wpsim annotate: a listing with what each instruction of its hot loop costs. */
#include "cmd_run.h"

#include "annotate.h"
#include "paths.h"
#include "src.h"

#define WAVES_ASSUMED 4

static void write_annotation(struct run *r, const struct cmd_options *o, FILE *f)
{
	struct annotate_options ao = {
		.clock = o->clock, .trips = o->trips, .ntrips = o->ntrips, .bank_conflicts = o->bank_conflicts,
	};
	struct src *s = run_load(r, o);
	struct paths paths = { 0 };
	struct annotation a;
	bool done = false;

	if (o->format == FORMAT_TEXT && r->path != o->words[0])
		fputc('\n', f);
	if (s && listing_given(s)) {
		run_listing(r, o, s);
	} else if (s) {
		diag_keep(&r->diag, s);
		diag_fix(diag_add(&r->diag, (struct loc){ s, 0, 0 }, DIAG_LISTING,
				  "annotate is for listings, this is a schedule"),
			 "leave the command out: wpsim %s", r->path);
	}
	if (r->program) {
		if (o->waves)
			r->program->waves = o->waves;
		else if (!r->listing_info.workgroup_threads)
			r->program->waves = WAVES_ASSUMED;
		ao.waves_assumed = !o->waves && !r->listing_info.workgroup_threads;
		ao.paths = &paths;
		done = run_follow(r, o, ao.waves_assumed || o->waves ? r->program->waves : 0, &paths) == 0 && annotate(r->program, &ao, &a, &r->diag) == 0;
	}
	if (o->format != FORMAT_TEXT)
		annotate_json(done ? &a : NULL, &r->listing_info, r->path, &r->diag, o->format == FORMAT_JSONL, f);
	else if (done)
		annotate_text(&a, &r->listing_info, f == stdout && o->colour_out, f);
	if (o->format == FORMAT_TEXT)
		run_print_findings(r, o, f);
	if (done)
		annotation_free(&a);
	paths_free(&paths);
}

int cmd_annotate(const struct cmd_options *o)
{
	if (o->format == FORMAT_SARIF)
		return cmd_error("--format sarif is for 'wpsim check'");
	return run_each_file(o, write_annotation);
}
