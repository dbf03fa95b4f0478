/* SPDX-License-Identifier: MIT */
/*
 * Patterns for a Chirp server, which divides them at each '|' and matches each alternative and each
 * of its component suffixes by fnmatch(3) with FNM_PATHNAME, in a locale that is unknown.
 *
 * What the server would read in another way is replaced by something that matches more: `?` by `*`,
 * since it may match a byte, white space by `?`, since it would end the pattern, an invalid byte or
 * a bracket other than [a-z0-9] by `*`.
 */
#include "search/chirp_impl.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/fail.h"
#include "base/words.h"

#include <ctype.h>
#include <stdlib.h>

/** The most components that a pattern gets in front: "x" becomes "/x|/ * /x|..." */
enum { LEVELS = 8 };

/** The length of the slash at text[at]: 1, 2 if it is escaped, 0 if it is not a slash. */
static size_t pattern_slash(const char *text, size_t at, size_t to)
{
	if (at < to && text[at] == '/')
		return 1;
	return to - at > 1 && text[at] == '\\' && text[at + 1] == '/' ? 2 : 0;
}

/** An alternative or a component on its way. */
struct put {
	struct strbuf *out;
	size_t start;            /* of the component */
	bool star;               /* it ends in `*` */
	bool exact;
};

static void put_star(struct put *put, bool exact)
{
	put->exact &= exact;
	if (!put->star)
		strbuf_putc(put->out, '*');
	put->star = true;
}

/** Append a character that stands for itself.  @return its length. */
static size_t put_literal(struct put *put, const char *at)
{
	unsigned char c = (unsigned char)*at;
	size_t n = utf8_len(at);
	if (n == 0) {
		put_star(put, false);
		return 1;
	}
	put->star = false;
	if (n > 1) {
		strbuf_add(put->out, at, n);
		put->exact = false;
	} else if (!isgraph(c) || c == '|') {
		strbuf_putc(put->out, '?');
		put->exact = false;
	} else {
		if (strchr("*?[]\\", c))
			strbuf_putc(put->out, '\\');
		strbuf_putc(put->out, (char)c);
	}
	return n;
}

/** Append a bracket of ASCII letters and digits, with its ranges as single characters, which every
    locale reads alike.  @return its length; 0: it is another one. */
static size_t put_set(struct put *put, const char *at, size_t n)
{
	size_t i = 1, before = put->out->len;
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

/** Append an alternative.
    @most, maxdepth  As for chirp_parts_init().
    @return whether the server returns only what matches. */
static bool put_alternative(struct strbuf *out, const char *text, size_t n, size_t most,
                            unsigned maxdepth)
{
	struct strbuf names = {0};
	struct put put = {.out = &names, .exact = true};
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
		if (word_is(text + at, end - at, "**") && end < n) {
			/* The rest matches at any depth. */
			strbuf_reset(&names);
			count = 0;
			anchored = put.exact = false;
		} else {
			strbuf_puts(&names, count++ ? "/" : "");
			put_component(&put, text + at, end - at);
			/* `*` as the first component also matches nothing, before the first
			   slash. */
			put.exact &= end == n || strcmp(strbuf_str(&names), "*") != 0;
		}
		if (end == n)
			break;
		at = end + slash;
	}
	out->failed |= names.failed;
	unsigned levels = anchored || maxdepth < count || maxdepth - count >= LEVELS ? 0
	                  : maxdepth - count + 1;
	for (unsigned level = 0; level < levels; ++level) {
		strbuf_puts(out, level ? "|/" : "/");
		for (unsigned i = 0; i < level; ++i)
			strbuf_puts(out, "*/");
		strbuf_add(out, strbuf_str(&names), names.len);
	}
	if (levels == 0 || out->len - start > most) {
		out->len = start;
		strbuf_puts(out, anchored ? "/" : "");
		strbuf_add(out, strbuf_str(&names), names.len);
	}
	if (out->len - start > most) {
		out->len = start;
		strbuf_putc(out, '*');
		put.exact = false;
	}
	strbuf_destroy(&names);
	return put.exact && maxdepth == 0;
}

/** Add a part.  @wire  Emptied.  @text  Its alternatives. */
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
                     unsigned maxdepth)
{
	struct strbuf wire = {0}, next = {0};
	size_t len = strlen(text), first = 0, last = 0;
	int rc = 0;
	*parts = (struct chirp_parts){.exact = true};
	for (size_t from = 0; rc == 0 && from <= len;) {
		size_t to = from;
		while (to < len && text[to] != '|')
			to += text[to] == '\\' && len - to > 1 ? 2 : 1;
		/* An empty alternative matches nothing. */
		if (to > from) {
			strbuf_reset(&next);
			parts->exact &= put_alternative(&next, text + from, to - from, most,
			                                maxdepth);
			if (wire.len > 0 && wire.len + 1 + next.len > most) {
				rc = add_part(parts, &wire, text + first, last - first, flags);
				first = from;
			}
			strbuf_puts(&wire, wire.len ? "|" : "");
			strbuf_add(&wire, strbuf_str(&next), next.len);
			wire.failed |= next.failed;
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
