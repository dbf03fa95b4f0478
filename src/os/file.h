/* SPDX-License-Identifier: MIT */
/**
 * Reading small files whole.
 */
#ifndef GM_OS_FILE_H
#define GM_OS_FILE_H

#include "os/os.h"

/**
 * Read a file at a fixed path to its end: it must be a regular one, and nothing that can
 * block may be mounted on it.
 *
 * @dirfd, path
 *         As in openat(2); symlinks are followed.
 * @max
 *         The most bytes to take.
 * @text [out]
 *         The bytes and a NUL after them, to be freed by the caller.
 * @len [out]
 *         Their number, without the NUL.
 * @return 0, or -1 with the outputs untouched.
 * Errors: those of os_open_regular() and read(2); EFBIG beyond max; ENOMEM.
 */
int os_read_file(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/** The same of a file whose last component is not a symlink (ELOOP). */
int os_read_regular(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/** The same of a file of the kernel below /proc/PID or /proc/sys, which is opened without
    a look. */
int os_read_kernel(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/** Read an open descriptor to its end; it stays open.  For a FIFO that nobody writes to yet it
    waits some seconds.  Errors: as well ETIME: nobody came. */
int os_read_fd(struct os *os, int fd, size_t max, char **text, size_t *len);

/**
 * Wait for the first writer of a FIFO that was opened with O_NONBLOCK, and of which a read
 * has given nothing; some seconds.
 *
 * @return 1: read again: if there is nothing, none has come; 0: it has ended, or is no FIFO
 *         that has a name; -1.
 */
int os_wait_writer(struct os *os, int fd);

#endif
