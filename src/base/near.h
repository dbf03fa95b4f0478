/* SPDX-License-Identifier: MIT */
/*
 * The edit distance of two words, to find the word that was meant by a misspelled one.
 */
#ifndef GETMNT_BASE_NEAR_H
#define GETMNT_BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/** Longest b of near_distance(), in bytes. */
enum { NEAR_BYTES = 64 };

/** The number of edits that turn a into b: a byte inserted, removed or replaced, or two
    neighbors swapped.  Case is ignored.
    @m  Length of b, at most NEAR_BYTES.
    @part  Compare b with the part of a that is nearest to it. */
unsigned near_distance(const char *a, size_t n, const char *b, size_t m, bool part);

#endif
