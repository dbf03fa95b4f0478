/* SPDX-License-Identifier: MIT */
#include "os/change.h"

#include "os/clock.h"

#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

int os_fstatat(struct os *os, int dirfd, const char *name, struct stat *st)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
	return OS_RETRY(OS_CALL(os, OS_FSTAT, fstatat, dirfd, name, st, flags));
}

int os_create_new(struct os *os, int dirfd, const char *name)
{
	return OS_RETRY(OS_CALL(os, OS_OPENAT, openat, dirfd, name,
	                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

int os_create_unnamed(struct os *os, int dirfd)
{
	static const char name[] = ".getmnt-unnamed";
	int fd = OS_RETRY(OS_CALL(os, OS_OPENAT, openat, dirfd, ".",
	                          O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	fd = os_create_new(os, dirfd, name);
	if (fd < 0 && errno == EEXIST && os_remove(os, dirfd, name, false) == 0)
		fd = os_create_new(os, dirfd, name);
	if (fd >= 0)
		os_remove(os, dirfd, name, false);
	return fd;
}

int os_create(struct os *os, int dirfd, const char *name, int flags)
{
	return OS_RETRY(OS_CALL(os, OS_OPENAT, openat, dirfd, name,
	                        O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC | flags, 0666));
}

int os_close_written(struct os *os, int fd)
{
	return OS_CALL(os, OS_CLOSE, close, fd);
}

int os_remove(struct os *os, int dirfd, const char *name, bool dir)
{
	return OS_RETRY(OS_CALL(os, OS_UNLINK, unlinkat, dirfd, name, dir ? AT_REMOVEDIR : 0));
}

int os_rename(struct os *os, int dirfd, const char *from, const char *to, unsigned flags)
{
	return OS_RETRY(OS_CALL(os, OS_RENAME, renameat2, dirfd, from, dirfd, to, flags));
}

int os_link(struct os *os, int dirfd, const char *from, const char *to)
{
	return OS_RETRY(OS_CALL(os, OS_LINK, linkat, dirfd, from, dirfd, to, 0));
}

int os_symlink(struct os *os, const char *text, int dirfd, const char *name)
{
	return OS_RETRY(OS_CALL(os, OS_SYMLINK, symlinkat, text, dirfd, name));
}

int os_fsync(struct os *os, int fd)
{
	return OS_RETRY(OS_CALL(os, OS_FSYNC, fsync, fd));
}

int os_fdatasync(struct os *os, int fd)
{
	return OS_RETRY(OS_CALL(os, OS_FDATASYNC, fdatasync, fd));
}

int os_ftruncate(struct os *os, int fd, uint64_t size)
{
	return OS_RETRY(OS_CALL(os, OS_FTRUNCATE, ftruncate, fd, (off_t)size));
}

int os_pwrite_all(struct os *os, int fd, const void *bytes, size_t size, uint64_t offset)
{
	const char *at = bytes;
	while (size > 0) {
		ssize_t n = OS_RETRY(OS_CALL(os, OS_PWRITE, pwrite, fd, at, size, (off_t)offset));
		if (n <= 0)
			return n < 0 ? -1 : fail(EIO);
		at += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

int os_fchown(struct os *os, int fd, uid_t uid, gid_t gid)
{
	return OS_RETRY(OS_CALL(os, OS_CHOWN, fchown, fd, uid, gid));
}

int os_fchmod(struct os *os, int fd, mode_t mode)
{
	return OS_RETRY(OS_CALL(os, OS_CHMOD, fchmod, fd, mode));
}

int os_futimens(struct os *os, int fd, const struct timespec times[2])
{
	return OS_RETRY(OS_CALL(os, OS_UTIME, futimens, fd, times));
}

int os_flock(struct os *os, int fd)
{
	return OS_RETRY(OS_CALL(os, OS_FLOCK, flock, fd, LOCK_EX | LOCK_NB));
}

ssize_t os_flistxattr(struct os *os, int fd, char *names, size_t size)
{
	return OS_RETRY(OS_CALL(os, OS_LISTXATTR, flistxattr, fd, names, size));
}

ssize_t os_fgetxattr(struct os *os, int fd, const char *name, void *value, size_t size)
{
	return OS_RETRY(OS_CALL(os, OS_GETXATTR, fgetxattr, fd, name, value, size));
}

int os_fsetxattr(struct os *os, int fd, const char *name, const void *value, size_t size)
{
	return OS_RETRY(OS_CALL(os, OS_SETXATTR, fsetxattr, fd, name, value, size, 0));
}

int os_fremovexattr(struct os *os, int fd, const char *name)
{
	return OS_RETRY(OS_CALL(os, OS_REMOVEXATTR, fremovexattr, fd, name));
}

int os_inode_flags(struct os *os, int fd, unsigned *flags)
{
	int rc, value = 0;   /* an int, although the request number encodes a long */
	rc = OS_RETRY(OS_CALL(os, OS_IOCTL, ioctl, fd, FS_IOC_GETFLAGS, &value));
	if (rc == 0)
		*flags = (unsigned)value;
	return rc;
}

bool os_subvol_readonly(struct os *os, int fd)
{
	uint64_t flags = 0;
	return OS_RETRY(OS_CALL(os, OS_IOCTL, ioctl, fd, BTRFS_IOC_SUBVOL_GETFLAGS, &flags)) == 0
	       && flags & BTRFS_SUBVOL_RDONLY;
}

void os_signals_block(struct os *os, struct os_signals *held)
{
	sigset_t all;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	OS_CALL(os, OS_SIGACTION, sigaction, SIGXFSZ, &ignore, &held->size);
	/* If SIGXFSZ were blocked as well, it would stay pending and be delivered later. */
	sigfillset(&all);
	sigdelset(&all, SIGXFSZ);
	OS_CALL(os, OS_SIGMASK, pthread_sigmask, SIG_SETMASK, &all, &held->mask);
}

bool os_signals_pending(struct os *os, const struct os_signals *held)
{
	sigset_t waiting;
	if (OS_CALL(os, OS_SIGPENDING, sigpending, &waiting) != 0)
		return false;
	for (int number = 1; number < NSIG; ++number) {
		struct sigaction action;
		bool harmless = number == SIGCHLD || number == SIGCONT || number == SIGURG
		                || number == SIGWINCH || number == SIGTSTP || number == SIGTTIN
		                || number == SIGTTOU;
		if (harmless || sigismember(&waiting, number) != 1
		    || sigismember(&held->mask, number) == 1)
			continue;
		if (OS_CALL(os, OS_SIGACTION, sigaction, number, NULL, &action) == 0
		    && action.sa_handler != SIG_IGN)
			return true;
	}
	return false;
}

void os_signals_restore(struct os *os, const struct os_signals *held)
{
	OS_CALL(os, OS_SIGACTION, sigaction, SIGXFSZ, &held->size, NULL);
	OS_CALL(os, OS_SIGMASK, pthread_sigmask, SIG_SETMASK, &held->mask, NULL);
}

uid_t os_geteuid(struct os *os)
{
	return OS_CALL(os, OS_GETEUID, geteuid);
}

struct timespec os_time(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

int64_t os_time_ms(void)
{
	struct timespec now = os_time();
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
