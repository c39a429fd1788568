/* Control flow of listings: wait states and waits on every path, loops, and what the findings say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "listing.h"
#include "spacing.h"

struct fixture {
	struct target *t;
	struct src *s;
	struct program *p;
	struct diag d;
};

static void open_text(struct fixture *f, const char *target, const char *text)
{
	const struct listing_options o = {0};

	memset(f, 0, sizeof(*f));
	diag_init(&f->d);
	f->t = target_load(target, NULL, (struct loc){0}, &f->d);
	assert_non_null(f->t);
	f->s = src_from_text("t.s", text, strlen(text));
	f->p = listing_parse(f->s, f->t, &o, NULL, &f->d);
	diag_print(&f->d, stderr, false);
	assert_non_null(f->p);
}

static void close_text(struct fixture *f)
{
	program_free(f->p);
	diag_free(&f->d);
	src_free(f->s);
	target_free(f->t);
}

/* Needs as "line:missing" or "line:counter=value", one blank between. */
static char *needs_of(const char *target, const char *text, bool waits)
{
	struct strbuf b = {0};
	struct flow_result r;
	struct fixture f;

	open_text(&f, target, text);
	assert_int_equal(waits ? flow_waits(f.p, &r) : flow_spacing(f.p, &r), 0);
	strbuf_add(&b, "%s", "");
	for (size_t i = 0; i < r.n; i++) {
		const struct flow_need *n = &r.needs[i];
		unsigned line = loc_line(f.p->insns[n->insn].loc);

		if (n->counter < 0)
			strbuf_add(&b, "%s%u:%u", i ? " " : "", line, n->missing);
		else
			strbuf_add(&b, "%s%u:%s=%u", i ? " " : "", line,
				   counter_name((enum counter)n->counter), n->required);
	}
	flow_result_free(&r);
	close_text(&f);
	return b.s;
}

static void expect(const char *target, bool waits, const char *text, const char *needs)
{
	char *got = needs_of(target, text, waits);

	assert_string_equal(got, needs);
	free(got);
}

#define MFMA                                                                                    \
	"v_mfma_f32_16x16x16_f16 v[0:3], v[64:65], v[80:81], v[0:3]\n" /* 4 passes: 7 states on \
									  gfx942 */
#define READER "v_add_f32_e32 v9, v0, v10\n"
#define OTHER "s_mov_b32 s60, s61\n"

static void test_spacing_straight(void **state)
{
	(void)state;
	expect("gfx942", false, MFMA READER, "2:7");
	expect("gfx942", false, MFMA OTHER OTHER READER, "4:5");
	expect("gfx942", false, MFMA "s_nop 4\n" OTHER READER, "4:1");
	expect("gfx942", false, MFMA "s_nop 6\n" READER, "");
	expect("gfx950", false, MFMA "s_nop 6\n" READER, "3:1");
	/* The second reader profits from what the first one needs. */
	expect("gfx942", false, MFMA READER READER, "2:7");
	/* Exactly the result as C is forwarded. */
	expect("gfx942", false, MFMA MFMA, "");
}

static void test_spacing_wave32(void **state)
{
	const char *wmma = "v_wmma_f32_16x16x32_f16 v[0:7], v[32:39], v[48:55], v[0:7]\n";
	char *text;

	(void)state;
	text = xasprintf("%sv_add_f32_e32 v9, v0, v10\n", wmma);
	expect("gfx1250", false, text, "2:4");
	free(text);
	text = xasprintf("%ss_nop 7\ns_mov_b32 s60, s61\nv_nop\nv_add_f32_e32 v9, v0, v10\n", wmma);
	expect("gfx1250", false, text, "5:3");
	free(text);
}

/* A younger matrix op of a shorter class hides an older one from what depends on both, not from the
 * rest. */
