/* Loading a target: its file and the chain of files that it is based on, then checks of the whole.
 */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "target_impl.h"

/* Checks of the whole */

static void missing(struct target_reader *r, struct loc root, const char *element, const char *attr,
		    const char *name)
{
	struct finding *f = diag_add(r->d, root, DIAG_ELEMENT, "there is no <%s %s=\"%s\">",
				     element, attr, name);

	diag_fix(f, "add the row, with its quality and source");
}

static bool all_values(struct target_reader *r, struct loc root)
{
	bool all = true;

	for (size_t i = 0; i < TV_COUNT; i++) {
		if (r->value_seen[i])
			continue;
		if (value_info[i].optional) {
			r->t->v_from[i] = (struct origin){Q_DOCUMENTED, "default", "", root};
			continue;
		}
		diag_fix(
			diag_add(r->d, root, DIAG_ELEMENT, "there is no <value key=\"%s\">",
				 value_info[i].key),
			"add <value key=\"%s\" value=\"...\" unit=\"%s\" quality=\"...\" source=\"...\"/>",
			value_info[i].key, value_info[i].unit);
		all = false;
	}
	return all;
}

/* Classes that a part without the feature need not have. */
static bool class_optional(const struct target *t, size_t c)
{
	if (c == OPC_TDM_LOAD || c == OPC_TDM_STORE)
		return t->v.tdm_engines == 0;
	if (c == OPC_SIGNAL || c == OPC_AWAIT)
		return t->v.barrier_split == 0;
	return false;
}

static void check_classes(struct target_reader *r, struct loc root)
{
	struct target *t = r->t;

	for (size_t c = 0; c < OPC_COUNT; c++) {
		struct class_row *row = &t->classes[c];

		if (!r->class_seen[c]) {
			row->counter = -1;
			row->hold_clk = 1;
			row->from = (struct origin){Q_ESTIMATE, "", "", {0}};
			if (!class_optional(t, c))
				missing(r, root, "class", "name", opclass_words[c]);
		} else if (row->counter >= 0 && !t->counters[row->counter].present) {
			diag_fix(diag_add(r->d, row->from.loc, DIAG_NAME,
					  "there is no counter '%s' on this target",
					  counter_words[row->counter]),
				 "add <counter name=\"%s\" .../>", counter_words[row->counter]);
		}
	}
}

static void check_pairs(struct target_reader *r, struct loc root)
{
	struct target *t = r->t;
	unsigned simds = (unsigned)t->v.simds, used = 0;

	if (!r->have_pairs) {
		diag_fix(diag_add(r->d, root, DIAG_ELEMENT, "there is no <pairs>"),
			 "add <pairs of-simd=\"0 0 1 1\" quality=\"...\" source=\"...\"/>");
		return;
	}
	if (r->npairs != simds)
		diag_add(r->d, r->pairs_loc, DIAG_VALUE,
			 "%u SIMDs are given a pair, but the CU has %u", r->npairs, simds);
	for (unsigned i = 0; i < r->npairs; i++)
		used |= 1u << t->pair_of_simd[i];
	if (used & (used + 1))
		diag_add(r->d, r->pairs_loc, DIAG_VALUE,
			 "pair numbers must run from 0 without gaps");
}

static void contradiction(struct target_reader *r, enum value_id at, enum value_id other,
			  const char *text)
{
	const struct origin *from = r->t->v_from;
	bool inherited = from[at].loc.src != r->src && from[other].loc.src == r->src;
	struct finding *f;

	/* A derived target is told at its own row, not at that of its base. */
	f = diag_add(r->d, inherited ? from[other].loc : from[at].loc, DIAG_VALUE, "%s %s",
		     value_info[at].key, text);
	diag_note(f, inherited ? from[at].loc : from[other].loc, "%s is given here",
		  value_info[inherited ? at : other].key);
}

