/* The schedule reader: the head of the document, and what ties the parts together. */
#include "schedule_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_ELEMENTS (INT64_C(1) << 31)
#define TILE_MAX 65536u
#define CLUSTER_MAX 16u
#define WORKGROUPS_MAX (INT64_C(1) << 40)
#define CLOCK_MIN_MHZ 1.0
#define CLOCK_MAX_MHZ 20000.0
#define REG_MAX 1024u
#define WORK_MAX 1e30
#define REUSE_MAX 1e9

static struct xml_node *child(struct xml_node *n, enum element e)
{
	for (struct xml_node *c = n ? n->first : NULL; c; c = c->next)
		if (element_of(c) == e)
			return c;
	return NULL;
}

/* A child that must be there. */
static struct xml_node *need_child(struct reader *r, struct xml_node *n, enum element e)
{
	struct xml_node *c = child(n, e);

	if (!c) {
		diag_add(r->d, n->loc, DIAG_ELEMENT, "<%s> needs a <%s> inside", n->name,
			 schedule_vocabulary[e].name);
		r->head_broken = true;
	}
	return c;
}

static char *trimmed(struct arena *a, const char *text)
{
	size_t n;

	text += strspn(text, " \t\r\n");
	n = strlen(text);
	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	return arena_strndup(a, text, n);
}

static void read_clock(struct reader *r, struct xml_node *n)
{
	struct xml_attr *at = xml_get(n, "clock");
	double mhz;

	if (!at)
		return;
	if (parse_double(at->value, &mhz)) {
		attr_identifier(r, n, "clock", &r->s->clock, NULL);
		return;
	}
	if (mhz >= CLOCK_MIN_MHZ && mhz <= CLOCK_MAX_MHZ)
		r->s->clock_mhz = mhz;
	else
		diag_add(r->d, at->value_loc, DIAG_VALUE,
			 "a clock of %s MHz is out of range; %g to %g are accepted",
			 clipped(r, at->value), CLOCK_MIN_MHZ, CLOCK_MAX_MHZ);
}

static void read_schedule(struct reader *r, struct xml_node *root)
{
	static const char *const waits[] = {"auto", "written"};
	struct schedule *s = r->s;
	struct xml_node *title = child(root, EL_TITLE), *reserve = child(root, EL_RESERVE);
	int v = 0;

	s->loc = root->loc;
	attr_identifier(r, root, "name", &s->name, NULL);
	attr_text(r, root, "target", &s->target_name, &s->target_loc);
	attr_identifier(r, root, "variant", &s->variant, &s->variant_loc);
	attr_word(r, root, "waits", waits, ARRAY_LEN(waits), &v);
	s->auto_waits = v == 0;
	read_clock(r, root);
	s->title = title ? trimmed(r->a, title->text) : "";
	if (reserve) {
		attr_uint(r, reserve, "vgpr", 0, REG_MAX, &s->reserve_vgpr);
		attr_uint(r, reserve, "sgpr", 0, REG_MAX, &s->reserve_sgpr);
	}
}

/* Waves of a GEMM's workgroup: a grid over the tile. */
static void read_wave_grid(struct reader *r, struct xml_node *n)
{
	struct schedule *s = r->s;

	attr_refuse(r, n, "count", "a <gemm> has rows times cols waves");
	if (!attr_need(r, n, "rows", "the waves of a <gemm> share the tile's rows") ||
	    !attr_uint(r, n, "rows", 1, MAX_WAVES, &s->rows) ||
	    !attr_need(r, n, "cols", "the waves of a <gemm> share the tile's columns") ||
	    !attr_uint(r, n, "cols", 1, MAX_WAVES, &s->cols)) {
		r->head_broken = true;
		return;
	}
	s->waves = s->rows * s->cols;
	if (s->waves > MAX_WAVES) {
		diag_add(r->d, n->loc, DIAG_VALUE,
			 "%u rows times %u columns are %u waves; a workgroup has at most %d",
			 s->rows, s->cols, s->waves, MAX_WAVES);
		r->head_broken = true;
	}
}

static void read_gap(struct reader *r, struct xml_node *n)
{
	static const char *const words[] = {"0", "1", "2", "written"};
	struct schedule *s = r->s;
	int v = s->groups == 2;

	s->gap = (unsigned)v;
	if (!attr_word(r, n, "gap", words, ARRAY_LEN(words), &v))
		return;
	s->gap_written = v == 3;
	s->gap = s->gap_written ? 0 : (unsigned)v;
	if (v && s->groups == 1)
		diag_add(r->d, attr_loc(n, "gap"), DIAG_VALUE,
			 "a gap needs two groups; there is one");
	else if (s->gap && s->groups != 2)
		diag_fix(diag_add(r->d, attr_loc(n, "gap"), DIAG_VALUE,
				  "a gap is between two groups; there are %u", s->groups),
			 "write gap=\"written\" and the barriers that hold each group back");
}

