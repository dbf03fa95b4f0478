/* SPDX-License-Identifier: MIT */
/*
 * What the public library promises to a program with threads, forked children, signals and
 * tight limits: threads that are cancelled inside a call, children that inherit a handle,
 * exit(3) during a search.  Each step has an alarm: a hang ends the suite.
 */
#include "fault.h"
#include "tree.h"
#include "unit.h"

#include "getmnt/getmnt.h"
#include "getmnt/search_paper.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

enum {
	DIRS = 400,                  /* enough for threads to be started */
	ENTRIES = 2 * DIRS,
	LINKED = 3 * DIRS,           /* through the links */
	HANG = 20,                   /* seconds; generous, for valgrind */
	CALLS = 10 * 1000 * 1000,
};

static struct tree tree, links;   /* links: a link to each directory, in a directory of its own */
static const char *const top = tree.path;
static const struct search_options four = {.size = sizeof(four), .threads = 4,
                                           .engine = SEARCH_ENGINE_SYNC};

/** Make the trees that all tests read. */
static void begin(void)
{
	if (*top)
		return;
	tree_begin(&tree);
	tree_begin(&links);
	for (int i = 0; i < DIRS; ++i) {
		tree_dir(&tree, "d%d", i);
		tree_file(&tree, "d%d/f", i);
		char name[16], target[64];
		tree_dir(&links, "d%d", i);
		snprintf(name, sizeof(name), "d%d/l", i);
		snprintf(target, sizeof(target), "%s/d%d", top, i);
		tree_link(&links, name, target);
	}
}

/** The last test: remove the trees. */
/** Search with that many threads.  @follow  Through the links. */
static SEARCH *open_ways(unsigned threads, bool follow)
{
	const char *const roots[] = {follow ? links.path : top};
	struct search_options options = four;
	options.threads = threads;
	options.flags = follow ? SEARCH_FOLLOW : 0;
	return getmnt_search_open(roots, 1, "*", &options);
}

static SEARCH *open_top(void)
{
	return open_ways(4, false);
}

/** Read up to n entries.  @return the number of entries read. */
static int read_some(SEARCH *search, int n)
{
	int got = 0;
	while (got < n && getmnt_search_read(search))
		++got;
	return got;
}

/* Cancelled threads. */

enum way { READ, READ_AND_COUNT, OPEN, CLOSE, WHOLE, RUN, NWAYS };

static struct {
	enum way way;
	bool left;                   /* another thread closes the search */
	SEARCH *_Atomic search;
	struct getmnt *_Atomic gm;
} victim;

/** The handler that runs in the cancelled thread. */
static void close_own(void *arg)
{
	(void)arg;
	if (!victim.left)
		getmnt_search_close(atomic_exchange(&victim.search, NULL));
}

static void *victim_main(void *arg)
{
	static _Alignas(8) char buffer[1 << 20];
	struct search_counts counts;
	bool own = victim.way == OPEN || victim.way == CLOSE;
	(void)arg;
	pthread_cleanup_push(close_own, NULL);
	for (;;) {
		pthread_testcancel();
		if (victim.way == WHOLE) {
			search(top, "*", SEARCH_METADATA, buffer, sizeof(buffer));
			continue;
		}
		if (victim.way == RUN) {
			getmnt_run(victim.gm);
			getmnt_set(victim.gm, GETMNT_OPT_ROOT_FD, -1);
			continue;
		}
		SEARCH *s = open_top();
		atomic_store(&victim.search, s);
		if (victim.way != OPEN)
			read_some(s, victim.way == CLOSE ? DIRS : ENTRIES);
		if (victim.way == READ_AND_COUNT)
			getmnt_search_count(s, &counts, sizeof(counts));
		getmnt_search_close(atomic_exchange(&victim.search, NULL));
	}
	pthread_cleanup_pop(own);
	return NULL;
}

