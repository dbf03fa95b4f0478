/* SPDX-License-Identifier: MIT */
/*
 * index/walk, index/update: when the root of a file system cannot be read, the index remains as it
 * is, whichever call fails; and what is walked is the open directory, not its path.
 */
#include "unit.h"

#include "fault.h"
#include "index/build/build.h"
#include "index/scan/export.h"
#include "index/follow/update.h"
#include "index/build/walk.h"
#include "base/map64.h"
#include "loop.h"
#include "os/change.h"

#include <linux/fuse.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>

static const char *const names[] = {"/a", "/b", "/h", "/many"};
enum { MANY = 20, ALL = (1 << COUNT(names)) - 1 };

/** Make the tree and the directory of the index. */
static bool begin(int *rootfd, int *dirfd)
{
	bool made = top_begin("size=64m")
	            && top_run("mkdir -p tree/a tree/b/c tree/many other/x ix"
	                       " && touch tree/a/f tree/b/c/g tree/h other/y"
	                       " && cd tree/many && touch $(seq -f long-name-%%g %d)", MANY);
	*rootfd = made ? open(in_top("tree"), O_RDONLY | O_DIRECTORY) : -1;
	*dirfd = made ? open(in_top("ix"), O_RDONLY | O_DIRECTORY) : -1;
	return *rootfd >= 0 && *dirfd >= 0;
}

static void end(int rootfd, int dirfd)
{
	close(rootfd);
	close(dirfd);
	top_end();
}

/** Build.  @return 0, or -1. */
static int build(struct os *os, int rootfd, int dirfd, const char *path, struct walk_counts *counts)
{
	const struct walk_options how = {
		.path = path, .rootfd = rootfd, .threads = 1, .begin = os_time().tv_sec,
	};
	char root[] = "/";
	struct index_info info = {.uuid = "u", .root = root, .fresh = how.begin};
	struct index_build *build = index_build_new(os, dirfd);
	int rc = build ? index_walk(build, os, &how, counts) : -1;
	info.incomplete = rc == 0 && counts->errors > 0;
	if (rc == 0)
		rc = index_build_finish(build, &info, 1);
	if (build)
		index_build_free(build);
	return rc;
}

static int note_name(void *arg, const struct export_object *object)
{
	for (size_t i = 0; i < COUNT(names); ++i) {
		if (strcmp(object->path, names[i]) == 0)
			*(unsigned *)arg |= 1u << i;
	}
	return 0;
}

/** The names in the root of the index: bits. */
static unsigned names_in(struct os *os, int dirfd)
{
	unsigned found = 0;
	struct index *index = index_open(os, dirfd, INDEX_READ);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	CU_ASSERT_EQUAL(index_export(index, note_name, &found), 0);
	index_close(index);
	return found;
}

static const struct {
	int kind, error;
	bool all;                /* also that call and all later ones */
} faults[] = {
	{OS_GETDENTS, EIO, true}, {OS_GETDENTS, EACCES, true}, {OS_OPENAT, EACCES, false},
	{OS_OPENAT, ELOOP, false}, {OS_OPENAT, ESTALE, false}, {OS_OPENAT, EIO, false},
	{OS_STATX, EIO, false}, {OS_STATX, ESTALE, false},
};

UNIT_TEST(build)
{
	FAULT_OR_SKIP();
	struct os os = unit_os();
	struct walk_counts counts = {0};
	int rootfd, dirfd;
	unsigned refused = 0, made = 0;
	CU_ASSERT_FATAL(begin(&rootfd, &dirfd));
	CU_ASSERT_EQUAL(build(&os, rootfd, dirfd, in_top("tree"), &counts), 0);
	CU_ASSERT_EQUAL(names_in(&os, dirfd), ALL);
	for (size_t i = 0; i < COUNT(faults) * 2; ++i) {
		bool on = i % 2;
		struct fault_count count = {.hits = 1};
		if (on && !faults[i / 2].all)
			continue;
		for (uint64_t n = 1; count.hits > 0; ++n) {
			const struct fault fault = {
				on ? FAULT_ON : FAULT_ONCE, faults[i / 2].kind, n,
				faults[i / 2].error, NULL, NULL,
			};
			unit_note("%s %d, call %u", fault_kind_name(fault.kind), fault.error,
			          (unsigned)n);
			fault_begin(&fault, 100000);
			int rc = build(&os, rootfd, dirfd, in_top("tree"), &counts);
			fault_end(&count);
			CU_ASSERT(names_in(&os, dirfd) == ALL);
			/* The last calls are those of removing old files. */
			CU_ASSERT(!on || rc == -1 || count.hits < 2);
			refused += rc != 0 && counts.root_error == fault.error;
			made += rc == 0;
		}
	}
	CU_ASSERT(refused > 10 && made > 10);
	end(rootfd, dirfd);
}

