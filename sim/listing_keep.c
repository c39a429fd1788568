/* Operands kept for the executor: copies beside the instructions, and the values of labels in them. */
#include "listing_internal.h"

#include <stdlib.h>
#include <string.h>

struct operand_list *keep_operands(struct reader *r, const struct insn_desc *x, enum suffix sfx, bool returns,
				   const struct operands *ops)
{
	struct operand_list *l = arena_alloc(r->arena, 1, sizeof(*l) + ops->n * sizeof(l->o[0]));

	l->desc = x;
	l->suffix = (uint8_t)sfx;
	l->returns = returns;
	l->n = (uint8_t)ops->n;
	memcpy(l->o, ops->o, ops->n * sizeof(l->o[0]));
	return l;
}

/* ---- labels: their value is the number of code bytes in front of them ---- */

static bool same(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

/*
 * "NAME@rel32@lo+4": distance from the field that holds it, the last four bytes of the instruction (a
 * 64-bit one: the last eight), low or high half. false: s is no such thing, or NAME is no label.
 */
static bool relocated(struct symtab *at, const char *s, size_t n, int64_t end, int64_t *out)
{
	size_t name = 0, kind;
	struct symbol *sym;
	int64_t add = 0, field;

	while (name < n && s[name] != '@')
		name++;
	for (kind = name; kind < n && (ident_char(s[kind])); kind++)
		;
	sym = name < n ? symtab_find(at, s, name) : NULL;
	if (!sym || !sym->defined || (kind < n && expr_eval(at, s + kind, n - kind, &add) < 0))
		return false;
	field = end - (same(s + name, kind - name, "@rel64") ? 8 : 4);
	*out = sym->value + add - field;
	if (same(s + name, kind - name, "@rel32@hi"))
		*out >>= 32;
	else if (same(s + name, kind - name, "@rel32@lo"))
		*out = (int64_t)((uint64_t)*out & UINT32_MAX);
	else if (!same(s + name, kind - name, "@rel64") && !same(s + name, kind - name, "@rel32"))
		return false;
	return true;
}

static void resolve_list(struct reader *r, struct symtab *at, struct operand_list *l, int64_t end)
{
	for (unsigned i = 0; i < l->n; i++) {
		struct operand *o = &l->o[i];
		const char *s = r->src->text + o->begin;
		size_t n = o->end - o->begin;
		int64_t v;

		if (o->kind != OPERAND_SYMBOL || o->end <= o->begin)
			continue;
		if (!relocated(at, s, n, end, &v) && expr_eval(at, s, n, &v) < 0)
			continue; /* stays a symbol: whoever needs its value complains */
		o->kind = OPERAND_VALUE;
		o->value = v;
	}
}

void resolve_kept(struct reader *r)
{
	struct symtab at = { 0 };
	int64_t *offset = xcalloc(r->n + 1, sizeof(*offset));
	struct symbol *to;

	for (size_t i = 0; i < r->n; i++)
		offset[i + 1] = offset[i] + r->insns[i].size;
	for (size_t i = 0; i < r->set.n; i++) {
		to = symtab_add(&at, r->set.list[i].name, r->set.list[i].len);
		to->defined = r->set.list[i].defined;
		to->value = r->set.list[i].value;
	}
	for (size_t i = 0; i < r->label.n; i++) {
		const struct symbol *from = &r->label.list[i];

		if (from->value < 0 || (size_t)from->value > r->n)
			continue;
		to = symtab_add(&at, from->name, from->len);
		to->defined = true;
		to->value = offset[from->value];
	}
	for (size_t i = 0; i < r->n; i++)
		/* The lists are the reader's own still: only readers of the program see them as constant. */
		for (const struct operand_list *l = r->insns[i].ops; l; l = l->next)
			resolve_list(r, &at, (struct operand_list *)l, offset[i + 1]);
	symtab_free(&at);
	free(offset);
}
