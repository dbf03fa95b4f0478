/* SPDX-License-Identifier: MIT */
/* Lists of options compared: src/mountopts/compare.h, src/mountopts/edit.h. */
#include "unit.h"

#include "mountopts/compare.h"
#include "mountopts/edit.h"
#include "mountopts/options.h"

UNIT_TEST(surplus)
{
	static const struct {
		const char *list, *other, *surplus;
	} rows[] = {
		{"", "", ""},
		{"rw,noatime", "rw,noatime", ""},
		{"rw,noatime,user=joe", "noatime,rw", "user=joe"},
		/* An option is in surplus as often as it occurs more often. */
		{"rw,a,a,a", "rw,a", "a,a"},
		{"a,b,a", "b,a,a", ""},
		/* A value is a part of the option. */
		{"size=1k", "size=2k", "size=1k"},
		{"ro", "", "ro"},
		{"", "ro", ""},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		opt_surplus(rows[i].list, rows[i].other, &out);
		unit_expect(strbuf_str(&out), rows[i].surplus);
	}
}

/** The first hundred options are looked at, in either list. */
UNIT_TEST(surplus_of_many)
{
	STRBUF(list);
	STRBUF(out);
	for (int i = 0; i < 100; ++i)
		strbuf_puts(&list, "x,");
	strbuf_puts(&list, "y");
	opt_surplus(strbuf_str(&list), "x", &out);
	CU_ASSERT_EQUAL(out.len, 2 * 99 - 1);
	CU_ASSERT_PTR_NULL(strchr(strbuf_str(&out), 'y'));
	strbuf_reset(&out);
	opt_surplus("y", strbuf_str(&list), &out);
	unit_expect(strbuf_str(&out), "y");
}

UNIT_TEST(overruled)
{
	static const struct {
		const char *first, *line, *lost;
	} rows[] = {
		{"defaults", "defaults,subvol=@home", ""},
		{"compress=zstd", "compress=zstd,subvol=@home", ""},
		{"defaults", "compress=zstd", "compress=zstd"},
		{"compress=zstd", "compress=lzo", "compress=lzo"},
		/* The kernel shows the level: the same option. */
		{"compress=zstd", "compress=zstd:3", ""},
		{"compress=zstd:3", "compress=zstd:5", "compress=zstd:5"},
		/* A default changes something only if the first line has another value. */
		{"defaults", "commit=30", ""},
		{"commit=10", "commit=30", "commit=30"},
		{"nodatacow", "nodatacow", ""},
		{"defaults", "nodatacow", "nodatacow"},
		/* Options of a mount, and for other programs, are not the file system's. */
		{"defaults", "noatime,nofail,x-a,subvolid=5", ""},
		{"defaults", "autodefrag,noatime,flushoncommit", "autodefrag,flushoncommit"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(lost);
		struct arena arena = {0};
		struct opt *opts;
		uint32_t n = opts_read(rows[i].line, opt_next, &arena, &opts);
		opt_overruled("btrfs", rows[i].first, opts, n, &lost);
		unit_expect(strbuf_str(&lost), rows[i].lost);
		arena_destroy(&arena);
	}
}
