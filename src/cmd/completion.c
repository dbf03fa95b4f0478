/* SPDX-License-Identifier: MIT */
/*
 * The bash completion: a case for each command, made of its table of options.
 *
 * The cases set what completes the word: words (one of them), list (a list of them, with
 * commas), kind (files, dirs, none), or call compgen and return.
 */
#include "cmd/cmd.h"
#include "cmd/column.h"

#include <string.h>

/** Print the words of an argument, with blanks. */
static void put_words(FILE *out, const char *words)
{
	for (; *words; ++words) {
		if (*words != '[' && *words != ']')
			fputc(*words == '|' ? ' ' : *words, out);
	}
}

/** Print a case pattern: where the argument of an option is expected. */
static void put_place(FILE *out, const struct option_row *row)
{
	const char *bar = "";
	bool next = !option_is_optional(row);
	if (next && row->letter) {
		fprintf(out, "-%c", row->letter);
		bar = "|";
	}
	if (next && row->name) {
		fprintf(out, "%s--%s", bar, row->name);
		bar = "|";
	}
	if (row->name)
		fprintf(out, "%s=--%s", bar, row->name);
	fputc(')', out);
}

/** Print the case of an option that takes an argument. */
static void put_argument(FILE *out, const struct command *command, const struct option_row *row)
{
	const char *words = option_words(row), *name = row->name ? row->name : "";
	fputs("\t\t", out);
	put_place(out, row);
	if (strcmp(name, "output") == 0 && command->columns) {
		fputs(" columns=\"", out);
		const char *blank = "";
		for (const struct column_info *column = column_after(command->columns, NULL);
		     column; column = column_after(command->columns, column)) {
			fprintf(out, "%s%s", blank, column->name);
			blank = " ";
		}
		fputs("\"", out);
	} else if (strcmp(name, "prune") == 0) {
		fputs(" for rule in", out);
		for (int i = 0; discover_rules[i].name; ++i)
			fprintf(out, " %s", discover_rules[i].name);
		fputs("; do list+=\" +$rule -$rule\"; done", out);
	} else if (row->letters) {
		fputs(" list='", out);
		for (const char *letter = row->letters; *letter; ++letter)
			fprintf(out, "%s%c", letter == row->letters ? "" : " ", *letter);
		fputs("'", out);
	} else if (words) {
		fputs(" words='", out);
		put_words(out, words);
		fputs("'", out);
	} else if (strcmp(name, "types") == 0) {
		fputs(" list=$(sed 's/.*\\t//' /proc/filesystems 2>/dev/null)", out);
	} else if (strcmp(name, "task") == 0) {
		fputs(" words=$(cd /proc && echo [0-9]*)", out);
	} else if (strcmp(name, "source") == 0) {
		fputs(" words='LABEL= UUID= PARTLABEL= PARTUUID=' kind=files", out);
	} else if (strncmp(row->argument, "FILE", 4) == 0 || strcmp(row->argument, "[FILE]") == 0
	           || strcmp(row->argument, "PATH") == 0) {
		fputs(" kind=files", out);
	} else if (strcmp(row->argument, "DIR") == 0) {
		fputs(" kind=dirs", out);
	} else {
		fputs(" kind=none", out);
	}
	fputs(" ;;\n", out);
}

static void put_command(FILE *out, const struct command *command)
{
	const struct option_table *table = command->options;
	const char *blank = "";
	bool any = false;
	fprintf(out, "\t%s)\n\t\toptions='", command->name);
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		if (row->hidden)
			continue;
		if (row->letter) {
			fprintf(out, "%s-%c", blank, row->letter);
			blank = " ";
		}
		if (row->name) {
			fprintf(out, "%s--%s", blank, row->name);
			blank = " ";
		}
	}
	fputs("'\n", out);
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		if (!row->argument || row->hidden || (!row->name && !row->letter))
			continue;
		if (!any)
			fputs("\t\tcase $eq$prev in\n", out);
		any = true;
		put_argument(out, command, row);
	}
	fprintf(out, "%s\t\t;;\n", any ? "\t\tesac\n" : "");
}

void completion_print(FILE *out)
{
	fputs("# bash completion for getmnt(8)                    -*- shell-script -*-\n"
	      "# Made by `getmnt --dump-completion` from the tables in src/cmd; do not edit.\n"
	      "\n"
	      "_getmnt()\n"
	      "{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} eq='' "
	      "head=''\n"
	      "\tlocal last before options words='' list='' columns='' kind='' rule target\n"
	      "\tlocal command=discover commands='", out);
	for (const struct command *command = commands; command->name; ++command)
		fprintf(out, "%s%s", command == commands ? "" : " ", command->name);
	fputs("'\n"
	      "\t# --option=value is three words, unless COMP_WORDBREAKS has no '='.\n"
	      "\tcase $cur in\n"
	      "\t=)\tcur='' eq='=' ;;\n"
	      "\t--*=*)\tprev=${cur%%=*} eq='=' head=${cur%%=*}= cur=${cur#*=} ;;\n"
	      "\t*)\tif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]} eq='='; fi ;;\n"
	      "\tesac\n"
	      "\tlast=${cur##*,} before=$head${cur%\"${cur##*,}\"}\n"
	      "\tif [ \"$COMP_CWORD\" -gt 1 ] && [[ \" $commands \" == *\" ${COMP_WORDS[1]} \"* "
	      "]]; "
	      "then\n"
	      "\t\tcommand=${COMP_WORDS[1]}\n"
	      "\tfi\n"
	      "\tcase $command in\n", out);
	for (const struct command *command = commands; command->name; ++command)
		put_command(out, command);
	fputs("\tesac\n"
	      "\tCOMPREPLY=()\n"
	      "\tif [ -n \"$columns\" ]; then\n"
	      "\t\tcase $last in +*) before+=+ last=${last#+} ;; esac\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -S , -W \"$columns\" -- "
	      "\"${last^^}\")\n"
	      "\t\tcompopt -o nospace 2>/dev/null\n"
	      "\t\treturn\n"
	      "\telif [ -n \"$list\" ]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$list\" -- \"$last\")\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif [ -n \"$words\" ]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$words\" -- \"$cur\")\n"
	      "\t\t[ -n \"$kind\" ] || return\n"
	      "\t\tcompopt -o nospace 2>/dev/null\n"
	      "\tfi\n"
	      "\tcase $kind in\n"
	      "\tfiles)\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -P \"$head\" -f "
	      "-- \"$cur\") ;;\n"
	      "\tdirs)\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -d -- \"$cur\") ;;\n"
	      "\tesac\n"
	      "\tif [ -n \"$kind\" ]; then\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tcase $cur in\n"
	      "\t-*)\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
	      "\t\treturn ;;\n"
	      "\tesac\n"
	      "\n"
	      "\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	      "\tcompopt -o filenames 2>/dev/null\n"
	      "\t[ \"$command\" = discover ] || return\n"
	      "\t# Whoever mounts chooses the name, which compgen -W would expand.\n"
	      "\tif [ \"$COMP_CWORD\" != 1 ] || [[ $cur == /* ]]; then\n"
	      "\t\twhile IFS= read -r target; do\n"
	      "\t\t\tprintf -v target %b \"$target\"\n"
	      "\t\t\t[[ $target == \"$cur\"* ]] && COMPREPLY+=(\"$target\")\n"
	      "\t\tdone < <(getmnt --names=kernel -rno TARGET 2>/dev/null)\n"
	      "\tfi\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	      "\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W \"$commands\" -- "
	      "\"$cur\")\n"
	      "\tfi\n"
	      "} &&\ncomplete -F _getmnt getmnt\n", out);
}
