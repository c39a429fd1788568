#include "rocprof.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jsonval.h"
#include "src.h"

#define MAX_COLUMNS 64u
#define MAX_CLK 1e18

struct reader {
	struct trace *t;
	struct diag *d;
	size_t cap;
	size_t errors; /* in d, before */
	bool full;     /* too many rows, said so */
};

/* ---- rows ---- */

static bool room(struct reader *r, size_t n, struct loc loc)
{
	if (n < TRACE_MAX_ROWS)
		return true;
	if (!r->full)
		diag_add(r->d, loc, DIAG_LIMIT, "more than %u rows in a trace", TRACE_MAX_ROWS);
	r->full = true;
	return false;
}

static void add_insn(struct reader *r, const struct trace_insn *i)
{
	struct trace *t = r->t;

	if (*i->text == ';' || !room(r, t->ninsns, i->loc))
		return;
	t->insn = xgrow(t->insn, t->ninsns, &r->cap, sizeof(*t->insn));
	t->insn[t->ninsns++] = *i;
}

static bool number_ok(struct reader *r, const char *what, double v, double hi, struct loc loc)
{
	if (v >= 0 && v <= hi)
		return true;
	diag_add(r->d, loc, DIAG_SAMPLES, "'%s' is %g; it must lie between 0 and %g", what, v, hi);
	return false;
}

/* ---- code.json ---- */

enum { J_ISA, J_UNUSED, J_LINE, J_SOURCE, J_CODEOBJ, J_VADDR, J_HIT, J_LATENCY, J_STALL, J_IDLE, J_COUNT };

static void json_row(struct reader *r, const struct jsonval *row, size_t index, struct loc loc)
{
	static const char *const names[J_COUNT] = {
		"ISA", "_", "LineNumber", "Source", "Codeobj", "Vaddr", "Hit", "Latency", "Stall", "Idle"
	};
	struct trace_insn i = { .loc = loc };

	if (row->kind != JV_ARRAY || row->n < J_COUNT || row->item[J_ISA]->kind != JV_STRING) {
		diag_add(r->d, loc, DIAG_SAMPLES, "entry %zu of 'code' is no list of %d that begins with an instruction", index, J_COUNT);
		return;
	}
	for (int k = J_VADDR; k < J_COUNT; k++) {
		if (row->item[k]->kind != JV_NUMBER) {
			diag_add(r->d, loc, DIAG_SAMPLES, "'%s' of entry %zu of 'code' is %s, not a number", names[k], index,
				 jsonval_kind_name(row->item[k]->kind));
			return;
		}
		if (!number_ok(r, names[k], row->item[k]->number, MAX_CLK, loc))
			return;
	}
	i.text = row->item[J_ISA]->string;
	i.vaddr = (uint64_t)row->item[J_VADDR]->number;
	i.hits = row->item[J_HIT]->number;
	i.latency_clk = row->item[J_LATENCY]->number;
	i.stall_clk = row->item[J_STALL]->number;
	i.idle_clk = row->item[J_IDLE]->number;
	add_insn(r, &i);
}

static void read_json(struct reader *r)
{
	const struct src *s = r->t->src;
	struct jsonval_error e;
	const struct jsonval *doc = jsonval_parse(r->t->arena, s->text, s->len, &e), *code;
	uint32_t at = doc ? 0 : (uint32_t)(e.offset < s->len ? e.offset : s->len);
	struct loc loc = { s, at, at + (at < s->len) };

	if (!doc) {
		diag_add(r->d, loc, DIAG_SAMPLES, "the trace is no JSON document: %s", e.text);
		return;
	}
	code = jsonval_get(doc, "code");
	if (!code || code->kind != JV_ARRAY) {
		diag_fix(diag_add(r->d, loc, DIAG_SAMPLES, "the document has no list 'code'"),
			 "take the file code.json of the folder ui_output_... that the thread trace wrote");
		return;
	}
	for (size_t i = 0; i < code->n && r->d->errors - r->errors < 20; i++)
		json_row(r, code->item[i], i, loc);
}

