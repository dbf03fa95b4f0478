/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/words.h"

#include <string.h>

static const struct command none[1];
const struct command *commands = none;

const struct command *command_find(const struct command *table, const char *name)
{
	for (const struct command *command = table; command->name; ++command) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

const struct command *command_near(const struct command *table, const char *word)
{
	/* {name that a user may try, the command of getmnt for this purpose} */
	static const char *const others[][2] = {
		{"check", "audit"}, {"genfstab", "fstab"}, {"grep", "search"},
		{"lint", "audit"}, {"list", "discover"}, {"ls", "discover"}, {"mount", "discover"},
		{"updatedb", "index"}, {"verify", "audit"},
	};
	for (size_t i = 0; table == commands && i < sizeof(others) / sizeof(*others); ++i) {
		if (strcmp(word, others[i][0]) == 0)
			return command_find(commands, others[i][1]);
	}
	struct near near = {.word = word, .n = strlen(word)};
	for (const struct command *command = table; near.n > 3 && command->name; ++command)
		near_try(&near, command->name, command);
	return near.best;
}

void commands_help(const struct command *table, FILE *out)
{
	for (const struct command *command = table; command->name; ++command)
		fprintf(out, "   %-*s%s\n", OPTION_HELP_COLUMN - 3, command->name, command->what);
}
