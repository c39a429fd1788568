/* Shared by progtext*.c: what is known while a program is printed. */
#ifndef WPSIM_PROGTEXT_INTERNAL_H
#define WPSIM_PROGTEXT_INTERNAL_H

#include "progtext.h"

#define TILE_BITS 20
#define TILE_BIAS (1 << (TILE_BITS - 1))
#define TILE_MASK ((1u << TILE_BITS) - 1)
#define ENTRY_BYTES 64u /* of the tag table: so much holds one tag */
#define ANY_TAG 0xfff00000u
#define VGPRS 256u
#define FREE_SGPR 60u   /* those above are ours */
#define HASH_1 0x9e3779b1u
#define HASH_2 0x85ebca77u
#define NONE UINT32_MAX
#define SPARE_REGS 8    /* kept from sums, which gfx9 can hold in accumulation registers */
#define SUM_REGS 8      /* v0 to v7 stand for all sums; registers of one span stay in a row */

enum { KEY_A = 1, KEY_B, KEY_SCALES, KEY_BUFFER = 8, KEY_GLOBAL = 512 };

enum holds { HOLDS_UNSET, HOLDS_ANY, HOLDS_TILE };
struct named { /* what a register of a wave should hold */
	uint8_t holds;
	bool seen; /* its value was looked at since it was filled */
	uint32_t tag;
};

enum own { OWN_LANE, OWN_T0, OWN_T1, OWN_T2, OWN_BAD, OWN_DEAD, OWN_COUNT };

struct printer {
	const struct program *p;  /* with registers as compact() numbers them */
	const struct program *of; /* as it was given */
	struct progtext *t;
	bool edge, no_again, gfx9, given; /* given: registers that nothing loads hold data from the start */
	unsigned lanes;
	uint32_t all, mask, ended; /* mask: waves that execute what is printed next */
	unsigned nlabels;
	struct strbuf body;
	uint32_t *line;
	struct progtext_line *lds, access; /* access: of the lines that are printed now */
	size_t nlines, caplines, caplds;
	uint32_t insn;
	uint32_t tensor_base;      /* of what tensor stores write in scratch memory */
	uint32_t *content;         /* [LDS byte / 4]: tag of the tile that was brought there last */
	struct named *reg;         /* [wave * VGPRS + register] */
	unsigned first_own, nown;
	uint32_t *tag;             /* of entry i of the table */
	size_t ntags, captags;
	struct { const uint32_t *lane; uint32_t from; unsigned reg; } table[32];
	unsigned ntables;
	unsigned sum_reg[128];
	int64_t *trip;             /* of each loop */
	bool named_barrier[32];
	unsigned members[32];
};

/* progtext.c: lines, waves, tags */
void pt_fail(struct printer *c, const char *why);
void pt_line(struct printer *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void pt_set_mask(struct printer *c, uint32_t mask);
struct named *pt_reg_of(struct printer *c, unsigned wave, unsigned r);
uint32_t pt_next_class(struct printer *c, uint32_t *left, unsigned r, struct named *n);
void pt_set_class(struct printer *c, uint32_t mask, unsigned r, struct named n);
unsigned pt_own(const struct printer *c, enum own r);
unsigned pt_new_own(struct printer *c);
uint32_t pt_make_tag(unsigned key, int64_t tile);
unsigned pt_key_of_buffer(const struct program *p, int32_t b);
unsigned pt_key_of_global(const struct program *p, int32_t g);
uint32_t pt_entry_of(struct printer *c, uint32_t tag);
int64_t pt_tile_of(const struct printer *c, const struct access *ac, int loop);
uint32_t pt_slot_base(const struct printer *c, const struct access *ac, int64_t tile);

/* progtext_value.c: what registers and LDS should hold */
void pt_begin_access(struct printer *c, const struct access *ac, int64_t tile);
void pt_end_access(struct printer *c);
bool pt_without_lanes(const struct printer *c);
void pt_only_lanes(struct printer *c, unsigned n);
void pt_all_lanes(struct printer *c, unsigned n);
void pt_compare(struct printer *c, unsigned r, uint32_t with);
void pt_look(struct printer *c, uint32_t mask, unsigned r);
void pt_look_at_span(struct printer *c, uint32_t mask, struct span s);
void pt_fill(struct printer *c, uint32_t mask, struct span s, struct named n);
const struct span *pt_span_of(const struct insn *in, enum span_role role);
uint32_t pt_hash(int64_t tile);
void pt_put_matrix(struct printer *c, const struct insn *in, uint32_t mask);
struct insn *pt_compact(struct printer *c, const struct program *p);

/* progtext_memory.c: addresses and memory instructions */
const char *pt_add_op(const struct printer *c);
void pt_put_read(struct printer *c, const struct insn *in, int loop);
void pt_put_write(struct printer *c, const struct insn *in, uint32_t mask, int loop);
void pt_put_load(struct printer *c, const struct insn *in, int loop);
void pt_put_copy(struct printer *c, const struct insn *in, int loop);
uint32_t pt_store_bytes(const struct printer *c);
void pt_put_store(struct printer *c, const struct insn *in, uint32_t i);
void pt_put_tensor_store(struct printer *c, const struct insn *in, int loop);
void pt_put_smem(struct printer *c, const struct insn *in);

#endif
