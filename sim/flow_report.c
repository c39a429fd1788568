/* Findings from needs: what is missing where, the rule behind it, and the nearest fix. */
#include "flow_internal.h"

#include <string.h>

/* ---- registers ---- */

static void print_registers(struct strbuf *b, unsigned first, unsigned n)
{
	static const char *const single[] = {"vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0", "scc"};
	char file = first >= REG_SGPR ? 's' : first >= REG_AGPR ? 'a' : 'v';
	unsigned base = file == 's' ? REG_SGPR : file == 'a' ? REG_AGPR : 0;

	if (first >= REG_VCC)
		strbuf_add(b, "%s",
			   n > 1 && first == REG_VCC	? "vcc"
			   : n > 1 && first == REG_EXEC ? "exec"
							: single[first - REG_VCC]);
	else if (n == 1)
		strbuf_add(b, "%c%u", file, first - base);
	else
		strbuf_add(b, "%c[%u:%u]", file, first - base, first - base + n - 1);
}

/* What the two instructions share, results of one of them; false when nothing. */
static bool shared(const struct insn *a, const struct insn *b, struct strbuf *out)
{
	for (unsigned i = 0; i < a->nspans; i++)
		for (unsigned j = 0; j < b->nspans; j++) {
			unsigned lo = a->span[i].first > b->span[j].first ? a->span[i].first
									  : b->span[j].first;
			unsigned ae = a->span[i].first + (unsigned)a->span[i].n,
				 be = b->span[j].first + (unsigned)b->span[j].n;
			unsigned hi = ae < be ? ae : be;

			if (lo >= hi || hi > REG_COUNT ||
			    (a->role[i] != ROLE_DST && b->role[j] != ROLE_DST))
				continue;
			print_registers(out, lo, hi - lo);
			return true;
		}
	return false;
}

/* ---- wait states ---- */

static const char *relation_text(enum spacing_relation r)
{
	switch (r) {
	case SR_C_EXACT:
		return "takes exactly its result as C";
	case SR_C_OVERLAP:
		return "takes a part of its result as C";
	case SR_AB:
		return "takes its result as A, B, index or scale";
	case SR_RAW:
		return "reads what it writes";
	case SR_WAW:
		return "overwrites what it writes";
	case SR_WAR:
		return "overwrites what it reads";
	case SR_ANY:
		return "follows it";
	}
	return "follows it";
}

static void fix_spacing(const struct program *p, const struct flow_need *n, struct finding *f)
{
	unsigned left = n->missing;

	if (p->target->v.wave_size <= 32)
		diag_fix(f, left == 1 ? "insert v_nop before this" : "insert %u v_nop before this",
			 left);
	else if (left <= 16)
		diag_fix(f, "insert s_nop %u before this", left - 1);
	else
		diag_fix(f, "insert s_nop 15 and s_nop %u before this", left - 17);
}

static void report_spacing(const struct program *p, const struct flow_need *n, struct diag *d)
{
	const struct insn *in = &p->insns[n->insn], *first = &p->insns[n->because];
	const struct spacing_row *row = n->row;
	struct strbuf regs = {0};
	struct finding *f;

	if (shared(first, in, &regs))
		f = diag_add(d, in->loc, DIAG_SPACING,
			     "%s uses %s %u wait state%s too early after %s", in->op, regs.s,
			     n->missing, n->missing == 1 ? "" : "s", first->op);
	else
		f = diag_add(d, in->loc, DIAG_SPACING, "%s follows %s %u wait state%s too early",
			     in->op, first->op, n->missing, n->missing == 1 ? "" : "s");
	strbuf_free(&regs);
	if (row) {
		f->rule =
			row->passes
				? xasprintf("%s of %u passes, then %s that %s: %u wait states",
					    row->first, row->passes, row->second,
					    relation_text(row->relation), row->states)
				: xasprintf("%s, then %s that %s: %u wait states", row->first,
					    row->second, relation_text(row->relation), row->states);
		diag_note(f, in->loc, "rule: %s", f->rule);
	}
	f->required = n->required;
	f->present = (int64_t)n->required - n->missing;
	diag_note(f, first->loc, "%s is here",
		  n->because < n->insn ? "the first one" : "the first one, of the trip before,");
	fix_spacing(p, n, f);
}

