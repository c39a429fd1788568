/* Launches: workgroups over threads, and what is found in the order of the workgroups. */
#include "exec.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "exec_core.h"

#define DEFAULT_MAX_INSNS UINT64_C(1000000000)
#define MAX_THREADS 256

static volatile sig_atomic_t interrupted;

void exec_interrupt(void)
{
	interrupted = 1;
}

bool x_interrupted(void)
{
	return interrupted != 0;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- threads ---- */

/* Keep the findings of a cluster; the lowest one that has some is the one that counts. */
static void hand_over(struct xrun *r, struct xcluster *c)
{
	struct xcluster_result *to;
	uint64_t failed = atomic_load(&r->failed);

	while (c->number < failed && !atomic_compare_exchange_weak(&r->failed, &failed, c->number))
		;
	pthread_mutex_lock(&r->lock);
	r->results = xgrow(r->results, r->nresults, &r->capresults, sizeof(*r->results));
	to = &r->results[r->nresults++];
	*to = (struct xcluster_result){ c->finding, c->nfindings, c->number };
	pthread_mutex_unlock(&r->lock);
	c->finding = NULL;
	c->nfindings = c->capfindings = 0;
}

static void add_counts(struct xrun *r, const struct xcluster *c, uint64_t insns)
{
	pthread_mutex_lock(&r->lock);
	r->insns += insns;
	for (size_t i = 0; i < r->prog->p->ninsns; i++) {
		struct exec_site *to = &r->site[i];
		const struct exec_site *from = &c->site[i];

		to->executed += from->executed;
		to->taken += from->taken;
		to->lds_clk += from->lds_clk;
		to->lds_clk_free += from->lds_clk_free;
		to->worst_lds_clk = from->worst_lds_clk > to->worst_lds_clk ? from->worst_lds_clk : to->worst_lds_clk;
		to->unknown_addresses += from->unknown_addresses;
	}
	pthread_mutex_unlock(&r->lock);
}

static bool wanted(const struct xrun *r, uint64_t cluster)
{
	uint64_t at = r->o->only_workgroup, n = 0, scale = 1;

	if (!r->o->only)
		return true;
	for (unsigned i = 0; i < 3; i++) { /* the cluster that it is in */
		n += at % r->l->grid[i] / r->cluster[i] * scale;
		at /= r->l->grid[i];
		scale *= r->clusters[i];
	}
	return n == cluster;
}

static void *worker(void *arg)
{
	struct xrun *r = arg;
	struct exec_site *site = xcalloc(r->prog->p->ninsns, sizeof(*site));
	uint64_t insns = 0, number;
	struct xcluster c;

	cluster_init(&c, r, site);
	/* Clusters are taken in order: all below the lowest one with a finding are executed. */
	while ((number = atomic_fetch_add(&r->next, 1)) < r->nclusters) {
		uint64_t done;

		if (number > atomic_load(&r->failed) || interrupted)
			break;
		if (!wanted(r, number))
			continue;
		cluster_run(&c, number);
		insns += c.insns;
		if (c.nfindings)
			hand_over(r, &c);
		done = atomic_fetch_add(&r->done, 1) + 1;
		if (r->o->on_progress)
			r->o->on_progress(r->o->ctx, done * c.n, r->nclusters * c.n);
	}
	add_counts(r, &c, insns);
	cluster_free(&c);
	free(site);
	return NULL;
}

static unsigned thread_count(const struct xrun *r)
{
	long n = r->o->threads ? (long)r->o->threads : sysconf(_SC_NPROCESSORS_ONLN);

	if (n < 1 || r->o->only)
		n = 1;
	if (n > MAX_THREADS)
		n = MAX_THREADS;
	return (uint64_t)n > r->nclusters ? (unsigned)r->nclusters : (unsigned)n;
}

static void run_threads(struct xrun *r)
{
	pthread_t thread[MAX_THREADS];
	unsigned n = thread_count(r), started = 0;

	for (; started + 1 < n; started++)
		if (pthread_create(&thread[started], NULL, worker, r) != 0)
			break; /* fewer do it too */
	worker(r);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

/* ---- findings ---- */

static size_t report_lowest(const struct xrun *r, struct diag *d)
{
	const struct xcluster_result *lowest = NULL;
	const struct program *p = r->prog->p;

	for (size_t i = 0; i < r->nresults; i++)
		if (!lowest || r->results[i].number < lowest->number)
			lowest = &r->results[i];
	for (size_t i = 0; lowest && i < lowest->n; i++) {
		const struct xfinding *x = &lowest->finding[i];
		struct finding *f = diag_add(d, p->insns[x->insn].loc, x->code, "%s", x->text);

		if (x->code == DIAG_POISON) {
			diag_note(f, p->insns[x->note_insn].loc, "the operation is issued here, and no wait on counter %s has covered it",
				  x->note);
			diag_fix(f, "wait on counter %s in front of this instruction", x->note);
		} else if (x->note_insn != UINT32_MAX && x->note) {
			diag_note(f, p->insns[x->note_insn].loc, "%s", x->note);
		}
	}
	return lowest ? lowest->n : 0;
}

static void results_free(struct xrun *r)
{
	for (size_t i = 0; i < r->nresults; i++) {
		for (size_t k = 0; k < r->results[i].n; k++) {
			free(r->results[i].finding[k].text);
			free(r->results[i].finding[k].note);
		}
		free(r->results[i].finding);
	}
	free(r->results);
}

/* ---- the whole ---- */

static void launch(struct xrun *r, struct exec_result *out, struct diag *d, size_t *findings)
{
	double start = now_s();

	r->max_insns = r->o->max_insns ? r->o->max_insns : DEFAULT_MAX_INSNS;
	atomic_init(&r->next, 0);
	atomic_init(&r->done, 0);
	atomic_init(&r->failed, UINT64_MAX);
	r->site = out->site = xcalloc(r->prog->p->ninsns, sizeof(*out->site));
	pthread_mutex_init(&r->lock, NULL);
	run_threads(r);
	pthread_mutex_destroy(&r->lock);
	out->insns = r->insns;
	out->seconds = now_s() - start;
	*findings += report_lowest(r, d);
	*findings += x_race_report(r->mem, d);
	if (interrupted && !*findings) {
		diag_add(d, r->prog->p->insns[0].loc, DIAG_LIMIT, "the execution was interrupted before its end");
		*findings = 1;
	}
	results_free(r);
}

int exec_run(const struct program *p, const struct listing_info *info, struct exec_launch *l, const struct exec_options *o,
	     struct exec_result *out, struct diag *d)
{
	static const struct exec_options none = { 0 };
	struct xprog prog;
	struct xrun r = { .prog = &prog, .o = o ? o : &none, .l = l };
	size_t findings = 0;

	*out = (struct exec_result){ 0 };
	if (xprog_prepare(&prog, p, info, d) < 0 || launch_prepare(&r, d) < 0)
		findings = 1;
	else
		launch(&r, out, d, &findings);
	launch_finish(&r);
	xprog_free(&prog);
	return findings ? -1 : 0;
}

void exec_result_free(struct exec_result *r)
{
	free(r->site);
	*r = (struct exec_result){ 0 };
}
