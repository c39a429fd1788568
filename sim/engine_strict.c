/* The strict engine: a broken software spacing rule stops the run with the checker's own code. */
#include "engine_internal.h"

#include <stdlib.h>
#include <string.h>

#include "spacing.h"

#define MAX_REACH 64u

/* The last instructions of each wave, newest last. */
struct strict {
	unsigned reach;
	struct {
		uint32_t insn[MAX_REACH];
		uint32_t n;
	} wave[PROG_MAX_WAVES];
};

struct strict *strict_new(const struct engine *e)
{
	struct strict *s = xcalloc(1, sizeof(*s));
	unsigned reach = spacing_reach(e->t);

	s->reach = reach < MAX_REACH ? reach : MAX_REACH;
	return s;
}

static void report(const struct engine *e, const struct insn *first, const struct insn *second,
		   unsigned needed, unsigned present)
{
	const struct spacing_row *row = spacing_row_of(e->t, first, second);
	struct finding *f = diag_add(e->d, second->loc, DIAG_SPACING,
				     "%s needs %u wait state%s after %s, has %u",
				     second->op ? second->op : opclass_name(second->cls), needed,
				     needed == 1 ? "" : "s",
				     first->op ? first->op : opclass_name(first->cls), present);

	f->required = needed;
	f->present = present;
	if (row && row->from.source)
		f->rule = xstrdup(row->from.source);
	diag_note(f, first->loc, "the first instruction is here");
	diag_fix(f, "put %u more wait state%s between them", needed - present,
		 needed - present == 1 ? "" : "s");
}

/* w is about to issue op. 0, or -1 after a finding. */
int strict_issue(const struct engine *e, struct strict *s, const struct wave *w, const struct op *op)
{
	const struct insn *insns = e->p->insns, *second = &insns[op->insn];
	unsigned present = 0;
	uint32_t n = s->wave[w->id].n, kept = n < MAX_REACH ? n : MAX_REACH;

	for (uint32_t i = 1; i <= kept && present < s->reach; i++) {
		const struct insn *first = &insns[s->wave[w->id].insn[(n - i) % MAX_REACH]];
		unsigned needed = spacing_needed(e->t, first, second);

		if (needed > present) {
			report(e, first, second, needed, present);
			return -1;
		}
		present += spacing_supplied(e->t, first);
	}
	s->wave[w->id].insn[s->wave[w->id].n++ % MAX_REACH] = op->insn;
	return 0;
}