static void check_values(struct target_reader *r)
{
	const struct target_values *v = &r->t->v;

	if (v->wave_size != 32 && v->wave_size != 64)
		diag_add(r->d, r->t->v_from[TV_wave_size].loc, DIAG_VALUE,
			 "wave-size must be 32 or 64");
	if (v->cus < v->xcds)
		contradiction(r, TV_xcds, TV_cus, "is more than there are compute units");
	if (v->workgroup_waves > v->simds * v->waves_per_simd)
		contradiction(r, TV_workgroup_waves, TV_waves_per_simd,
			      "is more than a compute unit holds");
	if (v->issue_stagger >= v->issue_period && v->issue_stagger > 0)
		contradiction(r, TV_issue_stagger, TV_issue_period,
			      "must be less than issue.period");
	if ((size_t)v->icache_bytes % (size_t)v->icache_line)
		contradiction(r, TV_icache_bytes, TV_icache_line,
			      "must be a multiple of icache.line");
	if (v->lds_granule > v->lds_bytes)
		contradiction(r, TV_lds_granule, TV_lds_bytes, "is larger than the whole LDS");
	if ((size_t)v->lds_bytes % (size_t)v->lds_partitions)
		contradiction(r, TV_lds_partitions, TV_lds_bytes, "must divide lds.bytes");
	if (v->vmem_hbm_ns < v->vmem_l2_ns)
		contradiction(r, TV_vmem_hbm_ns, TV_vmem_l2_ns, "must not be less than vmem.l2");
	if (v->vgpr_granule > v->vgpr_pool)
		contradiction(r, TV_vgpr_granule, TV_vgpr_pool, "is larger than the whole pool");
	if (v->vgpr_max + v->agpr_max > v->vgpr_pool)
		contradiction(r, TV_vgpr_max, TV_vgpr_pool,
			      "and agpr.max together are more than the pool holds");
	if (v->tdm_engines > 0 && v->tdm_queue < 1)
		contradiction(r, TV_tdm_queue, TV_tdm_engines,
			      "must be at least 1 where there are engines");
	if (v->tdm_engines > 0 && v->tdm_queue_wave < 1)
		contradiction(r, TV_tdm_queue_wave, TV_tdm_engines,
			      "must be at least 1 where there are engines");
	if (v->tdm_engines > 0 && v->tdm_bytes_clk < 1)
		contradiction(r, TV_tdm_bytes_clk, TV_tdm_engines,
			      "must be at least 1 where there are engines");
}

static void check_lds(struct target_reader *r, struct loc root)
{
	struct target *t = r->t;
	uint64_t lanes =
		t->v.wave_size >= 64 ? UINT64_MAX : (UINT64_C(1) << (unsigned)t->v.wave_size) - 1;

	for (size_t i = 0; i < t->nlds; i++) {
		uint64_t seen = 0;

		for (unsigned g = 0; g < t->lds[i].ngroups; g++)
			seen |= t->lds[i].group[g];
		if (t->lds[i].ngroups && seen != lanes)
			diag_add(r->d, t->lds[i].from.loc, DIAG_VALUE,
				 "the groups of %s do not hold each of the %u lanes of a wave once",
				 t->lds[i].op, (unsigned)t->v.wave_size);
	}
	if (!target_lds_widest(t, false))
		missing(r, root, "lds", "dir", "read");
	if (!target_lds_widest(t, true))
		missing(r, root, "lds", "dir", "write");
	if (!target_vmem_widest(t, VM_LOAD))
		missing(r, root, "vmem", "kind", "load");
	if (!target_vmem_widest(t, VM_STORE))
		missing(r, root, "vmem", "kind", "store");
}

static bool has_option(const struct choice_row *c, const char *name)
{
	for (size_t i = 0; i < c->noptions; i++)
		if (!strcmp(c->options[i], name))
			return true;
	return false;
}

static bool in_force(const struct matrix_row *row, const char *option)
{
	return !row->when || (option && !strcmp(row->when, option));
}

