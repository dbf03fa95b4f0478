/* SPDX-License-Identifier: MIT */
/**
 * Words, and options of a mount: pieces of a text, as many bytes as they have.
 */
#ifndef GM_BASE_WORDS_H
#define GM_BASE_WORDS_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Whether n bytes are this word. */
static inline bool word_is(const char *at, size_t n, const char *word)
{
	/* Most words differ in their first byte: they need not be measured.  Of a word that is longer no
	   more than n bytes are: it may be as long as a line. */
	return (n == 0 || *at == *word) && strnlen(word, n + 1) == n && memcmp(at, word, n) == 0;
}

/** Whether n bytes are one of an array of words. */
static inline bool word_of(const char *at, size_t n, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; ++i) {
		if (word_is(at, n, words[i]))
			return true;
	}
	return false;
}
#define WORD_OF(at, n, words) word_of(at, n, words, sizeof(words) / sizeof(*(words)))

/** Whether n bytes are one of a list of words with a blank between each two. */
static inline bool word_in(const char *at, size_t n, const char *list)
{
	for (const char *end; *list; list = end + (*end == ' ')) {
		end = strchrnul(list, ' ');
		if ((size_t)(end - list) == n && memcmp(list, at, n) == 0)
			return true;
	}
	return false;
}

/** How many of the n bytes of an option are its name: what is before '='. */
static inline size_t option_name(const char *option, size_t n)
{
	const char *equals = memchr(option, '=', n);
	return equals ? (size_t)(equals - option) : n;
}

/** Append an option of n bytes to a list with commas between. */
static inline void option_add(struct strbuf *list, const char *option, size_t n)
{
	if (list->len)
		strbuf_putc(list, ',');
	strbuf_add(list, option, n);
}

/** The same of a string. */
static inline void option_puts(struct strbuf *list, const char *option)
{
	option_add(list, option, strlen(option));
}

#endif
