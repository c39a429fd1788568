/* The reference kernels against their published stage tables, and what lowering refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lower.h"
#include "spacing.h"

struct lowered {
	struct schedule *s;
	struct target *t;
	struct program *p;
	struct diag d;
};

static struct lowered lower_src(struct src *src)
{
	struct lowered l = { 0 };

	diag_init(&l.d);
	l.s = schedule_parse(src, &l.d);
	if (l.s)
		l.t = target_load(l.s->target_name, l.s->variant, l.s->target_loc, &l.d);
	if (l.t)
		l.p = lower(l.s, l.t, &l.d);
	return l;
}

static void lowered_free(struct lowered *l)
{
	program_free(l->p);
	target_free(l->t);
	schedule_free(l->s);
	diag_free(&l->d);
}

static struct lowered lower_kernel(const char *name)
{
	const char *top = getenv("top_srcdir");
	char *path = xasprintf("%s/kernels/%s/schedule.xml", top ? top : ".", name);
	struct diag d;
	struct src *src;
	struct lowered l;

	diag_init(&d);
	src = src_load(path, &d);
	diag_print(&d, stderr, false);
	assert_non_null(src);
	diag_free(&d);
	l = lower_src(src);
	diag_print(&l.d, stderr, false);
	assert_int_equal(l.d.errors, 0);
	assert_non_null(l.p);
	free(path);
	return l;
}

/* ---- counts of one wave, K-step by K-step ---- */

enum { MMA, READ, WRITE, LOAD, COPY, TDM, NCOLS };

static int column(enum opclass c)
{
	switch (c) {
	case OPC_MATRIX: return MMA;
	case OPC_LDS_READ: return READ;
	case OPC_LDS_WRITE: return WRITE;
	case OPC_VMEM_LOAD: return LOAD;
	case OPC_VMEM_LDS: return COPY;
	case OPC_TDM_LOAD: return TDM;
	default: return -1;
	}
}

/* In the main loop of the group, per occurrence of the stage. times: occurrences in one trip. */
static void count_stage(const struct program *p, unsigned g, const char *stage, unsigned times, unsigned out[NCOLS])
{
	const struct loop *l = &p->loops[p->main_loop[g]];

	memset(out, 0, NCOLS * sizeof(*out));
	for (uint32_t i = l->begin; i < l->end; i++) {
		const struct insn *in = &p->insns[i];
		int c = column(in->cls);

		if (c < 0 || !(in->groups >> g & 1) || strcmp(p->stages[in->stage].name, stage))
			continue;
		out[c] += in->repeat;
	}
	for (unsigned c = 0; c < NCOLS; c++) {
		assert_int_equal(out[c] % times, 0);
		out[c] /= times;
	}
}

