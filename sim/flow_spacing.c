/*
 * Missing wait states on every path.
 *
 * From each instruction that some row names as second, walk backwards over all paths, counting wait
 * states, as far as any row reaches. Instructions fall into few kinds (same words of the spacing
 * table, same passes); how far a pair of kinds reaches is computed once, and two 64-bit summaries
 * of the registers keep most pairs from being looked at closely.
 */
#include "flow_internal.h"
#include "spacing.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KINDS 1024u
#define CLOSE_LOOK 6u /* what a look at all rows costs, in instructions passed by */

struct kind {
	uint64_t words;
	unsigned passes;
	unsigned reach_first, reach_second; /* farthest that any row with it on that side reaches */
};

struct pair { /* of kinds */
	bool known, any;
	uint8_t reach;
};

struct item {			/* one instruction */
	uint64_t reads, writes; /* summaries: one bit stands for several registers */
	uint32_t prev;		/* earlier instruction of the block that matters, FLOW_NONE */
	uint16_t kind;
	uint8_t states; /* that it supplies */
	uint8_t extra;	/* mended in front of it */
};

#define MEMO_SIZE 256u
struct memo { /* instructions alike in all that their kind depends on */
	const char *op, *mods;
	const struct matrix_row *matrix;
	unsigned features;
	uint16_t kind;
};

struct path { /* from an instruction back to the one that needs distance */
	unsigned states;
	bool dgemm;    /* a f64 matrix op lies on it */
	uint8_t below; /* matrix ops of this class and above are hidden, see spacing_class() */
	struct spacing_hidden hide; /* of the one that needs distance */
};

struct step { /* to be walked: a block from its end */
	uint32_t block;
	struct path path;
};

struct seen { /* an arrival at a block's end in the walk numbered stamp that leaves nothing to a
		 later one */
	uint32_t stamp;
	struct path path;
};

struct scan {
	const struct program *p;
	struct spacing_table *tab;
	struct flow_graph g;
	struct item *items;
	struct memo memo[MEMO_SIZE];
	uint32_t *last; /* per block: last instruction that matters, FLOW_NONE */
	struct kind kinds[MAX_KINDS];
	unsigned nkinds;
	struct pair *pairs;	/* [first * MAX_KINDS + second] */
	struct seen (*seen)[2]; /* per block; [1]: a f64 matrix op lies behind */
	struct step *todo;
	size_t ntodo, captodo;
	uint32_t stamp;
	uint64_t budget; /* instructions that may still be looked at */
};

/* Registers as bits, four neighbours to a bit; other registers than v and a share the top four
 * bits. */
static uint64_t summary(const struct span *s)
{
	uint64_t bits = 0;
	unsigned end = s->first + (unsigned)s->n;

	if (s->first >= REG_SGPR)
		return (uint64_t)1 << 63;
	if (s->n > 240)
		return UINT64_MAX;
	for (unsigned r = s->first & ~3u; r < end; r += 4)
		bits |= (uint64_t)1 << (r / 4 % 63);
	return bits;
}

/* What words depend on besides name, modifiers and matrix row. */
static unsigned features_of(const struct insn *in)
{
	unsigned bits = (unsigned)in->cls << 4;

	for (unsigned k = 0; k < in->nspans; k++) {
		unsigned first = in->span[k].first, end = first + in->span[k].n;

		if (in->role[k] == ROLE_DST)
			bits |= (first < REG_M0 && end > REG_EXEC ? 1u : 0) |
				(first <= REG_M0 && end > REG_M0 ? 2u : 0);
		else
			bits |= (in->role[k] == ROLE_DATA && in->span[k].n > 2 ? 4u : 0) |
				(first >= REG_SGPR && in->span[k].n == 1 ? 8u : 0);
	}
	return bits;
}

static uint16_t new_kind(struct scan *s, const struct insn *in);

static uint16_t kind_of(struct scan *s, const struct insn *in)
{
	unsigned features = features_of(in);
	const char *mods = in->cls == OPC_VALU || in->cls == OPC_TRANS || in->cls == OPC_PACKED
				   ? in->mods
				   : NULL;
	struct memo *m = &s->memo[((uintptr_t)in->op >> 3 ^ (uintptr_t)in->matrix >> 4 ^ features) %
				  MEMO_SIZE];

	if (in->op && m->op == in->op && m->mods == mods && m->matrix == in->matrix &&
	    m->features == features)
		return m->kind;
	*m = (struct memo){in->op, mods, in->matrix, features, new_kind(s, in)};
	return m->kind;
}