/** Threads are cancelled at random; the thread itself or another closes the search. */
UNIT_TEST(threads_cancelled)
{
	enum { READS = 120, OTHERS = 40 };
#ifdef __SANITIZE_ADDRESS__
	UNIT_SKIP("ASan keeps the frames of a cancelled thread poisoned, in which its handlers "
	          "run");
#endif
	begin();
	srand(1);
	unsigned step = unit_step();
	for (int way = 0; way < NWAYS; ++way) {
		struct fault_count count;
		fault_begin(NULL, CALLS);
		int fds = unit_count("/proc/self/fd");
		for (unsigned run = 0; run < (way == READ ? READS : OTHERS); run += step) {
			pthread_t thread;
			void *result;
			unit_note("way %d, run %u", way, run);
			victim.way = (enum way)way;
			victim.gm = way == RUN ? getmnt_new() : NULL;
			victim.left = way == READ && run % 2;
			alarm(HANG);
			CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, victim_main, NULL), 0);
			usleep((unsigned)rand() % 4000);
			CU_ASSERT_EQUAL(pthread_cancel(thread), 0);
			CU_ASSERT_EQUAL(pthread_join(thread, &result), 0);
			CU_ASSERT_PTR_EQUAL(result, PTHREAD_CANCELED);
			CU_ASSERT_TRUE(victim.left || !victim.search);
			if (victim.left && victim.search)
				read_some(victim.search, (int)run % 3);   /* it can be read on */
			getmnt_search_close(atomic_exchange(&victim.search, NULL));
			getmnt_free(victim.gm);
		}
		CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);
		fault_end(&count);
		CU_ASSERT_TRUE(count.blocks == 0 && count.fds == 0 && count.threads == 0
		               && count.bad_closes == 0);
	}
	alarm(0);
}

static void *read_for_ever(void *arg)
{
	const char *many[500];
	for (int i = 0; i < 500; ++i)
		many[i] = top;
	for (;;) {
		/* Nothing matches: the call does not return. */
		SEARCH *s = getmnt_search_open(many, 500, "no such", &four);
		atomic_store(&victim.search, s);
		getmnt_search_read(s);
		++*(int *)arg;
	}
	return NULL;
}

/** A thread is cancelled within getmnt_search_read(). */
UNIT_TEST(cancelled_within_a_call)
{
#ifdef __SANITIZE_ADDRESS__
	UNIT_SKIP("ASan keeps the frames of a cancelled thread poisoned, in which its handlers "
	          "run");
#endif
	begin();
	pthread_t thread;
	int ended = 0;
	alarm(HANG);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, read_for_ever, &ended), 0);
	while (!victim.search)
		usleep(1000);
	CU_ASSERT_EQUAL(pthread_cancel(thread), 0);
	CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
	CU_ASSERT_EQUAL(ended, 0);
	getmnt_search_close(atomic_exchange(&victim.search, NULL));
	alarm(0);
}

/* Forked children. */

/** End with a status; on success by execve(2), so that memory of the parent's threads, which
    cannot be freed, is not reported as a leak. */
_Noreturn static void end_child(int status)
{
	if (status == 0)
		execlp("true", "true", (char *)NULL);
	_exit(status);
}

/** Run a function in a child.  @return its status; -1: it was killed. */
static int in_child(int (*run)(void *arg), void *arg)
{
	int status;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(HANG);
		end_child(run(arg));
	}
	CU_ASSERT_TRUE_FATAL(pid > 0);
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct inherited {
	SEARCH *search;
	int fds, slack;     /* open before the search; more that workers may have opened */
};

static int only_close(void *arg)
{
	errno = 0;
	if (getmnt_search_read(arg) || errno != ECHILD)
		return 1;
	return getmnt_search_close(arg) == 0 ? 0 : 2;
}

