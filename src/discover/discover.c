/* SPDX-License-Identifier: MIT */
/*
 * Discovery: the steps of a run.
 *
 *   1. build the tree from the IDs in the table, and find the root of the process
 *   2. find by the table alone which mounts are hidden, outside or deleted
 *   3. find which mounts can block (mounts/); these are named by the table and not accessed
 *   4. test hints, one statx each (hints.c), or search the tree (pass.c; the rules in walk.c)
 *   5. read the mounts that were not found again: gone, unsearched or lost (missing.c)
 */
#include "discover/discover.h"

#include "discover/discover_impl.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>

void discover_defaults(struct discover_opts *opts)
{
	*opts = (struct discover_opts){
		.names = DN_HINT,
		.algorithm = DA_GETMNT3,
		.identity = DI_MNTID,
		.rootfd = AT_FDCWD,
		.prefix = "/",
		.max_dirs = 20000,
		.max_seconds = 2,
		.procfd = AT_FDCWD,
		.procpath = "/proc/self/mountinfo",
	};
}

/** The rules of a run: the rules of its algorithm, modified by --prune. */
static unsigned dsc_rules(const struct discover_opts *opts)
{
	unsigned rules = 0;
	for (int i = 0; i < DISCOVER_RULES_MAX; ++i) {
		if (discover_rules[i].algorithms & 1u << opts->algorithm)
			rules |= 1u << i;
	}
	return (rules | opts->prune_on) & ~opts->prune_off;
}

/** Identity by device: mark ambiguous mounts.  Crossing into a mount with the same device as its
    parent is not visible; of several mounts with the same <device, mounted-on device> (Smith's
    Figure 5) it is unknown which one was found. */
static int dsc_find_alike(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct map64 groups = {0};
	if (map64_reserve(&groups, tree->count) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		if (node->settled || node->parent == MT_NONE || i == dsc->d->root)
			continue;
		if (mount_dev(node->mount) == mount_dev(tree->nodes[node->parent].mount))
			dsc->flags[i] |= DF_INSIDE;
		/* btrfs reports a separate device for every subvolume. */
		if (fstype_flags(node->mount->fstype) & FST_SUBVOL)
			dsc->flags[i] |= DF_INSIDE;
		uint32_t first = map64_put(&groups, node->group, i);
		if (first != i && dsc->opts->names != DN_HINT) {
			dsc->flags[i] |= DF_TWIN;
			dsc->flags[first] |= DF_TWIN;
		}
	}
	map64_destroy(&groups);
	/* Children first.  A mount that has identifiable children is searched. */
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t node = tree->order[i];
		bool waits = dsc->opts->names != DN_HINT && !mtree_is_leaf(tree, node);
		bool ambiguous = dsc->flags[node] & (DF_INSIDE | DF_TWIN);
		if (ambiguous && !waits && !tree->nodes[node].settled)
			dsc_settle(dsc, node, MT_UNTESTED);
	}
	return 0;
}

/** Settle the mounts that cannot or may not be reached. */
static void dsc_settle_unreachable(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	for (uint32_t i = 0; i < tree->count; ++i) {
		struct mt_node *node = &tree->nodes[i];
		if (i == dsc->d->root || node->settled)
			continue;
		/* The kernel has no path from this root: the mount point was moved out of the bind
		   mount that contains it. */
		if (!dsc_kernel_name(dsc, i) && dsc->table->fields & MF_POINT)
			mtree_state(tree, i, MT_OUTSIDE);
		if (node->states & 1u << MT_OUTSIDE)
			dsc_settle(dsc, i, MT_OUTSIDE);
		else if (node->place_hidden
		         && (dsc_rule(dsc, DR_UNREACHABLE) || dsc->opts->names == DN_HINT))
			dsc_settle(dsc, i, MT_HIDDEN);
		else if (mounts_block_before(dsc->mounts, i)
		         || (mounts_no_look(dsc->mounts, i) && node->top == i))
			dsc_settle(dsc, i, MT_UNTESTED);
	}
}

/** Name the mounts that are stacked below a named mount. */
static void dsc_infer_stacks(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t index = tree->order[i];
		struct mt_node *node = &tree->nodes[index];
		if (node->settled || node->top == index || !tree->nodes[node->top].settled
		    || !dsc->d->targets[node->top])
			continue;
		dsc_name(dsc, index, dsc->d->targets[node->top],
		         tree->nodes[node->top].named == MT_NAMED_KERNEL ? MT_NAMED_KERNEL
		                                                         : MT_NAMED_INFERRED);
		if (!(node->states & 1u << MT_HIDDEN)) {
			node->covered_by = node->top;
			mtree_state(tree, index, MT_HIDDEN);
		}
	}
}

