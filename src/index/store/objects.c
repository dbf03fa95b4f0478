/* SPDX-License-Identifier: MIT */
#include "index/store/objects.h"

#include "base/array.h"
#include "base/map64.h"

#include <dirent.h>
#include <stdlib.h>
#include <xxhash.h>

/** Visit a row of a segment, unless the delta replaces or removes it.  @return 0, or -1. */
static int visit_row(struct index *index, uint32_t cluster, struct segment *segment, uint32_t n,
                     const struct objects_visit *visit)
{
	struct index_row row;
	size_t len;
	if (segment_row(segment, n, INDEX_ALL, &row) != 0)
		return -1;
	if (index_row_type(&row) == DT_DIR && !visit->dirs)
		return 0;
	if (row.col[IC_DIR] >= INDEX_SLOTS || row.col[IC_NAME] >= segment_names(segment))
		return fail(EBADMSG);
	const char *name = segment_name(segment, (uint32_t)row.col[IC_NAME], &len);
	if (!name)
		return -1;
	if (index_is_changed(index, cluster)
	    && index_is_replaced(index, cluster, &row, name, len))
		return 0;
	return visit->visit(visit->arg,
	                    index_dir_of(cluster, (uint32_t)row.col[IC_DIR]), name, len, &row);
}

int objects_visit(struct index *index, uint32_t cluster, const struct objects_visit *visit)
{
	uint64_t values[INDEX_LEAF], min, max;
	struct index_change change;
	struct segment *segment;
	if (index_segment(index, cluster, &segment) != 0)
		return -1;
	uint32_t leaves = segment ? segment_leaves(segment) : 0;
	for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
		if (segment_leaf_range(segment, leaf, visit->column, &min, &max) != 0)
			return -1;
		if (!visit->may(visit->arg, min, max))
			continue;
		if (segment_leaf_column(segment, leaf, visit->column, values) != 0)
			return -1;
		uint32_t n = segment_leaf_rows(segment, leaf);
		for (uint32_t i = 0; i < n; ++i) {
			if (visit->may(visit->arg, values[i], values[i])
			    && visit_row(index, cluster, segment, leaf * INDEX_LEAF + i, visit)
			               != 0)
				return -1;
		}
	}
	for (size_t at = 0; index_next_change(index, cluster, &at, &change);) {
		if (change.row && (visit->dirs || index_row_type(change.row) != DT_DIR)
		    && visit->visit(visit->arg,
		                    index_dir_of(cluster, (uint32_t)change.row->col[IC_DIR]),
		                    change.name, change.len, change.row) != 0)
			return -1;
	}
	if (segment)
		segment_trim(segment);
	return 0;
}

struct object_counts {
	uint64_t rows, dirs;
};

bool objects_may_any(void *arg, uint64_t min, uint64_t max)
{
	(void)arg, (void)min, (void)max;
	return true;
}

static int count_object(void *arg, index_dir dir, const char *name, size_t len,
                        const struct index_row *row)
{
	struct object_counts *counts = arg;
	(void)dir, (void)name, (void)len;
	++counts->rows;
	counts->dirs += index_row_type(row) == DT_DIR;
	return 0;
}

int objects_count(struct index *index, uint64_t *rows, uint64_t *dirs)
{
	struct object_counts counts = {0};
	const struct objects_visit visit = {IC_DIR, objects_may_any, count_object, &counts, true};
	for (uint32_t cluster = 0; cluster < index_clusters(index); ++cluster) {
		const struct segment_summary *summary = index_summary(index, cluster);
		if (index_is_changed(index, cluster)) {
			if (objects_visit(index, cluster, &visit) != 0)
				return -1;
		} else if (summary) {
			counts.rows += summary->nrows;
			counts.dirs += summary->ndirs;
		}
	}
	*rows = counts.rows;
	*dirs = counts.dirs;
	return 0;
}

bool objects_any_ino(const uint64_t *inos, size_t n, uint64_t min, uint64_t max)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (inos[middle] < min)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && inos[low] <= max;
}

uint64_t objects_digest(const struct index_row *row, bool atime)
{
	struct index_row copy = *row;
	copy.col[IC_DIR] = copy.col[IC_NAME] = 0;
	if (!atime)
		copy.col[IC_ASEC] = copy.col[IC_ANSEC] = 0;
	return XXH3_64bits(copy.col, sizeof(copy.col));
}

/* The objects of directories, for comparison: struct known. */

