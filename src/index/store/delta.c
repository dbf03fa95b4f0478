/* SPDX-License-Identifier: MIT */
/*
 * The delta of a cluster: the changes since its segment was written.  Changed objects are in a
 * list, and are found by a hash of slot and name.  Changed directories are in a list, and are found
 * by slot.
 *
 * Removing a directory sets `cleared` for its slot, which hides the objects in the segment and the
 * items before `since`.  So removing a directory takes one step, however many objects it has.
 */
#include "index/store/store_impl.h"

#include "base/array.h"

#include <stdlib.h>

void delta_free(struct delta *d)
{
	if (!d)
		return;
	map64_destroy(&d->by_name);
	map64_destroy(&d->by_slot);
	arena_destroy(&d->arena);
	free(d->items);
	free(d->slots);
	free(d);
}

static uint64_t name_hash(uint32_t slot, const char *name, size_t len)
{
	return map64_bytes(MAP64_BYTES ^ (uint64_t)slot << 20, name, len);
}

const struct delta_slot *delta_slot(const struct delta *d, uint32_t slot)
{
	uint32_t at = d ? map64_get(&d->by_slot, slot) : MAP64_NONE;
	assert(at == MAP64_NONE || (at < d->nslots && d->slots[at].slot == slot
	                            && slot < d->end_slot && d->slots[at].since <= d->count));
	return at == MAP64_NONE ? NULL : &d->slots[at];
}

bool delta_counts(const struct delta *d, const struct delta_item *item)
{
	assert(item >= d->items && item < d->items + d->count);
	const struct delta_slot *slot = d->clears ? delta_slot(d, item->slot) : NULL;
	return !slot || !slot->cleared || (size_t)(item - d->items) >= slot->since;
}

const struct delta_item *delta_find(const struct delta *d, uint32_t slot, const char *name,
                                    size_t len)
{
	if (!d || d->count == 0)
		return NULL;
	uint32_t at = map64_get(&d->by_name, name_hash(slot, name, len));
	for (; at != MAP64_NONE; at = d->items[at].next) {
		const struct delta_item *item = &d->items[at];
		/* The chain ends. */
		assert(at < d->count && (item->next == MAP64_NONE || item->next < at));
		if (item->slot == slot && item->len == len && memcmp(item->name, name, len) == 0)
			return delta_counts(d, item) ? item : NULL;
	}
	return NULL;
}

/** Add, replace or remove an object. */
static int apply_item(struct delta *d, const struct journal_record *r)
{
	const struct delta_item *found = delta_find(d, r->slot, r->name, r->len);
	struct delta_item *item = found ? &d->items[found - d->items] : NULL;
	struct index_row *row = item ? item->row : NULL;
	if (r->type == JR_PUT && !row) {
		row = arena_alloc(&d->arena, sizeof(*row));
		if (!row)
			return -1;
	}
	if (r->type == JR_PUT)
		*row = r->row;
	assert(row || r->type == JR_REMOVE);
	if (item) {
		item->gone = r->type == JR_REMOVE;
		item->row = row;
		return 0;
	}
	char *name = arena_strndup(&d->arena, r->name, r->len);
	if (!name || d->count >= UINT32_MAX - 1 || !ARRAY_ROOM(d->items, d->count, &d->room))
		return fail(ENOMEM);
	uint64_t hash = name_hash(r->slot, r->name, r->len);
	uint32_t next = map64_get(&d->by_name, hash);
	if (map64_set(&d->by_name, hash, (uint32_t)d->count) == MAP64_NONE)
		return -1;
	d->items[d->count++] = (struct delta_item){
		.slot = r->slot, .gone = r->type == JR_REMOVE, .next = next,
		.name = name, .len = r->len, .row = row,
	};
	return 0;
}

/** Add, replace or remove a directory. */
static int apply_dir(struct delta *d, const struct journal_record *r)
{
	uint32_t at = map64_get(&d->by_slot, r->slot);
	struct delta_slot *old = at == MAP64_NONE ? NULL : &d->slots[at], new = {.slot = r->slot};
	if (old) {
		new.cleared = old->cleared;
		new.since = old->since;
	}
	if (r->type == JR_REMOVE_DIR) {
		new.removed = new.cleared = true;
		new.since = (uint32_t)d->count;
		new.parent = INDEX_DIR_NONE;
	} else {
		bool same = old && !old->removed && old->len == r->len
		            && memcmp(old->name, r->name, r->len) == 0;
		new.name = same ? old->name : arena_strndup(&d->arena, r->name, r->len);
		if (!new.name)
			return -1;
		new.len = r->len;
		new.parent = r->parent;
		new.listed = r->listed;
		new.row = r->row;
	}
	if (!old) {
		if (!ARRAY_ROOM(d->slots, d->nslots, &d->slots_room)
		    || map64_set(&d->by_slot, r->slot, (uint32_t)d->nslots) == MAP64_NONE)
			return -1;
		old = &d->slots[d->nslots++];
	}
	*old = new;
	d->clears |= new.cleared;
	if (r->slot >= d->end_slot)
		d->end_slot = r->slot + 1;
	return 0;
}

int delta_apply(struct delta *d, const struct journal_record *r)
{
	assert(r->slot < INDEX_SLOTS && r->type < JR_COMMIT);
	return r->type == JR_PUT || r->type == JR_REMOVE ? apply_item(d, r) : apply_dir(d, r);
}
