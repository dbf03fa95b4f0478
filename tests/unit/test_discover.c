/* SPDX-License-Identifier: MIT */
/* Discovery on real mounts in a mount namespace, and what each pruning rule saves: exact numbers of
   directories and kernel calls. */
#include "unit.h"

#include "mountopts/shown.h"
#include "discover/discover_impl.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/getmnt-unit-XXXXXX";
static bool ready;

/** A fresh tmpfs to build on.  @return false: not permitted here. */
static bool begin(void)
{
	static bool entered;
	if (!entered) {
		entered = true;
		ready = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE,
		                                           NULL) == 0
		        && mkdtemp(top);
	}
	return ready && mount("tmpfs", top, "tmpfs", 0, NULL) == 0;
}

static void end(void)
{
	CU_ASSERT_EQUAL(umount2(top, MNT_DETACH), 0);
}

#define BEGIN() do { if (!begin()) UNIT_SKIP("no private mount namespace"); } while (0)

/** Make a directory below top, with its parents. */
static void dir(const char *path)
{
	char buf[4096];
	snprintf(buf, sizeof(buf), "%s/%s", top, path);
	for (char *p = buf + strlen(top) + 1; *p; ++p) {
		if (*p == '/') {
			*p = '\0';
			mkdir(buf, 0755);
			*p = '/';
		}
	}
	CU_ASSERT_TRUE(mkdir(buf, 0755) == 0 || errno == EEXIST);
}

static void dirs(const char *format, int n)
{
	char path[4096];
	for (int i = 0; i < n; ++i) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(path, sizeof(path), format, i);
#pragma GCC diagnostic pop
		dir(path);
	}
}

