/* SPDX-License-Identifier: MIT */
/**
 * A writer of JSON that can only produce valid documents: it places commas, quotes and white space,
 * and asserts that keys and ends are where they belong.  json_put_object() and json_put_array()
 * begin an object or array, json_end() ends it.
 *
 * Members of an object have a key; for elements of an array, key is NULL.  Keys are written in
 * lower case.  If memory runs out, the strbuf is marked as failed.
 */
#ifndef GM_CMD_JSON_H
#define GM_CMD_JSON_H

#include "base/strbuf.h"

enum json_layout {
	JSON_INLINE,     /* {"a": 1, "b": 2} */
	JSON_LINES,      /* a line for each member or element */
	JSON_TIGHT,      /* {"a":1,"b":2} */
};

/** Maximum number of nested objects and arrays. */
enum { JSON_DEPTH = 16 };

/** A document being written.  At the beginning, all members except `out` are zero. */
struct json {
	struct strbuf *out;          /* the text of the document */
	unsigned depth;              /* number of objects and arrays that are not ended */
	bool key_written;            /* the key of the next member was written */
	struct json_level {
		char end;                /* '}' or ']' */
		unsigned char layout;    /* enum json_layout */
		bool any;                /* a member or element was written */
	} levels[JSON_DEPTH];
};

/** Continue an object of which other code, such as libsmartcols, wrote the start and at least one
    member.
    @key_written  The key of the next member was written too. */
void json_resume(struct json *json, struct strbuf *out, enum json_layout layout, bool key_written);

void json_put_object(struct json *json, const char *key, enum json_layout layout);
void json_put_array(struct json *json, const char *key, enum json_layout layout);

/** Write the end of the innermost object or array; if it is the outermost one and has the layout
    JSON_LINES, write a newline too. */
void json_end(struct json *json);

/** Print a finished document, and free it.  @return as print_buffer(). */
__attribute__((warn_unused_result))
int json_print(struct json *json);

/** Print a document as a line on standard error: as print_stderr(). */
void json_print_stderr(struct json *json);

/** Write a string; NULL becomes null.  Invalid UTF-8 becomes \xhh.
    @return whether the text is valid UTF-8. */
bool json_put_string(struct json *json, const char *key, const char *text);

/** Write a string as json_put_string(); if the text is not valid UTF-8, also write "KEY-b64" with
    the bytes in base64. */
void json_put_text(struct json *json, const char *key, const char *text);

/** Write a number given as a string of digits, such as the text of a table cell. */
void json_put_literal(struct json *json, const char *key, const char *digits);

void json_put_number(struct json *json, const char *key, uint64_t number);
void json_put_integer(struct json *json, const char *key, int64_t number);

/** Write a number.  @digits  The number of digits after the point. */
void json_put_real(struct json *json, const char *key, double number, int digits);
void json_put_bool(struct json *json, const char *key, bool value);

/** Write a number; 0 becomes null. */
void json_put_id(struct json *json, const char *key, uint64_t id);

#endif
