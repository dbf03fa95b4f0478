/* SPDX-License-Identifier: MIT */
/*
 * What can block, and what lies behind it: design.md 2.3.
 *
 * A file system blocks by its type (network, FUSE, autofs, unknown ...), by
 * its device (suspended, remote, or through a loop on a file that lies on one
 * that blocks), or by what it stands on (an overlay's layers).  A mount lies
 * behind one that blocks when any mount on its chain of parents does, and it
 * is not merely stacked there.  The last two lead from mount to mount, so they are found by repetition: each
 * round adds at least one mount, and chains of overlay over loop over overlay
 * are short; the number of rounds is bounded, and what is not decided by then
 * is held to block.
 */
#include "discover_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROUNDS = 32 };

/** A mount that stands on a path: which, and how it is held to block. */
struct stands_on {
	uint32_t node;
	const char *path;   /* decoded; borrowed */
};

struct stands {
	struct stands_on *items;
	size_t n, size;
	struct arena arena;
	bool failed;
};

static void stands_add(struct stands *stands, uint32_t node, const char *path, size_t len)
{
	if (stands->n == stands->size) {
		size_t size = stands->size ? stands->size * 2 : 64;
		struct stands_on *items = realloc(stands->items, size * sizeof(*items));
		if (!items) {
			stands->failed = true;
			return;
		}
		stands->items = items;
		stands->size = size;
	}
	char *copy = arena_strndup(&stands->arena, path, len);
	if (!copy) {
		stands->failed = true;
		return;
	}
	stands->items[stands->n++] = (struct stands_on){node, copy};
}

/** Add the paths of one option's value: a list parted by ':', or one path.
    A backslash protects the byte behind it.  The value is cut up. */
static void stands_on_paths(struct stands *stands, uint32_t node, char *value, size_t len, bool list)
{
	char *start = value, *out = value;
	const char *end = value + len;
	for (char *in = value;; ++in) {
		if (in == end || (*in == ':' && list)) {
			if (out > start && *start == '/')
				stands_add(stands, node, start, (size_t)(out - start));
			if (in == end)
				break;
			start = out = in + 1;
			continue;
		}
		if (*in == '\\' && in + 1 < end)
			++in;
		*out++ = *in;
	}
}

/**
 * Add the layers of an overlay.  The kernel escapes them twice: a backslash
 * before ':' and '\' by overlayfs, then octal in the option string.  A path
 * that is not absolute was relative to a directory of the one who mounted it;
 * it cannot be told, and the upper layer speaks for it.
 */
static void stands_on_layers(struct stands *stands, uint32_t node, const char *options)
{
	static const char *const keys[] = {"lowerdir=", "lowerdir+=", "datadir+=", "upperdir=", "workdir="};
	char *text = strdup(options), *save = NULL;
	if (!text) {
		stands->failed = true;
		return;
	}
	for (char *opt = strtok_r(text, ",", &save); opt; opt = strtok_r(NULL, ",", &save)) {
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); ++k) {
			size_t n = strlen(keys[k]);
			if (strncmp(opt, keys[k], n) != 0)
				continue;
			char *value = opt + n;
			size_t len = unescape_octal(value, value, strlen(value));
			stands_on_paths(stands, node, value, len, k == 0);
		}
	}
	free(text);
}

/** Mark what its own type or device makes block, and gather what stands on paths. */
static void block_by_itself(struct dsc *dsc, struct stands *stands)
{
	struct mtree *tree = dsc->tree;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		if (tree->nodes[i].made)
			continue;
		/* A table read without types can prove nothing harmless. */
		unsigned flags = fstype_flags(m->fstype);
		if (flags & FST_BLOCKS)
			dsc->flags[i] |= DF_BLOCKS;
		if (flags & FST_NO_LOOK)
			dsc->flags[i] |= DF_NO_LOOK;
		/* A container's own root is written in the names of its host, which
		   cannot be followed from inside; and it is in use already. */
		if (flags & FST_LAYERED && i != dsc->d->root) {
			if (m->fs_opts)
				stands_on_layers(stands, i, m->fs_opts);
			else
				dsc->flags[i] |= DF_BLOCKS;   /* its layers are not told */
		}
		/* btrfs and bcachefs stand on devices behind an anonymous number. */
		bool behind = flags & FST_SUBVOL;
		if ((m->dev_major != 0 || behind) && dsc->devs) {
			const char *backing = NULL;
			if (devmap_mount_blocks(dsc->devs, m->dev_major, m->dev_minor,
			                        behind ? m->source : NULL, &backing))
				dsc->flags[i] |= DF_BLOCKS;
			if (backing)
				stands_add(stands, i, backing, strlen(backing));
		}
	}
}

