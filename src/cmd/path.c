/* SPDX-License-Identifier: MIT */
/*
 * Following paths without touching file systems that can block (design 2.3).
 *
 * If the kernel resolved a path, a symlink could lead it to a dead server or an automounter.  So
 * paths are resolved here, component by component: the mount of each component is looked up in
 * the table, and the component is only read if neither that mount nor its parents can block.
 * The rest of the path after a component that can block is not resolved.
 */
#include "cmd/view.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "cmd/listing.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** Whether the name of a node leads to this node. */
static bool is_seen(const struct run *run, size_t i)
{
	return run_name(run, i) && !(run->d && run->d->tree.nodes[i].states & 1u << MT_HIDDEN);
}

int path_index(struct run *run)
{
	for (uint32_t i = 0; i < run_count(run); ++i) {
		if (is_seen(run, i) && pathmap_add(&run->places, run_name(run, i), i) != 0)
			return -1;
	}
	run->indexed = true;
	return 0;
}

uint32_t path_mount(const struct run *run, const char *path)
{
	if (run->indexed && *path == '/')
		return pathmap_nearest(&run->places, path);
	uint32_t best = MT_NONE;
	size_t best_len = 0;
	for (size_t i = 0; i < run_count(run); ++i) {
		if (!is_seen(run, i))
			continue;
		size_t len = strlen(run_name(run, i));
		/* The last mount of a stack is on top. */
		if (len >= best_len && word_below(path, run_name(run, i))) {
			best = (uint32_t)i;
			best_len = len;
		}
	}
	return best;
}

enum { FILES_MAX = 4 };      /* levels of images within images */

static bool is_blocked(const struct run *run, uint32_t node, unsigned files);

/** The backing files of a mount. */
struct files_blocked {
	const struct run *run;
	unsigned files;
	bool blocks;
};

static void file_blocked(void *arg, const struct devmap_file *file)
{
	struct files_blocked *blocked = arg;
	bool known = *file->path == '/' && blocked->files < FILES_MAX;
	uint32_t on = known ? path_mount(blocked->run, file->path) : MT_NONE;
	blocked->blocks |= on == MT_NONE || is_blocked(blocked->run, on, blocked->files + 1)
	                   || !discover_loop_here(blocked->run->devs, blocked->run->table,
	                                          file->major, file->minor, AT_FDCWD);
}

/**
 * Whether touching one mount can block, apart from its parents.
 *
 * If discovery has tested the mounts, the type decides.  Otherwise every layered mount but the
 * root counts as blocking, and backing files are looked up by the kernel's names.
 */
static bool mount_blocks(const struct run *run, uint32_t node, unsigned files)
{
	const struct mount *m = run->d->tree.nodes[node].mount;
	unsigned flags = fstype_flags(m->fstype);
	if (flags & FST_BLOCKS)
		return true;
	if (run->judged || node == run->d->root)
		return false;
	if (flags & FST_LAYERED)
		return true;
	if (!run->devs)
		return false;
	if (m->dev_major == 0 && !(flags & FST_SUBVOL))
		return flags & FST_DEVICE;   /* with a backing file: erofs */
	if (devmap_mount_blocks(run->devs, m))
		return true;
	struct files_blocked blocked = {.run = run, .files = files};
	devmap_mount_files(run->devs, m, file_blocked, &blocked);
	return blocked.blocks;
}

/** Whether a mount can block, or a mount that its path leads through. */
static bool is_blocked(const struct run *run, uint32_t node, unsigned files)
{
	const struct mtree *tree = &run->d->tree;
	uint32_t above = MT_NONE;
	for (uint32_t i = node; i != MT_NONE; above = i, i = tree->nodes[i].parent) {
		const struct mt_node *n = &tree->nodes[i];
		if (n->made)
			break;
		/* A path does not lead through the lower mounts of a stack. */
		bool passed = above == MT_NONE || n->top != tree->nodes[above].top;
		if (passed && mount_blocks(run, i, files))
			return true;
		/* No path leads through the parents of the root. */
		if (i == run->d->root)
			break;
	}
	return false;
}

