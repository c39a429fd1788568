/*
 * The executor's core: how waves start, branches, counters and poison, barriers, undefined values, limits, launches.
 * Results are compared with what plain C computes; poison with the waits that the flow analysis asks for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exec.h"
#include "flow.h"

enum { G942, G950, G1250, NTARGETS };
static struct target *targets[NTARGETS];
static const char *const names[] = { "gfx942", "gfx950", "gfx1250" };

static int setup(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d);
	for (int i = 0; i < NTARGETS; i++)
		targets[i] = target_load(names[i], NULL, (struct loc){ 0 }, &d);
	diag_free(&d);
	return targets[G942] && targets[G950] && targets[G1250] ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < NTARGETS; i++)
		target_free(targets[i]);
	return 0;
}

/* ---- one run ---- */

#define OUT 4096

static struct run {
	struct src *s;
	struct program *p;
	struct listing_info info;
	struct diag d;
	struct exec_launch l;
	struct exec_options o;
	struct exec_result res;
	struct exec_buffer buffer;
	uint64_t kernarg[4];
	uint32_t out[OUT];
	int rc;
} r;

static void begin(void)
{
	memset(&r, 0, sizeof(r));
	diag_init(&r.d);
	r.l.grid[0] = r.l.grid[1] = r.l.grid[2] = r.l.block[1] = r.l.block[2] = 1;
	r.l.block[0] = 64;
	r.o.threads = 1;
	memset(r.out, 0xee, sizeof(r.out));
}

static void go(int target, const char *text)
{
	struct listing_options lo = { .keep_operands = true };

	r.s = src_from_text("t.s", text, strlen(text));
	r.p = listing_parse(r.s, targets[target], &lo, &r.info, &r.d);
	if (!r.p)
		diag_print(&r.d, stdout, false);
	assert_non_null(r.p);
	r.buffer = (struct exec_buffer){ .data = r.out, .bytes = sizeof(r.out), .initialised = true, .writable = true };
	r.l.buffers = &r.buffer;
	r.l.nbuffers = 1;
	r.l.kernarg = r.kernarg;
	r.l.kernarg_bytes = sizeof(r.kernarg);
	r.l.npatches = 1;
	r.rc = exec_run(r.p, &r.info, &r.l, &r.o, &r.res, &r.d);
}

static void end(void)
{
	exec_result_free(&r.res);
	program_free(r.p);
	diag_free(&r.d);
	src_free(r.s);
}

static void clean(void)
{
	if (r.rc)
		diag_print(&r.d, stdout, false);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.d.n, 0);
}

/* The i-th finding is of this code and in this line of the text. */
static const struct finding *found(size_t i, enum diag_code code, unsigned line)
{
	if (i >= r.d.n || r.d.list[i].code != code || loc_line(r.d.list[i].loc) != line)
		diag_print(&r.d, stdout, false);
	assert_int_equal(r.rc, -1);
	assert_true(i < r.d.n);
	assert_int_equal(r.d.list[i].code, code);
	assert_int_equal(loc_line(r.d.list[i].loc), line);
	return &r.d.list[i];
}

static void run_clean(int target, const char *text)
{
	begin();
	go(target, text);
	clean();
}

static void run_finds(int target, const char *text, enum diag_code code, unsigned line)
{
	begin();
	go(target, text);
	found(0, code, line);
	assert_int_equal(r.d.n, 1);
	end();
}

/* Every lane's word at its own place: v1 is 4 * thread; s[6:7] the buffer. */
#define SETUP9 "s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
#define STORE9(reg) "global_store_dword v1, " reg ", s[6:7]\ns_endpgm\n"
#define SETUP12 "s_load_b64 s[6:7], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_wait_kmcnt 0x0\n"
#define STORE12(reg) "global_store_b32 v1, " reg ", s[6:7]\ns_endpgm\n"

/* ---- the start of a wave ---- */

