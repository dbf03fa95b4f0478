/* SPDX-License-Identifier: MIT */
/**
 * The users, groups, files and clock of this system, for the tests of a query.
 */
#ifndef GM_SEARCH_QUERY_HOST_H
#define GM_SEARCH_QUERY_HOST_H

#include "os/os.h"
#include "select/query.h"

/** Set now, owner_id and file of env, and env->arg = os, where system calls are counted. */
void query_env_host(struct query_env *env, struct os *os);

/** Whether the user or group with an ID has a name.  @return 1, 0, or -1 with errno. */
int query_host_owner(bool group, uint32_t id);

#endif
