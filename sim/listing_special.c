/* Waits, barriers, priorities, modes and branches: instructions whose operands are no registers. */
#include "listing_internal.h"

#include <string.h>

struct part { /* of an operand text */
	const char *s;
	size_t n;
	uint32_t at;
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct part trim(struct part p)
{
	while (p.n && blank(p.s[0])) {
		p.s++;
		p.n--;
		p.at++;
	}
	while (p.n && blank(p.s[p.n - 1]))
		p.n--;
	return p;
}

static bool is(struct part p, const char *word)
{
	return strlen(word) == p.n && !memcmp(p.s, word, p.n);
}

static int bad(struct reader *r, struct part p, const char *what)
{
	build_error(r, DIAG_OPERAND, p.at, p.at + (uint32_t)p.n, "%s", what);
	return -1;
}

/* A whole number in [lo, hi]. */
static int value(struct reader *r, struct part p, int64_t lo, int64_t hi, int64_t *out)
{
	p = trim(p);
	if (!p.n || expr_eval(&r->set, p.s, p.n, out) < 0)
		return bad(r, p, "a number is missing here");
	if (*out >= lo && *out <= hi)
		return 0;
	build_error(r, DIAG_OPERAND, p.at, p.at + (uint32_t)p.n, "%lld is out of range, %lld to %lld are allowed", (long long)*out,
		    (long long)lo, (long long)hi);
	return -1;
}

/* ---- waits ---- */

static void add_wait(struct insn *in, enum counter c, unsigned v)
{
	for (unsigned i = 0; i < in->nwait; i++)
		if (in->wait[i].counter == (int8_t)c) {
			if (v < in->wait[i].value)
				in->wait[i].value = (uint8_t)v;
			return;
		}
	if (in->nwait < ARRAY_LEN(in->wait)) {
		in->wait[in->nwait].counter = (int8_t)c;
		in->wait[in->nwait++].value = (uint8_t)v;
	}
}

static const struct { const char *name; enum counter c; unsigned max; } gfx9_counters[] = {
	{ "vmcnt", CTR_VM, 63 }, { "expcnt", CTR_EXP, 7 }, { "lgkmcnt", CTR_LGKM, 15 },
};

static void gfx9_immediate(unsigned imm, struct insn *in)
{
	unsigned field[] = { (imm & 15) | (imm >> 14 & 3) << 4, imm >> 4 & 7, imm >> 8 & 15 };

	for (size_t i = 0; i < ARRAY_LEN(field); i++)
		if (field[i] < gfx9_counters[i].max) /* the highest value waits for nothing */
			add_wait(in, gfx9_counters[i].c, field[i]);
}

/* "vmcnt(3)" at the front of p; returns what is behind it. 0, or -1. */
static int gfx9_named(struct reader *r, struct part *p, struct insn *in)
{
	size_t n = 0, close;
	struct part word, arg;
	bool saturates;
	int64_t v;

	while (n < p->n && ident_char(p->s[n]))
		n++;
	word = (struct part){ p->s, n, p->at };
	for (close = n; close < p->n && p->s[close] != ')'; close++)
		;
	if (!n || n >= p->n || close >= p->n || trim((struct part){ p->s + n, p->n - n, 0 }).s[0] != '(')
		return bad(r, *p, "s_waitcnt wants vmcnt(N), expcnt(N), lgkmcnt(N) or a number");
	for (arg = (struct part){ p->s + n, close - n, p->at + (uint32_t)n }; arg.n && arg.s[0] != '('; arg.s++, arg.n--, arg.at++)
		;
	arg = (struct part){ arg.s + 1, arg.n - 1, arg.at + 1 };
	saturates = word.n > 4 && !memcmp(word.s + word.n - 4, "_sat", 4);
	if (saturates)
		word.n -= 4;
	*p = trim((struct part){ p->s + close + 1, p->n - close - 1, p->at + (uint32_t)close + 1 });
	for (size_t i = 0; i < ARRAY_LEN(gfx9_counters); i++)
		if (is(word, gfx9_counters[i].name)) {
			if (value(r, arg, 0, saturates ? INT32_MAX : (int64_t)gfx9_counters[i].max, &v) < 0)
				return -1;
			add_wait(in, gfx9_counters[i].c, v > (int64_t)gfx9_counters[i].max ? gfx9_counters[i].max : (unsigned)v);
			return 0;
		}
	return bad(r, word, "there is no such counter");
}

static int fill_waitcnt(struct reader *r, struct part p, struct insn *in)
{
	int64_t v;

	if (!p.n)
		return bad(r, (struct part){ p.s, 1, p.at }, "s_waitcnt has no operand");
	if (!strncmp(p.s, "vmcnt", 5) || !strncmp(p.s, "expcnt", 6) || !strncmp(p.s, "lgkmcnt", 7)) {
		while (p.n) {
			if (gfx9_named(r, &p, in) < 0)
				return -1;
			if (p.n && (p.s[0] == '&' || p.s[0] == ','))
				p = trim((struct part){ p.s + 1, p.n - 1, p.at + 1 });
		}
		return 0;
	}
	if (value(r, p, -32768, 65535, &v) < 0)
		return -1;
	gfx9_immediate((unsigned)v & 0xffff, in);
	return 0;
}

static const struct { const char *name; enum counter c, low; unsigned max; } gfx12_waits[] = {
	/* Two counters in one: c in bits 13 to 8, low in bits 5 to 0. */
	{ "s_wait_loadcnt_dscnt", CTR_LOAD, CTR_DS, 63 }, { "s_wait_storecnt_dscnt", CTR_STORE, CTR_DS, 63 },
	{ "s_wait_loadcnt", CTR_LOAD, CTR_COUNT, 63 }, { "s_wait_storecnt", CTR_STORE, CTR_COUNT, 63 },
	{ "s_wait_dscnt", CTR_DS, CTR_COUNT, 63 }, { "s_wait_kmcnt", CTR_KM, CTR_COUNT, 31 },
	{ "s_wait_asynccnt", CTR_ASYNC, CTR_COUNT, 63 }, { "s_wait_tensorcnt", CTR_TENSOR, CTR_COUNT, 63 },
	{ "s_wait_xcnt", CTR_X, CTR_COUNT, 63 },
};

static int fill_wait(struct reader *r, const char *name, struct part p, struct insn *in)
{
	int64_t v;

	if (!strcmp(name, "s_waitcnt"))
		return fill_waitcnt(r, p, in);
	if (!strcmp(name, "s_wait_idle")) {
		add_wait(in, CTR_LOAD, 0);
		add_wait(in, CTR_STORE, 0);
		add_wait(in, CTR_DS, 0);
		add_wait(in, CTR_KM, 0);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(gfx12_waits); i++) {
		unsigned max = gfx12_waits[i].max;

		if (strcmp(name, gfx12_waits[i].name))
			continue;
		if (value(r, p, 0, 65535, &v) < 0)
			return -1;
		if (gfx12_waits[i].low == CTR_COUNT) {
			add_wait(in, gfx12_waits[i].c, v > (int64_t)max ? max : (unsigned)v);
			return 0;
		}
		add_wait(in, gfx12_waits[i].c, (unsigned)v >> 8 & 63);
		add_wait(in, gfx12_waits[i].low, (unsigned)v & 63);
		return 0;
	}
	return 0; /* s_wait_alu and the like: register files only, no counter of memory */
}

/* ---- barriers ---- */

static int fill_barrier(struct reader *r, struct part p, struct insn *in)
{
	int64_t v;

	if (is(p, "m0")) { /* the id is not in the text: taken as none */
		in->barrier = BAR_NULL;
		in->span[in->nspans] = (struct span){ REG_M0, 1 };
		in->role[in->nspans++] = ROLE_SRC;
		return 0;
	}
	if (value(r, p, -32768, 65535, &v) < 0)
		return -1;
	v = (int16_t)v;
	if (v != BAR_WORKGROUP && v != BAR_CLUSTER && (v < 0 || v > 16) && v != -2 && v != -4) {
		build_error(r, DIAG_OPERAND, p.at, p.at + (uint32_t)p.n,
			    "there is no barrier %lld: -1 is the workgroup's, -3 the cluster's, 1 to 16 are named", (long long)v);
		return -1;
	}
	in->barrier = (int8_t)v;
	return 0;
}

/* ---- modes ---- */

/* SCHED_MODE bit 2: later matrix ops do not hold their wave. */
static void sched_mode(struct reader *r, const char *name, struct part p)
{
	const char *close = memchr(p.s, ')', p.n), *comma;
	int64_t offset = 0, v;

	if (strcmp(name, "s_setreg_imm32_b32") || !strstr(p.s, "SCHED_MODE") || !close)
		return;
	comma = memchr(p.s, ',', (size_t)(close - p.s));
	if (comma) {
		const char *second = memchr(comma + 1, ',', (size_t)(close - comma - 1));

		if (expr_eval(&r->set, comma + 1, (size_t)((second ? second : close) - comma - 1), &offset) < 0)
			return;
	}
	comma = memchr(close, ',', p.n - (size_t)(close - p.s));
	if (!comma || expr_eval(&r->set, comma + 1, p.n - (size_t)(comma + 1 - p.s), &v) < 0 || offset < 0 || offset > 2)
		return;
	r->tail_split = v >> (2 - offset) & 1;
}

static int fill_mode(struct reader *r, const char *name, struct part p, struct insn *in)
{
	int64_t v;

	if (strcmp(name, "s_set_vgpr_msb")) {
		sched_mode(r, name, p);
		return 0;
	}
	if (value(r, p, 0, 65535, &v) < 0)
		return -1;
	in->imm = (uint8_t)(v & 255);
	for (unsigned i = 0; i < 4; i++) /* src0, src1, src2, dst; the high byte is the state before */
		r->msb[i] = (unsigned)v >> (2 * i) & 3;
	return 0;
}

/* ---- branches ---- */

/* "1b" and "1f": the nearest label 1 before or behind. */
static bool local_label(struct part p)
{
	for (size_t i = 0; i + 1 < p.n; i++)
		if (p.s[i] < '0' || p.s[i] > '9')
			return false;
	return p.n > 1 && (p.s[p.n - 1] == 'b' || p.s[p.n - 1] == 'f') && strncmp(p.s, "0b", 2);
}

static void fill_local(struct reader *r, struct part p, struct fixup *f, struct insn *in)
{
	bool back = p.s[p.n - 1] == 'b';
	/* Names in the tables are places in the text, which the cleaned line is a copy of. */
	const char *number = r->src->text + p.at;
	struct symbol *s = back ? symtab_find(&r->label, number, p.n - 1) : symtab_add(&r->forward, number, p.n - 1);

	if (back && s) {
		in->target = (int32_t)s->value;
		f->done = true;
	} else if (!back) {
		f->next = (uint32_t)s->value;
		s->value = (int64_t)r->nfixups;
	}
}

void resolve_forward(struct reader *r, const char *number, size_t n)
{
	struct symbol *s = symtab_find(&r->forward, number, n);

	for (uint32_t i = s ? (uint32_t)s->value : 0; i; i = r->fixups[i - 1].next) {
		r->insns[r->fixups[i - 1].insn].target = (int32_t)r->n;
		r->fixups[i - 1].done = true;
	}
	if (s)
		s->value = 0;
}

static int fill_branch(struct reader *r, const struct insn_desc *x, struct part p, struct insn *in)
{
	bool call = !strncmp(x->name, "s_call_", 7);

	if (call || !strncmp(x->name, "s_cbranch", 9) || !strncmp(x->name, "s_swap", 6)) /* a call comes back */
		in->flags |= INSN_CONDITIONAL;
	if (!call && strcmp(x->name, "s_branch") && strncmp(x->name, "s_cbranch_", 10))
		return 0; /* through a register: the target is not in the text */
	if (call) { /* the label is the second operand */
		const char *comma = memchr(p.s, ',', p.n);

		if (comma)
			p = trim((struct part){ comma + 1, p.n - (size_t)(comma + 1 - p.s), p.at + (uint32_t)(comma + 1 - p.s) });
	}
	if (!p.n)
		return bad(r, (struct part){ p.s, 1, p.at }, "a branch wants a label");
	r->fixups = xgrow(r->fixups, r->nfixups, &r->capfixups, sizeof(*r->fixups));
	r->fixups[r->nfixups++] = (struct fixup){ .insn = (uint32_t)r->n, .begin = p.at, .end = p.at + (uint32_t)p.n };
	if (local_label(p))
		fill_local(r, p, &r->fixups[r->nfixups - 1], in);
	return 0;
}

static void unknown_label(struct reader *r, const struct fixup *f, const char *name, size_t n)
{
	const char **words = NULL, *near = NULL;
	size_t count = r->label.n < 2000 ? r->label.n : 2000;
	struct finding *d;
	char shown[128];

	snprintf(shown, sizeof(shown), "%.*s", n > 100 ? 100 : (int)n, name);
	if (r->d->errors < 20) {
		words = arena_alloc(r->arena, count + 1, sizeof(*words));
		for (size_t i = 0; i < count; i++)
			words[i] = arena_strndup(r->arena, r->label.list[i].name, r->label.list[i].len > 100 ? 100 : r->label.list[i].len);
		near = word_nearest(shown, words, count);
	}
	d = diag_add(r->d, reader_loc(r, f->begin, f->end), DIAG_LABEL, "there is no label %s", shown);
	if (near)
		diag_fix(d, "the nearest label is %s", near);
}

/* First instruction at or behind an address; -1: none begins exactly there. */
static int32_t at_address(const struct reader *r, uint64_t address)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->address[mid] < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < r->n && r->address[lo] == address)
		return (int32_t)lo;
	return lo == r->n && address == r->here ? (int32_t)r->n : -1;
}

