/* SPDX-License-Identifier: MIT */
/**
 * What the files of the plan share.
 *
 *     plan.c     decides on each mount after those that it needs
 *     classify.c what each mount is
 *     needs.c    what each mount needs; where the source of a bind is visible
 *     own.c      what the system mounts by itself
 *     source.c   how a source is named
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

/** How far the decision on a mount is; ELSEWHERE: not below ROOT. */
enum state { ELSEWHERE, WAITING, LINE, REFUSED, OWN };

/** The decision on a node of the discovery, and what the plan knows of it. */
struct decision {
	const char *target;      /* from ROOT; NULL: not below it, or no name */
	uint8_t state;           /* enum state */
	bool visible;            /* below ROOT, and its path leads to it, or to binds of it onto
	                            itself */
	bool onto_itself;        /* such a bind: plan_stack_base() has the line */
	bool boot;               /* OWN, and mounted when the fstab is read */
	bool bind;
	bool automount;          /* by an automount unit of the fstab */
	bool unnamed;            /* REFUSED: fstab_line.unnamed */
	uint32_t next_root;      /* the next of the same hash of device and root; MAP64_NONE */
	const char *why;
	const char *owner;       /* fstab_line.owner */
	const char *kept;        /* host_utab_options() */
};

struct maker {
	const struct fstab_input *in;
	struct fstab_plan *plan;
	const struct mtree *tree;
	struct decision *decisions;
	struct pathmap by_name;    /* target -> the visible nodes, the first one last */
	struct pathmap by_hidden;  /* the same, not visible */
	struct map64 hidden;     /* device -> the first of its nodes that are not visible */
	struct map64 by_root;    /* hash of device and root -> the first node */
	struct map64 primary;    /* device -> the node of its whole that is mounted first;
	                            a read-only view only where no whole can be written to */
	const struct mount *layers;  /* the root, if it is an overlay; or NULL */
	struct strbuf path, scratch, text;
	bool failed;             /* ENOMEM */
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

/** A formatted string that stays; NULL on ENOMEM. */
__attribute__((format(printf, 2, 3)))
const char *plan_format(struct maker *mk, const char *format, ...);

/** Record the reason why there is no line.  @return REFUSED. */
__attribute__((format(printf, 3, 4)))
enum state plan_refuse(struct maker *mk, struct fstab_line *line, const char *format, ...);

/** A path of the discovery from ROOT; NULL: not below it. */
const char *plan_path(const struct fstab_input *in, const char *name);

/** The lowest mount of the stack that a node is in if all show the same directory: a line of the
    mount point makes that one.  @node  MT_NONE gives MT_NONE. */
uint32_t plan_stack_base(const struct maker *mk, uint32_t node);

/** The visible mount that holds a path from ROOT; MT_NONE: only ROOT does. */
uint32_t plan_holder(const struct maker *mk, const char *path);

/** Whether the file system can be written to, and this mount of it cannot. */
bool plan_is_ro_view(const struct mount *mount);

/** Whether what is below a mount is lost at a shutdown. */
bool plan_is_volatile(const struct maker *mk, uint32_t node);

/** Whether a mount exists when one that needs it is mounted: LINE; else what it waits for. */
enum state plan_available(const struct maker *mk, uint32_t node);

/** What a mount that is not available has or lacks: "has no line". */
const char *plan_lack(enum state state);

/** Find the mount that a file or directory lies in.
    @i     The node that needs it, which may cover it: an overlay of the directory that it is
           mounted on; MT_NONE: none.
    @path  From ROOT.
    @what  "its image", for the reason.
    @node [out]  The mount; or NULL.
    @return LINE, WAITING or REFUSED. */
enum state plan_needs_path(struct maker *mk, uint32_t i, const char *path, const char *what,
                           uint32_t *node, struct fstab_line *line);

/** Find the mount that a node is mounted on.  @return also OWN: the system may mount it. */
enum state plan_needs_parent(struct maker *mk, uint32_t i, struct fstab_line *line);

/** Whether the mount point of a mount does not survive a reboot: a tmpfs is empty at boot. */
bool plan_wants_mkdir(const struct maker *mk, uint32_t i);

/** Find where the source of a bind is visible: in a mount of the same file system, of its root or
    of a directory above; the higher ones first, since those are mounts of it rather than binds.
    @line      Gets the source, or the reason why it has none.
    @in [out]  The mount that the source lies in.
    @return LINE, WAITING or REFUSED. */
enum state plan_bind_source(struct maker *mk, uint32_t i, struct fstab_line *line, uint32_t *in);

/** Why a bind would not be writable: no line mounts its file system writable and shows it read-only
    elsewhere.  NULL: it would be. */
const char *plan_bind_fault(struct maker *mk, uint32_t i);

/* classify.c */

/** Find out what each mount is: all members of its decision but `unnamed`; and make the indexes. */
void plan_classify(struct maker *mk);

/** The owner of a unit, not of an fstab, for a mount point or swap space; NULL: none, or not
    known. */
const char *plan_unit_owner(const struct fstab_facts *facts, const char *target);

/* own.c */

/** Who mounts something without an fstab. */
struct fstab_own {
	const char *owner;       /* fstab_line.owner */
	const char *why;         /* for people */
	bool boot;               /* mounted when the fstab is read */
};

/** Who mounts this by itself; or NULL: not the system.
    @itself     fstab_upon_itself()
    @all        API file systems get lines.
    @user       fstab_user(): names that an ordinary user can choose prove nothing. */
const struct fstab_own *fstab_own(const struct mount *mount, const char *target, bool itself,
                                  bool all, bool user);

/** Whether an ordinary user made a mount, as the kernel or mount(8) says: by the user ID of FUSE,
    by "user=NAME" in utab, by a mount point below /run/user/UID.  Its source, and the type of FUSE,
    are text of that user's choice then.  In a user namespace, the ID is that of the namespace.
    @target  From ROOT.
    @kept  host_utab_options()
    @user  Gets the ID or name appended, which may have any bytes; "?": not known of a FUSE
    mount. */
bool fstab_user(const struct mount *mount, const char *target, const char *kept,
                struct strbuf *user);

/* source.c */

/** Name a device by the policy.
    @line  Gets source and note, or the reason why it has no name.
    @return LINE or REFUSED. */
enum state source_of_device(struct maker *mk, const struct fstab_device *device,
                            const char *source, struct fstab_line *line);

/** Why the kernel's source of a type cannot be mounted; NULL: it can. */
const char *source_type_fault(struct maker *mk, const struct mount *mount);

/** Name the source of a mount without a device.
    @line  Gets source, or the reason why it has none.
    @return LINE or REFUSED. */
enum state source_of_mount(struct maker *mk, const struct mount *mount, struct fstab_line *line);

#endif
