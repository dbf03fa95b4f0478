/* SPDX-License-Identifier: MIT */
/*
 * Where a mount leads, what can be delegated, and whether two directories are the same; and a part
 * of a larger search.  tests/system/delegate.py has real mounts.
 */
#include "tree.h"
#include "unit.h"

#include "search/hosts/delegate.h"

#include <dirent.h>

enum { UID = 1000 };

UNIT_TEST(places)
{
	static const struct {
		const char *type, *source, *dir, *opts, *below, *login, *root, *path, *wrong;
	} rows[] = {
		{"fuse.sshfs", "u@h:/d", "/", "rw,user_id=1000,group_id=5", "", "", "ssh://u@h/",
		 "/d", NULL},
		{"fuse.sshfs", "h:/d", "/", "rw,user_id=0", "/x/y", "", "ssh://h/", "/d/x/y", NULL},
		{"fuse.sshfs", "h:/", "/", "rw,user_id=0", "/x", "", "ssh://h/", "/x", NULL},
		{"fuse.sshfs", "h:", "/", "user_id=0", "", "", "ssh://h/", ".", NULL},
		{"fuse.sshfs", "h:", "/", "user_id=0", "/x", "", "ssh://h/", "./x", NULL},
		{"fuse.sshfs", "h:src/", "/", "user_id=0", "/x", "", "ssh://h/", "src/x", NULL},
		{"fuse.sshfs", "h:/d", "/part", "user_id=0", "/x", "", "ssh://h/", "/d/part/x",
		 NULL},
		{"fuse.sshfs", "h:a:b c", "/", "user_id=0", "", "", "ssh://h/", "a:b c", NULL},
		{"fuse.sshfs", "u@[fe80::1]:/d", "/", "user_id=0", "", "", "ssh://u@[fe80::1]/",
		 "/d", NULL},
		{"fuse.sshfs", "[::1]:/d", "/", "user_id=0", "", "", "ssh://[::1]/", "/d", NULL},
		{"fuse.sshfs", "[h]:/d", "/", "user_id=0", "", "", "ssh://h/", "/d", NULL},
		{"fuse.sshfs", "a@b@h:/d", "/", "user_id=0", "", "", "ssh://a@b@h/", "/d", NULL},
		/* NFS does not get here what sshfs does, and the login is not for sshfs. */
		{"fuse.sshfs", "h:/d", "/", "user_id=0", "", "v@w", "ssh://h/", "/d", NULL},
		{"nfs", "srv:/e", "/", "rw", "", "v@w", "ssh://v@w/", "/e", NULL},
		{"nfs4", "[fe80::1%eth0]:/e", "/", "rw", "/x", "w", "ssh://w/", "/e/x", NULL},
		{"nfs4", "srv:/", "/", NULL, "", "[::2]", "ssh://[::2]/", "/", NULL},
		{"nfs4", "srv:/e", "/sub", "rw", "", "w", "ssh://w/", "/e/sub", NULL},
		{"nfs4", "srv:/e", "/", "rw", "", "", .wrong = "--delegate=[USER@]HOST"},
		{"nfs4", "srv:e", "/", "rw", "", "w", .wrong = "names no directory"},
		{"nfs4", "srv", "/", "rw", "", "w", .wrong = "names no server"},
		{"nfs4", "[::1", "/", "rw", "", "w", .wrong = "names no server"},
		{"nfs4", "srv:/e", "/", "rw", "", "v@", .wrong = "names no server"},
		{"nfs4", "srv:/e", "/", "rw", "", "v/w", .wrong = "names no server"},
		{"fuse.sshfs", ":/d", "/", "user_id=0", "", "", .wrong = "names no server"},
		{"fuse.sshfs", "u@:/d", "/", "user_id=0", "", "", .wrong = "names no server"},
		{"fuse.sshfs", "a/b:/d", "/", "user_id=0", "", "", .wrong = "names no server"},
		{"fuse.sshfs", "my-disk", "/", "user_id=0", "", "", .wrong = "names no server"},
		{"fuse.sshfs", NULL, "/", "user_id=0", "", "", .wrong = "names no server"},
		{"fuse.sshfs", "h:/d", "/", "rw,user_id=1001", "", "", .wrong = "another user"},
		{"fuse.sshfs", "h:/d", "/", "rw,user_id=", "", "", .wrong = "another user"},
		{"fuse.sshfs", "h:/d", "/", "rw,user_id=0x", "", "", .wrong = "another user"},
		{"fuse.sshfs", "h:/d", "/", "rw,xuser_id=0", "", "", .wrong = "another user"},
		{"fuse.sshfs", "h:/d", "/", NULL, "", "", .wrong = "another user"},
		{"fuse.sshfs", "h:/d", NULL, "user_id=0", "", "", .wrong = "neither"},
		{"fuse.rclone", "h:/d", "/", "user_id=0", "", "", .wrong = "neither"},
		{"cifs", "//h/d", "/", "rw", "", "w", .wrong = "neither"},
		{NULL, "h:/d", "/", "user_id=0", "", "", .wrong = "neither"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct search_mount m = {
			.type = rows[i].type, .source = rows[i].source, .dir = rows[i].dir,
			.opts = rows[i].opts,
		};
		STRBUF(root);
		STRBUF(path);
		unit_note("%s %s", rows[i].type, rows[i].source);
		const char *wrong = delegate_place(&m, rows[i].below, rows[i].login, UID, &root,
		                                   &path);
		CU_ASSERT_EQUAL_FATAL(wrong != NULL, rows[i].wrong != NULL);
		if (wrong) {
			CU_ASSERT_PTR_NOT_NULL(strstr(wrong, rows[i].wrong));
			continue;
		}
		unit_expect(strbuf_str(&root), rows[i].root);
		unit_expect(strbuf_str(&path), rows[i].path);
	}
	CU_ASSERT_TRUE(delegate_type("nfs") && delegate_type("nfs4")
	&& delegate_type("fuse.sshfs"));
	CU_ASSERT_FALSE(delegate_type("fuse") || delegate_type("nfsd") || delegate_type(NULL));
}

static int nobody(void *arg, bool group, const char *name, uint32_t *id)
{
	(void)arg, (void)group, (void)name;
	*id = 7;
	return 1;
}

static int no_file(void *arg, const char *path, bool follow, struct k_statx *st)
{
	(void)arg, (void)path, (void)follow;
	*st = (struct k_statx){.mask = K_STATX_BASIC};
	return 0;
}

UNIT_TEST(queries)
{
	static const struct {
		const char *query;
		bool fit;
	} rows[] = {
		{"", true}, {"-name x", true}, {"-path '*/a'", true}, {"-regex .*", true},
		{"-type f", true},
		{"-size +1M", true}, {"-mtime -3", true}, {"-newermt 2020-01-01", true},
		{"-user x -group y", true}, {"-perm -4000", true}, {"-mindepth 2 -maxdepth 4",
		 true},
		{"-name a -prune -o -name b", true}, {"-exclude -hidden", true}, {"! -uid 0", true},
		{"-links 2", false}, {"-inum 5", false}, {"-samefile x", false}, {"-ctime 1",
		 false},
		{"-atime 1", false}, {"-newerBt 2020-01-01", false}, {"-used 3", false}, {"-empty",
		 false},
		{"-readable", false}, {"-writable", false}, {"-executable", false}, {"-nouser",
		 false},
		{"-nogroup", false}, {"-lname x", false}, {"-xtype l", false}, {"-fstype nfs",
		 false},
		{"-xdev", false}, {"-mount", false}, {"-depth", false}, {"-unique", false},
		{"-name x -o -inum 5", false},
	};
	struct query_env env = {.owner_id = nobody, .file = no_file, .quiet = true};
	struct search_more more = {0};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct query_error error = {0};
		struct query *query = query_parse_text(rows[i].query, &env, &error);
		unit_note("%s", rows[i].query);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		CU_ASSERT_EQUAL(delegate_unfit(0, &more, query_info(query)) == NULL, rows[i].fit);
		query_free(query);
	}
	CU_ASSERT_PTR_NULL(delegate_unfit(SEARCH_METADATA | SEARCH_XDEV | SEARCH_BYNAME
	                                  | SEARCH_NOCASE | SEARCH_STOPATFIRST, &more, NULL));
	CU_ASSERT_PTR_NOT_NULL(delegate_unfit(SEARCH_FOLLOW, &more, NULL));
	CU_ASSERT_PTR_NOT_NULL(delegate_unfit(SEARCH_X_OK, &more, NULL));
	more.xattrs = true;
	CU_ASSERT_PTR_NOT_NULL(delegate_unfit(0, &more, NULL));
}

