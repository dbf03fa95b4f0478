/* SPDX-License-Identifier: MIT */
/**
 * The index of one file system: a directory with a manifest, segments and a journal.
 *
 *     manifest     what is indexed; of each cluster: which segment file, where in it, its
 *                  summary; the name of the journal.  Replaced as a whole by rename(2)
 *     segment.N    clusters, one after the other; never changed once the manifest names it
 *     journal.N    changes since, each with cluster, number (LSN), length and checksum; and
 *                  commits
 *     lock         locked (flock) by the one writer
 *
 * A change is a record of the journal and an entry of its cluster's delta in memory, by directory
 * slot and name: a new row, or that there is none.  index_commit() makes what was changed before
 * durable (fdatasync).  index_fold() rewrites clusters with large deltas into a new segment,
 * begins a new journal and replaces the manifest; then it removes the old files.  A reader that
 * loses such a file in this moment begins again with the new manifest.
 *
 * Recovery: replay the records up to the last complete commit; a writer cuts the file there.  So
 * an index opens as it was at a commit, never between two.  Damage before a commit that was
 * synced is an error (EBADMSG).
 */
#ifndef GM_INDEX_STORE_STORE_H
#define GM_INDEX_STORE_STORE_H

#include "index/segment/row.h"
#include "index/segment/segment.h"
#include "os/os.h"

/** What an index is of. */
struct index_info {
	char uuid[64];           /* what names the file system: index_place_uuid() */
	char type[32];           /* of the file system */
	char *root;              /* the directory of the file system that is indexed: "/" */
	int64_t fresh;           /* all changes before this time are in it, as far as times of
	                            directories show them; seconds */
	int64_t looked;          /* all changes of attributes before this time are in it */
	uint64_t generation;     /* of the file system then (os_inodes_generation()); 0: unknown */
	uint64_t rows, dirs;     /* without the delta */
	uint64_t bytes;          /* of all files */
	bool incomplete;         /* objects could not be read */
};

enum {
	/* Seconds: an object is trusted to change its times at the next change only if they are
	   this much older than the time when it was looked at.  Clocks of file systems are
	   coarse. */
	INDEX_SETTLED = 3,
};

enum index_mode { INDEX_READ, INDEX_WRITE };

struct index;

/**
 * Open an index.
 *
 * @dirfd   Its directory, which stays open during the call only.
 * @return  an index, or NULL.
 * Errors: ENOENT: there is none; EBADMSG: damaged; EPROTONOSUPPORT: another version;
 *         EWOULDBLOCK: another process writes it; ENOMEM; those of openat(2), mmap(2).
 * Ownership: index_close().
 */
struct index *index_open(struct os *os, int dirfd, enum index_mode mode);
void index_close(struct index *index);

const struct index_info *index_info(const struct index *index);

/* Reading: clusters, each a segment and a delta. */

struct index_cluster;

uint32_t index_clusters(const struct index *index);

/** What the manifest says of a cluster; its delta is not included.  NULL: it has no segment. */
const struct segment_summary *index_summary(const struct index *index, uint32_t cluster);

/** The segment of a cluster, opened when first used.  @segment [out]  NULL: it has none, only a
    delta.  @return 0, or -1.  Errors: EBADMSG, ENOMEM. */
int index_segment(struct index *index, uint32_t cluster, struct segment **segment);

/** A change in a delta.  Its row is in the place of the one with the same slot and name, if any. */
struct index_change {
	const char *name;        /* with a final NUL */
	size_t len;
	const struct index_row *row;     /* IC_NAME is not set; NULL: there is no such object */
};

/** Iterate over the changes of a cluster.  Directories come first; those that were removed do not
    come.  @at  0 first.  @return false: no more. */
bool index_next_change(const struct index *index, uint32_t cluster, size_t *at,
                       struct index_change *change);

/** Whether a cluster has a delta; whether a row of the segment is replaced by it or gone. */
bool index_is_changed(const struct index *index, uint32_t cluster);
bool index_is_replaced(const struct index *index, uint32_t cluster, const struct index_row *row,
                       const char *name, size_t len);

/** A directory. */
struct index_dir_info {
	index_dir parent;
	const char *name;        /* valid until the next change or index_close() */
	size_t len;
	int64_t listed;
};

