/* Each rule of docs/model.md at its edge: barriers of every kind, and workgroups beside each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../edge.h"

#define LATE 100 /* clk that the late waves sleep */

static unsigned release_of(struct edge *e)
{
	unsigned release = edge_value(e->base->v.barrier_release, 2 * e->period + 1);
	e->t->v.barrier_release = release;
	return release;
}

static void sleep_for(struct edge *e, unsigned groups)
{
	e->t->v.sleep_unit = LATE;
	edge_imm(e, OPC_SLEEP, 1)->groups = (uint8_t)groups;
}

/* All waves wait for the last arrival, plus the release. */
static void edge_barrier_release(struct edge *e)
{
	unsigned simds = (unsigned)e->t->v.simds, n = 2 * simds, release = release_of(e);
	edge_reset(e, n, 2);
	sleep_for(e, 2);
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);
	edge_imm(e, OPC_NOP, 0);
	edge_run(e);
	uint64_t last = 0;
	for (unsigned w = simds; w < n; w++) {
		EXPECT_AT(e, w, 1, LATE + edge_visit(e, w, 0));
		if (edge_issue(e, w, 1)->clk > last)
			last = edge_issue(e, w, 1)->clk;
	}
	for (unsigned w = 0; w < n; w++)
		EXPECT_BLOCKED(e, w, w < simds ? 1 : 2, last + release);
}

/* With a release of 0 waves looked at after the last arrival go in the same clk, the others next
 * time. */
static void edge_barrier_at_once(struct edge *e)
{
	unsigned simds = (unsigned)e->t->v.simds;
	e->t->v.barrier_release = 0;
	e->t->v.sleep_unit = 1;
	for (unsigned late = 0; late < 2; late++) { /* the older or the younger waves are late */
		edge_reset(e, 2 * simds, 2);
		edge_imm(e, OPC_SLEEP, LATE)->groups = late ? 2 : 1;
		edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);
		edge_imm(e, OPC_NOP, 0);
		edge_run(e);
		unsigned last = late ? 2 * simds - 1 : simds - 1;
		uint64_t t = edge_issue(e, last, 1)->clk;
		EXPECT_AT(e, last, 2, t + 1);
		unsigned peer = late ? simds - 1 : 2 * simds - 1; /* the other wave of that SIMD */
		EXPECT_AT(e, peer, 1, late ? t + 1 : t);
	}
}

/* A wave may stand at any barrier instruction: group B runs one stage behind A. */
static void edge_gap(struct edge *e)
{
	unsigned simds = (unsigned)e->t->v.simds, release = release_of(e);
	edge_reset(e, 2 * simds, 2);
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0)->groups = 2; /* 0: B alone */
	edge_imm(e, OPC_NOP, 0);				    /* 1 */
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);		    /* 2 */
	edge_imm(e, OPC_NOP, 0);				    /* 3 */
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);		    /* 4 */
	edge_loop(e, 1, 3);					    /* 5 */
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0)->groups = 1; /* 6: A alone */
	edge_run(e);
	uint64_t clk[2][8] = {{0}};
	for (unsigned g = 0; g < 2; g++) { /* the last arrival of each group at its k-th barrier */
		for (unsigned w = g * simds; w < (g + 1) * simds; w++) {
			unsigned k = 0;
			for (size_t i = 0; i < e->res.n; i++)
				if (e->res.issues[i].wave == w &&
				    e->insns[e->res.issues[i].insn].cls == OPC_BARRIER) {
					uint64_t t = e->res.issues[i].clk;
					clk[g][k] = t > clk[g][k] ? t : clk[g][k];
					k++;
				}
			assert_int_equal(k, 7);
		}
	}
	/* A's stage begins with B's arrival one barrier earlier in the code */
	EXPECT_BLOCKED(e, 0, 2, clk[0][0] + release);
	EXPECT_BLOCKED(e, simds, 1, clk[0][0] + release);
	assert_int_equal(edge_issue(e, 0, 2)->insn, 3);
	assert_int_equal(edge_issue(e, simds, 1)->insn, 1);
	uint64_t second = clk[0][1] > clk[1][1] ? clk[0][1] : clk[1][1];
	EXPECT_BLOCKED(e, simds, 3, second + release);
}

