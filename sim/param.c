#include "param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src.h"
#include "target_impl.h"
#include "xml.h"

#define MAX_CLK 65535

struct field {
	const char *attribute;
	unsigned *at;
};

static int unknown(char *why, size_t n, const char *what, const char *name)
{
	snprintf(why, n, "the model has no %s '%s'", what, name);
	return -1;
}

static int pick(struct param *out, const struct field *f, size_t n, const char *attribute, const struct origin *from,
		char *why, size_t why_bytes)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(f[i].attribute, attribute) != 0)
			continue;
		out->attribute = f[i].attribute;
		out->whole_field = f[i].at;
		out->whole = true;
		out->lo = 0;
		out->hi = MAX_CLK;
		out->from = from;
		return 0;
	}
	return unknown(why, why_bytes, "attribute", attribute);
}

static int find_value(struct target *t, const char *key, struct param *out, char *why, size_t why_bytes)
{
	static const char *const fractions[] = { "ns", "GB/s", "bytes/clk" };

	for (size_t i = 0; i < TV_COUNT; i++) {
		if (strcmp(value_info[i].key, key) != 0)
			continue;
		out->attribute = "value";
		out->real = (double *)((char *)&t->v + value_info[i].offset);
		out->whole = true;
		for (size_t u = 0; u < ARRAY_LEN(fractions); u++)
			out->whole &= strcmp(value_info[i].unit, fractions[u]) != 0;
		out->lo = value_info[i].lo;
		out->hi = value_info[i].hi;
		out->from = &t->v_from[i];
		return 0;
	}
	return unknown(why, why_bytes, "value", key);
}

static int find_class(struct target *t, const char *name, const char *attribute, struct param *out, char *why,
		      size_t why_bytes)
{
	for (size_t i = 0; i < OPC_COUNT; i++) {
		struct class_row *r = &t->classes[i];
		const struct field f[] = { { "busy", &r->busy_clk }, { "latency", &r->latency_clk }, { "hold", &r->hold_clk } };

		if (strcmp(opclass_words[i], name) == 0)
			return pick(out, f, ARRAY_LEN(f), attribute, &r->from, why, why_bytes);
	}
	return unknown(why, why_bytes, "class", name);
}

static int find_matrix(struct target *t, char *name, const char *attribute, struct param *out, char *why, size_t why_bytes)
{
	char *operands = strchr(name, '@');
	struct matrix_row *found = NULL;

	if (operands)
		*operands++ = '\0';
	for (size_t i = 0; i < t->nmatrix; i++) {
		struct matrix_row *r = &t->matrix[i];

		if (strcmp(r->op, name) != 0 || (operands && strcmp(matrix_operands_words[r->operands], operands) != 0))
			continue;
		if (r->when && (!t->choice.option || strcmp(r->when, t->choice.option) != 0))
			continue;
		if (found) {
			snprintf(why, why_bytes, "the model has several rows of '%s': name their operands", name);
			return -1;
		}
		found = r;
	}
	if (!found)
		return unknown(why, why_bytes, "matrix instruction", name);
	const struct field f[] = {
		{ "occupancy", &found->occupancy_clk }, { "ready", &found->ready_clk }, { "chain", &found->chain_clk },
		{ "prefix", &found->prefix_clk }, { "valu-block", &found->valu_block_clk },
	};

	if (pick(out, f, ARRAY_LEN(f), attribute, &found->from, why, why_bytes) != 0)
		return -1;
	/* The operands are read while the unit is occupied, and an op occupies it for a clk at least. */
	if (out->whole_field == &found->valu_block_clk)
		out->hi = found->occupancy_clk;
	if (out->whole_field == &found->occupancy_clk)
		out->lo = 1;
	return 0;
}

static int find_lds(struct target *t, const char *name, const char *attribute, struct param *out, char *why,
		    size_t why_bytes)
{
	for (size_t i = 0; i < t->nlds; i++) {
		const struct field f[] = { { "port", &t->lds[i].port_clk } };

		if (strcmp(t->lds[i].op, name) == 0)
			return pick(out, f, 1, attribute, &t->lds[i].from, why, why_bytes);
	}
	return unknown(why, why_bytes, "LDS instruction", name);
}

