/*
 * wpsim check of a listing, second half: each wave is followed (paths.h), and the checker judges what the waves
 * do to the same LDS bytes. Over-strong waits must be over-strong on every path before they are reported.
 */
#include "cmd_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "cmd_exec.h"
#include "flow.h"
#include "paths.h"

#define MAX_CANDIDATES 64 /* over-strong waits examined: each takes an examination of all paths */
#define MIN_COPIES 8      /* accumulator moves in a loop that are worth a word */

/* ---- waits ---- */

static size_t wait_needs(const struct program *p)
{
	struct flow_result r = { 0 };
	size_t n = flow_waits(p, &r) < 0 ? SIZE_MAX : r.n;

	flow_result_free(&r);
	return n;
}

struct strong {
	const struct program *p;
	const struct check_paths *paths;
	struct insn *copy;   /* of p's instructions, changed one at a time */
	size_t needs;        /* of p as it is */
	unsigned examined;
	bool faulty;         /* what a wait is for may be what is missing */
	bool has_loop, priced;
};

static uint32_t insn_of(const struct program *p, const struct finding *f)
{
	for (uint32_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].loc.begin == f->loc.begin)
			return i;
	return UINT32_MAX;
}

static uint64_t visits(const struct check_paths *paths, uint32_t insn)
{
	uint64_t n = 0;

	for (size_t i = 0; i < paths->n[0]; i++)
		n += paths->step[0][i].insn == insn;
	return n;
}

static bool same_counter(const struct finding *f, int counter)
{
	return f->counter && !strcmp(counter_name((enum counter)counter), f->counter);
}

/* Is anything on the finding's counter open when group A comes to insn? */
static bool in_flight(const struct strong *s, uint32_t insn, const struct finding *f)
{
	unsigned open = 0;

	for (size_t i = 0; i < s->paths->n[0]; i++) {
		const struct insn *in = &s->p->insns[s->paths->step[0][i].insn];

		if (s->paths->step[0][i].insn == insn && open)
			return true;
		for (unsigned k = 0; k < in->nwait; k++)
			if (same_counter(f, in->wait[k].counter) && in->wait[k].value < open)
				open = in->wait[k].value;
		open += in->counter >= 0 && same_counter(f, in->counter);
	}
	return false;
}

/* The wait with the value that the finding asks for; without it when it asks for none. */
static void loosen(struct insn *in, const struct finding *f)
{
	for (unsigned k = 0; k < in->nwait; k++) {
		if (!same_counter(f, in->wait[k].counter))
			continue;
		if (f->required != DIAG_NONE_INT)
			in->wait[k].value = (uint8_t)f->required;
		else
			in->wait[k] = in->wait[--in->nwait];
		return;
	}
}

static bool not_strong(const struct finding *f, void *ctx)
{
	struct strong *s = ctx;
	struct program changed = *s->p;
	uint32_t at;
	bool drop;

	if (f->code != DIAG_WAIT_STRONG)
		return false;
	at = insn_of(s->p, f);
	if (s->faulty || at == UINT32_MAX || s->needs == SIZE_MAX || s->examined++ >= MAX_CANDIDATES ||
	    (s->has_loop ? visits(s->paths, at) < 2 : !s->priced))
		return true; /* what runs once costs too little to be told unasked */
	if (s->p->insns[at].nwait > 1 && !in_flight(s, at, f))
		return true; /* one of several counters, and nothing is open on it: it costs nothing */
	s->copy[at] = s->p->insns[at];
	loosen(&s->copy[at], f);
	changed.insns = s->copy;
	drop = wait_needs(&changed) > s->needs;
	s->copy[at] = s->p->insns[at];
	return drop;
}

static void confirm_strong(struct run *r, const struct cmd_options *o, const struct paths *paths)
{
	struct strong s = { .p = r->program, .paths = &paths->check, .needs = wait_needs(r->program),
			    .faulty = r->diag.errors > 0, .priced = o->price };

	for (size_t i = 0; i < r->program->ninsns; i++)
		s.has_loop |= r->program->insns[i].cls == OPC_BRANCH && r->program->insns[i].target >= 0 &&
			      r->program->insns[i].target <= (int32_t)i;
	s.copy = xcalloc(r->program->ninsns + 1, sizeof(*s.copy));
	memcpy(s.copy, r->program->insns, r->program->ninsns * sizeof(*s.copy));
	diag_drop_if(&r->diag, not_strong, &s);
	free(s.copy);
}