static const struct {
	const char *kernel, *stage;
	unsigned times; /* per trip */
	unsigned n[NCOLS]; /* mma, read, write, load, copy, tdm (group A) */
} stages[] = {
	{ "mi300x-f16-8wave", "r0.mem", 1, { 0, 8, 0, 4, 0, 0 } },
	{ "mi300x-f16-8wave", "r1.tl", 1, { 32, 0, 0, 0, 0, 0 } },
	{ "mi300x-f16-8wave", "r2.mem", 1, { 0, 4, 0, 4, 0, 0 } },
	{ "mi300x-f16-8wave", "r3.tr", 1, { 32, 0, 0, 0, 0, 0 } },
	{ "mi300x-f16-8wave", "r4.mem", 1, { 0, 8, 4, 0, 0, 0 } },
	{ "mi300x-f16-8wave", "r5.bl", 1, { 32, 0, 0, 0, 0, 0 } },
	{ "mi300x-f16-8wave", "r6.mem", 1, { 0, 4, 4, 0, 0, 0 } },
	{ "mi300x-f16-8wave", "r7.br", 1, { 32, 0, 0, 0, 0, 0 } },

	{ "mi300x-f16-blockpingpong", "mem0", 1, { 0, 6, 0, 4, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "dot0", 1, { 16, 0, 0, 0, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "mem1", 1, { 0, 6, 0, 4, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "dot1", 1, { 16, 0, 0, 0, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "mem2", 1, { 0, 12, 0, 0, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "dot2", 1, { 16, 0, 0, 0, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "mem3", 1, { 0, 0, 8, 0, 0, 0 } },
	{ "mi300x-f16-blockpingpong", "dot3", 1, { 16, 0, 0, 0, 0, 0 } },

	{ "mi300x-f16-4wave", "region.c_tl", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave", "region.c_bl", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave", "region.c_tr", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave", "region.c_br", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave-burst", "region.c_tl", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave-burst", "region.c_br", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave-reads-woven", "region.c_tl", 1, { 64, 8, 4, 4, 0, 0 } },
	{ "mi300x-f16-4wave-reads-woven", "region.c_br", 1, { 64, 8, 4, 4, 0, 0 } },

	{ "mi355x-f16-8wave", "mfma.tl", 2, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-f16-8wave", "mem.1", 2, { 0, 8, 0, 0, 2, 0 } },
	{ "mi355x-f16-8wave", "mfma.bl", 2, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-f16-8wave", "mem.2", 2, { 0, 4, 0, 0, 2, 0 } },
	{ "mi355x-f16-8wave", "mfma.tr", 2, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-f16-8wave", "mem.3", 2, { 0, 4, 0, 0, 2, 0 } },
	{ "mi355x-f16-8wave", "mfma.br", 2, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-f16-8wave", "mem.4", 2, { 0, 8, 0, 0, 2, 0 } },

	{ "mi355x-f16-4wave", "region1.0", 1, { 64, 8, 0, 0, 12, 0 } },
	{ "mi355x-f16-4wave", "region2.0", 1, { 64, 24, 0, 0, 4, 0 } },
	{ "mi355x-f16-4wave", "region1.1", 1, { 64, 8, 0, 0, 12, 0 } },
	{ "mi355x-f16-4wave", "region2.1", 1, { 64, 24, 0, 0, 4, 0 } },

	{ "mi355x-fp8-8wave", "M0", 2, { 0, 12, 0, 0, 2, 0 } },
	{ "mi355x-fp8-8wave", "C0", 2, { 8, 0, 0, 0, 0, 0 } },
	{ "mi355x-fp8-8wave", "M1", 2, { 0, 4, 0, 0, 2, 0 } },
	{ "mi355x-fp8-8wave", "C1", 2, { 8, 0, 0, 0, 0, 0 } },
	{ "mi355x-fp8-8wave", "M2", 2, { 0, 8, 0, 0, 2, 0 } },
	{ "mi355x-fp8-8wave", "C2", 2, { 8, 0, 0, 0, 0, 0 } },
	{ "mi355x-fp8-8wave", "M3", 2, { 0, 0, 0, 0, 2, 0 } },
	{ "mi355x-fp8-8wave", "C3", 2, { 8, 0, 0, 0, 0, 0 } },

	{ "mi355x-fp8-4wave", "C1", 2, { 16, 8, 0, 0, 4, 0 } },
	{ "mi355x-fp8-4wave", "C2", 2, { 16, 8, 0, 0, 4, 0 } },
	{ "mi355x-fp8-4wave", "C3", 2, { 16, 8, 0, 0, 4, 0 } },
	{ "mi355x-fp8-4wave", "C4", 2, { 16, 8, 0, 0, 4, 0 } },

	/* the f16 skeleton, and scales: one read with each fragment, one copy in mem.1 and mem.2 */
	{ "mi355x-fp4-8wave", "mfma.tl", 6, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-fp4-8wave", "mem.1", 6, { 0, 9, 0, 0, 3, 0 } },
	{ "mi355x-fp4-8wave", "mem.2", 6, { 0, 5, 0, 0, 3, 0 } },
	{ "mi355x-fp4-8wave", "mem.3", 6, { 0, 5, 0, 0, 2, 0 } },
	{ "mi355x-fp4-8wave", "mem.4", 6, { 0, 9, 0, 0, 2, 0 } },
	{ "mi355x-fp4-8wave", "mfma.br", 6, { 16, 0, 0, 0, 0, 0 } },

	{ "mi450-bf16-8wave", "S0.read", 2, { 0, 48, 0, 0, 0, 2 } },
	{ "mi450-bf16-8wave", "S1.wmma", 2, { 64, 0, 0, 0, 0, 0 } },
	{ "mi450-bf16-8wave", "S2.read", 2, { 0, 48, 0, 0, 0, 0 } },
	{ "mi450-bf16-8wave", "S3.wmma", 2, { 64, 0, 0, 0, 0, 0 } },
	{ "mi450-mxfp8-8wave", "S1.wmma", 6, { 32, 0, 0, 0, 0, 0 } },
	{ "mi450-mxfp8-8wave", "S2.read", 6, { 0, 48, 0, 0, 0, 0 } },
	{ "mi450-mxfp8-8wave", "S3.wmma", 6, { 32, 0, 0, 0, 0, 0 } },
	{ "mi450-mxfp8-8wave", "S4.refill", 6, { 0, 0, 0, 0, 0, 4 } },
	{ "mi450-mxfp4-8wave", "S1.wmma", 4, { 32, 0, 0, 0, 0, 0 } },
	{ "mi450-mxfp4-8wave", "S2.read", 4, { 0, 48, 0, 0, 0, 0 } },
	{ "mi450-mxfp4-8wave", "S3.wmma", 4, { 32, 0, 0, 0, 0, 0 } },
	{ "mi450-mxfp4-8wave", "S4.refill", 4, { 0, 0, 0, 0, 0, 3 } },

	{ "mi355x-attention", "qk.0", 1, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-attention", "mem.v.0", 1, { 0, 32, 0, 0, 2, 0 } },
	{ "mi355x-attention", "pv.0", 1, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-attention", "mem.k.0", 1, { 0, 16, 0, 0, 2, 0 } },
	{ "mi355x-attention", "qk.1", 1, { 16, 0, 0, 0, 0, 0 } },
	{ "mi355x-attention", "mem.v.1", 1, { 0, 32, 0, 0, 2, 0 } },
	{ "mi450-attention", "S0.qk.0", 1, { 32, 0, 0, 0, 0, 0 } },
	{ "mi450-attention", "S1.finish.0", 1, { 0, 32, 0, 0, 0, 1 } },
	{ "mi450-attention", "S2.pv.0", 1, { 32, 0, 0, 0, 0, 0 } },
	{ "mi450-attention", "S3.start.0", 1, { 0, 32, 0, 0, 0, 1 } },
};

static void stage_tables(void **state)
{
	struct lowered l = { 0 };
	const char *open = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		unsigned n[NCOLS];

		if (!open || strcmp(open, stages[i].kernel)) {
			if (open)
				lowered_free(&l);
			open = stages[i].kernel;
			l = lower_kernel(open);
		}
		count_stage(l.p, 0, stages[i].stage, stages[i].times, n);
		for (unsigned c = 0; c < NCOLS; c++)
			if (n[c] != stages[i].n[c])
				fail_msg("%s, stage %s, column %u: %u, published %u", open, stages[i].stage, c, n[c],
					 stages[i].n[c]);
	}
	lowered_free(&l);
}

/* ---- whole kernels ---- */

static unsigned per_step(const struct program *p, unsigned g, enum opclass cls, unsigned flags_not)
{
	const struct loop *l = &p->loops[p->main_loop[g]];
	unsigned n = 0;

	for (uint32_t i = l->begin; i < l->end; i++)
		if (p->insns[i].cls == cls && (p->insns[i].groups >> g & 1) && !(p->insns[i].flags & flags_not))
			n += p->insns[i].repeat;
	assert_int_equal(n % l->steps, 0);
	return n / l->steps;
}

static const struct {
	const char *name;
	double ideal;      /* matrix clk per K-step and SIMD */
	unsigned barriers; /* workgroup barriers of a wave per K-step */
	unsigned reads, conflicts;
	uint64_t workgroups, ksteps;
} kernels[] = {
	{ "mi300x-f16-8wave", 4096, 8, 24, 0, 304, 129 },
	{ "mi300x-f16-8wave-inphase", 4096, 8, 24, 0, 304, 129 },
	{ "mi300x-f16-blockpingpong", 4096, 8, 24, 0, 304, 129 },
	{ "mi300x-f16-blockpingpong-inphase", 4096, 8, 24, 0, 304, 129 },
	{ "mi300x-f16-4wave", 4096, 3, 32, 0, 304, 129 },
	{ "mi300x-f16-4wave-burst", 4096, 3, 32, 0, 304, 129 },
	{ "mi300x-f16-4wave-reads-woven", 4096, 3, 32, 0, 304, 129 },
	{ "mi355x-f16-8wave", 2048, 8, 24, 0, 256, 128 },
	{ "mi355x-f16-8wave-inphase", 2048, 8, 24, 0, 256, 128 },
	{ "mi355x-f16-4wave", 2048, 2, 32, 0, 256, 128 },
	{ "mi355x-fp8-8wave", 2048, 8, 24, 0, 256, 64 },
	{ "mi355x-fp8-8wave-inphase", 2048, 8, 24, 0, 256, 64 },
	{ "mi355x-fp8-4wave", 2048, 2, 32, 0, 256, 64 },
	{ "mi355x-fp4-8wave", 2048, 8, 28, 0, 256, 64 },
	{ "mi355x-fp4-8wave-inphase", 2048, 8, 28, 0, 256, 64 },
	{ "mi450-bf16-8wave", 2048, 4, 96, 0, 256, 512 },
	{ "mi450-bf16-8wave-inphase", 2048, 4, 96, 0, 256, 512 },
	{ "mi450-mxfp8-8wave", 1024, 5, 100, 0, 256, 256 },
	{ "mi450-mxfp8-8wave-inphase", 1024, 5, 100, 0, 256, 256 },
	{ "mi450-mxfp4-8wave", 1024, 5, 102, 0, 256, 128 },
	{ "mi450-mxfp4-8wave-inphase", 1024, 5, 102, 0, 256, 128 },
	{ "mi355x-attention", 4096, 8, 96, 0, 2048, 64 }, /* a step is a pair of tiles */
	{ "mi450-attention", 2048, 8, 128, 0, 2048, 64 },
};

static void check_totals(const struct program *p, size_t i)
{
	unsigned barriers = per_step(p, 0, OPC_BARRIER, 0), conflicts = 0;

	for (uint32_t k = p->loops[p->main_loop[0]].begin; k < p->loops[p->main_loop[0]].end; k++)
		if (p->insns[k].cls == OPC_AWAIT && p->insns[k].barrier == BAR_WORKGROUP && (p->insns[k].groups & 1))
			barriers += 1; /* scaled below */
	if (p->target->v.barrier_split > 0)
		barriers /= p->loops[p->main_loop[0]].steps;
	for (size_t k = 0; k < p->ninsns; k++)
		conflicts += p->insns[k].lds_clk > p->insns[k].lds_clk_free;
	if (p->ideal_clk != kernels[i].ideal || barriers != kernels[i].barriers ||
	    per_step(p, 0, OPC_LDS_READ, 0) != kernels[i].reads || conflicts != kernels[i].conflicts ||
	    p->workgroups != kernels[i].workgroups || p->ksteps != kernels[i].ksteps)
		fail_msg("%s: ideal %g, barriers %u, reads %u, conflicts %u, workgroups %lu, K-steps %lu", kernels[i].name,
			 p->ideal_clk, barriers, per_step(p, 0, OPC_LDS_READ, 0), conflicts, (unsigned long)p->workgroups,
			 (unsigned long)p->ksteps);
}

/* Workgroup barriers that a wave of group g passes in the whole kernel. */
static uint64_t barriers_of(const struct program *p, unsigned g)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->ninsns; i++) {
		const struct insn *in = &p->insns[i];
		uint64_t times = 1;

		if (!(in->groups >> g & 1) || (in->cls != OPC_BARRIER && (in->cls != OPC_AWAIT || in->barrier != BAR_WORKGROUP)))
			continue;
		for (size_t l = 0; l < p->nloops; l++)
			if (i >= p->loops[l].begin && i < p->loops[l].end)
				times = p->loops[l].trips;
		n += times;
	}
	return n;
}

static void kernel_totals(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		struct lowered l = lower_kernel(kernels[i].name);

		check_totals(l.p, i);
		if (l.p->groups == 2)
			assert_int_equal(barriers_of(l.p, 0), barriers_of(l.p, 1));
		lowered_free(&l);
	}
}

/* ---- registers and waits ---- */

static void published_registers(void **state)
{
	static const struct { const char *name; unsigned vgpr, agpr, lds; } rows[] = {
		{ "mi300x-f16-8wave", 240, 0, 65536 },  { "mi300x-f16-4wave", 256, 256, 65536 },
		{ "mi355x-f16-8wave", 248, 0, 135680 }, { "mi355x-f16-4wave", 240, 256, 135680 },
		{ "mi355x-attention", 256, 0, 66560 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct lowered l = lower_kernel(rows[i].name);

		assert_int_equal(l.p->vgpr, rows[i].vgpr);
		assert_int_equal(l.p->agpr, rows[i].agpr);
		assert_int_equal(l.p->lds_bytes, rows[i].lds);
		lowered_free(&l);
	}
}

/* Values of the waits on a counter in a stage of the main loop, in order. */
static size_t waits_in(const struct program *p, const char *stage, int counter, unsigned *out, size_t max)
{
	size_t n = 0;

	for (uint32_t i = p->loops[p->main_loop[0]].begin; i < p->loops[p->main_loop[0]].end; i++) {
		const struct insn *in = &p->insns[i];

		if (strcmp(p->stages[in->stage].name, stage))
			continue;
		for (unsigned w = 0; w < in->nwait; w++)
			if (in->wait[w].counter == counter && n < max)
				out[n++] = in->wait[w].value;
	}
	return n;
}

static void placed_waits(void **state)
{
	static const unsigned r4[] = { 7, 6, 5, 4 }, r6[] = { 3, 2, 1, 0 };
	struct lowered l = lower_kernel("mi300x-f16-8wave");
	unsigned v[16];

	(void)state;
	assert_int_equal(waits_in(l.p, "r4.mem", CTR_VM, v, 16), 4);
	assert_memory_equal(v, r4, sizeof(r4));
	assert_int_equal(waits_in(l.p, "r6.mem", CTR_VM, v, 16), 4);
	assert_memory_equal(v, r6, sizeof(r6));
	assert_int_equal(waits_in(l.p, "r6.mem", CTR_LGKM, v, 16), 1); /* the boundary's drain covers the reads */
	lowered_free(&l);

	l = lower_kernel("mi300x-f16-4wave"); /* six waits a K-step */
	assert_int_equal(per_step(l.p, 0, OPC_WAIT, 0), 6);
	lowered_free(&l);
}

/* "5 groups may remain" is vmcnt(10) in every place of the loop and on the way in; the tail's 10 is the one at
 * the loop's bottom, then 8, 6, 4, 2, 0. */
static void group_waits(void **state)
{
	static const unsigned tail[] = { 8, 6, 4, 2, 0 };
	struct lowered l = lower_kernel("mi355x-f16-8wave");
	const struct loop *lp = &l.p->loops[l.p->main_loop[0]];
	unsigned loop = 0, after = 0, before = 0;

	(void)state;
	for (size_t i = 0; i < l.p->ninsns; i++) {
		const struct insn *in = &l.p->insns[i];

		for (unsigned w = 0; w < in->nwait; w++) {
			if (in->wait[w].counter != CTR_VM || (in->flags & INSN_AUTO_WAIT))
				continue;
			if (i < lp->begin) { /* the prologue's own, then what the loop's bottom repeats */
				assert_int_equal(in->wait[w].value, before ? 10 : 12);
				before++;
			} else if (i < lp->end) {
				assert_int_equal(in->wait[w].value, 10);
				loop++;
			} else {
				assert_true(after < 5);
				assert_int_equal(in->wait[w].value, tail[after++]);
			}
		}
	}
	assert_in_range(before, 1, 2);
	assert_int_equal(loop, 8);
	assert_int_equal(after, 5);
	lowered_free(&l);
}

/* No pair of instructions is closer than its spacing row allows, also over the back edge. */
static void check_spacing_at(const struct program *p, size_t i, size_t from, size_t to, unsigned states)
{
	for (size_t j = from; j-- > to; ) {
		unsigned need = spacing_needed(p->target, &p->insns[j], &p->insns[i]);

		if (need > states)
			fail_msg("%s: %u states between %zu (%s) and %zu (%s), %u needed", p->name, states, j, p->insns[j].op, i,
				 p->insns[i].op, need);
		states += spacing_supplied(p->target, &p->insns[j]);
		if (states >= spacing_reach(p->target) || (from - j) > 200)
			return;
	}
}

static void spacing_kept(void **state)
{
	static const char *const names[] = { "mi355x-attention", "mi450-attention", "mi355x-f16-8wave", "mi450-bf16-8wave" };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(names); k++) {
		struct lowered l = lower_kernel(names[k]);
		const struct loop *lp = &l.p->loops[0];
		unsigned states = 0;

		for (size_t i = 0; i < l.p->ninsns; i++)
			check_spacing_at(l.p, i, i, 0, 0);
		for (size_t i = lp->begin; i < lp->end && states < spacing_reach(l.p->target); i++) {
			check_spacing_at(l.p, i, lp->end, lp->begin, states);
			states += spacing_supplied(l.p->target, &l.p->insns[i]);
		}
		lowered_free(&l);
	}
}

static void spacing_numbers(void **state)
{
	struct lowered l = lower_kernel("mi300x-f16-8wave");
	const struct matrix_row *m = target_matrix(l.t, "v_mfma_f32_16x16x16_f16", DT_F16, DT_F16);
	struct insn first = { .cls = OPC_MATRIX, .matrix = m, .repeat = 1, .nspans = 1, .span = { { 0, 4 } }, .role = { ROLE_DST } };
	struct insn second = { .cls = OPC_VALU, .op = "v_add_f32", .repeat = 1, .nspans = 1, .span = { { 3, 1 } }, .role = { ROLE_SRC } };

	(void)state;
	assert_int_equal(spacing_needed(l.t, &first, &second), 7);
	second.span[0].first = 4;
	assert_int_equal(spacing_needed(l.t, &first, &second), 0);
	second = (struct insn){ .cls = OPC_MATRIX, .matrix = m, .repeat = 1, .nspans = 1, .span = { { 0, 4 } }, .role = { ROLE_C } };
	assert_int_equal(spacing_needed(l.t, &first, &second), 0);
	second.span[0].first = 2;
	assert_int_equal(spacing_needed(l.t, &first, &second), 5);
	second.role[0] = ROLE_A;
	assert_int_equal(spacing_needed(l.t, &first, &second), 7);
	lowered_free(&l);
}

/* ---- what is refused ---- */

static char *small(const char *gemm, const char *lds, const char *loop)
{
	return xasprintf("<schedule name=\"t\" target=\"gfx942\"><gemm m=\"256\" n=\"256\" %s a=\"f16\" b=\"f16\" acc=\"f32\" "
			 "out=\"f16\"><tile m=\"256\" n=\"256\" k=\"64\"/><waves groups=\"1\" rows=\"2\" cols=\"2\"/>"
			 "<matrix op=\"v_mfma_f32_16x16x16_f16\"/></gemm>%s%s</schedule>", gemm, lds, loop);
}

#define LDS "<lds name=\"A\" operand=\"A\"/><lds name=\"B\" operand=\"B\"/>"
#define REGS "<fragment name=\"a\" from=\"A\" part=\"0/4\"/><fragment name=\"b\" from=\"B\" part=\"0/4\"/>" \
	     "<accumulator name=\"c\" a=\"a\" b=\"b\" file=\"agpr\"/>"
#define LOOP "<loop peel=\"1\"><stage name=\"s\"><read into=\"a\" tile=\"k\"/><mma acc=\"c\"/></stage></loop>"

static void refused(void **state)
{
	static const struct { const char *gemm, *head, *loop; enum diag_code code; const char *says; } rows[] = {
		{ "k=\"640\"", LDS REGS, "<loop unroll=\"2\" peel=\"1\"><stage name=\"s\"><read into=\"a\" tile=\"k\"/><mma acc=\"c\"/></stage></loop>", DIAG_SHAPE, "10 K-steps" },
		{ "k=\"650\"", LDS REGS, LOOP, DIAG_SHAPE, "650" },
		{ "k=\"640\"", "<lds name=\"A\" operand=\"A\" slots=\"2\"/><lds name=\"B\" operand=\"B\"/>" REGS, LOOP, DIAG_LDS_CAP, "98304" },
		{ "k=\"640\"", LDS "<fragment name=\"a\" from=\"A\"/><fragment name=\"b\" from=\"B\"/><accumulator name=\"c\" a=\"a\" b=\"b\"/>", LOOP, DIAG_REG_CAP, "c 256" },
		{ "k=\"640\"", LDS "<fragment name=\"a\" from=\"A\" op=\"ds_load_b128\"/><fragment name=\"b\" from=\"B\"/><accumulator name=\"c\" a=\"a\" b=\"b\" file=\"agpr\"/>", LOOP, DIAG_TARGET, "ds_load_b128" },
		{ "k=\"640\"", LDS REGS, "<loop peel=\"1\"><stage name=\"s\"><tdm to=\"A\" tile=\"k\"/><mma acc=\"c\"/></stage></loop>", DIAG_TARGET, "tensor" },
		{ "k=\"640\"", LDS REGS, "<loop peel=\"1\"><stage name=\"s\"><interleave order=\"r 3m\"><read into=\"a\" tile=\"k\" id=\"r\"/><mma acc=\"c\" id=\"m\"/></interleave></stage></loop>", DIAG_INTERLEAVE, "" },
		{ "k=\"640\"", LDS REGS, "<loop peel=\"1\"><stage name=\"s\"><mma acc=\"c\"/><mma acc=\"c\"/></stage></loop>", DIAG_SHAPE, "2" },
		{ "k=\"640\"", LDS REGS, "<loop peel=\"1\"><stage name=\"s\"><mma acc=\"c\"/><wait tensor=\"0\"/></stage></loop>", DIAG_TARGET, "tensor" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = small(rows[i].gemm, rows[i].head, rows[i].loop);
		struct lowered l = lower_src(src_from_text("t.xml", text, strlen(text)));
		bool found = false;

		for (size_t k = 0; k < l.d.n; k++)
			found |= l.d.list[k].code == rows[i].code && strstr(l.d.list[k].message, rows[i].says);
		if (l.p || !found) {
			diag_print(&l.d, stderr, false);
			fail_msg("row %zu: %s", i, l.p ? "lowered" : "other finding");
		}
		lowered_free(&l);
		free(text);
	}
}

/* The published swizzles of rows of 64 f16 on gfx942, through the whole lowering. */
static void conflict_degree(void **state)
{
	static const struct { const char *swizzle; unsigned clk; } rows[] = {
		{ "<swizzle vec=\"8\" per-phase=\"2\" max-phase=\"8\"/>", 16 },
		{ "<swizzle vec=\"8\" per-phase=\"1\" max-phase=\"8\"/>", 8 },
		{ "", 32 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *lds = xasprintf("<lds name=\"A\" operand=\"A\">%s</lds><lds name=\"B\" operand=\"B\"/>" REGS, rows[i].swizzle);
		char *text = small("k=\"640\"", lds, LOOP);
		struct lowered l = lower_src(src_from_text("t.xml", text, strlen(text)));
		unsigned seen = 0;

		diag_print(&l.d, stderr, false);
		assert_non_null(l.p);
		for (size_t k = 0; k < l.p->ninsns; k++)
			if (l.p->insns[k].cls == OPC_LDS_READ) {
				assert_int_equal(l.p->insns[k].lds_clk, rows[i].clk);
				assert_int_equal(l.p->insns[k].lds_clk_free, 8);
				seen++;
			}
		assert_int_equal(seen, 4); /* 32 rows of a wave x 128 bytes */
		lowered_free(&l);
		free(lds);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stage_tables),    cmocka_unit_test(kernel_totals),   cmocka_unit_test(published_registers),
		cmocka_unit_test(placed_waits),    cmocka_unit_test(group_waits),     cmocka_unit_test(spacing_kept),
		cmocka_unit_test(spacing_numbers), cmocka_unit_test(conflict_degree), cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
