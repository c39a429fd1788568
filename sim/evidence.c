#include "evidence.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 11
#define MAX_EVIDENCE 100000u

static const char *const columns[COLUMNS] = {
	"id", "schedule", "target", "siblings", "shape", "quantity", "value", "unit", "source", "fitted", "note"
};

/* Cut a line at its tabs; the number of fields, at most COLUMNS + 1. */
static size_t cut(char *line, char *field[COLUMNS + 1])
{
	size_t n = 0;

	for (char *p = line; p && n <= COLUMNS; n++)
		field[n] = strsep(&p, "\t");
	return n;
}

static bool is_header(char *const *field, size_t n)
{
	if (n != COLUMNS)
		return false;
	for (size_t i = 0; i < COLUMNS; i++)
		if (strcmp(field[i], columns[i]) != 0)
			return false;
	return true;
}

static void read_row(struct evidence *e, size_t *cap, char *const *f, size_t n, struct loc loc, struct diag *d)
{
	struct evidence_row r = { .loc = loc };

	if (n != COLUMNS) {
		diag_fix(diag_add(d, loc, DIAG_SAMPLES, "a row of evidence has %zu%s fields, not %d", n, n > COLUMNS ? " or more" : "",
				  COLUMNS),
			 "separate them by tabs; '-' stands for none");
		return;
	}
	if (parse_double(f[6], &r.value) != 0 || !(r.value >= 0)) {
		diag_add(d, loc, DIAG_SAMPLES, "the value of a row of evidence is '%s', not a number of at least 0", f[6]);
		return;
	}
	r.fitted = strcmp(f[9], "yes") == 0;
	if (!r.fitted && strcmp(f[9], "no") != 0) {
		diag_add(d, loc, DIAG_SAMPLES, "'fitted' of a row of evidence is '%s'; it must be yes or no", f[9]);
		return;
	}
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->row[i].id, f[0]) == 0 && e->row[i].loc.src == loc.src) {
			diag_note(diag_add(d, loc, DIAG_SAMPLES, "the id '%s' is given twice", f[0]), e->row[i].loc, "the first one");
			return;
		}
	if (e->n >= MAX_EVIDENCE) {
		diag_add(d, loc, DIAG_LIMIT, "more than %u rows of evidence", MAX_EVIDENCE);
		return;
	}
	r.id = arena_strdup(e->arena, f[0]);
	r.schedule = arena_strdup(e->arena, f[1]);
	r.target = arena_strdup(e->arena, f[2]);
	r.siblings = arena_strdup(e->arena, f[3]);
	r.shape = arena_strdup(e->arena, f[4]);
	r.quantity = arena_strdup(e->arena, f[5]);
	r.unit = arena_strdup(e->arena, f[7]);
	r.source = arena_strdup(e->arena, f[8]);
	r.note = arena_strdup(e->arena, f[10]);
	e->row = xgrow(e->row, e->n, cap, sizeof(*e->row));
	e->row[e->n++] = r;
}

int evidence_parse(struct evidence *e, struct src *s, struct diag *d)
{
	size_t errors = d->errors, cap = e->n;
	bool header = false;

	if (!e->arena)
		e->arena = arena_new();
	e->src = xreallocarray(e->src, e->nsrc + 1, sizeof(struct src *));
	e->src[e->nsrc++] = s;
	for (size_t i = 0; i < s->nlines; i++) {
		uint32_t begin = s->line_start[i], end = i + 1 < s->nlines ? s->line_start[i + 1] : (uint32_t)s->len;
		char *field[COLUMNS + 1], *line;
		struct loc loc;
		size_t n;

		while (end > begin && strchr("\r\n", s->text[end - 1]))
			end--;
		if (end == begin || s->text[begin] == '#')
			continue;
		loc = (struct loc){ s, begin, end };
		line = xasprintf("%.*s", (int)(end - begin), s->text + begin);
		n = cut(line, field);
		if (header) {
			read_row(e, &cap, field, n, loc, d);
		} else if (is_header(field, n)) {
			header = true;
		} else {
			diag_fix(diag_add(d, loc, DIAG_SAMPLES, "the first line of a table of evidence does not name its columns"),
				 "models/evidence/README.md lists them");
			free(line);
			break;
		}
		free(line);
	}
	return d->errors > errors ? -1 : 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int evidence_load(struct evidence *out, const char *folder, struct diag *d)
{
	DIR *dir = opendir(folder);
	char **names = NULL;
	size_t n = 0, cap = 0, errors = d->errors;

	*out = (struct evidence){ 0 };
	if (!dir) {
		diag_add(d, (struct loc){ 0 }, DIAG_IO, "can't read the folder %s: %s", folder, strerror(errno));
		return -1;
	}
	for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 4, ".tsv") != 0)
			continue;
		names = xgrow(names, n, &cap, sizeof(*names));
		names[n++] = xasprintf("%s/%s", folder, e->d_name);
	}
	closedir(dir);
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		struct src *s = src_load(names[i], d);

		if (s)
			evidence_parse(out, s, d);
		free(names[i]);
	}
	free(names);
	return d->errors > errors ? -1 : 0;
}

void evidence_free(struct evidence *e)
{
	for (size_t i = 0; i < e->nsrc; i++)
		src_free(e->src[i]);
	free(e->src);
	free(e->row);
	arena_free(e->arena);
	*e = (struct evidence){ 0 };
}
