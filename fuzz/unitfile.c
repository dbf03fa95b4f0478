/* SPDX-License-Identifier: MIT */
/*
 * Any unit, and drop-ins above it.  The input: texts, each up to a NUL; one with a NUL byte
 * is no text, and is tried by itself at the end.
 *
 * A setting is what a line of the file that it names says, without blanks around it; what
 * no later text says stays; a text read once more changes nothing.
 */
#include "lib/fuzz.h"

#include "fstab/unitfile.h"

#include <string.h>

enum { FILES = 4 };

static const char *const names[FILES] = {"/etc/systemd/system/x.mount", "/run/a.conf", "/etc/b.conf", "/etc/c.conf"};

static uint32_t lines_of(const char *text, size_t n)
{
	uint32_t lines = 1;
	for (size_t i = 0; i < n; ++i)
		lines += text[i] == '\n';
	return lines;
}

static bool is_edge(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/** What a value of the last text must be like. */
static void check_value(const struct unitfile_value *value, const char *text, size_t n)
{
	size_t len = value->text ? strlen(value->text) : 0;
	FUZZ_CHECK(!value->text == !value->file && !value->text == !value->line);
	if (!value->text)
		return;
	FUZZ_CHECK(value->line <= lines_of(text, n) && len <= n);
	FUZZ_CHECK(len > 0 && !is_edge(value->text[0]) && !is_edge(value->text[len - 1]) && !strchr(value->text, '\n'));
	FUZZ_CHECK(!value->odd || memchr(text, '%', n));
}

static bool is_same(const struct unitfile_value *a, const struct unitfile_value *b)
{
	return a->file == b->file && a->line == b->line && a->odd == b->odd && (!a->text || strcmp(a->text, b->text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	struct unitfile unit = {0};
	struct arena arena;
	arena_init(&arena);
	for (int i = 0; i < FILES; ++i) {
		size_t n;
		const char *text = fuzz_until(&in, '\0', &n);
		struct unitfile before = unit, again;
		FUZZ_CHECK(unitfile_read(&unit, &arena, names[i], text, n) == 0);
		FUZZ_CHECK(!unit.odd);
		for (int key = 0; key < UNITFILE_KEYS; ++key) {
			const struct unitfile_value *value = &unit.values[key];
			if (value->file == names[i])
				check_value(value, text, n);
			else
				FUZZ_CHECK(!value->text || is_same(value, &before.values[key]));
		}
		again = unit;
		FUZZ_CHECK(unitfile_read(&again, &arena, names[i], text, n) == 0);
		for (int key = 0; key < UNITFILE_KEYS; ++key)
			FUZZ_CHECK(is_same(&again.values[key], &unit.values[key]));
		FUZZ_CHECK(again.conditional == unit.conditional && again.asserted == unit.asserted);
		FUZZ_CHECK(unitfile_read(&again, &arena, "", "", 0) == 0 && again.conditional == unit.conditional);
	}
	struct unitfile whole = {0};
	FUZZ_CHECK(unitfile_read(&whole, &arena, names[0], (const char *)data, size) == 0);
	FUZZ_CHECK(whole.odd == (size && memchr(data, '\0', size)));
	arena_destroy(&arena);
	return 0;
}
