#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "engine_head.h"
#include "engine_window.h"
#include "period.h"

static int report_too_long(struct engine *e, uint64_t t)
{
	const struct wave *w = e->waves;

	while (w->ended && w < e->waves + e->nwaves - 1)
		w++;
	if (t > e->max_clk)
		diag_add(e->d, e->p->insns[w->op->insn].loc, DIAG_LIMIT,
			 "the program runs for more than %llu clocks",
			 (unsigned long long)e->max_clk);
	else
		diag_add(e->d, e->p->insns[w->op->insn].loc, DIAG_LIMIT,
			 "the program is too long to be stepped and repeats no state that could be "
			 "skipped (clk %llu reached)", (unsigned long long)t);
	return -1;
}

#define TRACED 0
#define LOOP(name) plain_##name
#include "engine_loop.h"
#undef TRACED
#undef LOOP

#define TRACED 1
#define LOOP(name) traced_##name
#include "engine_loop.h"
#undef TRACED
#undef LOOP

static int run(struct engine *e)
{
	int rc = e->rec || e->cfg->event || e->strict ? traced_run_loop(e) : plain_run_loop(e);

	if (e->cfg->event)
		drain_events(e, true);
	return rc;
}

/* Run once more up to the end of the window, and note what the waves of SIMD 0 did in it. */
static int record(const struct program *p, const struct engine_config *cfg, struct stats *out,
		  struct diag *d)
{
	struct engine_config quiet = *cfg;
	struct engine *e = xcalloc(1, sizeof(*e));
	struct recorder rec = { .out = out, .begin = out->window_begin,
				.end = out->window_begin + out->window_clk };
	int rc;

	quiet.event = NULL;
	*e = (struct engine){ .p = p, .t = p->target, .cfg = &quiet, .d = d, .rec = &rec };
	rc = engine_prepare(e);
	if (rc == 0) {
		e->period = period_new(e, !cfg->no_fast_forward);
		period_limit(e->period, rec.begin);
		rc = run(e);
		record_flush(e, rec.end);
		period_free(e->period);
	}
	engine_release(e);
	free(e);
	return rc;
}

int engine_run(const struct program *p, const struct engine_config *cfg, struct stats *out,
	       struct diag *d)
{
	struct engine *e = xcalloc(1, sizeof(*e));
	int rc;

	memset(out, 0, sizeof(*out));
	*e = (struct engine){ .p = p, .t = p->target, .cfg = cfg, .d = d };
	rc = engine_prepare(e);
	if (rc == 0) {
		e->period = period_new(e, !cfg->no_fast_forward && !cfg->event);
		if (cfg->strict)
			e->strict = strict_new(e);
		rc = run(e);
		account_finish(e, out);
		if (rc == 0)
			window_finish(e, out);
		period_free(e->period);
		free(e->strict);
	}
	engine_release(e);
	free(e);
	if (rc == 0 && cfg->keep_segments)
		rc = record(p, cfg, out, d);
	return rc;
}
