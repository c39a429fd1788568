/*
 * Counter waits that register dependences need, on every path.
 *
 * Along a path each operation of a counter gets the next score of it, and each register remembers
 * the score that it waits for; what a wait leaves pending are the scores above a lower bound. A
 * register needs counter value (newest score - its score), or 0 where completions can overtake one
 * another: scalar loads, mixed kinds of operations, FLAT on gfx9. At joins the nearer score counts.
 * Needs are taken as mended at once, so that each is found once; loops are walked until nothing
 * changes.
 */
#include "flow_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Registers, then what stands for LDS written by copies, and for the newest FLAT operation, load and store.
 * A copy to LDS is for others to read, behind a barrier: until the next one, LDS accesses are taken to go to
 * another buffer (COPY), behind it to what was copied (LDS). Without a loop and barriers they go there at
 * once. A wait on the counter, however loose, is trusted to count right: paths.h sees the addresses, this
 * does not.
 */
enum { PSEUDO_LDS = REG_COUNT, PSEUDO_COPY, PSEUDO_FLAT, PSEUDO_LOAD, PSEUDO_STORE, TRACKED };
enum slot_id { S_LOAD, S_DS, S_KM, S_X, S_STORE, NSLOTS }; /* gfx9: vm, lgkm, and nothing else */
enum event {
	EV_VMEM = 1,
	EV_LDS = 2,
	EV_SMEM = 4,
	EV_MESSAGE = 8,
	EV_X_VMEM = 16,
	EV_X_SMEM = 32,
	EV_SCC = 64,
	EV_STORE = 128
};
#define NO_NEED UINT8_MAX

struct pending { /* one register of one slot, at a block's entry */
	uint16_t tracked;
	uint8_t slot;
	uint32_t behind; /* younger operations of the slot */
	uint32_t from;	 /* the operation's instruction */
};

struct entry { /* state at a block's entry */
	bool reached, dirty;
	uint8_t events[NSLOTS];
	uint32_t pending[NSLOTS];
	struct pending *list; /* by tracked, then slot */
	size_t n;
};

struct mend { /* values demanded in front of an instruction, NO_NEED: none */
	uint8_t value[NSLOTS];
};

struct waits {
	const struct program *p;
	bool gfx9, pipeline; /* pipeline: a loop with barriers, in which copies run ahead */
	struct flow_graph g;
	struct entry *entries; /* per block */
	uint32_t upper[NSLOTS], lower[NSLOTS];
	uint8_t events[NSLOTS];
	uint32_t score[TRACKED][NSLOTS], from[TRACKED][NSLOTS];
	uint64_t touched[(TRACKED * NSLOTS + 63) / 64];
	unsigned max[NSLOTS];
	struct mend *mends;	     /* per instruction */
	uint32_t (*because)[NSLOTS]; /* per instruction */
	uint64_t budget;
};

/* ---- state ---- */

static void touch(struct waits *w, unsigned tracked, unsigned slot, uint32_t score, uint32_t from)
{
	unsigned bit = tracked * NSLOTS + slot;

	w->score[tracked][slot] = score;
	w->from[tracked][slot] = from;
	w->touched[bit / 64] |= (uint64_t)1 << (bit % 64);
}

static bool is_pending(const struct waits *w, unsigned tracked, unsigned slot)
{
	return w->score[tracked][slot] > w->lower[slot];
}

static bool out_of_order(const struct waits *w, unsigned slot)
{
	uint8_t e = w->events[slot];

	if ((e & EV_SMEM) || (slot == S_X && (e & EV_X_SMEM)))
		return true;
	return (e & (e - 1)) != 0;
}

static bool flat_pending(const struct waits *w, unsigned slot)
{
	return w->gfx9 && slot <= S_DS &&
	       (is_pending(w, PSEUDO_FLAT, S_LOAD) || is_pending(w, PSEUDO_FLAT, S_DS));
}

static void load_entry(struct waits *w, const struct entry *e)
{
	memset(w->touched, 0, sizeof(w->touched));
	for (unsigned s = 0; s < NSLOTS; s++) {
		if (w->upper[s] >
		    UINT32_MAX /
			    2) { /* scores of earlier blocks are all below lower: start again */
			for (unsigned r = 0; r < TRACKED; r++)
				w->score[r][s] = 0;
			w->upper[s] = 0;
		}
		w->lower[s] = w->upper[s];
		w->upper[s] += e->pending[s];
		w->events[s] = e->events[s];
	}
	for (size_t i = 0; i < e->n; i++)
		touch(w, e->list[i].tracked, e->list[i].slot,
		      w->upper[e->list[i].slot] - e->list[i].behind, e->list[i].from);
}

