/* SPDX-License-Identifier: MIT */
/*
 * Finds the mount that contains a path or the root, and whether a mount on the path can block.
 *
 * The path of an overlay's layer or of a loop device's file is the one passed to mount(2), possibly
 * with symlinks (docker's "l/XYZ").  So it is resolved here: each component is looked up in the
 * table, and read as a symlink only if no mount on the path blocks.  Components that are not
 * symlinks are cached, so that a thousand layers in one directory cost one or two readlink calls
 * each.
 */
#include "discover/discover_impl.h"

#include "base/words.h"
#include "path/resolve.h"

#include <fcntl.h>
#include <stdlib.h>

int dsc_paths_init(struct dsc_paths *paths, struct dsc *dsc)
{
	const struct mtree *tree = dsc->tree;
	struct mtree own = {0};
	*paths = (struct dsc_paths){.dsc = dsc};
	int rc = 0;
	/* With --names=pure it is unknown which mounts are covered. */
	if (dsc->opts->names == DN_PURE && strcmp(dsc->opts->prefix, "/") == 0) {
		uint32_t root = dsc->d->root;
		uint64_t key = root == MT_NONE ? 0 : tree->nodes[root].mount->key;
		tree = &own;
		rc = mtree_init(&own, dsc->table->mounts, dsc->table->count, key);
		rc = rc == 0 ? mtree_judge(&own, root, "/") : rc;
	}
	for (uint32_t i = 0; rc == 0 && i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		const char *point = node->mount->point;
		/* Only visible mounts: the top of a stack. */
		if (point && node->top == i && !node->place_hidden)
			rc = pathmap_add(&paths->points, point, i);
	}
	mtree_destroy(&own);
	return rc;
}

void dsc_paths_destroy(struct dsc_paths *paths)
{
	pathmap_destroy(&paths->points);
	intern_destroy(&paths->plain);
}

/** The state of following a path. */
struct leads {
	struct dsc_paths *paths;
	uint32_t *in;
	enum dsc_leads result;    /* the result if following stops before the end of the path */
};

/** Stop before a mount that blocks, or may block. */
static int leads_may(void *arg, struct path_walk *walk)
{
	struct leads *leads = arg;
	const struct dsc *dsc = leads->paths->dsc;
	uint32_t in = *leads->in = pathmap_nearest(&leads->paths->points,
	                                          path_text(walk));
	if (in == MT_NONE || dsc->flags[in] & (DF_BLOCKS | DF_BEHIND))
		return -1;
	if (!(dsc->flags[in] & (DF_UNSURE | DF_UNSURE_BEHIND)))
		return 0;
	leads->result = LEADS_UNSURE;
	return -1;
}

static ssize_t leads_link(void *arg, struct path_walk *walk, char target[PATH_MAX])
{
	struct dsc_paths *paths = ((struct leads *)arg)->paths;
	struct dsc *dsc = paths->dsc;
	const char *path = path_text(walk);
	uint32_t number;
	errno = EINVAL;
	if (intern_find(&paths->plain, path, strlen(path)) != INTERN_NONE)
		return -1;
	errno = ENAMETOOLONG;
	if (walk->text.len >= PATH_MAX)
		return -1;
	/* With --root, mount points are still relative to our own root. */
	bool own = dsc->rootfd == AT_FDCWD || strcmp(dsc->opts->prefix, "/") != 0;
	const char *name = own ? path : path + strspn(path, "/");
	ssize_t n = os_readlinkat(dsc->os, own ? AT_FDCWD : dsc->rootfd, name, target, PATH_MAX);
	/* EACCES: if we may not read it, we may not follow it either. */
	if (n < 0 && (errno == EINVAL || errno == EACCES)) {
		/* If memory runs out, it will be read again. */
		intern_put(&paths->plain, path, strlen(path), &number);
		errno = EINVAL;
	}
	return n;
}

