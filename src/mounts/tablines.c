/* SPDX-License-Identifier: MIT */
/*
 * This file splits the text into lines; libmount (tabfile.c) then parses those that may be entries,
 * except lines with a NUL or a byte order mark.
 */
#include "mounts/tablines.h"

#include "base/escape.h"
#include "mounts/table_impl.h"

#include <stdlib.h>

static const char MARK[] = "\xef\xbb\xbf";

static const char WHY_NUL[] = "contains a NUL byte";
static const char WHY_MARK[] = "begins with a byte order mark";

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/** Read the next field and skip the blanks before it.  @return whether there is one. */
static bool next_field(const char **at, const char *end, struct tabline_field *field)
{
	while (*at < end && is_blank(**at))
		++*at;
	field->raw = *at;
	while (*at < end && !is_blank(**at))
		++*at;
	field->n = (size_t)(*at - field->raw);
	return field->n > 0;
}

/** Decode a field.  @return 0, or -1 (ENOMEM). */
static int decode(struct tablines *lines, struct tabline_field *field, enum tabline_place place)
{
	char *value = arena_strndup(&lines->arena, field->raw, field->n);
	if (!value)
		return -1;
	if (place < TABLINE_OPTIONS)
		value[unescape_octal(value, value, field->n)] = '\0';
	field->value = value;
	return 0;
}

/** The number in a field, as libmount reads it; -1: not a number. */
static int number_of(const struct tabline_field *field)
{
	if (!field->raw)
		return -1;
	char *end;
	errno = 0;
	long number = strtol(field->value, &end, 10);
	bool valid = !*end && end != field->value && !errno && number >= 0 && number <= INT_MAX;
	return valid ? (int)number : -1;
}

/** Split a line that is neither blank nor a comment.  @return 0, or -1 (ENOMEM). */
static int split_fields(struct tablines *lines, struct tabline *line)
{
	const char *at = line->bytes, *end = line->bytes + line->n;
	if (line->number == 1 && lines->mark)
		at += sizeof(MARK) - 1;
	for (unsigned i = 0; i < TABLINE_FIELDS && next_field(&at, end, &line->fields[i]); ++i) {
		if (decode(lines, &line->fields[i], (enum tabline_place)i) != 0)
			return -1;
		line->nfields = i + 1;
	}
	for (unsigned i = line->nfields; i < TABLINE_FIELDS; ++i)
		line->fields[i] = (struct tabline_field){0};
	struct tabline_field rest;
	if (next_field(&at, end, &rest)) {
		line->rest = rest.raw;
		line->nrest = (size_t)(end - rest.raw);
	}
	line->freq = number_of(&line->fields[TABLINE_FREQ]);
	line->passno = number_of(&line->fields[TABLINE_PASSNO]);
	return 0;
}

/** Read the line at an offset.  @return 0, or -1 (ENOMEM). */
static int cut_line(struct tablines *lines, size_t at, struct tabline *line)
{
	const char *bytes = lines->text + at, *newline = memchr(bytes, '\n', lines->len - at);
	line->bytes = bytes;
	line->n = newline ? (size_t)(newline - bytes) : lines->len - at;
	line->size = line->n + (newline != NULL);
	if (line->n > 0 && bytes[line->n - 1] == '\r')
		--line->n;
	line->number = (uint32_t)(line - lines->lines) + 1;
	line->freq = line->passno = -1;

	bool mark = line->number == 1 && lines->mark;
	size_t blanks = 0;
	while (blanks < line->n && is_blank(bytes[blanks]))
		++blanks;
	if (memchr(bytes, '\0', line->n) || mark) {
		line->kind = TABLINE_DAMAGED;
		line->why = mark ? WHY_MARK : WHY_NUL;
	} else if (blanks == line->n) {
		line->kind = TABLINE_BLANK;
	} else if (bytes[blanks] == '#') {
		line->kind = TABLINE_COMMENT;
	} else {
		line->kind = TABLINE_ENTRY;
	}
	return line->kind >= TABLINE_ENTRY ? split_fields(lines, line) : 0;
}

/** Split the text into lines, and find the most frequent line ending.  @return 0, or -1. */
static int cut_lines(struct tablines *lines)
{
	const char *text = lines->text, *end = text + lines->len;
	size_t n = 0, crlf = 0;
	for (const char *at = text; at < end; ++n) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		crlf += newline && newline > at && newline[-1] == '\r';
		at = newline ? newline + 1 : end;
	}
	if (n >= UINT32_MAX)
		return fail(EOVERFLOW);
	lines->lines = calloc(n + 1, sizeof(*lines->lines));
	if (!lines->lines)
		return -1;
	lines->eol = 2 * crlf > n ? "\r\n" : "\n";
	lines->ended = lines->len == 0 || end[-1] == '\n';
	lines->mark = lines->len >= sizeof(MARK) - 1 && memcmp(text, MARK, sizeof(MARK) - 1) == 0;
	for (size_t at = 0; at < lines->len; at += lines->lines[lines->count++].size) {
		if (cut_line(lines, at, &lines->lines[lines->count]) != 0)
			return -1;
	}
	return 0;
}

