/* SPDX-License-Identifier: MIT */
/**
 * The prober: a separate process accesses file systems that may never respond.  It is killed at a
 * deadline, and abandoned if it survives that.
 *
 *     the run <-- questions, answers ---> supervisor <--- the same ---> workers
 *
 * The supervisor is forked before any thread is created.  It accesses no file system, so that it
 * can always enforce the deadlines.  It forks a worker when all others are busy; a worker answers
 * one question at a time.  All of these processes have their own session, the working directory
 * "/", descriptors 0 to 2 on /dev/null, and nothing else open but their end of a socket and the
 * root of the run.  So a process that waits for the end of the run, of a pipe or of a lock does not
 * wait for them.
 *
 * A worker that does not answer in time is killed.  If it sleeps in the kernel (state D), it
 * survives: it is abandoned, and moved to the root of the cgroup hierarchy if that is permitted, so
 * that a service manager does not wait for it either.
 *
 * Before a worker accesses a mount, a record of the worker is written to a directory of root
 * (leftovers.c); it is removed when the worker has answered or died.  So every abandoned worker has
 * a record, whichever process is killed.  While the worker lives, no run accesses its
 * superblock.  The number of records is limited, in total and for the mounts of each user; at the
 * limit no mount is accessed.  One run at a time holds the directory (prober_lock()), so that
 * concurrent runs together stay within the limits.
 */
#ifndef GM_PROBE_PROBER_H
#define GM_PROBE_PROBER_H

#include "os/os.h"

#include <stdbool.h>
#include <stdint.h>

/** The name of the prober's processes, as shown by ps(1). */
#define PROBER_PROCESS "getmnt-probe"

/** The most questions that may be open at a time. */
enum { PROBER_MAX = 256 };

/** The most abandoned processes: in total, for the mounts of all users but root, and for the mounts
    of one user who is not root. */
enum { PROBER_LEFT_MAX = PROBER_MAX, PROBER_LEFT_USERS = 128, PROBER_LEFT_USER = 16 };

enum probe_flags {
	PROBE_BY_ID   = 1 << 0,  /* identify the mount by its mount ID */
	PROBE_BY_DEV  = 1 << 1,  /* identify the mount by its device number */
	PROBE_INSIDE  = 1 << 2,  /* the name may be inside the mount: a chroot */
	PROBE_STEPS   = 1 << 3,  /* an automount directory is on the path: open each component, and
	                            trigger no automount */
	PROBE_LOOK    = 1 << 4,  /* identify the mount, but access nothing */
};

/** What to access, and the mount that it must be.  Without padding: sent as raw bytes. */
struct probe_question {
	const char *path;        /* relative to the root of the run; symlinks are not followed */
	const char *device;      /* a block device to read from; or NULL */
	uint64_t key;            /* the mount ID for the record */
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
	PROBE_ELSEWHERE,  /* the name leads to another mount, which was not accessed */
	PROBE_NOT_MADE,   /* no process could be forked, or it died: see error */
	PROBE_NO_RECORD,  /* the worker could not be recorded, so nothing was accessed: see error */
	PROBE_SEEN,       /* internal: the mount was identified */
	PROBE_END,        /* internal: the last message */
};

/** An answer; also the message between the processes. */
struct probe_answer {
	uint32_t tag;
	uint8_t how;             /* enum probe_how */
	bool sized;              /* the sizes are valid */
	bool left;               /* the worker could not be killed */
	bool seen;               /* the mount was identified before it hung */
	int32_t error;           /* errno of accessing the mount, or 0 */
	int32_t pid;             /* the abandoned worker, if left */
	struct k_statx st;       /* statx of the name; mask 0 and no ID if unknown */
	struct os_sizes sizes;
	uint32_t calls[OS_NCALLS];
};

#define PROBER_CGROUP_DIR "/sys/fs/cgroup"

enum { PROBER_DIR_MAX = 256 };

struct prober;

/** Write the name of a directory for the records: /run/getmnt; for an ordinary user
    $XDG_RUNTIME_DIR/getmnt, /run/user/UID/getmnt, or /tmp/getmnt-UID.  Use the first one for which
    prober_lock() does not fail with ENOENT.
    @number  From 0.  @return false: no more. */
bool prober_memory_dir(unsigned number, char dir[PROBER_DIR_MAX]);

/**
 * Start a supervisor.
 *
 * Call it before any thread is created, and early: an abandoned worker keeps the memory that the
 * process has at that time.
 *
 * @timeout
 *         Seconds for one question.
 * @return a prober, or NULL.
 * Errors: those of socketpair(2) and fork(2); ENOMEM.
 * Ownership: prober_free().
 */
struct prober *prober_new(struct os *os, double timeout);

/** Resolve names relative to a directory instead of "/".
    @fd  The caller still owns it.
    @return 0, or -1.  Errors: those of sendmsg(2). */
int prober_root(struct prober *prober, int fd);

/** Permit the prober to move abandoned processes to the root of the cgroup hierarchy.  Call it only
    if PROBER_CGROUP_DIR cannot block.
    @return 0, or -1.  Errors: those of sendmsg(2). */
int prober_permit_cgroups(struct prober *prober);

/** Lock a directory of the records until prober_free(), creating it if necessary.  Read the
    records of earlier runs, and start recording.  Without this call nothing is recorded.  Call it
    only if the directory cannot block.
    @dir  From prober_memory_dir().
    @deadline  How long to wait for another prober, by os_now(); 0: the timeout of a question plus 3
    seconds.
    @return 0, or -1.  Errors: EWOULDBLOCK: another prober holds it; ENOTUNIQ, ENOTDIR, ELOOP: not a
    directory that only this user can use; ENOENT: this user has none here; EFBIG: it has more files
    than a prober creates; EPIPE: the supervisor has ended; ENOMEM; those of openat(2),
    getdents64(2) and flock(2). */
int prober_lock(struct prober *prober, const char *dir, double deadline);

/** Send a question.  The caller must not have two open questions about the same superblock.
    @return 0, or -1.  Errors: EAGAIN (receive an answer first); EBUSY (the same, for a mount of
    this owner); EDQUOT (too many processes are abandoned, or did not answer in this run);
    ENAMETOOLONG, EMSGSIZE; EPIPE (the supervisor has ended). */
int prober_ask(struct prober *prober, const struct probe_question *question);

/** Wait for the answer to any question.
    @deadline  By os_now(); 0: only the timeout of each question applies.
    @return 1, 0 at the deadline, or -1.  Errors: EPIPE (the supervisor has ended). */
int prober_answer(struct prober *prober, struct probe_answer *answer, double deadline);

/** Whether a process of an earlier run is still blocked on this superblock.
    @since [out]  When it was recorded, in seconds since 1970; 0: unknown.
    @return its process ID, or 0. */
int prober_left(const struct prober *prober, uint32_t dev_major, uint32_t dev_minor,
                int64_t *since);

/** End the processes, add their system calls to the run's, and free the prober; NULL is allowed.
    Processes that cannot be killed are abandoned and stay recorded.  Takes 0.25 seconds, on a
    busy machine 2 more. */
void prober_free(struct prober *prober);

#endif