static int find_vmem(struct target *t, const char *name, const char *attribute, struct param *out, char *why,
		     size_t why_bytes)
{
	for (size_t i = 0; i < t->nvmem; i++) {
		const struct field f[] = { { "addr", &t->vmem[i].addr_clk }, { "data", &t->vmem[i].data_clk } };

		if (strcmp(t->vmem[i].op, name) == 0)
			return pick(out, f, ARRAY_LEN(f), attribute, &t->vmem[i].from, why, why_bytes);
	}
	return unknown(why, why_bytes, "memory instruction", name);
}

static int find_clock(struct target *t, const char *name, struct param *out, char *why, size_t why_bytes)
{
	for (size_t i = 0; i < t->nclocks; i++) {
		if (strcmp(t->clocks[i].name, name) != 0)
			continue;
		out->attribute = "mhz";
		out->real = &t->clocks[i].mhz;
		out->lo = 1;
		out->hi = 20000;
		out->from = &t->clocks[i].from;
		return 0;
	}
	return unknown(why, why_bytes, "clock", name);
}

int param_find(struct target *t, const char *name, struct param *out, char *why, size_t why_bytes)
{
	char *copy = xstrdup(name), *rest = strchr(copy, ':'), *slash;
	int rc = -1;

	*out = (struct param){ .name = name };
	if (!rest) {
		free(copy);
		snprintf(why, why_bytes, "'%s' has no kind, as value: or class:", name);
		return -1;
	}
	*rest++ = '\0';
	slash = strrchr(rest, '/');
	if (strcmp(copy, "value") == 0) {
		rc = find_value(t, rest, out, why, why_bytes);
	} else if (strcmp(copy, "clock") == 0) {
		rc = find_clock(t, rest, out, why, why_bytes);
	} else if (!slash) {
		snprintf(why, why_bytes, "'%s' names no attribute behind a /", name);
	} else {
		*slash++ = '\0';
		if (strcmp(copy, "class") == 0)
			rc = find_class(t, rest, slash, out, why, why_bytes);
		else if (strcmp(copy, "matrix") == 0)
			rc = find_matrix(t, rest, slash, out, why, why_bytes);
		else if (strcmp(copy, "lds") == 0)
			rc = find_lds(t, rest, slash, out, why, why_bytes);
		else if (strcmp(copy, "vmem") == 0)
			rc = find_vmem(t, rest, slash, out, why, why_bytes);
		else
			rc = unknown(why, why_bytes, "kind of row", copy);
	}
	free(copy);
	return rc;
}

double param_get(const struct param *p)
{
	return p->real ? *p->real : (double)*p->whole_field;
}

void param_set(const struct param *p, double v)
{
	if (p->real)
		*p->real = p->whole ? round(v) : v;
	else
		*p->whole_field = (unsigned)lround(v);
}

/* ---- writing back ---- */

struct change { /* of bytes [begin, end) of the text */
	uint32_t begin, end;
	char *text;
};

struct rewriter {
	const struct target *t;
	struct change *list;
	size_t n, cap;
	struct strbuf behind; /* rows that go in front of </target> */
	const struct param_edit *edits;
	size_t nedits;
	uint32_t *copied;     /* places of unchanged rows that are repeated too */
	size_t ncopied, capcopied;
};

static void add_change(struct rewriter *w, uint32_t begin, uint32_t end, char *text)
{
	w->list = xgrow(w->list, w->n, &w->cap, sizeof(*w->list));
	w->list[w->n++] = (struct change){ begin, end, text };
}

static void quote_xml(struct strbuf *b, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&': strbuf_add(b, "&amp;"); break;
		case '<': strbuf_add(b, "&lt;"); break;
		case '"': strbuf_add(b, "&quot;"); break;
		default: strbuf_addn(b, s, 1); break;
		}
	}
}

