/*
 * Every given row of the compiler's verdict tables (hazards and waits, three targets) against ours.
 *
 * Tables are looked for in $WPSIM_ORACLE, then in ../shared/oracle beside the source tree; without
 * them the tests are skipped. The number of disagreements of each table is fixed here and explained
 * in docs/oracle.md: more of them, or fewer, fail. WPSIM_ORACLE_SHOW=1 prints each of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "listing.h"

#define MAX_ITEMS 96
#define MAX_COLUMNS 12
#define MAX_VERDICTS 64

static const char *const targets[] = {"gfx942", "gfx950", "gfx1250"};

static bool show(void)
{
	return getenv("WPSIM_ORACLE_SHOW") != NULL;
}

/* ---- tables ---- */

static char *folder(void)
{
	const char *env = getenv("WPSIM_ORACLE"), *top = getenv("top_srcdir");

	return env && *env ? xstrdup(env) : xasprintf("%s/../shared/oracle", top ? top : ".");
}

static char *read_table(const char *kind, const char *target)
{
	char *dir = folder(), *path = xasprintf("%s/%s-%s.tsv", dir, kind, target);
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	long n;

	free(path);
	free(dir);
	if (!f)
		return NULL;
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	rewind(f);
	text = xmalloc((size_t)n + 1);
	assert_int_equal(fread(text, 1, (size_t)n, f), (size_t)n);
	text[n] = '\0';
	fclose(f);
	return text;
}

/* Next line, cut into columns; false at the end. */
static bool next_row(char **at, char *col[MAX_COLUMNS])
{
	char *line = *at, *end;
	unsigned n = 0;

	if (!*line)
		return false;
	end = strchr(line, '\n');
	*at = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	while (n < MAX_COLUMNS) {
		char *tab = strchr(line, '\t');

		col[n++] = line;
		if (!tab)
			break;
		*tab = '\0';
		line = tab + 1;
	}
	while (n < MAX_COLUMNS)
		col[n++] = (char *)"";
	return true;
}

/* ---- code ---- */

struct code { /* a row's instructions */
	struct src *s;
	struct diag d;
	struct program *p;
	char *text;
	unsigned nitems;
	int insn_of[MAX_ITEMS]; /* item to instruction, -1: a label */
	unsigned item_of[MAX_ITEMS];
};

/* Items are separated by " ; ". leave_out: item that is left out, -1: none. */
static bool code_make(struct code *c, const struct target *t, const char *cell, int leave_out)
{
	struct strbuf b = {0};
	unsigned insn = 0;
	const struct listing_options o = {0};

	memset(c, 0, sizeof(*c));
	for (const char *at = cell; *at;) {
		const char *end = strstr(at, " ; ");
		size_t n = end ? (size_t)(end - at) : strlen(at);
		bool label = n && at[n - 1] == ':';

		assert_true(c->nitems < MAX_ITEMS);
		if ((int)c->nitems != leave_out) {
			strbuf_addn(&b, at, n);
			strbuf_addn(&b, "\n", 1);
			c->insn_of[c->nitems] = label ? -1 : (int)insn;
			if (!label)
				c->item_of[insn++] = c->nitems;
		}
		c->nitems++;
		at += n + (end ? 3 : 0);
	}
	c->text = b.s;
	c->s = src_from_text("oracle", b.s ? b.s : "", b.len);
	diag_init(&c->d);
	c->p = listing_parse(c->s, t, &o, NULL, &c->d);
	if (!c->p)
		diag_print(&c->d, stderr, false);
	return c->p != NULL;
}

static void code_free(struct code *c)
{
	program_free(c->p);
	diag_free(&c->d);
	src_free(c->s);
	free(c->text);
}

/* ---- scores ---- */

struct score {
	const char *kind, *target;
	unsigned rows, agree, unread;
	unsigned x_rows, x_agree;   /* verdicts on xcnt, kept apart */
	unsigned streams, accepted; /* annotated streams */
	unsigned mutants, flagged;  /* of them, one wait or nop left out or loosened */
};

