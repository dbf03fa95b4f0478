/* SPDX-License-Identifier: MIT */
/* The public library: the promises of getmnt.h, its numbers and the layout of its record. */
#include "unit.h"

#include "loop.h"
#include "getmnt/getmnt.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* The ABI: lines may be added here, never changed. */
_Static_assert(GETMNT_API >= 1, "it only grows");
_Static_assert(GETMNT_OPT_NAMES == 1 && GETMNT_OPT_ALGORITHM == 2 && GETMNT_OPT_KERNEL == 3
               && GETMNT_OPT_ROOT_FD == 4 && GETMNT_OPT_TABLE_FD == 5 && GETMNT_OPT_SEARCH_DIRS == 6
               && GETMNT_OPT_SEARCH_MS == 7 && GETMNT_OPT_MAX_MS == 8 && GETMNT_OPT_DEPTH == 9
               && GETMNT_OPT_THREADS == 10 && GETMNT_OPT_PROBE == 11 && GETMNT_OPT_PROBE_MS == 12,
               "options");
_Static_assert(GETMNT_PROBE_NONE == 0 && GETMNT_PROBE_LOCAL == 1 && GETMNT_PROBE_ALL == 2, "probe");
_Static_assert(GETMNT_NAMES_HINT == 0 && GETMNT_NAMES_WALK == 1 && GETMNT_NAMES_PURE == 2
               && GETMNT_NAMES_KERNEL == 3, "names");
_Static_assert(GETMNT_ALGORITHM_1 == 1 && GETMNT_ALGORITHM_2 == 2 && GETMNT_ALGORITHM_3 == 3,
               "algorithms");
_Static_assert(GETMNT_KERNEL_AUTO == 0 && GETMNT_KERNEL_LISTMOUNT == 1
               && GETMNT_KERNEL_MOUNTINFO == 2
               && GETMNT_KERNEL_RECORDED == 3, "kernel");
_Static_assert(GETMNT_NAMED_NONE == 0 && GETMNT_NAMED_KERNEL == 1 && GETMNT_NAMED_INFERRED == 2
               && GETMNT_NAMED_WALKED == 3 && GETMNT_NAMED_VERIFIED == 4, "named");
_Static_assert(GETMNT_STATE_OK == 1 && GETMNT_STATE_UNTESTED == 2 && GETMNT_STATE_DELETED == 4
               && GETMNT_STATE_DENIED == 8 && GETMNT_STATE_STALE == 16 && GETMNT_STATE_HUNG == 32
               && GETMNT_STATE_HIDDEN == 64 && GETMNT_STATE_UNSEARCHED == 128
               && GETMNT_STATE_LOST == 256 && GETMNT_STATE_OUTSIDE == 512, "states");
_Static_assert(GETMNT_KIND_UNKNOWN == 0 && GETMNT_KIND_DIR == 1 && GETMNT_KIND_FILE == 2, "kinds");
_Static_assert(GETMNT_PROPAGATION_SHARED == 1 && GETMNT_PROPAGATION_SLAVE == 2
               && GETMNT_PROPAGATION_UNBINDABLE == 4, "propagation");
_Static_assert(GETMNT_STAT_KERNEL == 1 && GETMNT_STAT_CALLS == 2 && GETMNT_STAT_DIRS == 3
               && GETMNT_STAT_ENTRIES == 4 && GETMNT_STAT_GONE == 5 && GETMNT_STAT_UNREAD == 6
               && GETMNT_STAT_PROBES == 7 && GETMNT_STAT_LEFT == 8, "stats");
#ifdef __LP64__
#define AT(member, at) offsetof(struct getmnt_mount, member) == (at)
_Static_assert(AT(id, 0) && AT(parent_id, 8) && AT(covered_by, 16) && AT(id32, 24)
               && AT(parent_id32, 28) && AT(dev_major, 32) && AT(dev_minor, 36) && AT(state, 40)
               && AT(states, 44) && AT(named, 48) && AT(kind, 52) && AT(target, 56)
               && AT(source, 64) && AT(fstype, 72) && AT(fsroot, 80) && AT(vfs_options, 88)
               && AT(fs_options, 96) && AT(peer_group, 104) && AT(master, 112)
               && AT(propagation, 120) && AT(error, 124), "members");
_Static_assert(sizeof(struct getmnt_mount) >= 128, "it only grows");
#endif

