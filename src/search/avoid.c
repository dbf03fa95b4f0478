/* SPDX-License-Identifier: MIT */
#include "search/avoid.h"

#include "base/array.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A name on the path to a place.  Node 0 means none; node 1 is the root. */
struct avoid_node {
	char *name;
	size_t len;
	uint64_t lens;            /* bit set of the lengths of its children's names; 0: no
	                             children */
	uint32_t parent;
	bool here;
};

struct avoid {
	struct avoid_node *nodes;
	uint32_t n;
	size_t size;
	struct map64 children;    /* hash of a node and a name -> the child */
};

enum { ROOT = 1 };

/** The bit for the length of a name. */
static uint64_t len_bit(size_t len)
{
	return (uint64_t)1 << len % 64;
}

/** The hash of a name in the directory of a node; if another name has it, the next hash is
    tried. */
static uint64_t child_hash(uint32_t node, const char *name, size_t len)
{
	return map64_bytes(MAP64_BYTES ^ node * 0x9e3779b97f4a7c15u, name, len);
}

struct avoid *avoid_new(void)
{
	struct avoid *avoid = calloc(1, sizeof(*avoid));
	if (!avoid)
		return NULL;
	avoid->nodes = calloc(16, sizeof(*avoid->nodes));
	if (!avoid->nodes) {
		free(avoid);
		return NULL;
	}
	avoid->size = 16;
	avoid->n = ROOT + 1;
	map64_init(&avoid->children);
	return avoid;
}

void avoid_free(struct avoid *avoid)
{
	if (!avoid)
		return;
	for (uint32_t i = 0; i < avoid->n; ++i)
		free(avoid->nodes[i].name);
	free(avoid->nodes);
	map64_destroy(&avoid->children);
	free(avoid);
}

uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	/* The length of most names differs from that of the few children. */
	if (node == AVOID_NONE || !(avoid->nodes[node].lens & len_bit(len)))
		return AVOID_NONE;
	for (uint64_t hash = child_hash(node, name, len);; ++hash) {
		uint32_t i = map64_get(&avoid->children, hash);
		if (i == MAP64_NONE)
			return AVOID_NONE;
		const struct avoid_node *child = &avoid->nodes[i];
		if (child->parent == node && child->len == len
		    && memcmp(child->name, name, len) == 0)
			return i;
	}
}

/** Add a child.  @return its node, or 0 if memory ran out. */
static uint32_t avoid_child(struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	if (!ARRAY_ROOM(avoid->nodes, avoid->n, &avoid->size))
		return 0;
	uint64_t hash = child_hash(node, name, len);
	while (map64_get(&avoid->children, hash) != MAP64_NONE)
		++hash;
	char *copy = strndup(name, len);
	if (!copy || map64_put(&avoid->children, hash, avoid->n) == MAP64_NONE) {
		free(copy);
		return 0;
	}
	avoid->nodes[avoid->n] = (struct avoid_node){.name = copy, .len = len, .parent = node};
	avoid->nodes[node].lens |= len_bit(len);
	return avoid->n++;
}

/** Walk along a path; where the tree ends, add nodes to `make`, unless it is NULL.
    @cover [out]  The nearest place that is the path or above it, or AVOID_NONE.
    @return the node of the path; AVOID_NONE: none, or memory ran out. */
static uint32_t avoid_walk(const struct avoid *avoid, const char *path, struct avoid *make,
                           uint32_t *cover)
{
	*cover = AVOID_NONE;
	for (uint32_t node = ROOT; node != AVOID_NONE;) {
		*cover = avoid->nodes[node].here ? node : *cover;
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (len == 0)
			return node;
		uint32_t child = avoid_step(avoid, node, path, len);
		node = child == AVOID_NONE && make ? avoid_child(make, node, path, len) : child;
		path += len;
	}
	return AVOID_NONE;
}

int avoid_add(struct avoid *avoid, const char *path)
{
	uint32_t cover, node = avoid_walk(avoid, path, avoid, &cover);
	if (node == AVOID_NONE) {
		errno = ENOMEM;
		return -1;
	}
	avoid->nodes[node].here = true;
	return 0;
}

uint32_t avoid_find(const struct avoid *avoid, const char *path)
{
	uint32_t cover;
	return avoid_walk(avoid, path, NULL, &cover);
}

uint32_t avoid_cover(const struct avoid *avoid, const char *path)
{
	uint32_t cover;
	avoid_walk(avoid, path, NULL, &cover);
	return cover;
}

bool avoid_below(const struct avoid *avoid, uint32_t node)
{
	return node != AVOID_NONE && avoid->nodes[node].lens != 0;
}

bool avoid_here(const struct avoid *avoid, uint32_t node)
{
	return node != AVOID_NONE && avoid->nodes[node].here;
}
