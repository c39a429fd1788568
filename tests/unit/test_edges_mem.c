/* Each rule of docs/model.md at its edge: LDS, vector memory, tensor copies, counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../edge.h"
#include "lds.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* A wave on a SIMD of another pair than wave 0's, or on another SIMD of the same pair. */
static unsigned wave_beside(const struct edge *e, bool same)
{
	for (unsigned s = 1; s < 4; s++)
		if ((e->t->pair_of_simd[s] == e->t->pair_of_simd[0]) == same)
			return s;
	fail_msg("%s has no such SIMD", e->machine);
	return 0;
}

/* Waves 0 .. last, each a group of its own, so that an instruction can be given to one wave. */
static void reset_apart(struct edge *e, unsigned last)
{
	edge_reset(e, last + 1, last + 1);
}

static void only(struct insn *in, unsigned wave)
{
	in->groups = (uint8_t)(1u << wave);
}

/* LDS */

static void edge_lds_latency(struct edge *e)
{
	static const enum opclass cls[] = {OPC_LDS_READ, OPC_LDS_PERMUTE};
	unsigned lat = (unsigned)e->t->v.lds_latency;
	for (unsigned i = 0; i < 2; i++) {
		unsigned port = edge_lds_row(e, cls[i])->port_clk;
		edge_reset(e, 1, 1);
		edge_lds(e, cls[i], 1);
		edge_wait(e, CTR_DS, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, e->period + port + lat);
	}
}

/* Port and array work side by side; the slower one counts. */
static void edge_lds_array(struct edge *e)
{
	unsigned lat = (unsigned)e->t->v.lds_latency,
		 port = edge_lds_row(e, OPC_LDS_READ)->port_clk;
	for (unsigned over = 0; over < 3; over++) {
		unsigned array = port + over;
		edge_reset(e, 1, 1);
		edge_lds(e, OPC_LDS_READ, array);
		edge_lds(e, OPC_LDS_READ, array);
		edge_wait(e, CTR_DS, 0);
		edge_run(e);
		uint64_t second = later(e->period + array, edge_issue(e, 0, 1)->clk + e->period);
		EXPECT_BLOCKED(e, 0, 2, second + array + lat);
	}
}

static void edge_lds_queue(struct edge *e)
{
	unsigned queue = edge_value(e->base->v.lds_queue, 2);
	unsigned port = edge_lds_row(e, OPC_LDS_READ)->port_clk = (queue + 4) * e->period;
	e->t->v.lds_queue = queue;
	e->t->counters[CTR_DS].max = 255;
	edge_reset(e, 1, 1);
	for (unsigned i = 0; i < queue + 2; i++)
		edge_lds(e, OPC_LDS_READ, 1);
	edge_run(e);
	EXPECT_AT(e, 0, queue - 1, (queue - 1) * e->period);
	EXPECT_BLOCKED(e, 0, queue, e->period + port);
	EXPECT_BLOCKED(e, 0, queue + 1, e->period + 2 * port);
}

/* A pair has one queue and one port for its SIMDs; the other pair has its own. */
static void edge_lds_pairs(struct edge *e)
{
	unsigned lat = (unsigned)e->t->v.lds_latency,
		 port = edge_lds_row(e, OPC_LDS_READ)->port_clk = 8 * e->period;
	for (unsigned same = 0; same < 2; same++) {
		unsigned w = wave_beside(e, same);
		reset_apart(e, w);
		only(edge_lds(e, OPC_LDS_READ, 1), 0);
		only(edge_lds(e, OPC_LDS_READ, 1), w);
		edge_wait(e, CTR_DS, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, e->period + port + lat);
		uint64_t arrive = edge_issue(e, w, 0)->clk + e->period;
		uint64_t start = same ? e->period + port : arrive;
		EXPECT_BLOCKED(e, w, 1, start + port + lat);
		e->t->v.lds_queue = 1; /* shared as well */
		reset_apart(e, w);
		only(edge_lds(e, OPC_LDS_READ, 1), 0);
		only(edge_lds(e, OPC_LDS_READ, 1), w);
		edge_run(e);
		EXPECT_AT(e, w, 0, same ? e->period + port : 0);
		e->t->v.lds_queue = 16;
	}
}