static size_t save_list(const struct waits *w, struct pending *list)
{
	size_t n = 0;

	for (unsigned word = 0; word < ARRAY_LEN(w->touched); word++)
		for (uint64_t bits = w->touched[word]; bits; bits &= bits - 1) {
			unsigned bit = word * 64 + (unsigned)__builtin_ctzll(bits),
				 r = bit / NSLOTS, s = bit % NSLOTS;

			if (is_pending(w, r, s))
				list[n++] = (struct pending){(uint16_t)r, (uint8_t)s,
							     w->upper[s] - w->score[r][s],
							     w->from[r][s]};
		}
	return n;
}

static int order(const struct pending *a, const struct pending *b)
{
	unsigned x = a->tracked * NSLOTS + (unsigned)a->slot,
		 y = b->tracked * NSLOTS + (unsigned)b->slot;

	return (x > y) - (x < y);
}

/* Does e already say all that list[0..n) says? */
static bool says(const struct entry *e, const struct pending *list, size_t n)
{
	size_t i = 0;

	for (size_t j = 0; j < n; j++) {
		while (i < e->n && order(&e->list[i], &list[j]) < 0)
			i++;
		if (i == e->n || order(&e->list[i], &list[j]) != 0 ||
		    list[j].behind < e->list[i].behind)
			return false;
	}
	return true;
}

/* Merge list[0..n) into e; true when something new came in. */
static bool merge_list(struct entry *e, const struct pending *list, size_t n)
{
	struct pending *out;
	size_t i = 0, j = 0, k = 0;
	bool news = false;

	if (says(e, list, n))
		return false;
	out = xcalloc(e->n + n + 1, sizeof(*out));
	while (i < e->n || j < n) {
		int c = i == e->n ? 1 : j == n ? -1 : order(&e->list[i], &list[j]);

		if (c < 0) {
			out[k++] = e->list[i++];
			continue;
		}
		if (c > 0) {
			out[k++] = list[j++];
			news = true;
			continue;
		}
		out[k] = e->list[i];
		if (list[j].behind < out[k].behind) {
			out[k] = list[j];
			news = true;
		}
		i++;
		j++;
		k++;
	}
	free(e->list);
	e->list = out;
	e->n = k;
	return news;
}

/* Join the state into block b; true when b must be walked (again). */
static bool join(struct waits *w, uint32_t b, const struct pending *list, size_t n)
{
	struct entry *e = &w->entries[b];
	bool news = !e->reached;

	for (unsigned s = 0; s < NSLOTS; s++) {
		uint32_t pending = w->upper[s] - w->lower[s];

		news |= (w->events[s] & ~e->events[s]) != 0;
		e->events[s] |= w->events[s];
		if (pending > e->pending[s])
			e->pending[s] = pending;
	}
	news |= merge_list(e, list, n);
	e->reached = true;
	e->dirty |= news;
	return news;
}

/* ---- what instructions do ---- */

static bool begins(const struct insn *in, const char *prefix)
{
	return in->op && strncmp(in->op, prefix, strlen(prefix)) == 0;
}

static bool is_lds_op(const struct insn *in)
{
	return in->cls == OPC_LDS_READ || in->cls == OPC_LDS_WRITE;
}

static bool is_vmem(const struct insn *in)
{
	return in->cls == OPC_VMEM_LOAD || in->cls == OPC_VMEM_STORE || in->cls == OPC_VMEM_LDS;
}

static bool is_flat(const struct insn *in)
{
	return is_vmem(in) && begins(in, "flat_");
}

static int slot_of_counter(const struct waits *w, int counter)
{
	switch (counter) {
	case CTR_VM:
	case CTR_LOAD:
		return S_LOAD;
	case CTR_LGKM:
	case CTR_DS:
		return S_DS;
	case CTR_KM:
		return w->gfx9 ? -1 : S_KM;
	case CTR_X:
		return w->gfx9 ? -1 : S_X;
	case CTR_STORE:
		return w->gfx9 ? -1 : S_STORE;
	default:
		return -1;
	}
}

