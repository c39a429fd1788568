/*
 * Races. Each wave has a vector clock; a barrier joins the clocks of those that arrive. An operation
 * (one memory instruction of one wave) is complete from the wait that covers it on; another wave may
 * rely on it when it has seen a clock of the wave that is at least as late. Memory is watched in granules of
 * 16 bytes: for each one the operations that touched it and that later ones may conflict with.
 *
 * Which wave ran first must not show: a race is named by its two instructions, the later one by clock, then
 * by place in the program; of several waves and workgroups the lowest are told. Two waves that write the same
 * value to the same bytes with the same instruction are let pass.
 */
#include "exec_mem.h"

#include <inttypes.h>
#include <stdlib.h>

#define GRANULE 16
#define MAX_RACES 256 /* of different instruction pairs */

enum race_reason { RACE_NO_BARRIER, RACE_NOT_WAITED, RACE_SAME_WAVE };

struct race_side {
	uint32_t insn, clock;
	uint16_t wave; /* of its workgroup */
	uint8_t rank;  /* of the workgroup in its cluster */
	uint8_t type, kind;
};

struct race {
	struct race_side first, second;
	enum race_reason reason;
	bool global;
	uint64_t workgroup; /* the cluster's first */
	uint64_t addr;
	unsigned bytes;
};

struct lds_barrier {
	uint32_t addr;
	struct xclock arrived, done;
};

/* ---- waves and operations ---- */

static unsigned clock_of(const struct xwave *w)
{
	return w->local->rank * w->local->waves + w->id;
}

static struct race_wave *wave_at(const struct xlocal *l, unsigned who)
{
	return &l->member[who / l->waves]->wave[who % l->waves];
}

static void set_clocks(struct xlocal *l, unsigned n)
{
	l->nclocks = n;
	for (unsigned i = 0; i < l->waves; i++) {
		free(l->wave[i].clock);
		l->wave[i].clock = xcalloc(n, sizeof(uint32_t));
		l->wave[i].clock[l->rank * l->waves + i] = 1;
	}
}

int race_init(struct xlocal *l)
{
	l->member[0] = l;
	l->nmembers = 1;
	l->wave = xcalloc(l->waves ? l->waves : 1, sizeof(*l->wave));
	for (unsigned i = 0; i < l->waves; i++)
		l->wave[i].base = l->wave[i].n = 1;
	set_clocks(l, l->waves);
	l->pool.n = 1; /* node 0: none */
	return 0;
}

void x_local_cluster(struct xlocal *const *member, unsigned n)
{
	if (n > X_MAX_CLUSTER || !n || n * member[0]->waves > X_MAX_CLOCKS)
		return;
	for (unsigned r = 0; r < n; r++) {
		memcpy(member[r]->member, member, n * sizeof(*member));
		member[r]->nmembers = n;
		member[r]->rank = r;
		set_clocks(member[r], n * member[r]->waves);
	}
}

/* Operations that every wave has seen complete need not be kept. */
static void drop_old(struct xlocal *l, struct race_wave *rw, unsigned who)
{
	uint32_t seen = UINT32_MAX;

	for (unsigned i = 0; i < l->nclocks; i++) {
		uint32_t c = wave_at(l, i)->clock[who];

		if (i != who && c < seen)
			seen = c;
	}
	while (rw->base < rw->n) {
		const struct race_op *op = &rw->op[rw->base % rw->cap];

		if (!op->retired || op->retired > seen)
			break;
		rw->base++;
	}
}

static struct race_op *new_op(struct xlocal *l, struct race_wave *rw, unsigned who)
{
	if (rw->n - rw->base == rw->cap) {
		if (rw->cap)
			drop_old(l, rw, who);
		if (!rw->cap || rw->n - rw->base > rw->cap / 2) {
			uint32_t cap = rw->cap ? 2 * rw->cap : 64;
			struct race_op *op = xreallocarray(NULL, cap, sizeof(*op));

			for (uint32_t i = rw->base; i < rw->n; i++)
				op[i % cap] = rw->op[i % rw->cap];
			free(rw->op);
			rw->op = op;
			rw->cap = cap;
		}
	}
	return &rw->op[rw->n++ % rw->cap];
}

static struct race_op *op_at(const struct race_wave *rw, uint32_t number)
{
	return number < rw->base || number >= rw->n ? NULL : &rw->op[number % rw->cap];
}

