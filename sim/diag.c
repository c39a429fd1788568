#include "diag.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_ERRORS 20u

static const struct {
	const char *name, *meaning;
	enum severity severity;
} codes[DIAG_COUNT] = {
#define DIAG(tail, code, sev, text) [DIAG_##tail] = {code, text, SEV_##sev},
#include "diag.def"
#undef DIAG
};

const char *diag_code_name(enum diag_code c)
{
	return codes[c].name;
}

const char *diag_code_meaning(enum diag_code c)
{
	return codes[c].meaning;
}

enum severity diag_code_severity(enum diag_code c)
{
	return codes[c].severity;
}

void diag_init(struct diag *d)
{
	*d = (struct diag){0};
}

static void finding_clear(struct finding *f)
{
	for (size_t i = 0; i < f->nnotes; i++)
		free(f->notes[i].text);
	free(f->notes);
	free(f->message);
	free(f->fix);
	free(f->rule);
	*f = (struct finding){
		.price_clk = NAN, .required = DIAG_NONE_INT, .present = DIAG_NONE_INT};
}

/*
 * Beyond the n kept findings, list holds the one scratch finding (when cap is not 0). Every slot
 * from n to cap is therefore always in a state that finding_clear may free.
 */
void diag_free(struct diag *d)
{
	for (size_t i = 0; i < d->cap; i++)
		finding_clear(&d->list[i]);
	free(d->list);
	for (size_t i = 0; i < d->nkept; i++)
		src_free(d->kept[i]);
	free(d->kept);
	*d = (struct diag){0};
}

void diag_keep(struct diag *d, struct src *s)
{
	if (!s)
		return;
	d->kept = xgrow(d->kept, d->nkept, &d->capkept, sizeof(struct src *));
	d->kept[d->nkept++] = s;
}

static char *format(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);
static char *format(const char *fmt, va_list ap)
{
	struct strbuf b = {0};

	strbuf_addv(&b, fmt, ap);
	return b.s;
}

/* Count a finding of this severity; false when it is past the cap. */
static bool count_finding(struct diag *d, enum severity severity)
{
	size_t max = d->max_errors ? d->max_errors : DEFAULT_MAX_ERRORS;

	if (severity == SEV_WARNING)
		d->warnings++;
	if (severity != SEV_ERROR)
		return true;
	d->errors++;
	if (d->errors <= max)
		return true;
	d->suppressed++;
	return false;
}

struct finding *diag_add(struct diag *d, struct loc loc, enum diag_code code, const char *fmt, ...)
{
	size_t cap = d->cap;
	struct finding *f;
	va_list ap;

	d->list = xgrow(d->list, d->n, &d->cap, sizeof(*d->list));
	if (d->cap > cap)
		memset(d->list + cap, 0, (d->cap - cap) * sizeof(*d->list));
	f = &d->list[d->n];
	finding_clear(f);
	f->code = code;
	f->severity = codes[code].severity;
	f->loc = loc;
	va_start(ap, fmt);
	f->message = format(fmt, ap);
	va_end(ap);
	if (count_finding(d, f->severity))
		d->n++;
	return f;
}

void diag_note(struct finding *f, struct loc loc, const char *fmt, ...)
{
	va_list ap;

	f->notes = xgrow(f->notes, f->nnotes, &f->capnotes, sizeof(*f->notes));
	f->notes[f->nnotes].loc = loc;
	va_start(ap, fmt);
	f->notes[f->nnotes++].text = format(fmt, ap);
	va_end(ap);
}

void diag_fix(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	free(f->fix);
	va_start(ap, fmt);
	f->fix = format(fmt, ap);
	va_end(ap);
}

bool diag_has(const struct diag *d, enum diag_code code)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->list[i].code == code)
			return true;
	return false;
}

static void drop_at(struct diag *d, size_t i)
{
	d->errors -= d->list[i].severity == SEV_ERROR;
	d->warnings -= d->list[i].severity == SEV_WARNING;
	finding_clear(&d->list[i]);
	d->n--;
	memmove(&d->list[i], &d->list[i + 1], (d->n - i) * sizeof(d->list[i]));
	memset(&d->list[d->n], 0, sizeof(d->list[d->n]));
}

void diag_drop(struct diag *d, enum diag_code code)
{
	for (size_t i = d->n; i-- > 0;)
		if (d->list[i].code == code)
			drop_at(d, i);
}

