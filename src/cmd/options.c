/* SPDX-License-Identifier: MIT */
#include "cmd/options.h"

#include "base/escape.h"
#include "base/words.h"
#include "cmd/cmd.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *option_title(const struct option_row *row, char title[static OPTION_TITLE_SIZE])
{
	if (row->name)
		snprintf(title, OPTION_TITLE_SIZE, "--%s", row->name);
	else
		snprintf(title, OPTION_TITLE_SIZE, "-%c", row->letter);
	return title;
}

static bool is_title(const struct option_row *row)
{
	return !row->name && !row->letter;
}

bool option_is_optional(const struct option_row *row)
{
	const char *argument = row->argument;
	return argument && *argument == '[' && argument[strlen(argument) - 1] == ']';
}

const char *option_word_at(const struct option_row *row, int i, size_t *len)
{
	const char *words = row->word ? row->word(i) : row->words ? row->words : row->argument;
	*len = words ? strcspn(words, row->word ? "" : "|]") : 0;
	if (row->word)
		return words;
	/* The name of an argument lists words only if it contains '|' and no capital letter or
	   comma.  FILE and A|B are not lists of words. */
	if (!words || (!row->words && (!strchr(words, '|')
	                               || strpbrk(words, "ABCDEFGHIJKLMNOPQRSTUVWXYZ,"))))
		return NULL;
	for (words += *words == '['; ; words += *len + 1) {
		*len = strcspn(words, "|]");
		if (i-- == 0)
			return words;
		if (words[*len] != '|')
			return NULL;
	}
}

int option_word_index(const struct option_row *row, const char *word, size_t len)
{
	const char *at;
	size_t n;
	for (int i = 0; (at = option_word_at(row, i, &n)); ++i) {
		if (n == len && strncmp(at, word, n) == 0)
			return i;
	}
	return -1;
}

int option_bad_word(const struct option_row *row, const char *word, size_t len)
{
	char title[OPTION_TITLE_SIZE];
	const char *at;
	size_t n;
	struct strbuf list = {0};
	for (int i = 0; (at = option_word_at(row, i, &n)); ++i)
		strbuf_printf(&list, "%s%.*s", i ? ", " : "", (int)n, at);
	int status = usage_error(option_title(row, title), "\"%.*s\": must be one of: %s",
	                         (int)len, word, strbuf_str(&list));
	strbuf_destroy(&list);
	return status;
}

int option_parse_word(const struct option_row *row, const char *value)
{
	size_t len = value ? strlen(value) : 0;
	int word = value ? option_word_index(row, value, len) : row->bare;
	if (word < 0)
		option_bad_word(row, value, len);
	return word;
}

int option_parse_words(const struct option_row *row, const char *value, unsigned *set)
{
	for (;; ++value) {
		size_t n = strcspn(value, ",");
		int word = option_word_index(row, value, n);
		if (word < 0)
			return option_bad_word(row, value, n);
		*set |= 1u << word;
		value += n;
		if (!*value)
			return 0;
	}
}

bool option_number(const char *text, uint64_t max, uint64_t *number)
{
	uint64_t value;
	const char *end = word_number(text, &value);
	if (!end || *end || value > max)
		return false;
	*number = value;
	return true;
}

bool option_seconds(const char *text, double max, double *seconds)
{
	char *end;
	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	if (strpbrk(text, "xXnN"))
		return false;
	double value = strtod(text, &end);
	if (end == text || *end || !isfinite(value) || value < 0 || value > max)
		return false;
	*seconds = value;
	return true;
}

int option_parse_seconds(const char *title, const char *text, double max, double *seconds)
{
	if (option_seconds(text, max, seconds) && *seconds > 0)
		return 0;
	return usage_error(title, "\"%s\": must be a number of seconds above 0, at most %.0f", text,
	                   max);
}

/* The parser. */

/** Store the value of an option in the options of the command.
    @return 0, or an exit status after a message. */
