/* Mending a schedule: edits of its text that loosen, tighten, insert and remove waits and barriers.
 */
#ifndef WPSIM_FIX_H
#define WPSIM_FIX_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd_run.h"
#include "xml.h"

struct fix_summary {
	size_t errors_before, errors_after, warnings_after;
	size_t changes;
	int status; /* enum cmd_status of the result */
};

/*
 * The schedule text with every safe edit applied, or with its waits placed anew; byte for byte the
 * same elsewhere. Each change is a line on log. NULL when the text can't be lowered (its findings
 * are then printed on log). The result never has more errors than the text. Free it.
 */
char *fix_schedule(const char *path, const char *text, const struct cmd_options *o,
		   bool place_waits, FILE *log, struct fix_summary *sum);

/* The command: check --fix, check --place-waits. */
int fix_command(const struct cmd_options *o);

/* ---- fix_edit.c: edits by byte offset ---- */

struct edit {
	uint32_t begin, end; /* replaced bytes */
	char *text;	     /* what stands there afterwards */
};

struct edit_list {
	struct edit *list;
	size_t n, cap;
};

/* Takes text. An edit that overlaps one already there is dropped; returns whether it was kept. */
bool edit_add(struct edit_list *l, uint32_t begin, uint32_t end, char *text);
void edit_free(struct edit_list *l);
/* The text with all edits applied; free it. */
char *edit_apply(const char *text, const struct edit_list *l);

/* The element whose name stands at byte at, NULL when there is none. */
struct xml_node *edit_find(struct xml_node *root, uint32_t at);
/* Byte range of a whole element, from '<' to behind its last '>'. */
void edit_extent(const struct src *s, const struct xml_node *n, uint32_t *begin, uint32_t *end);
/* The element before n in its parent, NULL when n is the first. */
struct xml_node *edit_previous(const struct xml_node *n);

/* Edits of one element; false when there is nothing to do. */
bool edit_set(struct edit_list *l, const struct src *s, struct xml_node *n, const char *attr,
	      const char *value);
bool edit_drop_attr(struct edit_list *l, const struct src *s, struct xml_node *n, const char *attr);
bool edit_remove(struct edit_list *l, const struct src *s, const struct xml_node *n);
/* element, on a line of its own when n begins a line. */
bool edit_insert_before(struct edit_list *l, const struct src *s, const struct xml_node *n,
			const char *element);

#endif
