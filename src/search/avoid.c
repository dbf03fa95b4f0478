/* SPDX-License-Identifier: MIT */
#include "search/avoid.h"

#include "base/array.h"
#include "base/fail.h"
#include "base/map64.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A name in the path of a mount point, or the root of a mount.  nodes[0] is not used:
    AVOID_NONE. */
struct avoid_node {
	char *name;               /* NULL: the node is the root of a mount */
	size_t len;
	uint64_t lens;            /* bit set of the lengths of the children's names, see len_bit();
	                             0: no children */
	uint32_t parent;
	uint32_t to;              /* root node of the mount that covers this node; 0: not covered */
	uint32_t mount;           /* for the root of a mount: its number; otherwise
	                             AVOID_NO_MOUNT */
};

struct avoid {
	struct avoid_node *nodes;
	uint32_t n;
	size_t size;
	struct map64 children;    /* hash of a parent node and a name -> node of the child */
};

/** The bit for the length of a name in avoid_node.lens. */
static uint64_t len_bit(size_t len)
{
	return (uint64_t)1 << len % 64;
}

/** The hash of a name in the directory of a node.  If a different name has this hash, the caller
    tries the next number. */
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
	avoid->n = AVOID_NONE + 1;
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

/** Find the child of a node by name.  @return AVOID_NONE: no such child. */
static uint32_t avoid_child(const struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	/* Most names differ in length from all of the few children, so that no hash is needed. */
	if (!(avoid->nodes[node].lens & len_bit(len)))
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

uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	if (node == AVOID_NONE || node == AVOID_UNKNOWN)
		return node;
	node = avoid_child(avoid, node, name, len);
	while (node != AVOID_NONE && node != AVOID_UNKNOWN && avoid->nodes[node].to)
		node = avoid->nodes[node].to;
	return node;
}

/** Add a child to a node.  @return the node of the child, or AVOID_NONE if memory ran out. */
static uint32_t child_add(struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	if (!ARRAY_ROOM(avoid->nodes, avoid->n, &avoid->size))
		return AVOID_NONE;
	uint64_t hash = child_hash(node, name, len);
	while (map64_get(&avoid->children, hash) != MAP64_NONE)
		++hash;
	char *copy = strndup(name, len);
	if (!copy || map64_put(&avoid->children, hash, avoid->n) == MAP64_NONE) {
		free(copy);
		return AVOID_NONE;
	}
	avoid->nodes[avoid->n] = (struct avoid_node){
		.name = copy, .len = len, .parent = node, .mount = AVOID_NO_MOUNT,
	};
	avoid->nodes[node].lens |= len_bit(len);
	return avoid->n++;
}

uint32_t avoid_add(struct avoid *avoid, uint32_t mount)
{
	if (!ARRAY_ROOM(avoid->nodes, avoid->n, &avoid->size))
		return AVOID_NONE;
	avoid->nodes[avoid->n] = (struct avoid_node){.mount = mount};
	return avoid->n++;
}

/** Find the node of a path below a node.
    @make  NULL, or `avoid`: add nodes for the missing components.
    @return AVOID_NONE: no such node, or memory ran out. */
static uint32_t avoid_walk(const struct avoid *avoid, uint32_t node, const char *path,
                           struct avoid *make)
{
	while (node != AVOID_NONE) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (len == 0)
			break;
		uint32_t child = avoid_child(avoid, node, path, len);
		node = child == AVOID_NONE && make ? child_add(make, node, path, len) : child;
		path += len;
	}
	return node;
}

int avoid_lead(struct avoid *avoid, uint32_t root, const char *path, uint32_t to)
{
	uint32_t node = avoid_walk(avoid, root, path, avoid);
	if (node == AVOID_NONE)
		return fail(ENOMEM);
	avoid->nodes[node].to = to;
	return 0;
}

uint32_t avoid_find(const struct avoid *avoid, uint32_t root, const char *path)
{
	return avoid_walk(avoid, root, path, NULL);
}

bool avoid_below(const struct avoid *avoid, uint32_t node)
{
	return node == AVOID_UNKNOWN || (node != AVOID_NONE && avoid->nodes[node].lens != 0);
}

uint32_t avoid_mount(const struct avoid *avoid, uint32_t node)
{
	return node == AVOID_NONE || node == AVOID_UNKNOWN ? AVOID_NO_MOUNT
	                                                   : avoid->nodes[node].mount;
}