static void demand(struct waits *w, uint32_t i, unsigned tracked, unsigned slot)
{
	unsigned value = w->upper[slot] - w->score[tracked][slot];
	struct mend *m = &w->mends[i];

	if (!is_pending(w, tracked, slot))
		return;
	if (out_of_order(w, slot) || flat_pending(w, slot))
		value = 0;
	else if (w->max[slot] && value > w->max[slot] - 1)
		value = w->max[slot] - 1;
	if (value < m->value[slot]) {
		m->value[slot] = (uint8_t)value;
		w->because[i][slot] = w->from[tracked][slot];
	}
}

static void demand_span(struct waits *w, uint32_t i, const struct span *span, bool def)
{
	const struct insn *in = &w->p->insns[i];
	unsigned end = span->first + (unsigned)span->n;
	/* Loads of one kind write their registers in order on gfx9; FLAT may go another way. */
	bool in_order = def && w->gfx9 && is_vmem(in) && !is_flat(in);

	for (unsigned r = span->first; r < end && r < REG_COUNT; r++) {
		if (r < REG_SGPR) {
			if (!in_order)
				demand(w, i, r, S_LOAD);
			demand(w, i, r, S_DS);
		} else {
			demand(w, i, r, w->gfx9 ? S_DS : S_KM);
		}
		if (def && !w->gfx9 && !is_vmem(in)) /* those are translated in order */
			demand(w, i, r, S_X);
	}
}

static void apply_x(struct waits *w, unsigned slot, unsigned value);

static void apply(struct waits *w, unsigned slot, unsigned value)
{
	uint32_t pending = w->upper[slot] - w->lower[slot];

	if (value == 0) {
		w->lower[slot] = w->upper[slot];
		apply_x(w, slot, 0);
		w->events[slot] = 0;
	} else if (value < pending && !out_of_order(w, slot) && !flat_pending(w, slot)) {
		w->lower[slot] = w->upper[slot] - value;
		apply_x(w, slot, value);
	}
}

/* Loads that have returned were translated: waits for them stand for waits on the translation
 * counter, unless a store may still be on its way. */
static void apply_x(struct waits *w, unsigned slot, unsigned value)
{
	uint8_t *e = &w->events[S_X];

	if (w->gfx9 || slot == S_X)
		return;
	if (slot == S_KM && value == 0 && (*e & EV_X_SMEM)) {
		if (!(*e & EV_X_VMEM))
			apply(w, S_X, 0);
		else
			*e &= (uint8_t)~EV_X_SMEM;
	}
	if (slot == S_LOAD && (*e & EV_X_VMEM) && !w->events[S_STORE]) {
		if (!(*e & EV_X_SMEM))
			apply(w, S_X, value);
		else if (value == 0)
			*e &= (uint8_t)~EV_X_VMEM;
	} else if (slot == S_LOAD && value == 0 && !(*e & EV_X_SMEM) &&
		   is_pending(w, PSEUDO_LOAD, S_X)) {
		w->lower[S_X] = w->score[PSEUDO_LOAD][S_X]; /* translation is in order */
	} else if (slot == S_STORE && value == 0 && !(*e & EV_X_SMEM) &&
		   is_pending(w, PSEUDO_STORE, S_X)) {
		w->lower[S_X] = w->score[PSEUDO_STORE][S_X];
	}
}

static void occur(struct waits *w, unsigned slot, enum event event)
{
	w->upper[slot]++;
	w->events[slot] |= (uint8_t)event;
	/* A full counter holds the wave until the oldest operation is complete. */
	if (w->max[slot] && w->upper[slot] - w->lower[slot] > w->max[slot] &&
	    !out_of_order(w, slot) && !flat_pending(w, slot))
		w->lower[slot] = w->upper[slot] - w->max[slot];
}

static void mark_results(struct waits *w, uint32_t i, unsigned slot)
{
	const struct insn *in = &w->p->insns[i];

	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first, end = r + in->span[k].n;
		     in->role[k] == ROLE_DST && r < end && r < REG_COUNT; r++)
			touch(w, r, slot, w->upper[slot], i);
}

