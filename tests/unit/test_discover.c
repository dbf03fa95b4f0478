/* SPDX-License-Identifier: MIT */
/* Discovery on real mounts in a mount namespace, and what each pruning rule saves: exact numbers of
   directories and kernel calls. */
#include "unit.h"

#include "cases.h"
#include "loop.h"
#include "mountopts/shown.h"
#include "mounts/paths.h"
#include "discover/discover_impl.h"

#include <dirent.h>
#include <sys/mount.h>

/** The path of a name below the top directory, whose parent directories are made. */
static const char *below(const char *name)
{
	static char buf[2][4096];
	static int turn;
	char *path = buf[turn ^= 1];
	snprintf(path, sizeof(buf[0]), "%s/%s", unit_top, name);
	for (char *p = path + strlen(unit_top) + 1; (p = strchr(p, '/')); ++p) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	return path;
}

static void put(const char *fstype, const char *name)
{
	const char *path = below(name);
	CU_ASSERT_TRUE(mkdir(path, 0755) == 0 || errno == EEXIST);
	CU_ASSERT_EQUAL(mount(fstype, path, fstype, 0, NULL), 0);
}

/** Make what the words of a text name: "t:NAME" a tmpfs, "d:NAME" a directory, "f:NAME" a file;
    "N*d:NAME" makes N of them, with '%' in the name as their number. */
static void build(const char *text)
{
	char words[256], *save = NULL;
	snprintf(words, sizeof(words), "%s", text);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *star = strchr(word, '*'), *at = star ? star + 1 : word;
		long n = star ? strtol(word, NULL, 10) : 1;
		for (long i = 0; i < n; ++i) {
			char name[256], *percent = strchr(at + 2, '%');
			if (percent)
				snprintf(name, sizeof(name), "%.*s%ld%s", (int)(percent - at - 2),
				         at + 2, i, percent + 1);
			else
				snprintf(name, sizeof(name), "%s", at + 2);
			bool made = true;
			if (*at == 't')
				put("tmpfs", name);
			else if (*at == 'd')
				made = mkdir(below(name), 0755) == 0;
			else
				made = mknod(below(name), S_IFREG | 0644, 0) == 0;
			CU_ASSERT_TRUE(made);
		}
	}
}

/** Options to search below the top directory, by one thread. */
static struct discover_opts walk_opts(enum discover_algorithm algorithm)
{
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_WALK;
	opts.algorithm = algorithm;
	opts.prefix = unit_top;
	opts.threads = 1;
	opts.max_dirs = 0;
	opts.max_seconds = 0;
	return opts;
}

struct run {
	uint64_t dirs, calls[OS_NCALLS];
	uint64_t walked, verified, ok, hidden, lost, outside, unsearched;
	bool complete, openat2;
	bool root_known;   /* os_init() found the ID of "/" */
};

static uint64_t opens(const struct run *run)
{
	return run->calls[OS_OPENAT] + run->calls[OS_OPENAT2];
}

/** Run discovery below the top directory.  @return its statistics and calls. */
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
	opts.rootfd = open(unit_top, O_PATH | O_DIRECTORY | O_CLOEXEC);
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
	run.openat2 = os.caps & OSC_OPENAT2;
	run.root_known = table->unique_ids || os.root_old_id != 0 || os.root.mask & K_STATX_MNT_ID;
	/* Every name that was found is that of the kernel. */
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		const struct mt_node *node = &d->tree.nodes[i];
		if (node->named < MT_NAMED_INFERRED || i == d->root)
			continue;
		CU_ASSERT_PTR_NOT_NULL_FATAL(d->targets[i]);
		CU_ASSERT_STRING_EQUAL(d->targets[i], node->mount->point + strlen(unit_top));
	}
	close(opts.rootfd);
	discovery_free(d);
	table_free(table);
	return run;
}

/** The set of the rules in a list. */
static unsigned rule_set(const char *names)
{
	char words[64], *save = NULL;
	unsigned set = 0;
	snprintf(words, sizeof(words), "%s", names);
	for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int rule = 0;
		while (rule < DR_NRULES && strcmp(discover_rules[rule].name, word) != 0)
			++rule;
		CU_ASSERT_TRUE_FATAL(rule < DR_NRULES);
		set |= 1u << rule;
	}
	return set;
}

