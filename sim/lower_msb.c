/*
 * gfx1250: an instruction names one of 256 vector registers for each operand; the upper two bits of the number are
 * a mode that s_set_vgpr_msb sets for the instructions behind it. Where an instruction of a GEMM needs other bits
 * than are in force, one is put in front of it.
 */
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN 0x100u /* at a loop's head: the way in and the back edge may differ */

/* Which field of the mode belongs to a span: 0 to 2 the sources, 3 the result; -1: none. */
static int field_of(const struct insn *in, enum span_role role)
{
	switch (role) {
	case ROLE_DST: return 3;
	case ROLE_A: return 0;
	case ROLE_B: return 1;
	case ROLE_C: return 2;
	case ROLE_ADDR: return 0;
	case ROLE_DATA: return in->cls == OPC_VMEM_STORE || in->cls == OPC_LDS_WRITE ? 1 : -1;
	case ROLE_SRC: return 0;
	case ROLE_INDEX: return -1; /* scales: always among the first 256 */
	}
	return -1;
}

/* Bits that in needs; *mask: the fields it uses. */
static unsigned needed(const struct insn *in, unsigned *mask)
{
	unsigned bits = 0;

	*mask = 0;
	for (unsigned i = 0; i < in->nspans; i++) {
		int f = in->span[i].first < REG_AGPR ? field_of(in, (enum span_role)in->role[i]) : -1;

		if (f < 0)
			continue;
		*mask |= 3u << 2 * f;
		bits |= in->span[i].first / 256u << 2 * f;
	}
	return bits;
}

static bool any_upper(const struct program *p)
{
	for (size_t i = 0; i < p->ninsns; i++)
		for (unsigned k = 0; k < p->insns[i].nspans; k++)
			if (p->insns[i].span[k].first >= 256 && p->insns[i].span[k].first < REG_AGPR)
				return true;
	return false;
}

static bool loop_begins(const struct program *p, uint32_t i)
{
	for (size_t l = 0; l < p->nloops; l++)
		if (p->loops[l].begin == i)
			return true;
	return false;
}

static struct insn set_insn(const struct insn *before, unsigned bits)
{
	return (struct insn){ .cls = OPC_MODE, .op = "s_set_vgpr_msb", .groups = before->groups, .flags = INSN_IMPLIED, .size = 4,
			      .counter = -1, .imm = (uint8_t)bits, .repeat = 1, .access = -1, .stage = before->stage, .loop = -1,
			      .loc = before->loc };
}

int msb_insert(struct lower *lw)
{
	const struct program *p = lw->p;
	unsigned state[PROG_MAX_GROUPS] = { 0 };
	struct insertion *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (lw->lanes != 32 || !p->gemm || !any_upper(p))
		return 0;
	for (uint32_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		unsigned mask, bits = needed(in, &mask), from = UNKNOWN;
		bool other = false;

		for (unsigned g = 0; g < PROG_MAX_GROUPS && loop_begins(p, i); g++)
			state[g] = UNKNOWN;
		for (unsigned g = 0; mask && g < lw->s->groups; g++) {
			if (!(in->groups >> g & 1))
				continue;
			other |= state[g] == UNKNOWN || (state[g] & mask) != bits;
			from = state[g];
		}
		if (!other)
			continue;
		bits |= (from == UNKNOWN ? 0 : from) & ~mask;
		list = xgrow(list, n, &cap, sizeof(*list));
		list[n++] = (struct insertion){ i, set_insn(in, bits) };
		for (unsigned g = 0; g < lw->s->groups; g++)
			if (in->groups >> g & 1)
				state[g] = bits;
	}
	rc = insert_insns(lw, list, n);
	free(list);
	return rc;
}
