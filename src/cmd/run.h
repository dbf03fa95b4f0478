/* SPDX-License-Identifier: MIT */
/**
 * The mounts that a command reads: from the options to the names and states of the mounts.
 */
#ifndef GM_CMD_RUN_H
#define GM_CMD_RUN_H

#include "cmd/cmd.h"
#include "devmap.h"
#include "discover/discover.h"
#include "mounts/paths.h"
#include "mounts/table.h"
#include "os/os.h"

/** Whether a run needs 64-bit mount IDs, which only listmount(2) has. */
enum unique_ids {
	UNIQUE_UNUSED,
	UNIQUE_SHOWN,     /* a column shows 64-bit IDs */
	UNIQUE_SELECTED,  /* an option selects a mount by its 64-bit ID */
};

/** Which mounts a run reads, and how to find them.  Strings are borrowed. */
struct input_opts {
	/* choosing the table */
	int source;               /* enum table_source */
	const char *tab_file;
	bool no_table;            /* use a table without mounts instead of tab_file */
	const char *root;
	bool part;                /* refuse "/" as root: profile measures the whole machine only
	                             with --live */
	uint64_t task;            /* a process ID; 0: none */

	/* finding the mounts */
	int names;                /* enum discover_names; -1: not given */
	int algorithm, identity;  /* enum discover_* */
	unsigned prune_on, prune_off;
	unsigned depth, threads;
	uint64_t max_dirs;
	double search_seconds;    /* from --search-limit; 0: unlimited */
	double max_time;          /* from --max-time; 0: unlimited */
	double timeout;           /* time limit of a probe, in seconds */
	bool lets_expire;         /* see struct discover_opts; set by a command, not by an option */
	int probe;                /* enum discover_probe */
	bool boundaries;

	int unique_ids;           /* enum unique_ids */
	bool devices;             /* examine devices, even if the table is an fstab or mtab */
	bool nocanonicalize;      /* use paths as written */
	bool debug;
};

/** Limits of a search for mounts with wrong kernel names: directories and seconds. */
enum { HINT_DIRS = 20000, HINT_SECONDS = 2 };

#define INPUT_DEFAULT {.source = TABLE_AUTO, .names = -1, .timeout = 5}
/** Read the live mounts.  Find their names as getmnt discover does, but within limits. */
#define INPUT_LIMITED {.source = TABLE_AUTO, .names = DN_HINT, .timeout = 5, \
	.max_dirs = HINT_DIRS, .search_seconds = HINT_SECONDS}

/** The mounts that a command reads. */
struct run {
	struct os os;
	const struct input_opts *opt;
	struct devmap *devs;           /* NULL: do not examine devices */
	struct devmap_device *devices; /* devices with a file system; NULL: not listed yet */
	ssize_t ndevices;
	struct mount_table *table;
	struct prober *prober;         /* NULL without --probe */
	struct discovery *d;           /* NULL for an fstab or mtab */
	struct mounts_paths paths;     /* see run_paths() */
	bool pathed;                   /* paths is set */
	struct mounts *known;          /* data about the mounts, found while resolving --root; or
	                                  NULL */
	const char *table_name;        /* "listmount", or the name of the file read */
	int procfd, rootfd;            /* descriptors; with --task: /proc/PID, and the root of the
	                                  process; with --root: AT_FDCWD, and the directory of
	                                  --root; else AT_FDCWD */
	bool untestable;               /* --task: the root of the process cannot be opened */
	char *prefix;                  /* the path of the directory of --root; else NULL */
	bool live;                     /* the table is the kernel's current table */
	bool nomem;                    /* memory ran out in a function that cannot report ENOMEM */
	bool complete;
	const char *reasons[8];        /* why the run is incomplete */
	size_t nreasons;
	double start;                  /* os_now() at the start */
	discover_progress_fn *progress;
	/* About the machine; machine_read() sets these members if the output shows them. */
	char *host, *boot_id;
	uint64_t mntns;                /* 0: unknown */
	uint64_t tid;                  /* ID of the process whose mounts the table shows; 0:
	                                  unknown */
};

/** Get the number of mounts: nodes of the mount tree, or lines of an fstab or mtab. */
static inline size_t run_count(const struct run *run)
{
	return run->d ? run->d->tree.count : run->table->count;
}

/** Get the record of a node, or of a line of an fstab or mtab. */
static inline const struct mount *run_mount(const struct run *run, size_t i)
{
	return run->d ? run->d->tree.nodes[i].mount : &run->table->mounts[i];
}

/** Get the mount point of a node, or NULL. */
static inline const char *run_target(const struct run *run, size_t i)
{
	return run->d ? run->d->targets[i] : run->table->mounts[i].point;
}

/** Get the mount point of a node relative to the root of the run; NULL: unknown, or outside the
    root. */
static inline const char *run_name(const struct run *run, size_t i)
{
	if (run->d && run->d->tree.nodes[i].states & 1u << MT_OUTSIDE)
		return NULL;
	return run_target(run, i);
}

/* run.c */

/** Initialize a run; the options outlive it. */
void run_init(struct run *run, const struct input_opts *options);

/** Start counting kernel calls, and probe features of the kernel unless the table is recorded. */
void run_start(struct run *run);

/** Mark a run as incomplete, and add the reason unless it is already stored. */
void run_incomplete(struct run *run, const char *reason);

/** Whether memory ran out somewhere, so that results may be missing. */
bool run_failed(const struct run *run);

/** Read host name, boot ID and mount namespace; each stays unknown if it cannot be read.
    @self  If the table is the table of this process, also read its process ID.
    @return 0, or -1 (ENOMEM). */
int machine_read(struct run *run, bool self);

/* input.c */

/** Read the table that the options name into run->table, and report lines that cannot be parsed.
    Sets run->live, table_name, procfd, rootfd and prefix.
    @fields  A set of enum mount_fields.  @return 0, or an exit status after a message. */
int input_read(struct run *run, unsigned fields);

/** Read the table that run->opt names, and find the name and state of every mount.
    @fields  A set of enum mount_fields.  @return 0, or an exit status after a message. */
int run_know(struct run *run, unsigned fields);

/** Free a run. */
void run_destroy(struct run *run);

/* path.c */

/** Get the state for resolving paths with the mounts of a run.  The first call makes it. */
struct mounts_paths *run_paths(struct run *run);

/** Free the discovery and path resolution of a run. */
void run_forget(struct run *run);

/** Get the text for an errno of mounts_follow() or of reading a file. */
const char *path_error(int error);

/** Whether access to the backing file of a loop device can block: the callback for
    devmap_set_blocking_test(). */
bool loop_blocks(void *run, const char *path, uint32_t major, uint32_t minor);

/** Find the name that the table would use for a path: the path as written if it is a mount point,
    else the resolved path.  @out [out]  The name.  @return as mounts_follow(). */
enum path_followed run_resolve(struct run *run, const char *path, struct strbuf *out);

/** Whether the table has a mount point with this name. */
bool run_has_target(const struct run *run, const char *path);

#endif
