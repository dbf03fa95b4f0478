/* SPDX-License-Identifier: MIT */
/**
 * An arena: many small allocations that are freed together.
 *
 * A failed allocation sets `failed`.  There are two ways to use an arena:
 *
 *     A cache that goes on after a failure checks each allocation: arena_alloc(),
 *     arena_strndup(), arena_vprintf(), which allocate again as soon as there is memory.
 *
 *     An engine that builds a result checks the arena once, where it hands the result over:
 *
 *         report->count = arena_new(arena, n, sizeof(*report->count));
 *         report->title = arena_text(arena, title);
 *         if (arena->failed)
 *                 return arena_check(arena);
 *         for (size_t i = 0; i < n && !arena->failed; ++i)
 *                 ARENA_PUSH(arena, report->lines, report->nlines, line_of(i));
 *         return arena_check(arena);
 *
 * Its functions add nothing after a failure, not even if there is memory again.  So all elements
 * added before are whole, and no list has a hole:
 *
 *     texts    are never NULL.  After a failure a text is "": do not use the length of its original
 *     lists    stay as they are: they count only the elements that exist
 *     arrays   are NULL.  Allocate those of a function together, and test `failed` once before the
 *              first use
 *     maps     stay as they are (struct map64 and struct pathmap with an arena); map64_put()
 *              returns the new value
 *     buffers  are not added to if they have to grow (struct strbuf with an arena)
 *
 * Loops test `failed` if they would otherwise do useless work.  After a failure the result can only
 * be destroyed.
 */
#ifndef GM_BASE_ARENA_H
#define GM_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;
struct strbuf;

/** An arena; empty if zeroed. */
struct arena {
	struct arena_chunk *head;
	size_t used, size;   /* bytes within head */
	bool failed;         /* an allocation failed: ENOMEM */
};

/** Free everything that was allocated from the arena, which may be used again. */
void arena_destroy(struct arena *arena);

/** Give back a piece that is no longer used, for example after it was copied to a larger piece.
    Only the memory of a large piece is freed before arena_destroy().
    @size  The size of the piece in bytes. */
void arena_release(struct arena *arena, const void *piece, size_t size);

/** Enlarge a piece without moving it, if it is the last piece and its chunk has room.
    @size, bigger  The old and the new size of the piece in bytes.
    @return false: the piece did not change; copy it to a larger piece. */
bool arena_extend(struct arena *arena, const char *piece, size_t size, size_t bigger);

/** Move the memory of another arena into this one, and its failure. */
void arena_merge(struct arena *arena, struct arena *other);

/** Allocate bytes, aligned for any type.
    @return Memory that lives until arena_destroy(), or NULL.  Errors: ENOMEM. */
void *arena_alloc(struct arena *arena, size_t size);

/** Copy n bytes of a string and end them with a NUL.  @return The copy, unaligned, or NULL.
    Errors: ENOMEM. */
char *arena_strndup(struct arena *arena, const char *str, size_t n);

/** Format a string as vprintf(3) does.  @return The string, unaligned, or NULL.
    Errors: ENOMEM, and those of vsnprintf(3). */
__attribute__((format(printf, 2, 0)))
char *arena_vprintf(struct arena *arena, const char *format, va_list args);

/* Building a result. */

/** Record that a part of the result is missing, as if an allocation had failed. */
void arena_fail(struct arena *arena);

/** Check that nothing is missing.  @return 0, or -1.  Errors: ENOMEM. */
int arena_check(const struct arena *arena);

/** Allocate n zeroed elements.  @return the array, also if n is 0; NULL after a failure. */
void *arena_new(struct arena *arena, size_t n, size_t element);

/** Copy a string.  @return the copy; "" after a failure. */
const char *arena_text(struct arena *arena, const char *str);

/** Copy n bytes of a string.  @return the copy, with a NUL; "" after a failure. */
const char *arena_textn(struct arena *arena, const char *str, size_t n);

/** Copy a text that was built; that an append to it failed is a failure of the arena.
    @return the copy; "" after a failure. */
const char *arena_built(struct arena *arena, const struct strbuf *text);

/** Format a string.  @return the string; "" after a failure. */
__attribute__((format(printf, 2, 3)))
const char *arena_printf(struct arena *arena, const char *format, ...);

/** Append an element to a list; after a failure do nothing.
    @items  The list: NULL at first.  Only ARENA_PUSH() adds to it.
    @count  The number of elements, which is increased.
    @...    The element, evaluated before there is room for it. */
#define ARENA_PUSH(arena, items, count, ...) \
	do { \
		const __typeof__(*(items)) element_ = __VA_ARGS__; \
		if (arena_room((arena), &(items), (count), sizeof(*(items)))) \
			(items)[(count)++] = element_; \
	} while (0)

/** Make room for another element of a list.  Use ARENA_PUSH().
    @items  The address of the pointer to its elements.
    @return false after a failure. */
bool arena_room(struct arena *arena, void *items, size_t count, size_t element);

#endif