/* END counts as leaving. */
static void edge_barrier_end(struct edge *e)
{
	unsigned simds = (unsigned)e->t->v.simds, release = release_of(e);
	edge_reset(e, 2 * simds, 2);
	sleep_for(e, 2);
	edge_add(e, OPC_END)->groups = 2;
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);
	edge_imm(e, OPC_NOP, 0);
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0); /* the others are gone: A alone */
	edge_run(e);
	uint64_t end = e->res.wave_end[2 * simds - 1];
	for (unsigned w = simds; w < 2 * simds; w++)
		end = e->res.wave_end[w] > end ? e->res.wave_end[w] : end;
	for (unsigned w = 0; w < simds; w++)
		EXPECT_BLOCKED(e, w, 1, end + release);
}

/* The barrier's own hold stands when it is longer than the release. */
static void edge_barrier_hold(struct edge *e)
{
	unsigned release = release_of(e), hold = release + 2 * e->period;
	e->t->classes[OPC_BARRIER].hold_clk = hold;
	edge_reset(e, 1, 1);
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);
	edge_imm(e, OPC_NOP, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, hold);
}

/* Two workgroups on the CU: neither waits for the other at a barrier, but they share the SIMDs. */
static void edge_workgroups(struct edge *e)
{
	unsigned simds = (unsigned)e->t->v.simds, release = release_of(e);
	edge_reset(e, simds, 1);
	edge_add(e, OPC_VALU);
	edge_barrier(e, OPC_BARRIER, BAR_WORKGROUP, 0);
	edge_imm(e, OPC_NOP, 0);
	e->cfg.resident = 2;
	edge_run(e);
	e->cfg.resident = 1;
	uint64_t last[2] = {0, 0};
	for (unsigned w = 0; w < 2 * simds; w++) {
		EXPECT_AT(e, w, 0, edge_visit(e, w, 0) + (w >= simds ? 1 : 0));
		uint64_t t = edge_issue(e, w, 1)->clk, *l = &last[w / simds];
		*l = t > *l ? t : *l;
	}
	assert_true(last[1] > last[0]);
	for (unsigned w = 0; w < 2 * simds; w++)
		EXPECT_BLOCKED(e, w, 2, last[w / simds] + release);
}

/* Signal and wait apart: work in between is free. */
static void edge_split(struct edge *e)
{
	unsigned release = release_of(e), simds = (unsigned)e->t->v.simds;
	edge_reset(e, 2 * simds, 2);
	sleep_for(e, 2);
	edge_barrier(e, OPC_SIGNAL, BAR_WORKGROUP, 0);
	edge_add(e, OPC_SALU);
	edge_barrier(e, OPC_AWAIT, BAR_WORKGROUP, 0);
	edge_run(e);
	uint64_t last = 0;
	for (unsigned w = simds; w < 2 * simds; w++)
		last = edge_issue(e, w, 1)->clk > last ? edge_issue(e, w, 1)->clk : last;
	EXPECT_AT(e, 0, 1, 1);
	for (unsigned w = 0; w < simds; w++)
		EXPECT_BLOCKED(e, w, 2, last + release);
	EXPECT_BLOCKED(e, simds, 3, last + release);
}

/* Phases are counted: a second wait needs a second phase, a wave that waited less passes at once.
 */
static void edge_split_phases(struct edge *e)
{
	unsigned release = release_of(e), simds = (unsigned)e->t->v.simds;
	edge_reset(e, 2 * simds, 2);
	edge_barrier(e, OPC_SIGNAL, 3, 1)->groups = 1;
	edge_barrier(e, OPC_AWAIT, 3, 0)->groups = 2;
	sleep_for(e, 1);
	edge_barrier(e, OPC_SIGNAL, 4, 0); /* all live waves, both groups */
	edge_barrier(e, OPC_AWAIT, 4, 0);
	edge_barrier(e, OPC_AWAIT, 3, 0)->groups = 1; /* long complete */
	edge_run(e);
	EXPECT_BLOCKED(e, simds, 0, edge_issue(e, 0, 0)->clk + release);
	uint64_t last = 0;
	for (unsigned w = 0; w < simds; w++)
		last = edge_issue(e, w, 2)->clk > last ? edge_issue(e, w, 2)->clk : last;
	EXPECT_BLOCKED(e, 0, 3, last + release);
	EXPECT_AT(e, 0, 4, edge_issue(e, 0, 3)->clk + 1);
}

