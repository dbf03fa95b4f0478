/* SPDX-License-Identifier: MIT */
/**
 * The kernel facade: getmnt makes every system call through these functions.
 *
 * They retry EINTR, set errno, and count each entry into the kernel.  In the build of `make
 * profile` each system call is also a separate function: os/crossing.h.
 *
 * A struct os belongs to one thread.  Workers have their own; os_join() adds up the counts.
 */
#ifndef GM_OS_OS_H
#define GM_OS_OS_H

#include "base/fail.h"
#include "os/kernel.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/** Kinds of system call, and their names as strace prints them.  KERNEL: the wrapper in the C
    library, if any, does nothing more than this call; LIBRARY: it does more, or depends on the
    architecture. */
#define OS_CALLS(KERNEL, LIBRARY) \
	KERNEL(STATX, statx)                           KERNEL(OPENAT, openat) \
	KERNEL(OPENAT2, openat2)                       KERNEL(GETDENTS, getdents64) \
	KERNEL(READ, read)                             KERNEL(CLOSE, close) \
	KERNEL(READLINK, readlinkat)                   KERNEL(GETCWD, getcwd) \
	KERNEL(LISTMOUNT, listmount)                   KERNEL(STATMOUNT, statmount) \
	KERNEL(STATFS, fstatfs)                        KERNEL(FCNTL, fcntl) \
	KERNEL(RLIMIT, prlimit64)                      LIBRARY(POLL, poll) \
	KERNEL(UNAME, uname)                           KERNEL(AFFINITY, sched_getaffinity) \
	KERNEL(FSTAT, newfstatat)                      KERNEL(ACCESS, faccessat2) \
	KERNEL(PREAD, pread64)                         KERNEL(WRITE, write) \
	KERNEL(MKDIR, mkdirat)                         KERNEL(UNLINK, unlinkat) \
	KERNEL(SOCKETPAIR, socketpair)                 LIBRARY(FORK, clone) \
	KERNEL(KILL, kill)                             KERNEL(WAIT, wait4) \
	KERNEL(SEND, sendmsg)                          KERNEL(RECV, recvmsg) \
	KERNEL(SHUTDOWN, shutdown)                     KERNEL(FANOTIFY_INIT, fanotify_init) \
	KERNEL(FANOTIFY_MARK, fanotify_mark)           KERNEL(PIDFD_OPEN, pidfd_open) \
	KERNEL(IOCTL, ioctl)                           KERNEL(URING_SETUP, io_uring_setup) \
	KERNEL(URING_REGISTER, io_uring_register)      KERNEL(URING_ENTER, io_uring_enter) \
	KERNEL(MMAP, mmap)                             KERNEL(MUNMAP, munmap) \
	KERNEL(SYNCFS, syncfs)                         KERNEL(RENAME, renameat2) \
	KERNEL(LINK, linkat)                           KERNEL(SYMLINK, symlinkat) \
	KERNEL(FSYNC, fsync)                           KERNEL(CHOWN, fchown) \
	KERNEL(CHMOD, fchmod)                          KERNEL(UTIME, utimensat) \
	KERNEL(FLOCK, flock)                           KERNEL(LISTXATTR, flistxattr) \
	KERNEL(GETXATTR, fgetxattr)                    KERNEL(SETXATTR, fsetxattr) \
	KERNEL(REMOVEXATTR, fremovexattr)              LIBRARY(SIGMASK, rt_sigprocmask) \
	LIBRARY(SIGACTION, rt_sigaction)               LIBRARY(SIGPENDING, rt_sigpending) \
	KERNEL(GETEUID, geteuid)                       KERNEL(OPEN_TREE, open_tree) \
	KERNEL(UNSHARE, unshare)                       KERNEL(FCHDIR, fchdir) \
	KERNEL(CHROOT, chroot)                         KERNEL(GETRUSAGE, getrusage) \
	KERNEL(SIGNALFD, signalfd4)                    KERNEL(INOTIFY_INIT, inotify_init1) \
	KERNEL(INOTIFY_ADD, inotify_add_watch)         KERNEL(SOCKET, socket) \
	KERNEL(CONNECT, connect)                       KERNEL(LISTXATTRAT, listxattrat) \
	KERNEL(PATHXATTR, listxattr)                   KERNEL(TO_HANDLE, name_to_handle_at) \
	KERNEL(BY_HANDLE, open_by_handle_at)           KERNEL(PWRITE, pwrite64) \
	KERNEL(FDATASYNC, fdatasync)                   KERNEL(FTRUNCATE, ftruncate)

