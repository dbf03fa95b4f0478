/* SPDX-License-Identifier: MIT */
/*
 * Masking of secrets in options, sources and lines.  A secret is found by the name of its option,
 * even if misspelled, and by the form of its value.  In doubt, text is masked.
 */
#ifndef GETMNT_BASE_SECRET_H
#define GETMNT_BASE_SECRET_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** Append options, with secret values replaced by "***". */
void mask_options(const char *options, struct strbuf *out);

/** Whether options contain a secret; "***" counts as well.  NULL: none. */
bool has_secret(const char *options);

/** Append a source, with the password of its userinfo replaced by "***".  In a URL, a userinfo
    without a password may be a key and is masked too.  Text after a comma is masked as options. */
void mask_source(const char *source, struct strbuf *out);

/** Whether mask_source() finds a secret; "***" counts as well.  NULL: none. */
bool source_has_secret(const char *source);

/** Append a word of unknown meaning, masked as options and as a source; it may be quoted. */
void mask_word(const char *word, struct strbuf *out);

/** Append a text, each word masked as options. */
void mask_text(const char *text, struct strbuf *out);

/** Find where a secret in a line may continue after a blank: after "password=a" in "password=a b",
    and after "password =".  If the first word is a source and a mount point follows, the secret
    ends at the blank.
    @n  Length of the line.  A NUL in it counts as a blank.
    @word  Scratch space.  If memory runs out, 0 is returned.
    @open [out]  The secret starts with the following word.
    @return the offset from which the line must not be shown; n if the whole line may be shown. */
size_t secret_goes_on(const char *line, size_t n, struct strbuf *word, bool *open);

/** Append a line of a mount table with its secrets masked, including octal-escaped ones.  After a
    secret, which may contain blanks, only the numbers of the last two fields are shown.
    @return whether a secret was masked. */
bool mask_line(const char *line, size_t n, struct strbuf *out);

#endif
