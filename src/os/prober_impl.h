/* SPDX-License-Identifier: MIT */
/**
 * What the files of the prober share.  Private to prober*.c.
 */
#ifndef GM_OS_PROBER_IMPL_H
#define GM_OS_PROBER_IMPL_H

#include "os/prober.h"

/** The longest path in a request, with its NUL. */
enum { PROBE_PATH_MAX = 60000 };

/** A request as it is sent: this, the path and its NUL, the device and its NUL.
    A message of only the tag PROBE_ROOT brings the root; one of PROBE_PERMIT
    has enum prober_places as its flags. */
struct probe_request {
	uint32_t tag;
	uint32_t flags;
	uint32_t id;
	uint32_t dev_major, dev_minor;
	uint32_t path_size, device_size;   /* with the NUL; 0: none */
	uint32_t device_major, device_minor;
	uint64_t key;
};

#define PROBE_ROOT   UINT32_MAX
#define PROBE_PERMIT (UINT32_MAX - 1)

/** A request and room for what follows it. */
struct probe_message {
	struct probe_request request;
	char text[PROBE_PATH_MAX + 256];
};

/** Put the counts of a process into what it tells. */
static inline void prober_counts(struct probe_answer *answer, const struct os *os)
{
	for (int i = 0; i < OS_NCALLS; ++i)
		answer->calls[i] = (uint32_t)os->calls[i];
}

enum { PROBE_BOOT_ID_MAX = 40 };

/** What the supervisor is started with. */
struct prober_setup {
	struct os os;        /* counts of its own */
	int owner;           /* its end of the socket to the run */
	double timeout;
	char boot_id[PROBE_BOOT_ID_MAX];
};

/** Be the supervisor.  Does not return. */
_Noreturn void prober_supervise(const struct prober_setup *setup);

/** Answer requests that come in by a socket, until it is closed.  Does not
    return. */
_Noreturn void prober_work(const struct os *os, int sock, int root);

/* prober_memory.c: those that were left behind, a file name each. */

struct prober_left {
	uint32_t dev_major, dev_minor;
	int32_t pid;
	int64_t since;       /* when it was left: mtime of the file; 0 */
};

/**
 * Open the directory.
 *
 * @make    Where there is none.
 * @return a descriptor, or -1.
 * Errors: as prober_lock().
 */
int prober_memory_open(struct os *os, bool make);

/**
 * Read who was left behind and is still there; forget the others.
 *
 * @left [out]  To be freed by the caller.
 * @return their number; 0 also where nothing can be known.
 */
size_t prober_recall(struct os *os, const char *boot_id, struct prober_left **left);

/**
 * The state of a process, as proc(5) has it in field 3 of /proc/PID/stat.
 *
 * @start [out]  When it was started, in clock ticks since boot; 0: unknown.
 * @return a letter; '\0': unknown, or there is none.
 */
char prober_process(struct os *os, int32_t pid, uint64_t *start);

/**
 * Remember a process that does not die.  Allocates nothing.
 *
 * @return 0, or -1.
 * Errors: those of mkdirat(2) and openat(2); EPERM (the directory is not ours
 *         alone).
 */
int prober_remember(struct os *os, const char *boot_id, const struct probe_request *request,
                    int32_t pid);

#endif
