/* SPDX-License-Identifier: MIT */
#include "fault.h"
#include "unit.h"

#include "base/arena.h"
#include "base/casefold.h"
#include "base/command.h"
#include "base/escape.h"
#include "base/fstypes.h"
#include "base/map64.h"
#include "base/pathmap.h"
#include "mountopts/optlist.h"
#include "base/secret.h"
#include "base/strbuf.h"
#include "base/words.h"

#include <errno.h>
#include <locale.h>
#include <stdalign.h>
#include <wctype.h>

/* pathmap */

/** The numbers that a lookup finds, as text. */
static const char *found(const struct pathmap *map, const char *path, bool above)
{
	static char text[200];
	struct pathmap_at at = pathmap_of(path);
	char *end = text;
	*text = '\0';
	while ((above ? pathmap_next_above : pathmap_next)(map, &at))
		end += sprintf(end, "%u@%zu ", at.value, at.n);
	return text;
}

UNIT_TEST(pathmap)
{
	struct pathmap map = {0};
	CU_ASSERT_EQUAL(pathmap_nearest(&map, "/a"), PATHMAP_NONE);
	CU_ASSERT_STRING_EQUAL(found(&map, "/", true), "");
	const char *const paths[] = {"/a", "/", "/a/b/c", "/a", "/ab", "/a/", "none", "/", ""};
	for (uint32_t i = 0; i < sizeof(paths) / sizeof(*paths); ++i)
		CU_ASSERT_EQUAL(pathmap_add(&map, paths[i], i), 0);
	CU_ASSERT_EQUAL(pathmap_get(&map, "/a"), 3);
	CU_ASSERT_EQUAL(pathmap_get(&map, "/a/b"), PATHMAP_NONE);
	CU_ASSERT_EQUAL(pathmap_get(&map, ""), 8);
	CU_ASSERT_EQUAL(pathmap_find(&map, "/abc", 3), 4);
	CU_ASSERT_EQUAL(pathmap_nearest(&map, "/a/b/c"), 2);
	CU_ASSERT_EQUAL(pathmap_nearest(&map, "/a/b/cd"), 3);
	CU_ASSERT_EQUAL(pathmap_nearest(&map, "/abc"), 7);
	CU_ASSERT_EQUAL(pathmap_nearest(&map, "/"), 7);
	CU_ASSERT_EQUAL(pathmap_nearest(&map, "other"), PATHMAP_NONE);
	CU_ASSERT_STRING_EQUAL(found(&map, "/a", false), "3@2 0@2 ");
	CU_ASSERT_STRING_EQUAL(found(&map, "/", false), "7@1 1@1 ");
	CU_ASSERT_STRING_EQUAL(found(&map, "none", false), "6@4 ");
	CU_ASSERT_STRING_EQUAL(found(&map, "", false), "8@0 ");
	CU_ASSERT_STRING_EQUAL(found(&map, "/x", false), "");
	CU_ASSERT_STRING_EQUAL(found(&map, "/", true), "7@0 1@0 ");
	CU_ASSERT_STRING_EQUAL(found(&map, "/a/b/c/d", true), "7@0 1@0 3@2 0@2 2@6 ");
	struct pathmap_at newest = pathmap_of("/a/b/c/d");
	static const uint32_t expected[] = {7, 3, 2};
	for (size_t i = 0; i < 3; ++i) {
		CU_ASSERT_TRUE(pathmap_next_newest(&map, &newest));
		CU_ASSERT_EQUAL(newest.value, expected[i]);
	}
	CU_ASSERT_FALSE(pathmap_next_newest(&map, &newest));
	pathmap_destroy(&map);

	/* A depth of 100,000 costs no more than its bytes. */
	const size_t depth = 100000;
	char *deep = malloc(2 * depth + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(deep);
	for (size_t i = 0; i < depth; ++i)
		memcpy(deep + 2 * i, "/a", 2);
	deep[2 * depth] = '\0';
	CU_ASSERT_EQUAL(pathmap_add(&map, deep, 5), 0);
	CU_ASSERT_EQUAL(pathmap_add(&map, "/a", 6), 0);
	CU_ASSERT_EQUAL(pathmap_nearest(&map, deep), 5);
	deep[2 * depth - 1] = 'b';
	CU_ASSERT_EQUAL(pathmap_nearest(&map, deep), 6);
	free(deep);
	pathmap_destroy(&map);
}

/* map64 */

UNIT_TEST(map64)
{
	struct map64 map = {0};
	CU_ASSERT_EQUAL(map64_get(&map, 0), MAP64_NONE);
	CU_ASSERT_EQUAL(map64_remove(&map, 1), MAP64_NONE);
	/* The first value of a key is kept. */
	CU_ASSERT_EQUAL(map64_put(&map, 7, 1), 1);
	CU_ASSERT_EQUAL(map64_put(&map, 7, 2), 1);
	CU_ASSERT_EQUAL(map64_get(&map, 7), 1);
	CU_ASSERT_EQUAL(map.count, 1);
	map64_destroy(&map);
	map64_destroy(&map);
}

/** Keys like small numbers, unique mount IDs, device numbers, and the largest numbers. */
static uint64_t key_of(uint32_t i)
{
	switch (i % 4) {
	case 0: return i;
	case 1: return 0x80000000u + (uint64_t)i;
	case 2: return (uint64_t)i << 32;
	default: return UINT64_MAX - i;
	}
}

UNIT_TEST(map64_many)
{
	enum { N = 100000, RESERVED = 1000 };
	struct map64 map = {0};
	CU_ASSERT_EQUAL_FATAL(map64_reserve(&map, RESERVED), 0);
	const void *slots = map.slots;
	for (uint32_t i = 0; i < N; ++i) {
		CU_ASSERT_EQUAL_FATAL(map64_put(&map, key_of(i), i), i);
		CU_ASSERT_FATAL(i >= RESERVED || map.slots == slots);
	}
	CU_ASSERT_EQUAL(map.count, N);
	CU_ASSERT_EQUAL(map64_reserve(&map, SIZE_MAX), -1);
	for (uint32_t i = 0; i < N; ++i)
		CU_ASSERT_EQUAL_FATAL(map64_get(&map, key_of(i)), i);
	CU_ASSERT_EQUAL(map64_get(&map, 0x123456789abcdef), MAP64_NONE);
	map64_destroy(&map);
}

/** Keys are added and removed: the map has 64 of 100,000 at a time. */
UNIT_TEST(map64_remove)
{
	enum { N = 100000, THERE = 64 };
	struct map64 map = {0};
	for (uint32_t i = 0; i < N; ++i) {
		CU_ASSERT_EQUAL_FATAL(map64_put(&map, key_of(i), i), i);
		if (i < THERE)
			continue;
		/* Not in the order in which they were added. */
		uint32_t gone = (i - THERE) ^ 1;
		CU_ASSERT_EQUAL_FATAL(map64_remove(&map, key_of(gone)), gone);
		CU_ASSERT_EQUAL_FATAL(map64_get(&map, key_of(gone)), MAP64_NONE);
		CU_ASSERT_EQUAL_FATAL(map64_get(&map, key_of(i)), i);
		if (i % 1000 == 0) {
			for (uint32_t k = i - THERE + 2; k < i; ++k)
				CU_ASSERT_EQUAL_FATAL(map64_get(&map, key_of(k)), k);
		}
	}
	CU_ASSERT_EQUAL(map.count, THERE);
	CU_ASSERT_EQUAL(map64_remove(&map, 0x123456789abcdef), MAP64_NONE);
	CU_ASSERT(map.mask < 4 * THERE);
	map64_destroy(&map);
}

/* Options. */

/** Step through words with commas between them. */
static const char *word_next(const char **list, size_t *n)
{
	*list += strspn(*list, ",");
	const char *word = *list;
	*n = strcspn(word, ",");
	*list += *n;
	return *n ? word : NULL;
}

UNIT_TEST(opt_set)
{
	const char *list = ",uid=1,,uid,size=2,uid=3,=x,";
	struct opt_set set;
	opt_set_init(&set, false);
	CU_ASSERT_PTR_NULL(opt_set_find(&set, "uid", 3));
	opt_set_add_list(&set, NULL, word_next);
	opt_set_add_list(&set, list, word_next);
	CU_ASSERT_EQUAL(set.count, 3);
	const struct opt_entry *uid = opt_set_find(&set, "uid", 3);
	CU_ASSERT_PTR_NOT_NULL_FATAL(uid);
	CU_ASSERT_EQUAL(uid->times, 3);
	CU_ASSERT_EQUAL(uid->nfirst, 5);
	CU_ASSERT_EQUAL(uid->nlast, 5);
	CU_ASSERT_PTR_EQUAL(uid->first, list + 1);
	CU_ASSERT_PTR_EQUAL(uid->bare, list + 8);
	CU_ASSERT_PTR_EQUAL(uid->last, list + 19);
	CU_ASSERT_PTR_NULL(opt_set_find(&set, "size", 4)->bare);
	CU_ASSERT_PTR_NOT_NULL(opt_set_find(&set, "", 0));
	CU_ASSERT_PTR_NULL(opt_set_find(&set, "ui", 2));
	CU_ASSERT_PTR_NULL(opt_set_find(&set, "uid=1", 5));
	opt_set_destroy(&set);

	opt_set_init(&set, true);
	opt_set_add_list(&set, list, word_next);
	CU_ASSERT_EQUAL(set.count, 5);
	CU_ASSERT_PTR_EQUAL(opt_set_find(&set, "uid=3", 5)->last, list + 19);
	CU_ASSERT_PTR_NULL(opt_set_find(&set, "size", 4));
	CU_ASSERT_FALSE(set.failed);
	opt_set_destroy(&set);
}

UNIT_TEST(arena)
{
	struct arena arena = {0};
	char *strings[2000];
	for (int i = 0; i < 2000; ++i) {
		char text[64];
		int n = snprintf(text, sizeof(text), "string %d", i);
		strings[i] = arena_strndup(&arena, text, (size_t)n);
		void *aligned = arena_alloc(&arena, (size_t)i % 100 + 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(strings[i]);
		CU_ASSERT_PTR_NOT_NULL_FATAL(aligned);
		CU_ASSERT_EQUAL((uintptr_t)aligned % alignof(max_align_t), 0);
		memset(aligned, 0xff, (size_t)i % 100 + 1);
	}
	/* A large block between small ones. */
	char *large = arena_alloc(&arena, 1 << 20);
	CU_ASSERT_PTR_NOT_NULL_FATAL(large);
	memset(large, 0xee, 1 << 20);
	char *after = arena_strndup(&arena, "after\0hidden", 12);
	CU_ASSERT_EQUAL(memcmp(after, "after\0hidden", 13), 0);
	for (int i = 0; i < 2000; ++i) {
		char text[64];
		snprintf(text, sizeof(text), "string %d", i);
		CU_ASSERT_STRING_EQUAL(strings[i], text);
	}
	CU_ASSERT_STRING_EQUAL(arena_strndup(&arena, "", 0), "");
	CU_ASSERT_PTR_NULL(arena_alloc(&arena, SIZE_MAX));
	arena_destroy(&arena);
	CU_ASSERT_STRING_EQUAL(arena_strndup(&arena, "again", 5), "again");
	arena_destroy(&arena);
	arena_destroy(&arena);
}

/** A result in an arena. */
struct built {
	struct arena arena;
	size_t *array;
	const char *texts[4];
	struct item {
		size_t n;
		char pad[5];
	} *items;
	uint32_t count;
	struct map64 map;
	struct pathmap paths;
	struct strbuf buffer;
};

enum { BUILT = 300 };

/** Build a result, without a check of any call. */
static void build(struct built *b)
{
	struct strbuf text = {0};
	b->map.arena = b->paths.newest.arena = b->buffer.arena = &b->arena;
	b->array = arena_new(&b->arena, BUILT, sizeof(*b->array));
	b->texts[0] = arena_text(&b->arena, "text");
	b->texts[1] = arena_textn(&b->arena, "cut off", 3);
	strbuf_puts(&text, "built");
	b->texts[2] = arena_built(&b->arena, &text);
	strbuf_destroy(&text);
	for (size_t i = 0; i < BUILT; ++i) {
		ARENA_PUSH(&b->arena, b->items, b->count, (struct item){i, "item"});
		CU_ASSERT_EQUAL(map64_put(&b->map, i, (uint32_t)i), i);
		pathmap_add(&b->paths, arena_printf(&b->arena, "/%zu", i / 2), (uint32_t)i);
		strbuf_printf(&b->buffer, "%c is added, ", (int)('a' + i % 26));
	}
	b->texts[3] = arena_printf(&b->arena, "%d %s", 7, "printed");
}

/** Assert that what exists of a result is whole.  @return 0, or -1. */
static int built_check(const struct built *b)
{
	static const char *const texts[] = {"text", "cut", "built", "7 printed"};
	bool whole = true;
	CU_ASSERT_TRUE(b->map.count <= b->count && b->count - b->map.count <= 1);
	CU_ASSERT_TRUE(b->paths.count <= b->map.count && b->map.count - b->paths.count <= 1);
	for (uint32_t i = 0; i < b->paths.count; ++i) {
		struct pathmap_at at = pathmap_of(b->paths.entries[i].path);
		CU_ASSERT_TRUE(pathmap_next(&b->paths, &at) && at.value / 2 == i / 2);
	}
	for (size_t i = 0; i < b->count; ++i)
		CU_ASSERT_TRUE(b->items[i].n == i && strcmp(b->items[i].pad, "item") == 0);
	for (size_t i = 0; i < b->map.count; ++i)
		CU_ASSERT_EQUAL(map64_get(&b->map, i), i);
	CU_ASSERT_EQUAL(map64_get(&b->map, b->map.count), MAP64_NONE);
	const char *text = strbuf_str(&b->buffer);
	CU_ASSERT_EQUAL(b->buffer.len, strlen(text));
	CU_ASSERT_EQUAL(b->buffer.len % 12, 0);
	for (size_t i = 0; i < b->buffer.len / 12; ++i)
		CU_ASSERT_EQUAL(text[12 * i], (char)('a' + i % 26));
	CU_ASSERT_EQUAL(b->buffer.failed, b->buffer.len / 12 < BUILT);
	CU_ASSERT_TRUE(b->arena.failed || !b->buffer.failed);
	for (size_t i = 0; b->array && i < BUILT; ++i)
		CU_ASSERT_EQUAL(b->array[i], 0);
	/* After a failure nothing is added. */
	for (size_t i = 0; i < COUNT(texts); ++i) {
		whole &= strcmp(b->texts[i], texts[i]) == 0;
		CU_ASSERT_TRUE(whole || !*b->texts[i]);
	}
	CU_ASSERT_TRUE(whole || b->arena.failed);
	CU_ASSERT_EQUAL(b->arena.failed, !whole || !b->array || b->map.count < BUILT
	                                 || b->buffer.failed);
	CU_ASSERT_TRUE(b->array || (b->count == 0 && !*b->texts[0]));
	return arena_check(&b->arena);
}

static int build_all(void *arg)
{
	(void)arg;
	struct built b = {0};
	build(&b);
	int rc = built_check(&b), error = errno;
	arena_destroy(&b.arena);
	CU_ASSERT_FALSE(b.arena.failed);
	errno = error;
	return rc;
}

UNIT_TEST(arena_result)
{
	CU_ASSERT_EQUAL(build_all(NULL), 0);
	fault_each_allocation(build_all, NULL, BUILT);
}

/** Large pieces are freed when they are replaced; the others stay. */
UNIT_TEST(arena_large)
{
	enum { LARGE = 20000 };
	struct arena arena = {0};
	struct strbuf text = {.arena = &arena};
	struct map64 map = {.arena = &arena};
	uint32_t *list = NULL;
	size_t n = 0;
	const char *first = arena_text(&arena, "first");
	for (uint32_t i = 0; i < LARGE; ++i) {
		strbuf_printf(&text, "%05u", i);
		CU_ASSERT_EQUAL(map64_put(&map, i, i), i);
		ARENA_PUSH(&arena, list, n, i);
		if (i % 64 == 0)
			CU_ASSERT_STRING_EQUAL(arena_text(&arena, "between"), "between");
	}
	CU_ASSERT_TRUE_FATAL(n == LARGE && text.len == 5 * LARGE && map.count == LARGE);
	for (uint32_t i = 0; i < LARGE; ++i) {
		char digits[6];
		snprintf(digits, sizeof(digits), "%05u", i);
		CU_ASSERT_TRUE(list[i] == i && map64_get(&map, i) == i
		               && memcmp(text.data + (size_t)5 * i, digits, 5) == 0);
	}
	map64_destroy(&map);
	arena_release(&arena, list, n * sizeof(*list));
	arena_release(&arena, first, 6);
	arena_release(&arena, NULL, 0);
	CU_ASSERT_STRING_EQUAL(first, "first");
	CU_ASSERT_EQUAL(arena_check(&arena), 0);
	arena_destroy(&arena);
}

/** A large piece is given back alone: a text that grew at the head of a chunk shares it. */
UNIT_TEST(arena_released)
{
	char part[5000];
	struct arena arena = {0};
	struct strbuf text = {.arena = &arena};
	memset(part, 'y', sizeof(part));
	for (int i = 0; i < 2; ++i)
		strbuf_add(&text, part, sizeof(part));
	const char *next = arena_text(&arena, "next");
	for (int i = 0; i < 2; ++i)
		arena_new(&arena, 8000, 1);
	for (int i = 0; i < 2; ++i)
		strbuf_add(&text, part, sizeof(part));
	CU_ASSERT_STRING_EQUAL(next, "next");
	CU_ASSERT_EQUAL(text.len, 4 * sizeof(part));
	CU_ASSERT_EQUAL(arena_check(&arena), 0);
	arena_destroy(&arena);
}

/** Grow a text that has a chunk of its own. */
static int grow_large(void *arg)
{
	char part[9000];
	struct arena arena = {0};
	struct strbuf text = {.arena = &arena};
	(void)arg;
	memset(part, 'y', sizeof(part));
	arena_text(&arena, "head");
	for (int i = 0; i < 3; ++i)
		strbuf_add(&text, part, sizeof(part));
	strbuf_printf(&text, "%9000d", 1);
	/* The text keeps all bytes that were added before a failure. */
	CU_ASSERT(strspn(strbuf_str(&text), "y") == strlen(strbuf_str(&text)) || !text.failed);
	int rc = arena_check(&arena);
	arena_destroy(&arena);
	return rc;
}

UNIT_TEST(arena_released_without_memory)
{
	fault_each_allocation(grow_large, NULL, 2);
}

/** What a hostile size would overflow fails; so does all that follows, until it is destroyed. */
UNIT_TEST(arena_sizes)
{
	static const size_t sizes[][2] = {
		{SIZE_MAX, 1}, {1, SIZE_MAX}, {SIZE_MAX, SIZE_MAX}, {SIZE_MAX / 2 + 1, 2},
		{SIZE_MAX / 8 + 1, 8}, {SIZE_MAX / 2 + 1, 1}, {SIZE_MAX / 16 + 2, 16},
	};
	struct arena arena = {0}, other = {0};
	for (size_t i = 0; i < COUNT(sizes); ++i) {
		CU_ASSERT_PTR_NOT_NULL(arena_new(&arena, 0, sizes[i][1]));
		CU_ASSERT_EQUAL(arena_check(&arena), 0);
		errno = 0;
		CU_ASSERT_PTR_NULL(arena_new(&arena, sizes[i][0], sizes[i][1]));
		CU_ASSERT_TRUE(arena_check(&arena) == -1 && errno == ENOMEM);
		CU_ASSERT_PTR_NULL(arena_new(&arena, 1, 1));
		CU_ASSERT_STRING_EQUAL(arena_text(&arena, "text"), "");
		CU_ASSERT_STRING_EQUAL(arena_printf(&arena, "text"), "");
		/* A cache goes on. */
		CU_ASSERT_PTR_NOT_NULL(arena_alloc(&arena, 1));
		CU_ASSERT_STRING_EQUAL(arena_strndup(&arena, "text", 4), "text");
		CU_ASSERT_EQUAL(arena_check(&arena), -1);
		arena_destroy(&arena);
	}
	CU_ASSERT_PTR_NULL(arena_strndup(&arena, "text", SIZE_MAX));
	arena_merge(&other, &arena);
	CU_ASSERT_EQUAL(arena_check(&other), -1);
	arena_destroy(&other);

	void *items = NULL;
	size_t count = SIZE_MAX / 2 + 1;
	CU_ASSERT_FALSE(arena_room(&arena, &items, count, 1));
	CU_ASSERT_PTR_NULL(items);
	arena_destroy(&arena);
	struct strbuf failed = {.failed = true};
	CU_ASSERT_STRING_EQUAL(arena_built(&arena, &failed), "");
	CU_ASSERT_EQUAL(arena_check(&arena), -1);
	arena_destroy(&arena);
}

/* strbuf */

UNIT_TEST(strbuf)
{
	struct strbuf buf;
	strbuf_init(&buf);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&buf), "");
	strbuf_puts(&buf, "one");
	strbuf_putc(&buf, ' ');
	strbuf_add(&buf, "two three", 3);
	strbuf_printf(&buf, " %d %s", 3, "");
	CU_ASSERT_STRING_EQUAL(strbuf_str(&buf), "one two 3 ");
	CU_ASSERT_EQUAL(buf.len, 10);
	strbuf_reset(&buf);
	strbuf_number(&buf, 0);
	strbuf_putc(&buf, ' ');
	strbuf_number(&buf, UINT64_MAX);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&buf), "0 18446744073709551615");

	strbuf_reset(&buf);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&buf), "");
	for (int i = 0; i < 10000; ++i)
		strbuf_printf(&buf, "%04d", i);
	CU_ASSERT_EQUAL(buf.len, 40000);
	CU_ASSERT_EQUAL(memcmp(buf.data + 39996, "9999", 5), 0);
	char *room = strbuf_extend(&buf, 3);
	CU_ASSERT_TRUE(room == buf.data + 40000 && buf.len == 40003 && room[3] == '\0');
	buf.len = 40000;

	/* strbuf_reset() does not clear a failure. */
	struct strbuf lost;
	strbuf_init(&lost);
	CU_ASSERT_PTR_NULL(strbuf_extend(&lost, SIZE_MAX / 2));
	strbuf_reset(&lost);
	strbuf_puts(&lost, "more");
	CU_ASSERT_TRUE(lost.failed);
	errno = 0;
	CU_ASSERT_PTR_NULL(strbuf_text(&lost));
	CU_ASSERT_EQUAL(errno, ENOMEM);
	CU_ASSERT_PTR_NULL(strbuf_take(&lost));

	/* After a failure nothing is appended: the text has no hole. */
	strbuf_puts(&lost, "begin");
	CU_ASSERT_STRING_EQUAL(strbuf_text(&lost), "begin");
	CU_ASSERT_PTR_NULL(strbuf_extend(&lost, SIZE_MAX / 2));
	strbuf_puts(&lost, "x");
	strbuf_printf(&lost, "%d", 1);
	CU_ASSERT_FALSE(strbuf_room(&lost, 1));
	CU_ASSERT_FALSE(strbuf_try(&lost, "x", 1));
	CU_ASSERT_STRING_EQUAL(strbuf_str(&lost), "begin");
	strbuf_reset(&lost);
	strbuf_puts(&lost, "x");
	CU_ASSERT_STRING_EQUAL(strbuf_str(&lost), "");
	strbuf_renew(&lost);
	strbuf_puts(&lost, "again");
	CU_ASSERT_STRING_EQUAL(strbuf_text(&lost), "again");
	/* Records stay good. */
	volatile size_t huge = SIZE_MAX / 2;   /* or the compiler warns of the copy */
	CU_ASSERT_FALSE(strbuf_try(&lost, "x", huge));
	CU_ASSERT_STRING_EQUAL(strbuf_text(&lost), "again");
	CU_ASSERT_TRUE(strbuf_try(&lost, "!", 1));
	CU_ASSERT_STRING_EQUAL(strbuf_text(&lost), "again!");
	strbuf_destroy(&lost);

	char *taken = strbuf_take(&buf);
	CU_ASSERT_PTR_NOT_NULL_FATAL(taken);
	CU_ASSERT_EQUAL(strlen(taken), 40000);
	free(taken);
	CU_ASSERT_EQUAL(buf.len, 0);
	taken = strbuf_take(&buf);
	CU_ASSERT_STRING_EQUAL(taken, "");
	free(taken);
}

