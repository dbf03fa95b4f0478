/* SPDX-License-Identifier: MIT */
/**
 * What the files of the merge share.
 *
 *     merge.c          the file and the plan by mount point; lines of no mount
 *     merge_decide.c   which line is of which mount, and what becomes of both
 *     merge_base.c     what the base has of a line, and what was changed since
 *     merge_same.c     whether a line mounts the same
 *     merge_options.c  options compared, and changed
 *     merge_refused.c  options that the kernel refuses
 *     merge_order.c    where added lines go; lines that stand too early
 *     merge_text.c     bytes: lines written, and the result read again
 */
#ifndef GM_FSTAB_MERGE_IMPL_H
#define GM_FSTAB_MERGE_IMPL_H

#include "base/map64.h"
#include "base/strbuf.h"
#include "mountopts/optlist.h"
#include "fstab/edit/merge.h"
#include "fstab/units.h"

#define NO_LINE UINT32_MAX

/** What becomes of a line of the file. */
enum act { KEPT, CHANGED, ASIDE };

/** What a line says, or is to say; decoded. */
struct words {
	const char *source, *target, *fstype, *options;
	int passno;              /* -1: not given */
};

/** A line of the file. */
struct old {
	const struct tabline *line;
	struct words words;      /* of entries; options are never NULL */
	const char *key;         /* its mount point as the tree has it; NULL: swap, none */
	uint32_t next;           /* of the same key */
	uint32_t live;           /* the line of the plan that it is; NO_LINE */
	enum act act;
	struct words changed;
	const char *why;         /* of ASIDE */
	bool swap, noauto;
};

/** A line of the plan. */
struct new {
	const struct fstab_line *line;
	const char *key;
	uint32_t next;           /* of the same key, below the first */
	uint32_t old;            /* the line of the file that it is; NO_LINE */
	uint32_t instead;        /* of what is added: a line that was put aside for it */
	uint32_t before;         /* ... a line of another mount that stays on its place */
	bool add, named;
};

/** What stands in the result: a line of the file, or one of the plan. */
struct item {
	bool is_new;
	uint32_t i;
};

/** A mount point of the plan, or the root of a mount. */
struct place {
	const char *path;
	uint64_t dev;            /* of the mount whose root it is */
	bool root;
};

struct merger {
	const struct fstab_merge_input *in;
	struct fstab_merged *out;
	struct arena *arena;
	struct old *old;
	size_t nold;
	struct new *new;
	size_t nnew;
	struct map64 old_by, new_by;   /* hash of key -> the first */
	struct map64 first_of;         /* device of a file system with subvolumes -> the first line
	                                  of the file that mounts one: they share its options */
	struct place *places;          /* merge_same.c: mount points and roots, sorted; NULL before they are needed */
	size_t nplaces;
	uint32_t *last;                /* of old_by: the last of each chain */
	struct item *items;            /* the result, in order */
	size_t nitems;
	size_t notes_room;
	struct strbuf text, more;      /* for use in passing */
	bool damaged;                  /* the file, since the base: what it lacks was perhaps not taken out */
	bool failed;                   /* ENOMEM */
};

/** What the base has of a mount. */
struct loaded {
	struct merger m;         /* with the base as its file */
	struct fstab_merged none;
};

/* merge.c */

void merge_init(struct merger *m, const struct fstab_merge_input *in, struct fstab_merged *merged);

/** Free what it has; not what it made. */
void merge_destroy(struct merger *m);

/** Add a note.  @return it, until the next. */
struct fstab_note *merge_note(struct merger *m, enum fstab_note_kind kind, const struct old *old,
                              const struct new *new, const char *text);

/** The same, of something that was mended, or is meant so. */
void merge_note_more(struct merger *m, enum fstab_note_kind kind, const struct old *old, const struct new *new,
                     const char *text, bool done, bool edited);

/** A string that stays. */
__attribute__((format(printf, 2, 3)))
const char *merge_format(struct merger *m, const char *format, ...);

/** What an entry says. */
void merge_take(struct merger *m, const struct tabline *line, struct old *old);

/** A path without empty and "." components, and no '/' at its end. */
const char *merge_normal(struct merger *m, const char *path);

/** The line of the plan of a mount point, of any fate; or NULL. */
const struct new *merge_live(const struct merger *m, const char *key);

/** The place that a mount point leads to, if that is one of a mount; else itself. */
const char *merge_lead(struct merger *m, const char *key);

/** Make room for the lines of the file, or of the base. */
void merge_room(struct merger *m, size_t lines);

