/* Address registers: what they hold, and set-up code that computes it from the thread's number. */
#include "emit_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- which register holds what ---- */

static int address_span(const struct insn *in)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == ROLE_ADDR && in->span[i].first < REG_AGPR)
			return (int)in->span[i].first;
	return -1;
}

static unsigned first_lane(const struct emit *e, uint32_t waves)
{
	return (unsigned)__builtin_ctz(waves) * e->lanes;
}

/* Do the addresses in e->table exceed those of register reg by a constant of at most most? */
static bool fits(struct emit *e, const struct insn *in, unsigned reg, uint32_t most, uint32_t *offset)
{
	const struct program *p = e->p;
	const struct insn *low = &p->insns[e->low_insn[reg]];
	uint32_t waves = address_waves(p, in), unused, first = first_lane(e, waves);

	if (!address_table(p, low, e->other, &unused) || waves != address_waves(p, low))
		return false;
	*offset = e->table[first] - e->other[first];
	if (*offset > most)
		return false;
	for (unsigned w = 0; w < p->waves; w++)
		for (unsigned l = 0; (waves >> w & 1) && l < e->lanes; l++)
			if (e->table[w * e->lanes + l] - e->other[w * e->lanes + l] != *offset)
				return false;
	return true;
}

bool address_of(struct emit *e, uint32_t insn, unsigned *reg, uint32_t *offset)
{
	const struct insn *in = &e->p->insns[insn];
	uint32_t most;
	int r = address_span(in);

	if (r < 0 || !address_table(e->p, in, e->table, &most) || e->low_insn[r] == UINT32_MAX)
		return false;
	*reg = (unsigned)r;
	return fits(e, in, *reg, most, offset);
}

bool addresses_collect(struct emit *e)
{
	const struct program *p = e->p;

	for (unsigned r = 0; r < REG_AGPR; r++)
		e->low_insn[r] = UINT32_MAX;
	for (uint32_t i = 0; i <= e->last_matrix; i++) {
		uint32_t most;
		int r = address_span(&p->insns[i]);

		if (!address_table(p, &p->insns[i], e->table, &most))
			continue;
		if (r < 0) {
			emit_fail(e, DIAG_REG_CAP, p->insns[i].loc, "'%s' needs an address register: write <reserve vgpr=\"...\"/>",
				  p->insns[i].op);
			return false;
		}
		if (p->insns[i].access >= 0 && p->access[p->insns[i].access].buffer >= 0 && p->access[p->insns[i].access].slot < 0) {
			emit_fail(e, DIAG_SHAPE, p->insns[i].loc,
				  "the slot of '%s' changes from trip to trip: make the loop's unroll a multiple of its slots",
				  p->buffers[p->access[p->insns[i].access].buffer].name);
			return false;
		}
		if (e->low_insn[r] == UINT32_MAX || e->table[first_lane(e, address_waves(p, &p->insns[i]))] < e->low[r]) {
			e->low_insn[r] = i;
			e->low[r] = e->table[first_lane(e, address_waves(p, &p->insns[i]))];
		}
	}
	for (uint32_t i = 0; i <= e->last_matrix; i++) {
		unsigned reg;
		uint32_t offset, most;

		if (address_table(p, &p->insns[i], e->table, &most) && !address_of(e, i, &reg, &offset)) {
			emit_fail(e, DIAG_REG_CAP, p->insns[i].loc,
				  "the addresses of this kernel need more vector registers than the reserve and the target leave");
			return false;
		}
	}
	return true;
}

/* A register set up before reg whose addresses are those in e->table but for a constant. */
static bool from_earlier(struct emit *e, unsigned reg, unsigned *from, uint32_t *by)
{
	const struct program *p = e->p;
	uint32_t waves = address_waves(p, &p->insns[e->low_insn[reg]]), unused;

	for (*from = 0; *from < reg; (*from)++) {
		bool same = e->low_insn[*from] != UINT32_MAX && address_waves(p, &p->insns[e->low_insn[*from]]) == waves &&
			    address_table(p, &p->insns[e->low_insn[*from]], e->other, &unused);

		*by = same ? e->table[first_lane(e, waves)] - e->other[first_lane(e, waves)] : 0;
		for (size_t i = 0; same && i < (size_t)p->waves * e->lanes; i++)
			same = !(waves >> i / e->lanes & 1) || e->table[i] - e->other[i] == *by;
		if (same)
			return true;
	}
	return false;
}

