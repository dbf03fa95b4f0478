/* SPDX-License-Identifier: MIT */
/*
 * The escaping dialects: what is encoded can be decoded, and nothing that is
 * forbidden is left in it.  The input is a name, any bytes.
 */
#include "lib/fuzz.h"
#include "lib/json.h"

#include "base/escape.h"

#include <libmount.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit = c ? strchr(digits, c) : NULL;
	return digit ? (int)(digit - digits) : -1;
}

/** Decode every \xhh. */
static char *decode_hex(const char *text)
{
	char *out = fuzz_alloc(strlen(text) + 1), *at = out;
	while (*text) {
		/* The digits of \xhh, of \uhhhh and of \Uhhhhhhhh. */
		size_t n = *text != '\\' ? 0 : text[1] == 'x' ? 2 : text[1] == 'u' ? 4
		           : text[1] == 'U' ? 8 : 0;
		uint32_t code = 0;
		size_t i = 0;
		for (; i < n && hex_digit(text[2 + i]) >= 0; ++i)
			code = code << 4 | (uint32_t)hex_digit(text[2 + i]);
		if (n == 0 || i < n) {
			*at++ = *text++;
			continue;
		}
		text += 2 + n;
		if (n == 2 || code < 0x80) {
			*at++ = (char)code;
			continue;
		}
		static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
		int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
		*at++ = (char)(lead[more] | code >> 6 * more);
		while (more-- > 0)
			*at++ = (char)(0x80 | (code >> 6 * more & 0x3f));
	}
	*at = '\0';
	return out;
}

/** Octal: of each dialect, and decoding of anything. */
static void try_octal(const char *name)
{
	static const char *const sets[] = {ESCAPE_PATH, ESCAPE_SOURCE};
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); ++i) {
		struct strbuf out;
		strbuf_init(&out);
		escape_octal(&out, name, sets[i], false);
		const char *text = strbuf_str(&out);
		for (const char *c = text; *c; ++c)
			FUZZ_CHECK(*c == '\\' || !strchr(sets[i], *c));
		char *back = fuzz_alloc(out.len + 1);
		back[unescape_octal(back, text, out.len)] = '\0';
		FUZZ_SAME(back, name);
		free(back);

		/* libmount reads what the kernel writes: it has to agree. */
		char *mangled = mnt_mangle(name), *plain = mnt_unmangle(text);
		FUZZ_CHECK(mangled && (plain || !*name));
		FUZZ_SAME(plain ? plain : "", name);
		back = fuzz_alloc(strlen(mangled) + 1);
		back[unescape_octal(back, mangled, strlen(mangled))] = '\0';
		FUZZ_SAME(back, name);
		free(back);
		free(mangled);
		free(plain);
		strbuf_destroy(&out);
	}
}

static void try_unescape(const char *bytes, size_t n)
{
	char *out = fuzz_alloc(n), *same = fuzz_alloc(n);
	size_t len = unescape_octal(out, bytes, n);
	FUZZ_CHECK(len <= n);
	if (n)
		memcpy(same, bytes, n);
	FUZZ_CHECK(unescape_octal(same, same, n) == len && memcmp(same, out, len) == 0);
	if (!n || !memchr(bytes, '\\', n))
		FUZZ_CHECK(len == n && (n == 0 || memcmp(out, bytes, n) == 0));
	free(out);
	free(same);
}

static void try_terminal(const char *name)
{
	struct strbuf out;
	strbuf_init(&out);
	escape_terminal(&out, name);
	const char *text = strbuf_str(&out);
	FUZZ_CHECK(fuzz_is_printable(text, out.len) && !strchr(text, '\n'));
	char *back = decode_hex(text);
	FUZZ_SAME(back, name);
	free(back);
	/* What takes no harm is left alone. */
	bool plain = true;
	for (const char *c = name; *c; ++c)
		plain = plain && *c >= ' ' && *c < 0x7f && *c != '\\';
	if (plain)
		FUZZ_SAME(text, name);
	strbuf_destroy(&out);
}

/** In JSON, what is no UTF-8 is shown by \xhh; all else comes back. */
static void try_json(const char *name)
{
	struct strbuf out, want;
	strbuf_init(&out);
	strbuf_init(&want);
	escape_json(&out, name);
	struct json *value = json_read(strbuf_str(&out), out.len);
	FUZZ_CHECK(value && value->type == JSON_STRING);
	for (const char *at = name; *at;) {
		size_t n = 4;
		while (n > 0 && (strnlen(at, n) < n || !utf8_len(at) || utf8_len(at) != n))
			--n;
		if (n == 0)
			strbuf_printf(&want, "\\x%02x", (unsigned char)*at++);
		strbuf_add(&want, at, n);
		at += n;
	}
	FUZZ_SAME(value->text, strbuf_str(&want));
	FUZZ_CHECK(utf8_valid(value->text));
	if (utf8_valid(name))
		FUZZ_SAME(value->text, name);
	json_free(value);
	strbuf_destroy(&out);
	strbuf_destroy(&want);
}

static void try_base64(const char *bytes, size_t n)
{
	static const char digits[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	struct strbuf out;
	strbuf_init(&out);
	escape_base64(&out, bytes, n);
	FUZZ_CHECK(out.len == (n + 2) / 3 * 4);
	uint32_t bits = 0;
	size_t got = 0;
	for (size_t i = 0; i < out.len; ++i) {
		const char *digit = strchr(digits, out.data[i]);
		bool padding = out.data[i] == '=';
		FUZZ_CHECK(padding ? i + 2 >= out.len : digit != NULL);
		bits = bits << 6 | (padding ? 0 : (uint32_t)(digit - digits));
		if (i % 4 != 3)
			continue;
		for (int k = 16; k >= 0 && got < n; k -= 8, ++got)
			FUZZ_CHECK((uint8_t)bytes[got] == (uint8_t)(bits >> k));
		bits = 0;
	}
	FUZZ_CHECK(got == n);
	strbuf_destroy(&out);
}

static void try_utf8(const char *name)
{
	/* fuzz_is_printable() refuses control characters beside what is invalid. */
	bool control = false;
	for (const char *c = name; *c; ++c)
		control |= ((unsigned char)*c < 0x20 && *c != '\n') || *c == 0x7f;
	for (const char *c = name; *c; ++c)
		control |= (unsigned char)c[0] == 0xc2 && (unsigned char)c[1] >= 0x80
		           && (unsigned char)c[1] < 0xa0;
	if (!control)
		FUZZ_CHECK(utf8_valid(name) == fuzz_is_printable(name, strlen(name)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	char *name = fuzz_string(bytes, size);
	try_octal(name);
	try_unescape(bytes, size);
	try_terminal(name);
	try_json(name);
	try_base64(bytes, size);
	try_utf8(name);
	free(name);
	return 0;
}
