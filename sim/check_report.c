#include "check_report.h"

#include <stdlib.h>
#include <string.h>

int check_row_slack(const struct check_row *row)
{
	return row->needed ? (int)row->required - (int)row->written : 0;
}

static struct check_row row_of(const struct program *p, const struct check_wait *w)
{
	const struct insn *in = &p->insns[w->insn];

	return (struct check_row){
		.loc = in->loc,
		.counter = w->counter,
		.groups = in->groups,
		.implied = (in->flags & INSN_IMPLIED) != 0,
		.needed = w->needed,
		.cross_wave = w->cross_wave,
		.written = w->written,
		.required = w->required,
		.for_insn = w->for_insn,
		.before_insn = w->before_insn,
		.copies = 1,
	};
}

/* Is the wait b a more telling copy of one place than a: needed where a is not, or with less slack?
 */
static bool more_telling(const struct check_row *a, const struct check_row *b)
{
	if (a->needed != b->needed)
		return b->needed;
	return b->needed && check_row_slack(b) < check_row_slack(a);
}

static void merge(struct check_row *into, const struct check_row *copy)
{
	unsigned copies = into->copies + 1;
	uint8_t groups = into->groups | copy->groups;

	if (more_telling(into, copy))
		*into = *copy;
	into->copies = copies;
	into->groups = groups;
}

/* One wait of the audit, with its place in the text. */
struct placed {
	uint32_t place, at; /* at: index into the audit */
	uint8_t counter;
};

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

struct numbered {
	struct check_row row;
	uint32_t first; /* index of its first copy */
};

static int by_first(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

size_t check_rows(const struct program *p, const struct check_result *r, struct check_row **out)
{
	struct placed *w = xcalloc(r->nwaits + 1, sizeof(*w));
	struct numbered *rows = xcalloc(r->nwaits + 1, sizeof(*rows));
	size_t n = 0, nrows = 0;

	for (size_t i = 0; i < r->nwaits; i++)
		if (!(p->insns[r->waits[i].insn].flags & INSN_AUTO_WAIT))
			w[n++] = (struct placed){p->insns[r->waits[i].insn].loc.begin, (uint32_t)i,
						 r->waits[i].counter};
	qsort(w, n, sizeof(*w), by_place);
	for (size_t i = 0; i < n; i++) {
		struct check_row row = row_of(p, &r->waits[w[i].at]);

		if (i > 0 && w[i].place == w[i - 1].place && w[i].counter == w[i - 1].counter)
			merge(&rows[nrows - 1].row, &row);
		else
			rows[nrows++] = (struct numbered){row, w[i].at};
	}
	qsort(rows, nrows, sizeof(*rows), by_first);
	*out = xcalloc(nrows + 1, sizeof(**out));
	for (size_t i = 0; i < nrows; i++)
		(*out)[i] = rows[i].row;
	free(rows);
	free(w);
	return nrows;
}

static const char *buffer_of(const struct program *p, const struct insn *in)
{
	int32_t b = in->access >= 0 ? p->access[in->access].buffer : -1;

	return b >= 0 ? p->buffers[b].name : "";
}

/* "buffer_load_dwordx4 A_bot, line 84" */
static void describe_op(const struct program *p, uint32_t insn, char *buf, size_t size)
{
	const struct insn *in = &p->insns[insn];
	const char *buffer = buffer_of(p, in);

	snprintf(buf, size, "%s%s%s, line %u", in->op ? in->op : opclass_name(in->cls),
		 *buffer ? " " : "", buffer, loc_line(in->loc));
}

static void describe_place(const struct program *p, uint32_t insn, char *buf, size_t size)
{
	const struct insn *in = &p->insns[insn];
	bool barrier = in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT;

	if (!barrier)
		describe_op(p, insn, buf, size);
	else if ((in->flags & INSN_IMPLIED) && in->stage >= 0 && (size_t)in->stage < p->nstages &&
		 p->stages[in->stage].name)
		snprintf(buf, size, "boundary of %s, line %u", p->stages[in->stage].name,
			 loc_line(in->loc));
	else
		snprintf(buf, size, "barrier, line %u", loc_line(in->loc));
}

static void print_row(const struct program *p, const struct check_row *row, FILE *out)
{
	char what[96] = "", before[96] = "", required[16] = "none", slack[16] = "-", wait[32];

	if (row->needed) {
		snprintf(required, sizeof(required), "%u", row->required);
		snprintf(slack, sizeof(slack), "%+d", check_row_slack(row));
		if (check_row_slack(row) == 0)
			snprintf(slack, sizeof(slack), "0");
	}
	if (row->needed && row->for_insn != UINT32_MAX)
		describe_op(p, row->for_insn, what, sizeof(what));
	if (row->needed && row->before_insn != UINT32_MAX)
		describe_place(p, row->before_insn, before, sizeof(before));
	snprintf(wait, sizeof(wait), "%s%s", counter_name((enum counter)row->counter),
		 row->implied ? " (implied)" : "");
	fprintf(out, "  %5u  %-14s %7u  %8s  %5s  %-40s", loc_line(row->loc), wait, row->written,
		required, slack, what);
	fprintf(out, "  %s%s\n", before, row->needed && row->cross_wave ? " (other waves)" : "");
}

void check_print_waits(const struct program *p, const struct check_result *r, FILE *out)
{
	struct check_row *rows;
	size_t n = check_rows(p, r, &rows);

	if (n)
		fprintf(out, "  %5s  %-14s %7s  %8s  %5s  %-40s  %s\n", "line", "counter",
			"written", "required", "slack", "waits for", "before");
	for (size_t i = 0; i < n; i++)
		print_row(p, &rows[i], out);
	free(rows);
}
