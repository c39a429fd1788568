/* Reading the rows of a target file. A row replaces the same one of the file that it is based on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "target_impl.h"

/* Rows are told apart by the text they come from: one text a layer. */
static bool same_layer(const struct target_reader *r, struct loc row)
{
	return row.src == r->src;
}

static void duplicate(struct target_reader *r, struct loc second, struct loc first,
		      const char *what)
{
	struct finding *f = diag_add(r->d, second, DIAG_NAME, "%s is given twice", what);

	diag_note(f, first, "the first one is here");
	diag_fix(f, "remove one of the two rows");
}

static bool read_unsigned(struct xml_node *n, const char *name, bool required, unsigned lo,
			  unsigned hi, unsigned *out, struct diag *d)
{
	int64_t v;

	if (!xml_int(n, name, required, lo, hi, &v, d))
		return false;
	*out = (unsigned)v;
	return true;
}

/* The word s[0..len) must be the id of a declared source. */
static void check_source(struct target_reader *r, struct loc loc, const char *s, size_t len)
{
	const char **ids = xreallocarray(NULL, r->nsources + 1, sizeof(*ids));
	bool found = false;

	for (size_t i = 0; i < r->nsources; i++) {
		ids[i] = r->sources[i].id;
		found |= strlen(ids[i]) == len && !strncmp(ids[i], s, len);
	}
	if (!found) {
		char *word = xasprintf("%.*s", len > 40 ? 40 : (int)len, s);
		const char *near = word_nearest(word, ids, r->nsources);
		struct finding *f = diag_add(r->d, loc, DIAG_NAME,
					     "no <source> with the id '%s' is declared", word);

		if (near)
			diag_fix(f, "did you mean '%s'?", near);
		else
			diag_fix(f, "add <source id=\"%s\" title=\"...\"/>", word);
		free(word);
	}
	free(ids);
}

/* quality=, source= and note= of a row; source="ID place" or several of these with "; " between. */
static void read_origin(struct target_reader *r, struct xml_node *n, struct origin *o)
{
	const char *note = "";
	int q = Q_ESTIMATE;

	o->loc = n->loc;
	xml_word(n, "quality", true, quality_words, Q_COUNT, &q, r->d);
	o->quality = (enum quality)q;
	xml_str(n, "note", false, &note, r->d);
	o->note = note;
	o->source = "";
	if (!xml_str(n, "source", true, &o->source, r->d))
		return;
	for (const char *s = o->source; *s;) {
		size_t skip = strspn(s, " ");

		check_source(r, xml_get(n, "source")->value_loc, s + skip, strcspn(s + skip, " ;"));
		s += strcspn(s, ";");
		s += *s == ';';
	}
}

#define ORIGIN_ATTRS "quality", "source", "note"
#define UNUSED(n, r, ...)                                          \
	do {                                                       \
		static const char *const known_[] = {__VA_ARGS__}; \
		xml_unused(n, known_, ARRAY_LEN(known_), (r)->d);  \
	} while (0)

static void read_source(struct target_reader *r, struct xml_node *n)
{
	struct source_id s = {.loc = n->loc};
	const char *title;
	size_t i;

	xml_str(n, "title", true, &title, r->d);
	if (!xml_str(n, "id", true, &s.id, r->d))
		goto unused;
	if (strpbrk(s.id, " \t\n\r")) {
		diag_add(r->d, xml_get(n, "id")->value_loc, DIAG_VALUE, "an id has no blanks");
		goto unused;
	}
	for (i = 0; i < r->nsources && strcmp(r->sources[i].id, s.id); i++)
		;
	if (i < r->nsources && same_layer(r, r->sources[i].loc)) {
		duplicate(r, n->loc, r->sources[i].loc, "this source");
	} else if (i < r->nsources) {
		r->sources[i] = s;
	} else {
		r->sources = xgrow(r->sources, r->nsources, &r->capsources, sizeof(*r->sources));
		r->sources[r->nsources++] = s;
	}
unused:
	UNUSED(n, r, "id", "title");
}

