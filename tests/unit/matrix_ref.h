/*
 * What the tests of the matrix instructions share: dimensions and types read from the mnemonic, the places of the
 * elements (the manuals' tables and formulas written down once more, element by element), a wave with one
 * instruction, and whole products. Include it behind cmocka.h.
 */
#ifndef WPSIM_TEST_MATRIX_REF_H
#define WPSIM_TEST_MATRIX_REF_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec_matrix.h"

/* ---- what the operations need of the core ---- */

static struct target machine = { .name = "gfx950" };
static unsigned faults __attribute__((unused));

#ifndef MATRIX_REF_REAL_CORE
const struct target *x_target(const struct xwave *w)
{
	(void)w;
	return &machine;
}

int x_fault(struct xwave *w, const struct xinsn *in, enum diag_code code, int lane, const char *fmt, ...)
{
	(void)w, (void)in, (void)code, (void)lane, (void)fmt;
	faults++;
	return -1;
}
#endif

static uint64_t seed = 0x9e3779b97f4a7c15u;
static inline uint32_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

static inline bool has(const char *s, const char *word)
{
	return strstr(s, word) != NULL;
}

/* ---- the instruction, from its name ---- */

struct spec {
	const struct insn_desc *desc;
	const char *name;
	bool mfma, smfmac, wmma, swmmac, sparse, any; /* any: f8f6f4 */
	unsigned m, n, k, b, lanes, scale;
	enum numfmt fa, fb, fc, fd;
};

