/* SPDX-License-Identifier: MIT */
/*
 * Windows: entries of one directory, sorted by inode number.  On a disk that is approximately the
 * order of the inodes, so each block of inodes is read once.
 */
#include "bfs/bfs_impl.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
	NAME_BYTES = 64,          /* average length of names in a full window */
	ORDER_PAYS = 8,           /* sort if more than one entry in 8 is out of order */
};

struct bfs_window *window_new(struct bfs_budget *budget)
{
	struct bfs_window *window = calloc(1, sizeof(*window));
	if (!window)
		return NULL;
	window->budget = budget;
	return window;
}

void window_reset(struct bfs_window *window)
{
	struct bfs_budget *budget = window->budget;
	bool large = window->shares > 0;
	if (window->portion)
		atomic_fetch_add(&budget->portions, 1);
	if (large) {
		atomic_fetch_add(&budget->shares, window->shares);
		free(window->keys);
		strbuf_destroy(&window->names);
	}
	*window = (struct bfs_window){
		.keys = large ? NULL : window->keys, .size = large ? 0 : window->size,
		.names = window->names, .budget = budget,
	};
	strbuf_reset(&window->names);
}

void window_free(struct bfs_window *window)
{
	while (window) {
		struct bfs_window *next = window->next;
		window_reset(window);
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
	const size_t at = window->names.len;
	/* Including its NUL. */
	if (!strbuf_try(&window->names, entry->name, entry->len + 1))
		return false;
	window->keys[window->n++] = (struct window_key){
		.ino = entry->ino,
		.note = entry->note,
		.name = (uint32_t)at,
		.len = (uint16_t)entry->len,
		.type = entry->type,
	};
	return true;
}

/** Decrement a shared number unless it is 0.  @return whether it was decremented. */
static bool take_one(atomic_uint *number)
{
	unsigned left = atomic_load(number);
	while (left > 0) {
		if (atomic_compare_exchange_weak(number, &left, left - 1))
			return true;
	}
	return false;
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
	if (first || !window->budget || !take_one(&window->budget->shares))
		return true;
	++window->shares;
	return false;
}

bool window_already_sorted(const struct bfs_entry *entries, size_t n)
{
	size_t back = 0;
	for (size_t i = 1; i < n; ++i)
		back += entries[i].ino < entries[i - 1].ino;
	return back <= n / ORDER_PAYS;
}

static int by_inode(const void *left, const void *right)
{
	const struct window_key *a = left, *b = right;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

void window_sort(struct bfs_window *window)
{
	size_t back = 0;
	for (size_t i = 1; i < window->n; ++i)
		back += window->keys[i].ino < window->keys[i - 1].ino;
	window->emptying = window->sorted = true;
	window->already_sorted = back <= window->n / ORDER_PAYS;
	if (back > 0)
		qsort(window->keys, window->n, sizeof(*window->keys), by_inode);
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
			.note = key->note,
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
