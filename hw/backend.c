#include "hw.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MAX_BACKENDS 8

static const struct hw_backend *backends[MAX_BACKENDS] = { &hw_cuda, &hw_hip, &hw_fake };
static volatile sig_atomic_t interrupted;

int hw_fail(struct hw_error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	for (char *c = e->text; *c; c++) /* one line, whatever a driver says */
		if (*c == '\n' || *c == '\r' || *c == '\t')
			*c = ' ';
	return -1;
}

void hw_backend_register(const struct hw_backend *b)
{
	for (size_t i = 0; i < MAX_BACKENDS; i++) {
		if (!backends[i] || strcmp(backends[i]->name, b->name) == 0) {
			backends[i] = b;
			return;
		}
	}
}

const struct hw_backend *hw_backend_find(const char *name)
{
	for (size_t i = 0; i < MAX_BACKENDS && backends[i]; i++)
		if (strcmp(backends[i]->name, name) == 0)
			return backends[i];
	return NULL;
}

const char *hw_backend_name(size_t i)
{
	return i < MAX_BACKENDS && backends[i] ? backends[i]->name : NULL;
}

/* Does the backend have a device of that architecture? */
static bool offers(const struct hw_backend *b, const char *arch, struct hw_error *e)
{
	struct hw_context *c;
	struct hw_device d;
	int rc;

	if (b->open(&c, 0, e) != 0)
		return false;
	rc = b->describe(c, &d, e);
	b->close(c);
	if (rc == 0 && arch && strcmp(d.arch, arch) != 0)
		rc = hw_fail(e, "%s has a %s (%s), not a %s", b->name, d.name, d.arch, arch);
	return rc == 0;
}

const struct hw_backend *hw_backend_probe(const char *arch, struct hw_error *e)
{
	static const struct hw_backend *const real[] = { &hw_cuda, &hw_hip };
	struct hw_error why[2] = { { "" }, { "" } };

	for (size_t i = 0; i < 2; i++)
		if (offers(real[i], arch, &why[i]))
			return real[i];
	hw_fail(e, "no device%s%s: %.200s; %.200s", arch ? " for " : "", arch ? arch : "", why[0].text, why[1].text);
	return NULL;
}

void hw_interrupt(void)
{
	interrupted = 1;
}

bool hw_interrupted(void)
{
	return interrupted != 0;
}

double hw_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void hw_nap(double waited_s)
{
	/* A short launch is asked about often, so that the host adds little to a series of them. */
	long ns = waited_s < 0.002 ? 20000 : waited_s < 0.2 ? 500000 : 10000000;
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}
