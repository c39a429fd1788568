/* Shared by lower*.c: the state of one lowering. */
#ifndef WPSIM_LOWER_INTERNAL_H
#define WPSIM_LOWER_INTERNAL_H

#include "lower.h"

#define LOWER_MAX_ACCESS 65536u
#define LOWER_MAX_REG 1024u
#define ALL_GROUPS(lw) ((uint8_t)((1u << (lw)->s->groups) - 1))

/* How an operand's tile lies over the waves. */
struct lower_operand {
	unsigned rows;      /* of the workgroup's tile: M for A, N for B */
	unsigned bits;      /* per element */
	unsigned row_bytes; /* of one K-step */
	unsigned split;     /* wave rows (A) or wave columns (B) that share the rows */
	unsigned m;         /* rows of the matrix op on this side */
};

struct lds_buf {
	const struct sched_lds *l;
	unsigned rows, row_bytes; /* 0 without an operand */
	uint32_t raw_bytes;       /* without padding */
	uint32_t slot_bytes;
};

struct reg_block {
	const struct sched_reg *r;
	unsigned first, n;   /* program register numbers; n = 0: not laid out */
	/* fragments of an operand */
	int operand;         /* enum operand_id, 0: explicit count */
	unsigned rows;       /* of one wave */
	unsigned bytes;      /* of K in one row */
	const struct lds_row *read; /* op of <read> */
	unsigned tiles_m, tiles_n;  /* accumulator: matrix tiles */
	unsigned tile_regs;  /* registers of one matrix tile row (fragment) or tile (accumulator) */
};

/* Per instruction, kept beside program.insns while it grows. */
enum lower_mark { MARK_COPY = 1, MARK_COMMIT = 2 };

struct group_wait { /* a wait whose value counts copy groups; resolved when all code is there */
	uint32_t insn;
	unsigned keep;
	int ops; /* PTX: operations that may remain; keep follows from them. -1: keep is given */
};

struct lower {
	const struct schedule *s;
	const struct target *t;
	struct diag *d;
	struct program *p;
	struct arena *a;
	unsigned lanes;              /* of a wave */
	const struct matrix_row *mx; /* NULL when the schedule names none */
	struct lower_operand opnd[4];      /* A, B, scales of A, of B */
	struct lds_buf *buf;
	struct reg_block *reg;
	unsigned reserve_first, reserve_n;
	uint8_t *mark;
	size_t cap_insns, cap_mark, cap_access, cap_stages, cap_loops, cap_gw;
	struct group_wait *gw;
	size_t ngw;
	/* while emitting */
	enum section_kind section;
	uint8_t sect_groups;         /* of the section being lowered */
	int step;                    /* K-step of the loop body's copy: added to "k" */
	unsigned loop_steps;
	int32_t stage;
	uint8_t extra_flags;
	uint32_t op_waves;           /* waves that execute the op being lowered; 0 outside ops */
	bool moves_written; /* the loop's text has scalar work for the addresses of tensor copies */
	bool skip_boundary; /* the first stage's boundary stands at the loop's bottom */
	int prio[PROG_MAX_GROUPS];   /* in force; -2: not known */
	unsigned next_addr, next_dst;
	bool tail_split;             /* SCHED_MODE lets the wave go on after a matrix op */
	unsigned copy_counters;      /* bit per counter that copies of this schedule raise */
	unsigned request_steps;      /* K-steps that loop_request is for */
	double loop_request;         /* bytes asked of L2 by the main loop's trip */
	struct insn spare;           /* past the limit: written, never read */
	bool over;                   /* a limit was reported */
	size_t errors_before;        /* findings of others in d */
};

/* lower_layout.c */
int layout_operands(struct lower *lw);
int layout_lds(struct lower *lw);
const struct lower_operand *layout_operand(const struct lower *lw, enum operand_id id);
int lds_index(const struct lower *lw, const char *name); /* -1: NULL or unknown */
/* Rows of the operand that lie side by side in the lanes of one register. WMMA ops of 32 rows take two such sets of 16. */
unsigned operand_lane_rows(const struct lower *lw, const struct lower_operand *o);
/* Byte offset in a slot of byte b of row r of the buffer's part of the operand. */
uint32_t lds_place(const struct lower *lw, const struct lds_buf *b, uint32_t row, uint32_t byte);
uint32_t lds_pad(const struct sched_lds *l, uint32_t off);
/* The row and its byte that lie at byte off of a slot, padding not counted. */
void lds_unplace(const struct lower *lw, const struct lds_buf *b, uint32_t off, uint32_t *row, uint32_t *byte);