/* Both pairs in one partition take turns at its array, in two partitions they don't. */
static void edge_lds_partitions(struct edge *e)
{
	unsigned w = wave_beside(e, false), lat = (unsigned)e->t->v.lds_latency,
		 array = 10 * e->period;
	uint32_t part = (uint32_t)(e->t->v.lds_bytes / e->t->v.lds_partitions);
	edge_lds_row(e, OPC_LDS_READ)->port_clk = e->period;
	e->access[0].buffer = 0;
	for (unsigned way = 0; way < 6; way++) {
		e->buffer.base = way == 1 ? part : 0; /* both elsewhere: still the same one */
		e->access[1].slot = way == 2;	      /* the next slot is the next partition */
		e->wave_base[w] = way == 3 ? part : 0;
		e->lane[1][0] = way == 4 ? part - 1 : 0;	       /* still inside */
		e->access[1].slot = way == 5 ? -1 : e->access[1].slot; /* unknown slot: the first */
		reset_apart(e, w);
		only(edge_lds(e, OPC_LDS_READ, array), 0);
		struct insn *in = edge_lds(e, OPC_LDS_READ, array);
		only(in, w);
		in->access = 1;
		edge_wait(e, CTR_DS, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, e->period + array + lat);
		uint64_t arrive = edge_issue(e, w, 0)->clk + e->period;
		bool apart = way == 2 || way == 3;
		EXPECT_BLOCKED(e, w, 1, (apart ? arrive : e->period + array) + array + lat);
	}
	e->buffer.base = 0;
	e->wave_base[w] = e->lane[1][0] = 0;
}

/* The port stays taken while its op waits for an array, also for an op of another partition. */
static void edge_lds_port(struct edge *e)
{
	unsigned lat = (unsigned)e->t->v.lds_latency, array = 12 * e->period;
	unsigned port = edge_lds_row(e, OPC_LDS_READ)->port_clk = 2 * e->period;
	edge_reset(e, 1, 1);
	edge_lds(e, OPC_LDS_READ, array);
	edge_lds(e, OPC_LDS_READ, 1)->access = 1;
	edge_wait(e, CTR_DS, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 2, e->period + array + port + lat);
}

/* A permute uses the port and no array. */
static void edge_lds_permute(struct edge *e)
{
	unsigned w = wave_beside(e, false), lat = (unsigned)e->t->v.lds_latency;
	unsigned port = edge_lds_row(e, OPC_LDS_PERMUTE)->port_clk;
	reset_apart(e, w);
	only(edge_lds(e, OPC_LDS_READ, 40 * e->period), 0);
	struct insn *in = edge_lds(e, OPC_LDS_PERMUTE, 0);
	only(in, w);
	edge_wait(e, CTR_DS, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, w, 1, edge_issue(e, w, 0)->clk + e->period + port + lat);
}

static void edge_lds_write(struct edge *e)
{
	unsigned port = edge_lds_row(e, OPC_LDS_WRITE)->port_clk,
		 lat = (unsigned)e->t->v.lds_latency;
	unsigned hold = e->period + port + 2 * e->period;
	edge_reset(e, 1, 1);
	edge_lds(e, OPC_LDS_WRITE, port + 3);
	edge_add(e, OPC_SALU);
	edge_wait(e, CTR_DS, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, e->period + port + 3);
	EXPECT_AT(e, 0, 2, later(e->period + port + 3 + lat, edge_issue(e, 0, 1)->clk + 1));
	e->t->classes[OPC_LDS_WRITE].hold_clk = hold; /* the class's own hold when it is longer */
	edge_reset(e, 1, 1);
	edge_lds(e, OPC_LDS_WRITE, 1);
	edge_add(e, OPC_SALU);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, hold);
	e->t->classes[OPC_LDS_WRITE].hold_clk = 1; /* held in the queue too */
	edge_lds_row(e, OPC_LDS_READ)->port_clk = 9 * e->period;
	edge_lds_row(e, OPC_LDS_WRITE)->port_clk = 2;
	edge_reset(e, 1, 1);
	edge_lds(e, OPC_LDS_READ, 1);
	edge_lds(e, OPC_LDS_WRITE, 1);
	edge_add(e, OPC_SALU);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 2, 10 * e->period + 2);
}

