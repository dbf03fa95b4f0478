/* SPDX-License-Identifier: MIT */
/**
 * What the files of the store share.
 *
 * A handle for reading maps all segment files when it is opened, so that it keeps one state of the
 * index, whatever a writer removes.  What a segment file holds is read when a cluster is used.
 */
#ifndef GM_INDEX_STORE_STORE_IMPL_H
#define GM_INDEX_STORE_STORE_IMPL_H

#include "base/arena.h"
#include "base/map64.h"
#include "index/store/store.h"
#include "os/map.h"

enum {
	INDEX_FORMAT = 3,                     /* version of manifest and journal */
	INDEX_CLUSTERS_MAX = 1 << 20,         /* more do not fit index_dir; nor does the last */
	MANIFEST_MAX = 1 << 30,               /* bytes */
	INDEX_FILES_MAX = 4096,
	INDEX_HEAD = 1024,                    /* bytes of a cluster that the manifest pins */
};
#define INDEX_NO_FILE UINT32_MAX

/* The manifest. */

/** A segment file. */
struct index_file {
	uint64_t number, size;
	const char *map;         /* NULL: not mapped */
	const atomic_bool *lost; /* for os_map_lost(); NULL: not mapped */
};

/** A cluster: what the manifest says, and what was made of it. */
struct index_cluster {
	uint32_t file;           /* position in the files; INDEX_NO_FILE: it has no segment */
	uint64_t offset, size, lsn;
	uint64_t head;           /* checksum of the first INDEX_HEAD bytes */
	struct segment_summary summary;
	index_dir *parents;      /* see index_parents(); some may be there twice */
	size_t nparents, parents_room;
	struct segment *segment; /* NULL: not opened, or none */
	struct delta *delta;     /* NULL: none */
};

struct manifest {
	struct index_info info;  /* rows, dirs and bytes are not stored */
	index_dir root;
	uint64_t journal;        /* its number */
	uint64_t lsn;            /* of the last change before the journal */
	uint64_t next;           /* no file has this number or a larger one */
	struct index_file *files;
	size_t nfiles, files_room;
	struct index_cluster *clusters;
	size_t nclusters, clusters_room;
};

/** Free what decoding allocated; segments and deltas too.  Maps are not unmapped. */
void manifest_destroy(struct manifest *manifest);

/** Append the bytes.  @return 0, or -1 (ENOMEM). */
int manifest_encode(const struct manifest *manifest, struct strbuf *out);

/** Parse.  @manifest [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: EBADMSG, EPROTONOSUPPORT, ENOMEM. */
int manifest_decode(const char *bytes, size_t size, struct manifest *manifest);

/** Add a cluster to a manifest.  @return it, or NULL (ENOMEM, EFBIG). */
struct index_cluster *manifest_add(struct manifest *manifest);

/** Note that a cluster has a subdirectory of a directory.  @return 0, or -1 (ENOMEM). */
int cluster_add_parent(struct index_cluster *cluster, uint32_t number, index_dir parent);

/* The journal. */

enum journal_type {
	JR_PUT = 1, JR_REMOVE, JR_PUT_DIR, JR_REMOVE_DIR,
	JR_COMMIT,               /* all records since the last one count */
	JR_SYNCED,               /* the commit before is on disk */
	JR_END_TYPES,
};

struct journal_record {
	enum journal_type type;
	uint32_t cluster, slot;
	const char *name;        /* not terminated */
	size_t len;
	struct index_row row;    /* PUT, PUT_DIR; IC_DIR is the slot, IC_NAME 0 */
	index_dir parent;        /* PUT_DIR */
	int64_t listed;          /* PUT_DIR */
	int64_t fresh, looked;   /* COMMIT */
	uint64_t generation;     /* COMMIT */
	bool incomplete;         /* COMMIT */
	uint64_t lsn;            /* [out] of reading */
};

/** A commit of a state. */
static inline struct journal_record journal_commit(const struct index_info *info)
{
	return (struct journal_record){
		.type = JR_COMMIT, .fresh = info->fresh, .looked = info->looked,
		.generation = info->generation, .incomplete = info->incomplete,
	};
}

enum { JOURNAL_HEAD = 40 };   /* bytes before the first record */

/** Append the head of a journal; a record.  @return 0, or -1 (ENOMEM). */
int journal_begin(struct strbuf *out, uint64_t number, uint64_t lsn);
int journal_append(struct strbuf *out, uint64_t number, const struct journal_record *record,
                   uint64_t lsn);

/** Read a record.  @at [in,out]  @lsn  The one it must have.
    @return false: it is cut, damaged or invalid. */
bool journal_next(const char *bytes, size_t size, size_t *at, uint64_t number, uint64_t lsn,
                  struct journal_record *record);

/** Find the end of the last commit.  @end, @lsn [out]
    @return 0, or -1 (EBADMSG: something before a commit that was on disk is damaged;
    EPROTONOSUPPORT). */
int journal_scan(const char *bytes, size_t size, uint64_t number, uint64_t first, size_t *end,
                 uint64_t *lsn);

/* Deltas. */

