/*
 * Two passes over the text. The scan of xml_scan.c finds every place and enforces the limits; then
 * libxml2 decides whether the text is well-formed and delivers names and values. The scan runs
 * first because some checks of libxml2 take quadratic time in the number of attributes.
 */
#include "xml.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <stdlib.h>
#include <string.h>

#include "xml_scan.h"

#define PARSE_OPTIONS                                                                  \
	(XML_PARSE_NONET | XML_PARSE_NOENT | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | \
	 XML_PARSE_IGNORE_ENC)

/* Building the tree */

struct build {
	struct xml_scan scan;
	struct arena *arena;
	xmlParserCtxtPtr ctxt;
	struct xml_node *root;
	size_t ntags; /* start tags delivered so far */
	size_t depth;
	struct {
		struct xml_node *node, *last; /* an open element and its newest child */
		struct strbuf text;
	} open[XML_MAX_DEPTH];
	bool failed;
};

static struct loc place_at(const struct xml_scan *sc, size_t off)
{
	return (struct loc){sc->src, (uint32_t)off, (uint32_t)off};
}

static const char *qualified_name(struct arena *a, const xmlChar *local, const xmlChar *prefix)
{
	if (!prefix)
		return arena_strdup(a, (const char *)local);
	return arena_printf(a, "%s:%s", (const char *)prefix, (const char *)local);
}

/* The next attribute of the tag that declares no namespace; NULL when there is none. */
static const struct xml_scan_attr *next_scanned(const struct xml_scan *sc,
						const struct xml_scan_tag *tag, size_t *i)
{
	while (tag && *i < tag->nattrs) {
		const struct xml_scan_attr *attr = &sc->attrs[tag->first + (*i)++];

		if (!xml_span_is_xmlns(sc, attr->name))
			return attr;
	}
	return NULL;
}

/* libxml2 gives five pointers an attribute: local name, prefix, URI, begin and end of the value. */
static void build_attrs(struct build *b, struct xml_node *n, const struct xml_scan_tag *tag,
			size_t count, const xmlChar **attrs)
{
	size_t i = 0;

	n->attrs = arena_alloc(b->arena, count, sizeof(*n->attrs));
	for (; count; count--, attrs += 5) {
		const struct xml_scan_attr *place = next_scanned(&b->scan, tag, &i);
		struct xml_attr *attr = &n->attrs[n->nattrs];

		/* For editors, of no meaning to the document itself. */
		if (attrs[2] && strcmp((const char *)attrs[2], XML_XSI_URI) == 0)
			continue;
		attr->name = qualified_name(b->arena, attrs[0], attrs[1]);
		attr->value = arena_strndup(b->arena, (const char *)attrs[3],
					    (size_t)(attrs[4] - attrs[3]));
		if (place && xml_span_is(&b->scan, place->name, attr->name)) {
			attr->name_loc = xml_span_loc(&b->scan, place->name);
			attr->value_loc = xml_span_loc(&b->scan, place->value);
		} else {
			attr->name_loc = attr->value_loc = n->loc;
		}
		n->nattrs++;
	}
}

static void on_start(void *user, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri,
		     int nns, const xmlChar **ns, int nattrs, int ndefaulted, const xmlChar **attrs)
{
	struct build *b = user;
	const struct xml_scan_tag *tag = b->ntags < b->scan.ntags ? &b->scan.tags[b->ntags] : NULL;
	struct xml_node *n;

	(void)uri;
	(void)nns;
	(void)ns;
	(void)ndefaulted;
	b->ntags++;
	if (b->failed || b->depth == XML_MAX_DEPTH)
		return;
	n = arena_alloc(b->arena, 1, sizeof(*n));
	n->name = qualified_name(b->arena, local, prefix);
	n->text = "";
	if (tag && !xml_span_is(&b->scan, tag->name, n->name))
		tag = NULL;
	if (tag)
		n->loc = xml_span_loc(&b->scan, tag->name);
	else if (b->depth)
		n->loc = b->open[b->depth - 1].node->loc;
	else
		n->loc = place_at(&b->scan, b->scan.start);
	build_attrs(b, n, tag, nattrs > 0 ? (size_t)nattrs : 0, attrs);
	if (b->depth) {
		n->parent = b->open[b->depth - 1].node;
		if (b->open[b->depth - 1].last)
			b->open[b->depth - 1].last->next = n;
		else
			n->parent->first = n;
		b->open[b->depth - 1].last = n;
	} else if (!b->root) {
		b->root = n;
	}
	b->open[b->depth].node = n;
	b->open[b->depth].last = NULL;
	b->open[b->depth].text.len = 0;
	b->depth++;
}

