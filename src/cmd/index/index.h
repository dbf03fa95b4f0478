/* SPDX-License-Identifier: MIT */
/**
 * What the subcommands of `getmnt index` share: the mounts of a run, and which get an index.
 *
 * A subcommand is a row of index_commands, a table of options and a function.
 */
#ifndef GM_CMD_INDEX_INDEX_H
#define GM_CMD_INDEX_INDEX_H

#include "cmd/cmd.h"
#include "cmd/listing.h"
#include "index/place.h"

/** The row of --index-dir.  @field  A const char *. */
#define OPTION_INDEX_DIR(type, field) \
	{"index-dir", 0, "DIR", "the directory of all indexes", OPT_IS_TEXT(type, field)}

int cmd_index_status(int argc, char **argv);
extern const struct option_table index_status_table;

/** The mounts of a run, and the directory of all indexes. */
struct index_run {
	struct run run;
	struct options options;      /* of run */
	struct place *places;        /* of each node of run.d->tree */
	size_t nplaces;
	int dirfd;                   /* the directory of all indexes; -1: it does not exist */
	struct strbuf dir;           /* its path */
};

/** Read the mounts, decide which get an index, and open the directory of all indexes.
    @dir  Of --index-dir, or NULL.  @create  Make the directory if it does not exist.
    @return 0, or an exit status after a message.  index_run_end() in any case. */
int index_run_begin(struct index_run *ir, const char *dir, bool create);
void index_run_end(struct index_run *ir);

/** The place whose mount point an operand is; SIZE_MAX after a message: not a mount point (which
    names the mount that the path is on), or not reachable. */
size_t index_run_find(struct index_run *ir, const char *path);

/** Open the root directory of a mount, which does not block.  @return a descriptor, or -1 (ESTALE:
    the path leads to another mount by now). */
int index_run_open(struct index_run *ir, const struct place *place);

/** The name of the directory of the index of a mount's root, as index_place_name().
    @return 0, or -1: the mount cannot be opened. */
int index_run_name(struct index_run *ir, const struct place *place, char uuid[INDEX_UUID],
                   struct strbuf *name);

#endif
