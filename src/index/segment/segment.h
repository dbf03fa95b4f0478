/* SPDX-License-Identifier: MIT */
/**
 * A cluster as bytes: whole directories of one part of a tree (pure).
 *
 * A cluster holds directories, in slots, and the rows of their objects.  The row of a directory is
 * in the directory's own cluster, not in that of its parent, and its IC_DIR is its own slot; its
 * slot names its parent.  So a renamed directory changes one row, whatever is below it.
 *
 *     header       magic, version, counts, and offset, length and checksum of each part;
 *                  last its own checksum (XXH3, 64 bits)
 *     filters      Bloom filters: names, extensions, trigrams of names in lower case.  A key
 *                  sets its bits in one block of 64 bytes; 10 bits for each distinct key
 *     names        the distinct names, sorted as bytes, first those of directories, in blocks
 *                  compressed with zstd; and the first name of each block
 *     columns      rows in the order of a K-D tree over owner, size and mtime, cut into leaves of
 *                  INDEX_LEAF rows; of each column and leaf minimum, maximum, and the rows'
 *                  differences to the minimum or to another column, packed in as many bits as
 *                  most of them need
 *     slots        of each slot: parent, row, name, time of the last complete listing; as columns
 *
 * segment_impl.h describes each byte.
 *
 * The order is made by the median of one dimension after the other (the dimensions cycle; one
 * whose values are all equal is passed over) until a leaf is left.  The tree itself is not stored:
 * the ranges of the leaves prune as well.
 *
 * All numbers are little-endian.  A reader trusts nothing: every offset, count and name is
 * checked, and the checksum of each part, block or leaf when it is first used.  A segment may be
 * used by one thread at a time.
 */
#ifndef GM_INDEX_SEGMENT_SEGMENT_H
#define GM_INDEX_SEGMENT_SEGMENT_H

#include "base/strbuf.h"
#include "index/segment/row.h"

#include <stdatomic.h>

struct segment_slot {
	index_dir parent;        /* INDEX_DIR_NONE: the root, or with row UINT32_MAX a free slot */
	uint32_t row;            /* of the directory itself; UINT32_MAX: none, the slot is free */
	int64_t listed;          /* when its last complete listing began: seconds; 0: never */
	uint32_t name;           /* its number; set by segment_write() */
};

/* Writing. */

/** The contents of a cluster.  Borrowed during segment_write(). */
struct segment_contents {
	const struct index_row *rows;    /* in any order; IC_NAME: an index in names */
	uint32_t nrows;
	struct segment_name { const char *text; uint32_t len; } *names;   /* may repeat; those of no
	                                                                     row are left out */
	uint32_t nnames;
	struct segment_slot *slots;      /* row and name are set by segment_write() */
	uint32_t nslots;
	uint64_t lsn;                    /* changes up to this one are included */
};

/** What a manifest says of a cluster. */
struct segment_summary {
	uint32_t nrows, ndirs;
	uint64_t min[IC_COUNT], max[IC_COUNT];   /* of columns from IC_FIRST_ZONE to IC_END_ZONE */
};

/** Append a cluster.
    @out  Its length is a multiple of 8, before and afterwards; unchanged on error.
    @summary [out]
    @return 0, or -1.  Errors: ENOMEM; EFBIG; EINVAL: a name is invalid, a directory has two rows,
    or a row is in a directory that has none. */
int segment_write(struct segment_contents *contents, struct strbuf *out,
                  struct segment_summary *summary);

/* Reading. */

struct segment;

/** Open a cluster.
    @data  Its bytes, aligned to 8; they outlive the segment, and are not modified.
    @return a segment, or NULL.  Errors: EBADMSG: damaged; EPROTONOSUPPORT: another version;
    ENOMEM.  Ownership: segment_close(). */
struct segment *segment_open(const void *data, size_t size);
void segment_close(struct segment *segment);

/** Its bytes are those of a map, of which pages may be lost: from then on, all functions fail with
    EBADMSG.  @lost  For os_map_lost(); it outlives the segment. */
void segment_guard(struct segment *segment, const atomic_bool *lost);

/** Free what was decoded: names that segment_name() has returned are no longer valid. */
void segment_trim(struct segment *segment);

uint32_t segment_rows(const struct segment *segment);
uint32_t segment_slots(const struct segment *segment);
uint64_t segment_lsn(const struct segment *segment);

/** Get a slot.  @return 0, or -1 (EBADMSG). */
int segment_slot(struct segment *segment, uint32_t slot, struct segment_slot *out);

/** Keys of filters. */
enum segment_filter { SF_NAMES, SF_EXTENSIONS, SF_TRIGRAMS };

/** The hash of a key: the same for all clusters.  An extension is what follows the last dot of a
    name, unless that is its first byte; a trigram is 3 bytes, in lower case (ASCII). */
uint64_t segment_hash(const char *key, size_t len);

/** The key in SF_NAMES of a name that a directory has, by the hash of the name. */
static inline uint64_t segment_dir_hash(uint64_t hash)
{
	return hash * 0x9e3779b97f4a7c15u;
}

/** Whether a cluster may have a key.  @return 1, 0, or -1 (EBADMSG). */
int segment_may_have(struct segment *segment, enum segment_filter filter, uint64_t hash);

/** Find a name.  @dirs  Only if a directory has it.
    @id [out]  @return 1, 0: no such name, or -1 (EBADMSG, ENOMEM). */
int segment_find_name(struct segment *segment, const char *name, size_t len, bool dirs,
                      uint32_t *id);

/** Number of names; a name by its number.  "" is the name of the root.
    @return NULL: EBADMSG or ENOMEM; else valid until segment_close() or segment_trim(), with a
    final NUL. */
uint32_t segment_names(const struct segment *segment);
const char *segment_name(struct segment *segment, uint32_t id, size_t *len);

/** Number of leaves; rows of a leaf, which begin at leaf * INDEX_LEAF. */
uint32_t segment_leaves(const struct segment *segment);
uint32_t segment_leaf_rows(const struct segment *segment, uint32_t leaf);

/** Minimum and maximum of a column in a leaf.  @return 0, or -1 (EBADMSG). */
int segment_leaf_range(struct segment *segment, uint32_t leaf, enum index_column column,
                       uint64_t *min, uint64_t *max);

/** Decode a column of a leaf.  What IC_DIR and IC_NAME number exists.
    @values [out]  Room for INDEX_LEAF of them; what follows the last row is undefined.
    @return 0, or -1 (EBADMSG). */
int segment_leaf_column(struct segment *segment, uint32_t leaf, enum index_column column,
                        uint64_t *values);

/** Decode columns of a row.
    @columns  1 << column; INDEX_ALL.  @out [out]  Other columns of it may be changed, too.
    @return 0, or -1 (EBADMSG). */
int segment_row(struct segment *segment, uint32_t row, uint32_t columns, struct index_row *out);

/** Verify every checksum and every invariant.
    @why  A phrase is appended if something is wrong.  @return 0, or -1 (EBADMSG, ENOMEM). */
int segment_check(struct segment *segment, struct strbuf *why);

#endif
