/* SPDX-License-Identifier: MIT */
/**
 * Where indexes are, and which file systems have one.
 *
 * An index is of a directory of a file system, usually its root, and so independent of where and
 * how often the file system is mounted.  It is in a directory named by the UUID of the file system;
 * if another directory than "/" is its root (a btrfs subvolume, a bind mount of a file system that
 * is not mounted elsewhere), by the UUID, "." and a hash of that path.
 */
#ifndef GM_INDEX_PLACE_H
#define GM_INDEX_PLACE_H

#include "base/mount.h"
#include "index/store.h"
#include "os/os.h"

/** Open the directory that holds all indexes: /var/lib/getmnt/index for root, else
    XDG_CACHE_HOME/getmnt/index or ~/.cache/getmnt/index.
    @given  Of --index-dir; NULL: not given.
    @create  Make it, mode 0700, if it does not exist.
    @path [out]  Its path, for messages; initialized by the caller.
    @return a descriptor, or -1. */
int index_place_open(struct os *os, const char *given, bool create, struct strbuf *path);

/** Get what names a file system in an index: its UUID by ioctl FS_IOC_GETFSUUID (6.9), else the
    given one, else "dev-MAJOR:MINOR", which may be another one after the next boot.
    @fd  Any object of the file system; O_PATH is not enough.  -1: none.
    @known  Its UUID by devmap_mount_tags(); NULL: unknown.
    @uuid [out]  Letters, digits, '-', ':' and '_'. */
enum { INDEX_UUID = 64 };
void index_place_uuid(struct os *os, int fd, const struct mount *mount, const char *known,
                      char uuid[INDEX_UUID]);

enum place_why {
	PLACE_INDEX,             /* gets an index */
	PLACE_SAME,              /* a file system, or part of one, that another mount indexes */
	PLACE_PSEUDO, PLACE_NETWORK, PLACE_FUSE, PLACE_REMOVABLE, PLACE_SNAPSHOT,
	PLACE_MEMORY,            /* tmpfs: gone with the next boot */
	PLACE_HIDDEN,            /* not reachable by its path */
	PLACE_FILE,              /* the mount of a single file */
	PLACE_LAYERS,            /* an overlay: its files are on another indexed file system */
	PLACE_BLOCKS,            /* calls can block: a suspended or remote device ... */
	PLACE_UNKNOWN,           /* an unknown type of file system */
};

/** A mount, and whether it gets an index. */
struct place {
	const struct mount *mount;
	/* What the table does not say: */
	bool hidden, blocks, removable, file;
	bool snapshot;           /* a read-only subvolume of btrfs */
	enum place_why why;      /* [out] */
	size_t of;               /* [out] with PLACE_SAME and PLACE_LAYERS the place of the other
	                            mount */
};

/** What becomes of each mount when `getmnt index build` names none (pure). */
void index_choose(struct place *places, size_t n);

/** A phrase for a reason: "a network file system"; NULL for PLACE_INDEX. */
const char *index_why(enum place_why why);

/** The name of the directory of an index.  @uuid  "" is not allowed.  @out  Appended. */
void index_place_name(const char *uuid, const char *root, struct strbuf *out);

#endif
