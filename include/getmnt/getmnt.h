/* SPDX-License-Identifier: MIT */
/**
 * libgetmnt: the mounts of this machine, with their names and states.
 *
 *     struct getmnt *gm = getmnt_new();
 *     if (gm && getmnt_run(gm) == 0) {
 *         for (size_t i = 0; i < getmnt_count(gm); ++i) {
 *             const struct getmnt_mount *m = getmnt_get(gm, i);
 *             printf("%s %s\n", m->target ? m->target : "?", getmnt_state_name(m->state));
 *         }
 *     }
 *     getmnt_free(gm);
 *
 * Create a handle, set options, run, and read the mounts; a handle can run again.  See getmnt(3);
 * getmnt-discover(8) explains names, states and algorithms.
 *
 * The library never prints and never ends the process.  It does not change limits, the working
 * directory, signals or the environment, and leaves no descriptor open.  The threads of a large
 * search block signals and have ended when getmnt_run() returns.  Mounts that can block (network
 * file systems, FUSE, automounters) are not accessed; with GETMNT_OPT_PROBE, child processes access
 * them, each with a deadline.
 *
 * Errors: -1 or NULL, with errno.
 * Threads: only one thread at a time may use a handle; functions that take a const handle may be
 *         called by several threads at once.  Handles are independent.  No function is a
 *         cancellation point.
 * Fork: a child has a copy of each handle that was not in use.
 * A NULL handle is allowed: functions do nothing and return 0, NULL or -1 with EINVAL.
 *
 * Compatibility, as long as the library is libgetmnt.so.0:
 *
 *  - No function is removed or changed.  New functions have a new symbol version (GETMNT_0.x), so
 *    that a program that needs them does not start with an older library.
 *  - No value of an enum changes.  Values may be added: an older library rejects an unknown option
 *    with EINVAL, and getmnt_state_name() returns the name of a new state.  A program must treat an
 *    unknown state as not ok.
 *  - Members are only added to struct getmnt_mount, at its end.  Only the library creates these
 *    structures: a program must not copy one, use its size, or index from a pointer to it.
 *  - GETMNT_API increases by one with each addition.
 */
#ifndef GETMNT_GETMNT_H
#define GETMNT_GETMNT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The revision of this interface. */
#define GETMNT_API 1

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** A handle: options, and the result of the last run. */
struct getmnt;

/** Options of getmnt_set(): their values, and the default. */
enum getmnt_option {
	GETMNT_OPT_NAMES       = 1,   /* enum getmnt_names; GETMNT_NAMES_HINT */
	GETMNT_OPT_ALGORITHM   = 2,   /* enum getmnt_algorithm; GETMNT_ALGORITHM_3 */
	GETMNT_OPT_KERNEL      = 3,   /* enum getmnt_kernel; GETMNT_KERNEL_AUTO */
	GETMNT_OPT_ROOT_FD     = 4,   /* an open directory of this mount namespace (O_PATH is
	                                 enough) that names are relative to; -1 (default): the root
	                                 of this process */
	GETMNT_OPT_TABLE_FD    = 5,   /* a file, pipe or socket with a recorded /proc/PID/mountinfo,
	                                 which the next run reads to its end; no mount is accessed;
	                                 -1 (default): none */
	GETMNT_OPT_SEARCH_DIRS = 6,   /* maximum number of directories that a search reads; 0: no
	                                 limit; -1 (default): 20000 with GETMNT_NAMES_HINT,
	                                 otherwise no limit */
	GETMNT_OPT_SEARCH_MS   = 7,   /* time limit of a search in milliseconds; 0: no limit; -1
	                                 (default): 2000 with GETMNT_NAMES_HINT, otherwise no
	                                 limit */
	GETMNT_OPT_MAX_MS      = 8,   /* time limit of a run in milliseconds; 0 (default): none */
	GETMNT_OPT_DEPTH       = 9,   /* maximum depth of directories to enter, where "/" has depth
	                                 0; 0 (default): no limit */
	GETMNT_OPT_THREADS     = 10,  /* number of threads of a search, at most 256; 0 (default):
	                                 one for each processor if the search is large */
	GETMNT_OPT_PROBE       = 11,  /* enum getmnt_probe; GETMNT_PROBE_NONE */
	GETMNT_OPT_PROBE_MS    = 12,  /* milliseconds for one probe, at least 1; default 5000 */
};

/** How names are found. */
enum getmnt_names {
	GETMNT_NAMES_HINT   = 0,  /* test the names in the table, one system call each; search for
	                             mounts without a name */
	GETMNT_NAMES_WALK   = 1,  /* search; the table limits the search */
	GETMNT_NAMES_PURE   = 2,  /* search using only mount IDs */
	GETMNT_NAMES_KERNEL = 3,  /* the names in the table, not tested: no mount is accessed */
};