static int store_option(const struct option_row *row, const char *value, void *opts)
{
	void *field = (char *)opts + row->offset;
	char title[OPTION_TITLE_SIZE];
	uint64_t number;
	int word;

	option_title(row, title);
	switch ((enum option_how)row->how) {
	case OPT_CALL:
		return row->parse(opts, row, value);
	case OPT_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_TEXT:
	case OPT_ONCE:
		if (row->how == OPT_ONCE && *(const char **)field)
			return usage_error(title, "given twice, as \"%s\" and \"%s\"",
			                   *(const char **)field, value);
		if (!*value)
			return usage_error(title, "the argument is empty");
		*(const char **)field = value;
		return 0;
	case OPT_SET:
		*(int *)field = row->base;
		return 0;
	case OPT_WORD:
		if ((word = option_parse_word(row, value)) < 0)
			return CX_ERROR;
		*(int *)field = row->base + word;
		return 0;
	case OPT_NUMBER:
		if (!option_number(value, (uint64_t)row->max, &number))
			return usage_error(title, "\"%s\": must be a number from 0 to %.0f", value,
			                   row->max);
		*(unsigned *)field = (unsigned)number;
		return 0;
	case OPT_ID:
		if (!option_number(value, row->max > 0 ? (uint64_t)row->max : UINT64_MAX, &number)
		    || number == 0)
			return usage_error(title, "\"%s\": must be a number above 0", value);
		*(uint64_t *)field = number;
		return 0;
	case OPT_SECONDS:
		return option_parse_seconds(title, value, row->max, field);
	case OPT_REFUSED:
		message(title, "%s", row->help);
		return CX_ERROR;
	}
	return CX_ERROR;
}

/** Refuse an option that cannot be combined with an earlier option.
    @given [in,out]  For each bit of option_row.excludes, the last given option that has this bit.
    @return 0, or an exit status after a message. */
static int check_excludes(const struct option_row *row, const struct option_row **given)
{
	for (int i = 0; i < 32; ++i) {
		if (!(row->excludes & 1u << i))
			continue;
		if (given[i] && given[i] != row) {
			char title[OPTION_TITLE_SIZE], other[OPTION_TITLE_SIZE];
			return usage_error(option_title(row, title), "cannot be combined with %s",
			                   option_title(given[i], other));
		}
		given[i] = row;
	}
	return 0;
}

/** Find the long option that is most similar to an unknown name of n bytes; or NULL. */
static const struct option_row *nearest(const struct option_table *table, const char *name,
                                        size_t n)
{
	struct near near = {.word = name, .n = n};
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		if (row->name && !row->hidden)
			near_try(&near, row->name, row);
	}
	return near.best;
}

const struct option_row *option_find(const struct option_table *table, const char *arg,
                                     const char **value, size_t *count)
{
	const struct option_row *found = NULL;
	*count = 0;
	*value = NULL;
	if (arg[0] != '-' || arg[1] != '-' || !arg[2])
		return NULL;
	const char *name = arg + 2;
	size_t n = strcspn(name, "=");
	*value = name[n] ? name + n + 1 : NULL;
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		if (!row->name || strncmp(row->name, name, n) != 0)
			continue;
		if (!row->name[n]) {
			*count = 1;
			return row;
		}
		found = row;
		++*count;
	}
	return *count == 1 ? found : NULL;
}

/** Report a word with one dash, such as "-type", that is or resembles a long option, which has two
    dashes.
    @return whether there is such an option; false: nothing was reported. */
static bool report_dash(const struct option_table *table, const char *word)
{
	char name[NEAR_BYTES];
	const char *value;
	size_t count;
	int n = snprintf(name, sizeof(name), "-%s", word);
	if (*word != '-' || word[1] == '-' || n < 5 || n >= (int)sizeof(name))
		return false;
	const struct option_row *row = option_find(table, name, &value, &count);
	if (!row)
		row = nearest(table, name + 2, (size_t)n - 2);
	if (!row)
		return false;
	if (row->how == OPT_REFUSED)
		message(word, "%s", row->help);
	else
		usage_error(NULL, "unknown option \"%s\"; did you mean \"--%s\"?", word, row->name);
	return true;
}

/** Report an option that getopt_long(3) refused by returning `c`: '?' or ':'.
    @return CX_ERROR. */
