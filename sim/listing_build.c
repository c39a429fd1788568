/* Instruction lines of a listing to instructions of the program. */
#include "listing_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void build_error(struct reader *r, enum diag_code code, uint32_t begin, uint32_t end, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_add(r->d, reader_loc(r, begin, end > begin ? end : begin + 1), code, "%s", text);
}

/* ---- spans ---- */

static void add_span(struct insn *in, unsigned first, unsigned n, enum span_role role)
{
	if (!n || in->nspans >= PROG_MAX_SPANS)
		return; /* two halves of four spans each are the most there is */
	in->span[in->nspans] = (struct span){ (uint16_t)first, (uint16_t)n };
	in->role[in->nspans++] = (uint8_t)role;
}

static void note_use(struct reader *r, const struct operand *o)
{
	unsigned end = o->reg + (unsigned)o->n;

	if (o->reg < REG_AGPR)
		r->max_vgpr = end > r->max_vgpr ? end : r->max_vgpr;
	else if (o->reg < REG_SGPR)
		r->max_agpr = end - REG_AGPR > r->max_agpr ? end - REG_AGPR : r->max_agpr;
	else if (o->reg < REG_SGPR + 106)
		r->max_sgpr = end - REG_SGPR > r->max_sgpr ? end - REG_SGPR : r->max_sgpr;
}

static void add_operand(struct insn *in, const struct operand *o, char role)
{
	if (o->kind != OPERAND_REG)
		return;
	switch (role) {
	case 'd': case 'm':
		add_span(in, o->reg, o->n, ROLE_DST);
		break;
	case 'x': case 'W':
		add_span(in, o->reg, o->n, ROLE_DST);
		add_span(in, o->reg, o->n, role == 'x' ? ROLE_SRC : ROLE_DATA);
		break;
	case 'k':
		add_span(in, o->reg, o->n, ROLE_DST);
		add_span(in, o->reg, o->n, ROLE_C);
		break;
	case 'a': add_span(in, o->reg, o->n, ROLE_A); break;
	case 'b': add_span(in, o->reg, o->n, ROLE_B); break;
	case 'c': add_span(in, o->reg, o->n, ROLE_C); break;
	case 'i': add_span(in, o->reg, o->n, ROLE_INDEX); break;
	case 'p': add_span(in, o->reg, o->n, ROLE_ADDR); break;
	case 'w': add_span(in, o->reg, o->n, ROLE_DATA); break;
	default: add_span(in, o->reg, o->n, ROLE_SRC); break;
	}
}

static void add_hidden(const struct insn_desc *x, struct insn *in, unsigned lanes_regs)
{
	unsigned mask = lanes_regs;

	if (x->rest & WRITES_VCC)
		add_span(in, REG_VCC, mask, ROLE_DST);
	if (x->rest & WRITES_EXEC)
		add_span(in, REG_EXEC, mask, ROLE_DST);
	if (x->rest & WRITES_SCC)
		add_span(in, REG_SCC, 1, ROLE_DST);
	if (x->rest & WRITES_M0)
		add_span(in, REG_M0, 1, ROLE_DST);
	if (x->rest & READS_VCC)
		add_span(in, REG_VCC, mask, ROLE_SRC);
	if (x->rest & READS_EXEC)
		add_span(in, REG_EXEC, mask, ROLE_SRC);
	if (x->rest & READS_SCC)
		add_span(in, REG_SCC, 1, ROLE_SRC);
	if (x->rest & READS_M0)
		add_span(in, REG_M0, 1, ROLE_SRC);
}

/* ---- operands against the row ---- */

static bool value_returned(const struct reader *r, const struct operands *ops)
{
	const char *word;
	size_t n;
	int64_t v;

	if (r->isa != ISA_1250)
		return mods_has(ops->mods, ops->mods_len, "sc0") || mods_has(ops->mods, ops->mods_len, "glc");
	if (!mods_value(ops->mods, ops->mods_len, "th", &v, &word, &n))
		return false;
	if (v >= 0)
		return v & 1;
	for (size_t i = 0; i + 6 <= n; i++)
		if (!memcmp(word + i, "RETURN", 6))
			return true;
	/* A disassembler prints values without a name as TH_ATOMIC_0x5. */
	return n > 12 && !memcmp(word, "TH_ATOMIC_0x", 12) && strchr("13579bdfBDF", word[n - 1]);
}

/* Slots that the text fills, in order. Returns their number. */
static unsigned active_slots(const struct insn_desc *x, const struct operands *ops, bool returns, struct insn_slot out[INSN_MAX_SLOTS])
{
	bool to_lds = !strncmp(x->name, "buffer_load", 11) && mods_has(ops->mods, ops->mods_len, "lds");
	unsigned n = 0;

	for (unsigned i = 0; i < x->nslots; i++) {
		struct insn_slot s = x->slot[i];

		if ((s.role == 'D' && !returns) || (to_lds && i == 0 && s.role == 'd' && ops->n < x->nslots))
			continue;
		if (s.role == 'D')
			s.role = 'd';
		if (s.role == 'W' && !returns)
			s.role = 'w';
		out[n++] = s;
	}
	return n;
}

