/* Any bytes give samples, a trace and evidence whose every part is in its range, or at least one finding. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "rocprof.h"
#include "samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                           \
	do {                                                                                 \
		if (!(what)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static struct src *source(const uint8_t *data, size_t size)
{
	return src_from_text("fuzz", (const char *)data, size);
}

static void check_loc(struct loc l, const struct src *s)
{
	MUST(l.src == s && l.begin <= l.end && l.end <= s->len);
}

static void check_findings(const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++)
		MUST(!d->list[i].loc.src || (d->list[i].loc.begin <= d->list[i].loc.end && d->list[i].loc.end <= d->list[i].loc.src->len));
}

/* What was read is written and read again as the same. */
static void check_sample(const struct sample *s)
{
	struct strbuf b = { 0 };
	struct samples again;
	struct diag d;

	MUST(*s->kernel && *s->hash && *s->target && *s->backend && *s->device && *s->result && s->repeats >= 1);
	MUST(isfinite(s->loop_clk) && s->loop_clk >= 0 && isfinite(s->clk_per_step) && isfinite(s->time_us) && s->clock_mhz >= 0);
	sample_print(&b, s);
	diag_init(&d);
	MUST(samples_parse(&again, src_from_text("again", b.s, b.len), &d) == 0 && again.n == 1);
	MUST(again.list[0].loop_clk == s->loop_clk && again.list[0].nstages == s->nstages && again.list[0].trips == s->trips);
	MUST(strcmp(again.list[0].kernel, s->kernel) == 0 && strcmp(again.list[0].device, s->device) == 0);
	samples_free(&again);
	diag_free(&d);
	strbuf_free(&b);
}

static void as_samples(const uint8_t *data, size_t size)
{
	struct src *s = source(data, size);
	struct samples all;
	struct diag d;
	int rc;

	diag_init(&d);
	rc = samples_parse(&all, s, &d);
	MUST((rc == 0) == (d.errors == 0));
	for (size_t i = 0; i < all.n; i++) {
		check_loc(all.list[i].loc, s);
		check_sample(&all.list[i]);
	}
	check_findings(&d);
	samples_free(&all);
	diag_free(&d);
}

static void as_trace(const uint8_t *data, size_t size)
{
	struct src *s = source(data, size);
	struct trace t;
	struct diag d;
	int rc;

	diag_init(&d);
	rc = trace_parse(&t, s, &d);
	MUST((rc == 0) == (d.errors == 0));
	MUST(rc != 0 || t.ninsns + t.ndispatches > 0);
	for (size_t i = 0; i < t.ninsns; i++) {
		check_loc(t.insn[i].loc, s);
		MUST(t.insn[i].text && t.insn[i].hits >= 0 && t.insn[i].latency_clk >= 0 && t.insn[i].stall_clk >= 0);
	}
	for (size_t i = 0; i < t.ndispatches; i++)
		MUST(t.dispatch[i].kernel && t.dispatch[i].ns >= 0);
	check_findings(&d);
	trace_free(&t);
	diag_free(&d);
}

static void as_evidence(const uint8_t *data, size_t size)
{
	struct evidence e = { 0 };
	struct diag d;
	int rc;

	diag_init(&d);
	rc = evidence_parse(&e, source(data, size), &d);
	MUST((rc == 0) == (d.errors == 0));
	for (size_t i = 0; i < e.n; i++)
		MUST(e.row[i].id && e.row[i].note && e.row[i].value >= 0);
	check_findings(&d);
	evidence_free(&e);
	diag_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Sources never hold a NUL: src_load refuses such files. */
	if (size > 65536 || memchr(data, 0, size))
		return 0;
	as_samples(data, size);
	as_trace(data, size);
	as_evidence(data, size);
	return 0;
}
