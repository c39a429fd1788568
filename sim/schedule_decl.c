/* What a schedule declares before its first instruction: LDS buffers, globals, register blocks. */
#include "schedule_internal.h"

#include <string.h>

#define LDS_MAX_BYTES (4u << 20)
#define GLOBAL_MAX_BYTES (INT64_C(1) << 40)
#define REG_MAX 1024u
#define PAD_MAX_BYTES (1u << 20)
#define SWIZZLE_MAX 1024u

static const struct {
	const char *one, *many;
} kind_words[NAME_KIND_COUNT] = {
	[NAME_LDS] = {"an LDS buffer", "LDS buffer"},
	[NAME_GLOBAL] = {"a global", "global"},
	[NAME_FRAGMENT] = {"a fragment", "fragment"},
	[NAME_STAGING] = {"a staging block", "staging block"},
	[NAME_ACCUMULATOR] = {"an accumulator", "accumulator"},
	[NAME_REGISTERS] = {"a register block", "register block"},
};

/* "a fragment or a register block" */
static const char *kinds_text(struct reader *r, unsigned kinds)
{
	const char *text = NULL;

	if (kinds == KIND_REGISTER)
		return "a name of registers";
	for (unsigned k = 0; k < NAME_KIND_COUNT; k++)
		if (kinds >> k & 1)
			text = text ? arena_printf(r->a, "%s or %s", text, kind_words[k].one)
				    : kind_words[k].one;
	return text;
}

/* The slot of a name in the hash table: its own, or the free one where it belongs. */
static uint16_t *name_slot(struct reader *r, const char *name)
{
	uint32_t h = 2166136261u;

	for (const char *s = name; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	while (r->hash[h % NAME_SLOTS] && strcmp(r->names[r->hash[h % NAME_SLOTS] - 1].name, name))
		h++;
	return &r->hash[h % NAME_SLOTS];
}

static const struct name *find_name(struct reader *r, const char *name)
{
	uint16_t at = *name_slot(r, name);

	return at ? &r->names[at - 1] : NULL;
}

static void report_unknown(struct reader *r, const char *value, struct loc loc, unsigned kinds)
{
	const char *words[MAX_NAMES] = {NULL}, *near;
	size_t n = 0;
	struct finding *f;

	if (r->names_broken)
		return;
	f = diag_add(r->d, loc, DIAG_NAME, "'%s' is not declared; %s is needed here",
		     clipped(r, value), kinds_text(r, kinds));
	/* Past the cap nobody sees it: no time is spent on it. */
	if (r->d->suppressed)
		return;
	for (size_t i = 0; i < r->nnames; i++)
		if (kinds >> r->names[i].kind & 1)
			words[n++] = r->names[i].name;
	near = nearest(value, words, n);
	if (near)
		diag_fix(f, "did you mean '%s'?", near);
	else if (n == 0)
		diag_fix(f, "declare one before the first section");
	else
		diag_fix(f, "declared %s %s", n == 1 ? "is" : "are", listed(r, words, n));
}

/* The declared name value, of one of the kinds; NULL after a finding at loc. */
static const struct name *resolve(struct reader *r, const struct xml_node *n, const char *attr,
				  const char *value, struct loc loc, unsigned kinds)
{
	const struct name *found = find_name(r, value);

	if (!found) {
		report_unknown(r, value, loc, kinds);
		return NULL;
	}
	if (!(kinds >> found->kind & 1)) {
		diag_note(diag_add(r->d, loc, DIAG_NAME, "'%s' is %s; <%s %s> needs %s", value,
				   kind_words[found->kind].one, n->name, attr,
				   kinds_text(r, kinds)),
			  found->loc, "'%s' is declared here", value);
		return NULL;
	}
	return found;
}

const struct name *attr_name(struct reader *r, struct xml_node *n, const char *attr, unsigned kinds,
			     const char **out, struct loc *loc)
{
	struct xml_attr *at = xml_get(n, attr);
	const struct name *found;

	if (!at)
		return NULL;
	if (loc)
		*loc = at->value_loc;
	found = resolve(r, n, attr, at->value, at->value_loc, kinds);
	if (found)
		*out = at->value;
	return found;
}

void attr_names(struct reader *r, struct xml_node *n, const char *attr, unsigned kinds,
		const char **out)
{
	struct xml_attr *at = xml_get(n, attr);
	size_t at_byte = 0, words = 0;
	bool good = true;

	if (!at)
		return;
	while (at->value[at_byte += strspn(at->value + at_byte, " ")]) {
		size_t len = strcspn(at->value + at_byte, " ");

		if (++words > MAX_NAMES)
			break;
		if (!resolve(r, n, attr, arena_strndup(r->a, at->value + at_byte, len),
			     value_part(at, at_byte, len), kinds))
			good = false;
		at_byte += len;
	}
	if (!words || words > MAX_NAMES)
		diag_add(r->d, at->value_loc, DIAG_VALUE,
			 "attribute '%s' must be names of register blocks, "
			 "separated by blanks",
			 attr);
	else if (good)
		*out = at->value;
}

static bool declare(struct reader *r, struct xml_node *n, enum name_kind kind, size_t index,
		    const char **name, struct loc *loc)
{
	const struct name *before;

	if (!attr_identifier(r, n, "name", name, loc)) {
		r->names_broken = true;
		return false;
	}
	before = find_name(r, *name);
	if (before) {
		diag_note(diag_add(r->d, *loc, DIAG_NAME, "'%s' is declared twice", *name),
			  before->loc, "the first one, %s, is here", kind_words[before->kind].one);
		r->names_broken = true;
		return false;
	}
	*name_slot(r, *name) = (uint16_t)(r->nnames + 1);
	r->names[r->nnames++] = (struct name){*name, kind, index, *loc};
	return true;
}

/* LDS buffers */

static bool power_of_two(unsigned v)
{
	return v && !(v & (v - 1));
}

static void read_swizzle(struct reader *r, struct xml_node *n, struct sched_lds *b)
{
	static const char *const names[] = {"vec", "per-phase", "max-phase"};
	unsigned *const out[] = {&b->swz_vec, &b->swz_per_phase, &b->swz_max_phase};

	if (b->bytes)
		diag_fix(diag_add(r->d, n->loc, DIAG_ELEMENT,
				  "a swizzle moves vectors of an operand's elements; this buffer has none"),
			 "use <pad>");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		unsigned v;

		if (!attr_uint(r, n, names[i], 1, SWIZZLE_MAX, &v))
			continue;
		if (!power_of_two(v))
			diag_add(r->d, attr_loc(n, names[i]), DIAG_VALUE,
				 "attribute '%s' is %u, must be a power of two", names[i], v);
		*out[i] = v;
	}
}

