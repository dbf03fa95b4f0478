/* SPDX-License-Identifier: MIT */
/*
 * The lines of an fstab as bytes.  The input is the text of a file.
 *
 * Lines put together are the text again; what is an entry by itself is one in the
 * file, and as libmount has it; fields lie in their line, one behind the other.
 */
#include "lib/fuzz.h"

#include "base/escape.h"
#include "mounts/table_impl.h"
#include "mounts/tablines.h"

#include <stdlib.h>
#include <string.h>

static void check_fields(const struct tabline *line)
{
	const char *at = line->bytes, *end = line->bytes + line->n;
	FUZZ_CHECK(line->nfields <= TABLINE_FIELDS);
	for (unsigned i = 0; i < TABLINE_FIELDS; ++i) {
		const struct tabline_field *field = &line->fields[i];
		FUZZ_CHECK((i < line->nfields) == (field->raw != NULL)
		           && !field->raw == !field->value);
		if (!field->raw)
			continue;
		FUZZ_CHECK(field->n > 0 && field->raw >= at && field->raw + field->n <= end);
		at = field->raw + field->n;
		char *plain = fuzz_string(field->raw, field->n);
		if (i < TABLINE_OPTIONS)
			plain[unescape_octal(plain, plain, strlen(plain))] = '\0';
		FUZZ_SAME(field->value, plain);
		free(plain);
	}
	FUZZ_CHECK(!line->rest || (line->rest > at && line->rest + line->nrest == end));
}

/** Hold the entries against the table that libmount makes of the file. */
static void check_table(const struct tablines *lines)
{
	if (lines->len && memchr(lines->text, '\0', lines->len))
		return;
	struct mount_table *table = table_parse_tabfile(lines->text, lines->len, TABLE_FSTAB);
	FUZZ_CHECK(table);
	size_t next = 0;
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		const struct mount *m = next < table->count ? &table->mounts[next] : NULL;
		bool taken = m && m->line == line->number;
		next += taken;
		FUZZ_CHECK(line->kind != TABLINE_ENTRY || taken);
		FUZZ_CHECK(!taken || line->kind >= TABLINE_ENTRY);
		if (line->kind == TABLINE_ENTRY && !line->why) {
			FUZZ_SAME(tabline_value(line, TABLINE_TARGET), m->point);
			FUZZ_CHECK(m->freq == line->freq && m->passno == line->passno);
		}
	}
	FUZZ_CHECK(next == table->count);
	table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct tablines *lines = tablines_parse(text, size), *cut = tablines_cut(text, size);
	FUZZ_CHECK(lines && cut && lines->count == cut->count);
	size_t at = 0;
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		FUZZ_CHECK(line->bytes == text + at && line->size > 0 && line->number == i + 1);
		FUZZ_CHECK(!memchr(line->bytes, '\n', line->n) && line->size - line->n <= 2);
		FUZZ_CHECK((line->kind == TABLINE_DAMAGED) <= (line->why != NULL));
		FUZZ_CHECK(line->kind <= TABLINE_COMMENT ? line->nfields == 0 && !line->why : true);
		FUZZ_CHECK(cut->lines[i].nfields == line->nfields);
		check_fields(line);
		at += line->size;
	}
	FUZZ_CHECK(at == size);
	FUZZ_CHECK(lines->ended == (size == 0 || text[size - 1] == '\n'));
	check_table(lines);
	tablines_free(lines);
	tablines_free(cut);
	return 0;
}
