/* SPDX-License-Identifier: MIT */
/**
 * From all mounts to the rows that are shown, in the tree or in a list; every output format
 * uses the same rows.
 */
#ifndef GM_CMD_VIEW_H
#define GM_CMD_VIEW_H

#include "cmd/cmd.h"
#include "host/host.h"
#include "table/tablediff.h"

/** Depth of a tree; deeper rows are shown at this level. */
#define VIEW_DEPTH 512
/** Depth in JSON, where each level needs two of the reader: jq 1.6 allows 256, Python 1000.
    Not with --stacks=nest, which nests as findmnt does. */
#define VIEW_DEPTH_JSON 120

/** A row: a mount, or (with --unmounted) a device. */
struct row {
	const struct mount *mount;    /* NULL: a device */
	const struct devmap_device *device;
	const struct change *change;  /* of --poll; else NULL */
	uint32_t node;                /* MT_NONE for a device, and with --poll */
	uint32_t parent;              /* an earlier row; MT_NONE: none */
	uint32_t beneath;             /* index in view->beneath of the mounts that this
	                                 one stands on, the lowest first */
	uint32_t nbeneath;
};

struct view {
	struct row *rows;
	size_t count;
	uint32_t *beneath;            /* nodes */
	bool tree;                    /* parents are set */
};

/** The nodes that the options select, in order. */
struct picks {
	uint32_t *nodes;
	size_t count;
	bool restricted;              /* selected by target, source or -f: shown as a list */
};

/** The mount fields that selecting needs. */
unsigned filter_fields(const struct options *options);

/**
 * Pick the nodes that the options select.
 *
 * @return 0, or an exit status after a message.
 */
int filter_pick(struct run *run, struct picks *picks);

/** Free a selection. */
void picks_destroy(struct picks *picks);

/**
 * Make rows of a selection.
 *
 * @tree    Set the parents; a stack is one row unless --stacks=nest.
 * @inorder Without tree: parents before children, in the order of a tree.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int view_build(struct run *run, const struct picks *picks, bool tree, bool inorder,
               struct view *view);

/** Add the devices that hold a file system and are not mounted.
    @return 0, or -1.  Errors: those of devmap_list(). */
int view_add_devices(struct run *run, struct view *view);

/** Free a view. */
void view_destroy(struct view *view);

/* path.c.  The functions with `void *run` are those of struct host_paths. */

/**
 * The place that a path leads to, as mount tables write it.
 *
 * Links are read one by one, so that no name is resolved through a mount that
 * can block; from there on the path is taken as it is written.
 *
 * @out [out]
 *         The absolute path, without links, "." and "..".
 * @return how far it was followed; HOST_MISSING sets errno, to ESTALE where
 *         the working directory has no name: path_error() tells it.
 */
enum host_followed path_follow(void *run, const char *path, struct strbuf *out);

/** What an errno of path_follow() means, in words. */
const char *path_error(int error);

/**
 * Look at a place by its path from the run's root, without following a link or
 * going to a server.  For paths that path_follow() has seen.
 *
 * @return 0, or -1.  Errors: those of statx(2).
 */
int path_look(void *run, const char *path, unsigned mask, struct k_statx *st);

/** Whether touching the file of a loop device could block, or that cannot be told: a judge for
    devmap_set_judge(), whose arg is the run. */
bool loop_blocks(void *arg, const char *path, uint32_t major, uint32_t minor);

/** Whether touching the file of a path (of this process's root) could block, or
    that cannot be told; arg is the run.  Where it is so,
    errno says why: ENOENT and its kin of what is not there, else EAGAIN. */
bool path_blocks(void *arg, const char *path);

/**
 * Index the names of a run, whose discovery stays from now on: for who asks of many paths.
 *
 * @return 0, or -1.  Errors: ENOMEM.
 */
int path_index(struct run *run);

/** The mount that a path lies in, by the table: MT_NONE if in none. */
uint32_t path_mount(const struct run *run, const char *path);

/** Whether a node is, or stands below, what can block (design 2.3). */
bool node_blocks(void *run, uint32_t node);

#endif