/** The path of "/NAME" in the directory of the tests. */
static const char *below(const char *name)
{
	return in_top(name + 1);
}

static void make_dir(const char *name)
{
	CU_ASSERT_TRUE(mkdir(below(name), 0755) == 0 || errno == EEXIST);
}

static void make_mount(const char *name)
{
	make_dir(name);
	CU_ASSERT_EQUAL(mount(name, below(name), "tmpfs", MS_NOSUID, "mode=750"), 0);
}

/** A new handle with a root and an option.  @root  -1: none.  @option  0: none. */
static struct getmnt *handle(int root, int option, int64_t value)
{
	struct getmnt *gm = getmnt_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(gm);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ROOT_FD, root), 0);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_THREADS, 1), 0);
	if (option)
		CU_ASSERT_EQUAL(getmnt_set(gm, option, value), 0);
	return gm;
}

/** A handle that has run. */
static struct getmnt *ran(int option, int64_t value)
{
	struct getmnt *gm = handle(-1, option, value);
	CU_ASSERT_EQUAL_FATAL(getmnt_run(gm), 0);
	return gm;
}

/** A handle that has read a recorded table. */
static struct getmnt *recorded(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	struct getmnt *gm = ran(GETMNT_OPT_TABLE_FD, fd);
	close(fd);
	return gm;
}

/** Compare what was found with our own mountinfo, line by line. */
static void compare_with_mountinfo(const struct getmnt *gm)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	char *line = NULL;
	size_t size = 0, lines = 0;
	for (; getline(&line, &size, file) > 0; ++lines) {
		unsigned id, parent, major, minor;
		char point[PATH_MAX];
		CU_ASSERT_EQUAL_FATAL(sscanf(line, "%u %u %u:%u %*s %4095s", &id, &parent, &major,
		                             &minor, point), 5);
		const struct getmnt_mount *m = getmnt_by_id(gm, id);
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		CU_ASSERT_TRUE(m->id32 == id && m->parent_id32 == parent && m->dev_major == major
		               && m->dev_minor == minor);
		CU_ASSERT_TRUE(getmnt_by_id(gm, m->id) == m && m->fstype && m->vfs_options);
		if (m->target && !strchr(point, '\\'))
			CU_ASSERT_STRING_EQUAL(m->target, point);
	}
	free(line);
	fclose(file);
	CU_ASSERT_EQUAL(getmnt_count(gm), lines);
}

UNIT_TEST(live)
{
	TOP_OR_SKIP();
	make_mount("/a");
	static const int64_t kernels[] = {GETMNT_KERNEL_AUTO, GETMNT_KERNEL_MOUNTINFO};
	for (size_t i = 0; i < 2; ++i) {
		struct getmnt *gm = ran(GETMNT_OPT_KERNEL, kernels[i]);
		compare_with_mountinfo(gm);
		const struct getmnt_mount *m = getmnt_by_target(gm, below("/a"));
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		CU_ASSERT_STRING_EQUAL(m->source, "/a");
		CU_ASSERT_STRING_EQUAL(m->fstype, "tmpfs");
		CU_ASSERT_STRING_EQUAL(m->fsroot, "/");
		CU_ASSERT_TRUE(strstr(m->vfs_options, "nosuid")
		               && strstr(m->fs_options, "mode=750"));
		CU_ASSERT_TRUE(m->state == GETMNT_STATE_OK && m->states == GETMNT_STATE_OK
		               && m->named == GETMNT_NAMED_VERIFIED && m->kind == GETMNT_KIND_DIR
		               && m->propagation == 0 && m->error == 0);
		const struct getmnt_mount *up = getmnt_by_id(gm, m->parent_id);
		CU_ASSERT_PTR_NOT_NULL_FATAL(up);
		CU_ASSERT_STRING_EQUAL(up->target, unit_top);
		uint64_t from = getmnt_stat(gm, GETMNT_STAT_KERNEL);
		CU_ASSERT_TRUE(from == GETMNT_KERNEL_MOUNTINFO
		               || (i == 0 && from == GETMNT_KERNEL_LISTMOUNT));
		CU_ASSERT_TRUE(getmnt_stat(gm, GETMNT_STAT_CALLS) > 0
		               && getmnt_stat(gm, GETMNT_STAT_DIRS) == 0);
		CU_ASSERT_TRUE(getmnt_complete(gm) == 1 && !getmnt_reason(gm, 0));
		getmnt_free(gm);
	}
	top_end();
}

