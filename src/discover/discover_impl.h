/* SPDX-License-Identifier: MIT */
/**
 * What the parts of discovery share.  Private to discover*.c.
 */
#ifndef GM_DISCOVER_IMPL_H
#define GM_DISCOVER_IMPL_H

#include "discover/discover.h"

#include "base/arena.h"
#include "base/map64.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stdint.h>

/** What is known of a node beside the tree. */
enum dsc_node_flags {
	DF_BLOCKS  = 1 << 0,  /* touching its file system can block */
	DF_BEHIND  = 1 << 1,  /* its place lies behind one that blocks */
	DF_NO_LOOK = 1 << 2,  /* not even its root may be looked at */
	DF_SHIFTS  = 1 << 7,  /* asked for again, it was said to be elsewhere */
	/* Identity by device: */
	DF_INSIDE  = 1 << 3,  /* of its parent's device: nothing marks its place */
	DF_TWIN    = 1 << 4,  /* another is of the same device on the same device */
	/* While what blocks is looked for: */
	DF_UNSURE  = 1 << 5,  /* what it stands on is not judged yet */
	DF_UNSURE_BEHIND = 1 << 6,  /* its place lies behind such a one */
};

/** A mount that stands on a path: the layer of an overlay, the file of a loop. */
struct dsc_stands {
	uint32_t node;
	uint32_t on;                /* the mount that the path lies in, or leads through */
};

/** A discovery under way. */
struct dsc {
	struct os *os;
	struct devmap *devs;
	const struct mount_table *table;
	const struct discover_opts *opts;
	struct discovery *d;
	struct mtree *tree;         /* &d->tree */
	uint8_t *flags;             /* enum dsc_node_flags of each node */
	struct dsc_stands *stands;  /* who stands on what blocks, by paths; nstands */
	size_t nstands, stands_size;
	struct map64 by_old_id;     /* 32-bit ID -> node; filled when needed */
	struct map64 no_look;       /* hashes of names that must not be looked at; so too */
	const char *partly;         /* why the search was not whole; NULL: it was */
	bool shifting;              /* it was whole, but directories vanished in it */
	bool unique;                /* keys are 64-bit IDs, and so is statx's */
	bool by_dev;                /* identity is the device number */
	bool failed;                /* memory ran out where that could not be told */
	bool unasked;               /* the kernel could not be asked again */
	int rootfd;                 /* as in opts; or "/" opened for a search */
	bool rootfd_own;
	struct k_statx root_st;     /* the root of the run; mode 0 if not looked at */
	uint32_t own_root;          /* the node of the root that the table's points are
	                               named from; MT_NONE */
};

/** A mount's name as seen from the root of this run; NULL if it has none. */
const char *dsc_kernel_name(const struct dsc *dsc, uint32_t node);

/** Give a node its name and settle it.  @return 0, or -1 (ENOMEM).
    The name must live as long as the discovery. */
void dsc_name(struct dsc *dsc, uint32_t node, const char *name, enum mt_named named);

/** Whether the time of the run is over; noted as the reason if so. */
bool dsc_out_of_time(struct dsc *dsc);

/** Name a node by the table alone, as not touched. */
void dsc_untouched(struct dsc *dsc, uint32_t node);

/** The node that a statx shows, or MT_NONE: none of the table. */
uint32_t dsc_node_of(struct dsc *dsc, const struct k_statx *st);

/** The mask of statx for mount IDs in the space of this run. */
unsigned dsc_id_mask(const struct dsc *dsc);

/**
 * Ask the kernel again for some mounts, and keep the answer with the discovery.
 *
 * @keys
 *         NULL: for all that there are now.
 * @again [out]
 *         The records of those that are still there; NULL if that cannot be
 *         known.
 * @there [out]
 *         Key -> index in again; to be destroyed by the caller.
 * @return 0, or -1 (ENOMEM).
 */
