/*
 * The files of the schedule language: the good and bad examples of tests/golden, the examples of
 * docs/schedule.md, and the schema, which must know the same words as the reader.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"
#include "schedule_internal.h"
#include "xml.h"

static char *in_tree(const char *file)
{
	const char *top = getenv("top_srcdir");

	return xasprintf("%s/%s", top ? top : ".", file);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Paths of the .xml files of a folder, sorted. */
static size_t xml_files(const char *folder, char ***out)
{
	char *path = in_tree(folder);
	DIR *dir = opendir(path);
	size_t n = 0, cap = 0;
	char **list = NULL;

	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));) {
		size_t len = strlen(e->d_name);

		if (len < 4 || strcmp(e->d_name + len - 4, ".xml"))
			continue;
		list = xgrow(list, n, &cap, sizeof(*list));
		list[n++] = xasprintf("%s/%s", path, e->d_name);
	}
	closedir(dir);
	free(path);
	qsort(list, n, sizeof(*list), by_name);
	*out = list;
	return n;
}

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static struct src *load(const char *path)
{
	struct diag d;
	struct src *s;

	diag_init(&d);
	s = src_load(path, &d);
	diag_print(&d, stderr, false);
	assert_non_null(s);
	diag_free(&d);
	return s;
}

/* Good examples */

static void test_good(void **state)
{
	char **list, *rng = in_tree("models/schedule.rng");
	size_t n = xml_files("tests/golden/good", &list);

	(void)state;
	assert_true(n >= 8);
	for (size_t i = 0; i < n; i++) {
		struct src *s = load(list[i]);
		struct schedule *sched;
		struct diag d;

		diag_init(&d);
		assert_int_equal(xml_validate_rng(s, rng, &d), 0);
		sched = schedule_parse(s, &d);
		diag_print(&d, stderr, false);
		assert_non_null(sched);
		assert_int_equal(d.n, 0);
		schedule_free(sched);
		diag_free(&d);
	}
	free(rng);
	free_list(list, n);
}

static void mark_words(const struct xml_node *n, struct strbuf *seen)
{
	strbuf_add(seen, "<%s>", n->name);
	for (size_t i = 0; i < n->nattrs; i++)
		strbuf_add(seen, "<%s %s>", n->name, n->attrs[i].name);
	for (const struct xml_node *c = n->first; c; c = c->next)
		mark_words(c, seen);
}

/* Every element and attribute of the language is used by one of the good examples at least. */
static void test_coverage(void **state)
{
	struct strbuf seen = {0};
	char **list;
	size_t n = xml_files("tests/golden/good", &list), missing = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct src *s = load(list[i]);
		struct arena *a = arena_new();
		struct diag d;

		diag_init(&d);
		mark_words(xml_parse(s, a, &d), &seen);
		diag_free(&d);
		arena_free(a);
		src_free(s);
	}
	for (int e = 0; e < EL_COUNT; e++) {
		const struct vocabulary *v = &schedule_vocabulary[e];
		char *words = xstrdup(v->attributes), *save = NULL;

		for (char *w = strtok_r(words, " !", &save); w; w = strtok_r(NULL, " !", &save)) {
			char *want = xasprintf("<%s %s>", v->name, w);

			/* id is one word for all: it is enough that some of each kind carry it. */
			if (!strstr(seen.s, want) && strcmp(w, "id") && strcmp(w, "group") &&
			    strcmp(w, "waves") && strcmp(w, "edge")) {
				fprintf(stderr, "no example has %s\n", want);
				missing++;
			}
			free(want);
		}
		free(words);
		char *element = xasprintf("<%s>", v->name);

		if (!strstr(seen.s, element)) {
			fprintf(stderr, "no example has %s\n", element);
			missing++;
		}
		free(element);
	}
	assert_int_equal(missing, 0);
	strbuf_free(&seen);
	free_list(list, n);
}