UNIT_TEST(stack)
{
	TOP_OR_SKIP();
	make_mount("/s");
	make_mount("/s");
	make_mount("/s/deep");
	make_mount("/s");
	CU_ASSERT_EQUAL(mount(NULL, below("/s"), NULL, MS_SHARED, NULL), 0);
	struct getmnt *gm = ran(0, 0);
	const struct getmnt_mount *seen = getmnt_by_target(gm, below("/s"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(seen);
	CU_ASSERT_TRUE(seen->state == GETMNT_STATE_OK && seen->covered_by == 0
	               && seen->propagation == GETMNT_PROPAGATION_SHARED && seen->peer_group != 0);
	unsigned hidden = 0;
	for (size_t i = 0; i < getmnt_count(gm); ++i) {
		const struct getmnt_mount *m = getmnt_get(gm, i);
		if (!m->source || strncmp(m->source, "/s", 2) != 0 || m == seen)
			continue;
		++hidden;
		CU_ASSERT_TRUE(m->state == GETMNT_STATE_HIDDEN && m->covered_by == seen->id);
	}
	CU_ASSERT_EQUAL(hidden, 3);
	CU_ASSERT_TRUE(!getmnt_by_target(gm, below("/s/deep"))
	               && !getmnt_by_target(gm, below("/none"))
	               && !getmnt_by_id(gm, UINT64_MAX) && !getmnt_get(gm, getmnt_count(gm)));
	getmnt_free(gm);
	top_end();
}

UNIT_TEST(names)
{
	TOP_OR_SKIP();
	make_mount("/w");
	make_mount("/w/x");
	int root = open(unit_top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	static const struct {
		int64_t names;
		uint32_t named;
	} ways[] = {
		{GETMNT_NAMES_HINT, GETMNT_NAMED_VERIFIED},
		{GETMNT_NAMES_WALK, GETMNT_NAMED_WALKED},
		{GETMNT_NAMES_PURE, GETMNT_NAMED_WALKED},
		{GETMNT_NAMES_KERNEL, GETMNT_NAMED_KERNEL},
	};
	for (size_t i = 0; i < COUNT(ways); ++i) {
		for (int64_t a = GETMNT_ALGORITHM_1; a <= GETMNT_ALGORITHM_3; ++a) {
			struct getmnt *gm = handle(root, GETMNT_OPT_NAMES, ways[i].names);
			CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ALGORITHM, a), 0);
			CU_ASSERT_EQUAL_FATAL(getmnt_run(gm), 0);
			const struct getmnt_mount *m = getmnt_by_target(gm, "/w/x");
			CU_ASSERT_PTR_NOT_NULL_FATAL(m);
			CU_ASSERT_EQUAL(m->named, ways[i].named);
			CU_ASSERT_STRING_EQUAL(m->source, "/w/x");
			bool searched = ways[i].named == GETMNT_NAMED_WALKED;
			CU_ASSERT_TRUE((getmnt_stat(gm, GETMNT_STAT_DIRS) > 0) == searched
			               && (getmnt_stat(gm, GETMNT_STAT_ENTRIES) > 0) == searched);
			/* The rest of the machine. */
			m = getmnt_by_target(gm, "/");
			CU_ASSERT_TRUE(m && strcmp(m->source, "unit") == 0);
			unsigned outside = 0;
			for (size_t k = 0; k < getmnt_count(gm); ++k)
				outside += (getmnt_get(gm, k)->states & GETMNT_STATE_OUTSIDE) != 0;
			CU_ASSERT_EQUAL(outside, getmnt_count(gm) - 3);
			getmnt_free(gm);
		}
	}
	close(root);
	top_end();
}

/** A search that reached a limit is reported as incomplete. */
UNIT_TEST(limits)
{
	TOP_OR_SKIP();
	make_dir("/d");
	make_dir("/d/e");
	make_mount("/d/e/m");
	int root = open(unit_top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	static const struct {
		int option;
		int64_t value;
		const char *reason;
	} bounds[] = {
		{GETMNT_OPT_SEARCH_DIRS, 1, "the search reached its limit"},
		{GETMNT_OPT_DEPTH, 1, "the search was limited in depth"},
		{GETMNT_OPT_SEARCH_DIRS, 0, NULL},
		{GETMNT_OPT_SEARCH_MS, 600000, NULL},
		{GETMNT_OPT_MAX_MS, 600000, NULL},
	};
	for (size_t i = 0; i < COUNT(bounds); ++i) {
		struct getmnt *gm = handle(root, GETMNT_OPT_NAMES, GETMNT_NAMES_WALK);
		CU_ASSERT_EQUAL(getmnt_set(gm, bounds[i].option, bounds[i].value), 0);
		CU_ASSERT_EQUAL_FATAL(getmnt_run(gm), 0);
		const char *reason = getmnt_reason(gm, 0);
		const struct getmnt_mount *m = NULL;
		for (size_t k = 0; k < getmnt_count(gm); ++k) {
			const struct getmnt_mount *one = getmnt_get(gm, k);
			if (one->source && strcmp(one->source, "/d/e/m") == 0)
				m = one;
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(m);
		bool whole = !bounds[i].reason;
		CU_ASSERT_TRUE(getmnt_complete(gm) == whole && !getmnt_reason(gm, 1));
		CU_ASSERT_TRUE(whole ? !reason : reason && strcmp(reason, bounds[i].reason) == 0);
		CU_ASSERT_EQUAL(m->state == GETMNT_STATE_UNSEARCHED, !whole);
		/* The name in the table may be hidden. */
		CU_ASSERT_PTR_EQUAL(getmnt_by_target(gm, "/d/e/m"), whole ? m : NULL);
		getmnt_free(gm);
	}
	close(root);
	top_end();
}

UNIT_TEST(recorded)
{
	struct getmnt *gm = recorded("tests/fixtures/cli/host");
	CU_ASSERT_TRUE(getmnt_stat(gm, GETMNT_STAT_KERNEL) == GETMNT_KERNEL_RECORDED
	               && getmnt_complete(gm) == 1 && getmnt_count(gm) > 10);
	const struct getmnt_mount *m = getmnt_by_target(gm, "/srv/data");
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	CU_ASSERT_STRING_EQUAL(m->fsroot, "/@data");
	CU_ASSERT_STRING_EQUAL(m->source, "/dev/sdb1");
	CU_ASSERT_TRUE(m->id == 34 && m->id32 == 34 && m->parent_id == 28 && m->peer_group == 32
	               && m->state == GETMNT_STATE_UNTESTED && m->named == GETMNT_NAMED_KERNEL);
	CU_ASSERT_PTR_EQUAL(getmnt_get(gm, 0), getmnt_by_id(gm, 22));
	getmnt_free(gm);
}

#define LINE(device, point) "1 1 0:" device " / " point " rw - tmpfs none rw\n"

/** Tables read from a pipe or a socket. */
UNIT_TEST(streams)
{
	static const struct {
		const char *text;
		bool socket;
		int error;
		size_t count, reasons, unread;
	} rows[] = {
		{LINE("1", "/"), false, 0, 1, 0, 0},
		{LINE("1", "/"), true, 0, 1, 0, 0},
		{LINE("1", "/") "rubbish\nmore\n", false, 0, 1, 1, 2},
		{LINE("1", "/") LINE("2", "/x"), false, 0, 2, 2, 0},
		{"rubbish\n", false, EBADMSG, 0, 0, 0},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		int fds[2];
		CU_ASSERT_EQUAL_FATAL(rows[i].socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds)
		                                     : pipe(fds), 0);
		size_t len = strlen(rows[i].text), n = 0;
		CU_ASSERT_EQUAL(write(fds[1], rows[i].text, len), (ssize_t)len);
		close(fds[1]);
		struct getmnt *gm = handle(-1, GETMNT_OPT_TABLE_FD, fds[0]);
		close(fds[0]);
		errno = 0;
		CU_ASSERT_EQUAL(getmnt_run(gm), rows[i].error ? -1 : 0);
		CU_ASSERT_TRUE(!rows[i].error || errno == rows[i].error);
		while (getmnt_reason(gm, n))
			++n;
		unit_note("row %zu: %zu reasons", i, n);
		CU_ASSERT_TRUE(getmnt_count(gm) == rows[i].count
		               && getmnt_complete(gm) == (n == 0 && !rows[i].error)
		               && (n > 0) == (rows[i].reasons > 0) && n <= rows[i].reasons
		               && getmnt_stat(gm, GETMNT_STAT_UNREAD) == rows[i].unread);
		getmnt_free(gm);
	}
}

/** After a failed run the results of the previous one are still valid. */
UNIT_TEST(failed_run)
{
	struct getmnt *gm = recorded("tests/fixtures/cli/host");
	size_t count = getmnt_count(gm);
	const struct getmnt_mount *m = getmnt_by_target(gm, "/srv/data");
	static const struct {
		const char *path;
		int error;
	} bad[] = {
		{"/", EISDIR},
		{"/dev/null", ENOTSUP},
	};
	for (size_t i = 0; i < COUNT(bad); ++i) {
		int fd = open(bad[i].path, O_RDONLY | O_CLOEXEC);
		CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_TABLE_FD, fd), 0);
		close(fd);
		CU_ASSERT_TRUE(getmnt_run(gm) == -1 && errno == bad[i].error);
		CU_ASSERT_TRUE(getmnt_count(gm) == count && getmnt_complete(gm) == 1
		               && getmnt_by_target(gm, "/srv/data") == m);
		CU_ASSERT_STRING_EQUAL(m->source, "/dev/sdb1");
	}
	/* Both descriptors at once. */
	int fd = open("/", O_PATH | O_CLOEXEC);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ROOT_FD, fd), 0);
	close(fd);
	CU_ASSERT_TRUE(getmnt_run(gm) == -1 && errno == EINVAL);
	/* Without them it is the machine's table again. */
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ROOT_FD, -1), 0);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_TABLE_FD, -1), 0);
	CU_ASSERT_EQUAL(getmnt_run(gm), 0);
	CU_ASSERT_TRUE(getmnt_stat(gm, GETMNT_STAT_KERNEL) != GETMNT_KERNEL_RECORDED);
	getmnt_free(gm);
}

