/* SPDX-License-Identifier: MIT */
/**
 * Discovery: mount tree and search joined, until every mount is named and
 * has its standing.
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

/**
 * The fields of a table that discovery needs, whichever naming: what can
 * block is told by types and devices, which names must not be looked at, by
 * the points.  It asks for the layers of overlays and the sources of btrfs
 * itself, if the table does not have them.
 */
#define DISCOVER_FIELDS \
	(MF_IDS | MF_DEV | MF_ROOT | MF_POINT | MF_FSTYPE)

enum discover_names { DN_HINT, DN_WALK, DN_PURE, DN_KERNEL };
enum discover_algorithm { DA_GETMNT3, DA_GETMNT2, DA_GETMNT1 };
enum discover_identity { DI_MNTID, DI_DEV };
enum discover_probe { DP_NONE, DP_LOCAL, DP_ALL };

/** A pruning or ordering rule, with its switch. */
struct discover_rule_row {
	const char *name;      /* of --prune=+NAME,-NAME */
	const char *what;      /* one line for --explain and the man page */
	unsigned algorithms;   /* 1 << enum discover_algorithm where it is on */
};

enum { DISCOVER_RULES_MAX = 16 };

/** All rules; the rows behind the last have no name.  A rule is known by its
    place in the table.  It lives in walk.c, whole. */
extern const struct discover_rule_row discover_rules[DISCOVER_RULES_MAX];

/** The place of a rule, or -1 if there is none of this name. */
int discover_rule(const char *name);

/** A boundary met on the way that the table does not list. */
struct discover_boundary {
	char *path;
	uint64_t mnt_id;           /* what statx says of it; 0 if unknown */
	uint32_t dev_major, dev_minor;
	uint32_t node;             /* the mount whose directory shows it */
	bool automount;            /* STATX_ATTR_AUTOMOUNT */
};

/** Where a run is; for the progress display. */
struct discover_progress {
	uint64_t dirs, entries;
	uint32_t named, mounts;
	uint32_t probes;           /* of mounts, that have not been answered */
	const char *where;         /* a directory, as TARGET would be written */
};

struct discover_opts {
	enum discover_names names;
	enum discover_algorithm algorithm;
	enum discover_identity identity;
	unsigned prune_on, prune_off;  /* sets of 1 << rule */
	int rootfd;                /* O_PATH descriptor of the root that names are
	                              relative to; AT_FDCWD: this process's root */
	const char *prefix;        /* that root's own name in the table; "/" */
	unsigned depth;            /* the deepest directory entered; 0: no bound */
	uint64_t max_dirs;         /* directories; 0: no bound */
	double max_seconds;        /* of the search; 0: no bound */
	double deadline;           /* of the run, by os_now(); 0: none */
	unsigned threads;          /* 0: chosen; 1: exact counts */
	bool guest;                /* in the process of another, whose limit on
	                              descriptors stays, and leaves half to it */
	bool boundaries;           /* keep them */
	bool lets_expire;          /* nor is what stands on an automount trigger touched: to
	                              lead a name through one begins its idle time anew */
	bool blocking;             /* tell what can block, also when nothing is touched */
	enum discover_probe probe; /* which mounts are touched by the prober: none,
	                              those that are held not to block, or all */
	struct prober *prober;     /* for that; stays the caller's.  One that is
	                              not there leaves the run incomplete */
	int procfd;                /* where mountinfo was read, for asking again */
	const char *procpath;
	/* Called about 4 times a second while searching and probing; may be NULL. */
	void (*progress)(const struct discover_progress *progress, void *arg);
	void *progress_arg;
};

struct discover_stats {
	uint64_t dirs;             /* directories read */
	uint64_t entries;          /* entries read in them */
	uint64_t named[MT_NAMED_VERIFIED + 1];
	uint64_t states[MT_NSTATES];
	uint64_t gone;             /* mounts that went away while we looked */
	uint64_t renamed;          /* found under a new name when asked again */
	uint64_t errors;           /* directories that could not be read */
	uint64_t vanished;         /* entries that vanished during the walk */
	uint64_t denied_dirs;      /* of errors: EACCES and EPERM */
	uint64_t peak_frontier;    /* directories waiting, at most */
	uint64_t peak_fds;
	uint64_t probes;           /* mounts that the prober was asked about */
	uint64_t probes_left;      /* processes left behind by that */
	uint64_t probes_spared;    /* mounts of a superblock known to be hung */
	uint64_t rule_hits[DISCOVER_RULES_MAX];
	unsigned threads;          /* that took part */
	double seconds;
};

