/* Operands and modifiers of one instruction. */
#include "listing_internal.h"

#include <string.h>

struct cursor {
	struct reader *r;
	const char *s;  /* the line's operand text */
	size_t n, i;
	uint32_t at;    /* source offset of s[0] */
	unsigned depth; /* of abs(...) around each other */
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static void skip_blanks(struct cursor *c)
{
	while (c->i < c->n && blank(c->s[c->i]))
		c->i++;
}

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

static int bad(struct cursor *c, size_t from, size_t to, const char *what)
{
	build_error(c->r, DIAG_OPERAND, c->at + (uint32_t)from, c->at + (uint32_t)to, "%s", what);
	return -1;
}

/* ---- registers ---- */

struct named {
	const char *name;
	uint16_t reg, n; /* n 0: reads as nothing that is tracked */
	bool derived;    /* its value is not the register's own */
};

/* Numbers of special registers in the scalar file are those of the encoding. */
static const struct named special[] = {
	{ "vcc", REG_VCC, 2, false }, { "vcc_lo", REG_VCC, 1, false }, { "vcc_hi", REG_VCC + 1, 1, false },
	{ "exec", REG_EXEC, 2, false }, { "exec_lo", REG_EXEC, 1, false }, { "exec_hi", REG_EXEC + 1, 1, false },
	{ "m0", REG_M0, 1, false }, { "scc", REG_SCC, 1, false }, { "src_scc", REG_SCC, 1, false },
	{ "vccz", REG_VCC, 1, true }, { "src_vccz", REG_VCC, 1, true }, { "execz", REG_EXEC, 1, true },
	{ "src_execz", REG_EXEC, 1, true },
	{ "flat_scratch", REG_SGPR + 102, 2, false }, { "flat_scratch_lo", REG_SGPR + 102, 1, false }, { "flat_scratch_hi", REG_SGPR + 103, 1, false },
	{ "xnack_mask", REG_SGPR + 104, 2, false }, { "xnack_mask_lo", REG_SGPR + 104, 1, false }, { "xnack_mask_hi", REG_SGPR + 105, 1, false },
	{ "null", 0, 0, true }, { "off", 0, 0, false }, /* and what never changes: */
	{ "src_shared_base", 0, 0, true }, { "src_shared_limit", 0, 0, true }, { "src_private_base", 0, 0, true },
	{ "src_private_limit", 0, 0, true }, { "src_pops_exiting_wave_id", 0, 0, true },
	{ "src_flat_scratch_base_lo", 0, 0, true }, { "src_flat_scratch_base_hi", 0, 0, true },
	{ "src_lds_direct", REG_M0, 1, true }, { "lds_direct", REG_M0, 1, true },
};

struct file {
	const char *prefix;
	unsigned base, size;
	bool vector;
};

static struct file file_of(const struct reader *r, const char *s, size_t n)
{
	bool wide = r->isa == ISA_1250;

