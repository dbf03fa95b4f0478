/* SPDX-License-Identifier: MIT */
/*
 * Secrets in options, sources and lines: found by the names of options, also by those that
 * are misspelt, and by the forms of what they hold.  Rather too much is taken for a secret
 * than too little.
 */
#ifndef GETMNT_BASE_SECRET_H
#define GETMNT_BASE_SECRET_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** Append options, with the values of secrets replaced by "***". */
void mask_options(const char *options, struct strbuf *out);

/** Whether options hold a secret; "***" in its place is one still. */
bool has_secret(const char *options);

/** Append a source, with a password in its userinfo replaced by "***"; behind a
    scheme also a userinfo without one, which may be a key; behind a comma as options. */
void mask_source(const char *source, struct strbuf *out);

/** Whether mask_source() has something to replace; "***" in its place is one still. */
bool source_has_secret(const char *source);

/** Append a word of a text, of which it is not known what it is: masked as options, behind
    its first '=', and as a source. */
void mask_word(const char *word, struct strbuf *out);

/** Append a text, with the secrets masked that words of it hold as options. */
void mask_text(const char *text, struct strbuf *out);

/**
 * Where in a line of words what is no more than a secret that goes on over blanks may begin:
 * behind "password=a", in "password=a b", and behind "password ="; not between a source, as
 * the first word, and the mount point.
 * @n      Bytes of the line; nothing is read behind them.  A NUL among them is a blank.
 * @word   For use in passing; it has failed if there was no memory, and 0 is returned.
 * @open [out]  Nothing of it has stood yet: the word that follows is the secret.
 * @return an offset from where on nothing is to be shown; n: nowhere.
 */
size_t secret_goes_on(const char *line, size_t n, struct strbuf *word, bool *open);

#endif
