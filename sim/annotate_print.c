/* The annotated listing as text and as JSON. */
#include <math.h>
#include <stdlib.h>

#include "annotate.h"
#include "report_internal.h"

static uint64_t stall_sum(const struct annotate_line *l)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < ST_COUNT; r++)
		sum += l->stall_clk[r];
	return sum;
}

static const char *reason_of(const struct annotate_line *l)
{
	unsigned best = 0;

	for (unsigned r = 1; r < ST_COUNT; r++)
		if (l->stall_clk[r] > l->stall_clk[best])
			best = r;
	return l->stall_clk[best] ? stall_name((enum stall)best) : NULL;
}

static bool shown(const struct annotation *a, const struct annotate_line *l)
{
	return !(a->program->insns[l->insn].flags & INSN_IMPLIED);
}

/* The instruction as its line has it, tabs as one blank; up to the end of the line. */
static char *text_of(const struct annotation *a, const struct annotate_line *l)
{
	const struct loc where = a->program->insns[l->insn].loc;
	struct strbuf b = { 0 };

	strbuf_add(&b, "%s", "");
	for (uint32_t i = where.begin; where.src && i < where.end && i < where.src->len; i++) {
		unsigned char c = (unsigned char)where.src->text[i];

		if (c == '\n')
			break;
		strbuf_add(&b, "%c", c == '\t' || c == '\r' ? ' ' : c < ' ' || c == 127 ? '?' : c);
	}
	return b.s;
}

/* ---- text ---- */

static void print_lines(const struct annotation *a, FILE *out)
{
	double trips = a->measured_trips ? (double)a->measured_trips : 1;

	fprintf(out, "\n  %6s %6s %9s %9s  %-15s %s\n", "line", "issues", "at clk", "stall", "reason",
		"instruction");
	for (size_t i = 0; i < a->nlines; i++) {
		const struct annotate_line *l = &a->lines[i];
		const char *reason = reason_of(l);
		char *text;

		if (!shown(a, l))
			continue;
		text = text_of(a, l);
		fprintf(out, "  %6u ", loc_line(a->program->insns[l->insn].loc));
		if (!l->issues)
			fprintf(out, "%6s %9s %9s  %-15s %s\n", "-", "-", "-", "not on the path", text);
		else
			fprintf(out, "%6.4g %9.1f %9.1f  %-15s %s\n", (double)l->issues / trips,
				(double)l->at_clk / (double)l->issues, (double)stall_sum(l) / trips,
				reason ? reason : "-", text);
		free(text);
	}
}

static void print_mix(const struct annotation *a, FILE *out)
{
	const char *sep = "  mix        ";

	for (unsigned c = 0; c < OPC_COUNT; c++) {
		if (!a->mix[c])
			continue;
		fprintf(out, "%s%u %s", sep, a->mix[c], opclass_name((enum opclass)c));
		sep = ", ";
	}
	fprintf(out, "\n  spills     %u scratch op%s, %u accumulator cop%s in the loop\n", a->scratch_ops,
		a->scratch_ops == 1 ? "" : "s", a->acc_copies, a->acc_copies == 1 ? "y" : "ies");
}

/* What lies between the barriers of the loop; nothing when there is one stage only. */
static void print_stages(const struct annotation *a, FILE *out)
{
	for (size_t i = 0; a->nstages > 1 && i < a->nstages; i++) {
		const struct annotate_stage *s = &a->stages[i];
		const char *sep = ": ";

		fprintf(out, "  stage %-4zu lines %u to %u, %s", i + 1, loc_line(a->program->insns[s->first].loc),
			loc_line(a->program->insns[s->last].loc), s->kind);
		if (s->priority >= 0)
			fprintf(out, ", priority %d", s->priority);
		fprintf(out, ", %.1f clk", s->clk);
		for (unsigned c = 0; c < OPC_COUNT; c++)
			if (s->mix[c]) {
				fprintf(out, "%s%u %s", sep, s->mix[c], opclass_name((enum opclass)c));
				sep = ", ";
			}
		fputc('\n', out);
	}
}

