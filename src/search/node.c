/* SPDX-License-Identifier: MIT */
/*
 * Nodes: the properties that all entries of a directory share.  Directories with equal properties
 * share a node.  The number of a node is the tag of its directories in bfs.
 *
 * Invariants (node_check()):
 *  - nodes never move and never change, so that workers can read them without the lock;
 *  - a node exists before any directory has its number.
 */
#include "search/search_impl.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

size_t search_node_words(const SEARCH *search)
{
	return sizeof(struct node) / sizeof(uint64_t) + search->want.words;
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

/** Assert the invariants for `node`, which has this number.  The caller holds the lock. */
static void node_check(const SEARCH *search, uint32_t number, const struct node *node)
{
	assert(number < search->shared.nnodes
	       && search_node_same(search, search_node_at(search, number), node));
	(void)search, (void)number, (void)node;
}

uint32_t search_node_number(SEARCH *search, const struct node *node)
{
	size_t size = search_node_words(search) * sizeof(uint64_t);
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)node, size) | 1;
	uint32_t number = UINT32_MAX;
	pthread_mutex_lock(&search->shared.lock);
	/* If another node has the same hash, try the next hash. */
	for (;; hash += 2) {
		uint32_t old = map64_get(&search->shared.by_hash, hash);
		if (old == MAP64_NONE) {
			break;
		} else if (search_node_same(search, search_node_at(search, old), node)) {
			number = old;
			goto out;
		}
	}
	uint32_t chunk = search->shared.nnodes / CHUNK;
	if (chunk == CHUNKS)
		goto out;
	if (!atomic_load_explicit(&search->chunks[chunk], memory_order_relaxed)) {
		uint64_t *nodes = malloc(CHUNK * search_node_words(search) * sizeof(*nodes));
		if (!nodes)
			goto out;
		atomic_store_explicit(&search->chunks[chunk], nodes, memory_order_release);
	}
	const uint32_t next = search->shared.nnodes;
	if (map64_put(&search->shared.by_hash, hash, next) != next)
		goto out;
	number = search->shared.nnodes++;
	memcpy(search_node_at(search, number), node, size);
out:
	if (number != UINT32_MAX)
		node_check(search, number, node);
	pthread_mutex_unlock(&search->shared.lock);
	return number;
}

bool search_elsewhere(const SEARCH *search, const struct k_statx *st)
{
	bool known = search->os.caps & OSC_STATX_MNT_ID;
	uint64_t id = known ? os_statx_mnt_id(st, search->mounts.unique) : 0;
	/* An automount point counts as another mount: entering it would trigger the automount. */
	if (st->attributes & K_STATX_ATTR_AUTOMOUNT)
		return true;
	bool other_device = makedev(st->dev_major, st->dev_minor) != search->root.dev;
	if (!id || !search->root.mount)
		return other_device;
	return id != search->root.mount || (search->by_device && other_device);
}

void search_nodes_clear(SEARCH *search)
{
	search->shared.nnodes = 0;
	map64_destroy(&search->shared.by_hash);
	search->shared.seen.n = 0;
}

/** Get the live states of a node: if they are one word, this word, otherwise a hash. */
static uint64_t node_state(const SEARCH *search, const struct node *node)
{
	return search->want.words == 1 ? node->live[0]
	       : map64_bytes(MAP64_BYTES, (const char *)node->live,
	                     search->want.words * sizeof(*node->live));
}

/** Get the identity of a directory from its attributes.
    @from  Node of the directory that contains it. */
static struct seen_dir node_dir(const SEARCH *search, const struct node *from,
                                const struct k_statx *st)
{
	return (struct seen_dir){
		.mount = os_statx_mnt_id(st, search->mounts.unique),
		.dev = makedev(st->dev_major, st->dev_minor),
		.ino = st->ino,
		.parent = (uint32_t)from->self,
	};
}

bool search_is_loop(SEARCH *search, const struct node *from, const struct k_statx *st)
{
	if (!(search->flags & SEARCH_FOLLOW) || !S_ISDIR(st->mode) || search->want.info->unique)
		return false;
	struct seen_dir dir = node_dir(search, from, st);
	pthread_mutex_lock(&search->shared.lock);
	bool loop = seen_above(&search->shared.seen, &dir);
	pthread_mutex_unlock(&search->shared.lock);
	return loop;
}

int search_descend(SEARCH *search, const struct node *from, struct node *child,
                   const struct k_statx *st)
{
	if (st->attributes & K_STATX_ATTR_AUTOMOUNT)
		return EREMOTE;
	struct seen_dir dir = node_dir(search, from, st);
	dir.state = node_state(search, child);
	const struct search_mount *m =
		search_mount_find(&search->mounts, dir.mount ? dir.mount : child->mount);
	pthread_mutex_lock(&search->shared.lock);
	dir.crossed = (m && m->flags & MOUNT_CROSSED)
	              || (dir.parent != SEEN_NONE && search->shared.seen.dirs[dir.parent].crossed);
	int error = seen_above(&search->shared.seen, &dir) ? ELOOP
	            : dir.crossed ? seen_once(&search->shared.once, &dir) : 0;
	child->self = error ? SEEN_NONE : seen_add(&search->shared.seen, &dir);
	pthread_mutex_unlock(&search->shared.lock);
	return error ? error : child->self == SEEN_NONE ? ENOMEM : 0;
}
