/* SPDX-License-Identifier: MIT */
/**
 * Declarations that the files of store/ share.
 *
 * A reader maps all segment files when it opens the index, so that it keeps one state of the index
 * although a writer may remove these files.  The contents of a cluster are read when the cluster is
 * first used.
 */
#ifndef GM_INDEX_STORE_STORE_IMPL_H
#define GM_INDEX_STORE_STORE_IMPL_H

#include "base/arena.h"
#include "base/map64.h"
#include "index/store/store.h"
#include "os/map.h"

#include <assert.h>

enum {
	INDEX_FORMAT = 3,                     /* version of the manifest and journal */
	INDEX_CLUSTERS_MAX = 1 << 20,         /* maximum number of clusters in an index_dir; the
	                                         last cluster is not used, since INDEX_DIR_NONE
	                                         would be in it */
	MANIFEST_MAX = 1 << 30,               /* maximum size in bytes */
	INDEX_FILES_MAX = 4096,
	INDEX_HEAD = 1024,                    /* number of first bytes of a cluster whose checksum
	                                         is in the manifest */
};
#define INDEX_NO_FILE UINT32_MAX
_Static_assert(INDEX_CLUSTERS_MAX - 1 <= (int64_t)(INDEX_DIR_NONE >> INDEX_SLOT_BITS),
               "the number of each cluster fits an index_dir, which is not INDEX_DIR_NONE");

/* The manifest. */

/** A segment file, as the manifest lists it, and its map. */
struct index_file {
	uint64_t number, size;
	const char *map;         /* NULL: not mapped */
	const atomic_bool *lost; /* for os_map_lost(); NULL: not mapped */
};

/** A cluster: its entry in the manifest, and its delta. */
struct index_cluster {
	uint32_t file;           /* index in manifest.files; INDEX_NO_FILE: the cluster has no
	                            segment */
	uint64_t offset, size, lsn;
	uint64_t head;           /* checksum of the first INDEX_HEAD bytes */
	struct segment_summary summary;
	index_dir *parents;      /* see index_parents(); may have duplicates */
	size_t nparents, parents_room;
	struct segment *segment; /* NULL: not opened, or the cluster has no segment */
	struct delta *delta;     /* changes since the segment was written; NULL: none */
};

/** Invariants (manifest_check()), which manifest_decode() verifies for a file: the journal and all
    segment files have numbers below `next`; a cluster with a segment is inside its file, at a
    multiple of 8, and has no change after `lsn`; no cluster names itself as a parent.  In memory, a
    cluster without a segment has a delta. */
struct manifest {
	struct index_info info;  /* rows, dirs and bytes are not stored in the file */
	index_dir root;
	uint64_t journal;        /* number of the journal file */
	uint64_t lsn;            /* of the last change before the first record of the journal */
	uint64_t next;           /* next unused file number: all files have smaller numbers */
	struct index_file *files;
	size_t nfiles, files_room;
	struct index_cluster *clusters;
	size_t nclusters, clusters_room;
};

/** Free all members, including segments and deltas.  Maps of files are not unmapped. */
void manifest_destroy(struct manifest *manifest);

/** Assert the invariants; does nothing if NDEBUG is defined. */
void manifest_check(const struct manifest *manifest);

/** Append the manifest as bytes.  @return 0, or -1 (ENOMEM). */
int manifest_encode(const struct manifest *manifest, struct strbuf *out);

/** Parse a manifest.
    @manifest [out]  Call manifest_destroy(), also after an error.
    @return 0, or -1.  Errors: EBADMSG, EPROTONOSUPPORT, ENOMEM. */
int manifest_decode(const char *bytes, size_t size, struct manifest *manifest);

/** Add an empty cluster to a manifest.  @return the cluster, or NULL (ENOMEM, EFBIG). */
struct index_cluster *manifest_add(struct manifest *manifest);

/** Store that cluster `number` has subdirectories of the directory `parent`.
    @return 0, or -1 (ENOMEM). */
int cluster_add_parent(struct index_cluster *cluster, uint32_t number, index_dir parent);

/* The journal. */

enum journal_type {
	JR_PUT = 1, JR_REMOVE, JR_PUT_DIR, JR_REMOVE_DIR,
	JR_COMMIT,               /* all records since the previous commit are valid */
	JR_SYNCED,               /* the previous commit is on disk */
	JR_END_TYPES,
};

