/* SPDX-License-Identifier: MIT */
/**
 * Interfaces between the files of the drift rules.
 *
 *     drift.c         turns differences into findings; checks lines without a mount and mounts
 *                     without a line
 *     drift_line.c    compares a line and its mount: source, options, read-only
 *     rbind.c         finds mounts that a recursive bind should have copied
 *     drift_report.c  adds findings about a line and a mount; names both
 */
#ifndef GM_AUDIT_DRIFT_IMPL_H
#define GM_AUDIT_DRIFT_IMPL_H

#include "audit/audit_impl.h"

enum { DRIFT_CUT_MAX = 16 };

struct drift {
	const struct audit_live *in;
	struct audit_report *report;
	struct pathmap by_target;   /* mount point -> the line of its topmost mount in the plan */
	struct map64 lined;       /* key of a mount -> index of its line */
	struct map64 flipped;     /* device of a superblock -> number of the line whose finding
	                             reports that the superblock is read-only */
	struct map64 named;       /* devices of the file systems for which a line names the mounted
	                             subvolume */
	bool *reported;           /* reported[i]: line i needs no further check */
	size_t *cause;            /* cause[i]: number, from 1, of the finding that explains line i:
	                             the source of the line is missing or misspelled, or the line
	                             is cut off; 0: no such finding */
	uint32_t cut[DRIFT_CUT_MAX];   /* numbers of the first lines that are cut off */
	size_t ncut;
	bool any;                 /* the fstab has an entry */
	bool of_disk;             /* the root is on a disk */
	signed char container;    /* cache of audit_is_contained() */
};

/** Add a finding about a line, a mount, or both; either may be NULL. */
__attribute__((format(printf, 9, 10)))
void drift_report(struct drift *drift, enum audit_code code, const struct fstab_entry *line,
                  const struct fstab_line *live, enum audit_severity severity,
                  const char *expected, const char *actual, const char *hint,
                  const char *format, ...);

/** A command that adds the missing lines of mounts, and makes damaged lines comments. */
const char *drift_restore_hint(const struct drift *drift);

/** Name a line, or a mount, for a message, as fstab_name_line() and fstab_name_live() do. */
const char *drift_line_name(const struct drift *drift, const struct fstab_entry *line,
                            const struct fstab_line *live);
const char *drift_live_name(const struct drift *drift, const struct fstab_line *live,
                            const struct fstab_entry *line);

/** Whether a source certainly names the device of a mount. */
bool drift_same_device(const struct drift *drift, const char *source,
                       const struct fstab_line *live);

/** Fill drift->named. */
void drift_note_named(struct drift *drift);

/** Whether a line without a subvolume may refer to the default subvolume, which is unknown.
    False if another line names a subvolume of the file system. */
bool drift_may_be_default(const struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live);

/** How the mounted source differs from the line: a different source; the same source with a
    different type; a subvolume that the line does not name. */
enum drift_source { DRIFT_OF_OTHER, DRIFT_OF_OTHER_TYPE, DRIFT_OF_DEFAULT_SUBVOLUME };

/** Report that the mounted source or type differs from the line. */
void drift_report_source(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live, enum drift_source kind);

/** Find the topmost mount on a mount point that is not hidden; or NULL. */
const struct fstab_line *drift_live_at(const struct drift *drift, const char *target);

/** Report a mount whose options differ from its line.
    @differ  The differing options, as the mount has them. */
void drift_report_options(struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live, const char *differ);

/** Report a mount or file system that is read-only although its line does not have "ro". */
void drift_check_readonly(struct drift *drift, const struct fstab_entry *line,
                          const struct fstab_line *live);

/** Compare the options, and the priority of a swap space, of a line with its mount.  If the plan
    has no line for the mount, only options that the line names are compared: further options of the
    mount may come from the system or a server. */
void drift_check_how(struct drift *drift, const struct fstab_entry *line,
                     const struct fstab_line *live);

/** Call drift_check_how() for a line that may or may not have made a mount.  Unless the system
    makes the mount by itself, mark DRIFT-SOURCE and DRIFT-OPTIONS as not checked. */
void drift_check_unknown(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live);

/** Report recursive binds that lack the copy of a mount below their source.  The bind should have
    copied the mount if the mount is older, by its unique ID, and can be bound.  Without unique IDs
    nothing is reported. */
void drift_find_left_out(struct drift *drift);

#endif
