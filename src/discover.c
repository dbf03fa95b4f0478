/* SPDX-License-Identifier: MIT */
/*
 * Discovery: the flow of a run.
 *
 *   1. the tree of the table's IDs; the root that the process has
 *   2. judged by the table alone: hidden, outside, deleted
 *   3. what can block, and what lies behind it: named by the table, untouched
 *   4. hints tested (one statx each), or the tree searched
 *   5. what is left asked for again, and told: lost, unsearched, or gone
 *
 * Hints are in discover_hints.c, the search and the pruning rules in
 * discover_walk.c, what can block in discover_block.c.
 */
#include "discover.h"

#include "base/fstypes.h"
#include "discover_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

const char *dsc_kernel_name(const struct dsc *dsc, uint32_t node)
{
	const struct mt_node *n = &dsc->tree->nodes[node];
	const char *point = n->mount->point, *prefix = dsc->opts->prefix;
	if (!point)
		return NULL;
	if (node == dsc->d->root)
		return "/";
	if (strcmp(prefix, "/") == 0 || n->states & 1u << MT_OUTSIDE || !mtree_path_within(point, prefix))
		return point;
	point += strlen(prefix);
	return *point ? point : "/";
}

void dsc_name(struct dsc *dsc, uint32_t node, const char *name, enum mt_named named)
{
	dsc->tree->nodes[node].named = (uint8_t)named;
	dsc->d->targets[node] = name;
	mtree_settle(dsc->tree, node);
}

