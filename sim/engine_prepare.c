/* From the program to what the engine's loop reads: short lists of decoded instructions and atoms. */
#include "engine_head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EDGE_MIN_TRIPS 16 /* loops shorter than this are stepped */
#define MAX_COUNTER 65535u

static uint64_t whole(double v)
{
	return v > 0 ? (uint64_t)(v + 0.5) : 0;
}

static uint64_t ns_to_clk(const struct engine *e, double ns)
{
	return (uint64_t)floor(ns * e->cfg->clock_mhz / 1000.0 + 0.5);
}

static uint64_t ceil_div(double bytes, double rate)
{
	return rate > 0 ? (uint64_t)ceil(bytes / rate) : 0;
}

static uint32_t ring_mask(uint64_t entries)
{
	uint32_t n = 2;

	while (n < entries + 1)
		n *= 2;
	return n - 1;
}

static void *make(struct engine *e, size_t n, size_t size)
{
	return arena_alloc(e->arena, n ? n : 1, size);
}

/*
 * Atoms: the places where any span begins or ends cut the registers into pieces. All registers of a
 * piece are always written and read together, so one ready time serves them.
 */
static size_t cut_atoms(const struct program *p, uint16_t *atom_of)
{
	bool cut[REG_COUNT + 1] = { false };
	size_t n = 0;

	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];

		for (unsigned k = 0; k < in->nspans && k < PROG_MAX_SPANS; k++) {
			unsigned first = in->span[k].first, end = first + in->span[k].n;

			if (first < REG_COUNT)
				cut[first] = true;
			if (end < REG_COUNT)
				cut[end] = true;
		}
	}
	for (size_t r = 0; r < REG_COUNT; r++) {
		if (cut[r])
			n++;
		atom_of[r] = (uint16_t)n;
	}
	atom_of[REG_COUNT] = (uint16_t)(n + 1);
	return n + 1;
}

static bool span_range(const struct span *s, const uint16_t *atom_of, struct range *r)
{
	unsigned end = s->first + s->n;

	if (s->n == 0 || s->first >= REG_COUNT)
		return false;
	r->first = atom_of[s->first];
	r->end = end < REG_COUNT ? atom_of[end] : (uint16_t)(atom_of[REG_COUNT - 1] + 1);
	r->key = (uint32_t)s->first << 16 | s->n;
	return true;
}

static void push_range(struct engine *e, struct range r)
{
	e->ranges = xgrow(e->ranges, e->nranges, &e->capranges, sizeof(*e->ranges));
	e->ranges[e->nranges++] = r;
}

static bool same_span(const struct span *a, const struct span *b)
{
	return a->first == b->first && a->n == b->n;
}

/* A matrix op's C span, or a destination that is the same registers as one. */
static bool is_chain_span(const struct insn *in, unsigned k)
{
	if (in->cls != OPC_MATRIX)
		return false;
	if (in->role[k] == ROLE_C)
		return true;
	if (in->role[k] != ROLE_DST)
		return false;
	for (unsigned j = 0; j < in->nspans; j++)
		if (in->role[j] == ROLE_C && same_span(&in->span[j], &in->span[k]))
			return true;
	return false;
}

/* Add r to list[0..n), joined with what it overlaps or touches. */
static unsigned join_range(struct range *list, unsigned n, struct range r)
{
	for (unsigned i = 0; i < n;) {
		if (r.first <= list[i].end && list[i].first <= r.end) {
			r.first = r.first < list[i].first ? r.first : list[i].first;
			r.end = r.end > list[i].end ? r.end : list[i].end;
			list[i] = list[--n];
			i = 0;
		} else {
			i++;
		}
	}
	list[n] = r;
	return n + 1;
}

