/*
 * All loops are unrolled, every instruction stands under the mask of the waves that execute it, addresses are made in
 * place by scalar and vector work, which no counter sees. Memory instructions, waits and barriers are those of the
 * program and no others, until its end.
 *
 * The tag of a tile is its number and the operand, or buffer, that it belongs to; global memory holds the tags, copies
 * and loads spread them. In front of each use of a register its value is compared with the tag of the tile that was
 * read into it last, and differences are collected; sums of hashed tile numbers stand for accumulators.
 */
#include "progtext.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TILE_BITS 20
#define TILE_BIAS (1 << (TILE_BITS - 1))
#define TILE_MASK ((1u << TILE_BITS) - 1)
#define ENTRY_BYTES 64u /* of the tag table: so much holds one tag */
#define ANY_TAG 0xfff00000u
#define VGPRS 256u
#define FREE_SGPR 60u   /* those above are ours */
#define HASH_1 0x9e3779b1u
#define HASH_2 0x85ebca77u
#define NONE UINT32_MAX
#define SPARE_REGS 8    /* kept from sums, which gfx9 can hold in accumulation registers */
#define SUM_REGS 8      /* v0 to v7 stand for all sums; registers of one span stay in a row */

enum { KEY_A = 1, KEY_B, KEY_SCALES, KEY_BUFFER = 8, KEY_GLOBAL = 512 };

enum holds { HOLDS_UNSET, HOLDS_ANY, HOLDS_TILE };
struct named { /* what a register of a wave should hold */
	uint8_t holds;
	bool seen; /* its value was looked at since it was filled */
	uint32_t tag;
};

enum own { OWN_LANE, OWN_T0, OWN_T1, OWN_T2, OWN_BAD, OWN_DEAD, OWN_COUNT };

struct printer {
	const struct program *p;  /* with registers as compact() numbers them */
	const struct program *of; /* as it was given */
	struct progtext *t;
	bool edge, no_again, gfx9, given; /* given: registers that nothing loads hold data from the start */
	unsigned lanes;
	uint32_t all, mask, ended; /* mask: waves that execute what is printed next */
	unsigned nlabels;
	struct strbuf body;
	uint32_t *line;
	struct progtext_line *lds, access; /* access: of the lines that are printed now */
	size_t nlines, caplines, caplds;
	uint32_t insn;
	uint32_t tensor_base;      /* of what tensor stores write in scratch memory */
	uint32_t *content;         /* [LDS byte / 4]: tag of the tile that was brought there last */
	struct named *reg;         /* [wave * VGPRS + register] */
	unsigned first_own, nown;
	uint32_t *tag;             /* of entry i of the table */
	size_t ntags, captags;
	struct { const uint32_t *lane; uint32_t from; unsigned reg; } table[32];
	unsigned ntables;
	unsigned sum_reg[128];
	int64_t *trip;             /* of each loop */
	bool named_barrier[32];
	unsigned members[32];
};

static void fail(struct printer *c, const char *why)
{
	if (!c->t->why)
		c->t->why = why;
}

