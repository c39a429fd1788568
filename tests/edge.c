#include "edge.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Both engines behind one interface */

static bool run_reference(const struct program *p, const struct engine_config *cfg,
			  struct ref_result *out)
{
	ref_run(p, cfg, 100000, out);
	return !out->deadlock;
}

static void record(void *ctx, const struct engine_event *e)
{
	struct ref_result *r = ctx;
	r->issues = xgrow(r->issues, r->n, &r->cap, sizeof(*r->issues));
	r->issues[r->n++] = (struct ref_issue){
		.clk = e->clk, .start = e->start, .wave = e->wave, .insn = e->insn};
}

static bool run_engine(const struct program *p, const struct engine_config *cfg,
		       struct ref_result *out)
{
	struct engine_config c = *cfg;
	struct stats st;
	struct diag d;
	memset(out, 0, sizeof(*out));
	c.event = record;
	c.ctx = out;
	diag_init(&d);
	int rc = engine_run(p, &c, &st, &d);
	out->deadlock = rc != 0;
	if (rc == 0) {
		out->total_clk = st.total_clk;
		memcpy(out->wave_end, st.wave_end, sizeof(out->wave_end));
	}
	stats_free(&st);
	diag_free(&d);
	return rc == 0;
}

/* A quiet machine */

static void quiet(struct target *t)
{
	struct target_values *v = &t->v;
	v->matrix_ahead = v->packed_before = v->packed_after = 0;
	v->straddle = v->icache_miss_ns = v->lds_conflict_latency = 0;
	v->vmem_cold_ns = v->vmem_cold_window_ns = 0;
	v->vmem_inflight = 1 << 20;
	v->vmem_queue = 64;
	v->lds_queue = 16;
	v->wmma_hold = 0;
	v->lds_partitions = 4;
	v->lds_bytes = 65536;
	for (unsigned c = 0; c < OPC_COUNT; c++)
		t->classes[c] = (struct class_row){
			.busy_clk = 1, .latency_clk = 0, .hold_clk = 1, .counter = -1};
	for (unsigned c = 0; c < CTR_COUNT; c++)
		t->counters[c] = (struct counter_row){.present = true, .max = 15, .in_order = true};
	t->counters[CTR_KM].in_order = false;
	t->classes[OPC_SMEM].counter = CTR_KM;
	t->classes[OPC_LDS_READ].counter = t->classes[OPC_LDS_WRITE].counter = CTR_DS;
	t->classes[OPC_LDS_PERMUTE].counter = CTR_DS;
	t->classes[OPC_VMEM_LOAD].counter = CTR_LOAD;
	t->classes[OPC_VMEM_STORE].counter = CTR_STORE;
	t->classes[OPC_VMEM_LDS].counter = CTR_ASYNC;
	t->classes[OPC_TDM_LOAD].counter = t->classes[OPC_TDM_STORE].counter = CTR_TENSOR;
	if (v->tdm_engines < 1) { /* the rules hold for any target that names an engine */
		v->tdm_engines = 2;
		v->tdm_queue_wave = 2;
		v->tdm_queue = 3;
		v->tdm_start_ns = 200;
		v->tdm_bytes_clk = 64;
	}
	v->barrier_split = 1;
	v->barrier_named = v->barrier_named > 0 ? v->barrier_named : 16;
	for (size_t i = 0; i < t->nmatrix; i++)
		t->matrix[i].prefix_clk = t->matrix[i].valu_block_clk = 0;
}

static void set_up(struct edge *e, const struct minitarget *base, bool engine, bool every_clk)
{
	memset(e, 0, sizeof(*e));
	e->machine = base->t.name;
	e->engine = engine ? "engine" : "reference";
	e->run = engine ? run_engine : run_reference;
	e->base = &base->t;
	e->m = minitarget_copy(base);
	e->t = &e->m->t;
	quiet(e->t);
	if (every_clk) {
		e->t->v.issue_period = 1;
		e->t->v.issue_stagger = 0;
	}
	e->period = (unsigned)e->t->v.issue_period;
	e->cfg = (struct engine_config){.clock_mhz = 1000, .resident = 1, .max_clk = 1u << 30};
	uint32_t part = (uint32_t)(e->t->v.lds_bytes / e->t->v.lds_partitions);
	e->buffer = (struct buffer){.name = "b", .slot_bytes = part, .slots = 4, .alias_of = -1};
	for (unsigned i = 0; i < 4; i++)
		e->access[i] = (struct access){.global = -1,
					       .slot = (int32_t)i,
					       .nlanes = 64,
					       .lane = e->lane[i],
					       .wave_base = e->wave_base,
					       .width = 4};
}

