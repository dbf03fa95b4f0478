/* SPDX-License-Identifier: MIT */
/**
 * Where indexes are, and which file systems have one.
 *
 * An index is of a directory of a file system, usually its root, and so independent of where and
 * how often the file system is mounted.  It is in a directory named by the UUID of the file system;
 * if another directory than "/" is its root (a btrfs subvolume, a bind mount of a file system that
 * is not mounted elsewhere), by the UUID, "." and a hash of that path.
 */
#ifndef GM_INDEX_STORE_PLACE_H
#define GM_INDEX_STORE_PLACE_H

#include "base/mount.h"
#include "index/store/store.h"
#include "os/os.h"

/** Open the directory that holds all indexes: /var/lib/getmnt/index for root, else
    XDG_CACHE_HOME/getmnt/index or ~/.cache/getmnt/index.
    @given  Of --index-dir; NULL: not given.
    @create  Make it, mode 0700, if it does not exist.
    @path [out]  Its path, for messages; initialized by the caller.
    @return a descriptor, or -1.  Errors: those of path_open_dir_named(). */
int index_place_open(struct os *os, const char *given, bool create, struct strbuf *path);

/** Get what names a file system in an index: its UUID by ioctl FS_IOC_GETFSUUID (6.9), else the
    given one, else "fsid-" and the number of statfs(2), unless that is only the device number: it
    can change at boot.
    @fd  The root directory of the mount; O_PATH is not enough.  -1: none.
    @known  Its UUID by devmap_mount_tags(); NULL: unknown.
    @uuid [out]  Letters, digits, '-' and '_'; "": nothing that lasts names it. */
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
	PLACE_NAMELESS,          /* nothing that lasts names its file system */
	PLACE_TWIN,              /* another mounted file system has the same UUID: a copy */
	PLACE_UNKNOWN,           /* an unknown type of file system */
};

/** A mount, and whether it gets an index. */
struct place {
	const struct mount *mount;
	/* What the table does not say: */
	bool hidden, blocks, removable, file;
	bool snapshot;           /* a read-only subvolume of btrfs */
	const char *uuid;        /* of index_place_uuid(); NULL: unknown */
	enum place_why why;      /* [out] */
	size_t of;               /* [out] with PLACE_SAME, PLACE_LAYERS and PLACE_TWIN the place of
	                            the other mount */
};

/** What becomes of each mount when `getmnt index build` names none (pure). */
void index_choose(struct place *places, size_t n);

/** After index_choose(), leave out mounts whose file systems could be taken for others, by the
    UUIDs of the places (pure).  @return 0, or -1 (ENOMEM). */
int index_choose_named(struct place *places, size_t n);

/** What to do about PLACE_TWIN. */
#define INDEX_TWIN_REMEDY \
	"unmount one of them, or change its UUID (tune2fs -U, xfs_admin -U, btrfstune -u)"

/** A phrase for a reason: "a network file system"; NULL for PLACE_INDEX. */
const char *index_why(enum place_why why);

/** The name of the directory of an index.  @uuid  "" is not allowed.  @out  Appended. */
void index_place_name(const char *uuid, const char *root, struct strbuf *out);

#endif
