/* SPDX-License-Identifier: MIT */
/**
 * Where indexes are stored, and which file systems get one.
 *
 * An index is of a directory of a file system, usually its root directory.  So the index does not
 * depend on where and how often the file system is mounted.  The directory of the index is named by
 * the UUID of the file system.  If the index is not of the root directory "/" of the file system (a
 * btrfs subvolume; a bind mount of a file system whose root directory is not mounted), "." and a
 * hash of the path of the indexed directory are appended to the UUID.
 */
#ifndef GM_INDEX_STORE_PLACE_H
#define GM_INDEX_STORE_PLACE_H

#include "base/mount.h"
#include "index/store/store.h"
#include "os/os.h"

/** Open the directory that contains all indexes: /var/lib/getmnt/index for root; for other users
    XDG_CACHE_HOME/getmnt/index or ~/.cache/getmnt/index.
    @given  The argument of --index-dir; NULL: not given.
    @create  Create the directory, with mode 0700, if it does not exist.
    @path [out]  The path is appended, for messages.
    @return a descriptor, or -1.  Errors: those of path_open_dir_named(). */
int index_place_open(struct os *os, const char *given, bool create, struct strbuf *path);

/** Get the ID of a file system for its index: the UUID from ioctl FS_IOC_GETFSUUID (Linux 6.9);
    else `known`; else "fsid-" and the f_fsid of statfs(2), unless this is only the device number,
    which can change at boot.
    @fd  The root directory of the mount, not opened by O_PATH; -1: not open.
    @known  The UUID of the file system from devmap_mount_tags(); NULL: unknown.
    @uuid [out]  Letters, digits, '-' and '_'; "": the file system has no permanent ID. */
enum { INDEX_UUID = 64 };
void index_place_uuid(struct os *os, int fd, const struct mount *mount, const char *known,
                      char uuid[INDEX_UUID]);

enum place_why {
	PLACE_INDEX,             /* the mount gets an index */
	PLACE_SAME,              /* the index of another mount has this file system, or this part of
	                            it */
	PLACE_PSEUDO, PLACE_NETWORK, PLACE_FUSE, PLACE_REMOVABLE, PLACE_SNAPSHOT,
	PLACE_MEMORY,            /* in memory (tmpfs): gone at the next boot */
	PLACE_HIDDEN,            /* not reachable by the path of its mount point */
	PLACE_FILE,              /* the mount of a single file */
	PLACE_LAYERS,            /* an overlay whose files are in indexed file systems */
	PLACE_BLOCKS,            /* calls can block, for example because the device is suspended or
	                            remote */
	PLACE_NAMELESS,          /* the file system has no permanent ID */
	PLACE_TWIN,              /* another mounted file system has this UUID, for example a copy */
	PLACE_UNKNOWN,           /* the type of the file system is unknown */
};

/** A mount, and whether it gets an index. */
struct place {
	const struct mount *mount;
	/* Facts that the mount table does not contain: */
	bool hidden, blocks, removable, file;
	bool snapshot;           /* a read-only subvolume of btrfs */
	const char *uuid;        /* from index_place_uuid(); NULL: not read */
	enum place_why why;      /* [out] */
	size_t of;               /* [out] for PLACE_SAME, PLACE_LAYERS and PLACE_TWIN: the index in
	                            `places` of the other mount; else of this mount */
};

/** Decide for each mount whether `getmnt index build` without operands indexes it, and set `why`
    (pure). */
void index_choose(struct place *places, size_t n);

/** After index_choose(), exclude the mounts whose indexes could be taken for those of other file
    systems: without a UUID, or with a UUID that two mounted file systems have (pure).
    @return 0, or -1 (ENOMEM). */
int index_choose_named(struct place *places, size_t n);

/** The remedy for PLACE_TWIN, in messages. */
#define INDEX_TWIN_REMEDY \
	"unmount one of them, or change its UUID (tune2fs -U, xfs_admin -U, btrfstune -u)"

/** Get the phrase for a reason: "a network file system"; NULL for PLACE_INDEX. */
const char *index_why(enum place_why why);

/** Append the name of the directory of an index.  @uuid  Not "".  @root  The indexed directory. */
void index_place_name(const char *uuid, const char *root, struct strbuf *out);

#endif