static void test_spacing_hidden(void **state)
{
	const char *two = "v_wmma_i32_16x16x64_iu8 v[32:39], v[64:71], v[72:79], v[32:39]\n"
			  "v_wmma_f32_16x16x32_f16 v[40:47], v[64:71], v[72:79], v[40:47]\n";
	char *text;

	(void)state;
	text = xasprintf("%sv_pk_add_f32 v[4:5], v[38:39], v[46:47]\n", two);
	expect("gfx1250", false, text, "3:4");
	free(text);
	text = xasprintf("%sv_pk_add_f32 v[4:5], v[38:39], v[80:81]\n", two);
	expect("gfx1250", false, text, "3:7");
	free(text);
	/* gfx9: of the ops that write one register the nearest counts. */
	expect("gfx942", false,
	       "v_mfma_f32_32x32x1_2b_f32 v[0:31], v64, v80, v[0:31]\n" MFMA
	       "v_add_f32_e32 v200, v0, v201\n",
	       "3:7");
	expect("gfx942", false,
	       "v_mfma_f32_32x32x1_2b_f32 v[0:31], v64, v80, v[0:31]\n"
	       "v_smfmac_f32_16x16x32_bf16 v[0:3], v[64:65], v[80:83], v90\n" READER,
	       "3:17"); /* writes v9 */
}

static void test_spacing_joins(void **state)
{
	(void)state;
	/* The short way counts: past the branch only the branch itself lies between. */
	expect("gfx942", false, MFMA "s_cbranch_scc1 L1\n" OTHER OTHER OTHER "L1:\n" READER, "7:6");
	/* The producer is on one way only. */
	expect("gfx942", false, "s_cbranch_scc1 L1\n" MFMA "L1:\n" READER, "4:7");
	/* Nothing flows past an unconditional branch. */
	expect("gfx942", false,
	       MFMA "s_branch L2\n"
		    "L1:\n" READER "s_endpgm\nL2:\ns_endpgm\n",
	       "");
}

static void test_spacing_loop(void **state)
{
	(void)state;
	expect("gfx942", false, "L1:\n" READER OTHER MFMA "s_cbranch_scc1 L1\ns_endpgm\n", "2:6");
	/* The reader waits for itself: 8 passes, a loop of one op and its branch. */
	expect("gfx942", false,
	       "L1:\nv_mfma_f32_32x32x8_f16 v[0:15], v[2:3], v[80:81], v[32:47]\ns_cbranch_scc1 L1\n",
	       "2:10");
}

static void test_waits_straight(void **state)
{
	(void)state;
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\nglobal_load_dword v1, v[40:41], off\nglobal_store_dword v[42:43], v9, off\n"
	       "v_mov_b32_e32 v2, v0\nv_mov_b32_e32 v3, v1\n",
	       "4:vm=2 5:vm=1");
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\nglobal_load_dword v1, v[40:41], off\ns_waitcnt vmcnt(1)\n"
	       "v_mov_b32_e32 v2, v0\nv_mov_b32_e32 v3, v1\n",
	       "5:vm=0");
	/* LDS in order; scalar loads beside it make order unknown. */
	expect("gfx942", true, "ds_read_b32 v0, v9\nds_read_b32 v1, v9\nv_mov_b32_e32 v2, v0\n",
	       "3:lgkm=1");
	expect("gfx942", true,
	       "ds_read_b32 v0, v9\ns_load_dword s8, s[0:1], 0x0\nv_mov_b32_e32 v2, v0\n",
	       "3:lgkm=0");
	/* A wait that is not 0 says nothing then. */
	expect("gfx942", true,
	       "ds_read_b32 v0, v9\ns_load_dword s8, s[0:1], 0x0\ns_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v2, v0\n",
	       "4:lgkm=0");
	/* A load into a register that LDS still fills. */
	expect("gfx942", true, "ds_read_b32 v0, v9\nglobal_load_dword v0, v[40:41], off\n",
	       "2:lgkm=0");
	/* Store data may be overwritten. */
	expect("gfx942", true, "global_store_dword v[42:43], v9, off\nv_mov_b32_e32 v9, 0\n", "");
}