/* Atoms inside the op, where they fit. */
static void decode_atoms(const struct engine *e, struct op *op)
{
	const struct range *r = &e->ranges[op->ranges];
	unsigned n = 0;

	for (unsigned k = 0; k < op->nneed; k++)
		for (unsigned a = r[k].first; a < r[k].end && n <= OP_ATOMS; a++, n++)
			if (n < OP_ATOMS)
				op->atom[n] = (uint16_t)a;
	op->natoms = (uint8_t)n;
	r += op->nneed;
	if (op->nc == 1 && r->end == r->first + 1) {
		op->c_single = true;
		op->c_atom = r->first;
		op->c_key = r->key;
	}
	r += op->nc;
	if (op->ndst == 1 && r->end == r->first + 1) {
		op->dst_single = true;
		op->dst_atom = r->first;
		op->dst_key = r->key;
	}
}

static void decode_spans(struct engine *e, const struct insn *in, const uint16_t *atom_of,
			 const bool *is_c, struct op *op)
{
	struct range need[PROG_MAX_SPANS], r;
	unsigned n = 0;

	op->ranges = (uint32_t)e->nranges;
	for (unsigned k = 0; k < in->nspans; k++)
		if (!is_chain_span(in, k) && span_range(&in->span[k], atom_of, &r))
			n = join_range(need, n, r);
	for (unsigned k = 0; k < n; k++)
		push_range(e, need[k]);
	op->nneed = (uint8_t)n;
	for (unsigned k = 0; k < in->nspans; k++) {
		if (in->cls == OPC_MATRIX && in->role[k] == ROLE_C &&
		    span_range(&in->span[k], atom_of, &r)) {
			push_range(e, r);
			op->nc++;
		}
	}
	for (unsigned k = 0; k < in->nspans; k++) {
		if (in->role[k] != ROLE_DST || !span_range(&in->span[k], atom_of, &r))
			continue;
		push_range(e, r);
		op->ndst++;
		for (unsigned a = r.first; a < r.end; a++)
			if (is_c[a])
				op->flags |= OP_WRITER;
	}
	/* Without a latency or a C reader behind them the destinations need no work. */
	if (!(op->flags & OP_WRITER) && op->latency == 0 && in->cls != OPC_MATRIX)
		op->ndst = 0;
	if (op->ndst && in->cls != OPC_MATRIX)
		op->flags |= OP_RESULT;
	decode_atoms(e, op);
}

static enum unit unit_of(enum opclass c)
{
	switch (c) {
	case OPC_VALU:
	case OPC_TRANS:
		return UN_VALU;
	case OPC_PACKED:
		return UN_PACKED;
	case OPC_MATRIX:
		return UN_MATRIX;
	case OPC_SALU:
	case OPC_SMEM:
		return UN_SALU;
	case OPC_LDS_READ:
	case OPC_LDS_WRITE:
	case OPC_LDS_PERMUTE:
		return UN_LDS;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
		return UN_VMEM;
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		return UN_TDM;
	case OPC_BRANCH:
	case OPC_WAIT:
	case OPC_BARRIER:
	case OPC_SIGNAL:
	case OPC_AWAIT:
	case OPC_SETPRIO:
	case OPC_NOP:
	case OPC_SLEEP:
	case OPC_MODE:
	case OPC_END:
	case OPC_COUNT:
		break;
	}
	return UN_NONE;
}

static enum stall wait_reason(enum counter c)
{
	switch (c) {
	case CTR_LGKM:
	case CTR_DS:
		return ST_WAIT_LDS;
	case CTR_KM:
		return ST_WAIT_SMEM;
	case CTR_ASYNC:
	case CTR_TENSOR:
		return ST_WAIT_COPY;
	case CTR_VM:
	case CTR_EXP:
	case CTR_LOAD:
	case CTR_STORE:
	case CTR_X:
	case CTR_COUNT:
		break;
	}
	return ST_WAIT_VMEM;
}

static void decode_matrix(const struct engine *e, const struct insn *in, struct op *op)
{
	const struct matrix_row *m = in->matrix;

	op->u.matrix.occupancy = m->occupancy_clk;
	op->u.matrix.ready = m->ready_clk;
	op->u.matrix.chain = m->chain_clk;
	op->u.matrix.prefix = m->prefix_clk;
	op->u.matrix.block = m->valu_block_clk;
	if (whole(e->t->v.wmma_hold) == 1 && !(in->flags & INSN_TAIL_SPLIT))
		op->flags |= OP_HOLDS;
}

