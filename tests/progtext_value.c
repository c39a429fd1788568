/* What is where: tiles in LDS by name, tiles in registers by name and by value, sums, and the registers themselves. */
#include "progtext_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is where ---- */

/* Bytes of all lanes of one wave that hold another tile than tag; they hold it from now on. */
static size_t change_content(struct printer *c, const struct access *ac, unsigned wave, uint32_t base, uint32_t tag)
{
	size_t changed = 0;

	for (unsigned l = 0; l < ac->nlanes; l++) {
		uint32_t at = base + ac->lane[l] + (ac->wave_base ? ac->wave_base[wave] : 0);

		if (at > c->p->lds_bytes || ac->width > c->p->lds_bytes - at || at % 4 || ac->width % 4) {
			pt_fail(c, "an access outside of LDS, or of parts of words");
			return 1;
		}
		for (uint32_t i = at / 4; i < (at + ac->width) / 4; i++) {
			changed += c->content[i] != tag;
			c->content[i] = tag;
		}
	}
	return changed;
}

/* The lines to come are an access of a tile. */
void pt_begin_access(struct printer *c, const struct access *ac, int64_t tile)
{
	c->access = (struct progtext_line){ .tag = pt_make_tag(pt_key_of_buffer(c->p, ac->buffer), tile) };
	if (!ac->write)
		return;
	c->access.again = true;
	for (unsigned w = 0; w < c->p->waves; w++)
		if ((c->mask >> w & 1) && change_content(c, ac, w, pt_slot_base(c, ac, tile), c->access.tag))
			c->access.again = false;
	c->t->agains += c->access.again;
}

void pt_end_access(struct printer *c)
{
	c->access = (struct progtext_line){ 0 };
}

bool pt_without_lanes(const struct printer *c)
{
	return c->access.again && c->no_again;
}

/* Lanes of the memory instruction that comes next; 0: all. */
void pt_only_lanes(struct printer *c, unsigned n)
{
	if (!pt_without_lanes(c) && (!n || n >= c->lanes))
		return;
	if (c->gfx9)
		pt_line(c, "s_mov_b64 exec, 0x%x", pt_without_lanes(c) ? 0 : (1u << n) - 1);
	else
		pt_line(c, "s_mov_b32 exec_lo, 0");
}

void pt_all_lanes(struct printer *c, unsigned n)
{
	if (pt_without_lanes(c) || (n && n < c->lanes))
		pt_line(c, c->gfx9 ? "s_mov_b64 exec, -1" : "s_mov_b32 exec_lo, -1");
}

/* ---- looking at registers ---- */

static void collect(struct printer *c)
{
	pt_line(c, "v_or_b32_e32 v%u, v%u, v%u", pt_own(c, OWN_BAD), pt_own(c, OWN_T1), pt_own(c, OWN_BAD));
}

void pt_compare(struct printer *c, unsigned r, uint32_t with)
{
	pt_line(c, "v_xor_b32_e32 v%u, 0x%x, v%u", pt_own(c, OWN_T1), with, r);
	collect(c);
}

/* Use register r in the waves of mask: poison shows by itself, another value than the named one is collected. */
void pt_look(struct printer *c, uint32_t mask, unsigned r)
{
	while (mask) {
		struct named n;
		uint32_t some = pt_next_class(c, &mask, r, &n);

		if (n.seen)
			continue;
		pt_set_mask(c, some);
		if (!c->edge && (n.holds == HOLDS_TILE || (n.holds == HOLDS_UNSET && !c->given)))
			pt_compare(c, r, n.holds == HOLDS_TILE ? n.tag : 0);
		else
			pt_line(c, "v_mov_b32_e32 v%u, v%u", pt_own(c, OWN_T1), r);
		n.seen = true;
		pt_set_class(c, some, r, n);
	}
}

void pt_look_at_span(struct printer *c, uint32_t mask, struct span s)
{
	for (unsigned r = s.first; r < (unsigned)s.first + s.n; r++) {
		if (r < VGPRS) {
			pt_look(c, mask, r);
		} else if (r >= REG_SGPR && r < REG_SGPR + FREE_SGPR) {
			pt_set_mask(c, mask);
			pt_line(c, "s_mov_b32 s71, s%u", r - REG_SGPR);
		}
	}
}

void pt_fill(struct printer *c, uint32_t mask, struct span s, struct named n)
{
	for (unsigned r = s.first; r < (unsigned)s.first + s.n; r++) {
		for (uint32_t left = mask; left && r < VGPRS;) {
			struct named was;

			pt_next_class(c, &left, r, &was);
			c->t->unseen += was.holds == HOLDS_TILE && !was.seen && !c->edge;
		}
		if (r < VGPRS)
			pt_set_class(c, mask, r, n);
	}
}

const struct span *pt_span_of(const struct insn *in, enum span_role role)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role)
			return &in->span[i];
	return NULL;
}

/* ---- matrix ops ---- */

