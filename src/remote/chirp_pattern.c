/* SPDX-License-Identifier: MIT */
/*
 * Convert patterns for a Chirp server.  The server divides a pattern at each '|', and matches each
 * alternative with the path and with each rest of the path after a slash, by fnmatch(3) with
 * FNM_PATHNAME, in an unknown locale.
 *
 * Text that has a different meaning for the server is replaced by a wildcard that matches at least
 * the same names: `?`, which may match a single byte there, becomes `*`; white space, which would
 * end the pattern, becomes `?`; invalid bytes become `*`; and so does a component with a bracket
 * other than [a-z0-9].
 */
#include "remote/chirp_impl.h"

#include "base/array.h"
#include "base/casefold.h"
#include "base/escape.h"
#include "base/fail.h"
#include "base/words.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>

enum {
	LEVELS = 8,         /* maximum number of components that are added before an unanchored
	                       pattern for a maximum depth: "x" becomes "/x|/ * /x|..." */
	COMBINATIONS = 64,  /* maximum number of combinations of the braces of an alternative */
};

/** Get the length of the slash at text[at]: 1; 2 if it is escaped; 0 if text[at] is not a slash. */
static size_t pattern_slash(const char *text, size_t at, size_t to)
{
	if (at < to && text[at] == '/')
		return 1;
	return to - at > 1 && text[at] == '\\' && text[at + 1] == '/' ? 2 : 0;
}

/** The state of the conversion of an alternative. */
struct put {
	struct strbuf *out;
	unsigned flags;          /* enum pattern_flags */
	size_t start;            /* offset in `out` of the current component */
	bool star;               /* `out` ends with `*` */
	bool exact;
};

static void put_star(struct put *put, bool exact)
{
	put->exact &= exact;
	if (!put->star)
		strbuf_putc(put->out, '*');
	put->star = true;
}

/** Append a literal character.
    @return the length of the character. */
static size_t put_literal(struct put *put, const char *at)
{
	unsigned char c = (unsigned char)*at;
	size_t n = utf8_len(at);
	if (n == 0) {
		put_star(put, false);
		return 1;
	}
	/* A letter with more than one other form, such as k (K and the Kelvin sign), becomes
	   `*`. */
	uint32_t others[CASEFOLD_OTHERS];
	if (put->flags & PATTERN_NOCASE
	    && (n > 1 || casefold_others((uint32_t)tolower(c), others) > 1)) {
		put_star(put, false);
		return n;
	}
	put->star = false;
	if (n > 1) {
		strbuf_add(put->out, at, n);
		put->exact = false;
	} else if (!isgraph(c) || c == '|') {
		strbuf_putc(put->out, '?');
		put->exact = false;
	} else if (isalpha(c) && put->flags & PATTERN_NOCASE) {
		strbuf_printf(put->out, "[%c%c]", tolower(c), toupper(c));
	} else {
		if (strchr("*?[]\\", c))
			strbuf_putc(put->out, '\\');
		strbuf_putc(put->out, (char)c);
	}
	return n;
}

/** Append a bracket of ASCII letters and digits, with its ranges expanded to single characters,
    whose meaning does not depend on the locale.
    @return the length of the bracket; 0: a different bracket. */
static size_t put_set(struct put *put, const char *at, size_t n)
{
	size_t i = 1, before = put->out->len;
	if (put->flags & PATTERN_NOCASE)
		return 0;
	strbuf_putc(put->out, '[');
	for (; i < n && isalnum((unsigned char)at[i]); ++i) {
		bool range = n - i > 2 && at[i + 1] == '-';
		int c = (unsigned char)at[i], to = (unsigned char)at[i + (range ? 2 : 0)];
		for (; c <= to && isalnum(c); ++c)
			strbuf_putc(put->out, (char)c);
		if (c <= to)
			break;
		i += range ? 2 : 0;
	}
	if (i == 1 || i == n || at[i] != ']') {
		put->out->len = before;
		return 0;
	}
	strbuf_putc(put->out, ']');
	put->star = false;
	return i + 1;
}

