/*
 * wpsim check --fix and --place-waits. The text is edited, read and examined again, round by round;
 * what counts in the end is the best text seen. Nothing is believed of an edit but what the checker
 * says.
 */
#include "fix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "price.h"
#include "report.h"
#include "src.h"

#define MAX_ROUNDS 20
#define MAX_PLACE_ROUNDS 60
#define MAX_ERRORS 500 /* findings kept, so that one round can mend many */
#define MAX_GROUPS_TRIED 16

enum phase { PHASE_ERRORS, PHASE_STRONG, PHASE_SPARE };

/* One text under examination, with its tree. */
struct state {
	char *text;
	struct run run;
	struct arena *arena;
	struct xml_node *root;
};

struct fixer {
	const char *path;
	const struct cmd_options *o;
	FILE *log;
	size_t changes;
	bool place; /* waits are placed anew */
};

static void state_free(struct state *s)
{
	if (!s)
		return;
	free(s->text);
	arena_free(s->arena);
	run_free(&s->run);
	free(s);
}

/* Read, lower and check the text, which is taken over. timed: predict and price too. */
static struct state *examine(const struct fixer *f, char *text, bool timed)
{
	struct state *s = xcalloc(1, sizeof(*s));
	struct diag d;

	s->text = text;
	s->run.path = f->path;
	diag_init(&s->run.diag);
	s->run.diag.max_errors = MAX_ERRORS;
	run_lower_source(&s->run, f->o, src_from_text(f->path, text, strlen(text)));
	if (!s->run.program)
		return s;
	s->arena = arena_new();
	diag_init(&d);
	s->root = xml_parse(s->run.schedule->src, s->arena, &d);
	diag_free(&d);
	run_check(&s->run);
	if (timed) {
		struct prediction *pr = xcalloc(1, sizeof(*pr));

		if (predict(s->run.program, f->o->clock, false, pr, &s->run.diag) == 0) {
			s->run.prediction = pr;
			run_prices(&s->run, true);
			report_findings(pr, &s->run.diag);
		} else {
			prediction_free(pr);
			free(pr);
		}
	}
	return s;
}

static size_t errors_of(const struct state *s)
{
	return s->run.program ? s->run.diag.errors : SIZE_MAX;
}

static const struct src *source(const struct state *s)
{
	return s->run.schedule->src;
}

/* Is a better than b: fewer errors, then fewer warnings? */
static bool better(const struct state *a, const struct state *b)
{
	if (errors_of(a) != errors_of(b))
		return errors_of(a) < errors_of(b);
	return a->run.diag.warnings < b->run.diag.warnings;
}

static bool in_interleave(const struct xml_node *n)
{
	return n->parent && strcmp(n->parent->name, "interleave") == 0;
}

static const struct xml_attr *attr_of(const struct xml_node *n, const char *name)
{
	for (size_t i = 0; i < n->nattrs; i++)
		if (strcmp(n->attrs[i].name, name) == 0)
			return &n->attrs[i];
	return NULL;
}

/* Attributes of a wait that hold the wave. */
static size_t held_by(const struct xml_node *n)
{
	size_t held = 0;

	for (size_t i = 0; i < n->nattrs; i++)
		if (strcmp(n->attrs[i].name, "group") != 0 && strcmp(n->attrs[i].name, "id") != 0)
			held++;
	return held;
}

/* Values that the copies of the wait at this place have on one counter: all alike, or -1. */
static int value_at(const struct program *p, uint32_t at, const char *counter)
{
	int value = -1;

	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];

		if (in->cls != OPC_WAIT || in->loc.begin != at || (in->flags & INSN_AUTO_WAIT))
			continue;
		for (unsigned k = 0; k < in->nwait; k++) {
			if (strcmp(counter_name((enum counter)in->wait[k].counter), counter) != 0)
				continue;
			if (value >= 0 && value != in->wait[k].value)
				return -1;
			value = in->wait[k].value;
		}
	}
	return value;
}

/* The number of copy groups that is exactly this counter value here; -1: there is none. */
static int groups_for(const struct fixer *f, const struct state *s, struct xml_node *wait,
		      const struct xml_attr *groups, const char *counter, int64_t value)
{
	int64_t now;

	if (parse_int64(groups->value, 0, 255, &now) != 0)
		return -1;
	for (int64_t g = now > MAX_GROUPS_TRIED ? now - MAX_GROUPS_TRIED : 0;
	     g <= now + MAX_GROUPS_TRIED && g <= 255; g++) {
		struct edit_list l = {0};
		char number[8];
		struct run r = {.path = f->path};
		char *text;
		int got = -1;

		snprintf(number, sizeof(number), "%d", (int)g);
		if (!edit_set(&l, source(s), wait, "groups", number))
			continue;
		text = edit_apply(s->text, &l);
		diag_init(&r.diag);
		run_lower_source(&r, f->o, src_from_text(f->path, text, strlen(text)));
		if (r.program)
			got = value_at(r.program, wait->loc.begin, counter);
		run_free(&r);
		free(text);
		edit_free(&l);
		if (got == value)
			return (int)g;
		if (got > value)
			return -1;
	}
	return -1;
}

