/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <string.h>

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

size_t unescape_octal(char *dst, const char *src, size_t n)
{
	size_t len = 0;
	for (size_t i = 0; i < n; ++len) {
		if (src[i] == '\\' && n - i >= 4 && src[i + 1] >= '0' && src[i + 1] <= '3'
		    && is_octal(src[i + 2]) && is_octal(src[i + 3])) {
			dst[len] = (char)((src[i + 1] - '0') << 6 | (src[i + 2] - '0') << 3
			                  | (src[i + 3] - '0'));
			i += 4;
		} else {
			dst[len] = src[i++];
		}
	}
	return len;
}

void escape_octal(struct strbuf *out, const char *str, const char *set)
{
	for (; *str; ++str) {
		unsigned char c = *str;
		if (strchr(set, c)) {
			char octal[4] = {'\\', (char)('0' + (c >> 6)), (char)('0' + ((c >> 3) & 7)),
			                 (char)('0' + (c & 7))};
			strbuf_add(out, octal, sizeof(octal));
		} else {
			strbuf_putc(out, (char)c);
		}
	}
}

size_t utf8_len(const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	if (s[0] == 0)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4 || (s[1] & 0xc0) != 0x80)
		return 0;
	if (s[0] < 0xe0)
		return 2;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)
	    || (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)
	    || (s[2] & 0xc0) != 0x80)
		return 0;
	if (s[0] < 0xf0)
		return 3;
	return (s[3] & 0xc0) == 0x80 ? 4 : 0;
}

bool utf8_valid(const char *str)
{
	while (*str) {
		size_t n = utf8_len(str);
		if (n == 0)
			return false;
		str += n;
	}
	return true;
}

static void put_hex(struct strbuf *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	char hex[4] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
	strbuf_add(out, hex, sizeof(hex));
}

/** Whether a valid sequence is a control character: C0, DEL, or C1. */
static bool is_control(const char *str, size_t n)
{
	unsigned char c = *str;
	return (n == 1 && (c < 0x20 || c == 0x7f))
	       || (n == 2 && c == 0xc2 && (unsigned char)str[1] < 0xa0);
}

void escape_terminal(struct strbuf *out, const char *str)
{
	while (*str) {
		size_t n = utf8_len(str);
		bool hex_like = *str == '\\' && str[1] == 'x';
		if (n == 0 || hex_like || is_control(str, n)) {
			n += n == 0;
			for (size_t i = 0; i < n; ++i)
				put_hex(out, str[i]);
		} else {
			strbuf_add(out, str, n);
		}
		str += n;
	}
}

void escape_json(struct strbuf *out, const char *str)
{
	strbuf_putc(out, '"');
	while (*str) {
		size_t n = utf8_len(str);
		unsigned char c = *str;
		if (n == 0) {
			strbuf_putc(out, '\\');
			put_hex(out, c);
			n = 1;
		} else if (c == '"' || c == '\\') {
			strbuf_putc(out, '\\');
			strbuf_putc(out, (char)c);
		} else if (c < 0x20 || c == 0x7f) {
			strbuf_printf(out, "\\u%04x", c);
		} else {
			strbuf_add(out, str, n);
		}
		str += n;
	}
	strbuf_putc(out, '"');
}

void escape_base64(struct strbuf *out, const char *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *b = (const unsigned char *)bytes;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned v = b[i] << 16 | (left > 1 ? b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0);
		char quad[4] = {digits[v >> 18], digits[(v >> 12) & 63],
		                left > 1 ? digits[(v >> 6) & 63] : '=', left > 2 ? digits[v & 63] : '='};
		strbuf_add(out, quad, sizeof(quad));
	}
}