static void start_ids(void **state)
{
	(void)state;
	/* Each workgroup writes x + 16 y + 256 z of its id, at its linear number, from its first lane. */
	static const char gfx9[] =
		"s_load_dwordx2 s[6:7], s[0:1], 0x0\ns_lshl_b32 s8, s3, 4\ns_lshl_b32 s9, s4, 8\ns_add_i32 s8, s8, s2\ns_add_i32 s8, s8, s9\n"
		"s_mul_i32 s10, s4, 2\ns_add_i32 s10, s10, s3\ns_mul_i32 s10, s10, 3\ns_add_i32 s10, s10, s2\ns_lshl_b32 s10, s10, 2\n"
		"v_mov_b32 v1, s10\nv_mov_b32 v2, s8\ns_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[6:7]\ns_endpgm\n";
	static const char gfx12[] =
		"s_load_b64 s[6:7], s[0:1], 0x0\ns_and_b32 s3, ttmp7, 0xffff\ns_lshr_b32 s4, ttmp7, 16\ns_lshl_b32 s8, s3, 4\n"
		"s_lshl_b32 s9, s4, 8\ns_add_co_i32 s8, s8, ttmp9\ns_add_co_i32 s8, s8, s9\ns_mul_i32 s10, s4, 2\ns_add_co_i32 s10, s10, s3\n"
		"s_mul_i32 s10, s10, 3\ns_add_co_i32 s10, s10, ttmp9\ns_lshl_b32 s10, s10, 2\nv_mov_b32 v1, s10\nv_mov_b32 v2, s8\n"
		"s_wait_kmcnt 0x0\nglobal_store_b32 v1, v2, s[6:7]\ns_endpgm\n";

	for (int t = 0; t < NTARGETS; t++) {
		begin();
		r.l.grid[0] = 3;
		r.l.grid[1] = 2;
		r.l.grid[2] = 2;
		r.l.block[0] = 1;
		go(t, t == G1250 ? gfx12 : gfx9);
		clean();
		for (unsigned z = 0; z < 2; z++)
			for (unsigned y = 0; y < 2; y++)
				for (unsigned x = 0; x < 3; x++)
					assert_int_equal(r.out[(z * 2 + y) * 3 + x], x + 16 * y + 256 * z);
		assert_int_equal(r.out[12], 0xeeeeeeee);
		end();
	}
}

/* Work items packed 10 bits each; the lanes behind the last thread are off. */
static void start_threads(void **state)
{
	static const char text[] =
		"s_load_dwordx2 s[6:7], s[0:1], 0x0\nv_and_b32 v2, 0x3ff, v0\nv_bfe_u32 v3, v0, 10, 10\nv_bfe_u32 v4, v0, 20, 10\n"
		"v_mad_u32_u24 v5, v4, 3, v3\nv_mad_u32_u24 v5, v5, 5, v2\nv_lshlrev_b32 v1, 2, v5\ns_waitcnt lgkmcnt(0)\n"
		"global_store_dword v1, v0, s[6:7]\ns_endpgm\n";

	(void)state;
	begin();
	r.l.block[0] = 5;
	r.l.block[1] = 3;
	r.l.block[2] = 7;
	go(G942, text);
	clean();
	for (unsigned i = 0; i < 105; i++)
		assert_int_equal(r.out[i], i % 5 | (i / 5 % 3) << 10 | (i / 15) << 20);
	assert_int_equal(r.out[105], 0xeeeeeeee);
	assert_int_equal(r.res.insns, 2 * 10);
	end();
}

static const char described[] =
	"\t.text\n\t.type k,@function\nk:\n\ts_load_dwordx2 s[6:7], s[0:1], 0x0\n\tv_mov_b32 v1, 0\n\tv_mov_b32 v2, s2\n\tv_mov_b32 v3, s3\n"
	"\tv_mov_b32 v4, s4\n\tv_add_u32 v2, v2, v3\n\tv_lshl_add_u32 v2, v4, 16, v2\n\ts_waitcnt lgkmcnt(0)\n"
	"\tglobal_store_dword v1, v2, s[6:7]\n\ts_endpgm\n.Lfunc_end0:\n"
	"\t.amdhsa_kernel k\n\t.amdhsa_user_sgpr_count 4\n\t.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
	"\t.amdhsa_user_sgpr_kernarg_preload_length 2\n\t.amdhsa_user_sgpr_kernarg_preload_offset 2\n"
	"\t.amdhsa_system_sgpr_workgroup_id_x 1\n\t.amdhsa_next_free_vgpr 5\n\t.amdhsa_next_free_sgpr 8\n\t.amdhsa_accum_offset 8\n"
	"\t.end_amdhsa_kernel\n"
	"\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .args:\n      - .name: out\n        .offset: 0\n        .size: 8\n"
	"        .value_kind: global_buffer\n      - .offset: 8\n        .size: 8\n        .value_kind: by_value\n"
	"      - .offset: 16\n        .size: 4\n        .value_kind: hidden_block_count_x\n    .kernarg_segment_size: 24\n"
	"    .max_flat_workgroup_size: 128\n    .name: k\n    .reqd_workgroup_size:\n      - 64\n      - 1\n      - 1\n"
	"amdhsa.version:\n  - 1\n  - 2\n...\n\t.end_amdgpu_metadata\n";

/* Preloaded arguments stand behind the user SGPRs, the workgroup id behind them. */
static void start_described(void **state)
{
	const struct listing_launch *k = &r.info.launch;

	(void)state;
	begin();
	r.kernarg[1] = UINT64_C(7) << 32 | 5;
	r.l.grid[0] = 1;
	go(G942, described);
	clean();
	assert_int_equal(r.out[0], 5 + 7);
	assert_true(k->described && k->kernarg_ptr && !k->workgroup_id[1] && k->workgroup_id[0]);
	assert_int_equal(k->nargs, 3);
	assert_int_equal(k->kernarg_bytes, 24);
	assert_int_equal(k->arg[0].kind, LARG_POINTER);
	assert_string_equal(k->arg[0].name, "out");
	assert_int_equal(k->arg[1].kind, LARG_VALUE);
	assert_int_equal(k->arg[1].offset, 8);
	assert_int_equal(k->arg[2].kind, LARG_HIDDEN);
	assert_string_equal(k->arg[2].name, "hidden_block_count_x");
	assert_int_equal(k->reqd_size[0], 64);
	end();
}

