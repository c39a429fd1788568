/*
 * Scalar and vector arithmetic of the executor: instructions are read from text, run on a wave made by hand, and
 * compared with plain C on edge values and random ones. The tables are compared with the instruction table.
 */
#include "exec_alu_machine.h"

/* ---- the cases ---- */

struct lane {
	uint32_t a, b, c, o, s1;
	uint64_t A, B, C, O;
	unsigned l, m;
};

#define CASE(id, targets, kind, text, value)                                                       \
	static uint64_t want_##id(const struct lane *x)                                            \
	{                                                                                          \
		const uint32_t a = x->a, b = x->b, c = x->c, o = x->o, s1 = x->s1;                 \
		const uint64_t A = x->A, B = x->B, C = x->C, O = x->O;                             \
		const unsigned l = x->l, m = x->m;                                                 \
	\
		(void)a, (void)b, (void)c, (void)o, (void)s1, (void)A, (void)B, (void)C, (void)O, (void)l, (void)m; \
		return (uint64_t)(value);                                                          \
	}
#include "exec_alu_cases.def"
#undef CASE

static const struct vcase {
	const char *id, *text;
	unsigned targets;
	enum kind kind;
	uint64_t (*want)(const struct lane *x);
} cases[] = {
#define CASE(id, targets, kind, text, value) { #id, text, T_##targets, K_##kind, want_##id },
#include "exec_alu_cases.def"
#undef CASE
};

/* ---- running ---- */

static void run_case(struct machine *x, const struct vcase *k, uint32_t at, unsigned round)
{
	struct xwave *w = &x->w;
	struct lane in[64];
	uint64_t vcc, mask;

	fill(x, round);
	vcc = x_vcc(w);
	for (unsigned l = 0; l < w->lanes; l++)
		in[l] = (struct lane){ .a = x_vreg(w, 1)[l], .b = x_vreg(w, 2)[l], .c = x_vreg(w, 3)[l], .o = x_vreg(w, 20)[l],
				       .s1 = x_sget(w, REG_SGPR + 1), .A = reg64(x, 4, l), .B = reg64(x, 6, l), .C = reg64(x, 8, l),
				       .O = reg64(x, 20, l), .l = l, .m = vcc >> l & 1 };
	step(x, at);
	mask = k->kind == K_V ? x_vcc(w) : two(x_sget(w, REG_SGPR + 20), w->lanes == 64 ? x_sget(w, REG_SGPR + 21) : 0);
	for (unsigned l = 0; l < w->lanes; l++) {
		bool on = w->exec >> l & 1, is_mask = k->kind == K_M || k->kind == K_V;
		uint64_t want = on ? k->want(&in[l]) : is_mask ? 0 : in[l].O;
		uint64_t got = is_mask ? mask >> l & 1 : reg64(x, 20, l);
		bool narrow = k->kind != K_Q && k->kind != K_D && k->kind != K_PF && !is_mask;

		if (on ? same(k->kind, got, want) : is_mask ? got == want : narrow ? (uint32_t)got == (uint32_t)want : got == want)
			continue;
		fail_msg("%s: %s, lane %u%s: a %08x b %08x c %08x A %016llx B %016llx C %016llx old %016llx s1 %08x vcc %u: "
			 "got %016llx, want %016llx",
			 x->p->target->name, k->text, l, on ? "" : " (off)", in[l].a, in[l].b, in[l].c, (unsigned long long)in[l].A,
			 (unsigned long long)in[l].B, (unsigned long long)in[l].C, (unsigned long long)in[l].O, in[l].s1, in[l].m,
			 (unsigned long long)got, (unsigned long long)want);
	}
}

static void vector_cases(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 3; t++) {
		char *text = xcalloc(ARRAY_LEN(cases), 160);
		size_t n = 0;
		struct machine *x;
		unsigned rounds;

		for (size_t i = 0; i < ARRAY_LEN(cases); i++)
			if (cases[i].targets >> t & 1)
				n += (size_t)sprintf(text + n, "\t%s\n", cases[i].text);
		x = machine_new(targets[t], text);
		n = 0;
		rounds = (unsigned)(ARRAY_LEN(edge) * ARRAY_LEN(edge) / x->w.lanes) + 16;
		for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
			if (!(cases[i].targets >> t & 1))
				continue;
			for (unsigned r = 0; r < rounds; r++)
				run_case(x, &cases[i], (uint32_t)n, r);
			n++;
		}
		machine_free(x);
		free(text);
	}
}

