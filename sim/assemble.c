#include "assemble.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

#define MAX_IMAGE (256u << 20)

struct job {
	char *dir, *source, *object, *log;
};

static void remove_files(struct job *j)
{
	unlink(j->source);
	unlink(j->object);
	unlink(j->log);
	rmdir(j->dir);
	free(j->dir);
	free(j->source);
	free(j->object);
	free(j->log);
}

static int make_files(struct job *j, const char *text, size_t len)
{
	const char *tmp = getenv("TMPDIR");
	FILE *f;
	int bad;

	j->dir = xasprintf("%s/wpsim-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(j->dir)) {
		int e = errno;

		free(j->dir);
		return e;
	}
	j->source = xasprintf("%s/kernel.s", j->dir);
	j->object = xasprintf("%s/kernel.co", j->dir);
	j->log = xasprintf("%s/log", j->dir);
	errno = 0;
	f = fopen(j->source, "w");
	bad = !f || fwrite(text, 1, len, f) != len;
	if (f && fclose(f) != 0)
		bad = 1;
	if (!bad)
		return 0;
	bad = errno ? errno : EIO;
	remove_files(j);
	return bad;
}

static bool is_ptx(const char *target)
{
	return strncmp(target, "sm_", 3) == 0;
}

/* The exit status of the tool; 127 when it can't be started, -1 when it was killed. */
static int run_tool(const char *tool, const char *target, const struct job *j)
{
	bool ptx = is_ptx(target);
	char *cpu = xasprintf(ptx ? "-arch=%s" : "-mcpu=%s", target);
	const char *const amd[] = { tool, "--target=amdgcn-amd-amdhsa", cpu, "-x", "assembler", j->source, "-o", j->object, NULL };
	const char *const nvidia[] = { tool, cpu, j->source, "-o", j->object, NULL };
	const char *const *argv = ptx ? nvidia : amd;
	int status = 0;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int fd = open(j->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (fd >= 0) {
			dup2(fd, STDOUT_FILENO);
			dup2(fd, STDERR_FILENO);
		}
		execvp(tool, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	free(cpu);
	if (pid < 0)
		return 127;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The first line of the log that names an error, else its first line. */
static void first_error(const char *path, char *line, size_t bytes)
{
	FILE *f = fopen(path, "r");
	char *buf = NULL;
	size_t cap = 0;
	bool found = false;

	line[0] = '\0';
	while (f && !found && getline(&buf, &cap, f) >= 0) {
		const char *at = strstr(buf, "error");

		buf[strcspn(buf, "\r\n")] = '\0';
		found = at != NULL;
		if (found || !line[0])
			snprintf(line, bytes, "%s", found ? at : buf);
	}
	free(buf);
	if (f)
		fclose(f);
}

static int read_image(const char *path, void **image, size_t *bytes)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	int rc = -1;

	if (f && fstat(fileno(f), &st) == 0 && st.st_size > 0 && (uint64_t)st.st_size <= MAX_IMAGE) {
		*bytes = (size_t)st.st_size;
		*image = xmalloc(*bytes);
		rc = fread(*image, 1, *bytes, f) == *bytes ? 0 : -1;
		if (rc != 0)
			free(*image);
	}
	if (f)
		fclose(f);
	return rc;
}

enum assemble_status assemble(const char *target, const char *text, size_t len, void **image, size_t *bytes, char *why,
			      size_t why_bytes)
{
	bool ptx = is_ptx(target);
	const char *given = getenv(ptx ? "WPSIM_PTXAS" : "WPSIM_CLANG");
	const char *const tools[] = {
		given && *given ? given : ptx ? "ptxas" : "clang-22", given && *given ? given : ptx ? "ptxas" : "clang",
	};
	enum assemble_status s = ASSEMBLE_DONE;
	char line[300];
	struct job j = { 0 };
	int rc = make_files(&j, text, len);

	*image = NULL;
	if (rc != 0) {
		snprintf(why, why_bytes, "can't write a temporary file for the assembler: %s", strerror(rc));
		return ASSEMBLE_FAILED;
	}
	rc = 127;
	for (size_t i = 0; i < ARRAY_LEN(tools) && rc == 127; i++)
		rc = run_tool(tools[i], target, &j);
	first_error(j.log, line, sizeof(line));
	if (rc == 127) {
		s = ASSEMBLE_NO_TOOL;
		snprintf(why, why_bytes, "no assembler: %s is not there; %s may name another one",
			 given && *given ? given : ptx ? "ptxas" : "neither clang-22 nor clang", ptx ? "WPSIM_PTXAS" : "WPSIM_CLANG");
	} else if (rc != 0) {
		s = ASSEMBLE_REFUSED;
		snprintf(why, why_bytes, "the assembler refuses the kernel for %s: %s", target, line[0] ? line : "it does not say why");
	} else if (read_image(j.object, image, bytes) != 0) {
		s = ASSEMBLE_FAILED;
		snprintf(why, why_bytes, "the assembler left no code object that can be read");
	}
	remove_files(&j);
	return s;
}