/* Bad examples: one mistake each, reported once, at a place. */
static void test_bad(void **state)
{
	char **list;
	size_t n = xml_files("tests/golden/bad", &list);

	(void)state;
	assert_true(n >= 120);
	for (size_t i = 0; i < n; i++) {
		struct diag d;
		struct schedule *s;

		diag_init(&d);
		s = schedule_parse(load(list[i]), &d);
		/* What reads well is wrong for its target, which is not looked at here. */
		if (!s && d.errors != 1) {
			fprintf(stderr, "%s: %zu errors\n", list[i], d.errors);
			assert_int_equal(d.errors, 1);
		}
		assert_true(s || d.list[0].loc.src);
		schedule_free(s);
		diag_free(&d);
	}
	free_list(list, n);
}

/* Examples of the documentation */

#define GEMM_SHAPE                                                                             \
	"<gemm m='4096' n='4096' k='4096' a='fp8' b='fp8' acc='f32' out='f16' scaled='true'>"  \
	"<tile m='256' n='256' k='128'/><waves groups='2' rows='2' cols='4'/><matrix op='m'/>" \
	"<cluster rows='4' cols='4'/></gemm>"
#define GEMM_DECLARED                                                                                                     \
	"<lds name='A_top' operand='A' half='top' slots='2'/><lds name='A_bot' operand='A' half='bottom' slots='2'/>"     \
	"<lds name='B_left' operand='B' half='left' slots='2'/><lds name='B_right' operand='B' half='right' slots='2'/>"  \
	"<lds name='S_A' operand='SA' slots='2'/><lds name='S_B' operand='SB' slots='2'/><lds name='misc' bytes='4096'/>" \
	"<fragment name='a_top' from='A_top'/><fragment name='a_bot' from='A_bot'/>"                                      \
	"<fragment name='b_left' from='B_left'/><fragment name='b_right' from='B_right'/>"                                \
	"<fragment name='s_a' from='S_A'/><fragment name='s_b' from='S_B'/>"                                              \
	"<staging name='g_a' for='A_top'/><registers name='spare' vgpr='8'/>"                                             \
	"<accumulator name='c_tl' a='a_top' b='b_left'/><accumulator name='c_bl' a='a_bot' b='b_left'/>"                  \
	"<accumulator name='c_tr' a='a_top' b='b_right'/><accumulator name='c_br' a='a_bot' b='b_right'/>"
#define KERNEL_SHAPE \
	"<kernel workgroups='64'><waves groups='2' count='8'/><matrix op='m'/></kernel>"
#define KERNEL_DECLARED                                                                                                  \
	"<global name='x' bytes='65536'/><global name='partials' bytes='65536'/><global name='flag' bytes='4'/>"         \
	"<lds name='buf' bytes='8192' slots='2'/><lds name='one' bytes='4096'/><fragment name='f' from='buf' vgpr='8'/>" \
	"<registers name='r' vgpr='4'/><accumulator name='o' vgpr='16'/>"
#define ALONE "<loop trips='1'><fence/></loop>"

/* The schedule that an example is a piece of; NULL for a word that is none. */
static char *framed(const char *how, const char *text)
{
	bool gemm = !!strstr(how, "gemm");
	const char *shape = gemm ? GEMM_SHAPE : KERNEL_SHAPE;
	const char *declared = gemm ? GEMM_DECLARED : KERNEL_DECLARED;
	const char *trips = gemm ? "" : " trips='4'";

	if (!strcmp(how, "whole"))
		return xstrdup(text);
	if (!strcmp(how, "gemm") || !strcmp(how, "kernel"))
		return xasprintf("<schedule name='x' target='t'>%s%s</schedule>", text, ALONE);
	if (!strcmp(how, "reserve"))
		return xasprintf("<schedule name='x' target='t'>%s%s%s</schedule>", shape, text,
				 ALONE);
	if (!strncmp(how, "declare ", 8))
		return xasprintf("<schedule name='x' target='t'>%s%s%s%s</schedule>", shape,
				 declared, text, ALONE);
	if (!strncmp(how, "sections ", 9))
		return xasprintf("<schedule name='x' target='t'>%s%s%s</schedule>", shape, declared,
				 text);
	if (!strncmp(how, "loop ", 5))
		return xasprintf("<schedule name='x' target='t'>%s%s<loop%s>%s</loop></schedule>",
				 shape, declared, trips, text);
	return NULL;
}