unsigned dsc_id_mask(const struct dsc *dsc)
{
	if (dsc->by_dev)
		return 0;
	return dsc->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

uint32_t dsc_node_of(struct dsc *dsc, const struct k_statx *st)
{
	uint64_t id = os_statx_mnt_id(st, dsc->unique);
	if (id != 0)
		return mtree_find(dsc->tree, id);
	/* Asked with mask 0, the kernel fills in the 32-bit one. */
	id = os_statx_mnt_id(st, false);
	if (id == 0)
		return MT_NONE;
	if (!dsc->by_old_id.slots) {
		for (uint32_t i = 0; i < dsc->tree->count; ++i)
			map64_put(&dsc->by_old_id, dsc->tree->nodes[i].mount->id, i);
	}
	return map64_get(&dsc->by_old_id, id);
}

bool dsc_out_of_time(struct dsc *dsc)
{
	if (dsc->opts->deadline <= 0 || os_now() < dsc->opts->deadline)
		return false;
	dsc->partly = "the time of --max-time was over";
	dsc->shifting = false;
	return true;
}

void dsc_looked(struct dsc *dsc, uint32_t node, const struct k_statx *st)
{
	if (st->mode != 0)
		dsc->d->kinds[node] = S_ISDIR(st->mode) ? DK_DIR : DK_FILE;
	/* "//deleted" is what the kernel says; a link count denies it only where
	   link counts are kept. */
	struct mt_node *n = &dsc->tree->nodes[node];
	if (st->mask & K_STATX_NLINK && st->nlink > 0
	    && fstype_flags(n->mount->fstype) & FST_NLINK)
		n->states &= (uint16_t)~(1u << MT_DELETED);
}

/** The rules of a run: those of its algorithm, and the switches. */
static unsigned dsc_rules(const struct discover_opts *opts)
{
	unsigned rules = 0;
	for (int i = 0; i < DISCOVER_RULES_MAX; ++i) {
		if (discover_rules[i].algorithms & 1u << opts->algorithm)
			rules |= 1u << i;
	}
	return (rules | opts->prune_on) & ~opts->prune_off;
}

/** See which mount holds the root of the run.  @return its key, 0 if unknown. */
static uint64_t dsc_root_key(struct dsc *dsc)
{
	const struct os *os = dsc->os;
	if (dsc->table->source >= TABLE_RECORDED)
		return 0;
	if (dsc->opts->names == DN_KERNEL) {
		/* Nothing is touched; the probe at the start knows of "/". */
		if (dsc->rootfd != AT_FDCWD)
			return 0;
		return dsc->unique ? os->root_uniq : os->root_id;
	}
	struct k_statx st;
	bool cwd = dsc->rootfd == AT_FDCWD;
	if (os_statx(dsc->os, dsc->rootfd, cwd ? "/" : "", AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC
	             | (cwd ? 0 : AT_EMPTY_PATH), dsc_id_mask(dsc), &st) != 0)
		return 0;
	uint64_t id = os_statx_mnt_id(&st, dsc->unique);
	if (id != 0)
		return id;
	/* By device: the mount on "/" (or the nearest above it) of that device. */
	uint64_t dev = (uint64_t)st.dev_major << 32 | st.dev_minor, key = 0;
	size_t longest = 0;
	for (size_t i = 0; i < dsc->table->count; ++i) {
		const struct mount *m = &dsc->table->mounts[i];
		if (m->point && mount_dev(m) == dev && mtree_path_within(dsc->opts->prefix, m->point)
		    && strlen(m->point) >= longest) {
			longest = strlen(m->point);
			key = m->key;
		}
	}
	return key;
}

void dsc_untouched(struct dsc *dsc, uint32_t node)
{
	const char *name = dsc_kernel_name(dsc, node);
	dsc_name(dsc, node, name, name ? MT_NAMED_KERNEL : MT_NAMED_NONE);
	mtree_state(dsc->tree, node, MT_UNTESTED);
}

/**
 * By device: mark what cannot be told apart.  A mount of its parent's device
 * is not seen when it is crossed; of those with the same <device, mounted-on
 * device> (Smith's Figure 5) it cannot be said which one was found where.
 */
static int dsc_find_alike(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct map64 groups;
	map64_init(&groups);
	if (map64_reserve(&groups, tree->count) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		if (node->settled || node->parent == MT_NONE || i == dsc->d->root)
			continue;
		if (mount_dev(node->mount) == mount_dev(tree->nodes[node->parent].mount))
			dsc->flags[i] |= DF_INSIDE;
		/* btrfs shows a device of its own in every subvolume. */
		if (fstype_flags(node->mount->fstype) & FST_SUBVOL)
			dsc->flags[i] |= DF_INSIDE;
		uint32_t first = map64_put(&groups, node->group, i);
		if (first != i && dsc->opts->names != DN_HINT) {
			dsc->flags[i] |= DF_TWIN;
			dsc->flags[first] |= DF_TWIN;
		}
	}
	map64_destroy(&groups);
	/* Children first.  What has some that can be told is waited for, so that
	   they are. */
	for (uint32_t i = tree->count; i-- > 0;) {
		uint32_t node = tree->order[i];
		bool waits = dsc->opts->names != DN_HINT && !mtree_is_leaf(tree, node);
		if (dsc->flags[node] & (DF_INSIDE | DF_TWIN) && !waits && !tree->nodes[node].settled)
			dsc_untouched(dsc, node);
	}
	return 0;
}

/** Settle what must not be waited for: it cannot, or may not, be reached. */
static void dsc_settle_unreachable(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	for (uint32_t i = 0; i < tree->count; ++i) {
		struct mt_node *node = &tree->nodes[i];
		const char *name = dsc_kernel_name(dsc, i);
		enum mt_named named = name ? MT_NAMED_KERNEL : MT_NAMED_NONE;
		if (i == dsc->d->root)
			continue;
		/* The kernel has no path for it from our root: its place was
		   moved out of the bind that it is on. */
		if (!name && dsc->table->fields & MF_POINT)
			mtree_state(tree, i, MT_OUTSIDE);
		if (node->states & 1u << MT_OUTSIDE
		    || (node->place_hidden
		        && (!dsc_waits_for_hidden(dsc) || dsc->opts->names == DN_HINT)))
			dsc_name(dsc, i, name, named);
		else if (dsc->flags[i] & DF_BEHIND || (dsc->flags[i] & DF_NO_LOOK && node->top == i))
			dsc_untouched(dsc, i);
	}
}

/** Name what is stacked below a named mount after it. */
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

/** Take in what the kernel says of a mount that was not found. */
static void dsc_take_answer(struct dsc *dsc, uint32_t index, const struct mount *now)
{
	struct mt_node *node = &dsc->tree->nodes[index];
	/* A 32-bit ID is used again: another mount wears the number. */
	if (!now || mount_dev(now) != mount_dev(node->mount)) {
		node->gone = true;
		mtree_settle(dsc->tree, index);
		return;
	}
	node->mount = now;
	/* Before it is said to be lost, or might be. */
	if (!dsc->partly || dsc->shifting)
		dsc_confirm(dsc, index);
}

int dsc_ask_again(struct dsc *dsc, const uint64_t *keys, size_t n,
                  const struct mount_table **again, struct map64 *there)
{
	struct discovery *d = dsc->d;
	struct mount_table *table = table_ask_again(dsc->os, dsc->table, keys, n, dsc->opts->procfd,
	                                            dsc->opts->procpath);
	*again = NULL;
	map64_init(there);
	if (!table)
		return 0;
	/* The names of the records are used: keep them. */
	if (d->nagain == sizeof(d->again) / sizeof(*d->again) || map64_reserve(there, table->count) != 0) {
		table_free(table);
		errno = ENOMEM;
		return -1;
	}
	d->again[d->nagain++] = table;
	for (size_t i = 0; i < table->count; ++i)
		map64_put(there, table->mounts[i].key, (uint32_t)i);
	*again = table;
	return 0;
}

/** Ask again for what was not found: drop what is gone. */
static int dsc_ask_for_missing(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	uint64_t *keys = malloc((tree->waiting + 1) * sizeof(*keys));
	if (!keys)
		return -1;
	size_t n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		if (!tree->nodes[i].settled && !tree->nodes[i].made)
			keys[n++] = tree->nodes[i].mount->key;
	}
	const struct mount_table *again;
	struct map64 there;
	int rc = dsc_ask_again(dsc, keys, n, &again, &there);
	free(keys);
	if (rc != 0 || !again)
		return rc;   /* where it cannot be known, nothing is gone */
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[tree->order[i]];
		if (node->settled || node->made)
			continue;
		uint32_t now = map64_get(&there, node->mount->key);
		dsc_take_answer(dsc, tree->order[i], now == MAP64_NONE ? NULL : &again->mounts[now]);
	}
	map64_destroy(&there);
	return 0;
}