static inline enum numfmt by_word(const char *s, const char **end)
{
	static const struct { const char *word; enum numfmt f; } words[] = {
		{ "bf16", NF_BF16 }, { "f16", NF_F16 }, { "xf32", NF_XF32 }, { "f32", NF_F32 }, { "f64", NF_F64 }, { "i32", NF_I32 },
		{ "iu8", NF_U8 }, { "i8", NF_I8 }, { "fp8", NF_FP8 }, { "bf8", NF_BF8 }, { "f8f6f4", NF_FP8 }, { "f4", NF_FP4 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(s, words[i].word, strlen(words[i].word))) {
			*end = s + strlen(words[i].word);
			if (!strcmp(machine.name, "gfx942") && words[i].f == NF_FP8)
				return NF_FP8_FNUZ;
			if (!strcmp(machine.name, "gfx942") && words[i].f == NF_BF8)
				return NF_BF8_FNUZ;
			return words[i].f;
		}
	fail_msg("type in %s", s);
	return NF_F32;
}

static inline struct spec spec_of(const struct insn_desc *d)
{
	struct spec s = { .desc = d, .name = d->canonical, .b = 1 };
	const char *p = s.name, *e = p;
	int used = 0;

	s.mfma = !strncmp(p, "v_mfma", 6);
	s.smfmac = !strncmp(p, "v_smfmac", 8);
	s.wmma = !strncmp(p, "v_wmma", 6);
	s.swmmac = !strncmp(p, "v_swmmac", 8);
	s.sparse = s.smfmac || s.swmmac;
	s.any = has(p, "f8f6f4");
	s.scale = has(p, "_scale16_") ? 16 : has(p, "_scale_") ? 32 : 0;
	s.lanes = s.mfma || s.smfmac ? 64 : 32;
	p = strchr(p + 2, '_') + 1;
	if (s.scale)
		p = strchr(p, '_') + 1;
	if (!strncmp(p, "bf16f32", 7)) {
		s.fd = NF_BF16;
		s.fc = NF_F32;
		e = p + 7;
	} else {
		s.fd = s.fc = by_word(p, &e);
	}
	assert_int_equal(sscanf(e, "_%ux%ux%u%n", &s.m, &s.n, &s.k, &used), 3);
	e += used;
	if (sscanf(e, "_%ub_%n", &s.b, &used) == 1 && e[used - 2] == 'b')
		e += used;
	else {
		s.b = 1;
		e++;
	}
	s.fa = s.fb = by_word(e, &e);
	if (*e == '_' && strcmp(e, "_1k") != 0)
		s.fb = by_word(e + 1, &e);
	return s;
}

/* ---- where the elements lie ---- */

struct at { unsigned lane, bit; }; /* bit: counted from the operand's first register on */

static inline struct at item(unsigned lane, unsigned i, enum numfmt f)
{
	return (struct at){ lane, i * numfmt_bits(f) };
}

/* Dense operand of gfx9 (CDNA3 7.1.4.1; f8 of f8f6f4: two runs of 16, as gfx950 was seen to do). */
static inline struct at gfx9_in(const struct spec *s, unsigned dim, enum numfmt f, unsigned b, unsigned i, unsigned k)
{
	unsigned kl = s->k / (64 / (dim * s->b)), groups = 64 / dim;

	if (s->any && numfmt_bits(f) == 8)
		return item(i + dim * (k / 16 % groups), k % 16 + (k / 16 / groups) * 16, f);
	return item(i + dim * (b + s->b * (k / kl)), k % kl, f);
}

/* B of a sparse product on gfx9 (CDNA4 7.5.1): registers of 16 bytes take turns over the lane groups. */
static inline struct at smfmac_b(const struct spec *s, unsigned j, unsigned k)
{
	unsigned groups = 64 / s->n, per = numfmt_bits(s->fb) == 16 ? 8 : 16;

	return item(j + s->n * (k / per % groups), k % per + k / (per * groups) * per, s->fb);
}

/* Packed A is spread as a dense operand of half the K (CDNA4 7.5.1.3, and one-hot products seen on gfx950). */
static inline struct at smfmac_a(const struct spec *s, unsigned i, unsigned p)
{
	unsigned kl = s->k / 2 / (64 / s->m);

	return item(i + s->m * (p / kl), p % kl, s->fa);
}

/* CDNA5 7.12.2 and, for f8f6f4 and f4, 7.12.6.1. */
static inline struct at wmma_in(const struct spec *s, enum numfmt f, unsigned i, unsigned k)
{
	unsigned bits = numfmt_bits(f);
	struct at a;

	if (bits == 32)
		return item(i + 16 * (k / 2), k % 2, f);
	if (bits < 8) {
		a = item(i % 16 + 16 * (k / 32 % 2), k % 32 + 32 * (k / 64), f);
		a.bit += i / 16 * 8 * 32; /* the lower half of 32 rows: 8 registers further */
		return a;
	}
	if (s->any)
		return item(i + 16 * (k / 16 % 2), k % 16 + 16 * (k / 32), f);
	if (bits == 16) /* two values a register; four registers, then lanes 16 to 31, then the next four */
		return (struct at){ i + 16 * (k / 8 % 2), 32 * (k / 16 * 4 + k % 8 / 2) + 16 * (k % 2) };
	return (struct at){ i + 16 * (k / 8 % 2), 32 * (k / 16 * 2 + k % 8 / 4) + 8 * (k % 4) };
}

static inline struct at swmmac_b(const struct spec *s, unsigned j, unsigned k) /* CDNA5 7.12.4, 7.12.5 */
{
	return item(j + 16 * (k / 16 % 2), k % 16 + 16 * (k / 32), s->fb);
}

static inline struct at place_a(const struct spec *s, unsigned b, unsigned i, unsigned k)
{
	if (s->mfma)
		return gfx9_in(s, s->m, s->fa, b, i, k);
	if (s->smfmac)
		return smfmac_a(s, i, k);
	return wmma_in(s, s->fa, i, k);
}

static inline struct at place_b(const struct spec *s, unsigned b, unsigned j, unsigned k)
{
	if (s->mfma)
		return gfx9_in(s, s->n, s->fb, b, j, k);
	if (s->smfmac)
		return smfmac_b(s, j, k);
	return s->swmmac ? swmmac_b(s, j, k) : wmma_in(s, s->fb, j, k);
}

/* Index of packed element p, with nothing in front of the first one. */
static inline struct at place_index(const struct spec *s, unsigned i, unsigned p)
{
	struct at a = place_a(s, 0, i, p);
	unsigned t = a.bit / numfmt_bits(s->fa);

	if (s->smfmac)
		return (struct at){ a.lane, 2 * t };
	if (numfmt_bits(s->fa) == 16) /* the pseudo code of CDNA5 7.12.4 with column 2 p */
		return (struct at){ 2 * p / 32 * 16 + i, 2 * p / 4 % 8 * 4 + p % 2 * 2 };
	/* 8 bits: registers 0 to 3 in lanes 0 to 15, the second register of the index for A's upper lanes */
	return (struct at){ i + 16 * (t / 16), 32 * (a.lane / 16) + 2 * (t % 16) };
}

static inline struct at place_cd(const struct spec *s, enum numfmt f, unsigned b, unsigned i, unsigned j)
{
	unsigned g = 64 / s->n;

	if (s->lanes == 32)
		return item(j + 16 * (i / 8 % 2), i % 8 + 8 * (i / 16), f);
	if (s->m == 4 && f == NF_F64)
		return item(j + 4 * b + 16 * i, 0, f);
	if (s->m == 4)
		return item(j + 4 * b, i, f);
	if (f == NF_F64) /* a row after the other */
		return item(j + s->n * (i % g), i / g, f);
	return item(j + s->n * (i / 4 % g), i % 4 + 4 * (i / (4 * g)) + s->m * s->n / 64 * b, f);
}

/* ---- a wave with one instruction ---- */

enum { R_D = 0, R_A = 64, R_B = 96, R_C = 128, R_I = 192, R_SA = 196, R_SB = 200, NREGS = 256 };
static uint32_t regs[(REG_SGPR) * 64];
static struct xwave wave;
static struct xinsn insn;

static inline uint64_t peek(unsigned reg, struct at a, unsigned bits)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bits; i++)
		v |= (uint64_t)(regs[(reg + (a.bit + i) / 32) * wave.lanes + a.lane] >> (a.bit + i) % 32 & 1) << i;
	return v;
}

