#include "price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

double price_run(const struct prediction *pr, struct insn *insns)
{
	struct program changed = *pr->program;
	struct engine_config cfg = {
		.clock_mhz = pr->clock_mhz,
		.resident = pr->resident,
		.bytes_per_clk = pr->bytes_per_clk,
	};
	struct stats s;
	struct diag d;
	double clk = NAN;

	changed.insns = insns;
	memset(&s, 0, sizeof(s));
	diag_init(&d);
	if (engine_run(&changed, &cfg, &s, &d) == 0 && s.window_steps > 0)
		clk = (double)s.window_clk / (double)s.window_steps;
	stats_free(&s);
	diag_free(&d);
	return clk;
}

static double steady_clk(const struct prediction *pr)
{
	return pr->stats.window_steps
		       ? (double)pr->stats.window_clk / (double)pr->stats.window_steps
		       : NAN;
}

struct insn *price_copy(const struct program *p)
{
	struct insn *copy = xcalloc(p->ninsns + 1, sizeof(*copy));

	memcpy(copy, p->insns, p->ninsns * sizeof(*copy));
	return copy;
}

static bool is_workgroup_barrier(const struct insn *in)
{
	return in->barrier == BAR_WORKGROUP &&
	       (in->cls == OPC_BARRIER || in->cls == OPC_SIGNAL || in->cls == OPC_AWAIT);
}

/* Is there nothing but waits, priorities and the like between this barrier and the next one that
 * way? */
static bool next_to_another(const struct program *p, uint32_t barrier, int step)
{
	for (int64_t i = (int64_t)barrier + step; i >= 0 && i < (int64_t)p->ninsns; i += step) {
		const struct insn *in = &p->insns[i];

		if (is_workgroup_barrier(in) && in->loc.begin != p->insns[barrier].loc.begin)
			return (in->groups & p->insns[barrier].groups) == p->insns[barrier].groups;
		if (!is_workgroup_barrier(in) && in->cls != OPC_WAIT && in->cls != OPC_SETPRIO &&
		    in->cls != OPC_NOP)
			return false;
	}
	return false;
}

static double price_of_barrier(const struct prediction *pr, uint32_t barrier)
{
	const struct program *p = pr->program;
	struct insn *copy = price_copy(p);
	double clk;

	for (size_t i = 0; i < p->ninsns; i++)
		if (is_workgroup_barrier(&copy[i]) &&
		    copy[i].loc.begin == p->insns[barrier].loc.begin)
			copy[i].groups = 0;
	clk = steady_clk(pr) - price_run(pr, copy);
	free(copy);
	return clk;
}

void price_spare_barriers(const struct prediction *pr, const struct check_result *r, struct diag *d)
{
	const struct program *p = pr->program;

	for (size_t i = 0; i < r->nspare; i++) {
		const struct insn *in = &p->insns[r->spare[i]];
		const char *stage = in->stage >= 0 && (size_t)in->stage < p->nstages
					    ? p->stages[in->stage].name
					    : NULL;
		bool boundary = (in->flags & INSN_IMPLIED) && stage;
		double price = price_of_barrier(pr, r->spare[i]);
		struct finding *f;

		if (!(price >= PRICE_LEAST_CLK) && !next_to_another(p, r->spare[i], 1) &&
		    !next_to_another(p, r->spare[i], -1))
			continue;
		if (boundary)
			f = diag_add(
				d, in->loc, DIAG_BARRIER_SPARE,
				"the barrier in front of %s is spare: every order also holds without it",
				stage);
		else
			f = diag_add(d, in->loc, DIAG_BARRIER_SPARE,
				     "this barrier is spare: every order also holds without it");
		f->price_clk = price;
		diag_fix(f, boundary ? "write boundary=\"none\" at the stage" : "take it out");
	}
}

bool price_waits_cost(const struct prediction *pr)
{
	static const enum stall waits[] = {ST_WAIT_LDS, ST_WAIT_VMEM, ST_WAIT_COPY, ST_WAIT_SMEM};
	uint64_t clk = 0;

	for (size_t s = 0; s < 8; s++)
		for (size_t i = 0; i < ARRAY_LEN(waits); i++)
			clk += pr->stats.simd_lost[s][waits[i]];
	return clk > 0;
}

/* Is insn i one of the waits that a written place became? */
static bool is_copy_of(const struct insn *in, const struct insn *wait)
{
	return in->cls == OPC_WAIT && in->loc.begin == wait->loc.begin &&
	       in->groups == wait->groups;
}

/* Operations on one counter between two instructions. */
static unsigned issued_between(const struct program *p, uint32_t from, uint32_t to, int counter)
{
	unsigned n = 0;

	for (uint32_t i = from; i < to; i++)
		if (p->insns[i].counter == counter)
			n += p->insns[i].repeat ? p->insns[i].repeat : 1;
	return n;
}

/* Put the wait at from in front of the instruction at to, its values raised by what it now lets
 * pass. */
static bool move_wait(const struct program *p, struct insn *insns, uint32_t from, uint32_t to)
{
	struct insn w = insns[from];

	for (unsigned k = 0; k < w.nwait; k++) {
		unsigned value = w.wait[k].value + issued_between(p, from, to, w.wait[k].counter);

		if (value > p->target->counters[w.wait[k].counter].max)
			return false;
		w.wait[k].value = (uint8_t)value;
	}
	memmove(&insns[from], &insns[from + 1], (to - from - 1) * sizeof(*insns));
	insns[to - 1] = w;
	return true;
}

