/* What a prediction means for its stages: derived figures, and the findings that follow from them. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "price.h"
#include "report_internal.h"

static unsigned group_of(const struct program *p, unsigned wave)
{
	unsigned size = p->waves / p->groups;

	return wave % p->waves / (size ? size : 1);
}

static unsigned simds_of(const struct program *p)
{
	return (unsigned)p->target->v.simds;
}

int report_wave(const struct program *p, unsigned group)
{
	for (unsigned w = 0; w < p->waves; w += simds_of(p))
		if (group_of(p, w) == group)
			return (int)w;
	return -1;
}

/* Waves of a group of one workgroup: on the CU, in SIMD 0's pair, on SIMD 0. */
struct places {
	unsigned cu, pair, simd;
};

static struct places places_of(const struct program *p, unsigned group)
{
	struct places n = { 0 };

	for (unsigned w = 0; w < p->waves; w++) {
		unsigned simd = w % simds_of(p);

		if (group_of(p, w) != group)
			continue;
		n.cu++;
		n.pair += p->target->pair_of_simd[simd] == p->target->pair_of_simd[0];
		n.simd += simd == 0;
	}
	return n;
}

static double main_loop_steps(const struct program *p, unsigned group)
{
	int l = p->main_loop[group];

	return l >= 0 && (size_t)l < p->nloops && p->loops[l].steps ? p->loops[l].steps : 1;
}

/*
 * How often one trip of a group's main loop enters each stage, an unrolled loop again and again:
 * [nstages * groups] as in struct stats. Stages that are not in the loop get 1.
 */
static unsigned *passes_in_trip(const struct program *p, unsigned groups)
{
	unsigned *n = xcalloc(p->nstages * groups + 1, sizeof(*n));

	for (unsigned g = 0; g < groups; g++) {
		int l = p->main_loop[g], last = -1;

		/* a trip follows another one: the stage at the loop's end goes on at its start */
		for (uint32_t i = l < 0 ? 0 : p->loops[l].begin; l >= 0 && i < p->ninsns && i < p->loops[l].end; i++)
			if (p->insns[i].groups & 1u << g)
				last = p->insns[i].stage;
		for (uint32_t i = l < 0 ? UINT32_MAX : p->loops[l].begin; i < p->ninsns && i < p->loops[l].end; i++) {
			int stage = p->insns[i].stage;

			if (!(p->insns[i].groups & 1u << g))
				continue;
			if (stage != last && stage >= 0 && (size_t)stage < p->nstages)
				n[(size_t)stage * groups + g]++;
			last = stage;
		}
	}
	for (size_t i = 0; i < p->nstages * groups; i++)
		if (n[i] == 0)
			n[i] = 1;
	return n;
}

/* ---- stages ---- */

static bool is_wait(enum stall s)
{
	return s == ST_WAIT_LDS || s == ST_WAIT_VMEM || s == ST_WAIT_COPY || s == ST_WAIT_SMEM;
}

static bool is_barrier(enum stall s)
{
	return s == ST_BARRIER || s == ST_RELEASE || s == ST_CLUSTER;
}

static void limit_try(struct report_row *row, const char *name, double clk)
{
	if (clk > row->limit_clk) {
		row->limit_clk = clk;
		row->limit = name;
	}
}

/* The longest of the stage's unit times, its issue and its waits; on equality the one named first. */
static void row_limit(struct report_row *row, const uint64_t *clk, double scale)
{
	row->limit = "-";
	limit_try(row, "matrix", row->matrix);
	limit_try(row, "lds-port", row->lds);
	limit_try(row, "vmem-addr", row->vmem);
	limit_try(row, "issue", row->issue);
	for (enum stall s = 0; s < ST_COUNT; s++)
		if (s != ST_ISSUE && s != ST_MATRIX && s != ST_PHASE && !is_barrier(s))
			limit_try(row, stall_name(s), (double)clk[s] * scale);
}

