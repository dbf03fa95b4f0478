/* SPDX-License-Identifier: MIT */
/**
 * Structures and constants of the kernel, under names of our own.
 *
 * Debian 12 has the headers of Linux 6.1, which lack most of these; the C library's struct statx
 * ends before stx_mnt_id.  Values are from include/uapi/linux/{mount,stat,fcntl}.h; each group
 * names the first release.
 */
#ifndef GM_OS_KERNEL_H
#define GM_OS_KERNEL_H

#include <stdint.h>

/* System calls; the same numbers on every architecture but alpha. */
#define K_NR_io_uring_setup    425   /* 5.1 */
#define K_NR_io_uring_enter    426
#define K_NR_io_uring_register 427
#define K_NR_open_tree   428   /* 5.2 */
#define K_NR_pidfd_open  434   /* 5.3 */
#define K_NR_openat2     437   /* 5.6 */
#define K_NR_faccessat2  439   /* 5.8 */
#define K_NR_statmount   457   /* 6.8 */
#define K_NR_listmount   458   /* 6.8 */

/** struct statx_timestamp. */
struct k_statx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t pad;
};

/** struct statx, whole: 256 bytes. */
struct k_statx {
	uint32_t mask;
	uint32_t blksize;
	uint64_t attributes;
	uint32_t nlink;
	uint32_t uid;
	uint32_t gid;
	uint16_t mode;
	uint16_t pad0;
	uint64_t ino;
	uint64_t size;
	uint64_t blocks;
	uint64_t attributes_mask;
	struct k_statx_time atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor;
	uint32_t dev_major, dev_minor;
	uint64_t mnt_id;             /* 5.8 */
	uint32_t dio_mem_align;      /* 6.1 */
	uint32_t dio_offset_align;
	uint64_t subvol;             /* 6.10 */
	uint64_t spare[11];
};
_Static_assert(sizeof(struct k_statx) == 256, "struct statx is 256 bytes");

enum {
	K_STATX_TYPE          = 0x0001,
	K_STATX_MODE          = 0x0002,
	K_STATX_NLINK         = 0x0004,
	K_STATX_MTIME         = 0x0040,
	K_STATX_INO           = 0x0100,
	K_STATX_BASIC         = 0x07ff,
	K_STATX_BTIME         = 0x0800,
	K_STATX_MNT_ID        = 0x1000,  /* 5.8 */
	K_STATX_MNT_ID_UNIQUE = 0x4000,  /* 6.8 */
	K_STATX_SUBVOL        = 0x8000,  /* 6.10 */
	K_STATX_ATTR_COMPRESSED = 0x0004,  /* stx_attributes */
	K_STATX_ATTR_IMMUTABLE  = 0x0010,
	K_STATX_ATTR_APPEND     = 0x0020,
	K_STATX_ATTR_NODUMP     = 0x0040,
	K_STATX_ATTR_AUTOMOUNT  = 0x1000,
	K_STATX_ATTR_MOUNT_ROOT = 0x2000,  /* 5.8 */
};

/* open_tree(2), 5.2 */
#define K_OPEN_TREE_CLONE 1

/** struct open_how, openat2(2). */
struct k_open_how {
	uint64_t flags;
	uint64_t mode;
	uint64_t resolve;
};

enum {
	K_RESOLVE_NO_XDEV       = 0x01,
	K_RESOLVE_NO_MAGICLINKS = 0x02,
	K_RESOLVE_NO_SYMLINKS   = 0x04,
	K_RESOLVE_BENEATH       = 0x08,
	K_RESOLVE_IN_ROOT       = 0x10,
	K_RESOLVE_CACHED        = 0x20,   /* 5.12 */
};

/** The greatest position in a directory: ext4 has no entry after one with this d_off.
    EXT4_HTREE_EOF_64BIT of fs/ext4/ext4.h. */
#define K_LAST_POS INT64_MAX

/** struct linux_dirent64, getdents64(2); the next entry follows after reclen bytes. */
struct k_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

