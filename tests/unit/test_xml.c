/* The tree with its places, what is refused and where, and the typed readers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "xml.h"

struct fixture {
	struct src *src;
	struct arena *arena;
	struct diag d;
	struct xml_node *root;
};

static void parse_bytes(struct fixture *f, const char *text, size_t len)
{
	f->src = src_from_text("t.xml", text, len);
	f->arena = arena_new();
	diag_init(&f->d);
	f->root = xml_parse(f->src, f->arena, &f->d);
}

static void parse(struct fixture *f, const char *text)
{
	parse_bytes(f, text, strlen(text));
}

static void end(struct fixture *f)
{
	diag_free(&f->d);
	arena_free(f->arena);
	src_free(f->src);
}

/* A document that must be accepted. */
static struct xml_node *good(struct fixture *f, const char *text)
{
	parse(f, text);
	assert_int_equal(f->d.n, 0);
	assert_non_null(f->root);
	return f->root;
}

static void expect_text(struct loc l, const char *want)
{
	assert_non_null(l.src);
	assert_true(l.begin <= l.end && l.end <= l.src->len);
	assert_int_equal(l.end - l.begin, strlen(want));
	assert_memory_equal(l.src->text + l.begin, want, l.end - l.begin);
}

/* Name, value and the bytes of the value in the text. */
static void expect_attr(const struct xml_node *n, size_t i, const char *name, const char *value,
			const char *raw)
{
	assert_true(i < n->nattrs);
	assert_string_equal(n->attrs[i].name, name);
	assert_string_equal(n->attrs[i].value, value);
	assert_false(n->attrs[i].used);
	expect_text(n->attrs[i].name_loc, name);
	expect_text(n->attrs[i].value_loc, raw);
}

static void tree_and_places(void **state)
{
	struct fixture f;
	struct xml_node *n =
		good(&f, "<?xml version=\"1.0\"?>\n<a x='1'>one<b/>\n  <c y=\"2\">two</c"
			 ">three<b><d/></b></a>");
	struct xml_node *b = n->first, *c = b->next, *last = c->next;
	unsigned line, col;

	(void)state;
	assert_string_equal(n->name, "a");
	assert_string_equal(n->text, "one\n  three");
	assert_null(n->parent);
	assert_null(n->next);
	expect_text(n->loc, "a");
	expect_attr(n, 0, "x", "1", "1");
	assert_string_equal(b->name, "b");
	assert_string_equal(b->text, "");
	assert_null(b->first);
	assert_int_equal(b->nattrs, 0);
	assert_string_equal(c->name, "c");
	assert_string_equal(c->text, "two");
	assert_ptr_equal(c->parent, n);
	expect_attr(c, 0, "y", "2", "2");
	src_line_col(f.src, c->attrs[0].value_loc.begin, &line, &col);
	assert_int_equal(line, 3);
	assert_int_equal(col, 9);
	assert_string_equal(last->first->name, "d");
	assert_ptr_equal(last->first->parent, last);
	assert_null(last->next);
	src_line_col(f.src, last->loc.begin, &line, &col);
	assert_int_equal(col, 25);
	end(&f);
}

static void values_are_decoded_places_are_raw(void **state)
{
	struct fixture f;
	struct xml_node *n =
		good(&f, "<a b=\"&lt;&gt;&amp;&quot;&apos;\" c = '&#65;&#x42;\"&#10;'\n\td\n=\n"
			 "\"x\ny\tz\" e=\"\" f=\"a&amp;b\" g='>'/>");

	(void)state;
	expect_attr(n, 0, "b", "<>&\"'", "&lt;&gt;&amp;&quot;&apos;");
	expect_attr(n, 1, "c", "AB\"\n", "&#65;&#x42;\"&#10;");
	expect_attr(n, 2, "d", "x y z", "x\ny\tz");
	expect_attr(n, 3, "e", "", "");
	expect_attr(n, 4, "f", "a&b", "a&amp;b");
	expect_attr(n, 5, "g", ">", ">");
	end(&f);
}