/* Units that are counted in whole numbers. */
static bool unit_is_whole(const char *unit)
{
	return strcmp(unit, "ns") && strcmp(unit, "GB/s") && strcmp(unit, "bytes/clk");
}

static void read_value(struct target_reader *r, struct xml_node *n)
{
	const char *keys[TV_COUNT], *unit;
	const struct value_info *info;
	struct origin from;
	double x;
	int id;

	for (size_t i = 0; i < TV_COUNT; i++)
		keys[i] = value_info[i].key;
	if (!xml_word(n, "key", true, keys, TV_COUNT, &id, r->d)) {
		static const char *const rest[] = {"value", "unit", ORIGIN_ATTRS};
		for (size_t i = 0; i < ARRAY_LEN(rest); i++)
			xml_get(n, rest[i]);
		goto unused;
	}
	info = &value_info[id];
	if (xml_str(n, "unit", true, &unit, r->d) && strcmp(unit, info->unit))
		diag_fix(diag_add(r->d, xml_get(n, "unit")->value_loc, DIAG_VALUE,
				  "%s is not in '%s'", info->key, unit),
			 "write unit=\"%s\"", info->unit);
	if (xml_double(n, "value", true, info->lo, info->hi, &x, r->d)) {
		if (unit_is_whole(info->unit) && x != floor(x))
			diag_add(r->d, xml_get(n, "value")->value_loc, DIAG_VALUE,
				 "%s must be a whole number", info->key);
		else
			*(double *)(void *)((char *)&r->t->v + info->offset) = x;
	}
	read_origin(r, n, &from);
	if (r->value_seen[id] && same_layer(r, r->t->v_from[id].loc))
		duplicate(r, n->loc, r->t->v_from[id].loc, info->key);
	else
		r->t->v_from[id] = from;
	r->value_seen[id] = true;
unused:
	UNUSED(n, r, "key", "value", "unit", ORIGIN_ATTRS);
}

static void read_pairs(struct target_reader *r, struct xml_node *n)
{
	struct origin from;
	const char *s;

	read_origin(r, n, &from);
	if (r->have_pairs && same_layer(r, r->pairs_loc)) {
		duplicate(r, n->loc, r->pairs_loc, "<pairs>");
		return;
	}
	r->have_pairs = true;
	r->pairs_loc = n->loc;
	r->npairs = 0;
	if (!xml_str(n, "of-simd", true, &s, r->d))
		goto unused;
	for (; *s; s += strspn(s, " ")) {
		size_t len = strcspn(s, " ");

		if (len != 1 || *s < '0' || *s > '7' || r->npairs == 8) {
			diag_fix(diag_add(r->d, xml_get(n, "of-simd")->value_loc, DIAG_VALUE,
					  "this is not a list of at most 8 pair numbers 0 to 7"),
				 "write the pair of each SIMD, e.g. of-simd=\"0 0 1 1\"");
			r->npairs = 0;
			r->have_pairs = false;
			break;
		}
		r->t->pair_of_simd[r->npairs++] = (unsigned)(*s - '0');
		s += len;
	}
unused:
	UNUSED(n, r, "of-simd", ORIGIN_ATTRS);
}

static void read_counter(struct target_reader *r, struct xml_node *n)
{
	static const char *const orders[] = {"out", "in"};
	struct counter_row row = {.present = true};
	int id, order;
	bool named = xml_word(n, "name", true, counter_words, CTR_COUNT, &id, r->d);

	read_unsigned(n, "max", true, 1, 255, &row.max, r->d);
	if (xml_word(n, "order", true, orders, 2, &order, r->d))
		row.in_order = order == 1;
	read_origin(r, n, &row.from);
	UNUSED(n, r, "name", "max", "order", ORIGIN_ATTRS);
	if (!named)
		return;
	if (r->t->counters[id].present && same_layer(r, r->t->counters[id].from.loc))
		duplicate(r, n->loc, r->t->counters[id].from.loc, "this counter");
	else
		r->t->counters[id] = row;
}