static void decode_lds(const struct insn *in, struct op *op)
{
	op->u.lds.port = in->lds->port_clk;
	op->u.lds.array = in->lds_clk;
	if (in->cls == OPC_LDS_PERMUTE)
		return;
	if (in->lds_clk > in->lds_clk_free)
		op->u.lds.conflict = (uint32_t)in->lds_clk - in->lds_clk_free;
}

static void decode_vmem(const struct engine *e, const struct insn *in, struct op *op)
{
	uint64_t data = in->vmem->data_clk;

	op->u.vmem.addr = in->vmem->addr_clk + in->addr_extra;
	if (e->cfg->bytes_per_clk > 0)
		data = max_u64(data, ceil_div(in->bytes, e->cfg->bytes_per_clk));
	op->u.vmem.data = data;
	op->u.vmem.latency = (in->flags & INSN_COLD ? e->hbm : e->l2) + (in->cls == OPC_VMEM_LDS ? e->copy_extra : 0);
	op->u.vmem.land = ceil_div(in->bytes, e->dma_write);
	if (in->lds_clk > in->lds_clk_free)
		op->u.vmem.land += (uint64_t)in->lds_clk - in->lds_clk_free;
}

static void decode_wait(const struct engine *e, const struct insn *in, const int8_t *dense, struct op *op)
{
	for (unsigned k = 0; k < in->nwait && k < 4; k++) {
		int c = in->wait[k].counter;

		if (e->through_lds && c == CTR_X && in->wait[k].value == 0)
			op->flags |= OP_SENT;
		if (c < 0 || c >= CTR_COUNT || dense[c] < 0)
			continue; /* nothing in the program ever raises it */
		op->wait.ctr[op->nwait] = dense[c];
		op->wait.value[op->nwait] = in->wait[k].value;
		op->wait.why[op->nwait] = (uint8_t)wait_reason((enum counter)c);
		op->nwait++;
	}
}

static void decode_access(const struct engine *e, const struct insn *in, struct op *op)
{
	const struct program *p = e->p;
	const struct access *a;
	const struct buffer *b;

	if (in->access < 0 || (size_t)in->access >= p->naccess)
		return;
	a = &p->access[in->access];
	if (a->buffer < 0 || (size_t)a->buffer >= p->nbuffers)
		return;
	b = &p->buffers[a->buffer];
	op->placed = true;
	op->part_base = b->base + (uint64_t)(a->slot > 0 ? a->slot : 0) * b->slot_bytes;
	if (a->lane && a->nlanes)
		op->part_base += a->lane[0];
	op->wave_base = a->wave_base;
}

/* What only a row can tell must be there; a front end that forgot it is reported, not obeyed. */
static bool op_complete(const struct engine *e, const struct insn *in)
{
	const char *missing = NULL;
	enum unit u = unit_of(in->cls);

	if (in->cls == OPC_MATRIX && !in->matrix)
		missing = "matrix";
	else if (u == UN_LDS && !in->lds)
		missing = "LDS";
	else if (u == UN_VMEM && !in->vmem)
		missing = "memory";
	else if (u == UN_TDM && (e->t->v.tdm_engines < 1 || !(e->copy_rate > 0)))
		missing = "tensor copy engine";
	if (missing)
		diag_add(e->d, in->loc, DIAG_TARGET, "the target has no %s row for %s", missing,
			 in->op ? in->op : opclass_name(in->cls));
	return !missing;
}

static void decode_class(const struct engine *e, const struct insn *in, uint64_t address,
			 struct op *op)
{
	const struct class_row *c = &e->t->classes[in->cls];

