#include "ref_engine.h"

#include <stdlib.h>

#include "ref_internal.h"

static const enum slot slot_of[OPC_COUNT] = {
#define OPCLASS(tail, name, slot) [OPC_##tail] = SLOT_##slot,
#include "opclass.def"
#undef OPCLASS
};

/* Instruction stream */

static bool executes(const struct insn *in, const struct wave *w)
{
	return (in->groups >> w->group & 1) && (!in->waves || (in->waves >> w->local & 1)) &&
	       !(in->flags & INSN_EDGE_ONLY);
}

static void request_code(struct ref *r, uint32_t pc, uint64_t u)
{
	uint64_t first = r->address[pc] / whole(r->t->v.icache_line);
	if (r->line[first] != NEVER)
		return;
	for (uint64_t i = 0; i <= whole(r->t->v.icache_ahead); i++)
		if (r->line[first + i] == NEVER)
			r->line[first + i] = u + ns_clk(r, r->t->v.icache_miss_ns);
}

/* The instruction at pc, or the next one that the wave executes, becomes its head at u. */
static void set_head(struct ref *r, struct wave *w, uint32_t pc, uint64_t u)
{
	while (pc < r->p->ninsns && !executes(&r->p->insns[pc], w))
		pc++;
	w->pc = pc;
	w->repeated = 0;
	if (pc >= r->p->ninsns) {
		w->ended = true;
		return;
	}
	request_code(r, pc, u);
}

/* Effects of an issue */

static size_t new_op(struct ref *r, const struct wave *w, const struct insn *in, uint64_t t)
{
	r->ops = xgrow(r->ops, r->nops, &r->capops, sizeof(*r->ops));
	r->ops[r->nops] = (struct op){
		.in = in,
		.wave = (unsigned)(w - r->waves),
		.issue = t,
		.start = NEVER,
		.end = NEVER,
		.done = NEVER,
		.record = r->out->n - 1,
	};
	return r->nops++;
}

static void op_start(struct ref *r, struct op *o, uint64_t start)
{
	o->start = start;
	r->out->issues[o->record].start = start;
}

static uint64_t issue_matrix(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	struct simd *s = &r->simd[w->simd];
	uint64_t start = max64(t, s->unit_free);
	if (s->any_packed)
		start = max64(start, s->packed_end + whole(r->t->v.packed_before));
	start += in->matrix->prefix_clk;
	s->unit_free = start + in->matrix->occupancy_clk;
	s->valu_free = t + r->t->classes[OPC_MATRIX].busy_clk;
	s->starts = xgrow(s->starts, s->nstarts, &s->capstarts, sizeof(*s->starts));
	s->starts[s->nstarts++] = start;
	size_t keep = 0;
	for (size_t i = 0; i < s->nreads; i++)
		if (s->reads[i].end > t)
			s->reads[keep++] = s->reads[i];
	s->nreads = keep;
	if (in->matrix->valu_block_clk) {
		s->reads = xgrow(s->reads, s->nreads, &s->capreads, sizeof(*s->reads));
		s->reads[s->nreads++] =
			(struct read_interval){start, start + in->matrix->valu_block_clk};
	}
	if (whole(r->t->v.wmma_hold) == 1 && !(in->flags & INSN_TAIL_SPLIT))
		w->free = max64(w->free, start + in->matrix->occupancy_clk);
	return start;
}

static void issue_vector(struct ref *r, const struct wave *w, const struct insn *in, uint64_t t)
{
	struct simd *s = &r->simd[w->simd];
	s->valu_free = t + ref_vector_clk(r, in);
	if (in->cls == OPC_PACKED) {
		s->packed_end = s->valu_free;
		s->any_packed = true;
	}
}

static size_t issue_lds(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	size_t k = new_op(r, w, in, t);
	r->ops[k].arrive = t + whole(r->t->v.issue_period);
	list_add(&r->lds[pair_of(r, w)], k);
	if (in->cls == OPC_LDS_WRITE && whole(r->t->v.lds_write_free) == 0)
		w->free = NEVER; /* until its service is known */
	return k;
}

/* Past the LDS queue, the end of an op is that of its service. */
static uint64_t flight_end(const struct ref *r, const struct op *o)
{
	return whole(r->t->v.vmem_through_lds) ? o->back : o->end;
}

