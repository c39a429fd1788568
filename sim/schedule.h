/* A staged schedule as written: checked values and names, nothing lowered yet. See docs/schedule.md. */
#ifndef WPSIM_SCHEDULE_H
#define WPSIM_SCHEDULE_H

#include "diag.h"
#include "target.h"
#include "util.h"

/* i of n equal parts; n == 1: the whole. "top" = 0/2, "bottom" = 1/2, "left" = 0/2, "right" = 1/2. */
struct part {
	unsigned i, n;
};

/* "0", "2": absolute; "k", "k+2", "k-1": relative to the loop; "last", "last-1": counted from the end. */
enum tile_base { TILE_NONE, TILE_ABSOLUTE, TILE_LOOP, TILE_LAST };
struct tile_ref {
	enum tile_base base;
	int offset;
	struct loc loc;
};

enum operand_id { OPERAND_NONE = 0, OPERAND_A = 'A', OPERAND_B = 'B', OPERAND_SA = 'S', OPERAND_SB = 'T' }; /* S, T: scales of A, B */

struct sched_lds { /* <lds name operand|bytes [half|part] [slots] [base|alias]> */
	const char *name;
	enum operand_id operand;
	struct part part;         /* of the operand's rows (A) or columns (B) */
	unsigned slots;
	uint64_t bytes;           /* per slot, when there is no operand; 0 otherwise */
	int64_t base;             /* byte address written, -1: placed behind the one before */
	const char *alias;        /* NULL or the buffer whose memory it shares */
	unsigned pad_every, pad_by;             /* bytes; 0: none */
	unsigned swz_vec, swz_per_phase, swz_max_phase; /* elements, rows, phases; 0: none */
	unsigned xor_shift;       /* reserved, 0 */
	struct loc loc, name_loc, pad_loc;
};

enum reg_file { FILE_VGPR, FILE_AGPR };

/* <fragment>: registers holding operand data for matrix ops. <staging>: loads on their way to LDS.
 * <accumulator>: results. <registers>: a plain block. */
enum sched_reg_kind { SREG_FRAGMENT, SREG_STAGING, SREG_ACCUMULATOR, SREG_BLOCK };
struct sched_reg {
	enum sched_reg_kind kind;
	const char *name;
	const char *from;       /* fragment, staging: LDS buffer */
	struct part part;       /* rows or columns inside the buffer */
	struct part kpart;      /* slice of the K-step */
	const char *a, *b;      /* accumulator: default fragments, NULL: named by each <mma> */
	unsigned count;         /* registers when given as a number; 0: derived */
	enum reg_file file;
	const char *shares;     /* NULL or the block whose registers it reuses */
	const char *read_op;    /* LDS op for <read>, NULL: the widest */
	const char *sa, *sb;    /* accumulator: default scale blocks, NULL: named by each <mma> or not modelled */
	struct loc loc, name_loc;
};

/* <global>: named memory outside the workgroup, for kernels that pass data through it. */
struct sched_global {
	const char *name;
	uint64_t bytes;
	bool output;
	struct loc loc, name_loc;
};

/*
 * Which bytes of a slot without an operand a wave touches: SHARE_OWN, its equal part (the slot cut by
 * the executing waves); SHARE_ALL, from the slot's start, the same for every wave. Instruction j of
 * the op reaches offset + j * lanes * step behind that, step = stride or the width of a lane.
 */
enum share { SHARE_OPERAND, SHARE_OWN, SHARE_ALL };

enum op_kind {
	OP_LOAD,      /* global to registers */
	OP_WRITE,     /* registers to LDS */
	OP_COPY,      /* global to LDS, past the registers */
	OP_TDM,       /* tensor copy to LDS */
	OP_READ,      /* LDS to registers */
	OP_MMA,
	OP_STORE,     /* registers to global */
	OP_TDM_STORE, /* LDS to global by tensor copy */
	OP_VALU, OP_TRANS, OP_PACKED, OP_SALU, OP_SMEM, OP_PERMUTE,
	OP_WAIT, OP_BARRIER, OP_PRIORITY, OP_FENCE, OP_NOP, OP_SLEEP, OP_MODE, OP_COMMIT,
	OP_INTERLEAVE, /* children woven by order */
	OP_KIND_COUNT
};
const char *op_kind_name(enum op_kind k); /* the element's name */

enum barrier_part { BARRIER_BOTH, BARRIER_SIGNAL, BARRIER_WAIT };
enum barrier_scope { SCOPE_WORKGROUP, SCOPE_CLUSTER, SCOPE_NAMED };

