/* SPDX-License-Identifier: MIT */
/*
 * The search for mounts: its policy for bfs, and the pruning rules.
 *
 * A new rule needs: a row of DISCOVER_RULES (discover_impl.h); a test by dsc_rule() or by a field
 * of struct walk_node, in walk_entry() (by name and type), walk_meta() (by metadata),
 * walk_judge() (at a mount or boundary) or walk_settled() (after a mount was named); and a row
 * in tests/unit/test_discover.c.
 *
 *   walk_entry, walk_meta    run in any thread, and only read struct walk_node
 *   walk_judge               runs in the thread that owns the tree
 */
#include "discover/discover_impl.h"

#include "base/array.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <dirent.h>

#define A1 (1u << DA_GETMNT1)
#define A2 (1u << DA_GETMNT2)
#define A3 (1u << DA_GETMNT3)

_Static_assert((int)DR_NRULES < (int)DISCOVER_RULES_MAX, "rules fit");

#define RULE(name, word, algorithms, what) [DR_##name] = {word, what, algorithms},
const struct discover_rule_row discover_rules[DISCOVER_RULES_MAX] = {DISCOVER_RULES(RULE)};

enum {
	/* Counters in the same array, following the counters of rules. */
	HIT_VANISHED = DR_NRULES,
	HIT_DENIED,
	HIT_ERROR,
	HIT_ENTRIES,
	DENIED_MAX = 4096,           /* limit on recorded directories without permission */
	BTRFS_SUBVOLUME_INO = 256,   /* BTRFS_FIRST_FREE_OBJECTID */
	TICK_ENTRIES = 4096,         /* entries between two checks of the clock */
};
_Static_assert((int)HIT_ENTRIES < (int)BFS_HITS, "counters fit");

bool walk_for_boundaries(const struct walk *walk, uint32_t node)
{
	return walk->dsc->opts->boundaries && walk->nodes[node].subvol;
}

/* These functions run in any thread. */

/** Whether an entry must not be examined. */
static bool walk_avoids(const struct walk *walk, const struct bfs_at *at)
{
	uint32_t i = map64_get(&walk->avoid, walk_avoid_key(at->tag, at->name));
	while (i != MT_NONE && !bfs_path_is(at, dsc_kernel_name(walk->dsc, i)))
		i = walk->nodes[i].next_avoid;
	return i != MT_NONE;
}

/** Whether the entries are at the maximum depth, so that they are not entered. */
static bool walk_at_depth(const struct walk *walk, const struct bfs_at *at)
{
	unsigned depth = walk->dsc->opts->depth;
	return depth > 0 && at->depth >= (int)depth;
}

static enum bfs_verdict walk_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                   const struct bfs_entry *entry)
{
	struct walk *walk = arg;
	struct walk_node *node = &walk->nodes[at->tag];
	bool tick = ++scratch->hits[HIT_ENTRIES] % TICK_ENTRIES == 0;
	if (tick && walk->until > 0 && os_now() >= walk->until) {
		atomic_store_explicit(&walk->late, true, memory_order_relaxed);
		return BFS_END_ALL;
	}
	if (!atomic_load_explicit(&node->wanted, memory_order_relaxed)) {
		++scratch->hits[DR_SHRINK];
		return BFS_END_DIR;
	}
	bool maybe_dir = entry->type == DT_DIR || entry->type == DT_UNKNOWN;
	if (!maybe_dir && walk->dtype && !walk->files) {
		++scratch->hits[DR_DTYPE];
		return BFS_SKIP;
	}
	if (node->unlooked && entry->type == DT_DIR
	    && !(node->proc && fstype_dir_waits("proc", entry->name))) {
		++scratch->hits[DR_UNLOOKED];
		return walk_at_depth(walk, at) ? BFS_SKIP : BFS_ENTER;
	}
	if (node->avoids && walk_avoids(walk, at))
		return BFS_SKIP;
	return BFS_LOOK;
}

/** Whether statx shows another mount than the directory's. */
static bool walk_crosses(const struct walk *walk, const struct walk_node *node,
                         const struct k_statx *st)
{
	if (walk->dsc->by_dev)
		return st->dev_major != node->dev_major || st->dev_minor != node->dev_minor;
	uint64_t id = os_statx_mnt_id(st, walk->dsc->unique);
	return id ? id != node->key : os_statx_mnt_id(st, false) != node->old_id;
}

