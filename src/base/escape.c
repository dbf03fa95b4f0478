/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

size_t unescape_octal(char *dst, const char *src, size_t n)
{
	size_t len = 0;
	for (size_t i = 0; i < n; ++len) {
		if (src[i] == '\\' && n - i >= 4 && (src[i + 1] & ~3) == '0'
		    && (src[i + 2] & ~7) == '0' && (src[i + 3] & ~7) == '0') {
			dst[len] = (char)((src[i + 1] - '0') << 6 | (src[i + 2] - '0') << 3
			                  | (src[i + 3] - '0'));
			i += 4;
		} else {
			dst[len] = src[i++];
		}
	}
	return len;
}

void unescape_octal_add(struct strbuf *out, const char *src, size_t n)
{
	char *to = strbuf_extend(out, n);
	if (!to)
		return;
	out->len -= n - unescape_octal(to, src, n);
	out->data[out->len] = '\0';
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

size_t utf8_cut(const char *str, size_t most)
{
	size_t cut = 0, n;
	for (; str[cut]; cut += n) {
		n = utf8_len(str + cut) ? utf8_len(str + cut) : 1;
		if (n > most - cut)
			break;
	}
	return cut;
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

static void put_octal(struct strbuf *out, unsigned char c)
{
	char octal[4] = {'\\', (char)('0' + (c >> 6)), (char)('0' + ((c >> 3) & 7)),
	                 (char)('0' + (c & 7))};
	strbuf_add(out, octal, sizeof(octal));
}

static void put_code(struct strbuf *out, uint32_t code)
{
	strbuf_printf(out, code > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)code);
}

enum char_kind {
	CHAR_PLAIN,
	CHAR_INVALID,   /* a byte that starts no valid sequence */
	CHAR_CONTROL,   /* C0, DEL, or C1 */
	CHAR_UNSEEN,    /* invisible (zero width, a line separator), or changes the text
	                   direction */
};

/** The kind of the first character of a string.  @n, code [out]  Its bytes and code point. */
static enum char_kind char_kind(const char *str, size_t *n, uint32_t *code)
{
	/* The general categories Cf, Zl and Zp, except visible characters; fillers; U+FFFE and
	   U+FFFF, which XML forbids. */
	static const struct {
		uint32_t from, to;
	} unseen[] = {
		{0x00ad, 0x00ad}, {0x034f, 0x034f}, {0x061c, 0x061c}, {0x115f, 0x1160},
		{0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e},
		{0x2060, 0x206f}, {0x3164, 0x3164}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
		{0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};
	static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	size_t len = utf8_len(str);
	*n = len > 0 ? len : 1;
	*code = (unsigned char)*str & first[len];
	if (len == 0)
		return CHAR_INVALID;
	for (size_t i = 1; i < len; ++i)
		*code = *code << 6 | ((unsigned char)str[i] & 0x3f);
	if (*code < 0x20 || (*code >= 0x7f && *code < 0xa0))
		return CHAR_CONTROL;
	for (size_t i = 0; len > 1 && i < sizeof(unseen) / sizeof(*unseen); ++i) {
		if (*code >= unseen[i].from && *code <= unseen[i].to)
			return CHAR_UNSEEN;
	}
	return CHAR_PLAIN;
}

bool escape_harms(const char *str)
{
	size_t n;
	uint32_t code;
	return char_kind(str, &n, &code) != CHAR_PLAIN;
}

uint32_t escape_hidden(const char *str, char before, size_t *n)
{
	uint32_t code;
	enum char_kind kind = char_kind(str, n, &code);
	bool spelled = (unsigned char)before >= 0x80 && (unsigned char)str[*n] >= 0x80;
	if (spelled && (code == 0x200c || code == 0x200d || code == 0x3000))
		return 0;
	return kind == CHAR_UNSEEN || (kind == CHAR_PLAIN && escape_is_blank(code)) ? code : 0;
}

bool escape_is_blank(uint32_t code)
{
	return code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a)
	       || code == 0x202f || code == 0x205f || code == 0x3000;
}

/** Whether a string starts with an escape of escape_terminal(). */
static bool looks_escaped(const char *str)
{
	if (*str != '\\')
		return false;
	size_t digits = strspn(str + 1 + (str[1] != '\0'), "0123456789abcdef");
	return str[1] == 'x' || (str[1] == 'u' && digits >= 4) || (str[1] == 'U' && digits >= 8);
}

void escape_terminal(struct strbuf *out, const char *str)
{
	uint32_t code;
	for (size_t n; *str; str += n) {
		enum char_kind kind = char_kind(str, &n, &code);
		if (kind == CHAR_UNSEEN)
			put_code(out, code);
		else if (kind == CHAR_PLAIN && !looks_escaped(str))
			strbuf_add(out, str, n);
		else
			for (size_t i = 0; i < n; ++i)
				put_hex(out, str[i]);
	}
}

/** The length of the prefix that escape_raw() leaves unchanged. */
static size_t raw_plain(const char *str, size_t len)
{
	const uint64_t ones = UINT64_MAX / 255, tops = ones << 7;
	size_t n = 0;
	/* Most text is plain: skip eight bytes at a time unless a byte may be below '!',
	   above '~' or a backslash. */
	for (uint64_t word; len - n >= sizeof(word); n += sizeof(word)) {
		memcpy(&word, str + n, sizeof(word));
		uint64_t slash = word ^ ones * '\\';
		if (((word - ones * '!') | (word + ones) | word | (slash - ones)) & tops)
			break;
	}
	while (n < len && str[n] > ' ' && str[n] < 0x7f && str[n] != '\\')
		++n;
	return n;
}

void escape_quoted(struct strbuf *out, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                           "0123456789_./:@%+=,-";
	if (*word && word[strspn(word, safe)] == '\0') {
		strbuf_puts(out, word);
		return;
	}
	strbuf_putc(out, '\'');
	for (; *word; ++word) {
		if (*word == '\'')
			strbuf_puts(out, "'\\''");
		else
			strbuf_putc(out, *word);
	}
	strbuf_putc(out, '\'');
}

void escape_shell(struct strbuf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                            "0123456789_./:@%+=,- ";
	bool harms = false;
	for (const char *at = word; *at && !harms; at += utf8_len(at))
		harms = escape_harms(at) || looks_escaped(at);
	if (!harms) {
		escape_quoted(out, word);
		return;
	}
	/* No quote and no backslash stays as it is: a shell without $'...' sees one word, too. */
	strbuf_puts(out, "$'");
	for (; *word; ++word) {
		if (strchr(plain, *word))
			strbuf_putc(out, *word);
		else
			put_octal(out, (unsigned char)*word);
	}
	strbuf_putc(out, '\'');
}

void escape_raw(struct strbuf *out, const char *str)
{
	for (size_t len = strlen(str);;) {
		size_t n = raw_plain(str, len);
		strbuf_add(out, str, n);
		str += n;
		len -= n;
		if (len == 0)
			break;
		put_hex(out, *str++);
		--len;
	}
}

bool escape_unseen(struct strbuf *out, const char *str)
{
	const char *from = str;
	bool any = false;
	uint32_t code;
	for (size_t n; *str; str += n) {
		n = 1;
		if ((unsigned char)*str < 0xc2 || char_kind(str, &n, &code) != CHAR_UNSEEN)
			continue;
		strbuf_add(out, from, (size_t)(str - from));
		put_code(out, code);
		from = str + n;
		any = true;
	}
	if (any)
		strbuf_puts(out, from);
	return any;
}

void escape_octal(struct strbuf *out, const char *str, const char *set, bool terminal)
{
	uint32_t code;
	for (size_t n; *str; str += n) {
		n = 1;
		if (!strchr(set, *str) && !(terminal && char_kind(str, &n, &code) != CHAR_PLAIN))
			strbuf_add(out, str, n);
		else
			for (size_t i = 0; i < n; ++i)
				put_octal(out, str[i]);
	}
}

void escape_first_field(struct strbuf *out, const char *str, const char *set, bool terminal)
{
	if (*str == '#' && !strchr(set, '#'))
		put_octal(out, *str++);
	escape_octal(out, str, set, terminal);
}

/** The length of the ASCII prefix that needs no escape in JSON. */
static size_t json_plain(const char *str)
{
	size_t n = 0;
	for (unsigned char c; (c = str[n]) >= 0x20 && c < 0x7f && c != '"' && c != '\\';)
		++n;
	return n;
}

bool escape_json(struct strbuf *out, const char *str)
{
	bool valid = true;
	strbuf_putc(out, '"');
	for (;;) {
		size_t plain = json_plain(str);
		strbuf_add(out, str, plain);
		str += plain;
		if (!*str)
			break;
		size_t n;
		uint32_t code;
		enum char_kind kind = char_kind(str, &n, &code);
		if (kind == CHAR_INVALID) {
			valid = false;
			strbuf_putc(out, '\\');
			put_hex(out, *str);
		} else if (*str == '"' || *str == '\\') {
			strbuf_putc(out, '\\');
			strbuf_putc(out, *str);
		} else if (kind == CHAR_PLAIN) {
			strbuf_add(out, str, n);
		} else if (code > 0xffff) {
			code -= 0x10000;
			strbuf_printf(out, "\\u%04x\\u%04x", 0xd800 | (unsigned)(code >> 10),
			              0xdc00 | (unsigned)(code & 0x3ff));
		} else {
			put_code(out, code);
		}
		str += n;
	}
	strbuf_putc(out, '"');
	return valid;
}

void escape_base64(struct strbuf *out, const char *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                             "0123456789+/";
	const unsigned char *b = (const unsigned char *)bytes;
	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i;
		unsigned v = b[i] << 16 | (left > 1 ? b[i + 1] << 8 : 0)
		             | (left > 2 ? b[i + 2] : 0);
		char quad[4] = {digits[v >> 18], digits[(v >> 12) & 63],
		                left > 1 ? digits[(v >> 6) & 63] : '=',
		                left > 2 ? digits[v & 63] : '='};
		strbuf_add(out, quad, sizeof(quad));
	}
}
