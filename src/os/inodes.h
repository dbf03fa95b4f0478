/* SPDX-License-Identifier: MIT */
/**
 * The attributes of many inodes by one call, where a file system has one for
 * it: XFS (BULKSTAT) and btrfs (TREE_SEARCH_V2).  Both need CAP_SYS_ADMIN in
 * the first user namespace, and tell raw owners: those of a mount without
 * an ID mapping.
 *
 * What they tell is not all that stat(2) would:
 * - XFS tells inodes as they are in memory, but the size that is on disk: that of
 *   a file which grew is behind until its data is written.
 * - btrfs tells the tree of the running transaction, to which inodes are
 *   added when it is committed, and sizes and blocks when data is written.
 *
 * So os_inodes_settle() has all written first.
 */
#ifndef GM_OS_INODES_H
#define GM_OS_INODES_H

#include "os/os.h"

/** Whose interface. */
enum os_inodes_of {
	OS_INODES_XFS,
	OS_INODES_BTRFS,
};

/** What is told of an inode. */
struct os_inode {
	uint64_t ino;
	uint64_t size;
	uint64_t bytes;           /* on disk; of btrfs not yet in whole blocks */
	uint64_t attributes;      /* K_STATX_ATTR_* */
	struct k_statx_time atime, btime, ctime, mtime;
	uint32_t nlink, uid, gid;
	uint16_t mode;
	bool plain;               /* it has nothing that only stat(2) could tell */
};

/** Room for the kernel's answer. */
enum { OS_INODES_BUFFER = 64 * 1024 };

/**
 * Have all that was changed so far in the file system of a directory told by
 * os_inodes() from now on, and see that it may be asked.
 *
 * @buf        OS_INODES_BUFFER bytes, at a multiple of 8.
 * @since [out]
 *         The time before, by the clock that ctimes are of: what was changed
 *         after it has a ctime that is not less.
 * @return 0, or -1.
 * Errors: EPERM (not allowed), ENOTTY, EOPNOTSUPP (another file system, an
 *         older kernel), EINVAL (an idmapped mount), EIO ... of writing.
 * Source: syncfs(2).
 */
int os_inodes_settle(struct os *os, int fd, enum os_inodes_of of, void *buf, struct k_statx_time *since);

/**
 * Ask for inodes of the file system, of btrfs of the subvolume, that a directory is in.
 *
 * @next   The number to begin with; [out] the one to go on with.
 * @last   None above it is wanted; some may be told.
 * @inodes [out]
 *         In the order of their numbers; those without a link are left out.
 * @n      How many fit.
 * @return how many were told; with 0 and *next above last: there are no more;
 *         or -1.
 * Errors: as os_inodes_settle().
 * Source: ioctl_xfs_bulkstat(2); btrfs-ioctl(2).
 */
ssize_t os_inodes(struct os *os, int fd, enum os_inodes_of of, void *buf, uint64_t *next,
                  uint64_t last, struct os_inode *inodes, size_t n);

#endif
