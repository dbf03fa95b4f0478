/* SPDX-License-Identifier: MIT */
/**
 * The index of one file system: a directory with a manifest, segments and a journal.
 *
 *     manifest     the file system that is indexed; for each cluster its segment file, the offset
 *                  in this file, and a summary; the number of the journal.  A new manifest
 *                  replaces the old one by rename(2)
 *     segment.N    clusters, one after the other; never changed once the manifest names the file
 *     journal.N    changes since the segments were written, each with cluster, log sequence
 *                  number (LSN), length and checksum; and commits
 *     lock         locked by the writer (flock); there is one writer at a time
 *
 * A change is stored as a record in the journal, and in memory in the delta of its cluster.  The
 * delta maps the slot of a directory and a name to a new row, or to "removed".  index_commit()
 * makes all earlier changes durable (fdatasync).  index_fold() rewrites clusters with large deltas
 * into a new segment file, begins a new journal, replaces the manifest, and removes the old files.
 * If a reader cannot open a file because it was just removed, it reads the new manifest.
 *
 * Recovery: opening an index replays the journal up to the last complete commit; a writer truncates
 * the journal there.  So the state of an index is always that of a commit.  Damage before a commit
 * that was synced is an error (EBADMSG).
 */
#ifndef GM_INDEX_STORE_STORE_H
#define GM_INDEX_STORE_STORE_H

#include "index/segment/row.h"
#include "index/segment/segment.h"
#include "os/os.h"

/** The file system that is indexed, and how complete the index is. */
struct index_info {
	char uuid[64];           /* ID of the file system, from index_place_uuid() */
	char type[32];           /* type of the file system */
	char *root;              /* indexed directory, as a path in the file system: "/" for all */
	int64_t fresh;           /* the index has all objects that were created, removed or renamed
	                            before this time; seconds since 1970 */
	int64_t looked;          /* the index has all changes of attributes before this time;
	                            seconds since 1970 */
	uint64_t generation;     /* of the btrfs at the time `looked`, from os_inodes_generation();
	                            0: unknown */
	uint64_t rows, dirs;     /* numbers of objects and directories in the segments, without the
	                            deltas */
	uint64_t bytes;          /* total size of the files of the index */
	bool incomplete;         /* some objects could not be read */
};

enum {
	/* Seconds.  Clocks of file systems are coarse: a change soon after a reading may leave the
	   times of an object as they were read.  So only times that were this much older when they
	   were read are trusted to change with the next change. */
	INDEX_SETTLED = 3,
};

enum index_mode { INDEX_READ, INDEX_WRITE };

struct index;

/**
 * Open an index.
 *
 * @dirfd   The directory of the index.  It may be closed after the call.
 * @return  an index, or NULL.
 * Errors: ENOENT: there is no index; EBADMSG: damaged; EPROTONOSUPPORT: another version of the
 * format; EWOULDBLOCK: another process writes the index; ENOMEM; those of openat(2), mmap(2).
 * Ownership: index_close().
 */
struct index *index_open(struct os *os, int dirfd, enum index_mode mode);
void index_close(struct index *index);

const struct index_info *index_info(const struct index *index);

/* Functions for reading the clusters, each with a segment, a delta, or both. */

struct index_cluster;

uint32_t index_clusters(const struct index *index);

/** Get the summary of a cluster that the manifest stores, without the delta.  NULL: the cluster has
    no segment. */
const struct segment_summary *index_summary(const struct index *index, uint32_t cluster);

/** Get the segment of a cluster, which is opened when it is first used.
    @segment [out]  NULL: the cluster has only a delta.
    @return 0, or -1.  Errors: EBADMSG, ENOMEM. */
int index_segment(struct index *index, uint32_t cluster, struct segment **segment);

/** A change in a delta.  The row replaces the row in the segment with this slot and name, if
    any. */
struct index_change {
	const char *name;        /* NUL-terminated */
	size_t len;
	const struct index_row *row;     /* IC_NAME is not set; NULL: the object was removed */
};

/** Iterate over the changes of a cluster.  Directories come first; removed directories are omitted.
    @at  0 for the first call.
    @return false: no more changes. */
bool index_next_change(const struct index *index, uint32_t cluster, size_t *at,
                       struct index_change *change);

/** Whether a cluster has a delta; whether the delta replaces or removes a row of the segment. */
bool index_is_changed(const struct index *index, uint32_t cluster);
bool index_is_replaced(const struct index *index, uint32_t cluster, const struct index_row *row,
                       const char *name, size_t len);

/** A directory of the index, with its changes applied. */
struct index_dir_info {
	index_dir parent;
	const char *name;        /* NUL-terminated; valid until the next change of the index or
	                            index_close() */
	size_t len;
	int64_t listed;
};