static void test_waits_special(void **state)
{
	(void)state;
	expect("gfx942", true,
	       "flat_load_dword v0, v[40:41]\nglobal_load_dword v1, v[42:43], off\nv_mov_b32_e32 v2, v0\n",
	       "3:vm=0 3:lgkm=0");
	expect("gfx942", true,
	       "buffer_load_dword v44, s[4:7], 0 offen lds\nglobal_load_dword v1, v[42:43], off\nds_read_b32 v2, v9\n",
	       "3:vm=1");
	expect("gfx942", true,
	       "buffer_load_dword v44, s[4:7], 0 offen lds\nbuffer_load_dword v44, s[4:7], 0 offen lds\n",
	       "");
	/* Two buffers: a wait that leaves the newest copy in flight is the author's. */
	expect("gfx942", true,
	       "L1:\nbuffer_load_dword v44, s[4:7], 0 offen lds\ns_waitcnt vmcnt(1)\nds_read_b32 v2, v9\n"
	       "s_cbranch_scc1 L1\ns_endpgm\n",
	       "4:lgkm=0");
	/* Behind a barrier it is the copied data that is read, in front of it another buffer. */
	expect("gfx942", true,
	       "L1:\nbuffer_load_dword v44, s[4:7], 0 offen lds\nds_read_b32 v2, v9\ns_waitcnt lgkmcnt(0)\n"
	       "s_barrier\nds_read_b32 v3, v9\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier\n"
	       "s_cbranch_scc1 L1\ns_endpgm\n",
	       "6:vm=0");
	/* Stores that are complete are translated. */
	expect("gfx1250", true,
	       "global_store_b32 v[42:43], v8, off\ns_wait_storecnt 0x0\nv_mov_b32_e32 v8, 0\n", "");
	expect("gfx1250", true, "global_store_b32 v[42:43], v8, off\nv_mov_b32_e32 v8, 0\n", "2:x=0");
	expect("gfx1250", true,
	       "global_load_b32 v0, v[40:41], off\nds_load_b32 v1, v9\nglobal_store_b32 v[42:43], v8, off\n"
	       "v_mov_b32_e32 v2, v0\nv_mov_b32_e32 v3, v1\n",
	       "4:load=0 5:ds=0");
	expect("gfx1250", true,
	       "global_load_b32 v0, v[40:41], off\nds_load_b32 v1, v9\ns_wait_loadcnt_dscnt 0x0\n"
	       "v_mov_b32_e32 v2, v0\nv_mov_b32_e32 v3, v1\n",
	       "");
}

static void test_waits_full_counter(void **state)
{
	struct strbuf b = {0};

	(void)state;
	/* 16 more than the counter holds: the first load is complete, the last not. */
	for (unsigned i = 0; i < 31; i++)
		strbuf_add(&b, "ds_read_b32 v%u, v99\n", i);
	strbuf_add(&b,
		   "v_mov_b32_e32 v100, v0\nv_mov_b32_e32 v100, v15\nv_mov_b32_e32 v100, v30\n");
	expect("gfx942", true, b.s, "34:lgkm=0");
	strbuf_free(&b);
}

static void test_waits_paths(void **state)
{
	(void)state;
	/* Two ways in: the one with fewer younger loads decides. */
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\ns_cbranch_scc1 L1\nglobal_load_dword v1, v[40:41], off\n"
	       "L1:\nv_mov_b32_e32 v2, v0\n",
	       "5:vm=0");
	/* Around the loop; the second read also overwrites what it delivered in the trip before. */
	expect("gfx942", true,
	       "L1:\nv_mov_b32_e32 v2, v0\nds_read_b32 v0, v9\nds_read_b32 v1, v9\ns_cbranch_scc1 L1\ns_endpgm\n",
	       "2:lgkm=1 4:lgkm=1");
	expect("gfx942", true,
	       "L1:\ns_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v2, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v0, v9\n"
	       "ds_read_b32 v1, v9\ns_cbranch_scc1 L1\ns_endpgm\n",
	       "");
}

/* A branch that follows from the way that control came: the way without the wait leads to no use. */
static void test_waits_joined(void **state)
{
	(void)state;
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\ns_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\n"
	       "s_waitcnt vmcnt(0)\ns_mov_b64 s[2:3], 0\n"
	       "L5:\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccnz L2\ns_endpgm\n"
	       "L2:\nv_mov_b32_e32 v2, v0\ns_endpgm\n",
	       "");
	/* The other way round it does, and where the register is no constant it may. */
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\ns_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\n"
	       "s_waitcnt vmcnt(0)\ns_mov_b64 s[2:3], 0\n"
	       "L5:\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccz L2\ns_endpgm\n"
	       "L2:\nv_mov_b32_e32 v2, v0\ns_endpgm\n",
	       "11:vm=0");
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\ns_mov_b64 s[2:3], s[4:5]\ns_cbranch_scc0 L5\n"
	       "s_waitcnt vmcnt(0)\ns_mov_b64 s[2:3], 0\n"
	       "L5:\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccnz L2\ns_endpgm\n"
	       "L2:\nv_mov_b32_e32 v2, v0\ns_endpgm\n",
	       "11:vm=0");
	/* Needs inside the joined block itself, from both ways. */
	expect("gfx942", true,
	       "global_load_dword v0, v[40:41], off\ns_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\n"
	       "s_waitcnt vmcnt(0)\ns_mov_b64 s[2:3], 0\n"
	       "L5:\nv_mov_b32_e32 v2, v0\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccnz L2\ns_endpgm\n"
	       "L2:\ns_endpgm\n",
	       "7:vm=0");
}