	op->cls = (uint8_t)in->cls;
	op->unit = (uint8_t)unit_of(in->cls);
	op->slot = (uint8_t)(opclass_slot(in->cls) == SLOT_INTERNAL ? 0 : 1u << opclass_slot(in->cls));
	op->hold = c->hold_clk ? c->hold_clk : 1;
	op->busy = c->busy_clk;
	if ((op->unit == UN_VALU || op->unit == UN_PACKED) && in->size == 8 && address % 8 != 0)
		op->busy += (uint32_t)whole(e->t->v.straddle);
	op->latency = in->cls == OPC_MATRIX ? 0 : c->latency_clk;
	op->imm = in->imm;
	op->members = in->members;
	op->repeat = in->repeat ? in->repeat : 1;
	if (in->cls == OPC_BRANCH || in->cls == OPC_END)
		op->repeat = 1;
	op->named = in->barrier == BAR_CLUSTER || in->barrier == BAR_WORKGROUP ||
				    (in->barrier >= 0 && in->barrier <= 16) ?
			    (uint8_t)NAMED_INDEX(in->barrier) :
			    0;
	op->line = (uint32_t)(address / whole(e->t->v.icache_line));
	op->stage = in->stage >= 0 && (size_t)in->stage < e->p->nstages ? (uint32_t)in->stage
									: e->nstages - 1;
	op->acc = op->stage * ACC_COUNT;
	op->bytes = in->bytes;
}

struct decoder {
	const uint16_t *atom_of;
	const bool *is_c;
	int8_t dense[CTR_COUNT];
	uint64_t *address;
	uint32_t *at; /* first op at or behind each instruction */
};

static int decode(struct engine *e, const struct decoder *dec, size_t i, unsigned g, struct op *op)
{
	const struct insn *in = &e->p->insns[i];

	if (!op_complete(e, in))
		return -1;
	op->insn = (uint32_t)i;
	op->ctr = -1;
	decode_class(e, in, dec->address[i], op);
	decode_spans(e, in, dec->atom_of, dec->is_c, op);
	if (in->counter >= 0 && in->counter < CTR_COUNT &&
	    (op->unit >= UN_LDS || in->cls == OPC_SMEM))
		op->ctr = dec->dense[in->counter];
	switch (op->unit) {
	case UN_MATRIX:
		decode_matrix(e, in, op);
		break;
	case UN_LDS:
		decode_lds(in, op);
		decode_access(e, in, op);
		break;
	case UN_VMEM:
		decode_vmem(e, in, op);
		decode_access(e, in, op);
		break;
	case UN_TDM:
		op->u.tdm.busy = ceil_div(in->bytes, e->copy_rate);
		decode_access(e, in, op);
		break;
	default:
		break;
	}
	if (op->unit == UN_VMEM && e->through_lds) {
		op->through = true;
		op->unit = UN_LDS;
	}
	if (in->cls == OPC_WAIT || target_is_ptx(e->t)) /* there the instruction itself is held */
		decode_wait(e, in, dec->dense, op);
	if (in->cls == OPC_AWAIT)
		e->awaits[g] |= 1u << op->named;
	op->special = op->ctr >= 0 || op->flags & OP_SENT || op->nwait || op->unit == UN_TDM || in->cls == OPC_AWAIT;
	if (in->cls == OPC_BRANCH && in->loop >= 0 && (size_t)in->loop < e->p->nloops) {
		const struct loop *l = &e->p->loops[in->loop];

		op->u.branch.loop = (uint32_t)in->loop;
		op->u.branch.target = l->begin < e->p->ninsns ? dec->at[l->begin] : 0;
		if (in->loop == e->p->main_loop[g])
			op->flags |= OP_MAIN_EDGE;
		else if (l->trips >= EDGE_MIN_TRIPS)
			op->flags |= OP_OTHER_EDGE;
	} else if (in->cls == OPC_BRANCH) {
		op->u.branch.loop = (uint32_t)e->p->nloops; /* never taken */
	}
	return 0;
}

static unsigned stream_of(const struct engine *e, const struct wave *w)
{
	return e->stream_per_wave ? w->local : w->group;
}