/** Pass "behind" down the tree.  @return whether any mount changed. */
static bool block_pass_down(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	bool changed = false;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i], parent = tree->nodes[index].parent;
		/* The process's root is where it stands, whatever lies under it:
		   touching "/" is unavoidable. */
		if (parent == MT_NONE || dsc->flags[index] & DF_BEHIND || index == dsc->d->root)
			continue;
		/* What is stacked on the root of one that blocks is reached without
		   a name being resolved in it. */
		bool blocks = dsc->flags[parent] & DF_BLOCKS && !mtree_stacked(tree, index);
		if (blocks || dsc->flags[parent] & DF_BEHIND) {
			dsc->flags[index] |= DF_BEHIND;
			changed = true;
		}
	}
	return changed;
}

/**
 * Ask for what only a few types need to be judged: an overlay's layers, the
 * source of a btrfs.  The table was asked for what the columns show.
 */
static int block_ask_more(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct discovery *d = dsc->d;
	unsigned lacks = (MF_SOURCE | MF_FS_OPTS) & ~dsc->table->fields;
	if (lacks == 0 || dsc->table->source != TABLE_LISTMOUNT
	    || d->nagain == sizeof(d->again) / sizeof(*d->again))
		return 0;
	uint64_t *keys = malloc((tree->count + 1) * sizeof(*keys));
	if (!keys)
		return -1;
	size_t n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		unsigned flags = fstype_flags(node->mount->fstype);
		if (!node->made && ((flags & FST_LAYERED && lacks & MF_FS_OPTS)
		                    || (flags & FST_SUBVOL && lacks & MF_SOURCE)))
			keys[n++] = node->mount->key;
	}
	struct mount_table *more = NULL;
	if (n > 0)
		more = table_ask_more(dsc->os, dsc->table, lacks, keys, n);
	free(keys);
	for (size_t i = 0; more && i < more->count; ++i) {
		uint32_t node = mtree_find(tree, more->mounts[i].key);
		if (node != MT_NONE)
			tree->nodes[node].mount = &more->mounts[i];
	}
	if (more)
		d->again[d->nagain++] = more;
	return 0;
}

int dsc_find_blocking(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct stands stands = {0};
	struct dsc_paths paths = {0};
	int rc = -1;
	arena_init(&stands.arena);
	if (block_ask_more(dsc) != 0)
		goto out;
	block_by_itself(dsc, &stands);
	bool any = false;
	for (uint32_t i = 0; i < tree->count && !any; ++i)
		any = dsc->flags[i] & DF_BLOCKS;
	if (stands.failed)
		goto out;
	if (!any) {
		rc = 0;
		goto out;
	}

	if (stands.n > 0 && dsc_paths_init(&paths, dsc) != 0)
		goto out;
	bool changed = true;
	for (int round = 0; changed && round < BLOCK_ROUNDS; ++round) {
		changed = block_pass_down(dsc);
		for (size_t i = 0; i < stands.n; ++i) {
			const struct stands_on *on = &stands.items[i];
			uint32_t in;
			if (dsc->flags[on->node] & DF_BLOCKS)
				continue;
			/* On itself (by a bind of its own) it stands on nothing else. */
			if (dsc_path_blocks(&paths, on->path, &in) && in != on->node) {
				dsc->flags[on->node] |= DF_BLOCKS;
				changed = true;
			}
		}
	}
	for (size_t i = 0; changed && i < stands.n; ++i)
		dsc->flags[stands.items[i].node] |= DF_BLOCKS;
	if (changed)
		block_pass_down(dsc);
	rc = 0;
out:
	dsc_paths_destroy(&paths);
	free(stands.items);
	arena_destroy(&stands.arena);
	if (rc != 0)
		errno = ENOMEM;
	return rc;
}
