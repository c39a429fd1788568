/* State of the reference engine, shared by its two sources. */
#ifndef WPSIM_REF_INTERNAL_H
#define WPSIM_REF_INTERNAL_H

#include <math.h>
#include <string.h>

#include "ref_engine.h"

#define NEVER UINT64_MAX
#define MAX_LOOPS 64
#define ID_COUNT 24 /* barrier ids -4..19 */

struct op { /* an issue that something later looks at */
	const struct insn *in;
	unsigned wave;
	uint64_t issue, arrive;
	uint64_t start; /* LDS service, address stage or copy engine; NEVER until known */
	uint64_t end;	/* LDS: end of service; loads: ret_free */
	uint64_t back;	/* vector memory past the LDS queue: ret_free */
	uint64_t done;	/* own completion; NEVER until known */
	size_t record;
};

struct list { /* indices into ref.ops, in order of issue */
	size_t *v;
	size_t n, cap;
};

struct landing {
	uint64_t due, bytes;
	size_t op;
	bool last;
};

struct reg {
	uint64_t ready;
	uint64_t writer; /* number of the issue that wrote it last, 0: none */
	uint64_t start;	 /* of that issue when it is a matrix op */
	const struct insn *in;
};

struct wave {
	unsigned wg, local, group, simd;
	bool ended, at_barrier;
	unsigned priority;
	uint32_t pc;
	unsigned repeated; /* issues of the head so far */
	uint64_t free;
	uint64_t next_of[OPC_COUNT]; /* its next op of a class, where holds are of units */
	uint64_t turn; /* number of its last issue on its SIMD */
	uint64_t arrival; /* at the barrier where it stands */
	uint64_t trips[MAX_LOOPS];
	uint64_t waited[ID_COUNT];
	struct list outstanding[CTR_COUNT];
	struct list tdm;
	struct reg regs[REG_COUNT];
};

struct read_interval {
	uint64_t begin, end;
};

struct simd {
	uint64_t valu_free, salu_free, unit_free, packed_end;
	uint64_t turns; /* issues so far */
	bool any_packed;
	uint64_t *starts; /* of every matrix op */
	size_t nstarts, capstarts;
	struct read_interval *reads;
	size_t nreads, capreads;
};

struct barrier {
	uint64_t arrivals;
	bool whole;	  /* the last signal asked for all live waves */
	uint64_t *phases; /* completion times */
	size_t n, cap;
};

struct ref {
	const struct program *p;
	const struct target *t;
	const struct engine_config *cfg;
	struct ref_result *out;
	uint64_t *address; /* of each instruction */
	uint64_t *line;	   /* clk from which each code line is present */
	unsigned nwaves, nsimds, npairs;
	struct wave *waves;
	struct simd simd[8];
	struct list lds[8]; /* per pair: issued, service not ended */
	uint64_t recovered[PROG_MAX_WAVES]; /* per workgroup: its barrier can be released again */
	uint64_t port_free[8];
	uint64_t array_free[16];
	struct op *ops;
	size_t nops, capops;
	struct landing *landings;
	size_t nlandings, caplandings;
	struct list vmem_queue, vmem_flight;
	uint64_t addr_free, ret_free, store_free;
	struct list tdm_queue[8];
	uint64_t engine_free[8];
	struct barrier barriers[PROG_MAX_WAVES][ID_COUNT];
	uint64_t serial;
};

/* Small arithmetic */

static inline uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t whole(double v)
{
	return (uint64_t)v;
}

static inline uint64_t ns_clk(const struct ref *r, double ns)
{
	return (uint64_t)floor(ns * r->cfg->clock_mhz / 1000 + 0.5);
}

static inline uint64_t at_rate(uint64_t bytes, double rate)
{
	return (uint64_t)ceil((double)bytes / rate);
}

static inline void list_add(struct list *l, size_t op)
{
	l->v = xgrow(l->v, l->n, &l->cap, sizeof(*l->v));
	l->v[l->n++] = op;
}

static inline void list_remove(struct list *l, size_t i)
{
	memmove(l->v + i, l->v + i + 1, (l->n - i - 1) * sizeof(*l->v));
	l->n--;
}

static inline unsigned pair_of(const struct ref *r, const struct wave *w)
{
	return r->t->pair_of_simd[w->simd];
}

static inline unsigned engine_of(const struct ref *r, const struct wave *w)
{
	return pair_of(r, w) % (unsigned)whole(r->t->v.tdm_engines);
}

static inline unsigned partition_of(const struct ref *r, const struct insn *in,
				    const struct wave *w)
{
	if (in->access < 0 || r->p->access[in->access].buffer < 0)
		return 0;
	const struct access *a = &r->p->access[in->access];
	const struct buffer *b = &r->p->buffers[a->buffer];
	uint64_t at = b->base + (uint64_t)(a->slot > 0 ? a->slot : 0) * b->slot_bytes;
	if (a->wave_base)
		at += a->wave_base[w->local];
	if (a->lane && a->nlanes)
		at += a->lane[0];
	uint64_t parts = whole(r->t->v.lds_partitions);
	uint64_t part = at / (whole(r->t->v.lds_bytes) / parts);
	return (unsigned)(part < parts ? part : parts - 1);
}

/* Every condition of model.md that lets the wave issue its head at t. */
bool ref_head_ready(struct ref *r, struct wave *w, uint64_t t);
/* Time that a vector op takes, with the straddle. */
uint64_t ref_vector_clk(const struct ref *r, const struct insn *in);

#endif
