/* SPDX-License-Identifier: MIT */
#include "mounts/peers.h"

#include "base/words.h"

#include <assert.h>
#include <string.h>

struct peers_member {
	uint64_t group, master;  /* 0: no group */
	uint64_t dev;
	const char *root;
	uint32_t value;
	uint32_t next;           /* the member added before with the same hash; MAP64_NONE */
};

/** A peer group, or the master of a mount. */
struct peers_group {
	uint64_t master;         /* the group that passes mounts on to this group; 0: none */
	uint32_t size;           /* number of members */
	bool receives;           /* the answer of call `seen` of peers_receive() */
	uint64_t seen;           /* number of the last call that visited this group */
};

void peers_init(struct peers *peers, struct arena *arena)
{
	*peers = (struct peers){
		.arena = arena, .by_root.arena = arena, .by_group.arena = arena};
}

/** The hash of a device, to which a root is added. */
static uint64_t hash_of(uint64_t dev)
{
	return map64_bytes(MAP64_BYTES, (const char *)&dev, sizeof(dev));
}

/** Find a group; NULL: no mount has it. */
static struct peers_group *find_group(const struct peers *peers, uint64_t group)
{
	uint32_t i = group ? map64_get(&peers->by_group, group) : MAP64_NONE;
	return i == MAP64_NONE ? NULL : &peers->groups[i];
}

void peers_add(struct peers *peers, uint32_t value, uint64_t dev, const char *root, uint64_t group,
               uint64_t master)
{
	if (!group && !master)
		return;
	uint64_t hash = map64_bytes(hash_of(dev), root, strlen(root));
	uint32_t next = map64_get(&peers->by_root, hash);
	map64_set(&peers->by_root, hash, (uint32_t)peers->count);
	size_t room = peers->count;
	ARENA_PUSH(peers->arena, peers->found, room, (struct peers_receiver){0});
	ARENA_PUSH(peers->arena, peers->members, peers->count,
	           (struct peers_member){group, master, dev, root, value, next});
	if (group && !find_group(peers, group)) {
		map64_put(&peers->by_group, group, (uint32_t)peers->ngroups);
		ARENA_PUSH(peers->arena, peers->groups, peers->ngroups, (struct peers_group){0});
	}
	struct peers_group *to = peers->arena->failed ? NULL : find_group(peers, group);
	if (to) {
		++to->size;
		to->master = master ? master : to->master;
	}
}

uint32_t peers_size(const struct peers *peers, uint64_t group)
{
	const struct peers_group *found = find_group(peers, group);
	return found ? found->size : 0;
}

/** Whether mounts on the group `from` are passed on to a group: it is `from`, or a slave of `from`,
    of a slave of `from` ...  Visits each group once in each call of peers_receive(). */
static bool receives(struct peers *peers, uint64_t group, uint64_t from)
{
	struct peers_group *at;
	uint64_t end = group;
	while (end != from && (at = find_group(peers, end)) != NULL && at->seen != peers->calls) {
		at->seen = peers->calls;
		at->receives = false;
		end = at->master;
	}
	at = find_group(peers, end);
	bool is = end == from || (at && at->receives);
	for (uint64_t up = group; is && up != end; up = at->master) {
		at = find_group(peers, up);
		at->receives = true;
	}
	return is;
}

/** Append the members with this root that receive mounts on a group. */
static void find_root(struct peers *peers, uint64_t group, uint64_t dev, const char *path, size_t n,
                      uint64_t hash)
{
	uint32_t i = map64_get(&peers->by_root, hash);
	for (const struct peers_member *member; i != MAP64_NONE; i = member->next) {
		member = &peers->members[i];
		bool peer = member->group == group;
		if (member->dev == dev && word_is(path, n, member->root)
		    && (peer || receives(peers, member->master, group))) {
			assert(peers->nfound < peers->count);
			peers->found[peers->nfound++] = (struct peers_receiver){
				member->value, member->group, peer ? group : member->master};
		}
	}
}

size_t peers_receive(struct peers *peers, uint64_t group, uint64_t dev, const char *path,
                     const struct peers_receiver **list)
{
	uint64_t start = hash_of(dev), hash = start;
	peers->nfound = 0;
	++peers->calls;
	if (group && !peers->arena->failed) {
		/* A root is the directory or above it. */
		find_root(peers, group, dev, "/", 1, map64_bytes(start, "/", 1));
		for (size_t n = 0; map64_path(path, &n, &hash);)
			find_root(peers, group, dev, path, n, hash);
	}
	*list = peers->found;
	return peers->nfound;
}