/* Write value for a counter of a wait: in its own attribute, or as a number of copy groups. */
static bool set_value(const struct fixer *f, const struct state *s, struct edit_list *l,
		      struct xml_node *wait, const char *counter, int64_t value)
{
	const struct xml_attr *groups = attr_of(wait, "groups");
	char number[24];
	int g;

	snprintf(number, sizeof(number), "%lld", (long long)value);
	if (attr_of(wait, counter) || !groups)
		return edit_set(l, source(s), wait, counter, number);
	g = groups_for(f, s, wait, groups, counter, value);
	if (g >= 0) {
		snprintf(number, sizeof(number), "%d", g);
		return edit_set(l, source(s), wait, "groups", number);
	}
	return edit_add(l, groups->name_loc.begin, groups->value_loc.end + 1,
			xasprintf("%s=\"%s\"", counter, number));
}

/* The element that holds back the groups which finding e is about. */
static char *wait_element(const struct finding *e)
{
	return e->insert_group
		       ? xasprintf("<wait %s=\"%lld\" group=\"%c\"/>", e->counter,
				   (long long)e->insert_value, e->insert_group)
		       : xasprintf("<wait %s=\"%lld\"/>", e->counter, (long long)e->insert_value);
}

/* A wait that this round puts in front of the same element takes the counter as well. */
static bool join_inserted(struct edit_list *l, const struct xml_node *at, const struct finding *f)
{
	for (size_t i = 0; i < l->n; i++) {
		struct edit *e = &l->list[i];
		char *close, *text;

		if (e->begin != e->end || e->begin != at->loc.begin - 1 ||
		    strncmp(e->text, "<wait ", 6) != 0 || strstr(e->text, "group=") ||
		    f->insert_group)
			continue;
		close = strstr(e->text, "/>");
		text = xasprintf("%.*s %s=\"%lld\"%s", (int)(close - e->text), e->text, f->counter,
				 (long long)f->insert_value, close);
		free(e->text);
		e->text = text;
		return true;
	}
	return false;
}

/* What comes in front of a loop stands in a prologue. */
static bool insert_before_loop(const struct state *s, struct edit_list *l, struct xml_node *loop,
			       char *element)
{
	struct xml_node *before = edit_previous(loop);
	uint32_t begin, end;
	char *section;
	bool done;

	if (before && strcmp(before->name, "prologue") == 0 && before->first &&
	    !attr_of(before, "groups")) {
		edit_extent(source(s), before, &begin, &end);
		while (end > begin && s->text[end - 1] != '<')
			end--;
		return edit_add(l, end - 1, end - 1, element);
	}
	section = xasprintf("<prologue>%s</prologue>", element);
	free(element);
	done = edit_insert_before(l, source(s), loop, section);
	free(section);
	return done;
}

/* A wait that stands in front of the place for the same groups, and can take the counter. */
static bool takes(const struct xml_node *before, const struct finding *e)
{
	const struct xml_attr *group = before ? attr_of(before, "group") : NULL;
	char letter[2] = {e->insert_group, 0};

	if (!before || strcmp(before->name, "wait") != 0 || attr_of(before, "groups"))
		return false;
	return e->insert_group ? group && strcmp(group->value, letter) == 0 : !group;
}

/* The edit of a place where a wait of its own belongs. A wait that stands there already takes the
 * value. */
static bool insert_wait(const struct state *s, struct edit_list *l, struct xml_node *at,
			const struct finding *e)
{
	struct xml_node *before = edit_previous(at);
	char number[24], *element;
	int64_t has;
	bool done;

	if (in_interleave(at)) {
		at = at->parent;
		before = edit_previous(at);
	}
	if (strcmp(at->name, "loop") == 0)
		return insert_before_loop(s, l, at, wait_element(e));
	if (join_inserted(l, at, e))
		return true;
	/* of several waits in a row each may be for another group */
	while (before && strcmp(before->name, "wait") == 0 && !takes(before, e))
		before = edit_previous(before);
	if (takes(before, e)) {
		const struct xml_attr *a = attr_of(before, e->counter);

		if (a && parse_int64(a->value, 0, 255, &has) == 0 && has <= e->insert_value)
			return false;
		snprintf(number, sizeof(number), "%lld", (long long)e->insert_value);
		return edit_set(l, source(s), before, e->counter, number);
	}
	element = wait_element(e);
	done = edit_insert_before(l, source(s), at, element);
	free(element);
	return done;
}

