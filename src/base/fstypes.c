/* SPDX-License-Identifier: MIT */
#include "base/fstypes.h"

#include <stdlib.h>
#include <string.h>

/*
 * Sorted by name (tested).  FST_NLINK: a test proves that a directory's link count is 2 + the
 * number of its subdirectories.  FST_PSEUDO: mnt_fstype_is_pseudofs() of libmount.  FST_FSCK: not
 * for fsck.xfs and fsck.btrfs, which do nothing.  FST_LAST_POS: K_LAST_POS is EXT4_HTREE_EOF_64BIT
 * of fs/ext4/ext4.h; hashes of names (fs/ext4/hash.c) and offsets in directories without hashes are
 * smaller.
 */
enum {
	DISK   = FST_DEVICE,
	PSEUDO = FST_PSEUDO | FST_LAST,
	NET    = FST_NET | FST_BLOCKS,
	FUSE   = FST_BLOCKS | FST_UNLISTED,
	EXT    = DISK | FST_NLINK | FST_FSCK | FST_LAST_POS | FST_JOURNAL,
};

static const struct fstype_row {
	const char *name;
	unsigned flags;
} fstype_rows[] = {
	{"9p", NET | FST_NO_LOOK | FST_UNLISTED},
	{"acfs", NET},
	{"afs", NET},
	{"aufs", FST_BLOCKS | FST_LAYERED},
	{"autofs", PSEUDO | FST_BLOCKS | FST_AUTOFS},
	{"bcachefs", DISK | FST_SUBVOL},
	{"bdev", PSEUDO},
	{"befs", DISK},
	{"bfs", DISK},
	{"binder", PSEUDO},
	{"binfmt_misc", PSEUDO},
	{"bpf", PSEUDO},
	{"btrfs", DISK | FST_SUBVOL},
	{"ceph", NET},
	{"cgroup", PSEUDO},
	{"cgroup2", PSEUDO},
	{"cifs", NET | FST_NO_LOOK | FST_UNLISTED},
	{"coda", NET},
	{"configfs", PSEUDO},
	{"cpuset", PSEUDO},
	{"cramfs", DISK | FST_FSCK | FST_READONLY},
	{"dax", PSEUDO},
	{"debugfs", PSEUDO},
	{"devfs", PSEUDO},
	{"devpts", PSEUDO},
	{"devtmpfs", FST_PSEUDO},
	{"dlmfs", PSEUDO},
	{"drm", PSEUDO},
	{"efivarfs", PSEUDO},
	{"efs", DISK | FST_READONLY},
	{"erofs", DISK | FST_READONLY},
	{"exfat", DISK | FST_FSCK | FST_UNLISTED},
	{"ext2", EXT},
	{"ext3", EXT},
	{"ext4", EXT},
	{"f2fs", DISK | FST_FSCK},
	{"fuse", FUSE},
	{"fuseblk", FUSE},
	{"fusectl", PSEUDO},
	{"gfs2", NET | DISK},
	{"gpfs", NET},
	{"hfs", DISK | FST_UNLISTED},
	{"hfsplus", DISK | FST_FSCK | FST_UNLISTED},
	{"hpfs", DISK | FST_UNLISTED},
	{"hugetlbfs", PSEUDO},
	{"ipathfs", PSEUDO},
	{"iso9660", DISK | FST_READONLY | FST_UNLISTED},
	{"jffs2", 0},
	{"jfs", DISK | FST_FSCK},
	{"lustre", NET | FST_NO_LOOK},
	{"minix", DISK | FST_FSCK},
	{"mqueue", PSEUDO},
	{"msdos", DISK | FST_FSCK | FST_UNLISTED},
	{"ncpfs", NET | FST_UNLISTED},
	{"nfs", NET | FST_NO_LOOK},
	{"nfs4", NET | FST_NO_LOOK},
	{"nfsd", PSEUDO},
	{"nilfs2", DISK},
	{"nsfs", PSEUDO},
	{"ntfs", DISK | FST_UNLISTED},
	{"ntfs3", DISK | FST_UNLISTED},
	{"ocfs2", NET | DISK},
	{"omfs", DISK},
	{"orangefs", NET | FST_NO_LOOK},
	{"overlay", FST_LAYERED},
	{"pipefs", PSEUDO},
	{"proc", PSEUDO | FST_UNLISTED},
	{"pstore", PSEUDO},
	{"qnx4", DISK},
	{"qnx6", DISK},
	{"ramfs", FST_PSEUDO},
	{"reiserfs", DISK | FST_FSCK},
	{"resctrl", PSEUDO},
	{"romfs", DISK | FST_READONLY},
	{"rootfs", FST_PSEUDO},
	{"rpc_pipefs", PSEUDO},
	{"securityfs", PSEUDO},
	{"selinuxfs", PSEUDO},
	{"smackfs", PSEUDO},
	{"smb3", NET | FST_NO_LOOK | FST_UNLISTED},
	{"smbfs", NET | FST_NO_LOOK | FST_UNLISTED},
	{"sockfs", PSEUDO},
	{"spufs", PSEUDO},
	{"squashfs", DISK | FST_READONLY},
	{"sysfs", PSEUDO},
	{"sysv", DISK},
	{"tmpfs", FST_PSEUDO | FST_NLINK},
	{"tracefs", PSEUDO},
	{"ubifs", 0},
	{"udf", DISK},
	{"ufs", DISK},
	{"vboxsf", NET | FST_UNLISTED},
	{"vfat", DISK | FST_FSCK | FST_UNLISTED},
	{"virtiofs", FUSE},
	{"vxfs", DISK},
	{"xenfs", PSEUDO},
	{"xfs", DISK | FST_NLINK | FST_OPT_DEVICES},
	{"zfs", FST_BLOCKS},
	{"zonefs", DISK},
};

/** Compare a type without its ".subtype" to a row, for bsearch(3). */
static int fstype_compare(const void *key, const void *row)
{
	const unsigned char *fstype = key;
	const unsigned char *name = (const unsigned char *)((const struct fstype_row *)row)->name;
	for (; *name && *fstype == *name; ++fstype)
		++name;
	return (*fstype == '.' ? '\0' : *fstype) - *name;
}

unsigned fstype_line_flags(const char *fstype, const char *source)
{
	/* Amazon's mount.efs has the source fs-ID:/PATH, the kernel's efs (of SGI) a device. */
	bool network = fstype && source && strcmp(fstype, "efs") == 0 && *source != '/'
	               && !strchr(source, '=');
	return network ? NET | FST_NO_LOOK | FST_KNOWN : fstype_flags(fstype);
}

unsigned fstype_flags(const char *fstype)
{
	const struct fstype_row *row = NULL;
	if (fstype)
		row = bsearch(fstype, fstype_rows, sizeof(fstype_rows) / sizeof(*fstype_rows),
		              sizeof(*fstype_rows), fstype_compare);
	return row ? row->flags | FST_KNOWN : FST_BLOCKS;
}

bool fstype_blocks(const char *fstype)
{
	return fstype_flags(fstype) & FST_BLOCKS;
}

bool fstype_dir_waits(const char *fstype, const char *name)
{
	return fstype && strcmp(fstype, "proc") == 0 && strcmp(name, "map_files") == 0;
}