struct journal_record {
	enum journal_type type;
	uint32_t cluster, slot;
	const char *name;        /* not NUL-terminated */
	size_t len;
	struct index_row row;    /* for PUT and PUT_DIR; IC_DIR is the slot, IC_NAME is 0 */
	index_dir parent;        /* for PUT_DIR */
	int64_t listed;          /* for PUT_DIR */
	int64_t fresh, looked;   /* for COMMIT */
	uint64_t generation;     /* for COMMIT */
	bool incomplete;         /* for COMMIT */
	uint64_t lsn;            /* [out] set by reading */
};

/** Make the record of a commit, with the state of the index in it. */
static inline struct journal_record journal_commit(const struct index_info *info)
{
	return (struct journal_record){
		.type = JR_COMMIT, .fresh = info->fresh, .looked = info->looked,
		.generation = info->generation, .incomplete = info->incomplete,
	};
}

enum { JOURNAL_HEAD = 40 };   /* size of the header of a journal in bytes */

/** Append the header of a journal, or a record.
    @lsn  For the header, of the last change before the journal; else of the record.
    @return 0, or -1 (ENOMEM). */
int journal_begin(struct strbuf *out, uint64_t number, uint64_t lsn);
int journal_append(struct strbuf *out, uint64_t number, const struct journal_record *record,
                   uint64_t lsn);

/** Assert that the record that was appended at `start` is the one that journal_next() will read, so
    that a writer never stores what a reader refuses; does nothing if NDEBUG is defined. */
void journal_check(const struct strbuf *out, size_t start, uint64_t number, uint64_t lsn,
                   const struct journal_record *record);

/** Read the record at offset `at`, and move `at` to the next record.
    @lsn  The expected LSN of the record.
    @return false: the record is incomplete, damaged or invalid. */
bool journal_next(const char *bytes, size_t size, size_t *at, uint64_t number, uint64_t lsn,
                  struct journal_record *record);

/** Find the last commit.
    @first  LSN of the last change before the journal.
    @end [out]  The offset where the commit ends.
    @lsn [out]  The LSN of its last record.
    @return 0, or -1.  Errors: EBADMSG: a record before a commit that was synced to disk is damaged;
    EPROTONOSUPPORT. */
int journal_scan(const char *bytes, size_t size, uint64_t number, uint64_t first, size_t *end,
                 uint64_t *lsn);

/* Deltas: the changes of clusters since their segments were written. */

struct delta_slot {
	uint32_t slot;
	bool removed;            /* the directory was removed; else the members from `parent` on are
	                            valid */
	bool cleared;            /* the objects of this slot in the segment, and the items with an
	                            index below `since`, are gone */
	uint32_t since;
	index_dir parent;
	int64_t listed;
	const char *name;
	size_t len;
	struct index_row row;
};

struct delta_item {
	uint32_t slot;
	bool gone;               /* the object was removed */
	uint32_t next;           /* next item with this hash of slot and name; UINT32_MAX: none */
	const char *name;
	size_t len;
	struct index_row *row;   /* NULL: the item never had a row */
};

/** Invariants: all slots are below end_slot, which is at most INDEX_SLOTS; an item has a row or is
    gone; items with the same hash are linked from the newest to the oldest; a slot was cleared
    when there were `since` items. */
struct delta {
	struct delta_item *items;
	size_t count, room;
	struct delta_slot *slots;
	size_t nslots, slots_room;
	struct map64 by_name, by_slot;
	struct arena arena;
	uint32_t end_slot;       /* greater than all slots in the delta */
	bool clears;             /* any slot has .cleared set */
};

void delta_free(struct delta *delta);
/** Apply a change.  @return 0, or -1 (ENOMEM): the delta is unchanged. */
int delta_apply(struct delta *delta, const struct journal_record *record);
/** Find the change of a directory, by its slot; the change of an object.
    @return NULL: the delta has no change. */
const struct delta_slot *delta_slot(const struct delta *delta, uint32_t slot);
const struct delta_item *delta_find(const struct delta *delta, uint32_t slot, const char *name,
                                    size_t len);
/** Whether an item is valid: its directory was not removed after the item was added. */
bool delta_counts(const struct delta *delta, const struct delta_item *item);
/** The number of changes, as a measure of the size of a delta; NULL: 0. */
static inline size_t delta_size(const struct delta *delta)
{
	return delta ? delta->count + delta->nslots : 0;
}

