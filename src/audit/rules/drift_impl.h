/* SPDX-License-Identifier: MIT */
/**
 * What the files of the drift share.
 *
 *     drift.c         the flow; lines that are not mounted, mounts without a line
 *     drift_line.c    a line and its mount compared: source, options, read-only
 *     drift_owner.c   who may have mounted what is not in the fstab
 */
#ifndef GM_AUDIT_DRIFT_IMPL_H
#define GM_AUDIT_DRIFT_IMPL_H

#include "audit/audit_impl.h"

struct drift {
	const struct audit_live *in;
	struct audit_report *report;
	struct map64 by_target;   /* hash of a mount point -> the uppermost plan line there */
	struct map64 lined;       /* mount -> the index of its line */
	struct map64 flipped;     /* superblock -> the line for which it is reported as read-only */
	struct map64 named;       /* devices of which a line names a subvolume that is mounted */
	bool *reported;           /* for each line: its mount is judged already */
	size_t *cause;            /* for each line, the finding, from 1, that its source is
	                             missing; 0 */
	bool any;                 /* a line of a mount or swap space */
	bool of_disk;             /* the root is of a device of a disk */
	signed char container;    /* audit_is_contained() */
};

/** Report a line, a mount, or both. */
__attribute__((format(printf, 9, 10)))
void drift_report(struct drift *drift, enum audit_code code, const struct tabline *line,
                  const struct fstab_line *live, enum audit_severity severity,
                  const char *expected, const char *actual, const char *hint,
                  const char *format, ...);

/** A source and type, without secrets, which may be in the type after a misplaced comma. */
const char *drift_name(const struct drift *drift, const char *source, const char *fstype);

/** The source and type of a mount. */
const char *drift_live_name(const struct drift *drift, const struct fstab_line *live);

/** Whether a line has an option with this name. */
bool drift_has_option(const struct tabline *line, const char *name);

/** Whether a line is a bind. */
bool drift_is_bind(const struct tabline *line);

/** Whether a source names the device that is mounted. */
bool drift_same_device(const struct drift *drift, const char *source,
                       const struct fstab_line *live);

/** Note the devices whose mounted subvolumes are named in lines. */
void drift_note_named(struct drift *drift);

/** Whether a line without a subvolume may mean the default of the file system, which is not known:
    not if another line names a subvolume of the file system. */
bool drift_may_be_default(const struct drift *drift, const struct tabline *line,
                          const struct fstab_line *live);

/** What is mounted instead of what a line names. */
enum drift_source { DRIFT_OF_OTHER, DRIFT_OF_OTHER_TYPE, DRIFT_OF_DEFAULT_SUBVOLUME };

/** Report that something else is mounted than a line names. */
void drift_report_source(struct drift *drift, const struct tabline *line,
                         const struct fstab_line *live, enum drift_source kind);

/** Report a mount with other options than its line.
    @differ  The options that differ, as the mount has them. */
void drift_report_options(struct drift *drift, const struct tabline *line,
                          const struct fstab_line *live, const char *differ);

/** Judge how a matched line is mounted.  If the plan has no line of the mount, only what the line
    names is compared: the rest may be the system's or a server's. */
void drift_judge_how(struct drift *drift, const struct tabline *line,
                     const struct fstab_line *live);

/** Judge a line that may or may not be that of a mount. */
void drift_judge_unknown(struct drift *drift, const struct tabline *line,
                         const struct fstab_line *live);

/** Whether MNT-* rules report the mount: its line is not wrong. */
bool drift_is_lost(const struct drift *drift, const struct fstab_line *live);

/** Whether the source and type of a line cannot be compared with the mount: a FUSE server chooses
    both, ceph shows addresses for names, and boot chose a root of layers or on NFS. */
bool drift_is_of_server(const struct tabline *line, const struct fstab_line *live);

/** Whether a mount without a line and a known owner should have a line.
    @can  It can be expressed in one. */
bool drift_wants_line(struct drift *drift, const struct fstab_line *live, bool can);

#endif
