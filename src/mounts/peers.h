/* SPDX-License-Identifier: MIT */
/**
 * Which mounts receive a mount by propagation (mount_namespaces(7)).
 *
 *     mount x /A/m     "/" and /B, a bind of /A, are peers: the kernel also mounts x on /B/m
 *
 * A mount made on a mount of a peer group is copied to its peers, to the slaves of the group, to
 * the peers and slaves of these ..., where they show the directory of the mount point.  Directories
 * are named by their path from the root of their file system, as the root of a mount is.  Pure.
 *
 * Source: propagate_mnt() in fs/pnode.c of Linux.
 */
#ifndef GM_MOUNTS_PEERS_H
#define GM_MOUNTS_PEERS_H

#include "base/arena.h"
#include "base/map64.h"
#include "base/mount.h"

/** A mount that receives another. */
struct peers_receiver {
	uint32_t value;          /* of peers_add() */
	uint64_t group;          /* its peer group; 0: a slave that is not shared */
	uint64_t from;           /* the group that passes the mount on to this one: `group`, or the
	                            master of it */
};

/** Mounts by device and root, and their groups.  Members are private. */
struct peers {
	struct arena *arena;     /* memory of all members */
	struct peers_member *members;
	size_t count;
	struct map64 by_root;    /* hash of device and root -> newest member */
	struct map64 by_group;   /* group -> its index in groups[] */
	struct peers_group *groups;
	size_t ngroups;
	struct peers_receiver *found;   /* the answer of peers_receive(): room for all members */
	size_t nfound;
	uint64_t calls;          /* number of calls of peers_receive() */
};

/** Make an empty index.  @arena  Owns it; fails if memory runs out. */
void peers_init(struct peers *peers, struct arena *arena);

/** Add a mount with the groups that it has now.  A private mount is not added.
    @value  Identifies the mount.
    @root   Must outlive the index. */
void peers_add(struct peers *peers, uint32_t value, uint64_t dev, const char *root, uint64_t group,
               uint64_t master);

/** How many mounts of a group were added. */
uint32_t peers_size(const struct peers *peers, uint64_t group);

/** Find the mounts that receive a mount on a directory of a mount of this group, including that
    mount.  Takes time in proportion to the depth of the path, the mounts of the file system whose
    root is above the directory, and their masters.
    @list [out]  Valid until the next call, or the next peers_add().
    @return their number. */
size_t peers_receive(struct peers *peers, uint64_t group, uint64_t dev, const char *path,
                     const struct peers_receiver **list);

#endif
