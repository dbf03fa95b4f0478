/* SPDX-License-Identifier: MIT */
#include "mountopts/optset.h"

#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void opt_set_init(struct opt_set *set, bool whole)
{
	*set = (struct opt_set){.whole = whole};
	map64_init(&set->map);
}

void opt_set_destroy(struct opt_set *set)
{
	free(set->entries);
	map64_destroy(&set->map);
	opt_set_init(set, set->whole);
}

/** The entry of a name, or NULL.  Names with the same hash have consecutive keys.
    @key [out]  The key of the name, or the one that it would get. */
static struct opt_entry *find(const struct opt_set *set, const char *name, size_t n, uint64_t *key)
{
	uint32_t at;
	*key = map64_bytes(MAP64_BYTES, name, n);
	for (; (at = map64_get(&set->map, *key)) != MAP64_NONE; ++*key) {
		if (set->entries[at].nname == n && memcmp(set->entries[at].first, name, n) == 0)
			return &set->entries[at];
	}
	return NULL;
}

const struct opt_entry *opt_set_find(const struct opt_set *set, const char *name, size_t n)
{
	uint64_t key;
	return find(set, name, n, &key);
}

void opt_set_add(struct opt_set *set, const char *option, size_t n)
{
	size_t nname = set->whole ? n : opt_name(option, n);
	uint64_t key;
	struct opt_entry *entry = find(set, option, nname, &key);
	if (!entry) {
		if (!ARRAY_ROOM(set->entries, set->count, &set->capacity)
		    || map64_put(&set->map, key, (uint32_t)set->count) == MAP64_NONE) {
			set->failed = true;
			return;
		}
		entry = &set->entries[set->count++];
		*entry = (struct opt_entry){.first = option, .nfirst = n, .nname = nname};
	}
	entry->last = option;
	entry->nlast = n;
	++entry->times;
	if (!entry->bare && n == nname)
		entry->bare = option;
}

void opt_set_add_list(struct opt_set *set, const char *list, opt_next_fn *next)
{
	size_t n;
	for (const char *option; list && (option = next(&list, &n)) != NULL;)
		opt_set_add(set, option, n);
}
