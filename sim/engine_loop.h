/*
 * The loop of the engine, compiled twice by engine.c: TRACED 0 without any test for tracing, TRACED 1
 * with events and time lines. One wave instruction costs one visit_issue(); everything that can be
 * known beforehand was decided by engine_prepare.c.
 *
 * The order inside one clk, of docs/model.md: events (landings, then LDS services) in run_loop(), then
 * SIMDs in ascending order as run_loop() picks the smallest next visit, the first of equal ones.
 */

/* The results of a matrix op are ready at ready; the same registers serve as C from chain on. */
static inline void LOOP(write_matrix)(const struct engine *e, struct wave *w, const struct op *op,
				      uint64_t ready, uint64_t chain)
{
	const struct range *r = &e->ranges[op->ranges + op->nneed + op->nc];

	if (op->dst_single) {
		w->ready[op->dst_atom] = ready;
		w->chain[op->dst_atom] = chain;
		w->writer[op->dst_atom] = op->dst_key;
		return;
	}
	for (const struct range *end = r + op->ndst; r < end; r++) {
		for (unsigned a = r->first; a < r->end; a++) {
			w->ready[a] = ready;
			w->chain[a] = chain;
			w->writer[a] = r->key;
		}
	}
}

static inline void LOOP(write_registers)(const struct engine *e, struct wave *w, const struct op *op,
					 uint64_t ready)
{
	const struct range *r = &e->ranges[op->ranges + op->nneed + op->nc];

	for (const struct range *end = r + op->ndst; r < end; r++) {
		for (unsigned a = r->first; a < r->end; a++) {
			if (op->latency)
				w->ready[a] = ready;
			w->writer[a] = 0;
		}
	}
}

static inline uint64_t LOOP(issue_matrix)(struct engine *e, struct wave *w, struct simd *s,
					  const struct op *op, uint64_t t, bool last)
{
	uint64_t begin = max_u64(max_u64(t, s->unit_free), s->packed_bar);
	uint64_t start = begin + op->u.matrix.prefix, end = start + op->u.matrix.occupancy;
	uint64_t *reads = &s->reads_end[s->nmatrix & (MATRIX_RING - 1)];

	if (begin > s->unit_free)
		account_lost(e, s, w, s->unit_free, begin, t);
	*s->busy += end - begin;
	w->acc[op->acc + ACC_MATRIX] += end - begin;
	s->valu_free = t + op->busy;
	s->unit_free = end;
	s->old_end = max_u64(s->old_end, *reads);
	*reads = op->u.matrix.block ? start + op->u.matrix.block : 0;
	s->block_end = max_u64(s->block_end, *reads);
	s->start[s->nmatrix++ & (MATRIX_RING - 1)] = start;
	while (s->reads_first < s->nmatrix &&
	       (s->reads_end[s->reads_first & (MATRIX_RING - 1)] <= t ||
		s->nmatrix - s->reads_first > MATRIX_RING))
		s->reads_first++;
	vector_refresh(e, s);
	if (last)
		LOOP(write_matrix)(e, w, op, start + op->u.matrix.ready, start + op->u.matrix.chain);
	if (op->flags & OP_HOLDS)
		w->free = max_u64(w->free, end);
	if (TRACED && e->rec && w->simd == 0)
		record_busy(e, begin, end, w->id, op->stage);
	return start;
}

/* Returns the next head. */
static inline const struct op *LOOP(issue_branch)(struct engine *e, struct wave *w,
						  const struct op *op, uint64_t t)
{
	uint32_t l = op->u.branch.loop;

	if (l < e->p->nloops && w->rem[l] > 1) {
		w->rem[l]--;
		if (op->flags & (OP_MAIN_EDGE | OP_OTHER_EDGE)) {
			e->edge = op;
			e->edge_wave = w->id;
		}
		return w->ops + op->u.branch.target;
	}
	w->free = t + 1;
	if (l < e->p->nloops) {
		w->rem[l] = e->p->loops[l].trips ? e->p->loops[l].trips : 1;
		w->exits[l]++;
	}
	if (op->flags & OP_MAIN_EDGE)
		e->loop_end = max_u64(e->loop_end, t);
	return op + 1;
}

