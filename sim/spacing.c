/* Wait states that software must put between two instructions of one wave, by the target's spacing
 * rows. */
#include "spacing.h"

#include <stdlib.h>
#include <string.h>

struct range { /* registers that count, [lo, hi) */
	unsigned lo, hi;
};

static const struct range vector_registers = {0, REG_SGPR}, scalar_registers = {REG_SGPR, REG_M0},
			  vcc_registers = {REG_VCC, REG_EXEC}, m0_register = {REG_M0, REG_SCC},
			  all_registers = {0, REG_COUNT};

static bool begins(const struct insn *in, const char *prefix)
{
	return in->op && strncmp(in->op, prefix, strlen(prefix)) == 0;
}

static bool holds(const struct insn *in, const char *part)
{
	return in->op && strstr(in->op, part) != NULL;
}

static bool role_in(uint8_t role, unsigned mask)
{
	return mask >> role & 1;
}

/* Do spans of a (roles ma) and of b (roles mb) share a register of the range? skip: spans of b that
 * don't count. */
static bool share(const struct insn *a, unsigned ma, const struct insn *b, unsigned mb,
		  struct range in, unsigned skip)
{
	for (unsigned i = 0; i < a->nspans; i++) {
		if (!role_in(a->role[i], ma))
			continue;
		for (unsigned j = 0; j < b->nspans; j++) {
			unsigned lo, hi, ae = a->span[i].first + (unsigned)a->span[i].n,
					 be = b->span[j].first + (unsigned)b->span[j].n;

			if (!role_in(b->role[j], mb) || skip >> j & 1)
				continue;
			lo = a->span[i].first > b->span[j].first ? a->span[i].first
								 : b->span[j].first;
			hi = ae < be ? ae : be;
			if (lo < in.lo)
				lo = in.lo;
			if (hi > in.hi)
				hi = in.hi;
			if (lo < hi)
				return true;
		}
	}
	return false;
}

static const struct span *span_of(const struct insn *in, enum span_role role)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == role)
			return &in->span[i];
	return NULL;
}

static bool c_exact(const struct insn *first, const struct insn *second)
{
	const struct span *d = span_of(first, ROLE_DST), *c = span_of(second, ROLE_C);

	return d && c && d->first == c->first && d->n == c->n;
}

#define R(role) (1u << ROLE_##role)

static bool gfx9(const struct target *t)
{
	return t->v.wave_size > 32;
}

static bool is_scaled(const struct insn *in)
{
	return in->matrix &&
	       (in->matrix->kind == MK_MFMA_SCALE || in->matrix->kind == MK_WMMA_SCALE);
}

/* Registers of first whose later overwriting needs distance. */
static unsigned war_roles(const struct target *t, const struct insn *first)
{
	if (first->cls == OPC_MATRIX)
		return gfx9(t) ? R(C) : is_scaled(first) ? R(A) | R(B) : R(A) | R(B) | R(INDEX);
	if (first->cls == OPC_TRANS)
		return R(SRC);
	return R(DATA);
}

/* A, B and index; scales too, but on gfx1250 not those of an op behind a matrix op. */
static unsigned ab_roles(const struct target *t, const struct insn *first,
			 const struct insn *second)
{
	bool scales = gfx9(t) || first->cls != OPC_MATRIX;

	return R(A) | R(B) | (scales || !is_scaled(second) ? R(INDEX) : 0u);
}

/* Does second write some register that first does not? */
static bool writes_more(const struct insn *first, const struct insn *second)
{
	const struct span *a = span_of(first, ROLE_DST), *b = span_of(second, ROLE_DST);

	return a && b &&
	       (b->first < a->first || b->first + (unsigned)b->n > a->first + (unsigned)a->n);
}

/* Lanes that a DPP op does not write keep what the destination held. */
static bool keeps_old(const struct insn *in)
{
	return holds(in, "_dpp");
}

