/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include <string.h>

const struct command commands[] = {
	{"discover", cmd_discover, "name and judge every mount point (the default)"},
	{"audit", cmd_audit, "what is wanted against what is"},
	{"fstab", cmd_fstab, "make an fstab of what is mounted"},
	{"profile", cmd_profile, "what each algorithm costs"},
	{"recover", cmd_recover, "judge a mount table line by line and rebuild it"},
	{"search", cmd_search, "search a directory tree"},
	{NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; ++command) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}
