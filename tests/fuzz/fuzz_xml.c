/*
 * Any bytes give a tree with exact places, or at least one finding; nothing else. Each value is
 * decoded a second time here from the bytes at its place and must equal what the parser delivered.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "src.h"
#include "util.h"
#include "xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                           \
	do {                                                                                 \
		if (!(what)) {                                                               \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                             \
		}                                                                            \
	} while (0)

static bool place_holds(struct loc l, const char *word)
{
	size_t n = strlen(word);

	return l.src && l.begin <= l.end && l.end <= l.src->len && l.end - l.begin == n &&
	       memcmp(l.src->text + l.begin, word, n) == 0;
}

static void add_utf8(struct strbuf *b, unsigned long cp)
{
	char s[4];

	if (cp < 0x80) {
		s[0] = (char)cp;
		strbuf_addn(b, s, 1);
	} else if (cp < 0x800) {
		s[0] = (char)(0xc0 | cp >> 6);
		s[1] = (char)(0x80 | (cp & 0x3f));
		strbuf_addn(b, s, 2);
	} else if (cp < 0x10000) {
		s[0] = (char)(0xe0 | cp >> 12);
		s[1] = (char)(0x80 | (cp >> 6 & 0x3f));
		s[2] = (char)(0x80 | (cp & 0x3f));
		strbuf_addn(b, s, 3);
	} else {
		s[0] = (char)(0xf0 | cp >> 18);
		s[1] = (char)(0x80 | (cp >> 12 & 0x3f));
		s[2] = (char)(0x80 | (cp >> 6 & 0x3f));
		s[3] = (char)(0x80 | (cp & 0x3f));
		strbuf_addn(b, s, 4);
	}
}

/* One reference at p, of which the document is known to be well-formed; returns its end. */
static const char *add_reference(struct strbuf *b, const char *p)
{
	static const struct {
		const char *name;
		char c;
	} known[] = {
		{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
	char *end;

	if (p[1] == '#') {
		add_utf8(b, p[2] == 'x' ? strtoul(p + 3, &end, 16) : strtoul(p + 2, &end, 10));
		MUST(*end == ';');
		return end + 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strncmp(p, known[i].name, strlen(known[i].name)) == 0) {
			strbuf_addn(b, &known[i].c, 1);
			return p + strlen(known[i].name);
		}
	}
	MUST(false && "a known entity");
	return NULL;
}

static void check_value(const struct xml_attr *attr)
{
	const struct loc l = attr->value_loc;
	const char *p, *end;
	struct strbuf b = {0};

	MUST(l.src && l.begin <= l.end && l.end < l.src->len);
	MUST(l.src->text[l.begin - 1] == l.src->text[l.end]);
	end = l.src->text + l.end;
	for (p = l.src->text + l.begin; p < end;) {
		if (*p == '&') {
			p = add_reference(&b, p);
		} else if (*p == '\r' && p[1] == '\n') {
			p++;
		} else {
			strbuf_addn(&b, strchr("\t\n\r", *p) ? " " : p, 1);
			p++;
		}
	}
	MUST(p == end);
	MUST(strcmp(attr->value, b.s ? b.s : "") == 0);
	strbuf_free(&b);
}

static void check_node(struct xml_node *n, struct diag *d)
{
	static const char *const words[] = {"matrix", "memory", "both"};
	int64_t i = 0;
	double x = 0;
	int w = 0;

	MUST(place_holds(n->loc, n->name));
	MUST(n->text);
	for (size_t k = 0; k < n->nattrs; k++) {
		MUST(place_holds(n->attrs[k].name_loc, n->attrs[k].name));
		check_value(&n->attrs[k]);
	}
	if (xml_int(n, "i", false, -5, 1000, &i, d))
		MUST(i >= -5 && i <= 1000);
	if (xml_double(n, "x", false, 0, 1e6, &x, d))
		MUST(x >= 0 && x <= 1e6);
	if (xml_word(n, "w", false, words, ARRAY_LEN(words), &w, d))
		MUST(w >= 0 && w < 3);
	xml_unused(n, words, ARRAY_LEN(words), d);
}

/* Nothing that a terminal obeys, and no cut characters, may reach the output. */
static void check_print(const struct diag *d)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	MUST(f);
	diag_print(d, f, false);
	fclose(f);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		MUST((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t');
		MUST(c != 0xc2 || (i + 1 < size && (unsigned char)text[i + 1] >= 0xa0));
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct src *s = src_from_text("fuzz.xml", (const char *)data, size);
	struct arena *a = arena_new();
	struct xml_node *root, *n;
	struct diag d;

	diag_init(&d);
	root = xml_parse(s, a, &d);
	MUST(root ? d.n == 0 : d.errors == 1 && d.list[0].code == DIAG_XML);
	for (n = root; n;) {
		check_node(n, &d);
		if (n->first) {
			n = n->first;
			continue;
		}
		while (n && !n->next)
			n = n->parent;
		if (n)
			n = n->next;
	}
	check_print(&d);
	diag_free(&d);
	arena_free(a);
	src_free(s);
	return 0;
}