/* Bytes of loads that started their address stage by x and have not returned at x. */
static uint64_t bytes_in_flight(const struct ref *r, uint64_t x)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < r->vmem_flight.n; i++) {
		const struct op *o = &r->ops[r->vmem_flight.v[i]];
		if (o->start <= x && x < flight_end(r, o))
			sum += o->in->bytes;
	}
	return sum;
}

/* The earliest clk from x on at which b more bytes have room: it changes only when an op returns.
 */
static uint64_t room_from(struct ref *r, uint64_t x, uint64_t b)
{
	uint64_t limit = whole(r->t->v.vmem_inflight);
	for (size_t i = 0; i < r->vmem_flight.n;) {
		if (flight_end(r, &r->ops[r->vmem_flight.v[i]]) <= x)
			list_remove(&r->vmem_flight, i);
		else
			i++;
	}
	for (;;) {
		uint64_t used = bytes_in_flight(r, x);
		if (used == 0 || used + b <= limit)
			return x;
		x++;
	}
}

static void land(struct ref *r, size_t op, uint64_t due, uint64_t bytes, bool last)
{
	r->landings = xgrow(r->landings, r->nlandings, &r->caplandings, sizeof(*r->landings));
	r->landings[r->nlandings++] = (struct landing){due, bytes, op, last};
}

/* An op has passed the LDS array at sent. */
static void pass_vmem(struct ref *r, size_t k, uint64_t sent)
{
	struct op *o = &r->ops[k];
	const struct target_values *v = &r->t->v;
	uint64_t data = o->in->vmem->data_clk, latency;
	if (r->cfg->bytes_per_clk > 0)
		data = max64(data, at_rate(o->in->bytes, r->cfg->bytes_per_clk));
	if (o->in->cls == OPC_VMEM_STORE) {
		r->store_free = max64(sent, r->store_free) + data;
		o->done = r->store_free + ns_clk(r, v->vmem_store_ns);
		return;
	}
	latency = ns_clk(r, o->in->flags & INSN_COLD ? v->vmem_hbm_ns : v->vmem_l2_ns);
	if (o->in->cls == OPC_VMEM_LDS)
		latency += ns_clk(r, v->vmem_copy_ns);
	if (o->issue < ns_clk(r, v->vmem_cold_window_ns))
		latency += ns_clk(r, v->vmem_cold_ns);
	r->addr_free = room_from(r, max64(sent, r->addr_free), o->in->bytes);
	r->ret_free = max64(r->addr_free + latency, r->ret_free) + data;
	o->back = r->ret_free;
	list_add(&r->vmem_flight, k);
	if (o->in->cls == OPC_VMEM_LOAD)
		o->done = o->back;
	else
		land(r, k, o->back, o->in->bytes, true);
}

static size_t issue_vmem(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	if (whole(r->t->v.vmem_through_lds))
		return issue_lds(r, w, in, t);
	size_t k = new_op(r, w, in, t);
	struct op *o = &r->ops[k];
	const struct target_values *v = &r->t->v;
	uint64_t start = max64(t + whole(v->issue_period), r->addr_free);
	uint64_t data = in->vmem->data_clk;
	if (r->cfg->bytes_per_clk > 0)
		data = max64(data, at_rate(in->bytes, r->cfg->bytes_per_clk));
	if (in->cls != OPC_VMEM_STORE)
		start = room_from(r, start, in->bytes);
	op_start(r, o, start);
	r->addr_free = start + in->vmem->addr_clk + in->addr_extra;
	list_add(&r->vmem_queue, k);
	if (in->cls == OPC_VMEM_STORE) {
		r->store_free = max64(r->addr_free, r->store_free) + data;
		o->done = r->store_free + ns_clk(r, v->vmem_store_ns);
		return k;
	}
	uint64_t latency = ns_clk(r, in->flags & INSN_COLD ? v->vmem_hbm_ns : v->vmem_l2_ns);
	if (in->cls == OPC_VMEM_LDS)
		latency += ns_clk(r, v->vmem_copy_ns);
	if (t < ns_clk(r, v->vmem_cold_window_ns))
		latency += ns_clk(r, v->vmem_cold_ns);
	r->ret_free = max64(r->addr_free + latency, r->ret_free) + data;
	o->end = r->ret_free;
	list_add(&r->vmem_flight, k);
	if (in->cls == OPC_VMEM_LOAD)
		o->done = r->ret_free;
	else
		land(r, k, r->ret_free, in->bytes, true);
	return k;
}

