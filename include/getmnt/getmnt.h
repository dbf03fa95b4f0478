/* SPDX-License-Identifier: MIT */
/**
 * libgetmnt: every mount of this machine, named and judged.
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
 * Make a handle, set options, run, read what was found; run again when you
 * like.  getmnt(3) is the manual, getmnt-discover(8) tells what the names,
 * states and algorithms mean.
 *
 * The library never prints, ends the process, changes its limits, directory,
 * signals or environment, nor leaves a descriptor; the threads that a large
 * search starts have ended when getmnt_run() returns, and take no signals.  It
 * does not touch what can block: dead servers, automounters.  Where it is to
 * (GETMNT_OPT_PROBE), processes of its own do, each with a deadline.
 *
 * Errors: -1 or NULL, with errno.
 * Threads: a handle belongs to one thread at a time; functions that take it as
 *         const may be called by several at once.  Handles know nothing of
 *         each other.  No function is a cancellation point.
 * Children of fork(2) have a copy of each handle that was not in use.
 * NULL for a handle: nothing happens, 0, NULL, or EINVAL.
 *
 * What stays, as long as the library is libgetmnt.so.0:
 *
 *  - No function goes, nor changes what it takes or returns.  New ones have a
 *    new version (GETMNT_0.x), so that a program that needs them is refused by
 *    a library that lacks them.
 *  - No number of an enum changes.  New ones come: of an option, an old library
 *    says EINVAL; of a state, getmnt_state_name() knows the name.  A program
 *    treats one that it does not know as "not ok".
 *  - struct getmnt_mount only grows, at its end.  The library alone makes them,
 *    and gives out pointers: do not copy one, take its size, or count from one
 *    to the next.
 *  - GETMNT_API grows by one with each addition.
 */
#ifndef GETMNT_GETMNT_H
#define GETMNT_GETMNT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How much of this interface there is. */
#define GETMNT_API 1

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/** A handle: options, and what the last run found. */
struct getmnt;

/** The numbers that getmnt_set() sets, and what they are at first. */
enum getmnt_option {
	GETMNT_OPT_NAMES       = 1,   /* enum getmnt_names; GETMNT_NAMES_HINT */
	GETMNT_OPT_ALGORITHM   = 2,   /* enum getmnt_algorithm; GETMNT_ALGORITHM_3 */
	GETMNT_OPT_KERNEL      = 3,   /* enum getmnt_kernel; GETMNT_KERNEL_AUTO */
	GETMNT_OPT_ROOT_FD     = 4,   /* a directory of this mount namespace, open (O_PATH
	                                 will do), that names begin at, as in a chroot to it;
	                                 -1: this process's root */
	GETMNT_OPT_TABLE_FD    = 5,   /* a file, pipe or socket to read a recorded
	                                 /proc/PID/mountinfo from, to its end, at the next run:
	                                 nothing live is touched; -1: none */
	GETMNT_OPT_SEARCH_DIRS = 6,   /* directories that a search reads, at most; 0: no bound;
	                                 -1: 20000 by GETMNT_NAMES_HINT, else no bound */
	GETMNT_OPT_SEARCH_MS   = 7,   /* milliseconds that it takes; 0: no bound;
	                                 -1: 2000 by GETMNT_NAMES_HINT, else no bound */
	GETMNT_OPT_MAX_MS      = 8,   /* milliseconds that a run takes; 0: no bound */
	GETMNT_OPT_DEPTH       = 9,   /* the deepest directory entered, "/" being 0; 0: no bound */
	GETMNT_OPT_THREADS     = 10,  /* that take part in a search, at most 256; 0: one for each
	                                 processor, where it is large */
	GETMNT_OPT_PROBE       = 11,  /* enum getmnt_probe; GETMNT_PROBE_NONE */
	GETMNT_OPT_PROBE_MS    = 12,  /* milliseconds that one probe takes, at least 1; 5000 */
};

/** How names are established. */
enum getmnt_names {
	GETMNT_NAMES_HINT   = 0,  /* those of the table, each tested by one system call;
	                             a search for what has none */
	GETMNT_NAMES_WALK   = 1,  /* by a search, which the table bounds */
	GETMNT_NAMES_PURE   = 2,  /* by a search, from IDs alone */
	GETMNT_NAMES_KERNEL = 3,  /* those of the table, untested: nothing is touched */
};

/** J. M. Smith's algorithms of search. */
enum getmnt_algorithm {
	GETMNT_ALGORITHM_1 = 1,  /* depth-first, without pruning */
	GETMNT_ALGORITHM_2 = 2,  /* depth-first, no leaf entered */
	GETMNT_ALGORITHM_3 = 3,  /* breadth-first, pruned as mounts are named */
};