static enum bfs_verdict walk_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                  const struct bfs_entry *entry, const struct k_statx *st,
                                  int error)
{
	const struct walk *walk = arg;
	const struct walk_node *node = &walk->nodes[at->tag];
	bool denied = error == EACCES || error == EPERM;
	if (denied && entry->type == DT_DIR)
		return BFS_JUDGE;
	if (error) {
		++scratch->hits[error == ENOENT ? HIT_VANISHED : denied ? HIT_DENIED : HIT_ERROR];
		return BFS_SKIP;
	}
	if (walk_crosses(walk, node, st))
		return BFS_JUDGE;
	if (!S_ISDIR(st->mode))
		return BFS_SKIP;
	if (st->attributes & st->attributes_mask & K_STATX_ATTR_AUTOMOUNT)
		return BFS_JUDGE;
	if (node->subvol && st->ino == BTRFS_SUBVOLUME_INO)
		return BFS_JUDGE;
	if (walk_at_depth(walk, at))
		return BFS_SKIP;
	/* This directory contains only links. */
	if (node->proc && fstype_dir_waits("proc", entry->name))
		return BFS_SKIP;
	if (node->nlink && st->nlink == 2 && !walk->files) {
		++scratch->hits[DR_NLINK];
		return BFS_SKIP;
	}
	return BFS_ENTER;
}

/* These functions run in the thread that owns the tree. */

/** After a node was settled: mark the mounts whose directories no longer need to be read. */
static void walk_settled(struct walk *walk, uint32_t node)
{
	struct dsc *dsc = walk->dsc;
	const struct mtree *tree = dsc->tree;
	uint32_t parent;
	while ((parent = tree->nodes[node].parent) != MT_NONE && mtree_is_leaf(tree, parent)) {
		if (dsc_rule(dsc, DR_SHRINK) && !walk_for_boundaries(walk, parent))
			atomic_store_explicit(&walk->nodes[parent].wanted, false,
			                      memory_order_relaxed);
		/* Identity by device: an ambiguous mount was searched only for its children. */
		if (!(dsc->flags[parent] & (DF_INSIDE | DF_TWIN)) || tree->nodes[parent].settled)
			break;
		dsc_settle(dsc, parent, MT_UNTESTED);
		node = parent;
	}
}

/** Copy the path of an entry into the discovery.
    @return the path; NULL: walk->failed is set. */
static const char *walk_path(struct walk *walk, const struct bfs_at *at)
{
	struct strbuf path = {0};
	bfs_path(at, &path);
	const char *name = dsc_keep_text(walk->dsc, &path);
	walk->failed |= !name;
	return name;
}

void walk_boundary(struct walk *walk, const struct bfs_at *at, const struct k_statx *st)
{
	struct discovery *d = walk->dsc->d;
	if (!walk->dsc->opts->boundaries || walk->files || walk->round > 0)
		return;
	if (!ARRAY_ROOM(d->boundaries, d->nboundaries, &d->boundaries_room)) {
		walk->failed = true;
		return;
	}
	const char *name = walk_path(walk, at);
	if (!name)
		return;
	d->boundaries[d->nboundaries++] = (struct discover_boundary){
		.path = name,
		.mnt_id = st->mask & (K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE) ? st->mnt_id : 0,
		.dev_major = st->dev_major,
		.dev_minor = st->dev_minor,
		.node = at->tag,
		.automount = st->attributes & K_STATX_ATTR_AUTOMOUNT,
	};
}

void walk_denied(struct walk *walk, const struct bfs_at *at)
{
	if (walk->ndenied >= DENIED_MAX)
		return;
	if (!ARRAY_ROOM(walk->denied, walk->ndenied, &walk->denied_size)) {
		walk->failed = true;
		return;
	}
	const char *name = walk_path(walk, at);
	if (name)
		walk->denied[walk->ndenied++] = name;
}