/* Bit per relation that holds between the two, without what younger ones hide of the first. */
static unsigned relations(const struct target *t, const struct insn *first,
			  const struct insn *second, struct range in, struct spacing_hidden hide)
{
	unsigned mask = 1u << SR_ANY;

	if (share(first, R(DST), second, R(C), in, hide.written))
		mask |= c_exact(first, second) ? 1u << SR_C_EXACT : 1u << SR_C_OVERLAP;
	if (share(first, R(DST), second, ab_roles(t, first, second), in, hide.written))
		mask |= 1u << SR_AB;
	if (second->cls != OPC_MATRIX &&
	    share(first, R(DST), second, keeps_old(second) ? ~0u : ~R(DST), in, hide.written))
		mask |= 1u << SR_RAW;
	if (share(first, R(DST), second, R(DST), in, hide.written) &&
	    (gfx9(t) || first->cls != OPC_TRANS || writes_more(first, second)))
		mask |= 1u << SR_WAW;
	if (share(first, war_roles(t, first), second, R(DST), in, hide.read))
		mask |= 1u << SR_WAR;
	return mask;
}

/*
 * Passes as the rows count them. A matrix row for operands of any small type but fp4 twice has the
 * passes of 8-bit operands; the spacing of narrower ones is that of an op of half the time.
 */
static unsigned hazard_passes(const struct insn *in)
{
	const struct matrix_row *m = in->matrix;
	const struct span *a = span_of(in, ROLE_A), *b = span_of(in, ROLE_B);

	if (!m)
		return 0;
	if (m->operands == MO_NOT_BOTH_F4 && a && b && a->n < m->a_regs && b->n < m->b_regs)
		return m->passes / 2;
	return m->passes;
}

uint8_t spacing_class(const struct target *t, const struct insn *in)
{
	if (gfx9(t) || in->cls != OPC_MATRIX || !in->matrix || in->matrix->unit != MU_XDL)
		return UINT8_MAX;
	return (uint8_t)((in->matrix->kind == MK_SWMMAC ? 2 : 0) + (hazard_passes(in) > 2));
}

struct spacing_hidden spacing_hides(const struct target *t, const struct insn *first,
				    const struct insn *second)
{
	struct spacing_hidden hide = {0, 0};

	if (!gfx9(t) || first->cls != OPC_MATRIX)
		return hide;
	for (unsigned j = 0; j < second->nspans; j++) {
		unsigned others = ~(1u << j);

		if (share(first, R(DST), second, ~0u, vector_registers, others))
			hide.written |= (uint8_t)(1u << j);
		if (first->matrix && first->matrix->unit == MU_XDL &&
		    share(first, R(C), second, R(DST), vector_registers, others))
			hide.read |= (uint8_t)(1u << j);
	}
	return hide;
}

static bool is_vector(const struct insn *in)
{
	return in->cls == OPC_VALU || in->cls == OPC_TRANS || in->cls == OPC_PACKED;
}

static bool is_lds(const struct insn *in)
{
	return in->cls == OPC_LDS_READ || in->cls == OPC_LDS_WRITE || in->cls == OPC_LDS_PERMUTE;
}

static bool is_vmem(const struct insn *in)
{
	return in->cls == OPC_VMEM_LOAD || in->cls == OPC_VMEM_STORE || in->cls == OPC_VMEM_LDS;
}

static bool writes_in(const struct insn *in, struct range r)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] == ROLE_DST && in->span[i].first < r.hi &&
		    in->span[i].first + (unsigned)in->span[i].n > r.lo)
			return true;
	return false;
}

