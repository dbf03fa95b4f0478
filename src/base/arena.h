/* SPDX-License-Identifier: MIT */
/**
 * An arena: many small allocations that are freed together.
 */
#ifndef GM_BASE_ARENA_H
#define GM_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
	size_t used, size;   /* bytes within head */
};

/** Make an empty arena, as {0} does. */
void arena_init(struct arena *arena);

/** Free everything that was allocated from the arena, which may be used again. */
void arena_destroy(struct arena *arena);

/** Move the memory of another arena into this one. */
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

#endif