/* ---- CSV ---- */

struct csv_line {
	char *field[MAX_COLUMNS];
	size_t n;
	bool open; /* a quote was not closed */
};

/* Cut text, which is changed, at its commas; quoted fields lose their quotes. */
static void csv_cut(struct csv_line *l, char *text)
{
	char *in = text;

	l->n = 0;
	l->open = false;
	for (;;) {
		char *out = in, *begin = in;
		bool quoted = *in == '"';

		in += quoted;
		while (*in && (quoted || *in != ',')) {
			if (quoted && *in == '"' && in[1] != '"') {
				quoted = false;
				in++;
				continue;
			}
			in += quoted && *in == '"'; /* two quotes are one */
			*out++ = *in++;
		}
		l->open |= quoted;
		if (l->n < MAX_COLUMNS)
			l->field[l->n++] = begin;
		if (!*in) {
			*out = '\0';
			return;
		}
		in++;
		*out = '\0';
	}
}

static int column_of(const struct csv_line *header, const char *name)
{
	for (size_t i = 0; i < header->n; i++)
		if (strcmp(header->field[i], name) == 0)
			return (int)i;
	return -1;
}

struct csv_reader {
	struct reader *r;
	struct csv_line header, line;
	struct loc loc;
};

static bool csv_number(struct csv_reader *c, const char *name, int column, double *out)
{
	const char *text = column >= 0 && (size_t)column < c->line.n ? c->line.field[column] : NULL;

	if (!text) {
		diag_add(c->r->d, c->loc, DIAG_SAMPLES, "this row has no '%s'", name);
		return false;
	}
	if (parse_double(text, out) != 0) {
		diag_add(c->r->d, c->loc, DIAG_SAMPLES, "'%s' is '%.40s', not a number", name, text);
		return false;
	}
	return number_ok(c->r, name, *out, MAX_CLK, c->loc);
}

static void csv_insn(struct csv_reader *c)
{
	int text = column_of(&c->header, "Instruction");
	struct trace_insn i = { .loc = c->loc };
	double vaddr;

	if ((size_t)text >= c->line.n) {
		diag_add(c->r->d, c->loc, DIAG_SAMPLES, "this row has %zu fields, the first line names %zu", c->line.n, c->header.n);
		return;
	}
	if (!csv_number(c, "Vaddr", column_of(&c->header, "Vaddr"), &vaddr) ||
	    !csv_number(c, "Hitcount", column_of(&c->header, "Hitcount"), &i.hits) ||
	    !csv_number(c, "Latency", column_of(&c->header, "Latency"), &i.latency_clk) ||
	    !csv_number(c, "Stall", column_of(&c->header, "Stall"), &i.stall_clk) ||
	    !csv_number(c, "Idle", column_of(&c->header, "Idle"), &i.idle_clk))
		return;
	i.vaddr = (uint64_t)vaddr;
	i.text = arena_strdup(c->r->t->arena, c->line.field[text]);
	add_insn(c->r, &i);
}