static unsigned sum_of(struct printer *c, unsigned reg, uint32_t mask)
{
	struct progtext *t = c->t;
	size_t i = 0;

	while (i < t->nsums && t->sum[i].reg != reg)
		i++;
	if (i == ARRAY_LEN(c->sum_reg)) {
		pt_fail(c, "too many accumulators");
		return pt_own(c, OWN_T1);
	}
	if (i == t->nsums) {
		t->sum = xgrow(t->sum, t->nsums, &t->capsums, sizeof(*t->sum));
		t->sum[t->nsums++] = (struct progtext_sum){ .reg = reg };
		c->sum_reg[i] = c->gfx9 && c->first_own + c->nown + SPARE_REGS >= VGPRS ? REG_AGPR + (unsigned)i : pt_new_own(c);
	}
	for (unsigned w = 0; w < c->p->waves; w++)
		t->sum[i].ops[w] += mask >> w & 1;
	return c->sum_reg[i];
}

static void add_hash(struct printer *c, unsigned from, unsigned to)
{
	unsigned t1 = pt_own(c, OWN_T1), t2 = pt_own(c, OWN_T2);

	pt_line(c, "v_and_b32_e32 v%u, 0x%x, v%u", t1, TILE_MASK, from);
	pt_line(c, "v_mul_lo_u32 v%u, v%u, s84", t1, t1);
	pt_line(c, "v_lshrrev_b32_e32 v%u, 15, v%u", t2, t1);
	pt_line(c, "v_xor_b32_e32 v%u, v%u, v%u", t1, t2, t1);
	pt_line(c, "v_mul_lo_u32 v%u, v%u, s85", t1, t1);
	if (to < VGPRS) {
		pt_line(c, "%s v%u, v%u, v%u", pt_add_op(c), to, t1, to);
		return;
	}
	pt_line(c, "v_accvgpr_read_b32 v%u, a%u", t2, to - REG_AGPR);
	pt_line(c, "%s v%u, v%u, v%u", pt_add_op(c), t1, t1, t2);
	pt_line(c, "v_accvgpr_write_b32 a%u, v%u", to - REG_AGPR, t1);
}

uint32_t pt_hash(int64_t tile)
{
	uint32_t h = (pt_make_tag(0, tile) & TILE_MASK) * HASH_1;

	return (h ^ h >> 15) * HASH_2;
}

static bool of_operand(const struct named *n)
{
	return n->holds == HOLDS_TILE && n->tag >> TILE_BITS <= KEY_B;
}

static void same_tile(struct printer *c, unsigned a, unsigned b)
{
	pt_line(c, "v_xor_b32_e32 v%u, v%u, v%u", pt_own(c, OWN_T1), a, b);
	pt_line(c, "v_and_b32_e32 v%u, 0x%x, v%u", pt_own(c, OWN_T1), TILE_MASK, pt_own(c, OWN_T1));
	collect(c);
}

/* All registers of one operand hold the same tile. */
static void whole_operand(struct printer *c, uint32_t mask, const struct span *s)
{
	for (unsigned r = s->first + 1u; r < (unsigned)s->first + s->n; r++)
		for (uint32_t left = mask; left;) {
			struct named n;
			uint32_t some = pt_next_class(c, &left, r, &n);
			const struct named *first = pt_reg_of(c, (unsigned)__builtin_ctz(some), s->first);

			if (!of_operand(&n) || !of_operand(first) || n.tag == first->tag)
				continue;
			pt_set_mask(c, some);
			same_tile(c, s->first, r);
		}
}

static void multiply(struct printer *c, uint32_t mask, const struct span *a, const struct span *b)
{
	const struct span *d = pt_span_of(&c->of->insns[c->insn], ROLE_DST);

	whole_operand(c, mask, a);
	whole_operand(c, mask, b);
	while (mask) {
		struct named x, y;
		uint32_t some = pt_next_class(c, &mask, a->first, &x);

		while (some) {
			pt_set_mask(c, pt_next_class(c, &some, b->first, &y));
			if (of_operand(&x) && of_operand(&y) && a->first != b->first)
				same_tile(c, a->first, b->first);
			if (d && (of_operand(&x) || of_operand(&y)))
				add_hash(c, of_operand(&x) ? a->first : b->first, sum_of(c, d->first, c->mask));
		}
	}
}

/* The sum itself is not computed: its registers are used, and hold nothing in particular. */
static void take_sum(struct printer *c, uint32_t mask, const struct span *s)
{
	for (unsigned r = s->first; r < (unsigned)s->first + s->n && r < VGPRS; r++)
		for (uint32_t left = mask; left;) {
			struct named n;
			uint32_t some = pt_next_class(c, &left, r, &n);

			if (n.seen || n.holds == HOLDS_UNSET)
				continue;
			pt_set_mask(c, some);
			pt_line(c, "v_mov_b32_e32 v%u, v%u", pt_own(c, OWN_T1), r);
		}
	pt_fill(c, mask, *s, (struct named){ HOLDS_ANY, true, ANY_TAG });
}

