/* Attribute values of the schedule language. */
#include "schedule_internal.h"

#include <ctype.h>
#include <string.h>

#define TEXT_MAX_BYTES 256u
#define TILE_MAX_OFFSET 4096

struct loc attr_loc(struct xml_node *n, const char *name)
{
	struct xml_attr *at = xml_get(n, name);

	return at ? at->value_loc : n->loc;
}

struct loc value_part(const struct xml_attr *at, size_t from, size_t len)
{
	struct loc l = at->value_loc;

	/* A value with entities or line ends in it reads differently from its source text. */
	if (l.end - l.begin != strlen(at->value) || from + len > l.end - l.begin)
		return l;
	l.begin += (uint32_t)from;
	l.end = l.begin + (uint32_t)len;
	return l;
}

static void bad_value(struct reader *r, const struct xml_attr *at, const char *must)
{
	if (at->value[0])
		diag_add(r->d, at->value_loc, DIAG_VALUE, "attribute '%s' is '%s', must be %s",
			 at->name, clipped(r, at->value), must);
	else
		diag_add(r->d, at->value_loc, DIAG_VALUE, "attribute '%s' is empty, must be %s",
			 at->name, must);
}

bool attr_uint(struct reader *r, struct xml_node *n, const char *name, unsigned lo, unsigned hi,
	       unsigned *out)
{
	int64_t v;

	if (!xml_int(n, name, false, lo, hi, &v, r->d))
		return false;
	*out = (unsigned)v;
	return true;
}

bool attr_word(struct reader *r, struct xml_node *n, const char *name, const char *const *words,
	       size_t nwords, int *out)
{
	return xml_word(n, name, false, words, nwords, out, r->d);
}

bool attr_flag(struct reader *r, struct xml_node *n, const char *name, bool *out)
{
	static const char *const words[] = {"false", "true"};
	int v;

	if (!attr_word(r, n, name, words, ARRAY_LEN(words), &v))
		return false;
	*out = v == 1;
	return true;
}

bool attr_text(struct reader *r, struct xml_node *n, const char *name, const char **out,
	       struct loc *loc)
{
	struct xml_attr *at = xml_get(n, name);

	if (!at)
		return false;
	if (!at->value[0] || strlen(at->value) > TEXT_MAX_BYTES) {
		bad_value(r, at, "1 to 256 bytes long");
		return false;
	}
	*out = at->value;
	if (loc)
		*loc = at->value_loc;
	return true;
}

static bool made_of(const char *s, const char *more)
{
	for (; *s; s++)
		if (!((unsigned char)*s < 0x80 && (isalnum((unsigned char)*s) || strchr(more, *s))))
			return false;
	return true;
}

bool attr_identifier(struct reader *r, struct xml_node *n, const char *name, const char **out,
		     struct loc *loc)
{
	struct xml_attr *at = xml_get(n, name);

	if (!at)
		return false;
	if (strlen(at->value) > NAME_MAX_BYTES || !made_of(at->value, "_.-") ||
	    !isalpha((unsigned char)at->value[0])) {
		bad_value(r, at, "a letter and up to 63 letters, digits, '_', '.' or '-'");
		return false;
	}
	*out = at->value;
	if (loc)
		*loc = at->value_loc;
	return true;
}

bool attr_mnemonic(struct reader *r, struct xml_node *n, const char *name, const char **out,
		   struct loc *loc)
{
	struct xml_attr *at = xml_get(n, name);

	if (!at)
		return false;
	if (!at->value[0] || strlen(at->value) > NAME_MAX_BYTES || !made_of(at->value, "_.: ")) {
		bad_value(r, at, "an instruction's name");
		return false;
	}
	*out = at->value;
	if (loc)
		*loc = at->value_loc;
	return true;
}

