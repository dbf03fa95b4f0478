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
 * swap and the root.  systemd orders by paths: before a mount, it mounts the paths named by
 * RequiresMountsFor=, even if their lines are noauto.  It mounts local file systems before
 * local-fs.target, and so before it starts the network.  Of several lines with one mount point it
 * uses the first, even if that is noauto.
 *
 * Pure.  O(n log n) in the bytes of the lines.
 */
#ifndef GM_FSTAB_ORDER_H
#define GM_FSTAB_ORDER_H

#include "base/strbuf.h"
#include "fstab/entry.h"

#define ORDER_NONE UINT32_MAX

/** Why line A needs line B.  A path of A "lies on B" if it is at or below the mount point of B. */
enum order_kind {
	ORDER_PARENT,    /* the mount point of A is below the mount point of B */
	ORDER_BIND,      /* the source of A, a bind, lies on B */
	ORDER_SOURCE,    /* the source of A, an image file or a directory for FUSE, lies on B */
	ORDER_LAYER,     /* a layer of A, an overlay, lies on B; systemd ignores this need */
	ORDER_LINK,      /* the source of A, after following symlinks, lies on B; systemd ignores
	                    this need */
	ORDER_BRANCH,    /* a branch (united directory) of A, a union of FUSE or aufs, lies on B;
	                    systemd ignores this need */
	ORDER_SWAP,      /* the swap file A lies on B; for systemd only, since swapon -a runs after
	                    mount -a */
	ORDER_REQUIRES,  /* x-systemd.requires= or x-systemd.requires-mounts-for= of A names B */
	ORDER_AFTER,     /* x-systemd.after= of A names B, or x-systemd.before= of B names A */
	ORDER_KINDS,
};

/** Whether systemd makes a dependency from a need of this kind. */
static inline bool order_is_known(enum order_kind kind)
{
	return kind != ORDER_LAYER && kind != ORDER_LINK && kind != ORDER_BRANCH;
}

struct order_need {
	uint32_t line;           /* index of the needed line */
	enum order_kind kind;
	bool nearest;            /* no other line mounts a directory between the mount point of
	                            the needed line and `path` */
	const char *path;        /* the needed path, which lies on the mount of the needed line */
};

/** Properties of a line that follow from its type and options, and from its needs. */
enum order_flags {
	ORDER_IS_IDLE     = 1 << 0,   /* neither boot nor an access mounts the line:
	                                 fstab_entry.idle */
	ORDER_IS_NOFAIL   = 1 << 1,
	ORDER_IS_AUTOMOUNT = 1 << 2,  /* systemd mounts the line on first access */
	ORDER_IS_NETWORK  = 1 << 3,   /* fstab_entry.network */
	ORDER_IS_BIND     = 1 << 4,
	ORDER_IS_SWAP     = 1 << 5,
	ORDER_IN_BOOT     = 1 << 6,   /* systemd mounts the line at boot, perhaps only because a
	                                 different line needs it */
	ORDER_IN_CYCLE    = 1 << 7,   /* the line needs itself through other lines, which all have
	                                 ORDER_IN_BOOT */
	ORDER_ON_NETWORK  = 1 << 8,   /* the line has ORDER_IN_BOOT, and systemd mounts it after
	                                 the network: it has ORDER_IS_NETWORK or needs a line
	                                 with ORDER_ON_NETWORK */
	ORDER_LACKS_NETDEV = 1 << 9,  /* the line should have _netdev: it does not have
	                                 ORDER_IS_NETWORK, but needs, perhaps through further lines,
	                                 a line with ORDER_IS_NETWORK.  Needs that systemd ignores
	                                 count too */
};

struct order_nowhere {
	uint32_t line;
	const char *path;
};

struct order {
	const struct fstab_entry *const *lines;   /* in the order of the file */
	uint32_t count;
	uint16_t *flags;             /* flags[i]: enum order_flags of line i */
	struct order_need *needs;    /* needs of line i: begin[i] to begin[i + 1] */
	uint32_t *begin;
	uint32_t *sequence;          /* indexes of all lines, each after the lines that it needs;
	                                lines of a cycle in file order */
	uint32_t *first, *last;      /* first[i]: the first line with the mount point of line i, the
	                                only such line that systemd reads, even with ORDER_IS_IDLE;
	                                last[i]: the last line with this mount point that mount -a
	                                mounts or, if mount -a mounts none, the first without
	                                ORDER_IS_IDLE; ORDER_NONE: no such line */
	struct order_nowhere *nowhere;   /* mount points in x-systemd.requires= without a line */
	uint32_t nnowhere;
	uint32_t root;               /* first line of "/" mounted at boot; ORDER_NONE: no such
	                                line */
	struct arena *arena;         /* memory of the graph */
};

