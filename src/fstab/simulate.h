/* SPDX-License-Identifier: MIT */
/**
 * What mount -a makes of lines: mounts, their copies by recursive binds and by propagation.
 *
 *     mounts of the boot --> simulate_boot() --.
 *     lines, in order ----> simulate_line() ---+--> mounts, each with the line that makes it
 *
 * Follows the kernel: a bind joins the peer group of its source; a mount on a shared mount is
 * shared, and is copied to all mounts that receive it (mounts/peers.h); options such as "private"
 * take effect after that.  Pure.
 *
 * Source: attach_recursive_mnt(), copy_tree() in fs/namespace.c and fs/pnode.c of Linux.
 */
#ifndef GM_FSTAB_SIMULATE_H
#define GM_FSTAB_SIMULATE_H

#include "base/pathmap.h"
#include "fstab/entry.h"
#include "mounts/peers.h"

#define SIMULATE_NONE UINT32_MAX

/** A simulated mount. */
struct simulated {
	uint64_t dev;
	const char *root;        /* the directory of the file system that it shows */
	const char *point;       /* its mount point */
	uint32_t line;           /* of simulate_line(); SIMULATE_NONE: made by the boot */
	bool copy;               /* a copy of another mount, not the mount of the line itself */
	bool visible;            /* it was not covered when it was made */
	/* Private: */
	const char *on;          /* the directory of the parent's file system below it */
	uint32_t parent, first, next;   /* parent, first child, next sibling; SIMULATE_NONE */
	uint32_t from;           /* of a copy: the mount that was copied */
	uint64_t group, master;
	bool unbindable;
};

struct simulation {
	struct simulated *mounts;
	size_t count;
	bool too_many;           /* the limit was reached: mounts are missing */
	/* Private: */
	struct arena *arena;
	size_t limit;
	struct peers peers;
	struct pathmap by_point; /* mount point -> its topmost mount */
	struct map64 children;   /* hash of a mount and a directory of it -> mount there */
	uint64_t next_group;
};

/** Begin.
    @arena  Owns all; fails if memory runs out.
    @limit  Maximum number of mounts: binds in each other can double them with each line. */
void simulate_init(struct simulation *sim, struct arena *arena, size_t limit);

/** Add a mount that exists before the lines are mounted; parents first.  @point  Its mount point,
    which must outlive the simulation, as its root must. */
void simulate_boot(struct simulation *sim, const struct mount *mount, const char *point);

/** Mount a line.
    @line    Identifies it.
    @entry   Its options and type.
    @target  Its mount point, with links followed.
    @source  Of a bind: its source, with links followed; else NULL.
    @dev, root  Of other lines: the file system and the directory that it shows.
    @return whether a copy of the same mount is on the mount point already: then nothing is
            mounted. */
bool simulate_line(struct simulation *sim, uint32_t line, const struct fstab_entry *entry,
                   const char *target, const char *source, uint64_t dev, const char *root);

#endif