/** J. M. Smith's search algorithms. */
enum getmnt_algorithm {
	GETMNT_ALGORITHM_1 = 1,  /* depth first, without pruning */
	GETMNT_ALGORITHM_2 = 2,  /* depth first; leaves are not entered */
	GETMNT_ALGORITHM_3 = 3,  /* breadth first, pruned as mounts are named */
};

/** Which mounts to probe: access with a deadline, to find whether they respond. */
enum getmnt_probe {
	GETMNT_PROBE_NONE  = 0,
	GETMNT_PROBE_LOCAL = 1,  /* mounts that should not block */
	GETMNT_PROBE_ALL   = 2,  /* all mounts; automounts are not triggered */
};

/** Source of the mount table. */
enum getmnt_kernel {
	GETMNT_KERNEL_AUTO      = 0,  /* listmount(2), otherwise mountinfo */
	GETMNT_KERNEL_LISTMOUNT = 1,  /* listmount(2) and statmount(2): Linux 6.8 */
	GETMNT_KERNEL_MOUNTINFO = 2,  /* /proc/self/mountinfo */
	GETMNT_KERNEL_RECORDED  = 3,  /* GETMNT_OPT_TABLE_FD; only returned by GETMNT_STAT_KERNEL */
};

/** How a name was found. */
enum getmnt_named {
	GETMNT_NAMED_NONE     = 0,  /* the name is unknown */
	GETMNT_NAMED_KERNEL   = 1,  /* from the table, not tested */
	GETMNT_NAMED_INFERRED = 2,  /* the name of the mount on top of this one */
	GETMNT_NAMED_WALKED   = 3,  /* found by the search */
	GETMNT_NAMED_VERIFIED = 4,  /* tested */
};

/** The state of a mount: single bits. */
enum getmnt_state {
	GETMNT_STATE_OK         = 1 << 0,  /* reachable by its name */
	GETMNT_STATE_UNTESTED   = 1 << 1,  /* named by the table, but not accessed */
	GETMNT_STATE_DELETED    = 1 << 2,  /* its root directory was removed */
	GETMNT_STATE_DENIED     = 1 << 3,  /* no permission to examine it */
	GETMNT_STATE_STALE      = 1 << 4,  /* its server or device does not work */
	GETMNT_STATE_HUNG       = 1 << 5,  /* did not respond to a probe in time */
	GETMNT_STATE_HIDDEN     = 1 << 6,  /* covered by another mount, at its name or above */
	GETMNT_STATE_UNSEARCHED = 1 << 7,  /* not found; the search was incomplete */
	GETMNT_STATE_LOST       = 1 << 8,  /* in the table, but a complete search did not find it */
	GETMNT_STATE_OUTSIDE    = 1 << 9,  /* not below the root of the run */
};

/** The type of a mount point. */
enum getmnt_kind {
	GETMNT_KIND_UNKNOWN = 0,
	GETMNT_KIND_DIR     = 1,
	GETMNT_KIND_FILE    = 2,   /* any type other than a directory */
};

/** Propagation of a mount: a set of bits; see mount_namespaces(7). */
enum getmnt_propagation {
	GETMNT_PROPAGATION_SHARED     = 1 << 0,
	GETMNT_PROPAGATION_SLAVE      = 1 << 1,
	GETMNT_PROPAGATION_UNBINDABLE = 1 << 2,   /* no bits at all: private */
};

/**
 * A mount.
 *
 * Strings are bytes as the kernel reports them, without octal escapes unless noted: they can
 * contain control characters and need not be UTF-8.  An unknown string is NULL, never "".  Options
 * and sources can contain passwords.
 */
struct getmnt_mount {
	uint64_t id;              /* the 64-bit mount ID if the table has it (Linux 6.8), otherwise
	                             the 32-bit ID */
	uint64_t parent_id;       /* ID of the mount that this mount is on, which may not be listed;
	                             for the topmost mount its own ID */
	uint64_t covered_by;      /* ID of the mount that hides this one, or 0 */
	uint32_t id32;            /* the ID in /proc/PID/mountinfo; the kernel reuses it */
	uint32_t parent_id32;
	uint32_t dev_major, dev_minor;  /* st_dev of its files, except in btrfs subvolumes */
	uint32_t state;           /* one of enum getmnt_state: the most severe state */
	uint32_t states;          /* set of all states */
	uint32_t named;           /* enum getmnt_named */
	uint32_t kind;            /* enum getmnt_kind */
	const char *target;       /* the name, relative to the root of the run; if the mount is
	                             outside that root, the name in the table */
	const char *source;       /* "/dev/sda1", "server:/export", "tmpfs" */
	const char *fstype;       /* "ext4", "fuse.sshfs" */
	const char *fsroot;       /* the mounted directory of the file system, often "/" */
	const char *vfs_options;  /* options of the mount: "rw,nosuid" */
	const char *fs_options;   /* options of the file system, with octal escapes (\054 is a comma
	                             in a value) */
	uint64_t peer_group;      /* ID of the peer group of a shared mount, or 0 */
	uint64_t master;          /* ID of the peer group that a slave mount follows, or 0 */
	uint32_t propagation;     /* enum getmnt_propagation */
	int32_t error;            /* errno of a failed probe (ETIMEDOUT: hung), or 0 */
};

