/* SPDX-License-Identifier: MIT */
/**
 * Tokens of patterns, shared by glob_parse.c and glob.c.
 */
#ifndef GM_SELECT_GLOB_IMPL_H
#define GM_SELECT_GLOB_IMPL_H

#include "select/glob.h"

#include "base/casefold.h"

/* A token: its type, and a character, the number of a set, or another token. */
enum {
	TOKEN_CHAR,
	TOKEN_ANY,        /* one character */
	TOKEN_OPTIONAL,   /* zero or one character */
	TOKEN_SET,
	TOKEN_STAR,
	/* Only in an automaton: */
	TOKEN_SPLIT,      /* continue at the next token, and at another one */
	TOKEN_JUMP,       /* continue at another token */
	TOKEN_SLASH,      /* the component ends; the value is the place in the text after it */
	TOKEN_END,        /* the alternative ends */
};
#define TOKEN(type, value) ((uint32_t)(type) << 24 | (value))
#define TOKEN_TYPE(token) ((token) >> 24)
#define TOKEN_VALUE(token) ((token) & 0xffffff)

/**
 * Append the tokens of a text to pool->tokens, and its literal bytes to pool->bytes.
 *
 * @braces
 *         For each byte of the text, if braces and slashes have a meaning; or NULL.
 * @return, errors  As glob_compile().
 */
int glob_parse(struct glob_pool *pool, const char *text, size_t from, size_t to, unsigned flags,
               struct glob_brace *braces, struct pattern_error *error);

#endif
