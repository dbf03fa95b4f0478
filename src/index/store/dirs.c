/* SPDX-License-Identifier: MIT */
/* Directories of an index: their rows, names and paths. */
#include "index/store/store_impl.h"

#include "base/array.h"

#include <stdlib.h>

/** A directory, as a change in the delta or as a slot of the segment. */
struct dir_at {
	const struct delta_slot *changed;    /* NULL: the delta has no change of the directory; the
	                                        members below are set */
	struct segment *segment;
	struct segment_slot slot;
};

/** Find a directory in the delta or the segment of its cluster.  @return as dir_view(). */
static int dir_find(struct index *index, index_dir dir, struct dir_at *at)
{
	uint32_t cluster = index_dir_cluster(dir), slot = index_dir_slot(dir);
	if (cluster >= index->m.nclusters)
		return fail(ENOENT);
	at->changed = delta_slot(index->m.clusters[cluster].delta, slot);
	if (at->changed)
		return at->changed->removed ? fail(ENOENT) : 0;
	if (index_segment(index, cluster, &at->segment) != 0)
		return -1;
	if (!at->segment || slot >= segment_slots(at->segment))
		return fail(ENOENT);
	if (segment_slot(at->segment, slot, &at->slot) != 0)
		return -1;
	return at->slot.row == UINT32_MAX ? fail(ENOENT) : 0;
}

int dir_view(struct index *index, index_dir dir, uint32_t columns, struct dir_view *view)
{
	struct dir_at at;
	if (dir_find(index, dir, &at) != 0)
		return -1;
	const struct delta_slot *changed = at.changed;
	if (changed) {
		*view = (struct dir_view){changed->parent, changed->listed, changed->name,
		                          changed->len, changed->row};
		return 0;
	}
	view->name = segment_name(at.segment, at.slot.name, &view->len);
	if (!view->name)
		return -1;
	if (columns) {
		const uint32_t place = 1 << IC_DIR | 1 << IC_MODE;
		view->row = (struct index_row){{0}};
		if (segment_row(at.segment, at.slot.row, columns | place, &view->row) != 0)
			return -1;
		if (view->row.col[IC_DIR] != index_dir_slot(dir)
		    || index_row_type(&view->row) != DT_DIR)
			return fail(EBADMSG);
	}
	view->parent = at.slot.parent;
	view->listed = at.slot.listed;
	return 0;
}

int index_dir_parent(struct index *index, index_dir dir, index_dir *parent)
{
	struct dir_at at;
	if (dir_find(index, dir, &at) != 0)
		return -1;
	*parent = at.changed ? at.changed->parent : at.slot.parent;
	return 0;
}

int index_dir_get(struct index *index, index_dir dir, struct index_dir_info *info)
{
	struct dir_view view;
	if (dir_view(index, dir, 0, &view) != 0)
		return -1;
	*info = (struct index_dir_info){view.parent, view.name, view.len, view.listed};
	return 0;
}

int index_dir_row(struct index *index, index_dir dir, uint32_t columns, struct index_row *row)
{
	struct dir_view view;
	if (dir_view(index, dir, columns, &view) != 0)
		return -1;
	*row = view.row;
	return 0;
}

int cluster_slots(struct index *index, uint32_t cluster, uint32_t *slots)
{
	struct segment *segment;
	if (index_segment(index, cluster, &segment) != 0)
		return -1;
	const struct delta *d = index->m.clusters[cluster].delta;
	*slots = segment ? segment_slots(segment) : 0;
	if (d && d->end_slot > *slots)
		*slots = d->end_slot;
	assert(*slots <= INDEX_SLOTS);
	return 0;
}

bool cluster_has_parent(const struct index *index, uint32_t cluster, index_dir parent)
{
	assert(cluster < index->m.nclusters);
	const struct index_cluster *c = &index->m.clusters[cluster];
	bool has = cluster == index_dir_cluster(parent);
	for (size_t i = 0; !has && i < c->nparents; ++i)
		has = c->parents[i] == parent;
	return has;
}

