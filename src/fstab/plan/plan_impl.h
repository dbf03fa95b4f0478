/* SPDX-License-Identifier: MIT */
/**
 * Interfaces between the files of the plan.
 *
 *     plan.c     decides for each mount whether it gets a line
 *     classify.c classifies each mount: made by the system, not expressible, bind ...
 *     needs.c    finds the mounts that a mount needs, and a path to the source of a bind
 *     copies.c   finds mounts that propagation or a recursive bind makes from other mounts
 *     own.c      recognizes mounts made by the system
 *     source.c   chooses the source of a line
 */
#ifndef GM_FSTAB_PLAN_IMPL_H
#define GM_FSTAB_PLAN_IMPL_H

#include "base/map64.h"
#include "base/pathmap.h"
#include "base/strbuf.h"
#include "base/words.h"
#include "fstab/fstab.h"
#include "fstab/target.h"
#include "mountopts/optlist.h"

/** State of the decision about a mount; ELSEWHERE: not below ROOT; WAITING: not decided yet; LINE:
    gets a line; COPIED: the line of its origin makes it; REFUSED: becomes a comment; OWN:
    FSTAB_OWN, neither a line nor a comment. */
enum state { ELSEWHERE, WAITING, LINE, COPIED, REFUSED, OWN };

/** The decision about a mount, a node of the discovery, and the data that it depends on. */
struct decision {
	const char *target;      /* mount point, as a path from ROOT (in->root); NULL: not below
	                            ROOT, or unknown */
	uint8_t state;           /* enum state */
	bool visible;            /* below ROOT and reachable by its path; binds of the mount point
	                            onto itself may lie over the mount */
	bool onto_itself;        /* a bind of a mount point onto itself: a line can only make the
	                            mount of plan_stack_base() */
	bool boot;               /* OWN, and mounted before the fstab is read */
	bool bind;
	bool automount;          /* mounted by an automount unit that was generated from an fstab
	                            line: the line gets x-systemd.automount */
	bool unnamed;            /* REFUSED, only because the device has no persistent name */
	uint8_t lined;           /* the result of find_line(), enum lined; 0: not looked up yet */
	bool covered;            /* REFUSED only because another mount covers it, or because it
	                            is onto_itself */
	/* copies.c: */
	bool came_along;         /* a copy made by the recursive bind that holds it */
	bool exchangeable;       /* a copy that is a peer of its origin: a line for either mount
	                            makes both */
	bool recursive;          /* a bind whose line gets "rbind" */
	uint8_t propagation;     /* set of enum mount_propagation; MP_SLAVE only if a mount of its
	                            master is in the table */
	uint32_t copy_of;        /* the node that it is a copy of; MT_NONE: it is not a copy */
	uint32_t missed;         /* the first younger node found that would have received this
	                            mount; MT_NONE */
	uint32_t twin;           /* for a copy: the node that the kernel copied; for that node: the
	                            copy found last; else MT_NONE */
	struct fstab_line *line; /* LINE: in the plan */
	uint32_t next_root;      /* next node with the same device and root directory; MAP64_NONE:
	                            the last */
	const char *why;
	const char *owner;       /* fstab_line.owner */
	const char *kept;        /* options recorded by mount(8): host_utab_options() */
};

struct maker {
	const struct fstab_input *in;
	struct fstab_plan *plan;
	const struct mtree *tree;
	struct decision *decisions;
	struct pathmap by_name;    /* mount point -> its first visible node */
	struct pathmap by_hidden;  /* mount point -> its first hidden node */
	struct pathmap by_line;    /* mount point -> lines of in->file; the first is added last, and
	                              so found first */
	bool has_lines;            /* by_line was filled */
	struct map64 hidden;     /* device -> the first hidden node of its file system */
	struct map64 by_root;    /* hash of device and root directory -> the first visible node, in
	                            a list linked by next_root; copies are last */
	struct map64 primary;    /* device -> the first visible node that shows the root of the file
	                            system without being a read-only view (plan_is_ro_view()); if
	                            all are read-only views, the first */
	const struct mount *layers;  /* the mount of "/", if it is an overlay; or NULL */
	bool root_shared;        /* a mount on "/", not a bind, is shared */
	bool root_unshared;      /* a mount on "/", not a bind, is not shared */
	bool by_age;             /* mounts were copied or can be: lines are in the order in which
	                            the mounts were made */
	struct strbuf scratch, text;
	struct arena *arena;     /* memory of the plan */
	struct arena work;       /* memory of the members above, freed when the plan is made */
};

/** The mount of a node. */
static inline const struct mount *plan_mount(const struct maker *mk, uint32_t node)
{
	return mk->tree->nodes[node].mount;
}

/** The node at a position in the order of decisions: parents first or, with by_age, in the order in
    which the mounts were made. */
static inline uint32_t plan_nth(const struct maker *mk, uint32_t at)
{
	return mk->by_age ? at : mk->tree->order[at];
}

/** The type of a mount, never NULL. */
static inline const char *plan_type(const struct mount *mount)
{
	return mount->fstype ? mount->fstype : "";
}

/* needs.c */

/** Record, as a format and its arguments, why a mount or swap space gets no line.
    @return REFUSED. */
#define plan_refuse(mk, line, ...) \
	((line)->why = arena_printf((mk)->arena, __VA_ARGS__), REFUSED)

/** Convert a path of the discovery to a path from ROOT; NULL: not below ROOT. */
const char *plan_path(const struct fstab_input *in, const char *name);

