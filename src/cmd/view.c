/* SPDX-License-Identifier: MIT */
#include "cmd/view.h"

#include "cmd/filter.h"
#include "cmd/listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The rows of a tree.
 *
 * A place is shown as one row: a single mount (--stacks=nest), or all mounts stacked on one
 * point, of which the topmost selected one is shown.  A place is identified by a node, of a
 * stack by its top.  The parent place is found in one pass over the nodes, parents first;
 * nodes that are not selected are skipped, so that the parent of a row is the nearest row
 * above it.
 */
struct place {
	uint32_t above;     /* the place that its lowest mount is on */
	uint32_t shown;     /* the node of its row; MT_NONE: no row */
	uint32_t parent;    /* the nearest place above with a row */
	uint32_t count;     /* nodes picked */
	uint32_t first, last, next;   /* the places below, in table order; the next sibling */
	uint32_t row;
	bool hung;          /* among those below its parent */
};

struct places {
	uint32_t *of;       /* node -> the place it belongs to */
	struct place *at;
	uint32_t roots, last_root;
};

static int places_init(struct places *places, size_t n)
{
	*places = (struct places){
		.of = calloc(n + 1, sizeof(*places->of)), .at = calloc(n + 1, sizeof(*places->at)),
		.roots = MT_NONE, .last_root = MT_NONE,
	};
	for (size_t i = 0; places->at && i < n; ++i) {
		places->at[i] = (struct place){
			.above = MT_NONE, .shown = MT_NONE, .parent = MT_NONE, .first = MT_NONE,
			.last = MT_NONE, .next = MT_NONE,
		};
	}
	return places->of && places->at ? 0 : -1;
}

static void places_destroy(struct places *places)
{
	free(places->of);
	free(places->at);
}

/** Find the places of a tree and how they hang together. */
static void places_find(struct places *places, const struct mtree *tree, const uint8_t *picked,
                        bool nest)
{
	struct place *at = places->at;
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t i = tree->order[k];
		const struct mt_node *node = &tree->nodes[i];
		uint32_t place = nest ? i : node->top;
		bool inside = node->parent != MT_NONE && places->of[node->parent] == place;
		places->of[i] = place;
		if (!inside)
			at[place].above = node->parent == MT_NONE ? MT_NONE
			                  : places->of[node->parent];
		if (picked[i]) {
			/* The order is upwards in a stack: the last one is on top. */
			at[place].shown = i;
			++at[place].count;
		}
	}
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t place = places->of[tree->order[k]], above = at[place].above;
		if (above != MT_NONE && above != place)
			at[place].parent = at[above].shown != MT_NONE ? above : at[above].parent;
	}
	/* Siblings are in the table order of their lowest mounts. */
	for (uint32_t i = 0; i < tree->count; ++i) {
		uint32_t place = places->of[i], parent = at[place].parent;
		if (at[place].shown == MT_NONE || at[place].hung)
			continue;
		at[place].hung = true;
		uint32_t *first = parent == MT_NONE ? &places->roots : &at[parent].first;
		uint32_t *last = parent == MT_NONE ? &places->last_root : &at[parent].last;
		if (*last == MT_NONE)
			*first = place;
		else
			at[*last].next = place;
		*last = place;
	}
}

/** Make a row of each place in the order of the tree, at most `deepest` levels deep. */
static void places_rows(struct places *places, const struct mtree *tree, struct view *view,
                        uint32_t deepest)
{
	struct place *at = places->at;
	uint32_t depth = 0, top = MT_NONE;   /* the row at the deepest level, or its parent */
	for (uint32_t place = places->roots; place != MT_NONE;) {
		uint32_t row = (uint32_t)view->count++, parent = at[place].parent;
		if (depth <= deepest)
			top = parent == MT_NONE ? MT_NONE : at[parent].row;
		at[place].row = row;
		view->rows[row] = (struct row){
			.mount = tree->nodes[at[place].shown].mount,
			.node = at[place].shown,
			.parent = deepest ? top : MT_NONE,
			.beneath = at[place].count - 1,   /* made an index below */
		};
		if (at[place].first != MT_NONE) {
			place = at[place].first;
			++depth;
			continue;
		}
		for (; at[place].next == MT_NONE && depth > 0; --depth)
			place = at[place].parent;
		place = at[place].next;
	}
}