static void read_class(struct target_reader *r, struct xml_node *n)
{
	struct class_row row = {.counter = -1};
	int id;
	bool named = xml_word(n, "name", true, opclass_words, OPC_COUNT, &id, r->d);

	read_unsigned(n, "busy", true, 0, 1024, &row.busy_clk, r->d);
	read_unsigned(n, "latency", true, 0, 1024, &row.latency_clk, r->d);
	read_unsigned(n, "hold", true, 0, 1024, &row.hold_clk, r->d);
	xml_word(n, "counter", false, counter_words, CTR_COUNT, &row.counter, r->d);
	read_origin(r, n, &row.from);
	UNUSED(n, r, "name", "busy", "latency", "hold", "counter", ORIGIN_ATTRS);
	if (!named)
		return;
	if (r->class_seen[id] && same_layer(r, r->t->classes[id].from.loc))
		duplicate(r, n->loc, r->t->classes[id].from.loc, "this class");
	else
		r->t->classes[id] = row;
	r->class_seen[id] = true;
}

/* Too many rows of one kind; nothing more is read then. */
static bool full(struct target_reader *r, size_t n, struct loc loc)
{
	if (n < TARGET_MAX_ROWS)
		return false;
	diag_add(r->d, loc, DIAG_LIMIT, "more than %d rows of one kind", TARGET_MAX_ROWS);
	r->too_many = true;
	return true;
}

/* "f16", "fp8 bf8" (A, B) or "f8f6f4": each word a type or f8f6f4. */
static void check_types(struct target_reader *r, struct xml_node *n, const char *types)
{
	unsigned words = 0;

	for (const char *s = types; *s; s += strspn(s, " ")) {
		size_t len = strcspn(s, " ");
		bool known = len == 6 && !strncmp(s, "f8f6f4", 6);

		for (size_t i = 0; i < DT_COUNT; i++)
			known |= strlen(dtype_words[i]) == len && !strncmp(s, dtype_words[i], len);
		if (!known || ++words > 2) {
			diag_fix(diag_add(r->d, xml_get(n, "types")->value_loc, DIAG_VALUE,
					  "this is neither one operand type nor those of A and B"),
				 "write e.g. types=\"f16\", types=\"fp8 bf8\" or types=\"f8f6f4\"");
			return;
		}
		s += len;
	}
}

static void read_matrix_numbers(struct target_reader *r, struct xml_node *n, struct matrix_row *row)
{
	static const char *const shape[] = {"m", "n", "k", "blocks"};
	unsigned *const out[] = {&row->m, &row->n, &row->k, &row->blocks};

	for (size_t i = 0; i < ARRAY_LEN(shape); i++)
		read_unsigned(n, shape[i], out[i] != &row->blocks, 1, 4096, out[i], r->d);
	read_unsigned(n, "passes", false, 0, 64, &row->passes, r->d);
	read_unsigned(n, "occupancy", true, 1, 1024, &row->occupancy_clk, r->d);
	read_unsigned(n, "ready", true, 1, 4096, &row->ready_clk, r->d);
	read_unsigned(n, "chain", true, 1, 4096, &row->chain_clk, r->d);
	read_unsigned(n, "prefix", false, 0, 1024, &row->prefix_clk, r->d);
	if (read_unsigned(n, "valu-block", true, 0, 1024, &row->valu_block_clk, r->d) &&
	    row->valu_block_clk > row->occupancy_clk && row->occupancy_clk)
		diag_add(r->d, xml_get(n, "valu-block")->value_loc, DIAG_VALUE,
			 "the op holds the vector ALU for %u clk but the matrix unit for %u only",
			 row->valu_block_clk, row->occupancy_clk);
	if (row->chain_clk && row->occupancy_clk && row->chain_clk < row->occupancy_clk)
		diag_add(
			r->d, xml_get(n, "chain")->value_loc, DIAG_VALUE,
			"a dependent op can't start earlier (%u clk) than an independent one (%u clk)",
			row->chain_clk, row->occupancy_clk);
	read_unsigned(n, "a-regs", true, 1, 64, &row->a_regs, r->d);
	read_unsigned(n, "b-regs", true, 1, 64, &row->b_regs, r->d);
	read_unsigned(n, "c-regs", true, 1, 64, &row->c_regs, r->d);
}