static int bad_option(const struct option_table *table, char **argv, int c)
{
	/* If a short option is refused, getopt reports only its letter, in optopt.  The letter is
	   in argv[optind], or in argv[optind - 1] if it was the last letter of that argument. */
	const char letter = (char)optopt;
	const char *word = argv[optind - 1];
	char name[8];
	if (optopt != 0 && optopt < 256) {
		bool inside = argv[optind] && *argv[optind] == '-' && strchr(argv[optind], letter);
		const char *arg = argv[inside ? optind : optind - 1], *at = strchr(arg, letter);
		if (c == '?' && report_dash(table, arg))
			return CX_ERROR;
		int len = at && utf8_len(at) ? (int)utf8_len(at) : 1;
		snprintf(name, sizeof(name), "-%.*s", len, at ? at : &letter);
		word = name;
	}
	if (c == ':')
		return usage_error(word, "an argument is required");
	if (optopt >= 256)
		return usage_error(word, "this option takes no argument");
	int n = (int)strcspn(word, "=");
	const char *value;
	size_t count;
	option_find(table, word, &value, &count);
	if (count > 1)
		return usage_error(NULL, "option \"%.*s\" is ambiguous", n, word);
	const struct option_row *row = strncmp(word, "--", 2) == 0 && n > 2
	                               ? nearest(table, word + 2, (size_t)n - 2) : NULL;
	return usage_error(NULL, row ? "unknown option \"%.*s\"; did you mean \"--%s\"?"
	                   : "unknown option \"%.*s\"", row || value ? n : (int)strlen(word), word,
	                   row ? row->name : "");
}

int options_read(const struct option_table *table, int argc, char **argv, void *opts)
{
	struct option longs[OPTION_ROWS_MAX + 1];
	char letters[3 * OPTION_ROWS_MAX + 2] = ":";
	size_t nlongs = 0, n = 1;
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		bool optional = option_is_optional(row);
		int has = !row->argument ? no_argument : optional ? optional_argument
			: required_argument;
		if (row->name)
			longs[nlongs++] = (struct option){row->name, has, NULL, 256 + (int)i};
		if (!row->letter)
			continue;
		letters[n++] = row->letter;
		if (row->argument && (!optional || row->attached))
			letters[n++] = ':';
		if (optional && row->attached)
			letters[n++] = ':';
	}
	longs[nlongs] = (struct option){0};
	letters[n] = '\0';

	const struct option_row *given[32] = {NULL};
	int c;
	opterr = 0;
	optind = 0;   /* resets GNU getopt */
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return bad_option(table, argv, c);
		const struct option_row *row = c >= 256 ? &table->rows[c - 256] : table->rows;
		while (c < 256 && row->letter != c)
			++row;
		bool bare = !row->argument || (c < 256 && option_is_optional(row)
		                               && !row->attached);
		int status = check_excludes(row, given);
		if (!status)
			status = store_option(row, bare ? NULL : optarg, opts);
		if (status)
			return status;
	}
	return 0;
}

/* --help. */

static void help_option(const struct option_row *row, FILE *out)
{
	int at = row->letter ? fprintf(out, " -%c", row->letter) : fprintf(out, "   ");
	if (row->name)
		at += fprintf(out, "%s --%s", row->letter ? "," : " ", row->name);
	if (option_is_optional(row))
		at += fprintf(out, "[=%s", row->argument + 1);
	else if (row->argument)
		at += fprintf(out, "%c%s", row->letter ? ' ' : '=', row->argument);
	fprintf(out, "%*s%s", at < OPTION_HELP_COLUMN ? OPTION_HELP_COLUMN - at : 1, "", row->help);
	const char *word, *next = "";
	size_t n;
	int room = OPTION_HELP_MAX;
	for (int i = 0; !*row->help && (word = option_word_at(row, i, &n)); ++i) {
		room -= (int)(strlen(next) + n);
		if (room < 1)
			room = fprintf(out, ",\n%*s", OPTION_HELP_COLUMN, "") ? OPTION_HELP_MAX : 0;
		fprintf(out, "%s%.*s", room == OPTION_HELP_MAX ? "" : next, (int)n, word);
		next = option_word_at(row, i + 1, &n) && option_word_at(row, i + 2, &n)
		       ? ", " : " or ";
	}
	fputc('\n', out);
}

void options_help(const struct option_table *table, const char *usage, const char *notes, FILE *out)
{
	fputs(usage, out);
	if (table->count && !is_title(table->rows))
		fputs("\nOptions:\n", out);
	for (size_t i = 0; i < table->count; ++i) {
		const struct option_row *row = &table->rows[i];
		if (is_title(row))
			fprintf(out, "\n%s:\n", row->help);
		else if (!row->hidden)
			help_option(row, out);
	}
	if (notes)
		fprintf(out, "\n%s", notes);
	int n = (int)strcspn(table->command, " ");
	fprintf(out, "\nDetails: man 8 getmnt-%.*s\n", n, table->command);
}

bool color_is_on(int when, bool terminal)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
	bool suits = terminal && term && *term && strcmp(term, "dumb") != 0 && !(none && *none);
	return when == COLOR_ALWAYS || (when == COLOR_AUTO && suits);
}
