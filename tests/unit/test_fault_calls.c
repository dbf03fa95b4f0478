/* SPDX-License-Identifier: MIT */
/*
 * Every scenario is run with each of its kernel calls failing with each error that it can give, and
 * with each of its allocations failing: one call, or all calls of that kind from it on; and with
 * short reads.
 */
#include "unit.h"

#include "fault_run.h"

/* Errors of calls on a path or an open file: from the manual pages, policies (seccomp, security
   modules), dead servers and devices. */
#define OF_POLICY  EPERM, EACCES, ENOSYS
#define OF_MEMORY  ENOMEM, EFAULT, EINVAL, EINTR, EAGAIN, EOVERFLOW, EBADF
#define OF_DEVICE  EIO, ENXIO, ENODEV, ESTALE, ENOTCONN, EHOSTDOWN, EHOSTUNREACH, ETIMEDOUT, \
                   ECONNRESET, EREMOTEIO, ESHUTDOWN, EUCLEAN, EBADMSG
#define OF_PATH    ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG
#define OF_OPEN    EMFILE, ENFILE, EISDIR, EBUSY, ETXTBSY, EROFS, EFBIG, EDQUOT, ENOSPC, EOPNOTSUPP

enum { ERRORS_MAX = 48 };

static const int errors[OS_NCALLS][ERRORS_MAX] = {
	[OS_STATX] = {OF_POLICY, OF_MEMORY, OF_DEVICE, OF_PATH},
	[OS_OPENAT] = {OF_POLICY, OF_MEMORY, OF_DEVICE, OF_PATH, OF_OPEN},
	[OS_OPENAT2] = {OF_POLICY, OF_MEMORY, OF_DEVICE, OF_PATH, OF_OPEN, EXDEV, E2BIG},
	[OS_GETDENTS] = {OF_POLICY, OF_MEMORY, OF_DEVICE, ENOENT, ENOTDIR},
	[OS_READ] = {OF_POLICY, OF_MEMORY, OF_DEVICE, EISDIR, ESRCH},
	[OS_CLOSE] = {EBADF, EINTR, EIO, ENOSPC, EDQUOT},
	[OS_READLINK] = {OF_POLICY, OF_MEMORY, OF_DEVICE, OF_PATH},
	[OS_LISTMOUNT] = {OF_POLICY, OF_MEMORY, ENOENT, E2BIG, EIO},
	[OS_STATMOUNT] = {OF_POLICY, OF_MEMORY, ENOENT, E2BIG, EIO},
	[OS_STATFS] = {OF_POLICY, OF_MEMORY, OF_DEVICE},
	[OS_FCNTL] = {OF_POLICY, OF_MEMORY, EMFILE},
	[OS_RLIMIT] = {OF_POLICY, EFAULT, EINVAL, ESRCH},
	[OS_POLL] = {OF_POLICY, EFAULT, EINTR, EINVAL, ENOMEM},
	[OS_UNAME] = {OF_POLICY, EFAULT},
	[OS_AFFINITY] = {OF_POLICY, EFAULT, EINVAL, ESRCH},
	[OS_FSTAT] = {OF_POLICY, OF_MEMORY, OF_DEVICE, OF_PATH},
	[OS_PREAD] = {OF_POLICY, OF_MEMORY, OF_DEVICE},
	[OS_WRITE] = {OF_POLICY, OF_MEMORY, EIO, ENOSPC, EDQUOT, EFBIG, EPIPE, ESRCH},
	[OS_MKDIR] = {OF_POLICY, OF_PATH, ENOMEM, EEXIST, ENOSPC, EDQUOT, EROFS, EMLINK, EIO},
	[OS_UNLINK] = {OF_POLICY, OF_PATH, ENOMEM, EBUSY, EIO, EISDIR, EROFS},
	[OS_SOCKETPAIR] = {OF_POLICY, EAFNOSUPPORT, EMFILE, ENFILE, ENOMEM, ENOBUFS, EOPNOTSUPP},
	[OS_FORK] = {OF_POLICY, EAGAIN, ENOMEM, EINTR},
	[OS_KILL] = {EPERM, ESRCH, EINVAL, ENOSYS},
	[OS_WAIT] = {ECHILD, EINTR, EINVAL, ENOSYS},
	[OS_SEND] = {OF_POLICY, EAGAIN, EINTR, ENOMEM, ENOBUFS, ECONNRESET, EPIPE, EMSGSIZE,
	             ENOTCONN, EBADF, ETOOMANYREFS},
	[OS_RECV] = {OF_POLICY, EAGAIN, EINTR, ENOMEM, ENOBUFS, ECONNRESET, ENOTCONN, EBADF,
	             EFAULT},
	[OS_GETCWD] = {OF_POLICY, OF_PATH, ENOMEM, ERANGE, EFAULT, EINVAL},
	[OS_FANOTIFY_INIT] = {OF_POLICY, EINVAL, EMFILE, ENFILE, ENOMEM},
	[OS_FANOTIFY_MARK] = {OF_POLICY, OF_PATH, EBADF, EINVAL, ENODEV, ENOMEM, ENOSPC, EOPNOTSUPP,
	                      EXDEV},
	[OS_PIDFD_OPEN] = {OF_POLICY, EINVAL, EMFILE, ENFILE, ENODEV, ENOMEM, ESRCH},
	[OS_SHUTDOWN] = {EBADF, EINVAL, ENOTCONN, ENOTSOCK, EPERM},
};

