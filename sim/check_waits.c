/*
 * Waits: each order "x complete before this point" is given to the wait that guarantees it; an order
 * that no wait guarantees is a finding with the exact value or place. What is left over is the audit.
 */
#include "check_internal.h"

#include <stdlib.h>
#include <string.h>

void check_require(struct checker *c, struct order o)
{
	c->orders = xgrow(c->orders, c->norders, &c->caporders, sizeof(o));
	c->orders[c->norders++] = o;
}

static const struct insn *insn_at(const struct checker *c, unsigned g, uint32_t pos)
{
	return &c->p->insns[c->track[g].inst[pos].insn];
}

/* Ops of x's completion stream issued after x and before the wait. */
static uint32_t younger(const struct checker *c, const struct order *o, const struct wait_at *w)
{
	const struct insn *in = insn_at(c, o->group, o->x);
	unsigned kind = check_stream_ordered(c->p, in) ? 0 : 1;

	return kind ? 0 : w->issued[0] - c->track[o->group].inst[o->x].ord - 1;
}

static size_t first_wait_after(const struct track *t, unsigned ctr, uint32_t pos)
{
	size_t lo = 0, hi = t->nwaits[ctr];

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->waits[ctr][mid].pos <= pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The audit's entry of one counter of one wait instruction. */
static struct check_wait *entry(struct checker *c, uint32_t insn, unsigned ctr)
{
	size_t lo = 0, hi = c->out->nwaits;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->out->waits[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < c->out->nwaits && c->out->waits[lo].insn == insn; lo++)
		if (c->out->waits[lo].counter == ctr)
			return &c->out->waits[lo];
	return NULL;
}

static const char *wait_name(const struct checker *c, unsigned ctr, char *buf, size_t size)
{
	snprintf(buf, size, target_is_ptx(c->p->target) ? "wait %s" : c->p->target->counters[CTR_VM].present ? "%scnt" : "s_wait_%scnt",
		 counter_name((enum counter)ctr));
	return buf;
}

/* "8 buffer_load (line 31) + 5 buffer_load (line 29) = 13": what was issued behind x up to the wait. */
static void note_younger(struct checker *c, struct finding *f, const struct order *o, const struct wait_at *w)
{
	const struct track *t = &c->track[o->group];
	const struct insn *x = insn_at(c, o->group, o->x);
	struct strbuf b = { 0 };
	uint32_t run = 0, total = 0;
	const struct insn *last = NULL;

	for (uint32_t i = o->x + 1; i <= w->pos; i++) {
		const struct insn *in = i < w->pos ? &c->p->insns[t->inst[i].insn] : NULL;

		if (in && in->counter != x->counter)
			continue;
		if (last && (!in || in->loc.begin != last->loc.begin)) {
			strbuf_add(&b, "%s%u %s (line %u)", b.len ? " + " : "", run, last->op ? last->op : opclass_name(last->cls),
				   loc_line(last->loc));
			run = 0;
		}
		if (in) {
			run += in->repeat ? in->repeat : 1;
			total += in->repeat ? in->repeat : 1;
			last = in;
		}
	}
	if (b.len && b.len < 400)
		diag_note(f, x->loc, "issued behind it before the wait: %s = %u", b.s, total);
	strbuf_free(&b);
}

static const char *action(enum order_kind k)
{
	switch (k) {
	case ORDER_REGISTER: return "its data are used";
	case ORDER_SAME_WAVE: return "the same wave touches the same LDS bytes";
	case ORDER_READ_AFTER_WRITE: return "reads them";
	case ORDER_WRITE_AFTER_READ: return "overwrites what it reads";
	case ORDER_WRITE_AFTER_WRITE: return "writes the same bytes";
	case ORDER_PUBLISH: return "tells others that it is complete";
	}
	return "";
}

static const char *buffer_name(const struct checker *c, const struct insn *in)
{
	if (c->paths && in->access < 0)
		return in->cls == OPC_LDS_READ || in->cls == OPC_LDS_WRITE || in->cls == OPC_VMEM_LDS || in->cls == OPC_TDM_LOAD ? "LDS" : "its data";

	int32_t b = in->access >= 0 ? c->p->access[in->access].buffer : -1;

	if (b < 0 && in->access >= 0 && c->p->access[in->access].global >= 0)
		return c->p->globals[c->p->access[in->access].global].name;
	return b >= 0 ? c->p->buffers[b].name : "its data";
}

static enum diag_code race_code(enum order_kind k)
{
	return k == ORDER_WRITE_AFTER_READ ? DIAG_WAR_X : k == ORDER_REGISTER || k == ORDER_SAME_WAVE ? DIAG_WAIT_SHORT : DIAG_RAW_X;
}

/* A wait as the source has it: an element of a schedule, an instruction of a listing. */
static const char *wait_text(const struct checker *c, const char *ctr, unsigned value, char *buf, size_t size)
{
	const char *form = !c->paths ? "<wait %s=\"%u\"/>" : c->p->target->counters[CTR_VM].present ? "s_waitcnt %scnt(%u)" : "s_wait_%scnt %u";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(buf, size, form, ctr, value);
#pragma GCC diagnostic pop
	return buf;
}

/* The place and value of a wait that would make the order hold. */
static void propose_wait(const struct checker *c, const struct order *o, struct finding *f, const char *ctr)
{
	const struct insn *x = insn_at(c, o->group, o->x), *at = insn_at(c, o->group, o->deadline);
	uint32_t behind = 0;
	char text[64];

	for (uint32_t i = o->x + 1; i < o->deadline; i++)
		if (insn_at(c, o->group, i)->counter == x->counter)
			behind += insn_at(c, o->group, i)->repeat ? insn_at(c, o->group, i)->repeat : 1u;
	f->insert_value = check_stream_ordered(c->p, x) ? behind : 0;
	f->insert = at->loc;
	if (x->groups != (1u << c->ngroups) - 1) /* other groups may have other counts */
		f->insert_group = check_group_letter(o->group);
	if (f->present != DIAG_NONE_INT)
		return; /* a wait with too large a value: that one is to be mended */
	f->required = f->insert_value;
	if (o->kind == ORDER_REGISTER || o->kind == ORDER_SAME_WAVE) {
		diag_fix(f, "put %s in front of line %u", wait_text(c, ctr, (unsigned)f->required, text, sizeof(text)), loc_line(at->loc));
		return;
	}
	diag_note(f, at->loc, "the last barrier in time");
	diag_fix(f, "put %s in front of the barrier at line %u%s", wait_text(c, ctr, (unsigned)f->required, text, sizeof(text)),
		 loc_line(at->loc),
		 at->flags & INSN_IMPLIED ? " (the boundary of that stage)" : "");
}

/* Another value for the wait that is there. */
static void fix_value(const struct checker *c, struct finding *f, unsigned ctr, unsigned value)
{
	char text[64];

	if (c->paths)
		diag_fix(f, "write %s here", wait_text(c, counter_name((enum counter)ctr), value, text, sizeof(text)));
	else
		diag_fix(f, "write %s=\"%u\" here", counter_name((enum counter)ctr), value);
}

/* A wait stands between x and the deadline but lets x stay open. */
static void report_short(struct checker *c, const struct order *o, const struct wait_at *w, unsigned ctr)
{
	const struct insn *x = insn_at(c, o->group, o->x), *wi = insn_at(c, o->group, w->pos);
	uint32_t need = younger(c, o, w);
	char name[32], when[96];
	struct finding *f;

	if (!check_once(c, DIAG_WAIT_SHORT, c->track[o->group].inst[w->pos].insn, ctr))
		return;
	f = diag_add(c->d, wi->loc, DIAG_WAIT_SHORT,
		     "%s(%u) is too loose for the %s of %s before %s%s (group %c, %s): needs %u",
		     wait_name(c, ctr, name, sizeof(name)), w->value, x->op ? x->op : opclass_name(x->cls), buffer_name(c, x),
		     o->kind == ORDER_REGISTER || o->kind == ORDER_SAME_WAVE ? "" :
		     o->other_group == o->group ? "another wave " : "the other group ",
		     action((enum order_kind)o->kind), check_group_letter(o->group),
		     check_when(c, o->group, w->pos, when, sizeof(when)), need);
	f->counter = counter_name((enum counter)ctr);
	f->required = need;
	f->present = w->value;
	note_younger(c, f, o, w);
	diag_note(f, insn_at(c, o->other_group, o->other)->loc, "needed by this");
	fix_value(c, f, ctr, need);
	propose_wait(c, o, f, counter_name((enum counter)ctr));
}

/* Keep the fault; of those at one wait, the one that needs the least value. */
static void keep_fault(struct checker *c, const struct order *o, const struct wait_at *w)
{
	const struct insn *x = insn_at(c, o->group, o->x);
	struct fault f = { .o = *o, .tight = w != NULL };

	if (w) {
		uint32_t insn = c->track[o->group].inst[w->pos].insn, need = younger(c, o, w);
		struct check_wait *e = entry(c, insn, (unsigned)x->counter);

		if (e) {
			if (!e->short_of || need < e->required) {
				e->required = need;
				e->for_insn = c->track[o->group].inst[o->x].insn;
				e->before_insn = c->track[o->group].inst[o->deadline].insn;
				e->cross_wave = o->kind > ORDER_SAME_WAVE;
			}
			e->short_of = e->needed = true;
		}
		f.w = *w;
		for (size_t i = 0; i < c->npending; i++) {
			struct fault *g = &c->pending[i];

			if (!g->tight || insn_at(c, g->o.group, g->w.pos)->loc.begin != c->p->insns[insn].loc.begin ||
			    insn_at(c, g->o.group, g->o.x)->counter != x->counter)
				continue;
			if (need < younger(c, &g->o, &g->w))
				*g = f;
			return;
		}
	}
	c->pending = xgrow(c->pending, c->npending, &c->cappending, sizeof(f));
	c->pending[c->npending++] = f;
}

/*
 * Is x complete before the own wave's access that corresponds to the other wave's one? Then its wait is
 * right for the wave that executes it and stands too late for the others.
 */
static bool right_for_own(const struct checker *c, const struct order *o)
{
	const struct track *t = &c->track[o->group];
	const struct instance *other = &c->track[o->other_group].inst[o->other];
	uint32_t done = t->inst[o->x].done;

	if (o->kind != ORDER_READ_AFTER_WRITE || done == NO_POS || o->deadline == NO_POS ||
	    o->deadline <= o->x || insn_at(c, o->group, done)->cls != OPC_WAIT ||
	    (insn_at(c, o->group, done)->flags & INSN_AUTO_WAIT))
		return false;
	if (o->group == o->other_group)
		return done < o->other;
	for (uint32_t i = o->deadline; i < t->n; i++)
		if (t->inst[i].insn == other->insn && t->inst[i].trip == other->trip)
			return done < i;
	return false;
}

/* Every counter of this wait is of no use to any order. */
static bool idle_wait(const struct checker *c, uint32_t insn)
{
	for (size_t i = 0; i < c->out->nwaits; i++)
		if (c->out->waits[i].insn == insn && c->out->waits[i].needed)
			return false;
	return true;
}

/* The instruction in front of the deadline is a written wait on another counter. */
static const struct insn *wrong_counter(const struct checker *c, const struct order *o, unsigned ctr)
{
	for (uint32_t i = o->deadline; i-- > o->x + 1;) {
		const struct insn *in = insn_at(c, o->group, i);

		if (in->cls == OPC_SETPRIO || in->cls == OPC_NOP)
			continue;
		if (in->cls != OPC_WAIT || (in->flags & INSN_AUTO_WAIT) || !in->nwait)
			return NULL;
		for (unsigned k = 0; k < in->nwait; k++)
			if ((unsigned)in->wait[k].counter == ctr)
				return NULL;
		return idle_wait(c, c->track[o->group].inst[i].insn) ? in : NULL;
	}
	return NULL;
}

/* Operations on x's counter that no wait has completed when the group comes to position at. */
static uint32_t open_at(const struct checker *c, unsigned group, int counter, uint32_t at)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < at; i++) {
		const struct insn *in = insn_at(c, group, i);
		uint32_t done = c->track[group].inst[i].done;

		if (in->counter == counter && (done == NO_POS || done > at))
			n += in->repeat ? in->repeat : 1;
	}
	return n;
}