/* Several findings may want a wait at one place: only the smallest value is put in. */
static bool smallest_there(const struct diag *d, const struct finding *f)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *g = &d->list[i];

		if (g == f || !g->insert.src || g->insert.begin != f->insert.begin ||
		    g->counter != f->counter || g->insert_group != f->insert_group)
			continue;
		if (g->insert_value < f->insert_value ||
		    (g->insert_value == f->insert_value && g < f))
			return false;
	}
	return true;
}

static bool mend_error(const struct fixer *f, const struct state *s, struct edit_list *l,
		       const struct finding *e)
{
	struct xml_node *n;

	if (e->severity != SEV_ERROR || e->required < 0 || !e->counter)
		return false;
	n = edit_find(s->root, e->loc.begin);
	/* a placed wait goes to the latest place: one that an interleave keeps is not made to serve
	 * for it */
	if (e->code == DIAG_WAIT_SHORT && e->present != DIAG_NONE_INT && n &&
	    strcmp(n->name, "wait") == 0 && !(f->place && in_interleave(n)))
		return set_value(f, s, l, n, e->counter, e->required);
	if (!e->insert.src)
		return false;
	n = edit_find(s->root, e->insert.begin);
	return n && smallest_there(&s->run.diag, e) && insert_wait(s, l, n, e);
}

/* Loosen a wait, or take it out when no order needs it. */
static bool mend_strong(const struct fixer *f, const struct state *s, struct edit_list *l,
			const struct finding *e)
{
	struct xml_node *n =
		e->code == DIAG_WAIT_STRONG && e->counter ? edit_find(s->root, e->loc.begin) : NULL;

	if (!n || e->price_clk <= -PRICE_LEAST_CLK) /* stronger than needed, and faster for it */
		return false;
	if (strcmp(n->name, "barrier") == 0 &&
	    attr_of(n, "kind")) { /* the wait of a draining barrier */
		if (e->required >= 0 && !in_interleave(n) && !attr_of(n, "group")) {
			char *element = xasprintf("<wait %s=\"%lld\"/>", e->counter,
						  (long long)e->required);

			edit_insert_before(l, source(s), n, element);
			free(element);
		} else if (e->required >= 0) {
			return false;
		}
		return edit_set(l, source(s), n, "kind", "plain");
	}
	if (strcmp(n->name, "wait") != 0)
		return false;
	if (e->required >= 0)
		return set_value(f, s, l, n, e->counter, e->required);
	if (held_by(n) > 1)
		return edit_drop_attr(l, source(s), n,
				      attr_of(n, e->counter) ? e->counter : "groups");
	return !in_interleave(n) && edit_remove(l, source(s), n);
}

static bool mend_spare(const struct state *s, struct edit_list *l, const struct finding *e)
{
	struct xml_node *n =
		e->code == DIAG_BARRIER_SPARE ? edit_find(s->root, e->loc.begin) : NULL;

	if (!n)
		return false;
	if (strcmp(n->name, "stage") == 0)
		return edit_set(l, source(s), n, "boundary", "none");
	return strcmp(n->name, "barrier") == 0 && !in_interleave(n) && edit_remove(l, source(s), n);
}

static bool mend(const struct fixer *f, const struct state *s, struct edit_list *l,
		 const struct finding *e, enum phase phase)
{
	switch (phase) {
	case PHASE_ERRORS:
		return mend_error(f, s, l, e);
	case PHASE_STRONG:
		return mend_strong(f, s, l, e);
	case PHASE_SPARE:
		return mend_spare(s, l, e);
	}
	return false;
}

/* The line of text around [begin, end), blanks at both ends left out. */
static char *line_of(const char *text, size_t begin, size_t end)
{
	while (begin > 0 && text[begin - 1] != '\n')
		begin--;
	while (text[end] && text[end] != '\n')
		end++;
	while (begin < end && strchr(" \t\r\n", text[begin]))
		begin++;
	while (end > begin && strchr(" \t\r\n", text[end - 1]))
		end--;
	return xasprintf("%.*s", (int)(end - begin), text + begin);
}

