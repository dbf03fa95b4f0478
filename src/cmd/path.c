/* SPDX-License-Identifier: MIT */
#include "cmd/run.h"

#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/** Whether the root of the table differs from the root of this process. */
static bool root_elsewhere(const struct run *run)
{
	return run->procfd != AT_FDCWD || (run->prefix && strcmp(run->prefix, "/") != 0);
}

/** Whether the i-th mount has a name, and the name leads to this mount: the mount is not hidden. */
static bool is_seen(const struct run *run, size_t i)
{
	return run_name(run, i) && !(run->d && run->d->tree.nodes[i].states & 1u << MT_HIDDEN);
}

struct mounts_paths *run_paths(struct run *run)
{
	struct mounts_paths *paths = &run->paths;
	if (run->pathed)
		return paths;
	/* If the root differs from the root of this process and is not open (`here` is false), no
	   path can be followed. */
	bool elsewhere = root_elsewhere(run), here = run->rootfd != AT_FDCWD || !elsewhere;
	*paths = (struct mounts_paths){
		.mounts = run->d ? run->d->mounts : NULL, .rootfd = run->rootfd,
		.sealed = !run->live || !run->d || !here, .elsewhere = elsewhere,
	};
	for (uint32_t i = 0; i < run_count(run); ++i)
		run->nomem |= is_seen(run, i) && mounts_paths_add(paths, run_name(run, i), i) != 0;
	/* If memory ran out, the mount that contains a path may be missing from run->d: follow no
	   path. */
	paths->sealed |= run->nomem;
	run->pathed = true;
	return paths;
}

void run_forget(struct run *run)
{
	mounts_paths_destroy(&run->paths);
	run->pathed = false;
	discovery_free(run->d);
	run->d = NULL;
}

bool run_has_target(const struct run *run, const char *path)
{
	for (size_t i = 0; i < run_count(run); ++i) {
		const char *target = run_name(run, i);
		if (target && strcmp(target, path) == 0)
			return true;
	}
	return false;
}

enum path_followed run_resolve(struct run *run, const char *path, struct strbuf *out)
{
	path_normal(path, out);
	if (out->failed) {
		errno = ENOMEM;
		return PATH_MISSING;
	}
	if (run->opt->nocanonicalize || !run->live || !run->d
	    || (*path == '/' && run_has_target(run, strbuf_str(out))))
		return PATH_UNTOUCHED;
	return mounts_follow(run_paths(run), path, out);
}

bool loop_blocks(void *arg, const char *path, uint32_t major, uint32_t minor)
{
	struct run *run = arg;
	/* Finding out which mounts can block examines devices, which must not happen while a device
	   is examined.  As long as these mounts are unknown, assume that the access can block.
	   With --names=kernel, other options decide whether these mounts are known: always assume
	   that the access can block. */
	return !run->d || run->opt->names == DN_KERNEL || !mounts_are_known(run->d->mounts)
	       || mounts_path_block(run_paths(run), path)
	       || !mounts_loop_here(run->d->mounts, major, minor);
}

const char *path_error(int error)
{
	return error == ESTALE
	               ? "the working directory has no name any more, or another mount covers it"
	       : error == EREMOTE ? "a file system that can block is mounted on it"
	       : error == ENOTSUP ? "it is not a regular file"
	       : error == EILSEQ  ? "it is a binary file with NUL bytes"
	       : error == ETIME   ? "it is a FIFO that nobody writes to" : strerror(error);
}