/* A store right behind a barrier that should stand in front of it: the usual cause in compiled code. */
static void note_sunk_store(const struct checker *c, const struct order *o, struct finding *f)
{
	const struct insn *x = insn_at(c, o->group, o->x);

	if (!c->paths || x->cls != OPC_LDS_WRITE || o->kind != ORDER_READ_AFTER_WRITE)
		return;
	for (uint32_t i = o->x; i-- > 0 && o->x - i < 64;) {
		const struct insn *in = insn_at(c, o->group, i);

		if (in->cls != OPC_BARRIER && in->cls != OPC_AWAIT)
			continue;
		diag_note(f, in->loc,
			  "the store may have crossed this barrier: a wait and a barrier written as bare instructions do not keep a "
			  "compiler from moving stores; the source lacks a fence");
		return;
	}
}

static void report_open(struct checker *c, const struct order *o)
{
	const struct insn *x = insn_at(c, o->group, o->x), *y = insn_at(c, o->other_group, o->other);
	bool cross = o->kind != ORDER_REGISTER && o->kind != ORDER_SAME_WAVE;
	bool no_barrier = cross && (o->deadline == NO_POS || o->deadline <= o->x);
	uint32_t done = c->track[o->group].inst[o->x].done;
	const struct insn *wrong = no_barrier ? NULL : wrong_counter(c, o, (unsigned)x->counter);
	const struct insn *late = !no_barrier && done != NO_POS ? insn_at(c, o->group, done) : NULL;
	enum diag_code code = wrong ? DIAG_COUNTER : race_code((enum order_kind)o->kind);
	const char *what = x->op ? x->op : opclass_name(x->cls), *ctr = counter_name((enum counter)x->counter);
	char when[96];
	struct finding *f;

	/* a listing's waits are mostly for registers: the first one behind the barrier says nothing about what was meant */
	if (!wrong && !c->paths && late && late->cls == OPC_WAIT && o->kind == ORDER_READ_AFTER_WRITE && !(late->flags & INSN_AUTO_WAIT))
		code = DIAG_WAIT_LATE;
	if (code == DIAG_WAR_X && no_barrier && x->access >= 0 && y->access >= 0 &&
	    c->p->access[x->access].buffer == c->p->access[y->access].buffer &&
	    c->p->buffers[c->p->access[x->access].buffer].slots > 1)
		code = DIAG_BUFFERS;
	if (code == DIAG_WAIT_LATE ? !check_once(c, code, c->track[o->group].inst[done].insn, c->track[o->group].inst[o->deadline].insn) :
	    !check_once(c, code, c->track[o->group].inst[o->x].insn, c->track[o->other_group].inst[o->other].insn))
		return;
	check_when(c, o->other_group, o->other, when, sizeof(when));
	if (code == DIAG_BUFFERS)
		f = diag_add(c->d, y->loc, code,
			     "%s has %u slots, too few for the distance: this refills the slot that group %c's %s reads, with no "
			     "barrier between (%s)",
			     buffer_name(c, x), c->p->buffers[c->p->access[x->access].buffer].slots, check_group_letter(o->group),
			     what, when);
	else if (no_barrier)
		f = diag_add(c->d, y->loc, code, "no barrier lies between group %c's %s of %s and group %c's %s, which %s (%s)",
			     check_group_letter(o->group), what, buffer_name(c, x), check_group_letter(o->other_group),
			     y->op ? y->op : opclass_name(y->cls), action((enum order_kind)o->kind), when);
	else if (!cross)
		f = diag_add(c->d, y->loc, code, "no wait stands between the %s of %s and this, where %s (group %c, %s)", what,
			     buffer_name(c, x), action((enum order_kind)o->kind), check_group_letter(o->group), when);
	else if (wrong)
		f = diag_add(c->d, wrong->loc, code,
			     "this waits on the wrong counter: group %c's %s of %s counts on %s, of which %u are still open at the "
			     "barrier behind which group %c %s (%s)",
			     check_group_letter(o->group), what, buffer_name(c, x), ctr,
			     open_at(c, o->group, x->counter, o->deadline), check_group_letter(o->other_group),
			     action((enum order_kind)o->kind), when);
	else if (code == DIAG_WAIT_LATE)
		f = diag_add(c->d, late->loc, code,
			     "this wait is too late: group %c's %s of %s must be complete at the barrier behind which group %c %s "
			     "(%s), and this stands behind that barrier",
			     check_group_letter(o->group), what, buffer_name(c, x), check_group_letter(o->other_group),
			     action((enum order_kind)o->kind), when);
	else
		f = diag_add(c->d, x->loc, code,
			     "group %c's %s of %s may still be open when group %c %s (%s): nothing waits for it before the barrier",
			     check_group_letter(o->group), what, buffer_name(c, x), check_group_letter(o->other_group),
			     action((enum order_kind)o->kind), when);
	f->counter = ctr;
	if (f->loc.begin != x->loc.begin)
		diag_note(f, x->loc, "the access that must be complete");
	if (f->loc.begin != y->loc.begin)
		diag_note(f, y->loc, "what must not come before that");
	if (code == DIAG_BUFFERS) {
		f->present = c->p->buffers[c->p->access[x->access].buffer].slots;
		f->required = f->present + 1;
		diag_fix(f, "give the buffer one slot more, or put a barrier between");
	} else if (no_barrier) {
		note_sunk_store(c, o, f);
		diag_fix(f, c->paths ? "put a barrier between the two" : "put a barrier between the two, or a stage more");
	} else {
		propose_wait(c, o, f, ctr);
	}
}

