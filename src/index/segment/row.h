/* SPDX-License-Identifier: MIT */
/**
 * An object as the index stores it: its attributes as numbers, one per column.
 *
 * Signed seconds are stored with the top bit inverted, so that the unsigned order of all columns is
 * the order of their values.
 */
#ifndef GM_INDEX_SEGMENT_ROW_H
#define GM_INDEX_SEGMENT_ROW_H

#include "os/kernel.h"

#include <assert.h>
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The columns, in the order in which a cluster stores them. */
enum index_column {
	IC_DIR,        /* slot of the directory that contains the object; for a directory, its own
	                  slot */
	IC_NAME,       /* number of the name in the cluster */
	IC_UID, IC_GID, IC_SIZE, IC_MSEC, IC_CSEC, IC_ASEC, IC_BSEC,
	IC_INO, IC_MODE /* mode with the file type */, IC_NLINK, IC_BLOCKS,
	IC_MNSEC, IC_CNSEC, IC_ANSEC, IC_BNSEC,
	IC_RDEV,       /* major << 32 | minor */
	IC_ATTRS,      /* stx_attributes */
	IC_FLAGS,      /* enum index_flags */
	IC_COUNT,
	INDEX_ALL = (1 << IC_COUNT) - 1,   /* all columns, as a set */
	IC_FIRST_ZONE = IC_UID, IC_END_ZONE = IC_INO,   /* columns whose minimum and maximum are in
	                                                   the manifest */
};

enum index_flags {
	IF_BTIME = 1 << 0,      /* the birth time is known */
	/* The attributes are unknown: only the name and the type are valid.  All other columns are
	   0, and times are second 0.  So a least change time of 0 shows that a cluster or leaf may
	   have such an object. */
	IF_LOST = 1 << 1,
	IF_UNREAD = 1 << 2,     /* a directory that could not be read completely */
};

enum {
	INDEX_LEAF = 256,           /* maximum rows of a leaf */
	INDEX_SOFT_ROWS = 20000,    /* maximum rows of a cluster, except for a single directory with
	                               more entries */
	INDEX_HARD_DIRS = 2000,     /* maximum directories that a build puts into a cluster */
	INDEX_SLOT_BITS = 12,
	INDEX_SLOTS = 1 << INDEX_SLOT_BITS,  /* maximum directories of a cluster */
	INDEX_NAME_MAX = 255,       /* maximum bytes of a name */
};

/** The number of a directory in an index: cluster << INDEX_SLOT_BITS | slot. */
typedef uint32_t index_dir;
#define INDEX_DIR_NONE UINT32_MAX    /* no directory; the parent of the root */
static inline uint32_t index_dir_cluster(index_dir dir) { return dir >> INDEX_SLOT_BITS; }
static inline uint32_t index_dir_slot(index_dir dir) { return dir & (INDEX_SLOTS - 1); }
static inline index_dir index_dir_of(uint32_t cluster, uint32_t slot)
{
	assert(cluster < INDEX_DIR_NONE >> INDEX_SLOT_BITS && slot < INDEX_SLOTS);
	return cluster << INDEX_SLOT_BITS | slot;
}

struct index_row {
	uint64_t col[IC_COUNT];
};

_Static_assert(IC_COUNT <= 31, "a set of columns is 1 << column");
_Static_assert(sizeof(struct index_row) == IC_COUNT * sizeof(uint64_t),
               "objects_digest() hashes all bytes of a row");
_Static_assert(INDEX_HARD_DIRS <= INDEX_SLOTS && INDEX_SLOTS % INDEX_LEAF == 0,
               "the directories of a cluster fit its slots, which are whole leaves");
_Static_assert(INDEX_NAME_MAX <= UINT8_MAX, "a length of a name fits a byte");

static inline uint64_t index_from_signed(int64_t n)
{
	return (uint64_t)n ^ (uint64_t)1 << 63;
}

static inline int64_t index_to_signed(uint64_t n)
{
	return (int64_t)(n ^ (uint64_t)1 << 63);
}

/** Whether a number is valid as the time, in seconds since 1970, at which something was read.
    Readers of the index reject other numbers, so that the difference of two times cannot
    overflow. */
static inline bool index_clock_valid(int64_t seconds)
{
	return seconds >= 0 && seconds <= INT64_MAX / 2;
}

/** Set the attributes of a row from statx.  IC_DIR and IC_NAME are not changed. */
void index_row_from(struct index_row *row, const struct k_statx *st);

/** Set the attributes of a row whose object has a known type, DT_*, but no known attributes
    (IF_LOST). */
void index_row_lost(struct index_row *row, uint8_t type);

/** Make the result of statx from a row: everything except the device and the mount ID. */
void index_row_to(const struct index_row *row, struct k_statx *st);

/** Whether a name is "." or "..". */
static inline bool name_is_dots(const char *name, size_t len)
{
	return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.');
}

/** Whether a name is valid for an object.  The root of the index has the name "". */
static inline bool name_valid(const char *name, size_t len)
{
	return len <= INDEX_NAME_MAX && !memchr(name, '\0', len) && !memchr(name, '/', len)
	       && !name_is_dots(name, len);
}

/** The file type of the object, DT_*. */
static inline uint8_t index_row_type(const struct index_row *row)
{
	return (uint8_t)(row->col[IC_MODE] >> 12 & 15);
}

#endif
