/* What the two forms of `wpsim exec` share: a launch under construction and its results. */
#ifndef WPSIM_CMD_EXEC_H
#define WPSIM_CMD_EXEC_H

#include "cmd_run.h"
#include "exec.h"

/* Options of the command line; interrupts stop the execution from here on. */
struct exec_options exec_options_of(const struct cmd_options *o);
/* Counts of each instruction that was executed. */
void exec_print_counts(const struct program *p, const struct exec_result *r, FILE *f);
uint64_t exec_checksum(const void *data, uint64_t bytes);

/* cmd_exec_schedule.c: r->program is a lowered schedule. */
void exec_schedule(struct run *r, const struct cmd_options *o, FILE *f);

/*
 * The launch that --grid, --block, --arg and --seed ask for of a listing; NULL and *status after a message. It owns
 * its buffers; free it with exec_given_free.
 */
struct exec_launch *exec_given_new(const struct cmd_options *o, const struct listing_info *info, int *status);
void exec_given_free(struct exec_launch *l); /* NULL is allowed */

#endif