/*
 * Give the order to a wait. One that other orders already hold at a value low enough costs nothing; else
 * the last one in time, which may be the loosest. Waits that the language implies serve an order between
 * waves only where no written one does: they are not the user's to rely on. False when no wait guarantees
 * the order.
 */
static bool assign(struct checker *c, const struct order *o, unsigned ctr, const struct wait_at **last)
{
	const struct track *t = &c->track[o->group];
	bool ordered = check_stream_ordered(c->p, insn_at(c, o->group, o->x)), best_written = false;
	struct check_wait *best = NULL;
	uint32_t best_value = 0, room, best_room = 0;

	if (o->deadline == NO_POS || o->deadline <= o->x)
		return false;
	for (size_t i = first_wait_after(t, ctr, o->x); i < t->nwaits[ctr] && t->waits[ctr][i].pos < o->deadline; i++) {
		const struct wait_at *w = &t->waits[ctr][i];
		bool written = !(insn_at(c, o->group, w->pos)->flags & (INSN_AUTO_WAIT | INSN_IMPLIED));
		uint32_t y = younger(c, o, w);
		struct check_wait *e;

		if (!(insn_at(c, o->group, w->pos)->flags & INSN_AUTO_WAIT))
			*last = w;
		if (w->value > y || (!ordered && w->value))
			continue;
		e = entry(c, t->inst[w->pos].insn, ctr);
		if (!e || (best_written && !written && o->kind > ORDER_SAME_WAVE))
			continue;
		room = o->deadline - w->pos;
		if (e->needed && e->required <= y && (written || o->kind <= ORDER_SAME_WAVE)) {
			e->latest = room < e->latest ? room : e->latest;
			return true;
		}
		best = e;
		best_value = y;
		best_room = room;
		best_written = written;
	}
	if (!best)
		return false;
	best->latest = best_room < best->latest ? best_room : best->latest;
	best->required = best->needed && best->required < best_value ? best->required : best_value;
	best->needed = true;
	best->for_insn = t->inst[o->x].insn;
	best->before_insn = t->inst[o->deadline].insn;
	best->cross_wave = o->kind > ORDER_SAME_WAVE;
	return true;
}

