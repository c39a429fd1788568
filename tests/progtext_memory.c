/* Addresses, and the memory instructions of a program. */
#include "progtext_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- addresses ---- */

const char *pt_add_op(const struct printer *c)
{
	return c->gfx9 ? "v_add_u32_e32" : "v_add_nc_u32_e32";
}

/* s70 = base + wave_base[wave] for the executing waves. Returns false when it is the same for all: *base. */
static bool wave_part(struct printer *c, const struct access *ac, uint32_t *base)
{
	uint32_t first = NONE, step = 0, left = c->mask, at[PROG_MAX_WAVES] = { 0 };
	unsigned before = 0;
	bool linear = true;

	for (unsigned w = 0; w < c->p->waves && ac->wave_base; w++)
		at[w] = ac->wave_base[w];
	for (; left; left &= left - 1) {
		unsigned w = (unsigned)__builtin_ctz(left);

		if (first == NONE)
			first = w;
		else if (before == first)
			step = (at[w] - at[first]) / (w - first);
		linear = linear && at[w] == at[first] + (w - first) * step;
		before = w;
	}
	if (linear && !step) {
		*base += at[first];
		return false;
	}
	if (linear) {
		pt_line(c, "s_mul_i32 s70, s62, 0x%x", step);
		pt_line(c, "%s s70, s70, 0x%x", c->gfx9 ? "s_add_u32" : "s_add_co_u32", *base + at[first] - first * step);
		return true;
	}
	pt_line(c, "s_mov_b32 s70, 0");
	for (left = c->mask; left; left &= left - 1) {
		unsigned w = (unsigned)__builtin_ctz(left);

		pt_line(c, "s_cmp_eq_u32 s62, %u", w);
		pt_line(c, "s_cselect_b32 s70, 0x%x, s70", *base + at[w]);
	}
	return true;
}

/* Register with lane[l] - lane[0]. */
static unsigned lane_table(struct printer *c, const struct access *ac)
{
	unsigned n = c->ntables;

	for (unsigned i = 0; i < n; i++) {
		unsigned l = 0;

		while (l < c->lanes && ac->lane[l] - ac->lane[0] == c->table[i].lane[l] - c->table[i].from)
			l++;
		if (l == c->lanes)
			return c->table[i].reg;
	}
	if (n == ARRAY_LEN(c->table)) {
		pt_fail(c, "too many tables of lane addresses");
		return pt_own(c, OWN_T0);
	}
	c->table[n].lane = ac->lane;
	c->table[n].from = ac->lane[0];
	c->table[n].reg = pt_new_own(c);
	c->ntables++;
	return c->table[n].reg;
}

/*
 * T0 = LDS address of each lane for an access of unit bytes a lane. An access of one wide lane, as programs built by
 * hand have them, is cut into units over the lanes; lanes behind its end begin again.
 */
static void lds_address(struct printer *c, const struct access *ac, int64_t tile, uint32_t unit)
{
	uint32_t base = pt_slot_base(c, ac, tile) + ac->lane[0], bytes = ac->width;
	unsigned t0 = pt_own(c, OWN_T0);
	bool scalar = wave_part(c, ac, &base);

	if (ac->nlanes == 1) {
		if (bytes % unit || (bytes & (bytes - 1)) || bytes > unit * c->lanes)
			pt_fail(c, "an access that does not fit the lanes");
		pt_line(c, "v_lshlrev_b32_e32 v%u, %d, v%u", t0, __builtin_ctz(unit), pt_own(c, OWN_LANE));
		pt_line(c, "v_and_b32_e32 v%u, 0x%x, v%u", t0, bytes - 1, t0);
	} else if (ac->nlanes != c->lanes || bytes != unit) {
		pt_fail(c, "an access of another width than its registers");
	} else {
		bool linear = !(unit & (unit - 1));

		for (unsigned l = 0; l < c->lanes; l++)
			linear = linear && ac->lane[l] == ac->lane[0] + l * unit;
		if (linear)
			pt_line(c, "v_lshlrev_b32_e32 v%u, %d, v%u", t0, __builtin_ctz(unit), pt_own(c, OWN_LANE));
		else
			pt_line(c, "v_mov_b32_e32 v%u, v%u", t0, lane_table(c, ac));
	}
	if (scalar)
		pt_line(c, "%s v%u, s70, v%u", pt_add_op(c), t0, t0);
	else if (base)
		pt_line(c, "%s v%u, 0x%x, v%u", pt_add_op(c), t0, base, t0);
}

