/*
 * Races as the executor finds them: small kernels of a few waves, each with a twin that is right. What is
 * found must not depend on the order in which the waves ran.
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

#define SEEDS 20

static const char *const names[] = { "gfx942", "gfx950", "gfx1250" };
static struct target *targets[3];

static int setup(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d);
	for (size_t i = 0; i < 3; i++) {
		targets[i] = target_load(names[i], NULL, (struct loc){ 0 }, &d);
		assert_non_null(targets[i]);
	}
	diag_free(&d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		target_free(targets[i]);
	return 0;
}

enum { G942 = 1, G950 = 2, G1250 = 4, G9 = 3, ALL = 7 };

struct race_case {
	const char *name;
	unsigned targets;
	unsigned waves;
	const char *body; /* '@': wait for everything, '#': barrier; see begin_text for the registers */
	const char *bad;  /* words of the finding; NULL: there is none */
	unsigned cluster; /* workgroups of a cluster, 0: 1 */
};

static const char *const all_waits[2] = {
	"s_waitcnt vmcnt(0) lgkmcnt(0)\n",
	"s_wait_loadcnt 0x0\ns_wait_storecnt 0x0\ns_wait_dscnt 0x0\ns_wait_kmcnt 0x0\ns_wait_asynccnt 0x0\ns_wait_tensorcnt 0x0\n",
};

static void add_text(struct strbuf *b, const char *s, bool gfx9)
{
	for (; *s; s++)
		if (*s == '@')
			strbuf_add(b, "%s", all_waits[!gfx9]);
		else if (*s == '#')
			strbuf_add(b, "%s", gfx9 ? "s_barrier\n" : "s_barrier_signal -1\ns_barrier_wait -1\n");
		else
			strbuf_addn(b, s, 1);
}

/*
 * v2: 4 * thread, this wave's own dwords; v3: those of the wave beside it (0 and 1, 2 and 3); v4: 16 * thread;
 * s2: number of the wave; s[4:5]: 64 KiB of memory; s[8:9], s[12:15]: a buffer resource of the same.
 */
static char *begin_text(const struct race_case *c, bool gfx9)
{
	unsigned lanes = gfx9 ? 64 : 32;
	struct strbuf b = { 0 };

	add_text(&b, "s_load_dwordx2 s[4:5], s[0:1], 0x0\n@v_lshlrev_b32_e32 v2, 2, v0\n", gfx9);
	strbuf_add(&b, "v_xor_b32_e32 v3, 0x%x, v2\nv_lshlrev_b32_e32 v4, 4, v0\n", 4 * lanes);
	strbuf_add(&b, "v_readfirstlane_b32 s2, v0\ns_nop 4\ns_lshr_b32 s2, s2, %u\n", gfx9 ? 6 : 5);
	add_text(&b, "s_mov_b32 s12, s4\ns_mov_b32 s13, s5\ns_mov_b32 s14, 0x10000\ns_mov_b32 s15, 0x27000\n", gfx9);
	add_text(&b, c->body, gfx9);
	strbuf_add(&b, "\ns_endpgm\n");
	return b.s;
}

/* Everything that was found, as printed. */
static char *run(const struct race_case *c, unsigned t, const struct exec_options *o, int *rc)
{
	static uint32_t memory[16384];
	bool gfx9 = t < 2;
	char *text = begin_text(c, gfx9), *out = NULL;
	struct src *s = src_from_text(c->name, text, strlen(text));
	struct listing_options lo = { .keep_operands = true, .waves = c->waves };
	struct listing_info info = { 0 };
	struct exec_buffer buffer = { .data = memory, .bytes = sizeof(memory), .initialised = true, .writable = true };
	uint64_t arg = 0;
	struct exec_launch l = { .grid = { 2, 1, 1 }, .cluster = { c->cluster ? c->cluster : 1, 1, 1 }, .block = { c->waves * (gfx9 ? 64 : 32), 1, 1 }, .buffers = &buffer, .nbuffers = 1,
				 .kernarg = &arg, .kernarg_bytes = 8, .npatches = 1 };
	struct exec_result r = { 0 };
	struct program *p;
	struct diag d;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	diag_init(&d);
	p = listing_parse(s, targets[t], &lo, &info, &d);
	*rc = -2;
	if (p) {
		info.lds_bytes = 16384;
		info.launch.described = info.launch.kernarg_ptr = true;
		info.launch.kernarg_bytes = 8;
		*rc = exec_run(p, &info, &l, o, &r, &d);
		exec_result_free(&r);
	}
	diag_print(&d, f, false);
	fclose(f);
	diag_free(&d);
	program_free(p);
	src_free(s);
	free(text);
	return out;
}

