/* The words of the language: which elements and attributes may stand where. */
#include "schedule_internal.h"

#include <ctype.h>
#include <string.h>

const struct vocabulary schedule_vocabulary[EL_COUNT] = {
#define ELEMENT(tail, name, attributes, children) [EL_##tail] = {name, attributes, children},
#include "schedule.def"
#undef ELEMENT
};

static const char *const op_names[OP_KIND_COUNT] = {
#define ELEMENT(tail, name, attributes, children)
#define OP(tail, name, attributes, children) [OP_##tail] = name,
#include "schedule.def"
#undef OP
#undef ELEMENT
};

const char *op_kind_name(enum op_kind k)
{
	return op_names[k];
}

enum element element_of(const struct xml_node *n)
{
	for (int e = 0; e < EL_COUNT; e++)
		if (!strcmp(schedule_vocabulary[e].name, n->name))
			return (enum element)e;
	return EL_NONE;
}

const char *nearest(const char *word, const char *const *words, size_t n)
{
	return strlen(word) <= NAME_MAX_BYTES ? word_nearest(word, words, n) : NULL;
}

const char *clipped(struct reader *r, const char *value)
{
	size_t n = NAME_MAX_BYTES;

	if (strlen(value) <= n)
		return value;
	while (n > 0 && ((unsigned char)value[n] & 0xc0) == 0x80)
		n--;
	return arena_printf(r->a, "%.*s...", (int)n, value);
}

static const struct words *attributes_of(struct reader *r, enum element e)
{
	const char *list = schedule_vocabulary[e].attributes;
	struct words *w = &r->attributes[e];

	if (w->n)
		return w;
	for (; *list && w->n < MAX_WORDS; w->n++) {
		size_t len = strcspn(list, " ");

		w->required[w->n] = list[len - 1] == '!';
		w->word[w->n] = arena_strndup(r->a, list, len - w->required[w->n]);
		list += len + strspn(list + len, " ");
	}
	return w;
}

/* Is word in the list? A trailing ! of a list word does not count. */
static bool list_has(const char *list, const char *word)
{
	size_t want = strlen(word);

	while (*list) {
		size_t len = strcspn(list, " ");
		size_t bare = list[len - 1] == '!' ? len - 1 : len;

		if (bare == want && !memcmp(list, word, want))
			return true;
		list += len + strspn(list + len, " ");
	}
	return false;
}

static bool child_allowed(enum element parent, enum element child)
{
	const char *list = schedule_vocabulary[parent].children;

	if (child >= EL_LOAD && list_has(list, "@op"))
		return true;
	if (child >= EL_LOAD && list_has(list, "@plain"))
		return child != EL_INTERLEAVE && child != EL_FENCE && child != EL_COMMIT;
	return list_has(list, schedule_vocabulary[child].name);
}

#define MAX_LISTED 24

const char *listed(struct reader *r, const char *const *words, size_t n)
{
	struct strbuf b = {0};
	char *text;

	for (size_t i = 0; i < n && i < MAX_LISTED; i++)
		strbuf_add(&b, "%s%s", i == 0 ? "" : i == n - 1 ? " and " : ", ", words[i]);
	if (n > MAX_LISTED)
		strbuf_add(&b, " and %zu more", n - MAX_LISTED);
	text = arena_strdup(r->a, b.s ? b.s : "nothing");
	strbuf_free(&b);
	return text;
}

/* The elements that a child may stand in. */
static const char *parents(struct reader *r, enum element e)
{
	const char *names[EL_COUNT];
	size_t n = 0;

	for (int p = 0; p < EL_COUNT; p++)
		if (child_allowed((enum element)p, e))
			names[n++] = arena_printf(r->a, "<%s>", schedule_vocabulary[p].name);
	return listed(r, names, n);
}

/* vmcnt, tensorcnt: the names of the hardware's waits, where the language says vm, tensor. */
static const char *counter_word(struct reader *r, const char *name)
{
	size_t len = strlen(name);

	if (len < 4 || len > NAME_MAX_BYTES || strcmp(name + len - 3, "cnt"))
		return NULL;
	name = arena_strndup(r->a, name, len - 3);
	for (int c = 0; c < CTR_COUNT; c++)
		if (!strcmp(name, counter_name((enum counter)c)))
			return name;
	return NULL;
}

/* Report an attribute that e does not have and name it as it was meant; false: there is no telling.
 */
static bool correct_attribute(struct reader *r, struct xml_node *n, enum element e,
			      struct xml_attr *at)
{
	const char *near = e == EL_WAIT ? counter_word(r, at->name) : NULL;
	const struct words *w = attributes_of(r, e);
	struct finding *f = diag_add(r->d, at->name_loc, DIAG_ATTR, "<%s> has no attribute '%s'",
				     n->name, clipped(r, at->name));

	/* Past the cap nobody sees it: no time is spent on it. */
	if (r->d->suppressed)
		return false;
	if (!near)
		near = nearest(at->name, w->word, w->n);
	if (near)
		diag_fix(f, "did you mean '%s'?", near);
	else
		diag_fix(f, "leave it out: <%s> takes %s", n->name, listed(r, w->word, w->n));
	if (near && !xml_get(n, near)) {
		at->name = near;
		return true;
	}
	if (r->npatched < MAX_PATCHED)
		r->patched[r->npatched++] = n;
	return false;
}