/** Get a directory, with its delta.  @return 0, or -1.  Errors: ENOENT, EBADMSG, ENOMEM. */
int index_dir_get(struct index *index, index_dir dir, struct index_dir_info *info);

/** Its parent only, at less cost.  @return as index_dir_get(). */
int index_dir_parent(struct index *index, index_dir dir, index_dir *parent);

/** Its attributes.  @columns  Those to decode, as of segment_row(); others are 0.
    @return as index_dir_get(). */
int index_dir_row(struct index *index, index_dir dir, uint32_t columns, struct index_row *row);

/** The root of the index; INDEX_DIR_NONE if it is empty. */
index_dir index_root(const struct index *index);

/** Find the directory with a path below the root, "a/b"; "": the root.
    @return 0, or -1.  Errors: ENOENT, EBADMSG, ENOMEM. */
int index_lookup(struct index *index, const char *path, index_dir *dir);

/** The directories outside a cluster whose subdirectories are in it; perhaps some more.  So the
    subdirectories of a directory are in its own cluster and in those that name it here.
    @n [out] */
const index_dir *index_parents(const struct index *index, uint32_t cluster, size_t *n);

/** Append the path of a directory below another one: "/a/b"; "": the same.
    @return 0, or -1.  Errors: ENOENT: it is not below it; EBADMSG; ENOMEM. */
int index_path(struct index *index, index_dir dir, index_dir below, struct strbuf *path);

/* Changing (INDEX_WRITE).  All return 0, or -1 with errno. */

/** Add or replace an object that is not a directory. */
int index_put(struct index *index, index_dir dir, const char *name, size_t len,
              const struct index_row *row);

/** Remove an object that is not a directory; none is no error. */
int index_remove(struct index *index, index_dir dir, const char *name, size_t len);

/** Add, change or move a directory.
    @dir [in,out]  INDEX_DIR_NONE: a new one, in the cluster of its parent if there is room.
    @listed  As in struct segment_slot. */
int index_put_dir(struct index *index, index_dir *dir, index_dir parent, const char *name,
                  size_t len, const struct index_row *row, int64_t listed);

/** Remove a directory and its objects, but not its subdirectories, which the caller removes or
    moves. */
int index_remove_dir(struct index *index, index_dir dir);

/** Note since when all changes are in the index, and that directories could not be read. */
int index_set_fresh(struct index *index, int64_t fresh, bool incomplete);

/** Note since when all changes of attributes are in the index. */
int index_set_looked(struct index *index, int64_t looked, uint64_t generation);

/** Make all changes durable, all or none.  After an error (ENOSPC ...) the files are as they were;
    the changes wait, and the next call writes them too. */
int index_commit(struct index *index);

/** Rewrite clusters.  @all  Also those with small deltas. */
int index_fold(struct index *index, bool all);

/** Commit and fold if there are so many changes that they take too much memory.  To be called
    between changes, where a crash may leave those before. */
int index_relieve(struct index *index);

/** Remove an index, also a damaged one, and its directory, unless another writer begins a new index
    there in this moment.
    @dirfd, name  The directory that has the index's.
    @unfinished  Only what a build has left that did not finish.
    @return 0, or -1.  Errors: EWOULDBLOCK: another process writes it; ENOTEMPTY: its directory has
    other files too; those of openat(2), unlinkat(2). */
int index_drop(struct os *os, int dirfd, const char *name, bool unfinished);

/** Verify everything: checksums, and that each directory has a parent and each path ends at the
    root.  @why  A line for each fault.  @return 0, or -1 (EBADMSG, ENOMEM). */
int index_check(struct index *index, struct strbuf *why);

/* Writing a new manifest with new segments: for the builder (build.h). */

struct index_writer;

/** Begin to replace an index, or make the first.  @dirfd  Borrowed until the end. */
struct index_writer *index_writer_new(struct os *os, int dirfd);

/** Append a cluster; its number is the number of calls before.  @bytes  Of segment_write(). */
int index_writer_add(struct index_writer *writer, const struct strbuf *bytes,
                     const struct segment_summary *summary);

/** Write the manifest: sync, rename, and remove what the old one named.  @info  rows, dirs and
    bytes are set.  @root  The root directory. */
int index_writer_finish(struct index_writer *writer, const struct index_info *info,
                        index_dir root);

/** Free; without index_writer_finish() the new files are removed. */
void index_writer_free(struct index_writer *writer);

#endif