static void put_regs(struct strbuf *b, unsigned first, unsigned n)
{
	if (n == 1)
		strbuf_add(b, "v%u", first);
	else
		strbuf_add(b, "v[%u:%u]", first, first + n - 1);
}

/* A memory op's name: "global_load_" and 8 bytes is dwordx2, or b64. */
static void put_name(struct strbuf *b, const struct printer *c, const char *stem, unsigned regs, bool lds)
{
	if (!c->gfx9 || lds)
		strbuf_add(b, "%sb%u", stem, 32 * regs);
	else if (regs == 1)
		strbuf_add(b, "%sdword", stem);
	else
		strbuf_add(b, "%sdwordx%u", stem, regs);
}

static void put_line(struct printer *c, struct strbuf *b)
{
	pt_line(c, "%s", b->s);
	strbuf_free(b);
}

static bool vector_span(struct printer *c, const struct span *s, const struct access *ac)
{
	if (!s || !s->n || s->n > 4 || s->first + s->n > VGPRS) {
		pt_fail(c, "registers of a memory instruction");
		return false;
	}
	if (ac && !ac->lane) {
		pt_fail(c, "an access without lanes");
		return false;
	}
	return true;
}

/* ---- instructions ---- */

void pt_put_read(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	const struct span *s = pt_span_of(in, ROLE_DST);
	int64_t tile = pt_tile_of(c, ac, loop);
	struct strbuf b = { 0 };

	if (!vector_span(c, s, ac))
		return;
	pt_begin_access(c, ac, tile);
	lds_address(c, ac, tile, 4u * s->n);
	put_name(&b, c, c->gfx9 ? "ds_read_" : "ds_load_", s->n, true);
	strbuf_add(&b, " ");
	put_regs(&b, s->first, s->n);
	strbuf_add(&b, ", v%u", pt_own(c, OWN_T0));
	put_line(c, &b);
	pt_end_access(c);
	pt_fill(c, c->mask, *s, (struct named){ HOLDS_TILE, false, pt_make_tag(pt_key_of_buffer(c->p, ac->buffer), tile) });
}

/* Register r goes to LDS as part of a tile: it should hold that tile, or is made to. */
static void prepare_data(struct printer *c, uint32_t mask, unsigned r, unsigned key, int64_t tile)
{
	pt_look(c, mask, r);
	while (mask) {
		uint32_t want = pt_make_tag(key, tile);
		struct named n;

		pt_set_mask(c, pt_next_class(c, &mask, r, &n));
		if (n.holds == HOLDS_TILE) {
			if ((n.tag ^ want) & TILE_MASK)
				pt_compare(c, r, (n.tag & ~TILE_MASK) | (want & TILE_MASK));
			if ((n.tag ^ want) & ~TILE_MASK)
				pt_line(c, "v_xor_b32_e32 v%u, 0x%x, v%u", r, (n.tag ^ want) & ~TILE_MASK, r);
			n.tag = (n.tag & TILE_MASK) | (want & ~TILE_MASK);
			pt_set_class(c, c->mask, r, n);
		} else if (n.holds == HOLDS_ANY || c->given) {
			pt_line(c, "v_mov_b32_e32 v%u, 0x%x", r, want);
		}
	}
}