/* Two rows answer for one op and the same operands. */
static bool matrix_clash(const struct matrix_row *a, const struct matrix_row *b)
{
	bool pair = (a->operands == MO_ANY_F8 && b->operands == MO_NO_F8) ||
		    (a->operands == MO_NO_F8 && b->operands == MO_ANY_F8) ||
		    (a->operands == MO_BOTH_F4 && b->operands == MO_NOT_BOTH_F4) ||
		    (a->operands == MO_NOT_BOTH_F4 && b->operands == MO_BOTH_F4);

	if (strcmp(a->op, b->op) || pair)
		return false;
	return !a->when || !b->when || !strcmp(a->when, b->when);
}

static void add_matrix(struct target_reader *r, const struct matrix_row *row)
{
	struct target *t = r->t;
	size_t n = 0;

	for (size_t i = 0; i < t->nmatrix; i++) {
		bool same = !strcmp(t->matrix[i].op, row->op);

		if (same && same_layer(r, t->matrix[i].from.loc) &&
		    matrix_clash(&t->matrix[i], row)) {
			duplicate(r, row->from.loc, t->matrix[i].from.loc, row->op);
			return;
		}
	}
	/* A row replaces all rows that the base has for its op. */
	for (size_t i = 0; i < t->nmatrix; i++)
		if (strcmp(t->matrix[i].op, row->op) || same_layer(r, t->matrix[i].from.loc))
			t->matrix[n++] = t->matrix[i];
	t->nmatrix = n;
	if (full(r, n, row->from.loc))
		return;
	t->matrix = xgrow(t->matrix, n, &r->cap_matrix, sizeof(*t->matrix));
	t->matrix[t->nmatrix++] = *row;
}

static void read_matrix(struct target_reader *r, struct xml_node *n)
{
	struct matrix_row row = {.types = "", .blocks = 1};
	int kind = 0, unit = 0, operands = MO_ANY;
	bool named = xml_str(n, "op", true, &row.op, r->d);

	xml_word(n, "kind", true, matrix_kind_words, ARRAY_LEN(matrix_kind_words), &kind, r->d);
	xml_word(n, "unit", true, matrix_unit_words, ARRAY_LEN(matrix_unit_words), &unit, r->d);
	xml_word(n, "operands", false, matrix_operands_words, ARRAY_LEN(matrix_operands_words),
		 &operands, r->d);
	if (xml_str(n, "types", true, &row.types, r->d))
		check_types(r, n, row.types);
	xml_str(n, "when", false, &row.when, r->d);
	row.kind = (enum matrix_kind)kind;
	row.unit = (enum matrix_unit)unit;
	row.operands = (enum matrix_operands)operands;
	read_matrix_numbers(r, n, &row);
	read_origin(r, n, &row.from);
	UNUSED(n, r, "op", "kind", "unit", "operands", "types", "when", "m", "n", "k", "blocks",
	       "passes", "occupancy", "ready", "chain", "prefix", "valu-block", "a-regs", "b-regs",
	       "c-regs", ORIGIN_ATTRS);
	if (named)
		add_matrix(r, &row);
}

/* "0-3,20-23 4-7,16-19": groups of lanes. The lanes are checked against the wave size at the end.
 */
