/* SPDX-License-Identifier: MIT */
/**
 * Discovery: finds the name and the state of every mount in a table.
 *
 *     table --> mounttree --> hints tested --.
 *                                             >-- names, states
 *     directories --> bulk --> bfs -----------'
 *
 * Smith's getmnt (CUCS-323-88, section 4), with mount IDs.
 */
#ifndef GM_DISCOVER_H
#define GM_DISCOVER_H

#include "devmap.h"
#include "os/os.h"
#include "probe/prober.h"
#include "mounts/mounts.h"

/** The fields of a table that discovery needs; if the table lacks the layers of overlays or the
    sources of btrfs, discovery reads them itself. */
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

/** The rules, indexed by enum discover_rule; unused rows at the end have no name. */
extern const struct discover_rule_row discover_rules[DISCOVER_RULES_MAX];

/** A boundary found by the search that is not in the table. */
struct discover_boundary {
	const char *path;
	uint64_t mnt_id;           /* from statx; 0 if unknown */
	uint32_t dev_major, dev_minor;
	uint32_t node;             /* the mount that contains it */
	bool automount;            /* STATX_ATTR_AUTOMOUNT */
};

/** Data for the progress display. */
struct discover_progress {
	uint64_t dirs, entries;
	uint32_t named, mounts;
	uint32_t probes;           /* unanswered probes */
	const char *where;         /* a directory, written like TARGET */
};
typedef void discover_progress_fn(const struct discover_progress *progress, void *arg);

struct discover_opts {
	enum discover_names names;
	enum discover_algorithm algorithm;
	enum discover_identity identity;
	unsigned prune_on, prune_off;  /* sets of 1 << rule */
	int rootfd;                /* O_PATH descriptor of the root that names are relative to;
	                              AT_FDCWD: this process's root */
	bool root_cannot_block;    /* rootfd may be examined even if nothing else is accessed */
	const char *prefix;        /* the path of that root in the table, or "/" */
	unsigned depth;            /* maximum depth of directories to enter; 0: no limit */
	uint64_t max_dirs;         /* maximum number of directories to read; 0: no limit */
	double max_seconds;        /* time limit of the search; 0: no limit */
	double deadline;           /* time limit of the run, by os_now(); 0: none */
	unsigned threads;          /* 0: automatic; 1: exact counts */
	bool guest;                /* in a foreign process: do not raise its descriptor limit, and
	                              use at most half of it */
	bool boundaries;           /* collect boundaries */
	struct mounts *known;      /* data about the mounts of this table, found from a root at
	                              or above; moved; NULL: none */
	bool trusts_root;          /* see struct mounts */
	bool lets_expire;          /* do not access mounts on automount triggers either: a lookup
	                              through a trigger restarts its idle time */
	enum discover_probe probe; /* the mounts for the prober: none, those that should not block,
	                              or all */
	struct prober *prober;     /* owned by the caller.  NULL leaves the run incomplete */
	int procfd;                /* where mountinfo was read, for reading it again */
	const char *procpath;
	/* Called about 4 times per second while searching and probing; may be NULL. */
	discover_progress_fn *progress;
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
	uint64_t denied_dirs;      /* part of errors: EACCES and EPERM */
	uint64_t peak_frontier;    /* largest number of waiting directories */
	uint64_t peak_fds;
	uint64_t probes;           /* mounts that were probed */
	uint64_t probes_left;      /* processes that could not be killed */
	uint64_t probes_spared;    /* mounts skipped because their superblock is known to be hung */
	uint64_t rule_hits[DISCOVER_RULES_MAX];
	unsigned threads;          /* of the search */
	double seconds;
};

/** The result of a probe. */
struct discover_probed {
	int error;                 /* an errno value; ETIMEDOUT: hung; EDQUOT: not probed, because
	                              too many other mounts are hung */
	int pid;                   /* a process of an earlier run that is still blocked; or 0 */
	int64_t since;             /* when it blocked, in seconds since 1970; 0: unknown */
	bool sized;                /* the sizes are valid, from statfs(2) */
	struct os_sizes sizes;
};

struct discovery {
	struct mtree tree;             /* over table->mounts */
	const struct mount_table *table;
	const char **targets;          /* name of each node, or NULL */
	uint8_t *kinds;                /* enum discover_kind of each node */
	struct mounts *mounts;         /* which mounts can block; found on first use, by what
	                                  discover() was given */
	struct discover_probed *probed;  /* of each node; NULL: nothing was probed */
	struct discover_boundary *boundaries;
	size_t nboundaries, boundaries_room;
	uint32_t root;                 /* the node of the process's root, or MT_NONE */
	unsigned rules;                /* the set of rules used */
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

/** What a mount point is, in words: "directory", "file", "directory or file".  A mount point with
    mounts on it is a directory. */
const char *discover_kind_name(const struct discovery *d, uint32_t node);

/** The reason why a run is incomplete if a node is mtree_contradicted(). */
#define DISCOVER_NO_TREE "the IDs of the table do not form a tree"

/** Set the default options. */
void discover_defaults(struct discover_opts *opts);

/** Find the name and state of every mount in a table, which must remain valid as long as the
    discovery.
    @devs  Finds which block devices can block; NULL: none can.
    @return a discovery, or NULL.  Errors: ENOMEM; those of opening the root directory.  Ownership:
    discovery_free(). */
struct discovery *discover(struct os *os, struct devmap *devs, const struct mount_table *table,
                           const struct discover_opts *opts);

/** Free a discovery; NULL is allowed. */
void discovery_free(struct discovery *d);

#endif
