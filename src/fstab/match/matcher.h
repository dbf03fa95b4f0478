/* SPDX-License-Identifier: MIT */
/**
 * Match fstab lines with mounts, one mount after another.  Used by fstab_match(), and by the merge,
 * which may change a line before it matches the next mount.
 *
 *     ../match.c  finds the line that made a mount
 *     matcher.c   indexes the lines of a file and the mounts of a plan by mount point
 *     same.c      compares source and type of a line and a mount
 *     part.c      compares the part of the file system: subvolume, directory, layers
 *     server.c    compares servers
 *     options.c   compares options
 *     copies.c    finds the lines that make copies
 */
#ifndef GM_FSTAB_MATCH_MATCHER_H
#define GM_FSTAB_MATCH_MATCHER_H

#include "base/map64.h"
#include "base/pathmap.h"
#include "base/strbuf.h"
#include "fstab/entry.h"
#include "fstab/match.h"
#include "fstab/target.h"

#define NO_LINE PATHMAP_NONE

/** The decision of the merge about a line of the file; ASIDE: commented out. */
enum act { KEPT, CHANGED, ASIDE };

/** A line of the file, as a candidate for a mount. */
struct candidate {
	struct fstab_entry is;   /* the entry, with the options of later remount lines */
	const char *key;         /* mount point, as the mount table spells it; NULL: a swap line, a
	                            relative mount point, or a remount line, whose options were
	                            added to an earlier line */
	uint32_t next;           /* index of the next entry with this key; NO_LINE: the last */
	uint32_t live;           /* index in mounts[] of the mount that the line makes; NO_LINE:
	                            no mount */
	/* For the merge: */
	enum act act;
	struct fstab_entry becomes;   /* CHANGED: the new entry; merge_order() completes it */
	const char *why;         /* ASIDE: the reason */
};

/** A mount or swap space of the plan. */
struct planned {
	const struct fstab_line *line;
	const char *key;
	uint32_t next;           /* index of the next mount with this key; NO_LINE: the last */
	uint32_t entry;          /* index in entries[] of the line that makes the mount; NO_LINE:
	                            no line */
	/* For the merge: */
	uint32_t instead;        /* index of the first line that is commented out because the added
	                            line replaces it; or NO_LINE */
	uint32_t before;         /* index of the first line that the added line must precede: a
	                            noauto line on the mount point, or a line whose mount would
	                            otherwise receive or miss this mount; or NO_LINE */
	bool add, named;         /* add: a line is added for the mount; named: the user requested a
	                            line for the mount by its name */
};

struct matcher {
	const struct fstab_match_input *in;
	struct arena *arena;
	struct candidate *entries;
	size_t nentries;
	struct planned *mounts;
	size_t nmounts;
	struct pathmap entry_by, mount_by;   /* mount point (`key`) -> index of its first entry, of
	                                        its first mount */
	struct map64 first_of;         /* device of a file system with subvolumes -> index of the
	                                  line of its first mount in the plan; the options of this
	                                  line apply to all subvolumes */
	struct map64 devices;          /* tag or path of a device -> index of the mount of the
	                                  device */
	struct map64 shown;            /* mount points, root directories of mounts, and the
	                                  directories above both: see is_linkless() */
	bool has_devices, has_shown;   /* `devices` and `shown` are filled, when first needed */
	struct strbuf text, more;      /* scratch */
};

/* matcher.c */

/** Get the line of a candidate without the options that remount lines added. */
static inline const struct fstab_entry *match_line(const struct matcher *m,
                                                   const struct candidate *entry)
{
	return &m->in->file->entries[entry->is.number - 1];
}

/** Initialize a matcher.
    @arena  Keeps all data of the matcher. */
void match_init(struct matcher *m, const struct fstab_match_input *in, struct arena *arena);

/** Follow the symlinks of a path from ROOT.
    @real [out]  The path without symlinks, unless the result is -1.
    @return 1: the path exists; 0: it does not exist; -1: unknown. */
int match_follow(struct matcher *m, const char *path, struct strbuf *real);

/** Index the mounts of the plan, then the lines of a file.  If the mount point of a line leads
    through symlinks to the mount point of a mount, the line gets the key of that mount. */
void match_add_plan(struct matcher *m);
void match_add_file(struct matcher *m, const struct fstab_file *file);

/** Get the first, or next, mount of the plan on a mount point, with or without a line; NULL after
    the last. */
const struct planned *match_live(const struct matcher *m, const char *key);
const struct planned *match_next_live(const struct matcher *m, const struct planned *mount);

