/* SPDX-License-Identifier: MIT */
/**
 * The escapes of mount tables and of the program's output, one function each.
 *
 * Decoding is a single pass from left to right, so that a literal "\040" in a name (written
 * \134040) is preserved.
 */
#ifndef GM_BASE_ESCAPE_H
#define GM_BASE_ESCAPE_H

#include "base/strbuf.h"

/** Bytes that the kernel escapes in mount points and roots (seq_path). */
#define ESCAPE_PATH " \t\n\\"
/** Bytes that the kernel escapes in types and sources (seq_escape). */
#define ESCAPE_SOURCE " \t\n\\#"
/** Bytes to escape in a mount point for --add=, so that it needs no quote within quotes. */
#define ESCAPE_ADDED "\\,'\n"

/** Decode \ooo escapes of exactly three octal digits, up to \377.  Other backslashes are kept.
    @dst [out]  Room for n bytes; may be src.  No NUL is written.
    @return the number of bytes written, at most n. */
size_t unescape_octal(char *dst, const char *src, size_t n);

/** Append n bytes, decoded by unescape_octal(). */
void unescape_octal_add(struct strbuf *out, const char *src, size_t n);

/** Append a string, with the bytes in set as \ooo.
    @terminal  Also escape the bytes of characters that escape_harms(). */
void escape_octal(struct strbuf *out, const char *str, const char *set, bool terminal);

/** Append the first field of a line of fstab or mtab.  A leading '#' is escaped as well, because it
    would make the line a comment.
    @terminal  As for escape_octal(). */
void escape_first_field(struct strbuf *out, const char *str, const char *set, bool terminal);

/** Append a string so that it can neither control a terminal nor deceive a reader: control
    characters (C0, DEL, C1) and invalid UTF-8 become \xhh, invisible characters and those that
    change the text direction become \uhhhh, and a backslash before an escape like these becomes
    \x5c.  Any other string is unchanged. */
void escape_terminal(struct strbuf *out, const char *str);

/** Append a word, in '...' if it needs quotes: for a shell, and in expressions of find's language.
    Not escaped for a terminal. */
void escape_quoted(struct strbuf *out, const char *word);

/** Append a word for a shell that escape_terminal() does not change: like escape_quoted(), but a
    word with characters that escape_harms() becomes $'...' (bash, zsh, ksh, busybox; POSIX since
    2024).  For another shell that is one word as well, with another value. */
void escape_shell(struct strbuf *out, const char *word);

/** Append a field of raw output as libsmartcols prints it: blanks, backslashes and everything
    except printable ASCII become \xhh. */
void escape_raw(struct strbuf *out, const char *str);

/** Append a string with its invisible characters as \uhhhh; libsmartcols escapes the rest.
    @return whether it contains any; if not, nothing is appended. */
bool escape_unseen(struct strbuf *out, const char *str);

/** Append a JSON string with its quotes.  Control characters (C0, DEL, C1) and invisible characters
    become \uhhhh, bytes of invalid UTF-8 become \\xhh.
    @return whether the string is valid UTF-8. */
bool escape_json(struct strbuf *out, const char *str);

/** Append n bytes in base64 (RFC 4648, with padding). */
void escape_base64(struct strbuf *out, const char *bytes, size_t n);

/** Whether the character at the start of a string must be escaped for a terminal: invalid UTF-8, a
    control character, or invisible. */
bool escape_harms(const char *str);

/** The code point of the character at the start of a string, if the character is invisible, or
    looks like a blank but is not ASCII; 0: neither.  Joiners and wide blanks between characters
    that are not ASCII belong to the spelling of words, and do not count.
    @before  The byte before the character; '\0': none.
    @n [out]  The length of the character in bytes. */
uint32_t escape_hidden(const char *str, char before, size_t *n);

/** Whether a character looks like a blank, but is not ASCII: U+00A0, U+2003 and others. */
bool escape_is_blank(uint32_t code);

/** The length of the UTF-8 sequence at the start of a string.
    @return 1 to 4; 0 at the end of the string and for an invalid sequence (including overlong
    forms, surrogates and values above U+10FFFF). */
size_t utf8_len(const char *str);

/** The length of the longest prefix of complete characters that has at most `most` bytes. */
size_t utf8_cut(const char *str, size_t most);

/** Whether a string is valid UTF-8. */
bool utf8_valid(const char *str);

#endif
