/*
 * Address registers: memory instructions whose addresses differ by a constant that fits their immediate
 * offset share one. What the registers hold, the emitter derives again from the same instructions.
 */
#include "address.h"
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FORMS 512u

struct form { /* addresses up to a constant */
	uint32_t waves, most, hash;
	bool lds;
	uint32_t *diff; /* from the first executing lane */
};

struct use {
	uint32_t insn, form, at; /* at: the constant */
	unsigned reg;            /* number in the reserve */
};

struct plan {
	struct form *form;
	struct use *use;
	size_t nform, nuse, cap_form, cap_use;
	unsigned regs;
};

static uint32_t hash_of(const uint32_t *diff, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ diff[i]) * 16777619u;
	return h;
}

/* Addresses of waves that don't execute count as equal to the first one's. */
static uint32_t to_diff(const struct program *p, uint32_t waves, unsigned lanes, uint32_t *at)
{
	uint32_t base = at[(unsigned)__builtin_ctz(waves) * lanes];

	for (unsigned w = 0; w < p->waves; w++)
		for (unsigned l = 0; l < lanes; l++)
			at[w * lanes + l] = waves >> w & 1 ? at[w * lanes + l] - base : 0;
	return base;
}

/* false: too many different ones. */
static bool note(struct plan *pl, const struct program *p, uint32_t i, unsigned lanes, uint32_t *at, uint32_t most)
{
	uint32_t waves = address_waves(p, &p->insns[i]), base = to_diff(p, waves, lanes, at), h, f;
	size_t n = (size_t)p->waves * lanes;
	bool lds = p->insns[i].cls == OPC_LDS_READ || p->insns[i].cls == OPC_LDS_WRITE;

	h = hash_of(at, n);
	for (f = 0; f < pl->nform; f++) {
		const struct form *x = &pl->form[f];

		if (x->hash == h && x->waves == waves && x->most == most && x->lds == lds &&
		    memcmp(x->diff, at, n * sizeof(*at)) == 0)
			break;
	}
	if (f == pl->nform) {
		struct form *x;

		if (f == MAX_FORMS)
			return false;
		pl->form = xgrow(pl->form, pl->nform, &pl->cap_form, sizeof(*pl->form));
		x = &pl->form[pl->nform++];
		*x = (struct form){ waves, most, h, lds, xreallocarray(NULL, n, sizeof(*at)) };
		memcpy(x->diff, at, n * sizeof(*at));
	}
	pl->use = xgrow(pl->use, pl->nuse, &pl->cap_use, sizeof(*pl->use));
	pl->use[pl->nuse++] = (struct use){ i, f, base, 0 };
	return true;
}

static int by_form_and_place(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->form != y->form)
		return x->form < y->form ? -1 : 1;
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static void share(struct plan *pl)
{
	uint32_t low = 0;

	if (pl->nuse)
		qsort(pl->use, pl->nuse, sizeof(*pl->use), by_form_and_place);
	for (size_t i = 0; i < pl->nuse; i++) {
		struct use *u = &pl->use[i];

		if (i == 0 || u->form != u[-1].form || u->at - low > pl->form[u->form].most) {
			low = u->at;
			pl->regs++;
		}
		u->reg = pl->regs - 1;
	}
}

static void set_address(struct insn *in, unsigned reg)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == ROLE_ADDR)
			in->span[i].first = (uint16_t)reg;
}

/* No registers for addresses: the schedule does not account for them. */
static void drop_addresses(struct program *p)
{
	for (size_t i = 0; i < p->ninsns; i++) {
		struct insn *in = &p->insns[i];
		uint8_t n = 0;

		for (uint8_t k = 0; k < in->nspans; k++) {
			if (in->role[k] == ROLE_ADDR)
				continue;
			in->span[n] = in->span[k];
			in->role[n++] = in->role[k];
		}
		in->nspans = n;
	}
}

void addr_plan(struct lower *lw)
{
	struct program *p = lw->p;
	uint32_t *at = xcalloc((size_t)p->waves * lw->lanes, sizeof(*at));
	struct plan pl = { 0 };
	bool ok = lw->reserve_n || p->gemm;

	for (uint32_t i = 0; ok && i < p->ninsns; i++) {
		uint32_t most;

		if (address_table(p, &p->insns[i], at, &most))
			ok = note(&pl, p, i, lw->lanes, at, most);
	}
	if (ok)
		share(&pl);
	/* Where they are too many, registers are taken in turn as before: enough for the time, not for a kernel. */
	if (ok && (pl.regs <= lw->reserve_n || (p->gemm && regs_reserve(lw, pl.regs))))
		for (size_t i = 0; i < pl.nuse; i++)
			set_address(&p->insns[pl.use[i].insn], lw->reserve_first + pl.use[i].reg);
	if (!lw->reserve_n)
		drop_addresses(p);
	for (size_t f = 0; f < pl.nform; f++)
		free(pl.form[f].diff);
	free(pl.form);
	free(pl.use);
	free(at);
}