/* Under each option, rows that hold for some operand types need the row for the others. */
static void check_operands(struct target_reader *r, const struct matrix_row *row,
			   const char *option)
{
	static const enum matrix_operands other[] = {
		[MO_ANY_F8] = MO_NO_F8,
		[MO_NO_F8] = MO_ANY_F8,
		[MO_BOTH_F4] = MO_NOT_BOTH_F4,
		[MO_NOT_BOTH_F4] = MO_BOTH_F4,
	};
	const struct target *t = r->t;

	if (row->operands == MO_ANY || !in_force(row, option))
		return;
	for (size_t i = 0; i < t->nmatrix; i++)
		if (t->matrix[i].operands == other[row->operands] &&
		    in_force(&t->matrix[i], option) && !strcmp(t->matrix[i].op, row->op))
			return;
	diag_add(r->d, row->from.loc, DIAG_ELEMENT,
		 "%s has a row for operands=\"%s\" but none for \"%s\"%s%s", row->op,
		 matrix_operands_words[row->operands], matrix_operands_words[other[row->operands]],
		 option ? " under the option " : "", option ? option : "");
}

static void check_matrix(struct target_reader *r)
{
	const struct choice_row *c = &r->choice;

	for (size_t i = 0; i < r->t->nmatrix; i++) {
		const struct matrix_row *row = &r->t->matrix[i];

		if (row->when && !has_option(c, row->when)) {
			const char *near = word_nearest(row->when, c->options, c->noptions);
			struct finding *f = diag_add(
				r->d, row->from.loc, DIAG_NAME,
				"when=\"%s\" is no option of the target's choice", row->when);
			if (near)
				diag_fix(f, "did you mean '%s'?", near);
			continue;
		}
		if (!c->noptions)
			check_operands(r, row, NULL);
		for (size_t o = 0; o < c->noptions; o++)
			check_operands(r, row, c->options[o]);
	}
}

static void check_variant(struct target_reader *r, const char *variant, struct loc where)
{
	struct choice_row *c = &r->choice;

	if (!variant)
		return;
	if (has_option(c, variant)) {
		for (size_t i = 0; i < c->noptions; i++)
			if (!strcmp(c->options[i], variant))
				c->option = c->options[i];
		return;
	}
	struct finding *f =
		c->name ? diag_add(r->d, where, DIAG_TARGET, "target %s has no variant '%s' of %s",
				   r->t->name, variant, c->name)
			: diag_add(r->d, where, DIAG_TARGET, "target %s has no variants",
				   r->t->name);
	const char *near = word_nearest(variant, c->options, c->noptions);

	if (near)
		diag_fix(f, "did you mean '%s'?", near);
	else if (c->noptions)
		diag_fix(f, "the default is '%s'", c->option);
}

void target_check(struct target_reader *r, struct loc root, const char *variant, struct loc where)
{
	bool sound = r->d->errors == r->errors_before; /* every row that is there could be read */
	size_t n = 0;

	if (all_values(r, root) && sound) {
		check_values(r);
		check_pairs(r, root);
		if (r->t->v.wave_size == 32 || r->t->v.wave_size == 64)
			check_lds(r, root);
	}
	check_classes(r, root);
	check_matrix(r);
	if (!r->t->nclocks)
		missing(r, root, "clock", "name", "nominal");
	check_variant(r, variant, where);
	for (size_t i = 0; i < r->t->nmatrix; i++)
		if (in_force(&r->t->matrix[i], r->choice.option))
			r->t->matrix[n++] = r->t->matrix[i];
	r->t->nmatrix = n;
	r->t->choice = r->choice;
}

/* Files */

static struct finding *unknown_target(struct diag *d, struct loc where, const char *name)
{
	struct arena *a = arena_new();
	const char **names;
	size_t n = target_names(a, &names);
	struct finding *f = diag_add(d, where, DIAG_TARGET, "there is no target '%s'", name);
	const char *near = word_nearest(name, names, n);

	if (near) {
		diag_fix(f, "did you mean '%s'?", near);
	} else if (n) {
		struct strbuf b = {0};

		for (size_t i = 0; i < n && i < 16; i++)
			strbuf_add(&b, "%s%s", i ? ", " : "", names[i]);
		diag_fix(f, "known targets: %s", b.s);
		strbuf_free(&b);
	} else {
		diag_fix(f, "no machine model was found; name their folder in WPSIM_MODELS");
	}
	arena_free(a);
	return f;
}

static bool read_file(struct target_reader *r, const struct src *s, struct loc *root_loc);

