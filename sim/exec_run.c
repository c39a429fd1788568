/* One cluster of workgroups: its waves, whose turn it is, and the instructions one after the other. */
#include "exec_core.h"

#include <stdarg.h>
#include <stdlib.h>

#define QUANTUM 256      /* instructions of a wave before the next one's turn */
#define RANDOM_QUANTUM 16

bool x_analysis(const struct xwave *w) { return w->wg->run->o->analysis; }
const struct target *x_target(const struct xwave *w) { return w->wg->run->prog->p->target; }
bool x_gfx9(const struct xwave *w) { return w->wg->run->prog->gfx9; }
const struct exec_options *x_options(const struct xwave *w) { return w->wg->run->o; }
const struct listing_info *x_info(const struct xwave *w) { return w->wg->run->prog->info; }
uint64_t x_workgroup(const struct xwave *w) { return w->wg->number; }
unsigned x_cluster_rank(const struct xwave *w) { return w->wg->rank; }

/* ---- findings ---- */

static char *where(const struct xwave *w, int lane, const char *text)
{
	const struct xgroup *g = w->wg;
	char at[48] = "";

	if (lane >= 0)
		snprintf(at, sizeof(at), ", lane %d", lane);
	return xasprintf("%s (workgroup %llu, wave %u%s)", text, (unsigned long long)g->number, w->id, at);
}

static bool report(struct xwave *w, uint32_t insn, enum diag_code code, int lane, uint32_t note_insn, const char *note,
		   const char *fmt, va_list ap)
{
	struct xcluster *c = w->wg->cluster;
	struct strbuf b = { 0 };
	struct xfinding *f;

	for (size_t i = 0; i < c->nfindings; i++)
		if (c->finding[i].insn == insn && c->finding[i].code == code)
			return false;
	if (c->nfindings == X_MAX_FINDINGS) {
		c->stop = true;
		return false;
	}
	strbuf_addv(&b, fmt, ap);
	c->finding = xgrow(c->finding, c->nfindings, &c->capfindings, sizeof(*c->finding));
	f = &c->finding[c->nfindings++];
	*f = (struct xfinding){ .code = code, .insn = insn, .note_insn = note_insn, .text = where(w, lane, b.s ? b.s : ""),
				.note = note ? xstrdup(note) : NULL };
	strbuf_free(&b);
	return true;
}

bool core_report(struct xwave *w, uint32_t insn, enum diag_code code, int lane, uint32_t note_insn, const char *note,
		 const char *fmt, ...)
{
	va_list ap;
	bool news;

	va_start(ap, fmt);
	news = report(w, insn, code, lane, note_insn, note, fmt, ap);
	va_end(ap);
	return news;
}

