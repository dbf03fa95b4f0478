/* SPDX-License-Identifier: MIT */
/*
 * Hints: the names that the table gives, each tested by one statx.
 *
 * A name proves nothing alone, nor does a mount ID: every path inside a mount
 * shows it.  A mount point is one whose statx shows the mount's ID and
 * STATX_ATTR_MOUNT_ROOT.  A stack is tested once, at its top.
 *
 * A name that fails is judged and not searched for, since a mount has one
 * place and the kernel named it: the failing ones are asked for again, all at
 * once.  Those that are gone are dropped, the renamed are tested again, and
 * of the others the answer of the test tells: another mount is seen there
 * (hidden by it), permission (denied), a dead server or device (stale).
 */
#include "discover_impl.h"

#include "base/fstypes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	HINT_ROUNDS = 3,
	TESTS_A_LOOK = 64,   /* tests between looks at the clock */
};

/** What a test told. */
struct hint {
	uint32_t node;
	uint32_t seen;   /* the node that statx shows there; MT_NONE */
	int error;       /* of statx; 0 */
};

struct hints {
	struct hint *items;
	size_t n;
};

/** statx of a name of any length, relative to the root of the run. */
static int hint_statx(struct dsc *dsc, const char *name, unsigned mask, struct k_statx *st)
{
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
	int at = dsc->rootfd;
	if (at != AT_FDCWD) {
		while (*name == '/')
			++name;
		if (!*name)
			name = ".";
	}
	if (strlen(name) < PATH_MAX)
		return os_statx(dsc->os, at, name, flags, mask, st);

	/* Longer than the kernel takes: go down in pieces. */
	char *path = strdup(name);
	if (!path)
		return -1;
	char *piece = path;
	int rc = -1;
	for (;;) {
		size_t n = strlen(piece);
		if (n < PATH_MAX) {
			rc = os_statx(dsc->os, at, piece, flags, mask, st);
			break;
		}
		char *cut = piece + PATH_MAX - 1;
		while (*cut != '/')
			--cut;
		*cut = '\0';
		int fd = os_openat(dsc->os, at, piece, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		if (at != dsc->rootfd)
			os_close(dsc->os, at);
		at = fd;
		if (fd < 0)
			break;
		piece = cut + 1;
	}
	if (at >= 0 && at != dsc->rootfd)
		os_close(dsc->os, at);
	int error = errno;
	free(path);
	errno = error;
	return rc;
}

/**
 * statx of a name, component by component: no name is resolved in a mount that
 * is not of the table, or that blocks.  For when the table may be out of date.
 */
static int hint_statx_careful(struct dsc *dsc, const char *name, struct k_statx *st)
{
	char *path = strdup(name), *save = NULL;
	int at = path ? os_openat(dsc->os, dsc->rootfd, dsc->rootfd == AT_FDCWD ? "/" : ".",
	                          O_PATH | O_DIRECTORY) : -1;
	int rc = -1;
	char *step = path && at >= 0 ? strtok_r(path, "/", &save) : NULL;
	for (;;) {
		if (at < 0)
			break;
		unsigned mask = step ? 0 : dsc_id_mask(dsc) | K_STATX_TYPE | K_STATX_NLINK;
		if (os_statx(dsc->os, at, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, st) != 0)
			break;
		if (!step) {
			rc = 0;
			break;
		}
		uint32_t in = dsc_node_of(dsc, st);
		if (in == MT_NONE || dsc->flags[in] & (DF_BLOCKS | DF_BEHIND)) {
			errno = ENOENT;
			break;
		}
		int next = os_openat(dsc->os, at, step, O_PATH | O_NOFOLLOW);
		os_close(dsc->os, at);
		at = next;
		step = strtok_r(NULL, "/", &save);
	}
	os_close(dsc->os, at);
	int error = errno;
	free(path);
	errno = error;
	return rc;
}

/** Whether a test by device number shows the node. */
static bool hint_dev_shows(const struct dsc *dsc, uint32_t node, const struct k_statx *st)
{
	const struct mount *m = dsc->tree->nodes[node].mount;
	return m->dev_major == st->dev_major && m->dev_minor == st->dev_minor;
}

/**
 * Test the name of the top of a stack.
 *
 * @careful
 *         Whether the table may be out of date.
 * @return whether it was settled; else hint tells what was seen.
 */
static bool hint_test(struct dsc *dsc, uint32_t node, bool careful, struct hint *hint)
{
	const char *name = dsc_kernel_name(dsc, node);
	bool blocks = dsc->flags[node] & DF_BLOCKS;
	struct k_statx st;
	*hint = (struct hint){.node = node, .seen = MT_NONE};

	unsigned mask = blocks ? 0 : dsc_id_mask(dsc) | K_STATX_TYPE | K_STATX_NLINK;
	int rc = careful ? hint_statx_careful(dsc, name, &st) : hint_statx(dsc, name, mask, &st);
	if (rc != 0) {
		hint->error = errno;
		return false;
	}
	bool shows;
	if (dsc->by_dev) {
		shows = hint_dev_shows(dsc, node, &st);
	} else {
		hint->seen = dsc_node_of(dsc, &st);
		/* A root made for a chroot is a plain directory of its mount. */
		shows = hint->seen == node
		        && (os_statx_is_mount_root(&st) || node == dsc->d->root);
	}
	if (!shows)
		return false;
	struct mt_node *n = &dsc->tree->nodes[node];
	dsc_looked(dsc, node, &st);
	dsc_name(dsc, node, name, MT_NAMED_VERIFIED);
	/* Looked at from outside, and not touched. */
	if (blocks)
		mtree_state(dsc->tree, node, MT_UNTESTED);
	if (n->place_hidden) {
		n->states &= (uint16_t)~(1u << MT_HIDDEN);
		n->covered_by = MT_NONE;
	}
	return true;
}

/** The state that an errno of a test stands for. */
static enum mt_state hint_error_state(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return MT_DENIED;
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case ENAMETOOLONG:
		return MT_HIDDEN;
	default:
		return MT_STALE;
	}
}

