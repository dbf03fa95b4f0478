/* SPDX-License-Identifier: MIT */
/**
 * Disk usage from an index, in one pass over the columns that the report needs.
 *
 * A file with several hard links is counted once, as usage.h describes: in the first of its rows in
 * the order of usage_rows().  du(1) counts the file at the first link that du finds, which depends
 * on the order of directories on disk.  So the sum of a whole tree agrees with du.  The sums of
 * single directories agree if no file has links in two of them.
 */
#ifndef GM_INDEX_SCAN_REPORT_H
#define GM_INDEX_SCAN_REPORT_H

#include "base/usage.h"
#include "index/store/store.h"

/** The property by which the objects of one directory are divided into rows; in the order of the
    words of --by. */
enum report_by {
	REPORT_DIR,              /* no division: one row per directory, with key 0 */
	REPORT_USER, REPORT_GROUP, REPORT_TYPE /* DT_* */,
	REPORT_EXTENSION,        /* for directories: ""; the key is an argument of
	                            report_extension() */
	REPORT_AGE,              /* time since the last change of the contents, in ranges of
	                            report_range() */
	REPORT_SIZE,             /* in ranges of report_range() */
};

struct report;

/** Make a report without objects.
    @roots  The names of the directories for report_add(); they must exist until report_free().
    @depth  Maximum depth of directories with rows of their own; 0: only the roots.
    @now    The time for REPORT_AGE, in seconds since 1970.
    @return NULL: ENOMEM.  Ownership: report_free(). */
struct report *report_new(enum report_by by, const char *const roots[], unsigned depth,
                          int64_t now);

/** Free a report.  NULL is allowed. */
void report_free(struct report *report);

/** Count the objects in and below a directory of an index, including the directory itself.
    @root  The index in `roots` of the name of the directory.
    @return 0, or -1.  Errors: EBADMSG: the index is damaged; ENOMEM. */
int report_add(struct report *report, size_t root, struct index *index, index_dir start);

/** Make the rows, see usage_rows().  sum.size is disk space, sum.apparent is the size of regular
    files and symbolic links; both are in bytes.
    @return 0, or -1.  Errors: ENOMEM. */
int report_rows(struct report *report, struct usage_row **rows, size_t *n);

/** Get the extension of a key of REPORT_EXTENSION, without the dot.  "": no extension. */
const char *report_extension(const struct report *report, uint32_t key);

/** Get the range of a key: days for REPORT_AGE, bytes for REPORT_SIZE.
    @from [out]
    @to [out]  The end, which is not in the range; UINT64_MAX: no limit.  Both are 0 for a time in
    the future. */
void report_range(enum report_by by, uint32_t key, uint64_t *from, uint64_t *to);

#endif
