/* SPDX-License-Identifier: MIT */
/*
 * The table of commands, and the bash completion.  The completion has a case for each command, made
 * from the table of options of the command.
 *
 * A case sets one of these variables to complete a word: words (one of several), list (a
 * comma-separated list), columns, or kind (files, dirs, none).
 */
#include "cmd/cmd.h"

#include "cmd/column.h"
#include "select/query.h"

#include <string.h>

const struct command all_commands[] = {
	{"discover", cmd_discover, &discover_options, &discover_columns,
	 "list the mount points (default)"},
	{"audit", cmd_audit, &audit_table, NULL, "compare fstab with what is mounted"},
	{"find", cmd_find, &find_table, NULL, "find files by tests, as find(1)"},
	{"fstab", cmd_fstab, &fstab_table, NULL, "make or update an fstab from what is mounted"},
	{"index", cmd_index, &index_table, NULL, "keep metadata of file systems for fast searches",
	 index_commands},
	{"profile", cmd_profile, &profile_table, NULL, "measure the search algorithms"},
	{"recover", cmd_recover, &recover_table, NULL, "check an mtab file and rebuild it"},
	{"search", cmd_search, &search_table, &search_columns, "find files by a path pattern"},
	{"serve", cmd_serve, &serve_table, NULL, "search for a getmnt on another host"},
	{NULL, NULL, NULL, NULL, NULL},
};

/** Print the names of an option: its letter, its long name, or both.
    @between [in,out]  Printed before a name, and set to `then` after the name. */
static void put_names(FILE *out, const struct option_row *row, const char **between,
                      const char *then)
{
	if (row->letter) {
		fprintf(out, "%s-%c", *between, row->letter);
		*between = then;
	}
	if (row->name) {
		fprintf(out, "%s--%s", *between, row->name);
		*between = then;
	}
}

/** Print the names of columns.  @blank  Printed before the first. */
static void put_columns(FILE *out, const struct column_table *columns, const char *blank)
{
	for (const struct column_info *column = column_after(columns, NULL); column;
	     column = column_after(columns, column)) {
		fprintf(out, "%s%s", blank, column->name);
		blank = " ";
	}
}

/** Print the case of the completion for an option that takes an argument. */
static void put_argument(FILE *out, const struct column_table *columns,
                         const struct option_row *row)
{
	/* {word, assignment}: the first row is chosen whose word is the name of the option, or
	   begins the name of its argument. */
	static const char *const kinds[][2] = {
		{"types", "list=$(sed 's/.*\\t//' /proc/filesystems 2>/dev/null)"},
		{"task", "words=$(cd /proc && echo [0-9]*)"},
		{"source", "words='LABEL= UUID= PARTLABEL= PARTUUID=' kind=files"},
		{"add", "list=persistent kind=mounts"},
		{"FILE", "kind=files"}, {"[FILE]", "kind=files"}, {"PATH", "kind=files"},
		{"DIR", "kind=dirs"}, {"", "kind=none"},
	};
	const char *name = row->name ? row->name : "", *blank = "", *word;
	size_t n, kind = 0;
	/* Begin the case with its pattern: the option names after which an argument is expected. */
	fputs("\t\t", out);
	if (!option_is_optional(row))
		put_names(out, row, &blank, "|");
	if (row->name)
		fprintf(out, "%s=--%s", blank, row->name);
	fputc(')', out);
	if (strcmp(name, "output") == 0 && columns) {
		fputs(" columns=\"", out);
		put_columns(out, columns, "");
		fputs("\" ;;\n", out);
	} else if (strcmp(name, "prune") == 0) {
		fputs(" for rule in", out);
		for (int i = 0; (word = option_word_at(row, i, &n)); ++i)
			fprintf(out, " %s", word);
		fputs("; do list+=\" +$rule -$rule\"; done ;;\n", out);
	} else if (row->letters || option_word_at(row, 0, &n)) {
		bool list = row->letters || strstr(row->argument, ",...");
		fprintf(out, " %s='", list ? "list" : "words");
		for (const char *letter = row->letters; letter && *letter; ++letter)
			fprintf(out, "%s%c", letter == row->letters ? "" : " ", *letter);
		for (int i = 0; !row->letters && (word = option_word_at(row, i, &n)); ++i)
			fprintf(out, "%s%.*s", i ? " " : "", (int)n, word);
		if (strcmp(name, "sort") == 0 && columns)
			put_columns(out, columns, " ");
		fputs("' ;;\n", out);
	} else {
		while (strcmp(name, kinds[kind][0]) != 0
		       && strncmp(row->argument, kinds[kind][0], strlen(kinds[kind][0])) != 0)
			++kind;
		fprintf(out, " %s ;;\n", kinds[kind][1]);
	}
}