static void edge_lds_conflict(struct edge *e)
{
	unsigned lat = (unsigned)e->t->v.lds_latency,
		 port = edge_lds_row(e, OPC_LDS_READ)->port_clk;
	unsigned slow =
		e->period + port + 1 + lat + edge_value(e->base->v.lds_conflict_latency, 20);
	e->t->v.lds_conflict_latency = slow;
	for (unsigned conflict = 0; conflict < 2; conflict++) {
		edge_reset(e, 1, 1);
		edge_lds(e, OPC_LDS_READ, port + 1)->lds_clk_free = (uint16_t)(port + 1 - conflict);
		edge_wait(e, CTR_DS, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, conflict ? slow : e->period + port + 1 + lat);
	}
}

/* An unaligned lane makes the instruction go lane by lane, and its array time blocks the port. */
static void edge_lds_unaligned(struct edge *e)
{
	struct lds_row *row = edge_lds_row(e, OPC_LDS_READ);
	unsigned lanes = (unsigned)e->t->v.wave_size, lat = (unsigned)e->t->v.lds_latency;
	unsigned each = edge_value(e->base->v.lds_unaligned, 1);
	uint32_t addr[64];
	row->width_bytes = 4;
	row->banks = 64;
	row->ngroups = 1;
	row->group[0] = lanes == 64 ? UINT64_MAX : (1ull << lanes) - 1;
	row->port_clk = 1;
	for (unsigned i = 0; i < lanes; i++)
		addr[i] = 4 * i;
	for (unsigned off = 0; off < 2; off++) {
		addr[lanes - 1] += off;
		unsigned array = lds_array_clk(row, lanes, addr, 65536, each);
		assert_int_equal(array, off ? lanes * each : 1);
		edge_reset(e, 1, 1);
		edge_lds(e, OPC_LDS_READ, array);
		edge_wait(e, CTR_DS, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, e->period + array + lat);
	}
}

/* Counters */

static void edge_counter_max(struct edge *e)
{
	static const enum opclass cls[] = {OPC_LDS_READ, OPC_VMEM_LOAD, OPC_VMEM_STORE,
					   OPC_VMEM_LDS, OPC_SMEM};
	for (unsigned i = 0; i < ARRAY_LEN(cls); i++) {
		enum counter c = edge_counter(e, cls[i]);
		uint64_t fell = 0;
		for (unsigned k = 0; k < 2;
		     k++) { /* the second run reads the time that the first waits for */
			e->t->counters[c].max = k ? 2 : 15;
			edge_reset(e, 1, 1);
			for (unsigned n = 0; n < 2 + k; n++) {
				if (cls[i] == OPC_LDS_READ)
					edge_lds(e, cls[i], 1);
				else if (cls[i] == OPC_SMEM)
					edge_add(e, cls[i]);
				else
					edge_memory(e, cls[i], 1024);
			}
			if (!k)
				edge_wait(e, c, 1);
			edge_run(e);
			if (k)
				EXPECT_BLOCKED(e, 0, 2, fell);
			else
				fell = edge_issue(e, 0, 2)->clk;
		}
	}
}

/* Each value of a wait is exact, and all counters of a wait must hold. */
static void edge_wait_value(struct edge *e)
{
	unsigned lat = (unsigned)e->t->v.lds_latency,
		 port = edge_lds_row(e, OPC_LDS_READ)->port_clk = 3 * e->period;
	uint64_t smem = (uint64_t)(e->t->v.smem_ns = 500);
	for (unsigned value = 0; value < 4; value++) {
		edge_reset(e, 1, 1);
		for (unsigned i = 0; i < 3; i++)
			edge_lds(e, OPC_LDS_READ, 1);
		edge_wait(e, CTR_DS, value);
		edge_run(e);
		if (value == 3)
			EXPECT_AT(e, 0, 3, 3 * e->period);
		else
			EXPECT_BLOCKED(e, 0, 3, e->period + (3 - value) * port + lat);
	}
	edge_reset(e, 1, 1);
	edge_add(e, OPC_SMEM);
	edge_lds(e, OPC_LDS_READ, 1);
	edge_wait(e, CTR_DS, 1)->wait[1].counter = CTR_KM;
	e->insns[2].nwait = 2;
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 2, smem);
}

