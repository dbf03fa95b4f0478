/* SPDX-License-Identifier: MIT */
/**
 * The options of a command as a table of rows, for its parser, its --help and the shell completion.
 *
 *     static const struct option_row rows[] = {
 *         OPTION_GROUP("Output"),
 *         {"json", 'J', NULL, "one JSON document", OPT_IS_FLAG(struct opts, json)},
 *         {"depth", 0, "N", "enter no deeper directory", OPT_IS_NUMBER(struct opts, depth, 1000)},
 *     };
 */
#ifndef GM_CMD_OPTIONS_H
#define GM_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** How the value of an option is stored. */
enum option_how {
	OPT_CALL,      /* option_row.parse stores the value */
	OPT_FLAG,      /* sets a bool to true */
	OPT_TEXT,      /* stores the argument, which must not be empty; the last occurrence wins */
	OPT_ONCE,      /* as OPT_TEXT, but the option may be given only once */
	OPT_SET,       /* sets an int to the row's base */
	OPT_WORD,      /* sets an int to the index of the word plus the row's base */
	OPT_NUMBER,    /* sets an unsigned, at most max */
	OPT_ID,        /* sets a uint64_t other than 0, at most max */
	OPT_SECONDS,   /* sets a double above 0, at most max */
	OPT_REFUSED,   /* not supported: the help text is the message */
};

/** An option, or the title of the following group of options. */
struct option_row {
	const char *name;         /* without dashes; NULL: only a letter, or a title */
	char letter;              /* 0: none */
	const char *argument;     /* name of the argument; "[X]": optional; NULL: none */
	const char *help;         /* one line, at most OPTION_HELP_MAX bytes; "": --help lists the
	                             words; of a title: its text */
	const char *words;        /* permitted arguments, "a|b"; NULL: `argument` lists them or
	                             permits any argument */
	const char *letters;      /* for the completion: the letters that an argument can consist
	                             of */
	unsigned char how;        /* enum option_how */
	bool attached;            /* an optional argument may follow the letter directly: -pX */
	bool hidden;              /* not in --help and the completion */
	unsigned excludes;        /* set of bits: options with a common bit exclude each other */
	int base;                 /* OPT_WORD: value of the first word; OPT_SET: the value */
	int bare;                 /* OPT_WORD: index of the word used if no argument is given */
	const char *(*word)(int i);   /* instead of `words`: returns the i-th word, or NULL */
	double max;               /* maximum of a number; 0 for OPT_ID: UINT64_MAX */
	size_t offset;            /* offset of the field in the options of the command */
	/* OPT_CALL: parse and store the argument.  @return 0, or an exit status after a message. */
	int (*parse)(void *opts, const struct option_row *row, const char *value);
};

enum {
	OPTION_HELP_COLUMN = 29,
	OPTION_HELP_MAX = 80 - OPTION_HELP_COLUMN,
	OPTION_ROWS_MAX = 96,     /* rows in a table */
	OPTION_TITLE_SIZE = 40,   /* size of the buffer for option_title() */
};

#define OPTION_GROUP(title) {NULL, 0, NULL, title}
#define OPT_IS_FLAG(type, field) .how = OPT_FLAG, .offset = offsetof(type, field)
#define OPT_IS_TEXT(type, field) .how = OPT_TEXT, .offset = offsetof(type, field)
#define OPT_IS_ONCE(type, field) .how = OPT_ONCE, .offset = offsetof(type, field)
#define OPT_IS_SET(type, field) .how = OPT_SET, .offset = offsetof(type, field)
#define OPT_IS_WORD(type, field) .how = OPT_WORD, .offset = offsetof(type, field)
#define OPT_IS_NUMBER(type, field, most) \
	.how = OPT_NUMBER, .offset = offsetof(type, field), .max = most
#define OPT_IS_ID(type, field) .how = OPT_ID, .offset = offsetof(type, field)
#define OPT_IS_SECONDS(type, field, most) \
	.how = OPT_SECONDS, .offset = offsetof(type, field), .max = most