/* The same in flow style, and a cluster's size. */
static void start_flow(void **state)
{
	static const char text[] =
		"\t.text\n\t.type k,@function\nk:\n\ts_endpgm\n.Lfunc_end0:\n\t.amdgpu_metadata\n---\namdhsa.kernels:\n  - .name: k\n"
		"    .args:\n      - { .name: a, .offset: 0, .size: 8, .value_kind: global_buffer }\n      - {.offset: 8,.size: 4,.value_kind: by_value}\n"
		"    .reqd_workgroup_size: [ 32, 2, 1 ]\n    .cluster_dims: [2, 1, 1]\n    .kernarg_segment_size: 12\n...\n\t.end_amdgpu_metadata\n";
	const struct listing_launch *k = &r.info.launch;

	(void)state;
	begin();
	r.l.block[0] = 32;
	r.l.block[1] = 2;
	go(G1250, text);
	clean();
	assert_int_equal(k->nargs, 2);
	assert_string_equal(k->arg[0].name, "a");
	assert_int_equal(k->arg[0].kind, LARG_POINTER);
	assert_int_equal(k->arg[1].offset, 8);
	assert_int_equal(k->arg[1].size, 4);
	assert_int_equal(k->arg[1].kind, LARG_VALUE);
	assert_true(k->reqd_size[0] == 32 && k->reqd_size[1] == 2 && k->reqd_size[2] == 1);
	assert_true(k->cluster[0] == 2 && k->cluster[1] == 1 && k->cluster[2] == 1);
	end();
}

static void launches(void **state)
{
	(void)state;
	begin();
	r.l.block[0] = 128; /* the kernel asks for 64 */
	go(G942, described);
	found(0, DIAG_LAUNCH, 4);
	end();
	begin();
	r.l.block[0] = 1025;
	go(G942, "s_endpgm\n");
	found(0, DIAG_LAUNCH, 1);
	end();
	begin();
	r.l.grid[1] = 0;
	go(G942, "s_endpgm\n");
	found(0, DIAG_LAUNCH, 1);
	end();
	begin();
	r.l.cluster[0] = 2; /* of a grid of 1 */
	go(G1250, "s_endpgm\n");
	found(0, DIAG_LAUNCH, 1);
	end();
	begin();
	r.l.dynamic_lds_bytes = 1 << 30;
	go(G950, "s_endpgm\n");
	found(0, DIAG_LAUNCH, 1);
	end();
}

/* ---- branches ---- */

static void branches(void **state)
{
	(void)state;
	/* A call through a register, back by the saved address, and a label difference. */
	run_clean(G942, SETUP9
		  "v_mov_b32 v2, 0\ns_getpc_b64 s[10:11]\nhere:\ns_add_u32 s10, s10, (sub-here)&4294967295\ns_addc_u32 s11, s11, (sub-here)>>32\n"
		  "s_swappc_b64 s[12:13], s[10:11]\nv_add_u32 v2, v2, v0\ns_branch out\nsub:\nv_mov_b32 v2, 100\ns_setpc_b64 s[12:13]\nout:\n"
		  STORE9("v2"));
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(r.out[i], 100 + i);
	end();
	run_clean(G950, SETUP9
		  "s_mov_b32 s8, 0\ns_mov_b32 s9, 0\nloop:\ns_add_i32 s9, s9, s8\ns_add_i32 s8, s8, 1\ns_cmp_lt_i32 s8, 11\ns_cbranch_scc1 loop\n"
		  "v_mov_b32 v2, s9\n" STORE9("v2"));
	assert_int_equal(r.out[63], 55);
	assert_int_equal(r.res.site[8].executed, 11);
	assert_int_equal(r.res.site[8].taken, 10);
	end();
	run_clean(G1250, SETUP12
		  "v_mov_b32 v2, 7\ns_getpc_b64 s[10:11]\ns_add_nc_u64 s[10:11], s[10:11], sub@rel64+4\ns_swappc_b64 s[12:13], s[10:11]\n"
		  "s_branch out\nsub:\nv_add_nc_u32 v2, v2, v0\ns_setpc_b64 s[12:13]\nout:\n" STORE12("v2"));
	assert_int_equal(r.out[5], 12);
	end();
	/* Half of the lanes, by EXEC; the others keep what they had. */
	run_clean(G942, SETUP9
		  "v_mov_b32 v2, 1\nv_cmp_gt_u32 vcc, 32, v0\ns_and_saveexec_b64 s[8:9], vcc\ns_cbranch_execz skip\nv_mov_b32 v2, 2\nskip:\n"
		  "s_mov_b64 exec, s[8:9]\n" STORE9("v2"));
	assert_int_equal(r.out[31], 2);
	assert_int_equal(r.out[32], 1);
	end();
	run_finds(G942, "s_mov_b64 s[2:3], 0\ns_setpc_b64 s[2:3]\ns_endpgm\n", DIAG_BOUNDS, 2);
}

