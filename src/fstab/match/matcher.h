/* SPDX-License-Identifier: MIT */
/**
 * Matching, in steps: for fstab_match() and for the merge, which changes lines in between.
 *
 *     ../match.c  which of the lines on a mount point is that of its mount
 *     matcher.c   the lines of a file and of a plan, indexed by mount point
 *     same.c      whether a line mounts the same: source, type; where its source is mounted
 *     part.c      whether it mounts the same part of it: subvolume, directory, layers
 *     server.c    whether a line and a mount have the same server
 *     options.c   whether it mounts it with the same options
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

/** The merge's verdict on a line of the file. */
enum act { KEPT, CHANGED, ASIDE };

/** A line of the file, as a candidate for a mount. */
struct candidate {
	struct fstab_entry is;   /* with the options of later lines that remount its mount */
	const char *key;         /* its mount point as the tree has it; NULL: swap, none */
	uint32_t next;           /* the next with this key; NO_LINE */
	uint32_t live;           /* its line of the plan; NO_LINE */
	/* Of the merge: */
	enum act act;
	struct fstab_entry becomes;   /* of CHANGED; merge_order() completes it */
	const char *why;         /* of ASIDE */
};

/** A line of the plan. */
struct planned {
	const struct fstab_line *line;
	const char *key;
	uint32_t next;           /* the next with this key; NO_LINE */
	uint32_t entry;          /* its line of the file; NO_LINE */
	/* Of the merge: */
	uint32_t instead;        /* a line that was put aside for this one */
	uint32_t before;         /* a line of another mount that stays on its mount point */
	bool add, named;
};

struct matcher {
	const struct fstab_match_input *in;
	struct arena *arena;
	struct candidate *entries;
	size_t nentries;
	struct planned *mounts;
	size_t nmounts;
	struct pathmap entry_by, mount_by;   /* key -> the first */
	struct map64 first_of;         /* device of a file system with subvolumes -> the first line
	                                  of the file that mounts one: they share its options */
	struct map64 devices;          /* name of a device -> its mount */
	struct map64 shown;            /* same.c: directories at, above or shown by mounts */
	bool has_devices, has_shown;   /* these two are made when needed */
	struct strbuf text, more;      /* scratch */
	bool failed;                   /* ENOMEM */
};

/* matcher.c */

/** The line of a candidate as it is in the file. */
static inline const struct fstab_entry *match_line(const struct matcher *m,
                                                   const struct candidate *entry)
{
	return &m->in->file->entries[entry->is.number - 1];
}

/** Make a matcher whose strings stay in an arena. */
void match_init(struct matcher *m, const struct fstab_match_input *in, struct arena *arena);
void match_destroy(struct matcher *m);

/** A string that stays; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *match_format(struct matcher *m, const char *format, ...);

/** fstab_normal() of a path; NULL if it is not absolute, or on ENOMEM. */
const char *match_normal(struct matcher *m, const char *path);

/** Where a path leads, from ROOT, links being followed.  @return 1; 0: it does not exist; -1:
    unknown. */
int match_follow(struct matcher *m, const char *path, struct strbuf *real);

/** Index the plan; then a file, where a mount point that leads to that of a mount counts as it. */
void match_add_plan(struct matcher *m);
void match_add_file(struct matcher *m, const struct fstab_file *file);

/** The lines of the plan of a mount point, of any fate; NULL after the last. */
const struct planned *match_live(const struct matcher *m, const char *key);
const struct planned *match_next_live(const struct matcher *m, const struct planned *mount);

/** The lines on the mount point of a mount, in order; NULL after the last. */
struct candidate *match_first_on(struct matcher *m, const struct planned *mount);
struct candidate *match_next_on(struct matcher *m, const struct candidate *entry);

/* ../match.c */

enum match_pairing {
	MATCH_NOTHING,        /* no mount that should have a line */
	MATCH_PAIRED,         /* mount->entry is its line */
	MATCH_UNPAIRED,       /* no line makes it */
	MATCH_INEXPRESSIBLE,  /* no line makes it, and none can */
};

/** Pair a mount with its line. */
enum match_pairing match_pair(struct matcher *m, struct planned *mount);

/** Whether the options of a paired line are to be compared with those of the mount: not if the
    mount cannot be expressed, unless its line alone has what it takes. */
bool match_compares_options(struct matcher *m, const struct candidate *entry,
                            const struct planned *mount);

/** The line that mounts something else instead of a mount without a line; or NULL. */
struct candidate *match_wrong(struct matcher *m, const struct planned *mount);

/** Whether a line would mount something else on the mount point of a mount, not beneath it. */
bool match_is_in_the_way(struct matcher *m, const struct candidate *entry,
                         const struct planned *mount);

/** Whether a further line on the mount point of a paired mount is too much.
    @source      Of the mount's own line.
    @kind [out]  FSTAB_DIFFER_REPEATED or FSTAB_DIFFER_CONFLICT. */
bool match_is_further(struct matcher *m, const struct candidate *entry, const char *source,
                      const struct planned *mount, enum fstab_difference_kind *kind);

/** A line of a swap space besides its own: the next after entry, of the whole file; or NULL. */
struct candidate *match_next_swap(struct matcher *m, const struct candidate *entry,
                              const struct planned *mount);

/* same.c */

/** Whether a line of the file mounts the same as one of the plan: 1, 0; -1: not known. */
int match_same(struct matcher *m, const struct candidate *entry, const struct planned *mount);

/** Find the source of a bind line, if its mount shows it.
    @bound [out]  Set if it does.
    @return whether the line is a bind and the source is known. */
bool match_bound(struct matcher *m, const struct candidate *entry, const struct planned *mount,
                 struct fstab_bound *bound);

/** Whether a line has the plan's source, or a mere name. */
bool match_same_name(const struct candidate *entry, const struct planned *mount);

/** The plan's line of the source of a line that is not mounted; NULL: it is mounted, may be not
    mounted, or its source is not. */
const struct planned *match_elsewhere(struct matcher *m, const struct candidate *entry);

/* part.c */

/** Whether a line mounts the same part of a file system. */
bool match_same_part(struct matcher *m, const struct candidate *entry,
                     const struct fstab_line *line);

/* server.c */

/** Whether the helper of a line's type makes mounts of another type, with other options: Amazon's
    efs makes NFS mounts. */
bool match_by_helper(const struct candidate *entry, const struct mount *mount);

/** Whether the line of that helper may make a mount: fs-ID:/PATH makes that of
    fs-ID.efs.REGION.amazonaws.com, or of any address.  @return 0; -1: not known. */
int match_same_helped(const char *source, const char *live);

/** Whether a source names the server and path of a mount: 1, 0; -1: not known. */
int match_same_server(const char *source, const struct mount *mount);

/* options.c */

/** The options that a line needs so that it mounts with those of its mount.
    @from          The options of the line.
    @differ [out]  Those that differ, as the mount has them.
    @return options; NULL: nothing differs. */
const char *match_options(struct matcher *m, const struct candidate *entry, const char *from,
                          const struct planned *mount, const char **differ);

#endif