static void markup_that_is_no_element(void **state)
{
	struct fixture f;
	struct xml_node *n =
		good(&f, "<?xml-model href=\"<x y='1'>\"?><!-- <x y=\"1\"> - > -->\n"
			 "<a><![CDATA[<x y=\"1\">]]><?p <x?><!--</a>--><b c=\"1\"/></a><?q?>");

	(void)state;
	assert_string_equal(n->text, "<x y=\"1\">");
	assert_string_equal(n->first->name, "b");
	expect_attr(n->first, 0, "c", "1", "1");
	assert_null(n->first->next);
	end(&f);
}

static void byte_order_mark_and_utf8(void **state)
{
	struct fixture f;
	struct xml_node *n = good(
		&f, "\xef\xbb\xbf<?xml version=\"1.0\" encoding='utf-8'?><\xc3\xa9 "
		    "\xc3\xbc=\"\xe6\xbc\xa2\"><b c=\"\xf0\x9f\x98\x80\" d=\"1\"/></\xc3\xa9>");

	(void)state;
	expect_text(n->loc, "\xc3\xa9");
	expect_attr(n, 0, "\xc3\xbc", "\xe6\xbc\xa2", "\xe6\xbc\xa2");
	expect_attr(n->first, 1, "d", "1", "1");
	end(&f);
}

static void editor_attributes_are_dropped(void **state)
{
	struct fixture f;
	struct xml_node *n =
		good(&f, "<a b=\"1\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
			 "xsi:noNamespaceSchemaLocation=\"s.xsd\" c=\"2\"/>");

	(void)state;
	assert_int_equal(n->nattrs, 2);
	expect_attr(n, 0, "b", "1", "1");
	expect_attr(n, 1, "c", "2", "2");
	end(&f);
}

/* The document must be refused with one E-XML at line:col whose message holds part. */
static void refused_bytes(const char *text, size_t len, unsigned line, unsigned col,
			  const char *part)
{
	struct fixture f;
	unsigned l, c;

	parse_bytes(&f, text, len);
	assert_null(f.root);
	assert_int_equal(f.d.n, 1);
	assert_int_equal(f.d.list[0].code, DIAG_XML);
	if (!strstr(f.d.list[0].message, part))
		fail_msg("'%s' is not in '%s'", part, f.d.list[0].message);
	assert_ptr_equal(f.d.list[0].loc.src, f.src);
	src_line_col(f.src, f.d.list[0].loc.begin, &l, &c);
	if (l != line || c != col)
		fail_msg("%s: at %u:%u, not %u:%u", f.d.list[0].message, l, c, line, col);
	end(&f);
}

#define REFUSED(text, line, col, part) refused_bytes(text, sizeof(text) - 1, line, col, part)

static void not_well_formed(void **state)
{
	(void)state;
	REFUSED("", 1, 1, "empty");
	REFUSED(" \n ", 1, 1, "empty");
	REFUSED("\xef\xbb\xbf", 1, 1, "empty");
	REFUSED("hello", 1, 1, "");
	REFUSED("<a/>\n <b/>", 2, 2, "");
	REFUSED("<a>\n\t<b>\n</a>", 3, 5, "mismatch");
	REFUSED("<a>\n<b>", 2, 4, "b");
	REFUSED("<a\n b=1/>", 2, 4, "");
	REFUSED("<a\n b=\"1\"c=\"2\"/>", 2, 7, "");
	REFUSED("<a b=\"x & y\"/>", 1, 9, "'&'");
	REFUSED("<a b=\"<\"/>", 1, 7, "<");
	REFUSED("<a b=\"1\"\n   c=\"2\" b=\"3\"/>", 2, 10, "'b' is given twice");
	REFUSED("<a><!-- ", 1, 9, "");
	REFUSED("<a>&#0;</a>", 1, 8, "");
	REFUSED("<p:a/>", 1, 2, "prefix p");
	REFUSED("<a b=\"\x1b\"/>", 1, 7, "");
}

