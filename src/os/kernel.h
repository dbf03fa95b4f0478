/* SPDX-License-Identifier: MIT */
/**
 * Structures and constants that the headers of Linux 6.1 (Debian 12) lack, with the prefix k_.
 *
 * Values are from include/uapi/linux/{mount,stat,fanotify}.h; each group names the first release.
 */
#ifndef GM_OS_KERNEL_H
#define GM_OS_KERNEL_H

#include <linux/fanotify.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_statmount
#define SYS_statmount 457   /* 6.8 */
#define SYS_listmount 458
#endif
#ifndef SYS_listxattrat
#define SYS_listxattrat 465   /* 6.13 */
#endif

/** struct statx_timestamp. */
struct k_statx_time {
	int64_t sec;
	uint32_t nsec;
	int32_t pad;
};

/** The complete struct statx (256 bytes). */
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
	uint64_t spare[9];
	uint64_t fs_ids[2];          /* not of the kernel: see os_fs_ids() */
};
_Static_assert(sizeof(struct k_statx) == 256, "struct statx is 256 bytes");

enum {
	K_STATX_TYPE          = 0x0001,
	K_STATX_MODE          = 0x0002,
	K_STATX_NLINK         = 0x0004,
	K_STATX_UID           = 0x0008,
	K_STATX_GID           = 0x0010,
	K_STATX_ATIME         = 0x0020,
	K_STATX_MTIME         = 0x0040,
	K_STATX_CTIME         = 0x0080,
	K_STATX_INO           = 0x0100,
	K_STATX_SIZE          = 0x0200,
	K_STATX_BLOCKS        = 0x0400,
	K_STATX_BASIC         = 0x07ff,
	K_STATX_BTIME         = 0x0800,
	K_STATX_MNT_ID        = 0x1000,  /* 5.8 */
	K_STATX_MNT_ID_UNIQUE = 0x4000,  /* 6.8 */
	K_STATX_SUBVOL        = 0x8000,  /* 6.10 */
	K_STATX_ATTR_COMPRESSED = 0x0004,  /* stx_attributes */
	K_STATX_ATTR_IMMUTABLE  = 0x0010,
	K_STATX_ATTR_APPEND     = 0x0020,
	K_STATX_ATTR_NODUMP     = 0x0040,
	K_STATX_ATTR_ENCRYPTED  = 0x0800,
	K_STATX_ATTR_AUTOMOUNT  = 0x1000,
	K_STATX_ATTR_MOUNT_ROOT = 0x2000,  /* 5.8 */
	K_STATX_ATTR_VERITY     = 0x100000,  /* 5.5 */
	K_STATX_ATTR_DAX        = 0x200000,  /* 5.8 */
};

/** The last position in a directory: on ext4 no entry follows one with this
    d_off.  EXT4_HTREE_EOF_64BIT of fs/ext4/ext4.h. */
#define K_LAST_POS INT64_MAX

/** struct linux_dirent64 of getdents64(2); the next entry starts reclen bytes later. */
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
	uint64_t param;       /* statmount: the requested mask; listmount: the last ID */
	uint64_t mnt_ns_id;   /* 6.11 */
};

enum {
	K_MNT_ID_REQ_VER0 = 24,  /* 6.8 */
	K_MNT_ID_REQ_VER1 = 32,  /* 6.11 */
};

#define K_LSMT_ROOT UINT64_MAX

/** struct statmount (512 bytes); the strings follow. */
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

/* fanotify(7) events for mounts, 6.15. */
enum {
	K_FAN_REPORT_MNT       = 0x4000,      /* fanotify_init */
	K_FAN_MARK_MNTNS       = 0x0110,      /* fanotify_mark */
	K_FAN_MNT_ATTACH       = 0x01000000,
	K_FAN_MNT_DETACH       = 0x02000000,
	K_FAN_INFO_TYPE_MNT    = 7,
};

/** struct fanotify_event_info_mnt, after its header. */
struct k_fanotify_mnt {
	uint8_t type;                /* K_FAN_INFO_TYPE_MNT */
	uint8_t pad;
	uint16_t len;
	uint32_t pad2;
	uint64_t mnt_id;             /* the unique ID */
};
_Static_assert(sizeof(struct k_fanotify_mnt) == 16, "fanotify_event_info_mnt is 16 bytes");

/** struct fsuuid2 of FS_IOC_GETFSUUID, 6.9. */
#define K_FS_IOC_GETFSUUID 0x80111500u   /* _IOR(0x15, 0, 17 bytes) */
struct k_fsuuid2 {
	uint8_t len;
	uint8_t uuid[16];
};

/* Bulk reading of XFS inodes, 5.3: fs/xfs/libxfs/xfs_fs.h. */
#define K_XFS_IOC_BULKSTAT 0x8040587fu   /* _IOR('X', 127, 64 bytes) */

/** XFS_IOC_FSGEOMETRY: the UUID, also before 6.9; the allocation groups. */
struct k_xfs_geometry {
	uint32_t blocksize, rtextsize, agblocks, agcount, logblocks, sectsize, inodesize, imaxpct;
	uint64_t numbers[4];
	uint8_t uuid[16];
	uint64_t more[4];
};
#define K_XFS_IOC_FSGEOMETRY 0x80705864u   /* _IOR('X', 100, 112 bytes) */

/** struct fsuuid of EXT4_IOC_GETFSUUID, 6.0, with room for a UUID. */
struct k_ext4_uuid {
	uint32_t len, flags;         /* len: room; [out] bytes of the UUID */
	uint8_t uuid[16];
};
#define K_EXT4_IOC_GETFSUUID 0x8008662cu   /* _IOR('f', 44, 8 bytes) */

/* Flags of struct btrfs_inode_item (in a kernel header since 6.2). */
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
	uint32_t blksize;            /* the file system's block size, the unit of blocks */
	uint32_t rdev, cowextsize, extsize, nlink, extents, aextents;
	uint16_t version, forkoff, sick, checked, mode, pad2;
	uint64_t extents64, pad[6];
};
_Static_assert(sizeof(struct k_xfs_bulkstat) == 192, "xfs_bulkstat is 192 bytes");

#endif
