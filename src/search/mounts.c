/* SPDX-License-Identifier: MIT */
#include "search/mounts.h"

#include "base/array.h"
#include "base/fail.h"
#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int search_mounts_init(struct search_mounts *mounts)
{
	*mounts = (struct search_mounts){.avoid = avoid_new()};
	return mounts->avoid ? 0 : -1;
}

void search_mounts_destroy(struct search_mounts *mounts)
{
	avoid_free(mounts->avoid);
	map64_destroy(&mounts->by_id);
	arena_destroy(&mounts->points);
	for (uint32_t i = 0; i < mounts->nfs; ++i)
		bfs_fs_free(mounts->fs[i]);
	free(mounts->fs);
	free(mounts->list);
	*mounts = (struct search_mounts){0};
}

const struct search_mount *search_mount_find(const struct search_mounts *mounts, uint64_t id)
{
	uint32_t i = map64_get(&mounts->by_id, id);
	return i == MAP64_NONE ? NULL : &mounts->list[i];
}

/** Copy a text to mounts->points; NULL remains NULL. */
static const char *keep(struct search_mounts *mounts, const char *text)
{
	return text ? arena_strndup(&mounts->points, text, strlen(text)) : NULL;
}

int search_mounts_add(struct search_mounts *mounts, const struct search_mount *mount)
{
	if (search_mount_find(mounts, mount->id))
		return 0;
	struct search_mount copy = *mount;
	const char **const texts[] = {
		&copy.point, &copy.type, &copy.source, &copy.dir, &copy.opts,
	};
	bool failed = false;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
		const char *kept = keep(mounts, *texts[i]);
		failed |= *texts[i] && !kept;
		*texts[i] = kept;
	}
	if (failed || !ARRAY_ROOM(mounts->list, mounts->n, &mounts->size)
	    || map64_put(&mounts->by_id, mount->id, mounts->n) == MAP64_NONE)
		return fail(ENOMEM);
	mounts->list[mounts->n++] = copy;
	mounts->nosymfollow |= mount->flags & MOUNT_NOSYMFOLLOW;
	return 0;
}

/** Find the parent of a mount in the list; NULL: the parent is not listed, or is the mount
    itself. */
static struct search_mount *parent_of(struct search_mounts *mounts, const struct search_mount *m)
{
	uint32_t i = m->parent == m->id ? MAP64_NONE : map64_get(&mounts->by_id, m->parent);
	return i == MAP64_NONE ? NULL : &mounts->list[i];
}

int search_mounts_place(struct search_mounts *mounts, uint32_t from, bool all)
{
	/* Mark the mounts of interest with AVOID_UNKNOWN.  A parent of a mount of interest is of
	   interest too. */
	for (uint32_t i = mounts->n; i-- > from;) {
		struct search_mount *m = &mounts->list[i], *parent = parent_of(mounts, m);
		if (all || m->flags & (MOUNT_BLOCKS | MOUNT_UNLISTED))
			m->root = AVOID_UNKNOWN;
		if (parent && m->root)
			parent->root = parent->root ? parent->root : AVOID_UNKNOWN;
	}
	for (uint32_t i = from; i < mounts->n; ++i) {
		struct search_mount *m = &mounts->list[i];
		if (m->root && (m->root = avoid_add(mounts->avoid, i)) == AVOID_NONE)
			return -1;
	}
	/* First pass: add the mount points of these mounts.  Second pass (covers): add mounts that
	   cover the path to such a mount point. */
	for (uint32_t i = from; i < 2 * mounts->n - from; ++i) {
		bool covers = i >= mounts->n;
		uint32_t index = covers ? i - mounts->n + from : i;
		struct search_mount *m = &mounts->list[index], *parent = parent_of(mounts, m);
		/* Skip mounts of the other pass, mounts without a known mount point, and mounts
		   that are not on a mount of interest. */
		if (!m->root == !covers || !parent || !m->point || !parent->root
		    || parent->root == AVOID_UNKNOWN)
			continue;
		const char *path = word_below(m->point, parent->point ? parent->point : "/");
		/* The mount point is not below its parent's: the table was read by a process with
		   another root directory. */
		if (!path)
			parent->root = AVOID_UNKNOWN;
		else if (covers && !avoid_find(mounts->avoid, parent->root, path))
			continue;
		else if ((covers && !(m->root = avoid_add(mounts->avoid, index)))
		         || avoid_lead(mounts->avoid, parent->root, path, m->root) != 0)
			return -1;
	}
	return 0;
}