/* ---- scalar cases: sources s1 s2, s[4:5] s[6:7]; result s20 or s[20:21]; scc: -1 unchanged ---- */

struct sin { uint32_t a, b, o; uint64_t A, B, O, E; bool scc; };
struct sout { uint64_t r; int scc; };
struct scase {
	const char *text;
	unsigned targets;
	unsigned words; /* of the result; 0: SCC only */
	struct sout (*want)(const struct sin *x);
};

static struct sout NONZERO(uint64_t v) { return (struct sout){ v, v != 0 }; }
static struct sout NZ32(uint64_t v) { return NONZERO((uint32_t)v); }
static struct sout KEEPS(uint64_t v) { return (struct sout){ v, -1 }; }
static struct sout BOTH(uint64_t v, bool scc) { return (struct sout){ v, scc }; }

#define SCASE(id, targets, words, text, value)                                                     \
	static struct sout want_##id(const struct sin *x)                                          \
	{                                                                                          \
		const uint32_t a = x->a, b = x->b;                                                 \
		const uint64_t A = x->A, B = x->B, O = x->O;                                       \
		const bool scc = x->scc;                                                           \
	\
		(void)a, (void)b, (void)A, (void)B, (void)O, (void)scc;                            \
		return value;                                                                      \
	}
#include "exec_alu_scalar_cases.def"
#undef SCASE

static const struct scase scases[] = {
#define SCASE(id, targets, words, text, value) { text, T_##targets, words, want_##id },
#include "exec_alu_scalar_cases.def"
#undef SCASE
};

static void run_scalar(struct machine *x, const struct scase *k, uint32_t at, unsigned round)
{
	struct xwave *w = &x->w;
	struct sin in;
	struct sout want;
	uint64_t got, mask = k->words == 2 ? UINT64_MAX : UINT32_MAX;
	int scc;

	for (unsigned r = 0; r < 32; r++)
		x_sput(w, REG_SGPR + r, value());
	if (round < ARRAY_LEN(edge) * ARRAY_LEN(edge)) {
		x_sput(w, REG_SGPR + 1, edge[round / ARRAY_LEN(edge)]);
		x_sput(w, REG_SGPR + 2, edge[round % ARRAY_LEN(edge)]);
	}
	x_set_scc(w, round & 1);
	in = (struct sin){ .a = x_sget(w, REG_SGPR + 1), .b = x_sget(w, REG_SGPR + 2), .o = x_sget(w, REG_SGPR + 20),
			   .scc = round & 1,
			   .A = two(x_sget(w, REG_SGPR + 4), x_sget(w, REG_SGPR + 5)),
			   .B = two(x_sget(w, REG_SGPR + 6), x_sget(w, REG_SGPR + 7)),
			   .O = two(x_sget(w, REG_SGPR + 20), x_sget(w, REG_SGPR + 21)) };
	want = k->want(&in);
	step(x, at);
	got = two(x_sget(w, REG_SGPR + 20), x_sget(w, REG_SGPR + 21));
	scc = x_scc(w);
	if (want.scc < 0)
		want.scc = in.scc;
	if (!k->words)
		want.r = in.O;
	if (k->words ? (got & mask) != (want.r & mask) : got != in.O)
		want.scc = 2;
	if (k->targets == T_12 && ((isnan(f(got)) && isnan(f(want.r))) || (nan16((uint32_t)got) && nan16((uint32_t)want.r))))
		want.scc = scc;
	if (scc != want.scc)
		fail_msg("%s: %s: a %08x b %08x A %016llx B %016llx old %016llx scc %d: got %016llx scc %d, want %016llx scc %d",
			 x->p->target->name, k->text, in.a, in.b, (unsigned long long)in.A, (unsigned long long)in.B,
			 (unsigned long long)in.O, in.scc, (unsigned long long)got, scc, (unsigned long long)want.r, k->want(&in).scc);
}

static void scalar_cases(void **state)
{
	(void)state;
	for (unsigned t = 0; t < 3; t++) {
		char *text = xcalloc(ARRAY_LEN(scases), 100);
		size_t n = 0;
		struct machine *x;

		for (size_t i = 0; i < ARRAY_LEN(scases); i++)
			if (scases[i].targets >> t & 1)
				n += (size_t)sprintf(text + n, "\t%s\n", scases[i].text);
		x = machine_new(targets[t], text);
		n = 0;
		for (size_t i = 0; i < ARRAY_LEN(scases); i++) {
			if (!(scases[i].targets >> t & 1))
				continue;
			for (unsigned r = 0; r < ARRAY_LEN(edge) * ARRAY_LEN(edge) + 500; r++)
				run_scalar(x, &scases[i], (uint32_t)n, r);
			n++;
		}
		machine_free(x);
		free(text);
	}
}

