/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the plan.
 *
 *     plan.c     decides on each mount after those that it needs
 *     classify.c classifies each mount
 *     needs.c    the mounts that a mount needs; where the source of a bind is visible
 *     own.c      mounts made by the system
 *     source.c   names the source
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

/** State of the decision about a mount; ELSEWHERE: not below ROOT. */
enum state { ELSEWHERE, WAITING, LINE, REFUSED, OWN };

/** The decision about a node of the discovery, and its data. */
struct decision {
	const char *target;      /* mount point from ROOT; NULL: not below ROOT, or unknown */
	uint8_t state;           /* enum state */
	bool visible;            /* below ROOT and reachable by its path, perhaps through binds
	                            of it onto itself */
	bool onto_itself;        /* a bind onto itself: the line is for plan_stack_base() */
	bool boot;               /* OWN, and mounted before the fstab is read */
	bool bind;
	bool automount;          /* OWN: mounted by an automount unit of the fstab */
	bool unnamed;            /* REFUSED: fstab_line.unnamed */
	uint32_t next_root;      /* next node with the same device and root; MAP64_NONE */
	const char *why;
	const char *owner;       /* fstab_line.owner */
	const char *kept;        /* host_utab_options() */
};

struct maker {
	const struct fstab_input *in;
	struct fstab_plan *plan;
	const struct mtree *tree;
	struct decision *decisions;
	struct pathmap by_name;    /* target -> visible nodes, the first node last */
	struct pathmap by_hidden;  /* target -> hidden nodes */
	struct map64 hidden;     /* device -> its first node that is not visible */
	struct map64 by_root;    /* hash of device and root -> first node */
	struct map64 primary;    /* device -> the first node of its root directory; a read-only
	                            view only if there is no writable one */
	const struct mount *layers;  /* the root, if it is an overlay; or NULL */
	struct strbuf scratch, text;
	struct arena *arena;     /* of the plan */
	struct arena work;       /* of all of this */
};

/** The mount of a node. */
static inline const struct mount *plan_mount(const struct maker *mk, uint32_t node)
{
	return mk->tree->nodes[node].mount;
}

/** The type and root of a mount, never NULL. */
static inline const char *plan_type(const struct mount *mount)
{
	return mount->fstype ? mount->fstype : "";
}

static inline const char *plan_root(const struct mount *mount)
{
	return mount->root ? mount->root : "/";
}

/* needs.c */

/** Record the reason why there is no line.  @return REFUSED. */
#define plan_refuse(mk, line, ...) \
	((line)->why = arena_printf((mk)->arena, __VA_ARGS__), REFUSED)

/** Convert a path of the discovery to a path from ROOT; NULL: not below ROOT. */
const char *plan_path(const struct fstab_input *in, const char *name);

/** The lowest mount of a stack whose mounts all show the same directory: a line of the mount point
    makes this mount.
    @node  In the stack; MT_NONE gives MT_NONE. */
uint32_t plan_stack_base(const struct maker *mk, uint32_t node);

/** Whether a mount is read-only while its file system is writable. */
bool plan_is_ro_view(const struct mount *mount);

/** Find the mount that contains a file or directory.
    @i     The node that needs it and may cover it, as an overlay covers a layer; MT_NONE: none.
    @path  From ROOT.
    @what  "its image", for the reason.
    @node [out]  The mount; or NULL.
    @return LINE, WAITING or REFUSED. */
enum state plan_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                           uint32_t *node, struct fstab_line *line);

/** Find the mount that contains the mount point of a node.  @return also OWN: the system may
    mount it. */
enum state plan_needs_parent(struct maker *mk, uint32_t i, struct fstab_line *line);

/** Whether the mount point of a mount does not survive a reboot: a tmpfs is empty at boot. */
bool plan_wants_mkdir(const struct maker *mk, uint32_t i);

/** Find where the source of a bind is visible: in a mount of the root of its file system, or of a
    directory above the source; the highest first, since that is more likely a mount than a bind.
    @line      Gets the source, or the reason why it has no source.
    @in [out]  The mount that contains the source.
    @return LINE, WAITING or REFUSED. */
enum state plan_bind_source(struct maker *mk, uint32_t i, struct fstab_line *line, uint32_t *in);

/** Why a bind would not be writable: the line of its file system would mount it read-only.
    NULL: no reason. */
const char *plan_bind_fault(struct maker *mk, uint32_t i);

/* classify.c */

/** Classify all mounts: set all members of their decisions except `unnamed`, and make the
    indexes. */
void plan_classify(struct maker *mk);

/** The owner of a unit that is not from an fstab, for a mount point or swap space; NULL: none or
    unknown. */
const char *plan_unit_owner(const struct fstab_facts *facts, const char *target);

/* own.c */

/** The part of the system that makes a mount without an fstab. */
struct fstab_own {
	const char *owner;       /* fstab_line.owner */
	const char *why;         /* message */
	bool boot;               /* mounted before the fstab is read */
};

/** The part of the system that makes this mount; or NULL.
    @itself     fstab_upon_itself()
    @all        API file systems get lines.
    @user       fstab_user(): names that an ordinary user can choose prove nothing. */
const struct fstab_own *fstab_own(const struct mount *mount, const char *target, bool itself,
                                  bool all, bool user);

/** Whether an ordinary user made a mount, as the kernel or mount(8) says: by the user ID of FUSE,
    by "user=NAME" in utab, by a mount point below /run/user/UID.  That user can choose its source,
    and the type of a FUSE mount.  In a user namespace, the ID is valid in this namespace.
    @target  From ROOT.
    @kept  host_utab_options()
    @user  Gets the ID or name appended, which may contain any bytes; "?": unknown, for FUSE. */
bool fstab_user(const struct mount *mount, const char *target, const char *kept,
                struct strbuf *user);

/* source.c */

/** Name a device by the kind of name that the input requests.
    @line  Gets source and note, or the reason why the device has no name.
    @return LINE or REFUSED. */
enum state source_of_device(struct maker *mk, const struct fstab_device *device,
                            const char *source, struct fstab_line *line);

/** Why the source that the kernel shows for a type cannot be mounted; NULL: it can. */
const char *source_type_fault(struct maker *mk, const struct mount *mount);

/** Name the source of a mount without a device.
    @line  Gets source, or the reason why it has no source.
    @return LINE or REFUSED. */
enum state source_of_mount(struct maker *mk, const struct mount *mount, struct fstab_line *line);

#endif