/** Find which mount covers a name that leads nowhere: that of its nearest
    ancestor which exists. */
static uint32_t hint_coverer(struct dsc *dsc, const char *name)
{
	char *path = strdup(name);
	uint32_t seen = MT_NONE;
	for (char *slash; path && seen == MT_NONE && (slash = strrchr(path, '/')) && path[1];) {
		struct k_statx st;
		slash[slash == path] = '\0';   /* the last one left is "/" */
		if (hint_statx(dsc, path, dsc_id_mask(dsc), &st) == 0) {
			seen = dsc_node_of(dsc, &st);
			break;
		}
		if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	free(path);
	return seen;
}

/** Judge a name that failed, and that the kernel still gives. */
static void hint_judge(struct dsc *dsc, const struct hint *hint)
{
	struct mtree *tree = dsc->tree;
	struct mt_node *n = &tree->nodes[hint->node];
	const char *name = dsc_kernel_name(dsc, hint->node);
	enum mt_state state = hint->error ? hint_error_state(hint->error) : MT_HIDDEN;
	uint32_t by = hint->seen;
	if (state == MT_HIDDEN && hint->error)
		by = hint_coverer(dsc, name);
	dsc_name(dsc, hint->node, name, MT_NAMED_KERNEL);
	if (state == MT_HIDDEN && (by == hint->node || (by != MT_NONE && by == n->parent))) {
		/* Its place is in sight and it is not there, though the kernel
		   says so: it changes faster than we can look. */
		mtree_state(tree, hint->node, MT_UNSEARCHED);
		return;
	}
	mtree_state(tree, hint->node, state);
	if (state == MT_HIDDEN)
		n->covered_by = by;
}

/** Have what a mount hid tested, now that it is gone. */
static void hints_uncover(struct dsc *dsc, uint32_t gone)
{
	/* By device it cannot be seen what is passed on the way. */
	if (dsc->by_dev)
		return;
	for (uint32_t i = 0; i < dsc->tree->count; ++i) {
		struct mt_node *n = &dsc->tree->nodes[i];
		if (n->covered_by != gone || !n->place_hidden || n->gone)
			continue;
		struct hint hint;
		n->covered_by = MT_NONE;
		if (!(dsc->flags[i] & (DF_BEHIND | DF_NO_LOOK)) && n->top == i)
			hint_test(dsc, i, true, &hint);
	}
}

/** Take in what the kernel says when asked again. */
static int hints_ask_again(struct dsc *dsc, const struct hints *failed)
{
	struct discovery *d = dsc->d;
	uint64_t *keys = malloc((failed->n + 1) * sizeof(*keys));
	if (!keys)
		return -1;
	for (size_t i = 0; i < failed->n; ++i)
		keys[i] = dsc->tree->nodes[failed->items[i].node].mount->key;
	const struct mount_table *again;
	struct map64 there;
	int rc = dsc_ask_again(dsc, keys, failed->n, &again, &there);
	free(keys);
	if (rc != 0 || !again)
		return rc;
	for (size_t i = 0; i < failed->n; ++i) {
		uint32_t node = failed->items[i].node;
		struct mt_node *n = &dsc->tree->nodes[node];
		uint32_t found = n->made ? MAP64_NONE : map64_get(&there, n->mount->key);
		if (n->made)
			continue;
		if (found == MAP64_NONE) {
			n->gone = true;
			mtree_settle(dsc->tree, node);
			hints_uncover(dsc, node);
			/* What it was stacked on is seen again. */
			if (n->parent != MT_NONE && dsc->tree->nodes[n->parent].top == node) {
				uint32_t below = n->parent;
				for (uint32_t at = below; at != MT_NONE && dsc->tree->nodes[at].top == node;
				     at = dsc->tree->nodes[at].parent)
					dsc->tree->nodes[at].top = below;
				dsc->tree->nodes[below].states &= (uint16_t)~(1u << MT_HIDDEN);
				dsc->tree->nodes[below].covered_by = MT_NONE;
			}
			continue;
		}
		const struct mount *now = &again->mounts[found];
		if (now->point && n->mount->point && strcmp(now->point, n->mount->point) != 0)
			++d->stats.renamed;
		if (now->point)
			n->mount = now;
	}
	map64_destroy(&there);
	return 0;
}

/** Test every name that is not settled.  @return how many failed, into hints. */
static void hints_round(struct dsc *dsc, bool careful, struct hints *hints)
{
	struct mtree *tree = dsc->tree;
	unsigned tested = 0;
	hints->n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t node = tree->order[i];
		const struct mt_node *n = &tree->nodes[node];
		if (n->settled || n->top != node || !dsc_kernel_name(dsc, node))
			continue;
		if (++tested % TESTS_A_LOOK == 0 && dsc_out_of_time(dsc))
			return;
		if (!hint_test(dsc, node, careful, &hints->items[hints->n]))
			++hints->n;
	}
}