#define OS_KIND(kind, name) OS_##kind,
enum os_call {
	OS_CALLS(OS_KIND, OS_KIND)
	OS_NCALLS,
};

/** Features of the running kernel; probed once, by os_init(). */
enum os_caps {
	OSC_LISTMOUNT      = 1 << 0,  /* listmount(2) and statmount(2), 6.8 */
	OSC_STATX_MNT_ID   = 1 << 1,  /* STATX_MNT_ID and ATTR_MOUNT_ROOT, 5.8 */
	OSC_STATX_UNIQUE   = 1 << 2,  /* STATX_MNT_ID_UNIQUE, 6.8 */
	OSC_OPENAT2        = 1 << 3,  /* openat2(2), 5.6 */
	OSC_REQ_VER1       = 1 << 4,  /* 32-byte struct mnt_id_req, 6.11 */
	OSC_FANOTIFY       = 1 << 5,  /* mount events, 6.15; set by os_probe_events() */
	OSC_URING          = 1 << 6,  /* only in `disabled`; os_ring_new() probes it */
	OSC_INODES         = 1 << 7,  /* only in `disabled`; os_inodes() probes it */
	OSC_CLOCK          = 1 << 8,  /* only in `disabled`: os_elapsed() returns UINT64_MAX */
	OSC_LAST_POS       = 1 << 9,  /* only in `disabled`: continue reading after K_LAST_POS */
	OSC_LISTXATTRAT    = 1 << 10, /* only in `disabled`: listxattrat(2), 6.13, is missing */
	OSC_QUEUE          = 1 << 11, /* only in `disabled`: fanotify queues without a limit */
};

struct os {
	unsigned caps;                /* enum os_caps, without the disabled ones */
	unsigned disabled;            /* enum os_caps named in GETMNT_DISABLE */
	bool statx_works;             /* false: seccomp refuses statx; use fstatat */
	struct k_statx root;          /* "/" as of os_init(); mask 0 if statx failed */
	uint32_t root_old_id;         /* the 32-bit ID of the mount of "/"; 0: unknown */
	uint64_t statmount_mask;      /* STATMOUNT_* bits that this kernel supports; 0: unknown
	                                 (before 6.15) */
	bool ids_by_proc;             /* mount IDs are read from /proc/self/fdinfo (before 5.8) */
	bool torn_reads;              /* a read of mountinfo can miss lines (before 5.8) */
	bool nomem;                   /* memory ran out in a call whose failure may have been
	                                 mistaken for a missing file */
	uint64_t calls[OS_NCALLS];
	struct os_clock *clock;       /* times the calls, see os/clock.h; NULL: no timing */
};

/**
 * Probe the kernel and begin counting.
 *
 * @disable
 *         Features not to use, as in the environment variable GETMNT_DISABLE: a comma-separated
 *         list of listmount, statx-mntid, openat2, fanotify, uring, bulk, clock, last-pos,
 *         listxattrat, queue; NULL for none.  Unknown words are ignored.
 *
 * Costs a statx of "/", an openat2 that opens nothing, up to two listmount calls and a statmount; a
 * uname if statx returns no mount IDs; and up to two more calls of a failing statx.  All are
 * counted.
 */
void os_init(struct os *os, const char *disable);

/** Initialize the state of a worker: the capabilities of os, all counts 0, no clock. */
void os_clone_state(struct os *worker, const struct os *os);

/** Add a worker's counts to os. */
void os_join(struct os *os, const struct os *worker);

/** The name of a kind of call, as strace prints it: "statx", "getdents64". */
const char *os_call_name(enum os_call call);

/** The sum of all calls. */
uint64_t os_calls_total(const struct os *os);

