#include "annotate_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "flow.h"
#include "flow_internal.h"

#define MAX_NOTES 24
#define MAX_LINES 12 /* named in one note */
#define WORK_BUDGET (UINT64_C(1) << 25) /* instructions issued in one run, at most */
#define LEAST_TRIPS 64 /* of a hot loop, however long its body is */
#define REACH_PASSES 16
#define CLOCK_MHZ_MIN 1.0
#define CLOCK_MHZ_MAX 20000.0

static const struct loc no_place = { 0 };

static void note(struct annotation *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void note(struct annotation *a, const char *fmt, ...)
{
	struct strbuf b = { 0 };
	va_list ap;

	if (a->nnotes >= MAX_NOTES) {
		a->more_notes++;
		return;
	}
	va_start(ap, fmt);
	strbuf_addv(&b, fmt, ap);
	va_end(ap);
	a->notes = xgrow(a->notes, a->nnotes, &a->capnotes, sizeof(*a->notes));
	a->notes[a->nnotes++] = b.s;
}

static unsigned line_of(const struct program *p, uint32_t insn)
{
	return loc_line(p->insns[insn].loc);
}

/* ---- labels ---- */

static bool label_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

/* The label that line i of s defines: "name:" or "0000 <name>:"; its length, 0 for none. */
static size_t label_in(const struct src *s, size_t i, const char **name)
{
	size_t at = s->line_start[i], end = i + 1 < s->nlines ? s->line_start[i + 1] : s->len, n = 0;

	while (at < end && (s->text[at] == ' ' || s->text[at] == '\t'))
		at++;
	while (at + n < end && label_char(s->text[at + n]))
		n++;
	if (n && at + n + 1 < end && s->text[at + n] == ' ' && s->text[at + n + 1] == '<') {
		at += n + 2;
		for (n = 0; at + n < end && label_char(s->text[at + n]);)
			n++;
		if (at + n >= end || s->text[at + n] != '>')
			return 0;
		*name = s->text + at;
		return at + n + 1 < end && s->text[at + n + 1] == ':' ? n : 0;
	}
	*name = s->text + at;
	return n && at + n < end && s->text[at + n] == ':' ? n : 0;
}

/* Does a line hold nothing but blanks and a comment? */
static bool line_empty(const struct src *s, size_t i)
{
	size_t at = s->line_start[i], end = i + 1 < s->nlines ? s->line_start[i + 1] : s->len;

	while (at < end && isspace((unsigned char)s->text[at]))
		at++;
	return at == end || s->text[at] == ';' || (at + 1 < end && s->text[at] == '/' && s->text[at + 1] == '/');
}

/* Is name a label in front of instruction begin? name NULL: take the nearest one. */
static char *label_before(const struct program *p, uint32_t begin, const char *name)
{
	const struct loc where = p->insns[begin].loc;
	const char *found;
	size_t n;

	if (!where.src)
		return NULL;
	for (size_t line = loc_line(where); line-- > 0;) {
		n = label_in(where.src, line, &found);
		if (n && (!name || (strlen(name) == n && memcmp(found, name, n) == 0)))
			return xasprintf("%.*s", (int)n, found);
		if (!n && line + 1 != loc_line(where) && !line_empty(where.src, line))
			return NULL;
	}
	return NULL;
}

static bool loop_named(const struct program *p, size_t loop, const char *word)
{
	uint32_t begin = p->loops[loop].begin;
	char *label;
	int64_t line;

	if (parse_int64(word, 1, UINT32_MAX, &line) == 0)
		return line == (int64_t)line_of(p, begin);
	label = label_before(p, begin, word);
	free(label);
	return label != NULL;
}

static void unknown_loop(const struct program *p, const char *word, struct diag *d)
{
	struct finding *f = diag_add(d, no_place, DIAG_LABEL, "no loop begins at %s", word);
	struct strbuf b = { 0 };

	for (size_t l = 0; l < p->nloops && l < 8; l++) {
		char *label = label_before(p, p->loops[l].begin, NULL);

		strbuf_add(&b, "%s", l ? ", " : "");
		if (label)
			strbuf_add(&b, "%s", label);
		else
			strbuf_add(&b, "%u", line_of(p, p->loops[l].begin));
		free(label);
	}
	if (b.s)
		diag_fix(f, "the loops of the listing begin at: %s%s", b.s, p->nloops > 8 ? ", ..." : "");
	else
		diag_fix(f, "leave --trip out: the listing has no loop");
	strbuf_free(&b);
}

/* ---- trips ---- */

static uint64_t mul_cap(uint64_t x, uint64_t y)
{
	uint64_t r;

	return __builtin_mul_overflow(x, y, &r) ? UINT64_MAX : r;
}

/* Instructions issued in all loops but one; in that one in a single trip. */
static uint64_t work_beside(const struct program *p, int hot)
{
	uint64_t *times = xcalloc(p->nloops + 1, sizeof(*times)), sum = p->ninsns;

	for (size_t l = 0; l < p->nloops; l++) {
		const struct loop *x = &p->loops[l];
		uint64_t n;

		times[l] = mul_cap((int)l == hot ? 1 : x->trips, x->parent >= 0 ? times[x->parent] : 1);
		n = mul_cap(times[l], x->end - x->begin);
		if (__builtin_add_overflow(sum, n, &sum))
			sum = UINT64_MAX;
	}
	free(times);
	return mul_cap(sum, p->waves);
}

static int trips_given(struct program *p, const struct annotate_options *o, bool *given, struct diag *d)
{
	for (size_t k = 0; k < o->ntrips; k++) {
		bool found = false;

		for (size_t l = 0; l < p->nloops; l++)
			if (loop_named(p, l, o->trips[k].label)) {
				p->loops[l].trips = o->trips[k].trips;
				found = given[l] = true;
			}
		if (!found) {
			unknown_loop(p, o->trips[k].label, d);
			return -1;
		}
	}
	return 0;
}

/* Loops that would be stepped for too long are cut short. */
static void limit_work(struct annotation *a, bool given)
{
	struct program *p = a->program;
	struct loop *hot = a->loop >= 0 ? &p->loops[a->loop] : NULL;
	uint64_t most;

	if (work_beside(p, a->loop) > WORK_BUDGET) {
		for (size_t l = 0; l < p->nloops; l++)
			if ((int)l != a->loop)
				p->loops[l].trips = 1;
		note(a, "the loops beside the hot one are too long to step: each taken as 1 trip%s",
		     given ? ", given trips included" : "");
	}
	most = WORK_BUDGET / (work_beside(p, a->loop) + 1);
	most = most > LEAST_TRIPS ? most : LEAST_TRIPS;
	if (hot && hot->trips > most) {
		note(a, "the loop at line %u makes %llu trips: timed as %llu", line_of(p, hot->begin),
		     (unsigned long long)hot->trips, (unsigned long long)most);
		hot->trips = most;
	}
}

static void trips_assumed(struct annotation *a, const bool *given)
{
	struct program *p = a->program;
	struct strbuf once = { 0 };
	unsigned n = 0;

	for (size_t l = 0; l < p->nloops; l++) {
		struct loop *x = &p->loops[l];
		unsigned line = line_of(p, x->begin);

		if (x->trips)
			continue;
		x->trips = (int)l == a->loop ? ANNOTATE_TRIPS : 1;
		if ((int)l == a->loop)
			note(a, "the trips of the loop at line %u are not known: taken as one steady loop of %u trips",
			     line, ANNOTATE_TRIPS);
		else if (n++ < MAX_LINES)
			strbuf_add(&once, "%s%u", once.s ? ", " : "", line);
	}
	if (n)
		note(a, "the trips of %u other loop%s are not known, taken as 1: line %s%s", n, n == 1 ? "" : "s",
		     once.s, n > MAX_LINES ? ", ..." : "");
	strbuf_free(&once);
	limit_work(a, given != NULL);
	if (a->loop >= 0)
		a->trips = p->loops[a->loop].trips;
}

static int set_trips(struct annotation *a, const struct annotate_options *o, struct diag *d)
{
	bool *given = xcalloc(a->program->nloops + 1, sizeof(*given));
	int rc = trips_given(a->program, o, given, d);

	if (rc == 0)
		trips_assumed(a, o->ntrips ? given : NULL);
	free(given);
	return rc;
}

/* ---- the path that is timed ---- */

/* From where can the hot loop be reached? Forward branches settle in one pass, backward ones in few. */
static bool *reaches(const struct program *p, uint32_t goal)
{
	bool *r = xcalloc(p->ninsns + 1, sizeof(*r)), changed = true;

	for (unsigned pass = 0; changed && pass < REACH_PASSES; pass++) {
		changed = false;
		for (uint32_t i = (uint32_t)p->ninsns; i-- > 0;) {
			uint32_t to = flow_branch_target(p, i);
			bool now = i == goal || (flow_falls_through(p, i) && r[i + 1]) ||
				   (to != FLOW_NONE && r[to]);

			changed |= now && !r[i];
			r[i] |= now;
		}
	}
	return r;
}

/* Where control leaves a loop that an unconditional branch closes: forward, by the first way out. */
static uint32_t way_out(const struct program *p, const struct loop *l, const bool *visited)
{
	for (uint32_t i = l->begin; i + 1 < l->end; i++) {
		uint32_t to = visited[i] ? flow_branch_target(p, i) : FLOW_NONE;

		if (to != FLOW_NONE && to >= l->end)
			return to;
	}
	return FLOW_NONE;
}

struct path {
	struct annotation *a;
	bool *visited, *reach;
	struct strbuf skipped; /* lines of forward branches not taken, inside the hot loop */
	unsigned inside;       /* how many they are */
	unsigned forward;      /* of those outside */
};

static uint32_t conditional(struct path *w, uint32_t i, uint32_t to)
{
	struct annotation *a = w->a;
	const struct program *p = a->program;

	if (to == FLOW_NONE) {
		note(a, "line %u: a call or a branch out of the text is passed over", line_of(p, i));
		return i + 1;
	}
	if (to <= i) {
		note(a, "line %u: a branch back that closes no loop is passed over", line_of(p, i));
		return i + 1;
	}
	if (w->reach && w->reach[to] && !w->reach[i + 1]) {
		note(a, "line %u: the branch is taken: only so the hot loop is reached", line_of(p, i));
		return to;
	}
	if (a->loop < 0 || i < a->begin || i >= a->end)
		w->forward++;
	else if (w->inside++ < MAX_LINES)
		strbuf_add(&w->skipped, "%s%u", w->skipped.s ? ", " : "", line_of(p, i));
	return i + 1;
}

static uint32_t after_branch(struct path *w, uint32_t i)
{
	struct annotation *a = w->a;
	const struct program *p = a->program;
	const struct insn *in = &p->insns[i];
	uint32_t to = flow_branch_target(p, i);

	if (in->loop >= 0) {
		if (in->flags & INSN_CONDITIONAL)
			return i + 1;
		to = way_out(p, &p->loops[in->loop], w->visited);
		if (to == FLOW_NONE)
			note(a, "line %u: the loop has no way out: the kernel ends after its trips",
			     line_of(p, i));
		return to;
	}
	if (in->flags & INSN_CONDITIONAL)
		return conditional(w, i, to);
	if (to != FLOW_NONE && to <= i) {
		note(a, "line %u: a branch back that closes no loop is passed over", line_of(p, i));
		return i + 1;
	}
	if (to == FLOW_NONE)
		note(a, "line %u: control leaves the text: the wave is taken to end there", line_of(p, i));
	return to;
}

static void walk(struct path *w, uint32_t i)
{
	const struct program *p = w->a->program;

	while (i < p->ninsns && !w->visited[i]) {
		w->visited[i] = true;
		if (p->insns[i].cls == OPC_END)
			return;
		i = p->insns[i].cls == OPC_BRANCH ? after_branch(w, i) : i + 1;
	}
}

/* The engine goes through the text from front to back: what control passes over is taken out. */
static void choose_path(struct annotation *a)
{
	struct program *p = a->program;
	struct path w = { .a = a };

	w.visited = xcalloc(p->ninsns + 1, sizeof(*w.visited));
	if (a->loop >= 0) {
		w.reach = reaches(p, a->begin);
		if (!w.reach[p->entry[0]]) {
			p->entry[0] = a->begin;
			note(a, "the hot loop is not reached from the first instruction: timed from its own first one");
		}
	}
	walk(&w, p->entry[0]);
	for (uint32_t i = 0; i < p->ninsns; i++)
		if (!w.visited[i])
			p->insns[i].flags |= INSN_EDGE_ONLY;
	if (w.skipped.s)
		note(a, "%u conditional branch%s forward inside the hot loop %s taken as not taken: line %s%s",
		     w.inside, w.inside == 1 ? "" : "es", w.inside == 1 ? "is" : "are", w.skipped.s,
		     w.inside > MAX_LINES ? ", ..." : "");
	if (w.forward)
		note(a, "%u other conditional branch%s forward %s taken as not taken", w.forward,
		     w.forward == 1 ? "" : "es", w.forward == 1 ? "is" : "are");
	strbuf_free(&w.skipped);
	free(w.visited);
	free(w.reach);
}

/* ---- what the text holds ---- */

static void count_mix(struct annotation *a)
{
	const struct program *p = a->program;
	unsigned simds = (unsigned)p->target->v.simds, waves = (p->waves + simds - 1) / simds;
	uint64_t matrix = 0;

	for (uint32_t i = a->begin; i < a->end; i++) {
		const struct insn *in = &p->insns[i];
		unsigned n = in->repeat ? in->repeat : 1;

		if (in->flags & (INSN_EDGE_ONLY | INSN_IMPLIED))
			continue;
		a->mix[in->cls] += n;
		if (in->op && strncmp(in->op, "scratch_", 8) == 0)
			a->scratch_ops += n;
		if (in->op && strncmp(in->op, "v_accvgpr_", 10) == 0)
			a->acc_copies += n;
		if (in->matrix)
			matrix += (uint64_t)n * in->matrix->occupancy_clk;
	}
	a->ideal_clk = (double)matrix * waves;
}

static void say_unknown_sizes(struct annotation *a)
{
	const struct program *p = a->program;

	for (uint32_t i = 0; i < p->ninsns; i++)
		if ((p->insns[i].cls == OPC_TDM_LOAD || p->insns[i].cls == OPC_TDM_STORE) &&
		    !p->insns[i].bytes) {
			note(a, "line %u: what a tensor copy moves is not known statically: taken as nothing",
			     line_of(p, i));
			return;
		}
}

static void set_conflicts(struct annotation *a, unsigned degree, const struct paths *paths)
{
	struct program *p = a->program;
	unsigned total = 0;

	a->bank_conflicts = degree ? degree : 1;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		struct insn *in = &p->insns[i];
		uint64_t clk = (uint64_t)in->lds_clk_free * a->bank_conflicts;

		if (!in->lds || in->cls == OPC_LDS_PERMUTE || !in->lds_clk_free)
			continue;
		in->lds_clk = (uint16_t)(clk < UINT16_MAX ? clk : UINT16_MAX);
		total += !(in->flags & INSN_EDGE_ONLY);
	}
	if (paths && !degree)
		a->lds_known = annotate_lds_times(a, paths);
	if (a->lds_known >= total)
		return;
	if (a->bank_conflicts == 1)
		note(a, "%u of %u LDS instructions have addresses that are not known statically: taken as free of conflicts",
		     total - a->lds_known, total);
	else
		note(a, "LDS addresses are taken as given: every access takes %u times its array time", a->bank_conflicts);
}