/* escapes */

UNIT_TEST(unescape_octal)
{
	static const struct {
		const char *text, *plain;
	} rows[] = {
		{"", ""}, {"plain", "plain"}, {"a\\040b", "a b"},
		{"\\011\\012\\134\\043", "\t\n\\#"},
		{"ab\\040", "ab "}, {"\\377\\200", "\xff\x80"},
		/* Once only: a literal "\040" is written \134040. */
		{"lit\\134040x", "lit\\040x"}, {"\\134134", "\\134"},
		/* Other backslashes are literal. */
		{"\\", "\\"}, {"a\\04", "a\\04"}, {"\\400\\08\\09x", "\\400\\08\\09x"},
		{"\\x20", "\\x20"}, {"\\\\040", "\\ "},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		char out[64];
		out[unescape_octal(out, rows[i].text, strlen(rows[i].text))] = '\0';
		CU_ASSERT_STRING_EQUAL(out, rows[i].plain);
	}

	char same[] = "a\\040b\\040c";
	size_t n = unescape_octal(same, same, strlen(same));
	CU_ASSERT_EQUAL(n, 5);
	CU_ASSERT_EQUAL(memcmp(same, "a b c", 5), 0);
}

UNIT_TEST(octal_round_trip)
{
	/* Every byte but NUL, and runs that look like escapes. */
	char all[300];
	size_t n = 0;
	for (int c = 1; c < 256; ++c)
		all[n++] = (char)c;
	strcpy(all + n, "\\040\\\\134 #\\");

	static const char *const sets[] = {ESCAPE_PATH, ESCAPE_SOURCE};
	for (int i = 0; i < 2; ++i) {
		STRBUF(buf);
		escape_octal(&buf, all, sets[i], false);
		CU_ASSERT_PTR_NULL(strpbrk(strbuf_str(&buf), " \t\n"));
		CU_ASSERT_EQUAL(strchr(strbuf_str(&buf), '#') == NULL, i == 1);
		size_t len = unescape_octal(buf.data, buf.data, buf.len);
		CU_ASSERT_EQUAL(len, strlen(all));
		CU_ASSERT_EQUAL(memcmp(buf.data, all, len), 0);
	}
}

