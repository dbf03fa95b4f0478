/* SPDX-License-Identifier: MIT */
/**
 * System calls that change files.
 *
 * All functions return -1 with errno when they fail, and retry EINTR.
 */
#ifndef GM_OS_CHANGE_H
#define GM_OS_CHANGE_H

#include "os/os.h"

#include <signal.h>
#include <sys/stat.h>

/** fstatat(2) without following a symlink or triggering an automount.
    @name  "": dirfd itself. */
int os_fstatat(struct os *os, int dirfd, const char *name, struct stat *st);

/** openat(2) that creates a file with mode 0600 for reading and writing.  Errors: EEXIST ... */
int os_create_new(struct os *os, int dirfd, const char *name);

/** Create a file without a name in a directory, for reading and writing: O_TMPFILE; where that is
    not supported, the file has a name for a moment.  Only one process at a time may do so. */
int os_create_unnamed(struct os *os, int dirfd);

/** openat(2) that creates a file with mode 0666, minus the umask, for writing only.
    @flags  O_EXCL ... */
int os_create(struct os *os, int dirfd, const char *name, int flags);

/** close(2), which may report that written data is lost.  @return 0, or -1. */
int os_close_written(struct os *os, int fd);

/** unlinkat(2).  @dir  Remove a directory, which must be empty; else anything but a directory. */
int os_remove(struct os *os, int dirfd, const char *name, bool dir);

/** renameat2(2) within a directory.  @flags  RENAME_NOREPLACE ... */
int os_rename(struct os *os, int dirfd, const char *from, const char *to, unsigned flags);

/* The system calls of the same names, for a name in dirfd or for an open file. */
int os_link(struct os *os, int dirfd, const char *from, const char *to);
int os_symlink(struct os *os, const char *text, int dirfd, const char *name);
int os_fsync(struct os *os, int fd);
int os_fdatasync(struct os *os, int fd);
int os_ftruncate(struct os *os, int fd, uint64_t size);
int os_fchown(struct os *os, int fd, uid_t uid, gid_t gid);
int os_fchmod(struct os *os, int fd, mode_t mode);
int os_futimens(struct os *os, int fd, const struct timespec times[2]);
ssize_t os_flistxattr(struct os *os, int fd, char *names, size_t size);
ssize_t os_fgetxattr(struct os *os, int fd, const char *name, void *value, size_t size);
int os_fsetxattr(struct os *os, int fd, const char *name, const void *value, size_t size);
int os_fremovexattr(struct os *os, int fd, const char *name);
uid_t os_geteuid(struct os *os);

/** Write all bytes at an offset: pwrite(2).  @return 0, or -1: part of it may be written. */
int os_pwrite_all(struct os *os, int fd, const void *bytes, size_t size, uint64_t offset);

/** flock(2), exclusive, without waiting.  Errors: EWOULDBLOCK: the file is locked. */
int os_flock(struct os *os, int fd);

/** The flags of an inode (ioctl FS_IOC_GETFLAGS): FS_IMMUTABLE_FL ... */
int os_inode_flags(struct os *os, int fd, unsigned *flags);

/** Whether a directory is the root of a read-only subvolume of btrfs. */
bool os_subvol_readonly(struct os *os, int fd);

/** Block all signals but SIGXFSZ, and ignore that one, so that exceeding the limit on the size of
    files fails with EFBIG.
    @held [out]  The state that os_signals_restore() restores. */
struct os_signals {
	sigset_t mask;
	struct sigaction size;
};
void os_signals_block(struct os *os, struct os_signals *held);

/** Whether a signal is pending that would end the program. */
bool os_signals_pending(struct os *os, const struct os_signals *held);

/** Restore the signal mask: a pending signal may end the program here. */
void os_signals_restore(struct os *os, const struct os_signals *held);

/** The time of day.  Not counted: it does not enter the kernel. */
struct timespec os_time(void);

/** The time of day, in milliseconds.  Not counted: it does not enter the kernel. */
int64_t os_time_ms(void);

#endif
