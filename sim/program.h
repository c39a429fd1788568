/*
 * The program: what every front end produces and the engine, the checker, the emitter and the
 * executor read. Plain data, no pointers into the front end, owned by one arena.
 */
#ifndef WPSIM_PROGRAM_H
#define WPSIM_PROGRAM_H

#include "diag.h"
#include "operand.h"
#include "target.h"
#include "util.h"

#define PROG_MAX_WAVES 32
#define PROG_MAX_GROUPS 8 /* of a listing; schedules have up to 4 */
#define PROG_MAX_INSNS (1u << 20)
#define PROG_MAX_SPANS 8

/* Register numbers: v0.. = 0.., a0.. = REG_AGPR.., s0.. = REG_SGPR.., then VCC, EXEC, M0, SCC. */
enum { REG_AGPR = 1024, REG_SGPR = 1280, REG_VCC = 1408, REG_EXEC = 1410, REG_M0 = 1412, REG_SCC = 1413, REG_COUNT = 1414 };

struct span { /* registers first .. first+n-1 */
	uint16_t first, n;
};
enum span_role { ROLE_DST, ROLE_SRC, ROLE_A, ROLE_B, ROLE_C, ROLE_INDEX, ROLE_ADDR, ROLE_DATA };

enum barrier_id { BAR_WORKGROUP = -1, BAR_CLUSTER = -3, BAR_NULL = 0 }; /* 1..16: named */

enum insn_flags {
	INSN_EDGE_ABSENT = 1 << 0, /* not issued on edge tiles (checker) */
	INSN_EDGE_ONLY = 1 << 1,   /* issued on edge tiles only: skipped by the engine */
	INSN_IMPLIED = 1 << 2,     /* not written in the source: boundary barrier, loop control, m0, nop */
	INSN_AUTO_WAIT = 1 << 3,   /* wait inserted for register dependences */
	INSN_TAIL_SPLIT = 1 << 4,  /* SCHED_MODE: this and later matrix ops do not hold their wave */
	INSN_COLD = 1 << 5,        /* memory access that misses L2 by the schedule's word */
	INSN_CONDITIONAL = 1 << 7, /* BRANCH of a listing that may fall through */
	INSN_PUBLISHES = 1 << 6,   /* a store that tells others: all stores to access.global are complete */
};

struct insn {
	enum opclass cls;
	const char *op;         /* mnemonic, shared string */
	uint8_t groups;         /* bit g: waves of group g execute it; others skip it at no cost */
	uint32_t waves;         /* bit w: of those groups only wave w; 0: all of their waves */
	uint8_t flags;          /* enum insn_flags */
	uint8_t size;           /* code bytes: 4, 8, 12 or 16 */
	uint8_t nspans;
	struct span span[PROG_MAX_SPANS];
	uint8_t role[PROG_MAX_SPANS]; /* enum span_role */
	int8_t counter;         /* enum counter that goes up, -1: none */
	uint8_t also;           /* 1 + enum counter that goes up too (flat ops of a listing), 0: none */
	uint8_t nwait;          /* waits: all of them must hold */
	struct { int8_t counter; uint8_t value; } wait[4];
	int8_t barrier;         /* enum barrier_id or named id: barriers, signals, waits */
	uint8_t imm;            /* priority, nop count (wait states), sleep units; scaled matrix op: part of the scale register
				 * that holds A's scales, and 4 times that of B's */
	uint16_t repeat;        /* issue so many times in a row, independent of itself; 1 mostly */
	uint8_t multicast;      /* copies: workgroups of the cluster that share the fetch; 0 or 1: none */
	uint16_t members;       /* named or cluster barrier: signals that complete it; 0 = whole workgroup */
	const struct matrix_row *matrix;
	const struct lds_row *lds;
	const struct vmem_row *vmem;
	uint32_t bytes;         /* moved by a memory, LDS or TDM op, all lanes of the wave */
	uint16_t lds_clk;       /* array time with the bank conflicts of its real addresses */
	uint8_t addr_extra;     /* vector memory: clk of its address stage beyond the row's */
	uint16_t lds_clk_free;  /* array time without any conflict */
	int32_t access;         /* index into program.access, -1: none */
	int32_t stage;          /* index into program.stages */
	int32_t loop;           /* BRANCH: loop it closes, -1 otherwise */
	int32_t target;         /* BRANCH of a listing: insn it goes to, -1: falls through, or out of the program; schedules
				 * leave it 0 and use loop */
	const char *mods;       /* modifiers of a listing's line as written ("offset:16 lds"), NULL: none */
	const struct operand_list *ops; /* listings read with keep_operands, NULL otherwise */
	struct loc loc;
};

/*
 * An access to LDS or global memory at tile level, for conflicts, checking and emission.
 * The tile a wave touches in iteration i of the loop is  (in_loop ? i * unroll : 0) + tile.
 */
