/* SPDX-License-Identifier: MIT */
#include "search/avoid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A name on the way to a place.  Node 0 is none, node 1 the root. */
struct avoid_node {
	char *name;
	size_t len;
	uint32_t first, next;   /* child, sibling; 0: none */
	bool here;
};

struct avoid {
	struct avoid_node *nodes;
	uint32_t n, size;
};

enum { ROOT = 1 };

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
	return avoid;
}

void avoid_free(struct avoid *avoid)
{
	if (!avoid)
		return;
	for (uint32_t i = 0; i < avoid->n; ++i)
		free(avoid->nodes[i].name);
	free(avoid->nodes);
	free(avoid);
}

uint32_t avoid_step(const struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	uint32_t child = node == AVOID_NONE ? 0 : avoid->nodes[node].first;
	while (child != 0 && (avoid->nodes[child].len != len
	                      || memcmp(avoid->nodes[child].name, name, len) != 0))
		child = avoid->nodes[child].next;
	return child;
}

/** Add a child.  @return it, or 0. */
static uint32_t avoid_child(struct avoid *avoid, uint32_t node, const char *name, size_t len)
{
	if (avoid->n == avoid->size) {
		struct avoid_node *bigger = realloc(avoid->nodes, 2 * avoid->size * sizeof(*bigger));
		if (!bigger)
			return 0;
		avoid->nodes = bigger;
		avoid->size *= 2;
	}
	char *copy = strndup(name, len);
	if (!copy)
		return 0;
	uint32_t child = avoid->n++;
	avoid->nodes[child] = (struct avoid_node){
		.name = copy, .len = len, .next = avoid->nodes[node].first,
	};
	avoid->nodes[node].first = child;
	return child;
}

/** Go down a path; where the tree ends, add to `make` if that is given. */
static uint32_t avoid_go(const struct avoid *avoid, const char *path, struct avoid *make)
{
	uint32_t node = ROOT;
	while (node != 0) {
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (len == 0)
			return node;
		uint32_t child = avoid_step(avoid, node, path, len);
		if (child == 0 && make)
			child = avoid_child(make, node, path, len);
		node = child;
		path += len;
	}
	return 0;
}

int avoid_add(struct avoid *avoid, const char *path)
{
	uint32_t node = avoid_go(avoid, path, avoid);
	if (node == 0) {
		errno = ENOMEM;
		return -1;
	}
	avoid->nodes[node].here = true;
	return 0;
}

uint32_t avoid_find(const struct avoid *avoid, const char *path)
{
	return avoid_go(avoid, path, NULL);
}

bool avoid_below(const struct avoid *avoid, uint32_t node)
{
	return node != AVOID_NONE && avoid->nodes[node].first != 0;
}

bool avoid_here(const struct avoid *avoid, uint32_t node)
{
	return node != AVOID_NONE && avoid->nodes[node].here;
}

uint32_t avoid_cover(const struct avoid *avoid, const char *path)
{
	uint32_t cover = AVOID_NONE;
	for (uint32_t node = ROOT; node != AVOID_NONE;) {
		cover = avoid->nodes[node].here ? node : cover;
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		if (len == 0)
			break;
		node = avoid_step(avoid, node, path, len);
		path += len;
	}
	return cover;
}
