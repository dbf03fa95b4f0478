/* SPDX-License-Identifier: MIT */
/**
 * The places of the mounts below ROOT: what each mount is, and what it needs.
 */
#ifndef GM_FSTAB_PLACE_H
#define GM_FSTAB_PLACE_H

#include "base/map64.h"
#include "fstab/plan/plan_impl.h"

/** How far the decision on a mount has come; fstab_fate without ELSEWHERE. */
enum state { ELSEWHERE, WAITING, LINE, REFUSED, OWN };

/** What is known of a node beside what the discovery knows. */
struct place {
	const char *target;      /* relative to ROOT; NULL: not below it, or no name */
	uint8_t state;           /* enum state */
	bool visible;            /* below ROOT, and what its name leads to */
	bool boot;               /* OWN, and there when the fstab is read */
	bool bind;
	bool automount;          /* by an automount unit of the fstab */
	bool unnamed;            /* REFUSED: fstab_line.unnamed */
	struct link {
		uint32_t next;   /* of the same hash; MT_NONE */
		uint32_t last;   /* of the first: the last of them */
	} name, root;
	const char *why;
	const char *owner;       /* fstab_line.owner */
};

struct maker {
	struct fstab_draft draft;
	const struct fstab_input *in;
	struct fstab_plan *plan;
	const struct mtree *tree;
	struct place *places;
	struct map64 by_name;    /* hash of target -> node, visible */
	struct map64 by_hidden;  /* the same, not visible */
	struct map64 by_root;    /* hash of device and root -> node */
	struct map64 primary;    /* device -> the node of its whole that is mounted first;
	                            a read-only view only where no whole can be written to */
	struct map64 tops;       /* device and source -> a node of a network's top, seen or not */
	const struct mount *layers;  /* the root, if it is of layers */
	bool looked;             /* ... known */
	struct strbuf path, scratch;
};

/** The record of a node; its type and root, never NULL. */
const struct mount *place_mount(const struct maker *mk, uint32_t node);
const char *place_type(const struct mount *mount);
const char *place_root(const struct mount *mount);

/** A name of the discovery as it is from ROOT; NULL if it is not below it. */
const char *place_below(const struct fstab_input *in, const char *name);

/** Say what a node is, by itself. */
void place_classify(struct maker *mk, uint32_t i);

/** Make the indexes, when all are classified.  @return false: ENOMEM. */
bool place_index(struct maker *mk);

/** Say what a node is among the others, when there are indexes. */
void place_consider(struct maker *mk, uint32_t i);

/**
 * Look whether there is the mount that a file or directory lies in.
 *
 * @i     The node that needs it, which may cover it: an overlay of what it is
 *        mounted on.  MT_NONE: none.
 * @path  From ROOT.
 * @what  "its image", for the reason.
 * @node [out]  The mount.
 * @return LINE, WAITING, or REFUSED with *why.
 */
enum state place_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                            uint32_t *node, const char **why);

/** The same of the mount that a node stands on; OWN: the system mounts it, perhaps. */
enum state place_needs_parent(struct maker *mk, uint32_t i, const char **why);

/** Whether a mount stands on what will be gone, as a tmpfs is empty at boot. */
bool place_wants_mkdir(const struct maker *mk, uint32_t i);

/** A bind in the making: the best that is known so far. */
struct bind {
	uint32_t in;             /* the mount that its source lies in */
	const char *source;
	const char *why;
	bool waiting;            /* for another that may show its source */
};

/** Find where the source of a bind is seen: in a mount of the same file system, of
    its root or of a directory above; the higher ones first, since those are mounts
    of it rather than binds. */
void place_find_bind(struct maker *mk, uint32_t i, struct bind *bind);

/** Why what is written to a bind would be refused: no line mounts a file system for
    writing and shows it only for reading.  NULL if it would not. */
const char *place_writes_refused(struct maker *mk, uint32_t i);

/** Whether a container engine binds a file of this name into every container. */
bool place_injected(const struct maker *mk, uint32_t i);

/** Who mounts this, or swaps onto it, by a unit that is no fstab's; NULL: nobody, or it is not known. */
const char *place_unit(const struct fstab_world *world, const char *target);

#endif