static void endless(void **state)
{
	static const char text[] = "s_mov_b32 s8, 0\nloop:\ns_add_u32 s8, s8, 1\ns_branch loop\ns_endpgm\n";

	(void)state;
	begin();
	r.o.max_insns = 10000;
	go(G942, text);
	found(0, DIAG_LIMIT, 4);
	assert_true(r.res.insns > 10000 && r.res.insns < 12000);
	end();
}

/* ---- poison ---- */

static void poison(void **state)
{
	const struct finding *f;

	(void)state;
	begin();
	go(G942, "s_load_dwordx2 s[6:7], s[0:1], 0x0\ns_add_u32 s8, s6, 1\ns_waitcnt lgkmcnt(0)\ns_add_u32 s8, s6, 1\ns_endpgm\n");
	f = found(0, DIAG_POISON, 2);
	assert_int_equal(f->nnotes, 1);
	assert_int_equal(loc_line(f->notes[0].loc), 1);
	assert_non_null(strstr(f->message, "s6"));
	assert_int_equal(r.d.n, 1);
	end();
	/* Two loads, one waited for: the younger one is still in flight. */
	run_finds(G942, SETUP9 "global_load_dword v2, v1, s[6:7]\nglobal_load_dword v3, v1, s[6:7]\ns_waitcnt vmcnt(1)\nv_add_u32 v4, v2, v2\n"
		  "v_add_u32 v4, v3, v3\ns_endpgm\n", DIAG_POISON, 8);
	/* Overwriting one is as bad as reading it, but for a load that comes behind it on the same counter. */
	run_finds(G942, SETUP9 "global_load_dword v2, v1, s[6:7]\nv_mov_b32 v2, 0\ns_endpgm\n", DIAG_POISON, 5);
	run_clean(G942, SETUP9 "global_load_dword v2, v1, s[6:7]\nglobal_load_dword v2, v1, s[6:7] offset:4\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2\ns_endpgm\n");
	end();
	/* Scalar loads come in any order: a wait for 1 of 2 says nothing. */
	run_finds(G942, "s_load_dword s6, s[0:1], 0x0\ns_load_dword s7, s[0:1], 0x4\ns_waitcnt lgkmcnt(1)\ns_mov_b32 s8, s6\ns_waitcnt lgkmcnt(0)\n"
		  "s_mov_b32 s8, s6\ns_endpgm\n", DIAG_POISON, 4);
	/* LDS reads are in order, until a scalar load is among them. */
	begin();
	r.l.dynamic_lds_bytes = 1024;
	go(G950, "v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1\nds_read_b32 v3, v1\ns_waitcnt lgkmcnt(1)\n"
	   "v_mov_b32 v4, v2\ns_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1\ns_load_dword s6, s[0:1], 0x0\ns_waitcnt lgkmcnt(1)\nv_mov_b32 v4, v2\ns_endpgm\n");
	found(0, DIAG_POISON, 12);
	assert_int_equal(r.d.n, 1);
	end();
	/* The wrong counter. */
	run_finds(G1250, SETUP12 "global_load_b32 v2, v1, s[6:7]\ns_wait_dscnt 0x0\nv_mov_b32 v3, v2\ns_endpgm\n", DIAG_POISON, 6);
	run_clean(G1250, SETUP12 "global_load_b32 v2, v1, s[6:7]\ns_wait_loadcnt_dscnt 0x3f\nv_mov_b32 v3, 1\ns_wait_loadcnt 0x0\nv_mov_b32 v3, v2\ns_endpgm\n");
	end();
	/* Both halves of a dual instruction are looked at. */
	run_finds(G1250, SETUP12 "v_mov_b32 v5, 0\nglobal_load_b32 v2, v1, s[6:7]\nv_dual_mov_b32 v4, v5 :: v_dual_add_nc_u32 v7, 1, v2\ns_wait_loadcnt 0x0\n"
		  "s_endpgm\n", DIAG_POISON, 6);
}

/* A counter of 4 bits: the sixteenth read can't be issued before the first has come. */
static void finite_counters(void **state)
{
	struct strbuf b = { 0 };

	(void)state;
	strbuf_add(&b, "v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n");
	for (unsigned i = 0; i < 17; i++)
		strbuf_add(&b, "ds_read_b32 v%u, v1\n", 10 + i);
	strbuf_add(&b, "v_mov_b32 v2, v11\nv_mov_b32 v2, v12\ns_endpgm\n");
	begin();
	r.l.dynamic_lds_bytes = 1024;
	go(G942, b.s);
	found(0, DIAG_POISON, 3 + 17 + 2);
	assert_int_equal(r.d.n, 1);
	end();
	strbuf_free(&b);
}

