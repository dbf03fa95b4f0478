/* SPDX-License-Identifier: MIT */
#include "os/process.h"

#include "os/clock.h"

#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int os_socketpair(struct os *os, int type, int fds[2])
{
	return OS_CALL(os, OS_SOCKETPAIR, socketpair, AF_UNIX, type | SOCK_CLOEXEC, 0, fds);
}

int os_fork_process(struct os *os)
{
	enum { ORPHAN = 255 };
	int parent = os_getpid(), pid = OS_CALL(os, OS_FORK, fork);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* 0: the parent is in another PID namespace. */
		if (getppid() != parent && getppid() != 0)
			os_exit_process(ORPHAN);
	}
	return pid;
}

int os_fork_socket(struct os *os, int *sock)
{
	int ends[2];
	if (os_socketpair(os, SOCK_SEQPACKET, ends) != 0)
		return -1;
	int pid = os_fork_process(os);
	*sock = ends[pid == 0];
	os_close(os, ends[pid != 0]);
	if (pid < 0)
		os_close(os, *sock);
	return pid;
}

void os_exit_process(int status)
{
	syscall(SYS_exit_group, status);
	/* A seccomp filter refused exit_group(2).  Try exit(2), then end by a signal, which no
	   filter can refuse. */
	syscall(SYS_exit, status);
	for (;;)
		__builtin_trap();
}

int os_kill(struct os *os, int pid, int signal)
{
	return OS_CALL(os, OS_KILL, kill, pid, signal);
}

bool os_reap(struct os *os, int pid, double seconds, int *status)
{
	enum { STEP_MS = 1 };
	double end = seconds > 0 ? os_now() + seconds : 0;
	unsigned tries = 0;
	/* Count the steps as well: signals can shorten each wait. */
	for (double steps = seconds * 1e3 / STEP_MS;;) {
		pid_t done = OS_CALL(os, OS_WAIT, waitpid, pid, status, WNOHANG);
		if (done > 0 || (done < 0 && (errno != EINTR || ++tries >= OS_TRIES)))
			return true;   /* ECHILD: SIGCHLD is ignored, so the kernel has reaped it */
		if (done == 0
		    && (steps-- <= 0 || os_now() >= end || os_poll(os, NULL, 0, STEP_MS) < 0))
			return false;
	}
}