static void check_example(const char *how, const char *text, unsigned line)
{
	char *whole = framed(how, text);
	struct schedule *s;
	struct diag d;

	if (!whole)
		fprintf(stderr, "docs/schedule.md:%u: what is '%s'?\n", line, how);
	assert_non_null(whole);
	/* group B must have something to do */
	if (!strcmp(how, "sections kernel") && strstr(text, "<epilogue groups=\"A\">"))
		assert_non_null(strstr(text, "groups=\"B\""));
	diag_init(&d);
	s = schedule_parse(src_from_text("example", whole, strlen(whole)), &d);
	if (!s) {
		fprintf(stderr, "docs/schedule.md:%u:\n", line);
		diag_print(&d, stderr, false);
	}
	assert_non_null(s);
	assert_int_equal(d.n, 0);
	schedule_free(s);
	diag_free(&d);
	free(whole);
}

static size_t check_page(char *text, struct strbuf *all)
{
	struct strbuf body = {0};
	char *how = NULL;
	unsigned line = 0, at = 0;
	size_t examples = 0;

	for (char *next, *l = text; l; l = next) {
		next = strchr(l, '\n');
		if (next)
			*next++ = '\0';
		line++;
		if (!how && !strncmp(l, "```xml", 6)) {
			assert_int_equal(l[6], ' ');
			how = l + 7;
			at = line;
		} else if (how && !strcmp(l, "```")) {
			check_example(how, body.s, at);
			examples++;
			strbuf_free(&body);
			body = (struct strbuf){0};
			how = NULL;
		} else if (how) {
			strbuf_add(&body, "%s\n", l);
			strbuf_add(all, "%s\n", l);
		}
	}
	assert_null(how);
	return examples;
}

static void test_documentation(void **state)
{
	char *path = in_tree("docs/schedule.md");
	struct src *s = load(path);
	char *text = xstrdup(s->text);
	struct strbuf all = {0};
	size_t n = check_page(text, &all);

	(void)state;
	assert_true(n > 30);
	/* Every element is in an example and has its word in the page. */
	for (int e = 0; e < EL_COUNT; e++) {
		char *tag = xasprintf("<%s", schedule_vocabulary[e].name);

		if (!strstr(all.s, tag))
			fprintf(stderr, "docs/schedule.md: no example of %s>\n", tag);
		assert_non_null(strstr(all.s, tag));
		free(tag);
	}
	strbuf_free(&all);
	free(text);
	src_free(s);
	free(path);
}

/* The schema */

static struct xml_node *find_define(struct xml_node *grammar, const char *name)
{
	for (struct xml_node *n = grammar->first; n; n = n->next)
		if (!strcmp(n->name, "define") && !strcmp(xml_get(n, "name")->value, name))
			return n;
	return NULL;
}

/* Add the attributes and elements that stand directly in pattern n, as " word" and " <word>". */
static void collect(struct xml_node *grammar, struct xml_node *n, struct strbuf *attrs,
		    struct strbuf *kids)
{
	for (struct xml_node *c = n->first; c; c = c->next) {
		if (!strcmp(c->name, "element"))
			strbuf_add(kids, " %s ", xml_get(c, "name")->value);
		else if (!strcmp(c->name, "attribute"))
			strbuf_add(attrs, " %s ", xml_get(c, "name")->value);
		else if (!strcmp(c->name, "ref"))
			collect(grammar, find_define(grammar, xml_get(c, "name")->value), attrs,
				kids);
		else
			collect(grammar, c, attrs, kids);
	}
}