void pt_put_write(struct printer *c, const struct insn *in, uint32_t mask, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	const struct span *s = pt_span_of(in, ROLE_DATA);
	int64_t tile = pt_tile_of(c, ac, loop);
	struct strbuf b = { 0 };

	if (!vector_span(c, s, ac))
		return;
	for (unsigned r = s->first; r < (unsigned)s->first + s->n && !c->edge; r++)
		prepare_data(c, mask, r, pt_key_of_buffer(c->p, ac->buffer), tile);
	pt_set_mask(c, mask);
	pt_begin_access(c, ac, tile);
	lds_address(c, ac, tile, 4u * s->n);
	pt_only_lanes(c, 0);
	put_name(&b, c, c->gfx9 ? "ds_write_" : "ds_store_", s->n, true);
	strbuf_add(&b, " v%u, ", pt_own(c, OWN_T0));
	put_regs(&b, s->first, s->n);
	put_line(c, &b);
	pt_all_lanes(c, 0);
	pt_end_access(c);
}

void pt_put_load(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = in->access >= 0 && c->p->access[in->access].global >= 0 ? &c->p->access[in->access] : NULL;
	const struct span *s = pt_span_of(in, ROLE_DST);
	uint32_t tag = ac ? pt_make_tag(pt_key_of_global(c->p, ac->global), pt_tile_of(c, ac, loop)) : ANY_TAG;
	struct strbuf b = { 0 };

	if (!vector_span(c, s, NULL))
		return;
	pt_line(c, "v_mov_b32_e32 v%u, 0x%x", pt_own(c, OWN_T0), pt_entry_of(c, tag));
	put_name(&b, c, "global_load_", s->n, false);
	strbuf_add(&b, " ");
	put_regs(&b, s->first, s->n);
	strbuf_add(&b, ", v%u, s[64:65]", pt_own(c, OWN_T0));
	put_line(c, &b);
	pt_fill(c, c->mask, *s, (struct named){ ac ? HOLDS_TILE : HOLDS_ANY, false, tag });
}

/* gfx9: lane l writes at M0 + width * l. */
static void copy_through_m0(struct printer *c, const struct access *ac, int64_t tile, uint32_t entry)
{
	uint32_t base = pt_slot_base(c, ac, tile) + ac->lane[0];
	unsigned width = ac->nlanes == 1 ? 4 : ac->width, n = ac->width / 4;

	for (unsigned l = 0; ac->nlanes > 1 && l < ac->nlanes; l++)
		if (ac->nlanes != c->lanes || ac->lane[l] != ac->lane[0] + l * width || width % 4 || width > 16)
			pt_fail(c, "a copy whose lanes do not follow each other");
	if (ac->nlanes == 1 && (ac->width % 4 || n > c->lanes))
		pt_fail(c, "a copy that does not fit the lanes");
	if (wave_part(c, ac, &base))
		pt_line(c, "s_mov_b32 m0, s70");
	else
		pt_line(c, "s_mov_b32 m0, 0x%x", base);
	pt_line(c, "v_mov_b32_e32 v%u, 0x%x", pt_own(c, OWN_T0), entry);
	pt_only_lanes(c, ac->nlanes == 1 ? n : 0);
	pt_line(c, "buffer_load_dword%s v%u, s[64:67], 0 offen lds", width == 4 ? "" : width == 12 ? "x3" : "x4",
		pt_own(c, OWN_T0));
	pt_all_lanes(c, ac->nlanes == 1 ? n : 0);
}

static void copy_async(struct printer *c, const struct access *ac, int64_t tile, uint32_t entry)
{
	unsigned width = ac->nlanes == 1 ? 4 : ac->width;

	while (ac->nlanes == 1 && width < 16 && width * c->lanes < ac->width)
		width *= 2;
	lds_address(c, ac, tile, width);
	pt_line(c, "v_mov_b32_e32 v%u, 0x%x", pt_own(c, OWN_T1), entry);
	pt_only_lanes(c, 0);
	pt_line(c, "global_load_async_to_lds_b%u v%u, v%u, s[64:65]", 8 * width, pt_own(c, OWN_T0), pt_own(c, OWN_T1));
	pt_all_lanes(c, 0);
}

