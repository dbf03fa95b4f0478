/* SPDX-License-Identifier: MIT */
/**
 * This process as the world of an expression: its users, groups, files and clock.
 */
#ifndef GM_SEARCH_QUERY_HOST_H
#define GM_SEARCH_QUERY_HOST_H

#include "os/os.h"
#include "select/query.h"

/** Fill env's now, user, group and file; arg becomes os, whose calls are counted. */
void query_env_host(struct query_env *env, struct os *os);

/** Whether a user or group has a name.  @return 1, 0, or -1 with errno. */
int query_host_owner(bool group, uint32_t id);

#endif
