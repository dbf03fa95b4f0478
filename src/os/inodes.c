/* SPDX-License-Identifier: MIT */
#include "os/inodes.h"

#include "os/change.h"
#include "os/clock.h"

#include <endian.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <time.h>

bool os_inodes_type(const char *fstype, enum os_inodes_of *of)
{
	bool xfs = fstype && strcmp(fstype, "xfs") == 0;
	*of = xfs ? OS_INODES_XFS : OS_INODES_BTRFS;
	return xfs || (fstype && strcmp(fstype, "btrfs") == 0);
}

/** ioctl(2), with EINTR retried. */
static int inodes_ioctl(struct os *os, int fd, unsigned long request, void *arg)
{
	return OS_RETRY(OS_CALL(os, OS_IOCTL, ioctl, fd, request, arg));
}

static struct k_statx_time time_of(int64_t sec, uint32_t nsec)
{
	return (struct k_statx_time){.sec = sec, .nsec = nsec};
}

static void inode_of_xfs(struct os_inode *inode, const struct k_xfs_bulkstat *stat)
{
	/* Other flags change more of what stat(2) returns, such as the block size. */
	const uint64_t known = FS_XFLAG_PREALLOC | FS_XFLAG_IMMUTABLE | FS_XFLAG_APPEND
	                       | FS_XFLAG_SYNC | FS_XFLAG_NOATIME | FS_XFLAG_NODUMP
	                       | FS_XFLAG_HASATTR;
	uint64_t flags = stat->xflags;
	*inode = (struct os_inode){
		.ino = stat->ino,
		.size = stat->size,
		.bytes = stat->blocks * stat->blksize,
		.attributes = (flags & FS_XFLAG_IMMUTABLE ? K_STATX_ATTR_IMMUTABLE : 0)
		              | (flags & FS_XFLAG_APPEND ? K_STATX_ATTR_APPEND : 0)
		              | (flags & FS_XFLAG_NODUMP ? K_STATX_ATTR_NODUMP : 0),
		.atime = time_of(stat->atime, stat->atime_nsec),
		.btime = time_of(stat->btime, stat->btime_nsec),
		.ctime = time_of(stat->ctime, stat->ctime_nsec),
		.mtime = time_of(stat->mtime, stat->mtime_nsec),
		.nlink = stat->nlink,
		.uid = stat->uid,
		.gid = stat->gid,
		.mode = stat->mode,
		.plain = !(flags & ~known),
	};
}

static ssize_t inodes_of_xfs(struct os *os, int fd, struct os_inodes *range,
                             struct os_inode *inodes, size_t n)
{
	const size_t room = (OS_INODES_BUFFER - sizeof(struct k_xfs_bulk_ireq))
	                    / sizeof(struct k_xfs_bulkstat);
	struct k_xfs_bulk_ireq *req = range->buf;
	const struct k_xfs_bulkstat *stats = (const void *)(req + 1);
	*req = (struct k_xfs_bulk_ireq){
		.ino = range->next, .icount = (uint32_t)(n < room ? n : room),
	};
	if (inodes_ioctl(os, fd, K_XFS_IOC_BULKSTAT, req) != 0)
		return -1;
	size_t count = 0;
	for (uint32_t i = 0; i < req->ocount && i < req->icount; ++i) {
		if (stats[i].nlink > 0)
			inode_of_xfs(&inodes[count++], &stats[i]);
	}
	/* Always advance, so that the caller's loop ends. */
	range->next = req->ocount > 0 && req->ino > range->next ? req->ino : range->last + 1;
	return (ssize_t)count;
}

static struct k_statx_time btrfs_time(const struct btrfs_timespec *time)
{
	return time_of((int64_t)le64toh(time->sec), le32toh(time->nsec));
}

