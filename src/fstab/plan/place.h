/* SPDX-License-Identifier: MIT */
/**
 * What each mount below ROOT is, and what it needs.
 */
#ifndef GM_FSTAB_PLACE_H
#define GM_FSTAB_PLACE_H

#include "base/map64.h"
#include "fstab/plan/plan_impl.h"

/** How far the decision on a mount is; ELSEWHERE: not below ROOT. */
enum state { ELSEWHERE, WAITING, LINE, REFUSED, OWN };

/** What the plan knows of a node of the discovery. */
struct place {
	const char *target;      /* from ROOT; NULL: not below it, or no name */
	uint8_t state;           /* enum state */
	bool visible;            /* below ROOT, and its path leads to it */
	bool boot;               /* OWN, and mounted when the fstab is read */
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
	struct map64 tops; /* device and source -> a node of the root of a network file system */
	const struct mount *layers;  /* the root, if it is an overlay */
	bool looked;             /* ... known */
	struct strbuf path, scratch;
};

/** The mount of a node; its type and root, never NULL. */
const struct mount *place_mount(const struct maker *mk, uint32_t node);
const char *place_type(const struct mount *mount);
const char *place_root(const struct mount *mount);

/** A path of the discovery from ROOT; NULL: not below it. */
const char *place_below(const struct fstab_input *in, const char *name);

/** Classify a node by itself. */
void place_classify(struct maker *mk, uint32_t i);

/** Make the indexes after all nodes are classified.  @return false: ENOMEM. */
bool place_index(struct maker *mk);

/** Classify a node among the others, using the indexes. */
void place_consider(struct maker *mk, uint32_t i);

/**
 * Find the mount that a file or directory lies in.
 *
 * @i     The node that needs it, which may cover it: an overlay of the directory that it is
 *        mounted on; MT_NONE: none.
 * @path  From ROOT.
 * @what  "its image", for the reason.
 * @node [out]  The mount.
 * @return LINE, WAITING, or REFUSED with *why.
 */
enum state place_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                            uint32_t *node, const char **why);

/** Find the mount that a node is mounted on.  @return also OWN: the system may mount it. */
enum state place_needs_parent(struct maker *mk, uint32_t i, const char **why);

/** Whether the mount point of a mount does not survive a reboot: a tmpfs is empty at boot. */
bool place_wants_mkdir(const struct maker *mk, uint32_t i);

/** A bind in the making: the best source so far. */
struct bind {
	uint32_t in;             /* the mount that its source lies in */
	const char *source;
	const char *why;
	bool waiting;            /* for a mount that may show its source */
};

/** Find where the source of a bind is seen: in a mount of the same file system, of
    its root or of a directory above; the higher ones first, since those are mounts
    of it rather than binds. */
void place_find_bind(struct maker *mk, uint32_t i, struct bind *bind);

/** Why a bind would not be writable: no line mounts its file system writable and shows it read-only
    elsewhere.  NULL: it would be. */
const char *place_writes_refused(struct maker *mk, uint32_t i);

/** Whether a container engine binds a file of this name into every container. */
bool place_injected(const struct maker *mk, uint32_t i);

/** The owner of a unit, not of an fstab, for a mount point or swap space; NULL: none, or not known.
 */
const char *place_unit(const struct fstab_world *world, const char *target);

#endif