void diag_drop_cheaper(struct diag *d, enum diag_code code, double clk)
{
	for (size_t i = d->n; i-- > 0;)
		if (d->list[i].code == code && d->list[i].price_clk < clk)
			drop_at(d, i);
}

void diag_drop_if(struct diag *d, bool (*drop)(const struct finding *f, void *ctx), void *ctx)
{
	for (size_t i = d->n; i-- > 0;)
		if (drop(&d->list[i], ctx))
			drop_at(d, i);
}

/* Printing */

#define SHOWN_BYTES 200u /* longer lines are cut to about this much around the caret */
#define SHOWN_BEFORE 80u /* of which this much before it */

#define COLOUR_OFF "\033[0m"
#define COLOUR_BOLD "\033[1m"
#define COLOUR_CARET "\033[1;32m"

static const struct {
	const char *word, *colour;
} severities[] = {
	[SEV_ERROR] = {"error", "\033[1;31m"},
	[SEV_WARNING] = {"warning", "\033[1;35m"},
	[SEV_NOTE] = {"note", "\033[1;36m"},
};

/* Characters that a terminal would obey, or that reorder or hide text. */
static bool is_unsafe(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || cp == 0xad || cp == 0x61c ||
	       (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
	       (cp >= 0x2060 && cp <= 0x206f) || cp == 0xfeff || (cp >= 0xfff9 && cp <= 0xfffb) ||
	       (cp >= 0xe0000 && cp <= 0xe007f);
}

/*
 * Append the character at s[0..n) in a form that is safe to show; *len is its length in bytes. The
 * result is its width: one column for a character, more for one that is spelled out.
 */
static size_t add_visible(struct strbuf *b, const char *s, size_t n, size_t *len)
{
	const size_t before = b->len;
	uint32_t cp = 0;

	*len = utf8_decode(s, n, &cp);
	if (*len == 0) {
		*len = 1;
		strbuf_add(b, "<%02X>", (unsigned)(unsigned char)s[0]);
	} else if (cp < 0x100 && is_unsafe(cp)) {
		strbuf_add(b, "<%02X>", (unsigned)cp);
	} else if (is_unsafe(cp)) {
		strbuf_add(b, "<U+%04X>", (unsigned)cp);
	} else {
		strbuf_addn(b, s, *len);
		return 1;
	}
	return b->len - before;
}

static void print_visible(FILE *out, const char *s)
{
	struct strbuf b = {0};
	size_t left = strlen(s), len;

	for (; left; s += len, left -= len)
		add_visible(&b, s, left, &len);
	if (b.len)
		fwrite(b.s, 1, b.len, out);
	strbuf_free(&b);
}

/* A byte inside a UTF-8 character. */
static bool is_trailing(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The part of the line to show: all of it, or a window around the caret. */
static void choose_window(const char *line, size_t len, size_t caret, size_t *from, size_t *to)
{
	*from = 0;
	*to = len;
	if (len <= SHOWN_BYTES)
		return;
	if (caret > SHOWN_BEFORE)
		*from = caret - SHOWN_BEFORE;
	if (len - *from > SHOWN_BYTES)
		*to = *from + SHOWN_BYTES;
	else
		*from = len - SHOWN_BYTES;
	/* Cut between characters. */
	while (*from > 0 && *from < caret && is_trailing(line[*from]))
		(*from)++;
	if (*to < len)
		while (*to - caret > 1 && is_trailing(line[*to]))
			(*to)--;
}

static void add_marks(struct strbuf *marks, bool *caret_done, size_t width)
{
	for (size_t i = 0; i < width; i++) {
		strbuf_addn(marks, *caret_done ? "~" : "^", 1);
		*caret_done = true;
	}
}

/* The source line of a place, and below it a caret and tildes under its range. */
static void print_snippet(FILE *out, struct loc loc, bool colour)
{
	const struct src *s = loc.src;
	struct strbuf shown = {0}, marks = {0};
	size_t begin = loc.begin > s->len ? s->len : loc.begin, end = loc.end;
	size_t start, len, from, to, n;
	bool caret_done = false;
	unsigned line, col;
	const char *p;

	src_line_col(s, (uint32_t)begin, &line, &col);
	start = s->line_start[line - 1];
	len = (line < s->nlines ? s->line_start[line] - 1 : s->len) - start;
	p = s->text + start;
	if (len && p[len - 1] == '\r')
		len--;
	begin -= start;
	if (begin > len)
		begin = len;
	end = end > start + len ? len : end > start ? end - start : 0;
	choose_window(p, len, begin, &from, &to);
	if (from > 0) {
		strbuf_add(&shown, "...");
		strbuf_add(&marks, "   ");
	}
	for (size_t i = from; i < to; i += n) {
		size_t width = 1;

		if (p[i] == '\t') {
			strbuf_addn(&shown, "\t", n = 1);
		} else {
			width = add_visible(&shown, p + i, to - i, &n);
		}
		if (i + n > begin && (i < end || !caret_done))
			add_marks(&marks, &caret_done, width);
		else if (!caret_done)
			strbuf_add(&marks, "%*s", p[i] == '\t' ? 0 : (int)width, "");
		if (!caret_done && p[i] == '\t')
			strbuf_addn(&marks, "\t", 1);
	}
	if (to < len)
		strbuf_add(&shown, "...");
	if (!caret_done)
		strbuf_addn(&marks, "^", 1);
	fprintf(out, "%s\n%s%s%s\n", shown.s ? shown.s : "", colour ? COLOUR_CARET : "", marks.s,
		colour ? COLOUR_OFF : "");
	strbuf_free(&shown);
	strbuf_free(&marks);
}

static void print_place(FILE *out, struct loc loc, bool colour)
{
	unsigned line, col;

	if (colour)
		fputs(COLOUR_BOLD, out);
	if (loc.src) {
		src_line_col(loc.src, loc.begin, &line, &col);
		print_visible(out, loc.src->path);
		fprintf(out, ":%u:%u: ", line, col);
	} else {
		fputs("wpsim: ", out);
	}
	if (colour)
		fputs(COLOUR_OFF, out);
}

static void print_head(FILE *out, struct loc loc, enum severity severity, const char *code,
		       const char *text, bool colour)
{
	print_place(out, loc, colour);
	fprintf(out, "%s%s", colour ? severities[severity].colour : "", severities[severity].word);
	if (code)
		fprintf(out, "[%s]", code);
	fprintf(out, ":%s ", colour ? COLOUR_OFF : "");
	print_visible(out, text);
	putc('\n', out);
	if (loc.src)
		print_snippet(out, loc, colour);
}

static void print_finding(FILE *out, const struct finding *f, bool colour)
{
	print_head(out, f->loc, f->severity, codes[f->code].name, f->message, colour);
	for (size_t i = 0; i < f->nnotes; i++)
		print_head(out, f->notes[i].loc, SEV_NOTE, NULL, f->notes[i].text, colour);
	if (f->fix) {
		fprintf(out, "  %sfix:%s ", colour ? COLOUR_BOLD : "", colour ? COLOUR_OFF : "");
		print_visible(out, f->fix);
		putc('\n', out);
	}
	if (!isnan(f->price_clk))
		fprintf(out, "  %sprice:%s %.1f clk per %s\n", colour ? COLOUR_BOLD : "",
			colour ? COLOUR_OFF : "", f->price_clk, f->price_per_trip ? "trip" : "K-step");
}

/* By file, then place, then the order in which they were found; those without a place first. */
static int compare_findings(const void *va, const void *vb)
{
	const struct finding *a = *(const struct finding *const *)va;
	const struct finding *b = *(const struct finding *const *)vb;
	int order = 0;

	if (!a->loc.src || !b->loc.src)
		order = !!a->loc.src - !!b->loc.src;
	else if (a->loc.src != b->loc.src)
		order = strcmp(a->loc.src->path, b->loc.src->path);
	if (order == 0 && a->loc.src && a->loc.begin != b->loc.begin)
		order = a->loc.begin < b->loc.begin ? -1 : 1;
	return order ? order : (a > b) - (a < b);
}

void diag_print(const struct diag *d, FILE *out, bool colour)
{
	const struct finding **sorted = xreallocarray(NULL, d->n, sizeof(*sorted));

	for (size_t i = 0; i < d->n; i++)
		sorted[i] = &d->list[i];
	qsort(sorted, d->n, sizeof(*sorted), compare_findings);
	for (size_t i = 0; i < d->n; i++)
		print_finding(out, sorted[i], colour);
	free(sorted);
	if (d->suppressed)
		fprintf(out, "%zu error%s suppressed\n", d->suppressed,
			d->suppressed == 1 ? "" : "s");
}
