/* Private to engine*.c and period.c: the machine's state as plain structures. */
#ifndef WPSIM_ENGINE_INTERNAL_H
#define WPSIM_ENGINE_INTERNAL_H

#include "engine.h"

#define NEVER UINT64_MAX /* a clock that is not known yet */
#define STALL_RING 64u   /* stalls remembered for each wave */
#define MATRIX_RING 8u   /* matrix ops remembered for each SIMD: more than matrix.ahead allows */
#define MAX_SIMDS 8u
#define MAX_COPIERS 8u
#define MAX_STAGES 4104u /* the 4096 of a schedule and the unnamed ones */
#define MAX_LOOPS 4096u
#define MAX_VISITS ((uint64_t)1 << 28) /* stepped in one run: some ten seconds */
#define MAX_UNORDERED 255u /* outstanding operations of a counter without order */
#define NAMED_COUNT 19u /* cluster, workgroup, 0, ids 1 to 16 */
#define NAMED_INDEX(id) ((unsigned)((id) == BAR_CLUSTER ? 17 : (id) == BAR_WORKGROUP ? 18 : (id)))

enum unit { UN_NONE, UN_VALU, UN_PACKED, UN_MATRIX, UN_SALU, UN_LDS, UN_VMEM, UN_TDM, UN_COUNT };

#define OP_ATOMS 8u /* atoms of an op that are kept in it */

enum op_flag {
	OP_HOLDS = 1 << 0,      /* matrix op that holds its wave */
	OP_LOOP_FIRST = 1 << 1, /* first instruction of the group's main loop */
	OP_MAIN_EDGE = 1 << 2,  /* BRANCH of the group's main loop */
	OP_OTHER_EDGE = 1 << 3, /* BRANCH of another loop, long enough to be worth skipping */
	OP_WRITER = 1 << 4,     /* writes registers that a matrix op reads as C */
	OP_SENT = 1 << 6,       /* issues when what its wave put in the LDS queue has been served */
	OP_RESULT = 1 << 5,     /* not a matrix op, and somebody looks at its destinations */
};

/* A span of registers is a range of atoms: registers that every span names together or not at all. */
struct range {
	uint16_t first, end;
	uint32_t key; /* register span: first << 16 | n */
};

/* One instruction as the loop wants it. Each group has its own list. */
struct op {
	uint8_t cls, slot, unit, flags; /* slot: bit, 0 for INTERNAL */
	uint8_t nneed, nc, ndst, nwait;
	int8_t ctr; /* dense index, -1: none */
	uint8_t named, imm;
	bool special; /* its head looks at counters, phases or the wave's own copies */
	uint16_t repeat, members;
	uint32_t acc;    /* of its stage: stage * ACC_COUNT */
	uint32_t ranges; /* in engine.ranges: what must be ready, then C spans, then destinations */
	uint32_t stage, line, hold, busy, latency, insn;
	/* The usual case of few atoms, without the ranges. natoms > OP_ATOMS: see the ranges. */
	uint16_t atom[OP_ATOMS], c_atom, dst_atom;
	uint8_t natoms;
	bool c_single, dst_single;
	uint32_t c_key, dst_key;
	union {
		struct {
			uint32_t occupancy, ready, chain, prefix, block;
		} matrix;
		struct {
			uint32_t port, array, conflict; /* conflict: beyond conflict-free */
		} lds;
		struct {
			uint32_t addr;
			uint64_t data, latency, land;
		} vmem;
		struct {
			uint64_t busy, pieces;
		} tdm;
		struct {
			uint32_t target, loop;
		} branch;
	} u;
	struct { /* nwait counters; those of a class other than WAIT hold the instruction itself */
		int8_t ctr[4];
		uint8_t value[4], why[4];
	} wait;
	uint32_t bytes;
	uint64_t part_base;        /* byte address before the wave's own part */
	const uint32_t *wave_base; /* NULL: none */
	bool placed;               /* names an LDS access */
	bool through;              /* vector memory op that passes the LDS queue */
};

struct ctr {
	uint64_t *val; /* in order: [nres) reported, then own completions; else one slot an operation */
	uint64_t last; /* reported of the newest resolved one */
	uint32_t n, nres, mask, max;
	bool in_order;
};