/* Address translation may fail and the op be repeated: its operands must live until it is over. */
static void mark_operands(struct waits *w, uint32_t i, enum event event)
{
	const struct insn *in = &w->p->insns[i];
	uint8_t other = event == EV_X_SMEM ? EV_X_VMEM : EV_X_SMEM;

	w->upper[S_X]++;
	if (w->events[S_X] & other) { /* groups of the two kinds don't overlap */
		w->lower[S_X] = w->upper[S_X] - 1;
		w->events[S_X] &= (uint8_t)~other;
	}
	w->events[S_X] |= (uint8_t)event;
	for (unsigned k = 0; k < in->nspans; k++)
		for (unsigned r = in->span[k].first, end = r + in->span[k].n;
		     in->role[k] != ROLE_DST && r < end && r < REG_COUNT; r++)
			touch(w, r, S_X, w->upper[S_X], i);
}

static void occur_vmem(struct waits *w, uint32_t i)
{
	const struct insn *in = &w->p->insns[i];

	if (slot_of_counter(w, in->counter) == S_LOAD) {
		occur(w, S_LOAD, EV_VMEM);
		mark_results(w, i, S_LOAD);
		if (in->cls == OPC_VMEM_LDS)
			touch(w, w->pipeline ? PSEUDO_COPY : PSEUDO_LDS, S_LOAD,
			      w->upper[S_LOAD], i);
		if (w->gfx9 && in->cls == OPC_VMEM_LDS &&
		    (begins(in, "global_load_lds") || begins(in, "scratch_load_lds")))
			occur(w, S_DS,
			      EV_LDS); /* the only copies to LDS that both counters count */
	}
	if (slot_of_counter(w, in->counter) == S_STORE)
		occur(w, S_STORE, EV_STORE);
	if (is_flat(in)) {
		occur(w, S_DS, EV_LDS);
		mark_results(w, i, S_DS);
		if (w->gfx9) {
			touch(w, PSEUDO_FLAT, S_LOAD, w->upper[S_LOAD], i);
			touch(w, PSEUDO_FLAT, S_DS, w->upper[S_DS], i);
		}
	}
	if (!w->gfx9 && in->counter != CTR_ASYNC)
		mark_operands(w, i, EV_X_VMEM);
	if (!w->gfx9 && slot_of_counter(w, in->counter) == S_LOAD)
		touch(w, PSEUDO_LOAD, S_X, w->upper[S_X], i);
	if (!w->gfx9 && slot_of_counter(w, in->counter) == S_STORE)
		touch(w, PSEUDO_STORE, S_X, w->upper[S_X], i);
}

static void occur_insn(struct waits *w, uint32_t i)
{
	const struct insn *in = &w->p->insns[i];
	unsigned scalar = w->gfx9 ? S_DS : S_KM;

	if (is_vmem(in)) {
		occur_vmem(w, i);
	} else if (is_lds_op(in) || in->cls == OPC_LDS_PERMUTE) {
		if (slot_of_counter(w, in->counter) != S_DS)
			return;
		occur(w, S_DS, EV_LDS);
		mark_results(w, i, S_DS);
	} else if (in->cls == OPC_SMEM || in->counter == CTR_KM || in->counter == CTR_LGKM) {
		if (in->counter < 0)
			return;
		occur(w, scalar,
		      begins(in, "s_sendmsg")		       ? EV_MESSAGE
		      : begins(in, "s_barrier_signal_isfirst") ? EV_SCC
							       : EV_SMEM);
		mark_results(w, i, scalar);
		if (!w->gfx9 && in->cls == OPC_SMEM)
			mark_operands(w, i, EV_X_SMEM);
	}
}

static void walk_insn(struct waits *w, uint32_t i)
{
	const struct insn *in = &w->p->insns[i];

	for (unsigned k = 0; k < in->nwait && k < ARRAY_LEN(in->wait); k++) {
		int slot = slot_of_counter(w, in->wait[k].counter);

		if (slot >= 0)
			apply(w, (unsigned)slot, in->wait[k].value);
		if (slot == S_LOAD)
			w->score[PSEUDO_LDS][S_LOAD] = w->score[PSEUDO_COPY][S_LOAD] = 0;
	}
	if (in->cls == OPC_WAIT)
		return;
	if (in->cls == OPC_BARRIER && is_pending(w, PSEUDO_COPY, S_LOAD)) {
		touch(w, PSEUDO_LDS, S_LOAD, w->score[PSEUDO_COPY][S_LOAD],
		      w->from[PSEUDO_COPY][S_LOAD]);
		w->score[PSEUDO_COPY][S_LOAD] = 0;
	}
	if (is_lds_op(in) || is_flat(in))
		demand(w, i, PSEUDO_LDS, S_LOAD);
	for (unsigned k = 0; k < in->nspans; k++)
		demand_span(w, i, &in->span[k], in->role[k] == ROLE_DST);
	for (unsigned s = 0; s < NSLOTS; s++)
		if (w->mends[i].value[s] != NO_NEED)
			apply(w, s, w->mends[i].value[s]);
	occur_insn(w, i);
}

