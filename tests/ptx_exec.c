#include "ptx_exec.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define MAX_REGS 1024
#define MAX_WARPS 32
#define MAX_PENDING 4096

enum kind { K_REG, K_IMM, K_ADDRESS, K_LABEL, K_SPECIAL };
struct operand {
	enum kind kind;
	int n, reg[4]; /* REG: list; ADDRESS: reg[0] or a symbol in value */
	int64_t value; /* IMM, ADDRESS offset, LABEL number */
	char name[32]; /* SPECIAL, symbols */
};
struct code {
	char op[80];
	int guard; /* register, -1: none */
	bool negated;
	unsigned nops;
	struct operand o[5];
};
struct label { char name[32]; size_t at; };
struct table { char name[32]; uint32_t word[64]; unsigned n; };
struct targets { char name[32]; char label[512][32]; size_t n; };
struct pending { uint64_t group; uint32_t to; uint8_t data[16]; unsigned bytes; };

struct warp {
	size_t pc;
	bool done, waiting;
	int bar;
	uint64_t (*reg)[32]; /* [register][lane] */
	struct pending *copy;
	size_t ncopies;
	uint64_t group; /* open copy group */
};

struct machine {
	struct ptx_run *r;
	char names[MAX_REGS][16];
	int nnames;
	struct code *code;
	size_t ncode, capcode;
	struct label *label;
	size_t nlabels, caplabels;
	struct table table[128];
	size_t ntables;
	struct targets *targets;
	size_t ntargets, captargets;
	struct warp warp[MAX_WARPS];
	unsigned nwarps;
	char *lines; /* the text, cut up */
	uint8_t *shared;
	unsigned arrived[16], expected[16]; /* threads */
	jmp_buf out;
};

static _Noreturn void fail(struct machine *m, const char *fmt, ...) PRINTF_LIKE(2, 3);
static _Noreturn void fail(struct machine *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->r->error, sizeof(m->r->error), fmt, ap);
	va_end(ap);
	longjmp(m->out, 1);
}

/* ---- reading ---- */

static int reg_number(struct machine *m, const char *s, size_t n)
{
	for (int i = 0; i < m->nnames; i++)
		if (strlen(m->names[i]) == n && !strncmp(m->names[i], s, n))
			return i;
	if (m->nnames == MAX_REGS || n >= sizeof(m->names[0]))
		fail(m, "too many registers");
	memcpy(m->names[m->nnames], s, n);
	return m->nnames++;
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '%' || s[n] == '.' || s[n] == '$')
		n++;
	return n;
}

static const char *special(const char *s, size_t n)
{
	static const char *const names[] = { "%tid.x", "%ctaid.x", "%clock64" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == n && !strncmp(names[i], s, n))
			return names[i];
	return NULL;
}

static const char *read_operand(struct machine *m, const char *s, struct operand *o)
{
	memset(o, 0, sizeof(*o));
	if (*s == '{' || *s == '[') {
		bool list = *s++ == '{';

		o->kind = list ? K_REG : K_ADDRESS;
		while (*s && *s != '}' && *s != ']') {
			size_t n = word_length(s);

			if (*s == '%') {
				o->reg[o->n++ & 3] = reg_number(m, s, n);
				s += n;
			} else if (*s == '+' || isdigit((unsigned char)*s) || *s == '-') {
				char *end;

				s += *s == '+';
				o->value = strtoll(s, &end, 10);
				s = end;
			} else if (n) {
				snprintf(o->name, sizeof(o->name), "%.*s", (int)n, s);
				s += n;
			} else {
				s++;
			}
		}
		return s + 1;
	}
	if (*s == '%') {
		size_t n = word_length(s);
		const char *name = special(s, n);

		if (name) {
			o->kind = K_SPECIAL;
			snprintf(o->name, sizeof(o->name), "%s", name);
		} else {
			o->kind = K_REG;
			o->n = 1;
			o->reg[0] = reg_number(m, s, n);
		}
		return s + n;
	}
	if (isdigit((unsigned char)*s) || *s == '-') {
		char *end;

		o->kind = K_IMM;
		o->value = strtoll(s, &end, 0);
		return end;
	}
	o->kind = K_LABEL;
	snprintf(o->name, sizeof(o->name), "%.*s", (int)word_length(s), s);
	return s + word_length(s);
}

