/* Timing of listings: a lowered schedule written as assembler text takes the clocks of the schedule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "engine.h"
#include "lower.h"
#include "schedule.h"

/* ---- one group of a lowered program ---- */

static bool signals_cluster(const struct program *p, unsigned g)
{
	for (size_t i = 0; i < p->ninsns; i++)
		if (p->insns[i].cls == OPC_SIGNAL && p->insns[i].barrier == BAR_CLUSTER &&
		    (p->insns[i].groups >> g & 1))
			return true;
	return false;
}

/* Does group g, alone, execute in? A wait for what only another group signals would never end. */
static bool executes(const struct insn *in, unsigned g, bool signals)
{
	return (in->groups >> g & 1) && !(in->flags & INSN_EDGE_ONLY) &&
	       (signals || in->cls != OPC_AWAIT || in->barrier != BAR_CLUSTER);
}

/* The instructions of group g alone, without what a text can't tell: which loads miss L2, real LDS addresses. */
static void restrict_to(const struct program *p, unsigned g, struct program *out)
{
	uint32_t *at = xcalloc(p->ninsns + 1, sizeof(*at)), n = 0;
	bool signals = signals_cluster(p, g);

	*out = *p;
	out->insns = xcalloc(p->ninsns, sizeof(*out->insns));
	out->loops = xcalloc(p->nloops + 1, sizeof(*out->loops));
	for (size_t i = 0; i < p->ninsns; i++) {
		struct insn *in = &out->insns[n];

		at[i] = n;
		if (!executes(&p->insns[i], g, signals))
			continue;
		*in = p->insns[i];
		assert_true(in->repeat <= 1);
		in->flags &= (uint8_t)~INSN_COLD;
		in->groups = 1;
		in->waves = 0;
		in->access = -1;
		in->stage = 0;
		in->loop = -1;
		in->lds_clk = in->lds_clk_free;
		n++;
	}
	at[p->ninsns] = n;
	out->ninsns = n;
	out->nloops = 0;
	out->main_loop[0] = -1;
	for (size_t l = 0; l < p->nloops; l++) {
		if (!(p->loops[l].groups >> g & 1))
			continue;
		assert_int_equal(p->loops[l].parent, -1);
		if ((int)l == p->main_loop[g])
			out->main_loop[0] = (int)out->nloops;
		out->loops[out->nloops] = p->loops[l];
		out->loops[out->nloops].groups = 1;
		out->loops[out->nloops].begin = at[p->loops[l].begin];
		out->loops[out->nloops].end = at[p->loops[l].end - 1] + 1;
		out->insns[at[p->loops[l].end - 1]].loop = (int32_t)out->nloops++;
	}
	out->entry[0] = at[p->entry[g]];
	out->groups = 1;
	out->waves = p->waves / p->groups;
	out->gap = 0;
	free(at);
}

/* ---- to assembler text ---- */

/* The program sets the upper bits of registers itself: the text has the lower ones. */
static bool upper_bits;

static void put_span(struct strbuf *b, struct span s)
{
	unsigned base = s.first >= REG_SGPR ? REG_SGPR : s.first >= REG_AGPR ? REG_AGPR : 0, n = s.first - base;
	if (s.first < REG_AGPR && upper_bits)
		n %= 256;
	char file = s.first >= REG_SGPR ? 's' : s.first >= REG_AGPR ? 'a' : 'v';

	if (s.first == REG_M0)
		strbuf_add(b, "m0");
	else if (s.n == 1)
		strbuf_add(b, "%c%u", file, n);
	else
		strbuf_add(b, "%c[%u:%u]", file, n, n + s.n - 1u);
}

/* The n-th span of a role, but M0 and SCC. */
static bool put_role(struct strbuf *b, const struct insn *in, enum span_role role, const char *before)
{
	for (unsigned k = 0; k < in->nspans; k++)
		if (in->role[k] == role && in->span[k].first < REG_VCC) {
			strbuf_add(b, "%s", before);
			put_span(b, in->span[k]);
			return true;
		}
	return false;
}

static void put_wait(struct strbuf *b, const struct insn *in, bool gfx9)
{
	for (unsigned k = 0; k < in->nwait; k++) {
		const char *name = counter_name((enum counter)in->wait[k].counter);

		if (gfx9)
			strbuf_add(b, "%s%scnt(%u)", k ? " " : "\ts_waitcnt ", name, in->wait[k].value);
		else
			strbuf_add(b, "%s\ts_wait_%scnt %u", k ? "\n" : "", name, in->wait[k].value);
	}
}