/* The handle of an opened index. */

/** Invariants of a writer: `end` and the length of `pending` are multiples of 8; the last record of
    the journal or, if there is one, of `pending` has the number `lsn`, which is not below m.lsn;
    `lock` and `journal` are open.  A reader has no pending records and no descriptors. */
struct index {
	struct os *os;
	enum index_mode mode;
	int dirfd, lock;         /* for a writer; -1: not open */
	struct manifest m;
	uint64_t lsn;            /* of the last change, committed or not */
	size_t size;             /* of the manifest file, in bytes, when it was read */

	/* For a writer: */
	int journal;
	uint64_t end;            /* offset in the journal where the last commit ends */
	struct strbuf pending;   /* records of the changes since the last commit */
	bool dirty;              /* members of m.info were changed since the last commit */
	bool dir_unsynced;       /* the manifest was renamed, but the directory was not synced */
	uint32_t spill;          /* cluster for new directories that have no room in the cluster of
	                            their parent; UINT32_MAX: none */
};

/** A directory, read from a delta or a segment. */
struct dir_view {
	index_dir parent;
	int64_t listed;
	const char *name;
	size_t len;
	struct index_row row;
};

/** Read a directory.
    @columns  The set of columns of the row to decode, as in segment_row(); the other columns are 0.
              0: the row is not set.
    @return 0, or -1 (ENOENT, EBADMSG, ENOMEM). */
int dir_view(struct index *index, index_dir dir, uint32_t columns, struct dir_view *view);

/** Whether a cluster may have subdirectories of a directory. */
bool cluster_has_parent(const struct index *index, uint32_t cluster, index_dir parent);

/** Get the number of slots of a cluster, including slots that are only in the delta.  @return 0, or
    -1. */
int cluster_slots(struct index *index, uint32_t cluster, uint32_t *slots);

/** Apply a change to the state in memory.
    @return 0, or -1: the state is unchanged.  Errors: ENOMEM; EBADMSG: the change is impossible. */
int store_apply(struct index *index, const struct journal_record *record);

/** Set the members rows, dirs and bytes of m.info. */
void store_count(struct index *index);

/* The files in the directory of an index. */

/** The name of a numbered file: "segment.7". */
struct store_name {
	char text[40];
};
struct store_name store_name(const char *kind, uint64_t number);

/** Lock the index for writing.
    @return a descriptor, or -1.  Errors: EWOULDBLOCK: another process writes the index; those of
    openat(2), flock(2). */
int store_lock(struct os *os, int dirfd);

/** Remove the numbered files that a manifest does not name.
    @m  NULL: remove no file.
    @next [out]  Increased to be greater than the numbers of all files.  May be NULL.
    @return 0, or -1. */
int store_clean(struct os *os, int dirfd, const struct manifest *m, uint64_t *next);

/** A new file, open for writing. */
struct store_file {
	int fd;
	uint64_t number, size;
	struct store_name name;
};

/** Create a numbered file; append bytes to the file.  @return 0, or -1. */
int store_create(struct os *os, int dirfd, const char *kind, uint64_t number,
                 struct store_file *file);
int store_write(struct os *os, struct store_file *file, const void *bytes, size_t size);

/** Append the contents of a buffer.  @return 0, or -1; ENOMEM: an append to the buffer had
    failed. */
int store_put(struct os *os, struct store_file *file, const struct strbuf *bytes);
/** Close and remove the file.  If file->fd is -1, do nothing. */
void store_drop(struct os *os, int dirfd, struct store_file *file);

/** Write a new manifest, sync it, and rename it to "manifest".
    @replaced [out]  Whether the rename was done; after an error, the directory may not be synced.
    @return 0, or -1. */
int store_replace(struct os *os, int dirfd, const struct manifest *m, bool *replaced);

/** Set the members of a cluster that the manifest stores, from the bytes of its segment.
    @number  The number of the cluster.
    @return 0, or -1. */
int store_describe(struct index_cluster *cluster, uint32_t number, const char *bytes, size_t size,
                   const struct segment_summary *summary);

/** Verify that no page of the maps was lost, so that data made from the maps may be stored.
    @return 0, or -1 (EBADMSG). */
int store_intact(const struct manifest *m);

#endif
