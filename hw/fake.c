/*
 * A device that follows a script, for tests of everything behind it: $WPSIM_FAKE names a text file of
 * lines "KEY VALUE...", # begins a comment.
 *
 *   arch sm_90            name Fake GPU        driver 1.0
 *   units 132             clock 1980           highest clock, MHz
 *   clk 224.8 225.1       clk of a trip of the main loop; the n-th launch takes the n-th value, round and round
 *   mhz 1700 1710         engine clock of each launch, likewise
 *   overhead 5            us of a launch beside its loop
 *   stages 0.25 0.75      where in the last trip the stages begin; evenly when not given
 *   result right          right, wrong or missing
 *   fault KIND [N]        at the N-th launch, from 1 (1): launch, hang; when opening: no-library, no-device;
 *                         when loading: compile; when allocating: memory
 */
#include "hw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 256
#define MAX_LINE 1024
#define LOOP_BEGIN_CLK 4096u

enum fault { FAULT_NONE, FAULT_LIBRARY, FAULT_DEVICE, FAULT_COMPILE, FAULT_MEMORY, FAULT_LAUNCH, FAULT_HANG };
static const char *const fault_words[] = { "none", "no-library", "no-device", "compile", "memory", "launch", "hang" };
enum result { RESULT_RIGHT, RESULT_WRONG, RESULT_MISSING };
static const char *const result_words[] = { "right", "wrong", "missing" };

struct list { double v[MAX_LIST]; size_t n; };

struct hw_context {
	struct hw_device device;
	struct list clk, mhz, stages;
	double overhead_us;
	enum result result;
	enum fault fault;
	uint64_t fault_at, launches;
};

static int read_list(struct list *l, char *text, double lo, double hi)
{
	char *end;

	l->n = 0;
	for (char *w = strtok(text, " \t"); w; w = strtok(NULL, " \t")) {
		double v = strtod(w, &end);

		if (end == w || *end || !(v >= lo && v <= hi) || l->n == MAX_LIST)
			return -1;
		l->v[l->n++] = v;
	}
	return l->n ? 0 : -1;
}

static int read_number(double *to, char *text, double lo, double hi)
{
	struct list l;

	if (read_list(&l, text, lo, hi) != 0 || l.n != 1)
		return -1;
	*to = l.v[0];
	return 0;
}

static int word_index(const char *const *words, size_t n, const char *w)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(words[i], w) == 0)
			return (int)i;
	return -1;
}

static int read_fault(struct hw_context *c, char *text)
{
	char *word = strtok(text, " \t"), *at = strtok(NULL, " \t");
	int i = word ? word_index(fault_words, sizeof(fault_words) / sizeof(*fault_words), word) : -1;
	double n = 1;

	if (i < 0 || (at && read_number(&n, at, 1, 1e9) != 0))
		return -1;
	c->fault = (enum fault)i;
	c->fault_at = (uint64_t)n;
	return 0;
}

static int set_text(char *to, size_t bytes, const char *text)
{
	if (!*text || strlen(text) >= bytes)
		return -1;
	strcpy(to, text);
	return 0;
}

/* One line's key and the rest of it. */
static int set_key(struct hw_context *c, const char *key, char *rest)
{
	double v = 0;
	int i;

	if (strcmp(key, "arch") == 0)
		return set_text(c->device.arch, sizeof(c->device.arch), rest);
	if (strcmp(key, "name") == 0)
		return set_text(c->device.name, sizeof(c->device.name), rest);
	if (strcmp(key, "driver") == 0)
		return set_text(c->device.driver, sizeof(c->device.driver), rest);
	if (strcmp(key, "clk") == 0)
		return read_list(&c->clk, rest, 0, 1e12);
	if (strcmp(key, "mhz") == 0)
		return read_list(&c->mhz, rest, 1, 1e5);
	if (strcmp(key, "stages") == 0)
		return read_list(&c->stages, rest, 0, 1);
	if (strcmp(key, "fault") == 0)
		return read_fault(c, rest);
	if (strcmp(key, "overhead") == 0)
		return read_number(&c->overhead_us, rest, 0, 1e9);
	if (strcmp(key, "result") == 0) {
		i = word_index(result_words, sizeof(result_words) / sizeof(*result_words), rest);
		c->result = i < 0 ? RESULT_RIGHT : (enum result)i;
		return i < 0 ? -1 : 0;
	}
	if (strcmp(key, "units") == 0 && read_number(&v, rest, 1, 1e6) == 0) {
		c->device.units = (unsigned)v;
		return 0;
	}
	if (strcmp(key, "clock") == 0 && read_number(&v, rest, 1, 1e5) == 0) {
		c->device.clock_mhz = (unsigned)v;
		return 0;
	}
	return -1;
}

