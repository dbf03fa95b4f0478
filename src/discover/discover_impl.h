/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of discovery.
 */
#ifndef GM_DISCOVER_IMPL_H
#define GM_DISCOVER_IMPL_H

#include "discover/discover.h"

#include "base/arena.h"
#include "base/fstypes.h"
#include "base/map64.h"
#include "base/pathmap.h"
#include "base/strbuf.h"
#include "bfs.h"

/** Flags of a node. */
enum dsc_node_flags {
	/* For identity by device: */
	DF_INSIDE = 1 << 0,  /* same device as its parent: its root is indistinguishable */
	DF_TWIN   = 1 << 1,  /* another mount has the same device and mounted-on device */
	DF_SHIFTS = 1 << 2,  /* it was found moved when read again */
};

/** A running discovery. */
struct dsc {
	struct os *os;
	const struct mount_table *table;
	const struct discover_opts *opts;
	struct discovery *d;
	struct mtree *tree;         /* &d->tree */
	uint8_t *flags;             /* enum dsc_node_flags of each node */
	struct mounts *mounts;      /* d->mounts */
	struct map64 by_old_id;     /* 32-bit ID -> node; only if the run accesses mounts */
	struct pathmap no_look;     /* names of mounts_no_look(); filled on first use */
	bool no_look_read;
	const char *partly;         /* why the search was incomplete, or NULL */
	bool shifting;              /* the search was complete, but directories vanished
	                               meanwhile */
	bool unique;                /* keys are 64-bit IDs, also in statx */
	bool by_dev;                /* mounts are identified by device number */
	bool unread;                /* the table could not be read again */
	int rootfd;                 /* rootfd of opts; or "/", opened for a search */
	bool rootfd_own;
	struct k_statx root_st;     /* statx of the root of the run; mode 0: not examined */
	uint32_t own_root;          /* the node of the root that the table's mount points are
	                               relative to, or MT_NONE */
};

/** The enum fstype_flags of a node. */
static inline unsigned dsc_type(const struct dsc *dsc, uint32_t node)
{
	return fstype_flags(dsc->tree->nodes[node].mount->fstype);
}

/** Report progress, with the number of mounts. */
static inline void dsc_progress(const struct dsc *dsc, struct discover_progress *progress)
{
	progress->mounts = dsc->tree->count;
	progress->named = dsc->tree->count - dsc->tree->waiting;
	dsc->opts->progress(progress, dsc->opts->progress_arg);
}

/* run.c */

/** The name of a mount in the table, relative to the root of this run; or NULL. */
const char *dsc_kernel_name(const struct dsc *dsc, uint32_t node);

/** Name and settle a node.  The name must remain valid as long as the discovery. */
void dsc_name(struct dsc *dsc, uint32_t node, const char *name, enum mt_named named);

/** Move the text of a buffer into the discovery.  @return the text, or NULL (ENOMEM). */
const char *dsc_keep_text(struct dsc *dsc, struct strbuf *text);

/** Whether the deadline has passed; if so, it becomes the reason why the run is incomplete. */
bool dsc_out_of_time(struct dsc *dsc);

/** Name a node as the table does, if it has a name there; settle it, and add a state. */
void dsc_settle(struct dsc *dsc, uint32_t node, enum mt_state state);

/** The node of the mount that a statx result shows, or MT_NONE if it is not in the table. */
uint32_t dsc_node_of(const struct dsc *dsc, const struct k_statx *st);

/** The bit of a statx mask for the kind of mount IDs that this run uses. */
unsigned dsc_id_mask(const struct dsc *dsc);

/** Read some mounts again, or all if keys is NULL.
    @again [out]  The mounts that still exist, owned by the discovery; NULL: reading failed.
    @return 0, or -1 (ENOMEM). */
int dsc_read_table(struct dsc *dsc, const uint64_t *keys, size_t n,
                   const struct mount_table **again);

/** Read the mounts of some nodes again.
    @now [out]  An array that the caller frees: the record of each node, or NULL if the mount is
                gone.  NULL: reading failed.
    @return 0, or -1 (ENOMEM). */
int dsc_read_again(struct dsc *dsc, const uint32_t *nodes, size_t n, const struct mount ***now);

/** Update kind and MT_DELETED of a node from a statx of its root. */
void dsc_looked(struct dsc *dsc, uint32_t node, const struct k_statx *st);

/* root.c */

/** Find the key of the mount that contains the root of the run; 0 if unknown.
    @return 0, or -1.  Errors: those of statx(2). */
int dsc_root_key(struct dsc *dsc, uint64_t *found);

/** Find the node of the root that mount points are relative to, or MT_NONE; with --root it is not
    the root of the run.
    @return 0, or -1.  Errors: those of statx(2). */
int dsc_own_root(struct dsc *dsc, uint32_t *found);

/* hints.c */

/** Test the names in the table.  @return 0, or -1 (ENOMEM). */
int dsc_test_hints(struct dsc *dsc);

/** Test the name of a mount that a search did not find.  Settle the mount if the name is right (the
    mount is new) or access is denied. */
void dsc_confirm(struct dsc *dsc, uint32_t node);

/** The state that an errno value indicates; MT_UNTESTED: the error does not concern the mount. */
enum mt_state dsc_error_state(int error);

/* missing.c */

/** Read the mounts that were not found again, and determine whether they are gone, found, moving or
    lost.  @return 0, or -1 (ENOMEM). */
int dsc_find_missing(struct dsc *dsc);

/** Whether a node is lost, as far as is known. */
bool dsc_is_lost(const struct dsc *dsc, uint32_t node);

/* probe.c */

