/* SPDX-License-Identifier: MIT */
/**
 * The escaping dialects of mount tables and of our output, one codec each.
 *
 * The dialects differ by the set of bytes that are escaped; none is ever
 * applied twice, and decoding is sequential, so that a literal "\040" in a
 * name (written \134040) survives.
 */
#ifndef GM_BASE_ESCAPE_H
#define GM_BASE_ESCAPE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/** Bytes that the kernel escapes in mount points and roots (seq_path). */
#define ESCAPE_PATH " \t\n\\"
/** Bytes that the kernel escapes in types and sources (seq_escape). */
#define ESCAPE_SOURCE " \t\n\\#"

/**
 * Decode \ooo escapes, exactly three octal digits up to \377, once.
 * Any other backslash stands for itself.
 *
 * @dst [out]
 *         Room for n bytes; may be src.  No NUL is written.
 * @return
 *         The number of bytes written, never more than n.
 */
size_t unescape_octal(char *dst, const char *src, size_t n);

/** Append a string with the bytes of a set written as \ooo. */
void escape_octal(struct strbuf *out, const char *str, const char *set);

/** The same for a terminal: what would harm it, or is not seen, is \ooo as well. */
void escape_octal_terminal(struct strbuf *out, const char *str, const char *set);

/**
 * Append the first field of a line of an fstab or mtab: a '#' at its beginning is
 * escaped as well, lest the line be a comment.
 *
 * @terminal  As by escape_octal_terminal().
 */
void escape_first_field(struct strbuf *out, const char *str, const char *set, bool terminal);

/**
 * Append a string so that a terminal takes no harm, and a reader is not
 * deceived: control bytes (C0, DEL, C1 as UTF-8) and invalid UTF-8 are written
 * as \xhh; characters that are not seen or turn the direction of the text as
 * \uhhhh; and, so that it can be told apart, a backslash before what looks like
 * one of these as \x5c.  A string without any of these is unchanged.
 */
void escape_terminal(struct strbuf *out, const char *str);

/** Append a word for a shell: as it is, or, where it has what a shell may take for its own,
    in '...'.  It is not escaped for a terminal. */
void escape_shell(struct strbuf *out, const char *word);

/** The same of a name that a command is given: of one that begins with '-' behind "--",
    lest it be taken for an option. */
void escape_operand(struct strbuf *out, const char *name);

/** The same of a name as --add= takes it, which is octal for it: in quotes, with what would
    end it, or harm a terminal, as \ooo. */
void escape_shell_octal(struct strbuf *out, const char *name);

/** Append a string as a field of raw output, as libsmartcols has it: blanks, the
    backslash, and all that is no printing character of ASCII are \xhh, so that
    there is one way to read it. */
void escape_raw(struct strbuf *out, const char *str);

/** Append a string with characters that are not seen as \uhhhh, and nothing else
    changed: for libsmartcols, which sees to the rest.
    @return whether there was any; if not, nothing was appended. */
bool escape_unseen(struct strbuf *out, const char *str);

/**
 * Append a JSON string with its quotes, without control characters (C0, DEL, C1)
 * and what is not seen, which are \uhhhh; invalid UTF-8 bytes become \xhh.
 *
 * @return
 *         Whether the string was valid UTF-8.
 */
bool escape_json(struct strbuf *out, const char *str);

/** Append n bytes in base64 (RFC 4648, with padding). */
void escape_base64(struct strbuf *out, const char *bytes, size_t n);

/** Whether a character of n bytes, utf8_len(), must not get to a terminal as it is: what is
    no UTF-8, controls, and what is not seen. */
bool escape_harms(const char *str, size_t n);

/**
 * The length of the UTF-8 sequence at the start of a string.
 *
 * @return
 *         1 to 4; 0 if the bytes are no valid sequence (overlong forms,
 *         surrogates and values above U+10FFFF are invalid), or at the end.
 */
size_t utf8_len(const char *str);

/** How many bytes of a string, at most so many, end in no character's middle. */
size_t utf8_cut(const char *str, size_t most);

/** Whether a string is valid UTF-8. */
bool utf8_valid(const char *str);

#endif