static void print_score(const struct score *s)
{
	print_message("%-18s %-8s agree %5u / %5u", s->kind, s->target, s->agree, s->rows);
	if (s->unread)
		print_message(", unread %u", s->unread);
	if (s->x_rows)
		print_message(", xcnt %u / %u", s->x_agree, s->x_rows);
	if (s->streams)
		print_message(", accepted %u / %u, mutants flagged %u / %u", s->accepted,
			      s->streams, s->flagged, s->mutants);
	print_message("\n");
}

static struct target *load(const char *name)
{
	struct diag d;
	struct target *t;

	diag_init(&d);
	t = target_load(name, NULL, (struct loc){0}, &d);
	diag_print(&d, stderr, false);
	assert_non_null(t);
	diag_free(&d);
	return t;
}

/* ---- verdicts ---- */

struct verdict {
	unsigned item;
	int counter; /* -1: wait states */
	unsigned value;
};

struct verdicts {
	struct verdict v[MAX_VERDICTS];
	unsigned n;
};

static int counter_of(const char *name, size_t n)
{
	static const struct {
		const char *name;
		int counter;
	} names[] = {
		{"vmcnt", CTR_VM},     {"lgkmcnt", CTR_LGKM},	{"expcnt", CTR_EXP},
		{"loadcnt", CTR_LOAD}, {"storecnt", CTR_STORE}, {"dscnt", CTR_DS},
		{"kmcnt", CTR_KM},     {"asynccnt", CTR_ASYNC}, {"tensorcnt", CTR_TENSOR},
		{"xcnt", CTR_X},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i].name) == n && !memcmp(names[i].name, name, n))
			return names[i].counter;
	fail_msg("no counter %.*s", (int)n, name);
	return -1;
}

static void add_verdict(struct verdicts *v, unsigned item, int counter, unsigned value)
{
	assert_true(v->n < MAX_VERDICTS);
	v->v[v->n++] = (struct verdict){item, counter, value};
}

/* "1:2,4:2" or "3:vmcnt=1,lgkmcnt=0 | 4:vmcnt=0" */
static void read_verdicts(const char *cell, struct verdicts *v)
{
	unsigned item = 0;

	v->n = 0;
	for (const char *at = cell; *at;) {
		char *end;

		if (*at >= '0' && *at <= '9') {
			item = (unsigned)strtoul(at, &end, 10);
			assert_int_equal(*end, ':');
			at = end + 1;
		}
		if (*at >= '0' && *at <= '9') {
			add_verdict(v, item, -1, (unsigned)strtoul(at, &end, 10));
			at = end;
		} else {
			size_t n = strcspn(at, "=");

			add_verdict(v, item, counter_of(at, n),
				    (unsigned)strtoul(at + n + 1, &end, 10));
			at = end;
		}
		at += strspn(at, ", |");
	}
}

static void ours(const struct code *c, const struct flow_result *r, struct verdicts *v)
{
	v->n = 0;
	for (size_t i = 0; i < r->n && v->n < MAX_VERDICTS; i++)
		add_verdict(v, c->item_of[r->needs[i].insn], r->needs[i].counter,
			    r->needs[i].counter < 0 ? r->needs[i].missing : r->needs[i].required);
}

static bool has(const struct verdicts *v, const struct verdict *x)
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->v[i].item == x->item && v->v[i].counter == x->counter &&
		    v->v[i].value == x->value)
			return true;
	return false;
}

/* Same verdicts on the counters other than xcnt, or on xcnt only? */
static bool same(const struct verdicts *a, const struct verdicts *b, bool x)
{
	for (unsigned i = 0; i < a->n; i++)
		if ((a->v[i].counter == CTR_X) == x && !has(b, &a->v[i]))
			return false;
	for (unsigned i = 0; i < b->n; i++)
		if ((b->v[i].counter == CTR_X) == x && !has(a, &b->v[i]))
			return false;
	return true;
}

static bool has_x(const struct verdicts *v)
{
	for (unsigned i = 0; i < v->n; i++)
		if (v->v[i].counter == CTR_X)
			return true;
	return false;
}