UNIT_TEST(update)
{
	FAULT_OR_SKIP();
	struct os os = unit_os();
	struct walk_counts walked = {0};
	struct map64 none = {0};
	int rootfd, dirfd;
	unsigned refused = 0, made = 0;
	CU_ASSERT_FATAL(begin(&rootfd, &dirfd));
	for (size_t i = 0; i < COUNT(faults) * 2; ++i) {
		bool on = i % 2;
		struct fault_count count = {.hits = 1};
		if (on && !faults[i / 2].all)
			continue;
		for (uint64_t n = 1; count.hits > 0; ++n) {
			const struct fault fault = {
				on ? FAULT_ON : FAULT_ONCE, faults[i / 2].kind, n,
				faults[i / 2].error, NULL, NULL,
			};
			struct refresh_counts counts = {0};
			const struct index_update_opts how = {
				.rootfd = rootfd, .covered = &none, .max_age = 0, .look_age = -1,
			};
			CU_ASSERT_EQUAL(build(&os, rootfd, dirfd, in_top("tree"), &walked), 0);
			struct index *index = index_open(&os, dirfd, INDEX_WRITE);
			CU_ASSERT_PTR_NOT_NULL_FATAL(index);
			unit_note("%s %d, call %u", fault_kind_name(fault.kind), fault.error,
			          (unsigned)n);
			fault_begin(&fault, 100000);
			int rc = index_update(&os, index, NULL, &how, &counts);
			fault_end(&count);
			index_close(index);
			unsigned found = names_in(&os, dirfd);
			/* ESTALE and ELOOP of one name mean that it is no directory any longer. */
			bool may_go = fault.error == ESTALE || fault.error == ELOOP;
			CU_ASSERT(found == ALL || (may_go && counts.dirs_removed == 1));
			CU_ASSERT(rc == -1 || counts.root_error == 0);
			refused += rc != 0 && counts.root_error == fault.error;
			made += rc == 0;
		}
	}
	CU_ASSERT(refused > 5 && made > 10);
	end(rootfd, dirfd);
}

/* Something else is mounted there meanwhile, or the mount was moved. */
UNIT_TEST(path)
{
	struct os os = unit_os();
	struct walk_counts counts = {0};
	int rootfd, dirfd;
	CU_ASSERT_FATAL(begin(&rootfd, &dirfd));
	for (int i = 0; i < 2; ++i) {
		CU_ASSERT_EQUAL(build(&os, rootfd, dirfd, in_top(i ? "other" : "none"), &counts),
		                0);
		CU_ASSERT_EQUAL(names_in(&os, dirfd), ALL);
		CU_ASSERT_EQUAL(counts.objects + counts.dirs, MANY + 3 + 4);
		CU_ASSERT_EQUAL(counts.errors, 0);
	}
	end(rootfd, dirfd);
}

/* A file system with names that are too long for an index, as exFAT has them: 255 characters. */

static const struct long_file {
	uint64_t parent;         /* its node, from 1; node i is element i - 1 */
	char letter;             /* the name: this one, len times */
	size_t len;
	mode_t mode;
} files[] = {
	{0, '/', 1, S_IFDIR | 0755}, {1, 's', 1, S_IFREG | 0644}, {1, 'a', 255, S_IFREG | 0644},
	{1, 'b', 256, S_IFREG | 0644}, {1, 'c', 600, S_IFDIR | 0755}, {5, 'i', 1, S_IFREG | 0644},
	{1, 'd', 1, S_IFDIR | 0755}, {7, 'e', 1000, S_IFREG | 0644}, {7, 'z', 1, S_IFREG | 0644},
};

static struct fuse_attr attr_of(uint64_t node)
{
	return (struct fuse_attr){.ino = node, .mode = files[node - 1].mode, .nlink = 1};
}

/** List a directory from an offset.  @return the number of bytes. */
static size_t list_files(uint64_t node, uint64_t from, char *out)
{
	size_t n = 0;
	for (uint64_t i = from; i < COUNT(files); ++i) {
		struct fuse_dirent head = {
			.ino = i + 1, .off = i + 1, .namelen = (uint32_t)files[i].len,
			.type = files[i].mode >> 12,
		};
		if (files[i].parent != node)
			continue;
		memset(out + n, 0, FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + files[i].len));
		memcpy(out + n, &head, FUSE_NAME_OFFSET);
		memset(out + n + FUSE_NAME_OFFSET, files[i].letter, files[i].len);
		n += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + files[i].len);
	}
	return n;
}

