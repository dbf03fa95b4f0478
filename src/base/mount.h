/* SPDX-License-Identifier: MIT */
/**
 * One mount, as every layer of getmnt knows it.
 *
 * A plain record without behaviour: filled by table/, joined into a tree by
 * mounttree, named by discover, printed by cmd/.  All strings are decoded
 * bytes (no octal escapes) unless a field says otherwise, end in a NUL, and
 * belong to the table that the record stands in.  A string that the source
 * did not give is NULL, never "".
 */
#ifndef GM_BASE_MOUNT_H
#define GM_BASE_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Groups of fields.  A table is asked for some, and says which it filled. */
enum mount_fields {
	MF_IDS         = 1 << 0,  /* key, parent_key, id, parent_id: always there */
	MF_DEV         = 1 << 1,  /* dev_major, dev_minor, sb_flags */
	MF_ROOT        = 1 << 2,  /* root */
	MF_POINT       = 1 << 3,  /* point */
	MF_FSTYPE      = 1 << 4,  /* fstype */
	MF_SOURCE      = 1 << 5,  /* source */
	MF_VFS_OPTS    = 1 << 6,  /* vfs_opts */
	MF_FS_OPTS     = 1 << 7,  /* fs_opts */
	MF_PROPAGATION = 1 << 8,  /* propagation, peer_group, master, from, opt_fields */
	MF_ALL         = (1 << 9) - 1,
};

/** How a mount takes part in propagation; mount_namespaces(7). */
enum mount_propagation {
	MP_PRIVATE    = 0,
	MP_SHARED     = 1 << 0,
	MP_SLAVE      = 1 << 1,
	MP_UNBINDABLE = 1 << 2,
};

struct mount {
	/* Identity in this table: the 64-bit unique ID (statmount mnt_id) where
	   the source has it, else the same as id.  Never 0. */
	uint64_t key;
	uint64_t parent_key;     /* statmount mnt_parent_id; else parent_id */
	uint64_t uniq_id;        /* the 64-bit ID, 0 where it is not known */
	uint32_t id;             /* mountinfo (1); statmount mnt_id_old */
	uint32_t parent_id;      /* mountinfo (2); statmount mnt_parent_id_old */

	uint32_t dev_major;      /* mountinfo (3); statmount sb_dev_major */
	uint32_t dev_minor;
	const char *root;        /* mountinfo (4); STATMOUNT_MNT_ROOT */
	const char *point;       /* mountinfo (5); STATMOUNT_MNT_POINT; relative to
	                            the root of the process that read the table */
	const char *vfs_opts;    /* mountinfo (6); from statmount mnt_attr */
	const char *opt_fields;  /* mountinfo (7) "shared:1 master:2", NULL if none */
	const char *fstype;      /* mountinfo (9), with ".subtype"; STATMOUNT_FS_TYPE */
	const char *source;      /* mountinfo (10); STATMOUNT_SB_SOURCE */
	const char *fs_opts;     /* mountinfo (11); from sb_flags and MNT_OPTS.  Kept
	                            escaped as the kernel gave it, since a decoded
	                            ',' could not be told from a separator */

	uint32_t propagation;    /* enum mount_propagation */
	uint64_t peer_group;     /* 0 if not shared */
	uint64_t master;         /* 0 if not a slave */
	uint64_t propagate_from; /* 0 if none, or not known */

	/* Only in tables read from fstab or mtab. */
	int freq, passno;        /* -1 where the line did not give them */
	uint32_t line;           /* line number in the file, from 1; 0 if none */
};

/** The device number as one comparable value. */
static inline uint64_t mount_dev(const struct mount *m)
{
	return (uint64_t)m->dev_major << 32 | m->dev_minor;
}

#endif
