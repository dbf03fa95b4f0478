/* SPDX-License-Identifier: MIT */
/**
 * Declarations for the subcommands of `getmnt index`: the mounts of a run, and whether each mount
 * gets an index.
 *
 * A subcommand consists of a row of index_commands, a table of options and a function.
 */
#ifndef GM_CMD_INDEX_INDEX_H
#define GM_CMD_INDEX_INDEX_H

#include "cmd/cmd.h"
#include "cmd/run.h"
#include "cmd/text.h"
#include "index/follow/refresh.h"
#include "index/store/place.h"
#include "index/store/store.h"

/** The options of all subcommands; the first member of the options of each. */
struct index_opts {
	const char *dir;             /* argument of --index-dir; or NULL */
	bool quiet, help;
};

#define OPTION_INDEX_QUIET \
	{"quiet", 'q', NULL, "print only errors", OPT_IS_FLAG(struct index_opts, quiet)}
#define OPTIONS_INDEX_GENERAL \
	OPTION_GROUP("General"), \
	{"index-dir", 0, "DIR", "the directory of all indexes", \
	 OPT_IS_TEXT(struct index_opts, dir)}, \
	OPTION_HELP(struct index_opts, help)

int cmd_index_build(int argc, char **argv);
int cmd_index_check(int argc, char **argv);
int cmd_index_drop(int argc, char **argv);
int cmd_index_export(int argc, char **argv);
int cmd_index_report(int argc, char **argv);
int cmd_index_status(int argc, char **argv);
int cmd_index_update(int argc, char **argv);
int cmd_index_watch(int argc, char **argv);
extern const struct option_table index_build_table, index_check_table, index_drop_table,
	index_export_table, index_report_table, index_status_table, index_update_table,
	index_watch_table;
extern const struct column_table index_columns;      /* for export */

/** The mounts of a run, and the directory of all indexes. */
struct index_run {
	struct run run;
	struct input_opts input;     /* input of `run` */
	struct place *places;        /* the mounts: one for each node of run.d->tree */
	char (*uuids)[INDEX_UUID];   /* the IDs to which place.uuid points */
	size_t nplaces;              /* number of mounts */
	int dirfd;                   /* the directory of all indexes; -1: it does not exist */
	struct strbuf dir;           /* path of that directory */
	const char *given;           /* argument of --index-dir, or NULL */
	struct index_found *found;   /* indexes, from index_run_indexes() */
	size_t nfound, found_room;
	bool begun;                  /* index_run_begin() was called */
};

/** A subcommand. */
struct index_verb {
	const struct option_table *options;
	const char *usage;           /* the first lines of --help */
	const char *notes;           /* text of --help after the options; or NULL */
	/* Run the subcommand: check the options, index_run_begin() ...
	    @operands  n words.  @return an exit status, after a message if it is an error. */
	int (*run)(struct index_run *ir, const void *opts, char **operands, size_t n);
};

/* mounts.c */

/** Read the options, and run a subcommand or print its help.  @opts  Starts with a struct
    index_opts.  @return an exit status. */
int index_verb(const struct index_verb *verb, int argc, char **argv, void *opts);

/** Read the mounts, decide for each mount whether it gets an index, and open the directory of all
    indexes, if that directory exists.
    @return 0, or an exit status after a message. */
int index_run_begin(struct index_run *ir, const struct index_opts *opts);

/** Make the directory of all indexes, if it does not exist.
    @return 0, or an exit status after a message. */
int index_run_create(struct index_run *ir);

/** Whether an operand is not empty; print a message if it is empty. */
bool index_path_given(const char *path);

/** Find a mount by its mount point.
    @return the position of the mount in ir->places; SIZE_MAX after a message: the path is not
    accessible, or not a mount point (the message names the mount that contains the path). */
size_t index_run_find(struct index_run *ir, const char *path);

/** Open the root directory of a mount, without blocking.  @return a descriptor, or -1 (ESTALE:
    the path now leads to another mount). */
int index_run_open(struct index_run *ir, const struct place *place);

/** Get the reason why a mount cannot have an index, even if an operand names the mount.
    @return PLACE_INDEX: the mount can have an index. */
enum place_why index_run_never(const struct place *place);

/** Get the ID that indexes use for the file system of the i-th mount; "": the file system cannot
    have an index, or cannot be opened. */
const char *index_run_uuid(struct index_run *ir, size_t i);

/** Append why the i-th mount has no index.  If the reason is another mount, name that mount; for
    PLACE_TWIN, append a remedy. */
void index_run_why(const struct index_run *ir, size_t i, enum place_why why, struct strbuf *text);

/* found.c */

/** An index, and the mount of its file system. */
struct index_found {
	char *name;                  /* name of its directory */
	struct index *index;         /* NULL: the index cannot be opened */
	int error;                   /* why the index cannot be opened */
	size_t place;                /* the mount whose root is the root of the index: position in
	                                index_run.places; SIZE_MAX: none */
	size_t twin;                 /* a mount that may show the file system of the index, but
	                                shares its UUID with another mounted file system; or
	                                SIZE_MAX */
	char *title;                 /* for messages: the mount point, or else `name` */
};

/** Find and open indexes, and store them in ir->found.  Indexes that cannot be opened are stored,
    too; the caller passes their errors to index_report().
    @operands  n mount points, or names of directories of indexes; n = 0: all indexes.
    @required  Finding no index is an error.
    @return 0, or an exit status after a message: an operand has no index. */
int index_run_indexes(struct index_run *ir, char **operands, size_t n, enum index_mode mode,
                      bool required);

/** Find the index in ir->found that contains the root of a mount, even if the index cannot be
    opened; NULL: none.  @place  The position of the mount in ir->places. */
struct index_found *index_found_for(struct index_run *ir, size_t place);

/** Whether the contents of the index ir->found[i] are also in the index of a directory above its
    root. */
bool index_found_within(const struct index_run *ir, size_t i);

/** Report that the mount of a path has no index, and why or what to do.
    @place  The position of the mount in ir->places; out of range: unknown. */
void index_report_missing(struct index_run *ir, const char *path, size_t place);

/** Report why an index cannot be opened, read or written, and what to do.
    @title  As in struct index_found. */
void index_report(const struct index_run *ir, const char *title, int error);

/** Report that the root of a file system cannot be read. */
void index_report_root(const char *title, int error);

/* update.c, for watch.c too */

/** Collect the last components of all mount points, for the member `covered` of struct chain.
    @covered [in,out]  Replaced.  @return 0, or -1: covered is unchanged. */
int live_covered(struct os *os, struct map64 *covered);

/** Print the result of an update.  @title  The title of the index. */
void live_print(const char *title, const struct refresh_counts *counts, double seconds);

/** Whether an index can be updated: it is open, and its file system is mounted.
    @named  An operand names the index: if its file system is not mounted, this is an error.
    @status [in,out]  An exit status; set to CX_ERROR after an error.
    @return false after a message. */
bool live_usable(const struct index_run *ir, const struct index_found *found, bool named,
                 int *status);

#endif