enum dsc_leads dsc_path_leads(struct dsc_paths *paths, const char *path, uint32_t *in)
{
	struct path_walk walk;
	struct leads leads = {.paths = paths, .in = in, .result = LEADS_BLOCKED};
	const struct path_how how = {.may = leads_may, .link = leads_link, .arg = &leads};
	*in = MT_NONE;
	if (path_begin(&walk, path) == 0 && path_resolve(&walk, &how) == 0)
		leads.result = LEADS_CLEAR;
	paths->failed |= !walk.rest || walk.text.failed;
	path_destroy(&walk);
	return leads.result;
}

/* The root. */

/** Examine a root directory.
    @rootfd  The directory; AT_FDCWD: the root of the process.
    @st [out]  Type, link count and mount ID.
    @return 0, or -1.  Errors: those of statx(2). */
static int dsc_look_at_root(struct dsc *dsc, int rootfd, struct k_statx *st)
{
	struct os *os = dsc->os;
	bool cwd = rootfd == AT_FDCWD;
	unsigned id = dsc_id_mask(dsc);
	/* os_init() has examined "/", and has both mount IDs if the kernel provides them. */
	*st = os->root;
	if (id == K_STATX_MNT_ID && os->root_old_id != 0 && st->mask & K_STATX_MNT_ID_UNIQUE) {
		st->mnt_id = os->root_old_id;
		st->mask = (st->mask & ~(unsigned)K_STATX_MNT_ID_UNIQUE) | K_STATX_MNT_ID;
	}
	if (cwd && st->mode != 0 && (st->mask & id) == id)
		return 0;
	int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | (cwd ? 0 : AT_EMPTY_PATH);
	return os_statx(os, rootfd, cwd ? "/" : "", flags, id | K_STATX_TYPE | K_STATX_NLINK, st);
}

/** The key of the mount that contains a root directory; 0 if unknown.
    @prefix  The path of the root directory. */
static uint64_t dsc_key_of(const struct dsc *dsc, const struct k_statx *st, const char *prefix)
{
	uint64_t key = os_statx_mnt_id(st, dsc->unique);
	if (key != 0)
		return key;
	/* Identity by device: the nearest mount of that device at or above the prefix. */
	uint64_t dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
	size_t longest = 0;
	for (size_t i = 0; i < dsc->table->count; ++i) {
		const struct mount *m = &dsc->table->mounts[i];
		if (m->point && mount_dev(m) == dev && word_below(prefix, m->point)
		    && strlen(m->point) >= longest) {
			longest = strlen(m->point);
			key = m->key;
		}
	}
	return key;
}

int dsc_root_key(struct dsc *dsc, uint64_t *found)
{
	*found = 0;
	if (dsc->table->source >= TABLE_RECORDED)
		return 0;
	if (dsc->opts->names == DN_KERNEL) {
		/* Only "/" may be accessed, and os_init() has examined it; and a root that was
		   opened because it cannot block. */
		if (dsc->rootfd != AT_FDCWD) {
			if (dsc->opts->blocking
			    && dsc_look_at_root(dsc, dsc->rootfd, &dsc->root_st) == 0)
				*found = os_statx_mnt_id(&dsc->root_st, dsc->unique);
			return 0;
		}
		*found = os_statx_mnt_id(&dsc->os->root, dsc->unique);
		if (*found != 0 || dsc->by_dev)
			return 0;
	}
	if (dsc_look_at_root(dsc, dsc->rootfd, &dsc->root_st) != 0)
		return -1;
	*found = dsc_key_of(dsc, &dsc->root_st, dsc->opts->prefix);
	return 0;
}

int dsc_own_root(struct dsc *dsc, uint32_t *found)
{
	*found = dsc->d->root;
	if (strcmp(dsc->opts->prefix, "/") == 0 || dsc->opts->names == DN_KERNEL
	    || dsc->table->source >= TABLE_RECORDED)
		return 0;
	struct k_statx st;
	if (dsc_look_at_root(dsc, AT_FDCWD, &st) != 0)
		return -1;
	*found = mtree_find(dsc->tree, dsc_key_of(dsc, &st, "/"));
	return 0;
}
