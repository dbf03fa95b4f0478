/* SPDX-License-Identifier: MIT */
/**
 * Reading small files whole.
 */
#ifndef GM_OS_FILE_H
#define GM_OS_FILE_H

#include "os/os.h"

/**
 * Read a file to its end.
 *
 * @dirfd, path
 *         As in openat(2); links are followed.
 * @max
 *         The most bytes to take.
 * @text [out]
 *         The bytes and a NUL behind them, to be freed by the caller.
 * @len [out]
 *         Their number, without the NUL.
 * @return 0, or -1 with the outputs untouched.
 * Errors: those of openat(2) and read(2); EISDIR; EFBIG beyond max; ENOMEM;
 *         ENOTSUP for what is neither a regular file nor a pipe (a device would
 *         block).  A FIFO that nobody writes to is empty: see os_read_named().
 */
int os_read_file(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/**
 * The same of a regular file alone, whose last component is no link.
 *
 * Errors: as well ENOTSUP for all that is no regular file, ELOOP for a link.
 */
int os_read_regular(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/**
 * The same of a file that a user has named: of a FIFO that nobody writes to yet somebody is
 * waited for, some seconds.
 *
 * Errors: as well ETIME: nobody came.
 */
int os_read_named(struct os *os, const char *path, size_t max, char **text, size_t *len);

/** The same from an open descriptor, which stays open. */
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