/* s[72:83]: so many bytes between LDS from s73 on and global memory from s[74:75] on; there rows of 16 bytes, step apart. */
static void tensor_descriptor(struct printer *c, const struct access *ac, uint32_t step)
{
	pt_line(c, "s_mov_b32 s72, %d", !pt_without_lanes(c)); /* tiles to move */
	pt_line(c, "s_bitset1_b32 s75, 31");                  /* type: 2 */
	pt_line(c, "s_mov_b32 s76, 0x20000");                 /* elements of 4 bytes */
	pt_line(c, "s_mov_b32 s77, 0x40000000");              /* the tensor is larger than the tile */
	pt_line(c, "s_mov_b32 s78, 0x40000000");
	pt_line(c, "s_mov_b32 s79, 0x%x", 4u << 16);
	pt_line(c, "s_mov_b32 s80, 0x%x", ac->width / 16);
	pt_line(c, "s_mov_b32 s81, 0x%x", step / 4);
	pt_line(c, "s_mov_b32 s82, 0");
	pt_line(c, "s_mov_b32 s83, 0");
}

static void tensor_lds(struct printer *c, const struct access *ac, int64_t tile)
{
	uint32_t base = pt_slot_base(c, ac, tile) + ac->lane[0];

	if (ac->nlanes != 1 || ac->width % 16 || ac->width / 16 > 0xffff)
		pt_fail(c, "a tensor copy that does not fill LDS in a row");
	if (wave_part(c, ac, &base))
		pt_line(c, "s_mov_b32 s73, s70");
	else
		pt_line(c, "s_mov_b32 s73, 0x%x", base);
}

/* All rows are the same one in global memory. */
static void copy_tensor(struct printer *c, const struct access *ac, int64_t tile, uint32_t entry)
{
	tensor_lds(c, ac, tile);
	pt_line(c, "s_add_co_u32 s74, s64, 0x%x", entry);
	pt_line(c, "s_add_co_ci_u32 s75, s65, 0");
	tensor_descriptor(c, ac, 0);
	pt_line(c, "tensor_load_to_lds s[72:75], s[76:83]");
}

void pt_put_copy(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	int64_t tile = pt_tile_of(c, ac, loop);
	uint32_t entry = pt_entry_of(c, pt_make_tag(pt_key_of_buffer(c->p, ac->buffer), tile));

	if (!ac->lane) {
		pt_fail(c, "an access without lanes");
		return;
	}
	pt_begin_access(c, ac, tile);
	if (in->cls == OPC_TDM_LOAD)
		copy_tensor(c, ac, tile, entry);
	else if (c->gfx9)
		copy_through_m0(c, ac, tile, entry);
	else
		copy_async(c, ac, tile, entry);
	pt_end_access(c);
}

uint32_t pt_store_bytes(const struct printer *c)
{
	return c->p->waves * c->lanes * 16;
}

static void store_address(struct printer *c, uint32_t insn)
{
	unsigned t0 = pt_own(c, OWN_T0);

	pt_line(c, "s_mul_i32 s70, s62, 0x%x", c->lanes * 16);
	pt_line(c, "v_lshlrev_b32_e32 v%u, 4, v%u", t0, pt_own(c, OWN_LANE));
	pt_line(c, "%s v%u, s70, v%u", pt_add_op(c), t0, t0);
	pt_line(c, "%s v%u, 0x%x, v%u", pt_add_op(c), t0, insn * pt_store_bytes(c), t0);
}