/* Words of the spacing table as bits of a set. */
/* clang-format off */
#define WORDS(W) \
	W(MATRIX, "matrix") W(XDL, "xdl") W(SGEMM, "sgemm") W(DGEMM, "dgemm") W(DGEMM_4X4, "dgemm-4x4") \
	W(DGEMM_16X16, "dgemm-16x16") W(WMMA, "wmma") W(SWMMAC, "swmmac") W(VECTOR, "vector") W(TRANS, "trans") \
	W(NOT_TRANS, "not-trans") W(PACKED, "packed") W(PARTIAL, "partial") W(DOT, "dot") W(NOT_DOT, "not-dot") \
	W(FMA_F64, "fma-f64") W(VECTOR_SGPR, "vector-sgpr") W(VECTOR_VCC, "vector-vcc") W(VECTOR_EXEC, "vector-exec") \
	W(VECTOR_THEN_DGEMM, "vector-then-dgemm") W(SALU_M0, "salu-m0") W(SETREG, "setreg") W(GETREG, "getreg") \
	W(MEMORY, "memory") W(VMEM, "vmem") W(LDS, "lds") W(LDS_DMA, "lds-dma") W(VMEM_SGPR, "vmem-sgpr") \
	W(WIDE_STORE, "wide-store") W(WIDE_STORE_SGPR, "wide-store-sgpr") W(M0_USER, "m0-user") W(LANE_ACCESS, "lane-access") W(LANE_READ, "lane-read") \
	W(LANE_SELECT, "lane-select") W(DPP, "dpp") W(PERMLANE, "permlane") W(DIV_FMAS, "div-fmas")
/* clang-format on */

enum word {
#define W(tail, text) W_##tail,
	WORDS(W)
#undef W
		W_COUNT
};
static const char *const word_texts[W_COUNT] = {
#define W(tail, text) text,
	WORDS(W)
#undef W
};
_Static_assert(W_COUNT <= 64, "a set of words is one 64-bit number");

#define BIT(word) ((uint64_t)1 << W_##word)

static unsigned word_of(const char *text)
{
	unsigned w = 0;

	while (w < W_COUNT && strcmp(word_texts[w], text))
		w++;
	return w;
}

static uint64_t matrix_words(const struct insn *in)
{
	const struct matrix_row *m = in->matrix;
	uint64_t set = BIT(MATRIX);

	if (!m)
		return 0;
	if (m->unit == MU_DGEMM)
		return set | BIT(DGEMM) | (m->m == 4 ? BIT(DGEMM_4X4) : BIT(DGEMM_16X16));
	if (m->unit == MU_SGEMM)
		return set | BIT(SGEMM);
	if (m->kind == MK_WMMA || m->kind == MK_WMMA_SCALE)
		set |= BIT(WMMA);
	return set | BIT(XDL) | (m->kind == MK_SWMMAC ? BIT(SWMMAC) : 0);
}

/* Element i (from_end: counted from the end) of a modifier's list such as "op_sel:[0,0,1]";
 * otherwise when there is none. */
static bool mod_bit(const struct insn *in, const char *name, bool from_end, unsigned i,
		    bool otherwise)
{
	const char *at = in->mods ? strstr(in->mods, name) : NULL;
	bool bit[8];
	unsigned n = 0;

	if (!at)
		return otherwise;
	for (at += strlen(name); *at && *at != ']' && n < ARRAY_LEN(bit); at++)
		if (*at == '0' || *at == '1')
			bit[n++] = *at == '1';
	if (i >= n)
		return otherwise;
	return bit[from_end ? n - 1 - i : i];
}

/* Does the op write part of a register and keep the rest, in the sense of the forwarding rule? */
static bool is_partial(const struct insn *in)
{
	if (holds(in, "_sdwa"))
		return !in->mods ||
		       (strstr(in->mods, "dst_sel:") && !strstr(in->mods, "dst_sel:DWORD"));
	if (begins(in, "v_pk_") || begins(in, "v_dot2_"))
		return mod_bit(in, "op_sel_hi:[", false, 0, true);
	if (begins(in, "v_fma_mix") || begins(in, "v_mad_mix"))
		return mod_bit(in, "op_sel_hi:[", false, 0, false);
	if (begins(in, "v_cvt_sr_") || begins(in, "v_cvt_scalef32_sr_"))
		return holds(in, "fp4") || mod_bit(in, "op_sel:[", true, 0, false) ||
		       mod_bit(in, "op_sel:[", true, 1, false);
	if (begins(in, "v_cvt_scalef32_pk_fp4"))
		return mod_bit(in, "op_sel:[", true, 0, false) ||
		       mod_bit(in, "op_sel:[", true, 1, false);
	return begins(in, "v_") && mod_bit(in, "op_sel:[", true, 0, false);
}