int dsc_ask_again(struct dsc *dsc, const uint64_t *keys, size_t n,
                  const struct mount_table **again, struct map64 *there);

/** Note what a look at a mount's root told: kind, and whether it is deleted. */
void dsc_looked(struct dsc *dsc, uint32_t node, const struct k_statx *st);

/* path.c */

/** Where paths lie, by the table. */
struct dsc_paths {
	struct dsc *dsc;
	struct map64 points;   /* paths_key() of a visible mount point -> its node */
	struct map64 plain;    /* that of a path that is no link -> where it is in names */
	struct strbuf names;   /* those paths, each with its NUL */
	bool failed;           /* memory ran out: what was answered is a guess */
};

/** Index the table's points.  @return 0, or -1 (ENOMEM). */
int dsc_paths_init(struct dsc_paths *paths, struct dsc *dsc);

/** Free the index; a zeroed one is fine. */
void dsc_paths_destroy(struct dsc_paths *paths);

/** Where a path leads: not into what blocks, into or through it, or through
    what is DF_UNSURE. */
enum dsc_leads { LEADS_CLEAR, LEADS_BLOCKED, LEADS_UNSURE };

/**
 * Whether a path leads into or through what blocks, by what is known of it so
 * far; what cannot be followed is held to.  Asks for links (readlinkat) where
 * that is known to be safe, and touches nothing else.
 *
 * @in [out]  The mount that it lies in, or where following it ended.
 */
enum dsc_leads dsc_path_leads(struct dsc_paths *paths, const char *path, uint32_t *in);

/* block.c */

/** Find what can block, and what lies behind it: design.md 2.3.
    @return 0, or -1 (ENOMEM). */
int dsc_find_blocking(struct dsc *dsc);

/* hints.c */

/** Test the names that the table gives.  @return 0, or -1 (ENOMEM). */
int dsc_test_hints(struct dsc *dsc);

/**
 * Test the name of one mount that a search did not find: it may have come
 * there behind the searcher's back, or be refused to us.  What is so is
 * named (but by IDs alone), told and settled; else nothing changes.
 */
void dsc_confirm(struct dsc *dsc, uint32_t node);

/** The state that an errno value stands for; MT_UNTESTED: it says nothing of
    the mount. */
enum mt_state dsc_error_state(int error);

/* missing.c */

/** Ask again for what was not found: gone, found, moving, or lost.
    @return 0, or -1 (ENOMEM). */
int dsc_ask_for_missing(struct dsc *dsc);

/** Whether a node is to be told lost, by what is known of it so far. */
bool dsc_is_lost(const struct dsc *dsc, uint32_t node);

/* probe.c */

/** Have the prober touch what opts->probe says, and name and judge what that
    settles.  @return 0, or -1 (ENOMEM). */
int dsc_probe(struct dsc *dsc);

/* owner.c */

/** The owner of a FUSE mount whose options do not name one. */
#define DSC_OWNER_UNKNOWN UINT32_MAX

/** The user who mounted it, by the option user_id of FUSE; 0 for other types.  Pure. */
uint32_t dsc_fuse_owner(const struct mount *m);

/** The user of each node whose server can keep it from answering; 0: root.
    @owners [out]  One for each node. */
void dsc_find_owners(struct dsc *dsc, uint32_t *owners);

/** The reason that names the mounts not probed for the prober's bounds (EDQUOT);
    NULL: there are none.  It lives as long as the discovery. */
const char *dsc_over_share(struct dsc *dsc, const uint32_t *owners);

/* walk.c */

/** Two rules that hold before the search: whether what the table proves
    unreachable is waited for, and whether there is no search without need. */
bool dsc_waits_for_hidden(const struct dsc *dsc);
bool dsc_ends_early(const struct dsc *dsc);

/** Search for what is not settled.
    @return 0, or -1 (ENOMEM, or the root cannot be opened). */
int dsc_walk(struct dsc *dsc);

#endif