	if (n == 1 && s[0] == 'v')
		return (struct file){ "v", 0, wide ? 1024 : 256, true };
	if (((n == 1 && s[0] == 'a') || is(s, n, "acc")) && !wide)
		return (struct file){ "a", REG_AGPR, 256, true };
	if (n == 1 && s[0] == 's')
		return (struct file){ "s", REG_SGPR, wide ? 106 : 102, false };
	if (is(s, n, "ttmp"))
		return (struct file){ "ttmp", REG_SGPR + 108, 16, false };
	return (struct file){ 0 };
}

static int set_register(struct cursor *c, size_t from, const struct file *f, int64_t first, int64_t last, struct operand *o)
{
	if (first < 0 || last < first || last >= (int64_t)f->size) {
		build_error(c->r, DIAG_OPERAND, c->at + (uint32_t)from, c->at + (uint32_t)c->i,
			    last < first ? "the range of registers runs backwards" : "there is no such register: the last one is %s%u",
			    f->prefix, f->size - 1);
		return -1;
	}
	if (last - first >= 32)
		return bad(c, from, c->i, "more than 32 registers");
	o->kind = OPERAND_REG;
	o->vector = f->vector;
	o->reg = (uint16_t)(f->base + (unsigned)first);
	o->n = (uint16_t)(last - first + 1);
	return 0;
}

/* "[a:b]" or "[a]" behind a register file's letter. */
static int register_range(struct cursor *c, size_t from, const struct file *f, struct operand *o)
{
	size_t open = c->i, colon = 0, close = open + 1;
	int64_t first, last;

	while (close < c->n && c->s[close] != ']') {
		if (c->s[close] == ':')
			colon = close;
		close++;
	}
	if (close >= c->n)
		return bad(c, from, c->n, "a ] is missing");
	c->i = close + 1;
	if (expr_eval(&c->r->set, c->s + open + 1, (colon ? colon : close) - open - 1, &first) < 0 ||
	    (colon && expr_eval(&c->r->set, c->s + colon + 1, close - colon - 1, &last) < 0))
		return bad(c, from, c->i, "a register number is no number or uses an unknown symbol");
	return set_register(c, from, f, first, colon ? last : first, o);
}

static int parse_simple(struct cursor *c, struct operand *o);

/* "[s0,s1,s2,s3]": consecutive registers. */
static int register_list(struct cursor *c, struct operand *o)
{
	size_t from = c->i++;

	for (;;) {
		struct operand one = { 0 };

		skip_blanks(c);
		if (c->i >= c->n || c->s[c->i] == '[')
			return bad(c, from, c->i, "a list of registers is not closed");
		if (parse_simple(c, &one) < 0)
			return -1;
		if (one.kind != OPERAND_REG || !one.n || (o->n && one.reg != o->reg + o->n) || o->n + one.n > 32)
			return bad(c, from, c->i, "a list of registers must name consecutive ones");
		if (!o->n)
			*o = one;
		else
			o->n = (uint16_t)(o->n + one.n);
		skip_blanks(c);
		if (c->i < c->n && c->s[c->i] == ',') {
			c->i++;
			continue;
		}
		if (c->i >= c->n || c->s[c->i] != ']')
			return bad(c, from, c->i, "a list of registers is not closed");
		c->i++;
		return 0;
	}
}

static bool half_suffix(struct cursor *c, struct operand *o, size_t from, size_t *len)
{
	const char *s = c->s + from;
	size_t n = *len;

	if (n < 3 || s[n - 2] != '.' || (s[n - 1] != 'l' && s[n - 1] != 'h'))
		return false;
	o->high = s[n - 1] == 'h';
	*len = n - 2;
	return true;
}

/* a5, acc5 or a[..] where there are none. */
static bool absent_file(const struct cursor *c, size_t from, size_t n, size_t letters, size_t end)
{
	const char *s = c->s + from;

	if (c->r->isa != ISA_1250 || !((letters == 1 && s[0] == 'a') || (letters == 3 && !memcmp(s, "acc", 3))))
		return false;
	if (letters == n)
		return end < c->n && c->s[end] == '[';
	for (size_t i = letters; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return true;
}

/* A word that is a register: 1, none: 0, error: -1. Leaves the cursor behind it. */
static int register_word(struct cursor *c, struct operand *o)
{
	size_t from = c->i, end = from, letters, n;
	struct file f;
	int64_t v = 0;

	while (end < c->n && ident_char(c->s[end]))
		end++;
	n = end - from;
	half_suffix(c, o, from, &n);
	for (letters = 0; letters < n && c->s[from + letters] >= 'a' && c->s[from + letters] <= 'z'; letters++)
		;
	if (absent_file(c, from, n, letters, end))
		return bad(c, from, end, "the target has no accumulation registers");
	f = file_of(c->r, c->s + from, letters);
	if (f.size && letters == n && end < c->n && c->s[end] == '[') {
		c->i = end;
		return register_range(c, from, &f, o) < 0 ? -1 : 1;
	}
	if (f.size && letters < n) {
		size_t i = letters;

		for (; i < n && c->s[from + i] >= '0' && c->s[from + i] <= '9' && v < 100000; i++)
			v = v * 10 + (c->s[from + i] - '0');
		if (i == n) {
			c->i = end;
			return set_register(c, from, &f, v, v, o) < 0 ? -1 : 1;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(special); i++)
		if (is(c->s + from, n, special[i].name)) {
			c->i = end;
			o->kind = special[i].n ? OPERAND_REG : OPERAND_OFF;
			o->reg = special[i].reg;
			o->n = special[i].n;
			o->special = special[i].derived ? special[i].name : NULL;
			return 1;
		}
	return 0;
}

/* ---- numbers, symbols, calls ---- */

/* Past brackets and to the next blank or comma outside of them. */
static size_t word_end(const struct cursor *c)
{
	unsigned depth = 0;
	size_t i = c->i;

	for (; i < c->n; i++) {
		char x = c->s[i];

		if (x == '(' || x == '[')
			depth++;
		else if ((x == ')' || x == ']') && depth)
			depth--;
		else if (!depth && (x == ',' || blank(x)))
			break;
	}
	return i;
}

/* End of an expression: blanks around operators belong to it. */
static size_t expression_end(struct cursor *c)
{
	size_t i = word_end(c);

	for (;;) {
		size_t j = i;

		while (j < c->n && blank(c->s[j]))
			j++;
		if (j == i || j >= c->n || !strchr("+-*/|&<>%", c->s[j]) || !(j + 1 < c->n && (blank(c->s[j + 1]) || strchr("<>", c->s[j + 1]))))
			return i;
		while (j < c->n && (blank(c->s[j]) || strchr("+-*/|&<>%", c->s[j])))
			j++;
		c->i = j;
		i = word_end(c);
	}
}

static bool float_like(const char *s, size_t n)
{
	bool digits = false, dot = false;
	size_t i = n && s[0] == '-';

	if (i + 1 < n && s[i] == '0' && (s[i + 1] == 'x' || s[i + 1] == 'X'))
		return false;
	for (; i < n; i++) {
		if (s[i] >= '0' && s[i] <= '9')
			digits = true;
		else if (s[i] == '.')
			dot = true;
		else if (!(digits && (s[i] == 'e' || s[i] == 'E' || ((s[i] == '-' || s[i] == '+') && (s[i - 1] | 32) == 'e'))))
			return false;
		else
			dot = true;
	}
	return digits && dot;
}

static bool inline_float(const char *s, size_t n)
{
	static const char *const list[] = { "0.5", "1.0", "2.0", "4.0", "0.0", "0.15915494", "0.15915494309189532", "0.1592" };

	if (n && s[0] == '-') {
		s++;
		n--;
	}
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (is(s, n, list[i]))
			return true;
	return false;
}

static double real_number(const char *s, size_t n)
{
	char text[64];
	double v = 0;

	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	memcpy(text, s, n);
	text[n] = '\0';
	return parse_double(text, &v) == 0 ? v : 0;
}

static int value_or_symbol(struct cursor *c, struct operand *o)
{
	size_t from = c->i, end = expression_end(c), n = end - from, k = 0;
	const char *s = c->s + from;

	c->i = end;
	if (!n)
		return bad(c, from, from + 1 < c->n ? from + 1 : c->n, "an operand is missing");
	if (float_like(s, n)) {
		o->kind = OPERAND_VALUE;
		o->real = true;
		o->number = real_number(s, n);
		o->literal = !inline_float(s, n);
		return 0;
	}
	switch (expr_eval(&c->r->set, s, n, &o->value)) {
	case 0:
		o->kind = OPERAND_VALUE;
		o->literal = o->value < -16 || o->value > 64;
		return 0;
	case -2:
		o->literal = true;
		break;
	default:
		o->literal = true;
		if (ident_start(s[0])) /* foo@rel32@lo+4, sendmsg(MSG_GET_DOORBELL) */
			break;
		return bad(c, from, end, "this is no register, number or symbol");
	}
	while (k < n && ident_char(s[k]))
		k++;
	o->kind = k && k < n && s[k] == '(' ? OPERAND_CALL : OPERAND_SYMBOL;
	return 0;
}

static int parse_simple(struct cursor *c, struct operand *o)
{
	int is_register;

	skip_blanks(c);
	if (c->i < c->n && c->s[c->i] == '[')
		return register_list(c, o);
	is_register = c->i < c->n && ident_start(c->s[c->i]) ? register_word(c, o) : 0;
	if (is_register)
		return is_register < 0 ? -1 : 0;
	return value_or_symbol(c, o);
}

/* "abs(", "neg(", "sext(", "lit(": the operand is inside. */
static size_t wrapper(const struct cursor *c, struct operand *o)
{
	static const char *const words[] = { "abs(", "neg(", "sext(", "lit(", "lit64(" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t k = strlen(words[i]);

		if (c->n - c->i > k && !memcmp(c->s + c->i, words[i], k)) {
			o->abs = o->abs || words[i][0] == 'a';
			o->neg ^= words[i][0] == 'n' && !o->abs; /* |-x| has no sign */
			o->sext = o->sext || words[i][0] == 's';
			return k;
		}
	}
	return 0;
}

static int expect(struct cursor *c, size_t from, char x)
{
	skip_blanks(c);
	if (c->i >= c->n || c->s[c->i] != x)
		return bad(c, from, c->i > from ? c->i : from + 1, x == ')' ? "a ) is missing" : "a | is missing");
	c->i++;
	return 0;
}

#define MAX_WRAPPERS 4

static int parse_operand(struct cursor *c, struct operand *o)
{
	size_t from, k;
	char close[MAX_WRAPPERS];
	bool wide = false;
	unsigned n = 0;

	skip_blanks(c);
	from = c->i;
	o->begin = c->at + (uint32_t)from;
	while (n < MAX_WRAPPERS && c->i < c->n) {
		bool minus = c->s[c->i] == '-' && c->i + 1 < c->n && (ident_start(c->s[c->i + 1]) || c->s[c->i + 1] == '|');

		if ((k = wrapper(c, o))) {
			wide = wide || k == strlen("lit64(");
			close[n++] = ')';
			c->i += k;
		} else if (c->s[c->i] == '|') {
			close[n++] = '|';
			c->i++;
			o->abs = true;
		} else if (minus) {
			c->i++;
			o->neg ^= !o->abs;
		} else {
			break;
		}
		skip_blanks(c);
	}
	if (n && close[n - 1] == '|') { /* the expression must not swallow the bar */
		struct cursor in = *c;
		const char *bar = memchr(c->s + c->i, '|', c->n - c->i);

		if (!bar)
			return bad(c, from, c->n, "a | is missing");
		in.n = (size_t)(bar - c->s);
		if (parse_simple(&in, o) < 0)
			return -1;
		c->i = in.i;
	} else if (n && close[n - 1] == ')') {
		struct cursor in = *c;
		unsigned depth = 0;

		if (++in.depth > MAX_WRAPPERS)
			return bad(c, from, from + 1, "too many brackets around an operand");
		for (in.n = in.i; in.n < c->n && (c->s[in.n] != ')' || depth); in.n++)
			depth += c->s[in.n] == '(' ? 1u : c->s[in.n] == ')' ? -1u : 0u;
		if (parse_operand(&in, o) < 0)
			return -1;
		c->i = in.i;
	} else if (parse_simple(c, o) < 0) {
		return -1;
	}
	while (n--)
		if (expect(c, from, close[n]) < 0)
			return -1;
	o->wide = o->wide || wide;
	o->literal = o->literal || wide;
	o->end = c->at + (uint32_t)c->i;
	return 0;
}

/* ---- modifiers ---- */

/* Does a modifier begin here: a word followed by ":" and no second ":", or one of the plain ones? */
static bool modifier_begins(const struct cursor *c)
{
	static const char *const plain[] = {
		"offen", "idxen", "addr64", "lds", "glc", "slc", "dlc", "sc0", "sc1", "nt", "tfe", "lwe", "gds", "clamp", "nv",
		"high", "mul", "div", "matrix_a_reuse", "matrix_b_reuse", "fi", "scale_offset", "r128",
		"bound_ctrl", "row_mirror", "row_half_mirror", "compr", "vm", "done",
	};
	size_t i = c->i;

	/* Most operands are numbered registers: none of the words is a letter and a digit. */
	if (i + 1 < c->n && (c->s[i] == 'v' || c->s[i] == 's' || c->s[i] == 'a') &&
	    (c->s[i + 1] == '[' || (c->s[i + 1] >= '0' && c->s[i + 1] <= '9')))
		return false;
	while (i < c->n && ident_char(c->s[i]))
		i++;
	if (i == c->i)
		return false;
	if (i < c->n && c->s[i] == ':' && (i + 1 >= c->n || c->s[i + 1] != ':'))
		return true;
	for (size_t k = 0; k < ARRAY_LEN(plain); k++)
		if (is(c->s + c->i, i - c->i, plain[k]))
			return true;
	return false;
}

int operands_parse(struct reader *r, const char *s, size_t n, uint32_t at, struct operands *out)
{
	struct cursor c = { .r = r, .s = s, .n = n, .at = at };

	out->n = 0;
	out->mods = NULL;
	out->mods_len = 0;
	skip_blanks(&c);
	while (c.i < c.n && !modifier_begins(&c)) {
		if (out->n == MAX_OPERANDS)
			return bad(&c, c.i, c.n, "too many operands");
		out->o[out->n] = (struct operand){ 0 };
		if (parse_operand(&c, &out->o[out->n]) < 0)
			return -1;
		out->n++;
		skip_blanks(&c);
		if (c.i >= c.n || c.s[c.i] != ',')
			break;
		c.i++;
		skip_blanks(&c);
		if (c.i >= c.n)
			return bad(&c, c.n - 1, c.n, "an operand is missing behind the comma");
	}
	if (c.i < c.n) {
		if (!modifier_begins(&c))
			return bad(&c, c.i, word_end(&c), "this is no modifier; a comma may be missing in front of it");
		out->mods = s + c.i;
		out->mods_len = n - c.i;
	}
	return 0;
}

static const char *find_word(const char *mods, size_t n, const char *word)
{
	size_t k = strlen(word);

	for (size_t i = 0; i + k <= n; i++)
		if (mods[i] == word[0] && (i == 0 || !ident_char(mods[i - 1])) && !memcmp(mods + i, word, k) && (i + k == n || !ident_char(mods[i + k])))
			return mods + i;
	return NULL;
}

bool mods_has(const char *mods, size_t n, const char *word)
{
	return mods && find_word(mods, n, word);
}

bool mods_value(const char *mods, size_t n, const char *name, int64_t *value, const char **word, size_t *word_len)
{
	const char *s = mods ? find_word(mods, n, name) : NULL, *end = mods ? mods + n : NULL;
	struct symtab none = { 0 };
	size_t k = 0;

	if (!s || (s += strlen(name)) >= end || *s++ != ':')
		return false;
	while (s + k < end && (ident_char(s[k]) || s[k] == '-'))
		k++;
	*word = s;
	*word_len = k;
	if (expr_eval(&none, s, k, value) < 0)
		*value = -1;
	return true;
}