static void line(struct printer *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void line(struct printer *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_addv(&c->body, fmt, ap);
	va_end(ap);
	strbuf_addn(&c->body, "\n", 1);
	c->line = xgrow(c->line, c->nlines, &c->caplines, sizeof(*c->line));
	c->lds = xgrow(c->lds, c->nlines, &c->caplds, sizeof(*c->lds));
	c->lds[c->nlines] = c->access;
	c->line[c->nlines++] = c->insn;
}

/* ---- who executes ---- */

static uint32_t waves_of(const struct printer *c, uint32_t i)
{
	const struct program *p = c->p;
	const struct insn *in = &p->insns[i];
	unsigned each = p->waves / p->groups;
	uint32_t mask = 0;

	for (unsigned w = 0; w < p->waves; w++)
		if ((in->groups >> w / each & 1) && i >= p->entry[w / each] && (!in->waves || (in->waves >> w & 1)))
			mask |= 1u << w;
	return mask & ~c->ended;
}

static void set_mask(struct printer *c, uint32_t mask)
{
	if (mask == c->mask)
		return;
	if (c->mask != c->all)
		line(c, ".Lm%u:", c->nlabels++);
	c->mask = mask;
	if (mask == c->all)
		return;
	line(c, "s_bitcmp1_b32 0x%x, s62", mask);
	line(c, "s_cbranch_scc0 .Lm%u", c->nlabels);
}

static struct named *reg_of(struct printer *c, unsigned wave, unsigned r)
{
	return &c->reg[wave * VGPRS + r];
}

/* Waves of *left whose register r should hold the same; they leave *left. */
static uint32_t next_class(struct printer *c, uint32_t *left, unsigned r, struct named *n)
{
	uint32_t mask = 0;

	*n = *reg_of(c, (unsigned)__builtin_ctz(*left), r);
	for (unsigned w = 0; w < c->p->waves; w++) {
		const struct named *o = reg_of(c, w, r);

		if ((*left >> w & 1) && o->holds == n->holds && o->seen == n->seen && o->tag == n->tag)
			mask |= 1u << w;
	}
	*left &= ~mask;
	return mask;
}

static void set_class(struct printer *c, uint32_t mask, unsigned r, struct named n)
{
	for (unsigned w = 0; w < c->p->waves; w++)
		if (mask >> w & 1)
			*reg_of(c, w, r) = n;
}

static unsigned own(const struct printer *c, enum own r)
{
	return c->first_own + r;
}

static unsigned new_own(struct printer *c)
{
	unsigned r = c->first_own + c->nown++;

	if (r < VGPRS)
		return r;
	fail(c, "more vector registers than there are");
	return VGPRS - 1;
}

/* ---- tags ---- */

static uint32_t make_tag(unsigned key, int64_t tile)
{
	return (uint32_t)key << TILE_BITS | (uint32_t)((tile + TILE_BIAS) & TILE_MASK);
}

static unsigned key_of_buffer(const struct program *p, int32_t b)
{
	switch (p->buffers[b].operand) {
	case 'A': return KEY_A;
	case 'B': return KEY_B;
	case 'S': return KEY_SCALES;
	default: return KEY_BUFFER + (unsigned)b;
	}
}

static unsigned key_of_global(const struct program *p, int32_t g)
{
	const char *name = p->globals[g].name;

	return !strcmp(name, "A") ? KEY_A : !strcmp(name, "B") ? KEY_B : KEY_GLOBAL + (unsigned)g;
}

/* Byte offset of a tag in the table. */
static uint32_t entry_of(struct printer *c, uint32_t tag)
{
	for (size_t i = c->ntags; i-- > 0;)
		if (c->tag[i] == tag)
			return (uint32_t)i * ENTRY_BYTES;
	c->tag = xgrow(c->tag, c->ntags, &c->captags, sizeof(*c->tag));
	c->tag[c->ntags] = tag;
	return (uint32_t)c->ntags++ * ENTRY_BYTES;
}

static int64_t tile_of(const struct printer *c, const struct access *ac, int loop)
{
	if (ac->from_end)
		return (int64_t)c->p->ksteps - 1 - ac->tile;
	if (ac->absolute || loop < 0)
		return ac->tile;
	return c->trip[loop] * (int64_t)c->p->loops[loop].steps + ac->tile;
}

static uint32_t slot_base(const struct printer *c, const struct access *ac, int64_t tile)
{
	const struct buffer *b = &c->p->buffers[ac->buffer];
	int64_t n = b->slots ? b->slots : 1, slot = ac->slot >= 0 ? ac->slot : (tile % n + n) % n;

	return b->base + (uint32_t)slot * b->slot_bytes;
}

/* ---- what is where ---- */

/* Bytes of all lanes of one wave that hold another tile than tag; they hold it from now on. */
static size_t change_content(struct printer *c, const struct access *ac, unsigned wave, uint32_t base, uint32_t tag)
{
	size_t changed = 0;

	for (unsigned l = 0; l < ac->nlanes; l++) {
		uint32_t at = base + ac->lane[l] + (ac->wave_base ? ac->wave_base[wave] : 0);

		if (at > c->p->lds_bytes || ac->width > c->p->lds_bytes - at || at % 4 || ac->width % 4) {
			fail(c, "an access outside of LDS, or of parts of words");
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
static void begin_access(struct printer *c, const struct access *ac, int64_t tile)
{
	c->access = (struct progtext_line){ .tag = make_tag(key_of_buffer(c->p, ac->buffer), tile) };
	if (!ac->write)
		return;
	c->access.again = true;
	for (unsigned w = 0; w < c->p->waves; w++)
		if ((c->mask >> w & 1) && change_content(c, ac, w, slot_base(c, ac, tile), c->access.tag))
			c->access.again = false;
	c->t->agains += c->access.again;
}

static void end_access(struct printer *c)
{
	c->access = (struct progtext_line){ 0 };
}

static bool without_lanes(const struct printer *c)
{
	return c->access.again && c->no_again;
}

/* Lanes of the memory instruction that comes next; 0: all. */
static void only_lanes(struct printer *c, unsigned n)
{
	if (!without_lanes(c) && (!n || n >= c->lanes))
		return;
	if (c->gfx9)
		line(c, "s_mov_b64 exec, 0x%x", without_lanes(c) ? 0 : (1u << n) - 1);
	else
		line(c, "s_mov_b32 exec_lo, 0");
}

static void all_lanes(struct printer *c, unsigned n)
{
	if (without_lanes(c) || (n && n < c->lanes))
		line(c, c->gfx9 ? "s_mov_b64 exec, -1" : "s_mov_b32 exec_lo, -1");
}

/* ---- looking at registers ---- */

static void collect(struct printer *c)
{
	line(c, "v_or_b32_e32 v%u, v%u, v%u", own(c, OWN_BAD), own(c, OWN_T1), own(c, OWN_BAD));
}

static void compare(struct printer *c, unsigned r, uint32_t with)
{
	line(c, "v_xor_b32_e32 v%u, 0x%x, v%u", own(c, OWN_T1), with, r);
	collect(c);
}

/* Use register r in the waves of mask: poison shows by itself, another value than the named one is collected. */
static void look(struct printer *c, uint32_t mask, unsigned r)
{
	while (mask) {
		struct named n;
		uint32_t some = next_class(c, &mask, r, &n);

		if (n.seen)
			continue;
		set_mask(c, some);
		if (!c->edge && (n.holds == HOLDS_TILE || (n.holds == HOLDS_UNSET && !c->given)))
			compare(c, r, n.holds == HOLDS_TILE ? n.tag : 0);
		else
			line(c, "v_mov_b32_e32 v%u, v%u", own(c, OWN_T1), r);
		n.seen = true;
		set_class(c, some, r, n);
	}
}

static void look_at_span(struct printer *c, uint32_t mask, struct span s)
{
	for (unsigned r = s.first; r < (unsigned)s.first + s.n; r++) {
		if (r < VGPRS) {
			look(c, mask, r);
		} else if (r >= REG_SGPR && r < REG_SGPR + FREE_SGPR) {
			set_mask(c, mask);
			line(c, "s_mov_b32 s71, s%u", r - REG_SGPR);
		}
	}
}

static void fill(struct printer *c, uint32_t mask, struct span s, struct named n)
{
	for (unsigned r = s.first; r < (unsigned)s.first + s.n; r++) {
		for (uint32_t left = mask; left && r < VGPRS;) {
			struct named was;

			next_class(c, &left, r, &was);
			c->t->unseen += was.holds == HOLDS_TILE && !was.seen && !c->edge;
		}
		if (r < VGPRS)
			set_class(c, mask, r, n);
	}
}

static const struct span *span_of(const struct insn *in, enum span_role role)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role)
			return &in->span[i];
	return NULL;
}

/* ---- addresses ---- */

static const char *add_op(const struct printer *c)
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
		line(c, "s_mul_i32 s70, s62, 0x%x", step);
		line(c, "%s s70, s70, 0x%x", c->gfx9 ? "s_add_u32" : "s_add_co_u32", *base + at[first] - first * step);
		return true;
	}
	line(c, "s_mov_b32 s70, 0");
	for (left = c->mask; left; left &= left - 1) {
		unsigned w = (unsigned)__builtin_ctz(left);

		line(c, "s_cmp_eq_u32 s62, %u", w);
		line(c, "s_cselect_b32 s70, 0x%x, s70", *base + at[w]);
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
		fail(c, "too many tables of lane addresses");
		return own(c, OWN_T0);
	}
	c->table[n].lane = ac->lane;
	c->table[n].from = ac->lane[0];
	c->table[n].reg = new_own(c);
	c->ntables++;
	return c->table[n].reg;
}

/*
 * T0 = LDS address of each lane for an access of unit bytes a lane. An access of one wide lane, as programs built by
 * hand have them, is cut into units over the lanes; lanes behind its end begin again.
 */