static int read_script(struct hw_context *c, FILE *f, const char *path, struct hw_error *e)
{
	char line[MAX_LINE];

	for (unsigned n = 1; fgets(line, sizeof(line), f); n++) {
		char *key = line + strspn(line, " \t"), *rest;

		key[strcspn(key, "#\r\n")] = '\0';
		for (size_t len = strlen(key); len > 0 && (key[len - 1] == ' ' || key[len - 1] == '\t'); len--)
			key[len - 1] = '\0';
		if (!*key)
			continue;
		rest = key + strcspn(key, " \t");
		if (*rest)
			*rest++ = '\0';
		rest += strspn(rest, " \t");
		if (set_key(c, key, rest) != 0)
			return hw_fail(e, "%.200s:%u: '%.40s' is no key of a fake device's script, or its value is wrong",
				       path, n, key);
	}
	return 0;
}

static int fake_open(struct hw_context **out, unsigned device, struct hw_error *e)
{
	const char *path = getenv("WPSIM_FAKE");
	struct hw_context *c;
	FILE *f;
	int rc;

	*out = NULL;
	if (!path || !*path)
		return hw_fail(e, "the fake backend follows a script, and WPSIM_FAKE names none");
	f = fopen(path, "r");
	if (!f)
		return hw_fail(e, "can't read the fake device's script %.200s: %s", path, strerror(errno));
	c = calloc(1, sizeof(*c));
	if (c) {
		c->device = (struct hw_device){ .name = "fake device", .arch = "sm_90", .driver = "fake", .units = 132,
						.wave_size = 32, .memory_bytes = UINT64_C(1) << 37, .shared_bytes = 232448 };
		c->clk = (struct list){ { 1000 }, 1 };
		c->mhz = (struct list){ { 1000 }, 1 };
		c->overhead_us = 5;
	}
	rc = c ? read_script(c, f, path, e) : hw_fail(e, "no memory for a fake device");
	fclose(f);
	if (rc == 0 && c->fault == FAULT_LIBRARY)
		rc = hw_fail(e, "the fake runtime is not on this machine: the script says so");
	if (rc == 0 && (c->fault == FAULT_DEVICE || device > 0))
		rc = hw_fail(e, "the fake runtime is here, but no device %u", device);
	if (rc != 0) {
		free(c);
		return -1;
	}
	*out = c;
	return 0;
}

static void fake_close(struct hw_context *c)
{
	free(c);
}

static int fake_describe(struct hw_context *c, struct hw_device *out, struct hw_error *e)
{
	(void)e;
	*out = c->device;
	return 0;
}

static int fake_load(struct hw_context *c, const void *image, size_t bytes, const char *kernel, void **function,
		     struct hw_error *e)
{
	(void)image;
	*function = NULL;
	if (c->fault == FAULT_COMPILE)
		return hw_fail(e, "the fake compiler refuses the kernel %.100s of %zu bytes", kernel, bytes);
	*function = c;
	return 0;
}

static int fake_inspect(struct hw_context *c, void *function, struct hw_function *out, struct hw_error *e)
{
	(void)c;
	(void)function;
	(void)e;
	*out = (struct hw_function){ 0 };
	return 0;
}