static size_t issue_tdm(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	size_t k = new_op(r, w, in, t);
	struct op *o = &r->ops[k];
	unsigned e = engine_of(r, w);
	double rate = r->t->v.tdm_bytes_clk;
	if (r->cfg->bytes_per_clk > 0 && r->cfg->bytes_per_clk < rate)
		rate = r->cfg->bytes_per_clk;
	op_start(r, o, max64(t + whole(r->t->v.issue_period), r->engine_free[e]));
	r->engine_free[e] = o->start + at_rate(in->bytes, rate);
	list_add(&w->tdm, k);
	list_add(&r->tdm_queue[e], k);
	uint64_t first = o->start + ns_clk(r, r->t->v.tdm_start_ns);
	if (in->cls == OPC_TDM_STORE) {
		o->done = first + at_rate(in->bytes, rate);
		return k;
	}
	for (uint64_t end, begin = 0; begin < in->bytes; begin = end) {
		end = begin + 1024 < in->bytes ? begin + 1024 : in->bytes;
		land(r, k, first + at_rate(end, rate), end - begin, end == in->bytes);
	}
	return k;
}

static unsigned live_waves(const struct ref *r, unsigned wg)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->nwaves; i++)
		n += r->waves[i].wg == wg && !r->waves[i].ended;
	return n;
}

/* All live waves of the workgroup stand at a barrier: release them. */
static void check_barrier(struct ref *r, unsigned wg, uint64_t t)
{
	uint64_t live = 0;
	for (unsigned i = 0; i < r->nwaves; i++)
		if (r->waves[i].wg == wg && !r->waves[i].ended && !r->waves[i].at_barrier)
			return;
	t = max64(t, r->recovered[wg]);
	for (unsigned i = 0; i < r->nwaves; i++) {
		struct wave *w = &r->waves[i];
		if (w->wg != wg || w->ended)
			continue;
		w->at_barrier = false;
		w->free = max64(w->free, t + whole(r->t->v.barrier_release));
		if (t > w->arrival + whole(r->t->v.barrier_patience))
			w->free = max64(w->free, t + whole(r->t->v.barrier_release) + whole(r->t->v.barrier_blocked));
		live++;
	}
	r->recovered[wg] = t + whole(r->t->v.barrier_release) + live * whole(r->t->v.barrier_recover);
}

static void complete_phase(struct barrier *b, uint64_t t)
{
	b->arrivals = 0;
	b->phases = xgrow(b->phases, b->n, &b->cap, sizeof(*b->phases));
	b->phases[b->n++] = t;
}

static void issue_signal(struct ref *r, const struct wave *w, const struct insn *in, uint64_t t)
{
	if (in->barrier == BAR_NULL)
		return;
	bool cluster = in->barrier == BAR_CLUSTER;
	struct barrier *b = &r->barriers[w->wg][in->barrier + 4];
	uint64_t members = in->members;
	b->whole = members == 0 && !cluster;
	if (members == 0)
		members = cluster ? 1 : live_waves(r, w->wg);
	if (++b->arrivals >= members)
		complete_phase(
			b, t + whole(cluster ? r->t->v.barrier_cluster : r->t->v.barrier_release));
}

static void issue_end(struct ref *r, struct wave *w, uint64_t t)
{
	w->ended = true;
	r->out->wave_end[w - r->waves] = t;
	r->out->total_clk = max64(r->out->total_clk, t);
	unsigned live = live_waves(r, w->wg);
	if (live)
		check_barrier(r, w->wg, t);
	for (unsigned id = 0; id < ID_COUNT; id++) {
		struct barrier *b = &r->barriers[w->wg][id];
		if (b->whole && b->arrivals && b->arrivals >= live)
			complete_phase(b, t + whole(r->t->v.barrier_release));
	}
}

/* True when the branch goes back. */
static bool branch_taken(const struct ref *r, struct wave *w, const struct insn *in)
{
	if (in->loop < 0)
		return false;
	if (++w->trips[in->loop] < r->p->loops[in->loop].trips)
		return true;
	w->trips[in->loop] = 0;
	return false;
}