/* A time that a wave did not issue. What no stall covers was spent issuing. */
struct idle {
	uint64_t end;
	uint32_t clk;     /* UINT32_MAX: from the beginning */
	uint8_t why, who; /* who: last to arrive, for barriers */
};

struct wave {
	uint64_t dep;  /* earliest issue by the wave's own rules; NEVER while that is not known */
	uint64_t free; /* NEVER while held by something without a known end */
	uint64_t pos;  /* accounted up to here */
	const struct op *op;
	uint64_t *ready, *chain; /* by atom */
	uint32_t *writer;        /* by atom: key of the matrix op's span that wrote it last, 0: another op */
	uint64_t *acc;           /* [stage][ACC_COUNT] */
	struct ctr *ctr;
	uint64_t unit_free[UN_COUNT]; /* hold_unit: its next op of that unit */
	uint64_t turn;  /* number of its last issue on its SIMD */
	uint64_t split; /* barrier: last arrival */
	uint64_t hold_end; /* barrier: the wave's own hold */
	uint64_t arrival;  /* barrier: its own */
	uint64_t sent;     /* its newest op in the LDS queue was served */
	uint32_t queued;   /* its ops in the LDS queue without service so far */
	const struct op *barrier_op; /* where it stands, when at_barrier */
	uint32_t rep;   /* issues of the head so far */
	uint32_t last_stage;
	uint8_t free_why, dep_why, blame, prio, simd, pair, id, wg, local, group;
	bool ended, at_barrier, column;
	const struct op *ops; /* of its group */
	uint64_t *rem, *exits; /* by loop */
	uint64_t end_clk;
	uint64_t waited[NAMED_COUNT];
	uint64_t tight[NAMED_COUNT]; /* clk at which it last met a phase that was not over */
	uint64_t *copy_start; /* ring of tensor copies */
	uint32_t ncopies;
	uint32_t nstall;
	struct idle stall[STALL_RING];
};

struct simd {
	uint64_t at[UN_COUNT]; /* when each unit takes the next op; reading of matrix operands left out */
	uint64_t valu_free, unit_free, salu_free;
	uint64_t packed_bar; /* end of the last packed op + packed.before-matrix */
	uint64_t block_end;  /* latest end of any operand reading */
	uint64_t old_end;    /* the same over ops that left the ring */
	uint64_t reads_first; /* ops before it have read their operands */
	uint64_t start[MATRIX_RING], reads_end[MATRIX_RING];
	uint64_t nmatrix;
	uint64_t phase;
	uint64_t *busy, *lost; /* accumulators: 1, ST_COUNT */
	uint64_t gap_begin, gap_end; /* newest gap in front of a matrix op, for edges inside it */
	uint8_t gap_why;
	struct wave *order[PROG_MAX_WAVES];
	unsigned n;
	uint8_t pair;
	bool reorder;
	uint64_t turns; /* issues so far */
};

struct lds_entry {
	uint64_t arrive, end, at_least, free;
	const struct op *op;
	uint64_t event;
	uint32_t idx, part;
	uint8_t wave;
};

struct pair {
	struct lds_entry *q;
	uint32_t n, served, mask;
	uint64_t port_free, next; /* next service */
	uint8_t simd[MAX_SIMDS];
	unsigned nsimds;
};

struct landing {
	uint64_t due, base, seq;
	const struct op *op;
	uint64_t done; /* bytes landed */
	uint32_t idx, part;
	uint8_t wave;
};

struct landing_queue { /* in order of due time */
	struct landing *q;
	uint32_t head, n, mask;
};

struct inflight {
	uint64_t bytes, ret;
};

struct vmem {
	uint64_t addr_free, ret_free, store_free, bytes;
	uint64_t *start; /* ring of address stages */
	uint32_t n, mask;
	struct inflight *q;
	uint32_t head, nq, qmask;
};

struct copier { /* tensor copy engine */
	uint64_t free;
	uint64_t *start;
	uint32_t n, mask;
};

struct named {
	uint64_t phases, first; /* completions of [first, phases) are kept */
	uint64_t *due;
	uint32_t mask, arrivals;
	uint32_t blame_stage;
	uint8_t blame;
	bool whole; /* arrivals were made with members 0 */
};

