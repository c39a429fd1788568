/* Lines of a listing: comments cut off, labels, directives and instructions told apart. */
#include "listing_internal.h"

#include <stdlib.h>
#include <string.h>

void lexer_init(struct lexer *lx, const struct src *s, uint32_t from, uint32_t limit)
{
	*lx = (struct lexer){ .src = s, .pos = from, .limit = limit };
}

void lexer_free(struct lexer *lx)
{
	free(lx->clean);
	lx->clean = NULL;
}

const char *lexer_text(const struct lexer *lx, uint32_t from)
{
	return lx->clean + (from - lx->clean_at);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The comment of a disassembler: " 000000001900: BF8C0F70 00000018". */
static void read_address(const char *s, const char *end, struct line *ln)
{
	uint64_t v = 0;
	unsigned n = 0;

	while (s < end && blank(*s))
		s++;
	for (; s < end && n < 16 && hex(*s) >= 0; s++, n++)
		v = v << 4 | (uint64_t)hex(*s);
	if (n < 4 || s >= end || *s != ':')
		return;
	ln->has_address = true;
	ln->address = v;
	for (s++; ln->code_bytes < 16; ln->code_bytes += 4) {
		while (s < end && blank(*s))
			s++;
		for (n = 0; s < end && hex(*s) >= 0; s++)
			n++;
		if (n != 8)
			break;
	}
}

/* Characters that begin or end a comment or a string. */
static const bool special[256] = { [';'] = true, ['/'] = true, ['"'] = true };

/* Copy [pos, end of line) with comments blanked out. Returns the length without trailing blanks. */
static size_t clean_line(struct lexer *lx, uint32_t begin, uint32_t end, struct line *ln)
{
	const char *s = lx->src->text + begin;
	size_t n = end - begin, i = 0, used = 0;
	bool quoted = false;
	char *out;

	if (n + 1 > lx->clean_cap) {
		lx->clean_cap = n + 1 > 256 ? (n + 1) * 2 : 256;
		free(lx->clean);
		lx->clean = xmalloc(lx->clean_cap);
	}
	out = lx->clean;
	lx->clean_at = begin;
	while (i < n) {
		if (!lx->in_comment) { /* a run of characters that mean nothing here */
			size_t from = i;

			while (i < n && !special[(unsigned char)s[i]])
				i++;
			memcpy(out + from, s + from, i - from);
			for (size_t k = i; k > from; k--)
				if (!blank(s[k - 1])) {
					used = k;
					break;
				}
			if (i >= n)
				break;
		}
		if (lx->in_comment) {
			bool closed = s[i] == '*' && i + 1 < n && s[i + 1] == '/';

			out[i++] = ' ';
			if (closed) {
				out[i++] = ' ';
				lx->in_comment = false;
			}
			continue;
		}
		if (!quoted && (s[i] == ';' || (s[i] == '/' && i + 1 < n && s[i + 1] == '/'))) {
			if (s[i] == '/')
				read_address(s + i + 2, s + n, ln);
			break;
		}
		if (!quoted && s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
			lx->in_comment = true;
			lx->comment_begin = begin + (uint32_t)i;
			out[i] = out[i + 1] = ' ';
			i += 2;
			continue;
		}
		if (s[i] == '"' && (i == 0 || s[i - 1] != '\\'))
			quoted = !quoted;
		out[i] = s[i];
		if (!blank(s[i]))
			used = i + 1;
		i++;
	}
	out[used] = '\0';
	return used;
}

/* "0000000000001900 <name>:" and "<name>:" of a disassembler. */
static bool disassembler_label(const char *s, size_t n, uint32_t at, struct line *ln)
{
	uint64_t v = 0;
	size_t i = 0, digits = 0, open;

	for (; i < n && digits < 16 && hex(s[i]) >= 0; i++, digits++)
		v = v << 4 | (uint64_t)hex(s[i]);
	while (i < n && blank(s[i]))
		i++;
	if (i + 3 > n || s[i] != '<' || s[n - 1] != ':' || s[n - 2] != '>' || n - 2 <= i + 1)
		return false;
	open = i + 1;
	ln->kind = LINE_LABEL;
	ln->name = at + (uint32_t)open;
	ln->name_end = at + (uint32_t)n - 2;
	ln->header = digits > 0;
	if (digits) {
		ln->has_address = true;
		ln->address = v;
	}
	return true;
}

/* Lines that a disassembler prints around the code. */
static bool disassembler_noise(const char *s, size_t n)
{
	static const char section[] = "Disassembly of section ";
	const char *format;

	if (n >= sizeof(section) - 1 && !memcmp(s, section, sizeof(section) - 1))
		return true;
	if (n == 3 && !memcmp(s, "...", 3))
		return true;
	format = strstr(s, "file format elf");
	return format && format > s + 1 && blank(format[-1]) && memchr(s, ':', (size_t)(format - s));
}

/* One statement at s[0..n); returns the bytes used (a label ends in front of what follows it). */
static size_t classify(const char *s, size_t n, uint32_t at, bool first, struct line *ln)
{
	size_t i = 0, j;

	ln->begin = at;
	ln->end = at + (uint32_t)n;
	if (first && disassembler_label(s, n, at, ln))
		return n;
	if (first && (s[0] == '#' || disassembler_noise(s, n))) {
		ln->kind = LINE_EMPTY;
		return n;
	}
	while (i < n && ident_char(s[i]))
		i++;
	for (j = i; j < n && blank(s[j]); j++)
		;
	ln->name = at;
	ln->name_end = at + (uint32_t)i;
	ln->args = at + (uint32_t)j;
	if (i && j < n && s[j] == ':' && (j + 1 >= n || s[j + 1] != ':')) {
		ln->kind = LINE_LABEL;
		ln->end = at + (uint32_t)j + 1;
		return j + 1;
	}
	if (i && j < n && s[j] == '=' && (j + 1 >= n || s[j + 1] != '=')) {
		ln->kind = LINE_ASSIGN;
		ln->args = at + (uint32_t)j + 1;
		return n;
	}
	ln->kind = i && s[0] == '.' ? LINE_DIRECTIVE : LINE_INSN;
	if (!i) { /* no word: the line itself is the mnemonic that nobody knows */
		for (i = 0; i < n && !blank(s[i]); i++)
			;
		ln->name_end = at + (uint32_t)i;
		ln->args = at + (uint32_t)n;
	}
	return n;
}

/* A line that is sure to hold one instruction and nothing else: it begins with a word that no colon follows. */
static bool plain_insn(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && blank(s[i]))
		i++;
	if (i >= n || s[i] == '.' || !ident_start(s[i]))
		return false;
	while (i < n && ident_char(s[i]))
		i++;
	while (i < n && blank(s[i]))
		i++;
	return (i >= n || s[i] != ':') && !memchr(s + i, '*', n - i); /* a comment that may go on */
}

