/* SPDX-License-Identifier: MIT */
/*
 * What can block, and what lies behind it: design.md 2.3.
 *
 * A file system blocks by its type (network, FUSE, autofs, unknown ...), by
 * its device (suspended, remote, or through a loop on a file that lies on one
 * that blocks), or by what it stands on (an overlay's layers).  A mount lies
 * behind one that blocks when any mount on its chain of parents does, and it
 * is not merely stacked there.
 *
 * The last two lead from mount to mount, so they are found by repetition.
 * Layers are followed through links, which is to touch what they lead through:
 * so a mount is unsure until all that it stands on was judged, and nobody's
 * path is followed through what is unsure.  Each round settles at least one
 * path; chains of overlay over loop over overlay are short.  The number of
 * rounds is bounded, and what is not settled by then, or stands on each other
 * in a circle, is held to block.
 */
#include "discover_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROUNDS = 32 };

/** A mount that stands on a path. */
struct stands_on {
	uint32_t node;
	const char *path;   /* decoded; borrowed */
	bool clear;         /* found not to block */
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
	stands->items[stands->n++] = (struct stands_on){node, copy, false};
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
		bool idles = dsc->opts->lets_expire && fstype_flags(tree->nodes[parent].mount->fstype) & FST_AUTOFS;
		bool blocks = dsc->flags[parent] & DF_BLOCKS && (idles || !mtree_stacked(tree, index));
		if (blocks || dsc->flags[parent] & DF_BEHIND) {
			dsc->flags[index] |= DF_BEHIND;
			changed = true;
		}
	}
	return changed;
}

/** Mark anew who is unsure, and what lies behind. */
static void block_mark_unsure(struct dsc *dsc, const struct stands *stands)
{
	struct mtree *tree = dsc->tree;
	for (uint32_t i = 0; i < tree->count; ++i)
		dsc->flags[i] &= (uint8_t)~(DF_UNSURE | DF_UNSURE_BEHIND);
	for (size_t i = 0; i < stands->n; ++i) {
		if (!stands->items[i].clear)
			dsc->flags[stands->items[i].node] |= DF_UNSURE;
	}
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i], parent = tree->nodes[index].parent;
		if (parent == MT_NONE || index == dsc->d->root)
			continue;
		if ((dsc->flags[parent] & DF_UNSURE && !mtree_stacked(tree, index))
		    || dsc->flags[parent] & DF_UNSURE_BEHIND)
			dsc->flags[index] |= DF_UNSURE_BEHIND;
	}
}

/**
 * Judge a path that is covered by the mount that stands on it, as of an overlay
 * over its own lower layer: it lies in what is beneath, whose links cannot be
 * read any more.
 */
static enum dsc_leads block_beneath(const struct dsc *dsc, const struct stands_on *on)
{
	const struct mt_node *nodes = dsc->tree->nodes;
	enum dsc_leads leads = LEADS_CLEAR;
	for (uint32_t next, at = nodes[on->node].parent; at != MT_NONE; at = next) {
		if (dsc->flags[at] & (DF_BLOCKS | DF_BEHIND))
			return LEADS_BLOCKED;
		if (dsc->flags[at] & (DF_UNSURE | DF_UNSURE_BEHIND))
			leads = LEADS_UNSURE;
		next = MT_NONE;
		for (uint32_t c = nodes[at].first; c != MT_NONE; c = nodes[c].next) {
			const char *point = nodes[c].mount->point;
			if (c != on->node && point && mtree_path_within(on->path, point))
				next = c;
		}
	}
	return leads;
}

/** Remember what a mount stands on.  @return 0, or -1 (ENOMEM). */
static int block_note(struct dsc *dsc, uint32_t node, uint32_t on)
{
	if (on == MT_NONE || on == node)
		return 0;
	if (dsc->nstands == dsc->stands_size) {
		size_t size = dsc->stands_size ? dsc->stands_size * 2 : 16;
		struct dsc_stands *stands = reallocarray(dsc->stands, size, sizeof(*stands));
		if (!stands)
			return -1;
		dsc->stands = stands;
		dsc->stands_size = size;
	}
	dsc->stands[dsc->nstands++] = (struct dsc_stands){node, on};
	return 0;
}

/** Follow the paths that are not settled.  @return whether any is now. */
static bool block_follow(struct dsc *dsc, struct dsc_paths *paths, struct stands *stands)
{
	bool changed = false;
	block_mark_unsure(dsc, stands);
	for (size_t i = 0; i < stands->n; ++i) {
		struct stands_on *on = &stands->items[i];
		uint32_t in;
		if (on->clear || dsc->flags[on->node] & DF_BLOCKS)
			continue;
		enum dsc_leads leads = dsc_path_leads(paths, on->path, &in);
		if (in == on->node)
			leads = block_beneath(dsc, on);
		on->clear = leads == LEADS_CLEAR;
		if (leads == LEADS_BLOCKED) {
			dsc->flags[on->node] |= DF_BLOCKS;
			stands->failed |= block_note(dsc, on->node, in) != 0;
		}
		changed |= leads != LEADS_UNSURE;
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
	int error = errno;
	free(keys);
	/* Without an answer they are held to block. */
	if (n > 0 && !more && error == ENOMEM)
		return -1;
	for (size_t i = 0; more && i < more->count; ++i) {
		uint32_t node = mtree_find(tree, more->mounts[i].key);
		if (node != MT_NONE)
			tree->nodes[node].mount = &more->mounts[i];
	}
	if (more)
		d->again[d->nagain++] = more;
	return 0;
}

bool discover_path_blocks(const struct mount_table *table, const char *path)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if (m->point && strcmp(m->point, "/") != 0 && mtree_path_within(path, m->point)
		    && fstype_flags(m->fstype) & FST_BLOCKS)
			return true;
	}
	return false;
}

struct devmap *discover_devmap(struct os *os, const struct mount_table *own)
{
	static const char *const places[][2] = {
		{"/sys", "/sys/dev/block"}, {"/run", "/run/udev/data"}, {"/dev", "/dev"},
	};
	const char *roots[3];
	const unsigned need = MF_POINT | MF_FSTYPE;
	struct mount_table *read = NULL;
	if (!own)
		own = read = table_read_kernel(os, TABLE_MOUNTINFO, need);
	bool tells = own && (own->fields & need) == need;
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); ++i)
		roots[i] = tells && discover_path_blocks(own, places[i][1]) ? NULL : places[i][0];
	table_free(read);
	return devmap_new_at(os, roots[0], roots[1], roots[2]);
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
	if (stands.failed || (dsc->devs && devmap_failed(dsc->devs)))
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
		changed |= block_follow(dsc, &paths, &stands);
	}
	for (size_t i = 0; i < stands.n; ++i) {
		if (!stands.items[i].clear)
			dsc->flags[stands.items[i].node] |= DF_BLOCKS;
	}
	block_pass_down(dsc);
	/* Where statx is refused, a look is fstatat's, which asks the server. */
	for (uint32_t i = 0; i < tree->count && !dsc->os->statx_works; ++i) {
		if (dsc->flags[i] & DF_BLOCKS)
			dsc->flags[i] |= DF_NO_LOOK;
	}
	rc = paths.failed || stands.failed ? -1 : 0;
out:
	dsc_paths_destroy(&paths);
	free(stands.items);
	arena_destroy(&stands.arena);
	if (rc != 0)
		errno = ENOMEM;
	return rc;
}
