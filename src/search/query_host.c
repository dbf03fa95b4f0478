/* SPDX-License-Identifier: MIT */
/* The data of this system that the tests of a query need. */
#include "search/query_host.h"

#include "base/fail.h"
#include "os/change.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

/** Look up a user or group, with a buffer that grows; for query_env.owner_id.
    @name  The name to look up; NULL: look up *id.
    @id  With `name` [out] the ID.
    @return 1: found; 0: does not exist; -1 with errno. */
static int look_up(void *arg, bool group, const char *name, uint32_t *id)
{
	(void)arg;
	enum { ROOM = 1024, ROOM_MAX = 1 << 24 };
	int error = ERANGE;
	for (size_t room = ROOM; error == ERANGE && room <= ROOM_MAX; room *= 4) {
		char *buf = malloc(room);
		if (!buf)
			return -1;
		struct passwd user, *found_user = NULL;
		struct group row, *found_group = NULL;
		if (group)
			error = name ? getgrnam_r(name, &row, buf, room, &found_group)
			             : getgrgid_r(*id, &row, buf, room, &found_group);
		else
			error = name ? getpwnam_r(name, &user, buf, room, &found_user)
			             : getpwuid_r(*id, &user, buf, room, &found_user);
		if (found_user)
			*id = user.pw_uid;
		if (found_group)
			*id = row.gr_gid;
		free(buf);
		if (found_user || found_group)
			return 1;
	}
	/* The errors that stand for "not found": getpwnam(3). */
	if (error == 0 || error == ENOENT || error == ESRCH || error == EBADF || error == EPERM)
		return 0;
	return fail(error);
}

int query_host_owner(bool group, uint32_t id)
{
	return look_up(NULL, group, NULL, &id);
}

static int host_file(void *arg, const char *path, bool follow, struct k_statx *st)
{
	struct os *os = arg;
	unsigned mask = K_STATX_BASIC | K_STATX_BTIME;
	if (follow && os_statx(os, AT_FDCWD, path, 0, mask, st) == 0)
		return 0;
	/* If the target of a symlink does not exist, get the attributes of the symlink. */
	if (follow && errno != ENOENT && errno != ENOTDIR)
		return -1;
	return os_statx(os, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, mask, st);
}

void query_env_host(struct query_env *env, struct os *os)
{
	env->arg = os;
	env->now = os_time();
	env->owner_id = look_up;
	env->file = host_file;
}
