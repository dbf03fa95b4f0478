/* SPDX-License-Identifier: MIT */
#include "os/bounded.h"

#include "os/clock.h"
#include "os/process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024 };

static const double REAP_SECONDS = 0.02;

/** In the child: redirect the output and call run(). */
_Noreturn static void run_child(int parent, int out, int err, int (*run)(void *), void *arg)
{
	enum { BROKEN = 255 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		os_exit_process(BROKEN);
	os_exit_process(run(arg));
}

/** Read what is available.  @return 1, 0 at the end, or -1. */
static int read_available(struct os *os, int fd, struct strbuf *to)
{
	char *room = strbuf_extend(to, READ_SIZE);
	if (!room) {
		errno = ENOMEM;
		return -1;
	}
	ssize_t n = os_read(os, fd, room, READ_SIZE);
	to->len -= READ_SIZE - (n > 0 ? (size_t)n : 0);
	to->data[to->len] = '\0';
	if (n > 0 && to->len > BOUNDED_MAX) {
		errno = EFBIG;
		return -1;
	}
	return n < 0 ? -1 : n > 0;
}

/** Read both descriptors to their ends, or until the time limit.  @return 0, or -1. */
static int read_output(struct os *os, double end, const int fds[2], struct os_bounded *done)
{
	struct strbuf *const to[2] = {&done->out, &done->err};
	struct pollfd polled[2] = {{.fd = fds[0], .events = POLLIN},
	                           {.fd = fds[1], .events = POLLIN}};
	while (polled[0].fd >= 0 || polled[1].fd >= 0) {
		double left = end - os_now();
		done->late = left <= 0;
		if (done->late)
			return 0;
		if (os_poll(os, polled, 2, left < 1e6 ? (int)(left * 1e3) + 1 : (int)1e9) < 0)
			return -1;
		for (int i = 0; i < 2; ++i) {
			int more = polled[i].fd >= 0 && polled[i].revents
			                   ? read_available(os, polled[i].fd, to[i]) : 1;
			if (more < 0)
				return -1;
			if (more == 0)
				polled[i].fd = -1;
		}
	}
	return 0;
}

int os_bounded(struct os *os, double seconds, int (*run)(void *arg), void *arg,
               struct os_bounded *done)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, rc = -1, status = -1;
	double end = os_now() + seconds;
	*done = (struct os_bounded){0};
	strbuf_init(&done->out);
	strbuf_init(&done->err);
	if (os_socketpair(os, SOCK_STREAM, out) != 0 || os_socketpair(os, SOCK_STREAM, err) != 0)
		goto out;
	int self = getpid(), pid = os_fork_process(os);
	if (pid < 0)
		goto out;
	if (pid == 0)
		run_child(self, out[1], err[1], run, arg);
	os_close(os, out[1]);
	os_close(os, err[1]);
	out[1] = err[1] = -1;
	rc = read_output(os, end, (const int[]){out[0], err[0]}, done);
	double left = end - os_now();
	/* The child has closed both ends and should exit soon; the limit applies to that as
	   well. */
	bool ended = rc == 0 && !done->late && os_reap(os, pid, left, &status) && status != -1;
	if (!ended) {
		int error = errno;
		done->late |= rc == 0;
		os_kill(os, pid, SIGKILL);
		os_reap(os, pid, REAP_SECONDS, &status);
		errno = error;
	} else if (WIFEXITED(status)) {
		done->status = WEXITSTATUS(status);
	} else {
		done->signal = WTERMSIG(status);
	}
out:
	for (int i = 0; i < 2; ++i) {
		os_close(os, out[i]);
		os_close(os, err[i]);
	}
	return rc;
}

struct program {
	char *const *argv, *const *envp;
};

static int run_program(void *arg)
{
	enum { NOT_RUN = 127 };
	const struct program *program = arg;
	/* O_NONBLOCK: /dev/null may have been replaced by a FIFO. */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	sigset_t none;
	sigemptyset(&none);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) != 0)
		return NOT_RUN;
	execve(program->argv[0], program->argv, program->envp);
	return NOT_RUN;
}

int os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[],
                       struct os_bounded *done)
{
	struct program program = {argv, envp};
	return os_bounded(os, seconds, run_program, &program, done);
}

void os_bounded_destroy(struct os_bounded *done)
{
	strbuf_destroy(&done->out);
	strbuf_destroy(&done->err);
}