/** Print the names of a table's commands.  @before  Printed before each. */
static void put_commands(FILE *out, const struct command *table, const char *before)
{
	for (const struct command *command = table; command->name; ++command)
		fprintf(out, "%s%s", command == table && *before == ' ' ? "" : before,
		        command->name);
}

/** Print the case of the completion for a command, and the cases for its subcommands.
    @of  For a subcommand: the name of its command and a blank; else "".
    @subcommands  NULL: none. */
static void put_command(FILE *out, const char *of, const char *name,
                        const struct option_table *table, const struct column_table *columns,
                        const struct command *subcommands)
{
	const struct option_row *end = table->rows + table->count;
	const char *blank = "";
	const char *quote = *of ? "'" : "";
	fprintf(out, "\t%s%s%s%s)\n\t\toptions='", quote, of, name, quote);
	for (const struct option_row *row = table->rows; row < end; ++row) {
		if (!row->hidden)
			put_names(out, row, &blank, " ");
	}
	bool refused, find = table == &find_table;
	const char *word;
	for (size_t i = 0; find && (word = query_word(i, &refused)); ++i) {
		if (!refused)
			fprintf(out, " -%s", word);
	}
	fputs("'\n\t\tcase $eq$prev in\n", out);
	if (subcommands) {
		fprintf(out, "\t\t%s) words='", name);
		put_commands(out, subcommands, " ");
		fputs("' ;;\n", out);
	}
	for (const struct option_row *row = table->rows; row < end; ++row) {
		if (row->argument && !row->hidden)
			put_argument(out, columns, row);
	}
	fputs("\t\tesac\n\t\t;;\n", out);
	char prefix[40];
	snprintf(prefix, sizeof(prefix), "%s ", name);
	for (; subcommands && subcommands->name; ++subcommands)
		put_command(out, prefix, subcommands->name, subcommands->options,
		            subcommands->columns, NULL);
}

