/*
 * LLVM's readers end the process, or crash, on some damaged input: they run in processes of their own, with
 * limits. One reads a whole code object and ends; another answers questions about single instructions and
 * lives as long as it can.
 */
#include "codeobj_internal.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#ifndef HAVE_LLVM

enum codeobj_end codeobj_render_apart(const struct codeobj_image *image, const char *kernel, struct strbuf *out, int *sig)
{
	*sig = 0;
	return codeobj_render(image, kernel, out);
}

size_t codeobj_disassemble(const char *target, const uint8_t *bytes, size_t n, char *buf, size_t cap)
{
	return codeobj_decode(target, bytes, n, buf, cap);
}

void codeobj_give_up(const char *why)
{
	(void)why;
}

#else

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_SECONDS 20
#define READ_BYTES (4ull << 30)

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_SHADOW 1 /* more address space than any limit */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_SHADOW 1
#endif
#endif

static void limit(int what, rlim_t value)
{
	struct rlimit l;

	if (getrlimit(what, &l) == 0 && (l.rlim_cur == RLIM_INFINITY || l.rlim_cur > value)) {
		l.rlim_cur = value;
		setrlimit(what, &l);
	}
}

static void write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			_exit(1);
		p += k;
		n -= (size_t)k;
	}
}

/* What comes through the pipe: this, then the text. */
struct answer {
	uint32_t end;
	uint32_t all; /* ~end: the answer is whole */
	uint64_t n;
};

static int answer_fd = -1; /* of the child */

static void answer(enum codeobj_end end, const char *text, size_t n)
{
	struct answer a = { .end = (uint32_t)end, .all = ~(uint32_t)end, .n = n };

	write_all(answer_fd, &a, sizeof(a));
	write_all(answer_fd, text, n);
	_exit(0);
}

void codeobj_give_up(const char *why)
{
	char text[200];
	size_t n = 0;

	for (; why[n] && n < sizeof(text); n++) /* names of a damaged file may stand in it */
		text[n] = why[n] >= ' ' && why[n] < 127 ? why[n] : '?';
	answer(CODEOBJ_DAMAGED, text, n);
}

/* Handlers of the parent would remove its files. */
static const int plain_signals[] = { SIGHUP, SIGINT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGXFSZ };

/* Limits of a child, and nothing to speak to. */
static void become_child(void)
{
	int null = open("/dev/null", O_RDWR);

	limit(RLIMIT_CPU, READ_SECONDS);
	limit(RLIMIT_CORE, 0);
#ifndef HAVE_SHADOW
	limit(RLIMIT_AS, READ_BYTES);
#endif
	for (int i = 0; i < 3; i++) /* LLVM speaks before it gives up */
		if (null < 0 || dup2(null, i) < 0)
			_exit(1);
	for (size_t i = 0; i < ARRAY_LEN(plain_signals); i++)
		signal(plain_signals[i], SIG_DFL);
}

static void child(const struct codeobj_image *image, const char *kernel, int fd)
{
	struct strbuf out = { 0 };
	enum codeobj_end end;

	become_child();
	answer_fd = fd;
	end = codeobj_render(image, kernel, &out);
	answer(end, out.s, out.len);
}

static bool read_all(int fd, struct strbuf *b)
{
	char buf[65536];

	for (;;) {
		ssize_t k = read(fd, buf, sizeof(buf));

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 || b->len > 2ull * SRC_MAX_BYTES)
			return false;
		if (k == 0)
			return true;
		strbuf_addn(b, buf, (size_t)k);
	}
}

enum codeobj_end codeobj_render_apart(const struct codeobj_image *image, const char *kernel, struct strbuf *out, int *sig)
{
	struct strbuf b = { 0 };
	struct answer a = { .end = CODEOBJ_DAMAGED };
	int fd[2], status = 0;
	bool whole;
	pid_t pid;

	*sig = 0;
	if (pipe(fd) != 0 || (pid = fork()) < 0) {
		strbuf_add(out, "no process to read it in: %s", strerror(errno));
		return CODEOBJ_DAMAGED;
	}
	if (pid == 0) {
		close(fd[0]);
		child(image, kernel, fd[1]);
	}
	close(fd[1]);
	whole = read_all(fd[0], &b);
	close(fd[0]);
	if (!whole)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (b.len >= sizeof(a))
		memcpy(&a, b.s, sizeof(a));
	if (whole && b.len >= sizeof(a) && a.all == ~a.end && a.n == b.len - sizeof(a)) {
		strbuf_addn(out, b.s + sizeof(a), a.n);
	} else {
		a.end = CODEOBJ_DAMAGED;
		*sig = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
	}
	strbuf_free(&b);
	return (enum codeobj_end)a.end;
}

/* ---- single instructions ---- */

#define MAX_STARTS 50 /* of the process that answers: beyond this the input is meant to break it */

struct question {
	char target[32];
	uint32_t n;
	uint8_t bytes[16];
};
struct decoded {
	uint32_t used;
	char text[512];
};

static struct {
	int fd; /* valid when pid is set */
	pid_t pid;
	unsigned starts;
} server;

static bool transfer(int fd, void *bytes, size_t n, bool out)
{
	char *p = bytes;

	while (n) {
		ssize_t k = out ? send(fd, p, n, MSG_NOSIGNAL) : recv(fd, p, n, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

static void serve(int fd)
{
	struct question q;
	struct decoded d;

	become_child();
	while (transfer(fd, &q, sizeof(q), false)) {
		memset(&d, 0, sizeof(d));
		d.used = (uint32_t)codeobj_decode(q.target, q.bytes, q.n, d.text, sizeof(d.text));
		d.text[sizeof(d.text) - 1] = '\0';
		if (!transfer(fd, &d, sizeof(d), true))
			break;
	}
	_exit(0); /* the parent is gone */
}

static bool server_start(void)
{
	int fd[2];

	if (server.pid)
		return true;
	if (server.starts >= MAX_STARTS || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) != 0)
		return false;
	server.starts++;
	server.pid = fork();
	if (server.pid == 0) {
		close(fd[0]);
		serve(fd[1]);
	}
	close(fd[1]);
	server.fd = fd[0];
	if (server.pid > 0)
		return true;
	close(fd[0]);
	server.pid = 0;
	return false;
}

static void server_stop(void)
{
	close(server.fd);
	kill(server.pid, SIGKILL);
	while (waitpid(server.pid, NULL, 0) < 0 && errno == EINTR)
		;
	server.pid = 0;
}

size_t codeobj_disassemble(const char *target, const uint8_t *bytes, size_t n, char *buf, size_t cap)
{
	struct question q = { 0 };
	struct decoded d;

	if (!cap || strlen(target) >= sizeof(q.target) || !server_start())
		return 0;
	strcpy(q.target, target);
	q.n = (uint32_t)(n < sizeof(q.bytes) ? n : sizeof(q.bytes));
	memcpy(q.bytes, bytes, q.n);
	if (!transfer(server.fd, &q, sizeof(q), true) || !transfer(server.fd, &d, sizeof(d), false)) {
		server_stop();
		return 0;
	}
	if (d.used > q.n || strlen(d.text) >= cap)
		return 0;
	strcpy(buf, d.text);
	return d.used;
}

#endif