/* free_sgpr: stands for the register that the program does not say; not the same one twice in a row. */
static void put_salu(struct strbuf *b, const struct insn *in, unsigned free_sgpr)
{
	if (strncmp(in->op, "s_cmp", 5) == 0) {
		strbuf_add(b, "\t%s", in->op);
		if (!put_role(b, in, ROLE_SRC, " "))
			strbuf_add(b, " s%u", free_sgpr);
		strbuf_add(b, ", s86");
		return;
	}
	strbuf_add(b, "\ts_mov_b32 "); /* of the class that counts; writes nothing that the other does not */
	if (in->nspans && in->span[0].first == REG_M0)
		strbuf_add(b, "m0");
	else if (!put_role(b, in, ROLE_DST, ""))
		strbuf_add(b, "s%u", free_sgpr);
	if (!put_role(b, in, ROLE_SRC, ", "))
		strbuf_add(b, ", s87");
}

static void put_memory(struct strbuf *b, const struct insn *in)
{
	char op[64];

	snprintf(op, sizeof(op), "%s", in->op);
	op[strcspn(op, " ")] = '\0';
	strbuf_add(b, "\t%s", op);
	switch (in->cls) {
	case OPC_LDS_READ:
		put_role(b, in, ROLE_DST, " ");
		put_role(b, in, ROLE_ADDR, ", ");
		return;
	case OPC_LDS_WRITE:
		put_role(b, in, ROLE_ADDR, " ");
		put_role(b, in, ROLE_DATA, ", ");
		return;
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		strbuf_add(b, " s[88:91], s[92:99]");
		return;
	default:
		break;
	}
	if (in->cls == OPC_VMEM_LDS) {
		put_role(b, in, ROLE_ADDR, " ");
		strbuf_add(b, ", s[92:95], 0 offen lds");
		return;
	}
	if (strncmp(op, "global_", 7) == 0) {
		put_role(b, in, in->cls == OPC_VMEM_LOAD ? ROLE_DST : ROLE_ADDR, " ");
		put_role(b, in, in->cls == OPC_VMEM_LOAD ? ROLE_ADDR : ROLE_DATA, ", ");
		strbuf_add(b, ", s[92:93]");
		return;
	}
	put_role(b, in, in->cls == OPC_VMEM_LOAD ? ROLE_DST : ROLE_DATA, " ");
	put_role(b, in, ROLE_ADDR, ", ");
	strbuf_add(b, ", s[92:95], 0 offen");
}

/* Scale registers, and the types of operands that are narrower than 8 bits. */
static void put_scales(struct strbuf *b, const struct insn *in)
{
	unsigned a_regs = 0;

	for (unsigned k = 0; k < in->nspans; k++) {
		if (in->role[k] == ROLE_A)
			a_regs = in->span[k].n;
		if (in->role[k] != ROLE_INDEX)
			continue;
		strbuf_add(b, ", ");
		put_span(b, in->span[k]);
	}
	if (a_regs == 4 && strstr(in->op, "mfma") && strstr(in->op, "f8f6f4"))
		strbuf_add(b, " cbsz:4 blgp:4");
}

static unsigned sources(const char *op)
{
	if (strstr(op, "fma") || strstr(op, "max3"))
		return 3;
	return strstr(op, "exp") || strstr(op, "rcp") ? 1 : 2;
}

static void put_vector(struct strbuf *b, const struct insn *in)
{
	if (in->cls == OPC_VALU && in->size == 4) { /* any op of the class and size */
		strbuf_add(b, "\tv_mov_b32_e32 ");
		if (!put_role(b, in, ROLE_DST, ""))
			strbuf_add(b, "v255");
		if (!put_role(b, in, ROLE_SRC, ", "))
			strbuf_add(b, ", v254");
		return;
	}
	strbuf_add(b, "\t%s", in->op);
	put_role(b, in, ROLE_DST, " ");
	if (in->cls == OPC_MATRIX) {
		put_role(b, in, ROLE_A, ", ");
		put_role(b, in, ROLE_B, ", ");
		put_role(b, in, ROLE_C, ", ");
		put_scales(b, in);
		return;
	}
	for (unsigned n = sources(in->op); n; n--)
		put_role(b, in, ROLE_SRC, ", ");
}