static void print_loop(const struct annotation *a, FILE *out)
{
	const struct program *p = a->program;

	if (a->loop < 0) {
		fprintf(out, "  text       %.0f clk for wave 0", a->trip_clk);
	} else {
		fprintf(out, "  loop       lines %u to %u%s%s, %llu trip%s\n", loc_line(p->insns[a->begin].loc),
			loc_line(p->insns[a->end - 1].loc), a->label ? ", " : "", a->label ? a->label : "",
			(unsigned long long)a->trips, a->trips == 1 ? "" : "s");
		fprintf(out, "  trip       %.2f clk", a->trip_clk);
	}
	if (a->ideal_clk > 0)
		fprintf(out, ", matrix ops alone %.0f on a SIMD: matrix unit busy %.2f %%", a->ideal_clk,
			100 * a->matrix_busy);
	if (a->loop >= 0)
		fprintf(out, "  (%s %llu trip%s)", a->steady ? "exact, period of" : "no repeating state, mean of",
			(unsigned long long)a->measured_trips, a->measured_trips == 1 ? "" : "s");
	fputc('\n', out);
}

void annotate_text(const struct annotation *a, const struct listing_info *in, bool colour, FILE *out)
{
	const struct program *p = a->program;

	fprintf(out, "%s%s on %s (%s)%s\n", colour ? "\033[1m" : "", p->name, p->target->name,
		p->target->product, colour ? "\033[0m" : "");
	print_loop(a, out);
	fprintf(out, "  total      %llu clk for one workgroup of %u wave%s alone on a CU, at %g MHz\n",
		(unsigned long long)a->stats.total_clk, p->waves, p->waves == 1 ? "" : "s", a->clock_mhz);
	print_mix(a, out);
	print_stages(a, out);
	fprintf(out, "  registers  %u VGPR, %u AGPR, %u SGPR a wave; LDS %u bytes; scratch %u bytes\n", p->vgpr,
		p->agpr, p->sgpr, p->lds_bytes, in->scratch_bytes);
	for (size_t i = 0; i < a->nnotes; i++)
		fprintf(out, "  note       %s\n", a->notes[i]);
	if (a->more_notes)
		fprintf(out, "  note       and %zu more\n", a->more_notes);
	print_lines(a, out);
}

/* ---- JSON ---- */

struct writer {
	FILE *out;
	const char *end; /* of a line */
};

static void key(const struct writer *w, const char *sep, const char *name)
{
	fprintf(w->out, "%s%s\"%s\": ", sep, *sep ? w->end : "", name);
}

static void number(const struct writer *w, const char *name, double value)
{
	key(w, ",", name);
	if (isfinite(value))
		fprintf(w->out, "%.10g", value);
	else
		fputs("null", w->out);
}

static void string(const struct writer *w, const char *name, const char *value)
{
	key(w, ",", name);
	if (value)
		report_quote(w->out, value);
	else
		fputs("null", w->out);
}

static void json_lines(const struct writer *w, const struct annotation *a)
{
	double trips = a->measured_trips ? (double)a->measured_trips : 1;
	const char *sep = "";

	key(w, ",", "lines");
	fputc('[', w->out);
	for (size_t i = 0; i < a->nlines; i++) {
		const struct annotate_line *l = &a->lines[i];
		const char *reason = reason_of(l);
		char *text;

		if (!shown(a, l))
			continue;
		text = text_of(a, l);
		fprintf(w->out, "%s%s{\"line\": %u, \"issues_per_trip\": %.10g, \"at_clk\": ", sep, w->end,
			loc_line(a->program->insns[l->insn].loc), (double)l->issues / trips);
		if (l->issues)
			fprintf(w->out, "%.10g", (double)l->at_clk / (double)l->issues);
		else
			fputs("null", w->out);
		fprintf(w->out, ", \"stall_clk\": %.10g, \"reason\": ", (double)stall_sum(l) / trips);
		if (reason)
			report_quote(w->out, reason);
		else
			fputs("null", w->out);
		fputs(", \"text\": ", w->out);
		report_quote(w->out, text);
		fputc('}', w->out);
		free(text);
		sep = ",";
	}
	fputc(']', w->out);
}

