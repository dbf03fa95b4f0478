/* SPDX-License-Identifier: MIT */
/**
 * Tokens of patterns: glob_parse.c makes them, glob.c matches them.
 */
#ifndef GM_SELECT_GLOB_IMPL_H
#define GM_SELECT_GLOB_IMPL_H

#include "select/glob.h"

#include "base/casefold.h"

/* Types of tokens.  The value of a token is a character, the index of a set, or the index of a
   token. */
enum {
	TOKEN_CHAR,
	TOKEN_ANY,        /* one character */
	TOKEN_OPTIONAL,   /* zero or one character */
	TOKEN_SET,
	TOKEN_STAR,
	/* Only in an automaton: */
	TOKEN_SPLIT,      /* continue both at the next token and at the token `value` */
	TOKEN_JUMP,       /* continue at the token `value` */
	TOKEN_SLASH,      /* the component ends at a slash; the value is the offset in the text
	                     after the slash */
	TOKEN_END,        /* the alternative ends */
};
#define TOKEN(type, value) ((uint32_t)(type) << 24 | (value))
#define TOKEN_TYPE(token) ((token) >> 24)
#define TOKEN_VALUE(token) ((token) & 0xffffff)

/**
 * Append the tokens of a text to pool->tokens, and its literal bytes to pool->bytes.
 *
 * @braces
 *         One element for each byte of the text; NULL: braces and slashes are ordinary characters.
 * @return, errors  As glob_compile().
 */
int glob_parse(struct glob_pool *pool, const char *text, size_t from, size_t to, unsigned flags,
               struct glob_brace *braces, struct pattern_error *error);

#endif