/** Check the escapes of a field: mount(8) decodes a backslash and three octal digits as one byte.
    @odd [out]  Set if a backslash does not start an escape.
    @return why mount(8) misreads the field, or NULL. */
static const char *check_escapes(const struct tabline_field *field, bool *odd)
{
	const char *end = field->raw + field->n;
	for (const char *at = field->raw; at < end; ++at) {
		unsigned code = 0, digits = 0;
		if (*at != '\\')
			continue;
		for (; digits < 3 && at + 1 + digits < end; ++digits) {
			if (at[1 + digits] < '0' || at[1 + digits] > '7')
				break;
			code = code * 8 + (unsigned)(at[1 + digits] - '0');
		}
		*odd |= digits < 3;
		if (digits < 3)
			continue;
		if (code > 255)
			return "contains an escape beyond \\377, which mount(8) misreads";
		if (code == 0)
			return "contains an escaped NUL byte";
		at += 3;
	}
	return NULL;
}

bool tabline_is_continued(const struct tabline *line)
{
	size_t n = line->n, backslashes = 0;
	while (n > 0 && is_blank(line->bytes[n - 1]))
		--n;
	while (n > backslashes && line->bytes[n - backslashes - 1] == '\\')
		++backslashes;
	return backslashes % 2 == 1 && !line->rest;
}

/** The likely reason why libmount rejects a line. */
static const char *why_refused(const struct tabline *line)
{
	const struct tabline_field *fields = line->fields;
	if (tabline_is_continued(line))
		return "ends in a backslash; a line cannot be continued";
	if (line->nfields == 1)
		return "only one field; at least three are required";
	if (line->nfields == 2)
		return "only two fields; at least three are required";
	if (fields[TABLINE_FREQ].raw && line->freq < 0)
		return "the fifth field (freq) is not a number; is there a blank in the options?";
	if (fields[TABLINE_PASSNO].raw && line->passno < 0)
		return "the sixth field (pass) is not a number";
	return "not a valid line of fstab(5)";
}

/** Why an entry is suspicious, or NULL.
    @odd  A backslash does not start an escape. */
static const char *why_odd(const struct tabline *line, bool odd)
{
	for (size_t i = 0; i < line->n; ++i) {
		unsigned char c = (unsigned char)line->bytes[i];
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return "contains control characters";
	}
	if (odd)
		return "contains a backslash that is not followed by three octal digits";
	const char *target = tabline_value(line, TABLINE_TARGET);
	const char *type = tabline_value(line, TABLINE_FSTYPE);
	if (target && *target != '/' && strcmp(target, "none") != 0
	    && type && strcmp(type, "swap") != 0)
		return "the mount point is not an absolute path";
	if ((line->fields[TABLINE_FREQ].raw && line->freq < 0)
	    || (line->fields[TABLINE_PASSNO].raw && line->passno < 0))
		return "a number is out of range";
	if (line->rest && *line->rest != '#')
		return "there is text after the sixth field";
	/* getmntent(3) ends a line only at LF. */
	if (line->size == line->n + 2 && !line->fields[TABLINE_FREQ].raw)
		return "ends in CR LF; systemd reads the CR as part of the last field";
	return NULL;
}

/** Classify the lines by means of libmount.  @return 0, or -1. */
static int classify(struct tablines *lines)
{
	struct mount_table *table = table_of_lines(lines, TABLE_FSTAB);
	if (!table)
		return -1;
	for (size_t i = 0; i < lines->count; ++i) {
		struct tabline *line = &lines->lines[i];
		bool odd = false;
		if (line->kind < TABLINE_ENTRY || line->why)
			continue;
		if (line->kind == TABLINE_DAMAGED || line->nfields <= TABLINE_FSTYPE)
			line->why = why_refused(line);
		for (unsigned f = 0; f < TABLINE_OPTIONS && !line->why; ++f)
			line->why = check_escapes(&line->fields[f], &odd);
		line->kind = line->why ? TABLINE_DAMAGED : TABLINE_ENTRY;
		if (!line->why)
			line->why = why_odd(line, odd);
	}
	table_free(table);
	return 0;
}

static struct tablines *parse(const char *text, size_t len, bool by_libmount)
{
	struct tablines *lines = calloc(1, sizeof(*lines));
	if (!lines)
		return NULL;
	lines->text = text;
	lines->len = len;
	if (cut_lines(lines) == 0 && (!by_libmount || classify(lines) == 0))
		return lines;
	tablines_free(lines);
	return NULL;
}

struct tablines *tablines_parse(const char *text, size_t len)
{
	return parse(text, len, true);
}

struct tablines *tablines_cut(const char *text, size_t len)
{
	return parse(text, len, false);
}

void tablines_free(struct tablines *lines)
{
	if (!lines)
		return;
	arena_destroy(&lines->arena);
	free(lines->lines);
	free(lines);
}