static void row_fill(const struct prediction *pr, struct report_row *row)
{
	const struct program *p = pr->program;
	const struct stage_stats *st = &pr->stats.stages[row->stage * pr->stats.groups + row->group];
	struct places n = places_of(p, row->group);
	double passes = (double)pr->stats.window_steps / main_loop_steps(p, row->group) * row->passes;
	/* stage_stats sums the waves of one column: per wave and passage */
	double scale = n.simd ? 1 / (passes * n.simd * pr->resident) : 0;
	uint64_t sum = 0;

	for (enum stall s = 0; s < ST_COUNT; s++) {
		sum += st->clk[s];
		if (is_wait(s))
			row->waits += (double)st->clk[s] * scale;
		if (is_barrier(s))
			row->barrier += (double)st->clk[s] * scale;
	}
	row->runs = sum > 0;
	row->elapsed = (double)sum * scale;
	row->own = row->elapsed - row->barrier;
	row->issue = (double)st->issue_clk * scale;
	row->matrix = (double)st->matrix_clk * scale * n.simd;
	row->lds = (double)st->lds_clk * scale * n.pair;
	row->lds_conflict = (double)st->lds_conflict_clk * scale * n.pair;
	row->vmem = (double)st->vmem_clk * scale * n.cu;
	row_limit(row, st->clk, scale);
}

/* ---- overlap of groups ---- */

struct report_span *report_spans(const struct prediction *pr, unsigned group, size_t *n)
{
	int wave = report_wave(pr->program, group);
	struct report_span *list = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < pr->stats.nsegments; i++) {
		const struct segment *s = &pr->stats.segments[i];

		if (s->wave != wave || s->end <= s->begin)
			continue;
		if (*n > 0 && list[*n - 1].stage == s->stage && list[*n - 1].end == s->begin) {
			list[*n - 1].end = s->end;
			continue;
		}
		list = xgrow(list, *n, &cap, sizeof(*list));
		list[(*n)++] = (struct report_span){ s->begin, s->end, s->stage };
	}
	return list;
}

static bool stage_is_matrix(const struct program *p, unsigned stage)
{
	return stage < p->nstages && p->stages[stage].kind == STAGE_MATRIX;
}

struct overlap {
	uint64_t *clk; /* [nstages * nstages]: stage of group a, stage of group b */
	uint64_t all, same;
};

static void overlap_fill(const struct program *p, const struct report_span *a, size_t na,
			 const struct report_span *b, size_t nb, struct overlap *o)
{
	for (size_t i = 0, j = 0; i < na && j < nb;) {
		uint64_t lo = a[i].begin > b[j].begin ? a[i].begin : b[j].begin;
		uint64_t hi = a[i].end < b[j].end ? a[i].end : b[j].end;

		if (hi > lo && a[i].stage < p->nstages && b[j].stage < p->nstages) {
			o->clk[a[i].stage * p->nstages + b[j].stage] += hi - lo;
			o->all += hi - lo;
			if (a[i].stage == b[j].stage)
				o->same += hi - lo;
		}
		if (a[i].end < b[j].end)
			i++;
		else
			j++;
	}
}

/* Keep for each stage of group ga the stage of group gb that overlaps it most. */
static void partners_of(struct report_derived *r, const struct prediction *pr, unsigned ga, unsigned gb,
			const struct overlap *o, uint64_t *best)
{
	size_t n = pr->program->nstages;
	unsigned groups = pr->stats.groups;

	for (size_t a = 0; a < n; a++) {
		for (size_t b = 0; b < n; b++) {
			uint64_t ab = o->clk[a * n + b];

			if (ab > best[a * groups + ga]) {
				best[a * groups + ga] = ab;
				r->rows[a * groups + ga].partner = (int)b;
				r->rows[a * groups + ga].partner_group = gb;
			}
			if (ab > best[b * groups + gb]) {
				best[b * groups + gb] = ab;
				r->rows[b * groups + gb].partner = (int)a;
				r->rows[b * groups + gb].partner_group = ga;
			}
		}
	}
}

#define OVERLAP_MAX_STAGES 2048 /* the table of pairs grows with the square */

