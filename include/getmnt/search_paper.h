/* SPDX-License-Identifier: MIT */
/**
 * The interface of "Search Should be a System Call" (Bui, Thain and others), in terms of
 * <getmnt/search.h>; see opensearch(3).  Everything is inline: libgetmnt has no such symbols.
 *
 *     SEARCH *s = opensearch("/etc:/usr/lib", "*.conf", SEARCH_METADATA | SEARCH_INCLUDEROOT);
 *     struct searchent *e;
 *     while (s && (e = readsearch(s)))
 *         if (e->info)
 *             printf("%s %jd\n", e->path, (intmax_t)e->info->st_size);
 *     closesearch(s);
 */
#ifndef GETMNT_SEARCH_PAPER_H
#define GETMNT_SEARCH_PAPER_H

#include "getmnt/search.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct getmnt_search SEARCH;

/**
 * Start a search.
 *
 * @paths    Directories, separated by ':'; "\:" is a colon, "\\" a backslash; an empty name
 *           is ".".
 * @pattern, flags  As in getmnt_search_open().
 * @return, errors  As getmnt_search_open().
 * Ownership: closesearch().
 */
static inline SEARCH *opensearch(const char *paths, const char *pattern, int flags)
{
	struct search_options options;
	SEARCH *search = NULL;
	const char **roots;
	char *text, *to;
	size_t n = 0;

	if (!paths) {
		errno = EINVAL;
		return NULL;
	}
	roots = (const char **)malloc((strlen(paths) + 1) * sizeof(*roots));
	to = text = (char *)malloc(strlen(paths) + 1);
	if (roots && text) {
		memset(&options, 0, sizeof(options));
		options.size = sizeof(options);
		options.flags = flags;
		roots[n++] = to;
		for (; *paths; ++paths) {
			if (*paths == '\\' && (paths[1] == ':' || paths[1] == '\\')) {
				*to++ = *++paths;
			} else if (*paths == ':') {
				*to++ = '\0';
				roots[n++] = to;
			} else {
				*to++ = *paths;
			}
		}
		*to = '\0';
		search = getmnt_search_open(roots, n, pattern, &options);
	}
	free(roots);
	free(text);
	return search;
}

/** Get the next object or error: getmnt_search_read(). */
static inline struct searchent *readsearch(SEARCH *search)
{
	return getmnt_search_read(search);
}

/** End a search: getmnt_search_close(). */
static inline int closesearch(SEARCH *search)
{
	return getmnt_search_close(search);
}

/*
 * The whole search as a single call that fills a buffer of the caller: a header, then entries of
 * different lengths, each aligned to 8 bytes.  Numbers are in host byte order.
 */

#define SEARCH_MAGIC   0x48435253u   /* "SRCH" in little-endian */
#define SEARCH_VERSION 1

/** The header at the start of the buffer. */
struct search_head {
	uint32_t magic;           /* SEARCH_MAGIC */
	uint16_t version;         /* SEARCH_VERSION; raised by incompatible changes */
	uint16_t size;            /* of this header: the offset of the first entry */
	uint64_t used;            /* bytes of the buffer in use, including this header */
	uint64_t entries;         /* number of entries in the buffer: objects and errors */
	uint64_t left;            /* entries that did not fit */
	uint64_t left_bytes;      /* bytes that these would need beyond `used` */
};

/** An entry in the buffer; its path and attributes follow within its size. */
struct search_item {
	uint32_t size;            /* a multiple of 8: the offset of the next entry */
	uint32_t path;            /* offset of the path from this entry */
	uint32_t path_len;        /* without its NUL */
	uint32_t statx;           /* offset of a struct statx (256 bytes), aligned to 8 bytes;
	                             0: none */
	int32_t err;              /* as in struct searchent */
	uint16_t errsource;
	uint8_t type;             /* DT_* of <dirent.h>; DT_UNKNOWN for an error */
	uint8_t zero;
};

/** An entry of a search, without its path and attributes. */
static inline struct search_item getmnt_paper_item(SEARCH *search, const struct searchent *entry)
{
	struct search_item item;

	memset(&item, 0, sizeof(item));
	item.path_len = (uint32_t)strlen(entry->path);
	item.err = entry->err;
	item.errsource = (uint16_t)entry->errsource;
	item.type = entry->type;
	item.path = sizeof(item);
	if (getmnt_search_statx(search)) {
		item.statx = sizeof(item);
		item.path += 256;
	}
	item.size = (item.path + item.path_len + 8) / 8 * 8;
	return item;
}