static void lds_address(struct printer *c, const struct access *ac, int64_t tile, uint32_t unit)
{
	uint32_t base = slot_base(c, ac, tile) + ac->lane[0], bytes = ac->width;
	unsigned t0 = own(c, OWN_T0);
	bool scalar = wave_part(c, ac, &base);

	if (ac->nlanes == 1) {
		if (bytes % unit || (bytes & (bytes - 1)) || bytes > unit * c->lanes)
			fail(c, "an access that does not fit the lanes");
		line(c, "v_lshlrev_b32_e32 v%u, %d, v%u", t0, __builtin_ctz(unit), own(c, OWN_LANE));
		line(c, "v_and_b32_e32 v%u, 0x%x, v%u", t0, bytes - 1, t0);
	} else if (ac->nlanes != c->lanes || bytes != unit) {
		fail(c, "an access of another width than its registers");
	} else {
		bool linear = !(unit & (unit - 1));

		for (unsigned l = 0; l < c->lanes; l++)
			linear = linear && ac->lane[l] == ac->lane[0] + l * unit;
		if (linear)
			line(c, "v_lshlrev_b32_e32 v%u, %d, v%u", t0, __builtin_ctz(unit), own(c, OWN_LANE));
		else
			line(c, "v_mov_b32_e32 v%u, v%u", t0, lane_table(c, ac));
	}
	if (scalar)
		line(c, "%s v%u, s70, v%u", add_op(c), t0, t0);
	else if (base)
		line(c, "%s v%u, 0x%x, v%u", add_op(c), t0, base, t0);
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
	line(c, "%s", b->s);
	strbuf_free(b);
}

static bool vector_span(struct printer *c, const struct span *s, const struct access *ac)
{
	if (!s || !s->n || s->n > 4 || s->first + s->n > VGPRS) {
		fail(c, "registers of a memory instruction");
		return false;
	}
	if (ac && !ac->lane) {
		fail(c, "an access without lanes");
		return false;
	}
	return true;
}

/* ---- instructions ---- */

static void put_read(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	const struct span *s = span_of(in, ROLE_DST);
	int64_t tile = tile_of(c, ac, loop);
	struct strbuf b = { 0 };

	if (!vector_span(c, s, ac))
		return;
	begin_access(c, ac, tile);
	lds_address(c, ac, tile, 4u * s->n);
	put_name(&b, c, c->gfx9 ? "ds_read_" : "ds_load_", s->n, true);
	strbuf_add(&b, " ");
	put_regs(&b, s->first, s->n);
	strbuf_add(&b, ", v%u", own(c, OWN_T0));
	put_line(c, &b);
	end_access(c);
	fill(c, c->mask, *s, (struct named){ HOLDS_TILE, false, make_tag(key_of_buffer(c->p, ac->buffer), tile) });
}

/* Register r goes to LDS as part of a tile: it should hold that tile, or is made to. */
static void prepare_data(struct printer *c, uint32_t mask, unsigned r, unsigned key, int64_t tile)
{
	look(c, mask, r);
	while (mask) {
		uint32_t want = make_tag(key, tile);
		struct named n;

		set_mask(c, next_class(c, &mask, r, &n));
		if (n.holds == HOLDS_TILE) {
			if ((n.tag ^ want) & TILE_MASK)
				compare(c, r, (n.tag & ~TILE_MASK) | (want & TILE_MASK));
			if ((n.tag ^ want) & ~TILE_MASK)
				line(c, "v_xor_b32_e32 v%u, 0x%x, v%u", r, (n.tag ^ want) & ~TILE_MASK, r);
			n.tag = (n.tag & TILE_MASK) | (want & ~TILE_MASK);
			set_class(c, c->mask, r, n);
		} else if (n.holds == HOLDS_ANY || c->given) {
			line(c, "v_mov_b32_e32 v%u, 0x%x", r, want);
		}
	}
}

static void put_write(struct printer *c, const struct insn *in, uint32_t mask, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	const struct span *s = span_of(in, ROLE_DATA);
	int64_t tile = tile_of(c, ac, loop);
	struct strbuf b = { 0 };

	if (!vector_span(c, s, ac))
		return;
	for (unsigned r = s->first; r < (unsigned)s->first + s->n && !c->edge; r++)
		prepare_data(c, mask, r, key_of_buffer(c->p, ac->buffer), tile);
	set_mask(c, mask);
	begin_access(c, ac, tile);
	lds_address(c, ac, tile, 4u * s->n);
	only_lanes(c, 0);
	put_name(&b, c, c->gfx9 ? "ds_write_" : "ds_store_", s->n, true);
	strbuf_add(&b, " v%u, ", own(c, OWN_T0));
	put_regs(&b, s->first, s->n);
	put_line(c, &b);
	all_lanes(c, 0);
	end_access(c);
}

static void put_load(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = in->access >= 0 && c->p->access[in->access].global >= 0 ? &c->p->access[in->access] : NULL;
	const struct span *s = span_of(in, ROLE_DST);
	uint32_t tag = ac ? make_tag(key_of_global(c->p, ac->global), tile_of(c, ac, loop)) : ANY_TAG;
	struct strbuf b = { 0 };

	if (!vector_span(c, s, NULL))
		return;
	line(c, "v_mov_b32_e32 v%u, 0x%x", own(c, OWN_T0), entry_of(c, tag));
	put_name(&b, c, "global_load_", s->n, false);
	strbuf_add(&b, " ");
	put_regs(&b, s->first, s->n);
	strbuf_add(&b, ", v%u, s[64:65]", own(c, OWN_T0));
	put_line(c, &b);
	fill(c, c->mask, *s, (struct named){ ac ? HOLDS_TILE : HOLDS_ANY, false, tag });
}

/* gfx9: lane l writes at M0 + width * l. */
static void copy_through_m0(struct printer *c, const struct access *ac, int64_t tile, uint32_t entry)
{
	uint32_t base = slot_base(c, ac, tile) + ac->lane[0];
	unsigned width = ac->nlanes == 1 ? 4 : ac->width, n = ac->width / 4;

	for (unsigned l = 0; ac->nlanes > 1 && l < ac->nlanes; l++)
		if (ac->nlanes != c->lanes || ac->lane[l] != ac->lane[0] + l * width || width % 4 || width > 16)
			fail(c, "a copy whose lanes do not follow each other");
	if (ac->nlanes == 1 && (ac->width % 4 || n > c->lanes))
		fail(c, "a copy that does not fit the lanes");
	if (wave_part(c, ac, &base))
		line(c, "s_mov_b32 m0, s70");
	else
		line(c, "s_mov_b32 m0, 0x%x", base);
	line(c, "v_mov_b32_e32 v%u, 0x%x", own(c, OWN_T0), entry);
	only_lanes(c, ac->nlanes == 1 ? n : 0);
	line(c, "buffer_load_dword%s v%u, s[64:67], 0 offen lds", width == 4 ? "" : width == 12 ? "x3" : "x4", own(c, OWN_T0));
	all_lanes(c, ac->nlanes == 1 ? n : 0);
}

