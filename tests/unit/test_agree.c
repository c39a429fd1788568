/*
 * The executor as a witness of the checker: programs are printed as listings and executed. What the checker calls
 * wrong must show there as a race, poison, a wrong tile, a wrong sum or a deadlock, and what it calls right must not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../minitarget.h"
#include "../mutate.h"
#include "../progtext.h"
#include "../tinyrand.h"
#include "check.h"
#include "flow.h"
#include "lower.h"
#include "paths.h"
#include "schedule.h"

#define DEFAULT_COUNT 5000
#define MAX_SHOWN 5
#define MAX_CLUSTER 2  /* workgroups of a cluster that are executed: they do the same */
#define MAX_SHRINK 150 /* instructions; taking larger programs apart would last too long */

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

/* ---- both verdicts ---- */

enum machine { M_GFX942, M_GFX950, M_GFX1250, M_COUNT };
static const char *const machine_names[M_COUNT] = { "gfx942", "gfx950", "gfx1250" };
static struct target *machines[M_COUNT];

static const struct target *machine_of(const struct program *p)
{
	for (unsigned i = 0; i < M_COUNT; i++)
		if (!strcmp(machine_names[i], p->target->name))
			return machines[i];
	return NULL;
}

static bool has_edges(const struct program *p)
{
	for (size_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].flags & (INSN_EDGE_ABSENT | INSN_EDGE_ONLY))
			return true;
	return false;
}

struct verdicts {
	bool printed;     /* false: why says what stands against it */
	const char *why;
	int rc;           /* of the checker */
	size_t errors;    /* of the checker */
	enum diag_code code; /* its first error */
	bool wrong;       /* by the executor */
	bool race, poison, tile, sum, hang;
	size_t unseen, harmless;
	uint64_t executed;
};

static void count_findings(const struct diag *d, struct verdicts *v)
{
	for (size_t i = 0; i < d->n; i++) {
		enum diag_code k = d->list[i].code;

		v->race = v->race || k == DIAG_RACE;
		v->poison = v->poison || k == DIAG_POISON;
		v->tile = v->tile || k == DIAG_UNINIT;
		v->hang = v->hang || k == DIAG_DEADLOCK || k == DIAG_BARRIER;
	}
}

/* One execution. show: print what is found. */
static void execute_as(const struct program *p, struct progtext_options po, struct verdicts *v, bool show)
{
	/* what is found does not depend on the order in which waves run */
	struct exec_options o = { .threads = 1, .max_insns = 100000000, .seed = p->ninsns + 1,
				  .order = p->ninsns % 2 ? EXEC_RANDOM : EXEC_ROUND_ROBIN };
	struct progtext_verdict x;
	struct progtext t;
	struct src *s;
	struct diag d;

	if (!progtext_print(p, &po, &t)) {
		v->printed = false;
		v->why = t.why;
		progtext_free(&t);
		return;
	}
	diag_init(&d);
	d.max_errors = 1000;
	x = progtext_run(p, &t, machine_of(p), &o, &d, &s);
	v->wrong = v->wrong || x.findings || x.stale || x.sums;
	v->tile = v->tile || x.stale;
	v->sum = v->sum || x.sums;
	v->unseen += t.unseen;
	v->harmless += x.harmless;
	v->executed += x.executed;
	count_findings(&d, v);
	if (!x.ran) {
		v->printed = false;
		v->why = "the listing was refused";
	}
	if (show) {
		fprintf(stderr, "%s tile%s: %s%s%s\n", po.edge ? "edge" : "inner",
			po.no_again ? ", each tile brought once" : "", x.findings || x.stale || x.sums ? "wrong" : "right",
			x.stale ? ", another tile" : "", x.sums ? ", sums" : "");
		diag_print(&d, stderr, false);
		if (env_number("WPSIM_RANDOM_TEXT", 0))
			fprintf(stderr, "%s\n", t.text);
	}
	diag_free(&d);
	src_free(s);
	progtext_free(&t);
}