void pt_put_matrix(struct printer *c, const struct insn *in, uint32_t mask)
{
	const struct span *a = pt_span_of(in, ROLE_A), *b = pt_span_of(in, ROLE_B);

	for (unsigned i = 0; i < in->nspans; i++) {
		if (in->role[i] == ROLE_DST || in->role[i] == ROLE_C) {
			take_sum(c, mask, &in->span[i]);
			continue;
		}
		if (in->span[i].first < REG_SGPR && in->span[i].first + in->span[i].n > VGPRS)
			pt_fail(c, "matrix operands in accumulation registers");
		else
			pt_look_at_span(c, mask, in->span[i]);
	}
	if (a && b && !c->edge && c->p->ksteps && !c->t->why)
		multiply(c, mask, a, b);
}

/* ---- registers ---- */

enum use { USE_NONE, USE_SUM, USE_DATA };

static bool in_sum(const struct insn *in, unsigned k)
{
	return in->cls == OPC_MATRIX && (in->role[k] == ROLE_DST || in->role[k] == ROLE_C);
}

/* Registers of no other use, and sums that stand in a row with data. True when there was one. */
static bool spread_data(const struct program *p, uint8_t use[REG_SGPR])
{
	bool any = false;

	for (size_t i = 0; i < p->ninsns; i++)
		for (unsigned k = 0; k < p->insns[i].nspans; k++) {
			const struct span *s = &p->insns[i].span[k];
			bool sum = true;

			if (in_sum(&p->insns[i], k) || p->insns[i].role[k] == ROLE_ADDR || s->first >= REG_SGPR)
				continue;
			for (unsigned r = s->first; r < (unsigned)s->first + s->n; r++)
				sum = sum && use[r] == USE_SUM;
			for (unsigned r = s->first; r < (unsigned)s->first + s->n && !sum; r++) {
				any = any || use[r] != USE_DATA;
				use[r] = USE_DATA;
			}
		}
	return any;
}

/* What each register is for: sums that nothing loads, and no matrix op multiplies, need no register of their own. */
static void find_uses(const struct program *p, uint8_t use[REG_SGPR])
{
	for (size_t i = 0; i < p->ninsns; i++)
		for (unsigned k = 0; k < p->insns[i].nspans; k++) {
			const struct span *s = &p->insns[i].span[k];
			enum span_role role = (enum span_role)p->insns[i].role[k];
			enum opclass cls = p->insns[i].cls;
			enum use u = USE_NONE;

			if (cls == OPC_MATRIX)
				u = in_sum(&p->insns[i], k) ? USE_SUM : USE_DATA;
			else if (role == ROLE_DST && p->insns[i].counter >= 0)
				u = USE_DATA;
			for (unsigned r = s->first; r < (unsigned)s->first + s->n && r < REG_SGPR; r++)
				if (use[r] < u)
					use[r] = (uint8_t)u;
		}
	while (spread_data(p, use))
		;
}

static bool all_data(const struct span *s, const uint8_t use[REG_SGPR])
{
	for (unsigned r = s->first; r < (unsigned)s->first + s->n; r++)
		if (use[r] != USE_DATA)
			return false;
	return true;
}

static bool move_span(struct span *s, const uint8_t use[REG_SGPR], const uint16_t to[REG_SGPR])
{
	bool data = all_data(s, use);

	s->first = data ? to[s->first] : s->first % 4;
	return data || s->n <= 4;
}

/* A copy of p whose vector registers follow those for sums; addresses and what matrix ops add to are left out. */
struct insn *pt_compact(struct printer *c, const struct program *p)
{
	uint8_t use[REG_SGPR] = { 0 };
	uint16_t to[REG_SGPR] = { 0 };
	struct insn *copy = xcalloc(p->ninsns + 1, sizeof(*copy));

	find_uses(p, use);
	c->first_own = SUM_REGS;
	for (unsigned r = 0; r < REG_SGPR; r++)
		if (use[r] == USE_DATA) { /* tuples begin at even registers */
			c->first_own += (c->first_own ^ r) & 1;
			to[r] = (uint16_t)c->first_own++;
		}
	for (size_t i = 0; i < p->ninsns; i++) {
		struct insn *in = &copy[i];

		*in = p->insns[i];
		in->nspans = 0;
		for (unsigned k = 0; k < p->insns[i].nspans; k++) {
			struct span s = p->insns[i].span[k];
			uint8_t role = p->insns[i].role[k];

			if (s.first < REG_SGPR) {
				if (role == ROLE_ADDR || !s.n || (in_sum(&p->insns[i], k) && !all_data(&s, use)))
					continue;
				if (!move_span(&s, use, to))
					pt_fail(c, "registers that are partly sums");
			}
			in->span[in->nspans] = s;
			in->role[in->nspans++] = role;
		}
	}
	for (unsigned w = 0; w < p->waves; w++)
		for (unsigned r = 0; r < SUM_REGS; r++)
			c->reg[w * VGPRS + r] = (struct named){ HOLDS_ANY, true, ANY_TAG };
	return copy;
}
