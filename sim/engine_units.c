/* Counters, LDS, vector memory and tensor copies; what a head instruction waits for. */
#include "engine_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 1024u

/* ---- wait counters ---- */

/* Report completions in issue order as far as they are known. */
static void ctr_advance(struct ctr *c)
{
	while (c->nres != c->n && c->val[c->nres & c->mask] != NEVER) {
		uint64_t *v = &c->val[c->nres++ & c->mask];

		c->last = *v = max_u64(c->last, *v);
	}
}

/* Raise counter c of w by an operation complete at done (NEVER: told later by ctr_resolve with *idx). */
void ctr_raise(struct engine *e, struct wave *w, int c, uint64_t done, uint32_t *idx)
{
	struct ctr *k = &w->ctr[c];

	if (k->in_order) {
		*idx = k->n++;
		k->val[*idx & k->mask] = done;
		ctr_advance(k);
		return;
	}
	for (uint32_t i = 0; i <= k->mask; i++) {
		if (k->val[i] <= e->now) {
			k->val[i] = done;
			*idx = i;
			return;
		}
	}
	ENGINE_CHECK(false, "an unordered counter has no room");
}

static void ctr_resolve(struct engine *e, struct wave *w, int c, uint32_t idx, uint64_t done)
{
	struct ctr *k = &w->ctr[c];

	k->val[idx & k->mask] = done;
	if (k->in_order)
		ctr_advance(k);
	/* Without an order, what is known now may also fall before what the head counted on. */
	if (w->dep == NEVER || !k->in_order)
		wave_reconsider(e, w);
}

static int later_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* First clk at which the counter is at or below value; NEVER while unknown. */
uint64_t ctr_wait(const struct engine *e, const struct ctr *c, uint32_t value)
{
	uint64_t busy[MAX_UNORDERED + 1];
	uint32_t idx = c->n - 1 - value, n = 0;

	if (value >= c->max)
		return 0;
	if (c->in_order)
		return (int32_t)(c->nres - idx) > 0 ? c->val[idx & c->mask] : NEVER;
	for (uint32_t i = 0; i <= c->mask; i++)
		if (c->val[i] > e->now && n < ARRAY_LEN(busy))
			busy[n++] = c->val[i];
	if (n <= value)
		return 0;
	qsort(busy, n, sizeof(busy[0]), later_first);
	return busy[value];
}

/* ---- heads ---- */

/* Waits and counter room: rarer than operands, so kept apart. */
void eval_counters(struct engine *e, struct wave *w, const struct op *op)
{
	uint64_t t;

	if (op->ctr >= 0) {
		const struct ctr *k = &w->ctr[op->ctr];

		t = k->max ? ctr_wait(e, k, k->max - 1) : NEVER;
		if (t > w->dep) {
			w->dep = t;
			w->dep_why = ST_COUNTER;
		}
	}
	for (unsigned k = 0; k < op->nwait; k++) {
		t = ctr_wait(e, &w->ctr[op->wait.ctr[k]], op->wait.value[k]);
		if (t > w->dep) {
			w->dep = t;
			w->dep_why = op->wait.why[k];
		}
	}
	if (op->flags & OP_SENT) {
		t = w->queued ? NEVER : w->sent;
		if (t > w->dep) {
			w->dep = t;
			w->dep_why = ST_WAIT_VMEM;
		}
	}
	if (op->unit == UN_TDM) {
		t = e->copy_queue_wave ?
			    w->copy_start[(w->ncopies - e->copy_queue_wave) & e->copiers[0].mask] :
			    NEVER;
		if (t > w->dep) {
			w->dep = t;
			w->dep_why = ST_TDM;
		}
	}
	if (op->cls == OPC_AWAIT) {
		t = barrier_phase(e, w, op);
		if (t > e->now)
			w->tight[op->named] = e->now;
		if (t > w->dep) {
			w->dep = t;
			w->dep_why = op->named == NAMED_INDEX(BAR_CLUSTER) ? ST_CLUSTER : ST_BARRIER;
		}
	}
}

