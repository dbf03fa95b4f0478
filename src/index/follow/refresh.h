/* SPDX-License-Identifier: MIT */
/**
 * Parts of an index compared with the file system, and the differences stored: a directory is read
 * again, or one name is looked at.  What a walk, an update and a watch find is stored in the same
 * way:
 *
 * - a directory is recognized by its inode number: one that is found elsewhere was moved, and its
 *   objects and subdirectories remain in the index;
 * - a directory that is not found in its place is removed at the end, if it was not found
 *   elsewhere until then;
 * - the row of a directory is stored after its objects, with the times that it had before it was
 *   read; if an update is interrupted, the next one reads it again.
 */
#ifndef GM_INDEX_FOLLOW_REFRESH_H
#define GM_INDEX_FOLLOW_REFRESH_H

#include "index/follow/events.h"
#include "index/follow/gather.h"
#include "index/store/objects.h"

/** What was found. */
struct refresh_counts {
	uint64_t dirs;            /* compared */
	uint64_t read;            /* read again, or for the first time */
	uint64_t added, changed, removed;   /* objects that are not directories */
	uint64_t dirs_added, dirs_moved, dirs_removed;
	uint64_t unread;          /* directories that could not be read */
	uint64_t looked;          /* objects looked at though their directories were not read */
	int root_error;           /* an errno: the root cannot be read */
	bool is_bulk;             /* these are all files that were modified in place */
};

struct refresh_list { uint32_t *items; size_t n, room; };

struct refresh {
	struct os *os;            /* borrowed, as are index and tree */
	struct index *index;
	struct tree *tree;
	struct chain chain;
	bool watching;            /* each change is an event: a moved directory has no others */
	int64_t oldest;           /* directories that were last read then, or before, are read
	                             again; INT64_MIN: none */
	struct refresh_list todo, gone;   /* directories to compare or read; those not found */
	struct gather **ahead;    /* of each of todo, from the first: NULL, or its entries */
	size_t nahead, ahead_room, ahead_bytes;
	struct refresh_list later;   /* while watching: those that could not be read in their
	                             places, since one above them was renamed a moment ago */
	/* Inodes with several names, or whose names are not known: their attributes today. */
	struct refresh_link { uint64_t ino; struct index_row row; } *links;
	size_t nlinks, links_room;
	struct map64 by_ino;      /* of links */
	unsigned threads;         /* 0: not known yet */
	bool incomplete;          /* something could not be read */
	bool unsettled;           /* the directory that is read changed meanwhile */
	struct refresh_counts counts;
	struct file_events *events;  /* read from time to time, before the queue of the kernel
	                                overflows; or NULL */
};

/** Begin.
    @rootfd  The root of the index; borrowed.
    @covered  As in struct chain.
    @return 0, or -1; refresh_destroy() in any case.
    Errors: those of statx(2); ESTALE: it is another directory. */
int refresh_init(struct refresh *refresh, struct os *os, struct index *index, struct tree *tree,
                 int rootfd, const struct map64 *covered);
void refresh_destroy(struct refresh *refresh);

/** Compare the times of a directory with those in the tree, and set its state.  For any thread;
    only this element of the tree is changed.
    @oldest  As in struct refresh.
    @return 0; 1: it is not reachable (TREE_KEPT); -1: ENOMEM, EMFILE, ENFILE. */
int refresh_compare(struct chain *chain, struct tree *tree, uint32_t at, int64_t oldest);

/** Read a directory and store the differences.
    @known  Of its cluster, with its slot; NULL: not loaded.
    @gather  Its entries; NULL: they are not gathered yet.
    @return 0, or -1. */
int refresh_read(struct refresh *refresh, uint32_t at, struct known *known, struct gather *gather);

/** Read directories of a cluster, gathered by threads; and after each what it leaves to do.
    @dirs  TREE_CHANGED; those that are something else when their turn comes are not read.
    @return 0, or -1. */
int refresh_read_cluster(struct refresh *refresh, const uint32_t *dirs, size_t n);

/** How many threads wait for the file system; at most OS_PARTS. */
unsigned refresh_threads(struct refresh *refresh);

/** Look at one name of a directory.  @fd  The directory, O_PATH.  @return 0, or -1. */
int refresh_entry(struct refresh *refresh, uint32_t at, int fd, const char *name, size_t len);

/** Store the attributes of a directory if they differ.  @return 0, or -1. */
int refresh_dir_row(struct refresh *refresh, uint32_t at, const struct k_statx *st);

/** Let the next update read a directory, whatever its times are.  @return 0, or -1. */
int refresh_unlist(struct refresh *refresh, uint32_t at);

/** Note the attributes of an inode for refresh_links().  @return 0, or -1 (ENOMEM). */
int refresh_link(struct refresh *refresh, const struct k_statx *st);

/** Note that a directory is not in its place; that it is to be compared or read.
    @return 0, or -1 (ENOMEM). */
int refresh_note_gone(struct refresh *refresh, uint32_t at);
int refresh_note_todo(struct refresh *refresh, uint32_t at);

/** Take a directory of refresh->todo, which is not empty.
    @gather [out]  For refresh_read(); of the caller.  @return 0, or -1. */
int refresh_take(struct refresh *refresh, uint32_t *at, struct gather **gather);

/** Compare and read what was found to need it.  @return 0, or -1. */
int refresh_todo(struct refresh *refresh);

/** Read those directories now that could not be read before.  @return 0, or -1. */
int refresh_later(struct refresh *refresh);

/** Remove the directories that were not found.  @return 0, or -1. */
int refresh_gone(struct refresh *refresh);

/** Store the attributes of the noted inodes for all their names.  @return 0, or -1. */
int refresh_links(struct refresh *refresh);

#endif