static struct xml_node *node_at(struct xml_node *root, uint32_t begin)
{
	for (struct xml_node *n = root->first; n; n = n->next)
		if (n->loc.begin == begin)
			return n;
	return NULL;
}

static char *number_text(const struct param *p, double v)
{
	return p->whole ? xasprintf("%.0f", v) : xasprintf("%.6g", v);
}

/* Replace an attribute's value in the text, or put the attribute behind the element's name. */
static void set_attribute(struct rewriter *w, struct xml_node *n, const char *name, const char *value)
{
	struct xml_attr *a = xml_get(n, name);
	struct strbuf b = { 0 };

	if (!a)
		strbuf_add(&b, " %s=\"", name);
	quote_xml(&b, value);
	if (!a)
		strbuf_add(&b, "\"");
	if (a)
		add_change(w, a->value_loc.begin, a->value_loc.end, xstrdup(b.s ? b.s : ""));
	else
		add_change(w, n->loc.end, n->loc.end, xstrdup(b.s));
	strbuf_free(&b);
}

/* A row of a base file, repeated with its changes. */
static void repeat_row(struct rewriter *w, const struct xml_node *n, const struct param_edit *const *e, size_t ne,
		       const char *source, const char *note)
{
	strbuf_add(&w->behind, "  <%s", n->name);
	for (size_t i = 0; i < n->nattrs; i++) {
		const char *name = n->attrs[i].name, *value = n->attrs[i].value;
		char *number = NULL;

		if (strcmp(name, "quality") == 0 || strcmp(name, "source") == 0 || strcmp(name, "note") == 0)
			continue;
		for (size_t k = 0; k < ne; k++)
			if (strcmp(e[k]->param.attribute, name) == 0)
				value = number = number_text(&e[k]->param, e[k]->value);
		strbuf_add(&w->behind, " %s=\"", name);
		quote_xml(&w->behind, value);
		strbuf_add(&w->behind, "\"");
		free(number);
	}
	strbuf_add(&w->behind, " quality=\"measured\" source=\"%s\" note=\"", source);
	quote_xml(&w->behind, note);
	strbuf_add(&w->behind, "\"/>\n");
}

static bool keeps_as_is(const struct rewriter *w, const struct xml_node *n)
{
	for (size_t i = 0; i < w->nedits; i++)
		if (w->edits[i].param.from->loc.src == n->loc.src && w->edits[i].param.from->loc.begin == n->loc.begin)
			return false;
	for (size_t i = 0; i < w->ncopied; i++)
		if (w->copied[i] == n->loc.begin)
			return false;
	return true;
}

/* A matrix row replaces all rows that the base has for its op: the unchanged ones are repeated beside it. */
static void repeat_others(struct rewriter *w, const struct xml_node *root, struct xml_node *n)
{
	const struct xml_attr *op = xml_get(n, "op");

	for (struct xml_node *o = root->first; op && strcmp(n->name, "matrix") == 0 && o; o = o->next) {
		const struct xml_attr *other = o == n || strcmp(o->name, "matrix") ? NULL : xml_get(o, "op");

		if (!other || strcmp(other->value, op->value) != 0 || !keeps_as_is(w, o))
			continue;
		w->copied = xgrow(w->copied, w->ncopied, &w->capcopied, sizeof(*w->copied));
		w->copied[w->ncopied++] = o->loc.begin;
		strbuf_add(&w->behind, "  <%s", o->name);
		for (size_t i = 0; i < o->nattrs; i++) {
			strbuf_add(&w->behind, " %s=\"", o->attrs[i].name);
			quote_xml(&w->behind, o->attrs[i].value);
			strbuf_add(&w->behind, "\"");
		}
		strbuf_add(&w->behind, "/>\n");
	}
}

