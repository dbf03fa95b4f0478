/* SPDX-License-Identifier: MIT */
#include "base/strbuf.h"

#include "base/arena.h"
#include "base/fail.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void strbuf_init(struct strbuf *buf)
{
	*buf = (struct strbuf){0};
}

void strbuf_destroy(struct strbuf *buf)
{
	if (!buf->arena)
		free(buf->data);
	*buf = (struct strbuf){.arena = buf->arena};
}

void strbuf_reset(struct strbuf *buf)
{
	buf->len = 0;
	if (buf->failed)
		buf->size = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

void strbuf_fail(struct strbuf *buf)
{
	buf->failed = true;
	if (buf->arena)
		arena_fail(buf->arena);
	if (buf->size > buf->len)
		buf->size = buf->len;
}

void strbuf_renew(struct strbuf *buf)
{
	strbuf_reset(buf);
	strbuf_forget(buf);
}

/** Make room for n more bytes and the NUL by reallocating. */
static bool strbuf_grow(struct strbuf *buf, size_t n)
{
	if (buf->failed || n >= SIZE_MAX / 2 - buf->len) {
		strbuf_fail(buf);
		return false;
	}
	size_t need = buf->len + n + 1;
	if (need <= buf->size)
		return true;
	size_t size = buf->size ? buf->size * 2 : buf->arena ? 32 : 64;
	if (size < need)
		size = need;
	char *data = buf->data;
	if (!buf->arena) {
		data = realloc(data, size);
	} else if (!data || !arena_extend(buf->arena, data, buf->size, size)) {
		data = arena_new(buf->arena, size, 1);
		if (data && buf->data) {
			memcpy(data, buf->data, buf->len + 1);
			arena_release(buf->arena, buf->data, buf->size);
		}
	}
	if (!data) {
		strbuf_fail(buf);
		return false;
	}
	buf->data = data;
	buf->size = size;
	return true;
}

char *strbuf_extend_more(struct strbuf *buf, size_t n)
{
	return strbuf_grow(buf, n) ? strbuf_extend(buf, n) : NULL;
}

void strbuf_number(struct strbuf *buf, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	strbuf_add(buf, digits + at, sizeof(digits) - at);
}

void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
{
	va_list again;
	va_copy(again, args);
	size_t room = buf->size - buf->len;
	int n = vsnprintf(buf->data ? buf->data + buf->len : NULL, room, format, args);
	if (n < 0) {
		if (room > 0)
			buf->data[buf->len] = '\0';
		strbuf_fail(buf);
	} else if ((size_t)n < room) {
		buf->len += (size_t)n;
	} else if (strbuf_grow(buf, (size_t)n)) {
		vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
		buf->len += (size_t)n;
	} else if (room > 0) {
		buf->data[buf->len] = '\0';   /* cut off the partial text of the failed append */
	}
	va_end(again);
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	strbuf_vprintf(buf, format, args);
	va_end(args);
}

const char *strbuf_str(const struct strbuf *buf)
{
	return buf->data ? buf->data : "";
}

const char *strbuf_text(const struct strbuf *buf)
{
	if (!buf->failed)
		return strbuf_str(buf);
	return fail_null(ENOMEM);
}

char *strbuf_take(struct strbuf *buf)
{
	char *str = NULL;
	assert(!buf->arena);
	if (!buf->failed && strbuf_grow(buf, 0)) {
		str = buf->data;
		str[buf->len] = '\0';
		buf->data = NULL;
	} else {
		errno = ENOMEM;
	}
	strbuf_destroy(buf);
	return str;
}
