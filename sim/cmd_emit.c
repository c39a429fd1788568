/* wpsim emit: the kernel of a schedule as text or code object, or the program as a listing. */
#include "cmd_run.h"

#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "emit.h"
#include "src.h"

static void write_listing(struct run *r, const struct cmd_options *o, FILE *f)
{
	struct src *s = run_load(r, o);

	if (s && r->code_object) { /* the text that findings point into */
		diag_keep(&r->diag, s);
		fwrite(s->text, 1, s->len, f);
	} else if (s && listing_given(s)) {
		run_listing(r, o, s);
	} else if (s) {
		run_lower_source(r, o, s);
	}
	if (r->program)
		program_print(r->program, f);
	run_print_findings(r, o, f);
}

static int write_object(const struct kernel_text *k, FILE *f)
{
	char why[512];
	void *image = NULL;
	size_t bytes = 0;

	if (strncmp(k->target, "gfx", 3) != 0)
		return cmd_error("emit: --object is for AMD targets; the driver of %s assembles the text itself", k->target);
	switch (assemble(k->target, k->text, k->len, &image, &bytes, why, sizeof(why))) {
	case ASSEMBLE_DONE: break;
	case ASSEMBLE_NO_TOOL:
		cmd_error("emit: %s", why);
		return STATUS_NO_BACKEND;
	case ASSEMBLE_REFUSED:
	case ASSEMBLE_FAILED: return cmd_error("emit: %s", why);
	}
	fwrite(image, 1, bytes, f);
	free(image);
	return 0;
}

/* Print or assemble one kernel. A status. */
static int write_kernel(struct run *r, const struct cmd_options *o, FILE *f)
{
	struct emit_options eo = { .stamps = o->stamps, .kernel = o->kernel };
	struct kernel_text k;
	struct src *s = run_load(r, o);
	int status = 0;

	if (s)
		run_lower_source(r, o, s);
	if (!r->program || emit_kernel(r->program, &eo, &k, &r->diag) < 0)
		return cmd_status_of(&r->diag);
	if (o->object)
		status = write_object(&k, f);
	else
		fwrite(k.text, 1, k.len, f);
	kernel_text_free(&k);
	return status;
}

int cmd_emit(const struct cmd_options *o)
{
	struct output out;
	struct run r = { .path = o->words[0] };
	int status, s;

	if (o->listing)
		return run_each_file(o, write_listing);
	if (o->nwords != 1)
		return cmd_error("emit: one schedule at a time; --listing takes several");
	status = output_open(&out, o->output);
	if (status)
		return status;
	diag_init(&r.diag);
	status = write_kernel(&r, o, out.f);
	run_print_findings(&r, o, out.f);
	s = cmd_status_of(&r.diag);
	status = s > status ? s : status;
	run_free(&r);
	if (status) {
		output_discard(&out);
		return status;
	}
	return output_commit(&out);
}
