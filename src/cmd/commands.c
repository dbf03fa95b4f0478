/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/near.h"

#include <string.h>

const struct command commands[] = {
	{"discover", cmd_discover, &discover_options, &discover_columns,
	 "list the mount points (default)"},
	{"audit", cmd_audit, &audit_table, NULL, "compare fstab with what is mounted"},
	{"fstab", cmd_fstab, &fstab_table, NULL, "make or update an fstab from what is mounted"},
	{"profile", cmd_profile, &profile_table, NULL, "measure the search algorithms"},
	{"recover", cmd_recover, &recover_table, NULL, "check an mtab file and rebuild it"},
	{"search", cmd_search, &search_table, &search_columns, "find files by a path pattern"},
	{NULL, NULL, NULL, NULL, NULL},
};

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; ++command) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

const struct command *command_near(const char *word)
{
	const struct command *best = NULL;
	unsigned least = 3;
	size_t n = strlen(word);
	if (n < 4 || n > NEAR_BYTES)
		return NULL;
	for (const struct command *command = commands; command->name; ++command) {
		unsigned far = near_distance(word, n, command->name, strlen(command->name), false);
		if (far < least) {
			least = far;
			best = command;
		}
	}
	return best;
}