static void set_ready(struct ref *r, struct wave *w, const struct insn *in, uint64_t t,
		      uint64_t start)
{
	uint64_t latency = r->t->classes[in->cls].latency_clk;
	r->serial++;
	for (unsigned k = 0; k < in->nspans; k++) {
		for (unsigned i = 0; i < in->span[k].n && in->role[k] == ROLE_DST; i++) {
			struct reg *g = &w->regs[in->span[k].first + i];
			g->writer = r->serial;
			g->in = in;
			g->start = start;
			if (in->cls == OPC_MATRIX)
				g->ready = start + in->matrix->ready_clk;
			else if (latency)
				g->ready = t + latency;
		}
	}
}

static void track(struct wave *w, const struct insn *in, size_t op)
{
	if (in->counter >= 0)
		list_add(&w->outstanding[in->counter], op);
}

static void issue_effects(struct ref *r, struct wave *w, const struct insn *in, uint64_t t)
{
	struct simd *s = &r->simd[w->simd];
	size_t k;
	switch (in->cls) {
	case OPC_VALU:
	case OPC_TRANS:
	case OPC_PACKED:
		issue_vector(r, w, in, t);
		break;
	case OPC_MATRIX:
		r->out->issues[r->out->n - 1].start = issue_matrix(r, w, in, t);
		break;
	case OPC_SALU:
		s->salu_free = t + r->t->classes[OPC_SALU].busy_clk;
		break;
	case OPC_SMEM:
		s->salu_free = t + r->t->classes[OPC_SMEM].busy_clk;
		k = new_op(r, w, in, t);
		r->ops[k].done = t + ns_clk(r, r->t->v.smem_ns);
		track(w, in, k);
		break;
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE:
		track(w, in, issue_lds(r, w, in, t));
		break;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
		track(w, in, issue_vmem(r, w, in, t));
		break;
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		track(w, in, issue_tdm(r, w, in, t));
		break;
	case OPC_BARRIER:
		w->at_barrier = true;
		w->arrival = t;
		check_barrier(r, w->wg, t);
		break;
	case OPC_SIGNAL:
		issue_signal(r, w, in, t);
		break;
	case OPC_AWAIT:
		w->waited[in->barrier + 4]++;
		break;
	case OPC_SETPRIO:
		w->priority = in->imm;
		break;
	case OPC_NOP:
		w->free = max64(w->free, t + in->imm * whole(r->t->v.nop_unit));
		break;
	case OPC_SLEEP:
		w->free = max64(w->free, t + in->imm * whole(r->t->v.sleep_unit));
		break;
	case OPC_END:
		issue_end(r, w, t);
		break;
	case OPC_BRANCH: /* see issue() */
	case OPC_WAIT:
	case OPC_MODE:
	case OPC_COUNT:
		break;
	}
}

/* Classes of one unit have the same number; 0: holds are for everything that follows. */
static unsigned hold_kind(const struct ref *r, unsigned cls)
{
	switch (cls) {
	case OPC_VALU:
	case OPC_TRANS:
		return 1;
	case OPC_PACKED:
		return 2;
	case OPC_MATRIX:
		return 3;
	case OPC_SALU:
	case OPC_SMEM:
		return 4;
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE:
		return 5;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
		return whole(r->t->v.vmem_through_lds) ? 5 : 6;
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		return 7;
	default:
		return 0;
	}
}

static void issue(struct ref *r, unsigned index, uint64_t t)
{
	struct wave *w = &r->waves[index];
	const struct insn *in = &r->p->insns[w->pc];
	struct ref_result *out = r->out;
	out->issues = xgrow(out->issues, out->n, &out->cap, sizeof(*out->issues));
	out->issues[out->n++] =
		(struct ref_issue){.clk = t, .start = t, .wave = index, .insn = w->pc};

	bool taken = in->cls == OPC_BRANCH && branch_taken(r, w, in);
	uint64_t hold = r->t->classes[in->cls].hold_clk;
	if (in->cls == OPC_BRANCH && !taken)
		hold = 1;
	w->free = t + max64(hold, 1);
	if (whole(r->t->v.hold_unit) && hold_kind(r, in->cls)) {
		for (unsigned c = 0; c < OPC_COUNT; c++)
			if (hold_kind(r, c) == hold_kind(r, in->cls))
				w->next_of[c] = w->free;
		w->free = t + 1;
	}
	issue_effects(r, w, in, t);
	bool last = w->repeated + 1 >= in->repeat;
	if (last)
		set_ready(r, w, in, t, out->issues[out->n - 1].start);
	if (w->ended)
		return;
	if (taken)
		set_head(r, w, r->p->loops[in->loop].begin, t);
	else if (last)
		set_head(r, w, w->pc + 1, t);
	else
		w->repeated++;
}

