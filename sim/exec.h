/*
 * The executor: runs a kernel (a program read from a listing with keep_operands) on the CPU, lane by lane.
 * Counters are asynchronous: a register that a load in flight will fill is poison. Races between waves
 * are found by vector clocks on the bytes touched, whatever the order the waves ran in.
 */
#ifndef WPSIM_EXEC_H
#define WPSIM_EXEC_H

#include "listing.h"
#include "program.h"

enum exec_order { EXEC_ROUND_ROBIN, EXEC_RANDOM };

struct exec_buffer { /* memory of the host that the kernel may touch */
	void *data;
	uint64_t bytes;
	bool initialised; /* false: reading it before a write is E_UNINIT */
	bool writable;
	uint64_t address; /* OUT: where the kernel sees it */
};

struct exec_launch {
	unsigned grid[3], block[3]; /* workgroups; threads of a workgroup */
	unsigned cluster[3];        /* workgroups of a cluster; 0: 1 */
	struct exec_buffer *buffers;
	size_t nbuffers;
	/* Kernel arguments: bytes as the metadata lays them out; at patch[i].offset the address of buffer
	 * patch[i].buffer plus what stands there is put in. Hidden arguments are filled in by exec_run. */
	void *kernarg;
	size_t kernarg_bytes;
	struct { unsigned offset, buffer; } patch[LISTING_MAX_ARGS];
	size_t npatches;
	unsigned dynamic_lds_bytes;
};

struct exec_lds { /* one LDS instruction as executed: first byte of each lane's piece, UINT32_MAX: lane is off. Two pieces a
		    * lane, the second ones behind the first ones, for forms with two offsets; tensor copies have rows as pieces */
	const uint32_t *addr;
	unsigned lanes, width_bytes;
	bool write, unknown; /* unknown: addresses depend on unknown arguments */
};

struct exec_options {
	enum exec_order order;
	uint64_t seed;
	unsigned threads;            /* workgroups at a time; 0: as many as the machine has processors */
	uint64_t max_insns;          /* wave instructions of one workgroup until it counts as endless; 0: a default */
	bool analysis;               /* kernel arguments and memory are unknown: follow what depends on lanes and waves only.
				      * Accesses at unknown addresses are passed over; values are not checked */
	unsigned unknown_trips;      /* analysis: times a backward branch on an unknown condition is taken in a row; 0: 4 */
	uint64_t only_workgroup;     /* run only this linear workgroup when only is set */
	bool only;
	/* Called for each wave instruction executed, from the thread of its workgroup; lds NULL unless it touches LDS. */
	void (*on_insn)(void *ctx, uint64_t workgroup, unsigned wave, uint32_t insn, const struct exec_lds *lds);
	void (*on_progress)(void *ctx, uint64_t workgroups_done, uint64_t of);
	void *ctx;
};

struct exec_site { /* per instruction of the program, all waves and workgroups */
	uint64_t executed, taken;     /* taken: branches */
	uint64_t lds_clk, lds_clk_free; /* sums of array time with real addresses and without conflicts */
	unsigned worst_lds_clk;       /* largest array time of one access; 0: no LDS access */
	uint64_t unknown_addresses;   /* analysis: accesses that were passed over */
};

struct exec_result {
	struct exec_site *site; /* [program.ninsns] */
	uint64_t insns;         /* wave instructions executed */
	double seconds;
};

/*
 * 0 when the kernel ran to its end without a finding; -1 after at least one finding (E_UNSUPPORTED before
 * anything runs; E_POISON, E_RACE, E_UNINIT, E_BOUNDS, E_ALIGN, E_DEADLOCK, E_BARRIER, E_LAUNCH, E_LIMIT).
 * *out may hold partial counts then; free it in both cases.
 */
int exec_run(const struct program *p, const struct listing_info *info, struct exec_launch *l, const struct exec_options *o,
	     struct exec_result *out, struct diag *d);
void exec_result_free(struct exec_result *r);
/* Instructions that exec_run would refuse, as findings E_UNSUPPORTED (mnemonic, line, count). Their number. */
size_t exec_unsupported(const struct program *p, struct diag *d);
/* Stop at the next instruction; for signal handlers. */
void exec_interrupt(void);

#endif