static uint64_t lane_words(const struct insn *in)
{
	if (begins(in, "v_permlane"))
		return BIT(PERMLANE);
	if (begins(in, "v_readlane"))
		return BIT(LANE_ACCESS) | BIT(LANE_READ) | BIT(LANE_SELECT);
	if (begins(in, "v_readfirstlane"))
		return BIT(LANE_ACCESS) | BIT(LANE_READ);
	return begins(in, "v_writelane") ? BIT(LANE_ACCESS) | BIT(LANE_SELECT) : 0;
}

static uint64_t vector_words(const struct insn *in)
{
	uint64_t set = BIT(VECTOR) | BIT(VECTOR_SGPR) | BIT(VECTOR_VCC) | BIT(VECTOR_THEN_DGEMM);

	if (begins(in, "v_cmpx") || writes_in(in, (struct range){REG_EXEC, REG_M0}))
		set |= BIT(VECTOR_EXEC);
	set |= in->cls == OPC_TRANS ? BIT(TRANS) : BIT(NOT_TRANS);
	if (in->cls == OPC_PACKED && mod_bit(in, "op_sel_hi:[", false, 0, true))
		set |= BIT(PACKED);
	if (is_partial(in))
		set |= BIT(PARTIAL);
	set |= begins(in, "v_dot") ? BIT(DOT) : BIT(NOT_DOT);
	if (begins(in, "v_fma_f64") || begins(in, "v_fmac_f64"))
		set |= BIT(FMA_F64);
	if (holds(in, "_dpp"))
		set |= BIT(DPP);
	if (begins(in, "v_div_fmas"))
		set |= BIT(DIV_FMAS);
	return set | lane_words(in);
}

/* A buffer op with an offset in a scalar register takes its data in time. */
static bool scalar_offset(const struct insn *in)
{
	if (!begins(in, "buffer_") && !begins(in, "tbuffer_"))
		return false;
	for (unsigned i = 0; i < in->nspans; i++)
		if (in->role[i] != ROLE_DST && in->span[i].first >= REG_SGPR &&
		    in->span[i].first <= REG_M0 && in->span[i].n == 1)
			return true;
	return false;
}

static bool is_wide_store(const struct insn *in)
{
	const struct span *data = span_of(in, ROLE_DATA);

	return (in->cls == OPC_VMEM_STORE || in->cls == OPC_VMEM_LOAD) && data && data->n > 2;
}

static uint64_t memory_words(const struct insn *in)
{
	uint64_t set = BIT(MEMORY);

	if (is_lds(in))
		return set | BIT(LDS) | (holds(in, "addtid") ? BIT(M0_USER) : 0);
	set |= BIT(VMEM) | BIT(VMEM_SGPR);
	if (in->cls == OPC_VMEM_LDS)
		set |= BIT(LDS_DMA) | BIT(M0_USER);
	return set | (!is_wide_store(in) ? 0 : scalar_offset(in) ? BIT(WIDE_STORE_SGPR) : BIT(WIDE_STORE));
}

uint64_t spacing_words_of(const struct insn *in)
{
	uint64_t set = 0;

	if (in->cls == OPC_MATRIX)
		return matrix_words(in);
	if (is_vector(in))
		return vector_words(in);
	if (is_lds(in) || is_vmem(in))
		return memory_words(in);
	if (in->cls == OPC_SALU && writes_in(in, m0_register))
		set |= BIT(SALU_M0);
	if (begins(in, "s_sendmsg") || begins(in, "s_movrel") || begins(in, "s_ttracedata"))
		set |= BIT(M0_USER);
	if (begins(in, "s_setreg"))
		set |= BIT(SETREG);
	return set | (begins(in, "s_getreg") ? BIT(GETREG) : 0);
}