int search_mounts_place_all(struct search_mounts *mounts)
{
	struct avoid *avoid = avoid_new();
	if (!avoid)
		return -1;
	avoid_free(mounts->avoid);
	mounts->avoid = avoid;
	for (uint32_t i = 0; i < mounts->n; ++i)
		mounts->list[i].root = AVOID_NONE;
	return search_mounts_place(mounts, 0, true);
}

const char *search_mount_below(const struct search_mounts *mounts, uint32_t node, const char *path,
                               uint32_t i)
{
	const char *point = mounts->list[i].point;
	const char *below = point ? word_below(point, path) : NULL;
	for (const char *name = below; name && *name;) {
		size_t n = strcspn(++name, "/");
		node = avoid_step(mounts->avoid, node, name, n);
		name += n;
		uint32_t mount = avoid_mount(mounts->avoid, node);
		if (mount != AVOID_NO_MOUNT)
			return !*name && mount == i ? below : NULL;
	}
	return NULL;
}

const struct search_mount *search_mount_at(const struct search_mounts *mounts, uint32_t node)
{
	uint32_t i = avoid_mount(mounts->avoid, node);
	return i == AVOID_NO_MOUNT ? NULL : &mounts->list[i];
}

bool search_mounts_below(const struct search_mounts *mounts, uint64_t id, const char *path)
{
	bool below = !*path || !search_mount_find(mounts, id);
	for (uint32_t i = 0; i < mounts->n && !below; ++i) {
		const struct search_mount *m = &mounts->list[i];
		below = m->parent == id && m->id != id
		        && (!m->point || word_below(m->point, path));
	}
	return below;
}

/** Whether a mount can block and is not the mount of the given root. */
static bool is_blocked(const struct search_mounts *mounts, const struct search_mount *m)
{
	return m && m->flags & MOUNT_BLOCKS && m->id != mounts->entered;
}

int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id)
{
	const struct search_mount *m = search_mount_find(mounts, id);
	if (mounts->any || is_blocked(mounts, m))
		return mounts->any ? 0 : EREMOTE;
	return m || (id && id == mounts->entered) || !(os->caps & OSC_STATX_MNT_ID) ? 0 : EXDEV;
}

bool search_mounts_blocked(const struct search_mounts *mounts, uint32_t node)
{
	return !mounts->any && is_blocked(mounts, search_mount_at(mounts, node));
}

bool search_mount_excluded(const struct search_mounts *mounts, const struct search_mount *m)
{
	if (!mounts->exclude_types || !m || !m->type || m->id == mounts->entered)
		return false;
	for (const char *type = mounts->exclude_types, *end;; type = end + 1) {
		end = strchrnul(type, ',');
		size_t n = (size_t)(end - type);
		if (n > 0 && strncmp(m->type, type, n) == 0 && (!m->type[n] || m->type[n] == '.'))
			return true;
		if (!*end)
			return false;
	}
}

uint32_t search_mounts_root(const struct search_mounts *mounts, uint64_t id)
{
	const struct search_mount *m = search_mount_find(mounts, id);
	uint32_t root = m ? m->root : AVOID_UNKNOWN;
	return mounts->any && root == AVOID_UNKNOWN ? AVOID_NONE : root;
}

uint32_t search_mounts_node(const struct search_mounts *mounts, uint64_t id, const char *path)
{
	uint32_t root = search_mounts_root(mounts, id);
	if (root == AVOID_NONE || root == AVOID_UNKNOWN)
		return root;
	const char *point = search_mount_find(mounts, id)->point;
	const char *below = *path ? word_below(path, point ? point : "/") : NULL;
	return below ? avoid_find(mounts->avoid, root, below)
	       : mounts->any ? AVOID_NONE : AVOID_UNKNOWN;
}

const struct search_mount *search_mount_up(const struct search_mounts *mounts, uint64_t id,
                                           const char *path)
{
	const struct search_mount *m = search_mount_find(mounts, id);
	for (uint32_t i = 0; m && m->point && !word_below(path, m->point); ++i)
		m = i < mounts->n ? search_mount_find(mounts, m->parent) : NULL;
	return m && m->point ? m : NULL;
}