static void entities_and_doctypes(void **state)
{
	(void)state;
	REFUSED("<a b=\"12&foo;\"/>", 1, 9, "foo");
	REFUSED("<a>\n12&foo;</a>", 2, 3, "foo");
	REFUSED("<!DOCTYPE a>\n<a/>", 1, 1, "DOCTYPE");
	REFUSED("<?xml version=\"1.0\"?>\n <!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", 2, 2,
		"DOCTYPE");
	REFUSED("<!DOCTYPE a SYSTEM \"/etc/passwd\"><a/>", 1, 1, "DOCTYPE");
}

static void other_encodings(void **state)
{
	(void)state;
	REFUSED("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a/>", 1, 31, "ISO-8859-1");
	REFUSED("<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>", 1, 31, "UTF-16");
	REFUSED("\xff\xfe<\0a\0/\0>\0", 1, 1, "UTF-16");
	REFUSED("\xfe\xff\0<\0a\0/\0>", 1, 1, "UTF-16");
	REFUSED("<a b=\"\xe9\"/>", 1, 7, "0xE9");
	REFUSED("<a>\n\xc0\xaf</a>", 2, 1, "0xC0");
	REFUSED("<a>\xed\xa0\x80</a>", 1, 4, "0xED");
	REFUSED("<a>\xf4\x90\x80\x80</a>", 1, 4, "0xF4");
	REFUSED("<a/>\xe6\xbc", 1, 5, "0xE6");
	REFUSED("<a>\0</a>", 1, 4, "NUL");
}

static void namespaces(void **state)
{
	(void)state;
	REFUSED("<a xmlns=\"urn:x\"/>", 1, 4, "namespace");
	REFUSED("<a b=\"1\" xmlns:p=\"urn:x\"/>", 1, 10, "namespace");
	REFUSED("<a xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include href=\"x\"/></a>", 1,
		4, "namespace");
}

/* count times part, after head and before tail */
static char *repeat(const char *head, const char *part, size_t count, const char *tail)
{
	struct strbuf b = {0};

	strbuf_add(&b, "%s", head);
	for (size_t i = 0; i < count; i++)
		strbuf_addn(&b, part, strlen(part));
	strbuf_add(&b, "%s", tail);
	return b.s;
}

static void limits(void **state)
{
	struct strbuf b = {0};
	struct fixture f;
	char *s;

	(void)state;
	s = repeat("", "<a>", XML_MAX_DEPTH - 1, "<a/>");
	for (int i = 0; i < XML_MAX_DEPTH - 1; i++)
		strbuf_add(&b, "</a>");
	s = xreallocarray(s, strlen(s) + b.len + 1, 1);
	strcat(s, b.s);
	good(&f, s);
	end(&f);
	free(s);
	strbuf_free(&b);

	s = repeat("", "<a>", XML_MAX_DEPTH, "<b/>");
	refused_bytes(s, strlen(s), 1, XML_MAX_DEPTH * 3 + 2, "nested deeper than 32");
	free(s);

	s = repeat("<a>", "<b/>", XML_MAX_NODES - 1, "</a>");
	good(&f, s);
	end(&f);
	free(s);
	s = repeat("<a>", "<b/>", XML_MAX_NODES, "</a>");
	refused_bytes(s, strlen(s), 1, 3 + 4 * (XML_MAX_NODES - 1) + 2,
		      "more than 200000 elements");
	free(s);

	s = repeat("<a>", "xxxxxxxxxxxxxxxx", 1u << 19, "</a>");
	refused_bytes(s, strlen(s), 1, 1, "8 MiB");
	free(s);

	strbuf_add(&b, "<a");
	for (int i = 0; i < 256; i++)
		strbuf_add(&b, " a%d=\"\"", i);
	s = xasprintf("%s/>", b.s);
	assert_int_equal(good(&f, s)->nattrs, 256);
	end(&f);
	free(s);
	s = xasprintf("%s\nb=\"\"/>", b.s);
	refused_bytes(s, strlen(s), 2, 1, "more than 256 attributes");
	free(s);
	strbuf_free(&b);
}