static inline void poke(unsigned reg, struct at a, unsigned bits, uint64_t v)
{
	for (unsigned i = 0; i < bits; i++) {
		uint32_t *w = &regs[(reg + (a.bit + i) / 32) * wave.lanes + a.lane];

		*w = (*w & ~(1u << (a.bit + i) % 32)) | (uint32_t)(v >> i & 1) << (a.bit + i) % 32;
	}
}

static inline bool family_has(const char *names, const char *name)
{
	const char *open = strchr(names, '{'), *close = open ? strchr(open, '}') : NULL;

	if (!open)
		return !strcmp(names, name);
	for (const char *s = open + 1; s < close; s += strcspn(s, ",}") + 1) {
		char all[96];

		snprintf(all, sizeof(all), "%.*s%.*s%s", (int)(open - names), names, (int)strcspn(s, ",}"), s, close + 1);
		if (!strcmp(all, name))
			return true;
	}
	return false;
}

static inline const struct xop *op_named(const char *name)
{
	const struct xop *found = NULL;

	for (size_t i = 0; i < nxops_matrix; i++)
		if (family_has(xops_matrix[i].names, name)) {
			if (found)
				fail_msg("%s is there twice", name);
			found = &xops_matrix[i];
		}
	return found;
}

static inline void operand(unsigned i, unsigned reg, unsigned n)
{
	insn.o[i] = (struct xopnd){ .kind = OPERAND_REG, .vector = true, .reg = (uint16_t)reg, .n = (uint16_t)n };
}

static inline unsigned span_regs(unsigned elements, enum numfmt f, unsigned lanes)
{
	return elements * numfmt_bits(f) / lanes / 32;
}

/* Registers to their places and the operation found; fills registers with rubbish. */
static inline void set_up(const struct spec *s)
{
	const struct xop *op = op_named(s->desc->name);

	if (!op)
		fail_msg("%s: %s is not implemented", machine.name, s->desc->name);
	memset(&wave, 0, sizeof(wave));
	wave.lanes = s->lanes;
	wave.all = s->lanes == 64 ? UINT64_MAX : UINT32_MAX;
	wave.exec = rnd(); /* of no importance */
	wave.v = regs;
	for (size_t i = 0; i < NREGS * 64; i++)
		regs[i] = rnd();
	insn = (struct xinsn){ .op = op, .fn = op->fn, .arg = op->arg };
	operand(0, R_D, span_regs(s->m * s->n * s->b, s->sparse ? s->fc : s->fd, s->lanes));
	operand(1, R_A, span_regs(s->m * s->k * s->b / (s->sparse ? 2 : 1), s->fa, s->lanes));
	operand(2, R_B, span_regs(s->n * s->k * s->b, s->fb, s->lanes));
	insn.n = 4;
	if (s->sparse) {
		operand(3, R_I, s->swmmac && numfmt_bits(s->fa) == 8 ? 2 : 1);
	} else {
		operand(3, R_C, span_regs(s->m * s->n * s->b, s->fc, s->lanes));
	}
	if (s->scale) {
		operand(4, R_SA, s->scale == 16 ? 2 : 1);
		operand(5, R_SB, s->scale == 16 ? 2 : 1);
		insn.n = 6;
	}
}

