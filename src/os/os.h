/* SPDX-License-Identifier: MIT */
/**
 * The kernel facade: every crossing into the kernel that getmnt makes goes
 * through one of these functions, which counts it.
 *
 * The functions are thin: they retry EINTR, set errno, and count a call once
 * for each time the kernel was entered.  None is inlined, so that a profile
 * shows each kind of call as a function of its own.
 *
 * A struct os belongs to one thread.  Workers have their own, and the owner
 * adds the counts up with os_join().
 */
#ifndef GM_OS_OS_H
#define GM_OS_OS_H

#include "os/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Kinds of kernel call, one row each in os_call_name(). */
enum os_call {
	OS_STATX,
	OS_OPENAT,
	OS_OPENAT2,
	OS_GETDENTS,
	OS_READ,
	OS_CLOSE,
	OS_READLINK,
	OS_LISTMOUNT,
	OS_STATMOUNT,
	OS_STATFS,
	OS_FCNTL,
	OS_RLIMIT,
	OS_POLL,
	OS_UNAME,
	OS_AFFINITY,
	OS_FSTAT,
	OS_NCALLS,
};

/** What the running kernel has; probed once, by os_init(). */
enum os_caps {
	OSC_LISTMOUNT      = 1 << 0,  /* listmount(2) and statmount(2), 6.8 */
	OSC_STATX_MNT_ID   = 1 << 1,  /* STATX_MNT_ID and ATTR_MOUNT_ROOT, 5.8 */
	OSC_STATX_UNIQUE   = 1 << 2,  /* STATX_MNT_ID_UNIQUE, 6.8 */
	OSC_OPENAT2        = 1 << 3,  /* openat2(2), 5.6 */
	OSC_REQ_VER1       = 1 << 4,  /* 32-byte struct mnt_id_req, 6.11 */
};

struct os {
	unsigned caps;                /* enum os_caps, less what was disabled */
	unsigned disabled;            /* enum os_caps named in GETMNT_DISABLE */
	bool statx_works;             /* false: seccomp refuses it; fstatat instead */
	uint64_t root_id, root_uniq;  /* the mount of "/", as the probe saw it; 0 */
	uint64_t statmount_mask;      /* STATMOUNT_* that this kernel answers; 0 if
	                                 it cannot tell (before 6.15) */
	bool torn_reads;              /* mountinfo can lose lines: before 5.8 */
	uint64_t calls[OS_NCALLS];
};

/**
 * Probe the kernel and begin counting.
 *
 * @disable
 *         A comma-separated list of listmount, statx-mntid, openat2, uring to
 *         do without, as in the environment's GETMNT_DISABLE; NULL for none.
 *         Unknown words are ignored.
 * Costs a statx of "/", an openat2 and its close, and up to two listmount
 * calls and a statmount; a uname where statx tells no mount IDs.  These are
 * counted.
 */
void os_init(struct os *os, const char *disable);

/** Begin a worker's counts: the capabilities of os, no calls yet. */
void os_fork(struct os *worker, const struct os *os);

/** Add a worker's counts to os. */
void os_join(struct os *os, const struct os *worker);

/** The name of a kind of call, as strace writes it: "statx", "getdents64". */
const char *os_call_name(enum os_call call);

/** The sum of all calls. */
uint64_t os_calls_total(const struct os *os);

/**
 * statx(2); where that is refused fstatat(2), which tells no mount IDs.
 *
 * @st [out]
 *         Zeroed by this function before the call.
 * @return 0, or -1.
 * Errors: those of statx(2).
 */
int os_statx(struct os *os, int dirfd, const char *path, int flags, unsigned mask,
             struct k_statx *st);

/** The mount ID of a result, in the ID space of unique or plain; 0 if unknown. */
uint64_t os_statx_mnt_id(const struct k_statx *st, bool unique);

/** Whether a result is of the root of a mount (false where that is unknown). */
bool os_statx_is_mount_root(const struct k_statx *st);

/** openat(2), always with O_CLOEXEC.  @return a descriptor, or -1. */
int os_openat(struct os *os, int dirfd, const char *path, int flags);

/** openat2(2), always with O_CLOEXEC.  @return a descriptor, or -1 (ENOSYS
    where it is missing or disabled). */
int os_openat2(struct os *os, int dirfd, const char *path, int flags, uint64_t resolve);

/**
 * Open a directory for reading entries: O_NOFOLLOW, and O_NOATIME where we
 * may.  @return a descriptor, or -1.
 * Errors: those of openat(2); ENOTDIR for what is no directory, or a link.
 */
int os_opendir(struct os *os, int dirfd, const char *name);

/** getdents64(2).  @return bytes, 0 at the end of the directory, or -1. */
ssize_t os_getdents(struct os *os, int fd, void *buf, size_t size);

/** read(2).  @return bytes, 0 at the end, or -1. */
ssize_t os_read(struct os *os, int fd, void *buf, size_t size);

/**
 * The type of an open file: S_IFREG, S_IFDIR ...; 0 on error.
 *
 * @major, minor [out]
 *         The number of a device; may be NULL.
 * By fstat(2), so that every statx counted is a look at a mount or an entry.
 */
unsigned os_file_type(struct os *os, int fd, uint32_t *major, uint32_t *minor);

/** Wait until a pipe can be read, or has ended.  @return 0, or -1. */
int os_wait_readable(struct os *os, int fd);

struct statfs;

/** fstatfs(2), also of an O_PATH descriptor.  @return 0, or -1. */
int os_fstatfs(struct os *os, int fd, struct statfs *st);

/** close(2); keeps errno, takes -1. */
void os_close(struct os *os, int fd);

/** readlinkat(2).  @return the length; buf gets a NUL (size is one more). */
ssize_t os_readlinkat(struct os *os, int dirfd, const char *path, char *buf, size_t size);

/** fcntl(F_DUPFD_CLOEXEC).  @return a descriptor of at least min, or -1. */
int os_dupfd(struct os *os, int fd, int min);

/**
 * listmount(2): one page of the IDs of the mounts below a mount.
 *
 * @mnt_id  K_LSMT_ROOT, or a unique ID.
 * @last    The last ID of the page before; 0 to begin.
 * @return  The number of IDs written, 0 at the end, or -1.
 * Errors: ENOSYS (missing, disabled), EPERM, ENOENT.
 */
ssize_t os_listmount(struct os *os, uint64_t mnt_id, uint64_t last, uint64_t *ids, size_t n);

/**
 * statmount(2).
 *
 * @return 0, or -1.
 * Errors: ENOENT (the mount went away), EOVERFLOW (the buffer is too small,
 *         and the kernel does not say how small), ENOSYS, EPERM.
 */
int os_statmount(struct os *os, uint64_t mnt_id, uint64_t mask, struct k_statmount *buf,
                 size_t size);

/** The limit on open descriptors, raised to the hard limit when possible,
    but to no more than want.  @return the limit now in force. */
unsigned os_raise_nofile(struct os *os, unsigned want);

/** How many processors this process may run on; at least 1. */
unsigned os_cpus(struct os *os);

/** A monotonic clock in seconds.  Not counted: it does not enter the kernel. */
double os_now(void);

/** In a debug build and with GETMNT_MARK in the environment: a call that
    fails, and by whose path a trace can be cut; else nothing. */
void os_mark(const char *what);

#endif
