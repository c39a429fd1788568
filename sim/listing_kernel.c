/* Functions and kernels of a listing, and what directives and metadata say about them. */
#include "listing_internal.h"

#include <stdlib.h>
#include <string.h>

struct loc reader_loc(const struct reader *r, uint32_t begin, uint32_t end)
{
	return (struct loc){ r->src, begin, end };
}

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

#define MAX_KERNELS 4096

static struct kernel *kernel_find(struct reader *r, const char *name, size_t n)
{
	struct symbol *s = symtab_find(&r->outside, name, n);

	return s && s->defined ? &r->kernels.list[s->value] : NULL;
}

/* r->outside doubles as the index of the list while the text is scanned. */
static struct kernel *kernel_get(struct reader *r, const char *name, size_t n)
{
	struct kernel *k = kernel_find(r, name, n);
	struct symbol *s;

	if (k || r->kernels.n >= MAX_KERNELS)
		return k;
	r->kernels.list = xgrow(r->kernels.list, r->kernels.n, &r->kernels.cap, sizeof(*r->kernels.list));
	k = &r->kernels.list[r->kernels.n];
	*k = (struct kernel){ .name = arena_strndup(r->arena, name, n) };
	launch_defaults(r, &k->info.launch);
	s = symtab_add(&r->outside, k->name, n);
	s->defined = true;
	s->value = (int64_t)r->kernels.n++;
	return k;
}

/* "foo,@function" or "foo, @function": length of the first word. */
static size_t first_word(const char *s)
{
	size_t n = 0;

	while (ident_char(s[n]))
		n++;
	return n;
}

/* ---- directives ---- */

struct scan {
	struct reader *r;
	int32_t body;        /* function whose text runs, index; -1: none */
	int32_t described;   /* kernel of the descriptor block, -1 */
	bool text;
};

bool section_is_text(const char *s, size_t n)
{
	if (n && s[0] == '"') {
		s++;
		n--;
	}
	return n >= 5 && !memcmp(s, ".text", 5) && (n == 5 || s[5] == '.' || s[5] == ',' || s[5] == '"' || blank(s[5]));
}

/* What each directive of the descriptor sets. */
static void describe(struct scan *sc, const char *key, size_t n, const char *args)
{
	struct kernel *k = &sc->r->kernels.list[sc->described];
	int64_t v;

	if (expr_eval(&sc->r->set, args, strlen(args), &v) < 0 || v < 0 || v > INT32_MAX)
		return; /* sums that only the assembler knows; the metadata has the result */
	if (launch_directive(&k->info.launch, key, n, v))
		return;
	if (is(key, n, ".amdhsa_group_segment_fixed_size"))
		k->info.lds_bytes = (unsigned)v;
	else if (is(key, n, ".amdhsa_private_segment_fixed_size"))
		k->info.scratch_bytes = (unsigned)v;
	else if (is(key, n, ".amdhsa_next_free_vgpr"))
		k->total_vgpr = (unsigned)v;
	else if (is(key, n, ".amdhsa_next_free_sgpr") && !k->info.sgpr)
		k->info.sgpr = (unsigned)v;
	else if (is(key, n, ".amdhsa_accum_offset"))
		k->accum_offset = (unsigned)v;
}

static void set_symbol(struct reader *r, const char *name, size_t n, const char *expr)
{
	struct symbol *s;
	int64_t v;
	int rc = expr_eval(&r->set, expr, strlen(expr), &v);

	s = symtab_add(&r->set, name, n);
	s->defined = rc == 0;
	s->value = v;
}

static void scan_directive(struct scan *sc, const struct lexer *lx, const struct line *ln)
{
	const char *text = sc->r->src->text, *key = text + ln->name, *args = lexer_text(lx, ln->args), *comma;
	size_t n = ln->name_end - ln->name, k = first_word(args);
	struct kernel *kernel;

	if (is(key, n, ".text")) {
		sc->text = true;
	} else if (is(key, n, ".section") || is(key, n, ".pushsection")) {
		sc->text = section_is_text(args, strlen(args));
	} else if (is(key, n, ".data") || is(key, n, ".bss") || is(key, n, ".rodata")) {
		sc->text = false;
	} else if (is(key, n, ".type") && k && strstr(args + k, "function")) {
		kernel_get(sc->r, args, k);
	} else if (is(key, n, ".amdhsa_kernel") && k) {
		kernel = kernel_get(sc->r, args, k);
		if (kernel) {
			kernel->is_kernel = true;
			sc->described = (int32_t)(kernel - sc->r->kernels.list);
		}
	} else if (is(key, n, ".end_amdhsa_kernel")) {
		sc->described = -1;
	} else if (sc->described >= 0 && n > 8 && !memcmp(key, ".amdhsa_", 8)) {
		describe(sc, key, n, args);
	} else if ((is(key, n, ".set") || is(key, n, ".equ")) && k && (comma = strchr(args + k, ','))) {
		set_symbol(sc->r, text + ln->args, k, comma + 1);
	}
}