/* What the store that publishes says is true: here those that it tells would read the other waves' stores. */
static void read_published(struct printer *c, const struct insn *in)
{
	for (uint32_t i = 0; i < c->p->ninsns; i++) {
		const struct insn *s = &c->p->insns[i];

		if (s->cls != OPC_VMEM_STORE || (s->flags & INSN_PUBLISHES) || s->access < 0 ||
		    c->p->access[s->access].global != c->p->access[in->access].global)
			continue;
		for (unsigned w = 0; w < c->p->waves; w++) {
			pt_line(c, "v_lshlrev_b32_e32 v%u, 4, v%u", pt_own(c, OWN_T0), pt_own(c, OWN_LANE));
			pt_line(c, "%s v%u, 0x%x, v%u", pt_add_op(c), pt_own(c, OWN_T0), i * pt_store_bytes(c) + w * c->lanes * 16,
			     pt_own(c, OWN_T0));
			pt_line(c, "global_load_%s v%u, v%u, s[86:87]", c->gfx9 ? "dword" : "b32", pt_own(c, OWN_DEAD), pt_own(c, OWN_T0));
		}
	}
}

void pt_put_store(struct printer *c, const struct insn *in, uint32_t i)
{
	const struct span *s = pt_span_of(in, ROLE_DATA);
	struct strbuf b = { 0 };

	if (!vector_span(c, s, NULL))
		return;
	if ((in->flags & INSN_PUBLISHES) && in->access >= 0)
		read_published(c, in);
	store_address(c, i);
	put_name(&b, c, "global_store_", s->n, false);
	strbuf_add(&b, " v%u, ", pt_own(c, OWN_T0));
	put_regs(&b, s->first, s->n);
	strbuf_add(&b, ", s[86:87]");
	put_line(c, &b);
	if (c->t->scratch_bytes < (i + 1) * (uint64_t)pt_store_bytes(c))
		c->t->scratch_bytes = (i + 1) * (uint64_t)pt_store_bytes(c);
}

static void expect_stored(struct printer *c, uint32_t bytes)
{
	struct progtext *t = c->t;

	for (unsigned w = 0; w < c->p->waves; w++) {
		if (!(c->mask >> w & 1))
			continue;
		t->store = xgrow(t->store, t->nstores, &t->capstores, sizeof(*t->store));
		t->store[t->nstores++] = (struct progtext_store){ c->tensor_base + (uint64_t)w * bytes, bytes, c->access.tag };
	}
}

void pt_put_tensor_store(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	int64_t tile = pt_tile_of(c, ac, loop);
	uint64_t end = c->tensor_base + (uint64_t)c->p->waves * ac->width;

	if (!ac->lane || end > 0x7fffffff) {
		pt_fail(c, "a tensor store of no known place");
		return;
	}
	pt_begin_access(c, ac, tile);
	tensor_lds(c, ac, tile);
	pt_line(c, "s_mul_i32 s70, s62, 0x%x", ac->width);
	pt_line(c, "s_add_co_u32 s70, s70, 0x%x", c->tensor_base);
	pt_line(c, "s_add_co_u32 s74, s86, s70");
	pt_line(c, "s_add_co_ci_u32 s75, s87, 0");
	tensor_descriptor(c, ac, 16);
	pt_line(c, "tensor_store_from_lds s[72:75], s[76:83]");
	expect_stored(c, ac->width);
	pt_end_access(c);
	if (c->t->scratch_bytes < end)
		c->t->scratch_bytes = end;
	c->tensor_base = (uint32_t)end;
}

void pt_put_smem(struct printer *c, const struct insn *in)
{
	const struct span *s = pt_span_of(in, ROLE_DST);

	if (!s || s->first < REG_SGPR || s->first >= REG_SGPR + FREE_SGPR || s->n != 1)
		pt_fail(c, "a scalar load of more than one register");
	else
		pt_line(c, "s_load_%s s%u, s[60:61], 0x0", c->gfx9 ? "dword" : "b32", s->first - REG_SGPR);
}