/* ---- the waits of random programs, as the flow analysis sees them ---- */

static uint64_t seed;

static unsigned pick(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

/* Each load has a register of its own, line of the program: loads over loads are a matter of their own. */
static void random_line(struct strbuf *b, bool gfx9, unsigned line)
{
	unsigned v = 10 + pick(14), s = 20 + pick(14);

	switch (pick(9)) {
	case 0: strbuf_add(b, gfx9 ? "global_load_dword v%u, v1, s[6:7]\n" : "global_load_b32 v%u, v1, s[6:7]\n", 10 + line); break;
	case 1: strbuf_add(b, gfx9 ? "ds_read_b32 v%u, v1\n" : "ds_load_b32 v%u, v1\n", 10 + line); break;
	case 2: strbuf_add(b, gfx9 ? "s_load_dword s%u, s[0:1], 0x0\n" : "s_load_b32 s%u, s[0:1], 0x0\n", 20 + line); break;
	case 3: strbuf_add(b, "v_mov_b32 v%u, v%u\n", 30 + pick(4), v); break;
	case 4: strbuf_add(b, "v_mov_b32 v%u, s%u\n", 30 + pick(4), s); break;
	case 5: strbuf_add(b, "v_mov_b32 v%u, 0\n", v); break;
	case 6:
		if (gfx9)
			strbuf_add(b, pick(2) ? "s_waitcnt vmcnt(%u)\n" : "s_waitcnt lgkmcnt(%u)\n", pick(4));
		else
			strbuf_add(b, pick(3) == 0 ? "s_wait_loadcnt 0x%x\n" : pick(2) ? "s_wait_dscnt 0x%x\n" : "s_wait_kmcnt 0x%x\n", pick(3));
		break;
	case 7: strbuf_add(b, gfx9 ? "flat_load_dword v%u, v[2:3]\n" : "flat_load_b32 v%u, v[2:3]\n", 10 + line); break;
	default: strbuf_add(b, gfx9 ? "global_store_dword v1, v%u, s[6:7] offset:1024\n" : "global_store_b32 v1, v%u, s[6:7] offset:1024\n", v); break;
	}
}

static bool flow_says(const struct flow_result *f, uint32_t insn)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->needs[i].insn == insn && f->needs[i].counter != CTR_X)
			return true;
	return false;
}

static bool exec_says(uint32_t insn)
{
	struct loc l = r.p->insns[insn].loc;

	for (size_t i = 0; i < r.d.n; i++)
		if (r.d.list[i].code == DIAG_POISON && r.d.list[i].loc.begin == l.begin)
			return true;
	return false;
}

static void random_waits(void **state)
{
	unsigned agreed = 0;

	(void)state;
	for (unsigned n = 0; n < 600; n++) {
		int t = (int)(n % NTARGETS);
		struct flow_result f = { 0 };
		struct strbuf b = { 0 };

		seed = n;
		strbuf_add(&b, "%sv_mov_b32 v2, s6\nv_mov_b32 v3, s7\n", t == G1250 ? SETUP12 : SETUP9);
		for (unsigned i = 0; i < 14; i++)
			strbuf_add(&b, "v_mov_b32 v%u, 0\n", 10 + i);
		for (unsigned i = 0; i < 14; i++)
			strbuf_add(&b, "s_mov_b32 s%u, 0\n", 20 + i);
		strbuf_add(&b, t == G1250 ? "ds_store_b32 v1, v0\ns_wait_dscnt 0x0\n" : "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n");
		for (unsigned i = 0; i < 14; i++)
			random_line(&b, t != G1250, i);
		strbuf_add(&b, "s_endpgm\n");
		begin();
		r.l.block[0] = 32;
		r.l.dynamic_lds_bytes = 1024;
		go(t, b.s);
		assert_int_equal(flow_waits(r.p, &f), 0);
		for (uint32_t i = 0; i < r.p->ninsns; i++) {
			if (flow_says(&f, i) != exec_says(i)) {
				print_message("program %u:\n%s", n, b.s);
				diag_print(&r.d, stdout, false);
				fail_msg("instruction %u: flow %d, executor %d", i, flow_says(&f, i), exec_says(i));
			}
			agreed += exec_says(i);
		}
		flow_result_free(&f);
		end();
		strbuf_free(&b);
	}
	assert_true(agreed > 300); /* the programs have mistakes to find */
}

/* ---- undefined values ---- */

