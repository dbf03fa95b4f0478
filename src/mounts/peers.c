/* SPDX-License-Identifier: MIT */
#include "mounts/peers.h"

#include "base/words.h"

#include <string.h>

struct peers_member {
	uint64_t key;            /* the group; of a slave that is not shared, its master */
	uint64_t dev;
	const char *root;
	uint32_t value;
	uint32_t next;           /* the member added before with the same hash; MAP64_NONE */
	bool unshared;
};

/** A peer group whose members are slaves of another group. */
struct peers_slaves {
	uint64_t group;
	uint32_t next;           /* of the same master; MAP64_NONE */
};

/** A group that peers_receive() visits. */
struct peers_pass {
	uint64_t group, from;
};

/** Make room for another element of an array that is used again by each call.
    @return false after a failure. */
static bool grow(struct arena *arena, void *items, size_t *room, size_t count, size_t element)
{
	if (count == *room && !arena->failed) {
		size_t more = *room ? 2 * *room : 8;
		void *old, *bigger = arena_new(arena, more, element);
		memcpy(&old, items, sizeof(old));
		if (bigger && count)
			memcpy(bigger, old, count * element);
		if (bigger) {
			memcpy(items, &bigger, sizeof(bigger));
			*room = more;
		}
	}
	return !arena->failed;
}

void peers_init(struct peers *peers, struct arena *arena)
{
	*peers = (struct peers){
		.arena = arena, .by_root.arena = arena, .sizes.arena = arena,
		.by_master.arena = arena, .known.arena = arena};
}

/** The hash of a group and a device, to which a root is added. */
static uint64_t hash_of(uint64_t group, uint64_t dev, bool unshared)
{
	const uint64_t words[] = {group, dev, unshared};
	return map64_bytes(MAP64_BYTES, (const char *)words, sizeof(words));
}

static void add_slaves(struct peers *peers, uint64_t group, uint64_t master)
{
	const uint64_t words[] = {group, master};
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)words, sizeof(words));
	if (map64_get(&peers->known, hash) != MAP64_NONE)
		return;
	map64_put(&peers->known, hash, 0);
	uint32_t next = map64_get(&peers->by_master, master);
	map64_set(&peers->by_master, master, (uint32_t)peers->nslaves);
	ARENA_PUSH(peers->arena, peers->slaves, peers->nslaves, (struct peers_slaves){group, next});
}

void peers_add(struct peers *peers, uint32_t value, uint64_t dev, const char *root, uint64_t group,
               uint64_t master)
{
	if (!group && !master)
		return;
	bool unshared = !group;
	uint64_t key = group ? group : master;
	uint64_t hash = map64_bytes(hash_of(key, dev, unshared), root, strlen(root));
	uint32_t next = map64_get(&peers->by_root, hash);
	map64_set(&peers->by_root, hash, (uint32_t)peers->count);
	ARENA_PUSH(peers->arena, peers->members, peers->count,
	           (struct peers_member){key, dev, root, value, next, unshared});
	if (group)
		map64_set(&peers->sizes, group, peers_size(peers, group) + 1);
	if (group && master)
		add_slaves(peers, group, master);
}

uint32_t peers_size(const struct peers *peers, uint64_t group)
{
	uint32_t size = map64_get(&peers->sizes, group);
	return size == MAP64_NONE ? 0 : size;
}

/** Append the members of a group, or its slaves that are not shared, with this root. */
static void find_root(struct peers *peers, uint64_t key, uint64_t dev, bool unshared, uint64_t from,
                      const char *path, size_t n, uint64_t hash)
{
	uint32_t i = map64_get(&peers->by_root, hash);
	for (const struct peers_member *member; i != MAP64_NONE; i = member->next) {
		member = &peers->members[i];
		if (member->key == key && member->dev == dev && member->unshared == unshared
		    && word_is(path, n, member->root)
		    && grow(peers->arena, &peers->found, &peers->found_room, peers->nfound,
		            sizeof(*peers->found)))
			peers->found[peers->nfound++] = (struct peers_receiver){
				member->value, unshared ? 0 : key, from};
	}
}

/** Append the members that show a directory: their root is the directory or above it. */
static void find_members(struct peers *peers, uint64_t key, uint64_t dev, bool unshared,
                         uint64_t from, const char *path)
{
	uint64_t start = hash_of(key, dev, unshared), hash = start;
	find_root(peers, key, dev, unshared, from, "/", 1, map64_bytes(start, "/", 1));
	for (size_t n = 0; map64_path(path, &n, &hash);)
		find_root(peers, key, dev, unshared, from, path, n, hash);
}

/** Visit a group unless it was visited. */
static void add_pass(struct peers *peers, uint64_t group, uint64_t from)
{
	for (size_t i = 0; i < peers->npasses; ++i) {
		if (peers->passes[i].group == group)
			return;
	}
	if (grow(peers->arena, &peers->passes, &peers->passes_room, peers->npasses,
	         sizeof(*peers->passes)))
		peers->passes[peers->npasses++] = (struct peers_pass){group, from};
}

size_t peers_receive(struct peers *peers, uint64_t group, uint64_t dev, const char *path,
                     const struct peers_receiver **list)
{
	peers->nfound = peers->npasses = 0;
	if (group)
		add_pass(peers, group, group);
	for (size_t i = 0; i < peers->npasses && !peers->arena->failed; ++i) {
		const struct peers_pass pass = peers->passes[i];
		find_members(peers, pass.group, dev, false, pass.from, path);
		find_members(peers, pass.group, dev, true, pass.group, path);
		for (uint32_t at = map64_get(&peers->by_master, pass.group); at != MAP64_NONE;
		     at = peers->slaves[at].next)
			add_pass(peers, peers->slaves[at].group, pass.group);
	}
	*list = peers->found;
	return peers->nfound;
}

void peers_path(struct strbuf *out, const char *root, const char *rest)
{
	strbuf_puts(out, root[1] || !*rest ? root : "");
	strbuf_puts(out, rest);
}
