/* A machine for tests of the executor's arithmetic: a program read from text, one wave, values to fill it with. */
#ifndef WPSIM_TEST_EXEC_ALU_MACHINE_H
#define WPSIM_TEST_EXEC_ALU_MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "exec_core.h"
#include "exec_alu_want.h"

enum { T_942 = ISA_942, T_5 = ISA_950, T_12 = ISA_1250, T_9 = ISA_942 | ISA_950, T_55 = ISA_950 | ISA_1250, T_ALL = 7 };
enum kind { K_I, K_Q, K_F, K_D, K_H, K_B, K_P, K_PB, K_PF, K_M, K_V };


/* ---- machines and programs ---- */

static const char *const isa_names[3] = { "gfx942", "gfx950", "gfx1250" };
static struct target *targets[3];

struct machine { /* a program read from text and one wave */
	struct src *src;
	struct program *p;
	struct listing_info info;
	struct xprog prog;
	struct xrun run;
	struct exec_options options;
	struct xgroup group;
	struct xcore core;
	struct xwave w;
};

static inline struct machine *machine_new(const struct target *t, const char *text)
{
	struct machine *x = xcalloc(1, sizeof(*x));
	struct listing_options lo = { .keep_operands = true, .waves = 1 };
	struct diag diag;
	int rc;

	diag_init(&diag);
	x->src = src_from_text("case.s", text, strlen(text));
	x->p = listing_parse(x->src, t, &lo, &x->info, &diag);
	diag_print(&diag, stderr, false);
	assert_non_null(x->p);
	rc = xprog_prepare(&x->prog, x->p, &x->info, &diag);
	diag_print(&diag, stderr, false);
	assert_int_equal(rc, 0);
	diag_free(&diag);
	x->run = (struct xrun){ .prog = &x->prog, .o = &x->options };
	x->group = (struct xgroup){ .run = &x->run, .nwaves = 1, .wave = &x->w };
	x->w.wg = &x->group;
	x->w.core = &x->core;
	x->w.lanes = (unsigned)t->v.wave_size;
	x->w.all = x->w.lanes == 64 ? UINT64_MAX : UINT32_MAX;
	x->w.v = xcalloc((size_t)REG_SGPR * x->w.lanes, sizeof(uint32_t));
	x_set_exec(&x->w, x->w.all);
	x->w.write_mask = x->w.all;
	return x;
}

static inline void machine_free(struct machine *x)
{
	free(x->w.v);
	xprog_free(&x->prog);
	program_free(x->p);
	src_free(x->src);
	free(x);
}

static inline void step(struct machine *x, uint32_t at)
{
	const struct xinsn *in = &x->prog.insn[at];

	x->w.write_mask = x->w.exec;
	if (in->dpp.on)
		dpp_prepare(&x->w, in);
	assert_int_equal(in->fn(&x->w, in), 0);
	if (in->dual)
		assert_int_equal(in->dual->fn(&x->w, in->dual), 0);
}

/* ---- values ---- */

static const uint32_t edge[] = {
	0, 0x80000000, 1, 0x80000001, 2, 3, 31, 32, 33, 63, 64, 0x7fffffff, 0xffffffff, 0xfffffffe, 0x00ffffff,
	0x00800000, 0x007fffff, 0x3f800000, 0xbf800000, 0x3f000000, 0x40000000, 0x40490fdb, 0x7f800000,
	0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xff812345, 0x7f7fffff, 0xff7fffff, 0x00000002,
	0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x3effffff, 0x3f7fffff, 0x33800000,
	0x38800000, 0x387fe000, 0x33000000, 0x33000001, 0x477fe000, 0x477fefff, 0x477ff000, 0x43e00000,
	0x43e80000, 0x43e80001, 0x43700000, 0x43780000, 0x00003c00, 0x7c007bff, 0xfc00fbff, 0x7e007c01,
	0x04000001, 0x83ff8400, 0x80008000, 0xffff7fff, 0x0001fffe, 0x12345678, 0xdeadbeef, 0x0c0b0a09,
	0x07060504, 0x3f803f80, 0x7f807f7f, 0x47800000, 0xc7000000, 0x3dcccccd, 0xbe22f983,
};

static uint64_t seed = 0x9e3779b97f4a7c15;