/** Become a command.  @return an error number. */
static int become(const struct os_command *command)
{
	struct rlimit limit;
	if (command->dirfd >= 0 && fchdir(command->dirfd) != 0)
		return errno;
	for (int i = 0; command->fds && i < 3; ++i) {
		if (dup2(command->fds[i], i) < 0)
			return errno;
	}
	if (command->files && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = command->files;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	sigprocmask(SIG_SETMASK, &command->mask, NULL);
	execvp(command->argv[0], command->argv);
	return errno;
}

/** Become a command; if that fails, write the error number and end. */
_Noreturn static void run_child(const struct os_command *command, int errors)
{
	int error = become(command);
	os_exit_process(write(errors, &error, sizeof(error)) == sizeof(error) ? 127 : 126);
}

/** Start a command.
    @failed [out]  Why it could not be executed: an error number; or 0.
    @return its process, which ends at once if it failed; or -1. */
static int start_command(struct os *os, const struct os_command *command, int *failed)
{
	int errors[2];
	*failed = 0;
	if (os_socketpair(os, SOCK_STREAM, errors) != 0)
		return -1;
	/* The child shares our memory until it has become the command, so that this costs the same
	   however much memory we use.  It makes only async-signal-safe calls.  Its error comes
	   through a socket, because sanitizers and emulators make vfork(2) a fork(2). */
	int pid = OS_COUNTED(os, OS_FORK, vfork());
	if (pid == 0)
		run_child(command, errors[1]);
	os_close(os, errors[1]);
	if (pid > 0 && os_read(os, errors[0], failed, sizeof(*failed)) != sizeof(*failed))
		*failed = 0;
	os_close(os, errors[0]);
	return pid;
}

/** Wait for a process.  @return as waitpid(2). */
static int wait_for(struct os *os, int pid, int *status)
{
	int done;
	do {
		done = OS_CALL(os, OS_WAIT, waitpid, pid, status, 0);
	} while (done < 0 && errno == EINTR);
	return done;
}

int os_run_start(struct os *os, const struct os_command *command)
{
	int failed, pid = start_command(os, command, &failed);
	if (pid < 0 || !failed)
		return pid;
	wait_for(os, pid, NULL);
	return fail(failed);
}

int os_run(struct os *os, const struct os_command *command, int *status)
{
	int failed, pid = start_command(os, command, &failed);
	if (pid < 0)
		return -1;
	int done = wait_for(os, pid, status);
	return failed ? failed : done < 0 ? -1 : 0;
}

size_t os_arg_room(struct os *os)
{
	/* Source: bprm_stack_limits() of fs/exec.c, Linux 4.13 and later.  Some room is left for
	   the name of the file, for the words of "#!", and for the 2,048 bytes that POSIX wants
	   unused. */
	const size_t least = 128 * 1024, most = 6 * 1024 * 1024, spare = 2 * PATH_MAX + 2048;
	struct rlimit limit = {.rlim_cur = 4 * least};
	OS_CALL(os, OS_RLIMIT, prlimit, 0, RLIMIT_STACK, NULL, &limit);
	size_t room = limit.rlim_cur / 4 < least ? least
	              : limit.rlim_cur / 4 > most ? most : limit.rlim_cur / 4;
	size_t used = spare + 2 * sizeof(char *);
	for (char **variable = environ; *variable; ++variable)
		used += strlen(*variable) + 1 + sizeof(char *);
	return room > used ? room - used : 0;
}

/** The arguments of the thread of os_read_rooted(). */
struct rooted {
	struct os *os;
	int root, fd;
	char *buf;
	size_t size;
	ssize_t n;
	int error;
};

static void *read_rooted(void *arg)
{
	struct rooted *r = arg;
	struct os *os = r->os;
	if (OS_CALL(os, OS_UNSHARE, unshare, CLONE_FS) == 0
	    && OS_CALL(os, OS_FCHDIR, fchdir, r->root) == 0
	    && OS_CALL(os, OS_CHROOT, chroot, ".") == 0)
		r->n = os_read(os, r->fd, r->buf, r->size);
	r->error = errno;
	return NULL;
}

ssize_t os_read_rooted(struct os *os, int root, int fd, char *buf, size_t size)
{
	struct rooted r = {os, root, fd, buf, size, .n = -1};
	pthread_t thread;
	int error = os_thread(&thread, read_rooted, &r);
	if (error == 0) {
		pthread_join(thread, NULL);
		error = r.error;
	}
	errno = error;
	return r.n > 0 ? r.n : -1;
}

/** A part of os_divide(). */
struct os_part {
	struct os os;
	void (*run)(struct os *os, void *arg, unsigned part, size_t from, size_t to);
	void *arg;
	unsigned part;
	size_t from, to;
	pthread_t thread;
	bool started;
};

static void *part_main(void *arg)
{
	struct os_part *part = arg;
	part->run(&part->os, part->arg, part->part, part->from, part->to);
	return NULL;
}

void os_divide(struct os *os, size_t n, unsigned parts,
               void (*run)(struct os *os, void *arg, unsigned part, size_t from, size_t to),
               void *arg)
{
	struct os_part all[OS_PARTS];
	for (unsigned i = 1; i < parts; ++i) {
		all[i] = (struct os_part){
			.run = run, .arg = arg, .part = i,
			.from = n * i / parts, .to = n * (i + 1) / parts,
		};
		os_clone_state(&all[i].os, os);
		all[i].started = os_thread(&all[i].thread, part_main, &all[i]) == 0;
	}
	run(os, arg, 0, 0, n / parts);
	for (unsigned i = 1; i < parts; ++i) {
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
		else
			part_main(&all[i]);
		os_join(os, &all[i].os);
	}
}

/** Room for one descriptor passed with a message. */
union os_control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int os_send(struct os *os, int sock, const void *head, size_t head_size, const void *text,
            size_t text_size, int pass, bool wait)
{
	struct iovec parts[2] = {
		{.iov_base = (void *)(uintptr_t)head, .iov_len = head_size},
		{.iov_base = (void *)(uintptr_t)text, .iov_len = text_size},
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = text_size ? 2 : 1};
	union os_control control;
	if (pass >= 0) {
		memset(&control, 0, sizeof(control));
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass, sizeof(int));
	}
	long n = OS_RETRY(OS_CALL(os, OS_SEND, sendmsg, sock, &message,
	                          MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT)));
	return n < 0 ? -1 : 0;
}

ssize_t os_send_some(struct os *os, int sock, const void *bytes, size_t n)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = n};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	return OS_RETRY(OS_CALL(os, OS_SEND, sendmsg, sock, &message,
	                        MSG_NOSIGNAL | MSG_DONTWAIT));
}

ssize_t os_recv(struct os *os, int sock, void *buf, size_t size, int *passed, bool wait)
{
	struct iovec part = {.iov_base = buf, .iov_len = size};
	union os_control control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	long n = OS_RETRY(OS_CALL(os, OS_RECV, recvmsg, sock, &message,
	                          MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT)));
	if (passed)
		*passed = -1;
	if (n < 0)
		return -1;
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		int fd;
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		if (passed)
			*passed = fd;
		else
			os_close(os, fd);
	}
	if (message.msg_flags & MSG_TRUNC)
		return fail(EMSGSIZE);
	return n;
}