/** Close the search of a canceled thread. */
static inline void getmnt_paper_abandon(void *search)
{
	getmnt_search_close((SEARCH *)search);
}

/**
 * Search, and write the entries to a buffer.
 *
 * If an entry does not fit, it and all later entries are omitted and counted: if len is used +
 * left_bytes, all entries fit, unless something changes in between.  It is a cancellation point
 * (pthread_cancel(3)).
 *
 * @paths, pattern, flags  As for opensearch().
 * @buffer [out]  Aligned to 8 bytes.
 * @len      Its length, at least sizeof(struct search_head).
 * @return   the number of entries in the buffer, or -1; then the buffer is undefined.
 * Errors: ERANGE (no room for the header), EFAULT (NULL, or not aligned); those of
 *         opensearch().
 */
static inline ssize_t search(const char *paths, const char *pattern, int flags, void *buffer,
                             size_t len)
{
	struct search_head head;
	const struct searchent *e;
	SEARCH *whole = opensearch(paths, pattern, flags);
	int error = !buffer || (uintptr_t)buffer % 8 != 0 ? EFAULT
	            : len < sizeof(head) ? ERANGE : 0;

	if (!whole)
		return -1;
	memset(&head, 0, sizeof(head));
	head.magic = SEARCH_MAGIC;
	head.version = SEARCH_VERSION;
	head.size = (uint16_t)sizeof(head);
	head.used = sizeof(head);
	pthread_cleanup_push(getmnt_paper_abandon, whole);
	while (error == 0 && (e = getmnt_search_read(whole))) {
		struct search_item item = getmnt_paper_item(whole, e);
		char *at = (char *)buffer + head.used;
		/* After an entry that does not fit, no further entry is written. */
		if (head.left > 0 || item.size > len - head.used) {
			++head.left;
			head.left_bytes += item.size;
			continue;
		}
		memset(at + item.size - 8, 0, 8);
		memcpy(at, &item, sizeof(item));
		if (item.statx)
			memcpy(at + item.statx, getmnt_search_statx(whole), 256);
		memcpy(at + item.path, e->path, item.path_len + 1);
		head.used += item.size;
		++head.entries;
	}
	if (error == 0)
		error = errno;
	if (error == 0)
		memcpy(buffer, &head, sizeof(head));
	pthread_cleanup_pop(1);
	errno = error;
	return error ? -1 : (ssize_t)head.entries;
}


/**
 * Get the next entry in a buffer; never reads beyond len, even if the buffer is damaged.
 *
 *     const struct search_item *i = NULL;
 *     while ((i = search_next(buffer, len, i)))
 *         puts(search_path(i));
 *
 * @last     The previous entry; NULL: start.
 * @return   NULL at the end, or if there is no valid entry.
 */
static inline const struct search_item *search_next(const void *buffer, size_t len,
                                                    const struct search_item *last)
{
	const char *bytes = (const char *)buffer;
	const struct search_head *head = (const struct search_head *)buffer;
	const struct search_item *item;
	size_t at, room;

	if (!buffer || (uintptr_t)buffer % 8 != 0 || len < sizeof(*head)
	    || head->magic != SEARCH_MAGIC
	    || head->version != SEARCH_VERSION || head->size < sizeof(*head) || head->size % 8 != 0
	    || head->used > len)
		return NULL;
	at = last ? (size_t)((const char *)last - bytes) + last->size : head->size;
	if (at > head->used || head->used - at < sizeof(*item))
		return NULL;
	item = (const struct search_item *)(const void *)(bytes + at);
	room = item->size;
	if (room < sizeof(*item) || room % 8 != 0 || room > head->used - at
	    || item->path < sizeof(*item) || item->path >= room
	    || item->path_len >= room - item->path
	    || ((const char *)item)[item->path + item->path_len] != '\0')
		return NULL;
	if (item->statx != 0
	    && (item->statx < sizeof(*item) || item->statx % 8 != 0 || item->statx > room
	        || room - item->statx < 256))
		return NULL;
	return item;
}

/** The path of an entry. */
static inline const char *search_path(const struct search_item *item)
{
	return (const char *)item + item->path;
}

/** The attributes of an entry; or NULL. */
static inline const struct statx *search_statx(const struct search_item *item)
{
	const char *bytes = (const char *)item;
	return item->statx ? (const struct statx *)(const void *)(bytes + item->statx) : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