struct workgroup {
	unsigned live, arrived;
	uint64_t recovered; /* clk from which its plain barrier can be released again */
	struct named named[NAMED_COUNT];
};

enum acc_field {
	ACC_INSNS = ST_COUNT,
	ACC_MATRIX,
	ACC_LDS,
	ACC_CONFLICT,
	ACC_VMEM,
	ACC_COUNT
};

struct recorder { /* of SIMD 0, in [begin, end) */
	struct stats *out;
	size_t capseg, capbusy;
	uint64_t begin, end;
	bool full;
};

struct period;
struct strict;

struct engine {
	const struct program *p;
	const struct target *t;
	const struct engine_config *cfg;
	struct diag *d;

	/* fixed after preparation */
	/* The instructions as one stream executes them: one stream a group, or one a wave of the workgroup when
	 * some instruction is for single waves only. */
	bool stream_per_wave;
	struct op *ops[PROG_MAX_WAVES];
	uint32_t nops[PROG_MAX_WAVES];
	uint32_t awaits[PROG_MAX_GROUPS]; /* bit: some AWAIT of the group names it */
	struct range *ranges;
	size_t nranges, capranges;
	size_t natoms;
	unsigned nwaves, nsimds, npairs, nparts, ncopiers, nctr, nstages, nwgs;
	unsigned issue_width; /* of one visit, 0: one of each slot */
	unsigned issue_order; /* of waves of one priority: 0 by age, 1 longest without issue first, 2 last issuer, then youngest */
	bool hold_unit;       /* hold is for the same unit only */
	bool through_lds;     /* vector memory ops pass the LDS queue and array */
	unsigned barrier_recover, barrier_blocked, barrier_patience;
	uint64_t copy_extra;
	bool write_free;      /* an LDS write does not hold its wave */
	unsigned issue_period, period_mask; /* mask: period - 1 when a power of two, else ~0 */
	unsigned ahead, lds_queue, vmem_queue, copy_queue, copy_queue_wave;
	unsigned packed_before, packed_after, nop_unit, sleep_unit, barrier_release, barrier_cluster;
	uint64_t icache_miss, smem, store_ack, l2, hbm, cold, cold_window, lds_latency, conflict_latency;
	uint64_t copy_delay, inflight_max, part_bytes;
	double dma_write, copy_rate;
	unsigned icache_ahead;
	size_t nlines;
	uint64_t max_clk;

	/* state */
	uint64_t now;
	int cur_simd; /* being visited; -1 before the issue phase of a clk */
	uint64_t next[MAX_SIMDS];
	uint64_t event_next, lds_next, land_next;
	struct wave *waves;
	struct simd simds[MAX_SIMDS];
	struct pair pairs[MAX_SIMDS];
	uint64_t *array_free;
	struct vmem vmem;
	struct copier copiers[MAX_COPIERS];
	struct landing_queue landings[1 + MAX_COPIERS]; /* vector memory, copiers */
	uint64_t seq;
	struct workgroup wgs[PROG_MAX_WAVES];
	uint64_t *line_present, icache_last, icache_requests;
	unsigned live;

	/* accumulators in one block */
	uint64_t *acc, *late; /* late: [stage * groups + group] */
	size_t nacc;

	/* loop edges */
	int main_wave;            /* gives the edges of the steady state, -1: no main loop */
	const struct op *edge;    /* set by a taken BRANCH */
	unsigned edge_wave;
	uint64_t loop_begin, loop_end;
	struct period *period;
	uint64_t skipped_insns;

	/* tracing */
	struct recorder *rec;
	struct strict *strict; /* NULL: not asked for */
	bool failed;           /* a finding that ends the run */
	struct engine_event *ev;
	uint64_t ev_head, ev_n;
	uint64_t ev_mask;
	bool *ev_known;
	struct arena *arena;
};

#define ENGINE_CHECK(cond, what) \
	do { \
		if (!(cond)) \
			engine_fail(__FILE__, __LINE__, what); \
	} while (0)
_Noreturn void engine_fail(const char *file, int line, const char *what);

/* engine_prepare.c: -1 after a finding */
int engine_prepare(struct engine *e);
void engine_release(struct engine *e);

