/* Shared by the core's files: prepared programs, launches, workgroups, barriers. Operations do not see these. */
#ifndef WPSIM_EXEC_CORE_H
#define WPSIM_EXEC_CORE_H

#include <pthread.h>
#include <stdatomic.h>

#include "exec_internal.h"

/* ---- prepared programs (exec_prepare.c, exec_mods.c) ---- */

enum xflags { /* of xinsn */
	XF_MEMORY = 1 << 0,     /* LDS, vector, flat, scalar or tensor memory: has an operation for races */
	XF_COUNTS = 1 << 1,     /* goes up on a counter */
	XF_VECTOR = 1 << 2,     /* lane by lane: taints go lane by lane */
	XF_MATRIX = 1 << 3,     /* any tainted lane of a source taints all of the result */
	XF_CROSS = 1 << 4,      /* moves data between lanes: as XF_MATRIX, by active lanes */
	XF_BITWISE = 1 << 5,    /* scalar op that works on each bit alone */
	XF_LDS = 1 << 6,        /* LDS class: for on_insn in analysis */
	XF_STORE_OUT = 1 << 7,  /* its data go to memory that others read */
	XF_DUAL_SAVE = 1 << 8,  /* v_dual: the second half reads what the first one writes */
	XF_ANY_ORDER = 1 << 9,  /* completes in any order among those of its counter */
	XF_SDST_VECTOR = 1 << 10, /* vector op with a lane mask as destination */
	XF_READLANE = 1 << 11,  /* scalar result of one lane */
	XF_LOAD = 1 << 12,      /* memory op with a destination register */
	XF_DECIDES = 1 << 13,   /* branch or the like: its sources must be defined */
	XF_BARRIER = 1 << 14,   /* may make its wave wait */
	XF_FREE = 1 << 15,      /* its result does not depend on its sources (x ^ x): never tainted */
	XF_WRITELANE = 1 << 16, /* one lane of the result only */
	XF_SELECT = 1 << 17,    /* v_cndmask: the source that each lane takes */
	XF_AND = 1 << 18, XF_ANDN2 = 1 << 19, XF_OR = 1 << 20, /* bitwise ops with a side that decides alone */
	XF_M0 = 1 << 21,        /* M0 is part of an address */
	XF_SAVEEXEC = 1 << 22,  /* the destination gets the old EXEC */
	XF_LOW64 = 1 << 23,     /* 64-bit whole numbers: upper halves do not reach the lower half of the result */
	XF_INDEXED = 1 << 25,   /* v_movrel*: arg says which operands M0 shifts */
	XF_PACKED = 1 << 24,    /* packed f32: each word of the result has its own words of the sources */
};

struct xprog { /* shared by all threads, constant once prepared */
	const struct program *p;
	const struct listing_info *info;
	struct arena *arena;
	struct xinsn *insn;  /* [p->ninsns] */
	uint32_t *offset;    /* [p->ninsns + 1] code bytes in front of each instruction */
	bool gfx9;
	unsigned vgprs, agprs; /* that the instructions name */
};

/* 0; -1 after E_UNSUPPORTED findings. */
int xprog_prepare(struct xprog *x, const struct program *p, const struct listing_info *info, struct diag *d);
void xprog_free(struct xprog *x);
/* Modifiers of an instruction's text, and immediates in forms of their own. 0; -1: a form that is not known. */
int xmods_read(struct xinsn *in, const struct operand_list *ops, bool dual);
/* hwreg(...) and the like: operand o of the text; 0, -1. */
int xmods_hwreg(const char *s, size_t n, uint64_t *simm);
/* Operations of the core itself (exec_control.c, exec_index.c): before all tables. */
extern const struct xop xops_core[], xops_index[];
extern const size_t nxops_core, nxops_index;

/* ---- findings of one cluster ---- */

struct xfinding {
	enum diag_code code;
	uint32_t insn, note_insn; /* note_insn UINT32_MAX: none */
	char *text, *note;
};
#define X_MAX_FINDINGS 20