static void undefined(void **state)
{
	(void)state;
	run_finds(G942, "s_cmp_eq_u32 s40, 0\ns_cbranch_scc1 out\nout:\ns_endpgm\n", DIAG_UNINIT, 2);
	run_finds(G942, SETUP9 "v_add_u32 v3, v2, v0\n" STORE9("v3"), DIAG_UNINIT, 5);
	run_finds(G942, SETUP9 "v_mov_b32 v3, 0\nglobal_load_dword v3, v2, s[6:7]\ns_waitcnt vmcnt(0)\ns_endpgm\n", DIAG_UNINIT, 5);
	run_finds(G942, "v_cmp_lt_u32 vcc, v2, v0\ns_and_saveexec_b64 s[8:9], vcc\ns_endpgm\n", DIAG_UNINIT, 2);
	/* Copies and sums of undefined values decide nothing. */
	run_clean(G942, "v_add_u32 v3, v2, v0\ns_add_u32 s8, s9, s10\nv_cmp_eq_u32 vcc, v3, v0\ns_endpgm\n");
	end();
	/* What can't matter does not: x ^ x, the source that is not chosen, lanes that are off. */
	run_clean(G942, SETUP9 "v_xor_b32 v3, v2, v2\n" STORE9("v3"));
	end();
	run_clean(G942, SETUP9 "v_cmp_gt_u32 vcc, 100, v0\nv_cndmask_b32 v3, v2, v0, vcc\n" STORE9("v3"));
	end();
	run_clean(G942, SETUP9 "s_mov_b64 exec, 0xff\nv_mov_b32 v2, v0\n" STORE9("v2"));
	end();
	run_finds(G942, SETUP9 "s_mov_b64 exec, 0xff\nv_mov_b32 v2, v0\ns_mov_b64 exec, -1\n" STORE9("v2"), DIAG_UNINIT, 7);
	/* A register that one lane was written to, and read from. */
	run_clean(G942, "s_mov_b32 s8, 5\nv_writelane_b32 v9, s8, 3\nv_readlane_b32 s10, v9, 3\ns_cmp_eq_u32 s10, 5\ns_cbranch_scc1 out\nout:\ns_endpgm\n");
	end();
	run_finds(G942, "s_mov_b32 s8, 5\nv_writelane_b32 v9, s8, 3\nv_readlane_b32 s10, v9, 2\ns_cmp_eq_u32 s10, 5\ns_cbranch_scc1 out\nout:\ns_endpgm\n",
		  DIAG_UNINIT, 5);
	/* Upper halves do not reach the lower half of a sum. */
	run_clean(G942, SETUP9 "v_mov_b32 v4, 3\nv_mad_u64_u32 v[2:3], s[8:9], v0, 2, v[4:5]\n" STORE9("v2"));
	assert_int_equal(r.out[9], 21);
	end();
	/* Lanes move with their data. */
	run_clean(G942, SETUP9 "s_mov_b64 exec, 1\nv_mov_b32 v2, 9\ns_mov_b64 exec, -1\nv_mov_b32_dpp v3, v2 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf\n"
		  "s_mov_b64 exec, 15\n" STORE9("v3"));
	assert_int_equal(r.out[3], 9);
	end();
}

/* ---- DPP and SDWA ---- */

static void selection(void **state)
{
	(void)state;
	run_clean(G942, SETUP9 "v_mov_b32 v2, -1\nv_mov_b32_dpp v2, v0 row_shr:3 row_mask:0xf bank_mask:0xf\n" STORE9("v2"));
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(r.out[i], i % 16 < 3 ? UINT32_MAX : i - 3);
	end();
	run_clean(G942, SETUP9 "v_mov_b32 v2, -1\nv_mov_b32_dpp v2, v0 row_shl:1 row_mask:0x5 bank_mask:0x3 bound_ctrl:0\n" STORE9("v2"));
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(r.out[i], i / 16 % 2 || i % 16 >= 8 ? UINT32_MAX : i + 1);
	end();
	run_clean(G942, SETUP9 "v_mov_b32 v2, 0x8899aabb\nv_mov_b32 v3, 0x11223344\n"
		  "v_mov_b32_sdwa v3, sext(v2) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1\n" STORE9("v3"));
	assert_int_equal(r.out[0], 0xffaa3344);
	end();
	run_clean(G1250, SETUP12 "v_mov_b32 v2, -1\nv_mov_b32_dpp v2, v0 dpp8:[7,6,5,4,3,2,1,0]\n" STORE12("v2"));
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(r.out[i], (i & ~7u) + 7 - (i & 7));
	end();
	/* Both halves of a dual instruction read before either writes. */
	run_clean(G1250, SETUP12 "v_mov_b32 v2, 5\nv_mov_b32 v3, 9\nv_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\nv_lshl_or_b32 v2, v2, 8, v3\n" STORE12("v2"));
	assert_int_equal(r.out[7], 9 << 8 | 5);
	end();
}

/* ---- barriers ---- */

