/* SPDX-License-Identifier: MIT */
#include "cmd/options.h"

#include "cmd/cmd.h"
#include "cmd/columns.h"
#include "cmd/search/out.h"

#include <string.h>

static const char *const group_titles[] = {
	[OG_TABLE] = "Which table",
	[OG_WHICH] = "Which mounts",
	[OG_HOW] = "How they are found",
	[OG_SHOWN] = "How they are shown",
	[OG_POLL] = "Watching",
	[OG_STUDY] = "How it went",
	[OG_GENERAL] = "General",
};

/** Where the help text of an option begins. */
enum { HELP_COLUMN = 28, HELP_WIDTH = 90 };

/** Print a text from a column on, broken at blanks. */
static void help_text(FILE *out, const char *text)
{
	int at = HELP_COLUMN;
	while (*text) {
		size_t n = strcspn(text, " ");
		if (at > HELP_COLUMN && at + 1 + (int)n > HELP_WIDTH) {
			fprintf(out, "\n%*s", HELP_COLUMN, "");
			at = HELP_COLUMN;
		} else if (at > HELP_COLUMN) {
			fputc(' ', out);
			++at;
		}
		fprintf(out, "%.*s", (int)n, text);
		at += (int)n;
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void help_option(FILE *out, const struct option_row *row)
{
	int at = 0;
	if (row->letter)
		at += fprintf(out, " -%c, ", row->letter);
	else
		at += fprintf(out, "     ");
	at += fprintf(out, "--%s", row->name);
	if (row->arg == ARG_NEEDED)
		at += fprintf(out, "%c%s", row->letter ? ' ' : '=', row->argument);
	else if (row->arg == ARG_MAY || row->arg == ARG_ATTACHED)
		at += fprintf(out, "[=%s]", row->argument);
	if (at >= HELP_COLUMN - 1)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	else
		fprintf(out, "%*s", HELP_COLUMN - at, "");
	help_text(out, row->help);
}

void options_help(FILE *out)
{
	fputs("Usage:\n"
	      " getmnt [discover] [options]\n"
	      " getmnt [discover] [options] SOURCE|TARGET ...\n"
	      " getmnt [discover] [options] SOURCE TARGET\n"
	      " getmnt [discover] [options] [--source SPEC] [--target PATH | --mountpoint PATH]\n"
	      "\n"
	      "Name and judge every mount point.\n"
	      "\nCommands:\n", out);
	for (const struct command *command = commands; command->name; ++command)
		fprintf(out, " %-*s%s%s\n", HELP_COLUMN - 1, command->name, command->what,
		        command->run ? "" : " (not in this version)");
	for (unsigned group = OG_TABLE; group <= OG_GENERAL; ++group) {
		fprintf(out, "\n%s:\n", group_titles[group]);
		for (const struct option_row *row = option_rows; row->name || row->letter; ++row) {
			if (row->group == group)
				help_option(out, row);
		}
	}
	fputs("\nExit status: 0 all accounted for, 1 usage or system error, 32 nothing matched,\n"
	      "64 something lost, unsearched or incomplete.\n"
	      "\nFor more details see getmnt(8).\n", out);
}

/** The words of an argument, for compgen. */
static void completion_words(FILE *out, const char *argument)
{
	for (; *argument; ++argument)
		fputc(*argument == '|' ? ' ' : *argument, out);
}

static bool is_words(const struct option_row *row)
{
	return row->argument && strchr(row->argument, '|');
}

/** Where the argument of an option stands, as a pattern: behind a '=', and, if there must be
    one, as the next word. */
static void argument_place(FILE *out, const struct option_row *row)
{
	if (row->arg == ARG_NEEDED && row->letter)
		fprintf(out, "-%c|", row->letter);
	fprintf(out, "%s%s%s=--%s", row->arg == ARG_NEEDED ? "--" : "", row->arg == ARG_NEEDED ? row->name : "",
	        row->arg == ARG_NEEDED ? "|" : "", row->name);
}

/** The rest of what completes a command: its options, else a path. */
static void option_or_path(FILE *out, void (*words)(FILE *file))
{
	fputs("\t\tcase $cur in\n"
	      "\t\t-*)\tmapfile -t COMPREPLY < <(compgen -W '", out);
	words(out);
	fputs("' -- \"$cur\") ;;\n"
	      "\t\t*)\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	      "\t\t\tcompopt -o filenames 2>/dev/null ;;\n"
	      "\t\tesac\n"
	      "\t\treturn\n"
	      "\tfi\n", out);
}

void options_completion(FILE *out)
{
	fputs("# bash completion for getmnt(8)                    -*- shell-script -*-\n"
	      "# Made by `getmnt --dump-completion`: edit the tables in src/cmd, not this.\n"
	      "\n"
	      "_getmnt()\n"
	      "{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} eq='' head='' last before\n"
	      "\t# --option=value is three words, unless COMP_WORDBREAKS has no '='.\n"
	      "\tcase $cur in\n"
	      "\t=)\tcur='' eq='=' ;;\n"
	      "\t--*=*)\tprev=${cur%%=*} eq='=' head=${cur%%=*}= cur=${cur#*=} ;;\n"
	      "\t*)\tif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]} eq='='; fi ;;\n"
	      "\tesac\n"
	      "\tlast=${cur##*,} before=$head${cur%\"${cur##*,}\"}\n"
	      "\tif [ \"${COMP_WORDS[1]-}\" = search ]; then\n"
	      "\t\tcase $eq$prev in\n", out);
	search_option_arguments("\t\t", out);
	fputs("\t\t-o|--output|=--output)\n"
	      "\t\t\tcase $last in +*) before+=+ last=${last#+} ;; esac\n"
	      "\t\t\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -S , -W '", out);
	search_column_words(out);
	fputs("' -- \"${last^^}\")\n"
	      "\t\t\tcompopt -o nospace 2>/dev/null\n"
	      "\t\t\treturn ;;\n"
	      "\t\tesac\n", out);
	option_or_path(out, search_option_words);
	fputs("\tif [ \"${COMP_WORDS[1]-}\" = audit ]; then\n", out);
	option_or_path(out, audit_option_words);
	fputs("\tif [ \"${COMP_WORDS[1]-}\" = fstab ]; then\n", out);
	option_or_path(out, fstab_option_words);
	fputs("\tif [ \"${COMP_WORDS[1]-}\" = profile ]; then\n", out);
	option_or_path(out, profile_option_words);
	fputs("\tif [ \"${COMP_WORDS[1]-}\" = recover ]; then\n", out);
	option_or_path(out, recover_option_words);
	fputs("\tlocal columns=\"", out);
	for (const struct column *column = column_rows; column->name; ++column)
		fprintf(out, "%s%s", column == column_rows ? "" : " ", column->name);
	fputs("\"\n\tlocal rules=\"", out);
	for (int i = 0; discover_rules[i].name; ++i)
		fprintf(out, "%s%s", i ? " " : "", discover_rules[i].name);
	fputs("\"\n\n\tcase $eq$prev in\n", out);
	for (const struct option_row *row = option_rows; row->name || row->letter; ++row) {
		if (row->group == OG_HIDDEN || row->how == OH_REFUSED || !is_words(row))
			continue;
		fputc('\t', out);
		argument_place(out, row);
		fputs(")\n\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -W '", out);
		completion_words(out, row->argument);
		fputs("' -- \"$cur\")\n\t\treturn ;;\n", out);
	}
	fputs("\t--prune|=--prune)\n"
	      "\t\tlocal words='' rule\n"
	      "\t\tfor rule in $rules; do words+=\" +$rule -$rule\"; done\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- \"$last\")\n"
	      "\t\treturn ;;\n"
	      "\t-o|--output|=--output)\n"
	      "\t\tcase $last in +*) before+=+ last=${last#+} ;; esac\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -S , -W \"$columns\" -- \"${last^^}\")\n"
	      "\t\tcompopt -o nospace 2>/dev/null\n"
	      "\t\treturn ;;\n"
	      "\t-F|--tab-file|=--tab-file|-T|--target|=--target|-M|--mountpoint|=--mountpoint)\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -f -- \"$cur\")\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\treturn ;;\n"
	      "\t--root|=--root)\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -d -- \"$cur\")\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\t\treturn ;;\n"
	      "\t-N|--task|=--task)\n"
	      "\t\tlocal pids=(/proc/[0-9]*)\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"${pids[*]##*/}\" -- \"$cur\")\n"
	      "\t\treturn ;;\n"
	      "\t-t|--types|=--types)\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$(sed 's/.*\\t//' /proc/filesystems "
	      "2>/dev/null)\" -- \"$last\")\n"
	      "\t\treturn ;;\n"
	      "\t-S|--source|=--source)\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -W 'LABEL= UUID= PARTLABEL= PARTUUID=' -- \"$cur\"\n"
	      "\t\t\tcompgen -P \"$head\" -f -- \"$cur\")\n"
	      "\t\tcompopt -o nospace 2>/dev/null\n"
	      "\t\treturn ;;\n", out);
	/* Options with an argument of which nothing can be said. */
	fputs("\t", out);
	const char *bar = "";
	for (const struct option_row *row = option_rows; row->name || row->letter; ++row) {
		if (row->group == OG_HIDDEN || row->how == OH_REFUSED || row->arg != ARG_NEEDED
		    || is_words(row) || (row->letter && strchr("oFTMNtS", row->letter))
		    || strcmp(row->name, "root") == 0 || strcmp(row->name, "prune") == 0)
			continue;
		fputs(bar, out);
		argument_place(out, row);
		bar = "|";
	}
	fputs(")\n\t\treturn ;;\n\tesac\n\n\tcase $cur in\n\t-*)\n\t\tmapfile -t COMPREPLY < <(compgen -W '", out);
	const char *blank = "";
	for (const struct option_row *row = option_rows; row->name || row->letter; ++row) {
		if (row->group == OG_HIDDEN)
			continue;
		if (row->letter)
			fprintf(out, "%s-%c --%s", blank, row->letter, row->name);
		else
			fprintf(out, "%s--%s", blank, row->name);
		blank = " ";
	}
	fputs("' -- \"$cur\")\n\t\treturn ;;\n\tesac\n\n"
	      "\tlocal target\n"
	      "\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	      "\t# Who makes a mount point chooses its name, which compgen -W would expand.\n"
	      "\tif [ \"$COMP_CWORD\" != 1 ] || [[ $cur == /* ]]; then\n"
	      "\t\twhile IFS= read -r target; do\n"
	      "\t\t\tprintf -v target %b \"$target\"\n"
	      "\t\t\t[[ $target == \"$cur\"* ]] && COMPREPLY+=(\"$target\")\n"
	      "\t\tdone < <(getmnt --names=kernel -rno TARGET 2>/dev/null)\n"
	      "\t\tcompopt -o filenames 2>/dev/null\n"
	      "\tfi\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	      "\t\tmapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W '", out);
	blank = "";
	for (const struct command *command = commands; command->name; ++command) {
		if (command->run) {
			fprintf(out, "%s%s", blank, command->name);
			blank = " ";
		}
	}
	fputs("' -- \"$cur\")\n"
	      "\tfi\n"
	      "} &&\ncomplete -F _getmnt getmnt\n", out);
}