/** A string escaped by a function; valid until the next call. */
static const char *coded(void (*codec)(struct strbuf *, const char *), const char *text)
{
	static char out[512];
	STRBUF(buf);
	codec(&buf, text);
	snprintf(out, sizeof(out), "%s", strbuf_str(&buf));
	return out;
}

static void json_string(struct strbuf *out, const char *text)
{
	CU_ASSERT_EQUAL(escape_json(out, text), utf8_valid(text));
}

static void octal_path(struct strbuf *out, const char *text)
{
	escape_octal(out, text, ESCAPE_PATH, false);
}

static void octal_terminal(struct strbuf *out, const char *text)
{
	escape_octal(out, text, ESCAPE_PATH, true);
}

static void first_path(struct strbuf *out, const char *text)
{
	escape_first_field(out, text, ESCAPE_PATH, false);
}

static void first_terminal(struct strbuf *out, const char *text)
{
	escape_first_field(out, text, ESCAPE_PATH, true);
}

static void first_source(struct strbuf *out, const char *text)
{
	escape_first_field(out, text, ESCAPE_SOURCE, false);
}

static void base64(struct strbuf *out, const char *text)
{
	escape_base64(out, text, strlen(text));
}

/** Texts without an invisible character are not appended. */
static void unseen(struct strbuf *out, const char *text)
{
	CU_ASSERT_EQUAL(escape_unseen(out, text), out->len > 0);
}

