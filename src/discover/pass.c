/* SPDX-License-Identifier: MIT */
/*
 * The passes of a search: where they start, their limits, and the states of mounts that they do not
 * find.
 *
 * A search has at most two rounds, the second only if directories vanished in the first.  A round
 * is a pass over the directories and, if mounts are still missing, a pass over all entries (mount
 * points can be files).
 */
#include "discover/discover_impl.h"

#include "base/words.h"

#include <fcntl.h>
#include <stdlib.h>

enum {
	MAX_FDS = 8192,      /* descriptors, if the limit allows */
	TICK_DIRS = 32,      /* directories between two checks of the clock */
};

/** Report progress, and check the limits. */
static enum bfs_verdict walk_tick(struct walk *walk, const struct bfs_at *at)
{
	struct dsc *dsc = walk->dsc;
	const struct discover_opts *opts = dsc->opts;
	const struct bfs_stats *stats = bfs_stats(walk->bfs);
	uint64_t dirs = walk->dirs_before + stats->dirs;
	if (opts->max_dirs && dirs >= opts->max_dirs) {
		walk->limited = true;
		return BFS_END_ALL;
	}
	if (++walk->ticks % TICK_DIRS != 0)
		return BFS_SKIP;
	double now = os_now();
	if (walk->until > 0 && now >= walk->until) {
		walk->limited = true;
		return BFS_END_ALL;
	}
	if (opts->progress && now >= walk->next_tick) {
		walk->next_tick = now + 0.25;
		struct strbuf path = {0};
		bfs_path(at, &path);
		dsc_progress(dsc, &(struct discover_progress){
			.dirs = dirs,
			.entries = dsc->d->stats.entries + stats->entries,
			.where = strbuf_str(&path),
		});
		strbuf_destroy(&path);
	}
	return BFS_SKIP;
}

static enum bfs_verdict walk_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                                  struct bfs_enter *enter)
{
	struct walk *walk = arg;
	struct discover_stats *stats = &walk->dsc->d->stats;
	(void)entries;
	(void)enter;
	if (walk->failed)
		return BFS_END_ALL;
	if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV) {
		/* EXDEV: the directory was replaced or covered meanwhile. */
		if (error == EXDEV)
			walk_boundary(walk, at, &(struct k_statx){0});
		++walk->vanished;
	} else if (error == EACCES || error == EPERM) {
		++stats->denied_dirs;
		++stats->errors;
		walk_denied(walk, at);
	} else if (error) {
		++stats->errors;
		++walk->unread;
	}
	return walk_tick(walk, at);
}

/** Add the directories where a pass starts. */
static int walk_starts(struct walk *walk)
{
	struct dsc *dsc = walk->dsc;
	const struct mtree *tree = dsc->tree;
	bool from_root = dsc->opts->names != DN_HINT && !walk->files;
	uint32_t root = dsc->d->root;
	/* The root of the process can block, so it is not searched. */
	if (from_root && root != MT_NONE && mounts_block_itself(dsc->mounts, root))
		return 0;
	if (from_root && root != MT_NONE)
		return bfs_start(walk->bfs, ".", root, BFS_NORMAL, 0);

	/* Start at the parents of the missing mounts. */
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t node = tree->order[i];
		enum bfs_queue queue;
		if (!tree->nodes[node].settled || !dsc->d->targets[node]
		    || mtree_is_leaf(tree, node) || dsc->d->kinds[node] == DK_FILE
		    || tree->nodes[node].named < MT_NAMED_WALKED
		    || !walk_enters(walk, node, &queue))
			continue;
		int depth = 0;
		for (const char *p = dsc->d->targets[node]; *p; ++p)
			depth += p[0] == '/' && p[1] != '\0';
		if (dsc->opts->depth && depth > (int)dsc->opts->depth)
			continue;
		if (bfs_start(walk->bfs, dsc->d->targets[node], node, queue, depth) != 0)
			return -1;
	}
	return 0;
}