static inline uint32_t random32(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 24);
}

/* Edge values, random bits, and random floats of moderate size (f32, or two f16). */
static inline uint32_t value(void)
{
	uint32_t r = random32();

	switch (r % 8) {
	case 0: case 1: case 2: return edge[random32() % ARRAY_LEN(edge)];
	case 3: return random32();
	case 4: return random32() % 100;
	case 5: return (random32() & 0x83ff83ff) | 0x3c003c00;
	default: return (random32() & 0x80ffffff) + ((random32() % 24) << 23) + 0x3a000000;
	}
}

static inline uint64_t value64(void)
{
	switch (random32() % 4) {
	case 0: return db((double)f(value()));
	case 1: return two(value(), value());
	case 2: return db((double)i32(random32()) * 0.37);
	default: return random32() % 3 ? value() : two(0, edge[random32() % ARRAY_LEN(edge)]);
	}
}

static inline uint64_t reg64(struct machine *x, unsigned reg, unsigned l)
{
	return two(x_vreg(&x->w, reg)[l], x_vreg(&x->w, reg + 1)[l]);
}

static inline void fill(struct machine *x, unsigned round)
{
	struct xwave *w = &x->w;

	for (unsigned l = 0; l < w->lanes; l++) {
		for (unsigned r = 1; r < 4; r++)
			x_vreg(w, r)[l] = value();
		for (unsigned r = 4; r < 10; r += 2) {
			uint64_t v = value64();

			x_vreg(w, r)[l] = (uint32_t)v;
			x_vreg(w, r + 1)[l] = (uint32_t)(v >> 32);
		}
		x_vreg(w, 20)[l] = value();
		x_vreg(w, 21)[l] = value();
	}
	/* All pairs of edges come up in turn. */
	for (unsigned l = 0; l < w->lanes; l++) {
		unsigned n = round * w->lanes + l;

		if (n < ARRAY_LEN(edge) * ARRAY_LEN(edge)) {
			x_vreg(w, 1)[l] = edge[n / ARRAY_LEN(edge)];
			x_vreg(w, 2)[l] = edge[n % ARRAY_LEN(edge)];
		}
	}
	for (unsigned r = 0; r < 32; r++)
		x_sput(w, REG_SGPR + r, value());
	x_sput(w, REG_SGPR + 1, (random32() & 0x807fffff) | (0x7d - 6 + random32() % 12) << 23); /* serves as a scale too */
	x_vcc_put(w, two(random32(), random32()) & w->all);
	x_set_exec(w, round % 3 == 2 ? two(random32(), random32()) & w->all : w->all);
}

/* ---- comparison ---- */

static inline bool nan16(uint32_t a) { return (a & 0x7fff) > 0x7c00; }
static inline bool nanb16(uint32_t a) { return (a & 0x7fff) > 0x7f80; }

static inline bool half_same(uint32_t got, uint32_t want, bool (*is_nan)(uint32_t))
{
	got &= 0xffff;
	want &= 0xffff;
	return got == want || (is_nan(got) && is_nan(want));
}

static inline bool same(enum kind k, uint64_t got, uint64_t want)
{
	bool (*is_nan)(uint32_t) = k == K_B || k == K_PB ? nanb16 : nan16;
	uint32_t g = (uint32_t)got, w = (uint32_t)want;

	switch (k) {
	case K_F: return g == w || (isnan(f(g)) && isnan(f(w)));
	case K_D: return got == want || (isnan(d(got)) && isnan(d(want)));
	case K_H: case K_B: return half_same(g, w, is_nan) && g >> 16 == w >> 16;
	case K_P: case K_PB: return half_same(g, w, is_nan) && half_same(g >> 16, w >> 16, is_nan);
	case K_PF: return same(K_F, got, want) && same(K_F, got >> 32, want >> 32);
	case K_Q: return got == want;
	case K_M: case K_V: return (got & 1) == (want & 1);
	default: return g == w;
	}
}

static inline int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct diag diag;

		diag_init(&diag);
		targets[i] = target_load(isa_names[i], NULL, (struct loc){ 0 }, &diag);
		diag_print(&diag, stderr, false);
		diag_free(&diag);
		if (!targets[i])
			return -1;
	}
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		target_free(targets[i]);
	return 0;
}

#endif
