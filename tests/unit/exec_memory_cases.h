/*
 * Snippets of memory instructions for the executor's tests: text around them, a run, and the comparison with what
 * v[20:23] must hold. Every test that includes this has its own copy of the data.
 */
#ifndef WPSIM_TEST_EXEC_MEMORY_CASES_H
#define WPSIM_TEST_EXEC_MEMORY_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "exec.h"

/* ---- running a snippet ---- */

#define IN_BYTES 16384
#define OUT_BYTES (64 * 16)
#define PRESET(i) (0xa0a1a2a3u + (i)) /* what v20 to v23 hold in front of a case */

static uint8_t in_data[IN_BYTES], rw_data[4096], rw_before[4096];
static uint32_t out_data[64][4];
static const char *const names[] = { "gfx942", "gfx950", "gfx1250" };
static struct target *targets[3];

static inline int setup(void **state)
{
	struct diag d;

	(void)state;
	diag_init(&d);
	for (size_t i = 0; i < 3; i++) {
		targets[i] = target_load(names[i], NULL, (struct loc){ 0 }, &d);
		assert_non_null(targets[i]);
	}
	diag_free(&d);
	for (size_t i = 0; i < IN_BYTES; i++)
		in_data[i] = (uint8_t)(i * 37 + 11 + (i >> 8) * 13);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		target_free(targets[i]);
	return 0;
}

enum { G942 = 1, G950 = 2, G1250 = 4, G9 = 3, ALL = 7 };

struct snippet {
	const char *name;
	unsigned targets;
	const char *body;  /* '@' stands for waits on everything */
	unsigned lds, scratch;
	bool writable_in;  /* the input may be written */
};

static const char *const waits[2] = {
	"s_waitcnt vmcnt(0) lgkmcnt(0)\n",
	"s_wait_loadcnt 0x0\ns_wait_storecnt 0x0\ns_wait_dscnt 0x0\ns_wait_kmcnt 0x0\ns_wait_asynccnt 0x0\ns_wait_tensorcnt 0x0\n",
};

static inline void add_body(struct strbuf *b, const char *body, bool gfx9)
{
	for (const char *s = body; *s; s++)
		if (*s == '@')
			strbuf_add(b, "%s", waits[!gfx9]);
		else
			strbuf_addn(b, s, 1);
	strbuf_add(b, "\n");
}

/* s[4:5] in, s[6:7] out, s[8:9] read-write memory; v0 lane, v1 its place in out. */
static inline char *whole_text(const struct snippet *c, bool gfx9)
{
	struct strbuf b = { 0 };

	add_body(&b, "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dwordx2 s[8:9], s[0:1], 0x10\nv_lshlrev_b32_e32 v1, 4, v0\n@", gfx9);
	for (unsigned i = 0; i < 4; i++)
		strbuf_add(&b, "v_mov_b32_e32 v%u, 0x%x\n", 20 + i, PRESET(i));
	add_body(&b, c->body, gfx9);
	add_body(&b, "@global_store_dwordx4 v1, v[20:23], s[6:7]\ns_endpgm", gfx9);
	return b.s;
}

#define MAX_SITES 128
static struct exec_site sites[MAX_SITES]; /* of the last run, with the mnemonics */
static char site_op[MAX_SITES][40];
static struct exec_options options = { .threads = 1 };

static inline const struct exec_site *site_of(const char *op)
{
	for (size_t i = 0; i < MAX_SITES; i++)
		if (!strcmp(site_op[i], op))
			return &sites[i];
	fail_msg("%s was not executed", op);
	return NULL;
}

