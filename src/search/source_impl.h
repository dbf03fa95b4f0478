/* SPDX-License-Identifier: MIT */
/**
 * The search of a root in a source: shared by source.c, source_object.c and dir.c.
 */
#ifndef GM_SEARCH_SOURCE_IMPL_H
#define GM_SEARCH_SOURCE_IMPL_H

#include "search/search_impl.h"

/** A mount to search: the mount of the root, or a mount below the root. */
struct start {
	uint64_t mount;
	uint32_t tag;             /* number of the node (struct node) of the mount's root */
	int depth;
	char *path;               /* path of the mount's root below the root of the search: "",
	                             "/a/b" */
};

/** Records of a directory, kept until all records can be sorted. */
struct group {
	const char *path;
	size_t at, size;          /* in source_run.kept */
};

struct source_run {
	struct start *starts;     /* the current start is the first; the others wait */
	size_t nstarts, starts_room;
	bool begun;
	struct strbuf place;      /* path of the current start from "/" of the namespace */
	int fd;                   /* directory of the current start */
	struct k_statx base;      /* attributes of this directory */
	bool again;
	/* An object whose source_object.within is QUERY_NO is no result (decides_no), and an object
	   with QUERY_YES is a result (decides_yes), without a test of the query. */
	bool decides_no, decides_yes;
	bool opens;               /* every directory is entered: below a directory without mounts,
	                             enter() is needed only for directories that may be results */
	bool puts;                /* `opens`, and results need only a name and type, so that they
	                             are reported without a test */
	enum query_value known;   /* result of search_source_knows() */
	bool at_mount;            /* the current object is the root of a mount below the start */
	struct k_statx st;        /* attributes of this root */
	int error;                /* errno if these attributes cannot be read; 0 */
	struct bfs_scratch scratch;
	struct bfs_output output;
	struct bfs_at at;         /* the current directory, which contains the current object */
	uint32_t dir;             /* number of the current directory in the source, or
	                             SOURCE_NONE */
	int dir_error;            /* errno if the current directory cannot be opened; 0 */
	struct strbuf path;       /* path of the current directory below the root of the search: "",
	                             "/a/b" */
	/* With SEARCH_BYNAME or SEARCH_BYINODE: */
	struct group *groups;
	size_t ngroups, groups_room;
	struct strbuf kept;
	struct arena paths;
};

/* source_object.c */

/** Make the directory that contains an object the current directory. */
void source_go_to(SEARCH *search, const struct source_object *object);

/** Deliver the records and lines collected so far. */
void source_flush(SEARCH *search);

/** Leave the current directory; deliver its records. */
void source_leave(SEARCH *search);

/** Deliver the kept records, sorted by the paths of their directories. */
void source_deliver_groups(SEARCH *search);


/** Get the attributes of an object in the current directory by statx.  @return 0, or an error
    number. */
int source_look_at(SEARCH *search, const char *name, struct k_statx *st);

/** Test an object in the current directory, and report it if it is a result. */
enum bfs_verdict source_judge(SEARCH *search, const struct source_object *object);

/** Test and report an object of the source.  @return whether it is a directory to be entered. */
bool source_take(SEARCH *search, const struct source_object *object);

#endif