/* The element patterns of this name below n; <waves> has two. */
static void collect_element(struct xml_node *grammar, struct xml_node *n, const char *name,
			    struct strbuf *attrs, struct strbuf *kids)
{
	for (struct xml_node *c = n->first; c; c = c->next) {
		if (!strcmp(c->name, "element") && !strcmp(xml_get(c, "name")->value, name))
			collect(grammar, c, attrs, kids);
		collect_element(grammar, c, name, attrs, kids);
	}
}

static bool has_word(const struct strbuf *b, const char *word)
{
	char *w = xasprintf(" %s ", word);
	bool found = b->s && strstr(b->s, w);

	free(w);
	return found;
}

/* Each word of list is in b, and each of b in list. */
static void same_words(const char *element, const char *list, const struct strbuf *b)
{
	char *words = xstrdup(list), *save = NULL;
	struct strbuf mine = {0};

	for (char *w = strtok_r(words, " !", &save); w; w = strtok_r(NULL, " !", &save)) {
		strbuf_add(&mine, " %s ", w);
		if (!has_word(b, w))
			fprintf(stderr, "schema: <%s> lacks '%s'\n", element, w);
		assert_true(has_word(b, w));
	}
	free(words);
	words = xstrdup(b->s ? b->s : "");
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (!has_word(&mine, w))
			fprintf(stderr, "schema: <%s> has '%s', the reader does not\n", element, w);
		assert_true(has_word(&mine, w));
	}
	free(words);
	strbuf_free(&mine);
}

/* @op and @plain written out. */
static char *children_of(enum element e)
{
	const char *list = schedule_vocabulary[e].children;
	bool op = !!strstr(list, "@op"), plain = !!strstr(list, "@plain");
	const char *at = strchr(list, '@');
	struct strbuf b = {0};

	strbuf_add(&b, "%.*s", at ? (int)(at - list) : (int)strlen(list), list);
	for (int k = 0; k < OP_KIND_COUNT; k++)
		if (op || (plain && k != OP_INTERLEAVE && k != OP_FENCE && k != OP_COMMIT))
			strbuf_add(&b, " %s", op_kind_name((enum op_kind)k));
	return b.s;
}

static void test_schema(void **state)
{
	char *path = in_tree("models/schedule.rng");
	struct src *file = load(path), *s;
	struct arena *a = arena_new();
	struct xml_node *grammar;
	struct diag d;
	char *space = strstr(file->text, " xmlns=\"");

	(void)state;
	/* The reader takes no namespaces. */
	assert_non_null(space);
	memset(space, ' ', strcspn(space + 8, "\"") + 9);
	s = src_from_text("schedule.rng", file->text, file->len);
	src_free(file);
	diag_init(&d);
	grammar = xml_parse(s, a, &d);
	assert_non_null(grammar);
	for (int e = 0; e < EL_COUNT; e++) {
		struct strbuf attrs = {0}, kids = {0};
		char *children = children_of((enum element)e);

		collect_element(grammar, grammar, schedule_vocabulary[e].name, &attrs, &kids);
		same_words(schedule_vocabulary[e].name, schedule_vocabulary[e].attributes, &attrs);
		same_words(schedule_vocabulary[e].name, children, &kids);
		free(children);
		strbuf_free(&attrs);
		strbuf_free(&kids);
	}
	diag_free(&d);
	arena_free(a);
	src_free(s);
	free(path);
}

/* Lists that are written once in the vocabulary and once elsewhere. */
static void test_words(void **state)
{
	(void)state;
	for (int c = 0; c < CTR_COUNT; c++) {
		struct strbuf b = {0};

		strbuf_add(&b, " %s ", schedule_vocabulary[EL_WAIT].attributes);
		assert_true(has_word(&b, counter_name((enum counter)c)));
		strbuf_free(&b);
	}
	for (int k = 0; k < OP_KIND_COUNT; k++)
		assert_string_equal(op_kind_name((enum op_kind)k),
				    schedule_vocabulary[EL_LOAD + k].name);
	assert_int_equal(EL_LOAD + OP_KIND_COUNT, EL_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),   cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_bad),    cmocka_unit_test(test_documentation),
		cmocka_unit_test(test_schema), cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
