/* SPDX-License-Identifier: MIT */
/**
 * Discovery: finds the name and the state of every mount of a table.
 *
 *     table --> mounttree --> hints tested --.
 *                                             >-- named, judged
 *     directories --> bulk --> bfs -----------'
 *
 * Smith's getmnt (CUCS-323-88, section 4) on mount IDs.
 */
#ifndef GM_DISCOVER_H
#define GM_DISCOVER_H

#include "devmap.h"
#include "mounttree.h"
#include "os/os.h"
#include "probe/prober.h"
#include "table/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The fields of a table that discovery needs; it reads the layers of overlays and the sources of
    btrfs itself if the table does not have them. */
#define DISCOVER_FIELDS (MF_IDS | MF_DEV | MF_ROOT | MF_POINT | MF_FSTYPE)

enum discover_names { DN_HINT, DN_WALK, DN_PURE, DN_KERNEL };
enum discover_algorithm { DA_GETMNT3, DA_GETMNT2, DA_GETMNT1 };
enum discover_identity { DI_MNTID, DI_DEV };
enum discover_probe { DP_NONE, DP_LOCAL, DP_ALL };

/** A pruning or ordering rule. */
struct discover_rule_row {
	const char *name;      /* of --prune=+NAME,-NAME */
	const char *what;      /* one line for --explain and the man page */
	unsigned algorithms;   /* the set of 1 << enum discover_algorithm that use it */
};

enum { DISCOVER_RULES_MAX = 16 };

/** The rules, indexed by enum discover_rule; rows after the last have no name. */
extern const struct discover_rule_row discover_rules[DISCOVER_RULES_MAX];

/** The index of a rule, or -1 if there is none of this name. */
int discover_rule(const char *name);

/** A boundary found by the search that the table does not list. */
struct discover_boundary {
	const char *path;
	uint64_t mnt_id;           /* by statx; 0 if unknown */
	uint32_t dev_major, dev_minor;
	uint32_t node;             /* the mount that contains it */
	bool automount;            /* STATX_ATTR_AUTOMOUNT */
};

/** For the progress display. */
struct discover_progress {
	uint64_t dirs, entries;
	uint32_t named, mounts;
	uint32_t probes;           /* probes that have not been answered yet */
	const char *where;         /* a directory, written like TARGET */
};

struct discover_opts {
	enum discover_names names;
	enum discover_algorithm algorithm;
	enum discover_identity identity;
	unsigned prune_on, prune_off;  /* sets of 1 << rule */
	int rootfd;                /* O_PATH descriptor of the root that names are relative to;
	                              AT_FDCWD: this process's root */
	const char *prefix;        /* the path of that root in the table, or "/" */
	unsigned depth;            /* of the deepest directory entered; 0: no limit */
	uint64_t max_dirs;         /* directories to read; 0: no limit */
	double max_seconds;        /* of the search; 0: no limit */
	double deadline;           /* of the run, by os_now(); 0: none */
	unsigned threads;          /* 0: automatic; 1: exact counts */
	bool guest;                /* in a foreign process: do not raise its descriptor limit,
	                              and use at most half of it */
	bool boundaries;           /* collect boundaries */
	bool lets_expire;          /* do not touch mounts on automount triggers either: a lookup
	                              through a trigger restarts its idle time */
	bool blocking;             /* find what can block even if nothing is touched */
	enum discover_probe probe; /* mounts that the prober touches: none, those that should
	                              not block, or all */
	struct prober *prober;     /* of the caller.  NULL leaves the run incomplete */
	int procfd;                /* where mountinfo was read, to read it again */
	const char *procpath;
	/* Called about 4 times per second while searching and probing; may be NULL. */
	void (*progress)(const struct discover_progress *progress, void *arg);
	void *progress_arg;
};