/* "file:line: old -> new" for each edit; the line is that of the text edited. */
static void tell(struct fixer *f, const struct state *s, const struct edit_list *l, const char *why)
{
	for (size_t i = 0; i < l->n; i++) {
		struct edit_list one = {&l->list[i], 1, 1};
		const struct edit *e = &l->list[i];
		unsigned line, col;
		char *after = edit_apply(s->text, &one), *old, *new;
		size_t added = strlen(e->text);

		src_line_col(source(s), e->begin, &line, &col);
		if (e->begin == e->end && e->text[0] == '<') {
			fprintf(f->log, "%s:%u: %s: %.*s put in\n", f->path, line, why,
				(int)strcspn(e->text, "\n"), e->text);
			free(after);
			f->changes++;
			continue;
		}
		old = line_of(s->text, e->begin,
			      e->end > e->begin && s->text[e->end - 1] == '\n' ? e->end - 1
									       : e->end);
		new = added || e->end == e->begin || s->text[e->end - 1] != '\n'
			      ? line_of(after, e->begin, e->begin + added)
			      : xstrdup("(taken out)");
		fprintf(f->log, "%s:%u: %s: %s -> %s\n", f->path, line, why, old, new);
		free(old);
		free(new);
		free(after);
		f->changes++;
	}
}

static const char *why(enum phase p)
{
	return p == PHASE_ERRORS ? "wait" : p == PHASE_STRONG ? "looser wait" : "spare barrier";
}

/* One edit after the other, each kept when it makes nothing worse. */
static struct state *one_by_one(struct fixer *f, struct state *s, enum phase phase, bool timed)
{
	size_t at = 0;

	while (at < s->run.diag.n) {
		struct edit_list l = {0};
		struct state *next;

		if (!mend(f, s, &l, &s->run.diag.list[at], phase)) {
			edit_free(&l);
			at++;
			continue;
		}
		next = examine(f, edit_apply(s->text, &l), timed);
		if (errors_of(next) <= errors_of(s) && better(next, s)) {
			tell(f, s, &l, why(phase));
			state_free(s);
			s = next;
			at = 0;
		} else {
			state_free(next);
			at++;
		}
		edit_free(&l);
	}
	return s;
}

/* All edits of a phase at once. */
static bool collect(const struct fixer *f, const struct state *s, struct edit_list *l,
		    enum phase phase)
{
	bool any = false;

	for (size_t i = 0; i < s->run.diag.n; i++)
		any |= mend(f, s, l, &s->run.diag.list[i], phase);
	return any;
}

/* Rounds of errors: a wait put in can show the next one, so a round may look worse than the one
 * before. */
static struct state *mend_errors(struct fixer *f, struct state *s, unsigned rounds)
{
	size_t begin = errors_of(s);
	struct state *now = s;

	for (unsigned r = 0; r < rounds && errors_of(now) > 0; r++) {
		struct edit_list l = {0};
		struct state *next;

		if (!collect(f, now, &l, PHASE_ERRORS)) {
			edit_free(&l);
			break;
		}
		next = examine(f, edit_apply(now->text, &l), false);
		if (!next->run.program) {
			state_free(next);
			edit_free(&l);
			break;
		}
		tell(f, now, &l, why(PHASE_ERRORS));
		edit_free(&l);
		if (now != s)
			state_free(now);
		now = next;
	}
	if (now == s)
		return s;
	if (errors_of(now) > begin) {
		fprintf(f->log,
			"%s: these edits are undone: they leave more errors than there were\n",
			f->path);
		f->changes = 0;
		state_free(now);
		return s;
	}
	state_free(s);
	return now;
}

static struct state *loosen(struct fixer *f, struct state *s)
{
	bool timed = !f->place; /* placed waits are as loose as can be, whatever that costs */

	if (timed && s->run.program) {
		struct state *again = examine(f, xstrdup(s->text), true);

		state_free(s);
		s = again;
	}
	for (unsigned r = 0; r < MAX_ROUNDS; r++) {
		struct edit_list l = {0};
		struct state *next;

		if (!collect(f, s, &l, PHASE_STRONG)) {
			edit_free(&l);
			return s;
		}
		next = examine(f, edit_apply(s->text, &l), timed);
		if (!better(next, s)) {
			state_free(next);
			edit_free(&l);
			return one_by_one(f, s, PHASE_STRONG, timed);
		}
		tell(f, s, &l, why(PHASE_STRONG));
		edit_free(&l);
		state_free(s);
		s = next;
	}
	return s;
}

/* A barrier can be spare and worth its place: only those that the prices call a loss are dropped.
 */
static struct state *drop_barriers(struct fixer *f, struct state *s)
{
	return errors_of(s) ? s : one_by_one(f, s, PHASE_SPARE, true);
}

