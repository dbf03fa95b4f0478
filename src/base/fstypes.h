/* SPDX-License-Identifier: MIT */
/**
 * What is known of file system types: the one table that every rule about a
 * type reads.  A type is a row of it.
 */
#ifndef GM_BASE_FSTYPES_H
#define GM_BASE_FSTYPES_H

#include <stdbool.h>

enum fstype_flags {
	FST_KNOWN   = 1 << 0,  /* stands in the table */
	FST_PSEUDO  = 1 << 1,  /* holds no user's files: findmnt --pseudo */
	FST_BLOCKS  = 1 << 2,  /* touching it can block (design 2.3) */
	FST_NO_LOOK = 1 << 3,  /* not even its root may be looked at: NFS, 9p */
	FST_NET     = 1 << 4,  /* reached over a network */
	FST_NLINK   = 1 << 5,  /* a directory without sub-directories has nlink 2 */
	FST_LAYERED = 1 << 6,  /* stands on other mounts: overlay */
	FST_SUBVOL  = 1 << 7,  /* holds boundaries that are no mounts: btrfs */
	FST_AUTOFS  = 1 << 8,  /* an automounter's trigger */
	FST_DEVICE  = 1 << 9,  /* stands on a block device */
	FST_LAST    = 1 << 10, /* pseudo, and no usual place for mounts: searched last */
	FST_FSCK    = 1 << 11, /* fsck.TYPE does something that a boot needs */
	FST_READONLY = 1 << 12, /* cannot be written to */
	FST_LAST_POS = 1 << 13, /* a directory ends at position K_LAST_POS, if it comes so far */
};

/**
 * What is known of a type.
 *
 * @fstype
 *         As the kernel gives it, a ".subtype" being ignored; NULL is unknown.
 * @return
 *         enum fstype_flags.  A type that is not known has FST_BLOCKS alone:
 *         nothing may be assumed of it.
 */
unsigned fstype_flags(const char *fstype);

/**
 * Whether reading a directory, or a look-up in it, waits for the memory map of a process:
 * /proc/PID/map_files.  The map is locked for as long as the process likes, which may have
 * a file of a server that never answers mapped.
 *
 * @name
 *         The last name of its path.
 */
bool fstype_dir_waits(const char *fstype, const char *name);

/**
 * What is known of the type of a line, which the source may tell from another of its name.
 *
 * @source
 *         Decoded; NULL is unknown.
 * @return
 *         As fstype_flags().
 */
unsigned fstype_line_flags(const char *fstype, const char *source);

#endif