/** Use an inherited search.  @return 0, or the number of the failed step. */
static int use_inherited(void *arg)
{
	const struct inherited *in = arg;
	struct search_counts counts;
	for (int i = 0; i < 3; ++i) {
		errno = 0;
		if (getmnt_search_read(in->search) || errno != ECHILD)
			return 1;
	}
	getmnt_search_statx(in->search);
	getmnt_search_count(in->search, &counts, sizeof(counts));
	if (counts.threads < 1 || counts.threads > 4)
		return 2;
	if (getmnt_search_close(in->search) != 0)
		return 3;
	if (unit_count("/proc/self/fd") > in->fds + in->slack)
		return 4;
#ifdef __SANITIZE_ADDRESS__
	/* A thread of the parent may have been within its allocator (gcc 12): the child cannot
	   allocate. */
	return 0;
#endif
	/* The child can open searches of its own, and its child close them. */
	unsigned threads = 4;
#ifdef __SANITIZE_THREAD__
	/* its runtime starts no thread in a child of a process with threads */
	threads = 1;
#endif
	SEARCH *own = open_ways(threads, true);
	if (!own || read_some(own, 30) != 30 || in_child(only_close, own) != 0
	    || read_some(own, LINKED) != LINKED - 30 || getmnt_search_close(own) != 0)
		return 5;
	return 0;
}

UNIT_TEST(forked)
{
	begin();
	int threaded[2] = {0};
	int fds = unit_count("/proc/self/fd"), step = (int)(unit_step() > 4 ? 4 : unit_step());
	for (int i = 0, k; (k = i / 2 * 20 * step) <= ENTRIES; ++i) {
		bool follow = i % 2;
		unit_note("forked after %d, %d", k, follow);
		alarm(HANG);
		SEARCH *search = open_ways(4, follow);
		CU_ASSERT_PTR_NOT_NULL_FATAL(search);
		CU_ASSERT_EQUAL(read_some(search, k), k);
		struct search_counts counts;
		getmnt_search_count(search, &counts, sizeof(counts));
		threaded[follow] += counts.threads > 1;
		struct inherited in = {search, fds, counts.threads > 1 ? 4 * 64 : 0};
		CU_ASSERT_EQUAL(in_child(use_inherited, &in), 0);
		/* The parent's search is as it was. */
		CU_ASSERT_EQUAL(read_some(search, LINKED + 1), (follow ? LINKED : ENTRIES) - k);
		CU_ASSERT_EQUAL(errno, 0);
		CU_ASSERT_EQUAL(getmnt_search_close(search), 0);
		CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), fds);
	}
	CU_ASSERT_TRUE(threaded[0] > 0 && threaded[1] > 0);
	alarm(0);
}

/** Without threads, closing a search in a child frees everything. */
static int close_counted(void *arg)
{
	const struct inherited *in = arg;
	struct fault_count count;
	getmnt_search_close(in->search);
	fault_end(&count);
	return count.blocks == 0 && unit_count("/proc/self/fd") == in->fds ? 0 : 1;
}

UNIT_TEST(forked_everything_is_freed)
{
	begin();
	for (int i = 0; i <= ENTRIES / 100 * 2; ++i) {
		struct fault_count count;
		fault_begin(NULL, CALLS);
		struct inherited in = {.fds = unit_count("/proc/self/fd")};
		in.search = open_ways(1, i % 2);
		read_some(in.search, i / 2 * 100);
		CU_ASSERT_EQUAL(in_child(close_counted, &in), 0);
		getmnt_search_close(in.search);
		fault_end(&count);
		CU_ASSERT_EQUAL(count.blocks, 0);
	}
	alarm(0);
}

static void *read_and_close(void *arg)
{
	const atomic_bool *stop = arg;
	while (!atomic_load(stop)) {
		SEARCH *s = victim.search;
		if (!getmnt_search_read(s)) {
			atomic_store(&victim.search, open_top());
			getmnt_search_close(s);
		}
	}
	return NULL;
}

/** One thread forks while another reads: the child can only close the search. */
UNIT_TEST(forked_while_another_thread_reads)
{
	begin();
	const char *many[200];
	for (int i = 0; i < 200; ++i)
		many[i] = top;
	atomic_bool stop = false;
	for (unsigned run = 0; run < 40; run += unit_step()) {
		pthread_t thread;
		alarm(HANG);
		SEARCH *search = getmnt_search_open(many, 200, "*", &four);
		atomic_store(&victim.search, search);
		atomic_store(&stop, false);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, read_and_close, &stop), 0);
		/* After the first reads, long before the last. */
		usleep(1000 + run % 8 * 100);
		CU_ASSERT_EQUAL(in_child(only_close, search), 0);
		atomic_store(&stop, true);
		pthread_join(thread, NULL);
		getmnt_search_close(atomic_exchange(&victim.search, NULL));
	}
	alarm(0);
}

