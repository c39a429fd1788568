/* The program: printing, invariants, end of life. */
#include "program.h"

#include <inttypes.h>
#include <string.h>

void program_free(struct program *p)
{
	if (p)
		arena_free(p->arena);
}

/* ---- listing ---- */

static void print_span(FILE *out, struct span s)
{
	static const char *const single[] = { "vcc", "vcc_hi", "exec", "exec_hi", "m0", "scc" };
	char file = s.first >= REG_SGPR ? 's' : s.first >= REG_AGPR ? 'a' : 'v';
	unsigned base = file == 's' ? REG_SGPR : file == 'a' ? REG_AGPR : 0, n = s.first - base;

	if (s.first >= REG_VCC && s.first < REG_COUNT)
		fprintf(out, "%s", single[s.first - REG_VCC]);
	else if (s.n <= 1)
		fprintf(out, "%c%u", file, n);
	else
		fprintf(out, "%c[%u:%u]", file, n, n + s.n - 1u);
}

static void print_operands(FILE *out, const struct program *p, const struct insn *in)
{
	const char *sep = " ";

	for (unsigned i = 0; i < in->nspans; i++) {
		fputs(sep, out);
		print_span(out, in->span[i]);
		sep = ", ";
	}
	for (unsigned i = 0; i < in->nwait; i++) {
		fprintf(out, "%s%s(%u)", sep, counter_name((enum counter)in->wait[i].counter), in->wait[i].value);
		sep = " ";
	}
	switch (in->cls) {
	case OPC_NOP:
		fprintf(out, "%s%u", sep, in->imm ? in->imm - 1u : 0u);
		break;
	case OPC_SETPRIO:
	case OPC_SLEEP:
	case OPC_MODE:
		fprintf(out, "%s%u", sep, in->imm);
		break;
	case OPC_SIGNAL:
	case OPC_AWAIT:
		fprintf(out, "%s%d", sep, in->barrier);
		break;
	case OPC_BRANCH:
		if (in->loop >= 0)
			fprintf(out, "%sloop %" PRId32 ", %" PRIu64 " trips", sep, in->loop, p->loops[in->loop].trips);
		break;
	case OPC_VALU: case OPC_TRANS: case OPC_PACKED: case OPC_MATRIX: case OPC_SALU: case OPC_SMEM: case OPC_LDS_READ:
	case OPC_LDS_WRITE: case OPC_LDS_PERMUTE: case OPC_VMEM_LOAD: case OPC_VMEM_STORE: case OPC_VMEM_LDS:
	case OPC_TDM_LOAD: case OPC_TDM_STORE: case OPC_WAIT: case OPC_BARRIER: case OPC_END: case OPC_COUNT:
		break;
	}
}

static void print_tile(FILE *out, const struct access *a)
{
	if (a->absolute)
		fprintf(out, " tile %" PRId32, a->tile);
	else if (a->from_end)
		fprintf(out, a->tile ? " tile last-%" PRId32 : " tile last", a->tile);
	else
		fprintf(out, a->tile ? " tile k%+" PRId32 : " tile k", a->tile);
}

static void print_comment(FILE *out, const struct program *p, const struct insn *in)
{
	const struct access *a = in->access >= 0 ? &p->access[in->access] : NULL;

	if (in->groups != (1u << p->groups) - 1) {
		fputs(" ; group", out);
		for (unsigned g = 0; g < p->groups; g++)
			if (in->groups >> g & 1)
				fprintf(out, " %c", (char)('A' + g));
	}
	if (a) {
		fprintf(out, " ; %s", a->buffer >= 0 ? p->buffers[a->buffer].name : a->global >= 0 ? p->globals[a->global].name : "-");
		print_tile(out, a);
		if (a->slot >= 0 && a->buffer >= 0)
			fprintf(out, " slot %" PRId32, a->slot);
	}
	if (in->lds && in->lds_clk)
		fprintf(out, " ; %u clk%s", in->lds_clk, in->lds_clk > in->lds_clk_free ? " (bank conflicts)" : "");
	if (in->repeat > 1)
		fprintf(out, " ; x%u", in->repeat);
	if (in->flags & INSN_AUTO_WAIT)
		fputs(" ; placed", out);
	else if (in->flags & INSN_IMPLIED)
		fputs(" ; implied", out);
	if (in->flags & INSN_EDGE_ABSENT)
		fputs(" ; not on edge tiles", out);
	if (in->flags & INSN_EDGE_ONLY)
		fputs(" ; edge tiles only", out);
}

static void print_head(FILE *out, const struct program *p)
{
	fprintf(out, "; %s for %s: %u waves in %u group%s, %u VGPR, %u AGPR, %u SGPR, %" PRIu32 " bytes of LDS\n", p->name,
		p->target->name, p->waves, p->groups, p->groups == 1 ? "" : "s", p->vgpr, p->agpr, p->sgpr, p->lds_bytes);
	for (size_t i = 0; i < p->nbuffers; i++)
		fprintf(out, "; LDS %-12s at %6" PRIu32 ", %" PRIu32 " x %" PRIu32 " bytes\n", p->buffers[i].name,
			p->buffers[i].base, p->buffers[i].slots, p->buffers[i].slot_bytes);
	fprintf(out, "; %" PRIu64 " workgroups, %" PRIu64 " K-steps, %.0f matrix clk per K-step and SIMD\n", p->workgroups,
		p->ksteps, p->ideal_clk);
}