/* ---- prices ---- */

/* Clk of one trip of the hot loop with these instructions; NAN when it can't be timed. */
static double trip_clk(struct run *r, const struct cmd_options *o, const struct paths *paths, const struct insn *insns)
{
	struct annotate_options ao = { .clock = o->clock, .paths = paths->gave_up ? NULL : paths };
	struct program copy = *r->program;
	struct annotation a;
	struct diag d;
	double clk = NAN;

	copy.arena = arena_new();
	copy.insns = xcalloc(copy.ninsns + 1, sizeof(*copy.insns));
	memcpy(copy.insns, insns, copy.ninsns * sizeof(*copy.insns));
	copy.waves = paths->waves ? paths->waves : copy.waves;
	diag_init(&d);
	if (annotate(&copy, &ao, &a, &d) == 0) {
		clk = a.trip_clk;
		annotation_free(&a);
	}
	diag_free(&d);
	free(copy.insns);
	arena_free(copy.arena);
	return clk;
}

/* A read behind a copy to LDS: at known addresses the checker has judged whether they meet at all. */
static bool copy_then_read(const struct finding *f, void *ctx)
{
	const struct program *p = ctx;
	uint32_t at = insn_of(p, f);
	enum opclass first = OPC_COUNT;

	for (uint32_t i = 0; f->nnotes && i < p->ninsns; i++)
		if (p->insns[i].loc.begin == f->notes[0].loc.begin)
			first = p->insns[i].cls;
	return f->code == DIAG_WAIT_SHORT && at != UINT32_MAX && (first == OPC_VMEM_LDS || first == OPC_TDM_LOAD) &&
	       (p->insns[at].cls == OPC_LDS_READ || p->insns[at].cls == OPC_LDS_WRITE);
}

static void price_findings(struct run *r, const struct cmd_options *o, const struct paths *paths)
{
	struct program *p = r->program;
	struct insn *copy = xcalloc(p->ninsns + 1, sizeof(*copy));
	double base = trip_clk(r, o, paths, p->insns);

	for (size_t i = 0; i < r->diag.n && !isnan(base); i++) {
		struct finding *f = &r->diag.list[i];
		uint32_t at = insn_of(p, f);

		if (f->code != DIAG_WAIT_STRONG && f->code != DIAG_PRESSURE)
			continue;
		memcpy(copy, p->insns, p->ninsns * sizeof(*copy));
		if (f->code == DIAG_WAIT_STRONG && at != UINT32_MAX) {
			loosen(&copy[at], f);
			if (!copy[at].nwait)
				copy[at].flags |= INSN_EDGE_ONLY;
		} else {
			for (size_t k = 0; k < p->ninsns; k++)
				if (copy[k].op && (!strncmp(copy[k].op, "scratch_", 8) || !strncmp(copy[k].op, "v_accvgpr_", 10)))
					copy[k].flags |= INSN_EDGE_ONLY;
		}
		f->price_clk = base - trip_clk(r, o, paths, copy);
		f->price_per_trip = true;
		if (fabs(f->price_clk) < 0.05)
			f->price_clk = 0;
	}
	free(copy);
}

/* ---- what the loop shows ---- */

/* Instructions of the hot loop; false when there is none. Leaves p's loops as they were found. */
static bool hot_loop(struct program *p, uint32_t *begin, uint32_t *end)
{
	struct diag d;
	bool found;

	diag_init(&d);
	found = flow_loops(p, &d) == 0 && p->nloops && p->main_loop[0] >= 0;
	diag_free(&d);
	if (!found)
		return false;
	*begin = p->loops[p->main_loop[0]].begin;
	*end = p->loops[p->main_loop[0]].end;
	return true;
}

static void find_pressure(struct run *r, uint32_t begin, uint32_t end)
{
	const struct program *p = r->program;
	unsigned scratch = 0, copies = 0, matrix = 0;
	uint32_t first = UINT32_MAX;

	for (uint32_t i = begin; i < end; i++) {
		const struct insn *in = &p->insns[i];
		bool s = in->op && !strncmp(in->op, "scratch_", 8), c = in->op && !strncmp(in->op, "v_accvgpr_", 10);

		scratch += s;
		copies += c;
		matrix += in->cls == OPC_MATRIX;
		if ((s || c) && first == UINT32_MAX)
			first = i;
	}
	if (!matrix || (!scratch && copies < MIN_COPIES))
		return;
	diag_fix(diag_add(&r->diag, p->insns[first].loc, DIAG_PRESSURE,
			  "the hot loop has %u scratch access%s and %u accumulator move%s beside its %u matrix instructions", scratch,
			  scratch == 1 ? "" : "es", copies, copies == 1 ? "" : "s", matrix),
		 "use fewer registers at a time, or allow the kernel more of them");
}

