/* The wpsim.report.v1 document; docs/json.md says what each key means. */
#include "report.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_report.h"
#include "report_internal.h"

/* A writer that knows only commas and indentation. */
struct json {
	FILE *out;
	bool one_line;
	bool first; /* nothing written yet in the innermost container */
	unsigned depth, flat; /* flat: containers opened on one line */
};

static void indent(struct json *j)
{
	if (j->one_line || j->flat)
		return;
	fputc('\n', j->out);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->out);
}

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none. */
static size_t utf8_len(const unsigned char *s)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (s[0] == 0xe0) /* no overlong forms, surrogates or code points past U+10FFFF */
		lo = 0xa0;
	else if (s[0] == 0xed)
		hi = 0x9f;
	else if (s[0] == 0xf0)
		lo = 0x90;
	else if (s[0] == 0xf4)
		hi = 0x8f;
	if (s[1] < lo || s[1] > hi)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return n;
}

void report_quote(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputc('"', out);
	while (*s) {
		size_t n = utf8_len(s);

		if (n == 0) {
			fputs("\\ufffd", out);
			s++;
			continue;
		}
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\t')
			fputs("\\t", out);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, n, out);
		s += n;
	}
	fputc('"', out);
}

static void key(struct json *j, const char *name)
{
	if (!j->first)
		fputs(j->flat && !j->one_line ? ", " : ",", j->out);
	j->first = false;
	indent(j);
	if (name) {
		report_quote(j->out, name);
		fputs(j->one_line ? ":" : ": ", j->out);
	}
}

static void begin(struct json *j, const char *name, char bracket, bool flat)
{
	if (j->depth > 0)
		key(j, name);
	fputc(bracket, j->out);
	j->depth++;
	j->first = true;
	if (flat || j->flat)
		j->flat++;
}

static void end(struct json *j, char bracket)
{
	bool empty = j->first;

	j->depth--;
	if (!empty)
		indent(j);
	if (j->flat)
		j->flat--;
	fputc(bracket, j->out);
	j->first = false;
}

static void put_string(struct json *j, const char *name, const char *text)
{
	key(j, name);
	if (text)
		report_quote(j->out, text);
	else
		fputs("null", j->out);
}

