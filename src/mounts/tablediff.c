/* SPDX-License-Identifier: MIT */
#include "mounts/tablediff.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

/* The list. */

int changes_add(struct changes *changes, enum change_kind kind, const struct mount *before,
                const struct mount *after)
{
	assert((before == NULL) == (kind == CHANGE_MOUNT || kind == CHANGE_LOST));
	assert((after == NULL) == (kind == CHANGE_UMOUNT || kind == CHANGE_LOST));
	if (!ARRAY_ROOM(changes->list, changes->count, &changes->room))
		return -1;
	changes->list[changes->count++] = (struct change){kind, before, after};
	return 0;
}

void changes_destroy(struct changes *changes)
{
	free(changes->list);
	*changes = (struct changes){0};
}

/* The set. */

void mount_set_forget(struct mount_set *set)
{
	while (set->old) {
		struct kept_mount *next = set->old->next;
		free(set->old);
		set->old = next;
	}
}

void mount_set_destroy(struct mount_set *set)
{
	mount_set_forget(set);
	for (size_t i = 0; i < set->count; ++i)
		free(set->mounts[i]);
	free(set->mounts);
	map64_destroy(&set->places);
	*set = (struct mount_set){0};
}

struct kept_mount *mount_set_find(const struct mount_set *set, uint64_t key)
{
	uint32_t place = map64_get(&set->places, key);
	assert(place == MAP64_NONE
	       || (place < set->count && set->mounts[place]->mount.key == key));
	return place == MAP64_NONE ? NULL : set->mounts[place];
}

/** The i-th string of a record, or NULL. */
static const char **mount_string(struct mount *m, unsigned i)
{
	const char **const strings[] = {
		&m->root, &m->point, &m->vfs_opts, &m->opt_fields, &m->fstype, &m->source,
		&m->fs_opts,
	};
	return i < sizeof(strings) / sizeof(*strings) ? strings[i] : NULL;
}

/** Copy a record and its strings into one allocation.  @return it, or NULL (ENOMEM). */
static struct kept_mount *mount_keep(const struct mount *mount)
{
	struct mount copy = *mount;
	size_t size = 0;
	for (unsigned i = 0; mount_string(&copy, i); ++i)
		size += *mount_string(&copy, i) ? strlen(*mount_string(&copy, i)) + 1 : 0;
	struct kept_mount *kept = malloc(sizeof(*kept) + size);
	if (!kept)
		return NULL;
	char *at = (char *)(kept + 1);
	for (unsigned i = 0; mount_string(&copy, i); ++i) {
		const char **string = mount_string(&copy, i);
		if (!*string)
			continue;
		size_t n = strlen(*string) + 1;
		*string = memcpy(at, *string, n);
		at += n;
	}
	*kept = (struct kept_mount){.mount = copy};
	return kept;
}

/** Keep a replaced or removed record until mount_set_forget() is called. */
static void mount_set_retire(struct mount_set *set, struct kept_mount *kept)
{
	kept->next = set->old;
	set->old = kept;
}

struct kept_mount *mount_set_put(struct mount_set *set, const struct mount *mount)
{
	uint32_t place = map64_get(&set->places, mount->key);
	struct kept_mount *kept = mount_keep(mount);
	if (!kept)
		return NULL;
	if (place != MAP64_NONE) {
		kept->early = set->mounts[place]->early;
		mount_set_retire(set, set->mounts[place]);
		set->mounts[place] = kept;
		return kept;
	}
	if (!ARRAY_ROOM(set->mounts, set->count, &set->room)
	    || map64_put(&set->places, mount->key, (uint32_t)set->count) == MAP64_NONE)
		goto fail;
	set->mounts[set->count++] = kept;
	return kept;

fail:
	free(kept);
	return NULL;
}

struct kept_mount *mount_set_put_at(struct mount_set *set, const struct mount *mount,
                                    const struct mount *place)
{
	struct mount record = *mount;
	record.point = place->point;
	record.parent_key = place->parent_key;
	record.parent_id = place->parent_id;
	return mount_set_put(set, &record);
}

void mount_set_remove(struct mount_set *set, uint64_t key)
{
	uint32_t place = map64_remove(&set->places, key);
	if (place == MAP64_NONE)
		return;
	mount_set_retire(set, set->mounts[place]);
	struct kept_mount *last = set->mounts[--set->count];
	if (place == set->count)
		return;
	/* Move the last record into the gap; the map has room for its key. */
	set->mounts[place] = last;
	map64_set(&set->places, last->mount.key, place);
}

/* The comparison. */

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/** Whether both strings are known and differ. */
static bool differs(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

unsigned mount_changes(const struct mount *before, const struct mount *after)
{
	unsigned kinds = 0;
	if (!same(before->point, after->point))
		kinds |= CHANGE_MOVE;
	if (differs(before->vfs_opts, after->vfs_opts) || differs(before->fs_opts, after->fs_opts))
		kinds |= CHANGE_REMOUNT;
	if (before->propagation != after->propagation)
		kinds |= CHANGE_PROPAGATION;
	return kinds;
}

bool mount_same(const struct mount *a, const struct mount *b)
{
	struct mount x = *a, y = *b;
	for (unsigned i = 0; mount_string(&x, i); ++i) {
		if (!same(*mount_string(&x, i), *mount_string(&y, i)))
			return false;
	}
	return a->parent_key == b->parent_key && mount_dev(a) == mount_dev(b)
	       && a->propagation == b->propagation && a->peer_group == b->peer_group
	       && a->master == b->master;
}

/** Whether the root changed, other than by removal of the directory. */
static bool root_differs(const char *before, const char *after)
{
	if (!differs(before, after))
		return false;
	size_t n = strlen(before);
	return strncmp(before, after, n) != 0 || strcmp(after + n, "//deleted") != 0;
}

/** Whether a key that is not a unique ID was reused for another mount. */
static bool reused(const struct mount *before, const struct mount *after)
{
	return mount_dev(before) != mount_dev(after) || differs(before->fstype, after->fstype)
	       || !same(before->source, after->source)
	       || (root_differs(before->root, after->root) && differs(before->point, after->point));
}

/** Sort by key, as the mounts of a table are. */
static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct change *)a)->before->key;
	uint64_t y = ((const struct change *)b)->before->key;
	return x < y ? -1 : x > y;
}

