/* SPDX-License-Identifier: MIT */
/**
 * The attributes of many inodes by one call: XFS (BULKSTAT) and btrfs (TREE_SEARCH_V2).  Both need
 * CAP_SYS_ADMIN in the initial user namespace, and return raw owners: those of a mount without an
 * ID mapping.
 *
 * The answers differ from those of stat(2):
 * - XFS returns inodes as they are in memory, but the size on disk, which is outdated until the
 *   data of a file is written;
 * - btrfs returns the tree of the running transaction, to which inodes are added when it is
 *   committed, and sizes and blocks when data is written.
 *
 * So os_inodes_settle() writes all data first.
 */
#ifndef GM_OS_INODES_H
#define GM_OS_INODES_H

#include "os/os.h"

/** Whose interface. */
enum os_inodes_of {
	OS_INODES_XFS,
	OS_INODES_BTRFS,
};

/** The attributes of an inode. */
struct os_inode {
	uint64_t ino;
	uint64_t size;
	uint64_t bytes;           /* on disk; on btrfs not rounded to whole blocks */
	uint64_t attributes;      /* K_STATX_ATTR_* */
	struct k_statx_time atime, btime, ctime, mtime;
	uint32_t nlink, uid, gid;
	uint16_t mode;
	bool plain;               /* it has no attribute that only stat(2) returns */
};

/** Room for the kernel's answer. */
enum { OS_INODES_BUFFER = 64 * 1024 };

/**
 * Write all changes of the file system of a directory, so that os_inodes() returns them, and check
 * that its interface may be used.
 *
 * @buf        OS_INODES_BUFFER bytes, aligned to 8.
 * @since [out]
 *         The time before, by the clock of ctimes: later changes have no earlier ctime.
 * @return 0, or -1.
 * Errors: EPERM (not allowed), ENOTTY, EOPNOTSUPP (another file system, an
 *         older kernel), EINVAL (an idmapped mount), EIO ... of writing.
 * Source: syncfs(2).
 */
int os_inodes_settle(struct os *os, int fd, enum os_inodes_of of, void *buf,
                     struct k_statx_time *since);

/**
 * Get inodes of the file system (on btrfs: of the subvolume) that a directory is in.
 *
 * @next   The first number; [out] the next one.
 * @last   The last number; higher ones may be returned.
 * @inodes [out]
 *         In the order of their numbers, without those that have no link.
 * @n      Room in inodes.
 * @return the number of inodes, 0 with *next above last at the end; or -1.
 * Errors: as os_inodes_settle().
 * Source: ioctl_xfs_bulkstat(2); btrfs-ioctl(2).
 */
ssize_t os_inodes(struct os *os, int fd, enum os_inodes_of of, void *buf, uint64_t *next,
                  uint64_t last, struct os_inode *inodes, size_t n);

#endif
