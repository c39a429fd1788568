/* What the files target*.c share. */
#ifndef WPSIM_TARGET_IMPL_H
#define WPSIM_TARGET_IMPL_H

#include "target.h"

#define TARGET_MAX_BASES 8   /* length of a base= chain */
#define TARGET_MAX_ROWS 2048 /* of one kind */

/* A target with what must live as long: the texts of the files that it is based on. */
struct target_owner {
	struct target t; /* first: target_free casts back */
	struct src *bases[TARGET_MAX_BASES];
	size_t nbases;
};

struct value_info {
	const char *key, *unit;
	double lo, hi;
	size_t offset; /* in struct target_values */
	bool optional; /* 0 when a file does not have it */
};
extern const struct value_info value_info[TV_COUNT];

/* Words in the order of their enums. */
extern const char *const quality_words[Q_COUNT];
extern const char *const opclass_words[OPC_COUNT];
extern const char *const counter_words[CTR_COUNT];
extern const char *const dtype_words[DT_COUNT];
extern const char *const matrix_kind_words[6];
extern const char *const matrix_unit_words[3];
extern const char *const matrix_operands_words[5];
extern const char *const vmem_kind_words[3];
extern const char *const relation_words[7];
extern const char *const spacing_words[];
extern const size_t nspacing_words;

struct source_id {
	const char *id;
	struct loc loc;
};

/* A target while it is read, from the innermost base outwards. */
struct target_reader {
	struct target_owner *o;
	struct target *t;
	struct diag *d;
	size_t errors_before;  /* in d */
	const struct src *src; /* the text being read; rows from other texts may be replaced */
	struct source_id *sources;
	size_t nsources, capsources;
	size_t cap_matrix, cap_lds, cap_vmem, cap_spacing, cap_clocks;
	struct choice_row choice;
	struct loc choice_loc, pairs_loc;
	unsigned npairs;
	bool have_pairs, too_many;
	bool class_seen[OPC_COUNT];
	bool value_seen[TV_COUNT];
};

/* Read the rows of a <target> element. */
void target_read_rows(struct target_reader *r, struct xml_node *root);
/* What only shows when all rows are there: missing rows, contradictions between rows, the option.
 */
void target_check(struct target_reader *r, struct loc root, const char *variant, struct loc where);

/* The file of a target by name or path, searched beside the file near first (NULL: not). */
char *target_path(const char *name_or_path, const struct src *near);

#endif