/* Does stream s, of group g, execute instruction i? */
static bool runs(const struct engine *e, size_t i, unsigned s, unsigned g)
{
	const struct insn *in = &e->p->insns[i];

	return (in->groups >> g & 1) && !(in->flags & INSN_EDGE_ONLY) &&
	       (!e->stream_per_wave || !in->waves || (in->waves >> s & 1));
}

static int decode_stream(struct engine *e, struct decoder *dec, unsigned s, unsigned g)
{
	const struct program *p = e->p;
	uint32_t n = 0;
	int main_loop = p->main_loop[g];
	struct op *end;

	for (size_t i = 0; i < p->ninsns; i++) {
		dec->at[i] = n;
		n += runs(e, i, s, g);
	}
	e->nops[s] = n + 1;
	e->ops[s] = make(e, n + 1, sizeof(struct op));
	for (size_t i = 0; i < p->ninsns; i++)
		if (runs(e, i, s, g) && decode(e, dec, i, g, &e->ops[s][dec->at[i]]) != 0)
			return -1;
	/* A wave that runs past the last instruction has ended. */
	end = &e->ops[s][n];
	end->cls = OPC_END;
	end->ctr = -1;
	end->hold = end->repeat = 1;
	end->stage = e->nstages - 1;
	end->acc = end->stage * ACC_COUNT;
	end->insn = (uint32_t)(p->ninsns ? p->ninsns - 1 : 0);
	end->line = n ? end[-1].line : 0;
	if (main_loop >= 0 && (size_t)main_loop < p->nloops && p->loops[main_loop].begin < p->ninsns)
		e->ops[s][dec->at[p->loops[main_loop].begin]].flags |= OP_LOOP_FIRST;
	for (unsigned w = 0; w < e->nwaves; w++)
		if (stream_of(e, &e->waves[w]) == s)
			e->waves[w].op = p->entry[g] < p->ninsns ? &e->ops[s][dec->at[p->entry[g]]] : end;
	return 0;
}

/* Counters that the program raises, numbered without gaps. */
static int number_counters(struct engine *e, struct decoder *dec)
{
	const struct program *p = e->p;

	for (unsigned c = 0; c < CTR_COUNT; c++)
		dec->dense[c] = -1;
	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];

		if (in->counter < 0 || in->counter >= CTR_COUNT || dec->dense[in->counter] >= 0)
			continue;
		if (!e->t->counters[in->counter].present) {
			diag_add(e->d, in->loc, DIAG_TARGET, "target %s has no counter %s", e->t->name,
				 counter_name((enum counter)in->counter));
			return -1;
		}
		dec->dense[in->counter] = (int8_t)e->nctr++;
	}
	return 0;
}

static int decode_all(struct engine *e)
{
	const struct program *p = e->p;
	uint16_t atom_of[REG_COUNT + 1];
	bool is_c[REG_COUNT + 2] = { false };
	struct decoder dec = { .atom_of = atom_of, .is_c = is_c };
	uint64_t address = 0;
	int rc = 0;

	e->natoms = cut_atoms(p, atom_of);
	if (number_counters(e, &dec) != 0)
		return -1;
	dec.address = make(e, p->ninsns, sizeof(*dec.address));
	dec.at = make(e, p->ninsns, sizeof(*dec.at));
	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		struct range r;

		dec.address[i] = address;
		address += in->size;
		for (unsigned k = 0; in->cls == OPC_MATRIX && k < in->nspans; k++)
			if (in->role[k] == ROLE_C && span_range(&in->span[k], atom_of, &r))
				memset(is_c + r.first, 1, (size_t)(r.end - r.first) * sizeof(*is_c));
	}
	e->nlines = (size_t)(address / whole(e->t->v.icache_line)) + e->icache_ahead + 2;
	e->line_present = make(e, e->nlines, sizeof(*e->line_present));
	memset(e->line_present, 0xff, e->nlines * sizeof(*e->line_present));
	for (size_t i = 0; i < p->ninsns; i++)
		e->stream_per_wave |= p->insns[i].waves != 0;
	for (unsigned s = 0; s < (e->stream_per_wave ? p->waves : p->groups) && rc == 0; s++)
		rc = decode_stream(e, &dec, s, e->stream_per_wave ? s / (p->waves / p->groups) : s);
	return rc;
}

