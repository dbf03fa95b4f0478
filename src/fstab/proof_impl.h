/* SPDX-License-Identifier: MIT */
/**
 * What the files of the proof share.
 *
 *     proof.c          the comparison, and its words
 *     proof_sim.c      lines, mounted one after the other
 *     proof_tree.c     a tree of mounts; what is known to be where
 *     proof_options.c  the options of a line against those of a mount
 */
#ifndef GM_FSTAB_PROOF_IMPL_H
#define GM_FSTAB_PROOF_IMPL_H

#include "base/map64.h"
#include "base/words.h"
#include "fstab/plan/place.h"
#include "fstab/places.h"
#include "mountopts/layers.h"
#include "mountopts/optlist.h"
#include "fstab/proof.h"

#define PF_NONE UINT32_MAX

/** A file system. */
struct pf_fs {
	uint64_t dev;            /* of one that is live; else 0 */
	const char *name;        /* for words: its device, or source */
	const char *fstype;      /* or NULL: not known */
	bool live;               /* dev counts */
	bool kept;               /* what live shows in it is there */
	bool fresh;              /* mounting it makes it, empty */
	bool tagged;             /* what is on its device was read */
	bool unsure;             /* named by a source that nobody could look up */
	bool is_mounted, is_ro;  /* in this run */
	uint32_t line;           /* ... the first that mounts it; PF_NONE */
	uint32_t first, last;    /* its mounts in the live tree: pf_mount.of_fs */
};

/** A mount, live or simulated. */
struct pf_mount {
	uint32_t parent;         /* the mount that it is on; PF_NONE for the first */
	uint32_t first, next;    /* the mounts on it */
	uint32_t same;           /* of the same hash */
	uint32_t lowest;         /* of those upon each other at its place */
	uint32_t highest;        /* the same; of the lowest alone */
	uint32_t of_fs;          /* the next of the same file system: of the live tree */
	uint32_t fs;
	uint32_t line;           /* which entry made it; PF_NONE: there before */
	uint32_t node;           /* of the discovery; of a simulated one MT_NONE */
	const char *root;        /* within fs, "/" or "/a" */
	const char *target;      /* from ROOT, without links */
	unsigned flags;          /* enum pf_flags */
	unsigned unknown;        /* of these, which are not known */
};

struct pf_tree {
	struct pf_mount *mounts;
	uint32_t count;
	size_t room;
	struct map64 by_place;   /* hash of parent and target -> mount */
};

/** A place in a file system of which something is known. */
struct pf_place {
	const char *path;        /* n bytes; n is 0 for "/" */
	uint32_t n;
	uint32_t fs;
	uint32_t next;           /* of the same hash */
	uint8_t kind;            /* enum fact_kind */
	uint8_t run;             /* 0: live; else made in this run */
};

/** A name of a device: "UUID=x", "/dev/sda1"; or of a subvolume: "5". */
struct pf_name {
	const char *text;
	uint32_t fs;
	uint32_t next;           /* of the same hash */
	const char *root;        /* of subvolumes */
	bool twice;              /* another live file system has it too */
};

/** What became of a line. */
enum pf_fate { PF_UNUSED, PF_MADE, PF_ALREADY, PF_ROOT, PF_SWAP, PF_LATER, PF_FAILED };

struct pf_line {
	uint8_t fate;            /* enum pf_fate */
	uint32_t mount;          /* PF_MADE, PF_ALREADY */
	uint32_t fs;             /* PF_ROOT, PF_SWAP: which it names; or PF_NONE */
	uint32_t next;           /* the next line of this target's hash */
	const char *target;      /* normal; NULL: none */
	const char *options;     /* decoded, "" for none */
	const char *why;         /* of PF_FAILED */
};

/** VFS flags of a mount. */
enum pf_flags {
	PFF_RO = 1 << 0, PFF_NOSUID = 1 << 1, PFF_NODEV = 1 << 2, PFF_NOEXEC = 1 << 3,
	PFF_NODIRATIME = 1 << 4, PFF_NOSYMFOLLOW = 1 << 5,
	PFF_NOATIME = 1 << 6, PFF_STRICTATIME = 1 << 7,   /* neither: relatime */
	PFF_ATIME = PFF_NOATIME | PFF_STRICTATIME,
	PFF_ALL = (1 << 8) - 1,
};

