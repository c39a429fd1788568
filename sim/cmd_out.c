#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util.h"

/* The temporary of the one output that can be open; read by the signal handler. */
static char *volatile temporary;

static int stdout_errno; /* of the first failed flush */

static const int end_signals[] = { SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ };

static void remove_temporary(int sig)
{
	if (temporary)
		unlink(temporary);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void close_stdout(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	bool failed = ferror(stdout) != 0;
	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return;
	int e = stdout_errno ? stdout_errno : errno; /* 0: lost, the write failed long ago */
	cmd_error("can't write standard output%s%s", e ? ": " : "", e ? strerror(e) : "");
	_exit(STATUS_BAD_INPUT);
}

void output_init(void)
{
	/* A stream closed by the caller must not become the number of a file that is opened later.
	 * The wrong direction makes every use of it fail. */
	static const int direction[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", direction[fd]);
	/* A reader that went away is an error to report, not a silent end. */
	signal(SIGPIPE, SIG_IGN);
	atexit(close_stdout);
}

static int open_temporary(struct output *o, mode_t mode)
{
	char *slash = strrchr(o->final, '/');
	int dir = slash ? (int)(slash - o->final + 1) : 0;
	char *tmp = xasprintf("%.*s.wpsim-XXXXXX", dir, o->final);
	int fd = mkstemp(tmp);

	if (fd < 0) {
		int e = errno;
		free(tmp);
		free(o->final);
		return cmd_error("can't write %s: %s", o->path, strerror(e));
	}
	temporary = tmp;
	for (size_t i = 0; i < ARRAY_LEN(end_signals); i++)
		if (signal(end_signals[i], remove_temporary) == SIG_IGN)
			signal(end_signals[i], SIG_IGN);
	(void)!fchmod(fd, mode);
	o->f = fdopen(fd, "w");
	if (!o->f) {
		int e = errno;
		close(fd);
		output_discard(o);
		return cmd_error("can't write %s: %s", o->path, strerror(e));
	}
	return 0;
}

int output_open(struct output *o, const char *path)
{
	struct stat st;

	*o = (struct output){ .f = stdout, .path = "standard output" };
	if (!path || strcmp(path, "-") == 0)
		return 0;
	o->path = path;
	if (!*path)
		return cmd_error("the name of the output file is empty");
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return cmd_error("can't write %s: it is a directory", path);
		if (!S_ISREG(st.st_mode)) { /* a device or a pipe can't be replaced */
			o->f = fopen(path, "w");
			return o->f ? 0 : cmd_error("can't write %s: %s", path, strerror(errno));
		}
		if (access(path, W_OK) != 0)
			return cmd_error("can't write %s: %s", path, strerror(errno));
		o->final = realpath(path, NULL); /* a link stays a link */
		if (!o->final)
			return cmd_error("can't write %s: %s", path, strerror(errno));
		return open_temporary(o, st.st_mode & 07777);
	}
	if (errno != ENOENT)
		return cmd_error("can't write %s: %s", path, strerror(errno));
	mode_t mask = umask(0);
	umask(mask);
	o->final = xstrdup(path);
	return open_temporary(o, 0666 & ~mask);
}

static void forget(struct output *o)
{
	char *tmp = temporary;

	temporary = NULL;
	free(tmp);
	free(o->final);
	*o = (struct output){ 0 };
}

int output_commit(struct output *o)
{
	bool failed = ferror(o->f) != 0;
	int e = 0, status = 0;

	errno = 0;
	if ((o->f == stdout ? fflush(stdout) : fclose(o->f)) != 0 || failed)
		e = errno ? errno : EIO;
	if (!e && o->final && rename(temporary, o->final) != 0)
		e = errno;
	if (e && o->f == stdout) {
		stdout_errno = e;
		return STATUS_BAD_INPUT; /* close_stdout finds the same error and prints it */
	}
	if (e) {
		if (temporary)
			unlink(temporary);
		status = cmd_error("can't write %s: %s", o->path, strerror(e));
	}
	forget(o);
	return status;
}

void output_discard(struct output *o)
{
	if (o->f == stdout)
		return;
	if (o->f)
		fclose(o->f);
	if (temporary)
		unlink(temporary);
	forget(o);
}