static void read_values(struct engine *e)
{
	const struct target_values *v = &e->t->v;

	e->issue_period = (unsigned)max_u64(whole(v->issue_period), 1);
	e->period_mask = e->issue_period & (e->issue_period - 1) ? ~0u : e->issue_period - 1;
	e->issue_width = (unsigned)whole(v->issue_width);
	e->hold_unit = v->hold_unit >= 1;
	e->through_lds = v->vmem_through_lds >= 1;
	e->barrier_recover = (unsigned)whole(v->barrier_recover);
	e->barrier_blocked = (unsigned)whole(v->barrier_blocked);
	e->barrier_patience = (unsigned)whole(v->barrier_patience);
	e->issue_order = (unsigned)whole(v->issue_order);
	e->write_free = v->lds_write_free >= 1;
	e->nsimds = (unsigned)whole(v->simds);
	e->nparts = (unsigned)max_u64(whole(v->lds_partitions), 1);
	e->part_bytes = max_u64(whole(v->lds_bytes) / e->nparts, 1);
	e->ahead = (unsigned)whole(v->matrix_ahead);
	e->lds_queue = (unsigned)whole(v->lds_queue);
	e->vmem_queue = (unsigned)whole(v->vmem_queue);
	e->copy_queue = (unsigned)whole(v->tdm_queue);
	e->copy_queue_wave = (unsigned)whole(v->tdm_queue_wave);
	e->packed_before = (unsigned)whole(v->packed_before);
	e->packed_after = (unsigned)whole(v->packed_after);
	e->nop_unit = (unsigned)whole(v->nop_unit);
	e->sleep_unit = (unsigned)whole(v->sleep_unit);
	e->barrier_release = (unsigned)whole(v->barrier_release);
	e->barrier_cluster = (unsigned)whole(v->barrier_cluster);
	e->icache_miss = ns_to_clk(e, v->icache_miss_ns);
	e->icache_ahead = (unsigned)whole(v->icache_ahead);
	e->smem = ns_to_clk(e, v->smem_ns);
	e->store_ack = ns_to_clk(e, v->vmem_store_ns);
	e->copy_extra = ns_to_clk(e, v->vmem_copy_ns);
	e->l2 = ns_to_clk(e, v->vmem_l2_ns);
	e->hbm = ns_to_clk(e, v->vmem_hbm_ns);
	e->cold = ns_to_clk(e, v->vmem_cold_ns);
	e->cold_window = ns_to_clk(e, v->vmem_cold_window_ns);
	e->lds_latency = whole(v->lds_latency);
	e->conflict_latency = whole(v->lds_conflict_latency);
	e->copy_delay = ns_to_clk(e, v->tdm_start_ns);
	e->inflight_max = whole(v->vmem_inflight);
	e->dma_write = v->lds_dma_write;
	e->copy_rate = v->tdm_bytes_clk;
	if (e->cfg->bytes_per_clk > 0 && e->cfg->bytes_per_clk < e->copy_rate)
		e->copy_rate = e->cfg->bytes_per_clk;
	e->ncopiers = (unsigned)min_u64(max_u64(whole(v->tdm_engines), 1), MAX_COPIERS);
	e->max_clk = e->cfg->max_clk ? e->cfg->max_clk : (uint64_t)1 << 62;
}

static void make_counters(struct engine *e, struct wave *w, const int *real)
{
	w->ctr = make(e, e->nctr, sizeof(*w->ctr));
	for (unsigned c = 0; c < e->nctr; c++) {
		const struct counter_row *row = &e->t->counters[real[c]];
		struct ctr *k = &w->ctr[c];

		k->in_order = row->in_order;
		k->max = (uint32_t)min_u64(row->max, k->in_order ? MAX_COUNTER : MAX_UNORDERED);
		k->mask = ring_mask(k->max);
		k->val = make(e, k->mask + 1, sizeof(*k->val));
		/* As if earlier operations had completed: no test for a short history. */
		k->n = k->nres = k->mask + 1;
	}
}