static void judge(struct checker *c, const struct order *o)
{
	const struct insn *x = insn_at(c, o->group, o->x);
	uint32_t done = c->track[o->group].inst[o->x].done;
	const struct wait_at *last = NULL;

	if (x->counter < 0 || assign(c, o, (unsigned)x->counter, &last))
		return;
	if (done != NO_POS && o->deadline != NO_POS && done <= o->deadline)
		return; /* completed by a full counter */
	if (c->paths && o->kind == ORDER_REGISTER)
		return; /* flow.h finds these on every path, not only on the one followed */
	c->faults++;
	if (!c->quiet)
		keep_fault(c, o, last && !right_for_own(c, o) ? last : NULL);
}

/* Orders between waves first, then those with the fewest waits to choose from. */
static int by_urgency(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	uint32_t nx = x->deadline - x->x, ny = y->deadline - y->x;

	if (x->kind != y->kind)
		return x->kind > y->kind ? -1 : 1;
	if (nx != ny)
		return nx < ny ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->x < y->x ? -1 : x->x > y->x;
}

static void list_waits(struct checker *c)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < c->p->ninsns; i++)
		for (unsigned k = 0; k < c->p->insns[i].nwait; k++) {
			unsigned ctr = (unsigned)c->p->insns[i].wait[k].counter;

			if (!c->p->target->counters[ctr].present)
				continue; /* PTX: addresses taken, an affair of the assembler's */
			c->out->waits = xgrow(c->out->waits, c->out->nwaits, &cap, sizeof(*c->out->waits));
			c->out->waits[c->out->nwaits++] = (struct check_wait){
				.insn = i, .counter = (uint8_t)ctr, .written = c->p->insns[i].wait[k].value,
				.required = c->p->target->counters[ctr].max, .for_insn = UINT32_MAX, .before_insn = UINT32_MAX,
				.latest = UINT32_MAX,
			};
		}
}