/** Put a line into the index. */
void merge_index(struct merger *m, uint32_t i);

/** Take the file; lines whose mount points lead to a mount by another name are of that. */
void merge_take_file(struct merger *m, const struct tablines *file);

void merge_take_plan(struct merger *m);

/* merge_decide.c */

/** The lines on the place of a mount, one behind the other; NULL behind the last. */
struct old *merge_first_on(struct merger *m, const struct new *new);
struct old *merge_next_on(struct merger *m, const struct old *old);

void merge_aside(struct merger *m, struct old *old, const char *why);

/** The line that makes a mount; or NULL. */
struct old *merge_choose(struct merger *m, const struct new *new);

/** What becomes of a mount, and of the lines on its place.
    @base  NULL: there is none. */
void merge_decide(struct merger *m, struct new *new, struct loaded *base);

/* merge_base.c */

/** Whether the file is not as somebody has left it; lines that the base has too are. */
bool merge_damaged(struct merger *m);

/** Read the base, if it is a text. */
void merge_take_base(struct loaded *base, const struct merger *file);

/** The line of a text as the base for a mount; or NULL. */
const struct old *merge_find_loaded(struct merger *m, struct loaded *base, const struct old *old, const struct new *new);

/** Whether a line is the last, without an end: it may be a part of one. */
bool merge_cut(const struct merger *m, const struct old *old);

/** Whether what a line mounts was changed since the base, its subvolume or layers too; a new
    line was.
    @of  The line of the base; NULL: none, or it is not a text. */
bool merge_edited_source(struct merger *m, const struct old *old, const struct old *of);

/** The same of its options, and of its pass. */
bool merge_edited_options(struct merger *m, const struct old *old, const struct old *of);
bool merge_edited_pass(struct merger *m, const struct old *old, const struct old *of);

/** Whether the line that the base has for a mount does not exist any more: one with noauto, or of
    a mount beneath, may. */
bool merge_taken_out(struct merger *m, const struct old *loaded, const struct new *new);

/* merge_same.c */

/** Whether a line of the file mounts what one of the plan does: 1, 0; -1: it cannot be told. */
int merge_same(struct merger *m, const struct old *old, const struct new *new);

/** Where what the line of a bind binds is seen, if that is what the mount shows.
    @bound [out]  Set if it does.
    @return whether it does. */
bool merge_bound(struct merger *m, const struct old *old, const struct new *new, struct fstab_bound *bound);

/** Whether a line is of a type that a helper makes another of, with options of its own: Amazon's
    efs is NFS. */
bool merge_by_helper(const struct old *old, const struct mount *mount);

/** Whether a line's source names the mount as the plan does, or is a mere name. */
bool merge_same_name(struct merger *m, const struct old *old, const struct new *new);

/** A tag, as "UUID=x", that a source is in any form (quoted, in /dev/disk/by-uuid); or NULL. */
const char *merge_tag(struct merger *m, const char *source);

/** The device of a line of the plan. */
void merge_device(struct merger *m, const struct fstab_line *line, struct fstab_device *device);

/* merge_options.c */

/** Options with those of a line that goes, which are for mount(8), systemd and others. */
const char *merge_inherit(struct merger *m, const char *options, const char *from);

/**
 * The options that a line is to have, as far as it was changed, so that it mounts with
 * those of the mount.
 *
 * @differ [out]  What is otherwise, for a message.
 * @return them; NULL if they do.
 */
const char *merge_options(struct merger *m, const struct old *old, const struct new *new, const char **differ);

/** Options with the parts of these that say what is mounted: subvol=, bind, lowerdir= ... */
const char *merge_identity(struct merger *m, const char *options, const char *live);

/** Whether two lists have the same of what says what is mounted; or of all the rest. */
bool merge_alike(const char *a, const char *b, bool identity);

/* merge_refused.c */

/**
 * Which options of a line the kernel is known to refuse.
 *
 * @options  Those of the line, perhaps mended otherwise.
 * @kept [out]  The others.
 * @return them, with commas between; NULL: none.
 */
const char *merge_refused(struct merger *m, const struct old *old, const char *options, const char **kept);

/* merge_order.c */

/** Give every line its place: m->items.  Lines that stand too early are moved, or told. */
void merge_order(struct merger *m);

/* merge_text.c */

/** Write m->items, and see that they read as they are meant.
    @return 0, or -1: EBADMSG, ENOMEM. */
int merge_write(struct merger *m);

#endif