/** statx(2); if that is refused, fstatat(2).  If mask requests a mount ID, and the kernel returns
    none, the object is opened with O_PATH, and the 32-bit ID comes from /proc/self/fdinfo.
    @st [out]  Zeroed by this function before the call.
    @return 0, or -1.  Errors: those of statx(2); EMFILE, ENFILE, ENOMEM: also of reading the ID. */
int os_statx(struct os *os, int dirfd, const char *path, int flags, unsigned mask,
             struct k_statx *st);

/** The attributes as stat(2) returns them.  @info [out] */
struct stat;
void os_stat_from(struct stat *info, const struct k_statx *st);

/** The mount ID in a result: the unique ID or the 32-bit ID; 0: unknown. */
uint64_t os_statx_mnt_id(const struct k_statx *st, bool unique);

/** Whether a result is the root of a mount (false if unknown). */
bool os_statx_is_mount_root(const struct k_statx *st);

/** The 32-bit ID of the mount of an open file.
    @return the ID, or 0.  Errors: ENOENT: /proc is not mounted; those of openat(2) and read(2). */
uint64_t os_mount_id(struct os *os, int fd);

struct mount;

/** Whether an open file is on a mount of a mount table: 1 or 0; -1: unknown. */
int os_is_on_mount(struct os *os, int fd, const struct mount *mount);

/* The system calls of the same names; os_openat() sets close-on-exec, os_unlinkat() removes no
   directory.  For os_getdents(), a removed directory is empty, with errno ENOENT. */
int os_openat(struct os *os, int dirfd, const char *path, int flags);
ssize_t os_getdents(struct os *os, int fd, void *buf, size_t size);
ssize_t os_read(struct os *os, int fd, void *buf, size_t size);
ssize_t os_pread(struct os *os, int fd, void *buf, size_t size, uint64_t offset);
ssize_t os_write(struct os *os, int fd, const void *buf, size_t size);
int os_mkdirat(struct os *os, int dirfd, const char *path, unsigned mode);
int os_unlinkat(struct os *os, int dirfd, const char *path);
int os_pidfd_open(struct os *os, pid_t pid);

/** openat2(2) with O_CLOEXEC.  @return a descriptor, or -1.  Errors: those of openat2(2); ENOSYS:
    missing or disabled. */
int os_openat2(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve);

/** Open a directory for reading entries: O_NOFOLLOW, and O_NOATIME if permitted.
    @return a descriptor, or -1.
    Errors: those of openat(2); ENOTDIR: not a directory, or a symlink. */
int os_opendir(struct os *os, int dirfd, const char *name);

/** Clone a mount without its submounts, detached: open_tree(2).
    @fd  The root of the mount; O_PATH is enough.
    @return an O_PATH descriptor, or -1.
    Errors: ENOSYS (before Linux 5.2), EPERM (no CAP_SYS_ADMIN over the namespace), EINVAL (the
    mount belongs to another namespace, is unbindable, or has locked submounts). */
int os_open_tree(struct os *os, int fd);

/** The length of the name in an entry whose reclen was checked; the size of the field if the name
    has no NUL.  @slash [out]  Whether the name contains a slash. */
static inline size_t os_dirent_len(const struct k_dirent *entry, bool *slash)
{
	const size_t head = offsetof(struct k_dirent, name);
#ifdef __SSE2__
	const __m128i nul = _mm_setzero_si128(), separator = _mm_set1_epi8('/');
	/* Read the field in 16-byte blocks, of which the last ends where the entry ends. */
	size_t at = 16 - entry->reclen % 16;
	unsigned mask = UINT16_MAX << (head - at), found = 0;
	for (; at < entry->reclen; at += 16, mask = UINT16_MAX) {
		__m128i pair = _mm_loadu_si128((const void *)((const char *)entry + at));
		__m128i ends = _mm_or_si128(_mm_cmpeq_epi8(pair, nul),
		                            _mm_cmpeq_epi8(pair, separator));
		found = (unsigned)_mm_movemask_epi8(ends) & mask;
		if (found) {
			at += (size_t)__builtin_ctz(found) - head;
			break;
		}
	}
	*slash = false;
	if (found && entry->name[at] == '\0')
		return at;
#endif
	size_t len = strnlen(entry->name, entry->reclen - head);
	*slash = memchr(entry->name, '/', len);
	return len;
}

