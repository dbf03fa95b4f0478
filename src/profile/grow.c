/* SPDX-License-Identifier: MIT */
#include "profile/topology.h"

#include "base/strbuf.h"
#include "profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Tell of the directories that lead to a path, and of it: those that the line before has not made. */
static int tell_way(const struct topology_line *line, const char *before, const struct topology_maker *maker)
{
	struct strbuf path;
	const char *anew = topology_anew(before, line->path);
	int rc = 0;
	strbuf_init(&path);
	for (const char *at = line->path; rc == 0;) {
		at += strspn(at, "/");
		size_t n = strcspn(at, "/");
		if (n == 0)
			break;
		strbuf_putc(&path, '/');
		strbuf_add(&path, at, n);
		at += n;
		if (at > anew || path.failed)
			rc = path.failed ? -1 : maker->dir(maker->arg, strbuf_str(&path), line);
	}
	strbuf_destroy(&path);
	return rc;
}

/** Tell of files in a directory, whose path stands in path. */
static int tell_files(const struct topology_line *line, uint32_t count, struct strbuf *path,
                      const struct topology_maker *maker)
{
	size_t len = path->len;
	int rc = 0;
	for (uint32_t i = 0; i < count && rc == 0; ++i) {
		strbuf_printf(path, "/f%u", i + 1);
		rc = path->failed ? -1 : maker->file(maker->arg, strbuf_str(path), line);
		path->len = len;
	}
	return rc;
}

/** A directory that grows. */
struct twig {
	uint32_t parent, depth, children;
};

/** Append the path of a twig: those above it first. */
static void add_path(struct strbuf *path, const struct twig *twigs, uint32_t i)
{
	uint32_t way[TOPOLOGY_DEPTH];
	unsigned n = 0;
	for (; i && n < TOPOLOGY_DEPTH; i = twigs[i].parent)
		way[n++] = i;
	while (n)
		strbuf_printf(path, "/d%u", way[--n]);
}

/** Tell of the directories of a line.  Those that have room for more are in open. */
static int tell_dirs(const struct topology_line *line, uint64_t seed, const struct topology_maker *maker)
{
	struct twig *twigs = calloc(line->count + 1, sizeof(*twigs));
	uint32_t *open = malloc((line->count + 1) * sizeof(*open));
	uint64_t state = seed ^ (uint64_t)line->number << 32;
	struct strbuf path;
	size_t nopen = 1, root = strcmp(line->path, "/") == 0 ? 0 : strlen(line->path);
	int rc = twigs && open ? 0 : -1;
	strbuf_init(&path);
	strbuf_add(&path, line->path, root);
	if (open)
		open[0] = 0;
	for (uint32_t i = 1; rc == 0 && i <= line->count && nopen; ++i) {
		size_t at = (size_t)profile_random(&state, nopen);
		uint32_t parent = open[at];
		twigs[i] = (struct twig){.parent = parent, .depth = twigs[parent].depth + 1};
		if (++twigs[parent].children == line->fanout)
			open[at] = open[--nopen];
		if (twigs[i].depth < line->depth)
			open[nopen++] = i;
		path.len = root;
		add_path(&path, twigs, i);
		rc = path.failed ? -1 : maker->dir(maker->arg, strbuf_str(&path), line);
		if (rc == 0)
			rc = tell_files(line, line->files, &path, maker);
	}
	strbuf_destroy(&path);
	free(open);
	free(twigs);
	return rc;
}

int topology_grow(const struct topology *topology, const struct topology_maker *maker)
{
	int rc = 0;
	struct strbuf path;
	strbuf_init(&path);
	for (size_t i = 0; i < topology->count && rc == 0; ++i) {
		const struct topology_line *line = &topology->lines[i];
		errno = ENOMEM;
		rc = tell_way(line, i ? line[-1].path : "", maker);
		if (rc)
			break;
		switch (line->verb) {
		case TOPOLOGY_MOUNT:
			rc = maker->mount(maker->arg, line->path, line);
			break;
		case TOPOLOGY_DIRS:
			rc = tell_dirs(line, topology->seed, maker);
			break;
		case TOPOLOGY_FILES:
			strbuf_reset(&path);
			strbuf_puts(&path, strcmp(line->path, "/") == 0 ? "" : line->path);
			rc = tell_files(line, line->count, &path, maker);
			break;
		}
	}
	strbuf_destroy(&path);
	return rc;
}