static void read_pad(struct reader *r, struct xml_node *n, struct sched_lds *b)
{
	static const char *const names[] = {"every", "by"};
	unsigned *const out[] = {&b->pad_every, &b->pad_by};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (attr_uint(r, n, names[i], 4, PAD_MAX_BYTES, out[i]) && *out[i] % 4)
			diag_add(r->d, attr_loc(n, names[i]), DIAG_VALUE,
				 "attribute '%s' is %u bytes, must be a multiple of 4", names[i],
				 *out[i]);
	}
}

/* Can the operand's rows or columns be cut so? */
static void check_part(struct reader *r, struct xml_node *n, enum operand_id o, struct part part)
{
	bool rows = o == OPERAND_A || o == OPERAND_SA;
	unsigned size = rows ? r->s->tile_m : r->s->tile_n;

	if (o != OPERAND_NONE && part.n > 1 && size % part.n && !r->head_broken)
		diag_add(r->d, xml_get(n, "part") ? attr_loc(n, "part") : attr_loc(n, "half"),
			 DIAG_SHAPE,
			 "the %u %s of a tile of operand %s can't be cut into %u equal parts", size,
			 rows ? "rows" : "columns", operand_name(o), part.n);
}

static void read_lds_place(struct reader *r, struct xml_node *n, struct sched_lds *b)
{
	int64_t base;

	if (xml_get(n, "alias"))
		attr_refuse(r, n, "base", "an alias starts where the other buffer starts");
	if (xml_int(n, "base", false, 0, LDS_MAX_BYTES - 4, &base, r->d)) {
		if (base % 4)
			diag_add(r->d, attr_loc(n, "base"), DIAG_VALUE,
				 "attribute 'base' is %lld, must be a multiple of 4",
				 (long long)base);
		b->base = base;
	}
	attr_uint(r, n, "slots", 1, MAX_SLOTS, &b->slots);
	for (struct xml_node *c = n->first; c; c = c->next) {
		if (b->pad_loc.src)
			diag_note(diag_add(r->d, c->loc, DIAG_ELEMENT,
					   "a buffer is padded or swizzled, not both"),
				  b->pad_loc, "the other one is here");
		else if (element_of(c) == EL_PAD)
			read_pad(r, c, b);
		else
			read_swizzle(r, c, b);
		b->pad_loc = c->loc;
	}
}