/* ---- measuring ---- */

struct trace {
	struct annotation *a;
	uint64_t first, last; /* trips that count: [first, last) */
	uint64_t trip;        /* under way */
	uint64_t trip_begin, begin, end;
	bool inside, closed; /* in the loop; its branch was the wave's last instruction */
	bool done;
};

static void next_trip(struct trace *t, uint64_t clk)
{
	t->trip_begin = clk;
	if (t->trip == t->first)
		t->begin = clk;
	if (t->trip == t->last) {
		t->end = clk;
		t->done = true;
	}
}

static void on_issue(void *ctx, const struct engine_event *e)
{
	struct trace *t = ctx;
	struct annotation *a = t->a;
	struct annotate_line *l;

	if (e->wave != t->a->wave || t->done)
		return;
	if (t->closed) {
		t->closed = false;
		t->trip++;
		next_trip(t, e->clk);
	} else if (!t->inside && e->insn >= a->begin && e->insn < a->end) {
		t->inside = true;
		next_trip(t, e->clk);
	}
	if (!t->done)
		t->end = e->clk; /* of a text without a loop, or that ends with it */
	t->closed = a->loop >= 0 && e->insn == a->end - 1;
	if (t->done || t->trip < t->first || e->insn < a->begin || e->insn >= a->end)
		return;
	l = &a->lines[e->insn - a->begin];
	l->issues++;
	l->at_clk += e->clk - t->trip_begin;
	l->stall_clk[e->reason < ST_COUNT ? e->reason : ST_ISSUE] += e->stall;
}