/** Tell of every node left what became of it, and count. */
static void dsc_finish(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct discovery *d = dsc->d;
	for (uint32_t i = 0; i < tree->count; ++i) {
		struct mt_node *node = &tree->nodes[i];
		if (node->gone) {
			++d->stats.gone;
			continue;
		}
		if (!node->settled && dsc->flags[i] & (DF_INSIDE | DF_TWIN))
			dsc_untouched(dsc, i);
		if (!node->settled && !(node->states & (1u << MT_HIDDEN | 1u << MT_OUTSIDE | 1u << MT_DENIED)))
			mtree_state(tree, i, dsc->partly ? MT_UNSEARCHED : MT_LOST);
		if (!node->settled && !d->targets[i]) {
			const char *name = dsc->opts->names == DN_PURE ? NULL : dsc_kernel_name(dsc, i);
			d->targets[i] = name;
			node->named = name ? MT_NAMED_KERNEL : MT_NAMED_NONE;
		}
		if (node->states == 0 || node->states == 1u << MT_DELETED)
			mtree_state(tree, i, MT_OK);
		if (node->states & (1u << MT_LOST | 1u << MT_UNSEARCHED))
			d->complete = false;
		if (!d->complete && !d->incomplete)
			d->incomplete = node->states & 1u << MT_LOST
			                ? "a mount is in the table, and a complete search did not find it"
			                : dsc->partly ? dsc->partly : "mounts change faster than they can be looked at";
		++d->stats.named[node->named];
		++d->stats.states[mtree_shown_state(node)];
	}
}