struct access {
	int32_t buffer;      /* index into program.buffers; -1: global only */
	int32_t global;      /* index into program.globals; -1: none */
	bool write;          /* writes LDS (or global) */
	bool absolute;       /* tile is absolute (prologue), from_end: counted from the last tile (0 = last) */
	bool from_end;
	int32_t tile;        /* K-step offset, e.g. k+2 -> 2 */
	int32_t slot;        /* slot when it is static, -1: tile modulo slots */
	uint32_t nlanes;
	const uint32_t *lane;      /* per lane, byte offset inside a slot, wave 0's part subtracted */
	const uint32_t *wave_base; /* per wave, byte offset inside a slot */
	uint32_t width;      /* bytes per lane (contiguous) */
	uint32_t rows_lo, rows_hi, k_lo, k_hi; /* wave-0-relative element box of the tile it covers; 0,0 unknown */
	/* Which bytes of the operand's tile of one K-step these are: lane l of wave w begins at src_lane[l] + src_wave[w]
	 * = row of the workgroup's tile * src_row_bytes + byte of K. NULL: no operand's, or not so regular. */
	const uint32_t *src_lane, *src_wave;
	uint32_t src_row_bytes;
};

struct buffer { /* one LDS allocation */
	const char *name;
	uint32_t base, slot_bytes, slots; /* base: byte address of slot 0 */
	int32_t alias_of;                 /* buffer whose memory it shares, -1 */
	int32_t operand;                  /* 'A', 'B', 'S' (scales), 0 other */
	struct loc loc;
	uint32_t pad_every, pad_by;       /* bytes; 0: no padding */
	bool rearranged;                  /* rows are swizzled or not in their order: no tensor copy can fill it */
};

struct global { const char *name; uint64_t bytes; bool output; struct loc loc; };

enum stage_kind { STAGE_PLAIN, STAGE_MATRIX, STAGE_MEMORY, STAGE_PROLOGUE, STAGE_EPILOGUE };
struct stage {
	const char *name;
	enum stage_kind kind;
	struct loc loc;
};

struct loop { /* insns [begin, end); the insn at end - 1 is its BRANCH */
	uint32_t begin, end;
	uint64_t trips;
	unsigned steps;  /* K-steps in one trip (unroll) */
	uint8_t groups;  /* groups that run it */
	int parent;      /* enclosing loop, -1 */
};

struct gemm_shape { /* C[m][n] = sum over k of A[m][k] * B[n][k], cut into tiles, one a workgroup */
	int64_t m, n, k;
	unsigned tile_m, tile_n, tile_k;
	unsigned rows, cols;                 /* of waves in the tile: wave w has row w / cols, column w mod cols */
	unsigned cluster_rows, cluster_cols; /* of workgroups */
	enum dtype type_a, type_b, type_acc, type_out;
	bool scaled;                         /* one e8m0 byte for each 32 elements of K in A and B */
	unsigned scale_rows_a, scale_rows_b; /* rows whose scales of one K-step follow each other in global memory, in the
					      * order that matrix ops take them (docs/emit.md); 1: a row's scales lie together */
};

struct program {
	struct arena *arena;
	const struct target *target;
	const char *name;
	struct insn *insns;
	size_t ninsns;
	uint32_t entry[PROG_MAX_GROUPS]; /* first insn of each group */
	struct stage *stages;
	size_t nstages;
	struct loop *loops; /* [main_loop[g]] is the K loop of group g; -1 when there is none */
	size_t nloops;
	int main_loop[PROG_MAX_GROUPS];
	struct buffer *buffers;
	size_t nbuffers;
	struct global *globals;
	size_t nglobals;
	struct access *access;
	size_t naccess;
	unsigned waves, groups;      /* per workgroup; wave w is in group w / (waves / groups) */
	unsigned gap;                /* stages that group 1 trails group 0 by */
	bool gap_written;            /* the offset comes from barriers written in the source */
	uint64_t workgroups;         /* of the whole launch */
	unsigned cluster_workgroups; /* 1: no cluster */
	unsigned vgpr, agpr, sgpr;   /* allocated per wave */
	uint32_t lds_bytes;          /* per workgroup, granules included */
	double flops;                /* whole launch */
	double ideal_clk;            /* matrix clk per K-step and SIMD, all resident waves of the workgroup */
	uint64_t ksteps;             /* K-steps in all, peeled ones included; 0 when no K loop */
	double unique_bytes;         /* bytes that one workgroup's K-step must bring from HBM, after reuse by others */
	double request_bytes;        /* bytes a workgroup's K-step asks of L2 */
	double total_hbm_bytes;      /* whole launch, compulsory traffic */
	const struct gemm_shape *gemm; /* NULL: the kernel is no GEMM, or a listing */
	const char *clock;           /* clock row asked for by the schedule, NULL: the target's default */
	double clock_mhz;            /* given as a number, 0: not */
};

void program_free(struct program *p); /* NULL is allowed; frees the arena, not the target */

/* Readable listing with stage marks, registers, LDS degrees and waits. */
void program_print(const struct program *p, FILE *out);
/* Check the invariants of the structures above (loops nested, indices in range); 0 or an E_LIMIT finding. */
int program_validate(const struct program *p, struct diag *d);

#endif
