/* The command line: options, sub-commands, where results and messages go. */
#ifndef WPSIM_CMD_H
#define WPSIM_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "diag.h"

/* Exit status of the program; of several files the worst (highest) one counts. */
enum cmd_status {
	STATUS_CLEAN = 0,
	STATUS_FINDINGS = 1,  /* findings of severity error about a well-formed program */
	STATUS_BAD_INPUT = 2, /* usage, bad input, output that can't be written */
	STATUS_NO_BACKEND = 3,
	STATUS_TOLERANCE = 4,
};

enum cmd_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_JSONL, FORMAT_SARIF, FORMAT_CSV };

struct annotate_trips;

struct cmd_options {
	enum cmd_format format;
	const char *target, *variant, *clock; /* NULL: as the schedule says */
	const char *output;                   /* NULL or "-": standard output */
	bool colour_out, colour_err;
	bool timeline, formulas, listing;
	bool price, werror, fix, place_waits; /* check */
	const char *kernel;                   /* of a listing, NULL: the only one */
	bool unknown_warns;                   /* listings: unknown mnemonics are warnings */
	unsigned waves, bank_conflicts;       /* annotate; 0: not given */
	struct annotate_trips *trips;         /* annotate; the labels are those of the command line */
	size_t ntrips, captrips;
	const char *backend;                  /* run, calibrate; NULL: the first that has the device */
	unsigned device, repeat, timeout_s;   /* repeat, timeout_s 0: the defaults */
	const char *samples, *from;           /* files of measurements */
	bool dry;                             /* run: emit and assemble only */
	double tolerance;                     /* compare: percent; negative: none */
	const char *svg, *trace;              /* compare */
	bool published;
	bool object, stamps;                  /* emit */
	int64_t size[3];                      /* M, N, K instead of the schedule's; 0: as written */
	bool exec;                            /* check, annotate: execute the listing */
	unsigned grid[3], block[3];           /* exec; 0: not given */
	const char **args, **dumps;           /* exec: --arg and --dump in their order */
	size_t nargs, capargs, ndumps, capdumps;
	bool random_order, counts, all_workgroups;
	unsigned threads;                     /* 0: as many as there are processors */
	uint64_t seed;
	char **words; /* files, names or codes in the order given */
	size_t nwords, capwords;
};

struct command {
	const char *name;
	const char *args;    /* of the usage line */
	const char *summary; /* one line */
	const char *text;    /* further paragraphs and the examples of --help */
	unsigned letter;     /* bit in the option table */
	bool needs_words;    /* at least one argument */
	const char *words;   /* what the arguments are, for messages: "schedule" */
	int (*run)(const struct cmd_options *o);
};

int cmd_main(int argc, char **argv);
const struct command *cmd_find(const char *name); /* NULL: no such command */
const struct command *cmd_default(void);          /* the one that runs when none is named */
void cmd_print_help(const struct command *c);
/* Complain about a word that is no command; names the nearest one. Returns STATUS_BAD_INPUT. */
int cmd_unknown(const char *word);
/* Message on standard error, "wpsim: ..." and a newline. Returns STATUS_BAD_INPUT. */
int cmd_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* The exit status that the findings of d ask for, and that of one code. */
int cmd_status_of(const struct diag *d);
int cmd_status_of_code(enum diag_code c);

/* cmd_run.c */
int cmd_predict(const struct cmd_options *o);
int cmd_emit(const struct cmd_options *o); /* cmd_emit.c */
/* cmd_check.c */
int cmd_check(const struct cmd_options *o);
/* cmd_exec.c */
int cmd_exec(const struct cmd_options *o);
/* cmd_annotate.c */
int cmd_annotate(const struct cmd_options *o);
/* cmd_hw.c */
int cmd_run(const struct cmd_options *o);
/* cmd_calibrate.c */
int cmd_calibrate(const struct cmd_options *o);
/* cmd_compare.c */
int cmd_compare(const struct cmd_options *o);
/* cmd_info.c */
int cmd_targets(const struct cmd_options *o);
int cmd_explain(const struct cmd_options *o);
int cmd_help(const struct cmd_options *o);

/*
 * cmd_files.c: replace the words of o by a list of its own in which each folder stands as the files in it
 * (schedule.xml, listings, code objects; also in folders below, by name). 0, or a status after a message:
 * the list holds what could be read then. Both ways cmd_files_close frees it.
 */
int cmd_files_open(struct cmd_options *o);
void cmd_files_close(struct cmd_options *o);

/*
 * cmd_out.c: the place of results. A regular file is written under a temporary name in its own
 * folder and renamed by output_commit: neither an error nor an interrupt leaves half a file.
 */
struct output {
	FILE *f;
	const char *path; /* as given, for messages */
	char *final;      /* what the temporary is renamed to; NULL: written in place */
};
int output_open(struct output *o, const char *path); /* 0, or a status after a message */
int output_commit(struct output *o);
void output_discard(struct output *o); /* drop what was written, but on standard output */
/* Once, first thing: no descriptor of the standard streams is left free, and exit checks stdout. */
void output_init(void);

#endif
