/*
 * A program of a schedule, or one built by hand, as an assembler listing that exec_run can execute. Every tile
 * has data of its own, so that what a wave holds in its registers tells which tile it has read.
 */
#ifndef WPSIM_PROGTEXT_H
#define WPSIM_PROGTEXT_H

#include "exec.h"
#include "program.h"

struct progtext_options {
	bool edge;     /* as on an edge tile; values are not looked at then: absent copies bring none */
	unsigned cluster; /* workgroups of the cluster at most; 0: as many as the program has */
	bool no_again; /* what brings a tile to where it is already is issued without lanes: it counts, and writes nothing */
};

struct progtext_sum { /* what one accumulator was given */
	unsigned reg;
	uint64_t ops[PROG_MAX_WAVES];
};

struct progtext {
	char *text;
	uint32_t *line_insn; /* [line - 1]: instruction of the program that it stands for, UINT32_MAX: none */
	struct progtext_line { /* [line - 1] of LDS accesses */
		uint32_t tag; /* of the tile, 0: none */
		bool again;   /* brings a tile to where it is already */
	} *lds;
	size_t nlines, agains;
	/* buffers, in the order of the kernel's three pointer arguments */
	uint32_t *data;
	uint64_t data_bytes, out_bytes, scratch_bytes;
	uint32_t lds_bytes;
	unsigned waves, lanes, cluster;
	uint64_t ksteps;
	bool values;         /* out is written */
	struct progtext_sum *sum;
	size_t nsums, capsums;
	struct progtext_store { /* bytes of scratch memory that should hold a tile in the end */
		uint64_t at;
		uint32_t bytes, tag;
	} *store;
	size_t nstores, capstores;
	size_t unseen;       /* tiles that were read and overwritten without any use: nothing looked at them */
	const char *why;     /* of a program that can't be printed */
};

/* False: see why. What is in t must be freed in both cases. */
bool progtext_print(const struct program *p, const struct progtext_options *o, struct progtext *t);
void progtext_free(struct progtext *t);

/* What a run was told: findings of the executor, and wrong values. */
struct progtext_verdict {
	bool ran;                 /* false: the listing was refused; findings say why */
	size_t findings;          /* less harmless ones */
	size_t harmless;          /* races of a tile with itself, see progtext_run */
	bool stale, sums;         /* a register held another tile than the one it should; a sum without its K-steps */
	enum diag_code first;     /* of the findings */
	uint32_t insn;            /* of the program, of the first finding; UINT32_MAX: none */
	uint64_t executed;        /* wave instructions */
};

/*
 * A race between two accesses of one tile, of which one brings the tile to where it is already, changes nothing that
 * anybody sees, and the checker, which knows tiles and not bytes, has nothing against it. Such findings are taken out
 * of d; whether all is right without the second copy is for a run with no_again to show.
 *
 * Execute the text on the CPU with the counters of p->target. machine: a whole model of the part, for the listing.
 * Findings go to d, which is empty, at places of the text; *src, when not NULL, is the caller's to free behind d.
 */
struct progtext_verdict progtext_run(const struct program *p, const struct progtext *t, const struct target *machine,
				     const struct exec_options *o, struct diag *d, struct src **src);

#endif