bool attr_part(struct reader *r, struct xml_node *n, const char *name, struct part *out)
{
	struct xml_attr *at = xml_get(n, name);
	const char *slash = at ? strchr(at->value, '/') : NULL;
	int64_t i, of;

	if (!at)
		return false;
	if (!slash || slash - at->value > 4 || parse_int64(slash + 1, 1, MAX_PART, &of) ||
	    parse_int64(arena_strndup(r->a, at->value, (size_t)(slash - at->value)), 0, of - 1,
			&i)) {
		bad_value(r, at, "i/n: part i, from 0, of n equal parts, n at most 64");
		return false;
	}
	out->i = (unsigned)i;
	out->n = (unsigned)of;
	return true;
}

bool attr_half(struct reader *r, struct xml_node *n, enum operand_id operand, struct part *out)
{
	static const char *const words[] = {"top", "bottom", "left", "right"};
	bool rows = operand == OPERAND_A || operand == OPERAND_SA;
	int v;

	if (!attr_word(r, n, "half", words, ARRAY_LEN(words), &v))
		return false;
	if (operand != OPERAND_NONE && rows != (v < 2)) {
		diag_fix(diag_add(r->d, attr_loc(n, "half"), DIAG_VALUE,
				  "half '%s' does not fit operand %s, whose %s are cut", words[v],
				  operand_name(operand), rows ? "rows" : "columns"),
			 "write %s", rows ? "top or bottom" : "left or right");
		return false;
	}
	out->i = (unsigned)v % 2;
	out->n = 2;
	return true;
}

static const enum operand_id operands[] = {OPERAND_A, OPERAND_B, OPERAND_SA, OPERAND_SB};
static const char *const operand_words[] = {"A", "B", "SA", "SB"};

const char *operand_name(enum operand_id o)
{
	for (size_t i = 0; i < ARRAY_LEN(operands); i++)
		if (operands[i] == o)
			return operand_words[i];
	return "none";
}

bool attr_operand(struct reader *r, struct xml_node *n, enum operand_id *out)
{
	int v;

	if (!attr_word(r, n, "operand", operand_words, ARRAY_LEN(operand_words), &v))
		return false;
	if (!r->s->gemm) {
		attr_refuse(r, n, "operand", "a <kernel> has no operands; give bytes");
		return false;
	}
	if (v >= 2 && !r->s->scaled && !r->head_broken) {
		diag_fix(diag_add(r->d, attr_loc(n, "operand"), DIAG_VALUE,
				  "operand %s holds block scales, which this <gemm> has not",
				  operand_words[v]),
			 "write scaled=\"true\" in <gemm>");
		return false;
	}
	*out = operands[v];
	return true;
}

static bool parse_tile(const char *s, struct tile_ref *t)
{
	int64_t v = 0;

	if (isdigit((unsigned char)*s)) {
		t->base = TILE_ABSOLUTE;
		if (parse_int64(s, 0, INT32_MAX, &v))
			return false;
		t->offset = (int)v;
		return true;
	}
	if (!strncmp(s, "last", 4)) {
		t->base = TILE_LAST;
		s += 4;
	} else if (*s == 'k') {
		t->base = TILE_LOOP;
		s++;
	} else {
		return false;
	}
	if (*s) {
		if ((*s != '+' && *s != '-') || !isdigit((unsigned char)s[1]) ||
		    strlen(s) > NAME_MAX_BYTES || parse_int64(s + 1, 0, TILE_MAX_OFFSET, &v))
			return false;
		v = *s == '-' ? -v : v;
	}
	t->offset = (int)v;
	return true;
}

/* Does the tile exist, as far as the schedule alone can tell? */
static bool tile_exists(struct reader *r, const struct xml_attr *at, const struct tile_ref *t)
{
	int64_t from_start = t->base == TILE_LAST ? r->ksteps - 1 + t->offset : t->offset;

	if (t->base == TILE_LOOP && r->section != SECTION_LOOP) {
		diag_fix(diag_add(r->d, at->value_loc, DIAG_VALUE,
				  "tile '%s' stands outside the loop, where there "
				  "is no k",
				  at->value),
			 "write a number, or last, last-1 and so on");
		return false;
	}
	if (t->base == TILE_LAST && t->offset > 0) {
		diag_add(r->d, at->value_loc, DIAG_VALUE, "tile '%s' lies behind the last one",
			 at->value);
		return false;
	}
	if (t->base != TILE_LOOP && r->ksteps > 0 && (from_start < 0 || from_start >= r->ksteps)) {
		diag_add(r->d, at->value_loc, DIAG_VALUE,
			 "there is no tile '%s': the GEMM has %lld K-step%s, 0 to %lld", at->value,
			 (long long)r->ksteps, r->ksteps == 1 ? "" : "s", (long long)r->ksteps - 1);
		return false;
	}
	return true;
}