/** Identity by device: the node that an entry of mount `on` shows, preferably an unsettled one. */
static uint32_t walk_node_by_dev(const struct walk *walk, uint32_t on, const struct k_statx *st)
{
	const struct mtree *tree = walk->dsc->tree;
	uint32_t best = MT_NONE;
	uint32_t i = map64_get(&walk->by_dev_first, (uint64_t)st->dev_major << 32 | st->dev_minor);
	for (; i != MT_NONE; i = walk->nodes[i].same_dev) {
		const struct mt_node *node = &tree->nodes[i];
		uint8_t flags = walk->dsc->flags[i];
		if (flags & DF_INSIDE || (node->settled && !(flags & DF_TWIN)))
			continue;
		uint32_t up = node->parent;
		while (up != MT_NONE && up != on && tree->nodes[up].group != tree->nodes[on].group)
			up = tree->nodes[up].parent;
		if (up == MT_NONE)
			continue;
		const struct mt_node *than = best == MT_NONE ? NULL : &tree->nodes[best];
		if (!than || node->settled < than->settled
		    || (node->settled == than->settled && node->depth < than->depth))
			best = i;
	}
	return best;
}

/** Settle a node as hidden by another node. */
static void walk_covered(struct dsc *dsc, uint32_t node, uint32_t by)
{
	dsc_settle(dsc, node, MT_HIDDEN);
	dsc->tree->nodes[node].covered_by = by;
	if (dsc->opts->names == DN_PURE)
		dsc_name(dsc, node, NULL, MT_NAMED_NONE);
}

/** Name the mount that an entry of mount `on` shows, and its ancestors up to `on`, which are
    stacked on the same mount point. */
static void walk_name(struct walk *walk, uint32_t on, uint32_t top, const char *path)
{
	struct dsc *dsc = walk->dsc;
	struct mtree *tree = dsc->tree;
	uint32_t end = top;
	while (end != MT_NONE && end != on)
		end = tree->nodes[end].parent;

	struct mt_node *node = &tree->nodes[top];
	if (!node->settled || node->named == MT_NAMED_NONE || node->states & 1u << MT_HIDDEN) {
		dsc_name(dsc, top, path, MT_NAMED_WALKED);
		/* The table was wrong, or has changed since. */
		mtree_uncover(tree, top);
		if (mounts_block_itself(dsc->mounts, top))
			mtree_state(tree, top, MT_UNTESTED);
		walk_settled(walk, top);
	}
	if (end != on)
		return;   /* it was moved here: its ancestors are elsewhere */
	for (uint32_t at = node->parent; at != on; at = tree->nodes[at].parent) {
		struct mt_node *below = &tree->nodes[at];
		/* It is covered: other mounts on it cannot be reached. */
		for (uint32_t c = below->first; c != MT_NONE; c = tree->nodes[c].next) {
			if (!tree->nodes[c].settled)
				walk_covered(dsc, c, top);
		}
		if (below->settled)
			continue;
		dsc_name(dsc, at, path, MT_NAMED_INFERRED);
		mtree_state(tree, at, MT_HIDDEN);
		below->covered_by = top;
		dsc->d->kinds[at] = dsc->d->kinds[top];
		walk_settled(walk, at);
	}
}

void walk_hide_below(struct walk *walk)
{
	struct dsc *dsc = walk->dsc;
	struct mtree *tree = dsc->tree;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t index = tree->order[i];
		struct mt_node *node = &tree->nodes[index];
		if (node->settled || node->parent == MT_NONE)
			continue;
		const struct mt_node *parent = &tree->nodes[node->parent];
		if (parent->settled && parent->named <= MT_NAMED_KERNEL
		    && parent->states & 1u << MT_HIDDEN)
			walk_covered(dsc, index, parent->covered_by);
	}
}

bool walk_enters(const struct walk *walk, uint32_t node, enum bfs_queue *queue)
{
	const struct dsc *dsc = walk->dsc;
	if (mounts_block(dsc->mounts, node))
		return false;
	if (dsc_rule(dsc, DR_LEAF) && mtree_is_leaf(dsc->tree, node)
	    && !walk_for_boundaries(walk, node))
		return false;
	bool last = dsc_type(dsc, node) & FST_LAST;
	*queue = last && dsc_rule(dsc, DR_PSEUDO) ? BFS_LAST : BFS_NORMAL;
	return true;
}

static enum bfs_verdict walk_judge(void *arg, const struct bfs_at *at, const struct k_statx *st,
                                   struct bfs_enter *enter)
{
	struct walk *walk = arg;
	struct dsc *dsc = walk->dsc;
	uint32_t on = at->tag;
	uint64_t *hits = dsc->d->stats.rule_hits;
	const struct walk_node *node = &walk->nodes[on];
	assert(on < dsc->tree->count);

