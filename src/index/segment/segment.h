/* SPDX-License-Identifier: MIT */
/**
 * A segment: the bytes of one cluster of an index (pure).
 *
 * An index divides the directories of a file system into clusters.  A cluster has a slot for each
 * of its directories, and a row for each object in these directories.  The row of a directory is in
 * the cluster that has its slot, not in the cluster of its parent.  IC_DIR in this row is the slot
 * of the directory itself; the slot has the number of the parent.  So renaming a directory changes
 * one row, however much is below the directory.
 *
 *     header       magic, version, counts; offset, length and checksum of each part; at the end
 *                  the checksum of the header (XXH3, 64 bits)
 *     filters      Bloom filters of names, extensions, and trigrams of names in lower case.  A key
 *                  sets its bits in one block of 64 bytes; a filter has 10 bits per distinct key
 *     names        the distinct names, first those of directories, sorted by their bytes, in
 *                  blocks compressed with zstd; and the first name of each block
 *     columns      the rows, in the order of a K-D tree over owner, size and mtime, cut into leaves
 *                  of INDEX_LEAF rows.  For each column and leaf: minimum, maximum, and the values
 *                  as differences to the minimum or to another column, packed in the number of
 *                  bits that most of the differences need
 *     slots        parent, row, name and time of the last complete listing of each directory, as
 *                  columns
 *
 * segment_impl.h describes each byte.
 *
 * The K-D tree splits the rows at the median of one dimension after the other until the size of a
 * leaf is reached.  The dimensions cycle; a dimension whose values are all equal is skipped.  The
 * tree itself is not stored: to skip leaves, a query compares their minimum and maximum.
 *
 * All numbers are little-endian.  A reader trusts nothing: it checks every offset, count and name,
 * and verifies the checksum of each part, block or leaf at its first use.  Only one thread may use
 * a segment at a time.
 */
#ifndef GM_INDEX_SEGMENT_SEGMENT_H
#define GM_INDEX_SEGMENT_SEGMENT_H

#include "base/strbuf.h"
#include "index/segment/row.h"

#include <stdatomic.h>

struct segment_slot {
	index_dir parent;        /* number of the parent; INDEX_DIR_NONE: the directory is the root,
	                            or the slot is free */
	uint32_t row;            /* row of the directory itself; UINT32_MAX: the slot is free */
	int64_t listed;          /* when the last complete listing of the directory began: seconds
	                            since 1970; 0: never */
	uint32_t name;           /* number of the name of the directory; set by segment_write() */
};

/* Functions for writing a cluster. */

/** The contents of a cluster.  The arrays must exist during segment_write(). */
struct segment_contents {
	const struct index_row *rows;    /* in any order; IC_NAME is an index in `names` */
	uint32_t nrows;
	struct segment_name { const char *text; uint32_t len; } *names;   /* may have duplicates;
	                                                                     names that no row uses
	                                                                     are not written */
	uint32_t nnames;
	struct segment_slot *slots;      /* row and name are set by segment_write() */
	uint32_t nslots;
	uint64_t lsn;                    /* the last journaled change (log sequence number) that the
	                                    rows include */
};

/** The numbers about a cluster that the manifest stores. */
struct segment_summary {
	uint32_t nrows, ndirs;
	uint64_t min[IC_COUNT], max[IC_COUNT];   /* for the columns from IC_FIRST_ZONE up to but
	                                            excluding IC_END_ZONE */
};

/** Append a cluster to `out`.
    @out  The length is a multiple of 8 before and after the call; unchanged on error.
    @summary [out]
    @return 0, or -1.  Errors: ENOMEM; EFBIG; EINVAL: a name is invalid, a directory has two rows,
    or the directory of a row has no row. */
int segment_write(struct segment_contents *contents, struct strbuf *out,
                  struct segment_summary *summary);

/* Functions for reading a cluster. */

struct segment;