/* ---- closed forms ---- */

#define MAX_BITS 12

struct bits { /* value = base + sum (or XOR) of c[i] over the bits i that are set */
	unsigned n;
	uint32_t base, c[MAX_BITS];
};

static uint32_t sum_of(const struct bits *b, unsigned i)
{
	uint32_t v = b->base;

	for (unsigned k = 0; k < b->n; k++)
		if (i >> k & 1)
			v += b->c[k];
	return v;
}

/* value[i] for the i whose bit is set in used (all: NULL) as a sum over bits. */
static bool fit_sum(const uint32_t *value, const bool *used, unsigned count, unsigned nbits, struct bits *b)
{
	unsigned at = 0;

	memset(b, 0, sizeof(*b));
	b->n = nbits;
	while (at < count && used && !used[at])
		at++;
	if (at == count)
		return false;
	b->base = value[at];
	for (unsigned k = 0; k < nbits; k++) {
		unsigned i = at ^ 1u << k;

		if (i >= count || (used && !used[i]))
			continue;
		b->c[k] = at >> k & 1 ? value[at] - value[i] : value[i] - value[at];
		if (at >> k & 1)
			b->base -= b->c[k];
	}
	for (unsigned i = 0; i < count; i++)
		if ((!used || used[i]) && sum_of(b, i) != value[i])
			return false;
	return true;
}

/* value[i] = high + (low XOR c[k] of each set bit): what a swizzle gives. */
static bool fit_xor(const uint32_t *value, unsigned count, unsigned nbits, struct bits *b, uint32_t *high)
{
	for (unsigned size = 4; size < 17; size++) {
		uint32_t mask = (1u << size) - 1;
		bool ok = true;

		memset(b, 0, sizeof(*b));
		b->n = nbits;
		b->base = value[0] & mask;
		*high = value[0] - b->base;
		for (unsigned k = 0; k < nbits; k++)
			b->c[k] = (value[1u << k] - *high) ^ b->base;
		for (unsigned i = 0; i < count && ok; i++) {
			uint32_t v = b->base;

			for (unsigned k = 0; k < nbits; k++)
				if (i >> k & 1)
					v ^= b->c[k];
			ok = v + *high == value[i];
		}
		if (ok)
			return true;
	}
	return false;
}

/*
 * value[i] = a sum over bits + an XOR over bits: rows whose bytes are swizzled, with a row stride that is no power
 * of two. The XOR keeps to the bits below some size that divides what is summed.
 */
static bool fit_both(const uint32_t *value, unsigned count, unsigned nbits, struct bits *sum, struct bits *low)
{
	uint32_t part[64], rest;

	for (unsigned size = 4; size < 17; size++) {
		for (unsigned i = 0; i < count; i++)
			part[i] = value[i] & ((1u << size) - 1);
		if (!fit_xor(part, count, nbits, low, &rest) || rest)
			continue;
		for (unsigned i = 0; i < count; i++)
			part[i] = value[i] - part[i];
		if (fit_sum(part, NULL, count, nbits, sum))
			return true;
	}
	return false;
}

/* Bits from k on whose constants double. */
static unsigned run_of(const struct bits *b, unsigned k)
{
	unsigned n = 1;

	while (k + n < b->n && b->c[k + n] == b->c[k + n - 1] * 2 && b->c[k + n])
		n++;
	return n;
}

