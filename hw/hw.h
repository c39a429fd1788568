/* Hardware backends: one table of functions each; libraries are opened at run time. */
#ifndef WPSIM_HW_H
#define WPSIM_HW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hw_device { /* what the driver says */
	char name[128];
	char arch[32];       /* "sm_90", "gfx942" */
	char driver[64];     /* version as text */
	unsigned units;      /* multiprocessors or compute units */
	unsigned wave_size;
	unsigned clock_mhz;  /* highest engine clock, 0 unknown */
	uint64_t memory_bytes;
	unsigned shared_bytes; /* largest shared memory of a workgroup */
};

struct hw_error { char text[512]; }; /* one sentence */

struct hw_launch {
	unsigned grid[3], block[3], cluster[3];
	unsigned shared_bytes;
	const void *const *args; /* addresses of the argument values */
	const unsigned *arg_bytes;
	size_t nargs;
	double timeout_s;    /* a launch that takes longer is an error */
};

/* All functions: 0, or -1 with *e filled in. A context belongs to one thread. */
struct hw_context;
struct hw_backend {
	const char *name;    /* "hip", "cuda", "fake", "sim" */
	const char *library; /* what is opened at run time, for messages */
	int (*open)(struct hw_context **out, unsigned device, struct hw_error *e);
	void (*close)(struct hw_context *c);
	int (*describe)(struct hw_context *c, struct hw_device *out, struct hw_error *e);
	/* text: PTX or a code object's bytes; log: compiler messages, may be NULL */
	int (*load)(struct hw_context *c, const void *image, size_t bytes, const char *kernel, void **function, struct hw_error *e);
	void (*unload)(struct hw_context *c, void *function);
	int (*alloc)(struct hw_context *c, uint64_t bytes, uint64_t *address, struct hw_error *e);
	void (*release)(struct hw_context *c, uint64_t address);
	int (*copy_to)(struct hw_context *c, uint64_t address, const void *from, uint64_t bytes, struct hw_error *e);
	int (*copy_from)(struct hw_context *c, void *to, uint64_t address, uint64_t bytes, struct hw_error *e);
	/* Runs and waits. *ms: device time by events. */
	int (*run)(struct hw_context *c, void *function, const struct hw_launch *l, double *ms, struct hw_error *e);
};

extern const struct hw_backend hw_hip, hw_cuda, hw_fake;
const struct hw_backend *hw_backend_find(const char *name); /* NULL: none of that name */
/* The first backend whose library and device are there, for the architecture arch (NULL: any); NULL and a sentence. */
const struct hw_backend *hw_backend_probe(const char *arch, struct hw_error *e);

#endif