UNIT_TEST(set)
{
	struct getmnt *gm = getmnt_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(gm);
	static const struct {
		int option;
		int64_t value;
		int error;
	} bad[] = {
		{0, 0, EINVAL},
		{-1, 0, EINVAL},
		{GETMNT_OPT_THREADS + 1000, 0, EINVAL},
		{GETMNT_OPT_NAMES, -1, EINVAL},
		{GETMNT_OPT_NAMES, GETMNT_NAMES_KERNEL + 1, EINVAL},
		{GETMNT_OPT_ALGORITHM, 0, EINVAL},
		{GETMNT_OPT_ALGORITHM, 4, EINVAL},
		{GETMNT_OPT_KERNEL, GETMNT_KERNEL_RECORDED, EINVAL},
		{GETMNT_OPT_ROOT_FD, -2, EINVAL},
		{GETMNT_OPT_ROOT_FD, INT_MAX, EBADF},
		{GETMNT_OPT_TABLE_FD, (int64_t)INT_MAX + 1, EINVAL},
		{GETMNT_OPT_SEARCH_DIRS, -2, EINVAL},
		{GETMNT_OPT_SEARCH_MS, -2, EINVAL},
		{GETMNT_OPT_MAX_MS, -1, EINVAL},
		{GETMNT_OPT_DEPTH, -1, EINVAL},
		{GETMNT_OPT_DEPTH, INT64_MAX, EINVAL},
		{GETMNT_OPT_THREADS, 257, EINVAL},
		{GETMNT_OPT_PROBE, GETMNT_PROBE_ALL + 1, EINVAL},
		{GETMNT_OPT_PROBE_MS, 0, EINVAL},
	};
	for (size_t i = 0; i < COUNT(bad); ++i) {
		errno = 0;
		CU_ASSERT_TRUE(getmnt_set(gm, bad[i].option, bad[i].value) == -1
		               && errno == bad[i].error);
	}
	/* Before the first run; test_caller.c has the rest. */
	CU_ASSERT_TRUE(getmnt_count(gm) == 0 && !getmnt_by_target(gm, "/")
	               && getmnt_complete(gm) == 0 && getmnt_stat(gm, -1) == 0
	               && getmnt_stat(gm, INT_MAX) == 0);
	getmnt_free(gm);
}