static void LOOP(end_wave)(struct engine *e, struct wave *w, uint64_t t)
{
	w->ended = true;
	w->end_clk = t;
	w->dep = w->free = NEVER;
	e->live--;
	barrier_leave(e, w, t);
}

#if TRACED
static void push_event(struct engine *e, const struct wave *w, const struct op *op, uint64_t t,
		       uint64_t start, uint64_t stall, uint8_t reason)
{
	uint64_t at;

	if (e->ev_n > e->ev_mask || !e->ev) {
		uint64_t size = e->ev ? (e->ev_mask + 1) * 2 : 256;
		struct engine_event *ev = xcalloc(size, sizeof(*ev));
		bool *known = xcalloc(size, sizeof(*known));

		for (uint64_t i = e->ev_head; i < e->ev_head + e->ev_n; i++) {
			ev[i & (size - 1)] = e->ev[i & e->ev_mask];
			known[i & (size - 1)] = e->ev_known[i & e->ev_mask];
		}
		free(e->ev);
		free(e->ev_known);
		e->ev = ev;
		e->ev_known = known;
		e->ev_mask = size - 1;
	}
	at = (e->ev_head + e->ev_n++) & e->ev_mask;
	e->ev[at] = (struct engine_event){ t, start, stall, op->insn, w->id, reason };
	e->ev_known[at] = start != NEVER;
}

/* Hand on events in order of issue, as soon as the start of the oldest is known. */
static void drain_events(struct engine *e, bool all)
{
	while (e->ev_n && (all || e->ev_known[e->ev_head & e->ev_mask])) {
		struct engine_event *ev = &e->ev[e->ev_head & e->ev_mask];

		if (ev->start == NEVER)
			ev->start = ev->clk;
		e->cfg->event(e->cfg->ctx, ev);
		e->ev_head++;
		e->ev_n--;
	}
}
#endif

/* The head of w issues at t. The only place where an issue changes the machine. */
static inline void LOOP(visit_issue)(struct engine *e, struct wave *w, struct simd *s, uint64_t t,
				     uint64_t unit)
{
	const struct op *op = w->op, *next = op + 1;
	uint64_t *acc = w->acc + op->acc, start = t;
	bool last = op->repeat == 1 || ++w->rep >= op->repeat;
	uint32_t idx;
#if TRACED
	uint64_t stall = t - w->pos;
	uint8_t reason = ST_ISSUE;

	if (stall) {
		uint32_t before = w->nstall;

		account_gap(e, w, t, unit);
		reason = account_dominant(w, before);
	}
#else
	if (t != w->pos) {
		/* The commonest stall of all, spelled out. */
		if (op->unit == UN_MATRIX && unit == t && s->valu_free < t && w->dep <= w->pos)
			stall_add(w, w->pos, t, op->acc, ST_MATRIX);
		else
			account_gap(e, w, t, unit);
	}
#endif
	if (op->flags & OP_LOOP_FIRST && t < e->loop_begin)
		e->loop_begin = t;
	acc[ACC_INSNS]++;
	acc[ST_ISSUE] += e->issue_period;
	w->pos = t + e->issue_period;
	w->free = t + op->hold;
	if (e->hold_unit && op->unit != UN_NONE) {
		w->unit_free[op->unit] = w->free;
		w->free = t + 1;
	}
	w->free_why = ST_HELD;
	switch ((enum opclass)op->cls) {
	case OPC_VALU:
	case OPC_TRANS:
		s->valu_free = t + op->busy;
		vector_refresh(e, s);
		break;
	case OPC_PACKED:
		s->valu_free = t + op->busy;
		s->packed_bar = s->valu_free + e->packed_before;
		vector_refresh(e, s);
		break;
	case OPC_MATRIX:
		start = LOOP(issue_matrix)(e, w, s, op, t, last);
		break;
	case OPC_SALU:
		s->salu_free = s->at[UN_SALU] = t + op->busy;
		break;
	case OPC_SMEM:
		s->salu_free = s->at[UN_SALU] = t + op->busy;
		if (op->ctr >= 0)
			ctr_raise(e, w, op->ctr, t + e->smem, &idx);
		break;
	case OPC_LDS_WRITE:
		w->free_why = ST_LDS_WRITE;
		start = lds_issue(e, w, op, t);
		break;
	case OPC_LDS_READ:
	case OPC_LDS_PERMUTE:
		start = lds_issue(e, w, op, t);
		break;
	case OPC_VMEM_LOAD:
	case OPC_VMEM_STORE:
	case OPC_VMEM_LDS:
		start = op->through ? lds_issue(e, w, op, t) : vmem_issue(e, w, op, t);
		break;
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		start = copy_issue(e, w, op, t);
		break;
	case OPC_BRANCH:
		next = LOOP(issue_branch)(e, w, op, t);
		break;
	case OPC_BARRIER:
		barrier_arrive(e, w, t);
		break;
	case OPC_SIGNAL:
		barrier_signal(e, w, op, t);
		break;
	case OPC_AWAIT:
		w->waited[op->named]++;
		break;
	case OPC_SETPRIO:
		s->reorder |= w->prio != op->imm;
		w->prio = op->imm;
		break;
	case OPC_NOP:
		w->free = max_u64(w->free, t + (uint64_t)op->imm * e->nop_unit);
		w->free_why = ST_NOP;
		break;
	case OPC_SLEEP:
		w->free = max_u64(w->free, t + (uint64_t)op->imm * e->sleep_unit);
		w->free_why = ST_NOP;
		break;
	case OPC_END:
		acc[ST_ISSUE] -= e->issue_period;
		LOOP(end_wave)(e, w, t);
		break;
	case OPC_WAIT:
	case OPC_MODE:
	case OPC_COUNT:
		break;
	}
	if (op->flags & OP_RESULT && last)
		LOOP(write_registers)(e, w, op, t + op->latency);
	w->last_stage = op->stage;
#if TRACED
	if (e->cfg->event)
		push_event(e, w, op, t, start, stall, reason);
	if (e->rec && op->cls != OPC_END)
		record_segment(e, w, t, t + e->issue_period, op->stage, ST_ISSUE);
#else
	(void)start;
#endif
	if (w->ended)
		return;
	if (last) {
		w->op = next;
		w->rep = 0;
	}
	if (e->line_present[w->op->line] == NEVER)
		wave_enter(e, w, t);
	else
		wave_eval(e, w);
}

