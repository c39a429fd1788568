/* Typed readers of attributes: every bad value is reported with what it must be. */
#include "xml.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Enough of a value to recognise it in a message; the place shows the rest. */
#define QUOTED_MAX 40
static int quoted_len(const char *s)
{
	return (int)utf8_cut(s, strlen(s), QUOTED_MAX);
}
#define QUOTED(s) quoted_len(s), (s), strlen(s) > QUOTED_MAX ? "..." : ""

struct xml_attr *xml_get(struct xml_node *n, const char *name)
{
	for (size_t i = 0; i < n->nattrs; i++) {
		if (strcmp(n->attrs[i].name, name) == 0) {
			n->attrs[i].used = true;
			return &n->attrs[i];
		}
	}
	return NULL;
}

/* "a, b or c", at most a screen line or two of them. */
static void add_words(struct strbuf *b, const char *const *words, size_t n)
{
	const size_t shown = n > 24 ? 24 : n;

	for (size_t i = 0; i < shown; i++)
		strbuf_add(b, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", words[i]);
	if (shown < n)
		strbuf_add(b, " and %zu more", n - shown);
}

void xml_unused(const struct xml_node *n, const char *const *known, size_t nknown, struct diag *d)
{
	for (size_t i = 0; i < n->nattrs; i++) {
		const struct xml_attr *attr = &n->attrs[i];
		struct strbuf words = {0};
		const char *nearest;
		struct finding *f;

		if (attr->used)
			continue;
		nearest = word_nearest(attr->name, known, nknown);
		if (nearest && strcmp(nearest, attr->name) == 0) {
			f = diag_add(d, attr->name_loc, DIAG_ATTR,
				     "<%.*s%s> can't have the attribute '%s' here", QUOTED(n->name),
				     attr->name);
			diag_fix(f, "remove it: it has no meaning together with the others");
			continue;
		}
		f = diag_add(d, attr->name_loc, DIAG_ATTR, "<%.*s%s> has no attribute '%.*s%s'",
			     QUOTED(n->name), QUOTED(attr->name));
		if (nearest) {
			diag_fix(f, "write %s=\"...\"", nearest);
		} else if (nknown) {
			add_words(&words, known, nknown);
			diag_fix(f, "use %s", words.s);
			strbuf_free(&words);
		} else {
			diag_fix(f, "remove it: <%.*s%s> takes no attributes", QUOTED(n->name));
		}
	}
}

/* The attribute; when there is none and it is required, an E-ATTR that says what it wants. */
static struct xml_attr *get_checked(struct xml_node *n, const char *name, bool required,
				    const char *wants, struct diag *d)
{
	struct xml_attr *attr = xml_get(n, name);

	if (!attr && required)
		diag_fix(diag_add(d, n->loc, DIAG_ATTR, "<%.*s%s> needs the attribute '%s'",
				  QUOTED(n->name), name),
			 "add %s=\"...\", %s", name, wants);
	return attr;
}

static void report_value(const struct xml_attr *attr, const char *wants, const char *put,
			 struct diag *d)
{
	struct finding *f;

	if (attr->value[0])
		f = diag_add(d, attr->value_loc, DIAG_VALUE,
			     "attribute '%s' is '%.*s%s', must be %s", attr->name,
			     QUOTED(attr->value), wants);
	else
		f = diag_add(d, attr->value_loc, DIAG_VALUE, "attribute '%s' is empty, must be %s",
			     attr->name, wants);
	if (put)
		diag_fix(f, "write %s=\"%s\"", attr->name, put);
	else
		diag_fix(f, "write %s=\"...\" with %s", attr->name, wants);
}

static char *int_range(int64_t lo, int64_t hi)
{
	if (lo == INT64_MIN && hi == INT64_MAX)
		return xstrdup("a whole number");
	if (hi == INT64_MAX)
		return xasprintf("a whole number of at least %" PRId64, lo);
	if (lo == INT64_MIN)
		return xasprintf("a whole number of at most %" PRId64, hi);
	if (lo == hi)
		return xasprintf("%" PRId64, lo);
	return xasprintf("a whole number from %" PRId64 " to %" PRId64, lo, hi);
}

static char *double_range(double lo, double hi)
{
	const bool any_lo = lo <= -DBL_MAX, any_hi = hi >= DBL_MAX;

	if (any_lo && any_hi)
		return xstrdup("a number");
	if (any_hi)
		return xasprintf("a number of at least %.10g", lo);
	if (any_lo)
		return xasprintf("a number of at most %.10g", hi);
	return xasprintf("a number from %g to %.10g", lo, hi);
}

bool xml_int(struct xml_node *n, const char *name, bool required, int64_t lo, int64_t hi,
	     int64_t *out, struct diag *d)
{
	char *wants = int_range(lo, hi);
	struct xml_attr *attr = get_checked(n, name, required, wants, d);
	bool ok = attr && parse_int64(attr->value, lo, hi, out) == 0;

	if (attr && !ok)
		report_value(attr, wants, NULL, d);
	free(wants);
	return ok;
}

bool xml_double(struct xml_node *n, const char *name, bool required, double lo, double hi,
		double *out, struct diag *d)
{
	char *wants = double_range(lo, hi);
	struct xml_attr *attr = get_checked(n, name, required, wants, d);
	double v = 0;
	bool ok = attr && parse_double(attr->value, &v) == 0 && v >= lo && v <= hi;

	if (ok)
		*out = v;
	else if (attr)
		report_value(attr, wants, NULL, d);
	free(wants);
	return ok;
}

bool xml_word(struct xml_node *n, const char *name, bool required, const char *const *words,
	      size_t nwords, int *out, struct diag *d)
{
	struct strbuf wants = {0};
	struct xml_attr *attr = xml_get(n, name);

	for (size_t i = 0; attr && i < nwords; i++) {
		if (strcmp(attr->value, words[i]) == 0) {
			*out = (int)i;
			return true;
		}
	}
	strbuf_add(&wants, "%s", nwords > 1 ? "one of " : "");
	add_words(&wants, words, nwords);
	if (attr)
		report_value(attr, wants.s, word_nearest(attr->value, words, nwords), d);
	else
		get_checked(n, name, required, wants.s, d);
	strbuf_free(&wants);
	return false;
}

bool xml_str(struct xml_node *n, const char *name, bool required, const char **out, struct diag *d)
{
	struct xml_attr *attr = get_checked(n, name, required, "a text that is not empty", d);

	if (!attr)
		return false;
	if (!attr->value[0]) {
		report_value(attr, "a text that is not empty", NULL, d);
		return false;
	}
	*out = attr->value;
	return true;
}
