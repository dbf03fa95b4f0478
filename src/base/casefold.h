/* SPDX-License-Identifier: MIT */
/**
 * Characters of UTF-8, and ignoring case.
 *
 * Text is interpreted alike in every locale: a valid UTF-8 sequence is a character, and so is each
 * byte outside of one, with a code of its own.  Case is ignored by comparing lowercase letters, one
 * for one: the simple mappings of Unicode.  So K (the Kelvin sign) equals k, but not ß ss, nor the
 * final sigma the other one; nothing is normalized.
 */
#ifndef GM_BASE_CASEFOLD_H
#define GM_BASE_CASEFOLD_H

#include <stddef.h>
#include <stdint.h>

/* Codes for bytes outside UTF-8: in the range of surrogates, which are not characters. */
enum { UTF8_RAW = 0xdc00, UTF8_RAW_LAST = UTF8_RAW + 0xff };

enum {
	CASEFOLD_OTHERS = 2,      /* the most characters that have the same lowercase letter */
};

/** The first character of n > 0 bytes.  @len [out]  Its length in bytes. */
uint32_t utf8_code(const char *str, size_t n, size_t *len);

/** Write a character, up to 4 bytes.  @return the end. */
char *utf8_put(char *to, uint32_t code);

/** The lowercase letter of a character; or the character. */
uint32_t casefold_code(uint32_t code);

/** The characters whose lowercase letter is another one, this.  @return their number. */
size_t casefold_others(uint32_t code, uint32_t others[static CASEFOLD_OTHERS]);

/** Write n bytes in lowercase.  @out [out]  Room for CASEFOLD_SIZE(n).  @return their number. */
size_t casefold_text(const char *text, size_t n, char *out);

/* A letter of 2 bytes may have a lowercase letter of 3. */
#define CASEFOLD_SIZE(n) ((n) + (n) / 2 + 1)

#endif