/** Run the naming that was chosen.  @return 0, or -1. */
static int dsc_establish(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	struct discovery *d = dsc->d;

	if (dsc->opts->names == DN_KERNEL || dsc->table->source >= TABLE_RECORDED) {
		for (uint32_t i = 0; i < tree->count; ++i) {
			const char *name = dsc_kernel_name(dsc, i);
			dsc_name(dsc, i, name, name ? MT_NAMED_KERNEL : MT_NAMED_NONE);
			if (!(tree->nodes[i].states & (1u << MT_HIDDEN | 1u << MT_OUTSIDE)))
				mtree_state(tree, i, MT_UNTESTED);
		}
		return 0;
	}

	if (dsc_find_blocking(dsc) != 0)
		return -1;
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
	bool search = tree->waiting > 0 || dsc->opts->boundaries || (dsc->opts->names != DN_HINT && !dsc_ends_early(dsc));
	if (search && !dsc_out_of_time(dsc) && dsc_walk(dsc) != 0)
		return -1;
	dsc_infer_stacks(dsc);
	/* A mount that comes and goes can slip away three times running, but
	   not from a table that stands still. */
	int rc = 0;
	for (int round = 0; rc == 0 && tree->waiting > 0 && round < 3 && !dsc_out_of_time(dsc); ++round)
		rc = dsc_ask_for_missing(dsc);
	return rc;
}

/** Allocate a discovery. */
static struct discovery *discovery_new(const struct mount_table *table, const struct discover_opts *opts)
{
	struct discovery *d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	arena_init(&d->names);
	d->table = table;
	d->root = MT_NONE;
	d->rules = dsc_rules(opts);
	d->complete = true;
	return d;
}

struct discovery *discover(struct os *os, struct devmap *devs, const struct mount_table *table,
                           const struct discover_opts *opts)
{
	double begin = os_now();
	struct discovery *d = discovery_new(table, opts);
	if (!d)
		return NULL;
	struct dsc dsc = {
		.os = os,
		.devs = devs,
		.table = table,
		.opts = opts,
		.d = d,
		.tree = &d->tree,
		.unique = table->unique_ids,
		.rootfd = opts->rootfd,
	};
	bool done = false;
	unsigned need = table->unique_ids ? OSC_STATX_UNIQUE : OSC_STATX_MNT_ID;
	dsc.by_dev = opts->identity == DI_DEV || !(os->caps & need);
	d->by_dev = dsc.by_dev && table->source < TABLE_RECORDED;

	uint64_t root_key = dsc_root_key(&dsc);
	if (mtree_init(&d->tree, table->mounts, table->count, root_key) != 0)
		goto out;
	if (root_key != 0)
		d->root = mtree_find(&d->tree, root_key);
	size_t n = d->tree.count + 1;
	d->targets = calloc(n, sizeof(*d->targets));
	d->kinds = calloc(n, sizeof(*d->kinds));
	dsc.flags = calloc(n, sizeof(*dsc.flags));
	if (!d->targets || !d->kinds || !dsc.flags)
		goto out;

	/* Pure naming is by IDs alone; a prefix is a name, and what is outside
	   could only be waited for in vain. */
	bool judge = opts->names != DN_PURE || strcmp(opts->prefix, "/") != 0;
	if (judge && mtree_judge(&d->tree, d->root, opts->prefix) != 0)
		goto out;
	if (dsc_establish(&dsc) != 0)
		goto out;
	dsc_finish(&dsc);
	done = true;
out:
	{
		int error = errno;
		free(dsc.flags);
		map64_destroy(&dsc.by_old_id);
		if (dsc.rootfd_own)
			os_close(os, dsc.rootfd);
		d->stats.seconds = os_now() - begin;
		if (!done) {
			discovery_free(d);
			d = NULL;
		}
		errno = error;
	}
	return d;
}

void discovery_free(struct discovery *d)
{
	if (!d)
		return;
	mtree_destroy(&d->tree);
	free(d->targets);
	free(d->kinds);
	for (size_t i = 0; i < d->nboundaries; ++i)
		free(d->boundaries[i].path);
	free(d->boundaries);
	while (d->nagain > 0)
		table_free(d->again[--d->nagain]);
	arena_destroy(&d->names);
	free(d);
}
