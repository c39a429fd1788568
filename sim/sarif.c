#include "sarif.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "report_internal.h"

static const char *level(enum severity s)
{
	return s == SEV_ERROR ? "error" : s == SEV_WARNING ? "warning" : "note";
}

static void put_rules(FILE *out)
{
	for (int c = 0; c < DIAG_COUNT; c++) {
		enum diag_code code = (enum diag_code)c;

		fputs(c ? ",\n" : "\n", out);
		fputs("            {\"id\": ", out);
		report_quote(out, diag_code_name(code));
		fputs(", \"shortDescription\": {\"text\": ", out);
		report_quote(out, diag_code_meaning(code));
		fprintf(out, "}, \"defaultConfiguration\": {\"level\": \"%s\"}}",
			level(diag_code_severity(code)));
	}
}

void sarif_begin(struct sarif *s, const char *version, FILE *out)
{
	*s = (struct sarif){.out = out};
	fputs("{\n"
	      "  \"$schema\": \"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json\",\n"
	      "  \"version\": \"2.1.0\",\n"
	      "  \"runs\": [\n"
	      "    {\n"
	      "      \"tool\": {\n"
	      "        \"driver\": {\n"
	      "          \"name\": \"wpsim\",\n"
	      "          \"version\": ",
	      out);
	report_quote(out, version);
	fputs(",\n          \"rules\": [", out);
	put_rules(out);
	fputs("\n          ]\n        }\n      },\n"
	      "      \"columnKind\": \"unicodeCodePoints\",\n"
	      "      \"results\": [",
	      out);
}

/* A path as a URI reference: everything but the plain characters is escaped. */
static void put_uri(FILE *out, const char *path)
{
	fputc('"', out);
	for (const unsigned char *c = (const unsigned char *)path; *c; c++)
		if ((*c < 0x80 && isalnum(*c)) || strchr("/-._~", *c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02X", *c);
	fputc('"', out);
}

/* Line and column of a byte offset, the column in characters. */
static void character_place(const struct src *s, uint32_t at, unsigned *line, unsigned *col)
{
	unsigned bytes;
	uint32_t begin;

	src_line_col(s, at, line, &bytes);
	begin = at < s->len ? at : (uint32_t)s->len;
	begin -= bytes - 1 < begin ? bytes - 1 : begin;
	*col = 1;
	for (uint32_t i = begin; i < begin + bytes - 1 && i < s->len; i++)
		*col += ((unsigned char)s->text[i] & 0xc0) != 0x80;
}

static void put_place(FILE *out, struct loc loc, const char *file)
{
	unsigned line, col, end_line, end_col;

	fputs("{\"artifactLocation\": {\"uri\": ", out);
	put_uri(out, loc.src ? loc.src->path : file);
	fputc('}', out);
	if (loc.src) {
		character_place(loc.src, loc.begin, &line, &col);
		character_place(loc.src, loc.end > loc.begin ? loc.end : loc.begin + 1, &end_line,
				&end_col);
		fprintf(out,
			", \"region\": {\"startLine\": %u, \"startColumn\": %u, \"endLine\": %u, \"endColumn\": %u}",
			line, col, end_line, end_col);
	}
	fputc('}', out);
}

static void put_notes(FILE *out, const struct finding *f, const char *file)
{
	fputs(",\n          \"relatedLocations\": [", out);
	for (size_t i = 0; i < f->nnotes; i++) {
		fprintf(out, "%s\n            {\"id\": %zu, \"physicalLocation\": ", i ? "," : "",
			i + 1);
		put_place(out, f->notes[i].loc, file);
		fputs(", \"message\": {\"text\": ", out);
		report_quote(out, f->notes[i].text);
		fputs("}}", out);
	}
	fputs("\n          ]", out);
}

static void put_properties(FILE *out, const struct finding *f)
{
	const char *sep = "";

	if (f->required == DIAG_NONE_INT && f->present == DIAG_NONE_INT && !f->counter &&
	    isnan(f->price_clk))
		return;
	fputs(",\n          \"properties\": {", out);
	if (f->required != DIAG_NONE_INT) {
		fprintf(out, "\"required\": %lld", (long long)f->required);
		sep = ", ";
	}
	if (f->present != DIAG_NONE_INT) {
		fprintf(out, "%s\"present\": %lld", sep, (long long)f->present);
		sep = ", ";
	}
	if (f->counter) {
		fprintf(out, "%s\"counter\": ", sep);
		report_quote(out, f->counter);
		sep = ", ";
	}
	if (isfinite(f->price_clk)) { /* thousandths, written without the locale's decimal sign */
		long long m = llround(f->price_clk * 1000);

		fprintf(out, "%s\"priceCyclesPerStep\": %s%lld.%03lld", sep, m < 0 ? "-" : "",
			(m < 0 ? -m : m) / 1000, (m < 0 ? -m : m) % 1000);
	}
	fputc('}', out);
}

static void put_message(FILE *out, const struct finding *f)
{
	struct strbuf b = {0};

	strbuf_add(&b, "%s", f->message);
	if (f->fix)
		strbuf_add(&b, "; fix: %s", f->fix);
	report_quote(out, b.s);
	strbuf_free(&b);
}

void sarif_add(struct sarif *s, const struct diag *d, const char *file)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *f = &d->list[i];

		fprintf(s->out, "%s\n        {\n          \"ruleId\": ", s->results++ ? "," : "");
		report_quote(s->out, diag_code_name(f->code));
		fprintf(s->out,
			",\n          \"ruleIndex\": %d,\n          \"level\": \"%s\",\n          \"message\": {\"text\": ",
			(int)f->code, level(f->severity));
		put_message(s->out, f);
		fputs("},\n          \"locations\": [{\"physicalLocation\": ", s->out);
		put_place(s->out, f->loc, file);
		fputs("}]", s->out);
		if (f->nnotes)
			put_notes(s->out, f, file);
		put_properties(s->out, f);
		fputs("\n        }", s->out);
	}
}

void sarif_end(struct sarif *s)
{
	fputs(s->results ? "\n      ]\n    }\n  ]\n}\n" : "]\n    }\n  ]\n}\n", s->out);
}