/* Make the next source line the current one; false at the end. */
static bool next_line(struct lexer *lx)
{
	const char *text = lx->src->text, *nl;
	uint32_t at = lx->pos, end;

	for (;;) {
		if (at >= lx->limit)
			return false;
		nl = memchr(text + at, '\n', lx->limit - at);
		end = nl ? (uint32_t)(nl - text) : lx->limit;
		if (!lx->skip_insns || lx->in_comment || !plain_insn(text + at, end - at))
			break;
		at = end + 1;
	}
	lx->whole = (struct line){ .kind = LINE_EMPTY };
	lx->clean_len = clean_line(lx, at, end, &lx->whole);
	lx->clean_pos = 0;
	lx->pos = end + 1;
	return true;
}

bool lexer_next(struct lexer *lx, struct line *ln)
{
	for (;;) {
		bool first = lx->clean_pos == 0;
		size_t skip = lx->clean_pos;

		while (skip < lx->clean_len && blank(lx->clean[skip]))
			skip++;
		if (skip >= lx->clean_len) {
			if (!next_line(lx))
				return false;
			continue;
		}
		*ln = lx->whole;
		lx->clean_pos = skip + classify(lx->clean + skip, lx->clean_len - skip, lx->clean_at + (uint32_t)skip,
						first, ln);
		if (ln->kind != LINE_EMPTY)
			return true;
	}
}