/** Search.  @off  Rules that are off. */
static struct run walk(enum discover_algorithm algorithm, const char *off)
{
	struct discover_opts opts = walk_opts(algorithm);
	opts.prune_off = rule_set(off);
	return discover_top(&opts, NULL);
}

UNIT_TEST(calls_with_good_hints)
{
	TOP_OR_SKIP();
	build("t:a t:a/b t:c/d/e t:s t:s");
	struct discover_opts opts = walk_opts(DA_GETMNT3);
	opts.names = DN_HINT;
	struct run run = discover_top(&opts, NULL);
	/* The root of the run, a, a/b, c/d/e and s carry mounts. */
	CU_ASSERT_EQUAL(run.calls[OS_STATX], run.root_known ? 5 : 6);
	CU_ASSERT_EQUAL(opens(&run) + run.calls[OS_GETDENTS], 0);
	CU_ASSERT_EQUAL(run.verified, 5);
	CU_ASSERT_EQUAL(run.ok, 5);
	CU_ASSERT_EQUAL(run.hidden, 1);
	CU_ASSERT_TRUE(run.complete);
	top_end();
}

/** The directories that are read and the additional calls without a rule. */
UNIT_TEST(rules)
{
	static const struct {
		const char *tree;
		enum discover_algorithm algorithm;
		const char *on, *off;   /* rules that are off in both runs */
		unsigned walked, hidden, dirs_on, dirs_off;
		int statx, opens;       /* more without the rule */
	} rows[] = {
		/* "." and z; without the rule also m, its 10 directories, and k.  Entering a mount:
		   openat2 with O_PATH, statx, close; a directory: openat2, getdents64, close. */
		{"t:m 10*d:m/d% t:z/k", DA_GETMNT2, "", "leaf,unlooked", 3, 0, 2, 14, 12, 14},
		{"20*d:d%/sub t:m", DA_GETMNT3, "shrink,nlink", "shrink,nlink,end", 2, 0, 1, 41,
		 -1, -1},
		/* All directories are searched for an unreachable mount, then again for files. */
		{"20*d:d%/sub t:c/m t:c", DA_GETMNT3, "nlink", "nlink,unreachable", 2, 1, 1, 82,
		 -1, -1},
		{"50*f:d/f% t:d/x/m", DA_GETMNT2, "", "dtype", 2, 0, 3, 3, 50, 0},
		{"30*d:d% t:e/m", DA_GETMNT3, "likely,shrink,end", "likely,shrink,end,nlink", 2, 0,
		 2, 32, 0, 30},
		{"20*d:d%/sub", DA_GETMNT1, "", "unlooked", 1, 0, 41, 41, 40, 0},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		TOP_OR_SKIP();
		build(rows[i].tree);
		struct run on = walk(rows[i].algorithm, rows[i].on);
		struct run off = walk(rows[i].algorithm, rows[i].off);
		top_end();
		if (strstr(rows[i].off, "unlooked") && !on.openat2)
			continue;
		int statx = (int)(off.calls[OS_STATX] - on.calls[OS_STATX]);
		int more = (int)(opens(&off) - opens(&on));
		bool right = on.walked == rows[i].walked && off.walked == rows[i].walked
		             && on.hidden == rows[i].hidden && off.hidden == rows[i].hidden
		             && on.dirs == rows[i].dirs_on && off.dirs == rows[i].dirs_off
		             && on.lost + off.lost == 0
		             && (rows[i].statx < 0 || statx == rows[i].statx)
		             && (rows[i].opens < 0
		                 || (more == rows[i].opens
		                     && off.calls[OS_CLOSE] == on.calls[OS_CLOSE]
		                                               + (unsigned)more));
		if (!right)
			printf("  without %s: %llu, %llu directories, %d statx, %d opens\n",
			       rows[i].off, (unsigned long long)on.dirs,
			       (unsigned long long)off.dirs, statx, more);
		CU_ASSERT_TRUE(right);
	}
}

/** ".", m, m/a, m/a/b: with m named, nothing else of "." is read. */
UNIT_TEST(rule_shrink)
{
	TOP_OR_SKIP();
	build("t:m t:m/a/b/k 20*d:d%/sub");
	struct run on = walk(DA_GETMNT3, ""), off = walk(DA_GETMNT3, "shrink");
	CU_ASSERT_EQUAL(on.walked, 3);
	CU_ASSERT_EQUAL(off.walked, 3);
	CU_ASSERT_EQUAL(on.dirs, 4);
	CU_ASSERT_TRUE(off.dirs > 4);
	CU_ASSERT_TRUE(opens(&off) > opens(&on));
	top_end();
}