/* A row with its words as sets of one. */
struct rule {
	uint64_t first, second;
	const struct spacing_row *row;
};

static struct rule rule_of(const struct spacing_row *row)
{
	unsigned first = word_of(row->first), second = word_of(row->second);

	return (struct rule){first < W_COUNT ? (uint64_t)1 << first : 0,
			     second < W_COUNT ? (uint64_t)1 << second : 0, row};
}

/* Some words narrow the registers that count. */
static struct range range_of(const struct rule *r)
{
	if ((r->first & BIT(VECTOR_VCC)) || (r->second & BIT(DIV_FMAS)))
		return vcc_registers;
	if (r->first & BIT(SALU_M0))
		return m0_register;
	if (r->first & BIT(TRANS))
		return all_registers; /* some of them write scalar registers */
	if ((r->first & BIT(VECTOR_SGPR)) || (r->second & (BIT(VMEM_SGPR) | BIT(LANE_SELECT))))
		return scalar_registers;
	return vector_registers;
}

static bool reads_own_result(const struct insn *in, const struct span *s)
{
	const struct span *d = span_of(in, ROLE_DST);

	return d && d->first == s->first && d->n == s->n;
}

/* A dot op takes the result of the same dot op as C without distance, and may overwrite it. */
static bool same_dot(const struct rule *r, const struct insn *first, const struct insn *second)
{
	const struct span *d = span_of(first, ROLE_DST);
	unsigned sources = 0;

	if (!(r->first & BIT(DOT)))
		return false;
	/* There the distance is that of a partial write, as which packed dot ops read. */
	if (r->second & BIT(MATRIX))
		return !is_partial(first);
	if (!first->op || !second->op || strcmp(first->op, second->op))
		return false;
	if (r->row->relation != SR_RAW)
		return true;
	for (unsigned i = 0; i < second->nspans; i++)
		sources += second->role[i] != ROLE_DST;
	for (unsigned i = 0, k = 0; d && i < second->nspans; i++)
		if (second->role[i] != ROLE_DST && ++k < 3 + (sources < 3) &&
		    !reads_own_result(second, &second->span[i]) &&
		    second->span[i].first < d->first + (unsigned)d->n &&
		    d->first < second->span[i].first + (unsigned)second->span[i].n)
			return false;
	return true;
}

/* The hardware register that s_setreg and s_getreg name, from the text of the line. */
static size_t hwreg(const struct insn *in, const char **name)
{
	const struct src *s = in->loc.src;
	const char *text = s && in->loc.begin <= in->loc.end && in->loc.end <= s->len
				   ? s->text + in->loc.begin
				   : "",
		   *open;
	size_t len = *text ? in->loc.end - in->loc.begin : 0, n = 0;

	open = len ? memmem(text, len, "hwreg(", 6) : NULL;
	if (!open)
		return 0;
	*name = open + 6;
	while (*name + n < text + len && (*name)[n] != ',' && (*name)[n] != ')' &&
	       (*name)[n] != ' ')
		n++;
	return n;
}

/* Unknown registers may be the same. */
static bool same_hwreg(const struct insn *first, const struct insn *second)
{
	const char *a, *b;
	size_t n = hwreg(first, &a), m = hwreg(second, &b);

	return n == 0 || m == 0 || (n == m && !memcmp(a, b, n));
}

/* Is the last operand, the lane, a register? Unknown text: it may be. */
static bool selects_by_register(const struct insn *in)
{
	const struct src *s = in->loc.src;
	const char *text = s && in->loc.begin < in->loc.end && in->loc.end <= s->len
				   ? s->text + in->loc.begin
				   : NULL,
		   *at;

	if (!text || *text != 'v')
		return true;
	at = memrchr(text, ',', in->loc.end - in->loc.begin);
	if (!at)
		return true;
	at++;
	while (at < text + (in->loc.end - in->loc.begin) && (*at == ' ' || *at == '\t'))
		at++;
	return !((*at >= '0' && *at <= '9') || *at == '-');
}