/* v_temp = bits [k, k + n) of v_tid, counted from bit first on */
static void take_bits(struct emit *e, unsigned first, unsigned k, unsigned n)
{
	char at[16], len[16];

	snprintf(at, sizeof(at), "%u", first + k);
	snprintf(len, sizeof(len), "%u", n);
	put_op(e, "v_bfe_u32", (struct opnd[]){ op_v(e->v_temp, 1), op_v(e->v_tid, 1), op_t(at), op_t(len) }, 4, NULL);
}

static const char *scalar_text(char buf[24], unsigned s)
{
	snprintf(buf, 24, "s%u", s);
	return buf;
}

/* reg += c * v_temp */
static void add_product(struct emit *e, unsigned reg, uint32_t c)
{
	char t[24];

	put_insn(e, "s_mov_b32 s%u, 0x%x", e->s_temp, c);
	scalar_text(t, e->s_temp);
	if (c < 1u << 24) {
		put_op(e, "v_mad_u32_u24", (struct opnd[]){ op_v(reg, 1), op_v(e->v_temp, 1), op_t(t), op_v(reg, 1) }, 4, NULL);
		return;
	}
	put_op(e, "v_mul_lo_u32", (struct opnd[]){ op_v(e->v_temp, 1), op_v(e->v_temp, 1), op_t(t) }, 3, NULL);
	put_op(e, e->gfx9 ? "v_add_u32" : "v_add_nc_u32",
	       (struct opnd[]){ op_v(reg, 1), op_v(reg, 1), op_v(e->v_temp, 1) }, 3, NULL);
}

static void set_value(struct emit *e, unsigned reg, uint32_t value)
{
	char t[24];

	snprintf(t, sizeof(t), value <= 64 ? "%u" : "0x%x", value);
	put_op(e, "v_mov_b32", (struct opnd[]){ op_v(reg, 1), op_t(t) }, 2, NULL);
}

/* reg = from + value */
static void add_value(struct emit *e, unsigned reg, unsigned from, uint32_t value)
{
	char t[24];

	if (!value && reg == from)
		return;
	snprintf(t, sizeof(t), value <= 64 ? "%u" : "0x%x", value);
	put_op(e, e->gfx9 ? "v_add_u32" : "v_add_nc_u32", (struct opnd[]){ op_v(reg, 1), op_t(t), op_v(from, 1) }, 3, NULL);
}

static void add_sum(struct emit *e, unsigned reg, const struct bits *b, unsigned first)
{
	for (unsigned k = 0; k < b->n; ) {
		unsigned n = run_of(b, k);

		if (b->c[k]) {
			take_bits(e, first, k, n);
			add_product(e, reg, b->c[k]);
		}
		k += n;
	}
}

/* As run_of, and no two constants of the run share a bit: their sum is then their XOR. */
static unsigned run_apart(const struct bits *b, unsigned k)
{
	unsigned n = run_of(b, k), most = 1;
	uint32_t seen = b->c[k];

	while (most < n && !(seen & b->c[k + most]))
		seen |= b->c[k + most++];
	return most;
}

/* reg ^= the constants of the set bits */
static void add_xor(struct emit *e, unsigned reg, const struct bits *b)
{
	for (unsigned k = 0; k < b->n; ) {
		unsigned n = run_apart(b, k);
		char t[24];

		if (b->c[k]) {
			take_bits(e, 0, k, n);
			put_insn(e, "s_mov_b32 s%u, 0x%x", e->s_temp, b->c[k]);
			put_op(e, "v_mul_lo_u32",
			       (struct opnd[]){ op_v(e->v_temp, 1), op_v(e->v_temp, 1), op_t(scalar_text(t, e->s_temp)) }, 3, NULL);
			put_op(e, "v_xor_b32", (struct opnd[]){ op_v(reg, 1), op_v(reg, 1), op_v(e->v_temp, 1) }, 3, NULL);
		}
		k += n;
	}
}