static void read_waves(struct reader *r, struct xml_node *n)
{
	struct schedule *s = r->s;

	s->waves_loc = n->loc;
	s->groups = 1;
	if (!attr_uint(r, n, "groups", 1, MAX_GROUPS, &s->groups))
		r->head_broken = true;
	if (s->gemm) {
		read_wave_grid(r, n);
	} else {
		attr_refuse(r, n, "rows", "a <kernel> counts its waves: count=\"8\"");
		attr_refuse(r, n, "cols", "a <kernel> counts its waves: count=\"8\"");
		s->rows = 1;
		if (!attr_need(r, n, "count", "it is the number of waves of a workgroup") ||
		    !attr_uint(r, n, "count", 1, MAX_WAVES, &s->waves))
			r->head_broken = true;
		s->cols = s->waves;
	}
	if (r->head_broken)
		return;
	if (s->waves % s->groups) {
		diag_add(r->d, n->loc, DIAG_SHAPE, "%u waves can't be cut into %u equal groups",
			 s->waves, s->groups);
		r->head_broken = true;
	}
	read_gap(r, n);
}

static uint64_t div_up(int64_t a, unsigned b)
{
	return (uint64_t)((a + b - 1) / b);
}

static void read_cluster(struct reader *r, struct xml_node *n)
{
	struct schedule *s = r->s;

	s->cluster_rows = s->cluster_cols = 1;
	if (!n || !attr_uint(r, n, "rows", 1, CLUSTER_MAX, &s->cluster_rows) ||
	    !attr_uint(r, n, "cols", 1, CLUSTER_MAX, &s->cluster_cols) || r->head_broken)
		return;
	if (!s->gemm) {
		if (s->workgroups % (s->cluster_rows * s->cluster_cols))
			diag_add(r->d, n->loc, DIAG_SHAPE,
				 "%llu workgroups can't be cut into clusters of %u",
				 (unsigned long long)s->workgroups,
				 s->cluster_rows * s->cluster_cols);
		return;
	}
	if (div_up(s->m, s->tile_m) % s->cluster_rows || div_up(s->n, s->tile_n) % s->cluster_cols)
		diag_add(r->d, n->loc, DIAG_SHAPE,
			 "a grid of %llu by %llu workgroups can't be cut into clusters of "
			 "%u by %u",
			 (unsigned long long)div_up(s->m, s->tile_m),
			 (unsigned long long)div_up(s->n, s->tile_n), s->cluster_rows,
			 s->cluster_cols);
}

static bool read_sizes(struct reader *r, struct xml_node *n, struct xml_node *tile)
{
	static const char *const names[] = {"m", "n", "k"};
	struct schedule *s = r->s;
	int64_t *const size[] = {&s->m, &s->n, &s->k};
	unsigned *const part[] = {&s->tile_m, &s->tile_n, &s->tile_k};
	bool good = true;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		good &= xml_int(n, names[i], false, 1, SIZE_MAX_ELEMENTS, size[i], r->d);
		good &= tile && attr_uint(r, tile, names[i], 1, TILE_MAX, part[i]);
	}
	return good;
}

static void read_type(struct reader *r, struct xml_node *n, const char *name, enum dtype *out)
{
	const char *words[DT_COUNT];
	int v;

	for (int t = 0; t < DT_COUNT; t++)
		words[t] = dtype_name((enum dtype)t);
	if (attr_word(r, n, name, words, DT_COUNT, &v))
		*out = (enum dtype)v;
}

/* Each wave must own whole rows and columns of the tile. */
static void check_wave_tile(struct reader *r)
{
	const struct schedule *s = r->s;

	if (r->head_broken)
		return;
	if (s->tile_m % s->rows)
		diag_add(r->d, s->waves_loc, DIAG_SHAPE,
			 "the %u rows of the tile can't be cut into %u equal wave rows", s->tile_m,
			 s->rows);
	if (s->tile_n % s->cols)
		diag_add(r->d, s->waves_loc, DIAG_SHAPE,
			 "the %u columns of the tile can't be cut into %u equal wave columns",
			 s->tile_n, s->cols);
}

