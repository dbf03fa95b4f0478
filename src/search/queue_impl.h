/* SPDX-License-Identifier: MIT */
/**
 * What readers hand to the owner: records of objects and errors, which become parts of a queue, and
 * entries for the caller.
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

/** Sources of records, in addition to SEARCH_ERR_*. */
enum {
	LINK = 255,               /* source of a record that is a struct link */
	DIR_ID = 254,             /* ... a struct dir_id */
	MOUNT = 253,              /* ... a mount that can block, to be delegated or refused: ino is
	                             its node in the table of mounts, type enum mount_wanted */
};

/** What of a mount is wanted from its server. */
enum mount_wanted { MOUNT_SELF = 1, MOUNT_BELOW = 2 };

/** An object or error in the output of a reader, followed by its attributes, if any; with a query
    by its actions (64 bits), if it is an object; and by its name. */
struct record {
	uint64_t ino;             /* as listed in its directory */
	uint32_t len;             /* of the name */
	int32_t error;
	uint8_t source;           /* SEARCH_ERR_OPEN ..., 0 */
	uint8_t type;             /* DT_* */
	bool meta;
	bool lost;                /* its attributes cannot be read */
	uint16_t target;          /* length of a symlink's target, which follows the name, and of
	                             a NUL and the names of extended attributes, if requested */
};

/** The identity of the directory of the records after it, in place of a name. */
struct dir_id {
	uint64_t mount, dev, ino;
};

/** A symlink to a directory, in place of a name; followed by its name, a NUL, and the path of its
    target. */
struct link {
	uint64_t mount;           /* of the target */
	uint32_t tag;             /* a node: the live states at the target, and the directory of the
	                             symlink */
	int32_t depth;
};

/** A part of a directory in the queue, followed by its path and its records. */
struct part {
	uint32_t path;            /* length of the path */
	uint32_t records;         /* size of the records in bytes */
};

/* record.c: runs in the owner. */

/** Start with the part of the queue at search->parts.at. */
void search_part_begin(SEARCH *search);

/** Return the next record of the part as an entry; NULL: it was none for the caller. */
struct searchent *search_next_entry(SEARCH *search);

/* queue.c: runs in the owner; callbacks for bfs, of which search_fs() runs in any thread. */

uint64_t search_mnt_id(void *arg, uint32_t tag, bool *unique);
bool search_last_pos(void *arg, uint32_t tag);
bool search_wanted(void *arg, uint32_t tag);
struct bfs_fs *search_fs(void *arg, uint32_t tag);
void search_batch_done(void *arg, struct bfs_output *output);
void search_deliver(void *arg, const struct bfs_at *at, const char *out, size_t size);
enum bfs_verdict search_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                             struct bfs_enter *into);

/** Enter the mount at a mount point, if it is known not to block.
    @at  The mount point: dir and tag are used.  @id  The mount's ID; 0: unknown.
    @into  Set if it is to be entered. */
void search_enter_mount(SEARCH *search, const struct bfs_at *at, uint64_t id,
                        struct bfs_enter *into);

/** Add a part to the queue. */
void search_queue_part(SEARCH *search, const struct bfs_at *at, const char *out, size_t size);

/** Queue an error of a directory. */
void search_queue_error(SEARCH *search, const struct bfs_at *at, int source, int error);

#endif
