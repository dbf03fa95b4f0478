/* SPDX-License-Identifier: MIT */
/**
 * The one model of fstab lines: which line belongs to which mount, and their differences.
 *
 *     lines, plan --> fstab_match() --> of each line its mount; differences
 *
 * It is used by the merge (fstab/edit/) and the audit of drift.  Lines and mounts are paired by
 * mount point, swap spaces by source.  Without evidence of a difference they count as equal: a
 * source that may be the same device, an option that the kernel does not show.  Pure except for
 * the callbacks.
 */
#ifndef GM_FSTAB_MATCH_H
#define GM_FSTAB_MATCH_H

#include "fstab/fstab.h"

struct fstab_match_input {
	const struct fstab_file *file;
	const struct fstab_input *in;   /* of the plan */
	const struct fstab_plan *plan;
};

enum fstab_difference_kind {
	FSTAB_DIFFER_MISSING,    /* a mount has no line */
	FSTAB_DIFFER_NO_LINE,    /* a mount has no line and cannot be expressed in one: `actual` */
	FSTAB_DIFFER_SOURCE,     /* the line mounts another source, type, subvolume or layers */
	FSTAB_DIFFER_OPTIONS,    /* VFS flags, or options of the file system */
	FSTAB_DIFFER_REPEATED,   /* the line has the source and mount point of the other */
	FSTAB_DIFFER_CONFLICT,     /* the line mounts another source on the mount point */
	FSTAB_DIFFER_ELSEWHERE,  /* the line is not mounted, but its source is, as live shows */
};

struct fstab_difference {
	enum fstab_difference_kind kind;
	const struct fstab_entry *line, *other;  /* of the file; or NULL */
	const struct fstab_line *live;       /* of the plan; or NULL */
	const char *expected;    /* OPTIONS: those of the line, decoded */
	const char *actual;      /* OPTIONS: those that differ, as the mount has them */
};

/** The source of a bind. */
struct fstab_bound {
	const struct mount *in;        /* the mount that it lies in; NULL: no bind, or not known */
	const char *path;              /* from ROOT, without links */
};

struct fstab_match {
	struct fstab_difference *differences;
	size_t count, capacity;
	const struct fstab_line **of;  /* for each line of the file, by its number - 1: its mount or
	                                  swap space; NULL: none */
	struct fstab_bound *bound;     /* the source of each of these that is a bind */
	struct matcher *matcher;       /* match/matcher.h: the lines and mounts, indexed */
	struct arena arena;
};

/** Match the lines of a file with the mounts of a plan; linear in both, except for swap spaces.
    @match [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_match(const struct fstab_match_input *in, struct fstab_match *match);

void fstab_match_destroy(struct fstab_match *match);

/** A line with the options of later lines that remount what it mounts. */
const struct fstab_entry *fstab_match_entry(const struct fstab_match *match,
                                            const struct fstab_entry *line);

/** Append the options that a line names and its mount has otherwise, as the mount has them, for a
    mount without a line of the plan: what the line does not name may be the system's or a server's,
    and that the mount is read-only does not count.
    @options  Of the line, decoded. */
void fstab_match_named(const struct fstab_line *live, const char *options, struct strbuf *differ);

/** Whether a line of these types and options may make a mount whose source and type its server
    chooses: FUSE; ceph shows addresses for names. */
bool fstab_match_served(const char *types, const char *options, const struct mount *mount);

/** Append what a line mounts: source, type and part, as in "/dev/sda2 (btrfs): subvol=/@home".
    @live  The mount that the line is compared with: the part that differs is named. */
void fstab_name_line(const struct fstab_entry *line, const struct fstab_line *live,
                     struct strbuf *out);

/** Append what a mount or swap space mounts.
    @line  The line that it is compared with; NULL: none, and layers are left out. */
void fstab_name_live(const struct fstab_line *live, const struct fstab_entry *line,
                     struct strbuf *out);

/** Tags of devices, with the directories of udev's links. */
enum { FSTAB_TAGS = 4 };
extern const struct fstab_tag {
	const char *tag, *dir;
} fstab_tags[FSTAB_TAGS];

/** Append the tag of one of udev's links: "UUID=x" of "/dev/disk/by-uuid/x".
    @return whether it is such a link. */
bool fstab_link_tag(const char *link, struct strbuf *tag);

#endif