/** Open a cluster.
    @data  The bytes of the cluster, aligned to 8.  They are not copied: they must exist until
           segment_close().
    @return a segment, or NULL.  Errors: EBADMSG: damaged; EPROTONOSUPPORT: another version of the
    format; ENOMEM.  Ownership: segment_close(). */
struct segment *segment_open(const void *data, size_t size);
void segment_close(struct segment *segment);

/** Declare that the bytes of the segment are in a map of a file.  If a page of the map is lost
    (cannot be read), all functions of the segment fail with EBADMSG.
    @lost  The flag of os_map(); it must exist until segment_close(). */
void segment_guard(struct segment *segment, const atomic_bool *lost);

/** Free the decoded names and slots.  Names that segment_name() returned are no longer valid. */
void segment_trim(struct segment *segment);

uint32_t segment_rows(const struct segment *segment);
uint32_t segment_slots(const struct segment *segment);
uint64_t segment_lsn(const struct segment *segment);

/** Get the directory in a slot.  @return 0, or -1 (EBADMSG). */
int segment_slot(struct segment *segment, uint32_t slot, struct segment_slot *out);

/** The filters of a cluster, by the kind of their keys. */
enum segment_filter { SF_NAMES, SF_EXTENSIONS, SF_TRIGRAMS };

/** The hash of a key, equal in all clusters.  An extension is the text after the last dot of a
    name, unless the dot is the first byte; a trigram is 3 adjacent bytes of a name, in lower case
    (ASCII). */
uint64_t segment_hash(const char *key, size_t len);

/** The key in SF_NAMES that only names of directories have, made from the hash of the name. */
static inline uint64_t segment_dir_hash(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15u;
}

/** Whether a cluster may have a key, given by its hash.  @return 1: probably; 0: no; -1
    (EBADMSG). */
int segment_may_have(struct segment *segment, enum segment_filter filter, uint64_t hash);

/** Find the number of a name.
    @dirs  Search only the names of directories.
    @id [out]
    @return 1; 0: the name does not exist; or -1 (EBADMSG, ENOMEM). */
int segment_find_name(struct segment *segment, const char *name, size_t len, bool dirs,
                      uint32_t *id);

/** Number of distinct names; the name with a number, with a final NUL.  The root has the name "".
    @return NULL: EBADMSG or ENOMEM; else valid until segment_close() or segment_trim(). */
uint32_t segment_names(const struct segment *segment);
const char *segment_name(struct segment *segment, uint32_t id, size_t *len);

/** Number of leaves; number of rows in a leaf.  The first row of a leaf is leaf * INDEX_LEAF. */
uint32_t segment_leaves(const struct segment *segment);
uint32_t segment_leaf_rows(const struct segment *segment, uint32_t leaf);

/** Get the minimum and maximum of a column in a leaf.  @return 0, or -1 (EBADMSG). */
int segment_leaf_range(struct segment *segment, uint32_t leaf, enum index_column column,
                       uint64_t *min, uint64_t *max);

/** Decode a column of a leaf.  All values of IC_DIR and IC_NAME are numbers of existing slots and
    names.
    @values [out]  Has room for INDEX_LEAF values; those after the last row are undefined.
    @return 0, or -1 (EBADMSG). */
int segment_leaf_column(struct segment *segment, uint32_t leaf, enum index_column column,
                        uint64_t *values);

/** Decode some columns of a row.
    @columns  The set of columns, a bit 1 << column for each, or INDEX_ALL.
    @out [out]  Columns outside of the set may be changed, too.
    @return 0, or -1 (EBADMSG). */
int segment_row(struct segment *segment, uint32_t row, uint32_t columns, struct index_row *out);

/** Verify all checksums and invariants.
    @why  If something is wrong, a phrase with the reason is appended.
    @return 0, or -1 (EBADMSG, ENOMEM). */
int segment_check(struct segment *segment, struct strbuf *why);

/** Get the extension of a name.  @return NULL: the name has no extension. */
const char *name_extension(const char *name, size_t len, size_t *ext_len);

#endif
