/* SPDX-License-Identifier: MIT */
/**
 * The record of one mount: read by mounts/, linked into a tree by mounttree, named by discover,
 * printed by cmd/.
 *
 * Strings are decoded (no octal escapes) unless a field says otherwise, and are owned by the
 * record's table.  A string that the source lacks is NULL, never "".
 */
#ifndef GM_BASE_MOUNT_H
#define GM_BASE_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Groups of fields: requested from a table, and reported as filled. */
enum mount_fields {
	MF_IDS         = 1 << 0,  /* key, parent_key, id, parent_id: always filled */
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

/** Propagation types; mount_namespaces(7). */
enum mount_propagation {
	MP_PRIVATE    = 0,
	MP_SHARED     = 1 << 0,
	MP_SLAVE      = 1 << 1,
	MP_UNBINDABLE = 1 << 2,
};

struct mount {
	/* The key in this table: the 64-bit unique ID (statmount mnt_id) if the source provides it,
	   otherwise id.  Never 0. */
	uint64_t key;
	uint64_t parent_key;     /* statmount mnt_parent_id; otherwise parent_id */
	uint64_t uniq_id;        /* the 64-bit ID, 0 if unknown */
	uint32_t id;             /* mountinfo (1); statmount mnt_id_old */
	uint32_t parent_id;      /* mountinfo (2); statmount mnt_parent_id_old */

	uint32_t dev_major;      /* mountinfo (3); statmount sb_dev_major */
	uint32_t dev_minor;
	const char *root;        /* mountinfo (4); STATMOUNT_MNT_ROOT */
	const char *point;       /* mountinfo (5); STATMOUNT_MNT_POINT; relative to the root of
	                            the process that read the table */
	const char *vfs_opts;    /* mountinfo (6); from statmount mnt_attr */
	const char *opt_fields;  /* mountinfo (7) "shared:1 master:2", NULL if empty */
	const char *fstype;      /* mountinfo (9), with ".subtype"; STATMOUNT_FS_TYPE */
	const char *source;      /* mountinfo (10); STATMOUNT_SB_SOURCE */
	const char *fs_opts;     /* mountinfo (11); from sb_flags and MNT_OPTS.  Escaped: a
	                            decoded ',' would look like a separator */

	uint32_t propagation;    /* enum mount_propagation */
	uint64_t peer_group;     /* 0 if not shared */
	uint64_t master;         /* 0 if not a slave */
	uint64_t propagate_from; /* 0 if none or unknown */

	/* Only in tables read from fstab or mtab. */
	int freq, passno;        /* -1: missing in the line */
	uint32_t line;           /* line number, from 1; 0 if none */
};

/** The device number as one comparable value. */
static inline uint64_t mount_dev(const struct mount *m)
{
	return (uint64_t)m->dev_major << 32 | m->dev_minor;
}

/** The directory of its file system that a mount shows. */
static inline const char *mount_root(const struct mount *m)
{
	return m->root ? m->root : "/";
}

/** Whether two mounts show the same directory of one file system. */
static inline bool mount_shows_same(const struct mount *a, const struct mount *b)
{
	return mount_dev(a) == mount_dev(b) && strcmp(mount_root(a), mount_root(b)) == 0;
}

#endif
