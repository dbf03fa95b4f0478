/* SPDX-License-Identifier: MIT */
/** Words: pieces of a text, given by pointer and length. */
#ifndef GM_BASE_WORDS_H
#define GM_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Whether n bytes are equal to a word. */
static inline bool word_is(const char *at, size_t n, const char *word)
{
	/* Most words differ in the first byte; a word may be as long as a line. */
	return (n == 0 || *at == *word) && strnlen(word, n + 1) == n && memcmp(at, word, n) == 0;
}

/** Whether n bytes are a word of a list separated by blanks. */
static inline bool word_in(const char *at, size_t n, const char *list)
{
	for (const char *end; *list; list = end + (*end == ' ')) {
		end = strchrnul(list, ' ');
		if ((size_t)(end - list) == n && memcmp(list, at, n) == 0)
			return true;
	}
	return false;
}

/** Whether a text ends in a word, and is longer than it. */
static inline bool word_ends(const char *text, const char *word)
{
	size_t n = strlen(text), m = strlen(word);
	return n > m && memcmp(text + n - m, word, m) == 0;
}

/** Whether two names are equal, apart from a final '/'. */
static inline bool word_same_path(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	n -= n > 1 && a[n - 1] == '/';
	m -= m > 1 && b[m - 1] == '/';
	return n == m && memcmp(a, b, n) == 0;
}

/** What follows a directory in the path of an object at or below it: "", "/name"; NULL: it is not
    there. */
static inline const char *word_below(const char *path, const char *dir)
{
	/* A cheap test that rejects most paths. */
	if (dir[0] == '/' && dir[1] && dir[1] != '/' && path[0] == '/' && path[1] != dir[1])
		return NULL;
	size_t n = strlen(dir);
	while (n > 0 && dir[n - 1] == '/')
		--n;
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]) ? path + n : NULL;
}

/** Parse the digits of a number.  @return the text after them; NULL: no digit, or too large. */
const char *word_number(const char *at, uint64_t *number);

/** The maximum length of b in near_distance(), in bytes. */
enum { NEAR_BYTES = 64 };

/** The number of edits that turn a into b: inserting, deleting or replacing a byte, or swapping two
    neighbors.  Case is ignored.
    @m  Length of b, at most NEAR_BYTES.
    @part  Compare b with the most similar part of a. */
unsigned near_distance(const char *a, size_t n, const char *b, size_t m, bool part);

/** Looking for the name that a misspelled word may mean. */
struct near {
	const char *word;
	size_t n;                 /* its length; a word longer than NEAR_BYTES is similar to none */
	const void *best;         /* NULL: no name is similar */
	unsigned edits;           /* the number of edits that turn `best` into `word` */
};

/** Compare the word with a name, and keep the name if it is more similar than all names before.
    A name is similar if near_distance() is at most 2, and at most a third of the length of the
    longer of the two.
    @thing  The named object, for `best`. */
void near_try(struct near *near, const char *name, const void *thing);

#endif