/* ---- the tables against the instruction table ---- */

struct cover { unsigned have, of; };

static bool table_has(const struct xop *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const char *s = list[i].names, *open = strchr(s, '{'), *close = open ? strchr(open, '}') : NULL;
		size_t len = strlen(name);

		if (!close) {
			if (!strcmp(s, name))
				return true;
			continue;
		}
		if (strncmp(s, name, (size_t)(open - s)) != 0)
			continue;
		for (const char *p = open + 1; p < close; p += strcspn(p, ",}") + 1) {
			size_t part = strcspn(p, ",}"), at = (size_t)(open - s);

			if (at + part + strlen(close + 1) == len && !memcmp(name + at, p, part) && !strcmp(name + at + part, close + 1))
				return true;
		}
	}
	return false;
}

static bool executed(const char *name)
{
	char plain[80];

	if (table_has(xops_valu, nxops_valu, name) || table_has(xops_salu, nxops_salu, name) ||
	    table_has(xops_core, nxops_core, name))
		return true;
	snprintf(plain, sizeof(plain), "v_%.60s", strncmp(name, "v_dual_", 7) ? "" : name + 7);
	return table_has(xops_valu, nxops_valu, plain);
}

static bool ours(enum opclass c)
{
	return c == OPC_VALU || c == OPC_PACKED || c == OPC_TRANS || c == OPC_SALU;
}

static void coverage(void **state)
{
	struct cover c[3] = { 0 };

	(void)state;
	for (size_t i = 0; i < insn_count(); i++) {
		const struct insn_desc *x = insn_at(i);

		if (!ours(x->cls))
			continue;
		for (unsigned t = 0; t < 3; t++)
			if (x->isa >> t & 1) {
				c[t].of++;
				c[t].have += executed(x->name);
				if (!executed(x->name) && getenv("WPSIM_TEST_LIST"))
					print_message("%s: %s\n", isa_names[t], x->name);
			}
	}
	for (unsigned t = 0; t < 3; t++) {
		print_message("%s: %u of %u arithmetic instructions\n", isa_names[t], c[t].have, c[t].of);
		assert_true(c[t].have * 100 >= c[t].of * 95);
	}
}

/* Every row names an instruction that some target has, with as many types as that has operands. */
static void check_row(const struct xop *op, const char *name)
{
	unsigned words = 0, isas = insn_targets(name, strlen(name));
	bool fits = false;

	for (const char *s = op->types; *s; s += strcspn(s, " "), s += *s == ' ')
		words++;
	words = strcmp(op->types, "none") ? words : 0;
	if (!isas) /* relations that only some types have */
		return;
	for (unsigned t = 0; t < 3; t++) {
		enum suffix suffix;
		const struct insn_desc *x = isas >> t & 1 ? insn_find(name, strlen(name), (enum isa)(1 << t), &suffix) : NULL;

		fits |= x && x->nslots == words;
	}
	if (!fits)
		fail_msg("%s has another number of operands than \"%s\"", name, op->types);
}

static void rows(void **state)
{
	const struct { const struct xop *list; size_t n; } tables[] = { { xops_valu, nxops_valu }, { xops_salu, nxops_salu } };
	size_t known = 0, all = 0;

	(void)state;
	for (size_t t = 0; t < 2; t++)
		for (size_t i = 0; i < tables[t].n; i++) {
			const char *s = tables[t].list[i].names, *open = strchr(s, '{'), *close = open ? strchr(open, '}') : NULL;
			char name[96];

			for (const char *p = close ? open + 1 : s; p < (close ? close : s + 1); p += close ? strcspn(p, ",}") + 1 : 1) {
				if (close)
					snprintf(name, sizeof(name), "%.*s%.*s%s", (int)(open - s), s, (int)strcspn(p, ",}"), p, close + 1);
				else
					snprintf(name, sizeof(name), "%s", s);
				check_row(&tables[t].list[i], name);
				all++;
				known += insn_targets(name, strlen(name)) != 0;
				if (!insn_targets(name, strlen(name)) && getenv("WPSIM_TEST_LIST"))
					print_message("no instruction: %s\n", name);
			}
		}
	assert_true(known * 100 >= all * 97);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(coverage),
		cmocka_unit_test(scalar_cases),
		cmocka_unit_test(vector_cases),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
