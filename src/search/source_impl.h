/* SPDX-License-Identifier: MIT */
/**
 * Shared by source.c, source_object.c and dir.c.
 */
#ifndef GM_SEARCH_SOURCE_IMPL_H
#define GM_SEARCH_SOURCE_IMPL_H

#include "search/search_impl.h"

/** A mount to search: that of the root, or one below it. */
struct start {
	uint64_t mount;
	uint32_t tag;             /* the node of its root */
	int depth;
	char *path;               /* of its root below that of the search: "", "/a/b" */
};

/** Records of a directory that wait to be sorted. */
struct group {
	const char *path;
	size_t at, size;          /* in kept */
};

struct source_run {
	struct start *starts;     /* those that wait, and the current one, the first */
	size_t nstarts, starts_room;
	bool begun;
	struct strbuf place;      /* the path of the current start from "/" */
	int fd;                   /* that directory */
	struct k_statx base;      /* its attributes */
	bool again;
	/* What is not within the bounds of the query is no result; what is within them, is one. */
	bool decides_no, decides_yes;
	bool opens;               /* every directory is entered, unless there are mounts below it */
	bool puts;                /* opens, and only names and types of results are needed */
	enum query_value known;   /* whether the current object is found */
	bool at_mount;            /* the current object is the root of another mount */
	struct k_statx st;        /* its attributes */
	int error;                /* why they cannot be read; 0 */
	struct bfs_scratch scratch;
	struct bfs_output output;
	struct bfs_at at;         /* the current directory */
	uint32_t dir;             /* its number in the source, or SOURCE_NONE */
	int dir_error;            /* why it cannot be opened; 0 */
	struct strbuf path;       /* its path below the root of the search: "", "/a/b" */
	/* With an order: */
	struct group *groups;
	size_t ngroups, groups_room;
	struct strbuf kept;
	struct arena paths;
};

/* source_object.c */

/** Go to the directory of an object. */
void source_go_to(SEARCH *search, const struct source_object *object);

/** Deliver what was found in the current directory. */
void source_flush(SEARCH *search);

/** The same, and leave it. */
void source_leave(SEARCH *search);

/** Deliver what waits to be sorted, directory by directory. */
void source_deliver_groups(SEARCH *search);


/** Look at an object of the current directory.  @return 0, or an error number. */
int source_look_at(SEARCH *search, const char *name, struct k_statx *st);

/** Match and judge an object of the current directory. */
enum bfs_verdict source_judge(SEARCH *search, const struct source_object *object);

/** Take an object.  @return of a directory whether it is entered. */
bool source_take(SEARCH *search, const struct source_object *object);

#endif