static void put_insn(struct strbuf *b, const struct program *p, size_t i)
{
	const struct insn *in = &p->insns[i];
	bool gfx9 = p->target->v.barrier_split < 1;

	switch (in->cls) {
	case OPC_WAIT: put_wait(b, in, gfx9); break;
	case OPC_BARRIER: strbuf_add(b, "\ts_barrier"); break;
	case OPC_SIGNAL: strbuf_add(b, "\ts_barrier_signal %d", in->barrier); break;
	case OPC_AWAIT: strbuf_add(b, "\ts_barrier_wait %d", in->barrier); break;
	case OPC_SETPRIO: strbuf_add(b, "\ts_setprio %u", in->imm); break;
	case OPC_NOP: strbuf_add(b, "\ts_nop %u", in->imm ? in->imm - 1u : 0u); break;
	case OPC_MODE: strbuf_add(b, "\t%s 0x%x", in->op, in->imm); break;
	case OPC_BRANCH: strbuf_add(b, "\ts_cbranch_scc1 .L%d", in->loop); break;
	case OPC_END: strbuf_add(b, "\ts_endpgm"); break;
	case OPC_SALU: put_salu(b, in, 2 + (unsigned)i % 32); break;
	case OPC_VALU: case OPC_TRANS: case OPC_PACKED: case OPC_MATRIX: put_vector(b, in); break;
	case OPC_LDS_READ: case OPC_LDS_WRITE: case OPC_VMEM_LOAD: case OPC_VMEM_STORE: case OPC_VMEM_LDS:
	case OPC_TDM_LOAD: case OPC_TDM_STORE:
		put_memory(b, in);
		break;
	default: fail_msg("no text for %s", in->op);
	}
	strbuf_add(b, "\n");
}

static char *text_of(const struct program *p)
{
	struct strbuf b = { 0 };

	upper_bits = false;
	for (size_t i = 0; i < p->ninsns; i++)
		upper_bits |= strcmp(p->insns[i].op ? p->insns[i].op : "", "s_set_vgpr_msb") == 0;
	for (size_t i = 0; i < p->ninsns; i++) {
		for (size_t l = 0; l < p->nloops; l++)
			if (p->loops[l].begin == i)
				strbuf_add(&b, ".L%zu:\n", l);
		put_insn(&b, p, i);
	}
	return b.s;
}

/* ---- the comparison ---- */

static void compare_insns(const struct program *want, struct program *got, const char *kernel)
{
	if (got->ninsns != want->ninsns)
		fail_msg("%s: %zu instructions read, %zu written", kernel, got->ninsns, want->ninsns);
	for (size_t i = 0; i < want->ninsns; i++) {
		const struct insn *w = &want->insns[i], *g = &got->insns[i];

		if (g->cls != w->cls || g->size != w->size || g->counter != w->counter ||
		    g->matrix != w->matrix || g->lds != w->lds || g->vmem != w->vmem || g->lds_clk != w->lds_clk)
			fail_msg("%s: instruction %zu, %s, differs: class %s/%s, size %u/%u, counter %d/%d, lds %u/%u",
				 kernel, i, w->op, opclass_name(w->cls), opclass_name(g->cls), w->size, g->size,
				 w->counter, g->counter, w->lds_clk, g->lds_clk);
		if (w->cls == OPC_TDM_LOAD || w->cls == OPC_TDM_STORE)
			got->insns[i].bytes = w->bytes; /* stands in the descriptor, not in the text */
		else
			assert_int_equal(g->bytes, w->bytes);
	}
}