/** A handle of libgetmnt in a child is read, run again with probes, and freed. */
static int use_handle(void *arg)
{
	struct getmnt *gm = arg;
	size_t n = getmnt_count(gm);
	if (n == 0 || !getmnt_get(gm, n - 1))
		return 1;
	if (getmnt_set(gm, GETMNT_OPT_PROBE, GETMNT_PROBE_LOCAL) != 0 || getmnt_run(gm) != 0
	    || getmnt_count(gm) == 0 || getmnt_stat(gm, GETMNT_STAT_PROBES) == 0)
		return 2;
	getmnt_free(gm);
	/* No child process is left. */
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : 3;
}

UNIT_TEST(a_handle_in_a_child)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct getmnt *gm = getmnt_new();
	alarm(2 * HANG);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ROOT_FD, fd), 0);
	CU_ASSERT_EQUAL_FATAL(getmnt_run(gm), 0);
	size_t n = getmnt_count(gm);
	CU_ASSERT_EQUAL(in_child(use_handle, gm), 0);
	CU_ASSERT_TRUE(getmnt_count(gm) == n && getmnt_run(gm) == 0);
	getmnt_free(gm);
	close(fd);
	alarm(0);
}

/* The end of the process. */

static int exit_now(void *arg)
{
	int k = *(int *)arg;
	SEARCH *search = open_top();
	read_some(search, k);
	exit(search ? 0 : 1);
}

UNIT_TEST(exit)
{
	begin();
	for (int k = 0; k <= ENTRIES; k += 200)
		CU_ASSERT_EQUAL(in_child(exit_now, &k), 0);
	alarm(0);
}

/* NULL handles. */

UNIT_TEST(null_handles)
{
	struct search_counts counts;
	_Alignas(8) char buffer[256];
	const char *const none[] = {NULL}, *const here[] = {"."};
	memset(&counts, 1, sizeof(counts));
	getmnt_search_count(NULL, &counts, sizeof(counts));
	CU_ASSERT_EQUAL(counts.threads, 0);
	getmnt_search_cancel(NULL);
	CU_ASSERT_PTR_NULL(getmnt_search_statx(NULL));
	CU_ASSERT_EQUAL(getmnt_search_close(NULL), 0);
#define INVALID(call) do { errno = 0; CU_ASSERT_TRUE((call) && errno == EINVAL); } while (0)
	INVALID(!getmnt_search_read(NULL));
	INVALID(!opensearch(NULL, "*", 0));
	INVALID(!opensearch("/", NULL, 0));
	INVALID(!getmnt_search_open(NULL, 1, "*", NULL));
	INVALID(!getmnt_search_open(none, 1, "*", NULL));
	INVALID(!getmnt_search_open(here, 1, NULL, NULL));
	INVALID(search(NULL, "*", 0, buffer, sizeof(buffer)) == -1);
	INVALID(search("/", NULL, 0, buffer, sizeof(buffer)) == -1);
	SEARCH *search = getmnt_search_open(NULL, 0, "*", NULL);
	CU_ASSERT_TRUE(search && !getmnt_search_read(search) && errno == 0);
	getmnt_search_close(search);

	getmnt_free(NULL);
	INVALID(getmnt_set(NULL, GETMNT_OPT_DEPTH, 1) == -1);
	INVALID(getmnt_run(NULL) == -1);
	CU_ASSERT_EQUAL(getmnt_count(NULL), 0);
	CU_ASSERT_PTR_NULL(getmnt_get(NULL, 0));
	CU_ASSERT_PTR_NULL(getmnt_by_id(NULL, 1));
	CU_ASSERT_PTR_NULL(getmnt_by_target(NULL, "/"));
	CU_ASSERT_EQUAL(getmnt_complete(NULL), 0);
	CU_ASSERT_PTR_NULL(getmnt_reason(NULL, 0));
	CU_ASSERT_EQUAL(getmnt_stat(NULL, GETMNT_STAT_CALLS), 0);
	struct getmnt *gm = getmnt_new();
	CU_ASSERT_EQUAL(getmnt_run(gm), 0);
	CU_ASSERT_PTR_NULL(getmnt_by_target(gm, NULL));
	getmnt_free(gm);
}

