/* The kernels of tests/compile for the tests: compiled, given data, run by the executor, computed by the host. */
#ifndef WPSIM_TEST_KERNELS_H
#define WPSIM_TEST_KERNELS_H

#include "exec.h"

#define KERNELS_MAX 128
#define KERNEL_ARGS 16

extern char *kernel_name[KERNELS_MAX]; /* in order */
extern size_t nkernels;

/* List the files, make a folder for results; both undone by kernels_close. */
void kernels_open(void);
void kernels_close(void);
const char *kernels_dir(void);
const char *kernels_top(void);
bool kernels_have_clang(void); /* clang-22 is there; says so when it is not */
int kernels_run(char *command); /* shell command, freed; its status */
/* NAME.s of all kernels for a target, in the folder. */
void kernels_compile(const char *target, const char *level);
/* A file of the folder. */
struct src *kernels_load(const char *file);

/* The reference of all kernels as plain C, compiled for a target's formats. */
typedef void kernel_host(void *const *args, unsigned groups);
struct kernels_host {
	void *library;
	kernel_host *fn[KERNELS_MAX];
};
void kernels_host_open(struct kernels_host *h, const char *target);
void kernels_host_close(struct kernels_host *h);

/* ---- how a kernel is run: the line "launch:" of its file ---- */

enum kernel_what { KARG_VALUE, KARG_IN, KARG_OUT, KARG_IN_OUT };
struct kernel_arg {
	enum kernel_what what;
	char type[8];
	unsigned bytes; /* of an element */
	size_t count;
	bool filled;
	long lo, hi;
	bool eighths;
	double tolerance;
	char value[32];
};
struct kernel_run {
	const char *name;
	unsigned grid[3], block[3];
	struct kernel_arg arg[KERNEL_ARGS];
	size_t nargs;
	uint8_t *start[KERNEL_ARGS], *data[KERNEL_ARGS], *want[KERNEL_ARGS]; /* as filled; of the executor; of the reference */
};
void kernel_prepare(struct kernel_run *r, const char *name);
void kernel_free(struct kernel_run *r);
void kernel_reference(struct kernel_run *r, kernel_host *host);
int kernel_execute(struct kernel_run *r, const struct program *p, const struct listing_info *info, const struct exec_options *o,
		   uint64_t *insns, struct diag *d);
/* Elements of the arguments that differ from the reference; the first ones are shown unless quiet. */
size_t kernel_compare(const struct kernel_run *r, bool quiet);

#endif