/* ---- running ---- */

enum xwait_kind { XW_RUN, XW_BARRIER, XW_DONE, XW_FAULT };

struct xbarrier {
	unsigned members, signals; /* members 0: all live waves (workgroups) */
	uint64_t phase;            /* completed phases */
	struct xclock *clock[4];   /* of phase, by its lowest bits: the one that fills, and those before */
	uint32_t signalled_at;     /* instruction of the last signal */
};

#define X_NAMED 17 /* 0: the workgroup's, 1 to 16 named */

struct xcore { /* of one wave */
	enum xwait_kind state;
	struct xbarrier *barrier;   /* XW_BARRIER: waits for phase behind this */
	uint64_t phase;             /* value of barrier->phase that the wave waits to see exceeded */
	uint64_t arrived[X_NAMED];  /* phase of the wave's last signal + 1; 0: none since its last wait */
	uint64_t seen[X_NAMED];     /* phases that the wave's waits have used up */
	uint32_t unwaited[X_NAMED]; /* its signals since its last wait */
	uint32_t lost[X_NAMED];     /* completions that it may not have noticed */
	bool by_signal;             /* XW_BARRIER: the wait belongs to a signal of its own */
	uint64_t cluster_waits;
	uint32_t waits_at;          /* XW_BARRIER: the instruction; XW_DONE: that ended it */
	unsigned inflight[CTR_COUNT], unordered[CTR_COUNT]; /* of each counter; those that complete in any order */
	uint32_t last_back;         /* backward branch taken last, UINT32_MAX: none */
	bool index_on;              /* s_set_gpr_idx_on */
	bool branch_unknown;        /* analysis: the branch that runs depends on unknown values */
	unsigned joined;            /* named barrier, 0: none */
	uint64_t barriers;          /* of the workgroup that it arrived at */
	uint32_t unknown_run;       /* analysis: backward branch that is taken on unknown conditions in a row */
	unsigned unknown_taken;
	bool exec_unknown;          /* analysis: some lanes of EXEC are on only because nobody knows */
	struct { uint32_t insn; unsigned passed; } unknown_exit[8]; /* analysis: ways out of loops not taken so far */
	uint32_t *saved;            /* [2 * lanes] for dual instructions */
	int16_t lane_from[64];      /* DPP: source of each lane, -1: none */
	struct xinsn shifted;       /* the instruction that runs, with registers chosen at run time */
};

struct xgroup {
	struct xrun *run;
	struct xcluster *cluster;
	unsigned rank;              /* in the cluster */
	uint64_t number;
	unsigned id[3];
	unsigned nwaves, threads;
	struct xwave *wave;
	struct xlocal *local;
	struct xbarrier bar[X_NAMED];
	uint64_t cluster_signalled; /* phase of its last signal to the cluster's barrier + 1, 0: none */
	uint64_t insns;
};

#define X_MAX_CLUSTER 16
struct xcluster {
	struct xrun *run;
	uint64_t number;
	unsigned n;
	struct xgroup group[X_MAX_CLUSTER];
	struct xbarrier bar;
	struct exec_site *site;     /* of the thread */
	uint64_t seed;
	uint64_t clock;             /* for s_memtime: instructions executed so far */
	struct xfinding *finding;
	size_t nfindings, capfindings;
	bool stop;                  /* a fault that ends the cluster */
	uint64_t insns;             /* of all its workgroups, once it has run */
};

