/*
 * All loops are unrolled, every instruction stands under the mask of the waves that execute it, addresses are made in
 * place by scalar and vector work, which no counter sees. Memory instructions, waits and barriers are those of the
 * program and no others, until its end.
 *
 * The tag of a tile is its number and the operand, or buffer, that it belongs to; global memory holds the tags, copies
 * and loads spread them. In front of each use of a register its value is compared with the tag of the tile that was
 * read into it last, and differences are collected; sums of hashed tile numbers stand for accumulators.
 */
#include "progtext_internal.h"

#include <stdlib.h>
#include <string.h>

void pt_fail(struct printer *c, const char *why)
{
	if (!c->t->why)
		c->t->why = why;
}

void pt_line(struct printer *c, const char *fmt, ...)
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

void pt_set_mask(struct printer *c, uint32_t mask)
{
	if (mask == c->mask)
		return;
	if (c->mask != c->all)
		pt_line(c, ".Lm%u:", c->nlabels++);
	c->mask = mask;
	if (mask == c->all)
		return;
	pt_line(c, "s_bitcmp1_b32 0x%x, s62", mask);
	pt_line(c, "s_cbranch_scc0 .Lm%u", c->nlabels);
}

struct named *pt_reg_of(struct printer *c, unsigned wave, unsigned r)
{
	return &c->reg[wave * VGPRS + r];
}

/* Waves of *left whose register r should hold the same; they leave *left. */
uint32_t pt_next_class(struct printer *c, uint32_t *left, unsigned r, struct named *n)
{
	uint32_t mask = 0;

	*n = *pt_reg_of(c, (unsigned)__builtin_ctz(*left), r);
	for (unsigned w = 0; w < c->p->waves; w++) {
		const struct named *o = pt_reg_of(c, w, r);

		if ((*left >> w & 1) && o->holds == n->holds && o->seen == n->seen && o->tag == n->tag)
			mask |= 1u << w;
	}
	*left &= ~mask;
	return mask;
}

void pt_set_class(struct printer *c, uint32_t mask, unsigned r, struct named n)
{
	for (unsigned w = 0; w < c->p->waves; w++)
		if (mask >> w & 1)
			*pt_reg_of(c, w, r) = n;
}

unsigned pt_own(const struct printer *c, enum own r)
{
	return c->first_own + r;
}

unsigned pt_new_own(struct printer *c)
{
	unsigned r = c->first_own + c->nown++;

	if (r < VGPRS)
		return r;
	pt_fail(c, "more vector registers than there are");
	return VGPRS - 1;
}

/* ---- tags ---- */

uint32_t pt_make_tag(unsigned key, int64_t tile)
{
	return (uint32_t)key << TILE_BITS | (uint32_t)((tile + TILE_BIAS) & TILE_MASK);
}

unsigned pt_key_of_buffer(const struct program *p, int32_t b)
{
	switch (p->buffers[b].operand) {
	case 'A': return KEY_A;
	case 'B': return KEY_B;
	case 'S': return KEY_SCALES;
	default: return KEY_BUFFER + (unsigned)b;
	}
}

unsigned pt_key_of_global(const struct program *p, int32_t g)
{
	const char *name = p->globals[g].name;

	return !strcmp(name, "A") ? KEY_A : !strcmp(name, "B") ? KEY_B : KEY_GLOBAL + (unsigned)g;
}

/* Byte offset of a tag in the table. */
uint32_t pt_entry_of(struct printer *c, uint32_t tag)
{
	for (size_t i = c->ntags; i-- > 0;)
		if (c->tag[i] == tag)
			return (uint32_t)i * ENTRY_BYTES;
	c->tag = xgrow(c->tag, c->ntags, &c->captags, sizeof(*c->tag));
	c->tag[c->ntags] = tag;
	return (uint32_t)c->ntags++ * ENTRY_BYTES;
}