static inline unsigned c_reg(const struct spec *s)
{
	return s->sparse ? R_D : R_C;
}

static inline void clear(const struct spec *s)
{
	memset(regs, 0, sizeof(*regs) * NREGS * 64);
	/* Indices 0 and 1 of every group of four, scales of one. */
	for (unsigned l = 0; l < s->lanes; l++) {
		regs[R_I * s->lanes + l] = regs[(R_I + 1) * s->lanes + l] = 0x44444444;
		for (unsigned r = 0; r < 2; r++)
			regs[(R_SA + r) * s->lanes + l] = regs[(R_SB + r) * s->lanes + l] = 0x7f7f7f7f;
	}
}

/* ---- whole products ---- */

static inline double e5m3(unsigned c)
{
	double v = c >> 3 ? (1 + (c & 7) / 8.0) * pow(2, (int)(c >> 3) - 15) : (c & 7) / 8.0 * pow(2, -14);

	return c == 255 ? NAN : v;
}

static inline double e4m3(unsigned c)
{
	c &= 127;
	return c >> 3 ? (1 + (c & 7) / 8.0) * pow(2, (int)(c >> 3) - 7) : (c & 7) / 8.0 * pow(2, -6);
}

struct ref { /* matrices as the test fills them */
	double a[16][32][128], b[16][128][32], c[16][32][32];
	double sa[32][8], sb[32][8];
};
static struct ref ref;

/* A code of the format that is a number, of moderate size in the wide formats. */
static inline uint64_t code_of(enum numfmt f)
{
	uint64_t c;

	switch (f) {
	case NF_F64: case NF_F32: case NF_F16: case NF_BF16: case NF_XF32:
		return numfmt_put(f, ldexp((int)(rnd() % 255) - 127, -(int)(rnd() % 5)));
	case NF_I32:
		return (uint32_t)(rnd() % 2000000) - 1000000u;
	default:
		do
			c = rnd() & ((1u << numfmt_bits(f)) - 1);
		while (!isfinite(numfmt_get(f, c)));
		return c;
	}
}

static bool iu8_signed[2];

static inline double value(const struct spec *s, enum numfmt f, uint64_t code, int op)
{
	(void)s;
	if (f == NF_U8)
		return iu8_signed[op] ? (double)(int8_t)code : (double)(uint8_t)code;
	return numfmt_get(f, code);
}

static inline void fill_sparse_a(const struct spec *s, unsigned i, unsigned set)
{
	for (unsigned p = 0; p < s->k / 2; p += 2) {
		unsigned first = rnd() % 3, second = first + 1 + rnd() % (3 - first);

		for (unsigned h = 0; h < 2; h++) {
			struct at a = place_a(s, 0, i, p + h), x;
			uint64_t c = code_of(s->fa);

			poke(R_A, a, numfmt_bits(s->fa), c);
			x = place_index(s, i, p + h);
			x.bit += set;
			poke(R_I, x, 2, h ? second : first);
			ref.a[0][i][2 * p + (h ? second : first)] = value(s, s->fa, c, 0);
		}
	}
}

static inline void fill(const struct spec *s, unsigned set)
{
	memset(&ref, 0, sizeof(ref));
	for (unsigned b = 0; b < s->b; b++) {
		for (unsigned i = 0; i < s->m; i++) {
			if (s->sparse)
				fill_sparse_a(s, i, set);
			for (unsigned k = 0; k < s->k && !s->sparse; k++) {
				uint64_t c = code_of(s->fa);

				poke(R_A, place_a(s, b, i, k), numfmt_bits(s->fa), c);
				ref.a[b][i][k] = value(s, s->fa, c, 0);
			}
			for (unsigned j = 0; j < s->n; j++) {
				uint64_t c = code_of(s->fc);

				poke(c_reg(s), place_cd(s, s->fc, b, i, j), numfmt_bits(s->fc), c);
				ref.c[b][i][j] = numfmt_get(s->fc, c);
			}
		}
		for (unsigned j = 0; j < s->n; j++)
			for (unsigned k = 0; k < s->k; k++) {
				uint64_t c = code_of(s->fb);

				poke(R_B, place_b(s, b, j, k), numfmt_bits(s->fb), c);
				ref.b[b][k][j] = value(s, s->fb, c, 1);
			}
	}
	for (unsigned i = 0; i < 32; i++)
		for (unsigned q = 0; q < 8; q++)
			ref.sa[i][q] = ref.sb[i][q] = 1;
}