/* Straight-line code between the two, with something written in it that the wait can be moved behind: no
 * loop edge, and the order of all other instructions is kept. */
static bool straight(const struct program *p, uint32_t from, uint32_t to)
{
	bool written = false;

	if (to <= from + 1 || to >= p->ninsns)
		return false;
	for (uint32_t i = from; i <= to; i++) {
		if (p->insns[i].cls == OPC_BRANCH || p->insns[i].cls == OPC_END)
			return false;
		written |= i > from && i < to && !(p->insns[i].flags & (INSN_IMPLIED | INSN_AUTO_WAIT));
	}
	if (!written)
		return false;
	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].begin > from && p->loops[l].begin <= to)
			return false;
	return true;
}

static bool still_right(const struct program *p, struct insn *insns)
{
	struct program changed = *p;
	struct check_result r;
	struct diag d;
	bool right;

	changed.insns = insns;
	diag_init(&d);
	right = check_program(&changed, &r, &d) == 0 && d.errors == 0;
	check_result_free(&r);
	diag_free(&d);
	return right;
}

/*
 * The program with every copy of the wait moved behind by the distance of this copy, or as far as
 * the copy's own straight code allows; NULL when a copy can't move or an order breaks.
 */
static struct insn *moved(const struct program *p, uint32_t wait, uint32_t before)
{
	struct insn *copy = price_copy(p);
	uint32_t distance = before - wait;

	for (uint32_t i = 0; i < p->ninsns; i++) {
		if (!is_copy_of(&p->insns[i], &p->insns[wait]))
			continue;
		if (!straight(p, i, i + distance) || !move_wait(p, copy, i, i + distance)) {
			free(copy);
			return NULL;
		}
	}
	if (still_right(p, copy))
		return copy;
	free(copy);
	return NULL;
}

static bool in_main_loop(const struct program *p, uint32_t insn)
{
	for (unsigned g = 0; g < p->groups; g++) {
		int l = p->main_loop[g];

		if (l >= 0 && insn >= p->loops[l].begin && insn < p->loops[l].end)
			return true;
	}
	return false;
}

/* What must not come before any of the counters of this wait instruction: the first of them. */
static uint32_t latest_place(const struct check_result *r, uint32_t insn)
{
	uint32_t room = UINT32_MAX;

	for (size_t i = 0; i < r->nwaits; i++)
		if (r->waits[i].insn == insn && r->waits[i].needed && r->waits[i].latest < room)
			room = r->waits[i].latest;
	return room > UINT32_MAX - insn ? UINT32_MAX : insn + room;
}

static bool short_somewhere(const struct check_result *r, uint32_t insn)
{
	for (size_t i = 0; i < r->nwaits; i++)
		if (r->waits[i].insn == insn && r->waits[i].short_of)
			return true;
	return false;
}

static void price_early(const struct prediction *pr, const struct check_result *r, uint32_t wait,
			struct diag *d)
{
	const struct program *p = pr->program;
	uint32_t before = latest_place(r, wait);
	const struct insn *in = &p->insns[wait], *at;
	struct insn *copy;
	struct finding *f;
	double price;

	if (before == UINT32_MAX || before <= wait || short_somewhere(r, wait) ||
	    !straight(p, wait, before))
		return;
	copy = moved(p, wait, before);
	if (!copy)
		return;
	price = steady_clk(pr) - price_run(pr, copy);
	free(copy);
	if (!(price >= PRICE_LEAST_CLK))
		return;
	at = &p->insns[before];
	f = diag_add(
		d, in->loc, DIAG_WAIT_EARLY,
		"this wait stands %u instruction%s too early: it can stand as late as line %u, in front of the %s there",
		before - wait - 1, before - wait == 2 ? "" : "s", loc_line(at->loc),
		at->op ? at->op : opclass_name(at->cls));
	f->price_clk = price;
	diag_note(f, at->loc, "the first that needs it");
	diag_fix(f, "move it to line %u", loc_line(at->loc));
}

#define EARLY_MAX_PLACES 64 /* written waits tried: each takes an examination and a run */

void price_early_waits(const struct prediction *pr, const struct check_result *r, struct diag *d)
{
	const struct program *p = pr->program;
	struct {
		uint32_t place;
		uint8_t groups;
	} tried[EARLY_MAX_PLACES];
	size_t ntried = 0;

	for (uint32_t i = 0; i < p->ninsns && ntried < EARLY_MAX_PLACES; i++) {
		const struct insn *in = &p->insns[i];
		size_t k;

		if (in->cls != OPC_WAIT || (in->flags & (INSN_AUTO_WAIT | INSN_IMPLIED)) ||
		    !in_main_loop(p, i))
			continue;
		for (k = 0; k < ntried; k++)
			if (tried[k].place == in->loc.begin && tried[k].groups == in->groups)
				break;
		if (k < ntried)
			continue;
		tried[ntried].place = in->loc.begin;
		tried[ntried++].groups = in->groups;
		price_early(pr, r, i, d);
	}
}
