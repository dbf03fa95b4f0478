/* SPDX-License-Identifier: MIT */
/* The inodes that an update looks at, on file systems that can return all of them. */
#include "unit.h"

#include "loop.h"

#include "index/follow/look.h"
#include "os/inodes.h"
#include "os/change.h"

#include <sys/mount.h>
#include <sys/stat.h>

enum { FILES = 3000, DIRS = 10 };

static struct loop loop = {.fd = -1};

static const char *file(int i)
{
	char name[32];
	/* XFS places directories in different groups. */
	snprintf(name, sizeof(name), "fs/%d/f%d", i % DIRS, i);
	return in_top(name);
}

static bool begin(const char *type)
{
	return top_begin("size=1g") && top_run("mkdir fs && truncate -s 512M img")
	       && top_run("mkfs.%s -q img >log 2>&1", type) && loop_open(&loop, in_top("img"))
	       && mount(loop.path, in_top("fs"), type, 0, NULL) == 0;
}

static void end(void)
{
	umount2(in_top("fs"), MNT_DETACH);
	loop_close(&loop);
	top_end();
}

/** Whether an update would look at a file. */
static bool is_found(const struct look *look, int i)
{
	struct stat st;
	CU_ASSERT_EQUAL(stat(file(i), &st), 0);
	return objects_any_ino(look->inos, look->n, st.st_ino, st.st_ino);
}

/** Find, by an index that was up to date at a time.  @return the number; SIZE_MAX: not possible. */
static size_t find(struct look *look, struct os *os, int fd, const struct index_info *info,
                   int64_t now)
{
	look_destroy(look);
	CU_ASSERT_EQUAL(look_find(look, os, fd, info, now, 0, 3), 0);
	for (size_t i = 1; i < look->n; ++i)
		CU_ASSERT_TRUE_FATAL(look->inos[i - 1] < look->inos[i]);
	return look->is_bulk ? look->n : SIZE_MAX;
}

UNIT_TEST(inodes_that_changed)
{
	if (unit_in_valgrind())
		UNIT_SKIP("valgrind does not know what ioctls of XFS write");
	static const char *const types[] = {"xfs", "btrfs"};
	const int64_t days = 86400;
	for (int row = 0; row < 2; ++row) {
		struct os os, without;
		struct look look = {0};
		os_init(&os, NULL);
		os_init(&without, "bulk");
		if (!begin(types[row])) {
			printf("  %s: not available\n", types[row]);
			end();
			continue;
		}
		CU_ASSERT(top_run("mkdir $(seq -f fs/%%g 0 %d)", DIRS - 1));
		for (int i = 0; i < FILES; ++i) {
			int fd = open(file(i), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
			CU_ASSERT_FATAL(fd >= 0);
			close(fd);
		}
		int fd = open(in_top("fs"), O_RDONLY | O_CLOEXEC);
		int64_t now = os_time().tv_sec;
		struct index_info info = {.looked = now};
		snprintf(info.type, sizeof(info.type), "%s", types[row]);
		CU_ASSERT_EQUAL(find(&look, &os, fd, &info, now), FILES);
		CU_ASSERT_EQUAL(find(&look, &without, fd, &info, now), SIZE_MAX);
		/* On btrfs, only what has changed since is read; in the transaction after. */
		CU_ASSERT_EQUAL(syncfs(fd), 0);
		info.generation = os_inodes_generation(&os, fd, OS_INODES_BTRFS);
		CU_ASSERT_EQUAL(info.generation > 0, row == 1);
		info.generation += row;
		CU_ASSERT_EQUAL(chmod(file(1), 0600), 0);
		uint64_t calls = os.calls[OS_IOCTL];
		size_t n = find(&look, &os, fd, &info, now);
		CU_ASSERT_TRUE(is_found(&look, 1));
		if (row == 1)
			CU_ASSERT_TRUE(n < FILES / 10 && os.calls[OS_IOCTL] - calls < 6);
		/* Nothing has changed since the day after tomorrow. */
		info.looked = now + 2 * days;
		CU_ASSERT_EQUAL(find(&look, &os, fd, &info, now + 3 * days), 0);
		/* All, if the clock was set back, or an older state was restored. */
		CU_ASSERT_EQUAL(find(&look, &os, fd, &info, now), FILES);
		info.generation = UINT64_MAX;
		CU_ASSERT_EQUAL(find(&look, &os, fd, &info, now + 3 * days), FILES);
		look_destroy(&look);
		close(fd);
		end();
	}
}
