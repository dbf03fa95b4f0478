/* SPDX-License-Identifier: MIT */
#include "mounts/paths.h"

#include "base/fail.h"
#include "base/words.h"
#include "path/resolve.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>

void mounts_paths_destroy(struct mounts_paths *paths)
{
	pathmap_destroy(&paths->points);
	intern_destroy(&paths->plain);
}

int mounts_paths_add(struct mounts_paths *paths, const char *name, uint32_t node)
{
	assert(node != MT_NONE);
	return pathmap_add(&paths->points, name, node);
}

uint32_t mounts_holding(const struct mounts_paths *paths, const char *path)
{
	return pathmap_nearest(&paths->points, path);
}

/** A path below the root, as an argument of calls with the descriptor of the root. */
static const char *name_at(const struct mounts_paths *paths, const char *path)
{
	return paths->rootfd == AT_FDCWD ? path : path + strspn(path, "/");
}

/** A path that is followed. */
struct follow {
	struct mounts_paths *paths;
	uint32_t node;               /* the mount of the current component */
	enum path_followed followed;
};

/** Whether the mount that holds a path can block, or is unknown.  @node [out]  The mount. */
static bool is_blocked(struct mounts_paths *paths, const char *path, uint32_t *node)
{
	*node = mounts_holding(paths, path);
	return *node == MT_NONE || mounts_block(paths->mounts, *node);
}

/** Stop at a component that can block. */
static int follow_may(void *arg, struct path_walk *walk)
{
	struct follow *follow = arg;
	if (!is_blocked(follow->paths, path_text(walk), &follow->node))
		return 0;
	follow->followed = PATH_UNTOUCHED;
	return -1;
}

static ssize_t follow_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	const struct follow *follow = arg;
	struct mounts_paths *paths = follow->paths;
	const char *path = path_text(walk);
	uint32_t number;
	errno = EINVAL;
	if (intern_find(&paths->plain, path, strlen(path)) != INTERN_NONE)
		return -1;
	ssize_t n = os_readlinkat(paths->mounts->os, paths->rootfd, name_at(paths, path), target,
	                          PATH_MAX);
	/* A pipe, which has no name: <(command), /dev/stdin. */
	const struct mount *m = paths->mounts->tree->nodes[follow->node].mount;
	bool pipe = n > 6 && memcmp(target, "pipe:[", 6) == 0 && m->fstype
	            && strcmp(m->fstype, "proc") == 0;
	/* What may not be read may not be followed by this process either. */
	bool plain = n < 0 && (errno == EINVAL || (errno == EACCES && paths->blind));
	if (plain)
		/* If memory runs out, it will be read again. */
		intern_put(&paths->plain, path, strlen(path), &number);
	if (!plain && !pipe)
		return n;
	return fail(EINVAL);
}

/** Whether the name of the working directory leads to it: if another mount covers the directory,
    names below it belong to that mount. */
static enum path_followed cwd_followed(struct mounts_paths *paths, const char *name)
{
	struct mounts *mounts = paths->mounts;
	uint32_t node;
	if (is_blocked(paths, name, &node))
		return PATH_UNTOUCHED;
	struct k_statx here, there;
	int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	unsigned mask = (mounts->table->unique_ids ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID)
	                | K_STATX_INO;
	if (os_statx(mounts->os, AT_FDCWD, ".", flags, mask, &here) == 0
	    && os_statx(mounts->os, paths->rootfd, name, flags, mask, &there) == 0
	    && here.mnt_id == there.mnt_id && here.ino == there.ino
	    && here.dev_major == there.dev_major && here.dev_minor == there.dev_minor)
		return PATH_SEEN;
	errno = ESTALE;
	return PATH_MISSING;
}

