/* SPDX-License-Identifier: MIT */
#include "mountopts/fuse.h"

#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool is_fuse(const char *fstype)
{
	if (!fstype || strncmp(fstype, "fuse", 4) != 0)
		return false;
	fstype += strncmp(fstype + 4, "blk", 3) == 0 ? 7 : 4;
	return *fstype == '\0' || *fstype == '.';
}

uint32_t fuse_user(const char *fstype, const char *options)
{
	static const char name[] = "user_id=";
	size_t n;
	if (!is_fuse(fstype))
		return 0;
	for (const char *option; (option = opt_next_shown(&options, &n)) != NULL;) {
		if (strncmp(option, name, sizeof(name) - 1) != 0)
			continue;
		const char *value = option + sizeof(name) - 1;
		char *end;
		errno = 0;
		unsigned long id = strtoul(value, &end, 10);
		bool valid = errno == 0 && end > value && end == option + n
		    && id < FUSE_USER_UNKNOWN;
		return valid ? (uint32_t)id : FUSE_USER_UNKNOWN;
	}
	return FUSE_USER_UNKNOWN;
}