	if (st->mask == 0 && st->mode == 0) {
		/* walk_meta() failed with EACCES or EPERM for a directory. */
		++dsc->d->stats.denied_dirs;
		++dsc->d->stats.errors;
		walk_denied(walk, at);
		return BFS_SKIP;
	}
	if (!walk_crosses(walk, node, st)) {
		/* An automount point, or a subvolume that is not a mount. */
		walk_boundary(walk, at, st);
		if (st->attributes & st->attributes_mask & K_STATX_ATTR_AUTOMOUNT)
			return BFS_SKIP;
		bool later = dsc_rule(dsc, DR_BOUNDARY);
		hits[DR_BOUNDARY] += later;
		*enter = (struct bfs_enter){true, on, later ? BFS_BOUNDARY : BFS_NORMAL};
		return BFS_SKIP;
	}

	uint32_t top = walk->dsc->by_dev ? walk_node_by_dev(walk, on, st) : dsc_node_of(dsc, st);
	if (top == MT_NONE || !(walk->dsc->by_dev || os_statx_is_mount_root(st))) {
		walk_boundary(walk, at, st);
		return BFS_SKIP;
	}
	/* Twins are entered wherever they are found, but are never named. */
	bool twin = walk->dsc->by_dev && dsc->flags[top] & DF_TWIN;
	bool again = twin || (dsc->tree->nodes[top].settled && dsc->d->targets[top]
	                      && dsc->tree->nodes[top].named >= MT_NAMED_INFERRED);
	if (!again) {
		const char *path = walk_path(walk, at);
		if (!path)
			return BFS_END_ALL;
		dsc_looked(dsc, top, st);
		walk_name(walk, on, top, path);
	}
	enum bfs_queue queue;
	/* The second round enters the mounts named in the first again; the pass over files starts
	   at each mount that is still INTERNAL. */
	bool enter_it = !again || twin || (walk->round > 0 && !walk->files);
	if (enter_it && S_ISDIR(st->mode) && !walk_at_depth(walk, at)) {
		if (walk_enters(walk, top, &queue))
			*enter = (struct bfs_enter){true, top, queue};
		else
			++hits[DR_LEAF];
	}
	if (dsc->tree->waiting == 0 && dsc_rule(dsc, DR_END) && !dsc->opts->boundaries) {
		++hits[DR_END];
		return BFS_END_ALL;
	}
	return atomic_load_explicit(&node->wanted, memory_order_relaxed) ? BFS_SKIP : BFS_END_DIR;
}

static bool walk_wanted(void *arg, uint32_t tag)
{
	const struct walk *walk = arg;
	return atomic_load_explicit(&walk->nodes[tag].wanted, memory_order_relaxed);
}

static uint64_t walk_mnt_id(void *arg, uint32_t tag, bool *unique)
{
	const struct walk *walk = arg;
	*unique = walk->dsc->unique;
	return walk->dsc->by_dev ? 0 : walk->nodes[tag].key;
}

static bool walk_last_pos(void *arg, uint32_t tag)
{
	const struct walk *walk = arg;
	return !walk->dsc->by_dev && walk->nodes[tag].last_pos;
}

void walk_count(struct walk *walk, const struct bfs_stats *done)
{
	struct discover_stats *stats = &walk->dsc->d->stats;
	for (int i = 0; i < DR_NRULES; ++i)
		stats->rule_hits[i] += done->hits[i];
	stats->rule_hits[DR_SHRINK] += done->dropped;
	stats->errors += done->hits[HIT_ERROR] + done->hits[HIT_DENIED];
	stats->denied_dirs += done->hits[HIT_DENIED];
	walk->unread += done->hits[HIT_ERROR];
	walk->vanished += done->hits[HIT_VANISHED];
}

void walk_policy(struct walk *walk, struct bfs_policy *policy)
{
	bool newest = dsc_rule(walk->dsc, DR_LIKELY);
	*policy = (struct bfs_policy){
		.order = walk->dsc->opts->algorithm == DA_GETMNT3 ? BFS_BREADTH : BFS_DEPTH,
		.newest = newest,
		.statx_mask = dsc_id_mask(walk->dsc) | K_STATX_TYPE | K_STATX_NLINK | K_STATX_INO
		              | (newest ? K_STATX_MTIME : 0),
		.statx_flags = AT_STATX_DONT_SYNC,
		.entry = walk_entry,
		.meta = walk_meta,
		.mnt_id = walk_mnt_id,
		.last_pos = walk_last_pos,
		.judge = walk_judge,
		.wanted = walk_wanted,
		.arg = walk,
	};
}
