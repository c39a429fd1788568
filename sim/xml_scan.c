#include "xml_scan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "xml.h"

struct loc xml_span_loc(const struct xml_scan *sc, struct xml_span s)
{
	return (struct loc){sc->src, s.begin, s.end};
}

static struct loc loc_at(const struct src *src, size_t begin, size_t end)
{
	return (struct loc){src, (uint32_t)begin, (uint32_t)end};
}

/* Arguments for "%.*s". */
static int span_len(const struct xml_scan *sc, struct xml_span s)
{
	return (int)utf8_cut(sc->src->text + s.begin, s.end - s.begin, 60);
}
#define SPAN(sc, s) span_len(sc, s), (sc)->src->text + (s).begin

bool xml_span_is(const struct xml_scan *sc, struct xml_span s, const char *word)
{
	size_t n = s.end - s.begin;

	return strlen(word) == n && memcmp(sc->src->text + s.begin, word, n) == 0;
}

static bool spans_equal(const struct xml_scan *sc, struct xml_span a, struct xml_span b)
{
	return a.end - a.begin == b.end - b.begin &&
	       memcmp(sc->src->text + a.begin, sc->src->text + b.begin, a.end - a.begin) == 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool at(const struct xml_scan *sc, const char *word)
{
	size_t n = strlen(word);

	return sc->src->len - sc->pos >= n && memcmp(sc->src->text + sc->pos, word, n) == 0;
}

static void skip_space(struct xml_scan *sc)
{
	while (sc->pos < sc->src->len && is_space(sc->src->text[sc->pos]))
		sc->pos++;
}

/* Move past the next occurrence of end; false when there is none. */
static bool skip_past(struct xml_scan *sc, size_t from, const char *end)
{
	const char *text = sc->src->text;
	size_t n = strlen(end);
	const char *p = text + from, *last = text + sc->src->len;

	while (p < last && (p = memchr(p, end[0], (size_t)(last - p)))) {
		if ((size_t)(last - p) < n)
			return false;
		if (memcmp(p, end, n) == 0) {
			sc->pos = (size_t)(p - text) + n;
			return true;
		}
		p++;
	}
	return false;
}

static struct xml_span scan_name(struct xml_scan *sc)
{
	const char *text = sc->src->text;
	struct xml_span s = {.begin = (uint32_t)sc->pos};

	while (sc->pos < sc->src->len && !is_space(text[sc->pos]) &&
	       !strchr("=/><\"'", text[sc->pos]))
		sc->pos++;
	s.end = (uint32_t)sc->pos;
	return s;
}

static struct finding *scan_fail(struct xml_scan *sc, struct loc loc, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
static struct finding *scan_fail(struct xml_scan *sc, struct loc loc, const char *fmt, ...)
{
	struct finding *f;
	va_list ap;
	char text[400];

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f = diag_add(sc->d, loc, DIAG_XML, "%s", text);
	sc->failed = true;
	return f;
}

bool xml_span_is_xmlns(const struct xml_scan *sc, struct xml_span name)
{
	uint32_t n = name.end - name.begin;

	return n >= 5 && memcmp(sc->src->text + name.begin, "xmlns", 5) == 0 &&
	       (n == 5 || sc->src->text[name.begin + 5] == ':');
}

static bool check_name(struct xml_scan *sc, struct xml_span name)
{
	if (name.end - name.begin <= XML_MAX_NAME_BYTES)
		return true;
	scan_fail(sc, xml_span_loc(sc, name), "a name longer than %u bytes", XML_MAX_NAME_BYTES);
	return false;
}

/* Checks on one more attribute of a tag; false ends the scan. */
static bool check_attr(struct xml_scan *sc, const struct xml_scan_tag *tag,
		       const struct xml_scan_attr *attr, size_t *xmlns)
{
	if (!check_name(sc, attr->name))
		return false;
	for (size_t i = tag->first; i < tag->first + tag->nattrs; i++) {
		if (!spans_equal(sc, sc->attrs[i].name, attr->name))
			continue;
		diag_note(scan_fail(sc, xml_span_loc(sc, attr->name),
				    "attribute '%.*s' is given twice", SPAN(sc, attr->name)),
			  xml_span_loc(sc, sc->attrs[i].name), "the first one is here");
		return false;
	}
	if (tag->nattrs == XML_MAX_TAG_ATTRS || sc->nattrs == XML_MAX_ATTRS) {
		scan_fail(sc, xml_span_loc(sc, attr->name), "more than %u attributes in %s",
			  tag->nattrs == XML_MAX_TAG_ATTRS ? XML_MAX_TAG_ATTRS : XML_MAX_ATTRS,
			  tag->nattrs == XML_MAX_TAG_ATTRS ? "one element" : "the document");
		return false;
	}
	if (!xml_span_is_xmlns(sc, attr->name))
		return true;
	if (attr->name.end - attr->name.begin == 5 || !xml_span_is(sc, attr->value, XML_XSI_URI) ||
	    ++*xmlns > XML_MAX_TAG_XMLNS) {
		diag_fix(
			scan_fail(sc, xml_span_loc(sc, attr->name), "namespaces are not used here"),
			"remove '%.*s'", SPAN(sc, attr->name));
		return false;
	}
	return true;
}

/* From the '<' of a start tag to behind its '>'. False: not XML from here on, or a finding. */
static bool scan_tag(struct xml_scan *sc)
{
	const char *text = sc->src->text;
	struct xml_scan_tag tag = {.first = sc->nattrs};
	size_t xmlns = 0;

	sc->pos++;
	tag.name = scan_name(sc);
	if (tag.name.begin == tag.name.end || !check_name(sc, tag.name))
		return false;
	if (sc->ntags == XML_MAX_NODES) {
		scan_fail(sc, xml_span_loc(sc, tag.name), "more than %d elements", XML_MAX_NODES);
		return false;
	}
	if (++sc->depth > XML_MAX_DEPTH) {
		scan_fail(sc, xml_span_loc(sc, tag.name), "elements are nested deeper than %d",
			  XML_MAX_DEPTH);
		return false;
	}
	for (;;) {
		struct xml_scan_attr attr;
		const char *end;

		skip_space(sc);
		attr.name = scan_name(sc);
		if (attr.name.begin == attr.name.end)
			break;
		skip_space(sc);
		if (!at(sc, "="))
			return false;
		sc->pos++;
		skip_space(sc);
		if (!at(sc, "\"") && !at(sc, "'"))
			return false;
		attr.value.begin = (uint32_t)sc->pos + 1;
		end = memchr(text + attr.value.begin, text[sc->pos],
			     sc->src->len - attr.value.begin);
		if (!end)
			return false;
		attr.value.end = (uint32_t)(end - text);
		sc->pos = attr.value.end + 1;
		if (!check_attr(sc, &tag, &attr, &xmlns))
			return false;
		sc->attrs = xgrow(sc->attrs, sc->nattrs, &sc->capattrs, sizeof(*sc->attrs));
		sc->attrs[sc->nattrs++] = attr;
		tag.nattrs++;
	}
	sc->tags = xgrow(sc->tags, sc->ntags, &sc->captags, sizeof(*sc->tags));
	sc->tags[sc->ntags++] = tag;
	if (at(sc, "/>")) {
		sc->depth--;
		sc->pos += 2;
		return true;
	}
	if (!at(sc, ">"))
		return false;
	sc->pos++;
	return true;
}

/* One piece of markup at a '<'. */
static bool scan_markup(struct xml_scan *sc)
{
	if (at(sc, "<!--"))
		return skip_past(sc, sc->pos + 4, "-->");
	if (at(sc, "<![CDATA["))
		return skip_past(sc, sc->pos + 9, "]]>");
	if (at(sc, "<?"))
		return skip_past(sc, sc->pos + 2, "?>");
	if (at(sc, "<!DOCTYPE")) {
		diag_fix(scan_fail(sc, loc_at(sc->src, sc->pos, sc->pos + 9),
				   "a DOCTYPE is not accepted"),
			 "remove the document type declaration and write its entities out");
		return false;
	}
	if (at(sc, "<!"))
		return false;
	if (at(sc, "</")) {
		if (sc->depth == 0)
			return false;
		sc->depth--;
		return skip_past(sc, sc->pos + 2, ">");
	}
	return scan_tag(sc);
}

static void scan_document(struct xml_scan *sc)
{
	const char *text = sc->src->text, *next;

	sc->pos = sc->start;
	while ((next = memchr(text + sc->pos, '<', sc->src->len - sc->pos))) {
		sc->pos = (size_t)(next - text);
		if (!scan_markup(sc))
			break;
	}
}

/* Encoding */

static bool check_bytes(struct xml_scan *sc)
{
	const unsigned char *text = (const unsigned char *)sc->src->text;
	size_t len = sc->src->len, n;
	uint32_t cp;

	if (len >= 2 &&
	    ((text[0] == 0xff && text[1] == 0xfe) || (text[0] == 0xfe && text[1] == 0xff))) {
		diag_fix(scan_fail(sc, loc_at(sc->src, 0, 2), "the document is UTF-16, not UTF-8"),
			 "save the file as UTF-8");
		return false;
	}
	for (size_t i = 0; i < len; i += n) {
		if (text[i] == 0) {
			scan_fail(sc, loc_at(sc->src, i, i + 1), "a NUL byte");
			return false;
		}
		n = utf8_decode(sc->src->text + i, len - i, &cp);
		if (n == 0) {
			diag_fix(scan_fail(sc, loc_at(sc->src, i, i + 1),
					   "byte 0x%02X is not valid UTF-8 here", text[i]),
				 "save the file as UTF-8");
			return false;
		}
	}
	return true;
}

/* The encoding that the XML declaration names must be UTF-8 or ASCII. */
static bool check_encoding(struct xml_scan *sc)
{
	const char *text = sc->src->text;
	struct xml_span name, value;
	const char *end;

	sc->pos = sc->start;
	if (!at(sc, "<?xml") || sc->src->len - sc->pos < 6 || !is_space(text[sc->pos + 5]))
		return true;
	sc->pos += 5;
	for (;;) {
		skip_space(sc);
		name = scan_name(sc);
		skip_space(sc);
		if (name.begin == name.end || !at(sc, "="))
			return true; /* libxml2 judges the rest */
		sc->pos++;
		skip_space(sc);
		if (!at(sc, "\"") && !at(sc, "'"))
			return true;
		value.begin = (uint32_t)sc->pos + 1;
		end = memchr(text + value.begin, text[sc->pos], sc->src->len - value.begin);
		if (!end)
			return true;
		value.end = (uint32_t)(end - text);
		sc->pos = value.end + 1;
		if (xml_span_is(sc, name, "encoding"))
			break;
	}
	if ((value.end - value.begin == 5 && strncasecmp(text + value.begin, "UTF-8", 5) == 0) ||
	    (value.end - value.begin == 5 && strncasecmp(text + value.begin, "ASCII", 5) == 0) ||
	    (value.end - value.begin == 8 && strncasecmp(text + value.begin, "US-ASCII", 8) == 0))
		return true;
	diag_fix(scan_fail(sc, xml_span_loc(sc, value), "encoding '%.*s' is not accepted",
			   SPAN(sc, value)),
		 "save the file as UTF-8 and write encoding=\"UTF-8\"");
	return false;
}

/* Everything that is checked before libxml2 sees the text. */
bool xml_scan(struct xml_scan *sc, const struct src *s, struct diag *d)
{
	*sc = (struct xml_scan){.src = s, .d = d};
	if (s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
		sc->start = 3;
	if (s->len > XML_MAX_BYTES) {
		scan_fail(sc, loc_at(s, 0, 0), "the document is larger than %u MiB",
			  XML_MAX_BYTES >> 20);
		return false;
	}
	if (!check_bytes(sc) || !check_encoding(sc))
		return false;
	scan_document(sc);
	return !sc->failed;
}

void xml_scan_free(struct xml_scan *sc)
{
	free(sc->tags);
	free(sc->attrs);
}