static void on_end(void *user, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
	struct build *b = user;

	(void)local;
	(void)prefix;
	(void)uri;
	if (b->failed || b->depth == 0)
		return;
	b->depth--;
	if (b->open[b->depth].text.len)
		b->open[b->depth].node->text = arena_strndup(b->arena, b->open[b->depth].text.s,
							     b->open[b->depth].text.len);
}

static void on_text(void *user, const xmlChar *text, int len)
{
	struct build *b = user;

	if (!b->failed && b->depth && len > 0)
		strbuf_addn(&b->open[b->depth - 1].text, (const char *)text, (size_t)len);
}

/* Where the parser stands, as an offset into the source; line and col are its own view of it. */
static size_t error_offset(const struct build *b, int line, int col)
{
	const struct src *src = b->scan.src;
	const xmlParserInput *in = b->ctxt->input;
	unsigned found, ignored;
	size_t off;

	if (in && in->cur >= in->base) {
		off = b->scan.start + in->consumed + (size_t)(in->cur - in->base);
		src_line_col(src, (uint32_t)off, &found, &ignored);
		if (off <= src->len && (line <= 0 || found == (unsigned)line))
			return off;
	}
	if (line <= 0 || (size_t)line > src->nlines)
		return src->len;
	off = src->line_start[line - 1] + (col > 0 ? (size_t)col - 1 : 0);
	return off > src->len ? src->len : off;
}

/* The first line of libxml2's message, without the name of its function and the full stop. */
static char *error_text(const xmlError *e)
{
	const char *message = e->message ? e->message : "not well-formed", *colon;
	size_t n;

	colon = strncmp(message, "xml", 3) == 0 ? strstr(message, ": ") : NULL;
	if (colon && strcspn(message, " ") > (size_t)(colon - message))
		message = colon + 2;
	n = utf8_cut(message, strcspn(message, "\r\n"), 300);
	while (n && strchr(" .", message[n - 1]))
		n--;
	return xasprintf("%.*s", (int)n, message);
}

/* The place to show for an error; the parser itself has often read on behind it. */
static struct loc error_place(const struct build *b, const xmlError *e)
{
	const struct src *src = b->scan.src;
	size_t off = error_offset(b, e->line, e->int2), back = off;

	if (e->domain == XML_FROM_NAMESPACE && b->ntags < b->scan.ntags)
		return xml_span_loc(&b->scan, b->scan.tags[b->ntags].name);
	if (e->code == XML_ERR_UNDECLARED_ENTITY || e->code == XML_WAR_UNDECLARED_ENTITY) {
		while (back > b->scan.start && src->text[back] != '&')
			back--;
		if (src->text[back] == '&')
			return (struct loc){src, (uint32_t)back, (uint32_t)off};
	}
	return place_at(&b->scan, off);
}