static void request_lines(struct engine *e, uint32_t line, uint64_t clk)
{
	for (size_t i = line; i <= (size_t)line + e->icache_ahead && i < e->nlines; i++) {
		if (e->line_present[i] == NEVER) {
			e->line_present[i] = clk + e->icache_miss;
			e->icache_requests++;
		}
	}
	e->icache_last = max_u64(e->icache_last, clk + e->icache_miss);
}

/* w->op became the head at clk. */
void wave_enter(struct engine *e, struct wave *w, uint64_t clk)
{
	if (e->line_present[w->op->line] == NEVER)
		request_lines(e, w->op->line, clk);
	wave_eval(e, w);
}

/* Something that the head waited for is known now. */
void wave_reconsider(struct engine *e, struct wave *w)
{
	uint64_t t;

	if (w->ended)
		return;
	wave_eval(e, w);
	t = wave_candidate(e, &e->simds[w->simd], w, visit_floor(e, w->simd));
	if (t < e->next[w->simd])
		e->next[w->simd] = t;
}

/* Is a looked at before b? By priority, then by age or by what was issued last. */
static bool looks_first(const struct engine *e, const struct simd *s, const struct wave *a, const struct wave *b)
{
	if (a->prio != b->prio)
		return a->prio > b->prio;
	if (e->issue_order == 1 && a->turn != b->turn)
		return a->turn < b->turn;
	if (e->issue_order == 2)
		return s->turns && a->turn == s->turns ? true : s->turns && b->turn == s->turns ? false : a->id > b->id;
	return a->id < b->id;
}

/* Restore the order of looking. */
void simd_sort(struct engine *e, unsigned s)
{
	struct simd *x = &e->simds[s];

	for (unsigned i = 1; i < x->n; i++) {
		struct wave *b = x->order[i];
		unsigned j = i;

		for (; j > 0; j--) {
			const struct wave *a = x->order[j - 1];

			if (looks_first(e, x, a, b))
				break;
			x->order[j] = x->order[j - 1];
		}
		x->order[j] = b;
	}
	x->reorder = false;
}

/* ---- LDS ---- */

static uint32_t partition(const struct engine *e, const struct wave *w, const struct op *op)
{
	uint64_t at;

	if (!op->placed || e->nparts == 1)
		return 0;
	at = op->part_base + (op->wave_base ? op->wave_base[w->local] : 0);
	return (uint32_t)min_u64(at / e->part_bytes, e->nparts - 1);
}

static void lds_next_service(struct engine *e, struct pair *p)
{
	p->next = p->served == p->n ? NEVER
				    : max_u64(p->port_free, p->q[p->served & p->mask].arrive);
	e->lds_next = NEVER;
	for (unsigned k = 0; k < e->npairs; k++)
		e->lds_next = min_u64(e->lds_next, e->pairs[k].next);
	e->event_next = min_u64(e->lds_next, e->land_next);
}

/* Publish when the pair's queue has room again. Waves that could not know look anew. */
static void lds_room(struct engine *e, unsigned pair)
{
	const struct pair *p = &e->pairs[pair];
	uint64_t room = p->q[(p->n - e->lds_queue) & p->mask].end;

	for (unsigned i = 0; i < p->nsimds; i++) {
		unsigned s = p->simd[i];
		struct simd *x = &e->simds[s];
		bool blocked = x->at[UN_LDS] == NEVER;

		x->at[UN_LDS] = room;
		if (blocked && room != NEVER)
			simd_choose(e, s, visit_floor(e, s));
	}
}

/* Put the op in the queue of its pair. Its start is not known yet. */
uint64_t lds_issue(struct engine *e, struct wave *w, const struct op *op, uint64_t t)
{
	struct pair *p = &e->pairs[w->pair];
	struct lds_entry *q = &p->q[p->n++ & p->mask];
	uint64_t *acc = w->acc + op->acc;

	q->op = op;
	q->wave = w->id;
	q->arrive = t + e->issue_period;
	q->end = NEVER;
	q->at_least = !op->through && op->u.lds.conflict ? t + e->conflict_latency : 0;
	q->free = w->free;
	q->part = op->cls == OPC_LDS_PERMUTE ? 0 : partition(e, w, op);
	q->event = e->ev_head + e->ev_n;
	w->queued++;
	acc[ACC_CONFLICT] += op->through ? 0 : op->u.lds.conflict;
	if (op->ctr >= 0)
		ctr_raise(e, w, op->ctr, NEVER, &q->idx);
	if (op->cls == OPC_LDS_WRITE && !e->write_free)
		w->free = NEVER;
	if (p->served + 1 == p->n)
		lds_next_service(e, p);
	lds_room(e, w->pair);
	return NEVER;
}