/** The place of an entry in the directory, from 1 on. */
static unsigned place_of(const char *name)
{
	unsigned place = 0;
	DIR *stream = opendir(unit_top);
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
UNIT_TEST(the_last_mount_in_the_middle_of_a_directory)
{
	TOP_OR_SKIP();
	build("t:m");
	struct run alone = walk(DA_GETMNT3, "");
	top_end();
	TOP_OR_SKIP();
	build("30*d:a% t:m 30*d:z%");
	unsigned place = place_of("m");
	CU_ASSERT_TRUE(place > 1 && place < 61);
	/* By END_ALL, and without that by END_DIR. */
	for (int end_all = 1; end_all >= 0; --end_all) {
		struct run run = walk(DA_GETMNT3, end_all ? "" : "end");
		CU_ASSERT_EQUAL(run.walked, 2);
		CU_ASSERT_EQUAL(run.dirs, 1);
		CU_ASSERT_EQUAL(run.calls[OS_STATX] - alone.calls[OS_STATX], place - 1);
		CU_ASSERT_EQUAL(opens(&run), opens(&alone));
		CU_ASSERT_TRUE(run.calls[OS_GETDENTS] <= alone.calls[OS_GETDENTS]);
	}
	struct run off = walk(DA_GETMNT3, "end,shrink,nlink");
	CU_ASSERT_EQUAL(off.calls[OS_STATX] - alone.calls[OS_STATX], 60);
	CU_ASSERT_EQUAL(off.dirs, 61);
	top_end();
}

UNIT_TEST(rule_pseudo)
{
	TOP_OR_SKIP();
	put("proc", "a/proc");
	build("t:z/y/x/m");
	if (mount("tmpfs", below("a/proc/sys/fs"), "tmpfs", 0, NULL) != 0) {
		top_end();
		UNIT_SKIP("nothing to mount on in /proc");
	}
	/* As many directories as z/y/x/m needs, and none for /proc. */
	struct discover_opts opts = walk_opts(DA_GETMNT3);
	opts.prune_off = rule_set("likely");
	opts.max_dirs = 5;
	struct run on = discover_top(&opts, NULL);
	opts.prune_off = rule_set("likely,pseudo");
	struct run off = discover_top(&opts, NULL);
	CU_ASSERT_EQUAL(on.walked, 3);
	CU_ASSERT_EQUAL(on.unsearched, 1);
	CU_ASSERT_FALSE(on.complete);
	/* Without the rule one of them was spent on /proc. */
	CU_ASSERT_EQUAL(off.walked, 2);
	CU_ASSERT_EQUAL(off.unsearched, 2);
	top_end();
}

UNIT_TEST(rule_likely)
{
	TOP_OR_SKIP();
	build("40*d:d%/a/b/c");
	/* Deep, and changed last; timestamps are as coarse as a tick. */
	usleep(20000);
	build("t:e/a/b/m");
	struct run on = walk(DA_GETMNT3, ""), off = walk(DA_GETMNT3, "likely");
	CU_ASSERT_EQUAL(on.walked, 2);
	CU_ASSERT_EQUAL(off.walked, 2);
	CU_ASSERT_TRUE(on.dirs * 4 < off.dirs);
	top_end();
}

/** By IDs alone, covered mounts and those outside of the root are lost, if the table did not
    change meanwhile. */
UNIT_TEST(lost)
{
	TOP_OR_SKIP();
	build("t:a/b t:a");
	static const char *const disable[] = {NULL, "listmount"};
	for (size_t k = 0; k < COUNT(disable); ++k) {
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
	top_end();
}

/** The result does not depend on algorithm, threads and kernel. */
UNIT_TEST(same_result_every_way)
{
	TOP_OR_SKIP();
	build("400*d:w%/a/b 60*t:w%/a/m 60*t:w%/a/m/x/n t:w100");
	static const char *const disable[] = {NULL, "listmount", "openat2", "listmount,openat2"};
	for (size_t k = 0; k < COUNT(disable); ++k) {
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
	top_end();
}

/** Another tree of the same table adopts which mounts can block, also through a path. */
UNIT_TEST(results_are_adopted)
{
	struct discovery *d = unit_discover(
		"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
		"2 1 0:40 / /far rw - nfs4 srv:/ rw\n"
		"3 1 0:41 / /near rw - tmpfs t rw\n"
		"4 1 0:42 / /merged rw - overlay o rw,lowerdir=/far/a:/near/b\n"
		"5 4 0:43 / /merged/in rw - tmpfs t rw\n");
	static const bool blocks[] = {false, true, false, true, true};
	struct os os = {.statx_works = true};
	d->mounts->os = &os;
	struct mounts other = {
		.table = d->table, .tree = d->mounts->tree, .root = d->mounts->root,
		.rootfd = d->mounts->rootfd, .prefix = "/",
	};
	CU_ASSERT_EQUAL(mounts_find_blocking(d->mounts), 0);
	mounts_adopt(&other, d->mounts);
	CU_ASSERT(mounts_are_known(&other) && !mounts_are_known(d->mounts));
	for (uint32_t i = 0; i < COUNT(blocks); ++i)
		CU_ASSERT_EQUAL(mounts_block(&other, i), blocks[i]);
	CU_ASSERT(other.ndependencies > 0 && other.dependencies_room >= other.ndependencies);
	mounts_destroy(&other);
	unit_discovery_free(d);
}

/** If "/" can block, only the types of the mounts below it count for its files. */
UNIT_TEST(files_of_a_root_that_can_block)
{
	static const char *const roots[] = {
		"8:1 / / rw - ext4 /dev/sda1", "0:9 / / rw - nfs4 srv:/",
	};
	struct os os = {.statx_works = true};
	for (size_t i = 0; i < COUNT(roots); ++i) {
		STRBUF(text);
		strbuf_printf(&text, "1 0 %s rw\n2 1 0:40 / /run rw - tmpfs t rw\n"
		              "3 1 0:41 / /far rw - nfs4 srv:/far rw\n", roots[i]);
		struct discovery *d = unit_discover(strbuf_str(&text));
		d->mounts->os = &os;
		d->mounts->root = mtree_find(&d->tree, 1);
		CU_ASSERT_EQUAL(mounts_find_blocking(d->mounts), 0);
		struct mounts_paths paths = {
			.mounts = d->mounts, .rootfd = AT_FDCWD, .sealed = true,
		};
		CU_ASSERT(mounts_paths_add(&paths, "/", mtree_find(&d->tree, 1)) == 0
		          && mounts_paths_add(&paths, "/run", mtree_find(&d->tree, 2)) == 0
		          && mounts_paths_add(&paths, "/far", mtree_find(&d->tree, 3)) == 0);
		CU_ASSERT_FALSE(mounts_name_block(&paths, "/run/mount"));
		CU_ASSERT_FALSE(mounts_name_block(&paths, "/etc/fstab"));
		CU_ASSERT_TRUE(mounts_name_block(&paths, "/far/x"));
		/* A path that cannot be followed blocks, unless the root does. */
		CU_ASSERT_EQUAL(mounts_file_block(&paths, "/run/mount"), i == 0);
		CU_ASSERT_TRUE(mounts_file_block(&paths, "/far/x"));
		/* Nothing below a directory that can block is touched, not even the directory. */
		paths.sealed = false;
		STRBUF(place);
		CU_ASSERT_EQUAL(mounts_follow_below(&paths, "/far", "/", &place), PATH_UNTOUCHED);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&place), "/far");
		CU_ASSERT_EQUAL(mounts_follow_below(&paths, "/far", "/../x", &place),
		                PATH_UNTOUCHED);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&place), "/far/x");
		/* Below another root, the paths have no prefix. */
		d->mounts->prefix = "/srv";
		CU_ASSERT_FALSE(mounts_name_block(&paths, "/srv"));
		CU_ASSERT_FALSE(mounts_name_block(&paths, "/srvrun"));
		CU_ASSERT(i != 0 || mounts_name_block(&paths, "/srv/far/x"));
		mounts_paths_destroy(&paths);
		unit_discovery_free(d);
	}
	CU_ASSERT_EQUAL(os_calls_total(&os), 0);
}

/** The owner of a FUSE mount. */
UNIT_TEST(owner)
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
	for (size_t i = 0; i < COUNT(rows); ++i) {
		CU_ASSERT_EQUAL(fuse_user(rows[i].fstype, rows[i].options), rows[i].owner);
	}
}
