/* SPDX-License-Identifier: MIT */
/**
 * An object as the index stores it: its attributes, as numbers in columns.
 *
 * Signed seconds are stored with the top bit inverted, so that all columns compare as unsigned
 * numbers.
 */
#ifndef GM_INDEX_SEGMENT_ROW_H
#define GM_INDEX_SEGMENT_ROW_H

#include "os/kernel.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The columns, in the order in which a cluster stores them. */
enum index_column {
	IC_DIR,        /* the slot of the object's directory; of a directory its own slot */
	IC_NAME,       /* number of its name in the dictionary of the cluster */
	IC_UID, IC_GID, IC_SIZE, IC_MSEC, IC_CSEC, IC_ASEC, IC_BSEC,
	IC_INO, IC_MODE /* with the type */, IC_NLINK, IC_BLOCKS,
	IC_MNSEC, IC_CNSEC, IC_ANSEC, IC_BNSEC,
	IC_RDEV,       /* major << 32 | minor */
	IC_ATTRS,      /* stx_attributes */
	IC_FLAGS,      /* enum index_flags */
	IC_COUNT,
	INDEX_ALL = (1 << IC_COUNT) - 1,   /* all columns, as a set */
	IC_FIRST_ZONE = IC_UID, IC_END_ZONE = IC_INO,   /* columns that the manifest summarizes */
};

enum index_flags {
	IF_BTIME = 1 << 0,      /* the time of birth is known */
	/* The attributes are unknown: only the type and name count.  All others are 0, times the
	   second 0: a scan knows from the least change time that there may be such an object. */
	IF_LOST = 1 << 1,
	IF_UNREAD = 1 << 2,     /* a directory that could not be read, or not completely */
};

enum {
	INDEX_LEAF = 256,           /* rows of a leaf */
	INDEX_SOFT_ROWS = 20000,    /* rows of a cluster; exceeded by one large directory */
	INDEX_HARD_DIRS = 2000,     /* directories that a build puts into a cluster */
	INDEX_SLOT_BITS = 12,
	INDEX_SLOTS = 1 << INDEX_SLOT_BITS,  /* directories of a cluster, at most */
	INDEX_NAME_MAX = 255,       /* bytes of a name */
};

/** A directory of an index: cluster << INDEX_SLOT_BITS | slot. */
typedef uint32_t index_dir;
#define INDEX_DIR_NONE UINT32_MAX    /* no directory; the parent of the root */
static inline uint32_t index_dir_cluster(index_dir dir) { return dir >> INDEX_SLOT_BITS; }
static inline uint32_t index_dir_slot(index_dir dir) { return dir & (INDEX_SLOTS - 1); }

struct index_row {
	uint64_t col[IC_COUNT];
};

static inline uint64_t index_from_signed(int64_t n)
{
	return (uint64_t)n ^ (uint64_t)1 << 63;
}

static inline int64_t index_to_signed(uint64_t n)
{
	return (int64_t)(n ^ (uint64_t)1 << 63);
}

/** Whether a number can be a time of day at which something was read, in seconds.  Readers refuse
    others: so differences of two do not overflow. */
static inline bool index_clock_valid(int64_t seconds)
{
	return seconds >= 0 && seconds <= INT64_MAX / 2;
}

/** Fill the attributes from statx.  IC_DIR and IC_NAME are not changed. */
void index_row_from(struct index_row *row, const struct k_statx *st);

/** Fill the row of an object of which only the type, DT_*, is known (IF_LOST). */
void index_row_lost(struct index_row *row, uint8_t type);

/** Make statx attributes of a row: everything but the device and mount. */
void index_row_to(const struct index_row *row, struct k_statx *st);

/** Whether a name is "." or "..". */
static inline bool name_is_dots(const char *name, size_t len)
{
	return (len == 1 && name[0] == '.') || (len == 2 && name[0] == '.' && name[1] == '.');
}

/** Whether a name can be that of an object.  "" is that of the root. */
static inline bool name_valid(const char *name, size_t len)
{
	return len <= INDEX_NAME_MAX && !memchr(name, '\0', len) && !memchr(name, '/', len)
	       && !name_is_dots(name, len);
}

/** The type, DT_*. */
static inline uint8_t index_row_type(const struct index_row *row)
{
	return (uint8_t)(row->col[IC_MODE] >> 12 & 15);
}

#endif
