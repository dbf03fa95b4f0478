/* SPDX-License-Identifier: MIT */
#include "base/optionset.h"

#include "base/words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void option_set_init(struct option_set *set, bool whole)
{
	*set = (struct option_set){.whole = whole};
	map64_init(&set->map);
}

void option_set_destroy(struct option_set *set)
{
	free(set->of);
	map64_destroy(&set->map);
	option_set_init(set, set->whole);
}

/** The entry of a name, or NULL.  Names of one hash have the keys after it.
    @key [out]  The key of the name, or the one that it would get. */
static struct option_entry *look(const struct option_set *set, const char *name, size_t n, uint64_t *key)
{
	uint32_t at;
	for (*key = map64_bytes(MAP64_BYTES, name, n); (at = map64_get(&set->map, *key)) != MAP64_NONE; ++*key) {
		if (set->of[at].nname == n && memcmp(set->of[at].first, name, n) == 0)
			return &set->of[at];
	}
	return NULL;
}

const struct option_entry *option_set_find(const struct option_set *set, const char *name, size_t n)
{
	uint64_t key;
	return look(set, name, n, &key);
}

void option_set_add(struct option_set *set, const char *option, size_t n)
{
	size_t nname = set->whole ? n : option_name(option, n);
	uint64_t key;
	struct option_entry *entry = look(set, option, nname, &key);
	if (!entry) {
		if (set->count == set->room) {
			size_t room = set->room ? 2 * set->room : 16;
			struct option_entry *more = reallocarray(set->of, room, sizeof(*more));
			if (!more) {
				set->failed = true;
				return;
			}
			set->of = more;
			set->room = room;
		}
		if (map64_put(&set->map, key, (uint32_t)set->count) == MAP64_NONE) {
			set->failed = true;
			return;
		}
		entry = &set->of[set->count++];
		*entry = (struct option_entry){.first = option, .nfirst = n, .nname = nname};
	}
	entry->last = option;
	entry->nlast = n;
	++entry->times;
	if (!entry->bare && n == nname)
		entry->bare = option;
}

void option_set_add_list(struct option_set *set, const char *list, option_next_fn *next)
{
	size_t n;
	for (const char *option; list && (option = next(&list, &n)) != NULL;)
		option_set_add(set, option, n);
}
