/* SPDX-License-Identifier: MIT */
/*
 * A topology.  The input is its text.
 *
 * What is refused has a line that there is, and a reason; what is taken is within the
 * bounds, and all that it makes is told with an absolute path that does not lead up,
 * a directory before what is in it, as many as were asked for, and no more than were counted.
 */
#include "lib/fuzz.h"

#include "profile/topology.h"

#include <limits.h>
#include <string.h>

/** What was told. */
struct told {
	uint64_t mounts, dirs, files;
};

/** See that a path leads down from the root alone. */
static void check_path(const char *path)
{
	FUZZ_CHECK(path[0] == '/' && strlen(path) < PATH_MAX);
	for (const char *at = path; *at;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		FUZZ_CHECK(n <= 255 && !(n == 1 && at[0] == '.') && !(n == 2 && at[0] == '.' && at[1] == '.'));
		at += n;
	}
}

static int tell_mount(void *arg, const char *path, const struct topology_line *line)
{
	check_path(path);
	FUZZ_CHECK(line->verb == TOPOLOGY_MOUNT && path[strspn(path, "/")]);
	++((struct told *)arg)->mounts;
	return 0;
}

static int tell_dir(void *arg, const char *path, const struct topology_line *line)
{
	check_path(path);
	FUZZ_CHECK(line->number > 0);
	++((struct told *)arg)->dirs;
	return 0;
}

static int tell_file(void *arg, const char *path, const struct topology_line *line)
{
	check_path(path);
	FUZZ_CHECK(line->verb != TOPOLOGY_MOUNT);
	++((struct told *)arg)->files;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { GROWN = 3000 };
	uint64_t lines = 1;
	for (size_t i = 0; i < size; ++i)
		lines += data[i] == '\n';
	struct topology *t = topology_parse((const char *)data, size);
	FUZZ_CHECK(t);
	FUZZ_CHECK(t->bad_line <= lines && (t->bad_line > 0) == (t->why[0] != '\0'));
	if (t->bad_line == 0) {
		struct told told = {0};
		struct topology_maker maker = {tell_mount, tell_dir, tell_file, &told};
		FUZZ_CHECK(t->mounts > 0 && t->mounts <= TOPOLOGY_MOUNTS && t->dirs + t->files + t->way <= TOPOLOGY_INODES);
		if (t->mounts + t->dirs + t->files + t->way <= GROWN) {
			FUZZ_CHECK(topology_grow(t, &maker) == 0);
			/* Directories on the way are told as well. */
			FUZZ_CHECK(told.mounts == t->mounts && told.files == t->files && told.dirs == t->dirs + t->way);
		}
	}
	topology_free(t);
	return 0;
}
