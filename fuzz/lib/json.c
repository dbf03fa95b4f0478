/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH = 4000 };

struct reader {
	const char *at, *end;
};

static struct json *read_value(struct reader *r, unsigned depth);

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && *r->at && strchr(" \t\r\n", *r->at))
		++r->at;
}

static bool take(struct reader *r, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return false;
	r->at += n;
	return true;
}

static struct json *new_value(enum json_type type)
{
	struct json *value = fuzz_alloc(sizeof(*value));
	*value = (struct json){.type = type};
	return value;
}

/** Take four hexadecimal digits.  @return their value, or -1. */
static long take_hex(struct reader *r)
{
	long value = 0;
	for (int i = 0; i < 4; ++i, ++r->at) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = r->at < r->end && *r->at
		                    ? strchr(digits, *r->at >= 'A'
		                             && *r->at <= 'F' ? *r->at + 32 : *r->at) : NULL;
		if (!digit)
			return -1;
		value = value << 4 | (digit - digits);
	}
	return value;
}

static void put_utf8(struct strbuf *out, unsigned long code)
{
	if (code < 0x80) {
		strbuf_putc(out, (char)code);
	} else if (code < 0x800) {
		strbuf_putc(out, (char)(0xc0 | code >> 6));
		strbuf_putc(out, (char)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		strbuf_putc(out, (char)(0xe0 | code >> 12));
		strbuf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
		strbuf_putc(out, (char)(0x80 | (code & 0x3f)));
	} else {
		strbuf_putc(out, (char)(0xf0 | code >> 18));
		strbuf_putc(out, (char)(0x80 | (code >> 12 & 0x3f)));
		strbuf_putc(out, (char)(0x80 | (code >> 6 & 0x3f)));
		strbuf_putc(out, (char)(0x80 | (code & 0x3f)));
	}
}

/** Take what stands behind a backslash. */
static bool take_escape(struct reader *r, struct strbuf *out)
{
	static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	if (r->at == r->end)
		return false;
	char c = *r->at++;
	const char *letter = c ? strchr(letters, c) : NULL;
	if (letter) {
		strbuf_putc(out, bytes[letter - letters]);
		return true;
	}
	long code = c == 'u' ? take_hex(r) : -1;
	if (code <= 0 || (code >= 0xdc00 && code < 0xe000))
		return false;
	if (code >= 0xd800 && code < 0xdc00) {
		long low = take(r, "\\u") ? take_hex(r) : -1;
		if (low < 0xdc00 || low >= 0xe000)
			return false;
		code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
	}
	put_utf8(out, (unsigned long)code);
	return true;
}

/** Take a string with its quotes.  @return its bytes, or NULL. */
static char *take_string(struct reader *r)
{
	struct strbuf out;
	strbuf_init(&out);
	strbuf_add(&out, "", 0);
	if (!take(r, "\""))
		goto fail;
	while (r->at < r->end && *r->at != '"') {
		unsigned char c = (unsigned char)*r->at++;
		if (c < 0x20 || (c == '\\' && !take_escape(r, &out)))
			goto fail;
		if (c != '\\')
			strbuf_putc(&out, (char)c);
	}
	if (!take(r, "\""))
		goto fail;
	return strbuf_take(&out);
fail:
	strbuf_destroy(&out);
	return NULL;
}

static size_t digits(struct reader *r)
{
	size_t n = 0;
	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at)
		++n;
	return n;
}

static struct json *read_number(struct reader *r)
{
	const char *begin = r->at;
	take(r, "-");
	bool zero = take(r, "0");
	if (zero ? digits(r) != 0 : digits(r) == 0)
		return NULL;
	if (take(r, ".") && digits(r) == 0)
		return NULL;
	if (take(r, "e") || take(r, "E")) {
		if (!take(r, "+"))
			take(r, "-");
		if (digits(r) == 0)
			return NULL;
	}
	struct json *value = new_value(JSON_NUMBER);
	value->text = fuzz_string(begin, (size_t)(r->at - begin));
	return value;
}

/** Read the elements of an array or object, behind its bracket. */
static struct json *read_elements(struct reader *r, enum json_type type, unsigned depth)
{
	const char *close = type == JSON_ARRAY ? "]" : "}";
	struct json *value = new_value(type), **last = &value->first;
	skip_blanks(r);
	if (take(r, close))
		return value;
	for (;;) {
		char *key = NULL;
		skip_blanks(r);
		if (type == JSON_OBJECT) {
			key = take_string(r);
			skip_blanks(r);
			if (!key || json_member(value, key) || !take(r, ":")) {
				free(key);
				break;
			}
		}
		struct json *element = read_value(r, depth);
		if (!element) {
			free(key);
			break;
		}
		element->key = key;
		*last = element;
		last = &element->next;
		skip_blanks(r);
		if (take(r, close))
			return value;
		if (!take(r, ","))
			break;
	}
	json_free(value);
	return NULL;
}

static struct json *read_value(struct reader *r, unsigned depth)
{
	if (depth == JSON_DEPTH)
		return NULL;
	skip_blanks(r);
	if (take(r, "["))
		return read_elements(r, JSON_ARRAY, depth + 1);
	if (take(r, "{"))
		return read_elements(r, JSON_OBJECT, depth + 1);
	if (take(r, "null"))
		return new_value(JSON_NULL);
	if (take(r, "true"))
		return new_value(JSON_TRUE);
	if (take(r, "false"))
		return new_value(JSON_FALSE);
	if (r->at < r->end && *r->at == '"') {
		char *text = take_string(r);
		struct json *value = text ? new_value(JSON_STRING) : NULL;
		if (value)
			value->text = text;
		return value;
	}
	return read_number(r);
}

struct json *json_read(const char *text, size_t len)
{
	if (!fuzz_is_printable(text, len))
		return NULL;
	struct reader r = {text, text + len};
	struct json *value = read_value(&r, 0);
	skip_blanks(&r);
	if (value && r.at != r.end) {
		json_free(value);
		return NULL;
	}
	return value;
}

void json_free(struct json *value)
{
	while (value) {
		struct json *next = value->next;
		json_free(value->first);
		free(value->text);
		free(value->key);
		free(value);
		value = next;
	}
}

const struct json *json_member(const struct json *object, const char *key)
{
	const struct json *member = object ? object->first : NULL;
	while (member && (!member->key || strcmp(member->key, key) != 0))
		member = member->next;
	return member;
}

size_t json_count(const struct json *value)
{
	size_t n = 0;
	for (const struct json *element = value ? value->first
	     : NULL; element; element = element->next)
		++n;
	return n;
}