UNIT_TEST(escapes)
{
	static const struct {
		void (*codec)(struct strbuf *, const char *);
		const char *text, *escaped;
	} rows[] = {
		{escape_quoted, "it's\n", "'it'\\''s\n'"},
		{escape_quoted, "\\x1b", "'\\x1b'"},
		{escape_shell, "/srv/a.B_1@x:y%z+=,-", "/srv/a.B_1@x:y%z+=,-"},
		{escape_shell, "", "''"},
		{escape_shell, "/a b", "'/a b'"},
		{escape_shell, "it's;$(x)`y`", "'it'\\''s;$(x)`y`'"},
		{escape_shell, "~\\a", "'~\\a'"},
		{escape_shell, "~\\x2d", "$'\\176\\134x2d'"},
		{escape_shell, "it's\x1b", "$'it\\047s\\033'"},
		{escape_shell, "\xc3\xa4 \xff", "$'\\303\\244 \\377'"},
		{escape_shell, "\xc3\xa4 ", "'\xc3\xa4 '"},
		{command_operand, "-.mount", " -- -.mount"},
		{command_operand, "a.mount", " a.mount"},
		{escape_raw, "/a~!b", "/a~!b"},
		{escape_raw, "a b\tc\n", "a\\x20b\\x09c\\x0a"},
		{escape_raw, "\\x41\x7f", "\\x5cx41\\x7f"},
		{escape_raw, "\xc3\xa4\xff", "\\xc3\\xa4\\xff"},
		{escape_raw, "", ""},
		{octal_path, "lit\\040x\x1b", "lit\\134040x\x1b"},
		{octal_terminal, "a b\\\x1b\x7f\xc2\x9b\xff\xe2\x80\xae\xc3\xa4#",
		 "a\\040b\\134\\033\\177\\302\\233\\377\\342\\200\\256\xc3\xa4#"},
		{first_path, "#a #b", "\\043a\\040#b"},
		{first_path, "a\n\x1b", "a\\012\x1b"},
		{first_terminal, "##\x1b", "\\043#\\033"},
		{first_source, "#a#", "\\043a\\043"},
		{base64, "", ""}, {base64, "f", "Zg=="}, {base64, "fo", "Zm8="},
		{base64, "foo", "Zm9v"}, {base64, "foob", "Zm9vYg=="},
		{base64, "fooba", "Zm9vYmE="}, {base64, "\xff\x01\xfe", "/wH+"},
		{unseen, "", ""}, {unseen, "a b\n\x1b", ""}, {unseen, "\xff\xe2\x80", ""},
		{unseen, "\xc3\xa4", ""}, {unseen, "\\u202e", ""},
		{unseen, "\xff\xe2\x80\xae\xe2\x80\x8b", "\xff\\u202e\\u200b"},
		{unseen, "\xe2\x80\xae\x1b\xc3\xa4", "\\u202e\x1b\xc3\xa4"},
		{escape_terminal, "/mnt/a b\xc3\xa4", "/mnt/a b\xc3\xa4"},
		{escape_terminal, "\x1b[2J", "\\x1b[2J"},
		{escape_terminal, "a\nb\x7f", "a\\x0ab\\x7f"},
		{escape_terminal, "\xc2\x9b", "\\xc2\\x9b"},
		{escape_terminal, "\xff", "\\xff"},
		{escape_terminal, "a\\b\\x41", "a\\b\\x5cx41"},
		{escape_terminal, "a\xe2\x80\xae\xe2\x80\x8b\xef\xbb\xbfz",
		 "a\\u202e\\u200b\\ufeffz"},
		{escape_terminal, "\xe2\x80\xa8\xc2\xad\xd8\x9c", "\\u2028\\u00ad\\u061c"},
		{escape_terminal, "\xf3\xa0\x80\x81", "\\U000e0001"},
		{escape_terminal, "\xe2\x80\x90\xe2\x81\x9f\xf0\x9f\x98\x80",
		 "\xe2\x80\x90\xe2\x81\x9f\xf0\x9f\x98\x80"},
		{escape_terminal, "\\u202e\\user\\u20\\U000e0001\\",
		 "\\x5cu202e\\user\\u20\\x5cU000e0001\\"},
		{json_string, "", "\"\""},
		{json_string, "a\"b\\c", "\"a\\\"b\\\\c\""},
		{json_string, "\n\x1f\x7f", "\"\\u000a\\u001f\\u007f\""},
		{json_string, "\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\""},
		{json_string, "\xe2\x80\xae\xf3\xa0\x80\x81", "\"\\u202e\\udb40\\udc01\""},
		{json_string, "\xc3\xa4\xff", "\"\xc3\xa4\\\\xff\""},
		{json_string, "/mnt/\xe2\x82\xac z~\"", "\"/mnt/\xe2\x82\xac z~\\\"\""},
	};
	for (size_t i = 0; i < COUNT(rows); ++i)
		CU_ASSERT_STRING_EQUAL(coded(rows[i].codec, rows[i].text), rows[i].escaped);
}