struct sched_op {
	enum op_kind kind;
	struct sched_op *next;      /* in written order */
	struct sched_op *children;  /* OP_INTERLEAVE */
	const char *order;          /* OP_INTERLEAVE: e.g. "4m 8(r m) 12(l 4m)" */
	struct loc order_loc;
	const char *id;             /* letter or word used by the enclosing interleave; NULL */
	uint8_t groups;             /* bit mask; all ones when not written */
	int wave_lo, wave_hi;       /* waves that execute it (tensor copies); -1: all of the groups */
	const char *into, *from, *to; /* names as they apply; NULL */
	struct loc into_loc, from_loc, to_loc;
	const char *acc, *a, *b;    /* OP_MMA */
	struct loc acc_loc, a_loc, b_loc;
	const char *sa, *sb, *index; /* OP_MMA: scale blocks, index block of a sparse op; NULL */
	struct tile_ref tile;
	struct part part, kpart;    /* of the fragment, buffer or accumulator's work */
	enum operand_id operand;    /* OP_LOAD without LDS buffer */
	const char *op;             /* mnemonic as written, NULL: default */
	struct loc op_loc;
	unsigned count;             /* explicit instruction count; 0: derived */
	int edge_count;             /* count on edge tiles, -1: same */
	uint64_t bytes;             /* OP_TDM, OP_LOAD in explicit kernels; 0: derived */
	unsigned stride;            /* OP_READ, OP_WRITE: bytes between lanes, 0: lane * width */
	int64_t offset;             /* byte offset of lane 0 in the slot; 0 */
	enum share share;           /* SHARE_OPERAND: the operand's geometry decides */
	const char *publishes;      /* OP_STORE: global whose data this store tells others to be complete; NULL */
	unsigned multicast;         /* workgroups that share one fetch; 1 */
	bool cold;                  /* misses L2 */
	bool no_commit;             /* OP_COPY, OP_TDM: does not end a copy group */
	const char *writes, *reads; /* OP_VALU...: register blocks, space separated; NULL */
	int wait[CTR_COUNT];        /* OP_WAIT: value or -1 */
	struct loc wait_loc[CTR_COUNT];
	int wait_groups;            /* copy groups that may remain, -1 */
	bool drain;                 /* OP_BARRIER: first wait for the wave's own LDS ops */
	enum barrier_part bpart;
	enum barrier_scope scope;
	unsigned barrier_id, members; /* named barriers: id 1..16; arrivals, 0 = all waves */
	unsigned imm;               /* priority, nop wait states, sleep units, mode bits */
	struct loc loc;             /* the element's name */
};

enum boundary { BOUNDARY_BARRIER, BOUNDARY_DRAIN, BOUNDARY_NONE };

struct sched_stage {
	const char *name;           /* NULL: ops outside any stage (between stages, prologue, epilogue) */
	int priority;               /* -1: not written */
	enum boundary boundary;     /* barrier in front of the stage */
	struct sched_op *ops;
	struct sched_op *edge_ops;  /* <edge> variant of the whole stage, NULL: same */
	struct sched_stage *next;
	struct loc loc, name_loc;
};

enum section_kind { SECTION_PROLOGUE, SECTION_LOOP, SECTION_EPILOGUE };
struct sched_section {
	enum section_kind kind;
	uint8_t groups;             /* groups that run it; two loops with one group each: two bodies */
	unsigned unroll;            /* loop: the body is one K-step; a trip is so many copies of it, k moving on by one */
	int64_t trips;              /* loop: written number of trips, -1: from the GEMM's K */
	unsigned peel;              /* loop: K-steps left to the epilogue */
	struct sched_stage *stages; /* ops before the first stage are in an unnamed one */
	struct sched_section *next;
	struct loc loc;
};

struct schedule {
	struct arena *arena;
	struct src *src;
	const char *name, *target_name, *variant; /* variant: option of the target's choice, NULL */
	struct loc target_loc, variant_loc;
	const char *title;          /* <title>, "" */
	bool gemm;
	int64_t m, n, k;
	enum dtype type_a, type_b, type_acc, type_out;
	bool scaled;                /* MX block scales: one e8m0 byte per 32 elements of K */
	unsigned tile_m, tile_n, tile_k;
	unsigned groups, rows, cols; /* waves = rows * cols */
	unsigned waves;
	unsigned gap;               /* stages group 1 trails group 0 by; barriers are implied */
	bool gap_written;           /* gap="written": the conditional barriers are in the text */
	unsigned cluster_rows, cluster_cols;
	const char *matrix_op;
	uint64_t workgroups;        /* <kernel>: given; <gemm>: derived */
	double flops, bytes;        /* <kernel>: given, 0 unknown: whole launch */
	double reuse;               /* <kernel>: requests per unique byte, 1 */
	bool auto_waits;            /* register waits placed as a compiler would */
	const char *clock;          /* clock row name, NULL */
	double clock_mhz;           /* 0: not given */
	unsigned reserve_vgpr, reserve_sgpr; /* addresses and the like */
	struct sched_lds *lds;
	size_t nlds;
	struct sched_reg *regs;
	size_t nregs;
	struct sched_global *globals;
	size_t nglobals;
	struct sched_section *sections;
	struct loc loc, shape_loc, tile_loc, waves_loc, matrix_loc, unroll_loc;
};

/*
 * Read and check a schedule. Takes s. All errors are reported; NULL when there was one. Names are
 * resolved here (every from/to/into/acc/a/b/shares/alias refers to something declared); whether the
 * target has an instruction is left to lower.
 */
struct schedule *schedule_parse(struct src *s, struct diag *d);
void schedule_free(struct schedule *s); /* NULL is allowed; frees the source too */
const struct sched_lds *schedule_lds(const struct schedule *s, const char *name);
const struct sched_reg *schedule_reg(const struct schedule *s, const char *name);
const struct sched_global *schedule_global(const struct schedule *s, const char *name);

/*
 * The order of an interleave, written out. Each entry is the first child of one id and stands for the
 * next instruction of that id's stream; the children of one id, in written order, are one stream. The
 * array lives in a. Returns its length, 0 after a finding (E_INTERLEAVE, E_NAME, E_LIMIT). Whether
 * each stream comes out even is for the caller to see, who knows the instruction counts.
 */
#define WEAVE_MAX 100000
#define WEAVE_MAX_DEPTH 8
size_t schedule_weave(const struct sched_op *interleave, struct arena *a,
		      const struct sched_op ***out, struct diag *d);

#endif