static void make_wave(struct engine *e, unsigned id)
{
	const struct program *p = e->p;
	struct wave *w = &e->waves[id];
	unsigned per_group = p->waves / p->groups;

	w->id = (uint8_t)id;
	w->wg = (uint8_t)(id / p->waves);
	w->local = (uint8_t)(id % p->waves);
	w->group = (uint8_t)(w->local / per_group);
	w->simd = (uint8_t)(id % e->nsimds);
	w->pair = (uint8_t)e->t->pair_of_simd[w->simd];
	w->free_why = ST_HELD;
	w->last_stage = e->nstages - 1;
	/* A group's column is the SIMD of its first wave. */
	w->column = w->simd == w->group * per_group % e->nsimds;
	w->rem = make(e, p->nloops, sizeof(*w->rem));
	w->exits = make(e, p->nloops, sizeof(*w->exits));
	for (size_t l = 0; l < p->nloops; l++)
		w->rem[l] = p->loops[l].trips ? p->loops[l].trips : 1;
	w->copy_start = make(e, e->copiers[0].mask + 1, sizeof(*w->copy_start));
	e->wgs[w->wg].live++;
	e->simds[w->simd].order[e->simds[w->simd].n++] = w;
}

static void make_units(struct engine *e)
{
	uint32_t copies = ring_mask(max_u64(e->copy_queue, e->copy_queue_wave));
	uint64_t stagger = whole(e->t->v.issue_stagger);

	for (unsigned s = 0; s < e->nsimds; s++) {
		unsigned pair = e->t->pair_of_simd[s];

		e->simds[s].phase = s * stagger % e->issue_period;
		e->simds[s].pair = (uint8_t)pair;
		e->pairs[pair].simd[e->pairs[pair].nsimds++] = (uint8_t)s;
		if (pair + 1 > e->npairs)
			e->npairs = pair + 1;
		e->next[s] = NEVER;
	}
	for (unsigned k = 0; k < e->npairs; k++) {
		e->pairs[k].mask = ring_mask(e->lds_queue);
		e->pairs[k].q = make(e, e->pairs[k].mask + 1, sizeof(struct lds_entry));
		e->pairs[k].next = NEVER;
	}
	e->array_free = make(e, e->nparts, sizeof(*e->array_free));
	e->vmem.mask = ring_mask(e->vmem_queue);
	e->vmem.start = make(e, e->vmem.mask + 1, sizeof(uint64_t));
	for (unsigned k = 0; k < MAX_COPIERS; k++) {
		e->copiers[k].mask = copies;
		e->copiers[k].start = make(e, copies + 1, sizeof(uint64_t));
	}
	e->event_next = e->lds_next = e->land_next = NEVER;
	e->cur_simd = -1;
}

/* One block: waves, late[], then busy and lost of each SIMD. */
static void make_accumulators(struct engine *e)
{
	size_t per_wave = (size_t)e->nstages * ACC_COUNT, at = 0;

	e->nacc = per_wave * e->nwaves + (size_t)e->nstages * e->p->groups +
		  (size_t)e->nsimds * (1 + ST_COUNT);
	e->acc = xcalloc(e->nacc, sizeof(*e->acc));
	for (unsigned w = 0; w < e->nwaves; w++, at += per_wave)
		e->waves[w].acc = e->acc + at;
	e->late = e->acc + at;
	at += (size_t)e->nstages * e->p->groups;
	for (unsigned s = 0; s < e->nsimds; s++, at += 1 + ST_COUNT) {
		e->simds[s].busy = e->acc + at;
		e->simds[s].lost = e->acc + at + 1;
	}
}