/* ---- blocks ---- */

static bool walk_block(struct waits *w, uint32_t b, struct pending *list, bool *again)
{
	struct flow_block *k = &w->g.blocks[b];
	size_t n, cost;

	load_entry(w, &w->entries[b]);
	w->entries[b].dirty = false;
	for (uint32_t i = k->begin; i < k->end; i++)
		walk_insn(w, i);
	n = save_list(w, list);
	for (int s = 0; s < 2; s++)
		if (k->succ[s] != FLOW_NONE && join(w, k->succ[s], list, n) && k->succ[s] <= b)
			*again = true;
	cost = k->end - k->begin + n / 4;
	if (w->budget < cost)
		return false;
	w->budget -= cost;
	return true;
}

static int walk_all(struct waits *w)
{
	struct pending *list = xcalloc((size_t)TRACKED * NSLOTS, sizeof(*list));
	bool again = true, first = true;
	int rc = 0;

	while (again && rc == 0) {
		again = false;
		for (uint32_t b = 0; b < w->g.nblocks && rc == 0; b++) {
			if (!w->entries[b].dirty && !first)
				continue;
			if (!walk_block(w, b, list, &again))
				rc = -1;
		}
		first = false;
	}
	free(list);
	return rc;
}

static bool is_pipeline(const struct program *p)
{
	bool loop = false, barrier = false;

	for (uint32_t i = 0; i < p->ninsns; i++) {
		uint32_t to = flow_branch_target(p, i);

		loop = loop || (to != FLOW_NONE && to <= i);
		barrier = barrier || p->insns[i].cls == OPC_BARRIER;
	}
	return loop && barrier;
}

static void waits_init(struct waits *w, const struct program *p)
{
	static const enum counter old[NSLOTS] = {CTR_VM, CTR_LGKM, CTR_KM, CTR_X, CTR_STORE},
				  split[NSLOTS] = {CTR_LOAD, CTR_DS, CTR_KM, CTR_X, CTR_STORE};

	w->p = p;
	w->gfx9 = p->target->counters[CTR_VM].present;
	for (unsigned s = 0; s < NSLOTS; s++) {
		const struct counter_row *row = &p->target->counters[w->gfx9 ? old[s] : split[s]];

		w->max[s] = row->present ? row->max : 0;
	}
	w->pipeline = is_pipeline(p);
	flow_graph_build(p, &w->g);
	w->entries = xcalloc(w->g.nblocks + 1u, sizeof(*w->entries));
	w->mends = xcalloc(p->ninsns + 1, sizeof(*w->mends));
	memset(w->mends, NO_NEED, (p->ninsns + 1) * sizeof(*w->mends));
	w->because = xcalloc(p->ninsns + 1, sizeof(*w->because));
	w->budget = (uint64_t)p->ninsns * 32 + 10000000;
}

static void waits_free(struct waits *w)
{
	for (uint32_t b = 0; b < w->g.nblocks; b++)
		free(w->entries[b].list);
	free(w->entries);
	free(w->mends);
	free(w->because);
	flow_graph_free(&w->g);
	free(w);
}

int flow_waits(const struct program *p, struct flow_result *out)
{
	static const int old[NSLOTS] = {CTR_VM, CTR_LGKM, -1, -1, -1},
			 split[NSLOTS] = {CTR_LOAD, CTR_DS, CTR_KM, CTR_X, CTR_STORE};
	struct waits *w = xcalloc(1, sizeof(*w));
	size_t cap = 0;
	int rc;

	memset(out, 0, sizeof(*out));
	waits_init(w, p);
	rc = walk_all(w);
	for (uint32_t i = 0; i < p->ninsns; i++)
		for (unsigned s = 0; s < NSLOTS; s++) {
			struct flow_need *need;

			if (w->mends[i].value[s] == NO_NEED)
				continue;
			need = flow_need_add(out, &cap);
			need->insn = i;
			need->because = w->because[i][s];
			need->counter = w->gfx9 ? old[s] : split[s];
			need->required = w->mends[i].value[s];
			need->missing = 1;
		}
	waits_free(w);
	return rc;
}
