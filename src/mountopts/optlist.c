/* SPDX-License-Identifier: MIT */
#include "mountopts/optlist.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/words.h"

#include <stdlib.h>

size_t opt_label_length(const char *option)
{
	static const char name[] = "context=\"";
	size_t before = strncmp(option, "fs", 2) == 0 ? 2 : strncmp(option, "def", 3) == 0 ? 3
	                : strncmp(option, "root", 4) == 0 ? 4 : 0;
	if (strncmp(option + before, name, sizeof(name) - 1) != 0)
		return 0;
	const char *end = strchr(option + before + sizeof(name) - 1, '"');
	return end && (!end[1] || end[1] == ',') ? (size_t)(end + 1 - option) : 0;
}

/** Skip commas.  @return whether an option follows. */
static bool skip_commas(const char **list)
{
	if (!*list)
		return false;
	while (**list == ',')
		++*list;
	return **list != '\0';
}

const char *opt_next(const char **list, size_t *n)
{
	if (!skip_commas(list))
		return NULL;
	/* Most options are so short that preparing a search for three bytes takes longer. */
	const char *option = *list, *at = option;
	bool quoted = false, escaped = false;
	while (*at && *at != ',' && *at != '"' && *at != '\\')
		++at;
	for (; *at && (quoted || escaped || *at != ','); ++at) {
		quoted ^= *at == '"' && !escaped;
		escaped = *at == '\\' && !escaped;
	}
	if (quoted)
		return NULL;
	*n = (size_t)(at - option);
	*list = at;
	return option;
}

const char *opt_next_shown(const char **list, size_t *n)
{
	if (!skip_commas(list))
		return NULL;
	const char *option = *list;
	*n = opt_label_length(option);
	if (!*n)
		*n = strcspn(option, ",");
	*list += *n;
	return option;
}

const char *opt_next_mtab(const char **list, size_t *n)
{
	if (!skip_commas(list))
		return NULL;
	const char *option = *list;
	size_t len = strcspn(option, ",\"");
	/* An unclosed quotation mark is an ordinary byte. */
	const char *close = option[len] == '"' ? strchr(option + len + 1, '"') : NULL;
	if (close)
		len = (size_t)(close + 1 - option);
	*n = len + strcspn(option + len, ",");
	*list += *n;
	return option;
}

bool opt_is_open(const char *list)
{
	const char *last = NULL;
	size_t n, backslashes = 0;
	for (const char *o; (o = opt_next(&list, &n)) != NULL;)
		last = o;
	if (list && *list)
		return true;
	while (last && n > backslashes && last[n - backslashes - 1] == '\\')
		++backslashes;
	return backslashes % 2 == 1;
}

const char *opt_find(const char *list, const char *name, size_t n, size_t *m)
{
	const char *found = NULL;
	size_t len;
	for (const char *o; (o = opt_next(&list, &len)) != NULL;) {
		if (len >= n && memcmp(o, name, n) == 0 && (len == n || o[n] == '=')) {
			found = o;
			*m = len;
		}
	}
	return found;
}

const char *opt_value(const char *list, const char *name, size_t *n)
{
	size_t key = strlen(name), m;
	const char *found = opt_find(list, name, key, &m);
	if (!found || m == key)
		return NULL;
	found += key + 1;
	*n = m - key - 1;
	opt_unquote(&found, n);
	return found;
}

static bool has(const char *list, opt_next_fn *next, const char *option)
{
	size_t n;
	for (const char *o; (o = next(&list, &n)) != NULL;) {
		if (word_is(o, n, option))
			return true;
	}
	return false;
}

bool opt_has(const char *list, const char *option)
{
	return has(list, opt_next, option);
}

bool opt_shown_has(const char *list, const char *option)
{
	return has(list, opt_next_shown, option);
}

bool opt_shown_value(const char *list, const char *name, struct strbuf *value)
{
	size_t n, len = strlen(name);
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		if (n > len && memcmp(o, name, len) == 0 && o[len] == '=') {
			strbuf_reset(value);
			unescape_octal_add(value, o + len + 1, n - len - 1);
			return true;
		}
	}
	return false;
}

/* Sets. */

void opt_set_init(struct opt_set *set, bool whole)
{
	*set = (struct opt_set){.whole = whole};
}

void opt_set_destroy(struct opt_set *set)
{
	free(set->entries);
	map64_destroy(&set->map);
	opt_set_init(set, set->whole);
}

/** The entry of a name, or NULL.  Names with the same hash have consecutive keys.
    @key [out]  The key of the name, or the key to use when it is added. */
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
