#include "jsonval.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copier {
	struct arena *a;
	size_t values;
};

static const struct jsonval *copy(struct copier *c, json_t *v);

static void copy_array(struct copier *c, json_t *v, struct jsonval *out)
{
	size_t n = json_array_size(v);
	const struct jsonval **item = arena_alloc(c->a, n + 1, sizeof(const struct jsonval *));

	for (size_t i = 0; i < n; i++)
		item[i] = copy(c, json_array_get(v, i));
	out->kind = JV_ARRAY;
	out->n = n;
	out->item = item;
}

static void copy_object(struct copier *c, json_t *v, struct jsonval *out)
{
	size_t n = json_object_size(v), i = 0;
	const struct jsonval **item = arena_alloc(c->a, n + 1, sizeof(const struct jsonval *));
	const char **key = arena_alloc(c->a, n + 1, sizeof(char *));

	for (void *at = json_object_iter(v); at && i < n; at = json_object_iter_next(v, at)) {
		key[i] = arena_strdup(c->a, json_object_iter_key(at));
		item[i++] = copy(c, json_object_iter_value(at));
	}
	out->kind = JV_OBJECT;
	out->n = i;
	out->item = item;
	out->key = key;
}

/* The library bounds the depth of what it reads, and so that of this recursion. */
static const struct jsonval *copy(struct copier *c, json_t *v)
{
	struct jsonval *out = arena_alloc(c->a, 1, sizeof(*out));

	if (++c->values > JSONVAL_MAX)
		return out; /* refused by the caller */
	switch (json_typeof(v)) {
	case JSON_OBJECT: copy_object(c, v, out); break;
	case JSON_ARRAY: copy_array(c, v, out); break;
	case JSON_STRING:
		out->kind = JV_STRING;
		out->string = arena_strdup(c->a, json_string_value(v));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		out->kind = JV_NUMBER;
		out->number = json_number_value(v);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		out->kind = JV_BOOL;
		out->truth = json_is_true(v);
		break;
	case JSON_NULL: break;
	}
	return out;
}

const struct jsonval *jsonval_parse(struct arena *a, const char *text, size_t len, struct jsonval_error *e)
{
	struct copier c = { .a = a };
	const struct jsonval *out;
	json_error_t err;
	json_t *v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &err);

	if (!v) {
		e->offset = err.position > 0 ? (size_t)err.position - 1 : 0;
		snprintf(e->text, sizeof(e->text), "%s", err.text);
		return NULL;
	}
	out = copy(&c, v);
	json_decref(v);
	if (c.values > JSONVAL_MAX) {
		e->offset = 0;
		snprintf(e->text, sizeof(e->text), "more than %u values", JSONVAL_MAX);
		return NULL;
	}
	return out;
}

const char *jsonval_kind_name(enum jsonval_kind k)
{
	static const char *const names[] = { "null", "true or false", "a number", "a text", "a list", "an object" };

	return names[k];
}

const struct jsonval *jsonval_get(const struct jsonval *o, const char *key)
{
	if (!o || o->kind != JV_OBJECT)
		return NULL;
	for (size_t i = 0; i < o->n; i++)
		if (strcmp(o->key[i], key) == 0)
			return o->item[i];
	return NULL;
}

double jsonval_number(const struct jsonval *o, const char *key, double otherwise)
{
	const struct jsonval *v = jsonval_get(o, key);

	return v && v->kind == JV_NUMBER ? v->number : otherwise;
}

const char *jsonval_text(const struct jsonval *o, const char *key, const char *otherwise)
{
	const struct jsonval *v = jsonval_get(o, key);

	return v && v->kind == JV_STRING ? v->string : otherwise;
}

void jsonval_quote(struct strbuf *b, const char *s)
{
	json_t *v;
	char *clean, *text;
	size_t n, left;
	uint32_t cp;

	if (!s) {
		strbuf_add(b, "null");
		return;
	}
	clean = xstrdup(s);
	left = strlen(clean);
	for (char *p = clean; left > 0; p += n, left -= n) {
		n = utf8_decode(p, left, &cp);
		if (n == 0) {
			*p = '?';
			n = 1;
		}
	}
	v = json_string(clean);
	text = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;
	strbuf_add(b, "%s", text ? text : "\"\"");
	free(text);
	json_decref(v);
	free(clean);
}

void jsonval_put(struct strbuf *b, double v)
{
	char text[40];

	if (!isfinite(v)) {
		strbuf_add(b, "null");
		return;
	}
	if (v == floor(v) && fabs(v) < 1e15) {
		strbuf_add(b, "%.0f", v);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	strbuf_add(b, "%s", text);
}