static void inode_of_btrfs(struct os_inode *inode, uint64_t ino,
                           const struct btrfs_inode_item *item)
{
	uint64_t flags = le64toh(item->flags);
	*inode = (struct os_inode){
		.ino = ino,
		.size = le64toh(item->size),
		.bytes = le64toh(item->nbytes),
		.attributes = (flags & K_BTRFS_INODE_IMMUTABLE ? K_STATX_ATTR_IMMUTABLE : 0)
		              | (flags & K_BTRFS_INODE_APPEND ? K_STATX_ATTR_APPEND : 0)
		              | (flags & K_BTRFS_INODE_NODUMP ? K_STATX_ATTR_NODUMP : 0)
		              | (flags & K_BTRFS_INODE_COMPRESS ? K_STATX_ATTR_COMPRESSED : 0),
		.atime = btrfs_time(&item->atime),
		.btime = btrfs_time(&item->otime),
		.ctime = btrfs_time(&item->ctime),
		.mtime = btrfs_time(&item->mtime),
		.nlink = le32toh(item->nlink),
		.uid = le32toh(item->uid),
		.gid = le32toh(item->gid),
		.mode = (uint16_t)le32toh(item->mode),
		.plain = !(flags >> 32),
	};
}

/*
 * Keys of the tree are (number, type, offset); only the first item of an inode is needed.  The call
 * returns other items too, so after any item of an inode the next inode is requested.
 */
static ssize_t inodes_of_btrfs(struct os *os, int fd, struct os_inodes *range,
                               struct os_inode *inodes, size_t n)
{
	struct btrfs_ioctl_search_args_v2 *request = range->buf;
	const char *bytes = (const char *)(request + 1);
	const size_t room = OS_INODES_BUFFER - sizeof(*request);
	*request = (struct btrfs_ioctl_search_args_v2){
		.key.min_objectid = range->next, .key.max_objectid = range->last,
		.key.min_type = BTRFS_INODE_ITEM_KEY, .key.max_type = BTRFS_INODE_ITEM_KEY,
		.key.max_offset = UINT64_MAX,
		.key.min_transid = range->generation, .key.max_transid = UINT64_MAX,
		.key.nr_items = UINT32_MAX, .buf_size = room,
	};
	if (inodes_ioctl(os, fd, BTRFS_IOC_TREE_SEARCH_V2, request) != 0)
		return -1;
	size_t count = 0, at = 0;
	uint64_t seen = range->next;
	bool full = false;
	for (uint32_t i = 0; i < request->key.nr_items && !full
	     && room - at >= sizeof(struct btrfs_ioctl_search_header); ++i) {
		struct btrfs_ioctl_search_header head;
		struct btrfs_inode_item item;
		memcpy(&head, bytes + at, sizeof(head));
		at += sizeof(head);
		if (head.len > room - at || head.objectid < seen)
			break;
		seen = head.objectid;
		if (head.type == BTRFS_INODE_ITEM_KEY && head.len >= sizeof(item)) {
			memcpy(&item, bytes + at, sizeof(item));
			if (item.nlink != 0)
				inode_of_btrfs(&inodes[count++], head.objectid, &item);
			full = count == n;
		}
		at += head.len;
	}
	range->next = (request->key.nr_items > 0 ? seen : range->last) + 1;
	return (ssize_t)count;
}

ssize_t os_inodes(struct os *os, int fd, struct os_inodes *range, struct os_inode *inodes,
                  size_t n)
{
	return range->of == OS_INODES_XFS ? inodes_of_xfs(os, fd, range, inodes, n)
	                                  : inodes_of_btrfs(os, fd, range, inodes, n);
}

uint64_t os_inodes_groups(struct os *os, int fd, enum os_inodes_of of, unsigned *groups)
{
	struct k_xfs_geometry xfs;
	unsigned bits = 0;
	*groups = 1;
	if (of != OS_INODES_XFS || inodes_ioctl(os, fd, K_XFS_IOC_FSGEOMETRY, &xfs) != 0
	    || xfs.inodesize == 0 || xfs.agcount == 0)
		return UINT64_MAX;
	/* The number of an inode: group, block, place in the block, each in a number of bits. */
	while (bits < 32 && (uint64_t)1 << bits < xfs.agblocks)
		++bits;
	for (uint32_t n = xfs.blocksize / xfs.inodesize; n > 1; n /= 2)
		++bits;
	*groups = xfs.agcount;
	return (uint64_t)1 << bits;
}