static void find_partners(struct report_derived *r, const struct prediction *pr)
{
	const struct program *p = pr->program;
	unsigned groups = pr->stats.groups;
	uint64_t *best, all = 0, same = 0;

	if (pr->stats.nsegments == 0 || groups < 2 || p->nstages == 0 || p->nstages > OVERLAP_MAX_STAGES)
		return;
	best = xcalloc(r->nrows, sizeof(*best));
	for (unsigned a = 0; a < groups; a++) {
		for (unsigned b = a + 1; b < groups; b++) {
			struct overlap o = { .clk = xcalloc(p->nstages * p->nstages, sizeof(*o.clk)) };
			size_t na, nb;
			struct report_span *sa = report_spans(pr, a, &na);
			struct report_span *sb = report_spans(pr, b, &nb);

			overlap_fill(p, sa, na, sb, nb, &o);
			partners_of(r, pr, a, b, &o, best);
			all += o.all;
			same += o.same;
			free(sa);
			free(sb);
			free(o.clk);
		}
	}
	free(best);
	if (all > 0)
		r->same_stage = (double)same / (double)all;
	for (size_t i = 0; i < r->nrows; i++) {
		struct report_row *row = &r->rows[i];

		if (row->partner >= 0)
			row->slack = r->rows[(size_t)row->partner * groups + row->partner_group].own - row->own;
	}
}

/* ---- lost cycles ---- */

static bool has_prefix(const struct program *p)
{
	for (size_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].matrix && p->insns[i].matrix->prefix_clk > 0)
			return true;
	return false;
}

static void lost_add(struct report_derived *r, const char *reason, const char *text, double clk)
{
	if (clk != 0)
		r->lost[r->nlost++] = (struct report_lost){ reason, text, clk };
}

static int lost_longer(const void *a, const void *b)
{
	const struct report_lost *x = a, *y = b;

	if (x->clk != y->clk)
		return x->clk < y->clk ? 1 : -1;
	return strcmp(x->reason, y->reason);
}

/*
 * Means of the SIMDs that host a wave. Busy and lost clk of a SIMD are integers that sum to the window,
 * so the reasons and the busy clk beyond the ideal sum to step_clk - ideal_clk.
 */
static void derive_lost(const struct prediction *pr, struct report_derived *r)
{
	const struct program *p = pr->program;
	const struct stats *s = &pr->stats;
	unsigned used = pr->resident * p->waves < simds_of(p) ? pr->resident * p->waves : simds_of(p);
	double per = 1.0 / ((double)used * (double)s->window_steps), beyond;
	uint64_t busy = 0;

	for (enum stall reason = 0; reason < ST_COUNT; reason++) {
		uint64_t sum = 0;

		for (unsigned simd = 0; simd < used; simd++)
			sum += s->simd_lost[simd][reason];
		lost_add(r, stall_name(reason), stall_text(reason), (double)sum * per);
	}
	for (unsigned simd = 0; simd < used; simd++)
		busy += s->simd_matrix_clk[simd];
	/* In whole clk first: no rounding where the two are equal. */
	beyond = (double)busy - r->ideal_clk * (double)s->window_steps * used;
	if (has_prefix(p))
		lost_add(r, "matrix-prefix", "the matrix unit loads scales, which nothing hides", beyond * per);
	else
		lost_add(r, "matrix-other", "matrix work that is not part of the K-step's ideal", beyond * per);
	qsort(r->lost, r->nlost, sizeof(*r->lost), lost_longer);
}

