/* SPDX-License-Identifier: MIT */
/* Compile the formats of -printf and -fprintf.  Source: find(1) of GNU findutils 4.9. */
#include "cmd/find/format.h"

#include "base/array.h"
#include "base/fail.h"
#include "os/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 1000000 };

/** Get the attributes (K_STATX_*) that a directive needs. */
static unsigned mask_of(char kind)
{
	switch (kind) {
	case 'a': case 'A': return K_STATX_ATIME;
	case 'B':           return K_STATX_BTIME;
	case 'c': case 'C': return K_STATX_CTIME;
	case 't': case 'T': return K_STATX_MTIME;
	case 'b': case 'k': return K_STATX_BLOCKS;
	case 'S':           return K_STATX_BLOCKS | K_STATX_SIZE;
	case 's':           return K_STATX_SIZE;
	case 'D': case 'i': return K_STATX_INO;
	case 'g': case 'G': return K_STATX_GID;
	case 'u': case 'U': return K_STATX_UID;
	case 'm':           return K_STATX_MODE;
	case 'M':           return K_STATX_TYPE | K_STATX_MODE;
	case 'n':           return K_STATX_NLINK;
	default:            return 0;
	}
}

/** Append an item.  @return the item, or NULL. */
static struct format_item *add_item(struct format *format, char kind)
{
	if (!ARRAY_ROOM(format->items, format->n, &format->room))
		return NULL;
	struct format_item *item = &format->items[format->n++];
	*item = (struct format_item){.kind = kind, .precision = -1};
	format->mask |= mask_of(kind);
	format->xtype |= kind == 'Y';
	format->target |= kind == 'l';
	format->type |= kind && strchr("FlyY", kind);
	if (kind && strchr("FYZ", kind))
		format->local = kind;
	return item;
}

/** Append text to a format; extend the last item if that item is text. */
static void add_text(struct format *format, const char *text, size_t len)
{
	struct format_item *last = format->n ? &format->items[format->n - 1] : NULL;
	if (!last || last->kind) {
		last = add_item(format, '\0');
		if (!last) {
			format->text.failed = true;
			return;
		}
		last->from = format->text.len;
	}
	strbuf_add(&format->text, text, len);
	last->len += len;
}

/** Append a warning about a part of a format.  @what, then  The words before and after the part. */
static void warn_of(struct strbuf *warnings, const char *what, const char *part, size_t len,
                    const char *then)
{
	strbuf_printf(warnings, "%s \"%.*s\"%s", what, (int)len, part, then);
	strbuf_putc(warnings, '\0');
}

/** Compile an escape.  @at  Points to the backslash.
    @return the end of the escape; NULL: \c, which ends the format. */
static const char *parse_escape(struct format *format, const char *at, struct strbuf *warnings)
{
	static const char letters[] = "abfnrtv\\", bytes[] = "\a\b\f\n\r\t\v\\",
		backslash[] = "a backslash at the end is printed as it is";
	const char *known = at[1] ? strchr(letters, at[1]) : NULL;
	if (at[1] == 'c')
		return NULL;
	if (known) {
		add_text(format, &bytes[known - letters], 1);
		return at + 2;
	}
	if (at[1] >= '0' && at[1] <= '7') {
		int value = 0, n = 1;
		for (; n <= 3 && at[n] >= '0' && at[n] <= '7'; ++n)
			value = 8 * value + at[n] - '0';
		char byte = (char)value;
		add_text(format, &byte, 1);
		return at + n;
	}
	if (at[1])
		warn_of(warnings, "unknown escape", at, 2, "; it is printed as it is");
	else
		strbuf_add(warnings, backslash, sizeof(backslash));
	add_text(format, at, at[1] ? 2 : 1);
	return at + (at[1] ? 2 : 1);
}

/** Parse a number.  @return the end of the number; NULL: the number is too large. */
static const char *parse_number(const char *at, int *number)
{
	*number = 0;
	for (; *at >= '0' && *at <= '9'; ++at) {
		*number = 10 * *number + *at - '0';
		if (*number > WIDTH_MAX)
			return NULL;
	}
	return at;
}

/** Compile a directive.  @at  Points to the percent sign.
    @return the end of the directive; NULL after appending a sentence to `why`. */
static const char *parse_directive(struct format *format, const char *at,
                                   struct strbuf *warnings, struct strbuf *why)
{
	const char *from = at++;
	struct format_item item = {.precision = -1};
	if (*at == '%') {
		add_text(format, at, 1);
		return at + 1;
	}
	for (;; ++at) {
		if (*at == '-')
			item.left = true;
		else if (*at == '0')
			item.zero = true;
		else if (*at == '+')
			item.plus = true;
		else if (*at == ' ')
			item.blank = true;
		else if (*at == '#')
			item.alternate = true;
		else
			break;
	}
	at = parse_number(at, &item.width);
	if (at && *at == '.')
		at = parse_number(at + 1, &item.precision);
	if (!at) {
		strbuf_printf(why, "the width in \"%.20s\" is too large; at most %d", from,
		              WIDTH_MAX);
		return NULL;
	}
	size_t len = (size_t)(at - from) + 1;
	if (!*at) {
		strbuf_printf(why, "\"%s\" at the end of the format; a percent sign is %%%%", from);
		return NULL;
	}
	if (strchr("{[(", *at)) {
		strbuf_printf(why, "the directive \"%.*s\" is reserved for future use", (int)len,
		              from);
		return NULL;
	}
	bool time = strchr("ABCT", *at);
	if (!time && !strchr("abcdDfFgGhHiklmMnpPsStuUyYZ", *at)) {
		warn_of(warnings, "unknown directive", from, len, "; it is printed as it is");
		add_text(format, from, len);
		return at + 1;
	}
	if (time && !at[1]) {
		warn_of(warnings, "the directive", from, len,
		        " must be followed by another character; it is printed as it is");
		add_text(format, from, len);
		return at + 1;
	}
	struct format_item *to = add_item(format, *at);
	if (!to) {
		format->text.failed = true;
		return at + 1;
	}
	item.kind = *at;
	item.time = time ? *++at : '\0';
	*to = item;
	return at + 1;
}

struct format *format_compile(const char *text, struct strbuf *warnings, struct strbuf *why)
{
	struct format *format = calloc(1, sizeof(*format));
	if (!format)
		return NULL;
	while (*text) {
		size_t plain = strcspn(text, "%\\");
		if (plain > 0) {
			add_text(format, text, plain);
			text += plain;
		} else if (*text == '\\') {
			text = parse_escape(format, text, warnings);
			format->flush = !text;
			if (!text)
				break;
		} else {
			text = parse_directive(format, text, warnings, why);
			if (!text) {
				format_free(format);
				return fail_null(EINVAL);
			}
		}
	}
	if (!format->text.failed && !warnings->failed)
		return format;
	format_free(format);
	return fail_null(ENOMEM);
}

void format_free(struct format *format)
{
	if (!format)
		return;
	free(format->items);
	strbuf_destroy(&format->text);
	free(format);
}
