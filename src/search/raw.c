/* SPDX-License-Identifier: MIT */
/*
 * A search as one call, with its entries in a buffer of the caller.
 */
#include "search/search.h"

#include <errno.h>
#include <string.h>

enum { ALIGN = 8, ATTRIBUTES = sizeof(struct k_statx) };

_Static_assert(sizeof(struct search_head) % ALIGN == 0, "entries begin at a multiple of 8");
_Static_assert(sizeof(struct search_item) % ALIGN == 0, "a struct statx is at a multiple of 8");
_Static_assert(ATTRIBUTES % ALIGN == 0, "the header says 256 bytes");

/** The item of an object or error, without its path and attributes. */
static struct search_item raw_item(const SEARCH *search, const struct searchent *e)
{
	struct search_item item = {
		.path_len = (uint32_t)strlen(e->path),
		.err = e->err,
		.errsource = (uint16_t)e->errsource,
		.type = e->err ? 0 : search_type(search),
	};
	uint32_t at = sizeof(item);
	if (e->info) {
		item.statx = at;
		at += ATTRIBUTES;
	}
	item.path = at;
	at += item.path_len + 1;
	item.size = (at + ALIGN - 1) / ALIGN * ALIGN;
	return item;
}

ssize_t search_raw(SEARCH *search, void *buffer, size_t len)
{
	if (!buffer || (uintptr_t)buffer % ALIGN != 0) {
		errno = EFAULT;
		return -1;
	}
	struct search_head head = {
		.magic = SEARCH_MAGIC, .version = SEARCH_VERSION, .size = sizeof(head),
		.used = sizeof(head),
	};
	if (len < sizeof(head)) {
		errno = ERANGE;
		return -1;
	}
	struct searchent *e;
	while ((e = readsearch(search))) {
		struct search_item item = raw_item(search, e);
		/* After an entry that does not fit, none is written. */
		if (head.left > 0 || item.size > len - head.used) {
			++head.left;
			head.left_bytes += item.size;
			continue;
		}
		char *at = (char *)buffer + head.used;
		memset(at + item.size - ALIGN, 0, ALIGN);
		memcpy(at, &item, sizeof(item));
		if (item.statx)
			memcpy(at + item.statx, statxsearch(search), ATTRIBUTES);
		memcpy(at + item.path, e->path, item.path_len + 1);
		head.used += item.size;
		++head.entries;
	}
	if (errno != 0)
		return -1;
	memcpy(buffer, &head, sizeof(head));
	return (ssize_t)head.entries;
}