/** Run one pass.  @return 0, or -1. */
static int walk_pass(struct walk *walk, const struct bfs_policy *policy, unsigned max_fds)
{
	struct dsc *dsc = walk->dsc;
	struct discover_stats *stats = &dsc->d->stats;
	unsigned threads = dsc->opts->threads ? dsc->opts->threads : os_cpus(dsc->os);
	walk->bfs = bfs_new(dsc->os, policy, dsc->rootfd, threads, max_fds);
	if (!walk->bfs)
		return -1;
	atomic_store(&walk->late, false);
	int rc = walk_starts(walk) == 0 && bfs_run(walk->bfs) >= 0 && !walk->failed ? 0 : -1;
	const struct bfs_stats *done = bfs_stats(walk->bfs);
	stats->dirs += done->dirs;
	stats->entries += done->entries;
	walk->dirs_before += done->dirs;
	if (done->peak_frontier > stats->peak_frontier)
		stats->peak_frontier = done->peak_frontier;
	if (done->peak_fds > stats->peak_fds)
		stats->peak_fds = done->peak_fds;
	if (done->threads > stats->threads)
		stats->threads = done->threads;
	walk_count(walk, done);
	walk->limited |= atomic_load(&walk->late);
	bfs_free(walk->bfs);
	walk->bfs = NULL;
	walk_hide_below(walk);
	return rc;
}

/** Set missing mounts in directories without permission to MT_DENIED. */
static void walk_judge_denied(struct walk *walk)
{
	struct dsc *dsc = walk->dsc;
	struct mtree *tree = dsc->tree;
	for (uint32_t i = 0; i < tree->count && walk->ndenied > 0; ++i) {
		uint32_t node = tree->order[i];
		const char *name = dsc_kernel_name(dsc, node);
		if (tree->nodes[node].settled || !name || dsc->opts->names == DN_PURE)
			continue;
		for (size_t k = 0; k < walk->ndenied && !tree->nodes[node].settled; ++k) {
			if (!word_below(name, walk->denied[k]))
				continue;
			/* With mode 0711 the directory cannot be read, but names in it can be
			   tested. */
			dsc_confirm(dsc, node);
			if (tree->nodes[node].settled)
				break;
			dsc_settle(dsc, node, MT_DENIED);
		}
	}
}

/** Run all passes.  @return 0, or -1. */
static int walk_passes(struct walk *walk, const struct bfs_policy *policy, unsigned max_fds)
{
	struct dsc *dsc = walk->dsc;
	for (walk->round = 0; walk->round < 2; ++walk->round) {
		walk->vanished = walk->unread = 0;
		for (int files = 0; files < 2; ++files) {
			walk->files = files;
			if (walk_pass(walk, policy, max_fds) != 0)
				return -1;
			if (dsc->tree->waiting == 0 || walk->limited || !walk->dtype)
				break;
			/* A pass over files cannot find mounts in directories without
			   permission. */
			if (!files)
				walk_judge_denied(walk);
			if (dsc->tree->waiting == 0)
				break;
		}
		dsc->d->stats.vanished += walk->vanished;
		if (dsc->tree->waiting == 0 || walk->limited || walk->vanished == 0)
			break;
	}
	walk_judge_denied(walk);
	if (walk->limited && !dsc_out_of_time(dsc))
		dsc->partly = "the search reached its limit";
	else if (walk->limited)
		return 0;
	else if (walk->unread || walk->ndenied)
		dsc->partly = "directories could not be read";
	else if (dsc->opts->depth)
		dsc->partly = "the search was limited in depth";
	else if (walk->vanished)
		dsc->partly = "directories vanished while they were read";
	dsc->shifting = walk->vanished && !walk->limited && !walk->unread && !walk->ndenied
	                && !dsc->opts->depth;
	return 0;
}