/** Get the first, or next, line of the file on the mount point of a mount; NULL after the last. */
struct candidate *match_first_on(struct matcher *m, const struct planned *mount);
struct candidate *match_next_on(struct matcher *m, const struct candidate *entry);

/* ../match.c */

enum match_pairing {
	MATCH_NOTHING,        /* the mount should not have a line */
	MATCH_PAIRED,         /* mount->entry is the index of the line of the mount */
	MATCH_UNPAIRED,       /* no line makes the mount */
	MATCH_AGAIN,          /* mount->entry mounts a copy once more */
	MATCH_INEXPRESSIBLE,  /* no line makes the mount, which cannot be expressed in fstab */
};

/** Find the line that made a mount, and set mount->entry and candidate.live of the line. */
enum match_pairing match_pair(struct matcher *m, struct planned *mount);

/** Whether the options of a mount and its line should be compared.  For a mount that cannot be
    expressed in fstab: only if the obstacle is a password or name that the line has, but the kernel
    does not show. */
bool match_compares_options(struct matcher *m, const struct candidate *entry,
                            const struct planned *mount);

/** Find a line that mounts a different source on the mount point of a mount without a line; or
    NULL. */
struct candidate *match_wrong(struct matcher *m, const struct planned *mount);

/** Whether a line on the mount point of a mount, with a different source, would be mounted over the
    mount at boot.  False for a noauto line, or if the line makes a mount beneath this mount. */
bool match_is_in_the_way(struct matcher *m, const struct candidate *entry,
                         const struct planned *mount);

/** Whether a second line, on the mount point of a mount with a line, is redundant or conflicts with
    the line of the mount.
    @source      The source of the line of the mount.
    @kind [out]  FSTAB_DIFFER_REPEATED or FSTAB_DIFFER_CONFLICT. */
bool match_is_further(struct matcher *m, const struct candidate *entry, const char *source,
                      const struct planned *mount, enum fstab_difference_kind *kind);

/** Find the next further line for a swap space, other than the line that is matched with this swap
    space; NULL: no such line.
    @entry  Search the lines after this line; NULL: search the whole file.
    @mount  The swap space; for a mount, the result is NULL. */
struct candidate *match_next_swap(struct matcher *m, const struct candidate *entry,
                              const struct planned *mount);

/* same.c */

/** Whether a line mounts the same source and part of the source, with the same type, as a mount of
    the plan: 1, 0; -1: unknown. */
int match_same(struct matcher *m, const struct candidate *entry, const struct planned *mount);

/** Find the source of a bind line, if the mount shows the directory that the line names.
    @bound [out]  The source, if found.
    @return whether the source was found. */
bool match_bound(struct matcher *m, const struct candidate *entry, const struct planned *mount,
                 struct fstab_bound *bound);

/** Whether the source of a line is spelled as in the plan; true if the spelling does not matter:
    for a bind, or an arbitrary name such as "tmpfs". */
bool match_same_name(const struct candidate *entry, const struct planned *mount);

/** For a line that is not mounted: find the mount of the plan that has the source of the line at a
    different mount point.  NULL: the line is or may be mounted, or its source is not mounted. */
const struct planned *match_elsewhere(struct matcher *m, const struct candidate *entry);

/* part.c */

/** Whether a line mounts the part of a file system that a mount of the plan shows: subvolume,
    directory or layers. */
bool match_same_part(struct matcher *m, const struct candidate *entry,
                     const struct fstab_line *line);

/* server.c */

/** Whether the helper of a line's type makes mounts of another type, with other options: Amazon's
    efs makes NFS mounts. */
bool match_by_helper(const struct candidate *entry, const struct mount *mount);

/** Whether a line of Amazon's efs may make a mount: its helper mounts fs-ID:/PATH as
    fs-ID.efs.REGION.amazonaws.com, or as any address.
    @source  The source of the line.
    @live    The source of the mount.
    @return 0: the server or path differs; -1: the line may make the mount. */
int match_same_helped(const char *source, const char *live);

/** Whether a source names the server and path of a mount: 1, 0; -1: unknown. */
int match_same_server(const char *source, const struct mount *mount);

/* copies.c */

/** The line of the mount that a copy comes from; NULL: no line. */
const struct fstab_entry *match_origin_line(const struct matcher *m, const struct planned *copy);

/** Whether a line with rbind, already paired, also makes this mount below its own. */
bool match_came_along(struct matcher *m, const struct planned *mount);

/* options.c */

/** Compare the options of a line and its mount.
    @from          The options of the line.
    @differ [out]  The differing options, as the mount has them.
    @return the options that the line should have; NULL: no difference. */
const char *match_options(struct matcher *m, const struct candidate *entry, const char *from,
                          const struct planned *mount, const char **differ);

#endif