/** Whether a mount cannot be tested only because the kernel reports no mount IDs, and another mount
    has the same device number.  Such a mount does not block because of that. */
static bool is_ambiguous(const struct dsc *dsc, uint32_t node)
{
	return dsc->d->by_dev && dsc->flags[node] & (DF_INSIDE | DF_TWIN);
}

/** Determine the states of the remaining nodes, and count. */
static void dsc_finish(struct dsc *dsc)
{
	const unsigned judged = 1u << MT_HIDDEN | 1u << MT_OUTSIDE | 1u << MT_DENIED;
	struct mtree *tree = dsc->tree;
	struct discovery *d = dsc->d;
	bool lost = false;
	bool tested = dsc->opts->names != DN_KERNEL && dsc->table->source < TABLE_RECORDED;
	for (uint32_t i = 0; i < tree->count; ++i) {
		struct mt_node *node = &tree->nodes[i];
		if (node->gone) {
			++d->stats.gone;
			continue;
		}
		if (!node->settled && dsc->flags[i] & (DF_INSIDE | DF_TWIN))
			dsc_settle(dsc, i, MT_UNTESTED);
		if (!node->settled && !(node->states & judged))
			mtree_state(tree, i, dsc_is_lost(dsc, i) ? MT_LOST : MT_UNSEARCHED);
		if (!node->settled && !d->targets[i]) {
			bool pure = dsc->opts->names == DN_PURE;
			d->targets[i] = pure ? NULL : dsc_kernel_name(dsc, i);
			node->named = d->targets[i] ? MT_NAMED_KERNEL : MT_NAMED_NONE;
		}
		if (node->states == 0 || node->states == 1u << MT_DELETED)
			mtree_state(tree, i, MT_OK);
		d->complete &= !(node->states & (1u << MT_LOST | 1u << MT_UNSEARCHED));
		lost |= node->states & 1u << MT_LOST;
		/* Every mount that cannot block was tested, but for those that are ambiguous. */
		bool known = !tested || mtree_shown_state(node) != MT_UNTESTED
		             || is_ambiguous(dsc, i) || mounts_block(dsc->mounts, i);
		if (!known)
			mounts_assume(dsc->mounts, i);
		++d->stats.named[node->named];
		++d->stats.states[mtree_shown_state(node)];
	}
	if (!d->complete && !d->incomplete)
		d->incomplete = lost ? "a complete search did not find a mount of the table"
		                : dsc->partly ? dsc->partly
		                : "mounts change faster than they can be examined";
	assert(d->complete == !d->incomplete);
}

/** Find the names of the mounts by the requested method.  @return 0, or -1. */
static int dsc_establish(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct discovery *d = dsc->d;

	bool probe = dsc->opts->probe != DP_NONE;
	bool untouched = dsc->opts->names == DN_KERNEL || dsc->table->source >= TABLE_RECORDED;
	if ((!untouched || probe) && mounts_find_blocking(dsc->mounts) != 0)
		return -1;
	if (probe && dsc_probe(dsc) != 0)
		return -1;
	if (untouched) {
		for (uint32_t i = 0; i < tree->count; ++i) {
			unsigned hidden = tree->nodes[i].states & 1u << MT_HIDDEN;
			unsigned outside = tree->nodes[i].states & 1u << MT_OUTSIDE;
			if (!tree->nodes[i].settled)
				dsc_settle(dsc, i, outside  ? MT_OUTSIDE
				                   : hidden ? MT_HIDDEN : MT_UNTESTED);
		}
		return 0;
	}

	if (map64_reserve(&dsc->by_old_id, tree->count) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i)
		map64_put(&dsc->by_old_id, tree->nodes[i].mount->id, i);
	dsc_settle_unreachable(dsc);
	if (dsc->by_dev && dsc_find_alike(dsc) != 0)
		return -1;
	if (dsc->opts->names == DN_HINT) {
		if (dsc_test_hints(dsc) != 0)
			return -1;
	} else if (d->root != MT_NONE) {
		dsc_name(dsc, d->root, "/", MT_NAMED_WALKED);
		d->kinds[d->root] = DK_DIR;
	}
	dsc_infer_stacks(dsc);
	bool search = tree->waiting > 0 || dsc->opts->boundaries
	              || (dsc->opts->names != DN_HINT && !dsc_rule(dsc, DR_END));
	if (search && !dsc_out_of_time(dsc) && dsc_walk(dsc) != 0)
		return -1;
	dsc_infer_stacks(dsc);
	return dsc_find_missing(dsc);
}

