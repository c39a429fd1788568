/* Parts of the listing reader: instruction table, expressions, lines, operands, kernels, building. */
#ifndef WPSIM_LISTING_INTERNAL_H
#define WPSIM_LISTING_INTERNAL_H

#include "listing.h"
#include "operand.h"

/* ---- the instruction table (listing_insn.c) ---- */

enum isa { ISA_942 = 1, ISA_950 = 2, ISA_1250 = 4 };

#define INSN_MAX_SLOTS 6
struct insn_slot {       /* an operand of an instruction, see insn.def */
	char role;
	char file;      /* 'v', 's', 0: any */
	uint8_t regs;   /* 0: any number */
	bool optional;
};

enum insn_rest { /* what the text does not show, and other remarks */
	READS_VCC = 1 << 0, READS_EXEC = 1 << 1, READS_SCC = 1 << 2, READS_M0 = 1 << 3,
	WRITES_VCC = 1 << 4, WRITES_EXEC = 1 << 5, WRITES_SCC = 1 << 6, WRITES_M0 = 1 << 7,
	CTR_FLAT = 1 << 8, CTR_AS_SMEM = 1 << 9, CTR_IS_ASYNC = 1 << 10, CTR_IS_EXP = 1 << 11, CTR_IS_NONE = 1 << 12,
	ENC_SHORT = 1 << 13,
};

struct insn_desc {
	const char *name;
	const char *canonical; /* name of the target's rows; name itself mostly */
	enum opclass cls;
	uint8_t isa;
	uint8_t nslots;
	uint16_t rest;
	struct insn_slot slot[INSN_MAX_SLOTS];
	struct insn_desc *next; /* same hash */
};

enum suffix { SUFFIX_NONE, SUFFIX_E32, SUFFIX_E64, SUFFIX_DPP, SUFFIX_E64_DPP, SUFFIX_SDWA, SUFFIX_COUNT };
extern const char *const suffix_text[SUFFIX_COUNT];

enum isa isa_of_target(const struct target *t);
/* Row of the mnemonic name[0..n) with or without encoding suffix; NULL when the isa does not have it. */
const struct insn_desc *insn_find(const char *name, size_t n, enum isa isa, enum suffix *suffix);
unsigned insn_targets(const char *name, size_t n); /* isas that have it */
const char *insn_nearest(const char *name, enum isa isa); /* NULL: none is near */
size_t insn_index(const struct insn_desc *x);
size_t insn_count(void);
const struct insn_desc *insn_at(size_t i);

/* ---- symbols and expressions (listing_expr.c) ---- */

struct symbol {
	const char *name; /* in the source text */
	uint32_t len;
	bool defined;     /* value is known */
	int64_t value;
	uint32_t next;
};
struct symtab {
	struct symbol *list;
	size_t n, cap;
	uint32_t *bucket; /* 1 + index */
	size_t nbuckets;
};
struct symbol *symtab_find(struct symtab *t, const char *name, size_t len);
struct symbol *symtab_add(struct symtab *t, const char *name, size_t len); /* the old one when it is there */
void symtab_free(struct symtab *t);

extern const uint8_t ident_kind[256]; /* 1: in a word, 2: begins one as well */
static inline bool ident_start(char c) { return ident_kind[(unsigned char)c] == 2; }
static inline bool ident_char(char c) { return ident_kind[(unsigned char)c] != 0; }
/* Value of the expression s[0..n). 0; -1: no expression; -2: uses an unknown symbol or function. */
int expr_eval(struct symtab *t, const char *s, size_t n, int64_t *out);

/* ---- lines (listing_lex.c) ---- */

enum line_kind { LINE_EMPTY, LINE_LABEL, LINE_DIRECTIVE, LINE_ASSIGN, LINE_INSN };
struct line { /* one statement; offsets into the source */
	enum line_kind kind;
	uint32_t begin, end;           /* the statement, comments cut off */
	uint32_t name, name_end;       /* label, directive, symbol or mnemonic */
	uint32_t args;                 /* what follows it, up to end */
	bool header;                   /* label of a disassembler: "0000 <name>:" */
	bool has_address;
	uint64_t address;              /* from the header or the comment of a disassembler */
	unsigned code_bytes;           /* from that comment, 0: unknown */
};
struct lexer {
	const struct src *src;
	uint32_t pos;                  /* next byte to look at */
	uint32_t limit;
	bool in_comment;               /* inside a block comment at pos */
	bool skip_insns;               /* pass over lines that are nothing but an instruction */
	uint32_t comment_begin;
	char *clean;                   /* text of the current line with comments blanked out */
	size_t clean_cap, clean_len, clean_pos; /* statements from clean_pos on are still to come */
	uint32_t clean_at;             /* source offset of clean[0] */
	struct line whole;             /* what the line's comment says */
};
void lexer_init(struct lexer *lx, const struct src *s, uint32_t from, uint32_t limit);
void lexer_free(struct lexer *lx);
bool lexer_next(struct lexer *lx, struct line *out); /* false at the end */
/* Text of the current line's bytes [from, ...) without comments. Valid until the next lexer_next. */
const char *lexer_text(const struct lexer *lx, uint32_t from);

/* ---- kernels (listing_kernel.c) ---- */

struct kernel {
	const char *name;
	struct loc loc;
	bool is_kernel;         /* declared by a descriptor or metadata */
	uint32_t begin, end;    /* its text; begin == end: not there */
	struct listing_info info;
	unsigned total_vgpr, accum_offset;
};
struct kernel_list {
	struct kernel *list;
	size_t n, cap;
};