/* Read the file that base= names, below the rows of the file at hand. */
static bool read_base(struct target_reader *r, const struct src *s, const struct xml_attr *base)
{
	char *path = target_path(base->value, s);
	struct src *b;
	struct loc root;

	if (!path) {
		unknown_target(r->d, base->value_loc, base->value);
		return false;
	}
	bool cycle = !strcmp(path, r->t->src->path);

	for (size_t i = 0; i < r->o->nbases; i++)
		cycle |= !strcmp(path, r->o->bases[i]->path);
	if (cycle || r->o->nbases == TARGET_MAX_BASES) {
		if (cycle)
			diag_add(r->d, base->value_loc, DIAG_NAME,
				 "this target is, in the end, based on itself");
		else
			diag_add(r->d, base->value_loc, DIAG_LIMIT,
				 "more than %d targets based on each other", TARGET_MAX_BASES);
		free(path);
		return false;
	}
	b = src_load(path, r->d);
	free(path);
	if (!b)
		return false;
	r->o->bases[r->o->nbases++] = b;
	return read_file(r, b, &root);
}

static bool read_file(struct target_reader *r, const struct src *s, struct loc *root_loc)
{
	static const char *const known[] = {"name", "product", "base"};
	struct target *t = r->t;
	struct xml_node *root = xml_parse(s, t->arena, r->d);
	const char *name = "", *product = NULL;
	struct xml_attr *base;

	if (!root)
		return false;
	*root_loc = root->loc;
	if (strcmp(root->name, "target")) {
		diag_fix(diag_add(r->d, root->loc, DIAG_ELEMENT, "<%.40s> is not a target",
				  root->name),
			 "the outermost element of a target file is <target>");
		return false;
	}
	base = xml_get(root, "base");
	xml_str(root, "name", true, &name, r->d);
	xml_str(root, "product", !base, &product, r->d);
	xml_unused(root, known, ARRAY_LEN(known), r->d);
	if (base && !read_base(r, s, base))
		return false;
	t->name = name;
	if (product)
		t->product = product;
	r->src = s;
	target_read_rows(r, root);
	return true;
}

/* Rows grow on the heap; the finished target has them in its arena. */
static void *settle(struct arena *a, void *list, size_t n, size_t size)
{
	void *p = arena_alloc(a, n ? n : 1, size);

	if (n)
		memcpy(p, list, n * size);
	free(list);
	return p;
}

struct target *target_parse(struct src *s, const char *variant, struct loc where, struct diag *d)
{
	struct target_owner *o = xcalloc(1, sizeof(*o));
	struct target *t = &o->t;
	struct target_reader r = {.o = o, .t = t, .d = d, .errors_before = d->errors};
	struct loc root;

	t->arena = arena_new();
	t->src = s;
	t->path = arena_strdup(t->arena, s->path);
	t->name = t->product = "";
	if (read_file(&r, s, &root) && !r.too_many)
		target_check(&r, root, variant, where);
	free(r.sources);
	t->matrix = settle(t->arena, t->matrix, t->nmatrix, sizeof(*t->matrix));
	t->lds = settle(t->arena, t->lds, t->nlds, sizeof(*t->lds));
	t->vmem = settle(t->arena, t->vmem, t->nvmem, sizeof(*t->vmem));
	t->spacing = settle(t->arena, t->spacing, t->nspacing, sizeof(*t->spacing));
	t->clocks = settle(t->arena, t->clocks, t->nclocks, sizeof(*t->clocks));
	if (d->errors == r.errors_before)
		return t;
	/* The findings point into the texts. */
	diag_keep(d, t->src);
	t->src = NULL;
	for (size_t i = 0; i < o->nbases; i++)
		diag_keep(d, o->bases[i]);
	o->nbases = 0;
	target_free(t);
	return NULL;
}

struct target *target_load(const char *name_or_path, const char *variant, struct loc where,
			   struct diag *d)
{
	char *path = target_path(name_or_path, NULL);
	struct src *s;

	if (!path) {
		unknown_target(d, where, name_or_path);
		return NULL;
	}
	s = src_load(path, d);
	free(path);
	return s ? target_parse(s, variant, where, d) : NULL;
}