UNIT_TEST(words)
{
	static const char *const states[] = {
		"ok", "untested", "deleted", "denied", "stale", "hung", "hidden", "unsearched",
		"lost", "outside",
	};
	static const char *const named[] = {"none", "kernel", "inferred", "walked", "verified"};
	for (size_t i = 0; i < COUNT(states); ++i)
		CU_ASSERT_STRING_EQUAL(getmnt_state_name(1u << i), states[i]);
	CU_ASSERT_STRING_EQUAL(getmnt_state_name(0), "unknown");
	CU_ASSERT_STRING_EQUAL(getmnt_state_name(GETMNT_STATE_OK | GETMNT_STATE_LOST), "unknown");
	for (uint32_t i = 0; i < COUNT(named); ++i)
		CU_ASSERT_STRING_EQUAL(getmnt_named_name(i), named[i]);
	CU_ASSERT_STRING_EQUAL(getmnt_named_name(UINT32_MAX), "unknown");
	CU_ASSERT_STRING_EQUAL(getmnt_version(), GETMNT_VERSION);
}

/** Run with a directory as root.  @return 0, or the error. */
static int run_below(int fd)
{
	struct getmnt *gm = getmnt_new();
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ROOT_FD, fd), 0);
	int error = getmnt_run(gm) == 0 ? 0 : errno;
	getmnt_free(gm);
	return error;
}