static void vmem_served(struct engine *e, struct wave *w, const struct op *op, uint64_t issued, uint64_t sent, uint32_t idx);

static void lds_serve(struct engine *e, unsigned pair)
{
	struct pair *p = &e->pairs[pair];
	struct lds_entry *q = &p->q[p->served++ & p->mask];
	struct wave *w = &e->waves[q->wave];
	const struct op *op = q->op;
	uint64_t s = e->now, end = op->through ? s : s + op->u.lds.port, usable;

	if (op->cls != OPC_LDS_PERMUTE) {
		uint64_t *array = &e->array_free[q->part];

		*array = max_u64(s, *array) + (op->through ? op->u.vmem.addr : op->u.lds.array);
		end = max_u64(end, *array);
	}
	q->end = p->port_free = w->sent = end;
	w->queued--;
	if (w->queued == 0 && w->dep == NEVER && w->op->flags & OP_SENT)
		wave_reconsider(e, w);
	w->acc[op->acc + ACC_LDS] += end - s;
	if (e->ev) {
		e->ev[q->event & e->ev_mask].start = s;
		e->ev_known[q->event & e->ev_mask] = true;
	}
	lds_next_service(e, p);
	if (op->through) {
		vmem_served(e, w, op, q->arrive - e->issue_period, end, q->idx);
		lds_room(e, pair);
		return;
	}
	usable = max_u64(end + e->lds_latency, q->at_least);
	if (op->cls == OPC_LDS_WRITE && !e->write_free) {
		w->free = max_u64(end, q->free);
		w->free_why = ST_LDS_WRITE;
		if (op->ctr >= 0)
			ctr_resolve(e, w, op->ctr, q->idx, usable);
		else
			wave_reconsider(e, w);
	} else if (op->ctr >= 0) {
		ctr_resolve(e, w, op->ctr, q->idx, usable);
	}
	lds_room(e, pair);
}

/* ---- landings of copies to LDS ---- */

static struct landing *landing_push(struct landing_queue *l)
{
	if (!l->q || l->n > l->mask) {
		uint32_t size = l->q ? (l->mask + 1) * 2 : 64;
		struct landing *q = xcalloc(size, sizeof(*q));

		for (uint32_t i = 0; i < l->n; i++)
			q[i] = l->q[(l->head + i) & l->mask];
		free(l->q);
		l->q = q;
		l->mask = size - 1;
		l->head = 0;
	}
	return &l->q[(l->head + l->n++) & l->mask];
}

/* Oldest of the earliest landings. */
static struct landing_queue *landing_first(struct engine *e)
{
	struct landing_queue *best = NULL;

	for (unsigned k = 0; k <= e->ncopiers; k++) {
		struct landing_queue *l = &e->landings[k];
		const struct landing *a = l->n ? &l->q[l->head & l->mask] : NULL, *b;

		if (!a)
			continue;
		b = best ? &best->q[best->head & best->mask] : NULL;
		if (!b || a->due < b->due || (a->due == b->due && a->seq < b->seq))
			best = l;
	}
	return best;
}

static void landing_next(struct engine *e)
{
	const struct landing_queue *l = landing_first(e);

	e->land_next = l ? l->q[l->head & l->mask].due : NEVER;
	e->event_next = min_u64(e->lds_next, e->land_next);
}

static uint64_t piece_due(const struct engine *e, const struct landing *l)
{
	uint64_t end = min_u64(l->done + PIECE_BYTES, l->op->bytes);

	return l->base + (uint64_t)ceil((double)end / e->copy_rate);
}