struct xrun {
	const struct xprog *prog;
	const struct exec_options *o;
	struct exec_launch *l;
	struct xmemory *mem;
	uint64_t kernarg_address, packet_address;
	uint8_t packet[64];
	const uint8_t *kernarg;     /* as the kernel sees it */
	size_t kernarg_bytes;
	unsigned cluster[3];        /* workgroups */
	unsigned clusters[3];
	uint64_t nclusters;
	uint64_t max_insns;
	unsigned lds_bytes;
	atomic_uint_fast64_t next, done;
	atomic_uint_fast64_t failed; /* lowest cluster with a finding, UINT64_MAX */
	pthread_mutex_t lock;
	struct xcluster_result { struct xfinding *finding; size_t n; uint64_t number; } *results;
	size_t nresults, capresults;
	uint64_t insns;
	struct exec_site *site;     /* sums */
};

bool x_interrupted(void);

/* exec_run.c */
void cluster_init(struct xcluster *c, struct xrun *r, struct exec_site *site);
void cluster_run(struct xcluster *c, uint64_t number);
void cluster_free(struct xcluster *c);

/* Report; a note at another instruction when note_insn is not UINT32_MAX. true: it is a new one. */
bool core_report(struct xwave *w, uint32_t insn, enum diag_code code, int lane, uint32_t note_insn, const char *note,
		 const char *fmt, ...) PRINTF_LIKE(7, 8);

/* exec_sync.c */
/* Poison of the operands of in; true: something was found (and is taken as mended). */
void sync_poison(struct xwave *w, const struct xinsn *in);
void sync_make_room(struct xwave *w, const struct xinsn *in); /* counters are finite */
void sync_issue(struct xwave *w, const struct xinsn *in, uint32_t ticket);
void sync_wait(struct xwave *w, const struct insn *base);
void sync_end(struct xwave *w);   /* of a wave: everything completes */

/* exec_barrier.c */
/* Can the wave that waits at a barrier go on? Then it does. */
bool sync_released(struct xwave *w);
void sync_deadlock(struct xcluster *c);
void barriers_init(struct xgroup *g);
void barriers_free(struct xgroup *g);
void barrier_free(struct xbarrier *b);
void barriers_leave(struct xwave *w, const struct xinsn *in); /* the wave ends */
int barrier_op_whole(struct xwave *w, const struct xinsn *in);
int barrier_op_signal(struct xwave *w, const struct xinsn *in); /* arg 1: SCC says whether it is the first one */
int barrier_op_wait(struct xwave *w, const struct xinsn *in);
int barrier_op_init(struct xwave *w, const struct xinsn *in);
int barrier_op_join(struct xwave *w, const struct xinsn *in);
int barrier_op_leave(struct xwave *w, const struct xinsn *in);

/* exec_taint.c */
bool taint_sources(struct xwave *w, const struct xinsn *in, struct xlanes *lanes); /* false: nothing is tainted */
/* What must be known: addresses, EXEC, branches, stored data. -1: analysis, the operation is to be passed over. */
int taint_demand(struct xwave *w, const struct xinsn *in);
void taint_results(struct xwave *w, const struct xinsn *in, const struct xlanes *lanes, bool any);
bool taint_copies(const struct xinsn *in); /* is it a copy between LDS and global memory? */
/* The global address of a copy is unknown: is its LDS side known? */
bool taint_lds_known(const struct xwave *w, const struct xinsn *in);
void taint_clear_results(struct xwave *w, const struct xinsn *in);
void taint_unknown_results(struct xwave *w, const struct xinsn *in);

/* exec_operand.c */
void dpp_prepare(struct xwave *w, const struct xinsn *in);

/* exec_start.c */
void wave_start(struct xwave *w, const struct xgroup *g);
int launch_prepare(struct xrun *r, struct diag *d); /* arguments, buffers, checks */
void launch_finish(struct xrun *r);

/* exec_index.c */
unsigned index_mask(const struct xwave *w, const struct xinsn *in);
bool index_apply(struct xwave *w, const struct xinsn *in, unsigned mask, struct xinsn *to); /* false after a fault */
bool index_words(const char *s, size_t n, uint64_t *bits);

/* exec_control.c */
uint64_t code_address(const struct xprog *x, uint32_t insn);
#define X_CODE_BASE UINT64_C(0x0000100000000000)

#endif