uint32_t x_race_issue(struct xwave *w, const struct xinsn *in)
{
	struct race_wave *rw = &w->local->wave[w->id];
	unsigned who = clock_of(w);
	struct race_op *op;

	w->local->accessed = false;
	if (w->local->m->analysis)
		return 0;
	op = new_op(w->local, rw, who);
	*op = (struct race_op){.insn = in->index, .issued = rw->clock[who]};
	rw->current = rw->n - 1;
	return rw->current;
}

void x_race_retire(struct xwave *w, uint32_t number)
{
	struct race_wave *rw = &w->local->wave[w->id];
	struct race_op *op = number ? op_at(rw, number) : NULL;

	if (op && !op->retired)
		op->retired = rw->clock[clock_of(w)];
}

static void join(uint32_t *into, const uint32_t *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (from[i] > into[i])
			into[i] = from[i];
}

void x_race_arrive(struct xwave *w, struct xclock *phase)
{
	uint32_t *clock = w->local->wave[w->id].clock;

	join(phase->at, clock, w->local->nclocks);
	clock[clock_of(w)]++;
}

void x_race_release(struct xwave *w, const struct xclock *phase)
{
	join(w->local->wave[w->id].clock, phase->at, w->local->nclocks);
}

/* ---- barrier objects in LDS ---- */

static struct lds_barrier *find_barrier(struct xlocal *l, uint32_t addr)
{
	for (size_t i = 0; i < l->nbarriers; i++)
		if (l->barrier[i].addr == addr)
			return &l->barrier[i];
	return NULL;
}

void race_lds_arrive(struct xwave *w, uint32_t addr, bool async, bool completes)
{
	struct xlocal *l = w->local;
	struct race_wave *rw = &l->wave[w->id];
	struct lds_barrier *b = find_barrier(l, addr);

	if (l->m->analysis)
		return;
	if (!b) {
		l->barrier = xgrow(l->barrier, l->nbarriers, &l->capbarriers, sizeof(*l->barrier));
		b = &l->barrier[l->nbarriers++];
		memset(b, 0, sizeof(*b));
		b->addr = addr;
	}
	for (uint32_t i = rw->base; async && i < rw->n; i++) {
		struct race_op *op = &rw->op[i % rw->cap];
		enum opclass cls = l->m->p->insns[op->insn].cls;

		if (cls == OPC_VMEM_LDS || cls == OPC_TDM_LOAD || i == rw->current)
			x_race_retire(w, i);
	}
	x_race_arrive(w, &b->arrived);
	if (completes) {
		join(b->done.at, b->arrived.at, l->nclocks);
		memset(&b->arrived, 0, sizeof(b->arrived));
	}
}

bool race_lds_look(struct xwave *w, uint32_t addr, unsigned bytes)
{
	struct xlocal *l = w->local;

	for (size_t i = 0; i < l->nbarriers; i++)
		if (addr < l->barrier[i].addr + 8 && l->barrier[i].addr < addr + bytes) {
			x_race_release(w, &l->barrier[i].done);
			return true;
		}
	return false;
}

/* ---- what is remembered of the races ---- */

static bool later(const struct race_side *a, const struct race_side *b)
{
	if (a->clock != b->clock)
		return a->clock > b->clock;
	if (a->insn != b->insn)
		return a->insn > b->insn;
	return a->rank != b->rank ? a->rank > b->rank : a->wave > b->wave;
}

static int compare_sides(const struct race_side *a, const struct race_side *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (int)a->wave - (int)b->wave;
}

static int compare_places(const struct race *a, const struct race *b)
{
	if (a->workgroup != b->workgroup)
		return a->workgroup < b->workgroup ? -1 : 1;
	if (compare_sides(&a->second, &b->second))
		return compare_sides(&a->second, &b->second);
	if (compare_sides(&a->first, &b->first))
		return compare_sides(&a->first, &b->first);
	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return 0;
}

static bool same_pair(const struct race *a, const struct race *b)
{
	return a->second.insn == b->second.insn && a->first.insn == b->first.insn && a->global == b->global &&
	       a->reason == b->reason;
}

static void remember(struct race **list, size_t *n, size_t *cap, const struct race *x)
{
	for (size_t i = 0; i < *n; i++)
		if (same_pair(&(*list)[i], x)) {
			if (compare_places(x, &(*list)[i]) < 0)
				(*list)[i] = *x;
			return;
		}
	if (*n == MAX_RACES)
		return;
	*list = xgrow(*list, *n, cap, sizeof(**list));
	(*list)[(*n)++] = *x;
}

