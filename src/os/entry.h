/* SPDX-License-Identifier: MIT */
/**
 * Opening a name that may refer to an unexpected object.
 *
 * A user can mount a FUSE file on any file that the user may write to.  A process that opens it, or
 * reads its attributes, waits for the user's server, perhaps forever.  Opening a device can have
 * side effects.  These functions check the object before they open it, without calling a server:
 *
 *     a name in a user's directory             os_open_entry(): openat2(2) with
 *                                              RESOLVE_NO_XDEV.  Without openat2: open with
 *                                              O_PATH, compare mounts, open that descriptor
 *     a fixed path in directories of root      os_open_regular(): statx(2) with mask 0 and
 *                                              AT_STATX_DONT_SYNC, then open
 *
 * In the first case, nothing can change between check and open.  In the second, only root could
 * change it.
 *
 * If neither statx (before Linux 5.8) nor /proc/self/fdinfo returns mount IDs, a mount is not
 * detected.
 */
#ifndef GM_OS_ENTRY_H
#define GM_OS_ENTRY_H

#include "os/os.h"

struct mount;
struct stat;

/** The mounts on which an entry of a directory is accepted. */
enum os_entry_on {
	ENTRY_HERE,    /* only the mount of the directory */
	ENTRY_LOCAL,   /* also a mount that cannot block, such as a bind-mounted file */
};

/** The 32-bit ID of the mount of an open file.
    @return the ID, or 0.  Errors: ENOENT: /proc is not mounted; those of openat(2) and read(2). */
uint64_t os_mount_id(struct os *os, int fd);

/** Whether an open file is on a mount of a mount table: 1 or 0; -1: unknown. */
int os_is_on_mount(struct os *os, int fd, const struct mount *mount);

/** Open an entry of a directory; a symlink is not followed.
    @name  One component.
    @flags  Those of openat(2), without O_CREAT.
    @return a descriptor, or -1.
    Errors: those of openat(2); EXDEV: the entry is on a mount that `on` does not allow. */
int os_open_entry(struct os *os, int dirfd, const char *name, int flags, enum os_entry_on on);

/** Get the attributes of an entry.  @return 0, or -1.  Errors: those of os_open_entry(). */
int os_look_entry(struct os *os, int dirfd, const char *name, enum os_entry_on on, struct stat *st);

/** Open a regular file for reading.
    @dirfd, path  As in openat(2).  The directories in path must not block.
    @flags  O_NOFOLLOW, or 0.
    @return a descriptor, or -1.  Errors: those of openat(2); EISDIR; ELOOP: a symlink, with
    O_NOFOLLOW; ENOTSUP: a FIFO, socket or device; EREMOTE: the path is the root of a mount that can
    block. */
int os_open_regular(struct os *os, int dirfd, const char *path, int flags);

/** Close a descriptor unless it refers to a regular file.
    @return fd, or -1.  Errors: errno is unchanged if fd is -1; EISDIR; ENOTSUP. */
int os_only_regular(struct os *os, int fd);

#endif