int os_shutdown(struct os *os, int sock)
{
	return OS_CALL(os, OS_SHUTDOWN, shutdown, sock, SHUT_WR);
}

/** Close all descriptors from first on. */
static void close_from(int first)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	/* Before 5.9.  A descriptor may exceed a limit that was lowered later. */
	struct rlimit limit;
	rlim_t end = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : 0;
	if (end < 1024 || end > 1 << 20)
		end = end < 1024 ? 1024 : 1 << 20;
	for (int fd = first; fd < (int)end; ++fd)
		close(fd);
}

void os_usage(struct os *os, struct os_usage *usage)
{
	struct rusage r = {0};
	OS_CALL(os, OS_GETRUSAGE, getrusage, RUSAGE_SELF, &r);
	*usage = (struct os_usage){
		.user = (double)r.ru_utime.tv_sec + (double)r.ru_utime.tv_usec / 1e6,
		.system = (double)r.ru_stime.tv_sec + (double)r.ru_stime.tv_usec / 1e6,
	};
}

double os_spent(struct os *os)
{
	double sum = 0;
	for (int i = 0; i < 2; ++i) {
		struct rusage r = {0};
		OS_CALL(os, OS_GETRUSAGE, getrusage, i ? RUSAGE_CHILDREN : RUSAGE_SELF, &r);
		sum += (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec)
		       + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
	}
	return sum;
}

int os_getpid(void)
{
	return (int)getpid();
}

int os_detach(struct os *os, const char *name, bool outlives, int fds[2])
{
	int kept = 3;
	if (prctl(PR_SET_PDEATHSIG, outlives ? 0 : SIGKILL) != 0 && !outlives)
		return -1;
	prctl(PR_SET_NAME, name);
	setsid();   /* fails if the process is a session leader already */
	if (chdir("/") != 0)
		return -1;
	/* A service manager that stops a unit signals all of its processes.  A process that
	   outlives its parent must ignore that; one that ends with its parent need not. */
	for (int number = 1; number < NSIG; ++number)
		signal(number, outlives && number != SIGCHLD ? SIG_IGN : SIG_DFL);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);

	/* First move both out of the way: they may be 3 or 4 already. */
	for (int i = 0; i < 2; ++i) {
		if (fds[i] >= 0 && (fds[i] = os_dupfd(os, fds[i], 5)) < 0)
			return -1;
	}
	for (int i = 0; i < 2; ++i) {
		if (fds[i] >= 0 && (fds[i] = dup3(fds[i], kept++, O_CLOEXEC)) < 0)
			return -1;
	}
	/* RESOLVE_CACHED: /dev could be on a file system whose server does not answer. */
	int null = os_openat2(os, AT_FDCWD, "/dev/null", O_RDWR, RESOLVE_CACHED);
	if (null < 0)   /* also if /dev is missing; writes to it fail */
		null = open("/", O_PATH | O_CLOEXEC);
	for (int fd = 0; fd < 3; ++fd) {
		if (null != fd && dup2(null, fd) < 0)
			return -1;
	}
	close_from(kept);
	return 0;
}

/* Connections made by a child. */

enum { WHY = 256 };   /* bytes of a reason */

/** Connect to any address of a server.  @return a descriptor, or -1. */
static int connect_any(struct os *os, const char *host, const char *port, char why[WHY])
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *list = NULL;
	int fd = -1, wrong = getaddrinfo(host, port, &hints, &list);
	if (wrong)
		snprintf(why, WHY, "%s", wrong == EAI_SYSTEM ? strerror(errno)
		         : gai_strerror(wrong));
	for (const struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
		fd = OS_CALL(os, OS_SOCKET, socket, at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd >= 0 && OS_CALL(os, OS_CONNECT, connect, fd, at->ai_addr,
		                       at->ai_addrlen) == 0)
			break;
		snprintf(why, WHY, "%s", strerror(errno));
		os_close(os, fd);
		fd = -1;
	}
	return fd;
}

int os_tcp_start(struct os *os, const char *host, const char *port, int *sock)
{
	char why[WHY] = "";
	int pid = os_fork_socket(os, sock);
	if (pid != 0)
		return pid;
	int fd = connect_any(os, host, port, why);
	os_send(os, *sock, why, sizeof(why), NULL, 0, fd, true);
	os_exit_process(0);
}

int os_tcp_take(struct os *os, int sock, struct strbuf *why)
{
	char text[WHY];
	int fd = -1;
	ssize_t n = os_recv(os, sock, text, sizeof(text), &fd, false);
	if (fd >= 0)
		return fd;
	if (n < 0 && errno == EAGAIN)
		return -1;
	strbuf_puts(why, n == (ssize_t)sizeof(text) && !text[WHY - 1] ? text
	            : "the process that connects has ended");
	return fail(ECONNREFUSED);
}