static bool parse_groups(const char *s, struct lds_row *row)
{
	while (*s) {
		unsigned lo, hi;
		char *end;

		if (row->ngroups == ARRAY_LEN(row->group))
			return false;
		for (;;) {
			if (*s < '0' || *s > '9')
				return false;
			lo = hi = (unsigned)strtoul(s, &end, 10);
			if (end - s > 2)
				return false;
			s = end;
			if (*s == '-') {
				s++;
				if (*s < '0' || *s > '9')
					return false;
				hi = (unsigned)strtoul(s, &end, 10);
				if (end - s > 2)
					return false;
				s = end;
			}
			if (hi < lo || hi > 63)
				return false;
			for (; lo <= hi; lo++) {
				uint64_t bit = UINT64_C(1) << lo;

				for (unsigned g = 0; g <= row->ngroups; g++)
					if (row->group[g] & bit)
						return false;
				row->group[row->ngroups] |= bit;
			}
			if (*s != ',')
				break;
			s++;
		}
		if (*s && *s != ' ')
			return false;
		s += strspn(s, " ");
		row->ngroups++;
	}
	return row->ngroups > 0;
}

static void read_lds(struct target_reader *r, struct xml_node *n)
{
	static const char *const dirs[] = {"read", "write"};
	static const char *const yes_no[] = {"no", "yes"};
	struct target *t = r->t;
	struct lds_row row = {0};
	const char *groups;
	int dir = 0, transpose = 0;
	bool named = xml_str(n, "op", true, &row.op, r->d);

	xml_word(n, "dir", true, dirs, 2, &dir, r->d);
	xml_word(n, "transpose", false, yes_no, 2, &transpose, r->d);
	row.write = dir == 1;
	row.transpose = transpose == 1;
	read_unsigned(n, "width", true, 1, 16, &row.width_bytes, r->d);
	read_unsigned(n, "port", true, 1, 1024, &row.port_clk, r->d);
	if (read_unsigned(n, "banks", true, 1, 256, &row.banks, r->d) &&
	    (row.banks & (row.banks - 1)))
		diag_add(r->d, xml_get(n, "banks")->value_loc, DIAG_VALUE,
			 "the number of banks must be a power of two");
	if (xml_str(n, "groups", true, &groups, r->d) && !parse_groups(groups, &row)) {
		row.ngroups = 0;
		diag_fix(
			diag_add(
				r->d, xml_get(n, "groups")->value_loc, DIAG_VALUE,
				"these are not groups of lanes, each lane 0 to 63 once, at most 64 groups"),
			"write e.g. groups=\"0-31 32-63\" or \"0-3,20-23 4-7,16-19\"");
	}
	read_origin(r, n, &row.from);
	UNUSED(n, r, "op", "dir", "transpose", "width", "port", "banks", "groups", ORIGIN_ATTRS);
	if (!named)
		return;
	for (size_t i = 0; i < t->nlds; i++) {
		if (strcmp(t->lds[i].op, row.op))
			continue;
		if (same_layer(r, t->lds[i].from.loc))
			duplicate(r, n->loc, t->lds[i].from.loc, row.op);
		else
			t->lds[i] = row;
		return;
	}
	if (full(r, t->nlds, n->loc))
		return;
	t->lds = xgrow(t->lds, t->nlds, &r->cap_lds, sizeof(*t->lds));
	t->lds[t->nlds++] = row;
}

static void read_vmem(struct target_reader *r, struct xml_node *n)
{
	struct target *t = r->t;
	struct vmem_row row = {0};
	int kind = 0;
	bool named = xml_str(n, "op", true, &row.op, r->d);

	xml_word(n, "kind", true, vmem_kind_words, ARRAY_LEN(vmem_kind_words), &kind, r->d);
	row.kind = (enum vmem_kind)kind;
	read_unsigned(n, "width", true, 1, 16, &row.width_bytes, r->d);
	read_unsigned(n, "addr", true, 0, 1024, &row.addr_clk, r->d);
	read_unsigned(n, "data", true, 0, 1024, &row.data_clk, r->d);
	read_origin(r, n, &row.from);
	UNUSED(n, r, "op", "kind", "width", "addr", "data", ORIGIN_ATTRS);
	if (!named)
		return;
	for (size_t i = 0; i < t->nvmem; i++) {
		if (strcmp(t->vmem[i].op, row.op))
			continue;
		if (same_layer(r, t->vmem[i].from.loc))
			duplicate(r, n->loc, t->vmem[i].from.loc, row.op);
		else
			t->vmem[i] = row;
		return;
	}
	if (full(r, t->nvmem, n->loc))
		return;
	t->vmem = xgrow(t->vmem, t->nvmem, &r->cap_vmem, sizeof(*t->vmem));
	t->vmem[t->nvmem++] = row;
}

