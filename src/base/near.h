/* SPDX-License-Identifier: MIT */
/*
 * How near a word is to another: what was misspelt, and what was meant.
 */
#ifndef GETMNT_BASE_NEAR_H
#define GETMNT_BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

/** Longest word, in bytes, that is compared with another. */
enum { NEAR_BYTES = 64 };

/**
 * How many changes make one word the other: a byte more, less, another, or two that changed
 * places.  Large letters are small ones.
 * @m     Bytes of b, at most NEAR_BYTES.
 * @part  Not a, but the part of it that is nearest to b.
 */
unsigned near_distance(const char *a, size_t n, const char *b, size_t m, bool part);

#endif