/* A quick op behind a slow one: reported after it when the counter is in order. */
static void edge_in_order(struct edge *e)
{
	e->t->v.vmem_hbm_ns = 600;
	e->t->v.vmem_l2_ns = 600;
	e->t->v.vmem_store_ns = 20;
	e->t->classes[OPC_VMEM_STORE].counter = e->t->classes[OPC_VMEM_LOAD].counter;
	struct vmem_row *load = edge_vmem_row(e, OPC_VMEM_LOAD),
			*store = edge_vmem_row(e, OPC_VMEM_STORE);
	for (unsigned ordered = 0; ordered < 2; ordered++) {
		e->t->counters[edge_counter(e, OPC_VMEM_LOAD)].in_order = ordered;
		edge_reset(e, 1, 1);
		edge_memory(e, OPC_VMEM_LOAD, 1024);
		edge_memory(e, OPC_VMEM_STORE, 1024);
		edge_wait(e, edge_counter(e, OPC_VMEM_LOAD), 1);
		edge_run(e);
		uint64_t back = e->period + load->addr_clk + 600 + load->data_clk;
		uint64_t sent =
			later(edge_issue(e, 0, 1)->clk + e->period, e->period + load->addr_clk) +
			store->addr_clk + store->data_clk + 20;
		EXPECT_BLOCKED(e, 0, 2, ordered ? back : sent);
	}
}

static void edge_smem(struct edge *e)
{
	e->t->v.smem_ns = edge_value(e->base->v.smem_ns, 20) | 1; /* odd: half a clk over */
	e->cfg.clock_mhz = 1500; /* ns become clk, rounded to the nearest */
	edge_reset(e, 1, 1);
	edge_add(e, OPC_SMEM);
	edge_wait(e, CTR_KM, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, ((uint64_t)e->t->v.smem_ns * 3 + 1) / 2);
}

/* Vector memory */

static void edge_load(struct edge *e)
{
	struct vmem_row *row = edge_vmem_row(e, OPC_VMEM_LOAD);
	uint64_t l2 = (uint64_t)e->t->v.vmem_l2_ns,
		 hbm = (uint64_t)(e->t->v.vmem_hbm_ns = e->t->v.vmem_l2_ns + 50);
	for (unsigned cold = 0; cold < 2; cold++) {
		edge_reset(e, 1, 1);
		struct insn *in = edge_memory(e, OPC_VMEM_LOAD, 1024);
		in->flags = cold ? INSN_COLD : 0;
		edge_wait(e, CTR_LOAD, 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1,
			       e->period + row->addr_clk + (cold ? hbm : l2) + row->data_clk);
		EXPECT_START(e, 0, 0, e->period);
	}
}

static void edge_cold_window(struct edge *e)
{
	struct vmem_row *row = edge_vmem_row(e, OPC_VMEM_LOAD);
	uint64_t l2 = (uint64_t)e->t->v.vmem_l2_ns, cold = edge_value(e->base->v.vmem_cold_ns, 30);
	unsigned window = 5 * e->period;
	e->t->v.vmem_cold_ns = (double)cold;
	e->t->classes[OPC_NOP].hold_clk = 1;
	for (unsigned inside = 0; inside < 2; inside++) {
		e->t->v.vmem_cold_window_ns =
			window + inside; /* issued at window: outside of [0, window) */
		e->t->v.nop_unit = 1;
		edge_reset(e, 1, 1);
		edge_imm(e, OPC_NOP, window);
		edge_memory(e, OPC_VMEM_LOAD, 1024);
		edge_wait(e, CTR_LOAD, 0);
		edge_run(e);
		EXPECT_AT(e, 0, 1, window);
		EXPECT_BLOCKED(e, 0, 2,
			       window + e->period + row->addr_clk + l2 + (inside ? cold : 0) +
				       row->data_clk);
	}
}