/** struct mnt_id_req. */
struct k_mnt_id_req {
	uint32_t size;        /* K_MNT_ID_REQ_VER0 or _VER1 */
	uint32_t mnt_ns_fd;   /* 6.18 */
	uint64_t mnt_id;
	uint64_t param;       /* statmount: the mask wanted; listmount: the last ID */
	uint64_t mnt_ns_id;   /* 6.11 */
};

enum {
	K_MNT_ID_REQ_VER0 = 24,  /* 6.8 */
	K_MNT_ID_REQ_VER1 = 32,  /* 6.11 */
};

#define K_LSMT_ROOT UINT64_MAX

/** struct statmount: 512 bytes, then the strings. */
struct k_statmount {
	uint32_t size;
	uint32_t mnt_opts;           /* [str] 6.11 */
	uint64_t mask;
	uint32_t sb_dev_major, sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags;
	uint32_t fs_type;            /* [str] */
	uint64_t mnt_id, mnt_parent_id;
	uint32_t mnt_id_old, mnt_parent_id_old;
	uint64_t mnt_attr;
	uint64_t mnt_propagation;
	uint64_t mnt_peer_group;
	uint64_t mnt_master;
	uint64_t propagate_from;
	uint32_t mnt_root;           /* [str] */
	uint32_t mnt_point;          /* [str] */
	uint64_t mnt_ns_id;          /* 6.11 */
	uint32_t fs_subtype;         /* [str] 6.13 */
	uint32_t sb_source;          /* [str] 6.13 */
	uint32_t opt_num, opt_array; /* [str] 6.13 */
	uint32_t opt_sec_num, opt_sec_array;
	uint64_t supported_mask;     /* 6.15 */
	uint32_t mnt_uidmap_num, mnt_uidmap;
	uint32_t mnt_gidmap_num, mnt_gidmap;
	uint64_t spare2[43];
	char str[];
};
_Static_assert(sizeof(struct k_statmount) == 512, "struct statmount is 512 bytes");

enum {
	K_STATMOUNT_SB_BASIC       = 0x0001,  /* 6.8 */
	K_STATMOUNT_MNT_BASIC      = 0x0002,
	K_STATMOUNT_PROPAGATE_FROM = 0x0004,
	K_STATMOUNT_MNT_ROOT       = 0x0008,
	K_STATMOUNT_MNT_POINT      = 0x0010,
	K_STATMOUNT_FS_TYPE        = 0x0020,
	K_STATMOUNT_MNT_OPTS       = 0x0080,
	K_STATMOUNT_FS_SUBTYPE     = 0x0100,  /* 6.13 */
	K_STATMOUNT_SB_SOURCE      = 0x0200,
	K_STATMOUNT_SUPPORTED_MASK = 0x1000,  /* 6.15 */
};

/* mnt_attr: MOUNT_ATTR_*, mount_setattr(2). */
enum {
	K_MOUNT_ATTR_RDONLY      = 0x000001,
	K_MOUNT_ATTR_NOSUID      = 0x000002,
	K_MOUNT_ATTR_NODEV       = 0x000004,
	K_MOUNT_ATTR_NOEXEC      = 0x000008,
	K_MOUNT_ATTR_ATIME       = 0x000070,  /* the mask of the three below */
	K_MOUNT_ATTR_RELATIME    = 0x000000,
	K_MOUNT_ATTR_NOATIME     = 0x000010,
	K_MOUNT_ATTR_NODIRATIME  = 0x000080,
	K_MOUNT_ATTR_IDMAP       = 0x100000,
	K_MOUNT_ATTR_NOSYMFOLLOW = 0x200000,
};

/* sb_flags: MS_*, mount(2). */
enum {
	K_SB_RDONLY      = 0x0000001,
	K_SB_SYNCHRONOUS = 0x0000010,
	K_SB_MANDLOCK    = 0x0000040,
	K_SB_DIRSYNC     = 0x0000080,
	K_SB_LAZYTIME    = 0x2000000,
};