/* Every place is right, however the text is cut into the parser's pieces. */
static void places_in_a_large_document(void **state)
{
	struct strbuf b = {0};
	struct fixture f;
	int i = 0;

	(void)state;
	strbuf_add(&b, "<a>");
	for (int k = 0; k < 20000; k++)
		strbuf_add(&b, "<b%*s x=\"%d&amp;\"\n/><!-- <c/> -->%*s", k % 7, "", k, k % 13, "");
	strbuf_add(&b, "</a>");
	for (struct xml_node *n = good(&f, b.s)->first; n; n = n->next, i++) {
		char *raw = xasprintf("%d&amp;", i), *value = xasprintf("%d&", i);

		expect_text(n->loc, "b");
		expect_attr(n, 0, "x", value, raw);
		free(raw);
		free(value);
	}
	assert_int_equal(i, 20000);
	end(&f);
	strbuf_free(&b);
}

/* The last finding must be this one; part and fix are substrings. */
static void expect_finding(const struct fixture *f, size_t n, enum diag_code code,
			   const char *place, const char *message, const char *fix)
{
	const struct finding *last = &f->d.list[n - 1];

	assert_int_equal(f->d.n, n);
	assert_int_equal(last->code, code);
	expect_text(last->loc, place);
	assert_string_equal(last->message, message);
	assert_string_equal(last->fix, fix);
}

static void read_integers(void **state)
{
	struct fixture f;
	struct xml_node *n = good(&f, "<st m=\"64\" big=\"70000\" bad=\"6x\" none=\"\"/>");
	int64_t v = 5;

	(void)state;
	assert_true(xml_int(n, "m", true, 1, 64, &v, &f.d));
	assert_int_equal(v, 64);
	assert_true(n->attrs[0].used);
	assert_false(xml_int(n, "absent", false, 1, 64, &v, &f.d));
	assert_int_equal(f.d.n, 0);
	assert_false(xml_int(n, "k", true, 1, 64, &v, &f.d));
	expect_finding(&f, 1, DIAG_ATTR, "st", "<st> needs the attribute 'k'",
		       "add k=\"...\", a whole number from 1 to 64");
	assert_false(xml_int(n, "big", false, 1, 65536, &v, &f.d));
	expect_finding(&f, 2, DIAG_VALUE, "70000",
		       "attribute 'big' is '70000', must be a whole number from 1 to 65536",
		       "write big=\"...\" with a whole number from 1 to 65536");
	assert_false(xml_int(n, "bad", true, 0, INT64_MAX, &v, &f.d));
	expect_finding(&f, 3, DIAG_VALUE, "6x",
		       "attribute 'bad' is '6x', must be a whole number of at least 0",
		       "write bad=\"...\" with a whole number of at least 0");
	assert_false(xml_int(n, "none", true, 0, 9, &v, &f.d));
	expect_finding(&f, 4, DIAG_VALUE, "",
		       "attribute 'none' is empty, must be a whole number from 0 to 9",
		       "write none=\"...\" with a whole number from 0 to 9");
	assert_int_equal(v, 64);
	end(&f);
}

