/* SPDX-License-Identifier: MIT */
/**
 * Which fstab line belongs to which mount, and how they differ.
 *
 *     lines, plan --> fstab_match() --> the mount of each line; differences
 *
 * Used by the merge (fstab/edit/) and the audit of drift.  Lines and mounts are paired by mount
 * point, swap spaces by source.  Without evidence of a difference they count as equal, as with a
 * source that may be the same device, or an option that the kernel does not show.  Pure except for
 * the callbacks.
 */
#ifndef GM_FSTAB_MATCH_H
#define GM_FSTAB_MATCH_H

#include "fstab/fstab.h"

struct fstab_match_input {
	const struct fstab_file *file;
	const struct fstab_input *in;   /* the input of the plan */
	const struct fstab_plan *plan;
};

enum fstab_difference_kind {
	FSTAB_DIFFER_MISSING,    /* a mount has no line */
	FSTAB_DIFFER_NO_LINE,    /* a mount has no line and cannot be expressed in fstab;
	                            `actual`: the reason */
	FSTAB_DIFFER_SOURCE,     /* the line mounts another source, type, subvolume or layers */
	FSTAB_DIFFER_OPTIONS,    /* VFS flags, or options of the file system */
	FSTAB_DIFFER_REPEATED,   /* the line has the same source and mount point as `other` */
	FSTAB_DIFFER_CONFLICT,     /* the line mounts another source on the mount point of
	                              `other` */
	FSTAB_DIFFER_ELSEWHERE,  /* the line is not mounted, but its source is, as `live` */
};

struct fstab_difference {
	enum fstab_difference_kind kind;
	const struct fstab_entry *line, *other;  /* lines of the file; or NULL */
	const struct fstab_line *live;       /* a line of the plan; or NULL */
	const char *expected;    /* OPTIONS: the options of the line, decoded */
	const char *actual;      /* OPTIONS: the differing options, as the mount has them;
	                            NO_LINE: the reason */
};

/** The source of a bind. */
struct fstab_bound {
	const struct mount *in;        /* the mount that contains it; NULL: not a bind, or
	                                  unknown */
	const char *path;              /* from ROOT, with links followed */
};

struct fstab_match {
	struct fstab_difference *differences;
	size_t count;
	const struct fstab_line **of;  /* of[number - 1]: the mount or swap space of a line of
	                                  the file; NULL: none */
	struct fstab_bound *bound;     /* bound[number - 1]: the source, if the line is a bind */
	struct matcher *matcher;       /* match/matcher.h: the lines and mounts, indexed */
	struct arena arena;
};

/** Match the lines of a file with the mounts of a plan; linear in both, except for swap spaces.
    @match [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_match(const struct fstab_match_input *in, struct fstab_match *match);

void fstab_match_destroy(struct fstab_match *match);

/** A line with its options changed by later remount lines of its mount point. */
const struct fstab_entry *fstab_match_entry(const struct fstab_match *match,
                                            const struct fstab_entry *line);

/** Append the options of a mount that differ from those its line names, as the mount has them.  For
    a mount that the plan has no line for: options that the line does not name may come from the
    system or a server.  A read-only mount of a line with rw is no difference.
    @options  The options of the line, decoded. */
void fstab_match_named(const struct fstab_line *live, const char *options, struct strbuf *differ);

/** Whether a line with these types and options may make a mount whose source and type its server
    chooses: FUSE; or ceph, which shows addresses instead of names. */
bool fstab_match_served(const char *types, const char *options, const struct mount *mount);

/** Append what a line mounts: source, type and part, as in "/dev/sda2 (btrfs): subvol=/@home".
    @live  The mount that the line is compared with: its equal subvolid is left out. */
void fstab_name_line(const struct fstab_entry *line, const struct fstab_line *live,
                     struct strbuf *out);

/** Append the source, type and part of a mount or swap space.
    @line  The line that the mount is compared with; NULL: none, and layers are left out. */
void fstab_name_live(const struct fstab_line *live, const struct fstab_entry *line,
                     struct strbuf *out);

/** Tags of devices, with the directories of udev's links. */
enum { FSTAB_TAGS = 4 };
extern const struct fstab_tag {
	const char *tag, *dir;
} fstab_tags[FSTAB_TAGS];

/** Append the tag that a link of udev stands for: "UUID=x" for "/dev/disk/by-uuid/x".
    @return whether the path is such a link. */
bool fstab_link_tag(const char *link, struct strbuf *tag);

#endif