static void same_group(const char *kernel, const struct program *whole, const struct target *t, unsigned group)
{
	struct engine_config cfg = { .resident = 1, .clock_mhz = t->clocks[0].mhz,
				     .bytes_per_clk = t->v.l2_bytes_clk / t->v.cus };
	struct annotate_trips trips[8];
	struct annotate_options ao = { .trips = trips };
	struct listing_options lo = { 0 };
	struct listing_info info;
	struct annotation a;
	struct program one, *p;
	struct stats want;
	struct diag d;
	struct src *s;
	int rc;
	char *text, labels[8][32];

	diag_init(&d);
	restrict_to(whole, group, &one);
	text = text_of(&one);
	rc = engine_run(&one, &cfg, &want, &d);
	diag_print(&d, stderr, false);
	assert_int_equal(rc, 0);
	s = src_from_text("lowered.s", text, strlen(text));
	lo.waves = one.waves;
	p = listing_parse(s, t, &lo, &info, &d);
	diag_print(&d, stderr, false);
	assert_non_null(p);
	compare_insns(&one, p, kernel);
	assert_true(one.nloops <= 8);
	for (ao.ntrips = 0; ao.ntrips < one.nloops; ao.ntrips++) {
		snprintf(labels[ao.ntrips], sizeof(labels[0]), ".L%zu", ao.ntrips);
		trips[ao.ntrips] = (struct annotate_trips){ labels[ao.ntrips], one.loops[ao.ntrips].trips };
	}
	assert_int_equal(annotate(p, &ao, &a, &d), 0);
	assert_int_equal(a.stats.total_clk, want.total_clk);
	assert_int_equal(a.stats.insns, want.insns);
	assert_int_equal(a.stats.loop_clk, want.loop_clk);
	assert_int_equal(a.stats.steady, want.steady);
	assert_int_equal(a.stats.window_clk, want.window_clk);
	assert_int_equal(a.stats.window_trips, want.window_trips);
	if (want.steady) {
		assert_true(a.steady);
		assert_int_equal(a.measured_clk, want.window_clk);
	}
	annotation_free(&a);
	stats_free(&want);
	program_free(p);
	src_free(s);
	free(text);
	free(one.insns);
	free(one.loops);
	diag_free(&d);
}

static void same_clocks(void **state)
{
	const char *kernel = *state, *top = getenv("top_srcdir");
	char *path = xasprintf("%s/kernels/%s/schedule.xml", top && *top ? top : ".", kernel);
	struct schedule *sched;
	struct program *p;
	struct target *t;
	struct diag d;

	diag_init(&d);
	sched = schedule_parse(src_load(path, &d), &d);
	assert_non_null(sched);
	t = target_load(sched->target_name, sched->variant, (struct loc){ 0 }, &d);
	assert_non_null(t);
	p = lower(sched, t, &d);
	assert_non_null(p);
	for (unsigned g = 0; g < p->groups; g++)
		same_group(kernel, p, t, g);
	program_free(p);
	target_free(t);
	schedule_free(sched);
	diag_free(&d);
	free(path);
}

/* ---- hand-written listings ---- */

struct fixture {
	struct diag d;
	struct target *t;
	struct src *s;
	struct program *p;
	struct listing_info info;
	struct annotation a;
	int rc;
};

static void run_text(struct fixture *f, const char *target, const char *text, const struct annotate_options *o)
{
	struct listing_options lo = { .waves = 4 };

	memset(f, 0, sizeof(*f));
	diag_init(&f->d);
	f->t = target_load(target, NULL, (struct loc){ 0 }, &f->d);
	assert_non_null(f->t);
	f->s = src_from_text("t.s", text, strlen(text));
	f->p = listing_parse(f->s, f->t, &lo, &f->info, &f->d);
	assert_non_null(f->p);
	f->rc = annotate(f->p, o, &f->a, &f->d);
}

static void end_text(struct fixture *f)
{
	if (f->rc == 0)
		annotation_free(&f->a);
	program_free(f->p);
	src_free(f->s);
	target_free(f->t);
	diag_free(&f->d);
}

static bool noted(const struct annotation *a, const char *part)
{
	for (size_t i = 0; i < a->nnotes; i++)
		if (strstr(a->notes[i], part))
			return true;
	return false;
}

static const char mfma_loop[] =
	"\ts_mov_b32 s0, 0\n"
	".Lhot: ; the loop\n"
	"\tv_mfma_f32_16x16x16_f16 v[0:3], v[64:65], v[80:81], v[0:3]\n"
	"\tv_mfma_f32_16x16x16_f16 v[4:7], v[64:65], v[80:81], v[4:7]\n"
	"\tv_mfma_f32_16x16x16_f16 v[8:11], v[64:65], v[80:81], v[8:11]\n"
	"\tv_mfma_f32_16x16x16_f16 v[12:15], v[64:65], v[80:81], v[12:15]\n"
	"\tscratch_load_dword v100, off, off\n"
	"\tv_accvgpr_read_b32 v101, a0\n"
	"\ts_add_i32 s0, s0, -1\n"
	"\ts_cmp_lg_u32 s0, s1\n"
	"\ts_cbranch_scc1 .Lhot\n"
	"\ts_endpgm\n";