static void read_lds(struct reader *r, struct xml_node *n)
{
	struct sched_lds *b = &r->s->lds[r->s->nlds];
	struct xml_attr *bytes = xml_get(n, "bytes"), *operand = xml_get(n, "operand");
	unsigned v;

	*b = (struct sched_lds){.part = {0, 1}, .slots = 1, .base = -1, .loc = n->loc};
	if (declare(r, n, NAME_LDS, r->s->nlds, &b->name, &b->name_loc))
		r->s->nlds++;
	attr_operand(r, n, &b->operand);
	if (attr_uint(r, n, "bytes", 4, LDS_MAX_BYTES, &v)) {
		b->bytes = v;
		if (v % 4)
			diag_add(r->d, bytes->value_loc, DIAG_VALUE,
				 "attribute 'bytes' is %u, must be a multiple of 4", v);
	}
	if (bytes && operand)
		attr_refuse(r, n, "bytes", "the operand's tile gives the size");
	if (!bytes && !operand)
		diag_add(r->d, n->loc, DIAG_ATTR,
			 r->s->gemm ? "<lds> needs the attribute 'operand' or 'bytes'"
				    : "<lds> needs the attribute 'bytes'");
	if (bytes && !operand) {
		attr_refuse(r, n, "half", "only an operand has halves");
		attr_refuse(r, n, "part", "only an operand has parts");
	} else {
		if (xml_get(n, "half"))
			attr_refuse(r, n, "part", "half is there already");
		attr_half(r, n, b->operand, &b->part);
		attr_part(r, n, "part", &b->part);
		check_part(r, n, b->operand, b->part);
	}
	read_lds_place(r, n, b);
}

/* Which buffer an alias stands for can only be told when all are known. */
static void link_alias(struct reader *r, struct xml_node *n)
{
	const struct name *own, *other;
	struct xml_attr *name = xml_get(n, "name"), *alias = xml_get(n, "alias");
	const char *value = NULL;

	other = alias ? attr_name(r, n, "alias", KIND(LDS), &value, NULL) : NULL;
	own = name ? find_name(r, name->value) : NULL;
	if (!other || !own || own->kind != NAME_LDS)
		return;
	if (own == other) {
		diag_add(r->d, alias->value_loc, DIAG_NAME, "'%s' can't be an alias of itself",
			 value);
		return;
	}
	r->s->lds[own->index].alias = value;
}

static void check_alias_chain(struct reader *r, struct xml_node *n)
{
	struct xml_attr *name = xml_get(n, "name"), *alias = xml_get(n, "alias");
	const struct sched_lds *b = name ? schedule_lds(r->s, name->value) : NULL, *other;

	other = b && b->alias ? schedule_lds(r->s, b->alias) : NULL;
	if (!other || !other->alias)
		return;
	diag_fix(diag_add(r->d, alias->value_loc, DIAG_NAME, "'%s' is itself an alias, of '%s'",
			  b->alias, other->alias),
		 "name the buffer that has memory of its own");
}

/* Globals */

static void read_global(struct reader *r, struct xml_node *n)
{
	struct sched_global *g = &r->s->globals[r->s->nglobals];
	int64_t bytes = 0;

	*g = (struct sched_global){.loc = n->loc};
	if (declare(r, n, NAME_GLOBAL, r->s->nglobals, &g->name, &g->name_loc))
		r->s->nglobals++;
	xml_int(n, "bytes", false, 1, GLOBAL_MAX_BYTES, &bytes, r->d);
	g->bytes = (uint64_t)bytes;
	attr_flag(r, n, "output", &g->output);
}

/* Register blocks */

static const struct {
	enum element element;
	enum name_kind name;
	enum sched_reg_kind reg;
} reg_kinds[] = {
	{EL_FRAGMENT, NAME_FRAGMENT, SREG_FRAGMENT},
	{EL_STAGING, NAME_STAGING, SREG_STAGING},
	{EL_ACCUMULATOR, NAME_ACCUMULATOR, SREG_ACCUMULATOR},
	{EL_REGISTERS, NAME_REGISTERS, SREG_BLOCK},
};