static void edge_vmem_rate(struct edge *e)
{
	struct vmem_row *row = edge_vmem_row(e, OPC_VMEM_LOAD);
	uint64_t l2 = (uint64_t)e->t->v.vmem_l2_ns;
	for (unsigned wide = 0; wide < 2;
	     wide++) { /* the address stage is the narrow one, then the return */
		row->addr_clk = wide ? e->period : 10 * e->period;
		row->data_clk = wide ? 10 * e->period + 1 : e->period;
		edge_reset(e, 1, 1);
		for (unsigned i = 0; i < 3; i++)
			edge_memory(e, OPC_VMEM_LOAD, 1024);
		edge_wait(e, CTR_LOAD, 0);
		edge_run(e);
		unsigned step = wide ? row->data_clk : row->addr_clk;
		EXPECT_BLOCKED(e, 0, 3, e->period + row->addr_clk + l2 + row->data_clk + 2 * step);
	}
}

/* A share of the bandwidth below the CU's own path slows the return; rounded up. */
static void edge_vmem_share(struct edge *e)
{
	static const enum opclass cls[] = {OPC_VMEM_LOAD, OPC_VMEM_STORE};
	for (unsigned i = 0; i < 2; i++) {
		struct vmem_row *row = edge_vmem_row(e, cls[i]);
		uint64_t own = row->data_clk = row->data_clk + 2,
			 far = (uint64_t)(i ? e->t->v.vmem_store_ns : e->t->v.vmem_l2_ns);
		uint32_t bytes = (uint32_t)(8 * own);
		for (unsigned over = 0; over < 2; over++) {
			e->cfg.bytes_per_clk = 8;
			edge_reset(e, 1, 1);
			edge_memory(e, cls[i], bytes + over);
			edge_wait(e, edge_counter(e, cls[i]), 0);
			edge_run(e);
			EXPECT_BLOCKED(e, 0, 1, e->period + row->addr_clk + far + own + over);
		}
		e->cfg.bytes_per_clk = 2 * (double)bytes; /* more than the path takes */
		edge_reset(e, 1, 1);
		edge_memory(e, cls[i], bytes);
		edge_wait(e, edge_counter(e, cls[i]), 0);
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, e->period + row->addr_clk + far + own);
	}
}

static void edge_vmem_queue(struct edge *e)
{
	unsigned queue = edge_value(e->base->v.vmem_queue, 2);
	queue = queue > 8 ? 8 : queue;
	e->t->v.vmem_queue = queue;
	unsigned addr = edge_vmem_row(e, OPC_VMEM_LOAD)->addr_clk = (queue + 3) * e->period;
	edge_vmem_row(e, OPC_VMEM_STORE)->addr_clk = addr;
	for (unsigned store = 0; store < 2; store++) {
		edge_reset(e, 1, 1);
		for (unsigned i = 0; i < queue + 3; i++)
			edge_memory(e, store && i == queue ? OPC_VMEM_STORE : OPC_VMEM_LOAD, 64);
		edge_run(e);
		/* the first starts at once and leaves the queue; then one leaves every addr */
		EXPECT_AT(e, 0, queue, queue * e->period);
		EXPECT_BLOCKED(e, 0, queue + 1, e->period + addr);
		EXPECT_BLOCKED(e, 0, queue + 2, e->period + 2 * addr);
	}
}

static void edge_inflight(struct edge *e)
{
	struct vmem_row *row = edge_vmem_row(e, OPC_VMEM_LOAD);
	uint64_t l2 = (uint64_t)(e->t->v.vmem_l2_ns = 300);
	row->addr_clk = 1;
	row->data_clk = 1;
	uint64_t first = e->period + row->addr_clk + l2 + row->data_clk; /* return of the first */
	for (unsigned over = 0; over < 2; over++) {
		e->t->v.vmem_inflight = 2048 - over;
		edge_reset(e, 1, 1);
		edge_memory(e, OPC_VMEM_LOAD, 1024);
		edge_memory(e, OPC_VMEM_LOAD, 1024);
		edge_memory(e, OPC_VMEM_STORE, 4096); /* needs no room, but its turn */
		edge_wait(e, CTR_LOAD, 0);
		edge_run(e);
		uint64_t start = over ? first : edge_issue(e, 0, 1)->clk + e->period;
		EXPECT_START(e, 0, 1, start);
		EXPECT_START(e, 0, 2,
			     later(start + row->addr_clk, edge_issue(e, 0, 2)->clk + e->period));
		EXPECT_BLOCKED(e, 0, 3, start + row->addr_clk + l2 + row->data_clk);
	}
	e->t->v.vmem_inflight = 512; /* larger than all room: alone */
	edge_reset(e, 1, 1);
	edge_memory(e, OPC_VMEM_LOAD, 64);
	edge_memory(e, OPC_VMEM_LOAD, 1024);
	edge_memory(e, OPC_VMEM_LOAD, 64);
	edge_run(e);
	EXPECT_START(e, 0, 1, first);
	EXPECT_START(e, 0, 2, first + row->addr_clk + l2 + row->data_clk);
}