bool vocabulary_patched(const struct reader *r, const struct xml_node *n)
{
	for (size_t i = 0; i < r->npatched; i++)
		if (r->patched[i] == n)
			return true;
	return false;
}

static void check_attributes(struct reader *r, struct xml_node *n, enum element e)
{
	const struct words *w = attributes_of(r, e);
	size_t kept = 0;

	for (size_t i = 0; i < n->nattrs; i++) {
		struct xml_attr *at = &n->attrs[i];

		if (list_has(schedule_vocabulary[e].attributes, at->name) ||
		    correct_attribute(r, n, e, at))
			n->attrs[kept++] = *at;
	}
	n->nattrs = kept;
	for (size_t i = 0; i < w->n; i++)
		if (w->required[i] && !xml_get(n, w->word[i]))
			diag_add(r->d, n->loc, DIAG_ATTR, "<%s> needs the attribute '%s'", n->name,
				 w->word[i]);
}

/* Report a child that parent does not have and name it as it was meant; EL_NONE: there is no
 * telling. */
static enum element correct_child(struct reader *r, const struct xml_node *parent, enum element pe,
				  struct xml_node *n, enum element e)
{
	struct finding *f;

	if (e != EL_NONE) {
		f = diag_add(r->d, n->loc, DIAG_ELEMENT, "<%s> can't stand inside <%s>", n->name,
			     parent->name);
		if (e != EL_SCHEDULE && !r->d->suppressed)
			diag_fix(f, "it belongs inside %s", parents(r, e));
		return EL_NONE;
	}
	const char *words[EL_COUNT], *near;
	size_t nwords = 0;

	for (int k = 0; k < EL_COUNT; k++)
		if (child_allowed(pe, (enum element)k))
			words[nwords++] = schedule_vocabulary[k].name;
	f = diag_add(r->d, n->loc, DIAG_ELEMENT, "there is no element <%s>", clipped(r, n->name));
	if (r->d->suppressed)
		return EL_NONE;
	near = nearest(n->name, words, nwords);
	if (near)
		diag_fix(f, "did you mean <%s>?", near);
	else
		diag_fix(f, "<%s> takes %s", parent->name, listed(r, words, nwords));
	n->name = near ? near : n->name;
	return element_of(n);
}

static bool blank(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return !*s;
}

static void check_node(struct reader *r, struct xml_node *n, enum element e)
{
	struct xml_node **link = &n->first;

	check_attributes(r, n, e);
	if (e != EL_TITLE && !blank(n->text))
		diag_add(r->d, n->loc, DIAG_ELEMENT, "<%s> has text inside; only <title> may",
			 n->name);
	while (*link) {
		struct xml_node *child = *link;
		enum element ce = element_of(child);

		if (ce == EL_NONE || !child_allowed(e, ce))
			ce = correct_child(r, n, e, child, ce);
		if (ce == EL_NONE) {
			*link = child->next;
			continue;
		}
		check_node(r, child, ce);
		link = &child->next;
	}
}

/* Elements that stand at most once in their parent, and each one's place in it. */
static int rank(enum element e)
{
	switch (e) {
	case EL_TITLE:
		return 0;
	case EL_GEMM:
	case EL_KERNEL:
		return 1;
	case EL_RESERVE:
		return 2;
	case EL_PROLOGUE:
		return 4;
	case EL_LOOP:
		return 5;
	case EL_EPILOGUE:
		return 6;
	default:
		return 3;
	}
}

static bool unique(enum element e)
{
	return e == EL_TITLE || e == EL_GEMM || e == EL_KERNEL || e == EL_RESERVE || e == EL_TILE ||
	       e == EL_WAVES || e == EL_MATRIX || e == EL_CLUSTER || e == EL_PAD ||
	       e == EL_SWIZZLE || e == EL_EDGE;
}

/* No element of a unique kind twice. */
static void check_unique(struct reader *r, struct xml_node *n)
{
	struct xml_node *first[EL_COUNT] = {NULL}, **link = &n->first;

	while (*link) {
		struct xml_node *child = *link;
		enum element e = element_of(child);

		if (!unique(e) || !first[e]) {
			first[e] = first[e] ? first[e] : child;
			link = &child->next;
			continue;
		}
		diag_note(diag_add(r->d, child->loc, DIAG_ELEMENT, "a second <%s> in this <%s>",
				   child->name, n->name),
			  first[e]->loc, "the first one is here");
		*link = child->next;
	}
	for (struct xml_node *c = n->first; c; c = c->next)
		check_unique(r, c);
}

/* The parts of a schedule come in one order, so that every name is declared before it is used. */
static void check_order(struct reader *r, const struct xml_node *root)
{
	const struct xml_node *last = root->first;

	for (const struct xml_node *n = root->first; n; n = n->next) {
		if (rank(element_of(n)) >= rank(element_of(last))) {
			last = n;
			continue;
		}
		diag_note(diag_add(r->d, n->loc, DIAG_ELEMENT, "<%s> must stand before <%s>",
				   n->name, last->name),
			  last->loc, "<%s> is here", last->name);
	}
}

void vocabulary_check(struct reader *r, struct xml_node *root)
{
	check_node(r, root, EL_SCHEDULE);
	check_unique(r, root);
	check_order(r, root);
}
