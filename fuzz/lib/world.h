/* SPDX-License-Identifier: MIT */
/**
 * A machine that is made up: mounts, of one tree of directories each, mounted
 * on each other's directories in any way that a kernel lets them be.
 *
 * It answers as a kernel would (world_kernel()), and ends the run when what
 * can block is touched (design 2.3): a name resolved in it, its root opened,
 * or looked at where not even that is allowed.
 */
#ifndef GM_FUZZ_WORLD_H
#define GM_FUZZ_WORLD_H

#include "base/mount.h"
#include "fuzz.h"
#include "kernel.h"

enum { WORLD_MOUNTS = 20, WORLD_PATH = 1024 };

struct world_mount {
	uint64_t key;
	uint32_t id;
	unsigned parent;             /* an earlier one; of the first, itself */
	unsigned place;              /* a directory or file of the parent's */
	const char *fstype;
	char options[WORLD_PATH];    /* of the file system; an overlay's layers */
	char point[WORLD_PATH];      /* as the kernel writes it */
	const char *link;            /* where the link in it leads */
	bool is_file;                /* a file is mounted, on a file */
	bool denied;                 /* one of its directories may not be entered */
	bool no_types;               /* its directories do not tell the types of entries */
	bool gone;                   /* went away since the table was read */
	bool blocks, no_look;        /* it can block; not even its root may be looked at */
};

struct world {
	struct world_mount mounts[WORLD_MOUNTS];
	unsigned n;
	bool layered;                /* there is an overlay: what it stands on is judged
	                                more strictly than here */
	bool by_dev;                 /* no mount IDs in statx */
	struct fuzz_kernel kernel;
};

/** Where a path leads. */
struct world_at {
	unsigned mount;
	unsigned place;              /* of that mount; 0 is its root */
	bool behind;                 /* a name was resolved in what blocks */
	bool touches;                /* and not only in the process's own root */
	int error;                   /* errno; 0 */
};

/** Make a world from an input, and put its kernel in force.  One at a time. */
void world_begin(struct world *world, struct fuzz_input *in);
void world_end(struct world *world);

/** Follow a path. @follow  Whether also a link at its end. */
struct world_at world_follow(const char *path, bool follow);

/** Whether a mount is what its own mount point shows. */
bool world_is_visible(const struct world *world, unsigned mount);

/** The records of all mounts, as the kernel's table has them. */
void world_records(const struct world *world, struct mount *records);

#endif
