/* SPDX-License-Identifier: MIT */
/* Verify an index: check each cluster, and that the directories are one tree. */
#include "index/store/store_impl.h"

#include "base/array.h"

#include <stdarg.h>
#include <stdlib.h>

enum { CHECK_LINES = 100 };

enum dir_state { DS_NONE, DS_ON_WAY, DS_GOOD, DS_BAD };

struct check {
	struct index *index;
	struct strbuf *why;
	unsigned faults;
	uint32_t *first;         /* [cluster]: index in `states` of its first slot */
	uint8_t *states;
	index_dir *way;
	size_t nway, way_room;
};

/** Report a fault of a cluster or, if `slot` is not UINT32_MAX, of a directory. */
__attribute__((format(printf, 4, 5)))
static void fault(struct check *check, uint32_t cluster, uint32_t slot, const char *format, ...)
{
	if (++check->faults > CHECK_LINES)
		return;
	va_list args;
	strbuf_printf(check->why, "cluster %u: ", (unsigned)cluster);
	if (slot != UINT32_MAX)
		strbuf_printf(check->why, "directory %u: ", (unsigned)slot);
	va_start(args, format);
	strbuf_vprintf(check->why, format, args);
	va_end(args);
	strbuf_putc(check->why, '\n');
}

/** Compare the summary of a cluster in the manifest with its leaves and slots. */
static void check_summary(struct check *check, uint32_t cluster, struct segment *segment)
{
	const struct segment_summary *summary = index_summary(check->index, cluster);
	uint32_t ndirs = 0;
	for (unsigned k = IC_FIRST_ZONE; k < IC_END_ZONE; ++k) {
		uint64_t low = UINT64_MAX, high = 0, min, max;
		for (uint32_t leaf = 0; leaf < segment_leaves(segment); ++leaf) {
			if (segment_leaf_range(segment, leaf, k, &min, &max) != 0)
				return;
			low = min < low ? min : low;
			high = max > high ? max : high;
		}
		if (low <= high && (summary->min[k] > low || summary->max[k] < high))
			fault(check, cluster, UINT32_MAX,
			      "the manifest has a wrong range of column %u", k);
	}
	for (uint32_t i = 0; i < segment_slots(segment); ++i) {
		struct segment_slot slot;
		if (segment_slot(segment, i, &slot) != 0)
			return;
		ndirs += slot.row != UINT32_MAX;
	}
	if (ndirs != summary->ndirs)
		fault(check, cluster, UINT32_MAX, "the manifest has %u directories, the cluster %u",
		      (unsigned)summary->ndirs, (unsigned)ndirs);
}

/** Check the segment of a cluster, and that the directories of the objects in its delta exist.
    @return 0, or -1 (ENOMEM). */
static int check_cluster(struct check *check, uint32_t cluster)
{
	struct index *index = check->index;
	const struct delta *d = index->m.clusters[cluster].delta;
	struct segment *segment;
	struct strbuf why = {0};
	int rc = index_segment(index, cluster, &segment);
	if (rc == 0 && segment) {
		rc = segment_check(segment, &why);
		if (rc == 0)
			check_summary(check, cluster, segment);
		segment_trim(segment);
	}
	if (rc != 0 && errno != ENOMEM) {
		fault(check, cluster, UINT32_MAX, "%s", why.len ? why.data : "damaged");
		rc = 0;
	}
	strbuf_destroy(&why);
	for (size_t i = 0; d && rc == 0 && i < d->count; ++i) {
		index_dir dir = index_dir_of(cluster, d->items[i].slot), parent;
		if (delta_counts(d, &d->items[i]) && !d->items[i].gone
		    && index_dir_parent(index, dir, &parent) != 0) {
			if (errno == ENOMEM)
				return -1;
			fault(check, cluster, d->items[i].slot,
			      "it does not exist, but the journal has an object in it");
		}
	}
	return rc;
}

