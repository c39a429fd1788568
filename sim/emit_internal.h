/* Shared by emit_amd*.c: the state of one emission. */
#ifndef WPSIM_EMIT_INTERNAL_H
#define WPSIM_EMIT_INTERNAL_H

#include "address.h"
#include "emit.h"

/* ---- operands of an instruction that is being printed ---- */

struct opnd { /* a run of vector registers, or text */
	uint16_t reg, n; /* program register numbers; n = 0: text */
	const char *text;
};

static inline struct opnd op_v(unsigned reg, unsigned n)
{
	return (struct opnd){ (uint16_t)reg, (uint16_t)n, NULL };
}

static inline struct opnd op_t(const char *text)
{
	return (struct opnd){ 0, 0, text };
}

/* ---- scalar registers that set-up code fills once ---- */

enum scalar_kind {
	SC_CONST,    /* value */
	SC_M0,       /* value + the wave's share of a pattern */
	SC_RESOURCE, /* buffer resource of an operand, moved on by value bytes; 4 registers */
	SC_OWN,      /* filled by code of its owner */
};

struct scalar {
	enum scalar_kind kind;
	int which;            /* RESOURCE: operand 0 to 3, 4: C; M0: index of the wave pattern */
	uint32_t value;
	unsigned reg, n;
};

struct wave_pattern { /* what waves add to an LDS address */
	const uint32_t *base; /* [waves] */
	uint32_t waves;
};

#define EMIT_MAX_STAMPS 48
#define EMIT_MAX_SCALARS 256
#define EMIT_MAX_PATTERNS 16

struct emit {
	const struct program *p;
	const struct emit_options *o;
	struct kernel_text *k;
	struct diag *d;
	unsigned lanes, lane_bits;
	bool gfx9;
	struct strbuf setup, body;
	struct strbuf *out;       /* where instructions go now */
	size_t body_insns, setup_insns, own_insns; /* the program's own, set-up, further code of the emitter */
	/* registers */
	bool sgpr_used[128];
	unsigned sgpr_end, most_sgpr;
	struct loc where;         /* of the schedule, for findings about the whole */
	struct scalar scalar[EMIT_MAX_SCALARS];
	size_t nscalars;
	struct wave_pattern pattern[EMIT_MAX_PATTERNS];
	size_t npatterns;
	unsigned s_wave;          /* the wave's number in the workgroup; 0: not asked for */
	unsigned s_temp;          /* 10 for set-up and the result's code */
	unsigned s_idle;          /* harmless: scalar work without a purpose */
	unsigned s_args, s_tile_x, s_tile_y; /* kernel arguments; tile column and row */
	bool needs_vcc;           /* vccz tells the groups apart */
	unsigned counter;         /* first loop counter */
	unsigned v_scratch;       /* harmless vector register for work without operands */
	unsigned v_tid, v_temp;   /* of set-up code and of the result's code: thread number, and two to work with */
	unsigned msb;             /* gfx1250: s_set_vgpr_msb in force */
	bool in_copy;             /* the last trip, written out for stamps */
	bool exact;               /* the program's own instructions: nothing may be added */
	/* addresses */
	uint32_t *table, *other;  /* [waves * lanes] */
	uint32_t *low;            /* [REG_AGPR] lowest constant of each address register's instructions */
	uint32_t *low_insn;       /* [REG_AGPR] the instruction that has it; UINT32_MAX: no address register */
	int kmin[4];              /* K-steps that each counter starts at */
	unsigned counters[4];     /* counter of each operand: number behind counter; UINT_MAX: none */
	unsigned ncounters;
	uint32_t counter_step[4]; /* bytes of a K-step that counter i counts */
	unsigned nlabels;
	int32_t stage;            /* last one named in the text */
	struct tdm *tdm;
	unsigned s_stamp[EMIT_MAX_STAMPS], stamp_skip, stamp_seen;
	/* matrix tiles */
	struct c_tile *tile;
	size_t ntiles, cap_tiles;
	uint32_t last_matrix;     /* behind it comes the result's code */
	unsigned v_addr, v_data;  /* of the result's code */
	unsigned s_result;        /* buffer resource (gfx1250: address) of the tile in C */
	uint32_t store_high;      /* scalar offset of the result's last store */
	bool failed;
};