/** See a directory with a file; `change` is the number of what differs.  */
static void see(struct delegate_proof *proof, int change, bool nfs)
{
	struct k_statx root = {
		.mask = K_STATX_BASIC, .mode = S_IFDIR | 0755, .uid = 1, .gid = 2, .size = 3,
		.ino = 4,
		.mtime = {5, 6, 0}, .ctime = {7, 8, 0},
	}, file = root;
	file.mode = S_IFREG | 0644;
	struct remote_entry entries[] = {
		{.entry = {.path = "", .st = &root, .type = DT_DIR}},
		{.entry = {.path = "/a", .len = 2, .st = &file, .type = DT_REG}},
	};
	switch (change) {
	case 1: entries[1].entry.path = "/b"; break;
	case 2: file.mode = S_IFREG | 0640; break;
	case 3: ++file.uid; break;
	case 4: ++file.gid; break;
	case 5: ++file.size; break;
	case 6: ++file.mtime.sec; break;
	case 7: ++root.mtime.sec; break;
	case 8: ++root.size; break;
	case 9: entries[1].entry.type = DT_LNK; break;
	/* Only NFS shows these. */
	case 10: ++file.mtime.nsec; break;
	case 11: ++file.ino; break;
	case 12: ++root.ino; break;
	case 13: ++root.ctime.nsec; break;
	case 14: ++root.ctime.sec; break;
	case 15: ++file.nlink; break;    /* nobody compares it */
	default: break;
	}
	delegate_see(proof, &entries[0], nfs);
	if (change >= 0)
		delegate_see(proof, &entries[1], nfs);
	if (change == 16)
		delegate_see(proof, &(struct remote_entry){
			.entry = {.path = "/c", .len = 2, .st = &file, .type = DT_REG},
		}, nfs);
	if (change == 17)
		delegate_see(proof, &(struct remote_entry){
			.entry = {.path = "/c", .len = 2, .err = EACCES,
			.errsource = SEARCH_ERR_STAT},
		}, nfs);
	if (change == 18 || change == 19)
		delegate_see(proof, &(struct remote_entry){
			.entry = {.path = "", .err = change == 18 ? EBUSY : EXDEV,
			.errsource = SEARCH_ERR_OPEN},
		}, nfs);
}

