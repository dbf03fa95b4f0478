/* SPDX-License-Identifier: MIT */
/**
 * `getmnt search --index` and `getmnt find --index`: the index of each mount as the source of a
 * search.
 */
#ifndef GM_CMD_INDEXED_H
#define GM_CMD_INDEXED_H

#include "cmd/found/flow.h"
#include "cmd/json.h"
#include "cmd/options.h"
#include "cmd/found/roots.h"
#include "cmd/text.h"
#include "devmap.h"
#include "index/store/place.h"
#include "search/source.h"

#include <stddef.h>
#include <stdint.h>

/** Get the ID that indexes use for the file system of a mount: index_place_uuid(), with the UUID of
    its device.
    @devs  NULL: the UUID of the device is unknown.
    @fd  A directory of the mount; -1: none. */
void indexed_uuid(struct os *os, struct devmap *devs, int fd, const struct mount *m,
                  char uuid[INDEX_UUID]);

/** Append a command, "getmnt index VERB --index-dir=GIVEN OPTION NAME".
    @verb  For example "build".  @given  Argument of --index-dir, or NULL.
    @option, name  NULL: none. */
void indexed_command(const char *verb, const char *given, const char *option, const char *name,
                     struct strbuf *text);

/** Append a message about a directory that an index does not have.  @title  The mount of the index.
    @given  Argument of --index-dir, or NULL. */
void indexed_no_dir(const char *title, const char *given, struct strbuf *text);

/** Read the argument of an option: a number of seconds, or a duration.
    @return 0, or an exit status after a message. */
int indexed_seconds(const char *title, const char *text, int64_t *seconds);

/** Get a phrase about an index for an error number, such as "is damaged"; or NULL. */
const char *indexed_phrase(int error);

/** Append why an index cannot be opened, read or written, and what to do.
    @title  The mount point, or the name of the index.  @dir  The directory of all indexes.
    @given  Argument of --index-dir, or NULL. */
void indexed_error(const char *title, const char *dir, const char *given, int error,
                   struct strbuf *text);

/** Report why the directory of all indexes cannot be used, by errno.  @dir  "": no path.
    @return an exit status. */
int indexed_dir_error(const char *dir);

/** Open the root of a mount, without blocking.
    @cached  Look up only names that are in memory.
    @return a descriptor, or -1 (ESTALE: the path now leads to another mount). */
int indexed_open(struct os *os, const char *path, const struct mount *m, bool cached);

/** The arguments of --index, --index-dir and --fresh. */
struct indexed_args {
	bool index;
	const char *dir;          /* directory of all indexes; NULL: the default */
	const char *fresh;        /* argument of --fresh, a duration; NULL: not given */
};

/** The rows of these options.  @field  A struct indexed_args in the options of a command. */
#define OPTION_INDEXED(type, field) \
	{"index", 0, NULL, "search indexes made by getmnt index build", \
	 OPT_IS_FLAG(type, field.index)}, \
	{"index-dir", 0, "DIR", "the directory of all indexes", OPT_IS_TEXT(type, field.dir)}, \
	{"fresh", 0, "SEC", "examine results again if the index is older", \
	 OPT_IS_TEXT(type, field.fresh)}

struct indexed;

/**
 * Prepare to search indexes, if --index was given.
 *
 * @refused  An option that excludes --index; NULL: none.
 * @roots    Roots of the search.
 * @now [out]  NULL: --index is not given.
 * @return 0, or an exit status after a message.  Ownership: indexed_free().
 */
int indexed_new(struct os *os, const struct indexed_args *args, const char *refused,
                const struct roots *roots, struct indexed **now);
void indexed_free(struct indexed *indexed);

/** Get the source of objects for a search; NULL: --index was not given.
    @flow  The output of the search, which stops during messages. */
const struct search_source *indexed_source(struct indexed *indexed, struct flow *flow);

/** Report in-memory mounts that were not searched.  In this and the following functions, indexed
    may be NULL. */
void indexed_report_memory(const struct indexed *indexed);

/** Report the age of the oldest index used, if standard error is a terminal. */
void indexed_report(const struct indexed *indexed);

/** Write the counts of the indexes to a JSON document, as an object "index". */
void indexed_stats_json(const struct indexed *indexed, struct json *json);

/** Append the counts of the indexes as text. */
void indexed_stats_text(const struct indexed *indexed, struct text *out);

#endif