static void print_verdicts(const char *name, const struct verdicts *v)
{
	print_message("  %s", name);
	for (unsigned i = 0; i < v->n; i++)
		if (v->v[i].counter < 0)
			print_message(" %u:%u", v->v[i].item, v->v[i].value);
		else
			print_message(" %u:%s=%u", v->v[i].item,
				      counter_name((enum counter)v->v[i].counter), v->v[i].value);
	print_message("\n");
}

static void print_difference(const char *id, const char *cell, const struct verdicts *theirs,
			     const struct verdicts *mine)
{
	if (!show())
		return;
	print_message("%s %s\n", id, cell);
	print_verdicts("theirs", theirs);
	print_verdicts("ours  ", mine);
}

static void analyse(struct code *c, bool waits, struct flow_result *r)
{
	assert_int_equal(waits ? flow_waits(c->p, r) : flow_spacing(c->p, r), 0);
}

/* ---- pairs ---- */

static void pairs_of_target(struct score *s, char *text, const struct target *t)
{
	char *col[MAX_COLUMNS];

	next_row(&text, col);
	while (next_row(&text, col)) {
		char *cell = xasprintf("%s%s%s ; %s", col[4], *col[5] ? " ; " : "", col[5], col[6]);
		struct flow_result r;
		struct code c;
		unsigned missing = 0;

		s->rows++;
		if (!code_make(&c, t, cell, -1)) {
			s->unread++;
		} else {
			analyse(&c, false, &r);
			for (size_t i = 0; i < r.n; i++)
				if (r.needs[i].insn + 1 == c.p->ninsns ||
				    c.item_of[r.needs[i].insn] + 1 == c.nitems)
					missing = r.needs[i].missing;
			if (missing == (unsigned)atoi(col[7]))
				s->agree++;
			else if (show())
				print_message("%s %s %s: theirs %s ours %u  %s\n", col[1], col[2],
					      col[3], col[7], missing, cell);
			flow_result_free(&r);
		}
		code_free(&c);
		free(cell);
	}
}

/* ---- sequences and loops ---- */

static bool clean(const struct target *t, const char *cell, int leave_out, bool waits)
{
	struct code c;
	struct flow_result r;
	bool none;

	if (!code_make(&c, t, cell, leave_out)) {
		code_free(&c);
		return false;
	}
	analyse(&c, waits, &r);
	none = r.n == 0;
	if (!none && leave_out < 0 && show()) {
		struct verdicts v;

		ours(&c, &r, &v);
		print_verdicts(cell, &v);
	}
	flow_result_free(&r);
	code_free(&c);
	return none;
}

static bool is_inserted(const char *item, bool waits)
{
	return waits ? !strncmp(item, "s_wait", 6)
		     : !strncmp(item, "s_nop", 5) || !strncmp(item, "v_nop", 5);
}

/* The stream with the compiler's insertions must pass; without one of them it must not. */
static void score_annotated(struct score *s, const struct target *t, const char *cell, bool waits)
{
	int item = 0;

	if (!*cell)
		return;
	s->streams++;
	if (clean(t, cell, -1, waits))
		s->accepted++;
	for (const char *at = cell; at; item++) {
		if (is_inserted(at, waits)) {
			bool flagged = !clean(t, cell, item, waits);

			s->mutants++;
			s->flagged += flagged;
			if (!flagged && show())
				print_message("  not flagged: item %d left out of %s\n", item,
					      cell);
		}
		at = strstr(at, " ; ");
		if (at)
			at += 3;
	}
}

static void lists_of_target(struct score *s, char *text, const struct target *t, bool waits,
			    unsigned annotated)
{
	char *col[MAX_COLUMNS];

	next_row(&text, col);
	while (next_row(&text, col)) {
		struct verdicts theirs, mine;
		struct flow_result r;
		struct code c;

		s->rows++;
		if (!code_make(&c, t, col[2], -1)) {
			s->unread++;
			code_free(&c);
			continue;
		}
		read_verdicts(col[3], &theirs);
		analyse(&c, waits, &r);
		ours(&c, &r, &mine);
		if (same(&theirs, &mine, false))
			s->agree++;
		else
			print_difference(col[0], col[2], &theirs, &mine);
		if (has_x(&theirs) || has_x(&mine)) {
			s->x_rows++;
			if (same(&theirs, &mine, true))
				s->x_agree++;
			else
				print_difference("xcnt", col[2], &theirs, &mine);
		}
		flow_result_free(&r);
		code_free(&c);
		if (annotated)
			score_annotated(s, t, col[annotated], waits);
	}
}