/** Which mounts are touched, each with a deadline, to see whether they answer. */
enum getmnt_probe {
	GETMNT_PROBE_NONE  = 0,
	GETMNT_PROBE_LOCAL = 1,  /* those that are held not to block */
	GETMNT_PROBE_ALL   = 2,  /* all; still no automounter is woken */
};

/** Where the table of mounts comes from. */
enum getmnt_kernel {
	GETMNT_KERNEL_AUTO      = 0,  /* listmount(2), else mountinfo */
	GETMNT_KERNEL_LISTMOUNT = 1,  /* listmount(2) and statmount(2): Linux 6.8 */
	GETMNT_KERNEL_MOUNTINFO = 2,  /* /proc/self/mountinfo */
	GETMNT_KERNEL_RECORDED  = 3,  /* GETMNT_STAT_KERNEL's alone: GETMNT_OPT_TABLE_FD */
};

/** How a name was established. */
enum getmnt_named {
	GETMNT_NAMED_NONE     = 0,  /* it has none */
	GETMNT_NAMED_KERNEL   = 1,  /* taken from the table, untested */
	GETMNT_NAMED_INFERRED = 2,  /* it is that of the mount on top of it */
	GETMNT_NAMED_WALKED   = 3,  /* found by the search */
	GETMNT_NAMED_VERIFIED = 4,  /* tested */
};

/** What is the matter with a mount: single bits. */
enum getmnt_state {
	GETMNT_STATE_OK         = 1 << 0,  /* reachable under its name */
	GETMNT_STATE_UNTESTED   = 1 << 1,  /* named by the table, and not touched */
	GETMNT_STATE_DELETED    = 1 << 2,  /* its root directory was removed */
	GETMNT_STATE_DENIED     = 1 << 3,  /* not permitted to look */
	GETMNT_STATE_STALE      = 1 << 4,  /* its server or device is dead */
	GETMNT_STATE_HUNG       = 1 << 5,  /* a probe of it had no answer in time */
	GETMNT_STATE_HIDDEN     = 1 << 6,  /* another mount covers it, or a directory above it */
	GETMNT_STATE_UNSEARCHED = 1 << 7,  /* needs a search that was not made, or not ended */
	GETMNT_STATE_LOST       = 1 << 8,  /* in the table, and not found by a whole search */
	GETMNT_STATE_OUTSIDE    = 1 << 9,  /* not below the root of the run */
};

/** What a mount point is. */
enum getmnt_kind {
	GETMNT_KIND_UNKNOWN = 0,
	GETMNT_KIND_DIR     = 1,
	GETMNT_KIND_FILE    = 2,   /* anything but a directory */
};

/** How a mount takes part in propagation, mount_namespaces(7): a set of bits. */
enum getmnt_propagation {
	GETMNT_PROPAGATION_SHARED     = 1 << 0,
	GETMNT_PROPAGATION_SLAVE      = 1 << 1,
	GETMNT_PROPAGATION_UNBINDABLE = 1 << 2,   /* none of the three: private */
};

/**
 * A mount.
 *
 * Strings are the bytes that the kernel gives, without octal escapes where not
 * said otherwise: they can hold control characters, and need not be UTF-8.  One
 * that is not known is NULL, never "".  Options and sources can hold passwords.
 */
struct getmnt_mount {
	uint64_t id;              /* what the mount is known by: its 64-bit ID where the
	                             table has these (Linux 6.8), else the 32-bit one */
	uint64_t parent_id;       /* of the mount that it is on; that need not be listed, and
	                             is its own ID for the uppermost */
	uint64_t covered_by;      /* of a hidden one, the mount that is seen there; else 0 */
	uint32_t id32;            /* the ID of /proc/PID/mountinfo; used again for others */
	uint32_t parent_id32;
	uint32_t dev_major, dev_minor;  /* st_dev of what is in it (not in all of a btrfs) */
	uint32_t state;           /* one of enum getmnt_state: the weightiest */
	uint32_t states;          /* all of them */
	uint32_t named;           /* enum getmnt_named */
	uint32_t kind;            /* enum getmnt_kind */
	const char *target;       /* its name, from the root of the run; if it is outside of
	                             that, the name that the table gives */
	const char *source;       /* "/dev/sda1", "server:/export", "tmpfs" */
	const char *fstype;       /* "ext4", "fuse.sshfs" */
	const char *fsroot;       /* the directory of the file system that is mounted: "/" */
	const char *vfs_options;  /* of the mount: "rw,nosuid" */
	const char *fs_options;   /* of the file system, as the kernel escapes them (\054 is a
	                             comma that separates nothing) */
	uint64_t peer_group;      /* of a shared one; else 0 */
	uint64_t master;          /* of a slave, the peer group that it follows; else 0 */
	uint32_t propagation;     /* enum getmnt_propagation */
	int32_t error;            /* what a probe met, an errno value: ETIMEDOUT if it hung, or
	                             what its server or device said; else 0 */
};