/* emit_amd_text.c */
void put_insn(struct emit *e, const char *fmt, ...) PRINTF_LIKE(2, 3); /* one instruction, or a comment */
void put_op(struct emit *e, const char *op, const struct opnd *o, size_t n, const char *tail); /* o[0] is the result */
const char *reg_name(char buf[24], unsigned reg, unsigned n);
void emit_fail(struct emit *e, enum diag_code code, struct loc loc, const char *fmt, ...) PRINTF_LIKE(4, 5);
unsigned emit_label(struct emit *e);
/* Scalar registers: n free ones from a multiple of align on; those of a value, the same for the same value. */
unsigned sgpr_take(struct emit *e, unsigned n, unsigned align);
unsigned scalar_get(struct emit *e, enum scalar_kind kind, int which, uint32_t value, unsigned n);

/* emit_amd_addr.c */
bool addresses_collect(struct emit *e);
void addresses_setup(struct emit *e);
/* The address register of insn and the immediate offset that it adds; false: none. */
bool address_of(struct emit *e, uint32_t insn, unsigned *reg, uint32_t *offset);
/* Code that writes table[wave * lanes + lane] to vector register reg; waves: bit w: wave w counts. */
void address_form(struct emit *e, unsigned reg, const uint32_t *table, uint32_t waves, struct loc loc);
/* Code that writes base[wave] + value to scalar register reg. */
void wave_form(struct emit *e, unsigned reg, const uint32_t *base, uint32_t waves, uint32_t value, struct loc loc);

/* emit_amd_k.c: how addresses move on along K */
bool k_collect(struct emit *e);
struct k_place { unsigned resource; char soffset[16]; uint32_t imm; };
bool k_place(struct emit *e, uint32_t insn, struct k_place *out);
unsigned m0_of(struct emit *e, uint32_t copy); /* SGPR to move to M0 in front of copy */
void k_setup(struct emit *e);

/* emit_amd_insn.c */
bool body_print(struct emit *e);

/* emit_amd_scale.c: scale registers of a scaled matrix op, and which of their bytes count */
bool scales_collect(struct emit *e);
bool scale_operands(struct emit *e, const struct insn *in, struct opnd o[2], struct strbuf *tail);

/* emit_amd_tdm.c: tensor copies and what scalar work without operands does */
bool tdm_collect(struct emit *e);
void tdm_free(struct emit *e);
void tdm_registers(struct emit *e);
void tdm_reset(struct emit *e); /* the body is printed again */
bool tdm_moves(struct emit *e, uint32_t insn);
void tdm_before(struct emit *e, uint32_t insn);
void tdm_load(struct emit *e, uint32_t insn);
void tdm_enter(struct emit *e, const struct loop *l);
void tdm_setup(struct emit *e);
/* Scalar instruction i of the schedule without operands: a descriptor's update, or harmless. */
void tdm_or_idle(struct emit *e, uint32_t i, bool scc_free);

/* emit_amd_stamp.c */
void stamps_plan(struct emit *e);
void stamp_loop(struct emit *e, size_t loop, bool end); /* in front of the loop, behind it */
void stamp_stage(struct emit *e, uint32_t i); /* a stage begins at instruction i */
bool stamps_peel(const struct emit *e); /* the loop's last trip is written out behind it, with stamps */
void stamps_store(struct emit *e);

/* emit_amd_store.c */
struct c_tile { /* accumulator registers of one matrix tile */
	uint16_t reg, n;
	const struct matrix_row *mx;
	const struct access *a[2], *b; /* the reads that filled its operands; a[1]: rows from 16 on of 32-row WMMA ops */
	struct loc loc;
};
bool tiles_collect(struct emit *e);
void result_print(struct emit *e);

#endif
