/* Figures derived from a prediction, shared by the text, the JSON, the timeline and the findings. */
#ifndef WPSIM_REPORT_INTERNAL_H
#define WPSIM_REPORT_INTERNAL_H

#include "report.h"

/* One stage as one group runs it; times in clk for one passage. */
struct report_row {
	size_t stage;
	unsigned group;
	bool runs;          /* the group passes this stage in the steady window */
	unsigned passes;    /* in one trip of the main loop */
	double own;         /* elapsed without waits for other waves */
	double issue;       /* one wave */
	double matrix;      /* matrix unit of one SIMD, all waves of the group there */
	double lds;         /* port of one SIMD pair, all waves of the group there */
	double lds_conflict;
	double vmem;        /* address stage of the CU, all waves of the group */
	double waits;       /* wait instructions */
	double barrier;     /* for other waves, the release included */
	double elapsed;
	int partner;        /* stage of another group whose own time overlaps most; -1: none or unknown */
	unsigned partner_group;
	double slack;       /* the partner's own time less this one's; NAN without a partner */
	const char *limit;  /* the part that takes longest */
	double limit_clk;
};

/* One reason of the lost-cycle stack. */
struct report_lost {
	const char *reason, *text;
	double clk; /* per K-step, mean of the SIMDs */
};

struct report_derived {
	struct report_row *rows; /* [nstages * groups], as in struct stats */
	size_t nrows;
	struct report_lost lost[ST_COUNT + 1];
	size_t nlost;
	bool have_steady;        /* the window figures mean something */
	double step_clk, ideal_clk;
	double same_stage;       /* of the time in which two groups work: in one and the same stage; NAN unknown */
	double estimate_share;   /* NAN unknown */
	double steps_per_trip;
	unsigned waves_per_simd;
};

/* LDS accesses of one mnemonic. */
struct report_bank {
	const char *op;
	bool write;
	uint64_t count;       /* instructions in the program text */
	double mean, worst;   /* array time over conflict-free array time */
};

void report_derive(const struct prediction *pr, struct report_derived *r);
void report_derived_free(struct report_derived *r);
/* Up to cap mnemonics in order of appearance; the number filled in. */
size_t report_banks(const struct program *p, struct report_bank *out, size_t cap);

/* A span that a wave spends in one stage. */
struct report_span {
	uint64_t begin, end;
	unsigned stage;
};
/* Spans of the first wave of a group on SIMD 0 of the first workgroup; n = 0 when none were kept. */
struct report_span *report_spans(const struct prediction *pr, unsigned group, size_t *n);
/* That wave, or -1. */
int report_wave(const struct program *p, unsigned group);

/* Estimates above this share of the wave time are remarked upon. */
#define REPORT_ESTIMATE_LIMIT 0.25

/* text as a JSON string; bytes that are not UTF-8 become U+FFFD. */
void report_quote(FILE *out, const char *text);

void report_timeline(const struct prediction *pr, const struct report_options *o, FILE *out);

#endif
