/* SPDX-License-Identifier: MIT */
/**
 * Entries of one directory that wait, to be asked for in the order of their inode
 * numbers.  Private to src/bfs/.
 *
 * An entry takes 16 bytes and its name.  A window is filled, put in order once, and
 * emptied; one that is not empty goes with its directory (struct bulk_dir) when the
 * reading of that is paused.
 */
#ifndef GM_BULK_WINDOW_H
#define GM_BULK_WINDOW_H

#include "bfs/bulk.h"

#include "base/strbuf.h"

/** An entry: what is put in order. */
struct window_key {
	uint64_t ino;
	uint32_t name;            /* where its name begins in names */
	uint16_t len;             /* of it */
	uint8_t type;
};

struct bulk_rest {
	struct window_key *keys;
	size_t n, at, size;       /* there, taken of them, room */
	struct strbuf names;      /* each ended by a NUL */
	bool taken;               /* it is being emptied */
	bool sorted;              /* it was put in order, or is of what was */
	bool apt;                 /* ... and was about in order before */
	bool ended;               /* the directory was read to its end ... */
	int error;                /* ... or to this; 0 */
	struct bulk_spare *spare; /* what it may grow by; NULL: by nothing */
	unsigned shares;          /* it has of that */
	bool portion;             /* it is one of those that may wait */
	struct bulk_rest *next;   /* in a list of these */
};

/** @return an empty one, or NULL.  Errors: ENOMEM.  Ownership: bulk_rest_free(). */
struct bulk_rest *window_new(struct bulk_spare *spare);

/** Add an entry.  @return whether there was memory. */
bool window_add(struct bulk_rest *window, const struct bulk_entry *entry);

/** Whether no more is to be added.  @first  It is a directory's first, and to be small. */
bool window_full(struct bulk_rest *window, bool first);

/** Whether entries are about in order as they come. */
bool window_apt(const struct bulk_entry *entries, size_t n);

/** Put it in order, to be emptied. */
void window_sort(struct bulk_rest *window);

/** Take the next entries, at most n, whose names are valid until it is made empty.
    @return how many. */
size_t window_take(struct bulk_rest *window, struct bulk_entry *entries, size_t n);

/** Make an empty one a portion.  @return false: enough of them wait. */
bool window_portion(struct bulk_rest *window);

/** Leave a portion to be fetched by another, in the order that it came in.  @list  Added to. */
void window_leave(struct bulk_rest *window, struct bulk_rest **list);

/**
 * Leave the next of one that was put in order as a portion of its own.
 *
 * @list
 *         Added to.
 * @return whether there was memory, and one more portion may wait.
 */
bool window_carve(struct bulk_rest *window, struct bulk_rest **list);

/** Make it empty; what a large one has is given back. */
void window_reset(struct bulk_rest *window);

#endif
