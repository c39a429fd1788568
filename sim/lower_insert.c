/* Put new instructions in front of old ones. */
#include "lower_internal.h"

#include <stdlib.h>
#include <string.h>

static uint32_t moved(const uint32_t *shift, uint32_t at)
{
	return at + shift[at];
}

int insert_insns(struct lower *lw, const struct insertion *list, size_t n)
{
	struct program *p = lw->p;
	size_t total = p->ninsns + n, out = 0, k = 0;
	struct insn *insn;
	uint8_t *mark;
	uint32_t *shift; /* new instructions at or in front of each old one */

	if (n == 0)
		return 0;
	if (total > PROG_MAX_INSNS) {
		diag_add(lw->d, lw->s->loc, DIAG_LIMIT, "the program has more than %u instructions", PROG_MAX_INSNS);
		return -1;
	}
	insn = xreallocarray(NULL, total, sizeof(*insn));
	mark = xcalloc(total, 1);
	shift = xcalloc(p->ninsns + 1, sizeof(*shift));
	for (uint32_t i = 0; i < p->ninsns; i++) {
		for (; k < n && list[k].before == i; k++)
			insn[out++] = list[k].insn;
		shift[i] = (uint32_t)k;
		mark[out] = lw->mark[i];
		insn[out++] = p->insns[i];
	}
	shift[p->ninsns] = (uint32_t)n;
	for (size_t i = 0; i < p->nloops; i++) {
		/* what stands in front of the loop's first instruction is executed in every trip */
		uint32_t b = p->loops[i].begin;

		p->loops[i].begin = b + (b ? shift[b - 1] : 0);
		p->loops[i].end = moved(shift, p->loops[i].end - 1) + 1;
	}
	for (size_t i = 0; i < lw->ngw; i++)
		lw->gw[i].insn = moved(shift, lw->gw[i].insn);
	free(p->insns);
	free(lw->mark);
	free(shift);
	p->insns = insn;
	p->ninsns = total;
	lw->cap_insns = total;
	lw->mark = mark;
	lw->cap_mark = total;
	return 0;
}
