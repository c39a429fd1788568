#include "explain.h"

#include <string.h>

static const struct explanation pages[DIAG_COUNT] = {
#define EXPLAIN(tail, cause, wrong, right, todo) [DIAG_##tail] = {cause, wrong, right, todo},
#include "explain.def"
#undef EXPLAIN
};

#define WIDTH 96

const struct explanation *explain_code(enum diag_code c)
{
	return pages[c].cause ? &pages[c] : NULL;
}

static const char *severity_word(enum severity s)
{
	return s == SEV_ERROR ? "error" : s == SEV_WARNING ? "warning" : "note";
}

/* Words of text, broken at blanks. */
static void print_wrapped(const char *text, FILE *out)
{
	size_t col = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (col && col + 1 + n > WIDTH) {
			fputc('\n', out);
			col = 0;
		}
		if (col) {
			fputc(' ', out);
			col++;
		}
		fwrite(text, 1, n, out);
		col += n;
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void print_excerpt(const char *title, const char *text, FILE *out)
{
	fprintf(out, "\n%s:\n\n", title);
	while (*text) {
		size_t n = strcspn(text, "\n");

		fprintf(out, "    %.*s\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static void print_body(enum diag_code c, void (*put)(const char *, FILE *), FILE *out)
{
	const struct explanation *e = explain_code(c);

	if (!e)
		return;
	fputc('\n', out);
	put(e->cause, out);
	print_excerpt("Wrong", e->wrong, out);
	print_excerpt("Right", e->right, out);
	fputc('\n', out);
	put(e->todo, out);
}

void explain_print(enum diag_code c, int exit_status, FILE *out)
{
	fprintf(out, "%s: %s (%s, exit %d)\n", diag_code_name(c), diag_code_meaning(c),
		severity_word(diag_code_severity(c)), exit_status);
	print_body(c, print_wrapped, out);
}

/* In Markdown < outside code would begin an element. */
static void put_markdown(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\n', out);
}

void explain_print_all(int (*exit_status)(enum diag_code), FILE *out)
{
	fputs("# Codes of findings\n\n"
	      "Each finding has a stable code. `wpsim explain CODE` prints the page of one; this file is what `wpsim explain all` "
	      "prints. The excerpts show the lines that matter, with `...` for the rest.\n",
	      out);
	for (int i = 0; i < DIAG_COUNT; i++) {
		enum diag_code c = (enum diag_code)i;

		fprintf(out, "\n## %s\n\n%s: %s. Exit status %d.\n", diag_code_name(c),
			severity_word(diag_code_severity(c)), diag_code_meaning(c), exit_status(c));
		print_body(c, put_markdown, out);
	}
}
