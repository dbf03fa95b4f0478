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