void edge_everywhere(edge_test *test)
{
	struct edge *e = xcalloc(1, sizeof(*e));
	for (unsigned k = 0; k < 2 * MINITARGET_COUNT; k++) {
		const char *name = minitarget_names[k % MINITARGET_COUNT];
		struct minitarget *base =
			k < MINITARGET_COUNT ? minitarget_build(name) : minitarget_load(name);
		for (unsigned i = 0; base && i < 4; i++) {
			set_up(e, base, i & 1, i & 2);
			edge_reset(e, 1, 1);
			test(e);
			ref_result_free(&e->res);
			minitarget_free(e->m);
		}
		minitarget_free(base);
	}
	free(e);
}

/* Programs */

void edge_reset(struct edge *e, unsigned waves, unsigned groups)
{
	ref_result_free(&e->res);
	memset(e->insns, 0, sizeof(e->insns));
	memset(&e->p, 0, sizeof(e->p));
	e->stage.name = "s";
	e->p = (struct program){
		.target = e->t,
		.name = "edge",
		.insns = e->insns,
		.stages = &e->stage,
		.nstages = 1,
		.loops = e->loops,
		.main_loop = {-1, -1, -1, -1},
		.buffers = &e->buffer,
		.nbuffers = 1,
		.access = e->access,
		.naccess = 4,
		.waves = waves,
		.groups = groups,
		.workgroups = 1,
		.cluster_workgroups = 1,
		.ideal_clk = 1,
	};
}

struct insn *edge_add(struct edge *e, enum opclass cls)
{
	assert_true(e->p.ninsns < EDGE_MAX_INSNS);
	struct insn *in = &e->insns[e->p.ninsns++];
	*in = (struct insn){.cls = cls,
			    .op = "edge",
			    .groups = (uint8_t)((1u << e->p.groups) - 1),
			    .size = 4,
			    .repeat = 1,
			    .access = -1,
			    .loop = -1,
			    .counter = (int8_t)e->t->classes[cls].counter};
	return in;
}

struct insn *edge_span(struct insn *in, enum span_role role, unsigned first, unsigned n)
{
	in->span[in->nspans] = (struct span){(uint16_t)first, (uint16_t)n};
	in->role[in->nspans++] = (uint8_t)role;
	return in;
}

struct insn *edge_vector(struct edge *e, enum opclass cls, unsigned dst, unsigned src)
{
	struct insn *in = edge_add(e, cls);
	edge_span(in, ROLE_DST, dst, 1);
	return edge_span(in, ROLE_SRC, src, 1);
}

struct matrix_row *edge_matrix_row(struct edge *e)
{
	return &e->t->matrix[0];
}

struct insn *edge_matrix(struct edge *e, unsigned d, unsigned c)
{
	struct insn *in = edge_add(e, OPC_MATRIX);
	in->matrix = edge_matrix_row(e);
	edge_span(in, ROLE_DST, d, 4);
	edge_span(in, ROLE_A, 200, 2);
	edge_span(in, ROLE_B, 210, 2);
	return edge_span(in, ROLE_C, c, 4);
}

/* A permute row may be missing in a model: any row serves, the class decides. */
struct lds_row *edge_lds_row(struct edge *e, enum opclass cls)
{
	for (size_t i = 0; i < e->t->nlds; i++)
		if (cls == OPC_LDS_PERMUTE || e->t->lds[i].write == (cls == OPC_LDS_WRITE))
			return &e->t->lds[i];
	fail_msg("%s has no such LDS row", e->machine);
	return NULL;
}

struct vmem_row *edge_vmem_row(struct edge *e, enum opclass cls)
{
	enum vmem_kind kind = cls == OPC_VMEM_LOAD  ? VM_LOAD
			      : cls == OPC_VMEM_LDS ? VM_LDS
						    : VM_STORE;
	for (size_t i = 0; i < e->t->nvmem; i++)
		if (e->t->vmem[i].kind == kind)
			return &e->t->vmem[i];
	fail_msg("%s has no such memory row", e->machine);
	return NULL;
}