/* engine_units.c */
void eval_counters(struct engine *e, struct wave *w, const struct op *op);
void wave_enter(struct engine *e, struct wave *w, uint64_t clk);
void wave_reconsider(struct engine *e, struct wave *w);
void units_refresh(struct engine *e);
void simd_sort(struct engine *e, unsigned s);
void ctr_raise(struct engine *e, struct wave *w, int c, uint64_t done, uint32_t *idx);
uint64_t ctr_wait(const struct engine *e, const struct ctr *c, uint32_t value);
uint64_t lds_issue(struct engine *e, struct wave *w, const struct op *op, uint64_t t);
uint64_t vmem_issue(struct engine *e, struct wave *w, const struct op *op, uint64_t t);
uint64_t copy_issue(struct engine *e, struct wave *w, const struct op *op, uint64_t t);
void engine_event_step(struct engine *e);
void engine_events_find(struct engine *e);

/* engine_barrier.c */
void barrier_arrive(struct engine *e, struct wave *w, uint64_t t);
void barrier_signal(struct engine *e, struct wave *w, const struct op *op, uint64_t t);
void barrier_leave(struct engine *e, struct wave *w, uint64_t t);
uint64_t barrier_phase(const struct engine *e, const struct wave *w, const struct op *op);
void engine_report_deadlock(struct engine *e);

/* engine_strict.c */
struct strict *strict_new(const struct engine *e);
int strict_issue(const struct engine *e, struct strict *s, const struct wave *w, const struct op *op);

/* engine_account.c */
void account_gap(struct engine *e, struct wave *w, uint64_t t, uint64_t unit);
uint8_t account_dominant(const struct wave *w, uint32_t before);
void account_lost(struct engine *e, struct simd *s, struct wave *w, uint64_t begin, uint64_t end,
		  uint64_t issue);
/* Copy the accumulators to out with everything up to now, and nothing beyond, accounted. */
void account_snapshot(const struct engine *e, uint64_t now, uint64_t *out);
void account_finish(struct engine *e, struct stats *out);
void record_segment(struct engine *e, const struct wave *w, uint64_t begin, uint64_t end,
		    uint32_t stage, enum stall what);
void record_busy(struct engine *e, uint64_t begin, uint64_t end, uint8_t wave, uint32_t stage);
void record_flush(struct engine *e, uint64_t end);

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* First visit of the SIMD at or after t. */
static inline uint64_t visit_round(const struct engine *e, const struct simd *s, uint64_t t)
{
	uint64_t past;

	if (e->period_mask != ~0u)
		return t + ((s->phase - t) & e->period_mask);
	past = (t + e->issue_period - s->phase) % e->issue_period;
	return past ? t + e->issue_period - past : t;
}

/* First clk of SIMD s that is still ahead in the order of visits. */
static inline uint64_t visit_floor(const struct engine *e, unsigned s)
{
	return e->now + ((int)s <= e->cur_simd);
}

/* After a vector op: when the SIMD takes the next one of each kind. */
static inline void vector_refresh(const struct engine *e, struct simd *s)
{
	uint64_t accepts = e->ahead ? s->start[(s->nmatrix - e->ahead) & (MATRIX_RING - 1)]
				    : s->unit_free;

	s->at[UN_VALU] = s->valu_free;
	s->at[UN_MATRIX] = max_u64(s->valu_free, accepts);
	s->at[UN_PACKED] = s->nmatrix ? max_u64(s->valu_free, s->unit_free + e->packed_after)
				      : s->valu_free;
}

/* First clk from t on, not before now, at which b clk of vector work meet no reading of operands. */
static inline uint64_t reads_pass(const struct simd *s, uint64_t t, uint32_t b)
{
	if (s->block_end <= t || b == 0)
		return t;
	t = max_u64(t, s->old_end);
	for (uint64_t i = s->reads_first; i < s->nmatrix;) {
		uint64_t begin = s->start[i & (MATRIX_RING - 1)], end = s->reads_end[i & (MATRIX_RING - 1)];

		if (begin < t + b && end > t && begin < end) {
			t = end;
			i = s->reads_first;
		} else {
			i++;
		}
	}
	return t;
}

#endif