/* ---- single waits ---- */

static void waits_of_target(struct score *s, char *text, const struct target *t)
{
	char *col[MAX_COLUMNS];

	next_row(&text, col);
	while (next_row(&text, col)) {
		struct verdict v = {(unsigned)atoi(col[2]), counter_of(col[4], strlen(col[4])),
				    (unsigned)atoi(col[5])};
		struct verdicts mine;
		struct flow_result r;
		struct code c;
		bool x = v.counter == CTR_X, agree = false;

		if (x)
			s->x_rows++;
		else
			s->rows++;
		if (!code_make(&c, t, col[6], -1)) {
			s->unread++;
		} else {
			analyse(&c, true, &r);
			ours(&c, &r, &mine);
			agree = has(&mine, &v);
			flow_result_free(&r);
			if (!agree && show())
				print_message("%s: %u:%s=%u in %s\n", col[0], v.item, col[4],
					      v.value, col[6]);
			if (!agree && show())
				print_verdicts("ours  ", &mine);
		}
		*(x ? &s->x_agree : &s->agree) += agree;
		code_free(&c);
	}
}

/* ---- tests ---- */

enum shape { PAIRS, HAZARD_SEQUENCES, HAZARD_LOOPS, WAITS, WAIT_SEQUENCES, WAIT_LOOPS };

struct expected { /* what docs/oracle.md explains, per target */
	const char *kind;
	enum shape shape;
	unsigned differ[3], x_differ[3], refused[3], unflagged[3];
};

static const struct expected tables[] = {
	{"hazards", PAIRS, {4, 17, 1}, {0}, {0}, {0}},
	{"hazard-sequences", HAZARD_SEQUENCES, {0, 4, 13}, {0}, {0}, {0}},
	{"hazard-loops", HAZARD_LOOPS, {11, 17, 21}, {0}, {3, 9, 20}, {2, 0, 6}},
	{"waits", WAITS, {0}, {0, 0, 1}, {0}, {0}},
	{"wait-sequences", WAIT_SEQUENCES, {0}, {0, 0, 1}, {0}, {0, 0, 1}},
	{"wait-loops", WAIT_LOOPS, {5, 8, 6}, {0, 0, 6}, {0, 0, 1}, {10, 10, 15}},
};

static bool run_table(const struct expected *e, unsigned target, unsigned *surprises)
{
	struct score s = {.kind = e->kind, .target = targets[target]};
	char *text = read_table(e->kind, targets[target]);
	struct target *t;

	if (!text) {
		print_message("no tables: set WPSIM_ORACLE to their folder\n");
		return false;
	}
	t = load(targets[target]);
	switch (e->shape) {
	case PAIRS:
		pairs_of_target(&s, text, t);
		break;
	case HAZARD_SEQUENCES:
		lists_of_target(&s, text, t, false, 0);
		break;
	case HAZARD_LOOPS:
		lists_of_target(&s, text, t, false, 5);
		break;
	case WAITS:
		waits_of_target(&s, text, t);
		break;
	case WAIT_SEQUENCES:
	case WAIT_LOOPS:
		lists_of_target(&s, text, t, true, 4);
		break;
	}
	target_free(t);
	free(text);
	print_score(&s);
	assert_true(s.rows > 0);
	*surprises += s.unread || s.rows - s.agree != e->differ[target] ||
		      s.x_rows - s.x_agree != e->x_differ[target] ||
		      s.streams - s.accepted != e->refused[target] ||
		      s.mutants - s.flagged != e->unflagged[target];
	return true;
}

static void test_table(void **state)
{
	const struct expected *e = *state;
	unsigned surprises = 0;

	for (unsigned target = 0; target < ARRAY_LEN(targets); target++)
		if (!run_table(e, target, &surprises))
			skip();
	assert_int_equal(surprises, 0);
}

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(tables)];

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		tests[i] = (struct CMUnitTest){tables[i].kind, test_table, NULL, NULL,
					       (void *)&tables[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
