/* Files of measurements: one JSON object a line, appended as they are made, read on any machine. docs/hardware.md. */
#ifndef WPSIM_SAMPLES_H
#define WPSIM_SAMPLES_H

#include "diag.h"
#include "src.h"
#include "util.h"

#define SAMPLE_SCHEMA "wpsim.sample.v1"
#define SAMPLES_MAX 100000u

struct sample_stage {
	const char *name;
	unsigned group;
	double clk; /* of one passage */
};

struct sample {
	const char *kernel;    /* the program's name */
	const char *schedule;  /* path as given when it was measured, "" unknown */
	const char *hash;      /* of the emitted text: the same program has the same */
	const char *target;    /* model that it was lowered for: "sm_90" */
	const char *backend, *device, *arch, *driver, *date, *version;
	uint64_t workgroups, trips; /* trips of the main loop; 0: it has none */
	unsigned steps;        /* K-steps in a trip */
	unsigned repeats;
	double loop_clk;       /* main loop: first begin to last end of a workgroup, median; 0: not known */
	double clk_per_step;   /* loop_clk / (trips * steps) */
	double steady_clk;     /* per K-step, from two lengths of the loop; 0: not measured */
	double spread;         /* half the distance of the quartiles / median */
	double time_us;        /* of the launch, median */
	double clock_mhz;      /* engine clock while it ran; 0: not known */
	const char *result;    /* "right", or "unchecked" */
	unsigned registers, spill_bytes;
	const struct sample_stage *stages;
	size_t nstages;
	const char *const *warnings;
	size_t nwarnings;
	struct loc loc;        /* its line, when it was read from a file */
};

struct samples {
	struct arena *arena;
	struct src *src;
	struct sample *list;
	size_t n;
};

/* Read a file. -1 after findings E_SAMPLES at the line and column; *out is to be freed in both cases. A file
 * that is not there is empty when may_miss. */
int samples_load(struct samples *out, const char *path, bool may_miss, struct diag *d);
/* Take s over; for tests and standard input. */
int samples_parse(struct samples *out, struct src *s, struct diag *d);
void samples_free(struct samples *s);
/* The newest sample of that program on that device model, or NULL. device NULL: any. */
const struct sample *samples_find(const struct samples *s, const char *hash, const char *device);
/* The newest of a kernel by name and target. */
const struct sample *samples_find_kernel(const struct samples *s, const char *kernel, const char *target);

/* One line of a file, with its newline. */
void sample_print(struct strbuf *b, const struct sample *s);
/* Append to a file in one write, so that an interrupt leaves whole lines. An unfinished last line, left by a machine
 * that went down, is cut off first. 0 or an errno value. */
int samples_append(const char *path, const struct sample *s);
/* Could samples_append write there? 0, or errno; to be asked before anything is measured. */
int samples_writable(const char *path);

/* 64-bit FNV-1a as 16 hexadecimal digits. */
void samples_hash(const void *bytes, size_t n, char out[17]);

#endif
