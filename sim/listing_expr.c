/* Symbols of a listing and whole-number expressions over them. */
#include "listing_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ^ h >> 15;
}

struct symbol *symtab_find(struct symtab *t, const char *name, size_t len)
{
	if (!t->nbuckets)
		return NULL;
	for (uint32_t i = t->bucket[hash(name, len) & (t->nbuckets - 1)]; i; i = t->list[i - 1].next)
		if (t->list[i - 1].len == len && !memcmp(t->list[i - 1].name, name, len))
			return &t->list[i - 1];
	return NULL;
}

static void rehash(struct symtab *t)
{
	free(t->bucket);
	t->nbuckets = t->nbuckets ? t->nbuckets * 2 : 64;
	t->bucket = xcalloc(t->nbuckets, sizeof(*t->bucket));
	for (size_t i = 0; i < t->n; i++) {
		uint32_t *b = &t->bucket[hash(t->list[i].name, t->list[i].len) & (t->nbuckets - 1)];

		t->list[i].next = *b;
		*b = (uint32_t)i + 1;
	}
}

struct symbol *symtab_add(struct symtab *t, const char *name, size_t len)
{
	struct symbol *s = symtab_find(t, name, len);
	uint32_t *b;

	if (s)
		return s;
	if (t->n >= t->nbuckets)
		rehash(t);
	t->list = xgrow(t->list, t->n, &t->cap, sizeof(*t->list));
	s = &t->list[t->n++];
	b = &t->bucket[hash(name, len) & (t->nbuckets - 1)];
	*s = (struct symbol){ .name = name, .len = (uint32_t)len, .next = *b };
	*b = (uint32_t)t->n;
	return s;
}

void symtab_free(struct symtab *t)
{
	free(t->list);
	free(t->bucket);
	*t = (struct symtab){ 0 };
}

const uint8_t ident_kind[256] = {
	['a' ... 'z'] = 2, ['A' ... 'Z'] = 2, ['_'] = 2, ['.'] = 2, ['$'] = 2, ['0' ... '9'] = 1, ['@'] = 1,
};

/* ---- expressions: recursive descent, values wrap at 64 bits ---- */

#define MAX_DEPTH 32

struct expr {
	struct symtab *t;
	const char *s, *end;
	unsigned depth;
	int error; /* 0, -1, -2 as of expr_eval */
};

static void blanks(struct expr *e)
{
	while (e->s < e->end && (*e->s == ' ' || *e->s == '\t'))
		e->s++;
}

static int64_t fail(struct expr *e, int code)
{
	if (!e->error)
		e->error = code;
	e->s = e->end;
	return 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static int64_t number(struct expr *e)
{
	uint64_t v = 0;
	int base = 10;
	const char *first;

	if (e->end - e->s > 2 && e->s[0] == '0' && (e->s[1] == 'x' || e->s[1] == 'X')) {
		base = 16;
		e->s += 2;
	} else if (e->end - e->s > 2 && e->s[0] == '0' && (e->s[1] == 'b' || e->s[1] == 'B')) {
		base = 2;
		e->s += 2;
	} else if (e->end - e->s > 1 && e->s[0] == '0' && digit(e->s[1]) < 8) {
		base = 8;
	}
	for (first = e->s; e->s < e->end && digit(*e->s) < base; e->s++) {
		uint64_t d = (uint64_t)digit(*e->s), b = (uint64_t)base;

		if (v > (UINT64_MAX - d) / b)
			return fail(e, -1);
		v = v * b + d;
	}
	if (e->s == first || (e->s < e->end && (ident_char(*e->s))))
		return fail(e, -1);
	return (int64_t)v;
}

static int64_t binary(struct expr *e, unsigned level);

static int64_t name_or_call(struct expr *e)
{
	const char *first = e->s;
	struct symbol *sym;
	size_t n;

	while (e->s < e->end && ident_char(*e->s))
		e->s++;
	n = (size_t)(e->s - first);
	blanks(e);
	if (e->s < e->end && *e->s == '(') {
		bool max = n == 3 && !memcmp(first, "max", 3);
		int64_t v;

		if (!max)
			return fail(e, -2);
		e->s++;
		v = binary(e, 0);
		while (blanks(e), e->s < e->end && *e->s == ',') {
			int64_t w;

			e->s++;
			w = binary(e, 0);
			v = w > v ? w : v;
		}
		if (e->s >= e->end || *e->s != ')')
			return fail(e, -1);
		e->s++;
		return v;
	}
	sym = symtab_find(e->t, first, n);
	return sym && sym->defined ? sym->value : fail(e, -2);
}

static int64_t unary(struct expr *e)
{
	int64_t v = 0;
	char c;

	blanks(e);
	if (e->s >= e->end || e->depth >= MAX_DEPTH)
		return fail(e, -1);
	e->depth++;
	c = *e->s;
	if (c == '-' || c == '+' || c == '~' || c == '!') {
		e->s++;
		v = unary(e);
		v = c == '-' ? (int64_t)(0 - (uint64_t)v) : c == '~' ? ~v : c == '!' ? !v : v;
	} else if (c == '(') {
		e->s++;
		v = binary(e, 0);
		blanks(e);
		if (e->s >= e->end || *e->s != ')')
			v = fail(e, -1);
		else
			e->s++;
	} else if (c >= '0' && c <= '9') {
		v = number(e);
	} else if (ident_start(c)) {
		v = name_or_call(e);
	} else {
		v = fail(e, -1);
	}
	e->depth--;
	return v;
}

static int64_t apply(struct expr *e, char op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case '|': return (int64_t)(x | y);
	case '^': return (int64_t)(x ^ y);
	case '&': return (int64_t)(x & y);
	case '<': return (int64_t)(y < 64 ? x << y : 0);
	case '>': return (int64_t)(y < 64 ? x >> y : 0);
	case '+': return (int64_t)(x + y);
	case '-': return (int64_t)(x - y);
	case '*': return (int64_t)(x * y);
	default: break;
	}
	if (b == 0 || (a == INT64_MIN && b == -1))
		return fail(e, -1);
	return op == '/' ? a / b : a % b;
}

/* Operators from loosest to tightest; the shifts are two characters. */
static int64_t binary(struct expr *e, unsigned level)
{
	static const char *const ops[] = { "|", "^", "&", "<>", "+-", "*/%" };
	int64_t v;

	if (level == ARRAY_LEN(ops))
		return unary(e);
	v = binary(e, level + 1);
	for (;;) {
		char c;

		blanks(e);
		if (e->error || e->s >= e->end || !strchr(ops[level], *e->s) || !*e->s)
			return v;
		c = *e->s++;
		if (c == '<' || c == '>') {
			if (e->s >= e->end || *e->s != c)
				return fail(e, -1);
			e->s++;
		}
		v = apply(e, c, v, binary(e, level + 1));
	}
}

int expr_eval(struct symtab *t, const char *s, size_t n, int64_t *out)
{
	struct expr e = { .t = t, .s = s, .end = s + n };

	*out = binary(&e, 0);
	blanks(&e);
	if (!e.error && e.s != e.end)
		e.error = -1;
	return e.error;
}