bool node_blocks(void *arg, uint32_t node)
{
	const struct run *run = arg;
	if (is_blocked(run, node, 0))
		return true;
	if (!run->judged)
		return false;
	/* Discovery also considers devices and layers.  It tests every mount that cannot block, so
	   an untested mount can block, even one that a probe found alive.  Without mount IDs it
	   does not test mounts whose device numbers are ambiguous. */
	return discovery_blocks(run->d, node)
	       || (mtree_shown_state(&run->d->tree.nodes[node]) == MT_UNTESTED
	           && !discovery_is_ambiguous(run->d, node));
}

/** A path below the root of the run, as an argument of calls with run->rootfd. */
static const char *path_at(const struct run *run, const char *path)
{
	return run->rootfd == AT_FDCWD ? path : path + strspn(path, "/");
}

int path_look(void *arg, const char *path, unsigned mask, struct k_statx *st)
{
	struct run *run = arg;
	const char *name = path_at(run, path);
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
	if (run->rootfd != AT_FDCWD && !*name)
		flags |= AT_EMPTY_PATH;
	return os_statx(&run->os, run->rootfd, name, flags, mask, st);
}

/** Whether the table's names begin at another root than that of this process. */
static bool root_elsewhere(const struct run *run)
{
	return run->procfd != AT_FDCWD || (run->prefix && strcmp(run->prefix, "/") != 0);
}

bool path_blocks(void *arg, const char *path)
{
	struct run *run = arg;
	errno = EAGAIN;
	/* Without tests, layers and devices are unknown. */
	if (!run->d || !run->judged || root_elsewhere(run))
		return true;
	struct strbuf name = {0};
	uint32_t node = MT_NONE;
	enum host_followed known = path_follow(run, path, &name);
	if (known == HOST_SEEN)
		node = path_mount(run, strbuf_str(&name));
	int error = known == HOST_MISSING ? errno : EAGAIN;
	strbuf_destroy(&name);
	bool blocks = node == MT_NONE || node_blocks(run, node);
	errno = error;
	return blocks;
}

bool loop_blocks(void *arg, const char *path, uint32_t major, uint32_t minor)
{
	struct run *run = arg;
	return path_blocks(run, path)
	       || !discover_loop_here(run->devs, run->table, major, minor, AT_FDCWD);
}

/** Whether the name of the working directory leads to it: if another mount covers the directory,
    names below it belong to that mount. */