static void add_spacing(struct target_reader *r, const struct spacing_row *row)
{
	struct target *t = r->t;

	for (size_t i = 0; i < t->nspacing; i++) {
		struct spacing_row *old = &t->spacing[i];

		if (strcmp(old->first, row->first) || strcmp(old->second, row->second) ||
		    old->relation != row->relation || old->passes != row->passes)
			continue;
		if (same_layer(r, old->from.loc))
			duplicate(r, row->from.loc, old->from.loc, "this spacing rule");
		else
			*old = *row;
		return;
	}
	if (full(r, t->nspacing, row->from.loc))
		return;
	t->spacing = xgrow(t->spacing, t->nspacing, &r->cap_spacing, sizeof(*t->spacing));
	t->spacing[t->nspacing++] = *row;
}

static void read_spacing(struct target_reader *r, struct xml_node *n)
{
	static const char *const keepers[] = {"software", "interlock"};
	struct spacing_row row = {0};
	int first = -1, second = -1, relation = SR_ANY, by = 0;

	xml_word(n, "first", true, spacing_words, nspacing_words, &first, r->d);
	xml_word(n, "second", true, spacing_words, nspacing_words, &second, r->d);
	xml_word(n, "relation", true, relation_words, ARRAY_LEN(relation_words), &relation, r->d);
	if (read_unsigned(n, "passes", false, 1, 16, &row.passes, r->d) &&
	    (row.passes & (row.passes - 1)))
		diag_add(r->d, xml_get(n, "passes")->value_loc, DIAG_VALUE,
			 "passes are 1, 2, 4, 8 or 16");
	read_unsigned(n, "states", true, 0, 64, &row.states, r->d);
	xml_word(n, "by", true, keepers, 2, &by, r->d);
	row.relation = (enum spacing_relation)relation;
	row.software = by == 0;
	read_origin(r, n, &row.from);
	UNUSED(n, r, "first", "second", "relation", "passes", "states", "by", ORIGIN_ATTRS);
	if (first < 0 || second < 0)
		return;
	row.first = spacing_words[first];
	row.second = spacing_words[second];
	add_spacing(r, &row);
}

static void read_clock(struct target_reader *r, struct xml_node *n)
{
	struct target *t = r->t;
	struct clock_row row = {0};
	bool named = xml_str(n, "name", true, &row.name, r->d);

	xml_double(n, "mhz", true, 1, 100000, &row.mhz, r->d);
	read_origin(r, n, &row.from);
	UNUSED(n, r, "name", "mhz", ORIGIN_ATTRS);
	if (!named)
		return;
	for (size_t i = 0; i < t->nclocks; i++) {
		if (strcmp(t->clocks[i].name, row.name))
			continue;
		if (same_layer(r, t->clocks[i].from.loc))
			duplicate(r, n->loc, t->clocks[i].from.loc, "this clock");
		else
			t->clocks[i] = row;
		return;
	}
	if (full(r, t->nclocks, n->loc))
		return;
	t->clocks = xgrow(t->clocks, t->nclocks, &r->cap_clocks, sizeof(*t->clocks));
	t->clocks[t->nclocks++] = row;
}

