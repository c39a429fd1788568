/* The stages of a hot loop: what lies between its workgroup barriers. */
#include "annotate_internal.h"

#include <stdlib.h>
#include <string.h>

static bool ends_stage(const struct insn *in)
{
	return in->barrier == BAR_WORKGROUP && (in->cls == OPC_BARRIER || in->cls == OPC_AWAIT);
}

static double at_clk(const struct annotate_line *l)
{
	return l->issues ? (double)l->at_clk / (double)l->issues : 0;
}

static bool moves_memory(enum opclass c)
{
	return c == OPC_LDS_READ || c == OPC_LDS_WRITE || c == OPC_VMEM_LOAD || c == OPC_VMEM_STORE || c == OPC_VMEM_LDS ||
	       c == OPC_TDM_LOAD || c == OPC_TDM_STORE;
}

static void settle(struct annotate_stage *s)
{
	unsigned memory = 0;

	for (unsigned c = 0; c < OPC_COUNT; c++)
		memory += moves_memory((enum opclass)c) ? s->mix[c] : 0;
	s->kind = s->mix[OPC_MATRIX] && !memory ? "matrix" : memory && !s->mix[OPC_MATRIX] ? "memory" : s->mix[OPC_MATRIX] ? "mixed" : "other";
}

/* The priority in force at the loop's head is the last one that its body sets. */
static int last_priority(const struct annotation *a)
{
	int prio = -1;

	for (size_t i = 0; i < a->nlines; i++)
		if (a->program->insns[a->lines[i].insn].cls == OPC_SETPRIO && a->lines[i].issues)
			prio = a->program->insns[a->lines[i].insn].imm;
	return prio;
}

/* What stands behind the last barrier is the head of the next trip's first stage. */
static void join_ends(struct annotation *a)
{
	struct annotate_stage *first = &a->stages[0], *last = &a->stages[a->nstages - 1];

	if (a->nstages < 2 || strcmp(last->kind, "other"))
		return;
	for (unsigned c = 0; c < OPC_COUNT; c++)
		first->mix[c] += last->mix[c];
	first->clk += last->clk;
	a->nstages--;
}

void annotate_find_stages(struct annotation *a)
{
	struct annotate_stage s = { .first = UINT32_MAX, .priority = -1 };
	int prio = last_priority(a);
	double begin = 0;
	size_t cap = 0;

	for (size_t i = 0; a->loop >= 0 && i < a->nlines; i++) {
		const struct annotate_line *l = &a->lines[i];
		const struct insn *in = &a->program->insns[l->insn];

		if (!l->issues)
			continue;
		if (s.first == UINT32_MAX)
			s.first = l->insn;
		s.last = l->insn;
		s.mix[in->cls] += in->repeat ? in->repeat : 1u;
		if (in->cls == OPC_SETPRIO)
			prio = in->imm;
		if (s.priority < 0 && (in->cls == OPC_MATRIX || moves_memory(in->cls)))
			s.priority = prio;
		if (!ends_stage(in) && i + 1 < a->nlines)
			continue;
		s.clk = (i + 1 < a->nlines ? at_clk(&a->lines[i + 1]) : a->trip_clk) - begin;
		begin += s.clk;
		settle(&s);
		a->stages = xgrow(a->stages, a->nstages, &cap, sizeof(s));
		a->stages[a->nstages++] = s;
		s = (struct annotate_stage){ .first = UINT32_MAX, .priority = -1 };
	}
	if (a->nstages)
		join_ends(a);
}
