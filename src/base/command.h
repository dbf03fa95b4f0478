/* SPDX-License-Identifier: MIT */
/**
 * Commands that messages suggest, built from words.
 *
 * Pasted into a shell, such a command runs with exactly these words.  escape_terminal() does not
 * change it.  No format string has a command and %s: build-aux/layers checks that.
 */
#ifndef GM_BASE_COMMAND_H
#define GM_BASE_COMMAND_H

#include "base/strbuf.h"

/** Append words, separated by blanks and quoted for a shell; the list ends with NULL.  The word
    "--" is left out if no word after it begins with '-'. */
__attribute__((sentinel))
void command_words(struct strbuf *out, const char *word, ...);

/** The same with a va_list, which is consumed. */
void command_vwords(struct strbuf *out, const char *word, va_list args);

/** Append n more words, each after a blank. */
void command_more(struct strbuf *out, const char *const *words, size_t n);

/** Append " OPTION=VALUE".  @value  NULL: append nothing. */
void command_option(struct strbuf *out, const char *option, const char *value);

/** Append " NAME", or " -- NAME" if the name begins with '-'. */
void command_operand(struct strbuf *out, const char *name);

#endif