static void land(struct engine *e)
{
	struct landing_queue *l = landing_first(e);
	struct landing *x = &l->q[l->head & l->mask], done;
	uint64_t *array = &e->array_free[x->part], busy;

	if (x->op->unit == UN_TDM) {
		uint64_t bytes = min_u64(PIECE_BYTES, x->op->bytes - x->done);

		busy = (uint64_t)ceil((double)bytes / e->dma_write);
		x->done += bytes;
	} else {
		busy = x->op->u.vmem.land;
		x->done = x->op->bytes;
	}
	*array = max_u64(e->now, *array) + busy;
	if (x->done < x->op->bytes) {
		x->due = piece_due(e, x);
		landing_next(e);
		return;
	}
	done = *x;
	l->head++;
	l->n--;
	landing_next(e);
	if (done.op->ctr >= 0)
		ctr_resolve(e, &e->waves[done.wave], done.op->ctr, done.idx, *array);
}

void engine_events_find(struct engine *e)
{
	for (unsigned k = 0; k < e->npairs; k++)
		lds_next_service(e, &e->pairs[k]);
	landing_next(e);
}

/* The next event: at one clk landings come first, then the pairs in ascending order. */
void engine_event_step(struct engine *e)
{
	e->now = e->event_next;
	e->cur_simd = -1;
	if (e->land_next <= e->lds_next) {
		land(e);
		return;
	}
	for (unsigned k = 0; k < e->npairs; k++) {
		if (e->pairs[k].next == e->now) {
			lds_serve(e, k);
			return;
		}
	}
}

/* ---- vector memory ---- */

static void inflight_push(struct vmem *v, uint64_t bytes, uint64_t ret)
{
	if (!v->q || v->nq > v->qmask) {
		uint32_t size = v->q ? (v->qmask + 1) * 2 : 64;
		struct inflight *q = xcalloc(size, sizeof(*q));

		for (uint32_t i = 0; i < v->nq; i++)
			q[i] = v->q[(v->head + i) & v->qmask];
		free(v->q);
		v->q = q;
		v->qmask = size - 1;
		v->head = 0;
	}
	v->q[(v->head + v->nq++) & v->qmask] = (struct inflight){ bytes, ret };
	v->bytes += bytes;
}

static uint64_t inflight_pop(struct vmem *v)
{
	const struct inflight *f = &v->q[v->head++ & v->qmask];

	v->nq--;
	v->bytes -= f->bytes;
	return f->ret;
}

/* Start of the address stage: the bytes of what has not returned leave room for so many more. */
static uint64_t inflight_room(struct engine *e, uint64_t start, uint64_t bytes)
{
	struct vmem *v = &e->vmem;

	while (v->nq && v->q[v->head & v->qmask].ret <= start)
		inflight_pop(v);
	while (v->nq && v->bytes + bytes > e->inflight_max)
		start = max_u64(start, inflight_pop(v));
	while (v->nq && v->q[v->head & v->qmask].ret <= start)
		inflight_pop(v);
	return start;
}

static void landing_add(struct engine *e, struct landing_queue *l, const struct landing *x)
{
	*landing_push(l) = *x;
	if (x->due < e->land_next) {
		e->land_next = x->due;
		e->event_next = min_u64(e->event_next, x->due);
	}
}

/* An op that passed the LDS array at sent: to the memory and back. */
static void vmem_served(struct engine *e, struct wave *w, const struct op *op, uint64_t issued, uint64_t sent, uint32_t idx)
{
	struct vmem *v = &e->vmem;
	uint64_t latency = op->u.vmem.latency + (issued < e->cold_window ? e->cold : 0), done;

	w->acc[op->acc + ACC_VMEM] += op->u.vmem.addr;
	if (op->cls == OPC_VMEM_STORE) {
		v->store_free = max_u64(sent, v->store_free) + op->u.vmem.data;
		done = v->store_free + e->store_ack;
	} else {
		v->addr_free = inflight_room(e, max_u64(sent, v->addr_free), op->bytes); /* room goes to the older one first */
		v->ret_free = max_u64(v->addr_free + latency, v->ret_free) + op->u.vmem.data;
		inflight_push(v, op->bytes, v->ret_free);
		done = v->ret_free;
	}
	if (op->cls == OPC_VMEM_LDS)
		landing_add(e, &e->landings[0],
			    &(struct landing){ .due = done, .seq = e->seq++, .op = op, .idx = idx,
					       .part = partition(e, w, op), .wave = w->id });
	else if (op->ctr >= 0)
		ctr_resolve(e, w, op->ctr, idx, done);
}

