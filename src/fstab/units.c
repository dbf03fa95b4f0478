/* SPDX-License-Identifier: MIT */
#include "fstab/units.h"

#include "base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** The keys that are looked at: of [Unit], and of [Mount] or [Swap]. */
enum key { SOURCE_PATH, REQUIRES, WANTS, WHAT, WHERE, TYPE, OPTIONS, KEYS };

static const struct {
	const char *word;
	bool own;                /* of [Mount] or [Swap] */
	bool many;
} key_rows[KEYS] = {
	[SOURCE_PATH] = {"SourcePath", false, false},
	[REQUIRES] = {"Requires", false, true},
	[WANTS] = {"Wants", false, true},
	[WHAT] = {"What", true, false},
	[WHERE] = {"Where", true, false},
	[TYPE] = {"Type", true, false},
	[OPTIONS] = {"Options", true, false},
};

/** A value in the text. */
struct value {
	const char *at;          /* NULL: not there */
	size_t n;
};

/** A unit that is read. */
struct reader {
	const char *own;         /* "[Mount]", "[Swap]" */
	struct value values[KEYS];
	bool in_unit, in_own;
	bool check, odd;
};

void units_init(struct units *units)
{
	*units = (struct units){0};
	arena_init(&units->arena);
}

void units_destroy(struct units *units)
{
	free(units->lines);
	arena_destroy(&units->arena);
	*units = (struct units){0};
}

static bool ends(const char *name, const char *tail)
{
	size_t n = strlen(name), k = strlen(tail);
	return n > k && strcmp(name + n - k, tail) == 0;
}

bool units_is_name(const char *name)
{
	return ends(name, ".mount") || ends(name, ".swap");
}

/** Whether a list of units has one of systemd-fsck@.service and its like. */
static bool has_check(const char *list, size_t n)
{
	static const char check[] = "systemd-fsck";
	for (size_t i = 0; i < n; ++i) {
		bool first = i == 0 || list[i - 1] == ' ';
		if (first && n - i >= sizeof(check) - 1 && memcmp(list + i, check, sizeof(check) - 1) == 0)
			return true;
	}
	return false;
}

/** Take "KEY=VALUE". */
static void take_key(struct reader *reader, const char *line, size_t n)
{
	const char *equals = memchr(line, '=', n);
	/* As of a name with a newline in it; or one that goes on in the next line. */
	if (!equals || line[n - 1] == '\\') {
		reader->odd = true;
		return;
	}
	struct value value = {equals + 1, (size_t)(line + n - equals) - 1};
	for (size_t i = 0; i < KEYS; ++i) {
		if (key_rows[i].own != reader->in_own || !word_is(line, (size_t)(equals - line), key_rows[i].word))
			continue;
		reader->odd |= !key_rows[i].many && reader->values[i].at;
		reader->values[i] = value;
		if (key_rows[i].many)
			reader->check |= has_check(value.at, value.n);
	}
}

static void take_line(struct reader *reader, const char *line, size_t n)
{
	if (n == 0 || *line == '#' || *line == ';')
		return;
	if (*line == '[') {
		bool unit = word_is(line, n, "[Unit]"), own = word_is(line, n, reader->own);
		/* Once each, and no other. */
		reader->odd |= (!unit && !own) || (unit && reader->values[SOURCE_PATH].at) || (own && reader->values[WHAT].at);
		reader->in_unit = unit;
		reader->in_own = own;
	} else if (reader->in_unit || reader->in_own) {
		take_key(reader, line, n);
	} else {
		reader->odd = true;
	}
}

/** A value with "%%" as "%"; any other specifier says what we do not know. */
static const char *plain(struct units *units, struct reader *reader, enum key key, const char *otherwise)
{
	struct value value = reader->values[key];
	char *text = value.at ? arena_strndup(&units->arena, value.at, value.n) : NULL;
	if (!value.at)
		return otherwise;
	if (!text)
		return NULL;
	char *to = text;
	for (const char *at = text; *at; ++at) {
		if (*at == '%' && *++at != '%') {
			reader->odd = true;
			--at;
		}
		*to++ = *at;
	}
	*to = '\0';
	return text;
}

int units_add(struct units *units, const char *name, const char *text, size_t len, const char *fstab)
{
	struct reader reader = {.own = ends(name, ".swap") ? "[Swap]" : "[Mount]"};
	bool swap = ends(name, ".swap");
	if (memchr(text, '\0', len))
		return 0;
	for (const char *at = text, *end = text + len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		take_line(&reader, at, (size_t)((newline ? newline : end) - at));
		at = newline ? newline + 1 : end;
	}
	const struct value *of = &reader.values[SOURCE_PATH];
	if (!of->at || !word_is(of->at, of->n, fstab) || !reader.values[WHAT].at || (!swap && !reader.values[WHERE].at))
		return 0;
	if (units->count == units->room) {
		size_t room = units->room ? 2 * units->room : 32;
		struct units_line *more = reallocarray(units->lines, room, sizeof(*more));
		if (!more)
			return -1;
		units->lines = more;
		units->room = room;
	}
	struct units_line line = {
		.source = plain(units, &reader, WHAT, ""), .target = swap ? "none" : plain(units, &reader, WHERE, ""),
		.fstype = swap ? "swap" : plain(units, &reader, TYPE, "auto"), .options = plain(units, &reader, OPTIONS, ""),
		.swap = swap, .check = reader.check,
	};
	if (!line.source || !line.target || !line.fstype || !line.options) {
		errno = ENOMEM;
		return -1;
	}
	line.odd = reader.odd;
	if (!swap && *line.target != '/')
		return 0;
	units->swaps |= swap;
	units->checks |= line.check;
	units->devices |= !swap && strncmp(line.source, "/dev/", 5) == 0;
	units->lines[units->count++] = line;
	return 1;
}