/* Does the instruction write (or read) a register of the range? */
static bool touches(const struct insn *in, bool writes, struct range r)
{
	for (unsigned i = 0; i < in->nspans; i++)
		if ((in->role[i] == ROLE_DST) == writes && in->span[i].first < r.hi &&
		    in->span[i].first + (unsigned)in->span[i].n > r.lo)
			return true;
	return false;
}

static bool rule_matches(const struct target *t, const struct rule *r, const struct insn *first,
			 const struct insn *second, unsigned mask, struct spacing_hidden hide)
{
	enum spacing_relation relation = r->row->relation;

	if (r->row->passes && hazard_passes(first) != r->row->passes)
		return false;
	if (r->first & BIT(SETREG))
		return same_hwreg(first, second);
	if ((r->first & BIT(VECTOR_SGPR)) && (r->second & BIT(VECTOR)) &&
	    touches(first, true, vcc_registers) && touches(second, false, vcc_registers))
		return true; /* either half of VCC stands for all of it */
	if (!(mask >> relation & 1) || same_dot(r, first, second) ||
	    ((r->second & BIT(LANE_SELECT)) && !selects_by_register(second)))
		return false;
	return relation == SR_ANY ||
	       (relations(t, first, second, range_of(r), hide) >> relation & 1);
}

const struct spacing_row *spacing_row_of(const struct target *t, const struct insn *first,
					 const struct insn *second)
{
	uint64_t a = spacing_words_of(first) & ~BIT(VECTOR_THEN_DGEMM),
		 b = spacing_words_of(second);
	const struct spacing_hidden none = {0, 0};
	const struct spacing_row *best = NULL;
	unsigned mask;

	if (!a || !b)
		return NULL;
	/* Most pairs share nothing, and words are slow to tell. */
	mask = relations(t, first, second, all_registers, none);
	for (size_t i = 0; i < t->nspacing; i++) {
		const struct spacing_row *row = &t->spacing[i];
		struct rule r = {.row = row};

		if (!row->software || row->states <= (best ? best->states : 0))
			continue;
		if (!(mask >> row->relation & 1) && strcmp(row->first, "setreg") &&
		    strcmp(row->first, "vector-sgpr"))
			continue;
		r = rule_of(row);
		if ((r.first & a) && (r.second & b) &&
		    rule_matches(t, &r, first, second, mask, none))
			best = row;
	}
	return best;
}

struct spacing_table {
	const struct target *t;
	size_t nrules;
	struct rule rules[];
};

struct spacing_table *spacing_table_new(const struct target *t)
{
	struct spacing_table *tab = xmalloc(sizeof(*tab) + t->nspacing * sizeof(tab->rules[0]));

	tab->t = t;
	tab->nrules = 0;
	for (size_t i = 0; i < t->nspacing; i++) {
		struct rule r = rule_of(&t->spacing[i]);

		if (r.row->software && r.row->states && r.first && r.second)
			tab->rules[tab->nrules++] = r;
	}
	return tab;
}

void spacing_table_free(struct spacing_table *tab)
{
	free(tab);
}

unsigned spacing_table_reach(const struct spacing_table *tab, uint64_t first, unsigned passes,
			     uint64_t second, bool *any)
{
	unsigned reach = 0;

	*any = false;
	for (size_t i = 0; i < tab->nrules; i++) {
		const struct rule *r = &tab->rules[i];

		if (!(r->first & first) || !(r->second & second) ||
		    (r->row->passes && r->row->passes != passes))
			continue;
		if (r->row->states > reach)
			reach = r->row->states;
		*any |= r->row->relation == SR_ANY || r->first == BIT(SETREG);
	}
	return reach;
}

