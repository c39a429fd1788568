/* What the commands that read schedules share: everything made from one file. */
#ifndef WPSIM_CMD_RUN_H
#define WPSIM_CMD_RUN_H

#include "check.h"
#include "cmd.h"
#include "listing.h"
#include "lower.h"
#include "predict.h"
#include "schedule.h"
#include "target.h"

/* Each pointer is NULL until its step succeeded. */
struct run {
	const char *path;
	struct diag diag;
	struct schedule *schedule;
	struct target *target;
	struct program *program;
	bool unpriced; /* findings need no prices: they take runs of the engine */
	struct prediction *prediction;
	bool checked; /* check holds the checker's result */
	struct check_result check;
	bool listing; /* program comes from a listing, and listing_info is filled */
	struct listing_info listing_info;
	bool code_object; /* the listing was made from one */
	int status;       /* of a message that is no finding, 0 */
	bool no_backend;  /* what reads the file is not there: exit status 3 */
	/* what following the waves of a listing showed */
	bool followed;
	char *gave_up; /* why they could not be followed, NULL */
	unsigned followed_waves, followed_groups, followed_offset;
	bool two_bodies;
	size_t followed_accesses;
	uint64_t unknown_addresses;
};

/* Parse and lower a schedule from a source, which is taken over. A listing is refused. */
void run_lower_source(struct run *r, const struct cmd_options *o, struct src *s);
/* run_lower_source, the checker, the prediction, and the findings of both. */
void run_predict(struct run *r, const struct cmd_options *o, struct src *s);
void run_free(struct run *r);
void run_print_findings(const struct run *r, const struct cmd_options *o, FILE *result);

/*
 * Run write for every file. A text result with bad input among its files is not complete, so a
 * named output file is left as it was; a JSON document says itself what went wrong and is always
 * written.
 */
int run_each_file(const struct cmd_options *o,
		  void (*write)(struct run *, const struct cmd_options *, FILE *));

/* cmd_check.c: the checker on r->program; its findings go to r->diag. */
void run_check(struct run *r);
/* Findings that need both the checker's result and the prediction. */
void run_prices(struct run *r, bool thorough);

/* cmd_listing.c */
/* The file's text; of a code object, its disassembly. NULL after a finding. */
struct src *run_load(struct run *r, const struct cmd_options *o);
/* The exit status that r asks for. */
int run_status(const struct run *r, const struct cmd_options *o);
/* Each takes s over. */
/* Is s a listing? By its text, but a file named .xml is a schedule, however broken. */
bool listing_given(const struct src *s);
/* Read the listing for the target that --target or its text names. */
void run_listing(struct run *r, const struct cmd_options *o, struct src *s);
/* run_listing, and the findings about wait states and waits. */
void run_listing_check(struct run *r, const struct cmd_options *o, struct src *s);
/* Say that what is asked for can't be had of a listing. */
void run_listing_refuse(struct run *r, const struct cmd_options *o, struct src *s);
/* cmd_followed.c: what the waves of the listing do to each other's LDS data, spills, prices. */
void run_listing_followed(struct run *r, const struct cmd_options *o);
/* The ways of r's waves as the options ask: unknown arguments, or --exec. 0; -1 after a message, then r->status is set. */
struct paths;
int run_follow(struct run *r, const struct cmd_options *o, unsigned waves, struct paths *paths);
void run_print_followed(const struct run *r, FILE *f);
/* The line behind the verdict: the kernel and what it takes. */
void run_listing_print(const struct run *r, FILE *f);

#endif