/** Get a directory, with its changes applied.  @return 0, or -1.  Errors: ENOENT, EBADMSG,
    ENOMEM. */
int index_dir_get(struct index *index, index_dir dir, struct index_dir_info *info);

/** Get only the parent of a directory, which is faster.  @return as index_dir_get(). */
int index_dir_parent(struct index *index, index_dir dir, index_dir *parent);

/** Get the attributes of a directory.
    @columns  The set of columns to decode, as in segment_row(); the other columns are 0.
    @return as index_dir_get(). */
int index_dir_row(struct index *index, index_dir dir, uint32_t columns, struct index_row *row);

/** The root of the index; INDEX_DIR_NONE if it is empty. */
index_dir index_root(const struct index *index);

/** Find a directory by its path from the root of the index: "a/b"; "": the root.
    @return 0, or -1.  Errors: ENOENT, EBADMSG, ENOMEM. */
int index_lookup(struct index *index, const char *path, index_dir *dir);

/** Get the directories outside a cluster that have subdirectories in the cluster, and perhaps some
    other directories.  So the subdirectories of a directory D are in the cluster of D, and in the
    clusters whose list has D.
    @n [out]  Number of directories. */
const index_dir *index_parents(const struct index *index, uint32_t cluster, size_t *n);

/** Append the path of directory `dir` from directory `below`: "/a/b"; "": both are one directory.
    @return 0, or -1.  Errors: ENOENT: `dir` is not below `below`; EBADMSG; ENOMEM. */
int index_path(struct index *index, index_dir dir, index_dir below, struct strbuf *path);

/* Functions for changing the index (INDEX_WRITE).  All return 0, or -1 with errno. */

/** Add or replace an object that is not a directory. */
int index_put(struct index *index, index_dir dir, const char *name, size_t len,
              const struct index_row *row);

/** Remove an object that is not a directory.  If the object does not exist, this is not an
    error. */
int index_remove(struct index *index, index_dir dir, const char *name, size_t len);

/** Add, change or move a directory.
    @dir [in,out]  INDEX_DIR_NONE: add a directory, in the cluster of its parent if there is room.
    @listed  As in struct segment_slot. */
int index_put_dir(struct index *index, index_dir *dir, index_dir parent, const char *name,
                  size_t len, const struct index_row *row, int64_t listed);

/** Remove a directory and its objects, except its subdirectories: the caller removes or moves
    them. */
int index_remove_dir(struct index *index, index_dir dir);

/** Set the members fresh and incomplete of the info. */
int index_set_fresh(struct index *index, int64_t fresh, bool incomplete);

/** Set the members looked and generation of the info. */
int index_set_looked(struct index *index, int64_t looked, uint64_t generation);

/** Make all changes durable, or none.  After an error (ENOSPC ...) the files are unchanged; the
    changes stay in memory, and the next call writes them. */
int index_commit(struct index *index);

/** Rewrite the clusters with large deltas.  @all  Rewrite all clusters with a delta. */
int index_fold(struct index *index, bool all);

/** Commit and fold the changes if they take too much memory.  Call this only between complete
    changes: after a crash, the index has the changes up to this call. */
int index_relieve(struct index *index);

/** Remove an index, also a damaged one, and its directory.  If another writer begins a new index in
    the directory meanwhile, the new index stays.
    @dirfd  The directory that contains the directory of the index.
    @name  The name of the directory of the index.
    @unfinished  Remove only the files of a build that did not finish; if an index exists, do
                 nothing.
    @return 0, or -1.  Errors: EWOULDBLOCK: another process writes the index; ENOTEMPTY: the
    directory has files that are not of an index; those of openat(2), unlinkat(2). */
int index_drop(struct os *os, int dirfd, const char *name, bool unfinished);

/** Verify all checksums, and that each directory has a parent and is below the root.
    @why  A line is appended for each fault.
    @return 0, or -1 (EBADMSG, ENOMEM). */
int index_check(struct index *index, struct strbuf *why);

/* Functions for writing a new manifest with new segments, as the builder does (build.h). */

struct index_writer;

/** Begin to replace the index in a directory, or to make the first one.
    @dirfd  The directory of the index.  It may be closed after the call. */
struct index_writer *index_writer_new(struct os *os, int dirfd);

/** Append a cluster.  Its number is the number of earlier calls.  @bytes  Made by
    segment_write(). */
int index_writer_add(struct index_writer *writer, const struct strbuf *bytes,
                     const struct segment_summary *summary);

/** Write the manifest: sync, rename, and remove the files of the old index.
    @info  The members rows, dirs and bytes are ignored.
    @root  The root directory of the index. */
int index_writer_finish(struct index_writer *writer, const struct index_info *info,
                        index_dir root);

/** Free the writer.  If index_writer_finish() did not succeed, the new files are removed. */
void index_writer_free(struct index_writer *writer);

#endif
