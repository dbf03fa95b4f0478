/* SPDX-License-Identifier: MIT */
/*
 * What a unit file and its drop-ins want: the syntax of systemd.syntax(7), and what of it is
 * not known.
 */
#include "unit.h"

#include "base/strbuf.h"
#include "fstab/unitfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Read texts one above the other, and see what comes of them: "WHAT|WHERE|TYPE|OPTIONS|PRIORITY",
    each with "@FILE:LINE" if there is one, "%" behind what is not known; then the flags. */
static void check_at(int number, const char *one, size_t len, const char *other, const char *expected)
{
	struct unitfile unit = {0};
	struct arena arena;
	struct strbuf got;
	arena_init(&arena);
	strbuf_init(&got);
	CU_ASSERT_EQUAL(unitfile_read(&unit, &arena, "a", one, len), 0);
	if (other)
		CU_ASSERT_EQUAL(unitfile_read(&unit, &arena, "b", other, strlen(other)), 0);
	for (size_t i = 0; i < UNITFILE_KEYS; ++i) {
		const struct unitfile_value *value = &unit.values[i];
		CU_ASSERT_TRUE(!value->text == !value->file && !value->text == !value->line);
		strbuf_puts(&got, i ? "|" : "");
		if (value->text)
			strbuf_printf(&got, "%s@%s:%u%s", value->text, value->file, (unsigned)value->line, value->odd ? "%" : "");
	}
	strbuf_printf(&got, "%s%s%s", unit.conditional ? " conditional" : "", unit.asserted ? " asserted" : "", unit.odd ? " odd" : "");
	if (strcmp(strbuf_str(&got), expected) != 0)
		printf("%d: got %s, not %s\n", number, strbuf_str(&got), expected);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&got), expected);
	strbuf_destroy(&got);
	arena_destroy(&arena);
}
#define CHECK(one, expected) check_at(__LINE__, one, sizeof(one) - 1, NULL, expected)
#define CHECK_OVER(one, other, expected) check_at(__LINE__, one, sizeof(one) - 1, other, expected)

static void test_values(void)
{
	CHECK("", "||||");
	CHECK("[Mount]\nWhat=/dev/sdb1\nWhere=/x\nType=ext4\nOptions=noatime,nodev\n",
	      "/dev/sdb1@a:2|/x@a:3|ext4@a:4|noatime,nodev@a:5|");
	CHECK("[Swap]\nWhat=/swap\nPriority=5", "/swap@a:2||||5@a:3");
	CHECK("[Automount]\nWhere=/x\nTimeoutIdleSec=5\n", "|/x@a:2|||");
	/* Of other sections, of none, and what is no setting. */
	CHECK("What=/no\n[Install]\nWhat=/no\n[X-Mount]\nWhat=/no\n[Mount]\nWhat\n=x\nWhatever=/no\nwhat=/no\nWhere=/x\n[Unit]\nWhere=/no\n", "|/x@a:11|||");
	/* The last counts; an empty one takes it back. */
	CHECK("[Mount]\nWhat=a\nWhat=b\nType=x\nType=\n", "b@a:3||||");
	CHECK_OVER("[Mount]\nWhat=a\nOptions=ro\n", "[Mount]\nOptions=rw\n", "a@a:2|||rw@b:2|");
	CHECK_OVER("[Mount]\nWhat=a\nOptions=ro\n", "[Mount]\nOptions=\n", "a@a:2||||");
	/* A drop-in begins in no section. */
	CHECK_OVER("[Mount]\nWhat=a\n", "Options=rw\n", "a@a:2||||");
	/* Quotes are part of these. */
	CHECK("[Mount]\nWhat=\"/a b\"\nWhere=/c d\n", "\"/a b\"@a:2|/c d@a:3|||");
}

static void test_syntax(void)
{
	CHECK("\n# c\n; c\n  # c\n\t[Mount]  \n  What = /a \t\n", "/a@a:6||||");
	CHECK("[Mount]\r\nWhat=/a\r\nOptions=x,\\\r\ny\r\n", "/a@a:2|||x, y@a:3|");
	CHECK("[Mount]\nOptions=\\\n  noatime\n", "|||noatime@a:2|");
	CHECK("[Mount]\nOptions=a,\\\n# within\n; too\nb\nWhat=x\n", "x@a:6|||a, b@a:2|");
	CHECK("[Mount]\nWhat=x\\", "x@a:2||||");
	CHECK("[Mount]\n# ends in \\\nWhat=x\n", "x@a:3||||");
	CHECK("[Mount]\nWhat=a=b\n", "a=b@a:2||||");
	CHECK("[Mount]\nWhat=x\0y\n", "|||| odd");
	CHECK("[Mo\\\nunt]\nWhat=x\n", "||||");
}

static void test_specifiers(void)
{
	CHECK("[Mount]\nWhat=a%%b\nOptions=size=50%%\n", "a%b@a:2|||size=50%@a:3|");
	CHECK("[Mount]\nWhat=/dev/%i\nWhere=%\n", "/dev/%i@a:2%|%@a:3%|||");
	CHECK("[Mount]\nWhat=%%%h\n", "%%h@a:2%||||");
}

static void test_conditions(void)
{
	CHECK("[Unit]\nConditionPathExists=/x\n", "|||| conditional");
	CHECK("[Unit]\nAssertPathExists=!/x\n", "|||| asserted");
	CHECK("[Unit]\nConditionPathExists=/x\nConditionVirtualization=\n", "||||");
	CHECK("[Mount]\nConditionPathExists=/x\n", "||||");
	CHECK_OVER("[Unit]\nConditionPathExists=/x\n", "[Unit]\nConditionPathExists=\n", "||||");
	CHECK_OVER("[Unit]\nConditionPathExists=/x\n", "[Unit]\nAssertUser=\n", "|||| conditional");
}

/** Whatever is cut off, nothing but what is there is read. */
static void test_cut(void)
{
	static const char text[] = "[Unit]\nConditionX=y\n[Mount]\nWhat=/a\\\n  b\nWhere=/x%%\nOptions=a,%i\\";
	for (size_t n = 0; n < sizeof(text); ++n) {
		struct unitfile unit = {0};
		struct arena arena;
		char *own = malloc(n ? n : 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(own);
		memcpy(own, text, n);
		arena_init(&arena);
		CU_ASSERT_EQUAL(unitfile_read(&unit, &arena, "a", own, n), 0);
		arena_destroy(&arena);
		free(own);
	}
}

static const struct unit_test tests[] = {
	{"values", test_values},
	{"syntax", test_syntax},
	{"specifiers", test_specifiers},
	{"conditions", test_conditions},
	{"cut", test_cut},
	{NULL, NULL},
};

const struct unit_suite suite_unitfile = {"unitfile", tests};
