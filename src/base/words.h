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

/** Longest b of near_distance(), in bytes. */
enum { NEAR_BYTES = 64 };

/** The number of edits that turn a into b: a byte inserted, removed or replaced, or two
    neighbors swapped.  Case is ignored.
    @m  Length of b, at most NEAR_BYTES.
    @part  Compare b with the part of a that is nearest to it. */
unsigned near_distance(const char *a, size_t n, const char *b, size_t m, bool part);

#endif