/* ---- metadata: the lines of "amdhsa.kernels", by indentation ---- */

struct yaml_kernel {
	struct listing_info info;
	const char *name;
	size_t name_len;
	enum { LIST_OTHER, LIST_ARGS, LIST_SIZE, LIST_CLUSTER } list; /* what the deeper lines belong to */
	unsigned dim;
};

static void yaml_store(struct reader *r, const struct yaml_kernel *y)
{
	struct kernel *k = y->name_len ? kernel_get(r, y->name, y->name_len) : NULL;
	struct listing_launch launch;

	if (!k)
		return;
	k->is_kernel = true;
	launch = k->info.launch;
	launch_merge(&launch, &y->info.launch);
	k->info = y->info;
	k->info.launch = launch;
	if (k->info.agpr <= k->info.vgpr) /* the count is of both files together */
		k->info.vgpr -= k->info.agpr;
}

/* "[ 64, 1, 1 ]" behind a key of sizes. */
static void yaml_sizes(struct yaml_kernel *y, const char *s, size_t n)
{
	unsigned *size = y->list == LIST_SIZE ? y->info.launch.reqd_size : y->info.launch.cluster;

	for (size_t i = 1, k; i < n; i = k + 1) {
		while (i < n && s[i] == ' ')
			i++;
		for (k = i; k < n && s[k] != ',' && s[k] != ']' && s[k] != ' '; k++)
			;
		if (k > i)
			launch_size(size, &y->dim, s + i, k - i);
	}
}

static void yaml_value(struct yaml_kernel *y, const char *key, size_t n, const char *value, size_t len)
{
	struct symtab none = { 0 };
	unsigned *where = NULL;
	int64_t v;

	if (len > 1 && (value[0] == '\'' || value[0] == '"') && value[len - 1] == value[0]) {
		value++;
		len -= 2;
	}
	if (is(key, n, ".name")) {
		y->name = value;
		y->name_len = len;
		return;
	}
	if (is(key, n, ".vgpr_count"))
		where = &y->info.vgpr;
	else if (is(key, n, ".agpr_count"))
		where = &y->info.agpr;
	else if (is(key, n, ".sgpr_count"))
		where = &y->info.sgpr;
	else if (is(key, n, ".vgpr_spill_count"))
		where = &y->info.vgpr_spills;
	else if (is(key, n, ".sgpr_spill_count"))
		where = &y->info.sgpr_spills;
	else if (is(key, n, ".group_segment_fixed_size"))
		where = &y->info.lds_bytes;
	else if (is(key, n, ".private_segment_fixed_size"))
		where = &y->info.scratch_bytes;
	else if (is(key, n, ".max_flat_workgroup_size"))
		where = &y->info.workgroup_threads;
	else if (is(key, n, ".kernarg_segment_size"))
		where = &y->info.launch.kernarg_bytes;
	y->list = is(key, n, ".args") ? LIST_ARGS : is(key, n, ".reqd_workgroup_size") ? LIST_SIZE :
		  is(key, n, ".cluster_dims") ? LIST_CLUSTER : LIST_OTHER;
	y->dim = 0;
	if (len && value[0] == '[' && (y->list == LIST_SIZE || y->list == LIST_CLUSTER))
		yaml_sizes(y, value, len);
	if (where && expr_eval(&none, value, len, &v) == 0 && v >= 0 && v <= INT32_MAX)
		*where = (unsigned)v;
}

/* "key: value" of an argument. */
static void yaml_pair(struct reader *r, struct yaml_kernel *y, const char *s, size_t n)
{
	size_t k = 0, v;

	while (k < n && s[k] != ':')
		k++;
	for (v = k + (k < n); v < n && s[v] == ' '; v++)
		;
	launch_arg_value(r, &y->info.launch, s, k, s + v, n - v);
}