struct pf {
	const struct proof_input *in;
	struct proof *proof;
	struct fstab_draft draft;      /* format: fstab_format() */
	struct pf_fs *fs;
	uint32_t nfs;
	size_t fs_room;
	struct map64 fs_by_dev;
	struct pf_tree live, sim;
	struct pf_place *places;
	uint32_t nplaces;
	size_t places_room;
	struct map64 by_place;
	struct pf_name *names;
	uint32_t nnames;
	size_t names_room;
	struct map64 by_name;
	const struct fstab_line **plan_of;  /* by node: what the plan says */
	struct pf_line *lines;         /* by entry */
	struct map64 by_target;        /* hash of a line's target -> the first of them */
	uint8_t run;                   /* 1: mount -a; 2: systemd */
	uint32_t copies;               /* that rbind may still make */
	size_t looks;                  /* mounts that it may still look at for them */
	struct strbuf real;
};

/** Whether memory ran out. */
static inline bool pf_failed(const struct pf *pf)
{
	return pf->draft.failed;
}

/* proof_tree.c */

/** Whether a path, or what a kernel shows as a root, names the top of its tree. */
static inline bool pf_is_top(const char *path)
{
	return !*path || !path[1];
}

/** What of a path is below another that it lies within: with a slash before it, or "". */
const char *pf_rest(const char *path, const char *above);

/** A path that lies within another, moved onto a third.  @return NULL: ENOMEM. */
const char *pf_move(struct pf *pf, const char *path, const char *above, const char *onto);

/** A path as it is without "//", "/./", "/.." and a '/' at its end; NULL if it is not
    absolute (or on ENOMEM). */
const char *pf_normal(struct pf *pf, const char *path);

/** Add a file system.  @return it, or PF_NONE (ENOMEM). */
uint32_t pf_add_fs(struct pf *pf, const struct pf_fs *fs);

/** Whether two are the same, as far as that can be said. */
bool pf_same_fs(const struct pf *pf, uint32_t a, uint32_t b);

/** Add a mount to a tree.  @return it, or PF_NONE (ENOMEM). */
uint32_t pf_add_mount(struct pf *pf, struct pf_tree *tree, const struct pf_mount *mount);

/** Forget all mounts. */
void pf_clear_tree(struct pf_tree *tree);

/**
 * The mount that a path leads to, and where in its file system.
 *
 * @path    Normal, without links.
 * @beneath A mount that is looked through, as if it was not there; PF_NONE.
 * @inner [out]  May be NULL; NULL on ENOMEM.
 */
uint32_t pf_resolve(struct pf *pf, const struct pf_tree *tree, const char *path, uint32_t beneath,
                    const char **inner);

/** The live mount at a place that is to be there again; PF_NONE. */
uint32_t pf_wanted(struct pf *pf, const char *target);

/** Say that something is at a place in a file system, and directories on the way. */
void pf_know(struct pf *pf, uint32_t fs, const char *path, enum fact_kind kind, uint8_t run);

/**
 * What is at a place in a file system, in this run.
 *
 * @moved [out]  Where a link there leads, as a path from ROOT; else NULL.  May be NULL.
 * @seen [out]   If it is not known: whether a live mount shows it, so that only nobody
 *               looked.  May be NULL.
 */
enum fact_kind pf_look(struct pf *pf, uint32_t fs, const char *path, const char **moved, bool *seen);

/** Name a file system; fstab_format() strings stay.  */
void pf_add_name(struct pf *pf, const char *text, uint32_t fs, const char *root);

/** Give a name to another file system. */
void pf_rename(struct pf *pf, const char *text, uint32_t fs);

/** Put a device's names to its file system. */
void pf_name_tags(struct pf *pf, const struct devmap_tags *tags, uint32_t fs);

/** The name of this text; of a file system alone, if fs is not PF_NONE. */
const struct pf_name *pf_find_name(const struct pf *pf, const char *text, uint32_t fs);

/** Make the live tree, and what is known from it. */
void pf_make_live(struct pf *pf);

/* proof_options.c */

/** The last value of an option in a decoded list, or "" if it has none; NULL: not there. */
const char *pf_option(struct pf *pf, const char *options, const char *name);

/** The flags that options ask for.
    @given [out]  Those that were told of; may be NULL. */
unsigned pf_flags(const char *options, unsigned *given);

/** Those of a mount as the kernel shows them. */
unsigned pf_live_flags(const struct mount *mount);

/** What differs between a live mount and the line that made one; NULL: nothing. */
const char *pf_compare_options(struct pf *pf, const struct fstab_line *want, const struct pf_mount *got,
                               const char *options);

/** The same of the options of swap spaces. */
const char *pf_compare_swap(struct pf *pf, const struct fstab_line *want, const char *options);

/* proof_sim.c */

/** Mount the lines, in the order of this run; from what is there at boot. */
void pf_simulate(struct pf *pf);

/** A source as it may be shown: without secrets. */
const char *pf_show(struct pf *pf, const char *source);

#endif
