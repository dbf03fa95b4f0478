/* SPDX-License-Identifier: MIT */
/**
 * The attributes of many inodes by one call: XFS (BULKSTAT) and btrfs (TREE_SEARCH_V2).  Both need
 * CAP_SYS_ADMIN in the initial user namespace, and return owners as in a mount without an ID
 * mapping.
 *
 * The results differ from those of stat(2):
 * - XFS returns inodes as they are in memory, but the size on disk, which is outdated until the
 *   data of a file is written;
 * - btrfs returns the tree of the running transaction: new inodes are added to it when the
 *   transaction is committed, sizes and blocks are updated when data is written.
 *
 * So os_inodes_settle() writes all data first.
 */
#ifndef GM_OS_INODES_H
#define GM_OS_INODES_H

#include "os/os.h"

/** The file system type whose ioctl is used. */
enum os_inodes_of {
	OS_INODES_XFS,
	OS_INODES_BTRFS,
};

/** Whether a file system type has such an interface.  @of [out] */
bool os_inodes_type(const char *fstype, enum os_inodes_of *of);

/** The attributes of an inode. */
struct os_inode {
	uint64_t ino;
	uint64_t size;
	uint64_t bytes;           /* on disk; on btrfs not rounded to whole blocks */
	uint64_t attributes;      /* K_STATX_ATTR_* */
	struct k_statx_time atime, btime, ctime, mtime;
	uint32_t nlink, uid, gid;
	uint16_t mode;
	bool plain;               /* stat(2) would return no other attributes */
};

/** The size of the buffer for the kernel's answer. */
enum { OS_INODES_BUFFER = 64 * 1024 };

/** Write all changes of the file system of a directory, so that os_inodes() returns them, and check
    that its ioctl can be used.
    @buf  OS_INODES_BUFFER bytes, aligned to 8.
    @since [out]  The time before the write, by the clock of ctimes: later changes have no earlier
    ctime.
    @return 0, or -1.  Errors: EPERM (not allowed), ENOTTY, EOPNOTSUPP (another file system, an
    older kernel), EINVAL (an idmapped mount), EIO ... from writing.  Source: syncfs(2). */
int os_inodes_settle(struct os *os, int fd, enum os_inodes_of of, void *buf,
                     struct k_statx_time *since);

/** A range of inode numbers. */
struct os_inodes {
	enum os_inodes_of of;
	void *buf;                /* as for os_inodes_settle() */
	uint64_t next;            /* the first number; [out] the number to continue with */
	uint64_t last;            /* the last number; inodes with higher numbers may be
	                             returned */
	uint64_t generation;      /* btrfs: inodes whose part of the tree was not changed in this
	                             generation or later are left out; 0: none are */
};

/** Get inodes of the file system (on btrfs: of the subvolume) that contains a directory.
    @inodes [out]  Sorted by number, without inodes that have no link.
    @n  Room in inodes.
    @return the number of inodes; 0 with range->next above range->last at the end; or -1.
    Errors: as os_inodes_settle().  Source: ioctl_xfs_bulkstat(2); btrfs-ioctl(2). */
ssize_t os_inodes(struct os *os, int fd, struct os_inodes *range, struct os_inode *inodes,
                  size_t n);

/** The groups of inode numbers that several threads can get at the same time: on XFS, the
    allocation groups.  The first group begins at 0.
    @groups [out]  Their number, at least 1; the last one has no end.
    @return the numbers in a group. */
uint64_t os_inodes_groups(struct os *os, int fd, enum os_inodes_of of, unsigned *groups);

/** The generation of a btrfs: later changes have this generation or a higher one.
    @return 0: unknown, or another file system. */
uint64_t os_inodes_generation(struct os *os, int fd, enum os_inodes_of of);

/** The UUID of a file system, by the first of these ioctls that this kernel and file system have:
    FS_IOC_GETFSUUID (6.9), XFS_IOC_FSGEOMETRY, BTRFS_IOC_FS_INFO, EXT4_IOC_GETFSUUID (6.0).
    @fd  Not O_PATH.
    @return 0, or -1.  Errors: ENOTTY: no ioctl returns a UUID of 16 bytes that are not all 0. */
int os_fs_uuid(struct os *os, int fd, unsigned char uuid[16]);

/**
 * What an NFS server of Linux makes the ID of a file system of, as far as anybody may read it.
 * Source: uuid_by_path() of rpc.mountd, fsid_source() of nfsd.
 *
 * @fd   A directory, open for reading.
 * @ids [out]  f_fsid of statfs(2), its first word in the lower half; the two halves of the UUID as
 *       little-endian numbers, one XOR the other.  0: unknown.
 */
void os_fs_ids(struct os *os, int fd, uint64_t ids[2]);

#endif