UNIT_TEST(bad_roots)
{
	TOP_OR_SKIP();
	make_dir("/gone");
	int fd = open(below("/gone"), O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(run_below(fd), 0);
	CU_ASSERT_EQUAL(rmdir(below("/gone")), 0);
	CU_ASSERT_EQUAL(run_below(fd), ENOTDIR);
	close(fd);
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(run_below(fd), ENOTDIR);
	close(fd);

	/* The root of a process in another mount namespace. */
	int ready[2];
	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		bool there = unshare(CLONE_NEWNS) == 0;
		_exit(write(ready[1], &there, 1) == 1 && pause() ? 0 : 1);
	}
	bool there = false;
	CU_ASSERT_EQUAL(read(ready[0], &there, 1), 1);
	CU_ASSERT_TRUE(there);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_TRUE(fd >= 0);
	CU_ASSERT_EQUAL(run_below(fd), EXDEV);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	top_end();
}

/** Run in a chroot into a plain directory. */
static int run_in_chroot(void)
{
	if (chroot(below("/plain")) != 0 || chdir("/") != 0)
		return 1;
	struct getmnt *gm = getmnt_new();
	int fd = open("/in", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!gm || getmnt_set(gm, GETMNT_OPT_ROOT_FD, fd) != 0)
		return 2;
	if (getmnt_run(gm) != 0)
		return 100 + errno % 100;
	const struct getmnt_mount *m = getmnt_by_target(gm, "/m");
	int bad = !m || !m->source || strcmp(m->source, "/plain/in/m") != 0;
	/* The root that no table lists is not in the results. */
	for (size_t i = 0; i < getmnt_count(gm); ++i)
		bad |= !getmnt_get(gm, i)->fstype;
	getmnt_free(gm);
	close(fd);
	return bad ? 3 : 0;
}

UNIT_TEST(chroot)
{
	TOP_OR_SKIP();
	make_dir("/plain");
	make_dir("/plain/in");
	make_mount("/plain/in/m");
	make_dir("/plain/proc");
	CU_ASSERT_EQUAL(mount("proc", below("/plain/proc"), "proc", 0, NULL), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(run_in_chroot());
	int status = -1;
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	top_end();
}

/** Descriptors, limits and signal mask of the process do not change. */
UNIT_TEST(guest)
{
	TOP_OR_SKIP();
	for (int i = 0; i < 40; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "/d%d", i);
		make_dir(name);
		for (int k = 0; k < 80; ++k) {
			snprintf(name, sizeof(name), "/d%d/%d", i, k);
			make_dir(name);
		}
	}
	make_mount("/d39/m");
	struct rlimit few = {64, 4096}, after;
	struct rlimit was;
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &was), 0);
	few.rlim_max = was.rlim_max;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
	sigset_t mask_before, mask_after;
	pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
	int root = open(unit_top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int before = unit_count("/proc/self/fd");

	struct getmnt *gm = handle(root, GETMNT_OPT_NAMES, GETMNT_NAMES_PURE);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_ALGORITHM, GETMNT_ALGORITHM_1), 0);
	CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_THREADS, 2), 0);
	CU_ASSERT_EQUAL_FATAL(getmnt_run(gm), 0);
	CU_ASSERT_EQUAL(getmnt_complete(gm), 1);
	CU_ASSERT_TRUE(getmnt_stat(gm, GETMNT_STAT_DIRS) > 3000);
	CU_ASSERT_PTR_NOT_NULL(getmnt_by_target(gm, "/d39/m"));
	getmnt_free(gm);

	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), before);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_NOFILE, &after), 0);
	CU_ASSERT_EQUAL(after.rlim_cur, 64);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	for (int signal = 1; signal < NSIG; ++signal)
		CU_ASSERT_EQUAL(sigismember(&mask_before, signal),
		                sigismember(&mask_after, signal));
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_NOFILE, &was), 0);
	close(root);
	top_end();
}