static void execute(const struct program *p, bool edge, struct verdicts *v, bool show)
{
	size_t harmless = v->harmless;

	execute_as(p, (struct progtext_options){ .edge = edge, .cluster = MAX_CLUSTER }, v, show);
	if (v->harmless > harmless)
		execute_as(p, (struct progtext_options){ .edge = edge, .cluster = MAX_CLUSTER, .no_again = true }, v, show);
}

static struct verdicts judge(const struct program *p, bool show)
{
	struct verdicts v = { .printed = true };
	struct check_result c = { 0 };
	struct diag d;

	diag_init(&d);
	v.rc = check_program(p, &c, &d);
	v.errors = d.errors;
	for (size_t i = d.n; i-- > 0;)
		if (d.list[i].severity == SEV_ERROR)
			v.code = d.list[i].code;
	if (show)
		for (size_t i = 0; i < d.n; i++)
			if (d.list[i].severity == SEV_ERROR)
				fprintf(stderr, "checker: %s at insn %u: %s\n", diag_code_name(d.list[i].code),
					loc_line(d.list[i].loc) - 1, d.list[i].message);
	check_result_free(&c);
	diag_free(&d);
	execute(p, false, &v, show);
	if (has_edges(p))
		execute(p, true, &v, show);
	return v;
}

/* The same disagreement, for taking programs apart. */
static bool same_way(const struct verdicts *a, const struct verdicts *b)
{
	return b->printed && (a->errors > 0) == (b->errors > 0) && a->wrong == b->wrong && a->race == b->race &&
	       a->poison == b->poison && a->tile == b->tile && a->sum == b->sum && a->hang == b->hang;
}

static bool agree(const struct verdicts *v)
{
	return v->printed && v->rc == 0 && (v->errors > 0) == v->wrong;
}

/* ---- random programs ---- */

struct tally {
	size_t programs, right, wrong, missed, alarms, unprinted;
	size_t race, poison, tile, sum, hang, unseen, again;
	uint64_t executed;
};

/* Take instructions and trips away while both still disagree in the same way, then show what is left. */
static void shrink_and_show(const struct program *p, const char *what)
{
	struct verdicts way = judge(p, false);
	bool again = true;
	struct program q = *p;
	struct strbuf b = { 0 };

	q.insns = xcalloc(p->ninsns, sizeof(*q.insns));
	q.loops = xcalloc(p->nloops + 1, sizeof(*q.loops));
	memcpy(q.insns, p->insns, p->ninsns * sizeof(*q.insns));
	memcpy(q.loops, p->loops, p->nloops * sizeof(*q.loops));
	while (again) {
		again = false;
		for (size_t i = 0; i < q.ninsns; i++) {
			struct insn was = q.insns[i];
			struct verdicts v;

			if (was.cls == OPC_NOP || was.cls == OPC_BRANCH || was.cls == OPC_END)
				continue;
			mutate_nop(&q.insns[i]);
			v = judge(&q, false);
			if (same_way(&way, &v))
				again = true;
			else
				q.insns[i] = was;
		}
		for (size_t l = 0; l < q.nloops; l++)
			while (q.loops[l].trips > 1) {
				struct verdicts v;

				q.loops[l].trips--;
				q.ksteps -= q.loops[l].steps;
				v = judge(&q, false);
				if (same_way(&way, &v)) {
					again = true;
					continue;
				}
				q.loops[l].trips++;
				q.ksteps += q.loops[l].steps;
				break;
			}
	}
	tiny_print(&q, &b);
	fprintf(stderr, "%s (%s): the checker says %s, the executor does not; %" PRIu64 " K-steps\n%s", what, q.target->name,
		way.errors ? "wrong" : "right", q.ksteps, b.s);
	judge(&q, true);
	strbuf_free(&b);
	free(q.insns);
	free(q.loops);
}