/* For scenarios whose calls other scenarios make too. */
static const int few_errors[] = {EACCES, EINTR, ENOMEM, EIO, ENOENT, EMFILE, 0};

static bool ready;
static uint64_t seen[OS_NCALLS];   /* calls of each kind in all scenarios */

UNIT_TEST(enter)
{
	FAULT_OR_SKIP();
	ready = world_enter();
	if (!ready)
		UNIT_SKIP("no private mount namespace");
}

/**
 * Let the calls of a kind fail, each in turn.
 *
 * @spread  1: each call; else the first three, then each call at a place that is the one before
 *          times this factor.
 */
static void try_errors(struct trial *trial, int kind, const int *all, unsigned spread)
{
	uint64_t count = trial->base.count.calls[kind];
	for (const int *error = all; *error; ++error) {
		for (uint64_t n = 1; n <= count; n = spread == 1 || n < 4 ? n + 1 : n * spread) {
			trial_run(trial, &(struct fault){FAULT_ONCE, kind, n, *error});
			trial_run(trial, &(struct fault){FAULT_ON, kind, n, *error});
		}
	}
}

/** Run scenarios with faults.  @what  Their faults, for the report. */
static void try_all(const struct scenario *scenario, void (*try)(struct trial *trial),
                    const char *what)
{
	unsigned long runs = 0;
	for (; scenario->name; ++scenario) {
		struct trial trial;
		if (!trial_begin(&trial, scenario))
			continue;
		try(&trial);
		runs += trial_end(&trial);
	}
	printf("  %lu runs, %s\n", runs, what);
}

static void try_calls(struct trial *trial)
{
	for (int kind = 0; kind < OS_NCALLS; ++kind) {
		const int *all = trial->scenario->flags & SC_FEW ? few_errors : errors[kind];
		seen[kind] += trial->base.count.calls[kind];
		if (trial->base.count.calls[OS_FORK] == 0) {
			try_errors(trial, kind, all, 1);
			continue;
		}
		/* A run with a prober takes longer, and which process makes the n-th call is
		   random: some calls of each kind, each call of its own kinds. */
		try_errors(trial, kind, kind < OS_SOCKETPAIR ? few_errors : errors[kind], 2);
		if (kind >= OS_SOCKETPAIR)
			try_errors(trial, kind, few_errors, 1);
	}
	trial_run(trial, &(struct fault){FAULT_SHORT, OS_READ, 0, 0});
	trial_run(trial, &(struct fault){FAULT_SHORT, OS_GETDENTS, 0, 0});
}