/** One of several threads, with a handle of its own. */
static void *thread_main(void *arg)
{
	size_t *count = arg;
	for (int i = 0; i < 6; ++i) {
		struct getmnt *gm = getmnt_new();
		/* Some fork while others allocate; but not under valgrind, which in a
		   process so forked calls lost what the other threads held. */
		bool forks = i % 3 == 0 && !getenv("GETMNT_DISABLE");
		if (gm && getmnt_set(gm, GETMNT_OPT_KERNEL,
		                     i % 2 ? GETMNT_KERNEL_MOUNTINFO : GETMNT_KERNEL_AUTO) == 0
		    && getmnt_set(gm, GETMNT_OPT_PROBE,
		                  forks ? GETMNT_PROBE_LOCAL : GETMNT_PROBE_NONE) == 0
		    && getmnt_run(gm) == 0)
			*count += getmnt_count(gm);
		getmnt_free(gm);
	}
	return NULL;
}

UNIT_TEST(threads)
{
	TOP_OR_SKIP();
	pthread_t threads[4];
	size_t counts[4] = {0};
	for (int i = 0; i < 4; ++i)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, thread_main, &counts[i]),
		                      0);
	for (int i = 0; i < 4; ++i)
		pthread_join(threads[i], NULL);
	struct getmnt *gm = ran(0, 0);
	for (int i = 0; i < 4; ++i)
		CU_ASSERT_EQUAL(counts[i], getmnt_count(gm) * 6);
	getmnt_free(gm);
	top_end();
}

/** A server that never answers is reported in time if probing was requested; no process is left. */
UNIT_TEST(probe)
{
	TOP_OR_SKIP();
	make_mount("/local");
	make_dir("/dead");
	int server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char data[96];
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
	if (server < 0 || mount("dead", below("/dead"), "fuse", 0, data) != 0) {
		if (server >= 0)
			close(server);
		top_end();
		UNIT_SKIP("no FUSE here");
	}
	static const struct {
		int64_t probe;
		uint32_t state;
		int error;
	} ways[] = {
		{GETMNT_PROBE_NONE, GETMNT_STATE_UNTESTED, 0},
		{GETMNT_PROBE_LOCAL, GETMNT_STATE_UNTESTED, 0},
		{GETMNT_PROBE_ALL, GETMNT_STATE_HUNG, ETIMEDOUT},
	};
	int root = open(unit_top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int before = unit_count("/proc/self/fd");
	for (size_t i = 0; i < COUNT(ways); ++i) {
		struct getmnt *gm = handle(root, GETMNT_OPT_PROBE, ways[i].probe);
		CU_ASSERT_EQUAL(getmnt_set(gm, GETMNT_OPT_PROBE_MS, 300), 0);
		CU_ASSERT_EQUAL_FATAL(getmnt_run(gm), 0);
		const struct getmnt_mount *dead = getmnt_by_target(gm, "/dead");
		const struct getmnt_mount *local = getmnt_by_target(gm, "/local");
		CU_ASSERT_PTR_NOT_NULL_FATAL(dead);
		CU_ASSERT_PTR_NOT_NULL_FATAL(local);
		CU_ASSERT_TRUE(dead->state == ways[i].state && dead->error == ways[i].error);
		CU_ASSERT_TRUE(local->state == GETMNT_STATE_OK && local->error == 0);
		CU_ASSERT_EQUAL(getmnt_stat(gm, GETMNT_STAT_PROBES) > 0,
		                ways[i].probe != GETMNT_PROBE_NONE);
		CU_ASSERT_TRUE(getmnt_stat(gm, GETMNT_STAT_LEFT) == 0 && getmnt_complete(gm) == 1);
		getmnt_free(gm);
		CU_ASSERT_TRUE(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	}
	close(root);
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), before - 1);
	close(server);
	top_end();
}
