/* SPDX-License-Identifier: MIT */
#include "bfs/window.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_BYTES = 64,          /* of a name, when all that are there are long */
	DIGIT = 11, DIGITS = 1 << DIGIT,
	FEW = 32,                 /* are put in order one by one */
	ORDER_PAYS = 8,           /* one of so many is before the last */
};

struct bulk_rest *window_new(struct bulk_spare *spare)
{
	struct bulk_rest *window = calloc(1, sizeof(*window));
	if (!window)
		return NULL;
	strbuf_init(&window->names);
	window->spare = spare;
	return window;
}

void bulk_rest_free(struct bulk_rest *window)
{
	while (window) {
		struct bulk_rest *next = window->next;
		if (window->spare) {
			atomic_fetch_add(&window->spare->shares, window->shares);
			atomic_fetch_add(&window->spare->portions, window->portion);
		}
		free(window->keys);
		strbuf_destroy(&window->names);
		free(window);
		window = next;
	}
}

struct bulk_rest *bulk_rest_take(struct bulk_rest **list)
{
	struct bulk_rest *first = *list;
	if (first) {
		*list = first->next;
		first->next = NULL;
	}
	return first;
}

bool window_add(struct bulk_rest *window, const struct bulk_entry *entry)
{
	if (window->n == window->size) {
		size_t size = window->size ? window->size * 2 : 64;
		struct window_key *bigger = realloc(window->keys, size * sizeof(*bigger));
		if (!bigger)
			return false;
		window->keys = bigger;
		window->size = size;
	}
	/* With the NUL that the string is ended by. */
	char *name = strbuf_extend(&window->names, entry->len + 1);
	if (!name) {
		window->names.failed = false;
		return false;
	}
	memcpy(name, entry->name, entry->len + 1);
	window->keys[window->n++] = (struct window_key){
		.ino = entry->ino,
		.name = (uint32_t)(name - window->names.data),
		.len = (uint16_t)entry->len,
		.type = entry->type,
	};
	return true;
}

/** Take one of what there is left of for all.  @return whether there was one. */
static bool spare_take(atomic_uint *spare)
{
	unsigned left = atomic_load(spare);
	while (left > 0) {
		if (atomic_compare_exchange_weak(spare, &left, left - 1))
			return true;
	}
	return false;
}

/** Take a share of what all windows may grow by.  @return whether there was one. */
static bool share_take(struct bulk_rest *window)
{
	if (!window->spare || !spare_take(&window->spare->shares))
		return false;
	++window->shares;
	return true;
}

bool window_portion(struct bulk_rest *window)
{
	window->portion = window->portion || (window->spare && spare_take(&window->spare->portions));
	return window->portion;
}

void window_leave(struct bulk_rest *window, struct bulk_rest **list)
{
	window->taken = window->ended = true;
	window->next = *list;
	*list = window;
}

bool window_full(struct bulk_rest *window, bool first)
{
	size_t most = first ? BULK_AHEAD_FIRST : BULK_AHEAD_SHARE;
	most += (size_t)window->shares * BULK_AHEAD_SHARE;
	if (window->n < most && window->names.len < most * NAME_BYTES)
		return false;
	return first || !share_take(window);
}

bool window_apt(const struct bulk_entry *entries, size_t n)
{
	size_t back = 0;
	for (size_t i = 1; i < n; ++i)
		back += entries[i].ino < entries[i - 1].ino;
	return back <= n / ORDER_PAYS;
}

/** Put few in order. */
static void sort_few(struct window_key *keys, size_t n)
{
	for (size_t i = 1; i < n; ++i) {
		struct window_key key = keys[i];
		size_t at = i;
		for (; at > 0 && keys[at - 1].ino > key.ino; --at)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

void window_sort(struct bulk_rest *window)
{
	struct window_key *keys = window->keys, *other;
	size_t n = window->n, back = 0;
	uint64_t differ = 0;
	for (size_t i = 1; i < n; ++i) {
		back += keys[i].ino < keys[i - 1].ino;
		differ |= keys[i].ino ^ keys[0].ino;
	}
	window->taken = window->sorted = true;
	window->apt = back <= n / ORDER_PAYS;
	if (back == 0)
		return;
	if (n <= FEW) {
		sort_few(keys, n);
		return;
	}
	/* By digits, the lowest first.  Without memory for it, it is what it is. */
	other = malloc(n * sizeof(*other));
	if (!other)
		return;
	struct window_key *from = keys, *to = other;
	for (unsigned shift = 0; shift < 64 && differ >> shift; shift += DIGIT) {
		uint32_t begin[DIGITS + 1] = {0};
		if ((differ >> shift & (DIGITS - 1)) == 0)
			continue;
		for (size_t i = 0; i < n; ++i)
			++begin[(from[i].ino >> shift & (DIGITS - 1)) + 1];
		for (size_t i = 1; i < DIGITS; ++i)
			begin[i] += begin[i - 1];
		for (size_t i = 0; i < n; ++i)
			to[begin[from[i].ino >> shift & (DIGITS - 1)]++] = from[i];
		struct window_key *next = from;
		from = to;
		to = next;
	}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
	free(other);
}

size_t window_take(struct bulk_rest *window, struct bulk_entry *entries, size_t n)
{
	size_t left = window->n - window->at;
	n = n < left ? n : left;
	for (size_t i = 0; i < n; ++i) {
		const struct window_key *key = &window->keys[window->at + i];
		entries[i] = (struct bulk_entry){
			.name = window->names.data + key->name,
			.len = key->len,
			.ino = key->ino,
			.type = key->type,
		};
	}
	window->at += n;
	return n;
}

bool window_carve(struct bulk_rest *window, struct bulk_rest **list)
{
	struct bulk_rest *portion = window_new(window->spare);
	struct bulk_entry entry;
	size_t at = window->at;
	bool there = portion && window_portion(portion);
	while (there && portion->n < BULK_PORTION && window_take(window, &entry, 1) > 0)
		there = window_add(portion, &entry);
	if (!there) {
		window->at = at;
		bulk_rest_free(portion);
		return false;
	}
	portion->sorted = true;
	portion->apt = window->apt;
	window_leave(portion, list);
	return true;
}

void window_reset(struct bulk_rest *window)
{
	window->n = window->at = 0;
	window->taken = window->sorted = window->apt = window->ended = false;
	window->error = 0;
	strbuf_reset(&window->names);
	if (window->portion)
		atomic_fetch_add(&window->spare->portions, 1);
	window->portion = false;
	if (window->shares == 0)
		return;
	atomic_fetch_add(&window->spare->shares, window->shares);
	window->shares = 0;
	free(window->keys);
	window->keys = NULL;
	window->size = 0;
	strbuf_destroy(&window->names);
	strbuf_init(&window->names);
}