static void copy_async(struct printer *c, const struct access *ac, int64_t tile, uint32_t entry)
{
	unsigned width = ac->nlanes == 1 ? 4 : ac->width;

	while (ac->nlanes == 1 && width < 16 && width * c->lanes < ac->width)
		width *= 2;
	lds_address(c, ac, tile, width);
	line(c, "v_mov_b32_e32 v%u, 0x%x", own(c, OWN_T1), entry);
	only_lanes(c, 0);
	line(c, "global_load_async_to_lds_b%u v%u, v%u, s[64:65]", 8 * width, own(c, OWN_T0), own(c, OWN_T1));
	all_lanes(c, 0);
}

/* s[72:83]: so many bytes between LDS from s73 on and global memory from s[74:75] on; there rows of 16 bytes, step apart. */
static void tensor_descriptor(struct printer *c, const struct access *ac, uint32_t step)
{
	line(c, "s_mov_b32 s72, %d", !without_lanes(c)); /* tiles to move */
	line(c, "s_bitset1_b32 s75, 31");                  /* type: 2 */
	line(c, "s_mov_b32 s76, 0x20000");                 /* elements of 4 bytes */
	line(c, "s_mov_b32 s77, 0x40000000");              /* the tensor is larger than the tile */
	line(c, "s_mov_b32 s78, 0x40000000");
	line(c, "s_mov_b32 s79, 0x%x", 4u << 16);
	line(c, "s_mov_b32 s80, 0x%x", ac->width / 16);
	line(c, "s_mov_b32 s81, 0x%x", step / 4);
	line(c, "s_mov_b32 s82, 0");
	line(c, "s_mov_b32 s83, 0");
}

static void tensor_lds(struct printer *c, const struct access *ac, int64_t tile)
{
	uint32_t base = slot_base(c, ac, tile) + ac->lane[0];

	if (ac->nlanes != 1 || ac->width % 16 || ac->width / 16 > 0xffff)
		fail(c, "a tensor copy that does not fill LDS in a row");
	if (wave_part(c, ac, &base))
		line(c, "s_mov_b32 s73, s70");
	else
		line(c, "s_mov_b32 s73, 0x%x", base);
}

/* All rows are the same one in global memory. */
static void copy_tensor(struct printer *c, const struct access *ac, int64_t tile, uint32_t entry)
{
	tensor_lds(c, ac, tile);
	line(c, "s_add_co_u32 s74, s64, 0x%x", entry);
	line(c, "s_add_co_ci_u32 s75, s65, 0");
	tensor_descriptor(c, ac, 0);
	line(c, "tensor_load_to_lds s[72:75], s[76:83]");
}

static void put_copy(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	int64_t tile = tile_of(c, ac, loop);
	uint32_t entry = entry_of(c, make_tag(key_of_buffer(c->p, ac->buffer), tile));

	if (!ac->lane) {
		fail(c, "an access without lanes");
		return;
	}
	begin_access(c, ac, tile);
	if (in->cls == OPC_TDM_LOAD)
		copy_tensor(c, ac, tile, entry);
	else if (c->gfx9)
		copy_through_m0(c, ac, tile, entry);
	else
		copy_async(c, ac, tile, entry);
	end_access(c);
}

static uint32_t store_bytes(const struct printer *c)
{
	return c->p->waves * c->lanes * 16;
}

static void store_address(struct printer *c, uint32_t insn)
{
	unsigned t0 = own(c, OWN_T0);

	line(c, "s_mul_i32 s70, s62, 0x%x", c->lanes * 16);
	line(c, "v_lshlrev_b32_e32 v%u, 4, v%u", t0, own(c, OWN_LANE));
	line(c, "%s v%u, s70, v%u", add_op(c), t0, t0);
	line(c, "%s v%u, 0x%x, v%u", add_op(c), t0, insn * store_bytes(c), t0);
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
			line(c, "v_lshlrev_b32_e32 v%u, 4, v%u", own(c, OWN_T0), own(c, OWN_LANE));
			line(c, "%s v%u, 0x%x, v%u", add_op(c), own(c, OWN_T0), i * store_bytes(c) + w * c->lanes * 16,
			     own(c, OWN_T0));
			line(c, "global_load_%s v%u, v%u, s[86:87]", c->gfx9 ? "dword" : "b32", own(c, OWN_DEAD), own(c, OWN_T0));
		}
	}
}

static void put_store(struct printer *c, const struct insn *in, uint32_t i)
{
	const struct span *s = span_of(in, ROLE_DATA);
	struct strbuf b = { 0 };

	if (!vector_span(c, s, NULL))
		return;
	if ((in->flags & INSN_PUBLISHES) && in->access >= 0)
		read_published(c, in);
	store_address(c, i);
	put_name(&b, c, "global_store_", s->n, false);
	strbuf_add(&b, " v%u, ", own(c, OWN_T0));
	put_regs(&b, s->first, s->n);
	strbuf_add(&b, ", s[86:87]");
	put_line(c, &b);
	if (c->t->scratch_bytes < (i + 1) * (uint64_t)store_bytes(c))
		c->t->scratch_bytes = (i + 1) * (uint64_t)store_bytes(c);
}

static void put_tensor_store(struct printer *c, const struct insn *in, int loop)
{
	const struct access *ac = &c->p->access[in->access];
	int64_t tile = tile_of(c, ac, loop);
	uint64_t end = c->tensor_base + (uint64_t)c->p->waves * ac->width;

	if (!ac->lane || end > 0x7fffffff) {
		fail(c, "a tensor store of no known place");
		return;
	}
	begin_access(c, ac, tile);
	tensor_lds(c, ac, tile);
	line(c, "s_mul_i32 s70, s62, 0x%x", ac->width);
	line(c, "s_add_co_u32 s70, s70, 0x%x", c->tensor_base);
	line(c, "s_add_co_u32 s74, s86, s70");
	line(c, "s_add_co_ci_u32 s75, s87, 0");
	tensor_descriptor(c, ac, 16);
	line(c, "tensor_store_from_lds s[72:75], s[76:83]");
	end_access(c);
	if (c->t->scratch_bytes < end)
		c->t->scratch_bytes = end;
}

