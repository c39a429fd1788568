/*
 * Counters: what is in flight, what a wait retires, and registers that wait for their data.
 *
 * Operations of one counter that complete in order retire oldest first: behind a wait for n at most n of
 * them are left. While one that completes in any order is in flight (scalar loads, flat operations of gfx9)
 * nothing is known before 0: that is how far the manuals vouch for mixtures.
 */
#include "exec_core.h"

#include <stdio.h>

static void mark(struct xwave *w, const struct span *s, int by)
{
	for (unsigned r = s->first; r < s->first + (unsigned)s->n; r++) {
		uint8_t *p = r < REG_SGPR ? &w->v_pending[r] : &w->s_pending[r - REG_SGPR];

		*p = (uint8_t)(*p + by);
	}
}

static void forget_registers(struct xwave *w, struct xflight *f)
{
	for (unsigned i = 0; i < f->n; i++)
		mark(w, &f->dst[i], -1);
	f->n = 0;
}

/* One of f's counters has come so far. true: all of them have. */
static bool passed(struct xwave *w, struct xflight *f, unsigned counter)
{
	if (f->counter == counter + 1)
		f->counter = 0;
	if (f->also == counter + 1)
		f->also = 0;
	w->core->inflight[counter]--;
	w->core->unordered[counter] -= !f->order;
	return !f->counter && !f->also;
}

static void complete(struct xwave *w, struct xflight *f)
{
	forget_registers(w, f);
	if (f->ticket)
		x_race_retire(w, f->ticket);
}

static bool counts_on(const struct xflight *f, unsigned counter)
{
	return f->counter == counter + 1 || f->also == counter + 1;
}

static void retire_to(struct xwave *w, unsigned counter, unsigned n)
{
	unsigned left = w->core->inflight[counter], kept = 0;

	if (left <= n || (n && w->core->unordered[counter]))
		return;
	for (unsigned i = 0; i < w->nflight; i++) {
		struct xflight *f = &w->flight[i];
		bool goes = false;

		if (left > n && counts_on(f, counter)) {
			goes = passed(w, f, counter);
			left--;
		}
		if (goes)
			complete(w, f);
		else if (kept++ != i)
			w->flight[kept - 1] = *f;
	}
	w->nflight = kept;
}

void sync_wait(struct xwave *w, const struct insn *base)
{
	for (unsigned i = 0; i < base->nwait; i++)
		retire_to(w, (unsigned)base->wait[i].counter, base->wait[i].value);
}

static void drop_oldest(struct xwave *w)
{
	struct xflight f = w->flight[0];

	if (f.counter)
		passed(w, &f, f.counter - 1u);
	if (f.also)
		passed(w, &f, f.also - 1u);
	complete(w, &f);
	w->nflight--;
	memmove(&w->flight[0], &w->flight[1], w->nflight * sizeof(w->flight[0]));
}

void sync_make_room(struct xwave *w, const struct xinsn *in)
{
	const struct target *t = x_target(w);
	int counters[2] = { in->base->counter, (int)in->base->also - 1 };

	for (unsigned i = 0; i < 2; i++) {
		unsigned max;

		if (counters[i] < 0)
			continue;
		max = t->counters[counters[i]].max;
		if (max && w->core->inflight[counters[i]] >= max)
			retire_to(w, (unsigned)counters[i], max - 1);
	}
	if (w->nflight == X_MAX_FLIGHT) /* more than any wave can have: its counters are full */
		drop_oldest(w);
}

void sync_issue(struct xwave *w, const struct xinsn *in, uint32_t ticket)
{
	struct xflight *f = &w->flight[w->nflight++];

	*f = (struct xflight){ .insn = in->index, .ticket = ticket, .counter = (uint8_t)(in->base->counter + 1),
			       .also = in->base->also, .order = !(in->flags & XF_ANY_ORDER) };
	if (f->also == f->counter)
		f->also = 0;
	w->core->inflight[f->counter - 1]++;
	w->core->unordered[f->counter - 1] += !f->order;
	if (f->also) {
		w->core->inflight[f->also - 1]++;
		w->core->unordered[f->also - 1] += !f->order;
	}
	for (unsigned i = 0; i < in->nwrite && f->n < ARRAY_LEN(f->dst); i++) {
		if (in->write[i].first >= REG_VCC + 2 && in->write[i].first != REG_M0)
			continue; /* EXEC and SCC do not come from memory */
		f->dst[f->n++] = in->write[i];
		mark(w, &in->write[i], 1);
	}
}

