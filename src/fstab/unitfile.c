/* SPDX-License-Identifier: MIT */
#include "fstab/unitfile.h"

#include "base/strbuf.h"
#include "base/words.h"

#include <errno.h>
#include <string.h>

/** A text that is read. */
struct reader {
	struct unitfile *unit;
	struct arena *arena;
	const char *file;
	bool in_unit, in_own;    /* in [Unit]; in [Mount], [Automount] or [Swap] */
	bool conditions, asserts;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/** Take blanks off both ends. */
static void trim(const char **at, size_t *n)
{
	for (; *n && is_blank(**at); --*n)
		++*at;
	while (*n && is_blank((*at)[*n - 1]))
		--*n;
}

/** Keep a value, with "%%" as "%".  @return whether there was memory. */
static bool keep(struct reader *reader, struct unitfile_value *value, const char *at, size_t n, uint32_t line)
{
	*value = (struct unitfile_value){0};
	if (n == 0)
		return true;
	char *text = arena_strndup(reader->arena, at, n), *to = text;
	if (!text)
		return false;
	for (const char *from = text; *from; ++from) {
		if (*from == '%' && from[1] == '%')
			++from;
		else if (*from == '%')
			value->odd = true;
		*to++ = *from;
	}
	*to = '\0';
	value->text = text;
	value->file = reader->file;
	value->line = line;
	return true;
}

/** Take a line, with what it goes on with.  @return whether there was memory. */
static bool take(struct reader *reader, const char *at, size_t n, uint32_t line)
{
	static const char *const words[UNITFILE_KEYS] = {
		[UNITFILE_WHAT] = "What", [UNITFILE_WHERE] = "Where", [UNITFILE_TYPE] = "Type",
		[UNITFILE_OPTIONS] = "Options", [UNITFILE_PRIORITY] = "Priority",
	};
	static const char *const own[] = {"[Mount]", "[Automount]", "[Swap]"};
	trim(&at, &n);
	if (n && *at == '[') {
		reader->in_unit = word_is(at, n, "[Unit]");
		reader->in_own = WORD_OF(at, n, own);
		return true;
	}
	const char *equals = memchr(at, '=', n);
	if (!equals)
		return true;
	const char *value = equals + 1;
	size_t name = (size_t)(equals - at), rest = n - name - 1;
	trim(&at, &name);
	trim(&value, &rest);
	if (reader->in_unit && name > 9 && memcmp(at, "Condition", 9) == 0)
		reader->conditions = rest > 0;   /* an empty one takes all back */
	else if (reader->in_unit && name > 6 && memcmp(at, "Assert", 6) == 0)
		reader->asserts = rest > 0;
	for (size_t i = 0; reader->in_own && i < UNITFILE_KEYS; ++i) {
		if (word_is(at, name, words[i]))
			return keep(reader, &reader->unit->values[i], value, rest, line);
	}
	return true;
}

int unitfile_read(struct unitfile *unit, struct arena *arena, const char *file, const char *text, size_t len)
{
	struct reader reader = {.unit = unit, .arena = arena, .file = file, .conditions = unit->conditional, .asserts = unit->asserted};
	struct strbuf whole;
	uint32_t number = 0, first = 0;
	bool good = true, goes_on = false;
	if (memchr(text, '\0', len)) {
		unit->odd = true;
		return 0;
	}
	strbuf_init(&whole);
	for (const char *at = text, *end = text + len; at < end && good;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
		size_t n = (size_t)((newline ? newline : end) - at), blanks = 0;
		++number;
		while (blanks < n && is_blank(at[blanks]))
			++blanks;
		/* A comment in what goes on is passed over, and that goes on behind it. */
		if (blanks < n && (at[blanks] == '#' || at[blanks] == ';')) {
			at = next;
			continue;
		}
		if (!goes_on)
			first = number;
		n -= n && at[n - 1] == '\r';
		goes_on = n && at[n - 1] == '\\';
		strbuf_add(&whole, at, n - goes_on);
		if (goes_on) {
			strbuf_putc(&whole, ' ');
		} else {
			good = !whole.failed && take(&reader, strbuf_str(&whole), whole.len, first);
			strbuf_reset(&whole);
		}
		at = next;
	}
	if (good && whole.len)
		good = !whole.failed && take(&reader, strbuf_str(&whole), whole.len, first);
	strbuf_destroy(&whole);
	unit->conditional = reader.conditions;
	unit->asserted = reader.asserts;
	if (!good)
		errno = ENOMEM;
	return good ? 0 : -1;
}
