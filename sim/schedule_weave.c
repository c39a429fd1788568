/*
 * The order of an interleave: "4m 8(r m) 12(l 4m)".
 *
 *   order = item { blank item }      item = [n] id | [n] "(" order ")"
 *
 * A group is written out once and then copied, so the work is bounded by the text and the result.
 */
#include "schedule_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct weave {
	const struct sched_op *op;
	struct diag *d;
	struct arena *a;
	const char *text;
	size_t at;
	const struct sched_op *ids[MAX_IDS]; /* the first child of each id */
	bool used[MAX_IDS];
	size_t nids;
	uint8_t *seq; /* indices into ids */
	size_t n, cap;
};

static struct loc place(const struct weave *w, size_t from, size_t len)
{
	struct loc l = w->op->order_loc;
	size_t size = strlen(w->text);

	/* A value with entities or line ends in it reads differently from its source text. */
	if (l.end - l.begin != size)
		return l;
	from = from < size ? from : size;
	l.begin += (uint32_t)from;
	if (l.begin + len < l.end)
		l.end = l.begin + (uint32_t)len;
	return l;
}

static bool fail(struct weave *w, size_t from, size_t len, enum diag_code code, const char *text)
{
	diag_add(w->d, place(w, from, len), code, "%s", text);
	return false;
}

static void blanks(struct weave *w)
{
	while (isspace((unsigned char)w->text[w->at]))
		w->at++;
}

static bool collect_ids(struct weave *w)
{
	for (const struct sched_op *c = w->op->children; c; c = c->next) {
		size_t i = 0;

		if (!c->id)
			continue;
		while (i < w->nids && strcmp(w->ids[i]->id, c->id))
			i++;
		if (i < w->nids)
			continue;
		if (w->nids == MAX_IDS) {
			diag_add(w->d, c->loc, DIAG_LIMIT,
				 "an interleave has at most %u different ids", MAX_IDS);
			return false;
		}
		w->ids[w->nids++] = c;
	}
	return true;
}

static bool add(struct weave *w, const uint8_t *from, size_t n, size_t times)
{
	if (n * times > WEAVE_MAX - w->n) {
		diag_add(w->d, w->op->order_loc, DIAG_LIMIT,
			 "the order has more than %d instructions", WEAVE_MAX);
		return false;
	}
	for (size_t i = 0; i < times; i++) {
		memcpy(w->seq + w->n, from, n);
		w->n += n;
	}
	return true;
}

static bool read_number(struct weave *w, size_t *n)
{
	size_t from = w->at;

	*n = 1;
	if (!isdigit((unsigned char)w->text[w->at]))
		return true;
	for (*n = 0; isdigit((unsigned char)w->text[w->at]) && *n <= WEAVE_MAX; w->at++)
		*n = *n * 10 + (size_t)(w->text[w->at] - '0');
	if (*n == 0 || *n > WEAVE_MAX)
		return fail(w, from, w->at - from, DIAG_INTERLEAVE,
			    "a repetition must be 1 to 100000");
	if (isspace((unsigned char)w->text[w->at]) || !w->text[w->at])
		return fail(w, from, w->at - from, DIAG_INTERLEAVE,
			    "a number must stand right before an id or '('");
	return true;
}

static bool read_item_id(struct weave *w, size_t times)
{
	size_t from = w->at, len = 0;
	const char *words[MAX_IDS], *near, *id;
	struct finding *f;

	while (isalnum((unsigned char)w->text[from + len]) ||
	       (w->text[from + len] && strchr("_.-", w->text[from + len])))
		len++;
	if (!len || !isalpha((unsigned char)w->text[from]))
		return fail(w, from, 1, DIAG_INTERLEAVE,
			    w->text[from] == ')' ? "this ')' closes nothing"
						 : "an order is made of ids, numbers, '(' and ')'");
	w->at += len;
	for (size_t i = 0; i < w->nids; i++) {
		uint8_t index = (uint8_t)i;

		words[i] = w->ids[i]->id;
		if (strlen(words[i]) != len || memcmp(words[i], w->text + from, len))
			continue;
		w->used[i] = true;
		return add(w, &index, 1, times);
	}
	id = arena_strndup(w->a, w->text + from, len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES);
	near = nearest(id, words, w->nids);
	f = diag_add(w->d, place(w, from, len), DIAG_NAME,
		     "no instruction of the interleave has the id '%s'", id);
	if (near)
		diag_fix(f, "did you mean '%s'?", near);
	return false;
}

static bool read_items(struct weave *w, unsigned depth);

static bool read_group(struct weave *w, size_t times, unsigned depth)
{
	size_t open = w->at++, from = w->n;

	if (depth == WEAVE_MAX_DEPTH)
		return fail(w, open, 1, DIAG_INTERLEAVE, "groups are nested deeper than 8");
	if (!read_items(w, depth + 1))
		return false;
	if (w->text[w->at] != ')')
		return fail(w, open, 1, DIAG_INTERLEAVE, "this '(' is never closed");
	w->at++;
	if (w->n == from)
		return fail(w, open, w->at - open, DIAG_INTERLEAVE, "a group must not be empty");
	return add(w, w->seq + from, w->n - from, times - 1);
}

static bool read_items(struct weave *w, unsigned depth)
{
	for (blanks(w); w->text[w->at] && (depth == 0 || w->text[w->at] != ')'); blanks(w)) {
		size_t times;

		if (!read_number(w, &times))
			return false;
		if (!(w->text[w->at] == '(' ? read_group(w, times, depth) : read_item_id(w, times)))
			return false;
	}
	return true;
}

static bool check_used(struct weave *w)
{
	for (size_t i = 0; i < w->nids; i++) {
		if (w->used[i])
			continue;
		diag_note(diag_add(w->d, w->op->order_loc, DIAG_INTERLEAVE,
				   "the order never uses '%s'", w->ids[i]->id),
			  w->ids[i]->loc, "'%s' is here", w->ids[i]->id);
		return false;
	}
	return true;
}

size_t schedule_weave(const struct sched_op *interleave, struct arena *a,
		      const struct sched_op ***out, struct diag *d)
{
	struct weave w = {.op = interleave, .d = d, .a = a, .text = interleave->order};
	const struct sched_op **seq;
	bool good;

	if (!collect_ids(&w))
		return 0;
	w.seq = xmalloc(WEAVE_MAX);
	good = read_items(&w, 0);
	if (good && !w.n)
		good = fail(&w, 0, 1, DIAG_INTERLEAVE, "the order is empty");
	good = good && check_used(&w);
	if (!good) {
		free(w.seq);
		return 0;
	}
	seq = arena_alloc(a, w.n, sizeof(*seq));
	for (size_t i = 0; i < w.n; i++)
		seq[i] = w.ids[w.seq[i]];
	free(w.seq);
	*out = seq;
	return w.n;
}