/* Spacing around such a block: one way has a long nop. */
static void test_spacing_joined(void **state)
{
	(void)state;
	expect("gfx942", false,
	       MFMA "s_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\ns_nop 15\ns_mov_b64 s[2:3], 0\n"
	       "L5:\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccnz L2\ns_endpgm\n"
	       "L2:\n" READER "s_endpgm\n",
	       "");
	expect("gfx942", false,
	       MFMA "s_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\ns_nop 15\ns_mov_b64 s[2:3], 0\n"
	       "L5:\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccz L2\ns_endpgm\n"
	       "L2:\n" READER "s_endpgm\n",
	       "11:3");
	/* From inside the joined block both ways are seen. */
	expect("gfx942", false,
	       MFMA "s_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\ns_nop 15\ns_mov_b64 s[2:3], 0\n"
	       "L5:\n" READER "s_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccz L2\ns_endpgm\nL2:\ns_endpgm\n",
	       "7:5");
	expect("gfx942", false,
	       MFMA "s_mov_b64 s[2:3], -1\ns_cbranch_scc0 L5\ns_nop 15\ns_mov_b64 s[2:3], 0\n"
	       "L5:\ns_andn2_b64 vcc, exec, s[2:3]\ns_cbranch_vccnz L2\n" READER "s_endpgm\n"
	       "L2:\ns_endpgm\n",
	       "9:3");
}

/* ---- loops ---- */

static void test_loops(void **state)
{
	struct fixture f;

	(void)state;
	open_text(&f, "gfx942",
		  "s_mov_b32 s4, 0\nL1:\ns_mov_b32 s5, 0x10\nL2:\n" MFMA
		  "s_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\ns_cbranch_scc1 L2\n"
		  "s_add_i32 s4, s4, 2\ns_cmp_lt_i32 s4, 9\ns_cbranch_scc1 L1\ns_endpgm\n");
	assert_int_equal(flow_loops(f.p, &f.d), 0);
	assert_int_equal(f.p->nloops, 2);
	assert_int_equal(f.p->loops[0].begin, 1);
	assert_int_equal(f.p->loops[0].end, 9);
	assert_int_equal(f.p->loops[0].trips, 5);
	assert_int_equal(f.p->loops[0].parent, -1);
	assert_int_equal(f.p->loops[1].begin, 2);
	assert_int_equal(f.p->loops[1].end, 6);
	assert_int_equal(f.p->loops[1].trips, 16);
	assert_int_equal(f.p->loops[1].parent, 0);
	assert_int_equal(f.p->insns[5].loop, 1);
	assert_int_equal(f.p->insns[8].loop, 0);
	assert_int_equal(f.p->main_loop[0], 1);
	close_text(&f);
}

static uint64_t trips_of_last(const char *text, size_t nloops)
{
	struct fixture f;
	uint64_t n;

	open_text(&f, "gfx942", text);
	assert_int_equal(flow_loops(f.p, &f.d), 0);
	assert_int_equal(f.p->nloops, nloops);
	n = f.p->loops[nloops - 1].trips;
	close_text(&f);
	return n;
}

static uint64_t trips(const char *text)
{
	return trips_of_last(text, 1);
}

static uint64_t inner_trips(const char *text)
{
	return trips_of_last(text, 2);
}

