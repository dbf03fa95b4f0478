/* SPDX-License-Identifier: MIT */
/**
 * Files and directories named by the user, which may be on any mount.
 *
 *     read      path_read_named()       a file or a pipe
 *     replace   replace_open()          a whole file (path/replace.h)
 *     write     path_create_named()     as find -fprint does: anything that can be written to
 *     enter     path_open_dir_named()   a directory in which files are created
 *
 * A user can prepare a symlink where root will write.  Each function that writes resolves the name
 * once, component by component, and works with descriptors after that.
 */
#ifndef GM_PATH_NAMED_H
#define GM_PATH_NAMED_H

#include "base/strbuf.h"
#include "os/os.h"

#include <stdbool.h>
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

/**
 * Open a file for writing, as open(2) with O_CREAT and O_TRUNC does: a symlink is followed, a FIFO
 * waits for its reader, a device is opened.  A new file has mode 0666, minus the umask.
 *
 * The rules of fs.protected_symlinks, fs.protected_regular and fs.protected_fifos hold whatever
 * these are set to: in a sticky directory that everybody may write to, such as /tmp, neither a
 * symlink nor a file is used that belongs neither to us nor to the owner of the directory.
 *
 * @why [out]  The reason and the remedy are appended, if one of these rules refuses the file.
 * @return a descriptor, or -1.  Errors: those of openat(2); EACCES or EPERM: refused.
 */
int path_create_named(struct os *os, const char *path, struct strbuf *why);

/**
 * Open a directory.  A symlink that belongs neither to root nor to the effective user is not
 * followed: its owner could make root create files anywhere.
 *
 * @create  Create missing directories, also those above it, with mode 0700.
 * @return a descriptor, or -1.  Errors: those of openat(2) and mkdirat(2); ELOOP: a symlink of
 *         another user, or too many symlinks.
 */
int path_open_dir_named(struct os *os, const char *path, bool create);

#endif
