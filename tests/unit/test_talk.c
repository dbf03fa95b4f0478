/* SPDX-License-Identifier: MIT */
/* Conversations with servers: what the protocols share. */
#include "unit.h"

#include "remote/talk.h"

UNIT_TEST(paths)
{
	static const struct {
		const char *path, *wrong;
		size_t len;
	} rows[] = {
		{"", NULL, 0},
		{"/a", NULL, 2},
		{"/a/b\n\033/...", NULL, 10},
		{"/..a/b../.c", NULL, 11},
		{"a", "does not begin", 1},
		{"/", "empty", 1},
		{"//", "empty", 2},
		{"/a/", "empty", 3},
		{"//a", "empty", 3},
		{"/a//b", "empty", 5},
		{"/.", "\".\"", 2},
		{"/./a", "\".\"", 4},
		{"/a/.", "\".\"", 4},
		{"/..", "\"..\"", 3},
		{"/../a", "\"..\"", 5},
		{"/a/../../etc", "\"..\"", 12},
		{"/a\0b", "NUL", 4},
		{"\0", "NUL", 1},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		const char *wrong = talk_path_wrong(rows[i].path, rows[i].len);
		unit_note("%s", rows[i].path);
		if (rows[i].wrong)
			CU_ASSERT_PTR_NOT_NULL_FATAL(wrong);
		CU_ASSERT_TRUE(rows[i].wrong ? strstr(wrong, rows[i].wrong) != NULL : !wrong);
	}
	char *big = malloc(TALK_PATH_MAX + 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(big);
	memset(big, 'a', TALK_PATH_MAX + 1);
	*big = '/';
	CU_ASSERT_PTR_NULL(talk_path_wrong(big, TALK_PATH_MAX));
	CU_ASSERT_PTR_NOT_NULL(talk_path_wrong(big, TALK_PATH_MAX + 1));
	free(big);
}

UNIT_TEST(states)
{
	struct talk talk;
	talk_init(&talk, NULL);
	CU_ASSERT_EQUAL(talk.state, TALK_DONE);
	talk_sent(&talk, 0);
	strbuf_puts(&talk.out, "abcdef");
	talk_sent(&talk, 2);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&talk.out), "cdef");
	talk_sent(&talk, 4);
	CU_ASSERT_EQUAL(talk.out.len, 0);
	strbuf_puts(&talk.out, "never sent");
	talk_fail(&talk, "first %d", 1);
	talk_fail(&talk, "second");
	CU_ASSERT_EQUAL(talk.state, TALK_FAILED);
	CU_ASSERT_EQUAL(talk.out.len, 0);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&talk.why), "first 1");
	talk_destroy(&talk);
}