static void put_component(struct put *put, const char *text, size_t n)
{
	put->start = put->out->len;
	put->star = false;
	for (size_t i = 0; i < n;) {
		size_t used = 1;
		if (text[i] == '\\' && n - i > 1)
			used += put_literal(put, text + i + 1);
		else if (text[i] == '*')
			put_star(put, true);
		else if (text[i] == '?')
			put_star(put, false);
		else if (text[i] == '[')
			used = put_set(put, text + i, n - i);
		else
			used = put_literal(put, text + i);
		if (used == 0) {
			put->out->len = put->start;
			put->star = false;
			put_star(put, false);
			return;
		}
		i += used;
	}
}

/** Limits of the conversion of an alternative. */
struct limits {
	unsigned flags, levels;  /* flags: enum pattern_flags; levels: as in struct talk_request */
	size_t most;
	unsigned left;           /* number of combinations of braces that may still be added */
};

/** Append an alternative without braces.
    @return whether the server returns only paths that match. */
static bool put_alternative(struct strbuf *out, const char *text, size_t n,
                            const struct limits *limits)
{
	struct strbuf names = {0};
	struct put put = {.out = &names, .flags = limits->flags, .exact = true};
	size_t start = out->len, at = 0, slash;
	unsigned count = 0;
	bool anchored = false;
	if ((slash = pattern_slash(text, 0, n))) {
		anchored = true;
		at = slash;
	}
	for (;;) {
		size_t end = at;
		while (end < n && !(slash = pattern_slash(text, end, n)))
			end += text[end] == '\\' && n - end > 1 ? 2 : 1;
		if (limits->flags & PATTERN_EXTENDED && word_is(text + at, end - at, "**")) {
			/* Convert only the components after `**`, which match at any depth. */
			strbuf_reset(&names);
			strbuf_puts(&names, end < n ? "" : "*");
			count = end < n ? 0 : 1;
			anchored = put.exact = false;
		} else {
			strbuf_puts(&names, count++ ? "/" : "");
			put_component(&put, text + at, end - at);
			/* For the server a first component `*` also matches the empty text before
			   the first slash. */
			put.exact &= end == n || strcmp(strbuf_str(&names), "*") != 0;
		}
		if (end == n)
			break;
		at = end + slash;
	}
	out->failed |= names.failed;
	unsigned levels = anchored || limits->levels <= count || limits->levels - count > LEVELS
	                  ? 0 : limits->levels - count;
	for (unsigned level = 0; level < levels; ++level) {
		strbuf_puts(out, level ? "|/" : "/");
		for (unsigned i = 0; i < level; ++i)
			strbuf_puts(out, "*/");
		strbuf_add(out, strbuf_str(&names), names.len);
	}
	if (levels == 0 || out->len - start > limits->most) {
		out->len = start;
		strbuf_puts(out, anchored ? "/" : "");
		strbuf_add(out, strbuf_str(&names), names.len);
	}
	if (out->len - start > limits->most) {
		out->len = start;
		strbuf_putc(out, '*');
		put.exact = false;
	}
	strbuf_destroy(&names);
	return put.exact && limits->levels == 0;
}

/** Find the first brace with alternatives.
    @open, close [out]  The offsets of the brace and its end; *open == n: no such brace.
    @return false: a bracket precedes, whose braces would be ordinary characters. */
static bool find_braces(const char *text, size_t n, size_t *open, size_t *close)
{
	for (size_t i = 0; i < n; ++i) {
		unsigned depth = 0;
		bool comma = false;
		if (text[i] == '[')
			return false;
		for (size_t k = i; text[i] == '{' && k < n; ++k) {
			depth += text[k] == '{';
			comma |= text[k] == ',' && depth == 1;
			if (text[k] == '[')
				return false;
			if (text[k] == '}' && --depth == 0) {
				*open = i;
				*close = k;
				if (comma)
					return true;
				break;
			}
			k += text[k] == '\\';
		}
		i += text[i] == '\\';
	}
	*open = n;
	return true;
}

/** Append an alternative with its braces expanded.
    @start  The offset in `out` of the alternative.
    @exact  Set to false if the server may return paths that do not match.
    @return false: the result is too long, or has too many combinations. */