static void read_reg(struct reader *r, struct xml_node *n, size_t kind)
{
	static const char *const files[] = {"vgpr", "agpr"};
	struct sched_reg *b = &r->s->regs[r->s->nregs];
	int file = 0;

	*b = (struct sched_reg){
		.kind = reg_kinds[kind].reg, .part = {0, 1}, .kpart = {0, 1}, .loc = n->loc};
	if (declare(r, n, reg_kinds[kind].name, r->s->nregs, &b->name, &b->name_loc))
		r->s->nregs++;
	attr_uint(r, n, "vgpr", 1, REG_MAX, &b->count);
	attr_word(r, n, "file", files, ARRAY_LEN(files), &file);
	b->file = file ? FILE_AGPR : FILE_VGPR;
	attr_mnemonic(r, n, "op", &b->read_op, NULL);
	attr_part(r, n, "k", &b->kpart);
	if (r->s->gemm && b->kpart.n > 1 && !r->head_broken && r->s->tile_k % b->kpart.n)
		diag_add(r->d, attr_loc(n, "k"), DIAG_SHAPE,
			 "a K-step of %u can't be cut into %u equal slices", r->s->tile_k,
			 b->kpart.n);
}

/* Where a fragment's or staging block's data come from or go to. */
static void link_buffer(struct reader *r, struct xml_node *n, struct sched_reg *b)
{
	const char *attr = b->kind == SREG_STAGING ? "for" : "from";
	const struct name *name = attr_name(r, n, attr, KIND(LDS), &b->from, NULL);
	const struct sched_lds *lds = name ? &r->s->lds[name->index] : NULL;

	if (!xml_get(n, attr) && !xml_get(n, "vgpr"))
		diag_add(r->d, n->loc, DIAG_ATTR, "<%s> needs the attribute '%s' or 'vgpr'",
			 n->name, attr);
	if (lds && !lds->operand && lds->bytes && !xml_get(n, "vgpr"))
		attr_need(r, n, "vgpr",
			  "its buffer has no operand that would give the number of registers");
	if (!lds || !lds->operand) {
		attr_refuse(r, n, "half", "only an operand has halves");
		attr_refuse(r, n, "part", "only an operand has parts");
		return;
	}
	if (xml_get(n, "half"))
		attr_refuse(r, n, "part", "half is there already");
	attr_half(r, n, lds->operand, &b->part);
	attr_part(r, n, "part", &b->part);
	b->part.n = b->part.n ? b->part.n : 1;
	check_part(r, n, lds->operand, b->part);
}

/* The operand a fragment holds, as far as its buffer tells. */
static enum operand_id fragment_operand(struct reader *r, const struct name *name)
{
	const struct sched_reg *b = &r->s->regs[name->index];
	const struct sched_lds *lds = b->from ? schedule_lds(r->s, b->from) : NULL;

	return lds ? lds->operand : OPERAND_NONE;
}

static void link_operand(struct reader *r, struct xml_node *n, const char *attr,
			 enum operand_id want, const char **out)
{
	const struct name *name = attr_name(r, n, attr, KIND_OPERAND, out, NULL);
	enum operand_id have = name ? fragment_operand(r, name) : OPERAND_NONE;

	if (have != OPERAND_NONE && have != want)
		diag_note(diag_add(r->d, attr_loc(n, attr), DIAG_NAME,
				   "'%s' holds operand %s; '%s' needs operand %s", *out,
				   operand_name(have), attr, operand_name(want)),
			  name->loc, "'%s' is declared here", *out);
}

static void link_accumulator(struct reader *r, struct xml_node *n, struct sched_reg *b)
{
	link_operand(r, n, "a", OPERAND_A, &b->a);
	link_operand(r, n, "b", OPERAND_B, &b->b);
	link_operand(r, n, "scale-a", OPERAND_SA, &b->sa);
	link_operand(r, n, "scale-b", OPERAND_SB, &b->sb);
	if (xml_get(n, "vgpr"))
		return;
	if (!r->s->gemm)
		attr_need(r, n, "vgpr",
			  "a <kernel> has no shapes that would give the number of registers");
	else if (!xml_get(n, "a") || !xml_get(n, "b"))
		diag_add(r->d, n->loc, DIAG_ATTR,
			 "<accumulator> needs the attributes 'a' and 'b', or 'vgpr'");
}