/* The share of a lane and that of a wave, when they add up. */
static bool apart(const struct emit *e, const uint32_t *table, uint32_t waves, uint32_t *lane, uint32_t *wave)
{
	unsigned first = (unsigned)__builtin_ctz(waves);

	memcpy(lane, table + first * e->lanes, e->lanes * sizeof(*lane));
	for (unsigned w = 0; w < e->p->waves; w++) {
		wave[w] = waves >> w & 1 ? table[w * e->lanes] - lane[0] : 0;
		for (unsigned l = 0; (waves >> w & 1) && l < e->lanes; l++)
			if (table[w * e->lanes + l] - wave[w] != lane[l])
				return false;
	}
	return true;
}

static unsigned bits_for(unsigned count)
{
	unsigned n = 0;

	while (1u << n < count)
		n++;
	return n;
}

void address_form(struct emit *e, unsigned reg, const uint32_t *table, uint32_t waves, struct loc loc)
{
	uint32_t lane[64], wave[PROG_MAX_WAVES], high = 0;
	bool used[PROG_MAX_WAVES];
	struct bits bl, bw, sum;

	for (unsigned w = 0; w < e->p->waves; w++)
		used[w] = waves >> w & 1;
	if (apart(e, table, waves, lane, wave) && fit_sum(wave, used, e->p->waves, bits_for(e->p->waves), &bw)) {
		if (fit_sum(lane, NULL, e->lanes, e->lane_bits, &bl)) {
			set_value(e, reg, bl.base + bw.base);
			add_sum(e, reg, &bl, 0);
			add_sum(e, reg, &bw, e->lane_bits);
			return;
		}
		if (fit_xor(lane, e->lanes, e->lane_bits, &bl, &high)) {
			set_value(e, reg, bl.base);
			add_xor(e, reg, &bl);
			add_value(e, reg, reg, high + bw.base);
			add_sum(e, reg, &bw, e->lane_bits);
			return;
		}
		if (fit_both(lane, e->lanes, e->lane_bits, &sum, &bl)) {
			set_value(e, reg, bl.base);
			add_xor(e, reg, &bl);
			add_value(e, reg, reg, sum.base + bw.base);
			add_sum(e, reg, &sum, 0);
			add_sum(e, reg, &bw, e->lane_bits);
			return;
		}
	}
	emit_fail(e, DIAG_SHAPE, loc, "these addresses are no sum and no swizzle over the bits of the thread's number");
}

void wave_form(struct emit *e, unsigned reg, const uint32_t *base, uint32_t waves, uint32_t value, struct loc loc)
{
	bool used[PROG_MAX_WAVES];
	struct bits b;

	for (unsigned w = 0; w < e->p->waves; w++)
		used[w] = waves >> w & 1;
	if (!fit_sum(base, used, e->p->waves, bits_for(e->p->waves), &b)) {
		emit_fail(e, DIAG_SHAPE, loc, "the LDS addresses of the waves are no sum over the bits of the wave's number");
		return;
	}
	put_insn(e, "s_mov_b32 s%u, 0x%x", reg, b.base + value);
	for (unsigned k = 0; k < b.n; ) {
		unsigned n = run_of(&b, k);

		if (b.c[k]) {
			put_insn(e, "s_bfe_u32 s%u, s%u, 0x%x", e->s_temp, e->s_wave, n << 16 | k);
			put_insn(e, "s_mul_i32 s%u, s%u, 0x%x", e->s_temp, e->s_temp, b.c[k]);
			put_insn(e, "s_add_%s s%u, s%u, s%u", e->gfx9 ? "u32" : "co_u32", reg, reg, e->s_temp);
		}
		k += n;
	}
}

void addresses_setup(struct emit *e)
{
	for (unsigned r = 0; r < REG_AGPR && !e->failed; r++) {
		const struct insn *in;
		uint32_t unused, by;
		unsigned from;

		if (e->low_insn[r] == UINT32_MAX)
			continue;
		in = &e->p->insns[e->low_insn[r]];
		address_table(e->p, in, e->table, &unused);
		if (from_earlier(e, r, &from, &by))
			add_value(e, r, from, by);
		else
			address_form(e, r, e->table, address_waves(e->p, in), in->loc);
	}
}
