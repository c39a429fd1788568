/* Listings: the text of the chosen kernel, line by line, to a program. */
#include "listing_internal.h"

#include <stdlib.h>
#include <string.h>

bool listing_likely(const struct src *s)
{
	size_t i = 0;

	if (s->len >= 3 && !memcmp(s->text, "\xef\xbb\xbf", 3))
		i = 3;
	while (i < s->len && strchr(" \t\r\n\f\v", s->text[i]) && s->text[i])
		i++;
	return i < s->len && s->text[i] != '<';
}

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

/* ---- labels and directives of the part that is read ---- */

static bool number_label(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return n > 0;
}

static void read_label(struct reader *r, const struct line *ln, bool inside)
{
	const char *name = r->src->text + ln->name;
	size_t n = ln->name_end - ln->name;
	struct symtab *t = inside ? &r->label : &r->outside;
	struct symbol *s = symtab_find(t, name, n);

	if (inside && ln->has_address)
		r->here = ln->address;
	if (s && inside && !number_label(name, n)) {
		struct finding *f = diag_add(r->d, reader_loc(r, ln->name, ln->name_end), DIAG_LABEL, "label %.*s is defined twice",
					     n > 100 ? 100 : (int)n, name);

		diag_note(f, reader_loc(r, (uint32_t)(s->name - r->src->text), (uint32_t)(s->name - r->src->text) + s->len),
			  "it is defined here too");
		return;
	}
	s = symtab_add(t, name, n);
	s->defined = true;
	s->value = (int64_t)r->n;
	if (inside)
		resolve_forward(r, name, n);
}

static void read_symbol(struct reader *r, const struct line *ln, uint32_t name, size_t n, const char *expr)
{
	struct symbol *s;
	int64_t v;
	int rc = expr_eval(&r->set, expr, strlen(expr), &v);

	(void)ln;
	s = symtab_add(&r->set, r->src->text + name, n);
	s->defined = rc == 0; /* others are an error where they are used */
	s->value = v;
}

static bool is_one_of(const char *s, size_t n, const char *const *words, size_t nwords)
{
	for (size_t i = 0; i < nwords; i++)
		if (is(s, n, words[i]))
			return true;
	return false;
}

static void read_directive(struct reader *r, const struct lexer *lx, const struct line *ln, bool inside)
{
	static const char *const macros[] = { ".macro", ".rept", ".irp", ".irpc", ".if", ".ifdef", ".ifndef", ".else", ".elseif", ".include",
					      ".incbin", ".endm", ".endr", ".endif" };
	const char *key = r->src->text + ln->name, *args = lexer_text(lx, ln->args), *comma;
	size_t n = ln->name_end - ln->name, k = 0;

	while (ident_char(args[k]))
		k++;
	if (is(key, n, ".set") || is(key, n, ".equ") || is(key, n, ".equiv")) {
		comma = strchr(args + k, ',');
		if (k && comma)
			read_symbol(r, ln, ln->args, k, comma + 1);
	} else if (is(key, n, ".text")) {
		r->in_text = true;
	} else if (is(key, n, ".section") || is(key, n, ".pushsection")) {
		r->in_text = section_is_text(args, strlen(args));
	} else if (is(key, n, ".data") || is(key, n, ".bss") || is(key, n, ".rodata")) {
		r->in_text = false;
	} else if (inside && r->in_text && encoded_words(r, lx, ln)) {
		return;
	} else if (inside && is_one_of(key, n, macros, ARRAY_LEN(macros))) {
		diag_add(r->d, reader_loc(r, ln->begin, ln->end), DIAG_LISTING,
			 "%.*s is for an assembler: assemble the file, and give the code object or its disassembly", (int)n, key);
	}
}

/* ---- the reader ---- */

static void skip_metadata(struct reader *r, struct lexer *lx)
{
	const char *text = r->src->text, *end;

	if (lx->pos >= lx->limit)
		return;
	end = strstr(text + lx->pos, ".end_amdgpu_metadata");
	lx->pos = end && end < text + lx->limit ? (uint32_t)(end - text) : lx->limit;
}

/* Assignments count from the top of the file on, instructions and labels inside [begin, end) only. */
static void read_lines(struct reader *r, uint32_t begin, uint32_t end)
{
	struct lexer lx;
	struct line ln;

	r->in_text = true;
	lexer_init(&lx, r->src, 0, (uint32_t)r->src->len);
	while (lexer_next(&lx, &ln)) {
		bool inside = ln.begin >= begin && ln.begin < end;
		size_t n = ln.name_end - ln.name;

		if (r->encoded.n && ln.kind != LINE_DIRECTIVE)
			encoded_end(r);
		switch (ln.kind) {
		case LINE_LABEL:
			read_label(r, &ln, inside);
			break;
		case LINE_ASSIGN:
			read_symbol(r, &ln, ln.name, n, lexer_text(&lx, ln.args));
			break;
		case LINE_DIRECTIVE:
			if (is(r->src->text + ln.name, n, ".amdgpu_metadata"))
				skip_metadata(r, &lx);
			else
				read_directive(r, &lx, &ln, inside);
			break;
		case LINE_INSN:
			if (inside && r->in_text)
				build_insn(r, &lx, &ln);
			break;
		case LINE_EMPTY:
			break;
		}
	}
	encoded_end(r);
	if (lx.in_comment)
		diag_add(r->d, reader_loc(r, lx.comment_begin, lx.comment_begin + 2), DIAG_LISTING, "a comment is not closed");
	lexer_free(&lx);
}