struct discovery *discover(struct os *os, struct devmap *devs, const struct mount_table *table,
                           const struct discover_opts *opts)
{
	assert(*opts->prefix == '/');
	double begin = os_now();
	struct discovery *d = calloc(1, sizeof(*d));
	struct mounts *mounts = malloc(sizeof(*mounts));
	if (!d || !mounts) {
		free(d);
		free(mounts);
		return NULL;
	}
	d->mounts = mounts;
	*mounts = (struct mounts){
		.os = os, .devs = devs, .table = table, .tree = &d->tree, .root = MT_NONE,
		.rootfd = opts->rootfd, .prefix = opts->prefix, .procfd = opts->procfd,
		.procpath = opts->procpath, .lets_expire = opts->lets_expire,
		.trusts_root = opts->trusts_root,
		.unjudged = opts->names == DN_PURE && strcmp(opts->prefix, "/") == 0,
	};
	d->table = table;
	d->root = MT_NONE;
	d->rules = dsc_rules(opts);
	d->complete = true;
	struct dsc dsc = {
		.os = os,
		.table = table,
		.opts = opts,
		.d = d,
		.tree = &d->tree,
		.mounts = mounts,
		.unique = table->unique_ids,
		.rootfd = opts->rootfd,
		.own_root = MT_NONE,
	};
	bool done = false;
	unsigned need = table->unique_ids ? OSC_STATX_UNIQUE : OSC_STATX_MNT_ID;
	dsc.by_dev = opts->identity == DI_DEV || !(os->caps & need);
	d->by_dev = dsc.by_dev && table->source < TABLE_RECORDED;

	uint64_t root_key;
	if (dsc_root_key(&dsc, &root_key) != 0
	    || mtree_init(&d->tree, table->mounts, table->count, root_key) != 0
	    || (dsc.by_dev && mtree_group(&d->tree) != 0))
		goto out;
	if (opts->known)
		mounts_adopt(mounts, opts->known);
	if (root_key != 0)
		mounts->root = d->root = mtree_find(&d->tree, root_key);
	size_t n = d->tree.count + 1;
	d->targets = calloc(n, sizeof(*d->targets));
	d->kinds = calloc(n, sizeof(*d->kinds));
	dsc.flags = calloc(n, sizeof(*dsc.flags));
	if (!d->targets || !d->kinds || !dsc.flags)
		goto out;

	/* Pure naming ignores mount points, with two exceptions: searching for a mount outside the
	   prefix would be useless, and the prober needs names. */
	bool judge = opts->names != DN_PURE || strcmp(opts->prefix, "/") != 0 || opts->probe;
	if (judge && (dsc_own_root(&dsc, &dsc.own_root) != 0
	              || mtree_judge(&d->tree, dsc.own_root, "/") != 0))
		goto out;
	mtree_judge_outside(&d->tree, d->root, opts->prefix);
	if (dsc_establish(&dsc) != 0)
		goto out;
	mtree_check(&d->tree);
	dsc_finish(&dsc);
	done = true;
out:
	free(dsc.flags);
	map64_destroy(&dsc.by_old_id);
	pathmap_destroy(&dsc.no_look);
	if (dsc.rootfd_own)
		os_close(os, dsc.rootfd);
	d->stats.seconds = os_now() - begin;
	if (!done) {
		discovery_free(d);
		d = NULL;
	}
	return d;
}

void discovery_free(struct discovery *d)
{
	if (!d)
		return;
	if (d->mounts)
		mounts_destroy(d->mounts);
	free(d->mounts);
	mtree_destroy(&d->tree);
	free(d->targets);
	free(d->kinds);
	free(d->probed);
	free(d->boundaries);
	while (d->nagain > 0)
		table_free(d->again[--d->nagain]);
	arena_destroy(&d->names);
	free(d);
}

const char *discover_kind_name(const struct discovery *d, uint32_t node)
{
	enum discover_kind kind = (enum discover_kind)d->kinds[node];
	return kind == DK_FILE ? "file"
	       : kind == DK_DIR || d->tree.nodes[node].first != MT_NONE ? "directory"
	       : "directory or file";
}
