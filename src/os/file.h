/* SPDX-License-Identifier: MIT */
/**
 * Opening a name that may refer to an unexpected object; reading small files completely, and the
 * names in a directory.
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
#ifndef GM_OS_FILE_H
#define GM_OS_FILE_H

#include "os/os.h"

struct stat;

/** The mounts on which an entry of a directory is accepted. */
enum os_entry_on {
	ENTRY_HERE,    /* only the mount of the directory */
	ENTRY_LOCAL,   /* also a mount that cannot block, such as a bind-mounted file */
};

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

/** Read a regular file at a fixed path to its end.  It may be a mount point only of a mount that
    cannot block.
    @dirfd, path  As in openat(2); symlinks are followed.
    @max  The most bytes to read.
    @text [out]  The bytes and a NUL.  Ownership: the caller frees it.
    @len [out]  Their number, without the NUL.
    @return 0, or -1 with the outputs untouched.  Errors: those of os_open_regular() and read(2);
    EFBIG: larger than max; ENOMEM. */
int os_read_file(struct os *os, int dirfd, const char *path, size_t max, char **text, size_t *len);

/** Like os_read_file(); a symlink in the last component is refused (ELOOP). */
int os_read_regular(struct os *os, int dirfd, const char *path, size_t max, char **text,
                    size_t *len);

/** Like os_read_file(), for a kernel file below /proc/PID or /proc/sys: opened without first
    checking the path. */
int os_read_kernel(struct os *os, int dirfd, const char *path, size_t max, char **text,
                   size_t *len);

/** Read an open descriptor to its end; it stays open.  If it is a FIFO without a writer, wait some
    seconds for a writer.  Errors: as os_read_file(); ETIME: no writer came. */
int os_read_fd(struct os *os, int fd, size_t max, char **text, size_t *len);

/** Verify that a directory can be read: read its first entries.
    @return 0, or -1.  Errors: those of os_opendir(), getdents64(2). */
int os_dir_readable(struct os *os, int dirfd);

/** The SELinux context of an object, which is not followed; needs /proc.
    @return its length, or -1.  Errors: those of lgetxattr(2). */
ssize_t os_context(struct os *os, int dirfd, const char *name, char *buf, size_t size);

/** An iterator over the names in a directory. */
struct os_dir {
	struct os *os;
	int fd, error;           /* error: errno or 0, valid at the end */
	char *buf;
	size_t size, n, at;
};

/** Start at the current position of an open directory, which stays open.
    @buf  Aligned as struct k_dirent. */
void os_dir_begin(struct os_dir *dir, struct os *os, int fd, void *buf, size_t size);

/** The next name other than "." and "..", valid until the next call; NULL at the end.  Names with a
    slash, as on a broken file system, are skipped. */
const char *os_dir_next(struct os_dir *dir);

#endif