uint64_t os_inodes_generation(struct os *os, int fd, enum os_inodes_of of)
{
	struct statfs fs;
	struct btrfs_ioctl_fs_info_args info = {.flags = BTRFS_FS_INFO_FLAG_GENERATION};
	if (of != OS_INODES_BTRFS || os_fstatfs(os, fd, &fs) != 0
	    || (uint32_t)fs.f_type != BTRFS_SUPER_MAGIC
	    || inodes_ioctl(os, fd, BTRFS_IOC_FS_INFO, &info) != 0
	    || !(info.flags & BTRFS_FS_INFO_FLAG_GENERATION))
		return 0;
	return info.generation;
}

int os_inodes_settle(struct os *os, int fd, enum os_inodes_of of, void *buf,
                     struct k_statx_time *since)
{
	struct statfs fs;
	struct os_inode inode;
	struct timespec now;
	struct os_inodes range = {.of = of, .buf = buf, .next = 1, .last = 256};
	if (os->disabled & OSC_INODES)
		return fail(EOPNOTSUPP);
	if (os_fstatfs(os, fd, &fs) != 0)
		return -1;
	/* Another file system might use the same ioctl number for something else. */
	if ((uint32_t)fs.f_type != (of == OS_INODES_XFS ? XFS_SUPER_MAGIC : BTRFS_SUPER_MAGIC))
		return fail(ENOTTY);
	if (os_inodes(os, fd, &range, &inode, 1) < 0)
		return -1;
	if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
		return -1;
	if (OS_CALL(os, OS_SYNCFS, syncfs, fd) != 0)
		return -1;
	*since = (struct k_statx_time){.sec = now.tv_sec, .nsec = (uint32_t)now.tv_nsec};
	return 0;
}

/** The UUID by the ioctl of a file system type: for kernels before 6.9. */
static int uuid_of_type(struct os *os, int fd, unsigned char uuid[16])
{
	struct statfs fs;
	struct k_xfs_geometry xfs = {0};
	struct btrfs_ioctl_fs_info_args btrfs = {0};
	struct k_ext4_uuid ext4 = {.len = sizeof(ext4.uuid)};
	if (os_fstatfs(os, fd, &fs) != 0)
		return -1;
	const unsigned char *found = NULL;
	switch ((uint32_t)fs.f_type) {
	case XFS_SUPER_MAGIC:
		if (inodes_ioctl(os, fd, K_XFS_IOC_FSGEOMETRY, &xfs) == 0)
			found = xfs.uuid;
		break;
	case BTRFS_SUPER_MAGIC:
		if (inodes_ioctl(os, fd, BTRFS_IOC_FS_INFO, &btrfs) == 0)
			found = btrfs.fsid;
		break;
	case EXT4_SUPER_MAGIC:
		if (inodes_ioctl(os, fd, K_EXT4_IOC_GETFSUUID, &ext4) == 0
		    && ext4.len == sizeof(ext4.uuid))
			found = ext4.uuid;
		break;
	default:
		break;
	}
	if (!found)
		return fail(ENOTTY);
	memcpy(uuid, found, 16);
	return 0;
}

int os_fs_uuid(struct os *os, int fd, unsigned char uuid[16])
{
	static const unsigned char none[16];
	unsigned char found[16];
	struct k_fsuuid2 got = {0};
	if (inodes_ioctl(os, fd, K_FS_IOC_GETFSUUID, &got) == 0 && got.len == sizeof(found))
		memcpy(found, got.uuid, sizeof(found));
	else if (uuid_of_type(os, fd, found) != 0)
		return fail(ENOTTY);
	if (memcmp(found, none, sizeof(none)) == 0)
		return fail(ENOTTY);
	memcpy(uuid, found, sizeof(found));
	return 0;
}

void os_fs_ids(struct os *os, int fd, uint64_t ids[2])
{
	struct statfs fs;
	unsigned char uuid[16] = {0};
	uint64_t halves[2] = {0};
	ids[0] = ids[1] = 0;
	if (os_fstatfs(os, fd, &fs) != 0)
		return;
	ids[0] = (uint32_t)fs.f_fsid.__val[0] | (uint64_t)(uint32_t)fs.f_fsid.__val[1] << 32;
	if (os_fs_uuid(os, fd, uuid) == 0)
		memcpy(halves, uuid, sizeof(halves));
	ids[1] = le64toh(halves[0] ^ halves[1]);
}
