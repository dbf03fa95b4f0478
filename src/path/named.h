/* SPDX-License-Identifier: MIT */
/**
 * Reading a file named by the user, which may be on any mount, and may be a pipe.
 */
#ifndef GM_PATH_NAMED_H
#define GM_PATH_NAMED_H

#include "os/os.h"

#include <stddef.h>

/**
 * Read the file to its end, like os_read_fd().  Opens no device.
 *
 * @given  The name before its symlinks were followed, if path is the result; or NULL.
 * Errors: those of openat(2) and os_read_fd(); EISDIR; ENOTSUP: a socket or device; EPERM: a
 *         symlink of another user leads to a pipe.
 */
int path_read_named(struct os *os, const char *path, const char *given, size_t max, char **text,
                    size_t *len);

#endif
