/* SPDX-License-Identifier: MIT */
#include "cmd/discover/view.h"

#include <stdlib.h>
#include <string.h>

/*
 * The rows of a tree.
 *
 * Each row shows a place: a single mount (--stacks=nest), or the mounts stacked on a mount point,
 * represented by the topmost selected mount.  The index of a place is the index of its node or, for
 * a stack, of its top node; tree->count is the parent of all roots.  The parent of a row is the
 * nearest selected place above it.
 */
struct place {
	uint32_t above;     /* the place that contains the mount point of this place */
	uint32_t shown;     /* the node that the row shows; MT_NONE: no row */
	uint32_t parent;    /* nearest place above that has a row */
	uint32_t count;     /* number of selected nodes of the place */
	uint32_t lowest;    /* lowest index of a node of the place, in the order of the table */
	uint32_t first, next;   /* first child, next sibling, of the places with a row */
	uint32_t row;       /* index of the row */
};

/** Find the places of a tree, and their parents.
    @at [out]  The places.
    @of [out]  The index of the place of each node.
    @picked    1 for each selected node.
    @nest      Make a place of each mount, instead of each stack. */
static void places_find(struct place *at, uint32_t *of, const struct mtree *tree,
                        const uint8_t *picked, bool nest)
{
	const uint32_t n = tree->count;
	for (uint32_t i = 0; i <= n; ++i)
		at[i] = (struct place){.above = n, .shown = MT_NONE, .parent = n, .lowest = n,
		                       .first = n, .next = n};
	for (uint32_t k = 0; k < n; ++k) {
		uint32_t i = tree->order[k];
		const struct mt_node *node = &tree->nodes[i];
		uint32_t above = node->parent == MT_NONE ? n : of[node->parent];
		uint32_t place = of[i] = nest ? i : node->top;
		if (above != place)
			at[place].above = above;
		if (i < at[place].lowest)
			at[place].lowest = i;
		/* The mounts of a stack are visited from bottom to top, so the topmost selected
		   mount remains. */
		at[place].shown = picked[i] ? i : at[place].shown;
		at[place].count += picked[i];
	}
	for (uint32_t k = 0; k < n; ++k) {
		uint32_t place = of[tree->order[k]], above = at[place].above;
		bool shown = above == n || at[above].shown != MT_NONE;
		at[place].parent = shown ? above : at[above].parent;
	}
	/* Add each place before its siblings, from the last place to the first, so that siblings
	   are in the table order of their lowest mounts. */
	for (uint32_t i = n; i-- > 0;) {
		struct place *place = &at[of[i]], *parent = &at[place->parent];
		if (place->shown == MT_NONE || place->lowest != i)
			continue;
		place->next = parent->first;
		parent->first = of[i];
	}
}

/** Make a row for each place in tree order, with at most `deepest` levels.
    @return the number of selected mounts below the top of a stack. */
static uint32_t places_rows(struct place *at, const struct mtree *tree, struct view *view,
                            uint32_t deepest)
{
	const uint32_t n = tree->count;
	uint32_t depth = 0, beneath = 0;
	uint32_t top = MT_NONE;   /* parent of the row; for rows below the level `deepest`, the
	                             parent of the last row at this level */
	for (uint32_t place = at[n].first; place != n;) {
		struct place *p = &at[place];
		if (depth <= deepest)
			top = p->parent == n ? MT_NONE : at[p->parent].row;
		p->row = (uint32_t)view->count++;
		view->rows[p->row] = (struct row){
			.mount = tree->nodes[p->shown].mount, .node = p->shown,
			.parent = deepest ? top : MT_NONE, .beneath = beneath,
		};
		beneath += p->count - 1;
		if (p->first != n) {
			place = p->first;
			++depth;
			continue;
		}
		for (; at[place].next == n && depth > 0; --depth)
			place = at[place].parent;
		place = at[place].next;
	}
	return beneath;
}

