/*
 * Timing of a listing: the waves of one workgroup run it on the engine, and each instruction of its
 * hot loop gets what it costs one wave.
 */
#ifndef WPSIM_ANNOTATE_H
#define WPSIM_ANNOTATE_H

#include "listing.h"
#include "stats.h"

#define ANNOTATE_TRIPS 1000 /* of a hot loop whose trips nobody tells */

struct annotate_trips {
	const char *label; /* a label in front of the loop's first instruction, or that one's line */
	uint64_t trips;    /* at least 1 */
};

struct paths;
struct annotate_options {
	const char *clock; /* a clock row's name or MHz; NULL: the target's default */
	const struct annotate_trips *trips;
	size_t ntrips;
	unsigned bank_conflicts; /* array time of every LDS access is so many times the free one; 0: 1 */
	bool waves_assumed;      /* p->waves is a guess: say so */
	const struct paths *paths; /* the ways of the waves, NULL: not followed */
};

struct annotate_line { /* one instruction of the hot loop, wave 0, summed over the measured trips */
	uint32_t insn;
	uint64_t issues;
	uint64_t at_clk; /* of all issues, since the trip's first issue */
	uint64_t stall_clk[ST_COUNT];
};

struct annotate_stage { /* of the hot loop, up to and with the workgroup barrier that ends it; as wave 0 goes */
	uint32_t first, last; /* instructions */
	const char *kind;     /* "matrix", "memory", "mixed", "other" */
	int priority;         /* of its matrix and memory work, -1: never set */
	double clk;           /* from its first issue to that of the next stage */
	unsigned mix[OPC_COUNT];
};

struct annotation {
	struct program *program;
	int loop; /* hot loop, -1: there is none and the text is taken once, from end to end */
	uint32_t begin, end; /* its instructions */
	char *label;         /* in front of it, NULL: none */
	uint64_t trips;
	double clock_mhz;
	struct stats stats;
	bool steady;              /* the measured trips are whole periods of the repeating state */
	uint64_t measured_trips, measured_clk;
	double trip_clk, ideal_clk; /* elapsed, and matrix time on SIMD 0; per trip */
	double matrix_busy;         /* ideal_clk / trip_clk */
	unsigned mix[OPC_COUNT];    /* instructions of one trip's text by class, repeats counted */
	unsigned scratch_ops, acc_copies;
	unsigned bank_conflicts;
	unsigned wave;            /* whose figures the lines have */
	unsigned groups, offset;  /* of waves, as followed: barriers that the second is behind; groups 0: not followed */
	unsigned lds_known;       /* LDS instructions whose addresses were found */
	struct annotate_line *lines;
	size_t nlines;
	struct annotate_stage *stages; /* one when the loop has no barrier; none without a loop */
	size_t nstages;
	char **notes; /* what was assumed, as sentences */
	size_t nnotes, capnotes, more_notes;
};

/*
 * Time p, a listing's program without loops yet: finds them, and changes trips, marks what the waves pass
 * over and LDS times in p. 0, or -1 after a finding; *out is then empty. out refers to p.
 */
int annotate(struct program *p, const struct annotate_options *o, struct annotation *out, struct diag *d);
void annotation_free(struct annotation *a);

/* a: NULL when there is none, then only the document with its findings is written in JSON. */
void annotate_text(const struct annotation *a, const struct listing_info *in, bool colour, FILE *out);
void annotate_json(const struct annotation *a, const struct listing_info *in, const char *file,
		   const struct diag *d, bool one_line, FILE *out);

#endif
