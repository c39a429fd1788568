/* Edits of a schedule's text by byte offset: everything that is not edited stays as it is. */
#include <stdlib.h>
#include <string.h>

#include "fix.h"

bool edit_add(struct edit_list *l, uint32_t begin, uint32_t end, char *text)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct edit *e = &l->list[i];

		if (begin < e->end && e->begin < end) {
			free(text);
			return false;
		}
		if (begin == e->begin && end == e->end && strcmp(text, e->text) == 0) {
			free(text);
			return false;
		}
	}
	l->list = xgrow(l->list, l->n, &l->cap, sizeof(*l->list));
	l->list[l->n++] = (struct edit){begin, end, text};
	return true;
}

void edit_free(struct edit_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].text);
	free(l->list);
	*l = (struct edit_list){0};
}

char *edit_apply(const char *text, const struct edit_list *l)
{
	size_t *order = xcalloc(l->n + 1, sizeof(*order));
	struct strbuf b = {0};
	uint32_t at = 0;

	/* by place; of two at one place the one added first comes first */
	for (size_t i = 0; i < l->n; i++) {
		size_t k = i;

		while (k > 0 && l->list[order[k - 1]].begin > l->list[i].begin) {
			order[k] = order[k - 1];
			k--;
		}
		order[k] = i;
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct edit *e = &l->list[order[i]];

		strbuf_addn(&b, text + at, e->begin - at);
		strbuf_addn(&b, e->text, strlen(e->text));
		at = e->end;
	}
	strbuf_addn(&b, text + at, strlen(text + at));
	free(order);
	return b.s ? b.s : xstrdup("");
}

struct xml_node *edit_find(struct xml_node *root, uint32_t at)
{
	for (struct xml_node *n = root; n; n = n->next) {
		struct xml_node *inside;

		if (n->loc.begin == at)
			return n;
		inside = edit_find(n->first, at);
		if (inside)
			return inside;
		if (n == root && !n->parent)
			break;
	}
	return NULL;
}

/* Behind the '>' that ends the tag around byte at, which is outside of quotes. */
static uint32_t tag_end(const struct src *s, uint32_t at, bool *empty)
{
	char quote = 0;

	for (; at < s->len; at++) {
		char c = s->text[at];

		if (quote) {
			if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '>') {
			*empty = s->text[at - 1] == '/';
			return at + 1;
		}
	}
	*empty = true;
	return (uint32_t)s->len;
}

void edit_extent(const struct src *s, const struct xml_node *n, uint32_t *begin, uint32_t *end)
{
	bool empty;

	*begin = n->loc.begin - 1;
	*end = tag_end(s, n->loc.end, &empty);
	if (empty)
		return;
	for (const struct xml_node *c = n->first; c; c = c->next) {
		uint32_t b;

		edit_extent(s, c, &b, end);
	}
	/* comments may stand in front of the end tag, and hold anything but "--" */
	while (*end + 1 < s->len && !(s->text[*end] == '<' && s->text[*end + 1] == '/')) {
		if (strncmp(s->text + *end, "<!--", 4) == 0) {
			const char *close = strstr(s->text + *end + 4, "-->");

			*end = close ? (uint32_t)(close - s->text) + 3 : (uint32_t)s->len;
		} else {
			++*end;
		}
	}
	*end = tag_end(s, *end, &empty);
}

struct xml_node *edit_previous(const struct xml_node *n)
{
	struct xml_node *before = NULL;

	if (!n->parent)
		return NULL;
	for (struct xml_node *c = n->parent->first; c && c != n; c = c->next)
		before = c;
	return before;
}

static struct xml_attr *find_attr(struct xml_node *n, const char *name)
{
	for (size_t i = 0; i < n->nattrs; i++)
		if (strcmp(n->attrs[i].name, name) == 0)
			return &n->attrs[i];
	return NULL;
}

bool edit_set(struct edit_list *l, const struct src *s, struct xml_node *n, const char *attr,
	      const char *value)
{
	struct xml_attr *a = find_attr(n, attr);
	uint32_t at;

	(void)s;
	if (a && strcmp(a->value, value) == 0)
		return false;
	if (a)
		return edit_add(l, a->value_loc.begin, a->value_loc.end, xstrdup(value));
	at = n->nattrs ? n->attrs[n->nattrs - 1].value_loc.end + 1 : n->loc.end;
	return edit_add(l, at, at, xasprintf(" %s=\"%s\"", attr, value));
}

bool edit_drop_attr(struct edit_list *l, const struct src *s, struct xml_node *n, const char *attr)
{
	struct xml_attr *a = find_attr(n, attr);
	uint32_t begin;

	if (!a)
		return false;
	begin = a->name_loc.begin;
	while (begin > n->loc.end && strchr(" \t\r\n", s->text[begin - 1]))
		begin--;
	return edit_add(l, begin, a->value_loc.end + 1, xstrdup(""));
}

/* Blanks between the line's begin and at, and nothing else? */
static bool begins_line(const struct src *s, uint32_t at, uint32_t *line)
{
	while (at > 0 && (s->text[at - 1] == ' ' || s->text[at - 1] == '\t'))
		at--;
	*line = at;
	return at == 0 || s->text[at - 1] == '\n';
}

bool edit_remove(struct edit_list *l, const struct src *s, const struct xml_node *n)
{
	uint32_t begin, end, line, after;

	edit_extent(s, n, &begin, &end);
	after = end;
	while (after < s->len &&
	       (s->text[after] == ' ' || s->text[after] == '\t' || s->text[after] == '\r'))
		after++;
	if (begins_line(s, begin, &line) && after < s->len && s->text[after] == '\n')
		return edit_add(l, line, after + 1, xstrdup(""));
	return edit_add(l, begin, end, xstrdup(""));
}

bool edit_insert_before(struct edit_list *l, const struct src *s, const struct xml_node *n,
			const char *element)
{
	uint32_t begin = n->loc.begin - 1, line;

	if (begins_line(s, begin, &line))
		return edit_add(
			l, begin, begin,
			xasprintf("%s\n%.*s", element, (int)(begin - line), s->text + line));
	return edit_add(l, begin, begin, xstrdup(element));
}