void completion_print(FILE *out)
{
	fputs("# bash completion for getmnt(8)                    -*- shell-script -*-\n"
	      "# Made by `getmnt --dump-completion` from the tables in src/cmd; do not edit.\n"
	      "\n"
	      "_getmnt_add()\n"
	      "{\n"
	      "\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen \"$@\")\n"
	      "}\n"
	      "\n"
	      "_getmnt()\n"
	      "{\n"
	      "\tlocal at=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} cut='' eq='' head='' prev\n"
	      "\tlocal last before options words='' list='' columns='' kind='' rule target\n"
	      "\tlocal command=discover commands='", out);
	put_commands(out, all_commands, " ");
	fputs("' subcommands='", out);
	for (const struct command *command = all_commands; command->name; ++command) {
		char before[40];
		snprintf(before, sizeof(before), "/%s ", command->name);
		if (command->subcommands)
			put_commands(out, command->subcommands, before);
	}
	fputs("/'\n"
	      "\t# bash makes a word of each '=' and ':', unless COMP_WORDBREAKS lacks them.\n"
	      "\t[ \"$cur\" != : ] || cur='' at=$((at + 1))\n"
	      "\twhile [ \"${COMP_WORDS[at-1]}\" = : ]; do\n"
	      "\t\tat=$((at - 2)) cut=${COMP_WORDS[at]}:$cut\n"
	      "\tdone\n"
	      "\tcur=$cut$cur prev=${COMP_WORDS[at-1]}\n"
	      "\tcase $cur in\n"
	      "\t=)\tcur='' eq='=' ;;\n"
	      "\t--*=*)\tprev=${cur%%=*} eq='=' head=${cur%%=*}= cur=${cur#*=} ;;\n"
	      "\t*)\tif [ \"$prev\" = = ]; then prev=${COMP_WORDS[at-2]} eq='='; fi ;;\n"
	      "\tesac\n"
	      "\tlast=${cur##*,} before=$head${cur%\"${cur##*,}\"}\n"
	      "\tif [ \"${COMP_WORDS[0]##*/}\" = check_getmnt ]; then\n"
	      "\t\tcommand=check_getmnt\n"
	      "\telif [ \"$COMP_CWORD\" -gt 1 ] && "
	      "[[ \" $commands help \" == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
	      "\t\tcommand=${COMP_WORDS[1]}\n"
	      "\tfi\n"
	      "\tif [ \"$COMP_CWORD\" -gt 2 ]; then\n"
	      "\t\tcase $subcommands in\n"
	      "\t\t*\"/$command ${COMP_WORDS[2]}/\"*) command+=\" ${COMP_WORDS[2]}\" ;;\n"
	      "\t\tesac\n"
	      "\tfi\n"
	      "\tcase $command in\n", out);
	for (const struct command *command = all_commands; command->name; ++command)
		put_command(out, "", command->name, command->options, command->columns,
		            command->subcommands);
	struct option_row rows[OPTION_ROWS_MAX];
	struct option_table plugin = audit_plugin_table(rows);
	put_command(out, "", plugin.command, &plugin, NULL, NULL);
	fputs("\thelp)\tlist=$commands ;;\n"
	      "\tesac\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ -n \"$columns\" ]; then\n"
	      "\t\tcase $last in +*) before+=+ last=${last#+} ;; esac\n"
	      "\t\t_getmnt_add -P \"$before\" -S , -W \"$columns\" -- \"${last^^}\"\n"
	      "\t\tcompopt -o nospace 2>/dev/null\n"
	      "\telif [ -n \"$list\" ]; then\n"
	      "\t\t_getmnt_add -P \"$before\" -W \"$list\" -- \"$last\"\n"
	      "\telif [ -n \"$words$kind\" ]; then\n"
	      "\t\t[ -z \"$words\" ] || _getmnt_add -P \"$head\" -W \"$words\" -- \"$cur\"\n"
	      "\t\t[ \"$kind\" != files ] || _getmnt_add -P \"$head\" -f -- \"$cur\"\n"
	      "\t\t[ \"$kind\" != dirs ] || _getmnt_add -P \"$head\" -d -- \"$cur\"\n"
	      "\t\t[ -z \"$kind\" ] || compopt -o filenames ${words:+-o nospace} 2>/dev/null\n"
	      "\telif [[ $cur == -* ]]; then\n"
	      "\t\t_getmnt_add -W \"$options\" -- \"$cur\"\n"
	      "\telse\n"
	      "\t\t_getmnt_add -f -- \"$cur\"\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\t[ \"$command\" != discover ] || kind=mounts last=$cur before=''\n"
	      "\t\t[ \"$COMP_CWORD$command\" != 1discover ] || "
	      "_getmnt_add -W \"$commands help\" -- \"$cur\"\n"
	      "\tfi\n"
	      "\t# Users choose the names of mount points, and compgen -W would expand them.\n"
	      "\tif [ \"$kind\" = mounts ] && [[ $COMP_CWORD != 1 || $last == /* ]]; then\n"
	      "\t\twhile IFS= read -r target; do\n"
	      "\t\t\tprintf -v target %b \"$target\"\n"
	      "\t\t\t[[ $target != \"$last\"* ]] || COMPREPLY+=(\"$before$target\")\n"
	      "\t\tdone < <(getmnt --names=kernel -rno TARGET 2>/dev/null)\n"
	      "\tfi\n"
	      "\tCOMPREPLY=(\"${COMPREPLY[@]#${cut//?/?}}\")\n"
	      "} &&\ncomplete -F _getmnt getmnt check_getmnt\n", out);
}