/* True when both say that p is right. */
static bool compare(const struct program *p, struct tally *t, const char *what)
{
	struct verdicts v = judge(p, false);

	t->programs++;
	t->race += v.race;
	t->poison += v.poison;
	t->tile += v.tile;
	t->sum += v.sum;
	t->hang += v.hang;
	t->unseen += v.unseen;
	t->again += v.harmless > 0;
	t->executed += v.executed;
	if (!v.printed) {
		if (++t->unprinted <= env_number("WPSIM_RANDOM_SHOW", MAX_SHOWN))
			fprintf(stderr, "%s: %s\n", what, v.why);
		return false;
	}
	if (v.errors)
		t->wrong++;
	else
		t->right++;
	if (agree(&v))
		return v.errors == 0;
	if (v.errors)
		t->missed++;
	else
		t->alarms++;
	if (t->missed + t->alarms > env_number("WPSIM_RANDOM_SHOW", MAX_SHOWN))
		return false;
	if (p->ninsns <= MAX_SHRINK) {
		shrink_and_show(p, what);
	} else {
		fprintf(stderr, "%s: the checker says %s, the executor does not\n", what, v.errors ? "wrong" : "right");
		judge(p, true);
	}
	return false;
}

static void report(const struct tally *t, const char *name)
{
	print_message("%s: %zu programs, %zu right and %zu wrong by the checker; of the wrong ones the executor missed %zu, "
		      "of the right ones it complains about %zu; not printed: %zu\n", name, t->programs, t->right, t->wrong,
		      t->missed, t->alarms, t->unprinted);
	print_message("\tprograms with a race %zu, poison %zu, a wrong tile %zu, a wrong sum %zu, hung or uneven barriers %zu; "
		      "a tile brought again under its reads %zu; %zu tiles unseen; %" PRIu64 " wave instructions\n",
		      t->race, t->poison, t->tile, t->sum, t->hang,
		      t->again, t->unseen, t->executed);
}

/* Two families, with long and with short counters. */
#define MINIS 4

static void build_minis(struct minitarget *m[MINIS])
{
	for (unsigned i = 0; i < MINIS; i++) {
		m[i] = minitarget_build(i % 2 ? "gfx1250" : "gfx942");
		if (i < 2)
			continue;
		for (unsigned c = 0; c < CTR_COUNT; c++)
			m[i]->t.counters[c].max = 4;
	}
}

/* One random program, and while it is right small faults put into it one behind the other. */
static void one_seed(uint64_t seed, struct minitarget *const m[MINIS], struct tally *t)
{
	struct tinyrand_options o = { .seed = seed, .max_ksteps = 8, .max_long = 60, .max_slots = 4,
				      .max_buffers = 3, .edges = true };
	const struct target *target = &m[seed % 3 == 2 ? 1 + 2 * (seed / 3 % 4 == 0) : 2 * (seed / 3 % 4 == 0)]->t;
	struct tiny *tiny = tinyrand_build(target, &o);
	struct mutant mutant[3];
	const struct program *p = tiny->p;
	unsigned n = 0;
	char what[64];

	snprintf(what, sizeof(what), "seed %" PRIu64, seed);
	while (compare(p, t, what) && n < ARRAY_LEN(mutant)) {
		size_t count = 0, i;

		while (mutate(p, count, &mutant[n])) {
			mutant_free(&mutant[n]);
			count++;
		}
		i = count ? (size_t)(seed * 2654435761u >> 7) % count : 0;
		if (!mutate(p, i, &mutant[n]))
			break;
		p = &mutant[n++].p;
		snprintf(what, sizeof(what), "seed %" PRIu64 " fault %u: %s at %u", seed, n,
			 mutate_kind_name(mutant[n - 1].kind), mutant[n - 1].at);
	}
	while (n)
		mutant_free(&mutant[--n]);
	tiny_free(tiny);
}

static void random_programs(void **state)
{
	uint64_t n = env_number("WPSIM_RANDOM_COUNT", DEFAULT_COUNT), seed = env_number("WPSIM_RANDOM_SEED", 1);
	struct minitarget *m[MINIS];
	struct tally t = { 0 };

	(void)state;
	build_minis(m);
	while (t.programs < n)
		one_seed(seed++, m, &t);
	report(&t, "random");
	for (unsigned i = 0; i < MINIS; i++)
		minitarget_free(m[i]);
	assert_int_equal(t.missed, 0);
	assert_int_equal(t.alarms, 0);
	assert_int_equal(t.unprinted, 0);
	if (n >= 1000) {
		assert_true(t.right > n / 5);
		assert_true(t.wrong > n / 5);
	}
}

/* ---- split barriers by hand ---- */

