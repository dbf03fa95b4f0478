/* SPDX-License-Identifier: MIT */
/*
 * Mounts that were not found: they are read again, and examined once more before they are reported
 * lost.
 *
 * While mounts are added and removed, IDs, devices and mount points are reused at once, and a new
 * mount may cover an old one.  So a mount is reported lost only if the table does not change while
 * it is read completely, still contains the mount, and the name of the mount was looked up.
 */
#include "discover/discover_impl.h"

#include <fcntl.h>
#include <stdlib.h>

/** Update a node that was not found from its new record; NULL: the mount is gone. */
static void missing_update(struct dsc *dsc, uint32_t index, const struct mount *now)
{
	struct mt_node *node = &dsc->tree->nodes[index];
	/* A different device: the 32-bit ID was reused. */
	if (!now || mount_dev(now) != mount_dev(node->mount)) {
		node->gone = true;
		mtree_settle(dsc->tree, index);
		return;
	}
	/* It was moved, or a 32-bit ID was reused. */
	bool shifts = now->point && node->mount->point
	              && strcmp(now->point, node->mount->point) != 0;
	dsc->flags[index] = (uint8_t)((dsc->flags[index] & ~DF_SHIFTS) | (shifts ? DF_SHIFTS : 0));
	node->mount = now;
	/* Only needed if the mount could be reported lost. */
	if (!dsc->partly || dsc->shifting)
		dsc_confirm(dsc, index);
}

/** Read the mounts that were not found again, and drop those that are gone.  @return 0, or -1. */
static int missing_round(struct dsc *dsc)
{
	const struct mtree *tree = dsc->tree;
	const struct mount **now;
	uint32_t *nodes = malloc((tree->waiting + 1) * sizeof(*nodes));
	if (!nodes)
		return -1;
	size_t n = 0;
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t node = tree->order[i];
		if (!tree->nodes[node].settled && !tree->nodes[node].made)
			nodes[n++] = node;
	}
	int rc = dsc_read_again(dsc, nodes, n, &now);
	/* If reading failed, no mount is dropped. */
	for (size_t i = 0; rc == 0 && now && i < n; ++i) {
		if (!tree->nodes[nodes[i]].settled)
			missing_update(dsc, nodes[i], now[i]);
	}
	free(now);
	free(nodes);
	return rc;
}

bool dsc_is_lost(const struct dsc *dsc, uint32_t node)
{
	const struct mt_node *n = &dsc->tree->nodes[node];
	return !n->settled && !n->gone && !dsc->partly
	       && !(n->states & (1u << MT_HIDDEN | 1u << MT_OUTSIDE | 1u << MT_DENIED))
	       && !(dsc->flags[node] & (DF_SHIFTS | DF_INSIDE | DF_TWIN));
}

/** Whether a mount has the same ancestors in a new tree. */
static bool missing_on_same(const struct mtree *tree, uint32_t node, const struct mtree *fresh,
                            uint32_t at)
{
	while (node != MT_NONE && at != MT_NONE) {
		const struct mount *before = tree->nodes[node].mount, *now = fresh->nodes[at].mount;
		if (before->key != now->key || mount_dev(before) != mount_dev(now))
			return false;
		node = tree->nodes[node].parent;
		at = fresh->nodes[at].parent;
	}
	return node == at;
}

/** Examine a mount by means of the new table and of its name. */
static void missing_examine(struct dsc *dsc, uint32_t node, const struct mtree *fresh)
{
	uint32_t at = mtree_find(fresh, dsc->tree->nodes[node].mount->key);
	const struct mt_node *now = NULL;
	if (at != MT_NONE && !fresh->nodes[at].made)
		now = &fresh->nodes[at];
	bool there = now && mount_dev(now->mount) == mount_dev(dsc->tree->nodes[node].mount);
	bool covered = there && now->states & (1u << MT_HIDDEN | 1u << MT_OUTSIDE);
	if (covered || (there && !missing_on_same(dsc->tree, node, fresh, at)))
		dsc->flags[node] |= DF_SHIFTS;
	else
		missing_update(dsc, node, now ? now->mount : NULL);
}

/** The key of a node, or 0. */
static uint64_t missing_key(const struct dsc *dsc, uint32_t node)
{
	return node == MT_NONE ? 0 : dsc->tree->nodes[node].mount->key;
}

/** Examine once more all mounts that would be reported lost.  @return 0, or -1. */
static int missing_examine_all(struct dsc *dsc, int watch)
{
	const struct discover_opts *opts = dsc->opts;
	uint64_t root_key = missing_key(dsc, dsc->d->root);
	const struct mount_table *now;
	struct mtree fresh;
	int rc = dsc_read_table(dsc, NULL, 0, &now);
	if (rc != 0 || !now)
		return rc;
	if (mtree_init(&fresh, now->mounts, now->count, root_key) != 0)
		return -1;
	/* With IDs alone, covered mounts cannot be distinguished from lost ones. */
	if (opts->names != DN_PURE) {
		rc = mtree_judge(&fresh, mtree_find(&fresh, missing_key(dsc, dsc->own_root)), "/");
		mtree_judge_outside(&fresh, mtree_find(&fresh, root_key), opts->prefix);
	}
	for (uint32_t i = 0; rc == 0 && i < dsc->tree->count; ++i) {
		if (dsc_is_lost(dsc, i))
			missing_examine(dsc, i, &fresh);
	}
	mtree_destroy(&fresh);
	if (rc != 0)
		return -1;
	/* With identity by device, names are not tested: the table must be completely unchanged. */
	if ((!dsc->by_dev || table_alike(dsc->table, now))
	    && table_stands_still(dsc->os, now, watch, opts->procfd, opts->procpath))
		return 0;
	for (uint32_t i = 0; i < dsc->tree->count; ++i)
		dsc->flags[i] |= dsc_is_lost(dsc, i) ? DF_SHIFTS : 0;
	return 0;
}

int dsc_find_missing(struct dsc *dsc)
{
	struct mtree *tree = dsc->tree;
	/* A mount that appears and disappears can escape three rounds, but not a table that does
	   not change. */
	for (int round = 0; tree->waiting > 0 && round < 3 && !dsc_out_of_time(dsc); ++round) {
		if (missing_round(dsc) != 0)
			return -1;
	}
	uint32_t lost = 0;
	while (lost < tree->count && !dsc_is_lost(dsc, lost))
		++lost;
	if (lost == tree->count || dsc_out_of_time(dsc))
		return 0;
	/* Without /proc, or if /proc can block, 64-bit IDs suffice. */
	const struct discover_opts *opts = dsc->opts;
	int watch = -1;
	if (dsc->table->source == TABLE_MOUNTINFO
	    || !mounts_type_blocks(dsc->table, opts->procpath))
		watch = os_openat(dsc->os, opts->procfd, opts->procpath, O_RDONLY);
	int rc = missing_examine_all(dsc, watch);
	os_close(dsc->os, watch);
	return rc;
}