/** The state of a directory; NULL: no cluster has a slot with its number. */
static uint8_t *state_of(struct check *check, index_dir dir)
{
	uint32_t cluster = index_dir_cluster(dir), slot = index_dir_slot(dir);
	if (cluster >= index_clusters(check->index)
	    || slot >= check->first[cluster + 1] - check->first[cluster])
		return NULL;
	return &check->states[check->first[cluster] + slot];
}

/** Follow the parents of a directory up to the root, or to a directory whose state is known.
    Report a fault if there is a cycle or a parent is missing; set the states of all directories
    passed.
    @return 0, or -1 (ENOMEM). */
static int check_way(struct check *check, index_dir dir)
{
	struct index *index = check->index;
	enum dir_state result = DS_GOOD;
	const char *what = NULL;
	check->nway = 0;
	for (index_dir at = dir;;) {
		uint8_t *state = state_of(check, at);
		index_dir parent;
		if (state && *state != DS_NONE) {
			result = *state == DS_ON_WAY ? DS_BAD : *state;
			what = *state == DS_ON_WAY ? "it is its own parent" : NULL;
			break;
		}
		if (!state || index_dir_parent(index, at, &parent) != 0) {
			if (state && errno != ENOENT) {
				if (errno == ENOMEM)
					return -1;
				/* The fault of the cluster was reported by check_cluster(). */
				*state = DS_BAD;
				result = DS_BAD;
				break;
			}
			/* No directory led here, so the slot may be free. */
			if (check->nway == 0)
				return 0;
			what = "its parent does not exist";
			result = DS_BAD;
			break;
		}
		if (!ARRAY_ROOM(check->way, check->nway, &check->way_room))
			return -1;
		check->way[check->nway++] = at;
		*state = DS_ON_WAY;
		if (at == index_root(index))
			break;
		if (parent == INDEX_DIR_NONE) {
			what = "it has no parent";
			result = DS_BAD;
			break;
		}
		if (!cluster_has_parent(index, index_dir_cluster(at), parent))
			fault(check, index_dir_cluster(at), index_dir_slot(at),
			      "the manifest does not name its parent");
		at = parent;
	}
	if (what) {
		index_dir at = check->way[check->nway - 1];
		fault(check, index_dir_cluster(at), index_dir_slot(at), "%s", what);
	}
	for (size_t i = 0; i < check->nway; ++i)
		*state_of(check, check->way[i]) = (uint8_t)result;
	return 0;
}

/** Check that all directories are below the root.  @return 0, or -1 (ENOMEM). */
static int check_tree(struct check *check)
{
	struct index *index = check->index;
	uint32_t n = index_clusters(index);
	size_t total = 0;
	check->first = calloc((size_t)n + 1, sizeof(*check->first));
	if (!check->first)
		return -1;
	for (uint32_t i = 0; i < n; ++i) {
		uint32_t slots = 0;
		check->first[i] = (uint32_t)total;
		/* The fault of a damaged cluster was reported by check_cluster(). */
		if (cluster_slots(index, i, &slots) != 0 && errno == ENOMEM)
			return -1;
		total += slots;
	}
	check->first[n] = (uint32_t)total;
	check->states = calloc(total + 1, 1);
	if (!check->states)
		return -1;
	for (uint32_t i = 0; i < n; ++i)
		for (uint32_t slot = 0; slot < check->first[i + 1] - check->first[i]; ++slot)
			if (check_way(check, index_dir_of(i, slot)) != 0)
				return -1;
	return 0;
}

int index_check(struct index *index, struct strbuf *why)
{
	struct check check = {.index = index, .why = why};
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < index_clusters(index); ++i)
		rc = check_cluster(&check, i);
	if (rc == 0)
		rc = check_tree(&check);
	if (check.faults > CHECK_LINES)
		strbuf_printf(why, "%u more faults\n", check.faults - CHECK_LINES);
	free(check.first);
	free(check.states);
	free(check.way);
	if (rc != 0 || why->failed)
		return fail(ENOMEM);
	return check.faults ? fail(EBADMSG) : 0;
}
