/* JSON: a document read into a tree, and values written. Only jsonval.c knows the library behind it. */
#ifndef WPSIM_JSONVAL_H
#define WPSIM_JSONVAL_H

#include <stdbool.h>
#include <stddef.h>

#include "util.h"

enum jsonval_kind { JV_NULL, JV_BOOL, JV_NUMBER, JV_STRING, JV_ARRAY, JV_OBJECT };

struct jsonval {
	enum jsonval_kind kind;
	bool truth;         /* BOOL */
	double number;      /* NUMBER */
	const char *string; /* STRING: UTF-8 without zeros */
	size_t n;           /* members of an ARRAY or OBJECT */
	const struct jsonval *const *item;
	const char *const *key; /* OBJECT */
};

#define JSONVAL_MAX 4000000u /* values of one document */

struct jsonval_error { size_t offset; char text[200]; };

/* Read text[0..len). The tree lives in a. NULL and *e when it is no JSON document, has a key twice, or more
 * than JSONVAL_MAX values. */
const struct jsonval *jsonval_parse(struct arena *a, const char *text, size_t len, struct jsonval_error *e);
const char *jsonval_kind_name(enum jsonval_kind k); /* "a number" */
/* Member of an object; NULL when o is NULL, no object, or has none. */
const struct jsonval *jsonval_get(const struct jsonval *o, const char *key);
/* The number or text of a member, or the default when it is not there or of another kind. */
double jsonval_number(const struct jsonval *o, const char *key, double otherwise);
const char *jsonval_text(const struct jsonval *o, const char *key, const char *otherwise);

/* Add s in quotes, escaped; NULL adds null. Bytes that are no UTF-8 become '?'. */
void jsonval_quote(struct strbuf *b, const char *s);
/* Add a text of at most 17 digits that reads back as v; null when v is not finite. */
void jsonval_put(struct strbuf *b, double v);

#endif