/** What the prober told of a mount. */
struct discover_probed {
	int error;                 /* an errno value; ETIMEDOUT if hung; EDQUOT: not
	                              probed, since too many others do not answer */
	int pid;                   /* a process of a former run that still waits; 0: none */
	int64_t since;             /* ... since then, in seconds since 1970; 0: not known */
	bool sized;                /* the sizes are known: statfs(2) */
	struct os_sizes sizes;
};

struct discovery {
	struct mtree tree;             /* over table->mounts */
	const struct mount_table *table;
	const char **targets;          /* one for each node; NULL: no name */
	uint8_t *kinds;                /* enum discover_kind for each node */
	uint8_t *flags;                /* enum dsc_node_flags for each node; see
	                                  discovery_blocks() */
	struct discover_probed *probed;  /* one for each node; NULL: no probes */
	struct discover_boundary *boundaries;
	size_t nboundaries;
	uint32_t root;                 /* the node of the process's root; MT_NONE */
	unsigned rules;                /* the rules that were on */
	bool complete;                 /* nothing lost or unsearched */
	const char *incomplete;        /* the first reason why not; or NULL */
	const char *unprobed;          /* why mounts were not probed that were to be; or NULL */
	struct discover_stats stats;
	bool by_dev;                   /* the identity used was the device number */
	struct arena names;            /* owns the targets that were found */
	struct mount_table *again[16];  /* records of mounts that were asked again */
	unsigned nagain;
};

enum discover_kind { DK_UNKNOWN, DK_DIR, DK_FILE };

/** A reason why a run is incomplete that only the nodes tell: duplicates and
    cycles among the IDs. */
#define DISCOVER_NO_TREE "IDs of the table make no tree"

/** The options that a plain `getmnt` runs with. */
void discover_defaults(struct discover_opts *opts);

/**
 * Name and judge every mount of a table.
 *
 * @table   Must outlive the discovery.
 * @devs    For sources that stand on a device; may be NULL: then none is
 *          held to block.
 * @return a discovery, or NULL.
 * Errors: ENOMEM; those of opening the root directory.
 * Ownership: discovery_free().
 */
struct discovery *discover(struct os *os, struct devmap *devs, const struct mount_table *table,
                           const struct discover_opts *opts);

/**
 * Whether a path of this process may lead through a file system that can
 * block: one whose mount point is on the way.  "/" itself is touched anyway.
 * Decided by the table alone.
 *
 * @table   Of this process, with MF_POINT and MF_FSTYPE.
 */
bool discover_path_blocks(const struct mount_table *table, const char *path);

/**
 * Whether a FUSE file system exists that is mounted nowhere in the table: detached, or in another
 * namespace.  The kernel lists the connections, each as a device number.
 */
bool discover_fuse_hidden(struct devmap *devs, const struct mount_table *table);

/** Whether the file of a loop device is taken for the one that its name leads to: this is proved, or it
    cannot be and no FUSE file system is hidden.  As devmap_file_here(). */
bool discover_loop_here(struct devmap *devs, const struct mount_table *table, uint32_t major, uint32_t minor, int dirfd);

/**
 * Make a map of devices that uses /sys, /run and /dev only where they cannot
 * block.
 *
 * @own     The table of this process; one without the fields of
 *          discover_path_blocks() tells nothing.  NULL: mountinfo is read for this.
 * @return as devmap_new_at().
 */
struct devmap *discover_devmap(struct os *os, const struct mount_table *own);

/** Whether touching a mount can block, or its name leads through one where it
    can; known by every naming but kernel, and by that with opts.blocking. */
bool discovery_blocks(const struct discovery *d, uint32_t node);

/** Free a discovery; NULL is fine. */
void discovery_free(struct discovery *d);

#endif
