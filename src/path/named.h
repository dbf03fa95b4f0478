/* SPDX-License-Identifier: MIT */
/**
 * Reading a file that the user named: it may be on any mount, and be a pipe.
 */
#ifndef GM_PATH_NAMED_H
#define GM_PATH_NAMED_H

#include "os/os.h"

#include <stddef.h>

/**
 * Read it to its end, as os_read_fd() does.  No device is opened.
 *
 * @given  The name before its symlinks were followed, where path is the result; or NULL.
 * Errors: those of openat(2) and os_read_fd(); EISDIR; ENOTSUP: a socket or device; EPERM: a
 *         symlink of another user leads to a pipe.
 */
int path_read_named(struct os *os, const char *path, const char *given, size_t max, char **text,
                    size_t *len);

#endif