struct touch { /* one access of the current instruction to one granule */
	struct xwave *w;
	unsigned who;
	uint32_t op;
	uint16_t mask;
	uint8_t type, kind;
	bool same, global;
	uint64_t granule; /* address / 16 */
};

static void found(const struct touch *t, const struct race_node *node, const struct race_op *op,
		  enum race_reason reason)
{
	struct xlocal *l = t->w->local;
	const struct race_wave *rw = wave_at(l, t->who);
	const struct race_op *mine = op_at(rw, t->op);
	struct race_side a = {.insn = op->insn,
			      .clock = op->issued,
			      .wave = (uint16_t)(node->who % l->waves),
			      .rank = (uint8_t)(node->who / l->waves),
			      .type = node->type,
			      .kind = node->kind};
	struct race_side b = {.insn = mine->insn,
			      .clock = mine->issued,
			      .wave = (uint16_t)t->w->id,
			      .rank = (uint8_t)l->rank,
			      .type = t->type,
			      .kind = t->kind};
	unsigned both = node->mask & t->mask;
	bool swap = node->who != t->who && later(&a, &b);
	struct race x = {.first = swap ? b : a,
			 .second = swap ? a : b,
			 .reason = reason,
			 .global = t->global,
			 .workgroup = l->member[0]->workgroup,
			 .addr = t->granule * GRANULE + (unsigned)__builtin_ctz(both),
			 .bytes = (unsigned)__builtin_popcount(both)};

	remember(&l->race, &l->nrace, &l->caprace, &x);
}

/* ---- granules ---- */

static uint32_t new_node(struct race_pool *p)
{
	uint32_t i = p->free;

	if (i) {
		p->free = p->node[i].next;
		return i;
	}
	if (p->n >= p->cap) {
		p->cap = p->cap ? 2 * p->cap : 1024;
		p->node = xreallocarray(p->node, p->cap, sizeof(*p->node));
	}
	return p->n++;
}

/* May what the node stands for still be under way for the wave of t? */
static bool unordered(const struct touch *t, const struct race_node *node, const struct race_op **op)
{
	const struct race_wave *theirs = wave_at(t->w->local, node->who);
	const uint32_t *clock = t->w->local->wave[t->w->id].clock;

	*op = op_at(theirs, node->op);
	if (!*op)
		return false;
	if (node->who == t->who)
		return !(*op)->retired;
	return !(*op)->retired || (*op)->retired > clock[node->who];
}

static enum race_reason why(const struct touch *t, const struct race_node *node, const struct race_op *op)
{
	if (node->who == t->who)
		return RACE_SAME_WAVE;
	return t->w->local->wave[t->w->id].clock[node->who] >= op->issued ? RACE_NOT_WAITED : RACE_NO_BARRIER;
}

/* Barrier objects are made to be looked at and arrived at by all at any time. */
static bool conflicts(unsigned a, unsigned b)
{
	return a == XA_WRITE || b == XA_WRITE || (a == XA_ATOMIC && b == XA_READ) ||
	       (a == XA_READ && b == XA_ATOMIC);
}

/* Operations of one kind of one wave are in order, but for async copies of gfx1250. */
static bool in_order(const struct touch *t)
{
	return t->kind != XLDS_COPY || x_gfx9(t->w);
}

/*
 * Compare with one node whose bytes overlap. Returns true when those bytes need no longer be kept there: any
 * later access that is in no order with the old operation is in no order with the new one either.
 */
static bool meet(const struct touch *t, const struct race_node *node)
{
	bool conflict = conflicts(node->type, t->type);
	const struct race_op *op;

	if (node->who == t->who && (node->op == t->op || (node->kind == t->kind && in_order(t))))
		return node->kind == t->kind && (t->type == XA_WRITE || node->type == t->type);
	if (!unordered(t, node, &op))
		return t->type == XA_WRITE || !op;
	if (!conflict)
		return false;
	if (t->same && node->type == XA_WRITE && t->type == XA_WRITE &&
	    op->insn == op_at(wave_at(t->w->local, t->who), t->op)->insn)
		return false;
	found(t, node, op, why(t, node, op));
	return false;
}