static int trace_run(struct annotation *a, const struct engine_config *base, uint64_t trips,
		     uint64_t measured, struct trace *t, struct diag *d)
{
	struct engine_config cfg = *base;
	struct stats unused;
	int rc;

	for (size_t i = 0; i < a->nlines; i++)
		a->lines[i] = (struct annotate_line){ .insn = a->begin + (uint32_t)i };
	*t = (struct trace){ .a = a };
	t->first = trips > measured ? trips - 1 - measured : 0;
	t->last = t->first + measured;
	cfg.event = on_issue;
	cfg.ctx = t;
	if (a->loop >= 0)
		a->program->loops[a->loop].trips = trips;
	rc = engine_run(a->program, &cfg, &unused, d);
	stats_free(&unused);
	return rc;
}

/*
 * Per-line figures come from a short run of the loop: long enough that its last trips are those of the
 * repeating state, which the first run knows; else the later half.
 */
static int measure(struct annotation *a, const struct engine_config *cfg, struct diag *d)
{
	struct program *p = a->program;
	uint64_t window = a->stats.steady ? a->stats.window_trips : 0, trips = a->trips, most, n;
	struct trace t;
	int rc;

	for (size_t l = 0; l < p->nloops; l++)
		if ((int)l != a->loop)
			p->loops[l].trips = 1;
	most = WORK_BUDGET / (work_beside(p, a->loop) + 1);
	most = most < 16 ? 16 : most;
	most = most < trips ? most : trips;
	for (n = window ? 2 * window + 16 : most;; n *= 2) {
		n = n < most ? n : most;
		uint64_t measured = window && window < n ? window : n > 2 ? (n + 1) / 2 : 1;

		rc = trace_run(a, cfg, n, measured, &t, d);
		if (rc != 0)
			return rc;
		a->measured_trips = measured;
		a->measured_clk = t.end - t.begin;
		a->steady = window && measured == window && a->measured_clk == a->stats.window_clk;
		if (!window || a->steady || n >= most)
			break;
	}
	a->trip_clk = a->steady ? (double)a->stats.window_clk / (double)window :
				  (double)a->measured_clk / (double)a->measured_trips;
	return 0;
}