/** Begin at the working directory if the path is relative. */
static enum path_followed follow_begin(struct mounts_paths *paths, struct path_walk *walk,
                                       const char *path)
{
	char cwd[PATH_MAX];
	if (path_begin(walk, path) != 0)
		return PATH_MISSING;
	bool relative = *path != '/' && paths->rootfd == AT_FDCWD;
	bool named = !relative || (os_getcwd(paths->mounts->os, cwd) == 0 && *cwd == '/');
	if (relative && named && cwd[1])
		strbuf_puts(&walk->text, cwd);
	if (paths->sealed || (named && *path == '/'))
		return paths->sealed ? PATH_UNTOUCHED : PATH_SEEN;
	if (named)
		return cwd_followed(paths, path_text(walk));
	errno = ESTALE;
	return PATH_MISSING;
}

enum path_followed mounts_follow(struct mounts_paths *paths, const char *path, struct strbuf *out)
{
	return mounts_follow_below(paths, "", path, out);
}

enum path_followed mounts_follow_below(struct mounts_paths *paths, const char *root,
                                       const char *path, struct strbuf *out)
{
	assert(!*root || (*root == '/' && *path == '/'));
	struct path_walk walk;
	struct follow follow = {.paths = paths, .node = MT_NONE};
	const struct path_how how = {.may = follow_may, .link = follow_link, .arg = &follow};
	follow.followed = follow_begin(paths, &walk, path);
	strbuf_puts(&walk.text, root);
	walk.root = strlen(root);
	if (*root && follow.followed == PATH_SEEN && is_blocked(paths, root, &follow.node))
		follow.followed = PATH_UNTOUCHED;
	if (follow.followed == PATH_SEEN && path_resolve(&walk, &how) != 0
	    && follow.followed == PATH_SEEN)
		follow.followed = PATH_MISSING;
	int error = errno;
	/* Append the rest, which was not followed, unchanged. */
	if (walk.rest)
		path_append_rest(&walk);
	strbuf_reset(out);
	strbuf_puts(out, path_text(&walk));
	if (!walk.rest || walk.text.failed || out->failed) {
		error = ENOMEM;
		follow.followed = PATH_MISSING;
		paths->failed = true;
	}
	path_destroy(&walk);
	paths->reached = follow.node;
	if (follow.followed == PATH_MISSING)
		errno = error;
	return follow.followed;
}

int mounts_look(struct mounts_paths *paths, const char *path, unsigned mask, struct k_statx *st)
{
	const char *name = name_at(paths, path);
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
	if (paths->rootfd != AT_FDCWD && !*name)
		flags |= AT_EMPTY_PATH;
	return os_statx(paths->mounts->os, paths->rootfd, name, flags, mask, st);
}

bool mounts_path_block(struct mounts_paths *paths, const char *path)
{
	errno = EAGAIN;
	if (paths->sealed || paths->elsewhere)
		return true;
	struct strbuf name = {0};
	uint32_t node = MT_NONE;
	enum path_followed followed = mounts_follow(paths, path, &name);
	int error = followed == PATH_MISSING ? errno : EAGAIN;
	if (followed == PATH_SEEN)
		node = mounts_holding(paths, strbuf_str(&name));
	strbuf_destroy(&name);
	bool blocks = node == MT_NONE || mounts_block(paths->mounts, node);
	errno = error;
	return blocks;
}

/** Whether the root of the mounts can block; true if the root is unknown. */
static bool root_blocks(const struct mounts_paths *paths)
{
	struct mounts *m = paths->mounts;
	return m->root == MT_NONE || mounts_block(m, m->root);
}

bool mounts_name_block(void *arg, const char *path)
{
	const struct mounts_paths *paths = arg;
	struct mounts *m = paths->mounts;
	const char *name = word_below(path, m->prefix);
	uint32_t node = MT_NONE;
	if (name && !root_blocks(paths))
		node = mounts_holding(paths, *name ? name : "/");
	return node != MT_NONE ? mounts_block(m, node) : mounts_type_blocks(m->table, path);
}

bool mounts_file_block(struct mounts_paths *paths, const char *path)
{
	return root_blocks(paths) ? mounts_name_block(paths, path) : mounts_path_block(paths, path);
}
