/* SPDX-License-Identifier: MIT */
#include "os/bounded.h"

#include "os/clock.h"
#include "os/process.h"
#include "os/service.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024 };

static const double REAP_SECONDS = 0.02;

/** Read the available bytes.  @return 1, 0 at the end, or -1. */
static int read_available(struct os *os, int fd, struct strbuf *to)
{
	char *room = strbuf_extend(to, READ_SIZE);
	if (!room)
		return fail(ENOMEM);
	ssize_t n = os_read(os, fd, room, READ_SIZE);
	to->len -= READ_SIZE - (n > 0 ? (size_t)n : 0);
	to->data[to->len] = '\0';
	if (n > 0 && to->len > BOUNDED_MAX)
		return fail(EFBIG);
	return n < 0 ? -1 : n > 0;
}

int os_bounded_wait(struct os *os, struct os_bounded *done, struct pollfd *fds, size_t n,
                    double until)
{
	struct strbuf *const to[2] = {&done->out, &done->err};
	done->late = os_now() >= done->end;
	if (done->late)
		return 0;
	for (int i = 0; i < 2; ++i)
		fds[i] = (struct pollfd){.fd = done->fds[i], .events = POLLIN};
	if (os_poll_until(os, fds, n, done->end < until ? done->end : until) < 0)
		return -1;
	for (int i = 0; i < 2; ++i) {
		int more = fds[i].fd >= 0 && fds[i].revents ? read_available(os, fds[i].fd, to[i])
		                                            : 1;
		if (more < 0)
			return -1;
		if (more == 0) {
			os_close(os, done->fds[i]);
			done->fds[i] = -1;
		}
	}
	return done->fds[0] >= 0 || done->fds[1] >= 0;
}

int os_bounded_start(struct os *os, double seconds, struct os_bounded *done)
{
	enum { BROKEN = 255 };
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	*done = (struct os_bounded){.pid = -1, .fds = {-1, -1}, .end = os_now() + seconds};
	if (os_socketpair(os, SOCK_STREAM, out) == 0 && os_socketpair(os, SOCK_STREAM, err) == 0)
		done->pid = os_fork_process(os);
	if (done->pid == 0) {
		if (dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0)
			os_exit_process(BROKEN);
		return 0;
	}
	bool started = done->pid > 0;
	os_close(os, out[1]);
	os_close(os, err[1]);
	done->fds[0] = out[0];
	done->fds[1] = err[0];
	if (!started)
		os_bounded_end(os, done);
	return started ? 1 : -1;
}

void os_bounded_end(struct os *os, struct os_bounded *done)
{
	int error = errno, status = -1;
	bool closed = done->fds[0] < 0 && done->fds[1] < 0;
	/* A child that has closed both ends should exit soon; the limit applies to that as
	   well. */
	if (done->pid > 0 && closed && os_reap(os, done->pid, done->end - os_now(), &status)
	    && status != -1) {
		done->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
		done->signal = WIFEXITED(status) ? 0 : WTERMSIG(status);
	} else if (done->pid > 0) {
		done->late |= closed;
		os_kill(os, done->pid, SIGKILL);
		os_reap(os, done->pid, REAP_SECONDS, &status);
	}
	os_close(os, done->fds[0]);
	os_close(os, done->fds[1]);
	done->pid = done->fds[0] = done->fds[1] = -1;
	errno = error;
}

int os_bounded_finish(struct os *os, struct os_bounded *done)
{
	struct pollfd fds[2];
	int rc;
	while ((rc = os_bounded_wait(os, done, fds, 2, done->end)) > 0)
		;
	os_bounded_end(os, done);
	return rc;
}

/** In the child: become a program.  @return an exit status: it cannot be run. */
static int run_program(char *const argv[], char *const envp[])
{
	enum { NOT_RUN = 127 };
	/* O_NONBLOCK: /dev/null may have been replaced by a FIFO. */
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	sigset_t none;
	sigemptyset(&none);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0
	    && sigprocmask(SIG_SETMASK, &none, NULL) == 0)
		execve(argv[0], argv, envp);
	return NOT_RUN;
}

int os_bounded_program(struct os *os, double seconds, char *const argv[], char *const envp[],
                       struct os_bounded *done)
{
	int rc = os_bounded_start(os, seconds, done);
	if (rc == 0)
		os_exit_process(run_program(argv, envp));
	return rc > 0 ? os_bounded_finish(os, done) : -1;
}

void os_bounded_destroy(struct os_bounded *done)
{
	strbuf_destroy(&done->out);
	strbuf_destroy(&done->err);
}