static uint16_t new_kind(struct scan *s, const struct insn *in)
{
	uint64_t words = spacing_words_of(in);
	unsigned passes = in->matrix ? in->matrix->passes : 0;
	struct kind *k;
	bool any;

	for (unsigned i = s->nkinds; i-- > 0;)
		if (s->kinds[i].words == words && s->kinds[i].passes == passes)
			return (uint16_t)i;
	if (s->nkinds == MAX_KINDS)
		return MAX_KINDS - 1;
	k = &s->kinds[s->nkinds];
	k->words = words;
	k->passes = passes;
	k->reach_first = spacing_table_reach(s->tab, words, passes, UINT64_MAX, &any);
	k->reach_second = spacing_table_reach(s->tab, UINT64_MAX, 0, words, &any);
	return (uint16_t)s->nkinds++;
}

/* passes of 0 in spacing_table_reach leaves out rows of certain passes, so ask for all that occur.
 */
static void widen_reaches(struct scan *s)
{
	for (unsigned b = 0; b < s->nkinds; b++)
		for (unsigned a = 0; a < s->nkinds; a++) {
			bool any;
			unsigned r =
				spacing_table_reach(s->tab, s->kinds[a].words, s->kinds[a].passes,
						    s->kinds[b].words, &any);

			s->pairs[a * MAX_KINDS + b] =
				(struct pair){true, any, (uint8_t)(r > UINT8_MAX ? UINT8_MAX : r)};
			if (r > s->kinds[b].reach_second)
				s->kinds[b].reach_second = r;
		}
}

static void prepare_item(struct scan *s, uint32_t i)
{
	const struct insn *in = &s->p->insns[i];
	struct item *it = &s->items[i];
	unsigned states = spacing_supplied(s->p->target, in);

	it->states = (uint8_t)(states > UINT8_MAX ? UINT8_MAX : states);
	it->kind = kind_of(s, in);
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == ROLE_DST)
			it->writes |= summary(&in->span[k]);
		else
			it->reads |= summary(&in->span[k]);
}

static void chain(struct scan *s)
{
	for (uint32_t b = 0; b < s->g.nblocks; b++) {
		uint32_t last = FLOW_NONE;

		for (uint32_t i = s->g.blocks[b].begin; i < s->g.blocks[b].end; i++) {
			const struct kind *k = &s->kinds[s->items[i].kind];

			s->items[i].prev = last;
			if (s->items[i].states || k->reach_first || k->reach_second)
				last = i;
		}
		s->last[b] = last;
	}
}

static void consider(struct scan *s, uint32_t first, uint32_t second, struct path *path,
		     struct flow_need *worst)
{
	const struct item *a = &s->items[first], *b = &s->items[second];
	const struct insn *x = &s->p->insns[first], *y = &s->p->insns[second];
	const struct pair *pair = &s->pairs[a->kind * MAX_KINDS + b->kind];
	bool touch = (a->writes & (b->reads | b->writes)) || (a->reads & b->writes);
	const struct spacing_row *row = NULL;
	uint8_t class = x->cls == OPC_MATRIX ? spacing_class(s->p->target, x) : UINT8_MAX;

	if (pair->reach && pair->reach >= path->states && (pair->any || touch) &&
	    (class == UINT8_MAX || class < path->below)) {
		s->budget -= s->budget < CLOSE_LOOK ? s->budget : CLOSE_LOOK;
		row = spacing_table_row(s->tab, x, s->kinds[a->kind].words, y,
					s->kinds[b->kind].words, path->dgemm, path->hide);
	}
	if (row && row->states >= path->states && class < path->below)
		path->below = (uint8_t)(class + 1);
	if (row && row->states > path->states && row->states - path->states > worst->missing) {
		worst->because = first;
		worst->row = row;
		worst->required = row->states;
		worst->missing = row->states - path->states;
	}
	if (touch && x->cls == OPC_MATRIX) {
		struct spacing_hidden hide = spacing_hides(s->p->target, x, y);

		path->hide.written |= hide.written;
		path->hide.read |= hide.read;
	}
}