/** The entry at *at of the n bytes from os_getdents().  Pure.
    @at  Advanced past the entry.
    @len [out]  The length of the name; 0 if it contains a slash, as on a broken file system.  May
    be NULL.
    @return The entry, whose name ends in a NUL; NULL at the end, and if the entry is invalid or
    truncated (then errno is EIO and *at less than n). */
static inline const struct k_dirent *os_dirent(const void *buf, size_t n, size_t *at, size_t *len)
{
	const size_t head = offsetof(struct k_dirent, name), left = n - *at;
	size_t name = 0;
	bool slash = false;
	const struct k_dirent *entry = (const void *)((const char *)buf + *at);
	if (left == 0)
		return NULL;
	if (left <= head || entry->reclen <= head || entry->reclen > left
	    || entry->reclen % sizeof(uint64_t) != 0
	    || (name = os_dirent_len(entry, &slash)) == entry->reclen - head)
		return fail_null(EIO);
	if (len)
		*len = slash ? 0 : name;
	*at += entry->reclen;
	return entry;
}

/** The type of an open file: S_IFREG, S_IFDIR ...; 0 on error.  Uses fstat(2), so that the count of
    statx covers only mounts and entries.
    @major, minor [out]  The device number of a device node; may be NULL. */
unsigned os_file_type(struct os *os, int fd, uint32_t *major, uint32_t *minor);

/**
 * Get the status of a device mapper device whose table is one multipath target.
 *
 * Without a flush, so that the call waits for no I/O (ioctl DM_TABLE_STATUS).
 *
 * @fd
 *         /dev/mapper/control
 * @buf [out]
 *         The status, as text.
 * @return its length, or -1.
 * Errors: EOVERFLOW: not one multipath target, or the status does not fit; ENXIO, EPERM ...
 */
ssize_t os_dm_status(struct os *os, int fd, uint32_t major, uint32_t minor, char *buf, size_t size);

/** Whether the read end of a pipe or socket is closed. */
bool os_reader_gone(struct os *os, int fd);

/** faccessat2(2) with the real user ID; a symlink is not followed (before Linux 5.8 it is).
    @name  "": dirfd itself, for which O_PATH is enough.
    @mode  R_OK, W_OK, X_OK.
    @return 0, or -1.  Errors: those of faccessat2(2); ENOSYS: name is "", before Linux 5.8 without
    /proc. */
int os_access(struct os *os, int dirfd, const char *name, int mode);

/** The names of the extended attributes of an object, each with its NUL, without opening it:
    listxattrat(2); before Linux 6.13 by /proc/self/fd.  A symlink is not followed.
    @name  "": dirfd itself, for which O_PATH is enough.
    @return the bytes, or -1.
    Errors: those of listxattr(2), as EOPNOTSUPP, ERANGE; ENOSYS: /proc is needed and missing. */
ssize_t os_list_xattrs(struct os *os, int dirfd, const char *name, char *names, size_t size);

struct statfs;

/** fstatfs(2), also of an O_PATH descriptor.  @return 0, or -1. */
int os_fstatfs(struct os *os, int fd, struct statfs *st);

/** The sizes of a file system, as in statfs(2). */
struct os_sizes {
	uint64_t blocks, bfree, bavail, frsize, files, ffree;
};

/** Get the sizes.  @return 0, or -1: *sizes is unchanged. */
int os_fs_sizes(struct os *os, int fd, struct os_sizes *sizes);

struct iovec;

/** Write all pieces; on a descriptor with O_NONBLOCK, wait until it is writable.
    @pieces, n  Advanced past the written bytes, also on failure.
    @return 0, or -1.  Errors: those of writev(2). */
__attribute__((warn_unused_result))
int os_write_all(struct os *os, int fd, struct iovec **pieces, size_t *n);

/** close(2).  Preserves errno; ignores -1. */
void os_close(struct os *os, int fd);