UNIT_TEST(proofs)
{
	for (int nfs = 0; nfs < 2; ++nfs) {
		for (int change = -1; change <= 19; ++change) {
			struct delegate_proof here = {0}, there = {0};
			see(&here, change < 0 ? -1 : 0, nfs);
			see(&there, change, nfs);
			unit_note("%d %d", nfs, change);
			bool same = change == 0 || change == 15 || (change >= 10 && change <= 14
			&& !nfs)
			            || (change < 0 && nfs);
			static const char *const why[] = {
				"of an object in it: Permission denied",
				"something else is mounted on it",
				"NFS shows only the exports below it",
			};
			if (change >= 17)
				unit_expect(strbuf_str(&there.why), why[change - 17]);
			else
				CU_ASSERT_EQUAL(delegate_compare(&here, &there, nfs) == NULL, same);
			delegate_proof_destroy(&here);
			delegate_proof_destroy(&there);
		}
	}
	/* Little is kept of a large directory, and each entry is compared. */
	struct delegate_proof proof = {0}, other = {0};
	for (int i = 0; i < 100000; ++i) {
		for (int side = 0; side < 2; ++side) {
			struct k_statx st = {
				.mask = K_STATX_BASIC, .size = side && i == 99990,
			};
			delegate_see(side ? &other : &proof, &(struct remote_entry){
				.entry = {.path = "/name", .len = 5, .st = &st, .type = DT_REG},
			}, true);
		}
		bool same = !delegate_compare(&proof, &other, true);
		CU_ASSERT_EQUAL_FATAL(same, i < 99990);
	}
	CU_ASSERT_TRUE(proof.text.len < 1000 && proof.entries == 100000);
	delegate_proof_destroy(&other);
	delegate_proof_destroy(&proof);
	delegate_see(&proof, &(struct remote_entry){
		.entry = {.path = "", .err = EHOSTUNREACH, .errsource = SEARCH_ERR_HOST},
		.why = "no route",
	}, false);
	unit_expect(strbuf_str(&proof.why), "no route");
	delegate_proof_destroy(&proof);
}

/* IDs as a server of Debian 12 sends them, tests/vm/nfs_delegate.py; those of the directory are
   f_fsid and the UUID. */