const struct spacing_row *spacing_table_row(const struct spacing_table *tab,
					    const struct insn *first, uint64_t a,
					    const struct insn *second, uint64_t b,
					    bool dgemm_between, struct spacing_hidden hide)
{
	const struct spacing_row *best = NULL;
	unsigned mask = relations(tab->t, first, second, all_registers, hide);

	if (!dgemm_between)
		a &= ~BIT(VECTOR_THEN_DGEMM);
	for (size_t i = 0; i < tab->nrules; i++) {
		const struct rule *r = &tab->rules[i];

		if ((r->first & a) && (r->second & b) &&
		    r->row->states > (best ? best->states : 0) &&
		    rule_matches(tab->t, r, first, second, mask, hide))
			best = r->row;
	}
	return best;
}

bool spacing_is_dgemm(uint64_t words)
{
	return words & BIT(DGEMM);
}

unsigned spacing_needed(const struct target *t, const struct insn *first, const struct insn *second)
{
	const struct spacing_row *row = spacing_row_of(t, first, second);

	return row ? row->states : 0;
}

unsigned spacing_supplied(const struct target *t, const struct insn *between)
{
	unsigned n = between->repeat ? between->repeat : 1;

	if (between->flags & INSN_EDGE_ONLY)
		return 0;
	if (t->v.wave_size > 32)
		return between->cls == OPC_NOP ? n * between->imm : n;
	return is_vector(between) || between->cls == OPC_MATRIX ? n : 0;
}

unsigned spacing_reach(const struct target *t)
{
	unsigned reach = 0;

	for (size_t i = 0; i < t->nspacing; i++)
		if (t->spacing[i].software && t->spacing[i].states > reach)
			reach = t->spacing[i].states;
	return reach;
}

/* Classes that may be in a word's set. */
static unsigned word_classes(const char *word)
{
	static const char *const matrix[] = {"matrix",	  "xdl",	 "sgemm", "dgemm",
					     "dgemm-4x4", "dgemm-16x16", "wmma",  "swmmac"};
	const unsigned lds = 1u << OPC_LDS_READ | 1u << OPC_LDS_WRITE | 1u << OPC_LDS_PERMUTE;
	const unsigned vmem = 1u << OPC_VMEM_LOAD | 1u << OPC_VMEM_STORE | 1u << OPC_VMEM_LDS;

	for (size_t i = 0; i < ARRAY_LEN(matrix); i++)
		if (!strcmp(word, matrix[i]))
			return 1u << OPC_MATRIX;
	if (!strcmp(word, "memory"))
		return lds | vmem;
	if (!strcmp(word, "lds"))
		return lds;
	if (!strncmp(word, "vmem", 4) || !strcmp(word, "lds-dma") || !strncmp(word, "wide-store", 10))
		return vmem;
	if (!strcmp(word, "salu-m0"))
		return 1u << OPC_SALU;
	if (!strcmp(word, "m0-user") || !strcmp(word, "setreg") || !strcmp(word, "getreg"))
		return (1u << OPC_COUNT) - 1;
	return 1u << OPC_VALU | 1u << OPC_TRANS | 1u << OPC_PACKED;
}

void spacing_class_reach(const struct target *t, unsigned reach[OPC_COUNT][OPC_COUNT])
{
	memset(reach, 0, sizeof(unsigned[OPC_COUNT][OPC_COUNT]));
	for (size_t i = 0; i < t->nspacing; i++) {
		const struct spacing_row *row = &t->spacing[i];
		unsigned first = word_classes(row->first), second = word_classes(row->second);

		if (!row->software)
			continue;
		for (unsigned a = 0; a < OPC_COUNT; a++)
			for (unsigned b = 0; b < OPC_COUNT; b++)
				if ((first >> a & 1) && (second >> b & 1) &&
				    row->states > reach[a][b])
					reach[a][b] = row->states;
	}
}
