#include "src.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "util.h"

/* Take over text, which has room for the terminating NUL, and find its lines. */
static struct src *src_new(const char *path, char *text, size_t len)
{
	struct src *s = xcalloc(1, sizeof(*s));
	const char *p = text, *end = text + len;
	size_t n = 1;

	text[len] = '\0';
	s->path = xstrdup(path);
	s->text = text;
	s->len = len;
	for (; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	s->line_start = xreallocarray(NULL, n, sizeof(*s->line_start));
	s->line_start[s->nlines++] = 0;
	for (p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		s->line_start[s->nlines++] = (uint32_t)(p - text) + 1;
	return s;
}

static void report_io(struct diag *d, const char *path, const char *why)
{
	diag_add(d, (struct loc){0}, DIAG_IO, "can't read '%s': %s", path, why);
}

static bool is_text(const char *path, const char *text, size_t len, struct diag *d)
{
	const char *nul = memchr(text, '\0', len);

	if (nul)
		diag_fix(diag_add(d, (struct loc){0}, DIAG_IO,
				  "can't read '%s': it holds a NUL byte at offset %zu, so it is "
				  "no plain text",
				  path, (size_t)(nul - text)),
			 "save the file as UTF-8 text");
	return !nul;
}

/* All of f, one byte of room after it. NULL with a diagnostic. */
static char *read_all(FILE *f, const char *path, bool any_bytes, size_t *len, struct diag *d)
{
	size_t cap = 64 * 1024, got;
	char *text = xmalloc(cap);

	*len = 0;
	errno = 0;
	while ((got = fread(text + *len, 1, cap - *len - 1, f)) > 0) {
		*len += got;
		if (*len > SRC_MAX_BYTES)
			break;
		if (cap - *len <= 1) {
			cap *= 2;
			text = xreallocarray(text, cap, 1);
		}
	}
	if (ferror(f)) {
		report_io(d, path, strerror(errno ? errno : EIO));
	} else if (*len > SRC_MAX_BYTES) {
		diag_add(d, (struct loc){0}, DIAG_IO, "can't read '%s': %s (more than %u MiB)",
			 path, strerror(EFBIG), SRC_MAX_BYTES >> 20);
	} else if (any_bytes || is_text(path, text, *len, d)) {
		return text;
	}
	free(text);
	return NULL;
}

static struct src *load(const char *path, bool any_bytes, struct diag *d)
{
	const bool from_stdin = strcmp(path, "-") == 0;
	const char *name = from_stdin ? "<stdin>" : path;
	FILE *f = from_stdin ? stdin : fopen(path, "rb");
	char *text;
	size_t len;

	if (!f) {
		report_io(d, name, strerror(errno));
		return NULL;
	}
	text = read_all(f, name, any_bytes, &len, d);
	if (!from_stdin)
		fclose(f);
	return text ? src_new(name, text, len) : NULL;
}

struct src *src_load(const char *path, struct diag *d)
{
	return load(path, false, d);
}

struct src *src_load_bytes(const char *path, struct diag *d)
{
	return load(path, true, d);
}

bool src_is_text(const struct src *s, struct diag *d)
{
	return is_text(s->path, s->text, s->len, d);
}

struct src *src_from_text(const char *name, const char *text, size_t len)
{
	char *copy;

	if (len >= UINT32_MAX) {
		fprintf(stderr, "wpsim: the text '%s' is too large\n", name);
		exit(2);
	}
	copy = xmalloc(len + 1);
	if (len)
		memcpy(copy, text, len);
	return src_new(name, copy, len);
}

void src_free(struct src *s)
{
	if (!s)
		return;
	free(s->path);
	free(s->text);
	free(s->line_start);
	free(s);
}

void src_line_col(const struct src *s, uint32_t off, unsigned *line, unsigned *col)
{
	size_t lo = 0, hi = s->nlines;

	if (off > s->len)
		off = (uint32_t)s->len;
	/* line_start[lo] <= off < line_start[hi], the latter taken as infinite past the end. */
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->line_start[mid] <= off)
			lo = mid;
		else
			hi = mid;
	}
	*line = (unsigned)lo + 1;
	*col = off - s->line_start[lo] + 1;
}

unsigned loc_line(struct loc l)
{
	unsigned line, col;

	if (!l.src)
		return 0;
	src_line_col(l.src, l.begin, &line, &col);
	return line;
}