static enum host_followed cwd_known(struct run *run, const char *name, int *error)
{
	uint32_t node = path_mount(run, name);
	if (node == MT_NONE || node_blocks(run, node))
		return HOST_UNTOUCHED;
	struct k_statx here, there;
	int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	unsigned mask = (run->table->unique_ids ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID)
	                | K_STATX_INO;
	if (os_statx(&run->os, AT_FDCWD, ".", flags, mask, &here) == 0
	    && os_statx(&run->os, run->rootfd, name, flags, mask, &there) == 0
	    && here.mnt_id == there.mnt_id && here.ino == there.ino
	    && here.dev_major == there.dev_major && here.dev_minor == there.dev_minor)
		return HOST_SEEN;
	*error = ESTALE;
	return HOST_MISSING;
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

/** Find a directory at the start of an absolute path that is known to be resolved.
    @return the length of its name; 0: none. */
static size_t find_plain(const struct run *run, const char *path)
{
	size_t most = 0;
	for (size_t i = 0; run->indexed && *path == '/' && i < RUN_PLAIN && run->plain[i]; ++i) {
		size_t n = strlen(run->plain[i]);
		if (n > most && strncmp(path, run->plain[i], n) == 0 && path[n] == '/')
			most = n;
	}
	return most;
}

/** Remember the directory of a path that was followed without a symlink. */
static void keep_plain(struct run *run, const char *name)
{
	const char *slash = strrchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;
	if (!run->indexed || n == 0)
		return;
	for (size_t i = 0; i < RUN_PLAIN && run->plain[i]; ++i) {
		if (strncmp(run->plain[i], name, n) == 0 && !run->plain[i][n])
			return;
	}
	char **place = &run->plain[run->next_plain++ % RUN_PLAIN];
	free(*place);
	*place = strndup(name, n);
}

/** A path that is followed. */
struct follow {
	struct run *run;
	uint32_t node;         /* the mount of the current component */
	enum host_followed known;
};

/** Stop at a component that can block. */
static int follow_may(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	follow->node = path_mount(follow->run, path_text(walk));
	if (follow->node != MT_NONE && !node_blocks(follow->run, follow->node))
		return 0;
	follow->known = HOST_UNTOUCHED;
	return -1;
}

static ssize_t follow_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	const struct follow *follow = arg;
	struct run *run = follow->run;
	ssize_t n = os_readlinkat(&run->os, run->rootfd, path_at(run, path_text(walk)), target,
	                          PATH_MAX);
	/* A pipe, which has no name: <(command), /dev/stdin. */
	if (n > 6 && memcmp(target, "pipe:[", 6) == 0
	    && strcmp(run->d->tree.nodes[follow->node].mount->fstype, "proc") == 0) {
		errno = EINVAL;
		return -1;
	}
	return n;
}

/** Begin at the working directory if the path is relative.  @return 0, or -1 with errno. */
static int follow_begin(struct follow *follow, struct path_walk *walk, const char *path)
{
	struct run *run = follow->run;
	char cwd[PATH_MAX];
	int error = 0;
	if (path_begin(walk, path) != 0)
		return -1;
	bool relative = *path != '/' && run->rootfd == AT_FDCWD;
	bool named = !relative || (os_getcwd(&run->os, cwd) == 0 && *cwd == '/');
	if (relative && named && cwd[1])
		strbuf_puts(&walk->text, cwd);
	/* Paths below a root that was not opened cannot be followed. */
	bool here = run->rootfd != AT_FDCWD || !root_elsewhere(run);
	follow->known = run->live && run->d && here ? HOST_SEEN : HOST_UNTOUCHED;
	if (follow->known != HOST_SEEN)
		return 0;
	if (!named)
		error = ESTALE;
	else if (*path != '/')
		follow->known = cwd_known(run, path_text(walk), &error);
	else
		strbuf_add(&walk->text, path, walk->at = find_plain(run, path));
	errno = error;
	return error ? -1 : 0;
}

enum host_followed path_follow(void *arg, const char *path, struct strbuf *out)
{
	struct run *run = arg;
	struct path_walk walk;
	struct follow follow = {.run = run};
	const struct path_how how = {.may = follow_may, .link = follow_link, .arg = &follow};
	int rc = follow_begin(&follow, &walk, path);
	if (rc == 0 && follow.known == HOST_SEEN)
		rc = path_resolve(&walk, &how);
	int error = errno;
	if (rc != 0 && follow.known == HOST_SEEN)
		follow.known = HOST_MISSING;
	bool whole = follow.known == HOST_SEEN
	             || (follow.known == HOST_MISSING && error == ENOENT && walk.rest
	                 && path_is_done(&walk));
	/* Append the rest, which was not followed, unchanged. */
	if (walk.rest)
		path_append_rest(&walk);
	strbuf_reset(out);
	strbuf_puts(out, path_text(&walk));
	if (!walk.rest || walk.text.failed || out->failed) {
		error = ENOMEM;
		follow.known = HOST_MISSING;
		run->nomem = true;
	} else if (whole && walk.links == 0 && !walk.up) {
		keep_plain(run, strbuf_str(out));
	}
	path_destroy(&walk);
	if (follow.known == HOST_MISSING)
		errno = error;
	return follow.known;
}
