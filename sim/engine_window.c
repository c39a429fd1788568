/* What the steady window adds to the results: differences of the accumulators at its two ends. */
#include "engine_window.h"

#include <stdlib.h>
#include <string.h>

#include "period.h"

static bool row_estimate(const struct engine *e, enum value_id v)
{
	return e->t->v_from[v].quality == Q_ESTIMATE;
}

/* Rows of the instructions that a program uses, as far as a reason rests on them. */
struct used_rows {
	bool latency, busy, hold, matrix, ready, lds, vmem;
};

static void look_at_rows(const struct engine *e, struct used_rows *u)
{
	for (size_t i = 0; i < e->p->ninsns; i++) {
		const struct insn *in = &e->p->insns[i];
		const struct class_row *c = &e->t->classes[in->cls];
		bool guess = c->from.quality == Q_ESTIMATE;

		u->latency |= guess && c->latency_clk > 0 && in->cls != OPC_MATRIX;
		u->busy |= guess && c->busy_clk > 1;
		u->hold |= guess && c->hold_clk > 1;
		if (in->matrix && in->matrix->from.quality == Q_ESTIMATE)
			u->matrix = u->ready = true;
		u->lds |= in->lds && in->lds->from.quality == Q_ESTIMATE;
		u->vmem |= in->vmem && in->vmem->from.quality == Q_ESTIMATE;
	}
}

static bool any_cold(const struct program *p)
{
	for (size_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].flags & INSN_COLD)
			return true;
	return false;
}

/* Does the length of a stall with this reason rest on an estimated value? See docs/engine.md. */
static void estimated_reasons(const struct engine *e, bool *guess)
{
	struct used_rows u = { 0 };
	bool memory, copies;

	look_at_rows(e, &u);
	memory = row_estimate(e, TV_vmem_l2_ns) || u.vmem ||
		 (any_cold(e->p) && row_estimate(e, TV_vmem_hbm_ns));
	copies = e->t->v.tdm_engines > 0 &&
		 (row_estimate(e, TV_tdm_start_ns) || row_estimate(e, TV_tdm_bytes_clk));
	guess[ST_ISSUE] = row_estimate(e, TV_issue_period);
	guess[ST_OPERAND] = u.latency || u.ready;
	guess[ST_VALU] = u.busy || u.matrix;
	guess[ST_MATRIX] = u.matrix;
	guess[ST_LDS] = u.lds || row_estimate(e, TV_lds_queue);
	guess[ST_LDS_WRITE] = u.lds;
	guess[ST_VMEM] = u.vmem || row_estimate(e, TV_vmem_queue);
	guess[ST_TDM] = copies || row_estimate(e, TV_tdm_queue) || row_estimate(e, TV_tdm_queue_wave);
	guess[ST_WAIT_LDS] = u.lds || row_estimate(e, TV_lds_latency);
	guess[ST_WAIT_VMEM] = memory;
	guess[ST_WAIT_COPY] = memory || copies || row_estimate(e, TV_lds_dma_write);
	guess[ST_WAIT_SMEM] = row_estimate(e, TV_smem_ns);
	guess[ST_RELEASE] = row_estimate(e, TV_barrier_release);
	guess[ST_CLUSTER] = row_estimate(e, TV_barrier_cluster);
	guess[ST_HELD] = u.hold || u.matrix;
	guess[ST_NOP] = row_estimate(e, TV_nop_unit) || row_estimate(e, TV_sleep_unit);
	guess[ST_FETCH] = row_estimate(e, TV_icache_miss_ns);
}

/*
 * A window that is no whole period may open inside a stall whose reason was taken for another one at
 * the time: take what became negative from the largest, so that the sum stays.
 */
static void settle(int64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		while (v[i] < 0) {
			size_t most = 0;
			int64_t give;

			for (size_t k = 1; k < n; k++)
				if (v[k] > v[most])
					most = k;
			if (v[most] <= 0)
				break;
			give = v[most] < -v[i] ? v[most] : -v[i];
			v[most] -= give;
			v[i] += give;
		}
		if (v[i] < 0)
			v[i] = 0;
	}
}

