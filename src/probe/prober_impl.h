/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of the prober.
 */
#ifndef GM_PROBE_PROBER_IMPL_H
#define GM_PROBE_PROBER_IMPL_H

#include "probe/prober.h"

/** The longest path in a question, with its NUL. */
enum { PROBE_PATH_MAX = 60000 };

/** A question as a message, followed by path and device, each with a NUL; the receiver sets the
    pointers, device to NULL if it is empty.  Other messages consist of a tag: PROBE_ROOT with
    the root, PROBE_MEMORY with the directory of the records, PROBE_CGROUPS to permit moving
    processes. */
struct probe_message {
	struct probe_question question;
	char text[PROBE_PATH_MAX + 256];
};

#define PROBE_ROOT    UINT32_MAX
#define PROBE_MEMORY  (UINT32_MAX - 1)
#define PROBE_CGROUPS (UINT32_MAX - 2)

/** Store the counts of a process in an answer. */
static inline void prober_counts(struct probe_answer *answer, const struct os *os)
{
	for (int i = 0; i < OS_NCALLS; ++i)
		answer->calls[i] = (uint32_t)os->calls[i];
}

enum { PROBE_BOOT_ID_MAX = 40 };
#define PROBE_BOOT_ID_UNKNOWN "unknown"

/** The fields that all records of a run share. */
struct prober_self {
	char boot_id[PROBE_BOOT_ID_MAX];
	uint64_t pid_ns;     /* inode of the PID namespace; 0: unknown */
};

/** Run the supervisor.
    @owner  Its end of the socket to the run.
    @os     Its own counts start at 0. */
_Noreturn void prober_supervise(const struct os *os, int owner, double timeout,
                                const struct prober_self *self);

/** Run a worker: answer questions from a socket until it is closed. */
_Noreturn void prober_work(const struct os *os, int sock, int root);

/* leftovers.c: the records of workers that may be abandoned. */

struct prober_left {
	uint32_t dev_major, dev_minor;
	int32_t pid;
	uint32_t owner;
	int64_t since;       /* when it was recorded: mtime of the file; 0: unknown */
};

/** A process that counts towards the limits. */
struct prober_use {
	uint32_t owner;
	uint32_t tag;        /* of the question, while it is open */
	bool open;           /* the answer is outstanding */
};

/** Whether one more mount of an owner may be accessed.  Pure.
    @return 0; EDQUOT: only after processes have ended; EBUSY: only after an open question is
    answered. */
int prober_room(const struct prober_use *uses, size_t n, uint32_t owner);

/** Determine the fields that all records of this run share. */
void prober_self_init(struct os *os, struct prober_self *self);

/** Open a directory of the records, creating it if necessary.  @dir  Of prober_memory_dir().
    @return a descriptor, or -1.  Errors: as prober_lock(). */
int prober_memory_open(struct os *os, const char *dir);

/** Read the records of the processes that still exist; remove the others.
    @dir  From prober_memory_open().
    @left [out]  Ownership: the caller frees it.
    @return their number, or -1.  Errors: EFBIG, ENOMEM, those of getdents64(2). */
ssize_t prober_recall(struct os *os, int dir, const struct prober_self *self,
                      struct prober_left **left);

/** Get the state of a process, field 3 of /proc/PID/stat (proc(5)).
    @start [out]  When it was started, in clock ticks since boot; 0: unknown.
    @return a letter; '\0': unknown, or the process does not exist. */
char prober_process(struct os *os, int32_t pid, uint64_t *start);

/** Write or remove the record of a worker.  Allocates nothing.
    @start  From prober_process().
    @return 0, or -1.  Errors: those of openat(2) and unlinkat(2). */
int prober_record(struct os *os, int dir, const struct prober_self *self,
                  const struct probe_question *question, int32_t pid, uint64_t start, bool remove);

#endif
