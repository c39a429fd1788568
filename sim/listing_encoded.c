/* Encoded instructions of a listing (.long in code): disassembled, then read as the text that they stand for. */
#include "listing_internal.h"

#include <stdlib.h>
#include <string.h>

#include "codeobj.h"

#define MAX_CODE_BYTES 16

static const char *processor(enum isa isa)
{
	switch (isa) {
	case ISA_942: return "gfx942";
	case ISA_950: return "gfx950";
	case ISA_1250: return "gfx1250";
	}
	return "";
}

/* A source in the arena: only the reader looks into it. */
static struct src *arena_source(struct reader *r, const char *text)
{
	struct src *s = arena_alloc(r->arena, 1, sizeof(*s));

	s->path = r->src->path;
	s->text = arena_strdup(r->arena, text);
	s->len = strlen(text);
	s->line_start = arena_alloc(r->arena, 1, sizeof(*s->line_start));
	s->nlines = 1;
	return s;
}

/* What points into the disassembled text points at the line of the listing instead. */
static void move_places(struct reader *r, size_t insn, size_t finding, struct loc place)
{
	for (size_t i = finding; i < r->d->n; i++) {
		struct finding *f = &r->d->list[i];

		f->loc = place;
		for (size_t k = 0; k < f->nnotes; k++)
			f->notes[k].loc = place;
	}
	for (; insn < r->n && insn < PROG_MAX_INSNS; insn++) {
		r->insns[insn].loc = place;
		for (const struct operand_list *l = r->insns[insn].ops; l; l = l->next)
			for (unsigned i = 0; i < l->n; i++) {
				struct operand *o = (struct operand *)&l->o[i]; /* the reader's own still */

				o->begin = place.begin;
				o->end = o->kind == OPERAND_SYMBOL ? place.begin : place.end;
			}
	}
}

/* The branch that was just read goes to a number of words behind itself: settled when all code is there. */
static void keep_branch(struct reader *r, const char *text, struct loc place)
{
	const char *words = strrchr(text, ' ');
	struct encoded_branch *b;

	r->encoded.branch = xgrow(r->encoded.branch, r->encoded.nbranches, &r->encoded.capbranches, sizeof(*r->encoded.branch));
	b = &r->encoded.branch[r->encoded.nbranches++];
	*b = (struct encoded_branch){ .insn = r->fixups[r->nfixups - 1].insn, .words = words ? (int16_t)strtol(words, NULL, 0) : 0,
				      .begin = place.begin, .end = place.end };
	r->fixups[r->nfixups - 1].done = true;
}

static void read_text(struct reader *r, const char *text, size_t bytes, struct loc place)
{
	const struct src *whole = r->src;
	size_t insn = r->n, finding = r->d->n, fixups = r->nfixups;
	struct lexer lx;
	struct line ln;

	r->src = arena_source(r, text);
	lexer_init(&lx, r->src, 0, (uint32_t)r->src->len);
	if (lexer_next(&lx, &ln)) {
		ln.code_bytes = (unsigned)bytes;
		build_insn(r, &lx, &ln);
	}
	lexer_free(&lx);
	r->src = whole;
	move_places(r, insn, finding, place);
	if (r->nfixups > fixups)
		keep_branch(r, text, place);
}

/* Instructions from the bytes that are there; more may come unless last. */
static void drain(struct reader *r, bool last)
{
	struct encoded *e = &r->encoded;
	char text[512];

	while (e->n >= 4) {
		size_t used = codeobj_disassemble(processor(r->isa), e->bytes, e->n, text, sizeof(text));

		if (!used && !last && e->n < MAX_CODE_BYTES)
			return; /* the rest of it is in the next line */
		if (!used) {
			diag_add(r->d, reader_loc(r, e->begin, e->end), DIAG_LISTING, "no instruction of %s is encoded as 0x%02x%02x%02x%02x",
				 r->t->name, e->bytes[3], e->bytes[2], e->bytes[1], e->bytes[0]);
			e->n = 0;
			return;
		}
		read_text(r, text, used, reader_loc(r, e->begin, e->end));
		e->n -= (unsigned)used;
		memmove(e->bytes, e->bytes + used, e->n);
	}
	if (last && e->n) {
		diag_add(r->d, reader_loc(r, e->begin, e->end), DIAG_LISTING, "code is a multiple of 4 bytes, and here are %u", e->n);
		e->n = 0;
	}
}

void encoded_end(struct reader *r)
{
	if (r->encoded.n)
		drain(r, true);
}

static unsigned width_of(const char *key, size_t n)
{
	static const struct { const char *key; unsigned width; } widths[] = {
		{ ".long", 4 }, { ".int", 4 }, { ".4byte", 4 }, { ".word", 4 }, { ".quad", 8 }, { ".8byte", 8 },
		{ ".short", 2 }, { ".2byte", 2 }, { ".byte", 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(widths); i++)
		if (strlen(widths[i].key) == n && !memcmp(widths[i].key, key, n))
			return widths[i].width;
	return 0;
}

bool encoded_words(struct reader *r, const struct lexer *lx, const struct line *ln)
{
	const char *s = lexer_text(lx, ln->args), *all = s;
	unsigned width = width_of(r->src->text + ln->name, ln->name_end - ln->name);
	struct encoded *e = &r->encoded;

	if (!width)
		return false;
	for (; *s; s += strcspn(s, ","), s += *s == ',') {
		int64_t v;

		if (expr_eval(&r->set, s, strcspn(s, ","), &v) < 0) {
			diag_add(r->d, reader_loc(r, ln->begin, ln->end), DIAG_LISTING, "code can be given as numbers only");
			e->n = 0;
			return true;
		}
	}
	if (!codeobj_available()) {
		diag_add(r->d, reader_loc(r, ln->begin, ln->end), DIAG_LISTING,
			 "an encoded instruction can't be read from a listing; give the code object, or the text of a disassembler that knows the target");
		return true;
	}
	if (!e->n && ln->has_address)
		r->here = ln->address;
	for (s = all; *s;) {
		size_t n = strcspn(s, ",");
		int64_t v = 0;

		expr_eval(&r->set, s, n, &v);
		if (!e->n)
			e->begin = ln->begin;
		e->end = ln->end;
		for (unsigned i = 0; i < width; i++)
			e->bytes[e->n++] = (uint8_t)((uint64_t)v >> (8 * i));
		drain(r, false);
		s += n + (s[n] == ',');
	}
	return true;
}

/* Index of the instruction that begins at an address, the number of all for the end of the code; -1: none. */
static int32_t insn_at_address(const struct reader *r, uint64_t address)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->address[mid] < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < r->n)
		return r->address[lo] == address ? (int32_t)lo : -1;
	return address == r->here ? (int32_t)lo : -1;
}

void encoded_branches(struct reader *r)
{
	for (size_t i = 0; i < r->encoded.nbranches; i++) {
		const struct encoded_branch *b = &r->encoded.branch[i];
		uint64_t to = r->address[b->insn] + 4 + (uint64_t)((int64_t)b->words * 4);
		int32_t insn = insn_at_address(r, to);

		if (insn < 0 && to >= r->address[0] && to < r->here)
			diag_add(r->d, reader_loc(r, b->begin, b->end), DIAG_LABEL,
				 "no instruction begins at the address that the branch goes to");
		else
			r->insns[b->insn].target = insn;
	}
	free(r->encoded.branch);
	r->encoded.branch = NULL;
	r->encoded.nbranches = r->encoded.capbranches = 0;
}