static void check(const struct race_case *c)
{
	for (unsigned t = 0; t < 3; t++) {
		char *first = NULL;

		if (!(c->targets >> t & 1))
			continue;
		for (unsigned seed = 0; seed <= SEEDS; seed++) {
			struct exec_options o = { .order = seed ? EXEC_RANDOM : EXEC_ROUND_ROBIN, .seed = seed * 7919, .max_insns = 100000, .threads = 1 + seed % 2 };
			int rc;
			char *found = run(c, t, &o, &rc);

			if (rc != (c->bad ? -1 : 0) || (c->bad && (!strstr(found, "E-RACE") || !strstr(found, c->bad))))
				fail_msg("%s on %s, order %u: %s\n%s", c->name, names[t], seed, c->bad ? "not found" : "should be clean", found);
			if (first && strcmp(first, found) != 0)
				fail_msg("%s on %s: order %u finds\n%sbut order 0\n%s", c->name, names[t], seed, found, first);
			if (!first)
				first = found;
			else
				free(found);
		}
		free(first);
	}
}

#define NOT_WAITED "goes there before its"
#define NO_BARRIER "no barrier is between the two"
#define OWN "while its own"

#define CASE(n, t, w, text, words) { .name = n, .targets = t, .waves = w, .body = text, .bad = words }
#define IN_CLUSTER(n, text, words) { .name = n, .targets = G1250, .waves = 2, .body = text, .bad = words, .cluster = 2 }

