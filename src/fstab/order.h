/* SPDX-License-Identifier: MIT */
/**
 * The dependencies between the lines of an fstab, and faults of their order.
 *
 *     lines --> order_make() --> graph --> order_check() --> findings
 *                                     '--> order_run()   --> which lines get mounted
 *
 * A line needs the lines that mount its prerequisites: the directories above its mount point,
 * the directory that it binds, the layers of an overlay, the branches of a union, the file of a
 * loop device or of a swap space, and the mounts that its x-systemd options name.
 *
 * The graph is checked twice.  mount -a goes through the file line by line, and skips noauto,
 * swap and the root.  systemd orders by paths: it first mounts the paths of RequiresMountsFor=,
 * even noauto; local file systems before local-fs.target, and so before the network; of several
 * lines with one mount point it uses the first.
 *
 * Pure.  O(n log n) in the bytes of the lines.
 */
#ifndef GM_FSTAB_ORDER_H
#define GM_FSTAB_ORDER_H

#include "base/strbuf.h"
#include "fstab/entry.h"

#define ORDER_NONE UINT32_MAX

/** Why a line needs another line. */
enum order_kind {
	ORDER_PARENT,    /* the other line mounts a directory above the mount point */
	ORDER_BIND,      /* ... above the source of the bind, or the source itself */
	ORDER_SOURCE,    /* ... above another source that is a path: an image, a FUSE directory */
	ORDER_LAYER,     /* ... a directory of the overlay; unknown to systemd */
	ORDER_LINK,      /* ... the target of symlinks in a source; unknown to systemd */
	ORDER_BRANCH,    /* ... a branch of a union of FUSE or aufs; unknown to systemd */
	ORDER_SWAP,      /* ... above the swap file; for systemd only, since swapon -a runs after
	                    mount -a */
	ORDER_REQUIRES,  /* x-systemd.requires=, x-systemd.requires-mounts-for= */
	ORDER_AFTER,     /* x-systemd.after=, or the other line's x-systemd.before= */
	ORDER_KINDS,
};

/** Whether systemd knows of needs of this kind. */
static inline bool order_is_known(enum order_kind kind)
{
	return kind != ORDER_LAYER && kind != ORDER_LINK && kind != ORDER_BRANCH;
}

struct order_need {
	uint32_t line;           /* the needed line */
	enum order_kind kind;
	bool nearest;            /* no other line mounts a directory between that mount and the
	                            path */
	const char *path;        /* the path that lies on the mount of the needed line */
};

/** Properties of a line's type and options. */
enum order_flags {
	ORDER_IS_IDLE     = 1 << 0,   /* nothing mounts it at boot: noauto without automount */
	ORDER_IS_NOFAIL   = 1 << 1,
	ORDER_IS_AUTOMOUNT = 1 << 2,  /* mounted on first access */
	ORDER_IS_NETWORK  = 1 << 3,   /* systemd waits for the network first */
	ORDER_IS_BIND     = 1 << 4,
	ORDER_IS_SWAP     = 1 << 5,
	ORDER_IN_BOOT     = 1 << 6,   /* systemd mounts it at boot, perhaps because another line
	                                 needs it */
	ORDER_IN_CYCLE    = 1 << 7,   /* among lines of ORDER_IN_BOOT: needs itself, through
	                                 other lines */
	ORDER_ON_NETWORK  = 1 << 8,   /* among lines of ORDER_IN_BOOT: is, or needs, a line of
	                                 ORDER_IS_NETWORK */
	ORDER_LACKS_NETDEV = 1 << 9,  /* not ORDER_IS_NETWORK, but needs such a line, whether or
	                                 not systemd knows of the need */
};

struct order_nowhere {
	uint32_t line;
	const char *path;
};

struct order {
	const struct fstab_entry *const *lines;   /* in the order of the file */
	uint32_t count;
	uint16_t *flags;             /* enum order_flags by line */
	struct order_need *needs;    /* needs of line i: begin[i] to begin[i + 1] */
	uint32_t *begin;
	uint32_t *sequence;          /* all lines, each after those it needs; in a cycle, in file
	                                order */
	uint32_t *first, *last;      /* by line with a path: first and last line of its mount
	                                point mounted at boot; ORDER_NONE */
	struct order_nowhere *nowhere;   /* mount points in x-systemd.requires= without a line */
	uint32_t nnowhere;
	uint32_t root;               /* first line of "/" mounted at boot; ORDER_NONE */
	struct arena *arena;         /* of all of it */
};