static void file(const char *path)
{
	char buf[4096];
	snprintf(buf, sizeof(buf), "%s/%s", top, path);
	int fd = open(buf, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	CU_ASSERT_TRUE(fd >= 0);
	close(fd);
}

static void put(const char *fstype, const char *path)
{
	char buf[4096];
	dir(path);
	snprintf(buf, sizeof(buf), "%s/%s", top, path);
	CU_ASSERT_EQUAL(mount(fstype, buf, fstype, 0, NULL), 0);
}

static void bind(const char *from, const char *to)
{
	char a[4096], b[4096];
	snprintf(a, sizeof(a), "%s/%s", top, from);
	snprintf(b, sizeof(b), "%s/%s", top, to);
	CU_ASSERT_EQUAL(mount(a, b, NULL, MS_BIND, NULL), 0);
}

/** Options to search below top, by one thread. */
static struct discover_opts walk_opts(enum discover_algorithm algorithm)
{
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_WALK;
	opts.algorithm = algorithm;
	opts.prefix = top;
	opts.threads = 1;
	opts.max_dirs = 0;
	opts.max_seconds = 0;
	return opts;
}

struct run {
	uint64_t dirs, calls[OS_NCALLS];
	uint64_t walked, verified, ok, hidden, lost, outside, unsearched;
	bool complete;
	bool root_known;   /* os_init() found the ID of "/" */
};

static uint64_t opens(const struct run *run)
{
	return run->calls[OS_OPENAT] + run->calls[OS_OPENAT2];
}

/** Run discovery below top.  @return its statistics and calls. */
static struct run discover_top(const struct discover_opts *given, const char *disable)
{
	struct run run = {0};
	struct discover_opts opts = *given;
	struct os os;
	/* Also calls disabled by the environment: valgrind does not know all. */
	char both[128];
	const char *env = getenv("GETMNT_DISABLE");
	snprintf(both, sizeof(both), "%s,%s", disable ? disable : "", env ? env : "");
	os_init(&os, both);
	struct mount_table *table = table_read_kernel(&os, TABLE_AUTO, MF_ALL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	opts.rootfd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(opts.rootfd >= 0);
	struct os before = os;
	struct discovery *d = discover(&os, NULL, table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	for (int i = 0; i < OS_NCALLS; ++i)
		run.calls[i] = os.calls[i] - before.calls[i];
	run.dirs = d->stats.dirs;
	run.walked = d->stats.named[MT_NAMED_WALKED];
	run.verified = d->stats.named[MT_NAMED_VERIFIED];
	run.ok = d->stats.states[MT_OK];
	run.hidden = d->stats.states[MT_HIDDEN];
	run.lost = d->stats.states[MT_LOST];
	run.outside = d->stats.states[MT_OUTSIDE];
	run.unsearched = d->stats.states[MT_UNSEARCHED];
	run.complete = d->complete;
	run.root_known = table->unique_ids || os.root_old_id != 0 || os.root.mask & K_STATX_MNT_ID;
	/* Every name that was found is that of the kernel. */
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		const struct mt_node *node = &d->tree.nodes[i];
		if (node->named < MT_NAMED_INFERRED || i == d->root)
			continue;
		CU_ASSERT_PTR_NOT_NULL_FATAL(d->targets[i]);
		CU_ASSERT_STRING_EQUAL(d->targets[i], node->mount->point + strlen(top));
	}
	close(opts.rootfd);
	discovery_free(d);
	table_free(table);
	return run;
}

static struct run walk(enum discover_algorithm algorithm, unsigned off)
{
	struct discover_opts opts = walk_opts(algorithm);
	opts.prune_off = off;
	return discover_top(&opts, NULL);
}

/** The set of one rule. */
static unsigned rule_set(const char *name)
{
	int rule = discover_rule(name);
	CU_ASSERT_TRUE_FATAL(rule >= 0);
	return 1u << rule;
}

#define RULE(name) rule_set(name)

static void test_hints_calls(void)
{
	BEGIN();
	put("tmpfs", "a");
	put("tmpfs", "a/b");
	put("tmpfs", "c/d/e");
	put("tmpfs", "s");
	put("tmpfs", "s");
	struct discover_opts opts = walk_opts(DA_GETMNT3);
	opts.names = DN_HINT;
	struct run run = discover_top(&opts, NULL);
	/* The root of the run, a, a/b, c/d/e and s carry mounts. */
	CU_ASSERT_EQUAL(run.calls[OS_STATX], run.root_known ? 5 : 6);
	CU_ASSERT_EQUAL(run.calls[OS_OPENAT] + run.calls[OS_OPENAT2] + run.calls[OS_GETDENTS], 0);
	CU_ASSERT_EQUAL(run.verified, 5);
	CU_ASSERT_EQUAL(run.ok, 5);
	CU_ASSERT_EQUAL(run.hidden, 1);
	CU_ASSERT_TRUE(run.complete);
	end();
}

static void test_rule_leaf(void)
{
	BEGIN();
	put("tmpfs", "m");
	dirs("m/d%d", 10);
	put("tmpfs", "z/k");
	struct run on = walk(DA_GETMNT2, 0),
	                off = walk(DA_GETMNT2, RULE("leaf") | RULE("unlooked"));
	CU_ASSERT_EQUAL(on.walked, 3);
	CU_ASSERT_EQUAL(off.walked, 3);
	/* "." and z; without the rule also m, its 10 directories, and k. */
	CU_ASSERT_EQUAL(on.dirs, 2);
	CU_ASSERT_EQUAL(off.dirs, 2 + 11 + 1);
	/* Entering a mount: openat2 with O_PATH, statx, close; a directory: openat2, getdents64,
	   close. */
	CU_ASSERT_EQUAL(off.calls[OS_STATX] - on.calls[OS_STATX], 10 + 2);
	CU_ASSERT_EQUAL(opens(&off) - opens(&on), 12 + 2);
	CU_ASSERT_EQUAL(off.calls[OS_CLOSE] - on.calls[OS_CLOSE], 12 + 2);
	end();
}

static void test_rule_shrink(void)
{
	BEGIN();
	put("tmpfs", "m");
	dir("m/a/b");
	put("tmpfs", "m/a/b/k");
	dirs("d%d/sub", 20);
	struct run on = walk(DA_GETMNT3, 0), off = walk(DA_GETMNT3, RULE("shrink"));
	CU_ASSERT_EQUAL(on.walked, 3);
	CU_ASSERT_EQUAL(off.walked, 3);
	/* ".", m, m/a, m/a/b: with m named, nothing else of "." is read. */
	CU_ASSERT_EQUAL(on.dirs, 4);
	CU_ASSERT_TRUE(off.dirs > 4);
	CU_ASSERT_TRUE(opens(&off) > opens(&on));
	end();
}

/** The place of an entry in the directory, from 1 on. */
static unsigned place_of(const char *name)
{
	unsigned place = 0;
	DIR *stream = opendir(top);
	const struct dirent *entry;
	CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
	while ((entry = readdir(stream))) {
		place += entry->d_name[0] != '.';
		if (strcmp(entry->d_name, name) == 0)
			break;
	}
	CU_ASSERT_PTR_NOT_NULL(entry);
	closedir(stream);
	return place;
}

/** Reading a directory ends at its last mount. */
static void test_middle(void)
{
	BEGIN();
	put("tmpfs", "m");
	struct run alone = walk(DA_GETMNT3, 0);
	end();
	BEGIN();
	dirs("a%d", 30);
	put("tmpfs", "m");
	dirs("z%d", 30);
	unsigned place = place_of("m");
	CU_ASSERT_TRUE(place > 1 && place < 61);
	/* By END_ALL, and without that by END_DIR. */
	for (int end_all = 1; end_all >= 0; --end_all) {
		struct run run = walk(DA_GETMNT3, end_all ? 0 : RULE("end"));
		CU_ASSERT_EQUAL(run.walked, 2);
		CU_ASSERT_EQUAL(run.dirs, 1);
		CU_ASSERT_EQUAL(run.calls[OS_STATX] - alone.calls[OS_STATX], place - 1);
		CU_ASSERT_EQUAL(opens(&run), opens(&alone));
		CU_ASSERT_TRUE(run.calls[OS_GETDENTS] <= alone.calls[OS_GETDENTS]);
	}
	struct run off = walk(DA_GETMNT3, RULE("end") | RULE("shrink") | RULE("nlink"));
	CU_ASSERT_EQUAL(off.calls[OS_STATX] - alone.calls[OS_STATX], 60);
	CU_ASSERT_EQUAL(off.dirs, 61);
	end();
}

static void test_rule_end(void)
{
	BEGIN();
	dirs("d%d/sub", 20);
	put("tmpfs", "m");
	unsigned no_shrink = RULE("shrink") | RULE("nlink");
	struct run on = walk(DA_GETMNT3, no_shrink),
	                off = walk(DA_GETMNT3, no_shrink | RULE("end"));
	CU_ASSERT_EQUAL(on.walked, 2);
	CU_ASSERT_EQUAL(off.walked, 2);
	CU_ASSERT_EQUAL(on.dirs, 1);
	CU_ASSERT_EQUAL(off.dirs, 1 + 20 + 20);
	end();
}

static void test_rule_unreachable(void)
{
	BEGIN();
	dirs("d%d/sub", 20);
	put("tmpfs", "c/m");
	put("tmpfs", "c");
	struct run on = walk(DA_GETMNT3, RULE("nlink")),
	                off = walk(DA_GETMNT3, RULE("nlink") | RULE("unreachable"));
	CU_ASSERT_EQUAL(on.dirs, 1);
	/* All directories are searched for an unreachable mount, then again for files. */
	CU_ASSERT_EQUAL(off.dirs, 2 * (1 + 20 + 20));
	CU_ASSERT_EQUAL(on.hidden, 1);
	CU_ASSERT_EQUAL(off.hidden, 1);
	CU_ASSERT_EQUAL(on.lost + off.lost, 0);
	end();
}

static void test_rule_dtype(void)
{
	BEGIN();
	dir("d");
	for (int i = 0; i < 50; ++i) {
		char name[32];
		snprintf(name, sizeof(name), "d/f%d", i);
		file(name);
	}
	put("tmpfs", "d/x/m");
	struct run on = walk(DA_GETMNT2, 0), off = walk(DA_GETMNT2, RULE("dtype"));
	CU_ASSERT_EQUAL(on.walked, 2);
	CU_ASSERT_EQUAL(off.walked, 2);
	CU_ASSERT_EQUAL(off.calls[OS_STATX] - on.calls[OS_STATX], 50);
	CU_ASSERT_EQUAL(off.dirs, on.dirs);
	end();
}

static void test_rule_nlink(void)
{
	BEGIN();
	dirs("d%d", 30);
	put("tmpfs", "e/m");
	unsigned order = RULE("likely") | RULE("shrink") | RULE("end");
	struct run on = walk(DA_GETMNT3, order), off = walk(DA_GETMNT3, order | RULE("nlink"));
	CU_ASSERT_EQUAL(on.dirs, 2);
	CU_ASSERT_EQUAL(off.dirs, 2 + 30);
	/* openat, getdents64 to the end, close: an empty directory takes one. */
	CU_ASSERT_EQUAL(opens(&off) - opens(&on), 30);
	CU_ASSERT_EQUAL(off.calls[OS_CLOSE] - on.calls[OS_CLOSE], 30);
	CU_ASSERT_TRUE(off.calls[OS_GETDENTS] - on.calls[OS_GETDENTS] >= 30);
	CU_ASSERT_EQUAL(off.calls[OS_STATX], on.calls[OS_STATX]);
	end();
}

static void test_rule_unlooked(void)
{
	BEGIN();
	dirs("d%d/sub", 20);
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	if (!(os.caps & OSC_OPENAT2)) {
		end();
		UNIT_SKIP("no openat2 here");
	}
	struct run on = walk(DA_GETMNT1, 0), off = walk(DA_GETMNT1, RULE("unlooked"));
	CU_ASSERT_EQUAL(on.dirs, 41);
	CU_ASSERT_EQUAL(off.dirs, 41);
	CU_ASSERT_EQUAL(off.calls[OS_STATX] - on.calls[OS_STATX], 40);
	CU_ASSERT_EQUAL(on.calls[OS_OPENAT2], 41);
	end();
}

static void test_rule_pseudo(void)
{
	BEGIN();
	put("proc", "a/proc");
	put("tmpfs", "z/y/x/m");
	char bus[4096];
	snprintf(bus, sizeof(bus), "%s/a/proc/sys/fs", top);
	if (mount("tmpfs", bus, "tmpfs", 0, NULL) != 0) {
		end();
		UNIT_SKIP("nothing to mount on in /proc");
	}
	/* As many directories as z/y/x/m needs, and none for /proc. */
	struct discover_opts opts = walk_opts(DA_GETMNT3);
	opts.prune_off = RULE("likely");
	opts.max_dirs = 5;
	struct run on = discover_top(&opts, NULL);
	opts.prune_off |= RULE("pseudo");
	struct run off = discover_top(&opts, NULL);
	CU_ASSERT_EQUAL(on.walked, 3);
	CU_ASSERT_EQUAL(on.unsearched, 1);
	CU_ASSERT_FALSE(on.complete);
	/* Without the rule one of them was spent on /proc. */
	CU_ASSERT_EQUAL(off.walked, 2);
	CU_ASSERT_EQUAL(off.unsearched, 2);
	end();
}

static void test_rule_likely(void)
{
	BEGIN();
	dirs("d%d/a/b/c", 40);
	/* Deep, and changed last; timestamps are as coarse as a tick. */
	usleep(20000);
	put("tmpfs", "e/a/b/m");
	struct run on = walk(DA_GETMNT3, 0), off = walk(DA_GETMNT3, RULE("likely"));
	CU_ASSERT_EQUAL(on.walked, 2);
	CU_ASSERT_EQUAL(off.walked, 2);
	CU_ASSERT_TRUE(on.dirs * 4 < off.dirs);
	end();
}

static void test_file_mounts(void)
{
	BEGIN();
	dirs("d%d/sub", 5);
	file("d3/resolv.conf");
	file("hosts");
	file("d3/sub/deep");
	bind("hosts", "d3/resolv.conf");
	bind("hosts", "d3/sub/deep");
	for (int a = 0; a < 3; ++a) {
		struct run run = walk((enum discover_algorithm)a, 0);
		CU_ASSERT_EQUAL(run.walked, 3);
		CU_ASSERT_EQUAL(run.ok, 3);
		CU_ASSERT_TRUE(run.complete);
	}
	end();
}

/** By IDs alone, covered mounts and those outside of the root are lost, if the table did not
    change meanwhile. */
static void test_lost(void)
{
	BEGIN();
	put("tmpfs", "a/b");
	put("tmpfs", "a");
	static const char *const disable[] = {NULL, "listmount"};
	for (size_t k = 0; k < sizeof(disable) / sizeof(*disable); ++k) {
		struct discover_opts opts = walk_opts(DA_GETMNT3);
		struct run run = discover_top(&opts, disable[k]);
		CU_ASSERT_EQUAL(run.calls[OS_POLL], 0);
		CU_ASSERT_EQUAL(run.hidden, 1);
		CU_ASSERT_EQUAL(run.lost, 0);
		opts.names = DN_PURE;
		opts.prefix = "/";
		run = discover_top(&opts, disable[k]);
		CU_ASSERT_EQUAL(run.calls[OS_POLL], 1);
		CU_ASSERT_EQUAL(run.unsearched, 0);
		CU_ASSERT_TRUE(run.lost > 1);
		CU_ASSERT_FALSE(run.complete);
		opts.procpath = "/proc/self/none";
		uint64_t lost = run.lost;
		run = discover_top(&opts, disable[k]);
		bool listed = run.calls[OS_LISTMOUNT] > 0;
		CU_ASSERT_EQUAL(run.calls[OS_POLL], 0);
		CU_ASSERT_EQUAL(run.lost, listed ? lost : 0);
		CU_ASSERT_EQUAL(run.unsearched, listed ? 0 : lost);
		CU_ASSERT_FALSE(run.complete);
	}
	end();
}

/** The result does not depend on algorithm, threads and kernel. */
static void test_same_answer(void)
{
	BEGIN();
	dirs("w%d/a/b", 400);
	for (int i = 0; i < 60; ++i) {
		char path[64];
		snprintf(path, sizeof(path), "w%d/a/m%d", i * 5, i);
		put("tmpfs", path);
		snprintf(path, sizeof(path), "w%d/a/m%d/x/n", i * 5, i);
		put("tmpfs", path);
	}
	put("tmpfs", "w1");
	static const char *const disable[] = {NULL, "listmount", "openat2", "listmount,openat2"};
	for (size_t k = 0; k < sizeof(disable) / sizeof(*disable); ++k) {
		for (int a = 0; a < 3; ++a) {
			for (unsigned threads = 1; threads <= 4; threads += 3) {
				struct discover_opts opts = walk_opts((enum discover_algorithm)a);
				opts.threads = threads;
				struct run run = discover_top(&opts, disable[k]);
				CU_ASSERT_EQUAL(run.walked, 122);
				CU_ASSERT_EQUAL(run.ok, 122);
				CU_ASSERT_TRUE(run.complete);
				opts.names = DN_PURE;
				run = discover_top(&opts, disable[k]);
				CU_ASSERT_EQUAL(run.walked, 122);
			}
		}
	}
	/* By device numbers: each tmpfs has its own. */
	struct discover_opts opts = walk_opts(DA_GETMNT3);
	opts.identity = DI_DEV;
	struct run run = discover_top(&opts, NULL);
	CU_ASSERT_EQUAL(run.walked, 122);
	run = discover_top(&opts, "statx-mntid");
	CU_ASSERT_EQUAL(run.walked, 122);
	end();
}

/** The owner of a FUSE mount. */
static void test_owner(void)
{
	static const struct {
		const char *fstype, *options;
		uint32_t owner;
	} rows[] = {
		{"fuse.sshfs", "rw,user_id=1000,group_id=1000", 1000},
		{"fuse", "user_id=0,group_id=0,allow_other", 0},
		{"fuseblk", "rw,user_id=1001", 1001},
		{"fuse", "rw,group_id=5,allow_other", FUSE_USER_UNKNOWN},
		{"fuse", "rw,user_id=,group_id=5", FUSE_USER_UNKNOWN},
		{"fuse", "rw,user_id=10x", FUSE_USER_UNKNOWN},
		{"fuse", "rw,user_id=99999999999999999999", FUSE_USER_UNKNOWN},
		{"fuse", NULL, FUSE_USER_UNKNOWN},
		{"fuse", "rw,context=\"a,user_id=7\",user_id=8", 8},
		{"fusectl", "rw", 0},
		{"ext4", "rw,user_id=1000", 0},
		{NULL, "rw,user_id=1000", 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		CU_ASSERT_EQUAL(fuse_user(rows[i].fstype, rows[i].options), rows[i].owner);
	}
}

static const struct unit_test tests[] = {
	{"owner", test_owner},
	{"calls with good hints", test_hints_calls},
	{"rule leaf", test_rule_leaf},
	{"rule shrink", test_rule_shrink},
	{"the last mount in the middle of a directory", test_middle},
	{"rule end", test_rule_end},
	{"rule unreachable", test_rule_unreachable},
	{"rule dtype", test_rule_dtype},
	{"rule nlink", test_rule_nlink},
	{"rule unlooked", test_rule_unlooked},
	{"rule pseudo", test_rule_pseudo},
	{"rule likely", test_rule_likely},
	{"file mount points", test_file_mounts},
	{"lost", test_lost},
	{"same result every way", test_same_answer},
	{NULL, NULL},
};

const struct unit_suite suite_discover = {"discover", tests};