/* A disassembler shows the fill behind the last instruction too. */
static void drop_padding(struct reader *r)
{
	size_t n = r->n;

	while (n && r->insns[n - 1].cls == OPC_NOP)
		n--;
	if (!n || (r->insns[n - 1].cls != OPC_END &&
		   (r->insns[n - 1].cls != OPC_BRANCH || r->insns[n - 1].flags & INSN_CONDITIONAL)))
		return;
	for (size_t i = 0; i < r->nfixups; i++)
		if (r->insns[r->fixups[i].insn].target >= (int32_t)n)
			return;
	r->n = n;
}

/* A program ends with END, and what jumps behind the last instruction ends it too. */
static void end_program(struct reader *r)
{
	bool needed = r->insns[r->n - 1].cls != OPC_END;
	struct insn *in;

	for (size_t i = 0; i < r->nfixups && !needed; i++)
		needed = r->insns[r->fixups[i].insn].target == (int32_t)r->n;
	if (!needed)
		return;
	build_room(r);
	in = &r->insns[r->n];
	*in = (struct insn){ .cls = OPC_END, .op = "s_endpgm", .groups = 1, .counter = -1, .repeat = 1, .access = -1, .loop = -1,
			     .target = -1, .size = 4, .flags = INSN_IMPLIED, .loc = r->insns[r->n - 1].loc };
	r->n++;
}

static struct program *make_program(struct reader *r, const struct listing_info *info)
{
	struct program *p = r->p;
	unsigned wave = (unsigned)r->t->v.wave_size;

	p->target = r->t;
	p->name = info->kernel[0] ? info->kernel : "listing";
	p->insns = r->insns;
	p->ninsns = r->n;
	p->stages = arena_alloc(r->arena, 1, sizeof(*p->stages));
	p->stages[0] = (struct stage){ .name = p->name, .kind = STAGE_PLAIN, .loc = r->insns[0].loc };
	p->nstages = 1;
	p->groups = 1;
	p->waves = r->o->waves ? r->o->waves : 1;
	if (info->workgroup_threads)
		p->waves = (info->workgroup_threads + wave - 1) / wave;
	if (p->waves < 1 || p->waves > PROG_MAX_WAVES)
		p->waves = p->waves ? PROG_MAX_WAVES : 1;
	for (unsigned g = 0; g < PROG_MAX_GROUPS; g++)
		p->main_loop[g] = -1;
	p->workgroups = 1;
	p->cluster_workgroups = 1;
	p->vgpr = info->vgpr;
	p->agpr = info->agpr;
	p->sgpr = info->sgpr;
	p->lds_bytes = info->lds_bytes;
	return p;
}

static void reader_free(struct reader *r)
{
	free(r->address);
	free(r->fixups);
	free(r->encoded.branch);
	free(r->kernels.list);
	rows_free(r);
	symtab_free(&r->set);
	symtab_free(&r->label);
	symtab_free(&r->outside);
	symtab_free(&r->forward);
}

/* What the text does not say is taken from the instructions. */
static void complete_info(const struct reader *r, struct listing_info *info)
{
	if (!info->vgpr && !info->agpr) {
		info->vgpr = r->max_vgpr;
		info->agpr = r->max_agpr;
	}
	if (!info->sgpr)
		info->sgpr = r->max_sgpr;
	info->unknown = r->unknown;
}

/* The kernel's text to instructions; 0, or -1 after a finding. */
static int read_kernel(struct reader *r, struct listing_info *info)
{
	uint32_t begin = 0, end = (uint32_t)r->src->len;
	struct kernel *k;
	bool whole;

	kernels_scan(r);
	k = kernels_choose(r, &whole);
	if (!k && !whole)
		return -1;
	info->kernel = "";
	launch_defaults(r, &info->launch);
	if (k) {
		*info = k->info;
		info->kernel = k->name;
		begin = k->begin;
		end = k->end;
	}
	read_lines(r, begin, end);
	if (r->n <= PROG_MAX_INSNS - 1)
		encoded_branches(r);
	if (r->n > PROG_MAX_INSNS - 1 || r->d->errors > r->errors_before)
		return -1;
	if (!r->n) {
		diag_add(r->d, k ? k->loc : reader_loc(r, 0, r->src->len ? 1 : 0), DIAG_LISTING, "the listing holds no instruction");
		return -1;
	}
	resolve_branches(r);
	if (r->o->keep_operands)
		resolve_kept(r);
	return r->d->errors > r->errors_before ? -1 : 0;
}

struct program *listing_parse(const struct src *s, const struct target *t, const struct listing_options *o,
			      struct listing_info *info, struct diag *d)
{
	static const struct listing_options none = { 0 };
	struct listing_info own = { 0 };
	struct reader r = { .src = s, .t = t, .o = o ? o : &none, .d = d, .isa = isa_of_target(t), .errors_before = d->errors };
	struct program *p = NULL;

	r.arena = arena_new();
	r.p = arena_alloc(r.arena, 1, sizeof(*r.p));
	r.p->arena = r.arena;
	if (read_kernel(&r, &own) == 0) {
		drop_padding(&r);
		end_program(&r);
		complete_info(&r, &own);
		p = make_program(&r, &own);
	}
	if (info)
		*info = own;
	if (!p) {
		if (info)
			info->kernel = "";
		arena_free(r.arena);
	}
	reader_free(&r);
	return p;
}
