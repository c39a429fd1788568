/* What the parts of the schedule reader share. */
#ifndef WPSIM_SCHEDULE_INTERNAL_H
#define WPSIM_SCHEDULE_INTERNAL_H

#include "schedule.h"
#include "util.h"
#include "xml.h"

enum element {
	EL_NONE = -1,
#define ELEMENT(tail, name, attributes, children) EL_##tail,
#include "schedule.def"
#undef ELEMENT
	EL_COUNT
};

struct vocabulary {
	const char *name;
	const char *attributes; /* words, ! behind a required one */
	const char *children;	/* words, @op and @plain as in schedule.def */
};
extern const struct vocabulary schedule_vocabulary[EL_COUNT];

#define NAME_MAX_BYTES 64u
#define MAX_NAMES 1024u
#define NAME_SLOTS 4096u /* of the hash table; at most a quarter is used */
#define MAX_STAGES 4096u
#define MAX_OPS 100000u
#define MAX_IDS 64u
#define MAX_PATCHED 64u
#define MAX_SLOTS 64
#define MAX_COUNT 4096
#define MAX_GROUPS 4
#define MAX_WAVES 32
#define MAX_PART 64

/* Kinds of declared names; one name space for all. */
enum name_kind {
	NAME_LDS,
	NAME_GLOBAL,
	NAME_FRAGMENT,
	NAME_STAGING,
	NAME_ACCUMULATOR,
	NAME_REGISTERS,
	NAME_KIND_COUNT
};
#define KIND(k) (1u << NAME_##k)
#define KIND_OPERAND (KIND(FRAGMENT) | KIND(REGISTERS))
#define KIND_REGISTER (KIND(FRAGMENT) | KIND(STAGING) | KIND(ACCUMULATOR) | KIND(REGISTERS))

struct name {
	const char *name;
	enum name_kind kind;
	size_t index; /* into schedule.lds, .globals or .regs */
	struct loc loc;
};

#define MAX_WORDS 32

/* The attributes of an element, one by one. */
struct words {
	const char *word[MAX_WORDS];
	bool required[MAX_WORDS];
	size_t n;
};

struct reader {
	struct schedule *s;
	struct diag *d;
	struct arena *a;
	struct name names[MAX_NAMES];
	size_t nnames;
	uint16_t hash[NAME_SLOTS]; /* 1 + index into names, 0: free */
	bool names_broken; /* a declaration has no usable name: unknown names are not reported */
	bool head_broken;  /* shape or groups are not known: what depends on them is not checked */
	bool decl_broken;  /* a declaration is wrong: what it leaves open is not reported again */
	bool has_matrix;   /* there is a <matrix>, right or wrong */
	const struct xml_node *patched[MAX_PATCHED]; /* elements that lost an unknown attribute */
	size_t npatched;
	struct words attributes[EL_COUNT]; /* filled when an element is first met */
	int64_t ksteps;			   /* of the GEMM; 0: not known */
	enum section_kind section;
	uint8_t section_groups;
	const struct sched_op *weave; /* the interleave being read */
	bool in_edge;		      /* inside <edge> */
	bool has_edge;		      /* the stage has an <edge> */
	size_t nops, nstages, nwoven;
	bool full; /* a limit was reached: the rest is not read */
};

/* schedule_vocab.c */
enum element element_of(const struct xml_node *n);
/* Report unknown, misplaced and missing elements and attributes of the whole tree. Misspelt ones
 * are given the name that was meant, others are unlinked, so that what reads the tree later meets
 * only legal ones and one mistake is reported once. */
void vocabulary_check(struct reader *r, struct xml_node *root);
/* Did this element lose an attribute? */
bool vocabulary_patched(const struct reader *r, const struct xml_node *n);
const char *nearest(const char *word, const char *const *words, size_t n);
/* "a, b and c", at most a screen line or two of them. */
const char *listed(struct reader *r, const char *const *words, size_t n);
/* At most the first bytes of a value, for a message. */
const char *clipped(struct reader *r, const char *value);

/* schedule_attr.c: typed attributes. Each reports what is wrong and returns true when *out was set.
 */
struct loc attr_loc(struct xml_node *n, const char *name); /* of the value, else of the element */
struct loc value_part(const struct xml_attr *at, size_t from, size_t len);
bool attr_uint(struct reader *r, struct xml_node *n, const char *name, unsigned lo, unsigned hi,
	       unsigned *out);
bool attr_flag(struct reader *r, struct xml_node *n, const char *name, bool *out);
bool attr_word(struct reader *r, struct xml_node *n, const char *name, const char *const *words,
	       size_t nwords, int *out);
bool attr_text(struct reader *r, struct xml_node *n, const char *name, const char **out,
	       struct loc *loc);
bool attr_identifier(struct reader *r, struct xml_node *n, const char *name, const char **out,
		     struct loc *loc);
bool attr_mnemonic(struct reader *r, struct xml_node *n, const char *name, const char **out,
		   struct loc *loc);
bool attr_part(struct reader *r, struct xml_node *n, const char *name, struct part *out);
/* half="top" and so on; operand: what is cut, OPERAND_NONE when that is not known. */
bool attr_half(struct reader *r, struct xml_node *n, enum operand_id operand, struct part *out);
bool attr_operand(struct reader *r, struct xml_node *n, enum operand_id *out);
bool attr_tile(struct reader *r, struct xml_node *n, struct tile_ref *out);
bool attr_groups(struct reader *r, struct xml_node *n, const char *name, uint8_t *out);
bool attr_waves(struct reader *r, struct xml_node *n, int *lo, int *hi);
/* An attribute that must be there, or must not, for a reason. */
bool attr_need(struct reader *r, struct xml_node *n, const char *name, const char *why);
void attr_refuse(struct reader *r, struct xml_node *n, const char *name, const char *why);

/* schedule_decl.c */
void read_declarations(struct reader *r, struct xml_node *root);
/* The declared name in an attribute, of one of the kinds; NULL when missing or wrong. */
const struct name *attr_name(struct reader *r, struct xml_node *n, const char *attr, unsigned kinds,
			     const char **out, struct loc *loc);
/* Names separated by blanks; *out is the value as written. */
void attr_names(struct reader *r, struct xml_node *n, const char *attr, unsigned kinds,
		const char **out);
const char *operand_name(enum operand_id o);

/* schedule_ops.c, schedule_section.c */
void read_sections(struct reader *r, struct xml_node *root);
/* The instructions among the children of n, in order. */
struct sched_op *read_ops(struct reader *r, struct xml_node *n);
/* One instruction; NULL when a limit was reached. */
struct sched_op *read_op(struct reader *r, struct xml_node *n);

#endif