void report_derive(const struct prediction *pr, struct report_derived *r)
{
	const struct program *p = pr->program;
	const struct stats *s = &pr->stats;
	unsigned *passes;

	memset(r, 0, sizeof(*r));
	r->same_stage = r->estimate_share = NAN;
	r->waves_per_simd = (pr->resident * p->waves + simds_of(p) - 1) / simds_of(p);
	if (s->wave_window_clk > 0)
		r->estimate_share = (double)s->estimate_clk / (double)s->wave_window_clk;
	r->have_steady = s->window_clk > 0 && s->window_steps > 0;
	if (!r->have_steady)
		return;
	r->step_clk = (double)s->window_clk / (double)s->window_steps;
	r->ideal_clk = pr->ideal_clk_per_step;
	r->steps_per_trip = main_loop_steps(p, 0);
	derive_lost(pr, r);
	if (!s->stages || s->nstages != p->nstages || s->groups == 0)
		return;
	passes = passes_in_trip(p, s->groups);
	r->nrows = s->nstages * s->groups;
	r->rows = xcalloc(r->nrows + 1, sizeof(*r->rows));
	for (size_t i = 0; i < r->nrows; i++) {
		r->rows[i].stage = i / s->groups;
		r->rows[i].group = (unsigned)(i % s->groups);
		r->rows[i].partner = -1;
		r->rows[i].slack = NAN;
		r->rows[i].passes = passes[i];
		row_fill(pr, &r->rows[i]);
	}
	free(passes);
	find_partners(r, pr);
}

void report_derived_free(struct report_derived *r)
{
	free(r->rows);
	memset(r, 0, sizeof(*r));
}

/* ---- LDS banks ---- */

size_t report_banks(const struct program *p, struct report_bank *out, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		double degree;
		size_t k;

		if ((in->cls != OPC_LDS_READ && in->cls != OPC_LDS_WRITE) || in->lds_clk_free == 0)
			continue;
		for (k = 0; k < n && strcmp(out[k].op, in->op) != 0; k++)
			;
		if (k == n) {
			if (n == cap)
				continue;
			out[n++] = (struct report_bank){ .op = in->op, .write = in->cls == OPC_LDS_WRITE };
		}
		degree = (double)in->lds_clk / in->lds_clk_free;
		out[k].count += in->repeat ? in->repeat : 1;
		out[k].mean += degree * (in->repeat ? in->repeat : 1);
		if (degree > out[k].worst)
			out[k].worst = degree;
	}
	for (size_t k = 0; k < n; k++)
		out[k].mean /= (double)out[k].count;
	return n;
}

/* ---- findings ---- */

static bool in_main_loop(const struct program *p, size_t insn)
{
	for (unsigned g = 0; g < p->groups; g++) {
		int l = p->main_loop[g];

		if (l >= 0 && (size_t)l < p->nloops && insn >= p->loops[l].begin && insn < p->loops[l].end)
			return true;
	}
	return false;
}

static bool stage_has_memory(const struct program *p, size_t stage)
{
	return p->stages[stage].kind == STAGE_MEMORY || p->stages[stage].kind == STAGE_PLAIN;
}

/* The stage of the same group with most slack, other than row. */
static const struct report_row *most_slack(const struct report_derived *r, const struct program *p,
					   const struct report_row *row)
{
	const struct report_row *best = NULL;

	for (size_t i = 0; i < r->nrows; i++) {
		const struct report_row *c = &r->rows[i];

		if (c == row || !c->runs || c->group != row->group || c->partner < 0 || !(c->slack > 0) ||
		    !stage_has_memory(p, c->stage))
			continue;
		if (!best || c->slack > best->slack)
			best = c;
	}
	return best;
}

static void add_unhidden(const struct prediction *pr, const struct report_derived *r,
			 const struct report_row *row, double price, struct diag *d)
{
	const struct program *p = pr->program;
	const struct stage *st = &p->stages[row->stage], *partner = &p->stages[row->partner];
	const struct report_row *to = most_slack(r, p, row);
	double excess = -row->slack;
	struct finding *f;

	f = diag_add(d, st->loc, DIAG_UNHIDDEN, "stage %s needs %.0f clk, its partner %s %.0f: %.0f clk "
		     "are not hidden (mostly %s)", st->name, row->own, partner->name, row->own + row->slack,
		     excess, row->limit);
	f->price_clk = price;
	diag_note(f, partner->loc, "%s is what the other group executes meanwhile", partner->name);
	if (to)
		diag_fix(f, "move %.0f clk of work to %s, which has %.0f clk to spare",
			 fmin(excess, to->slack), p->stages[to->stage].name, to->slack);
	else
		diag_fix(f, "no other stage of the group has clk to spare: move work out of the loop, "
			 "or issue it among the matrix ops");
}