static void json_stages(const struct writer *w, const struct annotation *a)
{
	key(w, ",", "stages");
	fputc('[', w->out);
	for (size_t i = 0; i < a->nstages; i++) {
		const struct annotate_stage *s = &a->stages[i];
		const char *sep = "";

		fprintf(w->out, "%s%s{\"first_line\": %u, \"last_line\": %u, \"kind\": \"%s\", \"priority\": %d, \"clk\": %.10g, \"mix\": {",
			i ? "," : "", w->end, loc_line(a->program->insns[s->first].loc), loc_line(a->program->insns[s->last].loc),
			s->kind, s->priority, s->clk);
		for (unsigned c = 0; c < OPC_COUNT; c++)
			if (s->mix[c]) {
				fprintf(w->out, "%s\"%s\": %u", sep, opclass_name((enum opclass)c), s->mix[c]);
				sep = ", ";
			}
		fputs("}}", w->out);
	}
	fputc(']', w->out);
}

static void json_body(const struct writer *w, const struct annotation *a, const struct listing_info *in)
{
	const struct program *p = a->program;
	const char *sep = "";

	string(w, "kernel", in->kernel);
	string(w, "target", p->target->name);
	number(w, "clock_mhz", a->clock_mhz);
	number(w, "waves", p->waves);
	number(w, "groups", a->groups ? a->groups : 1);
	number(w, "offset_barriers", a->offset);
	key(w, ",", "loop");
	if (a->loop >= 0) {
		fprintf(w->out, "{\"first_line\": %u, \"last_line\": %u, \"trips\": %llu, \"label\": ",
			loc_line(p->insns[a->begin].loc), loc_line(p->insns[a->end - 1].loc),
			(unsigned long long)a->trips);
		if (a->label)
			report_quote(w->out, a->label);
		else
			fputs("null", w->out);
		fputc('}', w->out);
	} else {
		fputs("null", w->out);
	}
	key(w, ",", "steady");
	fputs(a->steady ? "true" : "false", w->out);
	number(w, "measured_trips", (double)a->measured_trips);
	number(w, "clk_per_trip", a->trip_clk);
	number(w, "ideal_matrix_clk_per_trip", a->ideal_clk);
	number(w, "matrix_busy", a->matrix_busy);
	number(w, "total_clk", (double)a->stats.total_clk);
	number(w, "vgpr", p->vgpr);
	number(w, "agpr", p->agpr);
	number(w, "sgpr", p->sgpr);
	number(w, "lds_bytes", p->lds_bytes);
	number(w, "scratch_bytes", in->scratch_bytes);
	number(w, "scratch_ops", a->scratch_ops);
	number(w, "accumulator_copies", a->acc_copies);
	number(w, "bank_conflicts", a->bank_conflicts);
	key(w, ",", "mix");
	fputc('{', w->out);
	for (unsigned c = 0; c < OPC_COUNT; c++)
		if (a->mix[c]) {
			fprintf(w->out, "%s\"%s\": %u", sep, opclass_name((enum opclass)c), a->mix[c]);
			sep = ", ";
		}
	fputc('}', w->out);
	key(w, ",", "notes");
	fputc('[', w->out);
	for (size_t i = 0; i < a->nnotes; i++) {
		fputs(i ? ", " : "", w->out);
		report_quote(w->out, a->notes[i]);
	}
	fputc(']', w->out);
	json_stages(w, a);
	json_lines(w, a);
}

static void json_findings(const struct writer *w, const struct diag *d)
{
	key(w, ",", "findings");
	fputc('[', w->out);
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *f = &d->list[i];

		fprintf(w->out, "%s%s{\"code\": \"%s\", \"line\": %u, \"message\": ", i ? "," : "", w->end,
			diag_code_name(f->code), loc_line(f->loc));
		report_quote(w->out, f->message);
		fputs(", \"fix\": ", w->out);
		if (f->fix)
			report_quote(w->out, f->fix);
		else
			fputs("null", w->out);
		fputc('}', w->out);
	}
	fputc(']', w->out);
}

void annotate_json(const struct annotation *a, const struct listing_info *in, const char *file,
		   const struct diag *d, bool one_line, FILE *out)
{
	const struct writer w = { out, one_line ? " " : "\n  " };

	fprintf(out, "{%s\"format\": \"wpsim.annotate.v1\"", one_line ? "" : "\n  ");
	string(&w, "file", file);
	if (a)
		json_body(&w, a, in);
	json_findings(&w, d);
	fputs(one_line ? "}\n" : "\n}\n", out);
}
