/* SPDX-License-Identifier: MIT */
/**
 * A strict reader of JSON (RFC 8259), to judge what the program prints.
 */
#ifndef GM_FUZZ_JSON_H
#define GM_FUZZ_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_ARRAY,
                JSON_OBJECT };

struct json {
	enum json_type type;
	char *text;              /* of a string: its bytes; of a number: as written */
	char *key;               /* within an object */
	struct json *first, *next;
};

/** Read a text that is one value and blanks.  @return it, or NULL: it is none,
    or an object has a key twice.  Ownership: json_free(). */
struct json *json_read(const char *text, size_t len);

void json_free(struct json *value);

/** The member of an object, or NULL. */
const struct json *json_member(const struct json *object, const char *key);

/** The number of elements of an array or object. */
size_t json_count(const struct json *value);

#endif