static void report_strong(struct checker *c, const struct check_wait *w)
{
	const struct insn *in = &c->p->insns[w->insn];
	char name[32];
	struct finding *f;

	if (in->cls != OPC_WAIT)
		return; /* an interlock, not of the program's making */
	wait_name(c, w->counter, name, sizeof(name));
	if (w->needed)
		f = diag_add(c->d, in->loc, DIAG_WAIT_STRONG, "%s(%u) is stronger than needed: %u suffices", name, w->written, w->required);
	else
		f = diag_add(c->d, in->loc, DIAG_WAIT_STRONG, "%s(%u) is not needed: every order also holds without it", name, w->written);
	f->counter = counter_name((enum counter)w->counter);
	f->present = w->written;
	if (w->needed) {
		f->required = w->required;
		diag_note(f, c->p->insns[w->for_insn].loc, "it waits for this");
		fix_value(c, f, w->counter, w->required);
	} else if (in->nwait > 1) {
		diag_fix(f, "leave this counter out: wait for the others alone");
	} else {
		diag_fix(f, "take it out");
	}
}

void check_judge_orders(struct checker *c)
{
	list_waits(c);
	if (c->norders)
		qsort(c->orders, c->norders, sizeof(*c->orders), by_urgency);
	for (size_t i = 0; i < c->norders; i++)
		judge(c, &c->orders[i]);
	for (size_t i = 0; i < c->npending; i++) {
		const struct fault *f = &c->pending[i];

		if (f->tight)
			report_short(c, &f->o, &f->w, (unsigned)insn_at(c, f->o.group, f->o.x)->counter);
		else
			report_open(c, &f->o);
	}
	free(c->pending);
	c->pending = NULL;
	c->npending = c->cappending = 0;
}

