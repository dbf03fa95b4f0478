/* SPDX-License-Identifier: MIT */
/**
 * Faults: allocations, kernel calls and threads that fail where a test requests it.
 *
 * The unit test program is linked with --wrap for each function by which our code allocates or
 * starts a thread, and has files of src/os/ that make system calls through functions of fault.c
 * (build-aux/checks.mk).  Between fault_begin() and fault_end() fault.c counts the calls and lets
 * some fail; at other times they are not changed.
 */
#ifndef GM_TESTS_FAULT_H
#define GM_TESTS_FAULT_H

#include "os/os.h"

#include <stdbool.h>
#include <stdint.h>

/** What can fail: the kinds of enum os_call, and these. */
enum {
	FAULT_ALLOC = OS_NCALLS,   /* malloc and its kin; objects of libraries */
	FAULT_THREAD,              /* pthread_create */
	FAULT_PIECE,               /* an allocation from an arena, also where it needs no malloc */
	FAULT_NKINDS,
};

enum fault_mode {
	FAULT_NONE,
	FAULT_ONCE,    /* the n-th of its kind */
	FAULT_ON,      /* the n-th and all after it */
	FAULT_SHORT,   /* none fails; each returns as little as the kernel may */
	FAULT_LIE,     /* none fails; inodes of XFS bulkstat have another owner */
	FAULT_HOOK,    /* none fails; hook() is called before the n-th kernel call of any kind */
	FAULT_TRACE,   /* none fails; trace() is called after each kernel call */
};

struct fault {
	enum fault_mode mode;
	int kind;
	uint64_t n;       /* from 1 */
	int error;
	void (*hook)(void);   /* its own calls are not counted */
	void (*trace)(int kind, long result, const long *args);   /* as well */
};

/** What was counted between fault_begin() and fault_end(). */
struct fault_count {
	uint64_t calls[FAULT_NKINDS];
	uint64_t kernel;      /* the sum of all kernel calls */
	uint64_t hits;        /* how many were made to fail */
	long blocks;          /* allocations that were not freed */
	long fds;             /* descriptors that were opened and not closed */
	long threads;         /* threads that were not joined */
	uint64_t bad_closes;  /* of descriptors that were not open */
	const char *path;     /* of the first call that was made to fail; NULL */
};

/** Skip a test where calls are not wrapped. */
#ifdef _FORTIFY_SOURCE
#define FAULT_OR_SKIP() UNIT_SKIP("a fortified program makes calls that are not wrapped")
#else
#define FAULT_OR_SKIP() do { } while (0)
#endif

/** How many names were compared with a component of a pattern since the last call. */
uint64_t fault_names(void);

/** The name of a kind: "alloc", "statx" ... */
const char *fault_kind_name(int kind);

/**
 * Begin to count, and to let calls fail.  @fault  NULL: none fails.
 *
 * @limit
 *         With more kernel calls the process is aborted: an endless loop.
 */
void fault_begin(const struct fault *fault, uint64_t limit);

/** From a hook: change the fault. */
void fault_change(const struct fault *fault);

/** Do not count the calls of this thread. */
void fault_exempt(void);

/** End counting. */
void fault_end(struct fault_count *count);

/**
 * Run something, then again with each allocation of a kind failing: once, and it and all later
 * ones.
 *
 * Each run must free all that it allocates, make no kernel call, and return 0, or -1 with ENOMEM
 * where an allocation failed.
 *
 * @return the number of allocations of the first run.
 */
uint64_t fault_each(int kind, int (*run)(void *arg), void *arg);

/** Run something with each allocation failing, and with each one from an arena.  There must be more
    than `least`. */
void fault_each_allocation(int (*run)(void *arg), void *arg, uint64_t least);

#endif