static void barriers(void **state)
{
	const struct finding *f;

	(void)state;
	/* Each wave reads what its neighbour wrote, with a barrier between. */
	begin();
	r.l.block[0] = 256;
	r.l.dynamic_lds_bytes = 1024;
	go(G942, SETUP9 "ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v2, 0x100, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n" STORE9("v3"));
	clean();
	for (unsigned i = 0; i < 256; i++)
		assert_int_equal(r.out[i], i ^ 64);
	end();
	/* One wave of two does not come. */
	begin();
	r.l.block[0] = 64;
	go(G1250, "v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccz wait\ns_barrier_signal -1\nwait:\ns_barrier_wait -1\ns_endpgm\n");
	f = found(0, DIAG_DEADLOCK, 5);
	assert_non_null(strstr(f->message, "waves 0-1 in line 5"));
	end();
	/* A wave that ends early no longer counts; one that took part before and stops is a mistake. */
	begin();
	r.l.block[0] = 128;
	go(G942, "v_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccnz out\ns_barrier\ns_barrier\nout:\ns_endpgm\n");
	clean();
	end();
	begin();
	r.l.block[0] = 128;
	go(G942, "s_barrier\nv_cmp_gt_u32 vcc, 64, v0\ns_cbranch_vccnz out\ns_barrier\nout:\ns_endpgm\n");
	found(0, DIAG_BARRIER, 4);
	end();
	/* Two signals, two waits: of two completions a slow wave notices one. */
	begin();
	r.l.block[0] = 64;
	go(G1250, "s_barrier_signal -1\ns_barrier_signal -1\ns_barrier_wait -1\ns_barrier_wait -1\ns_endpgm\n");
	found(0, DIAG_BARRIER, 4);
	end();
	/* The offset of two groups: one waits once more in front of the loop, the other behind it. */
	begin();
	r.l.block[0] = 128;
	go(G942, "v_cmp_gt_u32 vcc, 64, v0\ns_mov_b32 s8, 0\ns_cbranch_vccnz loop\ns_barrier\nloop:\ns_barrier\ns_add_u32 s8, s8, 1\ns_cmp_lt_u32 s8, 5\n"
	   "s_cbranch_scc1 loop\ns_cbranch_vccz out\ns_barrier\nout:\ns_endpgm\n");
	clean();
	end();
}

static void split_barriers(void **state)
{
	(void)state;
	/* The first wave that signals says so; exactly one does. */
	begin();
	r.l.block[0] = 256;
	go(G1250, SETUP12 "s_barrier_signal_isfirst -1\ns_cselect_b32 s8, 1, 0\ns_barrier_wait -1\nv_mov_b32 v2, s8\n" STORE12("v2"));
	clean();
	for (unsigned i = 0, n = 0; i < 256; i += 32) {
		n += r.out[i];
		assert_int_equal(n, 1); /* in turn: the first wave */
	}
	end();
	/* A named barrier of two members: waves 0 and 1 meet, the others pass it by. */
	begin();
	r.l.block[0] = 128;
	go(G1250, "s_mov_b32 m0, 0x20001\ns_barrier_init m0\ns_barrier_signal -1\ns_barrier_wait -1\nv_readfirstlane_b32 s8, v0\ns_cmp_ge_u32 s8, 64\n"
	   "s_cbranch_scc1 out\ns_barrier_join 1\ns_barrier_signal 1\ns_barrier_wait 1\nout:\ns_endpgm\n");
	clean();
	end();
	/* With three members one is missing. */
	begin();
	r.l.block[0] = 128;
	go(G1250, "s_mov_b32 m0, 0x30001\ns_barrier_init m0\ns_barrier_signal -1\ns_barrier_wait -1\nv_readfirstlane_b32 s8, v0\ns_cmp_ge_u32 s8, 64\n"
	   "s_cbranch_scc1 out\ns_barrier_join 1\ns_barrier_signal 1\ns_barrier_wait 1\nout:\ns_endpgm\n");
	found(0, DIAG_DEADLOCK, 10);
	end();
	/* Workgroups of a cluster meet: one wave of each signals. */
	begin();
	r.l.grid[0] = 4;
	r.l.cluster[0] = 2;
	r.l.block[0] = 64;
	go(G1250, "s_barrier_signal_isfirst -1\ns_cbranch_scc0 wait\ns_barrier_signal -3\nwait:\ns_barrier_wait -1\ns_barrier_wait -3\ns_endpgm\n");
	clean();
	end();
	begin();
	r.l.grid[0] = 4;
	r.l.cluster[0] = 2;
	r.l.block[0] = 32;
	go(G1250, "s_and_b32 s8, ttmp6, 15\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc0 wait\ns_barrier_signal -3\nwait:\ns_barrier_wait -3\ns_endpgm\n");
	found(0, DIAG_DEADLOCK, 6);
	end();
}

/* ---- orders, threads, counts ---- */

