/* SPDX-License-Identifier: MIT */
/**
 * A world for queries: users, files, the time; and objects made of words.
 *
 * There is the user and group "me" (1000); looking up "broken" fails.  Each file exists except
 * "missing"; of "unborn" the time of birth is unknown.  Now is 2001-09-09 01:46:40.5 UTC.
 */
#ifndef GM_TESTS_QUERY_WORLD_H
#define GM_TESTS_QUERY_WORLD_H

#include "base/strbuf.h"
#include "select/query.h"

extern const struct query_env query_world;

/** The last warning. */
extern char query_warning[256];

/** An object and its facts. */
struct query_thing {
	struct query_object object;
	struct k_statx st;
	struct query_facts facts;
	const char *path, *target, *fstype;
	int access, empty, xtype, owned;   /* -1: fails with EACCES */
	bool fails;                  /* its actions that can fail do */
	unsigned calls;              /* of facts that call the kernel */
	struct strbuf done;          /* the actions performed */
};

/** Make an object of words "FACT" and "FACT=VALUE"; see set_fact().  @words  It is cut up. */
void query_thing_init(struct query_thing *thing, char *words);

/** Perform an action: note its word in done. */
bool query_thing_act(void *arg, const struct query_action *action,
                     const struct query_object *object);

/** Append what a query says of an object: whether actions are reached at each level, whether it is
    pruned, the actions performed, "pruned", "stop" and the error.  Asserts that what is said at a
    level remains true. */
void query_thing_describe(const struct query *query, struct query_thing *thing,
                          struct strbuf *out);

#endif