static void to_address(struct reader *r, const struct fixup *f, uint64_t address)
{
	int32_t to = at_address(r, address);

	if (to < 0 && r->n && address >= r->address[0] && address < r->here)
		diag_add(r->d, reader_loc(r, f->begin, f->end), DIAG_LABEL, "no instruction begins at the address that the branch goes to");
	else
		r->insns[f->insn].target = to;
}

static void resolve(struct reader *r, const struct fixup *f)
{
	const char *s = r->src->text + f->begin;
	size_t n = f->end - f->begin, k = 0;
	struct symbol *sym;
	int64_t v;

	while (n && (s[n - 1] == '>' || blank(s[n - 1])))
		n--;
	if (n && s[0] == '<') {
		s++;
		n--;
	}
	if (expr_eval(&r->set, s, n, &v) == 0 && !local_label((struct part){ s, n, 0 })) { /* words of 4 bytes behind the branch */
		if (v < -32768 || v > 65535) {
			diag_add(r->d, reader_loc(r, f->begin, f->end), DIAG_LABEL, "a branch goes 32768 words at most");
			return;
		}
		to_address(r, f, r->address[f->insn] + 4 + (uint64_t)((int64_t)(int16_t)v * 4));
		return;
	}
	while (k < n && ident_char(s[k]))
		k++;
	sym = symtab_find(&r->label, s, k);
	if (!sym && symtab_find(&r->outside, s, k))
		return; /* out of the program */
	if (!sym || !k) {
		unknown_label(r, f, s, n);
		return;
	}
	if (k < n && s[k] == '+') {
		if (expr_eval(&r->set, s + k + 1, n - k - 1, &v) < 0 || v < 0)
			unknown_label(r, f, s, n);
		else
			to_address(r, f, (sym->value < (int64_t)r->n ? r->address[sym->value] : r->here) + (uint64_t)v);
		return;
	}
	r->insns[f->insn].target = (int32_t)sym->value;
}

