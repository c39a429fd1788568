/* XML documents with the exact place of every element, attribute name and attribute value. */
#ifndef WPSIM_XML_H
#define WPSIM_XML_H

#include "diag.h"
#include "src.h"
#include "util.h"

struct xml_attr {
	const char *name, *value;
	struct loc name_loc, value_loc; /* value_loc excludes the quotes */
	bool used;                      /* set by xml_get; xml_unused reports the rest */
};

struct xml_node {
	const char *name;
	struct loc loc; /* the name in the start tag */
	struct xml_attr *attrs;
	size_t nattrs;
	struct xml_node *parent, *first, *next; /* first child, next sibling */
	const char *text; /* character data directly inside, joined; "" when none */
};

#define XML_MAX_DEPTH 32
#define XML_MAX_NODES 200000

/*
 * Parse a document into a tree allocated from a. NULL after at least one E-XML finding: not
 * well-formed, a DOCTYPE or entity other than the five predefined ones, nesting deeper than
 * XML_MAX_DEPTH, more than XML_MAX_NODES elements. Nothing outside the text is ever loaded.
 */
struct xml_node *xml_parse(const struct src *s, struct arena *a, struct diag *d);

/* The attribute or NULL; marks it used. */
struct xml_attr *xml_get(struct xml_node *n, const char *name);
/* Report every attribute of n that xml_get never asked for, with the nearest of known[0..nknown). */
void xml_unused(const struct xml_node *n, const char *const *known, size_t nknown, struct diag *d);

/*
 * Typed readers. Missing: report E-ATTR when required, else leave *out alone. Bad: report E-VALUE at
 * the value with range and nearest word. Return true when *out was set.
 */
bool xml_int(struct xml_node *n, const char *name, bool required, int64_t lo, int64_t hi,
	     int64_t *out, struct diag *d);
bool xml_double(struct xml_node *n, const char *name, bool required, double lo, double hi,
		double *out, struct diag *d);
/* *out = index of the value in words. */
bool xml_word(struct xml_node *n, const char *name, bool required, const char *const *words,
	      size_t nwords, int *out, struct diag *d);
/* Points into the tree's arena. Empty strings are an E-VALUE. */
bool xml_str(struct xml_node *n, const char *name, bool required, const char **out, struct diag *d);

/* Validate against a RELAX NG schema file (XML form); 0 valid, 1 not, -1 the schema can't be read. Tests. */
int xml_validate_rng(const struct src *s, const char *rng_path, struct diag *d);

#endif
