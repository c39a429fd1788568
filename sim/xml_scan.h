/*
 * The bytes of every start tag of an XML text: where its name, attribute names and values stand.
 *
 * The scan accepts more than XML does and stops quietly where the text can't be XML: whether the
 * text is well-formed is for the real parser to say. Up to that place the n-th start tag of the one
 * is the n-th start tag of the other.
 */
#ifndef WPSIM_XML_SCAN_H
#define WPSIM_XML_SCAN_H

#include "diag.h"
#include "src.h"

/* Less than what libxml2 takes without XML_PARSE_HUGE, so that the limit is always this one. */
#define XML_MAX_BYTES (8u << 20)
#define XML_MAX_NAME_BYTES 1000u
#define XML_MAX_TAG_ATTRS 256u
#define XML_MAX_ATTRS 800000u
#define XML_MAX_TAG_XMLNS 4u
#define XML_XSI_URI "http://www.w3.org/2001/XMLSchema-instance"

struct xml_span {
	uint32_t begin, end;
};

struct xml_scan_attr {
	struct xml_span name, value;
};

struct xml_scan_tag {
	struct xml_span name;
	size_t first; /* its attributes in scan.attrs */
	size_t nattrs;
};

struct xml_scan {
	const struct src *src;
	struct diag *d;
	size_t start; /* past the byte order mark */
	size_t pos;
	size_t depth;
	struct xml_scan_tag *tags;
	size_t ntags, captags;
	struct xml_scan_attr *attrs;
	size_t nattrs, capattrs;
	bool failed; /* a finding was added */
};

/*
 * Scan s and report what is refused before it is parsed: bytes that are not UTF-8, another declared
 * encoding, a DOCTYPE, namespaces, repeated attributes, and whatever exceeds a limit. True when
 * nothing was. Call xml_scan_free in either case.
 */
bool xml_scan(struct xml_scan *sc, const struct src *s, struct diag *d);
void xml_scan_free(struct xml_scan *sc);

struct loc xml_span_loc(const struct xml_scan *sc, struct xml_span s);
bool xml_span_is(const struct xml_scan *sc, struct xml_span s, const char *word);
/* Is this attribute name a namespace declaration? */
bool xml_span_is_xmlns(const struct xml_scan *sc, struct xml_span name);

#endif
