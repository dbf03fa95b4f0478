/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include "base/fail.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	alignas(max_align_t) char data[];
};

/* Chunks start small and double: a hostile index can cause very many arenas. */
enum { ARENA_FIRST = 1024, ARENA_CHUNK = 32 * 1024 };

void arena_init(struct arena *arena)
{
	*arena = (struct arena){0};
}

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
	arena_init(other);
}

/** Allocate size bytes at the given alignment (a power of two). */
static void *arena_take(struct arena *arena, size_t size, size_t align)
{
	size_t start = (arena->used + align - 1) & ~(align - 1);
	if (arena->head && start <= arena->size && size <= arena->size - start) {
		arena->used = start + size;
		return arena->head->data + start;
	}

	if (size > SIZE_MAX / 2)
		return fail_null(ENOMEM);
	size_t room = arena->head ? 2 * arena->size : ARENA_FIRST;
	room = room > ARENA_CHUNK ? ARENA_CHUNK : room < 4 * size ? 4 * size : room;
	room = size > ARENA_CHUNK / 4 ? size : room;
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + room);
	if (!chunk)
		return NULL;

	if (room == size && arena->head) {
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
	char *copy = arena_take(arena, n + 1, 1);
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
