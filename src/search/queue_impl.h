/* SPDX-License-Identifier: MIT */
/**
 * The queue from the reading threads to the owner's thread: records of objects and errors, which
 * become entries of getmnt_search_read().
 */
#ifndef GM_SEARCH_QUEUE_IMPL_H
#define GM_SEARCH_QUEUE_IMPL_H

#include "search/search.h"

#include "bfs.h"
#include "os/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** Values of record.source in addition to SEARCH_ERR_*. */
enum {
	LINK = 255,               /* the record contains a struct link */
	DIR_ID = 254,             /* the record contains a struct dir_id */
	MOUNT = 253,              /* the record is a mount point whose mount can block, and is
	                             delegated or refused: ino is the node in the table of mounts,
	                             type is enum mount_wanted */
};

/** Whether the root of a mount, its contents, or both are wanted from the mount's server. */
enum mount_wanted { MOUNT_SELF = 1, MOUNT_BELOW = 2 };

/** An object or error in the output of a reading thread, followed by: the attributes (if `meta`);
    for an object found by a query, the reached actions (64 bits); the name. */
struct record {
	uint64_t ino;             /* inode number, as listed in the directory */
	uint32_t len;             /* length of the name */
	int32_t error;
	uint8_t source;           /* SEARCH_ERR_OPEN ...; 0: an object */
	uint8_t type;             /* DT_* */
	bool meta;
	bool lost;                /* the attributes of the object could not be read */
	uint16_t target;          /* length of the text after the name: the target of a symlink and,
	                             if extended attributes are requested, a NUL and their names */
};

/** The identity of the directory that contains the objects of the following records; stands in
    place of the record's name. */
struct dir_id {
	uint64_t mount, dev, ino;
};

/** A symlink to a directory; stands in place of the record's name, followed by the symlink's name,
    a NUL, and the path of the target. */
struct link {
	uint64_t mount;           /* ID of the target's mount */
	uint32_t tag;             /* number of a node with the live states at the target, and the
	                             `self` of the directory that contains the symlink */
	int32_t depth;
};

/** A directory in the queue, or a part of it; followed by the directory's path and the records. */
struct part {
	uint32_t path;            /* length of the directory's path */
	uint32_t records;         /* size of the records in bytes */
};

/* record.c: runs in the owner's thread. */

/** Begin with the part at search->parts.at in the queue. */
void search_part_begin(SEARCH *search);

/** Convert the next record of the current part to an entry.  @return NULL: the record needs no
    entry. */
struct searchent *search_next_entry(SEARCH *search);

/* queue.c: runs in the owner's thread.  The first functions are callbacks for bfs; search_fs() runs
   in any thread. */

uint64_t search_mnt_id(void *arg, uint32_t tag, bool *unique);
bool search_last_pos(void *arg, uint32_t tag);
bool search_wanted(void *arg, uint32_t tag);
struct bfs_fs *search_fs(void *arg, uint32_t tag);
void search_batch_done(void *arg, struct bfs_output *output);
void search_deliver(void *arg, const struct bfs_at *at, const char *out, size_t size);
enum bfs_verdict search_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                             struct bfs_enter *into);

/** Enter the mount at a mount point, if the mount is known not to block.
    @at  The mount point: dir and tag are used.
    @id  ID of the mount; 0: unknown.
    @into [out]  Set if the mount is to be entered. */
void search_enter_mount(SEARCH *search, const struct bfs_at *at, uint64_t id,
                        struct bfs_enter *into);

/** Add the records of a directory, as a part, to the queue. */
void search_queue_part(SEARCH *search, const struct bfs_at *at, const char *out, size_t size);

/** Queue an error of a directory. */
void search_queue_error(SEARCH *search, const struct bfs_at *at, int source, int error);

#endif