static inline int run_text(const struct snippet *c, unsigned t, struct diag *d)
{
	bool gfx9 = t < 2;
	unsigned lanes = gfx9 ? 64 : 32;
	char *text = whole_text(c, gfx9);
	struct src *s = src_from_text(c->name, text, strlen(text));
	struct listing_options lo = { .keep_operands = true, .waves = 1 };
	struct listing_info info = { 0 };
	struct program *p = listing_parse(s, targets[t], &lo, &info, d);
	struct exec_buffer buffers[3] = {
		{ .data = in_data, .bytes = IN_BYTES, .initialised = true, .writable = c->writable_in },
		{ .data = out_data, .bytes = 16 * lanes, .writable = true },
		{ .data = rw_data, .bytes = sizeof(rw_data), .initialised = true, .writable = true },
	};
	uint64_t args[3] = { 0 };
	struct exec_launch l = { .grid = { 1, 1, 1 }, .block = { lanes, 1, 1 }, .buffers = buffers, .nbuffers = 3, .kernarg = args,
				 .kernarg_bytes = sizeof(args), .npatches = 3 };
	struct exec_result r = { 0 };
	int rc = -1;

	for (unsigned i = 0; i < 3; i++) {
		l.patch[i].offset = 8 * i;
		l.patch[i].buffer = i;
	}
	for (size_t i = 0; i < sizeof(rw_data); i++)
		rw_before[i] = rw_data[i] = (uint8_t)(i * 29 + 5 + (i >> 6));
	memset(out_data, 0x5c, sizeof(out_data));
	if (p) {
		info.lds_bytes = c->lds;
		info.scratch_bytes = c->scratch;
		info.launch.described = true;
		info.launch.kernarg_ptr = true;
		info.launch.kernarg_bytes = sizeof(args);
		info.launch.float_mode = 0xf0;
		rc = exec_run(p, &info, &l, &options, &r, d);
		memset(site_op, 0, sizeof(site_op));
		for (size_t i = 0; r.site && i < p->ninsns && i < MAX_SITES; i++) {
			sites[i] = r.site[i];
			snprintf(site_op[i], sizeof(site_op[i]), "%s", p->insns[i].op);
		}
		exec_result_free(&r);
		program_free(p);
	}
	diag_keep(d, s);
	free(text);
	return rc;
}

/* ---- plain definitions ---- */

static inline uint32_t at(const uint8_t *mem, size_t size, size_t offset, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= offset + i < size ? (uint32_t)mem[offset + i] << 8 * i : 0;
	return v;
}

static inline uint32_t in8(size_t o) { return at(in_data, IN_BYTES, o, 1); }
static inline uint32_t in16(size_t o) { return at(in_data, IN_BYTES, o, 2); }
static inline uint32_t in32(size_t o) { return at(in_data, IN_BYTES, o, 4); }
static inline uint32_t s8(uint32_t v) { return (uint32_t)(int32_t)(int8_t)v; }
static inline uint32_t s16(uint32_t v) { return (uint32_t)(int32_t)(int16_t)v; }
static inline uint32_t before32(size_t o) { return at(rw_before, sizeof(rw_before), o, 4); }
static inline uint32_t rw32(size_t o) { return at(rw_data, sizeof(rw_data), o, 4); }

typedef void want_fn(bool gfx9, unsigned lane, uint32_t w[4]);

static inline void check_case(const struct snippet *c, want_fn *want)
{
	for (unsigned t = 0; t < 3; t++) {
		struct diag d;
		unsigned lanes = t < 2 ? 64 : 32;

		if (!(c->targets >> t & 1))
			continue;
		diag_init(&d);
		if (run_text(c, t, &d) < 0) {
			diag_print(&d, stderr, false);
			fail_msg("%s on %s: findings", c->name, names[t]);
		}
		diag_free(&d);
		for (unsigned lane = 0; lane < lanes; lane++) {
			uint32_t w[4] = { PRESET(0), PRESET(1), PRESET(2), PRESET(3) };

			want(t < 2, lane, w);
			for (unsigned i = 0; i < 4; i++)
				if (out_data[lane][i] != w[i])
					fail_msg("%s on %s, lane %u, dword %u: 0x%08x, expected 0x%08x", c->name, names[t], lane, i,
						 out_data[lane][i], w[i]);
		}
	}
}

/* A bad snippet: exactly one finding with that code and words. */
static inline void check_bad(const struct snippet *c, enum diag_code code, const char *words)
{
	for (unsigned t = 0; t < 3; t++) {
		struct diag d;

		if (!(c->targets >> t & 1))
			continue;
		diag_init(&d);
		if (run_text(c, t, &d) != -1 || !d.n || d.list[0].code != code || !strstr(d.list[0].message, words)) {
			diag_print(&d, stderr, false);
			fail_msg("%s on %s: not the expected finding (%s)", c->name, names[t], words);
		}
		diag_free(&d);
	}
}

#define FILL_LDS /* LDS byte i = in_data[i], 16 bytes a lane and round, rounds of 1024 bytes (512 with 32 lanes) */ \
	"v_lshlrev_b32_e32 v2, 4, v0\n" \
	"global_load_dwordx4 v[4:7], v2, s[4:5]\nglobal_load_dwordx4 v[8:11], v2, s[4:5] offset:512\n@" \
	"global_load_dwordx4 v[12:15], v2, s[4:5] offset:1024\nglobal_load_dwordx4 v[16:19], v2, s[4:5] offset:1536\n@" \
	"ds_write_b128 v2, v[4:7]\nds_write_b128 v2, v[8:11] offset:512\nds_write_b128 v2, v[12:15] offset:1024\n" \
	"ds_write_b128 v2, v[16:19] offset:1536\n@"

#endif