/** readlinkat(2).  @return the length.  buf gets a final NUL, which size includes. */
ssize_t os_readlinkat(struct os *os, int dirfd, const char *path, char *buf, size_t size);

/** getcwd(2), which needs no /proc and accesses no file system.
    @buf [out]  PATH_MAX bytes; "(unreachable)..." for a directory outside the root.
    @return 0, or -1.  Errors: ENOENT (it was removed), ENAMETOOLONG. */
int os_getcwd(struct os *os, char *buf);

/** The host name, or the kernel release ("6.1.0-13-amd64"): uname(2).
    @return a string that the caller frees, or NULL. */
char *os_uname(struct os *os, bool release);

/** fcntl(F_DUPFD_CLOEXEC).  @return a descriptor of at least min, or -1. */
int os_dupfd(struct os *os, int fd, int min);

/** listmount(2): get one page of the IDs of the mounts below a mount.
    @mnt_id  K_LSMT_ROOT, or a unique ID.
    @last  The last ID of the previous page; 0 for the first.
    @return the number of IDs written, 0 at the end, or -1.
    Errors: ENOSYS (missing, disabled), EPERM, ENOENT. */
ssize_t os_listmount(struct os *os, uint64_t mnt_id, uint64_t last, uint64_t *ids, size_t n);

/** statmount(2).  @return 0, or -1.
    Errors: ENOENT (the mount was removed), EOVERFLOW (the buffer is too small; the kernel does not
    report the required size), ENOSYS, EPERM. */
int os_statmount(struct os *os, uint64_t mnt_id, uint64_t mask, struct k_statmount *buf,
                 size_t size);

/** Watch the mounts of this process's namespace: fanotify(7) on /proc/self/ns/mnt.  Each mount that
    is attached (K_FAN_MNT_ATTACH), detached, or moved (both bits) causes one event.  FAN_Q_OVERFLOW
    means that the queue was full (fs.fanotify.max_queued_events).
    @return a non-blocking descriptor that the caller closes, or -1.  Errors: ENOSYS (disabled),
    EINVAL (missing), EPERM (no CAP_SYS_ADMIN over the namespace), EMFILE, ENOMEM, those of opening
    in /proc. */
int os_watch_mounts(struct os *os);

/** Check whether os_watch_mounts() works, and set the bit in caps. */
void os_probe_events(struct os *os);

struct pollfd;

/** poll(2).  @ms  -1: no limit.  @return as poll(2); 0 on EINTR. */
int os_poll(struct os *os, struct pollfd *fds, size_t n, int ms);

/** The soft limit on open descriptors, or `most` if that is lower.
    @raise  Raise the limit first, as far as the hard limit permits. */
unsigned os_nofile(struct os *os, unsigned most, bool raise);

/** Set the soft limit on open descriptors, as far as the hard limit permits. */
void os_set_nofile(struct os *os, unsigned n);

/** Grow the table of descriptors before threads share it: after that, whoever needs it to grow
    waits for all processors (an RCU grace period, 20 ms).
    @fd  An open descriptor.
    @n  The number of descriptors to make room for, within the limit. */
void os_grow_fds(struct os *os, int fd, unsigned n);

/** Start a thread that blocks all signals except SIGBUS, which a fault of its own causes.
    @return 0, or an error number.  Errors: those of pthread_create(3); always EAGAIN in a build
    for gprof. */
int os_thread(pthread_t *thread, void *(*run)(void *arg), void *arg);

/** The number of processors that this process may run on; at least 1. */
unsigned os_cpus(struct os *os);

/** A monotonic clock in seconds.  Not counted: it does not enter the kernel. */
double os_now(void);

/** Nanoseconds since *since, which is set to the current time; UINT64_MAX: unknown.  Not counted
    either. */
uint64_t os_elapsed(const struct os *os, uint64_t *since);

/** Put a mark into a trace: in a debug build with GETMNT_MARK in the environment, a call that fails
    and whose path is the mark.  In a build for gprof a mark that ends in ":end" stops the profile
    and any other continues it. */
void os_mark(const char *what);

#endif
