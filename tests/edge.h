/*
 * Bench for the tests of single timing rules: a quiet machine on which every rule but the tested
 * one is out of the way, a tiny program, and the clk of each issue. Every test runs on both
 * engines, on every machine, visited in its own period and once a clk.
 */
#ifndef WPSIM_EDGE_H
#define WPSIM_EDGE_H

#include "engine.h"
#include "minitarget.h"
#include "ref_engine.h"

#define EDGE_MAX_INSNS 256

struct edge {
	const char *machine, *engine; /* for messages */
	struct minitarget *m;
	struct target *t;	   /* = &m->t; the tests change it */
	const struct target *base; /* the model's own values */
	bool (*run)(const struct program *p, const struct engine_config *cfg,
		    struct ref_result *out);
	struct program p;
	struct engine_config cfg;
	struct insn insns[EDGE_MAX_INSNS];
	struct loop loops[4];
	struct stage stage;
	struct buffer buffer;
	struct access access[4]; /* access k lies in partition k */
	uint32_t lane[4][64], wave_base[PROG_MAX_WAVES];
	unsigned period;
	struct ref_result res;
};

typedef void edge_test(struct edge *e);

/* Run one test on every engine, machine and period. */
void edge_everywhere(edge_test *test);

/* Forget the program; the machine stays as changed. One workgroup of that many waves in so many
 * groups. */
void edge_reset(struct edge *e, unsigned waves, unsigned groups);

/* Add one instruction for all groups; the result may be changed. */
struct insn *edge_add(struct edge *e, enum opclass cls);
struct insn *edge_span(struct insn *in, enum span_role role, unsigned first, unsigned n);
struct insn *edge_vector(struct edge *e, enum opclass cls, unsigned dst,
			 unsigned src); /* v[dst] = f(v[src]) */
struct insn *edge_matrix(struct edge *e, unsigned d,
			 unsigned c); /* v[d:d+3] = a * b + v[c:c+3], the first row */
struct insn *edge_lds(struct edge *e, enum opclass cls, unsigned array_clk);
struct insn *edge_memory(struct edge *e, enum opclass cls, uint32_t bytes);
struct insn *edge_wait(struct edge *e, enum counter c, unsigned value);
struct insn *edge_imm(struct edge *e, enum opclass cls, unsigned imm);
struct insn *edge_barrier(struct edge *e, enum opclass cls, int id, unsigned members);
/* Close a loop that began at instruction begin. */
struct insn *edge_loop(struct edge *e, uint32_t begin, uint64_t trips);

/* Rows that the builders above use; the tests may change them. */
struct matrix_row *edge_matrix_row(struct edge *e);
struct lds_row *edge_lds_row(struct edge *e, enum opclass cls);
struct vmem_row *edge_vmem_row(struct edge *e, enum opclass cls);
/* Set the class's counter so that loads, stores, LDS and scalar ops count apart. */
enum counter edge_counter(const struct edge *e, enum opclass cls);

/* Append END and run to the end. */
void edge_run(struct edge *e);

/* The first clk from t on at which the SIMD of that wave is visited. */
uint64_t edge_visit(const struct edge *e, unsigned wave, uint64_t t);
/* clk and start of the k-th issue of a wave. */
const struct ref_issue *edge_issue(const struct edge *e, unsigned wave, unsigned k);

/* The k-th issue of the wave was blocked up to ready and came at the first visit from then on. */
#define EXPECT_BLOCKED(e, wave, k, ready) edge_expect(e, wave, k, ready, true, __FILE__, __LINE__)
/* It came at the first visit from ready on, blocked or not. */
#define EXPECT_AT(e, wave, k, ready) edge_expect(e, wave, k, ready, false, __FILE__, __LINE__)
#define EXPECT_START(e, wave, k, clk) edge_expect_start(e, wave, k, clk, __FILE__, __LINE__)
void edge_expect(const struct edge *e, unsigned wave, unsigned k, uint64_t ready, bool blocked,
		 const char *file, int line);
void edge_expect_start(const struct edge *e, unsigned wave, unsigned k, uint64_t clk,
		       const char *file, int line);

/* The model's own value, or lo when that is too small to be seen. */
unsigned edge_value(double own, unsigned lo);

#endif