static void read_insn(struct machine *m, const char *s)
{
	struct code *c;

	m->code = xgrow(m->code, m->ncode, &m->capcode, sizeof(*m->code));
	c = &m->code[m->ncode++];
	memset(c, 0, sizeof(*c));
	c->guard = -1;
	if (*s == '@') {
		c->negated = *++s == '!';
		s += c->negated;
		c->guard = reg_number(m, s, word_length(s));
		s += word_length(s);
		s += strspn(s, " ");
	}
	{
		size_t n = strcspn(s, " ;");

		snprintf(c->op, sizeof(c->op), "%.*s", (int)n, s);
		s += n;
	}
	while (*s && *s != ';') {
		s += strspn(s, " ,");
		if (*s == ';' || !*s)
			break;
		if (c->nops == ARRAY_LEN(c->o))
			fail(m, "too many operands of %s", c->op);
		s = read_operand(m, s, &c->o[c->nops++]);
	}
}

static void read_table(struct machine *m, const char *s)
{
	struct table *t = &m->table[m->ntables++];
	const char *name = strstr(s, "tab"), *brace = strchr(s, '{');

	snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(name, "["), name);
	for (const char *p = brace + 1; *p && *p != '}' && t->n < 64;) {
		char *end;

		t->word[t->n++] = (uint32_t)strtoul(p, &end, 10);
		p = *end == ',' ? end + 1 : end;
	}
}

static void read_targets(struct machine *m, const char *s)
{
	struct targets *t;

	m->targets = xgrow(m->targets, m->ntargets, &m->captargets, sizeof(*m->targets));
	t = &m->targets[m->ntargets++];
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%.*s", (int)strcspn(s, ":"), s);
	for (s = strstr(s, ".branchtargets") + 14; *s && *s != ';';) {
		s += strspn(s, " ,");
		if (t->n == ARRAY_LEN(t->label))
			fail(m, "too many branch targets");
		snprintf(t->label[t->n++], 32, "%.*s", (int)word_length(s), s);
		s += word_length(s);
	}
}