UNIT_TEST(ids)
{
	static const char volumes[] =
		"NV SERVER   PORT DEV          FSID                              FSC\n"
		"v4 7f000001  801 0:37         151b9af35c284593:a1584533c640cf8e no \n"
		"v3 7f000001  801 0:38         1d8a689ac0df43b4:0                no \n"
		"v4 7f000001  801 0:39         79849646d3015590:0                no \n"
		"v3 7f000001  801 0:40         905501d346968479:0                no \n"
		"v4 fe80000000000000bcd4c6fffe2b8a21  801 259:4        5:0       yes\n"
		"v4 7f000001  801 0:41         0:0                               no \n"
		"v4 7f000001  801 0:42         fb504530";
	const uint64_t ext4 = 0x1d8a689ac0df43b4, btrfs = 0xd301559079849646, xfs = 0x70000000703;
	const struct {
		unsigned dev_major, dev_minor;
		uint64_t ids[2];
		const char *wrong;
	} rows[] = {
		{0, 37, {ext4, 0}, NULL}, {0, 37, {0, ext4}, NULL}, {0, 37, {xfs, ext4}, NULL},
		{0, 38, {ext4, 0}, NULL}, {0, 38, {xfs, ext4}, NULL},
		{0, 39, {btrfs, 0x1234}, NULL}, {0, 40, {btrfs, 0x1234}, NULL},
		/* A snapshot; another file system; a number that was chosen. */
		{0, 39, {btrfs + (1ULL << 56), 0x1234}, "another ID"},
		{0, 40, {btrfs + (1ULL << 56), 0x1234}, "another ID"},
		{0, 37, {btrfs, 0}, "another ID"}, {0, 38, {btrfs, btrfs}, "another ID"},
		{0, 37, {xfs, 0}, "another ID"}, {0, 37, {0, 0}, "another ID"},
		{259, 4, {ext4, ext4}, "another ID"}, {0, 41, {0, 0}, "another ID"},
		{0, 3, {ext4, ext4}, "unknown"}, {0, 42, {ext4, ext4}, "unknown"},
		{37, 0, {ext4, ext4}, "unknown"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct delegate_proof here = {.st = {
			.dev_major = rows[i].dev_major, .dev_minor = rows[i].dev_minor,
		}}, there = {.st = {.fs_ids = {rows[i].ids[0], rows[i].ids[1]}}};
		const char *wrong = delegate_compare_fs(volumes, &here, &there);
		unit_note("row %zu: %s", i, wrong ? wrong : "the same");
		CU_ASSERT_EQUAL_FATAL(wrong != NULL, rows[i].wrong != NULL);
		CU_ASSERT_TRUE(!wrong || strstr(wrong, rows[i].wrong));
		CU_ASSERT_PTR_NOT_NULL(delegate_compare_fs("", &here, &there));
	}
}

UNIT_TEST(lists)
{
	static const char exports[] =
		"# Version 1.1\n# Path Client(Flags) # IPs\n"
		"/srv/q\t127.0.0.1(ro,insecure,v4root,uuid=fb504530:76ca5f4f)\n"
		"/\t127.0.0.1(ro,v4root,fsid=0)\n"
		"/srv/q/only/pub\t127.0.0.1(rw,uuid=2e8d4df8:e5404819)\n"
		"/srv/a\\040b\t*(rw,fsid=0)\n"
		"/srv/two\t10.0.0.1(rw)\n/srv/two\t10.0.0.2(ro,v4root)\n"
		"/srv/owt\t10.0.0.2(ro,v4root)\n/srv/owt\t10.0.0.1(rw)\n"
		"/srv/e\t10.0.0.1(rw)";
	static const struct {
		const char *path;
		bool is_list;
	} rows[] = {
		{"/", true}, {"/srv", true}, {"/srv/q", true}, {"/srv/q/only", true},
		{"/srv/q/only/pub", false}, {"/srv/q/only/pub/x", false},
		{"/srv/q/only/pubs", true},
		{"/srv/a b", false}, {"/srv/a b/c", false}, {"/srv/two", true},
		{"/srv/two/x", true},
		{"/srv/owt", true}, {"/srv/e", false}, {"/srv/ex", true},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].path);
		CU_ASSERT_EQUAL(delegate_is_list(exports, rows[i].path), rows[i].is_list);
	}
	CU_ASSERT_FALSE(delegate_is_list("", "/") || delegate_is_list("/srv\t*(ro,v4root)", "/"));
}

/* A part of a larger search. */

static uint32_t chance = 12345;