int64_t pt_tile_of(const struct printer *c, const struct access *ac, int loop)
{
	if (ac->from_end)
		return (int64_t)c->p->ksteps - 1 - ac->tile;
	if (ac->absolute || loop < 0)
		return ac->tile;
	return c->trip[loop] * (int64_t)c->p->loops[loop].steps + ac->tile;
}

uint32_t pt_slot_base(const struct printer *c, const struct access *ac, int64_t tile)
{
	const struct buffer *b = &c->p->buffers[ac->buffer];
	int64_t n = b->slots ? b->slots : 1, slot = ac->slot >= 0 ? ac->slot : (tile % n + n) % n;

	return b->base + (uint32_t)slot * b->slot_bytes;
}

/* Reads before writes; what is written is of no tile. */
static void put_work(struct printer *c, const struct insn *in, uint32_t mask)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] != ROLE_DST)
			pt_look_at_span(c, mask, in->span[i]);
	pt_set_mask(c, mask);
	for (unsigned i = 0; i < in->nspans; i++) {
		if (in->role[i] != ROLE_DST)
			continue;
		for (unsigned r = in->span[i].first; r < (unsigned)in->span[i].first + in->span[i].n; r++) {
			if (r < VGPRS)
				pt_line(c, "v_mov_b32_e32 v%u, 0x%x", r, ANY_TAG);
			else if (r >= REG_SGPR && r < REG_SGPR + FREE_SGPR)
				pt_line(c, "s_mov_b32 s%u, 0", r - REG_SGPR);
		}
		pt_fill(c, mask, in->span[i], (struct named){ HOLDS_ANY, true, ANY_TAG });
	}
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
			pt_line(c, "s_wait_%scnt %u", counter_name(k), in->wait[i].value);
	}
	if (b.len)
		pt_line(c, "%s", b.s);
	strbuf_free(&b);
}