/** Statistics of the last run, for getmnt_stat(). */
enum getmnt_stat {
	GETMNT_STAT_KERNEL   = 1,  /* enum getmnt_kernel: the source of the table */
	GETMNT_STAT_CALLS    = 2,  /* system calls, except those for memory, clocks and threads */
	GETMNT_STAT_DIRS     = 3,  /* directories read */
	GETMNT_STAT_ENTRIES  = 4,  /* entries in these directories */
	GETMNT_STAT_GONE     = 5,  /* mounts that were unmounted during the run; not listed */
	GETMNT_STAT_UNREAD   = 6,  /* lines of a recorded table that could not be parsed */
	GETMNT_STAT_PROBES   = 7,  /* mounts that were probed */
	GETMNT_STAT_LEFT     = 8,  /* processes of probes that are blocked in the kernel and could
	                              not be killed */
};

/** The version of the library: "0.1.0". */
const char *getmnt_version(void);

/**
 * Create a handle.
 *
 * @return the handle, or NULL.
 * Errors: ENOMEM.
 * Ownership: getmnt_free().
 */
struct getmnt *getmnt_new(void);

/** Free a handle and its mounts; NULL is allowed.  Preserves errno. */
void getmnt_free(struct getmnt *gm);

/**
 * Set an option for later runs.
 *
 * @option
 *         enum getmnt_option.
 * @value
 *         A descriptor is duplicated (above 2, close-on-exec); the duplicate shares the file
 *         offset.
 * @return 0, or -1 with nothing changed.
 * Errors: EINVAL: unknown option or invalid value; EBADF, EMFILE: the descriptor could not be
 *         duplicated.
 */
int getmnt_set(struct getmnt *gm, int option, int64_t value);

/**
 * Read the mount table, and find the name and state of each mount.
 *
 * @return 0, or -1; then the result of an earlier run remains valid.  An incomplete result is no
 *         error: see getmnt_complete().
 * Errors: ENOSYS: GETMNT_KERNEL_LISTMOUNT, but the kernel lacks listmount(2);
 *         ENOENT, EACCES, EPERM: the table in /proc cannot be read;
 *         ENOTDIR: GETMNT_OPT_ROOT_FD is not a directory, or was removed;
 *         EXDEV: it is in another mount namespace, or not below the root of the process;
 *         EISDIR, ENOTSUP, EFBIG: GETMNT_OPT_TABLE_FD is a directory, cannot be read like a file,
 *         or is too large;
 *         EBADMSG: its text contains no valid line;
 *         EINVAL: both of these descriptors are set;
 *         EAGAIN: no process could be started for probing;
 *         EMFILE, ENFILE, ENOMEM, EIO.
 */
int getmnt_run(struct getmnt *gm);

/** The number of mounts found by the last run; 0 before the first run. */
size_t getmnt_count(const struct getmnt *gm);

/**
 * Get a mount, in the order of the table (a parent usually, but not always, comes first).
 *
 * @i      From 0.
 * @return the mount, valid until the next run or getmnt_free(); NULL if i is not less than
 *         getmnt_count().
 */
const struct getmnt_mount *getmnt_get(const struct getmnt *gm, size_t i);

/** The mount with a 64-bit or 32-bit ID, or NULL. */
const struct getmnt_mount *getmnt_by_id(const struct getmnt *gm, uint64_t id);

/**
 * The mount that is visible at a name; it is never hidden, outside, lost or unsearched.
 *
 * @target
 *         Compared with the targets byte by byte; symlinks are not followed.
 * @return the mount, or NULL.
 */
const struct getmnt_mount *getmnt_by_target(const struct getmnt *gm, const char *target);

/** @return 1 if the last run determined the state of every mount, otherwise 0. */
int getmnt_complete(const struct getmnt *gm);

/** Get a reason why the last run is incomplete, counted from 0.  @return a sentence, valid until
    the next run or getmnt_free(); NULL if there are no more reasons. */
const char *getmnt_reason(const struct getmnt *gm, size_t i);

/** A statistic of the last run; 0 if stat is not in enum getmnt_stat. */
uint64_t getmnt_stat(const struct getmnt *gm, int stat);

/** The name of a state as in the STATE column of getmnt(8): "hidden"; "unknown" for a value that is
    not in enum getmnt_state. */
const char *getmnt_state_name(uint32_t state);

/** The name of an enum getmnt_named: "verified"; "unknown" for any other value. */
const char *getmnt_named_name(uint32_t named);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
