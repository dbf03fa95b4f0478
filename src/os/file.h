/* SPDX-License-Identifier: MIT */
/**
 * Reading small files completely, and the names in a directory.
 */
#ifndef GM_OS_FILE_H
#define GM_OS_FILE_H

#include "os/os.h"

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