static void put_smem(struct printer *c, const struct insn *in)
{
	const struct span *s = span_of(in, ROLE_DST);

	if (!s || s->first < REG_SGPR || s->first >= REG_SGPR + FREE_SGPR || s->n != 1)
		fail(c, "a scalar load of more than one register");
	else
		line(c, "s_load_%s s%u, s[60:61], 0x0", c->gfx9 ? "dword" : "b32", s->first - REG_SGPR);
}

/* Reads before writes; what is written is of no tile. */
static void put_work(struct printer *c, const struct insn *in, uint32_t mask)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] != ROLE_DST)
			look_at_span(c, mask, in->span[i]);
	set_mask(c, mask);
	for (unsigned i = 0; i < in->nspans; i++) {
		if (in->role[i] != ROLE_DST)
			continue;
		for (unsigned r = in->span[i].first; r < (unsigned)in->span[i].first + in->span[i].n; r++) {
			if (r < VGPRS)
				line(c, "v_mov_b32_e32 v%u, 0x%x", r, ANY_TAG);
			else if (r >= REG_SGPR && r < REG_SGPR + FREE_SGPR)
				line(c, "s_mov_b32 s%u, 0", r - REG_SGPR);
		}
		fill(c, mask, in->span[i], (struct named){ HOLDS_ANY, true, ANY_TAG });
	}
}

/* ---- matrix ops ---- */

static unsigned sum_of(struct printer *c, unsigned reg, uint32_t mask)
{
	struct progtext *t = c->t;
	size_t i = 0;

	while (i < t->nsums && t->sum[i].reg != reg)
		i++;
	if (i == ARRAY_LEN(c->sum_reg)) {
		fail(c, "too many accumulators");
		return own(c, OWN_T1);
	}
	if (i == t->nsums) {
		t->sum = xgrow(t->sum, t->nsums, &t->capsums, sizeof(*t->sum));
		t->sum[t->nsums++] = (struct progtext_sum){ .reg = reg };
		c->sum_reg[i] = c->gfx9 && c->first_own + c->nown + SPARE_REGS >= VGPRS ? REG_AGPR + (unsigned)i : new_own(c);
	}
	for (unsigned w = 0; w < c->p->waves; w++)
		t->sum[i].ops[w] += mask >> w & 1;
	return c->sum_reg[i];
}

static void add_hash(struct printer *c, unsigned from, unsigned to)
{
	unsigned t1 = own(c, OWN_T1), t2 = own(c, OWN_T2);

	line(c, "v_and_b32_e32 v%u, 0x%x, v%u", t1, TILE_MASK, from);
	line(c, "v_mul_lo_u32 v%u, v%u, s84", t1, t1);
	line(c, "v_lshrrev_b32_e32 v%u, 15, v%u", t2, t1);
	line(c, "v_xor_b32_e32 v%u, v%u, v%u", t1, t2, t1);
	line(c, "v_mul_lo_u32 v%u, v%u, s85", t1, t1);
	if (to < VGPRS) {
		line(c, "%s v%u, v%u, v%u", add_op(c), to, t1, to);
		return;
	}
	line(c, "v_accvgpr_read_b32 v%u, a%u", t2, to - REG_AGPR);
	line(c, "%s v%u, v%u, v%u", add_op(c), t1, t1, t2);
	line(c, "v_accvgpr_write_b32 a%u, v%u", to - REG_AGPR, t1);
}

static uint32_t hash(int64_t tile)
{
	uint32_t h = (make_tag(0, tile) & TILE_MASK) * HASH_1;

	return (h ^ h >> 15) * HASH_2;
}

static bool of_operand(const struct named *n)
{
	return n->holds == HOLDS_TILE && n->tag >> TILE_BITS <= KEY_B;
}

static void same_tile(struct printer *c, unsigned a, unsigned b)
{
	line(c, "v_xor_b32_e32 v%u, v%u, v%u", own(c, OWN_T1), a, b);
	line(c, "v_and_b32_e32 v%u, 0x%x, v%u", own(c, OWN_T1), TILE_MASK, own(c, OWN_T1));
	collect(c);
}

/* All registers of one operand hold the same tile. */
static void whole_operand(struct printer *c, uint32_t mask, const struct span *s)
{
	for (unsigned r = s->first + 1u; r < (unsigned)s->first + s->n; r++)
		for (uint32_t left = mask; left;) {
			struct named n;
			uint32_t some = next_class(c, &left, r, &n);
			const struct named *first = reg_of(c, (unsigned)__builtin_ctz(some), s->first);

			if (!of_operand(&n) || !of_operand(first) || n.tag == first->tag)
				continue;
			set_mask(c, some);
			same_tile(c, s->first, r);
		}
}

