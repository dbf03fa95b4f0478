/* SPDX-License-Identifier: MIT */
/**
 * From the mounts of a run to the rows of the output: select mounts, then make rows.
 */
#ifndef GM_CMD_VIEW_H
#define GM_CMD_VIEW_H

#include "cmd/discover/listing.h"
#include "cmd/discover/source.h"
#include "host/host.h"
#include "mounts/tablediff.h"

/* filter.c: selecting mounts, as in findmnt. */

/** The nodes that the options select, in the order in which a list shows them. */
struct picks {
	uint32_t *nodes;
	size_t count;
	bool restricted;              /* selected by target, source or -f, so shown as a list */
};

/** Select the nodes that match the options.  @return 0, or an exit status after a message. */
int filter_pick(struct listing *list, struct picks *picks);

/** Free a selection. */
void picks_destroy(struct picks *picks);

/** Get the fields of the mount table (set of enum mount_fields) that the selection needs. */
unsigned filter_fields(const struct options *options);

/** Whether any option restricts the selection. */
bool filter_any(const struct options *options);

/** The conditions that a mount must satisfy to match. */
struct filter {
	struct listing *list;
	const struct source_spec *source;   /* NULL: any */
	bool no_fuse;                       /* exclude mounts of FUSE, whose source can be any
	                                       text */
	const char *target;                 /* mount point; NULL: any */
	uint32_t node;                      /* MT_NONE: any */
	bool left_out;                      /* [out] a mount was excluded only by --df, --dfi,
	                                       --real or --pseudo */
	struct strbuf text;
};

/** Whether a mount matches the filter and the options, without regard to filter->target,
    filter->node, --shadowed and --invert. */
bool filter_match_mount(struct filter *filter, const struct mount *mount);

/** Whether a device that is not mounted matches. */
bool filter_match_device(struct listing *list, const struct devmap_device *device);

/** Whether two operands are SOURCE and TARGET: the first is not a mount point, or is also a
    source. */
bool filter_is_pair(struct listing *list, const char *first);

/* view.c: rows for all output formats. */

/** Maximum depth of a tree; deeper rows are shown at this level. */
#define VIEW_DEPTH 512
/** Maximum depth in JSON, where each level takes two levels of the parser: jq 1.6 allows 256,
    Python 1000.  Not for --stacks=nest, which nests as findmnt does. */
#define VIEW_DEPTH_JSON 120

/** A row: a mount, or (with --unmounted) a device. */
struct row {
	const struct mount *mount;    /* NULL: a device */
	const struct devmap_device *device;
	const struct change *change;  /* the change that the row shows, with --poll; else NULL */
	uint32_t node;                /* index of the mount's node; MT_NONE: the row is a device, or
	                                 a change of --poll */
	uint32_t parent;              /* index of the parent's row, which comes earlier; MT_NONE:
	                                 none */
	uint32_t beneath;             /* index in view->beneath of the mounts below this mount in
	                                 a stack, lowest first */
	uint32_t nbeneath;
};

struct view {
	struct row *rows;
	size_t count;
	uint32_t *beneath;            /* nodes of stacks that have no row */
	bool tree;                    /* parents are set */
};

/** Make the rows of a selection.
    @tree  Set the parents of rows; make one row of a stack, except with --stacks=nest.
    @inorder  If tree is false: order parents before children, as in a tree.
    @return 0, or -1.  Errors: ENOMEM. */
int view_build(struct listing *list, const struct picks *picks, bool tree, bool inorder,
               struct view *view);

/** Add the devices that hold a file system and are not mounted.
    @return 0, or -1.  Errors: those of devmap_list(). */
int view_add_devices(struct listing *list, struct view *view);

/** Free a view. */
void view_destroy(struct view *view);

#endif