/* Unrolled copies of one written wait and counter lie side by side, in program order. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct checker *c = ctx;
	const struct check_wait *x = *(const struct check_wait *const *)a, *y = *(const struct check_wait *const *)b;
	uint32_t px = c->p->insns[x->insn].loc.begin, py = c->p->insns[y->insn].loc.begin;

	if (px != py)
		return px < py ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->insn < y->insn ? -1 : x->insn > y->insn;
}

static bool same_place(const struct checker *c, const struct check_wait *x, const struct check_wait *y)
{
	return c->p->insns[x->insn].loc.begin == c->p->insns[y->insn].loc.begin && x->counter == y->counter;
}

/* A written wait is stronger than needed when each of its copies is; the one with the least slack says by how much. */
void check_report_strong(struct checker *c)
{
	const struct check_wait **w = xcalloc(c->out->nwaits + 1, sizeof(*w));
	size_t n = 0, end;

	for (size_t i = 0; i < c->out->nwaits; i++)
		if (!(c->p->insns[c->out->waits[i].insn].flags & (INSN_AUTO_WAIT | INSN_IMPLIED)))
			w[n++] = &c->out->waits[i];
	if (n)
		qsort_r(w, n, sizeof(*w), by_place, c);
	for (size_t i = 0; i < n; i = end) {
		const struct check_wait *least = w[i];
		bool strong = true;

		for (end = i; end < n && same_place(c, w[i], w[end]); end++) {
			strong = strong && !w[end]->short_of && w[end]->required > w[end]->written;
			if (w[end]->required + least->written < least->required + w[end]->written)
				least = w[end];
		}
		if (strong)
			report_strong(c, least);
	}
	free(w);
}