static const struct tiny_range whole = { 0, 64, 0, 0 }, half = { 0, 32, 32, 0 };

static struct tiny_tile first(int at)
{
	return (struct tiny_tile){ TINY_FIRST, at };
}

/* Group B, waves 2 and 3, reads a tile; group A refills its only slot when barrier 1 says that B is done. */
static struct tiny *refill_behind(const struct target *t, uint32_t signallers, bool meet)
{
	struct tiny *y = tiny_new(t, 4, 2);
	int32_t a = tiny_buffer(y, 'A', 64, 1);
	struct insn *in;

	tiny_copy(y, 1, a, first(0), half);
	tiny_wait(y, 1, CTR_ASYNC, 0);
	tiny_signal(y, TINY_ALL, BAR_WORKGROUP);
	tiny_await(y, TINY_ALL, BAR_WORKGROUP);
	tiny_read(y, 2, a, first(0), whole, 0);
	tiny_wait(y, 2, CTR_DS, 0);
	tiny_signal(y, TINY_ALL, BAR_WORKGROUP);
	if (meet)
		tiny_await(y, 2, BAR_WORKGROUP);
	in = tiny_signal(y, 2, 1);
	in->waves = signallers;
	in->members = (uint16_t)__builtin_popcount(signallers);
	tiny_await(y, TINY_ALL, 1);
	tiny_copy(y, 1, a, first(1), half);
	tiny_await(y, meet ? 1 : TINY_ALL, BAR_WORKGROUP);
	tiny_finish(y, 0);
	return y;
}

static void both_say(struct tiny *t, bool wrong)
{
	struct verdicts v = judge(t->p, false);

	if (!agree(&v) || v.wrong != wrong)
		judge(t->p, true);
	assert_true(v.printed);
	assert_int_equal(v.errors > 0, wrong);
	assert_int_equal(v.wrong, wrong);
	tiny_free(t);
}

static void split_barriers(void **state)
{
	struct minitarget *m = minitarget_build("gfx1250");
	struct tiny *t;

	(void)state;
	both_say(refill_behind(&m->t, 0xc, false), false);
	/* wave 2 alone signals: nothing is known of wave 3, unless the two have met */
	both_say(refill_behind(&m->t, 0x4, false), true);
	both_say(refill_behind(&m->t, 0x4, true), false);
	/* two completions, of which a slow wave notices one */
	for (unsigned twice = 0; twice < 2; twice++) {
		t = tiny_new(&m->t, 4, 2);
		tiny_signal(t, TINY_ALL, BAR_WORKGROUP);
		if (!twice)
			tiny_await(t, TINY_ALL, BAR_WORKGROUP);
		tiny_signal(t, TINY_ALL, BAR_WORKGROUP);
		if (twice)
			tiny_await(t, TINY_ALL, BAR_WORKGROUP);
		tiny_await(t, TINY_ALL, BAR_WORKGROUP);
		tiny_finish(t, 0);
		both_say(t, twice);
	}
	minitarget_free(m);
}

/* ---- the field tests ---- */

struct row { /* of expected.tsv or listings.tsv */
	char file[64], code[32];
};

/* Faults in the data, or in the barriers that keep them apart: what an execution can show. */
static bool data_fault(const char *code)
{
	return !strncmp(code, "E-", 2) && strcmp(code, "E-LDS-CAP") && strcmp(code, "E-SPACING");
}

static char *field_path(const char *name)
{
	const char *top = getenv("top_srcdir");

	return xasprintf("%s/tests/golden/field/%s", top && *top ? top : ".", name);
}

static size_t read_rows(const char *table, struct row *row, size_t max)
{
	char *path = field_path(table), text[256];
	FILE *f = fopen(path, "r");
	size_t n = 0;

	assert_non_null(f);
	while (fgets(text, sizeof(text), f)) {
		if (text[0] == '#' || !strncmp(text, "file\t", 5))
			continue;
		assert_true(n < max);
		assert_int_equal(sscanf(text, "%63[^\t]\t%31[^\t]", row[n].file, row[n].code), 2);
		n++;
	}
	fclose(f);
	free(path);
	return n;
}

