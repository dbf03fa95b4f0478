/* SPDX-License-Identifier: MIT */
/**
 * The prober: what may never answer is touched in a process of its own, which
 * is killed at a deadline, and left behind where even that does not end it.
 *
 *     the run --- requests, answers ---> supervisor --- the same ---> workers
 *
 * The supervisor is forked before any thread is started, touches no file
 * system itself, and so is always there to keep time.  It forks a worker when
 * all that it has are held up; a worker answers one request at a time.  All of
 * them are in a session of their own, in "/", with descriptors 0 to 2 on
 * /dev/null and nothing else open but their end of a socket (and the root of
 * the run, where that is not "/"): nobody who waits for the end of the run, of
 * a pipe, or of a lock waits for them.
 *
 * A worker that does not answer in time is killed.  One that waits in the
 * kernel for a reply (state D) survives that: it is left, and moved to the
 * root of the cgroup hierarchy where that is permitted, so that a service
 * manager does not wait for it either.
 *
 * Before a mount is touched a record of the worker is written into a directory
 * of root's (leftovers.c), and removed when the worker has answered or
 * died: whoever is killed in between, no worker is left without a record.
 * While the worker lives, no run touches the superblock it waits for.  The
 * records are bounded, in all and for the mounts of each user; at the bound no
 * mount is touched.  One run at a time has the directory (prober_lock()), so
 * that runs at the same time keep the bounds together.
 */
#ifndef GM_OS_PROBER_H
#define GM_OS_PROBER_H

#include "os/os.h"

#include <stdbool.h>
#include <stdint.h>

/** The name of its processes, as ps(1) shows it. */
#define PROBER_PROCESS "getmnt-probe"

/** Questions that may wait for their answers at one time. */
enum { PROBER_MAX = 256 };

/** Processes that may be left: in all, those for the mounts of users other than root,
    and those for the mounts of one such user. */
enum { PROBER_LEFT_MAX = PROBER_MAX, PROBER_LEFT_USERS = 128, PROBER_LEFT_USER = 16 };

enum probe_flags {
	PROBE_BY_ID   = 1 << 0,  /* the mount is known by its mount ID */
	PROBE_BY_DEV  = 1 << 1,  /* ... by its device number */
	PROBE_INSIDE  = 1 << 2,  /* the name may lie inside the mount: a chroot */
	PROBE_STEPS   = 1 << 3,  /* an automount directory is on the way: step by
	                            step, and never through one that is idle */
	PROBE_LOOK    = 1 << 4,  /* see what is there, touch nothing */
};

/** What to touch, and what it must be. */
struct probe_question {
	uint32_t tag;            /* comes back with the answer */
	unsigned flags;          /* enum probe_flags */
	const char *path;        /* from the root of the run; links are not followed */
	uint32_t id;             /* the 32-bit mount ID */
	uint32_t dev_major, dev_minor;   /* of the superblock */
	uint64_t key;            /* the mount's ID as it is to be remembered */
	uint32_t owner;          /* the user whose mount it is; 0: root */
	const char *device;      /* a block device to read a block of; or NULL */
	uint32_t device_major, device_minor;
};

enum probe_how {
	PROBE_ANSWERED,   /* see error */
	PROBE_HUNG,       /* the deadline passed */
	PROBE_ELSEWHERE,  /* the name leads to something else, which was not touched */
	PROBE_NOT_MADE,   /* error says why: no process, or it died */
	PROBE_NO_RECORD,  /* ... the worker could not be recorded, so nothing was touched */
	PROBE_SEEN,       /* between the processes: the look was well */
	PROBE_END,        /* between the processes: the last message */
};

/** How it went.  Also a message as it is sent. */
struct probe_answer {
	uint32_t tag;
	uint8_t how;             /* enum probe_how */
	bool sized;              /* the sizes are known */
	bool left;               /* the worker could not be killed */
	bool seen;               /* the name leads there, though it hung */
	int32_t error;           /* of what was touched; 0: it answered */
	int32_t pid;             /* of a worker that was left */
	struct k_statx st;       /* of the name; mask 0 and no ID where unknown */
	struct os_sizes sizes;
	uint32_t calls[OS_NCALLS];
};

#define PROBER_CGROUP_DIR "/sys/fs/cgroup"

enum { PROBER_DIR_MAX = 256 };

struct prober;

/**
 * Write the name of the directory of those that were left: /run/getmnt, of an ordinary
 * user $XDG_RUNTIME_DIR/getmnt.
 *
 * @return whether there is one; not for a user without that variable.
 */
bool prober_memory_dir(char dir[PROBER_DIR_MAX]);

/**
 * Start a supervisor.
 *
 * To be called before any thread is started, and early: what is in memory now
 * is what a worker that is left behind holds.
 *
 * @timeout
 *         Seconds that one question may take.
 * @return a prober, or NULL.
 * Errors: those of socketpair(2) and fork(2); ENOMEM.
 * Ownership: prober_free().
 */
struct prober *prober_new(struct os *os, double timeout);

/**
 * Let names be relative to a directory instead of "/".
 *
 * @fd      Stays the caller's.
 * @return 0, or -1.  Errors: those of sendmsg(2).
 */
int prober_root(struct prober *prober, int fd);

/**
 * Let the prober move processes that it leaves to the root of the cgroup hierarchy.
 * To be called where PROBER_CGROUP_DIR cannot block.
 *
 * @return 0, or -1.  Errors: those of sendmsg(2).
 */
int prober_permit_cgroups(struct prober *prober);

/**
 * Have the directory of the records for this prober alone, until prober_free(); it is
 * made where it does not exist.  Read what former runs left, and record from now on.
 * Without this nothing is recorded.  To be called where the directory cannot block.
 *
 * @deadline
 *         By os_now(): until when to wait for another prober; 0: as long as a question
 *         may take, and 3 seconds.
 * @return 0, or -1.
 * Errors: EWOULDBLOCK: another still has it; ENOTUNIQ, ENOTDIR, ELOOP: it is not ours
 *         alone, or no directory; ENOENT: this user has none; EFBIG: it has more
 *         files than a prober makes; EPIPE: the supervisor is gone; ENOMEM; those of
 *         openat(2), getdents64(2) and flock(2).
 */
int prober_lock(struct prober *prober, double deadline);

/**
 * Ask.  The caller sees to it that one superblock is asked one question at a
 * time.
 *
 * @return 0, or -1.
 * Errors: EAGAIN (take an answer first); EBUSY (the same, for a mount of this owner);
 *         EDQUOT (processes are left, or did not answer in this run, as many as are
 *         allowed); ENAMETOOLONG, EMSGSIZE; EPIPE (the supervisor is gone).
 */
int prober_ask(struct prober *prober, const struct probe_question *question);

/**
 * Wait for an answer to any question.
 *
 * @deadline
 *         By os_now(); 0: none beyond the timeout of each question.
 * @return 1, 0 at the deadline, or -1.
 * Errors: EPIPE (the supervisor is gone).
 */
int prober_answer(struct prober *prober, struct probe_answer *answer, double deadline);

/**
 * Whether a former run left a process behind that still waits for this mount's
 * superblock.
 *
 * @since [out]
 *         When it was left, in seconds since 1970; 0: not known.
 * @return its process ID, or 0.
 */
int prober_left(const struct prober *prober, uint32_t dev_major, uint32_t dev_minor, int64_t *since);

/**
 * End the processes, add their kernel calls to those of the run, and free;
 * NULL is fine.  What cannot be killed is left and remembered.  Takes a
 * quarter of a second, on a busy machine two more.
 */
void prober_free(struct prober *prober);

#endif