/* All edits of one row. */
static int edit_row(struct rewriter *w, const struct param_edit *const *e, size_t ne, const char *source, struct diag *d)
{
	const struct loc where = e[0]->param.from->loc;
	struct arena *a = arena_new();
	struct xml_node *root = where.src ? xml_parse(where.src, a, d) : NULL, *n = root ? node_at(root, where.begin) : NULL;
	struct strbuf note = { 0 };

	if (!n) {
		diag_add(d, where, DIAG_TARGET, "the row of %s can't be found again in its file", e[0]->param.name);
		arena_free(a);
		return -1;
	}
	for (size_t i = 0; i < ne; i++)
		strbuf_add(&note, "%s%s%s%s", i ? "; " : "", ne > 1 ? e[i]->param.attribute : "", ne > 1 ? " " : "", e[i]->note);
	if (where.src == w->t->src) {
		for (size_t i = 0; i < ne; i++) {
			char *number = number_text(&e[i]->param, e[i]->value);

			set_attribute(w, n, e[i]->param.attribute, number);
			free(number);
		}
		set_attribute(w, n, "quality", "measured");
		set_attribute(w, n, "source", source);
		set_attribute(w, n, "note", note.s);
	} else {
		repeat_row(w, n, e, ne, source, note.s);
		repeat_others(w, root, n);
	}
	strbuf_free(&note);
	arena_free(a);
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static char *apply(struct rewriter *w)
{
	const struct src *s = w->t->src;
	struct strbuf b = { 0 };
	uint32_t at = 0;

	/* Only new attributes of one element share a place, and their order does not matter. */
	qsort(w->list, w->n, sizeof(*w->list), by_place);
	for (size_t i = 0; i < w->n; i++) {
		if (w->list[i].begin < at)
			continue; /* the same attribute, by another parameter of the row */
		strbuf_addn(&b, s->text + at, w->list[i].begin - at);
		strbuf_add(&b, "%s", w->list[i].text);
		at = w->list[i].end;
	}
	strbuf_addn(&b, s->text + at, s->len - at);
	return b.s ? b.s : xstrdup("");
}

/* The source behind the start tag, the repeated rows in front of the end tag. */
static int frame(struct rewriter *w, const char *source, const char *title, struct diag *d)
{
	const struct src *s = w->t->src;
	struct strbuf b = { 0 };
	const char *end = NULL, *p = s->text, *begin;
	struct arena *a = arena_new();
	struct xml_node *root = xml_parse(s, a, d);
	uint32_t at = root ? root->loc.end : 0;

	if (root && root->nattrs)
		at = root->attrs[root->nattrs - 1].value_loc.end;
	arena_free(a);
	while ((p = strstr(p, "</target")) != NULL)
		end = p++;
	begin = strchr(s->text + at, '>');
	if (!root || !end || !begin || begin > end) {
		diag_add(d, (struct loc){ s, 0, 0 }, DIAG_TARGET, "the model's file has no <target> that rows can be added to");
		return -1;
	}
	strbuf_add(&b, "\n  <source id=\"%s\" title=\"", source);
	quote_xml(&b, title);
	strbuf_add(&b, "\"/>");
	add_change(w, (uint32_t)(begin - s->text) + 1, (uint32_t)(begin - s->text) + 1, b.s);
	if (w->behind.s)
		add_change(w, (uint32_t)(end - s->text), (uint32_t)(end - s->text), xstrdup(w->behind.s));
	return 0;
}

char *param_rewrite(const struct target *t, const struct param_edit *edits, size_t n, const char *source, const char *title,
		    struct diag *d)
{
	const struct param_edit **row = xcalloc(n + 1, sizeof(*row));
	bool *done = xcalloc(n + 1, sizeof(*done));
	struct rewriter w = { .t = t, .edits = edits, .nedits = n };
	char *out = NULL;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		size_t ne = 0;

		for (size_t k = i; k < n && !done[i]; k++) {
			if (edits[k].param.from != edits[i].param.from)
				continue;
			row[ne++] = &edits[k];
			done[k] = k != i;
		}
		if (ne)
			rc = edit_row(&w, row, ne, source, d);
	}
	if (rc == 0)
		rc = frame(&w, source, title, d);
	if (rc == 0)
		out = apply(&w);
	for (size_t i = 0; i < w.n; i++)
		free(w.list[i].text);
	free(w.list);
	free(w.copied);
	free(done);
	free(row);
	strbuf_free(&w.behind);
	return out;
}