/* Returns the start of the address stage. */
uint64_t vmem_issue(struct engine *e, struct wave *w, const struct op *op, uint64_t t)
{
	struct vmem *v = &e->vmem;
	uint64_t start = max_u64(t + e->issue_period, v->addr_free), sent, done = NEVER;
	uint64_t latency = op->u.vmem.latency + (t < e->cold_window ? e->cold : 0);
	uint32_t idx = 0;

	if (op->cls != OPC_VMEM_STORE)
		start = inflight_room(e, start, op->bytes);
	sent = v->addr_free = start + op->u.vmem.addr;
	v->start[v->n++ & v->mask] = start;
	for (unsigned s = 0; s < e->nsimds; s++)
		e->simds[s].at[UN_VMEM] = v->start[(v->n - e->vmem_queue) & v->mask];
	w->acc[op->acc + ACC_VMEM] += op->u.vmem.addr;
	if (op->cls == OPC_VMEM_STORE) {
		v->store_free = max_u64(sent, v->store_free) + op->u.vmem.data;
		done = v->store_free + e->store_ack;
	} else {
		v->ret_free = max_u64(sent + latency, v->ret_free) + op->u.vmem.data;
		inflight_push(v, op->bytes, v->ret_free);
		if (op->cls == OPC_VMEM_LOAD)
			done = v->ret_free;
	}
	if (op->ctr >= 0)
		ctr_raise(e, w, op->ctr, done, &idx);
	if (op->cls == OPC_VMEM_LDS)
		landing_add(e, &e->landings[0],
			    &(struct landing){ .due = v->ret_free, .seq = e->seq++, .op = op,
					       .idx = idx, .part = partition(e, w, op),
					       .wave = w->id });
	return start;
}

/* ---- tensor copies ---- */

uint64_t copy_issue(struct engine *e, struct wave *w, const struct op *op, uint64_t t)
{
	unsigned k = w->pair % e->ncopiers;
	struct copier *c = &e->copiers[k];
	uint64_t start = max_u64(t + e->issue_period, c->free);
	uint32_t idx = 0;
	bool load = op->cls == OPC_TDM_LOAD;

	c->free = start + op->u.tdm.busy;
	c->start[c->n++ & c->mask] = start;
	for (unsigned s = 0; s < e->nsimds; s++)
		if (e->simds[s].pair % e->ncopiers == k && e->copy_queue)
			e->simds[s].at[UN_TDM] = c->start[(c->n - e->copy_queue) & c->mask];
	w->copy_start[w->ncopies++ & c->mask] = start;
	if (op->ctr >= 0)
		ctr_raise(e, w, op->ctr, load ? NEVER : c->free + e->copy_delay, &idx);
	if (load) {
		struct landing x = { .base = start + e->copy_delay, .seq = e->seq++, .op = op,
				     .idx = idx, .part = partition(e, w, op), .wave = w->id };

		x.due = piece_due(e, &x);
		landing_add(e, &e->landings[1 + k], &x);
	}
	return start;
}

/* What the units publish, from the rest of the state. */
void units_refresh(struct engine *e)
{
	for (unsigned i = 0; i < e->nsimds; i++) {
		struct simd *s = &e->simds[i];
		const struct pair *p = &e->pairs[s->pair];
		const struct copier *c = &e->copiers[s->pair % e->ncopiers];

		vector_refresh(e, s);
		s->at[UN_SALU] = s->salu_free;
		s->at[UN_LDS] = p->q[(p->n - e->lds_queue) & p->mask].end;
		s->at[UN_VMEM] = e->vmem.start[(e->vmem.n - e->vmem_queue) & e->vmem.mask];
		s->at[UN_TDM] = e->copy_queue ? c->start[(c->n - e->copy_queue) & c->mask] : NEVER;
	}
}
