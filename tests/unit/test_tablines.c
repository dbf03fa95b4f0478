/* SPDX-License-Identifier: MIT */
/* The lines of an fstab. */
#include "unit.h"

#include "mounts/tablines.h"

static struct tablines *parse(const char *text, size_t len)
{
	struct tablines *lines = tablines_parse(text, len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	size_t at = 0;
	for (size_t i = 0; i < lines->count; ++i) {
		CU_ASSERT_PTR_EQUAL(lines->lines[i].bytes, text + at);
		CU_ASSERT_EQUAL(lines->lines[i].number, i + 1);
		CU_ASSERT(lines->lines[i].n <= lines->lines[i].size);
		at += lines->lines[i].size;
	}
	CU_ASSERT_EQUAL(at, len);
	return lines;
}

/** Whether one line is of this kind, for that reason. */
static bool is(const char *line, size_t n, enum tabline_kind kind, const char *why)
{
	struct tablines *lines = parse(line, n);
	bool ok = lines->count == 1 && lines->lines[0].kind == kind && !why == !lines->lines[0].why
	          && (!why || strstr(lines->lines[0].why, why));
	if (!ok)
		printf("  %s: kind %d, \"%s\"\n", line, (int)lines->lines[0].kind,
		       lines->lines[0].why ? lines->lines[0].why : "");
	tablines_free(lines);
	return ok;
}

#define IS(line, kind, why) CU_ASSERT(is(line, sizeof(line) - 1, kind, why))

UNIT_TEST(kinds_of_lines)
{
	IS("\n", TABLINE_BLANK, NULL);
	IS(" \t\r\n", TABLINE_BLANK, NULL);
	IS("# x\n", TABLINE_COMMENT, NULL);
	IS(" \t#x", TABLINE_COMMENT, NULL);
	IS("/dev/sda1 / ext4\n", TABLINE_ENTRY, NULL);
	IS("\t/dev/sda1\t/\text4 defaults 0 1 # root\r\n", TABLINE_ENTRY, NULL);
	IS("/dev/sda1 / ext4 username=DOM\\user 0 1", TABLINE_ENTRY, NULL);
	IS("/dev/x none swap sw 0 0", TABLINE_ENTRY, NULL);
	IS("/dev/x swap swap sw 0 0", TABLINE_ENTRY, NULL);
	IS("/swap\\134file none swap", TABLINE_ENTRY, NULL);
}

UNIT_TEST(damaged_lines)
{
	IS("/dev/sda1\n", TABLINE_DAMAGED, "one field");
	IS("/dev/sda1 /\n", TABLINE_DAMAGED, "two fields");
	IS("/dev/sda1 / ext4 rw, noatime 0 1\n", TABLINE_DAMAGED, "freq");
	IS("/dev/sda1 / ext4 rw # root\n", TABLINE_DAMAGED, "freq");
	IS("/dev/sda1 / ext4 rw 0 x\n", TABLINE_DAMAGED, "pass");
	IS("/dev/sda1 / ex\0t4 rw 0 1\n", TABLINE_DAMAGED, "NUL byte");
	IS("\0\0\0\0", TABLINE_DAMAGED, "NUL byte");
	IS("#\0\n", TABLINE_DAMAGED, "NUL byte");
	IS("\xef\xbb\xbf# x\n", TABLINE_DAMAGED, "byte order mark");
	IS("\xef\xbb\xbf", TABLINE_DAMAGED, "byte order mark");
	IS("/dev/sda1 /a\\000b ext4\n", TABLINE_DAMAGED, "escaped NUL");
	IS("/dev/sda1 /a\\440b ext4\n", TABLINE_DAMAGED, "beyond");
	IS("/dev/sda1 /a\\134400b ext4\n", TABLINE_ENTRY, NULL);
	IS("/dev/sda1 /a\\134000b ext4\n", TABLINE_ENTRY, NULL);
}

UNIT_TEST(odd_entries)
{
	IS("/dev/sda1 /a\\04 ext4\n", TABLINE_ENTRY, "backslash");
	IS("/dev/sda1 /a\\x20b ext4\n", TABLINE_ENTRY, "backslash");
	IS("/dev/sda1 a ext4\n", TABLINE_ENTRY, "absolute");
	IS("/dev/sda1 /a ext4 rw 0 1 2\n", TABLINE_ENTRY, "sixth");
	IS("/dev/sda1 / ext4 rw 0 99999999999\n", TABLINE_ENTRY, "range");
	IS("/dev/sda1 /a\x01 ext4\n", TABLINE_ENTRY, "control");
	IS("/dev/sda1 /a ext4 rw\r 0 1\n", TABLINE_ENTRY, "control");
	IS("/dev/sda1 /a ext4 noauto\r\n", TABLINE_ENTRY, "CR LF");
	IS("/dev/sda1 /a ext4 noauto 0 0\r\n", TABLINE_ENTRY, NULL);
}

UNIT_TEST(fields_and_the_rest_of_a_line)
{
	static const char text[] = "  UUID=x\t/my\\040dir  ext4 rw,x\\054y 0\t2  # mine \r\n\xff";
	struct tablines *lines = parse(text, sizeof(text) - 1);
	CU_ASSERT_EQUAL_FATAL(lines->count, 2);
	CU_ASSERT_FALSE(lines->ended);
	const struct tabline *line = lines->lines;
	CU_ASSERT_EQUAL(line->nfields, 6);
	CU_ASSERT_STRING_EQUAL(tabline_value(line, TABLINE_SOURCE), "UUID=x");
	CU_ASSERT_STRING_EQUAL(tabline_value(line, TABLINE_TARGET), "/my dir");
	CU_ASSERT_EQUAL(line->fields[TABLINE_TARGET].n, 10);
	CU_ASSERT_STRING_EQUAL(tabline_value(line, TABLINE_OPTIONS), "rw,x\\054y");
	CU_ASSERT_EQUAL(line->freq, 0);
	CU_ASSERT_EQUAL(line->passno, 2);
	CU_ASSERT(line->nrest == 7 && memcmp(line->rest, "# mine ", 7) == 0);
	/* Fields of a damaged line. */
	CU_ASSERT_EQUAL(lines->lines[1].kind, TABLINE_DAMAGED);
	CU_ASSERT_STRING_EQUAL(tabline_value(&lines->lines[1], TABLINE_SOURCE), "\xff");
	CU_ASSERT_PTR_NULL(tabline_value(&lines->lines[1], TABLINE_TARGET));
	tablines_free(lines);

	static const char marked[] = "\xef\xbb\xbf/dev/x / ext4\n/dev/y /y ext4\n";
	lines = parse(marked, sizeof(marked) - 1);
	CU_ASSERT(lines->mark);
	CU_ASSERT_STRING_EQUAL(tabline_value(lines->lines, TABLINE_SOURCE), "/dev/x");
	CU_ASSERT_EQUAL(lines->lines[1].kind, TABLINE_ENTRY);
	tablines_free(lines);
}

UNIT_TEST(ends_of_lines)
{
	static const struct {
		const char *text, *eol;
		size_t count;
		bool ended;
	} rows[] = {
		{"", "\n", 0, true}, {"a", "\n", 1, false}, {"\n\n", "\n", 2, true},
		{"a\r\nb\r\nc", "\r\n", 3, false}, {"a\r\nb\n\n", "\n", 3, true},
		{"\r\n", "\r\n", 1, true},
		{"a\rb", "\n", 1, false},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct tablines *lines = parse(rows[i].text, strlen(rows[i].text));
		CU_ASSERT_EQUAL(lines->count, rows[i].count);
		CU_ASSERT_STRING_EQUAL(lines->eol, rows[i].eol);
		CU_ASSERT_EQUAL(lines->ended, rows[i].ended);
		tablines_free(lines);
	}
}

/** Refused lines do not change the kind of their neighbours. */
UNIT_TEST(many_refused_lines)
{
	enum { LINES = 30000 };
	static const char *const texts[] = {"/dev/x /x ext4 rw 0 0\n", "garbage\n", "#\n",
	                                    "a\0b c d\n"};
	static const size_t sizes[] = {22, 8, 2, 8};
	char *text = malloc(LINES * 22), *at = text;
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (size_t i = 0; i < LINES; ++i, at += sizes[(i - 1) % 4])
		memcpy(at, texts[i % 4], sizes[i % 4]);
	struct tablines *lines = parse(text, (size_t)(at - text));
	CU_ASSERT_EQUAL_FATAL(lines->count, LINES);
	size_t wrong = 0;
	static const enum tabline_kind kinds[] = {TABLINE_ENTRY, TABLINE_DAMAGED, TABLINE_COMMENT,
	                                          TABLINE_DAMAGED};
	for (size_t i = 0; i < LINES; ++i)
		wrong += lines->lines[i].kind != kinds[i % 4];
	CU_ASSERT_EQUAL(wrong, 0);
	tablines_free(lines);
	free(text);
}

UNIT_TEST(only_cut_into_fields)
{
	static const char text[] = "/dev/dsk/0 /\tufs rw suid 12345\n#x\n\n/a\n";
	struct tablines *lines = tablines_cut(text, sizeof(text) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	CU_ASSERT_EQUAL(lines->count, 4);
	CU_ASSERT_EQUAL(lines->lines[0].kind, TABLINE_ENTRY);
	CU_ASSERT_EQUAL(lines->lines[0].freq, -1);
	CU_ASSERT_EQUAL(lines->lines[0].passno, 12345);
	CU_ASSERT_EQUAL(lines->lines[3].kind, TABLINE_ENTRY);
	CU_ASSERT_EQUAL(lines->lines[3].nfields, 1);
	tablines_free(lines);
}