static void report_error(struct build *b, const xmlError *e)
{
	const struct src *src = b->scan.src;
	struct loc place = error_place(b, e);
	char *text = error_text(e);
	struct finding *f;

	if (e->code == XML_ERR_NAME_REQUIRED && place.begin > b->scan.start &&
	    src->text[place.begin - 1] == '&') {
		place.begin--;
		f = diag_add(b->scan.d, place, DIAG_XML, "'&' starts no reference here");
		diag_fix(f, "write '&' as &amp;");
	} else {
		f = diag_add(b->scan.d, place, DIAG_XML, "%s", text);
	}
	if (e->code == XML_ERR_UNDECLARED_ENTITY || e->code == XML_WAR_UNDECLARED_ENTITY)
		diag_fix(f,
			 "only &lt; &gt; &amp; &quot; &apos; and character references exist here");
	else if (e->code == XML_ERR_LT_IN_ATTRIBUTE)
		diag_fix(f, "write '<' as &lt;");
	if (b->depth && (e->code == XML_ERR_TAG_NAME_MISMATCH ||
			 e->code == XML_ERR_TAG_NOT_FINISHED || e->code == XML_ERR_DOCUMENT_END))
		diag_note(f, b->open[b->depth - 1].node->loc, "<%s> is still open",
			  b->open[b->depth - 1].node->name);
	free(text);
}

#if LIBXML_VERSION >= 21200
typedef const xmlError *error_arg;
#else
typedef xmlError *error_arg;
#endif

static void on_error(void *user, error_arg e)
{
	struct build *b = user;

	if (b->failed || !e || e->level < XML_ERR_ERROR)
		return;
	b->failed = true;
	if (e->code == XML_ERR_NO_MEMORY) {
		fputs("wpsim: out of memory\n", stderr);
		exit(2);
	}
	report_error(b, e);
	xmlStopParser(b->ctxt);
}

/* The scan refuses a DOCTYPE; this is the second lock on the same door. */
static void on_doctype(void *user, const xmlChar *name, const xmlChar *id, const xmlChar *system)
{
	struct build *b = user;

	(void)name;
	(void)id;
	(void)system;
	if (!b->failed)
		diag_add(b->scan.d, (struct loc){b->scan.src, 0, 0}, DIAG_XML,
			 "a DOCTYPE is not accepted");
	b->failed = true;
	xmlStopParser(b->ctxt);
}

static void parse_events(struct build *b)
{
	const struct src *s = b->scan.src;
	xmlSAXHandler *sax;

	b->ctxt = xmlCreateMemoryParserCtxt(s->text + b->scan.start, (int)(s->len - b->scan.start));
	if (!b->ctxt) {
		fputs("wpsim: out of memory\n", stderr);
		exit(2);
	}
	sax = b->ctxt->sax;
	memset(sax, 0, sizeof(*sax));
	sax->initialized = XML_SAX2_MAGIC;
	sax->startElementNs = on_start;
	sax->endElementNs = on_end;
	sax->characters = sax->ignorableWhitespace = sax->cdataBlock = on_text;
	sax->internalSubset = on_doctype;
	sax->serror = on_error;
	b->ctxt->userData = b;
	xmlCtxtUseOptions(b->ctxt, PARSE_OPTIONS & ~(XML_PARSE_NOERROR | XML_PARSE_NOWARNING));
	xmlParseDocument(b->ctxt);
	if (!b->ctxt->wellFormed && !b->failed) {
		diag_add(b->scan.d, place_at(&b->scan, s->len), DIAG_XML, "not well-formed");
		b->failed = true;
	}
	xmlFreeParserCtxt(b->ctxt);
}

struct xml_node *xml_parse(const struct src *s, struct arena *a, struct diag *d)
{
	struct build b = {.arena = a};

	if (!xml_scan(&b.scan, s, d)) {
		xml_scan_free(&b.scan);
		return NULL;
	}
	if (s->len - b.scan.start == strspn(s->text + b.scan.start, " \t\r\n")) {
		diag_add(d, place_at(&b.scan, 0), DIAG_XML, "the document is empty");
		b.failed = true;
	} else {
		xmlInitParser();
		parse_events(&b);
	}
	for (size_t i = 0; i < XML_MAX_DEPTH; i++)
		strbuf_free(&b.open[i].text);
	xml_scan_free(&b.scan);
	return b.failed ? NULL : b.root;
}

