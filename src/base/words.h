/* SPDX-License-Identifier: MIT */
/** Words: pieces of a text, with a length and no terminator. */
#ifndef GM_BASE_WORDS_H
#define GM_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/** Whether n bytes are this word. */
static inline bool word_is(const char *at, size_t n, const char *word)
{
	/* Most words differ in their first byte; a word may be as long as a line. */
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

/** Whether two names are the same, apart from a '/' at the end. */
static inline bool word_same_path(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	n -= n > 1 && a[n - 1] == '/';
	m -= m > 1 && b[m - 1] == '/';
	return n == m && memcmp(a, b, n) == 0;
}

#endif