static int choose_clock(struct annotation *a, const char *clock, struct diag *d)
{
	const struct target *t = a->program->target;
	const struct clock_row *row;
	double mhz;

	if (!clock) {
		a->clock_mhz = t->clocks[0].mhz;
		return 0;
	}
	if (parse_double(clock, &mhz) == 0) {
		a->clock_mhz = mhz;
		if (mhz >= CLOCK_MHZ_MIN && mhz <= CLOCK_MHZ_MAX)
			return 0;
		diag_add(d, no_place, DIAG_VALUE, "the clock is %g MHz; it must lie between %g and %g MHz",
			 mhz, CLOCK_MHZ_MIN, CLOCK_MHZ_MAX);
		return -1;
	}
	row = target_clock(t, clock);
	if (!row) {
		diag_fix(diag_add(d, no_place, DIAG_NAME, "target %s has no clock \"%s\"", t->name, clock),
			 "use \"%s\", another clock of the target, or a number of MHz", t->clocks[0].name);
		return -1;
	}
	a->clock_mhz = row->mhz;
	return 0;
}

static int annotate_into(struct annotation *a, const struct annotate_options *o, struct diag *d)
{
	struct program *p = a->program;
	struct engine_config cfg = { .resident = 1 };

	if (choose_clock(a, o->clock, d) != 0 || flow_loops(p, d) != 0)
		return -1;
	if (o->waves_assumed)
		note(a, "the text does not say how large a workgroup is: taken as %u waves", p->waves);
	a->loop = p->main_loop[0];
	a->begin = a->loop >= 0 ? p->loops[a->loop].begin : 0;
	a->end = a->loop >= 0 ? p->loops[a->loop].end : (uint32_t)p->ninsns;
	a->trips = 1;
	if (a->loop < 0)
		note(a, "there is no loop: the text is taken once, from its first to its last instruction");
	else
		a->label = label_before(p, a->begin, NULL);
	if (o->paths && annotate_take_paths(a, o->paths)) {
		a->groups = p->groups;
		a->offset = o->paths->offset;
	}
	if (set_trips(a, o, d) != 0)
		return -1;
	if (!a->groups)
		choose_path(a);
	else if (a->groups > 1)
		note(a, "the waves go %u ways%s", a->groups, a->offset ? ", those of the second half behind the others" : "");
	set_conflicts(a, o->bank_conflicts, o->paths);
	say_unknown_sizes(a);
	count_mix(a);
	if (program_validate(p, d) != 0)
		return -1;
	cfg.clock_mhz = a->clock_mhz;
	cfg.bytes_per_clk = p->target->v.l2_bytes_clk / p->target->v.cus; /* every CU runs the same */
	if (engine_run(p, &cfg, &a->stats, d) != 0)
		return -1;
	a->nlines = a->end - a->begin;
	a->lines = xcalloc(a->nlines, sizeof(*a->lines));
	if (measure(a, &cfg, d) != 0)
		return -1;
	annotate_find_stages(a);
	a->matrix_busy = a->trip_clk > 0 ? a->ideal_clk / a->trip_clk : 0;
	return 0;
}

int annotate(struct program *p, const struct annotate_options *o, struct annotation *out, struct diag *d)
{
	int rc;

	memset(out, 0, sizeof(*out));
	out->program = p;
	rc = annotate_into(out, o, d);
	if (rc != 0)
		annotation_free(out);
	return rc;
}

void annotation_free(struct annotation *a)
{
	stats_free(&a->stats);
	for (size_t i = 0; i < a->nnotes; i++)
		free(a->notes[i]);
	free(a->notes);
	free(a->lines);
	free(a->stages);
	free(a->label);
	memset(a, 0, sizeof(*a));
}