static void read_numbers(void **state)
{
	struct fixture f;
	struct xml_node *n = good(&f, "<a x=\"2.5\" y=\"-1\" z=\"nan\" h=\"1e999\"/>");
	double v = 7;

	(void)state;
	assert_true(xml_double(n, "x", true, 0, 2.5, &v, &f.d));
	assert_true(v == 2.5);
	assert_false(xml_double(n, "y", true, 0, 1000000, &v, &f.d));
	expect_finding(&f, 1, DIAG_VALUE, "-1",
		       "attribute 'y' is '-1', must be a number from 0 to 1000000",
		       "write y=\"...\" with a number from 0 to 1000000");
	assert_false(xml_double(n, "z", true, -1e308 * 10, 1e308 * 10, &v, &f.d));
	expect_finding(&f, 2, DIAG_VALUE, "nan", "attribute 'z' is 'nan', must be a number",
		       "write z=\"...\" with a number");
	assert_false(xml_double(n, "h", true, 0, 1e308 * 10, &v, &f.d));
	assert_int_equal(f.d.n, 3);
	assert_false(xml_double(n, "w", true, 0, 1, &v, &f.d));
	expect_finding(&f, 4, DIAG_ATTR, "a", "<a> needs the attribute 'w'",
		       "add w=\"...\", a number from 0 to 1");
	assert_true(v == 2.5);
	end(&f);
}

static void read_words(void **state)
{
	static const char *const words[] = {"top", "bottom", "both"};
	struct fixture f;
	struct xml_node *n = good(&f, "<a p=\"both\" q=\"botom\" r=\"middle\"/>");
	int v = 7;

	(void)state;
	assert_true(xml_word(n, "p", true, words, 3, &v, &f.d));
	assert_int_equal(v, 2);
	assert_false(xml_word(n, "q", true, words, 3, &v, &f.d));
	expect_finding(&f, 1, DIAG_VALUE, "botom",
		       "attribute 'q' is 'botom', must be one of top, bottom or both",
		       "write q=\"bottom\"");
	assert_false(xml_word(n, "r", true, words, 3, &v, &f.d));
	expect_finding(&f, 2, DIAG_VALUE, "middle",
		       "attribute 'r' is 'middle', must be one of top, bottom or both",
		       "write r=\"...\" with one of top, bottom or both");
	assert_false(xml_word(n, "s", false, words, 3, &v, &f.d));
	assert_int_equal(f.d.n, 2);
	assert_false(xml_word(n, "s", true, words, 1, &v, &f.d));
	expect_finding(&f, 3, DIAG_ATTR, "a", "<a> needs the attribute 's'", "add s=\"...\", top");
	assert_int_equal(v, 2);
	end(&f);
}

static void read_texts(void **state)
{
	const char *v = "kept";
	struct fixture f;
	struct xml_node *n = good(&f, "<a x=\"t&lt;\" y=\"\"/>");

	(void)state;
	assert_true(xml_str(n, "x", true, &v, &f.d));
	assert_string_equal(v, "t<");
	assert_false(xml_str(n, "y", false, &v, &f.d));
	expect_finding(&f, 1, DIAG_VALUE, "",
		       "attribute 'y' is empty, must be a text that is not empty",
		       "write y=\"...\" with a text that is not empty");
	assert_false(xml_str(n, "z", false, &v, &f.d));
	assert_false(xml_str(n, "z", true, &v, &f.d));
	assert_int_equal(f.d.n, 2);
	assert_int_equal(f.d.list[1].code, DIAG_ATTR);
	assert_string_equal(v, "t<");
	end(&f);
}

static void long_values_are_shortened(void **state)
{
	char *s = repeat("<a x=\"", "\xe6\xbc\xa2", 100, "\"/>");
	struct fixture f;
	int64_t v;
	char *want = repeat("attribute 'x' is '", "\xe6\xbc\xa2", 13,
			    "...', must be a whole number from 0 to 1");

	(void)state;
	assert_false(xml_int(good(&f, s), "x", true, 0, 1, &v, &f.d));
	assert_string_equal(f.d.list[0].message, want);
	end(&f);
	free(s);
	free(want);
}

