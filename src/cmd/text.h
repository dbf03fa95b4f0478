/* SPDX-License-Identifier: MIT */
/**
 * Text for people: besides tables and messages, the only way to print text that people read.
 *
 * Every %s in a format is escaped for a terminal, so that no name can control the terminal or forge
 * a line.  build-aux/layers rejects other ways to print.
 */
#ifndef GM_CMD_TEXT_H
#define GM_CMD_TEXT_H

#include "base/strbuf.h"

#include <stdio.h>

/** A text; initialize with {0}.  Only text.c appends to the buffer. */
struct text {
	struct strbuf people_text;
};

/** Append formatted text.  Strings are escaped: escape_terminal(). */
__attribute__((format(printf, 2, 3)))
void text_put(struct text *text, const char *format, ...);

/** Append formatted text to a document that is printed later, such as an audit report.  Strings are
    escaped: escape_terminal(). */
__attribute__((format(printf, 2, 3)))
void text_add(struct strbuf *document, const char *format, ...);

/** Append "1 object", "2 objects"; "3 directories".  @word  The singular. */
void text_count(struct text *text, uint64_t n, const char *word);

/** Append a size as column_size() does. */
void text_size(struct text *text, uint64_t bytes);

/** Mark a text as incomplete.  @nomem  Memory ran out for a part of the text; false: do nothing. */
void text_lack(struct text *text, bool nomem);

/** Print a text on standard output or standard error, and free it.  If memory ran out, report this
    error, and call lose_output(). */
void text_print(struct text *text, FILE *to);

/** Print formatted text at once.  Strings are escaped: escape_terminal(). */
__attribute__((format(printf, 2, 3)))
void text_say(FILE *to, const char *format, ...);

/** Free a text without printing it. */
void text_destroy(struct text *text);

#endif