void resolve_branches(struct reader *r)
{
	for (size_t i = 0; i < r->nfixups; i++)
		if (!r->fixups[i].done)
			resolve(r, &r->fixups[i]);
}

/* ---- the table of those ---- */

bool special_raw(const struct insn_desc *x)
{
	switch (x->cls) {
	case OPC_WAIT: case OPC_NOP: case OPC_SETPRIO: case OPC_SIGNAL: case OPC_AWAIT: case OPC_BARRIER: case OPC_END:
		return true;
	case OPC_SLEEP:
		return strcmp(x->name, "s_sleep_var") != 0;
	case OPC_BRANCH: /* s_call_b64 s[0:1], label */
		return x->nslots == 1 && x->slot[0].role == '#';
	case OPC_MODE: case OPC_VALU: case OPC_TRANS: case OPC_PACKED: case OPC_MATRIX: case OPC_SALU: case OPC_SMEM:
	case OPC_LDS_READ: case OPC_LDS_WRITE: case OPC_LDS_PERMUTE: case OPC_VMEM_LOAD: case OPC_VMEM_STORE: case OPC_VMEM_LDS:
	case OPC_TDM_LOAD: case OPC_TDM_STORE: case OPC_COUNT:
		break;
	}
	return false;
}

static int small(struct reader *r, struct part p, int64_t hi, unsigned plus, struct insn *in)
{
	int64_t v;

	if (value(r, p, -32768, 65535, &v) < 0)
		return -1;
	v &= hi;
	in->imm = (uint8_t)(v + plus > 255 ? 255 : (unsigned)v + plus);
	return 0;
}