static int check_size(struct engine *e)
{
	const struct program *p = e->p;
	struct loc where = p->ninsns ? p->insns[0].loc : (struct loc){ 0 };

	if (p->groups < 1 || p->groups > PROG_MAX_GROUPS || p->waves < p->groups ||
	    p->waves % p->groups != 0 || e->cfg->resident < 1 ||
	    (uint64_t)p->waves * e->cfg->resident > PROG_MAX_WAVES) {
		diag_add(e->d, where, DIAG_LIMIT,
			 "%u workgroups of %u waves in %u groups can't be timed; %d waves at most",
			 e->cfg->resident, p->waves, p->groups, PROG_MAX_WAVES);
		return -1;
	}
	if (p->nstages >= MAX_STAGES) {
		diag_add(e->d, where, DIAG_LIMIT, "%zu stages can't be timed; %u at most", p->nstages,
			 MAX_STAGES - 1);
		return -1;
	}
	if (p->nloops > MAX_LOOPS) {
		diag_add(e->d, where, DIAG_LIMIT, "%zu loops can't be timed; %u at most", p->nloops,
			 MAX_LOOPS);
		return -1;
	}
	if (!(e->cfg->clock_mhz > 0 && e->cfg->clock_mhz < 1e6)) {
		diag_add(e->d, where, DIAG_LIMIT, "a clock of %g MHz can't be timed", e->cfg->clock_mhz);
		return -1;
	}
	return 0;
}

static void make_state(struct engine *e)
{
	const struct program *p = e->p;

	e->nwaves = e->live = p->waves * e->cfg->resident;
	e->nwgs = e->cfg->resident;
	e->nstages = (unsigned)p->nstages + 1; /* the last is for what is in no stage */
	e->loop_begin = NEVER;
	make_units(e);
	e->waves = make(e, e->nwaves, sizeof(*e->waves));
	for (unsigned w = 0; w < e->nwaves; w++)
		make_wave(e, w);
	make_accumulators(e);
	e->main_wave = -1;
	for (unsigned w = 0; w < p->waves && e->main_wave < 0; w++) {
		int l = p->main_loop[e->waves[w].group];

		if (l >= 0 && (size_t)l < p->nloops)
			e->main_wave = (int)w;
	}
}

static void make_wave_registers(struct engine *e)
{
	int real[CTR_COUNT] = { 0 };
	unsigned n = 0;
	bool seen[CTR_COUNT] = { false };

	for (size_t i = 0; i < e->p->ninsns; i++) {
		int c = e->p->insns[i].counter;

		if (c >= 0 && c < CTR_COUNT && !seen[c]) {
			seen[c] = true;
			real[n++] = c;
		}
	}
	for (unsigned w = 0; w < e->nwaves; w++) {
		struct wave *x = &e->waves[w];

		x->ops = e->ops[stream_of(e, x)];
		x->ready = make(e, e->natoms + 1, sizeof(*x->ready));
		x->chain = make(e, e->natoms + 1, sizeof(*x->chain));
		x->writer = make(e, e->natoms + 1, sizeof(*x->writer));
		make_counters(e, x, real);
	}
}

int engine_prepare(struct engine *e)
{
	e->arena = arena_new();
	if (check_size(e) != 0)
		return -1;
	read_values(e);
	make_state(e);
	if (decode_all(e) != 0)
		return -1;
	make_wave_registers(e);
	units_refresh(e);
	for (unsigned w = 0; w < e->nwaves; w++)
		wave_enter(e, &e->waves[w], 0);
	for (unsigned s = 0; s < e->nsimds; s++) {
		if (e->issue_order)
			simd_sort(e, s);
		simd_choose(e, s, 0);
	}
	return 0;
}

void engine_release(struct engine *e)
{
	for (unsigned k = 0; k < ARRAY_LEN(e->landings); k++)
		free(e->landings[k].q);
	for (unsigned g = 0; g < e->nwgs; g++)
		for (unsigned b = 0; b < NAMED_COUNT; b++)
			free(e->wgs[g].named[b].due);
	free(e->vmem.q);
	free(e->ranges);
	free(e->acc);
	free(e->ev);
	free(e->ev_known);
	arena_free(e->arena);
}