bool attr_tile(struct reader *r, struct xml_node *n, struct tile_ref *out)
{
	struct xml_attr *at = xml_get(n, "tile");
	struct tile_ref t = {TILE_NONE, 0, {NULL, 0, 0}};

	if (!at)
		return false;
	out->loc = at->value_loc;
	if (!parse_tile(at->value, &t)) {
		bad_value(r, at, "a K-step: 0, 2, k, k+2, k-1, last or last-1");
		return false;
	}
	if (!tile_exists(r, at, &t))
		return false;
	t.loc = at->value_loc;
	*out = t;
	return true;
}

bool attr_groups(struct reader *r, struct xml_node *n, const char *name, uint8_t *out)
{
	struct xml_attr *at = xml_get(n, name);
	unsigned groups = r->s->groups, mask = 0;

	if (!at)
		return false;
	for (const char *s = at->value; *s; s++) {
		unsigned g = (unsigned)(*s - 'A');

		if (*s < 'A' || g >= MAX_GROUPS || (mask >> g & 1)) {
			bad_value(r, at, "letters of wave groups, each once: A, B, AB");
			return false;
		}
		if (g >= groups && !r->head_broken) {
			diag_add(r->d, at->value_loc, DIAG_VALUE,
				 "there is no group %c: the workgroup has %u group%s", *s, groups,
				 groups == 1 ? "" : "s");
			return false;
		}
		mask |= 1u << g;
	}
	if (!mask) {
		bad_value(r, at, "letters of wave groups, each once: A, B, AB");
		return false;
	}
	*out = (uint8_t)mask;
	return true;
}

bool attr_waves(struct reader *r, struct xml_node *n, int *lo, int *hi)
{
	struct xml_attr *at = xml_get(n, "waves");
	const char *dash = at ? strchr(at->value, '-') : NULL;
	int64_t a = 0, b = 0;

	if (!at)
		return false;
	if (dash && dash - at->value <= 4
		    ? parse_int64(arena_strndup(r->a, at->value, (size_t)(dash - at->value)), 0,
				  MAX_WAVES - 1, &a) ||
			      parse_int64(dash + 1, a, MAX_WAVES - 1, &b)
		    : parse_int64(at->value, 0, MAX_WAVES - 1, &a) != 0) {
		bad_value(r, at, "a wave or a range of waves: 0 or 0-3");
		return false;
	}
	b = dash ? b : a;
	if (!r->head_broken && b >= r->s->waves) {
		diag_add(r->d, at->value_loc, DIAG_VALUE,
			 "there is no wave %lld: the workgroup has %u, 0 to %u", (long long)b,
			 r->s->waves, r->s->waves - 1);
		return false;
	}
	*lo = (int)a;
	*hi = (int)b;
	return true;
}

bool attr_need(struct reader *r, struct xml_node *n, const char *name, const char *why)
{
	if (xml_get(n, name))
		return true;
	if (!vocabulary_patched(r, n))
		diag_add(r->d, n->loc, DIAG_ATTR, "<%s> needs the attribute '%s' here: %s", n->name,
			 name, why);
	return false;
}

void attr_refuse(struct reader *r, struct xml_node *n, const char *name, const char *why)
{
	struct xml_attr *at = xml_get(n, name);

	if (at)
		diag_add(r->d, at->name_loc, DIAG_ATTR, "attribute '%s' does not apply here: %s",
			 name, why);
}