static void figures_of_a_loop(void **state)
{
	const struct annotate_options o = { 0 };
	struct fixture f;
	uint64_t sum = 0;

	(void)state;
	run_text(&f, "gfx942", mfma_loop, &o);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.a.trips, ANNOTATE_TRIPS);
	assert_true(noted(&f.a, "one steady loop of 1000 trips"));
	assert_string_equal(f.a.label, ".Lhot");
	assert_true(f.a.steady);
	assert_int_equal(f.a.mix[OPC_MATRIX], 4);
	assert_int_equal(f.a.scratch_ops, 1);
	assert_int_equal(f.a.acc_copies, 1);
	/* four ops of 16 clk on each SIMD, one wave on each; the unit cannot be more than busy */
	assert_true(f.a.ideal_clk == 64);
	assert_true(f.a.trip_clk >= 64 && f.a.trip_clk < 150);
	assert_true(f.a.matrix_busy == f.a.ideal_clk / f.a.trip_clk);
	assert_int_equal(f.a.nlines, 9);
	for (size_t i = 0; i < f.a.nlines; i++) {
		assert_int_equal(f.a.lines[i].issues, f.a.measured_trips);
		for (unsigned r = 0; r < ST_COUNT; r++)
			sum += f.a.lines[i].stall_clk[r];
	}
	assert_true(sum < f.a.measured_clk);
	/* the second op waits for the first one's unit */
	assert_true(f.a.lines[1].stall_clk[ST_MATRIX] > 0);
	end_text(&f);
}

static void trips_by_label_and_line(void **state)
{
	const struct annotate_trips by_label = { ".Lhot", 40 }, by_line = { "3", 40 }, wrong = { ".Lcold", 3 };
	struct annotate_options o = { .trips = &by_label, .ntrips = 1 };
	struct fixture f;
	uint64_t total;

	(void)state;
	run_text(&f, "gfx942", mfma_loop, &o);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.a.trips, 40);
	assert_int_equal(f.a.stats.insns, 4 * (1 + 40 * 9 + 1));
	assert_false(noted(&f.a, "steady loop"));
	total = f.a.stats.total_clk;
	end_text(&f);
	o.trips = &by_line;
	run_text(&f, "gfx942", mfma_loop, &o);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.a.stats.total_clk, total);
	end_text(&f);
	o.trips = &wrong;
	run_text(&f, "gfx942", mfma_loop, &o);
	assert_int_equal(f.rc, -1);
	assert_true(diag_has(&f.d, DIAG_LABEL));
	assert_non_null(strstr(f.d.list[0].fix, ".Lhot"));
	end_text(&f);
}

static void bank_conflicts_cost(void **state)
{
	static const char text[] = ".Lr:\n\tds_read_b128 v[0:3], v16\n\tds_read_b128 v[4:7], v16\n"
				   "\ts_waitcnt lgkmcnt(0)\n\ts_cmp_lg_u32 s0, s1\n\ts_cbranch_scc1 .Lr\n\ts_endpgm\n";
	struct annotate_options o = { 0 };
	struct fixture f;
	double freely;

	(void)state;
	run_text(&f, "gfx942", text, &o);
	assert_int_equal(f.rc, 0);
	assert_true(noted(&f.a, "taken as free of conflicts"));
	freely = f.a.trip_clk;
	end_text(&f);
	o.bank_conflicts = 8;
	run_text(&f, "gfx942", text, &o);
	assert_int_equal(f.rc, 0);
	assert_true(noted(&f.a, "takes 8 times its array time"));
	/* 8 reads on one array, 8 groups of 8 clk each */
	assert_true(f.a.trip_clk >= 8 * 64 && f.a.trip_clk > freely);
	end_text(&f);
}