UNIT_TEST(escape_raw)
{
	/* Each byte at each place. */
	static const char others[] = "/a~!b0[]zZ{}^_`@.,-+";
	for (size_t at = 0; at < sizeof(others) - 1; ++at) {
		for (int byte = 1; byte < 256; ++byte) {
			char text[sizeof(others)], want[sizeof(others) + 4];
			strcpy(text, others);
			text[at] = (char)byte;
			bool plain = byte > ' ' && byte < 0x7f && byte != '\\';
			snprintf(want, sizeof(want), plain ? "%.*s%c%s" : "%.*s\\x%02x%s", (int)at,
			         others, byte, others + at + 1);
			CU_ASSERT_STRING_EQUAL(coded(escape_raw, text), want);
		}
	}
}

UNIT_TEST(utf8)
{
	CU_ASSERT_EQUAL(utf8_len(""), 0);
	CU_ASSERT_EQUAL(utf8_len("a"), 1);
	CU_ASSERT_EQUAL(utf8_len("\xc3\xa4"), 2);
	CU_ASSERT_EQUAL(utf8_len("\xe2\x82\xac"), 3);
	CU_ASSERT_EQUAL(utf8_len("\xf0\x9f\x98\x80"), 4);
	static const char *const bad[] = {
		"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x98",
		"\xc3(", "\xe2(\xa1", "\xf0\x9f(\x80",
	};
	for (size_t i = 0; i < COUNT(bad); ++i) {
		CU_ASSERT_EQUAL(utf8_len(bad[i]), 0);
		CU_ASSERT_FALSE(utf8_valid(bad[i]));
	}
	static const struct {
		const char *text;
		size_t most, cut;
	} cuts[] = {
		{"", 4, 0}, {"abc", 0, 0}, {"abc", 2, 2}, {"abc", 3, 3}, {"abc", 9, 3},
		{"a\xc3\xa4" "b", 1, 1},
		{"a\xc3\xa4" "b", 2, 1}, {"a\xc3\xa4" "b", 3, 3}, {"\xf0\x9f\x98\x80", 3, 0},
		{"\xf0\x9f\x98\x80", 4, 4},
		{"\xf0\x9f\x98", 2, 2}, {"\xc3\xc3\xa4", 2, 1}, {"\xff\xff", 1, 1},
	};
	for (size_t i = 0; i < COUNT(cuts); ++i)
		CU_ASSERT_EQUAL(utf8_cut(cuts[i].text, cuts[i].most), cuts[i].cut);
	CU_ASSERT_TRUE(utf8_valid(""));
	CU_ASSERT_TRUE(utf8_valid("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"));
	CU_ASSERT_FALSE(utf8_valid("abc\xff"));
}

