#include "hw_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict.h"

static const struct program *current;
static double current_noise;
static uint64_t noise_state = 1;

struct hw_context { int unused; };

struct sim_function {
	struct prediction pr;
	double noise;
	bool done;
	const struct program *p;
};

void hw_sim_program(const struct program *p, double noise)
{
	current = p;
	current_noise = noise;
}

/* Sum of twelve even deviates: nearly normal, with a bound. */
static double deviate(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		noise_state = noise_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		sum += (double)(noise_state >> 11) * 0x1p-53;
	}
	return sum;
}

static int sim_open(struct hw_context **out, unsigned device, struct hw_error *e)
{
	*out = NULL;
	if (device > 0)
		return hw_fail(e, "the sim backend has one device, number 0");
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : hw_fail(e, "no memory for the sim backend");
}

static void sim_close(struct hw_context *c)
{
	free(c);
}

static int sim_describe(struct hw_context *c, struct hw_device *out, struct hw_error *e)
{
	const struct target *t = current ? current->target : NULL;

	(void)c;
	(void)e;
	memset(out, 0, sizeof(*out));
	strcpy(out->name, "wpsim engine");
	strcpy(out->driver, "engine");
	if (t) {
		strncpy(out->arch, t->name, sizeof(out->arch) - 1);
		out->units = (unsigned)t->v.cus;
		out->wave_size = (unsigned)t->v.wave_size;
		out->shared_bytes = (unsigned)t->v.lds_bytes;
		out->clock_mhz = t->nclocks ? (unsigned)t->clocks[0].mhz : 0;
	}
	out->memory_bytes = UINT64_C(1) << 40;
	return 0;
}

static int sim_load(struct hw_context *c, const void *image, size_t bytes, const char *kernel, void **function,
		    struct hw_error *e)
{
	struct sim_function *f;

	(void)c;
	(void)image;
	(void)bytes;
	(void)kernel;
	*function = NULL;
	if (!current)
		return hw_fail(e, "the sim backend was given no program");
	f = calloc(1, sizeof(*f));
	if (!f)
		return hw_fail(e, "no memory for the sim backend");
	f->p = current;
	f->noise = current_noise;
	*function = f;
	return 0;
}

static int sim_inspect(struct hw_context *c, void *function, struct hw_function *out, struct hw_error *e)
{
	(void)c;
	(void)function;
	(void)e;
	memset(out, 0, sizeof(*out));
	return 0;
}

static void sim_unload(struct hw_context *c, void *function)
{
	struct sim_function *f = function;

	(void)c;
	if (f && f->done)
		prediction_free(&f->pr);
	free(f);
}

static int sim_alloc(struct hw_context *c, uint64_t bytes, uint64_t *address, struct hw_error *e)
{
	void *p = bytes > SIZE_MAX ? NULL : calloc(1, bytes ? (size_t)bytes : 1);

	(void)c;
	*address = (uintptr_t)p;
	return p ? 0 : hw_fail(e, "no memory for %llu bytes of the sim backend", (unsigned long long)bytes);
}

static void sim_release(struct hw_context *c, uint64_t address)
{
	(void)c;
	free((void *)(uintptr_t)address);
}

static int sim_copy_to(struct hw_context *c, uint64_t address, const void *from, uint64_t bytes, struct hw_error *e)
{
	(void)c;
	(void)e;
	memcpy((void *)(uintptr_t)address, from, (size_t)bytes);
	return 0;
}

static int sim_copy_from(struct hw_context *c, void *to, uint64_t address, uint64_t bytes, struct hw_error *e)
{
	(void)c;
	(void)e;
	memcpy(to, (const void *)(uintptr_t)address, (size_t)bytes);
	return 0;
}

static void write_stamps(const struct sim_function *f, const struct hw_hint *h, double factor)
{
	uint64_t *s = (uint64_t *)(uintptr_t)h->stamps;
	uint64_t begin = f->pr.stats.prologue_clk + 1, loop = (uint64_t)llround((double)f->pr.stats.loop_clk * factor);

	for (uint64_t w = 0; w < h->waves; w++, s += h->nstamps) {
		memset(s, 0, h->nstamps * sizeof(*s));
		s[0] = begin;
		s[h->nstamps - 1] = begin + loop;
	}
}

static int sim_run(struct hw_context *c, void *function, const struct hw_launch *l, double *ms, struct hw_error *e)
{
	struct sim_function *f = function;
	double factor = 1 + f->noise * deviate();

	(void)c;
	if (!f->done) {
		struct diag d;
		int rc;

		diag_init(&d);
		rc = predict(f->p, NULL, false, &f->pr, &d);
		if (rc != 0)
			hw_fail(e, "the engine can't run the kernel: %s", d.n ? d.list[0].message : "no reason given");
		diag_free(&d);
		if (rc != 0)
			return -1;
		f->done = true;
	}
	*ms = f->pr.time_us * factor * 1e-3;
	if (l->hint && l->hint->stamps && l->hint->nstamps >= 2)
		write_stamps(f, l->hint, factor);
	return 0;
}

const struct hw_backend hw_sim = {
	.name = "sim",
	.library = "wpsim's own engine",
	.timing_only = true,
	.any_arch = true,
	.open = sim_open,
	.close = sim_close,
	.describe = sim_describe,
	.load = sim_load,
	.inspect = sim_inspect,
	.unload = sim_unload,
	.alloc = sim_alloc,
	.release = sim_release,
	.copy_to = sim_copy_to,
	.copy_from = sim_copy_from,
	.run = sim_run,
};