/* Stages, priorities and barriers in a loop of eight waves, and yet no group is behind the other. */
static void find_not_applied(struct run *r, const struct paths *paths, uint32_t begin, uint32_t end)
{
	const struct program *p = r->program;
	unsigned matrix = 0, barriers = 0, priorities = 0;

	for (uint32_t i = begin; i < end; i++) {
		matrix += p->insns[i].cls == OPC_MATRIX;
		barriers += p->insns[i].barrier == BAR_WORKGROUP && (p->insns[i].cls == OPC_BARRIER || p->insns[i].cls == OPC_SIGNAL);
		priorities += p->insns[i].cls == OPC_SETPRIO;
	}
	if (!matrix || barriers < 2 || !priorities || paths->waves < 8 || paths->offset || paths->two_bodies)
		return;
	diag_fix(diag_add(&r->diag, p->insns[begin].loc, DIAG_NOT_APPLIED,
			  "no conditional barrier in front of the loop: both groups of %u waves run in phase", paths->waves / 2),
		 "let the waves of one group pass one barrier more in front of the loop, those of the other one behind it");
}

/* ---- all of it ---- */

int run_follow(struct run *r, const struct cmd_options *o, unsigned waves, struct paths *paths)
{
	struct exec_launch *l = NULL;
	int status = 0;

	memset(paths, 0, sizeof(*paths));
	if (o->exec) {
		l = exec_given_new(o, &r->listing_info, &status);
		if (!l) {
			r->status = status;
			return -1;
		}
	}
	paths_follow(r->program, &r->listing_info, o->block, waves, l, &r->diag, paths);
	exec_given_free(l);
	return 0;
}

void run_listing_followed(struct run *r, const struct cmd_options *o)
{
	struct paths paths;
	struct check_result result = { 0 };
	uint32_t begin, end;

	if (run_follow(r, o, o->waves, &paths) != 0)
		return;
	if (o->exec && paths.gave_up) { /* the faults are told; what order there is shows without running */
		paths_free(&paths);
		paths_follow(r->program, &r->listing_info, o->block, o->waves, NULL, NULL, &paths);
	}
	r->followed_waves = paths.waves;
	if (paths.gave_up) {
		r->gave_up = xasprintf("%s", paths.gave_up);
	} else {
		r->followed_groups = paths.check.groups;
		r->followed_offset = paths.offset;
		r->two_bodies = paths.two_bodies;
		r->unknown_addresses = paths.check.unknown;
		if (!r->unknown_addresses)
			diag_drop_if(&r->diag, copy_then_read, r->program);
		if (check_followed(&paths.program, &paths.check, &result, &r->diag) == 0) {
			r->followed_accesses = result.accesses;
			confirm_strong(r, o, &paths);
		}
		check_result_free(&result);
	}
	if (hot_loop(r->program, &begin, &end)) {
		find_pressure(r, begin, end);
		if (!paths.gave_up)
			find_not_applied(r, &paths, begin, end);
	}
	if (o->price && !r->diag.errors)
		price_findings(r, o, &paths);
	paths_free(&paths);
}

void run_print_followed(const struct run *r, FILE *f)
{
	if (r->gave_up) {
		fprintf(f, "  order between waves: not examined: %s\n", r->gave_up);
		return;
	}
	fprintf(f, "  order between waves: %u wave%s", r->followed_waves, r->followed_waves == 1 ? "" : "s");
	if (r->followed_groups > 1)
		fprintf(f, " in %u groups, %s", r->followed_groups,
			r->two_bodies ? "each with a loop of its own" : r->followed_offset ? "" : "in phase");
	if (r->followed_groups > 1 && !r->two_bodies && r->followed_offset)
		fprintf(f, "the second %u barrier%s behind", r->followed_offset, r->followed_offset == 1 ? "" : "s");
	fprintf(f, "; %zu LDS accesses followed", r->followed_accesses);
	if (r->unknown_addresses)
		fprintf(f, ", %llu at addresses that are not known statically", (unsigned long long)r->unknown_addresses);
	fputc('\n', f);
}