static void multiply(struct printer *c, uint32_t mask, const struct span *a, const struct span *b)
{
	const struct span *d = span_of(&c->of->insns[c->insn], ROLE_DST);

	whole_operand(c, mask, a);
	whole_operand(c, mask, b);
	while (mask) {
		struct named x, y;
		uint32_t some = next_class(c, &mask, a->first, &x);

		while (some) {
			set_mask(c, next_class(c, &some, b->first, &y));
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
			uint32_t some = next_class(c, &left, r, &n);

			if (n.seen || n.holds == HOLDS_UNSET)
				continue;
			set_mask(c, some);
			line(c, "v_mov_b32_e32 v%u, v%u", own(c, OWN_T1), r);
		}
	fill(c, mask, *s, (struct named){ HOLDS_ANY, true, ANY_TAG });
}

static void put_matrix(struct printer *c, const struct insn *in, uint32_t mask)
{
	const struct span *a = span_of(in, ROLE_A), *b = span_of(in, ROLE_B);

	for (unsigned i = 0; i < in->nspans; i++) {
		if (in->role[i] == ROLE_DST || in->role[i] == ROLE_C) {
			take_sum(c, mask, &in->span[i]);
			continue;
		}
		if (in->span[i].first < REG_SGPR && in->span[i].first + in->span[i].n > VGPRS)
			fail(c, "matrix operands in accumulation registers");
		else
			look_at_span(c, mask, in->span[i]);
	}
	if (a && b && !c->edge && c->p->ksteps && !c->t->why)
		multiply(c, mask, a, b);
}

/* ---- waits and barriers ---- */

static void put_wait(struct printer *c, const struct insn *in)
{
	struct strbuf b = { 0 };

	for (unsigned i = 0; i < in->nwait; i++) {
		enum counter k = (enum counter)in->wait[i].counter;
		unsigned most = k == CTR_LGKM ? 15 : k == CTR_EXP ? 7 : k == CTR_KM ? 31 : 63;

		if (in->wait[i].value > most) /* no counter is ever above it */
			continue;
		if (c->gfx9)
			strbuf_add(&b, "%s%scnt(%u)", b.len ? " " : "s_waitcnt ", counter_name(k), in->wait[i].value);
		else
			line(c, "s_wait_%scnt %u", counter_name(k), in->wait[i].value);
	}
	if (b.len)
		line(c, "%s", b.s);
	strbuf_free(&b);
}

static void put_barrier(struct printer *c, const struct insn *in)
{
	int id = in->barrier;

	if (in->cls == OPC_BARRIER && c->gfx9) {
		line(c, "s_barrier");
		return;
	}
	if (in->cls == OPC_BARRIER)
		id = BAR_WORKGROUP;
	else if (id == BAR_NULL)
		return;
	if (id > 0 && id < 32) {
		c->named_barrier[id] = true;
		c->members[id] = in->members ? in->members : c->members[id] ? c->members[id] : c->p->waves;
	}
	if (in->cls != OPC_AWAIT)
		line(c, "s_barrier_signal %d", id);
	if (in->cls != OPC_SIGNAL)
		line(c, "s_barrier_wait %d", id);
}

static void put_insn(struct printer *c, uint32_t i, int loop)
{
	const struct insn *in = &c->p->insns[i];
	uint32_t mask = waves_of(c, i);

	if (!mask || (in->flags & (c->edge ? INSN_EDGE_ABSENT : INSN_EDGE_ONLY)))
		return;
	c->insn = i;
	if (in->cls == OPC_MATRIX) {
		put_matrix(c, in, mask);
		return;
	}
	if (in->cls == OPC_LDS_WRITE && in->access >= 0) {
		put_write(c, in, mask, loop);
		return;
	}
	if (in->cls == OPC_VALU || in->cls == OPC_TRANS || in->cls == OPC_PACKED ||
	    (in->cls == OPC_SALU && !(in->flags & INSN_IMPLIED))) {
		put_work(c, in, mask);
		return;
	}
	if (in->cls == OPC_VMEM_STORE)
		for (unsigned k = 0; k < in->nspans; k++)
			if (in->role[k] == ROLE_DATA)
				look_at_span(c, mask, in->span[k]);
	set_mask(c, mask);
	switch ((int)in->cls) {
	case OPC_LDS_READ:
	case OPC_VMEM_LDS:
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		if (in->access < 0 || c->p->access[in->access].buffer < 0)
			fail(c, "an LDS access of no buffer");
		else if (in->cls == OPC_LDS_READ)
			put_read(c, in, loop);
		else if (in->cls == OPC_TDM_STORE)
			put_tensor_store(c, in, loop);
		else
			put_copy(c, in, loop);
		break;
	case OPC_VMEM_LOAD: put_load(c, in, loop); break;
	case OPC_VMEM_STORE: put_store(c, in, i); break;
	case OPC_SMEM: put_smem(c, in); break;
	case OPC_WAIT: put_wait(c, in); break;
	case OPC_BARRIER: case OPC_SIGNAL: case OPC_AWAIT: put_barrier(c, in); break;
	case OPC_END:
		if (i + 1 < c->p->ninsns)
			line(c, "s_branch .Lend");
		c->ended |= mask;
		break;
	case OPC_LDS_WRITE: case OPC_LDS_PERMUTE: fail(c, "an instruction that is not printed"); break;
	default: break; /* priorities, nops, loop control: no data */
	}
}

/* Instructions [i, end); loop: the innermost that holds them. */
static void put_range(struct printer *c, uint32_t i, uint32_t end, int loop)
{
	while (i < end && !c->t->why) {
		int inner = -1;

		for (size_t l = 0; l < c->p->nloops; l++)
			if (c->p->loops[l].begin == i && c->p->loops[l].parent == loop &&
			    (inner < 0 || c->p->loops[l].end > c->p->loops[inner].end))
				inner = (int)l;
		if (inner < 0 || inner == loop) {
			const struct insn *in = &c->p->insns[i];

			for (unsigned k = 0; k < (in->cls == OPC_WAIT || in->repeat < 1 ? 1u : in->repeat); k++)
				put_insn(c, i, loop);
			i++;
			continue;
		}
		for (c->trip[inner] = 0; (uint64_t)c->trip[inner] < c->p->loops[inner].trips && !c->t->why; c->trip[inner]++)
			put_range(c, i, c->p->loops[inner].end - 1, inner);
		i = c->p->loops[inner].end;
	}
}

/* ---- the beginning and the end ---- */

static void wait_for_all(struct printer *c)
{
	static const char *const names[] = { "load", "store", "ds", "km", "async", "tensor" };

	if (c->gfx9)
		line(c, "s_waitcnt vmcnt(0) lgkmcnt(0)");
	for (unsigned i = 0; i < ARRAY_LEN(names) && !c->gfx9; i++)
		line(c, "s_wait_%scnt 0", names[i]);
}

static void put_end(struct printer *c)
{
	unsigned t0 = own(c, OWN_T0);
	uint32_t row = c->lanes * 4, wave = row * (1 + (uint32_t)c->t->nsums);

	c->insn = NONE;
	c->ended = 0;
	set_mask(c, c->all);
	line(c, ".Lend:");
	wait_for_all(c);
	for (unsigned r = 0; r < c->first_own && !c->edge; r++)
		for (uint32_t left = c->all; left;) {
			struct named n;
			uint32_t some = next_class(c, &left, r, &n);

			if (n.holds == HOLDS_TILE)
				look(c, some, r);
		}
	set_mask(c, c->all);
	if (!c->edge) {
		line(c, "s_mul_i32 s70, s62, 0x%x", wave);
		line(c, "v_lshlrev_b32_e32 v%u, 2, v%u", t0, own(c, OWN_LANE));
		line(c, "%s v%u, s70, v%u", add_op(c), t0, t0);
		for (size_t k = 0; k <= c->t->nsums; k++) {
			unsigned r = k ? c->sum_reg[k - 1] : own(c, OWN_BAD);

			if (r >= VGPRS) {
				line(c, "v_accvgpr_read_b32 v%u, a%u", own(c, OWN_T1), r - REG_AGPR);
				r = own(c, OWN_T1);
			}
			line(c, "global_store_%s v%u, v%u, s[68:69]", c->gfx9 ? "dword" : "b32", t0, r);
			line(c, "%s v%u, 0x%x, v%u", add_op(c), t0, row, t0);
		}
	}
	line(c, "s_endpgm");
	c->t->values = !c->edge;
	c->t->out_bytes = (uint64_t)wave * c->p->waves;
}

/* Workgroups of a cluster write apart from each other. */
static void own_area(struct printer *c, unsigned pointer, uint64_t bytes)
{
	line(c, "s_mul_i32 s70, s63, 0x%x", (unsigned)bytes);
	line(c, "s_add_co_u32 s%u, s%u, s70", pointer, pointer);
	line(c, "s_add_co_ci_u32 s%u, s%u, 0", pointer + 1, pointer + 1);
}

static void load_pointers(struct printer *c)
{
	line(c, "s_mov_b64 s[60:61], s[0:1]");
	line(c, c->gfx9 ? "s_load_dwordx4 s[64:67], s[60:61], 0x0" : "s_load_b128 s[64:67], s[60:61], 0x0");
	line(c, c->gfx9 ? "s_load_dwordx2 s[86:87], s[60:61], 0x10" : "s_load_b64 s[86:87], s[60:61], 0x10");
	wait_for_all(c);
	line(c, "s_mov_b64 s[68:69], s[66:67]");
	if (c->p->cluster_workgroups > 1) {
		line(c, "s_and_b32 s63, ttmp6, 15");
		own_area(c, 68, c->t->out_bytes);
		own_area(c, 86, c->t->scratch_bytes);
	}
	line(c, "s_mov_b32 s66, 0x%x", (unsigned)c->t->data_bytes);
	line(c, "s_mov_b32 s67, 0x27000");
	line(c, "s_mov_b32 s84, 0x%x", HASH_1);
	line(c, "s_mov_b32 s85, 0x%x", HASH_2);
}

/* All waves pass a barrier first: none of them counts as one that never takes part. */
static void start_barriers(struct printer *c)
{
	unsigned named = 0, n = 0;

	for (unsigned id = 1; id < 32; id++) {
		if (!c->named_barrier[id])
			continue;
		line(c, "s_mov_b32 m0, 0x%x", id | c->members[id] << 16);
		line(c, "s_cmp_lg_u32 s62, 0");
		line(c, "s_cbranch_scc1 .Linit%u", id);
		line(c, "s_barrier_init m0");
		line(c, ".Linit%u:", id);
		named = id;
		n++;
	}
	if (n == 1) /* a wave listens to one at a time */
		line(c, "s_barrier_join %u", named);
	if (c->gfx9) {
		line(c, "s_barrier");
		return;
	}
	line(c, "s_barrier_signal -1");
	line(c, "s_barrier_wait -1");
}

static void put_start(struct printer *c)
{
	unsigned lane = own(c, OWN_LANE);

	c->insn = NONE;
	load_pointers(c);
	line(c, "v_readfirstlane_b32 s62, v0");
	line(c, "s_lshr_b32 s62, s62, %d", __builtin_ctz(c->lanes));
	line(c, "v_and_b32_e32 v%u, 0x%x, v0", lane, c->lanes - 1);
	line(c, "v_mov_b32_e32 v%u, 0", own(c, OWN_BAD));
	for (size_t k = 0; k < c->t->nsums; k++) {
		if (c->sum_reg[k] < VGPRS)
			line(c, "v_mov_b32_e32 v%u, 0", c->sum_reg[k]);
		else
			line(c, "v_accvgpr_write_b32 a%u, 0", c->sum_reg[k] - REG_AGPR);
	}
	line(c, "v_lshlrev_b32_e32 v%u, 2, v%u", own(c, OWN_T0), lane);
	line(c, "%s v%u, 0x%x, v%u", add_op(c), own(c, OWN_T0), (unsigned)c->ntags * ENTRY_BYTES, own(c, OWN_T0));
	for (unsigned k = 0; k < c->ntables; k++) {
		line(c, "global_load_%s v%u, v%u, s[64:65]", c->gfx9 ? "dword" : "b32", c->table[k].reg, own(c, OWN_T0));
		line(c, "%s v%u, 0x%x, v%u", add_op(c), own(c, OWN_T0), c->lanes * 4, own(c, OWN_T0));
	}
	wait_for_all(c);
	for (unsigned r = 0; r < c->first_own; r++)
		if (c->given || r < SUM_REGS)
			line(c, "v_mov_b32_e32 v%u, 0x%x", r, ANY_TAG);
	start_barriers(c);
}

static void make_data(struct printer *c)
{
	size_t words = c->ntags * ENTRY_BYTES / 4, at = words;

	c->t->data_bytes = 4 * (words + (size_t)c->ntables * c->lanes);
	c->t->data = xcalloc(c->t->data_bytes / 4 + 1, sizeof(*c->t->data));
	for (size_t i = 0; i < words; i++)
		c->t->data[i] = c->tag[i / (ENTRY_BYTES / 4)];
	for (unsigned k = 0; k < c->ntables; k++)
		for (unsigned l = 0; l < c->lanes; l++)
			c->t->data[at++] = c->table[k].lane[l] - c->table[k].from;
}

/* The beginning needs to know what came up behind it. */
static void join(struct printer *c)
{
	struct strbuf body = c->body;
	uint32_t *lines = c->line;
	struct progtext_line *lds = c->lds;
	size_t n = c->nlines;

	c->body = (struct strbuf){ 0 };
	c->line = NULL;
	c->lds = NULL;
	c->nlines = c->caplines = c->caplds = 0;
	put_start(c);
	strbuf_addn(&c->body, body.s, body.len);
	c->line = xreallocarray(c->line, c->nlines + n, sizeof(*c->line));
	memcpy(c->line + c->nlines, lines, n * sizeof(*lines));
	c->lds = xreallocarray(c->lds, c->nlines + n, sizeof(*c->lds));
	memcpy(c->lds + c->nlines, lds, n * sizeof(*lds));
	c->nlines += n;
	strbuf_free(&body);
	free(lines);
	free(lds);
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
			enum use u = cls == OPC_MATRIX ? (in_sum(&p->insns[i], k) ? USE_SUM : USE_DATA) : role == ROLE_DST && p->insns[i].counter >= 0 ? USE_DATA : USE_NONE;

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
static struct insn *compact(struct printer *c, const struct program *p)
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
					fail(c, "registers that are partly sums");
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

static bool has_operands(const struct program *p)
{
	for (size_t i = 0; i < p->nbuffers; i++)
		if (p->buffers[i].operand == 'A' || p->buffers[i].operand == 'B')
			return true;
	return false;
}

bool progtext_print(const struct program *p, const struct progtext_options *o, struct progtext *t)
{
	struct printer *c = xcalloc(1, sizeof(*c));
	struct program q = *p;

	*t = (struct progtext){ .waves = p->waves, .lanes = (unsigned)p->target->v.wave_size, .ksteps = p->ksteps,
				.lds_bytes = p->lds_bytes };
	c->p = &q;
	c->of = p;
	c->t = t;
	c->edge = o && o->edge;
	c->no_again = o && o->no_again;
	c->gfx9 = p->target->counters[CTR_VM].present;
	c->given = !has_operands(p);
	c->lanes = t->lanes;
	c->all = c->mask = p->waves < 32 ? (1u << p->waves) - 1 : UINT32_MAX;
	c->nown = OWN_COUNT;
	c->reg = xcalloc((size_t)p->waves * VGPRS, sizeof(*c->reg));
	q.insns = compact(c, p);
	c->tensor_base = (uint32_t)p->ninsns * store_bytes(c);
	c->trip = xcalloc(p->nloops + 1, sizeof(*c->trip));
	c->content = xcalloc(p->lds_bytes / 4 + 1, sizeof(*c->content));
	entry_of(c, ANY_TAG);
	if (c->first_own + c->nown > VGPRS)
		fail(c, "more vector registers than there are");
	if (!t->why)
		put_range(c, 0, (uint32_t)p->ninsns, -1);
	if (!t->why) {
		put_end(c);
		make_data(c);
		join(c);
	}
	t->text = c->body.s;
	t->line_insn = c->line;
	t->lds = c->lds;
	t->nlines = c->nlines;
	free(c->tag);
	free(c->reg);
	free(c->trip);
	free(c->content);
	free(q.insns);
	free(c);
	return !t->why;
}

void progtext_free(struct progtext *t)
{
	free(t->text);
	free(t->line_insn);
	free(t->lds);
	free(t->data);
	free(t->sum);
	*t = (struct progtext){ 0 };
}

/* ---- running it ---- */

/* Each accumulator got each K-step equally often, in every lane. */
static bool sum_right(const struct progtext *t, const struct progtext_sum *s, unsigned w, const uint32_t *row)
{
	uint64_t times = t->ksteps ? s->ops[w] / t->ksteps : 0;
	uint32_t want = 0;

	if (s->ops[w] != times * t->ksteps)
		return false;
	for (uint64_t k = 0; k < t->ksteps; k++)
		want += hash((int64_t)k);
	want *= (uint32_t)times;
	for (unsigned l = 0; l < t->lanes; l++)
		if (row[l] != want)
			return false;
	return true;
}

static void judge(const struct progtext *t, const uint32_t *out, struct progtext_verdict *v)
{
	for (unsigned w = 0; w < t->waves; w++) {
		const uint32_t *row = out + (size_t)w * (1 + t->nsums) * t->lanes; /* of a workgroup */

		for (unsigned l = 0; l < t->lanes; l++)
			v->stale = v->stale || row[l];
		for (size_t k = 0; k < t->nsums; k++)
			v->sums = v->sums || !sum_right(t, &t->sum[k], w, row + (k + 1) * t->lanes);
	}
}

static const struct progtext_line *line_at(const struct progtext *t, struct loc loc)
{
	static const struct progtext_line none;
	unsigned at = loc_line(loc);

	return at && at <= t->nlines ? &t->lds[at - 1] : &none;
}

static bool of_one_tile(const struct finding *f, void *ctx)
{
	const struct progtext_line *a, *b;

	if (f->code != DIAG_RACE || f->nnotes != 1)
		return false;
	a = line_at(ctx, f->loc);
	b = line_at(ctx, f->notes[0].loc);
	return a->tag && a->tag == b->tag && (a->again || b->again);
}

struct progtext_verdict progtext_run(const struct program *p, const struct progtext *t, const struct target *machine,
				     const struct exec_options *o, struct diag *d, struct src **src)
{
	struct progtext_verdict v = { .insn = NONE }; /* d is empty */
	struct listing_options lo = { .keep_operands = true, .waves = t->waves };
	struct listing_info info = { 0 };
	struct exec_result r = { 0 };
	unsigned groups = p->cluster_workgroups;
	uint32_t *out = xcalloc(groups * t->out_bytes / 4 + 1, 4), *scratch = xcalloc(groups * t->scratch_bytes / 4 + 4, 4);
	struct exec_buffer b[3] = {
		{ .data = t->data, .bytes = t->data_bytes, .initialised = true },
		{ .data = out, .bytes = groups * t->out_bytes, .initialised = true, .writable = true },
		{ .data = scratch, .bytes = groups * t->scratch_bytes + 16, .initialised = true, .writable = true },
	};
	uint64_t args[3] = { 0 };
	struct exec_launch l = { .grid = { groups, 1, 1 }, .cluster = { groups, 1, 1 },
				 .block = { t->waves * t->lanes, 1, 1 }, .buffers = b, .nbuffers = 3, .kernarg = args,
				 .kernarg_bytes = sizeof(args), .npatches = 3,
				 .patch = { { 0, 0 }, { 8, 1 }, { 16, 2 } } };
	struct target part = *machine;
	struct src *s = src_from_text("program.s", t->text, strlen(t->text));
	struct program *q;
	size_t before;

	memcpy(part.counters, p->target->counters, sizeof(part.counters));
	q = listing_parse(s, &part, &lo, &info, d);
	if (q) {
		info.lds_bytes = t->lds_bytes;
		info.launch.described = info.launch.kernarg_ptr = true;
		info.launch.kernarg_bytes = sizeof(args);
		exec_run(q, &info, &l, o, &r, d);
		v.ran = r.insns > 0;
		v.executed = r.insns;
		exec_result_free(&r);
	}
	before = d->n;
	diag_drop_if(d, of_one_tile, (void *)(uintptr_t)t);
	v.findings = d->n;
	v.harmless = before - d->n;
	if (v.findings) {
		unsigned at = loc_line(d->list[0].loc);

		v.first = d->list[0].code;
		v.insn = at && at <= t->nlines ? t->line_insn[at - 1] : NONE;
	}
	for (unsigned g = 0; v.ran && t->values && g < groups; g++)
		judge(t, out + g * t->out_bytes / 4, &v);
	program_free(q);
	if (src)
		*src = s;
	else
		src_free(s);
	free(out);
	free(scratch);
	return v;
}
