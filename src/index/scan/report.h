/* SPDX-License-Identifier: MIT */
/**
 * Disk usage from an index: one pass over the columns that the question needs.
 *
 * A file with several hard links is counted once, as usage.h has it: in the first row, in the order
 * of usage_rows(), that it belongs to.  du(1) counts it where it meets it first, which depends on
 * the order of directories on disk.  So sums of a whole tree agree with du, and those of single
 * directories if all links of a file are below one of them.
 */
#ifndef GM_INDEX_SCAN_REPORT_H
#define GM_INDEX_SCAN_REPORT_H

#include "base/usage.h"
#include "index/store/store.h"

/** What rows of one directory differ in; in the order of the words of --by. */
enum report_by {
	REPORT_DIR,              /* nothing: the key is 0 */
	REPORT_USER, REPORT_GROUP, REPORT_TYPE /* DT_* */,
	REPORT_EXTENSION,        /* a number of report_extension(); of directories that of "" */
	REPORT_AGE,              /* since the last change of the contents; see report_range() */
	REPORT_SIZE,             /* in bytes; see report_range() */
};

struct report;

/** Count nothing yet.
    @roots  The names of the directories that report_add() counts; they must remain valid.
    @depth  Of the deepest directories with rows; 0: the roots.
    @now    Seconds, for ages.
    @return NULL: ENOMEM.  Ownership: report_free(). */
struct report *report_new(enum report_by by, const char *const roots[], unsigned depth,
                          int64_t now);

/** Free it; NULL is allowed. */
void report_free(struct report *report);

/** Count what is at and below a directory of an index.
    @root  The index of its name in roots.
    @return 0, or -1.  Errors: EBADMSG: the index is damaged; ENOMEM. */
int report_add(struct report *report, size_t root, struct index *index, index_dir start);

/** Make the rows, see usage_rows().  sum.size is disk space, sum.apparent the size of regular files
    and symbolic links.  @return 0, or -1.  Errors: ENOMEM. */
int report_rows(struct report *report, struct usage_row **rows, size_t *n);

/** The extension of a key, without the dot.  "": none. */
const char *report_extension(const struct report *report, uint32_t key);

/** The range of a key: days for REPORT_AGE, bytes for REPORT_SIZE; `to` is not included.
    @from, to [out]  UINT64_MAX: no limit; of an age in the future both are 0. */
void report_range(enum report_by by, uint32_t key, uint64_t *from, uint64_t *to);

#endif