static void *serve_files(void *arg)
{
	const int fd = *(int *)arg;
	static char in[1 << 18], out[1 << 14];
	struct fuse_in_header *head = (struct fuse_in_header *)(void *)in;
	struct fuse_out_header *reply = (struct fuse_out_header *)(void *)out;
	char *to = out + sizeof(*reply), *body = in + sizeof(*head);
	while (read(fd, in, sizeof(in)) > 0) {
		size_t n = 0;
		*reply = (struct fuse_out_header){.unique = head->unique};
		memset(to, 0, 256);
		if (head->opcode == FUSE_INIT) {
			struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 4096};
			memcpy(to, &init, n = sizeof(init));
		} else if (head->opcode == FUSE_GETATTR) {
			struct fuse_attr_out attr = {.attr = attr_of(head->nodeid)};
			memcpy(to, &attr, n = sizeof(attr));
		} else if (head->opcode == FUSE_LOOKUP) {
			struct fuse_entry_out entry = {0};
			for (uint64_t i = 1; i < COUNT(files); ++i) {
				if (files[i].letter == *body && files[i].len == strlen(body))
					entry.nodeid = i + 1;
			}
			if (entry.nodeid)
				entry.attr = attr_of(entry.nodeid);
			reply->error = entry.nodeid ? 0 : -ENOENT;
			memcpy(to, &entry, n = entry.nodeid ? sizeof(entry) : 0);
		} else if (head->opcode == FUSE_OPENDIR) {
			n = sizeof(struct fuse_open_out);
		} else if (head->opcode == FUSE_READDIR) {
			n = list_files(head->nodeid, ((struct fuse_read_in *)(void *)body)->offset,
			               to);
		} else if (head->opcode == FUSE_STATFS) {
			n = sizeof(struct fuse_statfs_out);
		} else if (head->opcode == FUSE_FORGET || head->opcode == FUSE_BATCH_FORGET) {
			continue;
		} else {
			reply->error = head->opcode == FUSE_RELEASEDIR ? 0 : -ENOSYS;
		}
		reply->len = (uint32_t)(sizeof(*reply) + n);
		if (write(fd, out, reply->len) < 0 && errno == ENODEV)
			break;
	}
	return NULL;
}

static int add_long(void *arg, const struct export_object *object)
{
	char text[40];
	snprintf(text, sizeof(text), " %.4s:%zu", object->path, strlen(object->path));
	strbuf_puts(arg, text);
	return 0;
}

/** Objects whose names are too long are left out with all objects below them, and the index is
    incomplete. */
UNIT_TEST(long_names)
{
	struct os os = unit_os();
	struct walk_counts counts = {0};
	struct map64 none = {0};
	int rootfd, dirfd;
	pthread_t thread;
	char data[80];
	CU_ASSERT_FATAL(begin(&rootfd, &dirfd));
	close(rootfd);
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	if (fuse < 0 || mount("long", in_top("tree"), "fuse", 0, data) != 0) {
		end(-1, dirfd);
		UNIT_SKIP("no FUSE here");
	}
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, serve_files, &fuse), 0);
	rootfd = open(in_top("tree"), O_RDONLY | O_DIRECTORY);
	CU_ASSERT_EQUAL(build(&os, rootfd, dirfd, in_top("tree"), &counts), 0);
	CU_ASSERT_EQUAL(counts.errors, 3);
	for (int i = 0; i < 2; ++i) {
		STRBUF(paths);
		STRBUF(why);
		struct refresh_counts changes;
		const struct index_update_opts opts = {
			.rootfd = rootfd, .covered = &none, .max_age = 0, .look_age = -1,
		};
		struct index *index = index_open(&os, dirfd, INDEX_WRITE);
		CU_ASSERT_PTR_NOT_NULL_FATAL(index);
		if (i > 0)
			CU_ASSERT_EQUAL(index_update(&os, index, NULL, &opts, &changes), 0);
		CU_ASSERT(index_info(index)->incomplete);
		CU_ASSERT_EQUAL(index_check(index, &why), 0);
		CU_ASSERT_EQUAL(index_export(index, add_long, &paths), 0);
		CU_ASSERT(strstr(paths.data, " /s:2") && strstr(paths.data, " /aaa:256")
		          && strstr(paths.data, " /d/z:4") && !strstr(paths.data, "/b")
		          && !strstr(paths.data, "/c") && !strstr(paths.data, "/d/e"));
		index_close(index);
	}
	close(rootfd);
	umount2(in_top("tree"), MNT_DETACH);
	pthread_join(thread, NULL);
	close(fuse);
	end(-1, dirfd);
}