/** Faults. */
enum order_fault {
	ORDER_LATE,      /* mount -a mounts `other` after `line`, which needs it */
	ORDER_CYCLE,     /* `line` and `other` need each other: no order is right */
	ORDER_DEADLOCK,  /* `other` waits for the network, which systemd starts after `line`,
	                    whether or not systemd knows of the need */
	ORDER_UNORDERED, /* systemd does not know of the need, and may start both at the same
	                    time */
	ORDER_NOAUTO,    /* `other` is noauto: systemd mounts it for `line`, mount -a does not */
	ORDER_OPTIONAL,  /* boot needs `line`, but continues without `other` */
	ORDER_NOWHERE,   /* no line mounts `path`, which x-systemd.requires= names */
	ORDER_ROOT,      /* `line` is before `other`, the line of "/": harmless */
};

struct order_finding {
	enum order_fault fault;
	enum order_kind kind;
	uint32_t line, other;    /* other: may be ORDER_NONE */
	const char *path;        /* the needed path; for ORDER_PARENT, the mount point of `line` */
};

/** Make the graph.
    @lines        In the order of the file; they must live as long as the graph.  All lines need
                  an added line of "/".
    @order [out]  In the arena. */
void order_make(const struct fstab_entry *const *lines, uint32_t count, struct arena *arena,
                struct order *order);

/** Find the sequence of the graph, and set ORDER_IN_BOOT and the flags after it. */
void order_find_boot(struct order *order);

/** Whether mount -a must mount a needed line before the line that needs it. */
bool order_matters(const struct order *order, uint32_t line, const struct order_need *need);

/** Find all faults: by line, at most one of each fault and kind.
    @position        The position of each line; NULL: in the order of the lines.
    @findings [out]  An array in the arena of the graph.
    @return its length. */
size_t order_check(const struct order *order, const uint32_t *position,
                   struct order_finding **findings);

/** Why a line is not mounted as written. */
enum order_lack {
	ORDER_LACKS_NOTHING,
	ORDER_LACKS_ITSELF,      /* broken in itself */
	ORDER_LACKS_BOOT,        /* noauto and not needed by any line; or the line does not exist */
	ORDER_LACKS_OTHER,       /* `other`, which it needs, is not mounted or mounted later */
	ORDER_LACKS_TARGET,       /* `other` has the same mount point, and covers it or comes
	                             first */
};

struct order_outcome {
	enum order_lack lack;
	enum order_kind kind;    /* why it needs `other` */
	uint32_t other;
};

/** Predict which lines are mounted as written.
    @systemd         By systemd; false: by mount -a.
    @broken          For each line, whether it cannot be mounted in any case; or NULL.
    @outcomes [out]  One for each line. */
void order_run(const struct order *order, bool systemd, const bool *broken,
               struct order_outcome *outcomes);

/** Read the next path of a value of x-systemd.requires-mounts-for=, which systemd reads as words:
    blanks separate them, quotation marks and backslashes keep blanks.
    @value [in,out]  The text, which is modified; then the rest.
    @return NULL: no more. */
const char *order_next_required(char **value, struct arena *arena);

/** Get the mount point that a value of x-systemd.requires= names, as a path or a unit.
    @return NULL: none. */
const char *order_named_path(const char *value, struct arena *arena);

/** Append the option, decoded, that makes systemd mount a line after a mount point:
    x-systemd.requires-mounts-for= or, if the path would be split into words,
    x-systemd.requires=. */
void order_wait_option(struct strbuf *out, const char *mount_point);

/** Paths that must exist before a line can be mounted. */
struct order_paths {
	struct order_path {
		const char *path;    /* normalized */
		enum order_kind kind;
	} *list;
	size_t count;
	struct arena *arena;     /* of the list and the paths */
};

/** Read the paths of a line, without its mount point.  The former paths are overwritten. */
void order_read_paths(struct order_paths *paths, const struct fstab_entry *line);

#endif
