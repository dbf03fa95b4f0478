/* SPDX-License-Identifier: MIT */
/**
 * What the files of the drift share.
 *
 *     drift.c         the flow; what is not mounted, and what has no line
 *     drift_line.c    a line against its mount: source, options, read-only
 *     drift_owner.c   who else may have mounted what is there
 */
#ifndef GM_AUDIT_DRIFT_IMPL_H
#define GM_AUDIT_DRIFT_IMPL_H

#include "audit/audit_impl.h"
#include "audit/rules/drift.h"

struct drift {
	const struct audit_drift_input *in;
	struct audit_report *report;
	struct map64 by_target;   /* hash of a mount point -> the uppermost line of the plan there */
	struct map64 lined;       /* mount -> the index of its line */
	struct map64 flipped;     /* superblock -> the line of which it was told to be read-only */
	bool *told;               /* of each line: what becomes of it is told already */
	size_t *cause;            /* of each line, the number from 1 of the finding that its source is not there; 0 */
	struct map64 named;       /* the devices of which a line names a subvolume that is mounted */
	bool any;                 /* a line of a mount or swap space */
	bool of_disk;             /* the root is of a device of a disk */
	struct strbuf text, actual;
	signed char container;    /* audit_is_contained() */
	bool failed;
};

/** A formatted string, until the buffer is used again. */
__attribute__((format(printf, 2, 3)))
const char *drift_form(struct strbuf *out, const char *format, ...);

/** Tell of a line, a mount, or both. */
void drift_tell(struct drift *drift, enum audit_code code, const struct tabline *line,
                const struct fstab_line *live, struct audit_finding *finding);

/** A rule is not judged of everything. */
void drift_leave_open(struct drift *drift, enum audit_code code);

/** A source and type, without secrets: also in a type, behind a comma that should be a blank. */
const char *drift_name(const struct drift *drift, struct strbuf *out, const char *source, const char *fstype);

/** The same of what is mounted. */
const char *drift_live_name(const struct drift *drift, struct strbuf *out, const struct fstab_line *live);

/** Whether a line has an option, by its name. */
bool drift_asks(const struct tabline *line, const char *name);

/** Whether a source names the device that is mounted. */
bool drift_same_device(const struct drift *drift, const char *source, const struct fstab_line *live);

/** Note the devices of which lines name subvolumes that are mounted. */
void drift_note_named(struct drift *drift);

/** Whether a line that names no subvolume may be of the file system's default, which is not known:
    unless the line of another of its subvolumes names that. */
bool drift_may_be_default(const struct drift *drift, const struct tabline *line, const struct fstab_line *live);

extern const char drift_of_default[];

/** Tell that something else is mounted than a line names: as a warning, that it is of another type.
    @message  Stays; drift_of_default, or another. */
void drift_tell_source(struct drift *drift, const struct tabline *line, const struct fstab_line *live,
                       enum audit_severity severity, const char *message);

/** Tell of a mount that has options otherwise than its line.
    @differ  Those, as the mount has them. */
void drift_tell_differs(struct drift *drift, const struct tabline *line, const struct fstab_line *live, const char *differ);

/** How a line's mount is made.  Where the merge has not compared it, what the line names is held
    against the mount; what else the mount has may be the system's, or a server's. */
void drift_judge_how(struct drift *drift, const struct tabline *line, const struct fstab_line *live);

/** A line of a mount of which it is not known whether it is its own. */
void drift_judge_unknown(struct drift *drift, const struct tabline *line, const struct fstab_line *live);

/** Whether a mount is one of which MNT-* tells: a line of it is not wrong. */
bool drift_is_lost(const struct drift *drift, const struct fstab_line *live);

/** Whether the source and type of a line say nothing of what is mounted: who serves FUSE names both
    as he likes, ceph shows addresses for names, and a root on layers or on NFS is its boot's. */
bool drift_is_of_server(const struct tabline *line, const struct fstab_line *live);

/** Whether what no line has, and nobody is known to own, should have one: it may still be somebody's.
    @can  It can have one. */
bool drift_wants_line(struct drift *drift, const struct fstab_line *live, bool can);

#endif