/* fanotify(7) of mounts, 6.15. */
enum {
	K_FAN_REPORT_MNT       = 0x4000,      /* fanotify_init */
	K_FAN_MARK_MNTNS       = 0x0110,      /* fanotify_mark */
	K_FAN_Q_OVERFLOW       = 0x00004000,  /* the mask of an event */
	K_FAN_MNT_ATTACH       = 0x01000000,
	K_FAN_MNT_DETACH       = 0x02000000,
	K_FAN_INFO_TYPE_MNT    = 7,
	K_FAN_METADATA_VERSION = 3,
};

/** struct fanotify_event_metadata, then pieces of information. */
struct k_fanotify_event {
	uint32_t event_len;          /* with all that follows */
	uint8_t vers;
	uint8_t reserved;
	uint16_t metadata_len;
	uint64_t mask;
	int32_t fd;                  /* -1: none of such an event */
	int32_t pid;
};
_Static_assert(sizeof(struct k_fanotify_event) == 24, "fanotify_event_metadata is 24 bytes");

/** struct fanotify_event_info_mnt, after its header. */
struct k_fanotify_mnt {
	uint8_t type;                /* K_FAN_INFO_TYPE_MNT */
	uint8_t pad;
	uint16_t len;
	uint32_t pad2;
	uint64_t mnt_id;             /* the unique ID */
};
_Static_assert(sizeof(struct k_fanotify_mnt) == 16, "fanotify_event_info_mnt is 16 bytes");

/* io_uring(7), 5.1; openat2 by it, 5.6. */
enum {
	K_URING_OP_OPENAT2 = 28,
	K_URING_ENTER_GETEVENTS = 1 << 0,
	K_URING_OFF_SQ_RING = 0,
	K_URING_OFF_SQES = 0x10000000,
	K_URING_REGISTER_IOWQ_MAX_WORKERS = 19,   /* 5.15 */
};

enum k_uring_features {
	K_URING_FEAT_SINGLE_MMAP = 1 << 0,
	K_URING_FEAT_NODROP = 1 << 1,
};

/** struct io_uring_sqe, as a request of openat2 has it. */
struct k_uring_sqe {
	uint8_t opcode, flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off;                /* struct open_how */
	uint64_t addr;               /* the path */
	uint32_t len;                /* the size of that */
	uint32_t op_flags;
	uint64_t user_data;
	uint64_t rest[3];
};
_Static_assert(sizeof(struct k_uring_sqe) == 64, "io_uring_sqe is 64 bytes");

struct k_uring_cqe {
	uint64_t user_data;
	int32_t res;
	uint32_t flags;
};
_Static_assert(sizeof(struct k_uring_cqe) == 16, "io_uring_cqe is 16 bytes");

struct k_uring_params {
	uint32_t sq_entries, cq_entries, flags, sq_thread_cpu, sq_thread_idle, features, wq_fd;
	uint32_t resv[3];
	struct {
		uint32_t head, tail, ring_mask, ring_entries, flags, dropped, array, resv1;
		uint64_t user_addr;
	} sq_off;
	struct {
		uint32_t head, tail, ring_mask, ring_entries, overflow, cqes, flags, resv1;
		uint64_t user_addr;
	} cq_off;
};
_Static_assert(sizeof(struct k_uring_params) == 120, "io_uring_params is 120 bytes");

/* Inodes in bulk.  XFS: fs/xfs/libxfs/xfs_fs.h, 5.3; btrfs: uapi/linux/btrfs.h
   and btrfs_tree.h, 3.16. */
