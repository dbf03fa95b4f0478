/* SPDX-License-Identifier: MIT */
/**
 * Processes and the sockets between them: the part of the kernel facade that
 * only the prober needs.  Counted as all of it (os.h).
 */
#ifndef GM_OS_PROCESS_H
#define GM_OS_PROCESS_H

#include "os/os.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/** socketpair(2): two ends that pass whole messages, close-on-exec.
    @return 0, or -1. */
int os_socketpair(struct os *os, int fds[2]);

/** fork(2).  @return the child, 0 in it, or -1. */
int os_fork_process(struct os *os);

/**
 * Read a file of the kernel's as a process reads it whose root is another directory: paths
 * in it begin there.  A thread with a root of its own (CLONE_FS) reads it: this takes less
 * than a child.  The process must be allowed to chroot(2).
 *
 * @root  The directory, opened with O_PATH.
 * @fd    The file; read from where it is.
 * @return as read(2); -1: it was not read, or is empty.
 */
ssize_t os_read_rooted(struct os *os, int root, int fd, char *buf, size_t size);

/** End this process at once, also where a filter refuses exit_group(2). */
_Noreturn void os_exit_process(int status);

/** kill(2).  @return 0, or -1. */
int os_kill(struct os *os, int pid, int signal);

/**
 * waitpid(2), never without an end: a child that ends may be stopped, or wait in the
 * kernel.
 *
 * @seconds  How long to wait for it; 0: not at all.
 * @status [out]  As waitpid(2) has it; may be NULL.
 * @return whether the child is gone: reaped, by us or by another.
 */
bool os_reap(struct os *os, int pid, double seconds, int *status);

/**
 * Send a message of two parts; never raises SIGPIPE.
 *
 * @pass    A descriptor to send with it, or -1.
 * @wait    Whether to wait until there is room.
 * @return 0, or -1.  Errors: EAGAIN, EPIPE, EMSGSIZE and those of sendmsg(2).
 */
int os_send(struct os *os, int sock, const void *head, size_t head_size, const void *text,
            size_t text_size, int pass, bool wait);

/**
 * Receive a message.
 *
 * @passed [out]  A descriptor that came with it, or -1; may be NULL: closed.
 * @wait    Whether to wait for one.
 * @return its size, 0 at the end, or -1.  Errors: EAGAIN, EMSGSIZE (it did not
 *         fit), and those of recvmsg(2).
 */
ssize_t os_recv(struct os *os, int sock, void *buf, size_t size, int *passed, bool wait);

/** shutdown(2): nothing more will be sent.  @return 0, or -1. */
int os_shutdown(struct os *os, int sock);

/**
 * Become a process that nobody waits for: a session of its own, in "/", named,
 * descriptors 0 to 2 on /dev/null (on "/", where that might block), of the
 * others these two alone, signals at their defaults.
 *
 * @parent  The process that forked it, at whose end it is killed.  0: it outlives
 *          that, and sees to its end itself; signals are ignored then.
 * @fds [in, out]  Two descriptors to keep, which become 3 and 4; -1 for none.
 * @return 0, or -1: it is not what it is to be, and has to end.
 */
int os_detach(struct os *os, const char *name, int parent, int fds[2]);

/** What this process has used, all threads together. */
struct os_usage {
	double user, system;       /* seconds of processor time */
	uint64_t faults;           /* pages read from a device */
	uint64_t blocks_in;        /* blocks of 512 bytes read from devices */
	uint64_t waits, switches;  /* voluntary and involuntary context switches */
};

/** getrusage(2). */
void os_usage(struct os *os, struct os_usage *usage);

/** Have this process killed when its parent ends.
    @return whether that holds: the parent still exists and the kernel agreed. */
bool os_die_with(struct os *os, int parent);

/** The ID of this process. */
int os_getpid(void);

#endif