static void put_verdict(const struct row *r, const struct verdicts *v)
{
	print_message("| %s | %s | %s | %s%s%s%s%s%s |\n", r->file, r->code, v->errors ? diag_code_name(v->code) : "right",
		      v->wrong ? "" : "right", v->race ? "race " : "", v->poison ? "poison " : "", v->tile ? "tile " : "",
		      v->sum ? "sum " : "", v->hang ? "barrier" : "");
}

static void one_schedule(const struct row *r, size_t *faults)
{
	char *path = field_path(r->file);
	struct src *src;
	struct schedule *s;
	struct target *t = NULL;
	struct program *p = NULL;
	struct verdicts v;
	struct diag d;

	diag_init(&d);
	src = src_load(path, &d);
	s = src ? schedule_parse(src, &d) : NULL;
	assert_non_null(s);
	t = target_load(s->target_name, s->variant, s->target_loc, &d);
	assert_non_null(t);
	p = lower(s, t, &d);
	if (!p) {
		assert_string_equal(r->code, "E-LDS-CAP"); /* nothing to execute */
	} else {
		v = judge(p, false);
		put_verdict(r, &v);
		if (!agree(&v) || (v.wrong ? !strcmp(r->code, "-") : data_fault(r->code))) {
			judge(p, true);
			fail_msg("%s: %s", r->file, v.printed ? "the witnesses disagree" : v.why);
		}
		*faults += v.wrong;
	}
	program_free(p);
	target_free(t);
	schedule_free(s);
	diag_free(&d);
	free(path);
}

static void field_schedules(void **state)
{
	struct row row[128];
	size_t n = read_rows("expected.tsv", row, ARRAY_LEN(row)), faults = 0;

	(void)state;
	for (size_t i = 0; i < n; i++)
		one_schedule(&row[i], &faults);
	assert_true(faults >= 18);
}

/* ---- listings ---- */

#define LISTING_BYTES 65536u /* of each buffer */

/* A bare snippet begins with registers that hold something: v128 and v129 an address, s4 to s7 a buffer
 * resource of the same memory, 0 elsewhere. */
static char *with_registers(const struct src *s)
{
	const char *at = strstr(s->text, ".amdgcn_target"), *end = at ? strchr(at, '\n') : NULL;
	size_t head = end ? (size_t)(end + 1 - s->text) : 0;
	struct strbuf b = { 0 };

	strbuf_addn(&b, s->text, head);
	strbuf_add(&b, "s_load_%s s[2:3], s[0:1], 0x0\n", strstr(s->text, "gfx1250") ? "b64" : "dwordx2");
	strbuf_add(&b, "%s", strstr(s->text, "gfx1250") ? "s_wait_kmcnt 0\n" : "s_waitcnt lgkmcnt(0)\n");
	for (unsigned r = 1; r < 128; r++)
		strbuf_add(&b, "v_mov_b32_e32 v%u, 0\n", r);
	strbuf_add(&b, "v_mov_b32_e32 v128, s2\nv_mov_b32_e32 v129, s3\n");
	strbuf_add(&b, "s_mov_b64 s[8:9], 0\ns_mov_b64 s[4:5], s[2:3]\ns_mov_b32 s6, 0x%x\ns_mov_b32 s7, 0x27000\n", LISTING_BYTES);
	strbuf_add(&b, "%s", s->text + head);
	return b.s;
}

struct listing_run {
	struct listing_info info;
	struct exec_launch l;
	struct exec_buffer buffer[LISTING_MAX_ARGS];
	uint8_t kernarg[1024];
};

static const struct target *target_of(const struct src *s)
{
	return machines[strstr(s->text, "amdhsa--gfx942") ? M_GFX942 : strstr(s->text, "amdhsa--gfx950") ? M_GFX950 : M_GFX1250];
}