/** List the mounts beneath each row, the lowest first. */
static int rows_beneath(struct places *places, const struct mtree *tree, const uint8_t *picked,
                        struct view *view)
{
	uint32_t total = 0;
	for (uint32_t r = 0; r < view->count; ++r) {
		struct row *row = &view->rows[r];
		uint32_t n = row->beneath;
		row->beneath = total;
		total += n;
	}
	if (!total)
		return 0;
	view->beneath = malloc(total * sizeof(*view->beneath));
	if (!view->beneath)
		return -1;
	for (uint32_t k = 0; k < tree->count; ++k) {
		uint32_t i = tree->order[k];
		const struct place *place = &places->at[places->of[i]];
		if (!picked[i] || place->shown == i)
			continue;
		struct row *row = &view->rows[place->row];
		view->beneath[row->beneath + row->nbeneath++] = i;
	}
	return 0;
}

/** Rows by the tree. */
static int view_tree(struct run *run, const struct picks *picks, bool hang, bool nest,
                     struct view *view)
{
	const struct mtree *tree = &run->d->tree;
	struct places places;
	int rc = -1;
	uint8_t *picked = calloc(tree->count + !tree->count, 1);
	if (places_init(&places, tree->count) != 0 || !picked)
		goto out;
	for (size_t i = 0; i < picks->count; ++i)
		picked[picks->nodes[i]] = 1;
	places_find(&places, tree, picked, nest);
	uint32_t deepest = !hang ? 0
	                 : run->opt->form == FORM_JSON && !nest ? VIEW_DEPTH_JSON : VIEW_DEPTH;
	places_rows(&places, tree, view, deepest);
	rc = nest ? 0 : rows_beneath(&places, tree, picked, view);
	for (size_t i = 0; nest && i < view->count; ++i)
		view->rows[i].beneath = 0;
out:
	free(picked);
	places_destroy(&places);
	return rc;
}

int view_build(struct run *run, const struct picks *picks, bool tree, bool inorder,
               struct view *view)
{
	*view = (struct view){.tree = tree};
	view->rows = malloc((picks->count + 1) * sizeof(*view->rows));
	if (!view->rows)
		return -1;
	if (run->d && (tree || inorder))
		return view_tree(run, picks, tree, run->opt->nest || !tree, view);
	for (size_t i = 0; i < picks->count; ++i) {
		view->rows[view->count++] = (struct row){
			.mount = run_mount(run, picks->nodes[i]),
			.node = picks->nodes[i],
			.parent = MT_NONE,
		};
	}
	return 0;
}

/** Whether a device is mounted according to the table. */
static bool is_mounted(const struct run *run, const struct devmap_device *device)
{
	for (size_t i = 0; i < run_count(run); ++i) {
		const struct mount *mount = run_mount(run, i);
		if (mount->dev_major == device->major && mount->dev_minor == device->minor)
			return true;
		if (mount->source && device->tags->name && strcmp(mount->source,
		                                                  device->tags->name) == 0)
			return true;
		/* The table may name another device of the same file system. */
		if (!device->tags->multi_device || !device->tags->uuid || !mount->source
		    || strncmp(mount->source, "/dev/", 5) != 0)
			continue;
		const struct devmap_tags *tags = devmap_mount_tags(run->devs, mount);
		if (tags && tags->uuid && strcmp(tags->uuid, device->tags->uuid) == 0)
			return true;
	}
	return false;
}

int view_add_devices(struct run *run, struct view *view)
{
	ssize_t n = run_devices(run);
	if (n < 0)
		return -1;
	struct row *rows = realloc(view->rows, (view->count + (size_t)n + 1) * sizeof(*rows));
	if (!rows)
		return -1;
	view->rows = rows;
	for (ssize_t i = 0; i < n; ++i) {
		const struct devmap_device *device = &run->devices[i];
		if (!is_mounted(run, device) && filter_match_device(run, device))
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