int x_fault(struct xwave *w, const struct xinsn *in, enum diag_code code, int lane, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(w, in->index, code, lane, UINT32_MAX, NULL, fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- one instruction ---- */

/* Both halves read before either writes. */
static int run_dual(struct xwave *w, const struct xinsn *in)
{
	const struct xinsn *second = in->dual;
	struct xlanes t, u;
	bool any = taint_sources(w, in, &t), any2 = taint_sources(w, second, &u);
	size_t n = in->nwrite ? in->write[0].n * (size_t)w->lanes : 0, bytes = n * sizeof(uint32_t);
	uint32_t *to = n && in->write[0].first < REG_SGPR ? x_vreg(w, in->write[0].first) : NULL;
	bool swap = (in->flags & XF_DUAL_SAVE) && to && in->write[0].n <= 2;
	uint32_t *old = w->core->saved, *new = old + 2 * (size_t)w->lanes;
	int rc;

	if (swap)
		memcpy(old, to, bytes);
	rc = in->fn(w, in);
	if (swap) {
		memcpy(new, to, bytes);
		memcpy(to, old, bytes);
	}
	if (rc == 0)
		rc = second->fn(w, second);
	if (swap)
		memcpy(to, new, bytes);
	taint_results(w, in, &t, any);
	taint_results(w, second, &u, any2);
	return rc;
}

static int run_plain(struct xwave *w, const struct xinsn *in)
{
	struct xlanes t;
	bool any = taint_sources(w, in, &t);
	int rc;

	if ((in->flags & XF_MATRIX) && x_analysis(w)) { /* no address comes of it */
		taint_unknown_results(w, in);
		return 0;
	}
	rc = in->fn(w, in);

	taint_results(w, in, &t, any);
	return rc;
}

static int run_memory(struct xwave *w, const struct xinsn *in, bool pass_over)
{
	uint32_t ticket;
	int rc = 0;

	sync_make_room(w, in);
	ticket = x_race_issue(w, in);
	taint_clear_results(w, in);
	if (pass_over && taint_lds_known(w, in)) {
		w->wg->cluster->site[in->index].unknown_addresses++;
		w->places_only = true;
		rc = in->fn(w, in);
		w->places_only = false;
	} else if (pass_over)
		w->wg->cluster->site[in->index].unknown_addresses++;
	else
		rc = in->fn(w, in);
	/* Scalar loads say themselves which words are unknown: hidden arguments are not. */
	if (x_analysis(w) && in->nwrite && (pass_over || in->base->cls != OPC_SMEM))
		taint_unknown_results(w, in);
	if (in->flags & XF_COUNTS)
		sync_issue(w, in, ticket);
	else if (ticket)
		x_race_retire(w, ticket);
	return rc;
}

static void tell(struct xwave *w, const struct xinsn *in, bool pass_over)
{
	static const struct exec_lds nowhere = { .unknown = true };
	const struct exec_options *o = w->wg->run->o;
	const struct exec_lds *lds = NULL;

	if (in->flags & XF_MEMORY)
		lds = x_local_access(w);
	if (!lds && pass_over && ((in->flags & XF_LDS) || taint_copies(in)))
		lds = &nowhere;
	o->on_insn(o->ctx, w->wg->number, w->id, in->index, lds);
}

/* Vector operations whose registers are chosen at run time. */
static int run_indexed(struct xwave *w, const struct xinsn *in, unsigned mask)
{
	struct xinsn *shifted = &w->core->shifted;

	if (!index_apply(w, in, mask, shifted))
		return -1;
	if (w->nflight)
		sync_poison(w, shifted);
	return run_plain(w, shifted);
}

/* 0; -1: the cluster stops. */
static int step(struct xwave *w)
{
	struct xcluster *c = w->wg->cluster;
	const struct xinsn *in = &c->run->prog->insn[w->pc];
	bool pass_over = false;
	unsigned index;
	int rc;

	w->next_pc = w->pc + 1;
	w->write_mask = w->exec;
	c->site[w->pc].executed++;
	c->clock++;
	w->wg->insns++;
	index = w->core->index_on || (in->flags & XF_INDEXED) ? index_mask(w, in) : 0;
	if (w->nflight && !index)
		sync_poison(w, in);
	if (in->dpp.on)
		dpp_prepare(w, in);
	if (in->flags & (XF_MEMORY | XF_DECIDES))
		pass_over = taint_demand(w, in) < 0;
	if (in->flags & XF_MEMORY)
		rc = run_memory(w, in, pass_over && x_analysis(w));
	else if (in->dual)
		rc = run_dual(w, in);
	else if (index)
		rc = run_indexed(w, in, index);
	else
		rc = run_plain(w, in);
	if (c->run->o->on_insn)
		tell(w, in, pass_over);
	if (rc < 0) {
		c->stop = true;
		return -1;
	}
	w->pc = w->next_pc;
	return 0;
}

/* ---- whose turn it is ---- */

static uint64_t random_next(uint64_t *s)
{
	uint64_t x = *s;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*s = x;
	return x * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static bool runnable(struct xwave *w)
{
	if (w->core->state == XW_BARRIER)
		return sync_released(w);
	return w->core->state == XW_RUN;
}

static void limit_reached(struct xwave *w)
{
	uint32_t at = w->core->last_back != UINT32_MAX ? w->core->last_back : w->pc;

	core_report(w, at, DIAG_LIMIT, -1, UINT32_MAX, NULL,
		    "the workgroup has executed %llu instructions and this loop has not ended: it seems to be endless",
		    (unsigned long long)w->wg->insns);
	w->wg->cluster->stop = true;
}

static void run_wave(struct xwave *w, unsigned quantum)
{
	struct xcluster *c = w->wg->cluster;
	uint64_t max = c->run->max_insns;

	for (unsigned i = 0; i < quantum && w->core->state == XW_RUN && !c->stop; i++)
		if (step(w) < 0)
			return;
	if (w->wg->insns > max && w->core->state == XW_RUN && !c->stop)
		limit_reached(w);
	if (x_interrupted())
		c->stop = true;
}

static unsigned all_waves(struct xcluster *c, struct xwave **out)
{
	unsigned n = 0;

	for (unsigned g = 0; g < c->n; g++)
		for (unsigned i = 0; i < c->group[g].nwaves; i++)
			out[n++] = &c->group[g].wave[i];
	return n;
}

static void schedule(struct xcluster *c)
{
	struct xwave *wave[X_MAX_CLUSTER * PROG_MAX_WAVES];
	unsigned n = all_waves(c, wave), at = 0, idle = 0, live = n;
	bool random = c->run->o->order == EXEC_RANDOM;

	while (!c->stop && live) {
		struct xwave *w;

		if (random && !idle)
			at = (unsigned)(random_next(&c->seed) % n);
		w = wave[at];
		at = at + 1 < n ? at + 1 : 0;
		if (!runnable(w)) {
			if (++idle > n)
				break;
			continue;
		}
		idle = 0;
		run_wave(w, random ? 1 + (unsigned)(random_next(&c->seed) % RANDOM_QUANTUM) : QUANTUM);
		live -= w->core->state == XW_DONE;
	}
	if (!c->stop && live)
		sync_deadlock(c);
}

/* ---- workgroups ---- */

/* Register files of a thread: cleared and used again for each workgroup. */
static void wave_clear(struct xwave *w, const struct xprog *x)
{
	size_t lane_bytes = w->lanes * sizeof(uint32_t);

	memset(w->v, 0, x->vgprs * lane_bytes);
	memset(w->v + (size_t)REG_AGPR * w->lanes, 0, x->agprs * lane_bytes);
	for (unsigned r = 0; r < x->vgprs; r++)
		w->v_taint[r] = (struct xlanes){ w->all, 0 };
	for (unsigned r = 0; r < x->agprs; r++)
		w->v_taint[REG_AGPR + r] = (struct xlanes){ w->all, 0 };
	memset(w->v_pending, 0, REG_SGPR);
}

static void wave_alloc(struct xwave *w, unsigned lanes)
{
	w->lanes = lanes;
	w->all = lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
	w->v = xcalloc((size_t)REG_SGPR * lanes, sizeof(*w->v));
	w->v_taint = xcalloc(REG_SGPR, sizeof(*w->v_taint));
	w->v_pending = xcalloc(REG_SGPR, 1);
	w->core = xcalloc(1, sizeof(*w->core));
	w->core->saved = xcalloc(4 * (size_t)lanes, sizeof(uint32_t));
}

static void wave_free(struct xwave *w)
{
	free(w->v);
	free(w->v_taint);
	free(w->v_pending);
	if (w->core)
		free(w->core->saved);
	free(w->core);
}

static void group_start(struct xgroup *g)
{
	const struct xrun *r = g->run;
	const struct xprog *x = r->prog;
	unsigned lanes = (unsigned)x->p->target->v.wave_size;

	g->insns = 0;
	g->local = x_local_new(r->mem, g->number, g->nwaves, lanes, r->lds_bytes, x->info->scratch_bytes, g->cluster->site);
	barriers_init(g);
	for (unsigned i = 0; i < g->nwaves; i++) {
		struct xwave *w = &g->wave[i];
		uint32_t *saved;

		if (!w->v)
			wave_alloc(w, lanes);
		w->wg = g;
		w->id = i;
		w->local = g->local;
		saved = w->core->saved;
		*w->core = (struct xcore){ .saved = saved, .last_back = UINT32_MAX, .unknown_run = UINT32_MAX };
		wave_clear(w, x);
		wave_start(w, g);
	}
}

static void place_groups(struct xcluster *c)
{
	const struct xrun *r = c->run;
	uint64_t n = c->number;
	unsigned first[3];

	for (unsigned i = 0; i < 3; i++) {
		first[i] = (unsigned)(n % r->clusters[i]) * r->cluster[i];
		n /= r->clusters[i];
	}
	for (unsigned k = 0; k < c->n; k++) {
		struct xgroup *g = &c->group[k];
		unsigned rest = k;

		g->run = c->run;
		g->cluster = c;
		g->rank = k;
		for (unsigned i = 0; i < 3; i++) {
			g->id[i] = first[i] + rest % r->cluster[i];
			rest /= r->cluster[i];
		}
		g->number = g->id[0] + (uint64_t)r->l->grid[0] * (g->id[1] + (uint64_t)r->l->grid[1] * g->id[2]);
	}
}

void cluster_run(struct xcluster *c, uint64_t number)
{
	struct xlocal *local[X_MAX_CLUSTER];

	c->number = number;
	c->stop = false;
	c->clock = 0;
	c->seed = (c->run->o->seed ^ number * UINT64_C(0x9e3779b97f4a7c15)) | 1;
	place_groups(c);
	for (unsigned i = 0; i < c->n; i++) {
		group_start(&c->group[i]);
		local[i] = c->group[i].local;
	}
	if (c->n > 1)
		x_local_cluster(local, c->n);
	schedule(c);
	c->insns = 0;
	for (unsigned i = 0; i < c->n; i++) {
		c->insns += c->group[i].insns;
		barriers_free(&c->group[i]);
	}
	for (unsigned i = 0; i < c->n; i++)
		x_local_free(local[i]);
	barrier_free(&c->bar);
}

void cluster_init(struct xcluster *c, struct xrun *r, struct exec_site *site)
{
	unsigned threads = r->l->block[0] * r->l->block[1] * r->l->block[2];
	unsigned lanes = (unsigned)r->prog->p->target->v.wave_size;

	*c = (struct xcluster){ .run = r, .site = site, .n = r->cluster[0] * r->cluster[1] * r->cluster[2] };
	for (unsigned i = 0; i < c->n; i++) {
		c->group[i].threads = threads;
		c->group[i].nwaves = (threads + lanes - 1) / lanes;
		c->group[i].wave = xcalloc(c->group[i].nwaves, sizeof(*c->group[i].wave));
	}
}

void cluster_free(struct xcluster *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		for (unsigned k = 0; k < c->group[i].nwaves; k++)
			wave_free(&c->group[i].wave[k]);
		free(c->group[i].wave);
	}
	for (size_t i = 0; i < c->nfindings; i++) {
		free(c->finding[i].text);
		free(c->finding[i].note);
	}
	free(c->finding);
}