static void edge_store(struct edge *e)
{
	struct vmem_row *row = edge_vmem_row(e, OPC_VMEM_STORE);
	uint64_t ack = (uint64_t)e->t->v.vmem_store_ns;
	row->data_clk = edge_value(row->data_clk, row->addr_clk + 2 * e->period);
	e->t->v.vmem_l2_ns = 1000;
	edge_reset(e, 1, 1);
	edge_memory(e, OPC_VMEM_STORE, 1024);
	edge_memory(e, OPC_VMEM_STORE, 1024);
	edge_wait(e, CTR_STORE, 1);
	edge_wait(e, CTR_STORE, 0);
	edge_run(e);
	uint64_t sent = e->period + row->addr_clk + row->data_clk;
	EXPECT_BLOCKED(e, 0, 2, sent + ack);
	EXPECT_AT(e, 0, 3, later(sent + row->data_clk + ack, edge_issue(e, 0, 2)->clk + 1));
}

/* Copies to LDS take the array of their partition when they land; reads wait behind them. */
static void edge_landing(struct edge *e)
{
	struct vmem_row *row = edge_vmem_row(e, OPC_VMEM_LDS);
	uint64_t l2 = (uint64_t)(e->t->v.vmem_l2_ns = 200), lat = (uint64_t)e->t->v.lds_latency;
	unsigned dma = (unsigned)e->t->v.lds_dma_write,
		 port = edge_lds_row(e, OPC_LDS_READ)->port_clk = e->period;
	uint32_t bytes = 20 * e->period * dma + 1;
	uint64_t lands = e->period + row->addr_clk + l2 + row->data_clk;
	uint64_t done = lands + 20 * e->period + 1;
	for (unsigned apart = 0; apart < 2; apart++) {
		e->t->v.nop_unit = 1;
		edge_reset(e, 2, 2);
		edge_memory(e, OPC_VMEM_LDS, bytes)->groups = 1;
		edge_wait(e, CTR_ASYNC, 0)->groups = 1;
		/* arrives two visits after the landing */
		unsigned pause = (unsigned)(lands + 2 * e->period) / 2;
		edge_imm(e, OPC_NOP, pause)->groups = 2;
		edge_imm(e, OPC_NOP, pause)->groups = 2;
		struct insn *in = edge_lds(e, OPC_LDS_READ, e->period);
		in->groups = 2;
		in->access = apart ? 1 : 0;
		e->access[1].slot = 1;
		edge_wait(e, CTR_DS, 0)->groups = 2;
		edge_run(e);
		EXPECT_BLOCKED(e, 0, 1, done);
		uint64_t arrive = edge_issue(e, 1, 2)->clk + e->period;
		assert_true(arrive > lands && arrive < done);
		EXPECT_BLOCKED(e, 1, 3, (apart ? arrive + port : done + e->period) + lat);
	}
}

/* Tensor copies */

static void edge_tdm(struct edge *e)
{
	uint64_t rate =
		(uint64_t)(e->t->v.tdm_bytes_clk = edge_value(e->base->v.tdm_bytes_clk, 16));
	uint64_t start = (uint64_t)(e->t->v.tdm_start_ns = edge_value(e->base->v.tdm_start_ns, 40));
	uint64_t dma = (uint64_t)(e->t->v.lds_dma_write = (double)(4 * rate)); /* arrays keep up */
	uint32_t bytes = 3000;
	edge_reset(e, 1, 1);
	edge_memory(e, OPC_TDM_LOAD, bytes);
	edge_wait(e, CTR_TENSOR, 0);
	edge_run(e);
	uint64_t last = bytes % 1024;
	EXPECT_START(e, 0, 0, e->period);
	EXPECT_BLOCKED(e, 0, 1, e->period + start + ceil_div(bytes, rate) + ceil_div(last, dma));
	edge_reset(e, 1, 1);
	edge_memory(e, OPC_TDM_STORE, bytes);
	edge_memory(e, OPC_TDM_STORE, bytes); /* behind it in the same engine */
	edge_wait(e, CTR_TENSOR, 0);
	edge_run(e);
	EXPECT_START(e, 0, 1, e->period + ceil_div(bytes, rate));
	EXPECT_BLOCKED(e, 0, 2, e->period + 2 * ceil_div(bytes, rate) + start);
	e->cfg.bytes_per_clk = (double)rate / 2; /* the share of the bandwidth is smaller */
	edge_reset(e, 1, 1);
	edge_memory(e, OPC_TDM_STORE, bytes);
	edge_wait(e, CTR_TENSOR, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, e->period + ceil_div(2 * bytes, rate) + start);
	e->cfg.bytes_per_clk = 0;
}