/* All pointers lead to zeros, all numbers are 0. */
static void arguments(struct listing_run *r, const struct target *t, bool bare)
{
	unsigned threads = r->info.workgroup_threads ? r->info.workgroup_threads : (unsigned)t->v.wave_size;
	const struct listing_launch *k = &r->info.launch;

	r->l = (struct exec_launch){ .grid = { 1, 1, 1 }, .block = { threads, 1, 1 }, .buffers = r->buffer, .kernarg = r->kernarg,
				     .kernarg_bytes = sizeof(r->kernarg) };
	if (bare) {
		r->info.launch.described = r->info.launch.kernarg_ptr = true;
		r->info.launch.kernarg_bytes = 8;
		r->info.lds_bytes = 4096;
	}
	for (size_t i = 0; i < (bare ? 1 : k->nargs); i++) {
		if (!bare && k->arg[i].kind != LARG_POINTER)
			continue;
		r->buffer[r->l.nbuffers] = (struct exec_buffer){ .data = xcalloc(LISTING_BYTES, 1), .bytes = LISTING_BYTES,
								 .initialised = true, .writable = true };
		r->l.patch[r->l.npatches].offset = bare ? 0 : k->arg[i].offset;
		r->l.patch[r->l.npatches++].buffer = (unsigned)r->l.nbuffers++;
	}
}

static void execute_listing(const struct row *row, struct verdicts *v, bool show)
{
	struct listing_options lo = { .keep_operands = true };
	struct exec_options o = { .threads = 1, .max_insns = 10000000 };
	struct listing_run *r = xcalloc(1, sizeof(*r));
	struct exec_result x = { 0 };
	char *path = field_path(row->file), *text;
	const struct target *t;
	struct program *p;
	struct src *file, *s;
	struct diag d;
	bool bare;

	diag_init(&d);
	file = src_load(path, &d);
	assert_non_null(file);
	t = target_of(file);
	bare = !strstr(file->text, ".amdhsa_kernel");
	text = bare ? with_registers(file) : xstrdup(file->text);
	s = src_from_text(row->file, text, strlen(text));
	p = listing_parse(s, t, &lo, &r->info, &d);
	v->printed = p != NULL;
	if (p) {
		arguments(r, t, bare);
		v->wrong = exec_run(p, &r->info, &r->l, &o, &x, &d) < 0;
		v->executed = x.insns;
		exec_result_free(&x);
	}
	count_findings(&d, v);
	if (show)
		diag_print(&d, stderr, false);
	for (size_t i = 0; i < r->l.nbuffers; i++)
		free(r->buffer[i].data);
	program_free(p);
	diag_free(&d);
	src_free(s);
	src_free(file);
	free(text);
	free(path);
	free(r);
}

/* Waits and races as wpsim check looks for them. */
static void check_listing(const struct row *row, struct verdicts *v)
{
	static const unsigned block[3];
	struct listing_options lo = { .keep_operands = true };
	struct listing_info info = { 0 };
	char *path = field_path(row->file);
	struct check_result c = { 0 };
	struct flow_result needs = { 0 };
	struct program *p;
	struct paths paths;
	struct src *s;
	struct diag d;

	diag_init(&d);
	s = src_load(path, &d);
	assert_non_null(s);
	p = listing_parse(s, target_of(s), &lo, &info, &d);
	assert_non_null(p);
	flow_waits(p, &needs);
	flow_report(p, &needs, &d);
	paths_follow(p, &info, block, 0, NULL, &d, &paths);
	if (!paths.gave_up)
		check_followed(&paths.program, &paths.check, &c, &d);
	v->errors = d.errors;
	for (size_t i = d.n; i-- > 0;)
		if (d.list[i].severity == SEV_ERROR)
			v->code = d.list[i].code;
	check_result_free(&c);
	paths_free(&paths);
	flow_result_free(&needs);
	program_free(p);
	diag_free(&d);
	src_free(s);
	free(path);
}

static void field_listings(void **state)
{
	struct row row[128];
	size_t n = read_rows("listings.tsv", row, ARRAY_LEN(row)), faults = 0, failed = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct verdicts v = { 0 };

		check_listing(&row[i], &v);
		execute_listing(&row[i], &v, false);
		put_verdict(&row[i], &v);
		if (!agree(&v) || !v.executed || v.wrong != data_fault(row[i].code)) {
			execute_listing(&row[i], &v, true);
			print_error("%s: the table says %s, the executor %s\n", row[i].file, row[i].code, v.wrong ? "wrong" : "right");
			failed++;
		}
		faults += v.wrong;
	}
	assert_int_equal(failed, 0);
	assert_true(faults >= 9);
}