static void put_barrier(struct printer *c, const struct insn *in)
{
	int id = in->barrier;

	if (in->cls == OPC_BARRIER && c->gfx9) {
		pt_line(c, "s_barrier");
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
		pt_line(c, "s_barrier_signal %d", id);
	if (in->cls != OPC_SIGNAL)
		pt_line(c, "s_barrier_wait %d", id);
}

static void put_insn(struct printer *c, uint32_t i, int loop)
{
	const struct insn *in = &c->p->insns[i];
	uint32_t mask = waves_of(c, i);

	if (!mask || (in->flags & (c->edge ? INSN_EDGE_ABSENT : INSN_EDGE_ONLY)))
		return;
	c->insn = i;
	if (in->cls == OPC_MATRIX) {
		pt_put_matrix(c, in, mask);
		return;
	}
	if (in->cls == OPC_LDS_WRITE && in->access >= 0) {
		pt_put_write(c, in, mask, loop);
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
				pt_look_at_span(c, mask, in->span[k]);
	pt_set_mask(c, mask);
	switch ((int)in->cls) {
	case OPC_LDS_READ:
	case OPC_VMEM_LDS:
	case OPC_TDM_LOAD:
	case OPC_TDM_STORE:
		if (in->access < 0 || c->p->access[in->access].buffer < 0)
			pt_fail(c, "an LDS access of no buffer");
		else if (in->cls == OPC_LDS_READ)
			pt_put_read(c, in, loop);
		else if (in->cls == OPC_TDM_STORE)
			pt_put_tensor_store(c, in, loop);
		else
			pt_put_copy(c, in, loop);
		break;
	case OPC_VMEM_LOAD: pt_put_load(c, in, loop); break;
	case OPC_VMEM_STORE: pt_put_store(c, in, i); break;
	case OPC_SMEM: pt_put_smem(c, in); break;
	case OPC_WAIT: put_wait(c, in); break;
	case OPC_BARRIER: case OPC_SIGNAL: case OPC_AWAIT: put_barrier(c, in); break;
	case OPC_END:
		if (i + 1 < c->p->ninsns)
			pt_line(c, "s_branch .Lend");
		c->ended |= mask;
		break;
	case OPC_LDS_WRITE: case OPC_LDS_PERMUTE: pt_fail(c, "an instruction that is not printed"); break;
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
		pt_line(c, "s_waitcnt vmcnt(0) lgkmcnt(0)");
	for (unsigned i = 0; i < ARRAY_LEN(names) && !c->gfx9; i++)
		pt_line(c, "s_wait_%scnt 0", names[i]);
}

static void put_end(struct printer *c)
{
	unsigned t0 = pt_own(c, OWN_T0);
	uint32_t row = c->lanes * 4, wave = row * (1 + (uint32_t)c->t->nsums);

	c->insn = NONE;
	c->ended = 0;
	pt_set_mask(c, c->all);
	pt_line(c, ".Lend:");
	wait_for_all(c);
	for (unsigned r = 0; r < c->first_own && !c->edge; r++)
		for (uint32_t left = c->all; left;) {
			struct named n;
			uint32_t some = pt_next_class(c, &left, r, &n);

			if (n.holds == HOLDS_TILE)
				pt_look(c, some, r);
		}
	pt_set_mask(c, c->all);
	if (!c->edge) {
		pt_line(c, "s_mul_i32 s70, s62, 0x%x", wave);
		pt_line(c, "v_lshlrev_b32_e32 v%u, 2, v%u", t0, pt_own(c, OWN_LANE));
		pt_line(c, "%s v%u, s70, v%u", pt_add_op(c), t0, t0);
		for (size_t k = 0; k <= c->t->nsums; k++) {
			unsigned r = k ? c->sum_reg[k - 1] : pt_own(c, OWN_BAD);

			if (r >= VGPRS) {
				pt_line(c, "v_accvgpr_read_b32 v%u, a%u", pt_own(c, OWN_T1), r - REG_AGPR);
				r = pt_own(c, OWN_T1);
			}
			pt_line(c, "global_store_%s v%u, v%u, s[68:69]", c->gfx9 ? "dword" : "b32", t0, r);
			pt_line(c, "%s v%u, 0x%x, v%u", pt_add_op(c), t0, row, t0);
		}
	}
	pt_line(c, "s_endpgm");
	c->t->values = !c->edge;
	c->t->out_bytes = (uint64_t)wave * c->p->waves;
}

/* Workgroups of a cluster write apart from each other. */
static void own_area(struct printer *c, unsigned pointer, uint64_t bytes)
{
	pt_line(c, "s_mul_i32 s70, s63, 0x%x", (unsigned)bytes);
	pt_line(c, "s_add_co_u32 s%u, s%u, s70", pointer, pointer);
	pt_line(c, "s_add_co_ci_u32 s%u, s%u, 0", pointer + 1, pointer + 1);
}

static void load_pointers(struct printer *c)
{
	pt_line(c, "s_mov_b64 s[60:61], s[0:1]");
	pt_line(c, c->gfx9 ? "s_load_dwordx4 s[64:67], s[60:61], 0x0" : "s_load_b128 s[64:67], s[60:61], 0x0");
	pt_line(c, c->gfx9 ? "s_load_dwordx2 s[86:87], s[60:61], 0x10" : "s_load_b64 s[86:87], s[60:61], 0x10");
	wait_for_all(c);
	pt_line(c, "s_mov_b64 s[68:69], s[66:67]");
	if (c->t->cluster > 1) {
		pt_line(c, "s_and_b32 s63, ttmp6, 15");
		own_area(c, 68, c->t->out_bytes);
		own_area(c, 86, c->t->scratch_bytes);
	}
	pt_line(c, "s_mov_b32 s66, 0x%x", (unsigned)c->t->data_bytes);
	pt_line(c, "s_mov_b32 s67, 0x27000");
	pt_line(c, "s_mov_b32 s84, 0x%x", HASH_1);
	pt_line(c, "s_mov_b32 s85, 0x%x", HASH_2);
}

/* All waves pass a barrier first: none of them counts as one that never takes part. */
static void start_barriers(struct printer *c)
{
	unsigned named = 0, n = 0;

	for (unsigned id = 1; id < 32; id++) {
		if (!c->named_barrier[id])
			continue;
		pt_line(c, "s_mov_b32 m0, 0x%x", id | c->members[id] << 16);
		pt_line(c, "s_cmp_lg_u32 s62, 0");
		pt_line(c, "s_cbranch_scc1 .Linit%u", id);
		pt_line(c, "s_barrier_init m0");
		pt_line(c, ".Linit%u:", id);
		named = id;
		n++;
	}
	if (n == 1) /* a wave listens to one at a time */
		pt_line(c, "s_barrier_join %u", named);
	if (c->gfx9) {
		pt_line(c, "s_barrier");
		return;
	}
	pt_line(c, "s_barrier_signal -1");
	pt_line(c, "s_barrier_wait -1");
}

static void put_start(struct printer *c)
{
	unsigned lane = pt_own(c, OWN_LANE);

	c->insn = NONE;
	load_pointers(c);
	pt_line(c, "v_readfirstlane_b32 s62, v0");
	pt_line(c, "s_lshr_b32 s62, s62, %d", __builtin_ctz(c->lanes));
	pt_line(c, "v_and_b32_e32 v%u, 0x%x, v0", lane, c->lanes - 1);
	pt_line(c, "v_mov_b32_e32 v%u, 0", pt_own(c, OWN_BAD));
	for (size_t k = 0; k < c->t->nsums; k++) {
		if (c->sum_reg[k] < VGPRS)
			pt_line(c, "v_mov_b32_e32 v%u, 0", c->sum_reg[k]);
		else
			pt_line(c, "v_accvgpr_write_b32 a%u, 0", c->sum_reg[k] - REG_AGPR);
	}
	pt_line(c, "v_lshlrev_b32_e32 v%u, 2, v%u", pt_own(c, OWN_T0), lane);
	pt_line(c, "%s v%u, 0x%x, v%u", pt_add_op(c), pt_own(c, OWN_T0), (unsigned)c->ntags * ENTRY_BYTES, pt_own(c, OWN_T0));
	for (unsigned k = 0; k < c->ntables; k++) {
		pt_line(c, "global_load_%s v%u, v%u, s[64:65]", c->gfx9 ? "dword" : "b32", c->table[k].reg, pt_own(c, OWN_T0));
		pt_line(c, "%s v%u, 0x%x, v%u", pt_add_op(c), pt_own(c, OWN_T0), c->lanes * 4, pt_own(c, OWN_T0));
	}
	wait_for_all(c);
	for (unsigned r = 0; r < c->first_own; r++)
		if (c->given || r < SUM_REGS)
			pt_line(c, "v_mov_b32_e32 v%u, 0x%x", r, ANY_TAG);
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
	t->cluster = o && o->cluster && o->cluster < p->cluster_workgroups ? o->cluster : p->cluster_workgroups;
	c->edge = o && o->edge;
	c->no_again = o && o->no_again;
	c->gfx9 = p->target->counters[CTR_VM].present;
	c->given = !has_operands(p);
	c->lanes = t->lanes;
	c->all = c->mask = p->waves < 32 ? (1u << p->waves) - 1 : UINT32_MAX;
	c->nown = OWN_COUNT;
	c->reg = xcalloc((size_t)p->waves * VGPRS, sizeof(*c->reg));
	q.insns = pt_compact(c, p);
	c->tensor_base = (uint32_t)p->ninsns * pt_store_bytes(c);
	c->trip = xcalloc(p->nloops + 1, sizeof(*c->trip));
	c->content = xcalloc(p->lds_bytes / 4 + 1, sizeof(*c->content));
	pt_entry_of(c, ANY_TAG);
	if (c->first_own + c->nown > VGPRS)
		pt_fail(c, "more vector registers than there are");
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
	free(t->store);
	*t = (struct progtext){ 0 };
}