static bool count_fits(const struct insn_slot *s, unsigned n, unsigned have)
{
	unsigned least = 0;

	for (unsigned i = 0; i < n; i++)
		least += !s[i].optional;
	return have >= least && have <= n;
}

static unsigned mask_regs(const struct reader *r)
{
	return r->isa == ISA_1250 ? 1 : 2;
}

/* Registers that a slot asks for, 0: any. */
static unsigned slot_regs(const struct reader *r, const struct insn_slot *s)
{
	return s->role == 'm' || s->role == 'n' ? mask_regs(r) : s->regs;
}

static bool scalar_register(const struct operand *o)
{
	return o->kind == OPERAND_REG && !o->vector;
}

static int check_operand(struct reader *r, const struct insn_desc *x, const struct insn_slot *s, const struct operand *o,
			 bool width_free)
{
	unsigned want = slot_regs(r, s);
	bool written = strchr("dmxkW", s->role) != NULL;

	if (s->role == '#')
		return 0;
	if (o->kind != OPERAND_REG) {
		bool null = o->kind == OPERAND_OFF && (!written || s->file != 'v');

		if (null || (!written && s->file != 'v'))
			return 0;
		build_error(r, DIAG_OPERAND, o->begin, o->end, "%s wants a register here", x->name);
		return -1;
	}
	if (s->file == 'v' && scalar_register(o)) {
		build_error(r, DIAG_OPERAND, o->begin, o->end, "%s wants a vector register here", x->name);
		return -1;
	}
	if ((s->file == 's' || s->role == 'm' || s->role == 'n') && o->vector) {
		build_error(r, DIAG_OPERAND, o->begin, o->end, "%s wants a scalar register here", x->name);
		return -1;
	}
	if (want && o->n != want && !width_free) {
		build_error(r, DIAG_OPERAND, o->begin, o->end, "%s wants %u register%s here, not %u", x->name, want,
			    want == 1 ? "" : "s", o->n);
		return -1;
	}
	if (o->n > 1 && o->reg < REG_VCC && o->reg % 2 && !(o->n == 3 && strstr(x->name, "_tr6_b96"))) {
		build_error(r, DIAG_OPERAND, o->begin, o->end, "a tuple of registers must begin at an even one");
		return -1;
	}
	return 0;
}

struct position { /* of an operand among those of its kind, from 0 */
	unsigned operand, source, address, data;
};

/* Which field of s_set_vgpr_msb extends the operand: 0 to 2 src0 to src2, 3 dst, 4 none. */
static unsigned msb_field(const struct insn_desc *x, const struct insn_slot *s, const struct position *at)
{
	switch (s->role) {
	case 'd': case 'm': case 'k': case 'W':
		return 3;
	case 'x': /* the second one of a swap is a source */
		return at->operand ? 0 : 3;
	case 'p':
		if (strstr(x->name, "async_to_lds")) /* the LDS address is in the place of a destination */
			return at->address ? 0 : 3;
		return at->address && strstr(x->name, "async_from_lds") ? 1 : 0;
	case 'w':
		return strstr(x->name, "buffer_") ? 3 : at->data ? 2 : 1;
	case 'i':
		return x->slot[0].role == 'k' ? 2 : 4; /* an index; scales have no upper bits */
	default:
		return at->source < 3 ? at->source : 4;
	}
}

static int apply_msb(struct reader *r, const struct insn_desc *x, const struct insn_slot *s, const struct position *at,
		     struct operand *o)
{
	unsigned field;

	if (o->kind != OPERAND_REG || !o->vector || o->reg >= 256)
		return 0;
	field = msb_field(x, s, at);
	if (field > 3 || !r->msb[field])
		return 0;
	o->reg = (uint16_t)(o->reg + r->msb[field] * 256);
	if (o->reg + (unsigned)o->n <= REG_AGPR)
		return 0;
	build_error(r, DIAG_OPERAND, o->begin, o->end, "the register lies beyond v%u with the upper bits of s_set_vgpr_msb", REG_AGPR - 1);
	return -1;
}