/* fstypes */

UNIT_TEST(fstypes)
{
	/* All rows: one that is out of order is not found. */
	static const char known[] =
		"9p acfs afs aufs autofs bcachefs bdev befs bfs binder binfmt_misc bpf btrfs ceph "
		"cgroup cgroup2 cifs coda configfs cpuset cramfs dax debugfs devfs devpts devtmpfs "
		"dlmfs drm efivarfs efs erofs exfat ext2 ext3 ext4 f2fs fuse fuseblk fusectl gfs2 "
		"gpfs hfs hfsplus hpfs hugetlbfs ipathfs iso9660 jffs2 jfs lustre minix mqueue "
		"msdos ncpfs nfs nfs4 nfsd nilfs2 nsfs ntfs ntfs3 ocfs2 omfs orangefs overlay "
		"pipefs proc pstore qnx4 qnx6 ramfs reiserfs resctrl romfs rootfs rpc_pipefs "
		"securityfs selinuxfs smackfs smb3 smbfs sockfs spufs squashfs sysfs sysv tmpfs "
		"tracefs ubifs udf ufs vboxsf vfat virtiofs vxfs xenfs xfs zfs zonefs";
	char name[32];
	for (const char *at = known; sscanf(at, " %31s", name) == 1;
	     at = strstr(at, name) + strlen(name)) {
		if (!(fstype_flags(name) & FST_KNOWN))
			printf("  not found: %s\n", name);
		CU_ASSERT_TRUE(fstype_flags(name) & FST_KNOWN);
	}
	static const char *const unknown[] = {
		"", "0", "a", "ext", "ext44", "fus", "fuses", "nf", "zzz", ".", ".fuse", "tmpfs ",
		"TMPFS",
	};
	for (size_t i = 0; i < COUNT(unknown); ++i)
		CU_ASSERT_EQUAL(fstype_flags(unknown[i]), FST_BLOCKS);
	CU_ASSERT_EQUAL(fstype_flags(NULL), FST_BLOCKS);
}