static void read_gemm(struct reader *r, struct xml_node *n)
{
	struct schedule *s = r->s;
	struct xml_node *tile = need_child(r, n, EL_TILE), *waves = need_child(r, n, EL_WAVES);
	struct xml_node *matrix = need_child(r, n, EL_MATRIX);

	r->has_matrix = true;
	s->gemm = true;
	s->tile_loc = tile ? tile->loc : n->loc;
	read_type(r, n, "a", &s->type_a);
	read_type(r, n, "b", &s->type_b);
	read_type(r, n, "acc", &s->type_acc);
	read_type(r, n, "out", &s->type_out);
	attr_flag(r, n, "scaled", &s->scaled);
	if (!read_sizes(r, n, tile))
		r->head_broken = true;
	if (!r->head_broken) {
		s->workgroups = div_up(s->m, s->tile_m) * div_up(s->n, s->tile_n);
		s->flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
		r->ksteps = (int64_t)div_up(s->k, s->tile_k);
	}
	s->reuse = 1;
	if (waves)
		read_waves(r, waves);
	if (matrix)
		attr_mnemonic(r, matrix, "op", &s->matrix_op, &s->matrix_loc);
	check_wave_tile(r);
	read_cluster(r, child(n, EL_CLUSTER));
}

static void read_kernel(struct reader *r, struct xml_node *n)
{
	struct schedule *s = r->s;
	struct xml_node *waves = need_child(r, n, EL_WAVES), *matrix = child(n, EL_MATRIX);
	int64_t workgroups;

	r->has_matrix = matrix != NULL;
	if (xml_int(n, "workgroups", false, 1, WORKGROUPS_MAX, &workgroups, r->d))
		s->workgroups = (uint64_t)workgroups;
	else
		r->head_broken = true;
	xml_double(n, "flops", false, 0, WORK_MAX, &s->flops, r->d);
	xml_double(n, "bytes", false, 0, WORK_MAX, &s->bytes, r->d);
	s->reuse = 1;
	xml_double(n, "reuse", false, 1, REUSE_MAX, &s->reuse, r->d);
	if (waves)
		read_waves(r, waves);
	if (matrix)
		attr_mnemonic(r, matrix, "op", &s->matrix_op, &s->matrix_loc);
	read_cluster(r, child(n, EL_CLUSTER));
}

static void read_shape(struct reader *r, struct xml_node *root)
{
	struct xml_node *gemm = child(root, EL_GEMM), *kernel = child(root, EL_KERNEL);

	r->s->groups = r->s->waves = r->s->rows = r->s->cols = 1;
	r->s->shape_loc = gemm ? gemm->loc : kernel ? kernel->loc : root->loc;
	if (gemm && kernel)
		diag_note(diag_add(r->d, kernel->loc, DIAG_ELEMENT,
				   "a schedule has a <gemm> or a <kernel>, not both"),
			  gemm->loc, "the <gemm> is here");
	if (gemm)
		read_gemm(r, gemm);
	else if (kernel)
		read_kernel(r, kernel);
	else
		diag_add(r->d, root->loc, DIAG_ELEMENT,
			 "<schedule> needs a <gemm> or a <kernel> inside");
	if (!gemm && !kernel)
		r->head_broken = true;
}

static void read_document(struct schedule *s, struct diag *d)
{
	struct reader *r = arena_alloc(s->arena, 1, sizeof(*r));
	struct xml_node *root = xml_parse(s->src, s->arena, d);
	size_t errors;

	if (!root)
		return;
	r->s = s;
	r->d = d;
	r->a = s->arena;
	if (element_of(root) != EL_SCHEDULE) {
		diag_fix(diag_add(d, root->loc, DIAG_ELEMENT,
				  "the document is a <%s>, not a <schedule>",
				  clipped(r, root->name)),
			 "the outermost element must be <schedule>");
		return;
	}
	vocabulary_check(r, root);
	errors = d->errors;
	read_schedule(r, root);
	read_shape(r, root);
	read_declarations(r, root);
	r->decl_broken = r->names_broken || d->errors != errors;
	for (size_t i = 0; i < r->npatched; i++)
		r->decl_broken = r->decl_broken || element_of(r->patched[i]) < EL_PROLOGUE;
	read_sections(r, root);
}

struct schedule *schedule_parse(struct src *src, struct diag *d)
{
	struct arena *a = arena_new();
	struct schedule *s = arena_alloc(a, 1, sizeof(*s));
	size_t errors = d->errors;

	s->arena = a;
	s->src = src;
	read_document(s, d);
	if (d->errors == errors)
		return s;
	/* The findings point into the text. */
	diag_keep(d, src);
	s->src = NULL;
	schedule_free(s);
	return NULL;
}

void schedule_free(struct schedule *s)
{
	if (!s)
		return;
	src_free(s->src);
	arena_free(s->arena);
}
