/* SPDX-License-Identifier: MIT */
/**
 * Matching, in steps: for fstab_match() and for the merge, which changes lines in between.
 *
 *     ../match.c  which line on a mount point made its mount
 *     matcher.c   the lines of a file and of a plan, indexed by mount point
 *     same.c      whether a line and a mount have the same source and type
 *     part.c      ... the same part of the source: subvolume, directory, layers
 *     server.c    ... the same server
 *     options.c   ... the same options
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
	const char *key;         /* mount point as the mount tree has it; NULL: swap or none */
	uint32_t next;           /* next entry with this key; NO_LINE */
	uint32_t live;           /* index of its mount in mounts[]; NO_LINE */
	/* For the merge: */
	enum act act;
	struct fstab_entry becomes;   /* CHANGED: the new entry; merge_order() completes it */
	const char *why;         /* ASIDE: the reason */
};

/** A mount or swap space of the plan. */
struct planned {
	const struct fstab_line *line;
	const char *key;
	uint32_t next;           /* next mount with this key; NO_LINE */
	uint32_t entry;          /* index of its line in entries[]; NO_LINE */
	/* For the merge: */
	uint32_t instead;        /* a line that was commented out for this one */
	uint32_t before;         /* a line of another mount that stays on this mount point */
	bool add, named;
};

struct matcher {
	const struct fstab_match_input *in;
	struct arena *arena;
	struct candidate *entries;
	size_t nentries;
	struct planned *mounts;
	size_t nmounts;
	struct pathmap entry_by, mount_by;   /* key -> the first index */
	struct map64 first_of;         /* device of a file system with subvolumes -> the first
	                                  line of the file that mounts a subvolume: its options
	                                  hold for all */
	struct map64 devices;          /* name of a device -> its mount */
	struct map64 shown;            /* same.c: directories at, above or shown by mounts */
	bool has_devices, has_shown;   /* whether the two maps above are filled, which is done
	                                  when needed */
	struct strbuf text, more;      /* scratch */
};

/* matcher.c */

/** The line of a candidate as it is in the file. */
static inline const struct fstab_entry *match_line(const struct matcher *m,
                                                   const struct candidate *entry)
{
	return &m->in->file->entries[entry->is.number - 1];
}

/** Make a matcher in an arena. */
void match_init(struct matcher *m, const struct fstab_match_input *in, struct arena *arena);

/** Follow the links of a path, from ROOT.  @return 1; 0: it does not exist; -1: unknown. */
int match_follow(struct matcher *m, const char *path, struct strbuf *real);

/** Index the plan, then a file.  A mount point in the file that resolves to the mount point of a
    mount is indexed as that. */
void match_add_plan(struct matcher *m);
void match_add_file(struct matcher *m, const struct fstab_file *file);

/** The lines of the plan for a mount point, of any fate; NULL after the last. */
const struct planned *match_live(const struct matcher *m, const char *key);
const struct planned *match_next_live(const struct matcher *m, const struct planned *mount);

/** The lines on the mount point of a mount, in order; NULL after the last. */
struct candidate *match_first_on(struct matcher *m, const struct planned *mount);
struct candidate *match_next_on(struct matcher *m, const struct candidate *entry);

/* ../match.c */

enum match_pairing {
	MATCH_NOTHING,        /* the mount should not have a line */
	MATCH_PAIRED,         /* mount->entry is its line */
	MATCH_UNPAIRED,       /* no line makes the mount */
	MATCH_INEXPRESSIBLE,  /* no line makes the mount, and it cannot be expressed in fstab */
};

/** Pair a mount with its line. */
enum match_pairing match_pair(struct matcher *m, struct planned *mount);

/** Whether the options of a paired line and its mount should be compared.  Not if the mount
    cannot be expressed in fstab, unless only for lack of a password or name that the line has. */
bool match_compares_options(struct matcher *m, const struct candidate *entry,
                            const struct planned *mount);

/** A line that mounts something else on the mount point of a mount without a line; or NULL. */
struct candidate *match_wrong(struct matcher *m, const struct planned *mount);

/** Whether a line would mount something else on top of a mount, not beneath it. */
bool match_is_in_the_way(struct matcher *m, const struct candidate *entry,
                         const struct planned *mount);

/** Whether a second line on the mount point of a paired mount is redundant or a conflict.
    @source      Of the mount's own line.
    @kind [out]  FSTAB_DIFFER_REPEATED or FSTAB_DIFFER_CONFLICT. */
bool match_is_further(struct matcher *m, const struct candidate *entry, const char *source,
                      const struct planned *mount, enum fstab_difference_kind *kind);

/** The next line after `entry`, or of the whole file, that names a swap space besides its own
    line; NULL: none. */
struct candidate *match_next_swap(struct matcher *m, const struct candidate *entry,
                              const struct planned *mount);

/* same.c */

/** Whether a line of the file mounts the same source as a line of the plan: 1, 0; -1: unknown. */
int match_same(struct matcher *m, const struct candidate *entry, const struct planned *mount);

/** Find the source of a bind line, if its mount shows that directory.
    @bound [out]  Set if found.
    @return whether the line is a bind and the source is known. */
bool match_bound(struct matcher *m, const struct candidate *entry, const struct planned *mount,
                 struct fstab_bound *bound);

/** Whether a line has the plan's source, or a mere name. */
bool match_same_name(const struct candidate *entry, const struct planned *mount);

/** The line of the plan that mounts the source of an unmounted line elsewhere; NULL: the line is
    or may be mounted, or its source is not mounted. */
const struct planned *match_elsewhere(struct matcher *m, const struct candidate *entry);

/* part.c */

/** Whether a line mounts the same part of a file system. */
bool match_same_part(struct matcher *m, const struct candidate *entry,
                     const struct fstab_line *line);

/* server.c */

/** Whether the helper of a line's type makes mounts of another type, with other options: Amazon's
    efs makes NFS mounts. */
bool match_by_helper(const struct candidate *entry, const struct mount *mount);

/** Whether a line of Amazon's efs may make a mount: its helper mounts fs-ID:/PATH as
    fs-ID.efs.REGION.amazonaws.com, or as any address.  @return 0; -1: unknown. */
int match_same_helped(const char *source, const char *live);

/** Whether a source names the server and path of a mount: 1, 0; -1: unknown. */
int match_same_server(const char *source, const struct mount *mount);

/* options.c */

/** The options that a line should have to match its mount.
    @from          The options of the line.
    @differ [out]  The differing options, as the mount has them.
    @return options; NULL: nothing differs. */
const char *match_options(struct matcher *m, const struct candidate *entry, const char *from,
                          const struct planned *mount, const char **differ);

#endif