struct encoded_branch {         /* a branch from .long: its distance is in its code */
	uint32_t insn;
	int32_t words;
	uint32_t begin, end;    /* the line */
};
struct encoded {                /* code bytes of .long and the like that are no instruction yet */
	uint8_t bytes[32];
	unsigned n;
	uint32_t begin, end;    /* the lines that they come from */
	struct encoded_branch *branch;
	size_t nbranches, capbranches;
};

struct reader {
	const struct src *src;
	const struct target *t;
	const struct listing_options *o;
	struct diag *d;
	struct program *p;
	struct arena *arena;
	enum isa isa;
	struct kernel_list kernels; /* and other functions */
	struct symtab set;          /* .set */
	struct symtab label;        /* value: index of the instruction behind it */
	struct symtab outside;      /* labels of the text that is not read */
	struct symtab forward;      /* numbers of "1f" that wait for their label: 1 + first fixup */
	struct insn *insns;
	uint64_t *address;          /* of each instruction */
	size_t n, cap, acap;
	uint64_t here;              /* address of the next instruction */
	struct fixup *fixups;
	size_t nfixups, capfixups;
	struct encoded encoded;
	struct row_memo *memo;      /* rows of the target by instruction */
	unsigned msb[4];            /* upper bits of src0, src1, src2, dst registers (s_set_vgpr_msb) */
	bool tail_split;
	bool in_text;               /* section holds code */
	size_t unknown, errors_before;
	unsigned max_vgpr, max_agpr, max_sgpr;
};

struct fixup { /* a branch whose target is resolved at the end */
	uint32_t insn;
	uint32_t begin, end;  /* operand in the source */
	bool done;
	uint32_t next;        /* 1 + the next one that waits for the same "1f", 0: none */
};

struct loc reader_loc(const struct reader *r, uint32_t begin, uint32_t end);
/* Pass over the whole text: symbols that are functions or kernels, what the text says about them. */
void kernels_scan(struct reader *r);
/* The one to read; NULL and a finding when there is no telling. *whole: no kernels, take everything. */
struct kernel *kernels_choose(struct reader *r, bool *whole);
bool section_is_text(const char *args, size_t n);

/* ---- how a kernel is started (listing_launch.c) ---- */

/* Of a kernel without a descriptor: what a compiler's kernels have. */
void launch_defaults(const struct reader *r, struct listing_launch *l);
bool launch_directive(struct listing_launch *l, const char *key, size_t n, int64_t v); /* false: not about the start */
void launch_arg_begin(struct listing_launch *l);
void launch_arg_value(struct reader *r, struct listing_launch *l, const char *key, size_t n, const char *s, size_t len);
/* The next one of three sizes. */
void launch_size(unsigned size[3], unsigned *dim, const char *s, size_t n);
/* The metadata's part goes into that of the directives. */
void launch_merge(struct listing_launch *to, const struct listing_launch *meta);

/* ---- operands (listing_operands.c) ---- */

struct operands {
	struct operand o[MAX_OPERANDS];
	unsigned n;
	const char *mods;       /* in the lexer's line; NULL: none */
	size_t mods_len;
};
/* Parse s[0..n) that stands at source offset at. 0, or -1 after a finding. */
int operands_parse(struct reader *r, const char *s, size_t n, uint32_t at, struct operands *out);
/* Value of modifier "name:value" (an integer, or a word whose text goes to *word); false when it is not there. */
bool mods_value(const char *mods, size_t n, const char *name, int64_t *value, const char **word, size_t *word_len);
bool mods_has(const char *mods, size_t n, const char *word);

/* ---- instructions (listing_build.c, listing_rows.c, listing_special.c) ---- */

void build_room(struct reader *r); /* for one more in r->insns */
/* One instruction line; findings on the way. */
void build_insn(struct reader *r, const struct lexer *lx, const struct line *ln);
/* A finding at an operand; the number kept is capped by the diag. */
void build_error(struct reader *r, enum diag_code code, uint32_t begin, uint32_t end, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Rows of the target, counter, bytes, LDS time and code size. */
int rows_fill(struct reader *r, const struct insn_desc *x, enum suffix sfx, const struct operands *ops, bool returns,
	      struct insn *in);
/* Code bytes of a dual instruction. modified: some operand is negated. */
unsigned dual_size(const struct insn_desc *x, const struct insn_desc *y, const struct operands *xo, const struct operands *yo,
		   bool modified);
void rows_free(struct reader *r);
/* Waits, barriers, priorities, branches: what the operands say. text[0..n) is the operand part. */
int special_fill(struct reader *r, const struct insn_desc *x, const struct operands *ops, const char *text, size_t n,
		 uint32_t at, struct insn *in);
bool special_raw(const struct insn_desc *x); /* operands are not registers: only special_fill reads them */
/* A copy of the operands for insn.ops (listing_keep.c). */
struct operand_list *keep_operands(struct reader *r, const struct insn_desc *x, enum suffix sfx, bool returns,
				   const struct operands *ops);
/* Labels in kept operands become values: code bytes from the first instruction on. */
void resolve_kept(struct reader *r);
/* Data directives in code (listing_encoded.c): false when the line is none of them. */
bool encoded_words(struct reader *r, const struct lexer *lx, const struct line *ln);
void encoded_end(struct reader *r); /* something else follows: what is left must be complete */
void encoded_branches(struct reader *r);
/* Branch targets. */
void resolve_branches(struct reader *r);
/* The label "1:" has come: what jumps to "1f" goes here. */
void resolve_forward(struct reader *r, const char *number, size_t n);

#endif