/* Validation */

struct validation {
	struct xml_scan scan;
	xmlDocPtr doc;
	const char *rng_path;
	bool schema_failed;
};

/* The place of the element that holds node. */
static struct loc node_place(const struct validation *v, xmlNodePtr node)
{
	xmlNodePtr root = xmlDocGetRootElement(v->doc), at_node = root;
	size_t i = 0;

	while (node && node->type != XML_ELEMENT_NODE)
		node = node->parent;
	while (at_node && at_node != node) {
		if (at_node->type == XML_ELEMENT_NODE && at_node->children) {
			at_node = at_node->children;
		} else {
			while (at_node != root && !at_node->next)
				at_node = at_node->parent;
			at_node = at_node == root ? NULL : at_node->next;
		}
		if (at_node && at_node->type == XML_ELEMENT_NODE)
			i++;
	}
	if (!node || !at_node || i >= v->scan.ntags)
		return (struct loc){v->scan.src, 0, 0};
	return xml_span_loc(&v->scan, v->scan.tags[i].name);
}

static void on_schema_error(void *user, error_arg e)
{
	struct validation *v = user;
	char *text;

	if (v->schema_failed || !e)
		return;
	v->schema_failed = true;
	text = error_text(e);
	if (e->line > 0)
		diag_add(v->scan.d, (struct loc){0}, DIAG_IO,
			 "can't use the schema '%s': line %d: %s", v->rng_path, e->line, text);
	else
		diag_add(v->scan.d, (struct loc){0}, DIAG_IO, "can't use the schema '%s': %s",
			 v->rng_path, text);
	free(text);
}

static void on_invalid(void *user, error_arg e)
{
	struct validation *v = user;
	char *text;

	if (!e)
		return;
	text = error_text(e);
	diag_add(v->scan.d, node_place(v, e->node), DIAG_XML, "%s", text);
	free(text);
}

static int validate_doc(struct validation *v)
{
	xmlRelaxNGParserCtxtPtr parser = xmlRelaxNGNewParserCtxt(v->rng_path);
	xmlRelaxNGValidCtxtPtr valid = NULL;
	xmlRelaxNGPtr schema = NULL;
	int result = -1;

	if (parser) {
		xmlRelaxNGSetParserStructuredErrors(parser, on_schema_error, v);
		schema = xmlRelaxNGParse(parser);
		xmlRelaxNGFreeParserCtxt(parser);
	}
	if (schema)
		valid = xmlRelaxNGNewValidCtxt(schema);
	if (valid) {
		xmlRelaxNGSetValidStructuredErrors(valid, on_invalid, v);
		result = xmlRelaxNGValidateDoc(valid, v->doc) == 0 ? 0 : 1;
		xmlRelaxNGFreeValidCtxt(valid);
	} else if (!v->schema_failed) {
		diag_add(v->scan.d, (struct loc){0}, DIAG_IO, "can't use the schema '%s'",
			 v->rng_path);
	}
	xmlRelaxNGFree(schema);
	return result;
}

int xml_validate_rng(const struct src *s, const char *rng_path, struct diag *d)
{
	struct validation v = {.rng_path = rng_path};
	struct arena *a = arena_new();
	int result = 1;

	/* Only a document that the tree reader accepts is given to the tree parser of libxml2. */
	if (xml_parse(s, a, d) && xml_scan(&v.scan, s, d)) {
		xmlSetStructuredErrorFunc(&v, on_schema_error);
		v.doc = xmlReadMemory(s->text + v.scan.start, (int)(s->len - v.scan.start), NULL,
				      NULL, PARSE_OPTIONS);
		if (v.doc)
			result = validate_doc(&v);
		xmlSetStructuredErrorFunc(NULL, NULL);
		xmlFreeDoc(v.doc);
	}
	xml_scan_free(&v.scan);
	arena_free(a);
	return result;
}
