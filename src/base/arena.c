/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include "base/fail.h"
#include "base/strbuf.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	bool alone;                 /* the only piece is a large one: arena_release() frees it */
	alignas(max_align_t) char data[];
};

/* Chunks start small and double: a hostile index can cause very many arenas. */
enum { ARENA_FIRST = 1024, ARENA_CHUNK = 32 * 1024 };

enum { LIST_FIRST = 8 };   /* elements of a list; a power of two */

void arena_destroy(struct arena *arena)
{
	struct arena_chunk *chunk = arena->head;
	while (chunk) {
		struct arena_chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
	*arena = (struct arena){0};
}

void arena_merge(struct arena *arena, struct arena *other)
{
	arena->failed |= other->failed;
	struct arena_chunk **end = &other->head;
	while (*end)
		end = &(*end)->next;
	if (arena->head) {
		/* Insert it after the chunk that is being filled. */
		*end = arena->head->next;
		arena->head->next = other->head;
	} else {
		arena->head = other->head;
		arena->used = other->used;
		arena->size = other->size;
	}
	*other = (struct arena){0};
}

void arena_release(struct arena *arena, const void *piece, size_t size)
{
	/* The first chunk is being filled. */
	struct arena_chunk *before = size > ARENA_CHUNK / 4 ? arena->head : NULL;
	while (before && before->next && before->next->data != piece)
		before = before->next;
	struct arena_chunk *chunk = before ? before->next : NULL;
	if (chunk && chunk->alone) {
		before->next = chunk->next;
		free(chunk);
	}
}

bool arena_extend(struct arena *arena, const char *piece, size_t size, size_t bigger)
{
	if (arena->failed || !arena->head || piece + size != arena->head->data + arena->used
	    || bigger - size > arena->size - arena->used)
		return false;
	arena->used += bigger - size;
	return true;
}

/** Allocate size bytes at the given alignment (a power of two). */
static void *arena_take(struct arena *arena, size_t size, size_t align)
{
	size_t start = (arena->used + align - 1) & ~(align - 1);
	if (arena->head && start <= arena->size && size <= arena->size - start) {
		arena->used = start + size;
		return arena->head->data + start;
	}

	size_t room = arena->head ? 2 * arena->size : ARENA_FIRST;
	room = room > ARENA_CHUNK ? ARENA_CHUNK : room < 4 * size ? 4 * size : room;
	room = size > ARENA_CHUNK / 4 ? size : room;
	struct arena_chunk *chunk = size <= SIZE_MAX / 2 ? malloc(sizeof(*chunk) + room) : NULL;
	if (!chunk) {
		arena_fail(arena);
		return NULL;
	}

	chunk->alone = room == size && arena->head;
	if (chunk->alone) {
		/* A large piece has a chunk of its own: continue to fill the current chunk. */
		chunk->next = arena->head->next;
		arena->head->next = chunk;
		return chunk->data;
	}
	chunk->next = arena->head;
	arena->head = chunk;
	arena->used = size;
	arena->size = room;
	return chunk->data;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return arena_take(arena, size, alignof(max_align_t));
}

char *arena_strndup(struct arena *arena, const char *str, size_t n)
{
	char *copy = arena_take(arena, n < SIZE_MAX ? n + 1 : n, 1);
	if (!copy)
		return NULL;
	memcpy(copy, str, n);
	copy[n] = '\0';
	return copy;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	size_t room = arena->head ? arena->size - arena->used : 0;
	char *tried = room ? arena->head->data + arena->used : NULL;
	int n = vsnprintf(tried, room, format, args);
	char *text = n < 0 ? NULL : arena_take(arena, (size_t)n + 1, 1);
	if (text && text != tried)
		vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	return text;
}

void arena_fail(struct arena *arena)
{
	arena->failed = true;
	errno = ENOMEM;
}

int arena_check(const struct arena *arena)
{
	return arena->failed ? fail(ENOMEM) : 0;
}

/** Allocate n elements, not zeroed.  @return NULL after a failure. */
static void *new_elements(struct arena *arena, size_t n, size_t element)
{
	size_t size;
	if (__builtin_mul_overflow(n, element, &size))
		arena_fail(arena);
	return arena->failed ? NULL : arena_take(arena, size, alignof(max_align_t));
}

void *arena_new(struct arena *arena, size_t n, size_t element)
{
	void *array = new_elements(arena, n, element);
	return array ? memset(array, 0, n * element) : NULL;
}

const char *arena_text(struct arena *arena, const char *str)
{
	return arena_textn(arena, str, strlen(str));
}

const char *arena_textn(struct arena *arena, const char *str, size_t n)
{
	const char *copy = arena->failed ? NULL : arena_strndup(arena, str, n);
	return copy ? copy : "";
}

const char *arena_built(struct arena *arena, const struct strbuf *text)
{
	if (text->failed)
		arena_fail(arena);
	return arena_textn(arena, text->data ? text->data : "", text->len);
}

const char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const char *text = arena->failed ? NULL : arena_vprintf(arena, format, args);
	va_end(args);
	if (!text)
		arena_fail(arena);
	return text ? text : "";
}

bool arena_room(struct arena *arena, void *items, size_t count, size_t element)
{
	/* The capacity of a list follows from its count: LIST_FIRST, or the next power of two. */
	bool full = count == 0 || (count >= LIST_FIRST && (count & (count - 1)) == 0);
	void *bigger = full ? new_elements(arena, count ? count : LIST_FIRST / 2, 2 * element)
	                    : NULL;
	if (bigger) {
		void *old;
		memcpy(&old, items, sizeof(old));
		if (count)
			memcpy(bigger, old, count * element);
		arena_release(arena, old, count * element);
		memcpy(items, &bigger, sizeof(bigger));
	}
	return !arena->failed;
}