void sync_end(struct xwave *w)
{
	for (unsigned c = 0; c < CTR_COUNT; c++)
		retire_to(w, c, 0);
}

/* ---- poison ---- */

static bool any_pending(const struct xwave *w, const struct span *s)
{
	const uint8_t *p = s->first < REG_SGPR ? w->v_pending + s->first : w->s_pending + (s->first - REG_SGPR);
	unsigned any = 0;

	for (unsigned i = 0; i < s->n; i++)
		any |= p[i];
	return any != 0;
}

static bool overlap(const struct span *a, const struct span *b)
{
	return a->first < b->first + b->n && b->first < a->first + a->n;
}

/* Loads of one counter that complete in order also write their registers in order. */
static bool in_order(const struct xflight *f, const struct xinsn *in)
{
	return f->order && (in->flags & XF_LOAD) && !(in->flags & XF_ANY_ORDER) && in->base->counter >= 0 &&
	       f->counter == in->base->counter + 1 && !f->also && !in->base->also;
}

static void register_name(unsigned r, char buf[16])
{
	if (r < REG_AGPR)
		snprintf(buf, 16, "v%u", r);
	else if (r < REG_SGPR)
		snprintf(buf, 16, "a%u", r - REG_AGPR);
	else if (r < REG_VCC)
		snprintf(buf, 16, "s%u", r - REG_SGPR);
	else
		snprintf(buf, 16, "%s", r == REG_M0 ? "m0" : r < REG_EXEC ? "vcc" : "exec");
}

/* As if the wait that operation at needs were there: one mistake is one finding. */
static void mend_counter(struct xwave *w, unsigned at, unsigned counter)
{
	unsigned younger = 0;

	for (unsigned i = at + 1; i < w->nflight; i++)
		younger += counts_on(&w->flight[i], counter);
	retire_to(w, counter, w->core->unordered[counter] ? 0 : younger);
}

static void mend(struct xwave *w, unsigned at)
{
	struct xflight f = w->flight[at];

	forget_registers(w, &w->flight[at]);
	if (f.counter)
		mend_counter(w, at, f.counter - 1u);
	if (f.also && !f.counter)
		mend_counter(w, at, f.also - 1u);
	else if (f.also) /* the places have changed: all of them */
		retire_to(w, f.also - 1u, 0);
}

static void report_poison(struct xwave *w, const struct xinsn *in, const struct span *s, const struct xflight *f, unsigned k,
			  bool write)
{
	const struct xinsn *load = &w->wg->run->prog->insn[f->insn];
	int c = f->counter ? f->counter - 1 : f->also - 1;
	char name[16];

	register_name(s->first > f->dst[k].first ? s->first : f->dst[k].first, name);
	core_report(w, in->index, DIAG_POISON, -1, f->insn, c >= 0 ? counter_name((enum counter)c) : "",
		    "%s is %s while %s is still in flight", name, write ? "overwritten" : "read", load->base->op);
}

/* The youngest operation that must be waited for and is not: reported and mended. false: there is none. */
static bool poison_once(struct xwave *w, const struct xinsn *in, const struct span *s, bool write)
{
	for (unsigned i = w->nflight; i-- > 0; )
		for (unsigned k = 0; k < w->flight[i].n; k++)
			if (overlap(&w->flight[i].dst[k], s) && !(write && in_order(&w->flight[i], in))) {
				report_poison(w, in, s, &w->flight[i], k, write);
				mend(w, i);
				return true;
			}
	return false;
}

static void poison_span(struct xwave *w, const struct xinsn *in, const struct span *s, bool write)
{
	if (any_pending(w, s))
		while (poison_once(w, in, s, write))
			;
}

static void poison_half(struct xwave *w, const struct xinsn *half, const struct xinsn *in)
{
	(void)half;
	for (unsigned i = 0; i < half->nread; i++)
		poison_span(w, in, &half->read[i], false);
	for (unsigned i = 0; i < half->nwrite; i++)
		poison_span(w, in, &half->write[i], true);
}

void sync_poison(struct xwave *w, const struct xinsn *in)
{
	poison_half(w, in, in);
	if (in->dual)
		poison_half(w, in->dual, in);
}