struct delta_slot {
	uint32_t slot;
	bool removed;            /* no directory; else the fields below count */
	bool cleared;            /* objects in the segment, and items before since, are gone */
	uint32_t since;
	index_dir parent;
	int64_t listed;
	const char *name;
	size_t len;
	struct index_row row;
};

struct delta_item {
	uint32_t slot;
	bool gone;               /* no such object */
	uint32_t next;           /* with the same hash; UINT32_MAX: none */
	const char *name;
	size_t len;
	struct index_row *row;   /* NULL: never was one */
};

struct delta {
	struct delta_item *items;
	size_t count, room;
	struct delta_slot *slots;
	size_t nslots, slots_room;
	struct map64 by_name, by_slot;
	struct arena arena;
	uint32_t end_slot;       /* above all slots that it mentions */
	bool clears;             /* a slot is cleared */
};

void delta_free(struct delta *delta);
/** Apply a change.  @return 0, or -1 (ENOMEM): nothing is changed. */
int delta_apply(struct delta *delta, const struct journal_record *record);
/** What a delta says of a slot; of an object.  NULL: nothing. */
const struct delta_slot *delta_slot(const struct delta *delta, uint32_t slot);
const struct delta_item *delta_find(const struct delta *delta, uint32_t slot, const char *name,
                                    size_t len);
/** Whether an item still counts. */
bool delta_counts(const struct delta *delta, const struct delta_item *item);
/** A number that grows with the delta. */
static inline size_t delta_size(const struct delta *delta)
{
	return delta ? delta->count + delta->nslots : 0;
}

/* The handle. */

struct index {
	struct os *os;
	enum index_mode mode;
	int dirfd, lock;         /* of a writer; -1 */
	struct manifest m;
	uint64_t lsn;            /* of the last change */
	size_t size;             /* of the manifest, when it was read */

	/* Of a writer. */
	int journal;
	uint64_t end;            /* of what is committed in the journal */
	struct strbuf pending;   /* records since */
	bool dirty;              /* fresh or incomplete was changed */
	bool dir_unsynced;       /* the manifest was renamed, but the directory not synced */
	uint32_t spill;          /* the cluster of new directories that fit nowhere else */
};

/** A directory as found: in a delta or a segment. */
struct dir_view {
	index_dir parent;
	int64_t listed;
	const char *name;
	size_t len;
	struct index_row row;
};

/** @columns  Of the row, those to decode, as of segment_row(); others are 0.  0: only the name and
    the slot are needed, and the row is not set.
    @return 0, or -1 (ENOENT, EBADMSG, ENOMEM). */
int dir_view(struct index *index, index_dir dir, uint32_t columns, struct dir_view *view);

/** Whether a cluster may have subdirectories of a directory. */
bool cluster_has_parent(const struct index *index, uint32_t cluster, index_dir parent);

/** The number of slots of a cluster, its delta included.  @return 0, or -1. */
int cluster_slots(struct index *index, uint32_t cluster, uint32_t *slots);

/** Apply a change to the state in memory.  @return 0, or -1: nothing is changed.  Errors:
    ENOMEM; EBADMSG: it is impossible. */
int store_apply(struct index *index, const struct journal_record *record);

/** Set rows, dirs and bytes of the info. */
void store_count(struct index *index);

/* Files. */

/** The name of a numbered file. */
struct store_name {
	char text[40];
};
struct store_name store_name(const char *kind, uint64_t number);

/** Lock the index.  @return a descriptor, or -1.  Errors: EWOULDBLOCK ... */
int store_lock(struct os *os, int dirfd);

/** Remove the numbered files that a manifest does not name.  @m  NULL: remove none.
    @next [out]  Above all numbers that files have.  May be NULL.  @return 0, or -1. */
int store_clean(struct os *os, int dirfd, const struct manifest *m, uint64_t *next);

/** A new file that is being written. */
struct store_file {
	int fd;
	uint64_t number, size;
	struct store_name name;
};

/** @return 0, or -1. */
int store_create(struct os *os, int dirfd, const char *kind, uint64_t number,
                 struct store_file *file);
int store_write(struct os *os, struct store_file *file, const void *bytes, size_t size);

/** Append a text.  @return 0, or -1, also if a part of it is missing (ENOMEM). */
int store_put(struct os *os, struct store_file *file, const struct strbuf *bytes);
/** Close; and remove it unless it is kept.  file->fd is -1: nothing. */
void store_drop(struct os *os, int dirfd, struct store_file *file);

/** Write, sync and rename a manifest.
    @replaced [out]  The new manifest is in place, although the directory may not be synced.
    @return 0, or -1. */
int store_replace(struct os *os, int dirfd, const struct manifest *m, bool *replaced);

/** Set what the manifest says of a cluster from its bytes.  @return 0, or -1. */
int store_describe(struct index_cluster *cluster, uint32_t number, const char *bytes, size_t size,
                   const struct segment_summary *summary);

/** Verify that no page of the maps was lost, so that what was made from them may be stored.
    @return 0, or -1 (EBADMSG). */
int store_intact(const struct manifest *m);

#endif