/* ---- counters ---- */

static const char *wait_format(int counter)
{
	switch (counter) {
	case CTR_VM:
		return "s_waitcnt vmcnt(%u)";
	case CTR_LGKM:
		return "s_waitcnt lgkmcnt(%u)";
	case CTR_EXP:
		return "s_waitcnt expcnt(%u)";
	case CTR_LOAD:
		return "s_wait_loadcnt 0x%x";
	case CTR_STORE:
		return "s_wait_storecnt 0x%x";
	case CTR_DS:
		return "s_wait_dscnt 0x%x";
	case CTR_KM:
		return "s_wait_kmcnt 0x%x";
	case CTR_ASYNC:
		return "s_wait_asynccnt 0x%x";
	case CTR_TENSOR:
		return "s_wait_tensorcnt 0x%x";
	case CTR_X:
		return "s_wait_xcnt 0x%x";
	default:
		return "wait for %u";
	}
}

/* The value of the nearest wait for the counter in front of the instruction. */
static int64_t written_before(const struct program *p, uint32_t insn, int counter)
{
	for (uint32_t i = insn, steps = 0; i-- > 0 && steps < 4096; steps++)
		for (unsigned k = 0; k < p->insns[i].nwait && k < ARRAY_LEN(p->insns[i].wait); k++)
			if (p->insns[i].wait[k].counter == counter)
				return p->insns[i].wait[k].value;
	return DIAG_NONE_INT;
}

static void report_wait(const struct program *p, const struct flow_need *n, struct diag *d)
{
	const struct insn *in = &p->insns[n->insn], *first = &p->insns[n->because];
	struct strbuf regs = {0};
	char text[48];
	struct finding *f;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), wait_format(n->counter), n->required);
#pragma GCC diagnostic pop
	if (n->counter == CTR_X && shared(in, first, &regs))
		f = diag_add(d, in->loc, DIAG_WAIT_SHORT,
			     "%s overwrites %s, whose address translation for %s may not be over",
			     in->op, regs.s, first->op);
	else if (shared(first, in, &regs))
		f = diag_add(d, in->loc, DIAG_WAIT_SHORT,
			     "%s uses %s, which %s may not have delivered yet", in->op, regs.s,
			     first->op);
	else
		f = diag_add(d, in->loc, DIAG_WAIT_SHORT, "%s may come before %s has written LDS",
			     in->op, first->op);
	strbuf_free(&regs);
	f->counter = counter_name((enum counter)n->counter);
	f->required = n->required;
	f->present = written_before(p, n->insn, n->counter);
	diag_note(f, first->loc, "%s is here",
		  n->because < n->insn ? "the operation" : "the operation, of the trip before,");
	diag_fix(f, "insert %s before this", text);
}

static bool keeps_x(const struct program *p)
{
	for (uint32_t i = 0; i < p->ninsns; i++)
		for (unsigned k = 0; k < p->insns[i].nwait && k < ARRAY_LEN(p->insns[i].wait); k++)
			if (p->insns[i].wait[k].counter == CTR_X)
				return true;
	return false;
}

void flow_report(const struct program *p, const struct flow_result *r, struct diag *d)
{
	/* The translation counter matters only where memory ops may be repeated; code that never
	 * waits for it was written for machines where they are not. */
	bool x = keeps_x(p);

	for (size_t i = 0; i < r->n; i++)
		if (r->needs[i].counter < 0)
			report_spacing(p, &r->needs[i], d);
		else if (r->needs[i].counter != CTR_X || x)
			report_wait(p, &r->needs[i], d);
}