static void test_trips(void **state)
{
	(void)state;
	assert_int_equal(
		trips("s_movk_i32 s4, 0x40\nL1:\ns_add_i32 s4, s4, -1\ns_cmp_eq_u32 s4, 0\ns_cbranch_scc0 L1\n"),
		64);
	assert_int_equal(
		trips("s_mov_b32 s4, 8\nL1:\ns_cmp_gt_u32 s4, 1\ns_addk_i32 s4, 0xffff\ns_cbranch_scc1 L1\n"),
		0);
	assert_int_equal(
		trips("s_mov_b32 s4, 4\nL1:\ns_cmp_lg_u32 s4, 0\ns_mov_b32 s9, s4\ns_cbranch_scc1 L1\n"),
		0);
	/* Starts at an argument: nobody knows. */
	assert_int_equal(
		trips("s_load_dword s4, s[0:1], 0x0\nL1:\ns_sub_u32 s4, s4, 1\ns_cmp_lg_u32 s4, 0\ns_cbranch_scc1 L1\n"),
		0);
	/* Counts down what an outer loop leaves. */
	assert_int_equal(
		inner_trips(
			"s_mov_b32 s5, 8\nL1:\nL2:\ns_nop 0\nL3:\ns_sub_u32 s5, s5, 1\ns_cmp_lg_u32 s5, 0\ns_cbranch_scc1 L3\n"
			"s_cbranch_vccz L1\n"),
		0);
	/* One of two starts. */
	assert_int_equal(
		trips("s_mov_b32 s4, 4\ns_cbranch_vccz L0\ns_mov_b32 s4, 5\nL0:\nL1:\ns_sub_u32 s4, s4, 1\n"
		      "s_cmp_lg_u32 s4, 0\ns_cbranch_scc1 L1\n"),
		0);
	/* A part is skipped sometimes. */
	assert_int_equal(
		trips("s_mov_b32 s4, 4\nL1:\ns_cbranch_vccz L2\ns_sub_u32 s4, s4, 1\nL2:\ns_cmp_lg_u32 s4, 0\n"
		      "s_cbranch_scc1 L1\n"),
		0);
}

static void test_no_loop(void **state)
{
	struct fixture f;

	(void)state;
	open_text(&f, "gfx942",
		  "s_cbranch_scc0 L2\nL1:\n" OTHER "L2:\n" OTHER "s_cbranch_scc1 L1\ns_endpgm\n");
	assert_int_equal(flow_loops(f.p, &f.d), 0);
	assert_int_equal(f.p->nloops, 0); /* entered in the middle */
	assert_int_equal(f.p->main_loop[0], -1);
	close_text(&f);
}

/* ---- findings ---- */

static void test_report(void **state)
{
	struct flow_result r;
	struct fixture f;

	(void)state;
	open_text(&f, "gfx942",
		  MFMA "s_nop 2\n" READER "ds_read_b32 v20, v21\nv_mov_b32_e32 v22, v20\n");
	assert_int_equal(flow_spacing(f.p, &r), 0);
	flow_report(f.p, &r, &f.d);
	flow_result_free(&r);
	assert_int_equal(flow_waits(f.p, &r), 0);
	flow_report(f.p, &r, &f.d);
	flow_result_free(&r);
	assert_int_equal(f.d.n, 2);
	assert_int_equal(f.d.list[0].code, DIAG_SPACING);
	assert_int_equal(loc_line(f.d.list[0].loc), 3);
	assert_int_equal(f.d.list[0].required, 7);
	assert_int_equal(f.d.list[0].present, 3);
	assert_non_null(strstr(f.d.list[0].message, "v0"));
	assert_non_null(strstr(f.d.list[0].message, "4 wait states"));
	assert_string_equal(f.d.list[0].fix, "insert s_nop 3 before this");
	assert_non_null(f.d.list[0].rule);
	assert_int_equal(loc_line(f.d.list[0].notes[f.d.list[0].nnotes - 1].loc), 1);
	assert_int_equal(f.d.list[1].code, DIAG_WAIT_SHORT);
	assert_int_equal(loc_line(f.d.list[1].loc), 5);
	assert_string_equal(f.d.list[1].counter, "lgkm");
	assert_int_equal(f.d.list[1].required, 0);
	assert_string_equal(f.d.list[1].fix, "insert s_waitcnt lgkmcnt(0) before this");
	close_text(&f);
}

