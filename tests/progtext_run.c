/* A printed program executed: findings, and the values that it leaves. */
#include "progtext_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- running it ---- */

/* Each accumulator got each K-step equally often, in every lane. */
static bool sum_right(const struct progtext *t, const struct progtext_sum *s, unsigned w, const uint32_t *row)
{
	uint64_t times = t->ksteps ? s->ops[w] / t->ksteps : 0;
	uint32_t want = 0;

	if (s->ops[w] != times * t->ksteps)
		return false;
	for (uint64_t k = 0; k < t->ksteps; k++)
		want += pt_hash((int64_t)k);
	want *= (uint32_t)times;
	for (unsigned l = 0; l < t->lanes; l++)
		if (row[l] != want)
			return false;
	return true;
}

static void judge(const struct progtext *t, const uint32_t *out, const uint32_t *scratch, struct progtext_verdict *v)
{
	for (size_t i = 0; i < t->nstores; i++)
		for (uint32_t k = 0; k < t->store[i].bytes / 4; k++)
			v->stale = v->stale || scratch[t->store[i].at / 4 + k] != t->store[i].tag;
	for (unsigned w = 0; w < t->waves; w++) {
		const uint32_t *row = out + (size_t)w * (1 + t->nsums) * t->lanes; /* of a workgroup */

		for (unsigned l = 0; l < t->lanes; l++)
			v->stale = v->stale || row[l];
		for (size_t k = 0; k < t->nsums; k++)
			v->sums = v->sums || !sum_right(t, &t->sum[k], w, row + (k + 1) * t->lanes);
	}
}

static const struct progtext_line *line_at(const struct progtext *t, struct loc loc)
{
	static const struct progtext_line none;
	unsigned at = loc_line(loc);

	return at && at <= t->nlines ? &t->lds[at - 1] : &none;
}

static bool of_one_tile(const struct finding *f, void *ctx)
{
	const struct progtext_line *a, *b;

	if (f->code != DIAG_RACE || f->nnotes != 1)
		return false;
	a = line_at(ctx, f->loc);
	b = line_at(ctx, f->notes[0].loc);
	return a->tag && a->tag == b->tag && (a->again || b->again);
}

static void take_findings(const struct progtext *t, struct diag *d, struct progtext_verdict *v)
{
	size_t before = d->n;
	unsigned at;

	diag_drop_if(d, of_one_tile, (void *)(uintptr_t)t);
	v->findings = d->n;
	v->harmless = before - d->n;
	if (!d->n)
		return;
	at = loc_line(d->list[0].loc);
	v->first = d->list[0].code;
	v->insn = at && at <= t->nlines ? t->line_insn[at - 1] : NONE;
}

struct progtext_verdict progtext_run(const struct program *p, const struct progtext *t, const struct target *machine,
				     const struct exec_options *o, struct diag *d, struct src **src)
{
	struct progtext_verdict v = { .insn = NONE }; /* d is empty */
	struct listing_options lo = { .keep_operands = true, .waves = t->waves };
	struct listing_info info = { 0 };
	struct exec_result r = { 0 };
	unsigned groups = t->cluster;
	uint32_t *out = xcalloc(groups * t->out_bytes / 4 + 1, 4), *scratch = xcalloc(groups * t->scratch_bytes / 4 + 4, 4);
	struct exec_buffer b[3] = {
		{ .data = t->data, .bytes = t->data_bytes, .initialised = true },
		{ .data = out, .bytes = groups * t->out_bytes, .initialised = true, .writable = true },
		{ .data = scratch, .bytes = groups * t->scratch_bytes + 16, .initialised = true, .writable = true },
	};
	uint64_t args[3] = { 0 };
	struct exec_launch l = { .grid = { groups, 1, 1 }, .cluster = { groups, 1, 1 },
				 .block = { t->waves * t->lanes, 1, 1 }, .buffers = b, .nbuffers = 3, .kernarg = args,
				 .kernarg_bytes = sizeof(args), .npatches = 3,
				 .patch = { { 0, 0 }, { 8, 1 }, { 16, 2 } } };
	struct target part = *machine;
	struct src *s = src_from_text("program.s", t->text, strlen(t->text));
	struct program *q;

	memcpy(part.counters, p->target->counters, sizeof(part.counters));
	q = listing_parse(s, &part, &lo, &info, d);
	if (q) {
		info.lds_bytes = t->lds_bytes;
		info.launch.described = info.launch.kernarg_ptr = true;
		info.launch.kernarg_bytes = sizeof(args);
		exec_run(q, &info, &l, o, &r, d);
		v.ran = r.insns > 0;
		v.executed = r.insns;
		exec_result_free(&r);
	}
	take_findings(t, d, &v);
	for (unsigned g = 0; v.ran && t->values && g < groups; g++)
		judge(t, out + g * t->out_bytes / 4, scratch + g * t->scratch_bytes / 4, &v);
	program_free(q);
	if (src)
		*src = s;
	else
		src_free(s);
	free(out);
	free(scratch);
	return v;
}