static void link_reg(struct reader *r, struct xml_node *n)
{
	struct xml_attr *at = xml_get(n, "name"), *shares = xml_get(n, "shares");
	const struct name *own = at ? find_name(r, at->value) : NULL, *other;
	struct sched_reg *b;

	if (!own || own->loc.begin != at->value_loc.begin)
		return;
	b = &r->s->regs[own->index];
	if (b->kind == SREG_FRAGMENT || b->kind == SREG_STAGING)
		link_buffer(r, n, b);
	if (b->kind == SREG_ACCUMULATOR)
		link_accumulator(r, n, b);
	other = attr_name(r, n, "shares", KIND_REGISTER, &b->shares, NULL);
	if (other && other == own)
		diag_add(r->d, shares->value_loc, DIAG_NAME,
			 "'%s' can't share registers with itself", b->name);
}

static void check_share_chain(struct reader *r, struct xml_node *n)
{
	struct xml_attr *at = xml_get(n, "name"), *shares = xml_get(n, "shares");
	const struct sched_reg *b = at ? schedule_reg(r->s, at->value) : NULL, *other;

	other = b && b->shares && strcmp(b->shares, b->name) ? schedule_reg(r->s, b->shares) : NULL;
	if (shares && other && other->shares)
		diag_fix(diag_add(r->d, shares->value_loc, DIAG_NAME,
				  "'%s' itself uses the registers of '%s'", b->shares,
				  other->shares),
			 "did you mean '%s'?", other->shares);
}

static size_t reg_kind(enum element e)
{
	size_t k = 0;

	while (k < ARRAY_LEN(reg_kinds) && reg_kinds[k].element != e)
		k++;
	return k;
}

/* Fragments come before accumulators: their buffers decide what an accumulator may name. */
static void link_all(struct reader *r, struct xml_node *root)
{
	for (struct xml_node *n = root->first; n; n = n->next)
		if (element_of(n) == EL_LDS)
			link_alias(r, n);
	for (struct xml_node *n = root->first; n; n = n->next)
		if (element_of(n) == EL_LDS)
			check_alias_chain(r, n);
	for (int accumulators = 0; accumulators < 2; accumulators++)
		for (struct xml_node *n = root->first; n; n = n->next)
			if (reg_kind(element_of(n)) < ARRAY_LEN(reg_kinds) &&
			    (element_of(n) == EL_ACCUMULATOR) == accumulators)
				link_reg(r, n);
	for (struct xml_node *n = root->first; n; n = n->next)
		if (reg_kind(element_of(n)) < ARRAY_LEN(reg_kinds))
			check_share_chain(r, n);
}

void read_declarations(struct reader *r, struct xml_node *root)
{
	size_t seen = 0, room = 1;

	/* One element of each array stays free: a name declared twice is read into it. */
	for (struct xml_node *n = root->first; n && room <= MAX_NAMES; n = n->next)
		room++;
	r->s->lds = arena_alloc(r->a, room, sizeof(*r->s->lds));
	r->s->globals = arena_alloc(r->a, room, sizeof(*r->s->globals));
	r->s->regs = arena_alloc(r->a, room, sizeof(*r->s->regs));
	for (struct xml_node *n = root->first; n; n = n->next) {
		enum element e = element_of(n);
		size_t k = reg_kind(e);

		if (e != EL_LDS && e != EL_GLOBAL && k == ARRAY_LEN(reg_kinds))
			continue;
		if (++seen > MAX_NAMES) {
			diag_add(r->d, n->loc, DIAG_LIMIT, "more than %u names are declared",
				 MAX_NAMES);
			r->names_broken = true;
			break;
		}
		if (e == EL_LDS)
			read_lds(r, n);
		else if (e == EL_GLOBAL)
			read_global(r, n);
		else
			read_reg(r, n, k);
	}
	link_all(r, root);
}

const struct sched_lds *schedule_lds(const struct schedule *s, const char *name)
{
	for (size_t i = 0; i < s->nlds; i++)
		if (!strcmp(s->lds[i].name, name))
			return &s->lds[i];
	return NULL;
}

const struct sched_reg *schedule_reg(const struct schedule *s, const char *name)
{
	for (size_t i = 0; i < s->nregs; i++)
		if (!strcmp(s->regs[i].name, name))
			return &s->regs[i];
	return NULL;
}

const struct sched_global *schedule_global(const struct schedule *s, const char *name)
{
	for (size_t i = 0; i < s->nglobals; i++)
		if (!strcmp(s->globals[i].name, name))
			return &s->globals[i];
	return NULL;
}
