#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "explain.h"
#include "target.h"
#include "util.h"

static int finish(struct output *out, int status)
{
	if (status >= STATUS_BAD_INPUT) {
		output_discard(out);
		return status;
	}
	int s = output_commit(out);
	return s ? s : status;
}

/* Load a target, print its findings; NULL when it can't be used. */
static struct target *load(const struct cmd_options *o, const char *name)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_load(name, o->variant, (struct loc){ 0 }, &d);
	fflush(stdout);
	diag_print(&d, stderr, o->colour_err);
	diag_free(&d);
	return t;
}

int cmd_targets(const struct cmd_options *o)
{
	struct output out;
	struct arena *a = arena_new();
	const char **names = NULL;
	size_t n = o->nwords;
	int status = output_open(&out, o->output);

	if (status) {
		arena_free(a);
		return status;
	}
	if (n == 0) {
		n = target_names(a, &names);
		if (n == 0)
			status = cmd_error("no machine model was found; name their folder with "
					   "--models");
	}
	for (size_t i = 0; i < n; i++) {
		struct target *t = load(o, names ? names[i] : o->words[i]);
		if (!t) {
			status = STATUS_BAD_INPUT;
			continue;
		}
		if (names)
			fprintf(out.f, "%-12s%s\n", t->name, t->product);
		else
			target_print(t, out.f);
		target_free(t);
	}
	arena_free(a);
	return finish(&out, status);
}

static const char *severity_word(enum severity s)
{
	return s == SEV_ERROR ? "error" : s == SEV_WARNING ? "warning" : "note";
}

static int code_of(const char *word)
{
	const char *names[DIAG_COUNT], *near;

	for (int c = 0; c < DIAG_COUNT; c++) {
		names[c] = diag_code_name((enum diag_code)c);
		if (strcasecmp(names[c], word) == 0)
			return c;
	}
	near = word_nearest(word, names, DIAG_COUNT);
	cmd_error("there is no finding '%s'%s%s%s", word, near ? "; did you mean '" : "",
		  near ? near : "", near ? "'?" : "; 'wpsim explain' lists all");
	return -1;
}

static void explain(FILE *f, enum diag_code c, int width)
{
	fprintf(f, "%-*s  %-7s  exit %d  %s\n", width, diag_code_name(c),
		severity_word(diag_code_severity(c)), cmd_status_of_code(c), diag_code_meaning(c));
}

int cmd_explain(const struct cmd_options *o)
{
	struct output out;
	int status = output_open(&out, o->output), width = 0, pages = 0;

	if (status)
		return status;
	for (int c = 0; c < DIAG_COUNT && o->nwords == 0; c++) {
		int w = (int)strlen(diag_code_name((enum diag_code)c));
		width = w > width ? w : width;
	}
	for (int c = 0; c < DIAG_COUNT && o->nwords == 0; c++)
		explain(out.f, (enum diag_code)c, width);
	for (size_t i = 0; i < o->nwords; i++) {
		if (strcmp(o->words[i], "all") == 0) {
			explain_print_all(cmd_status_of_code, out.f);
			continue;
		}
		int c = code_of(o->words[i]);
		if (c < 0) {
			status = STATUS_BAD_INPUT;
			continue;
		}
		if (pages++)
			fputc('\n', out.f);
		explain_print((enum diag_code)c, cmd_status_of_code((enum diag_code)c), out.f);
	}
	return finish(&out, status);
}

int cmd_help(const struct cmd_options *o)
{
	const struct command *c;

	if (o->nwords > 1)
		return cmd_error("help takes one command");
	c = o->nwords ? cmd_find(o->words[0]) : cmd_default();
	if (!c)
		return cmd_unknown(o->words[0]);
	cmd_print_help(c);
	return STATUS_CLEAN;
}