static bool put_expanded(struct strbuf *out, size_t start, const char *text, size_t n,
                         struct limits *limits, bool *exact)
{
	size_t open = n, close = n;
	bool clear = !(limits->flags & PATTERN_EXTENDED) || find_braces(text, n, &open, &close);
	if (!clear && memchr(text, '{', n))
		return false;
	if (!clear || open == n) {
		if (limits->left == 0)
			return false;
		--limits->left;
		if (n > 0 && out->len > start)
			strbuf_putc(out, '|');
		if (n > 0)
			*exact &= put_alternative(out, text, n, limits);
		return out->len - start <= limits->most;
	}
	struct strbuf whole = {0};
	bool fits = true;
	for (size_t from = open + 1, to; fits && from <= close; from = to + 1) {
		unsigned depth = 0;
		for (to = from; to < close && (depth > 0 || text[to] != ','); ++to) {
			depth += text[to] == '{';
			depth -= text[to] == '}' && depth > 0;
			to += text[to] == '\\';
		}
		strbuf_reset(&whole);
		strbuf_add(&whole, text, open);
		strbuf_add(&whole, text + from, to - from);
		strbuf_add(&whole, text + close + 1, n - close - 1);
		fits = !whole.failed
		       && put_expanded(out, start, strbuf_str(&whole), whole.len, limits, exact);
	}
	strbuf_destroy(&whole);
	return fits;
}

/** Add a part of the pattern.
    @wire  The part for the server; emptied.
    @text  The alternatives of the part, n bytes. */
static int add_part(struct chirp_parts *parts, struct strbuf *wire, const char *text, size_t n,
                    unsigned flags)
{
	if (wire->failed || !ARRAY_ROOM(parts->list, parts->n, &parts->room))
		return fail(ENOMEM);
	struct chirp_part *part = &parts->list[parts->n++];
	*part = (struct chirp_part){.wire = strbuf_take(wire)};
	part->pattern = pattern_compile(text, n, flags, NULL);
	return part->wire && part->pattern ? 0 : fail(ENOMEM);
}

int chirp_parts_init(struct chirp_parts *parts, const char *text, unsigned flags, size_t most,
                     unsigned levels)
{
	struct strbuf wire = {0}, next = {0};
	size_t len = strlen(text), first = 0, last = 0;
	int rc = 0;
	*parts = (struct chirp_parts){.exact = true};
	for (size_t from = 0; rc == 0 && from <= len;) {
		size_t to = from;
		while (to < len && text[to] != '|')
			to += text[to] == '\\' && len - to > 1 ? 2 : 1;
		/* Skip an empty alternative, which matches nothing. */
		if (to > from) {
			struct limits limits = {flags, levels, most, COMBINATIONS};
			strbuf_reset(&next);
			if (!put_expanded(&next, 0, text + from, to - from, &limits,
			                  &parts->exact)) {
				strbuf_reset(&next);
				strbuf_putc(&next, '*');
				parts->exact = false;
			}
			assert(next.failed || next.len <= most);
			if (wire.len > 0 && wire.len + 1 + next.len > most) {
				rc = add_part(parts, &wire, text + first, last - first, flags);
				first = from;
			}
			strbuf_puts(&wire, wire.len ? "|" : "");
			strbuf_add(&wire, strbuf_str(&next), next.len);
			wire.failed |= next.failed;
			assert(wire.failed || wire.len <= most);
			last = to;
		}
		from = to + 1;
	}
	if (rc == 0 && wire.len > 0)
		rc = add_part(parts, &wire, text + first, last - first, flags);
	strbuf_destroy(&wire);
	strbuf_destroy(&next);
	return rc;
}

void chirp_parts_destroy(struct chirp_parts *parts)
{
	for (size_t i = 0; i < parts->n; ++i) {
		free(parts->list[i].wire);
		pattern_free(parts->list[i].pattern);
	}
	free(parts->list);
}

void chirp_put_path(struct strbuf *out, const char *path)
{
	for (const unsigned char *p = (const unsigned char *)path; *p; ++p) {
		if (*p <= ' ' || *p == '%' || *p == '|' || *p >= 0x7f)
			strbuf_printf(out, "%%%02X", *p);
		else
			strbuf_putc(out, (char)*p);
	}
}
