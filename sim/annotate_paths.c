/*
 * Timing with the ways that the waves really take: groups that go different ways pass over different
 * instructions, and LDS addresses that were found give the array time of each access.
 */
#include "annotate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lds.h"

static bool visits(const struct paths *paths, unsigned g, uint32_t insn)
{
	return paths->program.insns[insn].groups >> g & 1;
}

/* The loop whose body the group enters most often. */
static int busiest_loop(const struct program *p, const struct paths *paths, unsigned g)
{
	uint64_t *times = xcalloc(p->nloops + 1, sizeof(*times)), most = 0;
	int best = -1;

	for (size_t i = 0; i < paths->check.n[g]; i++)
		for (size_t l = 0; l < p->nloops; l++)
			times[l] += paths->check.step[g][i].insn == p->loops[l].begin;
	for (size_t l = 0; l < p->nloops; l++)
		if (times[l] > most) {
			most = times[l];
			best = (int)l;
		}
	free(times);
	return best;
}

/* Mean array time of an access as executed, over the waves of all groups; 0: it was not seen. */
static void add_times(const struct program *p, const struct paths *paths, uint64_t *sum, uint64_t *count)
{
	uint32_t limit = (uint32_t)p->target->v.lds_bytes;

	for (unsigned g = 0; g < paths->check.groups; g++) {
		unsigned per = paths->waves / paths->check.groups;

		for (size_t i = 0; i < paths->check.n[g]; i++) {
			const struct check_step *s = &paths->check.step[g][i];
			const struct check_access *a = s->access >= 0 ? &paths->check.access[s->access] : NULL;

			if (!a || !p->insns[s->insn].lds || a->lanes > 64)
				continue;
			for (unsigned w = 0; w < per; w++)
				sum[s->insn] += lds_array_clk(p->insns[s->insn].lds, a->lanes, a->addr + (size_t)w * a->lanes, limit,
							      (unsigned)p->target->v.lds_unaligned);
			count[s->insn] += per;
		}
	}
}

/* Array times of the addresses found; the number of LDS instructions that have them. */
static unsigned set_times(struct program *p, const struct paths *paths)
{
	uint64_t *sum = xcalloc(p->ninsns + 1, sizeof(*sum)), *count = xcalloc(p->ninsns + 1, sizeof(*count));
	unsigned n = 0;

	add_times(p, paths, sum, count);
	for (uint32_t i = 0; i < p->ninsns; i++) {
		uint64_t clk = count[i] ? (sum[i] + count[i] / 2) / count[i] : 0;

		if (!count[i])
			continue;
		p->insns[i].lds_clk = (uint16_t)(clk < UINT16_MAX ? clk : UINT16_MAX);
		n++;
	}
	free(sum);
	free(count);
	return n;
}

#define GUESSED_TRIPS 8 /* more than a loop on an unknown condition is followed */

/*
 * Trips of each loop as executed: visits of its first instruction for each time it was entered. Followed with unknown
 * arguments only a loop that went on for longer than a guess does has a condition that is known.
 */
static void exact_trips(struct program *p, const struct paths *paths)
{
	for (size_t l = 0; l < p->nloops; l++) {
		struct loop *x = &p->loops[l];
		uint64_t visits = 0, entries = 0;
		unsigned g = 0;

		while (g + 1 < paths->check.groups && !(x->groups >> g & 1))
			g++;
		for (size_t i = 0; i < paths->check.n[g]; i++) {
			bool before = i && paths->check.step[g][i - 1].insn >= x->begin && paths->check.step[g][i - 1].insn < x->end;

			visits += paths->check.step[g][i].insn == x->begin;
			entries += paths->check.step[g][i].insn == x->begin && !before;
		}
		if (entries && (paths->exact || (!x->trips && visits / entries > GUESSED_TRIPS)))
			x->trips = (visits + entries / 2) / entries;
	}
}

bool annotate_take_paths(struct annotation *a, const struct paths *paths)
{
	struct program *p = a->program;
	bool hot = a->loop < 0;

	if (paths->gave_up || !paths->check.groups)
		return false;
	for (unsigned g = 0; g < paths->check.groups; g++)
		hot |= a->loop >= 0 && visits(paths, g, a->begin);
	if (!hot)
		return false;
	p->waves = paths->waves;
	p->groups = paths->check.groups;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		p->insns[i].groups = paths->program.insns[i].groups;
		if (!p->insns[i].groups) {
			p->insns[i].groups = 1;
			p->insns[i].flags |= INSN_EDGE_ONLY;
		}
	}
	for (size_t l = 0; l < p->nloops; l++)
		p->loops[l].groups = paths->program.insns[p->loops[l].begin].groups;
	for (unsigned g = 0; g < p->groups; g++) {
		p->entry[g] = p->entry[0];
		p->main_loop[g] = busiest_loop(p, paths, g);
	}
	for (unsigned g = paths->check.groups; g-- > 0;)
		if (a->loop < 0 || visits(paths, g, a->begin))
			a->wave = g * (paths->waves / paths->check.groups);
	exact_trips(p, paths);
	return true;
}

unsigned annotate_lds_times(struct annotation *a, const struct paths *paths)
{
	return paths->gave_up ? 0 : set_times(a->program, paths);
}