struct discover_stats {
	uint64_t dirs;             /* directories read */
	uint64_t entries;          /* entries of these directories */
	uint64_t named[MT_NAMED_VERIFIED + 1];
	uint64_t states[MT_NSTATES];
	uint64_t gone;             /* mounts that were unmounted during the run */
	uint64_t renamed;          /* mounts with a new name when read again */
	uint64_t errors;           /* directories that could not be read */
	uint64_t vanished;         /* entries that vanished during the walk */
	uint64_t denied_dirs;      /* of errors: EACCES and EPERM */
	uint64_t peak_frontier;    /* largest number of waiting directories */
	uint64_t peak_fds;
	uint64_t probes;           /* mounts that were probed */
	uint64_t probes_left;      /* processes that could not be ended */
	uint64_t probes_spared;    /* mounts of a superblock known to be hung */
	uint64_t rule_hits[DISCOVER_RULES_MAX];
	unsigned threads;          /* of the search */
	double seconds;
};

/** The result of a probe. */
struct discover_probed {
	int error;                 /* an errno value; ETIMEDOUT: hung; EDQUOT: not probed, since
	                              too many other mounts are hung */
	int pid;                   /* a process of an earlier run that is still blocked; or 0 */
	int64_t since;             /* when it blocked, in seconds since 1970; 0: unknown */
	bool sized;                /* sizes are known, by statfs(2) */
	struct os_sizes sizes;
};

struct discovery {
	struct mtree tree;             /* over table->mounts */
	const struct mount_table *table;
	const char **targets;          /* name of each node, or NULL */
	uint8_t *kinds;                /* enum discover_kind of each node */
	uint8_t *flags;                /* enum dsc_node_flags of each node */
	struct discover_probed *probed;  /* of each node; NULL: nothing was probed */
	struct discover_boundary *boundaries;
	size_t nboundaries, boundaries_room;
	uint32_t root;                 /* the node of the process's root, or MT_NONE */
	unsigned rules;                /* set of the rules used */
	bool complete;                 /* no mount is lost or unsearched */
	const char *incomplete;        /* the first reason why not, or NULL */
	const char *unprobed;          /* why requested probes were not made, or NULL */
	struct discover_stats stats;
	bool by_dev;                   /* mounts were identified by device number */
	struct arena names;            /* owns the targets that were found */
	struct mount_table *again[16];  /* records of mounts that were read again */
	unsigned nagain;
};

enum discover_kind { DK_UNKNOWN, DK_DIR, DK_FILE };

/** Why a run is incomplete if a node is mtree_contradicted(). */
#define DISCOVER_NO_TREE "the IDs of the table do not form a tree"

/** The default options. */
void discover_defaults(struct discover_opts *opts);

/**
 * Find the name and state of every mount of a table, which must outlive the discovery.
 *
 * @devs    To find block devices that can block; NULL: none can.
 * @return a discovery, or NULL.  Errors: ENOMEM; those of opening the root directory.
 * Ownership: discovery_free().
 */
struct discovery *discover(struct os *os, struct devmap *devs, const struct mount_table *table,
                           const struct discover_opts *opts);

/** Whether a file system on the path other than "/" can block, by its type in the table. */
bool discover_path_blocks(const struct mount_table *table, const char *path);

/** Whether a FUSE file system exists that the table does not list: detached, or in another
    namespace.  The kernel lists the connections by device number. */
bool discover_fuse_hidden(struct devmap *devs, const struct mount_table *table);

/** Whether the backing file of a loop device is the one of that name: proven, or unprovable while
    no FUSE file system is hidden.  See devmap_file_here(). */
bool discover_loop_here(struct devmap *devs, const struct mount_table *table, uint32_t major,
                        uint32_t minor, int dirfd);

/**
 * Make a map of devices that uses /sys, /run, /dev and /proc only if they cannot block.
 *
 * @own     The table of this process, with the fields of discover_path_blocks(); NULL: mountinfo
 *          is read.
 * @return like devmap_new().
 */
struct devmap *discover_devmap(struct os *os, const struct mount_table *own);

/** Whether a mount or one on its path can block.  Unknown with DN_KERNEL unless opts.blocking. */
bool discovery_blocks(const struct discovery *d, uint32_t node);

/** Free a discovery; NULL is fine. */
void discovery_free(struct discovery *d);

#endif