/** Find the mount beneath all binds of a mount point onto itself: the only mount on this mount
    point that a line can make.
    @node    A mount on the mount point; or MT_NONE.
    @return  `node` if it is not such a bind. */
uint32_t plan_stack_base(const struct maker *mk, uint32_t node);

/** Whether a mount exists when the mounts that need it are made.
    @return LINE: the mount exists; else decision.state of the mount. */
enum state plan_available(struct maker *mk, uint32_t node);

/** Complete a message "it lies on MOUNT, which ..." for a mount that is not available. */
const char *plan_lack(struct maker *mk, uint32_t node, enum state state);

/** Whether a mount is read-only while its file system is writable. */
bool plan_is_ro_view(const struct mount *mount);

/** Find the mount that contains a file or directory, and whether this mount is available before
    node i is mounted.
    @i     The mount that needs the file and may cover it, as an overlay covers a layer; MT_NONE: a
           swap space needs the file.
    @path  Of the file, from ROOT.
    @what  The name of the file in the reason, such as "its image".
    @node [out]  The mount that contains the file; MT_NONE: no mount below ROOT.  May be NULL.
    @line  Gets the reason if the mount is not available.
    @return LINE: available; WAITING: not decided yet; REFUSED: not available. */
enum state plan_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                           uint32_t *node, struct fstab_line *line);

/** Find whether the mount that contains the mount point of node i is available before node i is
    mounted.
    @line  Gets the reason if the mount is not available.
    @return LINE: available; WAITING: not decided yet; REFUSED: not available; OWN: not available,
            since only the system makes the mount. */
enum state plan_needs_parent(struct maker *mk, uint32_t i, struct fstab_line *line);

/** Whether the mount point of node i must be created at each boot, since it lies on a tmpfs. */
bool plan_wants_mkdir(const struct maker *mk, uint32_t i);

/** Find a path to the source of a bind: in a mount of the root of its file system, or in a mount of
    a directory above the source.  Mounts of higher directories are tried first, since these are
    less likely to be binds.
    @line      Gets the source, or the reason why the source is not visible.
    @in [out]  The node of the mount that contains the source.
    @return LINE, WAITING or REFUSED. */
enum state plan_bind_source(struct maker *mk, uint32_t i, struct fstab_line *line, uint32_t *in);

/** Why node i, a writable bind, could not be made by a line: the line of its file system would make
    the file system read-only.  NULL: no reason. */
const char *plan_bind_fault(struct maker *mk, uint32_t i);

/* copies.c */

/** Find the copies: set the members of all decisions that copies.c sets.  Call when each mount is
    classified by itself. */
void plan_find_copies(struct maker *mk);

/** Decide about a copy.
    @line  Gets the reason why no line makes it.
    @return COPIED, WAITING, REFUSED or OWN. */
enum state plan_decide_copy(struct maker *mk, uint32_t i, struct fstab_line *line);

/** Set the propagation of a line, and the options that the line needs for it.
    @source  Of a bind: the mount that its source lies in; else MT_NONE. */
void plan_propagation(const struct maker *mk, uint32_t i, uint32_t source, struct fstab_line *line);

/* classify.c */

/** Classify all mounts: set the members of their decisions, except `unnamed` and `lined`, and fill
    the maps of the maker. */
void plan_classify(struct maker *mk);

/** The fstab_line.owner of a mount point or swap space that has a systemd unit not generated from
    an fstab: "unit" or "gpt-auto".  NULL: there is no such unit, or units are unknown. */
const char *plan_unit_owner(const struct fstab_facts *facts, const char *target);

/* own.c */

/** A program or part of the system that makes mounts without an fstab. */
struct fstab_own {
	const char *owner;       /* fstab_line.owner */
	const char *why;         /* fstab_line.why */
	bool boot;               /* mounted before the fstab is read */
};

/** Find the program or part of the system that made a mount; NULL: the administrator may have made
    the mount.
    @itself     The result of fstab_upon_itself().
    @all        API file systems get lines: return NULL for these.
    @user       The result of fstab_user(); if true, names that any user can choose do not count. */
const struct fstab_own *fstab_own(const struct mount *mount, const char *target, bool itself,
                                  bool all, bool user);

/** Whether an ordinary user made a mount, as shown by the user ID of a FUSE mount, by "user=NAME"
    in utab, or by a mount point below /run/user/UID.  The user can choose the source of the mount
    and, for FUSE, the type.  User IDs are those of the user namespace of this process.
    @target  The mount point, from ROOT.
    @kept    The result of host_utab_options().
    @user    The ID or name of the user is appended, which may contain any bytes; "?" if a FUSE
             mount does not show its user. */
bool fstab_user(const struct mount *mount, const char *target, const char *kept,
                struct strbuf *user);

/* source.c */

/** Choose the source of the line of a device: a name of the kind in->id.
    @source  The name of the device in the mount table or in /proc/swaps; or NULL.
    @line    Gets source and note, or the reason why the device has no such name.
    @return LINE or REFUSED. */
enum state source_of_device(struct maker *mk, const struct fstab_device *device,
                            const char *source, struct fstab_line *line);

/** Why the source that the kernel shows for a type cannot be mounted; NULL: it can. */
const char *source_type_fault(struct maker *mk, const struct mount *mount);

/** Choose the source of the line of a mount without a device.
    @line  Gets source, or the reason why the source cannot be written.
    @return LINE or REFUSED. */
enum state source_of_mount(struct maker *mk, const struct mount *mount, struct fstab_line *line);

#endif