UNIT_TEST(kernel_calls)
{
	if (!ready)
		UNIT_SKIP("no private mount namespace");
	try_all(scenarios, try_calls, "a call failing in each");
}

static void try_memory(struct trial *trial)
{
	try_errors(trial, FAULT_ALLOC, (const int[]){ENOMEM, 0}, 1);
}

UNIT_TEST(allocations)
{
	if (!ready)
		UNIT_SKIP("no private mount namespace");
	try_all(scenarios, try_memory, "an allocation failing in each");
}

static void try_hung(struct trial *trial)
{
	static const int kinds[] = {OS_FORK, OS_KILL, OS_WAIT, OS_MKDIR, OS_UNLINK, OS_WRITE,
	                            OS_POLL};
	for (size_t i = 0; i < COUNT(kinds); ++i) {
		uint64_t *calls = &trial->base.count.calls[kinds[i]];
		seen[kinds[i]] += *calls;
		*calls = *calls > 3 ? 3 : *calls;
		try_errors(trial, kinds[i], (const int[]){EACCES, EIO, 0}, 2);
	}
}

/** With servers that do not answer; a process that calls one of them cannot be killed. */
UNIT_TEST(beside_hung_servers)
{
	if (!ready || !world_hang())
		UNIT_SKIP("no FUSE in a private mount namespace");
	try_all(scenarios_hung, try_hung, "with servers that do not answer");
}

static unsigned with_workers;   /* scenarios that start threads */

static void try_threads(struct trial *trial)
{
	with_workers += trial->base.count.calls[FAULT_THREAD] > 0;
	for (int kind = 0; kind < OS_NCALLS; ++kind) {
		seen[kind] += trial->base.count.calls[kind];
		try_errors(trial, kind, few_errors, 3);
	}
	try_errors(trial, FAULT_ALLOC, (const int[]){ENOMEM, 0}, 3);
	try_errors(trial, FAULT_THREAD, (const int[]){EAGAIN, EPERM, 0}, 3);
}

UNIT_TEST(with_threads)
{
	if (!ready || !world_grow())
		UNIT_SKIP("no private mount namespace");
	try_all(scenarios_threads, try_threads, "with threads");
	CU_ASSERT_TRUE(with_workers > 0);
}

/** Whether this kernel has the call and GETMNT_DISABLE does not disable it; events need
    statmount. */
static bool is_here(const struct os *os, int kind)
{
	bool event = kind == OS_FANOTIFY_INIT || kind == OS_FANOTIFY_MARK;
	if ((event || kind == OS_STATMOUNT) && !(os->caps & OSC_LISTMOUNT))
		return false;
	return !event || os->caps & OSC_FANOTIFY;
}

/** Each kind of call is made by a scenario and has errors. */
UNIT_TEST(all_kinds_of_call)
{
	if (!ready)
		UNIT_SKIP("no private mount namespace");
	struct os os = unit_os();
	os_probe_events(&os);
	for (int kind = 0; kind < OS_NCALLS; ++kind) {
		/* Only searches: test_search.c; multipaths: tests/vm; writes: test_replace.c. */
		if (kind == OS_ACCESS || kind >= OS_IOCTL || !is_here(&os, kind))
			continue;
		if (seen[kind] == 0 || errors[kind][0] == 0)
			printf("  %s: in no scenario, or without errors\n", fault_kind_name(kind));
		CU_ASSERT_TRUE(seen[kind] > 0);
		CU_ASSERT_TRUE(errors[kind][0] != 0 && errors[kind][ERRORS_MAX - 1] == 0);
	}
}

UNIT_TEST(leave)
{
	if (!ready)
		UNIT_SKIP("no private mount namespace");
	world_leave();
}