int tablediff(const struct mount_set *set, const struct mount_table *table, unsigned kinds,
              struct changes *changes)
{
	enum { GONE, THERE, REUSED, DONE };
	static const enum change_kind inside[] = {CHANGE_MOVE, CHANGE_REMOUNT, CHANGE_PROPAGATION};
	size_t begin = changes->count;
	struct map64 fresh = {0};
	unsigned char *found = calloc(set->count + !set->count, 1);
	if (!found)
		return -1;

	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		uint32_t place = map64_get(&set->places, m->key);
		if (place == MAP64_NONE || found[place])
			continue;
		bool other = !table->unique_ids && reused(&set->mounts[place]->mount, m);
		found[place] = other ? REUSED : THERE;
	}
	int rc = 0;
	for (size_t i = 0; rc == 0 && kinds & CHANGE_UMOUNT && i < set->count; ++i) {
		if (found[i] != THERE)
			rc = changes_add(changes, CHANGE_UMOUNT, &set->mounts[i]->mount, NULL);
	}
	if (changes->count > begin)
		qsort(changes->list + begin, changes->count - begin, sizeof(*changes->list),
		      by_key);

	for (size_t i = 0; rc == 0 && i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		uint32_t place = map64_get(&set->places, m->key);
		if (place == MAP64_NONE || found[place] == REUSED) {
			uint32_t first = map64_put(&fresh, m->key, (uint32_t)i);
			if (first == MAP64_NONE)
				rc = -1;
			else if (first == i && kinds & CHANGE_MOUNT)
				rc = changes_add(changes, CHANGE_MOUNT, NULL, m);
			continue;
		}
		/* A duplicate key in the table counts once. */
		if (found[place] == DONE)
			continue;
		found[place] = DONE;
		const struct mount *before = &set->mounts[place]->mount;
		unsigned changed = mount_changes(before, m) & kinds;
		for (size_t k = 0; rc == 0 && k < sizeof(inside) / sizeof(*inside); ++k) {
			if (changed & inside[k])
				rc = changes_add(changes, inside[k], before, m);
		}
	}
	free(found);
	map64_destroy(&fresh);
	return rc;
}

/** The path of a mount point relative to its parent's, as far as known. */
static const char *place_on_parent(const struct mount_set *set, const struct mount *mount)
{
	const struct kept_mount *parent = mount_set_find(set, mount->parent_key);
	const char *on = parent ? parent->mount.point : NULL;
	if (!on || !mount->point || strncmp(mount->point, on, strlen(on)) != 0)
		return mount->point;
	return mount->point + strlen(on);
}

/** Apply the differences between a set and a table to the set. */
static int mount_set_apply(struct mount_set *set, const struct mount_table *table, unsigned kinds,
                           const struct changes *found)
{
	for (size_t i = 0; i < found->count; ++i) {
		if (found->list[i].kind == CHANGE_UMOUNT)
			mount_set_remove(set, found->list[i].before->key);
	}
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *now = &table->mounts[i];
		struct kept_mount *kept = mount_set_find(set, now->key), *put = kept;
		if (kinds == CHANGE_ALL && (!kept || !mount_same(&kept->mount, now)))
			put = mount_set_put(set, now);
		else if (!kept)
			continue;
		else if (kinds != CHANGE_ALL && mount_changes(&kept->mount, now) & kinds)
			put = mount_set_put_at(set, now, &kept->mount);
		if (!put)
			return -1;
	}
	return 0;
}

int mount_set_update(struct mount_set *set, const struct mount_table *table, unsigned kinds,
                     unsigned report, struct map64 *gone, struct changes *changes)
{
	struct changes found = {0};
	int rc = tablediff(set, table, kinds, &found);
	const char **places = calloc(found.count + 1, sizeof(*places));
	rc = places ? rc : -1;
	for (size_t i = 0; rc == 0 && gone && i < found.count; ++i) {
		const struct mount *before = found.list[i].before;
		if (found.list[i].kind == CHANGE_MOVE)
			places[i] = place_on_parent(set, before);
		if (found.list[i].kind == CHANGE_UMOUNT
		    && map64_put(gone, before->key, 0) == MAP64_NONE)
			rc = -1;
	}
	if (rc == 0)
		rc = mount_set_apply(set, table, kinds, &found);
	for (size_t i = 0; rc == 0 && i < found.count; ++i) {
		const struct change *change = &found.list[i];
		struct kept_mount *kept = NULL;
		if (change->after)
			kept = mount_set_find(set, change->after->key);
		/* A mount that only moved along with its parent causes no event. */
		if (gone && change->kind == CHANGE_MOVE) {
			const char *place = place_on_parent(set, &kept->mount);
			kept->early |= change->before->parent_key != kept->mount.parent_key
			               || !places[i] || !place || strcmp(places[i], place) != 0;
		}
		if (change->kind & report)
			rc = changes_add(changes, change->kind, change->before,
			                 kept ? &kept->mount : NULL);
	}
	changes_destroy(&found);
	free(places);
	return rc;
}
