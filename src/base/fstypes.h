/* SPDX-License-Identifier: MIT */
/**
 * Properties of file system types: one row for each type.
 */
#ifndef GM_BASE_FSTYPES_H
#define GM_BASE_FSTYPES_H

#include <stdbool.h>

enum fstype_flags {
	FST_KNOWN   = 1 << 0,  /* in the table */
	FST_PSEUDO  = 1 << 1,  /* contains no user files: findmnt --pseudo */
	FST_BLOCKS  = 1 << 2,  /* system calls on it can block */
	FST_NO_LOOK = 1 << 3,  /* even stat of its root can block: NFS, 9p */
	FST_NET     = 1 << 4,  /* accessed over a network */
	FST_NLINK   = 1 << 5,  /* a directory without subdirectories has link count 2 */
	FST_LAYERED = 1 << 6,  /* composed of other mounts: overlay */
	FST_SUBVOL  = 1 << 7,  /* has boundaries within a mount: btrfs subvolumes */
	FST_AUTOFS  = 1 << 8,  /* an automount trigger */
	FST_DEVICE  = 1 << 9,  /* on a block device */
	FST_LAST    = 1 << 10, /* pseudo, and mounts are rarely below it: searched last */
	FST_FSCK    = 1 << 11, /* fsck.TYPE checks it at boot */
	FST_READONLY = 1 << 12, /* cannot be written to */
	FST_LAST_POS = 1 << 13, /* no directory entry has a position beyond K_LAST_POS */
	FST_OPT_DEVICES = 1 << 14, /* its options can name further devices: XFS */
	FST_JOURNAL = 1 << 15, /* its journal may be on another device: ext4 */
	FST_UNLISTED = 1 << 16, /* a look-up can find a name that its directory does not list: in
	                           another case, or a thread in /proc */
};

/** The properties of a type.
    @fstype  As the kernel reports it; a ".subtype" is ignored.  NULL: unknown.
    @return enum fstype_flags.  An unknown type has only FST_BLOCKS. */
unsigned fstype_flags(const char *fstype);

/** Whether system calls on a type can block; true if it is unknown.  A mount can block for other
    reasons too: ask mounts/mounts.h. */
bool fstype_blocks(const char *fstype);

/** Whether reading a directory, or a lookup in it, locks the memory map of a process:
    /proc/PID/map_files.  A process that waits for a page from a dead server holds that lock.
    @name  The last component of the directory's path. */
bool fstype_dir_waits(const char *fstype, const char *name);

/** The properties of the type in an fstab line; the source distinguishes two types of the same
    name.
    @source  Decoded; NULL: unknown.
    @return as fstype_flags(). */
unsigned fstype_line_flags(const char *fstype, const char *source);

#endif
