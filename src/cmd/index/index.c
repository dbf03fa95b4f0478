/* SPDX-License-Identifier: MIT */
/*
 * getmnt index: an index of metadata for each file system.
 *
 *     build --> run_know() --> index_choose() --> index_walk() --> index_build_finish()
 *     status, check, drop, export, report --> index_run_indexes()
 *     update, watch --> index_run_indexes() --> index_update(), index_watch_apply()
 */
#include "cmd/index/index.h"

#include <string.h>
#include <unistd.h>

const struct command index_commands[] = {
	{"build", cmd_index_build, &index_build_table, NULL, "index file systems"},
	{"check", cmd_index_check, &index_check_table, NULL, "verify checksums and structure"},
	{"drop", cmd_index_drop, &index_drop_table, NULL, "remove indexes"},
	{"export", cmd_index_export, &index_export_table, &index_columns,
	 "print every object, as CSV or JSON lines"},
	{"report", cmd_index_report, &index_report_table, NULL,
	 "print disk usage by directory, user, age ..."},
	{"status", cmd_index_status, &index_status_table, NULL,
	 "list mounts with their indexes and ages"},
	{"update", cmd_index_update, &index_update_table, NULL, "bring indexes up to date"},
	{"watch", cmd_index_watch, &index_watch_table, NULL,
	 "keep indexes up to date as files change"},
	{NULL, NULL, NULL, NULL, NULL},
};

static const struct option_row index_rows[] = {
	OPTION_GROUP("General"),
	{"help", 'h', NULL, "this help; of a command: getmnt index COMMAND -h", .how = OPT_FLAG},
};

const struct option_table index_table = {
	"index", index_rows, sizeof(index_rows) / sizeof(*index_rows),
};

static int print_help(void)
{
	text_say(stdout, "Usage:\n getmnt index COMMAND [options] [MOUNT ...]\n\n"
	         "Keep the metadata of file systems for searches that read no directories.\n"
	         "\nCommands:\n");
	commands_help(index_commands, stdout);
	options_help(&index_table, "", NULL, stdout);
	return finish_stdout() == 0 ? CX_OK : CX_ERROR;
}

int cmd_index(int argc, char **argv)
{
	bool help = false;
	const char *word = argc > 1 ? argv[1] : "";
	if (*word == '-') {
		int status = options_read(&index_table, argc, argv, &help);
		if (status || help)
			return status ? status : print_help();
		word = optind < argc ? argv[optind] : "";
	}
	if (!*word)
		return usage_error("index", "no command given");
	const struct command *command = command_find(index_commands, word);
	const struct command *near = command ? NULL : command_near(index_commands, word);
	if (near)
		return usage_error(word, "no such command; did you mean \"%s\"?", near->name);
	if (!command)
		return usage_error(word, "no such command");
	message_verb(command->options->command);
	return command->run(argc - 1, argv + 1);
}