static uint32_t below(uint32_t n)
{
	chance = chance * 1664525 + 1013904223;
	return (chance >> 8) % n;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** What a search finds below a directory, sorted: its paths from the root of the whole search.
    @part  The directory, below the root, if only it is searched; "": all is searched. */
static char *found(const struct tree *tree, const char *pattern, const char *exclude,
const char *query,
                   const char *part, const char *prefix, int flags)
{
	char path[256], name[256];
	const char *root = path;
	struct query_env env = {.owner_id = nobody, .file = no_file, .quiet = true};
	struct search_options options = {
		.size = sizeof(options), .flags = flags | SEARCH_INCLUDEROOT, .exclude = exclude,
	};
	char *paths[512];
	size_t n = 0;
	snprintf(path, sizeof(path), "%s%s", tree->path, part);
	snprintf(name, sizeof(name), "%s%s", "T", part);
	SEARCH *search = search_open(&root, 1, pattern, &options,
	                             query_parse_text(query, &env, NULL));
	CU_ASSERT_PTR_NOT_NULL_FATAL(search);
	struct search_more more = {.maxdepth = UINT_MAX, .name = *part ? name : "T",
	.name_root = 1};
	search_more(search, &more);
	for (struct searchent *e; (e = getmnt_search_read(search));) {
		CU_ASSERT_EQUAL(e->err, 0);
		size_t len = strlen(prefix);
		if (strncmp(e->path + 1, prefix, len) == 0 && e->path[1 + len] == '/')
			paths[n++] = strdup(e->path);
	}
	getmnt_search_close(search);
	if (n > 0)
		qsort(paths, n, sizeof(*paths), by_text);
	struct strbuf text = {0};
	for (size_t i = 0; i < n; ++i) {
		strbuf_printf(&text, "%s\n", paths[i]);
		free(paths[i]);
	}
	return strbuf_take(&text);
}

/* For random patterns, exclusions and queries: what is found below a directory by searching it as a
   part is what the whole search finds there. */
UNIT_TEST(parts)
{
	static const char *const names[] = {"a", "b", "ab", ".c", "B"};
	static const char *const words[] = {
		"a", "b", "?", "*", "a*", "**", "{a,b}", "{a/b,b}", "[!a]*", "*b", ".*", "{,x/}a",
		"B",
	};
	static const char *const queries[] = {
		"", "-name a", "-path 'T/a/*b'", "-path 'T*' -type d", "-mindepth 2 -maxdepth 3",
		"-maxdepth 4",
		"-name '?' -path 'T/*/*/*' -prune -o -name '*a*'", "-regex '.*/a/.*'",
		"-exclude -path T/a/b/a",
	};
	static const char *const parts[] = {"/a", "/a/b", "/b/a/ab", "/.c/a", "/ab/B"};
	struct tree tree;
	unsigned some = 0;
	tree_begin(&tree);
	for (size_t i = 0; i < COUNT(names); ++i) {
		tree_dir(&tree, "%s", names[i]);
		for (size_t j = 0; j < COUNT(names); ++j) {
			tree_dir(&tree, "%s/%s", names[i], names[j]);
			for (size_t k = 0; k < COUNT(names); ++k) {
				tree_dir(&tree, "%s/%s/%s", names[i], names[j], names[k]);
				tree_file(&tree, "%s/%s/%s/a", names[i], names[j], names[k]);
				tree_file(&tree, "%s/%s/%s/.c", names[i], names[j], names[k]);
			}
		}
	}
	for (int run = 0; run < 1500; ++run) {
		char pattern[200] = "", exclude[100] = "";
		for (uint32_t alternatives = below(2) + 1; alternatives > 0; --alternatives) {
			strcat(pattern, *pattern ? "|" : "");
			strcat(pattern, below(2) ? "/" : "");
			for (uint32_t n = below(4) + 1; n > 0; --n)
				strcat(strcat(pattern, words[below(COUNT(words))]),
				n > 1 ? "/" : "");
		}
		for (uint32_t n = below(3); n > 0; --n)
			strcat(strcat(exclude, words[below(3)]), n > 1 ? "/" : "");
		int flags = (below(4) ? SEARCH_EXTENDED : 0) | (below(4) ? 0 : SEARCH_NOCASE)
		            | (below(4) ? 0 : SEARCH_PERIOD) | (below(4) ? 0 : SEARCH_METADATA);
		const char *part = parts[below(COUNT(parts))],
		*query = queries[below(COUNT(queries))];
		const char *without = *exclude && strcmp(exclude, "?") != 0 ? exclude : NULL;
		unit_note("%s without %s, %s, of %s, flags %x", pattern, exclude, query, part,
		flags);
		char *whole = found(&tree, pattern, without, query, "", part, flags);
		char *same = found(&tree, pattern, without, query, part, part, flags);
		unit_expect(same, whole);
		some += *whole != '\0';
		free(whole);
		free(same);
	}
	CU_ASSERT_TRUE(some > 300);
	tree_end(&tree);
}
