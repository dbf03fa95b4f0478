/* SPDX-License-Identifier: MIT */
/**
 * Processes and the sockets between them; work divided among threads.
 */
#ifndef GM_OS_PROCESS_H
#define GM_OS_PROCESS_H

#include "os/os.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/** socketpair(2), close-on-exec.  @type  SOCK_STREAM ...  @return 0, or -1. */
int os_socketpair(struct os *os, int type, int fds[2]);

/** fork(2).  @return the child, 0 in it, or -1. */
int os_fork_process(struct os *os);

/** fork(2), with a socket between the two processes that passes whole messages.
    @sock [out]  The end of this process.
    @return the child, 0 in it, or -1: *sock is closed. */
int os_fork_socket(struct os *os, int *sock);

/**
 * Read a kernel file as a process with another root sees it: paths in it begin there.  A thread
 * with its own root (CLONE_FS) reads it, which is cheaper than a child.  Needs the permission to
 * chroot(2).
 *
 * @root  The root, an O_PATH descriptor.
 * @fd    The file, read from its current position.
 * @return as read(2); -1 also if it is empty.
 */
ssize_t os_read_rooted(struct os *os, int root, int fd, char *buf, size_t size);

enum { OS_PARTS = 4 };

/** Divide n items into parts and call run() for each, all but the first in threads of their own;
    if a thread cannot be created, its part is done by this one.  The calls of all parts are
    counted in os.
    @parts  At most OS_PARTS.
    @run  Its os is that of the thread.  The items are from to to - 1. */
void os_divide(struct os *os, size_t n, unsigned parts,
               void (*run)(struct os *os, void *arg, unsigned part, size_t from, size_t to),
               void *arg);

/** End this process at once, even if a filter refuses exit_group(2). */
_Noreturn void os_exit_process(int status);

/** kill(2).  @return 0, or -1. */
int os_kill(struct os *os, int pid, int signal);

/** waitpid(2) with a time limit: a dying child may be stopped, or sleep in the kernel.
    @seconds  How long to wait; 0: not at all.
    @status [out]  As waitpid(2) has it; may be NULL.
    @return whether the child is gone. */
bool os_reap(struct os *os, int pid, double seconds, int *status);

/** Send a message of two parts; never raises SIGPIPE.
    @pass  A descriptor to send with it, or -1.
    @wait  Whether to wait until there is room.
    @return 0, or -1.  Errors: EAGAIN, EPIPE, EMSGSIZE and those of sendmsg(2). */
int os_send(struct os *os, int sock, const void *head, size_t head_size, const void *text,
            size_t text_size, int pass, bool wait);

/** Receive a message.
    @passed [out]  A descriptor that came with it, or -1; may be NULL: closed.
    @wait  Whether to wait for one.
    @return its size, 0 at the end, or -1.  Errors: EAGAIN, EMSGSIZE (it did not fit), and those
    of recvmsg(2). */
ssize_t os_recv(struct os *os, int sock, void *buf, size_t size, int *passed, bool wait);

/** shutdown(2): nothing more will be sent.  @return 0, or -1. */
int os_shutdown(struct os *os, int sock);

/**
 * Become a process that nobody waits for: its own session, in "/", named, descriptors 0 to 2 on
 * /dev/null (on "/" if that might block), all others but two closed, default signals.
 *
 * @parent  The parent process; when it ends, this process is killed.  0: this process outlives it
 *          and ends by itself; signals are ignored.
 * @fds [in, out]  Two descriptors to keep, which become 3 and 4; or -1.
 * @return 0, or -1: the process must end.
 */
int os_detach(struct os *os, const char *name, int parent, int fds[2]);

/** What this process has used, all threads together. */
struct os_usage {
	double user, system;       /* seconds of processor time */
	uint64_t faults;           /* pages read from a device */
	uint64_t waits;            /* voluntary context switches */
};

/** getrusage(2). */
void os_usage(struct os *os, struct os_usage *usage);

/** Have this process killed when its parent ends.
    @return whether that holds: the parent still exists and the kernel agreed. */
bool os_die_with(int parent);

/** The ID of this process. */
int os_getpid(void);

#endif