static void unused_attributes(void **state)
{
	static const char *const known[] = {"name", "priority"};
	struct fixture f;
	struct xml_node *n = good(&f, "<stage name=\"s\" nmae=\"s\" zzz=\"1\" priority=\"2\"/>");

	(void)state;
	assert_non_null(xml_get(n, "name"));
	assert_null(xml_get(n, "absent"));
	xml_unused(n, known, 2, &f.d);
	assert_int_equal(f.d.n, 3);
	f.d.n = 1;
	expect_finding(&f, 1, DIAG_ATTR, "nmae", "<stage> has no attribute 'nmae'",
		       "write name=\"...\"");
	f.d.n = 2;
	expect_finding(&f, 2, DIAG_ATTR, "zzz", "<stage> has no attribute 'zzz'",
		       "use name or priority");
	f.d.n = 3;
	/* Known in general, but not asked for with these others. */
	expect_finding(&f, 3, DIAG_ATTR, "priority",
		       "<stage> can't have the attribute 'priority' here",
		       "remove it: it has no meaning together with the others");
	end(&f);
	n = good(&f, "<a b=\"1\"/>");
	xml_unused(n, NULL, 0, &f.d);
	expect_finding(&f, 1, DIAG_ATTR, "b", "<a> has no attribute 'b'",
		       "remove it: <a> takes no attributes");
	end(&f);
}

static const char schema[] =
	"<element name=\"a\" xmlns=\"http://relaxng.org/ns/structure/1.0\" "
	"datatypeLibrary=\"http://www.w3.org/2001/XMLSchema-datatypes\"><zeroOrMore><element name=\"b\">"
	"<attribute name=\"x\"><data type=\"positiveInteger\"/></attribute></element></zeroOrMore>"
	"</element>";

static int validate(const char *text, const char *rng, struct diag *d, unsigned *line,
		    unsigned *col)
{
	struct src *s = src_from_text("t.xml", text, strlen(text));
	int result;

	diag_init(d);
	result = xml_validate_rng(s, rng, d);
	*line = *col = 0;
	if (d->n && d->list[0].loc.src)
		src_line_col(s, d->list[0].loc.begin, line, col);
	assert_int_equal(result != 0, d->n > 0);
	diag_free(d);
	src_free(s);
	return result;
}

static void validation(void **state)
{
	char *rng = xasprintf("%s/wpsim-rng-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	int fd = mkstemp(rng);
	unsigned line, col;
	struct diag d;

	(void)state;
	assert_int_equal(write(fd, schema, sizeof(schema) - 1), (ssize_t)sizeof(schema) - 1);
	assert_int_equal(validate("<a><b x=\"1\"/></a>", rng, &d, &line, &col), 0);
	assert_int_equal(
		validate("<a>\n<b x=\"1\"/><!-- <b> -->\n <b x=\"0\"/></a>", rng, &d, &line, &col),
		1);
	assert_int_equal(line, 3);
	assert_int_equal(col, 3);
	assert_int_equal(validate("<a><c/></a>", rng, &d, &line, &col), 1);
	assert_int_equal(col, 5);
	assert_int_equal(validate("<a><b x=\"1\"></a>", rng, &d, &line, &col), 1);
	assert_int_equal(ftruncate(fd, 20), 0);
	assert_int_equal(validate("<a/>", rng, &d, &line, &col), -1);
	close(fd);
	unlink(rng);
	assert_int_equal(validate("<a/>", rng, &d, &line, &col), -1);
	free(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_and_places),
		cmocka_unit_test(values_are_decoded_places_are_raw),
		cmocka_unit_test(markup_that_is_no_element),
		cmocka_unit_test(byte_order_mark_and_utf8),
		cmocka_unit_test(editor_attributes_are_dropped),
		cmocka_unit_test(not_well_formed),
		cmocka_unit_test(entities_and_doctypes),
		cmocka_unit_test(other_encodings),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(limits),
		cmocka_unit_test(places_in_a_large_document),
		cmocka_unit_test(read_integers),
		cmocka_unit_test(read_numbers),
		cmocka_unit_test(read_words),
		cmocka_unit_test(read_texts),
		cmocka_unit_test(long_values_are_shortened),
		cmocka_unit_test(unused_attributes),
		cmocka_unit_test(validation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
