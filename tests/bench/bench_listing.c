/*
 * How fast a listing is read and checked: text in the manner of a GEMM library's generator (symbolic registers,
 * comments, unrolled loops, copies to LDS) of 25,000 and 100,000 lines. Best of several runs, lines a second.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flow.h"
#include "listing.h"

#define RUNS 5
#define LOOP_LINES 2500u

/* Of this process, so that others do not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void header(struct strbuf *b)
{
	strbuf_add(b, "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n\t.text\n\t.globl\tCijk\n\t.p2align\t8\n\t.type\tCijk,@function\nCijk:\n");
	strbuf_add(b, ".set vgprValuC, 0\n.set vgprValuA_X0, 128\n.set vgprValuB_X0, 160\n.set vgprGlobalReadOffsetA, 200\n"
		   ".set vgprLocalReadAddrA, 208\n.set vgprLocalReadAddrB, 209\n.set sgprSrdA, 4\n.set sgprLoopCounterL, 20\n");
}

/* One unrolled iteration of a loop. Returns its lines. */
static unsigned body(struct strbuf *b, unsigned i)
{
	unsigned a = i % 4 * 4, c = i % 8 * 16;

	strbuf_add(b, "/* iteration %u, pack and mfma, numPrefetchIter=0 */\n", i);
	strbuf_add(b, "s_mov_b32 m0, s%u                                  // local write base\n", 30 + i % 4);
	strbuf_add(b, "s_nop 0\n");
	strbuf_add(b, "buffer_load_dword v[vgprGlobalReadOffsetA+%u], s[sgprSrdA:sgprSrdA+3], 0 offen offset:%u lds // G -> Reg 0_0_%u_0\n",
		   i % 4, i % 16 * 64, i);
	for (unsigned k = 0; k < 4; k++) {
		strbuf_add(b, "v_mfma_f32_16x16x16_f16 v[vgprValuC+%u:vgprValuC+%u+3], v[vgprValuA_X0+%u:vgprValuA_X0+%u+1], "
			   "v[vgprValuB_X0+%u:vgprValuB_X0+%u+1], v[vgprValuC+%u:vgprValuC+%u+3] // left value = acc[%u+0:%u+3]\n",
			   c + k * 4, c + k * 4, a, a, a + k / 2 * 2, a + k / 2 * 2, c + k * 4, c + k * 4, c, c);
		strbuf_add(b, "ds_read_b128 v[%u:%u], v[vgprLocalReadAddr%c] offset:%u // L -> Reg lro=0 swapByteOffset=0 ti=16 vIdx=%u\n",
			   216 + k * 4, 219 + k * 4, k & 1 ? 'B' : 'A', (i * 4 + k) % 64 * 256, k);
	}
	strbuf_add(b, "s_waitcnt lgkmcnt(0)                               // wait for local read, vmcnt unchanged\n");
	strbuf_add(b, "v_add_u32 v210, v210, v211                         // inc address\n");
	strbuf_add(b, "v_perm_b32 v212, v216, v220, v213                  // pack\n");
	strbuf_add(b, "s_add_u32 s[sgprSrdA+0], s[sgprSrdA+0], s40        // gra SRD += inc(lower)\n");
	strbuf_add(b, "s_addc_u32 s[sgprSrdA+1], s[sgprSrdA+1], s41       // gra SRD += inc(upper)\n");
	return 17;
}

static void generate(struct strbuf *b, unsigned lines)
{
	unsigned at = 14, loop = 0;

	header(b);
	while (at < lines) {
		unsigned end = at + LOOP_LINES;

		strbuf_add(b, "label_LoopBeginL_%u:\n", loop);
		for (unsigned i = 0; at + 20 < end; i++)
			at += body(b, i);
		strbuf_add(b, "s_waitcnt vmcnt(0)\ns_barrier\ns_sub_u32 s[sgprLoopCounterL], s[sgprLoopCounterL], 1 // dec counterL\n"
			   "s_cmp_eq_i32 s[sgprLoopCounterL], 2                // counterL==2\n"
			   "s_cbranch_scc0 label_LoopBeginL_%u                  // restart LoopL\n", loop++);
		at += 6;
	}
	strbuf_add(b, "s_endpgm\n.Lfunc_end0:\n\t.size\tCijk, .Lfunc_end0-Cijk\n");
}

static int bench(const struct target *t, unsigned lines)
{
	static const char *const part[] = { "read", "wait states", "waits", "all" };
	double best[4] = { 1e9, 1e9, 1e9, 1e9 };
	struct listing_options o = { .keep_operands = true };
	struct strbuf b = { 0 };
	struct src *s;
	size_t findings = 0;

	generate(&b, lines);
	s = src_from_text("bench.s", b.s, b.len);
	for (int run = 0; run < RUNS; run++) {
		struct flow_result spacing, waits;
		struct listing_info info;
		struct program *p;
		struct diag d;
		double at[4];

		diag_init(&d);
		at[0] = now();
		p = listing_parse(s, t, &o, &info, &d);
		at[1] = now();
		if (!p) {
			diag_print(&d, stderr, false);
			return 1;
		}
		flow_spacing(p, &spacing);
		at[2] = now();
		flow_waits(p, &waits);
		at[3] = now();
		for (int k = 0; k < 4; k++) {
			double took = k < 3 ? at[k + 1] - at[k] : at[3] - at[0];

			best[k] = took < best[k] ? took : best[k];
		}
		findings = spacing.n + waits.n;
		flow_result_free(&spacing);
		flow_result_free(&waits);
		program_free(p);
		diag_free(&d);
	}
	printf("listing of %7zu lines, %zu findings:", s->nlines, findings);
	for (int k = 0; k < 4; k++)
		printf("  %s %.2f M lines/s", part[k], (double)s->nlines / best[k] * 1e-6);
	putchar('\n');
	src_free(s);
	strbuf_free(&b);
	return 0;
}

int main(void)
{
	struct target *t;
	struct diag d;
	int rc;

	diag_init(&d);
	t = target_load("gfx942", NULL, (struct loc){ 0 }, &d);
	if (!t) {
		diag_print(&d, stderr, false);
		return 1;
	}
	rc = bench(t, 25000) || bench(t, 100000);
	target_free(t);
	diag_free(&d);
	return rc;
}