static void csv_dispatch(struct csv_reader *c)
{
	static const char *const axes[] = { "X", "Y", "Z" };
	int name = column_of(&c->header, "Kernel_Name");
	struct trace *t = c->r->t;
	struct trace_dispatch p = { .loc = c->loc };
	double begin, end, v;
	char key[32];

	if ((size_t)name >= c->line.n) {
		diag_add(c->r->d, c->loc, DIAG_SAMPLES, "this row has %zu fields, the first line names %zu", c->line.n, c->header.n);
		return;
	}
	if (!csv_number(c, "Start_Timestamp", column_of(&c->header, "Start_Timestamp"), &begin) ||
	    !csv_number(c, "End_Timestamp", column_of(&c->header, "End_Timestamp"), &end))
		return;
	if (end < begin) {
		diag_add(c->r->d, c->loc, DIAG_SAMPLES, "this dispatch ends before it begins");
		return;
	}
	for (int a = 0; a < 3; a++) {
		snprintf(key, sizeof(key), "Grid_Size_%s", axes[a]);
		if (!csv_number(c, key, column_of(&c->header, key), &v))
			return;
		p.grid[a] = (uint64_t)v;
		snprintf(key, sizeof(key), "Workgroup_Size_%s", axes[a]);
		if (!csv_number(c, key, column_of(&c->header, key), &v))
			return;
		p.workgroup[a] = (uint64_t)v;
	}
	if (!room(c->r, t->ndispatches, c->loc))
		return;
	p.ns = end - begin;
	p.kernel = arena_strdup(t->arena, c->line.field[name]);
	t->dispatch = xgrow(t->dispatch, t->ndispatches, &c->r->cap, sizeof(*t->dispatch));
	t->dispatch[t->ndispatches++] = p;
}

/* Which of the two tables, by the columns' names. */
static bool csv_header(struct csv_reader *c)
{
	struct trace *t = c->r->t;

	if (column_of(&c->header, "Instruction") >= 0 && column_of(&c->header, "Latency") >= 0) {
		t->kind = TRACE_INSTRUCTIONS;
	} else if (column_of(&c->header, "Kernel_Name") >= 0 && column_of(&c->header, "End_Timestamp") >= 0) {
		t->kind = TRACE_DISPATCHES;
	} else {
		diag_fix(diag_add(c->r->d, c->loc, DIAG_SAMPLES, "this table is neither of instructions nor of dispatches"),
			 "its first line must name Instruction, Hitcount, Latency, Stall, Idle and Vaddr, or Kernel_Name, "
			 "Start_Timestamp and End_Timestamp");
		return false;
	}
	return true;
}

static void read_csv(struct reader *r)
{
	const struct src *s = r->t->src;
	struct csv_reader *c = xcalloc(1, sizeof(*c));
	char *header = NULL;

	c->r = r;
	for (size_t i = 0; i < s->nlines && !r->full && r->d->errors - r->errors < 20; i++) {
		uint32_t begin = s->line_start[i], end = i + 1 < s->nlines ? s->line_start[i + 1] : (uint32_t)s->len;
		char *text;

		while (end > begin && strchr("\r\n", s->text[end - 1]))
			end--;
		if (end == begin)
			continue;
		c->loc = (struct loc){ s, begin, end };
		text = xasprintf("%.*s", (int)(end - begin), s->text + begin);
		csv_cut(header ? &c->line : &c->header, text);
		if ((header ? &c->line : &c->header)->open) {
			diag_add(r->d, c->loc, DIAG_SAMPLES, "a quote in this line is not closed");
		} else if (header && r->t->kind == TRACE_INSTRUCTIONS) {
			csv_insn(c);
		} else if (header) {
			csv_dispatch(c);
		} else {
			header = text;
			if (!csv_header(c))
				break;
			continue;
		}
		free(text);
		if (!header)
			break;
	}
	free(header);
	free(c);
}

int trace_parse(struct trace *out, struct src *s, struct diag *d)
{
	struct reader r = { .t = out, .d = d, .errors = d->errors };
	size_t at = strspn(s->text, " \t\r\n");

	*out = (struct trace){ .arena = arena_new(), .src = s };
	if (s->text[at] == '{' || s->text[at] == '[')
		read_json(&r);
	else
		read_csv(&r);
	if (d->errors == r.errors && out->ninsns + out->ndispatches == 0)
		diag_add(d, (struct loc){ s, 0, 0 }, DIAG_SAMPLES, "the trace is empty");
	return d->errors > r.errors ? -1 : 0;
}

void trace_free(struct trace *t)
{
	free(t->insn);
	free(t->dispatch);
	arena_free(t->arena);
	src_free(t->src);
	*t = (struct trace){ 0 };
}