/* Operands of one (half of an) instruction into spans. */
static int fill_operands(struct reader *r, const struct insn_desc *x, struct operands *ops, bool returns, struct insn *in,
			 uint32_t begin, uint32_t end)
{
	struct insn_slot s[INSN_MAX_SLOTS];
	unsigned n = active_slots(x, ops, returns, s);
	struct position at = { 0 };
	bool width_free = mods_has(ops->mods, ops->mods_len, "tfe");

	if (!count_fits(s, n, ops->n)) {
		build_error(r, DIAG_OPERAND, begin, end, "%s takes %u operand%s%s, not %u", x->name, n, n == 1 ? "" : "s",
			    n && s[n - 1].optional ? " at most" : "", ops->n);
		return -1;
	}
	for (unsigned i = 0; i < ops->n; i++) {
		struct operand *o = &ops->o[i];

		at.operand = i;
		if (check_operand(r, x, &s[i], o, width_free || s[i].role == 'W') < 0)
			return -1;
		if (apply_msb(r, x, &s[i], &at, o) < 0)
			return -1;
		at.source += strchr("sabcn#", s[i].role) != NULL;
		at.address += s[i].role == 'p';
		at.data += s[i].role == 'w';
		if (o->kind == OPERAND_REG)
			note_use(r, o);
		add_operand(in, o, s[i].role);
	}
	if (ops->n < n && s[ops->n].role == 'n') /* the mask that is not written is VCC */
		add_span(in, REG_VCC, mask_regs(r), ROLE_SRC);
	return 0;
}

/* ---- mnemonics ---- */

static void unknown_mnemonic(struct reader *r, const struct line *ln, const char *name, size_t n)
{
	static const struct { enum isa isa; const char *name; } isas[] = {
		{ ISA_942, "gfx942" }, { ISA_950, "gfx950" }, { ISA_1250, "gfx1250" },
	};
	unsigned others = insn_targets(name, n);
	char shown[80], list[64] = "";
	const char *near = NULL;
	struct finding *f;

	snprintf(shown, sizeof(shown), "%.*s", n > 64 ? 64 : (int)n, name);
	for (size_t i = 0; i < ARRAY_LEN(isas); i++)
		if (others & isas[i].isa)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", list[0] ? ", " : "", isas[i].name);
	if (r->unknown++ >= 20 && r->o->unknown_warns)
		return; /* counted; the first ones are enough to see what is missing */
	if (r->unknown <= 20 && n <= 64)
		near = insn_nearest(shown, r->isa);
	f = diag_add(r->d, reader_loc(r, ln->name, ln->name_end), DIAG_MNEMONIC,
		     others ? "%s is no instruction of %s, only of %s" : "%s is no instruction of %s", shown, r->t->name, list);
	if (r->o->unknown_warns) {
		f->severity = SEV_WARNING;
		r->d->errors--;
		r->d->warnings++;
	}
	if (near)
		diag_fix(f, "the nearest instruction of %s is %s", r->t->name, near);
}

/* A DPP or SDWA modifier without the suffix: the suffix is what later readers look at. */
static enum suffix suffix_of_mods(const struct operands *ops, enum suffix sfx)
{
	static const char *const dpp[] = {
		"quad_perm", "row_shl", "row_shr", "row_ror", "row_bcast", "row_newbcast", "row_mirror", "row_half_mirror",
		"row_share", "row_xmask", "wave_shl", "wave_shr", "wave_rol", "wave_ror", "dpp8",
	};

	if (!ops->mods || (sfx != SUFFIX_NONE && sfx != SUFFIX_E64))
		return sfx;
	if (mods_has(ops->mods, ops->mods_len, "dst_sel") || mods_has(ops->mods, ops->mods_len, "src0_sel"))
		return SUFFIX_SDWA;
	for (size_t i = 0; i < ARRAY_LEN(dpp); i++)
		if (mods_has(ops->mods, ops->mods_len, dpp[i]))
			return sfx == SUFFIX_E64 ? SUFFIX_E64_DPP : SUFFIX_DPP;
	return sfx;
}

/* ---- one line ---- */

/* In the arena from the start: as many as there are lines, mostly, so that they need not be moved. */
void build_room(struct reader *r)
{
	size_t most = r->src->nlines < PROG_MAX_INSNS ? r->src->nlines : PROG_MAX_INSNS, cap = r->cap ? r->cap * 2 : most + 16;
	struct insn *p;

	if (r->n < r->cap)
		return;
	p = arena_alloc(r->arena, cap, sizeof(*p));
	if (r->n)
		memcpy(p, r->insns, r->n * sizeof(*p));
	r->insns = p;
	r->cap = cap;
}

static struct insn *push(struct reader *r, const struct line *ln)
{
	struct insn *in;

	build_room(r);
	r->address = xgrow(r->address, r->n, &r->acap, sizeof(*r->address));
	in = &r->insns[r->n];
	*in = (struct insn){ .groups = 1, .counter = -1, .repeat = 1, .access = -1, .loop = -1, .target = -1,
			     .loc = reader_loc(r, ln->begin, ln->end) };
	return in;
}