/* lower_access.c: each returns an index into program.access or -1 after a finding */
struct access_spec {
	const struct sched_op *op;
	const struct reg_block *reg; /* fragment or staging; NULL for copies */
	int buf;                     /* index of the LDS buffer, -1 */
	unsigned j, count;           /* instruction j of count */
	unsigned width;              /* bytes per lane */
	bool write;                  /* of LDS, or of global memory when buf is -1 */
	bool transpose;
	uint32_t bytes;              /* tensor copies: of each executing wave */
	uint32_t waves;              /* bit w: wave w executes */
	unsigned nlanes;             /* lanes that name addresses, 0: all */
	const struct ptx_unit *unit; /* PTX: how a fragment is read */
};
int32_t access_fragment(struct lower *lw, const struct access_spec *q); /* LDS reads of a fragment */
int32_t access_tile(struct lower *lw, const struct access_spec *q);     /* all waves share the buffer part */
int32_t access_tensor(struct lower *lw, const struct access_spec *q);
int32_t access_note(struct lower *lw, const struct access_spec *q);     /* tile only: global memory */
void access_load(struct lower *lw, const struct access_spec *q, int32_t index); /* rows and bytes that a load into staging fetches */
int32_t access_explicit(struct lower *lw, const struct access_spec *q); /* kernels: offset and stride */
/* Array time of a LDS instruction from its access. */
void access_cost(struct lower *lw, struct insn *in);
void access_cost_copy(struct lower *lw, struct insn *in);
uint32_t waves_of_groups(const struct lower *lw, uint8_t groups);

/* lower_addr.c: which address register each memory instruction uses */
void addr_plan(struct lower *lw);

/* lower_msb.c: gfx1250 names 256 vector registers at a time */
int msb_insert(struct lower *lw);

/* lower_regs.c */
int regs_layout(struct lower *lw);
bool regs_reserve(struct lower *lw, unsigned n); /* make the reserve n registers; false: it does not fit */
int reg_index(const struct lower *lw, const char *name);
struct reg_block *reg_find(const struct lower *lw, const char *name);

/* lower_ops.c */
struct insn *emit(struct lower *lw, enum opclass cls, const char *op, uint8_t groups, struct loc loc);
void add_span(struct insn *in, enum span_role role, unsigned first, unsigned n);
void emit_op(struct lower *lw, const struct sched_op *op);
void emit_ops(struct lower *lw, const struct sched_op *ops);
/* lower_sync.c */
void op_wait(struct lower *lw, const struct sched_op *op, uint8_t groups);
void op_barrier(struct lower *lw, const struct sched_op *op, uint8_t groups);
void op_nop(struct lower *lw, const struct sched_op *op, uint8_t groups);
void op_priority(struct lower *lw, const struct sched_op *op, uint8_t groups);
void op_mode(struct lower *lw, const struct sched_op *op, uint8_t groups);
void emit_wait(struct lower *lw, int counter, unsigned value, uint8_t groups, uint8_t flags, struct loc loc);
void emit_drain(struct lower *lw, uint8_t groups, uint8_t flags, struct loc loc);
void emit_barrier(struct lower *lw, int id, enum barrier_part part, unsigned members, uint8_t groups,
		  uint8_t flags, struct loc loc);
const char *wait_name(const struct target *t, int counter);

/* lower_ptx.c: what differs where the program is PTX */
bool ptx_refuses(struct lower *lw, const struct sched_op *op); /* true after a finding: PTX has no such instruction */
void ptx_barrier(struct lower *lw, int id, enum barrier_part part, unsigned members, uint8_t groups, uint8_t flags, struct loc loc);
struct ptx_unit { /* one LDS read of an operand's fragment: rows by bytes of K, cut into 8 rows by 16 bytes */
	unsigned rows, bytes;
	bool matrix;     /* ldmatrix: lanes give row addresses, registers lie one behind the other */
	unsigned n;      /* registers of a lane */
};
bool ptx_unit(const struct lower *lw, const struct reg_block *b, const struct lds_row *row, struct ptx_unit *u);
void ptx_lane(const struct reg_block *b, const struct ptx_unit *u, unsigned j, unsigned l, uint32_t *row, uint32_t *byte);
void ptx_span(const struct lower *lw, const struct reg_block *b, const struct ptx_unit *u, unsigned j, unsigned *first, unsigned *n,
	      unsigned *other);
bool ptx_same_order(const struct reg_block *a, const struct reg_block *b);
unsigned ptx_matrix_lanes(const struct lds_row *row); /* lanes that name addresses, 0: all of them */
void ptx_commit(struct lower *lw, uint8_t groups, struct loc loc);
void ptx_advance(struct lower *lw, struct loc loc);
int ptx_finish(struct lower *lw);

/* lower_scale.c: block scales */
struct scale_place { unsigned reg, part; }; /* register of the scale block, and what the op selects in it */
/* Where the scales of row tile rt lie, for the op of K slice k of the K-step (in units of the op's K). */
struct scale_place scale_place(const struct lower *lw, const struct reg_block *b, unsigned rt, unsigned k, unsigned rows);
unsigned scale_rows(const struct lower *lw, enum operand_id id); /* as gemm_shape has them */

/* lower_mma.c */
void emit_mma(struct lower *lw, const struct sched_op *op, uint8_t groups);

/* lower_code.c */
void emit_weave(struct lower *lw, const struct sched_op *op);
int code_sections(struct lower *lw);

/* lower_waits.c */
void waits_groups(struct lower *lw);
int waits_auto(struct lower *lw);
int waits_spacing(struct lower *lw);

/* lower_insert.c: put new instructions in front of old ones, moving loops, marks and entries */
struct insertion {
	uint32_t before;
	struct insn insn;
};
int insert_insns(struct lower *lw, const struct insertion *list, size_t n);

#endif