/* SIMD i looks at its waves at t. */
static inline void LOOP(visit)(struct engine *e, unsigned i, uint64_t t)
{
	struct simd *s = &e->simds[i];
	unsigned slots = 0, n = s->n, issued = 0;

	e->now = t;
	e->cur_simd = (int)i;
	for (unsigned k = 0; k < n; k++) {
		struct wave *w = s->order[k];
		const struct op *op = w->op;
		uint64_t unit;

		if (w->dep > t || (slots & op->slot))
			continue;
		unit = s->at[op->unit];
		if (unit > t)
			continue;
		if (s->block_end > t && (op->unit == UN_VALU || op->unit == UN_PACKED) &&
		    reads_pass(s, t, op->busy) != t)
			continue;
#if TRACED
		if (e->strict && strict_issue(e, e->strict, w, op) != 0) {
			e->failed = true;
			return;
		}
#endif
		slots |= op->slot;
		if (e->issue_order) {
			w->turn = ++s->turns;
			s->reorder = true;
		}
		LOOP(visit_issue)(e, w, s, t, unit);
		if (++issued == e->issue_width)
			break;
	}
	if (s->reorder)
		simd_sort(e, i);
	simd_choose(e, i, t + 1);
}

/* Run until all waves ended. 0, or -1 after a finding. */
static int LOOP(run_loop)(struct engine *e)
{
	uint64_t left = MAX_VISITS;

	while (e->live) {
		unsigned s = earliest_simd(e);
		uint64_t t = e->next[s];

		if (e->event_next <= t) {
			if (e->event_next == NEVER) {
				engine_report_deadlock(e);
				return -1;
			}
			engine_event_step(e);
			continue;
		}
		if (t > e->max_clk || --left == 0)
			return report_too_long(e, t);
#if TRACED
		if (e->rec && (e->rec->full || t >= e->rec->end))
			return 0;
#endif
		LOOP(visit)(e, s, t);
#if TRACED
		if (e->cfg->event)
			drain_events(e, false);
		if (e->failed)
			return -1;
#endif
		if (e->edge) {
			int rc = period_edge(e->period, t);

			e->edge = NULL;
			if (rc != 0)
				return rc;
		}
	}
	return 0;
}
