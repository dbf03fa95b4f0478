/* SPDX-License-Identifier: MIT */
/*
 * Nodes: what is the same for all entries of a directory.  Directories for which it is equal
 * share a node; its number is the tag that bfs carries.
 *
 * Invariants (node_check()):
 *  - nodes never move and never change, so that workers read them without the lock;
 *  - a node exists before any directory has its number;
 *  - its mount is one of search->mount_ids.
 */
#include "search/search_impl.h"

#include "base/array.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

size_t search_node_words(const SEARCH *search)
{
	return sizeof(struct node) / sizeof(uint64_t) + search->words;
}

struct node *search_node_at(const SEARCH *search, uint32_t tag)
{
	uint64_t *chunk = atomic_load_explicit(&search->chunks[tag / CHUNK], memory_order_acquire);
	assert(chunk);
	return (struct node *)(void *)(chunk + tag % CHUNK * search_node_words(search));
}

bool search_node_same(const SEARCH *search, const struct node *a, const struct node *b)
{
	return memcmp(a, b, search_node_words(search) * sizeof(uint64_t)) == 0;
}

/** Assert the invariants for a node that has this number.  The lock is held. */
static void node_check(const SEARCH *search, uint32_t number, const struct node *node)
{
	assert(number < search->nnodes
	       && search_node_same(search, search_node_at(search, number), node));
	assert(node->mount < search->nmounts);
	(void)search, (void)number, (void)node;
}

uint32_t search_node_number(SEARCH *search, const struct node *node)
{
	size_t size = search_node_words(search) * sizeof(uint64_t);
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)node, size) | 1;
	uint32_t number = UINT32_MAX;
	pthread_mutex_lock(&search->lock);
	/* If the hash belongs to another node, try the next. */
	for (;; hash += 2) {
		uint32_t old = map64_get(&search->by_hash, hash);
		if (old == MAP64_NONE) {
			break;
		} else if (search_node_same(search, search_node_at(search, old), node)) {
			number = old;
			goto out;
		}
	}
	uint32_t chunk = search->nnodes / CHUNK;
	if (chunk == CHUNKS)
		goto out;
	if (!atomic_load_explicit(&search->chunks[chunk], memory_order_relaxed)) {
		uint64_t *nodes = malloc(CHUNK * search_node_words(search) * sizeof(*nodes));
		if (!nodes)
			goto out;
		atomic_store_explicit(&search->chunks[chunk], nodes, memory_order_release);
	}
	if (map64_put(&search->by_hash, hash, search->nnodes) != search->nnodes)
		goto out;
	number = search->nnodes++;
	memcpy(search_node_at(search, number), node, size);
out:
	if (number != UINT32_MAX)
		node_check(search, number, node);
	pthread_mutex_unlock(&search->lock);
	return number;
}

uint32_t search_mount_number(SEARCH *search, uint64_t id)
{
	uint32_t i = map64_get(&search->by_mount, id);
	if (i != MAP64_NONE)
		return i;
	pthread_mutex_lock(&search->lock);
	if (!ARRAY_ROOM(search->mount_ids, search->nmounts, &search->mounts_size))
		goto out;
	i = map64_put(&search->by_mount, id, search->nmounts);
	if (i == MAP64_NONE)
		goto out;
	search->mount_ids[search->nmounts++] = (struct search_mount){
		.id = id,
		.last_pos = id != 0 && search_mounts_last_pos(&search->mounts, &search->os, id),
	};
out:
	pthread_mutex_unlock(&search->lock);
	return i;
}

struct bfs_fs *search_fs(void *arg, uint32_t tag)
{
	SEARCH *search = arg;
	const unsigned bulk_types = 1u << DT_REG | 1u << DT_LNK;
	if (search->bulk.n == 0 || (search->more.types && !(search->more.types & bulk_types)))
		return NULL;
	pthread_mutex_lock(&search->lock);
	uint64_t id = search->mount_ids[search_node_at(search, tag)->mount].id;
	pthread_mutex_unlock(&search->lock);
	uint32_t i = map64_get(&search->bulk.by_mount, id);
	return i == MAP64_NONE ? NULL : search->bulk.fs[i];
}