/* The three steps of one clock */

static void step_landings(struct ref *r, uint64_t t)
{
	size_t keep = 0;
	for (size_t i = 0; i < r->nlandings; i++) {
		struct landing l = r->landings[i];
		if (l.due > t) {
			r->landings[keep++] = l;
			continue;
		}
		struct op *o = &r->ops[l.op];
		unsigned part = partition_of(r, o->in, &r->waves[o->wave]);
		r->array_free[part] =
			max64(t, r->array_free[part]) + at_rate(l.bytes, r->t->v.lds_dma_write);
		if (o->in->vmem && o->in->lds_clk > o->in->lds_clk_free)
			r->array_free[part] += o->in->lds_clk - o->in->lds_clk_free;
		if (l.last)
			o->done = r->array_free[part];
	}
	r->nlandings = keep;
}

static void serve(struct ref *r, unsigned pair, struct op *o, uint64_t t)
{
	struct wave *w = &r->waves[o->wave];
	op_start(r, o, t);
	if (o->in->vmem) {
		unsigned part = partition_of(r, o->in, w);
		r->array_free[part] = max64(t, r->array_free[part]) + o->in->vmem->addr_clk + o->in->addr_extra;
		r->port_free[pair] = o->end = r->array_free[part];
		pass_vmem(r, (size_t)(o - r->ops), o->end);
		return;
	}
	if (o->in->cls == OPC_LDS_PERMUTE) {
		o->end = t + o->in->lds->port_clk;
	} else {
		unsigned part = partition_of(r, o->in, w);
		uint64_t array_start = max64(t, r->array_free[part]);
		r->array_free[part] = array_start + o->in->lds_clk;
		o->end = max64(t + o->in->lds->port_clk, r->array_free[part]);
	}
	r->port_free[pair] = o->end;
	o->done = o->end + whole(r->t->v.lds_latency);
	if (o->in->lds_clk > o->in->lds_clk_free)
		o->done = max64(o->done, o->issue + whole(r->t->v.lds_conflict_latency));
	if (o->in->cls == OPC_LDS_WRITE && whole(r->t->v.lds_write_free) == 0)
		w->free = max64(o->end, o->issue + (whole(r->t->v.hold_unit) ? 1 : max64(r->t->classes[OPC_LDS_WRITE].hold_clk, 1)));
}

static void step_lds(struct ref *r, uint64_t t)
{
	for (unsigned pair = 0; pair < r->npairs; pair++) {
		if (t < r->port_free[pair])
			continue;
		for (size_t i = 0; i < r->lds[pair].n; i++) {
			struct op *o = &r->ops[r->lds[pair].v[i]];
			if (o->start != NEVER)
				continue;
			if (o->arrive <= t)
				serve(r, pair, o, t);
			break;
		}
	}
}

/* Of waves with one priority: is a looked at before b, which is older? */
static bool goes_before(const struct ref *r, unsigned a, unsigned b)
{
	const struct wave *x = &r->waves[a], *y = &r->waves[b];
	uint64_t last = r->simd[x->simd].turns;
	if (x->priority != y->priority)
		return x->priority > y->priority;
	switch (whole(r->t->v.issue_order)) {
	case 1:
		return x->turn < y->turn;
	case 2: /* the younger a, unless b issued last */
		return last == 0 || y->turn != last;
	default:
		return false;
	}
}

static void visit(struct ref *r, unsigned simd, uint64_t t)
{
	unsigned order[PROG_MAX_WAVES], n = 0, issued = 0;
	bool slot_taken[SLOT_COUNT] = {false};
	for (unsigned i = 0; i < r->nwaves; i++) {
		if (r->waves[i].simd != simd || r->waves[i].ended)
			continue;
		unsigned at = n++;
		while (at > 0 && goes_before(r, i, order[at - 1])) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = i;
	}
	for (unsigned k = 0; k < n; k++) {
		struct wave *w = &r->waves[order[k]];
		if (!ref_head_ready(r, w, t))
			continue;
		enum slot s = slot_of[r->p->insns[w->pc].cls];
		if (s != SLOT_INTERNAL && slot_taken[s])
			continue;
		slot_taken[s] = true;
		w->turn = ++r->simd[simd].turns;
		issue(r, order[k], t);
		if (++issued == whole(r->t->v.issue_width))
			break;
	}
}