static void window_simds(const struct engine *e, const struct window *win, struct stats *out)
{
	for (unsigned s = 0; s < e->nsimds; s++) {
		size_t busy = (size_t)(e->simds[s].busy - e->acc);
		int64_t v[1 + ST_COUNT];
		uint64_t sum = 0;

		for (size_t r = 0; r < ARRAY_LEN(v); r++)
			v[r] = (int64_t)(win->last[busy + r] - win->first[busy + r]);
		settle(v, ARRAY_LEN(v));
		out->simd_matrix_clk[s] = (uint64_t)v[0];
		for (unsigned r = 0; r < ST_COUNT; r++) {
			out->simd_lost[s][r] = (uint64_t)v[1 + r];
			sum += (uint64_t)v[1 + r];
		}
		ENGINE_CHECK(sum + out->simd_matrix_clk[s] == out->window_clk,
			     "a matrix unit's busy and lost clocks do not sum to the window");
	}
}

static void add_stage(struct stage_stats *st, const int64_t *v)
{
	for (unsigned r = 0; r < ST_COUNT; r++)
		st->clk[r] += (uint64_t)v[r];
	st->issue_clk += (uint64_t)v[ST_ISSUE];
	st->insns += (uint64_t)v[ACC_INSNS];
	st->matrix_clk += (uint64_t)v[ACC_MATRIX];
	st->lds_clk += (uint64_t)v[ACC_LDS];
	st->lds_conflict_clk += (uint64_t)v[ACC_CONFLICT];
	st->vmem_clk += (uint64_t)v[ACC_VMEM];
}

static void window_waves(const struct engine *e, const struct window *win, struct stats *out)
{
	bool guess[ST_COUNT] = { false };

	estimated_reasons(e, guess);
	for (unsigned i = 0; i < e->nwaves; i++) {
		const struct wave *w = &e->waves[i];
		size_t at = (size_t)(w->acc - e->acc);
		uint64_t sum = 0;

		for (unsigned k = 0; k < e->nstages; k++, at += ACC_COUNT) {
			int64_t v[ACC_COUNT];

			for (unsigned f = 0; f < ACC_COUNT; f++)
				v[f] = (int64_t)(win->last[at + f] - win->first[at + f]);
			for (unsigned r = 0; r < ST_COUNT; r++)
				sum += (uint64_t)v[r];
			settle(v, ST_COUNT);
			for (unsigned r = 0; r < ST_COUNT; r++)
				out->estimate_clk += guess[r] ? (uint64_t)v[r] : 0;
			if (w->column && k < out->nstages)
				add_stage(&out->stages[k * e->p->groups + w->group], v);
		}
		ENGINE_CHECK(sum == out->window_clk, "a wave's reasons do not sum to the window");
	}
}

void window_finish(struct engine *e, struct stats *out)
{
	struct window win;
	size_t late = (size_t)(e->late - e->acc);
	uint64_t *zero = NULL, *all = NULL;

	period_window(e->period, &win);
	if (win.end == 0) { /* no loop, or too short a one: the whole run */
		zero = xcalloc(e->nacc, sizeof(*zero));
		all = xcalloc(e->nacc, sizeof(*all));
		account_snapshot(e, out->total_clk, all);
		win.first = zero;
		win.last = all;
		win.end = out->total_clk;
	}
	out->steady = win.steady;
	out->window_begin = win.begin;
	out->window_clk = win.end - win.begin;
	out->window_trips = win.trips;
	if (e->main_wave >= 0) {
		const struct wave *w = &e->waves[e->main_wave];

		out->window_steps = win.trips * e->p->loops[e->p->main_loop[w->group]].steps;
	}
	if (out->window_steps)
		out->clk_per_step = (double)out->window_clk / (double)out->window_steps;
	out->groups = e->p->groups;
	out->nstages = e->p->nstages;
	out->stages = xcalloc(out->nstages * out->groups + 1, sizeof(*out->stages));
	out->wave_window_clk = e->nwaves * out->window_clk;
	window_simds(e, &win, out);
	window_waves(e, &win, out);
	for (size_t i = 0; i < out->nstages * out->groups; i++)
		out->stages[i].late_clk = win.last[late + i] - win.first[late + i];
	free(zero);
	free(all);
}