/* Without every wait that stands outside an interleave. */
static char *without_waits(const struct state *s)
{
	struct edit_list l = {0};
	struct xml_node *n = s->root;
	char *text;

	while (n) { /* depth first */
		if (strcmp(n->name, "wait") == 0 && !in_interleave(n))
			edit_remove(&l, source(s), n);
		if (n->first) {
			n = n->first;
			continue;
		}
		while (n && !n->next)
			n = n->parent;
		n = n ? n->next : NULL;
	}
	text = edit_apply(s->text, &l);
	edit_free(&l);
	return text;
}

char *fix_schedule(const char *path, const char *text, const struct cmd_options *o,
		   bool place_waits, FILE *log, struct fix_summary *sum)
{
	struct fixer f = {.path = path, .o = o, .log = log, .place = place_waits};
	struct state *s = examine(&f, xstrdup(text), false);
	char *result;

	*sum = (struct fix_summary){.status = STATUS_BAD_INPUT};
	if (!s->run.program || !s->root) {
		diag_print(&s->run.diag, log, o->colour_err);
		state_free(s);
		return NULL;
	}
	sum->errors_before = errors_of(s);
	if (place_waits) {
		struct state *bare = examine(&f, without_waits(s), false);
		size_t before = errors_of(s);

		if (bare->run.program)
			bare = mend_errors(&f, bare, MAX_PLACE_ROUNDS);
		bare = loosen(&f, bare);
		if (bare->run.program && errors_of(bare) <= before) {
			state_free(s);
			s = bare;
		} else {
			fprintf(log,
				"%s: no placement without errors was found: the schedule is left as it is\n",
				path);
			state_free(bare);
			f.changes = 0;
		}
	} else {
		s = mend_errors(&f, s, MAX_ROUNDS);
		s = loosen(&f, s);
		s = drop_barriers(&f, s);
		s = loosen(&f, s);
	}
	sum->errors_after = errors_of(s);
	sum->warnings_after = s->run.diag.warnings;
	sum->changes = f.changes;
	sum->status = sum->errors_after ? STATUS_FINDINGS : STATUS_CLEAN;
	if (sum->errors_after)
		diag_print(&s->run.diag, log, o->colour_err);
	result = xstrdup(s->text);
	state_free(s);
	return result;
}

/* Predicted clk of the whole kernel and of a K-step. */
static void tell_cycles(const struct cmd_options *o, const char *path, const char *text,
			const char *what)
{
	struct run r = {.path = path};
	struct prediction pr;

	diag_init(&r.diag);
	run_lower_source(&r, o, src_from_text(path, text, strlen(text)));
	if (r.program && predict(r.program, o->clock, false, &pr, &r.diag) == 0) {
		fprintf(stderr, "%s: %s: %llu clk", path, what, (unsigned long long)pr.kernel_clk);
		if (pr.stats.window_steps)
			fprintf(stderr, ", %.1f clk per K-step",
				(double)pr.stats.window_clk / (double)pr.stats.window_steps);
		fputc('\n', stderr);
		prediction_free(&pr);
	} else if (r.diag.errors) {
		diag_print(&r.diag, stderr, o->colour_err);
	}
	run_free(&r);
}

int fix_command(const struct cmd_options *o)
{
	struct fix_summary sum;
	struct output out;
	struct diag d;
	struct src *s;
	char *text;
	int status;

	if (o->fix && o->place_waits)
		return cmd_error("check: --fix and --place-waits exclude each other");
	if (o->format != FORMAT_TEXT)
		return cmd_error(
			"check: --fix and --place-waits write a schedule, not a document: leave out --format");
	if (o->nwords != 1)
		return cmd_error("check: --fix and --place-waits take one schedule");
	diag_init(&d);
	s = src_load(o->words[0], &d);
	if (!s) {
		diag_print(&d, stderr, o->colour_err);
		diag_free(&d);
		return STATUS_BAD_INPUT;
	}
	text = fix_schedule(s->path, s->text, o, o->place_waits, stderr, &sum);
	status = sum.status;
	if (text) {
		if (o->place_waits) {
			tell_cycles(o, s->path, s->text, "before");
			tell_cycles(o, s->path, text, "after");
		}
		fprintf(stderr, "%s: %zu change%s, errors before %zu, after %zu\n", s->path,
			sum.changes, sum.changes == 1 ? "" : "s", sum.errors_before,
			sum.errors_after);
		int opened = output_open(&out, o->output);
		if (opened) {
			status = opened;
		} else {
			fputs(text, out.f);
			int written = output_commit(&out);
			status = written ? written : status;
		}
	}
	free(text);
	src_free(s);
	diag_free(&d);
	return status;
}