/* ---- against a walk over single paths ---- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static char *random_text(uint32_t *seed)
{
	static const char *const ops[] = {
		MFMA,
		READER,
		OTHER,
		"s_nop 1\n",
		"v_mov_b32_e32 v0, v7\n",
		"v_exp_f32_e32 v10, v0\n",
		"v_mfma_f32_4x4x4_16b_f16 v[8:11], v[0:1], v[10:11], v[8:11]\n"};
	struct strbuf b = {0};
	unsigned n = 6 + next_random(seed) % 8;

	for (unsigned i = 0; i < n; i++) {
		strbuf_add(&b, "L%u:\n", i);
		if (next_random(seed) % 4 == 0)
			strbuf_add(&b, "%s L%u\n",
				   next_random(seed) % 3 ? "s_cbranch_scc1" : "s_branch",
				   next_random(seed) % n);
		else
			strbuf_add(&b, "%s", ops[next_random(seed) % ARRAY_LEN(ops)]);
	}
	strbuf_add(&b, "s_endpgm\n");
	return b.s;
}

static bool goes_to(const struct program *p, uint32_t from, uint32_t to)
{
	const struct insn *in = &p->insns[from];

	if (in->cls == OPC_END)
		return false;
	if (in->cls == OPC_BRANCH && in->target == (int32_t)to)
		return true;
	return to == from + 1 && (in->cls != OPC_BRANCH || in->flags & INSN_CONDITIONAL);
}

/* Largest lack of wait states over all paths into second, each path on its own. */
static void every_path(const struct program *p, const unsigned *extra, uint32_t second, uint32_t at,
		       unsigned states, unsigned *worst)
{
	if (states >= spacing_reach(p->target))
		return;
	for (uint32_t from = 0; from < p->ninsns; from++) {
		unsigned needed;

		if (!goes_to(p, from, at))
			continue;
		needed = spacing_needed(p->target, &p->insns[from], &p->insns[second]);
		if (needed > states && needed - states > *worst)
			*worst = needed - states;
		every_path(p, extra, second, from,
			   states + spacing_supplied(p->target, &p->insns[from]) + extra[from],
			   worst);
	}
}

static void test_spacing_random(void **state)
{
	uint32_t seed = 1;
	unsigned found = 0;

	(void)state;
	for (unsigned k = 0; k < 150; k++) {
		char *text = random_text(&seed);
		unsigned extra[64] = {0};
		struct flow_result r;
		struct fixture f;
		size_t at = 0;

		open_text(&f, "gfx942", text);
		assert_int_equal(flow_spacing(f.p, &r), 0);
		for (uint32_t i = 0; i < f.p->ninsns; i++) {
			unsigned worst = 0,
				 ours = at < r.n && r.needs[at].insn == i ? r.needs[at].missing : 0;

			every_path(f.p, extra, i, i, 0, &worst);
			if (worst != ours)
				fprintf(stderr, "insn %u: %u, not %u, in\n%s", i, worst, ours,
					text);
			assert_int_equal(worst, ours);
			extra[i] = worst;
			at += ours != 0;
			found += ours != 0;
		}
		flow_result_free(&r);
		close_text(&f);
		free(text);
	}
	assert_true(found > 100);
}

/* Long programs take time in proportion, also with a branch at every step. */
static void test_long(void **state)
{
	struct strbuf b = {0};
	char *got;

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		strbuf_add(&b,
			   "ds_read_b32 v0, v9\nL%u:\ns_cbranch_scc1 L%u\ns_waitcnt lgkmcnt(0)\n",
			   i, i / 2);
	strbuf_add(&b, "s_endpgm\n");
	got = needs_of("gfx942", b.s, false);
	assert_string_equal(got, "");
	free(got);
	free(needs_of("gfx942", b.s, true));
	strbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spacing_straight),
		cmocka_unit_test(test_spacing_wave32),
		cmocka_unit_test(test_spacing_joins),
		cmocka_unit_test(test_spacing_hidden),
		cmocka_unit_test(test_spacing_loop),
		cmocka_unit_test(test_waits_straight),
		cmocka_unit_test(test_waits_special),
		cmocka_unit_test(test_waits_full_counter),
		cmocka_unit_test(test_waits_paths), cmocka_unit_test(test_waits_joined), cmocka_unit_test(test_spacing_joined),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_trips),
		cmocka_unit_test(test_no_loop),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_spacing_random),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
