/* SPDX-License-Identifier: MIT */
/**
 * Reading small files whole.
 */
#ifndef GM_OS_FILE_H
#define GM_OS_FILE_H

#include "os/os.h"

/**
 * Read a regular file at a fixed path to its end.  A mount on it must not be one that can block.
 *
 * @dirfd, path
 *         As in openat(2); symlinks are followed.
 * @max
 *         The most bytes to read.
 * @text [out]
 *         The bytes and a NUL.  Ownership: the caller frees it.
 * @len [out]
 *         Their number, without the NUL.
 * @return 0, or -1 with the outputs untouched.
 * Errors: those of os_open_regular() and read(2); EFBIG beyond max; ENOMEM.
 */
int os_read_file(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/** The same; a symlink in the last component is refused (ELOOP). */
int os_read_regular(struct os *os, int dirfd, const char *path, size_t max, char **text,
                    size_t *len);

/** The same for a file of the kernel, below /proc/PID or /proc/sys, opened without a check. */
int os_read_kernel(struct os *os, int dirfd, const char *path, size_t max, char **text,
                   size_t *len);

/** Read an open descriptor to its end; it stays open.  If it is a FIFO without a writer, wait some
    seconds for one.  Errors: also ETIME: no writer came. */
int os_read_fd(struct os *os, int fd, size_t max, char **text, size_t *len);

/**
 * Wait some seconds for the first writer of a FIFO that was opened with O_NONBLOCK and had no
 * data.
 *
 * @return 1: read again; if there is still no data, no writer came.  0: the writer has ended, or
 *         it is not a named FIFO.  -1.
 */
int os_wait_writer(struct os *os, int fd);

#endif
