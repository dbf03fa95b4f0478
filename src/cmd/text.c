/* SPDX-License-Identifier: MIT */
#include "cmd/text.h"

#include "base/escape.h"
#include "cmd/cmd.h"
#include "cmd/column.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** A conversion of a format: "%-*.3lu". */
struct conversion {
	bool left;
	int width, precision;     /* -1: none */
	size_t size;              /* bytes of an integer */
	char letter;
};

/** Parse a number in a format, or '*'.  @return -1: none. */
static int read_number(const char **at, va_list *args)
{
	if (**at == '*') {
		++*at;
		return va_arg(*args, int);
	}
	char *end;
	long n = **at >= '0' && **at <= '9' ? strtol(*at, &end, 10) : -1;
	if (n >= 0)
		*at = end;
	return (int)n;
}

/** Parse a conversion after its '%'. */
static struct conversion read_conversion(const char **at, va_list *args)
{
	struct conversion c = {.precision = -1, .size = sizeof(int)};
	for (; **at == '-'; ++*at)
		c.left = true;
	c.width = read_number(at, args);
	if (**at == '.') {
		++*at;
		bool given = **at == '*';
		c.precision = read_number(at, args);
		/* "%.s" means "%.0s"; a negative argument counts as no precision. */
		if (c.precision < 0)
			c.precision = given ? -1 : 0;
	}
	for (; **at && strchr("hlzj", **at); ++*at)
		c.size = **at == 'h' ? sizeof(int)
		         : **at == 'z' ? sizeof(size_t)
		         : **at == 'j' || (*at)[-1] == 'l' ? sizeof(long long) : sizeof(long);
	c.letter = *(*at)++;
	return c;
}

/** Append a string, escaped; at most c->precision bytes of the string. */
static void put_string(struct strbuf *out, const struct conversion *c, const char *string)
{
	struct strbuf cut = {0};
	if (c->precision >= 0) {
		strbuf_add(&cut, string, strnlen(string, (size_t)c->precision));
		string = strbuf_str(&cut);
	}
	escape_terminal(out, string);
	out->failed |= cut.failed;
	strbuf_destroy(&cut);
}

/** Append the next argument, as a conversion requires. */
static void put_argument(struct strbuf *out, const struct conversion *c, va_list *args)
{
	const bool wide = c->size == sizeof(long long);
	switch (c->letter) {
	case 's':
		put_string(out, c, va_arg(*args, const char *));
		break;
	case 'c':
		put_string(out, c, (const char[]){(char)va_arg(*args, int), '\0'});
		break;
	case 'd':
		strbuf_printf(out, "%lld", wide ? va_arg(*args, long long) : va_arg(*args, int));
		break;
	case 'u':
		strbuf_number(out, wide ? va_arg(*args, unsigned long long)
		              : va_arg(*args, unsigned));
		break;
	case 'f':
		strbuf_printf(out, "%.*f", c->precision < 0 ? 6 : c->precision,
		              va_arg(*args, double));
		break;
	default:
		/* Unsupported: fail, so that a test detects the format. */
		out->failed = true;
	}
}

/** Append formatted text, with strings escaped. */
__attribute__((format(printf, 2, 0)))
static void put_formatted(struct strbuf *out, const char *format, va_list list)
{
	va_list args;
	va_copy(args, list);
	while (*format) {
		size_t n = strcspn(format, "%");
		strbuf_add(out, format, n);
		format += n;
		if (*format && format[1] == '%') {
			strbuf_putc(out, '%');
			format += 2;
			continue;
		}
		if (!*format++)
			break;
		const struct conversion c = read_conversion(&format, &args);
		struct strbuf one = {0};
		put_argument(&one, &c, &args);
		for (int pad = c.left ? 0 : c.width; pad > (int)one.len; --pad)
			strbuf_putc(out, ' ');
		strbuf_add(out, strbuf_str(&one), one.len);
		for (int pad = c.left ? c.width : 0; pad > (int)one.len; --pad)
			strbuf_putc(out, ' ');
		out->failed |= one.failed;
		strbuf_destroy(&one);
	}
	va_end(args);
}

/** Append formatted text as text_put() does, with a va_list. */
__attribute__((format(printf, 2, 0)))
static void text_vput(struct text *text, const char *format, va_list args)
{
	put_formatted(&text->people_text, format, args);
}

void text_add(struct strbuf *document, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	put_formatted(document, format, args);
	va_end(args);
}

void text_put(struct text *text, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	text_vput(text, format, args);
	va_end(args);
}

void text_count(struct text *text, uint64_t n, const char *word)
{
	size_t len = strlen(word);
	bool y = n != 1 && word[len - 1] == 'y';
	text_put(text, "%" PRIu64 " %.*s%s", n, (int)(len - y), word,
	         n == 1 ? "" : y ? "ies" : "s");
}

void text_size(struct text *text, uint64_t bytes)
{
	column_size(&text->people_text, bytes);
}

void text_print(struct text *text, FILE *to)
{
	if (to == stderr) {
		print_stderr(&text->people_text);
	} else if (print_buffer(&text->people_text) != 0) {
		message(NULL, "%s", strerror(ENOMEM));
		lose_output();
	}
	*text = (struct text){0};
}

void text_say(FILE *to, const char *format, ...)
{
	struct text text = {0};
	va_list args;
	va_start(args, format);
	text_vput(&text, format, args);
	va_end(args);
	text_print(&text, to);
}

void text_lack(struct text *text, bool nomem)
{
	text->people_text.failed |= nomem;
}

void text_destroy(struct text *text)
{
	strbuf_destroy(&text->people_text);
}