/** Probe the mounts selected by opts->probe, and set their names and states.
    @return 0, or -1 (ENOMEM). */
int dsc_probe(struct dsc *dsc);

/* owner.c */

/** Find the user whose server can make each node block; 0: root.
    @owners [out]  One for each node. */
void dsc_find_owners(struct dsc *dsc, uint32_t *owners);

/** A message that lists the mounts not probed because of the prober's limits (EDQUOT), or
    NULL.  Valid as long as the discovery. */
const char *dsc_over_share(struct dsc *dsc, const uint32_t *owners);

#define DSC_RECORDS "/run/getmnt (for other users than root: $XDG_RUNTIME_DIR/getmnt, or " \
                    "/tmp/getmnt-UID)"

/** Lock the records, and permit the prober to use cgroups, if their directories cannot block.
    @why [out]  Why nothing is probed, or NULL.
    @return 0, or -1 (EPIPE). */
int dsc_permit_probes(struct dsc *dsc, const char **why);

/* The rules of walk.c, and those of a run. */

/** The pruning rules: name, word of --prune, algorithms that have it (A1: getmnt1), meaning. */
#define DISCOVER_RULES(RULE) \
	RULE(LEAF, "leaf", A2 | A3, "a mount that no missing mount sits on is not entered") \
	RULE(SHRINK, "shrink", A3, "a mount is left as soon as the last mount on it is named") \
	RULE(END, "end", A3, "the search ends when every mount is named") \
	RULE(UNREACHABLE, "unreachable", A1 | A2 | A3, \
	     "mounts that the table proves hidden are not searched") \
	RULE(DTYPE, "dtype", A1 | A2 | A3, "only directories are examined") \
	RULE(NLINK, "nlink", A3, \
	     "a directory of link count 2 is not opened (ext2/3/4, xfs, tmpfs)") \
	RULE(UNLOOKED, "unlooked", A1 | A2 | A3, \
	     "where no mount can be, directories are opened without statx") \
	RULE(PSEUDO, "pseudo", A3, "pseudo file systems are searched last") \
	RULE(LIKELY, "likely", A3, \
	     "every other time, or rarely if that finds less, the directory changed last is next") \
	RULE(BOUNDARY, "boundary", A2 | A3, \
	     "boundaries that the table does not list are entered last")

#define RULE(name, ...) DR_##name,
/** The indexes of discover_rules. */
enum discover_rule {
	DISCOVER_RULES(RULE)
	DR_NRULES
};
#undef RULE

/** Whether a rule is enabled in this run. */
static inline bool dsc_rule(const struct dsc *dsc, enum discover_rule rule)
{
	return dsc->d->rules & 1u << rule;
}

/* pass.c */

/** Search for the mounts that are not settled.
    @return 0, or -1 (ENOMEM, or the root cannot be opened). */
int dsc_walk(struct dsc *dsc);

/* A search for mounts: walk.c has the rules, pass.c the passes. */

/** The data of a mount that worker threads read; only `wanted` changes during the search. */
struct walk_node {
	uint64_t key;              /* the mount ID that statx shows inside the mount */
	uint32_t old_id;
	uint32_t dev_major, dev_minor;
	bool nlink;                /* DR_NLINK applies */
	bool unlooked;             /* DR_UNLOOKED applies */
	bool subvol;               /* btrfs */
	bool last_pos;             /* no entry follows K_LAST_POS */
	bool proc;                 /* reading its directories can block: fstype_dir_waits() */
	bool avoids;               /* it contains mount points that must not be examined: NFS */
	uint32_t next_avoid;       /* the next node with the same key in walk.avoid, or MT_NONE */
	uint32_t same_dev;         /* the next node with the same device, or MT_NONE */
	_Atomic bool wanted;       /* its directories still have to be read */
};

struct walk {
	struct dsc *dsc;
	struct walk_node *nodes;
	struct map64 avoid;        /* walk_avoid_key() -> the first node that must not be
	                              examined */
	struct map64 by_dev_first; /* device -> first node with it; for identity by device */
	int round;                 /* 0 or 1 */
	bool files;                /* this pass examines files */
	bool dtype;                /* DR_DTYPE is used */
	double until, next_tick;
	uint64_t ticks, dirs_before;
	struct bfs *bfs;
	uint64_t vanished, unread; /* numbers of directories in this pass */
	bool limited, failed;
	_Atomic bool late;         /* a thread found that the time limit has passed */
	const char **denied;             /* paths of unreadable directories */
	size_t ndenied, denied_size;
};

/** The key in walk.avoid for a mount and the last component of a name in it. */
static inline uint64_t walk_avoid_key(uint32_t node, const char *last)
{
	return (uint64_t)node << 32 | (uint32_t)map64_bytes(MAP64_BYTES, last, strlen(last));
}

/** Whether all of a mount is searched for boundaries. */
bool walk_for_boundaries(const struct walk *walk, uint32_t node);

/** Fill the policy for bfs, except done(). */
void walk_policy(struct walk *walk, struct bfs_policy *policy);

/** Add the counters of a pass to the statistics. */
void walk_count(struct walk *walk, const struct bfs_stats *done);

/** Whether to enter a mount that was found.  @queue [out]  The queue for it. */
bool walk_enters(const struct walk *walk, uint32_t node, enum bfs_queue *queue);

/** Mark everything below covered mounts as hidden. */
void walk_hide_below(struct walk *walk);

/** Add a boundary that is not in the table. */
void walk_boundary(struct walk *walk, const struct bfs_at *at, const struct k_statx *st);

/** Add a directory that could not be read for lack of permission. */
void walk_denied(struct walk *walk, const struct bfs_at *at);

#endif