/* Results, counts and findings do not depend on threads; results not on the order of waves. */
static void deterministic(void **state)
{
	static const char text[] = SETUP9
		"s_mov_b32 s8, 0\nv_mov_b32 v2, v0\nloop:\nds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v3, 0x100, v1\nds_read_b32 v4, v3\n"
		"s_waitcnt lgkmcnt(0)\nv_mad_u32_u24 v2, v4, 3, v0\ns_barrier\ns_add_u32 s8, s8, 1\ns_cmp_lt_u32 s8, s2\ns_cbranch_scc1 loop\n"
		"v_lshl_add_u32 v1, s2, 10, v1\n" STORE9("v2");
	static uint32_t first[OUT];
	uint64_t insns = 0;

	(void)state;
	for (unsigned n = 0; n < 6; n++) {
		begin();
		r.l.grid[0] = 4;
		r.l.block[0] = 256;
		r.l.dynamic_lds_bytes = 1024;
		r.o.threads = 1 + n % 3;
		r.o.order = n < 3 ? EXEC_ROUND_ROBIN : EXEC_RANDOM;
		r.o.seed = n;
		go(G942, text);
		clean();
		if (n == 0) {
			memcpy(first, r.out, sizeof(first));
			insns = r.res.insns;
		}
		assert_memory_equal(first, r.out, sizeof(first));
		assert_int_equal(r.res.insns, insns);
		end();
	}
	/* The lowest workgroup with a fault is the one that is reported. */
	for (unsigned n = 0; n < 4; n++) {
		begin();
		r.l.grid[0] = 16;
		r.o.threads = 1 + n;
		go(G942, "s_cmp_lt_u32 s2, 5\ns_cbranch_scc1 out\ns_trap 2\nout:\ns_endpgm\n");
		assert_non_null(strstr(found(0, DIAG_WRONG, 3)->message, "workgroup 5,"));
		end();
	}
}

static void only_one(void **state)
{
	(void)state;
	begin();
	r.l.grid[0] = 4;
	r.o.only = true;
	r.o.only_workgroup = 2;
	go(G942, SETUP9 "v_lshl_add_u32 v1, s2, 8, v1\n" STORE9("v0"));
	clean();
	assert_int_equal(r.out[0], 0xeeeeeeee);
	assert_int_equal(r.out[128], 0);
	assert_int_equal(r.out[129], 1);
	assert_int_equal(r.out[192], 0xeeeeeeee);
	assert_int_equal(r.res.insns, 6);
	end();
}

static void unsupported(void **state)
{
	(void)state;
	begin();
	go(G942, "s_nop 0\nds_gws_sema_v gds\ns_rfe_b64 s[0:1]\ns_rfe_b64 s[0:1]\ns_endpgm\n");
	found(0, DIAG_UNSUPPORTED, 2);
	assert_non_null(strstr(found(1, DIAG_UNSUPPORTED, 3)->message, "s_rfe_b64"));
	assert_non_null(strstr(r.d.list[1].message, "2 times"));
	assert_int_equal(r.d.n, 2);
	assert_int_equal(r.res.insns, 0);
	assert_int_equal(exec_unsupported(r.p, &r.d), 2);
	end();
}

/* ---- analysis ---- */

static unsigned calls, lds_calls, unknown_calls;

static void count_calls(void *ctx, uint64_t workgroup, unsigned wave, uint32_t insn, const struct exec_lds *lds)
{
	(void)ctx;
	(void)workgroup;
	(void)wave;
	(void)insn;
	calls++;
	lds_calls += lds && !lds->unknown && lds->addr[1] == 4 && lds->width_bytes == 4;
	unknown_calls += lds && lds->unknown;
}

/* A loop over an unknown count makes its trips; a bounds check goes on; addresses of lanes are known. */
static void analysis(void **state)
{
	static const char text[] =
		"s_load_dword s6, s[0:1], 0x8\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\ns_cmp_lt_u32 s6, 1\ns_cbranch_scc1 out\nloop:\n"
		"ds_write_b32 v1, v0\nv_add_u32 v2, s6, v1\nds_read_b32 v3, v2\ns_sub_u32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 loop\nout:\ns_endpgm\n";

	(void)state;
	for (unsigned trips = 0; trips < 7; trips += 3) {
		unsigned want = (trips ? trips : 4) + 1;

		begin();
		calls = lds_calls = unknown_calls = 0;
		r.l.dynamic_lds_bytes = 1024;
		r.o.analysis = true;
		r.o.unknown_trips = trips;
		r.o.on_insn = count_calls;
		go(G942, text);
		clean();
		assert_int_equal(r.res.site[6].executed, want);
		assert_int_equal(lds_calls, want);
		assert_int_equal(unknown_calls, want);
		assert_int_equal(r.res.site[7].unknown_addresses, want);
		assert_int_equal(calls, r.res.insns);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_ids), cmocka_unit_test(start_threads), cmocka_unit_test(start_described), cmocka_unit_test(start_flow),
		cmocka_unit_test(launches), cmocka_unit_test(branches), cmocka_unit_test(endless), cmocka_unit_test(poison),
		cmocka_unit_test(finite_counters), cmocka_unit_test(random_waits), cmocka_unit_test(undefined),
		cmocka_unit_test(selection), cmocka_unit_test(barriers), cmocka_unit_test(split_barriers),
		cmocka_unit_test(deterministic), cmocka_unit_test(only_one), cmocka_unit_test(unsupported), cmocka_unit_test(analysis),
	};

	return cmocka_run_group_tests_name("exec", tests, setup, teardown);
}
