/* SPDX-License-Identifier: MIT */
/**
 * SHA-256, as FIPS 180-4 has it: of a text that is whole in memory.
 *
 * It names a text, so that machines that say the same are seen to; nothing secret is
 * made of it.
 */
#ifndef GM_BASE_SHA256_H
#define GM_BASE_SHA256_H

#include <stddef.h>

/** The digits of a digest, and a NUL. */
enum { SHA256_HEX = 65 };

/** Write the digest of n bytes in lower-case hexadecimal digits. */
void sha256_hex(const void *bytes, size_t n, char hex[SHA256_HEX]);

#endif