struct known_object {
	uint64_t digest;
	uint32_t name;            /* offset in known.names */
	uint32_t next;            /* next object of this directory */
	uint32_t chain;           /* next object with this hash */
	uint16_t slot;
	uint8_t len;
	bool seen;
};

/** Invariants: objects of a directory are linked from `heads`, the newest first; what
    known_unseen() has passed is not linked any more. */
struct known {
	const unsigned char *slots;   /* set of slots to load; used only while loading */
	struct known_object *objects;
	size_t n, room;
	struct strbuf names;
	uint32_t heads[INDEX_SLOTS];  /* [slot]: first object */
	uint32_t *hashes;
	size_t nhashes;           /* size of `hashes`: a power of two */
};

static uint32_t *known_head(struct known *known, uint32_t slot, const char *name, size_t len)
{
	uint64_t hash = map64_bytes(map64_bytes(MAP64_BYTES, (const char *)&slot, sizeof(slot)),
	                            name, len);
	assert(slot < INDEX_SLOTS && (known->nhashes & (known->nhashes - 1)) == 0);
	return &known->hashes[(hash ^ hash >> 32) & (known->nhashes - 1)];
}

static bool is_wanted(const unsigned char *slots, uint64_t slot)
{
	return slot < INDEX_SLOTS && slots[slot / 8] & 1 << slot % 8;
}

static bool may_want(void *arg, uint64_t min, uint64_t max)
{
	const struct known *known = arg;
	return min != max || is_wanted(known->slots, min);
}

static int add_known(void *arg, index_dir dir, const char *name, size_t len,
                     const struct index_row *row)
{
	struct known *known = arg;
	uint32_t slot = index_dir_slot(dir);
	if (!is_wanted(known->slots, slot))
		return 0;
	if (known->n >= UINT32_MAX || known->names.len > UINT32_MAX - INDEX_NAME_MAX - 1
	    || !ARRAY_ROOM(known->objects, known->n, &known->room))
		return fail(ENOMEM);
	known->objects[known->n] = (struct known_object){
		.digest = objects_digest(row, true), .name = (uint32_t)known->names.len,
		.next = known->heads[slot], .slot = (uint16_t)slot, .len = (uint8_t)len,
	};
	known->heads[slot] = (uint32_t)known->n++;
	strbuf_add(&known->names, name, len);
	strbuf_putc(&known->names, '\0');
	return known->names.failed ? fail(ENOMEM) : 0;
}

struct known *known_load(struct index *index, uint32_t cluster, const unsigned char *slots)
{
	struct known *known = calloc(1, sizeof(*known));
	if (!known)
		return NULL;
	known->slots = slots;
	memset(known->heads, 0xff, sizeof(known->heads));
	const struct objects_visit visit = {IC_DIR, may_want, add_known, known, false};
	if (objects_visit(index, cluster, &visit) != 0)
		goto fail;
	for (known->nhashes = 16; known->nhashes < known->n;)
		known->nhashes *= 2;
	known->hashes = malloc(known->nhashes * sizeof(*known->hashes));
	if (!known->hashes)
		goto fail;
	memset(known->hashes, 0xff, known->nhashes * sizeof(*known->hashes));
	for (uint32_t i = 0; i < known->n; ++i) {
		struct known_object *object = &known->objects[i];
		uint32_t *head = known_head(known, object->slot,
		                            known->names.data + object->name, object->len);
		object->chain = *head;
		*head = i;
	}
	return known;
fail:
	known_free(known);
	return NULL;
}

void known_free(struct known *known)
{
	if (!known)
		return;
	int error = errno;
	free(known->objects);
	free(known->hashes);
	strbuf_destroy(&known->names);
	free(known);
	errno = error;
}

bool known_see(struct known *known, uint32_t slot, const char *name, size_t len, uint64_t *digest)
{
	for (uint32_t i = *known_head(known, slot, name, len); i != UINT32_MAX;
	     i = known->objects[i].chain) {
		struct known_object *object = &known->objects[i];
		if (object->slot != slot || object->len != len
		    || memcmp(known->names.data + object->name, name, len) != 0)
			continue;
		object->seen = true;
		*digest = object->digest;
		return true;
	}
	return false;
}

const char *known_unseen(struct known *known, uint32_t slot, size_t *len)
{
	assert(slot < INDEX_SLOTS);
	for (uint32_t i; (i = known->heads[slot]) != UINT32_MAX;) {
		struct known_object *object = &known->objects[i];
		assert(i < known->n && object->slot == slot);
		known->heads[slot] = object->next;
		if (object->seen)
			continue;
		*len = object->len;
		return known->names.data + object->name;
	}
	return NULL;
}