static void read_options(struct target_reader *r, struct xml_node *n, struct choice_row *c)
{
	static const char *const known[] = {"option"};

	for (struct xml_node *o = n->first; o; o = o->next) {
		const char *name;

		if (strcmp(o->name, "option")) {
			diag_fix(diag_add(r->d, o->loc, DIAG_ELEMENT,
					  "<%s> has no place in <choice>", o->name),
				 "use <%s>", known[0]);
			continue;
		}
		if (!xml_str(o, "name", true, &name, r->d))
			continue;
		UNUSED(o, r, "name");
		for (size_t i = 0; i < c->noptions; i++)
			if (!strcmp(c->options[i], name))
				diag_add(r->d, o->loc, DIAG_NAME, "option '%s' is given twice",
					 name);
		if (c->noptions == ARRAY_LEN(c->options)) {
			diag_add(r->d, o->loc, DIAG_LIMIT, "more than %zu options",
				 ARRAY_LEN(c->options));
			return;
		}
		c->options[c->noptions++] = name;
	}
}

static void read_choice(struct target_reader *r, struct xml_node *n)
{
	struct choice_row c = {.note = ""};
	const char *name, *def = NULL;
	bool known = false;

	if (xml_str(n, "name", true, &name, r->d))
		c.name = name;
	xml_str(n, "default", true, &def, r->d);
	xml_str(n, "note", false, &c.note, r->d);
	read_options(r, n, &c);
	UNUSED(n, r, "name", "default", "note");
	if (r->choice.name && same_layer(r, r->choice_loc)) {
		duplicate(r, n->loc, r->choice_loc, "<choice>");
		return;
	}
	for (size_t i = 0; def && i < c.noptions; i++)
		known |= !strcmp(c.options[i], def);
	if (def && !known) {
		const char *near = word_nearest(def, c.options, c.noptions);
		struct finding *f = diag_add(r->d, xml_get(n, "default")->value_loc, DIAG_NAME,
					     "the choice has no option '%s'", def);
		if (near)
			diag_fix(f, "did you mean '%s'?", near);
	}
	if (!c.name || !known)
		return;
	c.option = def;
	r->choice = c;
	r->choice_loc = n->loc;
}

static const struct {
	const char *name;
	void (*read)(struct target_reader *r, struct xml_node *n);
} elements[] = {
	{"source", read_source},   {"choice", read_choice},   {"value", read_value},
	{"pairs", read_pairs},	   {"counter", read_counter}, {"class", read_class},
	{"matrix", read_matrix},   {"lds", read_lds},	      {"vmem", read_vmem},
	{"spacing", read_spacing}, {"clock", read_clock},
};

static void unknown_element(struct target_reader *r, struct xml_node *n)
{
	const char *names[ARRAY_LEN(elements)], *near;
	struct finding *f =
		diag_add(r->d, n->loc, DIAG_ELEMENT, "<%.40s> has no place in <target>", n->name);

	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		names[i] = elements[i].name;
	near = word_nearest(n->name, names, ARRAY_LEN(names));
	if (near)
		diag_fix(f, "did you mean <%s>?", near);
	else
		diag_fix(f, "docs/targets.md lists the elements");
}

static void no_content(struct target_reader *r, struct xml_node *n)
{
	if (n->text[strspn(n->text, " \t\r\n")])
		diag_add(r->d, n->loc, DIAG_ELEMENT, "<%.40s> holds text", n->name);
	if (n->first && strcmp(n->name, "choice"))
		diag_add(r->d, n->first->loc, DIAG_ELEMENT, "<%.40s> holds no elements", n->name);
}

void target_read_rows(struct target_reader *r, struct xml_node *root)
{
	/* Sources first: rows may stand before the source that they name. */
	for (struct xml_node *n = root->first; n; n = n->next)
		if (!strcmp(n->name, "source"))
			read_source(r, n);
	for (struct xml_node *n = root->first; n && !r->too_many; n = n->next) {
		size_t i;

		for (i = 0; i < ARRAY_LEN(elements) && strcmp(elements[i].name, n->name); i++)
			;
		if (i == ARRAY_LEN(elements)) {
			unknown_element(r, n);
			continue;
		}
		no_content(r, n);
		if (i > 0)
			elements[i].read(r, n);
	}
	if (root->text[strspn(root->text, " \t\r\n")])
		diag_add(r->d, root->loc, DIAG_ELEMENT, "<target> holds text between its rows");
}