struct insn *edge_lds(struct edge *e, enum opclass cls, unsigned array_clk)
{
	struct insn *in = edge_add(e, cls);
	in->lds = edge_lds_row(e, cls);
	in->lds_clk = in->lds_clk_free = (uint16_t)array_clk;
	in->access = 0;
	in->bytes = 256;
	return in;
}

struct insn *edge_memory(struct edge *e, enum opclass cls, uint32_t bytes)
{
	struct insn *in = edge_add(e, cls);
	if (cls != OPC_TDM_LOAD && cls != OPC_TDM_STORE)
		in->vmem = edge_vmem_row(e, cls);
	in->access = 0;
	in->bytes = bytes;
	return in;
}

struct insn *edge_wait(struct edge *e, enum counter c, unsigned value)
{
	struct insn *in = edge_add(e, OPC_WAIT);
	in->wait[0].counter = (int8_t)c;
	in->wait[0].value = (uint8_t)value;
	in->nwait = 1;
	return in;
}

struct insn *edge_imm(struct edge *e, enum opclass cls, unsigned imm)
{
	struct insn *in = edge_add(e, cls);
	in->imm = (uint8_t)imm;
	return in;
}

struct insn *edge_barrier(struct edge *e, enum opclass cls, int id, unsigned members)
{
	struct insn *in = edge_add(e, cls);
	in->barrier = (int8_t)id;
	in->members = (uint16_t)members;
	return in;
}

struct insn *edge_loop(struct edge *e, uint32_t begin, uint64_t trips)
{
	struct insn *in = edge_add(e, OPC_BRANCH);
	in->loop = (int32_t)e->p.nloops;
	e->loops[e->p.nloops++] = (struct loop){
		.begin = begin,
		.end = (uint32_t)e->p.ninsns,
		.trips = trips,
		.steps = 1,
		.groups = (uint8_t)((1u << e->p.groups) - 1),
		.parent = -1,
	};
	return in;
}

enum counter edge_counter(const struct edge *e, enum opclass cls)
{
	return (enum counter)e->t->classes[cls].counter;
}

void edge_run(struct edge *e)
{
	struct diag d;
	edge_add(e, OPC_END);
	diag_init(&d);
	assert_int_equal(program_validate(&e->p, &d), 0);
	diag_free(&d);
	ref_result_free(&e->res);
	if (!e->run(&e->p, &e->cfg, &e->res))
		fail_msg("%s on %s: the program did not end", e->engine, e->machine);
}

/* Times */

uint64_t edge_visit(const struct edge *e, unsigned wave, uint64_t t)
{
	unsigned simd = wave % (unsigned)e->t->v.simds;
	unsigned first = simd * (unsigned)e->t->v.issue_stagger % e->period;
	while (t % e->period != first)
		t++;
	return t;
}

const struct ref_issue *edge_issue(const struct edge *e, unsigned wave, unsigned k)
{
	for (size_t i = 0; i < e->res.n; i++)
		if (e->res.issues[i].wave == wave && k-- == 0)
			return &e->res.issues[i];
	fail_msg("%s on %s: wave %u issued too few instructions", e->engine, e->machine, wave);
	return NULL;
}

void edge_expect(const struct edge *e, unsigned wave, unsigned k, uint64_t ready, bool blocked,
		 const char *file, int line)
{
	uint64_t clk = edge_issue(e, wave, k)->clk, want = edge_visit(e, wave, ready);
	uint64_t free = k ? edge_issue(e, wave, k - 1)->clk + 1 : 0;
	if (blocked && edge_visit(e, wave, free) >= want) {
		print_error("%s on %s, period %u: the rule has no effect here\n", e->engine,
			    e->machine, e->period);
		_fail(file, line);
	}
	if (clk != want) {
		print_error("%s on %s, period %u: wave %u issue %u at clk %" PRIu64
			    ", expected %" PRIu64 "\n",
			    e->engine, e->machine, e->period, wave, k, clk, want);
		_fail(file, line);
	}
}

void edge_expect_start(const struct edge *e, unsigned wave, unsigned k, uint64_t clk,
		       const char *file, int line)
{
	uint64_t start = edge_issue(e, wave, k)->start;
	if (start != clk) {
		print_error("%s on %s, period %u: wave %u issue %u starts at clk %" PRIu64
			    ", expected %" PRIu64 "\n",
			    e->engine, e->machine, e->period, wave, k, start, clk);
		_fail(file, line);
	}
}

unsigned edge_value(double own, unsigned lo)
{
	return own > lo ? (unsigned)own : lo;
}