/* The shortest decimal form that reads back as the same double, whatever the locale. */
static void put_number(struct json *j, const char *name, double x)
{
	const char *point = localeconv()->decimal_point;
	size_t skip = strlen(point);
	char text[64], *at;

	key(j, name);
	if (!isfinite(x)) {
		fputs("null", j->out);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	at = skip ? strstr(text, point) : NULL;
	if (at)
		fprintf(j->out, "%.*s.%s", (int)(at - text), text, at + skip);
	else
		fputs(text, j->out);
}

static void put_uint(struct json *j, const char *name, uint64_t x)
{
	key(j, name);
	fprintf(j->out, "%llu", (unsigned long long)x);
}

static void put_int_or_null(struct json *j, const char *name, int64_t x)
{
	key(j, name);
	if (x == DIAG_NONE_INT)
		fputs("null", j->out);
	else
		fprintf(j->out, "%lld", (long long)x);
}

static void put_null(struct json *j, const char *name)
{
	put_string(j, name, NULL);
}

/* ---- parts of the document ---- */

static void put_steady(struct json *j, const struct prediction *pr, const struct report_derived *r)
{
	if (!pr) {
		put_null(j, "steady");
		return;
	}
	begin(j, "steady", '{', false);
	put_number(j, "cycles_per_step", r->have_steady ? r->step_clk : NAN);
	put_number(j, "ideal_cycles_per_step", pr->ideal_clk_per_step);
	put_number(j, "matrix_efficiency",
		   r->have_steady && pr->ideal_clk_per_step > 0 ? pr->matrix_efficiency : NAN);
	if (r->have_steady)
		put_uint(j, "period_steps", pr->stats.window_steps);
	else
		put_null(j, "period_steps");
	end(j, '}');
}

static void put_kernel(struct json *j, const struct prediction *pr)
{
	if (!pr) {
		put_null(j, "kernel");
		return;
	}
	begin(j, "kernel", '{', false);
	put_uint(j, "cycles", pr->kernel_clk);
	put_uint(j, "prologue_cycles", pr->stats.prologue_clk);
	put_uint(j, "loop_cycles", pr->stats.loop_clk);
	put_uint(j, "epilogue_cycles", pr->stats.epilogue_clk);
	put_uint(j, "workgroups", pr->program->workgroups);
	put_uint(j, "rounds", pr->rounds);
	put_number(j, "time_us", pr->time_us);
	put_number(j, "tflops", pr->tflops);
	end(j, '}');
}

static const char *kind_name(enum stage_kind k)
{
	static const char *const names[] = {
		[STAGE_PLAIN] = "plain",
		[STAGE_MATRIX] = "matrix",
		[STAGE_MEMORY] = "memory",
		[STAGE_PROLOGUE] = "prologue",
		[STAGE_EPILOGUE] = "epilogue",
	};

	return names[k];
}

/* Mean over the groups that pass the stage; the partner is that of the first of them which has one. */
static void put_stage(struct json *j, const struct program *p, const struct report_row *rows,
		      unsigned groups)
{
	const struct report_row *with_partner = NULL;
	struct report_row sum = { 0 };
	double slack = 0;
	unsigned n = 0, nslack = 0;

	for (unsigned g = 0; g < groups; g++) {
		const struct report_row *row = &rows[g];

		if (!row->runs)
			continue;
		n++;
		sum.stage = row->stage;
		sum.issue += row->issue;
		sum.matrix += row->matrix;
		sum.lds += row->lds;
		sum.vmem += row->vmem;
		sum.waits += row->waits;
		sum.barrier += row->barrier;
		sum.elapsed += row->elapsed;
		if (row->partner >= 0) {
			slack += row->slack;
			nslack++;
			if (!with_partner)
				with_partner = row;
		}
	}
	if (n == 0)
		return;
	begin(j, NULL, '{', true);
	put_string(j, "name", p->stages[sum.stage].name);
	put_string(j, "kind", kind_name(p->stages[sum.stage].kind));
	put_number(j, "issue_cycles", sum.issue / n);
	put_number(j, "matrix_cycles", sum.matrix / n);
	put_number(j, "lds_cycles", sum.lds / n);
	put_number(j, "vmem_cycles", sum.vmem / n);
	put_number(j, "wait_cycles", sum.waits / n);
	put_number(j, "barrier_wait_cycles", sum.barrier / n);
	put_number(j, "elapsed_cycles", sum.elapsed / n);
	put_number(j, "slack_cycles", nslack ? slack / nslack : NAN);
	put_string(j, "partner", with_partner ? p->stages[with_partner->partner].name : NULL);
	end(j, '}');
}

static void put_stages(struct json *j, const struct prediction *pr, const struct report_derived *r)
{
	unsigned groups = pr ? pr->stats.groups : 0;

	begin(j, "stages", '[', false);
	for (size_t i = 0; groups && i < r->nrows; i += groups)
		put_stage(j, pr->program, &r->rows[i], groups);
	end(j, ']');
}

static void put_lost(struct json *j, const struct report_derived *r)
{
	begin(j, "lost", '[', false);
	for (size_t i = 0; i < r->nlost; i++) {
		begin(j, NULL, '{', true);
		put_string(j, "reason", r->lost[i].reason);
		put_number(j, "cycles_per_step", r->lost[i].clk);
		end(j, '}');
	}
	end(j, ']');
}

static void put_resources(struct json *j, const struct prediction *pr, const struct report_derived *r)
{
	if (!pr) {
		put_null(j, "resources");
		return;
	}
	begin(j, "resources", '{', false);
	put_uint(j, "vgpr", pr->program->vgpr);
	put_uint(j, "agpr", pr->program->agpr);
	put_uint(j, "sgpr", pr->program->sgpr);
	put_uint(j, "lds_bytes", pr->program->lds_bytes);
	put_uint(j, "waves_per_simd", r->waves_per_simd);
	put_uint(j, "workgroups_per_cu", pr->resident);
	put_string(j, "limited_by", pr->resident_limit);
	end(j, '}');
}

static const char *severity_name(enum severity s)
{
	return s == SEV_ERROR ? "error" : s == SEV_WARNING ? "warning" : "note";
}

static void put_place(struct json *j, struct loc loc, const char *file)
{
	unsigned line = 0, column = 0;

	if (loc.src)
		src_line_col(loc.src, loc.begin, &line, &column);
	put_string(j, "file", loc.src ? loc.src->path : file);
	put_int_or_null(j, "line", line ? (int64_t)line : DIAG_NONE_INT);
	put_int_or_null(j, "column", line ? (int64_t)column : DIAG_NONE_INT);
}

static void put_finding(struct json *j, const struct finding *f, const char *file)
{
	begin(j, NULL, '{', false);
	put_string(j, "code", diag_code_name(f->code));
	put_string(j, "severity", severity_name(f->severity));
	put_place(j, f->loc, file);
	put_string(j, "message", f->message);
	put_string(j, "rule", f->rule);
	put_int_or_null(j, "required", f->required);
	put_int_or_null(j, "present", f->present);
	put_string(j, "counter", f->counter);
	put_string(j, "fix", f->fix);
	put_number(j, "price_cycles_per_step", f->price_clk);
	begin(j, "notes", '[', false);
	for (size_t i = 0; i < f->nnotes; i++) {
		begin(j, NULL, '{', true);
		put_place(j, f->notes[i].loc, file);
		put_string(j, "message", f->notes[i].text);
		end(j, '}');
	}
	end(j, ']');
	end(j, '}');
}

/* Order of the text: by file, then place, then as found. Findings without a place come last. */
static int finding_order(const void *a, const void *b)
{
	const struct finding *x = *(const struct finding *const *)a;
	const struct finding *y = *(const struct finding *const *)b;
	int c;

	if (!x->loc.src != !y->loc.src)
		return x->loc.src ? -1 : 1;
	c = x->loc.src ? strcmp(x->loc.src->path, y->loc.src->path) : 0;
	if (c)
		return c;
	if (x->loc.begin != y->loc.begin)
		return x->loc.begin < y->loc.begin ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void put_findings(struct json *j, const struct diag *d, const char *file)
{
	const struct finding **order;

	begin(j, "findings", '[', false);
	if (d && d->n > 0) {
		order = xcalloc(d->n, sizeof(*order));
		for (size_t i = 0; i < d->n; i++)
			order[i] = &d->list[i];
		qsort(order, d->n, sizeof(*order), finding_order);
		for (size_t i = 0; i < d->n; i++)
			put_finding(j, order[i], file);
		free(order);
	}
	end(j, ']');
}

static void put_line(struct json *j, const char *name, const struct program *p, uint32_t insn)
{
	unsigned line = insn < p->ninsns ? loc_line(p->insns[insn].loc) : 0;

	put_int_or_null(j, name, line ? (int64_t)line : DIAG_NONE_INT);
}

static void put_bool(struct json *j, const char *name, bool x)
{
	key(j, name);
	fputs(x ? "true" : "false", j->out);
}

static void put_wait(struct json *j, const struct program *p, const struct check_row *row)
{
	unsigned line = 0, column = 0;

	if (row->loc.src)
		src_line_col(row->loc.src, row->loc.begin, &line, &column);
	begin(j, NULL, '{', true);
	put_int_or_null(j, "line", line ? (int64_t)line : DIAG_NONE_INT);
	put_int_or_null(j, "column", column ? (int64_t)column : DIAG_NONE_INT);
	put_string(j, "counter", counter_name((enum counter)row->counter));
	put_uint(j, "written", row->written);
	put_int_or_null(j, "required", row->needed ? (int64_t)row->required : DIAG_NONE_INT);
	put_int_or_null(j, "slack", row->needed ? check_row_slack(row) : DIAG_NONE_INT);
	put_bool(j, "needed", row->needed);
	put_line(j, "for_line", p, row->needed ? row->for_insn : UINT32_MAX);
	put_line(j, "before_line", p, row->needed ? row->before_insn : UINT32_MAX);
	put_bool(j, "cross_wave", row->needed && row->cross_wave);
	end(j, '}');
}

static void put_waits(struct json *j, const struct program *p, const struct check_result *check)
{
	struct check_row *rows = NULL;
	size_t n = p && check ? check_rows(p, check, &rows) : 0;

	begin(j, "waits", '[', false);
	for (size_t i = 0; i < n; i++)
		put_wait(j, p, &rows[i]);
	end(j, ']');
	free(rows);
}

void report_json_checked(const struct prediction *pr, const char *file, const struct diag *d, const struct program *p,
			 const struct check_result *check, bool one_line, FILE *out)
{
	struct json j = { .out = out, .one_line = one_line, .first = true };
	struct report_derived r = { 0 };

	if (pr)
		report_derive(pr, &r);
	begin(&j, NULL, '{', false);
	put_string(&j, "schema", "wpsim.report.v1");
	put_string(&j, "schedule", pr ? pr->program->name : file);
	put_string(&j, "target", pr ? pr->program->target->name : NULL);
	if (pr) {
		begin(&j, "clock", '{', false);
		put_number(&j, "mhz", pr->clock_mhz);
		put_string(&j, "source", pr->clock_source);
		end(&j, '}');
	} else {
		put_null(&j, "clock");
	}
	put_steady(&j, pr, &r);
	put_kernel(&j, pr);
	put_stages(&j, pr, &r);
	put_lost(&j, &r);
	put_resources(&j, pr, &r);
	begin(&j, "estimates", '{', false);
	put_number(&j, "share", pr ? r.estimate_share : NAN);
	end(&j, '}');
	put_findings(&j, d, file);
	put_waits(&j, p, check);
	end(&j, '}');
	fputc('\n', out);
	report_derived_free(&r);
}

void report_json(const struct prediction *pr, const char *file, const struct diag *d, bool one_line,
		 FILE *out)
{
	report_json_checked(pr, file, d, NULL, NULL, one_line, out);
}