/* What a memory stage may be longer than its partner before it is worth a finding. */
static double unhidden_limit(const struct program *p, double partner_own)
{
	return fmax(p->target->v.issue_period, 0.01 * partner_own);
}

/*
 * A memory stage under a matrix stage of another group and longer than that. One finding a stage: the
 * worst group, priced by what all groups lose.
 */
static void find_unhidden(const struct prediction *pr, const struct report_derived *r, struct diag *d)
{
	const struct program *p = pr->program;
	unsigned groups = pr->stats.groups;

	for (size_t s = 0; s < r->nrows / (groups ? groups : 1); s++) {
		const struct report_row *worst = NULL;
		double price = 0;

		for (unsigned g = 0; g < groups; g++) {
			const struct report_row *row = &r->rows[s * groups + g];

			if (!row->runs || row->partner < 0 || !stage_has_memory(p, s) ||
			    !stage_is_matrix(p, (unsigned)row->partner) ||
			    !(-row->slack > unhidden_limit(p, row->own + row->slack)))
				continue;
			price += -row->slack * row->passes / main_loop_steps(p, g);
			if (!worst || row->slack < worst->slack)
				worst = row;
		}
		if (worst)
			add_unhidden(pr, r, worst, price, d);
	}
}

static void find_in_phase(const struct prediction *pr, const struct report_derived *r, struct diag *d)
{
	const struct program *p = pr->program;
	const struct stage *first = NULL;
	bool memory = false;
	double lost = 0;
	struct finding *f;

	for (size_t i = 0; i < r->nrows; i++) {
		if (!r->rows[i].runs)
			continue;
		if (stage_is_matrix(p, (unsigned)r->rows[i].stage) && !first)
			first = &p->stages[r->rows[i].stage];
		if (stage_has_memory(p, r->rows[i].stage))
			memory = true;
	}
	if (!first || !memory || !(r->same_stage > 0.5) || (p->gap > 0 && !p->gap_written))
		return;
	for (size_t i = 0; i < r->nlost; i++)
		lost += r->lost[i].clk;
	f = diag_add(d, first->loc, DIAG_NOT_APPLIED, "the groups run in phase: %.0f %% of the time in which "
		     "both work they are in one and the same stage; %.0f of %.0f clk per K-step are lost",
		     100 * r->same_stage, lost, r->step_clk);
	diag_fix(f, "hold group 1 one stage behind: one more barrier before the loop, and one after it "
		 "for group 0");
}

static void find_estimate(const struct prediction *pr, const struct report_derived *r, struct diag *d)
{
	if (!(r->estimate_share > REPORT_ESTIMATE_LIMIT))
		return;
	diag_add(d, (struct loc){ 0 }, DIAG_ESTIMATE, "%.0f %% of the wave time of the steady loop rests on "
		 "estimated values of target %s (remarked upon above %.0f %%)", 100 * r->estimate_share,
		 pr->program->target->name, 100 * REPORT_ESTIMATE_LIMIT);
}

/* ---- prices: the engine runs once more with one thing mended ---- */

#define PRICE_MAX_RUNS 16 /* more findings than this stay without a price */
#define PRICE_MAX_INSNS 20000000u /* as do those of programs that step through more */

static bool same_loc(struct loc a, struct loc b)
{
	return a.src == b.src && a.begin == b.begin && a.end == b.end;
}

static bool at_finding(const struct insn *in, const struct finding *f)
{
	return f->loc.src && in->loc.src == f->loc.src && in->loc.begin == f->loc.begin;
}

/* Loosen the wait that a finding calls too strong: to what suffices, or to nothing. */
static bool mend_wait(struct insn *in, const struct finding *f)
{
	bool found = false;
	uint8_t value = f->required >= 0 && f->required < UINT8_MAX ? (uint8_t)f->required : UINT8_MAX;

	if (in->cls != OPC_WAIT || !f->counter)
		return false;
	for (unsigned k = 0; k < in->nwait; k++) {
		if (strcmp(counter_name((enum counter)in->wait[k].counter), f->counter) != 0 ||
		    in->wait[k].value != f->present)
			continue;
		in->wait[k].value = value;
		found = true;
	}
	return found;
}