/** What getmnt_stat() counts: of the last run. */
enum getmnt_stat {
	GETMNT_STAT_KERNEL   = 1,  /* enum getmnt_kernel: where the table came from */
	GETMNT_STAT_CALLS    = 2,  /* system calls, but for memory, clock and threads */
	GETMNT_STAT_DIRS     = 3,  /* directories read */
	GETMNT_STAT_ENTRIES  = 4,  /* entries read in them */
	GETMNT_STAT_GONE     = 5,  /* mounts of the table that went away meanwhile; not listed */
	GETMNT_STAT_UNREAD   = 6,  /* lines of a recorded table that are none */
	GETMNT_STAT_PROBES   = 7,  /* mounts that were probed */
	GETMNT_STAT_LEFT     = 8,  /* processes left behind by that, since they wait in the
	                              kernel and do not die */
};

/** The version of the library: "0.1.0". */
const char *getmnt_version(void);

/**
 * Make a handle.
 *
 * @return the handle, or NULL.
 * Errors: ENOMEM.
 * Ownership: getmnt_free().
 */
struct getmnt *getmnt_new(void);

/** Free a handle and all that it gave out; NULL is fine.  errno stays. */
void getmnt_free(struct getmnt *gm);

/**
 * Set an option, for the runs to come.
 *
 * @option
 *         enum getmnt_option.
 * @value
 *         A descriptor is duplicated (above 2, close-on-exec): yours stays
 *         yours, but the place in a file that is read is shared.
 * @return 0, or -1 with nothing changed.
 * Errors: EINVAL: an option or a value that this library does not know;
 *         EBADF, EMFILE: of a descriptor.
 */
int getmnt_set(struct getmnt *gm, int option, int64_t value);

/**
 * Read the table of mounts, and name and judge each.
 *
 * @return 0, or -1 with what an earlier run found still there.  A run that did
 *         not find all is none that failed: see getmnt_complete().
 * Errors: ENOSYS: GETMNT_KERNEL_LISTMOUNT, and there is none;
 *         ENOENT, EACCES, EPERM: no /proc to read the table from;
 *         ENOTDIR: GETMNT_OPT_ROOT_FD is no directory, or one that was removed;
 *         EXDEV: it is one of another mount namespace, or not below our root;
 *         EISDIR, ENOTSUP, EFBIG: GETMNT_OPT_TABLE_FD is of no use;
 *         EBADMSG: what it gave is no table: not one line;
 *         EINVAL: both of these descriptors are set;
 *         EAGAIN: no process could be started to probe;
 *         EMFILE, ENFILE, ENOMEM, EIO.
 */
int getmnt_run(struct getmnt *gm);

/** How many mounts the last run found; 0 before the first. */
size_t getmnt_count(const struct getmnt *gm);

/**
 * A mount, in the order of the table (in which most stand behind those they
 * are on, but need not).
 *
 * @i      From 0.
 * @return the mount, until the next run or getmnt_free(); NULL from
 *         getmnt_count() on.
 */
const struct getmnt_mount *getmnt_get(const struct getmnt *gm, size_t i);

/** The mount of an ID, 64-bit or 32-bit; NULL: there is none. */
const struct getmnt_mount *getmnt_by_id(const struct getmnt *gm, uint64_t id);

/**
 * The mount that is seen at a name: never one that is hidden, outside, lost or
 * unsearched.
 *
 * @target
 *         Compared as it is with the targets; no link is followed.
 * @return the mount; NULL: no mount is known to be there.
 */
const struct getmnt_mount *getmnt_by_target(const struct getmnt *gm, const char *target);

/** Whether the last run accounts for every mount: 1; else 0, also before the
    first. */
int getmnt_complete(const struct getmnt *gm);

/** Why it does not: the first reason is 0.  @return a sentence, until the next
    run or getmnt_free(); NULL: there is no further reason. */
const char *getmnt_reason(const struct getmnt *gm, size_t i);

/** A number of the last run, by enum getmnt_stat; 0 also for one that is not
    known. */
uint64_t getmnt_stat(const struct getmnt *gm, int stat);

/** The word for a state, as in the STATE of getmnt(8): "hidden"; "unknown" for
    what is not one of enum getmnt_state. */
const char *getmnt_state_name(uint32_t state);

/** The word for how a name was established: "verified"; "unknown" for what is
    not one of enum getmnt_named. */
const char *getmnt_named_name(uint32_t named);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