/* A line inside a list of a kernel: s[0..n) without its indentation. */
static void yaml_nested(struct reader *r, struct yaml_kernel *y, const char *s, size_t n)
{
	bool item = n && s[0] == '-';
	size_t k = 0, v;

	if (item)
		for (s++, n--; n && *s == ' '; s++)
			n--;
	if ((y->list == LIST_SIZE || y->list == LIST_CLUSTER) && item)
		launch_size(y->list == LIST_SIZE ? y->info.launch.reqd_size : y->info.launch.cluster, &y->dim, s, n);
	if (y->list != LIST_ARGS)
		return;
	if (item)
		launch_arg_begin(&y->info.launch);
	if (!n || *s != '{') {
		yaml_pair(r, y, s, n);
		return;
	}
	for (s++, n--; n; s += k, n -= k) { /* "{ .offset: 0, .size: 8 }" */
		while (n && (*s == ' ' || *s == ',')) {
			s++;
			n--;
		}
		for (k = 0; k < n && s[k] != ',' && s[k] != '}'; k++)
			;
		if (!k)
			return;
		for (v = k; v && s[v - 1] == ' '; v--)
			;
		yaml_pair(r, y, s, v);
	}
}

/* text[begin, end) lies between .amdgpu_metadata and .end_amdgpu_metadata. */
static void scan_yaml(struct reader *r, uint32_t begin, uint32_t end)
{
	const char *text = r->src->text;
	struct yaml_kernel y = { 0 };
	bool inside = false;
	size_t dash = SIZE_MAX; /* indentation of the items of amdhsa.kernels */

	for (uint32_t at = begin; at < end;) {
		const char *nl = memchr(text + at, '\n', end - at), *s = text + at, *stop = nl ? nl : text + end;
		size_t indent = 0, n = 0;
		const char *v;

		at = nl ? (uint32_t)(nl - text) + 1 : end;
		while (s < stop && *s == ' ') {
			s++;
			indent++;
		}
		while (stop > s && blank(stop[-1]))
			stop--;
		if (s < stop && !indent && *s != '-')
			inside = (size_t)(stop - s) >= 14 && !memcmp(s, "amdhsa.kernels", 14);
		if (!inside || s >= stop)
			continue;
		if (s[0] == '-' && s + 1 < stop && s[1] == ' ' && (dash == SIZE_MAX || indent == dash)) {
			yaml_store(r, &y);
			y = (struct yaml_kernel){ 0 };
			dash = indent;
			for (s++, indent++; s < stop && *s == ' '; s++)
				indent++;
		}
		if (dash != SIZE_MAX && (indent > dash + 2 || (indent == dash + 2 && s < stop && *s == '-')))
			yaml_nested(r, &y, s, (size_t)(stop - s));
		if (dash == SIZE_MAX || indent != dash + 2 || (s < stop && *s == '-'))
			continue;
		while (s + n < stop && s[n] != ':')
			n++;
		for (v = s + n + (s + n < stop); v < stop && *v == ' '; v++)
			;
		yaml_value(&y, s, n, v, (size_t)(stop - v));
	}
	yaml_store(r, &y);
}

/* ---- the scan ---- */

static void scan_label(struct scan *sc, const struct line *ln)
{
	struct reader *r = sc->r;
	const char *name = r->src->text + ln->name;
	size_t n = ln->name_end - ln->name;
	struct kernel *k = ln->header ? kernel_get(r, name, n) : kernel_find(r, name, n);

	if (sc->body >= 0 && (k || (n >= 10 && !memcmp(name, ".Lfunc_end", 10)))) {
		r->kernels.list[sc->body].end = ln->begin;
		sc->body = -1;
	}
	if (!k || k->end)
		return;
	k->begin = ln->begin;
	k->end = r->src->len > UINT32_MAX ? UINT32_MAX : (uint32_t)r->src->len;
	k->loc = reader_loc(r, ln->name, ln->name_end);
	sc->body = (int32_t)(k - r->kernels.list);
}

/* Metadata is no assembler text: scanned as lines, and passed over by the lexer. */
static void skip_yaml(struct reader *r, struct lexer *lx)
{
	static const char stop[] = ".end_amdgpu_metadata";
	const char *text = r->src->text, *end = strstr(text + lx->pos, stop);
	uint32_t to = end ? (uint32_t)(end - text) : lx->limit;

	if (lx->pos >= lx->limit)
		return;
	if (to > lx->limit)
		to = lx->limit;
	scan_yaml(r, lx->pos, to);
	lx->pos = to;
}