/* Everywhere in the program; false when there is no such wait. */
static bool mend_waits(const struct program *p, struct insn *insns, const struct finding *f)
{
	bool found = false;

	for (size_t i = 0; i < p->ninsns; i++)
		if (at_finding(&insns[i], f))
			found |= mend_wait(&insns[i], f);
	return found;
}

static void price_waits(const struct prediction *pr, double base, unsigned *runs, struct diag *d)
{
	for (size_t i = 0; i < d->n && *runs > 0; i++) {
		struct finding *f = &d->list[i];
		struct insn *insns;

		if (f->code != DIAG_WAIT_STRONG || !isnan(f->price_clk))
			continue;
		insns = price_copy(pr->program);
		if (mend_waits(pr->program, insns, f)) {
			f->price_clk = base - price_run(pr, insns);
			(*runs)--;
		}
		free(insns);
	}
	/* where the looser wait makes the loop slower there is no overlap to win */
	diag_drop_cheaper(d, DIAG_WAIT_STRONG, -0.25);
}

/* Make every access of one place free of conflicts, in a copy of the instructions when there is one,
 * and mark it as seen. The highest degree among them. */
static double mend_banks(const struct program *p, size_t first, bool *seen, struct insn *copy)
{
	double worst = 0;

	for (size_t k = first; k < p->ninsns; k++) {
		const struct insn *in = &p->insns[k];

		if (in->lds_clk <= in->lds_clk_free || !same_loc(in->loc, p->insns[first].loc))
			continue;
		seen[k] = true;
		worst = fmax(worst, (double)in->lds_clk / in->lds_clk_free);
		if (copy)
			copy[k].lds_clk = in->lds_clk_free;
	}
	return worst;
}

#define BANK_MAX_FINDINGS 32

/* One finding for each place whose LDS accesses conflict; the price is what the steady loop gains
 * when exactly these accesses are free of conflicts. */
static void find_banks(const struct prediction *pr, double base, unsigned *runs, struct diag *d)
{
	const struct program *p = pr->program;
	bool *seen = xcalloc(p->ninsns + 1, sizeof(*seen));
	unsigned left = BANK_MAX_FINDINGS;

	for (size_t i = 0; i < p->ninsns && left > 0; i++) {
		const struct insn *in = &p->insns[i];
		struct insn *copy = NULL;
		double worst, price = NAN;
		struct finding *f;

		if (seen[i] || in->lds_clk <= in->lds_clk_free || in->lds_clk_free == 0)
			continue;
		if (*runs > 0 && base > 0 && in_main_loop(p, i)) {
			copy = price_copy(p);
			(*runs)--;
		}
		worst = mend_banks(p, i, seen, copy);
		if (copy)
			price = base - price_run(pr, copy);
		free(copy);
		f = diag_add(d, in->loc, DIAG_BANK, "%s has bank conflicts: the LDS array takes %u clk, "
			     "%.3g times the %u of a conflict-free access%s", in->op, in->lds_clk, worst,
			     in->lds_clk_free, price <= 0.5 ? "; they are hidden" : "");
		f->price_clk = price;
		if (price <= 0.5) {
			f->severity = SEV_NOTE;
			d->warnings--;
		}
		diag_fix(f, "pad or swizzle the buffer so that lanes judged together use different banks");
		left--;
	}
	free(seen);
}

void report_findings(const struct prediction *pr, struct diag *d)
{
	unsigned runs = pr->stats.insns_stepped > PRICE_MAX_INSNS ? 0 : PRICE_MAX_RUNS;
	struct report_derived r;

	report_derive(pr, &r);
	if (r.have_steady)
		price_waits(pr, r.step_clk, &runs, d);
	find_unhidden(pr, &r, d);
	find_in_phase(pr, &r, d);
	find_banks(pr, r.have_steady ? r.step_clk : 0, &runs, d);
	find_estimate(pr, &r, d);
	report_derived_free(&r);
}