/* ---- the kernels of the tree, their loops cut to a few trips, and small faults in them ---- */

#define KERNEL_TRIPS 2

static struct program *load_kernel(const char *name, struct schedule **s, struct target **t, struct diag *d)
{
	const char *top = getenv("top_srcdir");
	char *path = xasprintf("%s/kernels/%s/schedule.xml", top && *top ? top : ".", name);
	struct src *src = src_load(path, d);

	free(path);
	*t = NULL;
	*s = src ? schedule_parse(src, d) : NULL;
	if (!*s)
		return NULL;
	for (struct sched_section *x = (*s)->sections; x; x = x->next)
		if (x->kind == SECTION_LOOP) {
			if (x->trips > KERNEL_TRIPS)
				x->trips = KERNEL_TRIPS;
			(*s)->k = (int64_t)(*s)->tile_k * (x->peel + KERNEL_TRIPS * x->unroll);
		}
	*t = target_load((*s)->target_name, (*s)->variant, (*s)->target_loc, d);
	return *t ? lower(*s, *t, d) : NULL;
}

/* False: p has no mutant of that number. */
static bool kernel_mutant(const struct program *p, const char *name, size_t number, struct tally *tally)
{
	struct mutant m;
	char what[128];

	if (!mutate(p, number, &m))
		return false;
	snprintf(what, sizeof(what), "mutant %zu of %s: %s at %u", number, name, mutate_kind_name(m.kind), m.at);
	compare(&m.p, tally, what);
	mutant_free(&m);
	return true;
}

/* step: every so many mutants; 0: one of them. */
static void one_kernel(const char *name, size_t from, size_t step, struct tally *tally)
{
	struct schedule *s;
	struct target *t;
	struct diag d;
	struct program *p;

	diag_init(&d);
	p = load_kernel(name, &s, &t, &d);
	if (!p)
		diag_print(&d, stderr, false);
	assert_non_null(p);
	if (!compare(p, tally, name))
		fail_msg("%s: not right by both", name);
	if (step)
		for (size_t j = from % step; kernel_mutant(p, name, j, tally); j += step)
			;
	else
		kernel_mutant(p, name, 3 + 7 * from, tally);
	program_free(p);
	target_free(t);
	schedule_free(s);
	diag_free(&d);
}

static void kernels(void **state)
{
	static const char *const list[] = {
		"mi300x-f16-8wave", "mi300x-f16-8wave-inphase", "mi300x-f16-blockpingpong", "mi300x-f16-blockpingpong-inphase",
		"mi300x-f16-4wave", "mi300x-f16-4wave-burst", "mi300x-f16-4wave-reads-woven", "mi355x-a8w8-8wave",
		"mi355x-attention", "mi355x-f16-4wave", "mi355x-f16-8wave", "mi355x-f16-8wave-inphase", "mi355x-fp4-8wave",
		"mi355x-fp4-8wave-inphase", "mi355x-fp8-4wave", "mi355x-fp8-8wave", "mi355x-fp8-8wave-inphase", "mi450-attention",
		"mi450-bf16-8wave", "mi450-bf16-8wave-inphase", "mi450-mxfp4-8wave", "mi450-mxfp4-8wave-inphase",
		"mi450-mxfp8-8wave", "mi450-mxfp8-8wave-inphase", "vector-add",
	};
	size_t step = env_number("WPSIM_KERNEL_STEP", 0);
	struct tally t = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		one_kernel(list[i], i, step, &t);
	report(&t, "kernels");
	assert_int_equal(t.missed, 0);
	assert_int_equal(t.alarms, 0);
	assert_int_equal(t.unprinted, 0);
}

static int setup(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d);
	for (unsigned i = 0; i < M_COUNT; i++) {
		machines[i] = target_load(machine_names[i], NULL, (struct loc){ 0 }, &d);
		assert_non_null(machines[i]);
	}
	diag_free(&d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < M_COUNT; i++)
		target_free(machines[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split_barriers),
		cmocka_unit_test(field_schedules),
		cmocka_unit_test(field_listings),
		cmocka_unit_test(kernels),
		cmocka_unit_test(random_programs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
