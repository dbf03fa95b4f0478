/* SPDX-License-Identifier: MIT */
#include "cmd/rows.h"

#include "base/escape.h"
#include "cmd/cmd.h"
#include "cmd/options.h"

#include <getopt.h>
#include <string.h>

/** How an option has its argument: as getopt_long(3) wants it. */
static int argument_of(const struct row_option *row)
{
	if (!row->argument)
		return no_argument;
	return row->argument[0] == '[' && row->argument[1] != '+' ? optional_argument : required_argument;
}

void rows_help(const struct row_table *table, FILE *out)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct row_option *row = &table->rows[i];
		char left[80];
		bool may = argument_of(row) == optional_argument;
		snprintf(left, sizeof(left), "--%s%s%s", row->name, may ? "[=" : row->argument ? "=" : "",
		         row->argument ? row->argument + may : "");
		fprintf(out, " %c%c%c %-21s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
		        row->letter ? ',' : ' ', left);
		fprintf(out, strlen(left) > 21 ? "\n%27s%s\n" : "%s%s\n", strlen(left) > 21 ? "" : " ", row->help);
	}
}

void rows_words(const struct row_table *table, FILE *out)
{
	for (size_t i = 0; i < table->count; ++i) {
		if (table->rows[i].letter)
			fprintf(out, "-%c ", table->rows[i].letter);
		fprintf(out, "--%s%s", table->rows[i].name, i + 1 < table->count ? " " : "");
	}
}

/** The option that getopt_long(3) did not take: of letters behind one dash the one that it
    was, else the word. */
static const char *odd_option(char **argv, char *name, size_t size)
{
	const char letter = (char)optopt;
	if (optopt == 0 || optopt >= 256)
		return argv[optind - 1];
	/* The word is passed with its last letter. */
	const char *at = argv[optind] ? strchr(argv[optind], letter) : NULL;
	at = at ? at : strchr(argv[optind - 1], letter);
	int len = at && utf8_len(at) ? (int)utf8_len(at) : 1;
	snprintf(name, size, "-%.*s", len, at ? at : &letter);
	return name;
}

/** Print what completes the argument of one. */
static void argument_values(const struct row_option *row, const char *indent, FILE *out)
{
	const char *blank = "";
	bool list = row->letters;
	if (!row->words && !list)
		return;
	fprintf(out, "%s\tmapfile -t COMPREPLY < <(compgen -P \"$%s\" -W '", indent, list ? "before" : "head");
	for (const char *const *word = row->words; word && *word; ++word) {
		if (**word) {
			fprintf(out, "%s%s", blank, *word);
			blank = " ";
		}
	}
	for (const char *letter = row->letters; letter && *letter; ++letter) {
		fprintf(out, "%s%c", blank, *letter);
		blank = " ";
	}
	fprintf(out, "' -- \"$%s\")\n", list ? "last" : "cur");
}

void rows_arguments(const struct row_table *table, const char *indent, FILE *out)
{
	for (size_t i = 0; i < table->count; ++i) {
		const struct row_option *row = &table->rows[i];
		if (!row->argument || row->argument[1] == '+')
			continue;
		fputs(indent, out);
		if (argument_of(row) == required_argument) {
			if (row->letter)
				fprintf(out, "-%c|", row->letter);
			fprintf(out, "--%s|", row->name);
		}
		fprintf(out, "=--%s)\n", row->name);
		argument_values(row, indent, out);
		fprintf(out, "%s\treturn ;;\n", indent);
	}
}

int rows_parse(const struct row_table *table, int argc, char **argv,
               int (*take)(void *arg, const char *name, const char *value), void *arg)
{
	struct option longs[ROWS_MAX + 1];
	char letters[2 * ROWS_MAX + 2] = ":";
	size_t n = 1;
	for (size_t i = 0; i < table->count; ++i) {
		const struct row_option *row = &table->rows[i];
		longs[i] = (struct option){row->name, argument_of(row), NULL, 256 + (int)i};
		if (row->letter)
			letters[n++] = row->letter;
		if (row->letter && row->argument)
			letters[n++] = ':';
	}
	longs[table->count] = (struct option){0};
	letters[n] = '\0';
	int c;
	opterr = 0;
	optind = 0;   /* GNU: begin anew */
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct row_option *row = NULL;
		for (size_t i = 0; i < table->count; ++i) {
			if (c == 256 + (int)i || (c < 256 && c == table->rows[i].letter))
				row = &table->rows[i];
		}
		char name[8];
		if (!row)
			return c == ':' ? usage_error(odd_option(argv, name, sizeof(name)), "needs an argument")
			                : usage_error(odd_option(argv, name, sizeof(name)), "no such option of %s", table->command);
		int status = take(arg, row->name, optarg);
		if (status)
			return status;
	}
	return 0;
}

const struct row_option *rows_long(const struct row_table *table, const char *arg, const char **value)
{
	const struct row_option *found = NULL;
	if (arg[0] != '-' || arg[1] != '-' || !arg[2])
		return NULL;
	const char *name = arg + 2;
	size_t n = strcspn(name, "="), count = 0;
	*value = name[n] ? name + n + 1 : NULL;
	for (size_t i = 0; i < table->count; ++i) {
		const struct row_option *row = &table->rows[i];
		if (strncmp(row->name, name, n) != 0)
			continue;
		if (!row->name[n])
			return row;
		found = row;
		++count;
	}
	return count == 1 ? found : NULL;
}

int rows_once(const char *name, const char *value, const char **text)
{
	if (*text)
		return usage_error(name, "it is given twice, as \"%s\" and \"%s\"", *text, value);
	if (!*value)
		return usage_error(name, "nothing stands behind it; name one");
	*text = value;
	return 0;
}

int rows_word(const char *name, const char *text, const char *const words[], int *word)
{
	for (int i = 0; words[i]; ++i) {
		if (*text && strcmp(text, words[i]) == 0) {
			*word = i;
			return 0;
		}
	}
	struct strbuf known;
	strbuf_init(&known);
	for (int i = 0; words[i]; ++i) {
		if (*words[i])
			strbuf_printf(&known, "%s%s", known.len ? ", " : "", words[i]);
	}
	int status = usage_error(name, "\"%s\": known are %s", text, strbuf_str(&known));
	strbuf_destroy(&known);
	return status;
}

const char *const rows_stats_words[] = {[STATS_NONE] = "", [STATS_TEXT] = "text", [STATS_JSON] = "json", NULL};

int rows_stats(const char *text, int *form)
{
	return rows_word("--stats", text ? text : "text", rows_stats_words, form);
}
