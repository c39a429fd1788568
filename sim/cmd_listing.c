/* Listings at the command line: their target, the checks that exist for them, what is refused. */
#include "cmd_run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codeobj.h"
#include "flow.h"
#include "src.h"

/* ---- files ---- */

struct src *run_load(struct run *r, const struct cmd_options *o)
{
	struct codeobj_options co = { .kernel = o->kernel, .target = o->target };
	struct src *s = src_load_bytes(r->path, &r->diag), *text;
	char target[32];

	if (!s)
		return NULL;
	if (codeobj_likely(s->text, s->len)) {
		text = codeobj_read(s, &co, target, &r->no_backend, &r->diag);
		r->code_object = text != NULL;
		src_free(s);
		return text;
	}
	if (src_is_text(s, &r->diag))
		return s;
	src_free(s);
	return NULL;
}

int run_status(const struct run *r, const struct cmd_options *o)
{
	int s = r->no_backend ? STATUS_NO_BACKEND : cmd_status_of(&r->diag);

	if (r->status > s)
		return r->status;
	return o->werror && r->diag.warnings && s == STATUS_CLEAN ? STATUS_FINDINGS : s;
}

static bool blank(const struct src *s)
{
	return strspn(s->text, " \t\r\n") == s->len;
}

bool listing_given(const struct src *s)
{
	size_t n = strlen(s->path);

	if (n >= 4 && strcmp(s->path + n - 4, ".xml") == 0)
		return false;
	return listing_likely(s) || (blank(s) && n >= 2 && strcmp(s->path + n - 2, ".s") == 0);
}

/* ---- the target ---- */

/* The word behind the last "--" of "amdgcn-amd-amdhsa--gfx942:xnack-"; false when there is none. */
static bool processor(const struct src *s, size_t begin, size_t end, struct loc *where)
{
	size_t at = begin, n = 0;

	while (at + 2 < end && (s->text[at] != '-' || s->text[at + 1] != '-'))
		at++;
	if (at + 2 >= end)
		return false;
	at += 2;
	while (at + n < end && (isalnum((unsigned char)s->text[at + n]) || s->text[at + n] == '-'))
		n++;
	*where = (struct loc){ s, (uint32_t)at, (uint32_t)(at + n) };
	return n > 0;
}

/* The place of the target's name in a directive or in the metadata. */
static bool written_target(const struct src *s, struct loc *where)
{
	static const char *const keys[] = { ".amdgcn_target", "amdhsa.target:" };

	for (size_t i = 0; i < s->nlines; i++) {
		size_t at = s->line_start[i], end = i + 1 < s->nlines ? s->line_start[i + 1] : s->len;

		while (at < end && (s->text[at] == ' ' || s->text[at] == '\t'))
			at++;
		for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
			size_t n = strlen(keys[k]);

			if (end - at > n && memcmp(s->text + at, keys[k], n) == 0 &&
			    processor(s, at + n, end, where))
				return true;
		}
	}
	return false;
}

static struct target *load_target(const struct src *s, const struct cmd_options *o, struct diag *d)
{
	struct loc where = { 0 };
	struct target *t;
	char *name;

	if (o->target)
		return target_load(o->target, o->variant, where, d);
	if (!written_target(s, &where)) {
		diag_fix(diag_add(d, (struct loc){ s, 0, 0 }, DIAG_TARGET,
				  "the listing does not say for which target it is"),
			 "give --target");
		return NULL;
	}
	name = xasprintf("%.*s", (int)(where.end - where.begin), s->text + where.begin);
	t = target_load(name, o->variant, where, d);
	free(name);
	return t;
}

/* ---- reading and checking ---- */

void run_listing(struct run *r, const struct cmd_options *o, struct src *s)
{
	struct listing_options lo = { .kernel = o->kernel, .unknown_warns = o->unknown_warns, .keep_operands = true };

	diag_keep(&r->diag, s);
	if (blank(s)) {
		diag_fix(diag_add(&r->diag, (struct loc){ s, 0, 0 }, DIAG_LISTING, "the listing is empty"),
			 "give the text that the compiler or llvm-objdump -d prints");
		return;
	}
	r->target = load_target(s, o, &r->diag);
	if (!r->target)
		return;
	if (target_is_ptx(r->target)) {
		diag_fix(diag_add(&r->diag, (struct loc){ s, 0, 0 }, DIAG_TARGET, "listings of %s are not read", r->target->name),
			 "give a listing of an AMD target");
		return;
	}
	r->program = listing_parse(s, r->target, &lo, &r->listing_info, &r->diag);
	r->listing = r->program != NULL;
}

static void check_flow(struct run *r, int (*find)(const struct program *, struct flow_result *))
{
	struct flow_result result = { 0 };
	int rc = find(r->program, &result);

	flow_report(r->program, &result, &r->diag);
	flow_result_free(&result);
	if (rc < 0 && !diag_has(&r->diag, DIAG_LIMIT))
		diag_add(&r->diag, r->program->insns[0].loc, DIAG_LIMIT,
			 "the control flow is too tangled to follow every path; findings may be missing");
}

void run_listing_check(struct run *r, const struct cmd_options *o, struct src *s)
{
	run_listing(r, o, s);
	if (!r->program)
		return;
	check_flow(r, flow_spacing);
	check_flow(r, flow_waits);
	run_listing_followed(r, o);
	r->followed = !r->status;
}

void run_listing_refuse(struct run *r, const struct cmd_options *o, struct src *s)
{
	const char *what = o->fix	  ? "--fix is for schedules: a listing is not mended" :
			   o->place_waits ? "--place-waits is for schedules: a listing is not mended" :
					    "this predicts schedules, and the file is a listing";

	bool timing = !o->fix && !o->place_waits;

	diag_keep(&r->diag, s);
	diag_fix(diag_add(&r->diag, (struct loc){ s, 0, 0 }, DIAG_LISTING, "%s", what),
		 timing ? "use wpsim annotate to time it, wpsim check to check it" : "leave the option out");
}

void run_listing_print(const struct run *r, FILE *f)
{
	const struct listing_info *in = &r->listing_info;
	size_t n = r->program->ninsns;

	if (r->program->insns[n - 1].flags & INSN_IMPLIED) /* the end that the text does not have */
		n--;
	fprintf(f, "  %s%s for %s: %zu instruction%s", in->kernel[0] ? "kernel " : "snippet", in->kernel,
		r->target->name, n, n == 1 ? "" : "s");
	if (in->unknown)
		fprintf(f, " (%zu unknown)", in->unknown);
	fprintf(f, "; %u VGPRs, %u AGPRs, %u SGPRs a wave; LDS %u bytes; scratch %u bytes", in->vgpr,
		in->agpr, in->sgpr, in->lds_bytes, in->scratch_bytes);
	if (in->vgpr_spills || in->sgpr_spills)
		fprintf(f, "; spilled: %u VGPRs, %u SGPRs", in->vgpr_spills, in->sgpr_spills);
	fputc('\n', f);
	if (r->followed)
		run_print_followed(r, f);
}
