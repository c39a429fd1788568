/* Nops that the target's software spacing rows ask for. */
#include "lower_internal.h"
#include "spacing.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LOOK_BACK 512u

static const struct loop *loop_around(const struct program *p, uint32_t i)
{
	for (size_t l = 0; l < p->nloops; l++)
		if (i >= p->loops[l].begin && i < p->loops[l].end)
			return &p->loops[l];
	return NULL;
}

/* Only there can an instruction of the trip before still be too close. */
static bool near_head(const struct program *p, uint32_t i)
{
	const struct loop *l = loop_around(p, i);

	return l && i - l->begin < MAX_LOOK_BACK;
}

struct spaces { /* what the search needs again and again */
	struct spacing_table *table;
	uint64_t *words;            /* of each instruction */
	unsigned reach[OPC_COUNT][OPC_COUNT];
	unsigned second[OPC_COUNT]; /* the largest over all first ones */
};

static bool share_register(const struct insn *a, const struct insn *b)
{
	for (unsigned i = 0; i < a->nspans; i++)
		for (unsigned k = 0; k < b->nspans; k++)
			if (a->span[i].first < b->span[k].first + b->span[k].n && b->span[k].first < a->span[i].first + a->span[i].n)
				return true;
	return false;
}

/* Wait states that must lie between instructions a and b. */
static unsigned needed(const struct program *p, const struct spaces *s, uint32_t a, uint32_t b)
{
	const struct insn *first = &p->insns[a], *second = &p->insns[b];
	unsigned passes = first->matrix ? first->matrix->passes : 0;
	bool any = false;
	const struct spacing_row *row;

	if (!spacing_table_reach(s->table, s->words[a], passes, s->words[b], &any) || (!any && !share_register(first, second)))
		return 0;
	row = spacing_table_row(s->table, first, s->words[a], second, s->words[b], false, (struct spacing_hidden){ 0, 0 });
	return row ? row->states : 0;
}

/* Wait states missing in front of i for waves of group g, seen along one way into it. */
static unsigned missing(struct lower *lw, uint32_t i, unsigned g, bool back_edge, const unsigned *extra,
			const struct spaces *s)
{
	const struct program *p = lw->p;
	const struct loop *l = loop_around(p, i);
	unsigned states = extra[i], worst = 0;
	enum opclass second = p->insns[i].cls;
	uint32_t at = i;

	for (unsigned n = 0; n < MAX_LOOK_BACK && states < s->second[second]; n++) {
		const struct insn *in;
		unsigned need;

		if (back_edge && l && at == l->begin) {
			at = l->end;
			back_edge = false;
		}
		if (at == 0)
			break;
		in = &p->insns[--at];
		if (!(in->groups >> g & 1))
			continue;
		need = s->reach[in->cls][second] > states ? needed(p, s, at, i) : 0;
		if (need > states && need - states > worst)
			worst = need - states;
		states += spacing_supplied(lw->t, in) + extra[at];
	}
	return worst;
}

static void prepare(const struct lower *lw, struct spaces *s)
{
	memset(s, 0, sizeof(*s));
	s->table = spacing_table_new(lw->t);
	s->words = xcalloc(lw->p->ninsns + 1, sizeof(*s->words));
	for (size_t i = 0; i < lw->p->ninsns; i++)
		s->words[i] = spacing_words_of(&lw->p->insns[i]);
	spacing_class_reach(lw->t, s->reach);
	for (unsigned a = 0; a < OPC_COUNT; a++)
		for (unsigned b = 0; b < OPC_COUNT; b++)
			if (s->reach[a][b] > s->second[b])
				s->second[b] = s->reach[a][b];
}

static void add_nop(struct lower *lw, struct insertion *ins, uint32_t before, unsigned states)
{
	const struct insn *in = &lw->p->insns[before];
	bool gfx9 = lw->lanes == 64;

	memset(ins, 0, sizeof(*ins));
	ins->before = before;
	ins->insn = (struct insn){ .cls = gfx9 ? OPC_NOP : OPC_VALU, .op = gfx9 ? "s_nop" : "v_nop", .groups = in->groups,
				   .flags = (uint8_t)(INSN_IMPLIED | (in->flags & (INSN_EDGE_ONLY | INSN_EDGE_ABSENT))),
				   .size = 4, .counter = -1, .imm = (uint8_t)states, .repeat = 1, .access = -1,
				   .stage = in->stage, .loop = -1, .loc = in->loc };
}

int waits_spacing(struct lower *lw)
{
	const struct program *p = lw->p;
	unsigned *extra = xcalloc(p->ninsns + 1, sizeof(*extra));
	struct spaces s;
	unsigned most = lw->lanes == 64 ? 8 : 1; /* states of one nop */
	struct insertion *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	prepare(lw, &s);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < p->ninsns; i++) {
			unsigned worst = 0;

			if (pass && !near_head(p, i))
				continue;
			for (unsigned g = 0; g < lw->s->groups; g++) {
				unsigned m = p->insns[i].groups >> g & 1 ? missing(lw, i, g, pass == 1, extra, &s) : 0;

				if (m > worst)
					worst = m;
			}
			extra[i] += worst;
		}
	for (uint32_t i = 0; i < p->ninsns; i++)
		for (unsigned left = extra[i]; left; ) {
			unsigned k = left > most ? most : left;

			list = xgrow(list, n, &cap, sizeof(*list));
			add_nop(lw, &list[n++], i, k);
			left -= k;
		}
	rc = insert_insns(lw, list, n);
	spacing_table_free(s.table);
	free(s.words);
	free(list);
	free(extra);
	return rc;
}