void dsc_confirm(struct dsc *dsc, uint32_t node)
{
	struct hint hint;
	const char *name = dsc_kernel_name(dsc, node);
	/* By device it cannot be seen what is passed on the way. */
	if (!name || dsc->by_dev)
		return;
	bool there = hint_test(dsc, node, true, &hint);
	bool denied = !there && hint.error && hint_error_state(hint.error) == MT_DENIED;
	if (dsc->opts->names == DN_PURE && (there || denied)) {
		/* By IDs alone it has no name; but lost it is not. */
		dsc_name(dsc, node, NULL, MT_NAMED_NONE);
		mtree_state(dsc->tree, node, there ? MT_UNSEARCHED : MT_DENIED);
	} else if (denied) {
		dsc_name(dsc, node, name, MT_NAMED_KERNEL);
		mtree_state(dsc->tree, node, MT_DENIED);
	}
}

int dsc_test_hints(struct dsc *dsc)
{
	struct hints hints = {0};
	hints.items = malloc((dsc->tree->count + 1) * sizeof(*hints.items));
	if (!hints.items)
		return -1;
	int rc = 0;
	for (int round = 0; rc == 0; ++round) {
		/* A mount that was moved may have come behind what blocks. */
		hints_round(dsc, round > 0 && !dsc->by_dev, &hints);
		/* What is refused or dead need not be asked for. */
		size_t kept = 0;
		for (size_t i = 0; i < hints.n; ++i) {
			const struct hint *hint = &hints.items[i];
			if (hint->error && hint_error_state(hint->error) != MT_HIDDEN)
				hint_judge(dsc, hint);
			else
				hints.items[kept++] = *hint;
		}
		hints.n = kept;
		if (kept == 0)
			break;
		if (round == HINT_ROUNDS) {
			for (size_t i = 0; i < kept; ++i)
				hint_judge(dsc, &hints.items[i]);
			break;
		}
		uint32_t waiting = dsc->tree->waiting;
		uint64_t renamed = dsc->d->stats.renamed;
		rc = hints_ask_again(dsc, &hints);
		if (rc == 0 && waiting == dsc->tree->waiting && renamed == dsc->d->stats.renamed) {
			/* Nothing changed: what the test told is the truth. */
			for (size_t i = 0; i < kept; ++i)
				hint_judge(dsc, &hints.items[i]);
			break;
		}
	}
	free(hints.items);
	return rc;
}