UNIT_TEST(fstypes_subtype)
{
	CU_ASSERT_EQUAL(fstype_flags("fuse.sshfs"), fstype_flags("fuse"));
	CU_ASSERT_TRUE(fstype_flags("fuse.sshfs") & FST_KNOWN);
	CU_ASSERT_TRUE(fstype_flags("fuse.sshfs") & FST_BLOCKS);
	CU_ASSERT_EQUAL(fstype_flags("fuseblk.ntfs-3g"), fstype_flags("fuseblk"));
	CU_ASSERT_EQUAL(fstype_flags("nosuch.fuse"), FST_BLOCKS);
	/* SGI's file system, and Amazon's. */
	CU_ASSERT_EQUAL(fstype_line_flags("efs", "/dev/sda1"), fstype_flags("efs"));
	CU_ASSERT_EQUAL(fstype_line_flags("efs", "LABEL=irix"), fstype_flags("efs"));
	CU_ASSERT_EQUAL(fstype_line_flags("efs", NULL), fstype_flags("efs"));
	CU_ASSERT_EQUAL(fstype_line_flags("efs", "fs-01:/"), fstype_flags("nfs4"));
	CU_ASSERT_EQUAL(fstype_line_flags("ext4", "fs-01:/"), fstype_flags("ext4"));
}