/** Make the rows of the selected nodes in the order of the tree.
    @hang  Set the parents of rows.
    @nest  Make a row for each mount of a stack.
    @return 0, or -1 (ENOMEM). */
static int view_tree(const struct listing *list, const struct picks *picks, bool hang, bool nest,
                     struct view *view)
{
	const struct mtree *tree = &list->run.d->tree;
	uint8_t *picked = calloc(tree->count + 1, 1);
	uint32_t *of = calloc(tree->count + 1, sizeof(*of));
	struct place *at = calloc(tree->count + 1, sizeof(*at));
	int rc = -1;
	if (!picked || !of || !at)
		goto out;
	for (size_t i = 0; i < picks->count; ++i)
		picked[picks->nodes[i]] = 1;
	places_find(at, of, tree, picked, nest);
	uint32_t deepest = !hang ? 0
	                 : list->opt->form == FORM_JSON && !nest ? VIEW_DEPTH_JSON : VIEW_DEPTH;
	uint32_t beneath = places_rows(at, tree, view, deepest);
	view->beneath = malloc((beneath + 1) * sizeof(*view->beneath));
	if (!view->beneath)
		goto out;
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t i = tree->order[k];
		const struct place *place = &at[of[i]];
		if (!picked[i] || place->shown == i)
			continue;
		struct row *row = &view->rows[place->row];
		view->beneath[row->beneath + row->nbeneath++] = i;
	}
	rc = 0;
out:
	free(picked);
	free(of);
	free(at);
	return rc;
}

int view_build(struct listing *list, const struct picks *picks, bool tree, bool inorder,
               struct view *view)
{
	const struct run *run = &list->run;
	*view = (struct view){.tree = tree};
	view->rows = malloc((picks->count + 1) * sizeof(*view->rows));
	if (!view->rows)
		return -1;
	if (run->d && (tree || inorder))
		return view_tree(list, picks, tree, list->opt->nest || !tree, view);
	for (size_t i = 0; i < picks->count; ++i) {
		view->rows[view->count++] = (struct row){
			.mount = run_mount(run, picks->nodes[i]),
			.node = picks->nodes[i],
			.parent = MT_NONE,
		};
	}
	return 0;
}

/** Whether a device is mounted, according to the table. */
static bool is_mounted(const struct run *run, const struct devmap_device *device)
{
	for (size_t i = 0; i < run_count(run); ++i) {
		const struct mount *mount = run_mount(run, i);
		if (mount->dev_major == device->major && mount->dev_minor == device->minor)
			return true;
		if (mount->source && device->tags->name && strcmp(mount->source,
		                                                  device->tags->name) == 0)
			return true;
		/* Of a file system on several devices, the table shows a single device: compare the
		   UUIDs of the file systems. */
		if (!device->tags->multi_device || !device->tags->uuid || !mount->source
		    || strncmp(mount->source, "/dev/", 5) != 0)
			continue;
		const struct devmap_tags *tags = devmap_mount_tags(run->devs, mount);
		if (tags && tags->uuid && strcmp(tags->uuid, device->tags->uuid) == 0)
			return true;
	}
	return false;
}

int view_add_devices(struct listing *list, struct view *view)
{
	struct run *run = &list->run;
	ssize_t n = run_devices(run);
	if (n < 0)
		return -1;
	struct row *rows = realloc(view->rows, (view->count + (size_t)n + 1) * sizeof(*rows));
	if (!rows)
		return -1;
	view->rows = rows;
	for (ssize_t i = 0; i < n; ++i) {
		const struct devmap_device *device = &run->devices[i];
		if (!is_mounted(run, device) && filter_match_device(list, device))
			rows[view->count++] = (struct row){.device = device, .node = MT_NONE,
			                                   .parent = MT_NONE};
	}
	return 0;
}

void view_destroy(struct view *view)
{
	free(view->rows);
	free(view->beneath);
}