/* Slow arrays: the pieces queue at the array, and the last one ends the copy. */
static void edge_tdm_pieces(struct edge *e)
{
	uint64_t start = (uint64_t)(e->t->v.tdm_start_ns = 40), rate = 64;
	e->t->v.tdm_bytes_clk = (double)rate;
	e->t->v.lds_dma_write = 16; /* 64 clk a piece, one arrives every 16 */
	edge_reset(e, 1, 1);
	edge_memory(e, OPC_TDM_LOAD, 2 * 1024 + 100);
	edge_wait(e, CTR_TENSOR, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, e->period + start + 1024 / rate + 2 * 64 + ceil_div(100, 16));
}

static void edge_tdm_queues(struct edge *e)
{
	unsigned same = wave_beside(e, true), far = wave_beside(e, false);
	uint32_t bytes = 40 * e->period * (uint32_t)e->t->v.tdm_bytes_clk;
	uint64_t each = ceil_div(bytes, (uint64_t)e->t->v.tdm_bytes_clk);
	unsigned own =
		(unsigned)(e->t->v.tdm_queue_wave = edge_value(e->base->v.tdm_queue_wave, 1));
	e->t->v.tdm_engines = 2;
	e->t->v.tdm_queue = 60;
	edge_reset(e, 1, 1);
	for (unsigned i = 0; i < own + 2; i++) /* the first starts at once */
		edge_memory(e, OPC_TDM_STORE, bytes);
	edge_run(e);
	EXPECT_AT(e, 0, own, own * e->period);
	EXPECT_BLOCKED(e, 0, own + 1, e->period + each);
	e->t->v.tdm_queue = 1;
	e->t->v.tdm_queue_wave = 60;
	reset_apart(e, far > same ? far : same);
	for (unsigned i = 0; i < 2; i++)
		only(edge_memory(e, OPC_TDM_STORE, bytes), 0); /* one in work, one in the queue */
	edge_imm(e, OPC_SLEEP, 1);
	only(edge_memory(e, OPC_TDM_STORE, bytes), same);
	only(edge_memory(e, OPC_TDM_STORE, bytes), far);
	e->t->v.sleep_unit = 4 * e->period;
	edge_run(e);
	EXPECT_BLOCKED(e, same, 1, e->period + each);
	EXPECT_AT(e, far, 1,
		  edge_issue(e, far, 0)->clk + 4 * e->period); /* the other pair's engine */
	e->t->v.tdm_engines = 1;			       /* one engine for both pairs */
	edge_run(e);
	assert_true(edge_issue(e, far, 1)->clk >= e->period + each);
}

#define EDGE(name)                            \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		edge_everywhere(edge_##name); \
	}
/* clang-format off */
#define EDGES(X) \
	X(lds_latency) X(lds_array) X(lds_queue) X(lds_pairs) X(lds_partitions) \
	X(lds_port) X(lds_permute) X(lds_write) X(lds_conflict) X(lds_unaligned) X(counter_max) \
	X(wait_value) X(in_order) X(smem) X(load) X(cold_window) X(vmem_rate) \
	X(vmem_share) X(vmem_queue) X(inflight) X(store) X(landing) X(tdm) \
	X(tdm_pieces) X(tdm_queues)
/* clang-format on */
EDGES(EDGE)

int main(void)
{
#define ROW(name) cmocka_unit_test(test_##name),
	const struct CMUnitTest tests[] = {EDGES(ROW)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
