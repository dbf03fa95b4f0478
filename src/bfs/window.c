/* SPDX-License-Identifier: MIT */
/*
 * Windows: entries of one directory, sorted by inode number.  On a disk that is about the
 * order in which inodes lie, so each block of them is read once.
 */
#include "bfs/bfs_impl.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_BYTES = 64,          /* of a name, on average, in a full window */
	DIGIT = 11, DIGITS = 1 << DIGIT,
	FEW = 32,                 /* keys are sorted by insertion */
	ORDER_PAYS = 8,           /* if more than one entry of 8 is out of order */
};

struct bfs_window *window_new(struct bfs_budget *budget)
{
	struct bfs_window *window = calloc(1, sizeof(*window));
	if (!window)
		return NULL;
	strbuf_init(&window->names);
	window->budget = budget;
	return window;
}

void window_free(struct bfs_window *window)
{
	while (window) {
		struct bfs_window *next = window->next;
		if (window->budget) {
			atomic_fetch_add(&window->budget->shares, window->shares);
			atomic_fetch_add(&window->budget->portions, window->portion);
		}
		free(window->keys);
		strbuf_destroy(&window->names);
		free(window);
		window = next;
	}
}

struct bfs_window *window_pop(struct bfs_window **list)
{
	struct bfs_window *first = *list;
	if (first) {
		*list = first->next;
		first->next = NULL;
	}
	return first;
}

bool window_add(struct bfs_window *window, const struct bfs_entry *entry)
{
	if (!ARRAY_ROOM(window->keys, window->n, &window->size))
		return false;
	/* With its NUL. */
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

/** Take one from a shared number.  @return whether one was left. */
static bool take_one(atomic_uint *number)
{
	unsigned left = atomic_load(number);
	while (left > 0) {
		if (atomic_compare_exchange_weak(number, &left, left - 1))
			return true;
	}
	return false;
}

/** Take a share of the budget.  @return whether one was left. */
static bool share_take(struct bfs_window *window)
{
	if (!window->budget || !take_one(&window->budget->shares))
		return false;
	++window->shares;
	return true;
}

bool window_portion(struct bfs_window *window)
{
	window->portion = window->portion
	                  || (window->budget && take_one(&window->budget->portions));
	return window->portion;
}

void window_leave(struct bfs_window *window, struct bfs_window **list)
{
	window->emptying = window->ended = true;
	window->next = *list;
	*list = window;
}

bool window_full(struct bfs_window *window, bool first)
{
	size_t most = first ? BFS_AHEAD_FIRST : BFS_AHEAD_SHARE;
	most += (size_t)window->shares * BFS_AHEAD_SHARE;
	if (window->n < most && window->names.len < most * NAME_BYTES)
		return false;
	return first || !share_take(window);
}

bool window_already_sorted(const struct bfs_entry *entries, size_t n)
{
	size_t back = 0;
	for (size_t i = 1; i < n; ++i)
		back += entries[i].ino < entries[i - 1].ino;
	return back <= n / ORDER_PAYS;
}

/** Sort by insertion. */
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

void window_sort(struct bfs_window *window)
{
	struct window_key *keys = window->keys, *other;
	size_t n = window->n, back = 0;
	uint64_t differ = 0;
	for (size_t i = 1; i < n; ++i) {
		back += keys[i].ino < keys[i - 1].ino;
		differ |= keys[i].ino ^ keys[0].ino;
	}
	window->emptying = window->sorted = true;
	window->already_sorted = back <= n / ORDER_PAYS;
	if (back == 0)
		return;
	if (n <= FEW) {
		sort_few(keys, n);
		return;
	}
	/* By digits, the lowest first.  Without memory they stay unsorted. */
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

size_t window_take(struct bfs_window *window, struct bfs_entry *entries, size_t n)
{
	size_t left = window->n - window->at;
	n = n < left ? n : left;
	for (size_t i = 0; i < n; ++i) {
		const struct window_key *key = &window->keys[window->at + i];
		entries[i] = (struct bfs_entry){
			.name = window->names.data + key->name,
			.len = key->len,
			.ino = key->ino,
			.type = key->type,
		};
	}
	window->at += n;
	return n;
}

bool window_carve(struct bfs_window *window, struct bfs_window **list)
{
	struct bfs_window *portion = window_new(window->budget);
	struct bfs_entry entry;
	size_t at = window->at;
	bool there = portion && window_portion(portion);
	while (there && portion->n < BFS_PORTION && window_take(window, &entry, 1) > 0)
		there = window_add(portion, &entry);
	if (!there) {
		window->at = at;
		window_free(portion);
		return false;
	}
	portion->sorted = true;
	portion->already_sorted = window->already_sorted;
	window_leave(portion, list);
	return true;
}

void window_reset(struct bfs_window *window)
{
	window->n = window->at = 0;
	window->emptying = window->sorted = window->already_sorted = window->ended = false;
	window->error = 0;
	strbuf_reset(&window->names);
	if (window->portion)
		atomic_fetch_add(&window->budget->portions, 1);
	window->portion = false;
	if (window->shares == 0)
		return;
	atomic_fetch_add(&window->budget->shares, window->shares);
	window->shares = 0;
	free(window->keys);
	window->keys = NULL;
	window->size = 0;
	strbuf_destroy(&window->names);
	strbuf_init(&window->names);
}