static void scan_pass(struct reader *r, bool labels)
{
	struct scan sc = { .r = r, .body = -1, .described = -1, .text = true };
	struct lexer lx;
	struct line ln;

	lexer_init(&lx, r->src, 0, (uint32_t)r->src->len);
	lx.skip_insns = true;
	while (lexer_next(&lx, &ln)) {
		size_t n = ln.name_end - ln.name;

		if (ln.kind == LINE_LABEL && (labels || ln.header))
			scan_label(&sc, &ln);
		if (ln.kind != LINE_DIRECTIVE)
			continue;
		if (is(r->src->text + ln.name, n, ".amdgpu_metadata")) {
			if (!labels)
				skip_yaml(r, &lx);
			else
				lx.pos = (uint32_t)(strstr(r->src->text + lx.pos, ".end_amdgpu_metadata") ?
						    strstr(r->src->text + lx.pos, ".end_amdgpu_metadata") - r->src->text :
						    (ptrdiff_t)lx.limit);
		} else if (!labels) {
			scan_directive(&sc, &lx, &ln);
		}
	}
	lexer_free(&lx);
}

void kernels_scan(struct reader *r)
{
	scan_pass(r, false); /* which symbols are functions: known behind their code only */
	for (size_t i = 0; i < r->kernels.n; i++)
		r->kernels.list[i].begin = r->kernels.list[i].end = 0;
	scan_pass(r, true);
	for (size_t i = 0; i < r->kernels.n; i++) {
		struct kernel *k = &r->kernels.list[i];

		if (!k->info.vgpr && k->total_vgpr) {
			bool split = k->accum_offset && k->accum_offset < k->total_vgpr;

			k->info.vgpr = k->total_vgpr;
			k->info.agpr = split ? k->total_vgpr - k->accum_offset : 0;
		}
	}
	symtab_free(&r->set); /* the reader goes through the assignments in order */
	symtab_free(&r->outside);
}

/* ---- choosing ---- */

static size_t count_kernels(const struct reader *r, bool declared, struct kernel **only)
{
	size_t n = 0;

	for (size_t i = 0; i < r->kernels.n; i++) {
		struct kernel *k = &r->kernels.list[i];

		if (k->begin == k->end || (declared && !k->is_kernel))
			continue;
		*only = k;
		n++;
	}
	return n;
}

static void report_choice(struct reader *r, bool declared, const char *what, struct loc at)
{
	struct strbuf b = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->kernels.n && n < 20; i++) {
		const struct kernel *k = &r->kernels.list[i];

		if (k->begin == k->end || (declared && !k->is_kernel))
			continue;
		strbuf_add(&b, "%s%s", n++ ? ", " : "", k->name);
	}
	diag_add(r->d, at, DIAG_LISTING, "%s: %s", what, b.s ? b.s : "none");
	strbuf_free(&b);
}

static struct kernel *by_name(struct reader *r, const char *name)
{
	size_t n = strlen(name);

	if (n > 3 && !strcmp(name + n - 3, ".kd"))
		n -= 3;
	for (size_t i = 0; i < r->kernels.n; i++) {
		struct kernel *k = &r->kernels.list[i];

		if (k->begin != k->end && is(name, n, k->name))
			return k;
	}
	return NULL;
}

struct kernel *kernels_choose(struct reader *r, bool *whole)
{
	struct loc first = reader_loc(r, 0, r->src->len ? 1 : 0);
	struct kernel *k = NULL;
	bool declared;
	size_t n;

	*whole = false;
	n = count_kernels(r, true, &k);
	declared = n > 0;
	if (!n)
		n = count_kernels(r, false, &k);
	if (r->o->kernel) {
		struct kernel *named = by_name(r, r->o->kernel);
		char *what;

		if (named)
			return named;
		what = xasprintf("there is no kernel %s in the listing; it has", r->o->kernel);
		report_choice(r, declared, what, first);
		free(what);
		return NULL;
	}
	if (n > 1) {
		report_choice(r, declared, "the listing has several kernels, choose one with --kernel", k->loc);
		return NULL;
	}
	*whole = n == 0;
	return k;
}