/** The formats of a listing of mounts. */
enum form {
	FORM_DEFAULT,   /* a tree, unless the selection makes it a list */
	FORM_LIST,      /* --format=list: FORM_DEFAULT with the option list */
	FORM_RAW,
	FORM_PAIRS,
	FORM_JSON,
	FORM_MTAB,      /* this and the following formats are printed line by line */
	FORM_FSTAB,
	FORM_SETMNT,
	FORM_DOT,
	FORM_JSONL,
};

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/** Whether to print in colors.  @terminal  Output goes to a terminal.  Source: no-color.org. */
bool color_is_on(int when, bool terminal);

enum stats_form { STATS_NONE, STATS_TEXT, STATS_JSON };

/** The row of --stats.  @field  An int: enum stats_form. */
#define OPTION_STATS(type, field) \
	{"stats", 0, "[text|json]", "kernel calls and counts on standard error", \
	 OPT_IS_WORD(type, field), .base = STATS_TEXT}
/** The row of --color.  @field  An int: enum color_when. */
#define OPTION_COLOR(type, field) \
	{"color", 0, "[WHEN]", "colors: auto (on a terminal), always, never", \
	 "auto|always|never", OPT_IS_WORD(type, field), .bare = COLOR_ALWAYS}
#define OPTION_HELP(type, field) {"help", 'h', NULL, "this help", OPT_IS_FLAG(type, field)}

/** The options of a command. */
struct option_table {
	const char *command;      /* name of the command, such as "audit" or "index build" */
	const struct option_row *rows;
	size_t count;
};

/** Read the options of a command line.  @opts  The struct with the fields of the rows.
    @return 0 with optind at the first operand, or an exit status after a message. */
int options_read(const struct option_table *table, int argc, char **argv, void *opts);

/** Print usage, the options in their groups, notes, and the man page that describes them.
    @notes  Lines to print after the options; or NULL. */
void options_help(const struct option_table *table, const char *usage, const char *notes,
                  FILE *out);

/** Get the name of an option for messages: "--name" or "-x".  @return title. */
const char *option_title(const struct option_row *row, char title[static OPTION_TITLE_SIZE]);

/** Whether the argument of an option is optional. */
bool option_is_optional(const struct option_row *row);

/** Get the i-th permitted word of an option's argument, and the length of the word.
    @return NULL: no more. */
const char *option_word_at(const struct option_row *row, int i, size_t *len);

/** Get the index of a permitted word of len bytes.  @return -1: not permitted. */
int option_word_index(const struct option_row *row, const char *word, size_t len);

/** Report a word that is not permitted.  @return CX_ERROR. */
int option_bad_word(const struct option_row *row, const char *word, size_t len);

/** Get the index of a permitted word; row->bare if value is NULL.  @return -1 after a message. */
int option_parse_word(const struct option_row *row, const char *value);

/** Add the bit 1 << index of each word of a comma-separated list to a set.
    @return 0, or an exit status after a message. */
int option_parse_words(const struct option_row *row, const char *value, unsigned *set);

/** Find the option that an argument names by its (perhaps abbreviated) long name.
    @value [out]  The text after the equals sign; or NULL.
    @count [out]  The number of options that match.
    @return the row, or NULL. */
const struct option_row *option_find(const struct option_table *table, const char *arg,
                                     const char **value, size_t *count);

/** Parse a whole number up to max.  @return whether the text is valid. */
bool option_number(const char *text, uint64_t max, uint64_t *number);

/** Parse a number of seconds from 0 to max.  @return whether the text is valid. */
bool option_seconds(const char *text, double max, double *seconds);

/** Parse a number of seconds above 0, at most max.  @title  The option, for messages.
    @return 0, or an exit status after a message. */
int option_parse_seconds(const char *title, const char *text, double max, double *seconds);

#endif