/** Faults of the order; except for ORDER_NOWHERE and ORDER_ROOT, `line` needs `other`. */
enum order_fault {
	ORDER_LATE,      /* mount -a mounts `other` after `line` */
	ORDER_CYCLE,     /* `other` also needs `line`: no order is right */
	ORDER_DEADLOCK,  /* `other` waits for the network, which systemd starts only after `line` is
	                    mounted; also if systemd ignores the need */
	ORDER_UNORDERED, /* systemd ignores the need, and may mount both lines at the same time */
	ORDER_NOAUTO,    /* `other` is noauto: systemd mounts it for `line`, mount -a does not */
	ORDER_OPTIONAL,  /* `other` is nofail, `line` is not */
	ORDER_NOWHERE,   /* no line mounts `path`, which x-systemd.requires= names */
	ORDER_ROOT,      /* `line` precedes `other`, the line of "/": harmless */
};

struct order_finding {
	enum order_fault fault;
	enum order_kind kind;
	uint32_t line, other;    /* indexes of lines; `other` is ORDER_NONE for ORDER_NOWHERE */
	const char *path;        /* the needed path; for ORDER_PARENT, the mount point of `line` */
};

/** Make the graph of the lines of an fstab.
    @lines        In the order of the file; they must live as long as the graph.  If the line of
                  "/" is added by the merge, all other lines need it.
    @order [out]  The graph, in the arena. */
void order_make(const struct fstab_entry *const *lines, uint32_t count, struct arena *arena,
                struct order *order);

/** Set order->sequence, and the flags from ORDER_IN_BOOT on. */
void order_find_boot(struct order *order);

/** Whether mount -a must mount a needed line before the line that needs it. */
bool order_matters(const struct order *order, uint32_t line, const struct order_need *need);

/** Find all faults, line by line: for each line at most one finding of each fault and kind.
    @position        The position of each line in the file; NULL: the index of the line.
    @findings [out]  An array in the arena of the graph.
    @return the number of findings. */
size_t order_check(const struct order *order, const uint32_t *position,
                   struct order_finding **findings);

/** Why a line is not mounted as written. */
enum order_lack {
	ORDER_LACKS_NOTHING,
	ORDER_LACKS_ITSELF,      /* the line cannot be mounted in any order */
	ORDER_LACKS_BOOT,        /* the line is noauto: at boot only systemd mounts it, if a
	                            different line needs it; or the mount has no line */
	ORDER_LACKS_OTHER,       /* `other`, which the line needs, is not mounted before the line */
	ORDER_LACKS_TARGET,      /* `other` has the same mount point: mount -a mounts `other` over
	                            this line, systemd reads only `other` */
};

struct order_outcome {
	enum order_lack lack;
	enum order_kind kind;    /* ORDER_LACKS_OTHER: why the line needs `other` */
	uint32_t other;
};

/** Predict which lines of the file are mounted, and why each remaining line is not mounted.
    @systemd         true: by systemd; false: by mount -a.
    @broken          broken[i]: line i cannot be mounted in any order; or NULL.
    @outcomes [out]  outcomes[i]: the prediction for line i. */
void order_run(const struct order *order, bool systemd, const bool *broken,
               struct order_outcome *outcomes);

/** Get the next path from a value of x-systemd.requires-mounts-for=, a list of paths separated by
    blanks.  Blanks in a path are quoted by quotation marks or backslashes.
    @value [in,out]  The value, which is modified; afterwards the rest of the value.
    @return NULL: no further path. */
const char *order_next_required(char **value, struct arena *arena);

/** Get the mount point that a value of x-systemd.requires= names, as a path or a unit.
    @return NULL: the value does not name a mount point. */
const char *order_named_path(const char *value, struct arena *arena);

/** Append the option, not escaped, that makes systemd mount a line after the line of a mount point:
    x-systemd.requires-mounts-for= or, for a path that systemd would split into several paths,
    x-systemd.requires=. */
void order_wait_option(struct strbuf *out, const char *mount_point);

/** Paths that must exist before a line can be mounted. */
struct order_paths {
	struct order_path {
		const char *path;    /* normalized */
		enum order_kind kind;
	} *list;
	size_t count;
	struct arena *arena;     /* memory of the list and the paths */
};

/** Collect the paths that a line needs besides its mount point: source, layers, branches.
    @paths [in,out]  The former paths are overwritten. */
void order_read_paths(struct order_paths *paths, const struct fstab_entry *line);

#endif