static void commit(struct reader *r, const struct line *ln, struct insn *in)
{
	if (ln->has_address)
		r->here = ln->address;
	if (ln->code_bytes)
		in->size = (uint8_t)ln->code_bytes;
	if (!in->size)
		in->size = 4;
	r->address[r->n++] = r->here;
	r->here += in->size;
}

static bool negated(const char *s, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (s[i] == '-' && (ident_start(s[i + 1]) || s[i + 1] == '|'))
			return true;
	return false;
}

/* The second half of "v_dual_x ... :: v_dual_y ...": text[half..n) begins with the colons. */
static int second_half(struct reader *r, const struct insn_desc *x, const struct operands *first, const char *text, size_t half,
		       size_t n, uint32_t at, struct insn *in, struct operand_list *kept)
{
	const struct insn_desc *y;
	struct operands ops;
	enum suffix sfx;
	size_t i = half + 2, k;

	while (i < n && (text[i] == ' ' || text[i] == '\t'))
		i++;
	for (k = i; k < n && ident_char(text[k]); k++)
		;
	y = insn_find(text + i, k - i, r->isa, &sfx);
	if (!y || strncmp(y->name, "v_dual_", 7)) {
		build_error(r, DIAG_MNEMONIC, at + (uint32_t)i, at + (uint32_t)k, "behind :: stands no v_dual_ instruction of %s", r->t->name);
		return -1;
	}
	if (operands_parse(r, text + k, n - k, at + (uint32_t)k, &ops) < 0 ||
	    fill_operands(r, y, &ops, false, in, at + (uint32_t)i, at + (uint32_t)k) < 0)
		return -1;
	if (kept)
		kept->next = keep_operands(r, y, sfx, false, &ops);
	if (first->n && ops.n)
		in->size = (uint8_t)dual_size(x, y, first, &ops, negated(text, n));
	return 0;
}

/* Where "::" stands in the operands, n when it does not. */
static size_t dual_split(const struct insn_desc *x, const char *text, size_t n)
{
	const char *s = strncmp(x->name, "v_dual_", 7) ? NULL : strstr(text, "::");

	return s && s < text + n ? (size_t)(s - text) : n;
}

static int build(struct reader *r, const struct line *ln, const struct insn_desc *x, enum suffix sfx, const char *text,
		 struct insn *in)
{
	size_t n = ln->end - ln->args, half = dual_split(x, text, n);
	struct operands ops = { 0 };
	struct operand_list *kept = NULL;
	bool returns = false;

	in->cls = x->cls;
	if (!special_raw(x)) {
		if (operands_parse(r, text, half, ln->args, &ops) < 0)
			return -1;
		sfx = suffix_of_mods(&ops, sfx);
		returns = strstr(x->name, "atomic") && value_returned(r, &ops);
		if (fill_operands(r, x, &ops, returns, in, ln->name, ln->name_end) < 0)
			return -1;
	}
	add_hidden(x, in, mask_regs(r));
	if (rows_fill(r, x, sfx, &ops, returns, in) < 0)
		return -1;
	if (in->cls == OPC_VMEM_LDS && r->isa != ISA_1250 && !(x->rest & READS_M0))
		add_span(in, REG_M0, 1, ROLE_SRC);
	if (r->o->keep_operands)
		in->ops = kept = keep_operands(r, x, sfx, returns, &ops);
	if (half < n && second_half(r, x, &ops, text, half, n, ln->args, in, kept) < 0)
		return -1;
	if (special_fill(r, x, &ops, text, n, ln->args, in) < 0)
		return -1;
	if (half < n)
		in->mods = arena_strndup(r->arena, text + half, n - half);
	else if (ops.mods)
		in->mods = arena_strndup(r->arena, ops.mods, ops.mods_len);
	return 0;
}

void build_insn(struct reader *r, const struct lexer *lx, const struct line *ln)
{
	const char *name = r->src->text + ln->name;
	size_t n = ln->name_end - ln->name;
	const struct insn_desc *x;
	enum suffix sfx;
	struct insn *in;

	if (r->n >= PROG_MAX_INSNS - 1) {
		if (r->n == PROG_MAX_INSNS - 1)
			build_error(r, DIAG_LIMIT, ln->begin, ln->end, "more than %u instructions", PROG_MAX_INSNS - 2);
		r->n = PROG_MAX_INSNS;
		return;
	}
	x = insn_find(name, n, r->isa, &sfx);
	in = push(r, ln);
	if (!x) {
		unknown_mnemonic(r, ln, name, n);
		in->cls = OPC_NOP; /* one instruction, whatever it does */
		in->imm = 1;
		in->op = arena_strndup(r->arena, name, n > 64 ? 64 : n);
	} else if (build(r, ln, x, sfx, lexer_text(lx, ln->args), in) < 0) {
		in->cls = OPC_NOP;
	}
	commit(r, ln, in);
}