static void step_issue(struct ref *r, uint64_t t)
{
	int64_t period = (int64_t)whole(r->t->v.issue_period);
	int64_t stagger = (int64_t)whole(r->t->v.issue_stagger);
	for (unsigned s = 0; s < r->nsimds; s++)
		if (((int64_t)t - (int64_t)s * stagger) % period == 0)
			visit(r, s, t);
}

/* Set-up and the loop over clocks */

static void setup_code(struct ref *r)
{
	uint64_t at = 0;
	r->address = xcalloc(r->p->ninsns + 1, sizeof(*r->address));
	for (size_t i = 0; i < r->p->ninsns; i++) {
		r->address[i] = at;
		at += r->p->insns[i].size;
	}
	size_t lines = (size_t)(at / whole(r->t->v.icache_line) + whole(r->t->v.icache_ahead) + 2);
	r->line = xcalloc(lines, sizeof(*r->line));
	for (size_t i = 0; i < lines; i++)
		r->line[i] = NEVER;
}

static void setup(struct ref *r)
{
	r->nsimds = (unsigned)whole(r->t->v.simds);
	for (unsigned s = 0; s < r->nsimds; s++)
		if (r->t->pair_of_simd[s] >= r->npairs)
			r->npairs = r->t->pair_of_simd[s] + 1;
	setup_code(r);
	r->nwaves = r->p->waves * r->cfg->resident;
	r->waves = xcalloc(r->nwaves, sizeof(*r->waves));
	for (unsigned i = 0; i < r->nwaves; i++) {
		struct wave *w = &r->waves[i];
		w->wg = i / r->p->waves;
		w->local = i % r->p->waves;
		w->group = w->local / (r->p->waves / r->p->groups);
		w->simd = i % r->nsimds;
		r->out->wave_end[i] = NEVER;
		set_head(r, w, r->p->entry[w->group], 0);
	}
}

static void teardown(struct ref *r)
{
	for (unsigned i = 0; i < r->nwaves; i++) {
		for (unsigned c = 0; c < CTR_COUNT; c++)
			free(r->waves[i].outstanding[c].v);
		free(r->waves[i].tdm.v);
	}
	for (unsigned i = 0; i < 8; i++) {
		free(r->simd[i].starts);
		free(r->simd[i].reads);
		free(r->lds[i].v);
		free(r->tdm_queue[i].v);
	}
	for (unsigned i = 0; i < PROG_MAX_WAVES; i++)
		for (unsigned k = 0; k < ID_COUNT; k++)
			free(r->barriers[i][k].phases);
	free(r->vmem_queue.v);
	free(r->vmem_flight.v);
	free(r->ops);
	free(r->landings);
	free(r->address);
	free(r->line);
	free(r->waves);
	free(r);
}

static bool all_ended(const struct ref *r)
{
	for (unsigned i = 0; i < r->nwaves; i++)
		if (!r->waves[i].ended)
			return false;
	return true;
}

void ref_run(const struct program *p, const struct engine_config *cfg, uint64_t idle_clk,
	     struct ref_result *out)
{
	struct ref *r = xcalloc(1, sizeof(*r));
	memset(out, 0, sizeof(*out));
	r->p = p;
	r->t = p->target;
	r->cfg = cfg;
	r->out = out;
	setup(r);
	if (idle_clk == 0)
		idle_clk = (uint64_t)1 << 21;
	for (uint64_t t = 0, last = 0; !all_ended(r); t++) {
		size_t before = out->n;
		step_landings(r, t);
		step_lds(r, t);
		step_issue(r, t);
		if (out->n > before)
			last = t;
		if (t - last > idle_clk) {
			out->deadlock = true;
			break;
		}
	}
	teardown(r);
}

void ref_result_free(struct ref_result *r)
{
	free(r->issues);
	memset(r, 0, sizeof(*r));
}