UNIT_TEST(fstypes_rules)
{
	static const struct {
		const char *type;
		unsigned has, lacks;
	} rows[] = {
		{"nfs4", FST_BLOCKS | FST_NO_LOOK, 0}, {"9p", FST_NO_LOOK, 0},
		{"autofs", FST_AUTOFS, 0}, {"overlay", FST_LAYERED, FST_NLINK},
		{"btrfs", 0, FST_NLINK}, {"ext4", 0, FST_BLOCKS}, {"tmpfs", 0, FST_BLOCKS},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		CU_ASSERT_EQUAL(~fstype_flags(rows[i].type) & rows[i].has, 0);
		CU_ASSERT_EQUAL(fstype_flags(rows[i].type) & rows[i].lacks, 0);
	}
	/* File systems with other positions, or with positions of others. */
	static const char *const others[] = {"overlay", "fuse", "fuseblk", "nfs4", "xfs", "btrfs",
	                                     "tmpfs", "9p"};
	for (size_t i = 0; i < COUNT(others); ++i)
		CU_ASSERT_FALSE(fstype_flags(others[i]) & FST_LAST_POS);
}

/** The result of secret_goes_on() for the first n bytes of a line. */
static size_t goes_on(const char *line, size_t n)
{
	STRBUF(word);
	bool open;
	size_t at = secret_goes_on(line, n, &word, &open);
	return at;
}

UNIT_TEST(secret_goes_on)
{
	static const struct {
		const char *line;
		size_t n, from;
	} rows[] = {
		{"x password=a b", 14, 12}, {"x password = b", 14, 12}, {"nothing here", 12, 12},
		{"user:password=a@h /mnt", 22, 22}, {"x\0password=a b", 15, 12},
		/* Bytes after the first n do not matter. */
		{"password=a /", 12, 12}, {"password=a /", 11, 10}, {"x password=a b", 3, 3},
	};
	for (size_t i = 0; i < COUNT(rows); ++i)
		CU_ASSERT_EQUAL(goes_on(rows[i].line, rows[i].n), rows[i].from);
}

/* casefold */

UNIT_TEST(casefold)
{
	locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	unsigned letters = 0;
	for (uint32_t code = 0; code < 0x110000; ++code) {
		uint32_t lower = casefold_code(code), others[CASEFOLD_OTHERS];
		letters += lower != code;
		CU_ASSERT_EQUAL(casefold_code(lower), lower);
		if (lower != code) {
			/* A newer libc knows more letters; these never change. */
			CU_ASSERT_TRUE(!unicode || towlower_l(code, unicode) == lower);
			bool back = false;
			for (size_t n = casefold_others(lower, others); n > 0; --n)
				back |= others[n - 1] == code;
			CU_ASSERT_TRUE(back);
		}
		/* Each character is written as it is read; what is no character is one byte. */
		char text[8] = "";
		size_t len = (size_t)(utf8_put(text, code) - text), n;
		bool surrogate = code >= 0xd800 && code < 0xe000;
		if (code > 0 && !surrogate)
			CU_ASSERT_TRUE(utf8_code(text, len, &n) == code && n == len);
	}
	CU_ASSERT_EQUAL(letters, 1433);
	if (unicode)
		freelocale(unicode);

	static const char text[] = "aZ\303\211\310\272\377\342\204\252\303";
	char out[CASEFOLD_SIZE(sizeof(text))];
	size_t n = casefold_text(text, sizeof(text), out);
	CU_ASSERT_TRUE(n == sizeof(text) - 1);
	CU_ASSERT_STRING_EQUAL(out, "az\303\251\342\261\245\377k\303");
}

UNIT_TEST(similar_names)
{
	static const char *const names[] = {"ID", "TID", "MODE", "NODE", "SIZE", "SOURCE",
	                                    "TARGET", "VFS-OPTIONS", "FSTAB-MODE", "search",
	                                    "audit"};
	static const char *const rows[][2] = {
		{"siez", "SIZE"}, {"sorce", "SOURCE"}, {"tagret", "TARGET"}, {"mdoe", "MODE"},
		{"nope", "NODE"}, {"id", "ID"}, {"tix", "TID"}, {"srch", "search"},
		{"aduit", "audit"}, {"vfsoption", "VFS-OPTIONS"},
		/* Too much differs. */
		{"mod", "MODE"}, {"nipe", NULL}, {"typ", NULL}, {"ix", NULL}, {"x", NULL},
		{"", NULL}, {"fstype", NULL}, {"terogt", NULL}, {"fstab-lost", NULL},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct near near = {.word = rows[i][0], .n = strlen(rows[i][0])};
		for (size_t k = 0; k < COUNT(names); ++k)
			near_try(&near, names[k], names[k]);
		unit_note("\"%s\": %s", rows[i][0], near.best ? (const char *)near.best : "-");
		CU_ASSERT_TRUE(near.best ? rows[i][1] && strcmp(near.best, rows[i][1]) == 0
		                         : !rows[i][1]);
	}
}

UNIT_TEST(below_a_directory)
{
	CU_ASSERT_TRUE(word_below("/a", "/a") && word_below("/a/b", "/a")
	               && word_below("/a/b", "/a/") && word_below("/a/b", "/a//")
	               && word_below("/a", "/"));
	CU_ASSERT_FALSE(word_below("/ab", "/a") || word_below("/", "/a"));
}