/** Fill walk->nodes.  @return 0, or -1 (ENOMEM, or the root cannot be examined). */
static int walk_prepare(struct walk *walk)
{
	struct dsc *dsc = walk->dsc;
	const struct mtree *tree = dsc->tree;
	walk->nodes = calloc(tree->count, sizeof(*walk->nodes));
	if (!walk->nodes)
		return -1;
	bool openat2 = dsc->os->caps & OSC_OPENAT2;
	walk->dtype = dsc_rule(dsc, DR_DTYPE);
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		unsigned flags = fstype_flags(m->fstype);
		struct walk_node *node = &walk->nodes[i];
		*node = (struct walk_node){
			.key = m->key,
			.old_id = m->id,
			.dev_major = m->dev_major,
			.dev_minor = m->dev_minor,
			.nlink = flags & FST_NLINK && dsc_rule(dsc, DR_NLINK),
			.subvol = flags & FST_SUBVOL,
			.proc = m->fstype && strcmp(m->fstype, "proc") == 0,
			.last_pos = flags & FST_LAST_POS,
			/* A file system of plain directories that contains no mounts. */
			.unlooked = flags & FST_NLINK && !tree->nodes[i].has_children && openat2
			            && dsc_rule(dsc, DR_UNLOOKED),
			.same_dev = MT_NONE,
			.next_avoid = MT_NONE,
		};
		atomic_init(&node->wanted, !(mtree_is_leaf(tree, i) && dsc_rule(dsc, DR_LEAF))
		                                   || walk_for_boundaries(walk, i));
	}
	if (map64_reserve(&walk->avoid, 1) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const char *name = dsc_kernel_name(dsc, i);
		/* statx shows the top of a stack; the directory entry is on the mount that contains
		   the mount point of the lowest one. */
		if (!mounts_no_look(dsc->mounts, i) || !name || tree->nodes[i].top != i)
			continue;
		uint32_t lowest = i;
		while (mtree_stacked(tree, lowest))
			lowest = tree->nodes[lowest].parent;
		uint32_t parent = tree->nodes[lowest].parent;
		if (parent == MT_NONE)
			continue;
		uint64_t key = walk_avoid_key(parent, strrchr(name, '/') + 1);
		uint32_t first = map64_put(&walk->avoid, key, i);
		if (first == MAP64_NONE)
			return -1;
		walk->nodes[parent].avoids = true;
		if (first != i) {
			walk->nodes[i].next_avoid = walk->nodes[first].next_avoid;
			walk->nodes[first].next_avoid = i;
		}
	}
	for (uint32_t i = tree->count; dsc->by_dev && i-- > 0;) {
		uint32_t first = map64_put(&walk->by_dev_first, mount_dev(tree->nodes[i].mount), i);
		if (first == MAP64_NONE)
			return -1;
		if (first != i) {
			walk->nodes[i].same_dev = walk->nodes[first].same_dev;
			walk->nodes[first].same_dev = i;
		}
	}
	/* If the root of the run is not a mount, statx shows the device of its mount. */
	if (dsc->by_dev && dsc->d->root != MT_NONE && tree->nodes[dsc->d->root].made) {
		const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
		struct k_statx st;
		struct walk_node *root = &walk->nodes[dsc->d->root];
		if (os_statx(dsc->os, dsc->rootfd, "", flags, 0, &st) != 0)
			return -1;
		root->dev_major = st.dev_major;
		root->dev_minor = st.dev_minor;
	}
	return 0;
}

int dsc_walk(struct dsc *dsc)
{
	if (dsc->rootfd == AT_FDCWD) {
		int fd = os_openat(dsc->os, AT_FDCWD, "/", O_PATH | O_DIRECTORY);
		if (fd < 0)
			return -1;
		dsc->rootfd = fd;
		dsc->rootfd_own = true;
	}
	double now = os_now();
	struct walk walk = {
		.dsc = dsc,
		.until = dsc->opts->max_seconds > 0 ? now + dsc->opts->max_seconds : 0,
		.next_tick = now + 0.25,
	};
	if (dsc->opts->deadline > 0 && (walk.until <= 0 || dsc->opts->deadline < walk.until))
		walk.until = dsc->opts->deadline;
	struct bfs_policy policy;
	walk_policy(&walk, &policy);
	policy.done = walk_done;
	bool guest = dsc->opts->guest;
	unsigned limit = os_nofile(dsc->os, MAX_FDS, !guest) / (guest ? 2 : 1);
	/* Leave some descriptors for the rest of the program and for the caller. */
	unsigned max_fds = limit > 64 ? limit - 32 : limit / 4;

	int rc = walk_prepare(&walk);
	if (rc == 0)
		rc = walk_passes(&walk, &policy, max_fds);
	free(walk.denied);
	free(walk.nodes);
	map64_destroy(&walk.avoid);
	map64_destroy(&walk.by_dev_first);
	return rc;
}