/* A named barrier of so many members; its count starts anew. */
static void edge_named(struct edge *e)
{
	unsigned release = release_of(e), simds = (unsigned)e->t->v.simds;
	edge_reset(e, 2 * simds, 2);
	for (unsigned i = 0; i < 2; i++) {
		e->t->v.sleep_unit = LATE;
		edge_imm(e, OPC_SLEEP, 1)->groups = 1;
		edge_barrier(e, OPC_SIGNAL, 5, simds)->groups = 1;
		edge_barrier(e, OPC_AWAIT, 5, 0)->groups = 2;
	}
	edge_run(e);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t last = 0;
		for (unsigned w = 0; w < simds; w++) {
			uint64_t t = edge_issue(e, w, 2 * i + 1)->clk;
			last = t > last ? t : last;
		}
		for (unsigned w = simds; w < 2 * simds; w++)
			EXPECT_BLOCKED(e, w, i, last + release);
	}
}

/* With all live waves as members, an END lets the rest go. */
static void edge_split_end(struct edge *e)
{
	unsigned release = release_of(e), simds = (unsigned)e->t->v.simds;
	edge_reset(e, 2 * simds, 2);
	sleep_for(e, 2);
	edge_add(e, OPC_END)->groups = 2;
	edge_barrier(e, OPC_SIGNAL, BAR_WORKGROUP, 0);
	edge_barrier(e, OPC_AWAIT, BAR_WORKGROUP, 0);
	edge_run(e);
	uint64_t end = 0;
	for (unsigned w = simds; w < 2 * simds; w++)
		end = e->res.wave_end[w] > end ? e->res.wave_end[w] : end;
	for (unsigned w = 0; w < simds; w++)
		EXPECT_BLOCKED(e, w, 1, end + release);
}

static void edge_cluster(struct edge *e)
{
	unsigned release = edge_value(e->base->v.barrier_cluster, 2 * e->period + 3);
	e->t->v.barrier_cluster = release;
	e->t->v.barrier_release = 1;
	edge_reset(e, 1, 1);
	edge_barrier(e, OPC_SIGNAL, BAR_CLUSTER, 0);
	edge_barrier(e, OPC_AWAIT, BAR_CLUSTER, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, release);
	edge_reset(e, 2, 2);
	sleep_for(e, 2);
	edge_barrier(e, OPC_SIGNAL, BAR_CLUSTER, 2);
	edge_barrier(e, OPC_AWAIT, BAR_CLUSTER, 0);
	edge_run(e);
	EXPECT_BLOCKED(e, 0, 1, edge_issue(e, 1, 1)->clk + release);
}

static void edge_null(struct edge *e)
{
	edge_reset(e, 1, 1);
	edge_barrier(e, OPC_AWAIT, BAR_NULL, 0);
	edge_barrier(e, OPC_SIGNAL, BAR_NULL, 0);
	edge_barrier(e, OPC_AWAIT, BAR_NULL, 0);
	edge_run(e);
	EXPECT_AT(e, 0, 0, 0);
	EXPECT_AT(e, 0, 2, edge_issue(e, 0, 1)->clk + 1);
}

/* A wave that nobody releases: both engines say so. */
static void edge_deadlock(struct edge *e)
{
	struct ref_result r;
	edge_reset(e, 2, 2);
	edge_barrier(e, OPC_SIGNAL, 7, 3)->groups = 1;
	edge_barrier(e, OPC_AWAIT, 7, 0)->groups = 2;
	edge_add(e, OPC_END);
	assert_false(e->run(&e->p, &e->cfg, &r));
	assert_int_equal(r.n, 2); /* wave 0 signalled and ended */
	ref_result_free(&r);
}

#define EDGE(name)                            \
	static void test_##name(void **state) \
	{                                     \
		(void)state;                  \
		edge_everywhere(edge_##name); \
	}
/* clang-format off */
#define EDGES(X) \
	X(barrier_release) X(barrier_at_once) X(gap) X(barrier_end) X(barrier_hold) \
	X(workgroups) X(split) X(split_phases) X(named) X(split_end) X(cluster) \
	X(null) X(deadlock)
/* clang-format on */
EDGES(EDGE)

int main(void)
{
#define ROW(name) cmocka_unit_test(test_##name),
	const struct CMUnitTest tests[] = {EDGES(ROW)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
