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

struct hw_function { /* what the driver's compiler made of a kernel; 0: not known */
	unsigned registers;    /* of a thread */
	unsigned spill_bytes;  /* local memory of a thread */
	unsigned static_shared_bytes;
	unsigned max_threads;
};

/*
 * What stand-ins for hardware must know, because they do not run the kernel's text; drivers ignore it.
 * Their addresses are addresses of this process.
 */
struct hw_hint {
	uint64_t stamps;      /* address of the stamp buffer; 0: none */
	unsigned nstamps;     /* of each wave: loop begin, stages, loop end */
	uint64_t waves;       /* of the whole launch */
	uint64_t trips;       /* of the main loop */
	void (*solve)(void *ctx, bool right); /* write the result, or a wrong one, to the output buffer; NULL: there is none */
	void *ctx;
};

struct hw_launch {
	unsigned grid[3], block[3], cluster[3]; /* grid in workgroups, block in threads; cluster 0 or 1 1 1: none */
	unsigned shared_bytes;
	const void *const *args; /* addresses of the argument values */
	const unsigned *arg_bytes;
	size_t nargs;
	const struct hw_hint *hint; /* NULL: none */
	double timeout_s;    /* a launch that takes longer is an error; 0: waits for ever */
};

/* All functions: 0, or -1 with *e filled in. A context belongs to one thread. */
struct hw_context;
struct hw_backend {
	const char *name;    /* "hip", "cuda", "fake", "sim" */
	const char *library; /* what is opened at run time, for messages */
	bool timing_only;    /* runs compute nothing: results are not to be compared */
	bool any_arch;       /* stands for whatever architecture is asked for */
	int (*open)(struct hw_context **out, unsigned device, struct hw_error *e);
	void (*close)(struct hw_context *c);
	int (*describe)(struct hw_context *c, struct hw_device *out, struct hw_error *e);
	/* image: PTX text or a code object; bytes without a terminating zero */
	int (*load)(struct hw_context *c, const void *image, size_t bytes, const char *kernel, void **function, struct hw_error *e);
	int (*inspect)(struct hw_context *c, void *function, struct hw_function *out, struct hw_error *e);
	void (*unload)(struct hw_context *c, void *function);
	int (*alloc)(struct hw_context *c, uint64_t bytes, uint64_t *address, struct hw_error *e);
	void (*release)(struct hw_context *c, uint64_t address);
	int (*copy_to)(struct hw_context *c, uint64_t address, const void *from, uint64_t bytes, struct hw_error *e);
	int (*copy_from)(struct hw_context *c, void *to, uint64_t address, uint64_t bytes, struct hw_error *e);
	/* Runs and waits. *ms: device time by events. */
	int (*run)(struct hw_context *c, void *function, const struct hw_launch *l, double *ms, struct hw_error *e);
};

extern const struct hw_backend hw_hip, hw_cuda, hw_fake;
/* A backend that lives outside hw/; b must stay. At most a few; a name that is there already is replaced. */
void hw_backend_register(const struct hw_backend *b);
const struct hw_backend *hw_backend_find(const char *name); /* NULL: none of that name */
/* The i-th name, NULL behind the last. */
const char *hw_backend_name(size_t i);
/* The first of cuda and hip whose library and device are there, for the architecture arch (NULL: any); NULL and a sentence. */
const struct hw_backend *hw_backend_probe(const char *arch, struct hw_error *e);

/* Fill in e; returns -1. */
int hw_fail(struct hw_error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Set by a signal handler: a launch that is being waited for is given up. */
void hw_interrupt(void);
bool hw_interrupted(void);
double hw_now_s(void); /* monotonic */
/* Wait a little, longer the longer it took already, between two questions whether a launch has ended. */
void hw_nap(double waited_s);

#endif