static void touch(struct race_pool *pool, uint32_t *head, const struct touch *t)
{
	uint32_t *link = head, mine = 0;

	while (*link) {
		uint32_t i = *link;
		struct race_node *node = &pool->node[i];

		if (node->who == t->who && node->op == t->op && node->type == t->type && node->kind == t->kind)
			mine = i;
		else if ((node->mask & t->mask) && meet(t, node))
			node->mask = (uint16_t)(node->mask & ~t->mask);
		if (node->mask) {
			link = &node->next;
			continue;
		}
		*link = node->next;
		node->next = pool->free;
		pool->free = i;
	}
	if (!mine) {
		bool local = link != head; /* growing the pool moves the links */
		uint32_t at = local ? (uint32_t)((const char *)link - (const char *)pool->node) : 0;
		struct race_node *node;

		mine = new_node(pool);
		if (local)
			link = (uint32_t *)(void *)((char *)pool->node + at);
		node = &pool->node[mine];
		*node = (struct race_node){.op = t->op, .who = (uint16_t)t->who, .type = t->type, .kind = t->kind};
		*link = mine;
	}
	pool->node[mine].mask |= t->mask;
}

static uint16_t byte_mask(unsigned from, unsigned n)
{
	return (uint16_t)(((n >= 16 ? 0xffffu : (1u << n) - 1) << from) & 0xffffu);
}

void race_lds(struct xwave *w, uint32_t addr, unsigned bytes, enum xaccess type, enum xlds_kind kind, bool same)
{
	struct xlocal *l = w->local;
	struct touch t = {.w = w,
			  .who = clock_of(w),
			  .op = l->wave[w->id].current,
			  .type = (uint8_t)type,
			  .kind = (uint8_t)kind,
			  .same = same};

	if (!t.op || l->m->analysis)
		return;
	if (l->nbarriers && type == XA_READ && race_lds_look(w, addr, bytes))
		return;
	if (!l->lds_head)
		l->lds_head = xcalloc(l->lds_bytes / GRANULE + 1, sizeof(*l->lds_head));
	while (bytes) {
		unsigned from = addr % GRANULE, n = bytes < GRANULE - from ? bytes : GRANULE - from;

		t.granule = addr / GRANULE;
		t.mask = byte_mask(from, n);
		touch(&l->pool, &l->lds_head[t.granule], &t);
		addr += n;
		bytes -= n;
	}
}

static size_t hash_slot(const struct xlocal *l, uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ull;
	size_t i = (size_t)(h >> 20) & (l->capglobal - 1);

	while (l->global[i].key && l->global[i].key != key)
		i = (i + 1) & (l->capglobal - 1);
	return i;
}

static uint32_t *global_head(struct xlocal *l, uint64_t key)
{
	size_t i;

	if (2 * (l->nglobal + 1) > l->capglobal) {
		struct granule *old = l->global;
		size_t n = l->capglobal;

		l->capglobal = n ? 2 * n : 1024;
		l->global = xcalloc(l->capglobal, sizeof(*l->global));
		for (size_t k = 0; k < n; k++)
			if (old[k].key)
				l->global[hash_slot(l, old[k].key)] = old[k];
		free(old);
	}
	i = hash_slot(l, key);
	if (!l->global[i].key) {
		l->global[i].key = key;
		l->nglobal++;
	}
	return &l->global[i].head;
}

void race_global(struct xwave *w, uint64_t addr, unsigned bytes, enum xaccess type, bool same)
{
	struct xlocal *l = w->local, *owner = l->member[0];
	struct touch t = {.w = w,
			  .who = clock_of(w),
			  .op = l->wave[w->id].current,
			  .type = (uint8_t)type,
			  .kind = KIND_GLOBAL,
			  .same = same,
			  .global = true};

	if (!t.op || l->m->analysis || l->nclocks < 2)
		return;
	while (bytes) {
		unsigned from = addr % GRANULE, n = bytes < GRANULE - from ? bytes : GRANULE - from;

		t.granule = addr / GRANULE;
		t.mask = byte_mask(from, n);
		touch(&owner->pool, global_head(owner, t.granule), &t);
		addr += n;
		bytes -= n;
	}
}

