/* wpsim check: findings and the table of waits; mending; the part of the checker in other commands.
 */
#include "cmd_run.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdlib.h>
#include <string.h>

#include "check_report.h"
#include "fix.h"
#include "price.h"
#include "report.h"
#include "sarif.h"
#include "src.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

void run_check(struct run *r)
{
	r->checked = true;
	check_program(r->program, &r->check, &r->diag);
}

/* Runs of the engine longer than this are not repeated unasked, for a wait each. */
#define QUICK_INSNS 500000u

/* Searching for spare barriers means one examination a barrier: only when asked for. */
void run_prices(struct run *r, bool thorough)
{
	if (r->diag.errors)
		return;
	if (thorough) {
		check_spare_barriers(r->program, &r->check);
		price_spare_barriers(r->prediction, &r->check, &r->diag);
	}
	if (!thorough && r->prediction->stats.insns_stepped > QUICK_INSNS)
		return;
	if (price_waits_cost(r->prediction))
		price_early_waits(r->prediction, &r->check, &r->diag);
}

static void print_budget(const struct run *r, FILE *f)
{
	const struct prediction *pr = r->prediction;
	const struct program *p = r->program;

	fprintf(f,
		"  LDS %u of %.0f bytes; %u VGPRs, %u AGPRs, %u SGPRs a wave; %u workgroup%s of %u waves on a CU (limit: %s)\n",
		p->lds_bytes, p->target->v.lds_bytes, p->vgpr, p->agpr, p->sgpr, pr->resident,
		pr->resident == 1 ? "" : "s", p->waves, pr->resident_limit);
}

static void print_verdict(const struct run *r, FILE *f)
{
	const struct diag *d = &r->diag;

	if (d->errors + d->warnings == 0)
		fprintf(f, "%s: no errors, no warnings\n", r->path);
	else
		fprintf(f, "%s: %zu error%s, %zu warning%s\n", r->path, d->errors,
			d->errors == 1 ? "" : "s", d->warnings, d->warnings == 1 ? "" : "s");
}

static void examine(struct run *r, const struct cmd_options *o)
{
	struct src *s = run_load(r, o);

	r->unpriced = !o->price;
	if (s && listing_given(s))
		run_listing_check(r, o, s);
	else if (s)
		run_predict(r, o, s);
}

static void write_check(struct run *r, const struct cmd_options *o, FILE *f)
{
	examine(r, o);
	if (o->format != FORMAT_TEXT) {
		report_json_checked(r->prediction, r->path, &r->diag, r->program,
				    r->checked ? &r->check : NULL, o->format == FORMAT_JSONL, f);
		return;
	}
	run_print_findings(r, o, f);
	print_verdict(r, f);
	if (r->listing)
		run_listing_print(r, f);
	if (r->prediction)
		print_budget(r, f);
	if (r->checked)
		check_print_waits(r->program, &r->check, f);
}

static int check_sarif(const struct cmd_options *o)
{
	struct output out;
	struct sarif s;
	int status = output_open(&out, o->output);

	if (status)
		return status;
	sarif_begin(&s, PACKAGE_VERSION, out.f);
	for (size_t i = 0; i < o->nwords; i++) {
		struct run r = {.path = o->words[i]};
		int seen;

		diag_init(&r.diag);
		examine(&r, o);
		sarif_add(&s, &r.diag, r.path);
		seen = run_status(&r, o);
		status = seen > status ? seen : status;
		run_free(&r);
	}
	sarif_end(&s);
	int s2 = output_commit(&out);
	return s2 > status ? s2 : status;
}

int cmd_check(const struct cmd_options *o)
{
	if (o->fix || o->place_waits)
		return fix_command(o);
	struct cmd_options files = *o;
	int status = cmd_files_open(&files), seen = 0;

	if (files.nwords)
		seen = files.format == FORMAT_SARIF ? check_sarif(&files) : run_each_file(&files, write_check);
	cmd_files_close(&files);
	return seen > status ? seen : status;
}