static const struct race_case cases[] = {
	/* one wave writes, the other reads */
	CASE("write, no wait", ALL, 2, "ds_write_b32 v2, v0\n#ds_read_b32 v5, v3\n@", NOT_WAITED),
	CASE("write, no barrier", ALL, 2, "ds_write_b32 v2, v0\n@ds_read_b32 v5, v3\n@", NO_BARRIER),
	CASE("write, wait, barrier", ALL, 2, "ds_write_b32 v2, v0\n@#ds_read_b32 v5, v3\n@", NULL),
	CASE("wait behind the barrier", ALL, 2, "ds_write_b32 v2, v0\n#@ds_read_b32 v5, v3\n@", NOT_WAITED),
	CASE("four waves", ALL, 4, "ds_write_b32 v2, v0\n@#ds_read_b32 v5, v3\n@", NULL),
	/* a read that is still under way when the other wave writes again */
	CASE("refill, no wait", ALL, 2, "ds_write_b32 v2, v0\n@#ds_read_b32 v5, v3\n#ds_write_b32 v2, v0\n@", NOT_WAITED),
	CASE("refill, wait", ALL, 2, "ds_write_b32 v2, v0\n@#ds_read_b32 v5, v3\n@#ds_write_b32 v2, v0\n@", NULL),
	CASE("refill, no barrier", ALL, 2, "ds_write_b32 v2, v0\n@#ds_read_b32 v5, v3\n@ds_write_b32 v2, v0\n@", NO_BARRIER),
	/* counted waits */
	CASE("wait for all but one, first", G9, 2,
	  "ds_write_b32 v2, v0\nds_write_b32 v2, v0 offset:1024\ns_waitcnt lgkmcnt(1)\n#ds_read_b32 v5, v3\n@", NULL),
	CASE("wait for all but one, second", G9, 2,
	  "ds_write_b32 v2, v0\nds_write_b32 v2, v0 offset:1024\ns_waitcnt lgkmcnt(1)\n#ds_read_b32 v5, v3 offset:1024\n@", NOT_WAITED),
	CASE("wait for all but one, first", G1250, 2,
	  "ds_store_b32 v2, v0\nds_store_b32 v2, v0 offset:1024\ns_wait_dscnt 0x1\n#ds_load_b32 v5, v3\n@", NULL),
	CASE("wait for all but one, second", G1250, 2,
	  "ds_store_b32 v2, v0\nds_store_b32 v2, v0 offset:1024\ns_wait_dscnt 0x1\n#ds_load_b32 v5, v3 offset:1024\n@", NOT_WAITED),
	/* copies to LDS */
#define COPY9 "s_lshl_b32 m0, s2, 8\ns_nop 0\nbuffer_load_dword v2, s[12:15], 0 offen lds\n"
	CASE("copy, no wait", G9, 2, COPY9 "#ds_read_b32 v5, v3\n@", NOT_WAITED),
	CASE("copy, wrong counter", G9, 2, COPY9 "s_waitcnt lgkmcnt(0)\n#ds_read_b32 v5, v3\n@", NOT_WAITED),
	CASE("copy, wait", G9, 2, COPY9 "s_waitcnt vmcnt(0)\n#ds_read_b32 v5, v3\n@", NULL),
	CASE("own copy, no wait", G9, 2, COPY9 "ds_read_b32 v5, v2\n@", OWN),
	CASE("own copy, wait", G9, 2, COPY9 "s_waitcnt vmcnt(0)\nds_read_b32 v5, v2\n@", NULL),
	CASE("copy over an own read, no wait", G9, 1, "ds_write_b32 v2, v0\n@ds_read_b32 v5, v2\n" COPY9 "@", OWN),
	CASE("copy over an own read, wait", G9, 1, "ds_write_b32 v2, v0\n@ds_read_b32 v5, v2\ns_waitcnt lgkmcnt(0)\n" COPY9 "@", NULL),
	CASE("two copies, one waited for", G9, 2,
	  COPY9 "s_addk_i32 m0, 0x400\ns_nop 0\nbuffer_load_dword v2, s[12:15], 0 offen lds\ns_waitcnt vmcnt(1)\n#ds_read_b32 v5, v3\n@", NULL),
	CASE("two copies, other one read", G9, 2,
	  COPY9 "s_addk_i32 m0, 0x400\ns_nop 0\nbuffer_load_dword v2, s[12:15], 0 offen lds\ns_waitcnt vmcnt(1)\n"
	  "#ds_read_b32 v5, v3 offset:1024\n@", NOT_WAITED),
#define ASYNC "global_load_async_to_lds_b32 v2, v2, s[4:5]\n"
	CASE("async, no wait", G1250, 2, ASYNC "#ds_load_b32 v5, v3\n@", NOT_WAITED),
	CASE("async, wrong counter", G1250, 2, ASYNC "s_wait_loadcnt 0x0\ns_wait_dscnt 0x0\n#ds_load_b32 v5, v3\n@", NOT_WAITED),
	CASE("async, wait", G1250, 2, ASYNC "s_wait_asynccnt 0x0\n#ds_load_b32 v5, v3\n@", NULL),
	CASE("own async, no wait", G1250, 1, ASYNC "ds_load_b32 v5, v2\n@", OWN),
	CASE("async over async", G1250, 1, ASYNC ASYNC "@", OWN), /* they may write LDS in any order */
	CASE("async, wait, async", G1250, 1, ASYNC "s_wait_asynccnt 0x0\n" ASYNC "@", NULL),
#define TENSOR "s_mov_b32 s20, 1\ns_mov_b32 s21, 0\ns_mov_b32 s22, s4\ns_or_b32 s23, s5, 0x80000000\ns_mov_b32 s24, 0x20000\n" \
	"s_mov_b32 s25, 64 << 16\ns_mov_b32 s26, 1 << 16\ns_mov_b32 s27, 64 << 16\ns_mov_b32 s28, 1\ns_mov_b32 s29, 64\ns_mov_b32 s30, 0\n" \
	"s_mov_b32 s31, 0\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L1\ntensor_load_to_lds s[20:23], s[24:31]\n"
	CASE("tensor, no wait", G1250, 2, TENSOR "L1:\n#ds_load_b32 v5, v3\n@", NOT_WAITED),
	CASE("tensor, wait", G1250, 2, TENSOR "s_wait_tensorcnt 0x0\nL1:\n#ds_load_b32 v5, v3\n@", NULL),
	CASE("tensor, others wait", G1250, 2, TENSOR "s_branch L2\nL1:\ns_wait_tensorcnt 0x0\nL2:\n#ds_load_b32 v5, v3\n@", NOT_WAITED),
	/* split barriers */
	CASE("signal before the wait", G1250, 2,
	  "ds_store_b32 v2, v0\ns_barrier_signal -1\ns_wait_dscnt 0x0\ns_barrier_wait -1\nds_load_b32 v5, v3\n@", NOT_WAITED),
	CASE("signal behind the wait", G1250, 2,
	  "ds_store_b32 v2, v0\ns_wait_dscnt 0x0\ns_barrier_signal -1\ns_barrier_wait -1\nds_load_b32 v5, v3\n@", NULL),
	CASE("write between signal and wait", G1250, 2,
	  "s_barrier_signal -1\nds_store_b32 v2, v0\ns_wait_dscnt 0x0\ns_barrier_wait -1\nds_load_b32 v5, v3\n@", NO_BARRIER),
	/* atomics */
	CASE("atomics of both", ALL, 2,
	  "v_mov_b32_e32 v6, 0\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L1\nds_write_b32 v6, v6\n@L1:\n#ds_add_u32 v6, v0\n@#ds_read_b32 v5, v6\n@", NULL),
	CASE("atomic against a read", ALL, 2,
	  "v_mov_b32_e32 v6, 0\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L1\nds_write_b32 v6, v6\n@L1:\n#ds_add_u32 v6, v0\n@ds_read_b32 v5, v6\n@",
	  NO_BARRIER),
	/* the same value by the same instruction is let pass */
	CASE("same value", ALL, 2, "v_and_b32_e32 v6, 31, v0\nv_lshlrev_b32_e32 v7, 2, v6\nds_write_b32 v7, v6\n@#ds_read_b32 v5, v7\n@", NULL),
	CASE("different values", ALL, 2, "v_and_b32_e32 v6, 31, v0\nv_lshlrev_b32_e32 v7, 2, v6\nds_write_b32 v7, v0\n@", NO_BARRIER),
	/* bytes of one dword */
	CASE("bytes beside each other", ALL, 2, "v_lshlrev_b32_e32 v7, 1, v0\nv_and_b32_e32 v7, 0x3e, v7\nv_or_b32_e32 v7, s2, v7\n"
	  "ds_write_b8 v7, v0\n@ds_read_u8 v5, v7\n@", NULL),
	CASE("bytes that overlap", ALL, 2, "v_lshlrev_b32_e32 v7, 1, v0\nv_and_b32_e32 v7, 0x3e, v7\nv_or_b32_e32 v7, s2, v7\n"
	  "ds_write_b8 v7, v0\n@ds_read_u16 v5, v7\n@", NO_BARRIER),
	/* order by way of a third wave */
	CASE("two barriers in between", ALL, 4, "ds_write_b32 v2, v0\n@##v_xor_b32_e32 v3, v3, v3\nds_read_b32 v5, v3\n@#ds_write_b32 v2, v0\n@", NULL),
	/* global memory inside the workgroup */
	CASE("store, no wait", ALL, 2, "global_store_dword v2, v0, s[4:5]\n#global_load_dword v5, v3, s[4:5]\n@", NOT_WAITED),
	CASE("store, wait, barrier", ALL, 2, "global_store_dword v2, v0, s[4:5]\n@#global_load_dword v5, v3, s[4:5]\n@", NULL),
	CASE("store, no barrier", ALL, 2, "global_store_dword v2, v0, s[4:5]\n@global_load_dword v5, v3, s[4:5]\n@", NO_BARRIER),
	CASE("loads of both", ALL, 2, "global_load_dword v5, v2, s[4:5]\nglobal_load_dword v6, v3, s[4:5]\n@", NULL),
	CASE("global atomics", ALL, 2, "v_mov_b32_e32 v6, 0\nglobal_atomic_add v6, v0, s[4:5]\n@", NULL),
	CASE("store over a load", ALL, 2, "global_load_dword v5, v3, s[4:5]\n#global_store_dword v2, v0, s[4:5]\n@", NOT_WAITED),
	/* a loop over two slots: one barrier a trip is enough when each slot is refilled a trip later */
#define SLOTS(between) \
	"s_mov_b32 s16, 4\nv_mov_b32_e32 v7, v2\nv_mov_b32_e32 v8, v3\nL1:\nds_write_b32 v7, v0\n@#ds_read_b32 v5, v8\n" between \
	"v_xor_b32_e32 v7, 0x1000, v7\nv_xor_b32_e32 v8, 0x1000, v8\ns_add_i32 s16, s16, -1\ns_cmp_lg_u32 s16, 0\ns_cbranch_scc1 L1\n@"
	CASE("two slots", ALL, 2, SLOTS("@"), NULL),
	CASE("two slots, read not waited for", ALL, 2, SLOTS(""), NULL), /* the wait of the next trip comes before the barrier */
#define ONE_SLOT(between) \
	"s_mov_b32 s16, 4\nL1:\nds_write_b32 v2, v0\n@#ds_read_b32 v5, v3\n@" between \
	"s_add_i32 s16, s16, -1\ns_cmp_lg_u32 s16, 0\ns_cbranch_scc1 L1\n@"
	CASE("one slot", ALL, 2, ONE_SLOT("#"), NULL),
	CASE("one slot, one barrier", ALL, 2, ONE_SLOT(""), NO_BARRIER),
	/*
	 * Two groups, the second one stage behind: it waits at a barrier of its own first. Both write, then both read
	 * what the other wrote. A wait just before one's own read is too late for the group that reads first.
	 */
#define STAGES(before, inside) \
	"s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 L1\n#L1:\nds_write_b32 v2, v0\n" before "#\ns_nop 0\n" inside "#ds_read_b32 v5, v3\n@#\n" \
	"s_cmp_eq_u32 s2, 1\ns_cbranch_scc1 L2\n#L2:\n"
	CASE("a stage behind, waited for a stage before", ALL, 2, STAGES("@", ""), NULL),
	CASE("a stage behind, waited for before the own read", ALL, 2, STAGES("", "@"), NOT_WAITED),
	/*
	 * Barrier object in LDS: both waves copy, arrive behind their copies, and look at it until its phase has
	 * changed. Of two arrivals the count is 1 at first.
	 */
#define OBJECT "v_mov_b32_e32 v8, 0x2000\nv_mov_b32_e32 v10, 1\nv_mov_b32_e32 v11, 1\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L1\n" \
	"ds_store_b64 v8, v[10:11]\n@L1:\n#"
#define LOOK "L2:\nds_load_b32 v9, v8\n@v_readfirstlane_b32 s16, v9\ns_cmp_ge_i32 s16, 0\ns_cbranch_scc1 L2\n"
#define ONE_LANE(text) "s_mov_b32 s17, exec_lo\ns_mov_b32 exec_lo, 1\n" text "s_mov_b32 exec_lo, s17\n"
	CASE("arrival behind copies", G1250, 2,
	     OBJECT ASYNC ONE_LANE("ds_atomic_async_barrier_arrive_b64 v8\n") LOOK "ds_load_b32 v5, v3\n@", NULL),
	CASE("arrival that does not wait for copies", G1250, 2,
	     OBJECT ASYNC ONE_LANE("ds_atomic_barrier_arrive_rtn_b64 v[12:13], v8, v[10:11]\n") LOOK "ds_load_b32 v5, v3\n@", NOT_WAITED),
	CASE("arrival behind writes", G1250, 2,
	     OBJECT "ds_store_b32 v2, v0\n@" ONE_LANE("ds_atomic_barrier_arrive_rtn_b64 v[12:13], v8, v[10:11]\n") LOOK "ds_load_b32 v5, v3\n@",
	     NULL),
	/* one wave that has waited does not stand for another one that has not */
#define FLAG "v_mov_b32_e32 v8, 0x2000\nv_mov_b32_e32 v10, 0\nv_mov_b32_e32 v11, 0\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L1\n" \
	"ds_store_b64 v8, v[10:11]\n@L1:\n#v_lshlrev_b32_e32 v7, 2, v0\nv_and_b32_e32 v7, 0x7c, v7\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L3\n" \
	"v_mov_b32_e32 v10, 1\nds_store_b32 v7, v0\n@" ONE_LANE("ds_atomic_barrier_arrive_rtn_b64 v[12:13], v8, v[10:11]\n") "@s_endpgm\nL3:\n"
	CASE("flag, both wait", G1250, 3, FLAG LOOK "ds_load_b32 v5, v7\n@", NULL),
	CASE("flag, one waits", G1250, 3, FLAG "s_cmp_lg_u32 s2, 1\ns_cbranch_scc1 L4\n" LOOK "L4:\nds_load_b32 v5, v7\n@",
	     "wave 2 reads LDS"),
	/* workgroups of one cluster and global memory: thread t of workgroup 1 is 0x100 bytes behind */
#define RANK "s_and_b32 s16, ttmp6, 15\ns_lshl_b32 s17, s16, 8\ns_xor_b32 s18, s17, 0x100\nv_add_nc_u32_e32 v7, s17, v2\nv_add_nc_u32_e32 v8, s18, v2\n"
#define CLUSTER_BARRIER "#s_cmp_lg_u32 s2, 0\ns_cbranch_scc1 L1\ns_barrier_signal -3\nL1:\ns_barrier_wait -3\n"
	IN_CLUSTER("cluster, no barrier", RANK "global_store_b32 v7, v0, s[4:5]\n@global_load_b32 v5, v8, s[4:5]\n@",
		   "that wave 0 of the cluster's workgroup 1 writes: no barrier"),
	IN_CLUSTER("cluster, barrier", RANK "global_store_b32 v7, v0, s[4:5]\n@" CLUSTER_BARRIER "global_load_b32 v5, v8, s[4:5]\n@", NULL),
	IN_CLUSTER("cluster, no wait", RANK "global_store_b32 v7, v0, s[4:5]\n" CLUSTER_BARRIER "global_load_b32 v5, v8, s[4:5]\n@",
		   NOT_WAITED),
};

static void test_races(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_races) };

	return cmocka_run_group_tests(tests, setup, teardown);
}