void race_free(struct xlocal *l)
{
	struct xmemory *m = l->m;

	if (l->nrace) {
		pthread_mutex_lock(&m->race_lock);
		for (size_t i = 0; i < l->nrace; i++)
			remember(&m->race, &m->nrace, &m->caprace, &l->race[i]);
		pthread_mutex_unlock(&m->race_lock);
	}
	for (unsigned i = 0; i < l->waves; i++) {
		free(l->wave[i].op);
		free(l->wave[i].clock);
	}
	free(l->wave);
	free(l->pool.node);
	free(l->lds_head);
	free(l->global);
	free(l->race);
	free(l->barrier);
}

/* ---- the report ---- */

static const char *verb_of(const struct race_side *s)
{
	static const char *const verbs[] = {"reads", "writes", "updates", "arrives at"};

	return verbs[s->type];
}

static const char *noun_of(const struct race_side *s)
{
	static const char *const nouns[] = {"read", "write", "atomic", "arrival"};

	return s->type <= XA_WRITE && (s->kind == XLDS_COPY || s->kind == XLDS_TENSOR) ? "copy" : nouns[s->type];
}

static void where(const struct xmemory *m, const struct race *x, char *out, size_t size)
{
	if (!x->global) {
		snprintf(out, size, "LDS byte%s %" PRIu64 "%s", x->bytes > 1 ? "s from" : "", x->addr,
			 x->bytes > 1 ? " on" : "");
		return;
	}
	for (size_t i = 0; i < m->n; i++)
		if (x->addr - m->region[i].base < m->region[i].bytes) {
			snprintf(out, size, "%s at byte %" PRIu64, m->region[i].name, x->addr - m->region[i].base);
			return;
		}
	snprintf(out, size, "memory at 0x%" PRIx64, x->addr);
}

static const char *counter_of(const struct insn *in)
{
	return in->counter >= 0 ? counter_name((enum counter)in->counter) : "memory";
}

struct side_name {
	char s[64];
};

/* "wave 3", and of which workgroup of the cluster when the two differ. */
static struct side_name name_of(const struct race_side *a, const struct race_side *other)
{
	struct side_name n;

	if (a->rank == other->rank)
		snprintf(n.s, sizeof(n.s), "wave %u", a->wave);
	else
		snprintf(n.s, sizeof(n.s), "wave %u of the cluster's workgroup %u", a->wave, a->rank);
	return n;
}

static void report(const struct xmemory *m, const struct race *x, struct diag *d)
{
	const struct insn *a = &m->p->insns[x->first.insn], *b = &m->p->insns[x->second.insn];
	const struct race_side *f = &x->first, *s = &x->second;
	struct side_name first = name_of(f, s), second = name_of(s, f);
	struct finding *e;
	char place[160];

	where(m, x, place, sizeof(place));
	switch (x->reason) {
	case RACE_SAME_WAVE:
		e = diag_add(d, b->loc, DIAG_RACE,
			     "%s %s %s while its own %s there is under way: nothing has waited for it", second.s,
			     verb_of(s), place, noun_of(f));
		diag_fix(e, "wait for the %s counter in front of this instruction", counter_of(a));
		break;
	case RACE_NOT_WAITED:
		e = diag_add(
			d, b->loc, DIAG_RACE,
			"%s %s %s that %s %s: a barrier is between the two, but %s goes there before its %s is complete",
			second.s, verb_of(s), place, first.s, verb_of(f), first.s, noun_of(f));
		diag_fix(e, "wait for the %s counter in front of the barrier that follows the %s", counter_of(a),
			 noun_of(f));
		break;
	default:
		e = diag_add(d, b->loc, DIAG_RACE, "%s %s %s that %s %s: no barrier is between the two", second.s,
			     verb_of(s), place, first.s, verb_of(f));
		diag_fix(e, "wait for the %s counter, then a barrier, between the two", counter_of(a));
	}
	e->counter = a->counter >= 0 ? counter_name((enum counter)a->counter) : NULL;
	diag_note(e, a->loc, "the %s of %s", noun_of(f), first.s);
}

static int by_place(const void *a, const void *b)
{
	const struct race *x = a, *y = b;

	if (x->second.insn != y->second.insn)
		return x->second.insn < y->second.insn ? -1 : 1;
	if (x->first.insn != y->first.insn)
		return x->first.insn < y->first.insn ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	return (int)x->global - (int)y->global;
}

size_t x_race_report(struct xmemory *m, struct diag *d)
{
	if (m->nrace > 1)
		qsort(m->race, m->nrace, sizeof(*m->race), by_place);
	for (size_t i = 0; i < m->nrace; i++)
		report(m, &m->race[i], d);
	return m->nrace;
}
