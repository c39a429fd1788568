/*
 * Two measurements for bench.sh:
 *   bench_engine engine SCHEDULE RESIDENT   instructions a second of engine_run, each one stepped
 *   bench_engine run PROGRAM ARG            wall time and peak memory of a process
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "lower.h"
#include "schedule.h"
#include "target.h"

#define INSNS_WANTED 4000000u

extern char **environ;

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void die(const struct diag *d, const char *what)
{
	if (d)
		diag_print(d, stderr, false);
	fprintf(stderr, "bench_engine: %s\n", what);
	exit(2);
}

static double run_once(const struct program *p, const struct engine_config *cfg, uint64_t *insns)
{
	struct stats s = { 0 };
	struct diag d;
	double t = now_s();

	diag_init(&d);
	if (engine_run(p, cfg, &s, &d) != 0)
		die(&d, "the engine stopped");
	t = now_s() - t;
	*insns = s.insns_stepped;
	stats_free(&s);
	diag_free(&d);
	return t;
}

static int bench_engine(const char *path, unsigned resident)
{
	double rate[9];
	uint64_t insns = 0;
	struct diag d;
	struct schedule *s;
	struct target *t;
	struct program *p;

	diag_init(&d);
	struct src *text = src_load(path, &d);
	if (!text || !(s = schedule_parse(text, &d)))
		die(&d, "no schedule");
	if (!(t = target_load(s->target_name, s->variant, s->target_loc, &d)))
		die(&d, "no target");
	/* A first run tells how many K-steps make a measurement long enough. */
	if (!(p = lower(s, t, &d)))
		die(&d, "the schedule does not lower");
	struct engine_config cfg = {
		.clock_mhz = t->clocks[0].mhz, .resident = resident, .no_fast_forward = true
	};
	run_once(p, &cfg, &insns);
	uint64_t factor = INSNS_WANTED / (insns ? insns : 1) + 1;
	program_free(p);
	s->k *= (int64_t)factor;
	if (!(p = lower(s, t, &d)))
		die(&d, "the longer schedule does not lower");
	for (size_t i = 0; i < ARRAY_LEN(rate); i++) {
		double sec = run_once(p, &cfg, &insns);
		rate[i] = (double)insns / sec / 1e6;
	}
	qsort(rate, ARRAY_LEN(rate), sizeof(rate[0]), by_value);
	printf("  %2u waves  %6.1f / %6.1f M wave instructions/s  (%s, %.1f M instructions)\n",
	       p->waves * resident, rate[ARRAY_LEN(rate) - 1], rate[ARRAY_LEN(rate) / 2], p->name,
	       (double)insns / 1e6);
	program_free(p);
	target_free(t);
	schedule_free(s);
	diag_free(&d);
	return 0;
}

/* The last two parts of a path. */
static const char *last_two(const char *path)
{
	const char *end = path + strlen(path);

	for (int slashes = 0; end > path; end--)
		if (end[-1] == '/' && ++slashes == 2)
			break;
	return end;
}

/* argv: the program, its arguments, NULL; the last one names the line. */
static int bench_run(char **argv)
{
	double wall[21];
	long peak_kib = 0;
	char *program = argv[0], *arg = argv[0];
	posix_spawn_file_actions_t quiet;

	for (char **a = argv; *a; a++)
		arg = *a;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	for (size_t i = 0; i < ARRAY_LEN(wall); i++) {
		struct rusage ru;
		int status;
		pid_t pid;
		double t = now_s();

		if (posix_spawn(&pid, program, &quiet, NULL, argv, environ) != 0 ||
		    wait4(pid, &status, 0, &ru) != pid)
			die(NULL, "can't run the program");
		wall[i] = 1e3 * (now_s() - t);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			die(NULL, "the program failed");
		peak_kib = ru.ru_maxrss > peak_kib ? ru.ru_maxrss : peak_kib;
	}
	posix_spawn_file_actions_destroy(&quiet);
	qsort(wall, ARRAY_LEN(wall), sizeof(wall[0]), by_value);
	printf("  %7.2f ms (fastest %.2f, slowest %.2f), peak %.1f MiB: %s\n",
	       wall[ARRAY_LEN(wall) / 2], wall[0], wall[ARRAY_LEN(wall) - 1], (double)peak_kib / 1024,
	       last_two(arg));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "engine") == 0)
		return bench_engine(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
	if (argc >= 4 && strcmp(argv[1], "run") == 0)
		return bench_run(argv + 2);
	fprintf(stderr, "usage: bench_engine engine SCHEDULE RESIDENT | run PROGRAM ARG\n");
	return 2;
}