/* Control passes over an early end, a block that another path runs, and an uncertain block in the loop. */
static void path_to_the_loop(void **state)
{
	static const char text[] = "\ts_cbranch_scc0 .Lgo\n"
				   "\ts_endpgm\n"
				   ".Lgo:\n"
				   "\ts_branch .Lin\n"
				   "\tv_exp_f32 v0, v1\n"
				   ".Lin:\n"
				   "\tv_mov_b32 v1, v2\n"
				   "\ts_cbranch_vccz .Lskip\n"
				   "\tv_mov_b32 v3, v2\n"
				   ".Lskip:\n"
				   "\ts_cbranch_scc1 .Lout\n"
				   "\ts_branch .Lin\n"
				   "\tv_exp_f32 v0, v1\n"
				   ".Lout:\n"
				   "\ts_endpgm\n";
	const struct annotate_trips trips = { ".Lin", 5 };
	const struct annotate_options o = { .trips = &trips, .ntrips = 1 };
	struct fixture f;

	(void)state;
	run_text(&f, "gfx942", text, &o);
	assert_int_equal(f.rc, 0);
	assert_true(noted(&f.a, "line 1: the branch is taken"));
	assert_true(noted(&f.a, "inside the hot loop"));
	assert_int_equal(f.a.nlines, 5);
	/* a wave: two branches, five trips of five, the end */
	assert_int_equal(f.a.stats.insns, 4 * (2 + 5 * 5 + 1));
	end_text(&f);
}

static void straight_text(void **state)
{
	const struct annotate_options o = { 0 };
	struct fixture f;

	(void)state;
	run_text(&f, "gfx942", "\tv_mov_b32 v0, v1\n\tv_mov_b32 v2, v3\n\ts_endpgm\n", &o);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.a.loop, -1);
	assert_int_equal(f.a.lines[0].issues, 1);
	assert_int_equal(f.a.lines[2].issues, 1);
	assert_true(noted(&f.a, "there is no loop"));
	end_text(&f);
}

/* One trip, and nothing behind the loop. */
static void shortest_loop(void **state)
{
	const struct annotate_trips trips = { ".L0", 1 };
	const struct annotate_options o = { .trips = &trips, .ntrips = 1 };
	struct fixture f;

	(void)state;
	run_text(&f, "gfx942", ".L0:\n\ts_nop 7\n\ts_nop 7\n\ts_branch .L0\n", &o);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.a.measured_trips, 1);
	assert_true(f.a.trip_clk >= 64 && f.a.trip_clk < 120); /* two nops of 8 states of 4 clk */
	assert_false(f.a.steady);
	assert_true(noted(&f.a, "no way out"));
	end_text(&f);
}

int main(void)
{
#define KERNEL(name) { name, same_clocks, NULL, NULL, (void *)(uintptr_t)(name) }
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_a_loop),
		cmocka_unit_test(trips_by_label_and_line),
		cmocka_unit_test(bank_conflicts_cost),
		cmocka_unit_test(path_to_the_loop),
		cmocka_unit_test(straight_text),
		cmocka_unit_test(shortest_loop),
		KERNEL("mi300x-f16-4wave"),
		KERNEL("mi300x-f16-4wave-burst"),
		KERNEL("mi300x-f16-4wave-reads-woven"),
		KERNEL("mi300x-f16-8wave"),
		KERNEL("mi300x-f16-8wave-inphase"),
		KERNEL("mi300x-f16-blockpingpong"),
		KERNEL("mi300x-f16-blockpingpong-inphase"),
		KERNEL("mi355x-a8w8-8wave"),
		KERNEL("mi355x-attention"),
		KERNEL("mi355x-f16-4wave"),
		KERNEL("mi355x-f16-8wave"),
		KERNEL("mi355x-f16-8wave-inphase"),
		KERNEL("mi355x-fp4-8wave"),
		KERNEL("mi355x-fp4-8wave-inphase"),
		KERNEL("mi355x-fp8-4wave"),
		KERNEL("mi355x-fp8-8wave"),
		KERNEL("mi355x-fp8-8wave-inphase"),
		KERNEL("mi450-attention"),
		KERNEL("mi450-bf16-8wave"),
		KERNEL("mi450-bf16-8wave-inphase"),
		KERNEL("mi450-mxfp4-8wave"),
		KERNEL("mi450-mxfp4-8wave-inphase"),
		KERNEL("mi450-mxfp8-8wave"),
		KERNEL("mi450-mxfp8-8wave-inphase"),
		KERNEL("vector-add"),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
