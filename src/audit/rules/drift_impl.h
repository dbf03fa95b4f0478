/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the drift rules.
 *
 *     drift.c         the flow; lines without a mount, mounts without a line
 *     drift_line.c    comparing a line and its mount: source, options, read-only
 *     rbind.c         copies of mounts that an rbind lacks
 *     drift_report.c  findings about a line and a mount, and their names
 */
#ifndef GM_AUDIT_DRIFT_IMPL_H
#define GM_AUDIT_DRIFT_IMPL_H

#include "audit/audit_impl.h"

struct drift {
	const struct audit_live *in;
	struct audit_report *report;
	struct pathmap by_target;   /* mount point -> the line of its topmost mount in the plan */
	struct map64 lined;       /* mount -> index of its line */
	struct map64 flipped;     /* superblock -> the line whose finding reports that it is
	                             read-only */
	struct map64 named;       /* devices of which a line names a mounted subvolume */
	bool *reported;           /* by line: its mount has been checked */
	size_t *cause;            /* by line: number of the finding, from 1, that its source is
	                             missing; 0: none */
	bool any;                 /* the fstab has a line for a mount or swap space */
	bool of_disk;             /* the root is on a disk */
	signed char container;    /* audit_is_contained() */
};

/** Report a line, a mount, or both. */
__attribute__((format(printf, 9, 10)))
void drift_report(struct drift *drift, enum audit_code code, const struct fstab_entry *line,
                  const struct fstab_line *live, enum audit_severity severity,
                  const char *expected, const char *actual, const char *hint,
                  const char *format, ...);

/** fstab_name_line() and fstab_name_live(), as strings for a message. */
const char *drift_line_name(const struct drift *drift, const struct fstab_entry *line,
                            const struct fstab_line *live);
const char *drift_live_name(const struct drift *drift, const struct fstab_line *live,
                            const struct fstab_entry *line);

/** Whether a source names the mounted device. */
bool drift_same_device(const struct drift *drift, const char *source,
                       const struct fstab_line *live);

/** Record the devices of which a line names a mounted subvolume. */
void drift_note_named(struct drift *drift);

/** Whether a line without a subvolume may refer to the default subvolume, which is unknown.
    False if another line names a subvolume of the file system. */
bool drift_may_be_default(const struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live);

/** The kind of difference between a line's source and the mounted source. */
enum drift_source { DRIFT_OF_OTHER, DRIFT_OF_OTHER_TYPE, DRIFT_OF_DEFAULT_SUBVOLUME };

/** Report that the mounted source or type differs from the line. */
void drift_report_source(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live, enum drift_source kind);

/** The topmost mount on a mount point, unless it is hidden; or NULL. */
const struct fstab_line *drift_live_at(const struct drift *drift, const char *target);

/** Report a mount whose options differ from its line.
    @differ  The differing options, as the mount has them. */
void drift_report_options(struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live, const char *differ);

/** Check a line whose mount or file system is unexpectedly read-only. */
void drift_check_readonly(struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live);

/** Compare a matched line with its mount.  If the plan has no line for the mount, only options that
    the fstab line names are compared: others may come from the system or a server. */
void drift_check_how(struct drift *drift, const struct fstab_entry *line,
                     const struct fstab_line *live);

/** Check a line that possibly belongs to a mount. */
void drift_check_unknown(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live);

/** Report each recursive bind and each mount that the bind should have copied but did not: a mount
    that is older than the bind, by its unique ID, and can be bound.  Without unique IDs nothing is
    reported. */
void drift_find_left_out(struct drift *drift);

#endif