int special_fill(struct reader *r, const struct insn_desc *x, const struct operands *ops, const char *text, size_t n, uint32_t at,
		 struct insn *in)
{
	struct part p = trim((struct part){ text, n, at });

	(void)ops;
	switch (in->cls) {
	case OPC_WAIT:
		return fill_wait(r, x->name, p, in);
	case OPC_NOP:
		return strcmp(x->name, "s_nop") ? 0 : small(r, p, 15, 1, in);
	case OPC_SETPRIO:
		return strcmp(x->name, "s_setprio") ? 0 : small(r, p, 3, 0, in);
	case OPC_SLEEP:
		return strcmp(x->name, "s_sleep") ? 0 : small(r, p, 127, 0, in);
	case OPC_BARRIER:
		in->barrier = BAR_WORKGROUP;
		return 0;
	case OPC_SIGNAL:
	case OPC_AWAIT:
		return fill_barrier(r, p, in);
	case OPC_MODE:
		return fill_mode(r, x->name, p, in);
	case OPC_BRANCH:
		return fill_branch(r, x, p, in);
	case OPC_MATRIX:
		if (r->tail_split)
			in->flags |= INSN_TAIL_SPLIT;
		return 0;
	case OPC_VALU: case OPC_TRANS: case OPC_PACKED: case OPC_SALU: case OPC_SMEM: case OPC_LDS_READ: case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE: case OPC_VMEM_LOAD: case OPC_VMEM_STORE: case OPC_VMEM_LDS: case OPC_TDM_LOAD: case OPC_TDM_STORE:
	case OPC_END: case OPC_COUNT:
		break;
	}
	return 0;
}
