/* One K-step as a strip of characters: two groups of waves and the matrix unit of SIMD 0. */
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

#define LABEL 12
#define WIDTH_DEFAULT 100
#define WIDTH_MIN 40
#define WIDTH_MAX 1000

struct strip {
	uint64_t begin, clk; /* the K-step shown */
	unsigned columns;
	FILE *out;
};

/* First clk of a column; column == columns gives the end of the strip. */
static uint64_t column_clk(const struct strip *s, unsigned column)
{
	return s->begin + (uint64_t)((double)s->clk * column / s->columns);
}

static unsigned clk_column(const struct strip *s, uint64_t clk)
{
	double at = (double)(clk - s->begin) * s->columns / (double)s->clk;

	return at >= s->columns ? s->columns : (unsigned)(at + 0.5);
}

/* A column at or before the one that holds clk: clk_column rounds to the nearest edge. */
static unsigned first_column(const struct strip *s, uint64_t clk)
{
	unsigned column = clk <= s->begin ? 0 : clk_column(s, clk);

	return column > 0 ? column - 1 : 0;
}

static void print_line(const struct strip *s, const char *label, const char *cells)
{
	int n = (int)s->columns;

	while (n > 0 && cells[n - 1] == ' ')
		n--;
	if (n > 0)
		fprintf(s->out, "  %-*s%.*s\n", LABEL - 2, label, n, cells);
	else
		fprintf(s->out, "  %s\n", label);
}

/* Stage names, each inside its span: |name   |name */
static void stage_line(const struct strip *s, const struct prediction *pr, unsigned group)
{
	char *cells = xmalloc(s->columns + 1), label[16];
	size_t n;
	struct report_span *spans = report_spans(pr, group, &n);

	memset(cells, ' ', s->columns);
	for (size_t i = 0; i < n; i++) {
		uint64_t lo = spans[i].begin < s->begin ? s->begin : spans[i].begin;
		const char *name = spans[i].stage < pr->program->nstages
					   ? pr->program->stages[spans[i].stage].name : "?";
		unsigned from, to;

		if (spans[i].end <= s->begin || spans[i].begin >= s->begin + s->clk)
			continue;
		from = clk_column(s, lo);
		to = clk_column(s, spans[i].end);
		if (from < s->columns)
			cells[from] = '|';
		for (unsigned c = from + 1; c < to && *name; c++)
			cells[c] = *name++;
	}
	snprintf(label, sizeof(label), "group %c", (char)('A' + group));
	print_line(s, label, cells);
	free(spans);
	free(cells);
}

static char reason_char(enum stall reason)
{
	switch (reason) {
	case ST_ISSUE:
	case ST_HELD:
		return '#';
	case ST_MATRIX:
		return 'm';
	case ST_LDS:
	case ST_LDS_WRITE:
		return 'l';
	case ST_WAIT_LDS:
		return 'w';
	case ST_VMEM:
	case ST_TDM:
		return 'v';
	case ST_WAIT_VMEM:
	case ST_WAIT_COPY:
	case ST_WAIT_SMEM:
		return 'W';
	case ST_BARRIER:
	case ST_RELEASE:
	case ST_CLUSTER:
		return '=';
	case ST_OPERAND:
	case ST_VALU:
	case ST_COUNTER:
	case ST_ARBITRATION:
	case ST_PHASE:
	case ST_NOP:
	case ST_FETCH:
		return '.';
	case ST_LAUNCH:
	case ST_COUNT:
		break;
	}
	return ' ';
}

static uint64_t common(uint64_t a, uint64_t b, uint64_t lo, uint64_t hi)
{
	uint64_t from = a > lo ? a : lo, to = b < hi ? b : hi;

	return to > from ? to - from : 0;
}

/* What the group's wave does most in each column. Segments come in order of time for each wave. */
static void what_line(const struct strip *s, const struct prediction *pr, unsigned group)
{
	int wave = report_wave(pr->program, group);
	uint64_t (*sum)[ST_COUNT] = xcalloc(s->columns, sizeof(*sum));
	char *cells = xmalloc(s->columns + 1);

	for (size_t i = 0; i < pr->stats.nsegments; i++) {
		const struct segment *g = &pr->stats.segments[i];

		if (g->wave != wave || g->what >= ST_COUNT || g->end <= s->begin ||
		    g->begin >= s->begin + s->clk)
			continue;
		for (unsigned c = first_column(s, g->begin); c < s->columns && column_clk(s, c) < g->end; c++)
			sum[c][g->what] += common(g->begin, g->end, column_clk(s, c), column_clk(s, c + 1));
	}
	for (unsigned c = 0; c < s->columns; c++) {
		int best = ST_LAUNCH;

		for (int r = 0; r < ST_COUNT; r++)
			if (sum[c][r] > sum[c][best])
				best = r;
		cells[c] = sum[c][best] ? reason_char((enum stall)best) : ' ';
	}
	print_line(s, "", cells);
	free(cells);
	free(sum);
}

static void matrix_line(const struct strip *s, const struct prediction *pr)
{
	uint64_t *sum = xcalloc(s->columns, sizeof(*sum));
	char *cells = xmalloc(s->columns + 1);

	for (size_t i = 0; i < pr->stats.nbusy; i++) {
		uint64_t lo = pr->stats.busy[i].begin, hi = pr->stats.busy[i].end;

		if (hi <= s->begin || lo >= s->begin + s->clk)
			continue;
		for (unsigned c = first_column(s, lo); c < s->columns && column_clk(s, c) < hi; c++)
			sum[c] += common(lo, hi, column_clk(s, c), column_clk(s, c + 1));
	}
	for (unsigned c = 0; c < s->columns; c++) {
		uint64_t width = column_clk(s, c + 1) - column_clk(s, c);
		double share = width ? (double)sum[c] / (double)width : 0;

		cells[c] = share > 0.75 ? '#' : share > 0.5 ? '+' : share > 0.25 ? ':' : share > 0 ? '.' : ' ';
	}
	print_line(s, "matrix", cells);
	free(cells);
	free(sum);
}

void report_timeline(const struct prediction *pr, const struct report_options *o, FILE *out)
{
	const struct stats *st = &pr->stats;
	unsigned width = o->width ? o->width : WIDTH_DEFAULT;
	struct strip s = { .begin = st->window_begin, .out = out };

	if (st->nsegments == 0 || st->window_steps == 0 || st->window_clk == 0)
		return;
	width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
	s.columns = width - LABEL;
	s.clk = (st->window_clk + st->window_steps - 1) / st->window_steps;
	fprintf(out, "\n%sTimeline of one K-step (SIMD 0, clk %llu to %llu, one column is %.1f clk)%s\n",
		o->colour ? "\033[1m" : "", (unsigned long long)s.begin,
		(unsigned long long)(s.begin + s.clk), (double)s.clk / s.columns, o->colour ? "\033[0m" : "");
	for (unsigned g = 0; g < st->groups; g++) {
		stage_line(&s, pr, g);
		what_line(&s, pr, g);
	}
	matrix_line(&s, pr);
	fputs("  # issues   m matrix unit busy   l LDS busy   w waits for LDS   v memory queue full\n"
	      "  W waits for memory or copies   = barrier   . other   matrix row: # above 3/4 busy, + 1/2, : 1/4\n",
	      out);
}