static inline double scale_number(unsigned format, unsigned c)
{
	return format == 1 ? e5m3(c) : format == 2 ? e4m3(c) : pow(2, (int)c - 127);
}

/* Scales of one operand, in the lanes and bytes of CDNA4 7.2.1 and CDNA5 7.12.6.2. */
static inline void fill_scales(const struct spec *s, unsigned reg, unsigned rows, unsigned format, unsigned select,
			       double to[32][8])
{
	for (unsigned i = 0; i < rows; i++)
		for (unsigned q = 0; q < s->k / s->scale; q++) {
			/* Of e4m3 the upper bit does not count. */
			unsigned c = format == 2 ? rnd() % 127 | (rnd() & 0x80) : format == 1 ? rnd() % 255 : 120 + rnd() % 15;
			struct at a = { i + rows * q, 8 * select };

			if (s->wmma)
				a = (struct at){ rows == 32 ? i : i + 16 * select, 8 * q };
			poke(reg, a, 8, c);
			to[i][q] = scale_number(format, c);
		}
}

/* Half of the step of format f at v. */
static inline double half_step(enum numfmt f, double v)
{
	int man = f == NF_F32 ? 23 : f == NF_F16 ? 10 : f == NF_BF16 ? 7 : f == NF_F64 ? 52 : 0;
	int low = f == NF_F16 ? -14 : -126, e;

	if (f == NF_I32)
		return 0.25;
	frexp(v, &e);
	e = f != NF_F64 && e - 1 < low ? low + 1 : e;
	return ldexp(0.5, e - 1 - man);
}

static inline void compare(const struct spec *s)
{
	for (unsigned b = 0; b < s->b; b++)
		for (unsigned i = 0; i < s->m; i++)
			for (unsigned j = 0; j < s->n; j++) {
				long double sum = ref.c[b][i][j], all = fabs(ref.c[b][i][j]);
				double got = numfmt_get(s->fd, peek(R_D, place_cd(s, s->fd, b, i, j), numfmt_bits(s->fd)));

				for (unsigned k = 0; k < s->k; k++) {
					unsigned q = s->scale ? k / s->scale : 0;
					long double p = (long double)ref.a[b][i][k] * ref.b[b][k][j] * ref.sa[i][q] * ref.sb[j][q];

					sum += p;
					all += fabsl(p);
				}
				if (s->fd == NF_F16 && fabsl(sum) >= 65520) { /* rounds beyond the largest number */
					assert_true(isinf(got) && (got < 0) == (sum < 0));
					continue;
				}
				/* The sums in double lose a little; else it is one rounding. */
				if (!(fabsl(got - sum) <= half_step(s->fd, (double)sum) + all * 0x1p-45L))
					fail_msg("%s: D[%u][%u] of block %u is %.9g, want %.9Lg", s->desc->name, i, j, b, got, sum);
			}
}

/* ---- all instructions of all targets ---- */

static const struct { const char *name; enum isa isa; } targets[] = { { "gfx942", ISA_942 }, { "gfx950", ISA_950 },
									{ "gfx1250", ISA_1250 } };

static inline void each(void (*test)(const struct spec *s), const char *containing)
{
	for (size_t t = 0; t < 3; t++) {
		unsigned n = 0;

		machine.name = targets[t].name;
		for (size_t i = 0; i < insn_count(); i++) {
			const struct insn_desc *d = insn_at(i);

			if (d->cls == OPC_MATRIX && (d->isa & targets[t].isa) && (!containing || has(d->name, containing))) {
				struct spec s = spec_of(d);

				test(&s);
				n++;
			}
		}
		assert_true(n > 0 || containing);
	}
	machine.name = "gfx950";
}

static inline struct spec named(const char *target, const char *name)
{
	enum suffix sfx;
	const struct insn_desc *d;

	machine.name = target;
	d = insn_find(name, strlen(name), !strcmp(target, "gfx942") ? ISA_942 : !strcmp(target, "gfx950") ? ISA_950 : ISA_1250, &sfx);
	assert_non_null(d);
	return spec_of(d);
}

#endif