/* Whatever is behind a place, does the path a find at least what the path b finds there? */
static bool covers(const struct path *a, const struct path *b)
{
	return a->states <= b->states && a->dgemm >= b->dgemm && a->below >= b->below &&
	       !(a->hide.written & ~b->hide.written) && !(a->hide.read & ~b->hide.read);
}

static void push_preds(struct scan *s, uint32_t block, const struct path *path)
{
	const struct flow_block *k = &s->g.blocks[block];

	for (uint32_t i = 0; i < k->npreds; i++) {
		uint32_t pred = s->g.preds[k->first_pred + i];
		struct seen *seen = &s->seen[pred][path->dgemm];

		if (seen->stamp == s->stamp && covers(&seen->path, path))
			continue;
		*seen = (struct seen){s->stamp, *path};
		s->todo = xgrow(s->todo, s->ntodo, &s->captodo, sizeof(*s->todo));
		s->todo[s->ntodo++] = (struct step){pred, *path};
	}
}

/* Walk a block backwards from instruction at; false when the budget is spent. */
static bool walk(struct scan *s, uint32_t second, uint32_t block, uint32_t at, struct path path,
		 struct flow_need *worst)
{
	unsigned reach = s->kinds[s->items[second].kind].reach_second;

	for (; at != FLOW_NONE && path.states < reach; at = s->items[at].prev) {
		if (s->budget-- == 0)
			return false;
		consider(s, at, second, &path, worst);
		path.dgemm = path.dgemm || spacing_is_dgemm(s->kinds[s->items[at].kind].words);
		path.states += s->items[at].states + (unsigned)s->items[at].extra;
	}
	if (path.states < reach)
		push_preds(s, block, &path);
	return true;
}

static bool find_worst(struct scan *s, uint32_t second, struct flow_need *worst)
{
	memset(worst, 0, sizeof(*worst));
	s->stamp++;
	s->ntodo = 0;
	if (!walk(s, second, s->g.block_of[second], s->items[second].prev,
		  (struct path){.below = UINT8_MAX}, worst))
		return false;
	while (s->ntodo) {
		struct step step = s->todo[--s->ntodo];

		if (!walk(s, second, step.block, s->last[step.block], step.path, worst))
			return false;
	}
	return true;
}

static void scan_init(struct scan *s, const struct program *p)
{
	s->p = p;
	s->tab = spacing_table_new(p->target);
	flow_graph_build(p, &s->g);
	s->items = xcalloc(p->ninsns + 1, sizeof(*s->items));
	s->last = xcalloc(s->g.nblocks + 1u, sizeof(*s->last));
	s->seen = xcalloc(s->g.nblocks + 1u, sizeof(*s->seen));
	s->pairs = xcalloc((size_t)MAX_KINDS * MAX_KINDS, sizeof(*s->pairs));
	s->budget = (uint64_t)p->ninsns * 160 + 4000000;
	for (uint32_t i = 0; i < p->ninsns; i++)
		prepare_item(s, i);
	widen_reaches(s);
	chain(s);
}

static void scan_free(struct scan *s)
{
	spacing_table_free(s->tab);
	flow_graph_free(&s->g);
	free(s->items);
	free(s->last);
	free(s->seen);
	free(s->pairs);
	free(s->todo);
	free(s);
}

int flow_spacing(const struct program *p, struct flow_result *out)
{
	struct scan *s = xcalloc(1, sizeof(*s));
	size_t cap = 0;
	int rc = 0;

	memset(out, 0, sizeof(*out));
	scan_init(s, p);
	for (uint32_t i = 0; i < p->ninsns && rc == 0; i++) {
		struct flow_need worst, *need;

		if (!s->kinds[s->items[i].kind].reach_second)
			continue;
		if (!find_worst(s, i, &worst))
			rc = -1;
		if (!worst.missing)
			continue;
		need = flow_need_add(out, &cap);
		*need = worst;
		need->insn = i;
		need->counter = -1;
		s->items[i].extra =
			(uint8_t)(worst.missing > UINT8_MAX ? UINT8_MAX : worst.missing);
	}
	scan_free(s);
	return rc;
}