static void read_text(struct machine *m)
{
	char *save = NULL;
	bool body = false;

	m->lines = xstrdup(m->r->text);
	for (char *line = strtok_r(m->lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *s = line + strspn(line, " \t");

		if (!strncmp(s, ".const", 6))
			read_table(m, s);
		if (*s == '{')
			body = true;
		if (!body || *s == '{' || *s == '}' || *s == '.' || !strncmp(s, "//", 2) || !*s)
			continue;
		if (strstr(s, ".branchtargets")) {
			read_targets(m, s);
		} else if (s[strcspn(s, " ")] == '\0' && s[strlen(s) - 1] == ':') {
			m->label = xgrow(m->label, m->nlabels, &m->caplabels, sizeof(*m->label));
			snprintf(m->label[m->nlabels].name, 32, "%.*s", (int)strlen(s) - 1, s);
			m->label[m->nlabels++].at = m->ncode;
		} else {
			read_insn(m, s);
		}
	}
}

static size_t label_at(struct machine *m, const char *name)
{
	for (size_t i = 0; i < m->nlabels; i++)
		if (!strcmp(m->label[i].name, name))
			return m->label[i].at;
	fail(m, "no label %s", name);
}

/* ---- numbers ---- */

static float as_float(uint64_t v)
{
	uint32_t w = (uint32_t)v;
	float f;

	memcpy(&f, &w, 4);
	return f;
}

static uint32_t float_bits(float f)
{
	uint32_t w;

	memcpy(&w, &f, 4);
	return w;
}

static double half_value(uint32_t h)
{
	unsigned e = h >> 10 & 31, f = h & 1023;
	double v = e == 0 ? ldexp(f, -24) : e == 31 ? (f ? NAN : INFINITY) : ldexp(1024 + f, (int)e - 25);

	return h & 0x8000 ? -v : v;
}

/* Round to nearest even; only finite values in range are asked for. */
static uint32_t half_bits(double v)
{
	uint32_t sign = v < 0 ? 0x8000 : 0;
	int e;
	double a = fabs(v), f;

	if (isnan(v))
		return 0x7fff;
	if (a == 0)
		return sign;
	f = frexp(a, &e); /* a = f * 2^e, f in [0.5, 1) */
	if (e < -13)
		return sign | (uint32_t)nearbyint(ldexp(a, 24));
	f = nearbyint(ldexp(f, 11));
	return sign | ((uint32_t)((e + 13) << 10) + (uint32_t)f);
}

static double element(uint32_t word, unsigned i, bool bf16)
{
	uint32_t h = word >> 16 * i & 0xffff;

	return bf16 ? as_float((uint64_t)h << 16) : half_value(h);
}

/* ---- executing ---- */

static uint64_t value(struct machine *m, const struct warp *w, const struct operand *o, unsigned lane)
{
	switch (o->kind) {
	case K_REG: return w->reg[o->reg[0]][lane];
	case K_IMM: return (uint64_t)o->value;
	case K_SPECIAL:
		if (!strcmp(o->name, "%tid.x"))
			return (uint64_t)(w - m->warp) * 32 + lane;
		return !strcmp(o->name, "%ctaid.x") ? m->r->workgroup : 12345;
	case K_LABEL: /* the address of a symbol: shared memory from 0, tables at 1 << 20 and up */
		for (size_t i = 0; i < m->ntables; i++)
			if (!strcmp(m->table[i].name, o->name))
				return (1u << 20) + 1024 * i;
		return 0;
	case K_ADDRESS: break;
	}
	fail(m, "an operand can't be read");
}

static uint64_t address(const struct warp *w, const struct operand *o, unsigned lane)
{
	return (o->n ? w->reg[o->reg[0]][lane] : 0) + (uint64_t)o->value;
}

static bool enabled(const struct warp *w, const struct code *c, unsigned lane)
{
	return c->guard < 0 || (w->reg[c->guard][lane] != 0) != c->negated;
}

static uint8_t *global(struct machine *m, uint64_t at, unsigned bytes)
{
	size_t i = (size_t)(at >> 40) - 1;
	uint64_t off = at & ((UINT64_C(1) << 40) - 1);

	if (i >= m->r->nargs || off + bytes > m->r->arg[i].size || off % bytes)
		fail(m, "global access of %u bytes at %llu of argument %zu", bytes, (unsigned long long)off, i);
	return m->r->arg[i].bytes + off;
}

static uint8_t *shared(struct machine *m, uint64_t at, unsigned bytes)
{
	at &= 0xffffffff;
	if (at + bytes > m->r->shared_bytes || at % bytes)
		fail(m, "shared access of %u bytes at %llu", bytes, (unsigned long long)at);
	return m->shared + at;
}

static void matrix_op(struct machine *m, struct warp *w, const struct code *c)
{
	bool bf16 = strstr(c->op, "bf16") != NULL, half = strstr(c->op, "col.f16") != NULL;
	double a[16][16], b[16][8], d[16][8];

	for (unsigned l = 0; l < 32; l++) {
		unsigned g = l / 4, t = l % 4;

		for (unsigned i = 0; i < 8; i++) /* element i of A: register i / 2 */
			a[g + (i / 2 % 2) * 8][2 * t + i % 2 + i / 4 * 8] = element((uint32_t)w->reg[c->o[1].reg[i / 2]][l], i % 2, bf16);
		for (unsigned i = 0; i < 4; i++)
			b[2 * t + i % 2 + i / 2 * 8][g] = element((uint32_t)w->reg[c->o[2].reg[i / 2]][l], i % 2, bf16);
		for (unsigned i = 0; i < 4; i++)
			d[g + i / 2 * 8][2 * t + i % 2] = half ? element((uint32_t)w->reg[c->o[3].reg[i / 2]][l], i % 2, false)
							       : as_float(w->reg[c->o[3].reg[i]][l]);
	}
	for (unsigned i = 0; i < 16; i++)
		for (unsigned j = 0; j < 8; j++)
			for (unsigned k = 0; k < 16; k++)
				d[i][j] += a[i][k] * b[k][j];
	for (unsigned l = 0; l < 32; l++)
		for (unsigned i = 0; i < 4; i++) {
			double v = d[l / 4 + i / 2 * 8][2 * (l % 4) + i % 2];
			uint64_t *to = &w->reg[c->o[0].reg[half ? i / 2 : i]][l];

			if (!half)
				*to = float_bits((float)v);
			else
				*to = i % 2 ? (*to & 0xffff) | (uint64_t)half_bits(v) << 16 : half_bits(v);
		}
	m->r->mma++;
}

static void load_matrix(struct machine *m, struct warp *w, const struct code *c)
{
	for (int i = 0; i < c->o[0].n; i++)
		for (unsigned l = 0; l < 32; l++) {
			const uint8_t *row = shared(m, address(w, &c->o[1], (unsigned)i * 8 + l / 4), 16);
			uint32_t v;

			memcpy(&v, row + l % 4 * 4, 4);
			w->reg[c->o[0].reg[i]][l] = v;
		}
}

static void memory_op(struct machine *m, struct warp *w, const struct code *c)
{
	bool load = !strncmp(c->op, "ld.", 3), wide = strstr(c->op, ".u64") != NULL;
	const struct operand *at = &c->o[load ? 1 : 0], *data = &c->o[load ? 0 : 1];
	unsigned each = wide ? 8 : 4, bytes = each * (unsigned)data->n;

	for (unsigned l = 0; l < 32; l++) {
		uint8_t *p;

		if (!enabled(w, c, l))
			continue;
		p = strstr(c->op, ".shared") ? shared(m, address(w, at, l), bytes) : global(m, address(w, at, l), bytes);
		for (int i = 0; i < data->n; i++) {
			uint64_t v = 0;

			if (load) {
				memcpy(&v, p + (unsigned)i * each, each);
				w->reg[data->reg[i]][l] = v;
			} else {
				memcpy(p + (unsigned)i * each, &w->reg[data->reg[i]][l], each);
			}
		}
	}
}

static void copy_op(struct machine *m, struct warp *w, const struct code *c)
{
	unsigned bytes = (unsigned)c->o[2].value;

	for (unsigned l = 0; l < 32; l++) {
		struct pending *p = &w->copy[w->ncopies];

		if (!enabled(w, c, l))
			continue;
		if (w->ncopies++ == MAX_PENDING)
			fail(m, "too many copies under way");
		p->group = w->group;
		p->bytes = bytes;
		p->to = (uint32_t)address(w, &c->o[0], l);
		shared(m, p->to, bytes);
		memcpy(p->data, global(m, address(w, &c->o[1], l), bytes), bytes);
	}
	m->r->copies++;
	if (m->r->early) {
		for (size_t i = 0; i < w->ncopies; i++)
			memcpy(shared(m, w->copy[i].to, w->copy[i].bytes), w->copy[i].data, w->copy[i].bytes);
		w->ncopies = 0;
	}
}

static void wait_copies(struct machine *m, struct warp *w, uint64_t remain)
{
	size_t keep = 0;

	for (size_t i = 0; i < w->ncopies; i++) {
		if (w->copy[i].group + remain < w->group)
			memcpy(shared(m, w->copy[i].to, w->copy[i].bytes), w->copy[i].data, w->copy[i].bytes);
		else
			w->copy[keep++] = w->copy[i];
	}
	w->ncopies = keep;
}

static void barrier_op(struct machine *m, struct warp *w, const struct code *c)
{
	int id = (int)c->o[0].value;
	unsigned need = c->nops > 1 ? (unsigned)c->o[1].value : m->r->threads;

	if (!enabled(w, c, 0))
		return;
	m->r->barriers++;
	m->expected[id] = need;
	m->arrived[id] += 32;
	if (!strcmp(c->op, "bar.sync")) {
		w->waiting = true;
		w->bar = id;
	}
	if (m->arrived[id] > need)
		fail(m, "too many threads at barrier %d", id);
	if (m->arrived[id] == need) {
		m->arrived[id] = 0;
		for (unsigned i = 0; i < m->nwarps; i++)
			if (m->warp[i].waiting && m->warp[i].bar == id)
				m->warp[i].waiting = false;
	}
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static uint64_t arithmetic(struct machine *m, const char *op, uint64_t a, uint64_t b, uint64_t c)
{
	uint32_t x = (uint32_t)a, y = (uint32_t)b, z = (uint32_t)c;

	if (starts(op, "mov.") || starts(op, "cvta.") || starts(op, "cvt.u64.u32") || starts(op, "cvt.u32.u64"))
		return strstr(op, "u64.u32") || strstr(op, "b32") || strstr(op, "u32") ? x : a;
	if (starts(op, "add.u32"))
		return x + y;
	if (starts(op, "sub.u32"))
		return x - y;
	if (starts(op, "add.s64"))
		return a + b;
	if (starts(op, "mad.lo.u32"))
		return x * y + z;
	if (starts(op, "mad.lo.u64"))
		return a * b + c;
	if (starts(op, "mul.wide.u32"))
		return (uint64_t)x * y;
	if (starts(op, "shl.b32"))
		return y > 31 ? 0 : x << y;
	if (starts(op, "shr.u32"))
		return y > 31 ? 0 : x >> y;
	if (starts(op, "shr.u64"))
		return y > 63 ? 0 : a >> y;
	if (starts(op, "and.b32"))
		return x & y;
	if (starts(op, "or.b32"))
		return x | y;
	if (starts(op, "xor.b32"))
		return x ^ y;
	if (starts(op, "rem.u32"))
		return x % y;
	if (starts(op, "div.u32"))
		return x / y;
	if (starts(op, "setp.lt.u32"))
		return x < y;
	if (starts(op, "setp.ge.u32"))
		return x >= y;
	if (starts(op, "setp.eq.u32"))
		return x == y;
	if (starts(op, "setp.ne.u32"))
		return x != y;
	if (starts(op, "cvt.rn.f16x2.f32")) /* the first operand goes to the upper half */
		return half_bits(as_float(a)) << 16 | half_bits(as_float(b));
	if (starts(op, "cvt.rn.bf16x2.f32"))
		return (x & 0xffff0000) | y >> 16;
	if (starts(op, "add.f32"))
		return float_bits(as_float(a) + as_float(b));
	fail(m, "unknown instruction %s", op);
}

static void plain_op(struct machine *m, struct warp *w, const struct code *c)
{
	uint64_t result[32];

	for (unsigned l = 0; l < 32; l++) {
		if (starts(c->op, "ld.param")) {
			result[l] = (uint64_t)(strtoul(c->o[1].name + 3, NULL, 10) + 1) << 40;
		} else if (starts(c->op, "ld.const")) {
			uint64_t at = address(w, &c->o[1], l) - (1u << 20);

			if (at / 1024 >= m->ntables || at % 1024 / 4 >= m->table[at / 1024].n)
				fail(m, "no such word of constant memory");
			result[l] = m->table[at / 1024].word[at % 1024 / 4];
		} else if (starts(c->op, "shfl.sync.idx")) {
			result[l] = value(m, w, &c->o[1], (unsigned)value(m, w, &c->o[2], l) & 31);
		} else {
			result[l] = arithmetic(m, c->op, value(m, w, &c->o[1], l), c->nops > 2 ? value(m, w, &c->o[2], l) : 0,
					       c->nops > 3 ? value(m, w, &c->o[3], l) : 0);
		}
	}
	for (unsigned l = 0; l < 32; l++)
		if (enabled(w, c, l))
			w->reg[c->o[0].reg[0]][l] = result[l];
}

/* Branches are uniform in a warp, or it is an error. */
static void branch(struct machine *m, struct warp *w, const struct code *c)
{
	unsigned taken = 0;

	for (unsigned l = 0; l < 32; l++)
		taken += enabled(w, c, l);
	if (taken && taken != 32)
		fail(m, "a branch parts the lanes of a warp");
	if (!taken)
		return;
	if (starts(c->op, "brx")) {
		size_t i = (size_t)value(m, w, &c->o[0], 0);

		for (size_t k = 0; k < m->ntargets; k++)
			if (!strcmp(m->targets[k].name, c->o[1].name) && i < m->targets[k].n) {
				w->pc = label_at(m, m->targets[k].label[i]);
				for (size_t x = 0; x < m->targets[k].n; x++)
					label_at(m, m->targets[k].label[x]); /* all of them must be there */
				return;
			}
		fail(m, "no branch target");
	}
	w->pc = label_at(m, c->o[0].name);
}

static void step(struct machine *m, struct warp *w)
{
	const struct code *c = &m->code[w->pc++];

	m->r->insns++;
	if (starts(c->op, "mma."))
		matrix_op(m, w, c);
	else if (starts(c->op, "ldmatrix"))
		load_matrix(m, w, c);
	else if (starts(c->op, "cp.async.commit_group"))
		w->group++;
	else if (starts(c->op, "cp.async.wait_group"))
		wait_copies(m, w, (uint64_t)c->o[0].value);
	else if (starts(c->op, "cp.async"))
		copy_op(m, w, c);
	else if (starts(c->op, "bar."))
		barrier_op(m, w, c);
	else if (starts(c->op, "br"))
		branch(m, w, c);
	else if (starts(c->op, "ret"))
		w->done = true;
	else if ((starts(c->op, "ld.") || starts(c->op, "st.")) && (strstr(c->op, ".shared") || strstr(c->op, ".global")))
		memory_op(m, w, c);
	else
		plain_op(m, w, c);
}

static void run_warps(struct machine *m)
{
	uint64_t limit = m->r->limit ? m->r->limit : 10000000;

	for (;;) {
		bool moved = false, all = true;

		for (unsigned k = 0; k < m->nwarps; k++) {
			unsigned i = (m->r->order / 2 + (m->r->order % 2 ? m->nwarps - 1 - k : k)) % m->nwarps;
			struct warp *w = &m->warp[i];

			while (!w->done && !w->waiting) {
				step(m, w);
				moved = true;
				if (m->r->insns > limit)
					fail(m, "it does not end");
			}
			all &= w->done;
		}
		if (all)
			return;
		if (!moved)
			fail(m, "all warps wait at barriers");
	}
}

void ptx_execute(struct ptx_run *r)
{
	struct machine *m = xcalloc(1, sizeof(*m));

	r->error[0] = '\0';
	r->insns = r->mma = r->copies = r->barriers = 0;
	m->r = r;
	m->nwarps = r->threads / 32;
	m->shared = xmalloc(r->shared_bytes + 1);
	memset(m->shared, 0xff, r->shared_bytes + 1); /* not a number */
	if (!setjmp(m->out)) {
		read_text(m);
		for (unsigned i = 0; i < m->nwarps; i++) {
			m->warp[i].reg = xcalloc((size_t)m->nnames, sizeof(*m->warp[i].reg));
			m->warp[i].copy = xcalloc(MAX_PENDING, sizeof(*m->warp[i].copy));
		}
		run_warps(m);
	}
	for (unsigned i = 0; i < m->nwarps; i++) {
		free(m->warp[i].reg);
		free(m->warp[i].copy);
	}
	free(m->lines);
	free(m->shared);
	free(m->code);
	free(m->label);
	free(m->targets);
	free(m);
}
