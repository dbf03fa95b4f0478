/* SPDX-License-Identifier: MIT */
/**
 * The prober: file systems that may never answer are touched in a separate process, which is
 * killed at a deadline, and abandoned if it survives that.
 *
 *     the run <-- questions, answers ---> supervisor <--- the same ---> workers
 *
 * The supervisor is forked before any thread starts.  It touches no file system, so that it can
 * always keep the deadlines.  It forks a worker when all others are busy; a worker answers one
 * question at a time.  All of them have a session of their own, "/" as working directory,
 * descriptors 0 to 2 on /dev/null, and nothing else open but their end of a socket and the root
 * of the run: whoever waits for the end of the run, of a pipe or of a lock does not wait for them.
 *
 * A worker that does not answer in time is killed.  If it sleeps in the kernel (state D), it
 * survives: it is abandoned, and moved to the root of the cgroup hierarchy if that is permitted,
 * so that a service manager does not wait for it either.
 *
 * Before a mount is touched, a record of the worker is written to a directory of root
 * (leftovers.c); it is removed when the worker has answered or died.  So no worker is left without
 * a record, whichever process is killed.  While the worker lives, no run touches its superblock.
 * The number of records is limited, in all and for the mounts of each user; at the limit no mount
 * is touched.  One run at a time holds the directory (prober_lock()), so that the limits hold for
 * concurrent runs.
 */
#ifndef GM_PROBE_PROBER_H
#define GM_PROBE_PROBER_H

#include "os/os.h"

#include <stdbool.h>
#include <stdint.h>

/** The name of its processes, as ps(1) shows it. */
#define PROBER_PROCESS "getmnt-probe"

/** The most questions that wait for answers at one time. */
enum { PROBER_MAX = 256 };

/** The most abandoned processes: in all, for the mounts of all users but root, and for the mounts
    of one such user. */
enum { PROBER_LEFT_MAX = PROBER_MAX, PROBER_LEFT_USERS = 128, PROBER_LEFT_USER = 16 };

enum probe_flags {
	PROBE_BY_ID   = 1 << 0,  /* identify the mount by its mount ID */
	PROBE_BY_DEV  = 1 << 1,  /* ... by its device number */
	PROBE_INSIDE  = 1 << 2,  /* the name may lie inside the mount: a chroot */
	PROBE_STEPS   = 1 << 3,  /* an automount directory is on the way: open each component,
	                            and trigger none */
	PROBE_LOOK    = 1 << 4,  /* identify the mount, touch nothing */
};

/** What to touch, and the mount that it must be.  Without padding: it is sent as it is. */
struct probe_question {
	const char *path;        /* from the root of the run; symlinks are not followed */
	const char *device;      /* a block device to read from; or NULL */
	uint64_t key;            /* the mount ID to record */
	uint32_t tag;            /* returned with the answer */
	uint32_t flags;          /* enum probe_flags */
	uint32_t id;             /* the 32-bit mount ID */
	uint32_t dev_major, dev_minor;   /* of the superblock */
	uint32_t owner;          /* the user who owns the mount; 0: root */
	uint32_t device_major, device_minor;
};

enum probe_how {
	PROBE_ANSWERED,   /* see error */
	PROBE_HUNG,       /* the deadline passed */
	PROBE_ELSEWHERE,  /* the name leads to another mount, which was not touched */
	PROBE_NOT_MADE,   /* no process could be started, or it died: see error */
	PROBE_NO_RECORD,  /* the worker could not be recorded, so nothing was touched: see error */
	PROBE_SEEN,       /* between the processes: the mount was identified */
	PROBE_END,        /* between the processes: the last message */
};

/** The answer; also the message between the processes. */
struct probe_answer {
	uint32_t tag;
	uint8_t how;             /* enum probe_how */
	bool sized;              /* the sizes are known */
	bool left;               /* the worker could not be killed */
	bool seen;               /* the mount was identified before it hung */
	int32_t error;           /* errno of touching the mount, or 0 */
	int32_t pid;             /* of an abandoned worker */
	struct k_statx st;       /* of the name; mask 0 and no ID if unknown */
	struct os_sizes sizes;
	uint32_t calls[OS_NCALLS];
};

#define PROBER_CGROUP_DIR "/sys/fs/cgroup"

enum { PROBER_DIR_MAX = 256 };

struct prober;

/** Write the name of the directory of the records: /run/getmnt, or for an ordinary user
    $XDG_RUNTIME_DIR/getmnt.
    @return false for a user without that variable. */
bool prober_memory_dir(char dir[PROBER_DIR_MAX]);

/**
 * Start a supervisor.
 *
 * Call it before any thread starts, and early: an abandoned worker holds the memory of that
 * moment.
 *
 * @timeout
 *         Seconds for one question.
 * @return a prober, or NULL.
 * Errors: those of socketpair(2) and fork(2); ENOMEM.
 * Ownership: prober_free().
 */
struct prober *prober_new(struct os *os, double timeout);

/** Resolve names from a directory instead of "/".
    @fd  Stays the caller's.
    @return 0, or -1.  Errors: those of sendmsg(2). */
int prober_root(struct prober *prober, int fd);

/** Let the prober move abandoned processes to the root of the cgroup hierarchy.  Call it only if
    PROBER_CGROUP_DIR cannot block.
    @return 0, or -1.  Errors: those of sendmsg(2). */
int prober_permit_cgroups(struct prober *prober);

/**
 * Lock the directory of the records until prober_free(), creating it if necessary.  Read the
 * records of earlier runs, and record from now on.  Without this nothing is recorded.  Call it
 * only if the directory cannot block.
 *
 * @deadline
 *         By os_now(): until when to wait for another prober; 0: the time of a question and
 *         3 seconds.
 * @return 0, or -1.
 * Errors: EWOULDBLOCK: another prober holds it; ENOTUNIQ, ENOTDIR, ELOOP: it is no directory of
 *         this user alone; ENOENT: this user has none; EFBIG: it has more files than a prober
 *         creates; EPIPE: the supervisor is gone; ENOMEM; those of
 *         openat(2), getdents64(2) and flock(2).
 */
int prober_lock(struct prober *prober, double deadline);

/**
 * Ask a question.  The caller asks one question at a time about a superblock.
 *
 * @return 0, or -1.
 * Errors: EAGAIN (take an answer first); EBUSY (the same, for a mount of this owner);
 *         EDQUOT (the limit of processes that are abandoned, or did not answer in this run, is
 *         reached); ENAMETOOLONG, EMSGSIZE; EPIPE (the supervisor is gone).
 */
int prober_ask(struct prober *prober, const struct probe_question *question);

/** Wait for an answer to any question.
    @deadline  By os_now(); 0: none beyond the timeout of each question.
    @return 1, 0 at the deadline, or -1.  Errors: EPIPE (the supervisor is gone). */
int prober_answer(struct prober *prober, struct probe_answer *answer, double deadline);

/** Whether an earlier run left a process that still waits for this superblock.
    @since [out]  When it was recorded, in seconds since 1970; 0: not known.
    @return its process ID, or 0. */
int prober_left(const struct prober *prober, uint32_t dev_major, uint32_t dev_minor,
                int64_t *since);

/** End the processes, add their kernel calls to those of the run, and free; NULL is fine.
    Processes that cannot be killed are abandoned and stay recorded.  Takes 0.25 seconds, on a
    busy machine 2 more. */
void prober_free(struct prober *prober);

#endif