#define K_XFS_IOC_BULKSTAT         0x8040587fu   /* _IOR('X', 127, 64 bytes) */
#define K_BTRFS_IOC_TREE_SEARCH_V2 0xc0709411u   /* _IOWR(0x94, 17, 112 bytes) */
enum {
	K_XFS_SUPER_MAGIC   = 0x58465342,
	K_XFS_XFLAG_PREALLOC  = 0x00000002,
	K_XFS_XFLAG_IMMUTABLE = 0x00000008,
	K_XFS_XFLAG_APPEND    = 0x00000010,
	K_XFS_XFLAG_SYNC      = 0x00000020,
	K_XFS_XFLAG_NOATIME   = 0x00000040,
	K_XFS_XFLAG_NODUMP    = 0x00000080,
	K_XFS_XFLAG_HASATTR   = (int)0x80000000,
	K_BTRFS_INODE_ITEM = 1,
};
#define K_BTRFS_SUPER_MAGIC 0x9123683eu

/* Flags of a struct k_btrfs_inode; the upper half is that of read-only features. */
enum {
	K_BTRFS_INODE_IMMUTABLE = 1 << 6,
	K_BTRFS_INODE_APPEND    = 1 << 7,
	K_BTRFS_INODE_NODUMP    = 1 << 8,
	K_BTRFS_INODE_COMPRESS  = 1 << 11,
};

/** struct xfs_bulk_ireq; the results follow. */
struct k_xfs_bulk_ireq {
	uint64_t ino;                /* the first inode; [out] where to continue */
	uint32_t flags;
	uint32_t icount, ocount;     /* room for results; [out] their number */
	uint32_t agno;
	uint64_t reserved[5];
};
_Static_assert(sizeof(struct k_xfs_bulk_ireq) == 64, "xfs_bulk_ireq is 64 bytes");

/** struct xfs_bulkstat. */
struct k_xfs_bulkstat {
	uint64_t ino, size, blocks, xflags;
	int64_t atime, mtime, ctime, btime;
	uint32_t gen, uid, gid, projectid;
	uint32_t atime_nsec, mtime_nsec, ctime_nsec, btime_nsec;
	uint32_t blksize;            /* of the file system: what blocks are counted in */
	uint32_t rdev, cowextsize, extsize, nlink, extents, aextents;
	uint16_t version, forkoff, sick, checked, mode, pad2;
	uint64_t extents64, pad[6];
};
_Static_assert(sizeof(struct k_xfs_bulkstat) == 192, "xfs_bulkstat is 192 bytes");

/** struct btrfs_ioctl_search_args_v2; the results follow. */
struct k_btrfs_search {
	uint64_t tree_id;            /* 0: the subvolume of the descriptor */
	uint64_t min_objectid, max_objectid, min_offset, max_offset, min_transid, max_transid;
	uint32_t min_type, max_type;
	uint32_t nr_items;           /* most results; [out] their number */
	uint32_t unused;
	uint64_t unused1[4];
	uint64_t buf_size;
};
_Static_assert(sizeof(struct k_btrfs_search) == 112, "btrfs_ioctl_search_args_v2 is 112 bytes");

/** struct btrfs_ioctl_search_header; then the item, at any address. */
struct k_btrfs_head {
	uint64_t transid, objectid, offset;
	uint32_t type, len;
};
_Static_assert(sizeof(struct k_btrfs_head) == 32, "btrfs_ioctl_search_header is 32 bytes");

/** struct btrfs_timespec, little-endian, as all of an item. */
struct k_btrfs_time {
	uint64_t sec;
	uint32_t nsec;
} __attribute__((packed));

/** struct btrfs_inode_item. */
struct k_btrfs_inode {
	uint64_t generation, transid, size, nbytes, block_group;
	uint32_t nlink, uid, gid, mode;
	uint64_t rdev, flags, sequence, reserved[4];
	struct k_btrfs_time atime, ctime, mtime, otime;
} __attribute__((packed));
_Static_assert(sizeof(struct k_btrfs_inode) == 160, "btrfs_inode_item is 160 bytes");

/* mnt_propagation: MS_*, mount(2). */
enum {
	K_MS_UNBINDABLE = 1 << 17,
	K_MS_PRIVATE    = 1 << 18,
	K_MS_SLAVE      = 1 << 19,
	K_MS_SHARED     = 1 << 20,
};

#endif