void program_print(const struct program *p, FILE *out)
{
	int32_t stage = -1;

	print_head(out, p);
	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];

		for (size_t l = 0; l < p->nloops; l++)
			if (p->loops[l].begin == i) {
				fprintf(out, "loop%zu: ; %" PRIu64 " trips of %u K-step%s\n", l, p->loops[l].trips, p->loops[l].steps,
					p->loops[l].steps == 1 ? "" : "s");
				stage = -1;
			}
		if (in->stage != stage) {
			stage = in->stage;
			if (stage >= 0)
				fprintf(out, "  ; -- %s --\n", p->stages[stage].name);
		}
		fprintf(out, "%6zu  %s", i, in->op ? in->op : opclass_name(in->cls));
		print_operands(out, p, in);
		print_comment(out, p, in);
		fputc('\n', out);
	}
}

/* ---- invariants ---- */

static int bad(struct diag *d, const struct program *p, size_t i, const char *what)
{
	struct loc none = { 0 };

	diag_add(d, i < p->ninsns ? p->insns[i].loc : none, DIAG_LIMIT, "instruction %zu: %s", i, what);
	return -1;
}

static int validate_insn(const struct program *p, size_t i, struct diag *d)
{
	const struct insn *in = &p->insns[i];

	if ((unsigned)in->cls >= OPC_COUNT)
		return bad(d, p, i, "unknown class");
	if (!in->groups || in->groups >> p->groups)
		return bad(d, p, i, "no such group");
	if (in->nspans > PROG_MAX_SPANS || in->nwait > ARRAY_LEN(in->wait))
		return bad(d, p, i, "too many operands");
	for (unsigned k = 0; k < in->nspans; k++)
		if (!in->span[k].n || in->span[k].first + (unsigned)in->span[k].n > REG_COUNT || in->role[k] > ROLE_DATA)
			return bad(d, p, i, "a register is out of range");
	for (unsigned k = 0; k < in->nwait; k++)
		if (in->wait[k].counter < 0 || in->wait[k].counter >= CTR_COUNT)
			return bad(d, p, i, "a wait on no counter");
	if (in->counter < -1 || in->counter >= CTR_COUNT || !in->repeat)
		return bad(d, p, i, "counter or repeat out of range");
	if (in->access < -1 || in->access >= (int64_t)p->naccess || in->stage < -1 || in->stage >= (int64_t)p->nstages)
		return bad(d, p, i, "access or stage out of range");
	if (in->loop < -1 || in->loop >= (int64_t)p->nloops)
		return bad(d, p, i, "loop out of range");
	if (in->loop >= 0 && (in->cls != OPC_BRANCH || p->loops[in->loop].end != i + 1))
		return bad(d, p, i, "only the last instruction of a loop closes it");
	if (in->cls == OPC_MATRIX && !in->matrix)
		return bad(d, p, i, "a matrix op without its row");
	return 0;
}

static int validate_loops(const struct program *p, struct diag *d)
{
	for (size_t a = 0; a < p->nloops; a++) {
		const struct loop *x = &p->loops[a];

		if (x->begin >= x->end || x->end > p->ninsns || !x->trips || !x->steps || p->insns[x->end - 1].loop != (int)a)
			return bad(d, p, x->begin, "a loop is empty or not closed");
		if (x->parent < -1 || x->parent >= (int64_t)p->nloops || x->parent == (int)a)
			return bad(d, p, x->begin, "a loop has no such parent");
		for (size_t b = 0; b < a; b++) {
			const struct loop *y = &p->loops[b];
			bool apart = x->end <= y->begin || y->end <= x->begin;
			bool inside = (x->begin >= y->begin && x->end <= y->end) || (y->begin >= x->begin && y->end <= x->end);

			if (!apart && !inside)
				return bad(d, p, x->begin, "two loops overlap");
		}
	}
	return 0;
}

static int validate_access(const struct program *p, struct diag *d)
{
	for (size_t i = 0; i < p->naccess; i++) {
		const struct access *a = &p->access[i];

		if (a->buffer < -1 || a->buffer >= (int64_t)p->nbuffers || a->global < -1 || a->global >= (int64_t)p->nglobals)
			return bad(d, p, p->ninsns, "an access names no buffer");
		if (a->buffer >= 0 && (!a->lane || !a->wave_base || !a->nlanes || a->nlanes > 64))
			return bad(d, p, p->ninsns, "an LDS access without lane addresses");
		if (a->buffer >= 0 && a->slot >= (int64_t)p->buffers[a->buffer].slots)
			return bad(d, p, p->ninsns, "an access names a slot that is not there");
	}
	return 0;
}

int program_validate(const struct program *p, struct diag *d)
{
	if (!p->target || !p->groups || p->groups > PROG_MAX_GROUPS || !p->waves || p->waves > PROG_MAX_WAVES ||
	    p->waves % p->groups || p->ninsns > PROG_MAX_INSNS || !p->ninsns)
		return bad(d, p, p->ninsns, "waves, groups or size out of range");
	if (validate_loops(p, d) < 0 || validate_access(p, d) < 0)
		return -1;
	for (size_t i = 0; i < p->ninsns; i++)
		if (validate_insn(p, i, d) < 0)
			return -1;
	for (unsigned g = 0; g < p->groups; g++)
		if (p->entry[g] >= p->ninsns || p->main_loop[g] < -1 || p->main_loop[g] >= (int64_t)p->nloops)
			return bad(d, p, p->ninsns, "a group's entry or loop is out of range");
	if (p->insns[p->ninsns - 1].cls != OPC_END)
		return bad(d, p, p->ninsns - 1, "the program does not end");
	return 0;
}