/* Limits and signals. */

/** No process and no thread can be started. */
static int no_processes(void *arg)
{
	(void)arg;
	struct rlimit none = {0, 0};
	/* The limit does not apply to root. */
	if (setgid(65534) != 0 || setuid(65534) != 0 || setrlimit(RLIMIT_NPROC, &none) != 0)
		return 77;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		return 77;
	struct getmnt *gm = getmnt_new();
	SEARCH *search = open_top();
	int n = read_some(search, 2 * ENTRIES);
	getmnt_search_close(search);
	if (n != ENTRIES)
		return 1;
	if (getmnt_run(gm) != 0)
		return 2;
	if (getmnt_set(gm, GETMNT_OPT_PROBE, GETMNT_PROBE_ALL) != 0 || getmnt_run(gm) == 0
	    || errno != EAGAIN)
		return 3;
	getmnt_free(gm);
	return 0;
}

/** With a limit of open descriptors. */
static int few_descriptors(void *arg)
{
	const struct rlimit few = {(rlim_t)*(int *)arg, (rlim_t)*(int *)arg};
	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return 77;
	struct getmnt *gm = getmnt_new();
	SEARCH *search = open_top();
	int n = 0, errors = 0;
	for (struct searchent *e; search && (e = getmnt_search_read(search));)
		e->err ? ++errors : ++n;
	/* Everything is found, or an error is reported. */
	bool whole = n == ENTRIES;
	if (search && errno == 0 && !whole && errors == 0)
		return 1;
	getmnt_search_close(search);
	for (int probe = GETMNT_PROBE_NONE; probe <= GETMNT_PROBE_LOCAL; ++probe) {
		getmnt_set(gm, GETMNT_OPT_PROBE, probe);
		if (getmnt_run(gm) == 0 && getmnt_count(gm) == 0)
			return 2;
	}
	getmnt_free(gm);
	_exit(0);   /* no other program could be started */
}

UNIT_TEST(limits)
{
	begin();
	CU_ASSERT_EQUAL(chmod(top, 0755), 0);
	alarm(2 * HANG);
	int status = in_child(no_processes, NULL);
	CU_ASSERT_TRUE(status == 0 || status == 77);
	for (int n = 0; n < 24; ++n) {
		unit_note("%d descriptors", n);
		alarm(2 * HANG);
		status = in_child(few_descriptors, &n);
		CU_ASSERT_TRUE(status == 0 || status == 77);
	}
	alarm(0);
}

static void on_alarm(int number)
{
	(void)number;
}

/** With a timer that interrupts system calls. */
static int interrupted(void *arg)
{
	(void)arg;
	struct sigaction action = {.sa_handler = on_alarm};
	const suseconds_t often = 300 * (suseconds_t)unit_step();   /* valgrind is slow */
	const struct itimerval timer = {{0, often}, {0, often}};
	if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &timer, NULL) != 0)
		return 77;
	struct getmnt *gm = getmnt_new();
	for (int i = 0; i < 5; ++i) {
		SEARCH *search = open_top();
		if (read_some(search, 2 * ENTRIES) != ENTRIES || errno != 0)
			return 1;
		getmnt_search_close(search);
	}
	getmnt_set(gm, GETMNT_OPT_PROBE, GETMNT_PROBE_LOCAL);
	for (int i = 0; i < 3; ++i) {
		if (getmnt_run(gm) != 0 || !getmnt_complete(gm))
			return 2;
	}
	getmnt_free(gm);
	_exit(0);   /* no other program could be started */
}

UNIT_TEST(interrupted)
{
	begin();
	alarm(2 * HANG);
	CU_ASSERT_EQUAL(in_child(interrupted, NULL), 0);
	alarm(0);
}

UNIT_TEST(remove_the_trees)
{
	tree_end(&tree);
	tree_end(&links);
}
