/* SPDX-License-Identifier: MIT */
/**
 * Compare parts of an index with the file system, and store the differences: read a directory
 * again, or examine one name.  Updates and watches use these functions:
 *
 * - a directory is recognized by its inode number: if it is found at another path, it was moved,
 *   and its objects and subdirectories remain in the index;
 * - a directory that is not found at its path is removed at the end, if it was not found at another
 *   path until then;
 * - the row of a directory is stored after its objects, with the times that the directory had
 *   before it was read; so if an update is interrupted, the next update reads the directory again.
 */
#ifndef GM_INDEX_FOLLOW_REFRESH_H
#define GM_INDEX_FOLLOW_REFRESH_H

#include "index/follow/events.h"
#include "index/follow/gather.h"
#include "index/store/objects.h"

/** The number of objects found and changed. */
struct refresh_counts {
	uint64_t dirs;            /* directories compared with the file system */
	uint64_t read;            /* directories read, for the first time or again */
	uint64_t added, changed, removed;   /* numbers of objects that are not directories */
	uint64_t dirs_added, dirs_moved, dirs_removed;
	uint64_t unread;          /* number of directories that could not be read */
	uint64_t looked;          /* objects whose attributes were read although their directory was
	                             not */
	int root_error;           /* errno, if the root directory could not be read; else 0 */
	bool is_bulk;             /* `looked` includes all files that were modified in place */
};

struct refresh_list { uint32_t *items; size_t n, room; };

/** Invariants: the lists contain numbers of the tree, perhaps of elements that are free now;
    `ahead` is not longer than `todo`, and ahead_bytes is the length of all its entries; while
    watching, nothing is gathered ahead; `links` has each inode once, at the number of by_ino. */
struct refresh {
	struct os *os;            /* os, index and tree are borrowed */
	struct index *index;
	struct tree *tree;
	struct chain chain;
	bool watching;            /* used by a watch: every change causes an event, so the contents
	                             of a moved directory need no comparison */
	int64_t oldest;           /* directories last read at or before this time are read again, in
	                             seconds since 1970; INT64_MIN: none */
	struct refresh_list todo, gone;   /* directories to compare or read; directories not found
	                                     at their path */
	struct gather **ahead;    /* [index in todo]: its entries, gathered ahead; NULL: none */
	size_t nahead, ahead_room, ahead_bytes;
	struct refresh_list later;   /* with .watching: directories that could not be read, since
	                                one above them was just renamed */
	/* The present attributes of inodes with several names, or with unknown names. */
	struct refresh_link { uint64_t ino; struct index_row row; } *links;
	size_t nlinks, links_room;
	struct map64 by_ino;      /* inode number --> index in `links` */
	unsigned threads;         /* number of processors; 0: not requested yet */
	bool incomplete;          /* some directory or object could not be read */
	bool unsettled;           /* the directory being read changed meanwhile */
	struct refresh_counts counts;
	struct file_events *events;  /* events that are read now and then, so that the queue of the
	                                kernel does not overflow; or NULL */
};

/** Begin to refresh an index.
    @rootfd  The root directory of the index; borrowed.
    @covered  As in struct chain.
    @return 0, or -1.  Call refresh_destroy() also after an error. Errors: those of statx(2);
    ESTALE: rootfd is not the root directory of the index. */
int refresh_init(struct refresh *refresh, struct os *os, struct index *index, struct tree *tree,
                 int rootfd, const struct map64 *covered);
void refresh_destroy(struct refresh *refresh);

/** Compare the times of a directory with those in the tree, and set its state.  Any thread may call
    this with its own chain; only this element of the tree is changed.
    @oldest  As in struct refresh.
    @return 0; 1: the directory is not reachable (TREE_KEPT); -1: ENOMEM, EMFILE, ENFILE. */
int refresh_compare(struct chain *chain, struct tree *tree, uint32_t at, int64_t oldest);

/** Read a directory, and store the differences between its entries and the index.
    @known  The objects of some directories of the cluster, including this one; NULL: not loaded.
    @gather  The entries of the directory; NULL: not gathered yet.
    @return 0, or -1. */
int refresh_read(struct refresh *refresh, uint32_t at, struct known *known, struct gather *gather);

/** Read directories of one cluster, whose entries threads gather.  After each directory, handle the
    directories in refresh->todo.
    @dirs  Directories with state TREE_CHANGED.  If a state is different when the directory's turn
           comes, the directory is not read.
    @return 0, or -1. */
int refresh_read_cluster(struct refresh *refresh, const uint32_t *dirs, size_t n);

/** The number of threads that wait for the file system; at most OS_PARTS. */
unsigned refresh_threads(struct refresh *refresh);

/** Examine one name of a directory, and store the difference.
    @fd  The directory, O_PATH.
    @return 0, or -1. */
int refresh_entry(struct refresh *refresh, uint32_t at, int fd, const char *name, size_t len);

/** Store the attributes of a directory, if they differ from those in the index.
    @return 0, or -1. */
int refresh_dir_row(struct refresh *refresh, uint32_t at, const struct k_statx *st);

/** Make the next update read a directory, even if its times are unchanged.  @return 0, or -1. */
int refresh_unlist(struct refresh *refresh, uint32_t at);

/** Store the present attributes of an inode for refresh_links().  @return 0, or -1 (ENOMEM). */
int refresh_link(struct refresh *refresh, const struct k_statx *st);

/** Add a directory to refresh->gone, because it is not at its path; to refresh->todo, to be
    compared or read.
    @return 0, or -1 (ENOMEM). */
int refresh_note_gone(struct refresh *refresh, uint32_t at);
int refresh_note_todo(struct refresh *refresh, uint32_t at);

/** Remove the last directory from refresh->todo, which is not empty.
    @gather [out]  The entries for refresh_read(), to be freed; or NULL.
    @return 0, or -1. */
int refresh_take(struct refresh *refresh, uint32_t *at, struct gather **gather);

/** Compare or read the directories in refresh->todo until the list is empty.  @return 0, or -1. */
int refresh_todo(struct refresh *refresh);

/** Read the directories in refresh->later.  @return 0, or -1. */
int refresh_later(struct refresh *refresh);

/** Remove the directories in refresh->gone that were not found at another path.  @return 0, or
    -1. */
int refresh_gone(struct refresh *refresh);

/** Store the attributes in refresh->links for all names of these inodes.  @return 0, or -1. */
int refresh_links(struct refresh *refresh);

#endif
