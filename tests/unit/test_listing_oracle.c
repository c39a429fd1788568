/* Every instruction text in the tables of the oracle is read for its target without a finding. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "listing.h"

static const char *const tables[] = {
	"hazards", "hazard-sequences", "hazard-loops", "waits", "wait-sequences", "wait-loops",
};
static const char *const columns[] = { "producer", "between", "consumer", "sequence", "code", "annotated", "instruction" };

static char *oracle_path(const char *table, const char *target)
{
	const char *dir = getenv("WPSIM_ORACLE"), *top = getenv("top_srcdir");

	if (dir)
		return xasprintf("%s/%s-%s.tsv", dir, table, target);
#ifdef TOP_SRCDIR
	top = TOP_SRCDIR;
#endif
	return xasprintf("%s/../shared/oracle/%s-%s.tsv", top ? top : ".", table, target);
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct strbuf b = { 0 };
	char buf[65536];
	size_t n;

	if (!f)
		return NULL;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		strbuf_addn(&b, buf, n);
	fclose(f);
	return b.s;
}

/* The cell's items, one a line: labels and instructions. Returns the instructions. */
static size_t cell_text(const char *cell, size_t n, struct strbuf *out)
{
	size_t items = 0;

	for (size_t i = 0; i < n;) {
		const char *sep = NULL;
		size_t k;

		for (size_t j = i; j + 3 <= n && !sep; j++)
			if (!memcmp(cell + j, " ; ", 3))
				sep = cell + j;
		k = sep ? (size_t)(sep - cell) - i : n - i;
		strbuf_addn(out, cell + i, k);
		strbuf_addn(out, "\n", 1);
		items += k > 0 && cell[i + k - 1] != ':';
		i += k + (sep ? 3 : 0);
	}
	return items;
}

/* Parse one cell; its insns must be as many as its items (and an END that is not written). */
static void check_cell(const struct target *t, const char *cell, size_t n, size_t *count, size_t *bad)
{
	struct strbuf text = { 0 };
	size_t items = cell_text(cell, n, &text);
	struct src *s = src_from_text("cell", text.s, text.len);
	struct diag d;
	struct program *p;

	diag_init(&d);
	p = listing_parse(s, t, NULL, NULL, &d);
	(*count)++;
	if (!p || d.n || p->ninsns - (p->insns[p->ninsns - 1].flags & INSN_IMPLIED ? 1 : 0) != items ||
	    program_validate(p, &d) < 0) {
		if ((*bad)++ < 5) {
			print_message("%.*s\n", (int)n, cell);
			diag_print(&d, stdout, false);
		}
	}
	program_free(p);
	diag_free(&d);
	src_free(s);
	strbuf_free(&text);
}

static bool wanted(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (strlen(columns[i]) == n && !memcmp(columns[i], name, n))
			return true;
	return false;
}

static void check_table(const struct target *t, char *text, size_t *count, size_t *bad)
{
	bool take[32] = { 0 };
	char *next;

	for (char *line = text; *line; line = next) {
		size_t col = 0;
		char *end = line + strcspn(line, "\n");

		next = end + (*end == '\n');
		for (char *cell = line; cell <= end && col < ARRAY_LEN(take); col++) {
			size_t n = strcspn(cell, "\t\n");

			if (line == text)
				take[col] = wanted(cell, n);
			else if (take[col] && n)
				check_cell(t, cell, n, count, bad);
			cell += n + 1;
		}
	}
}

static void check_target(const char *name)
{
	size_t count = 0, bad = 0;
	struct target *t;
	struct diag d;

	diag_init(&d);
	t = target_load(name, NULL, (struct loc){ 0 }, &d);
	assert_non_null(t);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char *path = oracle_path(tables[i], name), *text = read_file(path);

		if (!text) {
			print_message("# %s: %s\n", path, strerror(errno));
			free(path);
			target_free(t);
			diag_free(&d);
			skip();
			return;
		}
		check_table(t, text, &count, &bad);
		free(text);
		free(path);
	}
	print_message("# %s: %zu cells, %zu bad\n", name, count, bad);
	assert_true(count > 1000);
	assert_int_equal(bad, 0);
	target_free(t);
	diag_free(&d);
}

static void gfx942(void **state)
{
	(void)state;
	check_target("gfx942");
}

static void gfx950(void **state)
{
	(void)state;
	check_target("gfx950");
}

static void gfx1250(void **state)
{
	(void)state;
	check_target("gfx1250");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(gfx942), cmocka_unit_test(gfx950), cmocka_unit_test(gfx1250) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
