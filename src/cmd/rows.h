/* SPDX-License-Identifier: MIT */
/**
 * The options of a command as one table of rows, which feeds its parser, its
 * --help and the completion.
 *
 * The options of `getmnt discover` are many and check each other: options.h.
 */
#ifndef GM_CMD_ROWS_H
#define GM_CMD_ROWS_H

#include <stdio.h>

/** An option. */
struct row_option {
	const char *name;            /* without the dashes */
	char letter;                 /* 0: none */
	const char *argument;        /* NULL: none; in brackets: it may be left out */
	const char *help;
	/* For the completion: */
	const char *const *words;    /* the argument is one of these, ended by NULL; or NULL */
	const char *letters;         /* ... it has some of these; or NULL */
};

/** The most options that a table may have. */
enum { ROWS_MAX = 64 };

/** The rows of a command, and its name for messages. */
struct row_table {
	const char *command;
	const struct row_option *rows;
	size_t count;
};

/** Print a line for each option. */
void rows_help(const struct row_table *table, FILE *out);

/** Print all options with blanks between them, for the completion. */
void rows_words(const struct row_table *table, FILE *out);

/** Print what completes the arguments of options, as cases of the completion's `case $eq$prev`;
    nothing for a list of columns.  @indent  Of the cases. */
void rows_arguments(const struct row_table *table, const char *indent, FILE *out);

/**
 * Read the options of a command line.
 *
 * @take
 *         Called for each, with its name and argument (NULL: it has none);
 *         returns 0, or an exit status, which ends the reading.
 * @return 0 with optind at the first operand, or an exit status after a message.
 */
int rows_parse(const struct row_table *table, int argc, char **argv,
               int (*take)(void *arg, const char *name, const char *value), void *arg);

/**
 * Tell which option an argument is by its long name, as rows_parse() takes it: abbreviated, if it is
 * of no other.
 *
 * @value [out]  What stands behind its equals sign; or NULL.
 * @return its row, or NULL.
 */
const struct row_option *rows_long(const struct row_table *table, const char *arg, const char **value);

/**
 * Take a text that may be given once, and has something in it.
 *
 * @name  With its dashes.
 * @text  Where it goes; not NULL: it was given.
 * @return 0, or an exit status after a message.
 */
int rows_once(const char *name, const char *value, const char **text);

/**
 * Take a word of an option.
 *
 * @words   Those there are, ended by NULL; "" in it is no word.
 * @word [out]  Which it is.
 * @return 0, or an exit status after a message.
 */
int rows_word(const char *name, const char *text, const char *const words[], int *word);

/** The words that rows_stats() takes. */
extern const char *const rows_stats_words[];

/** Take what --stats says, which may be nothing.
    @form [out]  enum stats_form.
    @return 0, or an exit status. */
int rows_stats(const char *text, int *form);

#endif
