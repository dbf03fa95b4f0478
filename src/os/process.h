/* SPDX-License-Identifier: MIT */
/**
 * Processes and the sockets between them; connections made by a child; work divided among threads.
 */
#ifndef GM_OS_PROCESS_H
#define GM_OS_PROCESS_H

#include "base/strbuf.h"
#include "os/os.h"

#include <poll.h>
#include <signal.h>

/* The system calls of the same names; os_socketpair() sets close-on-exec, os_shutdown() ends only
   sending. */
int os_socketpair(struct os *os, int type, int fds[2]);
int os_kill(struct os *os, int pid, int signal);
int os_shutdown(struct os *os, int sock);
int os_getpid(void);

/** fork(2).  The kernel kills the child when the calling thread ends, and so when this process
    ends, unless os_detach() changes that.  Exceptions: a seccomp(2) filter refuses prctl(2); or
    this process ends immediately, and is in another PID namespace than the child. */
int os_fork_process(struct os *os);

/** The same, with a socket between the two processes that preserves message boundaries.
    @sock [out]  The end that belongs to the calling process, in parent and child.
    @return the child's ID, 0 in the child, or -1: *sock is closed. */
int os_fork_socket(struct os *os, int *sock);

/** Read a kernel file as a process with another root sees it: paths in the file start at that root.
    A thread with its own root (CLONE_FS) reads it, which is cheaper than a child.  Needs the
    permission to chroot(2).
    @root  The root, an O_PATH descriptor.
    @fd  The file, read from its current position.
    @return as read(2); -1 also if the file is empty. */
ssize_t os_read_rooted(struct os *os, int root, int fd, char *buf, size_t size);

enum { OS_PARTS = 4 };

/** Divide n items into parts and call run() for each part, in this thread and in new threads.  If a
    thread cannot be created, this thread does its part.  The calls of all parts are counted in os.
    @parts  At most OS_PARTS.
    @run  Gets the struct os of its thread, and the items from `from` to `to` - 1. */
void os_divide(struct os *os, size_t n, unsigned parts,
               void (*run)(struct os *os, void *arg, unsigned part, size_t from, size_t to),
               void *arg);

/** End this process at once, even if a seccomp filter refuses exit_group(2). */
_Noreturn void os_exit_process(int status);

/** waitpid(2) with a time limit: a dying child may be stopped, or sleep in the kernel.
    @seconds  How long to wait; 0: do not wait.
    @status [out]  As in waitpid(2); may be NULL.
    @return whether the child is gone. */
bool os_reap(struct os *os, int pid, double seconds, int *status);

/** A command to run. */
struct os_command {
	char *const *argv;         /* its name is looked up by PATH */
	int dirfd;                 /* its working directory, O_PATH is enough; -1: ours */
	const int *fds;            /* standard input, output and error, all above 2; NULL: ours */
	sigset_t mask;             /* the signals that it blocks */
	unsigned files;            /* its soft limit on open descriptors; 0: ours */
};

/** Start a command.  @return its process ID, or -1.  Errors: those of vfork(2) and execve(2). */
int os_run_start(struct os *os, const struct os_command *command);

/** Run a command and wait for it.  Other threads may run meanwhile.
    @status [out]  As in waitpid(2).
    @return 0: it has ended; an error number: it could not be executed; -1: there is no process, or
    its status is lost.  Errors: those of vfork(2) and waitpid(2). */
int os_run(struct os *os, const struct os_command *command, int *status);

/** The room for arguments that execve(2) leaves in addition to the environment, in bytes.  Each
    argument takes its length, its NUL and a pointer. */
size_t os_arg_room(struct os *os);

/** Send a message of two parts; never raises SIGPIPE.
    @pass  A descriptor to send with the message, or -1.
    @wait  Wait until there is room.
    @return 0, or -1.  Errors: EAGAIN, EPIPE, EMSGSIZE and those of sendmsg(2). */
int os_send(struct os *os, int sock, const void *head, size_t head_size, const void *text,
            size_t text_size, int pass, bool wait);

/** Send bytes on a stream socket without waiting; never raises SIGPIPE.
    @return their number, or -1.  Errors: EAGAIN, EPIPE and those of sendmsg(2). */
ssize_t os_send_some(struct os *os, int sock, const void *bytes, size_t n);

/** Receive a message.
    @passed [out]  The descriptor that came with the message, or -1; NULL: close it.
    @wait  Wait for a message.
    @return the size, 0 at the end, or -1.  Errors: EAGAIN, EMSGSIZE (the message did not fit), and
    those of recvmsg(2). */
ssize_t os_recv(struct os *os, int sock, void *buf, size_t size, int *passed, bool wait);

/** Detach this process: new session, working directory "/", the given name, descriptors 0 to 2 on
    /dev/null (on "/" if that might block), all others but two closed, default signal actions.
    @outlives  This process outlives its parent and must end by itself; signals are ignored.
    @fds [in, out]  Two descriptors to keep, which become 3 and 4; or -1.
    @return 0, or -1: the process must end.  Among the reasons: prctl(2) is refused, so the kernel
    would not kill this process when its parent ends. */
int os_detach(struct os *os, const char *name, bool outlives, int fds[2]);

/** Resources used by this process, all threads together. */
struct os_usage {
	double user, system;       /* seconds of processor time */
};

/** getrusage(2). */
void os_usage(struct os *os, struct os_usage *usage);

/** Seconds of processor time that this process and its children that have ended used. */
double os_spent(struct os *os);

/** Start to connect to a TCP server, without waiting for it: resolving a name may block without a
    limit, whatever files, servers and modules the host uses for that.  So a child resolves the name
    and connects, and passes the connection on.
    @host  A name or an address.  @port  A number.
    @sock [out]  For os_tcp_take(), when it is readable.
    @return the ID of the child, which the caller kills if that takes too long, and reaps; or -1.
    Errors: those of socketpair(2) and fork(2). */
int os_tcp_start(struct os *os, const char *host, const char *port, int *sock);

/** Get the connection.
    @why [out]  Gets the reason appended on failure.
    @return a descriptor; or -1.  Errors: EAGAIN: not yet; else it failed. */
int os_tcp_take(struct os *os, int sock, struct strbuf *why);

#endif