/** Find a subdirectory of `parent` whose slot is in a cluster.
    @return 1; 0: the cluster does not have this subdirectory; or -1. */
static int find_in(struct index *index, uint32_t cluster, index_dir parent, const char *name,
                   size_t len, index_dir *dir)
{
	const struct delta *d = index->m.clusters[cluster].delta;
	struct segment *segment;
	struct segment_slot slot;
	uint32_t id;
	for (size_t i = 0; d && i < d->nslots; ++i) {
		const struct delta_slot *changed = &d->slots[i];
		if (!changed->removed && changed->parent == parent && changed->len == len
		    && memcmp(changed->name, name, len) == 0) {
			*dir = index_dir_of(cluster, changed->slot);
			return 1;
		}
	}
	if (index_segment(index, cluster, &segment) != 0)
		return -1;
	if (!segment)
		return 0;
	int found = segment_find_name(segment, name, len, true, &id);
	if (found <= 0)
		return found;
	for (uint32_t i = 0; i < segment_slots(segment); ++i) {
		if (segment_slot(segment, i, &slot) != 0)
			return -1;
		if (slot.parent == parent && slot.row != UINT32_MAX && slot.name == id
		    && !delta_slot(d, i)) {
			*dir = index_dir_of(cluster, i);
			return 1;
		}
	}
	return 0;
}

/** Find a subdirectory by its name.  @return as index_lookup(). */
static int find_dir(struct index *index, index_dir parent, const char *name, size_t len,
                    index_dir *dir)
{
	uint32_t own = index_dir_cluster(parent);
	if (own >= index->m.nclusters)
		return fail(ENOENT);
	int found = find_in(index, own, parent, name, len, dir);
	for (uint32_t i = 0; found == 0 && i < index->m.nclusters; ++i)
		if (i != own && cluster_has_parent(index, i, parent))
			found = find_in(index, i, parent, name, len, dir);
	return found > 0 ? 0 : found < 0 ? -1 : fail(ENOENT);
}

int index_lookup(struct index *index, const char *path, index_dir *dir)
{
	index_dir at = index->m.root;
	struct dir_view view;
	if (at == INDEX_DIR_NONE)
		return fail(ENOENT);
	if (dir_view(index, at, 0, &view) != 0)
		return -1;
	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");
		if (find_dir(index, at, path, len, &at) != 0)
			return -1;
		path += len;
	}
	*dir = at;
	return 0;
}

int index_path(struct index *index, index_dir dir, index_dir below, struct strbuf *path)
{
	struct piece { const char *name; size_t len; } *pieces = NULL;
	struct dir_view view;
	size_t n = 0, room = 0, limit = 1;
	index_dir seen = INDEX_DIR_NONE;
	int rc = -1;
	for (; dir != below; dir = view.parent) {
		if (dir == INDEX_DIR_NONE) {
			errno = ENOENT;
			goto end;
		}
		if (dir_view(index, dir, 0, &view) != 0) {
			/* A directory was found that names this parent, which does not exist. */
			if (errno == ENOENT && n > 0)
				errno = EBADMSG;
			goto end;
		}
		/* Detect a cycle (Brent): remember a directory after 1, 2, 4 ... steps; in a cycle,
		   it is reached again. */
		if (dir == seen) {
			errno = EBADMSG;
			goto end;
		}
		if (n == limit) {
			seen = dir;
			limit *= 2;
		}
		if (!ARRAY_ROOM(pieces, n, &room))
			goto end;
		pieces[n++] = (struct piece){view.name, view.len};
	}
	while (n > 0) {
		--n;
		strbuf_putc(path, '/');
		strbuf_add(path, pieces[n].name, pieces[n].len);
	}
	rc = path->failed ? fail(ENOMEM) : 0;
end:
	free(pieces);
	return rc;
}