static void fake_unload(struct hw_context *c, void *function)
{
	(void)c;
	(void)function;
}

static int fake_alloc(struct hw_context *c, uint64_t bytes, uint64_t *address, struct hw_error *e)
{
	void *p = c->fault == FAULT_MEMORY || bytes > SIZE_MAX ? NULL : malloc(bytes ? (size_t)bytes : 1);

	*address = (uintptr_t)p;
	return p ? 0 : hw_fail(e, "the fake device has not %llu bytes of memory", (unsigned long long)bytes);
}

static void fake_release(struct hw_context *c, uint64_t address)
{
	(void)c;
	free((void *)(uintptr_t)address);
}

static int fake_copy_to(struct hw_context *c, uint64_t address, const void *from, uint64_t bytes, struct hw_error *e)
{
	(void)c;
	(void)e;
	memcpy((void *)(uintptr_t)address, from, (size_t)bytes);
	return 0;
}

static int fake_copy_from(struct hw_context *c, void *to, uint64_t address, uint64_t bytes, struct hw_error *e)
{
	(void)c;
	(void)e;
	memcpy(to, (const void *)(uintptr_t)address, (size_t)bytes);
	return 0;
}

static void write_stamps(const struct hw_context *c, const struct hw_hint *h, double clk)
{
	uint64_t *s = (uint64_t *)(uintptr_t)h->stamps;
	unsigned stages = h->nstamps - 2;
	double loop = clk * (double)h->trips;

	for (uint64_t w = 0; w < h->waves; w++, s += h->nstamps) {
		s[0] = LOOP_BEGIN_CLK;
		for (unsigned i = 0; i < stages; i++) {
			double part = i < c->stages.n ? c->stages.v[i] : (double)i / stages;

			s[1 + i] = LOOP_BEGIN_CLK + (uint64_t)llround(loop - clk + part * clk);
		}
		s[h->nstamps - 1] = LOOP_BEGIN_CLK + (uint64_t)llround(loop);
	}
}

static int hang(const struct hw_launch *l, struct hw_error *e)
{
	double start = hw_now_s();

	while (!hw_interrupted() && hw_now_s() - start < (l->timeout_s > 0 ? l->timeout_s : 3600))
		hw_nap(hw_now_s() - start);
	return hw_interrupted() ? hw_fail(e, "interrupted while the kernel ran") :
		hw_fail(e, "the kernel did not end within %.3g s: the script lets it hang", l->timeout_s);
}

static int fake_run(struct hw_context *c, void *function, const struct hw_launch *l, double *ms, struct hw_error *e)
{
	uint64_t n = c->launches++;
	double clk = c->clk.v[n % c->clk.n], mhz = c->mhz.v[n % c->mhz.n];
	const struct hw_hint *h = l->hint;

	(void)function;
	if (c->fault == FAULT_LAUNCH && n + 1 == c->fault_at)
		return hw_fail(e, "launching the kernel failed: the script says so");
	if (c->fault == FAULT_HANG && n + 1 == c->fault_at)
		return hang(l, e);
	*ms = c->overhead_us * 1e-3 + (h ? clk * (double)h->trips / mhz * 1e-3 : 0);
	if (!h)
		return 0;
	if (h->stamps && h->nstamps >= 2)
		write_stamps(c, h, clk);
	/* A result that is computed once serves all launches: the inputs do not change. */
	/* Once is enough for all launches: the inputs do not change. */
	if (h->solve && c->result != RESULT_MISSING && n == 0)
		h->solve(h->ctx, c->result == RESULT_RIGHT);
	return 0;
}

const struct hw_backend hw_fake = {
	.name = "fake",
	.library = "the script that WPSIM_FAKE names",
	.open = fake_open,
	.close = fake_close,
	.describe = fake_describe,
	.load = fake_load,
	.inspect = fake_inspect,
	.unload = fake_unload,
	.alloc = fake_alloc,
	.release = fake_release,
	.copy_to = fake_copy_to,
	.copy_from = fake_copy_from,
	.run = fake_run,
};
