/* SPDX-License-Identifier: MIT */
/**
 * Find the fstab line of each mount, and the differences between the line and the mount.
 *
 *     lines, plan --> fstab_match() --> the mount of each line; differences
 *
 * Used by the merge (fstab/edit/) and the audit of drift.  Lines and mounts are paired by mount
 * point, swap spaces by source.  A difference needs evidence: two sources that may be the same
 * device count as equal, and so does an option that the kernel does not show.  Pure except for the
 * callbacks.
 */
#ifndef GM_FSTAB_MATCH_H
#define GM_FSTAB_MATCH_H

#include "fstab/fstab.h"

struct fstab_match_input {
	const struct fstab_file *file;
	const struct fstab_plan *plan;
	const char *root;               /* fstab_input.root of the plan: root directory of the
	                                   system */
	const struct fstab_facts *facts;   /* fstab_input.facts of the plan */
};

enum fstab_difference_kind {
	FSTAB_DIFFER_MISSING,    /* the mount has no line, although it can be expressed in fstab */
	FSTAB_DIFFER_NO_LINE,    /* the mount has no line and cannot be expressed in fstab;
	                            `actual`: the reason */
	FSTAB_DIFFER_SOURCE,     /* the source, type, subvolume or layers of the line differ from
	                            those of the mount */
	FSTAB_DIFFER_OPTIONS,    /* VFS flags, or options of the file system, differ */
	FSTAB_DIFFER_REPEATED,   /* the line has the same source and mount point as `other` */
	FSTAB_DIFFER_CONFLICT,   /* the line has the mount point of `other`, but a different
	                            source */
	FSTAB_DIFFER_ELSEWHERE,  /* the line is not mounted, but the mount `live` has its source at
	                            a different mount point */
	FSTAB_DIFFER_AGAIN,      /* the line mounts `live`, a copy, once more; `other`: the line
	                            of its origin, which makes the copy, or NULL */
};

struct fstab_difference {
	enum fstab_difference_kind kind;
	const struct fstab_entry *line, *other;  /* lines of the file; or NULL */
	const struct fstab_line *live;       /* a line of the plan; or NULL */
	const char *expected;    /* OPTIONS: the options of the line, decoded */
	const char *actual;      /* OPTIONS: the differing options, as the mount has them;
	                            NO_LINE: the reason; AGAIN: of which mount it is a copy */
};

/** The directory or file that a bind line names as its source. */
struct fstab_bound {
	const struct mount *in;        /* the mount that contains the source; NULL: the line is
	                                  not a bind, or the source is unknown */
	const char *path;              /* the source, as a path from fstab_match_input.root, with
	                                  symlinks followed */
};

struct fstab_match {
	struct fstab_difference *differences;
	size_t count;
	const struct fstab_line **of;  /* of[number - 1]: the mount or swap space that the line of
	                                  this number makes; NULL: none */
	struct fstab_bound *bound;     /* bound[number - 1]: the source of the line of this
	                                  number, if the line is a bind */
	struct matcher *matcher;       /* match/matcher.h: the lines and mounts, indexed */
	struct arena arena;
};

/** Match the lines of a file with the mounts of a plan; linear in both, except for swap spaces.
    @match [out]  To be destroyed, also after an error.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_match(const struct fstab_match_input *in, struct fstab_match *match);

void fstab_match_destroy(struct fstab_match *match);

/** Choose which of several peers that show the same mount has the line: the mount on whose mount
    point the file has a line, else the mount that is named.
    @plan  Changed.
    @add   Names of mount points.
    @return 0, or -1.  Errors: ENOMEM. */
int fstab_prefer(struct fstab_plan *plan, const struct fstab_file *file, const char *const *add,
                 size_t nadd);

/** Get a line with the options that result from the remount lines after it. */
const struct fstab_entry *fstab_match_entry(const struct fstab_match *match,
                                            const struct fstab_entry *line);

/** Append the options of a mount that contradict its line, as the mount has them.  Options that the
    line does not name are not compared: this is for mounts that the plan has no line for, whose
    options may come from the system or a server.  If the line has rw, a read-only mount is not a
    difference.
    @options  The options of the line, decoded. */
void fstab_match_named(const struct fstab_line *live, const char *options, struct strbuf *differ);

/** Whether a line with these types and options may make a mount whose source and type are chosen by
    its server: a FUSE mount, or a mount of ceph, which shows addresses instead of names. */
bool fstab_match_served(const char *types, const char *options, const struct mount *mount);

/** Append the source and type of a line, and the part of the file system that the line mounts, as
    in "/dev/sda2 (btrfs): subvol=/@home".
    @live  The mount that the line is compared with: if both have the same subvolid, the subvolid is
           left out. */
void fstab_name_line(const struct fstab_entry *line, const struct fstab_line *live,
                     struct strbuf *out);

/** Append the source and type of a mount or swap space, and the part of the file system that the
    mount shows.
    @line  The line that the mount is compared with; NULL: no line; layers are then left out. */
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
